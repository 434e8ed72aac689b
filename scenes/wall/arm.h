// The two-link arm of models/two_link.xml in closed form.

#ifndef SCENES_WALL_ARM_H_
#define SCENES_WALL_ARM_H_

#define mjgARM_ROTOR     1.0  // rotor inertia at the output side of each joint, kg m2
#define mjgARM_VISCOSITY 5.0  // of each joint, N m s/rad

// matrix of inertia, without rotors, and C(q, v) v
void mjg_armInertia(double M[4], const double q[2]);
void mjg_armBias(double bias[2], const double q[2], const double v[2]);

// x coordinate of the tip and its derivative with respect to q
double mjg_armTip(double J[2], const double q[2]);

// velocity after one implicit step of the core, algorithm (69), in place; Mhat includes the rotors
int mjg_armStep(double v[2], const double Mhat[4], const double tau_u[2], const double tau_v[2], double gamma_u,
                const double gamma_v[2], double h);

// velocity v+ = start - A t after a step that began with v, and the friction t in it; A (row-major)
// is the effect of friction on velocity
int mjg_armFriction(double next[2], double t[2], const double start[2], const double A[4], const double v[2],
                    const double tau_u[2], double gamma_u, const double gamma_v[2], double h);

#endif  // SCENES_WALL_ARM_H_
