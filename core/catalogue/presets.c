#include <string.h>

#include "mjgear_catalogue.h"

#define DEGREE (3.14159265358979323846 / 180)

// of presets.json, by presets.cmake
static const mjgPreset kPreset[] = {
#include "presets.inc"
};


int mjg_presetCount(void) {
  return (int)(sizeof(kPreset) / sizeof(*kPreset));
}


int mjg_preset(mjgPreset* preset, int i) {
  if (!preset || i < 0 || i >= mjg_presetCount()) {
    return mjgERR_ARGUMENT;
  }
  *preset = kPreset[i];
  return mjgSOLVED;
}


int mjg_presetFromName(const char* name) {
  for (int i = 0; name && i < mjg_presetCount(); i++) {
    if (strcmp(name, kPreset[i].name) == 0) {
      return i;
    }
  }
  return -1;
}
