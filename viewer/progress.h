// Progress of a long run: a bar on the terminal of standard error, nothing elsewhere and while everything is quick.

#ifndef VIEWER_PROGRESS_H_
#define VIEWER_PROGRESS_H_

typedef struct mjgProgress_ {
  int enabled;
  double begin;  // s, of a clock that runs steadily
  double next;   // time of the next display
  int shown;     // 1 if a bar stands on the terminal
} mjgProgress;

void mjg_beginProgress(mjgProgress* progress, int enabled);

// show that a fraction of all work is done, if it is time to; label names the current work
void mjg_showProgress(mjgProgress* progress, double fraction, const char* label);

// take the bar off the terminal
void mjg_clearProgress(mjgProgress* progress);

#endif  // VIEWER_PROGRESS_H_
