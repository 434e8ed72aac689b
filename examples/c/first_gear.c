// A first gear in C: the motor off holds the forearm, 8.1 N m still do, 8.25 N m lift it.
//
//     cc first_gear.c -I $MUJOCO/include $MUJOCO/libmujoco.so.* -Wl,-rpath,$MUJOCO -o first_gear
//     ./first_gear ../../build/lib/libmjgear.so ../forearm.xml

#include <mujoco/mujoco.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 3) {
    fputs("usage: first_gear libmjgear.so forearm.xml\n", stderr);
    return 2;
  }
  char error[1000] = "";
  mj_loadPluginLibrary(argv[1]);
  mjModel* m = mj_loadXML(argv[2], NULL, error, sizeof error);
  if (!m) {
    fputs(error, stderr);
    return 1;
  }

  mjData* d = mj_makeData(m);
  static const double torque[] = {0, 8.1, 8.25};
  for (int i = 0; i < 3; i++) {
    mj_resetData(m, d);
    d->ctrl[0] = torque[i];
    for (int k = 0; k < 1000; k++) {
      mj_step(m, d);
    }
    printf("%g N m: angle %.4f rad, friction %.4f N m\n", torque[i], d->qpos[0], d->sensordata[0]);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
  return 0;
}
