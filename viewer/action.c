#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "png.h"
#include "tune.h"
#include "window.h"


double windowClock(void) {
  return glfwGetTime();
}


// synchronize simulated time with the wall clock
void windowPace(Window* w) {
  w->wall = windowClock();
  w->simulated = w->show->sim[0].d->time;
}


// stop here and report it
void windowRun(Window* w, int run) {
  w->panel.run = run;
  w->frame.perturb.active = 0;
  w->back = 0;
  windowPace(w);
}


void windowTell(Window* w, const char* message) {
  snprintf(w->message, sizeof(w->message), "%.299s", message);
  w->message_end = windowClock() + 5;
}


void windowUpdate(Window* w) {
  panelUpdate(&w->panel, w->show, &w->frame, &w->ui);
}


static void reset(Window* w) {
  showReset(w->show);
  plotsAdd(&w->frame.plots, w->show->sim);
  windowRun(w, w->panel.run);
  windowUpdate(w);
}


// show the scene, case and comparison of the panels
void windowReload(Window* w) {
  char file[1200], error[1400];
  Show* show = w->show;
  Panel* panel = &w->panel;
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
    windowTell(w, error);
    fprintf(stderr, "mjgear-view: %s\n", error);
  } else {
    frameReload(&w->frame, show->sim, show->nsim);
    showHeading(w->frame.caption, sizeof(w->frame.caption), show);
  }
  panelMake(panel, show, &w->frame, &w->ui);
  windowPace(w);
}


void windowGallery(Window* w) {
  // each in full, up to eight seconds; longer ones run faster
  enum {
    LONGEST = 8
  };
  double duration = w->show->duration;
  w->panel.speed = fmax(1, duration / LONGEST);
  if (windowClock() - w->begun > fmin(duration, LONGEST) + 1) {
    w->panel.scene = (w->panel.scene + 1) % mjg_nscene;
    w->panel.variant = 0;
    w->panel.against = simGEAR;
    windowReload(w);
    w->begun = windowClock();
  }
}


void windowScreenshot(Window* w) {
  w->screenshot = 0;

  int width = w->ui.rect[0].width, height = w->ui.rect[0].height;
  size_t row = 3 * (size_t)width;
  unsigned char* rgb = malloc(2 * row * (size_t)height);
  char path[64], text[300];
  int n = 1;
  do {
    snprintf(path, sizeof(path), "mjgear-view-%03d.png", n++);
  } while (access(path, F_OK) == 0 && n < 1000);
  if (rgb) {
    // OpenGL has the lowest row first
    unsigned char* turned = rgb + row * (size_t)height;
    mjr_readPixels(rgb, NULL, w->ui.rect[0], &w->frame.context);
    for (int i = 0; i < height; i++) {
      memcpy(turned + row * (size_t)i, rgb + row * (size_t)(height - 1 - i), row);
    }
    if (!pngWrite(path, turned, width, height, text, sizeof(text))) {
      snprintf(text, sizeof(text), "wrote %s", path);
    }
    windowTell(w, text);
    printf("%s\n", text);
    fflush(stdout);
  }
  free(rgb);
}


static void fullscreen(Window* w) {
  int* r = w->windowed;
  if (glfwGetWindowMonitor(w->glfw)) {
    glfwSetWindowMonitor(w->glfw, NULL, r[0], r[1], r[2], r[3], 0);
  } else {
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : NULL;
    if (mode) {
      glfwGetWindowPos(w->glfw, r, r + 1);
      glfwGetWindowSize(w->glfw, r + 2, r + 3);
      glfwSetWindowMonitor(w->glfw, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    }
  }
  w->panel.fullscreen = glfwGetWindowMonitor(w->glfw) != NULL;
}


// a parameter of the selected joint, or the solver: report the equivalent configuration
static void changeParameter(Window* w) {
  char error[1400];
  Show* show = w->show;
  int gear = w->frame.selected, key = w->panel.changed;
  int failed = key == panelSOLVER
                   ? tuneSetSolver(show, w->panel.solver, error, sizeof(error))
                   : tuneSetValue(show, gear, key, w->panel.parameter[key], error, sizeof(error));
  if (failed) {
    windowTell(w, error);
  } else if (key == panelSOLVER) {
    printf("solver = %s\n", tuneSolvers[w->panel.solver]);
  } else {
    printf("%s: %s = %.4g\n", show->sim[0].gear[gear].name, tuneKeys[key].name,
           w->panel.parameter[key]);
  }
  fflush(stdout);
  showForward(show);
  windowUpdate(w);
}


void windowCamera(Window* w, int camera) {
  const mjModel* m = w->show->sim[0].m;
  mjvCamera* cam = &w->frame.camera;
  w->panel.camera = camera;
  if (camera == 1 && w->frame.perturb.select > 0) {
    cam->type = mjCAMERA_TRACKING;
    cam->trackbodyid = w->frame.perturb.select;
  } else if (camera >= 2 && camera - 2 < m->ncam) {
    cam->type = mjCAMERA_FIXED;
    cam->fixedcamid = camera - 2;
  } else {
    cam->type = mjCAMERA_FREE;
    w->panel.camera = 0;
  }
  windowUpdate(w);
}


void windowObey(Window* w, PanelRequest request) {
  switch (request) {
    case panelQUIT:
      glfwSetWindowShouldClose(w->glfw, 1);
      break;
    case panelSCREENSHOT:
      w->screenshot = 1;
      break;
    case panelRELOAD:
      windowReload(w);
      break;
    case panelRESET:
      reset(w);
      break;
    case panelKEY:
      w->show->key = w->panel.key;
      showHeading(w->frame.caption, sizeof(w->frame.caption), w->show);
      reset(w);
      break;
    case panelALIGN:
      mjv_defaultFreeCamera(w->show->sim[0].m, &w->frame.camera);
      windowCamera(w, 0);
      break;
    case panelFULLSCREEN:
      fullscreen(w);
      break;
    case panelVSYNC:
      glfwSwapInterval(w->panel.vsync);
      break;
    case panelCAMERA:
      windowCamera(w, w->panel.camera);
      break;
    case panelSELECT:
      panelMake(&w->panel, w->show, &w->frame, &w->ui);
      break;
    case panelFORWARD:
      showForward(w->show);
      break;
    case panelPARAMETER:
      changeParameter(w);
      break;
    case panelNOTHING:
      break;
  }
}


// one step on, or one state back or on in the history
void windowStep(Window* w, int direction) {
  Show* show = w->show;
  int back = w->back - direction;
  if (direction > 0 && (w->panel.run || w->back == 0)) {
    if (!w->panel.run) {
      showStep(show, &w->frame.perturb);
      for (int s = 0; s < show->nsim; s++) {
        simSave(show->sim + s);
      }
      plotsAdd(&w->frame.plots, show->sim);
    }
  } else if (back >= 0 && simRecall(show->sim, back)) {
    windowRun(w, 0);
    w->back = back;
    for (int s = 1; s < show->nsim; s++) {
      simRecall(show->sim + s, back);
    }
  }
  windowUpdate(w);
}
