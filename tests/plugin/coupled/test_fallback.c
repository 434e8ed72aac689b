// The methods for steps that do not settle, one by one, against all solutions of the step: a solution has
// each gear stuck or slipping and each contact row active or not, which leaves linear equations. Every
// combination is tried here with plain elimination.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coupled/continuation.h"
#include "coupled/fallback.h"
#include "plugin_models.h"
#include "state/gears.h"

#define NROW 8  // most contact rows

//---------------------------------- one method at a time -------------------------------------------

enum {
  DAMPED,
  VELOCITY,
  BOUND,
  PIVOT_ON,
  PIVOT_REST,
  GUESS,
  NONE,
  IN_VAIN,  // all of them run, and none counts
  ALL
};
static const char* const methodName[] = {"damped",
                                         "from rest",
                                         "from no friction",
                                         "piece by piece",
                                         "piece by piece from rest",
                                         "guessed pieces",
                                         "none",
                                         "in vain",
                                         "all"};
static int method = ALL;
static int inside;  // a method
static int spoils;  // 1: Newton steps leave rotors behind gaps with friction beyond its bound

// the linker lets these stand in front of the plugin's own
int __real_mjgp_newtonStep(mjgpStep* s);
int __real_mjgp_solveGuess(mjgpStep* s);
int __real_mjgp_damped(mjgpStep* s);
int __real_mjgp_followCurve(mjgpStep* s, int family, int most);
int __real_mjgp_pivotOn(mjgpStep* s);
int __real_mjgp_pivotRest(mjgpStep* s);
int __wrap_mjgp_pivotOn(mjgpStep* s);
int __wrap_mjgp_pivotRest(mjgpStep* s);
int __wrap_mjgp_newtonStep(mjgpStep* s);
int __wrap_mjgp_solveGuess(mjgpStep* s);
int __wrap_mjgp_damped(mjgpStep* s);
int __wrap_mjgp_followCurve(mjgpStep* s, int family, int most);


int __wrap_mjgp_newtonStep(mjgpStep* s) {
  int solved = (inside || method >= IN_VAIN) && __real_mjgp_newtonStep(s);
  for (int k = 0; k < s->n && spoils; k++) {
    mjgCouplingStep* step = s->g->out.gap + s->group->joint[k];
    step->friction = fabs(step->lambda) + 1;
    step->velocity = step->mode = 0;
  }
  return solved && method != IN_VAIN;
}


int __wrap_mjgp_solveGuess(mjgpStep* s) {
  return (method == GUESS || method == ALL) && __real_mjgp_solveGuess(s);
}


int __wrap_mjgp_damped(mjgpStep* s) {
  int solved = (method == DAMPED || method >= IN_VAIN) && __real_mjgp_damped(s);
  return solved && method != IN_VAIN;
}


int __wrap_mjgp_pivotOn(mjgpStep* s) {
  int solved = (method == PIVOT_ON || method >= IN_VAIN) && __real_mjgp_pivotOn(s);
  return solved && method != IN_VAIN;
}


int __wrap_mjgp_pivotRest(mjgpStep* s) {
  int solved = (method == PIVOT_REST || method >= IN_VAIN) && __real_mjgp_pivotRest(s);
  return solved && method != IN_VAIN;
}


int __wrap_mjgp_followCurve(mjgpStep* s, int family, int most) {
  int which = family == mjgpFAMILY_VELOCITY ? VELOCITY : BOUND;
  int solved = (method == which || method >= IN_VAIN) && __real_mjgp_followCurve(s, family, most);

  // the last try, as far from the law as can be
  for (int i = 0; i < s->n && method == IN_VAIN; i++) {
    s->t[i] = i % 2 ? 30 : -30;
  }
  return solved && method != IN_VAIN;
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
// that is positive
typedef struct Step_ {
  double h, M[4], force[2], v[2], tau[2], J[2 * NROW], D[NROW], aref[NROW];
  double inertia[2], gamma_u[2], gamma_v[2], coulomb[2], ratio[2];
  int nrow;
} Step;


// solve K x = x, 4 x 4; 0 if singular
static int solve4(double K[4][4], double x[4]) {
  for (int k = 0; k < 4; k++) {
    int p = k;
    for (int i = k + 1; i < 4; i++) {
      p = fabs(K[i][k]) > fabs(K[p][k]) ? i : p;
    }
    if (fabs(K[p][k]) < 1e-13) {
      return 0;
    }
    for (int j = 0; j < 4; j++) {
      double swap = K[k][j];
      K[k][j] = K[p][j];
      K[p][j] = swap;
    }
    double swap = x[k];
    x[k] = x[p];
    x[p] = swap;
    for (int i = 0; i < 4; i++) {
      double factor = i == k ? 0 : K[i][k] / K[k][k];
      for (int j = 0; j < 4; j++) {
        K[i][j] -= factor * K[k][j];
      }
      x[i] -= factor * x[k];
    }
  }
  for (int k = 0; k < 4; k++) {
    x[k] /= K[k][k];
  }
  return 1;
}


// acceleration and friction with gears i in piece[i] (0: stuck, else the direction of motion times one or
// two for a positive or negative load) and the active rows; 1 if that is a solution
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
      K[2 + i][i] = 1;
      x[2 + i] = -s->v[i] / s->h;
      continue;
    }
    double gamma = s->gamma_u[i] + s->gamma_v[i];
    double factor = (piece[i] > 0 ? 1 : -1) * (abs(piece[i]) == 1 ? 1 : -1);
    K[2 + i][2 + i] = 1 + factor * s->gamma_v[i];
    K[2 + i][i] = factor * gamma * s->inertia[i];
    x[2 + i] = factor * gamma * s->tau[i] + (piece[i] > 0 ? 1 : -1) * s->coulomb[i];
  }
  if (!solve4(K, x)) {
    return 0;
  }

  // is it as was assumed, up to rounding
  for (int r = 0; r < s->nrow; r++) {
    double jar = s->J[2 * r] * x[0] + s->J[2 * r + 1] * x[1] - s->aref[r];
    double tiny =
        1e-9 * (fabs(s->aref[r]) + fabs(s->J[2 * r] * x[0]) + fabs(s->J[2 * r + 1] * x[1]));
    if ((active >> r & 1) ? jar > tiny : jar < -tiny) {
      return 0;
    }
  }
  for (int i = 0; i < 2; i++) {
    double gamma = s->gamma_u[i] + s->gamma_v[i], t = x[2 + i];
    double lambda = gamma * (s->tau[i] - s->inertia[i] * x[i]) - s->gamma_v[i] * t;
    double tiny = 1e-9 * (fabs(t) + fabs(s->tau[i]) + fabs(s->inertia[i] * x[i]));

    // what stays at rest or comes to it may have the static bound, against a motion that it did not have before
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
  s->h = m->opt.timestep;
  s->nrow = d->nefc;
  mj_fullM(m, d, s->M);
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
} Sum;


// steps of one method, from rest and from motion, each compared with all solutions; ratio: the largest of static to
// sliding friction, 1 for none
static Sum run(int which, double ratio) {
  Sum sum = {0};
  seed = 7;
  for (int k = 0; k < 40; k++) {
    mjModel* m[2];
    const double most = which == GUESS ? 1 : 2, gamma_v[2] = {between(0, most), between(0, most)};
    double gamma_u = between(0, 0.4), coulomb = ratio > 1 ? between(0, 1) : 0;
    makePair(m, gamma_u, gamma_v, coulomb, ratio > 1 ? between(1, ratio) : 1);
    mjData *d = mj_makeData(m[0]), *plain = mj_makeData(m[1]);
    const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
    for (int i = 0; i < 5; i++) {
      Step step;
      place(m[1], plain);
      describe(&step, m[1], plain, g);
      mj_resetData(m[0], d);
      mju_copy(d->qpos, plain->qpos, 2);
      mju_copy(d->qvel, plain->qvel, 2);
      mju_copy(d->ctrl, plain->ctrl, 2);
      int unsolved = g->count.unsolved;
      method = which;
      mj_step(m[0], d);
      method = ALL;
      sum.steps++;
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
      }
    }
    mj_deleteData(d);
    mj_deleteData(plain);
    mj_deleteModel(m[0]);
    mj_deleteModel(m[1]);
  }
  print_message("%s: %d of %d steps solved, %d of them one of several solutions\n",
                methodName[which], sum.solved, sum.steps, sum.several);
  assert_int_equal(sum.wrong, 0);
  assert_int_equal(sum.driven, 0);
  countWarnings(NULL);
  return sum;
}


// where each gear can be driven back there is one solution; from states that are not near a guess is right now and then
static void test_guess(void** state) {
  (void)state;
  Sum sum = run(GUESS, 1);
  assert_true(sum.solved > sum.steps / 8);
  assert_int_equal(sum.several, 0);
}


// what the method finds is a solution
static void test_damped(void** state) {
  (void)state;
  Sum sum = run(DAMPED, 1);
  assert_true(sum.solved > sum.steps / 2);
}


// piece by piece on from a state that is not near: most often
static void test_pivotOn(void** state) {
  (void)state;
  Sum sum = run(PIVOT_ON, 1);
  assert_true(sum.solved > sum.steps / 2);
}


// the path from rest always leads to one
static void test_pivotRest(void** state) {
  (void)state;
  Sum sum = run(PIVOT_REST, 1);
  assert_int_equal(sum.solved, sum.steps);
  assert_true(sum.several > 0);
}


// the curve from rest always leads to one
static void test_fromRest(void** state) {
  (void)state;
  Sum sum = run(VELOCITY, 1);
  assert_int_equal(sum.solved, sum.steps);
  assert_true(sum.several > 0);
}


// the curve from no friction does where bounds stay finite, as with most of these gears
static void test_fromNoFriction(void** state) {
  (void)state;
  Sum sum = run(BOUND, 1);
  assert_true(sum.solved > sum.steps / 2);
}


static void test_all(void** state) {
  (void)state;
  Sum sum = run(ALL, 1);
  assert_int_equal(sum.solved, sum.steps);
}


// Elliptic cones bend the path. What is found is compared with the engine without gears: with this friction as a torque it
// moves the joints so that the law holds
static void test_elliptic(void** state) {
  (void)state;
  static const int methods[] = {PIVOT_ON, PIVOT_REST};
  for (int which = 0; which < 2; which++) {
    int solved = 0, steps = 0, wrong = 0;
    seed = 17;
    for (int k = 0; k < 60; k++) {
      mjModel* m[2];
      const double gamma_v[2] = {between(0, 2), between(0, 2)}, gamma_u = between(0, 0.4);
      makePair(m, gamma_u, gamma_v, 0, 1);
      m[0]->opt.cone = m[1]->opt.cone = mjCONE_ELLIPTIC;
      m[1]->opt.tolerance = 0;
      mjData *d = mj_makeData(m[0]), *plain = mj_makeData(m[1]);
      const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
      for (int i = 0; i < 5; i++) {
        mj_resetData(m[1], plain);
        place(m[1], plain);
        mj_resetData(m[0], d);
        mju_copy(d->qpos, plain->qpos, 2);
        mju_copy(d->qvel, plain->qvel, 2);
        mju_copy(d->ctrl, plain->ctrl, 2);
        int unsolved = g->count.unsolved;
        method = methods[which];
        mj_step(m[0], d);
        method = ALL;
        steps++;
        if (g->count.unsolved > unsolved) {
          continue;
        }
        solved++;
        double v[2] = {plain->qvel[0], plain->qvel[1]}, h = m[1]->opt.timestep;
        mju_scl(plain->qfrc_applied, g->out.t, -1, 2);
        mj_step(m[1], plain);
        for (int j = 0; j < 2; j++) {
          double u = plain->ctrl[j] - m[1]->dof_armature[j] * (plain->qvel[j] - v[j]) / h;
          double t = g->out.t[j], bound = fabs((gamma_u + gamma_v[j]) * u - gamma_v[j] * t);
          double size = 1e-6 * (fabs(plain->ctrl[j]) + fabs(u) + fabs(t)), next = plain->qvel[j];
          double gains = h * (fabs(plain->ctrl[j]) + fabs(t)) / m[1]->dof_armature[j];
          int moves = fabs(next) > 1e-6 * (fabs(v[j]) + gains);
          wrong +=
              fabs(t) > bound + size || (moves && (t * next < -size || fabs(t) < bound - size));
        }
      }
      mj_deleteData(d);
      mj_deleteData(plain);
      mj_deleteModel(m[0]);
      mj_deleteModel(m[1]);
    }
    print_message("%s, elliptic cones: %d of %d steps solved, %d wrong\n",
                  methodName[methods[which]], solved, steps, wrong);
    assert_int_equal(wrong, 0);
    assert_true(solved > (methods[which] == PIVOT_REST ? 0.9 : 0.35) * steps);
    countWarnings(NULL);
  }
}


// joints that break away from static friction slip on the sliding bound, whatever method finds it
static void test_static(void** state) {
  (void)state;
  Sum damped = run(DAMPED, 1.6), curve = run(VELOCITY, 1.6), all = run(ALL, 1.6);
  Sum pivot = run(PIVOT_REST, 1.6);
  assert_true(pivot.solved > pivot.steps / 2);
  assert_true(damped.solved > damped.steps / 2 && curve.solved > curve.steps / 2);
  assert_int_equal(all.solved, all.steps);
}


// where no method runs, or all fail and leave what they tried last, friction still drives nothing, and the step counts
// as unsolved
static void test_giveUp(void** state) {
  (void)state;
  Sum none = run(NONE, 1), in_vain = run(IN_VAIN, 1);
  assert_int_equal(none.solved, 0);
  assert_int_equal(in_vain.solved, 0);
}


// what is not solved is said once in the life of the data, however often it is reset, with the residual of that step
static void test_said(void** state) {
  (void)state;
  mjModel* m[2];
  seed = 11;
  const double gamma_v[2] = {0.5, 0.7};
  makePair(m, 0.2, gamma_v, 0, 1);
  mjData *d = mj_makeData(m[0]), *plain = mj_makeData(m[1]);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  countWarnings(NULL);
  int said = 0;
  for (int k = 0; k < 100; k++) {
    place(m[1], plain);
    mj_resetData(m[0], d);
    mju_copy(d->qpos, plain->qpos, 2);
    mju_copy(d->qvel, plain->qvel, 2);
    mju_copy(d->ctrl, plain->ctrl, 2);
    method = NONE;
    mj_step(m[0], d);
    method = ALL;
    assert_int_equal(g->count.unsolved, 1);
    const char* text;
    int count = countWarnings(&text);
    if (count) {
      const char* number = strstr(text, "relative residual ");
      assert_non_null(number);
      double residual = strtod(number + strlen("relative residual "), NULL);
      assert_true(residual > 1e-8 && fabs(residual - g->out.info.residual) <= 1e-5 * residual);
      assert_true(strstr(text, "joint 'a'") || strstr(text, "joint 'b'"));
    }
    said += count;
  }
  assert_int_equal(said, 1);
  mj_deleteData(d);
  mj_deleteData(plain);
  mj_deleteModel(m[0]);
  mj_deleteModel(m[1]);
}


// a joint with its rotor behind a gap, beside a geared one, with stops
static mjModel* makeStops(void) {
  return makeModel(
      "<mujoco><option timestep='0.001' gravity='0 0 0'/><extension>"
      "<plugin plugin='mjgear.transmission'><instance name='g'><config key='joint' value='a'/>"
      "<config key='gamma_u' value='0.2'/><config key='gamma_v' value='0.8'/></instance>"
      "<instance name='r'><config key='joint' value='b'/><config key='gamma_u' value='0.2'/>"
      "<config key='gamma_v' value='0.8'/><config key='backlash' value='exact'/>"
      "<config key='half_gap' value='0.01'/><config key='stiffness' value='500'/>"
      "<config key='damping' value='1'/><config key='rotor_inertia' value='0.2'/></instance>"
      "</plugin></extension><worldbody><body>"
      "<joint name='a' type='slide' armature='.3' range='-.1 .1' limited='true'/>"
      "<geom size='.03' mass='1' contype='0'/>"
      "<body><joint name='b' type='slide' range='-.1 .1' limited='true'/>"
      "<geom size='.03' mass='1' contype='0'/></body></body>"
      "</worldbody></mujoco>");
}


// thrown at a stop: where no method solves the step friction
// takes energy all the same. Kinetic energy of links and rotor and that of the shaft, motors off
static void test_giveUpGap(void** state) {
  (void)state;
  mjModel* m = makeStops();
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  int i = g->config->joint[0].gap == mjgpGAP_ROTOR ? 0 : 1, steps = 0, unsolved = 0, driven = 0,
      grown = 0;
  seed = 5;
  for (int k = 0; k < 40; k++) {
    mj_resetData(m, d);
    for (int j = 0; j < 2; j++) {
      d->qpos[j] = between(-0.09, 0.09);
      d->qvel[j] = between(-2, 2);
    }
    method = k % 2 ? IN_VAIN : NONE;
    double last = INFINITY;
    for (int n = 0; n < 60; n++) {
      int before = d->nefc;
      mj_step(m, d);
      const mjgCouplingStep* gap = g->out.gap + i;
      double Mv[2];
      mj_fwdPosition(m, d);
      mj_mulM(m, d, Mv, d->qvel);
      double energy =
          0.5 * mju_dot(Mv, d->qvel, 2) + 0.5 * 0.2 * gap->velocity * gap->velocity + gap->energy;
      driven += gap->friction * gap->velocity < -1e-9 || g->out.t[1 - i] * d->qvel[1 - i] < -1e-9;

      // contact gives back what it took; apart from that nothing grows
      grown += !before && !d->nefc && energy > last * (1 + 1e-9);
      last = energy;
      steps += before > 0;
    }
    method = ALL;
    unsolved += g->count.unsolved;
  }
  print_message("%d steps at a stop, %d unsolved: friction drove in %d, energy grew in %d\n", steps,
                unsolved, driven, grown);
  countWarnings(NULL);
  assert_true(unsolved > 100 && unsolved == steps);
  assert_int_equal(driven, 0);
  assert_int_equal(grown, 0);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// a rotor that the core leaves with friction beyond its bound does not count as solved, as happens where the Delassus
// diagonal of its joint is negative: the methods that follow solve the step
static void test_rotorsLaw(void** state) {
  (void)state;
  mjModel* m = makeStops();
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  int i = g->config->joint[0].gap == mjgpGAP_ROTOR ? 0 : 1, steps = 0;
  d->qvel[0] = d->qvel[1] = 2;
  for (int n = 0; n < 200; n++) {
    const mjgCouplingStep* gap = g->out.gap + i;
    spoils = 1;
    mj_step(m, d);
    spoils = 0;
    if (d->nefc) {
      steps++;
      assert_int_equal(g->out.info.status, mjgSOLVED);
      assert_true(fabs(gap->friction) <= (1 + 1e-9) * fabs(gap->lambda) + 1e-12);
    }
  }
  assert_true(steps > 10);
  assert_int_equal(g->count.by[mjgpBY_NEWTON], 0);
  mj_deleteData(d);
  mj_deleteModel(m);
}


//---------------------------------- an arm that jams -----------------------------------------------

// arms with gears that cannot be driven back are laid down on a table by servos that push on: gears jam
// against each other, and contacts begin to hold or to slip. No step is left unsolved, and with either cone paths along
// pieces solve nearly all that Newton steps do not, with few linearizations: what comes behind them takes hundreds
static void test_jamming(void** state) {
  (void)state;
  static const double from[6] = {0.5, -0.5, 0.5, 0, 0, 0};
  static const double gain[6] = {6000, 6000, 4000, 500, 1000, 100};
  char error[1000] = "";
  loadPlugin();
  mjModel* m = mj_loadXML(MJGEAR_SOURCE_DIR "/scenes/arm/arm.xml", NULL, error, sizeof(error));
  if (!m) {
    fail_msg("%s", error);
  }
  int hard = 0, unsolved = 0, unconfirmed = 0, others[2] = {0}, most[2] = {0};
  seed = 1;
  for (int k = 0; k < 60; k++) {
    m->opt.cone = k % 2 ? mjCONE_ELLIPTIC : mjCONE_PYRAMIDAL;
    m->opt.timestep = k % 3 ? 0.005 : 0.002;
    mjData* d = mj_makeData(m);
    mj_resetDataKeyframe(m, d, 0);
    mjgpGears* g = (mjgpGears*)d->plugin_data[0];
    const double gamma_u = between(0.02, 0.2), gamma_v = between(1.02, 1.6);
    const double to[6] = {between(-0.3, 0.3),   between(0.02, 0.12), between(-0.15, 0.05),
                          between(-0.15, 0.15), between(-0.1, 0.1),  between(0, 2)};
    for (int i = 0; i < 6; i++) {
      g->config->joint[i].gear.gamma_u = gamma_u;
      g->config->joint[i].gear.gamma_v = gamma_v;
    }
    while (d->time < 1) {
      double x = fmin(1, d->time / 0.7), blend = x * x * x * (10 - x * (15 - 6 * x));
      for (int i = 0; i < 6; i++) {
        double goal = from[i] + blend * (to[i] - from[i]);
        d->ctrl[i] = d->time > 0.8 ? 0 : gain[i] * (goal - d->qpos[i] - 0.05 * d->qvel[i]);
      }
      int before = g->count.newton_steps;
      mj_step(m, d);
      most[k % 2] = mjMAX(most[k % 2], g->count.newton_steps - before);
    }
    for (int by = mjgpBY_DAMPED; by <= mjgpBY_NONE; by++) {
      others[k % 2] += (int)g->count.by[by];
    }
    hard += g->count.hard;
    unsolved += g->count.unsolved;
    unconfirmed += g->count.unconfirmed;
    mj_deleteData(d);
  }
  print_message(
      "%d hard steps, %d unsolved, %d unconfirmed; without paths %d and %d, linearizations %d and "
      "%d at most\n",
      hard, unsolved, unconfirmed, others[0], others[1], most[0], most[1]);
  assert_true(hard > 1000);
  assert_true(others[0] <= 2 && others[1] < 400 && most[0] <= 300);
  assert_int_equal(unsolved, 0);
  assert_int_equal(unconfirmed, 0);
  mj_deleteModel(m);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_guess),    cmocka_unit_test(test_damped),
      cmocka_unit_test(test_pivotOn),  cmocka_unit_test(test_pivotRest),
      cmocka_unit_test(test_fromRest), cmocka_unit_test(test_fromNoFriction),
      cmocka_unit_test(test_all),      cmocka_unit_test(test_giveUp),
      cmocka_unit_test(test_jamming),  cmocka_unit_test(test_rotorsLaw),
      cmocka_unit_test(test_static),   cmocka_unit_test(test_giveUpGap),
      cmocka_unit_test(test_said),     cmocka_unit_test(test_elliptic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
