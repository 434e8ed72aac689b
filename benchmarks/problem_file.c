#include "problem_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/c_locale.h"

#define MAXTOKEN 63  // longest word or number


//---------------------------------- fields --------------------------------------------------------

// Returns the number of values of a field.
typedef enum Count_ {
  COUNT_JOINTS,   // n
  COUNT_ENTRIES,  // sum of squared block sizes
} Count;

// a field of numbers: its word in the file and its place in the record
typedef struct Field_ {
  const char* key;
  Count count;
  size_t offset;  // offset of a double* in mjgRecord
} Field;

static const Field FIELDS[] = {
    {"v", COUNT_JOINTS, offsetof(mjgRecord, v)},
    {"A", COUNT_ENTRIES, offsetof(mjgRecord, A)},
    {"phi", COUNT_JOINTS, offsetof(mjgRecord, phi)},
    {"P", COUNT_ENTRIES, offsetof(mjgRecord, P)},
    {"alpha", COUNT_JOINTS, offsetof(mjgRecord, alpha)},
    {"beta", COUNT_JOINTS, offsetof(mjgRecord, beta)},
    {"coulomb", COUNT_JOINTS, offsetof(mjgRecord, coulomb)},
    {"static_ratio", COUNT_JOINTS, offsetof(mjgRecord, static_ratio)},
    {"v0", COUNT_JOINTS, offsetof(mjgRecord, v0)},
    {"t_start", COUNT_JOINTS, offsetof(mjgRecord, t_start)},
    {"t", COUNT_JOINTS, offsetof(mjgRecord, t)},
};

#define NFIELD ((int)(sizeof(FIELDS) / sizeof(FIELDS[0])))


// the array of a field
static double** fieldArray(mjgRecord* record, const Field* field) {
  return (double**)((char*)record + field->offset);
}


void mjg_clearRecord(mjgRecord* record) {
  for (int i = 0; i < NFIELD; i++) {
    free(*fieldArray(record, &FIELDS[i]));
  }
  free(record->block);
  free(record->mode_start);
  memset(record, 0, sizeof(*record));
}


size_t mjg_countEntries(const mjgProblem* problem) {
  if (!problem->nblock) {
    return (size_t)problem->n * (size_t)problem->n;
  }
  size_t count = 0;
  for (int i = 0; i < problem->nblock; i++) {
    count += (size_t)problem->block[i] * (size_t)problem->block[i];
  }
  return count;
}


// point the problem at the existing arrays
static void linkProblem(mjgRecord* record) {
  mjgProblem* problem = &record->problem;
  problem->block = record->block;
  problem->v = record->v;
  problem->A = record->A;
  problem->phi = record->phi;
  problem->P = record->P;
  problem->alpha = record->alpha;
  problem->beta = record->beta;
  problem->coulomb = record->coulomb;
  problem->static_ratio = record->static_ratio;
  problem->v0 = record->v0;
}


//---------------------------------- reading: words ------------------------------------------------

// keep the first error, with the line where it was found; returns -1
__attribute__((format(printf, 2, 3))) static int fail(mjgReader* reader, const char* format, ...) {
  int length = snprintf(reader->error, sizeof(reader->error), "line %d: ", reader->line);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reader->error + length, sizeof(reader->error) - (size_t)length, format, arguments);
  va_end(arguments);
  return -1;
}


static int isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}


// skip blanks and comments, look at the next word without taking it; 1, 0 at the end, -1 on error
static int peekToken(char token[MAXTOKEN + 1], size_t* length, mjgReader* reader) {
  const char* text = reader->text;
  while (reader->position < reader->size) {
    char c = text[reader->position];
    if (c == '#') {
      while (reader->position < reader->size && text[reader->position] != '\n') {
        reader->position++;
      }
    } else if (isBlank(c)) {
      reader->line += (c == '\n' && reader->line < INT_MAX);
      reader->position++;
    } else {
      break;
    }
  }
  if (reader->position == reader->size) {
    return 0;
  }

  // a word is printable ASCII up to a blank or a comment
  size_t count = 0;
  for (size_t i = reader->position; i < reader->size && !isBlank(text[i]) && text[i] != '#'; i++) {
    if (text[i] < 33 || text[i] > 126) {
      return fail(reader, "byte 0x%02x is not printable ASCII", (unsigned)(unsigned char)text[i]);
    }
    if (count == MAXTOKEN) {
      return fail(reader, "a word has more than %d characters", MAXTOKEN);
    }
    token[count++] = text[i];
  }
  token[count] = 0;
  *length = count;
  return 1;
}


// take the next word
static int nextToken(char token[MAXTOKEN + 1], mjgReader* reader) {
  size_t length = 0;
  int found = peekToken(token, &length, reader);
  if (found == 1) {
    reader->position += length;
  }
  return found;
}


// returns 1 if a word starts like a number
static int looksNumeric(const char* token) {
  return isdigit((unsigned char)token[0]) || strchr("+-.", token[0]) != NULL;
}


// a finite decimal number; strtod alone would also take hexadecimal and words like nan
static int parseNumber(double* value, const char* token, mjgReader* reader) {
  char* end = NULL;
  if (strspn(token, "0123456789+-.eE") == strlen(token)) {
    *value = strtod(token, &end);
  }
  if (!end || end == token || *end) {
    return fail(reader, "'%s' is not a decimal number", token);
  }
  if (!isfinite(*value)) {
    return fail(reader, "'%s' is too large for a double", token);
  }
  return 1;
}


// an integer in a range; what: its name in messages
static int nextInteger(int* value, const char* what, int low, int high, mjgReader* reader) {
  char token[MAXTOKEN + 1];
  int found = nextToken(token, reader);
  if (found == -1) {
    return -1;
  }
  if (!found) {
    return fail(reader, "the text ends where %s was expected", what);
  }
  char* end = NULL;
  errno = 0;
  long number = strtol(token, &end, 10);
  if (end == token || *end || errno || number < low || number > high) {
    return fail(reader, "%s is '%s', expected an integer from %d to %d", what, token, low, high);
  }
  *value = (int)number;
  return 1;
}


//---------------------------------- reading: fields -----------------------------------------------

// as many numbers as the text holds, in memory that grows with them; values is null on error
static int nextNumbers(double** values, const char* key, size_t expected, mjgReader* reader) {
  char token[MAXTOKEN + 1];
  size_t count = 0, capacity = 0, length = 0;
  double* array = NULL;
  int found;
  while ((found = peekToken(token, &length, reader)) == 1 && looksNumeric(token)) {
    double value = 0;
    if (count == expected) {
      found = fail(reader, "%s has more than its %zu numbers", key, expected);
      break;
    }
    if ((found = parseNumber(&value, token, reader)) == -1) {
      break;
    }
    reader->position += length;
    if (count == capacity) {
      capacity = capacity ? 2 * capacity : 16;
      capacity = capacity < expected ? capacity : expected;
      double* larger = realloc(array, capacity * sizeof(double));
      if (!larger) {
        found = fail(reader, "out of memory");
        break;
      }
      array = larger;
    }
    array[count++] = value;
  }
  if (found != -1 && count < expected) {
    found = fail(reader, "%s has %zu numbers, expected %zu", key, count, expected);
  }
  if (found == -1) {
    free(array);
    return -1;
  }
  *values = array;
  return 1;
}


// block sizes up to the next key; they must add up to n
static int nextBlocks(mjgRecord* record, mjgReader* reader) {
  char token[MAXTOKEN + 1];
  size_t length = 0;
  int sum = 0, capacity = 0, n = record->problem.n, found;
  while ((found = peekToken(token, &length, reader)) == 1 && looksNumeric(token)) {
    int size = 0;
    if (nextInteger(&size, "a block size", 1, n - sum, reader) == -1) {
      return -1;
    }
    if (record->problem.nblock == capacity) {
      capacity = capacity ? 2 * capacity : 16;
      int* larger = realloc(record->block, (size_t)capacity * sizeof(int));
      if (!larger) {
        return fail(reader, "out of memory");
      }
      record->block = larger;
    }
    record->block[record->problem.nblock++] = size;
    record->problem.block = record->block;
    sum += size;
    if (sum == n) {
      break;
    }
  }
  if (found == -1) {
    return -1;
  }
  if (sum < n) {
    return fail(reader, "block sizes add up to %d, expected n = %d", sum, n);
  }
  return 1;
}


// modes, -1, 0 or 1
static int nextModes(int** modes, int n, mjgReader* reader) {
  double* values = NULL;
  if (nextNumbers(&values, "mode_start", (size_t)n, reader) == -1) {
    return -1;
  }
  *modes = malloc((size_t)n * sizeof(int));
  int found = *modes ? 1 : fail(reader, "out of memory");
  for (int i = 0; i < n && found == 1; i++) {
    if (values[i] != -1 && values[i] != 0 && values[i] != 1) {
      found = fail(reader, "mode_start has %g, expected -1, 0 or 1", values[i]);
    } else {
      (*modes)[i] = (int)values[i];
    }
  }
  free(values);
  return found;
}


// fields from after the name to the word "end"
static int readFields(mjgRecord* record, mjgReader* reader) {
  char token[MAXTOKEN + 1];
  int found;
  while ((found = nextToken(token, reader)) == 1 && strcmp(token, "end")) {
    // sizes come first, since all other counts follow from them
    if (!strcmp(token, "n")) {
      if (record->problem.n) {
        return fail(reader, "n is given twice");
      }
      if (nextInteger(&record->problem.n, "n", 1, mjgMAXJOINTS, reader) == -1) {
        return -1;
      }
      continue;
    }
    if (!record->problem.n) {
      return fail(reader, "'%s' before n; the first field must be n", token);
    }
    if (!strcmp(token, "block")) {
      if (record->block || record->A || record->P) {
        return fail(reader, "block must come once, before A and P");
      }
      if (nextBlocks(record, reader) == -1) {
        return -1;
      }
      continue;
    }
    if (!strcmp(token, "mode_start")) {
      if (record->mode_start) {
        return fail(reader, "mode_start is given twice");
      }
      if (nextModes(&record->mode_start, record->problem.n, reader) == -1) {
        return -1;
      }
      continue;
    }

    // numbers
    int k = 0;
    while (k < NFIELD && strcmp(token, FIELDS[k].key)) {
      k++;
    }
    if (k == NFIELD) {
      return fail(reader, "unknown field '%s'", token);
    }
    double** array = fieldArray(record, &FIELDS[k]);
    size_t expected = FIELDS[k].count == COUNT_JOINTS ? (size_t)record->problem.n
                                                      : mjg_countEntries(&record->problem);
    if (*array) {
      return fail(reader, "%s is given twice", token);
    }
    if (expected > mjgMAXENTRIES) {
      return fail(reader, "%s would have %zu entries, at most %d are read; give block sizes", token,
                  expected, mjgMAXENTRIES);
    }
    if (nextNumbers(array, FIELDS[k].key, expected, reader) == -1) {
      return -1;
    }
  }
  if (found == 0) {
    return fail(reader, "the text ends inside problem '%s'; 'end' is missing", record->name);
  }
  return found;
}


// requirements of every problem
static int checkComplete(const mjgRecord* record, mjgReader* reader) {
  const char* name = record->name;
  if (!record->v || !record->A || !record->phi) {
    return fail(reader, "problem '%s' lacks %s", name,
                !record->problem.n ? "n"
                : !record->v       ? "v"
                : !record->A       ? "A"
                                   : "phi");
  }
  if (!record->P && (!record->alpha || !record->beta)) {
    return fail(reader, "problem '%s' needs P, or alpha and beta", name);
  }
  if (record->P && (record->alpha || record->beta)) {
    return fail(reader, "problem '%s' has P and also alpha or beta; give one of them", name);
  }
  for (int i = 0; i < record->problem.n; i++) {
    if (record->coulomb && record->coulomb[i] < 0) {
      return fail(reader, "problem '%s' has coulomb %g, expected >= 0", name, record->coulomb[i]);
    }
    if (record->static_ratio && record->static_ratio[i] < 1) {
      return fail(reader, "problem '%s' has static_ratio %g, expected >= 1", name,
                  record->static_ratio[i]);
    }
  }
  return 1;
}


//---------------------------------- reading: problems ---------------------------------------------

void mjg_openReader(mjgReader* reader, const char* text, size_t size) {
  memset(reader, 0, sizeof(*reader));
  reader->text = text;
  reader->size = size;
  reader->line = 1;
}


// the header: a word and the version
static int readHeader(mjgReader* reader) {
  char token[MAXTOKEN + 1];
  int version = 0;
  int found = nextToken(token, reader);
  if (found == -1) {
    return -1;
  }
  if (!found || strcmp(token, "mjgear-problems")) {
    return fail(reader, "a problem file starts with 'mjgear-problems 1'");
  }
  return nextInteger(&version, "the version", 1, 1, reader);
}


// one problem, from the word "problem" to the word "end"
static int readOne(mjgRecord* record, mjgReader* reader) {
  char token[MAXTOKEN + 1];
  if (reader->position == 0 && readHeader(reader) == -1) {
    return -1;
  }
  int found = nextToken(token, reader);
  if (found != 1) {
    return found;
  }
  if (strcmp(token, "problem")) {
    return fail(reader, "'%s' where 'problem' was expected", token);
  }
  if ((found = nextToken(token, reader)) != 1) {
    return found == -1 ? -1 : fail(reader, "the text ends where a name was expected");
  }
  memcpy(record->name, token, sizeof(token));
  if (readFields(record, reader) == -1 || checkComplete(record, reader) == -1) {
    return -1;
  }
  linkProblem(record);
  return 1;
}


int mjg_readProblem(mjgRecord* record, mjgReader* reader) {
  mjg_clearRecord(record);

  // an error is final: later text cannot be trusted
  if (reader->error[0]) {
    return -1;
  }
  mjgiLocale former = mjgi_enterC();
  int found = readOne(record, reader);
  mjgi_leaveC(former);
  if (found != 1) {
    mjg_clearRecord(record);
  }
  return found;
}


char* mjg_loadText(size_t* size, const char* path, char* error, size_t nerror) {
  FILE* file = fopen(path, "rb");
  char* text = NULL;
  size_t count = 0, capacity = 0;
  int ok = file != NULL;

  // read in doubling pieces: pipes have no length to ask for
  while (ok && !feof(file)) {
    if (count == capacity) {
      capacity = capacity ? 2 * capacity : 65536;
      char* larger = realloc(text, capacity);
      if (!(ok = larger != NULL)) {
        break;
      }
      text = larger;
    }
    size_t n = fread(text + count, 1, capacity - count, file);
    ok = !ferror(file);
    if (memchr(text + count, 0, n)) {
      errno = EILSEQ;  // no text, or an endless file such as /dev/zero
      ok = 0;
    }
    count += n;
  }
  if (!ok) {
    snprintf(error, nerror, "%s: %s", path,
             errno == EILSEQ ? "the file is no text, because it has bytes of 0" : strerror(errno));
    free(text);
    text = NULL;
  }
  if (file) {
    fclose(file);
  }
  *size = text ? count : 0;
  return text;
}
