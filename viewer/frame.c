#include "frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/visualize.h"


//---------------------------------- life ----------------------------------------------------------

// does the processor draw
int frameIsSoftware(const char* renderer) {
  static const char* const names[] = {"llvmpipe", "softpipe", "swrast", "Software"};
  for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
    if (strstr(renderer, names[i])) {
      return 1;
    }
  }
  return 0;
}


// camera that sees the whole model: the first of the model's own, else the free one
static void startCamera(Frame* frame, const mjModel* m) {
  mjv_defaultFreeCamera(m, &frame->camera);
  if (m->ncam > 0) {
    frame->camera.type = mjCAMERA_FIXED;
    frame->camera.fixedcamid = 0;
  }
}


// shapes of fewer triangles, which on the screen look as before: the processor's time for a frame is half
// of what it is with the engine's defaults
static void coarsen(mjModel* m) {
  enum {
    SLICES = 20,
    STACKS = 10,
    QUADS = 2
  };
  m->vis.quality.numslices = mjMIN(m->vis.quality.numslices, SLICES);
  m->vis.quality.numstacks = mjMIN(m->vis.quality.numstacks, STACKS);
  m->vis.quality.numquads = mjMIN(m->vis.quality.numquads, QUADS);
}


// what depends on the model
static void makeModel(Frame* frame, const Sim* sims, int nsim, int font_scale) {
  mjModel* m = sims[0].m;
  if (frame->flg_coarse) {
    coarsen(m);
  }
  mjv_makeScene(m, &frame->scene, 2000);
  if (frame->flg_software) {
    frame->scene.flags[mjRND_SHADOW] = 0;
    frame->scene.flags[mjRND_REFLECTION] = 0;
  }
  mjr_makeContext(m, &frame->context, font_scale);
  mjv_defaultPerturb(&frame->perturb);
  startCamera(frame, m);
  frame->selected = 0;

  // curves begin at the first state; the gap is worth one where there is one
  frame->plots.shown[plotGAP] = simHasBacklash(sims);
  frame->plots.shown[plotLAMBDA] = !frame->plots.shown[plotGAP];
  plotsInit(&frame->plots, sims, nsim);
  plotsAdd(&frame->plots, sims);
}


void frameInit(Frame* frame, const Sim* sims, int nsim, int font_scale, const char* renderer,
               int flg_live) {
  memset(frame, 0, sizeof(*frame));
  mjv_defaultScene(&frame->scene);
  mjr_defaultContext(&frame->context);
  mjv_defaultOption(&frame->option);
  frame->flg_software = frameIsSoftware(renderer);
  frame->flg_coarse = frame->flg_software && flg_live;
  frame->flg_plots = 1;
  frame->flg_caption = 1;
  frame->flg_legend = 1;
  frame->plots.window = 5;
  frame->plots.shown[plotVELOCITY] = 1;
  frame->plots.shown[plotFRICTION] = 1;
  frame->plots.shown[plotLAMBDA] = 1;
  makeModel(frame, sims, nsim, font_scale);
}


void frameReload(Frame* frame, const Sim* sims, int nsim) {
  int font_scale = frame->context.fontScale;
  mjv_freeScene(&frame->scene);
  makeModel(frame, sims, nsim, font_scale);
}


void frameEffects(Frame* frame, int flg_effects) {
  if (flg_effects >= 0) {
    frame->scene.flags[mjRND_SHADOW] = (mjtByte)flg_effects;
    frame->scene.flags[mjRND_REFLECTION] = (mjtByte)flg_effects;
  }
}


void frameFree(Frame* frame) {
  plotsFree(&frame->plots);
  mjv_freeScene(&frame->scene);
  mjr_freeContext(&frame->context);
}


//---------------------------------- overlays ------------------------------------------------------

// coloured labels along the lower edge: what the colours of geared joints say
static void drawLegend(const Frame* frame, mjrRect area, const Sim* sim) {
  const mjrContext* context = &frame->context;
  int height = context->charHeight + context->charHeight / 2;
  int left = area.left + height / 2, bottom = area.bottom + height / 3;
  int n = simHasBacklash(sim) ? mjgpNSHOW : mjgpSHOW_GAP;
  for (int i = 0; i < n; i++) {
    int width = context->charHeight / 2;
    for (const char* c = mjgpShowName[i]; *c; c++) {
      width += context->charWidth[(int)*c];
    }
    if (left + width > area.left + area.width) {
      left = area.left + height / 2;
      bottom += height + height / 4;
    }
    const float* rgb = mjgpShowColor[i];
    float text = rgb[0] + rgb[1] > 1.0f ? 0.0f : 1.0f;
    mjrRect rect = {left, bottom, width, height};
    mjr_label(rect, mjFONT_NORMAL, mjgpShowName[i], rgb[0], rgb[1], rgb[2], 0.9f, text, text, text,
              context);
    left += width + height / 5;
  }
}


// live values of the selected joint
static void drawValues(const Frame* frame, mjrRect area, const Sim* sim) {
  static const char names[] =
      "joint\nposition\nvelocity\ntorque in\ntorque out\nfriction\ninternal force\nmode\n"
      "power loss\ngap\niterations\nresidual";
  static const char* const modes[] = {"backward", "stuck", "forward"};
  SimValues v = simValues(sim, frame->selected);
  char text[600];
  int slide = sim->m->jnt_type[sim->gear[frame->selected].joint] == mjJNT_SLIDE;
  const char* length = slide ? "m" : "rad";
  const char* torque = slide ? "N" : "N m";
  snprintf(text, sizeof(text),
           "%s\n%.5g %s\n%.4g %s/s\n%.4g %s\n%.4g %s\n%.4g %s\n%.4g %s\n%s\n%.4g W\n%.4g %s\n%d\n"
           "%.1e",
           sim->gear[frame->selected].name, v.position, length, v.velocity, length, v.torque_in,
           torque, v.torque_out, torque, v.friction, torque, v.lambda, torque, modes[v.mode + 1],
           v.power_loss, v.gap, length, v.iterations, v.residual);
  mjr_overlay(mjFONT_NORMAL, mjGRID_BOTTOMLEFT, area, names, text, &frame->context);
}


//---------------------------------- picture -------------------------------------------------------

// is there room taken by plots
static int plotsWidth(const Frame* frame, mjrRect area, const Show* show) {
  int flg_plots = frame->flg_plots && show->sim[0].ngear > 0 && plotsShown(&frame->plots) > 0;
  return flg_plots ? area.width * 36 / 100 : 0;
}


mjrRect frameView(const Frame* frame, mjrRect area, const Show* show, int s) {
  int width = area.width - plotsWidth(frame, area, show);
  int left = width * s / show->nsim, right = width * (s + 1) / show->nsim;
  return (mjrRect){area.left + left, area.bottom, right - left, area.height};
}


void frameScene(Frame* frame, const Sim* sim, mjrRect view, const mjvPerturb* perturb) {
  mjv_updateScene(sim->m, sim->d, &frame->option, perturb, &frame->camera, mjCAT_ALL,
                  &frame->scene);

  // what a camera sees in a picture of usual shape it sees in a narrow one too
  float wide = 4.0f / 3.0f * (float)view.height / (float)(view.width > 0 ? view.width : 1);
  for (int i = 0; i < 2 && wide > 1; i++) {
    frame->scene.camera[i].frustum_bottom *= wide;
    frame->scene.camera[i].frustum_top *= wide;
  }
}


void frameDraw(Frame* frame, mjrRect area, Show* show) {
  static const char* const labels[] = {"gear friction", "native frictionloss", "no friction"};
  const char* label[nVIEW];
  Sim* sims = show->sim;
  for (int s = 0; s < show->nsim; s++) {
    label[s] = labels[sims[s].friction];
  }

  // scenes side by side
  for (int s = 0; s < show->nsim; s++) {
    mjrRect part = frameView(frame, area, show, s);
    frameScene(frame, sims + s, part, s == 0 ? &frame->perturb : NULL);
    mjr_render(part, &frame->scene, &frame->context);
    if (show->nsim > 1) {
      mjr_overlay(mjFONT_NORMAL, mjGRID_TOP, part, label[s], NULL, &frame->context);
    }
  }

  // plots take the right part
  int width = plotsWidth(frame, area, show);
  mjrRect view = {area.left, area.bottom, area.width - width, area.height};
  if (width > 0) {
    mjrRect plots = {area.left + view.width, area.bottom, width, area.height};
    mjr_rectangle(plots, 0.08f, 0.08f, 0.09f, 1);
    plotsDraw(&frame->plots, plots, &frame->context, sims, frame->selected, label);
  }

  // texts over the scene
  if (frame->flg_caption && frame->caption[0]) {
    mjrRect top = view;
    top.height -= show->nsim > 1 ? 2 * frame->context.charHeight : 0;
    char text[600];
    snprintf(text, sizeof(text), "%s\n%s", frame->caption, frame->note);
    mjr_overlay(mjFONT_NORMAL, mjGRID_TOPLEFT, top, text, NULL, &frame->context);
  }
  mjrRect bottom = view;
  if (frame->flg_legend && sims[0].ngear > 0) {
    drawLegend(frame, view, sims);
    bottom.bottom += 2 * frame->context.charHeight;
    bottom.height -= 2 * frame->context.charHeight;
  }
  if (frame->flg_values && sims[0].ngear > 0) {
    drawValues(frame, bottom, sims);
  }
}
