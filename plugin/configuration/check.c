#include "configuration/check.h"

#include "configuration/names.h"
#include "configuration/sensors.h"
#include "friction/engine.h"


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


// refuse noslip iterations, which change contact forces behind the solver, and with them the motion that friction
// was solved for: with hands and legged robots one step of a hundred is not confirmed, one of seven if gears
// lock. A gear that rubs nowhere and has no gap may have them.
static void checkNoslip(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n) {
  int rubs = 0;
  for (int i = 0; i < n && m->opt.noslip_iterations > 0; i++) {
    double gamma_u, gamma_v, coulomb;
    mjg_frictionAt(&gamma_u, &gamma_v, &coulomb, &joint[i].gear, 0, 0, 0, 0);
    rubs |= gamma_u != 0 || gamma_v != 0 || coulomb != 0 || joint[i].gap != mjgpGAP_NONE;
  }
  if (rubs) {
    report->where = mjgpNAME;
    mjg_refuse(report,
               "noslip iterations change contact forces behind the constraint solver, so that "
               "friction cannot hold for the motion that they make; set <option "
               "noslip_iterations=\"0\"/> (impratio and an elliptic cone reduce slip too)");
    report->where = NULL;
  }
}


// refuse actuators of ours: the gear acts on the motor torque of a joint, and is no motor
static void checkActuators(mjgReport* report, const mjModel* m, int slot) {
  for (int i = 0; i < m->nu; i++) {
    if (m->actuator_plugin[i] >= 0 && m->plugin[m->actuator_plugin[i]] == slot) {
      const char* name = mj_id2name(m, mjOBJ_ACTUATOR, i);
      mjg_refuse(report,
                 mjgpNAME
                 ": actuator '%.60s' is a plugin, but the plugin is a gear and drives nothing; "
                 "write <motor> or another actuator, and <plugin instance=\"..\"/> in a body",
                 name ? name : "");
    }
  }
}


// refuse what is not computed
static void checkTendons(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n) {
  for (int i = 0; i < n; i++) {
    if (joint[i].kind == mjgpTRN_TENDON) {
      mjgpPlace place = {m, joint[i].instance, "tendon", report, 0};
      mjgp_refuseKey(&place, "tendon '%s': gears on tendons are not computed; gear its joints",
                     mjgp_gearName(m, joint + i));
    }
  }
}


int mjgp_check(mjgpJoint* joint, int* n, mjgpOptions* options, mjgReport* report, const mjModel* m,
               int slot) {
  // a sensor may name a joint that is refused for another reason, so it is checked behind them
  int refused = mjgp_configure(joint, n, options, report, m, slot);
  checkModel(report, m, options, *n);
  checkActuators(report, m, slot);
  if (refused) {
    return 0;
  }
  checkTendons(report, m, joint, *n);
  checkNoslip(report, m, joint, *n);
  return mjgp_checkSensors(report, m, joint, *n, slot);
}


int mjgp_warnHomeless(mjgReport* report, const mjModel* m, int slot) {
  int before = report->count;
  for (int i = 0; i < m->nplugin; i++) {
    const char* name = mj_id2name(m, mjOBJ_PLUGIN, i);
    if (m->plugin[i] == slot && !mjgp_countHomes(m, i)) {
      mjg_refuse(report,
                 mjgpNAME
                 ", instance '%.60s': no body references it, so that it is left behind where this "
                 "model is attached to another; write <plugin plugin=\"%s\" instance=\"%.60s\"/> "
                 "in the robot's root body",
                 name ? name : "", mjgpNAME, name ? name : "");
    }
  }
  return report->count - before;
}
