#include "../helpers.h"

#define FACTOR parameter[1]  // relative to the load of the arm's joints without the payload
#define FLOOR  parameter[2]  // of it, N m: the legs carry nothing without the ground

#define OFF   1.0  // the motors are switched off
#define STILL 1.5  // from then on self-locking joints may not move
#define END   6.0

// worms, as of the preset: nothing else changes
#define LOCKING                                                                  \
  "cobot.eta_forward=0.447; cobot.eta_backward=-0.214; legs.eta_forward=0.447; " \
  "legs.eta_backward=-0.214"
#define IDEAL                                                                        \
  "cobot.eta_forward=1; cobot.eta_backward=1; cobot.coulomb=0; legs.eta_forward=1; " \
  "legs.eta_backward=1; legs.coulomb=0"

static const mjgCase powerCase[] = {
    {"locking", LOCKING, {0}},
    {"backdrivable", NULL, {0}},
    {"frictionloss", IDEAL, {mjgRIVAL_LOSS, 2, 5}},
    {"none", IDEAL, {mjgRIVAL_NONE}},
    {"frictionloss-tuned", IDEAL, {mjgRIVAL_SOLREF, 2, 5}},
#if mjgHAS_YIELD
    {"springyield", IDEAL, {mjgRIVAL_YIELD_DAMPED, 2, 5}},
#endif
};
#define NCASE mjgCOUNT(powerCase)

static void configure(mjModel* m, const mjgCase* variant) {
  mjg_makeMotors(m);
  mjg_setRivals(m, mjgRIVAL(variant), variant->FACTOR, variant->FLOOR);
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  for (int i = 0; i < m->nu; i++) {
    int joint = m->actuator_trnid[2 * i];
    double goal = m->key_qpos[m->jnt_qposadr[joint]];
    d->ctrl[i] = mjg_reached(d->time, OFF) ? 0 : mjg_servo(m, d, i, goal);
  }
}

static const char kArm[] = "q_[plew]*", kLegs[] = "q_[fr][lr]_*";  // pan, lift, elbow, wrist; fl_hip, rr_knee

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double arm = mjg_largestSwing(&run[0], kArm, STILL, END), leg = mjg_largestSwing(&run[0], kLegs, STILL, END);
  mjg_claim(claims, arm == 0 && leg == 0,
            "gears that lock, motors off for %g s: the arm's joints turn by %g rad, the legs' by %g rad", END - OFF,
            arm, leg);
  for (int i = 1; i < NCASE; i++) {
    const mjgTrajectory* t = &run[i];
    double load = mjg_at(t, "load_height", OFF) - mjg_at(t, "load_height", END);
    double trunk = mjg_at(t, "trunk_height", OFF) - mjg_at(t, "trunk_height", END);
    int rival = (int)mjgRIVAL(run[i].variant);
    arm = mjg_largestSwing(t, kArm, STILL, END);
    if (rival == mjgRIVAL_LOSS) {
      mjg_claim(claims, arm > 0.05 && trunk > 0.05,
                "%s larger than the load of each joint: in %g s the arm creeps by %.3f rad, the load sinks by %.0f mm, "
                "the body by %.0f mm",
                run[i].variant->name, END - STILL, arm, 1e3 * load, 1e3 * trunk);
    } else if (rival != mjgRIVAL_NONE) {
      // a bound that was chosen for this pose and this load holds them
      mjg_claim(claims, arm > 0 && arm < 1e-3 && load < 1e-3 && trunk < 1e-3,
                "%s: bounds of %g times the load of each joint in this pose hold as well: in %g s the arm turns by "
                "%.1e rad, the load sinks by %.1f mm, the body by %.1f mm",
                run[i].variant->name, run[i].variant->FACTOR, END - STILL, arm, 1e3 * load, 1e3 * trunk);
    } else {
      mjg_claim(claims, load > 0.25 && trunk > 0.2, "%s: the load falls by %.2f m, the body by %.2f m",
                run[i].variant->name, load, trunk);
    }
  }
}

mjgSCENE(PowerCut, "power-cut", "power_cut/power_cut.xml", END,
         "The power fails. Self-locking gears keep the arm and the legs where they are. Backdrivable gears let them "
         "fall. MuJoCo's friction lets them sink at its defaults, and holds them where it is tuned for this pose.",
         .moment = 0.7, .beside = "backdrivable,frictionloss,frictionloss-tuned", .joint = "lift", mjgCASES(powerCase),
         .specify = mjg_reserveRival, .configure = configure, .input = input,
         .column = "load_height=geom:load.z trunk_height=body:trunk.z", .claims = claims, .nsolved = 2);
