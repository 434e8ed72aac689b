// Friction and constraints as one step: the law holds and a stuck joint stands still under every kind of
// constraint, cone, solver and integrator.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fewer.h"
#include "plugin_models.h"
#include "state/gears.h"
#include "zoo.h"

typedef struct Check_ {
  double law;    // largest error of the law, relative
  double power;  // least power that friction takes
  int stuck;     // joints that stood still, summed over steps
  int moving;    // stuck joints that did not
} Check;


// Step once and check the law for the motion that came out, unless the step says that it is not solved
static void checkedStep(Check* check, const mjModel* m, mjData* d) {
  double v[50];
  assert_true(m->nv <= 50);
  mju_copy(v, d->qvel, (int)m->nv);
  mj_step(m, d);
  const mjgpGears* g = gearsOf(m, d);
  for (int a = 0; a < g->in.nactive && g->out.info.status <= mjgJAMMED; a++) {
    int i = g->in.active[a], dof = g->config->joint[i].dof;
    double acc = (d->qvel[dof] - v[dof]) / m->opt.timestep, t = g->out.t[i], v_next = d->qvel[dof];
    double u = g->in.gear[i].tau - g->in.gear[i].inertia * acc;
    double lambda = (g->in.gear[i].gamma_u + g->in.gear[i].gamma_v) * u - g->in.gear[i].gamma_v * t;
    double bound = fabs(lambda) + g->in.gear[i].coulomb;
    double error = fabs(t) - bound, tiny = 1e-9 * (g->out.cancellation[i] + 1e-6);
    if (v_next > tiny) {
      error = fabs(t - bound);
    } else if (v_next < -tiny) {
      error = fabs(t + bound);
    }
    // round-off of forces that cancel
    double scale = fabs(t) + bound + fabs(g->in.gear[i].tau) +
                   g->in.gear[i].inertia * g->out.cancellation[i] / m->opt.timestep;
    check->law = fmax(check->law, error / (scale + 1e-6));
    check->power = fmin(check->power, t * v_next);
    check->stuck += g->out.mode[i] == 0;
    check->moving += g->out.mode[i] == 0 && v_next != 0;
  }
}


static void test_all(void** state) {
  static const char* const cone[] = {"pyramidal", "elliptic"};
  static const char* const integrator[] = {"Euler", "implicit", "implicitfast"};
  static const char* const solver[] = {"Newton", "CG", "PGS"};
  static const char* const jacobian[] = {"dense", "sparse"};
  static const char* const flag[] = {"", "island='disable'", "eulerdamp='disable'",
                                     "sleep='enable'"};
  int steps = 0, passes = 0, coupled = 0, hard = 0, niter = 0, unconfirmed = 0, unsolved = 0;
  int left = 0;  // steps with PGS
  Check total = {0};
  for (int k = 0; k < 36; k++) {
    mjModel* m = makeModel(kZoo, k % 5 ? 0.002 : 0.004, cone[k % 2], integrator[k % 3],
                           solver[k / 2 % 3], jacobian[k / 3 % 2], flag[k / 9]);
    mjData* d = mj_makeData(m);
    Check check = {0};
    for (int i = 0; i < fewer(600); i++, steps++) {
      control(m, d);
      checkedStep(&check, m, d);
      niter = mjMAX(niter, m->opt.solver == mjSOL_NEWTON ? d->solver_niter[0] : 0);
    }
    const mjgpCount* count = &gearsOf(m, d)->count;
    if (count->unsolved || count->unconfirmed) {
      print_message("case %d (%s %s %s %s): law %.2g, moving %d, unsolved %d, unconfirmed %d\n", k,
                    cone[k % 2], integrator[k % 3], solver[k / 2 % 3], flag[k / 9], check.law,
                    check.moving, count->unsolved, count->unconfirmed);
    }
    unsolved += count->unsolved;
    passes += count->newton_steps;
    coupled += count->coupled;
    hard += count->hard;
    // a step counts as confirmed within 1e-6 of its velocities, which PGS uses up
    total.law = fmax(total.law, (m->opt.solver == mjSOL_PGS ? 0.01 : 1) * check.law);
    total.moving += check.moving;
    total.power = fmin(total.power, check.power);
    *(m->opt.solver == mjSOL_PGS ? &left : &unconfirmed) += count->unconfirmed;
    total.stuck += check.stuck;
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  print_message(
      "%d steps: law %.2g, power %.2g, %d stuck, %d of them moving, %.2f passes a group, "
      "%d of %d hard, Newton iterations of the engine %d\n",
      steps, total.law, total.power, total.stuck, total.moving, (double)passes / coupled, hard,
      coupled, niter);
  assert_int_equal(unsolved, 0);
  assert_true(total.law <= 1e-8);
  assert_true(total.power >= -1e-12);
  assert_int_equal(total.moving, 0);
  assert_int_equal(unconfirmed, 0);
  assert_true(left < 0.003 * steps / 3);
  assert_true(total.stuck > steps);
}


// Noslip iterations, set later, change the motion after the solver: each step is on the law, or says that it is not
static void test_noslip(void** state) {
  static const char* const cone[] = {"pyramidal", "elliptic"};
  for (int k = 0; k < 2; k++) {
    mjModel* m = makeModel(kZoo, 0.002, cone[k], "implicitfast", "Newton", "sparse", "");
    mjData* d = mj_makeData(m);
    m->opt.noslip_iterations = 10;  // refused when data are made
    Check check = {0};
    for (int i = 0; i < 500; i++) {
      control(m, d);
      checkedStep(&check, m, d);
    }
    const mjgpCount* count = &gearsOf(m, d)->count;
    print_message("noslip, %s: %d of 500 steps not exact, %d of %d stuck joints moving\n", cone[k],
                  count->unconfirmed, check.moving, check.stuck);
    assert_int_equal(count->unsolved, 0);
    assert_in_range(count->unconfirmed, 1, 499);
    assert_true(check.law <= 1e-6 && !check.moving && check.stuck > 0);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// noslip iterations change friction forces only: without contact friction the motion is
// unchanged, also behind a gap
static void test_noslipGap(void** state) {
  mjModel* m[2];
  mjData* d[2];
  for (int k = 0; k < 2; k++) {
    m[k] = makeModel(
        "<mujoco><option timestep='0.001'/><extension><plugin plugin='mjgear.transmission'>"
        "<instance name='legs'><config key='joint' value='a'/><config key='gamma_u' value='0.1'/>"
        "<config key='gamma_v' value='0.6'/><config key='backlash' value='exact'/>"
        "<config key='half_gap' value='0.02'/><config key='stiffness' value='2000'/>"
        "<config key='damping' value='5'/><config key='rotor_inertia' value='0.3'/></instance>"
        "</plugin></extension><worldbody><geom type='plane' size='2 2 1' condim='1'/>"
        "<body pos='0 0 .3'><joint name='a' axis='0 1 0'/>"
        "<geom type='capsule' size='.03' fromto='0 0 0 .5 0 0' mass='1' condim='1'/></body>"
        "</worldbody><actuator><motor joint='a'/></actuator></mujoco>");
    d[k] = mj_makeData(m[k]);
    m[k]->opt.noslip_iterations = 10 * k;
  }
  int rows = 0;
  for (int i = 0; i < 2000; i++) {
    for (int k = 0; k < 2; k++) {
      d[k]->ctrl[0] = 12 * sin(7 * d[k]->time);
      mj_step(m[k], d[k]);
    }
    rows += d[0]->nefc > 0;
    assert_true(fabs(d[0]->qvel[0] - d[1]->qvel[0]) <= 1e-9);
  }
  assert_true(rows > 100 && fabs(d[0]->qpos[0]) > 0.1);
  assert_int_equal(gearsOf(m[1], d[1])->count.unsolved, 0);
  for (int k = 0; k < 2; k++) {
    mj_deleteData(d[k]);
    mj_deleteModel(m[k]);
  }
}


// a tree without contact beside one at its limit: the motion is the solved one, also if the free
// tree needs more than a guess of its modes
static void test_freeTree(void** state) {
  static const char* const arm =
      "<body pos='%g 0 0'><joint name='%s1' %s/><geom size='.04' fromto='0 0 0 .3 0 0'/>"
      "<body pos='.3 0 0'><joint name='%s2' axis='1 1 0'/><geom size='.04' fromto='0 0 0 .3 0 0'/>"
      "<body pos='.3 0 0'><joint name='%s3'/><geom size='.04' fromto='0 0 0 .3 0 0'/>"
      "<body pos='.3 0 0'><joint name='%s4' axis='0 1 1'/><geom size='.04' fromto='0 0 0 .3 0 0'/>"
      "</body></body></body></body>";
  static const char* const solver[] = {"Newton", "PGS"};
  char text[2][1000];
  snprintf(text[0], sizeof(text[0]), arm, 0.0, "a", "range='-9 0' limited='true'", "a", "a", "a");
  snprintf(text[1], sizeof(text[1]), arm, 9.0, "b", "", "b", "b", "b");
  for (int k = 0; k < 2; k++) {
    mjModel* m = makeModel(
        "<mujoco><option timestep='0.002' solver='%s'/><extension>"
        "<plugin plugin='mjgear.transmission'><instance name='legs'><config key='joint' "
        "value='a1 a2 a3 a4 b1 b2 b3 b4'/><config key='gamma_u' value='0.2'/>"
        "<config key='gamma_v' value='0.9'/></instance></plugin></extension><default>"
        "<joint axis='0 1 0' armature='.5' damping='1'/><geom type='capsule' "
        "contype='0'/></default>"
        "<worldbody>%s%s</worldbody><actuator><motor joint='b1'/><motor joint='b2'/>"
        "<motor joint='b3'/><motor joint='b4'/></actuator></mujoco>",
        solver[k], text[0], text[1]);
    mjData* d = mj_makeData(m);
    unsigned seed = 1;
    int free = 0, unconfirmed = 0;
    for (int i = 0; i < 4000; i++) {
      mj_resetData(m, d);
      for (int j = 0; j < m->nv; j++) {
        seed = seed * 1664525u + 1013904223u;
        d->qvel[j] = (seed / 4294967296.0 - 0.5) * (j % 2 ? 0.1 : 0.01);
        d->qpos[j] = j ? seed / 4294967296.0 : 1e-3;
      }
      for (int j = 0; j < m->nu; j++) {
        seed = seed * 1664525u + 1013904223u;
        d->ctrl[j] = (seed / 4294967296.0 - 0.5) * 40;
      }
      const mjgpCount* count = &gearsOf(m, d)->count;
      mj_step(m, d);
      assert_true(d->nefc > 0);
      free += count->fallbacks > 0 || count->iterations > 2;
      unconfirmed += count->unconfirmed;
      assert_int_equal(count->unsolved, 0);
    }
    print_message("%s: %d of 4000 steps needed more than a guess, %d not confirmed\n", solver[k],
                  free, unconfirmed);
    assert_true(free > 100);
    assert_int_equal(unconfirmed, 0);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// tip of a geared arm that swings against an elastic wall; halving the step halves the error
static void test_order(void** state) {
  double q[6];
  for (int k = 0; k < 6; k++) {
    double h = k < 5 ? 0.004 / (1 << k) : 0.004 / 256;
    mjModel* m = makeModel(
        "<mujoco><option timestep='%.17g' gravity='0 0 0'/>"
        "<extension><plugin plugin='mjgear.transmission'><instance name='legs'>"
        "<config key='joint' value='a b'/><config key='gamma_u' value='0.1'/>"
        "<config key='gamma_v' value='0.4 0.6'/></instance></plugin></extension>"
        "<default><joint armature='.2' damping='.5' axis='0 0 1'/></default>"
        "<worldbody><geom type='plane' size='2 2 1' pos='0 -.2 0' zaxis='0 1 0'/><body>"
        "<joint name='a'/><geom type='capsule' size='.02' fromto='0 0 0 .5 0 0' contype='0'/>"
        "<body pos='.5 0 0'><joint name='b'/><geom type='sphere' size='.05' pos='.4 0 0' "
        "condim='1' "
        "solref='-2000 -20' solimp='.5 .5 1'/></body></body></worldbody>"
        "<actuator><motor joint='a'/></actuator></mujoco>",
        h);
    mjData* d = mj_makeData(m);
    while (d->time < 0.8 - 1e-9) {
      d->ctrl[0] = -4 * cos(3 * d->time);
      mj_step(m, d);
    }
    q[k] = d->qpos[0] + d->qpos[1];
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  double first = fabs(q[0] - q[5]), last = fabs(q[4] - q[5]);
  print_message("error at h = 4, 2, 1, 0.5, 0.25 ms: %.3g %.3g %.3g %.3g %.3g\n", first,
                fabs(q[1] - q[5]), fabs(q[2] - q[5]), fabs(q[3] - q[5]), last);
  assert_true(last < first / 10);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all),       cmocka_unit_test(test_noslip),
      cmocka_unit_test(test_freeTree),  cmocka_unit_test(test_order),
      cmocka_unit_test(test_noslipGap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
