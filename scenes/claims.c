#include "claims.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "mjgear.h"


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


void mjg_claimSolved(mjgClaims* claims, const mjgRun* run, const char* const* sensor, int n) {
  double status = 0, loss = INFINITY;
  for (int i = 0; i < n; i++) {
    char name[mjgMAXNAME];
    snprintf(name, sizeof(name), "%s_status", sensor[i]);
    double worst = mjg_highest(run->trajectory, name, 0, INFINITY);
    status = isnan(worst) ? INFINITY : fmax(status, worst);
    snprintf(name, sizeof(name), "%s_power_loss", sensor[i]);
    loss = fmin(loss, mjg_lowest(run->trajectory, name, 0, INFINITY));
  }
  mjg_claim(claims, status <= mjgJAMMED && loss >= 0,
            "%s%severy step is solved, and friction never drives: worst status %g, least loss %g W",
            run->variant ? run->variant->name : "", run->variant ? ": " : "", status,
            loss + 0.0);  // -0 is 0
}
