#include "check.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <mujoco/mujoco.h>

#include "configuration/check.h"
#include "configuration/explain.h"
#include "configuration/motors.h"
#include "configuration/names.h"
#include "configuration/plugin.h"
#include "mjgear_report.h"
#include "print.h"

#define MAXUNKNOWN 32          // keys in the file that do not exist
#define MAXNAME    64          // length of a key
#define MAXERROR   1000        // what the engine says
#define MAXTEXT    20000       // all problems
#define LARGEST    (1L << 30)  // bytes of a file

// The engine compiles a model only if its plugins accept it, and then says the first problem alone.
// The tool therefore registers plugins that accept everything, unknown keys included, and then calls
// the checks of the real one.


//---------------------------------- the file ------------------------------------------------------

// return 1 if the file is one that the engine may read; it reads it twice, so a pipe is refused
static int isPlain(const char* name, mjgReport* report) {
  struct stat status;
  if (stat(name, &status)) {
    return 1;  // the engine says why it cannot be read
  }
  if (!S_ISREG(status.st_mode)) {
    mjg_refuse(report, "%s: this is no plain file; save the model in one", name);
  } else if (status.st_size > LARGEST) {
    mjg_refuse(report, "%s: the file is larger than 1 GiB, which no model is", name);
  }
  return !report->count;
}


//---------------------------------- keys that do not exist ----------------------------------------

// types of elements that may have a plugin of ours: an instance, or keys of their own
static const mjtObj kTypes[] = {mjOBJ_BODY, mjOBJ_SENSOR, mjOBJ_ACTUATOR, mjOBJ_PLUGIN};
#define NTYPE ((int)(sizeof(kTypes) / sizeof(*kTypes)))


// our plugin of an element, or null if it has none
static mjsPlugin* pluginOf(mjsElement* e, mjtObj type) {
  mjsPlugin* plugin = type == mjOBJ_PLUGIN   ? mjs_asPlugin(e)
                      : type == mjOBJ_BODY   ? &mjs_asBody(e)->plugin
                      : type == mjOBJ_SENSOR ? &mjs_asSensor(e)->plugin
                                             : &mjs_asActuator(e)->plugin;
  return strcmp(mjs_getString(plugin->plugin_name), mjgpNAME) ? NULL : plugin;
}


// call our plugin by another name in all elements that have it
static void renamePlugin(mjSpec* s, const char* name) {
  for (int i = 0; i < NTYPE; i++) {
    for (mjsElement* e = mjs_firstElement(s, kTypes[i]); e; e = mjs_nextElement(s, e)) {
      mjsPlugin* plugin = pluginOf(e, kTypes[i]);
      if (plugin) {
        mjs_setString(plugin->plugin_name, name);
      }
    }
  }
}


// register a plugin of this name that accepts the known keys and these, and return its slot
static int registerAccepting(const char* name, char unknown[MAXUNKNOWN][MAXNAME], int nunknown) {
  const char *keys[mjgpMAXKEY + MAXUNKNOWN], *more[MAXUNKNOWN];
  for (int i = 0; i < nunknown; i++) {
    more[i] = unknown[i];
  }
  mjpPlugin plugin;
  mjgp_describePlugin(&plugin, keys, more, nunknown);
  plugin.name = name;
  return mjp_registerPlugin(&plugin);
}


// The keys of our plugin in a file, by this name of the plugin, in a model of their own, which has nothing
// else that the engine could refuse first. Null if the engine cannot read the file.
static mjSpec* readKeys(const char* file, const char* name, char error[MAXERROR]) {
  mjSpec* s = mj_parseXML(file, NULL, error, MAXERROR);
  mjSpec* alone = s ? mj_makeSpec() : NULL;
  for (int i = 0; s && i < NTYPE; i++) {
    for (mjsElement* e = mjs_firstElement(s, kTypes[i]); e; e = mjs_nextElement(s, e)) {
      const mjsPlugin* plugin = pluginOf(e, kTypes[i]);
      int is_instance = kTypes[i] == mjOBJ_PLUGIN;
      if (plugin && (is_instance || (plugin->active && !mjs_getString(plugin->name)[0]))) {
        mjsPlugin* copy = mjs_addPlugin(alone);
        mjs_setName(copy->element, is_instance ? mjs_getString(mjs_getName(e)) : "");
        mjs_setString(copy->plugin_name, name);
        mjs_setPluginAttributes(copy, (void*)mjs_getPluginAttributes(plugin));  // takes them
        copy->active = 1;
      }
    }
  }
  mj_deleteSpec(s);
  return alone;
}


// tell the unknown keys of each instance; an empty value is not in a model, and its key told once
static void tellUnknown(mjgReport* report, const mjModel* m, char unknown[MAXUNKNOWN][MAXNAME],
                        char instance[MAXUNKNOWN][MAXNAME], int nunknown) {
  int told[MAXUNKNOWN] = {0};
  for (int k = 0; m && k < m->nplugin; k++) {
    const char* name = mj_id2name(m, mjOBJ_PLUGIN, k);
    for (int i = 0; i < nunknown; i++) {
      const char* value = mj_getPluginConfig(m, k, unknown[i]);
      told[i] |= value && value[0] && mjgp_checkKey(report, name ? name : "", unknown[i]);
    }
  }
  for (int i = 0; i < nunknown; i++) {
    if (!told[i]) {
      mjgp_checkKey(report, instance[i], unknown[i]);
    }
  }
}


// Register plugins that accept also the keys of a file that do not exist, and tell these. The engine
// names one such key at a time: the plugin of the next attempt accepts it too. Returns the slot of the
// last, with its name; -1 if the engine cannot read the file, with its words in error.
static int acceptUnknown(char name[MAXNAME], mjgReport* report, const char* file,
                         char error[MAXERROR]) {
  char unknown[MAXUNKNOWN][MAXNAME], instance[MAXUNKNOWN][MAXNAME] = {0};
  for (int n = 0;; n++) {
    snprintf(name, MAXNAME, n ? mjgpNAME ".%d" : mjgpNAME, n);
    int slot = registerAccepting(name, unknown, n);
    mjSpec* s = readKeys(file, name, error);
    if (!s) {
      return -1;
    }
    mjs_activatePlugin(s, name);
    mjModel* m = mj_compile(s, NULL);
    int more = !m && n < MAXUNKNOWN &&
               sscanf(mjs_getError(s),
                      "Error: unrecognized attribute 'plugin:%63[^']' for plugin " mjgpNAME
                      "%*[^\n] Element name '%63[^']",
                      unknown[n], instance[n]) >= 1;
    if (!more) {
      tellUnknown(report, m, unknown, instance, n);
    }
    mj_deleteModel(m);
    mj_deleteSpec(s);
    if (!more) {
      return slot;
    }
  }
}


// compile a file although keys of our plugin do not exist, which are told
static mjModel* compile(int* slot, mjgReport* report, const char* file, char error[MAXERROR]) {
  char name[MAXNAME];
  mjModel* m = NULL;
  *slot = acceptUnknown(name, report, file, error);
  mjSpec* s = *slot < 0 ? NULL : mj_parseXML(file, NULL, error, MAXERROR);
  if (s) {
    mjs_activatePlugin(s, name);
    renamePlugin(s, name);
    m = mj_compile(s, NULL);
    snprintf(error, MAXERROR, "%s", mjs_getError(s));
  }
  mj_deleteSpec(s);
  return m;
}


//---------------------------------- what joints will do -------------------------------------------

// the first pose: keyframe "start", else the first keyframe, else qpos0
static mjData* firstPose(const mjModel* m) {
  mjData* d = mj_makeData(m);
  int key = mj_name2id(m, mjOBJ_KEY, "start");
  if (d && m->nkey) {
    mj_resetDataKeyframe(m, d, key < 0 ? 0 : key);
  }
  if (d) {
    mj_forward(m, d);
  }
  return d;
}


// names of the actuators that are motors, or loads, of a gear: as an array of that name, or
// on a line if there are any
static void tellActuators(FILE* out, Json* json, const char* key, const mjModel* m,
                          const mjgpMotors* motors, const mjgpJoint* joint, int i) {
  char place[40];
  int count = 0, load = key[0] == 'l', id;
  snprintf(place, sizeof(place), "  %-18s ", key);
  int gravity = mjgp_objectOf(&id, joint + i) == mjOBJ_JOINT && m->jnt_actgravcomp[id] && !load;
  if (json) {
    json_open(json, key, '[');
  }
  for (int k = 0; k <= (int)m->nactuator; k++) {
    char number[40];
    const char* name = "gravity compensation";
    if (k < m->nactuator) {
      snprintf(number, sizeof(number), "actuator %d", k);
      name = mj_id2name(m, mjOBJ_ACTUATOR, k) ? mj_id2name(m, mjOBJ_ACTUATOR, k) : number;
    }
    int acts = k == m->nactuator ? gravity
               : load            ? mjgp_isLoadOf(motors, m, k, joint, i)
                                 : mjgp_isMotorOf(motors, m, k, joint, i);
    if (acts && json) {
      json_text(json, NULL, name);
    } else if (acts) {
      fprintf(out, "%s%s", count ? ", " : place, name);
    }
    count += acts;
  }
  if (json) {
    json_close(json, ']');
  } else if (count) {
    fputs("\n", out);
  }
}


static void tellJoints(FILE* out, Json* json, const mjModel* m, const mjgpJoint* joint, int n,
                       int slot) {
  mjData* d = firstPose(m);
  mjgpMotors motors;
  mjgp_makeMotors(&motors, NULL, m, joint, n, slot);
  for (int i = 0; d && i < n; i++) {
    const char* name = mjgp_gearName(m, &joint[i]);
    const char* instance = mj_id2name(m, mjOBJ_PLUGIN, joint[i].instance);

    mjgFacts facts;
    double load;
    mjgp_explain(&facts, &load, m, d, &joint[i]);
    const mjgTransmission gear = facts.gear;
    int stands = mjg_sticks(&gear, 0, load);
    int slide = mjgp_isLength(m, &joint[i]);
    const char* unit = slide ? "N" : "N m";
    const char* warning = mjgp_geometryWarning(m, &joint[i]);
    int gapped = joint[i].gap == mjgpGAP_ROTOR || joint[i].gap == mjgpGAP_LOAD;

    if (json) {
      json_open(json, NULL, '{');
      json_text(json, mjgp_gearKind(&joint[i]), name);
      json_text(json, "instance", instance ? instance : "");
      jsonFacts(json, &facts);
      tellActuators(out, json, "motors", m, &motors, joint, i);
      tellActuators(out, json, "loads", m, &motors, joint, i);
      json_number(json, "inertia", facts.inertia);
      json_number(json, "first_load", load);
      json_flag(json, "first_pose_stands", stands);
      if (warning) {
        json_text(json, "warning", warning);
      }
      if (joint[i].brake.actuator >= 0) {
        json_number(json, "holding_torque", joint[i].brake.holding);
        json_number(json, "sliding_torque", joint[i].brake.sliding);
      }
      if (gapped) {
        json_text(json, "backlash", mjg_backlashName(joint[i].backlash.model));
        json_number(json, "half_gap", joint[i].backlash.half_gap);
      }
      json_close(json, '}');
    } else {
      fprintf(out, "%s '%s' of instance '%s'\n", mjgp_gearKind(&joint[i]), name,
              instance ? instance : "");
      printFacts(out, &facts, unit);
      tellActuators(out, NULL, "motors", m, &motors, joint, i);
      tellActuators(out, NULL, "loads", m, &motors, joint, i);
      fprintf(out, "  first pose         its load is %.6g %s; with the motor off it %s\n", load,
              unit, stands ? "stands still" : "moves");
      if (joint[i].brake.actuator >= 0) {
        fprintf(
            out,
            "  brake              holds %.6g %s, slips at %.6g %s, on the %s's side, normally %s\n",
            joint[i].brake.holding, unit, joint[i].brake.sliding, unit,
            joint[i].brake.side == mjgpSIDE_MOTOR ? "motor" : "link",
            joint[i].brake.normally == mjgpNORMALLY_CLOSED ? "closed" : "open");
      }
      if (gapped) {
        fprintf(out, "  backlash           %s, half gap %.6g %s, stiffness %.6g %s, %s\n",
                mjg_backlashName(joint[i].backlash.model), joint[i].backlash.half_gap,
                unitOf("rad", slide), joint[i].backlash.stiffness, unitOf("N m/rad", slide),
                joint[i].gap == mjgpGAP_ROTOR ? "behind a rotor of its own"
                                              : "behind the joint that is its motor");
      }
      if (gear.armature == 0) {
        fputs("  note               armature is 0: the motor has no inertia of its own\n", out);
      }
      if (warning) {
        fprintf(out, "  WARNING            %s\n", warning);
      }
      fputs("\n", out);
    }
  }
  mju_free(motors.drive);
  mj_deleteData(d);
}


// write the lines of a report as an array of this name
static void jsonLines(Json* json, const char* key, char* lines) {
  json_open(json, key, '[');
  for (char* line = lines; *line;) {
    size_t length = strcspn(line, "\n");
    int last = line[length] == 0;
    line[length] = 0;
    json_text(json, NULL, line);
    line += length + !last;
  }
  json_close(json, ']');
}


int checkModelFile(FILE* out, const char* file, int flg_json) {
  static char problems[MAXTEXT], warnings[MAXTEXT];
  mjgReport report, warning;
  mjg_startReport(&report, problems, sizeof(problems));
  mjg_startReport(&warning, warnings, sizeof(warnings));

  // compile it, then all our checks
  const char* keys[mjgpMAXKEY];
  mjpPlugin brake;
  mjgp_describePlugin(&brake, keys, NULL, 0);
  mjgp_describeBrake(&brake);
  mjp_registerPlugin(&brake);
  char error[MAXERROR] = "";
  int slot = -1;
  mjModel* m = isPlain(file, &report) ? compile(&slot, &report, file, error) : NULL;
  mjgpJoint* joint = NULL;
  int n = 0;
  if (!m && error[0]) {
    error[strcspn(error, "\n")] = 0;
    mjg_refuse(&report, "%s: %s; %sthe engine reads no further", file, error, mjgp_remedyOf(error));
  } else if (m) {
    mjgSettings settings;
    joint = mjgp_check(&n, &settings, &report, m, slot);
    mjgp_warnGears(&warning, m, joint, report.count ? 0 : n, slot, 0);
    mjgp_warnLoss(&warning, m, joint, report.count ? 0 : n);
  }

  // the result
  if (flg_json) {
    Json json;
    json_start(&json, out);
    json_open(&json, NULL, '{');
    json_text(&json, "file", file);
    jsonLines(&json, "problems", problems);
    jsonLines(&json, "warnings", warnings);
    json_open(&json, "joints", '[');
    if (!report.count) {
      tellJoints(out, &json, m, joint, n, slot);
    }
    json_close(&json, ']');
    json_close(&json, '}');
  } else if (report.count) {
    fprintf(out, "%s%s: %d problem%s\n", problems, file, report.count,
            report.count == 1 ? "" : "s");
  } else if (!n) {
    fprintf(out, "%s: no joint has a gear; 'mjgear mjcf' writes the lines to add\n", file);
  } else {
    tellJoints(out, NULL, m, joint, n, slot);
    for (char* line = warnings; *line; line += strcspn(line, "\n") + 1) {
      fprintf(out, "warning: %.*s\n", (int)strcspn(line, "\n"), line);
    }
  }
  mju_free(joint);
  mj_deleteModel(m);
  return report.count;
}
