#include "panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune.h"

// sections
enum {
  sectSCENE,
  sectSIMULATION,
  sectSHOW,
  sectRENDERING,
  sectGROUP
};
enum {
  sectGEAR,
  sectJOINT,
  sectCONTROL
};

// action of an item
enum {
  itemPLAIN = 0,
  itemQUIT,
  itemSCREENSHOT,
  itemSCENE,
  itemVARIANT,
  itemAGAINST,
  itemRELOAD,
  itemRESET,
  itemKEY,
  itemALIGN,
  itemFULLSCREEN,
  itemVSYNC,
  itemCAMERA,
  itemSELECT,
  itemPOSITION,
  itemCLEAR,
  itemCONTROL,
  itemPARAMETER = 100  // + SimParameter
};

// states of items that depend: see enabled
enum {
  enablePAUSED = 2,
  enablePARAMETER = 100  // + key: where the gear has it
};

//---------------------------------- items ---------------------------------------------------------

// 1 if an item is usable
static int enabled(int category, void* data) {
  const Panel* panel = data;
  return category == enablePAUSED ? !panel->run : panel->known[category - enablePARAMETER];
}


// append one item to the last section; other is copied where it fits
static void addItem(mjUI* ui, int type, const char* name, int state, void* data, const char* other,
                    int user) {
  mjuiDef def[2] = {{.type = type, .state = state, .pdata = data}, {.type = mjITEM_END}};
  snprintf(def[0].name, sizeof(def[0].name), "%s", name);
  snprintf(def[0].other, sizeof(def[0].other), "%s", other);
  mjui_add(ui, def);
  if (type != mjITEM_SECTION) {
    mjuiSection* section = ui->sect + ui->nsect - 1;
    section->item[section->nitem - 1].userid = user;
  }
}


// append a line to a list of alternatives: 1, or 0 if it is full; names without content get a number
static int addChoice(char list[mjMAXUITEXT], int* n, const char* name, const char* kind, int id) {
  char line[mjMAXUINAME];
  snprintf(line, sizeof(line), "%s%.*s", *n ? "\n" : "", mjMAXUINAME - 8, name ? name : kind);
  size_t used = strlen(list);
  if (!name) {
    size_t length = strlen(line);
    snprintf(line + length, sizeof(line) - length, " %d", id);
  }
  if (*n == mjMAXUIMULTI || used + strlen(line) + 1 >= mjMAXUITEXT) {
    return 0;
  }
  strcpy(list + used, line);
  (*n)++;
  return 1;
}


//---------------------------------- left ----------------------------------------------------------

// The user's file, and our scenes from the shown one on, or from the first: a list of the engine has no room for all
static void listScenes(char list[mjMAXUITEXT], Panel* panel, const Show* show) {
  int n = 0;
  list[0] = 0;
  if (show->name[0]) {
    addChoice(list, &n, show->name, "file", 0);
    panel->choice_scene[0] = mjg_nscene;
  }
  int first = panel->scene < mjg_nscene ? panel->scene : 0;
  panel->choice = panel->scene < mjg_nscene ? n : 0;
  for (int k = 0; k < mjg_nscene; k++) {
    int i = (first + k) % mjg_nscene;
    if (!addChoice(list, &n, mjg_scenes[i]->name, "scene", i)) {
      break;
    }
    panel->choice_scene[n - 1] = i;
  }
}


static void makeScene(Panel* panel, Show* show) {
  mjUI* ui = &panel->left;
  addItem(ui, mjITEM_SECTION, "Scene", mjSECT_OPEN, NULL, "AF", 0);
  char list[mjMAXUITEXT];
  int n;
  panel->scene = mjg_nscene;
  for (int i = 0; i < mjg_nscene; i++) {
    panel->scene = mjg_scenes[i] == show->scene ? i : panel->scene;
  }
  listScenes(list, panel, show);
  addItem(ui, mjITEM_SELECT, "Scene", 1, &panel->choice, list, itemSCENE);

  // its cases
  if (show->scene->nvariant > 0) {
    list[0] = 0;
    n = 0;
    for (int i = 0; i < show->scene->nvariant; i++) {
      addChoice(list, &n, show->scene->variant[i].name, "case", i);
      panel->variant = show->variant == show->scene->variant + i ? i : panel->variant;
    }
    addItem(ui, mjITEM_SELECT, "Case", 1, &panel->variant, list, itemVARIANT);
  }
  if (show->sim[0].ngear > 0) {
    panel->against = show->option.beside ? panelCASES : (int)show->option.against;
    addItem(ui, mjITEM_SELECT, "Beside", 1, &panel->against,
            show->scene->nvariant > 1 ? "nothing\nfrictionloss\nno friction\nother cases"
                                      : "nothing\nfrictionloss\nno friction",
            itemAGAINST);
  }
  addItem(ui, mjITEM_BUTTON, "Reload", 1, NULL, "CL", itemRELOAD);
  addItem(ui, mjITEM_BUTTON, "Screenshot", 1, NULL, "CP", itemSCREENSHOT);
  addItem(ui, mjITEM_BUTTON, "Quit", 1, NULL, "CQ", itemQUIT);
}


static void makeSimulation(Panel* panel, const Show* show) {
  mjUI* ui = &panel->left;
  addItem(ui, mjITEM_SECTION, "Simulation", mjSECT_OPEN, NULL, "AS", 0);
  addItem(ui, mjITEM_RADIO, "", 1, &panel->run, "Pause\nRun", 0);
  addItem(ui, mjITEM_BUTTON, "Reset", 1, NULL, " #259", itemRESET);
  addItem(ui, mjITEM_BUTTON, "Align", 1, NULL, "CA", itemALIGN);
  addItem(ui, mjITEM_SLIDERNUM, "Speed", 1, &panel->speed, "0.05 2", 0);

  // keyframes for the start
  const mjModel* m = show->sim[0].m;
  char list[mjMAXUITEXT] = "";
  int n = 0;
  panel->key = showFirstKey(show, m);
  for (int i = 0; i < m->nkey; i++) {
    const char* name = mj_id2name(m, mjOBJ_KEY, i);
    addChoice(list, &n, name && name[0] ? name : NULL, "key", i);
  }
  if (n > 0) {
    addItem(ui, mjITEM_SELECT, "Key", 1, &panel->key, list, itemKEY);
  }
}


static void makeShow(Panel* panel, Frame* frame) {
  mjUI* ui = &panel->left;
  addItem(ui, mjITEM_SECTION, "Show", mjSECT_OPEN, NULL, "AO", 0);
  addItem(ui, mjITEM_CHECKINT, "Help", 1, &frame->flg_help, " #290", 0);
  addItem(ui, mjITEM_CHECKINT, "Values", 1, &frame->flg_values, " #291", 0);
  addItem(ui, mjITEM_CHECKINT, "Plots", 1, &frame->flg_plots, " #292", 0);
  addItem(ui, mjITEM_CHECKINT, "Colours", 1, &frame->flg_legend, " #293", 0);
  addItem(ui, mjITEM_CHECKINT, "Fullscreen", 1, &panel->fullscreen, " #294", itemFULLSCREEN);
  addItem(ui, mjITEM_CHECKINT, "Vertical sync", 1, &panel->vsync, "", itemVSYNC);
  addItem(ui, mjITEM_SEPARATOR, "Plots", 1, NULL, "", 0);
  static const char* const names[nPLOT] = {"Position",       "Velocity",   "Friction",
                                           "Internal force", "Torque out", "Gap"};
  for (int i = 0; i < nPLOT; i++) {
    addItem(ui, mjITEM_CHECKINT, names[i], 1, frame->plots.shown + i, "", 0);
  }
  addItem(ui, mjITEM_SLIDERNUM, "Seconds", 1, &frame->plots.window, "0.5 30", 0);
}


static void makeRendering(Panel* panel, const mjModel* m, Frame* frame) {
  mjUI* ui = &panel->left;
  addItem(ui, mjITEM_SECTION, "Rendering", mjSECT_CLOSED, NULL, "AR", 0);

  // cameras and labels
  char list[mjMAXUITEXT] = "";
  int n = 0;
  addChoice(list, &n, "Free", "", 0);
  addChoice(list, &n, "Tracking", "", 0);
  for (int i = 0; i < m->ncam; i++) {
    addChoice(list, &n, mj_id2name(m, mjOBJ_CAMERA, i), "Camera", i);
  }
  addItem(ui, mjITEM_SELECT, "Camera", 1, &panel->camera, list, itemCAMERA);
  list[0] = 0;
  n = 0;
  for (int i = 0; i < mjNLABEL; i++) {
    addChoice(list, &n, mjLABELSTRING[i], "Label", i);
  }
  addItem(ui, mjITEM_SELECT, "Label", 1, &frame->option.label, list, 0);
  list[0] = 0;
  n = 0;
  for (int i = 0; i < mjNFRAME; i++) {
    addChoice(list, &n, mjFRAMESTRING[i], "Frame", i);
  }
  addItem(ui, mjITEM_SELECT, "Frame", 1, &frame->option.frame, list, 0);

  // flags with the shortcuts that the engine gives them
  char shortcut[8];
  addItem(ui, mjITEM_SEPARATOR, "Model elements", 1, NULL, "", 0);
  for (int i = 0; i < mjNVISFLAG; i++) {
    snprintf(shortcut, sizeof(shortcut), "%s%s", mjVISSTRING[i][2][0] ? " " : "",
             mjVISSTRING[i][2]);
    addItem(ui, mjITEM_CHECKBYTE, mjVISSTRING[i][0], 1, frame->option.flags + i, shortcut, 0);
  }
  addItem(ui, mjITEM_SEPARATOR, "OpenGL effects", 1, NULL, "", 0);
  for (int i = 0; i < mjNRNDFLAG; i++) {
    snprintf(shortcut, sizeof(shortcut), "%s%s", mjRNDSTRING[i][2][0] ? " " : "",
             mjRNDSTRING[i][2]);
    addItem(ui, mjITEM_CHECKBYTE, mjRNDSTRING[i][0], 1, frame->scene.flags + i, shortcut, 0);
  }
}


static void makeGroups(Panel* panel, Frame* frame) {
  mjUI* ui = &panel->left;
  mjvOption* option = &frame->option;
  struct {
    const char* name;
    mjtByte* group;
    const char* modifier;  // null: no shortcuts
  } kinds[] = {{"Geom", option->geomgroup, " "},
               {"Site", option->sitegroup, "S"},
               {"Joint", option->jointgroup, NULL},
               {"Tendon", option->tendongroup, NULL},
               {"Actuator", option->actuatorgroup, NULL}};
  addItem(ui, mjITEM_SECTION, "Group enable", mjSECT_CLOSED, NULL, "AG", 0);
  for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
    char name[32], shortcut[8] = "";
    snprintf(name, sizeof(name), "%s groups", kinds[k].name);
    addItem(ui, mjITEM_SEPARATOR, name, 1, NULL, "", 0);
    for (int i = 0; i < mjNGROUP; i++) {
      snprintf(name, sizeof(name), "%s %d", kinds[k].name, i);
      if (kinds[k].modifier) {
        snprintf(shortcut, sizeof(shortcut), "%s%d", kinds[k].modifier, i % 10);
      } else {
        shortcut[0] = 0;
      }
      addItem(ui, mjITEM_CHECKBYTE, name, 1, kinds[k].group + i, shortcut, 0);
    }
  }
}


//---------------------------------- right ---------------------------------------------------------

static void makeGear(Panel* panel, const Show* show) {
  const Sim* sim = show->sim;
  mjUI* ui = &panel->right;
  addItem(ui, mjITEM_SECTION, "Geared joint", mjSECT_OPEN, NULL, "AT", 0);
  if (sim->ngear == 0) {
    addItem(ui, mjITEM_STATIC, "none", 1, NULL, " ", 0);
    return;
  }
  char list[mjMAXUITEXT] = "";
  int n = 0;
  for (int i = 0; i < sim->ngear; i++) {
    addChoice(list, &n, sim->gear[i].name, "joint", i);
  }
  addItem(ui, mjITEM_SELECT, "Joint", 1, &panel->selected, list, itemSELECT);
  for (int i = 0; i < frameNVALUE; i++) {
    addItem(ui, mjITEM_STATIC, frameValueName[i], 1, NULL, " ", 0);
  }

  // parameters that may be changed while it runs
  addItem(ui, mjITEM_SEPARATOR, "Parameters", 1, NULL, "", 0);
  for (int key = 0; key < tuneNKey && key < panelNKEY; key++) {
    double value;
    if (tuneValue(&value, show, panel->selected, key)) {
      char range[64];
      snprintf(range, sizeof(range), "%g %g", fmin(tuneKeys[key].low, value),
               fmax(tuneKeys[key].high, value));
      addItem(ui, mjITEM_SLIDERNUM, tuneKeys[key].name, enablePARAMETER + key,
              panel->parameter + key, range, itemPARAMETER + key);
    }
  }
  list[0] = 0;
  n = 0;
  for (int i = 0; i < tuneNSolver; i++) {
    addChoice(list, &n, tuneSolvers[i], "solver", i);
  }
  addItem(ui, mjITEM_SELECT, "solver", 1, &panel->solver, list, itemPARAMETER + panelSOLVER);
}


static void makeJoints(Panel* panel, const mjModel* m) {
  mjUI* ui = &panel->right;
  addItem(ui, mjITEM_SECTION, "Joint", mjSECT_CLOSED, NULL, "AJ", 0);
  for (int i = 0, n = 0; i < m->njnt && n < mjMAXUIITEM; i++) {
    if (m->jnt_type[i] != mjJNT_HINGE && m->jnt_type[i] != mjJNT_SLIDE) {
      continue;
    }
    char name[mjMAXUINAME], range[64] = "-3.1416 3.1416";
    const char* own = mj_id2name(m, mjOBJ_JOINT, i);
    snprintf(name, sizeof(name), own ? "%s" : "joint %.0s%d", own ? own : "", i);
    if (m->jnt_limited[i]) {
      snprintf(range, sizeof(range), "%.4g %.4g", m->jnt_range[2 * i], m->jnt_range[2 * i + 1]);
    } else if (m->jnt_type[i] == mjJNT_SLIDE) {
      strcpy(range, "-1 1");
    }
    addItem(ui, mjITEM_SLIDERNUM, name, enablePAUSED, panel->qpos + m->jnt_qposadr[i], range,
            itemPOSITION);
    n++;
  }
}


static void makeControls(Panel* panel, const mjModel* m) {
  mjUI* ui = &panel->right;
  addItem(ui, mjITEM_SECTION, "Control", mjSECT_OPEN, NULL, "AC", 0);
  addItem(ui, mjITEM_BUTTON, "Clear all", 1, NULL, "", itemCLEAR);
  for (int i = 0, k = 0; i < m->nu && i < mjMAXUIITEM - 1; i++) {
    char name[mjMAXUINAME], range[64] = "-1 1";
    while (i >= m->actuator_ctrladr[k] + m->actuator_ctrlnum[k]) {  // an actuator may have several
      k++;
    }
    const char* own = mj_id2name(m, mjOBJ_ACTUATOR, k);
    snprintf(name, sizeof(name), own ? "%s" : "control %.0s%d", own ? own : "", i);
    if (m->actuator_ctrlrange[2 * i] < m->actuator_ctrlrange[2 * i + 1]) {
      snprintf(range, sizeof(range), "%.4g %.4g", m->actuator_ctrlrange[2 * i],
               m->actuator_ctrlrange[2 * i + 1]);
    }
    addItem(ui, mjITEM_SLIDERNUM, name, 1, panel->ctrl + i, range, itemCONTROL);
  }
}


//---------------------------------- building ------------------------------------------------------

// size of the panel and its picture
static void modify(mjUI* ui, Frame* frame, mjuiState* state) {
  mjui_resize(ui, &frame->context);
  mjr_addAux(ui->auxid, ui->width, ui->maxheight, ui->spacing.samples, &frame->context);
  mjui_update(-1, -1, ui, state, &frame->context);
}


// values of the selected joint's parameters
static void readParameters(Panel* panel, const Show* show) {
  for (int key = 0; key < tuneNKey && panel->selected < show->sim[0].ngear; key++) {
    double value;
    panel->known[key] = tuneValue(&value, show, panel->selected, key);
    panel->parameter[key] = value;
  }
  panel->solver = tuneSolver(show);
}


static void copyState(Panel* panel, const Sim* sim) {
  mju_copy(panel->qpos, sim->d->qpos, (int)sim->m->nq);
  mju_copy(panel->ctrl, sim->d->ctrl, (int)sim->m->nu);
}


void panelFree(Panel* panel) {
  free(panel->qpos);
  free(panel->ctrl);
  panel->qpos = panel->ctrl = NULL;
}


void panelMake(Panel* panel, Show* show, Frame* frame, mjuiState* state) {
  Sim* sim = show->sim;
  mjUI* ui[] = {&panel->left, &panel->right};
  for (int i = 0; i < 2; i++) {
    memset(ui[i], 0, sizeof(mjUI));
    ui[i]->spacing = mjui_themeSpacing(0);
    ui[i]->color = mjui_themeColor(0);
    ui[i]->spacing.samples = frame->flg_software ? 0 : ui[i]->spacing.samples;
    ui[i]->predicate = enabled;
    ui[i]->userdata = panel;
    ui[i]->rectid = i + 1;
    ui[i]->auxid = i;
  }
  panel->camera = frame->camera.type == mjCAMERA_FIXED ? 2 + frame->camera.fixedcamid : 0;
  panel->selected = frame->selected;
  panel->variant = 0;
  panelFree(panel);
  panel->qpos = calloc((size_t)sim->m->nq + 1, sizeof(mjtNum));
  panel->ctrl = calloc((size_t)sim->m->nu + 1, sizeof(mjtNum));
  copyState(panel, sim);
  readParameters(panel, show);
  makeScene(panel, show);
  makeSimulation(panel, show);
  makeShow(panel, frame);
  makeRendering(panel, sim->m, frame);
  makeGroups(panel, frame);
  makeGear(panel, show);
  makeJoints(panel, sim->m);
  makeControls(panel, sim->m);
  panelLayout(panel, frame, state);
}


void panelLayout(Panel* panel, Frame* frame, mjuiState* state) {
  modify(&panel->left, frame, state);
  modify(&panel->right, frame, state);

  // 0 window, 1 and 2 panels, 3 the scene between them
  mjrRect* rect = state->rect;
  state->nrect = 4;
  int left = panel->show_left ? panel->left.width : 0;
  int right = panel->show_right ? panel->right.width : 0;
  int middle = rect[0].width - left - right;
  rect[1] = (mjrRect){0, 0, left, rect[0].height};
  rect[2] = (mjrRect){rect[0].width - right, 0, right, rect[0].height};
  rect[3] = (mjrRect){left, 0, middle > 0 ? middle : 0, rect[0].height};
  mjui_update(-1, -1, &panel->left, state, &frame->context);
  mjui_update(-1, -1, &panel->right, state, &frame->context);
}


//---------------------------------- using ---------------------------------------------------------

static PanelRequest handle(Panel* panel, const mjuiItem* item, Show* show, Frame* frame,
                           mjuiState* state) {
  switch (item->userid) {
    case itemQUIT:
      return panelQUIT;
    case itemSCREENSHOT:
      return panelSCREENSHOT;
    case itemSCENE:
      panel->scene = panel->choice_scene[panel->choice];
      panel->variant = 0;
      return panelRELOAD;
    case itemVARIANT:
    case itemAGAINST:
    case itemRELOAD:
      return panelRELOAD;
    case itemRESET:
      return panelRESET;
    case itemKEY:
      return panelKEY;
    case itemALIGN:
      return panelALIGN;
    case itemFULLSCREEN:
      return panelFULLSCREEN;
    case itemVSYNC:
      return panelVSYNC;
    case itemCAMERA:
      return panelCAMERA;
    case itemSELECT:
      frame->selected = panel->selected;
      return panelSELECT;
    case itemPOSITION:
      mju_copy(show->sim[0].d->qpos, panel->qpos, (int)show->sim[0].m->nq);
      return panelFORWARD;
    case itemCONTROL:
      mju_copy(show->sim[0].d->ctrl, panel->ctrl, (int)show->sim[0].m->nu);
      return panelNOTHING;
    case itemCLEAR:
      mju_zero(show->sim[0].d->ctrl, (int)show->sim[0].m->nu);
      mju_zero(panel->ctrl, (int)show->sim[0].m->nu);
      mjui_update(sectCONTROL, -1, &panel->right, state, &frame->context);
      return panelNOTHING;
    default:
      if (item->userid >= itemPARAMETER) {
        panel->changed = item->userid - itemPARAMETER;
        return panelPARAMETER;
      }
      return panelNOTHING;
  }
}


int panelEvent(Panel* panel, PanelRequest* request, Show* show, Frame* frame, mjuiState* state) {
  *request = panelNOTHING;
  mjUI* ui[] = {&panel->left, &panel->right};
  for (int i = 0; i < 2; i++) {
    int flg_mine = state->dragrect == ui[i]->rectid ||
                   (state->dragrect == 0 && state->mouserect == ui[i]->rectid) ||
                   state->type == mjEVENT_KEY;
    if (!flg_mine) {
      continue;
    }
    mjuiItem* item = mjui_event(ui[i], state, &frame->context);
    if (item) {
      *request = handle(panel, item, show, frame, state);
    }
    if (item || (state->type == mjEVENT_KEY && state->key == 0)) {
      return 1;
    }
  }
  if (state->type == mjEVENT_KEY) {
    return 0;
  }
  return state->mouserect == 1 || state->mouserect == 2 || state->dragrect == 1 ||
         state->dragrect == 2;
}


void panelUpdate(Panel* panel, const Show* show, Frame* frame, mjuiState* state) {
  readParameters(panel, show);
  copyState(panel, show->sim);
  mjui_update(-1, -1, &panel->left, state, &frame->context);
  mjui_update(-1, -1, &panel->right, state, &frame->context);
}


void panelLive(Panel* panel, const Show* show, Frame* frame, mjuiState* state, double now) {
  const Sim* sim = show->sim;
  copyState(panel, sim);
  if (!panel->show_right || now - panel->written < 0.07) {
    return;
  }
  panel->written = now;

  // one line a value; the first item is the choice of the joint
  mjuiSection* section = panel->right.sect + sectGEAR;
  if (sim->ngear > 0 && section->state == mjSECT_OPEN) {
    for (int i = 0; i < frameNVALUE; i++) {
      frameValue(section->item[i + 1].multi.name[0], mjMAXUINAME, sim, panel->selected, i);
    }
    mjui_update(sectGEAR, -1, &panel->right, state, &frame->context);
  }
  if (panel->right.sect[sectJOINT].state == mjSECT_OPEN) {
    mjui_update(sectJOINT, -1, &panel->right, state, &frame->context);
  }
  if (panel->right.sect[sectCONTROL].state == mjSECT_OPEN) {
    mjui_update(sectCONTROL, -1, &panel->right, state, &frame->context);
  }
}


void panelDraw(Panel* panel, const Frame* frame, mjuiState* state) {
  if (panel->show_left) {
    mjui_render(&panel->left, state, &frame->context);
  }
  if (panel->show_right) {
    mjui_render(&panel->right, state, &frame->context);
  }
}
