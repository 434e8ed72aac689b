#include "solver/parts.h"

#include <string.h>

#include "configuration/engine.h"
#include "configuration/jacobian.h"
#include "gear/friction.h"


int mjgp_connectsTrees(const mjgpGears* g, const mjgpInertia* Mhat) {
  return g->config->spanning || g->in.reaches || Mhat->coupled;
}


//---------------------------------- connections ---------------------------------------------------

// Returns the first tree connected with tree t; parent: forest of trees (ntree)
static int findFirst(int* parent, int t) {
  while (parent[t] != t) {
    t = parent[t] = parent[parent[t]];
  }
  return t;
}


// Connect two trees.
static void connect(int* parent, int a, int b) {
  a = findFirst(parent, a);
  b = findFirst(parent, b);
  parent[mjMAX(a, b)] = mjMIN(a, b);
}


// Connect the trees of n dofs with nonzero value (nullable). Returns one of them, or -1.
static int connectDofs(int* parent, const mjModel* m, int n, const int* dof, const mjtNum* value) {
  int tree = -1;
  for (int k = 0; k < n; k++) {
    if (value && value[k] == 0) {
      continue;
    }
    int own = m->dof_treeid[dof ? dof[k] : k];
    connect(parent, own, tree < 0 ? own : tree);
    tree = own;
  }
  return tree;
}


// Connect the rows of each elliptic cone, zero rows too.
static void connectCones(int* parent, int* tree, const mjData* d) {
  for (int i = 0, n; i < d->nefc; i += n) {
    int own = -1;
    n = d->efc_type[i] == mjCNSTR_CONTACT_ELLIPTIC ? d->contact[d->efc_id[i]].dim : 1;
    for (int k = i; k < i + n; k++) {
      if (tree[k] >= 0) {
        connect(parent, tree[k], own < 0 ? tree[k] : own);
        own = tree[k];
      }
    }
    for (int k = i; k < i + n; k++) {
      tree[k] = own;
    }
  }
}


// Connect by constraint rows, and set the tree of each, -1: none (nefc)
static void connectRows(int* parent, int* tree, const mjModel* m, mjData* d) {
  int sparse = mj_isSparse(m);
  if (d->nisland) {
    int* first = mj_stackAllocInt(d, (size_t)d->nisland);
    memset(first, -1, sizeof(int) * (size_t)d->nisland);
    for (int t = 0; t < m->ntree; t++) {
      int island = m->tree_dofnum[t] ? d->dof_island[m->tree_dofadr[t]] : -1;
      if (island >= 0) {
        first[island] = first[island] < 0 ? t : first[island];
        connect(parent, first[island], t);
      }
    }
    for (int i = 0; i < d->nefc; i++) {
      tree[i] = d->efc_island[i] < 0 ? -1 : first[d->efc_island[i]];
    }
    return;
  }
  for (int i = 0; i < d->nefc; i++) {
    tree[i] = sparse
                  ? connectDofs(parent, m, d->efc_J_rownnz[i], d->efc_J_colind + d->efc_J_rowadr[i],
                                d->efc_J + d->efc_J_rowadr[i])
                  : connectDofs(parent, m, (int)m->nv, NULL, d->efc_J + (size_t)i * (size_t)m->nv);
  }
  connectCones(parent, tree, d);
}


// Connect by gears on tendons, gaps between trees, rows of rotor inertia.
static void connectGears(int* parent, const mjgpGears* g, const mjModel* m) {
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a];
    int tree = connectDofs(parent, m, g->in.E[i].n, g->in.E[i].dof, NULL);
    if (g->in.row[i]) {
      int other = connectDofs(parent, m, (int)m->nv, NULL, g->in.row[i]);
      connect(parent, tree, other < 0 ? tree : other);
    }
  }
}


// Connect by terms of the metric of "discrete".
static void connectTerms(int* parent, const mjModel* m, const mjData* d) {
#if mjgpDISCRETE
  for (int k = 0; k < d->nefmA; k++) {
    int out = m->actuator_outadr[d->efm_aid[k]];
    for (int i = out; i < out + m->actuator_outnum[d->efm_aid[k]]; i++) {
      connectDofs(parent, m, d->moment_rownnz[i], d->moment_colind + d->moment_rowadr[i], NULL);
    }
  }
  for (int k = 0; k < d->nefmT; k++) {
    int adr = m->ten_J_rowadr[d->efm_tid[k]];
    connectDofs(parent, m, m->ten_J_rownnz[d->efm_tid[k]], m->ten_J_colind + adr, NULL);
  }
#else
  (void)parent, (void)m, (void)d;
#endif
}


//---------------------------------- lists ---------------------------------------------------------

// Sort items by part, stable: the items of n with number[k] >= 0, or 0 .. n - 1 if item
// is null. Part p has the items from adr[p] to adr[p + 1].
static void sortItems(int* adr, int* list, const int* item, const int* number, int n, int npart) {
  memset(adr, 0, sizeof(int) * (size_t)(npart + 1));
  for (int k = 0; k < n; k++) {
    if (number[k] >= 0) {
      adr[number[k] + 1]++;
    }
  }
  for (int p = 0; p < npart; p++) {
    adr[p + 1] += adr[p];
  }
  for (int k = 0; k < n; k++) {
    if (number[k] >= 0) {
      list[adr[number[k]]++] = item ? item[k] : k;
    }
  }
  for (int p = npart; p > 0; p--) {
    adr[p] = adr[p - 1];
  }
  adr[0] = 0;
}


mjgpPart mjgp_islandPart(const mjData* d, int island) {
  return (mjgpPart){.nv = d->island_nv[island],
                    .nefc = d->island_nefc[island],
                    .dof = d->map_idof2dof + d->island_idofadr[island],
                    .row = d->map_iefc2efc + d->island_iefcadr[island]};
}


// Make the parts from the engine's lists of islands.
static int takeIslands(mjgpPart* part, const mjgpGears* g, mjData* d, const int* joint, int n) {
  int npart = 0, *number = mj_stackAllocInt(d, (size_t)(d->nisland + 3 * n + 1));
  int *own = number + d->nisland, *list = own + n, *adr = list + n;
  memset(number, -1, sizeof(int) * (size_t)d->nisland);
  for (int i = 0; i < n; i++) {
    int k = d->dof_island[g->in.E[joint[i]].dof[0]];
    if (number[k] < 0) {
      part[npart] = mjgp_islandPart(d, k);
      number[k] = npart++;
    }
    own[i] = number[k];
  }
  sortItems(adr, list, joint, own, n, npart);
  for (int p = 0; p < npart; p++) {
    part[p].joint = list + adr[p];
    part[p].njoint = adr[p + 1] - adr[p];
  }
  return npart;
}


int mjgp_makeParts(mjgpPart* part, const mjgpGears* g, const mjModel* m, mjData* d,
                   const mjgpInertia* Mhat, const int* joint, int n, int flg_rows) {
  int nv = (int)m->nv, ntree = (int)m->ntree, nrow = flg_rows ? d->nefc : 0;
  int connected = mjgp_connectsTrees(g, Mhat), npart = 0, rest = flg_rows ? 0 : -1;
  if (flg_rows && d->nisland && !connected) {
    return takeIslands(part, g, d, joint, n);
  }

  // connected trees
  int* parent = mj_stackAllocInt(d, 2 * (size_t)(ntree + nv + nrow + n) + 3 * (size_t)(n + 1));
  int *first = parent + ntree, *number = first + ntree, *list = number + nv + nrow + n;
  int* adr = list + nv + nrow + n;
  for (int t = 0; t < ntree; t++) {
    parent[t] = t;
    first[t] = -1;
  }
  if (flg_rows) {
    connectRows(parent, number + nv, m, d);
  }
  if (connected) {
    connectGears(parent, g, m);
  }
  if (Mhat->coupled) {
    connectTerms(parent, m, d);
  }

  // number of the part of each joint, dof and row
  for (int i = 0; i < n; i++) {
    int tree = findFirst(parent, m->dof_treeid[g->in.E[joint[i]].dof[0]]);
    first[tree] = first[tree] < 0 ? npart++ : first[tree];
    number[nv + nrow + i] = first[tree];
  }
  for (int k = 0; k < nv; k++) {
    int own = first[findFirst(parent, m->dof_treeid[k])];
    number[k] = !mjgp_isAwake(m, d, k) ? -1 : own < 0 ? rest : own;
  }
  for (int i = 0; i < nrow; i++) {
    int own = number[nv + i] < 0 ? rest : first[findFirst(parent, number[nv + i])];
    number[nv + i] = own < 0 ? rest : own;
  }
  int *dof_adr = adr, *row_adr = adr + n + 1, *joint_adr = adr + 2 * (n + 1);
  sortItems(dof_adr, list, NULL, number, nv, npart);
  sortItems(row_adr, list + nv, NULL, number + nv, nrow, npart);
  sortItems(joint_adr, list + nv + nrow, joint, number + nv + nrow, n, npart);
  for (int p = 0; p < npart; p++) {
    part[p] = (mjgpPart){.nv = dof_adr[p + 1] - dof_adr[p],
                         .nefc = row_adr[p + 1] - row_adr[p],
                         .njoint = joint_adr[p + 1] - joint_adr[p],
                         .dof = list + dof_adr[p],
                         .row = list + nv + row_adr[p],
                         .joint = list + nv + nrow + joint_adr[p]};
  }
  return npart;
}
