// Robots with many contacts, by counts of linearizations: no step of a hand that closes on a box, with play in its gears,
// takes ten times those of the median step. A humanoid with self-locking gears thrashes about in a crib: few steps take the
// time of ten median steps, all of them by paths. None is left unsolved, and falling into the crib gives no energy

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fewer.h"
#include "plugin_models.h"
#include "state/gears.h"

#define MOST 10  // medians above which a step is slow
#define LONG 60  // linearizations in the time of ten median steps of the humanoid, engine included

static uint64_t seed;

static double between(double low, double high) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return low + (high - low) * ((double)(seed >> 11) / 9007199254740992.0);
}

static void append(char* text, size_t size, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char* text, size_t size, const char* format, ...) {
  size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  assert_true(vsnprintf(text + used, size - used, format, arguments) < (int)(size - used));
  va_end(arguments);
}


//---------------------------------- counts ---------------------------------------------------------

static int ascending(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}


typedef struct Count_ {
  int steps, unsolved, contacts;
  int median, most;  // linearizations of a step
  int limit;         // linearizations above which a step is slow
  int slow, paths;   // slow steps, and those among them that followed a path
  int fresh, often;  // slow steps with new contacts or controls; all steps with such
} Count;


// steps with controls between low and high, drawn anew every so many steps. limit: 0 is MOST medians
static Count play(const mjModel* m, mjData* d, int steps, int every, double low, double high,
                  int limit) {
  const mjgpGears* g = (const mjgpGears*)d->plugin_data[0];
  int *taken = malloc(4 * sizeof(int) * (size_t)steps), *path = taken + steps;
  int *of = path + steps, *fresh = of + steps;
  Count count = {.steps = steps};
  int unsolved = g->count.unsolved, last = d->ncon;
  for (int k = 0; k < steps; k++) {
    double middle = between(low, high), width = 0.25 * (high - low);
    for (int i = 0; i < (int)m->nu && k % every == 0; i++) {
      d->ctrl[i] = mju_clip(middle + width * between(-2, 2), low, high);
    }
    int before = g->count.newton_steps, paths = g->count.by[mjgpMETHOD_PATH];
    mj_step(m, d);
    taken[k] = g->count.newton_steps - before;
    assert_true(taken[k] >= 0);  // a motion that diverges is reset
    path[k] = g->count.by[mjgpMETHOD_PATH] > paths ? taken[k] : 0;
    of[k] = taken[k];
    fresh[k] = k % every == 0 || d->ncon != last;
    last = d->ncon;
    count.often += fresh[k];
    count.contacts += d->ncon;
  }
  count.unsolved = g->count.unsolved - unsolved;
  qsort(taken, (size_t)steps, sizeof(int), ascending);
  count.median = taken[steps / 2];
  count.most = taken[steps - 1];
  count.limit = limit ? limit : MOST * count.median;
  for (int k = 0; k < steps; k++) {
    count.slow += taken[k] > count.limit;
    count.paths += path[k] > count.limit;
    count.fresh += fresh[k] && of[k] > count.limit;
  }
  free(taken);
  return count;
}


static void check(const char* name, const Count* count) {
  print_message(
      "%s: %d steps, %.1f contacts, %d unsolved; linearizations: median %d, most %d; %d above "
      "%d, %d by paths, %d with another number of contacts or new controls, as %d of all\n",
      name, count->steps, (double)count->contacts / count->steps, count->unsolved, count->median,
      count->most, count->slow, count->limit, count->paths, count->fresh, count->often);
  assert_true(count->contacts > count->steps);
  assert_int_equal(count->unsolved, 0);
}


//---------------------------------- hand -----------------------------------------------------------

// four fingers of four joints around a box, servos, gears that can be driven back, with play
static mjModel* makeHand(const char* integrator, double kp, double kv, const char* gap) {
  static const char* const place[] = {"-.04 .045 0", "0 .045 0", ".04 .045 0", "0 -.05 0"};
  static const double length[] = {.02, .05, .036, .04};
  char bodies[8000] = "", motors[2000] = "", names[200] = "";
  for (int i = 0; i < 4; i++) {
    append(bodies, sizeof(bodies), "<body pos='%s' quat='%s'>", place[i],
           i < 3 ? "1 0 0 0" : "0 0 0 1");
    for (int k = 0; k < 4; k++) {
      append(bodies, sizeof(bodies),
             "<joint name='f%d%d' axis='%s' range='%s' damping='.01'/><geom type='capsule' "
             "fromto='0 0 0 0 0 "
             "%g' size='.011' mass='.03'/>",
             i, k, k ? "1 0 0" : "0 1 0", k ? "-.3 2" : "-.4 .4", length[k]);
      if (k < 3) {
        append(bodies, sizeof(bodies), "<body pos='0 0 %g'>", length[k]);
      }
      append(motors, sizeof(motors), "<position joint='f%d%d' kp='%g' kv='%g'/>", i, k, kp, kv);
      append(names, sizeof(names), "f%d%d ", i, k);
    }
    append(bodies, sizeof(bodies), "</body></body></body></body>");
  }
  return makeModel(
      "<mujoco><compiler angle='radian'/><option timestep='.002' cone='elliptic' impratio='10' "
      "integrator='%s'/><extension><plugin plugin='mjgear.transmission'><instance name='g'>"
      "<config key='joint' value='%s'/><config key='gamma_u' value='.1'/><config key='gamma_v' "
      "value='.15'/><config key='coulomb' value='.01'/>%s</instance></plugin></extension>"
      "<default><geom friction='1 .02 .001' condim='4'/></default>"
      "<worldbody><body pos='0 0 .2'><geom type='box' size='.06 .06 .02' pos='0 0 -.02'/>%s</body>"
      "<body pos='0 0 .26'><freejoint/><geom type='box' size='.03 .03 .03' "
      "mass='.1'/></body></worldbody>"
      "<actuator>%s</actuator></mujoco>",
      integrator, names, gap, bodies, motors);
}

#define GAP(width, stiffness, damping, rotor)                                            \
  "<config key='backlash' value='exact'/><config key='half_gap' value='" width           \
  "'/>"                                                                                  \
  "<config key='stiffness' value='" stiffness "'/><config key='damping' value='" damping \
  "'/><config key='rotor_inertia' value='" rotor "'/>"

static void test_hand(void** state) {
  static const char* const integrator[] = {"Euler", "implicitfast", "implicit", "discrete"};
  for (int i = 0; i < 4; i++) {
    for (int stiff = i == 0; stiff < 2;
         stiff++) {  // Euler takes kv explicitly: too much for a light rotor
      mjModel* m = stiff ? makeHand(integrator[i], 20, 1, GAP(".004", "20", ".005", "2e-3"))
                         : makeHand(integrator[i], 10, .3, GAP(".002", "5", ".003", "1e-4"));
      mjData* d = mj_makeData(m);
      char name[80];
      seed = 3;
      snprintf(name, sizeof(name), "hand, kp %d, %s", stiff ? 20 : 10, integrator[i]);
      Count count = play(m, d, fewer(1500), 100, -.4, 1.9, 0);
      check(name, &count);
      assert_int_equal(count.slow, 0);
      mj_deleteData(d);
      mj_deleteModel(m);
    }
  }
}


//---------------------------------- humanoid -------------------------------------------------------

// a trunk with a head, two arms and two legs of six joints each, self-locking, in a box
static mjModel* makeCrib(const char* integrator) {
  static const char* const root[] = {"0 .14 .16", "0 -.14 .16", "0 .07 -.16", "0 -.07 -.16"};
  char bodies[12000] = "", motors[3000] = "", names[300] = "head0 head1 ";
  for (int i = 0; i < 4; i++) {
    append(bodies, sizeof(bodies), "<body pos='%s'>", root[i]);
    for (int k = 0; k < 3; k++) {
      append(bodies, sizeof(bodies),
             "<joint name='l%d%da' axis='%s' range='-1.5 1.5'/><joint name='l%d%db' axis='0 1 0' "
             "range='-1.5 1.5'/><geom type='capsule' fromto='0 0 0 0 0 -%g' size='%g' mass='%g'/>",
             i, k, k % 2 ? "0 0 1" : "1 0 0", i, k, k < 2 ? .13 : .05, .035 - .007 * k,
             .5 - .18 * k);
      if (k < 2) {
        append(bodies, sizeof(bodies), "<body pos='0 0 -.13'>");
      }
      append(names, sizeof(names), "l%d%da l%d%db ", i, k, i, k);
      append(motors, sizeof(motors), "<motor joint='l%d%da'/><motor joint='l%d%db'/>", i, k, i, k);
    }
    append(bodies, sizeof(bodies), "</body></body></body>");
  }
  return makeModel(
      "<mujoco><compiler angle='radian'/><option timestep='.002' integrator='%s'>"
      "<flag energy='enable'/></option><extension><plugin "
      "plugin='mjgear.transmission'><instance name='g'><config key='joint' value='%s'/><config "
      "key='gamma_u' value='.2'/><config key='gamma_v' value='1.2'/><config key='coulomb' "
      "value='.02'/>"
      "</instance></plugin></extension><default><joint armature='.01' damping='.02'/></default>"
      "<worldbody><geom type='plane' size='1 1 .1'/>"
      "<geom type='box' size='.02 .4 .2' pos='.56 0 .2'/>"
      "<geom type='box' size='.02 .4 .2' pos='-.56 0 .2'/>"
      "<geom type='box' size='.56 .02 .2' pos='0 .3 .2'/>"
      "<geom type='box' size='.56 .02 .2' pos='0 -.3 .2'/>"
      "<body pos='.1 0 .3' euler='0 1.5 0'><freejoint/><geom type='box' size='.07 .1 .15' "
      "mass='4'/>"
      "<body pos='0 0 .2'><joint name='head0' axis='0 1 0' range='-1 1'/><joint name='head1' "
      "axis='0 0 1' "
      "range='-1 1'/><geom size='.08' mass='1.5'/></body>%s</body></worldbody>"
      "<actuator><motor joint='head0'/><motor joint='head1'/>%s</actuator></mujoco>",
      integrator, names, bodies, motors);
}


// it falls into the crib and lies: contacts, gears and joints are passive, so that its energy stays below that of the start.
// Then its motors thrash
static void test_crib(void** state) {
  static const char* const integrator[] = {"Euler", "implicitfast", "implicit", "discrete"};
  for (int i = 0; i < 4; i++) {
    mjModel* m = makeCrib(integrator[i]);
    mjData* d = mj_makeData(m);
    mj_forward(m, d);
    assert_int_equal(d->ncon, 0);
    double start = d->energy[0] + d->energy[1], kinetic = 0, above = -INFINITY;
    for (int k = 0; k < 200; k++) {
      mj_step(m, d);
      mj_energyPos(m, d);
      mj_energyVel(m, d);
      kinetic = fmax(kinetic, d->energy[1]);
      above = fmax(above, d->energy[0] + d->energy[1] - start);
    }
    print_message("energy above that of the start %g of %g J\n", above, kinetic);
    // in flight the integrator's own energy is off by m g^2 h T / 2
    double flight = 0.5 * m->body_subtreemass[0] * 9.81 * 9.81 * m->opt.timestep * d->time;
    assert_true(above <= flight && kinetic > 20 * flight);
    char name[80];
    seed = 5;
    snprintf(name, sizeof(name), "crib, %s", integrator[i]);
    Count count = play(m, d, fewer(1000), 20, -3, 3, LONG);
    check(name, &count);
    assert_true(count.slow <= 0.01 * count.steps);  // 5 of 1000, 6 to 18 from rest alone
    assert_int_equal(count.slow, count.paths);
    mj_deleteData(d);
    mj_deleteModel(m);
  }
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hand),
      cmocka_unit_test(test_crib),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
