#include "step_models.h"

#include <fstream>
#include <iterator>
#include <sstream>

namespace mjgear {

namespace {

// remove everything from one mark to the end of another
void cut(std::string* text, const std::string& from, const std::string& to) {
  const size_t begin = text->find(from);
  const size_t end = begin == std::string::npos ? begin : text->find(to, begin);
  if (end != std::string::npos) {
    text->erase(begin, end + to.size() - begin);
  }
}

}  // namespace


std::string armText(int count, bool contact, double gamma_v) {
  std::ostringstream text;
  text << "<mujoco><option timestep='0.002' integrator='implicitfast'/><extension>"
          "<plugin plugin='mjgear.transmission'><instance name='gears'><config key='joint' value='";
  for (int i = 0; i < 7 * count; i++) {
    text << "j" << i << " ";
  }
  text << "'/><config key='gamma_u' value='0.1'/><config key='gamma_v' value='" << gamma_v
       << "'/></instance></plugin></extension><worldbody>";
  if (contact) {
    text << "<geom type='plane' size='99 99 1'/>";
  }
  for (int k = 0, joint = 0; k < count; k++) {
    text << "<body pos='" << 2 * (k % 8) << " " << 2 * (k / 8) << " " << (contact ? 0.42 : 2)
         << "'>";
    for (int i = 0; i < 7; i++, joint++) {
      text << (i ? "<body pos='0.15 0 -0.05'>" : "") << "<joint name='j" << joint << "' axis='"
           << (i % 2 ? "0 1 0" : "1 0 0.3") << "' armature='0.3' damping='0.5'/>"
           << "<geom type='capsule' size='0.04' fromto='0 0 0 0.15 0 -0.05' contype='"
           << (contact && i > 4) << "' conaffinity='0'/>";
    }
    text << "</body></body></body></body></body></body></body>";
  }
  text << "</worldbody><actuator>";
  for (int i = 0; i < 7 * count; i++) {
    text << "<motor joint='j" << i << "'/>";
  }
  text << "</actuator></mujoco>";
  return text.str();
}


std::string sceneText(const std::string& name) {
  std::ifstream file(MJGEAR_SOURCE_DIR "/scenes/" + name + "/" + name + ".xml");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  cut(&text, "<sensor>", "</sensor>");

  // a model from a string has no folder for includes
  const std::string relative = "../../models/";
  for (size_t at = text.find(relative); at != std::string::npos; at = text.find(relative)) {
    text.replace(at, relative.size(), MJGEAR_SOURCE_DIR "/models/");
  }
  return text;
}


mjModel* compileVariant(const std::string& text, Variant variant, std::string* error) {
  std::string changed = text;
  if (variant == kPlain || variant == kNative) {
    cut(&changed, "<extension>", "</extension>");
  }

  char line[1000] = "";
  mjSpec* spec = mj_parseXMLString(changed.c_str(), nullptr, line, sizeof(line));
  mjModel* m = spec ? mj_compile(spec, nullptr) : nullptr;
  if (!m) {
    *error = spec ? mjs_getError(spec) : line;
  }
  if (spec) {
    mj_deleteSpec(spec);
  }
  return m;
}

}  // namespace mjgear
