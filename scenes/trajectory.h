// A recorded motion: named columns, one row a step.
//
// Row i is the state at the beginning of step i and the forces that act during it: the first column
// is "time"; then, for each hinge and slide joint, "q_", "v_", "motor_" (torque of the actuators) and
// "friction_" (torque of the gear, opposing motion), each with the name of the joint; then one
// column for each number of each sensor, by the name of the sensor; then what the scene measures;
// last "difference", the largest difference of position or velocity from the scene's own
// integration, if it has one.

#ifndef SCENES_TRAJECTORY_H_
#define SCENES_TRAJECTORY_H_

#include <stdio.h>

#define mjgMAXNAME 64

typedef struct mjgTrajectory_ {
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

// value at the row nearest to a time; NaN if there is no such column or no row
double mjg_at(const mjgTrajectory* trajectory, const char* name, double time);

// smallest and largest value between two times, both included; NaN as above
double mjg_lowest(const mjgTrajectory* trajectory, const char* name, double from, double to);
double mjg_highest(const mjgTrajectory* trajectory, const char* name, double from, double to);

// forget all rows
void mjg_clearRows(mjgTrajectory* trajectory);

// write as CSV: the names of the columns, and the last row with all digits; errors show in ferror
void mjg_writeNames(const mjgTrajectory* trajectory, FILE* file);
void mjg_writeLastRow(const mjgTrajectory* trajectory, FILE* file);

#endif  // SCENES_TRAJECTORY_H_
