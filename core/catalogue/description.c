#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mjgear_params.h"

static const double kPi = 3.14159265358979323846;
static const double kDegree = 3.14159265358979323846 / 180;


//---------------------------------- which keys go together ----------------------------------------

// types that a key belongs to, one bit a type
enum {
  mjgiCOEFF = 1 << mjgTYPE_COEFFICIENTS,
  mjgiEFF = 1 << mjgTYPE_EFFICIENCY,
  mjgiSTART = 1 << mjgTYPE_STARTING,
  mjgiSCREW = 1 << mjgTYPE_LEADSCREW,
  mjgiWORM = 1 << mjgTYPE_WORM,
  mjgiSPUR = 1 << mjgTYPE_SPUR,
  mjgiWEDGE = 1 << mjgTYPE_WEDGE,
  mjgiPLANET = 1 << mjgTYPE_PLANETARY,
  mjgiWAVE = 1 << mjgTYPE_STRAIN_WAVE,
  mjgiCAPSTAN = 1 << mjgTYPE_CAPSTAN,
  mjgiLOSS = 1 << mjgTYPE_LOSS,
  mjgiGEOMETRY =
      mjgiSCREW | mjgiWORM | mjgiSPUR | mjgiWEDGE | mjgiPLANET | mjgiWAVE | mjgiCAPSTAN | mjgiLOSS,
  mjgiALL = mjgiCOEFF | mjgiEFF | mjgiSTART | mjgiGEOMETRY
};

static const int kMember[mjgNKEY] = {
    [mjgKEY_GAMMA_U] = mjgiCOEFF,
    [mjgKEY_GAMMA_V] = mjgiCOEFF,
    [mjgKEY_ETA_FORWARD] = mjgiEFF | mjgiSTART,
    [mjgKEY_ETA_BACKWARD] = mjgiEFF,
    [mjgKEY_STARTING_FORWARD] = mjgiSTART,
    [mjgKEY_STARTING_BACKWARD] = mjgiSTART | mjgiWAVE,
    [mjgKEY_LEAD_ANGLE] = mjgiSCREW | mjgiWORM,
    [mjgKEY_LEAD] = mjgiSCREW | mjgiWORM,
    [mjgKEY_PITCH_DIAMETER] = mjgiSCREW | mjgiWORM,
    [mjgKEY_PRESSURE_ANGLE] = mjgiSCREW | mjgiWORM | mjgiSPUR,
    [mjgKEY_MU] = mjgiSCREW | mjgiWORM | mjgiSPUR | mjgiWEDGE | mjgiCAPSTAN,
    [mjgKEY_RADIUS_IN] = mjgiSPUR,
    [mjgKEY_RADIUS_OUT] = mjgiSPUR,
    [mjgKEY_CONTACT] = mjgiSPUR,
    [mjgKEY_MODULE] = mjgiSPUR,
    [mjgKEY_MESH] = mjgiSPUR,
    [mjgKEY_INPUT_ANGLE] = mjgiWEDGE,
    [mjgKEY_OUTPUT_ANGLE] = mjgiWEDGE,
    [mjgKEY_TEETH_SUN] = mjgiPLANET,
    [mjgKEY_TEETH_PLANET] = mjgiPLANET,
    [mjgKEY_TEETH_RING] = mjgiPLANET,
    [mjgKEY_TEETH_PLANET_OUT] = mjgiPLANET,
    [mjgKEY_TEETH_RING_OUT] = mjgiPLANET,
    [mjgKEY_MESH_EFFICIENCY] = mjgiPLANET,
    [mjgKEY_RATED_TORQUE] = mjgiWAVE,
    [mjgKEY_RATED_EFFICIENCY] = mjgiWAVE,
    [mjgKEY_NO_LOAD_TORQUE] = mjgiWAVE,
    [mjgKEY_WRAP_ANGLE] = mjgiCAPSTAN,
    [mjgKEY_MU_AVG] = mjgiLOSS,
    [mjgKEY_MU_DIF] = mjgiLOSS,
    [mjgKEY_COULOMB] = mjgiALL & ~mjgiSTART & ~mjgiWAVE,
    [mjgKEY_STATIC_RATIO] = mjgiALL & ~mjgiWAVE,
    [mjgKEY_STRIBECK_FRICTION] = mjgiALL,
    [mjgKEY_STRIBECK_VELOCITY] = mjgiALL,
    [mjgKEY_STRIBECK_EXPONENT] = mjgiALL,
    [mjgKEY_GAMMA_U_STRIBECK] = mjgiALL & ~mjgiSTART,
    [mjgKEY_GAMMA_V_STRIBECK] = mjgiALL & ~mjgiSTART,
    [mjgKEY_GAMMA_U_QUADRATIC] = mjgiALL & ~mjgiSTART,
    [mjgKEY_GAMMA_V_QUADRATIC] = mjgiALL & ~mjgiSTART,
    [mjgKEY_VISCOUS] = mjgiALL,
    [mjgKEY_ARMATURE] = mjgiALL,
    [mjgKEY_RATIO] = mjgiALL,
    [mjgKEY_MOTOR_STARTING] = mjgiSTART | mjgiWAVE,
    [mjgKEY_MOTOR_COULOMB] = mjgiALL & ~mjgiSTART & ~mjgiWAVE,
    [mjgKEY_MOTOR_VISCOUS] = mjgiALL,
    [mjgKEY_MOTOR_INERTIA] = mjgiALL,
};


void mjg_defaultDescription(mjgDescription* description) {
  memset(description, 0, sizeof(*description));
}


void mjg_give(mjgDescription* description, int key, double value) {
  if (key >= 0 && key < mjgNKEY) {
    description->given[key] = 1;
    description->value[key] = value;
  }
}


// is there any, is there a key of these types given?
static int givenOf(const mjgDescription* d, int types) {
  for (int key = 0; key < mjgNKEY; key++) {
    if (d->given[key] && kMember[key] != mjgiALL && (kMember[key] & ~types) == 0) {
      return key;
    }
  }
  return -1;
}


//---------------------------------- checks --------------------------------------------------------

// each value by itself
static void checkRange(mjgReport* report, const mjgDescription* d) {
  for (int key = 0; key < mjgNKEY; key++) {
    if (!d->given[key]) {
      continue;
    }
    const mjgKeyInfo* info = mjg_keyInfo(key);
    double x = d->value[key];
    if (!isfinite(x)) {
      mjg_refuse(report, "%s is not a finite number; write a number", info->name);
      continue;
    }
    int low = x < info->min || (info->open_min && x == info->min);
    int high = x > info->max || (info->open_max && x == info->max);
    if (!low && !high) {
      continue;
    }

    // angles are mostly wrong because they are in degrees, efficiencies because they are in percent
    const char* above = info->open_min ? "above" : "at least";
    const char* below = info->open_max ? "below" : "at most";
    if (high && strcmp(info->unit, "rad") == 0 && x < 90) {
      mjg_refuse(report, "%s = %g is too large; it is in radians, write %.6g for %g degrees",
                 info->name, x, x * kDegree, x);
    } else if (high && (key == mjgKEY_ETA_FORWARD || key == mjgKEY_ETA_BACKWARD)) {
      if (x >= 2 && x <= 100) {
        mjg_refuse(report, "%s = %g is above 1; write %.6g for %g percent", info->name, x, x / 100,
                   x);
      } else {
        mjg_refuse(report, "%s = %g, a gear that creates energy; write a value of at most 1",
                   info->name, x);
      }
    } else if (low && key == mjgKEY_ETA_FORWARD) {
      mjg_refuse(report,
                 "eta_forward = %g, but a motor cannot drive such a gear; write a value "
                 "above 0 and at most 1",
                 x);
    } else if (isinf(info->max)) {
      mjg_refuse(report, "%s = %g is out of range; write a value %s %g", info->name, x, above,
                 info->min);
    } else if (isinf(info->min)) {
      mjg_refuse(report, "%s = %g is out of range; write a value %s %g", info->name, x, below,
                 info->max);
    } else {
      mjg_refuse(report, "%s = %g is out of range; write a value %s %g and %s %g", info->name, x,
                 above, info->min, below, info->max);
    }
  }
}


// names of the types that a key belongs to: "leadscrew, worm or spur"
static void typesOf(char* text, size_t size, int key) {
  int left = 0;
  for (int type = 1; type < mjgNTYPE; type++) {
    left += (kMember[key] >> type) & 1;
  }
  size_t length = 0;
  for (int type = 1; type < mjgNTYPE && length < size; type++) {
    if ((kMember[key] >> type) & 1) {
      left--;
      length += (size_t)snprintf(text + length, size - length, "%s%s", mjg_typeName(type),
                                 left > 1    ? ", "
                                 : left == 1 ? " or "
                                             : "");
    }
  }
}


// the type that the keys say, or 0 after a refusal
static int findType(mjgReport* report, const mjgDescription* d) {
  if (d->type < 0 || d->type >= mjgNTYPE) {
    mjg_refuse(report, "unknown type %d; use one of mjgType", d->type);
    return 0;
  }
  if (d->type != mjgTYPE_AUTO) {
    return d->type;
  }
  int geometry = givenOf(d, mjgiGEOMETRY);
  if (geometry >= 0) {
    char types[200];
    typesOf(types, sizeof types, geometry);
    mjg_refuse(report, "%s is given, but not of what; write type %s", mjg_keyInfo(geometry)->name,
               types);
    return 0;
  }
  if (givenOf(d, mjgiSTART | mjgiWAVE) >= 0) {
    return mjgTYPE_STARTING;
  }
  if (d->given[mjgKEY_ETA_FORWARD] || d->given[mjgKEY_ETA_BACKWARD]) {
    return mjgTYPE_EFFICIENCY;
  }
  return mjgTYPE_COEFFICIENTS;
}


// keys that contradict the type or each other
static void checkMembers(mjgReport* report, const mjgDescription* d, int type) {
  for (int key = 0; key < mjgNKEY; key++) {
    if (d->given[key] && !(kMember[key] & (1 << type))) {
      mjg_refuse(report, "%s contradicts type %s; remove one of them", mjg_keyInfo(key)->name,
                 mjg_typeName(type));
    }
  }

  static const int pair[][2] = {
      {mjgKEY_LEAD_ANGLE, mjgKEY_LEAD},
      {mjgKEY_CONTACT, mjgKEY_MODULE},
      {mjgKEY_STARTING_FORWARD, mjgKEY_MOTOR_STARTING},
      {mjgKEY_COULOMB, mjgKEY_MOTOR_COULOMB},
      {mjgKEY_VISCOUS, mjgKEY_MOTOR_VISCOUS},
      {mjgKEY_ARMATURE, mjgKEY_MOTOR_INERTIA},
  };
  for (size_t i = 0; i < sizeof(pair) / sizeof(*pair); i++) {
    if (d->given[pair[i][0]] && d->given[pair[i][1]]) {
      mjg_refuse(report, "%s and %s say the same twice; remove one of them",
                 mjg_keyInfo(pair[i][0])->name, mjg_keyInfo(pair[i][1])->name);
    }
  }
}


// a key without which another has no meaning
static void require(mjgReport* report, const mjgDescription* d, int key, const char* why) {
  if (!d->given[key]) {
    mjg_refuse(report, "%s is missing, which %s needs; write its value in %s",
               mjg_keyInfo(key)->name, why,
               strcmp(mjg_keyInfo(key)->unit, "1") ? mjg_keyInfo(key)->unit : "numbers");
  }
}


// What each type needs. Long because it has a case for each.
static void checkType(mjgReport* report, const mjgDescription* d, int type) {
  const int* given = d->given;
  switch (type) {
    case mjgTYPE_COEFFICIENTS:
      if (given[mjgKEY_GAMMA_U] || given[mjgKEY_GAMMA_V]) {
        require(report, d, mjgKEY_GAMMA_U, "gamma_v");
        require(report, d, mjgKEY_GAMMA_V, "gamma_u");
      }
      break;
    case mjgTYPE_EFFICIENCY:
      require(report, d, mjgKEY_ETA_FORWARD, "a gear described by its efficiency");
      break;
    case mjgTYPE_STARTING:
      if (!given[mjgKEY_MOTOR_STARTING]) {
        require(report, d, mjgKEY_STARTING_FORWARD, "a gear described by its starting torque");
      }
      if (!given[mjgKEY_STARTING_BACKWARD] && !given[mjgKEY_ETA_FORWARD]) {
        mjg_refuse(report,
                   "the forward starting torque alone does not tell how friction depends on "
                   "load; write starting_backward, eta_forward or both, or coulomb instead of it");
      }
      break;
    case mjgTYPE_WORM:
      require(report, d, mjgKEY_PRESSURE_ANGLE, "type worm");
      // fallthrough
    case mjgTYPE_LEADSCREW:
      require(report, d, mjgKEY_MU, "a thread");
      if (given[mjgKEY_LEAD] || given[mjgKEY_PITCH_DIAMETER]) {
        require(report, d, mjgKEY_LEAD, "pitch_diameter");
        require(report, d, mjgKEY_PITCH_DIAMETER, "lead");
      } else {
        require(report, d, mjgKEY_LEAD_ANGLE, "a thread");
      }
      break;
    case mjgTYPE_SPUR:
      require(report, d, mjgKEY_RADIUS_IN, "type spur");
      require(report, d, mjgKEY_RADIUS_OUT, "type spur");
      require(report, d, mjgKEY_PRESSURE_ANGLE, "type spur");
      require(report, d, mjgKEY_MU, "type spur");
      if (!given[mjgKEY_MODULE]) {
        require(report, d, mjgKEY_CONTACT, "type spur");
      }
      break;
    case mjgTYPE_WEDGE:
      require(report, d, mjgKEY_INPUT_ANGLE, "type wedge");
      require(report, d, mjgKEY_OUTPUT_ANGLE, "type wedge");
      require(report, d, mjgKEY_MU, "type wedge");
      break;
    case mjgTYPE_PLANETARY:
      require(report, d, mjgKEY_TEETH_SUN, "type planetary");
      require(report, d, mjgKEY_TEETH_RING, "type planetary");
      require(report, d, mjgKEY_MESH_EFFICIENCY, "type planetary");
      if (given[mjgKEY_TEETH_PLANET_OUT]) {
        require(report, d, mjgKEY_TEETH_PLANET, "teeth_planet_out");
      }
      break;
    case mjgTYPE_STRAIN_WAVE:
      require(report, d, mjgKEY_RATED_TORQUE, "type strain_wave");
      require(report, d, mjgKEY_RATED_EFFICIENCY, "type strain_wave");
      require(report, d, mjgKEY_NO_LOAD_TORQUE, "type strain_wave");
      break;
    case mjgTYPE_CAPSTAN:
      require(report, d, mjgKEY_WRAP_ANGLE, "type capstan");
      require(report, d, mjgKEY_MU, "type capstan");
      break;
    case mjgTYPE_LOSS:
      require(report, d, mjgKEY_MU_AVG, "type loss");
      break;
    default:
      break;
  }
}


// what other keys need, whatever the type
static void checkCompanions(mjgReport* report, const mjgDescription* d, int type) {
  const int* given = d->given;

  // a Stribeck curve has a velocity and something that falls with it
  int falls = given[mjgKEY_STRIBECK_FRICTION] || given[mjgKEY_GAMMA_U_STRIBECK] ||
              given[mjgKEY_GAMMA_V_STRIBECK] || given[mjgKEY_GAMMA_U_QUADRATIC] ||
              given[mjgKEY_GAMMA_V_QUADRATIC];
  if (falls) {
    require(report, d, mjgKEY_STRIBECK_VELOCITY, "friction that falls with velocity");
  } else if (given[mjgKEY_STRIBECK_VELOCITY] || given[mjgKEY_STRIBECK_EXPONENT]) {
    mjg_refuse(report,
               "%s has no effect; write stribeck_friction or gamma_v_stribeck, or remove it",
               given[mjgKEY_STRIBECK_VELOCITY] ? "stribeck_velocity" : "stribeck_exponent");
  }

  // what is measured at the motor
  static const int motor[] = {mjgKEY_MOTOR_STARTING, mjgKEY_MOTOR_COULOMB, mjgKEY_MOTOR_VISCOUS,
                              mjgKEY_MOTOR_INERTIA, mjgKEY_NO_LOAD_TORQUE};
  int known = given[mjgKEY_RATIO] || type == mjgTYPE_SPUR || type == mjgTYPE_PLANETARY ||
              ((type == mjgTYPE_LEADSCREW) && given[mjgKEY_LEAD]);
  for (size_t i = 0; i < sizeof(motor) / sizeof(*motor) && !known; i++) {
    if (given[motor[i]]) {
      require(report, d, mjgKEY_RATIO, mjg_keyInfo(motor[i])->name);
      break;
    }
  }
}


//---------------------------------- from description to coefficients ------------------------------

// value of a key, or what it is if it is not given
static double valueOr(const mjgDescription* d, int key, double otherwise) {
  return d->given[key] ? d->value[key] : otherwise;
}


static void fromEfficiency(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  double eta_f = d->value[mjgKEY_ETA_FORWARD];
  if (!d->given[mjgKEY_ETA_BACKWARD]) {
    // friction of the load alone: eta_b = 2 - 1/eta_f, which is gamma_u = 0
    t->gamma_v = (1 - eta_f) / eta_f;
    return;
  }
  double eta_b = d->value[mjgKEY_ETA_BACKWARD];
  if ((eta_f == 1) != (eta_b == 1)) {
    mjg_refuse(report,
               "%s = 1 with %s = %g: a gear without loss in one direction has none in the "
               "other; write both as 1 or both below 1",
               eta_f == 1 ? "eta_forward" : "eta_backward",
               eta_f == 1 ? "eta_backward" : "eta_forward", eta_f == 1 ? eta_b : eta_f);
    return;
  }
  mjg_coefficients(&t->gamma_u, &t->gamma_v, eta_f, eta_b);
}


// With k the static ratio, s_f and s_b the starting torques and c0 the bound without load at rest,
//     k c0 = (1 - k gamma_u) s_f = (1 - k gamma_v) s_b
// and, if it is known, eta_f = (1 - gamma_u)/(1 + gamma_v); else gamma_u = 0.
static void fromStarting(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  double k = t->static_ratio;
  double s_f = d->given[mjgKEY_MOTOR_STARTING] ? t->ratio * d->value[mjgKEY_MOTOR_STARTING]
                                               : d->value[mjgKEY_STARTING_FORWARD];
  double s_b = d->value[mjgKEY_STARTING_BACKWARD];
  double eta = d->value[mjgKEY_ETA_FORWARD];

  if (!d->given[mjgKEY_STARTING_BACKWARD]) {
    t->gamma_v = (1 - eta) / eta;
  } else if (!d->given[mjgKEY_ETA_FORWARD]) {
    t->gamma_v = (1 - s_f / s_b) / k;
  } else {
    t->gamma_v = (s_b - s_f * (1 - k * (1 - eta))) / (k * (s_b + eta * s_f));
    t->gamma_u = 1 - eta * (1 + t->gamma_v);
  }

  double c0 = (1 - k * t->gamma_u) * s_f / k;
  t->coulomb = c0 - t->stribeck_friction;
  if (c0 <= 0) {
    mjg_refuse(report,
               "these starting torques and eta_forward contradict each other: without load "
               "there would be no friction; check that all are at the output side");
  } else if (t->gamma_v < 0) {
    mjg_refuse(report,
               "starting_backward = %g is below the forward starting torque at the output, "
               "%g; a torque measured at the motor is motor_starting, with ratio",
               s_b, s_f);
  } else if (t->coulomb < 0) {
    mjg_refuse(report, "stribeck_friction = %g is more than all friction at rest, %.6g; write less",
               t->stribeck_friction, c0);
  }
}


static void fromThread(mjgTransmission* t, const mjgDescription* d) {
  double lead_angle = d->given[mjgKEY_LEAD]
                          ? atan2(d->value[mjgKEY_LEAD], kPi * d->value[mjgKEY_PITCH_DIAMETER])
                          : d->value[mjgKEY_LEAD_ANGLE];
  mjg_screw(&t->gamma_u, &t->gamma_v, lead_angle, valueOr(d, mjgKEY_PRESSURE_ANGLE, 0),
            d->value[mjgKEY_MU]);
}


static void fromSpur(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  mjgSpur* spur = &t->spur;
  spur->radius_in = d->value[mjgKEY_RADIUS_IN];
  spur->radius_out = d->value[mjgKEY_RADIUS_OUT];
  spur->pressure_angle = d->value[mjgKEY_PRESSURE_ANGLE];
  spur->mu = d->value[mjgKEY_MU];
  if (spur->pressure_angle == 0) {
    mjg_refuse(report,
               "pressure_angle = 0, but involute teeth need one; write 0.349 for 20 degrees");
    return;
  }

  // the path of contact ends where the line of action touches a base circle
  double smaller = spur->radius_in < spur->radius_out ? spur->radius_in : spur->radius_out;
  double reach = smaller * sin(spur->pressure_angle);
  if (d->given[mjgKEY_MODULE]) {
    double module = d->value[mjgKEY_MODULE];
    spur->pitch = kPi * module * cos(spur->pressure_angle);
    if (mjg_spurPath(spur, module, module) < 0) {
      mjg_refuse(report,
                 "module = %g: full-depth teeth of this size interfere, with %.3g teeth on "
                 "the smaller gear; write a smaller module, or contact for other teeth",
                 module, 2 * smaller / module);
      return;
    }
  } else {
    double contact = d->value[mjgKEY_CONTACT];
    spur->approach = spur->recess = contact / 2;
    if (contact / 2 > reach) {
      mjg_refuse(report,
                 "contact = %g is longer than the line of action, %.6g; it is the length "
                 "in m of the path of contact, not the contact ratio",
                 contact, 2 * reach);
      return;
    }
  }
  mjg_spurMean(&t->gamma_u, &t->gamma_v, spur);
  t->mesh = d->value[mjgKEY_MESH] != 0;
}


static mjgPlanetary planetaryOf(const mjgDescription* d) {
  double sun = d->value[mjgKEY_TEETH_SUN], ring = d->value[mjgKEY_TEETH_RING];
  return (mjgPlanetary){.sun = sun,
                        .planet = valueOr(d, mjgKEY_TEETH_PLANET, 0.5 * (ring - sun)),
                        .ring = ring,
                        .planet_out = d->value[mjgKEY_TEETH_PLANET_OUT],
                        .ring_out = d->value[mjgKEY_TEETH_RING_OUT],
                        .efficiency = d->value[mjgKEY_MESH_EFFICIENCY]};
}


static void fromPlanetary(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  const mjgPlanetary gears = planetaryOf(d);
  double ratio, eta_f, eta_b;
  if (!(gears.planet > 0)) {
    mjg_refuse(
        report,
        "teeth_ring = %g leaves no room for planets around a sun of %g teeth; write a larger "
        "ring, or teeth_planet",
        gears.ring, gears.sun);
  } else if (mjg_planetary(&ratio, &eta_f, &eta_b, &gears) < 0) {
    mjg_refuse(report,
               "with these teeth the output does not turn; write other teeth_ring_out or "
               "teeth_planet_out");
  } else if (eta_f <= 0) {
    mjg_refuse(
        report,
        "mesh_efficiency = %g: a motor cannot drive this gear, forward efficiency %.4g; write "
        "more",
        gears.efficiency, eta_f);
  } else if (eta_f < 1) {
    mjg_coefficients(&t->gamma_u, &t->gamma_v, eta_f, eta_b);
  }
}


// With u0 the no-load running torque and S the starting torque at the output, s_b the backdriving torque, c the
// sliding friction without load and k the static ratio,
//     u0 = c/(1 - gamma_u)     S = k c/(1 - k gamma_u)     s_b = k c/(1 - k gamma_v)
// and the efficiency under the load T is eta_f T/(T + eta_f u0), which falls at partial load.
// Without s_b gamma_u = 0; without S k = 1.
static void fromStrainWave(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  double u0 = t->ratio * d->value[mjgKEY_NO_LOAD_TORQUE];
  double share = 1 / d->value[mjgKEY_RATED_EFFICIENCY] - u0 / d->value[mjgKEY_RATED_TORQUE];
  double start = d->given[mjgKEY_MOTOR_STARTING] ? t->ratio * d->value[mjgKEY_MOTOR_STARTING] : u0;
  double back = d->value[mjgKEY_STARTING_BACKWARD];
  if (share < 1) {
    mjg_refuse(report,
               "no_load_torque = %g takes more than what is lost at rated_torque, %g of it at the "
               "output; check that it is measured at the motor",
               d->value[mjgKEY_NO_LOAD_TORQUE], u0 / d->value[mjgKEY_RATED_TORQUE]);
    return;
  }
  double eta = 1 / share;
  t->gamma_v = (1 - eta) / eta;
  if (d->given[mjgKEY_STARTING_BACKWARD]) {
    t->gamma_v = 2 * start * back / (start * back * (1 + eta) + u0 * eta * (start - back)) - 1;
    t->gamma_u = 1 - eta * (1 + t->gamma_v);
  }
  t->coulomb = u0 * (1 - t->gamma_u);
  t->static_ratio = start / (t->coulomb + start * t->gamma_u);
  if (t->gamma_u < 0) {
    mjg_refuse(
        report,
        "starting_backward = %g is more than the loss under load explains, of which there is %.3g "
        "at rated_torque without no_load_torque; write less, or leave it out",
        back, 1 - eta);
  } else if (!(t->gamma_v >= 0) || !(t->coulomb > 0)) {
    mjg_refuse(
        report,
        "starting_backward = %g contradicts the other torques, %g at the output to run and %g to "
        "start; check that it is measured at the output",
        back, u0, start);
  } else if (!(t->static_ratio >= 1)) {
    mjg_refuse(
        report,
        "motor_starting = %g is below no_load_torque = %g; a gear does not run with more than it "
        "starts with: take the running torque at the lowest speed",
        d->value[mjgKEY_MOTOR_STARTING], d->value[mjgKEY_NO_LOAD_TORQUE]);
  }
}


// mu_avg |u| sgn(v) + mu_dif u, which in sliding is this law with eta_f = 1 - mu_avg - mu_dif and
// eta_b = 1/(1 + mu_avg - mu_dif)
static void fromLoss(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  double average = d->value[mjgKEY_MU_AVG], difference = d->value[mjgKEY_MU_DIF];
  if (fabs(difference) > average) {
    mjg_refuse(
        report,
        "mu_dif = %g is larger than mu_avg = %g, a gear that creates energy in one direction; "
        "write a value between %g and %g",
        difference, average, -average, average);
  } else if (average + difference >= 1) {
    mjg_refuse(report,
               "mu_avg + mu_dif = %g, but a motor cannot drive such a gear; write less than 1",
               average + difference);
  } else if (average > 0) {
    t->gamma_u = average + difference * (1 - difference) / average;
    t->gamma_v = -difference / average;
  }
}


// motor turns for a turn, or a unit of travel, of the output
static double ratioOf(const mjgDescription* d, int type) {
  if (d->given[mjgKEY_RATIO]) {
    return d->value[mjgKEY_RATIO];
  }
  if (type == mjgTYPE_SPUR) {
    return d->value[mjgKEY_RADIUS_OUT] / d->value[mjgKEY_RADIUS_IN];
  }
  if (type == mjgTYPE_LEADSCREW && d->given[mjgKEY_LEAD]) {
    return 2 * kPi / d->value[mjgKEY_LEAD];
  }
  if (type == mjgTYPE_PLANETARY) {
    const mjgPlanetary gears = planetaryOf(d);
    double ratio, eta_f, eta_b;
    return mjg_planetary(&ratio, &eta_f, &eta_b, &gears) < 0 ? 0 : fabs(ratio);
  }
  return 0;
}


// what the law cannot be
static void checkResult(mjgReport* report, const mjgTransmission* t) {
  if (t->gamma_u + t->gamma_v < 0) {
    mjg_refuse(report,
               "gamma_u + gamma_v = %g is negative, which means the same gear with both "
               "signs changed; write gamma_u = %g and gamma_v = %g",
               t->gamma_u + t->gamma_v, -t->gamma_u, -t->gamma_v);
  }
}


// the coefficients, in the words of the type
static void readCoefficients(mjgTransmission* t, mjgReport* report, const mjgDescription* d,
                             int type) {
  switch (type) {
    case mjgTYPE_COEFFICIENTS:
      t->gamma_u = d->value[mjgKEY_GAMMA_U];
      t->gamma_v = d->value[mjgKEY_GAMMA_V];
      break;
    case mjgTYPE_EFFICIENCY:
      fromEfficiency(t, report, d);
      break;
    case mjgTYPE_STARTING:
      fromStarting(t, report, d);
      break;
    case mjgTYPE_LEADSCREW:
    case mjgTYPE_WORM:
      fromThread(t, d);
      break;
    case mjgTYPE_SPUR:
      fromSpur(t, report, d);
      break;
    case mjgTYPE_WEDGE:
      t->gamma_u = d->value[mjgKEY_MU] / tan(d->value[mjgKEY_OUTPUT_ANGLE]);
      t->gamma_v = d->value[mjgKEY_MU] / tan(d->value[mjgKEY_INPUT_ANGLE]);
      break;
    case mjgTYPE_PLANETARY:
      fromPlanetary(t, report, d);
      break;
    case mjgTYPE_STRAIN_WAVE:
      fromStrainWave(t, report, d);
      break;
    case mjgTYPE_CAPSTAN:
      // exp(-mu wrap_angle) in both directions
      t->gamma_u = t->gamma_v = tanh(0.5 * d->value[mjgKEY_MU] * d->value[mjgKEY_WRAP_ANGLE]);
      break;
    default:
      fromLoss(t, report, d);
      break;
  }
}


int mjg_transmission(mjgTransmission* transmission, mjgReport* report,
                     const mjgDescription* description) {
  const mjgDescription* d = description;
  int before = report->count;

  // all that can be said without computing
  checkRange(report, d);
  int type = findType(report, d);
  if (type) {
    checkMembers(report, d, type);
    checkType(report, d, type);
    checkCompanions(report, d, type);
  }
  if (report->count > before) {
    return report->count - before;
  }

  // load-independent friction, and what the engine has its own attributes for
  mjgTransmission t;
  mjg_defaultTransmission(&t);
  t.ratio = ratioOf(d, type);
  t.coulomb = d->given[mjgKEY_MOTOR_COULOMB] ? t.ratio * d->value[mjgKEY_MOTOR_COULOMB]
                                             : d->value[mjgKEY_COULOMB];
  t.viscous = d->given[mjgKEY_MOTOR_VISCOUS] ? t.ratio * t.ratio * d->value[mjgKEY_MOTOR_VISCOUS]
                                             : d->value[mjgKEY_VISCOUS];
  t.armature = d->given[mjgKEY_MOTOR_INERTIA] ? t.ratio * t.ratio * d->value[mjgKEY_MOTOR_INERTIA]
                                              : d->value[mjgKEY_ARMATURE];
  t.static_ratio = valueOr(d, mjgKEY_STATIC_RATIO, t.static_ratio);
  t.stribeck_friction = d->value[mjgKEY_STRIBECK_FRICTION];
  t.stribeck_velocity = valueOr(d, mjgKEY_STRIBECK_VELOCITY, t.stribeck_velocity);
  t.stribeck_exponent = valueOr(d, mjgKEY_STRIBECK_EXPONENT, t.stribeck_exponent);
  t.gamma_u_stribeck = d->value[mjgKEY_GAMMA_U_STRIBECK];
  t.gamma_v_stribeck = d->value[mjgKEY_GAMMA_V_STRIBECK];
  t.gamma_u_quadratic = d->value[mjgKEY_GAMMA_U_QUADRATIC];
  t.gamma_v_quadratic = d->value[mjgKEY_GAMMA_V_QUADRATIC];

  readCoefficients(&t, report, d, type);
  if (report->count == before) {
    checkResult(report, &t);
  }
  if (report->count > before) {
    return report->count - before;
  }
  *transmission = t;
  return 0;
}
