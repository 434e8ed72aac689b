// One block of a problem, in units in which its arithmetic is the same whatever the units of the
// caller are: torques are measured in 1/sqrt(A_ii), velocities in sqrt(A_ii), so that the diagonal
// of A is 1 and the entries of A, P and [alpha] are pure numbers.

#ifndef MJGEAR_BLOCK_H_
#define MJGEAR_BLOCK_H_

#include "mjgear.h"

typedef struct mjgiBlock_ {
  int n;           // joints in the block
  int flg_P;       // 1: P is given, 0: P = [alpha] A - [beta]
  int flg_unique;  // 1: known to have one solution, so that K needs no pivoting

  // the problem
  double* A;      // effect of friction on velocity, unit diagonal     (n x n)
  double* P;      // effect of friction on load, if flg_P              (n x n)
  double* alpha;  // alpha, 0 if flg_P                                 (n)
  double* beta;   // beta, 0 if flg_P                                  (n)
  double* p;      // diagonal of P                                     (n)
  double* v;      // velocity without friction                         (n)
  double* phi;    // load without friction                             (n)
  double* c;      // load-independent bound                            (n)
  double* rp;     // bound factor in forward direction                 (n)
  double* rm;     // bound factor in backward direction                (n)
  double* root;   // sqrt(A_ii) in the units of the caller             (n)
  double* scale;  // 1/root                                            (n)

  // the iterate: t is free, the others follow from it by mjgi_blockEvaluate
  double* t;       // friction torque                                   (n)
  double* w;       // A t                                               (n)
  double* lambda;  // load, phi + P t                                   (n)
  double* gap;     // t - resolve(t), zero at a solution                (n)
  int* piece;      // pieces that the joints' laws answer with          (n)
  double merit;    // |gap|^2
  double
      residual;  // of the joints on the pieces in fixed, where mjgi_blockPolish was last; else < 0

  // scratch of the solvers
  double* K;        // factorized pieces                     (n x n, in lanes)
  double* x;        //                                                (n)
  double* y;        //                                                (n)
  double* z;        //                                                (n)
  double* keep;     //                                                (n)
  double* next;     //                                                (n)
  double* end;      //                                                (n)
  double* u;        //                                                (n)
  double* Au;       //                                                (n)
  double* row;      //                                                (n)
  int* pivot;       //                                                (n)
  int* fixed;       // pieces that K stands for                       (n)
  int* next_piece;  //                                                (n)
  int* end_piece;   //                                                (n)

  // which joints of the caller's block these are
  int* index;  // joint in the caller's block            (n)
  int* group;  // joints taken care of                   (n)

  // account
  int iterations;
  int factorizations;
} mjgiBlock;

struct mjgWorkspace_ {
  int n;     // most joints of a problem
  int nmax;  // most joints of a block
  mjgiBlock block;
  double* matrix;     // (nmax x nmax)
  double* vector[6];  // (n)
  int* mode;          // (n)

  // blocks with couplings
  double* coupled_matrix[4];   // (nmax x nmax), the first one in lanes
  double* coupled_vector[17];  // (nmax)
  int* coupled_row;            // (nmax)
  int* coupled_pivot;          // (nmax)
  int* coupled_mode;           // (nmax)
};

// P_i . t where (A t)_i = w is known
double mjgi_blockLoad(const mjgiBlock* b, int i, const double* t, double w);

// w, lambda, piece, gap and merit from t
void mjgi_blockEvaluate(mjgiBlock* b);

// equation of joint i on a piece, row . t = right side; returns the right side
double mjgi_blockRow(double* restrict row, const mjgiBlock* b, int i, int piece);

// t from the equations of the given pieces; keeps the pieces in fixed and the factors in K.
// Returns 1, or 0 if they are singular; t is unchanged then
int mjgi_blockSolvePieces(mjgiBlock* b, const int* piece);

// one step of iterative refinement of t on the factors that mjgi_blockSolvePieces has left
void mjgi_blockRefine(mjgiBlock* b);

// bring the residual of joints on the pieces in fixed below enough, where it is rounding that keeps
// it above, by what their own laws answer
void mjgi_blockPolish(mjgiBlock* b, double enough);

// largest residual over the joints of the block, each relative to the terms it is made of, if the
// joints are on the given pieces. Where a bound of it is enough it may return the bound
double mjgi_blockResidual(const mjgiBlock* b, const int* piece, double enough);

#endif  // MJGEAR_BLOCK_H_
