#include "print.h"

#include <math.h>
#include <string.h>


//---------------------------------- text ----------------------------------------------------------

static void torque(FILE* file, double value) {
  if (isfinite(value)) {
    fprintf(file, "%.6g", value);
  } else {
    fputs("none", file);
  }
}


static void printEfficiencies(FILE* file, const char* label, double eta_f, double eta_b) {
  fprintf(file, "  %-18s forward %.6g, backward %.6g\n", label, eta_f, eta_b);
}


void printFacts(FILE* file, const mjgFacts* facts) {
  const mjgFacts* f = facts;
  const mjgTransmission* t = &f->gear;

  // the law
  fprintf(file, "  coefficients       gamma_u %.6g, gamma_v %.6g%s\n", t->gamma_u, t->gamma_v,
          t->mesh ? " (mean; they follow the teeth)" : "");
  printEfficiencies(file, "efficiency", f->eta_f, f->eta_b);
  if (f->varies) {
    fprintf(file, "  at rest            gamma_u %.6g, gamma_v %.6g\n",
            t->gamma_u + t->gamma_u_stribeck, t->gamma_v + t->gamma_v_stribeck);
    printEfficiencies(file, "", f->eta_f_rest, f->eta_b_rest);
  }
  if (t->gamma_u_quadratic != 0 || t->gamma_v_quadratic != 0) {
    fprintf(file, "  growth with load   gamma_u %.6g, gamma_v %.6g for each N m\n",
            t->gamma_u_quadratic, t->gamma_v_quadratic);
  }
  if (t->coulomb != 0 || t->stribeck_friction != 0) {
    fprintf(file, "  without load       friction %.6g sliding, %.6g at rest\n", t->coulomb,
            t->static_ratio * (t->coulomb + t->stribeck_friction));
  }
  if (t->static_ratio != 1) {
    fprintf(file, "  static ratio       %.6g\n", t->static_ratio);
  }

  // what that means
  if (!f->forward_drivable) {
    fputs("  NOT FORWARD-DRIVABLE: the motor alone cannot move it\n", file);
  }
  if (f->backdrivable && isfinite(f->start_backward)) {
    fputs("  backdrivable: a load drives the joint with the motor off\n", file);
  } else if (f->backdrivable) {
    fputs(
        "  backdrivable in motion only: at rest no load starts it with the motor off, but once it\n"
        "  moves a load can keep it moving\n",
        file);
  } else {
    fputs(
        "  NON-BACKDRIVABLE: no load moves it with the motor off, and a load that lowers itself "
        "is\n"
        "  braked to a stop; to lower a load the motor must push\n",
        file);
  }
  fprintf(file,
          "  stick region       under a load of %.6g N m it stands still for motor torques from ",
          f->load);
  torque(file, f->hold_low);
  fputs(" to ", file);
  torque(file, f->hold_high);
  fputs("\n  break-away         motor alone, unloaded: ", file);
  torque(file, f->start_forward);
  fputs("; load alone, motor off: ", file);
  torque(file, f->start_backward);
  fputs("\n", file);

  // inertia
  if (t->armature != 0) {
    fprintf(file, "  rotor inertia      %.6g at the output\n", t->armature);
  }
  if (f->inertia >= 0) {
    fprintf(file, "  apparent inertia   %.6g if the motor drives, ", f->inertia_forward);
    if (isfinite(f->inertia_backward)) {
      fprintf(file, "%.6g if the load drives\n", f->inertia_backward);
    } else {
      fputs("the load cannot drive\n", file);
    }
    if (fabs(f->rho) >= 1) {
      fprintf(file, "  rho %.6g: dynamic jamming is possible, a moving joint may stop at once\n",
              f->rho);
    }
  }
  if (t->viscous != 0) {
    fprintf(file, "  viscous friction   %.6g\n", t->viscous);
  }
}


//---------------------------------- JSON ----------------------------------------------------------

void jsonFacts(Json* json, const mjgFacts* facts) {
  const mjgFacts* f = facts;
  const mjgTransmission* t = &f->gear;
  json_number(json, "gamma_u", t->gamma_u);
  json_number(json, "gamma_v", t->gamma_v);
  json_number(json, "gamma_u_rest", t->gamma_u + t->gamma_u_stribeck);
  json_number(json, "gamma_v_rest", t->gamma_v + t->gamma_v_stribeck);
  json_number(json, "gamma_u_quadratic", t->gamma_u_quadratic);
  json_number(json, "gamma_v_quadratic", t->gamma_v_quadratic);
  json_number(json, "eta_forward", f->eta_f);
  json_number(json, "eta_backward", f->eta_b);
  json_number(json, "eta_forward_rest", f->eta_f_rest);
  json_number(json, "eta_backward_rest", f->eta_b_rest);
  json_number(json, "coulomb", t->coulomb);
  json_number(json, "coulomb_rest", t->coulomb + t->stribeck_friction);
  json_number(json, "static_ratio", t->static_ratio);
  json_flag(json, "backdrivable", f->backdrivable);
  json_flag(json, "forward_drivable", f->forward_drivable);
  json_number(json, "load", f->load);
  json_number(json, "motor_torque_raises", f->raise);
  json_number(json, "motor_torque_lowers", f->lower);
  json_number(json, "motor_torque_starts_unloaded", f->start_forward);
  json_number(json, "load_torque_starts_motor_off", f->start_backward);
  json_number(json, "armature", t->armature);
  json_number(json, "viscous", t->viscous);
  json_number(json, "apparent_inertia_forward", f->inertia_forward);
  json_number(json, "apparent_inertia_backward", f->inertia_backward);
  json_number(json, "rho", f->rho);
}


//---------------------------------- descriptions --------------------------------------------------

// unit of a key of a hinge; "" if it has none
static const char* unitOf(int key) {
  const char* unit = mjg_keyInfo(key)->unit;
  return strcmp(unit, "1") ? unit : "";
}


void printDescription(FILE* file, const mjgDescription* description) {
  if (description->type != mjgTYPE_AUTO) {
    fprintf(file, "  type               %s\n", mjg_typeName(description->type));
  }
  for (int key = 0; key < mjgNKEY; key++) {
    if (description->given[key]) {
      fprintf(file, "  %-18s %.15g %s\n", mjg_keyInfo(key)->name, description->value[key],
              unitOf(key));
    }
  }
}


void jsonDescription(Json* json, const char* key, const mjgDescription* description) {
  json_open(json, key, '{');
  if (description->type != mjgTYPE_AUTO) {
    json_text(json, "type", mjg_typeName(description->type));
  }
  for (int k = 0; k < mjgNKEY; k++) {
    if (description->given[k]) {
      json_number(json, mjg_keyInfo(k)->name, description->value[k]);
    }
  }
  json_close(json, '}');
}


//---------------------------------- MJCF ----------------------------------------------------------

void printMjcf(FILE* file, const Input* input, const mjgTransmission* gear, const char* joint) {
  const mjgDescription* d = &input->description;
  fputs("<extension>\n  <plugin plugin=\"mjgear.transmission\">\n", file);
  fprintf(file, "    <instance name=\"%s_gear\">\n", joint);
  if (input->preset.name) {
    fprintf(file, "      <!-- %s -->\n", input->preset.title);
  }
  fprintf(file, "      <config key=\"joint\" value=\"%s\"/>\n", joint);
  if (d->type == mjgTYPE_LEADSCREW || d->type == mjgTYPE_WORM || d->type == mjgTYPE_SPUR) {
    fprintf(file, "      <config key=\"type\" value=\"%s\"/>\n", mjg_typeName(d->type));
  }
  for (int key = 0; key < mjgNKEY; key++) {
    if (d->given[key] && !mjg_keyInfo(key)->engine) {
      fprintf(file, "      <config key=\"%s\" value=\"%.15g\"/>\n", mjg_keyInfo(key)->name,
              d->value[key]);
    }
  }
  fputs("    </instance>\n  </plugin>\n</extension>\n", file);

  // what the engine has attributes and actuators for
  fprintf(file, "\n<joint name=\"%s\"", joint);
  if (gear->armature != 0) {
    fprintf(file, " armature=\"%.15g\"", gear->armature);
  }
  if (gear->viscous != 0) {
    fprintf(file, " damping=\"%.15g\"", gear->viscous);
  }
  fputs("/>\n", file);
  if (input->preset.torque_constant != 0 && input->preset.resistance != 0) {
    fprintf(file,
            "\n<actuator>\n  <dcmotor joint=\"%s\" motorconst=\"%.15g\" "
            "resistance=\"%.15g\"/>\n</actuator>\n",
            joint, input->preset.torque_constant, input->preset.resistance);
  }
}
