// Friction in the engine's step: against the one-joint step of the core, and the law itself for
// several joints under every integrator and flag.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mjgear.h"
#include "plugin_models.h"


//---------------------------------- one joint -----------------------------------------------------

// a slide along x, loaded by a force, driven by a motor; explicit damping
static void test_scalar(void** state) {
  static const double gamma[][2] = {{0.2, 0.2}, {0.2, 0.95}, {0.2, 1.05},
                                    {0, 0},     {-0.1, 1.8}, {0.9, 3}};
  const double m_rotor = 1, M = 1.5, b = 0.7;
  double worst = 0;
  int stuck = 0;
  for (int k = 0; k < 6; k++) {
    mjModel* m = makeModel(
        "<mujoco><option timestep='0.001' gravity='0 0 0'><flag eulerdamp='disable'/></option>"
        "<extension><plugin plugin='mjgear.transmission'><instance name='a'>"
        "<config key='joint' value='j'/><config key='gamma_u' value='%g'/>"
        "<config key='gamma_v' value='%g'/></instance></plugin></extension>"
        "<worldbody><body><joint name='j' type='slide' axis='1 0 0' armature='%g' damping='%g'/>"
        "<geom size='.1' mass='%g'/></body></worldbody>"
        "<actuator><motor joint='j'/></actuator></mujoco>",
        gamma[k][0], gamma[k][1], m_rotor, b, M);
    mjData* d = mj_makeData(m);
    for (int i = 0; i < 4000; i++) {
      // motor and load change over four decades, sometimes off
      double size = pow(10, 4 * sin(0.01 * i) - 2);
      double f_u = i / 500 % 3 ? size * cos(0.013 * i) : 0, f_v = size * sin(0.0171 * i + k);
      double v = d->qvel[0], v_next, t;
      d->ctrl[0] = f_u;
      d->qfrc_applied[0] = -f_v;
      mj_step(m, d);
      assert_int_equal(mjg_stepScalar(&v_next, &t, v, f_u, f_v + b * v, gamma[k][0], gamma[k][1],
                                      m_rotor, M, m->opt.timestep),
                       mjgSOLVED);
      double scale = fabs(v) + fabs(v_next) + 1e-3 * (fabs(f_u) + fabs(f_v)) / (m_rotor + M);
      worst = fmax(worst, fabs(d->qvel[0] - v_next) / scale);
      assert_true(fabs(frictionOf(m, d, "a", 0) - t) <=
                  1e-11 * (fabs(f_u) + fabs(f_v) + 1e3 * fabs(v)));
      stuck += v_next == 0;
      if (v_next == 0) {
        assert_true(d->qvel[0] == 0);
      }
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  printf("largest difference from the one-joint step, relative: %.2g; %d stuck steps\n", worst,
         stuck);
  assert_true(worst <= 1e-12);
  assert_true(stuck > 100);
}


// an arm held by a gear under its weight, by the load alone or against the motor, stands for 60 s
static void test_stuck(void** state) {
  static const double torque[] = {0, -10, -30};
  for (int k = 0; k < 3; k++) {
    mjModel* m = makeModel(
        "<mujoco><option timestep='0.001' integrator='%s'/>"
        "<extension><plugin plugin='mjgear.transmission'><instance name='a'>"
        "<config key='joint' value='j1 j2'/><config key='gamma_u' value='0.2'/>"
        "<config key='gamma_v' value='1.05'/></instance></plugin></extension>"
        "<worldbody><body><joint name='j1' axis='0 1 0' armature='1' damping='0.5'/>"
        "<geom type='capsule' size='.05' fromto='0 0 0 .5 0 0'/><body pos='.5 0 0'>"
        "<joint name='j2' axis='0 1 0' armature='.3'/><geom type='capsule' size='.05' "
        "fromto='0 0 0 .5 0 0'/></body></body></worldbody>"
        "<actuator><motor joint='j1'/></actuator></mujoco>",
        k == 1 ? "implicitfast" : "Euler");
    mjData* d = mj_makeData(m);
    d->ctrl[0] = torque[k];
    d->qpos[0] = 0.3;
    mj_forward(m, d);
    double start[2] = {d->qpos[0], d->qpos[1]};
    for (int i = 0; i < 60000; i++) {
      mj_step(m, d);
      assert_true(d->qvel[0] == 0 && d->qvel[1] == 0);
    }
    assert_true(d->qpos[0] == start[0] && d->qpos[1] == start[1]);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


//---------------------------------- several joints ------------------------------------------------

static const char* const chain =
    "<mujoco><option timestep='0.002' integrator='%s'><flag %s/></option>"
    "<extension><plugin plugin='mjgear.transmission'>"
    "<instance name='a'><config key='joint' value='j2 j0'/><config key='gamma_u' value='0.1'/>"
    "<config key='gamma_v' value='0.9 1.1'/></instance><instance name='b'>"
    "<config key='joint' value='j1'/><config key='gamma_u' value='0.1'/>"
    "<config key='gamma_v' value='0.3'/></instance></plugin></extension>"
    "<default><geom contype='0' conaffinity='0'/></default>"
    "<worldbody><body pos='3 0 3'><freejoint/><geom size='.1 .2 .3' type='box'/></body>"
    "<body pos='0 0 2'><joint name='j0' armature='1' axis='0 1 0' damping='0.7'/>"
    "<geom size='.05' fromto='0 0 0 .5 0 0' type='capsule'/>"
    "<body pos='.5 0 0'><joint name='j1' armature='.5' axis='0 1 .3'/>"
    "<geom size='.05' fromto='0 0 0 .5 0 0' type='capsule'/>"
    "<body pos='.5 0 0'><joint name='idle' axis='1 0 0'/><geom size='.05' pos='0 .2 0'/>"
    "<body pos='.5 0 0'><joint name='j2' type='slide' armature='.3' axis='1 0 .3'/>"
    "<geom size='.05' fromto='0 0 0 .5 0 0' "
    "type='capsule'/></body></body></body></body></worldbody>"
    "<tendon><fixed name='t' damping='.4' stiffness='3'><joint joint='j0' coef='1'/>"
    "<joint joint='j1' coef='-2'/></fixed></tendon><actuator>%s</actuator></mujoco>";

static const char* const motors =
    "<position joint='j0' kp='30' kv='2'/><motor joint='j1' forcerange='-3 3'/>"
    "<general joint='j2' gainprm='5 0 0' biastype='affine' biasprm='0 -1 -3' armature='.05' "
    "damping='.3'/>";

static unsigned seed;
static double uniform(void) {
  seed = seed * 1664525u + 1013904223u;
  return seed / 2147483648.0 - 1;
}


// Relative distance of the last step from the law; three joints. Terms of servos and
// of their damping that the integrator takes at the end of the step are rotor inertia
static double lawError(int* stuck, const mjModel* m, const mjData* d, const double v[3]) {
  static const char* const name[] = {"j0", "j1", "j2"};
  static const double gamma_v[] = {1.1, 0.3, 0.9};
  const double friction[] = {frictionOf(m, d, "a", 1), frictionOf(m, d, "b", 0),
                             frictionOf(m, d, "a", 0)};
  int euler = m->opt.integrator == mjINT_EULER, flags = m->opt.disableflags;
  int gains = m->nactuator && !euler && !(flags & mjDSBL_ACTUATION);
  int damps = m->nactuator && !(flags & mjDSBL_DAMPER);
  int implicit = !euler || !(flags & mjDSBL_EULERDAMP);
  const double kv[] = {2, 0, 3}, damping[] = {0, 0, 0.3};
  double worst = 0, h = m->opt.timestep;
  for (int i = 0; i < 3; i++) {
    int dof = dofOf(m, name[i]);
    double rotor = m->dof_armature[dof] + (i == 2 && m->nactuator ? 0.05 : 0);
    rotor += (gains ? h * kv[i] : 0) + (damps && implicit ? h * damping[i] : 0);
    double a = (d->qvel[dof] - v[i]) / h;
    double tau = d->qfrc_actuator[dof] - (damps ? damping[i] * v[i] : 0);
    double t = friction[i], lambda = (0.1 + gamma_v[i]) * (tau - rotor * a) - gamma_v[i] * t;
    double v_next = d->qvel[dof];
    double error = v_next > 0   ? fabs(t - fabs(lambda))
                   : v_next < 0 ? fabs(t + fabs(lambda))
                                : fmax(0, fabs(t) - fabs(lambda));
    worst = fmax(worst, error / (fabs(t) + fabs(lambda) + fabs(tau) + 1e-3));
    *stuck += v_next == 0;
  }
  return worst;
}


static void test_law(void** state) {
  static const char* const integrators[] = {"Euler", "implicit", "implicitfast"};
  static const char* const flags[] = {"", "eulerdamp='disable'", "actuation='disable'",
                                      "damper='disable'", "spring='disable' damper='disable'"};
  double worst = 0;
  int stuck = 0, steps = 0;
  for (int k = 0; k < 3 * 6; k++) {
    const char* integrator = integrators[k / 6];
    mjModel* m =
        makeModel(chain, integrator, k % 6 < 5 ? flags[k % 6] : "", k % 6 < 5 ? motors : "");
    mjData* d = mj_makeData(m);
    int dof[] = {dofOf(m, "j0"), dofOf(m, "j1"), dofOf(m, "j2")};
    seed = (unsigned)k;
    for (int i = 0; i < 1500; i++, steps++) {
      if (i % 150 == 0) {
        for (int j = 0; j < m->nu; j++) {
          d->ctrl[j] = 3 * uniform();
        }
        for (int j = 0; j < m->nv; j++) {
          d->qfrc_applied[j] = i % 300 ? 5 * uniform() : 0;
        }
        for (int j = 0; j < 6 * m->nbody; j++) {
          d->xfrc_applied[j] = 4 * uniform();
        }
      }
      double v[] = {d->qvel[dof[0]], d->qvel[dof[1]], d->qvel[dof[2]]};
      mj_step(m, d);
      worst = fmax(worst, lawError(&stuck, m, d, v));
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  printf("largest error of the law over %d steps, relative: %.2g; %d stuck\n", steps, worst, stuck);
  assert_true(worst <= 1e-11);
  assert_true(stuck > 1000 && stuck < 2 * steps);
}


// without active actuators forces are known in mj_step, but not if set after mj_step1: a warning
// says so
static void test_early(void** state) {
  const char* text;
  mjModel* m = makeModel(chain, "Euler", "", "");
  mjData* d = mj_makeData(m);
  countWarnings(NULL);
  d->qfrc_applied[dofOf(m, "j1")] = 2;
  mj_step(m, d);
  mj_step1(m, d);
  mj_step2(m, d);
  assert_int_equal(countWarnings(NULL), 0);
  for (int i = 0; i < 3; i++) {
    mj_step1(m, d);
    d->qfrc_applied[dofOf(m, "j1")] = i;
    mj_step2(m, d);
  }
  assert_int_equal(countWarnings(&text), 1);
  assert_non_null(strstr(text, "mj_step1"));
  mj_deleteData(d);
  mj_deleteModel(m);
}


// inverse dynamics has no gears, with actuators and without, and warns; steps before and after
// are unaffected
static void test_inverse(void** state) {
  static const char* const text =
      "<mujoco><option integrator='%s' solver='%s'><flag actuation='%s'/></option>%s<worldbody>"
      "<geom type='plane' size='9 9 1'/><body pos='0 0 .15'>"
      "<joint name='a' axis='0 1 0' armature='.1'/><geom size='.1' pos='.3 0 0'/><body pos='.3 0 "
      "0'>"
      "<joint name='b' axis='0 1 0' armature='.1'/><geom size='.1' pos='.3 0 0'/></body></body>"
      "</worldbody><actuator><position joint='a' kp='100' kv='10'/></actuator></mujoco>";
  static const char* const gears =
      "<extension><plugin plugin='mjgear.transmission'><instance name='a'>"
      "<config key='joint' value='a'/><config key='gamma_u' value='.3'/>"
      "<config key='gamma_v' value='.2'/></instance>"
      "<instance name='b'><config key='joint' value='b'/><config key='coulomb' value='2'/>"
      "</instance></plugin></extension>";
  static const char* const integrators[] = {"Euler", "implicitfast", "implicit", "discrete"};
  for (int k = 0; k < 16; k++) {
    const char *integrator = integrators[k % 4], *solver = k & 4 ? "PGS" : "Newton";
    const char* actuation = k & 8 ? "disable" : "enable";
    mjModel* m = makeModel(text, integrator, solver, actuation, gears);
    mjModel* plain = makeModel(text, integrator, solver, actuation, "");
    mjData *d = mj_makeData(m), *other = mj_makeData(m), *without = mj_makeData(plain);
    countWarnings(NULL);
    for (int i = 0; i < 20; i++) {
      for (int j = 0; j < 2; j++) {
        without->qpos[j] = d->qpos[j];
        without->qvel[j] = d->qvel[j];
        without->qacc[j] = d->qacc[j] = 3 - 4 * j;
      }
      mj_inverse(m, d);
      mj_inverse(plain, without);
      for (int j = 0; j < 2; j++) {
        assert_true(d->qfrc_inverse[j] == without->qfrc_inverse[j]);
        assert_true(d->qacc[j] == 3 - 4 * j);
        d->qacc[j] = other->qacc[j];
      }
      for (int j = 0; j < 5; j++) {
        mj_step(m, d);
        mj_step(m, other);
        assert_memory_equal(d->qvel, other->qvel, sizeof(mjtNum) * 2);
        assert_memory_equal(d->plugin_state, other->plugin_state,
                            sizeof(mjtNum) * (size_t)m->npluginstate);
      }
    }
    assert_true(frictionOf(m, d, "b", 0) != 0);
    const char* warning;
    assert_int_equal(countWarnings(&warning), 1);
    assert_non_null(strstr(warning, "mj_inverse"));
    mj_deleteData(d);
    mj_deleteData(other);
    mj_deleteData(without);
    mj_deleteModel(m);
    mj_deleteModel(plain);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scalar), cmocka_unit_test(test_stuck),   cmocka_unit_test(test_law),
      cmocka_unit_test(test_early),  cmocka_unit_test(test_inverse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
