// The paper by its own operations: one step of a two-link arm whose gears rub, found by projection as the paper
// finds it, with P, Phi and lambda, and held against mjg_step and its certificate.
//
//     cc paper.c $(pkg-config --cflags --libs mjgear) -lm -o paper && ./paper

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mjgear_paper.h>

enum {
  n = 2
};

static void stopAt(const char* what, int status) {
  printf("%s: %s\n", what, mjg_statusString(status));
  exit(1);
}


int main(void) {
  // an arm, its rotors' inertia included, with gears that can be driven back, as the projection needs them
  const double gamma_u[n] = {0.1, 0.3}, gamma_v[n] = {0.3, 0.8}, rotor[n] = {0.4, 0.05};
  const double Mhat[n * n] = {1.6, 0.3, 0.3, 0.45};
  const double tau_u[n] = {6, 0}, tau_v[n] = {2, 0.4}, v[n] = {0.1, 0.001}, h = 0.01;
  const mjgJoints joints = {gamma_u, gamma_v, rotor};
  size_t size = mjg_memsize(n, n);
  void* memory = malloc(size);
  mjgWorkspace* work = mjg_create(memory, size, n, n);

  // W = Mhat^-1, A = h W (65), P (52), and the step without friction: v* (66), phi (62)
  double det = Mhat[0] * Mhat[3] - Mhat[1] * Mhat[2];
  const double W[n * n] = {Mhat[3] / det, -Mhat[1] / det, -Mhat[2] / det, Mhat[0] / det};
  double P[n * n], v_free[n], phi[n], Phi[n], s[n] = {0, 0};
  int status = mjg_P(P, W, &joints, n);
  if (status < 0) {
    stopAt("P", status);
  }
  for (int i = 0; i < n; i++) {
    double acc = W[i * n] * (tau_u[0] - tau_v[0]) + W[i * n + 1] * (tau_u[1] - tau_v[1]);
    v_free[i] = v[i] + h * acc;
    phi[i] = (gamma_u[i] + gamma_v[i]) * (tau_u[i] - rotor[i] * acc);
  }

  // s := proj(s + c (v* - A Phi(s))) onto [-1, 1]: directions s of friction that fit to velocities (68)
  double v_next[n], moved = 1;
  int iterations = 0;
  for (; moved > 1e-15 && iterations < 10000; iterations++) {
    status = mjg_Phi(Phi, s, phi, P, n, work);
    if (status != mjgSOLVED) {
      stopAt("Phi", status);
    }
    moved = 0;
    for (int i = 0; i < n; i++) {
      v_next[i] = v_free[i] - h * (W[i * n] * Phi[0] + W[i * n + 1] * Phi[1]);
    }
    for (int i = 0; i < n; i++) {
      double to = fmax(-1, fmin(1, s[i] + 5 * v_next[i]));
      moved = fmax(moved, fabs(to - s[i]));
      s[i] = to;
    }
  }

  // the loads if both joints slipped forward: lambda - P |lambda| = phi (55)
  double lambda[n];
  status = mjg_lambda(lambda, NULL, phi, P, n, mjgLAMBDA_NEWTON, 0, 1e-12, work);
  if (status != mjgSOLVED) {
    stopAt("lambda", status);
  }
  printf("%d projections: friction %.6f %.6f N m; loads if both slipped forward %.6f %.6f N m\n",
         iterations, Phi[0], Phi[1], lambda[0], lambda[1]);

  // the same step in one call, and its certificate
  double t[n], velocity[n], load[n], step[n];
  int mode[n];
  mjgSolution solution = {t, velocity, load, mode};
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  status = mjg_step(step, &solution, NULL, Mhat, tau_u, tau_v, v, &joints, h, n, &settings, work);
  if (status < 0) {
    stopAt("step", status);
  }
  for (int i = 0; i < n; i++) {
    printf("joint %d: %.9f rad/s by projection, %.9f by mjg_step, %s\n", i, v_next[i], step[i],
           mode[i] ? "slips" : "stands");
  }
  double A[n * n], alpha[n];
  for (int k = 0; k < n * n; k++) {
    A[k] = h * W[k];
  }
  for (int i = 0; i < n; i++) {
    alpha[i] = (gamma_u[i] + gamma_v[i]) * rotor[i] / h;
  }
  mjgProblem problem = {.n = n, .v = v_free, .A = A, .phi = phi, .alpha = alpha, .beta = gamma_v};
  mjgCertificate certificate;
  mjg_certify(&certificate, NULL, &problem, &solution, 1e-12, work);
  printf("certificate: residual %.0e, %s, %s\n", certificate.residual,
         certificate.valid ? "valid" : "not valid",
         certificate.well_posed ? "the only solution" : "there may be others");

  // for one joint everything is a formula, (29), (32), (34)
  double rho = mjg_rho(gamma_u[0], gamma_v[0], rotor[0], Mhat[0] - rotor[0]);
  double one = mjg_phi(tau_u[0], tau_v[0], gamma_u[0], gamma_v[0], rho);
  printf("the first joint alone: friction %.6f N m forward, %.6f N m backward\n",
         mjg_PhiScalar(1, one, rho), mjg_PhiScalar(-1, one, rho));
  free(memory);
  return certificate.valid ? 0 : 1;
}
