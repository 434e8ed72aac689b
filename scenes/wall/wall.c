// A two-link arm and the paper's wall, a force in proportion to the penetration: Figs. 10 to 12.

#include "arm.h"
#include "script.h"

static const mjgCase wallCase[] = {
    mjgWALL_CASES,
};

// force of the wall in x direction on a tip at px
static double wallForce(double px, double time) { return -mjgWALL_STIFFNESS * fmax(px - mjg_wallPosition(time), 0); }

// the tip is the centre of mass of the lower link, where xfrc_applied acts
static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  mjg_wallInput(m, d, variant);
  mj_kinematics(m, d);
  int tip = mj_name2id(m, mjOBJ_SITE, "tip"), body = mj_name2id(m, mjOBJ_BODY, "lower");
  d->xfrc_applied[6 * body] = wallForce(d->site_xpos[3 * tip], d->time);
}

static void measure(double* value, const mjModel* m, const mjData* d) {
  value[3] = d->xfrc_applied[6 * mj_name2id(m, mjOBJ_BODY, "lower")];
}

// algorithm (69)
static int reference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) {
  double h = m->opt.timestep, J[2], Mhat[4], tau_u[2], tau_v[2];

  // forces at the beginning of the step
  double px = mjg_armTip(J, q), push = mjg_wallPush(time), wall = wallForce(px, time);
  mjg_armInertia(Mhat, q);
  mjg_armBias(tau_v, q, v);
  for (int i = 0; i < 2; i++) {
    tau_u[i] = J[i] * push;
    tau_v[i] += mjgARM_VISCOSITY * v[i] - J[i] * wall;
    Mhat[3 * i] += mjgARM_ROTOR + mjgWALL_IMPLICIT(variant) * h * mjgARM_VISCOSITY;
  }

  int status = mjg_armStep(v, Mhat, tau_u, tau_v, mjgWALL_GAMMA_U, mjgWALL_GAMMA_V(variant), h);
  for (int i = 0; i < 2; i++) {
    q[i] += h * v[i];
  }
  return status;
}

mjgSCENE(Wall, "wall", "wall/wall.xml", mjgWALL_DURATION,
         "An arm has been pushed into an elastic wall, and stays there after the push.", .shown = "gamma_v=1.1,1.1",
         .moment = 0.62, mjgCASES(wallCase), .input = input, .column = mjgWALL_COLUMNS, .measure = measure,
         .reference = reference, .tolerance = 1e-9, .claims = mjg_wallClaims);
