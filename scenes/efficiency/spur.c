// A pair of spur gears drives and is driven: coefficients averaged over the mesh, and following it.

#include "efficiency.h"

#define RADIUS_IN 0.02
#define RADIUS    0.04  // of the output gear, m
#define MODULE    0.002
#define PRESSURE  (20 * mjPI / 180)
#define LOAD      10.0  // N m
#define GAIN      20.0  // N m/(rad/s)

// 40 teeth in 0.4 s, so that the steady phase has whole mesh cycles
#define SPEED (2 * mjPI / 0.4)

#define MU(variant)   ((variant)->parameter[0])
#define MESH(variant) ((variant)->parameter[1])

static const mjgCase spurCase[] = {
    {"mean", "spur.mu=0.1; spur.mesh=0", {0.1, 0}},
    {"mean-dry", "spur.mu=0.3; spur.mesh=0", {0.3, 0}},
    {"mesh", "spur.mu=0.1; spur.mesh=1", {0.1, 1}},
};

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = mjg_effMotor(d->time, d->qvel[0], SPEED, GAIN);
  d->qfrc_applied[0] = -LOAD;
}

static void measure(double* value, const mjModel* m, const mjData* d) { value[0] = LOAD; }

// efficiency over a mesh cycle in which each pair of teeth carries the same fraction of the load
// on its whole path: (21) integrated over the path of contact; the tip circles give its length
static void theory(double* eta_f, double* eta_b, double mu) {
  double c = cos(PRESSURE), s = sin(PRESSURE);
  double tip_in = RADIUS_IN + MODULE, tip_out = RADIUS + MODULE;
  double recess = sqrt(tip_in * tip_in - RADIUS_IN * RADIUS_IN * c * c) - RADIUS_IN * s;
  double approach = sqrt(tip_out * tip_out - RADIUS * RADIUS * c * c) - RADIUS * s;
  double gamma_u = 0, gamma_v = 0;
  int n = 20000;
  for (int i = 0; i < n; i++) {
    double xi = -approach + (approach + recess) * (i + 0.5) / n, sign = xi > 0 ? 1 : -1;
    gamma_u += (mu * fabs(xi) / (RADIUS * c) - sign * mu * s / c) / n;
    gamma_v += (mu * fabs(xi) / (RADIUS_IN * c) + sign * mu * s / c) / n;
  }
  *eta_f = (1 - gamma_u) / (1 + gamma_v);
  *eta_b = (1 - gamma_v) / (1 + gamma_u);
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  for (int i = 0; i < (int)(sizeof spurCase / sizeof *spurCase); i++) {
    double eta_f, eta_b;
    theory(&eta_f, &eta_b, MU(run[i].variant));
    if (MESH(run[i].variant) == 0) {
      mjg_effClaims(claims, &run[i], "wheel", eta_f, eta_b);
      continue;
    }

    // teeth in mesh: friction is zero at the pitch point. Two pairs share the load where their
    // friction is largest, so the loss is below that of averaged coefficients
    double in, out;
    mjg_effWork(&in, &out, &run[i], "wheel", 1);
    double low = mjg_lowest(&run[i], "friction_wheel", 0.6, 1 - 1e-3);
    double high = mjg_highest(&run[i], "friction_wheel", 0.6, 1 - 1e-3);
    mjg_claim(claims, low >= 0 && low < 0.3 * high && out / in > eta_f && fabs(out / in / eta_f - 1) < 0.01,
              "%s, driving: friction follows the teeth, %.4f to %.4f N m, mean efficiency %.6f, of the averaged "
              "coefficients %.6f",
              run[i].variant->name, low, high, out / in, eta_f);
  }
}

mjgSCENE(SpurDrive, "spur-drive", "efficiency/spur.xml", mjgEFF_DURATION,
         "a pair of spur gears drives and is driven: efficiency, and torque with the teeth",
         "A pair of spur gears drives a load, and then the load drives the gears.", .moment = 0.9, mjgCASES(spurCase),
         .input = input, .column = "load", .measure = measure, .claims = claims);
