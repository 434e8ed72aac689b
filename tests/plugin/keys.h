// Keys of a configuration, as tests write them.

#ifndef MJGEAR_TESTS_KEYS_H_
#define MJGEAR_TESTS_KEYS_H_

#include "mjgear_backlash.h"

#define KEY(name, value) "<config key='" name "' value='" value "'/>"

// an elastic shaft of three stiffnesses with hysteresis, and the same as a law
#define TORSION_KEYS                                                          \
  KEY("backlash", "torsion")                                                  \
  KEY("stiffness", "5000")                                                    \
  KEY("damping", "4")                                                         \
  KEY("stiffness_2", "8000") KEY("stiffness_3", "11000") KEY("torque_1", "4") \
      KEY("torque_2", "10") KEY("hysteresis", "0.0008")

#define TORSION_LAW                                                                           \
  {                                                                                           \
    .model = mjgTORSION, .stiffness = 5000, .damping = 4, .exponent = 1, .stiffness_2 = 8000, \
    .stiffness_3 = 11000, .torque_1 = 4, .torque_2 = 10, .hysteresis = 8e-4                   \
  }

#endif  // MJGEAR_TESTS_KEYS_H_
