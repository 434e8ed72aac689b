#include "print.h"

#include <math.h>
#include <string.h>

#include "mjgear_backlash.h"


//---------------------------------- text ----------------------------------------------------------

const char* unitOf(const char* unit, int slide) {
  static const char* const units[][2] = {
      {"rad", "m"},    {"rad/s", "m/s"},         {"N m", "N"},    {"N m/rad", "N/m"},
      {"kg m2", "kg"}, {"N m/(rad/s)", "N s/m"}, {"s/rad", "s/m"}};
  for (size_t i = 0; slide && i < sizeof(units) / sizeof(*units); i++) {
    if (!strcmp(unit, units[i][0])) {
      return units[i][1];
    }
  }
  return strcmp(unit, "1") ? unit : "";
}


// with its unit; "": the unit of the next number
static void torque(FILE* file, double value, const char* unit) {
  if (isfinite(value)) {
    fprintf(file, "%.6g%s%s", value, unit[0] ? " " : "", unit);
  } else {
    fputs("none", file);
  }
}


static void printEfficiencies(FILE* file, const char* label, double eta_f, double eta_b) {
  fprintf(file, "  %-18s forward %.6g, backward %.6g\n", label, eta_f, eta_b);
}


void printFacts(FILE* file, const mjgFacts* facts, const char* unit) {
  const mjgFacts* f = facts;
  const mjgTransmission* t = &f->gear;
  int flg_slide = !strcmp(unit, "N");
  const char* mass = unitOf("kg m2", flg_slide);

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
    fprintf(file, "  growth with load   gamma_u %.6g, gamma_v %.6g for each %s\n",
            t->gamma_u_quadratic, t->gamma_v_quadratic, unit);
  }
  if (t->coulomb != 0 || t->stribeck_friction != 0) {
    fprintf(file, "  without load       friction %.6g %s sliding, %.6g %s at rest\n", t->coulomb,
            unit, t->static_ratio * (t->coulomb + t->stribeck_friction), unit);
  }
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    if (t->table[kind].n) {
      fprintf(file, "  table              %s; torques below count it, coefficients do not\n",
              mjg_tableName(kind));
    }
  }
  if (t->oneway != 0) {
    fprintf(file, "  one-way            turns %s only\n", t->oneway > 0 ? "forward" : "backward");
  }
  if (t->static_ratio != 1) {
    fprintf(file, "  static ratio       %.6g\n", t->static_ratio);
  }

  // meaning of the number
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
        "  NON-BACKDRIVABLE (self-locking): no load moves it with the motor off, and a load that "
        "lowers\n"
        "  itself is braked to a stop; to lower a load the motor must push (driven by both), and "
        "if\n"
        "  the load falls away meanwhile the joint runs off\n",
        file);
  }
  if (f->catalogue_locks != !f->backdrivable) {
    fprintf(file,
            "  rule of thumb      a catalogue calls a gear self-locking below a forward efficiency "
            "of 0.5;\n"
            "                     for %.4g it %s. Its backward efficiency, %.4g, decides\n",
            f->eta_f,
            f->catalogue_locks < 0 ? "leaves it to vibration"
            : f->catalogue_locks   ? "would say so, wrongly"
                                   : "would not, wrongly",
            f->eta_b);
  }
  fprintf(file, "  stick region       under a load of %.6g %s it stands still for motor %s from ",
          f->load, unit, strcmp(unit, "N") ? "torques" : "forces");
  torque(file, f->hold_low, isfinite(f->hold_high) ? "" : unit);
  fputs(" to ", file);
  torque(file, f->hold_high, unit);
  fputs("\n  break-away         motor alone, unloaded: ", file);
  torque(file, f->start_forward, unit);
  fputs("; load alone, motor off: ", file);
  torque(file, f->start_backward, unit);
  fputs("\n", file);

  // inertia
  if (t->armature != 0) {
    fprintf(file, "  rotor inertia      %.6g %s at the output\n", t->armature, mass);
  }
  if (f->inertia >= 0) {
    fprintf(file, "  apparent inertia   %.6g %s if the motor drives, ", f->inertia_forward, mass);
    if (isfinite(f->inertia_backward)) {
      fprintf(file, "%.6g %s if the load drives\n", f->inertia_backward, mass);
    } else {
      fputs("the load cannot drive\n", file);
    }
    if (fabs(f->rho) >= 1) {
      fprintf(file, "  rho %.6g: dynamic jamming is possible, a moving joint may stop at once\n",
              f->rho);
    }
  }
  if (t->viscous != 0) {
    fprintf(file, "  viscous friction   %.6g %s\n", t->viscous, unitOf("N m/(rad/s)", flg_slide));
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
  json_number(json, "oneway", t->oneway);
  json_flag(json, "backdrivable", f->backdrivable);
  json_flag(json, "forward_drivable", f->forward_drivable);
  json_number(json, "catalogue_locks", f->catalogue_locks);
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

// longest table as text
enum {
  TABLE_TEXT = 2 * mjgMAXPOINT * 26
};


// a table as MJCF has it; its number of points
static int writeTable(char text[TABLE_TEXT], const mjgTable* table) {
  size_t length = 0;
  for (int k = 0; k < table->n; k++) {
    length += (size_t)snprintf(text + length, TABLE_TEXT - length, "%s%.15g %.15g", k ? " " : "",
                               table->x[k], table->factor[k]);
  }
  return table->n;
}


void printDescription(FILE* file, const mjgDescription* description) {
  if (description->type != mjgTYPE_AUTO) {
    fprintf(file, "  type               %s\n", mjg_typeName(description->type));
  }
  for (int key = 0; key < mjgNKEY; key++) {
    if (description->given[key]) {
      fprintf(file, "  %-18s %.15g %s\n", mjg_keyInfo(key)->name, description->value[key],
              unitOf(mjg_keyInfo(key)->unit, isSlide(description)));
    }
  }
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    char text[TABLE_TEXT];
    if (writeTable(text, description->table + kind)) {
      fprintf(file, "  %-18s %s\n", mjg_tableName(kind), text);
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
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    char text[TABLE_TEXT];
    if (writeTable(text, description->table + kind)) {
      json_text(json, mjg_tableName(kind), text);
    }
  }
  json_close(json, '}');
}


//---------------------------------- MJCF ----------------------------------------------------------

// a joint's type, where it is not a hinge
static const char* typeAttribute(const Input* input) {
  return isSlide(&input->description) ? " type=\"slide\"" : "";
}


// rotor inertia in front of a gap; 0 where the joint has it
static double rotorInertia(const Input* input, const mjgTransmission* gear) {
  const int last = mjgiNGAPKEY - 1;
  return input->backlash < 0 ? 0 : input->gap_given[last] ? input->gap_value[last] : gear->armature;
}


static void printConfig(FILE* file, const char* key, double value) {
  fprintf(file, "      <config key=\"%s\" value=\"%.15g\"/>\n", key, value);
}


// text within an attribute in double quotes; control characters have no place in XML
static void printEscaped(FILE* file, const char* text) {
  for (const char* c = text; *c; c++) {
    if ((unsigned char)*c >= ' ') {
      fputs(*c == '<'   ? "&lt;"
            : *c == '>' ? "&gt;"
            : *c == '&' ? "&amp;"
            : *c == '"' ? "&quot;"
                        : (const char[]){*c, 0},
            file);
    }
  }
}


static void printInstance(FILE* file, const Input* input, const mjgTransmission* gear,
                          const Names* joints) {
  const mjgDescription* d = &input->description;
  fputs("<extension>\n  <plugin plugin=\"mjgear.transmission\">\n    <instance name=\"", file);
  printEscaped(file, joints->n == 1 ? joints->name[0] : "gears");
  fputs(joints->n == 1 ? "_gear\">\n" : "\">\n", file);
  if (input->preset.name) {
    fprintf(file, "      <!-- %s -->\n", input->preset.title);
  }
  fputs("      <config key=\"joint\" value=\"", file);
  for (int i = 0; i < joints->n; i++) {
    // a list of names: quotes hold those together that have spaces, or begin with a quote
    const char* joint = joints->name[i];
    int quoted = strchr(joint, ' ') || *joint == '\'' || *joint == '"';
    const char* quote = !quoted ? "" : strchr(joint, '\'') ? "&quot;" : "'";
    fprintf(file, "%s%s", i ? " " : "", quote);
    printEscaped(file, joint);
    fputs(quote, file);
  }
  fputs("\"/>\n", file);
  if (d->type != mjgTYPE_AUTO) {
    fprintf(file, "      <config key=\"type\" value=\"%s\"/>\n", mjg_typeName(d->type));
  }
  for (int key = 0; key < mjgNKEY; key++) {
    if (d->given[key] && !mjg_keyInfo(key)->engine) {
      printConfig(file, mjg_keyInfo(key)->name, d->value[key]);
    }
  }
  for (int kind = 0; kind < mjgNTABLE; kind++) {
    char text[TABLE_TEXT];
    if (writeTable(text, d->table + kind)) {
      fprintf(file, "      <config key=\"%s\" value=\"%s\"/>\n", mjg_tableName(kind), text);
    }
  }
  if (input->backlash >= 0) {
    fprintf(file, "      <config key=\"backlash\" value=\"%s\"/>\n",
            mjg_backlashName(input->backlash));
    for (int i = 0; i < mjgiNGAPKEY - 1; i++) {
      if (input->gap_given[i]) {
        printConfig(file, mjg_gapKeyInfo(i)->name, input->gap_value[i]);
      }
    }
    if (rotorInertia(input, gear) > 0) {
      printConfig(file, "rotor_inertia", rotorInertia(input, gear));
    } else {
      fputs("      <!-- rotor_inertia: write the motor's inertia times ratio^2, kg m2 -->\n", file);
    }
  }
  fputs("    </instance>\n  </plugin>\n</extension>\n", file);
}


void printMjcf(FILE* file, const Input* input, const mjgTransmission* gear, const Names* joints) {
  printInstance(file, input, gear, joints);

  // keys for which the engine has attributes and actuators
  fputs("\n", file);
  if (gear->armature == 0 && input->backlash < 0) {
    fprintf(file, "<!-- armature: write the motor's inertia times ratio^2, %s -->\n",
            isSlide(&input->description) ? "kg" : "kg m2");
  }
  for (int i = 0; i < joints->n; i++) {
    fputs("<joint name=\"", file);
    printEscaped(file, joints->name[i]);
    fprintf(file, "\"%s", typeAttribute(input));
    if (gear->armature != 0 && input->backlash < 0) {
      fprintf(file, " armature=\"%.15g\"", gear->armature);
    }
    if (gear->viscous != 0) {
      fprintf(file, " damping=\"%.15g\"", gear->viscous);
    }
    fputs("/>\n", file);
  }
  if (input->preset.torque_constant != 0 && input->preset.resistance != 0) {
    fputs("\n<actuator>\n", file);
    for (int i = 0; i < joints->n; i++) {
      fputs("  <dcmotor joint=\"", file);
      printEscaped(file, joints->name[i]);
      fprintf(file, "\" motorconst=\"%.15g\" resistance=\"%.15g\"/>\n",
              input->preset.torque_constant, input->preset.resistance);
    }
    fputs("</actuator>\n", file);
  }
}


void jsonMjcf(Json* json, const Input* input, const mjgTransmission* gear, const Names* joints) {
  char name[strlen(joints->name[0]) + sizeof("_gear")];
  snprintf(name, sizeof(name), joints->n == 1 ? "%s_gear" : "gears", joints->name[0]);
  json_text(json, "instance", name);
  jsonDescription(json, "description", &input->description);
  jsonGap(json, input);
  json_open(json, "joints", '[');
  for (int i = 0; i < joints->n; i++) {
    json_open(json, NULL, '{');
    json_text(json, "name", joints->name[i]);
    json_text(json, "type", isSlide(&input->description) ? "slide" : "hinge");
    json_number(json, "armature", input->backlash < 0 ? gear->armature : 0);
    json_number(json, "damping", gear->viscous);
    json_close(json, '}');
  }
  json_close(json, ']');
}


//---------------------------------- gaps ----------------------------------------------------------

void printGap(FILE* file, const Input* input) {
  if (input->backlash < 0) {
    return;
  }
  fprintf(file, "  backlash           %s", mjg_backlashName(input->backlash));
  for (int i = 0; i < mjgiNGAPKEY; i++) {
    if (input->gap_given[i]) {
      const char* unit = unitOf(mjg_gapKeyInfo(i)->unit, isSlide(&input->description));
      fprintf(file, ", %s %.6g%s%s", mjg_gapKeyInfo(i)->name, input->gap_value[i],
              unit[0] ? " " : "", unit);
    }
  }
  fputs("\n", file);
}


void jsonGap(Json* json, const Input* input) {
  if (input->backlash < 0) {
    return;
  }
  json_text(json, "backlash", mjg_backlashName(input->backlash));
  for (int i = 0; i < mjgiNGAPKEY; i++) {
    if (input->gap_given[i]) {
      json_number(json, mjg_gapKeyInfo(i)->name, input->gap_value[i]);
    }
  }
}
