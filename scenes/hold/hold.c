// Holding friction: of a gear, and of the engine at its defaults and tuned. frictionloss is a
// regularized constraint and creeps; springyield is a spring that yields.

#include "../helpers.h"

#define NOSLIP parameter[1]  // iterations
#define MOST   parameter[2]  // that a joint of a tuned rival may turn in a minute, rad

#define END   60.0
#define SHORT 2.0  // after so long the defaults are away
#define LAST  10.0

#define IDEAL "gear.coulomb=0"

static const mjgCase holdCase[] = {
    {"gear", NULL, {mjgRIVAL_NONE}},
    {"frictionloss", IDEAL, {mjgRIVAL_LOSS}},
    {"frictionloss-noslip", IDEAL, {mjgRIVAL_LOSS, 10}},
    {"frictionloss-solimp", IDEAL, {mjgRIVAL_SOLIMP, 0, 5e-3}},
    {"frictionloss-solimp-solref", IDEAL, {mjgRIVAL_SOLREF, 0, 1e-3}},
#if mjgHAS_YIELD
    {"springyield", IDEAL, {mjgRIVAL_YIELD, 0, 1e-2}},
    {"springyield-damped", IDEAL, {mjgRIVAL_YIELD_DAMPED, 0, 5e-4}},
#endif
};
#define NCASE mjgCOUNT(holdCase)

static void configure(mjModel* m, const mjgCase* variant) {
  static const double bound[] = {30, 15, 4};
  m->opt.noslip_iterations = (int)variant->NOSLIP;
  for (int i = 0; i < 3; i++) {
    mjg_setRival(m, i, mjgRIVAL(variant), bound[i]);
  }
}

// largest turn of a joint from the beginning until some time
static double droop(const mjgTrajectory* run, double until) { return mjg_largestSize(run, "q_*", 0, until); }

// largest velocity of a joint in the last seconds
static double rate(const mjgTrajectory* run) { return mjg_largestSize(run, "v_*", END - LAST, END); }

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double turn = droop(&run[0], END);
  mjg_claim(claims, turn <= 1e-9, "held for %g s, the arm turns by %.2g rad, at most 1e-9", END, turn);
  for (int i = 1; i < NCASE; i++) {
    const char* name = run[i].variant->name;
    double minute = droop(&run[i], END), most = run[i].variant->MOST;
    switch (mjgRIVAL(run[i].variant)) {
      case mjgRIVAL_LOSS:
        turn = droop(&run[i], SHORT);
        mjg_claim(claims, turn > 1e-2 && minute > 0.2, "%s droops by %.3f rad in %g s, by %.2f rad in a minute", name,
                  turn, SHORT, minute);
        break;
      case mjgRIVAL_SOLIMP:
      case mjgRIVAL_SOLREF:
        mjg_claim(claims, minute < most && rate(&run[i]) > 1e-6,
                  "%s holds to %.1e rad in a minute and creeps on, by %.1e rad/s", name, minute, rate(&run[i]));
        break;
      case mjgRIVAL_YIELD:
        mjg_claim(claims, minute < most && rate(&run[i]) > 1e-6,
                  "%s holds to %.1e rad in a minute and rings, with %.1e rad/s", name, minute, rate(&run[i]));
        break;
      default:
        mjg_claim(claims, minute < most && rate(&run[i]) < 1e-12,
                  "%s holds to %.1e rad in a minute and stands, at %.1e rad/s", name, minute, rate(&run[i]));
    }
  }
}

mjgSCENE(Hold, "hold", "hold/hold.xml", END,
         "Dry friction of a gear holds an arm for a minute without creep. Beside it MuJoCo's own friction, at its "
         "defaults and tuned.",
         .shown = "gear", .moment = 0.5, .beside = "frictionloss,frictionloss-solimp-solref,springyield-damped",
         .joint = "shoulder", mjgCASES(holdCase), .specify = mjg_reserveRival, .configure = configure, .claims = claims,
         .nsolved = 1);
