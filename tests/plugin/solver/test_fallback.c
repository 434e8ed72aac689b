// Steps that no method solves, and the definition of solved

#include "two_joints.h"


// if no method runs, or all fail and leave their last iterate, friction still drives nothing, and
// the step counts as unsolved
static void test_giveUp(void** state) {
  Sum none = run(NONE, 1, 0), in_vain = run(IN_VAIN, 1, 0);
  assert_int_equal(none.solved, 0);
  assert_int_equal(in_vain.solved, 0);
}


// an unsolved step is reported once a model, for any number of data and resets, with the residual
// of that step
static void test_said(void** state) {
  mjModel* m[2];
  seed = 11;
  const double gamma_v[2] = {0.5, 0.7};
  makePair(m, 0.2, gamma_v, 0, 1);
  mjData *d = mj_makeData(m[0]), *plain = mj_makeData(m[1]);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  countWarnings(NULL);
  int said = 0;
  for (int k = 0; k < 100; k++) {
    place(m[1], plain);
    mj_resetData(m[0], d);
    mju_copy(d->qpos, plain->qpos, 2);
    mju_copy(d->qvel, plain->qvel, 2);
    mju_copy(d->ctrl, plain->ctrl, 2);
    method = NONE;
    mj_step(m[0], d);
    method = ALL;
    assert_int_equal(g->count.unsolved, 1);
    const char* text;
    int count = countWarnings(&text);
    if (count) {
      const char* number = strstr(text, "relative residual ");
      assert_non_null(number);
      double residual = strtod(number + strlen("relative residual "), NULL);
      assert_true(residual > 1e-8 && fabs(residual - g->out.info.residual) <= 1e-5 * residual);
      assert_true(strstr(text, "joint 'a'") || strstr(text, "joint 'b'"));
    }
    said += count;
    if (k % 10 == 9) {
      mj_deleteData(d);
      d = mj_makeData(m[0]);
      g = (const mjgpGears*)d->plugin_data[0];
    }
  }
  assert_int_equal(said, 1);
  mj_deleteData(d);
  mj_deleteData(plain);
  mj_deleteModel(m[0]);
  mj_deleteModel(m[1]);
}


// a joint with its rotor behind a gap, beside a geared one, with stops
static mjModel* makeStops(void) {
  return makeModel(
      "<mujoco><option timestep='0.001' gravity='0 0 0'/><extension>"
      "<plugin plugin='mjgear.transmission'><instance name='g'><config key='joint' value='a'/>"
      "<config key='gamma_u' value='0.2'/><config key='gamma_v' value='0.8'/></instance>"
      "<instance name='r'><config key='joint' value='b'/><config key='gamma_u' value='0.2'/>"
      "<config key='gamma_v' value='0.8'/><config key='backlash' value='exact'/>"
      "<config key='half_gap' value='0.01'/><config key='stiffness' value='500'/>"
      "<config key='damping' value='1'/><config key='rotor_inertia' value='0.2'/></instance>"
      "</plugin></extension><worldbody><body>"
      "<joint name='a' type='slide' armature='.3' range='-.1 .1' limited='true'/>"
      "<geom size='.03' mass='1' contype='0'/>"
      "<body><joint name='b' type='slide' range='-.1 .1' limited='true'/>"
      "<geom size='.03' mass='1' contype='0'/></body></body>"
      "</worldbody></mujoco>");
}


// thrown at a stop: if no method solves the step, friction still takes energy. Kinetic
// energy of links and rotor, and energy of the shaft, motors off
static void test_giveUpGap(void** state) {
  mjModel* m = makeStops();
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  int i = g->config->joint[0].gap == mjgpGAP_ROTOR ? 0 : 1, steps = 0, unsolved = 0, driven = 0,
      grown = 0;
  seed = 5;
  for (int k = 0; k < 40; k++) {
    mj_resetData(m, d);
    for (int j = 0; j < 2; j++) {
      d->qpos[j] = between(-0.09, 0.09);
      d->qvel[j] = between(-2, 2);
    }
    method = k % 2 ? IN_VAIN : NONE;
    double last = INFINITY;
    for (int n = 0; n < 60; n++) {
      int before = d->nefc;
      mj_step(m, d);
      const mjgCouplingStep* gap = g->out.gap + i;
      double Mv[2];
      mj_fwdPosition(m, d);
      mj_mulM(m, d, Mv, d->qvel);
      double energy =
          0.5 * mju_dot(Mv, d->qvel, 2) + 0.5 * 0.2 * gap->velocity * gap->velocity + gap->energy;
      driven += gap->friction * gap->velocity < -1e-9 || g->out.t[1 - i] * d->qvel[1 - i] < -1e-9;

      // contact returns the energy that it took; otherwise energy does not grow
      grown += !before && !d->nefc && energy > last * (1 + 1e-9);
      last = energy;
      steps += before > 0;
    }
    method = ALL;
    unsolved += g->count.unsolved;
  }
  print_message("%d steps at a stop, %d unsolved: friction drove in %d, energy grew in %d\n", steps,
                unsolved, driven, grown);
  countWarnings(NULL);
  assert_true(unsolved > 100 && unsolved == steps);
  assert_int_equal(driven, 0);
  assert_int_equal(grown, 0);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// a geared motor and its load behind a gap: each step has both on their laws
static void test_pair(void** state) {
  const double h = 0.001, inertia = 30, gamma_u = 0.3, gamma_v = 0.8, coulomb = 0.1;
  mjModel* m = makeModel(
      "<mujoco><option timestep='%g' gravity='0 0 0'/><extension>"
      "<plugin plugin='mjgear.transmission'><instance name='g'><config key='joint' value='load'/>"
      "<config key='motor_joint' value='motor'/><config key='gamma_u' value='%g'/>"
      "<config key='gamma_v' value='%g'/><config key='coulomb' value='%g'/>"
      "<config key='backlash' value='exact'/><config key='half_gap' value='0.01'/>"
      "<config key='stiffness' value='20000'/><config key='damping' value='5'/></instance>"
      "</plugin></extension><worldbody><body>"
      "<joint name='motor' type='slide' armature='%g' range='-.2 .2' limited='true'/>"
      "<geom size='.03' mass='1' contype='0'/></body><body>"
      "<joint name='load' type='slide' range='-.1 .1' limited='true'/>"
      "<geom size='.03' mass='1' contype='0'/></body></worldbody>"
      "<actuator><motor joint='motor'/></actuator></mujoco>",
      h, gamma_u, gamma_v, coulomb, inertia);
  mjData* d = mj_makeData(m);
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  int solved = 0, unsolved = 0, pressed = 0;
  double worst = 0;
  seed = 9;
  for (int k = 0; k < 60; k++) {
    mj_resetData(m, d);
    d->qpos[1] = between(-0.1, 0.1);
    d->qpos[0] = d->qpos[1] + between(-0.012, 0.012);
    d->qvel[0] = between(-1, 1);
    d->qvel[1] = between(-1, 1);
    d->ctrl[0] = between(-30, 30);
    for (int n = 0; n < 40; n++) {
      double v = d->qvel[0];
      mj_step(m, d);

      // torque of the shaft, and friction of the motor beside it
      double shaft = d->qfrc_passive[1], t = -d->qfrc_passive[0] - shaft;
      double u = d->ctrl[0] - inertia * (d->qvel[0] - v) / h, next = d->qvel[0];
      double bound = fabs(gamma_u * u + gamma_v * (u - t)) + coulomb;
      double error =
          fabs(next) < 1e-9 ? fmax(0, fabs(t) - bound) : fabs(t - (next > 0 ? bound : -bound));
      worst = fmax(worst, error / (bound + fabs(u) + fabs(shaft)));
      pressed += fabs(shaft) > 1;
    }
    solved += g->count.solved;
    unsolved += g->count.unsolved;
  }
  print_message("%d solved, %d unsolved, %d under load: law %.2g\n", solved, unsolved, pressed,
                worst);
  assert_true(solved > 2000 && pressed > 300);
  assert_int_equal(unsolved, 0);
  assert_true(worst < 1e-8);
  countWarnings(NULL);
  mj_deleteData(d);
  mj_deleteModel(m);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_giveUp),
      cmocka_unit_test(test_said),
      cmocka_unit_test(test_giveUpGap),
      cmocka_unit_test(test_pair),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
