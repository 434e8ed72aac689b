#include "plots.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAXSAMPLE = 600,  // samples across a plot: more than it has pixels
  MAXCURVE = 6      // curves that an eye tells apart
};

const int plotsValue[plotsNVALUE] = {simPOSITION, simVELOCITY, simFRICTION, simINTERNAL, simTORQUE_OUT, simGAP};

// colours that stay distinct for most colour-blind eyes, on dark ground
static const float palette[MAXCURVE][3] = {{0.35f, 0.71f, 0.91f}, {0.90f, 0.62f, 0.00f}, {0.25f, 0.80f, 0.55f},
                                           {0.94f, 0.89f, 0.26f}, {0.80f, 0.47f, 0.65f}, {0.90f, 0.40f, 0.15f}};

void plotsFree(Plots* plots) {
  free(plots->time);
  free(plots->data);
  plots->time = NULL;
  plots->data = NULL;
}

int plotsInit(Plots* plots, const Sim* sim, int nsim) {
  plots->nsim = nsim;
  plots->ngear = sim->ngear;
  plots->nsample = 0;
  plots->next = 0;
  size_t curves = (size_t)nsim * (size_t)sim->ngear * simNVALUE;
  plotsFree(plots);
  plots->time = malloc(MAXSAMPLE * sizeof(float));
  plots->data = malloc((curves ? curves : 1) * MAXSAMPLE * sizeof(float));
  return plots->time && plots->data ? 0 : -1;
}

const float* plotsColor(int c) { return palette[c % MAXCURVE]; }

int plotsTextWidth(const char* text, const mjrContext* context) {
  int width = 0;
  for (; *text; text++) {
    width += context->charWidth[(unsigned char)*text];
  }
  return width;
}

// ring of one curve
static float* curve(const Plots* plots, int sim, int gear, int value) {
  return plots->data + (size_t)((sim * plots->ngear + gear) * simNVALUE + value) * MAXSAMPLE;
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
      double value[simROOM];
      simValues(value, sims + s, g);
      for (int i = 0; i < simNVALUE; i++) {
        curve(plots, s, g, i)[k] = (float)value[i];
      }
    }
  }
  plots->time[k] = (float)time;
  plots->last = time;
  plots->next = (k + 1) % MAXSAMPLE;
  plots->nsample += plots->nsample < MAXSAMPLE;
}

int plotsShown(const Plots* plots) {
  int n = 0;
  for (int i = 0; i < simNVALUE; i++) {
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
static void fillLine(mjvFigure* figure, int line, const Plots* plots, const float* ring, float tolerance) {
  enum { LONGEST = 50 };
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
    int width = plotsTextWidth(name[i], context);
    if (left + width + gap > area.left + area.width && left > area.left + gap) {
      left = area.left + gap;
      bottom -= line;
    }
    const float* rgb = i ? palette[i - 1] : white;
    mjrRect rect = {left, bottom, width, line};
    mjr_label(rect, mjFONT_NORMAL, name[i], 0.08f, 0.08f, 0.09f, 1, rgb[0], rgb[1], rgb[2], context);
    left += width + gap;
  }
  return area.bottom + area.height - bottom;
}

// number of curves in a plot
static int curves(const Plots* plots) {
  return plots->nsim > 1 ? plots->nsim : plots->ngear < MAXCURVE ? plots->ngear : MAXCURVE;
}

// geared joint of the first curve
static int firstGear(const Plots* plots, int selected) {
  return plots->nsim > 1 ? selected : selected < MAXCURVE ? 0 : selected - MAXCURVE + 1;
}

// 1 if a simulation has a value: a model without friction has no internal force
static int hasCurve(const Sim* sim, int value) { return value != simINTERNAL || simHasFriction(sim); }

// a plot of one value
static void drawPlot(Plots* plots, mjrRect rect, const mjrContext* context, const Sim* sims, int selected, int value,
                     int flg_axis) {
  mjvFigure* figure = &plots->figure;
  styleFigure(figure);
  snprintf(figure->title, sizeof(figure->title), "%s (%s)", simName[value], simUnit(sims, selected, value));
  figure->title[0] = (char)tolower(figure->title[0]);
  figure->range[0][1] = (float)fmax(plots->last, plots->window);
  figure->range[0][0] = figure->range[0][1] - (float)plots->window;
  figure->flg_ticklabel[0] = flg_axis;
  strcpy(figure->xlabel, flg_axis ? "time (s)" : "");

  // joints around the selected one, or the selected joint of each simulation
  const float* ring[MAXCURVE] = {0};
  float range[2] = {INFINITY, -INFINITY};
  for (int c = 0; c < curves(plots); c++) {
    int sim = plots->nsim > 1 ? c : 0, gear = firstGear(plots, selected) + c - sim;
    if (hasCurve(sims + sim, value)) {
      ring[c] = curve(plots, sim, gear, value);
      findRange(range, plots, ring[c], figure->range[0][0]);
    }
  }

  // a flat curve is drawn in the middle of its plot, not as noise
  if (!(range[0] <= range[1])) {
    range[0] = range[1] = 0;
  }
  float size = fmaxf(fabsf(range[0]), fabsf(range[1]));
  float margin = fmaxf(0.08f * (range[1] - range[0]), size > 0 ? 1e-3f * size : 1);
  figure->range[1][0] = range[0] - margin;
  figure->range[1][1] = range[1] + margin;
  roundRange(figure);
  for (int c = 0; c < MAXCURVE; c++) {
    if (ring[c]) {
      fillLine(figure, c, plots, ring[c], 0.02f * margin);
    }
  }
  roundTime(figure, 2 * rect.width / context->charHeight);
  mjr_figure(rect, figure, context);
}

void plotsDraw(Plots* plots, mjrRect area, const mjrContext* context, const Sim* sims, int selected,
               const char* const* labels) {
  int nshown = plotsShown(plots), ncurve = curves(plots);
  if (nshown == 0 || plots->ngear == 0) {
    return;
  }

  // legend above all curves; of several simulations one joint is shown
  char name[1 + MAXCURVE][64];
  snprintf(name[0], sizeof(name[0]), "%s", plots->nsim > 1 ? sims[0].gear[selected].name : "");
  for (int c = 0; c < ncurve && ncurve > 1; c++) {
    snprintf(name[1 + c], sizeof(name[1 + c]), "%s",
             plots->nsim > 1 ? labels[c] : sims[0].gear[firstGear(plots, selected) + c].name);
  }
  area.height -= ncurve > 1 ? drawNames(name, 1 + ncurve, area, context) : 0;

  // the lowest plot carries the time axis and gets the room for it; in a row each has its own
  int flg_row = area.width > 3 * area.height / 2, below = nshown;
  int axis = 3 * context->charHeight, height = (area.height - axis) / nshown;
  for (int i = 0; i < plotsNVALUE; i++) {
    if (plots->shown[plotsValue[i]]) {
      int at = nshown - below--;
      mjrRect rect = {area.left, area.bottom + (below ? axis + height * below : 0), area.width,
                      height + (below ? 0 : axis)};
      if (flg_row) {
        rect = (mjrRect){area.left + area.width * at / nshown, area.bottom, area.width / nshown, area.height};
      }
      drawPlot(plots, rect, context, sims, selected, plotsValue[i], flg_row || below == 0);
    }
  }
}
