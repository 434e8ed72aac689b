#include "solver/contact.h"

#include "solver/zones.h"


// Make the Hessian of a cone's cost in the middle zone, in the coordinates of jar. N normal, T
// tangential size, U tangential vector, all mapped to the regular cone.
static void coneHessian(mjtNum* H, const mjtNum* U, const mjtNum* scale, mjtNum N, mjtNum T,
                        mjtNum mu, mjtNum mass, int dim) {
  for (int i = 0; i < dim; i++) {
    for (int j = 0; j <= i; j++) {
      mjtNum h = i == 0 ? 1 : j == 0 ? -mu * U[i] / T : mu * N / (T * T * T) * U[i] * U[j];
      if (i == j && i) {
        h += mu * mu - mu * N / T;
      }
      H[i * dim + j] = H[j * dim + i] = mass * scale[i] * scale[j] * h;
    }
  }
}


// an elliptic contact in coordinates with a regular cone: normal U[0], tangential size T
typedef struct mjgpCone_ {
  mjtNum U[6], scale[6], T;
} mjgpCone;


static void makeCone(mjgpCone* cone, const mjtNum* jar, const mjContact* contact) {
  mjtNum sum = 0;
  for (int j = 0; j < contact->dim; j++) {
    cone->scale[j] = j ? contact->friction[j - 1] : contact->mu;
    cone->U[j] = jar[j] * cone->scale[j];
    sum += j ? cone->U[j] * cone->U[j] : 0;
  }
  cone->T = mju_sqrt(sum);
}


// force, Hessian (nullable) and cost of an elliptic contact in a zone
static mjtNum coneForce(mjtNum* f, mjtNum* H, int zone, const mjgpCone* cone, const mjtNum* jar,
                        const mjtNum* D, const mjContact* contact) {
  int dim = contact->dim;
  mjtNum mu = contact->mu, N = cone->U[0], T = cone->T, cost = 0;

  // outside the cone: no force
  if (zone == mjCNSTRSTATE_SATISFIED) {
    mju_zero(f, dim);
  }

  // below the polar cone: all rows act
  else if (zone == mjCNSTRSTATE_QUADRATIC) {
    for (int j = 0; j < dim; j++) {
      f[j] = -D[j] * jar[j];
      cost += 0.5 * D[j] * jar[j] * jar[j];
    }
  }

  // between: sliding
  else {
    mjtNum mass = D[0] / (mu * mu * (1 + mu * mu)), gap = N - mu * T;
    cost = 0.5 * mass * gap * gap;
    f[0] = -mass * gap * mu;
    for (int j = 1; j < dim; j++) {
      f[j] = -f[0] / T * cone->U[j] * cone->scale[j];
    }
    if (H) {
      coneHessian(H, cone->U, cone->scale, N, T, mu, mass, dim);
    }
  }
  return cost;
}


mjtNum mjgp_constraintForce(const mjgpGroup* group, mjtNum* f, int* state, mjtNum* cone,
                            const mjtNum* jar) {
  const mjtNum *D = group->D, *R = group->R, *floss = group->floss;
  mjtNum cost = 0;
  int i = 0;
  for (; i < group->ne; i++) {
    f[i] = -D[i] * jar[i];
    cost += 0.5 * D[i] * jar[i] * jar[i];
    state[i] = mjCNSTRSTATE_QUADRATIC;
  }
  for (; i < group->ne + group->nf; i++) {
    if (jar[i] <= -R[i] * floss[i]) {
      f[i] = floss[i];
      cost += -floss[i] * (0.5 * R[i] * floss[i] + jar[i]);
      state[i] = mjCNSTRSTATE_LINEARNEG;
    } else if (jar[i] >= R[i] * floss[i]) {
      f[i] = -floss[i];
      cost += floss[i] * (jar[i] - 0.5 * R[i] * floss[i]);
      state[i] = mjCNSTRSTATE_LINEARPOS;
    } else {
      f[i] = -D[i] * jar[i];
      cost += 0.5 * D[i] * jar[i] * jar[i];
      state[i] = mjCNSTRSTATE_QUADRATIC;
    }
  }
  for (int k = 0; i < group->nefc; i++) {
    if (group->type[i] == mjCNSTR_CONTACT_ELLIPTIC) {
      const mjContact* contact = group->contact[k];
      mjgpCone regular;
      makeCone(&regular, jar + i, contact);
      int zone = mjgp_zone(regular.U[0], regular.T, contact->mu);
      cost +=
          coneForce(f + i, cone ? cone + 36 * k : NULL, zone, &regular, jar + i, D + i, contact);
      for (int j = 0; j < contact->dim; j++) {
        state[i + j] = zone;
      }
      i += contact->dim - 1;
      k++;
    } else if (jar[i] >= 0) {
      f[i] = 0;
      state[i] = mjCNSTRSTATE_SATISFIED;
    } else {
      f[i] = -D[i] * jar[i];
      cost += 0.5 * D[i] * jar[i] * jar[i];
      state[i] = mjCNSTRSTATE_QUADRATIC;
    }
  }
  return cost;
}


void mjgp_forceInStates(mjgpGroup* group) {
  for (int i = 0, k = 0; i < group->nefc; i++) {
    int state = group->state[i];
    if (group->type[i] == mjCNSTR_CONTACT_ELLIPTIC) {
      const mjContact* contact = group->contact[k];
      mjgpCone regular;
      makeCone(&regular, group->jar + i, contact);
      regular.T = mju_max(regular.T, mjMINVAL);
      coneForce(group->f + i, group->cone + 36 * k++, state, &regular, group->jar + i, group->D + i,
                contact);
      i += contact->dim - 1;
    } else if (state == mjCNSTRSTATE_QUADRATIC) {
      group->f[i] = -group->D[i] * group->jar[i];
    } else {
      group->f[i] = state == mjCNSTRSTATE_LINEARNEG   ? group->floss[i]
                    : state == mjCNSTRSTATE_LINEARPOS ? -group->floss[i]
                                                      : 0;
    }
  }
}


// The same of an elliptic contact.
static mjtNum coneSlope(const mjtNum* from, const mjtNum* row, mjtNum share, const mjtNum* D,
                        const mjContact* contact) {
  mjtNum jar[6], f[6];
  mjgpCone regular;
  mju_addScl(jar, from, row, share, contact->dim);
  makeCone(&regular, jar, contact);
  coneForce(f, NULL, mjgp_zone(regular.U[0], regular.T, contact->mu), &regular, jar, D, contact);
  return -mju_dot(f, row, contact->dim);
}


mjtNum mjgp_slopeAlong(const mjgpGroup* group, const mjtNum* from, const mjtNum* row,
                       mjtNum share) {
  const mjtNum *D = group->D, *floss = group->floss;
  mjtNum slope = 0;
  int i = 0, begin = group->ne + group->nf;
  for (; i < group->ne; i++) {
    slope += D[i] * (from[i] + share * row[i]) * row[i];
  }
  for (; i < begin; i++) {
    slope += mju_clip(D[i] * (from[i] + share * row[i]), -floss[i], floss[i]) * row[i];
  }
  for (int k = 0; i < group->nefc; i++) {
    mjtNum jar = from[i] + share * row[i];
    if (group->ncone && group->type[i] == mjCNSTR_CONTACT_ELLIPTIC) {
      const mjContact* contact = group->contact[k++];
      slope += coneSlope(from + i, row + i, share, D + i, contact);
      i += contact->dim - 1;
    } else if (jar < 0) {
      slope += D[i] * jar * row[i];
    }
  }
  return slope;
}


//---------------------------------- start ---------------------------------------------------------

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
void mjgp_startStates(mjgpGroup* group, const mjModel* m, const mjData* d, const mjtNum* Jw,
                      mjtNum* last, mjtNum* since) {
  mjtNum h = m->opt.timestep;
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
