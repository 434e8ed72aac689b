// Newton on pieces and states, against all solutions of steps of two joints

#include "two_joints.h"

#include <float.h>

// share by which the acceleration of the first gear is off in each solution of a linear system, as if digits were lost,
// and its friction is not; the last solution
static double lost, last[2];

int __real_mjgp_solveSystem(mjgpSystem* system, const mjgpPiece* piece, const mjtNum* gradient,
                            int flg_factor, mjtNum* da, mjtNum* t);
int __wrap_mjgp_solveSystem(mjgpSystem* system, const mjgpPiece* piece, const mjtNum* gradient,
                            int flg_factor, mjtNum* da, mjtNum* t);

int __wrap_mjgp_solveSystem(mjgpSystem* system, const mjgpPiece* piece, const mjtNum* gradient,
                            int flg_factor, mjtNum* da, mjtNum* t) {
  int solved = __real_mjgp_solveSystem(system, piece, gradient, flg_factor, da, t);
  const mjgpGroup* group = system->s->group;
  int k = group->E_dof[group->E_adr[0]];
  da[k] *= 1 + lost;
  for (int i = 0; i < 2 && group->nv == 2; i++) {
    last[group->dof[i]] = da[i];
  }
  return solved;
}


#define LINK \
  "<geom type='capsule' fromto='0 0 0 0 0 -.2' size='.02' mass='.4' contype='0' conaffinity='0'/>"


// gears that can be driven back: one solution, found by Newton alone nearly always from states that are not near
static void test_unique(void** state) {
  Sum sum = run(NEWTON, 1, 1);
  assert_true(sum.solved >= 0.95 * sum.steps);
  assert_int_equal(sum.several, 0);
}


// self-locking gears with several solutions: the result is one of them, with static friction too
static void test_locking(void** state) {
  Sum lock = run(NEWTON, 1, 0), sticks = run(NEWTON, 1.6, 0);
  assert_true(lock.solved >= 0.8 * lock.steps);
  assert_true(sticks.solved >= 0.8 * sticks.steps);
  assert_true(sticks.hard <=
              0.15 * sticks.steps);  // static friction is released during the iterations
}


// a gear slips during the iterations; in the solution its static bound holds it
static void test_static(void** state) {
  Sum sum = run(NEWTON, 4, 1);
  assert_true(sum.solved >= 0.9 * sum.steps);
  assert_true((sum.held >= 20 || sum.steps < 200) && sum.hard <= 0.1 * sum.steps);
}


// two steps on the forces of the active rows, in two metrics, from states that are not near: what
// they solve is a solution
static void test_forces(void** state) {
  damping = 3;
  smooth = 1;
  Sum lock = run(FORCES, 1, 0), sticks = run(FORCES, 1.6, 0);
  damping = smooth = 0;
  assert_true(lock.solved >= 0.2 * lock.steps && lock.several > 0);
  assert_true(sticks.solved >= 0.2 * sticks.steps && sticks.several > 0);
}


// each gear is on the branch that is connected to rest, the other's friction given: of several
// solutions Newton and the first tries nearly always find the same one, without that rule in one of
// nine steps not
static void test_branch(void** state) {
  int both = 0, differ = 0;
  damping = 3;
  smooth = 1;
  seed = 11;
  for (int k = 0; k < 40; k++) {
    mjModel* m[2];
    const double gamma_v[2] = {between(1, 2), between(1, 2)};
    makePair(m, between(0, 0.4), gamma_v, 0, 1);
    mjData *d = mj_makeData(m[0]), *plain = mj_makeData(m[1]);
    const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
    for (int i = 0; i < 5; i++) {
      double v[2][2];
      int solved = 1;
      place(m[1], plain);
      for (int which = FORCES; which <= NEWTON; which++) {
        mj_resetData(m[0], d);
        mju_copy(d->qpos, plain->qpos, 2);
        mju_copy(d->qvel, plain->qvel, 2);
        mju_copy(d->ctrl, plain->ctrl, 2);
        int unsolved = g->count.unsolved;
        method = which;
        mj_step(m[0], d);
        method = ALL;
        solved &= g->count.unsolved == unsolved;
        mju_copy(v[which], d->qvel, 2);
      }
      if (solved) {
        both++;
        differ += fabs(v[0][0] - v[1][0]) + fabs(v[0][1] - v[1][1]) > 1e-8;
      }
    }
    mj_deleteData(d);
    mj_deleteData(plain);
    mj_deleteModel(m[0]);
    mj_deleteModel(m[1]);
  }
  damping = smooth = 0;
  countWarnings(NULL);
  print_message("%d of %d steps of both differ\n", differ, both);
  assert_true(both > 50 && differ <= 0.06 * both);
}


// if the load drives a gear with gamma_v = 1, friction does not follow from motion
static void test_parallel(void** state) {
  edge = 1;
  Sum sum = run(NEWTON, 1, 0);
  edge = 0;
  assert_true(sum.solved >= 0.8 * sum.steps);
}


// The residual that Newton reports is the largest unbalanced torque
//   r = M a - force - J' f + t,  f = D max(0, aref - J a)
// over the largest torque, which is at least one of its terms, and at most their sum with the torque of the last change of a, all
// relative to sqrt(M_ii). Numbers of the engine without gears, where linear systems are solved to twelve digits. t is
// the friction that the step has, on the law: on the line of a gear, not of the linear system
static void test_residual(void** state) {
  int compared = 0;
  smooth = 1;
  seed = 17;
  for (int k = 0; k < 40; k++) {
    mjModel* m[2];
    const double gamma_v[2] = {between(0, 1), between(0, 1)};
    makePair(m, between(0, 0.4), gamma_v, 0, 1);
    mjData *d = mj_makeData(m[0]), *plain = mj_makeData(m[1]);
    const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
    for (int i = 0; i < 5; i++) {
      Step s;
      place(m[1], plain);
      describe(&s, m[1], plain, g);
      mj_resetData(m[0], d);
      mju_copy(d->qpos, plain->qpos, 2);
      mju_copy(d->qvel, plain->qvel, 2);
      mju_copy(d->ctrl, plain->ctrl, 2);
      int by = g->count.by[mjgpMETHOD_NEWTON];
      method = NEWTON;
      lost = 1e-12;
      mj_forward(m[0], d);
      lost = 0;
      method = ALL;
      const double* a = d->qacc_warmstart;  // from which the engine's solver starts
      double missing = 0, largest = 0, all = 0, rounding = 0;
      for (int j = 0; j < 2; j++) {
        double own = s.M[2 * j] * a[0] + s.M[2 * j + 1] * a[1], by_rows = 0, size = 0;
        for (int r = 0; r < s.nrow; r++) {
          double jar = s.J[2 * r] * a[0] + s.J[2 * r + 1] * a[1] - s.aref[r];
          by_rows += s.J[2 * r + j] * s.D[r] * fmax(0, -jar);
          size += fabs(s.J[2 * r + j] * s.D[r]) *
                  (fabs(s.J[2 * r] * a[0]) + fabs(s.J[2 * r + 1] * a[1]) + fabs(s.aref[r]));
        }
        double t = g->out.t[j], scale = sqrt(s.M[3 * j]);
        missing = fmax(missing, fabs(own - s.force[j] - by_rows + t) / scale);
        rounding = fmax(rounding, 4 * DBL_EPSILON * size / scale);
        largest = fmax(largest, fmax(fabs(s.M[3 * j] * a[j]), fabs(s.force[j])) / scale);
        double acc = fabs(s.M[3 * j] * a[j]) + fabs(s.M[3 * j] * last[j]);
        all = fmax(all, (acc + fabs(s.force[j]) + fabs(t) + fabs(own) + fabs(by_rows)) / scale);
      }
      int slips =
          g->out.mode[0] && g->out.mode[1];  // a joint at rest has its motion in the residual
      if (g->count.by[mjgpMETHOD_NEWTON] > by && slips && missing > 20 * rounding + 1e-14 * all) {
        if (!(reported >= 0.9 * missing / all && reported <= 1.1 * missing / largest)) {
          print_error("residual %g of %g to %g\n", reported, missing / all, missing / largest);
          assert_true(0);
        }
        compared++;
      }
    }
    mj_deleteData(d);
    mj_deleteData(plain);
    mj_deleteModel(m[0]);
    mj_deleteModel(m[1]);
  }
  smooth = 0;
  countWarnings(NULL);
  print_message("%d residuals compared\n", compared);
  assert_true(compared > 30);
}


// the dense problem that the core solves gives the same; it stands behind Newton
static void test_dense(void** state) {
  Sum sum = run(DENSE, 1, 0);
  assert_true(sum.solved >= 0.8 * sum.steps);
}


// A geared tendon w = x - 2 y is stuck while z, which an equality pulls along with y,
// accelerates: four linear equations
//   M a + J' D (J a - aref) + E' t = force,   E a = -E v / h
// with the numbers of the engine without gears
static void test_heldTendon(void** state) {
  static const char* const format =
      "<mujoco><option timestep='.002' gravity='0 0 0' jacobian='dense'/>%s<worldbody>"
      "<body><joint name='x' type='slide' axis='1 0 0'/><geom size='.1' mass='1.5'/>"
      "<body pos='0 1 0'><joint name='y' type='slide' axis='1 0 0'/><geom size='.1' mass='.8'/>"
      "</body></body>"
      "<body pos='0 2 0'><joint name='z' type='slide' axis='1 0 0'/><geom size='.1' mass='2.5'/>"
      "</body></worldbody><tendon><fixed name='w' armature='.3'><joint joint='x' coef='1'/>"
      "<joint joint='y' coef='-2'/></fixed></tendon><equality><joint joint1='z' joint2='y' "
      "solref='.1 1'/></equality><actuator><motor joint='z'/><motor joint='x'/></actuator>"
      "</mujoco>";
  mjModel* m = makeModel(format,
                         "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"
                         "<config key='tendon' value='w'/><config key='gamma_u' value='.1'/>"
                         "<config key='gamma_v' value='1.2'/><config key='coulomb' value='9'/>"
                         "</instance></plugin></extension>");
  mjModel* plain = makeModel(format, "");
  mjData *d = mj_makeData(m), *p = mj_makeData(plain);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  for (int step = 0; step < 5; step++) {
    mju_copy(p->qpos, d->qpos, 3);
    mju_copy(p->qvel, d->qvel, 3);
    d->ctrl[0] = p->ctrl[0] = 7 - step;
    d->ctrl[1] = p->ctrl[1] = step - 2;
    mj_forward(plain, p);
    assert_int_equal(p->nefc, 1);
    const double E[3] = {1, -2, 0}, J[3] = {p->efc_J[0], p->efc_J[1], p->efc_J[2]};
    double M[9], K[4][4], x[4] = {0}, h = m->opt.timestep;
    mj_fullM(plain, p, M);
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        K[i][j] = M[3 * i + j] + J[i] * p->efc_D[0] * J[j];
      }
      K[i][3] = K[3][i] = E[i];
      x[i] = p->qfrc_smooth[i] + J[i] * p->efc_D[0] * p->efc_aref[0];
      x[3] -= E[i] * d->qvel[i] / h;
    }
    K[3][3] = 0;
    assert_true(solveEquations(K[0], 4, x, 4));
    double next[3];
    mju_addScl(next, d->qvel, x, h, 3);

    int unsolved = g->count.unsolved, by = g->count.by[mjgpMETHOD_NEWTON];
    method = NEWTON;
    mj_step(m, d);
    method = ALL;
    assert_int_equal(g->count.unsolved, unsolved);
    assert_int_equal(g->count.by[mjgpMETHOD_NEWTON], by + 1);
    for (int i = 0; i < 3; i++) {
      assert_true(fabs(d->qvel[i] - next[i]) < 1e-13);
    }
    assert_true(fabs(g->out.t[0] - x[3]) < 1e-10 && fabs(x[3]) > 0.1);
  }
  mj_deleteData(d);
  mj_deleteData(p);
  mj_deleteModel(m);
  mj_deleteModel(plain);
}


// A motor on a tendon w = x - 2 y, whose gain the integrator takes at the end of the step, drives
// two geared joints: its torque on each depends on the velocity of both. The law at the engine's
// own velocities
static void test_sharedMotor(void** state) {
  mjModel* m = makeModel(
      "<mujoco><option timestep='.002' gravity='0 0 0' jacobian='dense' "
      "integrator='implicitfast'/><extension><plugin plugin='mjgear.transmission'>"
      "<instance name='g'><config key='joint' value='x y'/><config key='gamma_u' value='.1'/>"
      "<config key='gamma_v' value='.3'/><config key='coulomb' value='.2'/></instance></plugin>"
      "</extension><worldbody>"
      "<body><joint name='x' type='slide' axis='1 0 0' armature='.1'/><geom size='.1' mass='1.5'/>"
      "<body pos='0 1 0'><joint name='y' type='slide' axis='1 0 0' armature='.2'/>"
      "<geom size='.1' mass='.8'/></body></body><body pos='0 2 0'>"
      "<joint name='z' type='slide' axis='1 0 0'/><geom size='.1' mass='2.5'/></body></worldbody>"
      "<tendon><fixed name='w'><joint joint='x' coef='1'/><joint joint='y' coef='-2'/></fixed>"
      "</tendon><equality><joint joint1='z' joint2='y' solref='.1 1'/></equality>"
      "<actuator><velocity tendon='w' kv='300'/></actuator></mujoco>");
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  const double E[2] = {1, -2}, kv = 300, h = m->opt.timestep;
  int slips = 0;
  for (int step = 0; step < 500; step++) {
    const double v[2] = {d->qvel[0], d->qvel[1]};
    d->ctrl[0] = 0.4 * sin(0.03 * step);
    int by = g->count.by[mjgpMETHOD_NEWTON];
    method = NEWTON;
    mj_step(m, d);
    method = ALL;
    assert_true(g->count.by[mjgpMETHOD_NEWTON] > by);
    assert_int_equal(g->count.hard + g->count.unsolved, 0);
    double force = kv * (d->ctrl[0] - d->qvel[0] + 2 * d->qvel[1]);
    for (int i = 0; i < 2; i++) {
      double u = E[i] * force - m->dof_armature[i] * (d->qvel[i] - v[i]) / h, t = g->out.t[i];
      double bound = fabs(0.4 * u - 0.3 * t) + 0.2, size = kv * (1 + fabs(d->ctrl[0]));
      slips += d->qvel[i] != 0;
      assert_true(fabs(t) <= bound + 1e-10 * size);
      if (d->qvel[i] != 0) {
        assert_true(fabs(t - (d->qvel[i] > 0 ? bound : -bound)) <= 1e-10 * size);
      }
    }
  }
  assert_true(slips > 500);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// Where all gears can be driven back and the metric is one, each step minimizes a convex function.
// A quadruped that its motors throw about: Newton finds each of its steps, the path none
static void test_convex(void** state) {
  char text[8000], legs[4000] = "", names[200] = "", motors[1000] = "";
  for (int i = 0; i < 4; i++) {
    char leg[1000], joints[100], own[300];
    snprintf(leg, sizeof(leg),
             "<body pos='%g %g 0'><joint name='a%d' axis='1 0 0' armature='.01'/>%s"
             "<body pos='0 0 -.2'><joint name='b%d' axis='0 1 0' armature='.01'/>%s"
             "<body pos='0 0 -.2'><joint name='c%d' axis='0 1 0' armature='.01'/>%s"
             "<geom size='.03' pos='0 0 -.2' mass='.05'/></body></body></body>",
             i % 2 ? .25 : -.25, i / 2 ? .15 : -.15, i, LINK, i, LINK, i, LINK);
    snprintf(joints, sizeof(joints), "a%d b%d c%d ", i, i, i);
    snprintf(own, sizeof(own), "<motor joint='a%d'/><motor joint='b%d'/><motor joint='c%d'/>", i, i,
             i);
    strcat(legs, leg);
    strcat(names, joints);
    strcat(motors, own);
  }
  snprintf(text, sizeof(text),
           "<mujoco><option timestep='.004' integrator='discrete'/>%%s<worldbody>"
           "<geom type='plane' size='5 5 1'/><body pos='0 0 .7'><freejoint/>"
           "<geom type='box' size='.3 .15 .06' mass='5'/>%s</body></worldbody><actuator>%s"
           "</actuator></mujoco>",
           legs, motors);
  char gears[600];
  snprintf(gears, sizeof(gears),
           "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"
           "<config key='joint' value='%s'/><config key='gamma_u' value='.2'/>"
           "<config key='gamma_v' value='.8'/><config key='coulomb' value='1.5'/></instance>"
           "</plugin></extension>",
           names);
  mjModel* m = makeModel(text, gears);
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  srand(1);
  for (int step = 0; step < fewer(6000); step++) {
    for (int i = 0; i < m->nu && step % 20 == 0; i++) {
      d->ctrl[i] = 16 * (rand() / (RAND_MAX + 1.0)) - 8;
    }
    mj_step(m, d);
  }
  print_message("%d steps by Newton, %d by paths\n", (int)g->count.by[mjgpMETHOD_NEWTON],
                (int)g->count.by[mjgpMETHOD_PATH]);
  assert_true(g->count.by[mjgpMETHOD_NEWTON] > fewer(5000));
  assert_int_equal(g->count.by[mjgpMETHOD_PATH] + g->count.unsolved, 0);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// Two links run into their limits and are stopped there in some fifty steps. At the acceleration of
// the last step and the reference of this one the rows of a limit seem open. Newton starts from their
// states in the last step: rows change their state when the limit is reached and left, and a gear may
// change its branch once
static void test_limit(void** state) {
  static const char* const format =
      "<mujoco><option timestep='.002' integrator='implicitfast'/>%s<worldbody>"
      "<body pos='0 0 2'><joint name='a' axis='0 1 0' range='-40 40' armature='.02' "
      "damping='.1'/>" LINK
      "<body pos='0 0 -.2'><joint name='b' axis='0 1 0' range='-30 30' armature='.02' "
      "damping='.1'/>" LINK
      "</body></body></worldbody><actuator><motor joint='a'/><motor "
      "joint='b'/></actuator></mujoco>";
  mjModel* m = makeModel(format,
                         "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"
                         "<config key='joint' value='a b'/><config key='gamma_u' value='.2'/>"
                         "<config key='gamma_v' value='1.2'/><config key='coulomb' value='.05'/>"
                         "</instance></plugin></extension>");
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  int active = 0;
  for (int step = 0; step < 400; step++) {
    d->ctrl[0] = d->ctrl[1] = step < 200 ? 2 : -2;
    mj_step(m, d);
    for (int i = 0; i < d->nefc; i++) {
      active += d->efc_force[i] > 0;
    }
  }
  print_message("%d linearizations of %d steps, %d active rows\n", (int)g->count.newton_steps,
                (int)g->count.coupled, active);
  assert_int_equal(g->count.unsolved, 0);
  assert_true(active > 100);
  assert_true(g->count.newton_steps <= 1.06 * g->count.coupled);
  mj_deleteData(d);
  mj_deleteModel(m);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forces),      cmocka_unit_test(test_branch),
      cmocka_unit_test(test_unique),      cmocka_unit_test(test_locking),
      cmocka_unit_test(test_static),      cmocka_unit_test(test_parallel),
      cmocka_unit_test(test_dense),       cmocka_unit_test(test_heldTendon),
      cmocka_unit_test(test_sharedMotor), cmocka_unit_test(test_convex),
      cmocka_unit_test(test_limit),       cmocka_unit_test(test_residual)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
