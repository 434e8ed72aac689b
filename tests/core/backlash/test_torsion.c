// Torsional stiffness with hysteresis: a catalogue's example, the loop of a slow load, energy, and
// the implicit step compared with a separate integration in fine steps.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pair.h"
#include "torsion_area.h"

#define PI 3.14159265358979323846


// HFUC-32-100-2UH, Harmonic Drive, CSD-2A Component Sets, Engineering Data 1019659, 11/2014, page 23
static mjgBacklash catalogue(double hysteresis) {
  return (mjgBacklash){.model = mjgTORSION,
                       .stiffness = 6.7e4,
                       .stiffness_2 = 1.1e5,
                       .stiffness_3 = 1.2e5,
                       .torque_1 = 29,
                       .torque_2 = 108,
                       .exponent = 1,
                       .hysteresis = hysteresis};
}


// the same page: 60 N m twist it by 7.15e-4 rad
static void cataloguesExample(void** state) {
  const mjgBacklash law = catalogue(0);
  assert_null(mjg_backlashError(&law));
  double slope, torque = mjg_backlashTorque(&slope, NULL, &law, 7.15e-4, 0);
  assert_true(fabs(torque - 60) < 0.1 && slope == 1.1e5);
  assert_true(fabs(mjg_backlashTorque(&slope, NULL, &law, -7.15e-4, 0) + torque) < 1e-12);

  // both limits, and above them
  double first = 29 / 6.7e4, second = first + 79 / 1.1e5;
  assert_true(fabs(mjg_backlashTorque(&slope, NULL, &law, first, 0) - 29) < 1e-9);
  assert_true(fabs(mjg_backlashTorque(&slope, NULL, &law, second, 0) - 108) < 1e-9);
  assert_true(fabs(mjg_backlashTorque(&slope, NULL, &law, second + 1e-3, 0) - 228) < 1e-9);
  assert_true(slope == 1.2e5);

  // energy: the area below the three lines
  double area = 0.5 * 29 * first + 0.5 * (29 + 108) * (second - first) + 0.5 * (108 + 228) * 1e-3;
  assert_true(fabs(mjg_backlashEnergy(&law, second + 1e-3, 0, 0) - area) < 1e-12);
}


// CSF-25-50-2UH, figures of the preset csf_25_50: the catalogue's page 50 has the twist at T1, too, 5.5e-4 rad
static void cataloguesTwist(void** state) {
  const mjgBacklash law = {.model = mjgTORSION,
                           .stiffness = 2.5e4,
                           .stiffness_2 = 3.4e4,
                           .stiffness_3 = 4.4e4,
                           .torque_1 = 14,
                           .torque_2 = 48,
                           .exponent = 1};
  assert_null(mjg_backlashError(&law));
  double slope;
  assert_true(fabs(mjg_backlashTorque(&slope, NULL, &law, 5.5e-4, 0) - 14) < 0.02 * 14);
}


// torque over angle, as the step has it, when the twist goes slowly to and fro
static double twistTo(const mjgBacklash* law, double* slider, double from, double to) {
  const int n = 2000;
  mjgCouplingStep s = {0};
  for (int i = 0; i < n; i++) {
    // both sides are moved: with A = 0 the rate is fixed
    double theta = from + (to - from) * i / n, rate = (to - from) / n / 1e-3;
    const mjgCoupling c = {
        .law = law, .h = 1e-3, .blend = 0.5, .theta_d = theta, .omega_d = rate, .theta_b = *slider};
    mjg_couplingResolve(&s, &c, rate, 0);
    *slider = s.theta_b;
  }
  const mjgCoupling still = {
      .law = law, .h = 1e-3, .blend = 0.5, .theta_d = to, .theta_b = *slider};
  mjg_couplingResolve(&s, &still, 0, 0);
  return s.T;
}


// A turn begins as stiff as the spring and the largest of K1, K2 and K3 together, whichever that is, until the slider
// carries K1 hysteresis/2
static void beginning(void** state) {
  const double stiffness[3][3] = {{9e4, 5e4, 7e4}, {6e4, 9e4, 7e4}, {6e4, 7e4, 9e4}};
  for (int i = 0; i < 3; i++) {
    mjgBacklash law = catalogue(2.9e-4);
    law.stiffness = stiffness[i][0];
    law.stiffness_2 = stiffness[i][1];
    law.stiffness_3 = stiffness[i][2];
    double most = 0.5 * stiffness[i][0] * 2.9e-4, turn = most / 9e4;
    for (int part = 1; part <= 4; part++) {  // the slider follows from part 2 on
      double slider = 0, angle = 0.5 * part * turn, side = fmin(9e4 * angle, most);
      double torque = twistTo(&law, &slider, 0, angle);
      assert_true(fabs(torque - stiffness[i][0] * angle - side) < 1e-9);
    }
  }
}


// loaded to and fro, the angles without load are the hysteresis loss apart, and the mean of both ways is the spring
static void loop(void** state) {
  const double loss = 2.9e-4, top = 2e-3;
  const mjgBacklash law = catalogue(loss);
  double slider = 0;
  twistTo(&law, &slider, 0, top);
  assert_true(fabs(twistTo(&law, &slider, top, 0.5 * loss)) < 1e-6 * 6.7e4);
  twistTo(&law, &slider, 0.5 * loss, -top);
  assert_true(fabs(twistTo(&law, &slider, -top, -0.5 * loss)) < 1e-6 * 6.7e4);
  for (double theta = -1e-3; theta < 1.1e-3; theta += 1e-4) {
    double up = -top, down = top, a, b;
    twistTo(&law, &slider, 0, up);
    a = twistTo(&law, &slider, up, theta);
    twistTo(&law, &slider, theta, down);
    b = twistTo(&law, &slider, down, theta);
    assert_true(a > b);
    assert_true(fabs(0.5 * (a + b) - mjg_backlashTorque(NULL, NULL, &law, theta, 0)) < 1e-6);
    assert_true(fabs(a - b - law.stiffness * loss) < 1e-6);
    twistTo(&law, &slider, theta, 0);
  }
}


//---------------------------------- the step ------------------------------------------------------

// two masses in fine steps: velocities and angles alternately, the slider after each angle
typedef struct Fine_ {
  double rotor, load, w, v, slider;
} Fine;

static double own(const mjgBacklash* l, const Fine* f) {
  double x = f->rotor - f->load, a = fabs(x), one = l->torque_1 / l->stiffness;
  double two = one + (l->torque_2 - l->torque_1) / l->stiffness_2;
  double spring = l->stiffness * fmin(a, one) + l->stiffness_2 * fmax(0, fmin(a, two) - one) +
                  l->stiffness_3 * fmax(0, a - two);
  return copysign(spring, x) + l->damping * (f->w - f->v) + l->stiffness_3 * (x - f->slider);
}


static void fineSteps(Fine* f, const mjgBacklash* l, double motor, double load, double torque,
                      double from, double to) {
  int n = (int)ceil((to - from) / 1e-6);
  double dt = (to - from) / n, limit = 0.5 * l->stiffness * l->hysteresis / l->stiffness_3;
  for (int i = 0; i < n; i++) {
    double time = from + (i + 0.5) * dt, drive = torque * sin(2 * PI * 4 * time);
    f->rotor += 0.5 * dt * f->w;
    f->load += 0.5 * dt * f->v;
    double x = f->rotor - f->load;
    f->slider = fmax(x - limit, fmin(f->slider, x + limit));
    double T = own(l, f);
    f->w += dt * (drive - T) / motor;
    f->v += dt * T / load;
    f->rotor += 0.5 * dt * f->w;
    f->load += 0.5 * dt * f->v;
    x = f->rotor - f->load;
    f->slider = fmax(x - limit, fmin(f->slider, x + limit));
  }
}


// largest error of the twist over half a second, relative to its largest value
static double error(const mjgBacklash* law, double h) {
  const double motor = 0.4, load = 5.6, torque = 40;
  Pair pair = makePair(law, motor, load, h);
  rest(&pair);
  Fine f = {0};
  double most = 0, range = 0;
  int n = (int)lround(0.5 / h);
  for (int i = 0; i < n; i++) {
    step(&pair, torque * sin(2 * PI * 4 * i * h), 0);
    fineSteps(&f, law, motor, load, torque, i * h, (i + 1) * h);
    most = fmax(most, fabs(pair.rotor_angle - pair.load_angle - f.rotor + f.load));
    range = fmax(range, fabs(f.rotor - f.load));
  }
  return most / range;
}


// Nordin's two masses with a stiffness of three ranges, with and without hysteresis
static void converges(void** state) {
  for (int k = 0; k < 2; k++) {
    mjgBacklash law = nordin(mjgTORSION);
    law.hysteresis *= k;
    double coarse = error(&law, 1e-3), fine = error(&law, 1.25e-4);
    print_message("  hysteresis %g: 1 ms %.3f %%  1/8 ms %.4f %%  order %.2f\n", law.hysteresis,
                  100 * coarse, 100 * fine, log2(coarse / fine) / 3);
    assert_true(coarse < 0.005 && fine < coarse / 20);
  }
}


// the inclusion, from the result and data of random steps alone: motion of both sides, and mean
// torque over the way
static void randomSteps(void** state) {
  srand(3);
  int compared = 0;
  for (int run = 0; run < 100000; run++) {
    mjgBacklash law = randomLaw(mjgTORSION);
    double m = decades(-3, 1), M = decades(-3, 1), h = decades(-4, -2), v = uniform(-2, 2);
    mjgCoupling c = {.law = &law, .h = h, .inertia = m, .static_ratio = 1, .velocity = v};
    c.blend = mjg_couplingBlend(&law, h * (1 / m + 1 / M), h);
    c.velocity += uniform(-1, 1);
    c.omega_d = c.velocity - v;
    c.theta_d = uniform(-1, 1) * decades(-6, -1);
    double eta = 0.5 * (1 + c.blend), p = c.theta_d - (1 - eta) * h * c.omega_d;
    double reach = 0.5 * law.stiffness * law.hysteresis /
                   fmax(law.stiffness, fmax(law.stiffness_2, law.stiffness_3));
    c.theta_b = p + uniform(-1, 1) * reach;
    c.torque = uniform(-10, 10);
    c.gamma_u = uniform(0, 0.9);
    c.gamma_v = uniform(0, 0.95);
    c.coulomb = uniform(0, 2);
    mjgCouplingStep s;
    mjg_couplingResolve(&s, &c, v, h / M);

    // both sides, and the friction of the gear
    double w = c.velocity + h / m * (c.torque - s.friction - s.T), load = v + h / M * s.T;
    double size = fabs(c.velocity) + h / m * (fabs(c.torque) + fabs(s.friction) + fabs(s.T)) + 1;
    assert_true(fabs(w - s.velocity) < 1e-10 * size);
    double lambda = (c.gamma_u + c.gamma_v) * (s.friction + s.T) - c.gamma_v * s.friction;
    double bound = fabs(lambda) + c.coulomb, tiny = 1e-10 * (bound + fabs(s.T) + fabs(c.torque));
    assert_true(s.mode ? fabs(s.friction - s.mode * bound) < tiny && s.mode * s.velocity >= 0
                       : s.velocity == 0 && fabs(s.friction) <= bound + tiny);

    // the mean torque, where its integral has digits left
    double rate = eta * (s.velocity - load) + (1 - eta) * c.omega_d;
    double a = p + c.blend * h * rate, b = p + h * rate;
    double area_a = torsionArea(&law, c.theta_b, a), area_b = torsionArea(&law, c.theta_b, b);
    if (fabs(b - a) > 1e-3 * (fabs(a) + fabs(b) + reach)) {
      double mean = (area_b - area_a) / (b - a) + law.damping * rate;
      double scale = (area_a + area_b) / fabs(b - a) + law.damping * (fabs(rate) + size) +
                     fabs(s.T) + mjgTORSION * law.stiffness * h * size;
      assert_true(fabs(s.T - mean) < 1e-10 * scale);
      compared++;
    }

    // the slider stays within its range, and moves only at its ends
    assert_true(fabs(b - s.theta_b) <= reach * (1 + 1e-9) + 1e-15);
    assert_true(s.theta_b == c.theta_b || fabs(fabs(b - s.theta_b) - reach) < 1e-9 * reach + 1e-15);
  }
  assert_true(compared > 50000);
}


static void refusals(void** state) {
  const mjgBacklash good = catalogue(1e-4);
  static const struct {
    size_t number;
    double value;
    const char* words;
  } bad[] = {
      {offsetof(mjgBacklash, half_gap), 1e-3, "no gap"},
      {offsetof(mjgBacklash, stiffness), 0, "stiffness must be"},
      {offsetof(mjgBacklash, stiffness_2), -1, "stiffness_2 must be"},
      {offsetof(mjgBacklash, stiffness_2), 0, "stiffness_2 counts above torque_1"},
      {offsetof(mjgBacklash, stiffness_3), 0, "stiffness_3 counts above torque_2"},
      {offsetof(mjgBacklash, stiffness_3), NAN, "stiffness_3 must be"},
      {offsetof(mjgBacklash, torque_1), 0, "stiffness_2 counts above torque_1"},
      {offsetof(mjgBacklash, torque_1), 200, "torque_2 must be above"},
      {offsetof(mjgBacklash, torque_2), 20, "torque_2 must be above"},
      {offsetof(mjgBacklash, torque_2), INFINITY, "torque_2 must be"},
      {offsetof(mjgBacklash, hysteresis), -1e-4, "hysteresis must be"},
      {offsetof(mjgBacklash, damping), -1, "damping must be"},
      {offsetof(mjgBacklash, slip_torque), 1e101, "slip_torque must be"},
  };
  assert_null(mjg_backlashError(&good));
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    mjgBacklash law = good;
    memcpy((char*)&law + bad[i].number, &bad[i].value, sizeof(double));
    const char* error_text = mjg_backlashError(&law);
    assert_non_null(error_text);
    assert_non_null(strstr(error_text, bad[i].words));
  }
}


// a clutch: the mean torque of a step against a sum over its way, and the slider behind it
static void clutch(void** state) {
  for (int run = 0; run < 2000; run++) {
    double freewheel = run % 3 - 1, most = run % 2 ? 5 + run % 7 : 0;
    const mjgBacklash law = {.model = mjgTORSION,
                             .stiffness = 1e3,
                             .exponent = 1,
                             .slip_torque = most,
                             .freewheel = freewheel};
    if (freewheel == 0 && most == 0) {
      continue;
    }
    assert_null(mjg_backlashError(&law));
    double low = freewheel > 0 ? 0 : most > 0 ? -most : -INFINITY;
    double high = freewheel < 0 ? 0 : most > 0 ? most : INFINITY;

    // far from where the two sides were at first
    double twist = 0.02 * sin(run), rate = 30 * cos(7 * run), theta_b = 1000;
    const mjgCoupling c = {.law = &law,
                           .h = 1e-3,
                           .blend = 0.1,
                           .theta_d = theta_b + twist,
                           .omega_d = rate,
                           .theta_b = theta_b};
    mjgCouplingStep step;
    mjg_couplingResolve(&step, &c, rate, 0);
    double mean = 0, p = twist - 0.45 * 1e-3 * rate;
    enum {
      PARTS = 20000
    };
    for (int i = 0; i < PARTS; i++) {
      double share = 0.1 + 0.9 * (i + 0.5) / PARTS;
      mean += fmax(low, fmin(1e3 * (p + share * 1e-3 * rate), high)) / PARTS;
    }
    assert_true(fabs(step.T - mean) < 1e-6);
    double end = p + 1e-3 * rate, slider = fmax(end - high / 1e3, fmin(0, end - low / 1e3));
    assert_true(fabs(step.theta_b - theta_b - slider) < 1e-12);
    assert_true(fabs(step.energy - 500 * (end - slider) * (end - slider)) < 1e-9);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cataloguesExample),
      cmocka_unit_test(cataloguesTwist),
      cmocka_unit_test(beginning),
      cmocka_unit_test(loop),
      cmocka_unit_test(converges),
      cmocka_unit_test(randomSteps),
      cmocka_unit_test(clutch),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
