#include <math.h>
#include <string.h>

#include "catalogue/geometry.h"
#include "catalogue/types.h"
#include "law/transmission.h"
#include "mjgear_report.h"


// keys that coefficients do not determine, of a spur gear
static const int kOpen[] = {mjgKEY_PRESSURE_ANGLE, mjgKEY_MU, mjgKEY_RADIUS_IN};


//---------------------------------- of each type --------------------------------------------------

static void toEfficiency(mjgDescription* d, mjgReport* report, const mjgTransmission* t) {
  double eta_f, eta_b;
  if (t->gamma_u >= 1 || mjg_efficiencies(&eta_f, &eta_b, t->gamma_u, t->gamma_v) < 0) {
    mjg_refuse(report,
               "with gamma_u = %g the motor alone cannot drive the gear, which has no forward "
               "efficiency; describe it as type coefficients",
               t->gamma_u);
    return;
  }
  mjg_give(d, mjgKEY_ETA_FORWARD, eta_f);
  mjg_give(d, mjgKEY_ETA_BACKWARD, eta_b);
}


static void toLoss(mjgDescription* d, mjgReport* report, const mjgTransmission* t) {
  double eta_f, eta_b;
  if (t->gamma_v >= 1 || t->gamma_u >= 1 ||
      mjg_efficiencies(&eta_f, &eta_b, t->gamma_u, t->gamma_v) < 0) {
    mjg_refuse(
        report,
        "a gear that one side cannot drive loses more than it takes in, which type loss does "
        "not know; describe it as type coefficients");
    return;
  }
  mjg_give(d, mjgKEY_MU_AVG, 0.5 * (1 / eta_b - eta_f));
  mjg_give(d, mjgKEY_MU_DIF, 1 - 0.5 * (1 / eta_b + eta_f));
}


static void toStarting(mjgDescription* d, mjgReport* report, const mjgTransmission* t) {
  double k = t->static_ratio;
  double c0 = k * (t->coulomb + t->stribeck_friction);
  double eta_f = NAN, eta_b;
  if (t->gamma_u_stribeck != 0 || t->gamma_v_stribeck != 0 || t->gamma_u_quadratic != 0 ||
      t->gamma_v_quadratic != 0) {
    mjg_refuse(report,
               "type starting has no load-dependent Stribeck friction; describe it as type "
               "coefficients");
  } else if (c0 == 0) {
    mjg_refuse(report,
               "without load-independent friction there is no starting torque; describe it "
               "as type efficiency");
  } else if (k * t->gamma_v >= 1 || k * t->gamma_u >= 1) {
    mjg_refuse(report,
               "the gear locks, so that no torque starts it %s; describe it as type "
               "efficiency",
               k * t->gamma_v >= 1 ? "backward" : "forward");
  } else {
    mjg_efficiencies(&eta_f, &eta_b, t->gamma_u, t->gamma_v);
    mjg_give(d, mjgKEY_ETA_FORWARD, eta_f);
    mjg_give(d, mjgKEY_STARTING_FORWARD, c0 / (1 - k * t->gamma_u));
    mjg_give(d, mjgKEY_STARTING_BACKWARD, c0 / (1 - k * t->gamma_v));
  }
}


static void toThread(mjgDescription* d, mjgReport* report, const mjgTransmission* t) {
  double lead_angle, mu;
  double pressure_angle = d->value[mjgKEY_PRESSURE_ANGLE];
  if (d->type == mjgTYPE_WORM && !d->given[mjgKEY_PRESSURE_ANGLE]) {
    mjg_refuse(report, "a worm's pressure_angle is not in the coefficients; give it");
  } else if (mjgi_screwFromCoefficients(&lead_angle, &mu, t->gamma_u, t->gamma_v, pressure_angle) <
             0) {
    mjg_refuse(report,
               "no %s has gamma_u = %g and gamma_v = %g, both must be positive; describe "
               "it as type coefficients",
               mjg_typeName(d->type), t->gamma_u, t->gamma_v);
  } else {
    mjg_give(d, mjgKEY_LEAD_ANGLE, lead_angle);
    mjg_give(d, mjgKEY_MU, mu);
  }
}


static void toSpur(mjgDescription* d, mjgReport* report, const mjgTransmission* t) {
  for (int i = 0; i < 3; i++) {
    if (!d->given[kOpen[i]]) {
      mjg_refuse(report, "a spur gear's %s is not in the coefficients; give it",
                 mjg_keyInfo(kOpen[i])->name);
      return;
    }
  }

  // mean of (21) over a symmetric path: gamma_v = mu contact/(4 radius_in cos(pressure_angle))
  double radius = d->value[mjgKEY_RADIUS_IN];
  double angle = d->value[mjgKEY_PRESSURE_ANGLE];
  double mu = d->value[mjgKEY_MU];
  double contact = 4 * t->gamma_v * radius * cos(angle) / mu;
  double radius_out = radius * t->gamma_v / t->gamma_u;
  double smaller = radius < radius_out ? radius : radius_out;
  if (!(t->gamma_u > 0 && t->gamma_v > 0) || !isfinite(contact) ||
      contact > 2 * smaller * sin(angle)) {
    mjg_refuse(report,
               "no pair of spur gears with this friction has gamma_u = %g and gamma_v = %g; "
               "describe it as type coefficients",
               t->gamma_u, t->gamma_v);
    return;
  }
  mjg_give(d, mjgKEY_RADIUS_OUT, radius_out);
  mjg_give(d, mjgKEY_CONTACT, contact);
}


//---------------------------------- of any type ---------------------------------------------------

// Set the keys that all types share.
static void toFriction(mjgDescription* d, const mjgTransmission* t) {
  mjgTransmission given = *t, standard;
  mjg_defaultTransmission(&standard);
  int falls = mjgi_gainsAtRest(t), bends = t->curved_friction != 0;
  for (int key = 0; key < mjgNKEY; key++) {
    const double* number = mjgi_keyMember(&given, key);
    if (!number || !(mjgi_keyTypes(key) >> d->type & 1)) {
      continue;
    }
    int falling = key == mjgKEY_STRIBECK_VELOCITY || key == mjgKEY_STRIBECK_EXPONENT;
    int bending = key == mjgKEY_CURVED_VELOCITY || key == mjgKEY_CURVED_EXPONENT;
    int gamma = key == mjgKEY_GAMMA_U || key == mjgKEY_GAMMA_V;
    if (falling ? falls : bending ? bends : gamma || *number != *mjgi_keyMember(&standard, key)) {
      mjg_give(d, key, *number);
    }
  }
  memcpy(d->table, t->table, sizeof(d->table));
}


// from coefficients to the keys of each type
static void (*const kDescribe[mjgNTYPE])(mjgDescription* d, mjgReport* report,
                                         const mjgTransmission* t) = {
    [mjgTYPE_EFFICIENCY] = toEfficiency,
    [mjgTYPE_STARTING] = toStarting,
    [mjgTYPE_LEADSCREW] = toThread,
    [mjgTYPE_WORM] = toThread,
    [mjgTYPE_SPUR] = toSpur,
    [mjgTYPE_LOSS] = toLoss,
};


int mjg_describe(mjgDescription* description, mjgReport* report,
                 const mjgTransmission* transmission) {
  const mjgTransmission* t = transmission;
  if (!description || !report || !t) {
    return mjgERR_ARGUMENT;
  }
  int before = report->count;
  if (mjg_checkTransmission(report, t)) {
    return report->count - before;
  }
  int type = description->type ? description->type : mjgTYPE_COEFFICIENTS;
  if (type < 0 || type >= mjgNTYPE) {
    mjg_refuse(report, "unknown type %d; use one of mjgType", type);
    return report->count - before;
  }

  // keep keys that the type does not determine: of a thread the first one
  mjgDescription d;
  mjg_defaultDescription(&d);
  d.type = type;
  int open = type == mjgTYPE_SPUR ? 3 : type == mjgTYPE_WORM || type == mjgTYPE_LEADSCREW;
  for (int i = 0; i < open; i++) {
    const mjgKeyInfo* info = mjg_keyInfo(kOpen[i]);
    double value = description->value[kOpen[i]];
    if (description->given[kOpen[i]] && isnan(value)) {
      mjg_refuse(report, "%s is not a finite number; write a number", info->name);
    } else if (description->given[kOpen[i]] && value != 0 &&
               !mjgi_isOutside(report, info, value, NULL, "", 1)) {
      mjg_give(&d, kOpen[i], value);
    }
  }
  if (t->mesh) {
    mjg_refuse(report,
               "coefficients that follow the mesh cannot be described otherwise; describe "
               "their mean, without mesh");
  }
  if (!kDescribe[type] && type != mjgTYPE_COEFFICIENTS) {
    mjg_refuse(
        report,
        "the coefficients do not tell what type %s would need; describe it as type efficiency",
        mjg_typeName(type));
  } else if (kDescribe[type] && report->count == before) {
    kDescribe[type](&d, report, t);
  }
  if (report->count == before) {
    toFriction(&d, t);
  }
  for (int key = 0; key < mjgNKEY && report->count == before; key++) {
    if (d.given[key] && !isfinite(d.value[key])) {
      mjg_refuse(report, "%s would be %g; describe it as type coefficients, with finite numbers",
                 mjg_keyInfo(key)->name, d.value[key]);
    }
  }
  if (report->count == before) {
    *description = d;
  }
  return report->count - before;
}
