// Asymmetry coefficients from the geometry of teeth and threads, beside mjg_screw.

#ifndef MJGEAR_GEOMETRY_H_
#define MJGEAR_GEOMETRY_H_

#include "mjgear_catalogue.h"

// lead angle and friction coefficient of the screw with these coefficients, the inverse
// of (17)
// error: mjgERR_ARGUMENT unless gamma_u > 0, gamma_v > 0 and 0 <= pressure_angle < pi/2
int mjgi_screwFromCoefficients(double* lead_angle, double* mu, double gamma_u, double gamma_v,
                               double pressure_angle);

// asymmetry coefficients of valid gears at one contact point xi, (21), with s = sgn(xi),
// by which they change sign. An s between them is the mean of points on both sides
void mjgi_spurAt(double* gamma_u, double* gamma_v, const mjgSpur* spur, double xi, double s);

// mean of the coefficients over the mesh cycle: (21) integrated over -approach <= xi <=
// recess, which holds if a pair of teeth carries the same share of the load all along its
// path. error: mjgERR_ARGUMENT, mjgERR_NOT_FINITE
int mjgi_spurMean(double* gamma_u, double* gamma_v, const mjgSpur* spur);

// the coefficients at one angle of the output gear: the mean of (21) over all pairs of
// teeth in contact, which share the load equally. At angle 0 a pair is at the pitch
// point; the cycle repeats every pitch / (radius_out cos(pressure_angle)). error: as
// mjgi_spurMean
int mjgi_spurMesh(double* gamma_u, double* gamma_v, const mjgSpur* spur, double angle);

// approach and recess from the addenda (tip minus pitch radius) of both gears; for
// full-depth teeth both addenda are the module. error: mjgERR_ARGUMENT if the path would
// leave the involute, that is if a tip reaches past the point where the line of action
// touches the other base circle; mjgERR_NOT_FINITE
int mjgi_spurPath(mjgSpur* spur, double addendum_in, double addendum_out);

// Central gears on a carrier: a sun that the motor turns, a ring that stands, and
// planets. With ring_out the planets drive a second ring, which is the output (3K,
// Wolfrom), else the carrier is. planet_out: teeth of a second gear on each planet, which
// meshes with the output ring, or with the standing ring if the carrier is the output
// (stepped planets); 0: the planet has one gear. Teeth need not be whole numbers.
typedef struct mjgiPlanetary_ {
  double sun, planet, ring;     // teeth, > 0
  double planet_out, ring_out;  // teeth; 0: none
  double efficiency;            // efficiency of each mesh, in (0, 1]
} mjgiPlanetary;

// ratio, negative if the output turns against the sun, and efficiencies from Willis'
// relation and the power of each mesh relative to the carrier, of which the mesh loses
// its share. eta_b <= 0: self-locking. error: mjgERR_ARGUMENT, also if the output would
// not turn
int mjgi_planetary(double* ratio, double* eta_f, double* eta_b, const mjgiPlanetary* gears);

#endif  // MJGEAR_GEOMETRY_H_
