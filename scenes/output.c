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
  char* path;
  char buffer[ROOM];
};


mjgOutput* mjg_openOutput(const char* path) {
  mjgOutput* output = calloc(1, sizeof(mjgOutput));
  if (!output) {
    return NULL;
  }
  output->path = strdup(path);
  output->file = output->path ? fopen(path, "w") : NULL;
  if (!output->file) {
    int error = errno;
    free(output->path);
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


int mjg_closeOutput(mjgOutput* output) {
  if (!output) {
    return 0;
  }
  mjg_isOutputLost(output);
  int flg_empty = ftello(output->file) == 0;
  errno = 0;
  if (fclose(output->file) && !output->error) {
    output->error = errno ? errno : EIO;
  }
  int error = output->error;
  if (error || flg_empty) {
    cutRow(output->path);
  }
  free(output->path);
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
  return strcmp(part, path) && rename(part, path) ? errno : 0;
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
