// What a step costs: without friction, with the engine's frictionloss, with geared joints, and with
// geared joints and lagged constraint forces.
//
//   step_cost [--csv]
//
// Each model runs 500 steps with gears. From the state that it reaches every variant takes 10 steps to
// warm up and saves its state; then 40 steps from there are timed again and again, the variants in turn,
// and the least time counts. Ratios are those of one run on one machine.

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gears.h"

#define WARMUP 500
#define SETTLE 10
#define STEPS  40
#define ROUNDS 60

enum {
  PLAIN = 0,     // no friction
  NATIVE = 1,    // frictionloss of the engine
  IMPLICIT = 2,  // gears and constraints in one step
  LAGGED = 3,    // gears with the constraint forces of the last step
  NVARIANT = 4
};
static const char* const variant_names[] = {"no plugin", "frictionloss", "mjgear", "mjgear lagged"};


//---------------------------------- models --------------------------------------------------------

// append to a text that is large enough
static void append(char* text, size_t size, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char* text, size_t size, const char* format, ...) {
  size_t n = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + n, size - n, format, args);
  va_end(args);
}


// arms of seven joints, on a table or in the air
static char* armText(int count, int contact) {
  size_t size = 20000 + 4000 * (size_t)count;
  char* text = calloc(size, 1);
  if (!text) {
    return NULL;
  }
  append(text, size,
         "<mujoco><option timestep='0.002' integrator='implicitfast'/><extension>"
         "<plugin plugin='mjgear.transmission'><instance name='gears'><config key='joint' value='");
  for (int i = 0; i < 7 * count; i++) {
    append(text, size, "j%d ", i);
  }
  append(text, size,
         "'/><config key='gamma_u' value='0.1'/><config key='gamma_v' value='%s'/>"
         "</instance></plugin></extension><worldbody>",
         contact ? "1.1" : "0.4");
  if (contact) {
    append(text, size, "<geom type='plane' size='99 99 1'/>");
  }
  for (int k = 0, joint = 0; k < count; k++) {
    append(text, size, "<body pos='%d %d %g'>", 2 * (k % 8), 2 * (k / 8), contact ? 0.42 : 2);
    for (int i = 0; i < 7; i++, joint++) {
      append(text, size,
             "%s<joint name='j%d' axis='%s' armature='0.3' damping='0.5'/>"
             "<geom type='capsule' size='0.04' fromto='0 0 0 0.15 0 %g' contype='%d' "
             "conaffinity='0'/>",
             i ? "<body pos='0.15 0 -0.05'>" : "", joint, i % 2 ? "0 1 0" : "1 0 0.3", -0.05,
             contact && i > 4);
    }
    append(text, size, "</body></body></body></body></body></body></body>");
  }
  append(text, size, "</worldbody><actuator>");
  for (int i = 0; i < 7 * count; i++) {
    append(text, size, "<motor joint='j%d'/>", i);
  }
  append(text, size, "</actuator></mujoco>");
  return text;
}


// remove everything from one mark to the end of another
static void cut(char* text, const char* from, const char* to) {
  char *begin = strstr(text, from), *end = begin ? strstr(begin, to) : NULL;
  if (end) {
    end += strlen(to);
    memmove(begin, end, strlen(end) + 1);
  }
}


// text of a scene without what is there to look at
static char* sceneText(const char* name) {
  char path[1000];
  snprintf(path, sizeof(path), MJGEAR_SOURCE_DIR "/scenes/%s/%s.xml", name, name);
  FILE* file = fopen(path, "r");
  char* text = calloc(100000, 1);
  if (file && text) {
    size_t n = fread(text, 1, 99999, file);
    text[n] = 0;
  }
  if (file) {
    fclose(file);
  }
  if (text) {
    cut(text, "<include", "/>");
    cut(text, "<sensor>", "</sensor>");
  }
  return text;
}


static mjModel* compile(const char* text, int variant) {
  // change the text: no plugin, or another coupling
  size_t size = strlen(text) + 2000;
  char *copy = malloc(size), error[1000] = "";
  if (!copy) {
    return NULL;
  }
  snprintf(copy, size, "%s", text);
  if (variant == PLAIN || variant == NATIVE) {
    cut(copy, "<extension>", "</extension>");
  }
  if (variant == LAGGED) {
    const char* key = "<config key='coupling' value='lagged'/>";
    char* end = strstr(copy, "</instance>");
    if (end) {
      memmove(end + strlen(key), end, strlen(end) + 1);
      memcpy(end, key, strlen(key));
    }
  }
  mjSpec* spec = mj_parseXMLString(copy, NULL, error, sizeof(error));
  mjModel* m = spec ? mj_compile(spec, NULL) : NULL;
  if (!m) {
    fprintf(stderr, "step_cost: %s\n", spec ? mjs_getError(spec) : error);
  }
  if (spec) {
    mj_deleteSpec(spec);
  }
  free(copy);
  return m;
}


static mjgpGears* gearsOf(const mjModel* m, const mjData* d) {
  return m->nplugin ? (mjgpGears*)d->plugin_data[0] : NULL;
}


//---------------------------------- measuring -----------------------------------------------------

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}


static void control(const mjModel* m, mjData* d) {
  for (int i = 0; i < m->nu; i++) {
    d->ctrl[i] = 5 * sin(3 * d->time + i);
  }
}


typedef struct Result_ {
  double time[NVARIANT];  // seconds a step
  double passes;          // linearizations a coupled step
  int nv, nefc;
} Result;


static int measure(Result* result, const char* text) {
  mjModel* m[NVARIANT];
  mjData* d[NVARIANT];
  mjtNum* state[NVARIANT];
  for (int k = 0; k < NVARIANT; k++) {
    m[k] = compile(text, k);
    d[k] = m[k] ? mj_makeData(m[k]) : NULL;
    if (!d[k]) {
      return -1;
    }
    state[k] = malloc(sizeof(mjtNum) * (size_t)mj_stateSize(m[k], mjSTATE_INTEGRATION));
  }

  // the engine's friction on the same joints, of about the size that the gears have
  const mjgpGears* g = gearsOf(m[IMPLICIT], d[IMPLICIT]);
  for (int i = 0; i < g->n; i++) {
    m[NATIVE]->dof_frictionloss[g->joint[i].dof] = 2;
  }

  // a state that all start from
  for (int i = 0; i < WARMUP; i++) {
    control(m[IMPLICIT], d[IMPLICIT]);
    mj_step(m[IMPLICIT], d[IMPLICIT]);
  }
  int physics = mjSTATE_TIME | mjSTATE_QPOS | mjSTATE_QVEL | mjSTATE_MOCAP_POS | mjSTATE_MOCAP_QUAT;
  mj_getState(m[IMPLICIT], d[IMPLICIT], state[IMPLICIT], physics);
  for (int k = 0; k < NVARIANT; k++) {
    mj_setState(m[k], d[k], state[IMPLICIT], physics);
  }
  for (int k = 0; k < NVARIANT; k++) {
    for (int i = 0; i < SETTLE; i++) {
      control(m[k], d[k]);
      mj_step(m[k], d[k]);
    }
    mj_getState(m[k], d[k], state[k], mjSTATE_INTEGRATION);
    result->time[k] = INFINITY;
  }
  result->nv = (int)m[0]->nv;
  result->nefc = d[IMPLICIT]->nefc;

  // replay, the variants in turn
  mjgpCount before = g->count;
  for (int round = 0; round < ROUNDS; round++) {
    for (int k = 0; k < NVARIANT; k++) {
      mj_setState(m[k], d[k], state[k], mjSTATE_INTEGRATION);
      double start = now();
      for (int i = 0; i < STEPS; i++) {
        control(m[k], d[k]);
        mj_step(m[k], d[k]);
      }
      result->time[k] = fmin(result->time[k], (now() - start) / STEPS);
    }
  }
  int coupled = g->count.coupled - before.coupled;
  result->passes = coupled ? (double)(g->count.passes - before.passes) / coupled : 0;
  for (int k = 0; k < NVARIANT; k++) {
    free(state[k]);
    mj_deleteData(d[k]);
    mj_deleteModel(m[k]);
  }
  return 0;
}


int main(int argc, char** argv) {
  int csv = argc > 1 && !strcmp(argv[1], "--csv");
  if (argc > 2 || (argc == 2 && !csv)) {
    fprintf(stderr, "usage: step_cost [--csv]\n");
    return 2;
  }
  mj_loadPluginLibrary(MJGEAR_PLUGIN_PATH);

  const struct {
    const char* name;
    const char* scene;
    int arms, contact;
  } model[] = {
      {"arm, free", NULL, 1, 0},
      {"arm, in contact", NULL, 1, 1},
      {"humanoid", "humanoid", 0, 0},
      {"gripper", "gripper", 0, 0},
      {"4 arms, in contact", NULL, 4, 1},
      {"16 arms, free", NULL, 16, 0},
      {"16 arms, in contact", NULL, 16, 1},
      {"64 arms, free", NULL, 64, 0},
      {"64 arms, in contact", NULL, 64, 1},
  };
  if (csv) {
    printf("model,nv,nefc,plain_us,frictionloss_us,mjgear_us,lagged_us,passes\n");
  } else {
    printf("%-20s %4s %5s", "us a step", "dofs", "rows");
    for (int k = 0; k < NVARIANT; k++) {
      printf(" %13s", variant_names[k]);
    }
    printf("  mjgear/no plugin  extra/extra of frictionloss  passes\n");
  }
  for (size_t i = 0; i < sizeof(model) / sizeof(model[0]); i++) {
    char* text =
        model[i].scene ? sceneText(model[i].scene) : armText(model[i].arms, model[i].contact);
    Result r;
    if (!text || measure(&r, text)) {
      free(text);
      return 1;
    }
    free(text);
    const double* t = r.time;
    if (csv) {
      printf("\"%s\",%d,%d,%.3f,%.3f,%.3f,%.3f,%.3f\n", model[i].name, r.nv, r.nefc, 1e6 * t[PLAIN],
             1e6 * t[NATIVE], 1e6 * t[IMPLICIT], 1e6 * t[LAGGED], r.passes);
    } else {
      printf("%-20s %4d %5d", model[i].name, r.nv, r.nefc);
      for (int k = 0; k < NVARIANT; k++) {
        printf(" %13.2f", 1e6 * t[k]);
      }
      printf("  %16.2f  %27.2f  %6.2f\n", t[IMPLICIT] / t[PLAIN],
             (t[IMPLICIT] - t[PLAIN]) / (t[NATIVE] - t[PLAIN]), r.passes);
    }
    fflush(stdout);
  }
  return 0;
}
