// Friction compensation with the law: Kikuuwe 2022, section 7. A servo of small gain computes the
// torque x that the link needs for its weight and its acceleration. With compensation it gives the
// motor torque that delivers x through the gear in the direction of the command. The servo's own
// torque is not
// compensated: a gear that cannot be driven back answers it with the other sign.

#include "../helpers.h"

#define AMPLITUDE  0.5  // rad
#define FREQUENCY  0.2  // Hz
#define STIFFNESS  8.0  // of the servo, N m/rad
#define DAMPING    2.0  // N m/(rad/s)
#define COULOMB    0.5  // N m
#define ROTOR      0.5  // kg m2
#define LEAD_ANGLE 0.08
#define PRESSURE   0.349
#define FRICTION   0.1
#define PERIODS    2

#define COMPENSATED parameter[0]

static const mjgCase compensationCase[] = {
    {"compensated", NULL, {1}},
    {"uncompensated", NULL, {0}},
};

static double command(double* rate, double* acceleration, double time) {
  double w = 2 * mjPI * FREQUENCY, phase = w * time;
  *rate = AMPLITUDE * w * sin(phase);
  *acceleration = AMPLITUDE * w * w * cos(phase);
  return AMPLITUDE * (1 - cos(phase));
}

// motor torque that delivers x to the link while it moves with the sign of rate: u = x + t,
// t = |lambda| + coulomb in that direction, lambda = (gamma_u + gamma_v) u - gamma_v t
static double compensate(double x, double rate) {
  double gamma_u = FRICTION * tan(LEAD_ANGLE) / cos(PRESSURE);
  double gamma_v = FRICTION / (tan(LEAD_ANGLE) * cos(PRESSURE));
  double s = (rate > 0) - (rate < 0);
  double y = s * x, g = gamma_u + gamma_v;

  // lambda = g y + gamma_u t, t = |lambda| + c
  double driving = (g * y + COULOMB) / (1 - gamma_u), driven = (-g * y + COULOMB) / (1 + gamma_u);
  return x + s * (y >= 0 ? driving : driven);
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  double rate, acceleration, q = command(&rate, &acceleration, d->time);
  int body = mj_name2id(m, mjOBJ_BODY, "forearm");
  double mass = m->body_mass[body], arm = m->body_ipos[3 * body];
  double inertia = m->body_inertia[3 * body + 1] + mass * arm * arm;
  double x = inertia * acceleration - mass * m->opt.gravity[2] * arm * cos(d->qpos[0]);
  double servo = STIFFNESS * (q - d->qpos[0]) + DAMPING * (rate - d->qvel[0]);
  double u = variant->COMPENSATED > 0 ? compensate(x, rate) : x;
  d->ctrl[0] = u + ROTOR * acceleration + servo;
  d->userdata[0] = q;
}

static void measure(double* value, const mjModel* m, const mjData* d) {
  value[1] = d->userdata[0] - (d->qpos[0] - m->opt.timestep * d->qvel[0]);
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double from = 1 / FREQUENCY, to = PERIODS / FREQUENCY - 0.01, worst[2], still[2];
  for (int i = 0; i < 2; i++) {
    const mjgTrajectory* t = &run[i];
    worst[i] = mjg_size(t, "error", from, to);
    still[i] = mjg_share(t, "v_elbow", from, to, mjg_isZero);
  }
  mjg_claim(claims, worst[0] < 0.01 && still[0] < 0.05,
            "with compensation the worm joint follows the sine of %g rad within %.4f rad and stands still %.1f %% of "
            "the time",
            AMPLITUDE, worst[0], 100 * still[0]);
  mjg_claim(claims, worst[1] > 0.2 && still[1] > 0.3,
            "without, it is off by up to %.3f rad and sticks %.0f %% of the time", worst[1], 100 * still[1]);
}

mjgSCENE(Compensation, "compensation", "compensation/compensation.xml", PERIODS / FREQUENCY,
         "A worm joint follows a slow sine. With friction compensation it follows smoothly, and without it sticks "
         "(Kikuuwe, 7).",
         .beside = "uncompensated", mjgCASES(compensationCase), .input = input, .column = "command=userdata:0 error",
         .measure = measure, .claims = claims);
