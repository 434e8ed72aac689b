// One gear between a rotor and a link, with motor torque and load as functions of time: its motion
// in fine steps from the balance of forces, and the same in steps of the core and of the engine.
//
// The integration in fine steps shares no code with the core.

#ifndef MJGEAR_TESTS_REFERENCES_DRIVE_H_
#define MJGEAR_TESTS_REFERENCES_DRIVE_H_

#include <mujoco/mujoco.h>

#define DRAWN 50  // sets of parameters of each reference

// uniform in [low, high]
double draw(double low, double high);

// all at the output side
typedef struct Drive_ {
  double m, M;              // rotor and link, kg m2
  double eta_f, eta_b;      // efficiencies
  double coulomb;           // further friction, N m
  double amplitude, omega;  // motor torque amplitude sin(omega t)
  double load, slope;       // load torque load + slope t, against the motor's positive direction
  double v;                 // velocity at the start
} Drive;

double motorOf(const Drive* d, double t);
double loadOf(const Drive* d, double t);

// advance velocity and angle by fine steps to a time; times at which it starts or stops are appended to event,
// which is nullable
void fine(double* v, double* q, double* t, const Drive* d, double until, double dt, double event[],
          int* nevent, int max);

// one step of the core; motor and load at its middle
void coreStep(double* v, double* q, const Drive* d, double t, double h);

// simulators of a drive
typedef enum Runner_ {
  inCORE = 0,
  inENGINE = 1,  // a hinge
  inENGINE_STANDING =
      2,  // and a body on its axis stands on a plane: joint and contact are one island
  inENGINE_PRESSED = 3,  // a slide: the load presses a separate body of M on the link
  NRUNNER
} Runner;

// a drive in the engine, in steps h; inENGINE_PRESSED needs a load > 0 that keeps the contact closed
typedef struct Engine_ {
  mjModel* m;
  mjData* d;
  int runner;  // dof 0 is the gear, dof 1 a pressed body
} Engine;
Engine makeEngine(const Drive* d, double h, int runner);
void freeEngine(Engine* e);

// one step with motor torque u and load f; returns the link's velocity
double engineStep(Engine* e, double u, double f);

// mean difference of velocity over time between a run in steps h and the fine steps, per largest velocity
double difference(const Drive* d, double h, double end, int runner);

// steps of h until it stands, times h; at most longest. A load that aids
double stopTime(const Drive* d, double h, double longest, int runner);

#endif  // MJGEAR_TESTS_REFERENCES_DRIVE_H_
