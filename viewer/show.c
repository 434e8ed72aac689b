#include "show.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "play.h"
#include "progress.h"

//---------------------------------- files ---------------------------------------------------------

// a file as a scene without script
static void useFile(Show* show, const char* file) {
  snprintf(show->path, sizeof(show->path), "%s%s", file[0] == '/' || file[0] == '.' ? "" : "./", file);
  const char* slash = strrchr(file, '/');
  snprintf(show->name, sizeof(show->name), "%s", slash ? slash + 1 : file);
  snprintf(show->title, sizeof(show->title), "%s", show->name);
  show->file = (mjgScene){.name = show->name, .xml = show->path, .duration = 10};
  show->scene = &show->file;
}

// a name of a scene, with or without a case, else a file
static int findScene(Show* show, const char* file, char* error, size_t error_size) {
  char name[128];
  file = file ? file : "rod";
  size_t length = strcspn(file, "/");
  snprintf(name, sizeof(name), "%.*s", (int)length, file);
  const mjgScene* scene = mjg_findScene(name);
  size_t whole = strlen(file);
  if (!scene && access(file, F_OK) && (whole < 4 || strcmp(file + whole - 4, ".xml"))) {
    snprintf(error, error_size, "%s is neither a file nor one of our scenes; --list shows them", file);
    return exitMODEL;
  }
  if (!scene) {
    useFile(show, file);
    return 0;
  }
  if (file[length] == '/') {
    show->variant = mjg_findCase(scene, file + length + 1);
    if (!show->variant) {
      snprintf(error, error_size, "scene %s has no case %s; --list shows all", name, file + length + 1);
      return exitUSAGE;
    }
  } else if (scene->nvariant > 0) {
    show->variant = scene->variant;
  }
  show->scene = scene;
  snprintf(show->title, sizeof(show->title), "%s%s%s", scene->name, show->variant ? " " : "",
           show->variant ? show->variant->name : "");
  return 0;
}

//---------------------------------- stepping ------------------------------------------------------

int showFirstKey(const Show* show, const mjModel* m) {
  return show->key >= 0 && show->key < m->nkey ? show->key : mjg_startKey(m);
}

static void resetSim(const Show* show, Sim* sim) {
  int start = showFirstKey(show, sim->m);
  if (start >= 0) {
    mj_resetDataKeyframe(sim->m, sim->d, start);
  } else {
    mj_resetData(sim->m, sim->d);
  }
  simMakeIdeal(sim);
  if (show->scene->input) {
    show->scene->input(sim->m, sim->d, sim->variant);
  }
  mj_forward(sim->m, sim->d);
}

static void stepSim(const Show* show, Sim* sim, const mjvPerturb* perturb) {
  if (show->scene->input) {
    show->scene->input(sim->m, sim->d, sim->variant);
  }
  if (perturb && perturb->active) {
    mjv_applyPerturbPose(sim->m, sim->d, perturb, 0);
    mjv_applyPerturbForce(sim->m, sim->d, perturb);
  }
  double before = sim->d->time;
  mj_step(sim->m, sim->d);
  if (sim->d->time < before) {
    simMakeIdeal(sim);  // the engine has reset it
  }
  if (perturb && perturb->select > 0) {
    mju_zero(sim->d->xfrc_applied + 6 * perturb->select, 6);
  }
}

void showReset(Show* show) {
  for (int s = 0; s < show->nsim; s++) {
    resetSim(show, show->sim + s);
  }
}

void showForward(Show* show) {
  for (int s = 0; s < show->nsim; s++) {
    mj_forward(show->sim[s].m, show->sim[s].d);
  }
}

// columns of the table of each geared joint
static const struct {
  const char *name, *format;
  int value;
} kColumn[] = {
    {"q", ",%.17g", simPOSITION},     {"v", ",%.17g", simVELOCITY},         {"friction", ",%.9g", simFRICTION},
    {"lambda", ",%.9g", simINTERNAL}, {"torque_in", ",%.9g", simTORQUE_IN}, {"torque_out", ",%.9g", simTORQUE_OUT},
    {"mode", ",%.9g", simMODE},       {"power_loss", ",%.9g", simLOSS},     {"gap", ",%.9g", simGAP}};

// the head of the table, or the row of a step: the state at its end and the forces that acted
static void writeRow(const Show* show, int flg_head) {
  static const char* const suffix[] = {"", "_native", "_none"};
  FILE* file = show->csv->file;
  fprintf(file, flg_head ? "time" : "%.9g", show->sim[0].d->time);
  for (int s = 0; s < show->nsim; s++) {
    const Sim* sim = show->sim + s;
    int flg_case = show->option.beside && s;
    for (int g = 0; g < sim->ngear; g++) {
      double value[simROOM];
      simValues(value, sim, g);
      for (size_t c = 0; c < sizeof(kColumn) / sizeof(*kColumn); c++) {
        if (flg_head) {
          fprintf(file, ",%s_%s%s%s", kColumn[c].name, sim->gear[g].name, flg_case ? "_" : "",
                  flg_case ? sim->variant->name : suffix[sim->friction]);
        } else {
          fprintf(file, kColumn[c].format, value[kColumn[c].value]);
        }
      }
    }
  }
  fputc('\n', file);
}

void showStep(Show* show, const mjvPerturb* perturb) {
  // copy controls set by hand to all simulations
  for (int s = 1; s < show->nsim; s++) {
    if (show->sim[s].m->nu == show->sim[0].m->nu) {
      mju_copy(show->sim[s].d->ctrl, show->sim[0].d->ctrl, (int)show->sim[0].m->nu);
    }
  }
  for (int s = 0; s < show->nsim; s++) {
    stepSim(show, show->sim + s, perturb);
  }
  if (show->csv) {
    writeRow(show, 0);
  }
}

int showDiverged(const Show* show) {
  int number = 0;
  for (int s = 0; s < show->nsim; s++) {
    number += mjg_diverged(show->sim[s].d);
  }
  return number > 0;
}

const char* showWarning(const Show* show) {
  for (int s = 0; s < show->nsim; s++) {
    for (int i = 0; i < mjNWARNING; i++) {
      if (show->sim[s].d->warning[i].number > 0) {
        return mju_warningText(i, (size_t)show->sim[s].d->warning[i].lastinfo);
      }
    }
  }
  return NULL;
}

//---------------------------------- open ----------------------------------------------------------

// the keyframe that the options name; 0, or an exit code
static int chooseKey(Show* show, const mjModel* m, char* error, size_t error_size) {
  const char* key = show->option.key;
  show->key = key ? mj_name2id(m, mjOBJ_KEY, key) : show->key;
  if (!key || show->key >= 0) {
    return 0;
  }
  snprintf(error, error_size, "--key %s: %s has no %s", key, show->title, m->nkey ? "such keyframe;" : "keyframes");
  for (int i = 0; i < m->nkey; i++) {
    size_t n = strlen(error);
    const char* name = mj_id2name(m, mjOBJ_KEY, i);
    snprintf(error + n, error_size - n, " %s", name ? name : "(unnamed)");
  }
  return exitUSAGE;
}

// load one more simulation; 0, or an exit code
static int addSim(Show* show, const mjgCase* variant, SimFriction friction, const double* frictionloss, char* error,
                  size_t error_size) {
  Sim* sim = show->sim + show->nsim;
  if (simLoad(sim, show->scene, variant, show->option.settings.setting, show->option.settings.n, friction, frictionloss,
              error, (int)error_size)) {
    return exitMODEL;
  }
  show->nsim++;
  int code = chooseKey(show, sim->m, error, error_size);
  if (!code) {
    resetSim(show, sim);
  }
  return code;
}

static void freeSims(Show* show) {
  while (show->nsim > 0) {
    simFree(show->sim + --show->nsim);
  }
}

// mean size of each joint's gear friction over the run, for an equal constant friction
static void meanFriction(double* mean, const Show* show, Sim* sim) {
  double duration = fmin(show->duration, 5);
  int n = 0;
  for (; sim->d->time < duration && !showDiverged(show); n++) {
    stepSim(show, sim, NULL);
    for (int g = 0; g < sim->ngear; g++) {
      double value[simROOM];
      simValues(value, sim, g);
      mean[g] += fabs(value[simFRICTION]);
    }
    mjg_showProgress(sim->d->time / duration, "mean friction");
  }
  mjg_clearProgress();
  for (int g = 0; g < sim->ngear && n > 0; g++) {
    mean[g] /= n;
  }
  resetSim(show, sim);
}

// the compared cases beside the first: all as far as they fit, or names with commas between
static int addCases(Show* show, char* error, size_t error_size) {
  const mjgScene* scene = show->scene;
  const char* names = show->option.beside;
  int code = 0, flg_all = !strcmp(names, "all");
  for (int i = 0; flg_all && i < scene->nvariant && show->nsim < nVIEW && !code; i++) {
    if (scene->variant + i != show->variant) {
      code = addSim(show, scene->variant + i, simGEAR, NULL, error, error_size);
    }
  }
  while (!flg_all && *names && !code) {
    char name[128];
    size_t length = strcspn(names, ",");
    snprintf(name, sizeof(name), "%.*s", (int)length, names);
    names += length + (names[length] == ',');
    const mjgCase* variant = scene->nvariant ? mjg_findCase(scene, name) : NULL;
    if (!variant) {
      snprintf(error, error_size, "scene %s has no case %s; --list shows all", scene->name, name);
      code = exitUSAGE;
    } else if (show->nsim == nVIEW) {
      snprintf(error, error_size, "--beside: %s is one case too many; %d fit", name, nVIEW - 1);
      code = exitUSAGE;
    } else {
      code = addSim(show, variant, simGEAR, NULL, error, error_size);
    }
  }
  return code;
}

// the same model with another friction
static int addAgainst(Show* show, char* error, size_t error_size) {
  const Sim* sim = show->sim;
  if (sim->ngear == 0) {
    snprintf(error, error_size, "%s has no geared joint to compare; give the model an instance of mjgear.transmission",
             show->title);
    return exitMODEL;
  }
  double* loss = calloc((size_t)sim->ngear, sizeof(double));
  for (int g = 0; g < sim->ngear && show->option.frictionloss >= 0; g++) {
    loss[g] = show->option.frictionloss;
  }
  if (show->option.against == simNATIVE && show->option.frictionloss < 0) {
    meanFriction(loss, show, show->sim);
  }
  int code = addSim(show, show->variant, show->option.against, loss, error, error_size);
  free(loss);
  return code;
}

// model, and other models if there is a comparison
static int openSims(Show* show, char* error, size_t error_size) {
  show->duration = show->option.duration > 0 ? show->option.duration : show->scene->duration;
  int code = addSim(show, show->variant, simGEAR, NULL, error, error_size);
  const char* joint = show->option.joint;
  const Sim* sim = show->sim;
  if (!code && joint && (sim->ngear == 0 || strcmp(sim->gear[showJoint(show)].name, joint))) {
    snprintf(error, error_size, "--joint %s: %s has no such geared joint", joint, show->title);
    code = exitUSAGE;
  }
  if (!code && show->option.beside) {
    code = addCases(show, error, error_size);
  } else if (!code && show->option.against != simGEAR) {
    code = addAgainst(show, error, error_size);
  }
  if (code) {
    freeSims(show);
  }
  return code;
}

int showOpen(Show* show, const ShowOptions* option, char* error, size_t error_size) {
  *show = (Show){.option = *option, .key = -1};
  int code = findScene(show, option->file, error, error_size);
  if (!code) {
    code = openSims(show, error, error_size);
  }
  if (code || !option->csv) {
    return code;
  }
  show->csv = mjg_openOutput(option->csv);
  if (!show->csv) {
    snprintf(error, error_size, "cannot write %s: %s", option->csv, strerror(errno));
    showClose(show, error, error_size);
    return exitOUTPUT;
  }
  writeRow(show, 1);
  return 0;
}

int showJoint(const Show* show) {
  const Sim* sim = show->sim;
  for (int i = 0; i < sim->ngear && show->option.joint; i++) {
    if (!strcmp(sim->gear[i].name, show->option.joint)) {
      return i;
    }
  }
  return 0;
}

const char* showCaption(const Show* show, int sim) {
  static const char* const friction[] = {"gear friction", "native frictionloss", "no friction"};
  const Sim* s = show->sim + sim;
  return show->option.beside && s->variant ? s->variant->name : friction[s->friction];
}

void showHeading(char* text, size_t text_size, const Show* show) {
  const char* title = show->option.beside ? show->scene->name : show->title;
  const mjModel* m = show->sim[0].m;
  const char* name = show->key >= 0 && show->key < m->nkey ? mj_id2name(m, mjOBJ_KEY, show->key) : NULL;
  snprintf(text, text_size, "%s%s%s", title, name ? ", key " : "", name ? name : "");
}

int showChange(Show* show, const char* file, SimFriction against, const char* beside, char* error, size_t error_size) {
  Show next = {.option = show->option, .key = show->key};
  next.option.against = against;
  next.option.beside = beside;
  next.option.key = NULL;
  next.option.joint = NULL;
  snprintf(next.path, sizeof(next.path), "%s", show->path);
  snprintf(next.name, sizeof(next.name), "%s", show->name);
  int code = findScene(&next, file, error, error_size);

  // settings and keyframe belong to the file that was named with them
  if (!code && strcmp(next.scene->xml, show->scene->xml)) {
    next.option.settings.n = 0;
    next.key = -1;
  }
  if (!code) {
    code = openSims(&next, error, error_size);
  }
  if (code) {
    return code;
  }
  freeSims(show);
  next.csv = show->csv;
  *show = next;
  if (show->scene == &next.file) {
    show->scene = &show->file;
    show->file.xml = show->path;
    show->file.name = show->name;
  }
  return 0;
}

int showClose(Show* show, char* error, size_t error_size) {
  int code = 0, lost = mjg_closeOutput(show->csv, 1);
  if (lost) {
    snprintf(error, error_size, "cannot write %s: %s", show->option.csv, strerror(lost));
    code = exitOUTPUT;
  }
  freeSims(show);
  *show = (Show){0};
  return code;
}
