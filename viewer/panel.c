#include "panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mjgear.h"

enum {
  enablePARAMETER = 2  // + key: state of an item that is usable where the gear has the key
};

//---------------------------------- items ---------------------------------------------------------

// 1 if an item is usable
static int enabled(int category, void* data) { return ((const Panel*)data)->known[category - enablePARAMETER]; }

// begin a section
static void section(mjUI* ui, const char* name, int state, const char* shortcut) {
  mjuiDef def[2] = {{.type = mjITEM_SECTION, .state = state}, {.type = mjITEM_END}};
  snprintf(def[0].name, sizeof(def[0].name), "%s", name);
  snprintf(def[0].other, sizeof(def[0].other), "%s", shortcut);
  mjui_add(ui, def);
}

// append an item to the last section
static mjuiItem* item(mjUI* ui, int type, const char* name, void* data, const char* other, int request) {
  mjuiDef def[2] = {{.type = type, .state = 1, .pdata = data}, {.type = mjITEM_END}};
  snprintf(def[0].name, sizeof(def[0].name), "%s", name);
  snprintf(def[0].other, sizeof(def[0].other), "%s", other);
  mjui_add(ui, def);
  mjuiSection* last = ui->sect + ui->nsect - 1;
  mjuiItem* added = last->item + last->nitem - 1;
  added->userid = request;
  return added;
}

// alternatives, one a line
typedef struct List_ {
  char text[mjMAXUITEXT];
  int n;
} List;

// append an alternative: 1, or 0 if the list is full; what has no name is its kind and number
static int append(List* list, const char* name, const char* kind, int id) {
  char line[mjMAXUINAME];
  int flg_named = name && name[0];
  snprintf(line, sizeof(line), flg_named ? "%s%.*s" : "%s%.*s %d", list->n ? "\n" : "", mjMAXUINAME - 8,
           flg_named ? name : kind, id);
  size_t used = strlen(list->text);
  if (list->n == mjMAXUIMULTI || used + strlen(line) + 1 >= mjMAXUITEXT) {
    return 0;
  }
  strcpy(list->text + used, line);
  list->n++;
  return 1;
}

//---------------------------------- left ----------------------------------------------------------

// The user's file, and our scenes from the shown one on, or from the first: a list of the engine has no room for all
static void makeScenes(Panel* panel, const Show* show) {
  List list = {0};
  panel->scene = mjg_nscene;
  for (int i = 0; i < mjg_nscene; i++) {
    panel->scene = mjg_scenes[i] == show->scene ? i : panel->scene;
  }
  if (show->name[0]) {
    append(&list, show->name, "file", 0);
    panel->choice_scene[0] = mjg_nscene;
  }
  int flg_ours = panel->scene < mjg_nscene;
  panel->choice = flg_ours ? list.n : 0;
  for (int k = 0; k < mjg_nscene; k++) {
    int i = ((flg_ours ? panel->scene : 0) + k) % mjg_nscene;
    if (!append(&list, mjg_scenes[i]->name, "scene", i)) {
      break;
    }
    panel->choice_scene[list.n - 1] = i;
  }
  item(&panel->left, mjITEM_SELECT, "Scene", &panel->choice, list.text, panelSCENE);
}

static void makeScene(Panel* panel, const Show* show) {
  mjUI* ui = &panel->left;
  section(ui, "Scene", mjSECT_OPEN, "AF");
  makeScenes(panel, show);
  List list = {0};
  panel->variant = 0;
  for (int i = 0; i < show->scene->nvariant; i++) {
    append(&list, show->scene->variant[i].name, "case", i);
    panel->variant = show->variant == show->scene->variant + i ? i : panel->variant;
  }
  if (list.n > 0) {
    item(ui, mjITEM_SELECT, "Case", &panel->variant, list.text, panelRELOAD);
  }
  if (show->sim[0].ngear > 0) {
    static const char* const besides[] = {"nothing", "frictionloss", "no friction", "other cases"};
    panel->against = show->option.beside ? panelCASES : (int)show->option.against;
    list = (List){0};
    for (int i = 0; i < (show->scene->nvariant > 1 ? 4 : 3); i++) {
      append(&list, besides[i], "", i);
    }
    item(ui, mjITEM_SELECT, "Beside", &panel->against, list.text, panelRELOAD);
  }
  item(ui, mjITEM_BUTTON, "Reload", NULL, "CL", panelRELOAD);
  item(ui, mjITEM_BUTTON, "Screenshot", NULL, "CP", panelSCREENSHOT);
  item(ui, mjITEM_BUTTON, "Quit", NULL, "CQ", panelQUIT);
}

static void makeSimulation(Panel* panel, const Show* show) {
  mjUI* ui = &panel->left;
  section(ui, "Simulation", mjSECT_OPEN, "AS");
  item(ui, mjITEM_RADIO, "", &panel->run, "Pause\nRun", 0);
  item(ui, mjITEM_BUTTON, "Reset", NULL, " #259", panelRESET);
  item(ui, mjITEM_BUTTON, "Align", NULL, "CA", panelALIGN);
  item(ui, mjITEM_SLIDERNUM, "Speed", &panel->speed, "0.05 2", 0);

  // keyframes for the start
  const mjModel* m = show->sim[0].m;
  List list = {0};
  panel->key = showFirstKey(show, m);
  for (int i = 0; i < m->nkey; i++) {
    append(&list, mj_id2name(m, mjOBJ_KEY, i), "key", i);
  }
  if (list.n > 0) {
    item(ui, mjITEM_SELECT, "Key", &panel->key, list.text, panelKEY);
  }
}

static void makeShow(Panel* panel, Frame* frame) {
  mjUI* ui = &panel->left;
  section(ui, "Show", mjSECT_OPEN, "AO");
  item(ui, mjITEM_CHECKINT, "Plots", &frame->flg_plots, " #292", 0);
  item(ui, mjITEM_CHECKINT, "Colours", &frame->flg_legend, " #293", 0);
  item(ui, mjITEM_SEPARATOR, "Plots", NULL, "", 0);
  for (int i = 0; i < plotsNVALUE; i++) {
    int value = plotsValue[i];
    item(ui, mjITEM_CHECKINT, simName[value], frame->plots.shown + value, "", 0);
  }
  item(ui, mjITEM_SLIDERNUM, "Seconds", &frame->plots.window, "0.5 30", 0);
}

//---------------------------------- right ---------------------------------------------------------

static void makeGear(Panel* panel, const Show* show, Frame* frame) {
  const Sim* sim = show->sim;
  mjUI* ui = &panel->right;
  section(ui, "Geared joint", mjSECT_OPEN, "AT");
  if (sim->ngear == 0) {
    item(ui, mjITEM_STATIC, "none", NULL, " ", 0);
    return;
  }
  List list = {0};
  for (int i = 0; i < sim->ngear; i++) {
    append(&list, sim->gear[i].name, "joint", i);
  }
  item(ui, mjITEM_SELECT, "Joint", &frame->selected, list.text, panelSELECT);
  for (int i = 0; i < simNVALUE; i++) {
    item(ui, mjITEM_STATIC, simName[i], NULL, " ", 0);
  }

  // parameters that may be changed while it runs
  item(ui, mjITEM_SEPARATOR, "Parameters", NULL, "", 0);
  for (int key = 0; key < tuneNKey && key < panelNKEY; key++) {
    if (panel->known[key]) {
      char range[64];
      double value = panel->parameter[key];
      snprintf(range, sizeof(range), "%g %g", fmin(tuneKeys[key].low, value), fmax(tuneKeys[key].high, value));
      item(ui, mjITEM_SLIDERNUM, tuneKeys[key].name, panel->parameter + key, range, panelPARAMETER + key)->state =
          enablePARAMETER + key;
    }
  }
  list = (List){0};
  for (int i = 0; i < mjgENUMERATION; i++) {
    append(&list, mjg_solverName(i), "", i);
  }
  item(ui, mjITEM_SELECT, "solver", &panel->solver, list.text, panelSOLVER);
}

//---------------------------------- building ------------------------------------------------------

// values of the selected joint's parameters
static void readParameters(Panel* panel, const Show* show, int selected) {
  for (int key = 0; key < tuneNKey && selected < show->sim[0].ngear; key++) {
    double value;
    panel->known[key] = tuneValue(&value, show->sim, selected, key);
    panel->parameter[key] = value;
  }
  panel->solver = tuneSolver(show->sim);
}

void panelMake(Panel* panel, Show* show, Frame* frame, mjuiState* state) {
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
  readParameters(panel, show, frame->selected);
  makeScene(panel, show);
  makeSimulation(panel, show);
  makeShow(panel, frame);
  makeGear(panel, show, frame);
  panelLayout(panel, frame, state);
}

void panelLayout(Panel* panel, Frame* frame, mjuiState* state) {
  mjUI* ui[] = {&panel->left, &panel->right};
  for (int i = 0; i < 2; i++) {
    mjui_resize(ui[i], &frame->context);
    mjr_addAux(ui[i]->auxid, ui[i]->width, ui[i]->maxheight, ui[i]->spacing.samples, &frame->context);
  }

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

int panelEvent(Panel* panel, int* request, Frame* frame, mjuiState* state) {
  *request = panelNOTHING;
  mjUI* ui[] = {&panel->left, &panel->right};
  int rect = state->dragrect ? state->dragrect : state->mouserect;
  for (int i = 0; i < 2; i++) {
    if (rect == ui[i]->rectid || state->type == mjEVENT_KEY) {
      const mjuiItem* used = mjui_event(ui[i], state, &frame->context);
      *request = used ? used->userid : panelNOTHING;
      if (used || (state->type == mjEVENT_KEY && state->key == 0)) {
        return 1;
      }
    }
  }
  return state->type != mjEVENT_KEY && (rect == 1 || rect == 2);
}

void panelUpdate(Panel* panel, const Show* show, Frame* frame, mjuiState* state) {
  readParameters(panel, show, frame->selected);
  mjui_update(-1, -1, &panel->left, state, &frame->context);
  mjui_update(-1, -1, &panel->right, state, &frame->context);
}

void panelDraw(Panel* panel, const Show* show, const Frame* frame, mjuiState* state, double now) {
  mjUI* ui = &panel->right;
  if (panel->show_right && now - panel->written > 0.07) {
    panel->written = now;

    // one line a value; the first item is the choice of the joint
    for (int i = 0; i < simNVALUE && show->sim[0].ngear > 0; i++) {
      simText(ui->sect[0].item[i + 1].multi.name[0], mjMAXUINAME, show->sim, frame->selected, i);
    }
    mjui_update(0, -1, ui, state, &frame->context);
  }
  if (panel->show_left) {
    mjui_render(&panel->left, state, &frame->context);
  }
  if (panel->show_right) {
    mjui_render(&panel->right, state, &frame->context);
  }
}
