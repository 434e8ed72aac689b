// Room for a result and a workspace, shared by the tests of the core.

#ifndef MJGEAR_TESTS_FIXTURE_H_
#define MJGEAR_TESTS_FIXTURE_H_

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mjgear.h"
#include "oracle.h"

typedef struct Room_ {
  double t[oracleMAXN], v[oracleMAXN], lambda[oracleMAXN];
  int mode[oracleMAXN];
  mjgSolution solution;
  mjgSettings settings;
  mjgInfo info;
  mjgWorkspace* work;
  void* memory;
} Room;


static inline void openRoom(Room* room) {
  size_t size = mjg_memsize(oracleMAXN, oracleMAXN);
  room->memory = malloc(size);
  room->work = mjg_create(room->memory, size, oracleMAXN, oracleMAXN);
  room->solution = (mjgSolution){room->t, room->v, room->lambda, room->mode};
  mjg_defaultSettings(&room->settings);
  assert_non_null(room->work);
}


static inline void closeRoom(Room* room) {
  free(room->memory);
}

#endif  // MJGEAR_TESTS_FIXTURE_H_
