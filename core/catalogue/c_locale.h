// Switch this thread to the C locale, with its decimal point, and back; systems differ in the
// calls.

#ifndef MJGEAR_C_LOCALE_H_
#define MJGEAR_C_LOCALE_H_

#include <locale.h>

#if defined(_WIN32)

#include <stdlib.h>
#include <string.h>

// the thread's former locale
typedef struct mjgiLocale_ {
  int own;
  char name[256];
} mjgiLocale;


static inline mjgiLocale mjgi_enterC(void) {
  mjgiLocale former = {.own = _configthreadlocale(_ENABLE_PER_THREAD_LOCALE)};
  const char* name = setlocale(LC_NUMERIC, NULL);
  if (name && strlen(name) < sizeof(former.name)) {
    strcpy(former.name, name);
  }
  setlocale(LC_NUMERIC, "C");
  return former;
}


static inline void mjgi_leaveC(mjgiLocale former) {
  setlocale(LC_NUMERIC, former.name);
  if (former.own > 0) {
    _configthreadlocale(former.own);
  }
}

#else

#if defined(__APPLE__)
#include <xlocale.h>
#endif

// the C locale (null if the system refuses it) and the thread's former one
typedef struct mjgiLocale_ {
  locale_t c;
  locale_t former;
} mjgiLocale;


static inline mjgiLocale mjgi_enterC(void) {
  mjgiLocale locale = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
  locale.former = locale.c ? uselocale(locale.c) : (locale_t)0;
  return locale;
}


static inline void mjgi_leaveC(mjgiLocale locale) {
  if (locale.c) {
    uselocale(locale.former);
    freelocale(locale.c);
  }
}

#endif

#endif  // MJGEAR_C_LOCALE_H_
