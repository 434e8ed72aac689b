#include "frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pictures.h"
#include "progress.h"

void recordPixels(unsigned char* rgb, const Frame* frame, mjrRect area) {
  mjr_readPixels(rgb, NULL, area, &frame->context);

  // OpenGL has the lowest row first
  size_t row = (size_t)area.width * 3;
  unsigned char* swap = rgb + row * (size_t)area.height;
  for (int i = 0; i < area.height / 2; i++) {
    unsigned char* top = rgb + row * (size_t)i;
    unsigned char* bottom = rgb + row * (size_t)(area.height - 1 - i);
    memcpy(swap, top, row);
    memcpy(top, bottom, row);
    memcpy(bottom, swap, row);
  }
}

// to two digits, the second even, so that its half has two digits
static double roundUp(double time) {
  double unit = 0.2 * pow(10, floor(log10(time)));
  return unit * ceil(time / unit - 1e-9);
}

// run the simulation, drawing when a frame of the film or the picture is due; without either frame is null
static int run(Show* show, Frame* frame, Film* film, mjrRect area, unsigned char* rgb, char* error, size_t error_size) {
  const ShowOptions* option = &show->option;
  double h = show->sim[0].m->opt.timestep, next = 0;
  double picture = option->picture_time < 0 ? show->duration : option->picture_time;
  double speed = option->length > 0 ? show->duration / option->length : option->speed;
  int flg_picture = option->picture != NULL, code = 0, flg_end = 0;

  mjgProgress progress;
  mjg_beginProgress(&progress, 1);
  while (!flg_end) {
    double time = show->sim[0].d->time;
    flg_end = time >= show->duration - 0.5 * h || showDiverged(show) || (show->csv && ferror(show->csv->file));

    // the film's frames are at its speed
    int flg_frame = film && time >= next - 0.5 * h;
    int flg_now = flg_picture && (time >= picture - 0.5 * h || flg_end);
    if (flg_frame || flg_now) {
      snprintf(frame->note, sizeof(frame->note), "%.2f s", time);
      frameDraw(frame, area, show);
      recordPixels(rgb, frame, area);
      next += speed / option->fps;
    }
    flg_end |= flg_frame && filmFrame(film, rgb);
    if (flg_now) {
      flg_picture = 0;
      if (pngWrite(option->picture, rgb, area.width, area.height, error, error_size)) {
        code = exitOUTPUT;
      }
    }
    flg_end |= code || (!film && !option->csv && !flg_picture);
    if (!flg_end) {
      showStep(show, NULL);
      if (frame) {
        plotsAdd(&frame->plots, show->sim);
      }
      mjg_showProgress(&progress, time / show->duration, show->title);
    }
  }
  mjg_clearProgress(&progress);
  return code;
}

static int runDrawn(Show* show, char* error, size_t error_size) {
  const ShowOptions* option = &show->option;
  int width = option->width ? option->width : 1280;
  int height = option->height ? option->height : 720;
  if (option->film && (width % 2 || height % 2)) {
    snprintf(error, error_size, "--size %dx%d: a film needs an even width and height", width, height);
    return exitUSAGE;
  }
  if (offscreenOpen(error, error_size)) {
    return exitDISPLAY;
  }
  for (int s = 0; s < show->nsim; s++) {
    show->sim[s].m->vis.global.offwidth = width;
    show->sim[s].m->vis.global.offheight = height;
  }
  Frame* frame = malloc(sizeof(Frame));
  unsigned char* rgb = malloc(3 * (size_t)width * ((size_t)height + 1));
  Film* film = NULL;
  int code = 0;
  if (!frame || !rgb) {
    snprintf(error, error_size, "out of memory for pictures of %d x %d", width, height);
    code = exitOUTPUT;
  } else if (option->film) {
    film = filmOpen(option->film, width, height, option->fps, error, error_size);
    code = film ? 0 : exitOUTPUT;
  }
  if (!code) {
    frameInit(frame, show->sim, show->nsim, height >= 720 ? mjFONTSCALE_150 : mjFONTSCALE_100, offscreenRenderer(),
              option->film != NULL);
    mjr_setBuffer(mjFB_OFFSCREEN, &frame->context);
    frameEffects(frame, option->flg_effects);
    frame->selected = showJoint(show);
    frame->flg_plots = option->flg_plots;

    // plots of a film fill up; plots of a single picture end with it
    int flg_early = !option->film && option->picture_time > 0;
    frame->plots.window = flg_early ? fmin(roundUp(option->picture_time), show->duration) : show->duration;
    showHeading(frame->caption, sizeof(frame->caption), show);
    code = run(show, frame, film, (mjrRect){0, 0, width, height}, rgb, error, error_size);
    if (filmClose(film, error, error_size) && !code) {
      code = exitOUTPUT;
    }
    frameFree(frame);
  }
  free(rgb);
  free(frame);
  offscreenClose();
  return code;
}

int record(Show* show, char* error, size_t error_size) {
  int flg_drawn = show->option.picture || show->option.film;
  int code =
      flg_drawn ? runDrawn(show, error, error_size) : run(show, NULL, NULL, (mjrRect){0}, NULL, error, error_size);
  if (!code && showDiverged(show)) {
    snprintf(error, error_size, "%s: the simulation became unstable; %s", show->title,
             "a smaller timestep or softer parameters may help");
    code = exitUNSTABLE;
  }
  return code;
}
