// Gears in the engine: they are self-locking exactly where theory says, over friction and lead
// angle, and have the inertias of (38), measured from simulated accelerations; and a measured gear.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "gear/piece.h"
#include "law/law.h"
#include "mjgear_report.h"
#include "plugin_models.h"

static const double kDegree = 3.14159265358979323846 / 180;

static const char* const lift =
    "<mujoco><option timestep='0.001'/>"
    "<extension><plugin plugin='mjgear.transmission'><instance name='a'>"
    "<config key='joint' value='j'/><config key='type' value='worm'/>"
    "<config key='lead_angle' value='%.17g'/><config key='pressure_angle' value='%.17g'/>"
    "<config key='mu' value='%.17g'/></instance></plugin></extension>"
    "<worldbody><body><joint name='j' type='slide' axis='0 0 1' armature='%g'/>"
    "<geom size='.1' mass='2'/></body></worldbody><actuator><motor joint='j'/></actuator></mujoco>";


// returns 1 if the weight moves the thread with the motor off
static int sinks(double lead_angle, double pressure_angle, double mu) {
  mjModel* m = makeModel(lift, lead_angle, pressure_angle, mu, 1.0);
  mjData* d = mj_makeData(m);
  for (int i = 0; i < 100; i++) {
    mj_step(m, d);
  }
  int moves = d->qvel[0] != 0 || d->qpos[0] != 0;
  assert_true(!moves || d->qvel[0] < 0);
  mj_deleteData(d);
  mj_deleteModel(m);
  return moves;
}


// the thread holds where tan(lead angle) cos(pressure angle) <= mu, to a millionth
static void test_selfLocking(void** state) {
  int held = 0, sunk = 0;
  for (double lead = 2; lead <= 30; lead += 4) {
    for (double flank = 0; flank <= 30; flank += 15) {
      double limit = tan(lead * kDegree) * cos(flank * kDegree);
      static const double ratio[] = {0.3, 0.9, 1 - 1e-6, 1 + 1e-6, 1.1, 2};
      for (int i = 0; i < 6; i++) {
        int moves = sinks(lead * kDegree, flank * kDegree, ratio[i] * limit);
        if (moves != (ratio[i] < 1)) {
          fail_msg("lead %g deg, flank %g deg, mu = %.9g of the limit: moves %d", lead, flank,
                   ratio[i], moves);
        }
        held += !moves;
        sunk += moves;
      }
    }
  }
  printf("%d held, %d sank\n", held, sunk);
}


// acceleration of the sliding nut under motor torque f_u and, beside its weight, load f
static double acceleration(mjModel* m, mjData* d, double v, double f_u, double f) {
  mj_resetData(m, d);
  d->qvel[0] = v;
  d->ctrl[0] = f_u;
  d->qfrc_applied[0] = -f;
  mj_step(m, d);
  return (d->qvel[0] - v) / m->opt.timestep;
}


static void test_apparentInertia(void** state) {
  double worst = 0;
  for (double mu = 0.02; mu < 0.3; mu += 0.03) {
    for (double rotor = 0.1; rotor < 100; rotor *= 4) {
      // textbook efficiencies
      double lead = 20 * kDegree, rho = atan(mu / cos(0.3));
      double eta_f = tan(lead) / tan(lead + rho), eta_b = tan(lead - rho) / tan(lead);
      mjModel* m = makeModel(lift, lead, 0.3, mu, rotor);
      mjData* d = mj_makeData(m);

      // lifting: eta_f f_u accelerates eta_f m + M, for f_u much above the torque that
      // holds the weight
      double a = acceleration(m, d, 1, 400, 0), b = acceleration(m, d, 1, 500, 0);
      double shown = eta_f * 100 / (b - a);
      worst = fmax(worst, fabs(shown / (eta_f * rotor + 2) - 1));

      // driven by the load: f_v accelerates m/eta_b + M, for f_v much above the load that
      // the motor holds
      a = acceleration(m, d, -1, 0, 5000);
      b = acceleration(m, d, -1, 0, 6000);
      shown = 1000 / (a - b);
      worst = fmax(worst, fabs(shown / (rotor / eta_b + 2) - 1));
      mj_deleteData(d);
      mj_deleteModel(m);
    }
  }
  printf("largest relative difference of apparent inertia: %.2g\n", worst);
  assert_true(worst < 1e-9);
}


// a measured gear: the load drives it from 0.020 N m on, with the losses of its efficiencies both
// ways
static void test_bilateralDrive(void** state) {
  mjgPreset preset;
  mjgTransmission t;
  char text[1000];
  mjgReport report;
  mjg_startReport(&report, text, sizeof(text));
  assert_int_equal(mjg_preset(&preset, mjg_presetFromName("bilateral_drive")), 0);
  assert_int_equal(mjg_transmission(&t, &report, &preset.description), 0);
  mjModel* m = makeModel(
      "<mujoco><option gravity='0 0 0'/><extension><plugin plugin='mjgear.transmission'><instance "
      "name='g'>"
      "<config key='joint' value='j'/><config key='eta_forward' value='0.890'/><config "
      "key='eta_backward' "
      "value='0.853'/><config key='coulomb' "
      "value='%.17g'/></instance></plugin></extension><worldbody><body>"
      "<joint name='j' axis='0 0 1' armature='0.01'/><inertial pos='0 0 0' mass='1' "
      "diaginertia='0.01 0.01 0.01'/>"
      "</body></worldbody><actuator><motor joint='j'/></actuator></mujoco>",
      t.coulomb);
  mjData* d = mj_makeData(m);
  for (int i = 0; i < 2; i++) {
    mj_resetData(m, d);
    d->qfrc_applied[0] = i ? 0.0201 : 0.0199;
    mj_step(m, d);
    assert_true((d->qvel[0] != 0) == i);
  }

  // steady motion under a large load, driven and driving
  for (int s = -1; s <= 1; s += 2) {
    mj_resetData(m, d);
    d->qvel[0] = s * 1.0;
    double load = 1e4;
    d->qfrc_applied[0] = -load;
    d->ctrl[0] = s > 0 ? load / 0.890 : load * 0.853;
    mj_step(m, d);
    assert_true(fabs(d->qvel[0] - s) < 1e-2);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}


static double uniform(double low, double high) {
  static unsigned seed = 1;
  seed = seed * 1664525u + 1013904223u;
  return low + (high - low) * (seed / 4294967296.0);
}


// A gear at rest or slipping, all others given: its hold, its load and its law may allow several
// motions. A solution that differs from the one connected to rest (law.h) is asked for, and if all
// effects W from 0.5 to 2 leave one solution there is one
static void test_asked(void** state) {
  int elsewhere = 0, asked = 0, unique = 0, several = 0, other;
  for (int k = 0; k < 200000; k++) {
    mjgpPiece piece = {.static_ratio = 1};
    mjtNum c = k % 3 ? uniform(0, 1) : 0, u0 = uniform(-3, 3), W = uniform(.5, 2), found[5];
    mjtNum gamma_u = piece.gamma_u = uniform(-.3, .9), gamma_v = piece.gamma_v = uniform(1, 2);
    mjtNum S = piece.inertia = uniform(0, 1) / W, hold = uniform(-5, 5);
    mjtNum P = (gamma_u + gamma_v) * S * W - gamma_v, phi = (gamma_u + gamma_v) * u0, rest;
    piece.coulomb = c;
    mjgi_lawResolve(&rest, hold, phi, P, c, 1, 1);

    // stuck, and four lines of slip in the direction of the motion that they leave
    int n = 0;
    found[n] = hold;
    n += fabs(hold) <= fabs(phi + P * hold) + c;
    for (int s = -1; s <= 1; s += 2) {
      for (int load = -1; load <= 1; load += 2) {
        mjtNum t = s * (load * phi + c) / (1 - s * load * P);
        int is = load * (phi + P * t) >= 0 && s * (hold - t) > 1e-9 && s * t >= 0;
        found[n] = t;
        n += is;
      }
    }
    several += n > 1;
    for (int i = 0; i < n; i++) {
      mjtNum t = found[i], u = u0 + S * W * t;
      piece.friction = t;
      piece.u = u;
      piece.lambda = (gamma_u + gamma_v) * u - gamma_v * t;
      other = fabs(t - rest) > 1e-9;
      elsewhere += other;
      asked += mjgp_mayBeElsewhere(&piece);
      assert_true(!other || mjgp_mayBeElsewhere(&piece));
    }
    int one = mjgp_hasOneSolution(&piece, .5, 2);
    unique += one;
    assert_true(!one || n == 1);
  }
  printf("several %d, elsewhere %d of %d asked, one %d\n", several, elsewhere, asked, unique);
  assert_true(several > 2000 && elsewhere > 2000 && asked < 200000 && unique > 5000);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_selfLocking),
      cmocka_unit_test(test_apparentInertia),
      cmocka_unit_test(test_bilateralDrive),
      cmocka_unit_test(test_asked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
