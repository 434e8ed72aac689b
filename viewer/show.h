// The shown models: a file or a scene, alone or beside the same with another friction.

#ifndef MJGEAR_VIEWER_SHOW_H_
#define MJGEAR_VIEWER_SHOW_H_

#include <stddef.h>

#include "command_line.h"
#include "output.h"
#include "scene.h"
#include "sim.h"

enum { nVIEW = 4 };  // simulations side by side at most

// exit codes of mjgear-view
enum {
  exitOK = 0,
  exitUSAGE = 1,    // wrong arguments
  exitMODEL = 2,    // file missing or refused
  exitDISPLAY = 3,  // no display, no OpenGL
  exitOUTPUT = 4,   // a picture, film or table could not be written
  exitUNSTABLE = 5  // the engine found bad numbers
};

typedef struct ShowOptions_ {
  const char* file;     // MJCF file, name of a scene, or scene/case; null: first scene
  const char* joint;    // geared joint whose values are shown first; null: the first
  const char* key;      // keyframe of the first state; null: start, home, or the first
  SimFriction against;  // the second simulation; simGEAR: there is none
  const char* beside;   // other cases of the scene: names with commas between, or "all"; nullable
  double frictionloss;  // of simNATIVE, < 0: mean friction of the geared joints
  double duration;      // s; 0: the scene's, or 10
  double speed;         // simulated over wall-clock time
  double length;        // of a film, s, in place of speed; 0: by speed
  double picture_time;  // of the picture, s; < 0: at the end
  const char* picture;  // PNG to write; nullable
  const char* film;     // MP4 to write; nullable
  const char* csv;      // table to write; nullable
  int width;            // of window or picture; 0: default
  int height;
  int fps;         // of a film
  int flg_paused;  // a window starts paused
  int flg_plots;
  int flg_hide_ui;          // a window starts without panels
  mjgSettingList settings;  // override the settings of file and case
  int flg_window;           // a window although a file is written
  const char* plugin;       // libmjgear.so; nullable
  int flg_effects;          // shadows and reflections: 1, none: 0, as the renderer can: -1
} ShowOptions;

typedef struct Show_ {
  ShowOptions option;
  const mjgScene* scene;   // a scene, or a file that is made into one
  const mjgCase* variant;  // nullable
  mjgScene file;
  char path[1024];  // of the file
  char name[128];   // of the file without folder
  char title[256];
  Sim sim[nVIEW];
  int nsim;
  double duration;  // s
  int key;          // keyframe of the first state; -1: start, home, or the first
  mjgOutput* csv;   // nullable
} Show;

// 0 on success, else an exit code and one line in error, and nothing to close
int showOpen(Show* show, const ShowOptions* option, char* error, size_t error_size);

// replace this by another scene or file, beside the same with another friction or beside other
// cases (nullable): as showOpen; on failure the old one stays
int showChange(Show* show, const char* file, SimFriction against, const char* beside, char* error, size_t error_size);

// index of the geared joint that is to be shown first
int showJoint(const Show* show);

// name of a simulation for people: its case, or its friction
const char* showCaption(const Show* show, int sim);

// title of the shown models, and the chosen first keyframe if there is one
void showHeading(char* text, size_t text_size, const Show* show);

// number of a model's first keyframe, -1 if it has none
int showFirstKey(const Show* show, const mjModel* m);

// 0 on success, exitOUTPUT if the table could not be written
int showClose(Show* show, char* error, size_t error_size);

// to the initial state
void showReset(Show* show);

// one step of all simulations, with the inputs of the scene and the pull of the mouse (nullable)
void showStep(Show* show, const mjvPerturb* perturb);

// forces and sensors at the present state
void showForward(Show* show);

// 1: the engine found the state unusable and reset it
int showDiverged(const Show* show);

// warning of the engine since the last reset, null if none
const char* showWarning(const Show* show);

#endif  // MJGEAR_VIEWER_SHOW_H_
