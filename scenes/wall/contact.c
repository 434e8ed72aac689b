// A two-link arm and a wall with a contact of MuJoCo's own, otherwise as in wall.c.

#include <math.h>

#include "arm.h"
#include "script.h"

static const mjgCase contactCase[] = {
    mjgWALL_CASES(0, ""),
};


static void measure(double* value, const mjModel* m, const mjData* d) {
  mjg_wallMeasure(value, m, d);
  for (int i = 0; i < d->ncon; i++) {
    mjtNum force[6];
    mj_contactForce(m, d, i, force);
    value[3] -= force[0];
  }
}


// algorithm (69) with one frictionless contact in MuJoCo's soft law,
//   f = D max(0, r + J a),  r = k |penetration|,
// where a is the joint acceleration over the step. While it presses it adds D J'J to the inertia and
// D r J' to the load; whether it does is decided by trying.
static int reference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) {
  double h = m->opt.timestep, J[2], M[4], bias[2], tau_u[2];
  double penetration = mjg_armTip(J, q) - mjg_wallPosition(time);
  mjg_armInertia(M, q);
  mjg_armBias(bias, q, v);
  for (int i = 0; i < 2; i++) {
    tau_u[i] = J[i] * mjg_wallPush(time);
    bias[i] += mjgARM_VISCOSITY * v[i];
    M[3 * i] += mjgARM_ROTOR;
  }

  // impedance d is constant: D = d/((1 - d) w), k = -solref/d
  double w = m->body_invweight0[2 * mj_name2id(m, mjOBJ_BODY, "lower")];
  double d = m->pair_solimp[0];
  double D = d / ((1 - d) * w), r = -m->pair_solref[0] / d * penetration;

  int status = -1;
  for (int press = penetration >= 0; press >= 0; press--) {
    double Mhat[4], tau_v[2], next[2] = {v[0], v[1]};
    for (int i = 0; i < 2; i++) {
      tau_v[i] = bias[i] + press * D * r * J[i];
      for (int j = 0; j < 2; j++) {
        Mhat[2 * i + j] = M[2 * i + j] + press * D * J[i] * J[j];
      }
    }
    status = mjg_armStep(next, Mhat, tau_u, tau_v, mjgWALL_GAMMA_U, mjgWALL_GAMMA_V(variant), h);
    double force = r + (J[0] * (next[0] - v[0]) + J[1] * (next[1] - v[1])) / h;
    if (status < 0 || !press || force >= 0) {
      v[0] = next[0];
      v[1] = next[1];
      break;
    }
  }
  q[0] += h * v[0];
  q[1] += h * v[1];
  return status;
}


const mjgScene mjg_sceneContact = {
    .name = "wall-contact",
    .description = "the same arm and wall with a MuJoCo contact",
    .xml = "wall/contact.xml",
    .duration = mjgWALL_DURATION,
    .variant = contactCase,
    .nvariant = sizeof contactCase / sizeof *contactCase,
    .input = mjg_wallInput,
    .column = mjg_wallColumn,
    .measure = measure,
    .reference = reference,
    .tolerance = 1e-9,
    .claims = mjg_wallClaims,
};
