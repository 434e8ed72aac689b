// Pieces of one gear: friction over acceleration and its uniqueness against the law's definition, sides of a jump.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gear/piece.h"

static const double kStep = 0.01;

static uint64_t seed = 7;

static double between(double low, double high) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * ((double)(seed >> 11) / 9007199254740992.0);
}

// ---------------------------------- friction ------------------------------------------------------

// s t = B + c + |lambda + s turn B| by iteration, a contraction because gamma_v < 1
static double frictionByLaw(const mjgpPiece* gear, double acc, int s) {
  double u = gear->tau - gear->inertia * acc, B = gear->brake ? gear->brake->sliding : 0, t = 0;
  double turn = gear->brake && gear->brake->front ? -gear->gamma_u : gear->gamma_v;
  for (int k = 0; k < 400; k++) {
    double lambda = (gear->gamma_u + gear->gamma_v) * u - gear->gamma_v * t;
    t = s * (B + gear->coulomb + fabs(lambda + s * turn * B));
  }
  return t;
}


// any load and direction; at rest the side of the motion along which it is asked
static void test_friction_at(void** state) {
  for (int k = 0; k < 4000; k++) {
    int rests = k % 4 == 0, along = k % 8 < 4 ? 1 : -1;
    double acc = between(-5, 5), holds = between(0, 2);
    const mjgpBrake brake = {.holding = holds, .sliding = holds, .front = k % 2};
    mjgpPiece gear = {.gamma_u = between(0, .9),
                      .gamma_v = between(0, .9),
                      .coulomb = between(0, 1),
                      .h = kStep,
                      .v = rests ? -kStep * acc : between(-1, 1),
                      .tau = between(-4, 4),
                      .inertia = between(0, .5),
                      .ratio = {1, 1},
                      .torque = {holds, holds},
                      .brake = k % 3 ? NULL : &brake};
    mjgp_setBounds(&gear);
    double v = gear.v + kStep * acc, t = mjgp_frictionAt(&gear, acc, along, 0);
    assert_true(rests || v != 0);
    double expected = frictionByLaw(&gear, acc, rests ? along : v > 0 ? 1 : -1);
    assert_true(fabs(t - expected) <= 1e-13 * (10 + fabs(expected)));
  }
}


// ---------------------------------- uniqueness ----------------------------------------------------

// solutions of t on its bound r |lambda + P t| against the motion slip - W t, or below it at rest
static int countSolutions(double r, double P, double W, double slip, double lambda) {
  int n = 0;
  for (int s = -1; s <= 1; s += 2) {
    for (int load = -1; load <= 1; load += 2) {
      double t = s * r * load * lambda / (1 - s * r * load * P);
      n += s * (slip - W * t) > 0 && load * (lambda + P * t) > 0;
    }
  }
  double held = slip / W;
  return n + (fabs(held) <= r * fabs(lambda + P * held));
}


// one solution of a gear whose friction takes low or high of its acceleration, whatever moves it
static void test_one_solution(void** state) {
  int unique = 0, first = 0, last = 0;
  for (int k = 0; k < 2000; k++) {
    const mjgpPiece gear = {.gamma_u = between(-.2, 1.2),
                            .gamma_v = between(0, 1.5),
                            .static_ratio = between(1, 1.6),
                            .inertia = between(0, 2)};
    double W[2] = {between(.1, 1), between(1, 2)};
    int one[2], near = 0;
    for (int end = 0; end < 2; end++) {
      double P = (gear.gamma_u + gear.gamma_v) * gear.inertia * W[end] - gear.gamma_v;
      near |= fabs(gear.static_ratio * fabs(P) - 1) < .02;
      one[end] = 1;
      for (int j = 0; j < 400; j++) {
        one[end] &=
            countSolutions(gear.static_ratio, P, W[end], between(-100, 100), between(-1, 1)) == 1;
      }
    }
    if (!near) {
      assert_int_equal(mjgp_hasOneSolution(&gear, W[0], W[1]), one[0] && one[1]);
      unique += one[0] && one[1];
      first += one[0] && !one[1];
      last += !one[0] && one[1];
    }
  }
  assert_true(unique > 100 && first > 100 && last > 100);
}


// ---------------------------------- jumps ---------------------------------------------------------

// friction beyond either side of a jump belongs there, and between them to the jump
static void test_jump_side(void** state) {
  for (int turned = 0; turned < 2; turned++) {
    mjgpShaft shaft[2] = {{.t = turned ? 3 : 1}, {.t = turned ? 1 : 3}};
    mjgpPiece piece = {.shaft = shaft, .jumps = 1};
    assert_int_equal(mjgp_jumpSide(&piece, 2), 0);
    assert_int_equal(mjgp_jumpSide(&piece, 4), turned ? -1 : 1);
    assert_int_equal(mjgp_jumpSide(&piece, 0), turned ? 1 : -1);
  }
}


// a joint at rest keeps its branch where its torque is beyond the bound by no more than round-off of the torques at all
// joints: of a solution of the system, 1e-12, where it is held exactly, and of a difference of two, 1e-10, else
static void test_rest(void** state) {
  const double size = 1e4, bound = 2;
  for (int held = 0; held < 2; held++) {
    const double tiny = (held ? 1e-12 : 1e-10) * size;
    for (int side = -1; side <= 1; side += 2) {
      mjgpPiece gear = {.coulomb = bound, .h = kStep, .ratio = {1, 1}, .held = held};
      mjgp_setBounds(&gear);
      mjgpPiece inside = gear, beyond = gear;
      assert_int_equal(mjgp_nextPiece(&inside, 0, 0, side * (bound + 0.5 * tiny), size), 0);
      assert_int_equal(inside.mode, 0);
      assert_int_equal(mjgp_nextPiece(&beyond, 0, 0, side * (bound + 2 * tiny), size), 1);
      assert_int_equal(beyond.mode, side);
    }
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_friction_at),
      cmocka_unit_test(test_one_solution),
      cmocka_unit_test(test_jump_side),
      cmocka_unit_test(test_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
