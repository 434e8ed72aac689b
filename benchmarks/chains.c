#include "chains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846


//---------------------------------- random numbers ------------------------------------------------

uint64_t mjg_bits(mjgRandom* random) {
  uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}


double mjg_uniform(mjgRandom* random, double low, double high) {
  double unit = (double)(mjg_bits(random) >> 11) * 0x1p-53;
  return low + (high - low) * unit;
}


double mjg_logUniform(mjgRandom* random, double low, double high) {
  return exp(mjg_uniform(random, log(low), log(high)));
}


double mjg_normal(mjgRandom* random) {
  double radius = sqrt(-2 * log(1 - mjg_uniform(random, 0, 1)));
  return radius * cos(2 * PI * mjg_uniform(random, 0, 1));
}


int mjg_integer(mjgRandom* random, int count) {
  return (int)(mjg_bits(random) % (uint64_t)count);
}


int mjg_chance(mjgRandom* random, double probability) {
  return mjg_uniform(random, 0, 1) < probability;
}


//---------------------------------- small vectors -------------------------------------------------

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}


static void cross(double c[3], const double a[3], const double b[3]) {
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
}


static void rotate(double y[3], const double R[9], const double x[3]) {
  for (int i = 0; i < 3; i++) {
    y[i] = dot(R + 3 * i, x);
  }
}


// R := R rotation about a unit axis
static void turn(double R[9], const double axis[3], double angle) {
  double c = cos(angle), s = sin(angle), x = axis[0], y = axis[1], z = axis[2];
  double T[9] = {c + x * x * (1 - c),     x * y * (1 - c) - z * s, x * z * (1 - c) + y * s,
                 y * x * (1 - c) + z * s, c + y * y * (1 - c),     y * z * (1 - c) - x * s,
                 z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)};
  double product[9];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      product[3 * i + j] = R[3 * i] * T[j] + R[3 * i + 1] * T[3 + j] + R[3 * i + 2] * T[6 + j];
    }
  }
  memcpy(R, product, sizeof(product));
}


static void randomDirection(double direction[3], mjgRandom* random) {
  double norm;
  do {
    for (int k = 0; k < 3; k++) {
      direction[k] = mjg_normal(random);
    }
    norm = sqrt(dot(direction, direction));
  } while (norm < 1e-3);
  for (int k = 0; k < 3; k++) {
    direction[k] /= norm;
  }
}


//---------------------------------- chains --------------------------------------------------------

void mjg_newChain(mjgChain* chain, int n) {
  size_t size = (size_t)n;
  memset(chain, 0, sizeof(*chain));
  chain->link = calloc(size, sizeof(mjgLink));
  double* numbers = calloc(6 * size, sizeof(double));
  if (!chain->link || !numbers) {
    free(chain->link);
    free(numbers);
    memset(chain, 0, sizeof(*chain));
    return;
  }
  chain->n = n;
  chain->gamma_u = numbers;
  chain->gamma_v = numbers + size;
  chain->rotor = numbers + 2 * size;
  chain->q = numbers + 3 * size;
  chain->v = numbers + 4 * size;
  chain->tau_u = numbers + 5 * size;
}


void mjg_freeChain(mjgChain* chain) {
  free(chain->link);
  free(chain->gamma_u);
  memset(chain, 0, sizeof(*chain));
}


// a rod of plausible size on a hinge or a slide
static void randomLink(mjgLink* link, int planar, mjgRandom* random) {
  double length = mjg_logUniform(random, 0.05, 0.8);
  double radius = length * mjg_uniform(random, 0.05, 0.3);
  link->mass = mjg_logUniform(random, 0.2, 10);
  link->slide = mjg_chance(random, 0.1);

  // in the plane, hinges turn about z; in space, axes are those of the frame or oblique
  if (planar) {
    link->axis[link->slide ? mjg_integer(random, 2) : 2] = 1;
    link->offset[0] = length;
  } else {
    if (mjg_chance(random, 0.7)) {
      link->axis[mjg_integer(random, 3)] = 1;
    } else {
      randomDirection(link->axis, random);
    }
    double direction[3];
    randomDirection(direction, random);
    for (int k = 0; k < 3; k++) {
      link->offset[k] = length * direction[k];
    }
  }

  // the rod lies along x
  link->center[0] = length * mjg_uniform(random, 0.3, 0.7);
  double transverse = link->mass * (3 * radius * radius + length * length) / 12;
  link->inertia[0] = link->mass * radius * radius / 2;
  link->inertia[1] = transverse;
  link->inertia[2] = transverse;
}


// entry j, j of the mass matrix without the rest
static double diagonal(const double* M, int j, int n) {
  return M[(size_t)j * (size_t)n + (size_t)j];
}


void mjg_randomChain(mjgChain* chain, int n, int gamma_range, mjgRandom* random) {
  mjg_newChain(chain, n);
  double* M = malloc(((size_t)n * (size_t)n + (size_t)n) * sizeof(double));
  if (!chain->n || !M) {
    mjg_freeChain(chain);
    free(M);
    return;
  }
  double* tau_v = M + (size_t)n * (size_t)n;

  // geometry and loads
  int planar = mjg_chance(random, 0.3);
  chain->h = mjg_logUniform(random, 1e-4, 1e-2);
  chain->gravity[planar ? 1 : 2] = -9.81;
  double push = mjg_chance(random, 0.3) ? 0 : mjg_logUniform(random, 1, 200);
  for (int k = 0; k < (planar ? 2 : 3); k++) {
    chain->force[k] = push * mjg_normal(random);
  }
  int rest = mjg_chance(random, 0.2);
  for (int i = 0; i < n; i++) {
    randomLink(chain->link + i, planar, random);
    chain->q[i] = chain->link[i].slide ? 0.1 * mjg_normal(random) : mjg_uniform(random, -PI, PI);
    chain->v[i] = rest || mjg_chance(random, 0.2) ? 0 : mjg_normal(random);
    chain->gamma_u[i] = mjg_uniform(random, 0, 1);
    chain->gamma_v[i] = mjg_uniform(random, 0, gamma_range == mjgGAMMA_LOCKING ? 3 : 1);
  }

  // rotors over five decades around the inertia they move, motors around the load they carry
  mjg_chainDynamics(M, tau_v, chain);
  double effort = mjg_chance(random, 0.1) ? 0 : mjg_logUniform(random, 0.1, 10);
  for (int i = 0; i < n; i++) {
    double ratio = mjg_chance(random, 0.1) ? 0 : mjg_logUniform(random, 1e-3, 1e2);
    chain->rotor[i] = ratio * diagonal(M, i, n);
    chain->tau_u[i] = mjg_uniform(random, 0, 1.5) * tau_v[i] +
                      effort * mjg_normal(random) * fmax(fabs(tau_v[i]), 0.1);
  }
  free(M);
}


void mjg_chainDynamics(double* M, double* tau_v, const mjgChain* chain) {
  int n = chain->n;
  size_t size = (size_t)n;
  double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, position[3] = {0, 0, 0};
  double* frame = malloc(size * 15 * sizeof(double));
  memset(M, 0, size * size * sizeof(double));
  memset(tau_v, 0, size * sizeof(double));
  if (!frame) {
    return;
  }

  // axis and position of each joint in the world, then the contribution of one link
  double *axis = frame, *anchor = frame + 3 * size, *linear = frame + 6 * size;
  double *spin = frame + 9 * size, *momentum = frame + 12 * size;
  for (int k = 0; k < n; k++) {
    const mjgLink* link = chain->link + k;
    double step[3], center[3];
    rotate(axis + 3 * k, R, link->axis);
    rotate(step, R, link->offset);
    for (int c = 0; c < 3; c++) {
      position[c] += step[c] + (link->slide ? chain->q[k] * axis[3 * k + c] : 0);
      anchor[3 * k + c] = position[c];
    }
    if (!link->slide) {
      turn(R, link->axis, chain->q[k]);
    }
    rotate(center, R, link->center);

    // the velocity of the center and the spin per unit velocity of the joints before
    double load[3], arm[3];
    for (int c = 0; c < 3; c++) {
      load[c] = -link->mass * chain->gravity[c] - (k == n - 1 ? chain->force[c] : 0);
    }
    for (int i = 0; i <= k; i++) {
      double* jacobian = linear + 3 * i;
      double local[3] = {0, 0, 0};
      memset(spin + 3 * i, 0, 3 * sizeof(double));
      if (chain->link[i].slide) {
        memcpy(jacobian, axis + 3 * i, 3 * sizeof(double));
      } else {
        for (int c = 0; c < 3; c++) {
          arm[c] = position[c] + center[c] - anchor[3 * i + c];
        }
        cross(jacobian, axis + 3 * i, arm);
        memcpy(spin + 3 * i, axis + 3 * i, 3 * sizeof(double));
      }

      // angular momentum R [inertia] R' spin
      for (int c = 0; c < 3; c++) {
        local[c] = link->inertia[c] *
                   (R[c] * spin[3 * i] + R[3 + c] * spin[3 * i + 1] + R[6 + c] * spin[3 * i + 2]);
      }
      rotate(momentum + 3 * i, R, local);
      tau_v[i] += dot(jacobian, load);
    }
    for (int i = 0; i <= k; i++) {
      for (int j = 0; j <= i; j++) {
        M[(size_t)i * size + (size_t)j] +=
            link->mass * dot(linear + 3 * i, linear + 3 * j) + dot(spin + 3 * i, momentum + 3 * j);
      }
    }
  }
  for (size_t i = 0; i < size; i++) {
    for (size_t j = 0; j < i; j++) {
      M[j * size + i] = M[i * size + j];
    }
  }
  free(frame);
}


int mjg_chainProblem(mjgRecord* record, const mjgChain* chain) {
  return mjg_forestProblem(record, chain, 1);
}


int mjg_forestProblem(mjgRecord* record, const mjgChain* chain, int nchain) {
  size_t n = 0, entries = 0, largest = 0;
  for (int k = 0; k < nchain; k++) {
    size_t size = (size_t)chain[k].n;
    n += size;
    entries += size * size;
    largest = size > largest ? size : largest;
  }
  mjg_clearRecord(record);
  double* W = malloc((2 * largest * largest + largest) * sizeof(double));
  record->v = calloc(n, sizeof(double));
  record->A = calloc(entries, sizeof(double));
  record->phi = calloc(n, sizeof(double));
  record->alpha = calloc(n, sizeof(double));
  record->beta = calloc(n, sizeof(double));
  record->block = nchain > 1 ? calloc((size_t)nchain, sizeof(int)) : NULL;
  record->v0 = calloc(n, sizeof(double));
  int ok = W && record->v && record->A && record->phi && record->alpha && record->beta &&
           (nchain == 1 || record->block) && record->v0;

  size_t first = 0, entry = 0;
  for (int k = 0; ok && k < nchain; k++) {
    const mjgChain* c = chain + k;
    size_t size = (size_t)c->n;
    double *M = W + size * size, *tau_v = W + 2 * size * size;

    // W is the inverse of the mass matrix with rotors
    mjg_chainDynamics(M, tau_v, c);
    for (size_t i = 0; i < size; i++) {
      M[i * size + i] += c->rotor[i];
    }
    ok = mjg_invert(W, M, c->n);
    for (size_t i = 0; ok && i < size; i++) {
      double acceleration = 0, gamma = c->gamma_u[i] + c->gamma_v[i];
      for (size_t j = 0; j < size; j++) {
        acceleration += W[i * size + j] * (c->tau_u[j] - tau_v[j]);
        record->A[entry + i * size + j] = c->h * W[i * size + j];
      }
      record->v[first + i] = c->v[i] + c->h * acceleration;
      record->v0[first + i] = c->v[i];
      record->phi[first + i] = gamma * (c->tau_u[i] - c->rotor[i] * acceleration);
      record->alpha[first + i] = gamma * c->rotor[i] / c->h;
      record->beta[first + i] = c->gamma_v[i];
    }
    if (record->block) {
      record->block[k] = c->n;
    }
    first += size;
    entry += size * size;
  }
  free(W);
  if (!ok) {
    mjg_clearRecord(record);
    return 0;
  }
  record->problem = (mjgProblem){.n = (int)n,
                                 .nblock = record->block ? nchain : 0,
                                 .block = record->block,
                                 .v = record->v,
                                 .A = record->A,
                                 .phi = record->phi,
                                 .alpha = record->alpha,
                                 .beta = record->beta,
                                 .v0 = record->v0};
  return 1;
}


//---------------------------------- matrices ------------------------------------------------------

int mjg_invert(double* inverse, const double* matrix, int n) {
  size_t size = (size_t)n;
  double* L = malloc(size * size * sizeof(double));
  int ok = L != NULL;

  // Cholesky factor; a pivot lost to rounding counts as singular
  for (size_t j = 0; ok && j < size; j++) {
    for (size_t i = j; ok && i < size; i++) {
      double sum = matrix[i * size + j];
      for (size_t k = 0; k < j; k++) {
        sum -= L[i * size + k] * L[j * size + k];
      }
      if (i == j) {
        ok = sum > 1e-13 * matrix[j * size + j];
        L[j * size + j] = sqrt(sum);
      } else {
        L[i * size + j] = sum / L[j * size + j];
      }
    }
  }

  // column by column, upper half by symmetry
  for (size_t c = 0; ok && c < size; c++) {
    for (size_t i = 0; i < size; i++) {
      double sum = i == c;
      for (size_t k = c; k < i; k++) {
        sum -= L[i * size + k] * inverse[k * size + c];
      }
      inverse[i * size + c] = i < c ? 0 : sum / L[i * size + i];
    }
    for (size_t i = size; i-- > 0;) {
      double sum = inverse[i * size + c];
      for (size_t k = i + 1; k < size; k++) {
        sum -= L[k * size + i] * inverse[k * size + c];
      }
      inverse[i * size + c] = sum / L[i * size + i];
    }
  }
  for (size_t i = 0; ok && i < size; i++) {
    for (size_t j = 0; j < i; j++) {
      double mean = (inverse[i * size + j] + inverse[j * size + i]) / 2;
      inverse[i * size + j] = mean;
      inverse[j * size + i] = mean;
    }
  }
  free(L);
  return ok;
}
