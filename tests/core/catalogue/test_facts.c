// facts about a gear, against closed forms

#include <math.h>

#include "fixture.h"
#include "mjgear_report.h"
#include "transmissions.h"


static void closedForms(void** state) {
  mjgTransmission gear = makeTransmission(0.2, 0.5, 0.1, 1);
  gear.armature = 0.05;
  mjgFacts f;
  mjg_explain(&f, &gear, 2, 0.1);
  assert_near(f.eta_f, 0.8 / 1.5, 1e-15);
  assert_near(f.eta_b, 0.5 / 1.2, 1e-15);
  assert_true(f.eta_f == f.eta_f_rest && f.eta_b == f.eta_b_rest && !f.varies);
  assert_true(f.backdrivable && f.forward_drivable);

  // s (f_u - f_v) = gamma_u f_u + gamma_v f_v + c, with f_u, f_v > 0
  assert_near(f.raise, (2 * 1.5 + 0.1) / 0.8, 1e-12);
  assert_near(f.lower, (2 * 0.5 - 0.1) / 1.2, 1e-12);
  assert_true(f.hold_low == f.lower && f.hold_high == f.raise);
  assert_near(f.start_forward, 0.1 / 0.8, 1e-12);
  assert_near(f.start_backward, 0.1 / 0.5, 1e-12);
  assert_near(f.inertia_forward, 0.8 / 1.5 * 0.05 + 0.1, 1e-15);
  assert_near(f.inertia_backward, 1.2 / 0.5 * 0.05 + 0.1, 1e-15);
  assert_near(f.rho, (0.2 * 0.05 - 0.5 * 0.1) / 0.15, 1e-15);

  // a gear that no load drives, of unknown inertia on the other side
  gear.gamma_v = 1.1;
  mjg_explain(&f, &gear, 2, -1);
  assert_false(f.backdrivable);
  assert_true(isinf(f.start_backward) && isnan(f.inertia_forward) && isnan(f.rho));
  assert_true(f.lower < 0);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(closedForms)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
