// Lemke's complementary pivoting as a path from rest: scale v* by theta, and follow the solutions
// from theta = 0, where all joints stand still without friction, until theta first is 1.
//
// While joints keep their pieces, solutions are the line t = q + theta y. A joint at the end of its
// piece changes to the next one, and theta goes on in the direction that keeps it there. The path
// is bounded by passivity, so that it arrives for every gamma if A is a P-matrix.

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "law/law.h"
#include "solvers/dense.h"
#include "solvers/simd.h"
#include "solvers/solvers.h"


// most steps for n joints, mjgiSTEPS (n + mjgiMORE); with a unique solution about n
enum {
  mjgiSTEPS = 50,
  mjgiMORE = 4,

  // work of a line from scratch, in updates: 1 + n / mjgiSHARE
  mjgiSHARE = 8
};

// perturbation of each attempt. The first updates lines, which is faster and less accurate; the
// last breaks ties the other way, because the only solution may need smaller bounds
static const double kPerturbation[] = {0, 0, 1e-13, 1e-11, 1e-9, -1e-11};

// multiples of it are spread evenly over [0, 1) and never repeat
static const double kGolden = 0.6180339887498949;

// pivot of an update, of its terms, below which it would lose too many digits: factor anew
static const double kNearlySingular = 1e-6;

// Returns the length over which a quantity f with rate g stays positive.
static double positiveUntil(double f, double g) {
  return g < 0 ? mjgi_max(0, f) / -g : INFINITY;
}


// Returns the length over which the larger of two quantities stays positive.
static double eitherUntil(double f1, double g1, double f2, double g2) {
  if (g1 < 0 && g2 < 0) {
    return mjgi_max(positiveUntil(f1, g1), positiveUntil(f2, g2));
  }

  // one decreases: the end is its zero, unless the other is positive there
  if (g1 < 0 && f1 > 0) {
    double end = positiveUntil(f1, g1);
    return f2 + g2 * end < 0 ? end : INFINITY;
  }
  if (g2 < 0 && f2 > 0) {
    double end = positiveUntil(f2, g2);
    return f1 + g1 * end < 0 ? end : INFINITY;
  }
  return INFINITY;
}


// Make the line of the pieces in fixed: K the inverse of their matrix, x = q, y = dt/dtheta, z = A
// q, w = A y, lambda and rate the load and its rate. Returns 0 if it is singular.
static int newLine(mjgiBlock* b, mjgiScratch* scratch) {
  int n = b->n;
  for (int i = 0; i < n; i++) {
    scratch->u[i] = mjgi_blockRow(b->K + i * n, b, i, b->fixed[i]);
  }
  b->factorizations++;
  if (!mjgi_inverse(b->K, b->pivot, n)) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    b->x[i] = 0;
    b->y[i] = 0;
    for (int j = 0; j < n; j++) {
      *(b->fixed[j] == mjgiSTUCK ? b->y + i : b->x + i) += b->K[i * n + j] * scratch->u[j];
    }
  }
  mjgi_mulMatVec(b->z, b->A, b->x, n);
  mjgi_mulMatVec(b->w, b->A, b->y, n);
  for (int i = 0; i < n; i++) {
    b->lambda[i] = b->phi[i] + mjgi_blockLoad(b, i, b->x, b->z[i]);
    scratch->rate[i] = mjgi_blockLoad(b, i, b->y, b->w[i]);
  }
  return 1;
}


// The same by a rank-one update after a change of joint k's piece. Returns 0 if nearly singular.
static int nextLine(mjgiBlock* b, mjgiScratch* scratch, int k) {
  int n = b->n;
  double* u = scratch->u;
  double side = mjgi_blockRow(scratch->row, b, k, b->fixed[k]);

  // response of t to joint k's right side, and of the new equation
  double pivot = 0, size = 0, x = 0, y = 0;
  for (int i = 0; i < n; i++) {
    u[i] = b->K[i * n + k];
    double term = scratch->row[i] * u[i];
    pivot += term;
    size += fabs(term);
    x += scratch->row[i] * b->x[i];
    y += scratch->row[i] * b->y[i];
  }
  if (!(fabs(pivot) > kNearlySingular * size)) {
    return 0;
  }

  // K := K - u (row K - e_k)/pivot
  double* change = scratch->Au;
  for (int j = 0; j < n; j++) {
    change[j] = 0;
  }
  for (int i = 0; i < n; i++) {
    mjgi_addScaled(change, b->K + i * n, scratch->row[i], n);
  }
  change[k] -= 1;
  for (int i = 0; i < n; i++) {
    mjgi_addScaled(b->K + i * n, change, -u[i] / pivot, n);
  }

  // the line moves along u until it satisfies the new equation
  int stuck = b->fixed[k] == mjgiSTUCK;
  double step_x = ((stuck ? 0 : side) - x) / pivot;
  double step_y = ((stuck ? side : 0) - y) / pivot;
  mjgi_mulMatVec(scratch->Au, b->A, u, n);
  for (int i = 0; i < n; i++) {
    double load = mjgi_blockLoad(b, i, u, scratch->Au[i]);
    b->x[i] += step_x * u[i];
    b->y[i] += step_y * u[i];
    b->z[i] += step_x * scratch->Au[i];
    b->w[i] += step_y * scratch->Au[i];
    b->lambda[i] += step_x * load;
    scratch->rate[i] += step_y * load;
  }
  return 1;
}


// Returns the length over which the pieces in fixed hold, from theta in direction dir. Sets the
// joint whose piece ends there, and its next piece.
static double firstEnd(int* changed, int* to, const mjgiBlock* b, const mjgiScratch* scratch,
                       double theta, int dir) {
  double first = INFINITY;
  *to = mjgiSTUCK;
  for (int i = 0; i < b->n; i++) {
    double lambda = b->lambda[i] + theta * scratch->rate[i], dlambda = dir * scratch->rate[i];
    if (b->fixed[i] == mjgiSTUCK) {
      double t = b->x[i] + theta * b->y[i], dt = dir * b->y[i];
      for (int s = -1; s <= 1; s += 2) {
        double r = s > 0 ? b->rp[i] : b->rm[i];
        double c = r * b->c[i] - s * t, dc = -s * dt;
        double end =
            eitherUntil(c + r * lambda, dc + r * dlambda, c - r * lambda, dc - r * dlambda);
        if (end < first) {
          first = end;
          *changed = i;
          *to = mjgi_piece(s, lambda + end * dlambda >= 0);
        }
      }
    } else {
      int s = mjgi_pieceDirection(b->fixed[i]), load = mjgi_pieceLoad(b->fixed[i]);
      double stops =
          positiveUntil(s * (theta * (b->v[i] - b->w[i]) - b->z[i]), s * dir * (b->v[i] - b->w[i]));
      double turns = positiveUntil(load * lambda, load * dlambda);
      if (stops < first) {
        first = stops;
        *changed = i;
        *to = mjgiSTUCK;
      }
      if (turns < first) {
        first = turns;
        *changed = i;
        *to = mjgi_piece(s, load < 0);
      }
    }
  }
  return first;
}


// Follow the path to pieces in fixed. flg_update: update lines. work: cost of lines, at most until.
static int follow(mjgiBlock* b, mjgiScratch* scratch, long long* work, long long until,
                  int flg_update) {
  int n = b->n, pivots = mjgiSTEPS * (n + mjgiMORE);
  memset(b->fixed, 0, (size_t)n * sizeof(int));
  double theta = 0;
  int dir = 1, changed = -1, from = mjgiSTUCK;

  for (int pivot = 0; pivot < pivots && *work < until; pivot++) {
    b->iterations++;
    ++*work;
    if (!(flg_update && pivot > 0 && nextLine(b, scratch, changed))) {
      *work += n / mjgiSHARE;
      if (!newLine(b, scratch)) {
        return 0;
      }
    }

    // the direction in which the changed joint is on its new piece
    if (changed >= 0) {
      int i = changed, to = b->fixed[i];
      double rate;
      if (from == mjgiSTUCK) {
        rate = mjgi_pieceDirection(to) * (b->v[i] - b->w[i]);
      } else if (to == mjgiSTUCK) {
        double offset, factor = mjgi_lawRow(&offset, from, b->c[i], b->rp[i], b->rm[i]);
        rate = mjgi_pieceDirection(from) * (factor * scratch->rate[i] - b->y[i]);
      } else {
        rate = mjgi_pieceLoad(to) * scratch->rate[i];
      }
      dir = rate > 0 ? 1 : (rate < 0 ? -1 : dir);
    }

    int to;
    double first = firstEnd(&changed, &to, b, scratch, theta, dir);

    if (dir > 0 && first >= 1 - theta) {
      return 1;
    }
    if (!(dir > 0 || first <= theta)) {
      return 0;
    }
    theta += dir * first;
    from = b->fixed[changed];
    b->fixed[changed] = to;
  }
  return 0;
}


// Perturb bounds and the diagonal of P, by another amount for each joint; amount 0 restores them.
static void perturb(mjgiBlock* b, const mjgiScratch* scratch, double amount, double size) {
  for (int i = 0; i < b->n; i++) {
    double share = amount * (1 + fmod((i + 1) * kGolden, 1));
    b->c[i] = scratch->c[i] + share * size;
    if (b->flg_P) {
      b->P[i * b->n + i] = scratch->diagonal[i] + share;
    } else {
      b->beta[i] = scratch->diagonal[i] + share;
    }
  }
}


// Solve for t on the pieces at the end of the path with the unperturbed data; if they are singular,
// take the perturbed solution. Returns the residual, INFINITY if there is none.
static double finish(mjgiBlock* b, mjgiScratch* scratch, int flg_perturbed, double enough) {
  int known = flg_perturbed && mjgi_blockSolvePieces(b, b->fixed);
  perturb(b, scratch, 0, 0);
  if (!mjgi_blockSolvePieces(b, b->fixed) && !known) {
    return INFINITY;
  }
  mjgi_blockEvaluate(b);
  memcpy(b->piece, b->fixed, (size_t)b->n * sizeof(int));
  double residual = mjgi_blockResidual(b, b->piece, enough);
  return residual <= enough ? residual : mjgi_refine(b, scratch, NULL, 1, enough);
}


int mjgi_lemke(mjgiBlock* b, mjgiScratch* scratch, int pivots) {
  int n = b->n;
  long long work = 0, until = pivots > 0 ? pivots : LLONG_MAX;
  double size = 0;
  for (int i = 0; i < n; i++) {
    size = mjgi_max(size, fabs(b->v[i]) + fabs(b->phi[i]) + b->c[i]);
    scratch->c[i] = b->c[i];
    scratch->diagonal[i] = b->flg_P ? b->P[i * n + i] : b->beta[i];
  }

  // updates lose digits, and ties branch the path: if it fails, follow it from scratch, then
  // perturbed
  double enough = mjgiROUNDING * n * DBL_EPSILON, best = INFINITY;
  for (size_t attempt = 0; attempt < sizeof(kPerturbation) / sizeof(*kPerturbation) && work < until;
       attempt++) {
    double perturbation = kPerturbation[attempt];
    perturb(b, scratch, perturbation, size);
    if (!follow(b, scratch, &work, until, attempt == 0)) {
      continue;
    }
    double residual = finish(b, scratch, perturbation != 0, enough);
    if (residual <= enough) {
      return 1;
    }

    // ill-conditioned data may take the wrong side of a near tie: keep the best attempt
    if (residual < best) {
      best = residual;
      mjgi_keepPoint(&scratch->path, b);
    }
  }
  perturb(b, scratch, 0, 0);
  if (!(best < INFINITY)) {
    mjgi_blockEvaluate(b);
    return 0;
  }
  mjgi_takePoint(b, &scratch->path);
  return 1;
}
