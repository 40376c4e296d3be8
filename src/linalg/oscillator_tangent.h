// How the integrals of coupled oscillators (oscillator.h) change with Y, start and load, as they
// were computed: the same approximant, differentiated.
#ifndef TRIBO_LINALG_OSCILLATOR_TANGENT_H_
#define TRIBO_LINALG_OSCILLATOR_TANGENT_H_

#include "linalg/oscillator.h"

// `width` directions side by side.
typedef struct {
  int width;
  const double *p, *v, *a;  // n x width
  const double* Y;          // n x n x width_Y: of the first width_Y directions
  int width_Y;
} tbOscillatorChange;

size_t tb_oscillator_tangent_work(int n, int width);

// Changes of first and second (n x width each). `plan` is what tb_oscillator_integrals reported.
// `iwork`: tb_oscillator_ints(n). False where the plan has no derivative (the dense last resort) or
// something is not finite.
bool tb_oscillator_tangents(const tbOscillator* system, double h, const tbOscillatorInfo* plan,
                            const tbOscillatorChange* change, double* first, double* second,
                            double* work, int* iwork);

#endif
