// mjgear: explains gears, converts their descriptions, checks MJCF files, draws diagrams.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mujoco/mujoco.h>

#include "check.h"
#include "command_line.h"
#include "diagram.h"
#include "files.h"
#include "input.h"
#include "json.h"
#include "page.h"
#include "print.h"
#include "python.h"

// exit codes
enum {
  OK = 0,
  REFUSED = 1,  // the gear or the model has problems
  USAGE = 2
};

static const char gear_usage[] =
    "GEAR is a preset, key=value, or a preset with keys changed: harmonic_drive coulomb=2Nm.\n"
    "Numbers are SI at the output side, or have a unit: 5deg, 3arcmin, 20mm, 0.2kgcm2, 30rpm, "
    "80%.\n"
    "'mjgear keys' lists all keys, 'mjgear presets' all presets.\n"
    "  load=TORQUE       load at which torques are told (1)\n"
    "  inertia=INERTIA   inertia of the output side, for apparent inertias\n";

typedef struct Arguments_ Arguments;
static int explain(const Arguments* arguments);
static int convert(const Arguments* arguments);
static int mjcf(const Arguments* arguments);
static int draw(const Arguments* arguments);
static int check(const Arguments* arguments);
static int presets(const Arguments* arguments);
static int keys(const Arguments* arguments);

// options; each command knows some
enum {
  JSON_OPTION = 1,
  MARKDOWN_OPTION = 2,
  JOINT_OPTION = 4,
  HELP_OPTION = 8
};
static const struct option kOptions[] = {{"help", no_argument, NULL, HELP_OPTION},
                                         {"joint", required_argument, NULL, JOINT_OPTION},
                                         {"json", no_argument, NULL, JSON_OPTION},
                                         {"markdown", no_argument, NULL, MARKDOWN_OPTION},
                                         {0}};

typedef struct Command_ {
  const char* name;
  int (*run)(const Arguments* arguments);
  int options;        // that it knows
  int takes_gear;     // its words are a GEAR
  const char* usage;  // after the name
  const char* text;   // one line
  const char* more;   // for its own help, nullable
} Command;

static const Command kCommands[] = {
    {"explain", explain, JSON_OPTION, 1, "GEAR", "what a gear does", NULL},
    {"convert", convert, JSON_OPTION, 1, "TYPE GEAR", "the same gear in other words",
     "TYPE is coefficients, efficiency, starting, leadscrew, worm, spur or loss. GEAR may also be "
     "of\n"
     "type wedge, planetary, strain_wave or capstan: their numbers do not follow from the "
     "coefficients,\n"
     "so that no gear becomes one of them. What TYPE leaves open is given beside GEAR: "
     "pressure_angle\n"
     "(leadscrew, worm); pressure_angle, mu and radius_in (spur).\n"},
    {"mjcf", mjcf, JSON_OPTION | JOINT_OPTION, 1, "GEAR [--joint NAME]...", "MJCF to paste",
     "  --joint NAME      a joint that gets this gear; may be repeated ('joint')\n"},
    {"draw", draw, JSON_OPTION, 1, "FILE.svg GEAR", "drive/backdrive diagram",
     "  --json            what is in the picture, as explain --json tells it\n"},
    {"check", check, JSON_OPTION, 0, "FILE.xml",
     "all problems of a model, or what its geared joints will do", NULL},
    {"presets", presets, JSON_OPTION | MARKDOWN_OPTION, 0, "", "gears that are ready to use",
     "  --markdown        the page doc/presets.md; --markdown servos: doc/records/servos.md\n"},
    {"keys", keys, JSON_OPTION, 0, "", "what a description may say", NULL},
};

enum {
  NCOMMAND = (int)(sizeof(kCommands) / sizeof(*kCommands)),
  MAXJOINT = 100  // most joints of one call
};


// options and the words that are left
struct Arguments_ {
  const Command* command;
  int flg_json;
  int flg_markdown;
  const char* joint[MAXJOINT];
  int njoint;
  char** word;
  int nword;
};


static void printUsage(FILE* file) {
  for (int i = 0; i < NCOMMAND; i++) {
    char line[100];
    snprintf(line, sizeof(line), "%s %s", kCommands[i].name, kCommands[i].usage);
    fprintf(file, "%s mjgear %-32s %s\n", i ? "      " : "usage:", line, kCommands[i].text);
  }
  fputs(python_usage, file);
  fprintf(file,
          "       mjgear %-32s more about a command\n"
          "       mjgear %-32s the version of mjgear and of MuJoCo\n"
          "\n%s  --json            for programs\n",
          "COMMAND --help", "--version", gear_usage);
}


static void printCommandUsage(FILE* file, const Command* command) {
  fprintf(file, "usage: mjgear %s%s%s%s\n%s\n", command->name, command->usage[0] ? " " : "",
          command->usage, command->options & JSON_OPTION ? " [--json]" : "", command->text);
  if (command->more || command->takes_gear) {
    fprintf(file, "\n%s%s", command->takes_gear ? gear_usage : "",
            command->more ? command->more : "");
  }
}


// wrong usage: the mistake, and the right call; command is nullable
static int fail(const Command* command, const char* what) {
  fprintf(stderr, "mjgear: %s\n\n", what);
  if (command) {
    printCommandUsage(stderr, command);
  } else {
    printUsage(stderr);
  }
  return USAGE;
}


// problems as lines on stderr, or as JSON
static int refuseAll(const mjgReport* report, int flg_json) {
  if (!flg_json) {
    fputs(report->text, stderr);
    return REFUSED;
  }
  Json json;
  json_start(&json, stdout);
  json_open(&json, NULL, '{');
  json_open(&json, "problems", '[');
  for (const char* line = report->text; *line;) {
    char copy[1000];
    size_t length = strcspn(line, "\n");
    snprintf(copy, sizeof(copy), "%.*s", (int)length, line);
    json_text(&json, NULL, copy);
    line += length + (line[length] == '\n');
  }
  json_close(&json, ']');
  json_close(&json, '}');
  return REFUSED;
}


// the gear that the words mean; REFUSED after all problems were told
static int readGear(Input* input, mjgTransmission* gear, const Arguments* arguments, int first) {
  static char text[8000];
  mjgReport report;
  mjg_startReport(&report, text, sizeof(text));
  int skip = first < arguments->nword ? first : arguments->nword;
  if (readInput(input, &report, arguments->word + skip, arguments->nword - skip) ||
      mjg_transmission(gear, &report, &input->description)) {
    return refuseAll(&report, arguments->flg_json);
  }
  return OK;
}


//---------------------------------- commands ------------------------------------------------------

static int explain(const Arguments* arguments) {
  Input input;
  mjgTransmission gear;
  int status = readGear(&input, &gear, arguments, 0);
  if (status != OK) {
    return status;
  }
  mjgFacts facts;
  mjg_explain(&facts, &gear, input.load, input.inertia);
  const mjgPreset* preset = &input.preset;
  char remark[300];
  mjgReport assumed;
  mjg_startReport(&assumed, remark, sizeof(remark));
  mjg_warnAssumed(&assumed, &input.description);
  if (arguments->flg_json) {
    Json json;
    json_start(&json, stdout);
    json_open(&json, NULL, '{');
    if (preset->name) {
      json_text(&json, "preset", preset->name);
      json_text(&json, "source", preset->source);
    }
    if (remark[0]) {
      remark[strcspn(remark, "\n")] = 0;
      json_text(&json, "remark", remark);
    }
    jsonDescription(&json, "description", &input.description);
    jsonFacts(&json, &facts);
    jsonGap(&json, &input);
    json_close(&json, '}');
    return OK;
  }
  if (preset->name) {
    printf("%s: %s\n  source             %s\n", preset->name, preset->title, preset->source);
    if (preset->remark) {
      printf("  remark             %s\n", preset->remark);
    }
  } else {
    puts("gear");
  }
  if (remark[0]) {
    printf("  REMARK             %s", remark);
  }
  printFacts(stdout, &facts, isSlide(&input.description) ? "N" : "N m");
  printGap(stdout, &input);
  return OK;
}


static int convert(const Arguments* arguments) {
  int type = arguments->nword ? mjg_typeFromName(arguments->word[0]) : -1;
  if (type <= mjgTYPE_AUTO) {
    return fail(
        arguments->command,
        "convert needs a type: coefficients, efficiency, starting, leadscrew, worm, spur or loss");
  }

  // keys that the new type leaves open may be given even if the old one does not know them
  static char text[4000];
  mjgReport report;
  mjg_startReport(&report, text, sizeof(text));
  Input input;
  mjgTransmission gear;
  readInput(&input, &report, arguments->word + 1, arguments->nword - 1);
  mjgDescription target = input.description;
  static const int open[] = {mjgKEY_PRESSURE_ANGLE, mjgKEY_MU, mjgKEY_RADIUS_IN};
  int from = input.description.type;
  int geometric = from > mjgTYPE_STARTING;
  for (size_t i = 0; i < sizeof(open) / sizeof(*open) && !geometric; i++) {
    input.description.given[open[i]] = 0;
    input.description.value[open[i]] = 0;
  }
  target.type = type;
  if (report.count || mjg_transmission(&gear, &report, &input.description) ||
      mjg_describe(&target, &report, &gear)) {
    return refuseAll(&report, arguments->flg_json);
  }
  if (arguments->flg_json) {
    Json json;
    json_start(&json, stdout);
    jsonDescription(&json, NULL, &target);
  } else {
    printDescription(stdout, &target);
  }
  return OK;
}


static int mjcf(const Arguments* arguments) {
  Input input;
  mjgTransmission gear;
  int status = readGear(&input, &gear, arguments, 0);
  if (status != OK) {
    return status;
  }
  static const char* const unnamed = "joint";
  Names joints = {arguments->njoint ? arguments->joint : &unnamed,
                  arguments->njoint ? arguments->njoint : 1};
  if (arguments->flg_json) {
    Json json;
    json_start(&json, stdout);
    json_open(&json, NULL, '{');
    jsonMjcf(&json, &input, &gear, &joints);
    json_close(&json, '}');
  } else {
    printMjcf(stdout, &input, &gear, &joints);
  }
  return OK;
}


static int draw(const Arguments* arguments) {
  const char* name = arguments->nword ? arguments->word[0] : "";
  size_t length = strlen(name);
  if (length < 5 || strcmp(name + length - 4, ".svg")) {
    return fail(arguments->command, "draw needs a file name that ends in .svg");
  }
  Input input;
  mjgTransmission gear;
  int status = readGear(&input, &gear, arguments, 1);
  if (status != OK) {
    return status;
  }

  // torques that show friction without load, or the given load
  mjgFacts facts;
  mjg_explain(&facts, &gear, input.load, input.inertia);
  double limit = 2 * fabs(input.load);
  if (isfinite(facts.start_forward)) {
    limit = fmax(limit, 4 * facts.start_forward);
  }
  char title[200];
  if (input.preset.name) {
    snprintf(title, sizeof(title), "%s", input.preset.title);
  } else {
    snprintf(title, sizeof(title), "gamma_u = %.4g, gamma_v = %.4g", gear.gamma_u, gear.gamma_v);
  }
  // a complete picture replaces another one; links, pipes and devices stay
  char made[4096];
  int flg_beside = isRegularFile(name) || !isThere(name);
  int n = snprintf(made, sizeof(made), "%s%s", name, flg_beside ? ".part" : "");
  errno = ENAMETOOLONG;
  FILE* file = n < (int)sizeof(made) ? fopen(made, "w") : NULL;
  int lost = !file || drawDiagram(file, &facts, title, limit) < 0 ? errno : 0;
  if (file && fclose(file)) {
    lost = lost ? lost : errno;
  }
  if (file && !lost && flg_beside && replaceFile(made, name)) {
    lost = errno;
  }
  if (!file || lost) {
    if (file && flg_beside) {
      remove(made);
    }
    fprintf(stderr, "mjgear: cannot write %s: %s%s\n", name, strerror(lost),
            file ? "" : "; choose a folder that exists and may be written");
    return REFUSED;
  }
  if (arguments->flg_json) {
    Json json;
    json_start(&json, stdout);
    json_open(&json, NULL, '{');
    json_text(&json, "file", name);
    json_text(&json, "title", title);
    json_number(&json, "limit", limit);
    jsonFacts(&json, &facts);
    json_close(&json, '}');
  }
  return OK;
}


static int presets(const Arguments* arguments) {
  if (arguments->flg_markdown) {
    (arguments->nword ? printServoPage : printPresetPage)(stdout);
  } else if (arguments->flg_json) {
    Json json;
    json_start(&json, stdout);
    jsonPresets(&json);
  } else {
    printPresets(stdout);
  }
  return OK;
}


// a line or an object of the list of keys
static void tellKey(Json* json, int flg_json, const mjgKeyInfo* info, const char* note) {
  if (!flg_json) {
    printf("%-18s %-12s %s%s\n", info->name, info->unit, info->text, note);
    return;
  }
  json_open(json, NULL, '{');
  json_text(json, "name", info->name);
  json_text(json, "unit", info->unit);
  json_text(json, "text", info->text);
  json_number(json, "min", info->min);
  json_number(json, "max", info->max);
  json_flag(json, "engine", info->engine);
  json_close(json, '}');
}


static int keys(const Arguments* arguments) {
  Json json;
  json_start(&json, stdout);
  if (arguments->flg_json) {
    json_open(&json, NULL, '[');
  }
  for (int key = 0; key < mjgNKEY; key++) {
    const mjgKeyInfo* info = mjg_keyInfo(key);
    tellKey(&json, arguments->flg_json, info,
            info->engine ? " (in MJCF an attribute of the joint)" : "");
  }
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    const mjgKeyInfo info = {.name = mjg_tableName(kind),
                             .unit = "1",
                             .max = INFINITY,
                             .text = "table: pairs of x and factor of the losses, \"0 1 5 1.2\""};
    tellKey(&json, arguments->flg_json, &info, "");
  }
  for (int i = 0; i < mjgiNGAPKEY; i++) {
    tellKey(&json, arguments->flg_json, mjg_gapKeyInfo(i), " (with backlash=MODEL)");
  }
  if (arguments->flg_json) {
    json_close(&json, ']');
  }
  return OK;
}


static int check(const Arguments* arguments) {
  if (arguments->nword != 1) {
    return fail(arguments->command, "check needs one MJCF file");
  }
  return checkModelFile(stdout, arguments->word[0], arguments->flg_json) ? REFUSED : OK;
}


// a command by name; null after saying so
static const Command* findCommand(const char* name) {
  const char* names[NCOMMAND];
  for (int i = 0; i < NCOMMAND; i++) {
    names[i] = kCommands[i].name;
    if (!strcmp(name, names[i])) {
      return &kCommands[i];
    }
  }
  int nearest = mjg_nearest(name, names, NCOMMAND);
  char text[200];
  snprintf(text, sizeof(text), "unknown command '%.60s'%s%s", name,
           nearest < 0 ? "" : "; did you mean ", nearest < 0 ? "" : names[nearest]);
  fail(NULL, text);
  return NULL;
}


// an option of another command
static int failOption(const Command* command, const char* option) {
  char text[200];
  snprintf(text, sizeof(text), "--%s is no option of this command", option);
  return fail(command, text);
}


// a failed write to standard output must be reported
static void endOutput(void) {
  int lost = ferror(stdout);
  if (fflush(stdout) || lost) {
    fprintf(stderr, "mjgear: cannot write standard output: %s\n",
            errno ? strerror(errno) : "not everything was taken");
    _exit(REFUSED);
  }
}


int main(int argc, char** argv) {
  atexit(endOutput);
  if (argc < 2) {
    return fail(NULL, "no command");
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
    printUsage(stdout);
    return OK;
  }
  if (!strcmp(argv[1], "--version")) {
    printf("mjgear %s, MuJoCo %s\n", mjg_version(), mj_versionString());
    return OK;
  }
  if (isPythonCommand(argv)) {
    return runPython(argv);
  }
  const Command* command = findCommand(argv[1]);
  if (!command) {
    return USAGE;
  }

  // the command is the first argument
  Arguments arguments = {.command = command};
  char error[200];
  int option;
  while ((option = mjg_nextOption(error, sizeof(error), argc - 1, argv + 1, kOptions)) != -1) {
    if (option == mjgWRONG_OPTION) {
      return fail(command, error);
    }
    if (option == HELP_OPTION) {
      printCommandUsage(stdout, command);
      return OK;
    }
    if (!(command->options & option)) {
      return failOption(command, option == JOINT_OPTION  ? "joint"
                                 : option == JSON_OPTION ? "json"
                                                         : "markdown");
    }
    if (option == JOINT_OPTION) {
      if (arguments.njoint == MAXJOINT) {
        return fail(command, "--joint: at most 100 may be given");
      }
      if (!optarg[0]) {
        return fail(command, "--joint: the name is empty; a gear names its joint");
      }
      arguments.joint[arguments.njoint++] = optarg;
    }
    arguments.flg_json |= option == JSON_OPTION;
    arguments.flg_markdown |= option == MARKDOWN_OPTION;
  }
  arguments.word = argv + 1 + optind;
  arguments.nword = argc - 1 - optind;
  const int flg_servos = command->run == presets && arguments.flg_markdown &&
                         arguments.nword == 1 && !strcmp(arguments.word[0], "servos");
  if (arguments.nword && !command->usage[0] && !flg_servos) {
    snprintf(error, sizeof(error), "%s takes no '%.60s'; %s", command->name, arguments.word[0],
             command->run == presets ? "'mjgear explain PRESET' tells about one" : "it lists all");
    return fail(command, error);
  }
  return command->run(&arguments);
}
