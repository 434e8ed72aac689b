// A gripper that holds what it has gripped.

#include <math.h>

#include "../claims.h"
#include "../scene.h"

#define WELDED parameter[0]

static const mjgCase gripperCase[] = {
    {"screw", {{0}}, {0}},
    {"welded", {{0}}, {1}},
};

#define OFF   2.0   // the motor is switched off
#define PULL  62.0  // a hand pulls the right finger open, for 1 s
#define OPEN  64.0  // the motor opens
#define FORCE 40.0  // of the hand, N


static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  int weld = mj_name2id(m, mjOBJ_EQUALITY, "weld");
  int right = m->jnt_dofadr[mj_name2id(m, mjOBJ_JOINT, "right")];
  double time = d->time;

  // squeeze, hold, open
  d->ctrl[0] = !mjg_reached(time, OFF) ? 120 : mjg_reached(time, OPEN) ? -60 : 0;
  d->eq_active[weld] = variant->WELDED > 0 && mjg_reached(time, OFF);

  // the support leaves after the motor is off
  d->mocap_pos[2] = 0.09 - fmin(0.3, 0.3 * fmax(0, time - OFF - 0.1));
  d->qfrc_applied[right] = mjg_reached(time, PULL) && !mjg_reached(time, PULL + 1) ? FORCE : 0;
}


static const char* const column[] = {"height", NULL};

static void measure(double* value, const mjModel* m, const mjData* d) {
  value[0] = d->xpos[3 * mj_name2id(m, mjOBJ_BODY, "box") + 2];
}


static void claims(mjgClaims* claims, const mjgRun* run) {
  static const char* const sensor[] = {"screw"};
  const mjgTrajectory *screw = run[0].trajectory, *welded = run[1].trajectory;
  double slip = mjg_at(screw, "height", OFF) - mjg_at(screw, "height", PULL);
  double other = mjg_at(welded, "height", OFF) - mjg_at(welded, "height", PULL);
  mjg_claim(
      claims, slip - other < 1e-4,
      "motor off, the box slips by %.4f mm in 60 s; with welded fingers by %.4f mm, less than 0.1 "
      "mm apart",
      1e3 * slip, 1e3 * other);
  double before = mjg_at(screw, "q_left", PULL - 0.01);
  double moved = fmax(mjg_highest(screw, "q_left", PULL, PULL + 1) - before,
                      before - mjg_lowest(screw, "q_left", PULL, PULL + 1));
  mjg_claim(claims, moved < 1e-6,
            "a hand that pulls at a finger with %.0f N moves the screw by %.2g m", FORCE, moved);
  double opened = before - mjg_at(screw, "q_left", 65);
  mjg_claim(claims, opened > 0.02, "the motor opens it by %.1f mm, and the box falls to %.3f m",
            1e3 * opened, mjg_at(screw, "height", 65));
  mjg_claimSolved(claims, run, sensor, 1);
}


const mjgScene mjg_sceneGripper = {
    .name = "gripper",
    .description = "a gripper with a lead screw holds a box without its motor",
    .xml = "gripper/gripper.xml",
    .duration = 65,
    .variant = gripperCase,
    .nvariant = sizeof gripperCase / sizeof *gripperCase,
    .input = input,
    .column = column,
    .measure = measure,
    .claims = claims,
};
