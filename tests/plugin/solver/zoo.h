// A model with every kind of constraint, for tests of the coupled step: its text, its gears, its controls.

#ifndef MJGEAR_TESTS_ZOO_H_
#define MJGEAR_TESTS_ZOO_H_

#include <math.h>

#include <mujoco/mujoco.h>

#include "state/gears.h"

// a floating robot with geared legs on a plane, an arm with limits, a mimicked finger, dry friction, a
// tendon with limit and friction, a ball and boxes of all contact dimensions
static const char* const kZoo =
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


static inline const mjgpGears* gearsOf(const mjModel* m, const mjData* d) {
  return (const mjgpGears*)d->plugin_data[mj_name2id(m, mjOBJ_PLUGIN, "legs")];
}


// controls that move and stop the joints
static inline void control(const mjModel* m, mjData* d) {
  static const double size[] = {12, 6, 1, 40};
  for (int i = 0; i < m->nu; i++) {
    double phase = d->time * (3 + i);
    d->ctrl[i] = sin(phase) > 0 ? size[i] * sin(2 * phase) : 0;
  }
}

#endif  // MJGEAR_TESTS_ZOO_H_
