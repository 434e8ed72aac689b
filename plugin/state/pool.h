// Where the objects of all mjData live, so that a pointer in mjData.plugin_data can be checked.
//
// The engine copies mjData byte by byte where programs pickle them, pointers of plugins included. Such a
// pointer is another mjData's, or of another process. It must neither be followed nor freed, so the
// objects live in memory that is never returned, and a pointer is looked at before it is used.

#ifndef MJGEAR_PLUGIN_POOL_H_
#define MJGEAR_PLUGIN_POOL_H_

#include <mujoco/mujoco.h>

struct mjgpGears_;

// a zeroed object of this mjData; null without memory. Locks: not for use in a step but the first
struct mjgpGears_* mjgp_newGears(const mjData* d);

// give it back; the caller has freed what it points to
void mjgp_freeGears(struct mjgpGears_* g);

// an object of this mjData to which nothing points any more, because the engine has overwritten the pointer;
// null if there is none. Looks at all objects
struct mjgpGears_* mjgp_orphanOf(const mjData* d);

// the object at this address if there is one and it is in use, else null; any address may be given
struct mjgpGears_* mjgp_liveGears(uintptr_t address);

#endif  // MJGEAR_PLUGIN_POOL_H_
