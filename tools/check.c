#include "check.h"

#include <stdio.h>
#include <stdlib.h>
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
#define MAXTEXT    20000       // all problems
#define LARGEST    (1L << 30)  // bytes of a file

// The engine compiles a model only if its plugins accept it, and then says the first problem alone.
// The tool therefore registers a plugin of the same name that accepts everything, unknown keys
// included, and then calls the checks of the real one.


//---------------------------------- keys in the file ----------------------------------------------

// value of an attribute in the tag that begins at tag, or 0
static int attribute(char value[MAXNAME], const char* tag, const char* name) {
  size_t end = strcspn(tag, ">"), length = strlen(name);
  for (const char* p = tag; (p = strstr(p, name)) && p < tag + end; p += length) {
    const char* c = p + length;
    c += strspn(c, " \t\r\n");
    if (*c != '=' || !strchr(" \t\r\n", p[-1])) {
      continue;
    }
    c++;
    c += strspn(c, " \t\r\n");
    char quote[2] = {*c, 0};
    if (*c == '"' || *c == '\'') {
      snprintf(value, MAXNAME, "%.*s", (int)strcspn(c + 1, quote), c + 1);
      return 1;
    }
  }
  return 0;
}


// blank out comments
static void removeComments(char* text) {
  for (char* p = text; (p = strstr(p, "<!--"));) {
    char* end = strstr(p, "-->");
    size_t n = end ? (size_t)(end - p) + 3 : strlen(p);
    memset(p, ' ', n);
  }
}


// keys of our plugin in the text that do not exist; each is a problem, told once
static int findUnknown(char unknown[MAXUNKNOWN][MAXNAME], mjgReport* report, const char* text) {
  int n = 0, ours = 0;
  char instance[MAXNAME] = "", value[MAXNAME];
  for (const char* p = text; (p = strchr(p, '<')); p++) {
    if (!strncmp(p, "<plugin", 7)) {
      ours = attribute(value, p, "plugin") && !strcmp(value, mjgpNAME);
      instance[0] = 0;
    } else if (!strncmp(p, "</plugin", 8)) {
      ours = 0;
    } else if (!strncmp(p, "<instance", 9) && !attribute(instance, p, "name")) {
      instance[0] = 0;
    } else if (!strncmp(p, "<config", 7) && ours && attribute(value, p, "key")) {
      int found = 0;
      if (!mjgp_checkKey(report, instance, value)) {
        continue;
      }
      for (int i = 0; i < n; i++) {
        found |= !strcmp(value, unknown[i]);
      }
      if (!found && n < MAXUNKNOWN) {
        memcpy(unknown[n++], value, MAXNAME);
      }
    }
  }
  return n;
}


// text of a plain file, to be freed; null if it cannot be read. the engine reads it again, so a pipe is refused
static char* readFile(const char* name, mjgReport* report) {
  struct stat status;
  if (!stat(name, &status) && (!S_ISREG(status.st_mode) || status.st_size > LARGEST)) {
    mjg_refuse(report, "%s: %s", name,
               S_ISREG(status.st_mode) ? "the file is larger than 1 GiB, which no model is"
                                       : "this is no plain file; save the model in one");
    return NULL;
  }
  FILE* file = fopen(name, "rb");
  char* text = NULL;
  size_t size = 0, used = 0;
  while (file && !feof(file) && !ferror(file)) {
    char* more = realloc(text, size += 65536);
    if (!more) {
      break;
    }
    text = more;
    used += fread(text + used, 1, size - used - 1, file);
    text[used] = 0;
  }
  if (!file || ferror(file)) {
    free(text);
    text = NULL;
  }
  if (file) {
    fclose(file);
  }
  return text;
}


//---------------------------------- the accepting plugin ------------------------------------------

// accept the known and the unknown keys
static void registerAccepting(char unknown[MAXUNKNOWN][MAXNAME], int nunknown) {
  const char *keys[mjgpMAXKEY + MAXUNKNOWN], *more[MAXUNKNOWN];
  for (int i = 0; i < nunknown; i++) {
    more[i] = unknown[i];
  }
  mjpPlugin plugin;
  mjgp_describePlugin(&plugin, keys, more, nunknown);
  mjp_registerPlugin(&plugin);
  mjgp_describeBrake(&plugin);
  mjp_registerPlugin(&plugin);
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

  // keys that do not exist, in the file itself
  char unknown[MAXUNKNOWN][MAXNAME];
  int nunknown = 0;
  char* text = readFile(file, &report);
  if (text) {
    removeComments(text);
    nunknown = findUnknown(unknown, &report, text);
  }
  registerAccepting(unknown, nunknown);

  // compile it, then all our checks
  char error[1000] = "";
  int readable = !report.count || text;
  mjModel* m = readable ? mj_loadXML(file, NULL, error, sizeof(error)) : NULL;
  mjgpJoint* joint = NULL;
  int n = 0, slot = -1;
  mjp_getPlugin(mjgpNAME, &slot);
  free(text);
  if (!m && readable) {
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
