// Planetary gears: ratios by Willis, efficiencies against closed forms of text books, energy, self-locking.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalogue/geometry.h"
#include "draw.h"

#define DRAWN 200

// sun drives the carrier, ring stands: with i0 = -ring/sun and the loss of both meshes eta0,
// (1 - i0 eta0)/(1 - i0), and (1 - i0)/(1 - i0/eta0) backward; stepped planets change i0 alone
static void carrierIsTheOutput(void** state) {
  for (int i = 0; i < DRAWN; i++) {
    mjgiPlanetary g = {.sun = draw(10, 60), .planet = draw(10, 60), .efficiency = draw(0.7, 1)};
    g.ring = i % 2 ? g.sun + 2 * g.planet : draw(60, 200);
    g.planet_out = i % 2 ? 0 : draw(10, 60);
    double R = i % 2 ? g.ring / g.sun : g.planet / g.sun * g.ring / g.planet_out;
    double eta0 = g.efficiency * g.efficiency, ratio, eta_f, eta_b;
    assert_int_equal(mjgi_planetary(&ratio, &eta_f, &eta_b, &g), 0);
    assert_true(fabs(ratio - (1 + R)) < 1e-12 * ratio);
    assert_true(fabs(eta_f - (1 + R * eta0) / (1 + R)) < 1e-12);
    assert_true(fabs(eta_b - (1 + R) / (1 + R / eta0)) < 1e-12);
  }
}


// 3K: a second ring is the output. Output power is the sun's power less the losses of three meshes,
// each relative to its power seen from the carrier. With p the first order of the losses this is 1
// - e (...) for small e
static void secondRingIsTheOutput(void** state) {
  int locks = 0;
  for (int i = 0; i < DRAWN; i++) {
    mjgiPlanetary g = {
        .sun = draw(8, 40), .planet = draw(15, 40), .ring = draw(60, 120), .efficiency = 1};
    g.planet_out = g.planet * draw(0.7, 1.3);
    g.ring_out = g.ring * draw(0.8, 1.2);
    double I1 = g.ring / g.sun, I2 = g.ring * g.planet_out / (g.planet * g.ring_out);
    if (fabs(1 - I2) < 0.03) {
      continue;
    }
    double ratio, eta_f, eta_b;
    assert_int_equal(mjgi_planetary(&ratio, &eta_f, &eta_b, &g), 0);
    assert_true(fabs(ratio - (1 + I1) / (1 - I2)) < 1e-9 * fabs(ratio));
    assert_true(fabs(eta_f - 1) < 1e-9 && fabs(eta_b - 1) < 1e-9);

    // first order: torques without loss, speeds seen from the carrier, e of each mesh's power is lost
    double e = 1e-6, sun = 1, carrier = sun / (1 + I1), out = sun / ratio;
    double T_out = -ratio, T_ring = -1 - T_out;
    double lost =
        e * (fabs(1 * (sun - carrier)) + fabs(T_ring * carrier) + fabs(T_out * (out - carrier)));
    g.efficiency = 1 - e;
    assert_int_equal(mjgi_planetary(&ratio, &eta_f, &eta_b, &g), 0);
    assert_true(fabs((1 - eta_f) - lost) < 1e-3 * lost);
    assert_true(fabs((1 - eta_b) - lost) < 1e-3 * lost);

    // a lossy one never makes energy, and one that loses more than it takes in locks
    g.efficiency = draw(0.9, 0.99);
    assert_int_equal(mjgi_planetary(&ratio, &eta_f, &eta_b, &g), 0);
    assert_true(eta_f > 0 && eta_f < 1 && eta_b < 1);
    locks += eta_b <= 0;
  }
  assert_true(locks > 5);
}


// Text books, e.g. Mueller, Die Umlaufgetriebe: for I2 < 1 (output turns with the sun) forward
// (1 + e^2 I1)(1 - I2)/((1 + I1)(1 - e^2 I2))
static void wolfromClosedForm(void** state) {
  for (int i = 0; i < DRAWN; i++) {
    mjgiPlanetary g = {.sun = draw(8, 40), .planet = draw(15, 40), .ring = draw(60, 120)};
    g.efficiency = draw(0.9, 0.999);
    g.planet_out = g.planet * draw(0.7, 0.95);
    g.ring_out = g.ring * draw(1, 1.1);
    double I1 = g.ring / g.sun, I2 = g.ring * g.planet_out / (g.planet * g.ring_out);
    double e2 = g.efficiency * g.efficiency, ratio, eta_f, eta_b;
    assert_int_equal(mjgi_planetary(&ratio, &eta_f, &eta_b, &g), 0);
    double expected = (1 + e2 * I1) * (1 - I2) / ((1 + I1) * (1 - e2 * I2));
    assert_true(fabs(eta_f - expected) < 1e-12);
  }
}


static void refusals(void** state) {
  double ratio, eta_f, eta_b;
  const mjgiPlanetary good = {.sun = 20, .planet = 20, .ring = 60, .efficiency = 0.98};
  assert_int_equal(mjgi_planetary(&ratio, &eta_f, &eta_b, &good), 0);
  mjgiPlanetary bad = good;
  bad.sun = 0;
  assert_int_equal(mjgi_planetary(&ratio, &eta_f, &eta_b, &bad), mjgERR_ARGUMENT);
  bad = good;
  bad.efficiency = 0;
  assert_int_equal(mjgi_planetary(&ratio, &eta_f, &eta_b, &bad), mjgERR_ARGUMENT);
  bad = good;
  bad.ring = NAN;
  assert_int_equal(mjgi_planetary(&ratio, &eta_f, &eta_b, &bad), mjgERR_ARGUMENT);

  // an output ring like the standing one does not turn
  bad = good;
  bad.ring_out = 60;
  assert_int_equal(mjgi_planetary(&ratio, &eta_f, &eta_b, &bad), mjgERR_ARGUMENT);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(carrierIsTheOutput),
      cmocka_unit_test(secondRingIsTheOutput),
      cmocka_unit_test(wolfromClosedForm),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
