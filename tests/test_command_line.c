// Options anywhere, values in both forms, and one line for each mistake.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "command_line.h"

enum {
  HELP = 1,
  QUIET,
  OUT
};
static const struct option known[] = {{"help", no_argument, NULL, HELP},
                                      {"out", required_argument, NULL, OUT},
                                      {"quiet", no_argument, NULL, QUIET},
                                      {0}};


// read all options of a line; the last value that is not -1, values of --out joined
static int read(char text[400], int* words, int n, char** argv) {
  char error[300] = "";
  int option, last = -1;
  optind = 0;  // parse from the start
  text[0] = 0;
  while ((option = mjg_nextOption(error, sizeof(error), n, argv, known)) != -1) {
    last = option;
    if (option == mjgWRONG_OPTION) {
      snprintf(text, 400, "%s", error);
      break;
    }
    snprintf(text + strlen(text), 100, "%d%s ", option, option == OUT ? optarg : "");
  }
  *words = n - optind;
  return last;
}


static void optionsStandAnywhere(void** state) {
  (void)state;
  char text[400];
  int words;
  char* line[] = {"program", "rod",     "--out", "-",       "wall",
                  "--quiet", "--out=x", "--",    "--quiet", NULL};
  assert_int_equal(read(text, &words, 9, line), OUT);
  assert_string_equal(text, "3- 2 3x ");
  assert_int_equal(words, 3);
  char* help[] = {"program", "-h", NULL};
  assert_int_equal(read(text, &words, 2, help), HELP);
}


static void mistakesAreNamed(void** state) {
  (void)state;
  static const char* const wrong[][2] = {
      {"--qiet", "unknown option '--qiet'; did you mean --quiet"},
      {"--frobnicate", "unknown option '--frobnicate'; --help lists all"},
      {"-x",
       "unknown option '-x'; --help lists all, and a file whose name begins with - stands behind "
       "--"},
      {"--out", "option '--out' needs a value; --help lists all"},
      {"--quiet=3", "option '--quiet=3' takes no value"},
  };
  for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
    char text[400], word[40];
    int words;
    snprintf(word, sizeof(word), "%s", wrong[i][0]);
    char* line[] = {"program", word, NULL};
    assert_int_equal(read(text, &words, 2, line), mjgWRONG_OPTION);
    assert_string_equal(text, wrong[i][1]);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(optionsStandAnywhere),
                                     cmocka_unit_test(mistakesAreNamed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
