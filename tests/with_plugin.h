// Tests that run scenes, with the plugin.

#ifndef TESTS_WITH_PLUGIN_H_
#define TESTS_WITH_PLUGIN_H_

#include "load.h"

// setup of a group: the plugin of this build is loaded, or the group fails
static int loadPlugin(void** state) {
  char error[2048] = "";
  int failed = mjg_loadPlugin(MJGEAR_PLUGIN_PATH, error, sizeof(error));
  if (failed) {
    print_error("%s\n", error);
  }
  return failed;
}

#endif  // TESTS_WITH_PLUGIN_H_
