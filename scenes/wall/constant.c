// Limits of constant friction: Kikuuwe 2022, 6.2. Arm and wall of contact.c with gears that cannot
// be driven back, and with the engine's own friction that is small or large.

#include "script.h"

// frictionloss of both joints, N m
#define FRICTION parameter[3]

#define IDEAL "gear.gamma_u=0; gear.gamma_v=0; flag.eulerdamp=enable"

static const mjgCase constantCase[] = {{mjgWALL_CASE(1.1, 1.1, 1, "", "; flag.eulerdamp=enable")},
                                       {"frictionloss=100", IDEAL, {0, 0, 1, 100}},
                                       {"frictionloss=4000", IDEAL, {0, 0, 1, 4000}}};

enum { GEAR, SMALL, LARGE };

static void configure(mjModel* m, const mjgCase* variant) {
  for (int i = 0; i < 2; i++) {
    m->dof_frictionloss[i] = variant->FRICTION;

    // as hard as the engine allows, so that it creeps little
    m->dof_solref[mjNREF * i] = 2 * m->opt.timestep;
    m->dof_solimp[mjNIMP * i] = m->dof_solimp[mjNIMP * i + 1] = 0.9999;
  }
}

static void measure(double* value, const mjModel* m, const mjData* d) { value[3] = 0 - mjg_contact(m, d, NULL, NULL); }

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double kept[3], gap[3];
  for (int i = 0; i < 3; i++) {
    const mjgTrajectory* t = &run[i];
    kept[i] = -mjg_at(t, "fx", 2.45);
    gap[i] = mjg_at(t, "wx", 2.999) - mjg_at(t, "px", 2.999);
  }
  mjg_claim(
      claims, kept[GEAR] > 500 && gap[GEAR] > 0.01,
      "gears: the motors push with 500 N, the arm keeps %.0f N without them, and they pull it off by %.3f m with 500 N",
      kept[GEAR], gap[GEAR]);
  mjg_claim(claims, kept[SMALL] < 0.5 * kept[GEAR] && gap[SMALL] > 0.01,
            "constant friction of 100 N m: they pull it off by %.3f m, and it keeps %.0f N, not %.0f", gap[SMALL],
            kept[SMALL], kept[GEAR]);
  mjg_claim(claims, kept[LARGE] > 0.5 * kept[GEAR] && gap[LARGE] < 0.01,
            "constant friction of 4000 N m: it keeps %.0f N, and they cannot pull it off: %.4f m", kept[LARGE],
            gap[LARGE]);
}

mjgSCENE(WallConstant, "wall-constant", "wall/contact.xml", mjgWALL_DURATION,
         "Constant friction in place of the gears of the arm. A small constant does not keep the contact force, and "
         "with a large one the motors cannot pull the arm off (Kikuuwe, 6.2).",
         .beside = "all", .joint = "elbow", mjgCASES(constantCase), .configure = configure, .input = mjg_wallInput,
         .column = mjgWALL_COLUMNS, .measure = measure, .claims = claims);
