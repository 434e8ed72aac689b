// mjgear: gears, and their description in a data sheet.
//
// A transmission (mjgTransmission) has the coefficients that mjgear.h needs. A description
// (mjgDescription) has the terms of a catalogue page, a drawing or a measurement:
// efficiencies, the geometry of a worm, a starting torque. mjgear_report.h converts between
// them. A running simulation needs mjg_frictionAt alone.
//
// All quantities are those of the output side (rad, N m, kg m2 for a hinge, m, N, kg for a
// slide). Keys that begin with "motor_" are those of the motor shaft and need the ratio.
//
// Directions are those of the paper's Fig. 1: the motor torque f_u drives, the load
// torque f_v is what the output gives to the load, so that equal signs oppose each other.

#ifndef MJGEAR_CATALOGUE_H_
#define MJGEAR_CATALOGUE_H_

#include "mjgear.h"

mjgBEGIN


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

// quantity that a table multiplies, and its argument x, at the output side
typedef enum mjgTableKind_ {
  mjgTABLE_COULOMB_SPEED = 0,    // load-independent friction, over |v|                 rad/s
  mjgTABLE_COULOMB_TEMPERATURE,  //   and over the temperature                          degC
  mjgTABLE_GAMMA_TORQUE,         // both asymmetry coefficients, over the torque of     N m
                                 //   the driven side, the smaller one
  mjgTABLE_GAMMA_SPEED,          //   over |v|                                          rad/s
  mjgTABLE_GAMMA_TEMPERATURE,    //   and over the temperature                          degC
  mjgNTABLE
} mjgTableKind;

// a factor over x: linear between its points, constant before the first and after the last
#define mjgMAXPOINT 8
typedef struct mjgTable_ {
  int n;                       // points; 0: the factor is 1
  double x[mjgMAXPOINT];       // ascending
  double factor[mjgMAXPOINT];  // >= 0                                         1
} mjgTable;

// the gear of one joint and all its friction, at the output side. A step uses gamma_u + S
// gamma_u_stribeck and so on, with S = exp(-|v / stribeck_velocity|^exponent), S = 1 at rest.
typedef struct mjgTransmission_ {
  double gamma_u;  // asymmetry coefficients of a sliding gear      1
  double gamma_v;
  double gamma_u_stribeck;  // their increase at rest                        1
  double gamma_v_stribeck;
  double gamma_u_quadratic;     // increase at rest per unit of torque: driven    1/(N m)
  double gamma_v_quadratic;     //   by the load |u|, driven by the motor |x|
  double coulomb;               // load-independent friction                     N m
  double static_ratio;          // static to sliding bound, >= 1                 1
  double presliding_stiffness;  // stiffness of a stuck joint, > 0;              N m/rad
                                //   0: it does not yield
  double stribeck_friction;     // increase of coulomb at rest                   N m
  double stribeck_velocity;     // > 0                                           rad/s
  double stribeck_exponent;     // > 0                                           1
  double curved_friction;       // increase of coulomb at curved_velocity; grows  N m
  double curved_velocity;       //   with |v / curved_velocity|^curved_exponent, rad/s
  double curved_exponent;       //   both > 0                                    1
  double oneway;                // 1: turns forward only, -1: backward only; 0   1
                                //   both. The core's solvers do not know it
  double tooth_pitch;           // from tooth to tooth of a ratchet, which holds at   rad
                                //   the last that it passed; 0: it holds anywhere
  double tooth_phase;           // position of one of its teeth                       rad
  double viscous;               // MJCF's damping                                N m/(rad/s)
  double armature;              // rotor inertia, MJCF's armature                kg m2
  double ratio;                 // motor per output motion; 0: not known         1, rad/m
  mjgSpur spur;                 // if mesh: gears whose coefficients follow the
  int mesh;                     //   angle and replace gamma_u, gamma_v
  double temperature;           // temperature for tables over it; 20 if not known   degC
  mjgTable table[mjgNTABLE];    // multiply all of the above that they name, gains at rest too
} mjgTransmission;

// no friction, no inertia, static_ratio 1
void mjg_defaultTransmission(mjgTransmission* transmission);

// Compute asymmetry coefficients and load-independent bound of a step for a joint at angle q and
// velocity v (before the step; 0: at rest) whose gear received u and delivered x in the last
// step. If all coefficients are constant these four do not matter.
void mjg_frictionAt(double* gamma_u, double* gamma_v, double* coulomb,
                    const mjgTransmission* transmission, double q, double v, double u, double x);


//---------------------------------- descriptions --------------------------------------------------

// types of description
typedef enum mjgType_ {
  mjgTYPE_AUTO = 0,      // the type of the given keys
  mjgTYPE_COEFFICIENTS,  // gamma_u, gamma_v
  mjgTYPE_EFFICIENCY,    // eta_forward, and eta_backward or 2 - 1/eta_forward
  mjgTYPE_STARTING,      // starting torques, with eta_forward if it is known
  mjgTYPE_LEADSCREW,     // lead angle and friction coefficient, 3.2
  mjgTYPE_WORM,          // and pressure angle, 3.3
  mjgTYPE_SPUR,          // pitch radii, pressure angle, friction, path of contact, 3.4
  mjgTYPE_WEDGE,         // angles of both motions to the contact surface, friction, 3.1
  mjgTYPE_PLANETARY,     // teeth and losses of the meshes
  mjgTYPE_STRAIN_WAVE,   // data of a strain wave catalogue
  mjgTYPE_CAPSTAN,       // wrap angle and friction of a rope or belt
  mjgTYPE_LOSS,          // lost shares of the torque into the gear
  mjgNTYPE
} mjgType;

// every quantity of a description; see mjg_keyInfo
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

typedef struct mjgDescription_ {
  int type;            // mjgType
  int given[mjgNKEY];  // 1: value[key] was given
  double value[mjgNKEY];
  mjgTable table[mjgNTABLE];
} mjgDescription;

// Give nothing.
void mjg_defaultDescription(mjgDescription* description);

// Give a key a value; an unknown key is ignored.
void mjg_give(mjgDescription* description, int key, double value);

// Remove the keys equivalent to a key (armature: motor_inertia and gear_inertia), so that it
// replaces them in a preset's description.
void mjg_forget(mjgDescription* description, int key);


//---------------------------------- presets -------------------------------------------------------

// a transmission with a published description, or with stated assumptions
typedef struct mjgPreset_ {
  const char* name;    // "harmonic_drive"
  const char* title;   // one line
  const char* source;  // source of the numbers, or the assumptions
  const char* remark;  // note for users, nullable
  mjgDescription description;
  double torque_constant;  // torque constant, at the output side; 0: not known   N m/A
  double resistance;       // resistance of the winding; 0: not known             Ohm
} mjgPreset;

int mjg_presetCount(void);

// Fill in preset i; mjgERR_ARGUMENT if there is none.
int mjg_preset(mjgPreset* preset, int i);

// Returns the number of the preset of this name, or -1.
int mjg_presetFromName(const char* name);


mjgEND

#endif  // MJGEAR_CATALOGUE_H_
