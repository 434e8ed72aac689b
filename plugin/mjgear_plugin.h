// Functions that libmjgear.so exports beside the plugin: gears that change while a simulation runs.
//
// Every mjData has its own copy of the gears that the model's <config> elements describe. These
// functions change the copy, for instance for domain randomization; the model, which threads share,
// stays as it is. They cost nothing if they are not called. Threads may call them at the same time
// for different mjData, but not for one that another thread steps.
//
// A change holds from the next step on until the next change. mj_copyData copies it, mj_resetData
// keeps it, mj_getState does not contain it. Rotor inertia and damping are the engine's: change
// mjModel.dof_armature and mjModel.dof_damping.
//
// In Python load the library with ctypes and pass the addresses of model and data:
//
//     mujoco.mj_loadPluginLibrary(path)
//     gears = ctypes.CDLL(path)
//     error = ctypes.create_string_buffer(500)
//     status = gears.mjg_setGear(ctypes.c_void_p(model._address), ctypes.c_void_p(data._address),
//                                joint, b"mu", ctypes.c_double(0.12), error, len(error))

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

// give keys of the README's tables that are numbers of a gear or of its gap new values in the gear of
// a joint; those that were given before and are not named stay. A joint and its motor_joint are one
// gear. All n keys change together or none: returns 0, or -1 with lines in error (nullable) that say
// what is wrong and what to write instead.
MJGAPI int mjg_setGears(const mjModel* m, mjData* d, int joint, const char* const* key,
                        const double* value, int n, char* error, int error_sz);

// the same for one key
MJGAPI int mjg_setGear(const mjModel* m, mjData* d, int joint, const char* key, double value,
                       char* error, int error_sz);

// describe a gear in other words: the keys (coefficients, efficiencies or starting torques) take the
// place of all that said what the gear is, a type with its geometry for instance; friction besides
// and the gap stay. Otherwise as mjg_setGears.
MJGAPI int mjg_describeGear(const mjModel* m, mjData* d, int joint, const char* const* key,
                            const double* value, int n, char* error, int error_sz);

// how the steps of all gears are solved, by the name of the README's table; as mjg_setGears
MJGAPI int mjg_setSolver(const mjModel* m, mjData* d, const char* solver, char* error,
                         int error_sz);

// value of a key in the gear of a joint: 1 if it was given, 0 if not (value is untouched), -1 if
// the joint has no gear or the key does not exist. gamma_u and gamma_v are always known, and so are
// all numbers that the model of a gap uses.
MJGAPI int mjg_getGear(double* value, const mjModel* m, const mjData* d, int joint,
                       const char* key);

// the numbers that a sensor gives of the joint's gear, without one: as in the README's table, of the last
// step. Returns their number (value may be null), or -1 if the joint has no gear.
MJGAPI int mjg_readGear(double* value, const mjModel* m, const mjData* d, int joint);

// what the joint's gear does with its rotor, the inertia behind it and the load that it holds in the pose
// of the last mj_forward (1 N m if that is 0): mjgFacts of mjgear_params.h. 0, or -1 if the joint has no
// gear. Uses the stack of d.
typedef struct mjgFacts_ mjgFacts;
MJGAPI int mjg_explainGear(mjgFacts* facts, const mjModel* m, mjData* d, int joint);

// name of the solver, null if the model has no gear
MJGAPI const char* mjg_getSolver(const mjModel* m, const mjData* d);

// how often what happened since the data was made or reset. A step has one friction problem for each
// group of joints that act on each other.
typedef struct mjgCounts_ {
  int problems;     // friction problems: solved + ill_posed + approximate + unsolved
  int solved;       // solved, and the only solution as far as known
  int ill_posed;    // solved, but another solution may exist (status mjgJAMMED)
  int approximate;  // solved for something else than the engine then does, see the README
  int unsolved;     // left above the tolerance, or not finite
  int fallbacks;    // times that the solver needed another method
  int unconfirmed;  // steps whose motion was not what was solved for
} mjgCounts;

// counts of a mjData; 0, or -1 if the model has no gear
MJGAPI int mjg_getCounts(mjgCounts* counts, const mjModel* m, const mjData* d);

// all gears and the solver as the model describes them; 0, or -1 if the model has none
MJGAPI int mjg_resetGears(const mjModel* m, mjData* d);

#ifdef __cplusplus
}
#endif

#endif  // MJGEAR_PLUGIN_H_
