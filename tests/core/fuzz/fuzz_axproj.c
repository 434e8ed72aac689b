// mjg_axproj

#include "fuzz.h"
#include "mjgear_paper.h"


static void fuzzAxproj(Input* input) {
  double v[MAXN], A[MAXNN], phi[MAXN], P[MAXNN], y[MAXN], before[MAXN];
  mjgSettings settings;
  mjgInfo info;
  int n = takeInteger(input, MAXN + 1);
  takeSettings(&settings, input);
  if (takesLong(&settings, n)) {
    return;
  }
  takeNumbers(v, n, input);
  takeMatrix(A, n, input);
  takeNumbers(phi, n, input);
  takeNumbers(P, n * n, input);
  memset(y, 0x5a, sizeof(y));
  memcpy(before, y, sizeof(y));
  memset(&info, 0x5a, sizeof(info));
  Space space = makeSpace(n, n, 0, 0xff);
  int status = mjg_axproj(y, &info, v, A, phi, P, n, &settings, space.work);
  claimStatus(status);
  if (status < 0) {
    CLAIM(!memcmp(y, before, sizeof(y)), "status %d, but outputs changed", status);
  } else {
    claimFinite(y, n, "y", status);
  }
  free(space.memory);
}


int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input = {data, size};
  fuzzAxproj(&input);
  return 0;
}
