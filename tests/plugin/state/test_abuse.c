// Every function that the plugin exports, called at random: null pointers, NaN, infinities, denormal and huge numbers, counts
// that are no counts, names of nothing, data of another model, results that overlap arguments. A call that is refused writes
// nothing. After every call steps end, positions are finite, results are finite or marked unsolved, and friction takes power.
//
// MJGEAR_LONG=1: a hundred times as many calls. MJGEAR_SEED=n: other ones.

#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw.h"
#include "mjgear_plugin.h"
#include "mjgear_report.h"
#include "plugin_models.h"

// gears on joints, with play and with a motor joint, on a tendon, a brake and a ratchet, contact
static const char kModel[] =
    "<mujoco><option timestep='.002' integrator='%s'/><extension>"
    "<plugin plugin='mjgear.transmission'><instance name='g'><config key='joint' value='a b'/>"
    "<config key='type' value='worm'/><config key='lead_angle' value='.1 .4'/>"
    "<config key='pressure_angle' value='.3'/><config key='mu' value='.1 .05'/></instance>"
    "<instance name='p'><config key='joint' value='c'/><config key='eta_forward' value='.8'/>"
    "<config key='backlash' value='%s'/><config key='half_gap' value='.01'/>"
    "<config key='stiffness' value='500'/><config key='damping' value='1'/>"
    "<config key='rotor_inertia' value='.02'/></instance>"
    "<instance name='m'><config key='joint' value='d'/><config key='coulomb' value='.2'/>"
    "<config key='backlash' value='deadzone'/><config key='half_gap' value='.01'/>"
    "<config key='stiffness' value='500'/><config key='motor_joint' value='e'/></instance>"
    "<instance name='t'><config key='tendon' value='rope'/><config key='eta_forward' value='.7'/>"
    "<config key='coulomb' value='.1'/></instance></plugin><plugin plugin='mjgear.brake'/>"
    "</extension><worldbody><geom type='plane' size='9 9 1'/>"
    "<body pos='0 0 .3'><joint name='a' axis='0 1 0' armature='.1'/><geom size='.05' pos='.2 0 0'/>"
    "<body pos='.2 0 0'><joint name='b' axis='0 1 0' armature='.1'/><geom size='.05' pos='.2 0 0'/>"
    "<body pos='.2 0 0'><joint name='c' axis='0 1 0'/><geom size='.05' pos='.2 0 0'/></body></body>"
    "</body><body pos='0 1 .5'><joint name='d' axis='0 1 0' armature='.1'/><geom size='.05' "
    "pos='.2 0 0'/></body><body pos='0 2 .5'><joint name='e' axis='0 1 0' armature='.1'/>"
    "<geom size='.05'/></body><body pos='0 3 .5'><joint name='f' type='slide' armature='.1'/>"
    "<geom size='.05'/></body></worldbody>"
    "<tendon><fixed name='rope'><joint joint='f' coef='2'/></fixed></tendon>"
    "<actuator><motor joint='a'/><position joint='b' kp='30' kv='2'/><motor joint='c'/>"
    "<motor joint='e'/><motor tendon='rope'/><plugin plugin='mjgear.brake' joint='a'>"
    "<config key='holding_torque' value='3'/></plugin></actuator>"
    "<sensor><plugin name='s' plugin='mjgear.transmission' instance='g' objtype='joint' "
    "objname='a'/></sensor></mujoco>";

static const char* const kName[] = {
    "mu",          "gamma_u",      "gamma_v",    "eta_forward",  "eta_backward", "coulomb",
    "lead_angle",  "static_ratio", "half_gap",   "stiffness",    "damping",      "rotor_inertia",
    "tooth_pitch", "oneway",       "type",       "brake",        "solver",       "tolerance",
    "armature",    "viscous",      "given",      "given_2",      "friction",     "mode",
    "lag",         "tooth",        "steps",      "brake_travel", "rotor_angle",  "gap_twist",
    "a",           "rope",         "",           "\xc3",         "%s%n",         "coulomb_speed",
    "newton",      "lemke",        "enumeration"};
static const double kNumber[] = {NAN,   INFINITY, -INFINITY,         0,       -0.,  1,   -1,
                                 1e308, -1e308,   DBL_TRUE_MIN,      -1e-310, .2,   .5,  1.5,
                                 1e-9,  1e100,    4503599627370496., 33,      1e16, -.3, 2};
static const int kCount[] = {0, 1, 2, 3, -1, INT_MIN, INT_MAX, 500};
static const int kNegative[] = {-1, INT_MIN, 0, 4};

// an integer from 0 to n - 1
static int drawInteger(int n) {
  return (int)draw(0, n);
}

#define PICK(array)    (array)[drawInteger((int)(sizeof(array) / sizeof(*(array))))]
#define MAYBE(pointer) (drawInteger(12) ? (pointer) : NULL)


static const char* name(void) {
  return drawInteger(15) ? PICK(kName) : NULL;
}


// a joint or tendon, most often one that there is
static int joint(const mjModel* m) {
  return drawInteger(8) ? drawInteger((int)(m->njnt + m->ntendon)) : PICK(kCount);
}


// Call one function. Returns its result; 1 where it returns none to check
static int call(mjModel* const model[2], mjData* const data[2]) {
  mjModel* m = MAYBE(model[drawInteger(20) ? 0 : 1]);
  mjData* d = MAYBE(data[drawInteger(20) ? 0 : 1]);
  const mjModel* own = model[0];
  int nstate = (int)own->npluginstate;
  static mjtNum state[4 * 2000], low[100], high[100], qacc[100], rotor[100], qvel[100 * 100];
  static mjtNum memory[100 * 2000];
  char error[300] = "";
  int size = drawInteger(5) ? (int)sizeof(error) : PICK(kCount) % 300, n = drawInteger(4);
  int motion[100], role[100], ids[4], describe[4];
  const char* keys[4];
  double values[16], one = 7;  // of each of 4 states
  mjgFacts facts;
  mjgStateAddress address;
  for (int k = 0; k < 4; k++) {
    ids[k] = joint(own);
    describe[k] = drawInteger(2);
    keys[k] = name();
    memcpy(state + (ptrdiff_t)k * nstate, data[0]->plugin_state, sizeof(mjtNum) * (size_t)nstate);
  }
  for (int k = 0; k < 16; k++) {
    values[k] = PICK(kNumber);
  }
  for (int k = 0; k < 100; k++) {
    qacc[k] = drawInteger(30) ? draw(-9, 9) : PICK(kNumber);
    rotor[k] = drawInteger(3) ? draw(-9, 9) : PICK(kNumber);
  }
  n = drawInteger(20) ? n : PICK(kNegative);
  switch (drawInteger(19)) {
    case 0:
      return mjg_gearId(m, PICK(kCount), name()) >= -1;
    case 1:
      return mjg_setGears(m, d, joint(own), MAYBE(keys), MAYBE(values), n, MAYBE(error), size);
    case 2:
      return mjg_setGear(m, d, joint(own), name(), PICK(kNumber), MAYBE(error), size);
    case 3:
      return mjg_describeGear(m, d, joint(own), MAYBE(keys), MAYBE(values), n, MAYBE(error), size);
    case 4:
      return mjg_setSolver(m, d, name(), MAYBE(error), size);
    case 5: {
      // result in the state itself
      int inside = drawInteger(10) == 0 && d;
      mjtNum kept = 0, *where = inside ? d->plugin_state + drawInteger(nstate) : &one;
      kept = *where;
      int found = mjg_getGear(MAYBE(where), m, d, joint(own), name());
      assert_true(found == 1 || !memcmp(where, &kept, sizeof(kept)));
      if (inside) {
        *where = kept;
      }
      return 1;
    }
    case 6:
      return mjg_readGear(MAYBE(memory), m, d, joint(own));
    case 7:
      return mjg_explainGear(MAYBE(&facts), m, d, joint(own));
    case 8: {
      const char* solver = mjg_getSolver(m, d);
      return !solver || strlen(solver) > 0;
    }
    case 9:
      return mjg_gearId(m, mjOBJ_JOINT, name()) >= -1;
    case 10:
      return drawInteger(9) ? 1 : mjg_resetGears(m, d);
    case 11: {
      // results in each other, and in the arguments
      mjtNum* also = drawInteger(9) ? high : drawInteger(2) ? low : qacc;
      return mjg_inverse(MAYBE(low), MAYBE(also), MAYBE(motion), m, d, MAYBE(qacc), MAYBE(rotor),
                         MAYBE(error), size);
    }
    case 12:
      return mjg_controlDerivative(MAYBE(qvel), MAYBE(memory), MAYBE(role), m, d, PICK(kNumber),
                                   MAYBE(error), size);
    case 13: {
      static char problems[500], warnings[500];
      return mjg_checkModel(m, MAYBE(problems), drawInteger(2) ? 500 : PICK(kCount) % 500,
                            MAYBE(warnings), drawInteger(2) ? 500 : PICK(kCount) % 500);
    }
    case 14:
      return mjg_actuatorRoles(MAYBE(role), m, joint(own));
    case 15:
      return mjg_checkKey(name(), name(), MAYBE(error), size);
    case 16: {
      int status = mjg_stateAddress(MAYBE(&address), m, joint(own), name());
      assert_true(status || (address.value >= 0 && address.value < own->npluginstate));
      return status;
    }
    case 17: {
      int status = mjg_setStates(m, MAYBE(state), drawInteger(5) ? drawInteger(5) : PICK(kNegative),
                                 drawInteger(5) ? nstate : nstate - 1, MAYBE(ids), MAYBE(keys),
                                 MAYBE(values), MAYBE(describe), n, MAYBE(error), size);
      for (int k = 0; k < 4 && status < 0; k++) {  // all or none
        assert_memory_equal(state + (ptrdiff_t)k * nstate, data[0]->plugin_state,
                            sizeof(mjtNum) * (size_t)nstate);
      }
      return status;
    }
    default:
      // result in the states
      return mjg_getStates(drawInteger(9) ? values : state, m, MAYBE(state), drawInteger(5),
                           drawInteger(5) ? nstate : nstate - 1, joint(own), name());
  }
}


// Step with random controls. Returns the status of the gears
static int step(const mjModel* m, mjData* d, int steps) {
  int status = 0;
  for (int i = 0; i < steps; i++) {
    for (int k = 0; k < m->nu; k++) {
      mjtNum bad = PICK(kNumber);  // the engine takes NaN as 0
      d->ctrl[k] = drawInteger(40) || fabs(bad) > 1e9 ? draw(-20, 20) : bad;
    }
    mj_step(m, d);
    for (int k = 0; k < m->nv; k++) {
      assert_true(isfinite(d->qvel[k]) && isfinite(d->qpos[k]));
    }
    for (int k = 0; k < (int)(m->njnt + m->ntendon); k++) {
      double value[20];
      int n = mjg_readGear(value, m, d, k);
      for (int r = 0; r < 11 && r < n && value[11] == 0; r++) {
        assert_true(isfinite(value[r]));
      }
      if (n > 0) {
        status = value[11] < 0 ? -1 : mjMAX(status, (int)value[11]);
        double scale = fabs(value[0]) + fabs(value[2]) + fabs(value[3]);
        assert_true(!(value[5] < -1e-6 * (1e-6 + scale)));  // friction takes power
      }
    }
  }
  return status;
}


static void test_calls(void** state) {
  static const char* const integrators[] = {"Euler", "implicit", "implicitfast", "discrete"};
  static const char* const laws[] = {"exact", "jck", "torsion", "rubber"};
  const char *seed = getenv("MJGEAR_SEED"), *is_long = getenv("MJGEAR_LONG");
  draw_state = seed ? (uint64_t)atoi(seed) : 47;
  int calls = 600 * (is_long ? 100 : 1), refused = 0, wrong = 0;
  for (int c = 0; c < 4; c++) {
    mjModel* m[2] = {makeModel(kModel, integrators[c], c == 1 || c == 2 ? "exact" : laws[c]),
                     makeModel("%s",
                               "<mujoco><worldbody><body><joint name='a'/><geom "
                               "size='.1'/></body></worldbody></mujoco>")};
    mjData* d[2] = {mj_makeData(m[0]), mj_makeData(m[1])};
    mjtNum* before = malloc(sizeof(mjtNum) * (size_t)m[0]->npluginstate);
    for (int k = 0; k < calls; k++) {
      size_t bytes = sizeof(mjtNum) * (size_t)m[0]->npluginstate;
      memcpy(before, d[0]->plugin_state, bytes);
      int result = call(m, d);
      assert_true(result >= -1);
      refused += result < 0;
      if (result < 0) {
        assert_memory_equal(before, d[0]->plugin_state, bytes);
      }
      if (k % 7 == 0) {  // a program that writes what it wants
        d[0]->plugin_state[drawInteger((int)m[0]->npluginstate)] = PICK(kNumber);
      }
      wrong += k % 3 == 0 && step(m[0], d[0], 1) < 0;
      if (k % 50 == 0) {
        mj_resetData(m[0], d[0]);
        assert_true(step(m[0], d[0], 2) >= 0);
      }
    }
    free(before);
    for (int k = 0; k < 2; k++) {
      mj_deleteData(d[k]);
      mj_deleteModel(m[k]);
    }
  }
  print_message("%d of %d calls refused, %d steps with numbers that are none\n", refused, 4 * calls,
                wrong);
  assert_true(refused > calls && wrong > 10);
  countWarnings(NULL);
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
