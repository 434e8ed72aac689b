// Functions that libmjgear.so exports beside the plugin: gears that change while a
// simulation runs, and inverse dynamics.
//
// A step uses the gears of the stepped model, changed by the state of the simulation. The
// functions below write such changes into mjData.plugin_state, for instance for domain
// randomization; the model, which threads share, stays as it is. Threads may call them at the
// same time for different mjData, but not for one that another thread steps.
//
// A change is state like a position, and holds from the next step on. mj_getState, mj_setState
// and mj_copyData copy it, each simulation of a Batch has its own, and mj_resetData ends it.
// Rotor inertia and damping are the engine's: change mjModel.dof_armature and
// mjModel.dof_damping.
//
// In Python load the library with ctypes and pass the addresses of model and data:
//
//     mujoco.mj_loadPluginLibrary(path)
//     gears = ctypes.CDLL(path)
//     error = ctypes.create_string_buffer(500)
//     status = gears.mjg_setGear(ctypes.c_void_p(model._address), ctypes.c_void_p(data._address),
//                                joint, b"mu", ctypes.c_double(0.12), error, len(error))
//
// joint is the id of a joint; of a geared tendon it is mjModel.njnt plus the tendon's id:
// mjg_gearId gives either by name.
//
// Model and data must belong together: the data were made or reset with this model, or
// with one of the same structure. Null pointers and data of another model are refused.

#ifndef MJGEAR_PLUGIN_H_
#define MJGEAR_PLUGIN_H_

#include <mujoco/mujoco.h>

#if defined(__GNUC__)
#define MJGAPI __attribute__((visibility("default")))
#else
#define MJGAPI
#endif

#ifdef __cplusplus
extern "C" {
#endif

// the number that names a gear in all functions below, of the joint (mjOBJ_JOINT) or tendon
// (mjOBJ_TENDON) of this name; -1 if the model has none of this name, or objtype is another
MJGAPI int mjg_gearId(const mjModel* m, int objtype, const char* name);

// Set keys of a gear or of its gap (doc/mjcf.md) to new values; other keys stay. A joint and its
// motor_joint are one gear. Keys of one kind of gear only, such as mu, can change if the model
// gives them. All n keys change together or none: returns 0, or -1 with lines in error
// (nullable), each with the problem and the remedy.
MJGAPI int mjg_setGears(const mjModel* m, mjData* d, int joint, const char* const* key,
                        const double* value, int n, char* error, int error_sz);

// the same for one key
MJGAPI int mjg_setGear(const mjModel* m, mjData* d, int joint, const char* key, double value,
                       char* error, int error_sz);

// Describe a gear anew: the keys (coefficients, efficiencies or starting torques) replace its
// former description, such as a type with its geometry; additional friction and the gap stay.
// Otherwise as mjg_setGears.
MJGAPI int mjg_describeGear(const mjModel* m, mjData* d, int joint, const char* const* key,
                            const double* value, int n, char* error, int error_sz);

// Set the solver of all gears, by its name in doc/mjcf.md; as mjg_setGears.
MJGAPI int mjg_setSolver(const mjModel* m, mjData* d, const char* solver, char* error,
                         int error_sz);

// Get the value of a key, of a table the number of its points. Returns 1 if it was given, 0 if
// not (value is untouched), -1 if the joint has no gear or the key does not exist. gamma_u,
// gamma_v and both efficiencies, of sliding, are always known, and so are all numbers of a gap's
// model. "brake" is the share of its torque that the joint's brake had in the last step, 0 open
// to 1 closed.
MJGAPI int mjg_getGear(double* value, const mjModel* m, const mjData* d, int joint,
                       const char* key);

// Read the numbers of a sensor (doc/sensors.md) at the joint's gear, of the last step. Returns
// their number (value may be null), or -1 if the joint has no gear.
MJGAPI int mjg_readGear(double* value, const mjModel* m, const mjData* d, int joint);

// Explain the joint's gear (mjgFacts of mjgear_report.h) with its rotor, the inertia behind it
// and the load that it holds in the pose of the last mj_forward (1 N m if that is 0). Returns 0,
// or -1 if the joint has no gear. Uses the stack of d.
typedef struct mjgFacts_ mjgFacts;
MJGAPI int mjg_explainGear(mjgFacts* facts, const mjModel* m, mjData* d, int joint);

// name of the solver, null if the model has no gear
MJGAPI const char* mjg_getSolver(const mjModel* m, const mjData* d);

// Reset all gears and the solver to the model's. Returns 0, or -1 if the model has none or the
// data are not of this model.
MJGAPI int mjg_resetGears(const mjModel* m, mjData* d);

//---------------------------------- inverse dynamics ----------------------------------------------

// state of a gear in a motion
typedef enum mjgMotion_ {
  mjgMOTION_NONE = -1,     // no motor torque makes it, low and high are NaN
  mjgMOTION_UNGEARED = 0,  // the joint or tendon has no gear
  mjgMOTION_MOVES = 1,     // it moves: one torque
  mjgMOTION_RESTS = 2,     // it stands still at the end of the step: a torque of an interval
  mjgMOTION_ROTOR = 3,     // its rotor is behind a gap, and the rotor's acceleration was not given
  mjgMOTION_HELD = 4,      // it moves, but static friction would hold it by itself: from the
                           //   torque with which it slides on, to the one that breaks it away
  mjgMOTION_JAMS = 5,      // it is driven by its load, but its gear locks: the law allows the
                           //   motion with one torque, and by itself the joint would stop instead
  mjgMOTION_SLEEPS = 6     // its kinematic tree is asleep
} mjgMotion;

// Motor torques that make a motion: for each gear an interval, low to high, of the torque or
// force of its actuators at the start of the step, N m or N at the output side (their part of
// qfrc_actuator; of a tendon, along it). All other forces act: loads and gains of actuators at
// the controls in d, constraints, limits, springs, applied forces, rotor inertia.
//
//   low, high   (njnt + ntendon) by mjg_gearId; NaN without a gear. A motor_joint and its joint have
//               the same. Infinite where no torque would move the joint
//   motion      (njnt + ntendon) nullable, mjgMotion
//   d           the state before the step. Positions and velocities are computed anew, and all that mj_inverse writes;
//               qacc and the state stay. Call it between steps, not between mj_step1 and mj_step2
//   qacc        (nv) (v+ - v)/h, v+ the velocity after the step, with any integrator but RK4. Null: the
//               acceleration in d as mj_forward left it. Like positions, velocities and applied forces
//               finite and at most 1e10, beyond which the engine resets
//   rotor       (njnt) nullable, acceleration of rotors behind gaps, (w+ - w)/h; NaN: not given. Those of tendons
//               have no place here: mjgMOTION_ROTOR
//
// By its law a self-locking gear rests in all of its interval; a motor that pushes along with the
// load may unlock it before the end. HELD and JAMS assume the other joints and constraints of the
// motion, and are not set for gears behind gaps. Solvers that do not end at the minimum (PGS,
// noslip) make another motion than the engine's inverse dynamics. Returns the number of gears
// with NONE or JAMS, or -1 with a line in error (nullable). Uses the stack of d.
MJGAPI int mjg_inverse(double* low, double* high, int* motion, const mjModel* m, mjData* d,
                       const mjtNum* qacc, const mjtNum* rotor, char* error, int error_sz);

//---------------------------------- derivatives ----------------------------------------------------

// side on which a derivative holds: gears keep their branches and controls their ranges, within
// eps
typedef enum mjgSide_ {
  mjgSIDE_BACK = -1,
  mjgSIDE_BOTH = 0,
  mjgSIDE_AHEAD = 1,
  mjgSIDE_NEITHER = 2,  // the derivative is that of the branch in between
  mjgSIDE_UNKNOWN = 3   // not known: rows are zero
} mjgSide;

// Derivatives of a step by its controls, with gears and constraints in the states of this step,
// in which it is linear in motor torque: no step is taken.
//   qvel   (nu x nv) of velocities after the step; state (nu x npluginstate) of the state of gears
//   side   (nu) mjgSide, with changes of controls by eps
//   d      the state before the step; afterwards as mj_forward leaves it
// Not known by controls of actuators with activation, or a gain that is no constant (Euler: with
// activation). Not known at all with PGS, noslip, RK4, sleep, rotors behind gaps
// whose gear is self-locking, has a static ratio or a negative asymmetry coefficient; where a
// shaft is at a jump of its torque; and of a step that is not solved. Returns the number of known
// derivatives, or -1 with a line in error (nullable) if an argument is wrong. Uses the stack of d.
MJGAPI int mjg_controlDerivative(double* qvel, double* state, int* side, const mjModel* m,
                                 mjData* d, double eps, char* error, int error_sz);

//---------------------------------- checking ------------------------------------------------------

// Returns the name of a plugin that accepts every configuration and does nothing, for
// mjg_checkModel: with it a model with wrong gears compiles. Registered by the first call.
MJGAPI const char* mjg_acceptingPlugin(void);

// List all problems of a model's gears, one line each, as 'mjgear check': of instances of
// mjg_acceptingPlugin if it has any, else of the plugin's own. Without problems, warnings
// (nullable) are lines about gears that do nothing or would be left behind. Texts are cut to
// their sizes. Returns the number of problems, or -1 if m is null.
MJGAPI int mjg_checkModel(const mjModel* m, char* problems, int problems_sz, char* warnings,
                          int warnings_sz);

// find the actuators of a joint or tendon (mjg_gearId), by number (nactuator): 1 motors
// of its gear, or of a gear that it could have, -1 loads on its link, 0 neither
// (doc/mjcf.md, "Motors and loads"). Returns the number of motors and loads, or -1 if the
// gears of the model are refused or the joint is neither hinge nor slide
MJGAPI int mjg_actuatorRoles(int* role, const mjModel* m, int joint);

// Returns 1, with a line in error, if an instance may not have this key, else 0.
MJGAPI int mjg_checkKey(const char* instance, const char* key, char* error, int error_sz);


//---------------------------------- changes as numbers --------------------------------------------

// address of a number in mjData.plugin_state, and so in each row of Batch.bind('plugin_state')
// and, after mj_stateSize(m, the lower bits), in the state of mj_getState with mjSTATE_PLUGIN
typedef struct mjgStateAddress_ {
  int value;   // plugin_state[value] is the number
  int given;   // it counts where plugin_state[given], a sum of bits, contains its bit;
  double bit;  //   -1 and 0: it always counts
} mjgStateAddress;

// address of a number of a joint's gear or gap, by its name:
//   a key that is a number of the law (gamma_u, coulomb, half_gap and so on), not one that describes a gear, such as
//              eta_forward: mjg_setGear converts these. Write the value, and add the bit to plugin_state[given] unless it
//              is set. Numbers that make an invalid gear with the model's are refused with one line, the model's gear
//              stays in effect, and the step has the status mjgERR_ARGUMENT (sensor 11).
//   "given" "given_2"   sums of bits, of 32 keys and of all others; the address of a key names the sum with its bit
//   "friction" "mode"   of the last step: torque; -1, 0 or 1, doubled if lambda was negative
//   "tooth"    of a ratchet (key tooth_pitch): 2 k + 1 of the tooth k that it passed last, 0 before the first step
//   "gap_started" "rotor_angle" "rotor_velocity" "gap_position" "gap_twist"   of a gap: 0 before the first step;
//              rotor minus joint (0 for a motor_joint); theta_b; omega_s of mjgear_backlash.h
//   "brake_travel"   travel of the joint's brake from its place without power, from 0 to 1; 0 after a reset. The brake
//              is open by this share, or with normally="open" closed; mjg_getGear's "brake" is its acting share of torque
// and of the whole system, for any joint:
//   "solver"    0: the model's, or 1 + mjgSolver; "fallbacks": count of sensor 12; "steps" "unsolved" "slow":
//              steps with gears, unsolved steps by their status, and steps in which the solver fell back on another
//              method
// 0, or -1 if the joint has no such number. The address is the same for all models of the
// same structure and the same instances; it reads the model's configuration, so ask once.
MJGAPI int mjg_stateAddress(mjgStateAddress* address, const mjModel* m, int joint,
                            const char* name);

// mjg_setGears, or mjg_describeGear where describe (n, nullable) has a 1, in many
// plugin_state, for instance the rows of Batch.bind('plugin_state'): key[k] of the gear of
// joint[k] gets value[i * n + k] in state i; keys of one joint stand side by side. stride:
// numbers from one state to the next. All change or none; a line in error names the first
// state that is refused
MJGAPI int mjg_setStates(const mjModel* m, mjtNum* plugin_state, int nstate, int stride,
                         const int* joint, const char* const* key, const double* value,
                         const int* describe, int n, char* error, int error_sz);

// mjg_getGear of many plugin_state: value (nstate), NaN where the key is not given. 1:
// given in all, 0: not in all, -1 as mjg_getGear
MJGAPI int mjg_getStates(double* value, const mjModel* m, const mjtNum* plugin_state, int nstate,
                         int stride, int joint, const char* key);

#ifdef __cplusplus
}
#endif

#endif  // MJGEAR_PLUGIN_H_
