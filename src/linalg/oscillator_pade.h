// Padé approximants for coupled oscillators, factored by poles.
#ifndef TRIBO_LINALG_OSCILLATOR_PADE_H_
#define TRIBO_LINALG_OSCILLATOR_PADE_H_

#include "linalg/oscillator.h"

size_t tb_oscillator_pade_work(int n);

// The approximant of `order` of (h / steps) Abar (EXP eq. 30), applied `steps` times to its last
// two unit vectors: integrals of the force, and `travel`, the integral of p'. `iwork`: 7 n ints.
bool tb_oscillator_pade(const tbOscillator* system, double h, int order, int steps, double* first,
                        double* second, double* travel, double* work, int* iwork);

#endif
