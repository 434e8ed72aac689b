// Solutions of many columns and the diagonal of the inverse in the structure of the kinematic tree, against elimination in a
// dense matrix

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dense_equations.h"
#include "model/effective_inertia.h"
#include "model/simd.h"
#include "solver/delassus.h"

enum {
  FORESTS = 400,
  NTREE = 5,
  NDOF = 9,           // of a tree, at most
  NV = NTREE * NDOF,  // dofs, at most
  LD = 24,            // columns, at most
};

// trees of a model, their matrix, and the group of some of them
typedef struct Forest_ {
  int nv, ntree;
  int parent[NV];  // dof before it in its chain, -1: root
  int tree[NV], dofnum[NTREE], dofadr[NTREE], blocked[NTREE];
  int adr[NV];  // of each dof's row, the ancestors from the root on
  double upper[NV * NDOF], lower[NV * NDOF], pivot[NV], block[6 * NV];
  double dense[NV][NV];
  int dof[NV], M_adr[NV + 1], M_col[NV * NDOF];
} Forest;

static uint64_t seed = 5;

static double between(double low, double high) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * ((double)(seed >> 11) / 9007199254740992.0);
}

static int below(int n) {
  return (int)between(0, n);
}


static int depthOf(const Forest* f, int dof) {
  return f->parent[dof] < 0 ? 0 : 1 + depthOf(f, f->parent[dof]);
}


// the matrix (1 + U) D (1 + L) of one tree, U' and L in the rows of the dofs
static void fillDense(Forest* f, int tree) {
  int first = f->dofadr[tree], end = first + f->dofnum[tree];
  double U[NV][NV] = {{0}}, L[NV][NV] = {{0}};
  for (int i = first; i < end; i++) {
    U[i][i] = L[i][i] = 1;
    for (int j = f->parent[i], p = depthOf(f, i) - 1; j >= 0; j = f->parent[j], p--) {
      U[j][i] = f->upper[f->adr[i] + p];
      L[i][j] = f->lower[f->adr[i] + p];
    }
  }
  for (int i = first; i < end; i++) {
    for (int j = first; j < end; j++) {
      f->dense[i][j] = 0;
      for (int k = first; k < end; k++) {
        f->dense[i][j] += U[i][k] / f->pivot[k] * L[k][j];
      }
    }
  }
}


// a dense block, and its inverse column by column
static void fillBlock(Forest* f, int tree) {
  int first = f->dofadr[tree], n = f->dofnum[tree];
  for (int c = 0; c < n; c++) {
    double A[NDOF][NDOF], x[NDOF] = {0};
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        f->dense[first + i][first + j] = c        ? f->dense[first + i][first + j]
                                         : i == j ? 8
                                                  : between(-1, 1);
        A[i][j] = f->dense[first + i][first + j];
      }
    }
    x[c] = 1;
    assert_true(solveEquations(A[0], NDOF, x, n));
    for (int i = 0; i < n; i++) {
      f->block[6 * first + i * n + c] = x[i];
    }
  }
}


static void makeForest(Forest* f, int symmetric, int blocks) {
  memset(f, 0, sizeof(*f));
  f->ntree = 1 + below(NTREE);
  int length = 0;
  for (int t = 0; t < f->ntree; t++) {
    f->dofadr[t] = f->nv;
    f->dofnum[t] = 1 + below(NDOF);
    f->blocked[t] = blocks && f->dofnum[t] <= 6 && below(2);
    for (int k = 0; k < f->dofnum[t]; k++, f->nv++) {
      f->tree[f->nv] = t;
      f->parent[f->nv] = k == 0 ? -1 : below(3) ? f->nv - 1 : f->dofadr[t] + below(k);
      f->adr[f->nv] = length;
      f->pivot[f->nv] = between(0.3, 3);
      for (int p = 0; p < depthOf(f, f->nv); p++, length++) {
        f->upper[length] = below(3) ? between(-0.7, 0.7) : 0;  // as of slides at right angles
        f->lower[length] = symmetric ? f->upper[length] : below(3) ? between(-0.7, 0.7) : 0;
      }
    }
    (f->blocked[t] ? fillBlock : fillDense)(f, t);
  }
}


// the trees but one, if it is >= 0, from the leaves to the roots
static void makeGroup(mjgpGroup* group, Forest* f, int without) {
  static int number[NV];
  *group = (mjgpGroup){.dof = f->dof, .M_adr = f->M_adr, .M_col = f->M_col};
  for (int dof = f->nv - 1; dof >= 0; dof--) {
    if (f->tree[dof] != without) {
      number[dof] = group->nv;
      f->dof[group->nv++] = dof;
    }
  }
  int n = 0;
  for (int k = 0; k < group->nv; k++) {
    f->M_adr[k] = n;
    for (int dof = f->dof[k]; dof >= 0; dof = f->parent[dof]) {
      f->M_col[n++] = number[dof];
    }
  }
  f->M_adr[group->nv] = n;
}


// Lanes of zeros, and of columns with one entry, in one tree, at its root or everywhere
static void fillColumns(double* x, const mjgpGroup* group, const Forest* f, int ld) {
  int kind = 0;
  for (int j = 0; j < ld; j++) {
    int lane = j % mjgiSIMD == 0 ? below(2) : kind < 4;
    kind = lane ? below(4) : 4;
    int one = below(group->nv);
    for (int k = 0; k < group->nv; k++) {
      int same = f->tree[f->dof[k]] == f->tree[f->dof[one]], root = f->parent[f->dof[k]] < 0;
      int set = kind == 0 ? k == one : kind == 1 ? same : kind == 2 ? same && root : kind == 3;
      x[k * ld + j] = set ? between(-1, 1) : 0;
    }
  }
}


// x = matrix'^-1 x
static void test_solveColumns(void** state) {
  static Forest f;
  static double x[NV * LD], y[NV * LD];
  int zero = 0, some = 0;
  for (int k = 0; k < FORESTS; k++) {
    int symmetric = k % 2, blocks = k % 4 >= 2, ld = mjgiSIMD * (1 + below(LD / mjgiSIMD));
    makeForest(&f, symmetric, blocks);
    mjgpGroup group;
    makeGroup(&group, &f, f.ntree > 1 ? below(f.ntree + 1) : -1);
    mjModel m = {.dof_treeid = f.tree, .tree_dofnum = f.dofnum, .tree_dofadr = f.dofadr};
    mjgpInertia matrix = {.upper = f.upper,
                          .lower = symmetric ? NULL : f.lower,
                          .pivot = f.pivot,
                          .adr = f.adr,
                          .block = blocks ? f.block : NULL,
                          .blocked = f.blocked};
    fillColumns(x, &group, &f, ld);
    memcpy(y, x, sizeof(x));
    mjgp_solveColumns(&group, &m, x, ld, &matrix);
    for (int j = 0; j < ld; j++) {
      double A[NV][NV], right[NV];
      for (int i = 0; i < group.nv; i++) {
        right[i] = y[i * ld + j];
        for (int l = 0; l < group.nv; l++) {
          A[i][l] = f.dense[f.dof[l]][f.dof[i]];
        }
      }
      assert_true(solveEquations(A[0], NV, right, group.nv));
      double size = 0;
      for (int i = 0; i < group.nv; i++) {
        size = fmax(size, fabs(right[i]));
      }
      for (int i = 0; i < group.nv; i++) {
        assert_true(fabs(x[i * ld + j] - right[i]) <= 1e-11 * size);
      }
      zero += size == 0;
      some += size > 0;
    }
  }
  assert_true(zero > 1000 && some > 1000);
}


// the diagonal of matrix^-1
static void test_inverseDiagonal(void** state) {
  static Forest f;
  int rownnz[NV], rowadr[NV], colind[NV * NDOF], deep = 0;
  for (int k = 0; k < FORESTS; k++) {
    makeForest(&f, 1, 0);
    for (int dof = 0; dof < f.nv; dof++) {
      rowadr[dof] = dof * NDOF;
      rownnz[dof] = 1 + depthOf(&f, dof);
      for (int p = rownnz[dof] - 1, j = dof; p >= 0; p--, j = f.parent[j]) {
        colind[rowadr[dof] + p] = j;
      }
    }
    mjModel m = {.M_rownnz = rownnz, .M_rowadr = rowadr, .M_colind = colind};
    mjgpInertia matrix = {.upper = f.upper, .pivot = f.pivot, .adr = f.adr};
    for (int dof = 0; dof < f.nv; dof++) {
      double A[NV][NV], column[NV] = {0}, x[NDOF];
      memcpy(A, f.dense, sizeof(A));
      column[dof] = 1;
      assert_true(solveEquations(A[0], NV, column, f.nv));
      double found = mjgp_inverseDiagonal(&m, &matrix, x, dof);
      assert_true(fabs(found - column[dof]) <= 1e-11 * column[dof]);
      deep += rownnz[dof] > 2;
    }
  }
  assert_true(deep > 1000);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_solveColumns),
                                     cmocka_unit_test(test_inverseDiagonal)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
