// Row states at the start of a step, from the motion of the last one.

#ifndef MJGEAR_PLUGIN_START_H_
#define MJGEAR_PLUGIN_START_H_

#include "coupled/delassus.h"

// Set the row states of the last step and the forces in them at group->jar: at this step's
// reference acceleration rows that stay active may be open. Jw (nullable: J a): J times the
// integrator's acceleration. last, since: scratch                                  (nefc)
void mjgp_startStates(mjgpStep* s, const mjtNum* Jw, mjtNum* last, mjtNum* since);

#endif  // MJGEAR_PLUGIN_START_H_
