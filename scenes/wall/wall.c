// A two-link arm and a wall: Kikuuwe 2022, section 6.2. The paper's wall, a force in proportion to the penetration (Figs. 10
// to 12), a contact of MuJoCo's own, and constant friction in place of the gears.

#include "../helpers.h"
#include "mjgear_paper.h"

#define ROTOR     1.0  // rotor inertia at the output side of each joint, kg m2
#define VISCOSITY 5.0  // of each joint, N m s/rad

//---------------------------------- the arm ---------------------------------------------------------

// links of length 1 m with 1 kg at the end; their own inertia is small and positive, as MuJoCo
// requires
#define INERTIA 1e-12

// matrix of inertia, without rotors
static void armInertia(double M[4], const double q[2]) {
  double c = cos(q[1]);
  M[0] = 3 + 2 * c + 2 * INERTIA;
  M[1] = M[2] = 1 + c + INERTIA;
  M[3] = 1 + INERTIA;
}

// C(q, v) v
static void armBias(double bias[2], const double q[2], const double v[2]) {
  double s = sin(q[1]);
  bias[0] = -s * v[1] * (2 * v[0] + v[1]);
  bias[1] = s * v[0] * v[0];
}

// x coordinate of the tip and its derivative with respect to q
static double armTip(double J[2], const double q[2]) {
  J[1] = -sin(q[0] + q[1]);
  J[0] = -sin(q[0]) + J[1];
  return cos(q[0]) + cos(q[0] + q[1]);
}

// velocity after one implicit step of the core, algorithm (69), in place; Mhat includes the rotors
static int armStep(double v[2], const double Mhat[4], const double tau_u[2], const double tau_v[2], double gamma_u,
                   const double gamma_v[2], double h) {
  const double rotor[2] = {ROTOR, ROTOR};
  const double both[2] = {gamma_u, gamma_u};
  const mjgJoints joints = {both, gamma_v, rotor};
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  settings.solver = mjgENUMERATION;
  double memory[1024], next[2] = {0};
  mjgWorkspace* work = mjg_create(memory, sizeof memory, 2, 2);
  int status = mjg_step(next, NULL, NULL, Mhat, tau_u, tau_v, v, &joints, h, 2, &settings, work);
  v[0] = next[0];
  v[1] = next[1];
  return status;
}

// velocity v+ = start - A t after a step that began with v, and the friction t in it; A (row-major) is the effect of
// friction on velocity
static int armFriction(double next[2], double t[2], const double start[2], const double A[4], const double v[2],
                       const double tau_u[2], double gamma_u, const double gamma_v[2], double h) {
  // the internal force as the header of the core defines it: lambda = phi + ([alpha] A - [gamma_v]) t
  double phi[2], alpha[2];
  for (int i = 0; i < 2; i++) {
    double sum = gamma_u + gamma_v[i];
    phi[i] = sum * (tau_u[i] - ROTOR * (start[i] - v[i]) / h);
    alpha[i] = sum * ROTOR / h;
  }
  const mjgProblem problem = {.n = 2, .v = start, .A = A, .phi = phi, .alpha = alpha, .beta = gamma_v, .v0 = v};
  return mjg_enumerate(t, next, &problem);
}

//---------------------------------- cases, schedule, claims -----------------------------------------

#define GAMMA_U  0.1
#define DURATION 3.0  // s

// parameters of a case
#define GAMMA_V(variant)  ((variant)->parameter)     // of both joints
#define IMPLICIT(variant) ((variant)->parameter[2])  // viscosity: 0 explicit, 1 implicit

// name, setting and parameters of a case; damping is "" or implicit
#define CASE(g0, g1, implicit, suffix, damping) \
  "gamma_v=" #g0 "," #g1 suffix, "gear.gamma_v=" #g0 " " #g1 damping, { g0, g1, implicit }

// the five cases of the paper, without and with implicit damping; claims expect them in this order
#define FIVE(...)                                                                              \
  {CASE(0.1, 0.1, __VA_ARGS__)}, {CASE(0.6, 0.6, __VA_ARGS__)}, {CASE(1.1, 1.1, __VA_ARGS__)}, \
      {CASE(0.1, 1.1, __VA_ARGS__)}, {                                                         \
    CASE(1.1, 0.1, __VA_ARGS__)                                                                \
  }
#define CASES FIVE(0, "", ""), FIVE(1, "-implicit", "; flag.eulerdamp=enable")

// columns of tip and wall; fx, the force from the wall, is measured by each scene
#define COLUMNS "px=site:tip.x py=site:tip.y wx=body:wall.x fx"

// the paper's cases in the order of the table above
enum { LOW, MIDDLE, HIGH, ELBOW_LOCKED, SHOULDER_LOCKED, NPAPER };

// pushing force of the motors at the tip in x direction, and place of the wall
static double wallPush(double time) {
  return mjg_reached(time, 2.5) ? -500 : mjg_reached(time, 2.0) ? 0 : mjg_reached(time, 0.5) ? 500 : 0;
}

static double wallPosition(double time) {
  const double before = 1.37, after = 1.12;
  return !mjg_reached(time, 1.0)  ? before
         : mjg_reached(time, 1.5) ? after
                                  : ((1.5 - time) * before + (time - 1) * after) / 0.5;
}

// set the push and move the wall
static void schedule(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = wallPush(d->time);
  d->mocap_pos[0] = wallPosition(d->time);
}

static void wallClaims(mjgClaims* claims, const mjgTrajectory* run) {
  // both gears are self-locking: the wall cannot push the arm back, and the arm keeps pressing
  const mjgTrajectory* locked = &run[HIGH];
  double fastest = fmax(mjg_size(&run[HIGH], "v_shoulder", 1.0, 1.5), mjg_size(&run[HIGH], "v_elbow", 1.0, 1.5));
  mjg_claim(claims, fastest == 0,
            "gamma_v = [1.1, 1.1]: the moving wall does not move the arm from 1.0 to 1.5 s: largest speed %g rad/s",
            fastest);
  double pushed = -mjg_at(locked, "fx", 1.95), kept = -mjg_highest(locked, "fx", 2.0, 2.499);
  mjg_claim(claims, kept > 0.999 * pushed && pushed > 500,
            "it keeps its force after the push ends: %.2f N at 1.95 s, at least %.2f N from 2.0 to 2.5 s", pushed,
            kept);

  // one gear locks
  fastest = mjg_size(&run[ELBOW_LOCKED], "v_elbow", 1.0, 1.5);
  double turned = mjg_swing(&run[ELBOW_LOCKED], "q_shoulder", 1.0, 1.5);
  mjg_claim(claims, fastest == 0 && turned > 0.01,
            "gamma_v = [0.1, 1.1]: the elbow is exactly still (%g rad/s) while the wall turns the shoulder by %.4f rad",
            fastest, turned);
  fastest = mjg_size(&run[SHOULDER_LOCKED], "v_shoulder", 1.0, 1.5);
  turned = mjg_swing(&run[SHOULDER_LOCKED], "q_elbow", 1.0, 1.5);
  mjg_claim(claims, fastest == 0 && turned > 0.01,
            "gamma_v = [1.1, 0.1]: the shoulder is exactly still (%g rad/s) while the wall turns the elbow by %.4f rad",
            fastest, turned);

  // the more friction, the more force the wall needs
  double force[3];
  for (int i = 0; i < 3; i++) {
    force[i] = -mjg_lowest(&run[LOW + i], "fx", 1.0, 2.0);
  }
  mjg_claim(claims, force[LOW] < force[MIDDLE] && force[MIDDLE] < force[HIGH],
            "a larger gamma_v gives a larger contact force from 1 to 2 s: largest %.1f < %.1f < %.1f N", force[LOW],
            force[MIDDLE], force[HIGH]);

  // the motors pull any of them off
  for (int i = 0; i < NPAPER; i++) {
    const mjgTrajectory* t = &run[i];
    double gap = mjg_at(t, "wx", 2.999) - mjg_at(t, "px", 2.999), last = mjg_at(t, "fx", 2.999);
    mjg_claim(claims, gap > 0.01 && last == 0, "%s comes off when it is pulled: %.4f m from the wall at the end",
              run[i].variant->name, gap);
  }
}

//---------------------------------- the paper's wall ------------------------------------------------

static const mjgCase wallCase[] = {
    CASES,
};

// force of the wall in x direction on a tip at px
static double wallForce(double px, double time) { return -1e4 * fmax(px - wallPosition(time), 0); }

// the tip is the centre of mass of the lower link, where xfrc_applied acts
static void wallInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  schedule(m, d, variant);
  mj_kinematics(m, d);
  int tip = mj_name2id(m, mjOBJ_SITE, "tip"), body = mj_name2id(m, mjOBJ_BODY, "lower");
  d->xfrc_applied[6 * body] = wallForce(d->site_xpos[3 * tip], d->time);
}

static void wallMeasure(double* value, const mjModel* m, const mjData* d) {
  value[3] = d->xfrc_applied[6 * mj_name2id(m, mjOBJ_BODY, "lower")];
}

// algorithm (69)
static int wallReference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) {
  double h = m->opt.timestep, J[2], Mhat[4], tau_u[2], tau_v[2];

  // forces at the beginning of the step
  double px = armTip(J, q), push = wallPush(time), wall = wallForce(px, time);
  armInertia(Mhat, q);
  armBias(tau_v, q, v);
  for (int i = 0; i < 2; i++) {
    tau_u[i] = J[i] * push;
    tau_v[i] += VISCOSITY * v[i] - J[i] * wall;
    Mhat[3 * i] += ROTOR + IMPLICIT(variant) * h * VISCOSITY;
  }

  int status = armStep(v, Mhat, tau_u, tau_v, GAMMA_U, GAMMA_V(variant), h);
  for (int i = 0; i < 2; i++) {
    q[i] += h * v[i];
  }
  return status;
}

mjgSCENE(Wall, "wall", "wall/wall.xml", DURATION,
         "An arm has been pushed into an elastic wall, and stays there after the push.", .shown = "gamma_v=1.1,1.1",
         .moment = 0.62, mjgCASES(wallCase), .input = wallInput, .column = COLUMNS, .measure = wallMeasure,
         .reference = wallReference, .tolerance = 1e-9, .claims = wallClaims);

//---------------------------------- a contact of MuJoCo's own ---------------------------------------

// minus as the paper has it
static void contactMeasure(double* value, const mjModel* m, const mjData* d) {
  value[3] = 0 - mjg_contact(m, d, NULL, NULL);
}

// x = M^-1 y, M symmetric
static void solve2(double x[2], const double M[4], const double y[2]) {
  double det = M[0] * M[3] - M[1] * M[2], x0 = (M[3] * y[0] - M[1] * y[1]) / det;
  x[1] = (M[0] * y[1] - M[2] * y[0]) / det;
  x[0] = x0;
}

// friction with one frictionless contact in MuJoCo's soft law, f = D max(0, r + J a). The engine
// finds the contact force from the acceleration without damping, a = M^-1 (s - t - J' f), with the
// forces s of motors and motion, and then takes the step with Mhat = M + h B if damping is implicit:
//
//   f  = k (r + J M^-1 (s - t)),  k = D/(1 + D J M^-1 J') while it presses, otherwise 0
//   v+ = v + h Mhat^-1 (s - t - J' f) = v* - A t
//
// Whether it presses is decided by trying.
static int contactReference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) {
  const double* gamma_v = GAMMA_V(variant);
  double h = m->opt.timestep, J[2], M[4], Mhat[4], s[2], tau_u[2];
  double penetration = armTip(J, q) - wallPosition(time);
  armInertia(M, q);
  armBias(s, q, v);
  for (int i = 0; i < 2; i++) {
    tau_u[i] = J[i] * wallPush(time);
    s[i] = tau_u[i] - s[i] - VISCOSITY * v[i];
    M[3 * i] += ROTOR;
    Mhat[3 * i] = M[3 * i] + IMPLICIT(variant) * h * VISCOSITY;
    Mhat[1 + i] = M[1 + i];
  }

  // impedance d is constant: D = d/((1 - d) w), k = -solref/d
  double w = m->body_invweight0[2 * mj_name2id(m, mjOBJ_BODY, "lower")], d = m->pair_solimp[0];
  double D = d / ((1 - d) * w), r = -m->pair_solref[0] / d * penetration;

  int status = -1;
  double t[2] = {0}, next[2] = {0}, MJ[2], Ms[2];
  solve2(MJ, M, J);
  solve2(Ms, M, s);
  for (int press = penetration >= 0; press >= 0; press--) {
    double k = press * D / (1 + D * (J[0] * MJ[0] + J[1] * MJ[1]));
    double free_force = k * (r + J[0] * Ms[0] + J[1] * Ms[1]);
    double A[4], start[2], push[2] = {s[0] - J[0] * free_force, s[1] - J[1] * free_force};
    solve2(start, Mhat, push);
    for (int j = 0; j < 2; j++) {
      double column[2] = {(j == 0) - J[0] * k * MJ[j], (j == 1) - J[1] * k * MJ[j]};
      solve2(column, Mhat, column);
      A[j] = h * column[0];
      A[2 + j] = h * column[1];
      start[j] = v[j] + h * start[j];
    }
    status = armFriction(next, t, start, A, v, tau_u, GAMMA_U, gamma_v, h);
    double force = free_force - k * (MJ[0] * t[0] + MJ[1] * t[1]);
    if (status < 0 || force >= 0) {
      break;
    }
  }
  for (int i = 0; i < 2; i++) {
    v[i] = next[i];
    q[i] += h * v[i];
  }
  return status;
}

mjgSCENE(WallContact, "wall-contact", "wall/contact.xml", DURATION,
         "The same arm with a contact of MuJoCo in place of the paper's spring. Friction and contact force are solved "
         "together.",
         .shown = "gamma_v=1.1,1.1", .moment = 0.62, mjgCASES(wallCase), .input = schedule, .column = COLUMNS,
         .measure = contactMeasure, .reference = contactReference, .tolerance = 1e-9, .claims = wallClaims);

//---------------------------------- constant friction -----------------------------------------------

// frictionloss of both joints, N m
#define FRICTION parameter[3]

#define IDEAL "gear.gamma_u=0; gear.gamma_v=0; flag.eulerdamp=enable"

static const mjgCase constantCase[] = {{CASE(1.1, 1.1, 1, "", "; flag.eulerdamp=enable")},
                                       {"frictionloss=100", IDEAL, {0, 0, 1, 100}},
                                       {"frictionloss=4000", IDEAL, {0, 0, 1, 4000}}};

enum { GEAR, SMALL, LARGE };

static void configure(mjModel* m, const mjgCase* variant) {
  for (int i = 0; i < 2; i++) {
    m->dof_frictionloss[i] = variant->FRICTION;

    // as hard as the engine allows, so that it creeps little
    m->dof_solref[mjNREF * i] = 2 * m->opt.timestep;
    m->dof_solimp[mjNIMP * i] = m->dof_solimp[mjNIMP * i + 1] = 0.9999;
  }
}

static void constantClaims(mjgClaims* claims, const mjgTrajectory* run) {
  double kept[3], gap[3];
  for (int i = 0; i < 3; i++) {
    const mjgTrajectory* t = &run[i];
    kept[i] = -mjg_at(t, "fx", 2.45);
    gap[i] = mjg_at(t, "wx", 2.999) - mjg_at(t, "px", 2.999);
  }
  mjg_claim(
      claims, kept[GEAR] > 500 && gap[GEAR] > 0.01,
      "gears: the motors push with 500 N, the arm keeps %.0f N without them, and they pull it off by %.3f m with 500 N",
      kept[GEAR], gap[GEAR]);
  mjg_claim(claims, kept[SMALL] < 0.5 * kept[GEAR] && gap[SMALL] > 0.01,
            "constant friction of 100 N m: they pull it off by %.3f m, and it keeps %.0f N, not %.0f", gap[SMALL],
            kept[SMALL], kept[GEAR]);
  mjg_claim(claims, kept[LARGE] > 0.5 * kept[GEAR] && gap[LARGE] < 0.01,
            "constant friction of 4000 N m: it keeps %.0f N, and they cannot pull it off: %.4f m", kept[LARGE],
            gap[LARGE]);
}

mjgSCENE(WallConstant, "wall-constant", "wall/contact.xml", DURATION,
         "Constant friction in place of the gears of the arm. A small constant does not keep the contact force, and "
         "with a large one the motors cannot pull the arm off (Kikuuwe, 6.2).",
         .beside = "all", .joint = "elbow", mjgCASES(constantCase), .configure = configure, .input = schedule,
         .column = COLUMNS, .measure = contactMeasure, .claims = constantClaims);
