#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>

#include "window.h"

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
      windowRun(w, !w->panel.run);
      windowUpdate(w);
      break;
    case mjKEY_RIGHT:
      if (!w->panel.run) {
        showStep(w->show, &frame->perturb);
        plotsAdd(&frame->plots, w->show->sim);
        windowUpdate(w);
      }
      break;
    case '-':
    case '=': {
      // the steps of simulate, roughly: four to a decade
      double factor = w->ui.key == '-' ? pow(10, -0.25) : pow(10, 0.25);
      w->panel.speed = fmin(10, fmax(0.01, w->panel.speed * factor));
      windowPace(w);
      windowUpdate(w);
      break;
    }
    case ',':
    case '.':
      if (w->show->sim[0].ngear > 0) {
        int n = w->show->sim[0].ngear, step = w->ui.key == '.' ? 1 : n - 1;
        frame->selected = (frame->selected + step) % n;
        windowPanels(w);
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
      windowPanels(w);
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
  windowObey(w, request);
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

void windowInput(Window* w) {
  glfwSetWindowUserPointer(w->glfw, w);
  glfwGetCursorPos(w->glfw, &w->x, &w->y);
  glfwSetKeyCallback(w->glfw, onKey);
  glfwSetMouseButtonCallback(w->glfw, onButton);
  glfwSetCursorPosCallback(w->glfw, onMove);
  glfwSetScrollCallback(w->glfw, onScroll);
  glfwSetFramebufferSizeCallback(w->glfw, onSize);
}
