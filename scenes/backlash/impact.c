// Two bodies with play: Ruderman, "On stiffness and damping of vibro-impact dynamics of backlash",
// Figs. 4 to 7 and IV.A. The paper's figures have no units; masses, stiffness and forces are our choice.

#include "../helpers.h"
#include "configuration/sensors.h"
#include "mjgear_backlash.h"

#define HALF_GAP 0.01
#define DRIVING  1.0  // masses, kg
#define DRIVEN   2.0

#define STIFFNESS   parameter[0]
#define RESTITUTION parameter[1]  // alpha, s/m
#define SPEED       parameter[2]  // initial speed of the driving body, m/s
#define EXPONENT    parameter[3]  // n, 0 means 1

// viscous friction b_1, b_2 of both bodies
#define FRICTION "; joint:driving.damping=2; joint:driven.damping=10"

// displacement of the bodies, and the force between them
static void measure(double* value, const mjModel* m, const mjData* d) {
  double h = m->opt.timestep;
  value[0] = d->qpos[0] - d->qpos[1] - h * (d->qvel[0] - d->qvel[1]);
  value[1] = d->qvel[0] - d->qvel[1] - h * (d->qacc[0] - d->qacc[1]);
  value[2] = d->sensordata[mjgSENSOR_TORQUE_OUT];
}

// the driving body is thrown; with a soft contact without loss, bodies rattle between the sides of the gap
static void throwInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  if (d->time == 0) {
    d->qvel[0] = variant->SPEED;
  }
}

static int isOpen(double x) { return fabs(x) < HALF_GAP; }

// part of the rows between two times in which the gap is open
static double openPart(const mjgTrajectory* t, double from, double to) { return mjg_share(t, "x", from, to, isOpen); }

// number of impacts
static int impacts(const mjgTrajectory* t) { return mjg_events(t, "force", 0, INFINITY, mjg_isNotZero).n; }

//---------------------------------- Fig. 5 --------------------------------------------------------

#define FREQUENCY parameter[0]  // of the push, Hz
#define PUSH      10.0          // N

#define VIBRO_IMPACT "play.restitution=5" FRICTION "; option.timestep=5e-4"
#define DEADZONE     "play.backlash=deadzone; play.restitution=0" FRICTION "; option.timestep=5e-4"

static const mjgCase vibroCase[] = {
    {"vibro-impact", VIBRO_IMPACT, {0.5}}, {"deadzone", DEADZONE, {0.5}},           {"deadzone-1Hz", DEADZONE, {1}},
    {"deadzone-2Hz", DEADZONE, {2}},       {"vibro-impact-2Hz", VIBRO_IMPACT, {2}},
};
enum { VIBRO, DEAD, DEAD1, DEAD2, VIBRO2 };

static void slowInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  d->ctrl[0] = PUSH * sin(2 * mjPI * variant->FREQUENCY * d->time);
}

// irregularity of a periodic motion: distance between the displacements of two successive
// periods, root mean square over the last periods, in half gaps
static double irregularity(const mjgTrajectory* run, double end) {
  double period = 1 / run->variant->FREQUENCY, sum = 0;
  int n = 0;
  for (double time = 2 + period; time < end - 1e-3; time += 1e-3, n++) {
    double change = mjg_at(run, "x", time) - mjg_at(run, "x", time - period);
    sum += change * change;
  }
  return sqrt(sum / n) / HALF_GAP;
}

static void vibroClaims(mjgClaims* claims, const mjgTrajectory* run) {
  double settled = 0, ringing = 1;
  for (int half = 1; half < 6; half++) {
    settled = fmax(settled, openPart(&run[VIBRO], half + 0.7, half + 0.95));
    ringing = fmin(ringing, openPart(&run[DEAD], half + 0.7, half + 0.95));
  }
  mjg_claim(claims, settled == 0,
            "with vibro-impact the bodies are engaged late in each half period: open %.0f %% of it", 100 * settled);
  mjg_claim(claims, ringing > 0.5, "with the dead zone they keep ringing: open at least %.0f %% of that time",
            100 * ringing);
  mjg_claim(claims, impacts(&run[DEAD]) > 2 * impacts(&run[VIBRO]), "%d impacts instead of %d", impacts(&run[DEAD]),
            impacts(&run[VIBRO]));

  // faster inputs: the dead zone never engages and does not repeat itself
  double open[3], apart[3];
  for (int i = 0; i < 3; i++) {
    open[i] = openPart(&run[DEAD + i], 2, 6);
    apart[i] = irregularity(&run[DEAD + i], 6);
  }
  double regular = irregularity(&run[VIBRO2], 6);
  mjg_claim(claims, open[2] > open[0] && apart[2] > 0.3 && regular < 0.3 * apart[2],
            "the dead zone rings more as the input gets faster: open %.0f, %.0f, %.0f %% of the time at 0.5, 1, 2 Hz",
            100 * open[0], 100 * open[1], 100 * open[2]);
  mjg_claim(claims, apart[2] > 0.3 && regular < 0.3 * apart[2],
            "and becomes irregular: successive periods differ by %.2f, %.2f, %.2f half gaps, with vibro-impact at 2 Hz "
            "by %.3f",
            apart[0], apart[1], apart[2], regular);

  // Fig. 4: the map over x_1, x_2 is a loop as wide as the gap; the dead zone fills it with waves
  double width[2], inside[2];
  for (int i = 0; i < 2; i++) {
    const mjgTrajectory* t = &run[i];
    width[i] = mjg_swing(t, "x", 2, 6);
    inside[i] = openPart(t, 2, 6);
  }
  mjg_claim(claims, fabs(width[VIBRO] / (2 * HALF_GAP) - 1) < 0.1 && inside[DEAD] > 2 * inside[VIBRO],
            "Fig. 4: the loop over x1, x2 is %.4f m wide, 2 beta = %.4f m; the dead zone is inside of it %.0f %% of "
            "the time, vibro-impact %.0f %%",
            width[VIBRO], 2 * HALF_GAP, 100 * inside[DEAD], 100 * inside[VIBRO]);
}

mjgSCENE(Vibro, "vibro", "backlash/impact.xml", 6,
         "A body swings slowly through a gap. The vibro-impact model engages late and the dead zone model rings "
         "(Ruderman, Fig. 5).",
         mjgCASES(vibroCase), .input = slowInput, .column = "x v force", .measure = measure, .claims = vibroClaims);

//---------------------------------- Fig. 6 --------------------------------------------------------

static const mjgCase impactCase[] = {
    {"k=100000-alpha=0.1", "play.stiffness=100000; play.restitution=0.1", {100000, 0.1, 0.5}},
    {"k=100000-alpha=1", "play.stiffness=100000; play.restitution=1", {100000, 1, 0.5}},
    {"k=500000-alpha=0.1", "play.stiffness=500000; play.restitution=0.1", {500000, 0.1, 0.5}},
    {"k=500000-alpha=1", "play.stiffness=500000; play.restitution=1", {500000, 1, 0.5}},
    {"hertz-alpha=0.1", "play.exponent=1.5; play.stiffness=5000000; play.restitution=0.1", {5e6, 0.1, 0.5, 1.5}},
    {"hertz-alpha=1", "play.exponent=1.5; play.stiffness=5000000; play.restitution=1", {5e6, 1, 0.5, 1.5}},
};

static void impactClaims(mjgClaims* claims, const mjgTrajectory* run) {
  double mass = DRIVING * DRIVEN / (DRIVING + DRIVEN);
  for (int i = 0; i < 6; i++) {
    // (6): one side of the cycle is 1.5 alpha k times the integral of z^n v dz
    double exponent = run[i].variant->EXPONENT > 0 ? run[i].variant->EXPONENT : 1;
    const mjgTrajectory* t = &run[i];
    int x = mjg_column(t, "x");
    double area = 0;
    for (int k = 1; k < t->nrow; k++) {
      double a = mjg_row(t, k - 1)[x], b = mjg_row(t, k)[x];
      double z = 0.5 * (a + b) - HALF_GAP, h = 2e-4;
      area += pow(fmax(z, 0), exponent) * (b - a) / h * (b - a);
    }
    double formula = 1.5 * run[i].variant->RESTITUTION * run[i].variant->STIFFNESS * area;
    double in = run[i].variant->SPEED, out = mjg_at(t, "v", 0.06);
    double loss = 0.5 * mass * (in * in - out * out);
    mjg_claim(claims, out < 0 && fabs(formula - loss) < 0.01 * loss,
              "%s: energy lost in the impact %.5f J, by (6) %.5f J", run[i].variant->name, loss, formula);
  }

  // the coefficient of restitution does not depend on stiffness and exponent
  for (int i = 0; i < 6; i++) {
    double v = run[i].variant->SPEED, e = -mjg_at(&run[i], "v", 0.06) / v;
    double expected = mjg_restitutionFromAlpha(run[i].variant->RESTITUTION, v);
    mjg_claim(claims, fabs(e - expected) < 5e-3,
              "%s: comes back with %.4f of its speed, %.4f in closed form, 1 - alpha v = %.4f", run[i].variant->name, e,
              expected, 1 - run[i].variant->RESTITUTION * v);
  }
  double soft = mjg_highest(&run[0], "x", 0, 1);
  double stiff = mjg_highest(&run[2], "x", 0, 1);
  mjg_claim(claims, stiff - HALF_GAP < 0.6 * (soft - HALF_GAP),
            "five times the stiffness penetrates less: %.4f and %.4f m", stiff - HALF_GAP, soft - HALF_GAP);
  double elastic = -mjg_at(&run[0], "v", 0.06);
  double lossy = -mjg_at(&run[1], "v", 0.06);
  mjg_claim(claims, lossy < 0.8 * elastic, "ten times alpha opens the loop: 0.5 m/s come back with %.3f and %.3f m/s",
            lossy, elastic);
}

mjgSCENE(Impact, "impact", "backlash/impact.xml", 0.065,
         "A body strikes the edge of a gap. The plot shows contact force over penetration (Ruderman, Fig. 6).",
         mjgCASES(impactCase), .input = throwInput, .column = "x v force", .measure = measure, .claims = impactClaims);

//---------------------------------- Fig. 7 --------------------------------------------------------

static const mjgCase decayCase[] = {
    {"alpha=20", "play.restitution=20" FRICTION},
    {"alpha=1", "play.restitution=1" FRICTION},
    {"alpha=100", "play.restitution=100" FRICTION},
};

static void pushInput(const mjModel* m, mjData* d, const mjgCase* variant) { d->ctrl[0] = 5; }

static void decayClaims(mjgClaims* claims, const mjgTrajectory* run) {
  int some = impacts(&run[0]), many = impacts(&run[1]);
  int one = impacts(&run[2]);
  mjg_claim(claims, many > 3 * some && some > one,
            "the smaller alpha, the more it bounces: %d, %d, %d impacts for 1, 20, 100 s/m", many, some, one);
  mjg_claim(claims, one == 1, "for a large alpha the impact is all but critically damped");
  double open = openPart(&run[1], 1.2, 1.5);
  mjg_claim(claims, open == 0, "all come to rest engaged: open %.0f %% of the end", 100 * open);
}

mjgSCENE(
    Decay, "decay", "backlash/impact.xml", 1.5,
    "A push closes the gap, and the body bounces. The damping parameter alpha decides how often (Ruderman, Fig. 7).",
    mjgCASES(decayCase), .input = pushInput, .column = "x v force", .measure = measure, .claims = decayClaims);

//---------------------------------- IV.A ----------------------------------------------------------

#define SPRING 2000.0  // between the bodies, of the case without play as of those with it, N/m

static const mjgCase rattleCase[] = {
    {"play", NULL, {0, 0, 0.4}},
    {"play-slow", NULL, {0, 0, 0.1}},
    {"no-play", "play.half_gap=0", {0, 0, 0.4}},
    {"lossy", "play.restitution=0.02", {0, 0.02, 0.4}},
};

// mean period of the displacement between its first and its last upward passage through 0
static double period(int* n, double* first, double* last, const mjgTrajectory* t) {
  int x = mjg_column(t, "x"), time = mjg_column(t, "time");
  *n = -1;
  for (int i = 1; i < t->nrow; i++) {
    double a = mjg_row(t, i - 1)[x], b = mjg_row(t, i)[x];
    if (a < 0 && b >= 0) {
      double now = mjg_row(t, i - 1)[time] - a / (b - a) * (mjg_row(t, i)[time] - mjg_row(t, i - 1)[time]);
      *first = *n < 0 ? now : *first;
      *last = now;
      (*n)++;
    }
  }
  return (*last - *first) / *n;
}

static void rattleClaims(mjgClaims* claims, const mjgTrajectory* run) {
  double mass = DRIVING * DRIVEN / (DRIVING + DRIVEN), first = 0, last = 0;
  int n;

  // half a period of the spring on each side, and twice the time through the gap
  double natural = 2 * mjPI * sqrt(mass / SPRING), measured[3];
  for (int i = 0; i < 3; i++) {
    double gap = i == 2 ? 0 : HALF_GAP, speed = run[i].variant->SPEED;
    double expected = natural + 4 * gap / speed;
    measured[i] = period(&n, &first, &last, &run[i]);
    mjg_claim(claims, fabs(measured[i] / expected - 1) < 0.005, "%s: period %.5f s, 2 pi sqrt(m/k) + 4 beta/v = %.5f s",
              run[i].variant->name, measured[i], expected);
  }
  mjg_claim(claims, measured[1] > measured[0] && measured[0] > measured[2],
            "play lowers the eigenfrequency, the more the smaller the swing: %.2f, %.2f and %.2f Hz without play",
            1 / measured[1], 1 / measured[0], 1 / measured[2]);

  // power: (6) for each cycle, omega_0/(2 pi) cycles a second
  const mjgTrajectory* t = &run[3];
  double mean = period(&n, &first, &last, t), work = 0, h = mjg_row(t, 1)[0];
  int x = mjg_column(t, "x"), v = mjg_column(t, "v"), time = mjg_column(t, "time");
  double start = 0, stop = 0;
  for (int i = 1; i < t->nrow; i++) {
    if (mjg_row(t, i)[time] >= first && mjg_row(t, i)[time] < last) {
      double a = mjg_row(t, i - 1)[x], b = mjg_row(t, i)[x], z = fabs(0.5 * (a + b)) - HALF_GAP;
      work += 1.5 * 0.02 * SPRING * fmax(z, 0) * (b - a) / h * (b - a);
      start = start > 0 ? start : mjg_row(t, i)[v];
      stop = mjg_row(t, i)[v];
    }
  }
  double cycle = work / n, power = 0.5 * mass * (start * start - stop * stop) / (last - first);
  mjg_claim(claims, fabs(power * mean / cycle - 1) < 0.02 && n > 3,
            "power lost over %d cycles %.5f W, by (6) omega_0/(2 pi) times %.5f J: %.5f W", n, power, cycle,
            cycle / mean);
}

mjgSCENE(Rattle, "rattle", "backlash/rattle.xml", 2,
         "A body on a spring rattles in its play, which lowers its frequency and takes power (Ruderman, IV.A).",
         mjgCASES(rattleCase), .input = throwInput, .column = "x v force", .measure = measure, .claims = rattleClaims);
