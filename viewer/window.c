#include "window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "panel.h"
#include "png.h"

typedef struct Window_ {
  GLFWwindow* glfw;
  Show* show;
  Frame frame;
  Panel panel;
  mjuiState ui;
  double refresh;   // frames a second of the monitor
  int windowed[4];  // position and size before full screen

  // pace: simulated time follows the wall clock from here
  double wall;
  double simulated;

  // what is measured for the title
  double measured;       // wall clock when last written, s
  double measured_time;  // simulated time then, s
  int frames;            // drawn since then

  char message[300];  // shown until message_end
  double message_end;
  int back;  // states that we are behind the newest one
} Window;

static const char help[] =
    "Space\nRight, Left arrow\nBackspace\n- =\nTab, Shift Tab\nF1 F2 F3 F4 F5\nF6, F7\n[ ] Esc\n"
    "Page Up\nCtrl L, P, A, Q\n\nDouble-click\nCtrl right drag\nCtrl left drag\n"
    "Left drag, right drag\nScroll, middle drag\nDouble right click\nCtrl double right click\n"
    "Right hold on panel";

static const char help_meaning[] =
    "run or pause\none step on, back\nreset\nslower, faster\nleft, right panel\n"
    "help, values, plots, colours, full screen\nframes, labels\ncameras, free camera\n"
    "select parent\nreload, screenshot, align, quit\n\nselect a body\npull it (Shift: horizontal)\n"
    "turn it\norbit, pan the camera (Shift: horizontal)\nzoom\nlook at\ntrack\nits shortcuts";


//---------------------------------- pace ----------------------------------------------------------

static double now(void) {
  return glfwGetTime();
}


// simulated time follows the wall clock from now on
static void startPace(Window* w) {
  w->wall = now();
  w->simulated = w->show->sim[0].d->time;
}


// stop where we are and tell it
static void setRun(Window* w, int run) {
  w->panel.run = run;
  w->frame.perturb.active = 0;
  w->back = 0;
  startPace(w);
}


static void tell(Window* w, const char* message) {
  snprintf(w->message, sizeof(w->message), "%.299s", message);
  w->message_end = now() + 5;
}


// step until simulated time is where it should be, or the time for a frame is used up
static void advance(Window* w) {
  Show* show = w->show;
  double begin = now(), budget = 0.7 / w->refresh;
  double last = show->sim[0].d->time;
  double target = w->simulated + (begin - w->wall) * w->panel.speed;
  while (show->sim[0].d->time < target) {
    showStep(show, &w->frame.perturb);
    plotsAdd(&w->frame.plots, show->sim);

    // too slow, or reset by the engine: what was missed is not made up for
    if (show->sim[0].d->time < last || now() - begin > budget) {
      startPace(w);
      break;
    }
    last = show->sim[0].d->time;
  }
  for (int s = 0; s < show->nsim; s++) {
    simSave(show->sim + s);
  }
}


//---------------------------------- requests ------------------------------------------------------

static void updatePanel(Window* w) {
  panelUpdate(&w->panel, w->show, &w->frame, &w->ui);
}


static void reset(Window* w) {
  showReset(w->show);
  plotsAdd(&w->frame.plots, w->show->sim);
  setRun(w, w->panel.run);
  updatePanel(w);
}


// present what the panels name: scene, case, comparison
static void reload(Window* w) {
  char file[1200], error[1400];
  Show* show = w->show;
  Panel* panel = &w->panel;
  if (panel->scene < mjg_nscene) {
    const mjgScene* scene = mjg_scenes[panel->scene];
    snprintf(file, sizeof(file), "%s%s%s", scene->name, scene->nvariant ? "/" : "",
             scene->nvariant ? scene->variant[panel->variant].name : "");
  } else {
    snprintf(file, sizeof(file), "%s", show->option.file);
  }
  if (showChange(show, file, (SimFriction)panel->against, error, sizeof(error))) {
    tell(w, error);
    fprintf(stderr, "mjgear-view: %s\n", error);
  } else {
    frameReload(&w->frame, show->sim, show->nsim);
    snprintf(w->frame.caption, sizeof(w->frame.caption), "%s", show->title);
  }
  panelMake(panel, show, &w->frame, &w->ui);
  startPace(w);
}


static void screenshot(Window* w) {
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
    tell(w, text);
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


// a parameter of the selected joint: tell what the configuration would say
static void changeParameter(Window* w) {
  char error[1400];
  Sim* sim = w->show->sim;
  SimParameter parameter = (SimParameter)w->panel.changed;
  double value = w->panel.parameter[parameter];
  if (simSetParameter(sim, w->frame.selected, parameter, value, error, sizeof(error))) {
    tell(w, error);
  } else {
    printf("%s: %s = %.4g\n", sim->gear[w->frame.selected].name, simParameterName[parameter],
           value);
    fflush(stdout);
    showForward(w->show);
  }
  updatePanel(w);
}


static void setCamera(Window* w, int camera) {
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
  updatePanel(w);
}


static void obey(Window* w, PanelRequest request) {
  switch (request) {
    case panelQUIT:
      glfwSetWindowShouldClose(w->glfw, 1);
      break;
    case panelSCREENSHOT:
      screenshot(w);
      break;
    case panelRELOAD:
      reload(w);
      break;
    case panelRESET:
      reset(w);
      break;
    case panelALIGN:
      mjv_defaultFreeCamera(w->show->sim[0].m, &w->frame.camera);
      setCamera(w, 0);
      break;
    case panelFULLSCREEN:
      fullscreen(w);
      break;
    case panelVSYNC:
      glfwSwapInterval(w->panel.vsync);
      break;
    case panelCAMERA:
      setCamera(w, w->panel.camera);
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


//---------------------------------- keys ----------------------------------------------------------

// one step on, or one state back or on in the history
static void stepBy(Window* w, int direction) {
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
    setRun(w, 0);
    w->back = back;
    for (int s = 1; s < show->nsim; s++) {
      simRecall(show->sim + s, back);
    }
  }
  updatePanel(w);
}


static void key(Window* w) {
  Frame* frame = &w->frame;
  const mjModel* m = w->show->sim[0].m;
  switch (w->ui.key) {
    case ' ':
      setRun(w, !w->panel.run);
      updatePanel(w);
      break;
    case mjKEY_RIGHT:
      stepBy(w, 1);
      break;
    case mjKEY_LEFT:
      stepBy(w, -1);
      break;
    case '-':
    case '=': {
      // the steps of simulate, roughly: four to a decade
      double factor = w->ui.key == '-' ? pow(10, -0.25) : pow(10, 0.25);
      w->panel.speed = fmin(10, fmax(0.01, w->panel.speed * factor));
      startPace(w);
      updatePanel(w);
      break;
    }
    case mjKEY_PAGE_UP:
      if (frame->perturb.select > 0) {
        frame->perturb.select = m->body_parentid[frame->perturb.select];
        frame->perturb.active = frame->perturb.select > 0 ? frame->perturb.active : 0;
      }
      break;
    case ']':
      setCamera(w, w->panel.camera < 2 || w->panel.camera == m->ncam + 1 ? 2 : w->panel.camera + 1);
      break;
    case '[':
      setCamera(w, w->panel.camera <= 2 ? (int)m->ncam + 1 : w->panel.camera - 1);
      break;
    case mjKEY_ESCAPE:
      setCamera(w, 0);
      break;
    case mjKEY_F6:
      frame->option.frame = (frame->option.frame + 1) % mjNFRAME;
      updatePanel(w);
      break;
    case mjKEY_F7:
      frame->option.label = (frame->option.label + 1) % mjNLABEL;
      updatePanel(w);
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

// what is under the mouse: select, look at, or track it
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
  int body = mjv_select(sim->m, sim->d, &frame->option, (mjtNum)view.width / view.height, x, y,
                        &frame->scene, point, &geom, &flex, &skin);
  if (w->ui.button == mjBUTTON_RIGHT) {
    if (body >= 0) {
      mju_copy3(frame->camera.lookat, point);
    }
    if (body > 0 && w->ui.control) {
      frame->perturb.select = body;
      setCamera(w, 1);
    }
    return;
  }
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
    if (sim->m->jnt_bodyid[sim->gear[g].joint] == body && g != frame->selected) {
      frame->selected = g;
      panelMake(&w->panel, w->show, frame, &w->ui);
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
      if (ui->doubleclick) {
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
        mjtMouse action = ui->right  ? (ui->shift ? mjMOUSE_MOVE_H : mjMOUSE_MOVE_V)
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

// pointer, buttons and modifiers into the state that the panels read
static void readState(Window* w) {
  mjuiState* ui = &w->ui;
  GLFWwindow* glfw = w->glfw;
  ui->left = glfwGetMouseButton(glfw, GLFW_MOUSE_BUTTON_LEFT) == GLFW_PRESS;
  ui->right = glfwGetMouseButton(glfw, GLFW_MOUSE_BUTTON_RIGHT) == GLFW_PRESS;
  ui->middle = glfwGetMouseButton(glfw, GLFW_MOUSE_BUTTON_MIDDLE) == GLFW_PRESS;
  ui->control = glfwGetKey(glfw, GLFW_KEY_LEFT_CONTROL) == GLFW_PRESS ||
                glfwGetKey(glfw, GLFW_KEY_RIGHT_CONTROL) == GLFW_PRESS;
  ui->shift = glfwGetKey(glfw, GLFW_KEY_LEFT_SHIFT) == GLFW_PRESS ||
              glfwGetKey(glfw, GLFW_KEY_RIGHT_SHIFT) == GLFW_PRESS;
  ui->alt = glfwGetKey(glfw, GLFW_KEY_LEFT_ALT) == GLFW_PRESS ||
            glfwGetKey(glfw, GLFW_KEY_RIGHT_ALT) == GLFW_PRESS;

  // Alt swaps the buttons
  if (ui->alt) {
    int left = ui->left;
    ui->left = ui->right;
    ui->right = left;
  }

  // pixels of the buffer, from the lower edge
  double x, y;
  int width, height;
  glfwGetCursorPos(glfw, &x, &y);
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
  PanelRequest request;
  int flg_taken = panelEvent(&w->panel, &request, w->show, &w->frame, &w->ui);
  obey(w, request);
  if (!flg_taken && w->ui.type == mjEVENT_KEY) {
    key(w);
  } else if (!flg_taken) {
    mouse(w);
  }
}


static void onKey(GLFWwindow* glfw, int code, int scancode, int action, int modifiers) {
  (void)scancode;
  (void)modifiers;
  Window* w = glfwGetWindowUserPointer(glfw);
  if (action == GLFW_RELEASE) {
    return;
  }
  readState(w);
  w->ui.type = mjEVENT_KEY;
  w->ui.key = code;
  w->ui.keytime = now();
  handleEvent(w);
}


static void onButton(GLFWwindow* glfw, int code, int action, int modifiers) {
  (void)modifiers;
  Window* w = glfwGetWindowUserPointer(glfw);
  mjuiState* ui = &w->ui;
  readState(w);
  int button = code == GLFW_MOUSE_BUTTON_LEFT    ? mjBUTTON_LEFT
               : code == GLFW_MOUSE_BUTTON_RIGHT ? mjBUTTON_RIGHT
                                                 : mjBUTTON_MIDDLE;
  if (ui->alt && button != mjBUTTON_MIDDLE) {
    button = button == mjBUTTON_LEFT ? mjBUTTON_RIGHT : mjBUTTON_LEFT;
  }
  if (action == GLFW_PRESS) {
    ui->doubleclick = button == ui->button && now() - ui->buttontime < 0.25;
    ui->type = mjEVENT_PRESS;
    ui->button = button;
    ui->buttontime = now();
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
  (void)x;
  (void)y;
  Window* w = glfwGetWindowUserPointer(glfw);
  if (w->ui.left || w->ui.right || w->ui.middle) {
    readState(w);
    w->ui.type = mjEVENT_MOVE;
    handleEvent(w);
  }
}


static void onScroll(GLFWwindow* glfw, double x, double y) {
  Window* w = glfwGetWindowUserPointer(glfw);
  readState(w);
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


static void onDrop(GLFWwindow* glfw, int count, const char** paths) {
  Window* w = glfwGetWindowUserPointer(glfw);
  static char file[1024];
  if (count > 0) {
    snprintf(file, sizeof(file), "%s", paths[0]);
    w->show->option.file = file;
    w->panel.scene = mjg_nscene;
    reload(w);
  }
}


// what GLFW says last, for our one line
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


// title and caption: state, time, pace
static void writeTitle(Window* w) {
  double time = now(), simulated = w->show->sim[0].d->time;
  snprintf(w->frame.note, sizeof(w->frame.note), "%.2f s", simulated);
  if (time - w->measured < 0.25) {
    return;
  }
  double pace = (simulated - w->measured_time) / (time - w->measured);
  char title[400];
  snprintf(title, sizeof(title), "mjgear: %s | %s | %.3f s | x%.2f | %.0f frames/s", w->show->title,
           w->panel.run ? "running" : "paused", simulated, fmax(0, pace),
           w->frames / (time - w->measured));
  glfwSetWindowTitle(w->glfw, title);
  w->measured = time;
  w->measured_time = simulated;
  w->frames = 0;
}


static void draw(Window* w) {
  Frame* frame = &w->frame;
  mjr_setBuffer(mjFB_WINDOW, &frame->context);
  if (w->ui.rect[3].width > 0) {
    frameDraw(frame, w->ui.rect[3], w->show);
    if (frame->flg_help) {
      mjr_overlay(mjFONT_NORMAL, mjGRID_TOPLEFT, w->ui.rect[3], help, help_meaning,
                  &frame->context);
    }
    const char* warning = showWarning(w->show);
    const char* message = now() < w->message_end ? w->message : warning;
    if (message) {
      mjr_overlay(mjFONT_NORMAL, mjGRID_BOTTOM, w->ui.rect[3], message, NULL, &frame->context);
    }
  }
  panelLive(&w->panel, w->show, frame, &w->ui);
  panelDraw(&w->panel, frame, &w->ui);
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


// wait until a frame is due where the display does not make us wait
static void waitFrame(const Window* w, double begin) {
  double left = begin + 1 / w->refresh - now();
  if (left > 1e-4) {
    struct timespec t = {.tv_nsec = (long)(left * 1e9)};
    nanosleep(&t, NULL);
  }
}


static void loop(Window* w) {
  double begin = now(), measure = w->show->option.measure;
  double simulated = w->show->sim[0].d->time, memory_begin = 0;
  long frames = 0;
  while (!glfwWindowShouldClose(w->glfw)) {
    double frame_begin = now();
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
    waitFrame(w, frame_begin);

    // the first second is for caches to fill
    frames++;
    if (measure > 0 && memory_begin == 0 && now() - begin > 1) {
      memory_begin = memory();
      begin = now();
      simulated = w->show->sim[0].d->time;
      frames = 0;
    }
    if (measure > 0 && memory_begin > 0 && now() - begin >= measure) {
      double seconds = now() - begin;
      printf("%s: %.1f s, %.1f frames/s, simulated/real time %.3f, memory %.1f MiB then %.1f MiB\n",
             w->show->title, seconds, (double)frames / seconds,
             (w->show->sim[0].d->time - simulated) / seconds, memory_begin, memory());
      break;
    }
  }
}


int window(Show* show, char* error, size_t error_size) {
  glfwSetErrorCallback(onError);
  if (!glfwInit()) {
    snprintf(error, error_size,
             "no display: %s; --record, --picture and --csv need none, --help tells more",
             glfw_error);
    return exitDISPLAY;
  }
  Window* w = calloc(1, sizeof(Window));
  w->glfw = w ? createWindow(&show->option, show->title) : NULL;
  if (!w || !w->glfw) {
    snprintf(error, error_size, "no OpenGL window: %s", w ? glfw_error : "out of memory");
    free(w);
    glfwTerminate();
    return exitDISPLAY;
  }

  // the monitor's pace; a virtual one may not tell
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : NULL;
  w->refresh = mode && mode->refreshRate >= 30 && mode->refreshRate <= 240 ? mode->refreshRate : 60;
  glfwSwapInterval(1);

  // what is shown at first
  w->show = show;
  w->panel.run = !show->option.flg_paused;
  w->panel.speed = show->option.speed;
  w->panel.vsync = 1;
  w->panel.show_left = w->panel.show_right = !show->option.flg_hide_ui;
  int width, height;
  glfwGetFramebufferSize(w->glfw, &width, &height);
  w->ui.rect[0] = (mjrRect){0, 0, width, height};
  w->ui.nrect = 1;
  frameInit(&w->frame, show->sim, show->nsim, mjFONTSCALE_100, rendererName());
  w->frame.flg_plots = show->option.flg_plots;
  frameEffects(&w->frame, show->option.flg_effects);
  snprintf(w->frame.caption, sizeof(w->frame.caption), "%s", show->title);
  panelMake(&w->panel, show, &w->frame, &w->ui);

  glfwSetWindowUserPointer(w->glfw, w);
  glfwSetKeyCallback(w->glfw, onKey);
  glfwSetMouseButtonCallback(w->glfw, onButton);
  glfwSetCursorPosCallback(w->glfw, onMove);
  glfwSetScrollCallback(w->glfw, onScroll);
  glfwSetFramebufferSizeCallback(w->glfw, onSize);
  glfwSetDropCallback(w->glfw, onDrop);
  startPace(w);
  loop(w);

  frameFree(&w->frame);
  glfwDestroyWindow(w->glfw);
  glfwTerminate();
  free(w);
  return 0;
}
