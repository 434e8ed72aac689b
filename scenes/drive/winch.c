#include "../helpers.h"

#define OFF 1.0  // the motor is off
#define ON  3.0  // and on again
#define END 4.0

#define TORQUE  30.0  // of the motor, N m
#define ROTOR   0.3
#define INERTIA (0.05 + 20 * 0.01)        // of drum and load, kg m2
#define LOAD    (20 * 9.81 * 0.1)         // N m
#define FORWARD ((1 - 0.05) / (1 + 0.1))  // efficiency when the motor drives
#define BACK    ((1 - 0.1) / (1 + 0.05))  // and when the load does

#define PITCH 0.3  // of the ratchet's teeth, rad

static const mjgCase winchCase[] = {{"backstop"}, {"ratchet", "gear.tooth_pitch=0.3"}};

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = mjg_within(d->time, OFF, ON) ? 0 : TORQUE;
}

// a drum with teeth falls back from its highest position, with the inertia that the load has when it drives, to the
// tooth below
static void claimRatchet(mjgClaims* claims, const mjgTrajectory* t, double from) {
  const double step = 0.0005;
  double top = mjg_highest(t, "q_drum", OFF, ON), tooth = PITCH * floor(top / PITCH);
  double fall = LOAD / (INERTIA + ROTOR / BACK), hit = sqrt(2 * fall * (top - tooth));
  double stop = mjg_at(t, "q_drum", ON), fastest = -mjg_lowest(t, "v_drum", from, ON);
  mjg_claim(claims, stop <= tooth && stop > tooth - hit * step * 1.01,
            "a ratchet falls back by %.4f rad, to %.4g rad behind its tooth; a step moves it by %.2g", top - stop,
            tooth - stop, hit * step);
  mjg_claim(claims, fabs(fastest - hit) < 0.01 * hit, "it arrives there with %.4f rad/s, by the closed form %.4f",
            fastest, hit);
  double arrived = from + hit / fall + 0.02;
  double rate = mjg_size(t, "v_drum", arrived, ON);
  mjg_claim(claims, rate == 0, "and holds: largest velocity %g rad/s, exactly 0", rate);
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  // the motor drives: (M + eta m) a = eta T - W. It is off, and the rotor drives on: (M + eta m) a = -W
  double up = (FORWARD * TORQUE - LOAD) / (INERTIA + FORWARD * ROTOR);
  double speed = mjg_at(run, "v_drum", OFF);
  mjg_claim(claims, fabs(speed - up * OFF) < 1e-3 * up, "it winds with %.4f rad/s2, by the closed form %.4f",
            speed / OFF, up);
  double slow = LOAD / (INERTIA + FORWARD * ROTOR), coast = speed * speed / (2 * slow);
  double coasted = mjg_at(run, "q_drum", ON) - mjg_at(run, "q_drum", OFF);
  mjg_claim(claims, fabs(coasted - coast) < 2e-3 * coast,
            "without power it turns on by %.4f rad, by the closed form %.4f", coasted, coast);
  double from = OFF + speed / slow + 0.01;
  double rate = mjg_size(run, "v_drum", from, ON);
  double sinks = mjg_at(run, "q_drum", from) - mjg_lowest(run, "q_drum", from, ON);
  mjg_claim(claims, rate == 0 && sinks == 0,
            "then the backstop holds: largest velocity %g rad/s, the drum sinks by %g rad, both exactly 0", rate,
            sinks);
  double again = mjg_at(run, "v_drum", END);
  mjg_claim(claims, fabs(again - up * (END - ON)) < 1e-3 * up, "and it winds on with %.4f rad/s2", again);
  claimRatchet(claims, &run[1], from - 0.01);
}

mjgSCENE(Winch, "winch", "drive/winch.xml", END, "A winch winds a load up. Without power a backstop holds it.",
         .moment = 0.5, mjgCASES(winchCase), .input = input, .claims = claims, .nsolved = 2);
