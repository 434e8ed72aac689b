// The flap, its hydraulic servo and Borello's own algorithm: L. Borello and M. D. L. Dalla Vedova 2012. README.md has
// the differences.

#include "../helpers.h"
#include "karnopp.h"

#define DEGREE (3.14159265358979323846 / 180)

// the paper does not describe the servo; README.md says how its parameters were found
#define INERTIA  4e3    // of motor and surface, at the surface               kg m2
#define TORQUE   123e3  // of the motor at full supply pressure               N m
#define FULL     26.0   // full supply pressure                               MPa
#define OPEN     0.02   // position error at which the valve is fully open    deg
#define DROOP    0.9e6  // torque lost to the flow through the valve          N m/(rad/s)
#define VISCOUS  0.1e6  // C_M, viscous friction at the motor                 N m/(rad/s)
#define FRICTION 3e3    // T_FR0, independent of load                         N m

// parameters of a case
#define ETA_OPP parameter[0]
#define ETA_AID parameter[1]
#define RATIO   parameter[2]  // static to dynamic friction
#define START   parameter[3]  // first position            deg
#define TARGET  parameter[4]  // for the scene             deg
#define TRAVEL  parameter[5]  // end of travel, 0: none    deg

// name, settings and parameters of a case; ratio and coulomb are static_ratio and coulomb of the
// gear: FSD and T_FR0 if gamma_u = 0, see README.md
#define UNEVEN(name, opp, aid, fsd, start, target, stop, ratio, coulomb)                                         \
  name,                                                                                                          \
      "transmission.eta_forward=" #opp "; transmission.eta_backward=" #aid "; transmission.static_ratio=" #ratio \
      "; transmission.coulomb=" #coulomb,                                                                        \
  {                                                                                                              \
    opp, aid, fsd, start, target, stop                                                                           \
  }
#define CASE(name, opp, aid, fsd, start, target, stop) UNEVEN(name, opp, aid, fsd, start, target, stop, fsd, 3e3)

// input of the scene at a time
typedef struct Input {
  double command;  // position                                                         rad
  double load;     // T_LD, towards negative angles                                    N m
  double supply;   // PSR                                                              MPa
} Input;
typedef void (*Schedule)(Input* input, double time, const mjgCase* variant);

// the flap's body; MuJoCo needs one
#define OUTPUT 1e-3  // kg m2

static double clamp(double x, double limit) { return fmin(fmax(x, -limit), limit); }

// Torque of the motor less its viscous friction. Proportional: the valve opens with the error up to its end. The pressure across the motor is the
// supply times the opening, minus the loss of the flow.
static double motorTorque(const Input* input, double q, double v) {
  double available = TORQUE * input->supply / FULL;
  double opening = clamp((input->command - q) / (OPEN * DEGREE), 1);
  return available * opening - (DROOP + VISCOUS) * v;
}

// T_FR0 and FSD in words of the gear for a flap that moves in direction s relative to its load, 1 against
// it, -1 with it. At rest and without inertia on the load's side lambda = g T + s gamma_u t, so that
// t = S (g T + s gamma_u t + c); Table 1 has t = FSD (g T/(1 - s gamma_u) + T_FR0). s = 0: as they are.
static void convert(double* coulomb, double* static_ratio, const mjgCase* variant, double gamma_u) {
  double way = variant->TARGET - variant->START;
  double s = (way > 0) - (way < 0), fsd = variant->RATIO / (1 - s * gamma_u);
  *coulomb = FRICTION * (1 - s * gamma_u);
  *static_ratio = fsd / (1 + fsd * s * gamma_u);
}

static void configure(mjModel* m, const mjgCase* variant) {
  m->key_qpos[0] = variant->START * DEGREE;
  if (variant->TRAVEL > 0) {
    m->jnt_range[0] = -variant->TRAVEL * DEGREE;
    m->jnt_range[1] = variant->TRAVEL * DEGREE;
  }
}

static void apply(const mjModel* m, mjData* d, const mjgCase* variant, Schedule schedule) {
  Input input;
  schedule(&input, d->time, variant);
  d->ctrl[0] = motorTorque(&input, d->qpos[0], d->qvel[0]);
  d->qfrc_applied[0] = -input.load;
  d->userdata[0] = input.command;
  d->userdata[1] = input.load;
  d->userdata[2] = input.supply;
}

// the step was taken, so the position at its beginning is one step behind
static void measure(double* value, const mjModel* m, const mjData* d) {
  double q = d->qpos[0] - m->opt.timestep * d->qvel[0];
  value[0] = q / DEGREE;
  value[1] = d->userdata[0] / DEGREE;
  value[2] = (d->userdata[0] - q) / DEGREE;
}

static int step(double* q, double* v, double time, const mjModel* m, const mjgCase* variant, Schedule schedule) {
  Input input;
  schedule(&input, time, variant);
  double motor = motorTorque(&input, *q, *v), h = m->opt.timestep;
  double gamma_u, gamma_v;
  mjg_coefficients(&gamma_u, &gamma_v, variant->ETA_OPP, variant->ETA_AID);

  // one joint: its acceleration and internal force without friction
  double A = h / (INERTIA + OUTPUT);
  double a = (motor - input.load) / (INERTIA + OUTPUT);
  double free = *v + h * a;
  double phi = (gamma_u + gamma_v) * (motor - INERTIA * a);
  double alpha = (gamma_u + gamma_v) * INERTIA / h;
  double coulomb, static_ratio;
  convert(&coulomb, &static_ratio, variant, gamma_u);
  const mjgProblem problem = {.n = 1,
                              .v = &free,
                              .A = &A,
                              .phi = &phi,
                              .alpha = &alpha,
                              .beta = &gamma_v,
                              .coulomb = &coulomb,
                              .static_ratio = &static_ratio,
                              .v0 = v};
  double friction, next;
  int status = mjg_enumerate(&friction, &next, &problem);
  *v = next;
  *q += h * next;
  return status;
}

// one step of Table 1
static void stepTable(double* q, double* v, double* t, double time, double h, const mjgCase* variant,
                      Schedule schedule) {
  double stop = variant->TRAVEL;
  const mjgKarnopp joint = {
      variant->ETA_OPP, variant->ETA_AID, variant->RATIO, FRICTION, 0, INERTIA, stop > 0 ? stop * DEGREE : INFINITY};
  Input input;
  schedule(&input, time, variant);
  mjg_stepKarnopp(q, v, t, &joint, motorTorque(&input, *q, *v), input.load, h);
}

// In Table 1 a starting joint has static friction for one step. The joint loses this momentum.
// Until the servo's damping compensates the loss, the joint falls behind by h (static - dynamic
// friction)/damping.
static double table(double* allowed, const mjgTrajectory* run, Schedule schedule) {
  const mjgCase* variant = run->variant;
  int time = mjg_column(run, "time"), position = mjg_column(run, "position");
  double q = variant->START * DEGREE, v = 0, t = 0, h = 0;
  double difference = 0, way = 0, friction = 0;
  *allowed = 0;
  for (int i = 0; i + 1 < run->nrow; i++) {
    const double* row = mjg_row(run, i);
    const double* next = row + run->ncolumn;
    difference = fmax(difference, fabs(q / DEGREE - row[position]));
    way = fmax(way, fabs(next[position] - row[position]));
    h = next[time] - row[time];
    stepTable(&q, &v, &t, row[time], h, variant, schedule);
    friction = fmax(friction, fabs(t));
  }
  double fsd = variant->RATIO, excess = (fsd - 1) / fsd * friction;
  *allowed = 2 * (way + h * excess / (DROOP + VISCOUS) / DEGREE);
  return difference;
}

static double arrivalOfTable(const mjgCase* variant, Schedule schedule, double end) {
  const double h = 5e-4;
  double q = variant->START * DEGREE, v = 0, t = 0, since = -1;
  for (int i = 0; i * h < end; i++) {
    int there = fabs(q / DEGREE - variant->TARGET) < 0.02;
    since = there ? (since < 0 ? i * h : since) : -1;
    stepTable(&q, &v, &t, i * h, h, variant, schedule);
  }
  return since;
}

static void claimTable(mjgClaims* claims, const mjgTrajectory* run, int n, Schedule schedule) {
  for (int i = 0; i < n; i++) {
    double allowed, difference = table(&allowed, &run[i], schedule);
    mjg_claim(claims, difference < allowed,
              "%s moves as Table 1 says: largest difference %.2g deg; two timesteps may cost %.2g deg",
              run[i].variant->name, difference, allowed);
  }
}

static double meanError(const mjgTrajectory* run, double from, double to) {
  double sum = 0;
  int n = 0;
  for (double time = from; time < to; time += 0.001, n++) {
    sum += mjg_at(run, "error", time);
  }
  return sum / n;
}

// input and reference by the schedule of a scene
#define CALLBACKS(scene)                                                                                     \
  static void scene##Input(const mjModel* m, mjData* d, const mjgCase* variant) {                            \
    apply(m, d, variant, scene##Schedule);                                                                   \
  }                                                                                                          \
  static int scene##Reference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) { \
    return step(q, v, time, m, variant, scene##Schedule);                                                    \
  }

// parts of all scenes
#define FLAP \
  .configure = configure, .column = "position command error load=userdata:1 supply=userdata:2", .measure = measure

//---------------------------------- figures 6 to 10 -----------------------------------------------

#define LOAD 74500.0  // of figures 6 to 13, N m

enum { OPPOSING, AIDING, OPPOSING_LOCKED, AIDING_WEAK, AIDING_STRONG };

static const mjgCase pressureCase[] = {
    {CASE("figure06-opposing-reversible", 0.9090909090909091, 0.9, 1.2, 0, 1.5, 0)},
    {CASE("figure07-aiding-reversible", 0.9090909090909091, 0.9, 1.2, 7, 0, 0)},
    {UNEVEN("figure08-opposing-irreversible", 0.86, -0.2, 1.2, 0, 1.5, 0, 1.415458937198068, 5283.276450511946)},
    {UNEVEN("figure09-aiding-irreversible", 0.86, -0.2, 1.2, 4, 0, 0, 1.041469194312796, 716.7235494880542)},
    {UNEVEN("figure10-aiding-more-irreversible", 0.86, -0.4, 1.2, 4, 0, 0, 1.0359712230215827, 625.0000000000001)},
};

// supply pressure over time
static double supply(double time) {
  const double full = FULL, low = 5;
  return time < 0.3   ? full
         : time < 0.4 ? full + (low - full) * (time - 0.3) / 0.1
         : time < 0.6 ? low
         : time < 0.8 ? low + (full - low) * (time - 0.6) / 0.2
                      : full;
}

static void pressureSchedule(Input* input, double time, const mjgCase* variant) {
  double command = mjg_reached(time, 0.1) ? variant->TARGET : variant->START;
  *input = (Input){command * DEGREE, LOAD, supply(time)};
}

CALLBACKS(pressure)

// time at which the flap has come to rest within 0.02 deg of its target, -1: never
static double arrival(const mjgTrajectory* run) {
  double last = run->data[(size_t)(run->nrow - 1) * (size_t)run->ncolumn + (size_t)mjg_column(run, "time")];
  double target = run->variant->TARGET;
  for (double time = 0.1; time < last - 0.1; time += 0.005) {
    if (fabs(mjg_lowest(run, "position", time, last) - target) < 0.02 &&
        fabs(mjg_highest(run, "position", time, last) - target) < 0.02) {
      return time;
    }
  }
  return -1;
}

// returns 1 if times are in the paper's order
static int inOrder(const double time[5]) {
  return time[AIDING] > 0 && time[AIDING] < time[AIDING_WEAK] && time[AIDING_WEAK] < time[AIDING_STRONG] &&
         time[AIDING_STRONG] < time[OPPOSING_LOCKED] && time[OPPOSING_LOCKED] < time[OPPOSING];
}

// directions of motion between two times as -, 0 and +, and their durations
static int directions(char sign[], double length[], int nmax, const mjgTrajectory* r, double from, double to) {
  int time = mjg_column(r, "time"), velocity = mjg_column(r, "v_flap"), n = 0;
  for (int i = 0; i < r->nrow; i++) {
    const double* row = mjg_row(r, i);
    if (row[time] > from && row[time] < to && n < nmax) {
      char now = row[velocity] > 0 ? '+' : row[velocity] < 0 ? '-' : '0';
      if (n == 0 || sign[n - 1] != now) {
        sign[n] = now;
        length[n++] = 0;
      }
      length[n - 1] += row[time] - (row - r->ncolumn)[time];
    }
  }
  sign[n] = 0;
  return n;
}

static void pressureClaims(mjgClaims* claims, const mjgTrajectory* run) {
  const double nominal = 1 / DEGREE;

  // before the command: the load moves a reversible flap until the servo holds it
  double sunk = mjg_lowest(&run[OPPOSING], "q_flap", 0, 0.099) * nominal;
  double kept = mjg_lowest(&run[OPPOSING_LOCKED], "q_flap", 0, 0.099);
  mjg_claim(claims, sunk < -0.001 && kept == 0,
            "the load of 74500 N m moves the reversible flap by %.4f deg until the servo holds it, the irreversible "
            "one not at all: %g",
            sunk, kept);

  // opposing load: both stop under low pressure, and only the reversible flap is driven back
  for (int i = 0; i < 2; i++) {
    const mjgTrajectory* r = &run[i ? OPPOSING_LOCKED : OPPOSING];
    double before = mjg_lowest(r, "v_flap", 0.25, 0.299) * nominal;
    double back = mjg_lowest(r, "v_flap", 0.4, 0.6) * nominal;
    double way = mjg_at(r, "position", 0.6) - mjg_at(r, "position", 0.45);
    if (i == 0) {
      mjg_claim(claims, before > 0.5 && back < -0.1 && way < -0.01,
                "figure 6: moves at %.2f deg/s, and under low pressure the load drives it back by %.3f deg from 0.45 "
                "to 0.6 s",
                before, -way);
    } else {
      mjg_claim(
          claims, before > 0.5 && back == 0 && way == 0,
          "figure 8: moves at %.2f deg/s, and under low pressure the irreversible flap stands still: %g deg/s, %g deg",
          before, back, way);
    }
  }

  // figure 6 stops, sticks, slips back, sticks again and goes on
  char sign[9];
  double length[8] = {0};
  directions(sign, length, 8, &run[OPPOSING], 0.25, 1.3);
  mjg_claim(claims, !strcmp(sign, "+0-0+"),
            "figure 6: it stops and sticks for %.1f ms, slips back for %.3f s, sticks for %.1f ms and goes on: %s",
            1e3 * length[1], length[2], 1e3 * length[3], sign);

  // aiding load: the reversible flap and the weakly irreversible one keep moving, slower
  static const int moving[] = {AIDING, AIDING_WEAK};
  for (int i = 0; i < 2; i++) {
    const mjgTrajectory* r = &run[moving[i]];
    double before = -mjg_at(r, "v_flap", 0.29) * nominal;
    double slowest = -mjg_highest(r, "v_flap", 0.4, 0.6) * nominal;
    double fastest = -mjg_lowest(r, "v_flap", 0.45, 0.6) * nominal;
    double after = -mjg_at(r, "v_flap", 0.82) * nominal;
    mjg_claim(claims, slowest > 0 && fastest < 0.8 * before && fabs(after / before - 1) < 0.02,
              "figure %d: the load aids, under low pressure it slows from %.2f to between %.2f and %.2f deg/s, does "
              "not stop, and returns to %.2f deg/s",
              i ? 9 : 7, before, slowest, fastest, after);
  }
  const mjgTrajectory* stalled = &run[AIDING_STRONG];
  double before = -mjg_at(stalled, "v_flap", 0.29) * nominal;
  double held = mjg_swing(stalled, "v_flap", 0.45, 0.6);
  mjg_claim(claims, before > 0.5 && held == 0 && mjg_at(stalled, "v_flap", 0.5) == 0,
            "figure 10: more irreversible, it moves at %.2f deg/s and stalls under low pressure: %g", before, held);

  // the paper's times of arrival, and their order
  static const double paper[5] = {1.41, 0.94, 1.30, 1.02, 1.28};
  double time[5];
  for (int i = 0; i < 5; i++) {
    time[i] = arrival(&run[i]);
    mjg_claim(claims, fabs(time[i] / paper[i] - 1) < 0.15,
              "%s arrives at %.3f s, in the paper at %.2f s: %+.1f %%, at most 15 %%", run[i].variant->name, time[i],
              paper[i], 100 * (time[i] / paper[i] - 1));
  }
  mjg_claim(claims, inOrder(time),
            "they arrive in the paper's order, 7, 9, 10, 8, 6: %.3f < %.3f < %.3f < %.3f < %.3f s", time[AIDING],
            time[AIDING_WEAK], time[AIDING_STRONG], time[OPPOSING_LOCKED], time[OPPOSING]);

  // the motor stalls at 1.65 times the load, so the irreversible flap moves against the load only
  // if its gear then loses little more than the reversible one
  mjgCase lossy = *run[OPPOSING_LOCKED].variant;
  lossy.parameter[0] = 1 / (2 - lossy.parameter[1]);
  double same = arrivalOfTable(run[OPPOSING_LOCKED].variant, pressureSchedule, 2);
  double never = arrivalOfTable(&lossy, pressureSchedule, 2);
  mjg_claim(claims, fabs(same - time[OPPOSING_LOCKED]) < 0.01 && never < 0,
            "figure 8 by Table 1: arrives at %.3f s with eta_opp = %.2f, with %.3f = 1/(2 - eta_aid) never (%g)", same,
            run[OPPOSING_LOCKED].variant->parameter[0], lossy.parameter[0], never);

  // the paper's own algorithm
  claimTable(claims, run, 5, pressureSchedule);
}

mjgSCENE(Flap, "flap", "flap/flap.xml", 2,
         "An aircraft's flap carries its aerodynamic load while its hydraulic supply breaks down. Only a reversible "
         "actuator gives way.",
         FLAP, .moment = 0.3, mjgCASES(pressureCase), .input = pressureInput, .reference = pressureReference,
         .tolerance = 1e-9, .claims = pressureClaims);

//---------------------------------- figures 11 to 15 ----------------------------------------------

#define HALF_LOAD 37243.0  // of figures 14 and 15, N m
#define SLOPE     0.5      // of all ramps, deg/s

enum { REVERSIBLE, IRREVERSIBLE, STATIC, TRIANGLE, TRIANGLE_LOCKED };

// the target is 1 in the cases that follow a triangle
static const mjgCase rampCase[] = {
    {CASE("figure11-reversible", 0.9090909090909091, 0.9, 1.2, 0.1, 0, 0)},
    {CASE("figure12-irreversible", 0.45454545454545453, -0.2, 1.2, 0.1, 0, 0)},
    {CASE("figure13-statically-irreversible", 0.7142857142857143, 0.6, 2.5, 0.1, 0, 0)},
    {CASE("figure14-reversible", 0.9090909090909091, 0.9, 1.2, 0, 1, 0)},
    {CASE("figure15-irreversible", 0.45454545454545453, -0.2, 1.2, 0, 1, 0)},
};

// up and down between 0 and 0.2 deg in 0.4 s each, and 0.05 deg ahead in the direction of motion
static double triangle(double time) {
  double phase = fmod(time - 0.1 + 1e-9, 0.8);
  return phase < 0.4 ? SLOPE * phase + 0.05 : SLOPE * (0.8 - phase) - 0.05;
}

static void rampSchedule(Input* input, double time, const mjgCase* variant) {
  double command, load;
  if (variant->TARGET > 0) {
    command = mjg_reached(time, 0.1) ? triangle(time) : 0;
    load = mjg_reached(time, 0.1) ? HALF_LOAD : 0;
  } else {
    command = 0.1 - SLOPE * fmax(time - 0.07, 0);
    load = mjg_within(time, 0.02, 0.2) ? LOAD : 0;
  }
  *input = (Input){command * DEGREE, load, FULL};
}

CALLBACKS(ramp)

static int movesDown(double velocity) { return velocity < -1e-6; }

// position error at which the flap starts to move downward after the ramp has begun, deg
static double breakawayError(const mjgTrajectory* run) {
  return mjg_at(run, "error", mjg_events(run, "v_flap", 0.07, 0.2, movesDown).first - 0.0005);
}

static void rampClaims(mjgClaims* claims, const mjgTrajectory* run) {
  // the load step moves only the reversible flap
  double moved[3];
  for (int i = 0; i < 3; i++) {
    moved[i] = mjg_lowest(&run[i], "position", 0.02, 0.0695) - 0.1;
  }
  mjg_claim(claims, moved[REVERSIBLE] < -0.001 && moved[IRREVERSIBLE] == 0 && moved[STATIC] == 0,
            "the load moves only the reversible flap before the ramp begins: %.4f, %g, %g deg", moved[REVERSIBLE],
            moved[IRREVERSIBLE], moved[STATIC]);

  // error at break-away: positive, the servo brakes, or negative, it drives
  double start[3], steady[3], unloaded[3];
  for (int i = 0; i < 3; i++) {
    start[i] = breakawayError(&run[i]);
    steady[i] = meanError(&run[i], 0.16, 0.2);
    unloaded[i] = meanError(&run[i], 0.3, 0.5);
  }
  mjg_claim(
      claims, start[REVERSIBLE] > 0 && steady[REVERSIBLE] > 0,
      "figure 11: reversible, the servo brakes the aiding load: error %+.5f deg at break-away, %+.5f deg in the ramp",
      start[REVERSIBLE], steady[REVERSIBLE]);
  mjg_claim(claims, start[IRREVERSIBLE] < 0 && steady[IRREVERSIBLE] < 0,
            "figure 12: irreversible, the servo must drive: error %+.5f deg at break-away, %+.5f deg in the ramp",
            start[IRREVERSIBLE], steady[IRREVERSIBLE]);
  mjg_claim(
      claims, start[STATIC] < 0 && steady[STATIC] > 0,
      "figure 13: irreversible at rest and reversible in motion: error %+.5f deg at break-away, %+.5f deg in the ramp",
      start[STATIC], steady[STATIC]);
  mjg_claim(claims, unloaded[0] < 0 && unloaded[1] < 0 && unloaded[2] < 0,
            "without load the error has the sign of the ramp's slope in all three: %+.5f, %+.5f, %+.5f", unloaded[0],
            unloaded[1], unloaded[2]);

  // triangle: distance of the flap behind its command at the end of each ramp
  double up = meanError(&run[TRIANGLE], 0.4, 0.5), down = -meanError(&run[TRIANGLE], 0.8, 0.9);
  double up_locked = meanError(&run[TRIANGLE_LOCKED], 0.4, 0.5);
  double down_locked = -meanError(&run[TRIANGLE_LOCKED], 0.8, 0.9);
  mjg_claim(claims, down < 0, "figure 14: the aiding load makes the reversible flap lead its command by %.5f deg",
            -down);
  mjg_claim(claims, down_locked > 0, "figure 15: the irreversible flap lags under an aiding load too, by %.5f deg",
            down_locked);
  mjg_claim(claims, up > 0 && up < up_locked && down < down_locked,
            "the reversible flap is less behind than the irreversible one: %.5f to %.5f deg opposing, %.5f to %.5f deg "
            "aiding",
            up, up_locked, down, down_locked);

  // the paper's own algorithm
  claimTable(claims, run, 5, rampSchedule);
}

mjgSCENE(FlapRamp, "flap-ramp", "flap/flap.xml", 1.7,
         "The flap follows a ramp under load. In one direction friction helps the load, and in the other it helps the "
         "motor.",
         FLAP, .moment = 0.5, mjgCASES(rampCase), .input = rampInput, .reference = rampReference, .tolerance = 1e-9,
         .claims = rampClaims);

//---------------------------------- figures 16 and 17 ---------------------------------------------

#define CREEP_LOAD  25000.0  // N m
#define CREEP_SLOPE 0.025    // deg/s
#define CREEP_TURN  2.05     // s

// efficiencies with more friction under an aiding load than under an opposing one
static const mjgCase creepCase[] = {
    {CASE("figure16-reversible", 0.8, 0.7, 2, 0, 0, 0)},
    {CASE("figure17-irreversible", 0.5, -0.2, 2, 0, 0, 0)},
};

static void creepSchedule(Input* input, double time, const mjgCase* variant) {
  double command = CREEP_SLOPE * (fmin(time, CREEP_TURN) - 0.1 - fmax(time - CREEP_TURN, 0));
  *input = (Input){fmax(command, 0) * DEGREE, mjg_reached(time, 0.1) ? CREEP_LOAD : 0, FULL};
}

CALLBACKS(creep)

// steps between two times: mean height, the way divided by the number of stops, and mean period from
// one break-away to the next
typedef struct {
  int n;
  double height;  // deg
  double period;  // s
} Steps;

static Steps steps(const mjgTrajectory* run, double from, double to) {
  mjgEvents starts = mjg_events(run, "v_flap", from, to, mjg_isNotZero);
  double way = fabs(mjg_at(run, "position", to) - mjg_at(run, "position", from));
  return (Steps){starts.n, way / fmax(starts.n, 1), (starts.last - starts.first) / fmax(starts.n - 1, 1)};
}

static void creepClaims(mjgClaims* claims, const mjgTrajectory* run) {
  Steps up[2], down[2];
  double error[2];
  for (int i = 0; i < 2; i++) {
    up[i] = steps(&run[i], 0.8, CREEP_TURN);
    down[i] = steps(&run[i], CREEP_TURN + 0.6, 3.9);
    error[i] = meanError(&run[i], 0.8, CREEP_TURN);
    mjg_claim(claims, up[i].n >= 3 && down[i].n >= 3,
              "figure %d: moves in steps, %d of %.5f deg against the load, %d of %.5f deg with it", 16 + i, up[i].n,
              up[i].height, down[i].n, down[i].height);
  }
  const Steps *opposing = &up[IRREVERSIBLE], *aiding = &down[IRREVERSIBLE];
  mjg_claim(claims, opposing->height > up[REVERSIBLE].height && aiding->height > down[REVERSIBLE].height,
            "the irreversible flap makes larger steps: %.5f and %.5f deg opposing, %.5f and %.5f deg aiding",
            opposing->height, up[REVERSIBLE].height, aiding->height, down[REVERSIBLE].height);
  mjg_claim(claims, opposing->period > up[REVERSIBLE].period && aiding->period > down[REVERSIBLE].period,
            "and its period is longer: %.3f and %.3f s opposing, %.3f and %.3f s aiding", opposing->period,
            up[REVERSIBLE].period, aiding->period, down[REVERSIBLE].period);
  mjg_claim(claims, down[REVERSIBLE].height > up[REVERSIBLE].height && aiding->height > opposing->height,
            "steps with the aiding load are larger than those against it");
  mjg_claim(claims, error[IRREVERSIBLE] > error[REVERSIBLE],
            "against the load the irreversible flap is further behind: %.5f and %.5f deg", error[IRREVERSIBLE],
            error[REVERSIBLE]);

  // gamma_u is not 0 here, so that T_FR0 and FSD mean slightly different things: see README.md
  for (int i = 0; i < 2; i++) {
    double allowed, difference = table(&allowed, &run[i], creepSchedule);
    mjg_claim(claims, difference < 1.1 * fmax(up[i].height, down[i].height),
              "%s moves as Table 1 says within one of its steps: largest difference %.2g deg", run[i].variant->name,
              difference);
  }
}

mjgSCENE(FlapCreep, "flap-creep", "flap/flap.xml", 4,
         "The flap follows a very slow ramp, and its irreversible actuator sticks and slips.", FLAP, .moment = 0.7,
         mjgCASES(creepCase), .input = creepInput, .reference = creepReference, .tolerance = 1e-9,
         .claims = creepClaims);

//---------------------------------- end of travel -------------------------------------------------

#define STOP_LOAD 30000.0  // N m
#define STOP      1.0      // deg
#define STOP_TURN 1.0      // when the command returns, s
#define CONTACT   0.003    // largest compliance of the engine's soft limit, deg

static const mjgCase stopCase[] = {
    {CASE("reversible", 0.9090909090909091, 0.9, 1.2, 0, 3.0, 1.0)},
    {CASE("irreversible", 0.45454545454545453, -0.2, 1.2, 0, 3.0, 1.0)},
};

static void stopSchedule(Input* input, double time, const mjgCase* variant) {
  double command = mjg_reached(time, STOP_TURN) || !mjg_reached(time, 0.1) ? 0 : variant->TARGET;
  *input = (Input){command * DEGREE, STOP_LOAD, FULL};
}

static void stopInput(const mjModel* m, mjData* d, const mjgCase* variant) { apply(m, d, variant, stopSchedule); }

static int isAtStop(double position) { return position >= STOP; }

static int leaves(double velocity) { return velocity < -1e-3; }

static void stopClaims(mjgClaims* claims, const mjgTrajectory* run) {
  for (int i = 0; i < 2; i++) {
    const char* name = run[i].variant->name;
    const mjgTrajectory* r = &run[i];
    double impact = mjg_events(r, "position", 0, INFINITY, isAtStop).first, speed = mjg_at(r, "v_flap", impact - 5e-4);
    double back = mjg_lowest(r, "v_flap", impact + 0.005, STOP_TURN - 5e-4);
    double high = mjg_highest(r, "position", impact, STOP_TURN), low = mjg_lowest(r, "position", impact, STOP_TURN);
    mjg_claim(claims, impact < STOP_TURN - 0.1 && high < STOP + CONTACT && low > STOP - CONTACT && back > -0.05 * speed,
              "%s: runs into its stop at %.3f s with %.2f deg/s and stays there, without rebound: %.5f to %.5f deg, "
              "back with %.1g of that speed at most",
              name, impact, speed / DEGREE, low, high, fmax(-back / speed, 0));
    double left = mjg_events(r, "v_flap", STOP_TURN - 1e-9, INFINITY, leaves).first;
    mjg_claim(claims, left < STOP_TURN + 1.1e-3,
              "%s: leaves it %.1f ms after the command has returned, at most two steps", name,
              1e3 * (left - STOP_TURN));
    double allowed, difference = table(&allowed, &run[i], stopSchedule);
    mjg_claim(claims, difference < allowed + CONTACT,
              "%s: moves as Table 1 says: largest difference %.2g deg; two timesteps may cost %.2g deg and the soft "
              "limit %.2g deg",
              name, difference, allowed, CONTACT);
  }
}

mjgSCENE(FlapStop, "flap-stop", "flap/flap.xml", 1.5,
         "The flap runs into its end of travel. When the motor turns back it comes off at once.", FLAP, .moment = 0.5,
         mjgCASES(stopCase), .input = stopInput, .claims = stopClaims);
