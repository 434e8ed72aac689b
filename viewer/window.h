// The window: GLFW, mouse and keys as in MuJoCo's simulate, panels on both sides.
//
//   window.c   its life, the frames
//   action.c   what keys and panels bring about
//   input.c    keys and mouse

#ifndef MJGEAR_VIEWER_WINDOW_H_
#define MJGEAR_VIEWER_WINDOW_H_

#include <stddef.h>

#include "panel.h"
#include "show.h"

struct GLFWwindow;

typedef struct Window_ {
  struct GLFWwindow* glfw;
  Show* show;
  Frame frame;
  Panel panel;
  mjuiState ui;
  double refresh;   // frames a second of the monitor
  int windowed[4];  // position and size before full screen

  // pointer in the window at the event; GLFW would give the current place
  double x;
  double y;

  // pace: simulated time follows the wall clock from here
  double wall;
  double simulated;
  double due;  // wall clock at which the next frame begins, s

  // measurements for the title
  double measured;       // wall clock when last written, s
  double measured_time;  // simulated time then, s
  int frames;            // drawn since then

  char message[300];  // shown until message_end
  double message_end;
  double begun;    // wall clock when this scene began, for the gallery
  int screenshot;  // one is wanted when all is drawn
  int back;        // states that we are behind the newest one
} Window;


// Shows until the user closes the window. 0, else an exit code and one line in error.
int window(Show* show, char* error, size_t error_size);

// wall clock, s
double windowClock(void);

// simulated time is synchronized with the wall clock
void windowPace(Window* w);

// a line at the lower edge for a few seconds
void windowTell(Window* w, const char* message);

// requests of panels
void windowObey(Window* w, PanelRequest request);

// write the drawing to a new PNG file
void windowScreenshot(Window* w);

// run or pause
void windowRun(Window* w, int run);

// one step on (1), or one state back (-1) or on in the history
void windowStep(Window* w, int direction);

// 0 free, 1 tracking the selected body, then the model's cameras
void windowCamera(Window* w, int camera);

// show changes from outside in the panels
void windowUpdate(Window* w);

// continue with the next scene when this one has ended
void windowGallery(Window* w);

// show the scene, case and comparison of the panels
void windowReload(Window* w);

// take keys and mouse
void windowInput(Window* w);

#endif  // MJGEAR_VIEWER_WINDOW_H_
