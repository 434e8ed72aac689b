// mjgear-run: play scenes without a window, write results, check claims.

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command_line.h"
#include "load.h"
#include "mjgear_text.h"
#include "output.h"
#include "play.h"
#include "progress.h"
#include "scene.h"

#define MAXARGUMENT 64    // scenes or settings on one command line
#define ERROR       2048  // length of an error

// exit codes
enum { OK = 0, FAILED = 1, USAGE = 2 };

static const char usage[] =
    "usage: mjgear-run [options] SCENE...     play scenes and check what they claim\n"
    "       mjgear-run [options] FILE.xml     play any model, without script\n"
    "       mjgear-run --list                 scenes and their cases\n"
    "       mjgear-run --pages                what pages show of each scene, for programs\n"
    "\n"
    "  --all                     all scenes\n"
    "  --case NAME               only this case of the scene\n"
    "  --set INSTANCE.KEY=VALUE  configuration of a plugin instance, over that of file and case, or an\n"
    "                            attribute of an element: option.timestep=1e-4, joint:elbow.damping=2\n"
    "  --duration SECONDS        other than the scene's own; 10 for a file\n"
    "  --out FOLDER              where results go, default results; - writes none\n"
    "  --npy                     motions as arrays of NumPy in place of CSV: a fifth of the time\n"
    "  --plugin FILE             libmjgear.so; default: MJGEAR_PLUGIN, or ../lib beside the program\n"
    "  --quiet                   only errors and failed claims\n"
    "  -h, --help\n"
    "\n"
    "Claims are checked when all cases of a scene run unchanged. Exit code 0: all well; 1: a claim\n"
    "does not hold or a run failed; 2: wrong use.\n";

// options of the command line
static struct {
  const mjgScene* scene[MAXARGUMENT];
  int nscene;
  mjgScene file;  // a scene made of a model on the command line
  mjgSettingList settings;
  const char* variant;  // null: all
  double duration;      // 0: the scene's
  const char* out;      // null: no files
  const char* plugin;
  int all;
  int list;
  int npy;
  int pages;
  int quiet;
} options;

// one line on standard error
static void complain(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("mjgear-run: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

// a line for each scene, with tabs between: name, what is shown, time of the picture, cases beside it,
// joint of the curves, 1 if nothing moves, caption
static void listPages(void) {
  for (int i = 0; i < mjg_nscene; i++) {
    const mjgScene* s = mjg_scenes[i];
    printf("%s\t%s%s%s\t%g\t%s\t%s\t%d\t%s\n", s->name, s->name, s->shown ? "/" : "", s->shown ? s->shown : "",
           (s->moment > 0 ? s->moment : 0.6) * s->duration, s->beside ? s->beside : "", s->joint ? s->joint : "",
           s->flg_still, s->caption);
  }
}

//---------------------------------- command line --------------------------------------------------

// a scene by name, or a model file; 0: done
static int addScene(const char* name) {
  const mjgScene* scene = mjg_findScene(name);
  size_t n = strlen(name);
  if (!scene && n > 4 && !strcmp(name + n - 4, ".xml")) {
    if (options.file.xml) {
      complain("'%s' is a second model file; name one at a time", name);
      return -1;
    }

    // relative to the working folder, not to the folder of scenes. Results are named after the
    // file, apart from those of a scene of that name
    static char path[4096], stem[256];
    const char* slash = strrchr(name, '/');
    snprintf(path, sizeof path, "%s%s", name[0] == '/' ? "" : "./", name);
    snprintf(stem, sizeof stem, "%s", slash ? slash + 1 : name);
    stem[strlen(stem) - 4] = 0;
    if (mjg_findScene(stem)) {
      strcat(stem, ".xml");
    }
    options.file = (mjgScene){.name = stem, .xml = path, .duration = 10};
    scene = &options.file;
  }
  if (!scene) {
    complain("there is no scene '%s'; --list shows them", name);
    return -1;
  }
  if (options.nscene == MAXARGUMENT) {
    complain("there are more than %d scenes; name fewer", MAXARGUMENT);
    return -1;
  }
  options.scene[options.nscene++] = scene;
  return 0;
}

static const mjgValue kValues[] = {
    {"case", mjg_readText, &options.variant, 0, 0},     {"duration", mjg_readReal, &options.duration, 1e-12, 1e12},
    {"out", mjg_readText, &options.out, 0, 0},          {"plugin", mjg_readText, &options.plugin, 0, 0},
    {"set", mjg_readSettings, &options.settings, 0, 0},
};
enum { NVALUE = sizeof(kValues) / sizeof(*kValues), HELP };
static const struct option kFlags[] = {
    {"all", no_argument, &options.all, 1},
    {"help", no_argument, NULL, HELP},
    {"list", no_argument, &options.list, 1},
    {"npy", no_argument, &options.npy, 1},
    {"pages", no_argument, &options.pages, 1},
    {"quiet", no_argument, &options.quiet, 1},
    {0},
};

// read the command line; -1: continue, otherwise the exit code
static int parse(int argc, char** argv) {
  char error[ERROR];
  int which = mjg_readOptions(error, sizeof error, argc, argv, kValues, NVALUE, kFlags);
  if (which == mjgWRONG_OPTION) {
    complain("%s", error);
    return USAGE;
  }
  if (which == HELP) {
    fputs(usage, stdout);
    return OK;
  }
  options.out = strcmp(options.out, "-") ? options.out : NULL;
  for (int k = 0; k < mjg_nscene && options.all; k++) {
    if (addScene(mjg_scenes[k]->name)) {
      return USAGE;
    }
  }
  for (int i = optind; i < argc; i++) {
    if (addScene(argv[i])) {
      return USAGE;
    }
  }

  if (options.list || options.pages) {
    options.list ? mjg_listScenes() : listPages();
    return OK;
  }
  if (!options.nscene) {
    fputs(usage, stderr);
    return USAGE;
  }
  for (int i = 0; options.variant && i < options.nscene; i++) {
    if (!mjg_findCase(options.scene[i], options.variant)) {
      complain("scene %s has no case '%s'; --list shows them", options.scene[i]->name, options.variant);
      return USAGE;
    }
  }
  return -1;
}

//---------------------------------- results -------------------------------------------------------

// open FOLDER/SCENE/NAME, making folders as needed; null after a complaint
static mjgOutput* openResult(const char* scene, const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s/%s", options.out, scene, name);
  for (char* p = path + 1; (p = strchr(p, '/')); p++) {
    *p = 0;
    if (mkdir(path, 0777) && errno != EEXIST) {
      complain("%s: %s", path, strerror(errno));
      return NULL;
    }
    *p = '/';
  }
  mjgOutput* output = mjg_openOutput(path);
  if (!output) {
    complain("%s: %s", path, strerror(errno));
  }
  return output;
}

// close a result, complete or not; 0: everything was written
static int closeResult(mjgOutput* output, const char* scene, const char* name, int flg_complete) {
  int error = mjg_closeOutput(output, flg_complete);
  if (error) {
    complain("%s/%s/%s: %s", options.out, scene, name, strerror(error));
  }
  return error;
}

// 1 if the engine moved as the scene's own integration
static int agrees(const mjgPlay* play) { return !play->own || play->difference <= play->scene->tolerance; }

// name of the case, for people
static const char* caseName(const mjgPlay* play) { return play->variant ? play->variant->name : ""; }

// begin a table of results; null after a complaint
static mjgOutput* beginTable(const char* scene, const char* name, const char* head) {
  mjgOutput* output = openResult(scene, name);
  if (output) {
    fprintf(output->file, "%s\n", head);
  }
  return output;
}

// the meaning of the columns of all cases; 0: done
static int writeJoints(const mjgScene* scene, const mjModel* m) {
  mjgOutput* output = beginTable(scene->name, "joints.csv", "joint,unit");
  if (output) {
    mjg_writeJoints(m, output->file);
  }
  return output ? closeResult(output, scene->name, "joints.csv", 1) : -1;
}

// where a scene's plot.py is and what pages say of it, the distance of each case from its own integration, and which
// claims hold: texts have no quotes in them. 0: done
static int writeTables(const mjgScene* scene, const mjgPlay* play, int nplay, const mjgClaims* claims) {
  mjgOutput* about = beginTable(scene->name, "about.csv", "folder,caption");
  mjgOutput* differences = beginTable(scene->name, "differences.csv", "case,difference,tolerance,holds");
  mjgOutput* table = beginTable(scene->name, "claims.csv", "holds,claim");
  const char* slash = strchr(scene->xml, '/');
  int failed = !about || !differences || !table;
  if (!failed) {
    fprintf(about->file, "\"%.*s\",\"%s\"\n", slash ? (int)(slash - scene->xml) : 0, scene->xml,
            scene->caption ? scene->caption : "");
  }
  for (int i = 0; i < nplay && !failed; i++) {
    if (play[i].own) {
      fprintf(differences->file, "\"%s\",%.3g,%g,%d\n", caseName(&play[i]), play[i].difference, scene->tolerance,
              agrees(&play[i]));
    }
  }
  for (int i = 0; i < claims->n && !failed; i++) {
    fprintf(table->file, "%d,\"%s\"\n", claims->claim[i].holds, claims->claim[i].text);
  }
  failed |= closeResult(about, scene->name, "about.csv", !failed) != 0;
  failed |= closeResult(differences, scene->name, "differences.csv", !failed) != 0;
  return closeResult(table, scene->name, "claims.csv", !failed) || failed;
}

//---------------------------------- running -------------------------------------------------------

// play all steps of an opened case, and write each if output is not null; 0: done
static int playSteps(mjgPlay* play, mjgOutput* output, int keep, double done, double share, const char* label) {
  char error[ERROR];
  double duration = options.duration > 0 ? options.duration : play->scene->duration;
  long nstep = lround(duration / play->m->opt.timestep);
  int failed = 0;
  FILE* file = output ? output->file : NULL;
  if (file && options.npy) {
    mjg_writeHead(&play->trajectory, nstep, file);
  } else if (file) {
    mjg_writeNames(&play->trajectory, file);
  }
  for (long i = 0; i < nstep && !failed && !(file && ferror(file)); i++) {
    if (!keep) {
      mjg_clearRows(&play->trajectory);
    }
    failed = mjg_stepPlay(play, error, ERROR);
    if (file && !failed) {
      (options.npy ? mjg_writeLastNumbers : mjg_writeLastRow)(&play->trajectory, file);
    }
    if (!options.quiet) {
      mjg_showProgress(done + share * (double)(i + 1) / (double)nstep, label);
    }
  }
  mjg_clearProgress();
  if (failed) {
    complain("%s: %s", label, error);
  }
  return failed;
}

// play one case from its beginning to its end; its rows are kept if wanted, its model is not. 0: done
static int runCase(mjgPlay* play, const mjgScene* scene, const mjgCase* variant, int keep, double done, double share) {
  char error[ERROR] = "not enough memory", label[2 * mjgMAXNAME];
  snprintf(label, sizeof label, "%s%s%s", scene->name, variant ? " " : "", variant ? variant->name : "");
  mjModel* m = mjg_loadScene(scene, variant, options.settings.setting, options.settings.n, error, ERROR);
  mjData* d = m ? mjg_startScene(m) : NULL;

  // the separate integration has the settings of the file, not these
  if (!d || mjg_openPlay(play, scene, variant, m, d, !options.settings.n, error, ERROR)) {
    complain("%s", error);
    mj_deleteData(d);
    mj_deleteModel(m);
    return -1;
  }

  char name[mjgMAXNAME];
  snprintf(name, sizeof name, "%s.%s", variant ? variant->name : "run", options.npy ? "npy" : "csv");
  mjgOutput* output = options.out ? openResult(scene->name, name) : NULL;
  int failed = options.out && !output;
  failed = failed || (output && writeJoints(scene, m));
  failed = failed || playSteps(play, output, keep, done, share, label);
  if (closeResult(output, scene->name, name, !failed)) {
    failed = -1;
  }
  mj_deleteData(d);
  mj_deleteModel(m);
  play->m = NULL;
  play->d = NULL;
  return failed;
}

// print the claims of a scene
static void report(const mjgScene* scene, const mjgPlay* play, int nplay, const mjgClaims* claims) {
  if (!options.quiet) {
    printf("%s%s%s\n", scene->name, scene->caption ? ": " : "", scene->caption ? scene->caption : "");
  }
  for (int i = 0; i < nplay; i++) {
    if (play[i].own && (!options.quiet || !agrees(&play[i]))) {
      printf("  %s  %s %s: largest difference from its own integration %.1e, allowed %.0e\n",
             agrees(&play[i]) ? "ok  " : "FAIL", scene->name, caseName(&play[i]), play[i].difference, scene->tolerance);
    }
  }
  for (int i = 0; i < claims->n; i++) {
    if (!options.quiet || !claims->claim[i].holds) {
      printf("  %s  %s\n", claims->claim[i].holds ? "ok  " : "FAIL", claims->claim[i].text);
    }
  }
}

// judge a scene whose cases were played, print and write the verdict; rows: whether
// claims have rows to look at. Returns an exit code.
static int judge(const mjgScene* scene, const mjgPlay* play, int nplay, int rows) {
  mjgTrajectory run[nplay];
  int nfailed = 0;
  for (int i = 0; i < nplay; i++) {
    run[i] = play[i].trajectory;
    nfailed += !agrees(&play[i]);
  }
  mjgClaims claims = {0};
  if (rows) {
    mjg_claimAll(&claims, scene, run);
  }
  nfailed += claims.nfailed;
  report(scene, play, nplay, &claims);
  if (options.out && writeTables(scene, play, nplay, &claims)) {
    nfailed++;
  }
  mjg_freeClaims(&claims);
  return nfailed ? FAILED : OK;
}

// play a scene in all cases that are wanted; returns an exit code
static int runScene(const mjgScene* scene, double done, double share) {
  int ncase = scene->nvariant ? scene->nvariant : 1, nplay = 0, failed = 0;
  mjgPlay play[ncase];

  // claims are about all cases, unchanged and complete; otherwise a row is forgotten once written,
  // so that a run may last for ever
  int keep = scene->claims && !options.variant && !options.settings.n && !(options.duration > 0);
  for (int i = 0; i < ncase && !failed; i++) {
    const mjgCase* variant = scene->nvariant ? &scene->variant[i] : NULL;
    if (options.variant && (!variant || strcmp(options.variant, variant->name))) {
      continue;
    }
    play[nplay] = (mjgPlay){0};
    failed = runCase(&play[nplay++], scene, variant, keep, done + share * i / ncase, share / ncase);
  }
  int code = failed ? FAILED : judge(scene, play, nplay, keep);
  for (int i = 0; i < nplay; i++) {
    mjg_closePlay(&play[i]);
  }
  return code;
}

// the engine's warnings, one line each
static void warning(const char* text) { complain("%s", text); }

int main(int argc, char** argv) {
  mjg_mindStandardOutput("mjgear-run");
  memset(&options, 0, sizeof options);
  options.out = "results";
  int code = parse(argc, argv);
  if (code >= 0) {
    return code;
  }

  mju_user_warning = warning;
  char error[ERROR];
  if (mjg_loadPlugin(options.plugin, error, ERROR)) {
    complain("%s", error);
    return FAILED;
  }

  code = OK;
  for (int i = 0; i < options.nscene; i++) {
    int result = runScene(options.scene[i], (double)i / options.nscene, 1.0 / options.nscene);
    code = result == OK ? code : result;
    fflush(stdout);
  }
  return code;
}
