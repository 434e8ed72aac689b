// Films: frames go through a pipe to ffmpeg, which writes H.264 in an MP4 file.

#ifndef MJGEAR_VIEWER_VIDEO_H_
#define MJGEAR_VIEWER_VIDEO_H_

#include <stddef.h>


typedef struct Video_ Video;

// Starts ffmpeg. Width and height must be even. Null and error if it does not start.
Video* videoOpen(const char* path, int width, int height, int fps, char* error, size_t error_size);

// One frame, 8-bit RGB from top to bottom. 0 on success, -1 if ffmpeg takes no more.
int videoFrame(Video* video, const unsigned char* rgb);

// Finishes the file: 0 on success, else error has ffmpeg's message. Null is allowed.
int videoClose(Video* video, char* error, size_t error_size);

#endif  // MJGEAR_VIEWER_VIDEO_H_
