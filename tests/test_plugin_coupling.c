// Friction and constraints as one step: the law holds and a stuck joint stands still under every
// kind of constraint, cone, solver and integrator; nothing but the state determines a trajectory.

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coupled/constraint.h"
#include "coupled/hessian.h"
#include "friction/simd.h"
#include "plugin_models.h"
#include "state/gears.h"

// a floating robot with geared legs on a plane, an arm with limits, a mimicked finger, dry friction, a
// tendon with limit and friction, a ball and boxes of all contact dimensions
static const char* const zoo =
    "<mujoco><option timestep='%g' cone='%s' integrator='%s' solver='%s' jacobian='%s' "
    "impratio='2'><flag %s/></option>"
    "<extension><plugin plugin='mjgear.transmission'><instance name='legs'>"
    "<config key='joint' value='hip1 knee1 hip2 knee2'/><config key='gamma_u' value='0.1'/>"
    "<config key='gamma_v' value='1.1 0.9 1.1 0.3'/></instance><instance name='arm'>"
    "<config key='joint' value='shoulder elbow finger'/><config key='gamma_u' value='0.2'/>"
    "<config key='gamma_v' value='1.2 0.5 1.05'/><config key='coulomb' value='0.1 0 0'/></instance>"
    "</plugin></extension>"
    "<default><joint armature='0.05' damping='0.1'/><geom size='.04' type='capsule'/></default>"
    "<worldbody><geom type='plane' size='5 5 1' condim='1'/>"
    "<body pos='0 0 .62'><freejoint/><geom type='box' size='.15 .1 .05'/>"
    "<body pos='.1 0 0'><joint name='hip1' axis='0 1 0'/><geom fromto='0 0 0 .05 0 -.25'/>"
    "<body pos='.05 0 -.25'><joint name='knee1' axis='0 1 0' range='-60 60' limited='true'/>"
    "<geom fromto='0 0 0 -.05 0 -.25' condim='4'/></body></body>"
    "<body pos='-.1 0 0'><joint name='hip2' axis='0 1 .2'/><geom fromto='0 0 0 -.05 0 -.25'/>"
    "<body pos='-.05 0 -.25'><joint name='knee2' axis='0 1 0'/>"
    "<geom fromto='0 0 0 .05 .05 -.25' condim='6'/></body></body>"
    "<body pos='0 .12 0'><joint name='drag' axis='1 0 0' frictionloss='.3' range='-10 10' "
    "limited='true'/>"
    "<geom fromto='0 0 0 0 .2 0' condim='1'/></body></body>"
    "<body pos='.9 0 .5'><joint name='shoulder' axis='0 1 0' range='-30 30' limited='true'/>"
    "<geom fromto='0 0 0 .3 0 0'/><body pos='.3 0 0'><joint name='elbow' axis='0 1 0'/>"
    "<geom fromto='0 0 0 .2 0 0'/><body pos='.2 0 0'>"
    "<joint name='finger' type='slide' axis='0 1 0' armature='.5'/><geom size='.02' type='sphere'/>"
    "</body><body pos='.2 0 0'><joint name='thumb' type='slide' axis='0 1 0'/>"
    "<geom size='.02' type='sphere' pos='.05 0 0'/></body></body></body>"
    "<body pos='1.1 .02 .7'><freejoint/><geom type='sphere' size='.05' density='3000'/></body>"
    "<body pos='-.9 .3 .3'><freejoint/><geom type='box' size='.05 .05 .05' "
    "condim='1'/></body></worldbody>"
    "<equality><joint joint1='thumb' joint2='finger' polycoef='0 -1 0 0 0'/></equality>"
    "<tendon><fixed name='t' limited='true' range='-.6 .6' frictionloss='.05'>"
    "<joint joint='shoulder' coef='1'/><joint joint='elbow' coef='1'/></fixed></tendon>"
    "<actuator><motor joint='hip1'/><motor joint='knee2'/><position joint='elbow' kp='20' kv='1'/>"
    "<motor joint='finger'/></actuator><keyframe><key time='0'/></keyframe></mujoco>";


static const mjgpGears* gearsOf(const mjModel* m, const mjData* d) {
  return (const mjgpGears*)d->plugin_data[mj_name2id(m, mjOBJ_PLUGIN, "legs")];
}


// controls that move and stop the joints
static void control(const mjModel* m, mjData* d) {
  static const double size[] = {12, 6, 1, 40};
  for (int i = 0; i < m->nu; i++) {
    double phase = d->time * (3 + i);
    d->ctrl[i] = sin(phase) > 0 ? size[i] * sin(2 * phase) : 0;
  }
}


typedef struct Check_ {
  double law;    // largest error of the law, relative
  double power;  // least power that friction takes
  int stuck;     // joints that stood still, summed over steps
  int moving;    // stuck joints that did not
} Check;


// step once and check the law for the motion that came out
static void checkedStep(Check* check, const mjModel* m, mjData* d) {
  double v[50];
  assert_true(m->nv <= 50);
  mju_copy(v, d->qvel, (int)m->nv);
  mj_step(m, d);
  const mjgpGears* g = gearsOf(m, d);
  for (int a = 0; a < g->in.nactive; a++) {
    int i = g->in.active[a], dof = g->config->joint[i].dof;
    double acc = (d->qvel[dof] - v[dof]) / m->opt.timestep, t = g->out.t[i], v_next = d->qvel[dof];
    double u = g->in.tau[i] - g->in.inertia[i] * acc;
    double lambda = (g->in.gamma_u[i] + g->in.gamma_v[i]) * u - g->in.gamma_v[i] * t;
    double bound = fabs(lambda) + g->in.coulomb[i];
    double error = fabs(t) - bound, tiny = 1e-9 * (g->out.cancellation[i] + 1e-6);
    if (v_next > tiny) {
      error = fabs(t - bound);
    } else if (v_next < -tiny) {
      error = fabs(t + bound);
    }
    // what is left of forces when they cancel
    double scale = fabs(t) + bound + fabs(g->in.tau[i]) +
                   g->in.inertia[i] * g->out.cancellation[i] / m->opt.timestep;
    check->law = fmax(check->law, error / (scale + 1e-6));
    check->power = fmin(check->power, t * v_next);
    check->stuck += g->out.mode[i] == 0;
    check->moving += g->out.mode[i] == 0 && v_next != 0;
  }
}


static void test_all(void** state) {
  (void)state;
  static const char* const cone[] = {"pyramidal", "elliptic"};
  static const char* const integrator[] = {"Euler", "implicit", "implicitfast"};
  static const char* const solver[] = {"Newton", "CG", "PGS"};
  static const char* const jacobian[] = {"dense", "sparse"};
  static const char* const flag[] = {"", "island='disable'", "eulerdamp='disable'",
                                     "sleep='enable'"};
  int steps = 0, passes = 0, coupled = 0, hard = 0, niter = 0, unconfirmed = 0, unsolved = 0;
  Check total = {0};
  for (int k = 0; k < 36; k++) {
    mjModel* m = makeModel(zoo, k % 5 ? 0.002 : 0.004, cone[k % 2], integrator[k % 3],
                           solver[k / 2 % 3], jacobian[k / 3 % 2], flag[k / 9]);
    mjData* d = mj_makeData(m);
    Check check = {0};
    for (int i = 0; i < 600; i++, steps++) {
      control(m, d);
      checkedStep(&check, m, d);
      niter = mjMAX(niter, m->opt.solver == mjSOL_NEWTON ? d->solver_niter[0] : 0);
    }
    const mjgpCount* count = &gearsOf(m, d)->count;
    if (count->unsolved || count->unconfirmed) {
      print_message("case %d (%s %s %s %s): law %.2g, moving %d, unsolved %d, unconfirmed %d\n", k,
                    cone[k % 2], integrator[k % 3], solver[k / 2 % 3], flag[k / 9], check.law,
                    check.moving, count->unsolved, count->unconfirmed);
    }
    unsolved += count->unsolved;
    passes += count->newton_steps;
    coupled += count->coupled;
    hard += count->hard;
    total.law = fmax(total.law, check.law);
    total.moving += check.moving;
    total.power = fmin(total.power, check.power);
    unconfirmed += count->unconfirmed;
    total.stuck += check.stuck;
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  print_message(
      "%d steps: law %.2g, power %.2g, %d stuck, %d of them moving, %.2f passes a group, "
      "%d of %d hard, Newton iterations of the engine %d\n",
      steps, total.law, total.power, total.stuck, total.moving, (double)passes / coupled, hard,
      coupled, niter);
  assert_int_equal(unsolved, 0);
  assert_true(total.law <= 1e-8);
  assert_true(total.power >= -1e-12);
  assert_int_equal(total.moving, 0);
  assert_int_equal(unconfirmed, 0);
  assert_true(total.stuck > steps);
}


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


// the factor of the group's Hessian against the engine's Hessian, and the solves for all joints at once
// against those one by one
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
    unit[group->gear[i] * ld + i] = full[group->gear[i] * ld + i] = 1;
  }
  mjgp_solveLowerJoints(group, unit, 1);
  mjgp_solveLowerJoints(group, full, 0);
  for (int i = 0; i < group->njoint; i++) {
    mju_zero(y, nv);
    y[group->gear[i]] = 1;
    mjgp_solveLower(group, y);
    for (int k = 0; k < nv; k++) {
      assert_true(fabs(unit[k * ld + i] - y[k]) <= 1e-12 * mju_norm(y, nv));
      assert_true(fabs(full[k * ld + i] - y[k]) <= 1e-12 * mju_norm(y, nv));
      assert_true(y[k] == 0 || (i >= group->from[k] && i < group->to[k]));
    }
  }
  mj_freeStack(d);
}


// the engine's cost, forces and Hessian of every kind of constraint against ours
static void test_forces(void** state) {
  (void)state;
  static const char* const cone[] = {"pyramidal", "elliptic"};
  int seen[8] = {0}, states[8] = {0};
  for (int k = 0; k < 2; k++) {
    mjModel* m = makeModel(zoo, 0.002, cone[k], "Euler", "Newton", k ? "dense" : "sparse",
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
      mjgp_makeGroup(&group, m, d, g, &Mhat, local, force, dof, (int)m->nv, row, d->nefc, joint,
                     g->config->n);
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


// noslip iterations come after the solver: friction anticipates them in nearly all steps, and what it does
// not anticipate is counted
static void test_noslip(void** state) {
  (void)state;
  static const char* const cone[] = {"pyramidal", "elliptic"};
  for (int k = 0; k < 2; k++) {
    mjModel* m = makeModel(zoo, 0.002, cone[k], "implicitfast", "Newton", "sparse", "");
    m->opt.noslip_iterations = 10;
    mjData* d = mj_makeData(m);
    Check check = {0};
    for (int i = 0; i < 500; i++) {
      control(m, d);
      checkedStep(&check, m, d);
    }
    const mjgpCount* count = &gearsOf(m, d)->count;
    print_message("noslip, %s: %d of 500 steps not exact, %d of %d stuck joints moving\n", cone[k],
                  count->unconfirmed, check.moving, check.stuck);
    assert_int_equal(count->unsolved, 0);
    assert_in_range(count->unconfirmed, 0, 50);
    assert_true(check.moving < check.stuck / 10);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// a tree that nothing touches beside one at its limit: the motion is the one that was solved for, also where
// the free tree needs more than a guess of its modes
static void test_freeTree(void** state) {
  (void)state;
  static const char* const arm =
      "<body pos='%g 0 0'><joint name='%s1' %s/><geom size='.04' fromto='0 0 0 .3 0 0'/>"
      "<body pos='.3 0 0'><joint name='%s2' axis='1 1 0'/><geom size='.04' fromto='0 0 0 .3 0 0'/>"
      "<body pos='.3 0 0'><joint name='%s3'/><geom size='.04' fromto='0 0 0 .3 0 0'/>"
      "<body pos='.3 0 0'><joint name='%s4' axis='0 1 1'/><geom size='.04' fromto='0 0 0 .3 0 0'/>"
      "</body></body></body></body>";
  static const char* const solver[] = {"Newton", "PGS"};
  char text[2][1000];
  snprintf(text[0], sizeof(text[0]), arm, 0.0, "a", "range='-9 0' limited='true'", "a", "a", "a");
  snprintf(text[1], sizeof(text[1]), arm, 9.0, "b", "", "b", "b", "b");
  for (int k = 0; k < 2; k++) {
    mjModel* m = makeModel(
        "<mujoco><option timestep='0.002' solver='%s'/><extension>"
        "<plugin plugin='mjgear.transmission'><instance name='legs'><config key='joint' "
        "value='a1 a2 a3 a4 b1 b2 b3 b4'/><config key='gamma_u' value='0.2'/>"
        "<config key='gamma_v' value='0.9'/></instance></plugin></extension><default>"
        "<joint axis='0 1 0' armature='.5' damping='1'/><geom type='capsule' "
        "contype='0'/></default>"
        "<worldbody>%s%s</worldbody><actuator><motor joint='b1'/><motor joint='b2'/>"
        "<motor joint='b3'/><motor joint='b4'/></actuator></mujoco>",
        solver[k], text[0], text[1]);
    mjData* d = mj_makeData(m);
    unsigned seed = 1;
    int free = 0, unconfirmed = 0;
    for (int i = 0; i < 4000; i++) {
      mj_resetData(m, d);
      for (int j = 0; j < m->nv; j++) {
        seed = seed * 1664525u + 1013904223u;
        d->qvel[j] = (seed / 4294967296.0 - 0.5) * (j % 2 ? 0.1 : 0.01);
        d->qpos[j] = j ? seed / 4294967296.0 : 1e-3;
      }
      for (int j = 0; j < m->nu; j++) {
        seed = seed * 1664525u + 1013904223u;
        d->ctrl[j] = (seed / 4294967296.0 - 0.5) * 40;
      }
      const mjgpCount* count = &gearsOf(m, d)->count;
      mj_step(m, d);
      assert_true(d->nefc > 0);
      free += count->fallbacks > 0 || count->iterations > 2;
      unconfirmed += count->unconfirmed;
      assert_int_equal(count->unsolved, 0);
    }
    print_message("%s: %d of 4000 steps needed more than a guess, %d not confirmed\n", solver[k],
                  free, unconfirmed);
    assert_true(free > 100);
    assert_int_equal(unconfirmed, 0);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


//---------------------------------- one trajectory ------------------------------------------------

static mjModel* plainZoo(void) {
  return makeModel(zoo, 0.002, "elliptic", "implicitfast", "Newton", "sparse", "");
}


static void assertSame(const mjModel* m, const mjData* a, const mjData* b) {
  assert_memory_equal(a->qpos, b->qpos, sizeof(mjtNum) * (size_t)m->nq);
  assert_memory_equal(a->qvel, b->qvel, sizeof(mjtNum) * (size_t)m->nv);
  assert_memory_equal(a->plugin_state, b->plugin_state, sizeof(mjtNum) * (size_t)m->npluginstate);
}


// every other way to take the same steps
static void test_bits(void** state) {
  (void)state;
  mjModel* m = plainZoo();
  mjData *plain = mj_makeData(m), *twice = mj_makeData(m), *halves = mj_makeData(m);
  mjData *copied = mj_makeData(m), *stored = mj_makeData(m), *differ = mj_makeData(m);
  int size = mj_stateSize(m, mjSTATE_INTEGRATION);
  mjtNum* saved = malloc(sizeof(mjtNum) * (size_t)size);
  mjtNum* A = malloc(sizeof(mjtNum) * (size_t)(4 * m->nv * m->nv));
  assert_non_null(saved);
  assert_non_null(A);
  for (int i = 0; i < 400; i++) {
    control(m, plain);
    mj_step(m, plain);

    // forward again and again
    control(m, twice);
    mj_forward(m, twice);
    mj_forward(m, twice);
    mj_step(m, twice);
    assertSame(m, plain, twice);

    // in two halves
    mj_step1(m, halves);
    control(m, halves);
    mj_step2(m, halves);
    assertSame(m, plain, halves);

    // copied between the halves
    control(m, copied);
    mj_step1(m, copied);
    mjData* other = mj_copyData(NULL, m, copied);
    mj_step2(m, other);
    mj_copyData(copied, m, other);
    mj_deleteData(other);
    assertSame(m, plain, copied);

    // through a state, after forward, into data that did something else
    control(m, stored);
    mj_forward(m, stored);
    mj_getState(m, stored, saved, mjSTATE_INTEGRATION);
    if (i % 7 == 0) {
      mj_resetData(m, stored);
      stored->qvel[3] = 1;
      mj_step(m, stored);
    }
    mj_setState(m, stored, saved, mjSTATE_INTEGRATION);
    mj_step(m, stored);
    assertSame(m, plain, stored);

    // finite differences on the way
    control(m, differ);
    if (i % 50 == 0) {
      mjd_transitionFD(m, differ, 1e-6, 1, A, NULL, NULL, NULL);
      for (int k = 0; k < 4 * m->nv * m->nv; k++) {
        assert_false(mju_isBad(A[k]));
      }
    }
    mj_step(m, differ);
    assertSame(m, plain, differ);
  }

  // reset: the same again
  for (int k = 0; k < 2; k++) {
    mj_resetData(m, plain);
    if (k) {
      mj_resetDataKeyframe(m, twice, 0);
    } else {
      mj_resetData(m, twice);
    }
    mjData* fresh = mj_makeData(m);
    for (int i = 0; i < 200; i++) {
      control(m, fresh);
      control(m, plain);
      control(m, twice);
      mj_step(m, fresh);
      mj_step(m, plain);
      mj_step(m, twice);
      assertSame(m, fresh, plain);
      assertSame(m, fresh, twice);
    }
    mj_deleteData(fresh);
  }
  free(saved);
  free(A);
  mj_deleteData(plain);
  mj_deleteData(twice);
  mj_deleteData(halves);
  mj_deleteData(copied);
  mj_deleteData(stored);
  mj_deleteData(differ);
  mj_deleteModel(m);
}


//---------------------------------- threads -------------------------------------------------------

typedef struct Task_ {
  const mjModel* m;
  mjData* d;
} Task;


static void* runTask(void* argument) {
  Task* task = argument;
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 300; i++) {
      control(task[k].m, task[k].d);
      mj_step(task[k].m, task[k].d);
    }
  }
  return NULL;
}


// two models and eight data in four threads
static void test_threads(void** state) {
  (void)state;
  mjModel* m[2] = {plainZoo(), makeModel(zoo, 0.002, "pyramidal", "Euler", "Newton", "dense",
                                         "island='disable'")};
  mjData *plain[2], *d[8];
  Task task[8];
  pthread_t thread[4];
  for (int k = 0; k < 8; k++) {
    d[k] = mj_makeData(m[k % 2]);
    task[k] = (Task){m[k % 2], d[k]};
  }
  for (int k = 0; k < 4; k++) {
    assert_int_equal(pthread_create(&thread[k], NULL, runTask, task + 2 * k), 0);
  }
  for (int k = 0; k < 4; k++) {
    pthread_join(thread[k], NULL);
  }
  Task alone[2];
  for (int k = 0; k < 2; k++) {
    plain[k] = mj_makeData(m[k]);
    alone[k] = (Task){m[k], plain[k]};
  }
  runTask(alone);
  for (int k = 0; k < 8; k++) {
    assertSame(m[k % 2], plain[k % 2], d[k]);
    mj_deleteData(d[k]);
  }
  for (int k = 0; k < 2; k++) {
    mj_deleteData(plain[k]);
    mj_deleteModel(m[k]);
  }
}


//---------------------------------- accuracy ------------------------------------------------------

// tip of a geared arm that swings against an elastic wall; halving the step halves the error
static void test_order(void** state) {
  (void)state;
  double q[6];
  for (int k = 0; k < 6; k++) {
    double h = k < 5 ? 0.004 / (1 << k) : 0.004 / 256;
    mjModel* m = makeModel(
        "<mujoco><option timestep='%.17g' gravity='0 0 0'/>"
        "<extension><plugin plugin='mjgear.transmission'><instance name='legs'>"
        "<config key='joint' value='a b'/><config key='gamma_u' value='0.1'/>"
        "<config key='gamma_v' value='0.4 0.6'/></instance></plugin></extension>"
        "<default><joint armature='.2' damping='.5' axis='0 0 1'/></default>"
        "<worldbody><geom type='plane' size='2 2 1' pos='0 -.2 0' zaxis='0 1 0'/><body>"
        "<joint name='a'/><geom type='capsule' size='.02' fromto='0 0 0 .5 0 0' contype='0'/>"
        "<body pos='.5 0 0'><joint name='b'/><geom type='sphere' size='.05' pos='.4 0 0' "
        "condim='1' "
        "solref='-2000 -20' solimp='.5 .5 1'/></body></body></worldbody>"
        "<actuator><motor joint='a'/></actuator></mujoco>",
        h);
    mjData* d = mj_makeData(m);
    while (d->time < 0.8 - 1e-9) {
      d->ctrl[0] = -4 * cos(3 * d->time);
      mj_step(m, d);
    }
    q[k] = d->qpos[0] + d->qpos[1];
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  double first = fabs(q[0] - q[5]), last = fabs(q[4] - q[5]);
  print_message("error at h = 4, 2, 1, 0.5, 0.25 ms: %.3g %.3g %.3g %.3g %.3g\n", first,
                fabs(q[1] - q[5]), fabs(q[2] - q[5]), fabs(q[3] - q[5]), last);
  assert_true(last < first / 10);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forces),   cmocka_unit_test(test_all),  cmocka_unit_test(test_noslip),
      cmocka_unit_test(test_freeTree), cmocka_unit_test(test_bits), cmocka_unit_test(test_threads),
      cmocka_unit_test(test_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
