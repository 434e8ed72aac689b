// Count which method solved each group of constraints and gears, in all scenes and in random contact steps.
//
// A random model has a geared arm of one to six joints, hinges and slides, between a table, a wall
// and a ball. It has limits, dry friction, couplings of joints, either cone, any integrator and
// steps of 0.1 to 5 ms. It is thrown into a random state, moved by random torques, and thrown
// again.

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "load.h"
#include "mjgear_text.h"
#include "play.h"
#include "state/gears.h"

static const char USAGE[] =
    "usage: mjgear-fallback-counts [--groups N] [--seed N] [--no-scenes] [--cases DIR] [--plugin "
    "FILE]\n"
    "  --groups N       random groups of constraints and gears of each column (1000000)\n"
    "  --seed N         first state of the random numbers (1)\n"
    "  --no-scenes      random steps alone\n"
    "  --cases DIR      folder for unsolved random steps, model and state before it, for "
    "existence.py\n"
    "  --plugin FILE    libmjgear.so; default: MJGEAR_PLUGIN, or ../lib beside the program\n"
    "  -h, --help\n"
    "Exit status: 0 solved as far as there is a solution, 1 not, 2 wrong usage.\n";

enum {
  STEPS = 200,     // of a model
  THROW = 20,      // steps from one random state to the next
  NCOLUMN = 5,     // scenes and four kinds of gears and solvers
  RARE = 1000000,  // groups of gears that lock for one that may have no solution, in two metrics
  FAST = 10000,    // and with the integrator "implicit", which has derivatives of Coriolis forces
  XML_SIZE = 20000
};

// null: the dense problem of the core, which only another solver than Newton uses
static const char* const kRow[mjgpNMETHOD] = {"Newton", NULL, "homotopy path",
                                              "none: passive friction"};

typedef struct Column_ {
  const char* title;
  long by[mjgpNMETHOD];
  long groups, unsolved;
  long unconfirmed;  // steps that the engine's solver did not confirm
  long implicit;     // unsolved with the integrator "implicit"
  long diverged;     // models that the engine has reset
} Column;


static void stop(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fputs("mjgear-fallback-counts: ", stderr);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(2);
}


static const mjgpGears* gearsOf(const mjModel* m, const mjData* d) {
  for (int i = 0; i < m->nplugin; i++) {
    const mjpPlugin* plugin = mjp_getPluginAtSlot(m->plugin[i]);
    if (plugin && !strcmp(plugin->name, mjgpNAME)) {
      return (const mjgpGears*)d->plugin_data[i];
    }
  }
  return NULL;
}


static void add(Column* column, const mjgpCount* count) {
  for (int k = 0; k < mjgpNMETHOD; k++) {
    column->by[k] += count->by[k];
  }
  column->groups += count->coupled;
  column->unsolved += count->unsolved;
  column->unconfirmed += count->unconfirmed;
}


//---------------------------------- scenes --------------------------------------------------------

static void playScene(Column* column, const mjgScene* scene, const mjgCase* variant) {
  char error[2048] = "";
  mjModel* m = mjg_loadScene(scene, variant, NULL, 0, error, sizeof(error));
  mjData* d = m ? mjg_startScene(m) : NULL;
  mjgPlay play;
  if (!d || mjg_openPlay(&play, scene, variant, m, d, 0, error, sizeof(error))) {
    stop("%s", error);
  }
  while (d->time < scene->duration - m->opt.timestep / 2) {
    if (mjg_stepPlay(&play, error, sizeof(error))) {
      stop("%s", error);
    }
    mjg_clearRows(&play.trajectory);
  }
  const mjgpGears* g = gearsOf(m, d);
  if (g) {
    add(column, &g->count);
  }
  mjg_closePlay(&play);
  mj_deleteData(d);
  mj_deleteModel(m);
}


static void playScenes(Column* column) {
  for (int i = 0; i < mjg_nscene; i++) {
    const mjgScene* scene = mjg_scenes[i];
    for (int k = 0; k < (scene->nvariant ? scene->nvariant : 1); k++) {
      playScene(column, scene, scene->nvariant ? &scene->variant[k] : NULL);
    }
  }
}


//---------------------------------- random steps ---------------------------------------------------

static uint64_t state;

static double between(double low, double high) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * (double)(state >> 11) / 9007199254740992.0;
}


static int chance(double probability) {
  return between(0, 1) < probability;
}


static void append(char* xml, const char* format, ...) {
  size_t used = strlen(xml);
  va_list args;
  va_start(args, format);
  vsnprintf(xml + used, XML_SIZE - used, format, args);
  va_end(args);
}


// coefficients below 1, where the solution is unique; mostly self-locking; with static friction;
// self-locking with an engine's solver that does not reach the minimum
static void describeGears(char* xml, int n, int kind) {
  append(xml, "<config key='gamma_u' value='");
  for (int i = 0; i < n; i++) {
    append(xml, "%.3f ", between(0, 0.4));
  }
  append(xml, "'/><config key='gamma_v' value='");
  for (int i = 0; i < n; i++) {
    append(xml, "%.3f ", kind == 0 ? between(0, 0.99) : between(0.5, 1.6));
  }
  append(xml, "'/>");
  if (kind == 2) {
    append(xml, "<config key='coulomb' value='%.3f'/><config key='static_ratio' value='%.3f'/>",
           between(0, 0.5), between(1, 1.5));
  }
}


// Make a random model; its text is left in xml.
static mjModel* randomModel(char* xml, int kind) {
  static const char* const integrator[] = {"Euler", "implicit", "implicitfast"};
  static const char* const joint[] = {"type='hinge' axis='0 1 0'", "type='hinge' axis='.1 1 0'",
                                      "type='hinge' axis='0 1 .3'", "type='slide' axis='0 0 1'"};
  static const int condim[] = {1, 3, 4, 6};
  int n = (int)between(1, 7);
  xml[0] = 0;
  append(xml, "<mujoco><option timestep='%g' cone='%s' integrator='%s' impratio='%g'",
         1e-4 * pow(50, between(0, 1)), chance(0.5) ? "elliptic" : "pyramidal",
         integrator[(int)between(0, 3)], chance(0.3) ? 10.0 : 1.0);
  append(xml, "%s/>", kind == 3 ? " solver='PGS'" : "");
  append(xml,
         "<extension><plugin plugin='" mjgpNAME "'><instance name='g'><config key='joint' value='");
  for (int i = 0; i < n; i++) {
    append(xml, "j%d ", i);
  }
  append(xml, "'/>");
  describeGears(xml, n, kind);
  append(
      xml,
      "</instance></plugin></extension><worldbody><geom type='plane' size='3 3 1' friction='%.2f'/>"
      "<geom type='plane' size='3 3 1' pos='%.3f 0 0' zaxis='-1 0 0' friction='%.2f'/>"
      "<body name='ball' pos='.5 0 .6'><freejoint/><geom type='sphere' size='.06' mass='%.3f' "
      "condim='%d'/></body>",
      between(0.1, 1.2), 0.25 * n + 0.1, between(0.1, 1.2), pow(10, between(-1, 1)),
      condim[(int)between(0, 4)]);
  for (int i = 0; i < n; i++) {
    append(xml,
           "<body pos='%s'><joint name='j%d' %s armature='%.4g' damping='%.3g' frictionloss='%.3g' "
           "%s/>"
           "<geom type='capsule' size='.03' fromto='0 0 0 .25 0 0' mass='%.3f' condim='%d' "
           "solref='%.4g %.3g'/>",
           i ? ".25 0 0" : "0 0 .3", i, joint[(int)between(0, 4)], pow(10, between(-2.5, 0.7)),
           chance(0.5) ? between(0, 1) : 0.0, chance(0.2) ? between(0, 0.5) : 0.0,
           chance(0.4) ? "limited='true' range='-40 40'" : "", pow(10, between(-1, 0.5)),
           condim[(int)between(0, 4)], 0.002 * pow(10, between(0, 1)), between(0.3, 1.2));
  }
  for (int i = 0; i < n; i++) {
    append(xml, "</body>");
  }
  append(xml, "</worldbody>");
  if (n > 2 && chance(0.2)) {
    append(xml, "<equality><joint joint1='j1' joint2='j2' polycoef='0 %.2f 0 0 0'/></equality>",
           between(-2, 2));
  }
  append(xml, "<actuator>");
  for (int i = 0; i < n; i++) {
    append(xml, "<motor joint='j%d'/>", i);
  }
  append(xml, "</actuator></mujoco>");
  char error[2000] = "";
  mjSpec* spec = mj_parseXMLString(xml, NULL, error, sizeof(error));
  mjModel* m = spec ? mj_compile(spec, NULL) : NULL;
  if (!m) {
    stop("%s\n%s", spec ? mjs_getError(spec) : error, xml);
  }
  mj_deleteSpec(spec);
  return m;
}


static void throwInto(const mjModel* m, mjData* d) {
  for (int j = 0; j < m->njnt; j++) {
    if (m->jnt_type[j] == mjJNT_FREE) {
      mju_copy(d->qpos + m->jnt_qposadr[j], m->qpos0 + m->jnt_qposadr[j], 7);
      d->qpos[m->jnt_qposadr[j]] = between(0.1, 1);
      d->qpos[m->jnt_qposadr[j] + 2] = between(0.06, 0.5);
    } else {
      int slide = m->jnt_type[j] == mjJNT_SLIDE;
      d->qpos[m->jnt_qposadr[j]] = slide ? between(-0.3, 0.1) : between(-0.5, 0.8);
    }
  }
  for (int i = 0; i < m->nv; i++) {
    d->qvel[i] = chance(0.3) ? 0 : between(-1, 1) * pow(10, between(-2, 0.5));
  }
}


// keep an unsolved step: NUMBER.xml, and the state before it in NUMBER.txt
static void saveCase(const char* folder, const char* xml, const mjtNum* x, int size) {
  static int number;
  char path[1000];
  snprintf(path, sizeof(path), "%s/%d.xml", folder, number);
  FILE* model = fopen(path, "w");
  snprintf(path, sizeof(path), "%s/%d.txt", folder, number++);
  FILE* file = fopen(path, "w");
  if (!model || !file) {
    stop("cannot write %s", path);
  }
  fputs(xml, model);
  for (int i = 0; i < size; i++) {
    fprintf(file, "%.17g\n", x[i]);
  }
  fclose(model);
  fclose(file);
}


// steps of random models until this many groups were solved; folder (nullable): for unsolved groups
static void stepRandom(Column* column, int kind, long groups, const char* folder) {
  static char xml[XML_SIZE];
  while (column->groups < groups) {
    mjModel* m = randomModel(xml, kind);
    mjData* d = mj_makeData(m);
    int size = (int)mj_stateSize(m, mjSTATE_INTEGRATION), unsolved = 0;
    mjtNum* x = malloc(sizeof(mjtNum) * (size_t)size);
    if (!x) {
      stop("no memory");
    }
    mjgpCount count = gearsOf(m, d)->count;
    int flg_reset = 0;
    for (int k = 0; k < STEPS && !flg_reset; k++) {
      if (k % THROW == 0) {
        throwInto(m, d);
        for (int i = 0; i < m->nu; i++) {
          d->ctrl[i] = chance(0.3) ? 0 : between(-1, 1) * pow(10, between(-1, 2.5));
        }
      }
      if (folder) {
        mj_getState(m, d, x, mjSTATE_INTEGRATION);
      }
      mj_step(m, d);
      if (folder && gearsOf(m, d)->count.unsolved > unsolved) {
        unsolved = gearsOf(m, d)->count.unsolved;
        saveCase(folder, xml, x, size);
      }

      // the engine resets what diverges, and the counts with it
      flg_reset = d->warning[mjWARN_BADQACC].number || d->warning[mjWARN_BADQVEL].number ||
                  d->warning[mjWARN_BADQPOS].number;
      if (!flg_reset) {
        count = gearsOf(m, d)->count;
      }
    }
    add(column, &count);
    column->implicit += m->opt.integrator == mjINT_IMPLICIT ? count.unsolved : 0;
    column->diverged += flg_reset;
    free(x);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


//---------------------------------- table ----------------------------------------------------------

static void print(const Column* column, int n) {
  printf("| solved by |");
  for (int c = 0; c < n; c++) {
    printf(" %s |", column[c].title);
  }
  printf("\n|:--|");
  for (int c = 0; c < n; c++) {
    printf("--:|");
  }
  for (int k = 0; k < mjgpNMETHOD; k++) {
    if (kRow[k]) {
      printf("\n| %s |", kRow[k]);
    }
    for (int c = 0; c < n && kRow[k]; c++) {
      printf(" %ld |", column[c].by[k]);
    }
  }
  printf("\n| groups |");
  for (int c = 0; c < n; c++) {
    printf(" %ld |", column[c].groups);
  }
  printf("\n| unsolved problems |");
  for (int c = 0; c < n; c++) {
    printf(" %ld |", column[c].unsolved);
  }
  printf("\n| steps that the engine did not confirm |");
  for (int c = 0; c < n; c++) {
    printf(" %ld |", column[c].unconfirmed);
  }
  printf("\n| models that diverged |");
  for (int c = 0; c < n; c++) {
    printf(" %ld |", column[c].diverged);
  }
  printf("\n");
}


// silence the messages of counted events
static void onWarning(const char* text) {
  (void)text;
}


// options
enum {
  OPTION_CASES = 1,
  OPTION_GROUPS,
  OPTION_HELP,
  OPTION_NO_SCENES,
  OPTION_PLUGIN,
  OPTION_SEED
};
static const struct option kOptions[] = {{"cases", required_argument, NULL, OPTION_CASES},
                                         {"groups", required_argument, NULL, OPTION_GROUPS},
                                         {"help", no_argument, NULL, OPTION_HELP},
                                         {"no-scenes", no_argument, NULL, OPTION_NO_SCENES},
                                         {"plugin", required_argument, NULL, OPTION_PLUGIN},
                                         {"seed", required_argument, NULL, OPTION_SEED},
                                         {0}};


// value of an option that is a whole number
static double readCount(const char* option) {
  const char* end;
  double number = mjg_readNumber(optarg, &end);
  if (end == optarg || *end || !(number >= 0 && number <= 9e15) || number != floor(number)) {
    fprintf(stderr, "mjgear-fallback-counts: %s %s: not a whole number\n", option, optarg);
    exit(2);
  }
  return number;
}


int main(int argc, char** argv) {
  Column column[NCOLUMN] = {{.title = "all scenes"},
                            {.title = "gamma below 1"},
                            {.title = "gears that lock"},
                            {.title = "with static friction"},
                            {.title = "gears that lock, PGS"}};
  const char *plugin = NULL, *folder = NULL;
  long groups = 1000000;
  int scenes = 1;
  state = 1;
  char error[512] = "";
  int option;
  while ((option = mjg_nextOption(error, sizeof(error), argc, argv, kOptions)) != -1) {
    switch (option) {
      case mjgWRONG_OPTION:
        fprintf(stderr, "mjgear-fallback-counts: %s\n", error);
        return 2;
      case OPTION_CASES:
        folder = optarg;
        break;
      case OPTION_GROUPS:
        groups = (long)readCount("--groups");
        break;
      case OPTION_HELP:
        fputs(USAGE, stdout);
        return 0;
      case OPTION_NO_SCENES:
        scenes = 0;
        break;
      case OPTION_PLUGIN:
        plugin = optarg;
        break;
      default:
        state = (unsigned long long)readCount("--seed");
    }
  }
  if (optind < argc) {
    fprintf(stderr, "mjgear-fallback-counts: '%s' is no option; --help lists all\n", argv[optind]);
    return 2;
  }
  if (mjg_loadPlugin(plugin, error, sizeof(error))) {
    stop("%s", error);
  }
  mju_user_warning = onWarning;
  if (scenes) {
    playScenes(column);
  }
  for (int kind = 0; kind + 1 < NCOLUMN; kind++) {
    stepRandom(column + 1 + kind, kind, groups, folder);
  }
  print(column + !scenes, NCOLUMN - !scenes);

  // Scenes and backdrivable gears have a solution in each step, except for one in a million with
  // "implicit", where existence.py proves that none exists. Self-locking gears may have no solution
  // if integrator and constraints use different metrics. PGS may stop at a motion for which friction
  // cannot be solved
  int failed = 0;
  for (int c = 0; c < NCOLUMN - 1; c++) {
    long random = c > 0 ? column[c].groups : 0, locking = c > 1 ? random : 0;
    failed |= column[c].implicit > (locking ? locking / FAST : random / RARE);
    failed |= column[c].unsolved - column[c].implicit > locking / RARE;
  }
  return failed;
}
