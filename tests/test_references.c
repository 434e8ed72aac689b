// References that others wrote: Modelica's examples with losses, and closed forms of mechanics, each for
// many drawn sets of parameters, in the core and in the engine. The integration that they are compared with
// follows the balance of forces in fine steps and shares no code with the core.
//
// Modelica Standard Library, Modelica.Mechanics.Rotational.Examples (BSD licence): parameters and behaviour
// of LossyGearDemo1 to 3, of Backlash and of CoupledClutches; none of its code.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <mujoco/mujoco.h>

#include "mjgear.h"
#include "mjgear_backlash.h"
#include "mjgear_params.h"
#include "plugin_models.h"

#define PI    3.14159265358979323846
#define DRAWN 50


//---------------------------------- drawing -------------------------------------------------------

static uint64_t seed = 1;

// uniform in [low, high]
static double draw(double low, double high) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}


//---------------------------------- one gear between two inertias ---------------------------------

// all at the output side
typedef struct Drive_ {
  double m, M;              // rotor and link, kg m2
  double eta_f, eta_b;      // efficiencies
  double coulomb;           // friction besides, N m
  double amplitude, omega;  // motor torque amplitude sin(omega t)
  double load, slope;       // load torque load + slope t, against the motor's positive direction
  double v;                 // velocity at the start
} Drive;


static double motorOf(const Drive* d, double t) {
  return d->amplitude * sin(d->omega * t);
}


static double loadOf(const Drive* d, double t) {
  return d->load + d->slope * t;
}


// gamma_u and gamma_v by (27), solved here once more
static void gammas(double* gamma_u, double* gamma_v, const Drive* d) {
  double both = d->eta_f * d->eta_b;
  *gamma_u = (1 - 2 * d->eta_f + both) / (1 - both);
  *gamma_v = (1 - 2 * d->eta_b + both) / (1 - both);
}


// acceleration while it slips with sign s: driving delivers eta_f u - .. to the link, being driven
// passes u = eta_b x + ..; the one that is consistent with its own sign
static double slip(const Drive* d, double u, double f, double s) {
  double gamma_u, gamma_v;
  gammas(&gamma_u, &gamma_v, d);
  double g = gamma_u + gamma_v;
  for (int r = 1; r >= -1; r -= 2) {
    // t = s (r lambda + c), lambda = g (u - m a) - gamma_v t, (m + M) a = u - f - t
    double k = 1 + gamma_v * s * r;
    double left = d->m + d->M - s * r * g * d->m / k;
    double right = u - f - s * d->coulomb - s * r * (g * u - gamma_v * s * d->coulomb) / k;
    double a = right / left;
    double lambda = (g * (u - d->m * a) - gamma_v * s * d->coulomb) / k;
    if (r * lambda >= -1e-12) {
      return a;
    }
  }
  return NAN;
}


// whether it rests: |u - f| <= |lambda| + c with lambda = g u - gamma_v (u - f)
static int rests(const Drive* d, double u, double f) {
  double gamma_u, gamma_v;
  gammas(&gamma_u, &gamma_v, d);
  return fabs(u - f) <= fabs(gamma_u * u + gamma_v * f) + d->coulomb;
}


// advance velocity and angle by fine steps to a time; times of the events are appended
static void fine(double* v, double* q, double* t, const Drive* d, double until, double dt,
                 double event[], int* nevent, int max) {
  while (*t < until - 0.5 * dt) {
    double u = motorOf(d, *t), f = loadOf(d, *t), old = *v;
    if (*v == 0) {
      if (!rests(d, u, f)) {
        double a = slip(d, u, f, u - f > 0 ? 1 : -1);
        *v = dt * a;
      }
    } else {
      double s = *v > 0 ? 1 : -1;
      double a = slip(d, u, f, s);
      double b = slip(d, motorOf(d, *t + dt), loadOf(d, *t + dt), s);
      *v += 0.5 * dt * (a + b);
      *v = *v * s < 0 ? 0 : *v;
    }
    if (event && (old == 0) != (*v == 0) && *nevent < max) {
      event[(*nevent)++] = *t + (old == 0 ? 0 : dt);
    }
    *q += 0.5 * dt * (old + *v);
    *t += dt;
  }
}


// the same by the core, one step; motor and load at its middle
static void coreStep(double* v, double* q, const Drive* d, double t, double h) {
  double gamma_u, gamma_v;
  assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, d->eta_f, d->eta_b), 0);
  double u = motorOf(d, t + 0.5 * h), f = loadOf(d, t + 0.5 * h);
  double A = h / (d->m + d->M), free = *v + A * (u - f), g = gamma_u + gamma_v, t_ = 0, next = 0,
         lambda;
  double phi = g * (u - d->m * (u - f) / (d->m + d->M)), alpha = g * d->m / h;
  int mode;
  const mjgProblem problem = {.n = 1,
                              .v = &free,
                              .A = &A,
                              .phi = &phi,
                              .alpha = &alpha,
                              .beta = &gamma_v,
                              .coulomb = &d->coulomb};
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  double memory[1024];
  mjgSolution solution = {&t_, &next, &lambda, &mode};
  mjgWorkspace* work = mjg_create(memory, sizeof memory, 1, 1);
  assert_true(mjg_solve(&solution, NULL, &problem, &settings, work) >= 0);
  *v = next;
  *q += h * next;
}


#define DRIVE_MODEL                                                                           \
  "<mujoco><option timestep='%.17g' gravity='0 0 0'/>"                                        \
  "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"                       \
  "<config key='joint' value='j'/><config key='eta_forward' value='%.17g'/>"                  \
  "<config key='eta_backward' value='%.17g'/><config key='coulomb' value='%.17g'/>"           \
  "</instance></plugin></extension><worldbody><body><joint name='j' axis='0 0 1' "            \
  "armature='%.17g'/><inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g %.17g'/></body>" \
  "</worldbody><actuator><motor joint='j'/></actuator></mujoco>"

// mean difference of velocity over time between a run in steps h, of the core or of the engine, and the
// fine steps, per largest velocity
static double difference(const Drive* d, double h, double end, int engine) {
  double v = d->v, q = 0, fine_v = d->v, fine_q = 0, fine_t = 0, sum = 0, most = 1e-9;
  mjModel* m = NULL;
  mjData* data = NULL;
  if (engine) {
    m = makeModel(DRIVE_MODEL, h, d->eta_f, d->eta_b, d->coulomb, d->m, d->M, d->M, d->M);
    data = mj_makeData(m);
    data->qvel[0] = d->v;
  }
  int n = (int)lround(end / h);
  for (int i = 0; i < n; i++) {
    if (engine) {
      data->ctrl[0] = motorOf(d, (i + 0.5) * h);
      data->qfrc_applied[0] = -loadOf(d, (i + 0.5) * h);
      mj_step(m, data);
      v = data->qvel[0];
    } else {
      coreStep(&v, &q, d, i * h, h);
    }
    fine(&fine_v, &fine_q, &fine_t, d, (i + 1) * h, 1e-5, NULL, NULL, 0);
    sum += fabs(v - fine_v);
    most = fmax(most, fabs(fine_v));
  }
  mj_deleteData(data);
  mj_deleteModel(m);
  return sum / n / most;
}


// drawn drives: the difference is small and falls with the step
static void compareDrawn(Drive (*drawn)(void)) {
  double coarse[2] = {0}, half[2] = {0};
  for (int i = 0; i < DRAWN; i++) {
    Drive d = drawn();
    for (int engine = 0; engine < 2; engine++) {
      double a = difference(&d, 1e-3, 0.6, engine), b = difference(&d, 5e-4, 0.6, engine);
      assert_true(a < 0.01);
      coarse[engine] += a;
      half[engine] += b;
    }
  }
  for (int engine = 0; engine < 2; engine++) {
    assert_true(half[engine] < 0.6 * coarse[engine]);
  }
}


//---------------------------------- LossyGear -----------------------------------------------------

// ratio 2, efficiency 0.5 both ways, J1 = 1, J2 = 1.5 kg m2, 10 N m at 1 Hz against -10 + 2.5 t N m
static void lossyGearDemo1(void** state) {
  (void)state;
  const Drive demo = {.m = 4,
                      .M = 1.5,
                      .eta_f = 0.5,
                      .eta_b = 0.5,
                      .amplitude = 20,
                      .omega = 2 * PI,
                      .load = 10,
                      .slope = -2.5};
  const double modelica[] = {0.080477, 0.199520, 0.371343, 0.464539};
  double v = 0, q = 0, t = 0, event[8];
  int n = 0;
  fine(&v, &q, &t, &demo, 0.5, 1e-6, event, &n, 8);

  // the first event is the start
  assert_int_equal(n, 5);
  for (int i = 0; i < 4; i++) {
    assert_true(fabs(event[1 + i] - modelica[i]) < 5e-6);
  }

  // core and engine find the same times within a step
  for (int engine = 0; engine < 2; engine++) {
    const double h = 1e-4;
    mjModel* m =
        makeModel(DRIVE_MODEL, h, demo.eta_f, demo.eta_b, 0.0, demo.m, demo.M, demo.M, demo.M);
    mjData* d = mj_makeData(m);
    double velocity = 0, angle = 0;
    n = 0;
    for (int i = 0; i < 5000; i++) {
      double old = velocity;
      if (engine) {
        d->ctrl[0] = motorOf(&demo, (i + 0.5) * h);
        d->qfrc_applied[0] = -loadOf(&demo, (i + 0.5) * h);
        mj_step(m, d);
        velocity = d->qvel[0];
      } else {
        coreStep(&velocity, &angle, &demo, i * h, h);
      }
      if ((old == 0) != (velocity == 0) && n < 8) {
        event[n++] = (i + 1) * h;
      }
    }
    assert_int_equal(n, 5);
    for (int i = 0; i < 4; i++) {
      assert_true(fabs(event[1 + i] - modelica[i]) < 2.5 * h);
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// the same with drawn numbers
static Drive drawDemo1(void) {
  double eta_f = draw(0.3, 0.95), ratio = draw(1, 4);
  return (Drive){.m = ratio * ratio * draw(0.2, 2),
                 .M = draw(0.5, 3),
                 .eta_f = eta_f,
                 .eta_b = draw(0.2, 0.95),
                 .amplitude = ratio * draw(5, 15),
                 .omega = 2 * PI * draw(0.5, 4),
                 .load = draw(-12, 12),
                 .slope = draw(-5, 5)};
}


// friction of bearings besides
static Drive drawDemo2(void) {
  Drive d = drawDemo1();
  d.coulomb = draw(0.1, 3);
  return d;
}


// without motor, from 10 rad/s on, until a load comes: which side drives is not obvious
static Drive drawDemo3(void) {
  double eta = draw(0.2, 0.6);
  return (Drive){.m = draw(0.001, 0.05),
                 .M = draw(0.01, 0.2),
                 .eta_f = eta,
                 .eta_b = draw(0.1, 0.6),
                 .coulomb = draw(0.05, 0.6),
                 .slope = draw(-6, 6),
                 .v = draw(3, 10)};
}


static void lossyGearDrawn(void** state) {
  (void)state;
  compareDrawn(drawDemo1);
}


static void lossyGearWithBearings(void** state) {
  (void)state;
  compareDrawn(drawDemo2);
}


static void lossyGearUnclearSide(void** state) {
  (void)state;
  compareDrawn(drawDemo3);
}


//---------------------------------- closed forms of one gear --------------------------------------

// steps until it stands, by the core or in the engine; a load that aids
static double stopTime(const Drive* d, double h, double longest, int engine) {
  double v = d->v, q = 0;
  mjModel* m = NULL;
  mjData* data = NULL;
  if (engine) {
    m = makeModel(DRIVE_MODEL, h, d->eta_f, d->eta_b, 0.0, d->m, d->M, d->M, d->M);
    data = mj_makeData(m);
    data->qvel[0] = d->v;
  }
  int i = 0;
  for (; i * h < longest && v != 0; i++) {
    if (engine) {
      data->qfrc_applied[0] = -loadOf(d, i * h);
      mj_step(m, data);
      v = data->qvel[0];
    } else {
      coreStep(&v, &q, d, i * h, h);
    }
  }
  mj_deleteData(data);
  mj_deleteModel(m);
  return i * h;
}


// a gear that cannot be driven back, motor off, under an aiding load F: it stops after
// v0 (m/|eta_b| - M)/F if m > |eta_b| M, else it wedges and stops at once
static void brakesItself(void** state) {
  (void)state;
  int wedged = 0, braked = 0;
  for (int i = 0; i < 2 * DRAWN; i++) {
    double eta_b = -draw(0.05, 1);
    Drive d = {.m = draw(0.01, 2),
               .M = draw(0.05, 2),
               .eta_f = draw(0.2, 0.5),
               .eta_b = eta_b,
               .load = draw(1, 20),
               .v = -draw(0.5, 3)};
    double left = d.m / -eta_b - d.M;
    if (fabs(left) < 0.02 * d.M) {
      continue;
    }
    double expected = left > 0 ? -d.v * left / d.load : 0, h = 1e-3;
    for (int engine = 0; engine < 2; engine++) {
      double found = stopTime(&d, h, expected + 1, engine);
      assert_true(fabs(found - expected) < 1.01 * h);
    }
    *(left > 0 ? &braked : &wedged) += 1;
  }
  assert_true(braked > 20 && wedged > 20);
}


// lifting and lowering a weight once costs W (1/eta_f - eta_b): the torques that keep it in motion
static void liftsAndLowers(void** state) {
  (void)state;
  for (int i = 0; i < DRAWN; i++) {
    Drive d = {.m = draw(0.1, 2), .M = draw(0.1, 2), .eta_f = draw(0.2, 0.95), .load = draw(1, 20)};
    d.eta_b = draw(-0.5, 0.95);
    if (d.eta_b < 0 && d.m < 1.05 * -d.eta_b * d.M) {
      d.m = 1.1 * -d.eta_b * d.M;  // else it wedges on its way down
    }
    double speed = draw(0.2, 2), h = 1e-3, gamma_u, gamma_v, work = 0;
    assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, d.eta_f, d.eta_b), 0);
    mjModel* m = makeModel(DRIVE_MODEL, h, d.eta_f, d.eta_b, 0.0, d.m, d.M, d.M, d.M);
    mjData* data = mj_makeData(m);
    for (int s = 1; s >= -1; s -= 2) {
      double u = s > 0 ? d.load / d.eta_f : d.eta_b * d.load, v = s * speed;
      data->qvel[0] = v;
      for (int k = 0; k < 200; k++) {
        assert_true(mjg_stepScalar(&v, NULL, v, u, d.load, gamma_u, gamma_v, d.m, d.M, h) >= 0);
        data->ctrl[0] = u;
        data->qfrc_applied[0] = -d.load;
        mj_step(m, data);
        work += u * h * v;
      }
      assert_true(fabs(v - s * speed) < 1e-9 * speed &&
                  fabs(data->qvel[0] - s * speed) < 1e-9 * speed);
    }
    double weight = d.load * 200 * h * speed, expected = weight * (1 / d.eta_f - d.eta_b);
    assert_true(fabs(work - expected) < 1e-9 * fabs(weight));
    mj_deleteData(data);
    mj_deleteModel(m);
  }
}


// a lead screw of inertia I that lowers M without motor wedges if I < M r^2 tan(l) (mu - tan(l))/(1 + mu tan(l))
static void leadScrewStability(void** state) {
  (void)state;
  int wedges = 0, slides = 0;
  for (int i = 0; i < 2 * DRAWN; i++) {
    double angle = draw(0.02, 0.25), mu = tan(angle) + draw(0.02, 0.3), r = draw(0.004, 0.02);
    double M = draw(1, 50),
           limit = M * r * r * tan(angle) * (mu - tan(angle)) / (1 + mu * tan(angle));
    double I = limit * (draw(0, 1) < 0.5 ? draw(0.2, 0.97) : draw(1.03, 5));
    double gamma_u, gamma_v, eta_f, eta_b, kappa = 1 / (r * tan(angle));
    assert_int_equal(mjg_screw(&gamma_u, &gamma_v, angle, 0, mu), 0);
    assert_int_equal(mjg_efficiencies(&eta_f, &eta_b, gamma_u, gamma_v), 0);
    Drive d = {.m = I * kappa * kappa,
               .M = M,
               .eta_f = eta_f,
               .eta_b = eta_b,
               .load = 9.81 * M,
               .v = -0.1};
    for (int engine = 0; engine < 2; engine++) {
      double stop = stopTime(&d, 1e-4, 1, engine);
      assert_true(I < limit ? stop <= 1.01e-4 : stop > 1.01e-4 || d.m / -eta_b - M < 0.01 * M);
    }
    *(I < limit ? &wedges : &slides) += 1;
  }
  assert_true(wedges > 20 && slides > 20);
}


// Bodies with a contact: a slide joint with a gear, and a ball on a slide of its own that hits it or rides on
// it. Contact stiffness k without damping.
#define CONTACT_MODEL                                                                     \
  "<mujoco><option timestep='%.17g' gravity='0 0 %.17g' cone='elliptic'><flag "           \
  "eulerdamp='disable'/></option>"                                                        \
  "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"                   \
  "<config key='joint' value='j'/><config key='eta_forward' value='%.17g'/>"              \
  "<config key='eta_backward' value='%.17g'/></instance></plugin></extension><worldbody>" \
  "<body><joint name='j' type='slide' axis='0 0 1' armature='%.17g'/>"                    \
  "<geom name='plate' type='box' size='1 1 0.1' pos='0 0 -0.1' mass='%.17g'/></body>"     \
  "<body pos='0 0 0.1'><joint name='b' type='slide' axis='0 0 1'/>"                       \
  "<geom name='ball' size='0.1' mass='%.17g'/></body></worldbody>"                        \
  "<contact><pair geom1='plate' geom2='ball' condim='1' solref='%.17g %.17g' "            \
  "solimp='0.9 0.9 0.001'/></contact></mujoco>"


// a body m_b hits the link, motor off: v_link/dv_b = m_b/(M + m/eta_b), whatever the contact's restitution,
// and 0 if the gear cannot be driven back
static void impactThroughGear(void** state) {
  (void)state;
  int locked = 0;
  for (int i = 0; i < DRAWN; i++) {
    double eta_b = i % 5 == 0 ? -draw(0.05, 0.5) : draw(0.1, 0.95), eta_f = draw(0.2, 0.95);
    double m = draw(0.1, 2), M = draw(0.2, 2), ball = draw(0.1, 3), speed = draw(0.2, 2);
    double stiffness = draw(1e4, 1e6), damping = draw(0, 500);
    mjModel* model =
        makeModel(CONTACT_MODEL, 1e-4, 0.0, eta_f, eta_b, m, M, ball, -stiffness, -damping);
    mjData* d = mj_makeData(model);
    d->qvel[1] = -speed;
    d->qpos[1] = 1e-3;

    // until the ball has left again, or the plate runs with it
    double link = 0, change = 0;
    for (int k = 0; k < 4000; k++) {
      mj_step(model, d);
      if (k > 20 && d->ncon == 0 && d->qvel[1] > d->qvel[0] - 1e-9 && d->qpos[1] > d->qpos[0]) {
        break;
      }
    }
    link = d->qvel[0];
    change = d->qvel[1] + speed;
    if (eta_b <= 0) {
      assert_true(link == 0 && change > 0);
      locked++;
    } else {
      double expected = -change * ball / (M + m / eta_b);
      assert_true(change > 0 && fabs(link - expected) < 1e-6 * fabs(expected));
    }
    mj_deleteData(d);
    mj_deleteModel(model);
  }
  assert_true(locked >= 10);
}


// a body rides on the plate of a gear that brakes itself: closed form with M + m_b, until the contact's
// spring, which adds a little motion of its own
static void brakesUnderContact(void** state) {
  (void)state;
  for (int i = 0; i < DRAWN; i++) {
    double eta_b = -draw(0.05, 0.6), M = draw(0.2, 1), ball = draw(0.2, 2), gravity = 9.81;
    double m = -eta_b * (M + ball) * draw(1.3, 4), speed = draw(0.3, 2), h = 2e-4;
    mjModel* model =
        makeModel(CONTACT_MODEL, h, -gravity, draw(0.2, 0.5), eta_b, m, M, ball, -1e6, -2e3);
    mjData* d = mj_makeData(model);
    d->qvel[0] = d->qvel[1] = -speed;
    d->qpos[1] = -0.9 * (gravity + speed * 0) * 1e-6;
    double expected = speed * (m / -eta_b - M - ball) / ((M + ball) * gravity);
    int k = 0;
    for (; k * h < 2 * expected + 0.5 && d->qvel[0] != 0; k++) {
      mj_step(model, d);
    }
    assert_true(fabs(k * h / expected - 1) < 0.02 || fabs(k * h - expected) < 5e-3);

    // and it stays where it is, with the body on it
    double place = d->qpos[0];
    for (k = 0; k < 500; k++) {
      mj_step(model, d);
    }
    assert_true(d->qvel[0] == 0 && d->qpos[0] == place && d->ncon > 0);
    mj_deleteData(d);
    mj_deleteModel(model);
  }
}


//---------------------------------- ElastoBacklash ------------------------------------------------

// two inertias that meet through Modelica's elastic backlash: c, d, total gap b; the damping torque is never
// larger than the spring's
static double elastoTorque(double c, double damping, double b, double phi, double w) {
  double side = phi > 0 ? 1 : -1, z = side * phi - 0.5 * b;
  if (z <= 0) {
    return 0;
  }
  double spring = c * z, damper = damping * side * w;
  return side * (spring + fmin(fmax(damper, -spring), spring));
}


static void elasticBacklash(void** state) {
  (void)state;
  for (int i = 0; i < DRAWN; i++) {
    double J1 = draw(0.5, 5), J2 = draw(0.5, 5), c = draw(1e3, 2e4), b = draw(0.005, 0.05);
    double damping = draw(0, 0.5) * sqrt(c * J1 * J2 / (J1 + J2)), speed = draw(0.5, 3), end = 0.3;

    // own integration
    double y[4] = {0, speed, 0, 0}, dt = 2e-6;
    for (int k = 0; k < (int)lround(end / dt); k++) {
      double middle[2] = {y[0] + 0.5 * dt * y[1], y[2] + 0.5 * dt * y[3]};
      double T = elastoTorque(c, damping, b, middle[0] - middle[1], y[1] - y[3]);
      y[1] -= dt * T / J1;
      y[3] += dt * T / J2;
      y[0] = middle[0] + 0.5 * dt * y[1];
      y[2] = middle[1] + 0.5 * dt * y[3];
    }

    // the core's coupling, and the engine: rotor of its own behind the joint
    const double h = 1e-4;
    const mjgBacklash law = {
        .model = mjgLIMITED_DAMPING, .half_gap = 0.5 * b, .stiffness = c, .damping = damping};
    double v1 = speed, v2 = 0, q1 = 0, q2 = 0, A = h * (1 / J1 + 1 / J2);
    mjModel* m = makeModel(
        "<mujoco><option timestep='%g' gravity='0 0 0'/><extension><plugin "
        "plugin='mjgear.transmission'>"
        "<instance name='g'><config key='joint' value='j'/><config key='motor_joint' "
        "value='r'/><config "
        "key='backlash' value='limited_damping'/><config key='half_gap' value='%.17g'/><config "
        "key='stiffness' value='%.17g'/><config key='damping' "
        "value='%.17g'/></instance></plugin></extension>"
        "<worldbody><body><joint name='r' axis='0 0 1'/><inertial pos='0 0 0' mass='1' "
        "diaginertia='%.17g "
        "%.17g %.17g'/></body><body><joint name='j' axis='0 0 1'/><inertial pos='0 0 0' mass='1' "
        "diaginertia='%.17g %.17g %.17g'/></body></worldbody></mujoco>",
        h, 0.5 * b, c, damping, J1, J1, J1, J2, J2, J2);
    mjData* d = mj_makeData(m);
    d->qvel[0] = speed;
    for (int k = 0; k < (int)lround(end / h); k++) {
      const mjgCoupling coupling = {.law = &law,
                                    .h = h,
                                    .blend = mjg_couplingBlend(&law, A, h),
                                    .theta_d = q1 - q2,
                                    .omega_d = v1 - v2};
      mjgCouplingStep step;
      mjg_couplingResolve(&step, &coupling, v1 - v2, A);
      v1 -= h * step.T / J1;
      v2 += h * step.T / J2;
      q1 += h * v1;
      q2 += h * v2;
      mj_step(m, d);
    }
    assert_true(fabs(v1 - y[1]) < 0.02 * speed && fabs(v2 - y[3]) < 0.02 * speed);
    assert_true(fabs(d->qvel[0] - y[1]) < 0.02 * speed && fabs(d->qvel[1] - y[3]) < 0.02 * speed);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


//---------------------------------- CoupledClutches -----------------------------------------------

#define CLUTCHES 3

// four inertias in a row with three clutches between them that carry at most c: torques of the clutches by
// projected sweeps over the relative velocities, in fine steps
static void fineClutches(double w[CLUTCHES + 1], const double J[CLUTCHES + 1],
                         const double c[CLUTCHES], double amplitude, double omega, double from,
                         double to) {
  const double dt = 1e-4;
  static double impulse[CLUTCHES];
  for (double t = from; t < to - 0.5 * dt; t += dt) {
    w[0] += dt * amplitude * sin(omega * (t + 0.5 * dt)) / J[0];
    for (int k = 0; k < CLUTCHES; k++) {
      w[k] -= impulse[k] / J[k];
      w[k + 1] += impulse[k] / J[k + 1];
    }
    double change = 1;
    for (int sweep = 0; sweep < 400 && change > 1e-13; sweep++) {
      change = 0;
      for (int k = 0; k < CLUTCHES; k++) {
        double inverse = 1 / J[k] + 1 / J[k + 1];
        double next = impulse[k] + (w[k] - w[k + 1]) / inverse;
        next = fmin(fmax(next, -dt * c[k]), dt * c[k]);
        double step = next - impulse[k];
        impulse[k] = next;
        w[k] -= step / J[k];
        w[k + 1] += step / J[k + 1];
        change = fmax(change, fabs(step));
      }
    }
  }
}


// in the engine: a chain of bodies on one axis, whose joints turn by the relative angles
static void coupledClutches(void** state) {
  (void)state;
  int stuck = 0;
  for (int i = 0; i < DRAWN; i++) {
    double J[CLUTCHES + 1], c[CLUTCHES], w[CLUTCHES + 1] = {10, 0, 0, 0};
    for (int k = 0; k <= CLUTCHES; k++) {
      J[k] = draw(0.5, 2);
      c[k % CLUTCHES] = draw(2, 20);
    }
    double amplitude = draw(5, 15), omega = 2 * PI * draw(0.5, 3), h = 1e-3;
    mjModel* m = makeModel(
        "<mujoco><option timestep='%g' gravity='0 0 0'/><extension><plugin "
        "plugin='mjgear.transmission'>"
        "<instance name='g'><config key='joint' value='c1 c2 c3'/><config key='gamma_u' "
        "value='0'/><config "
        "key='gamma_v' value='0'/><config key='coulomb' value='%.17g %.17g "
        "%.17g'/></instance></plugin>"
        "</extension><worldbody><body><joint name='J1' axis='0 0 1'/><inertial pos='0 0 0' "
        "mass='1' "
        "diaginertia='%.17g %.17g %.17g'/><body><joint name='c1' axis='0 0 1'/><inertial pos='0 0 "
        "0' mass='1' "
        "diaginertia='%.17g %.17g %.17g'/><body><joint name='c2' axis='0 0 1'/><inertial pos='0 0 "
        "0' mass='1' "
        "diaginertia='%.17g %.17g %.17g'/><body><joint name='c3' axis='0 0 1'/><inertial pos='0 0 "
        "0' mass='1' "
        "diaginertia='%.17g %.17g %.17g'/></body></body></body></body></worldbody></mujoco>",
        h, c[0], c[1], c[2], J[0], J[0], J[0], J[1], J[1], J[1], J[2], J[2], J[2], J[3], J[3],
        J[3]);
    mjData* d = mj_makeData(m);
    d->qvel[0] = 10;
    d->qvel[1] = -10;
    for (int k = 0; k < 1200; k++) {
      fineClutches(w, J, c, amplitude, omega, k * h, (k + 1) * h);

      // the core: relative velocities of the clutches, v+ = v* - A t
      if (k % 100 == 50) {
        double A[9] = {0}, v[3], old[3], t[3], next[3], lambda[3], zero[3] = {0}, torque;
        torque = amplitude * sin(omega * (k + 0.5) * h);
        for (int r = 0; r < CLUTCHES; r++) {
          A[4 * r] = h * (1 / J[r] + 1 / J[r + 1]);
          if (r > 0) {
            A[3 * r + r - 1] = A[3 * (r - 1) + r] = -h / J[r];
          }
          old[r] = d->qvel[r + 1];
          v[r] = old[r] - (r == 0 ? h * torque / J[0] : 0);
        }
        const mjgProblem problem = {.n = 3,
                                    .v = v,
                                    .A = A,
                                    .phi = zero,
                                    .alpha = zero,
                                    .beta = zero,
                                    .coulomb = c,
                                    .v0 = old};
        mjgSettings settings;
        mjg_defaultSettings(&settings);
        double memory[4096];
        int mode[3];
        mjgSolution solution = {t, next, lambda, mode};
        mjgWorkspace* work = mjg_create(memory, sizeof memory, 3, 3);
        assert_true(mjg_solve(&solution, NULL, &problem, &settings, work) >= 0);
        d->qfrc_applied[0] = torque;
        mj_step(m, d);
        for (int r = 0; r < CLUTCHES; r++) {
          assert_true(fabs(next[r] - d->qvel[r + 1]) < 1e-9);
        }
      } else {
        d->qfrc_applied[0] = amplitude * sin(omega * (k + 0.5) * h);
        mj_step(m, d);
      }
      double absolute = 0;
      for (int r = 0; r <= CLUTCHES; r++) {
        absolute += d->qvel[r];
        assert_true(fabs(absolute - w[r]) < 0.05);
        stuck += r > 0 && d->qvel[r] == 0;
      }
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  assert_true(stuck > 1000);
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lossyGearDemo1),        cmocka_unit_test(lossyGearDrawn),
      cmocka_unit_test(lossyGearWithBearings), cmocka_unit_test(lossyGearUnclearSide),
      cmocka_unit_test(brakesItself),          cmocka_unit_test(liftsAndLowers),
      cmocka_unit_test(leadScrewStability),    cmocka_unit_test(impactThroughGear),
      cmocka_unit_test(brakesUnderContact),    cmocka_unit_test(elasticBacklash),
      cmocka_unit_test(coupledClutches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
