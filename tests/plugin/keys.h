// Keys of a configuration, as tests write them.

#ifndef MJGEAR_TESTS_KEYS_H_
#define MJGEAR_TESTS_KEYS_H_

#include "mjgear_backlash.h"

#define KEY(name, value) "<config key='" name "' value='" value "'/>"

// an elastic shaft of three stiffnesses with hysteresis, and the same as a law
#define TORSION_KEYS                                                               \
  "<config key='backlash' value='torsion'/><config key='stiffness' value='5000'/>" \
  "<config key='damping' value='4'/><config key='stiffness_2' value='8000'/>"      \
  "<config key='stiffness_3' value='11000'/><config key='torque_1' value='4'/>"    \
  "<config key='torque_2' value='10'/><config key='hysteresis' value='0.0008'/>"

#define TORSION_LAW                                                                           \
  {                                                                                           \
    .model = mjgTORSION, .stiffness = 5000, .damping = 4, .exponent = 1, .stiffness_2 = 8000, \
    .stiffness_3 = 11000, .torque_1 = 4, .torque_2 = 10, .hysteresis = 8e-4                   \
  }

#endif  // MJGEAR_TESTS_KEYS_H_
