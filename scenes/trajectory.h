// A recorded motion: named columns, one row a step.
//
// Row i is the state at the beginning of step i and the forces that act during it, in these columns:
//
//   time
//   q_JOINT v_JOINT           of each hinge and slide joint
//   motor_JOINT               torque of the actuators
//   friction_JOINT            torque of the gear, opposing motion; NaN if the joint has none that rubs
//   SENSOR, SENSOR_0 ...      each number of each sensor
//   SENSOR_lambda ...         the numbers of a sensor of the plugin, see plugin/sensor.h
//   ...                       what the scene measures
//   difference                largest difference of position or velocity from the scene's own
//                             integration, 0 if it has none

#ifndef SCENES_TRAJECTORY_H_
#define SCENES_TRAJECTORY_H_

#include <stdio.h>

#define mjgMAXNAME 64

typedef struct mjgTrajectory_ {
  const struct mjgCase_* variant;  // the case that was run; null if the scene has none
  int ncolumn;
  int nrow;
  int capacity;              // rows that fit
  char (*name)[mjgMAXNAME];  // (ncolumn)
  double* data;              // (capacity x ncolumn)
} mjgTrajectory;

void mjg_freeTrajectory(mjgTrajectory* trajectory);

// add a column while there are no rows; returns its index, -1 if memory is short
int mjg_addColumn(mjgTrajectory* trajectory, const char* name);

// add a row of zeros and return it; null if memory is short
double* mjg_addRow(mjgTrajectory* trajectory);

// index of a column, -1 if there is none
int mjg_column(const mjgTrajectory* trajectory, const char* name);

// a row, and the last row whose time, which is the first column, is not after t; the first if there is none
const double* mjg_row(const mjgTrajectory* trajectory, int i);
const double* mjg_rowUntil(const mjgTrajectory* trajectory, double t);

// value at the row nearest to a time; NaN without such a column or row
double mjg_at(const mjgTrajectory* trajectory, const char* name, double time);

// smallest and largest value between two times, both included; NaN as above
double mjg_lowest(const mjgTrajectory* trajectory, const char* name, double from, double to);
double mjg_highest(const mjgTrajectory* trajectory, const char* name, double from, double to);

// largest size between two times, and highest minus lowest value
double mjg_size(const mjgTrajectory* trajectory, const char* name, double from, double to);
double mjg_swing(const mjgTrajectory* trajectory, const char* name, double from, double to);

// largest size, or largest swing, between two times in all columns that a pattern matches (fnmatch); INFINITY if one has a
// NaN or none matches
double mjg_largestSize(const mjgTrajectory* trajectory, const char* pattern, double from, double to);
double mjg_largestSwing(const mjgTrajectory* trajectory, const char* pattern, double from, double to);

// conditions of a value
int mjg_isPositive(double value);
int mjg_isNegative(double value);
int mjg_isZero(double value);
int mjg_isNotZero(double value);

// part of the rows with from <= time < to in which a column meets a condition; NaN without such rows
double mjg_share(const mjgTrajectory* trajectory, const char* name, double from, double to, int (*is)(double));

// rows with from < time < to at which a column begins to meet a condition: their number, the times of the first
// (INFINITY without one) and the last
typedef struct mjgEvents_ {
  int n;
  double first;
  double last;
} mjgEvents;
mjgEvents mjg_events(const mjgTrajectory* trajectory, const char* name, double from, double to, int (*is)(double));

// forget all rows
void mjg_clearRows(mjgTrajectory* trajectory);

// write as CSV: the names of the columns, and the last row with all digits; errors show in ferror
void mjg_writeNames(const mjgTrajectory* trajectory, FILE* file);
void mjg_writeLastRow(const mjgTrajectory* trajectory, FILE* file);

// write as an array of NumPy with a field for each column, which nobody reads as text: its head, and the
// last row. np.load takes heads of more than 10000 characters, of some 400 columns, with max_header_size
void mjg_writeHead(const mjgTrajectory* trajectory, long nrow, FILE* file);
void mjg_writeLastNumbers(const mjgTrajectory* trajectory, FILE* file);

#endif  // SCENES_TRAJECTORY_H_
