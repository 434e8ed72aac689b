// Scenes: an MJCF file, its scripted inputs, and its claims.
//
// A scene is one constant mjgScene in scenes/<name>/<name>.c beside its MJCF. MJCF says as much as it
// can, so that any viewer can open the file. C has the scripted motion, an independent integration for
// comparison, and the claims.
//
// To add a scene: write the MJCF, and <name>.c that includes "../helpers.h" and ends with mjgSCENE(...).
// CMake finds it there. A plot.py beside the MJCF (report.py) replaces the standard plot.

#ifndef SCENES_SCENE_H_
#define SCENES_SCENE_H_

#include <mujoco/mujoco.h>

#include "command_line.h"
#include "trajectory.h"

#define mjgMAXPARAMETER 6  // numbers of one case

// one variant of a scene: the same MJCF with other settings
typedef struct mjgCase_ {
  const char* name;                   // unique in the scene; part of file names
  const char* settings;               // INSTANCE.KEY=VALUE or ELEMENT.ATTRIBUTE=VALUE, with "; " between; null: none
  double parameter[mjgMAXPARAMETER];  // numbers for the scene's callbacks
} mjgCase;

// Defines a scene: what every scene has, then further members by their names. CMake finds it by this word.
#define mjgSCENE(id, title, file, seconds, text, ...) \
  const mjgScene mjg_scene##id = {.name = (title), .xml = (file), .duration = (seconds), .caption = (text), __VA_ARGS__}

#define mjgMAXCLAIM 256  // length of one claim

// claims of a scene
typedef struct mjgClaims_ {
  int n;
  int nfailed;
  struct {
    int holds;
    char text[mjgMAXCLAIM];
  } * claim;  // (n)
} mjgClaims;

// record one claim: 1 if it holds, and its text with the measured value (printf)
void mjg_claim(mjgClaims* claims, int holds, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

// the members variant and nvariant of a scene with this array of cases
#define mjgCASES(array) .variant = (array), .nvariant = sizeof(array) / sizeof *(array)

typedef struct mjgScene_ {
  const char* name;     // name on the command line and of the folder of its results
  const char* caption;  // what it shows, in full sentences; null of a file
  const char* xml;      // MJCF file relative to scenes/; a keyframe "start" or "home" sets the first state
  double duration;      // s

  // of its picture, film and place on the page of scenes (gallery.py)
  const char* shown;   // case of the picture; null: the first
  double moment;       // time of the picture as part of the duration; 0: 0.6
  const char* beside;  // cases in one picture: names with commas, or "all"; null: one case
  const char* joint;   // joint of the curves; null: the first
  int flg_still;       // nothing moves: the page shows the figure of plot.py

  const mjgCase* variant;  // variants, of which a viewer shows the first; null: none
  int nvariant;

  // Callbacks may all be null. The case is null in a scene without cases.

  // adapt the specification before it is compiled, which may happen more than once
  void (*specify)(mjSpec* spec, const mjgCase* variant);

  // adapt the compiled model: options, solver parameters
  void (*configure)(mjModel* m, const mjgCase* variant);

  // set controls, applied forces and mocap bodies of the step that begins at d->time. Only d->qpos
  // is valid: call mj_kinematics for other positions
  void (*input)(const mjModel* m, mjData* d, const mjgCase* variant);

  // further columns of the trajectory: names with spaces between, and their values in d after the step;
  // mjData has the forces and positions at the beginning of the step. NAME=body:box.z is a coordinate of a
  // body, geom or site, NAME=contact:GEOM,GEOM the normal force between two geoms (or one, or any), NAME=userdata:0 a
  // number of mjData's userdata, NAME=spring:0 a torque of its qfrc_spring
  const char* column;
  void (*measure)(double* value, const mjModel* m, const mjData* d);

  // one step of the same scene by a separate integration without the engine: positions and
  // velocities in place, from d->time to d->time + h; a status of the core, negative on failure.
  // Models of which nq = nv. The largest difference is a separate claim.
  int (*reference)(double* q, double* v, double time, const mjModel* m, const mjgCase* variant);
  double tolerance;  // of the largest difference, rad or m and rad/s or m/s

  // claims about all cases together; run[i] belongs to variant[i] (one run in a scene without cases)
  void (*claims)(mjgClaims* claims, const mjgTrajectory* run);
  int nsolved;  // first cases of which every step must be solved while friction never does positive work
} mjgScene;

// all scenes, in the order of their names
extern const mjgScene* const mjg_scenes[];
extern const int mjg_nscene;

// scene of that name, null if there is none
const mjgScene* mjg_findScene(const char* name);

// case of that name, null if there is none
const mjgCase* mjg_findCase(const mjgScene* scene, const char* name);

// the claims of a scene about its runs: its own, and that steps are solved
void mjg_claimAll(mjgClaims* claims, const mjgScene* scene, const mjgTrajectory* run);

void mjg_freeClaims(mjgClaims* claims);

// print all scenes with their durations and cases
void mjg_listScenes(void);

// schedules: 1 if time has reached t, despite round-off in the sum of the steps
int mjg_reached(double time, double t);

#endif  // SCENES_SCENE_H_
