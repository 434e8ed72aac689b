// The flap, its hydraulic servo and Borello's own algorithm, for the three scenes of this folder.

#ifndef SCENES_FLAP_SERVO_H_
#define SCENES_FLAP_SERVO_H_

#include "../helpers.h"

#define mjgFLAP_DEGREE (3.14159265358979323846 / 180)

// the paper does not describe the servo; README.md says how its parameters were found
#define mjgFLAP_INERTIA  4e3    // of motor and surface, at the surface               kg m2
#define mjgFLAP_TORQUE   123e3  // of the motor at full supply pressure               N m
#define mjgFLAP_FULL     26.0   // full supply pressure                               MPa
#define mjgFLAP_OPEN     0.02   // position error at which the valve is fully open    deg
#define mjgFLAP_DROOP    0.9e6  // torque lost to the flow through the valve          N m/(rad/s)
#define mjgFLAP_VISCOUS  0.1e6  // C_M, viscous friction at the motor                 N m/(rad/s)
#define mjgFLAP_FRICTION 3e3    // T_FR0, independent of load                         N m

// parameters of a case
#define mjgFLAP_OPP(variant)    ((variant)->parameter[0])  // eta_opp
#define mjgFLAP_AID(variant)    ((variant)->parameter[1])  // eta_aid
#define mjgFLAP_FSD(variant)    ((variant)->parameter[2])  // static to dynamic friction
#define mjgFLAP_START(variant)  ((variant)->parameter[3])  // first position            deg
#define mjgFLAP_TARGET(variant) ((variant)->parameter[4])  // for the scene             deg
#define mjgFLAP_STOP(variant)   ((variant)->parameter[5])  // end of travel, 0: none    deg

// name, settings and parameters of a case; ratio and coulomb are static_ratio and coulomb of the
// gear: FSD and T_FR0 if gamma_u = 0, see README.md
#define mjgFLAP_CASE_UNEVEN(name, opp, aid, fsd, start, target, stop, ratio, coulomb)                            \
  name,                                                                                                          \
      "transmission.eta_forward=" #opp "; transmission.eta_backward=" #aid "; transmission.static_ratio=" #ratio \
      "; transmission.coulomb=" #coulomb,                                                                        \
  {                                                                                                              \
    opp, aid, fsd, start, target, stop                                                                           \
  }
#define mjgFLAP_CASE(name, opp, aid, fsd, start, target, stop) \
  mjgFLAP_CASE_UNEVEN(name, opp, aid, fsd, start, target, stop, fsd, 3e3)

// input of the scene at a time
typedef struct mjgFlapInput_ {
  double command;  // position                                                         rad
  double load;     // T_LD, towards negative angles                                    N m
  double supply;   // PSR                                                              MPa
} mjgFlapInput;
typedef void (*mjgFlapSchedule)(mjgFlapInput* input, double time, const mjgCase* variant);

// first position and end of travel of the case
void mjg_flapConfigure(mjModel* m, const mjgCase* variant);

// set motor and load
void mjg_flapApply(const mjModel* m, mjData* d, const mjgCase* variant, mjgFlapSchedule schedule);

// columns command, load, supply, error, in degrees and N m and MPa
void mjg_flapMeasure(double* value, const mjModel* m, const mjData* d);

// one step of the law without the engine
int mjg_flapStep(double* q, double* v, double time, const mjModel* m, const mjgCase* variant, mjgFlapSchedule schedule);

// Table 1 of the paper, ends of travel included, from the first row of a run on: largest difference
// of its position, and the allowance for two explicit timesteps at starts and stops, both in
// degrees
double mjg_flapTable(double* allowed, const mjgTrajectory* run, mjgFlapSchedule schedule);

// claim for each of n runs that it moves as in Table 1, within the error of two timesteps
void mjg_flapClaimTable(mjgClaims* claims, const mjgTrajectory* run, int n, mjgFlapSchedule schedule);

// mean position error of a run between two times, deg
double mjg_flapMeanError(const mjgTrajectory* run, double from, double to);

// input and reference by the schedule of a scene, and their place in it
#define mjgFLAP_CALLBACKS                                                                                            \
  static void input(const mjModel* m, mjData* d, const mjgCase* variant) { mjg_flapApply(m, d, variant, schedule); } \
  static int reference(double* q, double* v, double time, const mjModel* m, const mjgCase* variant) {                \
    return mjg_flapStep(q, v, time, m, variant, schedule);                                                           \
  }
#define mjgFLAP_COMPARED .input = input, .reference = reference, .tolerance = 1e-9

// parts of all scenes of the flap
#define mjgFLAP_SCENE                                                                                   \
  .configure = mjg_flapConfigure, .column = "position command error load=userdata:1 supply=userdata:2", \
  .measure = mjg_flapMeasure

// time at which Table 1 has come to rest within 0.02 deg of a case's target, s; -1: not
// before the end
double mjg_flapArrival(const mjgCase* variant, mjgFlapSchedule schedule, double end);

#endif  // SCENES_FLAP_SERVO_H_
