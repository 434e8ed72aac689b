#include "png.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
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


unsigned char* pngRead(int* width, int* height, const char* path, char* error, size_t error_size) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (!png_image_begin_read_from_file(&image, path)) {
    snprintf(error, error_size, "cannot read %s: %s", path, image.message);
    return NULL;
  }
  image.format = PNG_FORMAT_RGB;
  unsigned char* rgb = malloc(PNG_IMAGE_SIZE(image));
  if (!rgb || !png_image_finish_read(&image, NULL, rgb, 0, NULL)) {
    snprintf(error, error_size, "cannot read %s: %s", path, rgb ? image.message : "out of memory");
    png_image_free(&image);
    free(rgb);
    return NULL;
  }
  *width = (int)image.width;
  *height = (int)image.height;
  return rgb;
}
