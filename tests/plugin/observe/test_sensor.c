// The plugin's sensors: against the engine's equation of motion, and their refusals.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "observe/sensor.h"
#include "plugin_models.h"

// an arm of three joints in two instances; the second lists its joints against the order of dofs
#define ARM(extension, sensors)                                                                \
  "<mujoco><option timestep='0.002'><flag eulerdamp='disable' constraint='disable'/></option>" \
  "<extension><plugin plugin='mjgear.transmission'>" extension                                 \
  "</plugin></extension><worldbody><body><joint name='j1' axis='0 1 0' armature='.4'"          \
  " damping='.3'/><geom type='capsule' size='.05' fromto='0 0 0 .5 0 0'/>"                     \
  "<body pos='.5 0 0'><joint name='j2' axis='0 1 0' armature='.2' stiffness='2'/>"             \
  "<geom type='capsule' size='.04' fromto='0 0 0 .4 0 0'/>"                                    \
  "<body pos='.4 0 0'><joint name='j3' type='slide' axis='1 0 0' armature='3'/>"               \
  "<geom size='.05'/></body></body></body></worldbody><actuator><motor joint='j1'/>"           \
  "<motor joint='j2'/><motor joint='j3'/></actuator><sensor>" sensors "</sensor></mujoco>"

#define INSTANCES                                                                            \
  "<instance name='a'><config key='joint' value='j1'/><config key='gamma_u' value='.2'/>"    \
  "<config key='gamma_v' value='.7'/></instance>"                                            \
  "<instance name='b'><config key='joint' value='j3 j2'/><config key='gamma_u' value='.1'/>" \
  "<config key='gamma_v' value='1.1 .4'/></instance>"

#define ONE(name, instance, joint)                                           \
  "<plugin name='" name "' plugin='mjgear.transmission' instance='" instance \
  "'"                                                                        \
  " objtype='joint' objname='" joint "'/>"
#define SENSORS                                                                              \
  "<plugin name='s1' plugin='mjgear.transmission' instance='a'/><jointpos joint='j1'/>" ONE( \
      "s3", "b", "j3") ONE("s2", "b", "j2")


static const mjtNum* sensor(const mjModel* m, const mjData* d, const char* name) {
  int id = mj_name2id(m, mjOBJ_SENSOR, name);
  assert_true(id >= 0);
  assert_int_equal(m->sensor_dim[id], mjgNSENSOR);
  return d->sensordata + m->sensor_adr[id];
}


static void near(double value, double expected, double scale) {
  if (!(fabs(value - expected) <= 1e-9 * scale)) {
    fail_msg("%.15g is not %.15g", value, expected);
  }
}


// every quantity from the engine's own forces and accelerations
static void test_values(void** state) {
  mjModel* m = makeModel(ARM(INSTANCES, SENSORS));
  mjData* d = mj_makeData(m);
  static const char* const joint[] = {"j1", "j2", "j3"};
  static const double gamma_u[] = {.2, .1, .1}, gamma_v[] = {.7, .4, 1.1};
  int modes[3] = {0};
  for (int i = 0; i < 3000; i++) {
    for (int k = 0; k < 3; k++) {
      d->ctrl[k] = (i / 400 % 2 ? 5 : 40) * sin(.011 * i + k) * (i / 300 % 3 > 0);
    }
    mj_forward(m, d);
    mjtNum M[9];
    mj_fullM(m, d, M);
    for (int k = 0; k < 3; k++) {
      char name[8];
      snprintf(name, sizeof(name), "s%d", (k + 1) % 10);
      const mjtNum* s = sensor(m, d, name);
      int dof = dofOf(m, joint[k]);
      double a = d->qacc[dof], v_next = d->qvel[dof] + m->opt.timestep * a;
      double passive = d->qfrc_spring[dof] + d->qfrc_damper[dof];
      double t = passive - d->qfrc_passive[dof];
      double u = d->qfrc_actuator[dof] - m->dof_armature[dof] * a;

      // torque for the link: its own inertia, bias, spring and damper
      double x = d->qfrc_bias[dof] - passive - m->dof_armature[dof] * a;
      for (int j = 0; j < 3; j++) {
        x += M[3 * dof + j] * d->qacc[j];
      }
      double scale = 1 + fabs(u) + fabs(t) + fabs(x) + fabs(d->qfrc_bias[dof]) + fabs(a);
      near(s[mjgSENSOR_FRICTION], t, scale);
      near(s[mjgSENSOR_TORQUE_IN], u, scale);
      near(s[mjgSENSOR_TORQUE_OUT], x, scale);
      near(s[mjgSENSOR_LAMBDA], (gamma_u[k] + gamma_v[k]) * u - gamma_v[k] * t, scale);
      near(s[mjgSENSOR_POWER_LOSS], t * v_next, scale * (1 + fabs(v_next)));
      assert_true(s[mjgSENSOR_POWER_LOSS] >= 0);
      assert_true(s[mjgSENSOR_MODE] == (fabs(v_next) < 1e-12 ? 0 : v_next > 0 ? 1 : -1));
      assert_true(s[mjgSENSOR_GAP] == 0);
      assert_true(s[mjgSENSOR_ROTOR_ANGLE] == d->qpos[dof]);
      assert_true(s[mjgSENSOR_ROTOR_VELOCITY] == d->qvel[dof]);
      assert_true(s[mjgSENSOR_RESIDUAL] <= 1e-9);
      if (s[mjgSENSOR_MODE] != 0) {
        assert_true((int)s[13] == (v_next * x >= 0  ? mjgpGEAR_DRIVING
                                   : v_next * u > 0 ? mjgpGEAR_DRIVEN_BY_BOTH
                                                    : mjgpGEAR_DRIVEN));
      }
      modes[(int)s[mjgSENSOR_MODE] + 1]++;
    }
    mj_step(m, d);
  }
  printf("backward %d, stuck %d, forward %d\n", modes[0], modes[1], modes[2]);
  assert_true(modes[0] > 100 && modes[1] > 100 && modes[2] > 100);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// A slide behind a rotor rests under a load F. It is locked if it rests under 10^3 F and 10^6 F, too:
// with gamma_v > 1 always with the motor off, also behind a heavy rotor, and if the motor pushes with
// a much larger load; not if the motor bears the load
static void test_locked(void** state) {
  static const struct {
    double m, motor;
    int expected;
  } cases[] = {
      {.1, 0, mjgpGEAR_LOCKED},
      {.1, -5, mjgpGEAR_LOCKED},  // the motor bears a part of it
      {.1, -30, mjgpGEAR_STUCK},  // the motor bears it
      {.1, .5, mjgpGEAR_LOCKED},
      {1, 0, mjgpGEAR_LOCKED},  // the effect of friction on the load is above -1
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    mjModel* m = makeModel(
        "<mujoco><option gravity='0 0 0'/><extension><plugin plugin='mjgear.transmission'>"
        "<instance name='a'><config key='joint' value='j'/><config key='gamma_u' value='.1'/>"
        "<config key='gamma_v' value='1.1'/></instance></plugin></extension><worldbody><body>"
        "<joint name='j' type='slide' axis='1 0 0' armature='%g'/><geom size='.1' mass='3'/></body>"
        "</worldbody><actuator><motor joint='j'/></actuator><sensor><plugin name='s' "
        "plugin='mjgear.transmission' instance='a'/></sensor></mujoco>",
        cases[k].m);
    mjData* d = mj_makeData(m);
    d->qfrc_applied[0] = 30;
    d->ctrl[0] = cases[k].motor;
    for (int i = 0; i < 10; i++) {
      mj_step(m, d);
      assert_true(d->qvel[0] == 0);
      assert_int_equal((int)sensor(m, d, "s")[mjgSENSOR_STATE], cases[k].expected);
    }
    for (int i = 0; i < 2 && cases[k].expected == mjgpGEAR_LOCKED; i++) {
      d->qfrc_applied[0] *= 1000;
      mj_step(m, d);
      assert_true(d->qvel[0] == 0);
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// a rotor J that a torque T turns without friction is in a gap of half-width alpha for sqrt(2 alpha J/T)
static void test_gap(void** state) {
  mjModel* m = makeModel(
      "<mujoco><option gravity='0 0 0' timestep='1e-3'/><extension>"
      "<plugin plugin='mjgear.transmission'><instance name='a'><config key='joint' value='j'/>"
      "<config key='gamma_u' value='.2'/><config key='gamma_v' value='.5'/>"
      "<config key='backlash' value='exact'/><config key='half_gap' value='.02'/>"
      "<config key='stiffness' value='1e4'/><config key='damping' value='100'/>"
      "<config key='rotor_inertia' value='.1'/></instance></plugin></extension><worldbody><body>"
      "<joint name='j' axis='0 1 0' damping='1'/><geom size='.1' mass='3'/></body></worldbody>"
      "<actuator><motor joint='j'/></actuator><sensor><plugin name='s' "
      "plugin='mjgear.transmission' instance='a'/></sensor></mujoco>");
  mjData* d = mj_makeData(m);
  d->ctrl[0] = 1;
  mjtNum touch = mju_sqrt(2 * .02 * .1 / 1);
  while (d->time < 0.4) {
    mjtNum time = d->time;
    mj_step(m, d);
    if (mju_abs(time - touch) > 0.005) {
      int now = (int)sensor(m, d, "s")[mjgSENSOR_STATE];
      assert_int_equal(now, time < touch ? mjgpGEAR_IN_GAP : mjgpGEAR_DRIVING);
    }
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}


// a second mj_forward changes nothing; a disabled or absent sensor is not computed
static void test_forward(void** state) {
  mjModel* m = makeModel(ARM(INSTANCES, SENSORS));
  mjData* d = mj_makeData(m);
  for (int i = 0; i < 200; i++) {
    d->ctrl[0] = 20 * sin(.03 * i);
    mj_step(m, d);
  }
  mj_forward(m, d);
  mjtNum once[8 * mjgNSENSOR];
  assert_true(m->nsensordata <= 8 * mjgNSENSOR);
  size_t size = sizeof(mjtNum) * (size_t)m->nsensordata;
  memcpy(once, d->sensordata, size);
  mj_forward(m, d);
  for (int i = 0; i < m->nsensordata; i++) {
    near(d->sensordata[i], once[i], 1 + fabs(once[i]));
  }
  memset(d->sensordata, 0, size);
  m->opt.disableflags |= mjDSBL_SENSOR;
  mj_forward(m, d);
  for (int i = 0; i < m->nsensordata; i++) {
    assert_true(d->sensordata[i] == 0);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}


// a self-locking gear lowers its load while motor and load both push; without the load the
// motor drives it alone, and without the motor it rests
static void test_both(void** state) {
  mjModel* m = makeModel(
      "<mujoco><option integrator='implicitfast'/><extension><plugin plugin='mjgear.transmission'>"
      "<instance name='g'><config key='joint' value='j'/><config key='gamma_u' value='.1'/>"
      "<config key='gamma_v' value='1.4'/></instance></plugin></extension><worldbody><body>"
      "<joint name='j' type='slide' axis='0 0 1' armature='2'/><geom size='.1' mass='3'/></body>"
      "</worldbody><actuator><motor joint='j'/></actuator><sensor><plugin "
      "plugin='mjgear.transmission' instance='g' objtype='joint' objname='j'/></sensor></mujoco>");
  mjData* d = mj_makeData(m);
  static const struct {
    double ctrl, gravity;
    int state;
  } phase[] = {{0, -9.81, mjgpGEAR_LOCKED},
               {-12, -9.81, mjgpGEAR_DRIVEN_BY_BOTH},
               {-12, 0, mjgpGEAR_DRIVING},
               {120, -9.81, mjgpGEAR_DRIVING}};
  for (int k = 0; k < 4; k++) {
    mj_resetData(m, d);
    d->ctrl[0] = phase[k].ctrl;
    m->opt.gravity[2] = phase[k].gravity;
    for (int i = 0; i < 20; i++) {
      mj_step(m, d);
    }
    assert_int_equal((int)d->sensordata[mjgSENSOR_STATE], phase[k].state);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}


// a plugin that can have sensors does not make the engine compute forces for sensors
static void test_unused(void** state) {
  mjModel* m = makeModel(ARM(INSTANCES, "<jointpos joint='j1'/>"));
  mjData* d = mj_makeData(m);
  mj_step(m, d);
  mj_forward(m, d);
  assert_false(d->flg_rnepost);
  assert_false(d->flg_subtreevel);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// cutoff acts as on the engine's sensors
static void test_cutoff(void** state) {
  mjModel* m = makeModel(ARM(INSTANCES,
                             "<plugin name='s' plugin='mjgear.transmission' instance='a' "
                             "objtype='joint' objname='j1' cutoff='2'/>"));
  mjData* d = mj_makeData(m);
  d->ctrl[0] = 100;
  mj_forward(m, d);
  const mjtNum* s = sensor(m, d, "s");
  assert_true(s[mjgSENSOR_TORQUE_IN] == 2);
  assert_true(s[mjgSENSOR_FRICTION] == 2);
  mj_deleteData(d);
  mj_deleteModel(m);
}


static void test_refusals(void** state) {
  static const struct {
    const char* sensor;
    const char* word;
  } wrong[] = {
      {ONE("s", "a", "j3"), "joint 'j3' is not a geared joint of its instance"},
      {"<plugin name='s' plugin='mjgear.transmission' instance='a'/>",
       "it names no joint or tendon, and its instance has several"},
      {"<plugin name='s' plugin='mjgear.transmission' instance='a' objtype='actuator' "
       "objname='act'/>",
       "actuator 'act' is not a geared joint"},
  };
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
    char error[1000] = "";
    mjModel* m = tryModel(
        error, sizeof(error),
        "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='a'>"
        "<config key='joint' value='j1 j2'/><config key='gamma_u' value='.1'/>"
        "<config key='gamma_v' value='.5'/></instance></plugin></extension><worldbody><body>"
        "<joint name='j1' armature='1'/><geom size='.1'/><body><joint name='j2' armature='1'/>"
        "<geom size='.1'/><body pos='.1 0 0'><joint name='j3'/><geom size='.1'/></body></body>"
        "</body></worldbody>"
        "<actuator><motor name='act' joint='j1'/></actuator><sensor>%s</sensor></mujoco>",
        wrong[i].sensor);
    assert_null(m);
    assert_non_null(strstr(error, wrong[i].word));
    assert_non_null(strstr(error, "sensor 's'"));
  }
}


// A self-locking gear behind a shaft: the torque of the shaft does not change with friction, so the
// rotor is stuck, not locked, and the motor moves it from (x (1 + gamma_v) + c)/(1 - gamma_u) on
static void test_shaft(void** state) {
  mjModel* m = makeModel(
      "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'>"
      "<config key='joint' value='j'/><config key='gamma_u' value='.1'/>"
      "<config key='gamma_v' value='1.3'/><config key='coulomb' value='.1'/>"
      "<config key='backlash' value='torsion'/><config key='stiffness' value='5000'/>"
      "<config key='stiffness_2' value='6000'/><config key='stiffness_3' value='7000'/>"
      "<config key='torque_1' value='1'/><config key='torque_2' value='2'/>"
      "<config key='rotor_inertia' value='.1'/></instance></plugin></extension><worldbody><body>"
      "<joint name='j' axis='0 1 0' damping='20'/><geom size='.1' mass='1' pos='.5 0 0'/></body>"
      "</worldbody><actuator><motor joint='j'/></actuator><sensor><plugin name='s' "
      "plugin='mjgear.transmission' instance='g'/></sensor></mujoco>");
  mjData* d = mj_makeData(m);
  const mjtNum* s = sensor(m, d, "s");
  for (int i = 0; i < 2000; i++) {
    mj_step(m, d);
    assert_int_equal((int)s[13], mjgpGEAR_STUCK);
  }
  double x = d->qfrc_bias[0];
  assert_true(fabs(x) > 4 && fabs(d->qvel[0]) < 1e-9);
  double least = (fabs(x) * 2.3 + 0.1) / 0.9;
  for (int k = 0; k < 2; k++) {
    d->ctrl[0] = (k ? 1.001 : 0.999) * (x > 0 ? least : -least);
    for (int i = 0; i < 20; i++) {
      mj_step(m, d);
    }
    assert_int_equal((int)s[13], k ? mjgpGEAR_DRIVING : mjgpGEAR_STUCK);
    assert_true(k ? s[8] * x > 0 : s[8] == 0);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values), cmocka_unit_test(test_locked),
      cmocka_unit_test(test_gap),    cmocka_unit_test(test_forward),
      cmocka_unit_test(test_both),   cmocka_unit_test(test_unused),
      cmocka_unit_test(test_cutoff), cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_shaft),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
