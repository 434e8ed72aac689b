// mjg_step

#include "fuzz.h"
#include "mjgear_paper.h"


static void fuzzStep(Input* input) {
  double Mhat[MAXNN], W[MAXNN], tau_u[MAXN], tau_v[MAXN], v[MAXN], v_next[MAXN];
  double gamma_u[MAXN], gamma_v[MAXN], inertia[MAXN];
  mjgSettings settings;
  Output output, before;
  int n = takeInteger(input, MAXN + 1);
  takeSettings(&settings, input);
  if (takesLong(&settings, n)) {
    return;
  }
  takeMatrix(Mhat, n, input);
  takeNumbers(tau_u, n, input);
  takeNumbers(tau_v, n, input);
  takeNumbers(v, n, input);
  takeNumbers(gamma_u, n, input);
  takeNumbers(gamma_v, n, input);
  takeNumbers(inertia, n, input);
  double h = takeInteger(input, 4) ? 1e-3 : takeNumber(input);
  mjgJoints joints = {gamma_u, gamma_v, inertia};
  mjg_P(W, Mhat, &joints, n);

  memset(&output, 0x5a, sizeof(output));
  takeNumbers(output.t, MAXN, input);
  for (int i = 0; i < MAXN; i++) {
    output.mode[i] = takeInteger(input, 3) - 1;
  }
  before = output;
  memset(v_next, 0x5a, sizeof(v_next));
  memcpy(W, v_next, sizeof(v_next));
  mjgSolution solution = {output.t, output.v, output.lambda, output.mode};
  Space space = makeSpace(n, n, 0, 0xff);
  int want = takeInteger(input, 2);
  int status = mjg_step(v_next, want ? &solution : NULL, &output.info, Mhat, tau_u, tau_v, v,
                        &joints, h, n, &settings, space.work);
  claimStatus(status);
  if (status < 0) {
    CLAIM(!memcmp(v_next, W, sizeof(v_next)) && !memcmp(&output, &before, sizeof(output)),
          "status %d, but outputs changed", status);
  } else {
    claimFinite(v_next, n, "v_next", status);
    for (int i = 0; want && i < n; i++) {
      CLAIM(output.t[i] * v_next[i] >= 0, "friction %g at velocity %g", output.t[i], v_next[i]);
      CLAIM(output.v[i] == v_next[i], "velocity %g in the solution, %g returned", output.v[i],
            v_next[i]);
    }
  }
  free(space.memory);
}


int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input = {data, size};
  fuzzStep(&input);
  return 0;
}
