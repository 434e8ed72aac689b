// Without a window: pictures, films and tables of a scene.

#ifndef MJGEAR_VIEWER_RECORD_H_
#define MJGEAR_VIEWER_RECORD_H_

#include <stddef.h>

#include "frame.h"
#include "show.h"

// read what was drawn, the upper row first; rgb has room for one row more
void recordPixels(unsigned char* rgb, const Frame* frame, mjrRect area);

// Runs the show to its end and writes the files of its options. 0 on success, else an exit code,
// and one line in error.
int record(Show* show, char* error, size_t error_size);

#endif  // MJGEAR_VIEWER_RECORD_H_
