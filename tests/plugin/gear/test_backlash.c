// Backlash in the engine: both forms against the core's own step, contacts, encoders, state.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mujoco/mujoco.h>

#include "keys.h"
#include "mjgear_backlash.h"
#include "plugin_models.h"

#define PI 3.14159265358979323846

#define SENSOR                                                                          \
  "<sensor><plugin name='s' plugin='mjgear.transmission' instance='g' objtype='joint' " \
  "objname='j'/></sensor>"

// a link on a hinge, with a motor and a sensor
#define LINK                                                                      \
  "<mujoco><option timestep='%g' integrator='%s' gravity='0 0 0'/>"               \
  "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"           \
  "<config key='joint' value='j'/>%s</instance></plugin></extension>"             \
  "<worldbody><body name='link'><joint name='j' axis='0 1 0'/>"                   \
  "<inertial pos='0 0 0' mass='1' diaginertia='5.6 5.6 5.6'/></body></worldbody>" \
  "<actuator><motor joint='j'/></actuator>" SENSOR "</mujoco>"

// numbers of the sensor, as doc/sensors.md lists them
enum {
  OUT = 3,
  MODE = 4,
  GAP = 6,
  ANGLE = 7,
  VELOCITY = 8
};


// keys of each model, and the law that they describe
static const struct {
  const char* keys;
  mjgBacklash law;
} models[] = {
#define ROTOR         KEY("rotor_inertia", "0.4")
#define GAP_OF(model) ROTOR KEY("half_gap", "0.0025") KEY("backlash", model)
#define STIFF         KEY("stiffness", "5895")
#define DAMPED        STIFF KEY("damping", "59")
#define STIFF_LAW     .half_gap = 0.0025, .stiffness = 5895, .exponent = 1
#define DAMPED_LAW    STIFF_LAW, .damping = 59
    {GAP_OF("deadzone") STIFF, {.model = mjgDEADZONE, STIFF_LAW}},
    {GAP_OF("damped_deadzone") DAMPED, {.model = mjgDAMPED_DEADZONE, DAMPED_LAW}},
    {GAP_OF("revised_deadzone") DAMPED, {.model = mjgREVISED_DEADZONE, DAMPED_LAW}},
    {GAP_OF("exact") DAMPED, {.model = mjgEXACT, DAMPED_LAW}},
    {GAP_OF("phase_plane") DAMPED, {.model = mjgPHASE_PLANE, DAMPED_LAW}},
    {GAP_OF("rubber") DAMPED KEY("rubber", "0.002"),
     {.model = mjgRUBBER, DAMPED_LAW, .rubber = 0.002}},
    {GAP_OF("smooth") STIFF KEY("rubber", "0.002"),
     {.model = mjgSMOOTH, STIFF_LAW, .rubber = 0.002}},
    {GAP_OF("jck") DAMPED KEY("shaft_inertia", "0.05"),
     {.model = mjgJCK, DAMPED_LAW, .shaft_inertia = 0.05}},
    {GAP_OF("hunt_crossley") KEY("stiffness", "120000") KEY("exponent", "1.5")
         KEY("restitution", "2"),
     {.model = mjgHUNT_CROSSLEY,
      .half_gap = 0.0025,
      .stiffness = 120000,
      .exponent = 1.5,
      .restitution = 2}},
    {GAP_OF("limited_damping") DAMPED, {.model = mjgLIMITED_DAMPING, DAMPED_LAW}},
    {ROTOR TORSION_KEYS, TORSION_LAW},
};
enum {
  NMODEL = sizeof(models) / sizeof(models[0])
};


// a link with these keys, and its data
typedef struct Link_ {
  mjModel* m;
  mjData* d;
} Link;


static Link makeLink(const char* integrator, const char* keys) {
  Link link = {.m = makeModel(LINK, 1e-3, integrator, keys)};
  link.d = mj_makeData(link.m);
  return link;
}


static void freeLink(Link* link) {
  mj_deleteData(link->d);
  mj_deleteModel(link->m);
}


static double swing(double time) {
  return 25 * sin(2 * PI * 4 * time);
}


// one step in which the motor swings the link; its angle then
static double swingStep(const mjModel* m, mjData* d) {
  d->ctrl[0] = swing(d->time);
  mj_step(m, d);
  return d->qpos[0];
}


// the engine steps every model as the core does by itself, with every integrator
static void stepsAsTheCore(void** state) {
  const char* integrators[] = {"Euler", "implicitfast", "implicit"};
  const double h = 1e-3, m = 0.4, M = 5.6;
  for (int i = 0; i < NMODEL; i++) {
    char keys[1000];
    snprintf(keys, sizeof keys, "%s%s", models[i].keys,
             KEY("gamma_u", "0.2") KEY("gamma_v", "0.4") KEY("coulomb", "0.3"));
    Link link = makeLink(integrators[i % 3], keys);
    mjData* d = link.d;
    mjgCoupling c = {.law = &models[i].law,
                     .h = h,
                     .blend = mjg_couplingBlend(&models[i].law, h * (1 / m + 1 / M), h),
                     .inertia = m,
                     .gamma_u = 0.2,
                     .gamma_v = 0.4,
                     .coulomb = 0.3,
                     .static_ratio = 1};
    mjg_couplingRest(&c.theta_b, &c.omega_s, c.law, 0, 0);
    double rotor = 0, angle = 0, velocity = 0, turned = 0;
    for (int k = 0; k < 500; k++) {
      c.theta_d = rotor - angle;
      c.omega_d = c.velocity - velocity;
      c.torque = swing(d->time);
      swingStep(link.m, d);
      mjgCouplingStep step;
      mjg_couplingResolve(&step, &c, velocity, h / M);
      velocity += h / M * step.T;
      c.velocity = step.velocity;
      c.theta_b = step.theta_b;
      c.omega_s = step.omega_s;
      rotor += h * c.velocity;
      angle += h * velocity;
      turned = fmax(turned, fabs(angle));
      assert_true(fabs(d->qpos[0] - angle) < 1e-11);
      assert_true(fabs(d->sensordata[OUT] - step.T) < 1e-7);
      assert_int_equal((int)d->sensordata[MODE], step.mode);
    }
    assert_true(turned > 0.01);
    freeLink(&link);
  }
}


// Stribeck friction of a gear falls with the speed of its rotor, while the link rests
static void fallsWithTheRotor(void** state) {
  Link link = makeLink(
      "Euler", ROTOR STIFF KEY("damping", "59") KEY("half_gap", "100") KEY("backlash", "exact") KEY(
                   "coulomb", "1") KEY("stribeck_friction", "3") KEY("stribeck_velocity", "1e-6"));
  link.d->ctrl[0] = 5;
  for (int k = 0; k < 100; k++) {
    mj_step(link.m, link.d);
  }
  mj_forward(link.m, link.d);
  assert_true(fabs(link.d->sensordata[VELOCITY] - 1e-3 / 0.4 * (1 + 99 * 4)) < 1e-9);
  assert_true(link.d->qpos[0] == 0);
  freeLink(&link);
}


// motor and load as joints of the model, with gear friction on the motor, move like a rotor of the
// plugin in front of the same load, in one kinematic tree and in two
static void formsAgree(void** state) {
  for (int i = 0; i < NMODEL; i++) {
    for (int constrained = 0; constrained < 2; constrained++) {
      // a constraint that does nothing takes the step through the coupled solver
      char a[1000], b[1000];
      const char* gear = KEY("gamma_u", "0.2") KEY("gamma_v", "0.4") KEY("coulomb", "0.3");
      snprintf(a, sizeof a, "%s%s", models[i].keys, gear);
      snprintf(b, sizeof b, "%s%s", strstr(models[i].keys, "<config key='backlash'"), gear);
      mjModel* model = makeModel(
          "<mujoco><option timestep='1e-3' gravity='0 0 0'/>"
          "<extension><plugin plugin='mjgear.transmission'>"
          "<instance name='a'><config key='joint' value='a'/>%s</instance>"
          "<instance name='b'><config key='joint' value='b'/><config key='half_gap' "
          "value='%.17g'/>" KEY("motor_joint", "m") "%s</instance></plugin></extension>"
          "<worldbody><body><joint name='a' axis='0 1 0' frictionloss='%g'/>"
          "<inertial pos='0 0 0' mass='1' diaginertia='5.6 5.6 5.6'/></body>"
          "<body><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><freejoint/>"
          "<body><joint name='x' axis='1 0 0'/>"
          "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></body>"
          "<body name='base'><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
          "<joint name='fixed' axis='1 0 0' armature='1e9'/>"
          "<body><joint name='m' axis='0 1 0'/>"
          "<inertial pos='0 0 0' mass='1' diaginertia='0.4 0.4 0.4'/></body>%s"
          "<body><joint name='b' axis='0 1 0' frictionloss='%g'/>"
          "<inertial pos='0 0 0' mass='1' diaginertia='5.6 5.6 5.6'/></body>%s</worldbody>"
          "<actuator><motor joint='a'/><motor joint='m'/></actuator></mujoco>",
          a, models[i].law.half_gap, b, constrained ? 0.5 : 0, i % 2 ? "</body>" : "", constrained ? 0.5 : 0,
          i % 2 ? "" : "</body>");

      // the motor of the model is all armature, so that the internal force is the same
      int motor = dofOf(model, "m");
      model->dof_armature[motor] = 0.4;
      model->body_inertia[3 * model->dof_bodyid[motor] + 1] = 1e-12;
      mjData* d = mj_makeData(model);
      double turned = 0;
      for (int k = 0; k < 500; k++) {
        d->ctrl[0] = d->ctrl[1] = swing(d->time);
        mj_step(model, d);
        int joint_a = model->jnt_qposadr[mj_name2id(model, mjOBJ_JOINT, "a")];
        int joint_b = model->jnt_qposadr[mj_name2id(model, mjOBJ_JOINT, "b")];
        turned = fmax(turned, fabs(d->qpos[joint_a]));
        if (!(fabs(d->qpos[joint_a] - d->qpos[joint_b]) < 1e-7)) {
          print_error("model %d constrained %d step %d: %g %g\n", i, constrained, k,
                      d->qpos[joint_a], d->qpos[joint_b]);
          fail();
        }
      }
      assert_true(turned > 0.01);
      mj_deleteData(d);
      mj_deleteModel(model);
    }
  }
}


// a stiff light drive presses its link through the gap against a wall and comes to rest: the rotor
// is at the stop and twists the shaft by the wall's force. Motor off, a gear that can be driven
// back lets go, and one that cannot keeps all that its link's impact has wedged in.
static void pressesOnContact(void** state) {
  const char* cones[] = {"pyramidal", "elliptic"};
  for (int i = 0; i < 4; i++) {
    int locks = i / 2;
    mjModel* m = makeModel(
        "<mujoco><option timestep='1e-3' cone='%s' gravity='0 0 0'/>"
        "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"
        "<config key='joint' value='j'/>" KEY("backlash", "exact") KEY("half_gap", "0.005")
            KEY("stiffness", "1e6") KEY("damping", "5") KEY("rotor_inertia", "1e-4")
                KEY("gamma_u", "0.1")
        "<config key='gamma_v' value='%g'/></instance></plugin></extension>"
        "<worldbody><body><joint name='j' axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 1 0 0' size='0.02' mass='0.5'/></body>"
        "<geom type='box' size='0.1 0.1 0.1' pos='0.9 0 -0.13'/></worldbody>"
        "<actuator><motor joint='j'/></actuator>"
        SENSOR "</mujoco>",
        cones[i % 2], locks ? 1.1 : 0.5);
    mjData* d = mj_makeData(m);
    double pressed = 0;
    for (int k = 0; k < 3000; k++) {
      d->ctrl[0] = k < 2000 ? 2 : 0;
      mj_step(m, d);
      assert_true(fabs(d->qvel[0]) < 2);
      if (k == 1999) {
        pressed = d->sensordata[OUT];
        assert_true(fabs(d->qvel[0]) < 1e-6);
        assert_true(fabs(d->sensordata[VELOCITY]) < (locks ? 1e-300 : 1e-6));
        assert_true(d->sensordata[GAP] == 0.005);
        assert_true(fabs(d->qfrc_constraint[0] + pressed) < 1e-4);
        assert_true(fabs(d->sensordata[ANGLE] - d->qpos[0] - 0.005 - pressed / 1e6) < 1e-9);

        // forward and backward efficiency bound the torque through a resting gear
        assert_true(pressed > 2 * (1 - 0.1) / (1 + (locks ? 1.1 : 0.5)) * 0.999);
        assert_true(locks || pressed < 2 * (1 + 0.1) / (1 - 0.5) * 1.001);
      }
    }
    if (locks) {
      assert_true(fabs(d->qfrc_constraint[0] + pressed) < 1e-2 * pressed);
      assert_true(d->sensordata[VELOCITY] == 0);
    } else {
      assert_true(fabs(d->qfrc_constraint[0]) < 1e-2);
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// a link behind a gap on a self-locking gear rattles in the gap and not beyond, between contacts
// too; the rotor does not move at all
static void rattles(void** state) {
  Link link = makeLink("implicitfast", KEY("backlash", "hunt_crossley") KEY("half_gap", "0.01")
                                           KEY("stiffness", "1e6") KEY("restitution", "0.5")
                                               KEY("rotor_inertia", "0.01") KEY("gamma_u", "0.1")
                                                   KEY("gamma_v", "1.1"));
  mjData* d = link.d;
  double lo = 0, hi = 0, rotor = 0;
  for (int k = 0; k < 6000; k++) {
    d->qfrc_applied[0] = 20 * sin(2 * PI * 0.5 * d->time);
    mj_step(link.m, d);
    lo = fmin(lo, d->qpos[0]);
    hi = fmax(hi, d->qpos[0]);
    rotor = fmax(rotor, fabs(d->sensordata[ANGLE]));
    assert_true(d->sensordata[VELOCITY] == 0);
  }
  assert_true(rotor < 1e-14);
  assert_true(hi > 0.01 && hi < 0.0105 && lo < -0.01 && lo > -0.0105);
  freeLink(&link);
}


// resting place of a position servo under a load: with the encoder on the motor the rotor rests
// at the static error of the proportional gain, and the joint hangs a gap behind
static void encoders(void** state) {
  const char* keys[] = {KEY("encoder", "motor"), KEY("encoder", "joint"), ""};
  for (int i = 0; i < 3; i++) {
    mjModel* m = makeModel(
        "<mujoco><option timestep='1e-3' integrator='implicitfast'/>"
        "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"
        "<config key='joint' value='j'/>" KEY("backlash", "exact") KEY("half_gap", "0.05")
            KEY("stiffness", "1e5") KEY("damping", "100") KEY("rotor_inertia", "0.01")
        "%s</instance></plugin></extension>"
        "<worldbody><body><joint name='j' axis='0 1 0' damping='2'/>"
        "<geom type='capsule' fromto='0 0 0 0.5 0 0' size='0.02' mass='0.5'/></body></worldbody>"
        "<actuator><position joint='j' kp='100' kv='5'/></actuator>"
        SENSOR "</mujoco>",
        keys[i]);
    mjData* d = mj_makeData(m);
    d->ctrl[0] = 0.3;
    for (int k = 0; k < 20000; k++) {
      mj_step(m, d);
    }
    double load = 0.5 * 9.81 * 0.25 * cos(d->qpos[0]);
    double measured = i == 1 ? d->qpos[0] : d->sensordata[ANGLE];
    assert_true(fabs(d->qvel[0]) < 1e-4);
    assert_true(fabs(0.3 - measured + load / 100) < 1e-4);
    assert_true(fabs(fabs(d->sensordata[ANGLE] - d->qpos[0]) - 0.05) < 1e-4);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// reset, keyframes, copies and saved states carry rotor and gap; mj_forward leaves them alone
static void carriesState(void** state) {
  Link link = makeLink("Euler", GAP_OF("jck") DAMPED KEY("shaft_inertia", "0.05")
                                    KEY("gamma_u", "0.1") KEY("gamma_v", "0.2"));
  const mjModel* m = link.m;
  mjData *d = link.d, *copy = mj_makeData(m), *restored = mj_makeData(m);
  int size = (int)mj_stateSize(m, mjSTATE_INTEGRATION);
  mjtNum* saved = malloc(sizeof(mjtNum) * (size_t)size);
  mjtNum first[400];
  for (int k = 0; k < 400; k++) {
    first[k] = swingStep(m, d);
    if (k == 150) {
      mj_copyData(copy, m, d);
      mj_getState(m, d, saved, mjSTATE_INTEGRATION);
      mj_setState(m, restored, saved, mjSTATE_INTEGRATION);
    }
  }
  mjData* continued[] = {copy, restored};
  for (int i = 0; i < 2; i++) {
    for (int k = 151; k < 400; k++) {
      continued[i]->ctrl[0] = swing(continued[i]->time);
      mj_forward(m, continued[i]);
      mj_forward(m, continued[i]);
      assert_true(swingStep(m, continued[i]) == first[k]);
    }
  }
  mj_resetData(m, d);
  for (int k = 0; k < 400; k++) {
    assert_true(swingStep(m, d) == first[k]);
  }

  // a joint that is put elsewhere takes its rotor along
  mj_resetData(m, d);
  d->qpos[0] = 1.5;
  for (int k = 0; k < 100; k++) {
    mj_step(m, d);
    assert_true(d->qpos[0] == 1.5 && d->sensordata[ANGLE] == 1.5);
  }
  free(saved);
  mj_deleteData(copy);
  mj_deleteData(restored);
  freeLink(&link);
}


// a simulation that begins at another time, as keyframes do, has no rotors yet, and says so once; one with a restored state has
static void saysThatRotorsAreNew(void** state) {
  mjModel* m = makeModel(LINK, .002, "implicitfast", models[3].keys);
  const char* text = "";
  for (int restored = 0; restored < 2; restored++) {
    mjData *running = mj_makeData(m), *d = mj_makeData(m);
    for (int k = 0; k < 5; k++) {
      mj_step(m, running);
    }
    mj_copyState(m, running, d, restored ? mjSTATE_FULLPHYSICS : mjSTATE_PHYSICS | mjSTATE_TIME);
    countWarnings(NULL);
    mj_step(m, d);
    mj_step(m, d);
    assert_int_equal(countWarnings(&text), !restored);
    assert_true(restored || strstr(text, "rotors at rest in the middle of their gaps"));
    mj_deleteData(running);
    mj_deleteData(d);
  }
  mj_deleteModel(m);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stepsAsTheCore), cmocka_unit_test(fallsWithTheRotor),
      cmocka_unit_test(formsAgree),     cmocka_unit_test(pressesOnContact),
      cmocka_unit_test(rattles),        cmocka_unit_test(encoders),
      cmocka_unit_test(carriesState),   cmocka_unit_test(saysThatRotorsAreNew),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
