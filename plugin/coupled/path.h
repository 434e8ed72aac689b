// A path of pivots (pivoting.h): where it stands, the equations of its joints on their pieces, the line that follows from
// them, and where that ends.

#ifndef MJGEAR_PLUGIN_PATH_H_
#define MJGEAR_PLUGIN_PATH_H_

#include <stdint.h>

#include "coupled/delassus.h"
#include "law/law.h"

// where a piece may end: a function that is positive on it
typedef enum mjgpEnd_ {
  mjgpEND_NONE = 0,
  mjgpEND_ROW,    // of a row: J a - aref at the edge where it ceases to act or begins to
  mjgpEND_DRY,    // of dry friction, which has two: the lower one
  mjgpEND_LOAD,   // of a joint: its load changes sign
  mjgpEND_ABOVE,  // its trial torque at the upper bound
  mjgpEND_BELOW,  // its trial torque at the lower bound
  mjgpEND_UPPER,  // of a zone of an elliptic cone: where it ceases to act
  mjgpEND_LOWER,  // where it begins to slide, or ceases to
  mjgpEND_TURN,   // none: a contact that slides has turned
} mjgpEnd;

// residuals that a line takes away
typedef struct mjgpResidual_ {
  mjtNum* G;        // gradient                                                     (nv)
  mjtNum* F;        // map                                                          (n)
  mjtNum* free;     // velocity that is added                                       (n)
  mjtNum* load;     // load that is                                                 (n)
  mjtNum* coulomb;  // Coulomb friction that is                                     (n)
  mjtNum* answer;   // change of acceleration by the gradient, at the linearization (ld)
} mjgpResidual;

typedef struct mjgpPath_ {
  mjgpStep* s;
  int n;
  mjtNum x;
  mjtNum* c;           // velocity change per second that a torque counts as in the map     (n)
  mjtNum* unit;        // of friction, in which joints of any size are alike                  (n)
  mjgpResidual begin;  // at the start, of which x takes away a share
  mjgpResidual error;  // what contacts that turn have left
  mjgpResidual* goal;  // one of them: what the line in hand takes away
  mjtNum* turned;      // residual of the rows at the linearization                        (nefc)
  int* cone;           // first row of each elliptic contact                          (ncone)
  int fine;            // 1: contacts turn little on a line
  int sign;            // of the determinant of the joints' equations
  uint64_t* visited;   // combinations of pieces that the path was on      (mjgpVISITED)
  mjtNum* visited_x;   // and where                                        (mjgpVISITED)
  mjtNum size;         // of what is to be taken away, in units
  int* pivot;          // scratch                                                           (n)
  int* side;           // of each joint: -1 slips backward, 0 stuck, 1 slips forward        (n)
  int* load;           // sign of its load                                                  (n)

  // along the line
  mjtNum* da;       // acceleration                                                      (nv)
  mjtNum* dt;       // friction                                                          (n)
  mjtNum* djar;     // constraint rows                                                   (nefc)
  mjtNum* dacc;     // velocity change per second of joints                              (ld)
  mjtNum* trial;    // trial torque                                                      (n)
  mjtNum* dtrial;   //                                                                   (n)
  mjtNum* lambda;   // load                                                              (n)
  mjtNum* dlambda;  //                                                                   (n)

  // equations of the joints
  int updates;      // changes of the inverse since it was made
  mjtNum* K;        // as they are                                                     (n x n)
  mjtNum* inverse;  // of them                                                         (n x n)
  mjtNum* next;     // as they come to be                                              (n x n)
  mjtNum* column;   // a change of rank one: column times row                          (n)
  mjtNum* row;      //                                                                 (n)
  mjtNum* effect;   // scratch                                                         (n)
} mjgpPath;


//---------------------------------- equations of the joints (path_joints.c) -----------------------

// static ratio of joint i in direction s
static inline mjtNum mjgp_ratioOf(const mjgpPath* p, int i, int s) {
  const mjgpGears* g = p->s->g;
  int joint = p->s->group->joint[i];
  return mjgi_lawRatio(g->in.static_ratio[joint], g->in.v[joint], s);
}

// Coulomb friction of joint i at x
static inline mjtNum mjgp_coulombOf(const mjgpPath* p, int i) {
  return p->s->g->in.coulomb[p->s->group->joint[i]] + (p->x - 1) * p->begin.coulomb[i];
}

// trial torque and load of each joint at s->a, s->t and x
void mjgp_evaluateJoints(mjgpPath* p);

// map of joint i there, on its piece
mjtNum mjgp_mapOf(const mjgpPath* p, int i);

// right side of its equation, in units
mjtNum mjgp_rightSide(const mjgpPath* p, int i);

// all equations and their inverse; 0 if they are singular
int mjgp_invert(mjgpPath* p);

// take up that joint i alone has changed sides, or that a row alone has changed its state; 0 if the equations are singular
int mjgp_changeSide(mjgpPath* p, int i);
int mjgp_changeRow(mjgpPath* p);

// the line that takes away p->goal: dt, da and what follows from them
void mjgp_direct(mjgpPath* p);


//---------------------------------- ends of pieces (path_ends.c) ----------------------------------

static inline int mjgp_isJointEnd(mjgpEnd end) {
  return end >= mjgpEND_LOAD && end <= mjgpEND_BELOW;
}

// length of the line in direction sign, as growth of x, and the end that it meets
mjtNum mjgp_lineLength(mjgpEnd* end, int* which, const mjgpPath* p, int sign);

// go to the piece behind an end
void mjgp_cross(mjgpPath* p, mjgpEnd end, int i);

#endif  // MJGEAR_PLUGIN_PATH_H_
