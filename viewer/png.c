#include "png.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <string.h>

#include "output.h"


int pngWrite(const char* path, const unsigned char* rgb, int width, int height, char* error,
             size_t error_size) {
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)width,
                     .height = (png_uint_32)height,
                     .format = PNG_FORMAT_RGB};
  char part[4096];
  mjg_partOf(part, sizeof(part), path);
  FILE* file = fopen(part, "wb");
  if (!file) {
    snprintf(error, error_size, "cannot write %s: %s", path, strerror(errno));
    return -1;
  }
  int flg_written = png_image_write_to_stdio(&image, file, 0, rgb, 0, NULL);
  int lost = fclose(file) ? errno : 0;
  int misplaced = mjg_finishPart(part, path, flg_written && !lost);
  lost = lost ? lost : misplaced;
  if (lost || !flg_written) {
    snprintf(error, error_size, "cannot write %s: %s", path,
             flg_written ? strerror(lost) : image.message);
    return -1;
  }
  return 0;
}
