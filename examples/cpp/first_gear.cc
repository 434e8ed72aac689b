// A first gear in C++: as in C, and a gear that changes while it runs.
//
//     c++ -std=c++17 first_gear.cc -I $MUJOCO/include -I ../../plugin $MUJOCO/libmujoco.so.* -Wl,-rpath,$MUJOCO \
//         ../../build/lib/libmjgear.so -Wl,-rpath,../../build/lib -o first_gear
//     ./first_gear ../forearm.xml

#include <array>
#include <cstdio>
#include <memory>

#include <mjgear_plugin.h>
#include <mujoco/mujoco.h>

using Model = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using Data = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: first_gear forearm.xml\n", stderr);
    return 2;
  }

  // linked with the plugin, the program registers it when it starts
  std::array<char, 1000> error{};
  Model model(mj_loadXML(argv[1], nullptr, error.data(), error.size()), mj_deleteModel);
  if (!model) {
    std::fputs(error.data(), stderr);
    return 1;
  }
  Data data(mj_makeData(model.get()), mj_deleteData);
  int joint = mj_name2id(model.get(), mjOBJ_JOINT, "elbow");

  // 8.1 N m do not lift with an efficiency of 0.6, from 4.905/0.65 = 7.55 N m on they do with 0.65
  for (double efficiency : {0.6, 0.65}) {
    mj_resetData(model.get(), data.get());
    if (mjg_setGear(model.get(), data.get(), joint, "eta_forward", efficiency, error.data(),
                    static_cast<int>(error.size()))) {
      std::fputs(error.data(), stderr);
      return 1;
    }
    data->ctrl[0] = 8.1;
    for (int i = 0; i < 100; i++) {
      mj_step(model.get(), data.get());
    }
    std::printf("efficiency %g: angle %.4f rad\n", efficiency, data->qpos[0]);
  }
  return 0;
}
