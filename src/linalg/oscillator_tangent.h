// Derivatives of the integrals of coupled oscillators (oscillator.h) by Y, initial state and load:
// those of the approximant that computed the integrals.
#ifndef TRIBO_LINALG_OSCILLATOR_TANGENT_H_
#define TRIBO_LINALG_OSCILLATOR_TANGENT_H_

#include "linalg/oscillator.h"

// `width` directions, stored as columns.
typedef struct {
  int width;
  const double *p, *v, *a;  // n x width
  const double* Y;          // n x n x width_Y: for the first width_Y directions
  int width_Y;
} tbOscillatorChange;

size_t tb_oscillator_tangent_work(int n, int width);

// Derivatives of first and second (n x width each). `plan` is the info of tb_oscillator_integrals.
// `iwork`: tb_oscillator_ints(n). False if the plan has no derivative (the dense last resort) or a
// result is not finite.
bool tb_oscillator_tangents(const tbOscillator* system, double h, const tbOscillatorInfo* plan,
                            const tbOscillatorChange* change, double* first, double* second,
                            double* work, int* iwork);

#endif
