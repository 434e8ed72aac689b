// Paths along pieces, against all solutions of steps of two joints, and on an arm that jams

#include "solver/homotopy.h"
#include "two_joints.h"

static int arrivals, misses;  // paths that arrived, and those of them that missed the solution

// the linker lets this stand in front of the plugin's own
int __real_mjgp_iterate(mjgpNewton* p, int flg_connect);
int __wrap_mjgp_iterate(mjgpNewton* p, int flg_connect);


static int only = -1;  // start that paths have; -1: all

int __real_mjgp_startHomotopy(mjgpHomotopy* homotopy, mjgpStart kind);
int __wrap_mjgp_startHomotopy(mjgpHomotopy* homotopy, mjgpStart kind);

int __wrap_mjgp_startHomotopy(mjgpHomotopy* homotopy, mjgpStart kind) {
  return (only < 0 || only == (int)kind) && __real_mjgp_startHomotopy(homotopy, kind);
}


// the end of a path without curves is a solution: Newton's iterations keep its friction
int __wrap_mjgp_iterate(mjgpNewton* p, int flg_connect) {
  const mjgpStep* s = p->s;
  mj_markStack(s->d);
  mjtNum* t = mj_stackAllocNum(s->d, (size_t)s->n);
  mju_copy(t, s->t, s->n);
  int solved = __real_mjgp_iterate(p, flg_connect);
  mju_subFrom(t, s->t, s->n);
  arrivals += !flg_connect;
  misses += !flg_connect && !(solved && mju_norm(t, s->n) <= 1e-6 * mju_norm(s->t, s->n));
  mj_freeStack(s->d);
  return solved;
}


// the path from rest always leads to one
static void test_pivotRest(void** state) {
  Sum sum = run(PATH, 1, 0);
  assert_int_equal(sum.solved, sum.steps);
  assert_true(sum.several > 0);
}


// in two metrics too, if all gears are self-locking
static void test_pivotMetrics(void** state) {
  damping = 1e4;
  Sum sum = run(PATH, 1, 0);
  damping = 0;
  assert_int_equal(sum.solved, sum.steps);
  assert_true(sum.several > 0);
}


static void test_all(void** state) {
  Sum sum = run(ALL, 1, 0);
  assert_int_equal(sum.solved, sum.steps);
}


// joints that break away from static friction slip on the sliding bound
static void test_static(void** state) {
  Sum pivot = run(PATH, 1.6, 0), all = run(ALL, 1.6, 0);
  assert_true(pivot.solved > pivot.steps / 2);
  assert_int_equal(all.solved, all.steps);
}


// joints that friction t moves off its law, as the engine without gears finds
static int countOffLaw(const mjModel* m, mjData* plain, const double* t, double gamma_u,
                       const double* gamma_v) {
  double v[2] = {plain->qvel[0], plain->qvel[m->nv - 1]}, h = m->opt.timestep;
  int wrong = 0;
  mju_scl(plain->qfrc_applied, t, -1, (int)m->nv);
  mj_step(m, plain);
  for (int j = 0; j < m->nv; j++) {
    double u = plain->ctrl[j] - m->dof_armature[j] * (plain->qvel[j] - v[j]) / h;
    double bound = fabs((gamma_u + gamma_v[j]) * u - gamma_v[j] * t[j]), next = plain->qvel[j];
    double size = 1e-6 * (fabs(plain->ctrl[j]) + fabs(u) + fabs(t[j]));
    double gains = h * (fabs(plain->ctrl[j]) + fabs(t[j])) / m->dof_armature[j];
    int moves = fabs(next) > 1e-6 * (fabs(v[j]) + gains);
    wrong +=
        fabs(t[j]) > bound + size || (moves && (t[j] * next < -size || fabs(t[j]) < bound - size));
  }
  return wrong;
}


// Elliptic cones bend the path. The result is compared with the engine without gears: with this
// friction as a torque it moves the joints so that the law holds
static void test_elliptic(void** state) {
  static const int methods[] = {NEWTON, PATH};
  for (int which = 0; which < 2; which++) {
    int solved = 0, steps = 0, wrong = 0;
    seed = 17;
    for (int k = 0; k < 2 * fewer(30); k++) {
      mjModel* m[2];
      const double gamma_v[2] = {between(0, 2), between(0, 2)}, gamma_u = between(0, 0.4);
      makePair(m, gamma_u, gamma_v, 0, 1);
      m[0]->opt.cone = m[1]->opt.cone = mjCONE_ELLIPTIC;
      m[1]->opt.tolerance = 0;
      mjData *d = mj_makeData(m[0]), *plain = mj_makeData(m[1]);
      const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
      for (int i = 0; i < 5; i++) {
        mj_resetData(m[1], plain);
        place(m[1], plain);
        mj_resetData(m[0], d);
        mju_copy(d->qpos, plain->qpos, 2);
        mju_copy(d->qvel, plain->qvel, 2);
        mju_copy(d->ctrl, plain->ctrl, 2);
        int unsolved = g->count.unsolved;
        method = methods[which];
        mj_step(m[0], d);
        method = ALL;
        steps++;
        if (g->count.unsolved > unsolved) {
          continue;
        }
        solved++;
        wrong += countOffLaw(m[1], plain, g->out.t, gamma_u, gamma_v);
      }
      mj_deleteData(d);
      mj_deleteData(plain);
      mj_deleteModel(m[0]);
      mj_deleteModel(m[1]);
    }
    print_message("%s, elliptic cones: %d of %d steps solved, %d wrong\n",
                  methodName[methods[which]], solved, steps, wrong);
    assert_int_equal(wrong, 0);
    assert_true(solved == steps || (methods[which] == NEWTON && solved > 0.8 * steps));
    countWarnings(NULL);
  }
}


// A contact of a slide moves along its normal alone: the path goes through the apex of its
// cone, from open to sticking
static void test_apex(void** state) {
#define FOOT                                                                                   \
  "<option cone='elliptic'/>%s<worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 .1'>" \
  "<joint name='j' type='slide' axis='0 0 1' armature='.5'/><geom size='.1' pos='.3 0 0'/>"    \
  "<geom size='.1' pos='-.3 0 0'/></body></worldbody>"                                         \
  "<actuator><motor joint='j'/></actuator></mujoco>"
#define GEAR                                                                                \
  "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"                     \
  "<config key='joint' value='j'/><config key='gamma_u' value='.2'/><config key='gamma_v' " \
  "value='1.3'/></instance></plugin></extension>"
  mjModel *geared = makeModel("<mujoco>" FOOT, GEAR), *m = makeModel("<mujoco>" FOOT, "");
  mjData *d = mj_makeData(geared), *plain = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  const double gamma_v = 1.3;
  int wrong = 0, touching = 0;
  seed = 3;
  for (int k = 0; k < 200; k++) {
    mj_resetData(geared, d);
    mj_resetData(m, plain);
    d->qpos[0] = plain->qpos[0] = between(-0.01, 0.001);
    d->qvel[0] = plain->qvel[0] = between(-1, 1);
    d->ctrl[0] = plain->ctrl[0] = between(-1000, 1000);
    method = PATH;
    mj_step(geared, d);
    method = ALL;
    touching += d->nefc > 0;
    wrong += countOffLaw(m, plain, g->out.t, 0.2, &gamma_v);
  }
  assert_int_equal(g->count.unsolved + wrong, 0);
  assert_true(touching > 100);
  mj_deleteData(d);
  mj_deleteData(plain);
  mj_deleteModel(geared);
  mj_deleteModel(m);
#undef FOOT
#undef GEAR
}


//---------------------------------- an arm that jams -----------------------------------------------

// servos lay arms with self-locking gears on a table and push on: gears jam against each other, and
// contacts begin to hold or to slip. Every step is solved: with either cone the homotopy
// path solves every step that Newton does not, and alone it solves all steps, around
// pyramids with few linearizations
static void test_jamming(void** state) {
  const int arms = fewer(60);
  static const double from[6] = {0.5, -0.5, 0.5, 0, 0, 0};
  static const double gain[6] = {6000, 6000, 4000, 500, 1000, 100};
  char error[1000] = "";
  loadPlugin();
  mjModel* m = mj_loadXML(MJGEAR_SOURCE_DIR "/scenes/arm/arm.xml", NULL, error, sizeof(error));
  if (!m) {
    fail_msg("%s", error);
  }
  int hard = 0, unsolved = 0, unconfirmed = 0, others[2] = {0}, most[2] = {0};
  seed = 1;
  for (int k = 0; k < arms; k++) {
    m->opt.cone = k % 2 ? mjCONE_ELLIPTIC : mjCONE_PYRAMIDAL;
    m->opt.timestep = k % 3 ? 0.005 : 0.002;
    mjData* d = mj_makeData(m);
    mj_resetDataKeyframe(m, d, 0);
    mjgpGears* g = (mjgpGears*)d->plugin_data[0];
    const double gamma_u = between(0.02, 0.2), gamma_v = between(1.02, 1.6);
    const double to[6] = {between(-0.3, 0.3),   between(0.02, 0.12), between(-0.15, 0.05),
                          between(-0.15, 0.15), between(-0.1, 0.1),  between(0, 2)};
    for (int i = 0; i < 6; i++) {
      g->config->joint[i].gear.gamma_u = gamma_u;
      g->config->joint[i].gear.gamma_v = gamma_v;
    }
    while (d->time < 1) {
      double x = fmin(1, d->time / 0.7), blend = x * x * x * (10 - x * (15 - 6 * x));
      for (int i = 0; i < 6; i++) {
        double goal = from[i] + blend * (to[i] - from[i]);
        d->ctrl[i] = d->time > 0.8 ? 0 : gain[i] * (goal - d->qpos[i] - 0.05 * d->qvel[i]);
      }
      int before = g->count.newton_steps;
      method = k % 4 < 2 ? PATH : ALL;
      mj_step(m, d);
      method = ALL;
      most[k % 2] = mjMAX(most[k % 2], g->count.newton_steps - before);
    }
    others[k % 2] += (int)g->count.by[mjgpMETHOD_NONE];
    hard += g->count.hard;
    unsolved += g->count.unsolved;
    unconfirmed += g->count.unconfirmed;
    mj_deleteData(d);
  }
  print_message(
      "%d hard steps, %d unsolved, %d unconfirmed; without paths %d and %d, linearizations %d and "
      "%d at most\n",
      hard, unsolved, unconfirmed, others[0], others[1], most[0], most[1]);
  assert_true(hard > 16 * arms);
  assert_true(!others[0] && !others[1] && most[0] <= 300 && most[1] <= 3000);
  assert_int_equal(unsolved, 0);
  assert_int_equal(unconfirmed, 0);
  mj_deleteModel(m);
}


//---------------------------------- many gears that lock -------------------------------------------

// a box with two chains of 15 geared links, dampers and motors that falls on a floor
static mjModel* makeChains(const char* integrator) {
  static char links[8000], motors[2000];
  char joints[200] = "";
  size_t size = 0, length = 0, end = 0;
  for (int i = 0; i < 30; i++) {
    size += (size_t)snprintf(
        links + size, sizeof(links) - size,
        "<body pos='%g 0 0'><joint name='j%d' axis='%s' armature='.02' damping='%g'/>"
        "<geom type='capsule' size='.03' fromto='0 0 0 %g 0 0' mass='.3'/>%s",
        i < 15 ? 0.12 : -0.12, i, i % 3 ? "0 1 0" : "0 .3 1", 0.2 + 0.3 * (i % 4),
        i < 15 ? 0.12 : -0.12,
        i % 15 < 14 ? ""
                    : "</body></body></body></body></body></body></body></body></body></body>"
                      "</body></body></body></body></body>");
    length += (size_t)snprintf(motors + length, sizeof(motors) - length,
                               "<motor joint='j%d' gear='10'/>", i);
    end += (size_t)snprintf(joints + end, sizeof(joints) - end, "j%d ", i);
  }
  return makeModel(
      "<mujoco><option timestep='.002' integrator='%s'/><default><geom contype='0' "
      "conaffinity='1'/></default><extension><plugin plugin='mjgear.transmission'>"
      "<instance name='g'><config key='joint' value='%s'/><config key='gamma_u' value='.1'/>"
      "<config key='gamma_v' value='1.3'/><config key='coulomb' value='.02'/></instance></plugin>"
      "</extension><worldbody><geom type='plane' size='3 3 1' contype='1'/><body pos='0 0 .08'>"
      "<freejoint/><geom type='box' size='.12 .08 .04' mass='2'/>%s</body></worldbody><actuator>%s"
      "</actuator></mujoco>",
      integrator, joints, links, motors);
}


// Play the chains with blows and new controls in each step, solved by paths alone. Returns linearizations a step
static double playBlows(const mjModel* m, unsigned draw, int steps, int* unsolved) {
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  seed = draw;
  for (int k = 0; k < steps; k++) {
    for (int i = 0; i < (int)m->nv; i++) {
      d->qvel[i] += between(-1, 1);
    }
    for (int i = 0; i < (int)m->nu; i++) {
      d->ctrl[i] = between(-1, 1);
    }
    method = PATH;
    mj_step(m, d);
    method = ALL;
  }
  *unsolved = (int)g->count.unsolved + (int)g->count.unconfirmed;
  double taken = (double)g->count.newton_steps / steps;
  mj_deleteData(d);
  return taken;
}


// Paths from the last step and from Newton's last iterate are short, also where blows and new controls end every
// motion: over 512 draws a step by paths takes 52.5 linearizations in the mean, with a standard deviation of 12.7 between
// draws; 62 with either start alone, 117 with neither. The bound is three standard errors above the mean of all. A gear whose friction exceeds its bound at the start lets its path miss the solution
static void test_near(void** state) {
  mjModel* m = makeChains("implicit");
  const int draws = fewer(64), steps = 80;
  double taken = 0;
  arrivals = misses = 0;
  for (int draw = 1; draw <= draws; draw++) {
    int unsolved;
    taken += playBlows(m, (unsigned)draw, steps, &unsolved) / draws;
    assert_int_equal(unsolved, 0);
  }
  print_message("%g linearizations in the mean, %d of %d arrivals off the solution\n", taken,
                misses, arrivals);
  assert_true(taken < 52.5 + 3 * 12.7 / sqrt(draws));
  assert_true(arrivals >= 16 * draws);
  assert_int_equal(misses, 0);
  mj_deleteModel(m);
}


// Each start alone; without Newton its last iterate is the last step. Near paths are the shortest, 46 linearizations,
// but a fifth leads away from all solutions. From far they take 118 and from rest 231, of which one of 320 cycles
static void test_starts(void** state) {
  mjModel* m = makeChains("implicit");
  const int steps = fewer(80), draws = 4;
  static const double most[mjgpNSTART] = {60, 60, 150, 300, 300},
                      lost[mjgpNSTART] = {0.35, 0.35, 0, 0.01, 0.01};
  for (only = mjgpSTART_LAST; only < mjgpNSTART; only++) {
    double taken = 0;
    int unsolved, all = 0;
    for (int draw = 1; draw <= draws; draw++) {
      taken += playBlows(m, (unsigned)draw, steps, &unsolved) / draws;
      all += unsolved;
    }
    print_message("start %d: %g linearizations in the mean, %d of %d unsolved\n", only, taken, all,
                  draws * steps);
    assert_true(taken <= most[only]);
    assert_true(all <= lost[only] * draws * steps);
  }
  only = -1;
  mj_deleteModel(m);
}


// When motors reverse, friction of all gears reverses: block Gauss-Seidel over the gears
// changes branches until they agree. Few of such steps are left to the path; half are
// where gears exchange pieces alone
static void test_relax(void** state) {
  mjModel* m = makeChains("Euler");
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  int most = 0;
  seed = 5;
  const int steps = fewer(400);
  for (int k = 0; k < steps; k++) {
    for (int i = 0; i < (int)m->nu && k % 4 == 0; i++) {
      d->ctrl[i] = between(-1, 1);
    }
    int before = g->count.newton_steps;
    mj_step(m, d);
    most = mjMAX(most, g->count.newton_steps - before);
  }
  print_message("%d of %d steps by paths, %d linearizations at most\n",
                (int)g->count.by[mjgpMETHOD_PATH], steps, most);
  assert_int_equal(g->count.unsolved + g->count.unconfirmed, 0);
  assert_true(g->count.by[mjgpMETHOD_PATH] < 60);
  mj_deleteData(d);
  mj_deleteModel(m);
}


//---------------------------------- no end in sight ------------------------------------------------

// A chain that is squeezed to 1787 rad/s at steps of 0.1 s, by 17 elliptic contacts and a friction that breaks away: the
// path turns and turns (found by the fuzzer of models: 88000 linearizations a step). No step takes more linearizations than
// the key maxiter says, once for the group and once for all releases of static friction; beside them are starts of paths, one
// each, and the motion with passive friction. A step that ends there says so, and friction takes power
static void test_maxiter(void** state) {
#define LINK(pos, joint, mass)                       \
  "<body pos='" pos "'>" joint                       \
  "<geom type='box' size='.05 .06 .07' pos='.1 0 0'" \
  " mass='" mass "'/>"
#define HINGE(name, more) "<joint name='" name "' axis='1 1 0' " more "/>"
  static const int limits[] = {0, 1, 1, 20, 300};  // 0: the default
  int unsolved[5] = {0};
  for (int c = 0; c < 5; c++) {
    char key[80] = "";
    if (limits[c]) {
      snprintf(key, sizeof(key), "<config key='%s' value='%d'/>", c == 2 ? "iterations" : "maxiter",
               limits[c]);
    }
    mjModel* m = makeModel(
        "<mujoco><option integrator='Euler' cone='elliptic' jacobian='dense' timestep='.1'>"
        "<flag island='disable'/></option><extension><plugin plugin='mjgear.transmission'>"
        "<instance name='g'><config key='joint' value='j0 j1'/><config key='gamma_u' value='.2'/>"
        "<config key='gamma_v' value='1.4'/><config key='coulomb' value='.1'/>"
        "<config key='static_ratio' value='1.5'/>%s</instance></plugin></extension>"
        "<worldbody><geom type='plane' size='9 9 1'/>"
        LINK("0 0 .05", HINGE("j0", "armature='.01' damping='.1'"), ".1")
        LINK(".25 0 0", HINGE("j1", "armature='.01' damping='.1'"), ".1")
        LINK(".25 0 0", "<joint type='slide' damping='1e6'/>", "1.1")
        LINK(".25 0 0", HINGE("j3", "armature='.02' stiffness='3' springref='.2'"), ".9")
        "<body pos='.25 0 0'>" HINGE("j4", "") "<geom size='.05' pos='.1 0 0' mass='1.6'/></body>"
        "</body></body></body></body></worldbody>"
        "<equality><joint joint1='j0' joint2='j4' polycoef='0 1 0 0 0'/></equality>"
        "<actuator><motor joint='j3' ctrlrange='-1 1'/><motor joint='j3' ctrlrange='-1 1'/>"
        "<velocity joint='j1' kv='5'/></actuator></mujoco>", key);
    mjData* d = mj_makeData(m);
    const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
    int limit = limits[c] ? limits[c] : mjgpBUDGET;
    for (int k = 0; k < 4; k++) {
      for (int i = 0; i < (int)m->nu; i++) {
        d->ctrl[i] = i % 2 ? -1000 : 1000;
      }
      int before = g->count.newton_steps, given_up = g->count.unsolved;
      mj_step(m, d);
      if (g->count.newton_steps < before) {
        before = given_up = 0;  // the engine has reset a motion that diverges
      }
      assert_in_range(g->count.newton_steps - before, 1, 2 * (limit + 100) + 6 * (mjgpINNER + 2));
      if (g->count.unsolved > given_up) {
        assert_int_equal(g->out.info.status, mjgITERATION_LIMIT);
        unsolved[c]++;
        for (int i = 0; i < 2; i++) {
          assert_true(g->out.t[i] * d->qvel[i] >= -1e-6 * fabs(g->out.t[i]));
        }
      }
    }
    mj_deleteData(d);
    mj_deleteModel(m);
  }
#undef LINK
#undef HINGE
  print_message("unsolved steps of 4: %d by default, %d, %d, %d, %d with 1, 1, 20, 300\n",
                unsolved[0], unsolved[1], unsolved[2], unsolved[3], unsolved[4]);
  assert_true(unsolved[1] > unsolved[0] && unsolved[3] >= unsolved[4]);
  assert_int_equal(unsolved[1], unsolved[2]);  // the former name of the key
  countWarnings(NULL);
}


// Free trees and groups with contacts: no solution of a step takes more iterations than maxiter, though some need more
static void test_maxiterOfIterations(void** state) {
  static const int limits[] = {0, 1, 2};  // 0: the default
  for (int floor = 0; floor < 2; floor++) {
    int most[3] = {0}, unsolved[3] = {0};
    for (int c = 0; c < 3; c++) {
      char key[80] = "";
      if (limits[c]) {
        snprintf(key, sizeof(key), "<config key='maxiter' value='%d'/>", limits[c]);
      }
      mjModel* m = makeModel(
          "<mujoco><option timestep='.004'/><extension><plugin plugin='mjgear.transmission'>"
          "<instance name='g'><config key='joint' value='a b c'/><config key='gamma_u' value='.2'/>"
          "<config key='gamma_v' value='.5 1.2 1.1'/><config key='coulomb' "
          "value='.1'/>%s</instance>"
          "</plugin></extension><default><joint axis='0 1 0' armature='.02'/>"
          "<default class='link'><geom type='capsule' size='.03' fromto='0 0 0 .3 0 "
          "0'/></default></default>"
          "<worldbody><geom type='plane' size='9 9 1' contype='%d' conaffinity='%d'/>"
          "<body pos='0 0 .1'><joint name='a'/><geom class='link'/><body pos='.3 0 0'><joint "
          "name='b'/><geom class='link'/>"
          "<body pos='.3 0 0'><joint name='c'/><geom "
          "class='link'/></body></body></body></worldbody>"
          "<actuator><motor joint='a'/><motor joint='b'/><motor joint='c'/></actuator></mujoco>",
          key, floor, floor);
      mjData* d = mj_makeData(m);
      const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
      for (int k = 0; k < 500; k++) {
        for (int i = 0; i < 3; i++) {
          d->ctrl[i] = 8 * sin(.07 * k * (i + 1));
        }
        int given_up = g->count.unsolved;
        mj_step(m, d);
        int gave = g->count.unsolved > given_up;
        assert_true(gave == (g->out.info.status == mjgITERATION_LIMIT));
        most[c] = gave ? most[c] : mjMAX(most[c], g->out.info.iterations);
        unsolved[c] += gave;
        for (int i = 0; i < 3 && gave; i++) {  // its motion is the engine's with this friction
          assert_true(fabs(g->out.v_next[i] - d->qvel[i]) <= 1e-6 * (1 + fabs(d->qvel[i])));
          assert_true(g->out.t[i] * d->qvel[i] >= -1e-6 * fabs(g->out.t[i]));
        }
      }
      mj_deleteData(d);
      mj_deleteModel(m);
    }
    print_message("floor %d: most iterations %d, %d, %d, unsolved %d, %d, %d of 500\n", floor,
                  most[0], most[1], most[2], unsolved[0], unsolved[1], unsolved[2]);
    assert_true(most[0] > 2 && most[1] == 1 && most[2] == 2);
    assert_true(unsolved[0] == 0 && unsolved[1] >= unsolved[2] && unsolved[2] > 0);
  }
  countWarnings(NULL);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pivotRest),
      cmocka_unit_test(test_pivotMetrics),
      cmocka_unit_test(test_all),
      cmocka_unit_test(test_static),
      cmocka_unit_test(test_elliptic),
      cmocka_unit_test(test_apex),
      cmocka_unit_test(test_jamming),
      cmocka_unit_test(test_near),
      cmocka_unit_test(test_starts),
      cmocka_unit_test(test_maxiter),
      cmocka_unit_test(test_maxiterOfIterations),
      cmocka_unit_test(test_relax),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
