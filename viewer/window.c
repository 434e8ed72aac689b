#include "window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pictures.h"

// last message of GLFW, for our line
static char glfw_error[200];

static void onError(int code, const char* description) {
  (void)code;
  snprintf(glfw_error, sizeof(glfw_error), "%s", description);
}

//---------------------------------- actions -------------------------------------------------------

void windowPace(Window* w) {
  w->wall = glfwGetTime();
  w->simulated = w->show->sim[0].d->time;
}

void windowRun(Window* w, int run) {
  w->panel.run = run;
  w->frame.perturb.active = 0;
  windowPace(w);
}

// a line at the upper edge for a few seconds
static void tell(Window* w, const char* message) {
  snprintf(w->message, sizeof(w->message), "%.299s", message);
  w->message_end = glfwGetTime() + 5;
}

void windowUpdate(Window* w) { panelUpdate(&w->panel, w->show, &w->frame, &w->ui); }

void windowPanels(Window* w) { panelMake(&w->panel, w->show, &w->frame, &w->ui); }

static void reset(Window* w) {
  showHeading(w->frame.caption, sizeof(w->frame.caption), w->show);
  showReset(w->show);
  plotsAdd(&w->frame.plots, w->show->sim);
  windowRun(w, w->panel.run);
  windowUpdate(w);
}

void windowReload(Window* w) {
  char file[1200], error[1400];
  Show* show = w->show;
  const Panel* panel = &w->panel;
  if (panel->scene < mjg_nscene) {
    const mjgScene* scene = mjg_scenes[panel->scene];
    snprintf(file, sizeof(file), "%s%s%s", scene->name, scene->nvariant ? "/" : "",
             scene->nvariant ? scene->variant[panel->variant].name : "");
  } else {
    snprintf(file, sizeof(file), "%s", show->path);
  }
  int flg_cases = panel->against == panelCASES;
  SimFriction against = flg_cases ? simGEAR : (SimFriction)panel->against;
  if (showChange(show, file, against, flg_cases ? "all" : NULL, error, sizeof(error))) {
    tell(w, error);
    fprintf(stderr, "mjgear-view: %s\n", error);
  } else {
    frameReload(&w->frame, show->sim, show->nsim);
    showHeading(w->frame.caption, sizeof(w->frame.caption), show);
  }
  windowPanels(w);
  windowPace(w);
}

// write the drawing to a new PNG file
static void screenshot(Window* w) {
  w->screenshot = 0;
  mjrRect area = w->ui.rect[0];
  unsigned char* rgb = malloc(3 * (size_t)area.width * ((size_t)area.height + 1));
  char path[64], text[300];
  int n = 1;
  do {
    snprintf(path, sizeof(path), "mjgear-view-%03d.png", n++);
  } while (access(path, F_OK) == 0 && n < 1000);
  if (rgb) {
    recordPixels(rgb, &w->frame, area);
    if (!pngWrite(path, rgb, area.width, area.height, text, sizeof(text))) {
      snprintf(text, sizeof(text), "wrote %s", path);
    }
    tell(w, text);
    printf("%s\n", text);
    fflush(stdout);
  }
  free(rgb);
}

// change a parameter of the selected joint, or the solver, and print the equivalent configuration
static void changeParameter(Window* w, int request) {
  char error[1400];
  Show* show = w->show;
  const Panel* panel = &w->panel;
  int gear = w->frame.selected, key = request - panelPARAMETER;
  int failed = request == panelSOLVER ? tuneSetSolver(show->sim, panel->solver, error, sizeof(error))
                                      : tuneSetValue(show->sim, gear, key, panel->parameter[key], error, sizeof(error));
  if (failed) {
    tell(w, error);
  } else if (request == panelSOLVER) {
    printf("solver = %s\n", tuneSolvers[panel->solver]);
  } else {
    printf("%s: %s = %.4g\n", show->sim[0].gear[gear].name, tuneKeys[key].name, panel->parameter[key]);
  }
  fflush(stdout);
  showForward(show);
  windowUpdate(w);
}

void windowObey(Window* w, int request) {
  Panel* panel = &w->panel;
  Show* show = w->show;
  switch (request) {
    case panelNOTHING:
      break;
    case panelQUIT:
      glfwSetWindowShouldClose(w->glfw, 1);
      break;
    case panelSCREENSHOT:
      w->screenshot = 1;
      break;
    case panelSCENE:
      panel->scene = panel->choice_scene[panel->choice];
      panel->variant = 0;
      windowReload(w);
      break;
    case panelRELOAD:
      windowReload(w);
      break;
    case panelKEY:
      show->key = panel->key;
      reset(w);
      break;
    case panelRESET:
      reset(w);
      break;
    case panelALIGN:
      mjv_defaultFreeCamera(show->sim[0].m, &w->frame.camera);
      break;
    case panelSELECT:
      windowPanels(w);
      break;
    default:
      changeParameter(w, request);
  }
}

//---------------------------------- frames --------------------------------------------------------

// step until simulated time has caught up, or the time for a frame is used up
static void advance(Window* w) {
  Show* show = w->show;
  double begin = glfwGetTime(), budget = 0.7 / w->refresh;
  double last = show->sim[0].d->time;
  double target = w->simulated + (begin - w->wall) * w->panel.speed;
  while (show->sim[0].d->time < target) {
    showStep(show, &w->frame.perturb);
    plotsAdd(&w->frame.plots, show->sim);

    // too slow, or reset by the engine: missed time is dropped
    if (show->sim[0].d->time < last || glfwGetTime() - begin > budget) {
      windowPace(w);
      break;
    }
    last = show->sim[0].d->time;
  }
}

// title and caption: state, time, pace
static void writeTitle(Window* w) {
  double time = glfwGetTime(), simulated = w->show->sim[0].d->time;
  snprintf(w->frame.note, sizeof(w->frame.note), "%.2f s", simulated);
  if (time - w->measured < 0.25) {
    return;
  }
  double pace = (simulated - w->measured_time) / (time - w->measured);
  char title[400];
  snprintf(title, sizeof(title), "mjgear: %s | %s | %.3f s | x%.2f | %.0f frames/s", w->frame.caption,
           w->panel.run ? "running" : "paused", simulated, fmax(0, pace), w->frames / (time - w->measured));
  glfwSetWindowTitle(w->glfw, title);
  w->measured = time;
  w->measured_time = simulated;
  w->frames = 0;
}

static void draw(Window* w) {
  Frame* frame = &w->frame;
  mjrRect area = w->ui.rect[3];
  double now = glfwGetTime();
  mjr_setBuffer(mjFB_WINDOW, &frame->context);
  if (area.width > 0) {
    frameDraw(frame, area, w->show);
    const char* message = now < w->message_end ? w->message : showWarning(w->show);
    if (message) {
      mjr_overlay(mjFONT_NORMAL, mjGRID_TOP, area, message, NULL, &frame->context);
    }
  }
  panelDraw(&w->panel, w->show, frame, &w->ui, now);
  if (w->screenshot) {
    screenshot(w);
  }
  glfwSwapBuffers(w->glfw);
  w->frames++;
}

// wait until a frame is due where the display does not make us wait. Slightly faster than the
// monitor, whose rate GLFW rounds down, so that the monitor sets the pace. After a late frame the
// next has less time, so that none is lost on average
static void waitFrame(Window* w) {
  double period = 1 / (w->refresh + 1.5), now = glfwGetTime();
  w->due = fmax(w->due + period, now - period);
  if (w->due > now) {
    struct timespec t = {.tv_nsec = (long)((w->due - now) * 1e9)};
    nanosleep(&t, NULL);
  }
}

static void loop(Window* w) {
  while (!glfwWindowShouldClose(w->glfw)) {
    glfwPollEvents();
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
  }
}

//---------------------------------- window --------------------------------------------------------

static const char* rendererName(void) {
  const unsigned char* (*getString)(unsigned) = (__typeof__(getString))glfwGetProcAddress("glGetString");
  const unsigned char* name = getString ? getString(0x1F01) : NULL;  // GL_RENDERER
  return name ? (const char*)name : "unknown";
}

// a window with a current context, smoothed where a graphics card draws
static GLFWwindow* createWindow(const ShowOptions* option, const char* title, const GLFWvidmode* mode) {
  int width = option->width ? option->width : 1280, height = option->height ? option->height : 800;
  if (mode && !option->width) {
    width = mode->width < width ? mode->width : width;
    height = mode->height < height ? mode->height : height;
  }
  glfwWindowHint(GLFW_VISIBLE, 0);
  GLFWwindow* made = glfwCreateWindow(width, height, title, NULL, NULL);
  glfwMakeContextCurrent(made);
  if (made && !frameIsSoftware(rendererName())) {
    glfwDestroyWindow(made);
    glfwWindowHint(GLFW_SAMPLES, 4);
    made = glfwCreateWindow(width, height, title, NULL, NULL);
    glfwMakeContextCurrent(made);
  }
  if (made) {
    glfwShowWindow(made);
  }
  return made;
}

int window(Show* show, char* error, size_t error_size) {
  glfwSetErrorCallback(onError);
  if (!glfwInit()) {
    snprintf(error, error_size, "there is no display: %s. --record, --picture and --csv need none; --help tells more",
             glfw_error);
    return exitDISPLAY;
  }
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : NULL;
  Window* w = calloc(1, sizeof(Window));
  GLFWwindow* made = w ? createWindow(&show->option, show->title, mode) : NULL;
  if (!made) {
    snprintf(error, error_size, "cannot open a window with OpenGL: %s", glfw_error);
    free(w);
    glfwTerminate();
    return exitDISPLAY;
  }

  // the monitor's pace; a virtual one may not tell
  w->refresh = mode && mode->refreshRate >= 30 && mode->refreshRate <= 240 ? mode->refreshRate : 60;
  glfwSwapInterval(1);

  // shown at first
  w->glfw = made;
  w->show = show;
  w->panel.run = !show->option.flg_paused;
  w->panel.speed = show->option.speed;
  w->panel.show_left = w->panel.show_right = !show->option.flg_hide_ui;
  int width, height;
  glfwGetFramebufferSize(made, &width, &height);
  w->ui.rect[0] = (mjrRect){0, 0, width, height};
  w->ui.nrect = 1;
  frameInit(&w->frame, show->sim, show->nsim, mjFONTSCALE_100, rendererName(), 1);
  w->frame.selected = showJoint(show);
  w->frame.flg_plots = show->option.flg_plots;
  frameEffects(&w->frame, show->option.flg_effects);
  showHeading(w->frame.caption, sizeof(w->frame.caption), show);
  windowPanels(w);

  windowInput(w);
  windowPace(w);
  loop(w);

  frameFree(&w->frame);
  glfwDestroyWindow(made);
  glfwTerminate();
  free(w);
  return 0;
}
