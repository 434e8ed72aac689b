#include "../helpers.h"

#define WELD parameter[0]  // position at which the fingers are fixed; 0: they are free

#define TORQUE  0.1   // most that the motor gives, N m
#define TOUCH   58.6  // angle of the screw at which the fingers touch the box, rad
#define SQUEEZE 2.0   // from then on the motor squeezes
#define OFF     3.0   // the motor is switched off
#define FREE    3.5   // the support is gone
#define END     63.5  // a minute later a hand begins to pull
#define OPEN    65.0  // the motor opens
#define STOP    66.0
#define PULL    60  // of the hand at each finger, N

static const mjgCase gripperCase[] = {
    {"screw", NULL, {0}},
    {"welded", NULL, {0.0280079}},
};

static void configure(mjModel* m, const mjgCase* variant) {
  static const char* const weld[] = {"left_weld", "right_weld"};
  for (int i = 0; i < 2; i++) {
    m->eq_data[mjNEQDATA * mj_name2id(m, mjOBJ_EQUALITY, weld[i])] = variant->WELD;
  }
}

// torque of the motor: at some speed until the fingers meet the box, then growing; later open again
static double motor(double time, double angle, double speed) {
  if (!mjg_reached(time, SQUEEZE)) {
    return fmax(-TORQUE, fmin(TORQUE, 0.01 * (fmax(2, fmin(50, 6 * (TOUCH - angle))) - speed)));
  }
  return !mjg_reached(time, OFF)    ? TORQUE * fmin(1, 2 * (time - SQUEEZE))
         : !mjg_reached(time, OPEN) ? 0
                                    : fmax(-TORQUE, 0.01 * (-50 - speed));
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  double time = d->time;

  // squeeze, hold, open
  int screw = mj_name2id(m, mjOBJ_JOINT, "screw");
  d->ctrl[0] = motor(time, d->qpos[m->jnt_qposadr[screw]], d->qvel[m->jnt_dofadr[screw]]);

  // fingers that a weld holds, until the motor opens them
  int weld = variant->WELD > 0 && mjg_within(time, OFF, OPEN);
  d->eq_active[mj_name2id(m, mjOBJ_EQUALITY, "left_weld")] = (mjtBool)weld;
  d->eq_active[mj_name2id(m, mjOBJ_EQUALITY, "right_weld")] = (mjtBool)weld;

  // the support goes, slowly enough for the box not to be torn along, and the hand comes and goes
  double gone = fmin(1, fmax(0, (time - OFF) / (FREE - OFF)));
  d->mocap_pos[2] = 0.1 - 0.06 * gone;
  d->mocap_pos[1] = -0.2 * fmax(0, fmin(1, (time - FREE) / 1.0));
  double pull = mjg_reached(time, END) ? PULL * fmin(1, fmin(time - END, OPEN - time) / 0.5) : 0;
  d->qfrc_applied[m->jnt_dofadr[mj_name2id(m, mjOBJ_JOINT, "left")]] = -fmax(0, pull);
  d->qfrc_applied[m->jnt_dofadr[mj_name2id(m, mjOBJ_JOINT, "right")]] = -fmax(0, pull);
}

// largest difference of a column from its value at the first of two times
static double change(const mjgTrajectory* t, const char* name, double from, double to) {
  double start = mjg_at(t, name, from);
  return fmax(mjg_highest(t, name, from, to) - start, start - mjg_lowest(t, name, from, to));
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  const mjgTrajectory *screw = &run[0], *welded = &run[1];

  // it holds the squeezed box
  double grip = mjg_lowest(screw, "grip", FREE, END), other = mjg_lowest(welded, "grip", FREE, END);
  mjg_claim(claims, grip > 20 && fabs(grip - other) < 0.05 * grip,
            "motor off, it grips with %.2f N; welded fingers for comparison with %.2f N", grip, other);
  double slip = mjg_at(screw, "height", FREE) - mjg_at(screw, "height", END);
  double without = mjg_at(welded, "height", FREE) - mjg_at(welded, "height", END);
  mjg_claim(claims, slip - without < 1e-4 && mjg_at(screw, "height", END) > 0.14,
            "the box slips by %.2g mm in 60 s, between welded fingers by %.2g mm: less than 0.1 mm more", 1e3 * slip,
            1e3 * without);
  double turn = change(screw, "q_screw", FREE, END);
  mjg_claim(claims, turn == 0, "the screw does not turn: %g rad in 60 s", turn);

  // who opens it
  double moved = change(screw, "q_left", END, OPEN - 0.01);
  turn = change(screw, "q_screw", END, OPEN - 0.01);
  mjg_claim(claims, turn == 0 && moved < 1e-4 && mjg_at(screw, "height", OPEN) > 0.14,
            "a hand that pulls both fingers with %d N turns the screw by %g rad and bends a finger by %.2g mm", PULL,
            turn, 1e3 * moved);
  double opened = mjg_at(screw, "q_left", OPEN) - mjg_at(screw, "q_left", STOP);
  double height = mjg_at(screw, "height", STOP);
  mjg_claim(claims, opened > 5e-3 && height < 0.06, "its motor opens it by %.1f mm, and the box falls to %.3f m",
            1e3 * opened, height);
}

mjgSCENE(Gripper, "gripper", "gripper/gripper.xml", STOP,
         "A gripper with a lead screw squeezes a box. Then its motor is switched off, and it still holds the box.",
         .shown = "screw", .moment = 0.5, .beside = "welded", mjgCASES(gripperCase), .configure = configure,
         .input = input, .column = "height=body:box.z grip=contact:box,left_pad", .claims = claims, .nsolved = 2);
