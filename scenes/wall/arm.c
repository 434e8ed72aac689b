#include "arm.h"

#include "../helpers.h"
#include "mjgear_paper.h"

// links of length 1 m with 1 kg at the end; their own inertia is small and positive, as MuJoCo
// requires
#define INERTIA 1e-12

void mjg_armInertia(double M[4], const double q[2]) {
  double c = cos(q[1]);
  M[0] = 3 + 2 * c + 2 * INERTIA;
  M[1] = M[2] = 1 + c + INERTIA;
  M[3] = 1 + INERTIA;
}

void mjg_armBias(double bias[2], const double q[2], const double v[2]) {
  double s = sin(q[1]);
  bias[0] = -s * v[1] * (2 * v[0] + v[1]);
  bias[1] = s * v[0] * v[0];
}

double mjg_armTip(double J[2], const double q[2]) {
  J[1] = -sin(q[0] + q[1]);
  J[0] = -sin(q[0]) + J[1];
  return cos(q[0]) + cos(q[0] + q[1]);
}

// enumeration shares nothing with the solver that the plugin takes by default
static mjgSettings enumeration(void) {
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  settings.solver = mjgENUMERATION;
  return settings;
}

int mjg_armStep(double v[2], const double Mhat[4], const double tau_u[2], const double tau_v[2], double gamma_u,
                const double gamma_v[2], double h) {
  const double rotor[2] = {mjgARM_ROTOR, mjgARM_ROTOR};
  const double both[2] = {gamma_u, gamma_u};
  const mjgJoints joints = {both, gamma_v, rotor};
  const mjgSettings settings = enumeration();
  double memory[1024], next[2] = {0};
  mjgWorkspace* work = mjg_create(memory, sizeof memory, 2, 2);
  int status = mjg_step(next, NULL, NULL, Mhat, tau_u, tau_v, v, &joints, h, 2, &settings, work);
  v[0] = next[0];
  v[1] = next[1];
  return status;
}

int mjg_armFriction(double next[2], double t[2], const double start[2], const double A[4], const double v[2],
                    const double tau_u[2], double gamma_u, const double gamma_v[2], double h) {
  // the internal force as the header of the core defines it: lambda = phi + ([alpha] A - [gamma_v]) t
  double phi[2], alpha[2], lambda[2], memory[1024];
  for (int i = 0; i < 2; i++) {
    double sum = gamma_u + gamma_v[i];
    phi[i] = sum * (tau_u[i] - mjgARM_ROTOR * (start[i] - v[i]) / h);
    alpha[i] = sum * mjgARM_ROTOR / h;
  }
  const mjgProblem problem = {.n = 2, .v = start, .A = A, .phi = phi, .alpha = alpha, .beta = gamma_v, .v0 = v};
  int mode[2];
  mjgSolution solution = {t, next, lambda, mode};
  const mjgSettings settings = enumeration();
  mjgWorkspace* work = mjg_create(memory, sizeof memory, 2, 2);
  return mjg_solve(&solution, NULL, &problem, &settings, work);
}
