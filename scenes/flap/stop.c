// The flap runs against its end of travel and leaves it again: statements 15 to 17 of Table 1, which
// the joint's limit is in the engine. The paper has no figure of it.

#include "servo.h"

#define LOAD    30000.0  // N m
#define STOP    1.0      // deg
#define TURN    1.0      // when the command returns, s
#define CONTACT 0.003    // largest compliance of the engine's soft limit, deg

enum { REVERSIBLE, IRREVERSIBLE };

static const mjgCase stopCase[] = {
    {mjgFLAP_CASE("reversible", 0.9090909090909091, 0.9, 1.2, 0, 3.0, 1.0)},
    {mjgFLAP_CASE("irreversible", 0.45454545454545453, -0.2, 1.2, 0, 3.0, 1.0)},
};

static void schedule(mjgFlapInput* input, double time, const mjgCase* variant) {
  double command = mjg_reached(time, TURN) || !mjg_reached(time, 0.1) ? 0 : mjgFLAP_TARGET(variant);
  *input = (mjgFlapInput){command * mjgFLAP_DEGREE, LOAD, mjgFLAP_FULL};
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) { mjg_flapApply(m, d, variant, schedule); }

// after a given time, time of the first row beyond a position, or with a downward speed of 1e-3 rad/s
static double firstTime(const mjgTrajectory* r, double after, double position, int moves_down) {
  int time = mjg_column(r, "time"), place = mjg_column(r, "position");
  int velocity = mjg_column(r, "v_flap");
  for (int i = 0; i < r->nrow; i++) {
    const double* row = mjg_row(r, i);
    if (row[time] > after && (moves_down ? row[velocity] < -1e-3 : row[place] >= position)) {
      return row[time];
    }
  }
  return INFINITY;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  for (int i = 0; i < 2; i++) {
    const char* name = run[i].variant->name;
    const mjgTrajectory* r = &run[i];
    double impact = firstTime(r, 0, STOP, 0), speed = mjg_at(r, "v_flap", impact - 5e-4);
    double back = mjg_lowest(r, "v_flap", impact + 0.005, TURN - 5e-4);
    double high = mjg_highest(r, "position", impact, TURN), low = mjg_lowest(r, "position", impact, TURN);
    mjg_claim(claims, impact < TURN - 0.1 && high < STOP + CONTACT && low > STOP - CONTACT && back > -0.05 * speed,
              "%s: runs into its stop at %.3f s with %.2f deg/s and stays there, without rebound: %.5f to %.5f deg, "
              "back with %.1g of that speed at most",
              name, impact, speed / mjgFLAP_DEGREE, low, high, fmax(-back / speed, 0));
    double leaves = firstTime(r, TURN - 1e-9, 0, 1);
    mjg_claim(claims, leaves < TURN + 1.1e-3, "%s: leaves it %.1f ms after the command has returned, at most two steps",
              name, 1e3 * (leaves - TURN));
    double allowed, difference = mjg_flapTable(&allowed, &run[i], schedule);
    mjg_claim(claims, difference < allowed + CONTACT,
              "%s: moves as Table 1 says: largest difference %.2g deg; two timesteps may cost %.2g deg and the soft "
              "limit %.2g deg",
              name, difference, allowed, CONTACT);
  }
}

mjgSCENE(FlapStop, "flap-stop", "flap/flap.xml", 1.5,
         "The flap runs into its end of travel. When the motor turns back it comes off at once.", mjgFLAP_SCENE,
         .moment = 0.5, mjgCASES(stopCase), .input = input, .claims = claims);
