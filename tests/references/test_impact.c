// A body hits a link with a gear, motor off: the momentum of the link in closed form, for
// any restitution of the contact, for many drawn sets of parameters, in the core and in
// the engine.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mjgear.h"
#include "plugin_models.h"
#include "references/drive.h"


// Bodies with a contact: a slide joint with a gear, and a ball on a separate slide that hits it or
// rides on it. Contact stiffness k without damping.
#define CONTACT_MODEL                                                                     \
  "<mujoco><option timestep='%.17g' gravity='0 0 %.17g' cone='elliptic'><flag "           \
  "eulerdamp='disable'/></option>"                                                        \
  "<extension><plugin plugin='mjgear.transmission'><instance name='g'>"                   \
  "<config key='joint' value='j'/><config key='eta_forward' value='%.17g'/>"              \
  "<config key='eta_backward' value='%.17g'/></instance></plugin></extension><worldbody>" \
  "<body><joint name='j' type='slide' axis='0 0 1' armature='%.17g'/>"                    \
  "<geom name='plate' type='box' size='1 1 0.1' pos='0 0 -0.1' mass='%.17g'/></body>"     \
  "<body pos='0 0 0.1'><joint name='b' type='slide' axis='0 0 1'/>"                       \
  "<geom name='ball' size='0.1' mass='%.17g'/></body></worldbody>"                        \
  "<contact><pair geom1='plate' geom2='ball' condim='1' solref='%.17g %.17g' "            \
  "solimp='0.9 0.9 0.001'/></contact></mujoco>"


// a body m_b hits the link, motor off: v_link/dv_b = m_b/(M + m/eta_b), for any restitution of the
// contact, and 0 for a self-locking gear
static void impactThroughGear(void** state) {
  int locked = 0;
  for (int i = 0; i < DRAWN; i++) {
    double eta_b = i % 5 == 0 ? -draw(0.05, 0.5) : draw(0.1, 0.95), eta_f = draw(0.2, 0.95);
    double m = draw(0.1, 2), M = draw(0.2, 2), ball = draw(0.1, 3), speed = draw(0.2, 2);
    double stiffness = draw(1e4, 1e6), damping = draw(0, 500);
    mjModel* model =
        makeModel(CONTACT_MODEL, 1e-4, 0.0, eta_f, eta_b, m, M, ball, -stiffness, -damping);
    mjData* d = mj_makeData(model);
    d->qvel[1] = -speed;
    d->qpos[1] = 1e-3;

    // until the ball has left again, or the plate runs with it
    double link = 0, change = 0;
    for (int k = 0; k < 4000; k++) {
      mj_step(model, d);
      if (k > 20 && d->ncon == 0 && d->qvel[1] > d->qvel[0] - 1e-9 && d->qpos[1] > d->qpos[0]) {
        break;
      }
    }
    link = d->qvel[0];
    change = d->qvel[1] + speed;
    if (eta_b <= 0) {
      assert_true(link == 0 && change > 0);
      locked++;
    } else {
      double expected = -change * ball / (M + m / eta_b);
      assert_true(change > 0 && fabs(link - expected) < 1e-6 * fabs(expected));
    }
    mj_deleteData(d);
    mj_deleteModel(model);

    // the core: a contact of our own between two bodies, which pushes only
    double gamma_u, gamma_v, v[2] = {0, -speed}, depth = 0, h = 1e-5, most = 0;
    assert_int_equal(mjg_coefficients(&gamma_u, &gamma_v, eta_f, eta_b), 0);
    for (int k = 0; k < 200000 && (most == 0 || depth > 0); k++) {
      double force = depth > 0 ? fmax(0, stiffness * depth + damping * (v[0] - v[1])) : 0;
      most = fmax(most, force);
      assert_true(mjg_stepScalar(v, NULL, v[0], 0, force, gamma_u, gamma_v, m, M, h) >= 0);
      v[1] += h * force / ball;
      depth += h * (v[0] - v[1]);
    }
    double expected = eta_b <= 0 ? 0 : -(v[1] + speed) * ball / (M + m / eta_b);
    assert_true(v[1] > -speed && fabs(v[0] - expected) <= 1e-9 * fabs(expected));
  }
  assert_true(locked >= 10);
}


int main(void) {
  loadPlugin();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impactThroughGear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
