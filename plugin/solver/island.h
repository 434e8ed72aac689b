// A group of dofs that constraints connect: the engine's convex problem, cut out of
// mjData.
//
//   minimize over a   1/2 a' M a - a' b + s(J a - aref)
//
// where s is the engine's constraint cost: quadratic for equalities, Huber for dry friction,
// one-sided quadratic for limits and pyramids, and the cost of a cone for elliptic contacts. Its
// gradient is M a - b - J' f with f the constraint forces, its Hessian H = M + J' s'' J. A group
// is an island of the engine, or everything that is awake if islands are disabled. Its dofs are
// numbered from the leaves of the kinematic tree to its root, against the order of the engine
// (see hessian.h). Vectors over the dofs have room for whole lanes (simd.h), with zeros after nv.

#ifndef MJGEAR_PLUGIN_ISLAND_H_
#define MJGEAR_PLUGIN_ISLAND_H_

#include <mujoco/mujoco.h>

#include "gear/tolerances.h"
#include "model/effective_inertia.h"
#include "solver/parts.h"
#include "state/gears.h"

typedef struct mjgpGroup_ {
  // sizes
  int nv;      // dofs
  int nefc;    // constraint rows
  int ne, nf;  // equalities; rows of dry friction behind them
  int ncone;   // elliptic contacts
  int njoint;  // active geared joints
  int nterm;   // rows in front that are terms of the integrator's metric, not constraints
  int nextra;  // joints whose rotor inertia has a row beside its diagonal

  // problem
  const int* dof;             // dofs in the engine's numbers                       (nv)
  const int* row;             // rows in the engine's numbers, -1: a term           (nefc)
  const int* joint;           // geared joints, numbers of mjgpGears                (njoint)
  int* E_adr;                 // start of each joint's row of E                 (njoint+1)
  int* E_dof;                 // dof of each entry, in the numbers of the group
  mjtNum* E;                  // entries; the row of a joint has one, 1
  int* extra;                 // row of its rotor inertia, -1: none               (njoint)
  const mjtNum** extra_row;   // these rows, over the engine's dofs               (nextra)
  int* M_adr;                 // start of each row of M's upper triangle            (nv+1)
  int* M_col;                 // column of each entry, ascending; the diagonal is the first of a row
  mjtNum* M;                  // entries
  int* J_adr;                 // start of each row of J, counted in lanes            (nefc+1)
  int* J_lane;                // first column of each nonzero lane, ascending
  int* J_bits;                // bits of the nonzero entries of each lane
  mjtNum* J;                  // entries                                            (4 x lanes)
  int* type;                  // mjtConstraint                                      (nefc)
  mjtNum* D;                  // constraint mass                                    (nefc)
  mjtNum* R;                  // its inverse                                        (nefc)
  mjtNum* floss;              // bound of dry friction                              (nefc)
  mjtNum* aref;               // reference acceleration                             (nefc)
  const mjContact** contact;  // elliptic contacts                               (ncone)
  mjtNum* force;              // b without friction                                 (nv)

  // forces at some acceleration (contact.h)
  mjtNum* jar;   // J a - aref                                         (nefc)
  mjtNum* f;     // constraint forces                                  (nefc)
  int* state;    // mjtConstraintState                                 (nefc)
  mjtNum* cone;  // cone Hessians                                      (36 x ncone)

  // factors of the Hessian, U' D^-1 U with U upper triangular and D its diagonal
  int* parent;      // next dof in the elimination tree, -1: none        (nv)
  int* last;        // last column of each row                           (nv)
  int* first;       // first row that may have each column               (nv)
  int *from, *to;   // joints whose unit vectors reach each row          (nv)
  size_t* U_adr;    // U_adr[i] + j: address of U_ij                     (nv)
  size_t nU;        // entries, in whole lanes
  mjtNum* U;        // entries                                           (nU)
  mjtNum* inverse;  // inverse of the diagonal, which U lacks            (nv)
  mjtNum* root;     // square root of inverse, if positive definite      (nv)
  int* same;        // 1: a row of J has the columns of the row before it (nefc)
  mjtNum* inertia;  // M in the layout of U                              (nU)
  mjtNum* line;     // scratch: zeros                                    (nv)
  int reduced;      // 1: the Delassus matrix was made from the factors in U
  int ld;           // row stride of matrices with a column per joint
} mjgpGroup;

_Static_assert(sizeof(mjtNum) == 2 * sizeof(int) && sizeof(mjtNum) == sizeof(size_t),
               "integers are allocated behind numbers");

// Cut a group out of mjData, on d's stack. force: all dofs, without friction. local: scratch, -1
// before and after (nv of m)
void mjgp_makeGroup(mjgpGroup* group, const mjModel* m, mjData* d, const mjgpGears* g,
                    const mjgpInertia* Mhat, int* local, const mjtNum* force, const mjgpPart* part);

// row i of J times x
mjtNum mjgp_mulConstraint(const mjgpGroup* group, int i, const mjtNum* x);

// result = J x                                                                     (nefc)
void mjgp_mulJacobian(const mjgpGroup* group, mjtNum* result, const mjtNum* x);

// jar = J a - aref
void mjgp_residual(mjgpGroup* group, mjtNum* jar, const mjtNum* a);

// Returns the size of the terms of J a - aref in row i. The sum is round-off below
// mjgpSUMMED times this size.
mjtNum mjgp_rowSize(const mjgpGroup* group, int i, const mjtNum* a);

// M a - b, and x -= J' f                                                             (nv)
void mjgp_smoothGradient(const mjgpGroup* group, mjtNum* x, const mjtNum* a);
void mjgp_subtractForces(const mjgpGroup* group, mjtNum* x, const mjtNum* f);

// gradient M a - b - J' f + E t at a and group->f; rounding (nullable): its round-off (nv)
void mjgp_gradient(const mjgpGroup* group, mjtNum* gradient, mjtNum* rounding, const mjtNum* a,
                   const mjtNum* t);

// Returns 1 if a gradient is zero up to this round-off                               (n)
static inline int mjgp_isRoundOff(const mjtNum* gradient, const mjtNum* rounding, int n) {
  int zero = 1;
  for (int i = 0; i < n && zero; i++) {
    zero = mju_abs(gradient[i]) <= mjgpZERO * rounding[i];
  }
  return zero;
}

// x += E' t
void mjgp_addGears(const mjgpGroup* group, mjtNum* x, const mjtNum* t);

// row i of E times x
static inline mjtNum mjgp_mulGear(const mjgpGroup* group, int i, const mjtNum* x) {
  mjtNum sum = group->E[group->E_adr[i]] * x[group->E_dof[group->E_adr[i]]];
  for (int k = group->E_adr[i] + 1; k < group->E_adr[i + 1]; k++) {
    sum += group->E[k] * x[group->E_dof[k]];
  }
  return sum;
}

// product with M
void mjgp_mulInertia(const mjgpGroup* group, mjtNum* result, const mjtNum* vec);

#endif  // MJGEAR_PLUGIN_ISLAND_H_
