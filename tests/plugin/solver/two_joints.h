// Two geared joints that push a ball into a corner, step by step, with one method for hard steps at a time.
// The result is compared with all solutions of the step: with each gear stuck or slipping and each
// contact row active or not, linear equations remain. Every combination is tried here with plain
// elimination.

#ifndef MJGEAR_TESTS_TWO_JOINTS_H_
#define MJGEAR_TESTS_TWO_JOINTS_H_

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dense_equations.h"
#include "fewer.h"
#include "plugin_models.h"
#include "solver/dense.h"
#include "solver/fallback.h"
#include "solver/path.h"
#include "state/gears.h"

#define NROW 8  // most contact rows

//---------------------------------- one method at a time -------------------------------------------

enum {
  FORCES,
  NEWTON,
  DENSE,
  PATH,
  NONE,
  IN_VAIN,  // all of them run, and none counts
  ALL
};
static const char* const methodName[] = {"forces", "Newton",  "dense", "path",
                                         "none",   "in vain", "all"};
static int method = ALL;
static double reported;  // residual of the last group that Newton solved

// the linker lets these stand in front of the plugin's own
int __real_mjgp_solveForces(mjgpStep* s);
int __real_mjgp_newton(mjgpNewton* p, int flg_start);
int __real_mjgp_solveDense(mjgpStep* s);
int __real_mjgp_followPath(mjgpNewton* p);
int __wrap_mjgp_solveForces(mjgpStep* s);
int __wrap_mjgp_newton(mjgpNewton* p, int flg_start);
int __wrap_mjgp_solveDense(mjgpStep* s);
int __wrap_mjgp_followPath(mjgpNewton* p);


// let the core solve for friction as a dense problem, as where the key solver names
// another one of its solvers
static void askCore(const mjgpGears* g, int flg) {
  ((mjgpConfig*)g->config)->settings.solver = flg ? mjgLEMKE : mjgNEWTON;
}


static int runs(int which) {
  return method == which || method >= IN_VAIN;
}


// the last method leaves its last iterate, far from the law
static int result(mjgpStep* s, int solved) {
  for (int i = 0; i < s->n && method == IN_VAIN; i++) {
    s->t[i] = i % 2 ? 30 : -30;
  }
  return solved && method != IN_VAIN;
}


int __wrap_mjgp_solveForces(mjgpStep* s) {
  return result(s, runs(FORCES) && __real_mjgp_solveForces(s));
}


int __wrap_mjgp_newton(mjgpNewton* p, int flg_start) {
  int solved = runs(NEWTON) && __real_mjgp_newton(p, flg_start);
  reported = p->s->g->out.last_info.residual;
  return result(p->s, solved);
}


int __wrap_mjgp_solveDense(mjgpStep* s) {
  return result(s, runs(DENSE) && __real_mjgp_solveDense(s));
}


int __wrap_mjgp_followPath(mjgpNewton* p) {
  return result(p->s, runs(PATH) && __real_mjgp_followPath(p));
}


//---------------------------------- all solutions --------------------------------------------------

// two geared joints that push a ball into a corner of plane and wall
static const char* const corner =
    "<mujoco><option timestep='%g' jacobian='dense' cone='pyramidal'><flag eulerdamp='disable'/>"
    "</option>%s<worldbody><geom type='plane' size='2 2 1' friction='%g'/>"
    "<geom type='plane' size='2 2 1' pos='.62 0 0' zaxis='-1 0 0' friction='%g'/>"
    "<body pos='0 0 .3'><joint name='a' axis='0 1 .1' armature='%g'/>"
    "<geom type='capsule' size='.02' fromto='0 0 0 .4 0 0' contype='0' mass='%g'/>"
    "<body pos='.4 0 0'><joint name='b' axis='.1 1 0' armature='%g'/>"
    "<geom type='sphere' size='.05' pos='.3 0 0' mass='1' solref='.004 1' "
    "friction='.1'/></body></body>"
    "</worldbody><actuator><motor joint='a'/><motor joint='b'/></actuator></mujoco>";


// the step as numbers of the engine without the plugin: M a = force + J' f - t, f = -D (J a - aref) where
// that is positive. The integrator moves with B a
typedef struct Step_ {
  double h, M[4], B[4], force[2], v[2], tau[2], J[2 * NROW], D[NROW], aref[NROW];
  double inertia[2], gamma_u[2], gamma_v[2], coulomb[2], ratio[2];
  int nrow;
  int whole;  // 1: ignore solutions in which static friction of a gear is released
} Step;


// acceleration of the integrator and friction with gears i in piece[i] (0: stuck, else the
// direction of motion times one or two for a positive or negative load) and the active rows; 1 if
// that is a solution
static int trySolution(double x[4], const Step* s, const int piece[2], int active) {
  double K[4][4] = {{0}};
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      K[i][j] = s->M[2 * i + j];
    }
    K[i][2 + i] = 1;
    x[i] = s->force[i];
    for (int r = 0; r < s->nrow; r++) {
      if (active >> r & 1) {
        for (int j = 0; j < 2; j++) {
          K[i][j] += s->J[2 * r + i] * s->D[r] * s->J[2 * r + j];
        }
        x[i] += s->J[2 * r + i] * s->D[r] * s->aref[r];
      }
    }

    // stuck: a = -v / h; slipping: t = direction (load lambda + c), lambda = gamma (tau - I a) - gamma_v t
    if (!piece[i]) {
      mju_copy(K[2 + i], s->B + 2 * i, 2);
      x[2 + i] = -s->v[i] / s->h;
      continue;
    }
    if (s->whole && s->ratio[i] > 1 && piece[i] * s->v[i] <= 0) {
      return 0;
    }
    double gamma = s->gamma_u[i] + s->gamma_v[i];
    double factor = (piece[i] > 0 ? 1 : -1) * (abs(piece[i]) == 1 ? 1 : -1);
    K[2 + i][2 + i] = 1 + factor * s->gamma_v[i];
    mju_scl(K[2 + i], s->B + 2 * i, factor * gamma * s->inertia[i], 2);
    x[2 + i] = factor * gamma * s->tau[i] + (piece[i] > 0 ? 1 : -1) * s->coulomb[i];
  }
  if (!solveEquations(K[0], 4, x, 4)) {
    return 0;
  }

  // check the assumption, up to round-off
  for (int r = 0; r < s->nrow; r++) {
    double jar = s->J[2 * r] * x[0] + s->J[2 * r + 1] * x[1] - s->aref[r];
    double tiny =
        1e-9 * (fabs(s->aref[r]) + fabs(s->J[2 * r] * x[0]) + fabs(s->J[2 * r + 1] * x[1]));
    if ((active >> r & 1) ? jar > tiny : jar < -tiny) {
      return 0;
    }
  }
  const double a[2] = {mju_dot(s->B, x, 2), mju_dot(s->B + 2, x, 2)};
  mju_copy(x, a, 2);
  for (int i = 0; i < 2; i++) {
    double gamma = s->gamma_u[i] + s->gamma_v[i], t = x[2 + i];
    double lambda = gamma * (s->tau[i] - s->inertia[i] * x[i]) - s->gamma_v[i] * t;
    double tiny = 1e-9 * (fabs(t) + fabs(s->tau[i]) + fabs(s->inertia[i] * x[i]));

    // a joint that stays at rest or comes to rest may have the static bound, against a motion that
    // it did not have before
    double bound = fabs(lambda) + s->coulomb[i];
    if (!piece[i] ? fabs(t) > bound * (t * s->v[i] > 0 ? 1 : s->ratio[i]) + tiny
                  : (s->v[i] + s->h * x[i]) * piece[i] < -1e-9 * s->h * fabs(x[i]) ||
                        lambda * (abs(piece[i]) == 1 ? 1 : -1) < -tiny) {
      return 0;
    }
  }
  return 1;
}


// relative distance of the acceleration a from the nearest of all solutions; their number in *count
static double nearest(int* count, const Step* s, const double a[2]) {
  double least = INFINITY;
  *count = 0;
  for (int p = 0; p < 25; p++) {
    const int piece[2] = {p % 5 - 2, p / 5 - 2};
    for (int active = 0; active < 1 << s->nrow; active++) {
      double x[4];
      if (trySolution(x, s, piece, active)) {
        double size = 0, distance = 0;
        for (int i = 0; i < 2; i++) {
          size = fmax(size, fabs(x[i]) + fabs(s->v[i]) / s->h + fabs(s->force[i]) / s->M[3 * i]);
          distance = fmax(distance, fabs(x[i] - a[i]));
        }
        least = fmin(least, distance / size);
        ++*count;
      }
    }
  }
  return least;
}


//---------------------------------- random steps ---------------------------------------------------

static unsigned seed;

static double between(double low, double high) {
  seed = seed * 1664525u + 1013904223u;
  return low + (high - low) * (seed / 4294967296.0);
}


// most damping of joints, implicit: integrator and constraints move in two metrics; then all gears lock
static double damping;

// 1: contacts without friction, one row each
static int smooth;
static double edge;  // gamma_v of both gears, 0: drawn


// a geared model and the same without gears
static void makePair(mjModel* m[2], double gamma_u, const double gamma_v[2], double coulomb,
                     double ratio) {
  char gears[700];
  snprintf(gears, sizeof(gears),
           "<extension><plugin plugin='mjgear.transmission'><instance name='g'><config key='joint' "
           "value='a b'/><config key='gamma_u' value='%.17g'/><config key='gamma_v' value='%.17g "
           "%.17g'/><config key='coulomb' value='%.17g'/><config key='static_ratio' value='%.17g'/>"
           "</instance></plugin></extension>",
           gamma_u, gamma_v[0], gamma_v[1], coulomb, ratio);
  double h = between(0, 1) < 0.5 ? 0.001 : 0.004, floor = between(0.1, 1.2),
         wall = between(0.1, 1.2);
  double rotor[2] = {pow(10, between(-2, 1)), pow(10, between(-2, 1))}, mass = between(0.3, 3);
  m[0] = makeModel(corner, h, gears, floor, wall, rotor[0], mass, rotor[1]);
  m[1] = makeModel(corner, h, "", floor, wall, rotor[0], mass, rotor[1]);
  for (int i = 0; i < 2 && damping > 0; i++) {
    m[0]->dof_damping[i] = m[1]->dof_damping[i] = damping * pow(10, between(-4, 0));
    m[i]->opt.disableflags &= ~mjDSBL_EULERDAMP;
  }
  for (int i = 0; i < 2 * m[0]->ngeom && smooth; i++) {
    m[i % 2]->geom_condim[i / 2] = 1;
  }
}


// the ball a little inside of plane or wall, or of both
static void place(const mjModel* m, mjData* d) {
  do {
    double height = 0.25 + 0.001 * between(-1, 5), reach = 0.57 + 0.001 * between(-5, 1);
    double angle = atan2(height, reach), far = hypot(height, reach);
    double first = acos((0.16 + far * far - 0.09) / (0.8 * far));
    double second = acos((0.16 + 0.09 - far * far) / 0.24);
    d->qpos[0] = angle - first;
    d->qpos[1] = 3.14159265358979323846 - second;
    for (int i = 0; i < 2; i++) {
      d->qvel[i] = between(0, 1) < 0.3 ? 0 : between(-2, 2);
      d->ctrl[i] = between(0, 1) < 0.3 ? 0 : between(-1, 1) * pow(10, between(0, 3));
    }
    mj_forward(m, d);
  } while (!d->nefc || d->nefc > NROW);
}


static void describe(Step* s, const mjModel* m, const mjData* d, const mjgpGears* g) {
  s->whole = 0;
  s->h = m->opt.timestep;
  s->nrow = d->nefc;
  mj_fullM(m, d, s->M);

  // (M + h [damping])^-1 M
  double h = s->h, D[2] = {h * m->dof_damping[0], h * m->dof_damping[1]};
  double det = (s->M[0] + D[0]) * (s->M[3] + D[1]) - s->M[1] * s->M[2];
  for (int j = 0; j < 2; j++) {
    s->B[j] = ((s->M[3] + D[1]) * s->M[j] - s->M[1] * s->M[2 + j]) / det;
    s->B[2 + j] = ((s->M[0] + D[0]) * s->M[2 + j] - s->M[2] * s->M[j]) / det;
  }
  for (int i = 0; i < 2; i++) {
    s->force[i] = d->qfrc_smooth[i];
    s->v[i] = d->qvel[i];
    s->tau[i] = d->ctrl[i];
    s->inertia[i] = m->dof_armature[i];
    s->gamma_u[i] = g->config->joint[i].gear.gamma_u;
    s->gamma_v[i] = g->config->joint[i].gear.gamma_v;
    s->coulomb[i] = g->config->joint[i].gear.coulomb;
    s->ratio[i] = g->config->joint[i].gear.static_ratio;
  }
  for (int r = 0; r < d->nefc; r++) {
    s->J[2 * r] = d->efc_J[2 * r];
    s->J[2 * r + 1] = d->efc_J[2 * r + 1];
    s->D[r] = d->efc_D[r];
    s->aref[r] = d->efc_aref[r];
  }
}


typedef struct Sum_ {
  int steps, solved, wrong, several, driven;
  int hard;  // steps that took more than their method from its first start
  int held;  // steps that have one solution with static bounds, in which nothing breaks away
} Sum;


// steps of one method, from rest and from motion, each compared with all solutions; ratio: the
// largest static to sliding friction, 1 for none; unique: backdrivable gears, so that each step has
// one solution
static Sum run(int which, double ratio, int unique) {
  Sum sum = {0};
  seed = 7;
  for (int k = 0; k < 2 * fewer(20); k++) {
    mjModel* m[2];
    const double least = damping > 0 ? 1 : 0, most = unique ? 1 : 2;
    const double drawn[2] = {between(least, most), between(least, most)};
    const double gamma_v[2] = {edge > 0 ? edge : drawn[0], edge > 0 ? edge : drawn[1]};
    double gamma_u = between(0, 0.4), coulomb = ratio > 1 ? between(0, 1) : 0;
    makePair(m, gamma_u, gamma_v, coulomb, ratio > 1 ? between(1, ratio) : 1);
    mjData *d = mj_makeData(m[0]), *plain = mj_makeData(m[1]);
    const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
    askCore(g, which == DENSE);
    for (int i = 0; i < 5; i++) {
      Step step;
      place(m[1], plain);
      describe(&step, m[1], plain, g);
      mj_resetData(m[0], d);
      mju_copy(d->qpos, plain->qpos, 2);
      mju_copy(d->qvel, plain->qvel, 2);
      mju_copy(d->ctrl, plain->ctrl, 2);
      int unsolved = g->count.unsolved, hard = g->count.hard;
      method = which;
      mj_step(m[0], d);
      method = ALL;
      sum.steps++;
      sum.hard += g->count.hard - hard;
      sum.driven += g->out.t[0] * d->qvel[0] < -1e-9 || g->out.t[1] * d->qvel[1] < -1e-9;
      if (g->count.unsolved == unsolved) {
        int count;
        const double a[2] = {(d->qvel[0] - step.v[0]) / step.h, (d->qvel[1] - step.v[1]) / step.h};
        double distance = nearest(&count, &step, a);
        sum.solved++;
        sum.several += count > 1;
        if (!(distance <= 1e-8)) {
          print_error("%s, model %d, step %d: off by %g from the nearest of %d solutions\n",
                      methodName[which], k, i, distance, count);
          sum.wrong++;
        }

        // if the step with static bounds has one solution without a release of static friction, the result must be this solution
        step.whole = 1;
        distance = nearest(&count, &step, a);
        if (count && step.ratio[0] > 1 && step.ratio[0] * gamma_v[0] < 1 &&
            step.ratio[1] * gamma_v[1] < 1) {
          sum.held++;
          if (!(distance <= 1e-8)) {
            print_error("%s, model %d, step %d: breaks away, and need not\n", methodName[which], k,
                        i);
            sum.wrong++;
          }
        }
      }
    }
    mj_deleteData(d);
    mj_deleteData(plain);
    mj_deleteModel(m[0]);
    mj_deleteModel(m[1]);
  }
  print_message("%s: %d of %d steps solved, %d of them one of several solutions; %d were hard\n",
                methodName[which], sum.solved, sum.steps, sum.several, sum.hard);
  assert_int_equal(sum.wrong, 0);
  assert_int_equal(sum.driven, 0);
  countWarnings(NULL);
  return sum;
}

#endif  // MJGEAR_TESTS_TWO_JOINTS_H_
