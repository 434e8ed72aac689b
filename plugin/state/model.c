#include "state/model.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "configuration/check.h"
#include "configuration/jacobian.h"
#include "configuration/sensors.h"
#include "model/simd.h"

// most configurations of a mjData, for programs with a new model for each trajectory
#define mjgpMAXCONFIG 4096


//---------------------------------- recognition ---------------------------------------------------

uint64_t mjgp_hash(const char* text, size_t n, uint64_t hash) {
  uint64_t word;
  size_t i = 0;
  for (; i + sizeof(word) <= n; i += sizeof(word)) {
    memcpy(&word, text + i, sizeof(word));
    hash = (hash ^ word) * 1099511628211u;
    hash ^= hash >> 32;
  }
  for (; i < n; i++) {
    hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
  }
  return hash ^ hash >> 32;
}


// a part of a model that its gears depend on
typedef struct Part_ {
  const void* data;
  size_t size;
} Part;


// Returns the adjacent names of all objects of a type. size: of names to compare with; null:
// measure.
static Part namesOf(const mjModel* m, const int* adr, int n, const size_t* size) {
  const char *first = n ? m->names + adr[0] : "", *last = n ? m->names + adr[n - 1] : "";
  return (Part){first, size ? *size : (size_t)(last - first) + strlen(last) + 1};
}


// List parts that are not in the signature. Columns of M determine its rows. Coefficients of
// tendons count if tendons have gears, names of actuators if a key names one. c: to compare with,
// null: all.
static int findParts(Part part[mjgpNPART], const mjModel* m, const mjgpConfig* c) {
  size_t number = sizeof(int);
  part[0] = (Part){m->plugin_attr, (size_t)m->npluginattr};
  part[1] = (Part){m->jnt_type, number * (size_t)m->njnt};
  part[2] = (Part){m->M_colind, number * (size_t)m->nC};
  part[3] = namesOf(m, m->name_jntadr, (int)m->njnt, c ? c->nseen + 3 : NULL);
  part[4] = namesOf(m, m->name_tendonadr, (int)m->ntendon, c ? c->nseen + 4 : NULL);
  part[5] = (Part){m->actuator_plugin, number * (size_t)m->nactuator};
  part[6] = (Part){m->actuator_trntype, number * (size_t)m->nactuator};
  part[7] = (Part){m->actuator_trnid, 2 * number * (size_t)m->nactuator};
  part[8] = (Part){m->wrap_type, number * (size_t)m->nwrap};
  if (c && !c->ngeared && !c->motors.nnamed) {
    return 9;
  }
  part[9] = (Part){m->ten_J_rownnz, number * (size_t)m->ntendon};
  part[10] = (Part){m->ten_J_colind, number * (size_t)m->nJten};
  part[11] = (Part){m->wrap_prm, sizeof(mjtNum) * (size_t)m->nwrap};
  part[12] = namesOf(m, m->name_actuatoradr, (int)m->nactuator, c ? c->nseen + 12 : NULL);
  return mjgpNPART;
}


int mjgp_isConfigOf(const mjgpConfig* config, const mjModel* m) {
  const mjgpConfig* c = config;
  if (c->signature != m->signature || c->nv != (int)m->nv || c->nplugin != (int)m->nplugin ||
      c->ntendon != (int)m->ntendon || c->acc != m->plugin_stateadr[c->leader] + c->leader_state) {
    return 0;
  }
  Part part[mjgpNPART];
  int n = findParts(part, m, c);
  const char* seen = c->seen;
  for (int k = 0; k < n; k++) {
    if (part[k].size != c->nseen[k] || memcmp(seen, part[k].data, part[k].size)) {
      return 0;
    }
    seen += part[k].size;
  }
  return 1;
}


int mjgp_findGear(const mjgpConfig* config, int joint) {
  for (int i = 0; i < config->n; i++) {
    if (config->joint[i].number == joint) {
      return i;
    }
  }
  return -1;
}


//---------------------------------- one configuration ---------------------------------------------

size_t mjgp_layout(void* object, char* base, size_t bytes, const mjgpArray* array, int n,
                   const size_t* size) {
  for (int k = 0; k < n; k++) {
    size_t offset = (bytes + 63) & ~(size_t)63;
    bytes = offset + size[array[k].size] * array[k].item;
    if (base) {
      void* place = base + offset;
      memcpy((char*)object + array[k].member, &place, sizeof(place));
    }
  }
  return bytes;
}


// arrays of a configuration, and units of their sizes
enum {
  GEARS,
  DOFS,
  TREES,
  TENDONS,
  ACTUATORS,
  NAMES,
  NONZEROS,
  BYTES,
  KEYS,
  NSIZE
};
#define ARRAY(name, size) mjgpARRAY(mjgpConfig, name, size)
static const mjgpArray kArray[] = {
    ARRAY(joint, GEARS),        ARRAY(state, GEARS),        ARRAY(stride, GEARS),
    ARRAY(gap, GEARS),          ARRAY(place, KEYS),         ARRAY(own, GEARS),
    ARRAY(geared, DOFS),        ARRAY(dof, DOFS),           ARRAY(line, DOFS),
    ARRAY(reached, TREES),      ARRAY(tendon, TENDONS),     ARRAY(motors.drive, ACTUATORS),
    ARRAY(motors.named, NAMES), ARRAY(transpose, NONZEROS), ARRAY(seen, BYTES)};
enum {
  NARRAY = sizeof(kArray) / sizeof(*kArray)
};


// Map each entry of M's lower triangle to the address of its transpose in D.
static void mapTranspose(int* transpose, const mjModel* m) {
  for (int i = 0; i < m->nv; i++) {
    for (int k = m->D_rowadr[i] + m->D_diag[i]; k < m->D_rowadr[i] + m->D_rownnz[i]; k++) {
      if (m->mapM2D[k] >= 0) {  // M has no terms between dofs of a simple body
        transpose[m->mapM2D[k]] = k;
      }
    }
  }
}


// Warn of the first problem; the engine has no room for all.
static void warnRefusal(const mjgReport* report) {
  int first = (int)strcspn(report->text, "\n"), more = report->count - 1;

  // the engine may cut a letter of a long text, which Python does not read
  for (int i = 0; i < first && first > 200; i++) {
    report->text[i] = (report->text[i] & 0x80) ? '?' : report->text[i];
  }
  if (!more) {
    mju_warning("%.*s", first, report->text);
  } else {
    mju_warning("%.*s\nand %d more problem%s: 'mjgear check' lists them", first, report->text, more,
                more == 1 ? "" : "s");
  }
}


// Find dofs, trees and tendons on which gears act, and whether a gear acts on several trees.
static void findReach(mjgpConfig* c, const mjModel* m) {
  for (int t = 0; t < c->ntendon; t++) {
    c->tendon[t] = -1;
  }
  for (int i = 0; i < c->n; i++) {
    int n;
    const int* dof = mjgp_rowDofs(&n, m, c->joint + i);
    if (c->joint[i].kind == mjgpTRN_TENDON) {
      c->tendon[c->joint[i].tendon] = i;
      c->ngeared++;
    }
    for (int k = 0; k < n; k++) {
      c->dof[dof[k]] = 1;
      c->reached[m->dof_treeid[dof[k]]] = 1;
      c->spanning |= m->dof_treeid[dof[0]] != m->dof_treeid[dof[k]];
    }
    if (c->joint[i].gap == mjgpGAP_LOAD) {
      int motor = c->joint[c->joint[i].partner].dof;
      c->spanning |= m->dof_treeid[dof[0]] != m->dof_treeid[motor];
    }
  }

  // marks become a list
  for (int k = 0; k < c->nv; k++) {
    if (c->dof[k]) {
      c->dof[c->ndof++] = k;
    }
  }
}


// Find first and last instance, and sensors.
static void findInstances(mjgpConfig* c, const mjModel* m, int slot) {
  c->leader = mjgp_leader(m, slot);
  for (int i = 0; i < m->nplugin; i++) {
    if (mjgp_isOurs(m, i, slot)) {
      c->last = i;
    } else {
      c->foreign = 1;
    }
  }
  for (int s = 0; s < m->nsensor; s++) {
    c->nsensor += mjgp_isOurSensor(m, s, slot);
  }
  c->leader_state = mjgp_jointState(m, c->leader);
  c->acc = m->plugin_stateadr[c->leader] + c->leader_state;
  c->system = c->acc + c->nv;
}


// Find the addresses of joint i's changeable keys.
static void findKeys(int* place, const mjgpConfig* c, int i) {
  int stride = c->stride[i], next = c->state[i] + mjgpSTATE_KEY * stride;
  for (int key = 0; key < mjgpNCHANGEKEY; key++) {
    if (key == mjgNKEY) {
      next = c->gap[i] + mjgpGAPSTATE_KEY * stride;
    }
    int has = key < mjgNKEY ? (int)(c->joint[i].keys >> key & 1) : c->gap[i] >= 0;
    place[key] = has ? next : -1;
    next += has ? stride : 0;
  }
}


static void findAddresses(mjgpConfig* c, const mjModel* m) {
  for (int i = 0; i < c->nv; i++) {
    c->line[i] = i ? c->line[i - 1] + mjgi_simdEnd(m->M_rownnz[i - 1]) : 0;
    c->geared[i] = -1;
  }
  for (int i = 0; i < c->n; i++) {
    const mjgpJoint* j = c->joint + i;
    c->state[i] = m->plugin_stateadr[j->instance] + j->index;
    c->stride[i] = mjgp_countJoints(m, j->instance);
    c->gap[i] = mjgp_countGiven(m, j->instance, "backlash")
                    ? c->state[i] + (mjgpSTATE_KEY + __builtin_popcountll(j->keys)) * c->stride[i]
                    : -1;
    findKeys(c->place + (ptrdiff_t)i * mjgpNCHANGEKEY, c, i);
    c->own[i] = j->gap == mjgpGAP_LOAD ? -1 : j->dof;
    c->gaps += j->gap != mjgpGAP_NONE;
    c->rotors += j->gap == mjgpGAP_ROTOR;
    c->encoders += j->gap == mjgpGAP_ROTOR && j->encoder == mjgpENCODER_MOTOR;
    if (j->dof >= 0) {
      c->geared[j->dof] = i;
    }
  }
}


// Returns a number that identifies the places of the state's numbers: gears and their keys.
static mjtNum hashLayout(const mjgpConfig* c) {
  uint64_t hash = 14695981039346656037u;
  for (int i = 0; i < c->n; i++) {
    const mjgpJoint* j = c->joint + i;
    const uint64_t part[] = {(uint64_t)j->number, (uint64_t)c->state[i], (uint64_t)c->stride[i],
                             (uint64_t)c->gap[i], (uint64_t)j->gap,      j->keys};
    hash = mjgp_hash((const char*)part, sizeof(part), hash);
  }
  return (mjtNum)(1 + (hash >> 12));
}


// Refuse a binary model of another release: the engine finds keys and states by their order.
static void refuseRelease(mjgReport* report, const mjModel* m, int slot) {
  for (int i = 0; i < m->nplugin && !report->count; i++) {
    int end = i + 1 < m->nplugin ? m->plugin_attradr[i + 1] : (int)m->npluginattr, n = 0;
    for (int k = m->plugin_attradr[i]; k < end; k++) {
      n += !m->plugin_attr[k];
    }
    int ours = mjgp_isOurs(m, i, slot), size = m->plugin_statenum[i];
    int nkey = ours ? mjp_getPluginAtSlot(m->plugin[i])->nattribute : n;
    int nstate = ours && n == nkey ? mjgp_stateSize(m, i) : size;
    if (n != nkey || size != nstate) {
      mjg_refuse(
          report,
          mjgpNAME
          ": a plugin with %d keys and a state of %d numbers is that of another release, not "
          "%d and %d; compile the model again from its MJCF",
          n, size, nkey, nstate);
    }
  }
}


// Returns the memory of a configuration of n gears that depends on these parts of a model.
static mjgpConfig* makeRoom(const mjModel* m, int n, const Part part[mjgpNPART], int slot) {
  size_t size[NSIZE] = {[GEARS] = (size_t)n,
                        [DOFS] = (size_t)m->nv,
                        [TREES] = (size_t)m->ntree,
                        [TENDONS] = (size_t)m->ntendon,
                        [ACTUATORS] = (size_t)m->nactuator,
                        [NAMES] = 2 * (size_t)mjgp_countNamed(m, slot),
                        [NONZEROS] = (size_t)m->nC,
                        [KEYS] = (size_t)n * mjgpNCHANGEKEY};
  for (int k = 0; k < mjgpNPART; k++) {
    size[BYTES] += part[k].size;
  }
  size_t bytes = mjgp_layout(NULL, NULL, sizeof(mjgpConfig), kArray, NARRAY, size);
  mjgpConfig* c = mju_malloc(bytes);
  memset(c, 0, bytes);
  mjgp_layout(c, (char*)c, sizeof(mjgpConfig), kArray, NARRAY, size);
  return c;
}


// Read the configuration of a model. Returns null after a warning if it is refused.
static mjgpConfig* makeConfig(const mjModel* m) {
  int n, slot = mjgp_slot();
  char text[mjgpERRORSIZE];
  mjgReport report;
  mjgSettings settings;
  mjg_startReport(&report, text, sizeof(text));
  refuseRelease(&report, m, slot);
  mjModel plain = mjgp_withoutOptions(m);
  mjgpJoint* joint =
      report.count ? NULL
                   : mjgp_check(&n, &settings, &report, mjgp_isCompiled(m) ? m : &plain, slot);
  if (report.count) {
    mju_free(joint);
    warnRefusal(&report);
    return NULL;
  }

  Part part[mjgpNPART];
  findParts(part, m, NULL);
  mjgpConfig* c = makeRoom(m, n, part, slot);
  c->n = n;
  c->nv = (int)m->nv;
  c->nC = (int)m->nC;
  c->ntree = (int)m->ntree;
  c->settings = settings;
  memcpy(c->joint, joint, sizeof(mjgpJoint) * (size_t)n);
  mju_free(joint);

  // identification of the model
  c->signature = m->signature;
  c->nplugin = (int)m->nplugin;
  c->ntendon = (int)m->ntendon;
  char* seen = c->seen;
  for (int k = 0; k < mjgpNPART; k++) {
    memcpy(seen, part[k].data, part[k].size);
    seen += c->nseen[k] = part[k].size;
  }
  mjgp_readMotors(&c->motors, &report, m, c->joint, n, slot);
  findInstances(c, m, slot);
  findReach(c, m);
  findAddresses(c, m);
  mapTranspose(c->transpose, m);
  c->layout = hashLayout(c);
  c->content = mjgp_hash(c->seen, c->nseen[0], c->signature);
  return c;
}


//---------------------------------- all of them ---------------------------------------------------

void mjgp_freeConfigs(mjgpConfigs* known) {
  while (known->first) {
    mjgpConfig* config = known->first;
    known->first = config->next;
    mju_free(config);
  }
  known->n = 0;
}


const mjgpConfig* mjgp_findConfig(mjgpConfigs* known, const mjModel* m) {
  for (const mjgpConfig* c = known->first; c; c = c->next) {
    if (mjgp_isConfigOf(c, m)) {
      return c;
    }
  }
  mjgpConfig* config = makeConfig(m);
  if (config) {
    if (known->n == mjgpMAXCONFIG) {
      mjgp_freeConfigs(known);
    }
    config->next = known->first;
    known->first = config;
    known->n++;
  }
  return config;
}


//---------------------------------- models without a mjData ---------------------------------------

// configuration of the last call
static _Atomic(mjgpConfig*) lent;


mjgpConfig* mjgp_borrowConfig(const mjModel* m) {
  if (!m || mjgp_leader(m, mjgp_slot()) < 0) {
    return NULL;
  }
  mjgpConfig* c = atomic_exchange(&lent, NULL);
  if (!c || !mjgp_isConfigOf(c, m)) {
    mju_free(c);
    c = makeConfig(m);
  }
  return c;
}


void mjgp_returnConfig(mjgpConfig* config) {
  mju_free(atomic_exchange(&lent, config));
}
