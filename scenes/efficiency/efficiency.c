#include "efficiency.h"

// steady motion at the end of each phase, s
#define STEADY 0.4

double mjg_effMotor(double time, double v, double speed, double gain) {
  return mjg_reached(time, mjgEFF_DOWN) ? gain * (-speed - v) : mjg_reached(time, mjgEFF_OFF) ? 0 : gain * (speed - v);
}

void mjg_effWork(double* in, double* out, const mjgTrajectory* run, const char* joint, int up) {
  char motor_name[mjgMAXNAME], q_name[mjgMAXNAME];
  snprintf(motor_name, sizeof(motor_name), "motor_%.32s", joint);
  snprintf(q_name, sizeof(q_name), "q_%.32s", joint);
  int time = mjg_column(run, "time"), load = mjg_column(run, "load");
  int motor = mjg_column(run, motor_name), q = mjg_column(run, q_name);
  double end = up ? mjgEFF_OFF : mjgEFF_DURATION;
  *in = *out = 0;
  for (int i = 0; i + 1 < run->nrow; i++) {
    const double* row = mjg_row(run, i);
    if (mjg_reached(row[time], end - STEADY) && !mjg_reached(row[time], end)) {
      double way = row[run->ncolumn + q] - row[q];
      *in += row[motor] * way;
      *out += row[load] * way;
    }
  }
}

void mjg_effClaims(mjgClaims* claims, const mjgTrajectory* run, const char* joint, double eta_f, double eta_b) {
  const char* name = run->variant ? run->variant->name : "";
  double in, out;
  mjg_effWork(&in, &out, run, joint, 1);
  double lifting = out / in;
  mjg_claim(claims, out > 0 && fabs(lifting / eta_f - 1) < 1e-3,
            "%s, lifting: %.6g J of the motor's %.6g J arrive, efficiency %.6f, theory %.6f", name, out, in, lifting,
            eta_f);

  // while it sinks the load gives work and the motor takes it, or gives some too
  mjg_effWork(&in, &out, run, joint, 0);
  double lowering = in / out;
  mjg_claim(claims, out < 0 && fabs(lowering / eta_b - 1) < 1e-3,
            "%s, lowering: of the load's %.6g J %.6g J arrive at the motor, efficiency %.6f, theory %.6f", name, -out,
            -in, lowering, eta_b);

  // with the motor off it stands, once it has come to rest, or falls
  char v_name[mjgMAXNAME];
  snprintf(v_name, sizeof(v_name), "v_%.32s", joint);
  double v = mjg_at(run, v_name, mjgEFF_DOWN - 0.005);
  mjg_claim(claims, eta_b <= 0 ? v == 0 : v < 0, "%s, motor off: %s, %g per s", name,
            eta_b <= 0 ? "stands still" : "sinks", v);
}
