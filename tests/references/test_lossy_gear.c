// Gears with losses as in Modelica's examples, for many drawn sets of parameters, in the core and
// in the engine, with and without contact, against the balance of forces in fine steps.
//
// Modelica Standard Library, Modelica.Mechanics.Rotational.Examples (BSD licence): parameters and behaviour
// of LossyGearDemo1 to 3; none of its code.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugin_models.h"
#include "references/drive.h"

#define PI 3.14159265358979323846


// drawn drives: the difference is small and falls with the step
static void compareDrawn(Drive (*drawn)(void)) {
  double coarse[NRUNNER] = {0}, half[NRUNNER] = {0};
  for (int i = 0; i < DRAWN; i++) {
    Drive d = drawn();
    for (int runner = 0; runner <= inENGINE_STANDING; runner++) {
      double a = difference(&d, 1e-3, 0.6, runner), b = difference(&d, 5e-4, 0.6, runner);
      assert_true(a < 0.01);
      coarse[runner] += a;
      half[runner] += b;
    }
  }
  for (int runner = 0; runner <= inENGINE_STANDING; runner++) {
    assert_true(half[runner] < 0.6 * coarse[runner]);
  }
}


// ratio 2, efficiency 0.5 both ways, J1 = 1, J2 = 1.5 kg m2, 10 N m at 1 Hz against -10 + 2.5 t N m
static void lossyGearDemo1(void** state) {
  const Drive demo = {.m = 4,
                      .M = 1.5,
                      .eta_f = 0.5,
                      .eta_b = 0.5,
                      .amplitude = 20,
                      .omega = 2 * PI,
                      .load = 10,
                      .slope = -2.5};
  const double modelica[] = {0.080477, 0.199520, 0.371343, 0.464539};
  double v = 0, q = 0, t = 0, event[8];
  int n = 0;
  fine(&v, &q, &t, &demo, 0.5, 1e-6, event, &n, 8);

  // the first event is the start
  assert_int_equal(n, 5);
  for (int i = 0; i < 4; i++) {
    assert_true(fabs(event[1 + i] - modelica[i]) < 5e-6);
  }

  // core and engine find the same times within a step
  for (int runner = 0; runner <= inENGINE_STANDING; runner++) {
    const double h = 1e-4;
    Engine e = {0};
    if (runner != inCORE) {
      e = makeEngine(&demo, h, runner);
    }
    double velocity = 0, angle = 0;
    n = 0;
    for (int i = 0; i < 5000; i++) {
      double old = velocity, middle = (i + 0.5) * h;
      if (runner == inCORE) {
        coreStep(&velocity, &angle, &demo, i * h, h);
      } else {
        velocity = engineStep(&e, motorOf(&demo, middle), loadOf(&demo, middle));
      }
      if ((old == 0) != (velocity == 0) && n < 8) {
        event[n++] = (i + 1) * h;
      }
    }
    assert_int_equal(n, 5);
    for (int i = 0; i < 4; i++) {
      assert_true(fabs(event[1 + i] - modelica[i]) < 2.5 * h);
    }
    if (runner != inCORE) {
      freeEngine(&e);
    }
  }
}


// the same with drawn numbers
static Drive drawDemo1(void) {
  double eta_f = draw(0.3, 0.95), ratio = draw(1, 4);
  return (Drive){.m = ratio * ratio * draw(0.2, 2),
                 .M = draw(0.5, 3),
                 .eta_f = eta_f,
                 .eta_b = draw(0.2, 0.95),
                 .amplitude = ratio * draw(5, 15),
                 .omega = 2 * PI * draw(0.5, 4),
                 .load = draw(-12, 12),
                 .slope = draw(-5, 5)};
}


// further friction of bearings
static Drive drawDemo2(void) {
  Drive d = drawDemo1();
  d.coulomb = draw(0.1, 3);
  return d;
}


// without motor, from 10 rad/s on, until a load comes: which side drives is not obvious
static Drive drawDemo3(void) {
  double eta = draw(0.2, 0.6);
  return (Drive){.m = draw(0.001, 0.05),
                 .M = draw(0.01, 0.2),
                 .eta_f = eta,
                 .eta_b = draw(0.1, 0.6),
                 .coulomb = draw(0.05, 0.6),
                 .slope = draw(-6, 6),
                 .v = draw(3, 10)};
}


static void lossyGearDrawn(void** state) {
  compareDrawn(drawDemo1);
}


static void lossyGearWithBearings(void** state) {
  compareDrawn(drawDemo2);
}


static void lossyGearUnclearSide(void** state) {
  compareDrawn(drawDemo3);
}


// the load presses a body on the link, which has half of the moving mass; the contact is as stiff
// as the step resolves, and moves a little
static void lossyGearThroughContact(void** state) {
  for (int i = 0; i < DRAWN; i++) {
    Drive d = i % 2 ? drawDemo1() : drawDemo2();
    d.load = draw(20, 60);
    d.amplitude = d.load / d.eta_f * draw(0.8, 2);
    d.omega = PI / 0.6 * draw(0.5, 1);
    double one = difference(&d, 1e-3, 0.6, inENGINE_PRESSED);
    assert_true(one < 0.005);
  }
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lossyGearDemo1),          cmocka_unit_test(lossyGearDrawn),
      cmocka_unit_test(lossyGearWithBearings),   cmocka_unit_test(lossyGearUnclearSide),
      cmocka_unit_test(lossyGearThroughContact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
