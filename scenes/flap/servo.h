// The flap, its hydraulic servo and Borello's own algorithm, for the three scenes of this folder.

#ifndef SCENES_FLAP_SERVO_H_
#define SCENES_FLAP_SERVO_H_

#include "../scene.h"

#define mjgFLAP_DEGREE (3.14159265358979323846 / 180)

// the servo is ours, the paper has its parameters elsewhere
#define mjgFLAP_INERTIA  2e4    // of motor and surface, at the surface               kg m2
#define mjgFLAP_TORQUE   194e3  // of the motor at full supply pressure               N m
#define mjgFLAP_FULL     26.0   // full supply pressure                               MPa
#define mjgFLAP_OPEN     0.02   // position error at which the valve is fully open    deg
#define mjgFLAP_DROOP    1.5e6  // torque lost to the flow through the valve          N m/(rad/s)
#define mjgFLAP_VISCOUS  0.5e6  // C_M, viscous friction at the motor                 N m/(rad/s)
#define mjgFLAP_FRICTION 8e3    // T_FR0, independent of load                         N m

// parameters of a case
#define mjgFLAP_OPP(variant)    ((variant)->parameter[0])  // eta_opp
#define mjgFLAP_AID(variant)    ((variant)->parameter[1])  // eta_aid
#define mjgFLAP_FSD(variant)    ((variant)->parameter[2])  // static to dynamic friction
#define mjgFLAP_START(variant)  ((variant)->parameter[3])  // first position            deg
#define mjgFLAP_TARGET(variant) ((variant)->parameter[4])  // for the scene             deg

// name, settings and parameters of a case
#define mjgFLAP_CASE(name, opp, aid, fsd, start, target) \
  name,                                                  \
      {{"transmission", "eta_forward", #opp},            \
       {"transmission", "eta_backward", #aid},           \
       {"transmission", "static_ratio", #fsd}},          \
  {                                                      \
    opp, aid, fsd, start, target                         \
  }

// what the scene prescribes at a time
typedef struct mjgFlapInput_ {
  double command;  // position                                                         rad
  double load;     // T_LD, towards negative angles                                    N m
  double supply;   // PSR                                                              MPa
} mjgFlapInput;
typedef void (*mjgFlapSchedule)(mjgFlapInput* input, double time, const mjgCase* variant);

// torque of the motor less its viscous friction
double mjg_flapMotor(const mjgFlapInput* input, double q, double v);

// first position of the case
void mjg_flapConfigure(mjModel* m, const mjgCase* variant);

// set motor and load
void mjg_flapApply(const mjModel* m, mjData* d, const mjgCase* variant, mjgFlapSchedule schedule);

// columns command, load, supply, error, in degrees and N m and MPa
extern const char* const mjg_flapColumn[];
void mjg_flapMeasure(double* value, const mjModel* m, const mjData* d);

// one step of the law without the engine
int mjg_flapStep(double* q, double* v, double time, const mjModel* m, const mjgCase* variant,
                 mjgFlapSchedule schedule);

// Table 1 of the paper, from the first row of a run on: largest difference of its position, and
// what two explicit timesteps may cost where it starts or stops, both in degrees
double mjg_flapTable(double* allowed, const mjgRun* run, mjgFlapSchedule schedule);

#endif  // SCENES_FLAP_SERVO_H_
