// Gain of a smaller step: the motion converges to the motion with a fine step, contacts
// and stops included.

#include "../helpers.h"

#define STEP   parameter[0]  // s
#define SAMPLE 0.004         // times at which motions are compared, s
#define END    1.0
#define NARM   6

static const mjgCase convergenceCase[] = {
    {"h=4ms", NULL, {4e-3}},     {"h=2ms", NULL, {2e-3}},       {"h=1ms", NULL, {1e-3}},
    {"h=0.5ms", NULL, {0.5e-3}}, {"h=0.25ms", NULL, {0.25e-3}}, {"fine", NULL, {1e-3 / 32}},
};
#define NCASE (int)(sizeof convergenceCase / sizeof *convergenceCase)
#define FINE  (NCASE - 1)


static void configure(mjModel* m, const mjgCase* variant) {
  m->opt.timestep = variant->STEP;
}


// lift and strike, with the elbow moving at its own pace
static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  for (int i = 0; i < NARM; i++) {
    d->ctrl[2 * i] = -2 + 7 * sin(12 * d->time);
    d->ctrl[2 * i + 1] = -1 + 2 * sin(14 * d->time);
  }
}


// force of the floor
static void measure(double* value, const mjModel* m, const mjData* d) {
  value[0] = mjg_contact(m, d, NULL, NULL);
}


// root mean square, over all joints and samples, of the distance from the motion with the fine step
static double error(const mjgTrajectory* run, const mjgTrajectory* fine) {
  static const char* const joint[] = {"shoulder", "elbow"};
  double sum = 0;
  int n = 0;
  for (int i = 0; i < 2 * NARM; i++) {
    char name[mjgMAXNAME];
    snprintf(name, sizeof name, "q_%s%d", joint[i % 2], i / 2);
    for (int k = 0; k * SAMPLE < END - 1e-9; k++, n++) {
      double difference = mjg_at(run, name, k * SAMPLE) - mjg_at(fine, name, k * SAMPLE);
      sum += difference * difference;
    }
  }
  return sqrt(sum / n);
}


static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  // slope of log error over log step, by least squares
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0, x[FINE], y[FINE];
  for (int i = 0; i < FINE; i++) {
    x[i] = log(run[i].variant->STEP);
    y[i] = log(error(&run[i], &run[FINE]));
    mean_x += x[i] / FINE;
    mean_y += y[i] / FINE;
  }
  for (int i = 0; i < FINE; i++) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  mjg_claim(claims, xy / xx > 0.95 && y[0] > y[FINE - 1],
            "error falls from %.2g rad at 4 ms to %.2g rad at 0.25 ms: order %.2f", exp(y[0]), exp(y[FINE - 1]),
            xy / xx);

  // contacts and stops of the motion slow the convergence
  const mjgTrajectory* fine = &run[FINE];
  int strikes = mjg_events(fine, "floor", 0, END, mjg_isNotZero).n;
  int stops =
      mjg_events(fine, "v_shoulder0", 0, END, mjg_isZero).n + mjg_events(fine, "v_elbow0", 0, END, mjg_isZero).n;
  mjg_claim(claims, strikes >= 2 && stops >= 2,
            "on the way it strikes the floor %d times, and joints come to a stop %d times", strikes, stops);
}


mjgSCENE(
    Convergence, "convergence", "convergence/convergence.xml", END,
    "six arms strike the floor, with steps of 4 to 0.25 ms",
    "Six arms strike the floor, each with another step. Their motions approach each other in proportion to the step.",
    mjgCASES(convergenceCase), .configure = configure, .input = input, .column = "floor", .measure = measure,
    .claims = claims, .nsolved = NCASE);
