#include "motors.h"

#include <math.h>


void mjg_makeMotors(mjModel* m) {
  for (int i = 0; i < m->nu; i++) {
    // the gains stay where the servo had them: biasprm is 0, -kp, -kv
    if (m->actuator_biastype[i] == mjBIAS_AFFINE) {
      m->actuator_biastype[i] = mjBIAS_NONE;
      m->actuator_gainprm[mjNGAIN * i] = 1;
      m->actuator_ctrllimited[i] = 0;
    }
  }
}


double mjg_servo(const mjModel* m, const mjData* d, int actuator, double goal) {
  int joint = m->actuator_trnid[2 * actuator];
  double position = d->qpos[m->jnt_qposadr[joint]], velocity = d->qvel[m->jnt_dofadr[joint]];
  const mjtNum* bias = m->actuator_biasprm + mjNBIAS * actuator;
  double torque = -bias[1] * (goal - position) + bias[2] * velocity;
  const mjtNum* range = m->actuator_forcerange + 2 * actuator;
  return m->actuator_forcelimited[actuator] ? fmin(range[1], fmax(range[0], torque)) : torque;
}
