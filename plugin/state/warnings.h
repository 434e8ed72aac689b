// Warnings that are given once.

#ifndef MJGEAR_PLUGIN_WARNINGS_H_
#define MJGEAR_PLUGIN_WARNINGS_H_

struct mjgpGears_;

// warn once per bit in the life of a mjData
typedef enum mjgpWarning_ {
  mjgpWARN_INTEGRATOR = 1 << 0,
  mjgpWARN_UNSOLVED = 1 << 1,
  mjgpWARN_NOT_COMPUTED = 1 << 2,
  mjgpWARN_CHANGED = 1 << 3,
  mjgpWARN_UNCONFIRMED = 1 << 4,
  mjgpWARN_STIFF = 1 << 6,
  mjgpWARN_REFUSED = 1 << 5,
  mjgpWARN_ROUNDING = 1 << 7,
  mjgpWARN_INVERSE = 1 << 8,
  mjgpWARN_SLEEP = 1 << 9,
  mjgpWARN_KEYFRAME = 1 << 10,
} mjgpWarning;
void mjgp_warn(struct mjgpGears_* g, int warning, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

#endif  // MJGEAR_PLUGIN_WARNINGS_H_
