// mjgear-view: shows any MJCF file, and our scenes, in a window or as pictures and films.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "load.h"
#include "mjgear_text.h"
#include "record.h"
#include "show.h"
#include "window.h"

static const char usage[] =
    "usage: mjgear-view [scene.xml | scene | scene/case] [options]\n"
    "\n"
    "Shows an MJCF file, or one of our scenes, with the plugin loaded; keys and mouse are those "
    "of\n"
    "MuJoCo's simulate, F1 lists them. With --record, --picture or --csv it runs without a window\n"
    "and needs no display.\n"
    "\n"
    "  --list               names of our scenes and their cases\n"
    "  --gallery            a window that plays all scenes in turn\n"
    "  --against WHAT       side by side with the same scene under another friction: frictionloss\n"
    "                       (MuJoCo's own, as large as ours is in the mean), frictionloss=N m, "
    "none\n"
    "  --beside CASE,CASE   side by side with other cases of the scene, three at most; all: as "
    "many\n"
    "                       as fit\n"
    "  --set INSTANCE.KEY=VALUE   configuration of a plugin instance, over that of file and case;\n"
    "                       repeatable\n"
    "  --key NAME           keyframe to begin with; else start, home, or the first\n"
    "  --joint NAME         geared joint whose values are shown first\n"
    "  --record FILE.mp4    film (ffmpeg)\n"
    "  --picture FILE.png   picture at the end, or at the time given by --at\n"
    "  --csv FILE.csv       one row a step: each geared joint's motion and torques\n"
    "  --duration S         simulated time; the scene's own, else 10\n"
    "  --at S               time of the picture\n"
    "  --speed X            simulated seconds in a second of film or window, 1\n"
    "  --length S           length of a film instead of its speed\n"
    "  --title S            time for which a film shows its title before it begins, 0\n"
    "  --fps N              frames a second of a film, 30\n"
    "  --size WxH           pixels; 1280x720 for pictures and films\n"
    "  --no-plots           no curves beside the scene\n"
    "  --no-panels          a window that starts without its panels\n"
    "  --effects, --no-effects   shadows and reflections; without either as the renderer can\n"
    "  --paused             the window starts paused\n"
    "  --measure S          keep the window open for that time, then print its pace and memory\n"
    "  --window             open the window although a file is written\n"
    "  --plugin FILE        libmjgear.so; default: MJGEAR_PLUGIN, or ../lib beside the program\n"
    "  -h, --help\n"
    "\n"
    "MUJOCO_GL=egl or osmesa chooses the renderer of pictures and films.\n"
    "Exit codes: 1 arguments, 2 model, 3 display or OpenGL, 4 output, 5 unstable.\n";


//---------------------------------- messages ------------------------------------------------------

// messages of the engine, one line each; its errors end the program like our own
static void logMessage(const mjLogMessage* message) {
  // an unstable simulation is reported once, at the end
  int flg_unstable = strstr(message->subject, "in QPOS") || strstr(message->subject, "in QVEL") ||
                     strstr(message->subject, "in QACC");
  if (message->level >= mjLOG_WARNING && !flg_unstable) {
    fprintf(stderr, "mjgear-view: %s\n", message->subject);
  }
}


static int fail(int code, const char* error) {
  fprintf(stderr, "mjgear-view: %s\n", error);
  return code;
}


//---------------------------------- arguments -----------------------------------------------------

// number of an option within its range: 1 if it is one
static int number(double* value, const char* text, double least, double most) {
  const char* end;
  *value = mjg_readNumber(text, &end);
  return end != text && !*end && *value >= least && *value <= most;
}


static int parseAgainst(ShowOptions* option, const char* text) {
  if (!strcmp(text, "none")) {
    option->against = simNONE;
    return 1;
  }
  if (!strncmp(text, "frictionloss", 12) && (text[12] == 0 || text[12] == '=')) {
    option->against = simNATIVE;
    return text[12] == 0 || number(&option->frictionloss, text + 13, 0, 1e12);
  }
  return 0;
}


static int parseSize(ShowOptions* option, const char* text) {
  int n = 0;
  return sscanf(text, "%4dx%4d%n", &option->width, &option->height, &n) == 2 && !text[n] &&
         option->width >= 64 && option->width <= 8192 && option->height >= 64 &&
         option->height <= 8192;
}


// INSTANCE.KEY=VALUE
static int parseSetting(ShowOptions* option, const char* text) {
  char instance[64], key[32];
  int n = 0;
  return sscanf(text, "%63[^.=].%31[^=]=%n", instance, key, &n) == 2 && n > 0 &&
         !simSet(&option->settings, instance, key, text + n);
}


// a file whose name ends with its format
static int parseFile(const char** file, const char* name, const char* ending) {
  size_t n = strlen(name), k = strlen(ending);
  *file = name;
  return n > k && !strcmp(name + n - k, ending);
}


// options
enum {
  OPTION_AGAINST = 1,
  OPTION_AT,
  OPTION_BESIDE,
  OPTION_CSV,
  OPTION_DURATION,
  OPTION_EFFECTS,
  OPTION_FPS,
  OPTION_GALLERY,
  OPTION_HELP,
  OPTION_JOINT,
  OPTION_KEY,
  OPTION_LENGTH,
  OPTION_LIST,
  OPTION_MEASURE,
  OPTION_NO_EFFECTS,
  OPTION_NO_PANELS,
  OPTION_NO_PLOTS,
  OPTION_PAUSED,
  OPTION_PICTURE,
  OPTION_PLUGIN,
  OPTION_RECORD,
  OPTION_SET,
  OPTION_SIZE,
  OPTION_SPEED,
  OPTION_TITLE,
  OPTION_WINDOW
};
static const struct option kOptions[] = {{"against", required_argument, NULL, OPTION_AGAINST},
                                         {"at", required_argument, NULL, OPTION_AT},
                                         {"beside", required_argument, NULL, OPTION_BESIDE},
                                         {"csv", required_argument, NULL, OPTION_CSV},
                                         {"duration", required_argument, NULL, OPTION_DURATION},
                                         {"effects", no_argument, NULL, OPTION_EFFECTS},
                                         {"fps", required_argument, NULL, OPTION_FPS},
                                         {"gallery", no_argument, NULL, OPTION_GALLERY},
                                         {"help", no_argument, NULL, OPTION_HELP},
                                         {"joint", required_argument, NULL, OPTION_JOINT},
                                         {"key", required_argument, NULL, OPTION_KEY},
                                         {"length", required_argument, NULL, OPTION_LENGTH},
                                         {"list", no_argument, NULL, OPTION_LIST},
                                         {"measure", required_argument, NULL, OPTION_MEASURE},
                                         {"no-effects", no_argument, NULL, OPTION_NO_EFFECTS},
                                         {"no-panels", no_argument, NULL, OPTION_NO_PANELS},
                                         {"no-plots", no_argument, NULL, OPTION_NO_PLOTS},
                                         {"paused", no_argument, NULL, OPTION_PAUSED},
                                         {"picture", required_argument, NULL, OPTION_PICTURE},
                                         {"plugin", required_argument, NULL, OPTION_PLUGIN},
                                         {"record", required_argument, NULL, OPTION_RECORD},
                                         {"set", required_argument, NULL, OPTION_SET},
                                         {"size", required_argument, NULL, OPTION_SIZE},
                                         {"speed", required_argument, NULL, OPTION_SPEED},
                                         {"title", required_argument, NULL, OPTION_TITLE},
                                         {"window", no_argument, NULL, OPTION_WINDOW},
                                         {0}};


// read one option, its value in optarg: 1, or 0 if the value is invalid
static int readOption(ShowOptions* option, int which) {
  double x = 0;
  int flg_good = 1;
  switch (which) {
    case OPTION_AGAINST:
      return parseAgainst(option, optarg);
    case OPTION_AT:
      return number(&option->picture_time, optarg, 0, 1e9);
    case OPTION_BESIDE:
      option->beside = optarg;
      return 1;
    case OPTION_CSV:
      option->csv = optarg;
      return 1;
    case OPTION_DURATION:
      return number(&option->duration, optarg, 1e-9, 1e9);
    case OPTION_EFFECTS:
    case OPTION_NO_EFFECTS:
      option->flg_effects = which == OPTION_EFFECTS;
      return 1;
    case OPTION_FPS:
      flg_good = number(&x, optarg, 1, 240) && x == floor(x);
      option->fps = flg_good ? (int)x : 0;
      return flg_good;
    case OPTION_GALLERY:
      option->flg_gallery = 1;
      return 1;
    case OPTION_JOINT:
      option->joint = optarg;
      return 1;
    case OPTION_KEY:
      option->key = optarg;
      return 1;
    case OPTION_LENGTH:
      return number(&option->length, optarg, 0.1, 1e6);
    case OPTION_MEASURE:
      return number(&option->measure, optarg, 0.1, 1e6);
    case OPTION_NO_PANELS:
      option->flg_hide_ui = 1;
      return 1;
    case OPTION_NO_PLOTS:
      option->flg_plots = 0;
      return 1;
    case OPTION_PAUSED:
      option->flg_paused = 1;
      return 1;
    case OPTION_PICTURE:
      return parseFile(&option->picture, optarg, ".png");
    case OPTION_PLUGIN:
      option->plugin = optarg;
      return 1;
    case OPTION_RECORD:
      return parseFile(&option->film, optarg, ".mp4");
    case OPTION_SET:
      return parseSetting(option, optarg);
    case OPTION_SIZE:
      return parseSize(option, optarg);
    case OPTION_SPEED:
      return number(&option->speed, optarg, 1e-3, 1e3);
    case OPTION_TITLE:
      return number(&option->title, optarg, 0, 60);
    default:
      option->flg_window = 1;
      return 1;
  }
}


// name of an option
static const char* nameOf(int which) {
  const struct option* option = kOptions;
  while (option->val != which) {
    option++;
  }
  return option->name;
}


// names, durations, cases
static int list(void) {
  for (int i = 0; i < mjg_nscene; i++) {
    const mjgScene* scene = mjg_scenes[i];
    printf("%-14s %s (%g s)\n", scene->name, scene->description, scene->duration);
    for (int k = 0; k < scene->nvariant; k++) {
      printf("               %s/%s\n", scene->name, scene->variant[k].name);
    }
  }
  return exitOK;
}


int main(int argc, char** argv) {
  mjg_mindStandardOutput("mjgear-view");
  ShowOptions option = {.speed = 1,
                        .fps = 30,
                        .picture_time = -1,
                        .frictionloss = -1,
                        .flg_plots = 1,
                        .flg_effects = -1};
  char error[1400];
  int which;
  while ((which = mjg_nextOption(error, sizeof(error), argc, argv, kOptions)) != -1) {
    if (which == mjgWRONG_OPTION) {
      return fail(exitUSAGE, error);
    }
    if (which == OPTION_HELP) {
      fputs(usage, stdout);
      return exitOK;
    }
    if (which == OPTION_LIST) {
      return list();
    }
    if (!readOption(&option, which)) {
      snprintf(error, sizeof(error),
               which == OPTION_PICTURE || which == OPTION_RECORD
                   ? "--%s %s: pictures end in .png and films in .mp4"
                   : "--%s does not take '%s'; --help lists what it takes",
               nameOf(which), optarg);
      return fail(exitUSAGE, error);
    }
  }
  if (optind + 1 < argc) {
    return fail(exitUSAGE, "there is more than one scene; name one, --help lists the options");
  }
  option.file = argv[optind];

  // without a scene and with nothing to write the window begins with the rod
  mju_setLogHandler(logMessage);
  if (mjg_loadPlugin(option.plugin, error, sizeof(error))) {
    return fail(exitMODEL, error);
  }
  static Show show;
  int code = showOpen(&show, &option, error, sizeof(error));
  if (code) {
    return fail(code, error);
  }
  int flg_write = option.film || option.picture || option.csv;
  code = flg_write && !option.flg_window ? record(&show, error, sizeof(error))
                                         : window(&show, error, sizeof(error));
  if (code) {
    fail(code, error);
  }
  int closed = showClose(&show, error, sizeof(error));
  if (closed) {
    fail(closed, error);
  }
  return code ? code : closed;
}
