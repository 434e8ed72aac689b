#include "script.h"

// the paper's cases in the order of the table in script.h
enum { LOW, MIDDLE, HIGH, ELBOW_LOCKED, SHOULDER_LOCKED, NPAPER };

double mjg_wallPush(double time) {
  return mjg_reached(time, 2.5) ? -500 : mjg_reached(time, 2.0) ? 0 : mjg_reached(time, 0.5) ? 500 : 0;
}

double mjg_wallPosition(double time) {
  const double before = 1.37, after = 1.12;
  return !mjg_reached(time, 1.0)  ? before
         : mjg_reached(time, 1.5) ? after
                                  : ((1.5 - time) * before + (time - 1) * after) / 0.5;
}

void mjg_wallInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = mjg_wallPush(d->time);
  d->mocap_pos[0] = mjg_wallPosition(d->time);
}

// largest speed of a joint while the wall moves
static double speed(const mjgTrajectory* run, const char* column) {
  return fmax(fabs(mjg_lowest(run, column, 1.0, 1.5)), fabs(mjg_highest(run, column, 1.0, 1.5)));
}

// rotation of a joint while the wall moves
static double turn(const mjgTrajectory* run, const char* column) { return mjg_swing(run, column, 1.0, 1.5); }

void mjg_wallClaims(mjgClaims* claims, const mjgTrajectory* run) {
  // both gears are self-locking: the wall cannot push the arm back, and the arm keeps pressing
  const mjgTrajectory* locked = &run[HIGH];
  double fastest = fmax(speed(&run[HIGH], "v_shoulder"), speed(&run[HIGH], "v_elbow"));
  mjg_claim(claims, fastest == 0,
            "gamma_v = [1.1, 1.1]: the moving wall does not move the arm from 1.0 to 1.5 s: largest speed %g rad/s",
            fastest);
  double pushed = -mjg_at(locked, "fx", 1.95), kept = -mjg_highest(locked, "fx", 2.0, 2.499);
  mjg_claim(claims, kept > 0.999 * pushed && pushed > 500,
            "it keeps its force after the push ends: %.2f N at 1.95 s, at least %.2f N from 2.0 to 2.5 s", pushed,
            kept);

  // one gear locks
  fastest = speed(&run[ELBOW_LOCKED], "v_elbow");
  double turned = turn(&run[ELBOW_LOCKED], "q_shoulder");
  mjg_claim(claims, fastest == 0 && turned > 0.01,
            "gamma_v = [0.1, 1.1]: the elbow is exactly still (%g rad/s) while the wall turns the shoulder by %.4f rad",
            fastest, turned);
  fastest = speed(&run[SHOULDER_LOCKED], "v_shoulder");
  turned = turn(&run[SHOULDER_LOCKED], "q_elbow");
  mjg_claim(claims, fastest == 0 && turned > 0.01,
            "gamma_v = [1.1, 0.1]: the shoulder is exactly still (%g rad/s) while the wall turns the elbow by %.4f rad",
            fastest, turned);

  // the more friction, the more force the wall needs
  double force[3];
  for (int i = 0; i < 3; i++) {
    force[i] = -mjg_lowest(&run[LOW + i], "fx", 1.0, 2.0);
  }
  mjg_claim(claims, force[LOW] < force[MIDDLE] && force[MIDDLE] < force[HIGH],
            "a larger gamma_v gives a larger contact force from 1 to 2 s: largest %.1f < %.1f < %.1f N", force[LOW],
            force[MIDDLE], force[HIGH]);

  // the motors pull any of them off
  for (int i = 0; i < NPAPER; i++) {
    const mjgTrajectory* t = &run[i];
    double gap = mjg_at(t, "wx", 2.999) - mjg_at(t, "px", 2.999), last = mjg_at(t, "fx", 2.999);
    mjg_claim(claims, gap > 0.01 && last == 0, "%s comes off when it is pulled: %.4f m from the wall at the end",
              run[i].variant->name, gap);
  }
}
