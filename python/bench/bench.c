#include "bench.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "law/law.h"
#include "mjgear.h"
#include "mjgear_backlash.h"
#include "mjgear_catalogue.h"

const char* mjg_benchName(int parameter) {
  static const char* const name[mjgNBENCH] = {"inertia",
                                              "gravity",
                                              "offset",
                                              "torque_constant",
                                              "resistance",
                                              "gain",
                                              "derivative",
                                              "integral",
                                              "feedforward",
                                              "filter",
                                              "dead_band",
                                              "limit",
                                              "current_limit",
                                              "supply",
                                              "slew",
                                              "delay",
                                              "gamma_u",
                                              "gamma_v",
                                              "gamma_u_stribeck",
                                              "gamma_v_stribeck",
                                              "gamma_u_quadratic",
                                              "gamma_v_quadratic",
                                              "coulomb",
                                              "stribeck_friction",
                                              "stribeck_velocity",
                                              "stribeck_exponent",
                                              "curved_friction",
                                              "curved_velocity",
                                              "curved_exponent",
                                              "viscous",
                                              "armature",
                                              "motor_viscous",
                                              "half_gap",
                                              "stiffness",
                                              "damping"};
  return parameter >= 0 && parameter < mjgNBENCH ? name[parameter] : NULL;
}


// friction of a parameter array
static mjgTransmission transmission(const double* p) {
  mjgTransmission gear;
  mjg_defaultTransmission(&gear);
  gear.gamma_u = p[mjgBENCH_GAMMA_U];
  gear.gamma_v = p[mjgBENCH_GAMMA_V];
  gear.gamma_u_stribeck = p[mjgBENCH_GAMMA_U_STRIBECK];
  gear.gamma_v_stribeck = p[mjgBENCH_GAMMA_V_STRIBECK];
  gear.gamma_u_quadratic = p[mjgBENCH_GAMMA_U_QUADRATIC];
  gear.gamma_v_quadratic = p[mjgBENCH_GAMMA_V_QUADRATIC];
  gear.coulomb = p[mjgBENCH_COULOMB];
  gear.stribeck_friction = p[mjgBENCH_STRIBECK_FRICTION];
  gear.stribeck_velocity = p[mjgBENCH_STRIBECK_VELOCITY];
  gear.stribeck_exponent = p[mjgBENCH_STRIBECK_EXPONENT];
  gear.curved_friction = p[mjgBENCH_CURVED_FRICTION];
  gear.curved_velocity = p[mjgBENCH_CURVED_VELOCITY];
  gear.curved_exponent = p[mjgBENCH_CURVED_EXPONENT];
  return gear;
}


// position of the joint; rotor and gap are relative to it
typedef struct State_ {
  double q;
  double v;
  double t;         // friction torque of the last step
  double angle;     // rotor - joint
  double rate;      // its rate
  double theta_b;   // position in the gap
  double integral;  // part of the controller's setpoint
  double filtered;  // speed behind the controller's low-pass
} State;


//---------------------------------- motor and controller ------------------------------------------

// clamp to [-limit, limit]; no limit if that is 0
static double clamp(double x, double limit) {
  if (!(limit > 0)) {
    return x;
  }
  return x > limit ? limit : x < -limit ? -limit : x;
}


// motor torque for one input at a state; goals change by `rate`
static double motorTorque(const mjgBenchLog* log, const double* p, double input, double rate,
                          State* s, double h) {
  double set = input, v = s->v;
  if (log->loop) {
    double error = input - s->q, tau = p[mjgBENCH_FILTER];
    s->filtered = tau > 0 ? s->filtered + h / (tau + h) * (v - s->filtered) : v;
    s->integral = clamp(s->integral + h * p[mjgBENCH_INTEGRAL] * error, p[mjgBENCH_LIMIT]);
    set = p[mjgBENCH_GAIN] * error + s->integral + p[mjgBENCH_FEEDFORWARD] * rate -
          p[mjgBENCH_DERIVATIVE] * s->filtered;
    double dead = p[mjgBENCH_DEAD_BAND];  // NaN stays NaN
    set = fabs(set) <= dead ? 0 : set - copysign(dead, set);
  }
  set = clamp(set, p[mjgBENCH_LIMIT]);

  double k = p[mjgBENCH_TORQUE_CONSTANT];
  if (log->drive == mjgDRIVE_VOLTAGE) {
    return clamp(k / p[mjgBENCH_RESISTANCE] * (set - k * v), k * p[mjgBENCH_CURRENT_LIMIT]);
  }
  if (log->drive == mjgDRIVE_CURRENT) {
    if (p[mjgBENCH_SUPPLY] > 0) {
      double free = -k * v / p[mjgBENCH_RESISTANCE];
      set = free + clamp(set - free, p[mjgBENCH_SUPPLY] / p[mjgBENCH_RESISTANCE]);
    }
    return k * set;
  }
  return set;
}


// input at a sample, delayed: linear between the samples, the first one before them. Inputs of a
// step act over the whole step, but the step moves the joint like an impulse at its beginning.
// Inputs are therefore taken half a step later.
static double inputAt(const mjgBenchLog* log, const double* p, int k) {
  double place = k - p[mjgBENCH_DELAY] / log->dt - 0.5 / log->substeps;
  if (place <= 0) {
    return log->input[0];
  }
  int i = (int)place;
  double part = place - i;
  return part > 0 ? log->input[i] + part * (log->input[i + 1] - log->input[i]) : log->input[i];
}


// known torque along the position at angle q
static double alongAt(const mjgBenchLog* log, double q) {
  int i = 0, last = log->places - 1;
  if (last < 0 || q >= log->place[last]) {
    return last < 0 ? 0 : log->along[last];
  }
  while (i < last && log->place[i + 1] < q) {
    i++;
  }
  double part = fmax(q - log->place[i], 0) / (log->place[i + 1] - log->place[i]);
  return log->along[i] + part * (log->along[i + 1] - log->along[i]);
}


//---------------------------------- one step ------------------------------------------------------

// 1: friction is larger near rest; stribeck_velocity is then above 0
static int gainsAtRest(const double* p) {
  return p[mjgBENCH_STRIBECK_FRICTION] != 0 || p[mjgBENCH_GAMMA_U_STRIBECK] != 0 ||
         p[mjgBENCH_GAMMA_V_STRIBECK] != 0 || p[mjgBENCH_GAMMA_U_QUADRATIC] != 0 ||
         p[mjgBENCH_GAMMA_V_QUADRATIC] != 0;
}


// bound of friction of mjgLAW_BAM
static double boundBam(const double* p, double motor, double external, double v) {
  double bound = p[mjgBENCH_COULOMB] +
                 fabs(p[mjgBENCH_GAMMA_V] * external - p[mjgBENCH_GAMMA_U] * motor) +
                 p[mjgBENCH_VISCOUS] * fabs(v);
  if (!gainsAtRest(p)) {
    return bound;
  }

  // added near rest
  double S = exp(-pow(fabs(v) / p[mjgBENCH_STRIBECK_VELOCITY], p[mjgBENCH_STRIBECK_EXPONENT]));
  double quadratic = 0;
  if (motor * external < 0) {
    quadratic = fabs(external) < fabs(motor) ? p[mjgBENCH_GAMMA_V_QUADRATIC] * external * external
                                             : p[mjgBENCH_GAMMA_U_QUADRATIC] * motor * motor;
  }
  double rest =
      fabs(p[mjgBENCH_GAMMA_V_STRIBECK] * external - p[mjgBENCH_GAMMA_U_STRIBECK] * motor);
  return bound + S * (p[mjgBENCH_STRIBECK_FRICTION] + rest + quadratic);
}


// speed after a step of published friction: at most the bound stops the joint
static double stepBam(const double* p, const State* s, double motor, double load, double h) {
  double inertia = p[mjgBENCH_INERTIA] + p[mjgBENCH_ARMATURE];
  double hold = inertia / h * s->v + motor - load;
  double bound = boundBam(p, motor, -load, s->v);
  return fabs(hold) <= bound ? 0 : h * (hold - copysign(bound, hold)) / inertia;
}


// friction that does not depend on the load
static const int kFriction[] = {mjgBENCH_COULOMB, mjgBENCH_STRIBECK_FRICTION,
                                mjgBENCH_CURVED_FRICTION, mjgBENCH_VISCOUS, mjgBENCH_MOTOR_VISCOUS};
enum {
  kFRICTION = sizeof kFriction / sizeof kFriction[0]
};


// one set of parameters on its way through a log
typedef struct Run_ {
  State s;
  double p[mjgNBENCH];      // parameters, with friction as it is at the sample
  const double* parameter;  // as given
  double m, M;              // inertia of rotor and output side, each with h x damping
  mjgTransmission gear;
  int flg_steady;  // coefficients depend on no motion: those below hold
  double gamma_u, gamma_v, coulomb, rho;
  mjgBacklash gap;
  int flg_gap;
  double blend;
  double goal;         // behind the slew limit
  double input, rate;  // of the sample
  int on;              // the motor
  int finite;
} Run;


// Compute what the steps use of p.
static void setConstants(Run* r, double h) {
  const double* p = r->p;
  r->m = p[mjgBENCH_ARMATURE] + h * p[mjgBENCH_MOTOR_VISCOUS];
  r->M = p[mjgBENCH_INERTIA] + h * p[mjgBENCH_VISCOUS];
  r->gear = transmission(p);
  r->flg_steady = !gainsAtRest(p) && p[mjgBENCH_CURVED_FRICTION] == 0;
  mjg_frictionAt(&r->gamma_u, &r->gamma_v, &r->coulomb, &r->gear, 0, 0, 0, 0);
  r->rho = mjg_rho(r->gamma_u, r->gamma_v, r->m, r->M);
}


// Update the coefficients of friction before a step. The gear turns with the rotor, also in a gap.
static void follow(Run* r, double motor) {
  if (!r->flg_steady) {
    mjg_frictionAt(&r->gamma_u, &r->gamma_v, &r->coulomb, &r->gear, r->s.q, r->s.v + r->s.rate,
                   motor, motor - r->s.t);
    r->rho = mjg_rho(r->gamma_u, r->gamma_v, r->m, r->M);
  }
}


// speed after a step of a gear without gap
static double stepGear(Run* r, double motor, double load, double h) {
  State* s = &r->s;
  follow(r, motor);
  double both = r->m + r->M;
  double phi = mjg_phi(motor, load, r->gamma_u, r->gamma_v, r->rho);
  double hold = both / h * s->v + motor - load;
  int piece = mjgi_lawResolve(&s->t, hold, phi, r->rho, r->coulomb, 1, 1);
  return piece == mjgiSTUCK ? 0 : h * (hold - s->t) / both;
}


// speed after a step of a rotor, a gear, a gap and a shaft
static double stepGap(Run* r, double motor, double load, double h) {
  State* s = &r->s;
  follow(r, motor);
  mjgCoupling coupling = {.law = &r->gap,
                          .h = h,
                          .blend = r->blend,
                          .theta_d = s->angle,
                          .omega_d = s->rate,
                          .theta_b = s->theta_b,
                          .inertia = r->m,
                          .velocity = s->v + s->rate,
                          .torque = motor,
                          .gamma_u = r->gamma_u,
                          .gamma_v = r->gamma_v,
                          .coulomb = r->coulomb,
                          .static_ratio = 1};
  mjgCouplingStep step;
  double A = h / r->M;
  double free = s->v - A * load;
  mjg_couplingResolve(&step, &coupling, free, A);
  double next = free + A * step.T;
  s->t = step.friction;
  s->theta_b = step.theta_b;
  s->rate = step.velocity - next;
  s->angle += h * s->rate;
  return next;
}


//---------------------------------- a log ---------------------------------------------------------

static int isValid(const mjgBenchLog* log, const double* p) {
  if (!log || !p || log->drive < mjgDRIVE_TORQUE || log->drive > mjgDRIVE_VOLTAGE ||
      log->law < mjgLAW_GEAR || log->law > mjgLAW_BAM || log->n < 1 || log->substeps < 1 ||
      log->reset < 0 || !(log->dt > 0) || !log->input || !log->position || !log->velocity) {
    return 0;
  }
  for (int i = 0; i < mjgNBENCH; i++) {
    if (!isfinite(p[i])) {
      return 0;
    }
  }
  int electric =
      log->drive == mjgDRIVE_VOLTAGE || (log->drive == mjgDRIVE_CURRENT && p[mjgBENCH_SUPPLY] > 0);
  if ((electric && !(p[mjgBENCH_RESISTANCE] > 0)) ||
      (gainsAtRest(p) && !(p[mjgBENCH_STRIBECK_VELOCITY] > 0)) ||
      (p[mjgBENCH_CURVED_FRICTION] != 0 && !(p[mjgBENCH_CURVED_VELOCITY] > 0)) ||
      p[mjgBENCH_DELAY] < 0 || p[mjgBENCH_FILTER] < 0 || p[mjgBENCH_DEAD_BAND] < 0 ||
      p[mjgBENCH_INERTIA] < 0 || p[mjgBENCH_ARMATURE] < 0 || p[mjgBENCH_VISCOUS] < 0 ||
      p[mjgBENCH_MOTOR_VISCOUS] < 0 || !(p[mjgBENCH_INERTIA] + p[mjgBENCH_ARMATURE] > 0)) {
    return 0;
  }

  // a gap needs a rotor on one side and a link on the other
  return p[mjgBENCH_STIFFNESS] == 0 ||
         (p[mjgBENCH_STIFFNESS] > 0 && p[mjgBENCH_HALF_GAP] >= 0 && p[mjgBENCH_DAMPING] >= 0 &&
          p[mjgBENCH_ARMATURE] > 0 && p[mjgBENCH_INERTIA] > 0 && log->law == mjgLAW_GEAR);
}


// one sample of a result; 1 if it is finite, else 0
static int record(double* array, size_t k, double value) {
  if (array) {
    array[k] = value;
  }
  return isfinite(value);
}


static Run startRun(const mjgBenchLog* log, const double* parameter, double h) {
  Run r = {.s = {.q = log->position[0], .v = log->velocity[0], .filtered = log->velocity[0]},
           .gap = {.model = mjgEXACT,
                   .half_gap = parameter[mjgBENCH_HALF_GAP],
                   .stiffness = parameter[mjgBENCH_STIFFNESS],
                   .damping = parameter[mjgBENCH_DAMPING]},
           .flg_gap = parameter[mjgBENCH_STIFFNESS] > 0,
           .goal = log->input[0],
           .input = log->input[0],
           .finite = 1,
           .parameter = parameter};
  memcpy(r.p, parameter, sizeof r.p);
  setConstants(&r, h);
  if (r.flg_gap) {
    r.blend = mjg_couplingBlend(&r.gap, h * (1 / parameter[mjgBENCH_INERTIA] + 1 / r.m), h);
  }
  return r;
}


// Read sample k of the log: state at resets, input, friction.
static void readSample(Run* r, const mjgBenchLog* log, int k, double h) {
  if (log->reset && k % log->reset == 0) {
    r->s.q = log->position[k];
    r->s.v = log->velocity[k];
  }
  double input = inputAt(log, r->p, k);
  if (log->loop && r->p[mjgBENCH_SLEW] > 0) {
    r->goal += clamp(input - r->goal, r->p[mjgBENCH_SLEW] * log->dt);
    input = r->goal;
  }
  r->rate = (input - r->input) / log->dt;
  r->input = input;
  r->on = !log->enable || log->enable[k];
  if (log->friction) {
    for (int i = 0; i < kFRICTION; i++) {
      r->p[kFriction[i]] = log->friction[k] * r->parameter[kFriction[i]];
    }
    setConstants(r, h);
  }
}


// One step within sample k; returns the motor torque.
static inline double step(Run* r, const mjgBenchLog* log, int k, double h) {
  State* s = &r->s;
  const double* p = r->p;
  double torque = r->on ? motorTorque(log, p, r->input, r->rate, s, h) : 0, motor = torque;
  double load = p[mjgBENCH_GRAVITY] * sin(s->q + p[mjgBENCH_OFFSET]) - alongAt(log, s->q);
  load += log->load ? log->load[k] : 0;
  if (log->law == mjgLAW_BAM) {
    s->v = stepBam(p, s, motor, load, h);
  } else {
    load += p[mjgBENCH_VISCOUS] * s->v;
    motor -= p[mjgBENCH_MOTOR_VISCOUS] * (s->v + s->rate);
    s->v = r->flg_gap ? stepGap(r, motor, load, h) : stepGear(r, motor, load, h);
  }
  s->q += h * s->v;
  return torque;
}


// Steps of different runs do not wait for each other, so the processor overlaps them.
enum {
  kTogether = 4
};


int mjg_simulateBench(double* position, double* velocity, double* torque, double* rotor,
                      const mjgBenchLog* log, int runs, const double* parameter) {
  if (runs < 0 || !log || !parameter) {
    return mjgERR_ARGUMENT;
  }
  for (int i = 0; i < runs; i++) {
    if (!isValid(log, parameter + (size_t)i * mjgNBENCH)) {
      return mjgERR_ARGUMENT;
    }
  }
  int status = mjgSOLVED;
  double h = log->dt / log->substeps;
  size_t n = (size_t)log->n;
  for (int first = 0; first < runs; first += kTogether) {
    int count = runs - first < kTogether ? runs - first : kTogether;
    Run run[kTogether];
    for (int i = 0; i < count; i++) {
      run[i] = startRun(log, parameter + (size_t)(first + i) * mjgNBENCH, h);
    }
    for (int k = 0; k < log->n; k++) {
      for (int i = 0; i < count; i++) {
        size_t at = (size_t)(first + i) * n + (size_t)k;
        readSample(run + i, log, k, h);
        run[i].finite &= record(position, at, run[i].s.q) & record(velocity, at, run[i].s.v) &
                         record(rotor, at, run[i].s.q + run[i].s.angle);
      }
      for (int j = 0; j < log->substeps; j++) {
        for (int i = 0; i < count; i++) {
          double motor = step(run + i, log, k, h);
          if (j == 0) {
            run[i].finite &= record(torque, (size_t)(first + i) * n + (size_t)k, motor);
          }
        }
      }

      // a reset may repair a simulation that has become infinite: the failure still counts
      for (int i = 0; i < count; i++) {
        run[i].finite &= isfinite(run[i].s.q) && isfinite(run[i].s.v);
        status = run[i].finite ? status : mjgERR_NOT_FINITE;
      }
    }
  }
  return status;
}


int mjg_deliver(double* x, const double* u, const double* v, int n, const double* parameter) {
  if (n < 0 || (n > 0 && (!x || !u || !v)) || !parameter) {
    return mjgERR_ARGUMENT;
  }
  mjgTransmission gear = transmission(parameter);
  for (int i = 0; i < n; i++) {
    // the quadratic part depends on the delivered torque: two passes are enough
    double input = u[i] - parameter[mjgBENCH_MOTOR_VISCOUS] * v[i];
    x[i] = input;
    for (int pass = 0; pass < 2; pass++) {
      double gamma_u, gamma_v, coulomb;
      mjg_frictionAt(&gamma_u, &gamma_v, &coulomb, &gear, 0, v[i], input, x[i]);
      int load, s = v[i] > 0 ? 1 : -1;
      double limit = mjgi_lawLimit(&load, s, (gamma_u + gamma_v) * input, -gamma_v, coulomb, 1);
      x[i] = isfinite(limit) ? input - s * limit : NAN;
    }
    x[i] -= parameter[mjgBENCH_VISCOUS] * v[i];
  }
  return mjgSOLVED;
}
