// Gaps behind servos in contact, stiff ones too, against the step's own equation. With torques of
// shafts as functions of the joints' velocities and constraint forces as functions of the
// acceleration it is the gradient of a convex function, with one zero. The shaft is the core's, the
// rest is the engine's.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "configuration/engine.h"
#include "fewer.h"
#include "gear/shafts.h"
#include "mjgear_backlash.h"
#include "plugin_models.h"
#include "solver/law_error.h"
#include "solver/path.h"
#include "state/gears.h"

enum {
  JOINTS = 6,
  STEPS = 200,
  THROW = 40
};

#define KEY(name, value) "<config key='" name "' value='" value "'/>"
#define GAP \
  KEY("backlash", "exact") KEY("half_gap", "0.002") KEY("stiffness", "2000") KEY("damping", "3")
#define BRANCHES        \
  KEY("gamma_u", "0.2") \
  KEY("gamma_v", "%g")  \
  KEY("coulomb", "0.1") KEY("static_ratio", "1.4") GAP KEY("rotor_inertia", "0.02")

static unsigned seed;
static int used;       // steps that the path solved
static int at_once;    // and Newton steps on gaps and constraints
static int forbidden;  // the latter are not tried

// the linker lets these stand in front of the plugin's own
int __real_mjgp_followPath(mjgpNewton* p);
int __wrap_mjgp_followPath(mjgpNewton* p);
int __real_mjgp_newton(mjgpNewton* p, int flg_start);
int __wrap_mjgp_newton(mjgpNewton* p, int flg_start);
mjtNum __real_mjgp_lawError(mjgpStep* s, int* worst);
mjtNum __wrap_mjgp_lawError(mjgpStep* s, int* worst);


int __wrap_mjgp_followPath(mjgpNewton* p) {
  int solved = __real_mjgp_followPath(p);
  used += solved;
  return solved;
}


int __wrap_mjgp_newton(mjgpNewton* p, int flg_start) {
  int solved = !forbidden && __real_mjgp_newton(p, flg_start);
  at_once += solved;
  return solved;
}


// Torques off the law are noticed. Changed by a thousandth: the torque of a loaded shaft,
// and the friction of a slipping motor
static int spoiled[2], missed[2];

mjtNum __wrap_mjgp_lawError(mjgpStep* s, int* worst) {
  mjtNum error = __real_mjgp_lawError(s, worst), *t = s->g->out.t;
  for (int i = 0; i < s->n && error <= mjgpLAW; i++) {
    int load = s->group->joint[i], motor = s->g->config->joint[load].partner, other;
    if (s->g->config->joint[load].gap != mjgpGAP_LOAD) {
      continue;
    }
    for (int which = 0; which < 2; which++) {
      mjtNum size = t[which ? motor : load], before = size;
      if (fabs(size) < 1e-3 || (which && s->g->out.mode[motor] == 0)) {
        continue;
      }
      t[which ? motor : load] += 1e-3 * size;
      spoiled[which]++;
      missed[which] += !(__real_mjgp_lawError(s, &other) > mjgpLAW && (!which || other == motor));
      t[which ? motor : load] = before;
    }
  }
  return error;
}


static double between(double low, double high) {
  seed = seed * 1664525u + 1013904223u;
  return low + (high - low) * (seed / 4294967296.0);
}


//---------------------------------- models ---------------------------------------------------------

static void append(char* xml, size_t size, const char* format, ...) {
  size_t used_size = strlen(xml);
  va_list args;
  va_start(args, format);
  vsnprintf(xml + used_size, size - used_size, format, args);
  va_end(args);
}


// an arm between a floor and a wall, its joints behind gaps with servos of a given h kv over
// inertia, and the same without gears and motors
static void makePair(mjModel* m[2], const char* integrator, double gain, double damping) {
  static const char* const axis[] = {"0 1 0", ".1 1 0", "0 1 .3", "0 0 1"};
  char world[4000] = "", gears[2000] = "", servos[2000] = "", number[3][300] = {"", "", ""},
       joints[100] = "";
  for (int i = 0; i < JOINTS; i++) {
    append(world, sizeof(world),
           "<body pos='%s'><joint name='j%d' axis='%s' limited='true' range='-90 90' damping='%g'/>"
           "<geom type='capsule' size='.03' fromto='0 0 0 .2 0 0' mass='%g' solref='.004 1'/>",
           i ? ".2 0 0" : "0 0 .2", i, axis[(int)between(0, 4)], damping,
           pow(10, between(-1, 0.5)));
  }
  for (int i = 0; i < JOINTS; i++) {
    append(world, sizeof(world), "</body>");
  }
  for (int k = 1; k >= 0; k--) {
    m[k] = makeModel(
        "<mujoco><option timestep='.002' jacobian='dense' cone='pyramidal' "
        "integrator='%s'/>%s"
        "<worldbody><geom type='plane' size='3 3 1'/>"
        "<geom type='plane' size='3 3 1' pos='1 0 0' zaxis='-1 0 0'/>%s</worldbody>"
        "<actuator>%s</actuator></mujoco>",
        integrator, gears, world, servos);
    for (int i = 0; i < JOINTS && k; i++) {
      double inertia = m[1]->dof_M0[i], kv = gain * inertia / 0.002;
      append(joints, sizeof(joints), "j%d ", i);
      append(number[0], sizeof(number[0]), "%g ", 0.1 * inertia);
      append(number[1], sizeof(number[1]), "%g ", 1e4 * inertia);
      append(number[2], sizeof(number[2]), "%g ", 20 * inertia);
      append(servos, sizeof(servos), "<position joint='j%d' kp='%g' kv='%g'/>", i, 10 * kv, kv);
    }
    append(gears, sizeof(gears),
           "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"
           "<config key='joint' value='%s'/><config key='gamma_u' value='.2'/>"
           "<config key='gamma_v' value='.3'/><config key='backlash' value='exact'/>"
           "<config key='half_gap' value='.002'/><config key='rotor_inertia' value='%s'/>"
           "<config key='stiffness' value='%s'/><config key='damping' "
           "value='%s'/></instance></plugin></extension>",
           joints, number[0], number[1], number[2]);
  }
}


static void throwArm(mjData* d) {
  for (int i = 0; i < JOINTS; i++) {
    d->qpos[i] = between(-0.6, 0.6);
    d->qvel[i] = between(-2, 2);
    d->ctrl[i] = between(-1.5, 1.5);
  }
}


//---------------------------------- the equation ---------------------------------------------------

// error in velocity of a step from q, v to d: M^-1 times the gradient there, times the timestep, relative to
// the largest velocity that is part of it. Where a gap closes the torque of its shaft
// jumps, and every torque within the jump is a solution. In two metrics constraints see
// the engine's acceleration, and the integrator has h kv at the joint, where the rotor
// should have it
static double error(const mjModel* plain, mjData* d0, const mjData* d, const mjgpGears* g,
                    const double* v, const mjModel* geared) {
  double a[JOINTS], sum[JOINTS], h = plain->opt.timestep, most = 0, worst = 0;
  int two = plain->opt.integrator == mjINT_IMPLICITFAST;
  for (int i = 0; i < JOINTS; i++) {
    a[i] = two ? d->qacc[i] : (d->qvel[i] - v[i]) / h;
    most = fmax(most, fabs(v[i]) + fabs(d->qvel[i]));
  }
  mj_mulM(plain, d0, sum, a);
  for (int r = 0; r < d->nefc; r++) {
    const double* J = d->efc_J + JOINTS * r;
    double jar = mju_dot(J, a, JOINTS) - d->efc_aref[r];
    mju_addToScl(sum, J, jar < 0 ? d->efc_D[r] * jar : 0, JOINTS);
  }
  for (int i = 0; i < JOINTS; i++) {
    mjgCouplingStep low, high;
    mjg_couplingResolve(&low, g->in.coupling + i, d->qvel[i] + 1e-9 * most, 0);
    mjg_couplingResolve(&high, g->in.coupling + i, d->qvel[i] - 1e-9 * most, 0);
    sum[i] -= d0->qfrc_smooth[i];
    sum[i] -= two ? -geared->actuator_biasprm[i * mjNBIAS + 2] * (d->qvel[i] - v[i]) : 0;
    sum[i] -= mju_clip(sum[i], low.T, high.T);
  }
  mj_solveM(plain, d0, a, sum, 1);
  for (int i = 0; i < JOINTS; i++) {
    worst = fmax(worst, h * fabs(a[i]) / most);
  }
  return worst;
}


// returns 1 if the engine has reset the simulation because of a bad acceleration
static int isReset(mjData* d) {
  int number = d->warning[mjWARN_BADQACC].number + d->warning[mjWARN_BADQVEL].number +
               d->warning[mjWARN_BADQPOS].number;
  d->warning[mjWARN_BADQACC].number = d->warning[mjWARN_BADQVEL].number =
      d->warning[mjWARN_BADQPOS].number = 0;
  return number > 0;
}


// all steps of random arms are solved, and as the equation asks; returns the most
// linearizations of a step
static int play(const char* integrator, double gain, double damping) {
  int steps = 0, contacts = 0, unsolved = 0, most = 0;
  double worst = 0;
  seed = 3;
  used = at_once = 0;
  for (int k = 0; k < fewer(60); k++) {
    mjModel* m[2];
    makePair(m, integrator, gain, damping);
    mjData *d = mj_makeData(m[0]), *plain = mj_makeData(m[1]);
    const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
    for (int i = 0; i < STEPS; i++) {
      if (i % THROW == 0) {
        mj_resetData(m[0], d);
        throwArm(d);
      }
      for (int j = 0; j < JOINTS && i % 10 == 0; j++) {
        d->ctrl[j] = between(-1.5, 1.5);
      }
      double v[JOINTS];
      mju_copy(v, d->qvel, JOINTS);
      mju_copy(plain->qpos, d->qpos, JOINTS);
      mju_copy(plain->qvel, d->qvel, JOINTS);
      mj_forward(m[1], plain);
      int before = g->count.unsolved, linearizations = g->count.newton_steps;
      mj_step(m[0], d);
      unsolved += g->count.unsolved - before;
      most = mjMAX(most, g->count.newton_steps - linearizations);
      steps++;
      contacts += d->nefc > 0;
      if (!isReset(d)) {
        worst = fmax(worst, error(m[1], plain, d, g, v, m[0]));
      }
    }
    mj_deleteData(d);
    mj_deleteData(plain);
    mj_deleteModel(m[0]);
    mj_deleteModel(m[1]);
  }
  print_message(
      "%s: %d steps, %d in contact, %d by Newton, %d by the path, %d unsolved, %d "
      "linearizations of a step: off by %.2g at most\n",
      integrator, steps, contacts, at_once, used, unsolved, most, worst);
  assert_int_equal(unsolved, 0);
  // with a rotor of a thousand times the link's inertia, a velocity has fewer correct digits
  assert_true(worst < 1e-6);
  return most;
}


static void test_stiff(void** state) {
  if (!mjgpDISCRETE) {
    skip();
  }
  play("discrete", 100, 0);
  assert_true(at_once > 0);
}


// constraints are independent of the integrator's damping and gains. The same by paths alone
static void test_two_metrics(void** state) {
  int most = play("implicitfast", 0.5, 0.2);
  assert_true(at_once > 0 && used < 30);  // 111 if shafts do not answer each other
  assert_true(most < 72);
  forbidden = 1;
  play("implicitfast", 0.5, 0.2);
  forbidden = 0;
}


// stiff servos by paths alone
static void test_path(void** state) {
  if (!mjgpDISCRETE) {
    skip();
  }
  forbidden = 1;
  play("discrete", 100, 0);
  forbidden = 0;
  assert_true(used > 0);
}


// torque of a shaft at acceleration a of its joint, by the core
static mjtNum torqueAt(const mjgpShaft* shaft, mjtNum a) {
  mjgCouplingStep step;
  mjg_couplingResolve(&step, shaft->coupling, shaft->v + shaft->h * a, 0);
  return step.T;
}


// Find the largest jump of the torque between two accelerations, on a grid; T: torques on both sides.
static mjtNum steepest(mjtNum T[2], const mjgpShaft* shaft, mjtNum begin, mjtNum end) {
  mjtNum place = begin;
  T[0] = T[1] = 0;
  for (int part = 0; part < 20; part++) {
    mjtNum low = begin + part * (end - begin) / 20, high = low + (end - begin) / 20;
    mjtNum side[2] = {torqueAt(shaft, low), torqueAt(shaft, high)};
    for (int k = 0; k < 50; k++) {
      mjtNum middle = 0.5 * (low + high), now = torqueAt(shaft, middle);
      int lower = fabs(now - side[0]) > fabs(side[1] - now);
      side[lower] = now;
      *(lower ? &high : &low) = middle;
    }
    if (fabs(side[1] - side[0]) > fabs(T[1] - T[0])) {
      place = low;
      mju_copy(T, side, 2);
    }
  }
  return place;
}


// a light leg behind a gap whose motor turns back again and again: where its rotor stops and sticks, the torque of its
// shaft jumps. Its servo's gain belongs to the rotor, and "discrete" has it at the joint
static mjModel* makeLeg(double frictionloss) {
  return makeModel(
      "<mujoco><option timestep='.004' gravity='0 0 0' integrator='discrete'/>"
      "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"
      "<config key='joint' value='j'/><config key='gamma_u' value='.2'/>"
      "<config key='gamma_v' value='.3'/><config key='coulomb' value='.9'/>"
      "<config key='backlash' value='exact'/><config key='half_gap' value='.002'/>"
      "<config key='stiffness' value='374'/><config key='damping' value='.75'/>"
      "<config key='rotor_inertia' value='.005'/></instance></plugin></extension>"
      "<worldbody><body><joint name='j' axis='0 1 0' damping='.05' frictionloss='%g'/>"
      "<inertial pos='0 0 0' mass='1' diaginertia='.03 .03 .03'/></body></worldbody>"
      "<actuator><general joint='j' gainprm='24' biastype='affine' biasprm='0 0 -.5'/></actuator>"
      "</mujoco>",
      frictionloss);
}


// A shaft solved with all others given is on its law. Friction changes the acceleration,
// and the torque of other joints' inertia, along a line; the core's law is evaluated at
// the velocity where the solution is. Every other line goes through the point where the
// torque changes most: at a jump the shaft has both sides
static void test_answer(void** state) {
  int count = 0, jumps = 0;
  mjtNum worst = 0, T[2];
  seed = 7;
  mjModel* m = makeLeg(0);
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  for (int k = 0; k < 5000; k++) {
    int through = k % 2;
    d->ctrl[0] = k % 7 ? d->ctrl[0] : between(-1, 1);
    mj_step(m, d);
    mjgpShaft shaft[2];
    mjtNum inertia = m->dof_M0[0] + g->in.gear[0].implicit, W = between(0.1, 1) / inertia;
    mjtNum W_other = between(-0.5, 0), acc = between(-1000, 1000), unit = 100 * inertia;
    mjtNum x = between(-unit, unit), t0 = between(-unit, unit), t = t0;
    mjgp_makeShaft(shaft, g, m, 0, acc + between(-10, 10));
    mjtNum S = shaft->misplaced, h = shaft->h, far = 1000 + 2 * fabs(shaft->v) / h;
    int jump = 0;
    if (through) {
      mjtNum place = steepest(T, shaft, -far, far);

      // two jumps within round-off are one
      T[0] = torqueAt(shaft, place - 1e-9 * far);
      T[1] = torqueAt(shaft, place + 1e-9 * far);
      jump = fabs(T[1] - T[0]) > 1e-6 * inertia * far;

      // t = -T - S a - x there
      mjtNum middle = -0.5 * (T[0] + T[1]) - S * place;
      t = t0 = middle - x - between(-unit, unit);
      acc = place + W * (middle - x - t0) / (1 - W_other);
    }
    int jumped = mjgp_proxShaft(shaft, W, W_other, acc, x, &t);
    mjtNum a = acc - W * (t - t0), v = shaft->v + h * a, most = fabs(shaft->v) + fabs(v);
    mjtNum found = -t - (x - W_other * (t - t0)) - S * a;
    mjtNum low = torqueAt(shaft, a - 1e-9 * most / h), high = torqueAt(shaft, a + 1e-9 * most / h);
    mjtNum off = found - mju_clip(found, mju_min(low, high), mju_max(low, high));
    worst = fmax(worst, h * W * fabs(off) / most);
    assert_true(fabs(shaft->a - a) <= 1e-8 * (fabs(acc) + fabs(a) + most / h));
    if (jump) {
      assert_int_equal(jumped, 1);
      mjtNum rise = fabs(shaft[0].t - shaft[1].t) - fabs(T[1] - T[0]);
      assert_true(fabs(rise) <= 1e-3 * fabs(T[1] - T[0]));
      jumps++;
    }
    count++;
  }
  print_message("%d shafts answered, %d at jumps: off by %.2g at most\n", count, jumps, worst);
  assert_true(jumps > 20);
  assert_true(worst < 1e-9);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// Within a jump of its torque, too, a shaft gives its rotor the torque that the link receives. A force on the
// link ends the step there; dry friction of the joint takes the step through the coupled solver. From the
// motion alone: the link's momentum gives the torque, the rotor's momentum the friction, which is on its law
static void test_jump(void** state) {
  if (!mjgpDISCRETE) {
    skip();
  }
  const double rotor = 0.005, link = 0.03, damping = 0.05, gamma_u = 0.2, gamma_v = 0.3,
               coulomb = 0.9;
  double worst = 0;
  int jumps = 0;
  seed = 7;
  mjModel* m = makeLeg(0.02);
  mjData* d = mj_makeData(m);
  const double h = m->opt.timestep;
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  const mjgCouplingStep* step = g->out.gap;
  for (int k = 0; k < 5000; k++) {
    d->ctrl[0] = k % 7 ? d->ctrl[0] : between(-1, 1);
    d->qfrc_applied[0] = 0;
    mj_forward(m, d);
    mjgpShaft shaft;
    mjgp_makeShaft(&shaft, g, m, 0, 0);
    double side[2], v = d->qvel[0], before = g->in.coupling->velocity;
    double far = 1000 + 2 * fabs(v) / h, a = steepest(side, &shaft, -far, far);
    side[0] = torqueAt(&shaft, a - 1e-9 * far);
    side[1] = torqueAt(&shaft, a + 1e-9 * far);
    int jump = k % 2 && fabs(side[1] - side[0]) > 0.1;
    if (jump) {
      d->qfrc_applied[0] = link * a + damping * (v + h * a) - 0.5 * (side[0] + side[1]);
    }
    mj_step(m, d);
    double next = d->qvel[0], w = step->velocity;
    double T = link * (next - v) / h + damping * next - d->qfrc_applied[0] - d->qfrc_constraint[0];
    double u = 24 * d->ctrl[0] - 0.5 * w - rotor * (w - before) / h, t = u - T;
    double size = fabs(24 * d->ctrl[0]) + fabs(T) + rotor / h * (fabs(w) + fabs(before)) + coulomb;
    double bound = fabs((gamma_u + gamma_v) * u - gamma_v * t) + coulomb;
    double off = fabs(w) < 1e-9 ? fabs(t) - bound : fabs(t - (w > 0 ? bound : -bound));
    worst = fmax(worst, fmax(off, fabs(T - step->T)) / size);
    jumps += jump && T > mju_min(side[0], side[1]) && T < mju_max(side[0], side[1]);
  }
  print_message("%d steps within a jump, %d unsolved: off by %.2g at most\n", jumps,
                g->count.unsolved, worst);
  assert_int_equal(g->count.unsolved, 0);
  assert_true(jumps > 20);
  assert_true(worst < 1e-9);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// motors and loads that are joints of the model: shafts and friction are on the law, or the step does not count as solved
static void test_pairs(void** state) {
  mjModel* m = makeModel(
      "<mujoco><option timestep='1e-3' gravity='0 0 0'/>"
      "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"
      "<config key='joint' value='j'/><config key='motor_joint' value='m'/>"
      "<config key='gamma_u' value='.2'/><config key='gamma_v' value='.4'/><config key='coulomb' "
      "value='.3'/>"
      "<config key='backlash' value='exact'/><config key='half_gap' value='.01'/>"
      "<config key='stiffness' value='500'/><config key='damping' value='5'/>"
      "</instance></plugin></extension>"
      "<worldbody><body><joint name='m' axis='0 1 0' armature='.4'/>"
      "<inertial pos='0 0 0' mass='1' diaginertia='1e-6 1e-6 1e-6'/></body>"
      "<body><joint name='j' axis='0 1 0' frictionloss='.5'/>"
      "<inertial pos='0 0 0' mass='1' diaginertia='5 5 5'/></body></worldbody>"
      "<actuator><motor joint='m'/></actuator></mujoco>");
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  memset(spoiled, 0, sizeof(spoiled));
  memset(missed, 0, sizeof(missed));
  for (int i = 0; i < 3000; i++) {
    d->ctrl[0] = 8 * sin(5 * d->time);
    mj_step(m, d);
  }
  print_message(
      "motor and load: %d torques of shafts were wrong, %d unseen; %d of friction, %d unseen\n",
      spoiled[0], missed[0], spoiled[1], missed[1]);
  assert_true(spoiled[0] > 1000 && spoiled[1] > 1000);
  assert_int_equal(missed[0] + missed[1], 0);
  assert_int_equal(g->count.unsolved, 0);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// Gears behind gaps that lock, and hold more at rest than where they slip, on an arm that
// falls on a floor. From the motion alone: the difference of motor torque, shaft torque and the
// rotor's momentum is friction of the law
static void checkBranches(double gamma_v) {
  const double h = 1e-3, rotor = 0.02, gamma_u = 0.2, coulomb = 0.1, ratio = 1.4;
  char keys[600];
  snprintf(keys, sizeof(keys), BRANCHES, gamma_v);
  mjModel* m = makeModel(
      "<mujoco><option timestep='%g'/><extension><plugin plugin='mjgear.transmission'>"
      "<instance name='a'>%s<config key='joint' value='a'/></instance>"
      "<instance name='b'>%s<config key='joint' value='b'/></instance></plugin></extension>"
      "<worldbody><geom type='plane' size='2 2 1'/><body pos='0 0 .3'><joint name='a' axis='0 1 "
      "0'/>"
      "<geom type='capsule' size='.03' fromto='0 0 0 .3 0 0' mass='.5'/>"
      "<body pos='.3 0 0'><joint name='b' axis='0 1 0'/>"
      "<geom type='capsule' size='.03' fromto='0 0 0 .3 0 0' mass='.4'/></body></body></worldbody>"
      "<actuator><motor joint='a'/><motor joint='b'/></actuator><sensor>"
      "<plugin plugin='mjgear.transmission' instance='a'/>"
      "<plugin plugin='mjgear.transmission' instance='b'/></sensor></mujoco>",
      h, keys, keys);
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  double worst = 0, T[2] = {0}, u[2] = {0}, before[2] = {0};
  int rests = 0, slips = 0, breaks = 0;
  seed = 3;
  for (int k = 0; k < fewer(20000); k++) {
    if (k % 200 == 0) {
      mj_resetData(m, d);
      for (int i = 0; i < 2; i++) {
        d->qpos[i] = between(-0.5, 0.8);
        d->qvel[i] = between(-2, 2);
      }
    }
    for (int i = 0; i < 2; i++) {
      d->ctrl[i] = between(-1, 1) * pow(10, between(-1, 1));
    }
    mj_step(m, d);
    for (int i = 0; i < 2; i++) {
      // velocity of the rotor before this step, and after the one before
      double w = d->sensordata[m->sensor_adr[i] + 8];
      double t = u[i] - T[i] - rotor * (w - before[i]) / h;
      double size = fabs(u[i]) + fabs(T[i]) + rotor / h * (fabs(w) + fabs(before[i])) + coulomb;
      double bound = fabs((gamma_u + gamma_v) * (T[i] + t) - gamma_v * t) + coulomb;
      if (k % 200 && w == 0) {
        double most = before[i] * t > 0 ? bound : ratio * bound;
        worst = fmax(worst, (fabs(t) - most) / size);
        rests++;
        breaks += fabs(t) > 1.05 * bound;
      } else if (k % 200) {
        worst = fmax(worst, fabs(t - (w > 0 ? bound : -bound)) / size);
        slips++;
      }
      T[i] = d->qfrc_passive[i] + d->qfrc_actuator[i];
      u[i] = d->ctrl[i];
      before[i] = w;
    }
  }
  print_message("%d rotors slip, %d rest, %d of them beyond the sliding bound: law %.2g\n", slips,
                rests, breaks, worst);
  assert_int_equal(g->count.unsolved, 0);
  assert_true(rests > fewer(500) && slips > fewer(1000) && breaks > fewer(50));
  assert_true(worst < 1e-9);
  mj_deleteData(d);
  mj_deleteModel(m);
}


static void test_branches(void** state) {
  checkBranches(1.3);
  checkBranches(0.5);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stiff),   cmocka_unit_test(test_two_metrics),
      cmocka_unit_test(test_path),    cmocka_unit_test(test_answer),
      cmocka_unit_test(test_jump),    cmocka_unit_test(test_pairs),
      cmocka_unit_test(test_branches)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
