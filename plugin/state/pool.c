#include "state/pool.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "state/gears.h"

// chunk k has mjgpFIRST << k objects, so that few chunks hold any number
enum {
  mjgpFIRST = 16,
  mjgpNCHUNK = 24
};

// an object and its room, a power of 2 so that addresses are checked without a division
typedef union mjgpRoom_ {
  mjgpGears gears;
  char bytes[1024];
} mjgpRoom;
_Static_assert((sizeof(mjgpRoom) & (sizeof(mjgpRoom) - 1)) == 0, "mjgpRoom is no power of 2");

// chunks are made in order and never freed; readers need no lock
static _Atomic(mjgpRoom*) chunks[mjgpNCHUNK];

// objects that are free, linked by their next; changed under the lock
static mjgpGears* free_gears;
static atomic_flag lock = ATOMIC_FLAG_INIT;


static void enter(void) {
  while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {}
}

static void leave(void) {
  atomic_flag_clear_explicit(&lock, memory_order_release);
}


// make the next chunk and free its objects; under the lock
static void grow(void) {
  for (int k = 0; k < mjgpNCHUNK; k++) {
    if (!atomic_load_explicit(chunks + k, memory_order_relaxed)) {
      size_t n = (size_t)mjgpFIRST << k;
      mjgpRoom* chunk = mju_malloc(n * sizeof(mjgpRoom));
      if (chunk) {
        memset(chunk, 0, n * sizeof(mjgpRoom));
        for (size_t i = n; i-- > 0;) {
          chunk[i].gears.next = free_gears;
          free_gears = &chunk[i].gears;
        }
        atomic_store_explicit(chunks + k, chunk, memory_order_release);
      }
      return;
    }
  }
}


mjgpGears* mjgp_newGears(const mjData* d) {
  enter();
  if (!free_gears) {
    grow();
  }
  mjgpGears* g = free_gears;
  if (g) {
    free_gears = g->next;
    memset(g, 0, sizeof(*g));
    g->d = d;
  }
  leave();
  return g;
}


void mjgp_freeGears(mjgpGears* g) {
  enter();
  g->d = NULL;
  g->next = free_gears;
  free_gears = g;
  leave();
}


mjgpGears* mjgp_liveGears(uintptr_t address) {
  for (int k = 0; k < mjgpNCHUNK; k++) {
    mjgpRoom* chunk = atomic_load_explicit(chunks + k, memory_order_acquire);
    if (!chunk) {
      return NULL;
    }
    uintptr_t offset = address - (uintptr_t)chunk;
    if (offset < ((uintptr_t)mjgpFIRST << k) * sizeof(mjgpRoom)) {
      mjgpGears* g = (mjgpGears*)address;
      return offset % sizeof(mjgpRoom) == 0 && g->d ? g : NULL;
    }
  }
  return NULL;
}


mjgpGears* mjgp_orphanOf(const mjData* d) {
  for (int k = 0; k < mjgpNCHUNK; k++) {
    mjgpRoom* chunk = atomic_load_explicit(chunks + k, memory_order_acquire);
    for (size_t i = 0; chunk && i < (size_t)mjgpFIRST << k; i++) {
      if (chunk[i].gears.d == d) {
        return &chunk[i].gears;
      }
    }
  }
  return NULL;
}
