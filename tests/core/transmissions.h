// Transmissions that several tests begin with.

#ifndef MJGEAR_TESTS_TRANSMISSIONS_H_
#define MJGEAR_TESTS_TRANSMISSIONS_H_

#include "mjgear_catalogue.h"

// constant coefficients, with load-independent friction that static_ratio raises at rest
static inline mjgTransmission makeTransmission(double gamma_u, double gamma_v, double coulomb,
                                               double static_ratio) {
  mjgTransmission t;
  mjg_defaultTransmission(&t);
  t.gamma_u = gamma_u;
  t.gamma_v = gamma_v;
  t.coulomb = coulomb;
  t.static_ratio = static_ratio;
  return t;
}


// everything that falls with velocity, and as keys of a configuration
#define STRIBECK_KEYS                                                            \
  "<config key='gamma_u' value='0.1'/><config key='gamma_v' value='0.3'/>"       \
  "<config key='coulomb' value='1'/><config key='stribeck_friction' value='3'/>" \
  "<config key='stribeck_velocity' value='0.4'/>"                                \
  "<config key='stribeck_exponent' value='1.3'/>"                                \
  "<config key='gamma_u_stribeck' value='0.1'/>"                                 \
  "<config key='gamma_v_stribeck' value='0.2'/>"                                 \
  "<config key='gamma_u_quadratic' value='0.004'/>"                              \
  "<config key='gamma_v_quadratic' value='0.006'/>"

static inline mjgTransmission makeStribeck(void) {
  mjgTransmission t = makeTransmission(0.1, 0.3, 1, 1);
  t.stribeck_friction = 3;
  t.stribeck_velocity = 0.4;
  t.stribeck_exponent = 1.3;
  t.gamma_u_stribeck = 0.1;
  t.gamma_v_stribeck = 0.2;
  t.gamma_u_quadratic = 0.004;
  t.gamma_v_quadratic = 0.006;
  return t;
}

#endif  // MJGEAR_TESTS_TRANSMISSIONS_H_
