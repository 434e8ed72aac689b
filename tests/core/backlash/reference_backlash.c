#include "reference_backlash.h"

#include <math.h>


// N (19): f(x, w) = x + (c w/k) exp(-k x/(c w) - 1)
static double touchFunction(const mjgBacklash* law, double x, double w) {
  double u = law->damping * w / law->stiffness;
  return u != 0 ? x + u * exp(-x / u - 1) : x;
}


// theta* by bisection of f(theta + half_gap, w) = 2 half_gap on [half_gap - c w/k, half_gap]
static double touchAngle(const mjgBacklash* law, double w) {
  double lo = law->half_gap - law->damping * w / law->stiffness;
  double hi = law->half_gap;
  for (int i = 0; i < 200; i++) {
    double mid = 0.5 * (lo + hi);
    if (touchFunction(law, mid + law->half_gap, w) < 2 * law->half_gap) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  return 0.5 * (lo + hi);
}


// area of the right side: 0 open, else the number of the formula that holds
static int areaRight(const mjgBacklash* law, double theta, double w) {
  double alpha = law->half_gap;
  double k = law->stiffness;
  double c = law->damping;
  double beta = law->rubber;
  int positive = k * (theta - alpha) + c * w >= 0;
  int touched = w <= 0 || touchFunction(law, theta + alpha, w) >= 2 * alpha;

  switch (law->model) {
    case mjgREVISED_DEADZONE:
      return theta + c * w / k > alpha;
    case mjgPHASE_PLANE:
      return positive && touched;
    case mjgRUBBER:
      // N (28), by its definition |theta_d - theta*| < beta/2 while loading
      if (w > 0) {
        double star = touchAngle(law, w);
        if (fabs(theta - star) < beta / 2) {
          return 2;
        }
        return positive && theta > star;
      }
      if (theta > alpha - beta / 2 - 2 * c * w / k && theta < alpha + beta / 2) {
        return 3;
      }
      return positive && theta >= alpha - beta / 2;
    case mjgSMOOTH:
      return theta >= alpha + beta / 2 ? 1 : theta > alpha - beta / 2 ? 2 : 0;
    case mjgHUNT_CROSSLEY:
      if (theta <= alpha) {
        return 0;
      }
      return 1 + 1.5 * law->restitution * w > 0 ? 1 : 2;
    case mjgLIMITED_DAMPING:
      if (theta <= alpha) {
        return 0;
      }
      return c * fabs(w) < k * (theta - alpha) ? 1 : w > 0 ? 2 : 3;
    default:
      return theta > alpha;
  }
}


// torque of the right side by the formula of an area
static double formulaRight(const mjgBacklash* law, int area, double theta, double w) {
  double k = law->stiffness;
  double c = law->damping;
  double z = theta - law->half_gap;
  double beta = law->rubber;
  if (area == 0) {
    return 0;
  }

  switch (law->model) {
    case mjgDEADZONE:
      return k * z;
    case mjgSMOOTH:
      return area == 1 ? k * z : (k * (z + beta / 2) / 2) * (z + beta / 2) / beta;
    case mjgRUBBER:
      if (area == 2) {
        double star = touchAngle(law, w);
        double y = theta - star + beta / 2;
        return (k * y / 2 + k * (star - law->half_gap) + c * w) * y / beta;
      }
      if (area == 3) {
        return (k * (z + beta / 2) / 2 + c * w) * (z + beta / 2 + 2 * c * w / k) /
               (beta + 2 * c * w / k);
      }
      return k * z + c * w;
    case mjgHUNT_CROSSLEY: {
      double zn = pow(fmax(z, 0), law->exponent);
      return area == 1 ? 1.5 * law->restitution * law->stiffness * zn * w + k * zn : 0;
    }
    case mjgLIMITED_DAMPING:
      return area == 1 ? k * z + c * w : area == 2 ? 2 * k * z : 0;
    default:
      return k * z + c * w;
  }
}


double ref_torque(const mjgBacklash* law, double theta, double omega) {
  return formulaRight(law, areaRight(law, theta, omega), theta, omega) -
         formulaRight(law, areaRight(law, -theta, -omega), -theta, -omega);
}


//---------------------------------- motion --------------------------------------------------------

static int isState(const mjgBacklash* law) {
  return law->model == mjgEXACT || law->model == mjgJCK;
}


// shaft torque in an area, positive numbers right and negative numbers left. The inerter of A (9)
// couples it to the accelerations, and gear friction couples those to it: all linear in one area.
static double shaftTorque(const refState* s, const refSystem* sys, double* motor_acc,
                          double* load_acc) {
  const mjgBacklash* law = &sys->law;
  double theta = s->y[0] - s->y[2];
  double w = s->y[1] - s->y[3];
  double side = s->gap > 0 ? 1 : -1;
  double fm = sys->motor_torque ? sys->motor_torque(s->time) : 0;
  double fl = sys->load_torque ? sys->load_torque(s->time) : 0;

  double j = 0, base = 0;
  if (s->gap != 0) {
    if (isState(law)) {
      base = law->stiffness * (theta - side * law->half_gap) + law->damping * w;
      j = law->model == mjgJCK ? law->shaft_inertia : 0;
    } else {
      int area = s->gap > 0 ? s->gap : -s->gap;
      base = side * formulaRight(law, area, side * theta, side * w);
    }
  }

  // t = e T + e0 from t = slip (|lambda| + c), lambda = gamma_u t + (gamma_u + gamma_v) T
  double e = 0, e0 = 0;
  double gs = sys->gamma_u + sys->gamma_v;
  double sign = base > 0 ? 1 : -1;
  if (s->slip != 0) {
    double den = 1 - s->slip * sign * sys->gamma_u;
    if (base == 0) {
      den = 1 - sys->gamma_u;
    }
    e = s->slip * sign * gs / den;
    e0 = s->slip * sys->coulomb / den;

    // without much shaft torque the friction itself makes the load
    if (base != 0 && sign * (sys->gamma_u * (e * base + e0) + gs * base) < 0) {
      den = 1 + s->slip * sign * sys->gamma_u;
      e = -s->slip * sign * gs / den;
      e0 = s->slip * sys->coulomb / den;
    }
  }

  // motor (f - t - T)/m, load (f + T)/M; T = base + j (difference)
  double am0 = s->slip != 0 ? (fm - e0) / sys->motor : 0;
  double am1 = s->slip != 0 ? -(1 + e) / sys->motor : 0;
  double al0 = fl / sys->load;
  double al1 = 1 / sys->load;
  double T = (base + j * (am0 - al0)) / (1 - j * (am1 - al1));
  *motor_acc = am0 + am1 * T;
  *load_acc = al0 + al1 * T;
  return T;
}


static void rates(double dy[6], const refState* s, const refSystem* sys, double* power,
                  double* torque) {
  const mjgBacklash* law = &sys->law;
  double am, al;
  double T = shaftTorque(s, sys, &am, &al);
  double theta = s->y[0] - s->y[2];
  double w = s->y[1] - s->y[3];
  dy[0] = s->y[1];
  dy[1] = am;
  dy[2] = s->y[3];
  dy[3] = al;
  dy[4] = 0;
  dy[5] = 0;

  // free shaft: it relaxes, N (12), or rings, A (20)
  if (isState(law) && s->gap == 0) {
    double twist = theta - s->y[4];
    double j = law->model == mjgJCK ? law->shaft_inertia : 0;
    if (j > 0) {
      dy[4] = w - s->y[5];
      dy[5] = -(law->damping * s->y[5] + law->stiffness * twist) / j;
    } else {
      dy[4] = w + law->stiffness / law->damping * twist;
    }
  } else if (isState(law)) {
    dy[5] = am - al;
  }
  *torque = T;

  // dissipation of the laws whose spring part is the spring of the closed gap
  *power = 0;
  if (!isState(law) && s->gap != 0) {
    mjgBacklash spring = *law;
    *power = (T - ref_torque(&spring, theta, 0)) * w;
  }
}


static void rungeKutta(refState* to, const refState* from, const refSystem* sys, double dt) {
  double k[4][6], power[4], torque[4];
  const double at[4] = {0, 0.5, 0.5, 1};
  refState s = *from;
  for (int i = 0; i < 4; i++) {
    for (int n = 0; n < 6; n++) {
      s.y[n] = from->y[n] + (i ? at[i] * dt * k[i - 1][n] : 0);
    }
    s.time = from->time + at[i] * dt;
    rates(k[i], &s, sys, &power[i], &torque[i]);
  }
  *to = *from;
  to->time = from->time + dt;
  for (int n = 0; n < 6; n++) {
    to->y[n] += dt / 6 * (k[0][n] + 2 * k[1][n] + 2 * k[2][n] + k[3][n]);
  }
  to->loss += dt / 6 * (power[0] + 2 * power[1] + 2 * power[2] + power[3]);
  to->impulse += dt / 6 * (torque[0] + 2 * torque[1] + 2 * torque[2] + torque[3]);
}


// area that a state belongs to, coming from the area that it was in
static int areaOf(const refState* s, const refSystem* sys) {
  const mjgBacklash* law = &sys->law;
  double theta = s->y[0] - s->y[2];
  double w = s->y[1] - s->y[3];
  if (isState(law)) {
    if (law->half_gap == 0) {
      return 1;
    }
    if (s->gap == 0) {
      return s->y[4] > law->half_gap ? 1 : s->y[4] < -law->half_gap ? -1 : 0;
    }
    double am, al;
    return shaftTorque(s, sys, &am, &al) * s->gap < 0 ? 0 : s->gap;
  }
  int right = areaRight(law, theta, w);
  return right ? right : -areaRight(law, -theta, -w);
}


// next state of the friction: 0 if the torque that holds the motor is within the bound
static int slipOf(const refState* s, const refSystem* sys) {
  if (s->slip != 0) {
    return s->slip * s->y[1] > 0 ? s->slip : 0;
  }
  double am, al;
  double T = shaftTorque(s, sys, &am, &al);
  double hold = (sys->motor_torque ? sys->motor_torque(s->time) : 0) - T;
  double gs = sys->gamma_u + sys->gamma_v;
  double bound = fabs(sys->gamma_u * hold + gs * T) + sys->coulomb;
  return fabs(hold) > bound ? (hold > 0 ? 1 : -1) : 0;
}


static int hasFriction(const refSystem* sys) {
  return sys->gamma_u != 0 || sys->gamma_v != 0 || sys->coulomb != 0;
}


// take over the area and friction mode at an event; impacts of the inerter are inelastic
static void enter(refState* s, const refSystem* sys) {
  const mjgBacklash* law = &sys->law;
  int before = s->gap;
  s->gap = areaOf(s, sys);
  if (before == 0 && s->gap != 0) {
    s->touches++;
    if (isState(law)) {
      s->y[4] = s->gap * law->half_gap;
    }
    if (law->model == mjgJCK) {
      // the gear's friction answers the blow like any other load, for a motor that turns on
      double w = s->y[1] - s->y[3];
      double motor = 0;
      if (s->slip) {
        double load = s->slip * s->gap;
        double gs = sys->gamma_u + sys->gamma_v;
        motor = (1 + load * gs / (1 - load * sys->gamma_u)) / sys->motor;
      }
      double blow =
          law->shaft_inertia * (w - s->y[5]) / (1 + law->shaft_inertia * (motor + 1 / sys->load));
      s->y[1] -= blow * motor;
      s->y[3] += blow / sys->load;
      s->y[5] = s->y[1] - s->y[3];
      s->impulse += blow;
    }
  }

  if (!hasFriction(sys)) {
    s->slip = 1;
    return;
  }
  int slip = slipOf(s, sys);
  if (slip == 0 && s->slip != 0) {
    s->y[1] = 0;
    s->slip = 0;
    slip = slipOf(s, sys);
  }
  s->slip = slip;
}


void ref_start(refState* s, const refSystem* sys) {
  s->gap = 0;
  s->slip = hasFriction(sys) ? (s->y[1] > 0) - (s->y[1] < 0) : 1;
  if (isState(&sys->law)) {
    double edge = sys->law.half_gap;
    s->gap = s->y[4] >= edge ? 1 : s->y[4] <= -edge ? -1 : 0;
    s->gap = areaOf(s, sys);
  } else {
    s->gap = areaOf(s, sys);
  }
  s->slip = hasFriction(sys) ? slipOf(s, sys) : 1;
  s->touches = 0;
  double am, al;
  s->T = shaftTorque(s, sys, &am, &al);
}


static int sameMode(const refState* s, const refSystem* sys) {
  return areaOf(s, sys) == s->gap && (!hasFriction(sys) || slipOf(s, sys) == s->slip);
}


void ref_advance(refState* s, const refSystem* sys, double time, double dt) {
  while (s->time < time - 1e-13) {
    double step = fmin(dt, time - s->time);
    refState next;
    rungeKutta(&next, s, sys, step);

    // place the end of the step just behind the first change of area
    if (!sameMode(&next, sys)) {
      double lo = 0, hi = step;
      while (hi - lo > 1e-12) {
        double mid = 0.5 * (lo + hi);
        rungeKutta(&next, s, sys, mid);
        if (sameMode(&next, sys)) {
          lo = mid;
        } else {
          hi = mid;
        }
      }
      rungeKutta(&next, s, sys, hi);
      *s = next;
      enter(s, sys);
    } else {
      *s = next;
    }
  }
  double am, al;
  s->T = shaftTorque(s, sys, &am, &al);
}
