#include "video.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output.h"


struct Video_ {
  pid_t pid;
  int frames;    // write end of ffmpeg's standard input
  int messages;  // read end of its standard error
  size_t frame_size;
  char path[1024], part[1024 + 8];
};

extern char** environ;


Video* videoOpen(const char* path, int width, int height, int fps, char* error, size_t error_size) {
  Video* video = calloc(1, sizeof(Video));
  int in[2] = {-1, -1}, err[2] = {-1, -1};
  if (!video || pipe(in) || pipe(err)) {
    snprintf(error, error_size, "cannot start ffmpeg: %s", strerror(errno));
    goto fail;
  }
  for (int i = 0; i < 2; i++) {
    fcntl(in[i], F_SETFD, FD_CLOEXEC);
    fcntl(err[i], F_SETFD, FD_CLOEXEC);
  }

  snprintf(video->path, sizeof(video->path), "%s", path);
  mjg_partOf(video->part, sizeof(video->part), path);

  // a player anywhere reads yuv420p; faststart puts the index first, for browsers
  char size[32], rate[16];
  snprintf(size, sizeof(size), "%dx%d", width, height);
  snprintf(rate, sizeof(rate), "%d", fps);
  const char* const argv[] = {
      "ffmpeg",     "-y",      "-loglevel", "error",     "-f", "rawvideo", "-pix_fmt", "rgb24",
      "-s",         size,      "-r",        rate,        "-i", "-",        "-an",      "-c:v",
      "libx264",    "-preset", "veryfast",  "-crf",      "24", "-pix_fmt", "yuv420p",  "-movflags",
      "+faststart", "-f",      "mp4",       video->part, NULL};

  // a closed pipe is an error that we report, not a signal that kills us
  signal(SIGPIPE, SIG_IGN);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  int status = posix_spawnp(&video->pid, "ffmpeg", &actions, NULL, (char* const*)argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (status) {
    snprintf(error, error_size, "cannot start ffmpeg: %s; install ffmpeg to write films",
             strerror(status));
    goto fail;
  }
  close(in[0]);
  close(err[1]);
  video->frames = in[1];
  video->messages = err[0];
  video->frame_size = (size_t)width * (size_t)height * 3;
  return video;

fail:
  for (int i = 0; i < 2; i++) {
    if (in[i] >= 0) {
      close(in[i]);
    }
    if (err[i] >= 0) {
      close(err[i]);
    }
  }
  free(video);
  return NULL;
}


int videoFrame(Video* video, const unsigned char* rgb) {
  for (size_t done = 0; done < video->frame_size;) {
    ssize_t n = write(video->frames, rgb + done, video->frame_size - done);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return -1;
    }
    done += (size_t)n;
  }
  return 0;
}


int videoClose(Video* video, char* error, size_t error_size) {
  if (!video) {
    return 0;
  }

  // end of input makes ffmpeg finish; its last words are few
  close(video->frames);
  char message[256];
  size_t length = 0;
  for (ssize_t n = 1; n > 0 && length < sizeof(message) - 1; length += (size_t)n) {
    n = read(video->messages, message + length, sizeof(message) - 1 - length);
    if (n < 0) {
      break;
    }
  }
  message[length] = 0;
  message[strcspn(message, "\n")] = 0;
  close(video->messages);

  int status = 0;
  while (waitpid(video->pid, &status, 0) < 0 && errno == EINTR) {}
  // it reports an error at the end of a file and returns 0; only errors are printed
  int flg_ok = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !message[0];
  int misplaced = mjg_finishPart(video->part, video->path, flg_ok);
  if (!flg_ok || misplaced) {
    snprintf(error, error_size, "ffmpeg could not write %s: %s", video->path,
             message[0]  ? message
             : misplaced ? strerror(misplaced)
                         : "it ended early");
    flg_ok = 0;
  }
  free(video);
  return flg_ok ? 0 : -1;
}
