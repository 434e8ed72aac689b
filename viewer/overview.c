#include "overview.h"

#include <stdio.h>
#include <stdlib.h>

#include "load.h"
#include "png.h"
#include "scene.h"

enum {
  NAME = 22  // room for the name below a picture, pixels
};

typedef struct Thumbnail_ {
  unsigned char* rgb;  // pixels as read, or null
  int width;
  int height;
  unsigned char* fitted;  // pixels in the drawn size, lowest row first
} Thumbnail;

struct Overview_ {
  Thumbnail* thumbnail;  // (mjg_nscene)
  mjrRect area;          // drawn last
  int across;            // pictures in a row
  int width;             // of a picture with its frame
  int height;            // of a picture with its name
};


Overview* overviewOpen(void) {
  Overview* overview = calloc(1, sizeof(Overview));
  Thumbnail* thumbnail = calloc((size_t)mjg_nscene, sizeof(Thumbnail));
  if (!overview || !thumbnail) {
    free(overview);
    free(thumbnail);
    return NULL;
  }
  overview->thumbnail = thumbnail;
  for (int i = 0; i < mjg_nscene; i++) {
    // pictures of the gallery, beside the scenes
    char name[300], path[4096], error[300];
    snprintf(name, sizeof(name), "gallery/%s.png", mjg_scenes[i]->name);
    mjg_pagePath(path, sizeof(path), name);
    thumbnail[i].rgb =
        pngRead(&thumbnail[i].width, &thumbnail[i].height, path, error, sizeof(error));
  }
  return overview;
}


void overviewClose(Overview* overview) {
  for (int i = 0; overview && i < mjg_nscene; i++) {
    free(overview->thumbnail[i].rgb);
    free(overview->thumbnail[i].fitted);
  }
  if (overview) {
    free(overview->thumbnail);
  }
  free(overview);
}


// the mean of the pixels that fall on one, lowest row first
static unsigned char* fit(const Thumbnail* t, int width, int height) {
  unsigned char* fitted = malloc(3 * (size_t)width * (size_t)height);
  for (int y = 0; fitted && y < height; y++) {
    int top = t->height * (height - 1 - y) / height;
    int bottom = t->height * (height - y) / height;
    for (int x = 0; x < width; x++) {
      int left = t->width * x / width, right = t->width * (x + 1) / width;
      int sum[3] = {0}, n = 0;
      for (int v = top; v < (bottom > top ? bottom : top + 1); v++) {
        for (int u = left; u < (right > left ? right : left + 1); u++) {
          const unsigned char* pixel = t->rgb + 3 * ((size_t)v * (size_t)t->width + (size_t)u);
          for (int k = 0; k < 3; k++) {
            sum[k] += pixel[k];
          }
          n++;
        }
      }
      for (int k = 0; k < 3; k++) {
        fitted[3 * ((size_t)y * (size_t)width + (size_t)x) + (size_t)k] =
            (unsigned char)(sum[k] / (n ? n : 1));
      }
    }
  }
  return fitted;
}


// as many in a row as make the pictures largest
static void arrange(Overview* o, mjrRect area) {
  if (o->across > 0 && o->area.width == area.width && o->area.height == area.height) {
    o->area = area;
    return;
  }
  o->area = area;
  o->width = 0;
  for (int across = 1; across <= mjg_nscene; across++) {
    int down = (mjg_nscene + across - 1) / across;
    int height = area.height / down, width = area.width / across;
    int fits = (height - NAME) * 16 / 9 < width ? (height - NAME) * 16 / 9 : width;
    if (fits > o->width) {
      o->across = across;
      o->width = fits;
      o->height = height;
    }
  }
  for (int i = 0; i < mjg_nscene; i++) {
    free(o->thumbnail[i].fitted);
    o->thumbnail[i].fitted = NULL;
  }
}


// rectangle of scene i and its name
static mjrRect place(const Overview* o, int i) {
  int column = i % o->across, row = i / o->across, step = o->area.width / o->across;
  return (mjrRect){o->area.left + column * step + (step - o->width) / 2,
                   o->area.bottom + o->area.height - (row + 1) * o->height, o->width, o->height};
}


void overviewDraw(Overview* o, mjrRect area, const mjrContext* context) {
  arrange(o, area);
  mjr_rectangle(area, 0.10f, 0.11f, 0.13f, 1);
  for (int i = 0; i < mjg_nscene && o->width > 16; i++) {
    mjrRect cell = place(o, i);
    mjrRect picture = {cell.left + 3, cell.bottom + NAME, o->width - 6, (o->width - 6) * 9 / 16};
    Thumbnail* t = o->thumbnail + i;
    if (t->rgb && !t->fitted) {
      t->fitted = fit(t, picture.width, picture.height);
    }
    if (t->fitted) {
      mjr_drawPixels(t->fitted, NULL, picture, context);
    }
    mjrRect name = {cell.left, cell.bottom, cell.width, NAME};
    mjr_label(name, mjFONT_NORMAL, mjg_scenes[i]->name, 0.10f, 0.11f, 0.13f, 1, 0.9f, 0.92f, 0.95f,
              context);
  }
}


int overviewPick(const Overview* o, double x, double y) {
  for (int i = 0; i < mjg_nscene && o->across > 0; i++) {
    mjrRect cell = place(o, i);
    if (x >= cell.left && x < cell.left + cell.width && y >= cell.bottom &&
        y < cell.bottom + cell.height) {
      return i;
    }
  }
  return -1;
}
