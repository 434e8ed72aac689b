// the calls for one joint

#include "fuzz.h"


static void fuzzScalar(Input* input) {
  double x[11], pair[2] = {1, 2}, single = 3;
  takeNumbers(x, 11, input);

  // efficiencies and coefficients are inverse to each other
  int status = mjg_efficiencies(&pair[0], &pair[1], x[0], x[1]);
  claimStatus(status);
  if (status < 0) {
    CLAIM(pair[0] == 1 && pair[1] == 2, "status %d, but outputs changed", status);
  }
  pair[0] = 1;
  pair[1] = 2;
  status = mjg_coefficients(&pair[0], &pair[1], x[0], x[1]);
  claimStatus(status);
  if (status < 0) {
    CLAIM(pair[0] == 1 && pair[1] == 2, "status %d, but outputs changed", status);
  }

  // the load's values solve its equation
  int count = mjg_lambdaSet(pair, x[2], x[3]);
  int large = !isfinite(x[2] / (1 + x[3])) || !isfinite(x[2] / (1 - x[3])) || !isfinite(x[3]);
  CLAIM((count >= 0 && count <= 2) || (count == mjgERR_NOT_FINITE && large), "%d values", count);
  for (int i = 0; i < count && isfinite(pair[i]) && fabs(x[3]) < 1e100; i++) {
    double error = fabs(pair[i] - x[3] * fabs(pair[i]) - x[2]);
    CLAIM(error <=
              1e-12 * ((1 + fabs(x[3])) * fabs(pair[i]) + fabs(x[2])) + DBL_MIN * (1 + fabs(x[3])),
          "lambda(%g, %g) = %g", x[2], x[3], pair[i]);
  }
  CLAIM(count < 2 || pair[0] <= pair[1], "lambda(%g, %g) = %g, %g", x[2], x[3], pair[0], pair[1]);
  (void)mjg_lambdaStick(x[2], x[3]);
  (void)mjg_PhiScalar(x[0], x[2], x[3]);
  (void)mjg_rho(x[0], x[1], x[2], x[3]);
  (void)mjg_phi(x[0], x[1], x[2], x[3], x[4]);

  // the step is finite and passive
  double v = 4;
  double* t = takeInteger(input, 2) ? &single : NULL;
  status = mjg_stepScalar(&v, t, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
  claimStatus(status);
  if (status < 0) {
    CLAIM(v == 4 && single == 3, "status %d, but outputs changed", status);
  } else {
    CLAIM(isfinite(v), "status %d, velocity %g", status, v);
    CLAIM(!t || (isfinite(*t) && *t * v >= 0), "friction %g at velocity %g", single, v);
  }
}


int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input = {data, size};
  fuzzScalar(&input);
  return 0;
}
