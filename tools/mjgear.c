// mjgear: explains gears, converts their descriptions, checks MJCF files, draws diagrams.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "diagram.h"
#include "input.h"
#include "json.h"
#include "page.h"
#include "print.h"

// exit codes
enum {
  OK = 0,
  REFUSED = 1,  // the gear or the model has problems
  USAGE = 2
};

static const char usage[] =
    "usage: mjgear explain GEAR            what a gear does\n"
    "       mjgear convert TYPE GEAR       the same gear described as coefficients, efficiency,\n"
    "                                      starting, leadscrew, worm or spur\n"
    "       mjgear mjcf GEAR [--joint J]   MJCF to paste\n"
    "       mjgear draw FILE.svg GEAR      drive/backdrive diagram\n"
    "       mjgear check FILE.xml          all problems of a model, or what its geared joints will "
    "do\n"
    "       mjgear presets [--markdown]    gears that are ready to use\n"
    "       mjgear keys                    what a description may say\n"
    "\n"
    "GEAR is a preset, key=value, or a preset with keys changed: harmonic_drive coulomb=2Nm.\n"
    "Numbers are SI at the output side, or have a unit: 5deg, 20mm, 3Ncm, 0.2kgcm2, 30rpm, 80%.\n"
    "  load=TORQUE       load at which torques are told (1)\n"
    "  inertia=INERTIA   inertia of the output side, for apparent inertias\n"
    "  --json            for programs\n";


// options and the words that are left
typedef struct Arguments_ {
  int flg_json;
  int flg_markdown;
  const char* joint;
  char** word;
  int nword;
} Arguments;


static int fail(const char* what) {
  fprintf(stderr, "mjgear: %s\n\n%s", what, usage);
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
  if (arguments->flg_json) {
    Json json;
    json_start(&json, stdout);
    json_open(&json, NULL, '{');
    if (preset->name) {
      json_text(&json, "preset", preset->name);
      json_text(&json, "source", preset->source);
    }
    jsonDescription(&json, "description", &input.description);
    jsonFacts(&json, &facts);
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
  printFacts(stdout, &facts);
  return OK;
}


static int convert(const Arguments* arguments) {
  int type = arguments->nword ? mjg_typeFromName(arguments->word[0]) : -1;
  if (type <= mjgTYPE_AUTO) {
    return fail(
        "convert needs a type: coefficients, efficiency, starting, leadscrew, worm or spur");
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
  int geometric = from == mjgTYPE_LEADSCREW || from == mjgTYPE_WORM || from == mjgTYPE_SPUR;
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
  if (status == OK) {
    printMjcf(stdout, &input, &gear, arguments->joint);
  }
  return status;
}


static int draw(const Arguments* arguments) {
  const char* name = arguments->nword ? arguments->word[0] : "";
  size_t length = strlen(name);
  if (length < 5 || strcmp(name + length - 4, ".svg")) {
    return fail("draw needs a file name that ends in .svg");
  }
  Input input;
  mjgTransmission gear;
  int status = readGear(&input, &gear, arguments, 1);
  if (status != OK) {
    return status;
  }

  // torques that show what friction does without load, or the given load
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
  FILE* file = fopen(name, "w");
  int failed = !file || drawDiagram(file, &facts, title, limit) < 0;
  failed |= file && fclose(file) != 0;
  if (failed) {
    fprintf(stderr, "mjgear: cannot write %s: %s; choose a folder that exists and may be written\n",
            name, strerror(errno));
    return REFUSED;
  }
  return OK;
}


static int presets(const Arguments* arguments) {
  if (arguments->flg_markdown) {
    printPresetPage(stdout);
  } else if (arguments->flg_json) {
    Json json;
    json_start(&json, stdout);
    jsonPresets(&json);
  } else {
    printPresets(stdout);
  }
  return OK;
}


static int keys(const Arguments* arguments) {
  Json json;
  json_start(&json, stdout);
  if (arguments->flg_json) {
    json_open(&json, NULL, '[');
  }
  for (int key = 0; key < mjgNKEY; key++) {
    const mjgKeyInfo* info = mjg_keyInfo(key);
    if (arguments->flg_json) {
      json_open(&json, NULL, '{');
      json_text(&json, "name", info->name);
      json_text(&json, "unit", info->unit);
      json_text(&json, "text", info->text);
      json_number(&json, "min", info->min);
      json_number(&json, "max", info->max);
      json_flag(&json, "engine", info->engine);
      json_close(&json, '}');
    } else {
      printf("%-18s %-12s %s%s\n", info->name, info->unit, info->text,
             info->engine ? " (in MJCF an attribute of the joint)" : "");
    }
  }
  if (arguments->flg_json) {
    json_close(&json, ']');
  }
  return OK;
}


static int check(const Arguments* arguments) {
  if (arguments->nword != 1) {
    return fail("check needs one MJCF file");
  }
  return checkModelFile(stdout, arguments->word[0], arguments->flg_json) ? REFUSED : OK;
}


int main(int argc, char** argv) {
  static const struct {
    const char* name;
    int (*run)(const Arguments* arguments);
  } commands[] = {{"explain", explain}, {"convert", convert}, {"mjcf", mjcf}, {"draw", draw},
                  {"check", check},     {"presets", presets}, {"keys", keys}};
  if (argc < 2) {
    return fail("no command");
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
    fputs(usage, stdout);
    return OK;
  }

  // options may stand anywhere
  Arguments arguments = {.joint = "joint", .word = argv + 2};
  for (int i = 2; i < argc; i++) {
    if (!strcmp(argv[i], "--json")) {
      arguments.flg_json = 1;
    } else if (!strcmp(argv[i], "--markdown")) {
      arguments.flg_markdown = 1;
    } else if (!strcmp(argv[i], "--joint") && i + 1 < argc) {
      arguments.joint = argv[++i];
    } else if (!strncmp(argv[i], "--", 2)) {
      return fail("unknown option");
    } else {
      arguments.word[arguments.nword++] = argv[i];
    }
  }
  for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
    if (!strcmp(argv[1], commands[i].name)) {
      int status = commands[i].run(&arguments);
      return fflush(stdout) || ferror(stdout) ? REFUSED : status;
    }
  }
  return fail("unknown command");
}
