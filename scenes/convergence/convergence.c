#include "../helpers.h"

#define SAMPLE 0.004  // times at which motions are compared, s
#define END    1.0
#define NARM   6

static const mjgCase convergenceCase[] = {
    {"h=4ms", "option.timestep=4e-3"},       {"h=2ms", "option.timestep=2e-3"},
    {"h=1ms", "option.timestep=1e-3"},       {"h=0.5ms", "option.timestep=0.5e-3"},
    {"h=0.25ms", "option.timestep=0.25e-3"}, {"fine", "option.timestep=3.125e-5"},
};
#define NCASE mjgCOUNT(convergenceCase)
#define FINE  (NCASE - 1)

// lift and strike, with the elbow moving at its own pace
static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  for (int i = 0; i < NARM; i++) {
    d->ctrl[2 * i] = -2 + 7 * sin(12 * d->time);
    d->ctrl[2 * i + 1] = -1 + 2 * sin(14 * d->time);
  }
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
    x[i] = log(mjg_row(&run[i], 1)[0]);  // of the time step
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
    "Six arms strike the floor, each with another step. Their motions approach each other in proportion to the step.",
    mjgCASES(convergenceCase), .input = input, .column = "floor=contact:", .claims = claims, .nsolved = NCASE);
