// mjgear-view: shows any MJCF file, and our scenes, in a window or as pictures and films.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "mjgear_params.h"
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
    "  --scenes             a window that starts with the list of our scenes, with pictures\n"
    "  --gallery            a window that plays all scenes in turn\n"
    "  --against WHAT       side by side with the same scene under another friction: frictionloss\n"
    "                       (MuJoCo's own, as large as ours is in the mean), frictionloss=N m, "
    "none\n"
    "  --beside CASE,CASE   side by side with other cases of the scene, three at most; all: as "
    "many\n"
    "                       as fit\n"
    "  --set INSTANCE.KEY=VALUE   configuration of a plugin instance, over that of the file\n"
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
    "\n"
    "MUJOCO_GL=egl or osmesa chooses the renderer of pictures and films, MJGEAR_PLUGIN another\n"
    "libmjgear.so. Exit codes: 1 arguments, 2 model, 3 display or OpenGL, 4 output, 5 unstable.\n";


//---------------------------------- messages ------------------------------------------------------

// the engine's messages, one line each; its errors end the program as ours do
static void logMessage(const mjLogMessage* message) {
  // an unstable simulation is told once, at the end
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
  return sscanf(text, "%dx%d%n", &option->width, &option->height, &n) == 2 && !text[n] &&
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


// a file whose name ends as what is written into it
static int parseFile(const char** file, const char* name, const char* ending) {
  size_t n = strlen(name), k = strlen(ending);
  *file = name;
  return n > k && !strcmp(name + n - k, ending);
}


// an option that has a value: 1 taken, 0 unknown option, -1 bad value
static int parseValue(ShowOptions* option, const char* name, const char* value) {
  double x = 0;
  int flg_good = 1;
  if (!strcmp(name, "--against")) {
    flg_good = parseAgainst(option, value);
  } else if (!strcmp(name, "--beside")) {
    option->beside = value;
  } else if (!strcmp(name, "--title")) {
    flg_good = number(&option->title, value, 0, 60);
  } else if (!strcmp(name, "--joint")) {
    option->joint = value;
  } else if (!strcmp(name, "--key")) {
    option->key = value;
  } else if (!strcmp(name, "--record")) {
    flg_good = parseFile(&option->film, value, ".mp4");
  } else if (!strcmp(name, "--picture")) {
    flg_good = parseFile(&option->picture, value, ".png");
  } else if (!strcmp(name, "--csv")) {
    option->csv = value;
  } else if (!strcmp(name, "--set")) {
    flg_good = parseSetting(option, value);
  } else if (!strcmp(name, "--duration")) {
    flg_good = number(&option->duration, value, 1e-9, 1e9);
  } else if (!strcmp(name, "--at")) {
    flg_good = number(&option->picture_time, value, 0, 1e9);
  } else if (!strcmp(name, "--speed")) {
    flg_good = number(&option->speed, value, 1e-3, 1e3);
  } else if (!strcmp(name, "--length")) {
    flg_good = number(&option->length, value, 0.1, 1e6);
  } else if (!strcmp(name, "--fps")) {
    flg_good = number(&x, value, 1, 240) && x == floor(x);
    option->fps = (int)x;
  } else if (!strcmp(name, "--measure")) {
    flg_good = number(&option->measure, value, 0.1, 1e6);
  } else if (!strcmp(name, "--size")) {
    flg_good = parseSize(option, value);
  } else {
    return 0;
  }
  return flg_good ? 1 : -1;
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
  int flg_window = 0;
  for (int i = 1; i < argc; i++) {
    const char* arg = argv[i];
    if (!strcmp(arg, "-h") || !strcmp(arg, "--help")) {
      fputs(usage, stdout);
      return exitOK;
    } else if (!strcmp(arg, "--list")) {
      return list();
    } else if (!strcmp(arg, "--no-plots")) {
      option.flg_plots = 0;
    } else if (!strcmp(arg, "--no-panels")) {
      option.flg_hide_ui = 1;
    } else if (!strcmp(arg, "--effects") || !strcmp(arg, "--no-effects")) {
      option.flg_effects = arg[2] == 'e';
    } else if (!strcmp(arg, "--scenes")) {
      option.flg_scenes = 1;
    } else if (!strcmp(arg, "--gallery")) {
      option.flg_gallery = 1;
    } else if (!strcmp(arg, "--paused")) {
      option.flg_paused = 1;
    } else if (!strcmp(arg, "--window")) {
      flg_window = 1;
    } else if (arg[0] != '-') {
      if (option.file) {
        return fail(exitUSAGE, "more than one scene; mjgear-view --help lists the options");
      }
      option.file = arg;
    } else {
      char error[256];
      int taken = i + 1 < argc ? parseValue(&option, arg, argv[i + 1]) : 0;
      if (taken <= 0) {
        snprintf(error, sizeof(error),
                 taken < 0 ? strcmp(arg, "--picture") && strcmp(arg, "--record")
                                 ? "%s: bad value %s; mjgear-view --help"
                                 : "%s %s: pictures end in .png and films in .mp4"
                           : "%s: unknown option or value missing%.0s; mjgear-view --help",
                 arg, taken < 0 ? argv[i + 1] : "");
        return fail(exitUSAGE, error);
      }
      i++;
    }
  }

  // without a scene and with nothing to write the window begins with the first scene
  char error[1400];
  mju_setLogHandler(logMessage);
  if (mjg_loadPlugin(NULL, error, sizeof(error))) {
    return fail(exitMODEL, error);
  }
  static Show show;
  int code = showOpen(&show, &option, error, sizeof(error));
  if (code) {
    return fail(code, error);
  }
  int flg_write = option.film || option.picture || option.csv;
  code = flg_write && !flg_window ? record(&show, error, sizeof(error))
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
