// The flap moves by a step while the supply pressure breaks down and comes back: figures 6 to 10.

#include "servo.h"

#define LOAD 74500.0  // N m

enum { OPPOSING, AIDING, OPPOSING_LOCKED, AIDING_WEAK, AIDING_STRONG };

static const mjgCase pressureCase[] = {
    {mjgFLAP_CASE("figure06-opposing-reversible", 0.9090909090909091, 0.9, 1.2, 0, 1.5, 0)},
    {mjgFLAP_CASE("figure07-aiding-reversible", 0.9090909090909091, 0.9, 1.2, 7, 0, 0)},
    {mjgFLAP_CASE_UNEVEN("figure08-opposing-irreversible", 0.86, -0.2, 1.2, 0, 1.5, 0, 1.415458937198068,
                         5283.276450511946)},
    {mjgFLAP_CASE_UNEVEN("figure09-aiding-irreversible", 0.86, -0.2, 1.2, 4, 0, 0, 1.041469194312796,
                         716.7235494880542)},
    {mjgFLAP_CASE_UNEVEN("figure10-aiding-more-irreversible", 0.86, -0.4, 1.2, 4, 0, 0, 1.0359712230215827,
                         625.0000000000001)},
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

mjgFLAP_CALLBACKS

// time at which the flap has come to rest within 0.02 deg of its target, -1: never
static double arrival(const mjgTrajectory* run) {
  double last = run->data[(size_t)(run->nrow - 1) * (size_t)run->ncolumn + (size_t)mjg_column(run, "time")];
  double target = mjgFLAP_TARGET(run->variant);
  for (double time = 0.1; time < last - 0.1; time += 0.005) {
    if (fabs(mjg_lowest(run, "position", time, last) - target) < 0.02 &&
        fabs(mjg_highest(run, "position", time, last) - target) < 0.02) {
      return time;
    }
  }
  return -1;
}

// returns 1 if times are in the paper's order
static int inOrder(const double time[5]) {
  return time[AIDING] > 0 && time[AIDING] < time[AIDING_WEAK] && time[AIDING_WEAK] < time[AIDING_STRONG] &&
         time[AIDING_STRONG] < time[OPPOSING_LOCKED] && time[OPPOSING_LOCKED] < time[OPPOSING];
}

// directions of motion between two times as -, 0 and +, and their durations
static int directions(char sign[], double length[], int nmax, const mjgTrajectory* r, double from, double to) {
  int time = mjg_column(r, "time"), velocity = mjg_column(r, "v_flap"), n = 0;
  for (int i = 0; i < r->nrow; i++) {
    const double* row = mjg_row(r, i);
    if (row[time] > from && row[time] < to && n < nmax) {
      char now = row[velocity] > 0 ? '+' : row[velocity] < 0 ? '-' : '0';
      if (n == 0 || sign[n - 1] != now) {
        sign[n] = now;
        length[n++] = 0;
      }
      length[n - 1] += row[time] - (row - r->ncolumn)[time];
    }
  }
  sign[n] = 0;
  return n;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  const double nominal = 1 / mjgFLAP_DEGREE;

  // before the command: the load moves a reversible flap until the servo holds it
  double sunk = mjg_lowest(&run[OPPOSING], "q_flap", 0, 0.099) * nominal;
  double kept = mjg_lowest(&run[OPPOSING_LOCKED], "q_flap", 0, 0.099);
  mjg_claim(claims, sunk < -0.001 && kept == 0,
            "the load of 74500 N m moves the reversible flap by %.4f deg until the servo holds it, the irreversible "
            "one not at all: %g",
            sunk, kept);

  // opposing load: both stop under low pressure, and only the reversible flap is driven back
  for (int i = 0; i < 2; i++) {
    const mjgTrajectory* r = &run[i ? OPPOSING_LOCKED : OPPOSING];
    double before = mjg_lowest(r, "v_flap", 0.25, 0.299) * nominal;
    double back = mjg_lowest(r, "v_flap", 0.4, 0.6) * nominal;
    double way = mjg_at(r, "position", 0.6) - mjg_at(r, "position", 0.45);
    if (i == 0) {
      mjg_claim(claims, before > 0.5 && back < -0.1 && way < -0.01,
                "figure 6: moves at %.2f deg/s, and under low pressure the load drives it back by %.3f deg from 0.45 "
                "to 0.6 s",
                before, -way);
    } else {
      mjg_claim(
          claims, before > 0.5 && back == 0 && way == 0,
          "figure 8: moves at %.2f deg/s, and under low pressure the irreversible flap stands still: %g deg/s, %g deg",
          before, back, way);
    }
  }

  // figure 6 stops, sticks, slips back, sticks again and goes on
  char sign[9];
  double length[8] = {0};
  directions(sign, length, 8, &run[OPPOSING], 0.25, 1.3);
  mjg_claim(claims, !strcmp(sign, "+0-0+"),
            "figure 6: it stops and sticks for %.1f ms, slips back for %.3f s, sticks for %.1f ms and goes on: %s",
            1e3 * length[1], length[2], 1e3 * length[3], sign);

  // aiding load: the reversible flap and the weakly irreversible one keep moving, slower
  static const int moving[] = {AIDING, AIDING_WEAK};
  for (int i = 0; i < 2; i++) {
    const mjgTrajectory* r = &run[moving[i]];
    double before = -mjg_at(r, "v_flap", 0.29) * nominal;
    double slowest = -mjg_highest(r, "v_flap", 0.4, 0.6) * nominal;
    double fastest = -mjg_lowest(r, "v_flap", 0.45, 0.6) * nominal;
    double after = -mjg_at(r, "v_flap", 0.82) * nominal;
    mjg_claim(claims, slowest > 0 && fastest < 0.8 * before && fabs(after / before - 1) < 0.02,
              "figure %d: the load aids, under low pressure it slows from %.2f to between %.2f and %.2f deg/s, does "
              "not stop, and returns to %.2f deg/s",
              i ? 9 : 7, before, slowest, fastest, after);
  }
  const mjgTrajectory* stalled = &run[AIDING_STRONG];
  double before = -mjg_at(stalled, "v_flap", 0.29) * nominal;
  double held = mjg_swing(stalled, "v_flap", 0.45, 0.6);
  mjg_claim(claims, before > 0.5 && held == 0 && mjg_at(stalled, "v_flap", 0.5) == 0,
            "figure 10: more irreversible, it moves at %.2f deg/s and stalls under low pressure: %g", before, held);

  // the paper's times of arrival, and their order
  static const double paper[5] = {1.41, 0.94, 1.30, 1.02, 1.28};
  double time[5];
  for (int i = 0; i < 5; i++) {
    time[i] = arrival(&run[i]);
    mjg_claim(claims, fabs(time[i] / paper[i] - 1) < 0.15,
              "%s arrives at %.3f s, in the paper at %.2f s: %+.1f %%, at most 15 %%", run[i].variant->name, time[i],
              paper[i], 100 * (time[i] / paper[i] - 1));
  }
  mjg_claim(claims, inOrder(time),
            "they arrive in the paper's order, 7, 9, 10, 8, 6: %.3f < %.3f < %.3f < %.3f < %.3f s", time[AIDING],
            time[AIDING_WEAK], time[AIDING_STRONG], time[OPPOSING_LOCKED], time[OPPOSING]);

  // the motor stalls at 1.65 times the load, so the irreversible flap moves against the load only
  // if its gear then loses little more than the reversible one
  mjgCase lossy = *run[OPPOSING_LOCKED].variant;
  lossy.parameter[0] = 1 / (2 - lossy.parameter[1]);
  double same = mjg_flapArrival(run[OPPOSING_LOCKED].variant, schedule, 2);
  double never = mjg_flapArrival(&lossy, schedule, 2);
  mjg_claim(claims, fabs(same - time[OPPOSING_LOCKED]) < 0.01 && never < 0,
            "figure 8 by Table 1: arrives at %.3f s with eta_opp = %.2f, with %.3f = 1/(2 - eta_aid) never (%g)", same,
            run[OPPOSING_LOCKED].variant->parameter[0], lossy.parameter[0], never);

  // the paper's own algorithm
  mjg_flapClaimTable(claims, run, 5, schedule);
}

mjgSCENE(Flap, "flap", "flap/flap.xml", 2,
         "An aircraft's flap carries its aerodynamic load while its hydraulic supply breaks down. Only a reversible "
         "actuator gives way.",
         mjgFLAP_SCENE, .moment = 0.3, mjgCASES(pressureCase), .input = input, .reference = reference,
         .tolerance = 1e-9, .claims = claims);
