#include "configuration/check.h"

#include <stdio.h>
#include <string.h>

#include "configuration/jacobian.h"
#include "configuration/names.h"
#include "configuration/sensors.h"
#include "friction/engine.h"

// of the length of a row: what is left of it that others do not explain is more than rounding
static const double kIndependent = 1e-9;


void mjgp_checkSolver(mjgReport* report, int solver, int n) {
  if (solver == mjgENUMERATION && n > mjgMAXENUM) {
    mjg_refuse(
        report,
        "enumeration takes at most %d geared joints, and the model has %d; choose another solver",
        mjgMAXENUM, n);
  }
}


// refuse options of the model with which friction cannot act; where: its first instance
static void checkModel(mjgReport* report, const mjModel* m, const mjgpOptions* options, int n,
                       const char* where) {
  report->where = where;
  if (m->opt.integrator == mjINT_RK4) {
    mjg_refuse(report,
               "the integrator RK4 has no implicit velocity, which gear friction needs; set "
               "<option integrator=\"implicitfast\"/> (or Euler, implicit, discrete)");
  } else if (m->opt.integrator > mjINT_IMPLICITFAST && !mjgp_isDiscrete(m)) {
    mjg_refuse(report,
               "this integrator is not supported; set <option integrator=\"implicitfast\"/> (or "
               "Euler, implicit, discrete)");
  } else if (mjgp_isDiscrete(m) && m->nflex) {
    mjg_refuse(report,
               "the integrator discrete is not supported with flexible bodies; set <option "
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


// has a gear friction of its own
static int rubs(const mjgpJoint* joint) {
  double gamma_u, gamma_v, coulomb;
  mjg_frictionAt(&gamma_u, &gamma_v, &coulomb, &joint->gear, 0, 0, 0, 0);
  return gamma_u != 0 || gamma_v != 0 || coulomb != 0 || joint->gear.oneway != 0;
}


// refuse what only one problem of constraints and friction knows, where friction is solved with constraint forces of the
// last step
static void checkLagged(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n) {
  for (int i = 0; i < n; i++) {
    if (joint[i].brake.actuator >= 0 || joint[i].gear.oneway != 0) {
      mjg_refuse(
          report,
          mjgpNAME
          ", key 'coupling': %s '%.60s' %s, which lagged friction does not know; leave the key out",
          mjgp_gearKind(joint + i), mjgp_gearName(m, joint + i),
          joint[i].brake.actuator >= 0 ? "has a brake" : "is one-way");
      return;
    }
  }
}


// refuse noslip iterations, which change contact forces behind the solver, and with them the motion that friction
// was solved for: with hands and legged robots one step of a hundred is not confirmed, one of seven if gears
// lock. A gear that rubs nowhere and has no gap may have them.
static void checkNoslip(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n,
                        const char* where) {
  int acts = 0;
  for (int i = 0; i < n && m->opt.noslip_iterations > 0; i++) {
    acts |= rubs(joint + i) || joint[i].brake.actuator >= 0 || joint[i].gap != mjgpGAP_NONE;
  }
  if (acts) {
    report->where = where;
    mjg_refuse(report,
               "noslip iterations change contact forces after the constraint solver, so that gear "
               "friction would not fit the motion; set <option noslip_iterations=\"0\"/> (impratio "
               "and an elliptic cone reduce slip too)");
    report->where = NULL;
  }
}


// refuse actuators of ours: the gear acts on the motor torque of a joint, and is no motor
static void checkActuators(mjgReport* report, const mjModel* m, int slot) {
  for (int i = 0; i < m->nu; i++) {
    if (m->actuator_plugin[i] >= 0 && m->plugin[m->actuator_plugin[i]] == slot) {
      mjg_refuse(report,
                 mjgpNAME
                 ": actuator '%.60s' is a plugin, but the plugin is a gear and drives nothing; "
                 "write <motor> or another actuator, and <plugin instance=\"..\"/> in a body",
                 mjgp_nameOf(m, mjOBJ_ACTUATOR, i));
    }
  }
}


//---------------------------------- tendons -------------------------------------------------------

// what the actuators of a tendon are, as far as it decides whether their force passes a gear as one number
typedef struct mjgpMotors_ {
  int n;       // actuators
  int gains;   // with a gain that depends on velocity
  int damped;  // viscous friction on the motor's side
} mjgpMotors;

static mjgpMotors motorsOf(const mjModel* m, int tendon) {
  mjgpMotors motors = {0};
  for (int i = 0; i < m->nactuator; i++) {
    if (m->actuator_trntype[i] == mjTRN_TENDON && m->actuator_trnid[2 * i] == tendon) {
      int bias = m->actuator_biastype[i];
      motors.n++;
      motors.gains |= m->actuator_gaintype[i] != mjGAIN_FIXED ||
                      !(bias == mjBIAS_NONE ||
                        (bias == mjBIAS_AFFINE && m->actuator_biasprm[mjNBIAS * i + 2] == 0));
    }
  }
  if (m->tendon_actuatorid[tendon] != -1) {
    mjtNum poly[mjNPOLY] = {0};
    motors.damped = mj_actuatorDamping(m, mjOBJ_TENDON, tendon, poly) != 0;
    for (int k = 0; k < mjNPOLY; k++) {
      motors.damped |= poly[k] != 0;
    }
  }
  return motors;
}


// do the engine's matrices have room for all pairs of a tendon's dofs: those on one way to a root
static int isChain(const mjModel* m, const mjgpJoint* joint) {
  int n, chain = 1;
  const int* dof = mjgp_rowDofs(&n, m, joint);
  for (int k = 1; k < n; k++) {
    chain &= mjgp_isInInertia(m, dof[k], dof[k - 1]);
  }
  return chain;
}


// model that the compiler is making in this thread, null: none; and whether it has the
// flag sleep
static _Thread_local const mjModel* compiled;
static _Thread_local int compiled_sleep;


void mjgp_noteCompiled(const mjModel* m) {
  compiled = m;
  compiled_sleep = m && m->opt.enableflags & mjENBL_SLEEP;
}


int mjgp_isCompiled(const mjModel* m) {
  return m == compiled;
}


// does a tendon move joints of several trees
static int spansTrees(const mjModel* m, const mjgpJoint* joint) {
  int n, several = 0;
  const int* dof = mjgp_rowDofs(&n, m, joint);
  for (int k = 1; k < n; k++) {
    several |= m->dof_treeid[dof[k]] != m->dof_treeid[dof[0]];
  }
  return several;
}


// refuse what keeps a tendon's motor torque from being one number that passes the gear
static void checkTendon(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int lagged) {
  mjgpPlace place = {m, joint->instance, "tendon", report, 0};
  const char* name = mjgp_gearName(m, joint);
  int n, tendon = joint->tendon;
  const int* dof = mjgp_rowDofs(&n, m, joint);
  if (!n) {
    mjgp_refuseKey(&place, "tendon '%s' moves no joint; leave it out", name);
    return;
  }
  if (lagged && joint->dof < 0) {
    mjgp_refuseKey(&place, "tendon '%s' needs coupling implicit; leave out the key 'coupling'",
                   name);
  }
  mjgpMotors motors = motorsOf(m, tendon);
  for (int k = 0; k < n; k++) {
    int other = m->dof_jntid[dof[k]];
    if (m->jnt_actgravcomp[other] || (motors.n && m->jnt_actfrclimited[other])) {
      mjgp_refuseKey(&place, "tendon '%s': joint '%.60s' has %s, which acts behind the gear; %s",
                     name, mjgp_nameOf(m, mjOBJ_JOINT, other),
                     m->jnt_actgravcomp[other] ? "actuatorgravcomp" : "actuatorfrcrange",
                     m->jnt_actgravcomp[other] ? "leave it out" : "give the tendon that range");
    }
  }

  // the engine leaves out what couples different branches of a tree
  if (isChain(m, joint)) {
    return;
  }
  if (m->tendon_armature[tendon] + mj_actuatorArmature(m, mjOBJ_TENDON, tendon) != 0) {
    mjgp_refuseKey(
        &place,
        "tendon '%s' has armature and connects different branches of the kinematic tree, "
        "whose coupling the engine's inertia leaves out; set its armature to 0, and give "
        "a joint that turns with the motor the rotor's inertia",
        name);
  }
  int implicit = m->opt.integrator == mjINT_IMPLICIT || m->opt.integrator == mjINT_IMPLICITFAST;
  if (implicit && (motors.gains || motors.damped)) {
    mjgp_refuseKey(&place,
                   "tendon '%s' connects different branches of the kinematic tree and its actuator "
                   "has velocity gains or damping, whose coupling this integrator leaves out; set "
                   "<option integrator=\"%s\"/>",
                   name, mjgpDISCRETE ? "discrete" : "Euler");
  }
  if (spansTrees(m, joint) &&
      ((m == compiled && compiled_sleep) || m->opt.enableflags & mjENBL_SLEEP)) {
    mjgp_refuseKey(&place,
                   "tendon '%s' connects kinematic trees, which may not fall asleep one by one; "
                   "disable the flag sleep",
                   name);
  }
}


// is a pair of dofs in the engine's derivatives of forces
static int isInDerivative(const mjModel* m, int i, int j) {
  int found = 0;
  for (int p = m->D_rowadr[i]; p < m->D_rowadr[i] + m->D_rownnz[i]; p++) {
    found |= m->D_colind[p] == j;
  }
  return found;
}


// refuse "implicit" where a servo over a tendon couples slides of one body, one with a
// gear: the engine's derivative has them, its inertia matrix has not
static void checkSlides(mjgReport* report, const mjModel* m, const mjgpJoint* joint) {
  int dof = joint->dof;
  for (int t = 0; t < m->ntendon && dof >= 0 && m->opt.integrator == mjINT_IMPLICIT; t++) {
    const int* row = m->ten_J_colind + m->ten_J_rowadr[t];
    int own = 0, other = 0;
    for (int k = 0; k < m->ten_J_rownnz[t]; k++) {
      own |= row[k] == dof;
      other |= !mjgp_isInInertia(m, dof, row[k]) && isInDerivative(m, dof, row[k]);
    }
    if (own && other && motorsOf(m, t).gains) {
      mjgpPlace place = {m, joint->instance, mjgp_gearKind(joint), report, 0};
      mjgp_refuseKey(
          &place,
          "an actuator with velocity gains moves %s '%s' and another slide of its body by "
          "tendon '%.60s', whose coupling this integrator has but not the inertia of such "
          "a body; set <option integrator=\"implicitfast\"/>",
          mjgp_gearKind(joint), mjgp_gearName(m, joint), mjgp_nameOf(m, mjOBJ_TENDON, t));
      return;
    }
  }
}


// refuse gears whose velocities depend on each other: friction at rest could be shared among them in many ways.
// Fixed tendons only, whose coefficients are constant
static void checkDependence(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n) {
  size_t nv = (size_t)m->nv;
  int count = 0;
  for (int i = 0; i < n; i++) {
    count += joint[i].kind == mjgpTRN_TENDON;
  }
  if (!count) {
    return;
  }
  mjtNum* E = mju_malloc(sizeof(mjtNum) * nv * (size_t)(count + 1));
  int *geared = mju_malloc(sizeof(int) * nv), *pivot = mju_malloc(sizeof(int) * (size_t)count);
  memset(geared, 0, sizeof(int) * nv);
  for (int i = 0; i < n; i++) {
    if (joint[i].kind == mjgpTRN_JOINT) {
      geared[joint[i].dof] = 1;
    }
  }

  // rows without the joints that have gears, in echelon form
  count = 0;
  for (int i = 0; i < n; i++) {
    int tendon = joint[i].tendon;
    if (joint[i].kind != mjgpTRN_TENDON || m->wrap_type[m->tendon_adr[tendon]] != mjWRAP_JOINT) {
      continue;
    }
    mjtNum *row = E + (size_t)count * nv, size = 0, largest = 0;
    mju_zero(row, (int)nv);
    for (int k = m->tendon_adr[tendon]; k < m->tendon_adr[tendon] + m->tendon_num[tendon]; k++) {
      int dof = m->jnt_dofadr[m->wrap_objid[k]];
      row[dof] += geared[dof] ? 0 : m->wrap_prm[k];
      size = mju_max(size, mju_abs(m->wrap_prm[k]));
    }
    for (int k = 0; k < count; k++) {
      const mjtNum* above = E + (size_t)k * nv;
      mju_addToScl(row, above, -row[pivot[k]] / above[pivot[k]], (int)nv);
      row[pivot[k]] = 0;
    }
    for (int k = 0; k < (int)nv; k++) {
      if (mju_abs(row[k]) > largest) {
        largest = mju_abs(row[k]);
        pivot[count] = k;
      }
    }
    if (!(largest > kIndependent * size)) {
      mjgpPlace place = {m, joint[i].instance, "tendon", report, 0};
      mjgp_refuseKey(
          &place,
          "the velocity of tendon '%s' follows from those of other gears, so that nothing "
          "says how friction at rest is shared; take the gear off one of them",
          mjgp_gearName(m, joint + i));
      continue;
    }
    count++;
  }
  mju_free(E);
  mju_free(geared);
  mju_free(pivot);
}


static void checkTendons(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n,
                         int coupling) {
  for (int i = 0; i < n; i++) {
    if (joint[i].kind == mjgpTRN_TENDON) {
      checkTendon(report, m, joint + i, coupling == mjgpLAGGED);
    }
    checkSlides(report, m, joint + i);
  }
  checkDependence(report, m, joint, n);
}


//---------------------------------- everything ----------------------------------------------------


mjgpJoint* mjgp_check(int* n, int* nsensor, mjgpOptions* options, mjgReport* report,
                      const mjModel* m, int slot) {
  int room = 1;
  for (int i = 0; i < m->nplugin; i++) {
    room += mjgp_isOurs(m, i, slot) ? mjgp_countJoints(m, i) : 0;
  }
  mjgpJoint* joint = mju_malloc(sizeof(mjgpJoint) * (size_t)room);

  // a sensor may name a joint that is refused for another reason, so it is checked behind them
  int refused = mjgp_configure(joint, n, options, report, m, slot);
  char where[2 * mjgpMAXWORD];
  int first = 0;
  while (first < m->nplugin - 1 && m->plugin[first] != slot) {
    first++;
  }
  mjgp_writePlace(where, sizeof(where), m, first);
  checkModel(report, m, options, *n, where);
  checkActuators(report, m, slot);
  *nsensor = 0;
  if (!refused) {
    checkTendons(report, m, joint, *n, options->coupling);
    if (options->coupling == mjgpLAGGED) {
      checkLagged(report, m, joint, *n);
    }
    checkNoslip(report, m, joint, *n, where);
    *nsensor = mjgp_checkSensors(report, m, joint, *n, slot);
  }
  return joint;
}


int mjgp_checkKey(mjgReport* report, const char* instance, const char* key) {
  int n;
  const char* const* known = mjgp_keys(&n);
  for (int i = 0; i < n; i++) {
    if (!strcmp(key, known[i])) {
      return 0;
    }
  }
  int nearest = mjg_nearest(key, known, n);
  const char *before = instance[0] ? ", instance '" : "", *behind = instance[0] ? "'" : "";
  mjg_refuse(report, mjgpNAME "%s%s%s: unknown key '%s'; %s%s", before, instance, behind, key,
             nearest < 0 ? "'mjgear keys' lists all" : "did you mean ",
             nearest < 0 ? "" : known[nearest]);
  return 1;
}


const char* mjgp_geometryWarning(const mjModel* m, const mjgpJoint* joint) {
  int slide = mjgp_isLength(m, joint);
  if (joint->description.type == mjgTYPE_LEADSCREW && !slide) {
    return "this is a lead screw on a hinge, but the nut of a lead screw slides; give the joint "
           "type=\"slide\", or the gear type worm";
  }
  if (joint->description.type == mjgTYPE_WORM && slide) {
    return "this is a worm on a slide, but the wheel of a worm turns; give the joint "
           "type=\"hinge\", or the gear type leadscrew";
  }
  return NULL;
}


// one that can be driven back takes its share of what the rotor's inertia and constant friction make of the
// motion: where there is neither the gear does nothing while its motor is off
static void warnIdle(mjgReport* report, const mjModel* m, const mjgpJoint* joint) {
  double gamma_u, gamma_v, coulomb;
  mjg_frictionAt(&gamma_u, &gamma_v, &coulomb, &joint->gear, 0, 0, 0, 0);
  int tendon = joint->kind == mjgpTRN_TENDON, id = tendon ? joint->tendon : joint->joint;
  double inertia = tendon ? m->tendon_armature[id] + mj_actuatorArmature(m, mjOBJ_TENDON, id)
                          : m->dof_armature[joint->dof] + mj_actuatorArmature(m, mjOBJ_JOINT, id);
  if (joint->gap != mjgpGAP_NONE || joint->brake.actuator >= 0 || inertia != 0 || coulomb != 0 ||
      gamma_v >= 1 || (gamma_u == 0 && gamma_v == 0)) {
    return;
  }
  mjg_refuse(report,
             mjgpNAME
             ", %s '%.60s': the gear has neither rotor inertia (armature) nor constant friction "
             "(coulomb), so that it does nothing while its motor is off; give it one of them",
             mjgp_gearKind(joint), mjgp_gearName(m, joint));
}


// where a gear locks by an assumption alone
static void warnAssumed(mjgReport* report, const mjModel* m, const mjgpJoint* joint) {
  char where[2 * mjgpMAXWORD];
  snprintf(where, sizeof(where), mjgpNAME ", %s '%.60s'", mjgp_gearKind(joint),
           mjgp_gearName(m, joint));
  report->where = where;
  mjg_warnAssumed(report, &joint->description);
  report->where = NULL;
}


// instances that would be left behind where their robot becomes part of another model
static void warnHomeless(mjgReport* report, const mjModel* m, int slot) {
  for (int i = 0; i < m->nplugin; i++) {
    const char* name = mjgp_nameOf(m, mjOBJ_PLUGIN, i);
    if (m->plugin[i] == slot && !mjgp_countHomes(m, i)) {
      mjg_refuse(report,
                 mjgpNAME
                 ", instance '%.60s': no body references it, so that it is left behind where this "
                 "model is attached to another; write <plugin plugin=\"%s\" instance=\"%.60s\"/> "
                 "in the robot's root body",
                 name, mjgpNAME, name);
    }
  }
}


void mjgp_warnGears(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n, int slot,
                    int flg_geometry) {
  warnHomeless(report, m, slot);
  for (int i = 0; i < n; i++) {
    const char* line = flg_geometry ? mjgp_geometryWarning(m, joint + i) : NULL;
    if (line) {
      mjg_refuse(report, mjgpNAME ", %s '%.60s': %s", mjgp_gearKind(joint + i),
                 mjgp_gearName(m, joint + i), line);
    }
    warnIdle(report, m, joint + i);
    warnAssumed(report, m, joint + i);
  }
}


int mjgp_warnLoss(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n) {
  int first = -1, count = 0;
  mjtNum loss = 0;
  for (int i = n - 1; i >= 0; i--) {
    mjtNum own = joint[i].kind == mjgpTRN_TENDON
                     ? m->tendon_frictionloss[joint[i].tendon]
                     : m->dof_frictionloss[m->jnt_dofadr[joint[i].joint]];
    if (own > 0 && rubs(joint + i)) {
      first = i;
      loss = own;
      count++;
    }
  }
  if (count) {
    char where[2 * mjgpMAXWORD], more[40] = "";
    mjgp_writePlace(where, sizeof(where), m, joint[first].instance);
    if (count > 1) {
      snprintf(more, sizeof(more), ", and so have %d others", count - 1);
    }
    report->where = where;
    mjg_refuse(report,
               "%s '%.60s' has frictionloss %g besides its gear%s. MuJoCo applies it to the link, "
               "and softly; move the part of it that is the gear's into the key 'coulomb'",
               mjgp_gearKind(joint + first), mjgp_gearName(m, joint + first), loss, more);
    report->where = NULL;
  }
  return count > 0;
}
