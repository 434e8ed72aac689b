// Live plots of the geared joints over the last seconds.

#ifndef MJGEAR_VIEWER_PLOTS_H_
#define MJGEAR_VIEWER_PLOTS_H_

#include "sim.h"

typedef struct Plots_ {
  int shown[simNVALUE];  // 1: a plot of this value is drawn; int for the check boxes of the panel
  double window;         // time that a plot spans, s
  int nsim;              // number of simulations with curves
  int ngear;
  int nsample;       // samples in the rings
  int next;          // place of the next sample
  double last;       // time of the last sample, s
  float* time;       // (nsampleMAX)
  float* data;       // (nsim x ngear x simNVALUE x nsampleMAX)
  mjvFigure figure;  // one is enough: plots are drawn in sequence
} Plots;

// values that have plots
enum { plotsNVALUE = 6 };
extern const int plotsValue[plotsNVALUE];

// room for the curves of nsim simulations of the same joints; 0 on success, -1: out of memory
int plotsInit(Plots* plots, const Sim* sim, int nsim);
void plotsFree(Plots* plots);

// take a sample of the simulations, nsim of them, if the last is old enough; clears the curves if time
// has gone back
void plotsAdd(Plots* plots, const Sim* sims);

// draw the shown plots one above the other, or side by side where there is more width than height. With
// one simulation, curves are joints; with several, the selected joint in each, named by labels (nsim).
void plotsDraw(Plots* plots, mjrRect area, const mjrContext* context, const Sim* sims, int selected,
               const char* const* labels);

// colour of a curve
const float* plotsColor(int curve);

// width of a text in pixels
int plotsTextWidth(const char* text, const mjrContext* context);

// number of plots shown
int plotsShown(const Plots* plots);

#endif  // MJGEAR_VIEWER_PLOTS_H_
