// mjgear: backlash, the play between a rotor and its joint.
//
// This header is the manual of the backlash laws and of their implicit step. Like the
// rest of the core it knows no physics engine, holds no global, and neither allocates,
// locks nor does input or output.
//
// Units are SI at the output side: rad, rad/s, N m for a hinge, m, m/s, N for a slide.
//
//   theta_d   angle of the driving side minus angle of the driven side
//   theta_b   position in the gap, in [-half_gap, half_gap]
//   theta_s   twist of the shaft, theta_d - theta_b
//   T         torque through the shaft: it drives the driven side and brakes the driving side
//
// Equation numbers: N for M. Nordin, J. Galic', P.-O. Gutman, "New models for backlash
// and gear play", Int. J. Adapt. Control Signal Process. 11, 1997; A for C. L. Akoto, H.
// Spangenberg, "Modeling of backlash in drivetrains", German Aerospace Center; R for M.
// Ruderman, "On stiffness and damping of vibro-impact dynamics of backlash", 2021. All
// are read with corrected signs.

#ifndef MJGEAR_BACKLASH_H_
#define MJGEAR_BACKLASH_H_

#include "mjgear.h"

mjgBEGIN


//---------------------------------- laws ----------------------------------------------------------

// All laws are odd, T(-theta_d, -omega_d) = -T(theta_d, omega_d), but for mjgTORSION with a
// freewheel. They never pull, but for mjgDAMPED_DEADZONE, for mjgREVISED_DEADZONE where
// c/k omega_d is larger than the gap, and for mjgTORSION, which has no gap. Below, z =
// theta_d - half_gap > 0 is the penetration on the right side.
//
// mjgTORSION is how catalogues of strain wave gears describe their compliance. Its
// friction is a spring and a slider in series, as a turn of the load shows it: theta_b is
// the slider, so that the spring holds the lesser of H = K1 hysteresis/2 and K (theta_d -
// theta_b). Catalogues do not say how stiff a turn begins; it is assumed that K is the
// largest of K1, K2 and K3. With slip_torque or freewheel it is a clutch instead: a
// spring K1 and a slider in series, T = K1 (theta_d - theta_b), clipped to the torque
// that the clutch carries, and the slider follows.
typedef enum mjgBacklashModel_ {
  mjgDEADZONE = 0,          // spring behind a gap, k z                            N (24), A (1)
  mjgDAMPED_DEADZONE = 1,   // k z + c omega_d, pulls as the gap opens: known      N (26), A (2)
                            //   to be wrong, kept for comparison
  mjgREVISED_DEADZONE = 2,  // dead zone of theta_d + c/k omega_d, touches early   N (27)
  mjgEXACT = 3,          // massless damped shaft, one state theta_b            N (1), (14), A (3)
  mjgPHASE_PLANE = 4,    // exact but for an approximate touch, no state        N (23), A (4)
  mjgRUBBER = 5,         // phase plane with a band of rubber in the gap        N (40)
  mjgSMOOTH = 6,         // dead zone with parabolic corners                    N (41)
  mjgJCK = 7,            // exact with an inerter j in the shaft: two states    A (5), (9), (22)
  mjgHUNT_CROSSLEY = 8,  // k z^n (1 + 1.5 alpha omega_d), never pulling        R (4), (5)
  mjgLIMITED_DAMPING =
      9,           // k z + c omega_d, the damping part never larger      Modelica, Rotational.
                   //   than the spring's: homogeneous, so successive     Components.
                   //   impacts keep a constant ratio of speeds           ElastoBacklash
  mjgTORSION = 10  // no gap: slope K1 to T1, K2 to T2, then K3; friction that  catalogues of
                   //   yields; c omega_d. One state, theta_b                     strain wave gears
} mjgBacklashModel;

#define mjgNBACKLASH 11

typedef struct mjgBacklash_ {
  int model;             // mjgBacklashModel
  double half_gap;       // half of the total gap, >= 0                         rad
  double stiffness;      // k > 0                                               N m/rad
                         //   mjgHUNT_CROSSLEY                                  N m/rad^exponent
  double damping;        // c >= 0                                              N m/(rad/s)
  double rubber;         // beta in [0, 2 half_gap], width of the soft band:    rad
                         //   mjgRUBBER, mjgSMOOTH
  double shaft_inertia;  // j >= 0: mjgJCK                                      kg m2
  double exponent;       // n in [1, 4]: mjgHUNT_CROSSLEY                       1
  double restitution;    // alpha >= 0, coefficient of restitution about        s/rad
                         //   1 - alpha v at impact speed v: mjgHUNT_CROSSLEY
  double stiffness_2;    // K2 above torque_1, 0: none: mjgTORSION              N m/rad
  double stiffness_3;    // K3 above torque_2, 0: none                          N m/rad
  double torque_1;       // T1                                                  N m
  double torque_2;       // T2                                                  N m
  double hysteresis;     // >= 0, angle between loading and unloading without   rad
                         //   load: mjgTORSION
  double slip_torque;    // most that the shaft carries, 0: any; mjgTORSION     N m
  double freewheel;      // 1: T >= 0, -1: T <= 0, 0: either; mjgTORSION        1
} mjgBacklash;

// null if the parameters are valid, else one line that says what is wrong. The functions
// of laws below do not check the law, because steps call them. With an invalid law or
// arguments that are not finite they may return NaN
const char* mjg_backlashError(const mjgBacklash* law);

// name of a model as it is written in a model file; null for an unknown model
const char* mjg_backlashName(int model);

// model of that name; -1 if there is none
int mjg_backlashModel(const char* name);

// torque of the models without state; of mjgEXACT and mjgJCK the torque at the twist of a
// shaft at rest in the gap, theta_b = clamp(theta_d); of mjgTORSION that of its springs,
// without the one of the slider. At the touch of mjgPHASE_PLANE and the edges of
// mjgDAMPED_DEADZONE, where T jumps, the value is one of the two.
//   dT_dtheta, dT_domega  nullable: partial derivatives
double mjg_backlashTorque(double* dT_dtheta, double* dT_domega, const mjgBacklash* law,
                          double theta_d, double omega_d);

// angle at which N (19), (20) closes the gap on the right side at speed omega_d > 0:
// theta* in (half_gap - c/k omega_d, half_gap]; half_gap if omega_d <= 0
double mjg_backlashTouch(const mjgBacklash* law, double omega_d);

// mjgEXACT: rate of the gap position, N (14); *T (nullable) is the torque N (1). damping
// > 0.
double mjg_gapRate(double* T, const mjgBacklash* law, double theta_d, double omega_d,
                   double theta_b);

// energy stored in the shaft, the potential of T at omega_d = 0; theta_b and omega_s are
// read by the models with state only (omega_s = rate of theta_s, mjgJCK)
double mjg_backlashEnergy(const mjgBacklash* law, double theta_d, double theta_b, double omega_s);


//---------------------------------- conversions ---------------------------------------------------

// rad from minutes of arc, in which catalogues give the total gap, 2 half_gap
double mjg_arcmin(double minutes);

// alpha of mjgHUNT_CROSSLEY at which an impact of speed v > 0 comes back with e v, 0 < e
// <= 1, from the closed form of the impact with any exponent n:
//     y = 1.5 alpha v:  y - ln(1 + y) + e y + ln(1 - e y) = 0
// For small alpha v this is Hunt and Crossley's alpha = (1 - e)/v. NaN outside the
// domain.
double mjg_alphaFromRestitution(double e, double v);

// the inverse: coefficient of restitution e of an impact of speed v > 0. NaN outside the
// domain.
double mjg_restitutionFromAlpha(double alpha, double v);


//---------------------------------- one implicit step ---------------------------------------------

// One coupling in one step from t to t + h. It stands between a driving side and a driven
// side whose velocities after the step are lines of the torque. Two forms:
//
//   (a) the driving side is a rotor that this struct describes (inertia > 0), with its own motor
//       torque and with gear friction between motor and gap:
//           inertia (w+ - w)/h = torque - t - T,    t in (|lambda| + coulomb) sgn(w+)
//           lambda = (gamma_u + gamma_v)(t + T) - gamma_v t
//       The line is that of the driven side: v+ = vhat - A (-T).
//   (b) both sides are joints of an engine (inertia = 0). The line is the difference of their
//       velocities: omega_d+ = vhat - A T.
//
// Rotor, friction, gap and shaft collapse into one scalar law of that line, solved
// exactly.
//
// The engine moves angles by theta+ = theta + h v+. In this scheme a torque that is
// sampled at the step's end damps every motion by h/2 times its stiffness, far more than
// a real shaft, and one sampled at its beginning is unstable. The law therefore sees the
// angle and rate
//
//     p+ = theta_d + eta h omega_d+,   p- = theta_d - (1 - eta) h omega_d,   w = (p+ - p-)/h
//
// and gives the mean torque over the last 1 - blend of the way from p- to p+, eta = (1 +
// blend)/2. blend = 0 conserves the energy of an undamped shaft and is of second order;
// blend = 1 is implicit Euler, which damps every vibration that a step cannot resolve.
// For every blend between them and every passive law, the energy of both sides plus
// mjg_backlashEnergy at p never grows without outer work, whatever h; gear friction in
// front of the gap can gain ((1 - blend) h T)^2/(8 inertia) in a step in which it stops
// or reverses the rotor (doc/backlash.md). mjg_couplingBlend chooses: near 0 if the step
// resolves the shaft's vibration.
typedef struct mjgCoupling_ {
  const mjgBacklash* law;
  double h;        // timestep > 0                                        s
  double blend;    // in [0, mjgMAXBLEND], see above                      1
  double theta_d;  // angle difference before the step, at most 1e4       rad
                   //   either way: beyond, round-off moves a stiff shaft
  double omega_d;  // rate of this angle before the step                  rad/s
  double theta_b;  // state of mjgEXACT, mjgJCK: gap position             rad
  double omega_s;  // state of mjgJCK: rate of the twist                  rad/s
  double yield;    // velocity that a unit of torque takes in the step    1/(kg m2) s
                   //   from both sides, by which mjgPHASE_PLANE and
                   //   mjgRUBBER foresee their touch; 0: that of A

  // form (a) only
  double inertia;       // rotor inertia, at least mjgMINROTOR; 0: form (b),   kg m2
                        //   nothing below is read
  double velocity;      // rotor velocity before the step                      rad/s
  double torque;        // motor torque on the rotor                           N m
  double gamma_u;       // asymmetry coefficients of the gear friction         1
  double gamma_v;       //
  double coulomb;       // load-independent bound >= 0                         N m
  double static_ratio;  // static to sliding bound; below 1 reads as 1         1
} mjgCoupling;

#define mjgMAXBLEND 0.99

// smallest inertia of a rotor: a lighter one would move by the round-off of its torques
#define mjgMINROTOR 1e-15

// results of one step of a coupling
typedef struct mjgCouplingStep_ {
  double T;        // mean torque through the shaft                       N m
  double dT;       // derivative of T by the line's vhat                  N m/(rad/s)
  double omega_d;  // rate of theta_d after the step                      rad/s
  double theta_b;  // gap position after the step; models without state:  rad
                   //   clamp(p+)
  double omega_s;  // rate of the twist after the step, mjgJCK            rad/s
  double energy;   // mjg_backlashEnergy after the step, at p+            J

  // form (a)
  double velocity;  // rotor velocity after the step; exactly 0 if stuck   rad/s
  double friction;  // friction torque t                                   N m
  double lambda;    // internal force of the gear                          N m
  int mode;         // -1 slips backward, 0 stuck, 1 slips forward
} mjgCouplingStep;

// blend for a shaft between sides that a torque moves by A = h (1/inertia + 1/M): near 0
// while the step resolves the shaft, s = A (c + h k) << 1, near 1 for a stiff shaft. It
// must not change within a run if energy is to be accounted for step by step.
double mjg_couplingBlend(const mjgBacklash* law, double A, double h);

// state of a shaft at rest in its gap: the gap position nearest to an untwisted shaft,
// and the twist rate omega_d if that is at a stop, else 0
void mjg_couplingRest(double* theta_b, double* omega_s, const mjgBacklash* law, double theta_d,
                      double omega_d);

// one step, given the line v+ = vhat - A x, A >= 0, where x = -T in form (a) and x = T in
// form (b). T is NaN where the law overflows at vhat, as powers of impacts at 1e80 rad/s
// do. The numbers of the coupling must be finite and in their ranges; they are not checked
void mjg_couplingResolve(mjgCouplingStep* step, const mjgCoupling* coupling, double vhat, double A);


mjgEND

#endif  // MJGEAR_BACKLASH_H_
