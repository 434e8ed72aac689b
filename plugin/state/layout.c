#include "state/layout.h"

#include "configuration/check.h"

_Static_assert(mjgpNCHANGEKEY <= mjgpNBIT + 53, "more keys than two numbers have bits");
_Static_assert(mjgNKEY <= 64, "more keys than mjgpJoint.keys has bits");


int mjgp_slot(void) {
  static _Atomic int known = -1;  // slots of plugins do not change
  int slot = known;
  if (slot < 0 && mjp_getPlugin(mjgpNAME, &slot)) {
    known = slot;
  }
  return slot;
}


int mjgp_jointState(const mjModel* m, int instance) {
  int numbers = mjgpSTATE_KEY + __builtin_popcountll(mjgp_changeableKeys(m, instance));
  numbers += mjgp_countGiven(m, instance, "backlash") ? mjgpNGAPSTATE : 0;
  return numbers * mjgp_countJoints(m, instance);
}


int mjgp_stateSize(const mjModel* m, int instance) {
  int n = mjgp_jointState(m, instance);
  return mjgp_leader(m, m->plugin[instance]) == instance ? n + (int)m->nv + mjgpNSYSTEM : n;
}


int mjgp_nstate(const mjModel* m, int instance) {
  mjgp_noteCompiled(m);
  return mjgp_stateSize(m, instance);
}
