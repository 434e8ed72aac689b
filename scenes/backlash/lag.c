// Phase of the torque of a shaft with a gap that is twisted by a sine, and the hysteresis model
// under a load: Nordin, Galic', Gutman 1997, sections 1 and 5.

#include <complex.h>

#include "../helpers.h"
#include "gap.h"

#define HALF_GAP  0.0025  // rad
#define STIFFNESS 5895.0  // N m/rad
#define DAMPING   58.95   // N m/(rad/s)

//---------------------------------- phase ---------------------------------------------------------

#define AMPLITUDE 0.008  // of theta_d, rad
#define ROTOR     1e9    // of rupture.xml, kg m2: imposes the motion
#define FREQUENCY parameter[0]
#define GEAR      1e3  // parameters of the motor; the engine limits its control
#define STEP      1e-4
#define STEADY    0.2  // s, whole periods of all cases
#define END       0.4

#define SHAFT \
  "; shaft.half_gap=0.0025; shaft.stiffness=5895; shaft.damping=58.95; option.timestep=1e-4; motor:motor.gear=1000"

static const mjgCase lagCase[] = {
    {"exact-20Hz", "shaft.backlash=exact" SHAFT, {20}},
    {"phase_plane-20Hz", "shaft.backlash=phase_plane" SHAFT, {20}},
    {"damped_deadzone-20Hz", "shaft.backlash=damped_deadzone" SHAFT, {20}},
};
enum { EXACT, PHASE, DEAD, NMODEL };

// theta_d = A sin(w t), which grows to its amplitude within two periods
static double twist(double time, double frequency) {
  double part = fmin(fmax(0.5 * time * frequency, 0), 1);
  return AMPLITUDE * part * part * (3 - 2 * part) * sin(2 * mjPI * frequency * time);
}

// the engine's scheme is a second difference
static void lagInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  double f = variant->FREQUENCY, h = m->opt.timestep, t = d->time;
  d->ctrl[0] = ROTOR / GEAR * (twist(t + h, f) - 2 * twist(t, f) + twist(t - h, f)) / (h * h);
}

// first harmonic of torque over first harmonic of angle, from a time on over whole periods
static double complex describing(const mjgTrajectory* run) {
  int time = mjg_column(run, "time"), torque = mjg_column(run, "shaft_torque_out");
  int theta = mjg_column(run, "theta_d");
  double w = 2 * mjPI * run->variant->FREQUENCY;
  double complex T = 0, angle = 0;
  for (int i = 0; i < run->nrow; i++) {
    const double* row = mjg_row(run, i);
    if (row[time] > STEADY - 1e-9 && row[time] < END - 1e-9) {
      T += row[torque] * cexp(-I * w * (row[time] + 0.5 * STEP));
      angle += row[theta] * cexp(-I * w * row[time]);
    }
  }
  return T / angle;
}

// the same for the exact shaft, (1) and (14), with its own step
static double complex describingExact(double frequency) {
  const double h = 1e-6;
  double w = 2 * mjPI * frequency, theta_b = 0;
  double complex T = 0, angle = 0;
  for (int i = 0; i * h < END; i++) {
    double theta = AMPLITUDE * sin(w * i * h), omega = AMPLITUDE * w * cos(w * i * h);
    double next = theta_b + h * (omega + STIFFNESS / DAMPING * (theta - theta_b));
    next = fmin(fmax(next, -HALF_GAP), HALF_GAP);
    double torque = STIFFNESS * (theta - theta_b) + DAMPING * (omega - (next - theta_b) / h);
    theta_b = next;
    if (i * h >= STEADY) {
      T += torque * cexp(-I * w * i * h);
      angle += theta * cexp(-I * w * i * h);
    }
  }
  return T / angle;
}

static void lagClaims(mjgClaims* claims, const mjgTrajectory* run) {
  double phase[NMODEL];
  for (int k = 0; k < NMODEL; k++) {
    phase[k] = carg(describing(&run[k])) * 180 / mjPI;
  }
  double complex exact = describingExact(run[EXACT].variant->FREQUENCY);
  mjg_claim(
      claims, cabs(describing(&run[EXACT]) / exact - 1) < 0.02,
      "the exact shaft's describing function is %.0f N m/rad at %.2f deg, by its own integration %.0f at %.2f deg",
      cabs(describing(&run[EXACT])), phase[EXACT], cabs(exact), carg(exact) * 180 / mjPI);
  mjg_claim(claims, phase[DEAD] - phase[EXACT] > 5 && phase[DEAD] - phase[PHASE] > 5,
            "against the dead zone model (26), %.1f deg, exact shaft and phase plane model lag: %.1f and %.1f deg",
            phase[DEAD], phase[EXACT], phase[PHASE]);
}

mjgSCENE(
    Lag, "lag", "backlash/rupture.xml", END,
    "A swing passes through a shaft with a gap. The exact shaft lags behind the dead zone model (Nordin, section 5).",
    mjgCASES(lagCase), .input = lagInput, .column = "theta_d omega_d input=userdata:0 play=userdata:1",
    .measure = mjg_measureGap, .claims = lagClaims);

//---------------------------------- hysteresis ----------------------------------------------------

#define DRIVE     1e5   // inertia of the motor, kg m2
#define SWING     0.02  // of the motor, rad
#define SLOW      0.25  // Hz
#define PLAY      0.01  // half gap of this scene, rad
#define PULSE     60.0  // disturbance of the load, N m
#define FROM      1.4   // s, while the motor goes back and the load does not yet follow
#define UNTIL     1.5
#define DISTURBED parameter[0]

#define GAP "shaft.rotor_inertia=1e5; shaft.half_gap=0.01; joint:load.damping=200"

static const mjgCase hysteresisCase[] = {{"quiet", GAP, {0}}, {"disturbed", GAP, {1}}};

static double motor(double time) {
  double part = fmin(fmax(time, 0), 1);
  return SWING * part * part * (3 - 2 * part) * sin(2 * mjPI * SLOW * time);
}

// the hysteresis model: the load stays until a side of the gap takes it along
static void hysteresisInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  double h = m->opt.timestep, t = d->time, angle = motor(t);
  d->ctrl[0] = DRIVE * (motor(t + h) - 2 * angle + motor(t - h)) / (h * h);
  d->qfrc_applied[0] = variant->DISTURBED > 0 && t > FROM && t < UNTIL ? PULSE : 0;
  d->userdata[0] = angle;
  d->userdata[1] = fmin(fmax(d->userdata[1], angle - PLAY), angle + PLAY);
}

// largest difference of load and hysteresis model between two times
static double apart(const mjgTrajectory* run, double from, double to) {
  double most = 0;
  for (double t = from; t < to; t += 1e-3) {
    most = fmax(most, fabs(mjg_at(run, "q_load", t) - mjg_at(run, "play", t)));
  }
  return most;
}

static void hysteresisClaims(mjgClaims* claims, const mjgTrajectory* run) {
  double quiet = apart(&run[0], 1, 4), disturbed = apart(&run[1], FROM, FROM + 0.3);
  mjg_claim(claims, quiet < 0.2 * PLAY,
            "without disturbance the hysteresis model follows the load within %.4f rad, %.0f %% of alpha", quiet,
            100 * quiet / PLAY);
  mjg_claim(
      claims, disturbed > 0.8 * PLAY,
      "a disturbance of the load moves it through the gap, of which the hysteresis model knows nothing: %.4f rad apart",
      disturbed);
}

mjgSCENE(Hysteresis, "hysteresis", "backlash/two_mass.xml", 4,
         "The hysteresis model of backlash does not know a disturbance of the load. The shaft with a gap does (Nordin, "
         "section 1).",
         mjgCASES(hysteresisCase), .input = hysteresisInput,
         .column = "theta_d omega_d input=userdata:0 play=userdata:1", .measure = mjg_measureGap,
         .claims = hysteresisClaims);
