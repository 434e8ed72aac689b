// The problem file: a written file is read back bit for bit, and mistakes are refused with a line
// that says where.

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chains.h"
#include "problem_file.h"
#include "problems.h"
#include "system.h"


static void openText(mjgReader* reader, const char* text) {
  mjg_openReader(reader, text, strlen(text));
}


// the example of PROBLEM_FORMAT.md, spread over lines in another way
static void readsExample(void** state) {
  mjgReader reader;
  mjgRecord record = {0};
  openText(
      &reader,
      "# comment first\n mjgear-problems\t1 problem example-2#name\r\n n 2 v .25 -1 A 0.02 -5e-3\n"
      "-0.005\n+0.04 beta 1.2 0.3 phi 12 3.5 # and\nalpha 40 1e-3 end");
  assert_int_equal(mjg_readProblem(&record, &reader), 1);
  assert_string_equal(record.name, "example-2");
  assert_int_equal(record.problem.n, 2);
  assert_int_equal(record.problem.nblock, 0);
  assert_null(record.problem.P);
  assert_null(record.problem.coulomb);
  const double v[] = {0.25, -1}, A[] = {0.02, -0.005, -0.005, 0.04}, phi[] = {12, 3.5};
  const double alpha[] = {40, 1e-3}, beta[] = {1.2, 0.3};
  assert_memory_equal(record.problem.v, v, sizeof(v));
  assert_memory_equal(record.problem.A, A, sizeof(A));
  assert_memory_equal(record.problem.phi, phi, sizeof(phi));
  assert_memory_equal(record.problem.alpha, alpha, sizeof(alpha));
  assert_memory_equal(record.problem.beta, beta, sizeof(beta));
  assert_int_equal(mjg_readProblem(&record, &reader), 0);
  assert_string_equal(reader.error, "");
  assert_null(record.v);
}


static void readsBlocksAndOptionalFields(void** state) {
  mjgReader reader;
  mjgRecord record = {0};
  openText(
      &reader,
      "mjgear-problems 1\nproblem a n 3 block 2 1 v 1 2 3 A 1 2 3 4 5 phi 0 0 0 P 6 7 8 9 10 "
      "coulomb 0 1 2 static_ratio 1 1.5 2 v0 -1 0 1 t_start 4 5 6 mode_start -1 0 1 t 7 8 9 end "
      "problem b n 1 v 1 A 1 phi 1 P 1 end");
  assert_int_equal(mjg_readProblem(&record, &reader), 1);
  assert_int_equal(record.problem.nblock, 2);
  assert_int_equal(record.problem.block[0], 2);
  assert_int_equal(record.problem.block[1], 1);
  assert_int_equal(mjg_countEntries(&record.problem), 5);
  assert_true(record.problem.A[4] == 5 && record.problem.P[4] == 10);
  assert_true(record.problem.coulomb[2] == 2 && record.problem.static_ratio[1] == 1.5);
  assert_true(record.problem.v0[0] == -1 && record.t_start[1] == 5 && record.t[2] == 9);
  assert_true(record.mode_start[0] == -1 && record.mode_start[2] == 1);
  assert_int_equal(mjg_readProblem(&record, &reader), 1);
  assert_string_equal(record.name, "b");
  assert_null(record.t);
  assert_int_equal(mjg_readProblem(&record, &reader), 0);
}


// each text is refused with this message, and reading on gives the same answer
static void refusesWithLine(void** state) {
  static const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"", "line 1: a problem file starts with 'mjgear-problems 1'"},
      {"\n\nproblem a", "line 3: a problem file starts with 'mjgear-problems 1'"},
      {"mjgear-problems 2", "line 1: the version is '2', expected an integer from 1 to 1"},
      {"mjgear-problems", "line 1: the text ends where the version was expected"},
      {"mjgear-problems 1\nn 1", "line 2: 'n' where 'problem' was expected"},
      {"mjgear-problems 1\nproblem", "line 2: the text ends where a name was expected"},
      {"mjgear-problems 1\nproblem a\nv 1", "line 3: 'v' before n; the first field must be n"},
      {"mjgear-problems 1 problem a n 0", "line 1: n is '0', expected an integer from 1 to 65536"},
      {"mjgear-problems 1 problem a n 1.5",
       "line 1: n is '1.5', expected an integer from 1 to 65536"},
      {"mjgear-problems 1 problem a n 99999999999999999999",
       "line 1: n is '99999999999999999999', expected an integer from 1 to 65536"},
      {"mjgear-problems 1 problem a n 1 n 1", "line 1: n is given twice"},
      {"mjgear-problems 1 problem a n 2\nv 1\nphi 1 2 end", "line 3: v has 1 numbers, expected 2"},
      {"mjgear-problems 1 problem a n 2 v 1 2 3", "line 1: v has more than its 2 numbers"},
      {"mjgear-problems 1 problem a n 1 v 1 v 1", "line 1: v is given twice"},
      {"mjgear-problems 1 problem a n 1 v nan", "line 1: v has 0 numbers, expected 1"},
      {"mjgear-problems 1 problem a n 1 v -inf", "line 1: '-inf' is not a decimal number"},
      {"mjgear-problems 1 problem a n 1 v 0x10", "line 1: '0x10' is not a decimal number"},
      {"mjgear-problems 1 problem a n 1 v 1,5", "line 1: '1,5' is not a decimal number"},
      {"mjgear-problems 1 problem a n 1 v 1e999", "line 1: '1e999' is too large for a double"},
      {"mjgear-problems 1 problem a n 1 torque 1", "line 1: unknown field 'torque'"},
      {"mjgear-problems 1 problem a n 3 block 2 2",
       "line 1: a block size is '2', expected an integer from 1 to 1"},
      {"mjgear-problems 1 problem a n 3 block 2 v 1 2 3",
       "line 1: block sizes add up to 2, expected n = 3"},
      {"mjgear-problems 1 problem a n 1 A 1 block 1",
       "line 1: block must come once, before A and P"},
      {"mjgear-problems 1 problem a n 65536 A 1",
       "line 1: A would have 4294967296 entries, at most 16777216 are read; give block sizes"},
      {"mjgear-problems 1 problem a n 1 mode_start 2",
       "line 1: mode_start has 2, expected -1, 0 or 1"},
      {"mjgear-problems 1 problem a n 1 v 1 A 1 end", "line 1: problem 'a' lacks phi"},
      {"mjgear-problems 1 problem a end", "line 1: problem 'a' lacks n"},
      {"mjgear-problems 1 problem a n 1 v 1 A 1 phi 1 alpha 1 end",
       "line 1: problem 'a' needs P, or alpha and beta"},
      {"mjgear-problems 1 problem a n 1 v 1 A 1 phi 1 P 1 beta 1 end",
       "line 1: problem 'a' has P and also alpha or beta; give one of them"},
      {"mjgear-problems 1 problem a n 1 v 1 A 1 phi 1 P 1 coulomb -1 end",
       "line 1: problem 'a' has coulomb -1, expected >= 0"},
      {"mjgear-problems 1 problem a n 1 v 1 A 1 phi 1 P 1 static_ratio 0.5 end",
       "line 1: problem 'a' has static_ratio 0.5, expected >= 1"},
      {"mjgear-problems 1 problem a n 1 v 1 A 1 phi 1 P 1",
       "line 1: the text ends inside problem 'a'; 'end' is missing"},
      {"mjgear-problems 1 \x01", "line 1: byte 0x01 is not printable ASCII"},
      {"mjgear-problems 1 problem a n 1 v "
       "1000000000000000000000000000000000000000000000000000000000000000000",
       "line 1: a word has more than 63 characters"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    mjgReader reader;
    mjgRecord record = {0};
    openText(&reader, cases[i].text);
    assert_int_equal(mjg_readProblem(&record, &reader), -1);
    assert_string_equal(reader.error, cases[i].error);
    assert_null(record.v);
    assert_null(record.block);
    assert_int_equal(mjg_readProblem(&record, &reader), -1);
    assert_string_equal(reader.error, cases[i].error);
  }
}


// every beginning of a good file is read without harm
static void survivesTruncation(void** state) {
  const char* text =
      "mjgear-problems 1\nproblem a n 3 block 2 1 v 1 2 3 A 1 2 3 4 5 phi 0 0 0 P 6 7 8 9 10\n"
      "coulomb 0 1 2 static_ratio 1 1.5 2 v0 -1 0 1 t_start 4 5 6 mode_start -1 0 1 t 7 8 9 end";
  mjgRecord record = {0};
  for (size_t size = 0; size <= strlen(text); size++) {
    char* copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    mjgReader reader;
    mjg_openReader(&reader, copy, size);
    int found = mjg_readProblem(&record, &reader);
    if (size == strlen(text)) {
      assert_int_equal(found, 1);
    } else if (size < strlen("mjgear-problems 1") || size > strlen("mjgear-problems 1\n")) {
      assert_int_equal(found, -1);
      assert_non_null(strstr(reader.error, "line "));
    } else {
      assert_int_equal(found, 0);
    }
    free(copy);
  }
  mjg_clearRecord(&record);
}


static void compareNumbers(const double* a, const double* b, size_t count) {
  assert_int_equal(a == NULL, b == NULL);
  if (a) {
    assert_memory_equal(a, b, count * sizeof(double));
  }
}


// write a problem and read it back; the bits must be the same
static void roundTrip(const mjgRecord* record) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  assert_non_null(file);
  assert_int_equal(mjg_writeHeader(file), 0);
  assert_int_equal(mjg_writeProblem(file, record->name, &record->problem, record->t_start,
                                    record->mode_start, record->t),
                   0);
  fclose(file);

  mjgReader reader;
  mjgRecord copy = {0};
  mjg_openReader(&reader, text, size);
  assert_int_equal(mjg_readProblem(&copy, &reader), 1);
  size_t n = (size_t)record->problem.n, entries = mjg_countEntries(&record->problem);
  assert_string_equal(copy.name, record->name);
  assert_int_equal(copy.problem.n, record->problem.n);
  assert_int_equal(copy.problem.nblock, record->problem.nblock);
  if (record->problem.nblock) {
    assert_memory_equal(copy.problem.block, record->problem.block,
                        (size_t)record->problem.nblock * sizeof(int));
  }
  compareNumbers(copy.problem.v, record->problem.v, n);
  compareNumbers(copy.problem.A, record->problem.A, entries);
  compareNumbers(copy.problem.phi, record->problem.phi, n);
  compareNumbers(copy.problem.P, record->problem.P, entries);
  compareNumbers(copy.problem.alpha, record->problem.alpha, n);
  compareNumbers(copy.problem.beta, record->problem.beta, n);
  compareNumbers(copy.problem.coulomb, record->problem.coulomb, n);
  compareNumbers(copy.problem.static_ratio, record->problem.static_ratio, n);
  compareNumbers(copy.problem.v0, record->problem.v0, n);
  compareNumbers(copy.t_start, record->t_start, n);
  compareNumbers(copy.t, record->t, n);
  assert_int_equal(copy.mode_start == NULL, record->mode_start == NULL);
  if (record->mode_start) {
    assert_memory_equal(copy.mode_start, record->mode_start, n * sizeof(int));
  }
  mjg_clearRecord(&copy);
  free(text);
}


static void roundTripsEveryKind(void** state) {
  mjgRandom random = {1};
  mjgRecord record = {0};
  for (int kind = 0; kind < mjgNKIND; kind++) {
    for (int n = 1; n <= 40; n += 13) {
      assert_int_equal(mjg_randomProblem(&record, kind, n, &random), 1);
      roundTrip(&record);
    }
  }
  mjg_clearRecord(&record);
}


// numbers at the ends of a double's range, and blocks, modes and a start
static void roundTripsExtremeNumbers(void** state) {
  double numbers[] = {0.1,     -0.0, DBL_MAX, -DBL_MIN, DBL_TRUE_MIN, 1 + DBL_EPSILON,
                      1.0 / 3, 1e22, 0};
  double bounds[] = {0, DBL_TRUE_MIN, DBL_MAX}, ratios[] = {1, 1 + DBL_EPSILON, DBL_MAX};
  int block[] = {2, 1}, modes[] = {-1, 0, 1};
  mjgRecord record = {.name = "extreme",
                      .problem = {.n = 3,
                                  .nblock = 2,
                                  .block = block,
                                  .v = numbers,
                                  .A = numbers + 1,
                                  .phi = numbers + 2,
                                  .P = numbers + 3,
                                  .coulomb = bounds,
                                  .static_ratio = ratios,
                                  .v0 = numbers + 4},
                      .t_start = numbers + 5,
                      .mode_start = modes,
                      .t = numbers + 6};
  roundTrip(&record);

  // random bit patterns
  mjgRandom random = {7};
  for (int i = 0; i < 2000; i++) {
    for (int k = 0; k < 9; k++) {
      do {
        uint64_t bits = mjg_bits(&random);
        memcpy(&numbers[k], &bits, sizeof(bits));
      } while (!isfinite(numbers[k]));
    }
    roundTrip(&record);
  }
}


static void refusesToWriteWhatCannotBeRead(void** state) {
  double one = 1, infinite = INFINITY;
  mjgProblem good = {.n = 1, .v = &one, .A = &one, .phi = &one, .P = &one};
  FILE* file = tmpfile();
  assert_non_null(file);
  assert_int_equal(mjg_writeProblem(file, "name", &good, NULL, NULL, NULL), 0);
  assert_int_equal(mjg_writeProblem(file, "", &good, NULL, NULL, NULL), -1);
  assert_int_equal(mjg_writeProblem(file, "a b", &good, NULL, NULL, NULL), -1);
  assert_int_equal(mjg_writeProblem(file, "a#b", &good, NULL, NULL, NULL), -1);
  assert_int_equal(mjg_writeProblem(file, "name", &good, &infinite, NULL, NULL), -1);
  mjgProblem bad = good;
  bad.phi = &infinite;
  assert_int_equal(mjg_writeProblem(file, "name", &bad, NULL, NULL, NULL), -1);
  bad = good;
  bad.P = NULL;
  assert_int_equal(mjg_writeProblem(file, "name", &bad, NULL, NULL, NULL), -1);
  fclose(file);
}


static void loadsFiles(void** state) {
  char error[200] = "";
  size_t size = 0;
  assert_null(mjg_loadText(&size, "no/such/file", error, sizeof(error)));
  assert_non_null(strstr(error, "no/such/file: "));
  assert_null(mjg_loadText(&size, "/dev/zero", error, sizeof(error)));
  assert_string_equal(error, "/dev/zero: the file is no text, because it has bytes of 0");
  char* text = mjg_loadText(&size, MJGEAR_SOURCE_DIR "/tests/benchmarks/test_problem_file.c", error,
                            sizeof(error));
  assert_non_null(text);
  assert_true(size > 5000 && !memcmp(text, "// The problem file", 19));
  free(text);
}


// a decimal comma in the process's locale changes nothing
static void ignoresLocale(void** state) {
  if (!enterGerman()) {
    skip();
  }
  mjgReader reader;
  mjgRecord record = {0};
  openText(&reader, "mjgear-problems 1 problem a n 1 v 1.5 A 2.5 phi 0 P 0 end");
  assert_int_equal(mjg_readProblem(&record, &reader), 1);
  assert_true(record.v[0] == 1.5);
  roundTrip(&record);
  mjg_clearRecord(&record);
  setlocale(LC_ALL, "C");
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(readsExample),
      cmocka_unit_test(readsBlocksAndOptionalFields),
      cmocka_unit_test(refusesWithLine),
      cmocka_unit_test(survivesTruncation),
      cmocka_unit_test(roundTripsEveryKind),
      cmocka_unit_test(roundTripsExtremeNumbers),
      cmocka_unit_test(refusesToWriteWhatCannotBeRead),
      cmocka_unit_test(loadsFiles),
      cmocka_unit_test(ignoresLocale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
