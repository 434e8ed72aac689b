// Friction laws that the bench of mjgear.identify does not have: a spring that yields, LuGre, and a
// small net.
//
// The motor, the controller and the step are those of bench.c, whose functions are static: this
// file includes it.

#include "../../python/bench/bench.c"

typedef enum Law_ {
  LAW_YIELD = 0,  // MuJoCo's <joint stiffness springyield>: bristle, coulomb
  LAW_LUGRE = 1,  // LuGre: bristle, bristle_damping, coulomb, stribeck_friction, stribeck_velocity
  LAW_NET = 2     // bound of friction by a net: NHIDDEN tanh units on speed, motor torque and load
} Law;

enum {
  NINPUT = 3,
  NHIDDEN = 6
};

// weights of the net: (NHIDDEN, NINPUT + 1) with the bias last, then the output's (NHIDDEN + 1)
static double net(const double* w, const double* x) {
  const double* out = w + NHIDDEN * (NINPUT + 1);
  double y = out[NHIDDEN];
  for (int k = 0; k < NHIDDEN; k++) {
    const double* row = w + k * (NINPUT + 1);
    double a = row[NINPUT];
    for (int i = 0; i < NINPUT; i++) {
      a += row[i] * x[i];
    }
    y += out[k] * tanh(a);
  }
  return y;
}


// friction torque of this step, without viscous friction; LuGre moves its bristle by a step
//   z: deflection of the bristle
//   own: bristle, bristle_damping, speed and torque scales, weights of the net
//   hold: torque that stops the joint
static double friction(Law law, double* z, const double* p, const double* own, double motor,
                       double load, double v, double hold, double h) {
  double bristle = own[0];
  if (law == LAW_YIELD) {
    return bristle * *z;
  }
  if (law == LAW_LUGRE) {
    double ratio = v / p[mjgBENCH_STRIBECK_VELOCITY];
    double g = p[mjgBENCH_COULOMB] + p[mjgBENCH_STRIBECK_FRICTION] * exp(-ratio * ratio) + 1e-12;
    double rate = v - bristle * fabs(v) / g * *z;
    double t = bristle * *z + own[1] * rate;
    // exact for a constant velocity
    double steady = v > 0 ? g / bristle : v < 0 ? -g / bristle : *z;
    *z = steady + (*z - steady) * exp(-bristle * fabs(v) / g * h);
    return t;
  }
  double s = hold > 0 ? 1 : -1;
  const double x[NINPUT] = {fabs(v) / own[2], s * motor / own[3], s * load / own[3]};
  double bound = own[3] * log1p(exp(net(own + 4, x)));
  return fabs(hold) <= bound ? hold : s * bound;
}


// as mjg_simulateBench, with one of the laws above; position is (n)
int simulateOther(double* position, const mjgBenchLog* log, const double* p, int law,
                  const double* own) {
  if (!isValid(log, p)) {
    return mjgERR_ARGUMENT;
  }
  double h = log->dt / log->substeps;
  double inertia = p[mjgBENCH_INERTIA] + p[mjgBENCH_ARMATURE] + h * p[mjgBENCH_VISCOUS];
  double q = log->position[0], v = log->velocity[0], z = 0;
  State controller = {0};
  for (int k = 0; k < log->n; k++) {
    if (log->reset && k % log->reset == 0) {
      q = log->position[k];
      v = log->velocity[k];
    }
    position[k] = q;
    double input = inputAt(log, p, k);
    int on = !log->enable || log->enable[k];
    for (int i = 0; i < log->substeps; i++) {
      controller.q = q;
      controller.v = v;
      double motor = on ? motorTorque(log, p, input, 0, &controller, h) : 0;
      double load = p[mjgBENCH_GRAVITY] * sin(q + p[mjgBENCH_OFFSET]);
      double hold = (inertia - h * p[mjgBENCH_VISCOUS]) / h * v + motor - load;
      v = h * (hold - friction((Law)law, &z, p, own, motor, load, v, hold, h)) / inertia;
      q += h * v;
      if (law == LAW_YIELD) {
        z = clamp(z + h * v, p[mjgBENCH_COULOMB] / own[0]);
      }
    }
  }
  return isfinite(q) && isfinite(v) ? mjgSOLVED : mjgERR_NOT_FINITE;
}
