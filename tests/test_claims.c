// Claims of scenes are kept in order, cut if too long, and counted.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "claims.h"


static void keeps_and_counts(void** state) {
  (void)state;
  mjgClaims claims = {0};
  mjg_claim(&claims, 1, "%d < %.1f", 1, 2.5);
  mjg_claim(&claims, 0, "%s", "wrong");
  mjg_claim(&claims, 256, "%01000d", 7);
  assert_int_equal(claims.n, 3);
  assert_int_equal(claims.nfailed, 1);
  assert_string_equal(claims.claim[0].text, "1 < 2.5");
  assert_true(claims.claim[0].holds && !claims.claim[1].holds);

  // any nonzero value holds; text is cut at its end
  assert_int_equal(claims.claim[2].holds, 1);
  assert_int_equal(strlen(claims.claim[2].text), mjgMAXCLAIM - 1);
  mjg_freeClaims(&claims);
  assert_int_equal(claims.n, 0);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_and_counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
