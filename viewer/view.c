// mjgear-view: shows any MJCF file, and our scenes, in a window or as pictures and films.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "frame.h"
#include "load.h"
#include "mjgear_text.h"
#include "show.h"

static const char usage[] =
    "usage: mjgear-view [scene.xml | scene | scene/case] [options]\n"
    "\n"
    "Shows an MJCF file, or one of our scenes, with the plugin loaded; mouse and keys are those of\n"
    "MuJoCo's simulate. With --record, --picture or --csv it runs without a window and needs no display.\n"
    "\n"
    "  --list               names of our scenes and their cases\n"
    "  --against WHAT       side by side with the same scene under another friction: frictionloss\n"
    "                       (MuJoCo's own, as large as ours is in the mean), frictionloss=N m, none\n"
    "  --beside CASE,CASE   side by side with other cases of the scene, three at most; all: as many\n"
    "                       as fit\n"
    "  --set INSTANCE.KEY=VALUE   configuration of a plugin instance, over that of file and case, or an\n"
    "                       attribute of an element: option.timestep=1e-4, joint:elbow.damping=2\n"
    "  --key NAME           keyframe to begin with; else start, home, or the first\n"
    "  --joint NAME         geared joint whose values are shown first\n"
    "  --record FILE.mp4    film (ffmpeg)\n"
    "  --picture FILE.png   picture at the end, or at the time given by --at\n"
    "  --csv FILE.csv       one row a step: each geared joint's motion and torques\n"
    "  --duration S         simulated time; the scene's own, else 10\n"
    "  --at S               time of the picture\n"
    "  --speed X            simulated seconds in a second of film or window, 1\n"
    "  --length S           length of a film instead of its speed\n"
    "  --fps N              frames a second of a film, 30\n"
    "  --size WxH           pixels; 1280x720 for pictures and films\n"
    "  --no-plots           no curves beside the scene\n"
    "  --no-panels          a window that starts without its panels\n"
    "  --effects, --no-effects   shadows and reflections; without either as the renderer can\n"
    "  --paused             the window starts paused\n"
    "  --window             open the window although a file is written\n"
    "  --plugin FILE        libmjgear.so; default: MJGEAR_PLUGIN, or ../lib beside the program\n"
    "  -h, --help\n"
    "\n"
    "Keys: Space run or pause, Right one step, Backspace reset, - = slower, faster, , . previous, next\n"
    "geared joint, [ ] Esc cameras, Tab and Shift Tab panels, F3 plots, F4 colours, Ctrl L reload,\n"
    "Ctrl P screenshot, Ctrl A align, Ctrl Q quit. Mouse: drag turns, pans with the right button, scroll\n"
    "zooms; a double click selects a body, which Ctrl and the right button pull, and the left turn.\n"
    "\n"
    "Exit codes: 1 arguments, 2 model, 3 display or OpenGL, 4 output, 5 unstable.\n";

//---------------------------------- messages ------------------------------------------------------

// messages of the engine, one line each; its errors end the program like our own
static void logMessage(const mjLogMessage* message) {
  // an unstable simulation is reported once, at the end
  int flg_unstable =
      strstr(message->subject, "in QPOS") || strstr(message->subject, "in QVEL") || strstr(message->subject, "in QACC");
  if (message->level >= mjLOG_WARNING && !flg_unstable) {
    fprintf(stderr, "mjgear-view: %s\n", message->subject);
  }
}

static int fail(int code, const char* error) {
  fprintf(stderr, "mjgear-view: %s\n", error);
  return code;
}

//---------------------------------- arguments -----------------------------------------------------

static ShowOptions option;

// a picture or film, whose name ends as it must
static int output(const mjgValue* value, char* name) {
  size_t n = strlen(name);
  const char* ending = value->data == &option.film ? ".mp4" : ".png";
  return mjg_readText(value, name) && n > 4 && !strcmp(name + n - 4, ending);
}

static int against(const mjgValue* value, char* word) {
  const mjgValue loss = {.data = &option.frictionloss, .least = 0, .most = 1e12};
  (void)value;
  option.against = !strcmp(word, "none") ? simNONE : simNATIVE;
  return option.against == simNONE || !strcmp(word, "frictionloss") ||
         (!strncmp(word, "frictionloss=", 13) && mjg_readReal(&loss, word + 13));
}

static int size(const mjgValue* value, char* word) {
  int n = 0, *w = &option.width, *h = &option.height;
  (void)value;
  return sscanf(word, "%4dx%4d%n", w, h, &n) == 2 && !word[n] && *w >= 64 && *w <= 8192 && *h >= 64 && *h <= 8192;
}

static const mjgValue kValues[] = {
    {"against", against, NULL, 0, 0},
    {"at", mjg_readReal, &option.picture_time, 0, 1e9},
    {"beside", mjg_readText, &option.beside, 0, 0},
    {"csv", mjg_readText, &option.csv, 0, 0},
    {"duration", mjg_readReal, &option.duration, 1e-9, 1e9},
    {"fps", mjg_readWhole, &option.fps, 1, 240},
    {"joint", mjg_readText, &option.joint, 0, 0},
    {"key", mjg_readText, &option.key, 0, 0},
    {"length", mjg_readReal, &option.length, 0.1, 1e6},
    {"picture", output, &option.picture, 0, 0},
    {"plugin", mjg_readText, &option.plugin, 0, 0},
    {"record", output, &option.film, 0, 0},
    {"set", mjg_readSettings, &option.settings, 0, 0},
    {"size", size, NULL, 0, 0},
    {"speed", mjg_readReal, &option.speed, 1e-3, 1e3},
};
enum { NVALUE = sizeof(kValues) / sizeof(*kValues), HELP, LIST };
static const struct option kFlags[] = {
    {"effects", no_argument, &option.flg_effects, 1},
    {"help", no_argument, NULL, HELP},
    {"list", no_argument, NULL, LIST},
    {"no-effects", no_argument, &option.flg_effects, 0},
    {"no-panels", no_argument, &option.flg_hide_ui, 1},
    {"no-plots", no_argument, &option.flg_plots, 0},
    {"paused", no_argument, &option.flg_paused, 1},
    {"window", no_argument, &option.flg_window, 1},
    {0},
};

int main(int argc, char** argv) {
  mjg_mindStandardOutput("mjgear-view");
  option =
      (ShowOptions){.speed = 1, .fps = 30, .picture_time = -1, .frictionloss = -1, .flg_plots = 1, .flg_effects = -1};
  char error[1400];
  int which = mjg_readOptions(error, sizeof(error), argc, argv, kValues, NVALUE, kFlags);
  if (which == HELP || which == LIST) {
    which == HELP ? (void)fputs(usage, stdout) : mjg_listScenes();
    return exitOK;
  }
  if (which != -1) {
    return fail(exitUSAGE, error);
  }
  if (optind + 1 < argc) {
    return fail(exitUSAGE, "there is more than one scene; name one, --help lists the options");
  }
  option.file = argv[optind];

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
  code = flg_write && !option.flg_window ? record(&show, error, sizeof(error)) : window(&show, error, sizeof(error));
  if (code) {
    fail(code, error);
  }
  int closed = showClose(&show, error, sizeof(error));
  if (closed) {
    fail(closed, error);
  }
  return code ? code : closed;
}
