#include <math.h>
#include <stdio.h>
#include <string.h>

#include "catalogue/geometry.h"
#include "catalogue/types.h"
#include "law/transmission.h"
#include "mjgear_report.h"

// range of a gear's parameters; within it quotients and squares of a step do not overflow
static const double kMost = 1e100, kLeast = 1e-100;

static const double kDegree = 3.14159265358979323846 / 180;


//---------------------------------- combinations of keys ------------------------------------------

void mjg_defaultDescription(mjgDescription* description) {
  if (description) {
    memset(description, 0, sizeof(*description));
  }
}


void mjg_give(mjgDescription* description, int key, double value) {
  if (description && key >= 0 && key < mjgNKEY) {
    description->given[key] = 1;
    description->value[key] = value;
  }
}


// pairs of equivalent keys
static const int kSame[][2] = {
    {mjgKEY_LEAD_ANGLE, mjgKEY_LEAD},
    {mjgKEY_CONTACT, mjgKEY_MODULE},
    {mjgKEY_STARTING_FORWARD, mjgKEY_MOTOR_STARTING},
    {mjgKEY_COULOMB, mjgKEY_MOTOR_COULOMB},
    {mjgKEY_VISCOUS, mjgKEY_MOTOR_VISCOUS},
    {mjgKEY_ARMATURE, mjgKEY_MOTOR_INERTIA},
    {mjgKEY_ARMATURE, mjgKEY_GEAR_INERTIA},
};


void mjg_forget(mjgDescription* description, int key) {
  if (!description) {
    return;
  }
  if (key == mjgKEY_LEAD_ANGLE) {
    description->given[mjgKEY_PITCH_DIAMETER] = 0;  // has no effect without lead
    description->value[mjgKEY_PITCH_DIAMETER] = 0;
  }
  for (size_t i = 0; i < sizeof(kSame) / sizeof(*kSame); i++) {
    int same = kSame[i][0] == key ? kSame[i][1] : kSame[i][1] == key ? kSame[i][0] : -1;
    if (same >= 0) {
      description->given[same] = 0;
      description->value[same] = 0;
    }
  }
}


// Returns the first given key that belongs to these types alone, -1: there is none
static int givenOf(const mjgDescription* d, int types) {
  for (int key = 0; key < mjgNKEY; key++) {
    int of = mjgi_keyTypes(key);
    if (d->given[key] && of != mjgiALL && (of & ~types) == 0) {
      return key;
    }
  }
  return -1;
}


//---------------------------------- checks --------------------------------------------------------

// Refuse a number that no gear has.
static void checkNumber(mjgReport* report, int key, double x) {
  const mjgKeyInfo* info = mjg_keyInfo(key);
  if (!isfinite(x)) {
    mjg_refuse(report, "%s is not a finite number; write a number", info->name);
    return;
  }
  if (fabs(x) > kMost) {
    mjg_refuse(report, "%s = %g is more than any gear has; check its unit", info->name, x);
    return;
  }
  if (x != 0 && fabs(x) < kLeast) {
    mjg_refuse(report, "%s = %g is less than any gear has; write 0, or check its unit", info->name,
               x);
    return;
  }

  // the usual mistakes: degrees, percent
  int efficiency = key == mjgKEY_ETA_FORWARD || key == mjgKEY_ETA_BACKWARD;
  if (x > info->max && strcmp(info->unit, "rad") == 0 && x < 90) {
    mjg_refuse(report, "%s = %g is too large; it is in radians, write %.6g for %g degrees",
               info->name, x, x * kDegree, x);
  } else if (efficiency && x >= 10 && x <= 100) {
    mjg_refuse(report, "%s = %g is above 1; write %.6g for %g percent", info->name, x, x / 100, x);
  } else if (efficiency && x > 1) {
    mjg_refuse(report, "%s = %g would be a gear that creates energy; write a value of at most 1",
               info->name, x);
  } else if (key == mjgKEY_ETA_FORWARD && x <= 0) {
    mjg_refuse(report,
               "eta_forward = %g would be a gear that no motor can drive; write a value above 0 "
               "and at most 1",
               x);
  } else {
    mjgi_isOutside(report, info, x, NULL, "", 1);
  }
}


int mjg_warnAssumed(mjgReport* report, const mjgDescription* description) {
  const mjgDescription* d = description;
  if (!report || !d) {
    return mjgERR_ARGUMENT;
  }
  double eta_f = d->value[mjgKEY_ETA_FORWARD];
  if (!(eta_f > 0 && eta_f < 0.5) || !d->given[mjgKEY_ETA_FORWARD] ||
      d->given[mjgKEY_ETA_BACKWARD] || (d->type != mjgTYPE_AUTO && d->type != mjgTYPE_EFFICIENCY) ||
      givenOf(d, mjgiSTART) >= 0) {
    return 0;
  }
  mjg_refuse(report,
             "eta_forward = %.6g alone makes the gear self-locking, because eta_backward is then "
             "assumed to be 2 - 1/eta_forward = %.4g; give eta_backward if a load can drive it",
             eta_f, 2 - 1 / eta_f);
  return 1;
}


// names of the types that a key belongs to: "leadscrew, worm or spur"
static void typesOf(char* text, size_t size, int key) {
  int left = 0;
  for (int type = 1; type < mjgNTYPE; type++) {
    left += (mjgi_keyTypes(key) >> type) & 1;
  }
  size_t length = 0;
  for (int type = 1; type < mjgNTYPE && length < size; type++) {
    if ((mjgi_keyTypes(key) >> type) & 1) {
      left--;
      length += (size_t)snprintf(text + length, size - length, "%s%s", mjg_typeName(type),
                                 left > 1    ? ", "
                                 : left == 1 ? " or "
                                             : "");
    }
  }
}


// Returns the type that the keys determine, or 0 after a refusal.
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
    mjg_refuse(report, "%s is given, but the type of the gear is not; write type %s",
               mjg_keyInfo(geometry)->name, types);
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


// Refuse keys that contradict the type or each other.
static void checkMembers(mjgReport* report, const mjgDescription* d, int type) {
  for (int key = 0; key < mjgNKEY; key++) {
    if (d->given[key] && !(mjgi_keyTypes(key) & (1 << type))) {
      mjg_refuse(report, "%s contradicts type %s; remove one of them", mjg_keyInfo(key)->name,
                 mjg_typeName(type));
    }
  }

  for (size_t i = 0; i < sizeof(kSame) / sizeof(*kSame); i++) {
    if (d->given[kSame[i][0]] && d->given[kSame[i][1]]) {
      mjg_refuse(report, "%s and %s say the same twice; remove one of them",
                 mjg_keyInfo(kSame[i][0])->name, mjg_keyInfo(kSame[i][1])->name);
    }
  }
}


// Require a key without which another or a type ("type ", its name) has no meaning.
static void requireFor(mjgReport* report, const mjgDescription* d, int key, const char* what,
                       const char* name) {
  if (!d->given[key]) {
    const mjgKeyInfo* info = mjg_keyInfo(key);
    mjg_refuse(report, "%s is missing, which %s%s needs; write its value in %s", info->name, what,
               name, strcmp(info->unit, "1") ? info->unit : "numbers");
  }
}


static void require(mjgReport* report, const mjgDescription* d, int key, const char* name) {
  requireFor(report, d, key, "", name);
}


static void checkType(mjgReport* report, const mjgDescription* d, int type) {
  const int* given = d->given;
  const char* gear = mjg_typeName(type);
  for (int k = 0, key; (key = mjgi_neededKey(type, k)) >= 0; k++) {
    requireFor(report, d, key, "type ", gear);
  }

  // keys that a type needs together with others, or instead of others
  if (type == mjgTYPE_COEFFICIENTS && (given[mjgKEY_GAMMA_U] || given[mjgKEY_GAMMA_V])) {
    require(report, d, mjgKEY_GAMMA_U, "gamma_v");
    require(report, d, mjgKEY_GAMMA_V, "gamma_u");
  } else if (type == mjgTYPE_STARTING) {
    if (!given[mjgKEY_MOTOR_STARTING]) {
      requireFor(report, d, mjgKEY_STARTING_FORWARD, "type ", gear);
    }
    if (!given[mjgKEY_STARTING_BACKWARD] && !given[mjgKEY_ETA_FORWARD]) {
      mjg_refuse(report,
                 "the forward starting torque alone does not tell how friction depends on "
                 "load; write starting_backward, eta_forward or both, or coulomb instead of it");
    }
  } else if (type == mjgTYPE_WORM || type == mjgTYPE_LEADSCREW) {
    if (given[mjgKEY_LEAD] || given[mjgKEY_PITCH_DIAMETER]) {
      require(report, d, mjgKEY_LEAD, "pitch_diameter");
      require(report, d, mjgKEY_PITCH_DIAMETER, "lead");
    } else {
      requireFor(report, d, mjgKEY_LEAD_ANGLE, "type ", gear);
    }
  } else if (type == mjgTYPE_SPUR && !given[mjgKEY_MODULE]) {
    requireFor(report, d, mjgKEY_CONTACT, "type ", gear);
  } else if (type == mjgTYPE_PLANETARY && given[mjgKEY_TEETH_PLANET_OUT]) {
    require(report, d, mjgKEY_TEETH_PLANET, "teeth_planet_out");
  }
}


static void refuseIdle(mjgReport* report, const char* key, const char* other) {
  mjg_refuse(report, "%s has no effect; write %s, or remove it", key, other);
}


static void checkCompanions(mjgReport* report, const mjgDescription* d, int type) {
  const int* given = d->given;

  int falls = given[mjgKEY_STRIBECK_FRICTION] || given[mjgKEY_GAMMA_U_STRIBECK] ||
              given[mjgKEY_GAMMA_V_STRIBECK] || given[mjgKEY_GAMMA_U_QUADRATIC] ||
              given[mjgKEY_GAMMA_V_QUADRATIC];
  if (falls) {
    require(report, d, mjgKEY_STRIBECK_VELOCITY, "friction that falls with velocity");
  } else if (given[mjgKEY_STRIBECK_VELOCITY] || given[mjgKEY_STRIBECK_EXPONENT]) {
    refuseIdle(report, given[mjgKEY_STRIBECK_VELOCITY] ? "stribeck_velocity" : "stribeck_exponent",
               "stribeck_friction or gamma_v_stribeck");
  }
  if (!given[mjgKEY_CURVED_FRICTION] &&
      (given[mjgKEY_CURVED_VELOCITY] || given[mjgKEY_CURVED_EXPONENT])) {
    refuseIdle(report, given[mjgKEY_CURVED_VELOCITY] ? "curved_velocity" : "curved_exponent",
               "curved_friction");
  }

  int over = d->table[mjgTABLE_COULOMB_TEMPERATURE].n || d->table[mjgTABLE_GAMMA_TEMPERATURE].n;
  if (given[mjgKEY_TEMPERATURE] && !over) {
    refuseIdle(report, "temperature", "coulomb_temperature or gamma_temperature");
  }

  // convert quantities measured at the motor
  static const int motor[] = {mjgKEY_MOTOR_STARTING, mjgKEY_MOTOR_COULOMB, mjgKEY_MOTOR_VISCOUS,
                              mjgKEY_MOTOR_INERTIA,  mjgKEY_GEAR_INERTIA,  mjgKEY_NO_LOAD_TORQUE};
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

static int isUsual(double x) {
  return fabs(x) <= kMost && (x == 0 || fabs(x) >= kLeast);
}


static void checkTables(mjgReport* report, const mjgTable* table) {
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    const char* error = mjgi_tableError(table + kind, kind);
    if (error) {
      mjg_refuse(report, "table %s %s", mjg_tableName(kind), error);
    }
  }
}


static const mjgTransmission kDefault = {.static_ratio = 1,
                                         .stribeck_velocity = 1,
                                         .stribeck_exponent = 2,
                                         .curved_velocity = 1,
                                         .curved_exponent = 2,
                                         .temperature = 20};


void mjgi_checkNumber(mjgReport* report, const mjgTransmission* gear, int key) {
  const double* x = mjgi_keyMember((mjgTransmission*)gear, key);
  if (x && *x != *mjgi_keyMember((mjgTransmission*)&kDefault, key)) {
    checkNumber(report, key, *x);
  }
}


void mjgi_checkNumbers(mjgReport* report, const mjgTransmission* t) {
  const double number[] = {t->gamma_u, t->gamma_v,  t->coulomb, t->static_ratio,
                           t->viscous, t->armature, t->ratio};
  for (size_t i = 0; i < sizeof(number) / sizeof(*number); i++) {
    if (!isUsual(number[i])) {
      mjg_refuse(report,
                 "these values make coefficients that overflow; check their units, and write "
                 "values that a gear can have");
      return;
    }
  }
  double gamma_u, gamma_v;
  const mjgSpur* spur = &t->spur;
  if (t->mesh != 0 && t->mesh != 1) {
    mjg_refuse(report, "mesh = %d is no choice; write 1 or 0", t->mesh);
  } else if (t->mesh && (mjgi_spurMean(&gamma_u, &gamma_v, spur) < 0 ||
                         !(spur->mu * tan(spur->pressure_angle) < 1) ||
                         !(fmin(spur->radius_in, spur->radius_out) > kLeast))) {
    mjg_refuse(report, "these spur gears cannot turn; check radii, pressure_angle, mu and contact");
  }
  if (t->gamma_u + t->gamma_v < 0) {
    mjg_refuse(report,
               "gamma_u + gamma_v = %g is negative, which means the same gear with both "
               "signs changed; write gamma_u = %g and gamma_v = %g",
               t->gamma_u + t->gamma_v, -t->gamma_u, -t->gamma_v);
  }
  double least = fmin(t->gamma_u, t->gamma_v) * mjgi_largestFactor(t);
  if (least <= -1) {
    mjg_refuse(report,
               "with its tables a coefficient reaches %g; choose factors with which gamma_u and "
               "gamma_v stay above -1",
               least);
  }
  if (t->oneway != 0 && fabs(t->oneway) != 1) {
    mjg_refuse(report,
               "oneway = %g is no direction; write 1 (forward only), -1 (backward only) or 0",
               t->oneway);
  }
  if (t->tooth_pitch != 0 && t->oneway == 0) {
    refuseIdle(report, "tooth_pitch", "oneway");
  } else if (t->tooth_phase != 0 && t->tooth_pitch == 0) {
    refuseIdle(report, "tooth_phase", "tooth_pitch");
  }
  if (t->presliding_stiffness != 0 && t->oneway != 0) {
    mjg_refuse(report,
               "presliding_stiffness does not go with oneway, which holds a joint rigidly; leave "
               "one of the two out");
  }
  if (t->presliding_stiffness != 0 && t->static_ratio != 1) {
    mjg_refuse(report,
               "presliding_stiffness does not go with a static ratio of %g, because a joint that "
               "yields has no moment at which it leaves rest; write %s",
               t->static_ratio, "stribeck_friction and stribeck_velocity for friction at rest");
  }
}


void mjg_defaultTransmission(mjgTransmission* transmission) {
  if (!transmission) {
    return;
  }
  *transmission = kDefault;
}


int mjg_checkTransmission(mjgReport* report, const mjgTransmission* transmission) {
  if (!report || !transmission) {
    return mjgERR_ARGUMENT;
  }
  int before = report->count;
  checkTables(report, transmission->table);
  for (int key = 0; key < mjgNKEY; key++) {
    mjgi_checkNumber(report, transmission, key);
  }
  if (report->count == before) {
    mjgi_checkNumbers(report, transmission);
  }
  return report->count - before;
}


int mjg_transmission(mjgTransmission* transmission, mjgReport* report,
                     const mjgDescription* description) {
  const mjgDescription* d = description;
  if (!transmission || !report || !d) {
    return mjgERR_ARGUMENT;
  }
  int before = report->count;
  for (int key = 0; key < mjgNKEY; key++) {
    if (d->given[key]) {
      checkNumber(report, key, d->value[key]);
    }
  }
  checkTables(report, d->table);
  int type = findType(report, d);
  if (type) {
    checkMembers(report, d, type);
    checkType(report, d, type);
    checkCompanions(report, d, type);
  }
  if (report->count > before) {
    return report->count - before;
  }

  mjgTransmission t;
  mjg_defaultTransmission(&t);
  for (int key = 0; key < mjgNKEY; key++) {
    double* member = d->given[key] ? mjgi_keyMember(&t, key) : NULL;
    if (member) {
      *member = d->value[key];
    }
  }
  memcpy(t.table, d->table, sizeof(t.table));

  double ratio = t.ratio = mjgi_ratioOf(d, type);
  t.coulomb += ratio * mjgi_valueOr(d, mjgKEY_MOTOR_COULOMB, 0);
  t.viscous += ratio * ratio * mjgi_valueOr(d, mjgKEY_MOTOR_VISCOUS, 0);
  t.armature +=
      ratio * ratio *
      (mjgi_valueOr(d, mjgKEY_MOTOR_INERTIA, 0) + mjgi_valueOr(d, mjgKEY_GEAR_INERTIA, 0));
  mjgi_readCoefficients(&t, report, d, type);
  if (report->count == before) {
    mjgi_checkNumbers(report, &t);
  }
  if (report->count > before) {
    return report->count - before;
  }
  *transmission = t;
  return 0;
}
