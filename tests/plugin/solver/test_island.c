// Cost, forces and Hessian of every kind of constraint, and the factor of the Hessian, against the engine's.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/simd.h"
#include "plugin_models.h"
#include "solver/contact.h"
#include "solver/hessian.h"
#include "solver/island.h"
#include "zoo.h"

// Hessian of the engine's cost times x: M x + J' s'' J x, with the engine's states and cone Hessians
static void mulHessian(const mjModel* m, mjData* d, mjtNum* result, const mjtNum* x) {
  mj_markStack(d);
  mjtNum* Jx = mj_stackAllocNum(d, 2 * (size_t)d->nefc);
  mjtNum *force = Jx + d->nefc, *sum = mj_stackAllocNum(d, (size_t)m->nv);
  mj_mulJacVec(m, d, Jx, x);
  mju_zero(force, d->nefc);
  for (int i = 0; i < d->nefc; i++) {
    if (d->efc_state[i] == mjCNSTRSTATE_QUADRATIC) {
      force[i] = d->efc_D[i] * Jx[i];
    } else if (d->efc_state[i] == mjCNSTRSTATE_CONE) {
      const mjContact* contact = d->contact + d->efc_id[i];
      mju_mulMatVec(force + i, contact->H, Jx + i, contact->dim, contact->dim);
      i += contact->dim - 1;
    }
  }
  mj_mulJacTVec(m, d, sum, force);
  mj_mulM(m, d, result, x);
  mju_addTo(result, sum, (int)m->nv);
  mj_freeStack(d);
}


// the factor of the group's Hessian against the engine's Hessian, and solves for all
// joints at once against solves one by one
static void checkFactor(const mjModel* m, mjData* d, mjgpGroup* group, unsigned* seed) {
  int nv = (int)m->nv, ld = group->ld, size = mjgi_simdEnd(nv);
  mj_markStack(d);
  mjtNum *x = mj_stackAllocNum(d, 4 * (size_t)size), *y = x + size, *Hx = y + size, *Hy = Hx + size;
  mju_zero(x, 4 * size);
  for (int j = 0; j < nv; j++) {
    *seed = *seed * 1664525u + 1013904223u;
    x[j] = *seed / 4294967296.0 - 0.5;
  }
  mulHessian(m, d, Hx, x);
  assert_int_equal(mjgp_factor(group), 1);
  for (int k = 0; k < nv; k++) {
    Hy[k] = Hx[group->dof[k]];
  }
  mjgp_solveLower(group, Hy);
  mjgp_solveUpper(group, Hy);
  for (int k = 0; k < nv; k++) {
    y[group->dof[k]] = Hy[k];
  }
  mulHessian(m, d, Hy, y);
  mju_subFrom(Hy, Hx, nv);
  assert_true(mju_norm(Hy, nv) <= 1e-10 * mju_norm(Hx, nv));

  // unit vectors of the joints, knowing that they are and not knowing it
  mjtNum* unit = mj_stackAllocNum(d, 2 * (size_t)nv * (size_t)ld);
  mjtNum* full = unit + (size_t)nv * (size_t)ld;
  mju_zero(unit, 2 * nv * ld);
  for (int i = 0; i < group->njoint; i++) {
    unit[group->E_dof[i] * ld + i] = full[group->E_dof[i] * ld + i] = 1;
  }
  mjgp_solveLowerJoints(group, unit, 1);
  mjgp_solveLowerJoints(group, full, 0);
  for (int i = 0; i < group->njoint; i++) {
    mju_zero(y, nv);
    y[group->E_dof[i]] = 1;
    mjgp_solveLower(group, y);
    for (int k = 0; k < nv; k++) {
      assert_true(fabs(unit[k * ld + i] - y[k]) <= 1e-12 * mju_norm(y, nv));
      assert_true(fabs(full[k * ld + i] - y[k]) <= 1e-12 * mju_norm(y, nv));
      assert_true(y[k] == 0 || (i >= group->from[k] && i < group->to[k]));
    }
  }
  mj_freeStack(d);
}


// cost, forces and Hessian of every kind of constraint: the engine's against ours
static void test_forces(void** state) {
  static const char* const cone[] = {"pyramidal", "elliptic"};
  int seen[8] = {0}, states[8] = {0};
  for (int k = 0; k < 2; k++) {
    mjModel* m = makeModel(kZoo, 0.002, cone[k], "Euler", "Newton", k ? "dense" : "sparse",
                           "island='disable'");
    mjData* d = mj_makeData(m);
    int room = mjgi_simdEnd((int)m->nv);
    mjtNum* a = calloc(5 * (size_t)room, sizeof(mjtNum));
    assert_non_null(a);
    mjtNum *gradient = a + room, *Ma = gradient + room, *force = Ma + room, *near = force + room;
    int *dof = malloc(sizeof(int) * (size_t)m->nv), *local = malloc(sizeof(int) * (size_t)m->nv);
    assert_non_null(dof);
    assert_non_null(local);
    unsigned seed = 1;
    for (int i = 0; i < 500; i++) {
      control(m, d);
      mj_step(m, d);
      mj_forward(m, d);
      if (!d->nefc) {
        continue;
      }

      // somewhere near the solution, sometimes far
      for (int j = 0; j < m->nv; j++) {
        seed = seed * 1664525u + 1013904223u;
        a[j] = d->qacc[j] + (seed / 4294967296.0 - 0.5) * (i % 3 ? 1 : 300);
        dof[j] = j;
        local[j] = -1;
        force[j] = d->qfrc_smooth[j];
      }
      mj_markStack(d);
      int* row = mj_stackAllocInt(d, (size_t)d->nefc);
      mjtNum* jar = mj_stackAllocNum(d, (size_t)d->nefc);
      for (int j = 0; j < d->nefc; j++) {
        row[j] = j;
      }
      mjgpGroup group;
      const mjgpInertia Mhat = {0};
      const mjgpGears* g = gearsOf(m, d);
      int* joint = mj_stackAllocInt(d, (size_t)g->config->n);
      for (int j = 0; j < g->config->n; j++) {
        joint[j] = j;
      }
      const mjgpPart part = {(int)m->nv, d->nefc, g->config->n, dof, row, joint};
      mjgp_makeGroup(&group, m, d, g, &Mhat, local, force, &part);
      mjgp_makePattern(&group, d);
      for (int j = 0; j < m->nv; j++) {
        near[j] = a[group.dof[j]];
      }
      mjgp_residual(&group, group.jar, near);
      double cost = mjgp_constraintForce(&group, group.f, group.state, group.cone, group.jar),
             expected;
      mj_mulJacVec(m, d, jar, a);
      mju_subFrom(jar, d->efc_aref, d->nefc);
      mj_constraintUpdate(m, d, jar, &expected, 1);
      assert_true(fabs(cost - expected) <= 1e-9 * (fabs(expected) + 1e-9));
      for (int j = 0; j < d->nefc; j++) {
        double size = fabs(d->efc_force[j]) + d->efc_D[j] * fabs(d->efc_aref[j]);
        assert_true(fabs(group.f[j] - d->efc_force[j]) <= 1e-9 * size);
        assert_int_equal(group.state[j], d->efc_state[j]);
        seen[d->efc_type[j]] = 1;
        states[d->efc_state[j]]++;
      }

      // the same forces from the states alone, as paths ask for them
      mjtNum* known = mj_stackAllocNum(d, (size_t)d->nefc);
      mju_copy(known, group.f, d->nefc);
      mju_zero(group.f, d->nefc);
      mjgp_forceInStates(&group);
      for (int j = 0; j < d->nefc; j++) {
        assert_true(fabs(group.f[j] - known[j]) <= 1e-12 * fabs(known[j]));
      }
      for (int j = 0, c = 0; j < d->nefc; j++) {
        if (d->efc_type[j] == mjCNSTR_CONTACT_ELLIPTIC) {
          const mjContact* contact = d->contact + d->efc_id[j];
          int dim = contact->dim;
          for (int e = 0; e < dim * dim && d->efc_state[j] == mjCNSTRSTATE_CONE; e++) {
            assert_true(fabs(group.cone[36 * c + e] - contact->H[e]) <=
                        1e-8 * (fabs(contact->H[0]) + fabs(contact->H[e])));
          }
          j += dim - 1;
          c++;
        }
      }

      // gradient and Hessian
      mjgp_gradient(&group, gradient, NULL, near, NULL);
      mj_mulM(m, d, Ma, a);
      for (int c = 0; c < m->nv; c++) {
        int j = group.dof[c];
        double want = Ma[j] - d->qfrc_smooth[j] - d->qfrc_constraint[j];
        assert_true(fabs(gradient[c] - want) <= 1e-8 * (fabs(Ma[j]) + fabs(d->qfrc_smooth[j]) +
                                                        fabs(d->qfrc_constraint[j]) + 1));
      }
      checkFactor(m, d, &group, &seed);

      // slope of the cost along a line, from the engine's forces at a point of it
      mjtNum* along = mj_stackAllocNum(d, (size_t)d->nefc);
      double share = 0.1 * (i % 12), want = 0, size = 0;
      for (int j = 0; j < d->nefc; j++) {
        seed = seed * 1664525u + 1013904223u;
        along[j] = 2 * (seed / 4294967296.0 - 0.5) * (fabs(jar[j]) + 1);
        known[j] = jar[j] + share * along[j];
      }
      mj_constraintUpdate(m, d, known, &expected, 0);
      for (int j = 0; j < d->nefc; j++) {
        want -= d->efc_force[j] * along[j];
        size += (fabs(d->efc_force[j]) + d->efc_D[j] * fabs(jar[j])) * fabs(along[j]);
      }
      assert_true(fabs(mjgp_slopeAlong(&group, jar, along, share) - want) <= 1e-12 * size);
      mj_freeStack(d);
    }
    free(a);
    free(dof);
    free(local);
    mj_deleteData(d);
    mj_deleteModel(m);
  }

  // all kinds occurred
  for (int type = 0; type < 8; type++) {
    if (type != mjCNSTR_LIMIT_TENDON) {
      if (!seen[type]) {
        fail_msg("no constraint of type %d", type);
      }
    }
  }
  for (int k = 0; k < 5; k++) {
    assert_true(states[k] > 0);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
