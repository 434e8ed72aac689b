// The flap follows a ramp so slow that it sticks and slips: figures 16 and 17.

#include <math.h>

#include "servo.h"

#define LOAD  25000.0  // N m
#define SLOPE 0.025    // deg/s
#define TURN  2.05     // s

enum {
  REVERSIBLE,
  IRREVERSIBLE
};

// efficiencies with more friction under an aiding load than under an opposing one
static const mjgCase creepCase[] = {
    {mjgFLAP_CASE("figure16-reversible", 0.8, 0.7, 2, 0, 0)},
    {mjgFLAP_CASE("figure17-irreversible", 0.5, -0.2, 2, 0, 0)},
};


static void schedule(mjgFlapInput* input, double time, const mjgCase* variant) {
  (void)variant;
  double command = SLOPE * (fmin(time, TURN) - 0.1 - fmax(time - TURN, 0));
  *input = (mjgFlapInput){fmax(command, 0) * mjgFLAP_DEGREE, mjg_reached(time, 0.1) ? LOAD : 0,
                          mjgFLAP_FULL};
}


static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  mjg_flapApply(m, d, variant, schedule);
}


static int reference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) {
  return mjg_flapStep(q, v, time, m, variant, schedule);
}


// mean height of the steps between two times: the way divided by the number of stops
static double stepHeight(int* nstep, const mjgRun* run, double from, double to) {
  const mjgTrajectory* r = run->trajectory;
  int time = mjg_column(r, "time"), velocity = mjg_column(r, "v_flap");
  *nstep = 0;
  for (int i = 1; i < r->nrow; i++) {
    const double* row = r->data + (size_t)i * (size_t)r->ncolumn;
    if (row[time] > from && row[time] < to && row[velocity] != 0 &&
        row[velocity - r->ncolumn] == 0) {
      (*nstep)++;
    }
  }
  return fabs(mjg_at(r, "position", to) - mjg_at(r, "position", from)) / fmax(*nstep, 1);
}


static double meanError(const mjgRun* run, double from, double to) {
  double sum = 0;
  int n = 0;
  for (double time = from; time < to; time += 0.001, n++) {
    sum += mjg_at(run->trajectory, "error", time);
  }
  return sum / n;
}


static void claims(mjgClaims* claims, const mjgRun* run) {
  double up[2], down[2], error[2];
  for (int i = 0; i < 2; i++) {
    int nup, ndown;
    up[i] = stepHeight(&nup, &run[i], 0.8, TURN);
    down[i] = stepHeight(&ndown, &run[i], TURN + 0.6, 3.9);
    error[i] = meanError(&run[i], 0.8, TURN);
    mjg_claim(claims, nup >= 3 && ndown >= 3,
              "figure %d: moves in steps, %d of %.5f deg against the load, %d of %.5f deg with it",
              16 + i, nup, up[i], ndown, down[i]);
  }
  mjg_claim(
      claims, up[IRREVERSIBLE] > up[REVERSIBLE] && down[IRREVERSIBLE] > down[REVERSIBLE],
      "the irreversible flap makes larger steps: %.5f and %.5f deg opposing, %.5f and %.5f deg "
      "aiding",
      up[IRREVERSIBLE], up[REVERSIBLE], down[IRREVERSIBLE], down[REVERSIBLE]);
  mjg_claim(claims, down[REVERSIBLE] > up[REVERSIBLE] && down[IRREVERSIBLE] > up[IRREVERSIBLE],
            "steps with the aiding load are larger than those against it");
  mjg_claim(claims, error[IRREVERSIBLE] > error[REVERSIBLE],
            "against the load the irreversible flap is further behind: %.5f and %.5f deg",
            error[IRREVERSIBLE], error[REVERSIBLE]);

  // gamma_u is not 0 here, so that T_FR0 and FSD mean slightly different things: see README.md
  for (int i = 0; i < 2; i++) {
    double allowed, difference = mjg_flapTable(&allowed, &run[i], schedule);
    mjg_claim(claims, difference < 1.1 * fmax(up[i], down[i]),
              "%s moves as Table 1 says within one of its steps: largest difference %.2g deg",
              run[i].variant->name, difference);
  }
}


const mjgScene mjg_sceneFlapCreep = {
    .name = "flap-creep",
    .description = "the flap creeps by sticking and slipping (Borello, Figs. 16 and 17)",
    .xml = "flap/flap.xml",
    .duration = 4,
    .variant = creepCase,
    .nvariant = sizeof creepCase / sizeof *creepCase,
    .configure = mjg_flapConfigure,
    .input = input,
    .column = mjg_flapColumn,
    .measure = mjg_flapMeasure,
    .reference = reference,
    .tolerance = 1e-9,
    .claims = claims,
};
