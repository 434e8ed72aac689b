// The window: GLFW, mouse and keys as in MuJoCo's simulate, panels on both sides.

#ifndef MJGEAR_VIEWER_WINDOW_H_
#define MJGEAR_VIEWER_WINDOW_H_

#include <stddef.h>

#include "show.h"


// Shows until the user closes the window. 0, else an exit code and one line in error.
int window(Show* show, char* error, size_t error_size);

#endif  // MJGEAR_VIEWER_WINDOW_H_
