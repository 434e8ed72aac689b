// Inverse dynamics with gears: against closed forms of a slide with one gear, and against the torques of steps.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dense_equations.h"
#include "fewer.h"
#include "mjgear_plugin.h"
#include "plugin_models.h"

static const char* const kIntegrator[] = {"Euler", "implicit", "implicitfast", "discrete"};

// a slide with a rotor, under a force; its damping is taken at the end of the step
static const double kMass = 2, kRotor = .7, kDamping = 3, kStep = .004;

#define SLIDE                                                                                   \
  "<mujoco><option timestep='.004' integrator='%s' gravity='0 0 0' tolerance='1e-14'/>"         \
  "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"                         \
  "<config key='joint' value='j'/>%s</instance></plugin></extension><worldbody><body>"          \
  "<joint name='j' type='slide' axis='1 0 0' armature='%g' damping='3'/><geom mass='2'"         \
  " size='.1'/></body><body pos='0 3 0'><joint name='k' axis='0 1 0'/><geom size='.1'/></body>" \
  "</worldbody><actuator>%s</actuator></mujoco>"
#define KEY(key, value) "<config key='" key "' value='" value "'/>"
#define MOTOR           "<motor joint='j'/>"


static void near(double value, double expected, double scale) {
  if (!(fabs(value - expected) <= 1e-11 * scale)) {
    fail_msg("%.15g is not %.15g", value, expected);
  }
}


// mjg_inverse of joint j with velocity v and acceleration a, under a force; returns mjgMotion
static int solve(double* low, double* high, const mjModel* m, double v, double a, double force) {
  mjData* d = mj_makeData(m);
  double all[2][2], acc[2] = {a, 0};
  int motion[2];
  char error[200] = "";
  d->qvel[0] = v;
  d->qfrc_applied[0] = force;
  int count = mjg_inverse(all[0], all[1], motion, m, d, acc, NULL, error, sizeof(error));
  assert_string_equal(error, "");
  assert_int_equal(count, motion[0] == mjgMOTION_JAMS);
  *low = all[0][0];
  *high = all[1][0];

  // a joint without a gear
  assert_true(isnan(all[0][1]) && isnan(all[1][1]));
  assert_int_equal(motion[1], mjgMOTION_UNGEARED);
  mj_deleteData(d);
  return motion[0];
}


// velocity after a step from rest
static double speed(const mjModel* m, double torque, double force) {
  mjData* d = mj_makeData(m);
  d->ctrl[0] = torque;
  d->qfrc_applied[0] = force;
  mj_step(m, d);
  double v = d->qvel[0];
  mj_deleteData(d);
  return v;
}


// x = M a + d v+ - F; the motor gives x/eta_f to drive it, eta_b x to be driven, and its rotor's
// torque
static void test_moving(void** state) {
  for (int k = 0; k < 4; k++) {
    mjModel* m = makeModel(SLIDE, kIntegrator[k],
                           KEY("eta_forward", ".8") KEY("eta_backward", ".5"), kRotor, MOTOR);
    for (int s = -1; s <= 1; s += 2) {
      for (double force = -30; force <= 30; force += 60) {
        double low, high, v = .3 * s, a = 2, x = kMass * a + kDamping * (v + kStep * a) - force;
        assert_int_equal(solve(&low, &high, m, v, a, force), mjgMOTION_MOVES);
        near(low, (s * x > 0 ? x / .8 : .5 * x) + kRotor * a, 50);
        assert_true(low == high);
      }
    }
    mj_deleteModel(m);
  }
}


// at rest the interval reaches from being driven to driving, wider by c on both sides
static void test_resting(void** state) {
  for (int k = 0; k < 4; k++) {
    mjModel* m = makeModel(SLIDE, kIntegrator[k],
                           KEY("eta_forward", ".8") KEY("eta_backward", ".5"), kRotor, MOTOR);
    for (double force = -30; force <= 30; force += 60) {
      double low, high, v = .01, a = -v / kStep, x = kMass * a - force;
      assert_int_equal(solve(&low, &high, m, v, a, force), mjgMOTION_RESTS);
      near(low, fmin(x / .8, .5 * x) + kRotor * a, 50);
      near(high, fmax(x / .8, .5 * x) + kRotor * a, 50);
      assert_int_equal(solve(&low, &high, m, 0, 0, force), mjgMOTION_RESTS);
      near(low, fmin(-force / .8, -.5 * force), 50);
      near(high, fmax(-force / .8, -.5 * force), 50);
    }
    mj_deleteModel(m);
    m = makeModel(SLIDE, kIntegrator[k],
                  KEY("gamma_u", "0") KEY("gamma_v", "0") KEY("coulomb", "2")
                      KEY("static_ratio", "1.5"),
                  kRotor, MOTOR);
    double low, high;
    assert_int_equal(solve(&low, &high, m, 0, 0, 10), mjgMOTION_RESTS);
    near(low, -13, 20);
    near(high, -7, 20);

    // a joint that comes to rest meets its static bound in the other direction only
    assert_int_equal(solve(&low, &high, m, .01, -.01 / kStep, 0), mjgMOTION_RESTS);
    near(low, -(kMass + kRotor) * 2.5 - 3, 20);
    near(high, -(kMass + kRotor) * 2.5 + 2, 20);
    mj_deleteModel(m);
  }
}


// A gear that locks: a load that drives it leaves it at rest, unless its rotor is heavy
static void test_locking(void** state) {
  double low, high, load = 30;
  const char* keys = KEY("gamma_u", ".2") KEY("gamma_v", "1.5");
  for (int k = 0; k < 4; k++) {
    mjModel* m = makeModel(SLIDE, kIntegrator[k], keys, .01, MOTOR);
    assert_int_equal(solve(&low, &high, m, .3, 2, load), mjgMOTION_JAMS);

    // it rests without a motor; steps find the torque from which the motor moves it
    assert_int_equal(solve(&low, &high, m, 0, 0, load), mjgMOTION_RESTS);
    near(low, -load * 2.5 / .8, 100);
    assert_true(low < 0 && high > 0);
    assert_true(speed(m, low * (1 - 1e-6), load) == 0 && speed(m, low * (1 + 1e-6), load) < 0);
    assert_true(speed(m, 0, load) == 0 && speed(m, high * (1 + 1e-6), load) > 0);
    near(high, load * .5 / 1.2, 100);
    mj_deleteModel(m);
    m = makeModel(SLIDE, kIntegrator[k], keys, 2., MOTOR);
    double x = kMass * 2 + kDamping * (.3 + kStep * 2) - load;
    assert_int_equal(solve(&low, &high, m, .3, 2, load), mjgMOTION_MOVES);
    near(low, -.5 / 1.2 * x + 2 * 2, 100);
    mj_deleteModel(m);
  }

  // no joint leaves rest this slowly under static friction
  mjModel* m = makeModel(SLIDE, "Euler",
                         KEY("gamma_u", "0") KEY("gamma_v", "0") KEY("coulomb", "2")
                             KEY("static_ratio", "1.5"),
                         kRotor, MOTOR);
  assert_int_equal(solve(&low, &high, m, 0, .01, 0), mjgMOTION_HELD);
  double slides = (kMass + kRotor + kDamping * kStep) * .01;
  near(low, slides + 2, 20);
  near(high, slides + 3, 20);
  assert_int_equal(solve(&low, &high, m, 0, -.01, 0), mjgMOTION_HELD);
  near(low, -slides - 3, 20);
  near(high, -slides - 2, 20);
  assert_int_equal(solve(&low, &high, m, 0, 1, 0), mjgMOTION_MOVES);
  near(low, (kMass + kRotor + kDamping * kStep) * 1 + 2, 20);
  mj_deleteModel(m);
}


//---------------------------------- verdicts with constraints -------------------------------------

// an arm whose joints are coupled by soft constraints, with gears that lock
static const char* const kArm =
    "<mujoco><option timestep='.004' integrator='%s' jacobian='dense' tolerance='1e-14'/>"
    "<extension><plugin plugin='mjgear.transmission'><instance name='g'>" KEY("joint", "a b c")
        KEY("gamma_u", ".2") KEY("gamma_v", "1.1") KEY("coulomb", ".01 .02 .01") "</instance></plugin>"
    "</extension><default><geom type='capsule' size='.03' fromto='0 0 0 .3 0 0'/></default>"
    "<worldbody><body><joint name='a' axis='0 1 0' armature='1'/><geom/>"
    "<body pos='.3 0 0'><joint name='b' axis='0 1 0' armature='1'/><geom/>"
    "<body pos='.3 0 0'><joint name='c' axis='0 0 1' armature='1'/><geom/></body></body></body>"
    "</worldbody><equality><joint joint1='a' joint2='b' solref='.1 1'/>"
    "<joint joint1='c' polycoef='.1 0 0 0 0' solref='.02 1'/></equality>"
    "<actuator><motor joint='a'/><motor joint='b'/><motor joint='c'/></actuator></mujoco>";

static unsigned seed = 1;

static double uniform(double low, double high) {
  seed = seed * 1664525u + 1013904223u;
  return low + (high - low) * (seed / 4294967296.0);
}


// effect of friction of 1 on joint i on its acceleration over the step, in the engine's own
// matrices at inverse dynamics
static double effect(const mjModel* m, mjData* d, int i) {
  double M[9], H[9], Mhat[9], x[3] = {0}, y[3] = {0};
  mj_fullM(m, d, M);
  for (int k = 0; k < 9; k++) {
    int diagonal = k % 4 == 0;
    Mhat[k] = M[k] + (diagonal ? m->opt.timestep * m->dof_damping[k / 4] : 0);
    H[k] = (m->opt.integrator == mjINT_DISCRETE ? Mhat : M)[k];
    for (int r = 0; r < d->nefc; r++) {
      H[k] += d->efc_J[3 * r + k / 3] * d->efc_D[r] * d->efc_J[3 * r + k % 3];
    }
  }
  x[i] = 1;
  assert_true(solveEquations(H, 3, x, 3));
  if (m->opt.integrator == mjINT_DISCRETE) {
    return x[i];
  }
  mju_mulMatVec(y, M, x, 3, 3);
  assert_true(solveEquations(Mhat, 3, y, 3));
  return y[i];
}


// A self-locking gear that its load drives keeps moving if gamma_v - (gamma_u + gamma_v) S W < 1
static void test_verdicts(void** state) {
  static const char* const integrator[] = {"Euler", "implicitfast", "discrete"};
  const int trials = fewer(6000);
  int seen[2][2] = {{0}};
  for (int trial = 0; trial < trials; trial++) {
    mjModel* m = makeModel(kArm, integrator[trial % 3]);
    mjData* d = mj_makeData(m);
    double low[3], high[3];
    mjtNum acc[3];
    int motion[3];
    for (int k = 0; k < 3; k++) {
      m->dof_armature[k] = exp(uniform(log(1e-3), log(3)));
      m->dof_damping[k] = trial % 4 ? exp(uniform(log(1e-2), log(100))) : 0;
      m->eq_data[k < 2 ? mjNEQDATA * k : 0] += uniform(-1, 1);
    }
    for (int k = 0; k < 3; k++) {
      d->qpos[k] = uniform(-1, 1);
      d->qvel[k] = uniform(-1, 1);
      acc[k] = uniform(-100, 100);
    }
    mjg_inverse(low, high, motion, m, d, acc, NULL, NULL, 0);
    m->opt.enableflags |= mjENBL_INVDISCRETE;
    mju_copy(d->qacc, acc, 3);
    mj_inverse(m, d);
    for (int i = 0; i < 3; i++) {
      // torque out of the gear, and friction s t = |lambda| + c with lambda = 1.3 x + .2 t
      double S = m->dof_armature[i], x = d->qfrc_inverse[i] - S * acc[i], c = i == 1 ? .02 : .01;
      double s = d->qvel[i] + m->opt.timestep * acc[i] > 0 ? 1 : -1;
      int driven = s * x < -.2 * c / 1.3;
      double t = s * (driven ? (c - 1.3 * s * x) / 1.2 : (c + 1.3 * s * x) / .8);
      double P = 1.3 * S * effect(m, d, i) - 1.1;
      near(low[i], x + t + S * acc[i], 100 + mju_abs(d->qfrc_inverse[i]));
      if (fabs(P + 1) > 1e-9) {
        assert_int_equal(motion[i], driven && P < -1 ? mjgMOTION_JAMS : mjgMOTION_MOVES);
        seen[driven][P < -1]++;
      }
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  assert_true(seen[0][0] > trials / 6 && seen[1][0] > trials / 6 && seen[1][1] > trials / 6);
}


// Torques of a servo's steps, from the step and from mj_forward's acceleration; a call
// does not change later steps
static void test_steps(void** state) {
  for (int k = 0; k < 12; k++) {
    mjModel* m = makeModel(SLIDE, kIntegrator[k % 4],
                           KEY("gamma_u", ".2") KEY("gamma_v", ".6") KEY("coulomb", ".5"), kRotor,
                           k < 4 ? "<position joint='j' kp='900' kv='40' forcerange='-25 25'/>"
                                 : "<position joint='j' kp='900' kv='40'/>");
    m->jnt_actfrclimited[0] = k >= 8;  // the servo has a limit, or its joint, or neither
    m->jnt_actfrcrange[0] = -25;
    m->jnt_actfrcrange[1] = 25;
    mjData *d = mj_makeData(m), *asked = mj_makeData(m);
    int seen[4] = {0};
    countWarnings(NULL);
    for (int i = 0; i < 600; i++) {
      double low[2], high[2], v = d->qvel[0];
      int motion[2];
      d->ctrl[0] = i < 300 ? .2 * sin(.05 * i) : .01;
      d->qfrc_applied[0] = 8 * sin(.013 * i);
      mj_copyData(asked, m, d);
      mj_step(m, d);
      double torque = d->qfrc_actuator[0];
      mjtNum acc[2] = {(d->qvel[0] - v) / m->opt.timestep, 0};
      for (int given = 1; given >= 0; given--) {
        if (!given) {
          mj_forward(m, asked);
        }
        assert_int_equal(
            mjg_inverse(low, high, motion, m, asked, given ? acc : NULL, NULL, NULL, 0), 0);
        assert_true(low[0] <= torque + 1e-8 && torque - 1e-8 <= high[0]);
        assert_true(motion[0] == mjgMOTION_RESTS || fabs(low[0] - torque) <= 1e-8);
        seen[motion[0]]++;

        // forces alone anew
        mj_forwardSkip(m, asked, mjSTAGE_VEL, 1);
        near(asked->qfrc_passive[0], d->qfrc_passive[0], 50);
      }
      assert_int_equal(motion[0] == mjgMOTION_RESTS, d->qvel[0] == 0);

      // the same step of the data that were asked
      mj_step(m, asked);
      assert_memory_equal(asked->qvel, d->qvel, sizeof(mjtNum) * 2);
      assert_memory_equal(asked->qpos, d->qpos, sizeof(mjtNum) * 2);
    }
    assert_int_equal(countWarnings(NULL), 0);
    assert_true(seen[mjgMOTION_MOVES] > 100 && (seen[mjgMOTION_RESTS] > 100 || (k >= 4 && k < 8)));
    mj_deleteData(asked);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// The round-off of a step is relative to its fastest motion, of which a tenth reaches other joints. A slide that a motor moves
// slowly beside one that a force throws moves, if it is faster than a tenth of 1e-10 of it, and its motor's
// torque is known; else it rests
static void test_fastest(void** state) {
  for (int k = 0; k < 4; k++) {
    mjModel* m = makeModel(
        "<mujoco><option timestep='.004' integrator='%s' gravity='0 0 0'/><extension>"
        "<plugin plugin='mjgear.transmission'><instance name='g'><config key='joint' value='j k'/>"
        KEY("eta_forward", ".8") KEY("eta_backward", ".5")
        "</instance></plugin></extension><worldbody><body><joint name='j' type='slide' axis='1 0 0'/>"
        "<geom mass='2' size='.1'/></body><body pos='0 3 0'><joint name='k' type='slide' "
        "axis='1 0 0'/><geom mass='1' size='.1'/></body></worldbody><actuator><motor joint='j'/>"
        "</actuator></mujoco>",
        kIntegrator[k]);
    mjData* d = mj_makeData(m);
    static const double share[] = {.3, .03};
    for (int i = 0; i < 2; i++) {
      double low[2], high[2];
      int motion[2];
      d->qfrc_applied[1] = 1000;
      mj_forward(m, d);
      double fastest = .004 * d->qacc[1];
      assert_true(fastest > 1);

      // .8 of the torque moves the mass
      d->ctrl[0] = share[i] * 1e-10 * fastest * 2 / (.8 * .004);
      mj_forward(m, d);
      near(.004 * d->qacc[0], share[i] * 1e-10 * fastest, fastest * 1e-9);
      assert_int_equal(mjg_inverse(low, high, motion, m, d, NULL, NULL, NULL, 0), 0);
      assert_int_equal(motion[0], i ? mjgMOTION_RESTS : mjgMOTION_MOVES);
      assert_int_equal(motion[1], mjgMOTION_MOVES);
      if (!i) {
        near(low[0], d->ctrl[0], d->ctrl[0]);
        assert_true(low[0] == high[0]);
      }
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


static void test_refusals(void** state) {
  mjModel* m = makeModel(SLIDE, "Euler", KEY("gamma_u", "0") KEY("gamma_v", "0"), 0., MOTOR);
  mjModel* other = makeModel("<mujoco><worldbody/></mujoco>");
  mjData* d = mj_makeData(m);
  double low[2], high[2], acc[2] = {NAN, 0};
  char error[200] = "";
  assert_int_equal(mjg_inverse(NULL, high, NULL, m, d, NULL, NULL, error, sizeof(error)), -1);
  assert_non_null(strstr(error, "give low and high"));
  assert_int_equal(mjg_inverse(low, high, NULL, m, d, acc, NULL, error, sizeof(error)), -1);
  assert_non_null(strstr(error, "acceleration is not finite"));
  mjtNum* const bad[] = {d->qpos, d->qvel, d->qfrc_applied, d->xfrc_applied + 6 * m->nbody - 1};
  for (int i = 0; i < 4; i++) {
    for (int k = 0; k < 2; k++) {
      *bad[i] = k ? NAN : 1e11;
      assert_int_equal(mjg_inverse(low, high, NULL, m, d, NULL, NULL, error, sizeof(error)), -1);
      assert_non_null(strstr(error, "in the data is not finite or beyond"));
    }
    *bad[i] = 0;
  }
  assert_int_equal(mjg_inverse(low, high, NULL, other, d, NULL, NULL, error, sizeof(error)), -1);
  assert_non_null(strstr(error, "has no gear"));
  assert_int_equal(mjg_inverse(low, high, NULL, m, NULL, NULL, NULL, error, sizeof(error)), -1);
  m->opt.integrator = mjINT_RK4;
  assert_int_equal(mjg_inverse(low, high, NULL, m, d, NULL, NULL, error, sizeof(error)), -1);
  assert_non_null(strstr(error, "RK4"));
  assert_int_equal(mjg_inverse(low, high, NULL, m, d, NULL, NULL, NULL, 0), -1);
  mj_deleteData(d);
  mj_deleteModel(other);
  mj_deleteModel(m);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_moving),   cmocka_unit_test(test_resting),
      cmocka_unit_test(test_locking),  cmocka_unit_test(test_verdicts),
      cmocka_unit_test(test_steps),    cmocka_unit_test(test_fastest),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
