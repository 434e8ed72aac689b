#include "solver/homotopy.h"

#include <math.h>
#include <string.h>

#include "gear/tolerances.h"
#include "law/law.h"
#include "model/simd.h"
#include "solver/convex.h"
#include "solver/law_error.h"

#define mjgpGOLDEN 0.61803398874989484820


void mjgp_makeHomotopy(mjgpHomotopy* homotopy, mjgpStep* s) {
  const mjgpGroup* group = s->group;
  size_t n = (size_t)s->n, nv = (size_t)mjgi_simdEnd(group->nv);
  *homotopy = (mjgpHomotopy){.s = s, .unit = mjMINVAL, .G = mj_stackAllocNum(s->d, nv)};
  mju_zero(homotopy->G, (int)nv);
  homotopy->begin = mj_stackAllocByte(s->d, 2 * sizeof(mjgpInputs) * n, _Alignof(mjgpInputs));
  homotopy->end = homotopy->begin + n;
  for (int i = 0; i < s->n; i++) {
    const mjgpPiece* piece = s->piece + i;
    homotopy->end[i] = (mjgpInputs){piece->v, piece->tau, piece->coulomb};
  }
  for (int k = 0; k < group->nv; k++) {
    mjtNum size = mju_abs(group->force[k]) / mju_sqrt(group->M[group->M_adr[k]]);
    homotopy->unit = mju_max(homotopy->unit, size);
  }
}


void mjgp_setInputs(const mjgpHomotopy* homotopy, mjtNum x) {
  for (int i = 0; i < homotopy->s->n; i++) {
    mjgpPiece* piece = homotopy->s->piece + i;
    const mjgpInputs *begin = homotopy->begin + i, *end = homotopy->end + i;
    piece->v = end->v + (x - 1) * (end->v - begin->v);
    piece->tau = end->tau + (x - 1) * (end->tau - begin->tau);
    piece->coulomb = end->coulomb + (x - 1) * (end->coulomb - begin->coulomb);
    mjgp_setBounds(piece);
  }
}


// Set acceleration, friction and row states of a start. Returns 0 if there are none.
static int setMotion(mjgpStep* s, mjgpStart kind) {
  if (kind == mjgpSTART_REST) {
    mju_zero(s->t, s->n);
    if (!mjgp_inner(s, s->t)) {
      return 0;
    }
  } else if (kind != mjgpSTART_NEAR) {
    mjgp_startAtLast(s);
  }
  for (int i = 0; i < s->n && kind == mjgpSTART_LAST; i++) {
    s->piece[i].mode = s->g->out.mode[s->group->joint[i]];
    s->piece[i].load = s->g->out.load[s->group->joint[i]];
  }
  mjgp_evaluate(s);
  mjgp_accelerations(s);
  return 1;
}


// Stop gear i, whose slip is free.
static void restPiece(mjgpHomotopy* homotopy, int i, mjtNum free) {
  const mjgpStep* s = homotopy->s;
  mjgpPiece* piece = s->piece + i;
  homotopy->begin[i].v -= free;
  homotopy->begin[i].tau += piece->inertia * free / piece->h;
  piece->mode = 0;
  mjgp_setInputs(homotopy, 0);
  piece->load = mjgp_loadAt(s, i) >= 0 ? 1 : -1;
}


// Start gear i at rest: set its velocity to the value that ends at rest without friction
static void startResting(mjgpHomotopy* homotopy, int i) {
  const mjgpStep* s = homotopy->s;
  const mjgpGroup* group = s->group;
  mjgpPiece* piece = s->piece + i;
  mjtNum h = piece->h, free = mjgp_slipOfPiece(piece, homotopy->end[i].v + h * s->acc[i], 0);
  mjtNum part =
      mjgpAPART * homotopy->unit * mju_sqrt(group->M[group->M_adr[group->E_dof[group->E_adr[i]]]]);
  mjtNum golden = mjgpGOLDEN * i - floor(mjgpGOLDEN * i);
  homotopy->begin[i].tau += part * (golden - 0.5);
  homotopy->begin[i].coulomb += part * (1 + golden);
  s->t[i] = 0;
  restPiece(homotopy, i, free);
}


// Start gear i on its branch. Off its branch it rests: its velocity becomes the value that ends at rest,
// and Coulomb friction grows to hold it.
static void startThere(mjgpHomotopy* homotopy, int i) {
  const mjgpStep* s = homotopy->s;
  mjgpPiece* piece = s->piece + i;
  mjtNum t = s->t[i], x = mjgp_taken(s, s->acc, i);
  int blocked = piece->brake && piece->mode == piece->brake->blocked;
  if (piece->mode && !blocked && mjgp_linePiece(piece, s->acc[i], x) &&
      !mjgp_nextPiece(piece, s->acc[i], x, piece->t, 0)) {
    s->t[i] = piece->friction;
    return;
  }
  restPiece(homotopy, i, mjgp_slipOfPiece(piece, piece->v + piece->h * s->acc[i], t));
  mjgpBound bound = piece->bound[t > 0];
  mjtNum most = mjgi_lawBound(mjgp_loadAt(s, i) + bound.shift, bound.c, bound.r);
  homotopy->begin[i].coulomb += mju_max(0, mju_abs(t) - most) / bound.r;
}


// Start far from rest, where friction of gears depends on speed alone, or, if it grows with
// itself faster than its bound, holds joints at any value. There it exceeds the motor's torque and
// opposes it. Motor torque, momentum of rotors and Coulomb friction grow with x. Returns 0 if there is
// no such start.
static int startFar(mjgpHomotopy* homotopy) {
  mjgpStep* s = homotopy->s;
  mjtNum h = s->m->opt.timestep, most = mjMINVAL * mjMINVAL;
  if (!s->rows || s->gaps || !setMotion(s, mjgpSTART_REST)) {
    return 0;
  }
  for (int i = 0; i < s->n; i++) {
    const mjgpPiece* piece = s->piece + i;
    if (piece->brake && (piece->brake->holding > 0 || piece->brake->blocked)) {
      return 0;
    }
    mjtNum v = mjgp_slipOfPiece(piece, homotopy->end[i].v + h * s->acc[i], 0) / h;
    most += v * v / mjgp_stepSize(s, i);
  }
  most = mju_sqrt(most);
  for (int i = 0; i < s->n; i++) {
    mjgpPiece* piece = s->piece + i;
    mjtNum c = mjgp_stepSize(s, i), gamma = piece->gamma_u + piece->gamma_v;
    mjtNum slope = gamma * piece->inertia / h, grows = piece->gamma_v + slope * piece->compliance;
    mjtNum slip = mjgp_slipOfPiece(piece, homotopy->end[i].v + h * s->acc[i], 0);
    mjtNum load =
        gamma * mjgp_torqueOfPiece(piece, s->acc[i], mjgp_taken(s, s->acc, i)) + slope * slip;
    int sign = load > 0 ? -1 : 1, holds = grows >= 1;

    // friction that stops the motion, and its speed
    mjtNum t = sign * most / mju_sqrt(c), own = holds ? 0 : slope / (1 - grows) * h * c;
    s->t[i] = holds ? t : t * own / (1 + own);
    homotopy->begin[i].v = holds ? 0 : -t * h * c / (1 + own);
    homotopy->begin[i].tau = gamma > 0 ? homotopy->end[i].tau - load / gamma : homotopy->end[i].tau;
    homotopy->begin[i].coulomb = 0;
    piece->mode = holds ? 0 : sign;
    piece->load = -sign;
  }
  if (!mjgp_inner(s, s->t)) {
    return 0;
  }
  mjgp_accelerations(s);
  for (int i = 0; i < s->n; i++) {
    const mjgpPiece* piece = s->piece + i;
    mjtNum v = homotopy->end[i].v + h * s->acc[i];
    mjtNum free = homotopy->begin[i].v + mjgp_slipOfPiece(piece, v, s->t[i]);
    homotopy->begin[i].v = homotopy->end[i].v - free;
    homotopy->begin[i].tau += piece->inertia * free / h;
  }
  return 1;
}


// Start the gears at rest, of near starts on the branch of their motion. Returns 0 if there is no motion.
static int startMotion(mjgpHomotopy* homotopy, mjgpStart kind) {
  mjgpStep* s = homotopy->s;
  if (!setMotion(s, kind)) {
    return 0;
  }
  mjgp_setInputs(homotopy, 0);
  for (int i = 0; i < s->n; i++) {
    mjgpPiece* piece = s->piece + i;
    if (piece->shaft) {
      piece->jumps = 0;
      mjgp_moveShaft(piece->shaft, s->acc[i]);
      s->t[i] = piece->shaft->t - mjgp_taken(s, s->acc, i);
    } else if (kind <= mjgpSTART_NEAR) {
      startThere(homotopy, i);
    } else {
      startResting(homotopy, i);
    }
  }
  return 1;
}


int mjgp_startHomotopy(mjgpHomotopy* homotopy, mjgpStart kind) {
  mjgpStep* s = homotopy->s;
  for (int i = 0; i < s->n; i++) {
    if (s->piece[i].released && !s->released) {
      mjgp_setReleased(s->piece + i, 0);  // a release of a failed solution
    }
  }
  memcpy(homotopy->begin, homotopy->end, sizeof(mjgpInputs) * (size_t)s->n);
  int started = kind == mjgpSTART_FAR ? startFar(homotopy) : startMotion(homotopy, kind);
  if (started) {
    mjgp_gradient(s->group, homotopy->G, NULL, s->a, s->t);
  }
  return started;
}
