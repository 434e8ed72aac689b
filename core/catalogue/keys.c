#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/c_locale.h"
#include "catalogue/types.h"

#define PI_2 1.57079632679489661923

typedef struct Key_ {
  mjgKeyInfo info;
  int types;      // types that the key belongs to, one bit each
  size_t member;  // member of mjgTransmission for the key, from 1; 0: none
} Key;

#define MEMBER(name) (offsetof(mjgTransmission, name) + 1)

// name, unit, min, max, open_min, open_max, engine, text; types, member
// clang-format off
static const Key kKeys[mjgNKEY] = {
    [mjgKEY_GAMMA_U] = {{"gamma_u", "1", -1, INFINITY, 1, 1, 0,
        "input-side asymmetry coefficient"}, mjgiCOEFF, MEMBER(gamma_u)},
    [mjgKEY_GAMMA_V] = {{"gamma_v", "1", -1, INFINITY, 1, 1, 0,
        "output-side asymmetry coefficient; >= 1: non-backdrivable"}, mjgiCOEFF, MEMBER(gamma_v)},
    [mjgKEY_ETA_FORWARD] = {{"eta_forward", "1", 0, 1, 1, 0, 0,
        "efficiency when the motor drives"}, mjgiEFF | mjgiSTART, 0},
    [mjgKEY_ETA_BACKWARD] = {{"eta_backward", "1", -INFINITY, 1, 1, 0, 0,
        "efficiency when the load drives; <= 0: non-backdrivable; without it 2 - 1/eta_forward, "
        "that is gamma_u = 0"}, mjgiEFF, 0},
    [mjgKEY_STARTING_FORWARD] = {{"starting_forward", "N m", 0, INFINITY, 1, 1, 0,
        "motor torque that just starts the unloaded joint"}, mjgiSTART, 0},
    [mjgKEY_STARTING_BACKWARD] = {{"starting_backward", "N m", 0, INFINITY, 1, 1, 0,
        "load torque that just drives the joint with the motor off"}, mjgiSTART | mjgiWAVE, 0},
    [mjgKEY_LEAD_ANGLE] = {{"lead_angle", "rad", 0, PI_2, 1, 1, 0,
        "lead angle of the thread at the pitch diameter"}, mjgiSCREW | mjgiWORM, 0},
    [mjgKEY_LEAD] = {{"lead", "m", 0, INFINITY, 1, 1, 0,
        "travel of the thread in one turn, with pitch_diameter instead of lead_angle"}, mjgiSCREW | mjgiWORM, 0},
    [mjgKEY_PITCH_DIAMETER] = {{"pitch_diameter", "m", 0, INFINITY, 1, 1, 0,
        "pitch diameter of the thread"}, mjgiSCREW | mjgiWORM, 0},
    [mjgKEY_PRESSURE_ANGLE] = {{"pressure_angle", "rad", 0, PI_2, 0, 1, 0,
        "angle of the flank, for a thread half the thread angle"}, mjgiSCREW | mjgiWORM | mjgiSPUR, 0},
    [mjgKEY_MU] = {{"mu", "1", 0, INFINITY, 0, 1, 0,
        "friction coefficient of the flanks"}, mjgiSCREW | mjgiWORM | mjgiSPUR | mjgiWEDGE | mjgiCAPSTAN, 0},
    [mjgKEY_RADIUS_IN] = {{"radius_in", "m", 0, INFINITY, 1, 1, 0,
        "pitch radius of the input gear"}, mjgiSPUR, 0},
    [mjgKEY_RADIUS_OUT] = {{"radius_out", "m", 0, INFINITY, 1, 1, 0,
        "pitch radius of the output gear"}, mjgiSPUR, 0},
    [mjgKEY_CONTACT] = {{"contact", "m", 0, INFINITY, 1, 1, 0,
        "length of the path of contact of a pair of teeth, half of it on either side of the "
        "pitch point"}, mjgiSPUR, 0},
    [mjgKEY_MODULE] = {{"module", "m", 0, INFINITY, 1, 1, 0,
        "module of full-depth teeth (addendum = module), which gives the path of contact "
        "instead of contact"}, mjgiSPUR, 0},
    [mjgKEY_MESH] = {{"mesh", "1", 0, 1, 0, 0, 0,
        "1: coefficients follow the teeth as the joint turns; 0: their mean over the mesh cycle"}, mjgiSPUR, 0},
    [mjgKEY_INPUT_ANGLE] = {{"input_angle", "rad", 0, PI_2, 1, 0, 0,
        "angle of the input's motion to the surface of contact"}, mjgiWEDGE, 0},
    [mjgKEY_OUTPUT_ANGLE] = {{"output_angle", "rad", 0, PI_2, 1, 0, 0,
        "angle of the output's motion to the surface of contact"}, mjgiWEDGE, 0},
    [mjgKEY_TEETH_SUN] = {{"teeth_sun", "1", 0, INFINITY, 1, 1, 0,
        "teeth of the sun, which the motor turns"}, mjgiPLANET, 0},
    [mjgKEY_TEETH_PLANET] = {{"teeth_planet", "1", 0, INFINITY, 1, 1, 0,
        "teeth of a planet where it meshes with the sun; (teeth_ring - teeth_sun)/2 if not given"}, mjgiPLANET, 0},
    [mjgKEY_TEETH_RING] = {{"teeth_ring", "1", 0, INFINITY, 1, 1, 0,
        "teeth of the ring that stands"}, mjgiPLANET, 0},
    [mjgKEY_TEETH_PLANET_OUT] = {{"teeth_planet_out", "1", 0, INFINITY, 1, 1, 0,
        "teeth of a second gear on each planet, for the output ring or, without one, the standing ring"}, mjgiPLANET, 0},
    [mjgKEY_TEETH_RING_OUT] = {{"teeth_ring_out", "1", 0, INFINITY, 1, 1, 0,
        "teeth of a ring that is the output (3K); without it the carrier is"}, mjgiPLANET, 0},
    [mjgKEY_MESH_EFFICIENCY] = {{"mesh_efficiency", "1", 0, 1, 1, 0, 0,
        "efficiency of each mesh, seen from the carrier"}, mjgiPLANET, 0},
    [mjgKEY_RATED_TORQUE] = {{"rated_torque", "N m", 0, INFINITY, 1, 1, 0,
        "torque of the output at which rated_efficiency holds"}, mjgiWAVE, 0},
    [mjgKEY_RATED_EFFICIENCY] = {{"rated_efficiency", "1", 0, 1, 1, 0, 0,
        "efficiency at rated_torque, motor driving"}, mjgiWAVE, 0},
    [mjgKEY_NO_LOAD_TORQUE] = {{"no_load_torque", "N m", 0, INFINITY, 1, 1, 0,
        "motor torque that keeps the unloaded gear running, measured at the motor"}, mjgiWAVE, 0},
    [mjgKEY_WRAP_ANGLE] = {{"wrap_angle", "rad", 0, INFINITY, 0, 1, 0,
        "angle over which the rope or belt lies on what it slides on"}, mjgiCAPSTAN, 0},
    [mjgKEY_MU_AVG] = {{"mu_avg", "1", 0, INFINITY, 0, 1, 0,
        "share of the torque into the gear that it loses, mean of both directions"}, mjgiLOSS, 0},
    [mjgKEY_MU_DIF] = {{"mu_dif", "1", -INFINITY, 1, 1, 1, 0,
        "what it loses more when the motor drives, and less when the load does"}, mjgiLOSS, 0},
    [mjgKEY_COULOMB] = {{"coulomb", "N m", 0, INFINITY, 0, 1, 0,
        "load-independent sliding friction"}, mjgiALL & ~mjgiSTART & ~mjgiWAVE, MEMBER(coulomb)},
    [mjgKEY_STATIC_RATIO] = {{"static_ratio", "1", 1, INFINITY, 0, 1, 0,
        "static to sliding friction"}, mjgiALL & ~mjgiWAVE, MEMBER(static_ratio)},
    [mjgKEY_PRESLIDING_STIFFNESS] = {{"presliding_stiffness", "N m/rad", 0, INFINITY, 1, 1, 0,
        "stiffness with which a stuck joint yields below break-away; without it it does not"}, mjgiALL, MEMBER(presliding_stiffness)},
    [mjgKEY_STRIBECK_FRICTION] = {{"stribeck_friction", "N m", 0, INFINITY, 0, 1, 0,
        "what coulomb gains at rest"}, mjgiALL, MEMBER(stribeck_friction)},
    [mjgKEY_STRIBECK_VELOCITY] = {{"stribeck_velocity", "rad/s", 0, INFINITY, 1, 1, 0,
        "velocity at which the gain has fallen to 1/e"}, mjgiALL, MEMBER(stribeck_velocity)},
    [mjgKEY_STRIBECK_EXPONENT] = {{"stribeck_exponent", "1", 0, INFINITY, 1, 1, 0,
        "exponent of that fall; 2 if not given"}, mjgiALL, MEMBER(stribeck_exponent)},
    [mjgKEY_CURVED_FRICTION] = {{"curved_friction", "N m", 0, INFINITY, 0, 1, 0,
        "viscous friction that bends: what it is at curved_velocity"}, mjgiALL, MEMBER(curved_friction)},
    [mjgKEY_CURVED_VELOCITY] = {{"curved_velocity", "rad/s", 0, INFINITY, 1, 1, 0,
        "velocity at which friction has grown by curved_friction; 1 if not given"}, mjgiALL, MEMBER(curved_velocity)},
    [mjgKEY_CURVED_EXPONENT] = {{"curved_exponent", "1", 0, INFINITY, 1, 1, 0,
        "exponent of that growth; 2 if not given"}, mjgiALL, MEMBER(curved_exponent)},
    [mjgKEY_GAMMA_U_STRIBECK] = {{"gamma_u_stribeck", "1", 0, INFINITY, 0, 1, 0,
        "what gamma_u gains at rest"}, mjgiALL & ~mjgiSTART, MEMBER(gamma_u_stribeck)},
    [mjgKEY_GAMMA_V_STRIBECK] = {{"gamma_v_stribeck", "1", 0, INFINITY, 0, 1, 0,
        "what gamma_v gains at rest"}, mjgiALL & ~mjgiSTART, MEMBER(gamma_v_stribeck)},
    [mjgKEY_GAMMA_U_QUADRATIC] = {{"gamma_u_quadratic", "1/(N m)", 0, INFINITY, 0, 1, 0,
        "what gamma_u gains at rest for each unit of motor torque while the load drives"}, mjgiALL & ~mjgiSTART, MEMBER(gamma_u_quadratic)},
    [mjgKEY_GAMMA_V_QUADRATIC] = {{"gamma_v_quadratic", "1/(N m)", 0, INFINITY, 0, 1, 0,
        "what gamma_v gains at rest for each unit of load torque while the motor drives"}, mjgiALL & ~mjgiSTART, MEMBER(gamma_v_quadratic)},
    [mjgKEY_ONEWAY] = {{"oneway", "1", -1, 1, 0, 0, 0,
        "1: turns forward only, -1: backward only, 0: both; a backstop or freewheel holds it exactly"}, mjgiALL, MEMBER(oneway)},
    [mjgKEY_VISCOUS] = {{"viscous", "N m/(rad/s)", 0, INFINITY, 0, 1, 1,
        "viscous friction"}, mjgiALL, MEMBER(viscous)},
    [mjgKEY_ARMATURE] = {{"armature", "kg m2", 0, INFINITY, 0, 1, 1,
        "rotor inertia at the output side"}, mjgiALL, MEMBER(armature)},
    [mjgKEY_RATIO] = {{"ratio", "1", 0, INFINITY, 1, 1, 0,
        "motor motion for a unit of output motion"}, mjgiALL, MEMBER(ratio)},
    [mjgKEY_MOTOR_STARTING] = {{"motor_starting", "N m", 0, INFINITY, 1, 1, 0,
        "starting_forward, measured at the motor"}, mjgiSTART | mjgiWAVE, 0},
    [mjgKEY_MOTOR_COULOMB] = {{"motor_coulomb", "N m", 0, INFINITY, 0, 1, 0,
        "coulomb, measured at the motor"}, mjgiALL & ~mjgiSTART & ~mjgiWAVE, 0},
    [mjgKEY_MOTOR_VISCOUS] = {{"motor_viscous", "N m/(rad/s)", 0, INFINITY, 0, 1, 1,
        "viscous, measured at the motor"}, mjgiALL, 0},
    [mjgKEY_MOTOR_INERTIA] = {{"motor_inertia", "kg m2", 0, INFINITY, 0, 1, 1,
        "rotor inertia at the motor shaft"}, mjgiALL, 0},
    [mjgKEY_GEAR_INERTIA] = {{"gear_inertia", "kg m2", 0, INFINITY, 0, 1, 1,
        "inertia of the gear itself at the motor shaft, besides motor_inertia"}, mjgiALL, 0},
    [mjgKEY_TEMPERATURE] = {{"temperature", "degC", -273.15, INFINITY, 1, 1, 0,
        "temperature at which coulomb_temperature and gamma_temperature are read; 20 if not given"}, mjgiALL, MEMBER(temperature)},
    [mjgKEY_TOOTH_PITCH] = {{"tooth_pitch", "rad", 0, INFINITY, 0, 1, 0,
        "of oneway: from tooth to tooth of a ratchet; the joint may fall back to the tooth that it passed last"}, mjgiALL, MEMBER(tooth_pitch)},
    [mjgKEY_TOOTH_PHASE] = {{"tooth_phase", "rad", -INFINITY, INFINITY, 1, 1, 0,
        "position of one of these teeth; 0 if not given"}, mjgiALL, MEMBER(tooth_phase)},
};
// clang-format on

#define MAX_NAME 31


//---------------------------------- names ---------------------------------------------------------

const mjgKeyInfo* mjg_keyInfo(int key) {
  return key >= 0 && key < mjgNKEY ? &kKeys[key].info : NULL;
}


int mjgi_keyTypes(int key) {
  return kKeys[key].types;
}


double* mjgi_keyMember(mjgTransmission* t, int key) {
  size_t member = kKeys[key].member;
  void* number = (char*)t + member - 1;
  return member ? number : NULL;
}


int mjgi_indexOf(const char* name, const void* rows, size_t size, int n) {
  for (int i = 0; name && i < n; i++) {
    const char* own;
    memcpy(&own, (const char*)rows + (size_t)i * size, sizeof(own));
    if (!strcmp(name, own)) {
      return i;
    }
  }
  return -1;
}


int mjg_keyFromName(const char* name) {
  return mjgi_indexOf(name, kKeys, sizeof(*kKeys), mjgNKEY);
}


// Returns the letters to insert, delete or replace to turn a into b, at most MAX_NAME long.
static int editDistance(const char* a, const char* b) {
  int na = (int)strlen(a), nb = (int)strlen(b);
  int row[MAX_NAME + 1];
  for (int j = 0; j <= nb; j++) {
    row[j] = j;
  }
  for (int i = 1; i <= na; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= nb; j++) {
      int above = row[j];
      int cost = diagonal + (a[i - 1] != b[j - 1]);
      int step = (above < row[j - 1] ? above : row[j - 1]) + 1;
      row[j] = cost < step ? cost : step;
      diagonal = above;
    }
  }
  return row[nb];
}


int mjg_nearest(const char* name, const char* const* names, int n) {
  if (!name || !*name || strlen(name) > MAX_NAME || !names) {
    return -1;
  }
  int nearest = -1;
  int least = ((int)strlen(name) + 2) / 3;
  for (int i = 0; i < n; i++) {
    int distance =
        !names[i] || strlen(names[i]) > MAX_NAME ? INT_MAX : editDistance(name, names[i]);
    if (distance <= least - (nearest >= 0)) {
      least = distance;
      nearest = i;
    }
  }

  for (int i = 0; i < n && nearest < 0 && strlen(name) > 2; i++) {
    nearest = names[i] && !strncmp(names[i], name, strlen(name)) ? i : -1;
  }
  return nearest;
}


int mjg_keyNearest(const char* name) {
  const char* names[mjgNKEY];
  for (int key = 0; key < mjgNKEY; key++) {
    names[key] = kKeys[key].info.name;
  }
  return mjg_nearest(name, names, mjgNKEY);
}


//---------------------------------- messages ------------------------------------------------------

void mjg_startReport(mjgReport* report, char* text, size_t size) {
  if (!report) {
    return;
  }
  report->text = text;
  report->size = text ? size : 0;
  report->length = 0;
  report->count = 0;
  report->where = NULL;
  if (report->size) {
    text[0] = 0;
  }
}


// Replace bytes that are not UTF-8, such as a cut letter, by '?': Python refuses them.
static void mendLetters(char* text) {
  for (unsigned char* c = (unsigned char*)text; *c; c++) {
    int more = *c >= 0xF0 && *c < 0xF5   ? 3
               : *c >= 0xE0 && *c < 0xF0 ? 2
               : *c >= 0xC2 && *c < 0xE0 ? 1
                                         : 0;
    int n = 0;
    while (n < more && (c[n + 1] & 0xC0) == 0x80) {
      n++;
    }
    if (n < more || (*c >= 0x80 && !more)) {
      *c = '?';
    } else {
      c += more;
    }
  }
}


static void append(mjgReport* report, const char* format, va_list arguments) {
  if (!report->text || report->length + 1 >= report->size) {
    return;
  }
  size_t room = report->size - report->length;
  mjgiLocale former = mjgi_enterC();
  int n = vsnprintf(report->text + report->length, room, format, arguments);
  mjgi_leaveC(former);
  mendLetters(report->text + report->length);
  if (n > 0) {
    report->length += (size_t)n < room ? (size_t)n : room - 1;
  }
}


static void appendf(mjgReport* report, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  append(report, format, arguments);
  va_end(arguments);
}


void mjg_vrefuse(mjgReport* report, const char* format, va_list arguments) {
  if (!report || !format) {
    return;
  }
  report->count++;
  if (report->where) {
    appendf(report, "%s: ", report->where);
  }
  append(report, format, arguments);
  appendf(report, "\n");
}


void mjg_refuse(mjgReport* report, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  mjg_vrefuse(report, format, arguments);
  va_end(arguments);
}


int mjgi_isOutside(mjgReport* report, const mjgKeyInfo* info, double value, const char* text,
                   const char* unit, double factor) {
  int low = value < info->min || (info->open_min && value <= info->min);
  int high = value > info->max || (info->open_max && value >= info->max);
  double limit = (low ? info->min : info->max) / factor;
  const char* side =
      low ? (info->open_min ? "above" : "of at least") : (info->open_max ? "below" : "of at most");
  if ((low || high) && text) {
    mjg_refuse(report, "%s = %s is out of range; write a value %s %g%s", info->name, text, side,
               limit, unit);
  } else if (low || high) {
    mjg_refuse(report, "%s = %g is out of range; write a value %s %g%s", info->name, value, side,
               limit, unit);
  }
  return low || high;
}


double mjg_readNumber(const char* text, const char** end) {
  if (!text) {
    return NAN;
  }
  mjgiLocale former = mjgi_enterC();
  char* last;
  double value = strtod(text, &last);
  mjgi_leaveC(former);
  if (end) {
    *end = last;
  }
  return value;
}
