// One picture of the simulations: scenes side by side, plots, caption, legend of colours.

#ifndef MJGEAR_VIEWER_FRAME_H_
#define MJGEAR_VIEWER_FRAME_H_

#include "plots.h"
#include "show.h"

typedef struct Frame_ {
  mjrContext context;
  mjvScene scene;
  mjvCamera camera;
  mjvOption option;
  mjvPerturb perturb;
  Plots plots;
  int selected;  // geared joint that plots and panel show
  int flg_plots;
  int flg_legend;
  int flg_software;  // drawn by the processor: effects are off by default
  int flg_coarse;    // and often: shapes have fewer triangles
  char caption[256];
  char note[256];  // second line of the caption
} Frame;

// needs a current OpenGL context with this renderer; font_scale as mjtFontScale; flg_quick: many
// frames are drawn, and a slow renderer draws less
void frameInit(Frame* frame, const Sim* sims, int nsim, int font_scale, const char* renderer, int flg_quick);

// another model in the same window
void frameReload(Frame* frame, const Sim* sims, int nsim);

void frameFree(Frame* frame);

// shadows and reflections: 1 on, 0 off, -1 as the renderer can
void frameEffects(Frame* frame, int flg_effects);

// part of the area in which simulation s is drawn
mjrRect frameView(const Frame* frame, mjrRect area, const Show* show, int s);

// update the scene of a simulation as a view draws it; perturb is nullable
void frameScene(Frame* frame, const Sim* sim, mjrRect view, const mjvPerturb* perturb);

// draw in the current buffer
void frameDraw(Frame* frame, mjrRect area, Show* show);

// 1 if the processor draws, by the name of the renderer
int frameIsSoftware(const char* renderer);

// Write what was drawn as a PNG file. 0 on success; else error has the reason
int frameWrite(const Frame* frame, mjrRect area, const char* path, char* error, size_t error_size);

//---------------------------------- ways of showing -----------------------------------------------

// Shows in a window until the user closes it. 0, else an exit code and one line in error.
int window(Show* show, char* error, size_t error_size);

// Runs the show to its end and writes the files of its options. 0 on success, else an exit code,
// and one line in error.
int record(Show* show, char* error, size_t error_size);

#endif  // MJGEAR_VIEWER_FRAME_H_
