#include "references/drive.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mjgear.h"
#include "plugin_models.h"


double draw(double low, double high) {
  static uint64_t seed = 1;
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}


//---------------------------------- balance of forces ---------------------------------------------

double motorOf(const Drive* d, double t) {
  return d->amplitude * sin(d->omega * t);
}


double loadOf(const Drive* d, double t) {
  return d->load + d->slope * t;
}


// gamma_u and gamma_v by (27), solved independently
static void gammas(double* gamma_u, double* gamma_v, const Drive* d) {
  double both = d->eta_f * d->eta_b;
  *gamma_u = (1 - 2 * d->eta_f + both) / (1 - both);
  *gamma_v = (1 - 2 * d->eta_b + both) / (1 - both);
}


// acceleration while it slips with sign s: driving delivers eta_f u - .. to the link, driven
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


// 1 if it rests: |u - f| <= |lambda| + c with lambda = g u - gamma_v (u - f)
static int rests(const Drive* d, double u, double f) {
  double gamma_u, gamma_v;
  gammas(&gamma_u, &gamma_v, d);
  return fabs(u - f) <= fabs(gamma_u * u + gamma_v * f) + d->coulomb;
}


// advance velocity and angle by fine steps to a time; times of the events are appended
void fine(double* v, double* q, double* t, const Drive* d, double until, double dt, double event[],
          int* nevent, int max) {
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


//---------------------------------- core ----------------------------------------------------------

// the same by the core, one step; motor and load at its middle
void coreStep(double* v, double* q, const Drive* d, double t, double h) {
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


//---------------------------------- engine --------------------------------------------------------

#define GEAR                                                                        \
  "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"             \
  "<config key='joint' value='j'/><config key='eta_forward' value='%.17g'/>"        \
  "<config key='eta_backward' value='%.17g'/><config key='coulomb' value='%.17g'/>" \
  "</instance></plugin></extension><actuator><motor joint='j'/></actuator>"

#define HINGE                                                                        \
  "<mujoco><option timestep='%.17g' gravity='0 0 %d'/>" GEAR                         \
  "<worldbody>%s<body pos='0 0 0.1'><joint name='j' axis='0 0 1' armature='%.17g'/>" \
  "<inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g %.17g'/>%s</body></worldbody></mujoco>"

// on the axis of the hinge: the support of its weight has no moment about it
#define FLOOR "<geom type='plane' size='1 1 1' condim='1'/>"
#define FOOT                                                                                  \
  "<body><joint type='slide' axis='0 0 1'/><inertial pos='0 0 0' mass='1' diaginertia='1e-9 " \
  "1e-9 1e-9'/><geom size='0.1' condim='1'/></body>"

// a ball on a plate; half of the link is the ball. As stiff as the step resolves, and critically damped
#define SLIDE                                                                         \
  "<mujoco><option timestep='%.17g' gravity='0 0 0'/>" GEAR                           \
  "<worldbody><body><joint name='j' type='slide' axis='0 0 1' armature='%.17g'/>"     \
  "<geom name='plate' type='box' size='1 1 0.1' pos='0 0 -0.1' mass='%.17g'/></body>" \
  "<body pos='0 0 0.1'><joint type='slide' axis='0 0 1'/>"                            \
  "<geom name='ball' size='0.1' mass='%.17g'/></body></worldbody>"                    \
  "<contact><pair geom1='plate' geom2='ball' condim='1' solref='-%.17g -%.17g' "      \
  "solimp='0.99 0.99 0.001'/></contact></mujoco>"


Engine makeEngine(const Drive* d, double h, int runner) {
  Engine e = {.runner = runner};
  if (runner == inENGINE_PRESSED) {
    double stiffness = 0.04 / (h * h), damping = 0.4 / h, half = 0.5 * d->M;
    e.m = makeModel(SLIDE, h, d->eta_f, d->eta_b, d->coulomb, d->m, half, half, stiffness, damping);
  } else {
    int stands = runner == inENGINE_STANDING;
    e.m = makeModel(HINGE, h, stands ? -10 : 0, d->eta_f, d->eta_b, d->coulomb, stands ? FLOOR : "",
                    d->m, d->M, d->M, d->M, stands ? FOOT : "");
  }
  e.d = mj_makeData(e.m);
  e.d->qvel[0] = d->v;
  if (runner == inENGINE_PRESSED) {
    e.d->qvel[1] = d->v;
  }
  return e;
}


void freeEngine(Engine* e) {
  mj_deleteData(e->d);
  mj_deleteModel(e->m);
}


double engineStep(Engine* e, double u, double f) {
  e->d->ctrl[0] = u;
  e->d->qfrc_applied[e->runner == inENGINE_PRESSED] = -f;
  mj_step(e->m, e->d);

  // contact where there should be one, from the second step on
  assert_true(e->runner == inENGINE || e->d->time < 2.5 * e->m->opt.timestep || e->d->ncon > 0);
  return e->d->qvel[0];
}


//---------------------------------- comparison ----------------------------------------------------

double difference(const Drive* d, double h, double end, int runner) {
  double v = d->v, q = 0, fine_v = d->v, fine_q = 0, fine_t = 0, sum = 0, most = 1e-9;
  Engine e = {0};
  if (runner != inCORE) {
    e = makeEngine(d, h, runner);
  }
  int n = (int)lround(end / h);
  for (int i = 0; i < n; i++) {
    double t = (i + 0.5) * h;
    if (runner == inCORE) {
      coreStep(&v, &q, d, i * h, h);
    } else {
      v = engineStep(&e, motorOf(d, t), loadOf(d, t));
    }
    fine(&fine_v, &fine_q, &fine_t, d, (i + 1) * h, 1e-5, NULL, NULL, 0);
    sum += fabs(v - fine_v);
    most = fmax(most, fabs(fine_v));
  }
  if (runner != inCORE) {
    freeEngine(&e);
  }
  return sum / n / most;
}


double stopTime(const Drive* d, double h, double longest, int runner) {
  double v = d->v, q = 0;
  Engine e = {0};
  if (runner != inCORE) {
    e = makeEngine(d, h, runner);
  }
  int i = 0;
  for (; i * h < longest && v != 0; i++) {
    if (runner == inCORE) {
      coreStep(&v, &q, d, i * h, h);
    } else {
      v = engineStep(&e, 0, loadOf(d, i * h));
    }
  }
  if (runner != inCORE) {
    freeEngine(&e);
  }
  return i * h;
}
