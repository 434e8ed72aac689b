#include "../helpers.h"

#define NATIVE   parameter[0]  // friction that MuJoCo gives the joints, N m
#define ARMATURE parameter[1]  // of all joints, kg m2; 0: as in the file

#define END 1.5

#define IDEAL "legs.eta_forward=1; legs.eta_backward=1; legs.coulomb=0"

static const mjgCase landingCase[] = {
    {"planetary", NULL, {0, 0}},
    {"worm", "legs.eta_forward=0.447; legs.eta_backward=-0.214; legs.coulomb=0", {0, 0.0567}},
    {"frictionloss", IDEAL, {0.8, 0}},
    {"none", IDEAL, {0, 0}},
};

static void configure(mjModel* m, const mjgCase* variant) { mjg_setLoss(m, variant->NATIVE, variant->ARMATURE); }

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double ground[4], in[4], out[4], sag[4];
  for (int i = 0; i < 4; i++) {
    const mjgTrajectory* t = &run[i];
    ground[i] = mjg_highest(t, "ground", 0, END);
    in[i] = mjg_largestSize(t, "gear_??_knee_torque_in", 0, END);
    out[i] = mjg_largestSize(t, "gear_??_knee_torque_out", 0, END);
    sag[i] = mjg_highest(t, "q_fl_knee", 0, 0.1) - mjg_lowest(t, "q_fl_knee", 0, END);
  }
  mjg_claim(
      claims, in[0] > 0.9 * out[0] && sag[0] > 0.2,
      "planetary: the knees give way by %.2f rad; of %.1f N m at the link %.1f N m reach the motor's side: %.0f %%",
      sag[0], out[0], in[0], 100 * in[0] / out[0]);
  mjg_claim(claims, in[1] < 0.5 * out[1] && sag[1] < 0.2 * sag[0],
            "worm: the knees give way by %.2f rad; of %.1f N m at the link %.1f N m reach the motor's side: %.0f %%",
            sag[1], out[1], in[1], 100 * in[1] / out[1]);
  mjg_claim(claims, ground[1] > 2 * ground[0],
            "the ground pushes back with %.0f N on worms, %.0f N on planetary gears; the robot weighs 87 N", ground[1],
            ground[0]);
  mjg_claim(
      claims, fabs(sag[2] - sag[0]) < 0.3 * sag[0] && sag[3] > sag[0],
      "frictionloss and none give way by %.2f and %.2f rad: no constant makes the difference between the two gears",
      sag[2], sag[3]);
}

mjgSCENE(Landing, "landing", "landing/landing.xml", END,
         "A quadruped falls from 0.3 m. Through planetary gears nearly all of the blow reaches the motors, through "
         "worms nothing.",
         .moment = 0.4, .beside = "worm,frictionloss", .joint = "fl_knee", mjgCASES(landingCase),
         .configure = configure, .column = "ground=contact:floor", .claims = claims, .nsolved = 2);
