// two of 60 million adversarial problems, in which round-off keeps Newton and its paths above the tolerance

#include <math.h>
#include <string.h>

#include "fixture.h"
#include "inclusion.h"
#include "problem_file.h"

typedef void (*Visit)(Room* room, const mjgRecord* record);


static void visitAll(Visit visit) {
  Room room;
  openRoom(&room);
  char error[256];
  size_t size;
  char* text = mjg_loadText(&size, MJGEAR_SOURCE_DIR "/tests/data/nearly_singular.txt", error,
                            sizeof(error));
  assert_non_null(text);
  mjgReader reader;
  mjgRecord record = {0};
  mjg_openReader(&reader, text, size);
  int count = 0;
  for (; mjg_readProblem(&record, &reader) == 1; count++) {
    mjg_defaultSettings(&room.settings);
    visit(&room, &record);
  }
  assert_int_equal(count, 2);
  mjg_clearRecord(&record);
  free(text);
  closeRoom(&room);
}


// solved, as the definition in extended precision says
static void assertSolved(Room* room, const mjgProblem* problem) {
  int status = mjg_solve(&room->solution, &room->info, problem, &room->settings, room->work);
  mjgInclusion inclusion;
  mjg_inclusion(&inclusion, problem, &room->solution);
  assert_in_range(status, mjgSOLVED, mjgJAMMED);
  assert_true(inclusion.residual <= 1e-12 && !(inclusion.power < 0) && inclusion.nmode == 0);
  assert_true(room->info.residual <= 1e-12);
}


static void coldOne(Room* room, const mjgRecord* record) {
  assertSolved(room, &record->problem);
}


// in extended precision the residual is the last digit of t
static void cold(void** state) {
  visitAll(coldOne);
}


// a start that is a solution is not replaced by a worse iterate
static void startOne(Room* room, const mjgRecord* record) {
  room->settings.solver = mjgGAUSS_SEIDEL;
  int status =
      mjg_solve(&room->solution, &room->info, &record->problem, &room->settings, room->work);
  if (status != mjgSOLVED) {
    return;
  }
  double t[oracleMAXN];
  int n = record->problem.n;
  memcpy(t, room->t, (size_t)n * sizeof(double));
  mjg_defaultSettings(&room->settings);
  room->settings.warm_start = 1;
  for (int pivots = 0; pivots < 2; pivots++) {
    memcpy(room->t, t, (size_t)n * sizeof(double));
    room->settings.pivots = pivots;
    assertSolved(room, &record->problem);
  }
}


static void bestOfStart(void** state) {
  visitAll(startOne);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cold),
      cmocka_unit_test(bestOfStart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
