// Fuzzer of the plugin's MJCF: bytes become small robots whose instances have keys and values of
// every kind. A model is refused in lines that say what and where, or it runs. Then a copy of its
// data goes the same way to the last bit, also through a reset, a keyframe and a restored state;
// positions, velocities and the plugin's state stay finite unless the engine warns of them. The
// plugin is linked in, so that its lines are instrumented; the engine is not.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mujoco/mujoco.h>

#include "configuration/config.h"
#include "core/fuzz/fuzz.h"

enum {
  MOSTBODIES = 5,
  MOSTSTEPS = 8,
  ROOM = 30000,  // characters of a model
};


//---------------------------------- models --------------------------------------------------------

typedef struct Text_ {
  char text[ROOM];
  size_t size;
} Text;


__attribute__((format(printf, 2, 3))) static void write(Text* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(text->text + text->size, ROOM - text->size, format, arguments);
  va_end(arguments);
  CLAIM(n >= 0 && (size_t)n < ROOM - text->size, "a model of more than %d characters", ROOM);
  text->size += (size_t)n;
}


static const char* choose(const char* const* words, size_t count, Input* input) {
  return words[takeByte(input) % count];
}

#define CHOOSE(words, input) choose(words, sizeof(words) / sizeof(*words), input)


// possible values of a key: mostly a tame number, else a word that may not be allowed
static const char* takeValue(char text[64], Input* input) {
  static const char* const words[] = {
      "0",           "-1",        "1",           "1.5",     "1e-300",      "1e300",
      "1e9",         "nan",       "inf",         "",        " ",           "0.1 0.2",
      "0.5 0.5 0.5", "1 2 3 4",   "0x1p-3",      "1,5",     "j0",          "j0 j1",
      "'j0'",        "t0",        "none",        "exact",   "torsion",     "hunt_crossley",
      "deadzone",    "jck",       "smooth",      "rubber",  "worm",        "spur",
      "leadscrew",   "planetary", "strain_wave", "capstan", "loss",        "wedge",
      "efficiency",  "lagged",    "implicit",    "lemke",   "enumeration", "gauss_seidel",
      "projection",  "motor",     "joint"};
  int tame = takeInteger(input, 4);
  if (tame) {
    int tenths = takeInteger(input, 40);
    snprintf(text, 64, "%g", tame == 1 ? tenths / 20.0 : tame == 2 ? tenths * 5.0 : tenths / 1e3);
    return text;
  }
  return CHOOSE(words, input);
}


// an instance with mostly valid gears
static void writeInstance(Text* text, int instance, int njoint, int ntendon, Input* input) {
  write(text, "<instance name='i%d'>", instance);
  int which = takeInteger(input, 8), used[mjgpMAXKEY] = {0}, nkey;
  const char* const* keys = mjgp_keys(&nkey);
  if (which < 6) {
    write(text, "<config key='joint' value='j%d", (instance + takeByte(input)) % njoint);
    if (which < 3 && njoint > 1) {
      write(text, " j%d", (instance + 1 + takeByte(input)) % njoint);
    }
    write(text, "'/>");
    used[0] = 1;
  }
  if (ntendon && which > 3) {
    write(text, "<config key='tendon' value='t%d'/>", takeByte(input) % ntendon);
    used[1] = 1;
  }
  static const char* const kinds[] = {
      "gamma_u='.1' gamma_v='.3' coulomb='.2'",
      "gamma_u='.2' gamma_v='1.4' coulomb='.1' static_ratio='1.5'",
      "eta_forward='.7' eta_backward='-.2' coulomb='.05'",
      "gamma_u='.1' gamma_v='.2' backlash='exact' half_gap='.01' stiffness='300' damping='.5' "
      "rotor_inertia='.02'",
      "gamma_u='.1' gamma_v='.2' backlash='torsion' stiffness='500' stiffness_2='700' "
      "stiffness_3='900' torque_1='2' torque_2='5' rotor_inertia='.02'",
      "eta_forward='.8' coulomb='.3' presliding_stiffness='2000'",
      "gamma_u='.1' gamma_v='.2' coulomb='.1' stribeck_friction='.2' stribeck_velocity='.1' "
      "gamma_v_quadratic='.01'",
      ""};
  const char* kind = CHOOSE(kinds, input);
  for (const char* p = kind; *p;) {
    char key[40], value[40];
    int length = 0;
    CLAIM(sscanf(p, " %39[^=]='%39[^']'%n", key, value, &length) == 2 && length > 0, "%s", p);
    write(text, "<config key='%s' value='%s'/>", key, value);
    for (int k = 0; k < nkey; k++) {
      used[k] |= !strcmp(keys[k], key);
    }
    p += length;
  }
  for (int more = takeInteger(input, 4); more > 0; more--) {
    int key = takeByte(input) % nkey;
    char value[64];
    const char* chosen = takeValue(value, input);
    if (!used[key] || takeInteger(input, 8) == 7) {
      write(text, "<config key=\"%s\" value=\"%s\"/>", keys[key], chosen);
      used[key] = 1;
    }
  }
  write(text, "</instance>");
}


static void writeModel(Text* text, Input* input) {
  static const char* const integrators[] = {"Euler", "implicit", "implicitfast", "discrete", "RK4"};
  static const char* const solvers[] = {"Newton", "Newton", "CG", "PGS"};
  static const char* const jacobians[] = {"auto", "dense", "sparse"};
  static const char* const steps[] = {".002", ".01", ".0005", ".1"};
  static const char* const flags[] = {
      "",
      "<flag warmstart='disable'/>",
      "<flag actuation='disable'/>",
      "<flag constraint='disable'/>",
      "<flag gravity='disable' eulerdamp='disable'/>",
      "<flag contact='disable' spring='disable' damper='disable'/>",
      "<flag sleep='enable'/>",
      "<flag energy='enable' fwdinv='enable'/>",
      "<flag island='disable'/>",
      "<flag clampctrl='disable' filterparent='disable'/>",
  };
  write(text,
        "<mujoco><size memory='%s'/><option integrator='%s' solver='%s' cone='%s' jacobian='%s' "
        "timestep='%s' noslip_iterations='%d'>%s</option>"
        "<extension><plugin plugin='mjgear.transmission'>",
        takeInteger(input, 16) ? "1M" : "60K", CHOOSE(integrators, input), CHOOSE(solvers, input),
        takeInteger(input, 2) ? "elliptic" : "pyramidal", CHOOSE(jacobians, input),
        CHOOSE(steps, input), takeInteger(input, 20) == 19 ? 2 : 0, CHOOSE(flags, input));
  int njoint = 1 + takeInteger(input, MOSTBODIES), ntendon = takeInteger(input, 3);
  ntendon = ntendon == 2 && njoint < 3 ? 1 : ntendon;
  int ninstance = 1 + (takeInteger(input, 4) == 3);
  for (int i = 0; i < ninstance; i++) {
    writeInstance(text, i, njoint, ntendon, input);
  }
  write(text, "</plugin></extension><worldbody>");
  if (takeInteger(input, 2)) {
    write(text, "<geom type='plane' size='9 9 1'/>");
  }

  // bodies that hang on each other or on the world
  static const char* const joints[] = {"hinge' axis='0 1 0", "hinge' axis='0 0 1",
                                       "slide' axis='0 0 1", "slide' axis='1 0 0",
                                       "hinge' axis='1 1 0", "ball"};
  static const char* const attributes[] = {"armature='.01' damping='.1'",
                                           "armature='.1'",
                                           "armature='.02' frictionloss='.1'",
                                           "armature='.02' range='-.1 .1' limited='true'",
                                           "armature='.02' stiffness='3' springref='.2'",
                                           "armature='.02' actuatorfrcrange='-1 1'",
                                           "",
                                           "armature='0' damping='1e6'"};
  int open = 0;
  for (int j = 0; j < njoint; j++) {
    if (j && takeInteger(input, 3) == 0) {
      for (; open > 0; open--) {
        write(text, "</body>");
      }
    }
    write(text,
          "<body pos='%g 0 %g'><joint name='j%d' type='%s' %s/>"
          "<geom type='%s' size='.05 .06 .07' pos='.1 0 0' mass='%g'/>"
          "<site name='s%d' pos='.1 0 .1'/>",
          open ? .25 : .3 * j, open ? 0 : .05 + takeInteger(input, 20) / 40.0, j,
          CHOOSE(joints, input), CHOOSE(attributes, input),
          takeInteger(input, 2) ? "sphere" : "box", (1 + takeInteger(input, 20)) / 10.0, j);
    if (takeInteger(input, 16) == 15) {
      write(text, "<plugin plugin='mjgear.transmission' instance='i0'/>");
    }
    open++;
  }
  for (; open > 0; open--) {
    write(text, "</body>");
  }
  write(text, "</worldbody>");

  if (ntendon) {
    write(text, "<tendon>");
    for (int t = 0; t < ntendon; t++) {
      write(text, "<fixed name='t%d' %s>", t,
            takeInteger(input, 2)   ? "armature='.02'"
            : takeInteger(input, 2) ? "damping='.3'"
                                    : "limited='true' range='-.2 .2'");
      write(text, "<joint joint='j%d' coef='%d'/>", t % njoint, 1 + t);
      if (njoint > 1) {
        write(text, "<joint joint='j%d' coef='%d'/>", (t + 1) % njoint, 2 - 3 * t);
      }
      write(text, "</fixed>");
    }
    write(text, "</tendon>");
  }
  if (njoint > 1 && takeInteger(input, 4) == 0) {
    write(text, "<equality><joint joint1='j0' joint2='j%d' polycoef='0 %d 0 0 0'/></equality>",
          njoint - 1, takeInteger(input, 3));
  }

  // actuators of every kind, and sensors of the plugin
  static const char* const actuators[] = {
      "<motor %s='%c%d' gear='3'/>",
      "<position %s='%c%d' kp='40' kv='2'/>",
      "<velocity %s='%c%d' kv='5'/>",
      "<general %s='%c%d' gainprm='2' biastype='affine' biasprm='0 -9 -1' dyntype='filter' "
      "dynprm='.03'/>",
      "<motor %s='%c%d' ctrlrange='-1 1' forcerange='-2 2'/>",
      "<intvelocity %s='%c%d' kp='20' actrange='-1 1'/>"};
  write(text, "<actuator>");
  for (int a = takeInteger(input, 5); a > 0; a--) {
    int tendon = ntendon && takeInteger(input, 3) == 0;
    const char* actuator = CHOOSE(actuators, input);
    int which = takeByte(input) % (tendon ? ntendon : njoint);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    write(text, actuator, tendon ? "tendon" : "joint", tendon ? 't' : 'j', which);
#pragma GCC diagnostic pop
  }
  write(text, "</actuator>");
  if (takeInteger(input, 3) == 0) {
    write(text,
          "<sensor><plugin plugin='mjgear.transmission' instance='i0' objtype='joint' "
          "objname='j%d'/></sensor>",
          takeByte(input) % njoint);
  }
  write(text, "<keyframe><key time='%d'/></keyframe></mujoco>", takeInteger(input, 3));
}


//---------------------------------- the engine ----------------------------------------------------

static jmp_buf back;
static char said[4000];


static void keepError(const char* text) {
  snprintf(said, sizeof(said), "%s", text);
  longjmp(back, 1);
}


static void ignoreWarning(const char* text) {
  CLAIM(text[0], "a warning without words");
}


// a refusal is text; lines of the plugin name it
static void claimWords(const char* text, const char* model) {
  CLAIM(text[0] && !strchr(text, '\x1b'), "no words for\n%s", model);
  CLAIM(!strstr(text, "(null)") && !strstr(text, "%s"), "%s", text);
  CLAIM(!strstr(text, "init failed") || strstr(text, mjgpNAME), "%s", text);
}


static void claimSame(const mjtNum* a, const mjtNum* b, mjtSize n, const char* what,
                      const char* model) {
  CLAIM(!n || !memcmp(a, b, (size_t)n * sizeof(*a)), "%s differ between twins of\n%s", what, model);
}


// both data are the same simulation
static void claimTwins(const mjModel* m, const mjData* d, const mjData* twin, const char* model) {
  CLAIM(d->time == twin->time || isnan(d->time), "%g, %g", d->time, twin->time);
  claimSame(d->qpos, twin->qpos, m->nq, "positions", model);
  claimSame(d->qvel, twin->qvel, m->nv, "velocities", model);
  claimSame(d->plugin_state, twin->plugin_state, m->npluginstate, "states", model);
  claimSame(d->sensordata, twin->sensordata, m->nsensordata, "sensors", model);
}


static int warned(const mjData* d) {
  return d->warning[mjWARN_BADQPOS].number + d->warning[mjWARN_BADQVEL].number +
         d->warning[mjWARN_BADQACC].number + d->warning[mjWARN_CNSTRFULL].number +
         d->warning[mjWARN_CONTACTFULL].number + d->warning[mjWARN_BADCTRL].number;
}


static void claimFiniteState(const mjModel* m, const mjData* d, const char* model) {
  for (int i = 0; i < m->nv && !warned(d); i++) {
    CLAIM(isfinite(d->qvel[i]), "velocity %d is %g in\n%s", i, d->qvel[i], model);
  }
  for (int i = 0; i < m->npluginstate && !warned(d); i++) {
    CLAIM(isfinite(d->plugin_state[i]), "number %d of the state is %g in\n%s", i,
          d->plugin_state[i], model);
  }
}


// steps with changes by a user in between, in two data
static void run(const mjModel* m, mjData* d, mjData* twin, const char* model, Input* input) {
  mjData* both[2] = {d, twin};
  mjtNum state[4000];
  mjtSize size = mj_stateSize(m, mjSTATE_INTEGRATION);
  int saved = 0;
  for (int step = takeInteger(input, MOSTSTEPS); step > 0; step--) {
    int act = takeInteger(input, 16);
    double ctrl = takeInteger(input, 16) ? (takeInteger(input, 9) - 4) / 2.0 : takeNumber(input);
    double push = takeInteger(input, 16) ? 0 : takeNumber(input);
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < m->nu; i++) {
        both[k]->ctrl[i] = i % 2 ? -ctrl : ctrl;
      }
      both[k]->qfrc_applied[0] = push;
      if (act == 1) {
        mj_resetData(m, both[k]);
      } else if (act == 2) {
        mj_resetDataKeyframe(m, both[k], 0);
      } else if (act == 3) {
        mj_forward(m, both[k]);
      } else if (act == 4) {
        mj_inverse(m, both[k]);
      } else if (act == 5 && size <= 4000 && !saved) {
        mj_getState(m, both[k], state, mjSTATE_INTEGRATION);
        saved = k;
      } else if (act == 6 && saved) {
        mj_setState(m, both[k], state, mjSTATE_INTEGRATION);
      } else if (act == 7) {
        both[k]->qvel[0] = fabs(push) < 1e6 ? push : 1e6;  // not NaN, which has no effect on a step
      } else {
        mj_step(m, both[k]);
      }
    }
    claimTwins(m, d, twin, model);
    claimFiniteState(m, d, model);
  }
}


static void fuzzMjcf(Input* input) {
  static Text text;
  text.size = 0;
  writeModel(&text, input);

  // state that longjmp must leave unchanged
  static mjSpec* spec;
  static mjModel* m;
  static mjData *d, *twin;
  spec = NULL;
  m = NULL;
  d = twin = NULL;
  said[0] = 0;
  if (!setjmp(back)) {
    spec = mj_parseXMLString(text.text, NULL, said, sizeof(said));
    m = spec ? mj_compile(spec, NULL) : NULL;
    if (m) {
      d = mj_makeData(m);
      twin = mj_makeData(m);
      run(m, d, twin, text.text, input);
    } else if (spec) {
      snprintf(said, sizeof(said), "%s", mjs_getError(spec));
    }
  }
  if (getenv("MJGEAR_FUZZ_SHOW")) {
    printf("%s\n%s: %s\n", text.text, d ? "ran" : "refused", said);
  }
  if (!m || said[0]) {
    claimWords(said, text.text);
  }
  mj_deleteData(d);
  mj_deleteData(twin);
  mj_deleteModel(m);
  mj_deleteSpec(spec);
}


int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mju_user_error = keepError;
  mju_user_warning = ignoreWarning;
  Input input = {data, size};
  fuzzMjcf(&input);
  return 0;
}
