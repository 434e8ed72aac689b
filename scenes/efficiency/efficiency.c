// A gear lifts a load at constant speed, rests with its motor off, and lowers it: its efficiency in both directions from
// the work at input and output. A lead screw from oiled to dry, a worm with a rope, and a pair of spur gears.

#include "../helpers.h"

// schedule: up, motor off, down
#define OFF    1.0  // s
#define DOWN   2.0
#define END    3.0
#define STEADY 0.4  // steady motion at the end of each phase, s

#define DEGREE (mjPI / 180)

// torque of a motor that keeps the joint at the speed of the schedule, 0 while it is off
static double motor(double time, double v, double speed, double gain) {
  return mjg_reached(time, DOWN) ? gain * (-speed - v) : mjg_reached(time, OFF) ? 0 : gain * (speed - v);
}

// work of the motor and work on the load while the joint moves steadily, up or down: the load has the torque of column
// "load"
static void work(double* in, double* out, const mjgTrajectory* run, const char* joint, int up) {
  char name[mjgMAXNAME];
  snprintf(name, sizeof name, "q_%.32s", joint);
  int load = mjg_column(run, "load"), q = mjg_column(run, name), motor_torque = q + 2;  // behind q and v
  double end = up ? OFF : END;
  *in = *out = 0;
  for (int i = 0; i + 1 < run->nrow; i++) {
    const double* row = mjg_row(run, i);
    if (mjg_within(row[0], end - STEADY, end)) {
      double way = row[run->ncolumn + q] - row[q];
      *in += row[motor_torque] * way;
      *out += row[load] * way;
    }
  }
}

// claims of one case: efficiency in both directions to 0.1 %, and whether it stands still with the motor off; eta_f and
// eta_b are those of theory
static void claimCase(mjgClaims* claims, const mjgTrajectory* run, const char* joint, double eta_f, double eta_b) {
  const char* name = run->variant->name;
  double in, out;
  work(&in, &out, run, joint, 1);
  double lifting = out / in;
  mjg_claim(claims, out > 0 && fabs(lifting / eta_f - 1) < 1e-3,
            "%s, lifting: %.6g J of the motor's %.6g J arrive, efficiency %.6f, theory %.6f", name, out, in, lifting,
            eta_f);

  // while it sinks the load gives work and the motor takes it, or gives some too
  work(&in, &out, run, joint, 0);
  double lowering = in / out;
  mjg_claim(claims, out < 0 && fabs(lowering / eta_b - 1) < 1e-3,
            "%s, lowering: of the load's %.6g J %.6g J arrive at the motor, efficiency %.6f, theory %.6f", name, -out,
            -in, lowering, eta_b);

  // with the motor off it stands, once it has come to rest, or falls
  char v_name[mjgMAXNAME];
  snprintf(v_name, sizeof(v_name), "v_%.32s", joint);
  double v = mjg_at(run, v_name, DOWN - 0.005);
  mjg_claim(claims, eta_b <= 0 ? v == 0 : v < 0, "%s, motor off: %s, %g per s", name,
            eta_b <= 0 ? "stands still" : "sinks", v);
}

//---------------------------------- lead screw ----------------------------------------------------

#define MU parameter[0]

static const mjgCase liftCase[] = {
    {"mu=0.15", "screw.mu=0.15", {0.15}},
    {"mu=0.01", "screw.mu=0.01", {0.01}},
    {"mu=0.05", "screw.mu=0.05", {0.05}},
    {"mu=0.3", "screw.mu=0.3", {0.3}},
};

// 50 kg at 0.05 m/s
static void liftInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = motor(d->time, d->qvel[0], 0.05, 2e6);
}

static void liftMeasure(double* value, const mjModel* m, const mjData* d) { value[0] = -m->opt.gravity[2] * 50; }

// textbook: tan(l)/tan(l + rho) and tan(l - rho)/tan(l), with a lead of 4 mm, 18 mm of diameter and flanks of 15 degrees
static void liftClaims(mjgClaims* claims, const mjgTrajectory* run) {
  double slope = 0.004 / (mjPI * 0.018), angle = atan(slope);
  for (int i = 0; i < mjgCOUNT(liftCase); i++) {
    double rho = atan(run[i].variant->MU / cos(15.0 * mjPI / 180));
    claimCase(claims, &run[i], "nut", slope / tan(angle + rho), tan(angle - rho) / slope);
  }
}

mjgSCENE(ScrewLift, "screw-lift", "efficiency/lift.xml", END,
         "A lead screw lifts and lowers 50 kg with the efficiency that the formulas give.", .moment = 0.9,
         mjgCASES(liftCase), .input = liftInput, .column = "load", .measure = liftMeasure, .claims = liftClaims);

//---------------------------------- worm ----------------------------------------------------------

#define ANGLE parameter[1]  // lead angle, rad

static const mjgCase hoistCase[] = {
    {"single-start", "worm.lead_angle=0.08726646259971647; worm.mu=0.1", {0.1, 0.08726646259971647}},
    {"four-start", "worm.lead_angle=0.3490658503988659; worm.mu=0.05", {0.05, 0.3490658503988659}},
    {"four-start-dry", "worm.lead_angle=0.3490658503988659; worm.mu=0.2", {0.2, 0.3490658503988659}},
};

static void hoistInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = motor(d->time, d->qvel[0], 2, 2e3);
}

// force of the rope with 20 kg on a drum of 0.1 m
static void hoistMeasure(double* value, const mjModel* m, const mjData* d) {
  value[0] = -m->opt.gravity[2] * 20 * 0.1;
  value[1] = d->ten_length[0];
}

// flanks of 20 degrees
static void hoistClaims(mjgClaims* claims, const mjgTrajectory* run) {
  for (int i = 0; i < mjgCOUNT(hoistCase); i++) {
    double angle = run[i].variant->ANGLE, rho = atan(run[i].variant->MU / cos(20 * DEGREE));
    claimCase(claims, &run[i], "drum", tan(angle) / tan(angle + rho), tan(angle - rho) / tan(angle));
  }
}

mjgSCENE(WormHoist, "worm-hoist", "efficiency/hoist.xml", END,
         "A worm gear hoists 20 kg, and holds them with the motor off.", .moment = 0.5, mjgCASES(hoistCase),
         .input = hoistInput, .column = "load rope", .measure = hoistMeasure, .claims = hoistClaims);

//---------------------------------- spur gears ----------------------------------------------------

#define RADIUS_IN 0.02
#define RADIUS    0.04  // of the output gear, m
#define MODULE    0.002
#define PRESSURE  (20 * mjPI / 180)
#define LOAD      10.0  // N m
#define MESH      parameter[1]

// coefficients averaged over the mesh, and following it
static const mjgCase spurCase[] = {
    {"mean", "spur.mu=0.1; spur.mesh=0", {0.1, 0}},
    {"mean-dry", "spur.mu=0.3; spur.mesh=0", {0.3, 0}},
    {"mesh", "spur.mu=0.1; spur.mesh=1", {0.1, 1}},
};

// 40 teeth in 0.4 s, so that the steady phase has whole mesh cycles
static void spurInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = motor(d->time, d->qvel[0], 2 * mjPI / 0.4, 20);
  d->qfrc_applied[0] = -LOAD;
}

static void spurMeasure(double* value, const mjModel* m, const mjData* d) { value[0] = LOAD; }

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

static void spurClaims(mjgClaims* claims, const mjgTrajectory* run) {
  for (int i = 0; i < mjgCOUNT(spurCase); i++) {
    double eta_f, eta_b;
    theory(&eta_f, &eta_b, run[i].variant->MU);
    if (run[i].variant->MESH == 0) {
      claimCase(claims, &run[i], "wheel", eta_f, eta_b);
      continue;
    }

    // teeth in mesh: friction is zero at the pitch point. Two pairs share the load where their
    // friction is largest, so the loss is below that of averaged coefficients
    double in, out;
    work(&in, &out, &run[i], "wheel", 1);
    double low = mjg_lowest(&run[i], "friction_wheel", 0.6, 1 - 1e-3);
    double high = mjg_highest(&run[i], "friction_wheel", 0.6, 1 - 1e-3);
    mjg_claim(claims, low >= 0 && low < 0.3 * high && out / in > eta_f && fabs(out / in / eta_f - 1) < 0.01,
              "%s, driving: friction follows the teeth, %.4f to %.4f N m, mean efficiency %.6f, of the averaged "
              "coefficients %.6f",
              run[i].variant->name, low, high, out / in, eta_f);
  }
}

mjgSCENE(SpurDrive, "spur-drive", "efficiency/spur.xml", END,
         "A pair of spur gears drives a load, and then the load drives the gears.", .moment = 0.9, mjgCASES(spurCase),
         .input = spurInput, .column = "load", .measure = spurMeasure, .claims = spurClaims);
