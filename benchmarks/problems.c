#include "problems.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// largest number of draws for a numerically regular matrix
#define MAXDRAW 100


const char* mjg_kindName(int kind) {
  static const char* const names[mjgNKIND] = {"chain", "locking", "coulomb", "tie",
                                              "rotor", "edge",    "beyond",  "singular",
                                              "equal", "scale",   "relay",   "skew"};
  return kind >= 0 && kind < mjgNKIND ? names[kind] : NULL;
}


int mjg_isUnique(int kind) {
  return kind == mjgKIND_CHAIN || kind == mjgKIND_TIE;
}


//---------------------------------- changes to chains ---------------------------------------------

// rotors at the two ends of the range
static void extremeRotors(mjgChain* chain, mjgRandom* random) {
  for (int i = 0; i < chain->n; i++) {
    chain->rotor[i] *= mjg_chance(random, 0.5) ? 0 : mjg_logUniform(random, 1e2, 1e6);
  }
}


// coefficients on 1, a little below or a little above
static double nearOne(mjgRandom* random) {
  double distance = mjg_logUniform(random, 1e-15, 1e-2);
  return 1 + distance * (mjg_integer(random, 3) - 1);
}


static void edgeGammas(mjgChain* chain, mjgRandom* random) {
  for (int i = 0; i < chain->n; i++) {
    chain->gamma_u[i] = mjg_chance(random, 0.5) ? nearOne(random) : chain->gamma_u[i];
    chain->gamma_v[i] = mjg_chance(random, 0.7) ? nearOne(random) : chain->gamma_v[i];
  }
}


static void wildGammas(mjgChain* chain, mjgRandom* random) {
  for (int i = 0; i < chain->n; i++) {
    chain->gamma_u[i] = mjg_uniform(random, -1, 2);
    chain->gamma_v[i] =
        mjg_chance(random, 0.5) ? mjg_uniform(random, -1, 2) : mjg_uniform(random, 2, 10);
  }
}


// two joints in a row that turn about the same axis with next to nothing between them
static void nearlyCoaxial(mjgChain* chain, mjgRandom* random) {
  if (chain->n == 1) {
    return;
  }
  int i = mjg_integer(random, chain->n - 1);
  mjgLink *first = chain->link + i, *second = first + 1;
  double rest = mjg_logUniform(random, 1e-12, 1e-6);
  memcpy(second->axis, first->axis, sizeof(first->axis));
  memset(second->offset, 0, sizeof(second->offset));
  second->slide = first->slide;
  first->mass *= rest;
  for (int k = 0; k < 3; k++) {
    first->inertia[k] *= rest;
  }
  chain->rotor[i] *= rest;
  chain->rotor[i + 1] *= rest;
}


//---------------------------------- changes to problems -------------------------------------------

// add an optional array of n numbers; the problem's pointer is set by the caller
static double* newArray(double** array, int n) {
  free(*array);
  *array = calloc((size_t)n, sizeof(double));
  return *array;
}


static int addCoulomb(mjgRecord* record, mjgRandom* random) {
  int n = record->problem.n;
  double* coulomb = newArray(&record->coulomb, n);
  double* ratio = newArray(&record->static_ratio, n);
  record->problem.coulomb = coulomb;
  record->problem.static_ratio = ratio;
  if (!coulomb || !ratio) {
    return 0;
  }

  // scale of the friction: torques that bring a joint to rest
  for (int i = 0; i < n; i++) {
    double stop = fabs(record->v[i]) / record->A[(size_t)i * (size_t)(n + 1)];
    coulomb[i] = mjg_chance(random, 0.1) ? 0 : mjg_logUniform(random, 1e-3, 10) * stop;
    ratio[i] = mjg_chance(random, 0.5) ? 1 : mjg_uniform(random, 1, 1.6);
  }
  return 1;
}


// choose the state of each joint, then data that have this solution
static int plantTies(mjgRecord* record, mjgRandom* random) {
  int n = record->problem.n;
  size_t size = (size_t)n;
  double* t = newArray(&record->t, n);
  if (!t) {
    return 0;
  }
  double torque = mjg_logUniform(random, 1e-2, 1e3);
  for (size_t i = 0; i < size; i++) {
    double speed = torque * record->A[i * size + i];
    double lambda = torque * mjg_normal(random);
    double sign = mjg_chance(random, 0.5) ? 1 : -1;
    double v = 0;
    switch (mjg_integer(random, 6)) {
      case 0:  // slips
        t[i] = sign * fabs(lambda);
        v = sign * speed * fabs(mjg_normal(random));
        break;
      case 1:  // slips, but hardly
        t[i] = sign * fabs(lambda);
        v = sign * speed * mjg_logUniform(random, 1e-16, 1e-8);
        break;
      case 2:  // stuck on the bound
        t[i] = sign * fabs(lambda);
        break;
      case 3:  // stuck within the bound
        t[i] = mjg_uniform(random, -1, 1) * lambda;
        break;
      case 4:  // at rest without load
        lambda = 0;
        break;
      default:  // moves without load
        lambda = 0;
        v = sign * speed;
    }
    record->v[i] = v;
    record->phi[i] = lambda;
  }

  // v* = v+ + A t,  phi = lambda - P t
  for (size_t i = 0; i < size; i++) {
    double change = 0;
    for (size_t j = 0; j < size; j++) {
      change += record->A[i * size + j] * t[j];
    }
    record->v[i] += change;
    record->phi[i] -= record->alpha[i] * change - record->beta[i] * t[i];
  }
  return 1;
}


// the data that people write by hand
static void smallIntegers(mjgRecord* record, mjgRandom* random) {
  int n = record->problem.n;
  size_t size = (size_t)n;
  int coupling = mjg_integer(random, 3), same = mjg_chance(random, 0.5);
  for (size_t i = 0; i < size; i++) {
    for (size_t j = 0; j < size; j++) {
      record->A[i * size + j] = coupling + (i == j);
    }
    int draw = i && same ? 0 : 1;
    record->v[i] = draw ? mjg_integer(random, 5) - 2 : record->v[0];
    record->phi[i] = draw ? mjg_integer(random, 5) - 2 : record->phi[0];
    record->alpha[i] = draw ? mjg_integer(random, 3) / 2.0 : record->alpha[0];
    record->beta[i] = draw ? mjg_integer(random, 5) / 2.0 : record->beta[0];
    record->v0[i] = mjg_integer(random, 3) - 1;
  }
}


// measure each joint's angle in units of 1/d and power in units of 1/c
static void changeUnits(mjgRecord* record, mjgRandom* random) {
  int n = record->problem.n;
  size_t size = (size_t)n;
  double c = mjg_logUniform(random, 1e-12, 1e12);
  double all = mjg_logUniform(random, 1e-6, 1e6);
  int each = mjg_chance(random, 0.5);
  for (size_t i = 0; i < size; i++) {
    double d = each ? mjg_logUniform(random, 1e-6, 1e6) : all;
    record->v[i] *= d;
    record->v0[i] *= d;
    record->phi[i] *= c / d;
    record->alpha[i] *= c / (d * d);
    for (size_t j = 0; j < size; j++) {
      record->A[i * size + j] *= d;
      record->A[j * size + i] *= d;
    }
  }
  for (size_t k = 0; k < size * size; k++) {
    record->A[k] /= c;
  }
}


// friction bounds that no other joint changes
static void noLoad(mjgRecord* record, mjgRandom* random) {
  int unloaded = mjg_chance(random, 0.5);
  for (int i = 0; i < record->problem.n; i++) {
    record->alpha[i] = 0;
    record->beta[i] = 0;
    record->phi[i] *= unloaded ? 0 : 1;
  }
}


// add a skew part, which keeps A positive definite
static void addSkew(mjgRecord* record, mjgRandom* random) {
  int n = record->problem.n;
  size_t size = (size_t)n;
  for (size_t i = 0; i < size; i++) {
    for (size_t j = 0; j < i; j++) {
      double scale = sqrt(record->A[i * size + i] * record->A[j * size + j]);
      double skew = 0.5 * scale * mjg_normal(random);
      record->A[i * size + j] += skew;
      record->A[j * size + i] -= skew;
    }
  }
}


//---------------------------------- problems ------------------------------------------------------

// one draw; 0 if the chain's mass matrix is numerically singular or memory ran out
static int draw(mjgRecord* record, int kind, int n, mjgRandom* random) {
  mjgChain chain;
  int below = kind == mjgKIND_CHAIN || kind == mjgKIND_TIE || mjg_chance(random, 0.3);
  mjg_randomChain(&chain, n, below ? mjgGAMMA_BELOW_ONE : mjgGAMMA_LOCKING, random);
  if (!chain.n) {
    return 0;
  }
  switch (kind) {
    case mjgKIND_ROTOR:
      extremeRotors(&chain, random);
      break;
    case mjgKIND_EDGE:
      edgeGammas(&chain, random);
      break;
    case mjgKIND_BEYOND:
      wildGammas(&chain, random);
      break;
    case mjgKIND_SINGULAR:
      nearlyCoaxial(&chain, random);
      break;
    default:
      break;
  }
  int ok = mjg_chainProblem(record, &chain);
  mjg_freeChain(&chain);
  if (!ok) {
    return 0;
  }
  switch (kind) {
    case mjgKIND_TIE:
      return plantTies(record, random);
    case mjgKIND_COULOMB:
      return addCoulomb(record, random);
    case mjgKIND_EQUAL:
      smallIntegers(record, random);
      return 1;
    case mjgKIND_SCALE:
      changeUnits(record, random);
      return 1;
    case mjgKIND_RELAY:
      noLoad(record, random);
      return addCoulomb(record, random);
    case mjgKIND_SKEW:
      addSkew(record, random);
      return 1;
    default:
      return 1;
  }
}


int mjg_randomProblem(mjgRecord* record, int kind, int n, mjgRandom* random) {
  uint64_t serial = random->state;
  int ok = 0;
  for (int i = 0; i < MAXDRAW && !ok; i++) {
    ok = draw(record, kind, n, random);
  }
  if (ok) {
    snprintf(record->name, sizeof(record->name), "%s-%d-%016llx", mjg_kindName(kind), n,
             (unsigned long long)serial);
  }
  return ok;
}
