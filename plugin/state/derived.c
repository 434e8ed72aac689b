#include "state/derived.h"

#include <string.h>

enum {
  LINE = 64,                      // bytes that the processor fetches at once
  FEW = 6,                        // keys in the two lines of a gear
  MOSTGIVEN = FEW + 10,           // most keys of a kept gear
  NPROBE = 4,                     // places of a gear
  FIRST = 64,                     // places of a new table
  MOST = 1 << 16,                 // places of the largest one, 38 MB
  NFIRST = mjgpCHANGE_KEY + FEW,  // numbers in these lines
  BEFORE =
      offsetof(mjgTransmission, table)  // bytes of a gear without tables, which are the model's
};
_Static_assert(BEFORE + sizeof(((mjgTransmission*)0)->table) == sizeof(mjgTransmission),
               "table is not the last");

// the law: most changes concern it alone
typedef struct Law_ {
  double gamma_u, gamma_v, coulomb, static_ratio;
} Law;

// A kept gear: its numbers and its law, in two cache lines. They hold all of a plain gear, which
// differs from the model's in its law alone.
typedef struct Kept_ {
  const mjgpConfig* base;  // null: free
  int i;                   // joint
  unsigned n : 8;          // numbers
  unsigned refused : 1, constant : 1, ordinary : 1, plain : 1;
  uint64_t used;  // step in which it was last found
  Law law;
  mjtNum number[NFIRST];
} Kept;
_Static_assert(sizeof(Kept) == 2 * LINE, "a kept gear is not two lines");

// the rest of a gear that is not plain
typedef struct Rest_ {
  mjtNum more[MOSTGIVEN - FEW];  // numbers
  char gear[BEFORE];
  double rotor_inertia;
  mjgBacklash backlash;
} Rest;

struct mjgpDerived_ {
  uint64_t mask;   // number of places less 1; a power of 2 less 1
  uint64_t time;   // steps so far
  uint64_t taken;  // places
  uint64_t built;  // step in which the table was made
  Rest* rest;      // of each place
  _Alignas(LINE) Kept place[];
};


// independent products; the halves of a round number are mixed
static uint64_t hashOf(const mjgpConfig* config, int i, const mjgpNumbers* number) {
  const uint64_t golden = 0x9e3779b97f4a7c15u;
  uint64_t hash = ((uint64_t)(uintptr_t)config >> 4) + (uint64_t)i, factor = golden;
  for (int k = 0; k < number->n; k++, factor += 2 * golden) {
    uint64_t word;
    memcpy(&word, number->x + k, sizeof(word));
    hash += (word ^ word >> 32) * factor;
  }
  hash = (hash ^ hash >> 32) * golden;
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


// Returns 1 if x and y are the same bits. In a loop: n is small, and a call of memcmp costs more
static int areSame(const mjtNum* x, const mjtNum* y, int n) {
  uint64_t differ = 0;
  for (int k = 0; k < n; k++) {
    uint64_t a, b;
    memcpy(&a, x + k, sizeof(a));
    memcpy(&b, y + k, sizeof(b));
    differ |= a ^ b;
  }
  return !differ;
}

static int hasNumbers(const Kept* kept, const Rest* rest, const mjgpNumbers* number) {
  int n = number->n;
  return (int)kept->n == n && areSame(kept->number, number->x, n < NFIRST ? n : NFIRST) &&
         (n <= NFIRST || areSame(rest->more, number->x + NFIRST, n - NFIRST));
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


// Returns 1 if a gear differs from the model's in its law alone.
static int isPlain(const mjgpJoint* joint, const mjgpJoint* base) {
  mjgTransmission other = base->gear;
  setLaw(&other, lawOf(&joint->gear));
  return !memcmp(&other, &joint->gear, BEFORE) && joint->rotor_inertia == base->rotor_inertia &&
         !memcmp(&joint->backlash, &base->backlash, sizeof(base->backlash));
}


static void recall(mjgpChange* c, const Kept* kept, const Rest* rest) {
  if (c->base != kept->base || (kept->plain && !c->plain)) {
    c->joint = kept->base->joint[kept->i];
  }
  c->base = kept->base;
  c->made.n = 0;
  c->refused = kept->refused;
  c->plain = kept->plain;
  c->joint.constant = kept->constant;
  c->joint.ordinary = kept->ordinary;
  if (kept->plain) {
    setLaw(&c->joint.gear, kept->law);
  } else {
    memcpy(&c->joint.gear, rest->gear, sizeof(rest->gear));
    c->joint.rotor_inertia = rest->rotor_inertia;
    c->joint.backlash = rest->backlash;
  }
}


int mjgp_recallChange(mjgpChange* c, mjgpDerived* derived, const mjgpConfig* config, int i) {
  for (uint64_t k = 0; derived && k < NPROBE; k++) {
    uint64_t at = (c->hash + k) & derived->mask;
    Kept* kept = derived->place + at;
    if (kept->base == config && kept->i == i && hasNumbers(kept, derived->rest + at, &c->number)) {
      kept->used = derived->time;
      recall(c, kept, derived->rest + at);
      return 1;
    }
  }
  return 0;
}


// Returns the place for a gear of this hash: a free one, else the place of the least
// recently used gear.
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


static mjgpNumbers numbersOf(const Kept* kept, const Rest* rest) {
  mjgpNumbers number = {.n = (int)kept->n};
  memcpy(number.x, kept->number, sizeof(kept->number));
  memcpy(number.x + NFIRST, rest->more, sizeof(rest->more));
  return number;
}


// Rebuild the table with recently used gears, four times as large if there are many.
static mjgpDerived* rebuild(mjgpDerived* old) {
  uint64_t size = old ? old->mask + 1 : FIRST, lately = 0;
  for (uint64_t k = 0; old && k <= old->mask; k++) {
    lately += old->place[k].base && old->time - old->place[k].used <= 2 * size;
  }
  uint64_t larger = 8 * lately > size && 4 * size <= MOST ? 4 * size : size;
  size_t head = sizeof(mjgpDerived) + sizeof(Kept) * (size_t)larger;
  size_t bytes = head + sizeof(Rest) * (size_t)larger;
  mjgpDerived* derived = mju_malloc(bytes);
  if (!derived) {
    return old;
  }
  memset(derived, 0, bytes);
  derived->rest = (Rest*)((char*)derived + head);
  derived->mask = larger - 1;
  derived->time = derived->built = old ? old->time : 0;
  for (uint64_t k = 0; old && k <= old->mask; k++) {
    const Kept* kept = old->place + k;
    if (kept->base && old->time - kept->used <= 2 * size) {
      mjgpNumbers number = numbersOf(kept, old->rest + k);
      Kept* place = placeFor(derived, hashOf(kept->base, kept->i, &number));
      derived->taken += !place->base;
      *place = *kept;
      derived->rest[place - derived->place] = old->rest[k];
    }
  }
  mju_free(old);
  return derived;
}


// Returns 1 if the table must be rebuilt. The largest table is rebuilt at most once in as
// many steps as it has places; in between, new gears replace old ones.
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
                 .law = lawOf(&c->joint.gear)};
  size_t n = (size_t)c->number.n, first = n < NFIRST ? n : NFIRST;
  memcpy(kept->number, c->number.x, sizeof(mjtNum) * first);
  Rest* rest = (*derived)->rest + (kept - (*derived)->place);
  memcpy(rest->more, c->number.x + first, sizeof(mjtNum) * (n - first));
  memcpy(rest->gear, &c->joint.gear, sizeof(rest->gear));
  rest->rotor_inertia = c->joint.rotor_inertia;
  rest->backlash = c->joint.backlash;
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
