// A gap with a given bounce: the law of Hunt and Crossley that gives back a measured share of an impact's speed, and
// one impact of a freely turning link on the flank of its gear's tooth.
//
//     cc impact.c $(pkg-config --cflags --libs mjgear) -lm -o impact && ./impact

#include <math.h>
#include <stdio.h>

#include <mjgear_backlash.h>

int main(void) {
  // a catalogue's 20 minutes of arc of backlash, and steel on steel: 80 % of the speed at 0.5 rad/s
  const double inertia = 0.2, speed = 0.5, bounce = 0.8, h = 2e-5;
  mjgBacklash law = {.model = mjgHUNT_CROSSLEY,
                     .half_gap = mjg_arcmin(20) / 2,
                     .stiffness = 1e6,
                     .exponent = 1.5,
                     .restitution = mjg_alphaFromRestitution(bounce, speed)};
  const char* error = mjg_backlashError(&law);
  if (error) {
    puts(error);
    return 1;
  }

  // the other side stands still: the row is the link's own velocity, which a torque T changes by -h T/inertia
  mjgCoupling coupling = {.law = &law, .h = h, .omega_d = speed};
  coupling.blend = mjg_couplingBlend(&law, h / inertia, h);
  double largest = 0, stored = 0, time = 0;
  while (coupling.omega_d > 0 || coupling.theta_d > law.half_gap) {
    mjgCouplingStep step;
    mjg_couplingResolve(&step, &coupling, coupling.omega_d, h / inertia);
    coupling.omega_d = step.omega_d;
    coupling.theta_d += h * step.omega_d;
    largest = fmax(largest, step.T);
    stored = fmax(stored, mjg_backlashEnergy(&law, coupling.theta_d, 0, 0));
    time += coupling.theta_d > law.half_gap ? h : 0;
  }
  printf("alpha %.4f s/rad: in with %.3f rad/s, out with %.3f rad/s, %.1f %% of it\n",
         law.restitution, speed, -coupling.omega_d, -100 * coupling.omega_d / speed);
  printf("contact for %.2f ms, at most %.0f N m, at most %.1f of %.1f mJ in the teeth\n",
         1e3 * time, largest, 1e3 * stored, 1e3 * 0.5 * inertia * speed * speed);
  return 0;
}
