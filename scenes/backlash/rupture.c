// A shaft whose driving torque vanishes: Akoto and Spangenberg, "Modeling of backlash in drivetrains",
// Figs. 7 to 9.
//
// The paper gives j, c, k and alpha, a torque that grows linearly, and its end after 10 s; not how the
// torque becomes a motion (Fig. 7 is a picture of blocks), nor slope and driving inertia. Here all models
// see the same motion theta_d, as in Nordin's Table I: the motion of a driving side of
// inertia m on the shaft without play, m theta'' + c theta' + k theta = torque.
//
// On it (5) is torque + (j - m) theta'' in contact, and just after the rupture -(j - m)/m c theta': it
// reverses if and only if the driving side is lighter than the shaft, m < j; here it is half of it.
// If each model acts back on the driving side, none reverses: then T (1 + j/m) = c theta' + k
// theta.
//
// The paper's response time is "the time needed by the system to get out of the backlash zone", the
// borders of 2.2. The couplings of (3) and (5) have the state theta_b of (14) and (22): a shaft that lies
// untwisted in its gap moves with the driving side, and touches when theta_d is alpha, like (2).

#include "../helpers.h"
#include "gap.h"
#include "mjgear_backlash.h"

#define INERTIA   50.0  // j, kg m2
#define DAMPING   10.0  // c
#define STIFFNESS 0.01  // k
#define HALF_GAP  0.01  // alpha, rad
#define DRIVING   25.0  // m, kg m2
#define SLOPE     1.0   // of the torque, N m/s
#define RUPTURE   10.0  // s
#define ROTOR     1e9   // of the model: imposes the motion

static const mjgCase ruptureCase[] = {
    {"jck", "shaft.backlash=jck; shaft.shaft_inertia=50"},   {"exact"},
    {"revised_deadzone", "shaft.backlash=revised_deadzone"}, {"phase_plane", "shaft.backlash=phase_plane"},
    {"damped_deadzone", "shaft.backlash=damped_deadzone"},
};
enum { JCK, EXACT, REVISED, PHASE, DEAD, NCASE };

// acceleration of the driving side after a unit step of torque, and after a unit ramp
static double afterStep(double* ramp, double t) {
  double root = sqrt(DAMPING * DAMPING - 4 * DRIVING * STIFFNESS);
  double fast = -(DAMPING + root) / (2 * DRIVING);
  double slow = STIFFNESS / DRIVING / fast;
  *ramp = (exp(slow * t) - exp(fast * t)) / root;
  return (slow * exp(slow * t) - fast * exp(fast * t)) / root;
}

static double acceleration(double t) {
  double ramp, past;
  afterStep(&ramp, t);
  double a = SLOPE * ramp;
  if (t > RUPTURE) {
    a -= SLOPE * RUPTURE * afterStep(&past, t - RUPTURE) + SLOPE * past;
  }
  return a;
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = ROTOR * acceleration(d->time + 0.5 * m->opt.timestep);
}

// the motion, the torque that drives it, and (5) as it stands, in contact outside its zone
static void measure(double* value, const mjModel* m, const mjData* d) {
  double time = d->time - m->opt.timestep;
  mjg_measureGap(value, m, d);
  value[2] = acceleration(time);
  value[3] = time > RUPTURE ? 0 : SLOPE * time;
  double T = STIFFNESS * value[0] + DAMPING * value[1] + INERTIA * value[2];
  double border = STIFFNESS * HALF_GAP;
  value[4] = fmax(0, T - border) + fmin(0, T + border);
}

// times at which the motion leaves the zones of (5), (3), (4), (2)
static void leave(double time[4], const mjgTrajectory* t) {
  int theta_d = mjg_column(t, "theta_d"), omega_d = mjg_column(t, "omega_d");
  int alpha_d = mjg_column(t, "alpha_d"), clock = mjg_column(t, "time");
  mjgBacklash law = {.half_gap = HALF_GAP, .stiffness = STIFFNESS, .damping = DAMPING};
  for (int i = t->nrow - 1; i >= 0; i--) {
    const double* row = mjg_row(t, i);
    double theta = row[theta_d], omega = row[omega_d];
    double massless = theta + DAMPING / STIFFNESS * omega;
    const int out[4] = {massless + INERTIA / STIFFNESS * row[alpha_d] > HALF_GAP, massless > HALF_GAP,
                        theta >= mjg_backlashTouch(&law, omega), theta > HALF_GAP};
    for (int k = 0; k < 4; k++) {
      time[k] = out[k] && row[clock] < RUPTURE ? row[clock] : time[k];
    }
  }
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  const char* torque = "shaft_torque_out";
  const mjgTrajectory* jck = &run[JCK];

  // Fig. 8
  double zone[4] = {INFINITY, INFINITY, INFINITY, INFINITY}, first[NCASE];
  leave(zone, jck);
  for (int i = 0; i < NCASE; i++) {
    first[i] = mjg_events(&run[i], torque, 0, INFINITY, mjg_isNotZero).first;
  }
  mjg_claim(claims, zone[0] < zone[1] && zone[1] < zone[2] && zone[2] < zone[3],
            "Fig. 8: out of the zone of jck (5) after %.3f s, of (3) %.3f s, of the phase plane (4) %.3f s, of the "
            "dead zone (2) %.3f s",
            zone[0], zone[1], zone[2], zone[3]);
  mjg_claim(claims,
            fabs(first[REVISED] - zone[1]) < 3e-3 && fabs(first[PHASE] - zone[2]) < 3e-3 &&
                fabs(first[DEAD] - zone[3]) < 3e-3,
            "the models without state transmit torque from there on: (3) as it stands %.3f s, (4) %.3f s, (2) %.3f s",
            first[REVISED], first[PHASE], first[DEAD]);
  mjg_claim(claims, fabs(first[EXACT] - zone[3]) < 3e-3 && fabs(first[JCK] - zone[3]) < 3e-3,
            "those with state touch with an untwisted shaft, when the dead zone does: exact %.3f s, jck %.3f s",
            first[EXACT], first[JCK]);

  // the step of the phase plane model: at its touch, (19), the damper has the whole rate
  const mjgTrajectory* phase = &run[PHASE];
  double omega = mjg_at(phase, "omega_d", first[PHASE]);
  const mjgBacklash law = {.half_gap = HALF_GAP, .stiffness = STIFFNESS, .damping = DAMPING};
  double expected = STIFFNESS * (mjg_backlashTouch(&law, omega) - HALF_GAP) + DAMPING * omega;
  double step = mjg_at(phase, torque, first[PHASE]);
  mjg_claim(claims, fabs(step / expected - 1) < 0.05 && mjg_at(phase, torque, first[PHASE] - 1e-3) == 0,
            "the torque of the phase plane model steps from 0 to %.5f N m at its touch, %.5f by (19)", step, expected);

  // Fig. 9 before the rupture
  double apart = 0, inertia = INFINITY;
  for (double t = 7; t < RUPTURE - 0.01; t += 0.01) {
    double exact = mjg_at(&run[EXACT], torque, t);
    for (int i = REVISED; i < NCASE; i++) {
      apart = fmax(apart, fabs(mjg_at(&run[i], torque, t) - exact) / exact);
    }
    inertia = fmin(inertia, mjg_at(jck, torque, t) / exact - 1);
  }
  mjg_claim(claims, apart < 0.01 && inertia > 0.1,
            "Fig. 9: after 7 s all models but jck have the same torque, within %.1g %%, and jck %.0f %% more",
            100 * apart, 100 * inertia);

  // Fig. 9 from the rupture on
  double flip = mjg_lowest(jck, "T_5", RUPTURE, RUPTURE + 0.01);
  double reversed = RUPTURE;
  while (mjg_at(jck, torque, reversed) >= 0 && reversed < 15) {
    reversed += 1e-3;
  }
  mjg_claim(claims, flip < -5 && mjg_at(jck, "T_5", RUPTURE) > 5 && reversed < RUPTURE + 1,
            "at the rupture (5) turns from %.2f to %.2f N m at once, the coupling as soon as its gap is crossed, %.2f "
            "s later",
            mjg_at(jck, "T_5", RUPTURE), flip, reversed - RUPTURE);
  double settle = reversed + 0.5, wrong = 0, lowest = INFINITY, rises = 0;
  for (double t = settle; t < 19.9; t += 0.1) {
    wrong += mjg_at(jck, torque, t + 0.1) <= mjg_at(jck, torque, t);
    wrong += mjg_at(jck, torque, t) >= 0;
  }
  for (int i = EXACT; i < NCASE; i++) {
    lowest = fmin(lowest, mjg_lowest(&run[i], torque, 0, 20));
    for (double t = RUPTURE + 0.1; t < 19.9; t += 0.1) {
      rises += mjg_at(&run[i], torque, t + 0.1) >= mjg_at(&run[i], torque, t);
    }
  }
  mjg_claim(claims, wrong == 0 && mjg_at(jck, torque, 19.9) > 0.1 * mjg_at(jck, torque, settle),
            "from there on the torque of jck rises to zero: %.3f N m after %.1f s, %.3f N m after 19.9 s",
            mjg_at(jck, torque, settle), settle, mjg_at(jck, torque, 19.9));
  mjg_claim(claims, lowest >= 0 && rises == 0, "the others fall to zero and never reverse: lowest torque %g N m",
            lowest);
}

mjgSCENE(Rupture, "rupture", "backlash/rupture.xml", 20,
         "The driving torque vanishes suddenly. Only the torque of the model `jck` reverses (Akoto, Figs. 8 and 9).",
         mjgCASES(ruptureCase), .input = input, .column = "theta_d omega_d alpha_d driving T_5", .measure = measure,
         .claims = claims);
