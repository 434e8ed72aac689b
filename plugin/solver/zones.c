#include "solver/zones.h"

#include <math.h>

#include "gear/tolerances.h"

// along a segment s: N + s dN, and T^2 = T2 + 2 s TdT + s^2 dT2
typedef struct mjgpLine_ {
  mjtNum N, dN, T2, TdT, dT2;
} mjgpLine;


static mjgpLine makeLine(const mjContact* contact, const mjtNum* jar, const mjtNum* djar,
                         int sign) {
  mjgpLine line = {.N = contact->mu * jar[0], .dN = sign * contact->mu * djar[0]};
  for (int j = 1; j < contact->dim; j++) {
    mjtNum U = contact->friction[j - 1] * jar[j], dU = sign * contact->friction[j - 1] * djar[j];
    line.T2 += U * U;
    line.TdT += U * dU;
    line.dT2 += dU * dU;
  }
  return line;
}


int mjgp_zoneOf(const mjContact* contact, const mjtNum* jar, mjtNum edge) {
  mjgpLine line = makeLine(contact, jar, jar, 1);
  mjtNum T = mju_sqrt(line.T2), size = edge * (mju_abs(line.N) + T);
  mjtNum upper = line.N - contact->mu * T, lower = contact->mu * line.N + T;
  int near = mju_abs(upper) <= size || mju_abs(lower) <= size;
  return near ? -1 : mjgp_zone(line.N, T, contact->mu);
}


int mjgp_hasBoundary(int zone, int boundary) {
  return zone == mjCNSTRSTATE_CONE ||
         (zone == mjCNSTRSTATE_SATISFIED) == (boundary == mjgpBOUNDARY_UPPER);
}


int mjgp_isApex(const mjContact* contact, const mjtNum* jar, const mjtNum* djar) {
  mjgpLine line = makeLine(contact, jar, djar, 1);
  mjtNum size = line.N * line.N + line.T2, along = line.dN * line.dN + line.dT2;
  return size <= mjgpSAME * mjgpSAME * along;
}


int mjgp_zoneBehind(int zone, int boundary, int flg_apex) {
  if (zone != mjCNSTRSTATE_CONE) {
    return !flg_apex                        ? mjCNSTRSTATE_CONE
           : zone == mjCNSTRSTATE_SATISFIED ? mjCNSTRSTATE_QUADRATIC
                                            : mjCNSTRSTATE_SATISFIED;
  }
  return boundary == mjgpBOUNDARY_UPPER ? mjCNSTRSTATE_SATISFIED : mjCNSTRSTATE_QUADRATIC;
}


// Set the function of a boundary, a N + b T.
static void factors(mjtNum* a, mjtNum* b, const mjContact* contact, int zone, int boundary) {
  int sign = zone == mjCNSTRSTATE_CONE ? 1 : -1;
  *a = sign * (boundary == mjgpBOUNDARY_UPPER ? -1 : contact->mu);
  *b = sign * (boundary == mjgpBOUNDARY_UPPER ? contact->mu : 1);
}


mjtNum mjgp_boundaryDistance(const mjContact* contact, int zone, int boundary, const mjtNum* jar,
                             const mjtNum* djar, int sign) {
  mjgpLine line = makeLine(contact, jar, djar, sign);
  mjtNum a, b, T = mju_max(mju_sqrt(line.T2), mjMINVAL);
  factors(&a, &b, contact, zone, boundary);
  if (a * line.N + b * T <= 0 && a * line.dN + b * line.TdT / T < 0) {
    return 0;
  }

  // roots of b^2 T^2 = a^2 N^2 at which the function falls through zero
  mjtNum A = a * line.N, dA = a * line.dN, best = INFINITY;
  mjtNum quadratic = b * b * line.dT2 - dA * dA, half = b * b * line.TdT - A * dA;
  mjtNum constant = b * b * line.T2 - A * A, inside = half * half - quadratic * constant;
  if (!(inside >= 0)) {
    return INFINITY;
  }
  mjtNum q = -(half + (half >= 0 ? 1 : -1) * mju_sqrt(inside));
  const mjtNum root[2] = {q / quadratic, constant / q};
  for (int k = 0; k < 2; k++) {
    mjtNum s = root[k], there = mju_sqrt(mju_max(0, line.T2 + s * (2 * line.TdT + s * line.dT2)));
    if (s >= 0 && s < best && (A + s * dA) * b <= 0 &&
        dA + b * (line.TdT + s * line.dT2) / mju_max(there, mjMINVAL) < 0) {
      best = s;
    }
  }
  return best;
}


mjtNum mjgp_turnDistance(const mjContact* contact, const mjtNum* jar, const mjtNum* djar, int sign,
                         mjtNum tangent) {
  mjgpLine line = makeLine(contact, jar, djar, sign);
  mjtNum size2 = mju_max(line.N * line.N + line.T2, mjMINVAL * mjMINVAL), size = mju_sqrt(size2);
  mjtNum along = (line.N * line.dN + line.TdT) / size;
  mjtNum across = mju_sqrt(mju_max(0, line.dN * line.dN + line.dT2 - along * along));
  mjtNum rate = across - tangent * along;
  return rate > 0 ? tangent * size / rate : INFINITY;
}
