#include "state/gears.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "configuration/check.h"
#include "friction/backlash.h"
#include "friction/lanes.h"


//---------------------------------- instances -----------------------------------------------------

int mjgp_slot(void) {
  int slot = -1;
  return mjp_getPlugin(mjgpNAME, &slot) ? slot : -1;
}


int mjgp_leader(const mjModel* m) {
  int slot = mjgp_slot();
  for (int i = 0; i < m->nplugin; i++) {
    if (m->plugin[i] == slot) {
      return i;
    }
  }
  return -1;
}


int mjgp_last(const mjModel* m) {
  int slot = mjgp_slot();
  for (int i = (int)m->nplugin - 1; i >= 0; i--) {
    if (m->plugin[i] == slot) {
      return i;
    }
  }
  return -1;
}


mjgpGears* mjgp_gears(const mjModel* m, const mjData* d) {
  int leader = mjgp_leader(m);
  return leader < 0 ? NULL : (mjgpGears*)d->plugin_data[leader];
}


void mjgp_warn(mjgpGears* g, int warning, const char* format, ...) {
  if (g->warned & warning) {
    return;
  }
  g->warned |= warning;
  char line[500];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof(line), format, args);
  va_end(args);
  mju_warning(mjgpNAME ": %s", line);
}


//---------------------------------- state ---------------------------------------------------------

// numbers that an instance keeps for its joints
static int countJointState(const mjModel* m, int instance) {
  return (3 + (mjgp_hasBacklash(m, instance) ? mjgpNGAP : 0)) * mjgp_countJoints(m, instance);
}


int mjgp_nstate(const mjModel* m, int instance) {
  int n = countJointState(m, instance);
  return instance == mjgp_leader(m) ? n + (int)m->nv : n;
}


void mjgp_reset(const mjModel* m, mjtNum* plugin_state, void* plugin_data, int instance) {
  memset(plugin_state, 0, sizeof(mjtNum) * (size_t)mjgp_nstate(m, instance));
  mjgpGears* g = plugin_data;
  if (g) {
    g->phase = mjgpIDLE;
    g->nested = g->done = g->warned = 0;
    g->in.nactive = 0;
    memset(&g->count, 0, sizeof(g->count));
    memset(&g->out.info, 0, sizeof(g->out.info));
    for (int i = 0; i < g->config->n; i++) {
      g->in.base[i] = g->out.t[i] = g->out.u[i] = g->out.lambda[i] = g->out.v_next[i] = 0;
      g->out.mode[i] = 0;
      g->out.gap[i] = (mjgCouplingStep){0};
    }
  }
}


//---------------------------------- life ----------------------------------------------------------

// reserve count items of size bytes at the end of a block, 64-byte aligned; returns their offset
static size_t reserve(size_t* size, size_t count, size_t item) {
  size_t offset = (*size + 63) & ~(size_t)63;
  *size = offset + count * item;
  return offset;
}


// lay out the object and its arrays in one block at g, or count its bytes if g is null
static size_t layout(mjgpGears* g, int n, int nv, int nC, int nwork) {
  size_t size = sizeof(mjgpGears);
  size_t count = (size_t)n, lines = (size_t)nC + (mjgiSIMD - 1) * (size_t)nv;
  char* base = (char*)g;

  // clang-format off
#define mjgpARRAY(name, number)                                 \
  {                                                             \
    size_t offset = reserve(&size, (number), sizeof(*g->name)); \
    if (g) {                                                    \
      g->name = (void*)(base + offset);                         \
    }                                                           \
  }
  mjgpARRAY(config, 1)
  mjgpARRAY(config->joint, count)
  mjgpARRAY(config->state, count)
  mjgpARRAY(config->stride, count)
  mjgpARRAY(config->chain, count)
  mjgpARRAY(config->transpose, (size_t)nC)
  mjgpARRAY(config->geared, (size_t)nv)
  mjgpARRAY(config->line, (size_t)nv)
  mjgpARRAY(in.joint, count)
  mjgpARRAY(in.active, count)
  mjgpARRAY(in.q, count)
  mjgpARRAY(in.v, count)
  mjgpARRAY(in.base, count)
  mjgpARRAY(in.motor, count)
  mjgpARRAY(in.tau, count)
  mjgpARRAY(in.inertia, count)
  mjgpARRAY(in.implicit, count)
  mjgpARRAY(in.drag, count)
  mjgpARRAY(in.row, count)
  mjgpARRAY(in.lag, count)
  mjgpARRAY(in.gamma_u, count)
  mjgpARRAY(in.gamma_v, count)
  mjgpARRAY(in.coulomb, count)
  mjgpARRAY(in.static_ratio, count)
  mjgpARRAY(in.coupling, count)
  mjgpARRAY(in.force, (size_t)nv)
  mjgpARRAY(out.t, count)
  mjgpARRAY(out.v_next, count)
  mjgpARRAY(out.u, count)
  mjgpARRAY(out.lambda, count)
  mjgpARRAY(out.mode, count)
  mjgpARRAY(out.load, count)
  mjgpARRAY(out.jammed, count)
  mjgpARRAY(out.gap, count)
  mjgpARRAY(out.scale, count)
  mjgpARRAY(scratch.slope, (size_t)nv)
  mjgpARRAY(scratch.lower, lines)
  mjgpARRAY(scratch.upper, lines)
  mjgpARRAY(scratch.pivot, (size_t)nv)
  mjgpARRAY(scratch.vector, 3 * (size_t)nv)
  mjgpARRAY(scratch.matrix, lines)
#undef mjgpARRAY
      // clang-format on


      // workspace of the core
      size_t bytes = mjg_memsize(nwork, nwork);
  size_t offset = reserve(&size, bytes, 1);
  if (g) {
    g->scratch.nwork = nwork;
    g->scratch.work = mjg_create(base + offset, bytes, nwork, nwork);
  }
  return size;
}


// address in D of the transpose of each entry of M's lower triangle
static void mapTranspose(int* transpose, const mjModel* m) {
  for (int i = 0; i < m->nv; i++) {
    for (int k = 0; k < m->M_rownnz[i]; k++) {
      int adr = m->M_rowadr[i] + k, row = m->M_colind[adr];
      for (int j = 0; j < m->D_rownnz[row]; j++) {
        if (m->D_colind[m->D_rowadr[row] + j] == i) {
          transpose[adr] = m->D_rowadr[row] + j;
          break;
        }
      }
    }
  }
}


// a chain of dofs must be the beginning of all chains that contain it
static int chainsNest(const mjModel* m, int dof) {
  int adr = m->M_rowadr[dof], nnz = m->M_rownnz[dof];
  for (int k = 0; k < nnz; k++) {
    int row = m->M_colind[adr + k];
    if (m->M_rownnz[row] != k + 1 ||
        memcmp(m->M_colind + m->M_rowadr[row], m->M_colind + adr, sizeof(int) * ((size_t)k + 1))) {
      return 0;
    }
  }
  return 1;
}


// say the first problem; the engine has no room for all
static void warnRefusal(const mjgReport* report) {
  int first = (int)strcspn(report->text, "\n");
  if (report->count == 1) {
    mju_warning("%.*s", first, report->text);
  } else {
    mju_warning("%.*s\nand %d more problem%s: 'mjgear check' lists them", first, report->text,
                report->count - 1, report->count == 2 ? "" : "s");
  }
}


int mjgp_init(const mjModel* m, mjData* d, int instance) {
  d->plugin_data[instance] = 0;
  if (instance != mjgp_leader(m)) {
    return 0;
  }

  // count, configure
  int slot = mjgp_slot(), n = 0;
  for (int i = 0; i < m->nplugin; i++) {
    n += m->plugin[i] == slot ? mjgp_countJoints(m, i) : 0;
  }
  char text[mjgpERRORSIZE];
  mjgReport report;
  mjgpOptions options;
  mjgpJoint* joint = mju_malloc(sizeof(mjgpJoint) * (size_t)(n + 1));
  mjg_startReport(&report, text, sizeof(text));
  int nsensor = mjgp_check(joint, &options, &report, m, slot);
  if (report.count) {
    mju_free(joint);
    warnRefusal(&report);
    return -1;
  }

  // joints of the largest tree
  int nwork = 0;
  for (int i = 0, count = 0; i < n; i++) {
    int same = i && m->dof_treeid[joint[i].dof] == m->dof_treeid[joint[i - 1].dof];
    count = same ? count + 1 : 1;
    nwork = mjMAX(nwork, count);
  }

  // allocate, fill
  size_t size = layout(NULL, n, (int)m->nv, (int)m->nC, nwork);
  mjgpGears* g = mju_malloc(size);
  memset(g, 0, size);
  layout(g, n, (int)m->nv, (int)m->nC, nwork);
  g->size = size;
  g->config->n = n;
  g->config->nv = (int)m->nv;
  g->config->nC = (int)m->nC;
  g->config->leader = instance;
  g->config->last = mjgp_last(m);
  g->config->options = options;
  memcpy(g->config->joint, joint, sizeof(mjgpJoint) * (size_t)n);
  mju_free(joint);
  mapTranspose(g->config->transpose, m);
  for (int i = 1; i < g->config->nv; i++) {
    g->config->line[i] = g->config->line[i - 1] + mjgi_simdEnd(m->M_rownnz[i - 1]);
  }
  for (int i = 0; i < g->config->nv; i++) {
    g->config->geared[i] = -1;
  }
  g->config->acc = m->plugin_stateadr[instance] + countJointState(m, instance);
  for (int i = 0; i < n; i++) {
    g->config->state[i] =
        m->plugin_stateadr[g->config->joint[i].instance] + g->config->joint[i].index;
    g->config->stride[i] = mjgp_countJoints(m, g->config->joint[i].instance);
    g->config->geared[g->config->joint[i].dof] = i;
    g->config->chain[i] = g->config->nchain;
    g->config->nchain += m->M_rownnz[g->config->joint[i].dof];
    if (!chainsNest(m, g->config->joint[i].dof)) {
      mju_warning(mjgpNAME
                  ": the engine's inertia matrix does not have the expected sparsity; "
                  "use the MuJoCo version that the plugin was built for");
      mju_free(g);
      return -1;
    }
  }
  g->in.settings = options.solver;
  for (int i = 0; i < n; i++) {
    g->in.joint[i] = g->config->joint + i;
    const mjgpJoint* load = g->config->joint + i;
    g->config->encoders += load->gap == mjgpGAP_ROTOR && load->encoder == mjgpENCODER_MOTOR;
    g->config->crossing |=
        load->gap == mjgpGAP_LOAD &&
        m->dof_treeid[load->dof] != m->dof_treeid[g->config->joint[load->partner].dof];
  }
  g->config->nsensor = nsensor;
  d->plugin_data[instance] = (uintptr_t)g;
  return 0;
}


void mjgp_destroy(mjData* d, int instance) {
  mju_free((void*)d->plugin_data[instance]);
  d->plugin_data[instance] = 0;
}


void mjgp_copy(mjData* dest, const mjModel* m, const mjData* src, int instance) {
  (void)m;
  mjgpGears* to = (mjgpGears*)dest->plugin_data[instance];
  const mjgpGears* from = (const mjgpGears*)src->plugin_data[instance];
  if (!to || !from || to->config->n != from->config->n) {
    return;
  }

  // everything that a following mj_step2 or finite difference reads; memory and addresses stay
  size_t n = (size_t)to->config->n;
  to->phase = from->phase;
  to->done = from->done;
  to->early = from->early;
  to->in.nactive = from->in.nactive;
  to->out.info = from->out.info;
  to->count = from->count;
  to->warned = from->warned;
  to->config->options = from->config->options;
  to->in.settings = from->in.settings;
  memcpy(to->config->joint, from->config->joint, sizeof(mjgpJoint) * n);
  memcpy(to->in.active, from->in.active, sizeof(int) * n);
  memcpy(to->in.base, from->in.base, sizeof(mjtNum) * n);
  memcpy(to->in.tau, from->in.tau, sizeof(mjtNum) * n);
  memcpy(to->in.motor, from->in.motor, sizeof(mjtNum) * n);
  memcpy(to->in.inertia, from->in.inertia, sizeof(mjtNum) * n);
  memcpy(to->in.implicit, from->in.implicit, sizeof(mjtNum) * n);
  memcpy(to->in.drag, from->in.drag, sizeof(mjtNum) * n);
  memcpy(to->out.t, from->out.t, sizeof(mjtNum) * n);
  memcpy(to->out.v_next, from->out.v_next, sizeof(mjtNum) * n);
  memcpy(to->out.u, from->out.u, sizeof(mjtNum) * n);
  memcpy(to->out.lambda, from->out.lambda, sizeof(mjtNum) * n);
  memcpy(to->out.mode, from->out.mode, sizeof(int) * n);
  memcpy(to->out.jammed, from->out.jammed, sizeof(int) * n);
  memcpy(to->in.v, from->in.v, sizeof(mjtNum) * n);
  memcpy(to->in.q, from->in.q, sizeof(mjtNum) * n);
  memcpy(to->in.lag, from->in.lag, sizeof(mjtNum) * n);
  memcpy(to->out.scale, from->out.scale, sizeof(mjtNum) * n);
  memcpy(to->out.gap, from->out.gap, sizeof(mjgCouplingStep) * n);
  memcpy(to->in.force, from->in.force, sizeof(mjtNum) * (size_t)to->config->nv);
}
