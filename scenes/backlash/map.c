// The torque of four models over the phase plane: Nordin, Galic', Gutman 1997, Fig. 2. Nothing moves:
// row i of the recording is one point of a grid.

#include "../helpers.h"
#include "mjgear_backlash.h"

#define COLUMNS 81  // points in theta_d from -2 to 2 rad
#define ROWS    81  // points in omega_d from -0.4 to 0.4 rad/s

// alpha = 1 rad, k/c = 0.1 1/s, beta = 0.5 rad, in units of k = 1 N m/rad
static const mjgBacklash law = {.half_gap = 1, .stiffness = 1, .damping = 10, .rubber = 0.5, .exponent = 1};

static void measure(double* value, const mjModel* m, const mjData* d) {
  int i = mjg_lastGridPoint(m, d);
  double theta = mjg_gridValue(i % COLUMNS, COLUMNS, 2);
  double omega = mjg_gridValue(i / COLUMNS, ROWS, 0.4);
  value[0] = theta;
  value[1] = omega;

  // (5): the torque of the exact shaft, (1) and (14), in contact; in the release set, where neither side
  // can be in contact, 0. Outside it is this or 0, as the shaft is in contact or not.
  mjgBacklash model = law;
  model.model = mjgEXACT;
  double right, left;
  mjg_gapRate(&right, &model, theta, omega, model.half_gap);
  mjg_gapRate(&left, &model, theta, omega, -model.half_gap);
  value[2] = fmax(right, 0) + fmin(left, 0);
  const int models[] = {mjgPHASE_PLANE, mjgDAMPED_DEADZONE, mjgRUBBER};
  for (int k = 0; k < 3; k++) {
    model.model = models[k];
    value[3 + k] = mjg_backlashTorque(NULL, NULL, &model, theta, omega);
  }
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  int theta = mjg_column(run, "theta_d"), exact = mjg_column(run, "T_5");
  int phase = mjg_column(run, "T_23"), dead = mjg_column(run, "T_26"), rubber = mjg_column(run, "T_40");
  int wrong = 0, pulls = 0, rough = 0;
  double step = 0;
  for (int i = 0; i < run->nrow; i++) {
    const double* row = mjg_row(run, i);
    wrong += row[phase] != 0 && fabs(row[phase] - row[exact]) > 1e-12;
    pulls += row[theta] > 1 && row[dead] < 0 && row[exact] == 0;
    if (i % COLUMNS) {
      double change = fabs(row[rubber] - (row - run->ncolumn)[rubber]);
      rough += change > 0.6;
      step = fmax(step, change);
    }
  }
  mjg_claim(claims, wrong == 0, "(23) is 0 or the torque (5) of the shaft in contact at all %d points", run->nrow);
  mjg_claim(claims, pulls > 0, "(26) pulls where only a push is possible, area A2: %d points", pulls);
  mjg_claim(claims, rough == 0, "(40) is continuous: it changes by %.2f N m at most from one point to the next", step);
}

mjgSCENE(GapMap, "gap_map", "backlash/two_mass.xml", 1e-3 * COLUMNS * ROWS,
         "The maps show the torque of four backlash models over angle and rate (Nordin, Fig. 2).", .flg_still = 1,
         .column = "theta_d omega_d T_5 T_23 T_26 T_40", .measure = measure, .claims = claims);
