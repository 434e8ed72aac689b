// Integrator discrete on the scenes: stuck joints stay so to the last bit for a minute, rod and
// wall equal the core's own integration, every step keeps the law, and motions approach those of
// implicitfast with the first power of the step.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "load.h"
#include "mjgear.h"
#include "mjgear_plugin.h"
#include "play.h"
#include "with_plugin.h"

#define MAXGEAR 16
#define MAXQ    64
#define MINUTE  60.0  // s

static int (*getGear)(double*, const mjModel*, const mjData*, int, const char*);


// a scene that is played with some integrator and step, 0: its own
typedef struct Run_ {
  const mjgScene* scene;
  const mjgCase* variant;
  mjModel* m;
  mjData* d;
  int n, dof[MAXGEAR], qpos[MAXGEAR];  // its gears
  double gamma_u[MAXGEAR], gamma_v[MAXGEAR];
} Run;


static Run begin(const char* name, const char* variant, int integrator, double scale) {
  char error[2048] = "";
  Run run = {.scene = mjg_findScene(name)};
  assert_non_null(run.scene);
  run.variant = variant ? mjg_findCase(run.scene, variant) : NULL;
  assert_true(!variant || run.variant);
  run.m = mjg_loadScene(run.scene, run.variant, NULL, 0, error, sizeof error);
  if (!run.m) {
    fail_msg("%s", error);
  }
  run.m->opt.integrator = integrator;
  run.m->opt.timestep *= scale;
  run.d = mjg_startScene(run.m);
  assert_non_null(run.d);
  for (int j = 0; j < run.m->njnt; j++) {
    if (getGear(run.gamma_u + run.n, run.m, run.d, j, "gamma_u") >= 0) {
      double coulomb;
      getGear(run.gamma_v + run.n, run.m, run.d, j, "gamma_v");
      assert_int_equal(getGear(&coulomb, run.m, run.d, j, "coulomb"), 0);
      run.dof[run.n] = run.m->jnt_dofadr[j];
      run.qpos[run.n++] = run.m->jnt_qposadr[j];
      assert_true(run.n < MAXGEAR);
    }
  }
  assert_true(run.n > 0 && run.m->nq <= MAXQ);
  return run;
}


static void end(Run* run) {
  mj_deleteData(run->d);
  mj_deleteModel(run->m);
}


// one step; input: 1 if the script continues
static void advance(Run* run, int input) {
  if (input && run->scene->input) {
    run->scene->input(run->m, run->d, run->variant);
  }
  mj_step(run->m, run->d);
}


// passive forces of a geared joint less springs and dampers
static double friction(const Run* run, int i) {
  const mjData* d = run->d;
  int dof = run->dof[i];
  return d->qfrc_spring[dof] + d->qfrc_damper[dof] + d->qfrc_gravcomp[dof] - d->qfrc_passive[dof];
}


//---------------------------------- a minute ------------------------------------------------------

static void stuck_stays_stuck(void** state) {
  static const struct {
    const char *scene, *variant;
    double hold;  // motors are off and all gears stand
  } row[] = {
      {"rod", "gamma_v=1.05", 1.39},
      {"wall", "gamma_v=1.1,1.1", 2.4},
      {"rigid", "gamma_v=1.1,1.1-pyramidal", 0.9},
      {"rigid", "gamma_v=1.1,1.1-elliptic", 0.9},
      {"arm", NULL, 3.5},
      {"humanoid", "locking", 2.5},
      {"gripper", "screw", 5},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    Run run = begin(row[k].scene, row[k].variant, mjINT_DISCRETE, 1);
    while (!mjg_reached(run.d->time, row[k].hold)) {
      advance(&run, 1);
    }
    double q[MAXQ], load = 0;
    mju_copy(q, run.d->qpos, (int)run.m->nq);
    int steps = 0;
    while (!mjg_reached(run.d->time, row[k].hold + MINUTE)) {
      advance(&run, 0);
      for (int i = 0; i < run.n; i++) {
        assert_true(run.d->qvel[run.dof[i]] == 0);
        assert_true(run.d->qpos[run.qpos[i]] == q[run.qpos[i]]);
        load = fmax(load, fabs(friction(&run, i)));
      }
      steps++;
    }
    print_message("%-9s %d gears stand for %d steps, friction up to %.3g\n", row[k].scene, run.n,
                  steps, load);
    assert_true(load > 0);
    end(&run);
  }
}


//---------------------------------- the core ------------------------------------------------------

// A step of the core. Under discrete a spring and a damper act at the end of the step: to the rod they are the inertia
// h B + h^2 K. The wall has neither spring nor servo nor contact: it is the paper's step with viscosity as inertia
static int coreStep(double* q, double* v, const Run* run) {
  const mjModel* m = run->m;
  double time = run->d->time, h = m->opt.timestep, B = 10;
  if (m->nv > 1) {
    return run->scene->reference(q, v, time, m, run->variant);
  }
  double K = q[0] < 0 ? 1e4 : 0, load = K * (q[0] + h * v[0]) + B * v[0];
  double u = mjg_reached(time, 1.4) ? 20 : mjg_reached(time, 0.9) ? 0 : -40;
  double M = 1 + h * B + h * h * K;
  int status = mjg_stepScalar(v, NULL, v[0], u, load, 0.2, run->gamma_v[0], 1, M, h);
  q[0] += h * v[0];
  return status;
}


static void lies_on_the_core(void** state) {
  static const char* const row[][2] = {{"rod", "gamma_v=0.2"},
                                       {"rod", "gamma_v=0.5"},
                                       {"rod", "gamma_v=0.95"},
                                       {"rod", "gamma_v=1.05"},
                                       {"wall", "gamma_v=0.1,0.1-implicit"},
                                       {"wall", "gamma_v=0.6,0.6-implicit"},
                                       {"wall", "gamma_v=1.1,1.1-implicit"},
                                       {"wall", "gamma_v=0.1,1.1-implicit"},
                                       {"wall", "gamma_v=1.1,0.1-implicit"}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    Run run = begin(row[k][0], row[k][1], mjINT_DISCRETE, 1);
    double q[2] = {0}, v[2] = {0}, most = 0;
    mju_copy(q, run.d->qpos, (int)run.m->nq);
    while (!mjg_reached(run.d->time, run.scene->duration)) {
      assert_true(coreStep(q, v, &run) >= 0);
      advance(&run, 1);
      for (int i = 0; i < run.m->nv; i++) {
        most = fmax(most, fmax(fabs(q[i] - run.d->qpos[i]), fabs(v[i] - run.d->qvel[i])));
      }
    }
    print_message("%-9s %s: within %.2g of the core\n", row[k][0], row[k][1], most);
    assert_true(most <= 1e-9);
    end(&run);
  }
}


// distance from the law of a step in which the engine came from v to v_next, relative to its torques. Motors of
// these scenes have no gains, so their torque is constant over the step
static double distance(const Run* run, const mjtNum* v, int i, int* slips) {
  const mjModel* m = run->m;
  const mjData* d = run->d;
  int dof = run->dof[i];
  double a = (d->qvel[dof] - v[dof]) / m->opt.timestep, tau = d->qfrc_actuator[dof];
  double base = d->qfrc_spring[dof] + d->qfrc_damper[dof] + d->qfrc_gravcomp[dof];
  double t = friction(run, i), u = tau - m->dof_armature[dof] * a;
  double lambda = (run->gamma_u[i] + run->gamma_v[i]) * u - run->gamma_v[i] * t;
  double scale = fabs(tau) + fabs(base) + fabs(t) + fabs(d->qfrc_constraint[dof]) +
                 fabs(d->qfrc_bias[dof]) + fabs(m->dof_armature[dof] * a) + 1e-9;
  double error = fmax(fabs(t) - fabs(lambda), 0);
  if (d->qvel[dof] != 0) {
    (*slips)++;
    error = fabs(t - (d->qvel[dof] > 0 ? 1 : -1) * fabs(lambda));
  }
  return error / scale;
}


static void lies_on_the_law(void** state) {
  static const struct {
    const char *scene, *variant;
    double until;
  } row[] = {
      {"rod", "gamma_v=0.5", 2},
      {"rod", "gamma_v=1.05", 2},
      {"wall", "gamma_v=1.1,0.1", 3},
      {"wall-contact", "gamma_v=1.1,1.1", 3},
      {"wall-contact", "gamma_v=0.1,1.1", 3},
      {"rigid", "gamma_v=0.6,0.6-pyramidal", 1},
      {"rigid", "gamma_v=0.1,1.1-elliptic", 1},
      {"arm", NULL, 4},
      {"humanoid", "yielding", 6},
      {"gripper", "screw", 5},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    Run run = begin(row[k].scene, row[k].variant, mjINT_DISCRETE, 1);
    double most = 0, when = 0;
    int slips = 0, steps = 0;
    while (!mjg_reached(run.d->time, row[k].until)) {
      mjtNum v[MAXQ];
      mju_copy(v, run.d->qvel, (int)run.m->nv);
      advance(&run, 1);
      for (int i = 0; i < run.n; i++) {
        double error = distance(&run, v, i, &slips);
        when = error > most ? run.d->time : when;
        most = fmax(most, error);
      }
      steps++;
    }
    print_message("%-12s %-36s %d steps, %d slips: at most %.2g off the law, at %.3f s\n",
                  row[k].scene, row[k].variant ? row[k].variant : "", steps, slips, most, when);
    assert_true(slips > 100 && most <= 1e-9);
    end(&run);
  }
}


//---------------------------------- smaller steps -------------------------------------------------

static void goes_over_into_implicitfast(void** state) {
  static const struct {
    const char *scene, *variant;
    double until, scale;  // s; largest step relative to the scene's
    int same;             // only joint damping is implicit, and no constraint acts
  } row[] = {
      {"rod", "gamma_v=0.5", 0.5, 0.25, 0},
      {"wall", "gamma_v=0.6,0.6", 0.9, 1, 1},
      {"rigid", "gamma_v=0.6,0.6-pyramidal", 0.3, 1, 0},
      {"arm", NULL, 1, 1, 0},
      {"humanoid", "yielding", 0.3, 1, 0},
      {"gripper", "screw", 1, 1, 0},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    double error[3];
    for (int i = 0; i < 3; i++) {
      Run run[2];
      for (int r = 0; r < 2; r++) {
        run[r] = begin(row[k].scene, row[k].variant, r ? mjINT_DISCRETE : mjINT_IMPLICITFAST,
                       row[k].scale / (1 << i));
        while (!mjg_reached(run[r].d->time, row[k].until)) {
          advance(run + r, 1);
        }
      }
      error[i] = 0;
      for (int q = 0; q < run[0].m->nq; q++) {
        error[i] = fmax(error[i], fabs(run[0].d->qpos[q] - run[1].d->qpos[q]));
      }
      end(run);
      end(run + 1);
    }
    print_message("%-9s difference from implicitfast: %.3g %.3g %.3g\n", row[k].scene, error[0],
                  error[1], error[2]);
    if (row[k].same) {
      assert_true(error[0] <= 1e-12);
    } else {
      for (int i = 0; i < 2; i++) {
        assert_true(error[i] / error[i + 1] > 1.5 && error[i] / error[i + 1] < 2.7);
      }
    }
  }
}


static int load(void** state) {
  int failed = loadPlugin(state);
  return failed ? failed : mjg_findFunction(&getGear, "mjg_getGear");
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stuck_stays_stuck),
      cmocka_unit_test(lies_on_the_core),
      cmocka_unit_test(lies_on_the_law),
      cmocka_unit_test(goes_over_into_implicitfast),
  };
  return cmocka_run_group_tests(tests, load, NULL);
}
