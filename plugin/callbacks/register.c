// Registration with MuJoCo when the library is loaded.

#include <stdio.h>

#include "callbacks/engines.h"
#include "callbacks/step.h"
#include "configuration/config.h"
#include "configuration/plugin.h"
#include "observe/visualize.h"
#include "state/gears.h"


mjPLUGIN_LIB_INIT(mjgear) {
  const char* missing;
  char paths[2000];
  int n = mjgp_bindEngine(&missing, paths, sizeof(paths), mjVERSION_HEADER);
  if (!n) {
    fprintf(stderr, mjgpNAME
            ": there is no MuJoCo in this process, so that nothing is registered. Load this "
            "library with "
            "mj_loadPluginLibrary\n");
    return;
  }

  // the plugin knows mjModel and mjData of one version; a patch release may share them
  int other = mj_version() != mjVERSION_HEADER;
  int patch = other && mj_version() / 1000 == mjVERSION_HEADER / 1000;
  const char* misfit = missing && (patch || !other) ? missing : patch ? mjgp_misfit() : NULL;
  if ((other && !patch) || misfit) {
    mju_warning(
        mjgpNAME
        " was built for MuJoCo %d.%d.%d, but this is MuJoCo %s%s%s, so it is not registered. Build "
        "the plugin with the headers of this MuJoCo, or load it with the other one",
        mjVERSION_HEADER / 1000000, mjVERSION_HEADER / 1000 % 1000, mjVERSION_HEADER % 1000,
        mj_versionString(), misfit ? ", where other layouts fail at " : "", misfit ? misfit : "");
    return;
  }

  // with two engines, a model of one finds no plugin of the other
  if (n > 1) {
    mju_warning(mjgpNAME
                " is registered with MuJoCo %s, but this process has loaded more than one: %s. "
                "Load a single one, and the plugin that was built for it",
                mj_versionString(), paths);
  }

  int slot;
  if (mjp_getPlugin(mjgpNAME, &slot)) {
    mju_error(
        mjgpNAME
        " is registered already, by another copy of this library. Load one of them: 'import "
        "mujoco' loads that of an installed mjgear, and MJGEAR_LIBRARIES names another folder");
  }
  mjpPlugin plugin;
  const char* keys[mjgpMAXKEY];
  mjgp_describePlugin(&plugin, keys, NULL, 0);
  plugin.nstate = mjgp_nstate;
  plugin.init = mjgp_init;
  plugin.destroy = mjgp_destroy;
  plugin.copy = mjgp_copy;
  plugin.reset = mjgp_reset;
  plugin.compute = mjgp_compute;
  plugin.advance = mjgp_advance;
  plugin.visualize = mjgp_visualize;
  mjp_registerPlugin(&plugin);

  // the first instance of gears or brakes acts for all
  mjgp_describeBrake(&plugin);
  mjp_registerPlugin(&plugin);
}
