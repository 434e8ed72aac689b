// Drawing without a display, and what is made of it: pictures and films.

#ifndef MJGEAR_VIEWER_PICTURES_H_
#define MJGEAR_VIEWER_PICTURES_H_

#include <stddef.h>

// Make an OpenGL context current that needs no display, by EGL. 0, or -1: error names the package to install
int offscreenOpen(char* error, size_t error_size);

// name of the renderer, as OpenGL tells it
const char* offscreenRenderer(void);

void offscreenClose(void);

// Write a PNG file: 8-bit RGB, rows from top to bottom. 0 on success; else error has the reason
int pngWrite(const char* path, const unsigned char* rgb, int width, int height, char* error, size_t error_size);

// A film: frames go through a pipe to ffmpeg, which writes H.264 in an MP4 file
typedef struct Film_ Film;

// Start ffmpeg, which filmClose tells of. Width and height must be even. Null and error if the file cannot be written
Film* filmOpen(const char* path, int width, int height, int fps, char* error, size_t error_size);

// Add a frame, 8-bit RGB from top to bottom. 0 on success, -1 if ffmpeg takes no more
int filmFrame(Film* film, const unsigned char* rgb);

// Finish the file: 0 on success, else error has ffmpeg's message. Null is allowed
int filmClose(Film* film, char* error, size_t error_size);

#endif  // MJGEAR_VIEWER_PICTURES_H_
