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
  FILE* file = fopen(path, "wb");
  if (!file) {
    snprintf(error, error_size, "cannot write %s: %s", path, strerror(errno));
    return -1;
  }
  int flg_written = png_image_write_to_stdio(&image, file, 0, rgb, 0, NULL);
  if (fclose(file) || !flg_written) {
    mjg_discard(path);
    snprintf(error, error_size, "cannot write %s: %s", path,
             flg_written ? strerror(errno) : image.message);
    return -1;
  }
  return 0;
}
