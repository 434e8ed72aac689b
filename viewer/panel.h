// The panels of the window. Left: scenes, simulation and drawing. Right: the selected geared
// joint with its live values and parameters, joints and controls.

#ifndef MJGEAR_VIEWER_PANEL_H_
#define MJGEAR_VIEWER_PANEL_H_

#include "frame.h"
#include "show.h"

enum {
  panelNKEY = 32,
  panelSOLVER = panelNKEY,
  panelCASES = 3  // of the compared models: all cases of the scene
};

// requests of a panel to the window
typedef enum PanelRequest_ {
  panelNOTHING = 0,
  panelQUIT,
  panelSCREENSHOT,
  panelRELOAD,  // another scene, case or comparison, or the same again
  panelRESET,
  panelKEY,    // the first state of another keyframe
  panelALIGN,  // free camera to the whole model
  panelFULLSCREEN,
  panelVSYNC,
  panelCAMERA,
  panelSELECT,    // another geared joint
  panelFORWARD,   // positions were changed
  panelPARAMETER  // a parameter of the selected gear was changed
} PanelRequest;

typedef struct Panel_ {
  mjUI left;
  mjUI right;
  int show_left;
  int show_right;

  // data behind the items
  int run;
  int scene;                       // index in mjg_scenes; mjg_nscene: the user's file
  int choice;                      // number in the list of scenes
  int choice_scene[mjMAXUIMULTI];  // scene of each line of the list
  int variant;
  int key;      // keyframe of the first state
  int against;  // SimFriction, or panelCASES
  int camera;   // 0 free, 1 tracking, then the model's
  int fullscreen;
  int vsync;
  int selected;                 // geared joint
  mjtNum speed;                 // simulated over wall-clock time
  mjtNum parameter[panelNKEY];  // of the selected geared joint, by key of tune.h
  int known[panelNKEY];         // 1 if the joint has the parameter
  int solver;
  int changed;   // key that was changed; panelSOLVER: the solver
  mjtNum* qpos;  // copies of positions and controls, which stay in place when the model changes
  mjtNum* ctrl;
  double written;  // wall clock when live values were last written, s
} Panel;

// build for a new scene
void panelMake(Panel* panel, Show* show, Frame* frame, mjuiState* state);

// fit to the window, after its size or the panels' visibility have changed
void panelLayout(Panel* panel, Frame* frame, mjuiState* state);

// handle a mouse or key event that belongs to a panel: 1 if it was for us
int panelEvent(Panel* panel, PanelRequest* request, Show* show, Frame* frame, mjuiState* state);

// show values that were changed from outside, by a key for example
void panelUpdate(Panel* panel, const Show* show, Frame* frame, mjuiState* state);

// update live values, at most as often as an eye can follow; now is the wall clock, s
void panelLive(Panel* panel, const Show* show, Frame* frame, mjuiState* state, double now);

void panelFree(Panel* panel);

void panelDraw(Panel* panel, const Frame* frame, mjuiState* state);

#endif  // MJGEAR_VIEWER_PANEL_H_
