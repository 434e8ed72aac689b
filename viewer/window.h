// The window: GLFW, mouse and keys as in MuJoCo's simulate, panels on both sides.
//
//   window.c   its life, the frames, what keys and panels bring about
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
  double refresh;  // frames a second of the monitor

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
  int screenshot;  // one is wanted when all is drawn
} Window;

// Shows until the user closes the window. 0, else an exit code and one line in error.
int window(Show* show, char* error, size_t error_size);

// simulated time is synchronized with the wall clock
void windowPace(Window* w);

// requests of panels
void windowObey(Window* w, int request);

// run or pause
void windowRun(Window* w, int run);

// show changes from outside in the panels
void windowUpdate(Window* w);

// build the panels again
void windowPanels(Window* w);

// show the scene, case and comparison of the panels
void windowReload(Window* w);

// take keys and mouse
void windowInput(Window* w);

#endif  // MJGEAR_VIEWER_WINDOW_H_
