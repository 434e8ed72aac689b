// Without a window: pictures, films and tables of a scene.

#ifndef MJGEAR_VIEWER_RECORD_H_
#define MJGEAR_VIEWER_RECORD_H_

#include <stddef.h>

#include "show.h"


// Runs the show to its end and writes the files of its options. 0 on success, else an exit code,
// and one line in error.
int record(Show* show, char* error, size_t error_size);

#endif  // MJGEAR_VIEWER_RECORD_H_
