#include <math.h>

#include "coupled/path.h"
#include "coupled/zones.h"

// tangent of the angle by which a contact that slides may turn on a line, and on a fine one
#define mjgpTURN 0.3
#define mjgpFINE 0.03


static int isDry(const mjgpGroup* group, int row) {
  return row >= group->ne && row < group->ne + group->nf;
}


static int boundaryOf(mjgpEnd end) {
  return end == mjgpEND_UPPER ? mjgpBOUNDARY_UPPER : mjgpBOUNDARY_LOWER;
}


// does a piece have this end
static int hasEnd(const mjgpPath* p, mjgpEnd end, int i) {
  const mjgpGroup* group = p->s->group;
  int side = mjgp_isJointEnd(end) ? p->side[i] : 0;
  switch (end) {
    case mjgpEND_ROW:
      return i >= group->ne && group->type[i] != mjCNSTR_CONTACT_ELLIPTIC &&
             !(isDry(group, i) && group->state[i] == mjCNSTRSTATE_LINEARNEG);
    case mjgpEND_DRY:
      return isDry(group, i) && group->state[i] != mjCNSTRSTATE_LINEARPOS;
    case mjgpEND_ABOVE:
      return side >= 0;
    case mjgpEND_BELOW:
      return side <= 0;
    case mjgpEND_UPPER:
    case mjgpEND_LOWER:
      return mjgp_hasBoundary(group->state[p->cone[i]], boundaryOf(end));
    default:
      return 1;
  }
}


// value and slope of the function of an end, positive on the piece
static void endAt(mjtNum* value, mjtNum* slope, const mjgpPath* p, mjgpEnd end, int i) {
  const mjgpGroup* group = p->s->group;
  if (end == mjgpEND_LOAD) {
    *value = p->load[i] * p->lambda[i];
    *slope = p->load[i] * p->dlambda[i];
    return;
  }
  if (end == mjgpEND_ROW || end == mjgpEND_DRY) {
    mjtNum edge = isDry(group, i) ? group->R[i] * group->floss[i] : 0;
    int sign = end == mjgpEND_ROW ? 1 : -1;
    sign *= group->state[i] == mjCNSTRSTATE_QUADRATIC ? -1 : 1;
    *value = sign * group->jar[i] - (group->state[i] == mjCNSTRSTATE_QUADRATIC ? -edge : edge);
    *slope = sign * p->djar[i];
    return;
  }
  if (!mjgp_isJointEnd(end)) {
    int row = p->cone[i];
    mjgp_boundaryAt(value, slope, group->contact[i], group->state[row], boundaryOf(end),
                    group->jar + row, p->djar + row);
    return;
  }
  int direction = end == mjgpEND_ABOVE ? 1 : -1, sign = p->side[i] ? -1 : 1;
  mjtNum r = mjgp_ratioOf(p, i, direction);
  mjtNum bound = p->load[i] * p->lambda[i] + mjgp_coulombOf(p, i);
  mjtNum growth = p->load[i] * p->dlambda[i] + p->goal->coulomb[i];
  *value = sign * (r * bound - direction * p->trial[i]);
  *slope = sign * (r * growth - direction * p->dtrial[i]);
}


void mjgp_cross(mjgpPath* p, mjgpEnd end, int i) {
  int cone = end >= mjgpEND_UPPER, *state = p->s->group->state + (cone ? p->cone[i] : i);
  switch (end) {
    case mjgpEND_ROW:
    case mjgpEND_DRY:
      if (*state != mjCNSTRSTATE_QUADRATIC) {
        *state = mjCNSTRSTATE_QUADRATIC;
      } else if (isDry(p->s->group, i)) {
        *state = end == mjgpEND_ROW ? mjCNSTRSTATE_LINEARPOS : mjCNSTRSTATE_LINEARNEG;
      } else {
        *state = mjCNSTRSTATE_SATISFIED;
      }
      break;
    case mjgpEND_LOAD:
      p->load[i] = -p->load[i];
      break;
    case mjgpEND_UPPER:
    case mjgpEND_LOWER: {
      int behind = mjgp_zoneBehind(*state, boundaryOf(end));
      for (int j = 0; j < p->s->group->contact[i]->dim; j++) {
        state[j] = behind;
      }
      break;
    }
    default:
      p->side[i] = p->side[i] ? 0 : end == mjgpEND_ABOVE ? 1 : -1;
  }
}


mjtNum mjgp_lineLength(mjgpEnd* end, int* which, const mjgpPath* p, int sign) {
  const mjgpGroup* group = p->s->group;
  mjtNum length = INFINITY;
  *end = mjgpEND_NONE;
  for (int e = mjgpEND_ROW; e <= mjgpEND_BELOW; e++) {
    int count = e >= mjgpEND_LOAD ? p->n : group->nefc;
    for (int i = 0; i < count; i++) {
      mjtNum value, slope;
      if (!hasEnd(p, (mjgpEnd)e, i)) {
        continue;
      }
      endAt(&value, &slope, p, (mjgpEnd)e, i);
      if (sign * slope < 0 && value < -length * sign * slope) {
        length = mju_max(0, value / (-sign * slope));
        *end = (mjgpEnd)e;
        *which = i;
      }
    }
  }

  // zones of cones, and how far a contact that slides may turn
  for (int k = 0; k < group->ncone; k++) {
    int row = p->cone[k], zone = group->state[row];
    for (int e = mjgpEND_UPPER; e <= mjgpEND_TURN; e++) {
      mjtNum until = INFINITY;
      if (e < mjgpEND_TURN && hasEnd(p, (mjgpEnd)e, k)) {
        until = mjgp_boundaryDistance(group->contact[k], zone, boundaryOf((mjgpEnd)e),
                                      group->jar + row, p->djar + row, sign);
      } else if (e == mjgpEND_TURN && zone == mjCNSTRSTATE_CONE) {
        until = mjgp_turnDistance(group->contact[k], group->jar + row, p->djar + row, sign,
                                  p->fine ? mjgpFINE : mjgpTURN);
      }
      if (until < length) {
        length = until;
        *end = (mjgpEnd)e;
        *which = k;
      }
    }
  }
  return length;
}
