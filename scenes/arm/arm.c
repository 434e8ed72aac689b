#include "../helpers.h"

#define NJOINT 6
#define LOWER  2.0  // end of the arm's motion, s
#define OFF    3.0  // the motors are switched off
#define STILL  3.5  // from then on nothing may move
#define END    20.0

// the joints are servos that go from the first pose to one in which the forearm presses the table;
// shoulder and elbow move in opposite directions, so that forearm and hand stay level
static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  static const double from[NJOINT] = {0.5, -0.5, 0.5, 0, 0, 0};
  static const double to[NJOINT] = {0, 0.055, -0.055, 0, 0, 1};
  static const double gain[NJOINT] = {6000, 6000, 4000, 500, 1000, 100};
  double blend = mjg_ease(fmin(1, d->time / LOWER));
  for (int i = 0; i < NJOINT; i++) {
    double goal = from[i] + blend * (to[i] - from[i]);
    d->ctrl[i] = mjg_reached(d->time, OFF) ? 0 : gain[i] * (goal - d->qpos[i]) - 0.05 * gain[i] * d->qvel[i];
  }
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  // exactly: no tolerance
  double moved = mjg_largestSwing(run, "q_*", STILL, END), fastest = mjg_largestSize(run, "v_*", STILL, END);
  mjg_claim(claims, moved == 0 && fastest == 0,
            "motors off, all six joints stand still for %.1f s: they turn by %g rad at %g rad/s", END - STILL, moved,
            fastest);

  // the held load does not move either
  double press = mjg_lowest(run, "press", STILL, END);
  double pressed = mjg_highest(run, "press", STILL, END);
  mjg_claim(claims, press > 50 && pressed - press < 1e-6 * press,
            "the forearm goes on pressing the table with %.2f N, within %.2g N", press, pressed - press);
  double slip = hypot(hypot(mjg_swing(run, "load_x", STILL, END), mjg_swing(run, "load_y", STILL, END)),
                      mjg_swing(run, "load_z", STILL, END));
  mjg_claim(claims, slip < 1e-5 && mjg_at(run, "load_z", END) > 0.4,
            "the load of 3 kg stays on the hand: it moves by %.2g m", slip);
}

mjgSCENE(Arm, "arm", "arm/arm.xml", END,
         "An arm with worm gears rests on a table and carries a load while its motors are off.", .moment = 0.5,
         .input = input,
         .column = "load_x=body:load.x load_y=body:load.y load_z=body:load.z press=contact:forearm,table",
         .claims = claims, .nsolved = 1);
