// Without a window: OpenGL without a display by EGL, pictures by libpng, films by ffmpeg, and tables.

#define _GNU_SOURCE  // pipe2
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
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

#include "frame.h"
#include "output.h"
#include "progress.h"

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
static int offscreenOpen(char* error, size_t error_size) {
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

static const char* offscreenRenderer(void) {
  const unsigned char* (*getString)(unsigned) = (__typeof__(getString))EGL(eglGetProcAddress)("glGetString");
  const unsigned char* name = getString ? getString(GL_RENDERER) : NULL;
  return name ? (const char*)name : "unknown";
}

static void offscreenClose(void) {
  EGL(eglMakeCurrent)(gl.display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  EGL(eglDestroyContext)(gl.display, gl.context);
  EGL(eglTerminate)(gl.display);
}

//---------------------------------- pictures ------------------------------------------------------

int frameWrite(const Frame* frame, mjrRect area, const char* path, char* error, size_t error_size) {
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)area.width,
                     .height = (png_uint_32)area.height,
                     .format = PNG_FORMAT_RGB};
  unsigned char* rgb = malloc(PNG_IMAGE_SIZE(image));
  mjgOutput* output = rgb ? mjg_openOutput(path) : NULL;
  int flg_written = 0, lost = errno;
  if (output) {
    mjr_readPixels(rgb, NULL, area, &frame->context);
    // OpenGL has the lowest row first
    flg_written = png_image_write_to_stdio(&image, output->file, 0, rgb, -3 * area.width, NULL);
    lost = mjg_closeOutput(output, flg_written);
  }
  free(rgb);
  if (lost || !flg_written) {
    snprintf(error, error_size, "cannot write %s: %s", path, lost ? strerror(lost) : image.message);
    return -1;
  }
  return 0;
}

//---------------------------------- films ---------------------------------------------------------

// frames go through a pipe to ffmpeg, which writes H.264 in an MP4 file
typedef struct Film_ {
  FILE* frames;    // ffmpeg's standard input
  FILE* messages;  // its standard error
  pid_t pid;
  mjgOutput* output;   // ffmpeg writes its part
  unsigned char* rgb;  // of a frame
  size_t frame_size;
} Film;

// start ffmpeg. Returns 0 or an errno
static int startEncoder(Film* film, int width, int height, int fps) {
  int ends[2];
  if (!(film->messages = tmpfile()) || pipe2(ends, O_CLOEXEC)) {
    return errno;
  }
  film->frames = fdopen(ends[1], "wb");

  // OpenGL has the lowest row first; a player anywhere reads yuv420p; faststart puts the index first, for browsers
  char size[32], rate[16];
  snprintf(size, sizeof(size), "%dx%d", width, height);
  snprintf(rate, sizeof(rate), "%d", fps);
  const char* const argv[] = {"ffmpeg",   "-y",        "-loglevel",  "error", "-f",    "rawvideo",
                              "-pix_fmt", "rgb24",     "-s",         size,    "-r",    rate,
                              "-i",       "-",         "-an",        "-vf",   "vflip", "-c:v",
                              "libx264",  "-preset",   "veryfast",   "-crf",  "24",    "-pix_fmt",
                              "yuv420p",  "-movflags", "+faststart", "-f",    "mp4",   film->output->part,
                              NULL};

  // a closed pipe is an error that we report, not a signal that kills us
  signal(SIGPIPE, SIG_IGN);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(film->messages), STDERR_FILENO);
  int status = posix_spawnp(&film->pid, "ffmpeg", &actions, NULL, (char* const*)argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[0]);
  return status;
}

// end the pipe, the messages and the output. Returns 0, or an errno of the output
static int endFilm(Film* film, int flg_complete) {
  if (film->frames) {
    fclose(film->frames);
  }
  if (film->messages) {
    fclose(film->messages);
  }
  int lost = mjg_closeOutput(film->output, flg_complete);
  free(film->rgb);
  free(film);
  return lost;
}

// start ffmpeg; null and error if the file cannot be written
static Film* filmOpen(const char* path, int width, int height, int fps, char* error, size_t error_size) {
  Film* film = calloc(1, sizeof(Film));
  if (film) {
    film->frame_size = (size_t)width * (size_t)height * 3;
    film->rgb = malloc(film->frame_size);
    film->output = film->rgb ? mjg_openOutput(path) : NULL;
  }
  if (!film || !film->output) {
    snprintf(error, error_size, "cannot write %s: %s", path, strerror(errno));
    free(film ? film->rgb : NULL);
    free(film);
    return NULL;
  }
  int status = startEncoder(film, width, height, fps);
  if (status) {
    snprintf(error, error_size, "cannot start ffmpeg: %s; install ffmpeg to write films", strerror(status));
    endFilm(film, 0);
    return NULL;
  }
  return film;
}

// add what was drawn; -1: ffmpeg takes no more
static int filmFrame(Film* film, const Frame* frame, mjrRect area) {
  mjr_readPixels(film->rgb, NULL, area, &frame->context);
  return film->frames && fwrite(film->rgb, film->frame_size, 1, film->frames) == 1 ? 0 : -1;
}

// finish the file: 0 on success, else error has ffmpeg's message; film is nullable
static int filmClose(Film* film, char* error, size_t error_size) {
  if (!film) {
    return 0;
  }

  // end of input makes ffmpeg finish
  int status = 0, cut = film->frames && fclose(film->frames);
  film->frames = NULL;
  while (waitpid(film->pid, &status, 0) < 0 && errno == EINTR) {}

  // it reports an error at the end of a file and returns 0; only errors are printed
  char message[256] = "", path[sizeof(film->output->path)];
  snprintf(path, sizeof(path), "%s", film->output->path);
  rewind(film->messages);
  int flg_ok =
      !fgets(message, sizeof(message), film->messages) && !cut && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  message[strcspn(message, "\n")] = 0;
  int lost = endFilm(film, flg_ok);
  if (!flg_ok || lost) {
    snprintf(error, error_size, "ffmpeg could not write %s: %s", path,
             message[0] ? message
             : lost     ? strerror(lost)
                        : "it ended early");
    return -1;
  }
  return 0;
}

//---------------------------------- runs -------------------------------------------------------------

// run the simulation, drawing when a frame of the film or the picture is due; without either frame is null
static int run(Show* show, Frame* frame, Film* film, mjrRect area, char* error, size_t error_size) {
  const ShowOptions* option = &show->option;
  double h = show->sim[0].m->opt.timestep, next = 0;
  double picture = option->picture_time < 0 ? show->duration : option->picture_time;
  double speed = option->length > 0 ? show->duration / option->length : option->speed;
  int flg_picture = option->picture != NULL, code = 0, flg_end = 0;
  while (!flg_end) {
    double time = show->sim[0].d->time;
    flg_end = time >= show->duration - 0.5 * h || showDiverged(show) || (show->csv && ferror(show->csv->file));

    // the film's frames are at its speed
    int flg_frame = film && time >= next - 0.5 * h;
    int flg_now = flg_picture && (time >= picture - 0.5 * h || flg_end);
    if (flg_frame || flg_now) {
      snprintf(frame->note, sizeof(frame->note), "%.2f s", time);
      frameDraw(frame, area, show);
      next += speed / option->fps;
    }
    flg_end |= flg_frame && filmFrame(film, frame, area);
    if (flg_now) {
      flg_picture = 0;
      if (frameWrite(frame, area, option->picture, error, error_size)) {
        code = exitOUTPUT;
      }
    }
    flg_end |= code || (!film && !option->csv && !flg_picture);
    if (!flg_end) {
      showStep(show, NULL);
      if (frame) {
        plotsAdd(&frame->plots, show->sim);
      }
      mjg_showProgress(time / show->duration, show->title);
    }
  }
  mjg_clearProgress();
  return code;
}

static int runDrawn(Show* show, char* error, size_t error_size) {
  const ShowOptions* option = &show->option;
  int width = option->width ? option->width : 1280;
  int height = option->height ? option->height : 720;
  if (option->film && (width % 2 || height % 2)) {
    snprintf(error, error_size, "--size %dx%d: a film needs an even width and height", width, height);
    return exitUSAGE;
  }
  if (offscreenOpen(error, error_size)) {
    return exitDISPLAY;
  }
  for (int s = 0; s < show->nsim; s++) {
    show->sim[s].m->vis.global.offwidth = width;
    show->sim[s].m->vis.global.offheight = height;
  }
  Frame* frame = malloc(sizeof(Frame));
  Film* film = NULL;
  int code = 0;
  if (!frame) {
    snprintf(error, error_size, "out of memory for pictures of %d x %d", width, height);
    code = exitOUTPUT;
  } else if (option->film) {
    film = filmOpen(option->film, width, height, option->fps, error, error_size);
    code = film ? 0 : exitOUTPUT;
  }
  if (!code) {
    frameInit(frame, show->sim, show->nsim, height >= 720 ? mjFONTSCALE_150 : mjFONTSCALE_100, offscreenRenderer(),
              option->film != NULL);
    mjr_setBuffer(mjFB_OFFSCREEN, &frame->context);
    frameEffects(frame, option->flg_effects);
    frame->selected = showJoint(show);
    frame->flg_plots = option->flg_plots;

    // plots of a film fill up; plots of a single picture end with it
    int flg_early = !option->film && option->picture_time > 0;
    frame->plots.window = flg_early ? fmin(option->picture_time, show->duration) : show->duration;
    showHeading(frame->caption, sizeof(frame->caption), show);
    code = run(show, frame, film, (mjrRect){0, 0, width, height}, error, error_size);
    if (filmClose(film, error, error_size) && !code) {
      code = exitOUTPUT;
    }
    frameFree(frame);
  }
  free(frame);
  offscreenClose();
  return code;
}

int record(Show* show, char* error, size_t error_size) {
  int flg_drawn = show->option.picture || show->option.film;
  int code = flg_drawn ? runDrawn(show, error, error_size) : run(show, NULL, NULL, (mjrRect){0}, error, error_size);
  if (!code && showDiverged(show)) {
    snprintf(error, error_size, "%s: the simulation became unstable; %s", show->title,
             "a smaller timestep or softer parameters may help");
    code = exitUNSTABLE;
  }
  return code;
}
