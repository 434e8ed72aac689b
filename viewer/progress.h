// Progress of a long run: a bar on the terminal of standard error, nothing elsewhere and while everything is quick.

#ifndef VIEWER_PROGRESS_H_
#define VIEWER_PROGRESS_H_

// show that a fraction of all work is done, if it is time to; label names the current work. A smaller fraction than that
// of the last call begins other work
void mjg_showProgress(double fraction, const char* label);

// take the bar off the terminal
void mjg_clearProgress(void);

#endif  // VIEWER_PROGRESS_H_
