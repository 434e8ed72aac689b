// Drawings of the plugin, read back from the engine's scene.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "observe/visualize.h"
#include "plugin_models.h"

#define MODEL                                                                            \
  "<mujoco><option gravity='0 0 0'/><extension><plugin plugin='mjgear.transmission'>"    \
  "<instance name='a'><config key='joint' value='j'/><config key='gamma_u' value='.2'/>" \
  "<config key='gamma_v' value='.5'/></instance></plugin></extension><worldbody><body>"  \
  "<joint name='j' type='%s' axis='0 1 0' armature='1'/>"                                \
  "<geom type='capsule' size='.05' fromto='0 0 0 .5 0 0' mass='3'/></body></worldbody>"  \
  "<actuator><motor joint='j'/></actuator></mujoco>"

static mjvScene scene;
static mjvOption option;
static mjvCamera camera;


// draw; returns the number of geoms
static int draw(const mjModel* m, mjData* d) {
  mjv_updateScene(m, d, &option, NULL, &camera, mjCAT_ALL, &scene);
  return scene.ngeom;
}


// number of decorative geoms in a colour
static int countColor(const float rgb[3]) {
  int n = 0;
  for (int i = 0; i < scene.ngeom; i++) {
    n += scene.geoms[i].category == mjCAT_DECOR && !memcmp(scene.geoms[i].rgba, rgb, 12);
  }
  return n;
}


static void shows(const mjModel* m, mjData* d, int mode) {
  draw(m, d);
  for (int k = 0; k < mjgpNGEARSTATE; k++) {
    int n = countColor(mjgpStateColor[k]);
    if ((n > 0) != (k == mode)) {
      fail_msg("%d geoms in the colour of '%s', expected those of '%s'", n, mjgpStateName[k],
               mjgpStateName[mode]);
    }
  }
}


// colours of hinge and slide in each mode
static void test_modes(void** state) {
  static const char* const types[] = {"hinge", "slide"};
  for (int k = 0; k < 2; k++) {
    mjModel* m = makeModel(MODEL, types[k]);
    mjData* d = mj_makeData(m);
    mjv_makeScene(m, &scene, 1000);

    // a motor that is pressed against an equal load is still: no, nothing acts: it stands
    mj_forward(m, d);
    shows(m, d, mjgpGEAR_STUCK);

    // the motor moves the link
    d->ctrl[0] = 10;
    for (int i = 0; i < 100; i++) {
      mj_step(m, d);
    }
    mj_forward(m, d);
    assert_true(d->qvel[0] > 0);
    shows(m, d, mjgpGEAR_DRIVING);

    // the load pushes the link and, through it, the rotor
    d->ctrl[0] = 0;
    d->qfrc_applied[0] = 30;
    mj_forward(m, d);
    shows(m, d, mjgpGEAR_DRIVEN);

    // friction acts against motion: the arrow of a slide points against the axis
    if (k == 1) {
      const mjvGeom* arrow = NULL;
      for (int i = 0; i < scene.ngeom; i++) {
        arrow = scene.geoms[i].type == mjGEOM_ARROW ? scene.geoms + i : arrow;
      }
      assert_non_null(arrow);
      assert_true(arrow->mat[5] < -0.99f);
    }
    mjv_freeScene(&scene);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// a rotor in its gap without friction reaches the side after sqrt(2 half_gap J / torque);
// the colour is the gap's until then, and afterwards a driving motor's
static void test_gap(void** state) {
  static const char* const types[] = {"hinge", "slide"};
  for (int k = 0; k < 2; k++) {
    mjModel* m = makeModel(
        "<mujoco><option gravity='0 0 0' timestep='1e-3'/><extension>"
        "<plugin plugin='mjgear.transmission'><instance name='a'><config key='joint' value='j'/>"
        "<config key='gamma_u' value='.2'/><config key='gamma_v' value='.5'/>"
        "<config key='backlash' value='exact'/><config key='half_gap' value='.02'/>"
        "<config key='stiffness' value='1e4'/><config key='damping' value='100'/>"
        "<config key='rotor_inertia' value='.1'/></instance></plugin></extension><worldbody><body>"
        "<joint name='j' type='%s' axis='0 1 0' damping='1'/>"
        "<geom type='capsule' size='.05' fromto='0 0 0 .5 0 0' mass='3'/></body></worldbody>"
        "<actuator><motor joint='j'/></actuator></mujoco>",
        types[k]);
    mjData* d = mj_makeData(m);
    mjv_makeScene(m, &scene, 1000);
    d->ctrl[0] = 1;
    mjtNum touch = mju_sqrt(2 * .02 * .1 / 1);
    int needle = !k;  // at a hinge it has the colour of the gap always
    int n = 0;
    while (d->time < 0.4) {
      mj_step(m, d);
      mj_forward(m, d);
      if (mju_abs(d->time - touch) < 0.005) {
        continue;
      }
      draw(m, d);
      int others = 0;
      for (int mode = 0; mode < mjgpGEAR_IN_GAP; mode++) {
        others += countColor(mjgpStateColor[mode]);
      }
      assert_int_equal(countColor(mjgpStateColor[mjgpGEAR_IN_GAP]) > needle, d->time < touch);
      assert_int_equal(others > 0, d->time > touch);
      n += others > 0;
    }
    assert_true(n > 300 && countColor(mjgpStateColor[mjgpGEAR_DRIVING]) > 0);

    // the motor turns back: it is in the gap before it drives the other way
    d->ctrl[0] = -1;
    int seen[2] = {0};
    for (int i = 0; i < 400; i++) {
      mj_step(m, d);
      mj_forward(m, d);
      draw(m, d);
      seen[0] += countColor(mjgpStateColor[mjgpGEAR_IN_GAP]) > needle;
      seen[1] += countColor(mjgpStateColor[mjgpGEAR_DRIVING]) > 0;
    }
    assert_true(seen[0] > 0 && seen[1] > 0);
    mjv_freeScene(&scene);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// switched off with the joint's group; drawing changes nothing that is simulated
static void test_harmless(void** state) {
  mjModel* m = makeModel(MODEL, "hinge");
  mjData* d = mj_makeData(m);
  mjData* copy = mj_makeData(m);
  mjv_makeScene(m, &scene, 1000);
  d->ctrl[0] = 10;
  mj_step(m, d);
  mj_forward(m, d);
  mj_copyData(copy, m, d);
  int all = draw(m, d);
  option.jointgroup[0] = 0;
  int without = draw(m, d);
  option.jointgroup[0] = 1;
  assert_true(without < all);
  for (int i = 0; i < 50; i++) {
    draw(m, d);
    mj_step(m, d);
    mj_step(m, copy);
    assert_memory_equal(d->qpos, copy->qpos, sizeof(mjtNum));
    assert_memory_equal(d->qvel, copy->qvel, sizeof(mjtNum));
  }
  mjv_freeScene(&scene);

  // a scene without room for it
  mjv_makeScene(m, &scene, 5);
  assert_int_equal(draw(m, d), 5);
  mjv_freeScene(&scene);
  mj_deleteData(copy);
  mj_deleteData(d);
  mj_deleteModel(m);
}


// the ring is outside of the drum and of the square post around the axis, and keeps to the link if
// the axis lies in a floor only
static void test_radius(void** state) {
  static const struct {
    const char* geom;
    mjtNum low;  // farthest point of the geom from the axis, or the link's half-width
    mjtNum high;
  } cases[] = {
      {"<geom type='cylinder' fromto='0 -.02 0 0 .02 0' size='.1'/>", .1, .15},
      {"<geom type='box' size='.08 .1 .08'/>", .08 * 1.4142, .16},
      {"<geom type='capsule' fromto='0 -.3 0 0 .1 0' size='.08'/>", .08, .12},
      {"", .02, .06},
  };
  for (int k = 0; k < 4; k++) {
    mjModel* m = makeModel(
        "<mujoco><option gravity='0 0 0'><flag contact='disable'/></option><extension><plugin "
        "plugin='mjgear.transmission'><instance name='a'>"
        "<config key='joint' value='j'/><config key='gamma_u' value='.1'/><config key='gamma_v' "
        "value='.5'/></instance></plugin>"
        "</extension><statistic extent='1'/><worldbody><geom type='plane' size='3 3 .1'/>%s<body>"
        "<joint name='j' axis='0 1 0' armature='1'/>"
        "<geom type='capsule' size='.02' fromto='0 0 0 .5 0 0'/></body></worldbody></mujoco>",
        cases[k].geom);
    mjData* d = mj_makeData(m);
    mjv_makeScene(m, &scene, 1000);
    mj_forward(m, d);
    draw(m, d);
    int n = 0;
    for (int i = 0; i < scene.ngeom; i++) {
      const mjvGeom* geom = scene.geoms + i;
      if (geom->category == mjCAT_DECOR && geom->type == mjGEOM_BOX) {
        mjtNum outer =
            mju_sqrt(geom->pos[0] * geom->pos[0] + geom->pos[2] * geom->pos[2]) + geom->size[0];
        assert_true(outer > cases[k].low && outer < cases[k].high);
        n++;
      }
    }
    assert_true(n >= 20);
    mjv_freeScene(&scene);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


// with labels of joints the torque is shown
static void test_label(void** state) {
  mjModel* m = makeModel(MODEL, "hinge");
  mjData* d = mj_makeData(m);
  mjv_makeScene(m, &scene, 1000);
  d->ctrl[0] = 15;
  mj_forward(m, d);
  option.label = mjLABEL_JOINT;
  draw(m, d);
  option.label = mjLABEL_NONE;

  // u = 15 - a, t = .7 u - .5 t slipping forward, a = (u - t)/(M - m) with the link's own inertia
  mjtNum M[1];
  mj_fullM(m, d, M);
  double ratio = .7 / 1.5, link = M[0] - 1;
  double u = 15 / (1 + (1 - ratio) / link);
  char expected[32];
  snprintf(expected, sizeof(expected), "%.3g N m", ratio * u);
  int found = 0;
  for (int i = 0; i < scene.ngeom; i++) {
    found += !strcmp(scene.geoms[i].label, expected);
  }
  assert_int_equal(found, 1);
  mjv_freeScene(&scene);
  mj_deleteData(d);
  mj_deleteModel(m);
}


int main(void) {
  loadPlugin();
  mjv_defaultScene(&scene);
  mjv_defaultOption(&option);
  mjv_defaultCamera(&camera);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_modes),  cmocka_unit_test(test_gap),   cmocka_unit_test(test_harmless),
      cmocka_unit_test(test_radius), cmocka_unit_test(test_label),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
