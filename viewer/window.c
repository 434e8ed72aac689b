// The window: GLFW, mouse and keys as in MuJoCo's simulate, panels on both sides.

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mjgear.h"
#include "panel.h"

typedef struct Window_ {
  GLFWwindow* glfw;
  Show* show;
  Frame frame;
  Panel panel;
  mjuiState ui;
  double refresh;  // frames a second of the monitor

  // pointer in the window at the event; GLFW would give the current place
  double x;
  double y;

  // pace: simulated time follows the wall clock from here
  double wall;
  double simulated;
  double due;  // wall clock at which the next frame begins, s

  // measurements for the title
  double measured;       // wall clock when last written, s
  double measured_time;  // simulated time then, s
  int frames;            // drawn since then

  char message[300];  // shown until message_end
  double message_end;
  int screenshot;  // one is wanted when all is drawn
} Window;

// last message of GLFW, for our line
static char glfw_error[200];

static void onError(int code, const char* description) {
  (void)code;
  snprintf(glfw_error, sizeof(glfw_error), "%s", description);
}

//---------------------------------- actions -------------------------------------------------------

static void startPace(Window* w) {
  w->wall = glfwGetTime();
  w->simulated = w->show->sim[0].d->time;
}

static void runOrPause(Window* w, int run) {
  w->panel.run = run;
  w->frame.perturb.active = 0;
  startPace(w);
}

// a line at the upper edge for a few seconds
static void tell(Window* w, const char* message) {
  snprintf(w->message, sizeof(w->message), "%.299s", message);
  w->message_end = glfwGetTime() + 5;
}

static void update(Window* w) { panelUpdate(&w->panel, w->show, &w->frame, &w->ui); }

static void makePanels(Window* w) { panelMake(&w->panel, w->show, &w->frame, &w->ui); }

static void reset(Window* w) {
  showHeading(w->frame.caption, sizeof(w->frame.caption), w->show);
  showReset(w->show);
  plotsAdd(&w->frame.plots, w->show->sim);
  runOrPause(w, w->panel.run);
  update(w);
}

static void reload(Window* w) {
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
  makePanels(w);
  startPace(w);
}

// write the drawing to a new PNG file
static void screenshot(Window* w) {
  w->screenshot = 0;
  char path[64], text[300];
  int n = 1;
  do {
    snprintf(path, sizeof(path), "mjgear-view-%03d.png", n++);
  } while (access(path, F_OK) == 0 && n < 1000);
  if (!frameWrite(&w->frame, w->ui.rect[0], path, text, sizeof(text))) {
    snprintf(text, sizeof(text), "wrote %s", path);
  }
  tell(w, text);
  printf("%s\n", text);
  fflush(stdout);
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
    printf("solver = %s\n", mjg_solverName(panel->solver));
  } else {
    printf("%s: %s = %.4g\n", show->sim[0].gear[gear].name, tuneKeys[key].name, panel->parameter[key]);
  }
  fflush(stdout);
  showForward(show);
  update(w);
}

static void obey(Window* w, int request) {
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
      reload(w);
      break;
    case panelRELOAD:
      reload(w);
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
      makePanels(w);
      break;
    default:
      changeParameter(w, request);
  }
}

//---------------------------------- keys ----------------------------------------------------------

// look through a camera of the model; below 0: the free one
static void look(mjvCamera* camera, int id) {
  camera->type = id < 0 ? mjCAMERA_FREE : mjCAMERA_FIXED;
  camera->fixedcamid = id;
}

static void key(Window* w) {
  Frame* frame = &w->frame;
  const mjModel* m = w->show->sim[0].m;
  switch (w->ui.key) {
    case ' ':
      runOrPause(w, !w->panel.run);
      update(w);
      break;
    case mjKEY_RIGHT:
      if (!w->panel.run) {
        showStep(w->show, &frame->perturb);
        plotsAdd(&frame->plots, w->show->sim);
        update(w);
      }
      break;
    case '-':
    case '=': {
      // the steps of simulate, roughly: four to a decade
      double factor = w->ui.key == '-' ? pow(10, -0.25) : pow(10, 0.25);
      w->panel.speed = fmin(10, fmax(0.01, w->panel.speed * factor));
      startPace(w);
      update(w);
      break;
    }
    case ',':
    case '.':
      if (w->show->sim[0].ngear > 0) {
        int n = w->show->sim[0].ngear, step = w->ui.key == '.' ? 1 : n - 1;
        frame->selected = (frame->selected + step) % n;
        makePanels(w);
      }
      break;
    case ']':
    case '[': {
      int n = (int)m->ncam, last = frame->camera.type == mjCAMERA_FIXED ? frame->camera.fixedcamid : -1;
      look(&frame->camera, n ? (w->ui.key == ']' ? last + 1 : last < 0 ? n - 1 : last + n - 1) % n : -1);
      break;
    }
    case mjKEY_ESCAPE:
      look(&frame->camera, -1);
      break;
    case mjKEY_TAB:
      if (w->ui.shift) {
        w->panel.show_right = !w->panel.show_right;
      } else {
        w->panel.show_left = !w->panel.show_left;
      }
      panelLayout(&w->panel, frame, &w->ui);
      break;
  }
}

//---------------------------------- mouse ---------------------------------------------------------

// select the body under the mouse
static void pick(Window* w) {
  Frame* frame = &w->frame;
  Sim* sim = w->show->sim;
  mjrRect view = frameView(frame, w->ui.rect[3], w->show, 0);
  double x = (w->ui.x - view.left) / view.width, y = (w->ui.y - view.bottom) / view.height;
  if (x < 0 || x > 1 || y < 0 || y > 1) {
    return;
  }
  mjtNum point[3];
  int geom = -1, flex = -1, skin = -1;
  frameScene(frame, sim, view, NULL);
  int body = mjv_select(sim->m, sim->d, &frame->option, (mjtNum)view.width / view.height, x, y, &frame->scene, point,
                        &geom, &flex, &skin);
  mjvPerturb* perturb = &frame->perturb;
  perturb->active = 0;
  perturb->select = body > 0 ? body : 0;
  perturb->flexselect = flex;
  perturb->skinselect = skin;
  if (body > 0) {
    mjtNum offset[3];
    mju_sub3(offset, point, sim->d->xpos + 3 * body);
    mju_mulMatTVec3(perturb->localpos, sim->d->xmat + 9 * body, offset);
  }

  // a body on a geared joint brings that joint into the panel
  for (int g = 0; g < sim->ngear && body > 0; g++) {
    if (sim->gear[g].tendon < 0 && sim->m->jnt_bodyid[sim->gear[g].joint] == body && g != frame->selected) {
      frame->selected = g;
      makePanels(w);
      break;
    }
  }
}

static void mouse(Window* w) {
  Frame* frame = &w->frame;
  Sim* sim = w->show->sim;
  mjuiState* ui = &w->ui;
  switch (ui->type) {
    case mjEVENT_SCROLL:
      if (ui->mouserect == 3) {
        mjv_moveCamera(sim->m, mjMOUSE_ZOOM, 0, -0.02 * ui->sy, &frame->camera);
      }
      break;
    case mjEVENT_PRESS:
      if (ui->mouserect != 3) {
        break;
      }
      if (ui->control && frame->perturb.select > 0 && (ui->left || ui->right)) {
        int active = ui->right ? mjPERT_TRANSLATE : mjPERT_ROTATE;
        if (!frame->perturb.active) {
          frameScene(frame, sim, frameView(frame, ui->rect[3], w->show, 0), NULL);
          mjv_initPerturb(sim->m, sim->d, &frame->scene, &frame->perturb);
        }
        frame->perturb.active = active;
      }
      if (ui->doubleclick && ui->button == mjBUTTON_LEFT) {
        pick(w);
      }
      break;
    case mjEVENT_RELEASE:
      if (ui->dragrect == 3) {
        frame->perturb.active = 0;
      }
      break;
    case mjEVENT_MOVE:
      if (ui->dragrect == 3) {
        int action = ui->right  ? (ui->shift ? mjMOUSE_MOVE_H : mjMOUSE_MOVE_V)
                     : ui->left ? (ui->shift ? mjMOUSE_ROTATE_H : mjMOUSE_ROTATE_V)
                                : mjMOUSE_ZOOM;
        double dx = ui->dx / ui->rect[3].height, dy = -ui->dy / ui->rect[3].height;
        if (frame->perturb.active) {
          mjv_movePerturb(sim->m, sim->d, action, dx, dy, &frame->scene, &frame->perturb);
        } else {
          mjv_moveCamera(sim->m, action, dx, dy, &frame->camera);
        }
      }
      break;
    default:
      break;
  }
}

//---------------------------------- GLFW ----------------------------------------------------------

static int isHeld(GLFWwindow* glfw, int modifiers, int bit, int left, int right) {
  if (modifiers >= 0) {
    return (modifiers & bit) != 0;
  }
  return glfwGetKey(glfw, left) == GLFW_PRESS || glfwGetKey(glfw, right) == GLFW_PRESS;
}

// Write pointer, buttons and modifiers into the state that the panels read.
// `modifiers` are the GLFW_MOD_ bits of the event; -1 asks for the keys that are down, where an event has none. The keys
// alone do not serve: a modifier whose press or release GLFW dropped would turn Ctrl Q into Q.
static void readState(Window* w, int modifiers) {
  mjuiState* ui = &w->ui;
  GLFWwindow* glfw = w->glfw;
  ui->left = glfwGetMouseButton(glfw, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS;
  ui->right = glfwGetMouseButton(glfw, GLFW_MOUSE_BUTTON_RIGHT) == GLFW_PRESS;
  ui->middle = glfwGetMouseButton(glfw, GLFW_MOUSE_BUTTON_MIDDLE) == GLFW_PRESS;
  ui->control = isHeld(glfw, modifiers, GLFW_MOD_CONTROL, GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
  ui->shift = isHeld(glfw, modifiers, GLFW_MOD_SHIFT, GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
  ui->alt = isHeld(glfw, modifiers, GLFW_MOD_ALT, GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);

  // pixels of the buffer, from the lower edge
  double x = w->x, y = w->y;
  int width, height;
  glfwGetWindowSize(glfw, &width, &height);
  double scale = width > 0 ? (double)ui->rect[0].width / width : 1;
  x *= scale;
  y = ui->rect[0].height - y * scale;
  ui->dx = x - ui->x;
  ui->dy = y - ui->y;
  ui->x = x;
  ui->y = y;
  ui->mouserect = mjr_findRect((int)x, (int)y, ui->nrect - 1, ui->rect + 1) + 1;
}

static void handleEvent(Window* w) {
  int request, flg_taken = panelEvent(&w->panel, &request, &w->frame, &w->ui);
  obey(w, request);
  if (!flg_taken && w->ui.type == mjEVENT_KEY) {
    key(w);
  } else if (!flg_taken) {
    mouse(w);
  }
}

static void onKey(GLFWwindow* glfw, int code, int scancode, int action, int modifiers) {
  (void)scancode;
  Window* w = glfwGetWindowUserPointer(glfw);
  if (action == GLFW_RELEASE) {
    return;
  }
  readState(w, modifiers);
  w->ui.type = mjEVENT_KEY;
  w->ui.key = code;
  w->ui.keytime = glfwGetTime();
  handleEvent(w);
}

static void onButton(GLFWwindow* glfw, int code, int action, int modifiers) {
  Window* w = glfwGetWindowUserPointer(glfw);
  mjuiState* ui = &w->ui;
  readState(w, modifiers);
  int button = code == GLFW_MOUSE_BUTTON_LEFT    ? mjBUTTON_LEFT
               : code == GLFW_MOUSE_BUTTON_RIGHT ? mjBUTTON_RIGHT
                                                 : mjBUTTON_MIDDLE;
  if (action == GLFW_PRESS) {
    ui->doubleclick = button == ui->button && glfwGetTime() - ui->buttontime < 0.25;
    ui->type = mjEVENT_PRESS;
    ui->button = button;
    ui->buttontime = glfwGetTime();
    if (ui->mouserect) {
      ui->dragbutton = button;
      ui->dragrect = ui->mouserect;
    }
  } else {
    ui->type = mjEVENT_RELEASE;
  }
  handleEvent(w);
  if (action != GLFW_PRESS) {
    ui->dragrect = 0;
    ui->dragbutton = 0;
  }
}

static void onMove(GLFWwindow* glfw, double x, double y) {
  Window* w = glfwGetWindowUserPointer(glfw);
  w->x = x;
  w->y = y;
  if (w->ui.left || w->ui.right || w->ui.middle) {
    readState(w, -1);
    w->ui.type = mjEVENT_MOVE;
    handleEvent(w);
  }
}

static void onScroll(GLFWwindow* glfw, double x, double y) {
  Window* w = glfwGetWindowUserPointer(glfw);
  readState(w, -1);
  w->ui.type = mjEVENT_SCROLL;
  w->ui.sx = x;
  w->ui.sy = y;
  handleEvent(w);
}

static void onSize(GLFWwindow* glfw, int width, int height) {
  Window* w = glfwGetWindowUserPointer(glfw);
  w->ui.rect[0] = (mjrRect){0, 0, width, height};
  panelLayout(&w->panel, &w->frame, &w->ui);
}

static void takeInput(Window* w) {
  glfwSetWindowUserPointer(w->glfw, w);
  glfwGetCursorPos(w->glfw, &w->x, &w->y);
  glfwSetKeyCallback(w->glfw, onKey);
  glfwSetMouseButtonCallback(w->glfw, onButton);
  glfwSetCursorPosCallback(w->glfw, onMove);
  glfwSetScrollCallback(w->glfw, onScroll);
  glfwSetFramebufferSizeCallback(w->glfw, onSize);
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
      startPace(w);
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
    if (w->panel.run) {
      glfwPollEvents();
      advance(w);
    } else {
      glfwWaitEventsTimeout(0.1);  // a picture that stands needs no more
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
  makePanels(w);

  takeInput(w);
  startPace(w);
  loop(w);

  frameFree(&w->frame);
  glfwDestroyWindow(made);
  glfwTerminate();
  free(w);
  return 0;
}
