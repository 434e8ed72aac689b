#include "configuration/check.h"

#include <stdio.h>
#include <string.h>

#include "configuration/engine.h"
#include "configuration/jacobian.h"
#include "configuration/motors.h"
#include "configuration/names.h"
#include "configuration/sensors.h"
#include "gear/tolerances.h"

// share of a row's length that is independent of the others, above round-off
static const double kIndependent = 1e-9;


void mjgp_checkSolver(mjgReport* report, int solver, int n) {
  if (solver == mjgENUMERATION && n > mjgMAXENUM) {
    mjg_refuse(
        report,
        "enumeration takes at most %d geared joints, and the model has %d; choose another solver",
        mjgMAXENUM, n);
  }
}


// Refuse options of the model with which friction cannot act. where: its first instance.
static void checkModel(mjgReport* report, const mjModel* m, const mjgSettings* settings, int n,
                       const char* where) {
  // flexible bodies need Euler or discrete
  const char* set = m->nflex ? "set <option integrator=\"Euler\"/>"
                             : "set <option integrator=\"implicitfast\"/> (or Euler, implicit, "
                               "discrete)";
  int integrator = m->opt.integrator, discrete = mjgp_isDiscrete(m);
  report->where = where;
  if (integrator == mjINT_RK4) {
    mjg_refuse(report, "the integrator RK4 has no implicit velocity, which gear friction needs; %s",
               set);
  } else if (integrator > mjINT_IMPLICITFAST && !discrete) {
    mjg_refuse(report, "this integrator is not supported; %s", set);
  } else if (discrete && m->nflex) {
    mjg_refuse(report,
               "the integrator discrete is not supported with flexible bodies; %s, with a small "
               "timestep",
               set);
  }
  int flags = mjDSBL_SPRING | mjDSBL_DAMPER;
  if ((m->opt.disableflags & flags) == flags &&
      (!m->nactuator || (m->opt.disableflags & mjDSBL_ACTUATION))) {
    mjg_refuse(report,
               "with springs and dampers disabled the engine calls no plugin in a model without "
               "active actuators; enable the flag spring, damper or actuation");
  }
  report->where = mjgpNAME ", key 'solver'";
  mjgp_checkSolver(report, settings->solver, n);
  report->where = NULL;
}


// Returns 1 if a gear has friction.
static int rubs(const mjgpJoint* joint) {
  double gamma_u, gamma_v, coulomb;
  mjg_frictionAt(&gamma_u, &gamma_v, &coulomb, &joint->gear, 0, 0, 0, 0);
  return gamma_u != 0 || gamma_v != 0 || coulomb != 0 || joint->gear.oneway != 0;
}


// Refuse noslip iterations, which change contact forces after the solution, and with them the
// motion. A gear without friction and gap may have them.
static void checkNoslip(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n) {
  int acts = 0;
  for (int i = 0; i < n && m->opt.noslip_iterations > 0; i++) {
    acts |= rubs(joint + i) || joint[i].brake.actuator >= 0 || joint[i].gap != mjgpGAP_NONE;
  }
  if (acts) {
    mjg_refuse(report,
               "noslip iterations change contact forces after the constraint solver, so that gear "
               "friction would not fit the motion; set <option noslip_iterations=\"0\"/> (impratio "
               "and an elliptic cone reduce slip too)");
  }
}


// Refuse PGS without warm starts: it does not reach the motion for which friction is solved
static void checkPGS(mjgReport* report, const mjModel* m) {
  if (m->opt.solver == mjSOL_PGS && (m->opt.disableflags & mjDSBL_WARMSTART)) {
    mjg_refuse(report,
               "the solver PGS without warm starts does not reach the motion for which gear "
               "friction is solved; enable the flag warmstart, or set <option solver=\"Newton\"/>");
  }
}


// Refuse wrong keys "motor", and LuGre friction behind a gap: the engine integrates its bristles.
static void checkMotors(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n,
                        int slot) {
  mjgpMotors motors;
  mjgp_makeMotors(&motors, report, m, joint, n, slot);
  for (int k = 0; k < m->nactuator; k++) {
    int bristles =
        m->actuator_biastype[k] == mjBIAS_DCMOTOR && m->actuator_dynprm[mjNDYN * k + 5] > 0;
    for (int i = 0; i < n && bristles; i++) {
      if (joint[i].gap == mjgpGAP_ROTOR && mjgp_isMotorOf(&motors, m, k, joint, i)) {
        mjg_refuse(report,
                   mjgpNAME
                   ": actuator '%.60s' has LuGre friction, whose bristles move with the joint and "
                   "not with the rotor behind its gap; leave lugre out, and give the gear coulomb "
                   "and stribeck_friction",
                   mjgp_nameOf(m, mjOBJ_ACTUATOR, k));
        break;
      }
    }
  }
  mju_free(motors.drive);
}


// Refuse a gear as an actuator's plugin: it acts on motor torque, and is no motor.
static void checkActuators(mjgReport* report, const mjModel* m, int slot) {
  for (int i = 0; i < m->nactuator; i++) {
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

// properties of a tendon's actuators, for the check that its motor torque is one number
typedef struct mjgpRopeMotors_ {
  int n;       // actuators
  int gains;   // with a gain that depends on velocity
  int damped;  // viscous friction on the motor's side
} mjgpRopeMotors;

static mjgpRopeMotors motorsOf(const mjModel* m, int tendon) {
  mjgpRopeMotors motors = {0};
  for (int i = 0; i < m->nactuator; i++) {
    if (m->actuator_trntype[i] == mjTRN_TENDON && m->actuator_trnid[2 * i] == tendon) {
      motors.n++;
      motors.gains |= mjgp_hasGain(m, i);
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


// model that this thread's compiler is making, or null; its flags sleep and disable
static _Thread_local const mjModel* compiled;
static _Thread_local int compiled_sleep, compiled_flags;


void mjgp_noteCompiled(const mjModel* m) {
  compiled = m;
  compiled_sleep = m && m->opt.enableflags & mjENBL_SLEEP;
  compiled_flags = m ? m->opt.disableflags : 0;
}


// while it computes lengths of muscles it disables springs, dampers and more
int mjgp_isCompiled(const mjModel* m) {
  return m == compiled && !((m->opt.disableflags ^ compiled_flags) & ~mjDSBL_CONTACT);
}


mjModel mjgp_withoutOptions(const mjModel* m) {
  mjModel copy = *m;
  copy.opt.integrator = mjINT_EULER;
  copy.opt.noslip_iterations = copy.opt.disableflags = copy.opt.enableflags = 0;
  return copy;
}


// Refuse gears between kinematic trees of which one may fall asleep alone, where it would be a wall.
static void checkSleep(mjgReport* report, const mjModel* m, const mjgpJoint* joint) {
  int n, trees = 0, flag = m == compiled ? compiled_sleep : m->opt.enableflags & mjENBL_SLEEP;
  const int* dof = mjgp_rowDofs(&n, m, joint);
  if (joint->gap == mjgpGAP_LOAD) {
    n = 2;
    dof = joint->sides;
  }
  for (int k = 1; k < n; k++) {
    trees |= m->dof_treeid[dof[k]] != m->dof_treeid[dof[0]];
  }
  if (trees && flag) {
    mjgpPlace place = {m, joint->instance, joint->gap == mjgpGAP_LOAD ? "motor_joint" : "tendon",
                       report, 0};
    mjgp_refuseKey(&place,
                   "the gear of %s '%s' connects kinematic trees, which may not fall asleep one by "
                   "one; disable the flag sleep",
                   mjgp_gearKind(joint), mjgp_gearName(m, joint));
  }
}


// Refuse tendons whose motor torque is not one number at the gear.
static void checkTendon(mjgReport* report, const mjModel* m, const mjgpJoint* joint) {
  mjgpPlace place = {m, joint->instance, "tendon", report, 0};
  const char* name = mjgp_gearName(m, joint);
  int n;
  const int* dof = mjgp_rowDofs(&n, m, joint);
  if (!n) {
    mjgp_refuseKey(&place, "tendon '%s' moves no joint; leave it out", name);
    return;
  }
  mjgpRopeMotors motors = motorsOf(m, joint->tendon);
  for (int k = 0; k < n; k++) {
    int other = m->dof_jntid[dof[k]];
    if (m->jnt_actgravcomp[other] || (motors.n && m->jnt_actfrclimited[other])) {
      mjgp_refuseKey(&place, "tendon '%s': joint '%.60s' has %s, which acts behind the gear; %s",
                     name, mjgp_nameOf(m, mjOBJ_JOINT, other),
                     m->jnt_actgravcomp[other] ? "actuatorgravcomp" : "actuatorfrcrange",
                     m->jnt_actgravcomp[other] ? "leave it out" : "give the tendon that range");
    }
  }

  // the engine's matrices leave out terms between different branches of a tree
  int chain = 1;
  for (int k = 1; k < n; k++) {
    chain &= mjgp_isInInertia(m, dof[k], dof[k - 1]);
  }
  if (chain) {
    return;
  }
  if (mjgp_rotorArmature(m, joint) != 0) {
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
}


// Refuse "implicit" where a servo over a tendon couples slides of one body, one with a gear: the
// term is in the engine's derivative, not in its inertia.
static void checkSlides(mjgReport* report, const mjModel* m, const mjgpJoint* joint) {
  int dof = joint->dof;
  for (int t = 0; t < m->ntendon && dof >= 0 && m->opt.integrator == mjINT_IMPLICIT; t++) {
    const int* row = m->ten_J_colind + m->ten_J_rowadr[t];
    int own = 0, other = 0;
    for (int k = 0; k < m->ten_J_rownnz[t]; k++) {
      own |= row[k] == dof;
      for (int p = 0; p < m->D_rownnz[dof] && !mjgp_isInInertia(m, dof, row[k]); p++) {
        other |= m->D_colind[m->D_rowadr[dof] + p] == row[k];
      }
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


static void checkRotor(mjgReport* report, const mjModel* m, const mjgpJoint* joint) {
  mjtNum armature = mjgp_rotorArmature(m, joint);
  if (!(armature >= 0)) {
    mjgpPlace place = {m, joint->instance, mjgp_gearKind(joint), report, 0};
    mjgp_refuseKey(
        &place, "%s '%s' has armature %g with its actuators; the inertia of a rotor is 0 or more",
        mjgp_gearKind(joint), mjgp_gearName(m, joint), armature);
  }
}


// Refuse gears on fixed tendons whose velocities depend on others: friction at rest is not unique.
static void checkDependence(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n) {
  int nv = (int)m->nv, count = 0;
  mjtNum* E = mju_malloc(sizeof(mjtNum) * (size_t)nv * (size_t)(m->ntendon + 1));
  for (int i = 0; i < n; i++) {
    int first = joint[i].tendon < 0 ? 0 : m->tendon_adr[joint[i].tendon];
    if (joint[i].kind != mjgpTRN_TENDON || m->wrap_type[first] != mjWRAP_JOINT) {
      continue;
    }

    // its row, less its projection on joints with gears and on the rows before
    mjtNum *row = E + (size_t)count * (size_t)nv, size = 0;
    mju_zero(row, nv);
    for (int k = first; k < first + m->tendon_num[joint[i].tendon]; k++) {
      row[m->jnt_dofadr[m->wrap_objid[k]]] += m->wrap_prm[k];
      size = mju_max(size, mju_abs(m->wrap_prm[k]));
    }
    for (int k = 0; k < n; k++) {
      if (joint[k].kind == mjgpTRN_JOINT) {
        row[joint[k].dof] = 0;
      }
    }
    for (int k = 0; k < 2 * count; k++) {  // twice, for rounding
      const mjtNum* before = E + (size_t)(k % count) * (size_t)nv;
      mju_addToScl(row, before, -mju_dot(row, before, nv), nv);
    }
    mjtNum rest = mju_norm(row, nv);
    if (!(rest > kIndependent * size)) {
      mjgpPlace place = {m, joint[i].instance, "tendon", report, 0};
      mjgp_refuseKey(
          &place,
          "the velocity of tendon '%s' follows from those of other gears (a brake is one), so that "
          "nothing says how friction at rest is shared; take the gear off one of them",
          mjgp_gearName(m, joint + i));
      continue;
    }
    mju_scl(row, row, 1 / rest, nv);
    count++;
  }
  mju_free(E);
}


//---------------------------------- everything ----------------------------------------------------


mjgpJoint* mjgp_check(int* n, mjgSettings* settings, mjgReport* report, const mjModel* m,
                      int slot) {
  int before = report->count, first = 0;
  mjgpJoint* joint = mjgp_configure(n, settings, report, m, slot);
  int refused = report->count > before;
  char where[mjgpMAXPLACE];
  while (first < m->nplugin - 1 && m->plugin[first] != slot) {
    first++;
  }
  mjgp_writePlace(where, m, first);
  checkModel(report, m, settings, *n, where);
  checkActuators(report, m, slot);
  if (refused) {
    return joint;
  }

  for (int i = 0; i < *n; i++) {
    if (joint[i].kind == mjgpTRN_TENDON) {
      checkTendon(report, m, joint + i);
    }
    checkRotor(report, m, joint + i);
    checkSlides(report, m, joint + i);
    checkSleep(report, m, joint + i);
  }
  checkMotors(report, m, joint, *n, slot);
  checkDependence(report, m, joint, *n);
  report->where = where;
  checkNoslip(report, m, joint, *n);
  checkPGS(report, m);
  report->where = NULL;
  mjgp_checkSensors(report, m, joint, *n, slot);
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


const char* mjgp_remedyOf(const char* error) {
  return strstr(error, "wrapping not supported by tendon armature")
             ? "set the tendon's armature to 0, and give a joint that turns with the motor the "
               "rotor's inertia; "
             : "";
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


// Returns 1 if a gear has no effect while its motor is off.
static int isIdle(const mjModel* m, const mjgpJoint* joint) {
  double gamma_u, gamma_v, coulomb;
  mjg_frictionAt(&gamma_u, &gamma_v, &coulomb, &joint->gear, 0, 0, 0, 0);
  return joint->gap == mjgpGAP_NONE && joint->brake.actuator < 0 &&
         mjgp_rotorArmature(m, joint) == 0 && coulomb == 0 && gamma_v < 1 &&
         (gamma_u != 0 || gamma_v != 0);
}


// Returns 1 if nothing can move a gear: it is not backdrivable and has no motor.
static int isStranded(const mjModel* m, const mjgpMotors* motors, const mjgpJoint* joint, int i) {
  double gamma_u, gamma_v, coulomb;
  int motor = joint[i].gap == mjgpGAP_LOAD ? joint[i].partner : i, driven = 0;
  mjg_frictionAt(&gamma_u, &gamma_v, &coulomb, &joint[i].gear, 0, 0, 0, 0);
  for (int k = 0; k < m->nactuator; k++) {
    driven |= mjgp_isMotorOf(motors, m, k, joint, motor);
  }
  return gamma_v >= 1 && !driven &&
         !(joint[motor].joint >= 0 && m->jnt_actgravcomp[joint[motor].joint]);
}


// Warn where a rotor or link is too light while the teeth do not touch. A gain that the engine
// takes at the start of the step is stable up to h kv = 2 and h^2 kp = 4 times the inertia. With
// damping at the end of the step constraints relax 1 + h d/inertia times slower than their time
// constants say.
static void warnExplicit(mjgReport* report, const mjModel* m, const mjgpMotors* motors,
                         const mjgpJoint* joint, int i) {
  mjtNum h = m->opt.timestep, kp = 0, kv = 0;
  if (joint[i].gap != mjgpGAP_ROTOR || mjgp_isDiscrete(m)) {
    return;
  }
  for (int k = 0; k < m->nactuator; k++) {
    int rope = m->actuator_trntype[k] == mjTRN_TENDON && joint[i].kind == mjgpTRN_JOINT;
    if (!rope && m->actuator_biastype[k] == mjBIAS_AFFINE &&
        mjgp_isMotorOf(motors, m, k, joint, i)) {
      mjtNum moment = m->actuator_gear[6 * m->actuator_outadr[k]];
      kp -= m->actuator_biasprm[mjNBIAS * k + 1] * moment * moment;
      kv -= m->actuator_biasprm[mjNBIAS * k + 2] * moment * moment;
    }
  }
  int euler = m->opt.integrator == mjINT_EULER, dof = joint[i].dof;
  int starts = euler && m->opt.disableflags & mjDSBL_EULERDAMP;
  mjtNum rotor = joint[i].rotor_inertia, link = mjgp_restInertia(m, joint + i);
  mjtNum damped = dof >= 0 ? h * m->dof_damping[dof] / link : 0;
  const char* remedy = mjgpDISCRETE && !m->nflex ? "set <option integrator=\"discrete\"/>"
                                                 : "set a shorter timestep";
  const struct {
    const char *what, *of;
    mjtNum ratio, most;
  } gain[] = {
      {"h kv of its servos", "rotor", euler * h * kv / rotor, 2},
      {"h^2 kp of its servos", "rotor", h * h * kp / rotor, 4},
      {"h times its damping", "link", starts ? damped : 0, 2},
      {"h^2 times its stiffness", "link",
       dof >= 0 ? h * h * m->jnt_stiffness[joint[i].joint] / link : 0, 4},
  };
  for (int k = 0; k < 4; k++) {
    if (gain[k].ratio > gain[k].most) {
      mjg_refuse(report,
                 "%s is %.2g times the inertia of its %s, and this integrator is stable up to %g "
                 "while the teeth do not touch; %s",
                 gain[k].what, gain[k].ratio, gain[k].of, gain[k].most, remedy);
    }
  }
  if (!starts && damped > mjgpDAMPED) {
    mjg_refuse(report,
               "h times its damping is %.2g times the inertia of its link, and the engine's "
               "constraint solver does not know it. Contacts of the link are coarse and may have "
               "no solution while the teeth do not touch; %s",
               damped, remedy);
  }
}


// Warn of instances that are left behind when their robot is attached to another model.
static void warnHomeless(mjgReport* report, const mjModel* m, int slot) {
  for (int i = 0; i < m->nplugin; i++) {
    const char* name = mjgp_nameOf(m, mjOBJ_PLUGIN, i);
    if (m->plugin[i] == slot && !mjgp_countHomes(m, i)) {
      mjg_refuse(report,
                 mjgpNAME
                 ", instance '%.60s': no body references it, so that it is left behind where this "
                 "model is copied or attached to another; write <plugin plugin=\"%s\" "
                 "instance=\"%.60s\"/> in the robot's root body, or in an empty body inside it",
                 name, mjgpNAME, name);
    }
  }
}


void mjgp_warnGears(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n, int slot,
                    int flg_geometry) {
  mjgpMotors motors;
  mjgp_makeMotors(&motors, NULL, m, joint, n, slot);
  warnHomeless(report, m, slot);
  for (int i = 0; i < n; i++) {
    char where[2 * mjgpMAXWORD];
    snprintf(where, sizeof(where), mjgpNAME ", %s '%.60s'", mjgp_gearKind(joint + i),
             mjgp_gearName(m, joint + i));
    report->where = where;
    const char* line = flg_geometry ? mjgp_geometryWarning(m, joint + i) : NULL;
    if (line) {
      mjg_refuse(report, "%s", line);
    }
    if (isIdle(m, joint + i)) {
      mjg_refuse(
          report,
          "the gear has neither rotor inertia (armature) nor constant friction (coulomb), so that "
          "it does nothing while its motor is off; give it one of them");
    }
    if (isStranded(m, &motors, joint, i)) {
      mjg_refuse(report,
                 "the gear cannot be driven back and no actuator is its motor, so that it never "
                 "moves; give it an actuator, name one in the key 'motor', or take the gear off");
    }
    warnExplicit(report, m, &motors, joint, i);
    mjg_warnAssumed(report, &joint[i].description);
  }
  mju_free(motors.drive);
  report->where = NULL;
}


int mjgp_warnLoss(mjgReport* report, const mjModel* m, const mjgpJoint* joint, int n) {
  int first = -1, count = 0;
  mjtNum loss = 0;
  for (int i = n - 1; i >= 0; i--) {
    mjtNum own = joint[i].kind == mjgpTRN_TENDON ? m->tendon_frictionloss[joint[i].tendon]
                                                 : m->dof_frictionloss[joint[i].dof];
    if (own > mjMINVAL && rubs(joint + i)) {  // mjgear.warp makes rows of mjMINVAL
      first = i;
      loss = own;
      count++;
    }
  }
  if (count) {
    char where[mjgpMAXPLACE], more[40] = "";
    mjgp_writePlace(where, m, joint[first].instance);
    if (count > 1) {
      snprintf(more, sizeof(more), ", and so have %d others", count - 1);
    }
    report->where = where;
    mjg_refuse(
        report,
        "%s '%.60s' has frictionloss %g in addition to its gear%s. MuJoCo applies it to the link, "
        "and softly; move the part of it that is the gear's into the key 'coulomb'",
        mjgp_gearKind(joint + first), mjgp_gearName(m, joint + first), loss, more);
    report->where = NULL;
  }
  return count > 0;
}
