// The flap moves by a step while the supply pressure breaks down and comes back: figures 6 to 10.

#include <math.h>

#include "servo.h"

#define LOAD 74500.0  // N m

enum {
  OPPOSING,
  AIDING,
  OPPOSING_LOCKED,
  AIDING_WEAK,
  AIDING_STRONG
};

static const mjgCase pressureCase[] = {
    {mjgFLAP_CASE("figure06-opposing-reversible", 0.9090909090909091, 0.9, 1.2, 0, 1.5)},
    {mjgFLAP_CASE("figure07-aiding-reversible", 0.9090909090909091, 0.9, 1.2, 7, 0)},
    {mjgFLAP_CASE("figure08-opposing-irreversible", 0.45454545454545453, -0.2, 1.2, 0, 1.5)},
    {mjgFLAP_CASE("figure09-aiding-irreversible", 0.45454545454545453, -0.2, 1.2, 4, 0)},
    {mjgFLAP_CASE("figure10-aiding-more-irreversible", 0.41666666666666669, -0.4, 1.2, 4, 0)},
};


// supply pressure over time
static double supply(double time) {
  const double full = mjgFLAP_FULL, low = 5;
  return time < 0.3   ? full
         : time < 0.4 ? full + (low - full) * (time - 0.3) / 0.1
         : time < 0.6 ? low
         : time < 0.8 ? low + (full - low) * (time - 0.6) / 0.2
                      : full;
}


static void schedule(mjgFlapInput* input, double time, const mjgCase* variant) {
  double command = mjg_reached(time, 0.1) ? mjgFLAP_TARGET(variant) : mjgFLAP_START(variant);
  *input = (mjgFlapInput){command * mjgFLAP_DEGREE, LOAD, supply(time)};
}


static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  mjg_flapApply(m, d, variant, schedule);
}


static int reference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) {
  return mjg_flapStep(q, v, time, m, variant, schedule);
}


// time at which the flap has come to rest within 0.02 deg of its target, -1: never
static double arrival(const mjgRun* run) {
  const mjgTrajectory* r = run->trajectory;
  double last = r->data[(size_t)(r->nrow - 1) * (size_t)r->ncolumn + (size_t)mjg_column(r, "time")];
  double target = mjgFLAP_TARGET(run->variant);
  for (double time = 0.1; time < last - 0.1; time += 0.005) {
    if (fabs(mjg_lowest(r, "position", time, last) - target) < 0.02 &&
        fabs(mjg_highest(r, "position", time, last) - target) < 0.02) {
      return time;
    }
  }
  return -1;
}


static void claims(mjgClaims* claims, const mjgRun* run) {
  const double nominal = 1 / mjgFLAP_DEGREE;

  // before the command: the load moves a reversible flap until the servo holds it
  double sunk = mjg_lowest(run[OPPOSING].trajectory, "q_flap", 0, 0.099) * nominal;
  double kept = mjg_lowest(run[OPPOSING_LOCKED].trajectory, "q_flap", 0, 0.099);
  mjg_claim(
      claims, sunk < -0.001 && kept == 0,
      "the load of 74500 N m moves the reversible flap by %.4f deg until the servo holds it, the "
      "irreversible one not at all: %g",
      sunk, kept);

  // opposing load: both stop under low pressure, and only the reversible flap is driven back
  for (int i = 0; i < 2; i++) {
    const mjgTrajectory* r = run[i ? OPPOSING_LOCKED : OPPOSING].trajectory;
    double before = mjg_lowest(r, "v_flap", 0.25, 0.299) * nominal;
    double back = mjg_lowest(r, "v_flap", 0.4, 0.6) * nominal;
    double way = mjg_at(r, "position", 0.6) - mjg_at(r, "position", 0.45);
    if (i == 0) {
      mjg_claim(
          claims, before > 0.5 && back < -0.1 && way < -0.01,
          "figure 6: moves at %.2f deg/s, and under low pressure the load drives it back by %.3f "
          "deg from 0.45 to 0.6 s",
          before, -way);
    } else {
      mjg_claim(
          claims, before > 0.5 && back == 0 && way == 0,
          "figure 8: moves at %.2f deg/s, and under low pressure the irreversible flap stands "
          "still: %g deg/s, %g deg",
          before, back, way);
    }
  }

  // aiding load: the reversible flap and the weakly irreversible one keep moving, slower
  static const int moving[] = {AIDING, AIDING_WEAK};
  for (int i = 0; i < 2; i++) {
    const mjgTrajectory* r = run[moving[i]].trajectory;
    double before = -mjg_at(r, "v_flap", 0.29) * nominal;
    double slowest = -mjg_highest(r, "v_flap", 0.4, 0.6) * nominal;
    mjg_claim(
        claims, slowest > 0 && slowest < 0.7 * before,
        "figure %d: the load aids, under low pressure it slows from %.2f to %.2f deg/s and does "
        "not stop",
        i ? 9 : 7, before, slowest);
  }
  const mjgTrajectory* stalled = run[AIDING_STRONG].trajectory;
  double before = -mjg_at(stalled, "v_flap", 0.29) * nominal;
  double held =
      mjg_highest(stalled, "v_flap", 0.45, 0.6) - mjg_lowest(stalled, "v_flap", 0.45, 0.6);
  mjg_claim(
      claims, before > 0.5 && held == 0 && mjg_at(stalled, "v_flap", 0.5) == 0,
      "figure 10: more irreversible, it moves at %.2f deg/s and stalls under low pressure: %g",
      before, held);

  // all arrive when pressure is back; what resists more arrives later
  double time[5];
  for (int i = 0; i < 5; i++) {
    time[i] = arrival(&run[i]);
    mjg_claim(claims, time[i] > 0.6, "%s arrives at %.3f s", run[i].variant->name, time[i]);
  }
  mjg_claim(claims, time[AIDING_WEAK] < time[AIDING_STRONG],
            "the more irreversible flap arrives later: %.3f and %.3f s", time[AIDING_WEAK],
            time[AIDING_STRONG]);

  // the paper's own algorithm
  for (int i = 0; i < 5; i++) {
    double allowed, difference = mjg_flapTable(&allowed, &run[i], schedule);
    mjg_claim(
        claims, difference < allowed,
        "%s moves as Table 1 says: largest difference %.2g deg; two timesteps may cost %.2g deg",
        run[i].variant->name, difference, allowed);
  }
}


const mjgScene mjg_sceneFlap = {
    .name = "flap",
    .description = "a flap under load while its hydraulic supply breaks down (Borello, Figs. 6-10)",
    .xml = "flap/flap.xml",
    .duration = 3.5,
    .variant = pressureCase,
    .nvariant = sizeof pressureCase / sizeof *pressureCase,
    .configure = mjg_flapConfigure,
    .input = input,
    .column = mjg_flapColumn,
    .measure = mjg_flapMeasure,
    .reference = reference,
    .tolerance = 1e-9,
    .claims = claims,
};
