// Playing scenes: recordings, and that a wrong reference cannot pass. No plugin is needed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "load.h"
#include "play.h"

#define FORCE(time) ((time) < 0.5 ? 40.0 : 0.0)

static double fault = 0;  // added to the reference's velocity in each step


static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  (void)m;
  (void)variant;
  d->ctrl[0] = FORCE(d->time);
}


static const char* const column[] = {"mine", NULL};

static void measure(double* value, const mjModel* m, const mjData* d) {
  (void)m;
  value[0] = 2 * d->xpos[5];
}


// a mass of 2 kg under 10 m/s2 of gravity
static int reference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) {
  (void)variant;
  v[0] += m->opt.timestep * (FORCE(time) / 2 - 10) + fault;
  q[0] += m->opt.timestep * v[0];
  return 0;
}


static const mjgScene scene = {
    .name = "slider",
    .xml = MJGEAR_SOURCE_DIR "/tests/data/slider.xml",
    .input = input,
    .column = column,
    .measure = measure,
    .reference = reference,
};


// play 100 steps; returns the largest difference
static double play100(mjgPlay* play, int compare) {
  char error[500] = "";
  mjModel* m = mjg_loadScene(&scene, NULL, NULL, 0, error, 500);
  if (!m) {
    fail_msg("%s", error);
  }
  mjData* d = mjg_startScene(m);
  assert_int_equal(mjg_openPlay(play, &scene, NULL, m, d, compare, error, 500), 0);
  for (int i = 0; i < 100; i++) {
    assert_int_equal(mjg_stepPlay(play, error, 500), 0);
  }
  mj_deleteData(d);
  mj_deleteModel(m);
  return play->difference;
}


static void records_state_then_force(void** state) {
  (void)state;
  mjgPlay play;
  assert_true(play100(&play, 1) < 1e-12);
  const mjgTrajectory* t = &play.trajectory;
  const char* const names[] = {"time",    "q_slide", "v_slide", "motor_slide", "friction_slide",
                               "place_0", "place_1", "place_2", "mine",        "difference"};
  assert_int_equal(t->ncolumn, 10);
  for (int i = 0; i < 10; i++) {
    assert_string_equal(t->name[i], names[i]);
  }

  // the first row is the keyframe, with the force that acts from there on
  assert_int_equal(t->nrow, 100);
  assert_true(mjg_at(t, "q_slide", 0) == 3 && mjg_at(t, "v_slide", 0) == -1);
  assert_true(mjg_at(t, "motor_slide", 0) == 40 && mjg_at(t, "motor_slide", 0.6) == 0);
  assert_true(fabs(mjg_at(t, "v_slide", 0.5) - (-1 + 10 * 0.5)) < 1e-12);
  for (int i = 0; i < 100; i++) {
    const double* row = t->data + 10 * i;
    assert_true(isnan(row[4]) && row[5] == 0 && row[6] == 0);
    assert_true(row[7] == row[1] && row[8] == 2 * row[1]);
  }
  mjg_closePlay(&play);
}


static void sees_a_wrong_reference(void** state) {
  (void)state;
  mjgPlay play;
  fault = 1e-9;
  double difference = play100(&play, 1);
  assert_true(difference > 0.9e-7 && difference < 1.1e-7);
  assert_true(mjg_at(&play.trajectory, "difference", 0.495) > 4e-8);
  mjg_closePlay(&play);

  fault = NAN;
  assert_true(isinf(play100(&play, 1)));
  mjg_closePlay(&play);

  // without comparing there is none
  assert_true(play100(&play, 0) == 0);
  mjg_closePlay(&play);
  fault = 0;
}


static void ignore(const char* warning) {
  (void)warning;
}


static void stops_when_the_engine_gives_up(void** state) {
  (void)state;
  char error[500] = "";
  mjModel* m = mjg_loadScene(&scene, NULL, NULL, 0, error, 500);
  mjData* d = mjg_startScene(m);
  mjgPlay play;
  assert_int_equal(mjg_openPlay(&play, &scene, NULL, m, d, 1, error, 500), 0);
  assert_int_equal(mjg_stepPlay(&play, error, 500), 0);
  mju_user_warning = ignore;
  d->qvel[0] = NAN;
  assert_int_equal(mjg_stepPlay(&play, error, 500), -1);
  assert_non_null(strstr(error, "0.01 s"));
  mjg_closePlay(&play);
  mj_deleteData(d);
  mj_deleteModel(m);
}


int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_state_then_force),
      cmocka_unit_test(sees_a_wrong_reference),
      cmocka_unit_test(stops_when_the_engine_gives_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
