// mjg_lambda and mjg_Phi

#include "fuzz.h"
#include "mjgear_paper.h"


static void fuzzLambda(Input* input) {
  double phi[MAXN], P[MAXNN], s[MAXN], lambda[MAXN], before[MAXN], Phi[MAXN];
  mjgInfo info;
  int n = takeInteger(input, MAXN + 1);
  int method = takeInteger(input, 3), iterations = takeInteger(input, 130) - 1;
  int wild = takeInteger(input, 8) == 7;
  double tolerance = wild ? takeNumber(input) : 1e-10;
  takeNumbers(phi, n, input);
  takeNumbers(P, n * n, input);
  takeNumbers(s, n, input);
  memset(lambda, 0x5a, sizeof(lambda));
  memcpy(before, lambda, sizeof(lambda));
  memset(&info, 0x5a, sizeof(info));
  mjgInfo info_before = info;
  Space space = makeSpace(n, n, 0, 0xff);

  int status = mjg_lambda(lambda, &info, phi, P, n, method, iterations, tolerance, space.work);
  claimStatus(status);
  if (status < 0) {
    CLAIM(!memcmp(lambda, before, sizeof(lambda)) && !memcmp(&info, &info_before, sizeof(info)),
          "status %d, but outputs changed", status);
  } else {
    claimFinite(lambda, n, "lambda", status);
  }
  for (int i = 0; i < n && status == mjgSOLVED && tolerance < 1; i++) {
    long double error = (long double)lambda[i] - phi[i], terms = fabsl(error) + fabsl(phi[i]);
    for (int j = 0; j < n; j++) {
      error -= (long double)P[i * n + j] * fabs(lambda[j]);
      terms += fabsl((long double)P[i * n + j] * lambda[j]);
    }
    CLAIM(fabsl(error) <= (2 * tolerance + 1e-13) * terms + DBL_MIN, "method %d: error %Lg of %Lg",
          method, error, terms);
  }

  memcpy(Phi, before, sizeof(Phi));
  status = mjg_Phi(Phi, s, phi, P, n, space.work);
  claimStatus(status);
  if (status < 0) {
    CLAIM(!memcmp(Phi, before, sizeof(Phi)), "status %d, but outputs changed", status);
  } else {
    claimFinite(Phi, n, "Phi", status);
  }
  free(space.memory);
}


int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input = {data, size};
  fuzzLambda(&input);
  return 0;
}
