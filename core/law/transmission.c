#include <math.h>
#include <string.h>

#include "catalogue/geometry.h"
#include "law/transmission.h"
#include "mjgear_report.h"


//---------------------------------- tables --------------------------------------------------------

static double factorAt(const mjgTable* table, double x) {
  int k = 1;
  while (k < table->n && table->x[k] < x) {
    k++;
  }
  if (k >= table->n || x <= table->x[0]) {
    return table->n == 0 ? 1 : table->factor[x <= table->x[0] ? 0 : table->n - 1];
  }
  double share = (x - table->x[k - 1]) / (table->x[k] - table->x[k - 1]);
  return table->factor[k - 1] + share * (table->factor[k] - table->factor[k - 1]);
}


// factor of the asymmetry coefficients at a speed, if the driven side has this torque
static double gammaFactor(const mjgTransmission* t, double speed, double torque) {
  const mjgTable* table = t->table;
  return factorAt(table + mjgTABLE_GAMMA_SPEED, speed) *
         factorAt(table + mjgTABLE_GAMMA_TEMPERATURE, t->temperature) *
         factorAt(table + mjgTABLE_GAMMA_TORQUE, torque);
}


static double coulombFactor(const mjgTransmission* t, double speed) {
  return factorAt(t->table + mjgTABLE_COULOMB_SPEED, speed) *
         factorAt(t->table + mjgTABLE_COULOMB_TEMPERATURE, t->temperature);
}


int mjgi_hasTables(const mjgTransmission* transmission) {
  int n = 0;
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    n += transmission->table[kind].n;
  }
  return n > 0;
}


//---------------------------------- friction at a velocity ----------------------------------------

// Add the increase of friction near rest.
static void addStribeck(double* gamma_u, double* gamma_v, double* coulomb, const mjgTransmission* t,
                        double v, double u, double x) {
  if (t->stribeck_friction == 0 && t->gamma_u_stribeck == 0 && t->gamma_v_stribeck == 0 &&
      t->gamma_u_quadratic == 0 && t->gamma_v_quadratic == 0) {
    return;
  }
  double S = exp(-pow(fabs(v) / t->stribeck_velocity, t->stribeck_exponent));
  *coulomb += S * t->stribeck_friction;
  *gamma_u += S * t->gamma_u_stribeck;
  *gamma_v += S * t->gamma_v_stribeck;

  // the quadratic part grows with the torque of the driven side, while the sides oppose each other
  if (signbit(u) == signbit(x)) {
    if (fabs(u) > fabs(x)) {
      *gamma_v += S * t->gamma_v_quadratic * fabs(x);
    } else {
      *gamma_u += S * t->gamma_u_quadratic * fabs(u);
    }
  }
}


void mjg_frictionAt(double* gamma_u, double* gamma_v, double* coulomb,
                    const mjgTransmission* transmission, double q, double v, double u, double x) {
  const mjgTransmission* t = transmission;
  if (!gamma_u || !gamma_v || !coulomb || !t) {
    return;
  }
  *gamma_u = t->gamma_u;
  *gamma_v = t->gamma_v;
  *coulomb = t->coulomb;

  if (t->mesh) {
    mjgi_spurMesh(gamma_u, gamma_v, &t->spur, q);
  }

  // curved viscous friction
  if (t->curved_friction != 0) {
    *coulomb += t->curved_friction * pow(fabs(v) / t->curved_velocity, t->curved_exponent);
  }

  addStribeck(gamma_u, gamma_v, coulomb, t, v, u, x);
  double factor = gammaFactor(t, fabs(v), fmin(fabs(u), fabs(x)));
  *gamma_u *= factor;
  *gamma_v *= factor;
  *coulomb *= coulombFactor(t, fabs(v));
}


//---------------------------------- break-away ----------------------------------------------------

// A joint at rest breaks away in direction s where, with the coefficients at rest,
//     s (f_u - f_v) > k (|gamma_u f_u + gamma_v f_v| + c + quadratic term)
// One torque, z, is known. The other, y, moves the joint as e y grows, e = s for the motor and -s
// for the load: the left side is e (y - z). Both sides are piecewise polynomials of y.

// one side of the gear
typedef struct Side_ {
  double gamma;      // asymmetry coefficient at rest
  double quadratic;  // factor of this side's squared torque in the bound
} Side;

// Returns the left side less the right side.
static double excess(double y, double z, const Side* sought, const Side* known, double k, double c,
                     int e) {
  double bound = fabs(sought->gamma * y + known->gamma * z) + c;
  if (signbit(y) == signbit(z)) {
    bound += fabs(y) > fabs(z) ? known->quadratic * z * z : sought->quadratic * y * y;
  }
  return e * (y - z) - k * bound;
}


// at a root the excess is round-off, relative to the torques, and positive a little ahead
static const double kRoot = 1e-9, kAhead = 1e-6;

// iterations for a torque that its own table changes, and the change at which they end
enum {
  kRounds = 100
};
static const double kSettled = 1e-15;


// least y in direction e at which the joint starts to move
static double breakaway(const Side* sought, const Side* known, double z, double k, double c,
                        int e) {
  double best = INFINITY;

  // with lambda of sign L and the quadratic term absent, of the known or of the sought
  // torque, the excess is square y^2 + linear y + constant
  for (int L = -1; L <= 1; L += 2) {
    for (int form = 0; form < 3; form++) {
      double square = form == 2 ? -k * sought->quadratic : 0;
      double linear = e - k * L * sought->gamma;
      double constant =
          -(e + k * L * known->gamma) * z - k * c - (form == 1 ? k * known->quadratic * z * z : 0);

      // its roots, without cancellation
      double root[2];
      int nroot = 0;
      double discriminant = linear * linear - 4 * square * constant;
      if (square == 0 && linear != 0) {
        root[nroot++] = -constant / linear;
      } else if (square != 0 && discriminant >= 0) {
        double q = -(linear + copysign(sqrt(discriminant), linear)) / 2;
        root[nroot++] = q / square;
        if (q != 0) {
          root[nroot++] = constant / q;
        }
      }

      // roots at which L and form hold and the excess becomes positive
      for (int i = 0; i < nroot; i++) {
        double y = root[i];
        double scale = fabs(y) + fabs(z) + c;
        double ahead = y + e * (scale > 0 ? kAhead * scale : 1);
        if (e * y < best && fabs(excess(y, z, sought, known, k, c, e)) <= kRoot * scale &&
            excess(ahead, z, sought, known, k, c, e) > 0) {
          best = e * y;
        }
      }
    }
  }
  return best == 0 ? 0 : e * best;
}


static int isSound(const mjgTransmission* t, double torque) {
  mjgReport mute;
  mjg_startReport(&mute, NULL, 0);
  return isfinite(torque) && mjg_checkTransmission(&mute, t) == 0;
}


// Set both sides and the load-independent friction at rest, at this torque of the driven side.
static void sidesAtRest(Side* motor, Side* load, double* c, const mjgTransmission* t,
                        double torque) {
  double factor = gammaFactor(t, 0, torque);
  *motor = (Side){factor * (t->gamma_u + t->gamma_u_stribeck), factor * t->gamma_u_quadratic};
  *load = (Side){factor * (t->gamma_v + t->gamma_v_stribeck), factor * t->gamma_v_quadratic};
  *c = coulombFactor(t, 0) * (t->coulomb + t->stribeck_friction);
}


int mjg_sticks(const mjgTransmission* transmission, double f_u, double f_v) {
  const mjgTransmission* t = transmission;
  if (!isSound(t, 0)) {
    return mjgERR_ARGUMENT;
  }
  if (!isfinite(f_u) || !isfinite(f_v)) {
    return mjgERR_NOT_FINITE;
  }
  Side motor, load;
  double c;
  sidesAtRest(&motor, &load, &c, t, fmin(fabs(f_u), fabs(f_v)));
  int e = f_u >= f_v ? 1 : -1;
  return e == -t->oneway || excess(f_u, f_v, &motor, &load, t->static_ratio, c, e) <= 0;
}


// Returns the torque of the motor (of_motor = 1) or load at which the joint starts in a direction;
// z is the torque of the other side.
static double breakawayOf(const mjgTransmission* t, double z, int direction, int of_motor) {
  if (!isSound(t, z) || (direction != 1 && direction != -1)) {
    return NAN;
  }
  int e = of_motor ? direction : -direction;  // of the torque
  if (direction == -t->oneway) {
    return e * (double)INFINITY;
  }
  Side motor, load;
  double c, y = z, from = NAN, before = NAN, next = z;
  for (int k = 0; k < kRounds; k++) {
    sidesAtRest(&motor, &load, &c, t, fmin(fabs(y), fabs(z)));
    next = of_motor ? breakaway(&motor, &load, z, t->static_ratio, c, e)
                    : breakaway(&load, &motor, z, t->static_ratio, c, e);
    double off = next - y;
    if (!t->table[mjgTABLE_GAMMA_TORQUE].n || !isfinite(next) ||
        fabs(off) <= kSettled * (fabs(next) + fabs(z))) {
      break;
    }
    y = mjgi_secant(y, off, &from, &before);
  }
  return next;
}


double mjg_breakawayMotor(const mjgTransmission* transmission, double f_v, int direction) {
  return breakawayOf(transmission, f_v, direction, 1);
}


double mjg_breakawayLoad(const mjgTransmission* transmission, double f_u, int direction) {
  return breakawayOf(transmission, f_u, direction, 0);
}
