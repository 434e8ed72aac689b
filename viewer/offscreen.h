// An OpenGL context that needs no display.

#ifndef MJGEAR_VIEWER_OFFSCREEN_H_
#define MJGEAR_VIEWER_OFFSCREEN_H_

#include <stddef.h>


typedef struct Offscreen_ Offscreen;

// Makes a context current in this thread: EGL where it works, else OSMesa; MUJOCO_GL=egl or osmesa
// in the environment asks for one. Null if neither works: error names the reason and the
// package to install.
Offscreen* offscreenOpen(char* error, size_t error_size);

// "EGL" or "OSMesa"
const char* offscreenName(const Offscreen* offscreen);

// name of the renderer, as OpenGL tells it
const char* offscreenRenderer(const Offscreen* offscreen);

// nullable
void offscreenClose(Offscreen* offscreen);

#endif  // MJGEAR_VIEWER_OFFSCREEN_H_
