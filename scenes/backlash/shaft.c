// A shaft without play: Akoto and Spangenberg, "Modeling of backlash in drivetrains", Figs. 2 to 6.

#include <complex.h>

#include "../helpers.h"
#include "gap.h"

//---------------------------------- Fig. 2 --------------------------------------------------------

#define INERTIA   10.0   // j, kg m2
#define DAMPING   5.0    // c
#define STIFFNESS 10.0   // k
#define ROTOR     0.001  // m

static const mjgCase resonanceCase[] = {
    {"jck", "shaft.backlash=jck; shaft.shaft_inertia=10"},
    {"phase_plane", "shaft.backlash=phase_plane"},
    {"exact"},
    {"damped_deadzone", "shaft.backlash=damped_deadzone"},
};

// one newton metre at the natural frequency sqrt(k/j) = 1 rad/s
static void resonanceInput(const mjModel* m, mjData* d, const mjgCase* variant) { d->ctrl[0] = sin(d->time); }

// twist of a continuous shaft with inertia j in the steady state
static double steadyTwist(double j, double time) {
  double complex a = 1 / (STIFFNESS - j + I * DAMPING);
  return cimag(a * cexp(I * time));
}

static void resonanceClaims(mjgClaims* claims, const mjgTrajectory* run) {
  // Fig. 2(a) has a step in the torque of the phase plane model
  const mjgTrajectory* phase = &run[1];
  int torque = mjg_column(phase, "shaft_torque_out");
  double most = 0, h = phase->data[phase->ncolumn];
  for (int i = 2; i < phase->nrow; i++) {
    const double* row = mjg_row(phase, i);
    most = fmax(most, fabs(row[torque] - (row - phase->ncolumn)[torque]));
  }
  mjg_claim(claims, most < 2 * h,
            "Fig. 2(a): without a gap (4) has no step: its torque changes by %.1g N m from one step to the next, the "
            "input by up to %.1g; rupture shows the step that a gap gives it",
            most, h);
  for (int i = 0; i < 4; i++) {
    double with = 0, without = 0;
    for (double t = 40; t < 60; t += 0.01) {
      double twist = mjg_at(&run[i], "twist", t);
      with = fmax(with, fabs(twist - steadyTwist(INERTIA + ROTOR, t)));
      without = fmax(without, fabs(twist - steadyTwist(ROTOR, t)));
    }
    double error = (i ? without : with) * DAMPING;
    mjg_claim(claims, error < 0.02 && (i ? with : without) * DAMPING > 0.4,
              "%s follows the shaft with%s inertia: twist within %.2f %% of its resonance, %.0f %% from the other",
              run[i].variant->name, i ? "out" : "", 100 * error, 100 * (i ? with : without) * DAMPING);
  }
}

mjgSCENE(Resonance, "resonance", "backlash/shaft.xml", 60,
         "A shaft is driven at its natural frequency, which only the model `jck` knows (Akoto, Fig. 2).",
         .flg_still = 1, mjgCASES(resonanceCase), .input = resonanceInput, .column = "twist twist_rate",
         .measure = mjg_measureGap, .claims = resonanceClaims);

//---------------------------------- Figs. 3 to 6 --------------------------------------------------

// j = 10, c = 10, k = 5, alpha = 1: theta_d from rest along the border of the free play, on which
// k theta + c theta' + j theta'' = k alpha: the shaft under the constant torque k alpha
static const mjgCase intervalCase[] = {
    {"exact", "shaft.stiffness=5; shaft.damping=10"},
    {"jck", "shaft.stiffness=5; shaft.damping=10; shaft.backlash=jck; shaft.shaft_inertia=10"},
};

static void intervalInput(const mjModel* m, mjData* d, const mjgCase* variant) { d->ctrl[0] = 5; }

static void intervalClaims(mjgClaims* claims, const mjgTrajectory* run) {
  // both borders in closed form: first order, and second order with 0.5 +- 0.5 i
  double worst[2] = {0};
  for (double t = 0.05; t < 15; t += 0.05) {
    double first = 1 - exp(-0.5 * t);
    double second = 1 - exp(-0.5 * t) * (cos(0.5 * t) + sin(0.5 * t));
    worst[0] = fmax(worst[0], fabs(mjg_at(&run[0], "twist", t) - first));
    worst[1] = fmax(worst[1], fabs(mjg_at(&run[1], "twist", t) - second));
  }
  mjg_claim(claims, worst[0] < 5e-3, "massless border: 1 - exp(-k t/c) within %.1e rad", worst[0]);
  mjg_claim(claims, worst[1] < 5e-3, "border with inertia: its closed form within %.1e rad", worst[1]);

  // time at which it is first within half a percent of the gap
  double reach[2] = {0};
  for (int i = 0; i < 2; i++) {
    while (mjg_at(&run[i], "twist", reach[i]) < 0.993 && reach[i] < 15) {
      reach[i] += 5e-3;
    }
  }
  mjg_claim(claims, reach[1] < 0.55 * reach[0],
            "with inertia the border is reached twice as fast: %.1f s instead of %.1f s", reach[1], reach[0]);

  // Fig. 5: the borders cross where cos(t/2) + sin(t/2) = 1, the first time at pi seconds
  double crossing = 0.5;
  while (mjg_at(&run[1], "twist", crossing) < mjg_at(&run[0], "twist", crossing) && crossing < 15) {
    crossing += 1e-3;
  }
  mjg_claim(claims, fabs(crossing - 3.14159265358979) < 0.02,
            "Fig. 5: the borders cross at %.3f s, pi s in closed form", crossing);
  double start = mjg_at(&run[0], "twist_rate", 0.02);
  double rest = mjg_at(&run[1], "twist_rate", 0.02);
  mjg_claim(claims, start > 0.45 && rest < 0.02,
            "Fig. 6: only the shaft with inertia starts from rest: %.3f rad/s, not %.3f", rest, start);
}

mjgSCENE(Interval, "interval", "backlash/shaft.xml", 15.5,
         "The plots show the borders of the free play over time (Akoto, Figs. 3 to 6).", .flg_still = 1,
         mjgCASES(intervalCase), .input = intervalInput, .column = "twist twist_rate", .measure = mjg_measureGap,
         .claims = intervalClaims);
