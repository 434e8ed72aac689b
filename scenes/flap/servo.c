#include "servo.h"

#include <math.h>

#include "karnopp.h"

// the flap's body; MuJoCo needs one
#define OUTPUT 1e-3  // kg m2

static double clamp(double x, double limit) { return fmin(fmax(x, -limit), limit); }

// Torque of the motor less its viscous friction. Proportional: the valve opens with the error up to its end. The pressure across the motor is the
// supply times the opening, minus the loss of the flow.
static double motorTorque(const mjgFlapInput* input, double q, double v) {
  double available = mjgFLAP_TORQUE * input->supply / mjgFLAP_FULL;
  double opening = clamp((input->command - q) / (mjgFLAP_OPEN * mjgFLAP_DEGREE), 1);
  return available * opening - (mjgFLAP_DROOP + mjgFLAP_VISCOUS) * v;
}

// T_FR0 and FSD in words of the gear for a flap that moves in direction s relative to its load, 1 against
// it, -1 with it. At rest and without inertia on the load's side lambda = g T + s gamma_u t, so that
// t = S (g T + s gamma_u t + c); Table 1 has t = FSD (g T/(1 - s gamma_u) + T_FR0). s = 0: as they are.
static void convert(double* coulomb, double* static_ratio, const mjgCase* variant, double gamma_u) {
  double way = mjgFLAP_TARGET(variant) - mjgFLAP_START(variant);
  double s = (way > 0) - (way < 0), fsd = mjgFLAP_FSD(variant) / (1 - s * gamma_u);
  *coulomb = mjgFLAP_FRICTION * (1 - s * gamma_u);
  *static_ratio = fsd / (1 + fsd * s * gamma_u);
}

void mjg_flapConfigure(mjModel* m, const mjgCase* variant) {
  m->key_qpos[0] = mjgFLAP_START(variant) * mjgFLAP_DEGREE;
  if (mjgFLAP_STOP(variant) > 0) {
    m->jnt_range[0] = -mjgFLAP_STOP(variant) * mjgFLAP_DEGREE;
    m->jnt_range[1] = mjgFLAP_STOP(variant) * mjgFLAP_DEGREE;
  }
}

void mjg_flapApply(const mjModel* m, mjData* d, const mjgCase* variant, mjgFlapSchedule schedule) {
  mjgFlapInput input;
  schedule(&input, d->time, variant);
  d->ctrl[0] = motorTorque(&input, d->qpos[0], d->qvel[0]);
  d->qfrc_applied[0] = -input.load;
  d->userdata[0] = input.command;
  d->userdata[1] = input.load;
  d->userdata[2] = input.supply;
}

// the step was taken, so the position at its beginning is one step behind
void mjg_flapMeasure(double* value, const mjModel* m, const mjData* d) {
  double q = d->qpos[0] - m->opt.timestep * d->qvel[0];
  value[0] = q / mjgFLAP_DEGREE;
  value[1] = d->userdata[0] / mjgFLAP_DEGREE;
  value[2] = (d->userdata[0] - q) / mjgFLAP_DEGREE;
}

int mjg_flapStep(double* q, double* v, double time, const mjModel* m, const mjgCase* variant,
                 mjgFlapSchedule schedule) {
  mjgFlapInput input;
  schedule(&input, time, variant);
  double motor = motorTorque(&input, *q, *v), h = m->opt.timestep;
  double gamma_u, gamma_v;
  mjg_coefficients(&gamma_u, &gamma_v, mjgFLAP_OPP(variant), mjgFLAP_AID(variant));

  // one joint: its acceleration and internal force without friction
  double A = h / (mjgFLAP_INERTIA + OUTPUT);
  double a = (motor - input.load) / (mjgFLAP_INERTIA + OUTPUT);
  double free = *v + h * a;
  double phi = (gamma_u + gamma_v) * (motor - mjgFLAP_INERTIA * a);
  double alpha = (gamma_u + gamma_v) * mjgFLAP_INERTIA / h;
  double coulomb, static_ratio;
  convert(&coulomb, &static_ratio, variant, gamma_u);
  mjgProblem problem = {.n = 1,
                        .v = &free,
                        .A = &A,
                        .phi = &phi,
                        .alpha = &alpha,
                        .beta = &gamma_v,
                        .coulomb = &coulomb,
                        .static_ratio = &static_ratio,
                        .v0 = v};

  // enumeration shares nothing with the solver that the plugin takes by default
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  settings.solver = mjgENUMERATION;
  double memory[1024], t, next = 0, lambda;
  int mode;
  mjgSolution solution = {&t, &next, &lambda, &mode};
  mjgWorkspace* work = mjg_create(memory, sizeof memory, 1, 1);
  int status = mjg_solve(&solution, NULL, &problem, &settings, work);
  *v = next;
  *q += h * next;
  return status;
}

// one step of Table 1
static int stepTable(double* q, double* v, double* t, double time, double h, const mjgCase* variant,
                     mjgFlapSchedule schedule) {
  double stop = mjgFLAP_STOP(variant);
  const mjgKarnopp joint = {mjgFLAP_OPP(variant),
                            mjgFLAP_AID(variant),
                            mjgFLAP_FSD(variant),
                            mjgFLAP_FRICTION,
                            0,
                            mjgFLAP_INERTIA,
                            stop > 0 ? stop * mjgFLAP_DEGREE : INFINITY};
  mjgFlapInput input;
  schedule(&input, time, variant);
  return mjg_stepKarnopp(q, v, t, &joint, motorTorque(&input, *q, *v), input.load, h);
}

// In Table 1 a starting joint has static friction for one step. The joint loses this momentum.
// Until the servo's damping compensates the loss, the joint falls behind by h (static - dynamic
// friction)/damping.
double mjg_flapTable(double* allowed, const mjgTrajectory* run, mjgFlapSchedule schedule) {
  const mjgCase* variant = run->variant;
  int time = mjg_column(run, "time"), position = mjg_column(run, "position");
  double q = mjgFLAP_START(variant) * mjgFLAP_DEGREE, v = 0, t = 0, h = 0;
  double difference = 0, way = 0, friction = 0;
  for (int i = 0; i + 1 < run->nrow; i++) {
    const double* row = mjg_row(run, i);
    const double* next = row + run->ncolumn;
    difference = fmax(difference, fabs(q / mjgFLAP_DEGREE - row[position]));
    way = fmax(way, fabs(next[position] - row[position]));
    h = next[time] - row[time];
    if (stepTable(&q, &v, &t, row[time], h, variant, schedule) < 0) {
      return INFINITY;
    }
    friction = fmax(friction, fabs(t));
  }
  double fsd = mjgFLAP_FSD(variant), excess = (fsd - 1) / fsd * friction;
  *allowed = 2 * (way + h * excess / (mjgFLAP_DROOP + mjgFLAP_VISCOUS) / mjgFLAP_DEGREE);
  return difference;
}

double mjg_flapArrival(const mjgCase* variant, mjgFlapSchedule schedule, double end) {
  const double h = 5e-4;
  double q = mjgFLAP_START(variant) * mjgFLAP_DEGREE, v = 0, t = 0, since = -1;
  for (int i = 0; i * h < end; i++) {
    int there = fabs(q / mjgFLAP_DEGREE - mjgFLAP_TARGET(variant)) < 0.02;
    since = there ? (since < 0 ? i * h : since) : -1;
    if (stepTable(&q, &v, &t, i * h, h, variant, schedule) < 0) {
      return -1;
    }
  }
  return since;
}

void mjg_flapClaimTable(mjgClaims* claims, const mjgTrajectory* run, int n, mjgFlapSchedule schedule) {
  for (int i = 0; i < n; i++) {
    double allowed, difference = mjg_flapTable(&allowed, &run[i], schedule);
    mjg_claim(claims, difference < allowed,
              "%s moves as Table 1 says: largest difference %.2g deg; two timesteps may cost %.2g deg",
              run[i].variant->name, difference, allowed);
  }
}

double mjg_flapMeanError(const mjgTrajectory* run, double from, double to) {
  double sum = 0;
  int n = 0;
  for (double time = from; time < to; time += 0.001, n++) {
    sum += mjg_at(run, "error", time);
  }
  return sum / n;
}
