#include "play.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"
#include "load.h"
#include "mjgear.h"

// joints with one degree of freedom, which the trajectory shows
static int isScalar(const mjModel* m, int joint) {
  return m->jnt_type[joint] == mjJNT_HINGE || m->jnt_type[joint] == mjJNT_SLIDE;
}

// name of an object or, if it has none, its kind and number
static void nameOf(char name[mjgMAXNAME], const mjModel* m, int type, int id, const char* prefix) {
  const char* given = mj_id2name(m, type, id);
  if (given) {
    snprintf(name, mjgMAXNAME, "%s%s", prefix, given);
  } else {
    snprintf(name, mjgMAXNAME, "%s%s%d", prefix, mju_type2Str(type), id);
  }
}

// numbers of a sensor of the plugin, in order
static const char* const gearQuantity[] = {
    "friction",    "lambda",         "torque_in",  "torque_out", "mode",   "power_loss", "gap",
    "rotor_angle", "rotor_velocity", "iterations", "residual",   "status", "fallbacks",  "state",
};
#define NGEARQUANTITY (int)(sizeof gearQuantity / sizeof *gearQuantity)

// append the name of the number to a sensor's name
static void appendNumber(char name[mjgMAXNAME], const mjModel* m, int sensor, int k) {
  size_t n = strlen(name);
  int dim = m->sensor_dim[sensor];
  if (m->sensor_type[sensor] == mjSENS_PLUGIN && dim == NGEARQUANTITY) {
    snprintf(name + n, mjgMAXNAME - n, "_%s", gearQuantity[k]);
  } else if (dim > 1) {
    snprintf(name + n, mjgMAXNAME - n, "_%d", k);
  }
}

// columns as trajectory.h describes them; 0: done
static int addColumns(mjgTrajectory* t, const mjModel* m, const mjgScene* scene) {
  char name[mjgMAXNAME];
  int short_of_memory = mjg_addColumn(t, "time") < 0;
  static const char* const quantity[] = {"q_", "v_", "motor_", "friction_"};
  for (int i = 0; i < m->njnt; i++) {
    for (int k = 0; k < 4 && isScalar(m, i); k++) {
      nameOf(name, m, mjOBJ_JOINT, i, quantity[k]);
      short_of_memory |= mjg_addColumn(t, name) < 0;
    }
  }
  for (int i = 0; i < m->nsensor; i++) {
    for (int k = 0; k < m->sensor_dim[i]; k++) {
      nameOf(name, m, mjOBJ_SENSOR, i, "");
      appendNumber(name, m, i, k);
      short_of_memory |= mjg_addColumn(t, name) < 0;
    }
  }
  for (const char* c = scene->column; c && *c; c += strspn(c, " ")) {
    size_t n = strcspn(c, " ");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(c, " ="), c);
    short_of_memory |= mjg_addColumn(t, name) < 0;
    c += n;
  }
  return short_of_memory || mjg_addColumn(t, "difference") < 0;
}

// a coordinate or contact force, as mjgScene has it in words; NaN if there is no such object
static double place(const mjModel* m, const mjData* d, const char* words) {
  char kind[16] = "", name[mjgMAXNAME] = "", other[mjgMAXNAME] = "", axis = 'x';
  if (!strncmp(words, "contact:", 8)) {
    sscanf(words + 8, "%63[^, ],%63[^ ]", name, other);
    return mjg_contact(m, d, name[0] ? name : NULL, other[0] ? other : NULL);
  }
  sscanf(words, "%15[^:]:%63[^. ].%c", kind, name, &axis);
  if (!strcmp(kind, "userdata") || !strcmp(kind, "spring")) {
    return (kind[0] == 'u' ? d->userdata : d->qfrc_spring)[atoi(name)];
  }
  int type = mju_str2Type(kind), id = mj_name2id(m, type, name);
  const mjtNum* x = type == mjOBJ_BODY ? d->xpos : type == mjOBJ_GEOM ? d->geom_xpos : d->site_xpos;
  return id < 0 ? NAN : x[3 * id + axis - 'x'];
}

void mjg_writeJoints(const mjModel* m, FILE* file) {
  char name[mjgMAXNAME];
  for (int i = 0; i < m->njnt; i++) {
    if (isScalar(m, i)) {
      nameOf(name, m, mjOBJ_JOINT, i, "");
      fprintf(file, "\"%s\",%s\n", name, m->jnt_type[i] == mjJNT_SLIDE ? "m" : "rad");
    }
  }
}

int mjg_openPlay(mjgPlay* play, const mjgScene* scene, const mjgCase* variant, const mjModel* m, mjData* d, int compare,
                 char* error, int error_sz) {
  *play = (mjgPlay){.scene = scene, .variant = variant, .m = m, .d = d, .trajectory.variant = variant};
  compare = compare && scene->reference;
  if (compare && m->nq != m->nv) {
    snprintf(error, (size_t)error_sz, "scene %s has %d positions and %d velocities: not comparable", scene->name,
             (int)m->nq, (int)m->nv);
    return -1;
  }
  if (compare) {
    play->own = malloc(2 * (size_t)m->nv * sizeof(double));
  }
  play->geared = malloc(((size_t)m->njnt + 1) * sizeof(int));
  mjg_findFunction(&play->readGear, "mjg_readGear");
  for (int i = 0; i < m->njnt && play->geared; i++) {
    play->geared[i] = play->readGear && mjg_hasFriction(m, d, i);
  }
  if ((compare && !play->own) || !play->geared || addColumns(&play->trajectory, m, scene)) {
    mjg_closePlay(play);
    snprintf(error, (size_t)error_sz, "not enough memory");
    return -1;
  }
  if (compare) {
    memcpy(play->own, d->qpos, (size_t)m->nv * sizeof(double));
    memcpy(play->own + m->nv, d->qvel, (size_t)m->nv * sizeof(double));
  }
  return 0;
}

int mjg_diverged(const mjData* d) {
  return d->warning[mjWARN_BADQPOS].number || d->warning[mjWARN_BADQVEL].number || d->warning[mjWARN_BADQACC].number;
}

// the larger of a bound and the size of x; NaN is larger than any bound
static double larger(double bound, double x) { return isnan(x) ? INFINITY : fmax(bound, fabs(x)); }

int mjg_stepPlay(mjgPlay* play, char* error, int error_sz) {
  const mjgScene* scene = play->scene;
  const mjModel* m = play->m;
  mjData* d = play->d;

  // state at the beginning of the step
  double time = d->time;
  double* row = mjg_addRow(&play->trajectory);
  if (!row) {
    snprintf(error, (size_t)error_sz, "not enough memory at %g s", time);
    return -1;
  }
  int column = 0;
  row[column++] = time;
  for (int i = 0; i < m->njnt; i++) {
    if (isScalar(m, i)) {
      row[column] = d->qpos[m->jnt_qposadr[i]];
      row[column + 1] = d->qvel[m->jnt_dofadr[i]];
      column += 4;
    }
  }

  if (scene->input) {
    scene->input(m, d, play->variant);
  }
  mj_step(m, d);
  if (mjg_diverged(d)) {
    snprintf(error, (size_t)error_sz, "the simulation became unstable at %g s", time);
    return -1;
  }

  // forces during the step
  column = 1;
  for (int i = 0; i < m->njnt; i++) {
    if (isScalar(m, i)) {
      row[column + 2] = d->qfrc_actuator[m->jnt_dofadr[i]];
      double value[NGEARQUANTITY] = {NAN};
      if (play->geared[i]) {
        play->readGear(value, m, d, i);
      }
      row[column + 3] = value[0];
      column += 4;
    }
  }
  for (int i = 0; i < m->nsensordata; i++) {
    row[column++] = d->sensordata[i];
  }
  int k = column;
  for (const char* c = scene->column; c && *c; c += strspn(c, " "), k++) {
    size_t n = strcspn(c, " ="), length = strcspn(c, " ");
    row[k] = c[n] == '=' ? place(m, d, c + n + 1) : 0;
    c += length;
  }
  if (scene->measure) {
    scene->measure(row + column, m, d);
  }

  // the same step without the engine
  if (play->own) {
    int n = (int)m->nv;
    int status = scene->reference(play->own, play->own + n, time, m, play->variant);
    if (status < 0) {
      snprintf(error, (size_t)error_sz, "the scene's own integration failed at %g s: %s", time,
               mjg_statusString(status));
      return -1;
    }
    double largest = 0;
    for (int i = 0; i < n; i++) {
      largest = larger(largest, d->qpos[i] - play->own[i]);
      largest = larger(largest, d->qvel[i] - play->own[n + i]);
    }
    row[play->trajectory.ncolumn - 1] = largest;
    play->difference = larger(play->difference, largest);
  }
  return 0;
}

void mjg_closePlay(mjgPlay* play) {
  mjg_freeTrajectory(&play->trajectory);
  free(play->own);
  free(play->geared);
  play->own = NULL;
  play->geared = NULL;
}
