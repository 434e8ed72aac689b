#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  ROOM = 1 << 16
};

struct mjgOutput_ {
  FILE* file;
  int error;
  int flg_rows;
  char path[4096];
  char part[4096];  // what is written: path, or path and ".part" beside an older file
  char buffer[ROOM];
};


mjgOutput* mjg_openOutput(const char* path, int flg_rows) {
  mjgOutput* output = calloc(1, sizeof(mjgOutput));
  if (!output || strlen(path) + sizeof(".part") > sizeof(output->part)) {
    errno = output ? ENAMETOOLONG : ENOMEM;
    free(output);
    return NULL;
  }
  output->flg_rows = flg_rows;
  struct stat status;
  snprintf(output->path, sizeof(output->path), "%s", path);
  if (lstat(path, &status)) {
    snprintf(output->part, sizeof(output->part), "%s", path);
  } else {
    mjg_partOf(output->part, sizeof(output->part), path);
  }
  output->file = fopen(output->part, "w");
  if (!output->file) {
    int error = errno;
    free(output);
    errno = error;
    return NULL;
  }
  setvbuf(output->file, output->buffer, _IOLBF, ROOM);
  return output;
}


FILE* mjg_outputFile(mjgOutput* output) {
  return output->file;
}


int mjg_isOutputLost(mjgOutput* output) {
  if (!output->error && ferror(output->file)) {
    output->error = errno ? errno : EIO;
  }
  return output->error != 0;
}


// cut a file behind its last whole row; an empty one is removed
static void cutRow(const char* path) {
  struct stat status;
  if (stat(path, &status) || !S_ISREG(status.st_mode)) {
    return;
  }
  FILE* file = fopen(path, "r");
  off_t end = status.st_size;
  while (file && end > 0 && !fseeko(file, end - 1, SEEK_SET) && fgetc(file) != '\n') {
    end--;
  }
  if (file) {
    fclose(file);
  }
  if (!end || truncate(path, end)) {
    mjg_discard(path);
  }
}


int mjg_closeOutput(mjgOutput* output, int flg_complete) {
  if (!output) {
    return 0;
  }
  mjg_isOutputLost(output);
  int flg_whole = ftello(output->file) > 0 && (flg_complete || output->flg_rows);
  errno = 0;
  if (fclose(output->file) && !output->error) {
    output->error = errno ? errno : EIO;
  }
  int flg_new = !strcmp(output->part, output->path);
  if (flg_new && output->error && output->flg_rows) {
    cutRow(output->path);
  } else {
    int misplaced = mjg_finishPart(output->part, output->path, flg_whole && !output->error);
    output->error = output->error ? output->error : misplaced;
  }
  int error = output->error;
  free(output);
  return error;
}


void mjg_discard(const char* path) {
  struct stat status;
  if (!lstat(path, &status) && S_ISREG(status.st_mode)) {
    remove(path);
  }
}


void mjg_partOf(char* part, size_t size, const char* path) {
  struct stat status;
  int flg_plain = lstat(path, &status) || S_ISREG(status.st_mode);
  snprintf(part, size, "%s%s", path, flg_plain ? ".part" : "");
}


int mjg_finishPart(const char* part, const char* path, int flg_complete) {
  if (!flg_complete) {
    mjg_discard(part);
    return 0;
  }
  if (!strcmp(part, path)) {
    return 0;
  }
  struct stat old;
  if (!stat(path, &old)) {
    chmod(part, old.st_mode & 0777);
  }
  return rename(part, path) ? errno : 0;
}


//---------------------------------- standard output -----------------------------------------------

static const char* user;


static void endStandardOutput(void) {
  int lost = ferror(stdout);
  if (fflush(stdout) || lost) {
    fprintf(stderr, "%s: cannot write standard output: %s\n", user,
            errno ? strerror(errno) : "not everything was taken");
    _exit(1);
  }
}


void mjg_mindStandardOutput(const char* program) {
  user = program;
  atexit(endStandardOutput);
}
