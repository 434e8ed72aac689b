// Each iteration solves H a + E' t = force for the current active set: states of rows and
// pieces of gears (system.h). If the solution keeps the active set, the step is solved
// exactly. Otherwise a line search on the convex cost sets the step length,
//
//   1/2 a' M a - b' a + s(J a - aref) + sum psi_i(E_i a),      psi_i' = friction of gear i
//
// which is convex where every gear can be driven from both sides and the metric is one.
// Elsewhere friction keeps the value of the solution, and the search is for constraints
// alone. Where gears cycle, a Gauss-Seidel sweep gives their pieces (settleBranches).

#include "solver/newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "gear/piece.h"
#include "gear/tolerances.h"
#include "model/simd.h"
#include "solver/contact.h"
#include "solver/convex.h"
#include "solver/law_error.h"
#include "solver/system.h"


//---------------------------------- state of the iteration ----------------------------------------

// Make the lines of all pieces at s->acc.
static void makeLines(mjgpNewton* p) {
  mjgpStep* s = p->s;
  for (int i = 0; i < s->n; i++) {
    mjgp_linePiece(s->piece + i, s->acc[i], mjgp_taken(s, s->acc, i));
  }
}


// Set the gradient without friction, with the forces in group->f, where M a - b is known.
static void addForces(mjgpNewton* p) {
  mjgpStep* s = p->s;
  mju_copy(s->gradient, p->smooth, mjgi_simdEnd(s->group->nv));
  mjgp_subtractForces(s->group, s->gradient, s->group->f);
}


// Set s->acc in two metrics, where M a - b is known. p->w becomes the integrator's acceleration.
static void integratorAccelerations(mjgpNewton* p) {
  mjgpStep* s = p->s;
  mju_add(p->w, p->smooth, s->group->force, mjgi_simdEnd(s->group->nv));
  mjgp_motion(s, p->w, s->a);
  mju_zero(s->acc, s->group->ld);
  mjgp_project(s, s->acc, p->w);
}


// Set friction and next piece of each gear, from the lines at p->acc. Returns the number that
// change.
static int nextPieces(mjgpNewton* p) {
  mjgpStep* s = p->s;
  mjtNum size = p->size;
  int changes = 0;
  for (int i = 0; i < s->n; i++) {
    size = mju_max(size, mju_abs(s->t[i]));  // an unknown of the same system
  }
  for (int i = 0; i < s->n; i++) {
    mjgpPiece* piece = s->piece + i;
    mjtNum x = mjgp_taken(s, s->acc, i);
    if (!piece->held && piece->weight == 1) {
      mjtNum line = mjgp_onLine(piece, s->acc[i], x);

      // a steep line of a pre-sliding gear has fewer digits than the solution
      int yields = !piece->mode && piece->compliance > 0;
      s->t[i] = yields && mju_abs(s->t[i] - line) <= mjgpCLOSE * size ? s->t[i] : line;
    }
    changes += mjgp_isBranch(piece)
                   ? mjgp_nextBranch(piece, mjgp_stepSize(s, i), mjgp_delassusTorque(s, i, i),
                                     s->acc[i], x, s->t[i], size)
                   : mjgp_nextPiece(piece, s->acc[i], x, s->t[i], size);
    s->t[i] = piece->friction;
  }
  return changes;
}


// Returns 1 if rows act otherwise than in the factors, or a contact slides: the forces are others
// than those of the linear system.
static int forcesDiffer(const mjgpStep* s) {
  const mjgpGroup* group = s->group;
  size_t size = sizeof(int) * (size_t)group->nefc;
  return mjgp_hasSliding(group) || memcmp(group->state, s->factored, size);
}


// Set s->rounding, that of stiff shafts included. p->w becomes the gradient with friction.
static void setRounding(mjgpNewton* p) {
  mjgpStep* s = p->s;
  const mjgpGroup* group = s->group;
  mjgp_gradient(group, p->w, s->rounding, s->a, s->t);
  for (int i = 0; i < s->n; i++) {
    mjtNum size = s->piece[i].shaft ? DBL_EPSILON * mjgp_shaftSize(s->piece[i].shaft) : 0;
    for (int k = group->E_adr[i]; k < group->E_adr[i + 1] && size > 0; k++) {
      s->rounding[group->E_dof[k]] += size * mju_abs(group->E[k]);
    }
  }
}


// Returns 1 if the gradient with friction is round-off.
static int isZero(mjgpNewton* p) {
  setRounding(p);
  return mjgp_isRoundOff(p->w, p->s->rounding, p->s->group->nv);
}


//---------------------------------- line search ---------------------------------------------------

// Returns the slope of the cost a share along the step, without linear terms. f: constraint
// forces there, null: unknown.
static mjtNum slopeAt(mjgpNewton* p, mjtNum share, const mjtNum* f) {
  mjgpStep* s = p->s;
  const mjgpGroup* group = s->group;
  mjtNum slope =
      f ? -mju_dot(f, p->row, group->nefc) : mjgp_slopeAlong(group, p->from, p->row, share);
  for (int i = 0; i < s->n && p->whole; i++) {
    mjtNum along = p->dacc[i];
    if (along != 0) {
      slope += along * mjgp_frictionAt(s->piece + i, p->acc[i] + share * along, along, s->t[i]);
    }
  }
  return slope;
}


// Shorten the step s->search to the least cost along it, and set the pieces there.
// Returns 0 if the full step is kept.
static int shorten(mjgpNewton* p) {
  mjgpStep* s = p->s;
  mjgpGroup* group = s->group;
  int nv = group->nv, count = s->n + group->nextra;
  mju_sub(p->row, group->jar, p->from, group->nefc);
  mju_sub(p->dacc, s->acc, p->acc, count);

  // inertia is linear along the step, which ends at s->a
  mjtNum linear = mju_dot(p->before, s->search, nv);
  mjtNum quadratic = mju_dot(p->smooth, s->search, nv) - linear;
  for (int i = 0; i < s->n && !p->whole; i++) {
    linear += s->t[i] * mjgp_mulGear(group, i, s->search);
  }
  mjgpBracket b = {.high = 1};
  b.at_low = slopeAt(p, 0, NULL) + linear;
  b.at_high = slopeAt(p, 1, group->f) + linear + quadratic;
  mjtNum share = 1, slope = b.at_high, most = -mjgpLEFT * b.at_low;
  if (!(b.at_low < 0) || b.at_high <= most) {
    return 0;
  }
  for (int k = 0; k < mjgpHALVINGS && mju_abs(slope) > most; k++) {
    mjtNum next = b.low - b.at_low * (b.high - b.low) / (b.at_high - b.at_low);
    if (!(next > b.low && next < b.high)) {
      break;
    }
    share = next;
    slope = slopeAt(p, share, NULL) + linear + share * quadratic;
    mjgp_narrow(&b, share, slope);
  }
  mju_addToScl(s->a, s->search, share - 1, nv);
  mju_addScl(s->acc, p->acc, p->dacc, share, count);
  for (int i = 0; i < s->n; i++) {
    s->t[i] += (share - 1) * (s->t[i] - s->target[i]);
  }

  // linear quantities are known at both ends of the step
  mju_addScl(group->jar, p->from, p->row, share, group->nefc);
  mju_scl(p->smooth, p->smooth, share, nv);
  mju_addToScl(p->smooth, p->before, 1 - share, nv);
  mjgp_constraintForce(group, group->f, group->state, group->cone, group->jar);

  // a slope that does not vanish jumps; other gears keep the pieces of the whole step
  int jumps = !p->whole || mju_abs(slope) > most;
  for (int i = 0; i < s->n; i++) {
    if (s->piece[i].shaft && !mjgp_isBranch(s->piece + i)) {
      mjgp_setShaft(s->piece + i, p->acc[i] + b.low * p->dacc[i], s->acc[i],
                    p->acc[i] + b.high * p->dacc[i], jumps);
    }
  }
  return 1;
}


//---------------------------------- relaxation ----------------------------------------------------

// Settle the gears by sweeps, with constraints in their states. Newton continues from these pieces
static void settleBranches(mjgpNewton* p) {
  mjgpStep* s = p->s;
  int all = s->n + s->group->nextra;
  if (!mjgp_linearize(s)) {
    return;
  }
  p->system.factored = 0;
  mjgp_freeAcceleration(s, p->dacc, p->acc);
  for (int r = 0; r < all; r++) {
    p->dacc[r] -= mju_dot(s->W + r * s->group->ld, s->t, s->n);
  }
  mjgp_sweepGears(s, s->t, p->dacc);
}


//---------------------------------- results -------------------------------------------------------

// Returns the largest unbalanced torque of a dof, relative to the largest torque, and motion of a
// stuck gear, relative to the fastest; 0 if above the tolerance and round-off. In two metrics at the
// integrator's acceleration for s->a.
static mjtNum residual(mjgpNewton* p) {
  mjgpStep* s = p->s;
  const mjgpGroup* group = s->group;
  mjtNum missing = 0, most = 0, fastest = 0, moves = 0, h = s->m->opt.timestep;
  if (s->rows) {
    integratorAccelerations(p);
  }
  mju_copy(p->w, s->gradient, group->nv);
  mjgp_addGears(group, p->w, s->t);
  mju_zero(s->next, group->nv);
  for (int i = 0; i < s->n; i++) {
    for (int k = group->E_adr[i]; k < group->E_adr[i + 1]; k++) {
      s->next[group->E_dof[k]] += mju_abs(group->E[k] * s->t[i]);
    }
  }
  for (int k = 0; k < group->nv; k++) {
    mjtNum M = group->M[group->M_adr[k]], own = mju_abs(M * s->a[k]);
    mjtNum step = mju_abs(M * s->search[k]);  // terms that cancel
    mjtNum force = mju_abs(group->force[k]) + s->next[k];
    mjtNum size = (own + step + force + mju_abs(p->w[k])) / mju_sqrt(M);
    missing = mju_max(missing, mju_abs(p->w[k]) / mju_sqrt(M));
    most = mju_max(most, size);
    fastest = mju_max(fastest, mju_abs(s->a[k]) + force / M);
  }
  for (int i = 0; i < s->n; i++) {
    if (s->piece[i].held) {
      fastest = mju_max(fastest, mju_abs(s->piece[i].v) / h);
      moves = mju_max(moves, mju_abs(s->acc[i] - s->piece[i].target));
    }
  }
  mjtNum error = mju_max(missing > 0 ? missing / most : 0, moves > 0 ? moves / fastest : 0);
  return error <= mjgpROOT || !isZero(p) ? error : 0;
}


// Store the results, unless the residual error is too large. flg_rounded: 1 if velocities have the
// round-off of the forces. Returns 1 if stored
static int finish(mjgpNewton* p, int iterations, mjtNum error, int flg_rounded) {
  mjgpStep* s = p->s;
  if (!(error <= mjgpROOT)) {
    return 0;
  }
  if (flg_rounded) {
    setRounding(p);
    mjgp_linearize(s);
    mjgp_addRounding(s);
  }
  mjgpGears* g = s->g;
  const mjgpGroup* group = s->group;
  mjtNum h = s->m->opt.timestep, most = 0, fastest = 0;

  // round-off is relative to the largest acceleration of single forces
  mju_zero(s->next, group->nv);
  for (int i = 0; i < s->n && s->gaps; i++) {
    // a shaft and its motor's friction may balance
    for (int k = group->E_adr[i]; k < group->E_adr[i + 1] && s->piece[i].shaft; k++) {
      s->next[group->E_dof[k]] += mju_abs(group->E[k] * s->t[i]);
    }
  }
  for (int k = 0; k < group->nv; k++) {
    mjtNum M = group->M[group->M_adr[k]], own = M * s->a[k];
    mjtNum constraint = own - group->force[k] - s->gradient[k];
    p->w[k] = mju_abs(group->force[k]) + mju_abs(own) + mju_abs(constraint) + s->next[k];
    most = mju_max(most, p->w[k] / M);
    fastest = mju_max(fastest, mju_abs(group->force[k]) / M + mju_abs(s->a[k]));
  }
  for (int i = 0; i < s->n; i++) {
    most = mju_max(most, p->w[group->E_dof[group->E_adr[i]]] * mju_abs(mjgp_delassus(s, i, i)));
  }
  for (int i = 0; i < s->n; i++) {
    int joint = group->joint[i];
    mjgpPiece* piece = s->piece + i;
    piece->friction = s->t[i];
    mjgp_storePiece(piece, g);
    if (piece->shaft) {
      mjgp_storeShaft(g, joint, piece->shaft,
                      piece->jumps ? s->t[i] + mjgp_taken(s, s->acc, i) : piece->shaft->t, fastest);
      g->out.t[joint] = s->t[i];
      continue;
    }
    g->out.cancellation[joint] = mju_abs(g->in.gear[joint].v) + h * most;
  }
  g->out.last_info = (mjgInfo){.status = mjgSOLVED,
                               .iterations = iterations,
                               .factorizations = iterations,
                               .residual = error};
  return 1;
}


//---------------------------------- the loop ------------------------------------------------------

void mjgp_makeNewton(mjgpNewton* p, mjgpStep* s) {
  mjgpGroup* group = s->group;
  mjData* d = s->d;
  size_t nefc = (size_t)group->nefc, ld = (size_t)group->ld;
  size_t size = (size_t)mjgi_simdEnd(group->nv);
  *p = (mjgpNewton){.s = s, .monotone = 1};
  mjtNum* number = mj_stackAllocNum(d, 3 * size + 2 * nefc + 2 * ld);
  mju_zero(number, (int)(3 * size));
  p->w = number;
  p->smooth = p->w + size;
  p->before = p->smooth + size;
  p->from = p->before + size;
  p->row = p->from + nefc;
  p->acc = p->row + nefc;
  p->dacc = p->acc + ld;
  for (int i = 0; i < s->n; i++) {
    p->nshaft += s->gaps && mjgp_hasGap(s->g->config->joint + group->joint[i]) ? 2 : 0;
  }
  size_t shafts = sizeof(mjgpShaft) * (size_t)p->nshaft;
  mjgpShaft* shaft = p->shaft = shafts ? mj_stackAllocByte(d, shafts, _Alignof(mjgpShaft)) : NULL;
  mjgp_smoothGradient(group, p->smooth, s->a);
  if (s->rows) {
    integratorAccelerations(p);
  } else {
    mjgp_accelerations(s);
  }
  for (int i = 0; i < s->n; i++) {
    mjgp_startPiece(s->piece + i, s->g, s->m, group->joint[i], s->acc[i], shaft, s->released);
    shaft = s->piece[i].shaft ? shaft + 2 : shaft;
    if (s->spring) {
      s->piece[i].compliance = s->spring[2 * i];
      s->piece[i].t_last = s->spring[2 * i + 1];
      s->piece[i].monotone &= s->piece[i].ordinary;
    }
    p->monotone &= s->piece[i].monotone;
    p->size = mju_max(p->size, mju_abs(group->force[group->E_dof[group->E_adr[i]]]));
  }
  p->whole = p->monotone && !s->rows;
  mjgp_makeSystem(&p->system, s);
}


// Move self-locking gears to the branch that is connected to rest. Returns the number of
// moved gears
static int toRestBranch(mjgpNewton* p) {
  int asked = 0;
  for (int i = 0; i < p->s->n; i++) {
    asked |= mjgp_mayBeElsewhere(p->s->piece + i);
  }
  return asked && mjgp_makeDelassus(p->s) ? mjgp_toRestBranch(p->s) : 0;
}


// Make a step on the lines of the pieces, with rows in their states. Returns 0 if the
// system cannot be solved
static int step(mjgpNewton* p) {
  mjgpStep* s = p->s;
  const mjgpGroup* group = s->group;
  makeLines(p);
  mju_copy(s->target, s->t, s->n);
  if (!mjgp_solveSystem(&p->system, s->piece, s->gradient, 1, s->search, s->t)) {
    return 0;
  }
  memcpy(s->factored, group->state, sizeof(int) * (size_t)group->nefc);
  mju_copy(p->from, group->jar, group->nefc);
  mju_copy(p->before, p->smooth, group->nv);
  mju_copy(p->acc, s->acc, s->n + group->nextra);
  mju_addTo(s->a, s->search, group->nv);
  mjgp_accelerations(s);
  return 1;
}


// Solve from the present states and pieces, where M a - b is known. Returns 1 if the step is solved.
static int iterate(mjgpNewton* p, int flg_connect) {
  mjgpStep* s = p->s;
  mjgpGroup* group = s->group;
  int most = p->monotone ? mjgpINNER : mjgpITERATIONS;
  int exchanges = p->monotone ? mjgpMILD : 1;
  mjtNum error = INFINITY;
  p->system.factored = 0;
  addForces(p);
  for (int k = 1; k <= most; k++) {
    if (!mjgp_spend(s) || !step(p)) {
      return 0;
    }

    // update the gears with the row states of the factorization
    mjgp_residual(group, group->jar, s->a);
    mjgp_forceInStates(group);
    mjgp_smoothGradient(group, p->smooth, s->a);
    addForces(p);
    int changes = nextPieces(p);
    mjgp_constraintForce(group, group->f, group->state, group->cone, group->jar);
    int differ = forcesDiffer(s);
    if (differ && !changes) {
      addForces(p);
    }
    mjtNum before = error;
    error = changes ? error : residual(p);
    int ends = !differ || (error <= mjgpROOT && (error > mjgpGAINED * before || isZero(p)));
    if (!changes && ends) {
      if ((!flg_connect || !toRestBranch(p)) && !mjgp_releasePieces(s->piece, s->n)) {
        // a gradient of round-off makes velocities of round-off
        return finish(p, k, error, differ || error == 0);
      }
    } else {
      int shortened = (differ || p->whole) && shorten(p);
      if (differ || shortened) {
        addForces(p);
      }
    }
    if (changes && k >= exchanges) {
      settleBranches(p);
    }
  }
  return 0;
}


int mjgp_iterate(mjgpNewton* p, int flg_connect) {
  mjgp_smoothGradient(p->s->group, p->smooth, p->s->a);
  return iterate(p, flg_connect);
}


int mjgp_newton(mjgpNewton* p, int flg_start) {
  mjgpStep* s = p->s;
  if (flg_start && s->rows) {
    mjgp_mulJacobian(s->group, p->row, p->w);
  }
  if (flg_start) {
    mjgp_startStates(s->group, s->m, s->d, s->rows ? p->row : NULL, p->from, p->row);
  } else {
    mjgp_evaluate(s);
  }
  return iterate(p, 1);
}
