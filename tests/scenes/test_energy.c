// Over all scenes and cases, with their own integrator and with discrete: friction never does positive work in a step, a stuck gear stands still, and no
// step stays unsolved.
// Velocities are the engine's, after the step.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "load.h"
#include "play.h"
#include "state/gears.h"
#include "with_plugin.h"

#define MOST 8.0  // s of each case

// joints and steps in which friction gave energy, a stuck gear moved; steps left above the tolerance, steps whose motion
// differs from the solved one: all must be zero
enum {
  POSITIVE,
  MOVING,
  UNSOLVED,
  UNCONFIRMED,
  NSUM
};

static int steps;


// the plugin's object, null if there is none
static const mjgpGears* gearsOf(const mjModel* m, const mjData* d) {
  for (int i = 0; i < m->nplugin; i++) {
    const mjpPlugin* plugin = mjp_getPluginAtSlot(m->plugin[i]);
    if (plugin && !strcmp(plugin->name, "mjgear.transmission")) {
      return (const mjgpGears*)d->plugin_data[i];
    }
  }
  return NULL;
}


// friction in the step that was taken: is it against the motion of the gear, up to rounding
static int dissipates(double* work, const mjgpGears* g, const mjModel* m, const mjData* d, int i) {
  const mjgpJoint* joint = g->config->joint + i;
  double t = g->out.t[i], v = d->qvel[joint->dof], shaft = 0,
         rounding = 1e-10 * g->out.cancellation[i] + 1e-12;

  // behind a gap the gear is on the other side: on the plugin's rotor, or on the motor's
  // joint
  if (joint->gap == mjgpGAP_ROTOR) {
    t = g->out.gap[i].friction;
    v = g->out.gap[i].velocity;
  } else if (joint->gap == mjgpGAP_LOAD) {
    t = 0;
  } else if (joint->gap == mjgpGAP_MOTOR) {
    shaft = g->out.gap[joint->partner].T;
  }
  *work = m->opt.timestep * t * v;
  return t * v >= -(fabs(t) + fabs(shaft)) * (rounding + 1e-13 * fabs(v));
}


// play a case; counts what must be zero. Returns the heat, J
static double run(int sum[NSUM], const mjgScene* scene, const mjgCase* variant, int flg_discrete) {
  char error[2048] = "";
  double heat = 0;
  mjModel* m = mjg_loadScene(scene, variant, NULL, 0, error, sizeof error);
  if (!m) {
    fail_msg("%s", error);
  }
  m->opt.integrator = flg_discrete ? mjINT_DISCRETE : m->opt.integrator;
  mjData* d = mjg_startScene(m);
  const mjgpGears* g = gearsOf(m, d);
  assert_non_null(g);
  mjgPlay play;
  assert_int_equal(mjg_openPlay(&play, scene, variant, m, d, 0, error, sizeof error), 0);
  for (; d->time < fmin(scene->duration, MOST) - m->opt.timestep / 2; steps++) {
    if (mjg_stepPlay(&play, error, sizeof error)) {
      fail_msg("%s", error);
    }
    mjg_clearRows(&play.trajectory);
    for (int a = 0; a < g->in.nactive; a++) {
      double work;
      int i = g->in.active[a], gap = g->config->joint[i].gap != mjgpGAP_NONE;
      sum[POSITIVE] += !dissipates(&work, g, m, d, i);
      sum[MOVING] += !gap && !g->out.mode[i] && fabs(d->qvel[g->config->joint[i].dof]) > 1e-14;
      heat += work;
    }
  }
  sum[UNSOLVED] = g->count.unsolved;
  sum[UNCONFIRMED] = g->count.unconfirmed;

  // with noslip iterations the engine finds another motion
  if (m->opt.noslip_iterations) {
    sum[MOVING] = sum[UNCONFIRMED] = 0;
  }
  mjg_closePlay(&play);
  mj_deleteData(d);
  mj_deleteModel(m);
  return heat;
}


static void friction_never_drives(void** state) {
  int bad = 0;
  double total = 0;
  for (int i = 0; i < mjg_nscene; i++) {
    const mjgScene* scene = mjg_scenes[i];
    for (int k = 0; k < 2 * (scene->nvariant ? scene->nvariant : 1); k++) {
      const mjgCase* variant = scene->nvariant ? &scene->variant[k / 2] : NULL;
      int sum[NSUM] = {0}, flg_discrete = k % 2;
      double heat = run(sum, scene, variant, flg_discrete);
      total += heat;
      if (sum[POSITIVE] || sum[MOVING] || sum[UNSOLVED] || sum[UNCONFIRMED] || heat < 0) {
        print_error(
            "%s/%s%s: friction drives %d times, stuck gears move %d times, %d unsolved, %d "
            "unconfirmed; heat %g J\n",
            scene->name, variant ? variant->name : "", flg_discrete ? ", discrete" : "",
            sum[POSITIVE], sum[MOVING], sum[UNSOLVED], sum[UNCONFIRMED], heat);
        bad++;
      }
    }
  }
  assert_int_equal(bad, 0);

  // the scenes do move
  assert_true(steps > 100000 && total > 2000);
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(friction_never_drives)};
  return cmocka_run_group_tests(tests, loadPlugin, NULL);
}
