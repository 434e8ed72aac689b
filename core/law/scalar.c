#include <float.h>
#include <math.h>

#include "law/law.h"
#include "mjgear.h"


int mjg_efficiencies(double* eta_f, double* eta_b, double gamma_u, double gamma_v) {
  if (!eta_f || !eta_b || gamma_v == -1 || gamma_u == -1) {
    return mjgERR_ARGUMENT;
  }
  if (!isfinite(gamma_u) || !isfinite(gamma_v)) {
    return mjgERR_NOT_FINITE;
  }
  double forward = (1 - gamma_u) / (1 + gamma_v), backward = (1 - gamma_v) / (1 + gamma_u);
  if (!isfinite(forward) || !isfinite(backward)) {
    return mjgERR_NOT_FINITE;
  }
  *eta_f = forward;
  *eta_b = backward;
  return mjgSOLVED;
}


// Returns a - b, or 0 if that is round-off.
static double difference(double a, double b) {
  double x = a - b;
  return fabs(x) <= 2 * DBL_EPSILON * (fabs(a) + fabs(b)) ? 0 : x;
}


int mjg_coefficients(double* gamma_u, double* gamma_v, double eta_f, double eta_b) {
  if (!gamma_u || !gamma_v) {
    return mjgERR_ARGUMENT;
  }
  if (!isfinite(eta_f) || !isfinite(eta_b)) {
    return mjgERR_NOT_FINITE;
  }

  if (eta_f == 1 && eta_b == 1) {
    *gamma_u = 0;
    *gamma_v = 0;
    return mjgSOLVED;
  }

  double den = 1 - eta_f * eta_b;
  if (den == 0) {
    return mjgERR_ARGUMENT;
  }
  // 1 - 2 eta_f + eta_f eta_b, without cancellation where both are near 1
  double u = difference(1 - eta_f, eta_f * (1 - eta_b)) / den;
  double v = difference(1 - eta_b, eta_b * (1 - eta_f)) / den;
  if (!isfinite(den) || !isfinite(u) || !isfinite(v)) {
    return mjgERR_NOT_FINITE;
  }
  *gamma_u = u;
  *gamma_v = v;
  return mjgSOLVED;
}


double mjg_rho(double gamma_u, double gamma_v, double m, double M) {
  return (gamma_u * m - gamma_v * M) / (m + M);
}


double mjg_phi(double f_u, double f_v, double gamma_u, double gamma_v, double rho) {
  return gamma_u * f_u + gamma_v * f_v - rho * (f_u - f_v);
}


int mjg_lambdaSet(double lambda[2], double phi, double rho) {
  if (!lambda) {
    return mjgERR_ARGUMENT;
  }
  if (!isfinite(phi) || !isfinite(rho)) {
    return mjgERR_NOT_FINITE;
  }
  if (phi == 0) {
    lambda[0] = 0;
    return 1;
  }

  // a solution is lambda = phi/(1 - rho) if positive, phi/(1 + rho) if negative
  double negative = phi / (1 + rho), positive = phi / (1 - rho);
  int below = negative < 0 && rho != -1, above = positive > 0 && rho != 1;
  if ((below && !isfinite(negative)) || (above && !isfinite(positive))) {
    return mjgERR_NOT_FINITE;
  }
  int count = 0;
  if (below) {
    lambda[count++] = negative;
  }
  if (above) {
    lambda[count++] = positive;
  }
  return count;
}


double mjg_lambdaStick(double phi, double rho) {
  int load;
  double size = phi == 0 ? 0 : mjgi_lawLimit(&load, 1, phi, rho, 0, 1);

  // infinite because it overflows, not because the joint stops at once
  if (!isfinite(phi) || !isfinite(rho) || (size == INFINITY && fabs(rho) < 1)) {
    return NAN;
  }
  return phi < 0 ? -size : size;
}


double mjg_PhiScalar(double s, double phi, double rho) {
  if (!(s >= -1 && s <= 1)) {
    return NAN;
  }
  double size = fabs(mjg_lambdaStick(phi, rho * s));
  return s == 0 && size == size ? 0 : s * size;
}


int mjg_stepScalar(double* v_next, double* t, double v, double f_u, double f_v, double gamma_u,
                   double gamma_v, double m, double M, double h) {
  if (!v_next) {
    return mjgERR_ARGUMENT;
  }
  if (!isfinite(v) || !isfinite(f_u) || !isfinite(f_v) || !isfinite(gamma_u) ||
      !isfinite(gamma_v) || !isfinite(m) || !isfinite(M) || !isfinite(h)) {
    return mjgERR_NOT_FINITE;
  }
  if (h <= 0 || m < 0 || m + M <= 0) {
    return mjgERR_ARGUMENT;
  }

  // (44) in terms of the torque that would stop the joint
  double rho = mjg_rho(gamma_u, gamma_v, m, M);
  double phi = mjg_phi(f_u, f_v, gamma_u, gamma_v, rho);
  double hold = (m + M) / h * v + (f_u - f_v);

  double friction;
  int piece = mjgi_lawResolve(&friction, hold, phi, rho, 0, 1, 1);
  double next = piece == mjgiSTUCK ? 0 : h * (hold - friction) / (m + M);
  if (!isfinite(next) || !isfinite(friction)) {
    return mjgERR_NOT_FINITE;
  }
  *v_next = next;
  if (t) {
    *t = friction;
  }
  return mjgSOLVED;
}
