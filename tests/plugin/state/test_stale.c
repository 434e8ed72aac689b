// An mjData that is freed without a call of destroy, as compilers of some releases do after a
// refusal, leaves an object with its address. No later mjData of that address gets it.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plugin_models.h"


// a chain of n pendulums with a gear at the first
static mjModel* chain(int n) {
  char text[4000], error[1000] = "";
  snprintf(text, sizeof(text),
           "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'>"
           "<config key='joint' value='j0'/><config key='coulomb' value='.1'/></instance></plugin>"
           "</extension><worldbody>");
  for (int i = 0; i < n; i++) {
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             "<body><joint name='j%d' axis='0 1 0'/><geom size='.1' pos='.2 0 0'/>", i);
  }
  for (int i = 0; i < n; i++) {
    strcat(text, "</body>");
  }
  strcat(text, "</worldbody></mujoco>");
  mjSpec* spec = mj_parseXMLString(text, NULL, error, sizeof(error));
  if (!spec) {
    fail_msg("%s", error);
  }
  mjModel* m = mj_compile(spec, NULL);
  mj_deleteSpec(spec);
  assert_non_null(m);
  return m;
}


static void staleObjects(void** state) {
  loadPlugin();
  mjModel* m[] = {chain(1), chain(3), chain(5)};
  mjData* source[3];
  mjtNum right[3];  // velocity after a step
  for (int k = 0; k < 3; k++) {
    source[k] = mj_makeData(m[k]);
    source[k]->qvel[0] = 1;
    mjData* d = mj_copyData(NULL, m[k], source[k]);
    mj_step(m[k], d);
    right[k] = d->qvel[0];
    mj_deleteData(d);
  }
  int hits = 0;
  for (int round = 0; round < 60; round++) {
    // data of another model or of this one, freed without destroy
    int k = round % 3;
    const mjModel* other = m[(k + 1 + round / 3 % 3) % 3];
    mjData* stale = mj_makeData(other);
    mj_step(other, stale);
    uintptr_t address = (uintptr_t)stale;
    stale->plugin_data[0] = 0;
    mj_deleteData(stale);

    // data at this address with the pointer of other data, as after the engine's copy byte by byte
    mjData* d = mj_makeData(m[k]);
    hits += (uintptr_t)d == address;
    if (round % 2) {  // data that were unpickled have no object of their own
      mjp_getPluginAtSlot(m[k]->plugin[0])->destroy(d, 0);
    }
    d->plugin_data[0] = source[k]->plugin_data[0];
    mj_copyData(d, m[k], source[k]);
    mj_step(m[k], d);
    assert_true(d->qvel[0] == right[k]);

    // and without a separate object
    mj_copyData(d, m[k], source[k]);
    d->plugin_data[0] = 0;
    mj_step(m[k], d);
    assert_true(d->qvel[0] == right[k]);
    mj_deleteData(d);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  assert_true(hits > 0);  // sanitizers give no address out again
#endif
  for (int k = 0; k < 3; k++) {
    mj_deleteData(source[k]);
    mj_deleteModel(m[k]);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(staleObjects)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
