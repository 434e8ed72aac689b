// A rod against a one-sided spring: Kikuuwe 2022, section 6.1 and figure 9.

#include "../helpers.h"

#define MASS      1.0   // inertia of the rod, kg m2
#define ROTOR     1.0   // inertia of the rotor at the output side, kg m2
#define VISCOSITY 10.0  // N m s/rad
#define STIFFNESS 1e4   // of the spring, N m/rad
#define GAMMA_U   0.2

// parameters of a case
#define GAMMA_V  parameter[0]
#define IMPLICIT parameter[1]  // viscosity: 0 explicit, as in the paper, 1 implicit

// the figure has the first four, in ascending order
#define NPAPER          4
#define NONBACKDRIVABLE 3

static const mjgCase rodCase[] = {
    {"gamma_v=0.2", "gear.gamma_v=0.2", {0.2, 0}},
    {"gamma_v=0.5", "gear.gamma_v=0.5", {0.5, 0}},
    {"gamma_v=0.95", "gear.gamma_v=0.95", {0.95, 0}},
    {"gamma_v=1.05", "gear.gamma_v=1.05", {1.05, 0}},
    {"gamma_v=0.2-implicit", "gear.gamma_v=0.2; flag.eulerdamp=enable", {0.2, 1}},
    {"gamma_v=0.5-implicit", "gear.gamma_v=0.5; flag.eulerdamp=enable", {0.5, 1}},
    {"gamma_v=0.95-implicit", "gear.gamma_v=0.95; flag.eulerdamp=enable", {0.95, 1}},
    {"gamma_v=1.05-implicit", "gear.gamma_v=1.05; flag.eulerdamp=enable", {1.05, 1}},
};

// torque of the motor
static double motorTorque(double time) { return mjg_reached(time, 1.4) ? 20 : mjg_reached(time, 0.9) ? 0 : -40; }

static void input(const mjModel* m, mjData* d, const mjgCase* variant) { d->ctrl[0] = motorTorque(d->time); }

// torque from the rod to its surroundings, f_v
static void measure(double* value, const mjModel* m, const mjData* d) {
  value[0] = -d->qfrc_spring[0] - d->qfrc_damper[0];
}

static int reference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) {
  double h = m->opt.timestep;
  double f_v = fmin(STIFFNESS * q[0], 0) + VISCOSITY * v[0];

  // implicit viscosity acts as an inertia h B of the output side
  double M = MASS + variant->IMPLICIT * h * VISCOSITY;
  int status = mjg_stepScalar(v, NULL, v[0], motorTorque(time), f_v, GAMMA_U, variant->GAMMA_V, ROTOR, M, h);
  q[0] += h * v[0];
  return status;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  // the load holds a non-backdrivable gear, at the place and with the torque of the paper's model
  const mjgTrajectory* stuck = &run[NONBACKDRIVABLE];
  double p = mjg_at(stuck, "q_rod", 1.39), v = mjg_at(stuck, "v_rod", 1.39);
  double pressure = mjg_at(stuck, "spring", 1.39);
  mjg_claim(claims, fabs(p + 1.47503e-2) < 5e-8,
            "gamma_v = 1.05, motor off since 0.9 s: stands at p = -1.47503e-2 rad at 1.39 s: %.8e", p);
  mjg_claim(claims, v == 0, "its velocity is exactly 0: %g", v);
  mjg_claim(claims, fabs(pressure - 147.50) < 5e-3, "it still presses 147.50 N m: %.3f", pressure);

  // others are thrown back
  for (int i = 0; i < NONBACKDRIVABLE; i++) {
    p = mjg_at(&run[i], "q_rod", 1.39);
    mjg_claim(claims, p > 0, "%s has come off the spring at 1.39 s: p = %.4f rad", run[i].variant->name, p);
  }

  // the motor's 40 N m drove the rod into the spring: little friction lets it bounce, much of it holds
  // a force beyond what the motor could balance
  double force[NPAPER];
  for (int i = 0; i < NPAPER; i++) {
    force[i] = mjg_at(&run[i], "spring", 0.89);
  }
  double small = fmax(force[0], force[1]), large = fmin(force[2], force[3]);
  mjg_claim(claims, small < 40 && large > 3 * 40,
            "larger gamma_v keep a contact force far above the motor's 40 N m at 0.89 s: %.2f and %.2f N m, smaller do "
            "not: %.2f and %.2f N m",
            force[2], force[3], force[0], force[1]);

  // the motor can always pull it off
  for (int i = 0; i < NPAPER; i++) {
    p = mjg_at(&run[i], "q_rod", 2);
    mjg_claim(claims, p > 0, "%s leaves the spring when the motor pulls 20 N m: p = %.4f rad", run[i].variant->name, p);
  }
}

mjgSCENE(Rod, "rod", "rod/rod.xml", 2,
         "The motor is off, and the rod still presses on the spring, because the load cannot drive this gear.",
         .shown = "gamma_v=1.05", mjgCASES(rodCase), .input = input, .column = "load spring=spring:0",
         .measure = measure, .reference = reference, .tolerance = 1e-9, .claims = claims);
