#define _GNU_SOURCE  // dladdr
#include "load.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_line.h"
#include "mjgear_plugin.h"

#define PLUGIN "mjgear.transmission"

// path of a file as seen from the folder of the program; returns 1 if the file exists
static int besideProgram(char* path, size_t path_sz, const char* file) {
  ssize_t n = readlink("/proc/self/exe", path, path_sz - 1);
  path[n > 0 ? n : 0] = 0;
  char* slash = strrchr(path, '/');
  size_t room = slash ? path_sz - (size_t)(slash - path) : path_sz;
  snprintf(slash ? slash : path, room, "/%s", file);
  return !access(path, R_OK);
}

int mjg_loadPlugin(const char* file, char* error, int error_sz) {
  // folder beside the program, in the build tree or installed
  char path[4096];
  const char* chosen = file ? file : getenv("MJGEAR_PLUGIN");
  if (!chosen) {
    if (!besideProgram(path, sizeof path, "../" MJGEAR_LIBDIR "/libmjgear.so")) {
      besideProgram(path, sizeof path, "../lib/libmjgear.so");
    }
    chosen = path;
  }

  if (access(chosen, R_OK)) {
    snprintf(error, (size_t)error_sz, "plugin %s: %s; build it, or name it with --plugin", chosen, strerror(errno));
    return -1;
  }
  int slot;
  mj_loadPluginLibrary(chosen);
  if (!mjp_getPlugin(PLUGIN, &slot)) {
    snprintf(error, (size_t)error_sz, "plugin %s does not register " PLUGIN, chosen);
    return -1;
  }
  return 0;
}

int mjg_findFunction(void* function, const char* name) {
  // in the library that contains the plugin's own callbacks
  int slot;
  const mjpPlugin* plugin = mjp_getPlugin(PLUGIN, &slot);
  void *callback = NULL, *library = NULL, *symbol = NULL;
  Dl_info info;
  if (plugin) {
    memcpy(&callback, &plugin->init, sizeof callback);
  }
  if (callback && dladdr(callback, &info) && (library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD))) {
    symbol = dlsym(library, name);
    dlclose(library);
  }
  memcpy(function, &symbol, sizeof symbol);
  return symbol ? 0 : -1;
}

int mjg_hasFriction(const mjModel* m, const mjData* d, int joint) {
  static const char* const keys[] = {"gamma_u",          "gamma_v",          "coulomb",           "stribeck_friction",
                                     "gamma_u_stribeck", "gamma_v_stribeck", "gamma_u_quadratic", "gamma_v_quadratic"};
  __typeof__(mjg_getGear)* getGear;
  if (mjg_findFunction(&getGear, "mjg_getGear")) {
    return 0;
  }
  for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
    double value = 0;
    if (getGear(&value, m, d, joint, keys[i]) == 1 && value != 0) {
      return 1;
    }
  }
  return 0;
}

// folder of the scenes: from the environment, of the installation, or of the sources
static void scenesFolder(char* path, size_t path_sz) {
  const char* folder = getenv("MJGEAR_SCENES");
  if (folder || !besideProgram(path, path_sz, "../share/mjgear/scenes")) {
    snprintf(path, path_sz, "%s", folder ? folder : MJGEAR_SOURCE_DIR "/scenes");
  }
}

void mjg_scenePath(char* path, int path_sz, const mjgScene* scene) {
  char folder[4000];
  scenesFolder(folder, sizeof folder);
  if (scene->xml[0] == '/' || scene->xml[0] == '.') {
    snprintf(path, (size_t)path_sz, "%s", scene->xml);
  } else {
    snprintf(path, (size_t)path_sz, "%s/%s", folder, scene->xml);
  }
}

void mjg_sharedPath(char* path, int path_sz, const char* name) {
  char folder[4000];
  scenesFolder(folder, sizeof folder);
  snprintf(path, (size_t)path_sz, "%s/../%s", folder, name);
}

// content of a text file, to be freed; null with one line in error
static char* readFile(const char* path, char* error, int error_sz) {
  char* text = NULL;
  size_t room = 0;
  FILE* file = fopen(path, "rb");
  errno = file ? 0 : errno;
  ssize_t size = file ? getdelim(&text, &room, 0, file) : -1;  // as far as a byte of 0, which no text has
  int flg_zero = size > 0 && !text[size - 1];
  if (flg_zero || errno) {
    snprintf(error, (size_t)error_sz, "%s: %s", path,
             flg_zero ? "the file is no text, because it has bytes of 0" : strerror(errno));
    free(text);
    text = NULL;
  } else if (size < 0) {
    text[0] = 0;  // an empty file
  }
  if (file) {
    fclose(file);
  }
  return text;
}

//---------------------------------- changes to a text, before MuJoCo reads it ----------------------

// part of a text
typedef struct mjgSpan_ {
  const char* begin;
  const char* end;
} mjgSpan;

// the first tag at or after p, from '<' to behind '>'; comments are passed over; begin null: none
static mjgSpan nextTag(const char* p) {
  while ((p = strchr(p, '<')) && !strncmp(p, "<!--", 4)) {
    p = strstr(p, "-->");
    if (!p) {
      break;
    }
  }
  if (!p) {
    return (mjgSpan){NULL, NULL};
  }

  // a '>' inside quotes does not end the tag
  char quote = 0;
  for (const char* end = p; *end; end++) {
    if (quote) {
      quote = *end == quote ? 0 : quote;
    } else if (*end == '"' || *end == '\'') {
      quote = *end;
    } else if (*end == '>') {
      return (mjgSpan){p, end + 1};
    }
  }
  return (mjgSpan){NULL, NULL};
}

// returns 1 if a tag is of this kind, for example "config" or "/instance"
static int isTag(mjgSpan tag, const char* kind) {
  size_t n = strlen(kind);
  return !strncmp(tag.begin + 1, kind, n) && strchr(" \t\r\n/>", tag.begin[1 + n]) != NULL;
}

// text between the quotes of an attribute; begin null: the tag has no such attribute
static mjgSpan attribute(mjgSpan tag, const char* name) {
  size_t n = strlen(name);
  for (const char* p = tag.begin + 1; p < tag.end; p++) {
    // values are skipped, so that a name within one is not found
    if (*p == '"' || *p == '\'') {
      p = strchr(p + 1, *p);
      continue;
    }
    if (strchr(" \t\r\n", *p) && !strncmp(p + 1, name, n)) {
      const char* q = p + 1 + n;
      q += strspn(q, " \t\r\n");
      if (*q != '=') {
        continue;
      }
      q += 1 + strspn(q + 1, " \t\r\n");
      return (mjgSpan){q + 1, strchr(q + 1, *q)};
    }
  }
  return (mjgSpan){NULL, NULL};
}

static int equals(mjgSpan span, const char* text) {
  size_t n = strlen(text);
  return span.begin && (size_t)(span.end - span.begin) == n && !strncmp(span.begin, text, n);
}

// copy of the text with one part of it replaced by before, middle and after
static char* replace(const char* text, mjgSpan part, const char* before, const char* middle, const char* after) {
  size_t head = (size_t)(part.begin - text);
  size_t size = strlen(text) + strlen(before) + strlen(middle) + strlen(after) + 1;
  char* copy = malloc(size);
  if (copy) {
    memcpy(copy, text, head);
    snprintf(copy + head, size - head, "%s%s%s%s", before, middle, after, part.end);
  }
  return copy;
}

char* mjg_setConfig(const char* text, const mjgSetting* setting, char* error, int error_sz) {
  if (strpbrk(setting->value, "\"<&") || strpbrk(setting->key, "\"<&")) {
    snprintf(error, (size_t)error_sz, "setting %s.%s=%s: \" < & cannot be part of it", setting->instance, setting->key,
             setting->value);
    return NULL;
  }

  // entries of the instance
  int inside = 0;
  for (mjgSpan tag = nextTag(text); tag.begin; tag = nextTag(tag.end)) {
    if (isTag(tag, "instance") && tag.end[-2] != '/') {
      inside = equals(attribute(tag, "name"), setting->instance);
    }

    // an entry with that key
    else if (inside && isTag(tag, "config") && equals(attribute(tag, "key"), setting->key)) {
      mjgSpan value = attribute(tag, "value");
      if (value.begin) {
        return replace(text, value, "", setting->value, "");
      }
    }

    // none: add it
    else if (inside && isTag(tag, "/instance")) {
      char before[128];
      int n = snprintf(before, sizeof before, "<config key=\"%s\" value=\"", setting->key);
      if (n < 0 || n >= (int)sizeof before) {
        break;
      }
      return replace(text, (mjgSpan){tag.begin, tag.begin}, before, setting->value, "\"/>");
    }
  }

  // no instance: an attribute of the first element of that kind, or of that kind and name
  char kind[64], before[128];
  size_t n = strcspn(setting->instance, ":");
  const char* name = setting->instance[n] ? setting->instance + n + 1 : NULL;
  snprintf(kind, sizeof kind, "%.*s", (int)n, setting->instance);
  snprintf(before, sizeof before, " %s=\"", setting->key);
  for (mjgSpan tag = nextTag(text); tag.begin; tag = nextTag(tag.end)) {
    if (isTag(tag, kind) && (!name || equals(attribute(tag, "name"), name))) {
      mjgSpan value = attribute(tag, setting->key), end = {tag.begin + 1 + n, tag.begin + 1 + n};
      return value.begin ? replace(text, value, "", setting->value, "")
                         : replace(text, end, before, setting->value, "\"");
    }
  }
  snprintf(error, (size_t)error_sz, "setting %s.%s=%s: the file has no plugin instance and no element '%s'",
           setting->instance, setting->key, setting->value, setting->instance);
  return NULL;
}

// name of the next file that a text includes; end of it, null if there is none
static const char* nextInclude(const char* text, char* file, int file_sz) {
  for (mjgSpan tag = nextTag(text); tag.begin; tag = nextTag(tag.end)) {
    mjgSpan name = isTag(tag, "include") ? attribute(tag, "file") : (mjgSpan){NULL, NULL};
    if (name.begin && name.end && name.end - name.begin < file_sz) {
      snprintf(file, (size_t)file_sz, "%.*s", (int)(name.end - name.begin), name.begin);
      return tag.end;
    }
  }
  return NULL;
}

//---------------------------------- files ---------------------------------------------------------

// a file of a scene
typedef struct mjgPart_ {
  char path[4096];
  char* text;
  int changed;
} mjgPart;

#define MAXPART 16

// the scene's file and its includes, whose names are relative to the folder of the file. MuJoCo reports includes that
// cannot be read. 0: done
static int readParts(mjgPart* part, int* npart, const char* path, char* error, int error_sz) {
  char* text = readFile(path, error, error_sz);
  if (!text) {
    return -1;
  }
  *npart = 1;
  part[0] = (mjgPart){.text = text};
  snprintf(part[0].path, sizeof part->path, "%s", path);
  const char* slash = strrchr(path, '/');
  int folder = slash ? (int)(slash + 1 - path) : 0;
  for (int i = 0; i < *npart; i++) {
    char file[2048], reason[4200];
    for (const char* at = part[i].text; *npart < MAXPART && (at = nextInclude(at, file, sizeof file));) {
      mjgPart* next = &part[*npart];
      *next = (mjgPart){0};
      snprintf(next->path, sizeof next->path, "%.*s%s", file[0] == '/' ? 0 : folder, path, file);
      next->text = readFile(next->path, reason, sizeof reason);
      *npart += next->text != NULL;
    }
  }
  return 0;
}

// apply one setting to the part that has its instance; 0: done
static int apply(mjgPart* part, int npart, const mjgSetting* setting, char* error, int error_sz) {
  char reason[512], first[512] = "";
  for (int i = 0; i < npart; i++) {
    char* changed = mjg_setConfig(part[i].text, setting, i ? reason : first, sizeof reason);
    if (changed) {
      free(part[i].text);
      part[i].text = changed;
      part[i].changed = 1;
      return 0;
    }
  }
  snprintf(error, (size_t)error_sz, "%s: %s", part[0].path, first);
  return -1;
}

// the engine's reasons, which have several lines, in one behind the path
static void tell(char* error, int error_sz, const char* path, const char* reasons) {
  snprintf(error, (size_t)error_sz, "%s: %s", path, reasons);
  for (char* c = error; (c = strpbrk(c, "\r\n"));) {
    *c = ' ';
  }
}

// the file with the settings of the case, then of the command line; null with one line in error
static mjSpec* readSpec(const char* path, const mjgCase* variant, const mjgSetting* setting, int nsetting, char* error,
                        int error_sz) {
  mjgPart* part = malloc(MAXPART * sizeof *part);
  int npart = 0;
  if (!part || readParts(part, &npart, path, error, error_sz)) {
    free(part);
    return NULL;
  }
  int failed = 0;
  char text[1024], *rest = text;
  mjgSetting own;
  snprintf(text, sizeof text, "%s", variant && variant->settings ? variant->settings : "");
  for (char* word; !failed && (word = strtok_r(rest, ";", &rest));) {
    failed = mjg_readSetting(&own, word + strspn(word, " ")) || apply(part, npart, &own, error, error_sz);
  }
  for (int i = 0; i < nsetting && !failed; i++) {
    failed = apply(part, npart, &setting[i], error, error_sz);
  }

  // changed texts replace their files
  mjSpec* spec = NULL;
  if (!failed) {
    char reason[1024] = "";
    mjVFS vfs;
    mj_defaultVFS(&vfs);
    for (int i = 0; i < npart; i++) {
      if (i == 0 || part[i].changed) {
        mj_addBufferVFS(&vfs, part[i].path, part[i].text, (int)strlen(part[i].text));
      }
    }
    spec = mj_parseXML(path, &vfs, reason, sizeof reason);
    mj_deleteVFS(&vfs);
    if (!spec) {
      tell(error, error_sz, path, reason);
    }
  }
  for (int i = 0; i < npart; i++) {
    free(part[i].text);
  }
  free(part);
  return spec;
}

mjModel* mjg_loadScene(const mjgScene* scene, const mjgCase* variant, const mjgSetting* setting, int nsetting,
                       char* error, int error_sz) {
  char path[4096];
  mjg_scenePath(path, sizeof path, scene);
  variant = !variant && scene->nvariant ? &scene->variant[0] : variant;
  mjSpec* spec = readSpec(path, variant, setting, nsetting, error, error_sz);
  if (!spec) {
    return NULL;
  }
  if (scene->specify) {
    scene->specify(spec, variant);
  }
  mjModel* m = mj_compile(spec, NULL);
  if (!m) {
    tell(error, error_sz, path, mjs_getError(spec));
  } else if (scene->configure) {
    scene->configure(m, variant);
  }
  mj_deleteSpec(spec);
  return m;
}

int mjg_startKey(const mjModel* m) {
  int key = mj_name2id(m, mjOBJ_KEY, "start");
  key = key < 0 ? mj_name2id(m, mjOBJ_KEY, "home") : key;
  return key < 0 && m->nkey > 0 ? 0 : key;
}

mjData* mjg_startScene(const mjModel* m) {
  mjData* d = mj_makeData(m);
  int key = mjg_startKey(m);
  if (d && key >= 0) {
    mj_resetDataKeyframe(m, d, key);
  }
  return d;
}
