// Friction beyond the asymmetry coefficients in the engine's step: Coulomb, static ratio, Stribeck,
// load-dependent Stribeck and meshing teeth against a one-joint step that is written out here.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "catalogue/geometry.h"
#include "mjgear_catalogue.h"
#include "plugin_models.h"
#include "transmissions.h"

static const double kRotor = 1, kMass = 1.5;

static const char* const frame =
    "<mujoco><option timestep='0.001' gravity='0 0 0'/>"
    "<extension><plugin plugin='mjgear.transmission'><instance name='a'>"
    "<config key='joint' value='j'/>%s</instance></plugin></extension>"
    "<worldbody><body><joint name='j' type='slide' axis='1 0 0' armature='1'/>"
    "<geom size='.1' mass='1.5'/></body></worldbody>"
    "<actuator><motor joint='j'/></actuator></mujoco>";


// velocity after a step in which the joint holds or slips, by trying both; friction in *t
static double stepByHand(double* t, double v, double f_u, double f_v, double gu, double gv,
                         double c, double k, double h) {
  double A = h / (kRotor + kMass);
  double free = v + A * (f_u - f_v);
  double p = (gu + gv) * kRotor / (kRotor + kMass) - gv;
  double phi = (gu + gv) * (f_u - kRotor * (f_u - f_v) / (kRotor + kMass));

  // holds: velocity 0 with friction below the bound; the static bound, unless the joint moved in this direction
  double hold = free / A;
  double bound = fabs(phi + p * hold) + c;
  if (fabs(hold) <= (v * free > 0 ? 1 : k) * bound) {
    *t = hold;
    return 0;
  }

  // slips
  int s = free > 0 ? 1 : -1;
  for (int L = -1; L <= 1; L += 2) {
    *t = s * (L * phi + c) / (1 - s * L * p);
    double next = free - A * *t;
    if (L * (phi + p * *t) >= 0 && s * next > 0) {
      return next;
    }
  }
  fail_msg("neither holds nor slips");
  return 0;
}


// motor and load over 4 s: rest, slow and fast motion in both directions
static void torques(double* f_u, double* f_v, double time) {
  *f_u = 30 * sin(3 * time) + 8 * sin(11 * time);
  *f_v = 10 * cos(2.3 * time);
}


static void compare(const char* keys, const mjgTransmission* gear) {
  mjModel* m = makeModel(frame, keys);
  mjData* d = mj_makeData(m);
  double last = 0;
  int stuck = 0, moving = 0;
  for (int i = 0; i < 4000; i++) {
    double f_u, f_v, gu, gv, c, t;
    double v = d->qvel[0], q = d->qpos[0];
    torques(&f_u, &f_v, d->time);
    mjg_frictionAt(&gu, &gv, &c, gear, q, v, f_u, f_u - last);
    double expected = stepByHand(&t, v, f_u, f_v, gu, gv, c, gear->static_ratio, 0.001);
    d->ctrl[0] = f_u;
    d->qfrc_applied[0] = -f_v;
    mj_step(m, d);
    if (!(fabs(d->qvel[0] - expected) <= 1e-12 * (1 + fabs(expected)))) {
      fail_msg("%s\nstep %d: %.17g, by hand %.17g", keys, i, d->qvel[0], expected);
    }
    assert_true(expected != 0 || d->qvel[0] == 0);
    stuck += expected == 0;
    moving += expected != 0;
    last = frictionOf(m, d, "a", 0);
    assert_true(fabs(last - t) <= 1e-9 * (1 + fabs(t)));
  }
  assert_true(moving > 500);
  printf("%d steps at rest, %d in motion\n", stuck, moving);
  mj_deleteData(d);
  mj_deleteModel(m);
}


static void test_coulomb(void** state) {
  const mjgTransmission gear = makeTransmission(0.1, 0.3, 4, 1.6);
  compare(
      "<config key='gamma_u' value='0.1'/><config key='gamma_v' value='0.3'/>"
      "<config key='coulomb' value='4'/><config key='static_ratio' value='1.6'/>",
      &gear);
}


static void test_stribeck(void** state) {
  const mjgTransmission gear = makeStribeck();
  compare(STRIBECK_KEYS, &gear);
}


static void test_curved(void** state) {
  mjgTransmission gear = makeTransmission(0.1, 0.3, 1, 1);
  gear.curved_friction = 2;
  gear.curved_velocity = 0.5;
  gear.curved_exponent = 0.7;
  compare(
      "<config key='gamma_u' value='0.1'/><config key='gamma_v' value='0.3'/>"
      "<config key='coulomb' value='1'/><config key='curved_friction' value='2'/>"
      "<config key='curved_velocity' value='0.5'/><config key='curved_exponent' value='0.7'/>",
      &gear);
}


// tables over speed, torque and temperature, and a temperature that rises while the simulation runs
static void test_tables(void** state) {
  mjgTransmission gear = makeTransmission(0.1, 0.3, 1, 1.2);
  gear.temperature = 5;
  gear.table[mjgTABLE_COULOMB_SPEED] = (mjgTable){3, {0, 1, 4}, {1, 0.6, 2}};
  gear.table[mjgTABLE_COULOMB_TEMPERATURE] = (mjgTable){2, {-10, 30}, {4, 1}};
  gear.table[mjgTABLE_GAMMA_TORQUE] = (mjgTable){3, {0, 5, 20}, {2, 1.2, 0.8}};
  gear.table[mjgTABLE_GAMMA_SPEED] = (mjgTable){2, {0, 3}, {1.5, 1}};
  gear.table[mjgTABLE_GAMMA_TEMPERATURE] = (mjgTable){2, {0, 50}, {1.2, 0.9}};
  compare(
      "<config key='gamma_u' value='0.1'/><config key='gamma_v' value='0.3'/>"
      "<config key='coulomb' value='1'/><config key='static_ratio' value='1.2'/>"
      "<config key='temperature' value='5'/><config key='coulomb_speed' value='0 1 1 .6 4 2'/>"
      "<config key='coulomb_temperature' value='-10 4, 30 1'/>"
      "<config key='gamma_torque' value='0 2 5 1.2 20 .8'/>"
      "<config key='gamma_speed' value='0 1.5 3 1'/>"
      "<config key='gamma_temperature' value='0 1.2 50 .9'/>",
      &gear);
}


static void test_worm(void** state) {
  const mjgTransmission gear =
      makeTransmission(0.1 * tan(0.2) / cos(0.35), 0.1 / tan(0.2) / cos(0.35), 0, 1);
  compare(
      "<config key='type' value='worm'/><config key='lead_angle' value='0.2'/>"
      "<config key='pressure_angle' value='0.35'/><config key='mu' value='0.1'/>",
      &gear);
}


static void test_mesh(void** state) {
  mjgTransmission gear;
  mjg_defaultTransmission(&gear);
  gear.mesh = 1;
  gear.spur = (mjgSpur){0.02, 0.05, 0.35, 0.3, 0, 0, 3.14159265358979323846 * 0.002 * cos(0.35)};
  mjgi_spurPath(&gear.spur, 0.002, 0.002);
  compare(
      "<config key='type' value='spur'/><config key='radius_in' value='0.02'/>"
      "<config key='radius_out' value='0.05'/><config key='pressure_angle' value='0.35'/>"
      "<config key='mu' value='0.3'/><config key='module' value='0.002'/>"
      "<config key='mesh' value='1'/>",
      &gear);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_coulomb), cmocka_unit_test(test_stribeck),
      cmocka_unit_test(test_curved),  cmocka_unit_test(test_tables),
      cmocka_unit_test(test_worm),    cmocka_unit_test(test_mesh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
