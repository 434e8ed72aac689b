// Trees without constraints, solved on the inertia matrix itself: the engine's motion against the
// law, and the friction against the core's solver for the dense problem, which is formed here from
// the engine's full inertia matrix.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugin_models.h"
#include "state/gears.h"

enum {
  MOST = 40  // dofs
};


//---------------------------------- models --------------------------------------------------------

// two branches on a free base, with joints that have no gear; an arm beside it; a wheel. %s: integrator,
// gear parameters, damping
static const char* const forest =
    "<mujoco><compiler angle='radian'/><option timestep='0.002' integrator='%s'/>"
    "<default><joint armature='0.05' damping='%s'/>"
    "<geom type='capsule' size='.03' contype='0' conaffinity='0'/></default>"
    "<extension><plugin plugin='mjgear.transmission'><instance name='a'>"
    "<config key='joint' value='b1 b2 c1 c3 d1 d2 d3 e'/>%s</instance></plugin></extension>"
    "<worldbody>"
    "<body pos='0 0 1'><freejoint/><geom size='.1' fromto='0 0 0 .2 .1 0'/>"
    "<body pos='.2 0 0'><joint name='b1' axis='0 1 0'/><geom fromto='0 0 0 .3 0 .1'/>"
    "<body pos='.3 0 0'><joint name='b2' axis='1 0 .3'/><geom fromto='0 0 0 .2 .1 "
    "0'/></body></body>"
    "<body pos='-.2 0 0'><joint name='c1' axis='0 0 1'/><geom fromto='0 0 0 -.3 0 0'/>"
    "<body pos='-.3 0 0'><joint name='c2' axis='0 1 0'/><geom fromto='0 0 0 -.2 0 .1'/>"
    "<body pos='-.2 0 0'><joint name='c3' axis='0 1 .2'/><geom fromto='0 0 0 -.1 .1 0'/></body>"
    "</body></body></body>"
    "<body pos='2 0 1'><joint name='d1' axis='0 1 0'/><geom fromto='0 0 0 .3 0 0'/>"
    "<body pos='.3 0 0'><joint name='d2' axis='1 1 0'/><geom fromto='0 0 0 .3 .1 0'/>"
    "<body pos='.3 0 0'><joint name='d3' type='slide' axis='1 0 0'/><geom fromto='0 0 0 .1 0 0'/>"
    "</body></body></body>"
    "<body pos='4 0 1'><joint name='e' axis='0 0 1'/><geom fromto='0 0 0 .3 0 0'/></body>"
    "</worldbody><actuator><motor joint='b1'/><motor joint='b2'/><motor joint='c1'/>"
    "<motor joint='c2'/><motor joint='c3'/><motor joint='d1'/><motor joint='d2'/>"
    "<motor joint='d3'/><motor joint='e'/></actuator></mujoco>";

static const char* const mild =
    "<config key='gamma_u' value='0.3 0.1 0 0.2 0.9 0.1 0.2 0.3'/>"
    "<config key='gamma_v' value='0.9 0.5 0.2 0 0.3 0.95 0.1 0.4'/>"
    "<config key='coulomb' value='0.2 0 0.1 0.05 1 0.2 0.1 0'/>";


static mjgpGears* gearsOf(const mjModel* m, const mjData* d) {
  return m->nplugin ? (mjgpGears*)d->plugin_data[0] : NULL;
}


// torques that change in size and sign, of pseudo-random frequencies
static void control(const mjModel* m, mjData* d) {
  for (int i = 0; i < m->nu; i++) {
    d->ctrl[i] = 4 * sin((2 + 0.7 * i) * d->time + i) + 2 * sin((9 + i) * d->time);
  }
}


//---------------------------------- references ----------------------------------------------------

// solve a dense system in place by elimination with pivoting
static void eliminate(double* K, double* x, int n, int columns) {
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++) {
      pivot = fabs(K[i * n + k]) > fabs(K[pivot * n + k]) ? i : pivot;
    }
    for (int j = 0; j < n; j++) {
      double keep = K[k * n + j];
      K[k * n + j] = K[pivot * n + j];
      K[pivot * n + j] = keep;
    }
    for (int j = 0; j < columns; j++) {
      double keep = x[k * columns + j];
      x[k * columns + j] = x[pivot * columns + j];
      x[pivot * columns + j] = keep;
    }
    for (int i = 0; i < n; i++) {
      double factor = i == k ? 0 : K[i * n + k] / K[k * n + k];
      for (int j = k; j < n && factor != 0; j++) {
        K[i * n + j] -= factor * K[k * n + j];
      }
      for (int j = 0; j < columns && factor != 0; j++) {
        x[i * columns + j] -= factor * x[k * columns + j];
      }
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < columns; j++) {
      x[i * columns + j] /= K[i * n + i];
    }
  }
}


// friction of the core's solver, cold, for the step that d is about to make; g holds the laws of that step
static void solveDense(double* t, const mjModel* m, mjData* d, const mjgpGears* g) {
  int nv = (int)m->nv, n = g->config->n;
  double h = m->opt.timestep, full[MOST * MOST] = {0}, x[MOST * (MOST + 1)] = {0};
  mj_fullM(m, d, full);
  for (int i = 0; i < nv; i++) {
    full[i * nv + i] += h * m->dof_damping[i];

    // forces without friction, and a unit force on each joint
    x[i * (n + 1)] = d->qfrc_smooth[i];
    for (int j = 0; j < n; j++) {
      if (g->config->joint[j].dof == i) {
        x[i * (n + 1)] += g->out.t[j];
        x[i * (n + 1) + 1 + j] = 1;
      }
    }
  }
  eliminate(full, x, nv, n + 1);
  double A[MOST * MOST], v[MOST], phi[MOST], alpha[MOST], beta[MOST], v_next[MOST], lambda[MOST];
  double coulomb[MOST];
  int mode[MOST];
  for (int i = 0; i < n; i++) {
    const double* row = x + g->config->joint[i].dof * (n + 1);
    double gamma = g->in.gear[i].gamma_u + g->in.gear[i].gamma_v;
    for (int j = 0; j < n; j++) {
      A[i * n + j] = h * row[1 + j];
    }
    v[i] = d->qvel[g->config->joint[i].dof] + h * row[0];
    phi[i] = gamma * (g->in.gear[i].tau - g->in.gear[i].inertia * row[0]);
    alpha[i] = gamma * g->in.gear[i].inertia / h;
    beta[i] = g->in.gear[i].gamma_v;
    coulomb[i] = g->in.gear[i].coulomb;
  }
  size_t bytes = mjg_memsize(n, n);
  void* memory = malloc(bytes);
  mjgProblem problem = {
      .n = n, .v = v, .A = A, .phi = phi, .alpha = alpha, .beta = beta, .coulomb = coulomb};
  mjgSolution solution = {.t = t, .v = v_next, .lambda = lambda, .mode = mode};
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  assert_int_equal(mjg_solve(&solution, NULL, &problem, &settings, mjg_create(memory, bytes, n, n)),
                   mjgSOLVED);
  free(memory);
}


// distance of the step from v to d from the law, relative to the torques of the joint
static double lawError(const mjModel* m, const mjData* d, const mjgpGears* g, const double* v) {
  double worst = 0;
  for (int i = 0; i < g->config->n; i++) {
    int dof = g->config->joint[i].dof;
    double next = d->qvel[dof], a = (next - v[dof]) / m->opt.timestep;
    double gamma = g->in.gear[i].gamma_u + g->in.gear[i].gamma_v,
           u = g->in.gear[i].tau - g->in.gear[i].inertia * a;
    double bound = fabs(gamma * u - g->in.gear[i].gamma_v * g->out.t[i]) + g->in.gear[i].coulomb;
    double size = fabs(g->in.gear[i].tau) + g->in.gear[i].inertia * fabs(a) + fabs(g->out.t[i]) +
                  g->in.gear[i].coulomb;
    double error = next == 0 ? fmax(0, fabs(g->out.t[i]) - bound)
                             : fabs(g->out.t[i] - (next > 0 ? bound : -bound));
    worst = fmax(worst, error / size);
  }
  return worst;
}


//---------------------------------- tests ---------------------------------------------------------

static void follow(const char* integrator, const char* gears, const char* damping) {
  mjModel* m = makeModel(forest, integrator, damping, gears);
  mjData* d = mj_makeData(m);
  const mjgpGears* g = gearsOf(m, d);
  double v[MOST], t[MOST], law = 0, difference = 0, most = 0;
  int modes[3] = {0};
  for (int i = 0; i < 3000; i++) {
    control(m, d);
    mju_copy(v, d->qvel, (int)m->nv);
    mj_step1(m, d);
    mj_step2(m, d);
    law = fmax(law, lawError(m, d, g, v));

    // the same step once more without integrating, for the dense problem
    if (i % 10 == 0) {
      control(m, d);
      mj_forward(m, d);
      solveDense(t, m, d, g);
      for (int k = 0; k < g->config->n; k++) {
        difference = fmax(difference, fabs(t[k] - g->out.t[k]));
        most = fmax(most, fabs(t[k]));
      }
    }
    for (int k = 0; k < g->config->n; k++) {
      modes[1 + g->out.mode[k]]++;
    }
  }
  print_message("%s: law %.2g, difference %.2g of %.3g N m, %d stuck, %d backward, %d forward\n",
                integrator, law, difference, most, modes[1], modes[0], modes[2]);
  assert_true(law <= 1e-8);
  assert_true(difference <= 1e-10 * most);
  assert_true(modes[0] > 1000 && modes[1] > 100 && modes[2] > 1000);

  // all steps are solved tree by tree: three trees each time
  assert_int_equal(g->count.trees, 3 * (3000 + 300));
  assert_int_equal(g->count.unsolved, 0);
  assert_int_equal(g->count.unconfirmed, 0);
  mj_deleteData(d);
  mj_deleteModel(m);
}


static void test_forest(void** state) {
  follow("implicitfast", mild, "0.3");
  follow("Euler", mild, "0.3");
  follow("Euler", mild, "0");
}


// gears that lock are solved on their trees too; where Mhat is not M and damping a group is made
static void test_general(void** state) {
  static const char* const locking =
      "<config key='gamma_u' value='0.1'/><config key='gamma_v' value='1.1'/>";
  const char* const integrator[] = {"implicitfast", "implicit", "implicitfast"};
  const char* const gears[] = {locking, mild, mild};
  for (int k = 0; k < 3; k++) {
    mjModel* m = makeModel(forest, integrator[k], "0.3", gears[k]);
    mjData* d = mj_makeData(m);
    const mjgpGears* g = gearsOf(m, d);
    m->opt.density = k == 2 ? 1.2 : 0;
    double v[MOST], law = 0;
    for (int i = 0; i < 300; i++) {
      control(m, d);
      mju_copy(v, d->qvel, (int)m->nv);
      mj_step(m, d);
      law = fmax(law, lawError(m, d, g, v));
    }
    assert_true(k ? g->count.trees == 0 : g->count.trees > 600);
    assert_int_equal(g->count.unsolved, 0);
    assert_true(law <= 1e-8);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// rotor inertia may belong to the actuator instead of the joint; damping may not, that of an actuator is on the
// motor's side
static void test_actuator(void** state) {
  static const char* const arm =
      "<mujoco><option timestep='0.002' integrator='%s'/>"
      "<extension><plugin plugin='mjgear.transmission'><instance name='a'>"
      "<config key='joint' value='j k'/><config key='gamma_u' value='0.2'/>"
      "<config key='gamma_v' value='%s'/></instance></plugin></extension>"
      "<worldbody><body><joint name='j' axis='0 1 0' %s/><geom size='.05' fromto='0 0 0 .3 0 0' "
      "type='capsule'/><body pos='.3 0 0'><joint name='k' axis='0 1 0' %s/>"
      "<geom size='.05' fromto='0 0 0 .3 0 0' type='capsule'/></body></body></worldbody>"
      "<actuator><motor joint='j' %s/><motor joint='k' gear='2' %s/></actuator></mujoco>";
  const char* const integrator[] = {"implicitfast", "Euler", "implicit"};
  const char* const gamma[] = {"0.6", "1.2"};
  for (int k = 0; k < 6; k++) {
    mjModel* m[2] = {makeModel(arm, integrator[k % 3], gamma[k / 3], "armature='0.3' damping='0.4'",
                               "armature='0.2' damping='0.8'", "", ""),
                     makeModel(arm, integrator[k % 3], gamma[k / 3], "damping='0.4'",
                               "damping='0.8'", "armature='0.3'", "armature='0.05'")};
    mjData* d[2] = {mj_makeData(m[0]), mj_makeData(m[1])};
    for (int i = 0; i < 1000; i++) {
      for (int j = 0; j < 2; j++) {
        control(m[j], d[j]);
        mj_step(m[j], d[j]);
      }
    }
    assert_true(fabs(d[0]->qpos[1]) > 0.1);
    for (int j = 0; j < 2; j++) {
      assert_true(fabs(d[0]->qpos[j] - d[1]->qpos[j]) <= 1e-12);
    }
    for (int j = 0; j < 2; j++) {
      mj_deleteData(d[j]);
      mj_deleteModel(m[j]);
    }
  }
}


// A gear that is self-locking by its static friction alone (static_ratio gamma_v > 1 > gamma_v)
// from rest, against the jamming rule (35) by hand: friction grows from zero until the joint rests,
// or first meets the bound r (|phi + p t| + c), also if a larger friction would hold it again.
// There it breaks away, and slips on the bound with r = 1
static double breakAway(double hold, double phi, double p, double c, double ratio) {
  double s = hold > 0 ? 1 : -1, t[2];
  for (int k = 0; k < 2; k++) {
    double r = k ? 1 : ratio;
    t[k] = INFINITY;
    for (int load = -1; load <= 1; load += 2) {
      double x = r * (load * phi + c) / (1 - r * load * s * p);
      if (x >= 0 && load * (phi + p * s * x) >= 0) {
        t[k] = fmin(t[k], x);
      }
    }
  }
  return s * hold <= t[0] ? hold : s * t[1];
}


// the joint alone, and held softly by an equality, which adds its inverse regularization to the inertia
static void breakAwayInSteps(const char* equality) {
  mjModel* m = makeModel(
      "<mujoco><option timestep='0.001' gravity='0 0 0' integrator='implicitfast'/><extension>"
      "<plugin plugin='mjgear.transmission'><instance name='a'><config key='joint' value='j'/>"
      "<config key='gamma_u' value='0.1'/><config key='gamma_v' value='0.8'/>"
      "<config key='coulomb' value='0.1'/><config key='static_ratio' value='1.6'/></instance>"
      "</plugin></extension><worldbody><body><joint name='j' type='slide' axis='1 0 0' "
      "armature='0.1'/><geom size='.1' mass='1.5'/></body></worldbody>"
      "<equality>%s</equality><actuator><motor joint='j'/></actuator></mujoco>",
      equality);
  mjData* d = mj_makeData(m);
  const mjgpGears* g = gearsOf(m, d);
  int held = 0, moving = 0, several = 0;
  for (int i = 0; i < 400; i++) {
    double u = 3 * sin(1.7 * i), f = 10 * sin(0.37 * i);
    d->qpos[0] = d->qvel[0] = 0;
    d->ctrl[0] = u;
    d->qfrc_applied[0] = f;
    mj_step(m, d);
    double inertia = 1.6 + (d->nefc ? d->efc_D[0] : 0), A = 0.001 / inertia, hold = u + f;
    double p = 0.9 * 0.1 / inertia - 0.8, phi = 0.9 * (u - 0.1 * hold / inertia);
    double t = breakAway(hold, phi, p, 0.1, 1.6);
    assert_int_equal(d->nefc, equality[0] != 0);
    assert_true(fabs(g->out.t[0] - t) <= 1e-12 * 13);
    assert_true(fabs(d->qvel[0] - A * (hold - t)) <= 1e-15);
    held += t == hold;
    moving += t != hold;
    several += t != hold && fabs(hold) <= 1.6 * (fabs(phi + p * hold) + 0.1);
  }
  print_message("%d held, %d moving, of which %d could be held\n", held, moving, several);
  assert_true(held > 50 && moving > 50 && several > 10);
  assert_true(d->nefc ? g->count.coupled >= 400 : g->count.trees > 200);
  assert_int_equal(g->count.unsolved + g->count.unconfirmed, 0);
  mj_deleteData(d);
  mj_deleteModel(m);
}


static void test_static(void** state) {
  breakAwayInSteps("");
  breakAwayInSteps("<joint joint1='j' solimp='.5 .5 .001'/>");
}


// A joint that its gear holds, on an arm whose other joints are driven by 10^7 N m: rounding of these torques would move it
// by 10^-10 rad/s. It stands still to the last bit, and no step counts as one that the engine has not confirmed
static void test_rounding(void** state) {
  mjModel* m = makeModel(
      "<mujoco><option timestep='0.002' integrator='implicitfast'/><extension>"
      "<plugin plugin='mjgear.transmission'><instance name='a'><config key='joint' value='i'/>"
      "<config key='coulomb' value='1e13'/></instance></plugin></extension><worldbody>"
      "<body><joint name='i' axis='0 1 .3' armature='.01'/><geom size='.1' mass='.7'/>"
      "<body pos='.3 .1 0'><joint name='j' axis='0 1 0'/><geom size='.1' mass='1.3'/>"
      "<body pos='.2 0 .1'><joint name='k' axis='1 1 0'/><geom size='.1' mass='.9' pos='.1 0 0'/>"
      "</body></body></body></worldbody>"
      "<actuator><motor joint='j' gear='1e7'/><motor joint='k' gear='1e7'/></actuator></mujoco>");
  mjData* d = mj_makeData(m);
  const mjgpGears* g = gearsOf(m, d);
  for (int i = 0; i < 100; i++) {
    mj_resetData(m, d);
    d->qpos[1] = sin(i);
    d->qpos[2] = cos(3 * i);
    d->ctrl[0] = sin(7 * i);
    d->ctrl[1] = cos(5 * i);
    mj_step(m, d);
    assert_true(fabs(d->qacc[1]) + fabs(d->qacc[2]) > 1e7);
    assert_true(d->qvel[0] == 0 && d->qpos[0] == 0);
    assert_int_equal(g->count.trees, 1);
    assert_int_equal(g->count.unsolved + g->count.unconfirmed, 0);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forest),   cmocka_unit_test(test_general),
      cmocka_unit_test(test_actuator), cmocka_unit_test(test_static),
      cmocka_unit_test(test_rounding),
  };
  loadPlugin();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
