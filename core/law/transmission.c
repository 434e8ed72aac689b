#include <math.h>
#include <string.h>

#include "catalogue/geometry.h"
#include "law/law.h"
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
  if (!mjgi_gainsAtRest(t)) {
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
//     s (f_u - f_v) > k (|gamma_u f_u + gamma_v f_v| + c)
// One torque, z, is known. The law limits the other, at which f_u - f_v is the friction.

// iterations where coefficients depend on the torques, and the change at which they end
enum {
  kRounds = 100
};
static const double kSettled = 1e-15;


static int isSound(const mjgTransmission* t, double torque) {
  mjgReport mute;
  mjg_startReport(&mute, NULL, 0);
  return isfinite(torque) && mjg_checkTransmission(&mute, t) == 0;
}


// Compute the coefficients at rest; those of teeth are their mean.
static void restAt(double* gamma_u, double* gamma_v, double* c, const mjgTransmission* t,
                   double f_u, double f_v) {
  mjgTransmission mean = *t;
  mean.mesh = 0;
  mjg_frictionAt(gamma_u, gamma_v, c, &mean, 0, 0, f_u, f_v);
}


int mjg_sticks(const mjgTransmission* transmission, double f_u, double f_v) {
  const mjgTransmission* t = transmission;
  if (!isSound(t, 0)) {
    return mjgERR_ARGUMENT;
  }
  if (!isfinite(f_u) || !isfinite(f_v)) {
    return mjgERR_NOT_FINITE;
  }
  double gamma_u, gamma_v, c;
  restAt(&gamma_u, &gamma_v, &c, t, f_u, f_v);
  return (f_u >= f_v ? 1 : -1) == -t->oneway ||
         fabs(f_u - f_v) <= mjgi_lawBound(gamma_u * f_u + gamma_v * f_v, c, t->static_ratio);
}


// Returns the torque of the motor (of_motor = 1) or load at which the joint starts in a direction;
// z is the torque of the other side.
static double breakawayOf(const mjgTransmission* t, double z, int direction, int of_motor) {
  if (!isSound(t, z) || (direction != 1 && direction != -1)) {
    return NAN;
  }
  int load, e = of_motor ? direction : -direction;  // of the torque
  if (direction == -t->oneway) {
    return e * (double)INFINITY;
  }
  double y = nextafter(z, e * (double)INFINITY), from = NAN, before = NAN, next = z;
  for (int k = 0; k < kRounds; k++) {
    double gamma_u, gamma_v, c;
    restAt(&gamma_u, &gamma_v, &c, t, of_motor ? y : z, of_motor ? z : y);
    next = z + e * mjgi_lawLimit(&load, direction, (gamma_u + gamma_v) * z,
                                 of_motor ? gamma_u : -gamma_v, c, t->static_ratio);
    double off = next - y;
    if (!isfinite(next) || fabs(off) <= kSettled * (fabs(next) + fabs(z))) {
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
