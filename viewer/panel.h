// The panels of the window. Left: scenes, simulation and plots. Right: the selected geared
// joint with its live values and parameters.

#ifndef MJGEAR_VIEWER_PANEL_H_
#define MJGEAR_VIEWER_PANEL_H_

#include "frame.h"
#include "show.h"

enum {
  panelNKEY = 32,
  panelCASES = 3  // of the compared models: all cases of the scene
};

// requests of an item to the window
typedef enum PanelRequest_ {
  panelNOTHING = 0,
  panelQUIT,
  panelSCREENSHOT,
  panelSCENE,   // another scene
  panelRELOAD,  // another case or comparison, or the same again
  panelRESET,
  panelKEY,     // the first state of another keyframe
  panelALIGN,   // free camera to the whole model
  panelSELECT,  // another geared joint
  panelSOLVER,
  panelPARAMETER  // + key of tune.h: a parameter of the selected gear was changed
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
  int key;                      // keyframe of the first state
  int against;                  // SimFriction, or panelCASES
  mjtNum speed;                 // simulated over wall-clock time
  mjtNum parameter[panelNKEY];  // of the selected geared joint, by key of tune.h
  int known[panelNKEY];         // 1 if the joint has the parameter
  int solver;
  double written;  // wall clock when live values were last written, s
} Panel;

// build for a new scene
void panelMake(Panel* panel, Show* show, Frame* frame, mjuiState* state);

// fit to the window, after its size or the panels' visibility have changed
void panelLayout(Panel* panel, Frame* frame, mjuiState* state);

// handle a mouse or key event that belongs to a panel: 1 if it was for us
int panelEvent(Panel* panel, int* request, Frame* frame, mjuiState* state);

// show values that were changed from outside, by a key for example
void panelUpdate(Panel* panel, const Show* show, Frame* frame, mjuiState* state);

// draw, with live values that change at most as often as an eye can follow; now is the wall clock, s
void panelDraw(Panel* panel, const Show* show, const Frame* frame, mjuiState* state, double now);

#endif  // MJGEAR_VIEWER_PANEL_H_
