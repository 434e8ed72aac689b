// The system's loader finds the engine of this process; one file a system, this test for all.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <mujoco/mujoco.h>

#include "callbacks/loader.h"


static void test_engineIsFound(void** state) {
  (void)mj_version();  // an engine that nothing calls would not be linked
  char paths[mjgpMAXENGINE][mjgpMAXPATH];
  assert_int_equal(mjgp_enginePaths(paths), 1);
  assert_non_null(strstr(paths[0], "mujoco"));

  void* engine = mjgp_openEngine(paths[0]);
  assert_non_null(engine);
  int (*version)(void) = NULL;
  void* function = mjgp_engineFunction(engine, "mj_version");
  memcpy(&version, &function, sizeof(version));
  assert_non_null(version);
  assert_int_equal(version(), mjVERSION_HEADER);
  assert_null(mjgp_engineFunction(engine, "mj_hasNoSuchFunction"));
}


static void test_whatIsNotLoadedIsNotOpened(void** state) {
  assert_null(mjgp_openEngine("no-such-folder/no-such-library"));
  assert_null(mjgp_engineFunction(mjgp_openEngine(NULL), "mj_hasNoSuchFunction"));
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_engineIsFound),
      cmocka_unit_test(test_whatIsNotLoadedIsNotOpened),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
