// Clutches in a row as Modelica's CoupledClutches has them (Modelica.Mechanics.Rotational.Examples, BSD licence: its
// arrangement, none of its code), for many drawn sets of parameters, in the core and in the engine, with and without
// contact.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mjgear.h"
#include "plugin_models.h"
#include "references/drive.h"

#define PI       3.14159265358979323846
#define CLUTCHES 3

// four inertias in a row with three clutches that carry at most c: torques of the clutches by
// projected sweeps over the relative velocities, in fine steps
static void fineClutches(double w[CLUTCHES + 1], const double J[CLUTCHES + 1],
                         const double c[CLUTCHES], double amplitude, double omega, double from,
                         double to) {
  const double dt = 1e-4;
  double impulse[CLUTCHES] = {0};
  for (double t = from; t < to - 0.5 * dt; t += dt) {
    w[0] += dt * amplitude * sin(omega * (t + 0.5 * dt)) / J[0];
    for (int k = 0; k < CLUTCHES; k++) {
      w[k] -= impulse[k] / J[k];
      w[k + 1] += impulse[k] / J[k + 1];
    }
    double change = 1;
    for (int sweep = 0; sweep < 400 && change > 1e-13; sweep++) {
      change = 0;
      for (int k = 0; k < CLUTCHES; k++) {
        double inverse = 1 / J[k] + 1 / J[k + 1];
        double next = impulse[k] + (w[k] - w[k + 1]) / inverse;
        next = fmin(fmax(next, -dt * c[k]), dt * c[k]);
        double step = next - impulse[k];
        impulse[k] = next;
        w[k] -= step / J[k];
        w[k + 1] += step / J[k + 1];
        change = fmax(change, fabs(step));
      }
    }
  }
}


// the same by the core, one step of the velocities relative to the inertia before, v+ = v* - A t
static void coreClutches(double w[CLUTCHES + 1], const double J[CLUTCHES + 1],
                         const double c[CLUTCHES], double torque, double h) {
  double A[CLUTCHES * CLUTCHES] = {0}, v[CLUTCHES], old[CLUTCHES], t[CLUTCHES], next[CLUTCHES];
  double lambda[CLUTCHES], zero[CLUTCHES] = {0};
  for (int r = 0; r < CLUTCHES; r++) {
    A[(CLUTCHES + 1) * r] = h * (1 / J[r] + 1 / J[r + 1]);
    if (r > 0) {
      A[CLUTCHES * r + r - 1] = A[CLUTCHES * (r - 1) + r] = -h / J[r];
    }
    old[r] = w[r + 1] - w[r];
    v[r] = old[r] - (r == 0 ? h * torque / J[0] : 0);
  }
  const mjgProblem problem = {.n = CLUTCHES,
                              .v = v,
                              .A = A,
                              .phi = zero,
                              .alpha = zero,
                              .beta = zero,
                              .coulomb = c,
                              .v0 = old};
  mjgSettings settings;
  mjg_defaultSettings(&settings);
  double memory[4096];
  int mode[CLUTCHES];
  mjgSolution solution = {t, next, lambda, mode};
  mjgWorkspace* work = mjg_create(memory, sizeof memory, CLUTCHES, CLUTCHES);
  assert_true(mjg_solve(&solution, NULL, &problem, &settings, work) >= 0);
  w[0] += h * (torque + t[0]) / J[0];
  for (int r = 0; r < CLUTCHES; r++) {
    w[r + 1] = w[r] + next[r];
  }
}


// in the engine: a chain of bodies on one axis, whose joints turn by the relative angles
#define BODY(joint)           \
  "<body><joint name='" joint \
  "' axis='0 0 1'/><inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g %.17g'/>"
#define MODEL                                                                              \
  "<mujoco><option timestep='%g' gravity='0 0 %d'/><extension><plugin "                    \
  "plugin='mjgear.transmission'><instance name='g'><config key='joint' value='c1 c2 c3'/>" \
  "<config key='gamma_u' value='0'/><config key='gamma_v' value='0'/>"                     \
  "<config key='coulomb' value='%.17g %.17g %.17g'/></instance></plugin></extension>"      \
  "<worldbody>%s" BODY("J1") BODY("c1") BODY("c2")                                         \
      BODY("c3") "%s</body></body></body></body></worldbody></mujoco>"

// on the axis: the support of its weight has no moment about it
#define FLOOR "<geom type='plane' size='1 1 1' condim='1'/>"
#define FOOT                                                                              \
  "<body pos='0 0 0.1'><joint type='slide' axis='0 0 1'/><inertial pos='0 0 0' mass='1' " \
  "diaginertia='1e-9 "                                                                    \
  "1e-9 1e-9'/><geom size='0.1' condim='1'/></body>"


static void coupledClutches(void** state) {
  int stuck = 0;
  for (int i = 0; i < DRAWN; i++) {
    const double h = 1e-3;
    double J[CLUTCHES + 1], c[CLUTCHES], w[CLUTCHES + 1] = {10, 0, 0, 0}, core[CLUTCHES + 1] = {10};
    for (int k = 0; k <= CLUTCHES; k++) {
      J[k] = draw(0.5, 2);
      c[k % CLUTCHES] = draw(2, 20);
    }
    double amplitude = draw(5, 15), omega = 2 * PI * draw(0.5, 3);
    mjModel* m[2];
    mjData* d[2];
    for (int stands = 0; stands < 2; stands++) {
      m[stands] =
          makeModel(MODEL, h, stands ? -10 : 0, c[0], c[1], c[2], stands ? FLOOR : "", J[0], J[0],
                    J[0], J[1], J[1], J[1], J[2], J[2], J[2], J[3], J[3], J[3], stands ? FOOT : "");
      d[stands] = mj_makeData(m[stands]);
      d[stands]->qvel[0] = 10;
      d[stands]->qvel[1] = -10;
    }
    for (int k = 0; k < 1200; k++) {
      double torque = amplitude * sin(omega * (k + 0.5) * h);
      fineClutches(w, J, c, amplitude, omega, k * h, (k + 1) * h);
      coreClutches(core, J, c, torque, h);
      for (int stands = 0; stands < 2; stands++) {
        d[stands]->qfrc_applied[0] = torque;
        mj_step(m[stands], d[stands]);
        assert_true(!stands || k == 0 || d[stands]->ncon == 1);
        double absolute = 0;
        for (int r = 0; r <= CLUTCHES; r++) {
          absolute += d[stands]->qvel[r];
          assert_true(fabs(absolute - w[r]) < 0.05 && fabs(core[r] - w[r]) < 0.05);
          stuck += r > 0 && d[stands]->qvel[r] == 0;
        }
      }
    }
    for (int stands = 0; stands < 2; stands++) {
      mj_deleteData(d[stands]);
      mj_deleteModel(m[stands]);
    }
  }
  assert_true(stuck > 2000);
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coupledClutches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
