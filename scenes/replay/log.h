// Measured logs of data/xl330: CSV, compressed by gzip.

#ifndef SCENES_REPLAY_LOG_H_
#define SCENES_REPLAY_LOG_H_

typedef struct mjgLog_ {
  double kp;  // position gain, of the servo's register
  int n;
  double* row;  // (n x mjgLOGWIDTH)
} mjgLog;

enum {
  mjgLOGTIME = 0,  // s
  mjgLOGPOSITION,  // rad
  mjgLOGGOAL,      // rad
  mjgLOGENABLE,    // 1: the servo's motor is on
  mjgLOGWIDTH
};

// read a log of that folder, which lies beside scenes/; 0 on success, nothing to free otherwise
int mjg_readLog(mjgLog* log, const char* name);

// row that was valid at a time, its first being 0
const double* mjg_logRow(const mjgLog* log, double time);

#endif  // SCENES_REPLAY_LOG_H_
