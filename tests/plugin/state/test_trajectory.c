// Only the state determines a trajectory: every way to take the same steps gives the same bits,
// from threads too.

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugin_models.h"
#include "zoo.h"

static mjModel* plainZoo(void) {
  return makeModel(kZoo, 0.002, "elliptic", "implicitfast", "Newton", "sparse", "");
}


static void assertSame(const mjModel* m, const mjData* a, const mjData* b) {
  assert_memory_equal(a->qpos, b->qpos, sizeof(mjtNum) * (size_t)m->nq);
  assert_memory_equal(a->qvel, b->qvel, sizeof(mjtNum) * (size_t)m->nv);
  assert_memory_equal(a->plugin_state, b->plugin_state, sizeof(mjtNum) * (size_t)m->npluginstate);
}


// every other way to take the same steps
static void test_bits(void** state) {
  mjModel* m = plainZoo();
  mjData *plain = mj_makeData(m), *twice = mj_makeData(m), *halves = mj_makeData(m);
  mjData *copied = mj_makeData(m), *stored = mj_makeData(m), *differ = mj_makeData(m);
  int size = mj_stateSize(m, mjSTATE_INTEGRATION);
  mjtNum* saved = malloc(sizeof(mjtNum) * (size_t)size);
  mjtNum* A = malloc(sizeof(mjtNum) * (size_t)(4 * m->nv * m->nv));
  assert_non_null(saved);
  assert_non_null(A);
  for (int i = 0; i < 400; i++) {
    control(m, plain);
    mj_step(m, plain);

    // forward again and again
    control(m, twice);
    mj_forward(m, twice);
    mj_forward(m, twice);
    mj_step(m, twice);
    assertSame(m, plain, twice);

    // in two halves
    mj_step1(m, halves);
    control(m, halves);
    mj_step2(m, halves);
    assertSame(m, plain, halves);

    // copied between the halves
    control(m, copied);
    mj_step1(m, copied);
    mjData* other = mj_copyData(NULL, m, copied);
    mj_step2(m, other);
    mj_copyData(copied, m, other);
    mj_deleteData(other);
    assertSame(m, plain, copied);

    // through a state, after forward, into data that did something else
    control(m, stored);
    mj_forward(m, stored);
    mj_getState(m, stored, saved, mjSTATE_INTEGRATION);
    if (i % 7 == 0) {
      mj_resetData(m, stored);
      stored->qvel[3] = 1;
      mj_step(m, stored);
    }
    mj_setState(m, stored, saved, mjSTATE_INTEGRATION);
    mj_step(m, stored);
    assertSame(m, plain, stored);

    // finite differences on the way
    control(m, differ);
    if (i % 50 == 0) {
      mjd_transitionFD(m, differ, 1e-6, 1, A, NULL, NULL, NULL);
      for (int k = 0; k < 4 * m->nv * m->nv; k++) {
        assert_false(mju_isBad(A[k]));
      }
    }
    mj_step(m, differ);
    assertSame(m, plain, differ);
  }

  // reset: the same again
  for (int k = 0; k < 2; k++) {
    mj_resetData(m, plain);
    if (k) {
      mj_resetDataKeyframe(m, twice, 0);
    } else {
      mj_resetData(m, twice);
    }
    mjData* fresh = mj_makeData(m);
    for (int i = 0; i < 200; i++) {
      control(m, fresh);
      control(m, plain);
      control(m, twice);
      mj_step(m, fresh);
      mj_step(m, plain);
      mj_step(m, twice);
      assertSame(m, fresh, plain);
      assertSame(m, fresh, twice);
    }
    mj_deleteData(fresh);
  }
  free(saved);
  free(A);
  mj_deleteData(plain);
  mj_deleteData(twice);
  mj_deleteData(halves);
  mj_deleteData(copied);
  mj_deleteData(stored);
  mj_deleteData(differ);
  mj_deleteModel(m);
}


typedef struct Task_ {
  const mjModel* m;
  mjData* d;
} Task;


static void* runTask(void* argument) {
  Task* task = argument;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 300; i++) {
      control(task[k].m, task[k].d);
      mj_step(task[k].m, task[k].d);
    }
  }
  return NULL;
}


// two models and eight data in four threads
static void test_threads(void** state) {
  mjModel* m[2] = {plainZoo(), makeModel(kZoo, 0.002, "pyramidal", "Euler", "Newton", "dense",
                                         "island='disable'")};
  mjData *plain[2], *d[8];
  Task task[8];
  pthread_t thread[4];
  for (int k = 0; k < 8; k++) {
    d[k] = mj_makeData(m[k % 2]);
    task[k] = (Task){m[k % 2], d[k]};
  }
  for (int k = 0; k < 4; k++) {
    assert_int_equal(pthread_create(&thread[k], NULL, runTask, task + 2 * k), 0);
  }
  for (int k = 0; k < 4; k++) {
    pthread_join(thread[k], NULL);
  }
  Task alone[2];
  for (int k = 0; k < 2; k++) {
    plain[k] = mj_makeData(m[k]);
    alone[k] = (Task){m[k], plain[k]};
  }
  runTask(alone);
  for (int k = 0; k < 8; k++) {
    assertSame(m[k % 2], plain[k % 2], d[k]);
    mj_deleteData(d[k]);
  }
  for (int k = 0; k < 2; k++) {
    mj_deleteData(plain[k]);
    mj_deleteModel(m[k]);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bits),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
