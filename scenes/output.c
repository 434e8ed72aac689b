#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

mjgOutput* mjg_openOutput(const char* path) {
  mjgOutput* output = calloc(1, sizeof(mjgOutput));
  int error = !output ? ENOMEM : strlen(path) + sizeof(".part") > sizeof(output->part) ? ENAMETOOLONG : 0;
  if (!error) {
    struct stat status;
    int flg_plain = lstat(path, &status) || S_ISREG(status.st_mode);
    snprintf(output->path, sizeof(output->path), "%s", path);
    snprintf(output->part, sizeof(output->part), "%s%s", path, flg_plain ? ".part" : "");
    output->file = fopen(output->part, "wb");
    error = output->file ? 0 : errno;
  }
  if (error) {
    free(output);
    errno = error;
    return NULL;
  }
  return output;
}

int mjg_closeOutput(mjgOutput* output, int flg_complete) {
  if (!output) {
    return 0;
  }
  int error = ferror(output->file) ? (errno ? errno : EIO) : 0;  // of the write that failed last
  if (fclose(output->file) && !error) {
    error = errno;
  }
  struct stat status;
  if (strcmp(output->part, output->path)) {
    if (error || !flg_complete) {
      remove(output->part);
    } else {
      if (!stat(output->path, &status)) {
        chmod(output->part, status.st_mode & 0777);
      }
      error = rename(output->part, output->path) ? errno : 0;
    }
  }
  free(output);
  return error;
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
