// mjgear: one geared joint on a test bench, simulated over a log.
//
// A fit of a gear to measurements simulates one joint some thousand times. This is that
// loop for mjgear.identify: a pendulum or a free inertia behind a gear, with the motor
// and the controller of a servo in front of it. Like the core, it needs no physics
// engine, has no global variable, and does not allocate, lock, read or write.
//
// Units are SI at the output side, as in mjgear.h. The step equals MuJoCo's Euler integrator:
// semi-implicit, joint damping implicit, actuators explicit. The input is read half a step late,
// which compensates the lead of half a step of this scheme.

#ifndef MJGEAR_PYTHON_BENCH_BENCH_H_
#define MJGEAR_PYTHON_BENCH_BENCH_H_


//---------------------------------- parameters ----------------------------------------------------

// numbers of a bench, in the order of the array that the functions below take
typedef enum mjgBenchParameter_ {
  // load of the joint: the load torque is gravity sin(q + offset)
  mjgBENCH_INERTIA = 0,  // inertia of the output side, without rotor           kg m2
  mjgBENCH_GRAVITY,      // mass x gravity x length; 0: no pendulum            N m
  mjgBENCH_OFFSET,       // angle from the encoder's zero to hanging down      rad

  // motor and controller
  mjgBENCH_TORQUE_CONSTANT,  // torque constant, at the output side              N m/A
  mjgBENCH_RESISTANCE,       // resistance, mjgDRIVE_VOLTAGE                     Ohm
  mjgBENCH_GAIN,             // of the position loop                               (unit)/rad
  mjgBENCH_DERIVATIVE,       // of the position loop, on the speed                 (unit)/(rad/s)
  mjgBENCH_INTEGRAL,         // of the position loop, up to the limit              (unit)/(rad s)
  mjgBENCH_FEEDFORWARD,      // of the position loop, on the goal's rate           (unit)/(rad/s)
  mjgBENCH_FILTER,           // time constant of the speed's low-pass; 0: none     s
  mjgBENCH_DEAD_BAND,        // what a PWM stage loses of either sign              (unit)
  mjgBENCH_LIMIT,            // of the drive's quantity; 0: none (unit)
  mjgBENCH_CURRENT_LIMIT,    // of the winding, mjgDRIVE_VOLTAGE; 0: none          A
  mjgBENCH_SUPPLY,           // voltage that bounds mjgDRIVE_CURRENT; 0: none      V
  mjgBENCH_SLEW,             // most change of the goal; 0: any                    rad/s
  mjgBENCH_DELAY,            // of the input, >= 0                                 s

  // friction: mjgTransmission of mjgear_catalogue.h, or the bound of mjgLAW_BAM
  mjgBENCH_GAMMA_U,
  mjgBENCH_GAMMA_V,
  mjgBENCH_GAMMA_U_STRIBECK,
  mjgBENCH_GAMMA_V_STRIBECK,
  mjgBENCH_GAMMA_U_QUADRATIC,
  mjgBENCH_GAMMA_V_QUADRATIC,
  mjgBENCH_COULOMB,
  mjgBENCH_STRIBECK_FRICTION,
  mjgBENCH_STRIBECK_VELOCITY,
  mjgBENCH_STRIBECK_EXPONENT,
  mjgBENCH_CURVED_FRICTION,
  mjgBENCH_CURVED_VELOCITY,  // > 0 unless curved_friction is 0
  mjgBENCH_CURVED_EXPONENT,
  mjgBENCH_VISCOUS,
  mjgBENCH_ARMATURE,
  mjgBENCH_MOTOR_VISCOUS,  // viscous friction of the rotor, in front of the teeth   N m s/rad

  // a gap between rotor and joint, model mjgEXACT of mjgear_backlash.h; stiffness 0: none
  mjgBENCH_HALF_GAP,
  mjgBENCH_STIFFNESS,
  mjgBENCH_DAMPING,

  mjgNBENCH
} mjgBenchParameter;

// name of a parameter, as in MJCF where that has one; null if out of range
const char* mjg_benchName(int parameter);

// the input of a log: the drive's quantity, or the goal of a position loop
typedef enum mjgDrive_ {
  mjgDRIVE_TORQUE = 0,   // N m at the output side
  mjgDRIVE_CURRENT = 1,  // A: torque constant x current, as far as the supply reaches
  mjgDRIVE_VOLTAGE = 2   // V: torque constant/resistance x (voltage - torque constant x speed)
} mjgDrive;

typedef enum mjgLaw_ {
  mjgLAW_GEAR = 0,  // the law of mjgear.h

  // the published bound of friction M6 and, with zeros, M1 to M5 of M. Duclusaud et al., "Extended
  // friction models for the physics simulation of servo actuators", ICRA 2025, for comparison:
  //   Kc + |Km tau_m - Ke tau_e| + S (Kcs + |Kms tau_m - Kes tau_e| + Q) + Kv |v|
  // of motor torque tau_m and external torque tau_e before the step; the numbers stand in the places
  // of coulomb, gamma_u, gamma_v and so on, as doc/presets.md maps them
  mjgLAW_BAM = 1
} mjgLaw;


//---------------------------------- simulation ----------------------------------------------------

// one log, evenly sampled; arrays belong to the caller and are only read
typedef struct mjgBenchLog_ {
  int n;                        // samples
  int substeps;                 // steps of the simulation in one sample, >= 1
  int reset;                    // samples after which angle and speed are set to the measured
                                //   ones again; 0: only at the start
  int drive;                    // mjgDrive
  int loop;                     // 1: the input is the goal of a position loop [rad], 0: the drive's
  int law;                      // mjgLaw
  double dt;                    // time between samples                                       s
  const double* input;          // (n)
  const unsigned char* enable;  // 0: the motor is off, no torque; nullable: always on        (n)
  const double* load;           // torque against the joint in addition to gravity; nullable: 0 (n)
  int places;                   // of a table of known torques along the position; 0: none
  const double* place;     // increasing angles; beyond them the torque stays          rad (places)
  const double* along;     // torque at each                                           N m (places)
  const double* friction;  // factor of friction without load; nullable: 1                 (n)
  const double* position;  // measured; read at the first sample and at resets    (n)
  const double* velocity;  // measured, likewise                                         (n)
} mjgBenchLog;

// Simulate a log with several sets of parameters (runs, mjgNBENCH). Writes angle and speed of the
// joint at each sample, and the motor torque in the step after it (runs, n); each is nullable.
// rotor (nullable) gets the rotor's angle, which is the joint's without a gap. The position loop
// reads the joint. error: mjgERR_ARGUMENT; mjgERR_NOT_FINITE if a simulation becomes infinite, even
// if a reset repairs it: the arrays are then written as they are
int mjg_simulateBench(double* position, double* velocity, double* torque, double* rotor,
                      const mjgBenchLog* log, int runs, const double* parameter);

// torque that a gear in motion delivers: u into the gear, v the speed of the output side, not 0.
// Viscous friction is subtracted. A gear that jams at u delivers NaN. In steady motion the bound of
// mjgLAW_BAM is the same law, except for the addition of M6. (n) error: mjgERR_ARGUMENT
int mjg_deliver(double* x, const double* u, const double* v, int n, const double* parameter);

#endif  // MJGEAR_PYTHON_BENCH_BENCH_H_
