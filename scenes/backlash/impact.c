// Two bodies with play: Ruderman, "On stiffness and damping of vibro-impact dynamics of backlash",
// Figs. 5, 6 and 7. The paper's figures have no units; masses, stiffness and forces are our choice.

#include <math.h>

#include "../scene.h"

#define PI       3.14159265358979323846
#define HALF_GAP 0.01
#define DRIVING  1.0  // masses, kg
#define DRIVEN   2.0

#define STIFFNESS   parameter[0]
#define RESTITUTION parameter[1]  // alpha, s/m
#define SPEED       parameter[2]  // with which the driving body starts, m/s


// viscous friction b_1, b_2 of both bodies
static void addFriction(mjModel* m, const mjgCase* variant) {
  (void)variant;
  m->dof_damping[0] = 2;
  m->dof_damping[1] = 10;
}


// displacement of the bodies, and the force between them
static const char* const column[] = {"x", "v", "force", NULL};

static void measure(double* value, const mjModel* m, const mjData* d) {
  double h = m->opt.timestep;
  value[0] = d->qpos[0] - d->qpos[1] - h * (d->qvel[0] - d->qvel[1]);
  value[1] = d->qvel[0] - d->qvel[1] - h * (d->qacc[0] - d->qacc[1]);
  value[2] = d->sensordata[3];
}


static const double* rowAt(const mjgTrajectory* t, int i) {
  return t->data + (size_t)i * (size_t)t->ncolumn;
}


// part of the rows between two times in which the gap is open
static double openPart(const mjgTrajectory* t, double from, double to) {
  int c = mjg_column(t, "x"), time = mjg_column(t, "time"), n = 0, open = 0;
  for (int i = 0; i < t->nrow; i++) {
    double now = rowAt(t, i)[time];
    if (now >= from && now < to) {
      n++;
      open += fabs(rowAt(t, i)[c]) < HALF_GAP;
    }
  }
  return n ? (double)open / n : NAN;
}


// number of impacts
static int impacts(const mjgTrajectory* t) {
  int c = mjg_column(t, "force"), n = 0;
  for (int i = 1; i < t->nrow; i++) {
    n += rowAt(t, i)[c] != 0 && rowAt(t, i - 1)[c] == 0;
  }
  return n;
}


//---------------------------------- Fig. 5 --------------------------------------------------------

static const mjgCase vibroCase[] = {
    {.name = "vibro-impact", .setting = {{"play", "restitution", "5"}}},
    {.name = "deadzone",
     .setting = {{"play", "backlash", "deadzone"}, {"play", "restitution", "0"}}},
};


static void slowInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  (void)m;
  (void)variant;
  d->ctrl[0] = 10 * sin(2 * PI * 0.5 * d->time);
}


static void vibroClaims(mjgClaims* claims, const mjgRun* run) {
  double settled = 0, ringing = 1;
  for (int half = 1; half < 6; half++) {
    settled = fmax(settled, openPart(run[0].trajectory, half + 0.7, half + 0.95));
    ringing = fmin(ringing, openPart(run[1].trajectory, half + 0.7, half + 0.95));
  }
  mjg_claim(claims, settled == 0,
            "with vibro-impact the bodies are engaged late in each half period: open %.0f %% of it",
            100 * settled);
  mjg_claim(claims, ringing > 0.5,
            "with the dead zone they keep ringing: open at least %.0f %% of that time",
            100 * ringing);
  mjg_claim(claims, impacts(run[1].trajectory) > 2 * impacts(run[0].trajectory),
            "%d impacts instead of %d", impacts(run[1].trajectory), impacts(run[0].trajectory));
}


const mjgScene mjg_sceneVibro = {
    .name = "vibro",
    .description = "slow swings through a gap: vibro-impact and dead zone (Ruderman, Fig. 5)",
    .xml = "backlash/impact.xml",
    .duration = 6,
    .variant = vibroCase,
    .nvariant = sizeof vibroCase / sizeof *vibroCase,
    .configure = addFriction,
    .input = slowInput,
    .column = column,
    .measure = measure,
    .claims = vibroClaims,
};


//---------------------------------- Fig. 6 --------------------------------------------------------

#define IMPACT(k, alpha)                                                                    \
  {                                                                                         \
    .name = "k=" #k "-alpha=" #alpha,                                                       \
    .setting = {{"play", "stiffness", #k}, {"play", "restitution", #alpha}}, .parameter = { \
      k,                                                                                    \
      alpha,                                                                                \
      0.5                                                                                   \
    }                                                                                       \
  }

static const mjgCase impactCase[] = {
    IMPACT(100000, 0.1),
    IMPACT(100000, 1),
    IMPACT(500000, 0.1),
    IMPACT(500000, 1),
};


static void throwInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  (void)m;
  if (d->time == 0) {
    d->qvel[0] = variant->SPEED;
  }
}


static void impactClaims(mjgClaims* claims, const mjgRun* run) {
  double mass = DRIVING * DRIVEN / (DRIVING + DRIVEN);
  for (int i = 0; i < 4; i++) {
    // (6): one side of the cycle is 1.5 alpha k times the integral of z v dz
    const mjgTrajectory* t = run[i].trajectory;
    int x = mjg_column(t, "x");
    double area = 0;
    for (int k = 1; k < t->nrow; k++) {
      double a = rowAt(t, k - 1)[x], b = rowAt(t, k)[x];
      double z = 0.5 * (a + b) - HALF_GAP, h = 2e-4;
      area += fmax(z, 0) * (b - a) / h * (b - a);
    }
    double formula = 1.5 * run[i].variant->RESTITUTION * run[i].variant->STIFFNESS * area;
    double in = run[i].variant->SPEED, out = mjg_at(t, "v", 0.06);
    double loss = 0.5 * mass * (in * in - out * out);
    mjg_claim(claims, out < 0 && fabs(formula - loss) < 0.01 * loss,
              "%s: energy lost in the impact %.5f J, by (6) %.5f J", run[i].variant->name, loss,
              formula);
  }
  double soft = mjg_highest(run[0].trajectory, "x", 0, 1);
  double stiff = mjg_highest(run[2].trajectory, "x", 0, 1);
  mjg_claim(claims, stiff - HALF_GAP < 0.6 * (soft - HALF_GAP),
            "five times the stiffness penetrates less: %.4f and %.4f m", stiff - HALF_GAP,
            soft - HALF_GAP);
  double elastic = -mjg_at(run[0].trajectory, "v", 0.06);
  double lossy = -mjg_at(run[1].trajectory, "v", 0.06);
  mjg_claim(claims, lossy < 0.8 * elastic,
            "ten times alpha opens the loop: 0.5 m/s come back with %.3f and %.3f m/s", lossy,
            elastic);
}


const mjgScene mjg_sceneImpact = {
    .name = "impact",
    .description = "force over penetration of one impact (Ruderman, Fig. 6)",
    .xml = "backlash/impact.xml",
    .duration = 0.065,
    .variant = impactCase,
    .nvariant = sizeof impactCase / sizeof *impactCase,
    .input = throwInput,
    .column = column,
    .measure = measure,
    .claims = impactClaims,
};


//---------------------------------- Fig. 7 --------------------------------------------------------

static const mjgCase decayCase[] = {
    {.name = "alpha=20", .setting = {{"play", "restitution", "20"}}},
    {.name = "alpha=1", .setting = {{"play", "restitution", "1"}}},
    {.name = "alpha=100", .setting = {{"play", "restitution", "100"}}},
};


static void pushInput(const mjModel* m, mjData* d, const mjgCase* variant) {
  (void)m;
  (void)variant;
  d->ctrl[0] = 5;
}


static void decayClaims(mjgClaims* claims, const mjgRun* run) {
  int some = impacts(run[0].trajectory), many = impacts(run[1].trajectory);
  int one = impacts(run[2].trajectory);
  mjg_claim(claims, many > 3 * some && some > one,
            "the smaller alpha, the more it bounces: %d, %d, %d impacts for 1, 20, 100 s/m", many,
            some, one);
  mjg_claim(claims, one == 1, "for a large alpha the impact is all but critically damped");
  double open = openPart(run[1].trajectory, 1.2, 1.5);
  mjg_claim(claims, open == 0, "all come to rest engaged: open %.0f %% of the end", 100 * open);
}


const mjgScene mjg_sceneDecay = {
    .name = "decay",
    .description = "a push closes the gap: bounces for several alpha (Ruderman, Fig. 7)",
    .xml = "backlash/impact.xml",
    .duration = 1.5,
    .variant = decayCase,
    .nvariant = sizeof decayCase / sizeof *decayCase,
    .configure = addFriction,
    .input = pushInput,
    .column = column,
    .measure = measure,
    .claims = decayClaims,
};
