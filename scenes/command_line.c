#include "command_line.h"

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
