// Does the engine that is running have the layouts that the plugin was compiled with?
// Asked of patch releases only.

#ifndef MJGEAR_PLUGIN_FIT_H_
#define MJGEAR_PLUGIN_FIT_H_

// compile and step a small model with the engine, and compare what stands in its structs
// with what is known of it: sizes, members from the first to the last, the motion in closed
// form. Null, or what differs
const char* mjgp_misfit(void);

#endif  // MJGEAR_PLUGIN_FIT_H_
