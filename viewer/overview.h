// The list of scenes with a picture of each, from which one is chosen by the mouse.

#ifndef MJGEAR_VIEWER_OVERVIEW_H_
#define MJGEAR_VIEWER_OVERVIEW_H_

#include <mujoco/mujoco.h>

typedef struct Overview_ Overview;

// null if memory is short
Overview* overviewOpen(void);

void overviewClose(Overview* overview);

// draw all scenes in an area
void overviewDraw(Overview* overview, mjrRect area, const mjrContext* context);

// index in mjg_scenes of the scene at a point of the area that was drawn last; -1: none
int overviewPick(const Overview* overview, double x, double y);

#endif  // MJGEAR_VIEWER_OVERVIEW_H_
