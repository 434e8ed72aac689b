#include "frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/visualize.h"

//---------------------------------- life ----------------------------------------------------------

// 1 if the processor draws
int frameIsSoftware(const char* renderer) {
  static const char* const names[] = {"llvmpipe", "softpipe", "swrast", "Software"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    if (strstr(renderer, names[i])) {
      return 1;
    }
  }
  return 0;
}

void frameEffects(Frame* frame, int flg_effects) {
  if (flg_effects >= 0) {
    frame->scene.flags[mjRND_SHADOW] = (mjtByte)flg_effects;
    frame->scene.flags[mjRND_REFLECTION] = (mjtByte)flg_effects;
  }
}

// shapes of fewer triangles, with the same look, and no smoothing of a film's pictures: less than
// half of the processor's time of the engine's defaults
static void coarsen(mjModel* m) {
  m->vis.quality.numslices = mjMIN(m->vis.quality.numslices, 20);
  m->vis.quality.numstacks = mjMIN(m->vis.quality.numstacks, 10);
  m->vis.quality.numquads = mjMIN(m->vis.quality.numquads, 1);
  m->vis.quality.offsamples = 0;
  m->vis.quality.shadowsize = mjMIN(m->vis.quality.shadowsize, 1024);
}

// parts that depend on the model
static void makeModel(Frame* frame, const Sim* sims, int nsim, int font_scale) {
  mjModel* m = sims[0].m;
  if (frame->flg_coarse) {
    coarsen(m);
  } else {
    m->vis.quality.numslices = mjMAX(m->vis.quality.numslices, 64);  // cylinders look round
  }
  mjv_makeScene(m, &frame->scene, 2000);
  frameEffects(frame, frame->flg_software ? 0 : -1);
  mjr_makeContext(m, &frame->context, font_scale);
  mjv_defaultPerturb(&frame->perturb);

  // the first of the model's cameras, else the free one, which sees all
  mjv_defaultFreeCamera(m, &frame->camera);
  if (m->ncam > 0) {
    frame->camera.type = mjCAMERA_FIXED;
    frame->camera.fixedcamid = 0;
  }
  frame->selected = 0;

  // curves begin at the first state; the gap is worth one where there is one, friction where there is any
  int flg_friction = simHasFriction(sims), flg_gap = simHasBacklash(sims);
  frame->plots.shown[simGAP] = flg_gap;
  frame->plots.shown[simFRICTION] = flg_friction;
  frame->plots.shown[simTORQUE_OUT] = !flg_friction;
  frame->plots.shown[simINTERNAL] = flg_friction && !flg_gap;
  plotsInit(&frame->plots, sims, nsim);
  plotsAdd(&frame->plots, sims);
}

void frameInit(Frame* frame, const Sim* sims, int nsim, int font_scale, const char* renderer, int flg_quick) {
  memset(frame, 0, sizeof(*frame));
  mjv_defaultScene(&frame->scene);
  mjr_defaultContext(&frame->context);
  mjv_defaultOption(&frame->option);
  frame->flg_software = frameIsSoftware(renderer);
  frame->flg_coarse = frame->flg_software && flg_quick;
  frame->flg_plots = 1;
  frame->flg_legend = 1;
  frame->plots.window = 5;
  frame->plots.shown[simVELOCITY] = 1;
  makeModel(frame, sims, nsim, font_scale);
}

void frameReload(Frame* frame, const Sim* sims, int nsim) {
  int font_scale = frame->context.fontScale;
  mjv_freeScene(&frame->scene);
  makeModel(frame, sims, nsim, font_scale);
}

void frameFree(Frame* frame) {
  plotsFree(&frame->plots);
  mjv_freeScene(&frame->scene);
  mjr_freeContext(&frame->context);
}

//---------------------------------- overlays ------------------------------------------------------

// coloured labels along the lower edge: meanings of the joints' colours
static void drawLegend(const Frame* frame, mjrRect area, const Sim* sim) {
  const mjrContext* context = &frame->context;
  int height = context->charHeight + context->charHeight / 2;
  int left = area.left + height / 2, bottom = area.bottom + height / 3;
  for (int i = 0; i < mjgpNGEARSTATE; i++) {
    if (i == mjgpGEAR_IN_GAP && !simHasBacklash(sim)) {
      continue;
    }
    int width = context->charHeight / 2 + plotsTextWidth(mjgpStateName[i], context);
    if (left + width > area.left + area.width) {
      left = area.left + height / 2;
      bottom += height + height / 4;
    }
    const float* rgb = mjgpStateColor[i];
    float text = rgb[0] + rgb[1] > 1.0f ? 0.0f : 1.0f;
    mjrRect rect = {left, bottom, width, height};
    mjr_label(rect, mjFONT_NORMAL, mjgpStateName[i], rgb[0], rgb[1], rgb[2], 0.9f, text, text, text, context);
    left += width + height / 5;
  }
}

//---------------------------------- picture -------------------------------------------------------

// place of the plots: beside one simulation or four, below two, in the free corner of three
static mjrRect plotsArea(const Frame* frame, mjrRect area, const Show* show) {
  int flg_plots = frame->flg_plots && show->sim[0].ngear > 0 && plotsShown(&frame->plots) > 0;
  mjrRect plots = {area.left + area.width, area.bottom, 0, area.height};
  if (!flg_plots) {
    return plots;
  }
  if (show->nsim == 2) {
    return (mjrRect){area.left, area.bottom, area.width, area.height * 38 / 100};
  }
  plots.width = area.width * (show->nsim == 3 ? 50 : show->nsim == 4 ? 28 : 36) / 100;
  plots.height = show->nsim == 3 ? area.height / 2 : area.height;
  plots.left -= plots.width;
  return plots;
}

mjrRect frameView(const Frame* frame, mjrRect area, const Show* show, int s) {
  mjrRect plots = plotsArea(frame, area, show);
  int n = show->nsim, across = n > 2 ? 2 : n, down = n > 2 ? 2 : 1;
  int flg_below = n == 2 && plots.width > 0;
  int width = area.width - (n == 2 || n == 3 ? 0 : plots.width);
  int height = area.height - (flg_below ? plots.height : 0);

  // three without plots are in a row
  if (n == 3 && plots.width == 0) {
    across = 3;
    down = 1;
  }
  int x = s % across, y = down - 1 - s / across;
  int left = width * x / across, right = width * (x + 1) / across;
  int bottom = height * y / down, top = height * (y + 1) / down;
  return (mjrRect){area.left + left, area.bottom + area.height - height + bottom, right - left, top - bottom};
}

void frameScene(Frame* frame, const Sim* sim, mjrRect view, const mjvPerturb* perturb) {
  mjv_updateScene(sim->m, sim->d, &frame->option, perturb, &frame->camera, mjCAT_ALL, &frame->scene);

  // a narrow picture shows the camera's whole view too
  float wide = 4.0f / 3.0f * (float)view.height / (float)(view.width > 0 ? view.width : 1);
  for (int i = 0; i < 2 && wide > 1; i++) {
    frame->scene.camera[i].frustum_bottom *= wide;
    frame->scene.camera[i].frustum_top *= wide;
  }
}

// name of one of several simulations in the colour of its curves, at the upper edge of its view
static void drawLabel(const Frame* frame, mjrRect view, const char* name, int s) {
  const mjrContext* context = &frame->context;
  int width = context->charHeight + plotsTextWidth(name, context);
  int height = context->charHeight + context->charHeight / 2;
  mjrRect rect = {view.left + (view.width - width) / 2, view.bottom + view.height - height - height / 3, width, height};
  const float* rgb = plotsColor(s);
  mjr_label(rect, mjFONT_NORMAL, name, rgb[0], rgb[1], rgb[2], 1, 0, 0, 0, context);
}

void frameDraw(Frame* frame, mjrRect area, Show* show) {
  const char* label[nVIEW];
  Sim* sims = show->sim;
  for (int s = 0; s < show->nsim; s++) {
    label[s] = showCaption(show, s);
  }

  // scenes side by side
  for (int s = 0; s < show->nsim; s++) {
    mjrRect part = frameView(frame, area, show, s);
    frameScene(frame, sims + s, part, s == 0 ? &frame->perturb : NULL);
    mjr_render(part, &frame->scene, &frame->context);
  }

  // lines between them, and their meanings
  for (int s = 0; s < show->nsim && show->nsim > 1; s++) {
    mjrRect part = frameView(frame, area, show, s), left = part, below = part;
    left.width = below.height = 2;
    mjr_rectangle(left, 0.08f, 0.08f, 0.09f, 1);
    mjr_rectangle(below, 0.08f, 0.08f, 0.09f, 1);
    drawLabel(frame, part, label[s], s);
  }

  // plots
  mjrRect plots = plotsArea(frame, area, show);
  if (plots.width > 0) {
    mjr_rectangle(plots, 0.08f, 0.08f, 0.09f, 1);
    plotsDraw(&frame->plots, plots, &frame->context, sims, frame->selected, label);
  }

  // texts over the first scene
  mjrRect view = frameView(frame, area, show, 0);
  if (frame->caption[0]) {
    char text[600];
    snprintf(text, sizeof(text), "%s\n%s", frame->caption, frame->note);
    mjr_overlay(mjFONT_NORMAL, mjGRID_TOPLEFT, view, text, NULL, &frame->context);
  }
  if (frame->flg_legend && sims[0].ngear > 0) {
    drawLegend(frame, view, sims);
  }
}
