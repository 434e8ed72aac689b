#include "claims.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>


void mjg_claim(mjgClaims* claims, int holds, const char* format, ...) {
  // a claim that cannot be kept counts as failed
  size_t size = ((size_t)claims->n + 1) * sizeof *claims->claim;
  void* grown = realloc(claims->claim, size);
  if (!grown) {
    claims->nfailed++;
    return;
  }
  claims->claim = grown;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(claims->claim[claims->n].text, mjgMAXCLAIM, format, arguments);
  va_end(arguments);
  claims->claim[claims->n++].holds = holds != 0;
  claims->nfailed += !holds;
}


void mjg_freeClaims(mjgClaims* claims) {
  free(claims->claim);
  *claims = (mjgClaims){0};
}
