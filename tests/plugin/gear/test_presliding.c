// Joints that yield before they slip, in the engine: the closed forms of one joint, its stored and
// lost energy, contact and other integrators, and the distance to LuGre's bristles in a reversal.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <mujoco/mujoco.h>

#include "plugin_models.h"

#define PI 3.14159265358979323846

#define HINGE                                                                           \
  "<mujoco><option timestep='%g' gravity='0 0 0' integrator='%s'/><extension><plugin "  \
  "plugin='mjgear.transmission'><instance name='g'><config key='joint' value='j'/>"     \
  "<config key='gamma_u' value='%g'/><config key='gamma_v' value='%g'/>"                \
  "<config key='coulomb' value='%g'/><config key='presliding_stiffness' value='%g'/>"   \
  "</instance></plugin></extension><worldbody><body><joint name='j' axis='0 0 1' "      \
  "armature='%g' damping='%g'/><inertial pos='0 0 0' mass='1' diaginertia='%g %g %g'/>" \
  "</body></worldbody><actuator><motor joint='j'/></actuator></mujoco>"

static const char* const kIntegrators[] = {"Euler", "implicitfast", "implicit", "discrete"};


// below breakaway it yields by torque/stiffness and creeps back; above it slides, and springs back
// by its yield
static void yieldsAndCreepsBack(void** state) {
  for (int k = 0; k < 4; k++) {
    const double c = 2, stiffness = 400;
    mjModel* m =
        makeModel(HINGE, 1e-3, kIntegrators[k], 0.0, 0.0, c, stiffness, 0.05, 5.0, 0.1, 0.1, 0.1);
    mjData* d = mj_makeData(m);
    d->ctrl[0] = 1.5;
    mj_step(m, d);
    assert_true(d->qvel[0] > 0);
    for (int i = 0; i < 2000; i++) {
      mj_step(m, d);
    }
    assert_true(fabs(d->qpos[0] - 1.5 / stiffness) < 1e-9);
    d->ctrl[0] = 0;
    for (int i = 0; i < 2000; i++) {
      mj_step(m, d);
    }
    assert_true(fabs(d->qpos[0]) < 1e-9);

    // above breakaway it slides, and its yield comes back when the motor is switched off
    d->ctrl[0] = 1.02 * c;
    for (int i = 0; i < 4000; i++) {
      mj_step(m, d);
    }
    double slid = d->qpos[0];
    assert_true(slid > 2 * c / stiffness && frictionOf(m, d, "g", 0) == c);
    d->ctrl[0] = 0;
    for (int i = 0; i < 4000; i++) {
      mj_step(m, d);
      slid = fmax(slid, d->qpos[0]);
    }
    assert_true(fabs(slid - d->qpos[0] - c / stiffness) < 1e-6 * c / stiffness);
    assert_true(fabs(frictionOf(m, d, "g", 0)) < 1e-6);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// without motor the energy of motion and of the springs falls in every step, for any load
// dependence of friction
static void losesEnergy(void** state) {
  static const double gamma_v[] = {0, 0.4, 0.9, 1.3};
  for (int k = 0; k < 16; k++) {
    const double m_rotor = 0.3, link = 0.2, c = k % 2 ? 0.0 : 0.5, stiffness = 3e3;
    mjModel* m = makeModel(HINGE, 2e-3, kIntegrators[k % 4], 0.2, gamma_v[k / 4], c, stiffness,
                           m_rotor, 0.0, link, link, link);
    mjData* d = mj_makeData(m);
    d->qvel[0] = 3;
    double last = 0.5 * (m_rotor + link) * 9;
    for (int i = 0; i < 3000; i++) {
      mj_step(m, d);
      double t = frictionOf(m, d, "g", 0);
      double energy = 0.5 * (m_rotor + link) * d->qvel[0] * d->qvel[0] + 0.5 * t * t / stiffness;
      assert_true(energy <= last * (1 + 1e-13));
      last = energy;
    }

    // all of it vanishes; an unloaded gear without constant friction has none
    assert_true(c == 0 || last < 1e-12);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// a weight that leans on a wall through a yielding gear: the wall carries the difference to
// friction
static void withContact(void** state) {
  for (int k = 0; k < 4; k++) {
    mjModel* m = makeModel(
        "<mujoco><option timestep='1e-3' integrator='%s' cone='elliptic'/><extension><plugin "
        "plugin='mjgear.transmission'><instance name='g'><config key='joint' value='j'/>"
        "<config key='eta_forward' value='0.6'/><config key='eta_backward' value='0.4'/>"
        "<config key='coulomb' value='0.3'/><config key='presliding_stiffness' value='2e3'/>"
        "</instance></plugin></extension><worldbody><geom type='plane' size='3 3 1' pos='0 0 "
        "-0.3'/><body><joint name='j' axis='0 1 0' armature='0.05'/><geom type='capsule' "
        "fromto='0 0 0 0.5 0 0' size='0.03' mass='1'/></body></worldbody>"
        "<actuator><motor joint='j'/></actuator></mujoco>",
        kIntegrators[k]);
    mjData* d = mj_makeData(m);
    int touches = 0;
    for (int i = 0; i < 4000; i++) {
      // lean on the floor, lift off, let go
      d->ctrl[0] = i < 1500 ? 3 : i < 2500 ? -8 : 0;
      double last = frictionOf(m, d, "g", 0), old = d->qvel[0];
      mj_step(m, d);
      touches += d->ncon > 0;

      // the inclusion, from the engine's data: link and rotor, and the law in the slip's velocity
      double t = frictionOf(m, d, "g", 0), h = 1e-3, a = (d->qvel[0] - old) / h;
      double slip = d->qvel[0] - (t - last) / (2e3 * h), u = d->ctrl[0] - 0.05 * a;
      double gamma_u = (1 - 1.2 + 0.24) / (1 - 0.24), gamma_v = (1 - 0.8 + 0.24) / (1 - 0.24);
      double load = (gamma_u + gamma_v) * u - gamma_v * t, bound = fabs(load) + 0.3;
      double own = 1 / (2e3 * h), trial = t + slip / own;
      double clipped = trial > bound ? bound : trial < -bound ? -bound : trial;
      assert_true(fabs(t - clipped) < 1e-9 * (1 + bound));
    }
    assert_true(touches > 1000);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


//---------------------------------- LuGre ---------------------------------------------------------

// one inertia M with LuGre's friction, sigma1 = sigma2 = 0 (Dahl's curve), driven by bias + amplitude sin(omega t), in
// fine steps of the fourth order: z' = v - stiffness |v|/c z
static void fineLuGre(double y[3], double M, double c, double stiffness, double bias,
                      double amplitude, double omega, double from, double to, int steps) {
  double dt = (to - from) / steps;
  for (int i = 0; i < steps; i++) {
    double k[5][3] = {{0}};
    static const double at[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double sum[3] = {0};
    for (int r = 0; r < 4; r++) {
      double q[3];
      for (int j = 0; j < 3; j++) {
        q[j] = y[j] + at[r] * dt * k[r][j];
      }
      double torque = bias + amplitude * sin(omega * (from + (i + at[r]) * dt));
      k[r + 1][0] = q[1];
      k[r + 1][1] = (torque - stiffness * q[2]) / M;
      k[r + 1][2] = q[1] - stiffness * fabs(q[1]) / c * q[2];
      for (int j = 0; j < 3; j++) {
        sum[j] += weight[r] * dt * k[r + 1][j];
      }
    }
    for (int j = 0; j < 3; j++) {
      y[j] += sum[j];
    }
  }
}


// The same stiffness at both: a joint that slides to and fro. LuGre's curve at a reversal is 1 - 2
// exp(-x), ours a straight line to 2: they lose the same work, and the angles differ by less than
// the error of rigid friction
static void turnsAround(void** state) {
  const double M = 1, c = 4, stiffness = 800, amplitude = 7, omega = 2 * PI, h = 1e-3;
  double most[2] = {0}, work[3] = {0}, range = 0;
  mjModel* m[2];
  mjData* d[2];
  for (int k = 0; k < 2; k++) {
    m[k] = makeModel(HINGE, h, "Euler", 0.0, 0.0, c, k ? 1e12 : stiffness, 0.0, 0.0, M, M, M);
    d[k] = mj_makeData(m[k]);
  }
  double y[3] = {0};
  for (int i = 0; i < 4000; i++) {
    double torque = amplitude * sin(omega * (i + 0.5) * h), old = y[0];
    fineLuGre(y, M, c, stiffness, 0, amplitude, omega, i * h, (i + 1) * h, 50);
    range = fmax(range, fabs(y[0]));
    work[2] += (y[0] - old) * torque;
    for (int k = 0; k < 2; k++) {
      d[k]->ctrl[0] = torque;
      double before = d[k]->qpos[0];
      mj_step(m[k], d[k]);
      most[k] = fmax(most[k], fabs(d[k]->qpos[0] - y[0]));
      work[k] += (d[k]->qpos[0] - before) * torque;
    }
  }

  // measured: 0.0385 of 0.248 rad (rigid 0.0859), work 8.61 of 8.68 J (rigid 5.21)
  assert_true(most[0] < 0.17 * range && most[0] < 0.5 * most[1]);
  assert_true(fabs(work[0] / work[2] - 1) < 0.01 && fabs(work[1] / work[2] - 1) > 0.3);
  for (int k = 0; k < 2; k++) {
    mj_deleteData(d[k]);
    mj_deleteModel(m[k]);
  }
}


// One slow reversal, friction over the angle: both go from c to -c, ours along a line of the
// stiffness, LuGre's along c (2 exp(-x) - 1) with x = stiffness/c angle. They differ by at most (1
// - ln 2) c at x = ln 2; the work saved against rigid friction, 2 c^2/stiffness, is the same
static void crawlsAroundATurn(void** state) {
  const double M = 1, c = 4, stiffness = 800, speed = 1e-2, h = 1e-4;
  mjModel* m = makeModel(HINGE, h, "Euler", 0.0, 0.0, c, stiffness, 0.0, 0.0, M, M, M);
  mjData* d = mj_makeData(m);
  double most = 0, saved[2] = {0}, start = 0;
  int n = (int)lround(12 * c / stiffness / speed / h);
  for (int i = -n; i < n; i++) {
    // the motion is prescribed, with any torque
    d->qvel[0] = i < 0 ? speed : -speed;
    double last = frictionOf(m, d, "g", 0), before = d->qpos[0];
    double t = fmax(-c, fmin(c, last + stiffness * h * d->qvel[0]));
    d->ctrl[0] = t;
    mj_step(m, d);
    assert_true(fabs(d->qvel[0] - (i < 0 ? speed : -speed)) < 1e-9);
    assert_true(fabs(frictionOf(m, d, "g", 0) - t) < 1e-9);
    if (i == -1) {
      start = d->qpos[0];
    }
    if (i >= 0) {
      double x = (start - d->qpos[0]) * stiffness / c, lugre = c * (2 * exp(-x) - 1);
      most = fmax(most, fabs(t - lugre));
      saved[0] += (before - d->qpos[0]) * (c + t);
      saved[1] += (before - d->qpos[0]) * (c + lugre);
    }
  }
  assert_true(fabs(most / c - (1 - log(2))) < 1e-3);
  assert_true(fabs(saved[0] / (2 * c * c / stiffness) - 1) < 1e-2);
  assert_true(fabs(saved[1] / saved[0] - 1) < 1e-2);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// a load below break-away, and a shake that stays below it, too: LuGre's bristles creep away with every cycle, the joint
// that yields does not
static void doesNotDrift(void** state) {
  const double M = 1, c = 4, stiffness = 800, bias = 1.5, amplitude = 1, omega = 2 * PI, h = 1e-3;
  mjModel* m = makeModel(HINGE, h, "Euler", 0.0, 0.0, c, stiffness, 0.0, 0.0, M, M, M);
  mjData* d = mj_makeData(m);
  double y[3] = {0}, at[2][2] = {{0}};
  for (int i = 0; i < 20000; i++) {
    fineLuGre(y, M, c, stiffness, bias, amplitude, omega, i * h, (i + 1) * h, 20);
    d->ctrl[0] = bias + amplitude * sin(omega * (i + 0.5) * h);
    mj_step(m, d);
    if (i == 9999 || i == 19999) {
      at[0][i > 10000] = d->qpos[0];
      at[1][i > 10000] = y[0];
    }
  }

  // the difference is the swing at that moment
  assert_true(fabs(at[0][1] - at[0][0]) < 1e-4 && at[1][1] - at[1][0] > 0.02);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// A rotor that swings slowly on the twist of its gear. Other solvers compute its velocity as a
// small difference of large terms: v+ = (v - h k q/I)/(1 + h^2 k/I). This round-off does
// not count as an unconfirmed motion
static void smallDifferences(void** state) {
  static const char* const solvers[] = {"newton", "gauss_seidel", "lemke"};
  const double h = 0.002, stiffness = 10, inertia = 10;
  for (int k = 0; k < 3; k++) {
    mjModel* m = makeModel(
        "<mujoco><option timestep='%g' gravity='0 0 0'/><extension><plugin "
        "plugin='mjgear.transmission'><instance name='g'><config key='joint' value='j'/>"
        "<config key='gamma_u' value='.1'/><config key='gamma_v' value='.3'/>"
        "<config key='coulomb' value='5'/><config key='presliding_stiffness' value='%g'/>"
        "<config key='solver' value='%s'/></instance></plugin></extension><worldbody><body>"
        "<joint name='j' axis='0 0 1'/><inertial pos='0 0 0' mass='1' diaginertia='%g %g %g'/>"
        "</body></worldbody></mujoco>",
        h, stiffness, solvers[k], inertia, inertia, inertia);
    mjData* d = mj_makeData(m);
    d->qvel[0] = 0.3 / h;
    mj_step(m, d);
    for (int i = 0; i < 200; i++) {
      double v = d->qvel[0] = i % 10 ? d->qvel[0] : 0, q = d->qpos[0];
      mj_step(m, d);
      double next = (v - h * stiffness / inertia * q) / (1 + h * h * stiffness / inertia);
      assert_true(fabs(d->qvel[0] - next) < 1e-10);
    }
    assert_int_equal(countWarnings(NULL), 0);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(yieldsAndCreepsBack), cmocka_unit_test(losesEnergy),
      cmocka_unit_test(withContact),         cmocka_unit_test(turnsAround),
      cmocka_unit_test(crawlsAroundATurn),   cmocka_unit_test(doesNotDrift),
      cmocka_unit_test(smallDifferences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
