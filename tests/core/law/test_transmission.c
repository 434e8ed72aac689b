// facts about a transmission: breakaway against a scan of the inequality, apparent inertia
// against simulated accelerations, friction curves against their formulas

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalogue/geometry.h"
#include "catalogue/types.h"
#include "draw.h"
#include "law/transmission.h"
#include "mjgear_report.h"
#include "near.h"
#include "transmissions.h"


//---------------------------------- friction at a velocity ----------------------------------------

static void test_constant(void** state) {
  mjgTransmission t = makeTransmission(0.2, 1.1, 3, 1);
  double gu, gv, c;
  mjg_frictionAt(&gu, &gv, &c, &t, 1, 2, 3, 4);
  assert_true(gu == 0.2 && gv == 1.1 && c == 3);
  mjg_frictionAt(&gu, &gv, &c, &t, -5, 0, -7, 9);
  assert_true(gu == 0.2 && gv == 1.1 && c == 3);
  mjg_defaultTransmission(&t);
  mjg_frictionAt(&gu, &gv, &c, &t, 1, 2, 3, 4);
  assert_true(gu == 0 && gv == 0 && c == 0 && t.armature == 0 && t.viscous == 0);
  assert_true(t.static_ratio == 1 && t.temperature == 20);
}


static void test_stribeck(void** state) {
  mjgTransmission t = makeStribeck();
  double gu, gv, c;

  // at rest, driven by the motor: the load's torque counts
  mjg_frictionAt(&gu, &gv, &c, &t, 0, 0, -10, -4);
  assertNear(gu, 0.2, 1e-15);
  assertNear(gv, 0.5 + 0.006 * 4, 1e-15);
  assertNear(c, 4, 1e-15);

  // driven by the load: the motor's torque counts
  mjg_frictionAt(&gu, &gv, &c, &t, 0, 0, 3, 4);
  assertNear(gu, 0.2 + 0.004 * 3, 1e-15);
  assertNear(gv, 0.5, 1e-15);

  // both sides push the same way: no quadratic term
  mjg_frictionAt(&gu, &gv, &c, &t, 0, 0, 3, -4);
  assertNear(gu, 0.2, 1e-15);
  assertNear(gv, 0.5, 1e-15);

  // a side without torque adds nothing, for any torque of the other side; a small torque
  // counts, though u x is below the smallest number
  mjg_frictionAt(&gu, &gv, &c, &t, 0, 0, 0, 4);
  assert_true(gu == 0.2 && gv == 0.5);
  mjg_frictionAt(&gu, &gv, &c, &t, 0, 0, -3, -0.0);
  assert_true(gu == 0.2 && gv == 0.5);
  mjgTransmission steep = t;
  steep.gamma_u_quadratic = 1e200;
  mjg_frictionAt(&gu, &gv, &c, &steep, 0, 0, 1e-200, 2e-200);
  assertNear(gu, 1.2, 1e-15);

  // at the Stribeck velocity 1/e of all gains, in either direction; far above nothing
  double S = exp(-1);
  mjg_frictionAt(&gu, &gv, &c, &t, 0, -0.4, -10, -4);
  assertNear(gu, 0.1 + 0.1 * S, 1e-15);
  assertNear(gv, 0.3 + 0.2 * S + 0.024 * S, 1e-15);
  assertNear(c, 1 + 3 * S, 1e-15);
  mjg_frictionAt(&gu, &gv, &c, &t, 0, 50, 10, 4);
  assertNear(gu, 0.1, 1e-15);
  assertNear(c, 1, 1e-15);

  // the exponent, below the Stribeck velocity and above it
  t.stribeck_exponent = 1.5;
  for (double v = 0.1; v < 1; v += 0.8) {
    mjg_frictionAt(&gu, &gv, &c, &t, 0, v, -10, -4);
    assertNear(c, 1 + 3 * exp(-(v / 0.4) * sqrt(v / 0.4)), 1e-15);
  }
}


// grows as a power of the velocity, in either direction, and is nothing at rest
static void test_curved(void** state) {
  mjgTransmission t = makeTransmission(0.1, 0.3, 2, 1);
  t.curved_friction = 3;
  t.curved_velocity = 4;
  t.curved_exponent = 0.5;
  double gu, gv, c;
  const double v[] = {0, 1, -1, 4, -16}, expected[] = {2, 3.5, 3.5, 5, 8};
  for (int i = 0; i < 5; i++) {
    mjg_frictionAt(&gu, &gv, &c, &t, 0, v[i], 7, -2);
    assertNear(c, expected[i], 1e-14);
    assert_true(gu == 0.1 && gv == 0.3);
  }
}


static void test_mesh(void** state) {
  mjgTransmission t;
  mjg_defaultTransmission(&t);
  t.spur = (mjgSpur){0.02, 0.05, 0.35, 0.12, 0.004, 0.003, 0};
  t.mesh = 1;
  double gu, gv, c, eu, ev;
  mjg_frictionAt(&gu, &gv, &c, &t, 0.03, 0, 0, 0);
  mjgi_spurMesh(&eu, &ev, &t.spur, 0.03);
  assert_true(gu == eu && gv == ev && gu != 0);
}


// line through the points of a table, written out
static double factorOf(const mjgTable* table, double x) {
  for (int k = 1; k < table->n; k++) {
    if (x >= table->x[k - 1] && x <= table->x[k]) {
      double w = (x - table->x[k - 1]) / (table->x[k] - table->x[k - 1]);
      return (1 - w) * table->factor[k - 1] + w * table->factor[k];
    }
  }
  return !table->n ? 1 : table->factor[x < table->x[0] ? 0 : table->n - 1];
}


// each table multiplies its quantities, at speeds, temperatures and torques inside, at and beyond
// its ends
static void test_tables(void** state) {
  mjgTransmission t = makeStribeck(), plain = t;
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    mjgTable table = {.n = 1 + kind % 4};
    for (int k = 0; k < table.n; k++) {
      table.x[k] = (kind % 2 ? -5 : 0.1) + (k + draw(0, 0.5)) * (kind == 0 || kind == 3 ? 1 : 7);
      table.factor[k] = draw(0, 3);
    }
    t.table[kind] = table;
  }
  for (int i = 0; i < 2000; i++) {
    double gu, gv, c, eu, ev, ec, v = draw(-6, 6), u = draw(-30, 30), x = draw(-30, 30);
    t.temperature = i % 9 ? draw(-20, 40) : t.table[mjgTABLE_COULOMB_TEMPERATURE].x[0];
    mjg_frictionAt(&gu, &gv, &c, &t, 0, v, u, x);
    mjg_frictionAt(&eu, &ev, &ec, &plain, 0, v, u, x);
    double f = factorOf(t.table + mjgTABLE_GAMMA_SPEED, fabs(v)) *
               factorOf(t.table + mjgTABLE_GAMMA_TEMPERATURE, t.temperature) *
               factorOf(t.table + mjgTABLE_GAMMA_TORQUE, fmin(fabs(u), fabs(x)));
    assertNear(gu, f * eu, 1e-13);
    assertNear(gv, f * ev, 1e-13);
    assertNear(c,
               ec * factorOf(t.table + mjgTABLE_COULOMB_SPEED, fabs(v)) *
                   factorOf(t.table + mjgTABLE_COULOMB_TEMPERATURE, t.temperature),
               1e-13);
  }
  assert_true(mjgi_hasTables(&t) && !mjgi_hasTables(&plain));
  assert_true(mjgi_largestFactor(&plain) == 1);
}


//---------------------------------- break-away ----------------------------------------------------

// returns 1 if a joint at rest moves in direction s, (23) with the higher friction at
// rest
static int moves(const mjgTransmission* t, double f_u, double f_v, int s) {
  double bound =
      fabs((t->gamma_u + t->gamma_u_stribeck) * f_u + (t->gamma_v + t->gamma_v_stribeck) * f_v);
  if (f_u * f_v > 0) {
    bound +=
        fabs(f_u) > fabs(f_v) ? t->gamma_v_quadratic * f_v * f_v : t->gamma_u_quadratic * f_u * f_u;
  }
  bound *= factorOf(t->table + mjgTABLE_GAMMA_TORQUE, fmin(fabs(f_u), fabs(f_v)));
  bound += (t->coulomb + t->stribeck_friction) * factorOf(t->table + mjgTABLE_COULOMB_SPEED, 0);
  return s * (f_u - f_v) > t->static_ratio * bound;
}


static void test_breakawayClosedForm(void** state) {
  mjgTransmission t = makeTransmission(0.1, 1.2, 0, 1);

  // f_v = 10 is overcome by 10/eta_f and lowered by 10 eta_b, which is negative: the motor must push
  assertNear(mjg_breakawayMotor(&t, 10, 1), 10 * 2.2 / 0.9, 1e-14);
  assertNear(mjg_breakawayMotor(&t, 10, -1), 10 * -0.2 / 1.1, 1e-14);

  // no load drives it back, not even against a motor torque of 0
  assert_true(mjg_breakawayLoad(&t, 0, -1) == INFINITY);
  assert_true(mjg_breakawayLoad(&t, 0, 1) == -INFINITY);

  // a backdrivable one with load-independent friction and more of it at rest
  t = makeTransmission(0.1, 0.4, 2, 1.5);
  assertNear(mjg_breakawayMotor(&t, 0, 1), 3 / (1 - 0.15), 1e-14);
  assertNear(mjg_breakawayLoad(&t, 0, -1), 3 / (1 - 0.6), 1e-14);
  assertNear(mjg_breakawayLoad(&t, 0, 1), -3 / (1 - 0.6), 1e-14);
}


// the answer is where a scan of the inequality first finds motion
static void test_breakawayScan(void** state) {
  int finite = 0, infinite = 0;
  for (int trial = 0; trial < 400; trial++) {
    mjgTransmission t =
        makeTransmission(draw(-0.2, 1.2), draw(0.2, 1.8), trial % 2 ? draw(0, 2) : 0, draw(1, 2));
    t.gamma_v_stribeck = draw(0, 0.3);
    t.gamma_u_quadratic = trial % 3 ? 0 : draw(0, 0.03);
    t.gamma_v_quadratic = trial % 3 ? 0 : draw(0, 0.03);
    if (trial % 4 == 1) {
      t.table[mjgTABLE_GAMMA_TORQUE] = (mjgTable){2, {1, 12}, {draw(0.8, 1.1), draw(0.8, 1.1)}};
      t.table[mjgTABLE_COULOMB_SPEED] = (mjgTable){2, {0, 3}, {draw(0, 2), 1}};
    }
    double z = draw(-10, 10);
    for (int s = -1; s <= 1; s += 2) {
      for (int motor = 0; motor < 2; motor++) {
        int e = motor ? s : -s;
        double y = motor ? mjg_breakawayMotor(&t, z, s) : mjg_breakawayLoad(&t, z, s);

        // scan e y from far on the wrong side
        double step = 0.01, first = INFINITY;
        for (double w = -60; w < 60; w += step) {
          if (motor ? moves(&t, e * w, z, s) : moves(&t, z, e * w, s)) {
            first = w;
            break;
          }
        }
        double f_u = motor ? e * first : z, f_v = motor ? z : e * first;
        assert_true(!isfinite(first) || !mjg_sticks(&t, f_u, f_v));
        f_u = z;
        f_v = draw(-15, 15);
        assert_true(mjg_sticks(&t, f_u, f_v) ==
                    !(moves(&t, f_u, f_v, 1) || moves(&t, f_u, f_v, -1)));
        if (isfinite(first)) {
          finite++;
          if (!(first - step - 1e-9 <= e * y && e * y <= first + 1e-9)) {
            fail_msg("trial %d: %g, scan %g, direction %d, motor %d", trial, e * y, first, s,
                     motor);
          }
        } else {
          infinite++;
          assert_true(e * y > 59.9);
        }
      }
    }
  }
  assert_true(finite > 300 && infinite > 100);
}


//---------------------------------- efficiencies, apparent inertia --------------------------------

// no torque moves a joint against the direction in which it turns; in that direction all is as without
static void test_oneway(void** state) {
  for (int s = -1; s <= 1; s += 2) {
    mjgTransmission t = makeTransmission(0.1, 0.3, 2, 1.2), free = t;
    t.oneway = s;
    assert_true(mjg_breakawayMotor(&t, 5, -s) == -s * (double)INFINITY);
    assert_true(mjg_breakawayLoad(&t, 5, -s) == s * (double)INFINITY);
    assert_true(mjg_breakawayMotor(&t, 5, s) == mjg_breakawayMotor(&free, 5, s));
    assert_true(mjg_breakawayLoad(&t, 5, s) == mjg_breakawayLoad(&free, 5, s));
    assert_true(mjg_sticks(&t, -s * 1e6, 0) && !mjg_sticks(&t, s * 1e6, 0));

    // a step's coefficients are those of the gear that turns both ways
    double gu, gv, c, eu, ev, ec;
    mjg_frictionAt(&gu, &gv, &c, &t, 0, -s, 1, 2);
    mjg_frictionAt(&eu, &ev, &ec, &free, 0, -s, 1, 2);
    assert_true(gu == eu && gv == ev && c == ec);
  }
}


static void test_efficiencies(void** state) {
  mjgTransmission t = makeTransmission(0.1, 0.2, 0, 1);
  t.gamma_u_stribeck = 0.3;
  t.gamma_v_stribeck = 0.8;
  mjgFacts facts;
  mjg_explain(&facts, &t, 0, -1);
  assertNear(facts.eta_f, 0.9 / 1.2, 1e-15);
  assertNear(facts.eta_b, 0.8 / 1.1, 1e-15);
  assertNear(facts.eta_f_rest, 0.6 / 2, 1e-15);
  assertNear(facts.eta_b_rest, 0, 1e-15);
}


// acceleration of a sliding joint in two simulated steps with different torque: its apparent
// inertia is the change of driving torque over the change of acceleration, to 1e-9 (38)
static double simulatedInertia(double gu, double gv, double m, double M, double f_u, double f_v,
                               double v, int motor) {
  double h = 1e-3, a[2];
  for (int i = 0; i < 2; i++) {
    double next;
    double push = i == 0 ? 0 : 1;
    assert_int_equal(mjg_stepScalar(&next, NULL, v, f_u + (motor ? push : 0),
                                    f_v - (motor ? 0 : push), gu, gv, m, M, h),
                     0);
    a[i] = (next - v) / h;
  }
  return 1 / (a[1] - a[0]);
}


// facts about such a joint
static void findInertia(double* forward, double* backward, double gu, double gv, double m,
                        double M) {
  mjgTransmission t = makeTransmission(gu, gv, 0, 1);
  t.armature = m;
  mjgFacts facts;
  mjg_explain(&facts, &t, 0, M);
  *forward = facts.inertia_forward;
  *backward = facts.inertia_backward;
}


static void test_apparentInertia(void** state) {
  for (int trial = 0; trial < 200; trial++) {
    double ef = draw(0.3, 0.95), eb = draw(0.1, 0.9), m = draw(0.1, 5.1), M = draw(0.1, 5.1);
    double gu, gv, forward, backward;
    assert_int_equal(mjg_coefficients(&gu, &gv, ef, eb), 0);
    findInertia(&forward, &backward, gu, gv, m, M);

    // the motor drives: eta_f f_u accelerates eta_f m + M, for f_u much above the torque
    // that holds f_v
    double simulated = ef * simulatedInertia(gu, gv, m, M, 300, 20, 1, 1);
    assertNear(simulated, forward, 1e-9);
    simulated = simulatedInertia(gu, gv, m, M, 300, 20, 1, 0);
    assertNear(simulated, forward, 1e-9);

    // the load drives: f_v much above the load that the motor holds, motion backward
    simulated = simulatedInertia(gu, gv, m, M, 20, 2000, -1, 0);
    assertNear(simulated, backward, 1e-9);
  }
}


static void test_apparentInertiaLimits(void** state) {
  double f, b;
  findInertia(&f, &b, 0, 1.5, 2, 3);
  assert_true(b == INFINITY);
  findInertia(&f, &b, 0, 1.5, 0, 3);
  assert_true(f == 3 && b == 3);
  findInertia(&f, &b, -1, 0.5, 1, 3);
  assert_true(isnan(f) && isnan(b));
}


// losses that grow fast with the torque: the breakaway torque is found although each iterate changes the losses
static void test_breakawaySteepTable(void** state) {
  for (int trial = 0; trial < 2000; trial++) {
    mjgTransmission t = makeTransmission(draw(0, 0.3), draw(0, 0.6), draw(0, 1), 1);
    t.table[mjgTABLE_GAMMA_TORQUE] =
        (mjgTable){2, {0, draw(5, 30)}, {draw(0.05, 0.4), draw(1, 1.5)}};
    int s = trial % 2 ? 1 : -1, motor = trial % 4 < 2;
    double z = draw(-60, 60),
           y = motor ? mjg_breakawayMotor(&t, z, s) : mjg_breakawayLoad(&t, z, s);
    double ahead = (motor ? s : -s) * 1e-9 * (fabs(y) + fabs(z) + 1);
    assert_true(isfinite(y));
    assert_true(motor ? moves(&t, y + ahead, z, s) : moves(&t, z, y + ahead, s));
    assert_false(motor ? moves(&t, y - ahead, z, s) : moves(&t, z, y - ahead, s));
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_breakawaySteepTable),
      cmocka_unit_test(test_constant),
      cmocka_unit_test(test_stribeck),
      cmocka_unit_test(test_curved),
      cmocka_unit_test(test_tables),
      cmocka_unit_test(test_mesh),
      cmocka_unit_test(test_breakawayClosedForm),
      cmocka_unit_test(test_breakawayScan),
      cmocka_unit_test(test_oneway),
      cmocka_unit_test(test_efficiencies),
      cmocka_unit_test(test_apparentInertia),
      cmocka_unit_test(test_apparentInertiaLimits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
