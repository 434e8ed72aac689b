// Sim to real: a simulated servo gets the goals of a real one, with this gear and with MuJoCo's
// friction, each fitted to other logs by the command of doc/identify.md. Measured by the Rhoban
// team (data/xl330).

#include <pthread.h>
#include <zlib.h>

#include "../helpers.h"
#include "../load.h"

#define CONSTANT   parameter[0]  // of the motor, N m/A
#define RESISTANCE parameter[1]  // ohm
#define ARMATURE   parameter[2]  // kg m2
#define DAMPING    parameter[3]  // N m s/rad
#define LOSS       parameter[4]  // MuJoCo's friction, N m
#define OFFSET     parameter[5]  // of the encoder, rad

#define NLOG  4
#define EACH  6.0  // of each log, s
#define END   (NLOG * EACH)
#define DROP  2.0  // of the second log: the motor lets go, s
#define VOLTS 7.4
#define LIMIT 1.75                                 // of the firmware's current, A
#define GAIN  (4096 / (2 * mjPI) / (256 * 885.0))  // of the firmware: duty for rad and unit of kp

// the four logs with gain 400, to which nothing was fitted
static const char* const logName[NLOG] = {"2026-01-15_10h29m14", "2026-01-15_10h29m21", "2026-01-15_10h29m29",
                                          "2026-01-15_10h29m37"};

static const mjgCase replayCase[] = {
    {"gear", NULL, {0.36678, 3.0296, 0.0021457, 0.0063002, 0, 0.02173}},
    {"frictionloss",
     "servo.gamma_u=0; servo.gamma_v=0; servo.coulomb=0",
     {0.22556, 2.727, 0.0014958, 0.009202, 0.033654, 0.02233}},
};

//---------------------------------- logs ----------------------------------------------------------

// columns of a log
enum { LOGTIME, LOGPOSITION, LOGGOAL, LOGENABLE, LOGWIDTH };  // s, rad, rad, 1: the servo's motor is on

typedef struct Log_ {
  double kp;  // position gain, of the servo's register
  mjgTrajectory rows;
} Log;

// read a log of data/xl330, CSV compressed by gzip; without rows if it cannot be read
static void readLog(Log* log, const char* name) {
  static const char* const columns[LOGWIDTH] = {"time", "position", "goal", "enable"};
  char path[4096], file[300], line[1000];
  snprintf(file, sizeof file, "data/xl330/%s.csv.gz", name);
  mjg_sharedPath(path, sizeof path, file);
  *log = (Log){0};
  for (int i = 0; i < LOGWIDTH; i++) {
    mjg_addColumn(&log->rows, columns[i]);
  }
  gzFile in = gzopen(path, "rb");
  const char* kp = in && gzgets(in, line, sizeof line) ? strstr(line, "kp=") : NULL;
  log->kp = kp ? strtod(kp + 3, NULL) : 0;
  int failed = !kp || !gzgets(in, line, sizeof line);  // names of the columns
  while (!failed && gzgets(in, line, sizeof line)) {
    double* row = mjg_addRow(&log->rows);
    failed = !row || sscanf(line, "%lf,%*f,%*f,%*f,%*f,%lf,%lf,%lf", row + LOGPOSITION, row + LOGTIME, row + LOGGOAL,
                            row + LOGENABLE) != LOGWIDTH;
  }
  if (in) {
    gzclose(in);
  }
  if (failed) {
    fprintf(stderr, "replay: the log %s cannot be read\n", path);
    mjg_clearRows(&log->rows);
  }
  for (int i = log->rows.nrow - 1; i >= 0; i--) {
    log->rows.data[i * LOGWIDTH + LOGTIME] -= log->rows.data[LOGTIME];
  }
}

//---------------------------------- scene ---------------------------------------------------------

static Log logs[NLOG];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void readLogs(void) {
  for (int i = 0; i < NLOG; i++) {
    readLog(&logs[i], logName[i]);
  }
}

static void configure(mjModel* m, const mjgCase* variant) {
  pthread_once(&once, readLogs);
  m->dof_armature[0] = variant->ARMATURE;
  m->dof_damping[0] = variant->DAMPING;
  m->dof_frictionloss[0] = variant->LOSS;
}

// the log that is played, and its row
static const double* row(const Log** log, double time) {
  int i = (int)fmin(NLOG - 1, floor(time / EACH + 1e-9));
  *log = &logs[i];
  return logs[i].rows.nrow ? mjg_rowUntil(&logs[i].rows, time - i * EACH + 1e-9) : NULL;
}

static void input(const mjModel* m, mjData* d, const mjgCase* variant) {
  const Log* log;
  const double* now = row(&log, d->time);
  if (!now) {
    d->ctrl[0] = 0;
    return;
  }

  // each log begins where it was measured, at rest
  double since = fmod(d->time + 1e-9, EACH);
  if (since < m->opt.timestep) {
    d->qpos[0] = log->rows.data[LOGPOSITION] + variant->OFFSET;
    d->qvel[0] = 0;
  }

  // the servo's firmware: duty by the error of position, limited in current
  double error = now[LOGGOAL] + variant->OFFSET - d->qpos[0];
  double duty = fmax(-1, fmin(1, log->kp * GAIN * error));
  double current = (duty * VOLTS - variant->CONSTANT * d->qvel[0]) / variant->RESISTANCE;
  d->ctrl[0] = now[LOGENABLE] > 0 ? variant->CONSTANT * fmax(-LIMIT, fmin(LIMIT, current)) : 0;

  // position of the real servo
  double half = -0.5 * (now[LOGPOSITION] + variant->OFFSET);
  d->mocap_quat[0] = cos(half);
  d->mocap_quat[2] = sin(half);
}

static void measure(double* value, const mjModel* m, const mjData* d) {
  const Log* log;
  double before = d->time - m->opt.timestep;
  const double* now = row(&log, fmax(0, before));
  value[0] = now ? now[LOGPOSITION] : NAN;
  value[1] = d->qpos[0];
  value[2] = now ? now[LOGGOAL] : NAN;
}

// mean absolute error of a run
static double meanError(const mjgTrajectory* run) {
  int measured = mjg_column(run, "measured"), q = mjg_column(run, "q_servo");
  double sum = 0;
  for (int i = 0; i < run->nrow; i++) {
    const double* at = mjg_row(run, i);
    sum += fabs(at[q] - run->variant->OFFSET - at[measured]);
  }
  return sum / run->nrow;
}

// highest angle to which the pendulum swings that the second log lifts and drops
static double swing(const mjgTrajectory* run, const char* name, double offset) {
  return mjg_highest(run, name, EACH + DROP, EACH + DROP + 1) - offset;
}

static void claims(mjgClaims* claims, const mjgTrajectory* run) {
  double gear = meanError(&run[0]), native = meanError(&run[1]);
  mjg_claim(claims, gear < 0.7 * native,
            "a real servo, %d logs to which nothing was fitted: mean error of position %.4f rad with this gear, %.4f "
            "rad with MuJoCo's friction and damping",
            NLOG, gear, native);

  // results against the gear are reported as well
  double ours = swing(&run[0], "q_servo", run[0].variant->OFFSET);
  double theirs = swing(&run[1], "q_servo", run[1].variant->OFFSET);
  double real = swing(&run[0], "measured", 0);
  mjg_claim(claims, ours < 1.5 * real,
            "dropped, the pendulum overshoots: the real one to %.2f rad, to %.2f rad with this gear, to %.2f rad with "
            "MuJoCo's friction",
            real, ours, theirs);
}

mjgSCENE(Replay, "replay", "replay/replay.xml", END,
         "A servo in simulation gets the goals that a real one got. The pale pendulum shows where the real one was.",
         .moment = 0.33, .beside = "frictionloss", .joint = "servo", mjgCASES(replayCase), .configure = configure,
         .input = input, .column = "measured simulated goal", .measure = measure, .claims = claims, .nsolved = 1);
