#define _GNU_SOURCE  // pipe2
#include "pictures.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <png.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>

#include "output.h"


//---------------------------------- OpenGL --------------------------------------------------------

// The library is loaded when asked for, so that the program starts where it is missing

#define GL_RENDERER 0x1F01

static struct {
  void* library;
  EGLDisplay display;
  EGLContext context;
} gl;


// function of the library; ISO C has no cast from object to function pointer
static void (*find(const char* name))(void) {
  void* symbol = dlsym(gl.library, name);
  void (*function)(void);
  memcpy(&function, &symbol, sizeof(symbol));
  return function;
}

#define EGL(name) ((__typeof__(name)*)find(#name))


// make a context of desktop OpenGL current without surface: 1 on success
static int tryDisplay(EGLDisplay display) {
  static const EGLint attributes[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config;
  EGLint nconfig = 0;
  if (display == EGL_NO_DISPLAY || !EGL(eglInitialize)(display, NULL, NULL)) {
    return 0;
  }
  if (EGL(eglChooseConfig)(display, attributes, &config, 1, &nconfig) && nconfig > 0 &&
      EGL(eglBindAPI)(EGL_OPENGL_API)) {
    gl.display = display;
    gl.context = EGL(eglCreateContext)(display, config, EGL_NO_CONTEXT, NULL);
    if (gl.context != EGL_NO_CONTEXT && EGL(eglMakeCurrent)(display, EGL_NO_SURFACE, EGL_NO_SURFACE, gl.context)) {
      return 1;
    }
  }
  EGL(eglTerminate)(display);
  return 0;
}


// each device (graphics cards, and Mesa's software rasterizer as the last), Mesa without any surface, the default
int offscreenOpen(char* error, size_t error_size) {
  gl.library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  __typeof__(eglGetPlatformDisplay)* getDisplay = gl.library ? EGL(eglGetPlatformDisplay) : NULL;
  if (getDisplay) {
    EGLDeviceEXT device[16];
    EGLint ndevice = 0;
    PFNEGLQUERYDEVICESEXTPROC queryDevices = (PFNEGLQUERYDEVICESEXTPROC)EGL(eglGetProcAddress)("eglQueryDevicesEXT");
    if (!queryDevices || !queryDevices(16, device, &ndevice)) {
      ndevice = 0;
    }
    for (int i = 0; i < ndevice; i++) {
      if (tryDisplay(getDisplay(EGL_PLATFORM_DEVICE_EXT, device[i], NULL))) {
        return 0;
      }
    }
    if (tryDisplay(getDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL)) ||
        tryDisplay(EGL(eglGetDisplay)(EGL_DEFAULT_DISPLAY))) {
      return 0;
    }
  }
  snprintf(error, error_size, "there is no OpenGL without a display, because EGL did not start; install %s",
           "libegl1 and libgl1-mesa-dri");
  return -1;
}


const char* offscreenRenderer(void) {
  const unsigned char* (*getString)(unsigned) = (__typeof__(getString))EGL(eglGetProcAddress)("glGetString");
  const unsigned char* name = getString ? getString(GL_RENDERER) : NULL;
  return name ? (const char*)name : "unknown";
}


void offscreenClose(void) {
  EGL(eglMakeCurrent)(gl.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  EGL(eglDestroyContext)(gl.display, gl.context);
  EGL(eglTerminate)(gl.display);
}


//---------------------------------- pictures ------------------------------------------------------

int pngWrite(const char* path, const unsigned char* rgb, int width, int height, char* error, size_t error_size) {
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)width,
                     .height = (png_uint_32)height,
                     .format = PNG_FORMAT_RGB};
  char part[4096];
  mjg_partOf(part, sizeof(part), path);
  FILE* file = fopen(part, "wb");
  int flg_written = file && png_image_write_to_stdio(&image, file, 0, rgb, 0, NULL);
  int lost = !file || fclose(file) ? errno : 0;
  int misplaced = file ? mjg_finishPart(part, path, flg_written && !lost) : 0;
  if (lost || misplaced || !flg_written) {
    snprintf(error, error_size, "cannot write %s: %s", path,
             lost        ? strerror(lost)
             : misplaced ? strerror(misplaced)
                         : image.message);
    return -1;
  }
  return 0;
}


//---------------------------------- films ---------------------------------------------------------

struct Film_ {
  pid_t pid;
  int frames;      // write end of ffmpeg's standard input
  FILE* messages;  // its standard error
  size_t frame_size;
  char path[1024], part[1024 + 8];
};


Film* filmOpen(const char* path, int width, int height, int fps, char* error, size_t error_size) {
  Film* film = calloc(1, sizeof(Film));
  int ends[2] = {-1, -1};
  int status = film && (film->messages = tmpfile()) && !pipe2(ends, O_CLOEXEC) ? 0 : errno;
  if (!status) {
    snprintf(film->path, sizeof(film->path), "%s", path);
    mjg_partOf(film->part, sizeof(film->part), path);
    film->frame_size = (size_t)width * (size_t)height * 3;
    film->frames = ends[1];

    // a player anywhere reads yuv420p; faststart puts the index first, for browsers
    char size[32], rate[16];
    snprintf(size, sizeof(size), "%dx%d", width, height);
    snprintf(rate, sizeof(rate), "%d", fps);
    const char* const argv[] = {"ffmpeg",     "-y",    "-loglevel", "error",    "-f",      "rawvideo",
                                "-pix_fmt",   "rgb24", "-s",        size,       "-r",      rate,
                                "-i",         "-",     "-an",       "-c:v",     "libx264", "-preset",
                                "veryfast",   "-crf",  "24",        "-pix_fmt", "yuv420p", "-movflags",
                                "+faststart", "-f",    "mp4",       film->part, NULL};

    // a closed pipe is an error that we report, not a signal that kills us
    signal(SIGPIPE, SIG_IGN);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fileno(film->messages), STDERR_FILENO);
    status = posix_spawnp(&film->pid, "ffmpeg", &actions, NULL, (char* const*)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
  }
  if (!status) {
    return film;
  }
  snprintf(error, error_size, "cannot start ffmpeg: %s; install ffmpeg to write films", strerror(status));
  close(ends[1]);
  if (film && film->messages) {
    fclose(film->messages);
  }
  free(film);
  return NULL;
}


int filmFrame(Film* film, const unsigned char* rgb) {
  for (size_t done = 0; done < film->frame_size;) {
    ssize_t n = write(film->frames, rgb + done, film->frame_size - done);
    if (n <= 0 && errno != EINTR) {
      return -1;
    }
    done += n > 0 ? (size_t)n : 0;
  }
  return 0;
}


int filmClose(Film* film, char* error, size_t error_size) {
  if (!film) {
    return 0;
  }

  // end of input makes ffmpeg finish
  close(film->frames);
  int status = 0;
  while (waitpid(film->pid, &status, 0) < 0 && errno == EINTR) {}

  // it reports an error at the end of a file and returns 0; only errors are printed
  char message[256] = "";
  rewind(film->messages);
  int flg_ok = !fgets(message, sizeof(message), film->messages) && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  message[strcspn(message, "\n")] = 0;
  fclose(film->messages);
  int misplaced = mjg_finishPart(film->part, film->path, flg_ok);
  if (!flg_ok || misplaced) {
    snprintf(error, error_size, "ffmpeg could not write %s: %s", film->path,
             message[0]  ? message
             : misplaced ? strerror(misplaced)
                         : "it ended early");
  }
  free(film);
  return flg_ok && !misplaced ? 0 : -1;
}
