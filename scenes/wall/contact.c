// A two-link arm and a wall with a contact of MuJoCo's own, otherwise as in wall.c.

#include "arm.h"
#include "script.h"

static const mjgCase contactCase[] = {
    mjgWALL_CASES,
};

static void measure(double* value, const mjModel* m, const mjData* d) { value[3] = 0 - mjg_contact(m, d, NULL, NULL); }

// x = M^-1 y, M symmetric
static void solve2(double x[2], const double M[4], const double y[2]) {
  double det = M[0] * M[3] - M[1] * M[2], x0 = (M[3] * y[0] - M[1] * y[1]) / det;
  x[1] = (M[0] * y[1] - M[2] * y[0]) / det;
  x[0] = x0;
}

// friction with one frictionless contact in MuJoCo's soft law, f = D max(0, r + J a). The engine
// finds the contact force from the acceleration without damping, a = M^-1 (s - t - J' f), with the
// forces s of motors and motion, and then takes the step with Mhat = M + h B if damping is implicit:
//
//   f  = k (r + J M^-1 (s - t)),  k = D/(1 + D J M^-1 J') while it presses, otherwise 0
//   v+ = v + h Mhat^-1 (s - t - J' f) = v* - A t
//
// Whether it presses is decided by trying.
static int reference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) {
  const double* gamma_v = mjgWALL_GAMMA_V(variant);
  double h = m->opt.timestep, J[2], M[4], Mhat[4], s[2], tau_u[2];
  double penetration = mjg_armTip(J, q) - mjg_wallPosition(time);
  mjg_armInertia(M, q);
  mjg_armBias(s, q, v);
  for (int i = 0; i < 2; i++) {
    tau_u[i] = J[i] * mjg_wallPush(time);
    s[i] = tau_u[i] - s[i] - mjgARM_VISCOSITY * v[i];
    M[3 * i] += mjgARM_ROTOR;
    Mhat[3 * i] = M[3 * i] + mjgWALL_IMPLICIT(variant) * h * mjgARM_VISCOSITY;
    Mhat[1 + i] = M[1 + i];
  }

  // impedance d is constant: D = d/((1 - d) w), k = -solref/d
  double w = m->body_invweight0[2 * mj_name2id(m, mjOBJ_BODY, "lower")], d = m->pair_solimp[0];
  double D = d / ((1 - d) * w), r = -m->pair_solref[0] / d * penetration;

  int status = -1;
  double t[2] = {0}, next[2] = {0}, MJ[2], Ms[2];
  solve2(MJ, M, J);
  solve2(Ms, M, s);
  for (int press = penetration >= 0; press >= 0; press--) {
    double k = press * D / (1 + D * (J[0] * MJ[0] + J[1] * MJ[1]));
    double free_force = k * (r + J[0] * Ms[0] + J[1] * Ms[1]);
    double A[4], start[2], push[2] = {s[0] - J[0] * free_force, s[1] - J[1] * free_force};
    solve2(start, Mhat, push);
    for (int j = 0; j < 2; j++) {
      double column[2] = {(j == 0) - J[0] * k * MJ[j], (j == 1) - J[1] * k * MJ[j]};
      solve2(column, Mhat, column);
      A[j] = h * column[0];
      A[2 + j] = h * column[1];
      start[j] = v[j] + h * start[j];
    }
    status = mjg_armFriction(next, t, start, A, v, tau_u, mjgWALL_GAMMA_U, gamma_v, h);
    double force = free_force - k * (MJ[0] * t[0] + MJ[1] * t[1]);
    if (status < 0 || force >= 0) {
      break;
    }
  }
  for (int i = 0; i < 2; i++) {
    v[i] = next[i];
    q[i] += h * v[i];
  }
  return status;
}

mjgSCENE(WallContact, "wall-contact", "wall/contact.xml", mjgWALL_DURATION,
         "The same arm with a contact of MuJoCo in place of the paper's spring. Friction and contact force are solved "
         "together.",
         .shown = "gamma_v=1.1,1.1", .moment = 0.62, mjgCASES(contactCase), .input = mjg_wallInput,
         .column = mjgWALL_COLUMNS, .measure = measure, .reference = reference, .tolerance = 1e-9,
         .claims = mjg_wallClaims);
