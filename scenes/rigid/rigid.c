#include "../helpers.h"

#define LOCKED parameter[0]  // both gears cannot be driven back

#define CASE(u, v, cone, locked)                                                               \
  {                                                                                            \
    "gamma_v=" #u "," #v "-" cone, "gear.gamma_v=" #u " " #v "; option.cone=" cone, { locked } \
  }
#define CASES(cone)                                                                                   \
  CASE(1.1, 1.1, cone, 1), CASE(1.1, 0.1, cone, 0), CASE(0.1, 1.1, cone, 0), CASE(0.6, 0.6, cone, 0), \
      CASE(0.1, 0.1, cone, 0)

static const mjgCase rigidCase[] = {CASES("pyramidal"), CASES("elliptic")};
#define NCASE mjgCOUNT(rigidCase)

// the wall moves 0.25 m in half a second and stays
static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->mocap_pos[0] = 1.52 - 0.25 * fmin(1, d->time / 0.5);
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  for (int i = 0; i < NCASE; i++) {
    const mjgTrajectory* t = &run[i];
    double x = mjg_swing(t, "px", 0, 1);
    double y = mjg_swing(t, "py", 0, 1), moved = hypot(x, y);
    if (run[i].variant->LOCKED > 0) {
      mjg_claim(claims, moved <= 1e-6, "%s: the wall moves the tip by %.2g m, at most 1e-6", run[i].variant->name,
                moved);
    }
  }
}

mjgSCENE(Rigid, "rigid", "rigid/rigid.xml", 1,
         "A rigid wall is moved into an arm with self-locking gears. The arm stands still to the last bit, because "
         "friction and contact are one problem.",
         mjgCASES(rigidCase), .input = input, .column = "px=site:tip.x py=site:tip.y", .claims = claims,
         .nsolved = NCASE);
