// mjgear: from a data sheet to a joint.
//
// A catalogue page, a drawing or a measurement describes a gear in its own terms:
// efficiencies, the geometry of a worm, the torque that just turns the shaft. This header
// turns any of them into the coefficients of mjgear.h and back, and says in one line each
// what is wrong with a description. Nothing here is needed while a simulation runs except
// mjg_frictionAt.
//
// Everything is stated at the output side (rad, N m, kg m2 for a hinge, m, N, kg for a
// slide) but the keys that begin with "motor_", which are read at the motor shaft and
// need the ratio.
//
// Directions are those of the paper's Fig. 1: the motor torque f_u drives, the load
// torque f_v is what the output gives to the load, so that equal signs oppose each other.

#ifndef MJGEAR_PARAMS_H_
#define MJGEAR_PARAMS_H_

#include <stdarg.h>

#include "mjgear.h"

// the shared library exports what its public headers declare, and nothing else
#if defined(MJGEAR_EXPORTS) && defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif


//---------------------------------- geometry ------------------------------------------------------

// asymmetry coefficients of a screw or worm, (17); pressure_angle 0 is the lead screw of
// 3.2
//   lead_angle      of the thread at the pitch radius, in (0, pi/2)           rad
//   pressure_angle  of the flank in the normal section, in [0, pi/2)          rad
//   mu              friction coefficient of the flanks, >= 0                  1
// The thread locks itself, gamma_v >= 1, where mu >= tan(lead_angle) cos(pressure_angle).
// error: mjgERR_ARGUMENT, mjgERR_NOT_FINITE
int mjg_screw(double* gamma_u, double* gamma_v, double lead_angle, double pressure_angle,
              double mu);

// a pair of external involute spur gears. A pair of teeth touches on a straight line, the
// line of action, at the distance xi from the pitch point: xi < 0 while the teeth
// approach, on the flank of the input gear's root, xi > 0 while they recede, on the flank
// of its tip.
typedef struct mjgSpur_ {
  double radius_in;       // pitch radius of the input gear, > 0           m
  double radius_out;      // pitch radius of the output gear, > 0          m
  double pressure_angle;  // in (0, pi/2)                                  rad
  double mu;              // friction coefficient of the flanks, >= 0      1
  double approach;        // a pair of teeth is in contact for             m
  double recess;          //   -approach <= xi <= recess
  double pitch;           // distance of successive contact points, the    m
                          //   base pitch, at least a thousandth of
                          //   approach + recess; 0: approach + recess, so
                          //   that always exactly one pair is in contact
} mjgSpur;


//---------------------------------- transmission --------------------------------------------------

// what a table multiplies, and over what: x is of the output side
typedef enum mjgTableKind_ {
  mjgTABLE_COULOMB_SPEED = 0,    // all that does not depend on the load, over |v|      rad/s
  mjgTABLE_COULOMB_TEMPERATURE,  //   and over the temperature                          degC
  mjgTABLE_GAMMA_TORQUE,         // both asymmetry coefficients, over the torque of     N m
                                 //   the driven side, the smaller one
  mjgTABLE_GAMMA_SPEED,          //   over |v|                                          rad/s
  mjgTABLE_GAMMA_TEMPERATURE,    //   and over the temperature                          degC
  mjgNTABLE
} mjgTableKind;

// a factor over x: linear between its points, constant before the first and behind the
// last
#define mjgMAXPOINT 8
typedef struct mjgTable_ {
  int n;                       // points; 0: the factor is 1
  double x[mjgMAXPOINT];       // ascending
  double factor[mjgMAXPOINT];  // >= 0                                         1
} mjgTable;

// one joint's gear and all its friction, at the output side. The coefficients that the
// step uses are gamma_u + S gamma_u_stribeck and so on, with S = exp(-|v /
// stribeck_velocity|^exponent), so that S = 1 at rest.
typedef struct mjgTransmission_ {
  double gamma_u;  // asymmetry coefficients of a sliding gear      1
  double gamma_v;
  double gamma_u_stribeck;  // what they gain at rest                        1
  double gamma_v_stribeck;
  double gamma_u_quadratic;     // at rest and for each unit of torque: driven   1/(N m)
  double gamma_v_quadratic;     //   by the load |u|, driven by the motor |x|
  double coulomb;               // load-independent friction                     N m
  double static_ratio;          // static to sliding bound, >= 1                 1
  double presliding_stiffness;  // of a stuck joint below break-away, > 0;       N m/rad
                                //   0: it does not yield
  double stribeck_friction;     // what coulomb gains at rest                    N m
  double stribeck_velocity;     // > 0                                           rad/s
  double stribeck_exponent;     // > 0                                           1
  double curved_friction;       // what coulomb gains at curved_velocity; grows  N m
  double curved_velocity;       //   with |v / curved_velocity|^curved_exponent, rad/s
  double curved_exponent;       //   both > 0                                    1
  double oneway;                // 1: turns forward only, -1: backward only; 0   1
                                //   both. The core's solvers do not know it
  double tooth_pitch;           // from tooth to tooth of a ratchet, which holds at   rad
                                //   the last that it passed; 0: it holds anywhere
  double tooth_phase;           // where one of its teeth is                          rad
  double viscous;               // MJCF's damping                                N m/(rad/s)
  double armature;              // rotor inertia, MJCF's armature                kg m2
  double ratio;                 // motor per output motion; 0: not known         1, rad/m
  mjgSpur spur;                 // if mesh: gears whose coefficients follow the
  int mesh;                     //   angle and replace gamma_u, gamma_v
  double temperature;           // at which tables over it are read; 20 if not known   degC
  mjgTable table[mjgNTABLE];    // multiply all of the above that they name, gains at rest too
} mjgTransmission;

// no friction, no inertia, static_ratio 1
void mjg_defaultTransmission(mjgTransmission* transmission);

// check each number of a gear. What is wrong goes into the report, a line each. Returns the
// number of problems; 0 for what mjg_transmission makes. The functions of gears below
// check theirs so, but for mjg_frictionAt, which steps call: its gear must have passed.
// error: mjgERR_ARGUMENT
struct mjgReport_;
int mjg_checkTransmission(struct mjgReport_* report, const mjgTransmission* transmission);

// what one step needs: asymmetry coefficients and load-independent bound for a joint at
// angle q and velocity v (before the step; 0: at rest) whose gear received u and
// delivered x in the last step. Where all coefficients are constant these four do not
// matter.
void mjg_frictionAt(double* gamma_u, double* gamma_v, double* coulomb,
                    const mjgTransmission* transmission, double q, double v, double u, double x);

// 1 if a joint at rest stays at rest under motor torque f_u and load torque f_v, (23)
// with all that friction gains at rest, else 0. error: mjgERR_ARGUMENT for a gear that
// mjg_checkTransmission refuses, mjgERR_NOT_FINITE
int mjg_sticks(const mjgTransmission* transmission, double f_u, double f_v);

// motor torque f_u at which a joint at rest that holds the load f_v breaks away in the
// direction +1 or -1; load torque f_v at which one whose motor holds f_u does. direction
// * INFINITY (motor) or -direction * INFINITY (load) if no torque moves it. NaN for
// another direction, for a torque that is not finite, and for a gear that
// mjg_checkTransmission refuses.
double mjg_breakawayMotor(const mjgTransmission* transmission, double f_v, int direction);
double mjg_breakawayLoad(const mjgTransmission* transmission, double f_u, int direction);

// what can be said about a gear. Torques are INFINITY where none suffices.
typedef struct mjgFacts_ {
  mjgTransmission gear;
  double eta_f;  // efficiencies, sliding; NAN: gamma = -1 has none         1
  double eta_b;
  double eta_f_rest;  // and at rest, with all that friction gains there         1
  double eta_b_rest;
  int backdrivable;      // sliding: gamma_v < 1
  int forward_drivable;  // sliding: gamma_u < 1
  int varies;            // coefficients at rest differ from those of sliding
  double load;           // at which the torques below are told                     N m
  double raise;          // motor torques that break the load away forward          N m
  double lower;          //   and backward
  double hold_low;       // motor torques between which the load stands still       N m
  double hold_high;
  double start_forward;     // motor torque that starts the unloaded joint             N m
  double start_backward;    // load torque that starts it with the motor off           N m
  double inertia;           // of the output side, -1: not known                       kg m2
  double inertia_forward;   // apparent inertia if the motor drives, NAN: not known    kg m2
  double inertia_backward;  // and if the load drives, INFINITY: it cannot
  double rho;               // rho-hat, (29); NAN: not known                           1
  int catalogue_locks;      // what a catalogue would conclude from eta_f alone (self-locking below
                            //   0.5): 0 no, 1 yes, -1 uncertain, from 0.45 to 0.55
} mjgFacts;

// find what can be said about a gear
//   load     at which motor torques are told                                           N m
//   inertia  of the output side, -1: not known                                         kg m2
// Torques are NaN for a gear that mjg_checkTransmission refuses.
void mjg_explain(mjgFacts* facts, const mjgTransmission* transmission, double load, double inertia);


//---------------------------------- descriptions --------------------------------------------------

// how a gear is described
typedef enum mjgType_ {
  mjgTYPE_AUTO = 0,      // whichever the given keys say
  mjgTYPE_COEFFICIENTS,  // gamma_u, gamma_v
  mjgTYPE_EFFICIENCY,    // eta_forward, and eta_backward or 2 - 1/eta_forward
  mjgTYPE_STARTING,      // starting torques, with eta_forward if it is known
  mjgTYPE_LEADSCREW,     // lead angle and friction coefficient, 3.2
  mjgTYPE_WORM,          // and pressure angle, 3.3
  mjgTYPE_SPUR,          // pitch radii, pressure angle, friction, path of contact, 3.4
  mjgTYPE_WEDGE,         // angles of both motions to the contact surface, friction, 3.1
  mjgTYPE_PLANETARY,     // teeth and losses of the meshes
  mjgTYPE_STRAIN_WAVE,   // what catalogues of strain wave gears say
  mjgTYPE_CAPSTAN,       // wrap angle and friction of a rope or belt
  mjgTYPE_LOSS,          // shares of the torque into the gear that it loses
  mjgNTYPE
} mjgType;

// every quantity a description may give; mjg_keyInfo says what each is
typedef enum mjgKey_ {
  mjgKEY_GAMMA_U = 0,
  mjgKEY_GAMMA_V,
  mjgKEY_ETA_FORWARD,
  mjgKEY_ETA_BACKWARD,
  mjgKEY_STARTING_FORWARD,
  mjgKEY_STARTING_BACKWARD,
  mjgKEY_LEAD_ANGLE,
  mjgKEY_LEAD,
  mjgKEY_PITCH_DIAMETER,
  mjgKEY_PRESSURE_ANGLE,
  mjgKEY_MU,
  mjgKEY_RADIUS_IN,
  mjgKEY_RADIUS_OUT,
  mjgKEY_CONTACT,
  mjgKEY_MODULE,
  mjgKEY_MESH,
  mjgKEY_INPUT_ANGLE,
  mjgKEY_OUTPUT_ANGLE,
  mjgKEY_TEETH_SUN,
  mjgKEY_TEETH_PLANET,
  mjgKEY_TEETH_RING,
  mjgKEY_TEETH_PLANET_OUT,
  mjgKEY_TEETH_RING_OUT,
  mjgKEY_MESH_EFFICIENCY,
  mjgKEY_RATED_TORQUE,
  mjgKEY_RATED_EFFICIENCY,
  mjgKEY_NO_LOAD_TORQUE,
  mjgKEY_WRAP_ANGLE,
  mjgKEY_MU_AVG,
  mjgKEY_MU_DIF,
  mjgKEY_COULOMB,
  mjgKEY_STATIC_RATIO,
  mjgKEY_PRESLIDING_STIFFNESS,
  mjgKEY_STRIBECK_FRICTION,
  mjgKEY_STRIBECK_VELOCITY,
  mjgKEY_STRIBECK_EXPONENT,
  mjgKEY_CURVED_FRICTION,
  mjgKEY_CURVED_VELOCITY,
  mjgKEY_CURVED_EXPONENT,
  mjgKEY_GAMMA_U_STRIBECK,
  mjgKEY_GAMMA_V_STRIBECK,
  mjgKEY_GAMMA_U_QUADRATIC,
  mjgKEY_GAMMA_V_QUADRATIC,
  mjgKEY_ONEWAY,
  mjgKEY_VISCOUS,
  mjgKEY_ARMATURE,
  mjgKEY_RATIO,
  mjgKEY_MOTOR_STARTING,
  mjgKEY_MOTOR_COULOMB,
  mjgKEY_MOTOR_VISCOUS,
  mjgKEY_MOTOR_INERTIA,
  mjgKEY_GEAR_INERTIA,
  mjgKEY_TEMPERATURE,
  mjgKEY_TOOTH_PITCH,
  mjgKEY_TOOTH_PHASE,
  mjgNKEY
} mjgKey;

typedef struct mjgKeyInfo_ {
  const char* name;  // as it is written in a file
  const char* unit;  // of a hinge; "1" if it has none
  double min;        // permitted range, ends included unless open
  double max;
  int open_min;      // 1: min itself is not permitted
  int open_max;      // 1: max itself is not permitted
  int engine;        // 1: MJCF has an attribute of its own for it (armature, damping)
  const char* text;  // what it is, one line
} mjgKeyInfo;

// what a key is; null if key is out of range
const mjgKeyInfo* mjg_keyInfo(int key);

// the key of this name, or -1; the key with the most similar name, or -1 if none
// resembles it
int mjg_keyFromName(const char* name);
int mjg_keyNearest(const char* name);

// number of the most similar of n names, else of the first that begins with name, or -1
// if none resembles it
int mjg_nearest(const char* name, const char* const* names, int n);

// "leadscrew" and so on; null if type is out of range; -1 if no type has this name
const char* mjg_typeName(int type);
int mjg_typeFromName(const char* name);

typedef struct mjgDescription_ {
  int type;            // mjgType
  int given[mjgNKEY];  // 1: value[key] was given
  double value[mjgNKEY];
  mjgTable table[mjgNTABLE];
} mjgDescription;

// nothing given
void mjg_defaultDescription(mjgDescription* description);

// give a key a value; a key that does not exist (mjg_keyInfo) is left out
void mjg_give(mjgDescription* description, int key, double value);

// forget the keys that say in other words what a key says (armature: motor_inertia and
// gear_inertia), so that what is given beside a preset takes the place of what the preset
// says
void mjg_forget(mjgDescription* description, int key);


//---------------------------------- messages ------------------------------------------------------

// collects what is wrong, one line a problem: where, what, and what to write instead.
// Memory from the caller; a line that does not fit is cut, count is right nevertheless. The
// text is UTF-8: bytes that are not, such as half a letter of a name that was cut, are '?'.
typedef struct mjgReport_ {
  char* text;         // null-terminated lines; nullable
  size_t size;        // of text, bytes; 0: count only
  size_t length;      // used so far
  int count;          // number of problems
  const char* where;  // put before each line with ": "; nullable
} mjgReport;

// an empty report; text is nullable
void mjg_startReport(mjgReport* report, char* text, size_t size);

// add one line: what is wrong and, after a semicolon, the remedy
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void mjg_refuse(mjgReport* report, const char* format, ...);

// the same with the arguments of another function
#if defined(__GNUC__)
__attribute__((format(printf, 2, 0)))
#endif
void mjg_vrefuse(mjgReport* report, const char* format, va_list arguments);

// the number that a text begins with, as strtod reads it, but with a decimal point
// whatever locale the process has set; *end (nullable) is what follows it, the text
// itself if it begins with none. Lines of a report have decimal points too.
double mjg_readNumber(const char* text, const char** end);

// read a number with or without a unit: "0.5", "2 Nm", "0.2kgcm2", "5deg", "80%", "1.5 N
// m/rad". Units are listed in the tool's help, and the quantity's own as
// mjgKeyInfo spells it; spaces and ^ do not matter. The unit "N m" of info takes N too,
// for a slide; "Nm" is a torque and "N" a force. A number with a unit must be in the
// range of info, which is told in that unit; one without is left to mjg_transmission.
//   value  in info->unit; untouched if the text is refused
// Returns 0, or -1 after a line in the report.
int mjg_readQuantity(double* value, mjgReport* report, const mjgKeyInfo* info, const char* text);

// the numbers of a gap and of its rotor, which a description does not have: name, unit
// and text of number k, null if there is none. Their ranges are checked by
// mjg_backlashError of mjgear_backlash.h
const mjgKeyInfo* mjg_gapKeyInfo(int k);

// the name of a table, "coulomb_speed" and so on, and its kind; null, -1 if there is none
const char* mjg_tableName(int kind);
int mjg_tableFromName(const char* name);

// read a table: pairs of x and factor, "0 1 5 1.2", at most mjgMAXPOINT of them with x
// ascending, SI, without units; x is not negative but for a temperature. Returns 0, or -1
// after a line in the report
int mjg_readTable(mjgTable* table, mjgReport* report, int kind, const char* text);

// the transmission that a description means. Every problem found goes into the report.
// Returns the number of problems; if it is not 0 the transmission is left untouched.
// error: mjgERR_ARGUMENT
int mjg_transmission(mjgTransmission* transmission, mjgReport* report,
                     const mjgDescription* description);

// a line for the report where a description makes a gear self-locking by the assumption
// eta_backward = 2 - 1/eta_forward alone, which is below 0 for each eta_forward below
// 0.5. Returns 1 if there is one, else 0. error: mjgERR_ARGUMENT
int mjg_warnAssumed(mjgReport* report, const mjgDescription* description);

// describe a transmission as description->type says. What the type leaves open is taken
// from the keys that are given: pressure_angle for worm (0 for leadscrew, if not given),
// pressure_angle, mu and radius_in for spur. All other keys are overwritten. Returns the
// number of problems, for instance that no worm has these coefficients. error:
// mjgERR_ARGUMENT
int mjg_describe(mjgDescription* description, mjgReport* report,
                 const mjgTransmission* transmission);


//---------------------------------- presets -------------------------------------------------------

// a transmission whose description was published or whose assumptions are stated
typedef struct mjgPreset_ {
  const char* name;    // "harmonic_drive"
  const char* title;   // one line
  const char* source;  // where the numbers are from, or what was assumed
  const char* remark;  // what to know before using it, nullable
  mjgDescription description;
  double torque_constant;  // of the motor, at the output side; 0: not known      N m/A
  double resistance;       // of the motor winding; 0: not known                  Ohm
} mjgPreset;

int mjg_presetCount(void);

// fill in preset i; mjgERR_ARGUMENT if there is none
int mjg_preset(mjgPreset* preset, int i);

// number of the preset of this name, or -1
int mjg_presetFromName(const char* name);


#ifdef __cplusplus
}
#endif

#if defined(MJGEAR_EXPORTS) && defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif  // MJGEAR_PARAMS_H_
