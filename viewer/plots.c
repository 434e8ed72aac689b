#include "plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAXSAMPLE = 600,  // samples across a plot: more than it has pixels
  MAXCURVE = 6      // curves that an eye tells apart
};

const char* const plotTitle[nPLOT] = {"position (rad)",           "velocity (rad/s)",
                                      "friction (N m)",           "internal force (N m)",
                                      "torque on the link (N m)", "gap (rad)"};

static const char* const plotTitleSlide[nPLOT] = {"position (m)",          "velocity (m/s)",
                                                  "friction (N)",          "internal force (N)",
                                                  "force on the link (N)", "gap (m)"};

// colours that stay distinct for most colour-blind eyes, on dark ground
static const float palette[MAXCURVE][3] = {{0.35f, 0.71f, 0.91f}, {0.90f, 0.62f, 0.00f},
                                           {0.25f, 0.80f, 0.55f}, {0.94f, 0.89f, 0.26f},
                                           {0.80f, 0.47f, 0.65f}, {0.90f, 0.40f, 0.15f}};


int plotsInit(Plots* plots, const Sim* sim, int nsim) {
  plots->nsim = nsim;
  plots->ngear = sim->ngear;
  plots->nsample = 0;
  plots->next = 0;
  size_t curves = (size_t)nsim * (size_t)sim->ngear * nPLOT;
  free(plots->time);
  free(plots->data);
  plots->time = malloc(MAXSAMPLE * sizeof(float));
  plots->data = malloc((curves ? curves : 1) * MAXSAMPLE * sizeof(float));
  return plots->time && plots->data ? 0 : -1;
}


void plotsFree(Plots* plots) {
  free(plots->time);
  free(plots->data);
  plots->time = NULL;
  plots->data = NULL;
}


const float* plotsColor(int c) {
  return palette[c % MAXCURVE];
}


// ring of one curve
static float* curve(const Plots* plots, int sim, int gear, int plot) {
  return plots->data + (size_t)(((sim * plots->ngear) + gear) * nPLOT + plot) * MAXSAMPLE;
}


void plotsAdd(Plots* plots, const Sim* sims) {
  double time = sims[0].d->time;
  if (plots->nsample > 0 && time < plots->last) {
    plots->nsample = 0;
    plots->next = 0;
  }
  if (plots->nsample > 0 && time - plots->last < plots->window / MAXSAMPLE * (1 - 1e-6)) {
    return;
  }
  int k = plots->next;
  for (int s = 0; s < plots->nsim; s++) {
    for (int g = 0; g < plots->ngear; g++) {
      SimValues values = simValues(sims + s, g);
      curve(plots, s, g, plotPOSITION)[k] = (float)values.position;
      curve(plots, s, g, plotVELOCITY)[k] = (float)values.velocity;
      curve(plots, s, g, plotFRICTION)[k] = (float)values.friction;
      curve(plots, s, g, plotLAMBDA)[k] = (float)values.lambda;
      curve(plots, s, g, plotTORQUE)[k] = (float)values.torque_out;
      curve(plots, s, g, plotGAP)[k] = (float)values.gap;
    }
  }
  plots->time[k] = (float)time;
  plots->last = time;
  plots->next = (k + 1) % MAXSAMPLE;
  plots->nsample += plots->nsample < MAXSAMPLE;
}


int plotsShown(const Plots* plots) {
  int n = 0;
  for (int i = 0; i < nPLOT; i++) {
    n += plots->shown[i] != 0;
  }
  return n;
}


// look of every figure
static void styleFigure(mjvFigure* figure) {
  mjv_defaultFigure(figure);
  figure->flg_extend = 0;
  figure->linewidth = 2;
  strcpy(figure->yformat, "%.4g");
  strcpy(figure->minwidth, "-0.000");
  for (int i = 0; i < 3; i++) {
    figure->figurergba[i] = 0.08f;
    figure->panergba[i] = 0.13f;
    figure->gridrgb[i] = 0.35f;
    figure->textrgb[i] = 0.95f;
  }
  figure->figurergba[3] = 0.75f;
  figure->panergba[3] = 0.6f;
  for (int c = 0; c < MAXCURVE; c++) {
    memcpy(figure->linergb[c], palette[c], sizeof(palette[c]));
  }
}


// an axis range of the engine in whole units of a power of ten, and the parts of a grid with round
// numbers. The given range stays a little within, so that round-off does not widen it
static void roundRange(mjvFigure* figure) {
  static const int parts[] = {2, 2, 2, 3, 4, 5, 3, 7, 4, 3};
  static const float least = 1e-5f;  // the engine draws no smaller range
  float middle = 0.5f * (figure->range[1][0] + figure->range[1][1]);
  float low = fminf(figure->range[1][0], middle - 0.9f * least);
  float high = fmaxf(figure->range[1][1], middle + 0.9f * least);
  float unit = powf(10, floorf(log10f(high - low)));
  int first, last;
  for (;; unit *= 10) {
    first = (int)floorf(low / unit);
    last = (int)ceilf(high / unit);
    if (last - first < 10) {
      break;
    }
  }

  // even ends where every other unit has its line
  if (last - first > 4) {
    int even = first - (first & 1), over = last + (last & 1);
    first = over - even < 10 ? even : first;
    last = over - first < 10 ? over : last;
  }
  figure->gridsize[1] = 1 + parts[last - first];
  figure->range[1][0] = ((float)first + 1e-3f) * unit;
  figure->range[1][1] = ((float)last - 1e-3f) * unit;
}


// parts of the time axis at round numbers, few enough for its width in characters
static void roundTime(mjvFigure* figure, int width) {
  int most = width / 7 < 2 ? 2 : width / 7 > 6 ? 6 : width / 7;
  float length = figure->range[0][1] - figure->range[0][0];
  figure->gridsize[0] = 3;
  strcpy(figure->xformat, figure->range[0][0] == 0 ? "%.3g" : "%.1f");
  for (int n = most; n > 2 && figure->gridsize[0] == 3; n--) {
    float step = length / (float)n, unit = powf(10, floorf(log10f(step) + 1e-4f));
    float digit = step / unit;
    int round = fabsf(digit - 1) < 1e-3f || fabsf(digit - 2) < 1e-3f || fabsf(digit - 5) < 1e-3f;
    figure->gridsize[0] = round ? n + 1 : 3;
  }
}


// the smallest and largest value of a ring within the window widen range
static void findRange(float range[2], const Plots* plots, const float* ring, float begin) {
  for (int i = 0; i < plots->nsample; i++) {
    int k = (plots->next - plots->nsample + i + MAXSAMPLE) % MAXSAMPLE;
    if (plots->time[k] >= begin && isfinite(ring[k])) {
      range[0] = ring[k] < range[0] ? ring[k] : range[0];
      range[1] = ring[k] > range[1] ? ring[k] : range[1];
    }
  }
}


// copy the samples of a ring within the window. OpenGL leaves gaps in lines of pieces shorter than a
// pixel, so that straight runs become one piece; tolerance is how far a point may be off
static void fillLine(mjvFigure* figure, int line, const Plots* plots, const float* ring,
                     float tolerance) {
  enum {
    LONGEST = 50
  };
  float* data = figure->linedata[line];
  int n = 0, run = 0;
  for (int i = 0; i < plots->nsample; i++) {
    int k = (plots->next - plots->nsample + i + MAXSAMPLE) % MAXSAMPLE;
    float x = plots->time[k], y = ring[k];
    if (x < figure->range[0][0]) {
      continue;
    }

    // the last point falls out if it lies on the line from the one before it to this one
    if (n >= 2 && run < LONGEST) {
      const float* a = data + 2 * (n - 2);
      const float* b = data + 2 * (n - 1);
      float on = a[1] + (y - a[1]) * (b[0] - a[0]) / (x - a[0]);
      int straight = fabsf(on - b[1]) <= tolerance;
      n -= straight;
      run = straight ? run + 1 : 0;
    } else {
      run = 0;
    }
    data[2 * n] = x;
    data[2 * n + 1] = y;
    n++;
  }
  figure->linepnt[line] = n;
}


// a title, and names in the colours of their curves, in as many lines as they need, at the upper
// edge of an area; returns their height
static int drawNames(char (*name)[64], int n, mjrRect area, const mjrContext* context) {
  int line = 11 * context->charHeight / 10, gap = context->charHeight / 2;
  int left = area.left + gap, bottom = area.bottom + area.height - line;
  static const float white[3] = {0.95f, 0.95f, 0.95f};
  for (int i = name[0][0] ? 0 : 1; i < n; i++) {
    int width = 0;
    for (const char* c = name[i]; *c; c++) {
      width += context->charWidth[(unsigned char)*c];
    }
    if (left + width + gap > area.left + area.width && left > area.left + gap) {
      left = area.left + gap;
      bottom -= line;
    }
    const float* rgb = i ? palette[i - 1] : white;
    mjrRect rect = {left, bottom, width, line};
    mjr_label(rect, mjFONT_NORMAL, name[i], 0.08f, 0.08f, 0.09f, 1, rgb[0], rgb[1], rgb[2],
              context);
    left += width + gap;
  }
  return area.bottom + area.height - bottom;
}


// 1 if a simulation has the quantity of a plot: the engine's friction has no internal
// force, and a model without friction has none
static int hasCurve(const Sim* sim, int plot) {
  if (plot < plotLAMBDA) {
    return 1;
  }
  return sim->friction == simGEAR && (plot != plotLAMBDA || simHasFriction(sim));
}


void plotsDraw(Plots* plots, mjrRect area, const mjrContext* context, const Sim* sims, int selected,
               const char* const* labels) {
  int nshown = plotsShown(plots);
  if (nshown == 0 || plots->ngear == 0) {
    return;
  }

  // the curves: joints around the selected one, or the selected joint of each simulation
  int ncurve = plots->nsim > 1 ? plots->nsim : plots->ngear < MAXCURVE ? plots->ngear : MAXCURVE;
  int first = plots->nsim > 1 ? selected : selected < MAXCURVE ? 0 : selected - MAXCURVE + 1;
  int flg_slide = simIsLength(sims, selected);

  // legend above all curves; of several simulations one joint is shown
  char name[1 + MAXCURVE][64];
  snprintf(name[0], sizeof(name[0]), "%s", plots->nsim > 1 ? sims[0].gear[selected].name : "");
  for (int c = 0; c < ncurve && ncurve > 1; c++) {
    snprintf(name[1 + c], sizeof(name[1 + c]), "%s",
             plots->nsim > 1 ? labels[c] : sims[0].gear[first + c].name);
  }
  area.height -= ncurve > 1 ? drawNames(name, 1 + ncurve, area, context) : 0;
  mjvFigure* figure = &plots->figure;
  int below = nshown, flg_row = area.width > 3 * area.height / 2;
  for (int plot = 0; plot < nPLOT; plot++) {
    if (!plots->shown[plot]) {
      continue;
    }
    below--;
    styleFigure(figure);
    snprintf(figure->title, sizeof(figure->title), "%s",
             flg_slide ? plotTitleSlide[plot] : plotTitle[plot]);
    figure->range[0][1] = (float)fmax(plots->last, plots->window);
    figure->range[0][0] = figure->range[0][1] - (float)plots->window;
    figure->flg_ticklabel[0] = flg_row || below == 0;
    strcpy(figure->xlabel, flg_row || below == 0 ? "time (s)" : "");

    float range[2] = {INFINITY, -INFINITY};
    for (int c = 0; c < ncurve; c++) {
      int sim = plots->nsim > 1 ? c : 0;
      int gear = plots->nsim > 1 ? first : first + c;
      if (!hasCurve(sims + sim, plot)) {
        continue;
      }
      findRange(range, plots, curve(plots, sim, gear, plot), figure->range[0][0]);
    }

    // a flat curve is drawn in the middle of its plot, not as noise
    if (!(range[0] <= range[1])) {
      range[0] = range[1] = 0;
    }
    float size = fmaxf(fabsf(range[0]), fabsf(range[1]));
    float least = size > 0 ? 1e-3f * size : 1;
    float margin = fmaxf(0.08f * (range[1] - range[0]), least);
    figure->range[1][0] = range[0] - margin;
    figure->range[1][1] = range[1] + margin;
    roundRange(figure);
    for (int c = 0; c < ncurve; c++) {
      int sim = plots->nsim > 1 ? c : 0, gear = plots->nsim > 1 ? first : first + c;
      if (hasCurve(sims + sim, plot)) {
        fillLine(figure, c, plots, curve(plots, sim, gear, plot), 0.02f * margin);
      }
    }

    // the lowest plot carries the time axis and gets the room for it; in a row each has its own
    int axis = 3 * context->charHeight, height = (area.height - axis) / nshown;
    mjrRect rect = {area.left, area.bottom + (below ? axis + height * below : 0), area.width,
                    height + (below ? 0 : axis)};
    if (flg_row) {
      int at = nshown - 1 - below;
      rect = (mjrRect){area.left + area.width * at / nshown, area.bottom, area.width / nshown,
                       area.height};
    }
    roundTime(figure, 2 * rect.width / context->charHeight);
    mjr_figure(rect, figure, context);
  }
}
