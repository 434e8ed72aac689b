#include <string.h>

#include "mjgear_params.h"

static const double kDegree = 3.14159265358979323846 / 180;


//---------------------------------- generic gears -------------------------------------------------

#define MAX_PAIR 8

typedef struct Pair_ {
  int key;
  double value;
} Pair;

typedef struct Generic_ {
  const char* name;
  const char* title;
  const char* source;
  const char* remark;
  int type;
  Pair pair[MAX_PAIR];     // up to the first value 0
  double torque_constant;  // N m/A; 0: not identified
  double resistance;       // Ohm; 0: not identified
} Generic;

// angles are in degrees here
static const Generic kGeneric[] = {
    {"worm", "single-start worm gear, self-locking",
     "Assumed: lead angle 5 deg, pressure angle 20 deg, mu 0.1 (steel on bronze, greased).",
     "Set ratio to the teeth of the wheel.", mjgTYPE_WORM,
     .pair = {{mjgKEY_LEAD_ANGLE, 5}, {mjgKEY_PRESSURE_ANGLE, 20}, {mjgKEY_MU, 0.1}}},

    {"worm_4start", "four-start worm gear, backdrivable",
     "Assumed: lead angle 20 deg, pressure angle 20 deg, mu 0.05 (oil bath, running).",
     "The same worm after a long rest has more friction: set static_ratio.", mjgTYPE_WORM,
     .pair = {{mjgKEY_LEAD_ANGLE, 20}, {mjgKEY_PRESSURE_ANGLE, 20}, {mjgKEY_MU, 0.05}}},

    {"acme_screw", "Acme screw 1/2-10, single start, self-locking",
     "Thread: ASME B1.5, pitch diameter 0.45 in, lead 0.1 in, flank 14.5 deg. mu 0.15: lubricated "
     "steel on bronze, Roton Products, Screw Actions, friction coefficients.",
     "Joint is a slide; without the friction of the thrust bearing.", mjgTYPE_LEADSCREW,
     .pair = {{mjgKEY_LEAD, 0.00254},
              {mjgKEY_PITCH_DIAMETER, 0.01143},
              {mjgKEY_PRESSURE_ANGLE, 14.5},
              {mjgKEY_MU, 0.15}}},

    {"trapezoidal_screw", "trapezoidal screw Tr 20x4, self-locking",
     "Thread: ISO 2904, pitch diameter 18 mm, lead 4 mm, flank 15 deg. mu 0.15 as for acme_screw.",
     "Joint is a slide; without the friction of the thrust bearing.", mjgTYPE_LEADSCREW,
     .pair = {{mjgKEY_LEAD, 0.004},
              {mjgKEY_PITCH_DIAMETER, 0.018},
              {mjgKEY_PRESSURE_ANGLE, 15},
              {mjgKEY_MU, 0.15}}},

    {"ball_screw", "ball screw 16x5, backdrivable",
     "Assumed: efficiency 0.9, the figure that makers give for ball screws; eta_backward from "
     "2 - 1/eta_forward.",
     "Joint is a slide, ratio is 2 pi / 5 mm; without the preload's drag torque, which is coulomb.",
     mjgTYPE_EFFICIENCY, .pair = {{mjgKEY_ETA_FORWARD, 0.9}, {mjgKEY_RATIO, 1256.6370614359173}}},

    {"harmonic_drive", "harmonic drive (strain wave gear), 100:1",
     "Assumed: efficiency 0.8 at rated torque and room temperature; eta_backward from "
     "2 - 1/eta_forward.",
     "Efficiency falls with temperature, speed and partial load: take your size's diagram. The "
     "catalogue's starting and backdriving torques fit type starting, with motor_starting.",
     mjgTYPE_EFFICIENCY, .pair = {{mjgKEY_ETA_FORWARD, 0.8}, {mjgKEY_RATIO, 100}}},

    {"rt1_20_100", "strain wave gear Schaeffler RT1-H-20-100-CS, 100:1",
     "Schaeffler, catalogue TPI 275, size 20, ratio 100, 20 deg C, as read by "
     "github.com/zhulu248/harmonic-drive-twin, catalogue.py: rated torque 52 N m, efficiency there "
     "77 % +- 3 %, no-load running torque 0.105 N m at 2000 rpm, starting torque 0.037 N m, "
     "backdriving torque 3.89 N m; all five come back from the law.",
     "Assumed: efficiency is that at 2000 rpm; at low speed the gear runs with its starting "
     "torque, and what it takes more at 2000 rpm is viscous. Add the inertia of motor and gear "
     "(motor_inertia). Stiffness K1 = 1.6e4, K3 = 2.9e4 N m/rad; K2, T1, T2 and the hysteresis "
     "loss "
     "are not in that source.",
     mjgTYPE_STRAIN_WAVE,
     // efficiency at low speed, and the rest of the running torque at 2000 rpm
     .pair = {{mjgKEY_RATIO, 100},
              {mjgKEY_RATED_TORQUE, 52},
              {mjgKEY_RATED_EFFICIENCY, 0.8562141818492858},
              {mjgKEY_NO_LOAD_TORQUE, 0.037},
              {mjgKEY_STARTING_BACKWARD, 3.89},
              {mjgKEY_MOTOR_VISCOUS, 0.0002960271069032212}}},

    {"csf_25_50", "strain wave gear Harmonic Drive CSF-25-50-2UH, 50:1",
     "Harmonic Drive LLC, product page CSF-25-50-2UH and rating table of the CSF & CSG catalogue, "
     "as "
     "others quote them: starting torque 0.15 N m, backdriving torque 9 N m, rated torque 39 N m, "
     "K3 "
     "= 4.4e4 N m/rad, inertia 0.413 kg cm2; page 50 of the catalogue: K1 = 2.5e4, K2 = 3.4e4 N "
     "m/rad, "
     "T1 = 14, T2 = 48 N m.",
     "Assumed: gamma_u = 0, no efficiency was found in numbers; the law then has 74 % at 39 N m "
     "and low speed. The torques have one or two digits: gamma_v is 0.09 to 0.24. Add the "
     "motor's inertia (motor_inertia). Stiffness is backlash = torsion with K1 to "
     "T2; the hysteresis loss and the running torque were not found in numbers.",
     mjgTYPE_STARTING,
     .pair = {{mjgKEY_RATIO, 50},
              {mjgKEY_MOTOR_STARTING, 0.15},
              {mjgKEY_STARTING_BACKWARD, 9},
              {mjgKEY_GEAR_INERTIA, 0.413e-4}}},

    {"planetary_1stage", "planetary gearbox, one stage, 10:1",
     "Beckhoff AG3210-NP025, ratio 10: efficiency under full load 97 %, inertia at the input from "
     "0.3 kg cm2; eta_backward from 2 - 1/eta_forward.",
     "Inertia is the gearbox's; add the motor's (motor_inertia). The no-load running torque of the "
     "data "
     "sheet is part of the full-load loss and must not be added to it.",
     mjgTYPE_EFFICIENCY,
     .pair = {{mjgKEY_ETA_FORWARD, 0.97}, {mjgKEY_RATIO, 10}, {mjgKEY_GEAR_INERTIA, 0.3e-4}}},

    {"planetary_2stage", "planetary gearbox, two stages, 55:1",
     "Beckhoff AG2400-TP050 MA, ratio 55: efficiency under full load 94 %, inertia at the input "
     "2.4 kg cm2; eta_backward from 2 - 1/eta_forward.",
     "As planetary_1stage.", mjgTYPE_EFFICIENCY,
     .pair = {{mjgKEY_ETA_FORWARD, 0.94}, {mjgKEY_RATIO, 55}, {mjgKEY_GEAR_INERTIA, 2.4e-4}}},

    {"bilateral_drive", "bilateral drive gear (3K planetary), backdrivable",
     "Matsuki, Nagano, Fujimoto, IEEE/ASME Trans. Mechatronics 24(6), 2019: measured efficiency "
     "0.890 forward, "
     "0.853 backward, reverse-drive starting torque 0.020 N m, from which coulomb = 0.020 N m (1 - "
     "gamma_v).",
     "A prototype. The same measured as friction alone: no inertia, no stiffness.",
     mjgTYPE_EFFICIENCY,
     .pair = {{mjgKEY_ETA_FORWARD, 0.890},
              {mjgKEY_ETA_BACKWARD, 0.853},
              {mjgKEY_COULOMB, 0.015584437154839509}}},

    {"spur_pair", "pair of spur gears, 20 and 40 teeth of module 2 mm",
     "Assumed: full-depth teeth, pressure angle 20 deg, mu 0.08 (oiled steel).",
     "Coefficients are the mean over the mesh cycle; mesh = 1 follows the teeth.", mjgTYPE_SPUR,
     .pair = {{mjgKEY_RADIUS_IN, 0.02},
              {mjgKEY_RADIUS_OUT, 0.04},
              {mjgKEY_PRESSURE_ANGLE, 20},
              {mjgKEY_MU, 0.08},
              {mjgKEY_MODULE, 0.002}}},

    // found in logs by mjgear identify
    {"xl330", "Dynamixel XL330-M288, fitted to logs",
     "Fitted by mjgear identify to the sixteen logs of data/xl330 (Rhoban team, Apache-2.0), "
     "command and figures in "
     "doc/identify.md; gamma_u and gamma_v alone won: nothing else predicted better held out. 95 % "
     "intervals: eta_forward "
     "0.51 to 0.68, eta_forward x eta_backward 0.33 to 0.49, coulomb 0.0003 to 0.0062 N m, damping "
     "0.0042 to 0.0119 "
     "N m s/rad, armature 0.0017 to 0.0026 kg m2.",
     "The torque constant is known through back-EMF alone: with another one, s times as large, "
     "eta_forward is 1/s and "
     "eta_backward s times as large.",
     mjgTYPE_COEFFICIENTS,
     .pair = {{mjgKEY_GAMMA_U, 0.376778},
              {mjgKEY_GAMMA_V, 0.0483763},
              {mjgKEY_COULOMB, 0.00326782},
              {mjgKEY_VISCOUS, 0.00802942},
              {mjgKEY_ARMATURE, 0.00211535}},
     .torque_constant = 0.351981, .resistance = 3.09564},

    {"unitree_go1", "Unitree Go1, motor with its gear 6.33:1, fitted to logs",
     "Fitted by mjgear identify to sixteen logs with 0 to 3 kg on an arm of 0.15 m "
     "(github.com/rimim/bam, example_data/data_raw_go1), where a load was left out; command in "
     "doc/identify.md, without --fit torque_scale. gamma_u and gamma_v predict left-out loads 11 % "
     "better than MuJoCo's friction. 95 % intervals, with a torque scale known to 25 %: "
     "eta_forward "
     "0.88 to 1, eta_forward x eta_backward 0.78 to 0.99, coulomb 0.03 to 0.15 N m, damping 0.03 "
     "to "
     "0.08 N m s/rad, armature 0.0068 to 0.0123 kg m2.",
     "It is not certain that this is a gear, because torques are those that the amplifier was "
     "told, not measured ones. If the "
     "scale of the torques is fitted too, the gear is still chosen. But its lead over MuJoCo's "
     "friction is then 6 %, eta_forward "
     "is 0.82 to 0.99, and a servo model with Stribeck friction predicts 4 % better in the mean, "
     "not in every log. "
     "If the real motor torque is s times as large, eta_forward is divided by s and eta_backward "
     "multiplied by s.",
     mjgTYPE_COEFFICIENTS,
     .pair = {{mjgKEY_GAMMA_U, 0.0824509},
              {mjgKEY_GAMMA_V, 0.0023329},
              {mjgKEY_COULOMB, 0.0902385},
              {mjgKEY_VISCOUS, 0.0498776},
              {mjgKEY_ARMATURE, 0.00955885}}},
};


//---------------------------------- servos --------------------------------------------------------

// Published friction models of servos: the bound of friction, with tau_m the motor's and tau_e the
// external torque, both in the joint's direction, and S the Stribeck curve, is
//
//     M1  Kv |v| + Kc
//     M5  Kv |v| + Kc + |Km tau_m - Ke tau_e| + S (Kcs + |Kms tau_m - Kes tau_e|)
//     M6  M5 + S Q,  Q = Keq tau_e^2 if |tau_m| > |tau_e|, else Kmq tau_m^2
//
// The load torque f_v is -tau_e, so that Km, Ke are gamma_u, gamma_v. doc/presets.md says where
// this is exact and where it is not.
typedef struct Servo_ {
  const char* name;
  const char* title;
  int model;
  double torque_constant, resistance;  // N m/A, Ohm; 0: not identified
  double value[12];                    // of kServoKey
} Servo;

// keys of their numbers, and the first model that has each
static const struct {
  int key, model;
} kServoKey[12] = {
    {mjgKEY_ARMATURE, 1},           // of the rotor
    {mjgKEY_VISCOUS, 1},            // Kv
    {mjgKEY_COULOMB, 1},            // Kc
    {mjgKEY_STRIBECK_FRICTION, 5},  // Kcs
    {mjgKEY_GAMMA_U, 1},            // Km
    {mjgKEY_GAMMA_V, 1},            // Ke
    {mjgKEY_GAMMA_U_STRIBECK, 5},   // Kms
    {mjgKEY_GAMMA_V_STRIBECK, 5},   // Kes
    {mjgKEY_GAMMA_U_QUADRATIC, 6},  // Kmq
    {mjgKEY_GAMMA_V_QUADRATIC, 6},  // Keq
    {mjgKEY_STRIBECK_VELOCITY, 5},  // of S
    {mjgKEY_STRIBECK_EXPONENT, 5},  // of S
};

static const char kServoSource[] =
    "Converted from M. Duclusaud, G. Passault, V. Padois, O. Ly, Extended Friction Models for the "
    "Physics "
    "Simulation of Servo Actuators, ICRA 2025; values, to six digits, from the parameter files of "
    "github.com/Rhoban/bam.";

// clang-format off
static const Servo kServo[] = {
    {"mx64_m1", "Dynamixel MX-64, model M1", 1, 1.62247, 3.94943,
     {0.0119512, 0.0116916, 0.0903868}},
    {"mx64_m5", "Dynamixel MX-64, model M5", 5, 1.58743, 2.41435,
     {0.0117289, 0.0149089, 0.0750196, 0.0222332, 0.3848, 1.61483e-11, 0.030124, 0.165896, 0, 0,
      0.746172, 1.29304}},
    {"mx64_m6", "Dynamixel MX-64, model M6", 6, 1.60168, 2.3164,
     {0.0122659, 0.025337, 6.21792e-07, 0.122695, 0.311472, 2.0462e-08, 0.187744, 0.0140659,
      0.00690851, 0.00999998, 2.57528, 0.840902}},
    {"mx106_m1", "Dynamixel MX-106, model M1", 1, 2.19138, 2.96499,
     {0.0266092, 0.0352024, 0.10352}},
    {"mx106_m5", "Dynamixel MX-106, model M5", 5, 2.20878, 2.01424,
     {0.0260182, 0.0506649, 1.88127e-10, 0.122427, 0.207637, 0.0226844, 0.195193, 0.0849016, 0, 0,
      1.74571, 1.13831}},
    {"mx106_m6", "Dynamixel MX-106, model M6", 6, 2.20983, 2.03366,
     {0.0260162, 0.0507157, 1.02325e-05, 0.121954, 0.198006, 0.0222155, 0.1986, 0.0871033,
      0.00999993, 7.32692e-05, 1.74633, 1.14283}},
    {"xl320_m1", "Dynamixel XL-320, model M1", 1, 0.986947, 35.6091,
     {0.00111895, 0.00331761, 0.0275145}},
    {"xl320_m5", "Dynamixel XL-320, model M5", 5, 1.00899, 31.5954,
     {0.00116238, 0.00722449, 6.93676e-09, 0.0162887, 3.0271e-08, 0.158058, 7.42559e-09, 0.246234,
      0, 0, 2.30267, 1.70366}},
    {"xl320_m6", "Dynamixel XL-320, model M6", 6, 1.00883, 31.5859,
     {0.00116299, 0.00722517, 4.33378e-07, 0.0163055, 3.08821e-06, 0.158325, 5.96572e-09, 0.245483,
      0.00361641, 0.00471093, 2.30105, 1.70674}},
    {"xl330_m1", "Dynamixel XL330-M288, model M1", 1, 0.386696, 4.01713,
     {0.00181417, 0.00366167, 0.0128327}},
    {"xl330_m5", "Dynamixel XL330-M288, model M5", 5, 0.362213, 2.75191,
     {0.00184689, 0.00634803, 0.000365952, 0.00867789, 0.289652, 0, 3.05745e-05, 0.0586825, 0, 0,
      3.18891, 2.9904}},
    {"xl330_m6", "Dynamixel XL330-M288, model M6", 6, 0.366013, 2.81139,
     {0.00180774, 0.00535967, 0.00477118, 0.00467635, 0.266786, 8.51587e-06, 1.07229e-05, 0.0807793,
      0.00997247, 0.00490257, 2.89037, 8.68326}},
    {"erob80_50_m1", "eRob80, 50:1, model M1", 1, 4.5434, 2.50882, {0.336939, 1.29806, 4.09665}},
    {"erob80_50_m5", "eRob80, 50:1, model M5", 5, 4.81832, 0.857485,
     {0.331076, 1.60888, 2.36733, 0.837993, 0.0341818, 0.000267909, 0.0154043, 0.0849627, 0, 0,
      2.26389, 2.98473}},
    {"erob80_50_m6", "eRob80, 50:1, model M6", 6, 4.89677, 1.07349,
     {0.36174, 1.40339, 3.25894, 0.320431, 0.0356619, 0.000843166, 0.00377099, 0.041438, 0.00187212,
      0.0015991, 2.83039, 1.78644}},
    {"erob80_100_m1", "eRob80, 100:1, model M1", 1, 7.65786, 0, {0.958953, 8.39232, 5.61097}},
    {"erob80_100_m5", "eRob80, 100:1, model M5", 5, 8.76511, 0,
     {0.74442, 8.88839, 0.000854442, 3.89717, 0.00143866, 3.39229e-06, 7.95025e-05, 0.254474, 0, 0,
      1.84992, 2.99912}},
    {"erob80_100_m6", "eRob80, 100:1, model M6", 6, 9.3963, 0,
     {1.1351, 9.70933, 0.000477967, 5.22642, 0.0488877, 7.62632e-08, 8.82328e-06, 0.0511666,
      0.00270292, 0.00255626, 2.03303, 2.99992}},
    {"sts3215_m1", "Feetech STS3215, 7.4 V, model M1", 1, 1.21164, 2.67617,
     {0.0284034, 0.0590852, 0.052393}},
};
// clang-format on

#define NGENERIC ((int)(sizeof(kGeneric) / sizeof(*kGeneric)))
#define NSERVO   ((int)(sizeof(kServo) / sizeof(*kServo)))


static void genericPreset(mjgPreset* preset, const Generic* g) {
  *preset = (mjgPreset){.name = g->name,
                        .title = g->title,
                        .source = g->source,
                        .remark = g->remark,
                        .description = {.type = g->type},
                        .torque_constant = g->torque_constant,
                        .resistance = g->resistance};
  for (int i = 0; i < MAX_PAIR && g->pair[i].value != 0; i++) {
    int key = g->pair[i].key;
    int angle = strcmp(mjg_keyInfo(key)->unit, "rad") == 0;
    mjg_give(&preset->description, key, g->pair[i].value * (angle ? kDegree : 1));
  }
}


static void servoPreset(mjgPreset* preset, const Servo* s) {
  static const char* const remark[] = {
      [1] = "Friction does not depend on load in this model.",
      [6] = "The quadratic term uses the torques of the last step.",
  };
  *preset = (mjgPreset){.name = s->name,
                        .title = s->title,
                        .source = kServoSource,
                        .remark = remark[s->model],
                        .description = {.type = mjgTYPE_COEFFICIENTS},
                        .torque_constant = s->torque_constant,
                        .resistance = s->resistance};
  for (size_t k = 0; k < sizeof(kServoKey) / sizeof(*kServoKey); k++) {
    if (s->model >= kServoKey[k].model) {
      mjg_give(&preset->description, kServoKey[k].key, s->value[k]);
    }
  }
}


int mjg_presetCount(void) {
  return NGENERIC + NSERVO;
}


int mjg_preset(mjgPreset* preset, int i) {
  if (!preset || i < 0 || i >= mjg_presetCount()) {
    return mjgERR_ARGUMENT;
  }
  if (i < NGENERIC) {
    genericPreset(preset, &kGeneric[i]);
  } else {
    servoPreset(preset, &kServo[i - NGENERIC]);
  }
  return mjgSOLVED;
}


int mjg_presetFromName(const char* name) {
  for (int i = 0; name && i < mjg_presetCount(); i++) {
    mjgPreset preset;
    if (mjg_preset(&preset, i) == mjgSOLVED && strcmp(name, preset.name) == 0) {
      return i;
    }
  }
  return -1;
}
