#include "state/gears.h"

#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "configuration/check.h"
#include "model/simd.h"
#include "state/changes.h"
#include "state/layout.h"


//---------------------------------- memory --------------------------------------------------------

// units of array sizes
enum {
  GEARS,
  DOFS,
  DOFS3,
  DOFS6,
  TREES,
  LINES
};
_Static_assert(LINES + 1 == mjgpNSIZE, "mjgpNSIZE is not the number of sizes");

// arrays with pointers, then arrays that a copy takes over, then scratch
#define ARRAY(name, size) mjgpARRAY(mjgpGears, name, size)
#define COUNT(array)      (int)(sizeof(array) / sizeof(*(array)))
// clang-format off
static const mjgpArray kPointers[] = {
    ARRAY(in.joint, GEARS), ARRAY(in.E, GEARS), ARRAY(in.row, GEARS), ARRAY(in.coupling, GEARS)};
static const mjgpArray kValues[] = {
    ARRAY(in.active, GEARS), ARRAY(in.dozing, GEARS), ARRAY(in.gear, GEARS), ARRAY(in.base, DOFS),
    ARRAY(in.tree, TREES), ARRAY(out.shift, DOFS),
    ARRAY(in.brake, GEARS), ARRAY(in.force, DOFS), ARRAY(out.t, GEARS), ARRAY(out.v_next, GEARS),
    ARRAY(out.u, GEARS), ARRAY(out.lambda, GEARS), ARRAY(out.mode, GEARS), ARRAY(out.load, GEARS),
    ARRAY(out.gap, GEARS), ARRAY(out.cancellation, GEARS), ARRAY(out.rounding, GEARS)};
static const mjgpArray kScratch[] = {
    ARRAY(scratch.slope, DOFS), ARRAY(scratch.lower, LINES), ARRAY(scratch.upper, LINES),
    ARRAY(scratch.pivot, DOFS), ARRAY(scratch.force, DOFS), ARRAY(scratch.joint, GEARS),
    ARRAY(scratch.local, DOFS), ARRAY(scratch.held, DOFS), ARRAY(scratch.vector, DOFS3),
    ARRAY(scratch.matrix, LINES), ARRAY(scratch.block, DOFS6), ARRAY(scratch.blocked, TREES)};
// clang-format on


// Lay out all arrays in one block at base, or count its bytes if base is null.
static size_t layout(mjgpGears* g, char* base, const size_t* size) {
  size_t bytes = mjgp_layout(g, base, 0, kPointers, COUNT(kPointers), size);
  size_t values = bytes;
  bytes = mjgp_layout(g, base, bytes, kValues, COUNT(kValues), size);
  g->values = base ? base + values : NULL;
  g->nvalues = bytes - values;
  return mjgp_layout(g, base, bytes, kScratch, COUNT(kScratch), size);
}


// Allocate for the gears of a configuration; nothing is kept.
static void makeRoom(mjgpGears* g, const mjgpConfig* c, const size_t size[mjgpNSIZE]) {
  size_t bytes = layout(g, NULL, size);
  mju_free(g->memory);
  mju_free(g->changes);
  g->changes = NULL;
  g->memory = mju_malloc(bytes);
  memset(g->memory, 0, bytes);
  memcpy(g->size, size, sizeof(g->size));
  layout(g, g->memory, size);
  memset(g->scratch.local, -1, sizeof(int) * (size_t)c->nv);
  g->in.nactive = 0;
}


//---------------------------------- pool ----------------------------------------------------------

// Pickling copies mjData byte by byte, with pointers of another mjData or process. They must
// neither be followed nor freed: objects live in memory that is never returned, and every pointer
// is checked.

// chunk k has mjgpFIRST << k objects, so that few chunks hold any number
enum {
  mjgpFIRST = 16,
  mjgpNCHUNK = 24
};

// an object and its slot, a power of 2 so that addresses are checked without a division
typedef union mjgpSlot_ {
  mjgpGears gears;
  char bytes[1024];
} mjgpSlot;
_Static_assert((sizeof(mjgpSlot) & (sizeof(mjgpSlot) - 1)) == 0, "mjgpSlot is no power of 2");

// chunks are made in order and never freed; readers need no lock
static _Atomic(mjgpSlot*) chunks[mjgpNCHUNK];

// objects that are free, linked by their next; changed under the lock
static mjgpGears* free_gears;


// held for a moment; nothing that may call the plugin is within
static atomic_flag lock = ATOMIC_FLAG_INIT;

static void lockPool(void) {
  while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {}
}

static void unlockPool(void) {
  atomic_flag_clear_explicit(&lock, memory_order_release);
}


// make the next chunk and free its objects; under the lock
static void grow(void) {
  int k = 0;
  while (k < mjgpNCHUNK && atomic_load_explicit(chunks + k, memory_order_relaxed)) {
    k++;
  }
  size_t n = (size_t)mjgpFIRST << k;
  mjgpSlot* chunk = k < mjgpNCHUNK ? mju_malloc(n * sizeof(mjgpSlot)) : NULL;
  if (chunk) {
    memset(chunk, 0, n * sizeof(mjgpSlot));
    for (size_t i = n; i-- > 0;) {
      chunk[i].gears.next = free_gears;
      free_gears = &chunk[i].gears;
    }
    atomic_store_explicit(chunks + k, chunk, memory_order_release);
  }
}


// Returns a new object of a mjData. Locks: not for use in a step but the first.
static mjgpGears* newGears(const mjModel* m, const mjData* d) {
  lockPool();
  if (!free_gears) {
    grow();
  }
  mjgpGears* g = free_gears;
  if (g) {
    free_gears = g->next;
    memset(g, 0, sizeof(*g));
    g->d = d;
  }
  unlockPool();
  if (!g) {
    mju_error(mjgpNAME ": out of memory");
  }
  g->nv = (int)m->nv;
  g->nstate = (int)m->npluginstate;
  g->stages = INT_MAX;
  g->begun = 1;
  return g;
}


static void freeGears(mjgpGears* g) {
  mjgp_freeConfigs(&g->known);
  mju_free(g->changes);
  mju_free(g->memory);
  lockPool();
  g->d = NULL;
  g->next = free_gears;
  free_gears = g;
  unlockPool();
}


mjgpGears* mjgp_liveGears(uintptr_t address) {
  for (int k = 0; k < mjgpNCHUNK; k++) {
    mjgpSlot* chunk = atomic_load_explicit(chunks + k, memory_order_acquire);
    if (!chunk) {
      return NULL;
    }
    uintptr_t offset = address - (uintptr_t)chunk;
    if (offset < ((uintptr_t)mjgpFIRST << k) * sizeof(mjgpSlot)) {
      mjgpGears* g = (mjgpGears*)address;
      return offset % sizeof(mjgpSlot) == 0 && g->d ? g : NULL;
    }
  }
  return NULL;
}


// Returns the object of this mjData whose pointer the engine has overwritten, or null. Of several
// some belong to freed mjData of the same address: all are freed. Searches all objects.
static mjgpGears* copiedOver(const mjData* d) {
  mjgpGears* found = NULL;
  int several = 0;
  for (int k = 0; k < mjgpNCHUNK; k++) {
    mjgpSlot* chunk = atomic_load_explicit(chunks + k, memory_order_acquire);
    for (size_t i = 0; chunk && i < (size_t)mjgpFIRST << k; i++) {
      mjgpGears* g = &chunk[i].gears;
      if (g->d == d && found) {
        freeGears(g);
        several = 1;
      } else if (g->d == d) {
        found = g;
      }
    }
  }
  if (several) {
    freeGears(found);
  }
  return several ? NULL : found;
}


//---------------------------------- whose gears ---------------------------------------------------

// Select the configuration of a model. Returns 0, or -1 after a warning if it is refused.
static int selectModel(mjgpGears* g, const mjModel* m) {
  int nknown = g->known.n;
  const mjgpConfig* c = mjgp_findConfig(&g->known, m);
  if (!c) {
    return -1;
  }
  size_t nv = (size_t)c->nv;
  const size_t size[mjgpNSIZE] = {
      [GEARS] = (size_t)c->n,     [DOFS] = nv,
      [DOFS3] = 3 * nv,           [DOFS6] = 6 * nv,
      [TREES] = (size_t)c->ntree, [LINES] = (size_t)c->nC + (mjgiSIMD - 1) * nv};
  if (g->known.n < nknown || memcmp(size, g->size, sizeof(size))) {
    makeRoom(g, c, size);
  }
  g->config = c;
  g->model = m;
  g->in.settings = c->settings;
  for (int i = 0; i < c->n; i++) {
    g->in.joint[i] = c->joint + i;
  }
  return 0;
}


static void selectOrStop(mjgpGears* g, const mjModel* m) {
  if (g->nv != m->nv || g->nstate != m->npluginstate) {
    mju_error(mjgpNAME ": the data are of a model with other sizes; make them with this one");
  }
  if (selectModel(g, m)) {
    mju_error(mjgpNAME ": the gears of this model are refused, see the warning");
  }
}


// Returns the object of a mjData at this instance, or null.
static mjgpGears* ownGears(const mjData* d, int instance) {
  mjgpGears* g = mjgp_liveGears(d->plugin_data[instance]);
  return g && g->d == d ? g : NULL;
}


mjgpGears* mjgp_findGears(const mjModel* m, mjData* d, int leader) {
  mjgpGears* g = ownGears(d, leader);

  // a bytewise copy of another mjData gets its own object
  if (!g) {
    g = copiedOver(d);
    if (g && (g->nv != m->nv || g->nstate != m->npluginstate)) {
      freeGears(g);
      g = NULL;
    }
    g = g ? g : newGears(m, d);
    d->plugin_data[leader] = (uintptr_t)g;
  }
  if (g->model != m) {
    selectOrStop(g, m);
  }
  return g;
}


void mjgp_checkModel(mjgpGears* g, const mjModel* m) {
  if (!mjgp_isConfigOf(g->config, m)) {
    selectOrStop(g, m);
  }
}


const char* mjgp_belongError(const mjModel* m, const mjData* d) {
  int slot = mjgp_slot(), leader = m ? mjgp_leader(m, slot) : -1;
  if (!m || !d) {
    return "the model or the data are missing; give both";
  }
  if (leader < 0) {
    return "the model has no gear; give it an instance of the plugin";
  }
  int ours = d->nplugin == (int)m->nplugin && d->signature == m->signature &&
             !memcmp(d->plugin, m->plugin, sizeof(int) * (size_t)m->nplugin);
  const mjgpGears* g = ours ? ownGears(d, leader) : NULL;
  if (!ours || (g && (g->nv != m->nv || g->nstate != m->npluginstate))) {
    return "the data are not of this model; make or reset them with it";
  }
  return NULL;
}


mjgpGears* mjgp_gears(const mjModel* m, const mjData* d) {
  if (mjgp_belongError(m, d)) {
    return NULL;
  }

  // configurations are no state of d
  mjgpGears* g = mjgp_gearsOf(m, (mjData*)d, mjgp_leader(m, mjgp_slot()));
  mjgp_checkModel(g, m);
  return g;
}


int mjgp_refuseCall(char* error, int error_sz, const char* text) {
  if (error && error_sz > 0) {
    snprintf(error, (size_t)error_sz, "%s: %s", mjgpNAME, text);
  }
  return -1;
}


//---------------------------------- warnings ------------------------------------------------------

// last warning of mjg_checkModel, which the next compilation does not repeat
static _Atomic(uint64_t) told;

void mjgp_noteTold(const char* text) {
  atomic_store(&told, mjgp_hash(text, strlen(text), 0));
}


// Warn about a model, once for each of the last models.
static void warnOfModel(const mjgpConfig* c, const mjModel* m) {
  char text[mjgpERRORSIZE];
  mjgReport report;
  mjg_startReport(&report, text, sizeof(text));
  if (!mjgp_warnLoss(&report, m, c->joint, c->n)) {
    return;
  }
  uint64_t line = mjgp_hash(text, strlen(text), 0);
  uint64_t expected = line;
  int known = atomic_compare_exchange_strong(&told, &expected, 0);
  if (mjgp_isNews(c, line) && !known) {
    mju_warning("%.*s", (int)strcspn(text, "\n"), text);
  }
}


// Warn of refused options that were set after compilation, once for each model.
static void warnOfOptions(const mjgpConfig* c, const mjModel* m) {
  int flags = mjDSBL_SPRING | mjDSBL_DAMPER, integrator = m->opt.integrator;
  int euler = integrator == mjINT_EULER, fast = integrator == mjINT_IMPLICITFAST;
  int implicit = (fast && !c->ngeared) || (mjgp_isDiscrete(m) && !m->nflex);
  int usual = (euler || implicit) && m->opt.noslip_iterations == 0 &&
              (m->opt.disableflags & flags) != flags && !(m->opt.enableflags & mjENBL_SLEEP);
  if (usual) {
    return;
  }
  int n;
  char text[mjgpERRORSIZE];
  mjgReport report;
  mjgSettings settings;
  mjg_startReport(&report, text, sizeof(text));
  mju_free(mjgp_check(&n, &settings, &report, m, mjgp_slot()));
  if (report.count && mjgp_isNews(c, mjgp_hash(text, strlen(text), 0))) {
    mju_warning(
        "%.*s. It was set after the model was compiled: gears are less exact, or do not act",
        (int)strcspn(text, "\n"), text);
  }
}


//---------------------------------- life ----------------------------------------------------------

int mjgp_init(const mjModel* m, mjData* d, int instance) {
  d->plugin_data[instance] = 0;
  if (instance != mjgp_leader(m, m->plugin[instance])) {
    return 0;
  }
  mjgpGears* g = newGears(m, d);
  int refused = selectModel(g, m), compiled = mjgp_isCompiled(m);
  if (compiled) {
    mjgp_noteCompiled(NULL);
  }
  if (refused) {
    freeGears(g);
    return -1;
  }
  d->plugin_data[instance] = (uintptr_t)g;
  if (!compiled && !mjgp_seeksLengths(m)) {
    warnOfModel(g->config, m);
    warnOfOptions(g->config, m);
  }
  return 0;
}


void mjgp_destroy(mjData* d, int instance) {
  mjgpGears* g = ownGears(d, instance);
  if (!g && d->plugin_data[instance]) {
    g = copiedOver(d);
  }
  if (g) {
    freeGears(g);
  }
  d->plugin_data[instance] = 0;
}


void mjgp_reset(const mjModel* m, mjtNum* plugin_state, void* plugin_data, int instance) {
  memset(plugin_state, 0, sizeof(mjtNum) * (size_t)m->plugin_statenum[instance]);

  // the engine passes the state, not its mjData
  mjgpGears* g = mjgp_liveGears((uintptr_t)plugin_data);
  if (!g || g->d->plugin_state + m->plugin_stateadr[instance] != plugin_state) {
    return;
  }
  g->phase = mjgpPHASE_IDLE;
  g->nested = g->done = g->refused = g->begun = g->stages = 0;
  g->in.removes = g->out.shifted = 0;
  g->in.nactive = g->in.ntree = 0;
  memset(&g->count, 0, sizeof(g->count));
  memset(&g->out.info, 0, sizeof(g->out.info));
  memset(g->values, 0, g->nvalues);
  memset(g->scratch.local, -1, sizeof(int) * (size_t)g->config->nv);
  for (int i = 0; i < g->config->n; i++) {
    g->in.joint[i] = g->config->joint + i;
  }
}


void mjgp_copy(mjData* dest, const mjModel* m, const mjData* src, int instance) {
  const mjgpGears* from = ownGears(src, instance);
  if (instance != mjgp_leader(m, m->plugin[instance])) {
    return;
  }
  mjgpGears* to = mjgp_gearsOf(m, dest, instance);
  mjgp_checkModel(to, m);
  mjgp_applyChanges(to, m, dest);
  if (!from || to->nvalues != from->nvalues) {
    return;
  }

  // everything that a following mj_step2 or finite difference reads
  to->phase = from->phase;
  to->done = from->done;
  to->early = from->early;
  to->stages = from->stages;
  to->begun = from->begun;
  to->in.nactive = from->in.nactive;
  to->in.ntree = from->in.ntree;
  to->in.removes = from->in.removes;
  to->out.shifted = from->out.shifted;
  to->out.info = from->out.info;
  to->count = from->count;
  to->warned |= from->warned;
  memcpy(to->values, from->values, to->nvalues);
}
