#include "../helpers.h"

#define NATIVE   parameter[0]  // friction that MuJoCo gives the screw, N at the finger
#define ARMATURE parameter[1]  // of the screw at the finger, kg; 0: as in the file

#define SQUEEZE 0.6  // the fingers touch; the motor begins to squeeze
#define OFF     1.5  // it is switched off
#define GONE    2.0  // the table is gone
#define END     6.0
#define FORCE   200.0  // of the motor at the finger, N

static const mjgCase letGoCase[] = {
    {"lead-screw", NULL, {0, 0}},
    {"ball-screw", "screw.lead=0.005; screw.mu=0.006", {0, 31.6}},
    {"frictionloss", "screw.mu=0", {300, 0}},
    {"none", "screw.mu=0", {0, 0}},
};

static void configure(mjModel* m, const mjgCase* variant) {
  mjg_makeMotors(m);
  mjg_setLoss(m, variant->NATIVE, variant->ARMATURE);
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  // close, squeeze as hard as friction lets through, hold, off
  double time = d->time, gain = fmin(1, fmax(0, (time - SQUEEZE) / 0.5));
  double most = variant->NATIVE + FORCE;
  d->ctrl[0] = mjg_reached(time, OFF)       ? 0
               : mjg_reached(time, SQUEEZE) ? fmin(420, variant->NATIVE + gain * FORCE)
                                            : fmin(most, mjg_servo(m, d, 0, 0.0095));

  // the table sinks slowly: faster than the falling box it would be of no use
  double gone = fmin(1, fmax(0, (time - OFF) / (GONE - OFF)));
  d->mocap_pos[2] = -0.205 - 0.15 * gone;
  d->mocap_pos[1] = -0.3 * fmax(0, fmin(1, (time - GONE) / 0.5));
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double fall[4], open[4];
  for (int i = 0; i < 4; i++) {
    const mjgTrajectory* t = &run[i];
    fall[i] = mjg_at(t, "height", OFF) - mjg_at(t, "height", END);
    open[i] = mjg_at(t, "q_left_finger", OFF) - mjg_lowest(t, "q_left_finger", OFF, END);
  }
  mjg_claim(claims, fall[0] < 1e-3 && open[0] < 1e-5,
            "lead screw: motor off, the fingers open by %.2g mm, the box of 1 kg sinks by %.2g mm in %g s",
            1e3 * open[0], 1e3 * fall[0], END - OFF);
  mjg_claim(claims, fall[1] > 0.1, "ball screw: motor off, the box falls by %.0f mm", 1e3 * fall[1]);
  mjg_claim(claims, open[2] > 1e-6,
            "frictionloss of %g N, more than the squeeze: the fingers creep open by %.3f mm, the box sinks by %.1f mm",
            run[2].variant->NATIVE, 1e3 * open[2], 1e3 * fall[2]);
  mjg_claim(claims, fall[3] > 0.1, "none: the box falls by %.0f mm", 1e3 * fall[3]);
}

mjgSCENE(LetGo, "let-go", "let_go/let_go.xml", END,
         "The motor of a gripper is switched off. A lead screw holds on, and a ball screw lets go.", .moment = 0.8,
         .beside = "all", .joint = "left_finger", mjgCASES(letGoCase), .configure = configure, .input = input,
         .column = "height=body:box.z", .claims = claims, .nsolved = 2);
