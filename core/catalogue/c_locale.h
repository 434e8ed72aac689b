// Numbers as C writes them, with a decimal point, whatever locale the process has set.

#ifndef MJGEAR_C_LOCALE_H_
#define MJGEAR_C_LOCALE_H_

#include <locale.h>


// decimal points are points, whatever the process has set; null if the system refuses
static inline locale_t mjgi_enterC(locale_t* former) {
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  *former = c ? uselocale(c) : (locale_t)0;
  return c;
}


static inline void mjgi_leaveC(locale_t c, locale_t former) {
  if (c) {
    uselocale(former);
    freelocale(c);
  }
}


#endif  // MJGEAR_C_LOCALE_H_
