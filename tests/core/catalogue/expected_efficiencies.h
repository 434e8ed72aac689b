// Efficiencies that the words of a gear mean, by balances that the library does not use.

#ifndef MJGEAR_TESTS_EXPECTED_EFFICIENCIES_H_
#define MJGEAR_TESTS_EXPECTED_EFFICIENCIES_H_

#include <math.h>


// 3.1: a wedge; input and output move at angles to the contact. By the normal force N and
// the friction mu N the driving side has N (sin + mu cos), the driven one N (sin - mu
// cos), and the output moves sin in/sin out as far
static inline void wedgeEfficiencies(double* eta_f, double* eta_b, double in, double out,
                                     double mu) {
  double way = sin(in) / sin(out);
  *eta_f = (sin(out) - mu * cos(out)) / (sin(in) + mu * cos(in)) * way;
  *eta_b = (sin(in) - mu * cos(in)) / (sin(out) + mu * cos(out)) / way;
}


// a planetary gear whose ring stands, with the efficiency eta0 of its meshes together, seen from the carrier: they
// pass on (ratio - 1)/ratio of the power
static inline void carrierEfficiencies(double* eta_f, double* eta_b, double ratio, double eta0) {
  *eta_f = (1 + (ratio - 1) * eta0) / ratio;
  *eta_b = ratio / (1 + (ratio - 1) / eta0);
}


// a strain wave gear without its load-independent loss: the no-load running torque is
// subtracted from the motor's torque at rated torque
static inline double loadEfficiency(double rated_efficiency, double rated, double ratio,
                                    double running) {
  return 1 / (1 / rated_efficiency - ratio * running / rated);
}


// a gear that loses average |u| + difference u of the torque u into it: average - difference while it is driven
static inline void lossEfficiencies(double* eta_f, double* eta_b, double average,
                                    double difference) {
  *eta_f = 1 - average - difference;
  *eta_b = 1 / (1 + average - difference);
}

#endif  // MJGEAR_TESTS_EXPECTED_EFFICIENCIES_H_
