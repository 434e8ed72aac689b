#include "command_line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mjgear_text.h"

#define MOST 64  // options of a program

// an unknown option, and the most similar known one
static void tellUnknown(char* error, size_t error_size, const char* text, const struct option* known) {
  char word[MOST][40];
  const char* words[MOST];
  int n = 0;
  for (; n < MOST && known[n].name; n++) {
    snprintf(word[n], sizeof(word[n]), "--%s", known[n].name);
    words[n] = word[n];
  }
  int nearest = mjg_nearest(text, words, n);
  snprintf(error, error_size, "unknown option '%.60s'; %s%s", text, nearest < 0 ? "--help lists all" : "did you mean ",
           nearest < 0 ? "" : words[nearest]);
}

int mjg_nextOption(char* error, size_t error_size, int argc, char** argv, const struct option* known) {
  const struct option* help = known;
  while (help->name && strcmp(help->name, "help") != 0) {
    help++;
  }
  opterr = 0;
  int found = getopt_long(argc, argv, help->name ? ":h" : ":", known, NULL);
  if (found == 'h' && help->name) {
    return help->val;
  }
  if (found != '?' && found != ':') {
    return found;
  }

  // the argument that was read; in a group of letters it is one letter
  const char letter[] = {'-', (char)optopt, 0};
  const char* text = argv[optind - 1];
  text = found == '?' && optopt && strncmp(text, "--", 2) ? letter : text;
  if (found == ':') {
    snprintf(error, error_size, "option '%.60s' needs a value; --help lists all", text);
  } else if (optopt && strchr(text, '=')) {
    snprintf(error, error_size, "option '%.60s' takes no value", text);
  } else {
    tellUnknown(error, error_size, text, known);
    if (text == letter) {
      snprintf(error, error_size,
               "unknown option '%s'; --help lists all, and a file whose name begins with - stands behind --", letter);
    }
  }
  return mjgWRONG_OPTION;
}

int mjg_readText(const mjgValue* value, char* word) {
  *(const char**)value->data = word;
  return 1;
}

int mjg_readReal(const mjgValue* value, char* word) {
  const char* end;
  double x = mjg_readNumber(word, &end);
  *(double*)value->data = x;
  return end != word && !*end && x >= value->least && x <= value->most;
}

int mjg_readWhole(const mjgValue* value, char* word) {
  double x = 0;
  const mjgValue real = {.data = &x, .least = value->least, .most = value->most};
  int flg_good = mjg_readReal(&real, word) && x == floor(x);
  *(int*)value->data = flg_good ? (int)x : 0;
  return flg_good;
}

int mjg_readSetting(mjgSetting* setting, char* text) {
  char* equals = strchr(text, '=');
  char* dot = strchr(text, '.');
  if (!equals || !dot || dot > equals || dot == text || dot + 1 == equals) {
    return -1;
  }
  *equals = *dot = 0;
  *setting = (mjgSetting){text, dot + 1, equals + 1};
  return 0;
}

int mjg_readSettings(const mjgValue* value, char* word) {
  mjgSettingList* list = value->data;
  return list->n < mjgMAXSETTING && !mjg_readSetting(&list->setting[list->n++], word);
}

int mjg_readOptions(char* error, size_t error_size, int argc, char** argv, const mjgValue* value, int nvalue,
                    const struct option* flags) {
  struct option known[MOST] = {{0}};
  for (int i = 0; i < nvalue; i++) {
    known[i] = (struct option){value[i].name, required_argument, NULL, i + 1};
  }
  for (int i = 0; flags[i].name; i++) {
    known[nvalue + i] = flags[i];
  }
  int which;
  while ((which = mjg_nextOption(error, error_size, argc, argv, known)) >= 0) {
    const mjgValue* read = which > 0 && which <= nvalue ? &value[which - 1] : NULL;
    if (read && !read->read(read, optarg)) {
      snprintf(error, error_size, "--%s does not take '%.200s'; --help lists what it takes", read->name, optarg);
      return mjgWRONG_OPTION;
    }
    if (which > nvalue) {
      return which;
    }
  }
  return which;
}
