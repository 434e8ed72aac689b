// The work of a cycle that lifts and lowers a weight, in closed form, for many drawn sets of
// parameters, in the core and in the engine, with and without contact.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mjgear.h"
#include "plugin_models.h"
#include "references/drive.h"


// lifting and lowering a weight once costs W (1/eta_f - eta_b): the torques that keep it in motion
static void liftsAndLowers(void** state) {
  for (int i = 0; i < DRAWN; i++) {
    const double h = 1e-3;
    const int steps = 200;
    Drive d = {.m = draw(0.1, 2), .M = draw(0.1, 2), .eta_f = draw(0.2, 0.95), .load = draw(1, 20)};
    d.eta_b = draw(-0.5, 0.95);
    if (d.eta_b < 0 && d.m < 1.05 * -d.eta_b * d.M) {
      d.m = 1.1 * -d.eta_b * d.M;  // else it wedges on its way down
    }
    double speed = draw(0.2, 2), gamma_u, gamma_v, weight = d.load * steps * h * speed;
    assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, d.eta_f, d.eta_b), 0);
    for (int runner = 0; runner < NRUNNER; runner++) {
      double work = 0;
      for (int s = 1; s >= -1; s -= 2) {
        double u = s > 0 ? d.load / d.eta_f : d.eta_b * d.load, v = d.v = s * speed;
        Engine e = {0};
        if (runner != inCORE) {
          e = makeEngine(&d, h, runner);
        }

        // a body that lies on the link is in its contact from the start on as it stays there
        if (runner == inENGINE_PRESSED) {
          e.d->qvel[0] = e.d->qvel[1] = 0;
          for (int k = 0; k < 2000; k++) {
            v = engineStep(&e, d.load, d.load);
          }
          assert_true(v == 0);
          e.d->qvel[0] = e.d->qvel[1] = v = d.v;
        }
        for (int k = 0; k < steps; k++) {
          if (runner == inCORE) {
            assert_true(mjg_stepScalar(&v, NULL, v, u, d.load, gamma_u, gamma_v, d.m, d.M, h) >= 0);
          } else {
            v = engineStep(&e, u, d.load);
          }
          work += u * h * v;
        }
        assert_true(fabs(v - s * speed) < 1e-9 * speed);
        if (runner != inCORE) {
          freeEngine(&e);
        }
      }
      assert_true(fabs(work - weight * (1 / d.eta_f - d.eta_b)) < 1e-9 * fabs(weight));
    }
  }
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(liftsAndLowers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
