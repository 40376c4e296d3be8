// A small, portable random generator (splitmix64) with the same sequence on every machine.
#ifndef TRIBO_BASE_RNG_H_
#define TRIBO_BASE_RNG_H_

#include <math.h>
#include <stdint.h>

#include "base/elementary.h"

typedef struct {
  uint64_t state;
} tbRng;

static inline uint64_t tb_rng_next(tbRng* rng) {
  uint64_t z = (rng->state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

// Uniform in [low, high).
static inline double tb_rng_uniform(tbRng* rng, double low, double high) {
  return low + (high - low) * (double)(tb_rng_next(rng) >> 11) * 0x1p-53;
}

// Uniform integer in [0, n).
static inline int tb_rng_int(tbRng* rng, int n) {
  return (int)(tb_rng_next(rng) % (uint64_t)n);
}

// Standard normal (Box-Muller).
static inline double tb_rng_normal(tbRng* rng) {
  double u = tb_rng_uniform(rng, 0x1p-53, 1), v = tb_rng_uniform(rng, 0, 6.283185307179586);
  return sqrt(-2 * tb_log(u)) * tb_cos(v);
}

// n standard normal numbers in sequence. (Several calls within one expression may be evaluated in
// any order.)
static inline void tb_rng_normals(tbRng* rng, int n, double* x) {
  for (int i = 0; i < n; i++) x[i] = tb_rng_normal(rng);
}

#endif
