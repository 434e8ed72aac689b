#include "cholesky.h"

#include <math.h>

enum {
  N = 7
};


void mjg_cholesky7(double x[7], const double A[49], const double b[7]) {
  double L[N][N], inverse[N];

  // A = L L'
  for (int j = 0; j < N; j++) {
    double sum = A[j * N + j];
    for (int k = 0; k < j; k++) {
      sum -= L[j][k] * L[j][k];
    }
    L[j][j] = sqrt(sum);
    inverse[j] = 1 / L[j][j];
    for (int i = j + 1; i < N; i++) {
      sum = A[i * N + j];
      for (int k = 0; k < j; k++) {
        sum -= L[i][k] * L[j][k];
      }
      L[i][j] = sum * inverse[j];
    }
  }

  // L y = b, L' x = y
  for (int i = 0; i < N; i++) {
    double sum = b[i];
    for (int k = 0; k < i; k++) {
      sum -= L[i][k] * x[k];
    }
    x[i] = sum * inverse[i];
  }
  for (int i = N - 1; i >= 0; i--) {
    double sum = x[i];
    for (int k = i + 1; k < N; k++) {
      sum -= L[k][i] * x[k];
    }
    x[i] = sum * inverse[i];
  }
}
