// The law of one joint against its definition, by walking along the friction torque in small steps.

#include "law/law.h"

#include <math.h>

#include "fixture.h"


// first x where x exceeds r (|phi + s p x| + c), by scanning and bisection; INFINITY beyond reach
static double scan(int s, double phi, double p, double c, double r, double reach) {
  enum {
    nstep = 20000
  };
  double last = 0;
  for (int k = 1; k <= nstep; k++) {
    double x = reach * pow(1e-7, 1 - (double)k / nstep);
    if (r * (fabs(phi + s * p * x) + c) - x < 0) {
      double low = last, high = x;
      for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(r * (fabs(phi + s * p * middle) + c) - middle < 0 ? &high : &low) = middle;
      }
      return high;
    }
    last = x;
  }
  return INFINITY;
}


static void limitIsWhereTheBoundIsMet(void** state) {
  uint64_t seed = 1;
  int infinite = 0, turned = 0;
  for (int k = 0; k < 3000; k++) {
    double phi = oracle_normal(&seed), p = oracle_uniform(&seed, -3, 3);
    double c = k % 2 ? fabs(oracle_normal(&seed)) : 0;
    double r = k % 3 ? 1 : oracle_uniform(&seed, 1, 2);
    for (int s = -1; s <= 1; s += 2) {
      int load;
      double limit = mjgi_lawLimit(&load, s, phi, p, c, r), reach = 50;
      if (limit > 0.9 * reach) {
        // far away or never
        assert_true(isinf(scan(s, phi, p, c, r, 0.8 * reach)));
        infinite++;
        continue;
      }
      assert_near(limit, scan(s, phi, p, c, r, reach), 1e-9 * (1 + limit));
      double lambda = phi + s * p * limit;
      assert_true(load * lambda >= -1e-9 * (1 + fabs(lambda)));
      turned += load * phi < 0;
    }
  }
  assert_true(infinite > 500 && turned > 50);
}


// each answer of the law satisfies the law, on the branch that it names
static void answerIsOnItsPiece(void** state) {
  uint64_t seed = 2;
  int seen[5] = {0};
  for (int k = 0; k < 20000; k++) {
    double phi = oracle_normal(&seed), p = oracle_uniform(&seed, -3, 3);
    double c = k % 2 ? fabs(oracle_normal(&seed)) : 0, hold = 4 * oracle_normal(&seed), t;
    int piece = mjgi_lawResolve(&t, hold, phi, p, c, 1, 1);
    double lambda = phi + p * t, bound = fabs(lambda) + c;
    seen[piece + 2]++;
    if (piece == mjgiSTUCK) {
      assert_true(t == hold && fabs(t) <= bound + 1e-12 * (1 + fabs(t)));
    } else {
      int s = mjgi_pieceDirection(piece);
      assert_true(s * (hold - t) > 0);
      assert_near(t, s * bound, 1e-11 * (1 + fabs(t)));
      assert_true(mjgi_pieceLoad(piece) * lambda >= -1e-11 * (1 + fabs(lambda)));
      // the jamming rule
      assert_true(1 - s * mjgi_pieceLoad(piece) * p > 0);
    }
  }
  for (int i = 0; i < 5; i++) {
    assert_true(seen[i] > 500);
  }
}


static void corners(void** state) {
  double t;

  // no load: no friction; where |p| >= 1 the friction feeds its own load and any of it holds
  for (double p = -2; p <= 2; p += 0.5) {
    int piece = mjgi_lawResolve(&t, 3, 0, p, 0, 1, 1);
    assert_int_equal(piece == mjgiSTUCK, fabs(p) >= 1);
    assert_true(t == (fabs(p) >= 1 ? 3 : 0));
  }
  // at rest without a torque that would move it
  assert_int_equal(mjgi_lawResolve(&t, 0, 0, 0.5, 0, 1, 1), mjgiSTUCK);
  assert_true(t == 0);
  // exactly at the bound it is stuck
  assert_int_equal(mjgi_lawResolve(&t, 2, 2, 0, 0, 1, 1), mjgiSTUCK);
  assert_int_equal(mjgi_lawResolve(&t, -2, 2, 0, 0, 1, 1), mjgiSTUCK);
  // p = 1: slips in one direction with half the load, (31) fourth line, jams in the other
  assert_int_equal(mjgi_lawResolve(&t, -1e9, 3, 1, 0, 1, 1), mjgiBACKWARD_POS);
  assert_true(t == -1.5);
  assert_int_equal(mjgi_lawResolve(&t, 1e9, 3, 1, 0, 1, 1), mjgiSTUCK);
  // the load falls with its own friction, but c keeps the joint until the load has reversed;
  // then it grows faster than the friction: it jams, though without c it would slip
  assert_int_equal(mjgi_lawResolve(&t, 1e9, 1, -2, 0, 1, 1), mjgiFORWARD_POS);
  assert_near(t, 1.0 / 3, 1e-15);
  assert_int_equal(mjgi_lawResolve(&t, 1e9, 1, -2, 0.6, 1, 1), mjgiSTUCK);
  // factors on the bound belong to directions
  assert_int_equal(mjgi_lawResolve(&t, 1.4, 1, 0, 0, 1.5, 1), mjgiSTUCK);
  assert_int_equal(mjgi_lawResolve(&t, -1.4, 1, 0, 0, 1.5, 1), mjgiBACKWARD_POS);
}


// friction grows with gamma_u times the torque in and gamma_v times the torque out, at either
// side
static void loadFromEitherSide(void** state) {
  uint64_t seed = 2;
  for (int k = 0; k < 100; k++) {
    double gamma_u = oracle_uniform(&seed, -0.5, 2), gamma_v = oracle_uniform(&seed, -0.5, 2);
    double in = oracle_normal(&seed), out = oracle_normal(&seed),
           lambda = gamma_u * in + gamma_v * out;
    assert_near(mjgi_lawLoad(gamma_u, gamma_v, in, in - out), lambda, 1e-14);
    assert_near(mjgi_lawLoadOut(gamma_u, gamma_v, out, in - out), lambda, 1e-14);
  }
}


// friction on a line of the load, t = f lambda + o with lambda = alpha x - beta t, by
// trying t instead of solving
static void frictionOnALine(void** state) {
  uint64_t seed = 3;
  int nowhere = 0;
  for (int k = 0; k < 300; k++) {
    double f = (k % 2 ? 1 : -1) * oracle_uniform(&seed, 1, 2), o = oracle_normal(&seed),
           x = oracle_normal(&seed);
    double alpha = oracle_uniform(&seed, -1, 2), beta = oracle_uniform(&seed, -2, 2), slope = 7,
           constant = 8;
    if (!mjgi_lawLine(&slope, &constant, f, o, alpha, beta)) {
      // as t grows from zero, the bound stays ahead of it
      double near = f * (alpha * x) + o, far = f * (alpha * x - beta * 1e6) + o;
      assert_true(far - near >= 1e6 && slope == 7 && constant == 8);
      nowhere++;
      continue;
    }
    double t = slope * x + constant;
    assert_near(t, f * (alpha * x - beta * t) + o, 1e-9 * (1 + fabs(t)));
  }
  assert_in_range(nowhere, 50, 200);
}


// without other load: x = r (|p| x + c) has a solution unless friction grows faster than the
// load
static void limitWithoutLoad(void** state) {
  int met = 0;
  for (double r = 1; r <= 2; r += 0.25) {
    for (double p = -1.5; p <= 1.5; p += 0.25) {
      for (int s = -1; s <= 1; s += 2) {
        int load;
        double limit = mjgi_lawLimit(&load, s, 0, p, 0.3, r);
        if (r * fabs(p) < 1) {
          assert_near(limit, r * (fabs(p) * limit + 0.3), 1e-14);
          met++;
        } else {
          assert_true(isinf(limit) && limit > 0);
        }
        assert_true(p == 0 || load == (s * p > 0 ? 1 : -1));
      }
    }
  }
  assert_in_range(met, 40, 80);
}


// the next branch: the same while direction and load agree, stuck if it moves the other way,
// the opposite load if the load has reversed
static void nextPiece(void** state) {
  static const int piece[] = {mjgiFORWARD_POS, mjgiFORWARD_NEG, mjgiBACKWARD_POS, mjgiBACKWARD_NEG};
  static const int turned[] = {mjgiFORWARD_NEG, mjgiFORWARD_POS, mjgiBACKWARD_NEG,
                               mjgiBACKWARD_POS};
  static const int direction[] = {1, 1, -1, -1}, load[] = {1, -1, 1, -1};
  for (int k = 0; k < 4; k++) {
    double v = 0.3 * direction[k], lambda = 2.0 * load[k], t = 1.5 * direction[k];
    assert_int_equal(mjgi_lawNext(piece[k], t, v, lambda, 0.1, 1, 1), piece[k]);
    assert_int_equal(mjgi_lawNext(piece[k], t, v, -lambda, 0.1, 1, 1), turned[k]);
    assert_int_equal(mjgi_lawNext(piece[k], t, -v, lambda, 0.1, 1, 1), mjgiSTUCK);
    assert_int_equal(mjgi_lawNext(piece[k], t, 0, lambda, 0.1, 1, 1), mjgiSTUCK);
    // a stuck joint leaves rest if its friction exceeds the bound, 2.1, by its load
    assert_int_equal(mjgi_lawNext(mjgiSTUCK, 2.05 * direction[k], NAN, lambda, 0.1, 1, 1),
                     mjgiSTUCK);
    assert_int_equal(mjgi_lawNext(mjgiSTUCK, 2.15 * direction[k], NAN, lambda, 0.1, 1, 1),
                     piece[k]);
  }
}


// bound of a joint that rests after the step: the static one if it was at rest, or if friction
// prevents a reversal in the step that stops it; the sliding one if friction has slowed it down
static void staticBound(void** state) {
  const double v0[] = {0, 0, 2, 2, -2, -2}, t[] = {1, -1, 1, -1, 1, -1};
  const double expected[] = {4.5, 4.5, 3, 4.5, 4.5, 3};
  for (int i = 0; i < 6; i++) {
    assert_true(mjgi_lawHold(-2, 1, 1.5, v0[i], t[i]) == expected[i]);
  }
}


// a joint at rest is locked if it stays between its bounds while its load grows to 10^4 times its size
static void locked(void** state) {
  int found[2] = {0};
  unsigned seed = 1;
  double x[5];
  for (int k = 0; k < 20000; k++) {
    for (int i = 0; i < 5; i++) {
      seed = seed * 1664525u + 1013904223u;
      x[i] = seed / 4294967296.0;
    }
    double t = 4 * x[0] - 2, lambda = 4 * x[1] - 2, beta = 2 * x[2], c = k % 2 ? x[3] : 0,
           r = 1 + k % 3 * x[4];
    int s = t > 0 ? 1 : -1, rests = fabs(t) <= r * (fabs(lambda) + c), stays = 1;
    for (double more = 0; more < 1e4 && rests; more += more < 10 ? 1e-2 : more) {
      stays &= fabs(t) + more <= r * (fabs(lambda - beta * s * more) + c) + 1e-12 * more;
    }
    if (rests && fabs(r * beta - 1) > 1e-3) {
      int is = mjgi_lawLocked(t, lambda, beta, c, r, 0);
      found[is]++;
      assert_true(is <= stays);
      assert_true(is || !stays || beta == 0 || fabs(fabs(t) + s * lambda / beta - r * c) < 2e-2);
    }
  }
  assert_true(found[0] > 2000 && found[1] > 2000);
  assert_int_equal(mjgi_lawLocked(1, 0, 0, INFINITY, 1, 0), 1);
  assert_int_equal(mjgi_lawLocked(0, 0, 2, 1, 1, 0), 0);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(locked),
      cmocka_unit_test(limitIsWhereTheBoundIsMet),
      cmocka_unit_test(answerIsOnItsPiece),
      cmocka_unit_test(corners),
      cmocka_unit_test(loadFromEitherSide),
      cmocka_unit_test(frictionOnALine),
      cmocka_unit_test(limitWithoutLoad),
      cmocka_unit_test(nextPiece),
      cmocka_unit_test(staticBound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
