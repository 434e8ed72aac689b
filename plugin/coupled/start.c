#include "coupled/start.h"


// Returns the rate of row i's distance; an edge of a pyramid has its contact's.
static mjtNum distanceRate(const mjgpGroup* group, const mjData* d, int i) {
  int row = group->row[i];
  if (group->type[i] != mjCNSTR_CONTACT_PYRAMIDAL) {
    return d->efc_vel[row];
  }
  int begin = d->contact[d->efc_id[row]].efc_address, opposite = begin + ((row - begin) ^ 1);
  return 0.5 * (d->efc_vel[row] + d->efc_vel[opposite]);
}


// The last reference acceleration follows from the motion since then: the velocity of a row
// changed by h Jw, its distance by h v. Cones are linearized there.
void mjgp_startStates(mjgpStep* s, const mjtNum* Jw, mjtNum* last, mjtNum* since) {
  const mjData* d = s->d;
  mjgpGroup* group = s->group;
  mjtNum h = s->m->opt.timestep;
  for (int i = 0; i < group->nefc; i++) {
    int term = i < group->nterm;
    const mjtNum* KBIP = d->efc_KBIP + (term ? 0 : 4 * group->row[i]);
    mjtNum w = Jw ? Jw[i] : group->jar[i] + group->aref[i];
    since[i] = term ? 0 : h * (KBIP[1] * w + KBIP[0] * KBIP[2] * distanceRate(group, d, i));
    last[i] = group->jar[i] - since[i];
  }
  mjgp_constraintForce(group, group->f, group->state, group->cone, last);
  for (int i = 0, k = 0, dim; i < group->nefc; i += dim) {
    int elliptic = group->type[i] == mjCNSTR_CONTACT_ELLIPTIC;
    dim = elliptic ? group->contact[k]->dim : 1;
    for (int j = i; j < i + dim; j++) {
      if (group->state[j] == mjCNSTRSTATE_QUADRATIC) {
        group->f[j] = -group->D[j] * group->jar[j];
      } else if (group->state[j] == mjCNSTRSTATE_CONE) {
        group->f[j] -= mju_dot(group->cone + 36 * k + dim * (j - i), since + i, dim);
      }
    }
    k += elliptic;
  }
}
