#include "page.h"

#include <math.h>
#include <string.h>

#include "mjgear_report.h"
#include "print.h"


// preset i and its facts
static void readPreset(mjgPreset* preset, mjgFacts* facts, int i) {
  mjgReport report;
  mjgTransmission gear;
  mjg_startReport(&report, NULL, 0);
  mjg_defaultTransmission(&gear);
  mjg_preset(preset, i);
  mjg_transmission(&gear, &report, &preset->description);
  mjg_explain(facts, &gear, 1, -1);
}


void printPresets(FILE* file) {
  for (int i = 0; i < mjg_presetCount(); i++) {
    mjgPreset preset;
    mjgFacts f;
    readPreset(&preset, &f, i);
    fprintf(file, "%-18s %-52s eta %6.3g / %6.3g\n", preset.name, preset.title, f.eta_f, f.eta_b);
  }
}


void jsonPresets(Json* json) {
  json_open(json, NULL, '[');
  for (int i = 0; i < mjg_presetCount(); i++) {
    mjgPreset preset;
    mjgFacts facts;
    readPreset(&preset, &facts, i);
    json_open(json, NULL, '{');
    json_text(json, "name", preset.name);
    json_text(json, "title", preset.title);
    json_text(json, "source", preset.source);
    json_text(json, "remark", preset.remark ? preset.remark : "");
    jsonDescription(json, "description", &preset.description);
    json_open(json, "facts", '{');
    jsonFacts(json, &facts);
    json_close(json, '}');
    if (preset.torque_constant != 0) {
      json_number(json, "torque_constant", preset.torque_constant);
      json_number(json, "resistance", preset.resistance != 0 ? preset.resistance : (double)NAN);
    }
    json_close(json, '}');
  }
  json_close(json, ']');
}


//---------------------------------- Markdown ------------------------------------------------------

static void cell(FILE* file, double value) {
  if (isfinite(value)) {
    fprintf(file, " %.4g |", value);
  } else {
    fputs(" none |", file);
  }
}


// whether a preset is one of the published models M1 to M6 of a servo, as its name says
static int isServoModel(const mjgPreset* preset) {
  const char* end = strrchr(preset->name, '_');
  return end && end[1] == 'm' && end[2] >= '1' && end[2] <= '6' && !end[3];
}


// whether a preset is a joint module of a maker, as its title says
static int isModule(const mjgPreset* preset) {
  return strstr(preset->title, ", joint module") != NULL;
}


// whether a preset has its numbers in the record instead of the page
static int isRecord(const mjgPreset* preset) {
  return isServoModel(preset) || isModule(preset);
}


// a row for each preset of the record or of the page
static void printTable(FILE* file, int flg_record) {
  fputs(
      "| preset | gear | gamma_u | gamma_v | eta_f | eta_b | "
      "start | backdrive |\n"
      "|---|---|---|---|---|---|---|---|\n",
      file);
  for (int i = 0; i < mjg_presetCount(); i++) {
    mjgPreset preset;
    mjgFacts f;
    readPreset(&preset, &f, i);
    if (isRecord(&preset) != flg_record) {
      continue;
    }
    fprintf(file, "| `%s` | %s |", preset.name, preset.title);
    cell(file, f.gear.gamma_u);
    cell(file, f.gear.gamma_v);
    cell(file, f.eta_f);
    cell(file, f.eta_b);
    cell(file, f.start_forward);
    cell(file, f.start_backward);
    fputs("\n", file);
  }
}


// sources, each once, behind all presets that are from it
static void printSources(FILE* file, int flg_record) {
  for (int i = 0; i < mjg_presetCount(); i++) {
    mjgPreset preset, next;
    mjg_preset(&preset, i);
    if (isRecord(&preset) != flg_record) {
      continue;
    }
    fprintf(file, "- `%s`", preset.name);
    while (!mjg_preset(&next, i + 1) && !strcmp(preset.source, next.source)) {
      fprintf(file, ", `%s`", next.name);
      i++;
    }
    fprintf(file, ": %s", preset.source);
    if (preset.remark && preset.torque_constant == 0) {
      fprintf(file, " %s", preset.remark);
    }
    fputs("\n", file);
  }
}


// a row for each servo with the names of its models
static void printServos(FILE* file) {
  fputs("| servo | presets |\n|---|---|\n", file);
  for (int i = 0; i < mjg_presetCount(); i++) {
    mjgPreset preset, next;
    mjg_preset(&preset, i);
    if (!isServoModel(&preset)) {
      continue;
    }
    const int nname = (int)(strrchr(preset.name, '_') - preset.name) + 1;
    const char* model = strstr(preset.title, ", model");
    fprintf(file, "| %.*s | `%s`", model ? (int)(model - preset.title) : 0, preset.title,
            preset.name);
    while (!mjg_preset(&next, i + 1) && isServoModel(&next) &&
           !strncmp(preset.name, next.name, (size_t)nname)) {
      fprintf(file, ", `_%s`", next.name + nname);
      i++;
    }
    fputs(" |\n", file);
  }
  fputs("| joint modules |", file);
  const char* separator = " ";
  for (int i = 0; i < mjg_presetCount(); i++) {
    mjgPreset preset;
    mjg_preset(&preset, i);
    if (isModule(&preset)) {
      fprintf(file, "%s`%s`", separator, preset.name);
      separator = ", ";
    }
  }
  fputs(" |\n", file);
}


void printServoPage(FILE* file) {
  fputs(
      "# Record: presets of servos\n\n"
      "    mjgear presets --markdown servos\n\n"
      "The published models M1 to M6 of servos and joint modules as "
      "[presets](../presets.md#servo-models-of-bam). Torques in N m.\n\n",
      file);
  printTable(file, 1);
  fputs("\n## Sources\n\n", file);
  printSources(file, 1);
}


void printPresetPage(FILE* file) {
  fputs(
      "# Presets\n\n"
      "A preset is a gear that is ready to use. Its numbers are from a catalogue, a paper or logs, "
      "or "
      "they are marked as assumed.\n"
      "Take one that is like your gear, and change what you know better:\n\n"
      "    mjgear explain worm                       # what it does\n"
      "    mjgear mjcf mx64_m6 --joint elbow         # MJCF to paste\n"
      "    mjgear explain harmonic_drive coulomb=2Nm # a preset with a key changed\n\n"
      "Torques are in N m (N for a slide) at the output side. *start*: motor torque that starts "
      "the "
      "unloaded joint;\n"
      "*backdrive*: load torque that moves it with the motor off. "
      "(`mjgear presets --markdown` writes this page.)\n\n",
      file);
  printTable(file, 0);
  fputs("\n## Sources and assumptions\n\n", file);
  printSources(file, 0);
  fputs(
      "\n"
      "## Servo models of BAM\n\n"
      "Better-actuator-models (BAM) has friction models M1 to M6 of servos. These are presets, "
      "with "
      "[numbers and sources](records/servos.md):\n\n",
      file);
  printServos(file);
  fputs(
      "\n"
      "To convert a file of parameters use `mjgear convert --bam FILE` or `mjgear.from_bam`; "
      "`mjgear.to_bam` writes one.\n"
      "The models bound the friction torque by\n\n"
      "    M1   Kv |v| + Kc\n"
      "    M2   M1 + S Kcs\n"
      "    M3   M1 + Kl |tau_m - tau_e|\n"
      "    M4   M3 + S (Kcs + Kls |tau_m - tau_e|)\n"
      "    M5   Kv |v| + Kc + |Km tau_m - Ke tau_e| + S (Kcs + |Kms tau_m - Kes tau_e|)\n"
      "    M6   M5 + S Q,  Q = Keq tau_e^2 if |tau_m| > |tau_e|, else Kmq tau_m^2;\n"
      "                    0 if tau_m and tau_e have the same sign\n\n"
      "with S = exp(-|v/vs|^alpha), motor torque tau_m and external torque tau_e, both in the "
      "joint's direction.\n"
      "Ours is t in (|gamma_u u + gamma_v x| + c) sgn(v), with the torques u into and x out of the "
      "gear. So\n\n"
      "| theirs | ours |\n"
      "|---|---|\n"
      "| Kc, Kcs | `coulomb`, `stribeck_friction` |\n"
      "| vs, alpha | `stribeck_velocity`, `stribeck_exponent` |\n"
      "| Km, Ke (M3: Kl, Kl) | `gamma_u`, `gamma_v` |\n"
      "| Kms, Kes (M4: Kls, Kls) | `gamma_u_stribeck`, `gamma_v_stribeck` |\n"
      "| Kmq, Keq | `gamma_u_quadratic`, `gamma_v_quadratic` |\n"
      "| Kv | `curved_friction`, with `curved_velocity` 1 and `curved_exponent` 1; M1, M2 and "
      "presets: the joint's `damping` |\n"
      "| armature | the joint's `armature` |\n\n"
      "In steady motion and at rest M1 to M4 are exact. M5 and M6 are exact while motor and load "
      "oppose each other, or\n"
      "one of them is zero. A preset's damping is a load of its gear, so M3 to M6 differ by up to "
      "gamma_v Kv |v|.\n\n"
      "Differences:\n\n"
      "- In accelerated motion our law takes the torques through the gear, u = tau_m - m a and\n"
      "  x = -tau_e + M a. Theirs takes tau_m and tau_e.\n"
      "- If motor and load push the same way, theirs adds two absolute values, and ours takes the "
      "absolute\n"
      "  value of the sum.\n"
      "- The quadratic term is a coefficient: K tau^2 is (K |tau|) |tau|, with |tau| from the "
      "motor "
      "torque\n"
      "  of this step and the friction of the last one.\n"
      "- Motor electronics are not part of a transmission. Torque constant and winding resistance "
      "are\n"
      "  those of MuJoCo's `dcmotor`.\n",
      file);
}
