// Words and numbers of a configuration, and messages about unknown ones.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "configuration/parsing.h"
#include "plugin_models.h"


// the words of a text, each in brackets
static void wordsAre(const char* text, const char* expected) {
  char found[200] = "";
  int length, n = 0;
  const char *rest = text, *word;
  while ((word = mjgp_nextWord(&length, &rest))) {
    size_t used = strlen(found);
    snprintf(found + used, sizeof(found) - used, "[%.*s]", length, word);
    n++;
  }
  assert_string_equal(found, expected);
  assert_int_equal(mjgp_countWords(text), n);
}


static void test_words(void** state) {
  wordsAre("", "");
  wordsAre(" \t\r\n", "");
  wordsAre("one", "[one]");
  wordsAre("  one\ttwo\nthree ", "[one][two][three]");

  // quotes hold spaces and the other quote; one that does not end holds the rest; an empty one is a word
  wordsAre("'left hip' \"right hip\"", "[left hip][right hip]");
  wordsAre("\"o'clock\" '6\"'", "[o'clock][6\"]");
  wordsAre("'left hip", "[left hip]");
  wordsAre("a '' b", "[a][][b]");
  wordsAre("o'clock", "[o'clock]");

  assert_true(mjgp_isNone("none", 4) && mjgp_isNone("none such", 4));
  assert_false(mjgp_isNone("nonesuch", 8) || mjgp_isNone("None", 4) || mjgp_isNone("non", 3));
}


// a model whose instance has a value for gamma_u, and a place in it that reports into text
static mjgpPlace placeOf(mjModel** m, mjgReport* report, char* text, int size, const char* value) {
  *m = makeModel(
      "<mujoco><extension><plugin plugin='mjgear.transmission'><instance name='arm'>"
      "<config key='joint' value='a b'/><config key='gamma_u' value='%s'/>"
      "<config key='gamma_v' value='0.2'/></instance></plugin></extension><worldbody><body>"
      "<joint name='a'/><geom size='.1'/><body><joint name='b'/><geom size='.1'/></body></body>"
      "</worldbody></mujoco>",
      value);
  mjg_startReport(report, text, (size_t)size);
  return (mjgpPlace){*m, 0, "gamma_u", report, 0};
}


// a word as a number: its value, or its message without instance and key
static void numberIs(mjgpPlace* place, char* text, const char* word, double expected,
                     const char* says) {
  mjtNum number = -1;
  text[0] = 0;
  int refused = mjgp_readNumber(&number, word, (int)strlen(word), place);
  assert_int_equal(refused, says ? -1 : 0);
  if (says) {
    assert_non_null(strstr(text, "instance 'arm'"));
    assert_non_null(strstr(text, "key 'gamma_u'"));
    if (!strstr(text, says)) {
      fail_msg("'%s' is not in: %s", says, text);
    }
  } else {
    assert_true(number == expected);
  }
}


static void test_numbers(void** state) {
  char text[2000];
  mjgReport report;
  mjModel* m;
  mjgpPlace place = placeOf(&m, &report, text, sizeof(text), "0.1");
  static const char* const good[] = {"0", "-0.5", "1e-3", ".25", "4.", "+7"};
  static const double value[] = {0, -0.5, 1e-3, 0.25, 4, 7};
  for (int i = 0; i < 6; i++) {
    numberIs(&place, text, good[i], value[i], NULL);
  }
  static const char* const bad[] = {"x", "1x", "0,5", "", "1e", "--1"};
  for (int i = 0; i < 6; i++) {
    mjg_startReport(&report, text, sizeof(text));
    numberIs(&place, text, bad[i], 0, "is not a number");
  }
  static const char* const endless[] = {"inf", "nan", "1e999"};
  for (int i = 0; i < 3; i++) {
    mjg_startReport(&report, text, sizeof(text));
    numberIs(&place, text, endless[i], 0, "is not finite");
  }
  static const char* const large[] = {"1e101", "-1e308"};
  for (int i = 0; i < 2; i++) {
    mjg_startReport(&report, text, sizeof(text));
    numberIs(&place, text, large[i], 0, "check its unit");
  }
  char digits[200];
  memset(digits, '1', sizeof(digits) - 1);
  digits[sizeof(digits) - 1] = 0;
  mjg_startReport(&report, text, sizeof(text));
  numberIs(&place, text, digits, 0, "...' is not a number");
  mj_deleteModel(m);
}


// one value for all joints or one per joint; a single one for the whole model
static void test_counts(void** state) {
  static const char* const value[] = {"0.1", "0.1 0.2"};
  for (int given = 1; given <= 2; given++) {
    char text[2000];
    mjgReport report;
    mjModel* m;
    mjgpPlace place = placeOf(&m, &report, text, sizeof(text), value[given - 1]);
    for (int n = 1; n <= 3; n++) {
      int fits = given == 1 || given == n;
      mjg_startReport(&report, text, sizeof(text));
      mjtNum all[3] = {-1, -1, -1};
      assert_int_equal(mjgp_readValues(all, NULL, 0, n, &place), fits ? 1 : -1);
      for (int i = 0; i < n && fits; i++) {
        assert_true(all[i] == (given == 1 || i == 0 ? 0.1 : 0.2));
      }
      assert_int_equal(strstr(text, "give one value for all joints or one per joint") != NULL,
                       !fits);
    }
    mjtNum number = -1;
    mjg_startReport(&report, text, sizeof(text));
    assert_int_equal(mjgp_readValues(&number, NULL, 0, 0, &place), given == 1 ? 1 : -1);
    assert_true(number == (given == 1 ? 0.1 : -1));
    assert_int_equal(strstr(text, "give one for the whole model") != NULL, given != 1);

    // a key that is not given
    place.key = "mu";
    assert_string_equal(mjgp_value(&place), "");
    assert_int_equal(mjgp_readValues(&number, NULL, 0, 0, &place), 0);
    mj_deleteModel(m);
  }
}


static void test_choices(void** state) {
  static const char* const words[] = {"motor", "joint"};
  char text[2000];
  mjgReport report;
  mjModel* m;
  mjgpPlace place = placeOf(&m, &report, text, sizeof(text), "0.1");
  assert_int_equal(mjgp_findWord("joint", 5, words, 2, &place), 1);
  assert_string_equal(text, "");
  assert_int_equal(mjgp_findWord("joints", 6, words, 2, &place), -1);
  assert_non_null(strstr(text, "'joints' is unknown; choose one of: motor, joint"));
  assert_int_equal(mjgp_findWord("joint", 4, words, 2, &place), -1);

  // words as values of a key, for all joints and for one that does not know them
  static const char* const numbers[] = {"0.2", "0.1"};
  mjtNum value[3] = {-1, -1, -1};
  assert_int_equal(mjgp_readValues(value, numbers, 2, 3, &place), 1);
  assert_true(value[0] == 1 && value[1] == 1 && value[2] == 1);
  assert_int_equal(mjgp_readValues(value, words, 2, 3, &place), -1);
  mj_deleteModel(m);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_choices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
