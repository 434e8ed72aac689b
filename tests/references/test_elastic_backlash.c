// Modelica's elastic backlash (Modelica.Mechanics.Rotational.Components.ElastoBacklash, BSD licence: its equations,
// none of its code) between two inertias, for many drawn sets of parameters, in the core and in the engine, with and
// without contact.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mjgear_backlash.h"
#include "plugin_models.h"
#include "references/drive.h"


// two inertias that meet through Modelica's elastic backlash: c, d, total gap b; the damping torque is never
// larger than the spring's
static double elastoTorque(double c, double damping, double b, double phi, double w) {
  double side = phi > 0 ? 1 : -1, z = side * phi - 0.5 * b;
  if (z <= 0) {
    return 0;
  }
  double spring = c * z, damper = damping * side * w;
  return side * (spring + fmin(fmax(damper, -spring), spring));
}


// the support of a body's weight on its axis has no moment about it
#define FOOT                                                                                  \
  "<body><joint type='slide' axis='0 0 1'/><inertial pos='0 0 0' mass='1' diaginertia='1e-9 " \
  "1e-9 1e-9'/><geom size='0.1' condim='1'/></body>"

#define MODEL                                                                             \
  "<mujoco><option timestep='%g' gravity='0 0 %d'/><extension><plugin "                   \
  "plugin='mjgear.transmission'><instance name='g'><config key='joint' value='j'/>"       \
  "<config key='motor_joint' value='r'/><config key='backlash' value='limited_damping'/>" \
  "<config key='half_gap' value='%.17g'/><config key='stiffness' value='%.17g'/>"         \
  "<config key='damping' value='%.17g'/></instance></plugin></extension>"                 \
  "<worldbody>%s<body pos='0 0 0.1'><joint name='r' axis='0 0 1'/>"                       \
  "<inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g %.17g'/>%s</body>"             \
  "<body pos='1 0 0.1'><joint name='j' axis='0 0 1'/>"                                    \
  "<inertial pos='0 0 0' mass='1' diaginertia='%.17g %.17g %.17g'/>%s</body></worldbody></mujoco>"


static void elasticBacklash(void** state) {
  for (int i = 0; i < DRAWN; i++) {
    double J1 = draw(0.5, 5), J2 = draw(0.5, 5), c = draw(1e3, 2e4), b = draw(0.005, 0.05);
    double damping = draw(0, 0.5) * sqrt(c * J1 * J2 / (J1 + J2)), speed = draw(0.5, 3), end = 0.3;

    // own integration
    double y[4] = {0, speed, 0, 0}, dt = 2e-6;
    for (int k = 0; k < (int)lround(end / dt); k++) {
      double middle[2] = {y[0] + 0.5 * dt * y[1], y[2] + 0.5 * dt * y[3]};
      double T = elastoTorque(c, damping, b, middle[0] - middle[1], y[1] - y[3]);
      y[1] -= dt * T / J1;
      y[3] += dt * T / J2;
      y[0] = middle[0] + 0.5 * dt * y[1];
      y[2] = middle[1] + 0.5 * dt * y[3];
    }

    // the core's coupling
    const double h = 1e-4;
    const mjgBacklash law = {
        .model = mjgLIMITED_DAMPING, .half_gap = 0.5 * b, .stiffness = c, .damping = damping};
    double v1 = speed, v2 = 0, q1 = 0, q2 = 0, A = h * (1 / J1 + 1 / J2);
    for (int k = 0; k < (int)lround(end / h); k++) {
      const mjgCoupling coupling = {.law = &law,
                                    .h = h,
                                    .blend = mjg_couplingBlend(&law, A, h),
                                    .theta_d = q1 - q2,
                                    .omega_d = v1 - v2};
      mjgCouplingStep step;
      mjg_couplingResolve(&step, &coupling, v1 - v2, A);
      v1 -= h * step.T / J1;
      v2 += h * step.T / J2;
      q1 += h * v1;
      q2 += h * v2;
    }
    assert_true(fabs(v1 - y[1]) < 0.02 * speed && fabs(v2 - y[3]) < 0.02 * speed);

    // the engine: between two joints, where nothing else acts, and where both stand on a plane
    for (int stands = 0; stands < 2; stands++) {
      const char* floor = stands ? "<geom type='plane' size='1 1 1' condim='1'/>" : "";
      const char* foot = stands ? FOOT : "";
      mjModel* m = makeModel(MODEL, h, stands ? -10 : 0, 0.5 * b, c, damping, floor, J1, J1, J1,
                             foot, J2, J2, J2, foot);
      mjData* d = mj_makeData(m);
      int load = m->jnt_dofadr[mj_name2id(m, mjOBJ_JOINT, "j")];
      d->qvel[0] = speed;
      for (int k = 0; k < (int)lround(end / h); k++) {
        mj_step(m, d);
        assert_true(!stands || k == 0 || d->ncon == 2);
      }
      assert_true(fabs(d->qvel[0] - y[1]) < 0.02 * speed);
      assert_true(fabs(d->qvel[load] - y[3]) < 0.02 * speed);
      mj_deleteData(d);
      mj_deleteModel(m);
    }
  }
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elasticBacklash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
