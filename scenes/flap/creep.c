// The flap follows a ramp so slow that it sticks and slips: figures 16 and 17.

#include "servo.h"

#define LOAD  25000.0  // N m
#define SLOPE 0.025    // deg/s
#define TURN  2.05     // s

enum { REVERSIBLE, IRREVERSIBLE };

// efficiencies with more friction under an aiding load than under an opposing one
static const mjgCase creepCase[] = {
    {mjgFLAP_CASE("figure16-reversible", 0.8, 0.7, 2, 0, 0, 0)},
    {mjgFLAP_CASE("figure17-irreversible", 0.5, -0.2, 2, 0, 0, 0)},
};

static void schedule(mjgFlapInput* input, double time, const mjgCase* variant) {
  double command = SLOPE * (fmin(time, TURN) - 0.1 - fmax(time - TURN, 0));
  *input = (mjgFlapInput){fmax(command, 0) * mjgFLAP_DEGREE, mjg_reached(time, 0.1) ? LOAD : 0, mjgFLAP_FULL};
}

mjgFLAP_CALLBACKS

// steps between two times: mean height, the way divided by the number of stops, and mean period from
// one break-away to the next
typedef struct {
  int n;
  double height;  // deg
  double period;  // s
} Steps;

static Steps steps(const mjgTrajectory* run, double from, double to) {
  mjgEvents starts = mjg_events(run, "v_flap", from, to, mjg_isNotZero);
  double way = fabs(mjg_at(run, "position", to) - mjg_at(run, "position", from));
  return (Steps){starts.n, way / fmax(starts.n, 1), (starts.last - starts.first) / fmax(starts.n - 1, 1)};
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  Steps up[2], down[2];
  double error[2];
  for (int i = 0; i < 2; i++) {
    up[i] = steps(&run[i], 0.8, TURN);
    down[i] = steps(&run[i], TURN + 0.6, 3.9);
    error[i] = mjg_flapMeanError(&run[i], 0.8, TURN);
    mjg_claim(claims, up[i].n >= 3 && down[i].n >= 3,
              "figure %d: moves in steps, %d of %.5f deg against the load, %d of %.5f deg with it", 16 + i, up[i].n,
              up[i].height, down[i].n, down[i].height);
  }
  const Steps *opposing = &up[IRREVERSIBLE], *aiding = &down[IRREVERSIBLE];
  mjg_claim(claims, opposing->height > up[REVERSIBLE].height && aiding->height > down[REVERSIBLE].height,
            "the irreversible flap makes larger steps: %.5f and %.5f deg opposing, %.5f and %.5f deg aiding",
            opposing->height, up[REVERSIBLE].height, aiding->height, down[REVERSIBLE].height);
  mjg_claim(claims, opposing->period > up[REVERSIBLE].period && aiding->period > down[REVERSIBLE].period,
            "and its period is longer: %.3f and %.3f s opposing, %.3f and %.3f s aiding", opposing->period,
            up[REVERSIBLE].period, aiding->period, down[REVERSIBLE].period);
  mjg_claim(claims, down[REVERSIBLE].height > up[REVERSIBLE].height && aiding->height > opposing->height,
            "steps with the aiding load are larger than those against it");
  mjg_claim(claims, error[IRREVERSIBLE] > error[REVERSIBLE],
            "against the load the irreversible flap is further behind: %.5f and %.5f deg", error[IRREVERSIBLE],
            error[REVERSIBLE]);

  // gamma_u is not 0 here, so that T_FR0 and FSD mean slightly different things: see README.md
  for (int i = 0; i < 2; i++) {
    double allowed, difference = mjg_flapTable(&allowed, &run[i], schedule);
    mjg_claim(claims, difference < 1.1 * fmax(up[i].height, down[i].height),
              "%s moves as Table 1 says within one of its steps: largest difference %.2g deg", run[i].variant->name,
              difference);
  }
}

mjgSCENE(FlapCreep, "flap-creep", "flap/flap.xml", 4,
         "The flap follows a very slow ramp, and its irreversible actuator sticks and slips.", mjgFLAP_SCENE,
         .moment = 0.7, mjgCASES(creepCase), mjgFLAP_COMPARED, .claims = claims);
