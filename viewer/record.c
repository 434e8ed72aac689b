#include "record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"
#include "offscreen.h"
#include "png.h"
#include "progress.h"
#include "video.h"


// take the pixels of the offscreen buffer, top row first
static void readPixels(unsigned char* rgb, const Frame* frame, mjrRect area) {
  mjr_readPixels(rgb, NULL, area, &frame->context);
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


static void takePicture(unsigned char* rgb, Frame* frame, Show* show, mjrRect area) {
  frameDraw(frame, area, show);
  readPixels(rgb, frame, area);
}


// run the simulation, drawing when a frame or the picture is due
static int runDrawn(Show* show, Frame* frame, Video* video, mjrRect area, unsigned char* rgb,
                    char* error, size_t error_size) {
  const ShowOptions* option = &show->option;
  double h = show->sim[0].m->opt.timestep;
  double picture = option->picture_time < 0 ? show->duration : option->picture_time;
  int flg_picture = option->picture != NULL;
  double next = 0, speed = option->length > 0 ? show->duration / option->length : option->speed;

  // the title stands still before anything moves
  for (int i = 0; video && i < (int)(option->title * option->fps + 0.5); i++) {
    if (i == 0) {
      frameDraw(frame, area, show);
      frameTitle(frame, area, show);
      readPixels(rgb, frame, area);
    }
    if (videoFrame(video, rgb)) {
      return 0;
    }
  }

  mjgProgress progress;
  mjg_beginProgress(&progress, 1);
  for (;;) {
    double time = show->sim[0].d->time;
    int flg_end = time >= show->duration - 0.5 * h || showDiverged(show);

    // the current frame, at the film's speed
    int flg_frame = video && time >= next - 0.5 * h;
    int flg_now = flg_picture && (time >= picture - 0.5 * h || flg_end);
    if (flg_frame || flg_now) {
      snprintf(frame->note, sizeof(frame->note), "%.2f s", time);
      takePicture(rgb, frame, show, area);
      next += speed / option->fps;
    }
    if (flg_frame && videoFrame(video, rgb)) {
      break;
    }
    if (flg_now) {
      flg_picture = 0;
      if (pngWrite(option->picture, rgb, area.width, area.height, error, error_size)) {
        mjg_clearProgress(&progress);
        return exitOUTPUT;
      }
    }
    if (flg_end || (!video && !option->csv && !flg_picture) ||
        (show->csv && mjg_isOutputLost(show->csv))) {
      break;
    }
    showStep(show, NULL);
    plotsAdd(&frame->plots, show->sim);
    mjg_showProgress(&progress, time / show->duration, show->title);
  }
  mjg_clearProgress(&progress);
  return 0;
}


static int recordDrawn(Show* show, char* error, size_t error_size) {
  const ShowOptions* option = &show->option;
  int width = option->width ? option->width : 1280;
  int height = option->height ? option->height : 720;
  if (option->film && (width % 2 || height % 2)) {
    snprintf(error, error_size, "--size %dx%d: a film needs an even width and height", width,
             height);
    return exitUSAGE;
  }

  Offscreen* offscreen = offscreenOpen(error, error_size);
  if (!offscreen) {
    return exitDISPLAY;
  }
  for (int s = 0; s < show->nsim; s++) {
    show->sim[s].m->vis.global.offwidth = width;
    show->sim[s].m->vis.global.offheight = height;
  }
  Frame* frame = malloc(sizeof(Frame));
  unsigned char* rgb = malloc(3 * (size_t)width * ((size_t)height + 1));
  Video* video = NULL;
  int code = 0;
  if (!frame || !rgb) {
    snprintf(error, error_size, "out of memory for pictures of %d x %d", width, height);
    code = exitOUTPUT;
  }
  if (!code && option->film) {
    video = videoOpen(option->film, width, height, option->fps, error, error_size);
    code = video ? 0 : exitOUTPUT;
  }
  if (!code) {
    frameInit(frame, show->sim, show->nsim, height >= 720 ? mjFONTSCALE_150 : mjFONTSCALE_100,
              offscreenRenderer(offscreen), option->film != NULL);
    mjr_setBuffer(mjFB_OFFSCREEN, &frame->context);
    frameEffects(frame, option->flg_effects);
    frame->selected = showJoint(show);
    frame->flg_plots = option->flg_plots;
    // plots of a film fill up; plots of a single picture end with it
    int flg_early = !option->film && option->picture_time > 0;
    frame->plots.window =
        flg_early ? fmin(roundUp(option->picture_time), show->duration) : show->duration;
    showHeading(frame->caption, sizeof(frame->caption), show);
    mjrRect area = {0, 0, width, height};
    code = runDrawn(show, frame, video, area, rgb, error, error_size);
    if (videoClose(video, error, error_size) && !code) {
      code = exitOUTPUT;
    }
    frameFree(frame);
  }
  free(rgb);
  free(frame);
  offscreenClose(offscreen);
  return code;
}


int record(Show* show, char* error, size_t error_size) {
  const ShowOptions* option = &show->option;
  int code = 0;
  if (option->picture || option->film) {
    code = recordDrawn(show, error, error_size);
  } else {
    // a table needs no drawing
    mjgProgress progress;
    mjg_beginProgress(&progress, 1);
    double h = show->sim[0].m->opt.timestep;
    while (show->sim[0].d->time < show->duration - 0.5 * h && !showDiverged(show) &&
           !mjg_isOutputLost(show->csv)) {
      showStep(show, NULL);
      mjg_showProgress(&progress, show->sim[0].d->time / show->duration, show->title);
    }
    mjg_clearProgress(&progress);
  }
  if (!code && showDiverged(show)) {
    snprintf(error, error_size, "%s: the simulation became unstable; %s", show->title,
             "a smaller timestep or softer parameters may help");
    code = exitUNSTABLE;
  }
  return code;
}
