// Friction problems in plain text: reader and writer of the format that PROBLEM_FORMAT.md tells.
//
// The reader works on text in memory and accepts any bytes. It refuses unknown text with one line.
// It allocates in proportion to the text, not to the sizes that the text claims.

#ifndef MJGEAR_BENCHMARKS_PROBLEM_FILE_H_
#define MJGEAR_BENCHMARKS_PROBLEM_FILE_H_

#include <stddef.h>
#include <stdio.h>

#include "mjgear.h"

#ifdef __cplusplus
extern "C" {
#endif

#define mjgMAXNAME    63        // longest problem name in characters
#define mjgMAXJOINTS  65536     // most joints of one problem
#define mjgMAXENTRIES 16777216  // most entries of one matrix


// a problem that owns its arrays, with known facts about it; all-zero is empty
typedef struct mjgRecord_ {
  char name[mjgMAXNAME + 1];  // without blanks
  mjgProblem problem;         // points into the arrays below
  int* block;                 // block sizes                                   (problem.nblock)
  double* v;                  // arrays as in mjgProblem, null if absent
  double* A;
  double* phi;
  double* P;
  double* alpha;
  double* beta;
  double* coulomb;
  double* static_ratio;
  double* v0;
  double* t_start;  // friction from which a warm start begins; null if absent  (n)
  int* mode_start;  // modes from which a warm start begins; null if absent     (n)
  double* t;        // a known solution; null if absent                         (n)
} mjgRecord;

// free the arrays of a record and make it empty
void mjg_clearRecord(mjgRecord* record);

// number of entries of A or P: the sum of the squares of the block sizes
size_t mjg_countEntries(const mjgProblem* problem);


//---------------------------------- reading -------------------------------------------------------

// text with several problems, and the position of the reader; error is one line without newline
typedef struct mjgReader_ {
  const char* text;  // belongs to the caller, need not end with 0
  size_t size;       // bytes of text
  size_t position;   // next byte
  int line;          // its line, from 1
  char error[200];   // "line 12: mistake and expected text", or ""
} mjgReader;

// start to read text; the header line is read with the first problem
void mjg_openReader(mjgReader* reader, const char* text, size_t size);

// read the next problem into record, whose former content is freed.
// Returns 1 if there was one, 0 at the end of the text, -1 on an error: then record is empty.
int mjg_readProblem(mjgRecord* record, mjgReader* reader);

// load a whole file into memory that the caller frees; null, with one line in error, on failure
char* mjg_loadText(size_t* size, const char* path, char* error, size_t nerror);


//---------------------------------- writing -------------------------------------------------------

// write the header line that every file starts with; 0, or -1 if writing failed
int mjg_writeHeader(FILE* file);

// write a problem so that reading it gives the same bits.
//   name        up to mjgMAXNAME printable characters without blanks
//   t_start, mode_start, t    as in mjgRecord, nullable
// Returns 0, or -1 if writing failed, a number is not finite, or the name is not allowed.
int mjg_writeProblem(FILE* file, const char* name, const mjgProblem* problem, const double* t_start,
                     const int* mode_start, const double* t);


#ifdef __cplusplus
}
#endif

#endif  // MJGEAR_BENCHMARKS_PROBLEM_FILE_H_
