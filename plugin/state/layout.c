#include "state/layout.h"

#include "state/model.h"


int mjgp_jointState(const mjModel* m, int instance) {
  int numbers = mjgp_hasBacklash(m, instance) ? mjgpNSTATE : mjgpSTATE_GAP;
  return numbers * mjgp_countJoints(m, instance);
}


int mjgp_nstate(const mjModel* m, int instance) {
  int n = mjgp_jointState(m, instance);
  return mjgp_leader(m, m->plugin[instance]) == instance ? n + (int)m->nv + mjgpNSYSTEM : n;
}
