// Self-braking gears under a load that aids: closed forms of the stopping time, for many drawn sets
// of parameters, in the core and in the engine, with and without contact.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mjgear.h"
#include "mjgear_catalogue.h"
#include "plugin_models.h"
#include "references/drive.h"


// a gear that cannot be driven back, motor off, under an aiding load F: it stops after
// v0 (m/|eta_b| - M)/F if m > |eta_b| M, else it wedges and stops at once
static void brakesItself(void** state) {
  int wedged = 0, braked = 0;
  for (int i = 0; i < 2 * DRAWN; i++) {
    double eta_b = -draw(0.05, 1);
    Drive d = {.m = draw(0.01, 2),
               .M = draw(0.05, 2),
               .eta_f = draw(0.2, 0.5),
               .eta_b = eta_b,
               .load = draw(1, 20),
               .v = -draw(0.5, 3)};
    double left = d.m / -eta_b - d.M;
    if (fabs(left) < 0.02 * d.M) {
      continue;
    }
    double expected = left > 0 ? -d.v * left / d.load : 0, h = 1e-3;
    for (int runner = 0; runner <= inENGINE_STANDING; runner++) {
      double found = stopTime(&d, h, expected + 1, runner);
      assert_true(fabs(found - expected) < 1.01 * h);
    }
    *(left > 0 ? &braked : &wedged) += 1;
  }
  assert_true(braked > 20 && wedged > 20);
}


// a lead screw of inertia I that lowers M without motor wedges if I < M r^2 tan(l) (mu - tan(l))/(1 + mu tan(l))
static void leadScrewStability(void** state) {
  int wedges = 0, slides = 0;
  for (int i = 0; i < 2 * DRAWN; i++) {
    double angle = draw(0.02, 0.25), mu = tan(angle) + draw(0.02, 0.3), r = draw(0.004, 0.02);
    double M = draw(1, 50),
           limit = M * r * r * tan(angle) * (mu - tan(angle)) / (1 + mu * tan(angle));
    double I = limit * (draw(0, 1) < 0.5 ? draw(0.2, 0.97) : draw(1.03, 5));
    double gamma_u, gamma_v, eta_f, eta_b, kappa = 1 / (r * tan(angle));
    assert_int_equal(mjg_screw(&gamma_u, &gamma_v, angle, 0, mu), 0);
    assert_int_equal(mjg_efficiencies(&eta_f, &eta_b, gamma_u, gamma_v), 0);
    Drive d = {.m = I * kappa * kappa,
               .M = M,
               .eta_f = eta_f,
               .eta_b = eta_b,
               .load = 9.81 * M,
               .v = -0.1};
    for (int runner = 0; runner <= inENGINE_STANDING; runner++) {
      double stop = stopTime(&d, 1e-4, 1, runner);
      assert_true(I < limit ? stop <= 1.01e-4 : stop > 1.01e-4 || d.m / -eta_b - M < 0.01 * M);
    }
    *(I < limit ? &wedges : &slides) += 1;
  }
  assert_true(wedges > 20 && slides > 20);
}


// the load rests on the link, which has half of the moving mass, through a stiff contact: the same
// times except for the contact's spring. Wedging gears stop within their time, and all stand
// still under the load
static void brakesUnderContact(void** state) {
  int wedged = 0, braked = 0;
  for (int i = 0; i < 2 * DRAWN; i++) {
    const double h = 2e-4;
    double eta_b = -draw(0.05, 0.6), M = draw(0.5, 3),
           share = i % 2 ? draw(1.3, 4) : draw(0.2, 0.7);
    Drive d = {.m = -eta_b * M * share,
               .M = M,
               .eta_f = draw(0.2, 0.5),
               .eta_b = eta_b,
               .load = 9.81 * M,
               .v = -draw(0.3, 2)};
    double expected = fmax(0, -d.v * (d.m / -eta_b - M) / d.load);
    Engine e = makeEngine(&d, h, inENGINE_PRESSED);

    // at rest in its contact from the start on: the link and the body move as one
    double v = d.v;
    e.d->qpos[1] = -0.25 * d.load / M * (h * h / 0.04);
    int n = 0;
    for (; n * h < 2 * expected + 0.5 && v != 0; n++) {
      v = engineStep(&e, 0, d.load);
    }
    assert_true(fabs(n * h - expected) < fmax(0.02 * expected, 5e-3));

    double place = e.d->qpos[0];
    for (int j = 0; j < 500; j++) {
      assert_true(engineStep(&e, 0, d.load) == 0);
    }
    assert_true(e.d->qpos[0] == place);
    freeEngine(&e);
    *(share > 1 ? &braked : &wedged) += 1;
  }
  assert_true(braked >= DRAWN && wedged >= DRAWN);
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(brakesItself),
      cmocka_unit_test(leadScrewStability),
      cmocka_unit_test(brakesUnderContact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
