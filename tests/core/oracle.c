#include "oracle.h"

#include <math.h>
#include <string.h>


//---------------------------------- random problems -----------------------------------------------

static uint64_t next(uint64_t* state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}


double oracle_uniform(uint64_t* state, double low, double high) {
  return low + (high - low) * (double)(next(state) >> 11) * 0x1p-53;
}


double oracle_normal(uint64_t* state) {
  double radius = sqrt(-2 * log(1 - oracle_uniform(state, 0, 1)));
  return radius * cos(2 * acos(-1.0) * oracle_uniform(state, 0, 1));
}


static double spread(uint64_t* state, double decades) {
  return pow(10, oracle_uniform(state, -decades / 2, decades / 2));
}


// inverse of a symmetric positive definite matrix by Gauss-Jordan elimination
static void invert(double* inverse, const double* matrix, int n) {
  long double work[oracleMAXN][2 * oracleMAXN];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      work[i][j] = matrix[i * n + j];
      work[i][n + j] = i == j;
    }
  }
  for (int k = 0; k < n; k++) {
    long double pivot = work[k][k];
    for (int j = 0; j < 2 * n; j++) {
      work[k][j] /= pivot;
    }
    for (int i = 0; i < n; i++) {
      long double f = work[i][k];
      for (int j = 0; i != k && j < 2 * n; j++) {
        work[i][j] -= f * work[k][j];
      }
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      inverse[i * n + j] = (double)((work[i][n + j] + work[j][n + i]) / 2);
    }
  }
}


void oracle_draw(oracleProblem* p, const oracleDraw* draw, uint64_t* state) {
  int n = draw->n;
  memset(p, 0, sizeof(*p));

  // links: M = G G' + eps, of one scale and of correlated directions; rotors over three decades
  double scale = spread(state, draw->decades);
  double h = spread(state, draw->decades / 2) * 1e-3;
  double torque = spread(state, draw->decades);
  double G[oracleMAXN][oracleMAXN], M[oracleMAXN * oracleMAXN], W[oracleMAXN * oracleMAXN];
  double rotor[oracleMAXN], acc[oracleMAXN], tau_u[oracleMAXN], tau[oracleMAXN];
  double common = oracle_uniform(state, 0, 2);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      G[i][j] = oracle_normal(state) + (j == 0 ? common : 0);
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double sum = i == j ? 0.01 * n : 0;
      for (int k = 0; k < n; k++) {
        sum += G[i][k] * G[j][k];
      }
      M[i * n + j] = scale * sum / n;
    }
    rotor[i] = oracle_uniform(state, 0, 1) < 0.1 ? 0 : scale * spread(state, 3);
    M[i * n + i] += rotor[i];
  }
  invert(W, M, n);

  // gears and torques; the step follows by (62), (66) and (52)
  for (int i = 0; i < n; i++) {
    p->gamma_u[i] = oracle_uniform(state, 0, fmin(0.999, draw->gamma_max));
    p->gamma_v[i] = oracle_uniform(state, 0, draw->gamma_max);
    tau_u[i] = torque * oracle_normal(state);
    tau[i] = tau_u[i] - torque * oracle_normal(state);
  }
  for (int i = 0; i < n; i++) {
    acc[i] = 0;
    for (int j = 0; j < n; j++) {
      acc[i] += W[i * n + j] * tau[j];
      p->A[i * n + j] = h * W[i * n + j];
    }
  }
  for (int i = 0; i < n; i++) {
    double gamma = p->gamma_u[i] + p->gamma_v[i];
    double before = draw->rest ? 0 : h * torque / M[i * n + i] * oracle_normal(state) * 3;
    p->v[i] = before + h * acc[i];
    p->phi[i] = gamma * (tau_u[i] - rotor[i] * acc[i]);
    p->alpha[i] = gamma * rotor[i] / h;
    p->beta[i] = p->gamma_v[i];
    p->coulomb[i] = draw->coulomb ? torque * oracle_uniform(state, 0, 1) : 0;
    for (int j = 0; j < n; j++) {
      p->P[i * n + j] = p->alpha[i] * p->A[i * n + j] - (i == j ? p->beta[i] : 0);
    }
  }
  p->problem = (mjgProblem){.n = n,
                            .v = p->v,
                            .A = p->A,
                            .phi = p->phi,
                            .alpha = p->alpha,
                            .beta = p->beta,
                            .coulomb = draw->coulomb ? p->coulomb : NULL};
}


//---------------------------------- enumeration ---------------------------------------------------

// entry of P, in either form
static long double entryP(const mjgProblem* problem, int i, int j) {
  int n = problem->n;
  if (problem->P) {
    return problem->P[i * n + j];
  }
  return (long double)problem->alpha[i] * problem->A[i * n + j] -
         (i == j ? (long double)problem->beta[i] : 0);
}


// solve K x = x with full pivoting; returns 0 if K is singular
static int solve(long double K[oracleMAXN][oracleMAXN], long double* x, int n) {
  int column[oracleMAXN];
  long double largest = 0;
  for (int k = 0; k < n; k++) {
    column[k] = k;
    int row = k, col = k;
    for (int i = k; i < n; i++) {
      for (int j = k; j < n; j++) {
        if (fabsl(K[i][j]) > fabsl(K[row][col])) {
          row = i;
          col = j;
        }
      }
    }
    largest = k ? largest : fabsl(K[row][col]);
    if (fabsl(K[row][col]) <= 1e-15L * largest) {
      return 0;
    }
    for (int j = 0; j < n; j++) {
      long double swap = K[k][j];
      K[k][j] = K[row][j];
      K[row][j] = swap;
    }
    for (int i = 0; i < n; i++) {
      long double swap = K[i][k];
      K[i][k] = K[i][col];
      K[i][col] = swap;
    }
    long double swap = x[k];
    x[k] = x[row];
    x[row] = swap;
    column[k] = col;
    for (int i = k + 1; i < n; i++) {
      long double f = K[i][k] / K[k][k];
      for (int j = k; j < n; j++) {
        K[i][j] -= f * K[k][j];
      }
      x[i] -= f * x[k];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) {
      x[i] -= K[i][j] * x[j];
    }
    x[i] /= K[i][i];
  }
  for (int k = n - 1; k >= 0; k--) {
    long double swap = x[k];
    x[k] = x[column[k]];
    x[column[k]] = swap;
  }
  return 1;
}


int oracle_enumerate(double t[oracleMAXSOLUTION][oracleMAXN], const mjgProblem* problem) {
  int n = problem->n, count = 0, ncode = 1;
  for (int i = 0; i < n; i++) {
    ncode *= 5;
  }

  // work with torques measured in 1/sqrt(A_ii), so that full pivoting compares like with like
  long double unit[oracleMAXN];
  for (int i = 0; i < n; i++) {
    unit[i] = 1 / sqrtl((long double)problem->A[i * n + i]);
  }

  for (int code = 0; code < ncode; code++) {
    // equations: stuck (A t)_i = v_i, else t_i = s (r lambda_i + c_i)
    long double K[oracleMAXN][oracleMAXN], x[oracleMAXN];
    int s[oracleMAXN], sign[oracleMAXN];
    for (int i = 0, rest = code; i < n; i++, rest /= 5) {
      int digit = rest % 5;
      s[i] = digit == 0 ? 0 : (digit <= 2 ? 1 : -1);
      sign[i] = digit % 2 ? 1 : -1;
      long double c = problem->coulomb ? problem->coulomb[i] : 0;
      x[i] = s[i] == 0 ? problem->v[i] * unit[i]
                       : s[i] * (sign[i] * (long double)problem->phi[i] + c) / unit[i];
      for (int j = 0; j < n; j++) {
        K[i][j] = s[i] == 0 ? unit[i] * unit[j] * problem->A[i * n + j]
                            : (i == j) - s[i] * sign[i] * entryP(problem, i, j) * unit[j] / unit[i];
      }
    }
    if (!solve(K, x, n)) {
      continue;
    }

    // sides
    int ok = 1;
    for (int i = 0; i < n && ok; i++) {
      long double v = problem->v[i], size_v = fabsl(v);
      long double lambda = problem->phi[i], size = fabsl(lambda);
      for (int j = 0; j < n; j++) {
        long double a = problem->A[i * n + j] * x[j] * unit[j];
        long double p = entryP(problem, i, j) * x[j] * unit[j];
        v -= a;
        lambda += p;
        size_v += fabsl(a);
        size += fabsl(p);
      }
      long double c = problem->coulomb ? problem->coulomb[i] : 0;
      long double torque = x[i] * unit[i];
      size += c;
      if (s[i] == 0) {
        ok = fabsl(torque) <= fabsl(lambda) + c + 1e-13L * size;
      } else {
        ok = s[i] * v >= -1e-13L * size_v && sign[i] * lambda >= -1e-13L * size;
      }
    }

    // keep it if it is new
    for (int k = 0; k < count && ok; k++) {
      long double distance = 0, size = 0;
      for (int i = 0; i < n; i++) {
        distance = fmaxl(distance, fabsl(t[k][i] / unit[i] - x[i]));
        size = fmaxl(size, fabsl(x[i]));
      }
      ok = distance > 1e-9L * size;
    }
    if (ok && count < oracleMAXSOLUTION) {
      for (int i = 0; i < n; i++) {
        t[count][i] = (double)(x[i] * unit[i]);
      }
      count++;
    }
  }
  return count;
}


//---------------------------------- residual ------------------------------------------------------

double oracle_residual(const mjgProblem* problem, const double* t, const double* v_next) {
  int n = problem->n;
  long double worst = 0;
  for (int i = 0; i < n; i++) {
    long double v = problem->v[i], size_v = fabsl(v);
    long double lambda = problem->phi[i], size = fabsl(lambda);
    for (int j = 0; j < n; j++) {
      v -= (long double)problem->A[i * n + j] * t[j];
      size_v += fabsl((long double)problem->A[i * n + j] * t[j]);
      lambda += entryP(problem, i, j) * t[j];
    }
    for (int j = 0; j < n && problem->P; j++) {
      size += fabsl(entryP(problem, i, j) * t[j]);
    }
    if (!problem->P) {
      size += fabsl((long double)problem->alpha[i]) * size_v +
              fabsl((long double)problem->beta[i] * t[i]);
    }

    // |v+ - (v* - A t)| and the distance of t from (|lambda| + c) sgn(v+)
    long double bound = fabsl(lambda) + (problem->coulomb ? problem->coulomb[i] : 0);
    long double error_v = fabsl(v - v_next[i]), error_t;
    size += bound + fabsl((long double)t[i]);
    if (v_next[i] == 0) {
      error_t = fmaxl(0, fabsl((long double)t[i]) - bound);
    } else {
      error_t = fabsl(t[i] - (v_next[i] > 0 ? bound : -bound));
    }
    if (!isfinite(error_v) || !isfinite(error_t)) {
      return INFINITY;
    }
    worst = fmaxl(worst, error_v > 0 ? error_v / size_v : 0);
    worst = fmaxl(worst, error_t > 0 ? error_t / size : 0);
  }
  return (double)worst;
}
