// Fuzzer of a program's command line: bytes become words, most of them such as its own
// help has, and main is called. It returns one of its exit codes. Errors are lines on standard
// error that begin with its name. JSON output is valid JSON and MJCF is valid XML, with
// any names in it. Files are written in a folder of the fuzzer alone.
//   MJGEAR_PROGRAM        name of the program, with which its messages begin
//   MJGEAR_EXIT_MOST      its largest exit code
// Linked with main renamed to mjgi_main, and with what would go beyond a command line
// replaced: Python, windows, the plugin, a million problems.

#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <getopt.h>
#include <sanitizer/common_interface_defs.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mujoco/mujoco.h>

#define CLAIM(condition, ...)                                           \
  do {                                                                  \
    if (!(condition)) {                                                 \
      dprintf(screen, "%s:%d: %s\n  ", __FILE__, __LINE__, #condition); \
      dprintf(screen, __VA_ARGS__);                                     \
      dprintf(screen, "\n  after: %s\n", line);                         \
      abort();                                                          \
    }                                                                   \
  } while (0)

enum {
  MOSTWORDS = 24,
  MOSTTERMS = 1000,
  WORD = 200,
  ROOM = 1 << 20
};

int mjgi_main(int argc, char** argv);

static int screen = 2;  // standard error of the fuzzer
static char line[MOSTWORDS * WORD * 5];


//---------------------------------- what is replaced ----------------------------------------------

static jmp_buf back;
static int inside;  // 1: the program is at work, not the fuzzer around it

_Noreturn void __real_exit(int code);
int __real_atexit(void (*function)(void));
_Noreturn void __wrap_exit(int code);
int __wrap_atexit(void (*function)(void));
int __wrap_runPython(char** argv);
int __wrap_mjg_loadPlugin(const char* file, char* error, int error_sz);
int __wrap_mjg_randomProblem(void* record, int kind, int n, void* random);

_Noreturn void __wrap_exit(int code) {
  if (!inside) {
    __real_exit(code);
  }
  longjmp(back, code + 1);
}

int __wrap_atexit(void (*function)(void)) {
  return inside ? !function : __real_atexit(function);
}

int __wrap_runPython(char** argv) {
  return !argv[0];
}

int __wrap_mjg_loadPlugin(const char* file, char* error, int error_sz) {
  snprintf(error, (size_t)error_sz, "plugin %.100s: none in this fuzzer", file ? file : "");
  return -1;
}

int __wrap_mjg_randomProblem(void* record, int kind, int n, void* random) {
  (void)record, (void)kind, (void)n, (void)random;
  return 0;
}

static void stopEngine(const char* text) {
  fprintf(stderr, MJGEAR_PROGRAM ": %s\n", text);
  longjmp(back, 2);
}


//---------------------------------- words ---------------------------------------------------------

static char term[MOSTTERMS][WORD];
static int nterm;

static void addTerm(const char* text, size_t size) {
  if (size && size < WORD && nterm < MOSTTERMS) {
    memcpy(term[nterm], text, size);
    term[nterm++][size] = 0;
  }
}


// printed text of a call; both descriptors are files in memory
typedef struct Said_ {
  int file;
  char* text;
} Said;
static Said said[2];


static void collect(Said* said_) {
  ssize_t size = pread(said_->file, said_->text, ROOM - 1, 0);
  said_->text[size > 0 ? size : 0] = 0;
}


// main with words; its exit code
static int call(int argc, char** argv) {
  int kept[2] = {dup(1), dup(2)}, code;
  fflush(stdout);
  fflush(stderr);
  for (int i = 0; i < 2; i++) {
    CLAIM(!ftruncate(said[i].file, 0), "no file in memory");
    lseek(said[i].file, 0, SEEK_SET);
    dup2(said[i].file, 1 + i);
  }
  optind = 0;  // parse from the start
  int jump = setjmp(back);
  inside = !jump;
  code = jump ? jump - 1 : mjgi_main(argc, argv);
  inside = 0;
  fflush(stdout);
  fflush(stderr);
  for (int i = 0; i < 2; i++) {
    dup2(kept[i], 1 + i);
    close(kept[i]);
    collect(&said[i]);
  }
  return code;
}


// words of the program (of its help and lists), and unknown words
static void learn(void) {
  static char* const asks[][3] = {{MJGEAR_PROGRAM, "--help", NULL},
                                  {MJGEAR_PROGRAM, "--list", NULL},
                                  {MJGEAR_PROGRAM, "keys", NULL},
                                  {MJGEAR_PROGRAM, "presets", NULL}};
  static const char* const others[] = {"--",
                                       "-",
                                       "-x",
                                       "--=",
                                       "--joint",
                                       "=",
                                       "=1",
                                       "good.xml",
                                       "broken.xml",
                                       "missing.xml",
                                       ".",
                                       "empty",
                                       "/dev/full",
                                       "a.svg",
                                       "gone/a.svg",
                                       "nan",
                                       "-inf",
                                       "1e999",
                                       "0x10",
                                       "1e-320",
                                       "5deg",
                                       "3Ncm",
                                       "80%",
                                       "1,5",
                                       "'",
                                       "\"",
                                       "<&>",
                                       "%s%n",
                                       "\xc3\xa4",
                                       "\xff\xfe",
                                       "explain",
                                       "convert",
                                       "mjcf",
                                       "draw",
                                       "check",
                                       "type=worm",
                                       "eta_forward=.8",
                                       "gamma_u=.1",
                                       "gamma_v=.4",
                                       "backlash=exact",
                                       "half_gap=1deg",
                                       "stiffness=100",
                                       "gears.coulomb=1",
                                       "..=",
                                       "i.=",
                                       "newton",
                                       "1-12",
                                       "12-1",
                                       "all,random",
                                       "problems.txt",
                                       "64x64",
                                       "frictionloss=2",
                                       "a.png",
                                       "a.mp4",
                                       "a.csv",
                                       "--json"};
  for (size_t i = 0; i < sizeof(asks) / sizeof(*asks); i++) {
    char* argv[3] = {asks[i][0], asks[i][1], NULL};
    call(2, argv);
    for (const char* p = said[0].text; *p;) {
      p += strspn(p, " \n\t|,;()[]");
      size_t size = strcspn(p, " \n\t|,;()[]");
      addTerm(p, size);
      p += size;
    }
  }
  for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
    addTerm(others[i], strlen(others[i]));
  }
}


static void writeFile(const char* name, const char* text) {
  FILE* file = fopen(name, "w");
  if (file) {
    fputs(text, file);
    fclose(file);
  }
}


static void prepare(void) {
  static char folder[] = "/tmp/mjgear-fuzz-XXXXXX";
  screen = dup(2);
  __sanitizer_set_report_fd((void*)(intptr_t)screen);  // NOLINT(performance-no-int-to-ptr)
  for (int i = 0; i < 2; i++) {
    said[i] = (Said){memfd_create("said", 0), malloc(ROOM)};
    CLAIM(said[i].file >= 0 && said[i].text, "no file in memory");
  }
  CLAIM(mkdtemp(folder) && !chdir(folder), "no folder %s", folder);
  writeFile("empty", "");
  writeFile("broken.xml", "<mujoco><worldbody><body>");
  writeFile("good.xml",
            "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='g'>"
            "<config key='joint' value='j'/><config key='eta_forward' value='.8'/></instance>"
            "</plugin></extension><worldbody><body><joint name='j' armature='.1'/>"
            "<geom size='.1'/></body></worldbody></mujoco>");
  writeFile("problems.txt", "mjgear-problems 1\n");
  mju_user_error = stopEngine;
  learn();
}


// one word: a term, two of them with '=' or a comma between, or any bytes; without a
// folder of somebody else
static size_t takeWord(char word[WORD], const uint8_t* data, size_t size) {
  size_t used = 0;
  word[0] = 0;
  if (size < 3) {
    return size;
  }
  int kind = data[used++];
  if (kind < 240) {
    const char* first = term[(data[1] | kind << 8) % nterm];
    const char* second = term[(data[2] | (kind >> 3) << 8) % nterm];
    const char* between = kind < 120 ? "" : kind < 200 ? "=" : kind < 220 ? "," : "/";
    snprintf(word, WORD, "%s%s%.80s", first, between, kind < 120 ? "" : second);
    used = 3;
  } else {
    size_t length = data[used++] % 40;
    for (size_t i = 0; i < length && used < size; i++) {
      word[i] = (char)(data[used] ? data[used] : ' ');
      word[i + 1] = 0;
      used++;
    }
  }
  if (strchr(word, '/') && strcmp(word, "/dev/full") != 0) {
    for (char* p = word; (p = strchr(p, '/'));) {
      *p = '_';
    }
  }
  return used;
}


//---------------------------------- claims --------------------------------------------------------

static const char* skipValue(const char* p, int depth);

static const char* skipSpace(const char* p) {
  return p + strspn(p, " \n\t\r");
}


static const char* skipString(const char* p) {
  CLAIM(*p == '"', "no string at '%.40s'", p);
  for (p++; *p != '"'; p++) {
    CLAIM((unsigned char)*p >= ' ', "a control character in a string");
    if (*p == '\\') {
      p++;
      CLAIM(*p && strchr("\"\\/bfnrtu", *p), "a backslash before '%c'", *p);
    }
  }
  return p + 1;
}


// behind an object or a list
static const char* skipMembers(const char* p, char close, int depth) {
  p = skipSpace(p + 1);
  while (*p != close) {
    if (close == '}') {
      p = skipSpace(skipString(p));
      CLAIM(*p == ':', "no colon at '%.40s'", p);
      p = skipSpace(p + 1);
    }
    p = skipSpace(skipValue(p, depth + 1));
    CLAIM(*p == ',' || *p == close, "no comma at '%.40s'", p);
    if (*p == ',') {
      p = skipSpace(p + 1);
      CLAIM(*p != close, "a comma at the end");
    }
  }
  return p + 1;
}


static const char* skipValue(const char* p, int depth) {
  CLAIM(depth < 20, "too deep");
  if (*p == '{' || *p == '[') {
    return skipMembers(p, *p == '{' ? '}' : ']', depth);
  }
  if (*p == '"') {
    return skipString(p);
  }
  static const char* const names[] = {"true", "false", "null"};
  for (int i = 0; i < 3; i++) {
    if (!strncmp(p, names[i], strlen(names[i]))) {
      return p + strlen(names[i]);
    }
  }
  CLAIM(*p == '-' || isdigit((unsigned char)*p), "no value at '%.40s'", p);
  size_t length = strspn(p, "+-.0123456789eE");
  CLAIM(length, "no number at '%.40s'", p);
  return p + length;
}


// text printed for pasting is XML
static void claimXml(const char* text) {
  static char model[ROOM + 100], error[1000];
  snprintf(model, sizeof(model), "<mujoco>%s</mujoco>", text);
  error[0] = 0;
  mjSpec* spec = NULL;
  if (!setjmp(back)) {
    spec = mj_parseXMLString(model, NULL, error, sizeof(error));
  }
  mj_deleteSpec(spec);
  CLAIM(!strstr(error, "parse error"), "%s in\n%s", error, text);
}


int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static char word[MOSTWORDS][WORD];
  static int prepared;
  if (!prepared++) {
    prepare();
  }
  char* argv[MOSTWORDS + 2] = {MJGEAR_PROGRAM};
  int argc = 1, json = 0;
  line[0] = 0;
  while (size > 2 && argc < MOSTWORDS) {
    size_t used = takeWord(word[argc], data, size);
    data += used;
    size -= used;
    json |= !strcmp(word[argc], "--json");
    snprintf(line + strlen(line), sizeof(line) - strlen(line), " '%s'", word[argc]);
    argv[argc] = word[argc];
    argc++;
  }
  int code = call(argc, argv);
  CLAIM(code >= 0 && code <= MJGEAR_EXIT_MOST, "exit code %d", code);
  CLAIM(!code || said[0].text[0] || said[1].text[0], "exit code %d, and no word", code);
  for (int i = 0; i < 2; i++) {
    CLAIM(!strstr(said[i].text, "(null)") || strstr(line, "(null)"), "%s", said[i].text);
  }
  if (json && said[0].text[0] && strchr("{[", said[0].text[0])) {
    const char* end = skipSpace(skipValue(said[0].text, 0));
    CLAIM(!*end, "'%.40s' behind the JSON", end);
  }
  if (!json && argc > 1 && !strcmp(argv[1], "mjcf") && !code && said[0].text[0] == '<') {
    claimXml(said[0].text);
  }
  return 0;
}
