// Pictures: 8-bit RGB, rows from top to bottom, as PNG files.

#ifndef MJGEAR_VIEWER_PNG_H_
#define MJGEAR_VIEWER_PNG_H_

#include <stddef.h>


// 0 on success; else error has the reason
int pngWrite(const char* path, const unsigned char* rgb, int width, int height, char* error,
             size_t error_size);

#endif  // MJGEAR_VIEWER_PNG_H_
