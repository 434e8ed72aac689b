// What the plugin's sensor measures.
//
//   <sensor>
//     <plugin name="elbow_gear" plugin="mjgear.transmission" instance="gears"
//             objtype="joint" objname="elbow"/>      one geared joint
//     <plugin name="all_gears" plugin="mjgear.transmission" instance="gears"/>
//                                                    all joints of the instance, in its order
//   </sensor>
//
// The sensor gives mjgNSENSOR numbers for each joint, in this order, valid after every mj_forward
// (SI units at the output side; for a slide read N, m, m/s).

#ifndef MJGEAR_PLUGIN_SENSOR_H_
#define MJGEAR_PLUGIN_SENSOR_H_

enum {
  mjgSENSOR_FRICTION = 0,          // friction torque t, opposing motion                   N m
  mjgSENSOR_LAMBDA = 1,            // internal force lambda                                N m
  mjgSENSOR_TORQUE_IN = 2,         // torque u delivered into the gear                     N m
  mjgSENSOR_TORQUE_OUT = 3,        // torque x delivered to the link                       N m
  mjgSENSOR_MODE = 4,              // -1 slips backward, 0 stuck, 1 slips forward
  mjgSENSOR_POWER_LOSS = 5,        // heat made by the friction, never negative            W
  mjgSENSOR_GAP = 6,               // position in the backlash gap, 0 without backlash     rad
  mjgSENSOR_ROTOR_ANGLE = 7,       // rotor angle; the joint's without backlash            rad
  mjgSENSOR_ROTOR_VELOCITY = 8,    // rotor velocity; the joint's without backlash         rad/s
  mjgSENSOR_ITERATIONS = 9,        // solver iterations of this step
  mjgSENSOR_RESIDUAL = 10,         // relative residual of this step
  mjgSENSOR_STATUS = 11,           // mjgStatus of this step, mjgear.h
  mjgSENSOR_FALLBACKS = 12,        // times that the default solver had to call another in this step
  mjgNSENSOR = 13
};

#endif  // MJGEAR_PLUGIN_SENSOR_H_
