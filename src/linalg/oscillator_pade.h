// Padé approximants for coupled oscillators, factored by poles.
#ifndef TRIBO_LINALG_OSCILLATOR_PADE_H_
#define TRIBO_LINALG_OSCILLATOR_PADE_H_

#include "linalg/oscillator.h"

enum { TB_MAX_POLES = 7 };

// Inverse poles of the diagonal Padé approximant of `order` with im >= 0, the real one (of odd
// orders) first.
typedef struct {
  int order, count;
  double re[TB_MAX_POLES], im[TB_MAX_POLES];
} tbPadePoles;

// NULL where the order is none of 1, 2, 3, 5, 7, 13.
const tbPadePoles* tb_pade_poles(int order);

size_t tb_oscillator_pade_work(int n);

// LU with partial pivoting of an n x n complex matrix in two halves, inverse pivots on the
// diagonal; false where a pivot vanishes.
bool tb_complex_lu(int n, double* re, double* im, int* pivot);

// The approximant of `order` of (h / steps) Abar (EXP eq. 30), applied `steps` times to its last
// two unit vectors: integrals of the force, and `travel`, the integral of p'. `iwork`: 7 n ints.
bool tb_oscillator_pade(const tbOscillator* system, double h, int order, int steps, double* first,
                        double* second, double* travel, double* work, int* iwork);

// Where Y is symmetric and B = beta K: once tridiagonal, a pole costs O(n), and eigenvectors are a
// choice too. Picks order, steps or modes by the spectrum and the accuracy.
size_t tb_oscillator_proportional_work(int n);
int tb_oscillator_proportional_ints(int n);
bool tb_oscillator_proportional(const tbOscillator* system, double beta, double h,
                                const tbOscillatorSettings* settings, double* first, double* second,
                                double* travel, double* work, int* iwork, tbOscillatorInfo* info);

// The same scalar functions of one eigenvalue s of K^1/2 Y K^1/2, exactly: F1 = first[0] p +
// first[1] v + first[2] a, and the double integral with second.
void tb_oscillator_mode(double s, double beta, double h, double first[3], double second[3]);

#endif
