// Results of the plugin on this system, as JSON: motions of scenes and refusals, for
// tests/desktop_package.py to compare.
//   desktop_motion PLUGIN SCENES
// Needs the engine and the plugin alone, so that it runs where there is neither Python nor cmocka.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mujoco/mujoco.h>

enum {
  STEPS = 1500,
  EVERY = 50  // steps a row
};

static const char* const kScenes[] = {"rod/rod.xml", "wall/wall.xml", "wall/contact.xml"};

// a gear's element; the name has letters of several bytes
static const char* const kGears[] = {
    "<config key=\"eta_forward\" value=\"0.7\"/><config key=\"eta_backward\" value=\"0.5\"/>",
    "<config key=\"gamma_u\" value=\"x1\"/>",
    "<config key=\"eta_forwrd\" value=\"0.7\"/>",
    "<config key=\"eta_forward\" value=\"0\"/><config key=\"eta_backward\" value=\"0.5\"/>",
    "<config key=\"gamma_u\" value=\"0.1\"/><config key=\"gamma_v\" value=\"1,5\"/>",
    ("<config key=\"gamma_u\" value=\"0.1\"/><config key=\"gamma_v\" value=\"0.2\"/><config "
     "key=\"coulomb\" value=\"2 Ns\"/>"),
};


// a text in quotes
static void printText(const char* text) {
  putchar('"');
  for (const char* c = text; *c; c++) {
    if (*c == '"' || *c == '\\') {
      printf("\\%c", *c);
    } else if ((unsigned char)*c < ' ') {
      printf("\\u%04x", (unsigned)*c);
    } else {
      putchar(*c);
    }
  }
  putchar('"');
}


// Push a scene back and forth, so that its gears drive, are driven and rest. The torques are steps: a sine has other last bits
// on another system.
static void printMotion(const char* folder, const char* scene) {
  char name[1000], error[1000] = "";
  snprintf(name, sizeof(name), "%s/%s", folder, scene);
  mjModel* m = mj_loadXML(name, NULL, error, sizeof(error));
  if (!m) {
    fprintf(stderr, "%s: %s\n", name, error);
    exit(1);
  }
  mjData* d = mj_makeData(m);
  if (m->nkey > 0) {
    mj_resetDataKeyframe(m, d, 0);
  }
  printf("\"%s\": [", scene);
  for (int k = 0; k < STEPS; k++) {
    for (int i = 0; i < m->nv; i++) {
      d->qfrc_applied[i] = 10 * ((int)(3 * d->time) % 3 - 1);
    }
    for (int i = 0; i < m->nu; i++) {
      d->ctrl[i] = 40 * ((int)(7 * d->time) % 3 - 1);
    }
    mj_step(m, d);
    if (k % EVERY == 0) {
      printf("%s[", k > 0 ? ",\n" : "");
      for (int i = 0; i < m->nq + m->nv; i++) {
        printf("%s%.17e", i > 0 ? ", " : "", i < m->nq ? d->qpos[i] : d->qvel[i - m->nq]);
      }
      printf("]");
    }
  }
  printf("]");
  mj_deleteData(d);
  mj_deleteModel(m);
}


// The line with which a model is refused, "accepted" for one that is not.
static void printRefusal(const char* gear) {
  char text[2000], error[1000] = "";
  int n =
      snprintf(text, sizeof(text),
               "<mujoco><extension><plugin plugin=\"mjgear.transmission\"><instance name=\"g\">"
               "<config key=\"joint\" value=\"'Zahnrad 齿轮'\"/>%s</instance></plugin></extension>"
               "<worldbody><body><joint name=\"Zahnrad 齿轮\" axis=\"0 1 0\"/>"
               "<geom size=\".1\" pos=\".3 0 0\"/></body></worldbody></mujoco>",
               gear);
  static mjVFS vfs;  // in some releases too large for a stack
  mj_defaultVFS(&vfs);
  mj_addBufferVFS(&vfs, "model.xml", text, n);
  mjModel* m = mj_loadXML("model.xml", &vfs, error, sizeof(error));
  printText(m ? "accepted" : error);
  mj_deleteModel(m);
  mj_deleteVFS(&vfs);
}


int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s PLUGIN SCENES\n", argv[0]);
    return 2;
  }
  mj_loadPluginLibrary(argv[1]);
  printf("{\"release\": \"%s\", \"motions\": {", mj_versionString());
  for (size_t i = 0; i < sizeof(kScenes) / sizeof(*kScenes); i++) {
    printf("%s", i > 0 ? ",\n" : "");
    printMotion(argv[2], kScenes[i]);
  }
  printf("},\n\"refusals\": [");
  for (size_t i = 0; i < sizeof(kGears) / sizeof(*kGears); i++) {
    printf("%s", i > 0 ? ",\n" : "");
    printRefusal(kGears[i]);
  }
  printf("]}\n");
  return 0;
}
