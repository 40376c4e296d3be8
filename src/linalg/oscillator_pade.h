// Padé approximants for coupled oscillators, as sums over their poles.
#ifndef TRIBO_LINALG_OSCILLATOR_PADE_H_
#define TRIBO_LINALG_OSCILLATOR_PADE_H_

#include "linalg/oscillator.h"

enum { TB_MAX_POLES = 7 };

// The diagonal Padé approximant of `order` as a sum over its inverse poles s: r(z) = (-1)^order +
// sum of rho / (1 - s z). Only the s with im >= 0 are stored, the real one (of odd orders) first.
typedef struct {
  int order, count;
  double re[TB_MAX_POLES], im[TB_MAX_POLES];          // s
  double rho_re[TB_MAX_POLES], rho_im[TB_MAX_POLES];  // rho
} tbPadePoles;

// NULL unless the order is 1, 2, 3, 5, 7 or 13.
const tbPadePoles* tb_pade_poles(int order);

size_t tb_oscillator_pade_work(int n);

// LU with partial pivoting of an n x n complex matrix given by real and imaginary parts, inverse
// pivots on the diagonal; false if a pivot is zero.
bool tb_complex_lu(int n, double* re, double* im, int* pivot);

// For one pole (s, rho) and step tau: sigma = s tau, and the weights of its solution g in the
// integral of the force, and in the integral of that (docs/manual/expo.md, eq. 5-6). A pole with im
// > 0 also represents its conjugate.
typedef struct {
  double re, im;
} tbComplex;

static inline tbComplex tb_complex_times(tbComplex a, tbComplex b) {
  tbComplex c = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  return c;
}

typedef struct {
  tbComplex sigma, first, second;
} tbPoleShare;

tbPoleShare tb_pole_share(const tbPadePoles* poles, int k, double tau);

// The approximant of `order` of (h / steps) Abar (EXP eq. 30), applied `steps` times to its last
// two unit vectors: integrals of the force. `iwork`: 7 n ints.
bool tb_oscillator_pade(const tbOscillator* system, double h, int order, int steps, double* first,
                        double* second, double* work, int* iwork);

// The same for Y = left right^T of rank r < n: each pole's system has r unknowns instead of n.
size_t tb_oscillator_low_rank_work(int n);
bool tb_oscillator_low_rank(const tbOscillator* system, double h, int order, int steps,
                            double* first, double* second, double* work, int* iwork);

// Back and forward substitution after tb_complex_lu.
void tb_complex_solve(int n, const double* re, const double* im, const int* pivot, double* x,
                      double* y);

// For symmetric Y and B = beta K: in tridiagonal form a pole costs O(n), and eigenvectors are an
// alternative. Chooses order, steps or modes by the spectrum and the accuracy.
size_t tb_oscillator_proportional_work(int n);
int tb_oscillator_proportional_ints(int n);
bool tb_oscillator_proportional(const tbOscillator* system, double beta, double h,
                                const tbOscillatorSettings* settings, double* first, double* second,
                                double* work, int* iwork, tbOscillatorInfo* info);

// The same scalar functions of one eigenvalue s of K^1/2 Y K^1/2, exactly: F1 = first[0] p +
// first[1] v + first[2] a, and the double integral with second.
void tb_oscillator_mode(double s, double beta, double h, double first[3], double second[3]);

#endif
