#include <math.h>

#include "mjgear_report.h"


void mjg_explain(mjgFacts* facts, const mjgTransmission* transmission, double load,
                 double inertia) {
  mjgFacts* f = facts;
  if (!f || !transmission) {
    return;
  }
  const mjgTransmission* gear = transmission;
  f->gear = *gear;
  f->eta_f = f->eta_b = f->eta_f_rest = f->eta_b_rest = NAN;
  mjg_efficiencies(&f->eta_f, &f->eta_b, gear->gamma_u, gear->gamma_v);
  mjg_efficiencies(&f->eta_f_rest, &f->eta_b_rest, gear->gamma_u + gear->gamma_u_stribeck,
                   gear->gamma_v + gear->gamma_v_stribeck);
  f->backdrivable = gear->gamma_v < 1;
  f->forward_drivable = gear->gamma_u < 1;
  f->catalogue_locks = f->eta_f < 0.45 ? 1 : f->eta_f > 0.55 ? 0 : -1;
  f->varies = gear->gamma_u_stribeck != 0 || gear->gamma_v_stribeck != 0;

  // torques at which the joint moves
  f->load = load;
  f->raise = mjg_breakawayMotor(gear, load, load > 0 ? 1 : -1);
  f->lower = mjg_breakawayMotor(gear, load, load > 0 ? -1 : 1);
  f->hold_low = fmin(f->raise, f->lower);
  f->hold_high = fmax(f->raise, f->lower);
  f->start_forward = mjg_breakawayMotor(gear, 0, 1);
  f->start_backward = mjg_breakawayLoad(gear, 0, -1);

  // apparent inertia of a sliding joint, (38), if the inertias of both sides are known
  f->inertia = inertia;
  f->inertia_forward = f->inertia_backward = f->rho = NAN;
  if (inertia >= 0 && gear->armature >= 0 && gear->armature + inertia > 0) {
    double m = gear->armature, M = inertia;
    f->rho = mjg_rho(gear->gamma_u, gear->gamma_v, m, M);
    if (!isnan(f->eta_f)) {
      f->inertia_forward = f->eta_f * m + M;
      f->inertia_backward = m == 0 ? M : f->eta_b > 0 ? m / f->eta_b + M : INFINITY;
    }
  }
}
