#include "window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "Space\n, .\nRight, Left arrow\nBackspace\n- =\nTab, Shift Tab\nF1 F2 F3 F4 F5\nF6, F7\n[ "
    "] "
    "Esc\n"
    "Page Up\nCtrl L, P, A, Q\n\nDouble-click\nCtrl right drag\nCtrl left drag\n"
    "Left drag, right drag\nScroll, middle drag\nDouble right click\nCtrl double right click\n"
    "Right hold on panel";

static const char help_meaning[] =
    "run or pause\nprevious, next geared joint\none step on, back\nreset\nslower, faster\nleft, "
    "right panel\n"
    "help, values, plots, colours, full screen\nframes, labels\ncameras, free "
    "camera\n"
    "select parent\nreload, screenshot, align, quit\n\nselect a body\npull it (Shift: horizontal)\n"
    "turn it\norbit, pan the camera (Shift: horizontal)\nzoom\nlook at\ntrack\nits shortcuts";


// last message of GLFW, for our line
static char glfw_error[200];

static void onError(int code, const char* description) {
  (void)code;
  snprintf(glfw_error, sizeof(glfw_error), "%s", description);
}


//---------------------------------- window --------------------------------------------------------

typedef const unsigned char* (*GetStringFn)(unsigned);

static const char* rendererName(void) {
  enum {
    GL_RENDERER = 0x1F01
  };
  GetStringFn getString = (GetStringFn)glfwGetProcAddress("glGetString");
  const unsigned char* name = getString ? getString(GL_RENDERER) : NULL;
  return name ? (const char*)name : "unknown";
}


// a window with a current context, smoothed where a graphics card draws
static GLFWwindow* createWindow(const ShowOptions* option, const char* title) {
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : NULL;
  int width = option->width ? option->width : 1280, height = option->height ? option->height : 800;
  if (mode && !option->width) {
    width = mode->width < width ? mode->width : width;
    height = mode->height < height ? mode->height : height;
  }
  glfwWindowHint(GLFW_VISIBLE, 0);
  GLFWwindow* window = glfwCreateWindow(width, height, title, NULL, NULL);
  if (!window) {
    return NULL;
  }
  glfwMakeContextCurrent(window);
  if (!frameIsSoftware(rendererName())) {
    glfwDestroyWindow(window);
    glfwWindowHint(GLFW_SAMPLES, 4);
    window = glfwCreateWindow(width, height, title, NULL, NULL);
    if (!window) {
      return NULL;
    }
    glfwMakeContextCurrent(window);
  }
  glfwShowWindow(window);
  return window;
}


//---------------------------------- frames --------------------------------------------------------

// step until simulated time has caught up, or the time for a frame is used up
static void advance(Window* w) {
  Show* show = w->show;
  double begin = windowClock(), budget = 0.7 / w->refresh;
  double last = show->sim[0].d->time;
  double target = w->simulated + (begin - w->wall) * w->panel.speed;
  while (show->sim[0].d->time < target) {
    showStep(show, &w->frame.perturb);
    plotsAdd(&w->frame.plots, show->sim);

    // too slow, or reset by the engine: missed time is dropped
    if (show->sim[0].d->time < last || windowClock() - begin > budget) {
      windowPace(w);
      break;
    }
    last = show->sim[0].d->time;
  }
  for (int s = 0; s < show->nsim; s++) {
    simSave(show->sim + s);
  }
}


// title and caption: state, time, pace
static void writeTitle(Window* w) {
  double time = windowClock(), simulated = w->show->sim[0].d->time;
  snprintf(w->frame.note, sizeof(w->frame.note), "%.2f s", simulated);
  if (time - w->measured < 0.25) {
    return;
  }
  double pace = (simulated - w->measured_time) / (time - w->measured);
  char title[400];
  snprintf(title, sizeof(title), "mjgear: %s | %s | %.3f s | x%.2f | %.0f frames/s",
           w->frame.caption, w->panel.run ? "running" : "paused", simulated, fmax(0, pace),
           w->frames / (time - w->measured));
  glfwSetWindowTitle(w->glfw, title);
  w->measured = time;
  w->measured_time = simulated;
  w->frames = 0;
}


// width of a text of several lines, in pixels
static int textWidth(const char* text, const mjrContext* context) {
  int width = 0, most = 0;
  for (const char* c = text; *c; c++) {
    width = *c == '\n' ? 0 : width + context->charWidth[(unsigned char)*c];
    most = width > most ? width : most;
  }
  return most;
}


// background of the help text
static void drawGround(const Window* w) {
  const mjrContext* context = &w->frame.context;
  int lines = 2;
  for (const char* c = help; *c; c++) {
    lines += *c == '\n';
  }
  mjrRect area = w->ui.rect[3];
  int width = textWidth(help, context) + textWidth(help_meaning, context) + 4 * context->charHeight;
  int height = lines * 7 * context->charHeight / 5;
  width = width < area.width ? width : area.width;
  height = height < area.height ? height : area.height;
  mjrRect ground = {area.left, area.bottom + area.height - height, width, height};
  mjr_rectangle(ground, 0.1f, 0.11f, 0.13f, 1);
}


static void draw(Window* w) {
  Frame* frame = &w->frame;
  mjr_setBuffer(mjFB_WINDOW, &frame->context);
  if (w->ui.rect[3].width > 0) {
    frameDraw(frame, w->ui.rect[3], w->show);
    if (frame->flg_help) {
      drawGround(w);
      mjr_overlay(mjFONT_NORMAL, mjGRID_TOPLEFT, w->ui.rect[3], help, help_meaning,
                  &frame->context);
    }
    const char* warning = showWarning(w->show);
    const char* message = windowClock() < w->message_end ? w->message : warning;
    if (message) {
      mjr_overlay(mjFONT_NORMAL, mjGRID_TOP, w->ui.rect[3], message, NULL, &frame->context);
    }
  }
  panelLive(&w->panel, w->show, frame, &w->ui, windowClock());
  panelDraw(&w->panel, frame, &w->ui);
  if (w->screenshot) {
    windowScreenshot(w);
  }
  glfwSwapBuffers(w->glfw);
  w->frames++;
}


// memory of this process, MiB
static double memory(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file) {
    if (fscanf(file, "%*d %ld", &pages) != 1) {
      pages = 0;
    }
    fclose(file);
  }
  return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}


// processor time of all threads of this process, s
static double processor(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}


// wait until a frame is due where the display does not make us wait. Slightly faster than the
// monitor, whose rate GLFW rounds down, so that the monitor sets the pace. After a late frame the
// next has less time, so that none is lost on average
static void waitFrame(Window* w) {
  double period = 1 / (w->refresh + 1.5), now = windowClock();
  w->due = fmax(w->due + period, now - period);
  if (w->due > now) {
    struct timespec t = {.tv_nsec = (long)((w->due - now) * 1e9)};
    nanosleep(&t, NULL);
  }
}


// output of --measure
typedef struct Measure_ {
  double begin;      // wall clock after a first second, in which caches fill; 0: not yet
  double simulated;  // simulated time then, s
  double processor;  // processor time then, s
  double memory;     // after half of the time, in which caches fill, MiB; 0: not yet
  long frames;       // since then
} Measure;


// one more frame was drawn, the first at `start`: 1 when all is measured and told
static int measured(Measure* x, const Window* w, double start) {
  double now = windowClock(), wanted = w->show->option.measure;
  double simulated = w->show->sim[0].d->time;
  if (x->begin == 0) {
    if (now - start > 1) {
      *x = (Measure){.begin = now, .simulated = simulated, .processor = processor()};
    }
    return 0;
  }
  x->frames++;
  double seconds = now - x->begin;
  if (x->memory == 0 && seconds >= 0.5 * wanted) {
    x->memory = memory();
  }
  if (seconds < wanted) {
    return 0;
  }
  printf(
      "%s: %.1f s, %.1f frames/s, simulated/real time %.3f, processor %.1f ms a frame, memory "
      "%.1f MiB after half of it, %.1f MiB at the end\n",
      w->show->title, seconds, (double)x->frames / seconds, (simulated - x->simulated) / seconds,
      1e3 * (processor() - x->processor) / (double)x->frames, x->memory, memory());
  return 1;
}


static void loop(Window* w) {
  double start = windowClock();
  Measure measure = {0};
  while (!glfwWindowShouldClose(w->glfw)) {
    glfwPollEvents();
    if (w->show->option.flg_gallery) {
      windowGallery(w);
    }
    if (w->panel.run) {
      advance(w);
    } else {
      mjv_applyPerturbPose(w->show->sim[0].m, w->show->sim[0].d, &w->frame.perturb, 1);
      if (w->frame.perturb.active) {
        showForward(w->show);
      }
    }
    writeTitle(w);
    draw(w);
    waitFrame(w);
    if (w->show->option.measure > 0 && measured(&measure, w, start)) {
      break;
    }
  }
}


int window(Show* show, char* error, size_t error_size) {
  glfwSetErrorCallback(onError);
  if (!glfwInit()) {
    snprintf(error, error_size,
             "there is no display: %s. --record, --picture and --csv need none; --help tells more",
             glfw_error);
    return exitDISPLAY;
  }
  Window* w = calloc(1, sizeof(Window));
  w->glfw = w ? createWindow(&show->option, show->title) : NULL;
  if (!w || !w->glfw) {
    snprintf(error, error_size, "cannot open a window with OpenGL: %s",
             w ? glfw_error : "out of memory");
    free(w);
    glfwTerminate();
    return exitDISPLAY;
  }

  // the monitor's pace; a virtual one may not tell
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : NULL;
  w->refresh = mode && mode->refreshRate >= 30 && mode->refreshRate <= 240 ? mode->refreshRate : 60;
  glfwSwapInterval(1);

  // shown at first
  w->show = show;
  w->panel.run = !show->option.flg_paused;
  w->panel.speed = show->option.speed;
  w->panel.vsync = 1;
  w->panel.show_left = w->panel.show_right = !show->option.flg_hide_ui;
  int width, height;
  glfwGetFramebufferSize(w->glfw, &width, &height);
  w->ui.rect[0] = (mjrRect){0, 0, width, height};
  w->ui.nrect = 1;
  frameInit(&w->frame, show->sim, show->nsim, mjFONTSCALE_100, rendererName(), 1);
  w->frame.selected = showJoint(show);
  w->frame.flg_plots = show->option.flg_plots;
  frameEffects(&w->frame, show->option.flg_effects);
  showHeading(w->frame.caption, sizeof(w->frame.caption), show);
  panelMake(&w->panel, show, &w->frame, &w->ui);

  windowInput(w);
  windowPace(w);
  w->begun = windowClock();
  loop(w);

  panelFree(&w->panel);
  frameFree(&w->frame);
  glfwDestroyWindow(w->glfw);
  glfwTerminate();
  free(w);
  return 0;
}
