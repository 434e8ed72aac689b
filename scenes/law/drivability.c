// The torques of motor and load that move a gear at rest: Kikuuwe 2022, 4.1, Figs. 5 and
// 6. Every step starts from rest with the next pair of torques of a grid; row i of the
// recording is one pair.
//
// The plugin refuses gears that no motor can drive (gamma_u >= 1); those are stepped by the core alone, (44).

#include "../helpers.h"

#define SIDE  41   // points of the grid in each direction
#define RANGE 1.0  // from -RANGE to RANGE, N m

#define GAMMA_U parameter[0]
#define GAMMA_V parameter[1]

#define INERTIA 1.0  // of the rotor and of the link, kg m2

static const mjgCase drivabilityCase[] = {
    {"BD-FD", "gear.gamma_u=0.2; gear.gamma_v=0.5", {0.2, 0.5}},
    {"nBD-FD", "gear.gamma_u=0.2; gear.gamma_v=1.5", {0.2, 1.5}},
    {"BD-nFD", NULL, {1.5, 0.2}},
    {"nBD-nFD", NULL, {1.5, 1.5}},
    {"nBD-FD-uneven", "gear.gamma_u=-0.5; gear.gamma_v=1.2", {-0.5, 1.2}},
};

// torques of row i
static void torques(double* f_u, double* f_v, int i) {
  *f_u = mjg_gridValue(i % SIDE, SIDE, RANGE);
  *f_v = mjg_gridValue(i / SIDE, SIDE, RANGE);
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  double load;
  d->userdata[0] = variant->GAMMA_U;
  d->userdata[1] = variant->GAMMA_V;
  torques(&d->ctrl[0], &load, mjg_gridPoint(m, d));
  d->qfrc_applied[0] = -load;
  d->qpos[0] = 0;
  d->qvel[0] = 0;
}

static void measure(double* value, const mjModel* m, const mjData* d) {
  torques(&value[0], &value[1], mjg_lastGridPoint(m, d));
  value[2] = (d->qvel[0] > 0) - (d->qvel[0] < 0);
  double v = NAN;
  mjg_stepScalar(&v, NULL, 0, value[0], value[1], d->userdata[0], d->userdata[1], INERTIA, INERTIA, m->opt.timestep);
  value[3] = (v > 0) - (v < 0);
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  for (int k = 0; k < mjgCOUNT(drivabilityCase); k++) {
    const mjgTrajectory* t = &run[k];
    double gamma_u = run[k].variant->GAMMA_U, gamma_v = run[k].variant->GAMMA_V;
    int engine = mjg_column(t, "engine"), core = mjg_column(t, "core"), apart = 0, wrong = 0, stuck = 0, motor = 0,
        load = 0, border = 0;
    for (int i = 0; i < t->nrow; i++) {
      const double* row = mjg_row(t, i);
      double f_u, f_v;
      torques(&f_u, &f_v, i);

      // (23), |f_u - f_v| <= |gamma_u f_u + gamma_v f_v|, as a product as in (24): >= 0
      double product = ((1 + gamma_v) * f_v - (1 - gamma_u) * f_u) * ((1 + gamma_u) * f_u - (1 - gamma_v) * f_v);
      if (fabs(product) < 1e-9) {
        border++;
        continue;
      }
      double moves = row[core];
      apart += gamma_u < 1 && row[engine] != moves;
      stuck += moves == 0;
      wrong += (moves == 0) != (product > 0);
      motor += moves != 0 && fabs(f_v) < 1e-12;
      load += moves != 0 && fabs(f_u) < 1e-12;
    }
    mjg_claim(claims, wrong == 0 && apart == 0 && stuck > 0 && t->nrow == SIDE * SIDE,
              "%s: rests where (23) says, and only there: %d of %d pairs of torques, %d on the border",
              run[k].variant->name, stuck, SIDE * SIDE, border);
    mjg_claim(claims, (load > 0) == (fabs(gamma_v) < 1) && (motor > 0) == (fabs(gamma_u) < 1),
              "%s: the load alone moves it in %d cases, the motor alone in %d", run[k].variant->name, load, motor);
  }
}

mjgSCENE(Drivability, "drivability", "law/law.xml", 1e-3 * SIDE * SIDE,
         "The maps show which torques of motor and load move a gear at rest (Kikuuwe, Figs. 5 and 6).", .flg_still = 1,
         mjgCASES(drivabilityCase), .input = input, .column = "f_u f_v engine core", .measure = measure,
         .claims = claims);
