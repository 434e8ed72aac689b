#include "mjgear.h"
#include "mjgear_version.h"


const char* mjg_version(void) {
  return MJGEAR_VERSION;
}
