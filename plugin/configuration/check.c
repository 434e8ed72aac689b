#include "configuration/check.h"

#include "friction/engine.h"

#include "observe/sensor.h"


void mjgp_checkSolver(mjgReport* report, int solver, int n) {
  if (solver == mjgENUMERATION && n > mjgMAXENUM) {
    mjg_refuse(
        report,
        "enumeration takes at most %d geared joints, the model has %d; choose another solver",
        mjgMAXENUM, n);
  }
}


// refuse options of the model with which friction cannot act
static void checkModel(mjgReport* report, const mjModel* m, const mjgpOptions* options, int n) {
  report->where = mjgpNAME;
  if (m->opt.integrator == mjINT_RK4) {
    mjg_refuse(report,
               "integrator RK4 has no implicit velocity, for which gear friction holds; set "
               "<option integrator=\"implicitfast\"/> (or Euler, implicit, discrete)");
  } else if (m->opt.integrator > mjINT_IMPLICITFAST && !mjgp_isDiscrete(m)) {
    mjg_refuse(report,
               "this integrator is not supported; set <option integrator=\"implicitfast\"/> (or "
               "Euler, implicit, discrete)");
  } else if (mjgp_isDiscrete(m) && m->nflex) {
    mjg_refuse(report,
               "integrator discrete with flexible bodies is not supported; set <option "
               "integrator=\"implicitfast\"/>");
  }
  int flags = mjDSBL_SPRING | mjDSBL_DAMPER;
  if ((m->opt.disableflags & flags) == flags &&
      (!m->nactuator || (m->opt.disableflags & mjDSBL_ACTUATION))) {
    mjg_refuse(report,
               "with springs and dampers disabled the engine calls no plugin in a model without "
               "active actuators; enable the flag spring, damper or actuation");
  }
  report->where = mjgpNAME ", key 'solver'";
  mjgp_checkSolver(report, options->solver.solver, n);
  report->where = NULL;
}


int mjgp_check(mjgpJoint* joint, mjgpOptions* options, mjgReport* report, const mjModel* m,
               int slot) {
  int n = 0;
  for (int i = 0; i < m->nplugin; i++) {
    n += m->plugin[i] == slot ? mjgp_countJoints(m, i) : 0;
  }

  // a sensor may name a joint that is refused for another reason, so it is checked behind them
  int refused = mjgp_configure(joint, options, report, m, slot);
  checkModel(report, m, options, n);
  return refused ? 0 : mjgp_checkSensors(report, m, joint, n, slot);
}
