#include "catalogue/types.h"

#include <math.h>

#include "catalogue/geometry.h"

static const double kPi = 3.14159265358979323846;


static void fromEfficiency(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  double eta_f = d->value[mjgKEY_ETA_FORWARD];
  if (!d->given[mjgKEY_ETA_BACKWARD]) {
    // friction of the load alone: eta_b = 2 - 1/eta_f, which is gamma_u = 0
    t->gamma_v = (1 - eta_f) / eta_f;
    return;
  }
  double eta_b = d->value[mjgKEY_ETA_BACKWARD];
  if ((eta_f == 1) != (eta_b == 1)) {
    mjg_refuse(report,
               "%s is 1 and %s is %g, but a gear without loss in one direction has none in the "
               "other; write both as 1 or both below 1",
               eta_f == 1 ? "eta_forward" : "eta_backward",
               eta_f == 1 ? "eta_backward" : "eta_forward", eta_f == 1 ? eta_b : eta_f);
    return;
  }
  mjg_coefficients(&t->gamma_u, &t->gamma_v, eta_f, eta_b);
}


// With k the static ratio, s_f and s_b the starting torques and c0 the bound without load
// at rest,
//     k c0 = (1 - k gamma_u) s_f = (1 - k gamma_v) s_b
// and, if it is known, eta_f = (1 - gamma_u)/(1 + gamma_v); else gamma_u = 0.
static void fromStarting(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  double k = t->static_ratio;
  double s_f = d->given[mjgKEY_MOTOR_STARTING] ? t->ratio * d->value[mjgKEY_MOTOR_STARTING]
                                               : d->value[mjgKEY_STARTING_FORWARD];
  double s_b = d->value[mjgKEY_STARTING_BACKWARD];
  double eta = d->value[mjgKEY_ETA_FORWARD];

  if (!d->given[mjgKEY_STARTING_BACKWARD]) {
    t->gamma_v = (1 - eta) / eta;
  } else if (!d->given[mjgKEY_ETA_FORWARD]) {
    t->gamma_v = (1 - s_f / s_b) / k;
  } else {
    t->gamma_v = (s_b - s_f * (1 - k * (1 - eta))) / (k * (s_b + eta * s_f));
    t->gamma_u = 1 - eta * (1 + t->gamma_v);
  }

  double c0 = (1 - k * t->gamma_u) * s_f / k;
  t->coulomb = c0 - t->stribeck_friction;
  if (c0 <= 0) {
    mjg_refuse(report,
               "these starting torques and eta_forward contradict each other: without load "
               "there would be no friction; check that all are at the output side");
  } else if (t->gamma_v < 0) {
    mjg_refuse(report,
               "starting_backward = %g is below the forward starting torque at the output, "
               "%g; a torque measured at the motor is motor_starting, with ratio",
               s_b, s_f);
  } else if (t->coulomb < 0) {
    mjg_refuse(report, "stribeck_friction = %g is more than all friction at rest, %.6g; write less",
               t->stribeck_friction, c0);
  }
}


static void fromThread(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  (void)report;
  double lead_angle = d->given[mjgKEY_LEAD]
                          ? atan2(d->value[mjgKEY_LEAD], kPi * d->value[mjgKEY_PITCH_DIAMETER])
                          : d->value[mjgKEY_LEAD_ANGLE];
  mjg_screw(&t->gamma_u, &t->gamma_v, lead_angle, mjgi_valueOr(d, mjgKEY_PRESSURE_ANGLE, 0),
            d->value[mjgKEY_MU]);
}


static void fromSpur(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  mjgSpur* spur = &t->spur;
  spur->radius_in = d->value[mjgKEY_RADIUS_IN];
  spur->radius_out = d->value[mjgKEY_RADIUS_OUT];
  spur->pressure_angle = d->value[mjgKEY_PRESSURE_ANGLE];
  spur->mu = d->value[mjgKEY_MU];
  if (spur->pressure_angle == 0) {
    mjg_refuse(report,
               "pressure_angle is 0, but involute teeth need one; write 0.349 for 20 degrees");
    return;
  }

  // the path of contact ends where the line of action touches a base circle
  double smaller = spur->radius_in < spur->radius_out ? spur->radius_in : spur->radius_out;
  double reach = smaller * sin(spur->pressure_angle);
  if (d->given[mjgKEY_MODULE]) {
    double module = d->value[mjgKEY_MODULE];
    spur->pitch = kPi * module * cos(spur->pressure_angle);
    if (mjgi_spurPath(spur, module, module) < 0) {
      mjg_refuse(report,
                 "module = %g gives the smaller gear %.3g teeth, and full-depth teeth interfere "
                 "there; write a smaller module, or contact for other teeth",
                 module, 2 * smaller / module);
      return;
    }
  } else {
    double contact = d->value[mjgKEY_CONTACT];
    spur->approach = spur->recess = contact / 2;
    if (contact / 2 > reach) {
      mjg_refuse(report,
                 "contact = %g is longer than the line of action, %.6g; it is the length "
                 "in m of the path of contact, not the contact ratio",
                 contact, 2 * reach);
      return;
    }
  }
  mjgi_spurMean(&t->gamma_u, &t->gamma_v, spur);
  t->mesh = mjgi_valueOr(d, mjgKEY_MESH, 0) != 0;
}


static void fromWedge(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  (void)report;
  t->gamma_u = d->value[mjgKEY_MU] / tan(d->value[mjgKEY_OUTPUT_ANGLE]);
  t->gamma_v = d->value[mjgKEY_MU] / tan(d->value[mjgKEY_INPUT_ANGLE]);
}


// exp(-mu wrap_angle) in both directions
static void fromCapstan(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  (void)report;
  t->gamma_u = t->gamma_v = tanh(0.5 * d->value[mjgKEY_MU] * d->value[mjgKEY_WRAP_ANGLE]);
}


static mjgiPlanetary planetaryOf(const mjgDescription* d) {
  double sun = d->value[mjgKEY_TEETH_SUN], ring = d->value[mjgKEY_TEETH_RING];
  return (mjgiPlanetary){.sun = sun,
                         .planet = mjgi_valueOr(d, mjgKEY_TEETH_PLANET, 0.5 * (ring - sun)),
                         .ring = ring,
                         .planet_out = mjgi_valueOr(d, mjgKEY_TEETH_PLANET_OUT, 0),
                         .ring_out = mjgi_valueOr(d, mjgKEY_TEETH_RING_OUT, 0),
                         .efficiency = d->value[mjgKEY_MESH_EFFICIENCY]};
}


static void fromPlanetary(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  const mjgiPlanetary gears = planetaryOf(d);
  double ratio, eta_f, eta_b;
  if (!(gears.planet > 0)) {
    mjg_refuse(
        report,
        "teeth_ring = %g leaves no room for planets around a sun of %g teeth; write a larger "
        "ring, or teeth_planet",
        gears.ring, gears.sun);
  } else if (mjgi_planetary(&ratio, &eta_f, &eta_b, &gears) < 0) {
    mjg_refuse(report,
               "with these teeth the output does not turn; write other teeth_ring_out or "
               "teeth_planet_out");
  } else if (eta_f <= 0) {
    mjg_refuse(report,
               "with mesh_efficiency = %g no motor can drive this gear, because its forward "
               "efficiency is %.4g; write a larger value",
               gears.efficiency, eta_f);
  } else if (eta_f < 1) {
    mjg_coefficients(&t->gamma_u, &t->gamma_v, eta_f, eta_b);
  }
}


// With u0 the no-load running torque and S the starting torque at the output, s_b the
// backdriving torque, c the sliding friction without load and k the static ratio,
//     u0 = c/(1 - gamma_u)     S = k c/(1 - k gamma_u)     s_b = k c/(1 - k gamma_v)
// and the efficiency under the load T is eta_f T/(T + eta_f u0), which falls at partial
// load. Without s_b gamma_u = 0; without S k = 1.
static void fromStrainWave(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  double u0 = t->ratio * d->value[mjgKEY_NO_LOAD_TORQUE];
  double share = 1 / d->value[mjgKEY_RATED_EFFICIENCY] - u0 / d->value[mjgKEY_RATED_TORQUE];
  double start = d->given[mjgKEY_MOTOR_STARTING] ? t->ratio * d->value[mjgKEY_MOTOR_STARTING] : u0;
  double back = d->value[mjgKEY_STARTING_BACKWARD];
  if (share < 1) {
    mjg_refuse(report,
               "no_load_torque = %g takes more than all that is lost at rated_torque, because at "
               "the output it is %g of that torque; check that it is measured at the motor",
               d->value[mjgKEY_NO_LOAD_TORQUE], u0 / d->value[mjgKEY_RATED_TORQUE]);
    return;
  }
  double eta = 1 / share;
  t->gamma_v = (1 - eta) / eta;
  if (d->given[mjgKEY_STARTING_BACKWARD]) {
    t->gamma_v = 2 * start * back / (start * back * (1 + eta) + u0 * eta * (start - back)) - 1;
    t->gamma_u = 1 - eta * (1 + t->gamma_v);
  }
  t->coulomb = u0 * (1 - t->gamma_u);
  t->static_ratio = start / (t->coulomb + start * t->gamma_u);
  if (t->gamma_u < 0) {
    mjg_refuse(report,
               "starting_backward = %g is more than the loss under load explains, which is %.3g of "
               "rated_torque without no_load_torque; write less, or leave it out",
               back, 1 - eta);
  } else if (!(t->gamma_v >= 0) || !(t->coulomb > 0)) {
    mjg_refuse(report,
               "starting_backward = %g contradicts the other torques: at the output the gear takes "
               "%g to run and %g to start; check that it is measured at the output",
               back, u0, start);
  } else if (!(t->static_ratio >= 1)) {
    mjg_refuse(report,
               "motor_starting = %g is below no_load_torque = %g, but no gear takes more to run "
               "than to start; write the running torque at the lowest speed",
               d->value[mjgKEY_MOTOR_STARTING], d->value[mjgKEY_NO_LOAD_TORQUE]);
  }
}


// mu_avg |u| sgn(v) + mu_dif u, which in sliding is this law with eta_f = 1 - mu_avg -
// mu_dif and eta_b = 1/(1 + mu_avg - mu_dif)
static void fromLoss(mjgTransmission* t, mjgReport* report, const mjgDescription* d) {
  double average = d->value[mjgKEY_MU_AVG], difference = mjgi_valueOr(d, mjgKEY_MU_DIF, 0);
  if (fabs(difference) > average) {
    mjg_refuse(report,
               "mu_dif = %g is larger than mu_avg = %g, which would be a gear that creates energy "
               "in one direction; write a value between %g and %g",
               difference, average, -average, average);
  } else if (average + difference >= 1) {
    mjg_refuse(report,
               "mu_avg + mu_dif = %g would be a gear that no motor can drive; write less than 1",
               average + difference);
  } else if (average > 0) {
    t->gamma_u = average + difference * (1 - difference) / average;
    t->gamma_v = -difference / average;
  }
}


double mjgi_ratioOf(const mjgDescription* d, int type) {
  if (d->given[mjgKEY_RATIO]) {
    return d->value[mjgKEY_RATIO];
  }
  if (type == mjgTYPE_SPUR) {
    return d->value[mjgKEY_RADIUS_OUT] / d->value[mjgKEY_RADIUS_IN];
  }
  if (type == mjgTYPE_LEADSCREW && d->given[mjgKEY_LEAD]) {
    return 2 * kPi / d->value[mjgKEY_LEAD];
  }
  if (type == mjgTYPE_PLANETARY) {
    const mjgiPlanetary gears = planetaryOf(d);
    double ratio, eta_f, eta_b;
    return mjgi_planetary(&ratio, &eta_f, &eta_b, &gears) < 0 ? 0 : fabs(ratio);
  }
  return 0;
}


// name, coefficients from keys (null: the keys are the coefficients), needed keys; mjgKEY_GAMMA_U
// (0) ends them
static const struct {
  const char* name;
  void (*read)(mjgTransmission* t, mjgReport* report, const mjgDescription* d);
  int needed[5];
} kTypes[mjgNTYPE] = {
    [mjgTYPE_AUTO] = {"auto", NULL, {0}},
    [mjgTYPE_COEFFICIENTS] = {"coefficients", NULL, {0}},
    [mjgTYPE_EFFICIENCY] = {"efficiency", fromEfficiency, {mjgKEY_ETA_FORWARD}},
    [mjgTYPE_STARTING] = {"starting", fromStarting, {0}},
    [mjgTYPE_LEADSCREW] = {"leadscrew", fromThread, {mjgKEY_MU}},
    [mjgTYPE_WORM] = {"worm", fromThread, {mjgKEY_PRESSURE_ANGLE, mjgKEY_MU}},
    [mjgTYPE_SPUR] = {"spur",
                      fromSpur,
                      {mjgKEY_RADIUS_IN, mjgKEY_RADIUS_OUT, mjgKEY_PRESSURE_ANGLE, mjgKEY_MU}},
    [mjgTYPE_WEDGE] = {"wedge", fromWedge, {mjgKEY_INPUT_ANGLE, mjgKEY_OUTPUT_ANGLE, mjgKEY_MU}},
    [mjgTYPE_PLANETARY] = {"planetary",
                           fromPlanetary,
                           {mjgKEY_TEETH_SUN, mjgKEY_TEETH_RING, mjgKEY_MESH_EFFICIENCY}},
    [mjgTYPE_STRAIN_WAVE] = {"strain_wave",
                             fromStrainWave,
                             {mjgKEY_RATED_TORQUE, mjgKEY_RATED_EFFICIENCY, mjgKEY_NO_LOAD_TORQUE}},
    [mjgTYPE_CAPSTAN] = {"capstan", fromCapstan, {mjgKEY_WRAP_ANGLE, mjgKEY_MU}},
    [mjgTYPE_LOSS] = {"loss", fromLoss, {mjgKEY_MU_AVG}},
};


const char* mjg_typeName(int type) {
  return type >= 0 && type < mjgNTYPE ? kTypes[type].name : NULL;
}


int mjg_typeFromName(const char* name) {
  return mjgi_indexOf(name, kTypes, sizeof(*kTypes), mjgNTYPE);
}


int mjgi_neededKey(int type, int k) {
  return kTypes[type].needed[k] ? kTypes[type].needed[k] : -1;
}


void mjgi_readCoefficients(mjgTransmission* t, mjgReport* report, const mjgDescription* d,
                           int type) {
  if (kTypes[type].read) {
    kTypes[type].read(t, report, d);
  }
}
