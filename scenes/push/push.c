#include "../helpers.h"

#define NATIVE parameter[0]  // friction that MuJoCo gives the joints, N m

#define PUSH  0.5  // the hand pushes
#define LET   1.5  // and lets go
#define TURN  3.0  // the motor turns the arm
#define THERE 5.0
#define END   5.5
#define FORCE 30.0  // of the hand, N
#define ANGLE 0.6   // rotation of the motor, rad

#define IDEAL "cobot.eta_forward=1; cobot.eta_backward=1; cobot.coulomb=0"

static const mjgCase pushCase[] = {
    {"worm", "cobot.eta_forward=0.447; cobot.eta_backward=-0.214", {0}},
    {"strain-wave", NULL, {0}},
    {"frictionloss", IDEAL, {25}},
    {"none", IDEAL, {0}},
};

static void configure(mjModel* m, const mjgCase* variant) {
  mjg_makeMotors(m);
  int pan = m->jnt_dofadr[mj_name2id(m, mjOBJ_JOINT, "pan")];
  m->dof_frictionloss[pan] = variant->NATIVE;
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  double time = d->time;

  // only the motor of the first joint is off, until it turns the arm from where it is
  int pan = mj_name2id(m, mjOBJ_ACTUATOR, "pan");
  for (int i = 0; i < m->nu; i++) {
    d->ctrl[i] = mjg_servo(m, d, i, m->key_qpos[m->jnt_qposadr[m->actuator_trnid[2 * i]]]);
  }
  double x = fmin(1, fmax(0, (time - TURN) / (THERE - TURN)));
  double speed = mjg_reached(time, TURN) && time < THERE ? ANGLE / (THERE - TURN) * 30 * x * x * (1 - x) * (1 - x) : 0;
  int dof = m->jnt_dofadr[mj_name2id(m, mjOBJ_JOINT, "pan")];
  d->ctrl[pan] = mjg_reached(time, TURN) ? fmax(-150, fmin(150, 500 * (speed - d->qvel[dof]))) : 0;

  // the hand, in the direction in which the flange would move
  int push = mjg_within(time, PUSH, LET);
  int wrist = mj_name2id(m, mjOBJ_BODY, "wrist_link_3");
  mj_kinematics(m, d);
  const mjtNum* at = d->site_xpos + 3 * mj_name2id(m, mjOBJ_SITE, "flange");
  double radius = hypot(at[0], at[1]);
  double side[3] = {-at[1] / radius, at[0] / radius, 0};
  for (int k = 0; k < 3; k++) {
    d->xfrc_applied[6 * wrist + k] = push ? FORCE * fmin(1, 4 * (time - PUSH)) * side[k] : 0;
    d->mocap_pos[k] = d->xpos[3 * wrist + k] - 0.02 * side[k] - (k == 2 && !push ? 2 : 0);
  }
  double yaw = atan2(-side[0], side[1]);
  d->mocap_quat[0] = cos(yaw / 2);
  d->mocap_quat[3] = sin(yaw / 2);
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double yields[4], torque[4];
  for (int i = 0; i < 4; i++) {
    const mjgTrajectory* t = &run[i];
    yields[i] = mjg_highest(t, "q_pan", PUSH, TURN) - mjg_at(t, "q_pan", PUSH);
    torque[i] = mjg_size(t, "motor_pan", TURN, END);
  }
  double turned = mjg_at(&run[0], "q_pan", END) - mjg_at(&run[0], "q_pan", TURN);
  mjg_claim(claims, yields[0] == 0 && turned > 0.5,
            "worm: pushed with %g N the arm turns by %g rad, and its motor turns it by %.2f rad with %.1f N m at most",
            FORCE, yields[0], turned, torque[0]);
  mjg_claim(claims, yields[1] > 0.1, "strain wave: the arm yields by %.2f rad, its motor needs %.1f N m", yields[1],
            torque[1]);
  mjg_claim(claims, yields[2] > 1e-3 && torque[2] > 2 * torque[0],
            "frictionloss of %g N m, more than the push: the arm creeps by %.3f rad, and its motor needs %.1f N m, "
            "%.1f times as much as through the worm",
            run[2].variant->NATIVE, yields[2], torque[2], torque[2] / torque[0]);
  mjg_claim(claims, yields[3] > yields[1], "none: the arm turns by %.2f rad", yields[3]);
}

mjgSCENE(Push, "push", "push/push.xml", END,
         "A person pushes an arm. A worm does not move, and a strain-wave gear yields. Constant friction makes the "
         "motor work against it ever after.",
         .moment = 0.25, .beside = "all", .joint = "pan", mjgCASES(pushCase), .configure = configure, .input = input,
         .claims = claims, .nsolved = 2);
