// The first try of a step, against the equations that it solves as one dense system.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "dense_equations.h"
#include "gear/piece.h"
#include "model/simd.h"
#include "plugin_models.h"
#include "solver/coupling.h"
#include "solver/forces.h"
#include "solver/hessian.h"
#include "solver/island.h"

enum {
  NGEAR = 7,
  MOST = 60  // unknowns
};

// two legs of four joints each, one without a gear, below a body that falls on a floor
static const char kLegs[] =
    "<mujoco><option timestep='0.002' integrator='implicitfast' cone='%s'/>"
    "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"
    "<config key='joint' value='a0 a1 a2 a3 b0 b1 b2'/><config key='gamma_u' value='0.2'/>"
    "<config key='gamma_v' value='0.3'/><config key='coulomb' "
    "value='0.5'/></instance></plugin></extension>"
    "<default><joint damping='3' armature='0.02' range='-0.4 0.4' limited='true'/>"
    "<geom size='0.03' mass='0.4'/></default>"
    "<worldbody><geom type='plane' size='5 5 0.1'/><body pos='0 0 0.45'><freejoint/>"
    "<geom type='box' size='0.1 0.1 0.05' mass='3'/>"
    "<body pos='0 0.1 -0.1'><joint name='a0' axis='1 0 0'/><joint name='a1' axis='0 1 0'/>"
    "<geom pos='0 0 -0.1'/><body pos='0 0 -0.2'><joint name='a2' axis='0 1 0'/><geom/>"
    "<body pos='0 0 -0.15'><joint name='a3' axis='0 1 0'/><geom type='box' size='0.06 0.03 0.01'/>"
    "</body></body></body>"
    "<body pos='0 -0.1 -0.1'><joint name='b0' axis='1 0 0'/><joint name='b1' axis='0 1 0'/>"
    "<geom pos='0 0 -0.1'/><body pos='0 0 -0.2'><joint name='b2' axis='0 1 0'/><geom/>"
    "<body pos='0 0 -0.15'><joint name='b3' axis='0 1 0'/><geom type='box' size='0.06 0.03 0.01'/>"
    "</body></body></body>"
    "</body></worldbody></mujoco>";

static unsigned seed = 1;


static double uniform(double low, double high) {
  seed = seed * 1664525u + 1013904223u;
  return low + (high - low) * (seed / 4294967296.0);
}


// The equations of forces.h in the engine's own matrices, states and cones: da, dw, friction
static void solveReference(double* x, const mjModel* m, mjData* d, const mjgpStep* s,
                           const mjgpPiece* piece, const mjtNum* gradient) {
  static double A[MOST][MOST];
  int nv = (int)m->nv, n = 2 * nv + s->n;
  assert_true(n <= MOST);
  double *M = calloc((size_t)(nv * nv), sizeof(double)),
         *J = malloc(sizeof(double) * (size_t)(d->nefc * nv));
  mj_fullM(m, d, M);
  for (int i = 0; i < d->nefc; i++) {
    for (int k = 0; k < nv; k++) {
      double unit[MOST] = {0}, row[400];
      unit[k] = 1;
      mj_mulJacVec(m, d, row, unit);
      J[i * nv + k] = row[i];
    }
  }
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    for (int j = 0; j < n; j++) {
      A[i][j] = 0;
    }
  }
  for (int i = 0; i < nv; i++) {
    for (int j = 0; j < nv; j++) {
      A[i][j] += M[i * nv + j];
      A[nv + i][j] += M[i * nv + j];
      A[nv + i][nv + j] -= M[i * nv + j];
    }
    A[nv + i][nv + i] -= m->opt.timestep * m->dof_damping[i];
  }
  for (int r = 0; r < d->nefc; r++) {
    int cone = d->efc_state[r] == mjCNSTRSTATE_CONE, dim = 1;
    const mjContact* contact = cone ? d->contact + d->efc_id[r] : NULL;
    dim = cone ? contact->dim : 1;
    for (int p = 0; p < dim; p++) {
      for (int q = 0; q < dim; q++) {
        double D = cone                                        ? contact->H[p * dim + q]
                   : d->efc_state[r] == mjCNSTRSTATE_QUADRATIC ? d->efc_D[r]
                                                               : 0;
        for (int i = 0; i < nv; i++) {
          for (int j = 0; j < nv; j++) {
            A[i][j] += D * J[(r + p) * nv + i] * J[(r + q) * nv + j];
          }
        }
      }
    }
    r += dim - 1;
  }
  for (int k = 0; k < nv; k++) {
    x[s->group->dof[k]] = -gradient[k];
  }
  for (int i = 0; i < s->n; i++) {
    int dof = s->group->dof[s->group->E_dof[s->group->E_adr[i]]], row = 2 * nv + i;
    A[dof][row] = 1;
    A[row][nv + dof] = piece[i].held ? 1 : -piece[i].slope;
    A[row][row] = piece[i].held ? 0 : 1;
    x[row] = piece[i].held ? piece[i].target - s->acc[i] : piece[i].t;
  }
  assert_true(solveEquations(A[0], MOST, x, n));
  free(M);
  free(J);
}


// The acceleration of the integrator, (M + h damping)^-1 M a, in the engine's numbers
static void solveMotion(double* w, const mjModel* m, mjData* d, const mjtNum* a) {
  static double A[MOST][MOST];
  int nv = (int)m->nv;
  double* M = calloc((size_t)(nv * nv), sizeof(double));
  mj_fullM(m, d, M);
  for (int i = 0; i < nv; i++) {
    w[i] = 0;
    for (int j = 0; j < nv; j++) {
      A[i][j] = M[i * nv + j];
      w[i] += A[i][j] * a[j];
    }
    A[i][i] += m->opt.timestep * m->dof_damping[i];
  }
  assert_true(solveEquations(A[0], MOST, w, nv));
  free(M);
}


// A solution in its row states and on the lines of its branches needs no further change of motion, and
// has the friction of the reference
static void test_equations(void** state) {
  static const char* const cone[] = {"pyramidal", "elliptic"};
  int held = 0, rows = 0, slides = 0, solved = 0, tried = 0;
  for (int c = 0; c < 2; c++) {
    mjModel* m = makeModel(kLegs, cone[c]);
    mjData* d = mj_makeData(m);
    for (int k = 0; k < 300; k++) {
      for (int i = 0; i < m->nv && k % 20 == 0; i++) {
        d->qvel[i] += uniform(-1, 1) * (i < 3 ? 2 : 1);
      }
      mj_step(m, d);
      mj_forward(m, d);
      mjgpGears* g = (mjgpGears*)d->plugin_data[0];
      mjgpInertia Mhat;
      mjgpGroup group;
      mjgpStep step;
      mjtNum a[MOST], jar[400], cost;
      assert_true(d->nefc <= 400);
      for (int i = 0; i < m->nv; i++) {
        a[i] = d->qacc[i] + uniform(-1, 1) * (k % 3 ? 1 : 100);
      }
      mj_markStack(d);
      mjgp_makeInertia(&Mhat, m, d, g);
      mjgp_wholeStep(&step, &group, g, m, d, &Mhat, a);
      assert_true(step.rows && mjgp_hasForces(&step) == (group.nefc + 1 <= mjgpFORCES * NGEAR));
      tried += mjgp_hasForces(&step);
      if (mjgp_hasForces(&step) && mjgp_solveForces(&step)) {
        solved++;
        for (int i = 0; i < m->nv; i++) {
          a[group.dof[i]] = step.a[i];
        }
        mj_mulJacVec(m, d, jar, a);
        mju_subFrom(jar, d->efc_aref, d->nefc);
        mj_constraintUpdate(m, d, jar, &cost, 1);
        mjgpPiece piece[NGEAR];
        double x[MOST], size = 0;
        for (int i = 0; i < step.n; i++) {
          piece[i] = step.piece[i];
          mjgp_linePiece(piece + i, step.acc[i], 0);
          held += piece[i].held;
        }
        int lanes = mjgi_simdEnd((int)m->nv);
        mjtNum* gradient = mj_stackAllocNum(d, (size_t)lanes);
        mju_zero(gradient, lanes);
        mjgp_gradient(&group, gradient, NULL, step.a, NULL);
        solveReference(x, m, d, &step, piece, gradient);
        for (int i = 0; i < m->nv; i++) {
          size = fmax(size, fabs(a[i]));
        }
        for (int i = 0; i < 2 * m->nv; i++) {
          assert_true(fabs(x[i]) <= 1e-9 * (1 + size));
        }
        for (int i = 0; i < step.n; i++) {
          assert_true(fabs(step.t[i] - x[2 * m->nv + i]) <= 1e-9 * (1 + fabs(step.t[i])));
        }
        solveMotion(x, m, d, a);
        for (int i = 0; i < step.n; i++) {
          double w = x[group.dof[group.E_dof[group.E_adr[i]]]];
          assert_true(fabs(step.acc[i] - w) <= 1e-9 * (1 + size));
        }
        rows += group.nefc;
        for (int i = 0; i < group.nefc; i++) {
          slides += group.state[i] == mjCNSTRSTATE_CONE;
        }
      }
      mj_freeStack(d);
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  printf("solved %d of %d, rows %d, held %d, sliding %d\n", solved, tried, rows, held, slides);
  assert_true(solved > 300 && solved > 0.8 * tried && held > 500 && rows > 2000 && slides > 50);
}


// A step begins with the forces of the rows where rows and damped dofs without gears are few: here b3,
// and the base with damping
static void test_limit(void** state) {
  mjModel* m = makeModel(kLegs, "pyramidal");
  mjData* d = mj_makeData(m);
  for (int damped = 1; damped <= 7; damped += 3) {
    for (int i = 0; i < damped - 1; i++) {
      m->dof_damping[i] = 1;
    }
    mj_forward(m, d);
    mjgpGears* g = (mjgpGears*)d->plugin_data[0];
    mjgpInertia Mhat;
    mjgpGroup group;
    mjgpStep step;
    mj_markStack(d);
    mjgp_makeInertia(&Mhat, m, d, g);
    mjgp_wholeStep(&step, &group, g, m, d, &Mhat, d->qacc);
    for (group.nefc = 0; group.nefc <= 20; group.nefc++) {
      assert_int_equal(mjgp_hasForces(&step), group.nefc + damped <= mjgpFORCES * NGEAR);
    }
    mj_freeStack(d);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_equations),
                                     cmocka_unit_test(test_limit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
