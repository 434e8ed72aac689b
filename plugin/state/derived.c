#include "state/derived.h"

#include <string.h>

enum {
  LINE = 64,                      // bytes that the processor fetches at once
  FEW = 3,                        // keys in the first line of a gear
  MOSTGIVEN = FEW + 13,           // keys that a kept gear has at most
  NPROBE = 4,                     // places of a gear
  FIRST = 64,                     // places of a new table
  MOST = 1 << 16,                 // places of the largest one, 38 MB
  NFIRST = mjgpCHANGE_KEY + FEW,  // numbers in the first line
  BEFORE =
      offsetof(mjgTransmission, table)  // bytes of a gear without tables, which are the model's
};
_Static_assert(BEFORE + sizeof(((mjgTransmission*)0)->table) == sizeof(mjgTransmission),
               "table is not the last");

// what most changes change
typedef struct Law_ {
  double gamma_u, gamma_v, coulomb, static_ratio;
} Law;

// a kept gear: the numbers that made it and what a step reads of it. A plain one differs
// from the model's in its law alone; then two lines of the processor's cache have it all
typedef struct Kept_ {
  const mjgpConfig* base;  // null: free
  int i;                   // joint
  unsigned n : 8;          // numbers
  unsigned refused : 1, constant : 1, ordinary : 1, plain : 1;
  mjtNum number[NFIRST];
  Law law;
  uint64_t used;  // when it was found last
  mjtNum more[MOSTGIVEN - FEW];
  char gear[BEFORE];
  double rotor_inertia;
  mjgBacklash backlash;
} Kept;
_Static_assert(offsetof(Kept, law) == LINE, "the numbers are not one line");
_Static_assert(sizeof(Kept) % LINE == 0, "a kept gear is not whole lines");

struct mjgpDerived_ {
  uint64_t mask;   // number of places less 1; a power of 2 less 1
  uint64_t time;   // steps so far
  uint64_t taken;  // places
  uint64_t built;  // when it was made
  _Alignas(LINE) Kept place[];
};


// two sums side by side, which do not wait for each other
static uint64_t hashOf(const mjgpConfig* config, int i, const mjgpNumbers* number) {
  uint64_t sum[2] = {((uint64_t)(uintptr_t)config >> 4) + (uint64_t)i, (uint64_t)number->n};
  for (int k = 0; k < number->n; k++) {
    uint64_t word;
    memcpy(&word, number->x + k, sizeof(word));
    sum[k & 1] = (sum[k & 1] ^ word ^ sum[k & 1] >> 29) * 0x9e3779b97f4a7c15u;
  }
  uint64_t hash = (sum[0] ^ sum[1] >> 31) + 3 * sum[1];
  hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}


uint64_t mjgp_seekChange(const mjgpDerived* derived, const mjgpConfig* config, int i,
                         const mjgpNumbers* number) {
  uint64_t hash = hashOf(config, i, number);
  if (derived) {
    const char* place = (const char*)(derived->place + (hash & derived->mask));
    __builtin_prefetch(place);
    __builtin_prefetch(place + LINE);
  }
  return hash;
}


static int hasNumbers(const Kept* kept, const mjgpNumbers* number) {
  size_t n = (size_t)number->n, first = n < NFIRST ? n : NFIRST;
  return kept->n == n && !memcmp(kept->number, number->x, sizeof(mjtNum) * first) &&
         (n <= NFIRST || !memcmp(kept->more, number->x + NFIRST, sizeof(mjtNum) * (n - NFIRST)));
}


static Law lawOf(const mjgTransmission* gear) {
  return (Law){gear->gamma_u, gear->gamma_v, gear->coulomb, gear->static_ratio};
}

static void setLaw(mjgTransmission* gear, Law law) {
  gear->gamma_u = law.gamma_u;
  gear->gamma_v = law.gamma_v;
  gear->coulomb = law.coulomb;
  gear->static_ratio = law.static_ratio;
}


// does a gear differ from the model's in its law alone
static int isPlain(const mjgpJoint* joint, const mjgpJoint* base) {
  mjgTransmission other = base->gear;
  setLaw(&other, lawOf(&joint->gear));
  return !memcmp(&other, &joint->gear, BEFORE) && joint->rotor_inertia == base->rotor_inertia &&
         !memcmp(&joint->backlash, &base->backlash, sizeof(base->backlash));
}


int mjgp_recallChange(mjgpChange* c, mjgpDerived* derived, const mjgpConfig* config, int i) {
  const mjgpNumbers* number = &c->next;
  if (!derived) {
    return 0;
  }
  for (uint64_t k = 0; k < NPROBE; k++) {
    Kept* kept = derived->place + ((c->hash + k) & derived->mask);
    if (kept->base != config || kept->i != i || !hasNumbers(kept, number)) {
      continue;
    }
    kept->used = derived->time;
    if (c->base != config || (kept->plain && !c->plain)) {
      c->joint = config->joint[i];
    }
    c->base = config;
    c->number.n = number->n;
    memcpy(c->number.x, number->x, sizeof(mjtNum) * (size_t)number->n);
    c->refused = kept->refused;
    c->plain = kept->plain;
    c->joint.constant = kept->constant;
    c->joint.ordinary = kept->ordinary;
    if (kept->plain) {
      setLaw(&c->joint.gear, kept->law);
    } else {
      memcpy(&c->joint.gear, kept->gear, sizeof(kept->gear));
      c->joint.rotor_inertia = kept->rotor_inertia;
      c->joint.backlash = kept->backlash;
    }
    return 1;
  }
  return 0;
}


// the place for a gear of this hash: a free one, else that of the gear that was found
// longest ago
static Kept* placeFor(mjgpDerived* derived, uint64_t hash) {
  Kept* oldest = NULL;
  for (uint64_t k = 0; k < NPROBE; k++) {
    Kept* kept = derived->place + ((hash + k) & derived->mask);
    if (!kept->base) {
      return kept;
    }
    oldest = !oldest || kept->used < oldest->used ? kept : oldest;
  }
  return oldest;
}


static mjgpNumbers numbersOf(const Kept* kept) {
  mjgpNumbers number = {.n = (int)kept->n};
  memcpy(number.x, kept->number, sizeof(kept->number));
  memcpy(number.x + NFIRST, kept->more, sizeof(kept->more));
  return number;
}


// a table for those that were found in the last steps: four times as large if they are
// many, and without those of simulations that have ended
static mjgpDerived* rebuild(mjgpDerived* old) {
  uint64_t size = old ? old->mask + 1 : FIRST, lately = 0;
  for (uint64_t k = 0; old && k <= old->mask; k++) {
    lately += old->place[k].base && old->time - old->place[k].used <= 2 * size;
  }
  uint64_t larger = 8 * lately > size && 4 * size <= MOST ? 4 * size : size;
  size_t bytes = sizeof(mjgpDerived) + sizeof(Kept) * (size_t)larger;
  mjgpDerived* derived = mju_malloc(bytes);
  if (!derived) {
    return old;
  }
  memset(derived, 0, bytes);
  derived->mask = larger - 1;
  derived->time = derived->built = old ? old->time : 0;
  for (uint64_t k = 0; old && k <= old->mask; k++) {
    const Kept* kept = old->place + k;
    if (kept->base && old->time - kept->used <= 2 * size) {
      mjgpNumbers number = numbersOf(kept);
      Kept* place = placeFor(derived, hashOf(kept->base, kept->i, &number));
      derived->taken += !place->base;
      *place = *kept;
    }
  }
  mju_free(old);
  return derived;
}


// is there so little room that a table has to be made anew? The largest one at most once in
// as many steps as it has places: between, gears take the places of others
static int isFull(const mjgpDerived* derived) {
  return 2 * derived->taken > derived->mask &&
         (derived->mask + 1 < MOST || derived->time - derived->built > derived->mask);
}


void mjgp_keepChange(mjgpDerived** derived, mjgpChange* c, int i) {
  const mjgpJoint* base = c->base->joint + i;
  c->plain = isPlain(&c->joint, base);
  if (c->number.n > mjgpCHANGE_KEY + MOSTGIVEN) {
    return;
  }
  if (!*derived || isFull(*derived)) {
    *derived = rebuild(*derived);
  }
  if (!*derived) {
    return;
  }
  Kept* kept = placeFor(*derived, c->hash);
  (*derived)->taken += !kept->base;
  *kept = (Kept){.base = c->base,
                 .used = (*derived)->time,
                 .i = i,
                 .n = (unsigned)c->number.n & 0xff,
                 .refused = c->refused != 0,
                 .constant = c->joint.constant != 0,
                 .ordinary = c->joint.ordinary != 0,
                 .plain = c->plain != 0,
                 .law = lawOf(&c->joint.gear),
                 .rotor_inertia = c->joint.rotor_inertia,
                 .backlash = c->joint.backlash};
  size_t n = (size_t)c->number.n, first = n < NFIRST ? n : NFIRST;
  memcpy(kept->number, c->number.x, sizeof(mjtNum) * first);
  memcpy(kept->more, c->number.x + first, sizeof(mjtNum) * (n - first));
  memcpy(kept->gear, &c->joint.gear, sizeof(kept->gear));
}


void mjgp_countStep(mjgpDerived* derived) {
  if (derived) {
    derived->time++;
  }
}


void mjgp_freeDerived(mjgpDerived** derived) {
  mju_free(*derived);
  *derived = NULL;
}
