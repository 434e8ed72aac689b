// Every description of a gear and every additional law in the engine: the inclusion in random
// steps, energy, order of convergence, restored states, refusals. One table, and the same tests
// for each of its rows.
//
// Expected values of a row are computed from its keys by formulas of the tests. Refusals of each
// wrong word are tested in core/catalogue/test_types.c; here, that the engine passes them on.

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

#include "expected_efficiencies.h"
#include "fewer.h"
#include "keys.h"
#include "mjgear_backlash.h"
#include "plugin_models.h"
#include "references/drive.h"
#include "torsion_area.h"

#define PI 3.14159265358979323846

// inertia of rotor and link of all rows, kg m2
static const double kRotor = 0.3, kLink = 0.8;


//---------------------------------- the table -----------------------------------------------------

typedef struct Law_ {
  const char* name;
  const char* keys;
  double eta_f, eta_b, coulomb;  // further efficiencies and friction, as the keys mean them
  double ratio;                  // static to sliding friction
  double stiffness;              // stiffness of pre-sliding, 0: none
  mjgBacklash torsion;           // shaft behind the gear, stiffness 0: none
  struct {
    const char* keys;
    const char* says;
  } refused[5];
} Law;

// filled in by makeLaws, since C has no constant expressions with functions
static Law laws[7];


static void makeLaws(void) {
  double eta_f, eta_b;
  wedgeEfficiencies(&eta_f, &eta_b, 0.4, 1.1, 0.08);
  laws[0] = (Law){.name = "wedge",
                  .keys = KEY("type", "wedge") KEY("input_angle", "0.4") KEY("output_angle", "1.1")
                      KEY("mu", "0.08"),
                  .eta_f = eta_f,
                  .eta_b = eta_b,
                  .ratio = 1,
                  .refused = {{KEY("type", "wedge") KEY("input_angle", "0.4")
                                   KEY("output_angle", "0.05") KEY("mu", "0.3"),
                               "no motor can drive"}}};

  carrierEfficiencies(&eta_f, &eta_b, 4, 0.97 * 0.97);
  laws[1] =
      (Law){.name = "planetary",
            .keys = KEY("type", "planetary") KEY("teeth_sun", "20") KEY("teeth_ring", "60")
                KEY("mesh_efficiency", "0.97") KEY("motor_coulomb", "0.05"),
            .eta_f = eta_f,
            .eta_b = eta_b,
            .coulomb = 4 * 0.05,
            .ratio = 1,
            .refused = {{KEY("type", "planetary") KEY("teeth_sun", "12") KEY("teeth_ring", "60")
                             KEY("teeth_ring_out", "60") KEY("mesh_efficiency", "0.97"),
                         "does not turn"}}};

  // gamma_u = 0 without the backdriving torque, and then friction without load is the torque that it runs with
  eta_f = loadEfficiency(0.78, 34, 80, 0.0558);
  laws[2] =
      (Law){.name = "strain_wave",
            .keys = KEY("type", "strain_wave") KEY("ratio", "80") KEY("rated_torque", "34")
                KEY("rated_efficiency", "0.78") KEY("no_load_torque", "0.0558"),
            .eta_f = eta_f,
            .eta_b = 2 - 1 / eta_f,
            .coulomb = 80 * 0.0558,
            .ratio = 1,
            .refused = {{KEY("type", "strain_wave") KEY("ratio", "80") KEY("rated_torque", "34")
                             KEY("rated_efficiency", "0.78") KEY("no_load_torque", "5"),
                         "no_load_torque"}}};

  // Euler and Eytelwein
  laws[3] = (Law){.name = "capstan",
                  .keys = KEY("type", "capstan") KEY("wrap_angle", "3.2") KEY("mu", "0.12")
                      KEY("coulomb", "0.4"),
                  .eta_f = exp(-0.12 * 3.2),
                  .eta_b = exp(-0.12 * 3.2),
                  .coulomb = 0.4,
                  .ratio = 1,
                  .refused = {{KEY("wrap_angle", "1"), "write type capstan"}}};

  lossEfficiencies(&eta_f, &eta_b, 0.2, 0.05);
  laws[4] = (Law){.name = "loss",
                  .keys = KEY("type", "loss") KEY("mu_avg", "0.2") KEY("mu_dif", "0.05")
                      KEY("coulomb", "0.3") KEY("static_ratio", "1.4"),
                  .eta_f = eta_f,
                  .eta_b = eta_b,
                  .coulomb = 0.3,
                  .ratio = 1.4,
                  .refused = {{KEY("type", "loss") KEY("mu_avg", "0.1") KEY("mu_dif", "0.2"),
                               "creates energy"}}};

  laws[5] = (Law){
      .name = "presliding",
      .keys = KEY("eta_forward", "0.7") KEY("eta_backward", "0.5") KEY("coulomb", "0.5")
          KEY("presliding_stiffness", "3000"),
      .eta_f = 0.7,
      .eta_b = 0.5,
      .coulomb = 0.5,
      .ratio = 1,
      .stiffness = 3000,
      .refused = {
          {KEY("eta_forward", "0.7") KEY("presliding_stiffness", "-1"), "out of range"},
          {KEY("eta_forward", "0.7") KEY("presliding_stiffness", "0"), "out of range"},
          {KEY("eta_forward", "0.7") KEY("coulomb", "1") KEY("static_ratio", "1.5")
               KEY("presliding_stiffness", "1e4"),
           "static ratio"},
          {KEY("eta_forward", "0.7") KEY("presliding_stiffness", "1e4") KEY("backlash", "exact")
               KEY("half_gap", "1e-3") KEY("stiffness", "1e4") KEY("rotor_inertia", "0.1"),
           "leave out presliding_stiffness"},
          {KEY("presliding_stiffness", "1e4") KEY("eta_forward", "1.2"), "creates energy"}}};

  laws[6] = (Law){
      .name = "torsion",
      .keys =
          KEY("eta_forward", "0.8") KEY("eta_backward", "0.6") KEY("coulomb", "0.5") TORSION_KEYS,
      .eta_f = 0.8,
      .eta_b = 0.6,
      .coulomb = 0.5,
      .ratio = 1,
      .torsion = TORSION_LAW,
      .refused = {{KEY("backlash", "torsion") KEY("stiffness", "1e4") KEY("rotor_inertia", "1")
                       KEY("half_gap", "1e-3"),
                   "does not use it"},
                  {KEY("backlash", "torsion") KEY("stiffness", "1e4") KEY("rotor_inertia", "1")
                       KEY("stiffness_2", "2e4"),
                   "both or neither"},
                  {KEY("backlash", "torsion") KEY("stiffness", "1e4") KEY("rotor_inertia", "1")
                       KEY("stiffness_2", "2e4") KEY("torque_1", "5") KEY("stiffness_3", "3e4")
                           KEY("torque_2", "4"),
                   "torque_2 must be above"},
                  {KEY("backlash", "torsion") KEY("stiffness", "1e4"), "needs a rotor"},
                  {KEY("backlash", "torsion") KEY("stiffness", "0") KEY("rotor_inertia", "1"),
                   "stiffness must be"}}};
}

enum {
  NLAW = sizeof(laws) / sizeof(laws[0])
};


// (27)
static void gammas(double* gamma_u, double* gamma_v, const Law* law) {
  double both = law->eta_f * law->eta_b;
  *gamma_u = (1 - 2 * law->eta_f + both) / (1 - both);
  *gamma_v = (1 - 2 * law->eta_b + both) / (1 - both);
}


//---------------------------------- one joint in the engine ---------------------------------------

// rotor and link of a row: one joint, or with a shaft a motor joint and a load joint; both slide and turn alike
typedef struct Joint_ {
  mjModel* m;
  mjData* d;
  int shaft;
  double h;
} Joint;


static Joint makeJoint(const Law* law, double h) {
  Joint j = {.shaft = law->torsion.stiffness > 0, .h = h};
  if (j.shaft) {
    j.m = makeModel(
        "<mujoco><option timestep='%.17g' gravity='0 0 0'/><extension><plugin "
        "plugin='mjgear.transmission'><instance name='g'><config key='joint' value='j'/><config "
        "key='motor_joint' value='r'/>%s</instance></plugin></extension><worldbody><body><joint "
        "name='j' axis='0 0 1'/><inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g %.17g'/>"
        "</body><body><joint name='r' axis='0 0 1' armature='%.17g'/><inertial pos='0 0 0' "
        "mass='1' diaginertia='1e-14 1e-14 1e-14'/></body></worldbody><actuator><motor joint='r'/>"
        "</actuator></mujoco>",
        h, law->keys, kLink, kLink, kLink, kRotor);
  } else {
    j.m = makeModel(
        "<mujoco><option timestep='%.17g' gravity='0 0 0'/><extension><plugin "
        "plugin='mjgear.transmission'><instance name='g'><config key='joint' value='j'/>%s"
        "</instance></plugin></extension><worldbody><body><joint name='j' axis='0 0 1' "
        "armature='%.17g'/><inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g %.17g'/></body>"
        "</worldbody><actuator><motor joint='j'/></actuator></mujoco>",
        h, law->keys, kRotor, kLink, kLink, kLink);
  }
  j.d = mj_makeData(j.m);
  return j;
}


static void freeJoint(Joint* j) {
  mj_deleteData(j->d);
  mj_deleteModel(j->m);
}


// one step with motor torque u and load f; without a motor joint rotor and link are one
static void stepJoint(Joint* j, double u, double f) {
  j->d->qfrc_applied[0] = -f;
  j->d->ctrl[0] = u;
  mj_step(j->m, j->d);
}


//---------------------------------- inclusion -----------------------------------------------------

// distance of friction t, torque u into the gear and velocity of slip s from the law, relative to the torques; v0:
// direction of motion before
static double distance(const Law* law, double u, double t, double s, double v0, double scale) {
  double gamma_u, gamma_v;
  gammas(&gamma_u, &gamma_v, law);
  double lambda = (gamma_u + gamma_v) * u - gamma_v * t, bound = fabs(lambda) + law->coulomb;
  double size = fabs(u) + fabs(t) + law->coulomb + scale;
  if (s != 0) {
    return fabs(t - copysign(bound, s)) / size;
  }

  // a joint that leaves rest or reverses has the static bound
  double ratio = t * v0 > 0 ? 1 : law->ratio;
  return fmax(0, fabs(t) - ratio * bound) / size;
}


// random forces and blows to the velocity; friction from the motion alone
static void inclusion(void** state) {
  for (int k = 0; k < NLAW; k++) {
    const Law* law = laws + k;
    Joint j = makeJoint(law, 1e-3);
    double h = j.h, most = 0, last = 0, slider = 0, p = 0;
    int rests = 0;
    const mjgBacklash* shaft = &law->torsion;
    double reach = 0.5 * shaft->stiffness * shaft->hysteresis / fmax(1, shaft->stiffness_3);
    double blend = mjg_couplingBlend(shaft, h * (1 / kRotor + 1 / kLink), h);
    for (int i = 0; i < fewer(100000); i++) {
      double u = draw(-20, 20), f = draw(-20, 20);
      if (!j.shaft && i % 3 == 0) {
        j.d->qvel[0] = i % 2 ? 0 : draw(-1, 1) * pow(10, draw(-4, 0));
      }
      double link = j.d->qvel[0], rotor = j.shaft ? j.d->qvel[1] : 0;
      stepJoint(&j, u, f);
      double a = (j.d->qvel[0] - link) / h;
      if (!j.shaft) {
        // velocities have rounding errors, and h is small
        double rounding = 1e-15 * (fabs(link) + fabs(j.d->qvel[0])) * (kRotor + kLink) / h * 1e10;
        double t = u - f - (kRotor + kLink) * a;
        double slip = j.d->qvel[0];
        if (law->stiffness > 0) {
          slip -= (t - last) / (law->stiffness * h);
          slip = fabs(slip) < 1e-9 * (fabs(t) + fabs(last) + 1) ? 0 : slip;
        }
        rests += slip == 0;
        most = fmax(most, distance(law, u - kRotor * a, t, slip, link, rounding));
        last = t;
        continue;
      }

      // the shaft's torque from the link; friction is the rest of the motor's; the torque is the
      // mean over the way
      double T = kLink * a + f, after = j.d->qvel[1];
      double t = u - T - kRotor * (after - rotor) / h;
      rests += after == 0;
      most = fmax(most, distance(law, t + T, t, after, rotor, 1e-4));
      double eta = 0.5 * (1 + blend);
      double rate = eta * (after - j.d->qvel[0]) + (1 - eta) * (rotor - link);
      double from = p + blend * h * rate, to = p + h * rate;
      if (fabs(to - from) > 1e-7) {
        double mean =
            (torsionArea(shaft, slider, to) - torsionArea(shaft, slider, from)) / (to - from) +
            shaft->damping * rate;
        most = fmax(most, fabs(T - mean) / (fabs(T) + fabs(t) + fabs(u) + 1));
      }
      slider = fmax(to - reach, fmin(slider, to + reach));
      p = to;
    }
    print_message("  %-12s distance %.1e, at rest %d times\n", law->name, most, rests);
    assert_true(most < 1e-10 && rests > fewer(1000));
    freeJoint(&j);
  }
}


//---------------------------------- energy --------------------------------------------------------

// without motor and load the energy never grows, springs included
static void energy(void** state) {
  for (int k = 0; k < NLAW; k++) {
    const Law* law = laws + k;
    const mjgBacklash* shaft = &law->torsion;
    Joint j = makeJoint(law, 1e-3);
    double start = 0;
    for (int run = 0; run < fewer(20); run++) {
      mj_resetData(j.m, j.d);
      j.d->qvel[0] = draw(-3, 3);
      if (j.shaft) {
        j.d->qvel[1] = draw(-3, 3);
      }
      double last = INFINITY, slider = 0, p = 0;
      double blend = mjg_couplingBlend(shaft, j.h * (1 / kRotor + 1 / kLink), j.h);
      double eta = 0.5 * (1 + blend);
      double before = j.shaft ? j.d->qvel[1] - j.d->qvel[0] : 0;
      p = -(1 - eta) * j.h * before;
      slider = p;
      for (int i = 0; i < 2000; i++) {
        stepJoint(&j, 0, 0);
        double v = j.d->qvel[0], w = j.shaft ? j.d->qvel[1] : v;
        double now = 0.5 * (kLink * v * v + kRotor * w * w);
        if (law->stiffness > 0) {
          double t = frictionOf(j.m, j.d, "g", 0);
          now += 0.5 * t * t / law->stiffness;
        }

        // gear friction in front of a shaft may return the energy that the step's end takes:
        // doc/backlash.md has the bound
        double allowed = 0;
        if (j.shaft) {
          double rate = eta * (w - v) + (1 - eta) * before;
          double reach = 0.5 * shaft->stiffness * shaft->hysteresis / shaft->stiffness_3;
          p += j.h * rate;
          slider = fmax(p - reach, fmin(slider, p + reach));
          before = w - v;
          now += mjg_backlashEnergy(shaft, p, slider, 0);
          allowed = pow((1 - blend) * j.h * shaft->stiffness_3 * 2 * p, 2) / (8 * kRotor);
        }
        start = i ? start : now;
        assert_true(now <= last + allowed + 1e-12 * start);
        last = now;
      }
    }
    freeJoint(&j);
  }
}


//---------------------------------- order ---------------------------------------------------------

// motor sin against a load: the joint in steps of the balance of forces that are much finer
static double motorAt(double t) {
  return 12 * sin(2 * PI * 2 * t);
}


// pre-sliding without dependence on the load, and the shaft, step by step of 2 us
static void fineStep(const Law* law, double x[2], double v[2], double* yielded, double dt, double u,
                     double f) {
  if (law->stiffness > 0) {
    double limit = law->coulomb / law->stiffness;
    x[0] += 0.5 * dt * v[0];
    *yielded = fmax(-limit, fmin(*yielded + dt * v[0], limit));
    v[0] += dt * (u - f - law->stiffness * *yielded) / (kRotor + kLink);
    x[0] += 0.5 * dt * v[0];
    return;
  }
  const mjgBacklash* l = &law->torsion;
  x[0] += 0.5 * dt * v[0];
  x[1] += 0.5 * dt * v[1];
  double limit = 0.5 * l->stiffness * l->hysteresis / l->stiffness_3, twist = x[1] - x[0];
  *yielded = fmax(twist - limit, fmin(*yielded, twist + limit));
  double one = l->torque_1 / l->stiffness, two = one + (l->torque_2 - l->torque_1) / l->stiffness_2;
  double a = fabs(twist), spring = l->stiffness * fmin(a, one) +
                                   l->stiffness_2 * fmax(0, fmin(a, two) - one) +
                                   l->stiffness_3 * fmax(0, a - two);
  double T =
      copysign(spring, twist) + l->damping * (v[1] - v[0]) + l->stiffness_3 * (twist - *yielded);
  v[0] += dt * (T - f) / kLink;
  v[1] += dt * (u - T) / kRotor;
  x[0] += 0.5 * dt * v[0];
  x[1] += 0.5 * dt * v[1];
}


// mean error of the link's angle in steps h, relative to its range
static double error(const Law* law, double h) {
  Joint j = makeJoint(law, h);
  const double load = 2, end = 0.6;
  double gamma_u, gamma_v, x[2] = {0}, v[2] = {0}, yielded = 0, t = 0, sum = 0, range = 0;
  gammas(&gamma_u, &gamma_v, law);
  const Drive drive = {.m = kRotor,
                       .M = kLink,
                       .eta_f = law->eta_f,
                       .eta_b = law->eta_b,
                       .coulomb = law->coulomb,
                       .amplitude = 12,
                       .omega = 2 * PI * 2,
                       .load = load};
  int n = (int)lround(end / h), special = j.shaft || law->stiffness > 0;
  for (int i = 0; i < n; i++) {
    stepJoint(&j, motorAt(j.shaft ? i * h : (i + 0.5) * h), load);
    if (special) {
      int fines = (int)lround(h / 2e-6);
      for (int k = 0; k < fines; k++) {
        fineStep(law, x, v, &yielded, 2e-6, motorAt(i * h + (k + 0.5) * 2e-6), load);
      }
    } else {
      fine(v, x, &t, &drive, (i + 1) * h, 1e-5, NULL, NULL, 0);
    }
    sum += fabs(j.d->qpos[0] - x[0]);
    range = fmax(range, fabs(x[0]));
  }
  freeJoint(&j);
  return sum / n / range;
}


// of first order at least, and small at 1 ms. Rows with friction of their own have no load
// dependence here, which the integration in fine steps lacks, and the shaft has no gear
static void convergence(void** state) {
  for (int k = 0; k < NLAW; k++) {
    Law law = laws[k];
    if (law.stiffness > 0) {
      law.keys = KEY("gamma_u", "0") KEY("gamma_v", "0") KEY("coulomb", "0.5")
          KEY("presliding_stiffness", "3000");
    } else if (law.torsion.stiffness > 0) {
      law.keys = TORSION_KEYS;
    } else if (law.ratio != 1) {
      law.keys =
          KEY("type", "loss") KEY("mu_avg", "0.2") KEY("mu_dif", "0.05") KEY("coulomb", "0.3");
    }
    double coarse = error(&law, 1e-3), half = error(&law, 2.5e-4);
    print_message("  %-12s 1 ms %.4f %%  1/4 ms %.4f %%  order %.2f\n", law.name, 100 * coarse,
                  100 * half, 0.5 * log2(coarse / half));
    assert_true(coarse < 0.02 && half < 0.35 * coarse);
  }
}


//---------------------------------- state ---------------------------------------------------------

// two joints of a row, an arm that leans on the floor; saved, and gone on with in another mjData
static void restored(void** state) {
  for (int k = 0; k < NLAW; k++) {
    const Law* law = laws + k;
    int shaft = law->torsion.stiffness > 0;
    mjModel* m = makeModel(
        "<mujoco><option timestep='2e-3'/><extension><plugin "
        "plugin='mjgear.transmission'><instance "
        "name='g'><config key='joint' value='a b'/>%s%s</instance></plugin></extension><worldbody>"
        "<geom type='plane' size='2 2 1' pos='0 0 -0.2'/><body><joint name='a' axis='0 1 0' "
        "armature='%g'/><geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.03' mass='1'/><body "
        "pos='0.3 0 0'><joint name='b' axis='0 1 0' armature='%g'/><geom type='capsule' fromto='0 "
        "0 0 0.3 0 0' size='0.03' mass='1'/></body></body></worldbody><actuator><motor joint='a'/>"
        "<motor joint='b'/></actuator></mujoco>",
        law->keys, shaft ? KEY("rotor_inertia", "0.1") : "", shaft ? 0 : 0.1, shaft ? 0 : 0.05);
    mjData *d = mj_makeData(m), *other = mj_makeData(m);
    size_t size = (size_t)mj_stateSize(m, mjSTATE_INTEGRATION);
    mjtNum* saved = malloc(size * sizeof(mjtNum));
    int touches = 0;
    for (int i = 0; i < 600; i++) {
      if (i == 300) {
        mj_getState(m, d, saved, mjSTATE_INTEGRATION);
        mj_setState(m, other, saved, mjSTATE_INTEGRATION);
      }
      for (int b = 0; b < 2; b++) {
        d->ctrl[b] = 6 * sin(0.02 * i + b);
      }
      mj_step(m, d);
      touches += d->ncon > 0;
      if (i >= 300) {
        mju_copy(other->ctrl, d->ctrl, 2);
        mj_step(m, other);
        assert_memory_equal(d->qpos, other->qpos, sizeof(mjtNum) * (size_t)m->nq);
        assert_memory_equal(d->qvel, other->qvel, sizeof(mjtNum) * (size_t)m->nv);
        assert_memory_equal(d->plugin_state, other->plugin_state,
                            sizeof(mjtNum) * (size_t)m->npluginstate);
      }
    }
    assert_true(touches > 100);
    free(saved);
    mj_deleteData(d);
    mj_deleteData(other);
    mj_deleteModel(m);
  }
}


//---------------------------------- refusals ------------------------------------------------------

static void refusals(void** state) {
  for (int k = 0; k < NLAW; k++) {
    int n = 0;
    for (int i = 0; i < 5 && laws[k].refused[i].keys; i++, n++) {
      char text[2000] = "";
      mjModel* m = tryModel(
          text, sizeof text,
          "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'><config "
          "key='joint' value='j'/>%s</instance></plugin></extension><worldbody><body><joint "
          "name='j' axis='0 0 1'/><geom size='0.1'/></body></worldbody></mujoco>",
          laws[k].refused[i].keys);
      assert_null(m);
      if (!strstr(text, laws[k].refused[i].says)) {
        fail_msg("%s: '%s' is not in: %s", laws[k].name, laws[k].refused[i].says, text);
      }
    }
    assert_true(n >= 1);
  }
}


int main(void) {
  loadPlugin();
  makeLaws();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inclusion), cmocka_unit_test(energy),   cmocka_unit_test(convergence),
      cmocka_unit_test(restored),  cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
