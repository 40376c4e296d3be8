// Coupled linear oscillators under a constant load, integrated exactly:
//
//     p'' + Y (K p + B p') = a,      force = -K p - B p',      Y symmetric >= 0, K > 0, B >= 0
//
// This is EXP eq. 11 with its upper half [0 I] already used: all matrices are n x n instead of 2n +
// 3. The results are the force's integral and double integral over a time h (EXP eq. 16, 23, 25),
// which are the exponential of the augmented matrix (EXP eq. 30) times two columns.
#ifndef TRIBO_LINALG_OSCILLATOR_H_
#define TRIBO_LINALG_OSCILLATOR_H_

#include <stdbool.h>
#include <stddef.h>

typedef enum {
  TB_OSCILLATOR_PADE,   // Padé approximant of (h/q) A, applied q times
  TB_OSCILLATOR_MODES,  // eigenvectors: exact; only if B is a multiple of K
  TB_OSCILLATOR_DENSE,  // the augmented matrix by scaling and squaring: the last resort
  // Padé approximants over parts of h that grow fourfold. The first part is short enough for the
  // fastest modes, all of which are damped and have decayed by the next part.
  TB_OSCILLATOR_GRADED,
} tbOscillatorMethod;

typedef struct {
  int order;        // 0: automatic; 1, 2, 3, 5, 7, 13: this Padé order without scaling, as in EXP
  double accuracy;  // automatic: relative error to aim at; 0: machine precision
} tbOscillatorSettings;

typedef struct {
  int method;  // tbOscillatorMethod
  int order;   // of the Padé approximant, 0 for modes
  int steps;   // q, parts, or 2^squarings
} tbOscillatorInfo;

typedef struct {
  int n;
  const double *Y, *K, *B;  // Y: n x n; K, B: n
  const double *p, *v, *a;  // initial state and load, n each
  bool general;             // Y need not be symmetric
  // Y = left right^T with n x rank factors, if known (0: unknown). The factors may be NULL: then
  // the rank affects only the choice of the method.
  int rank;
  const double *left, *right;
} tbOscillator;

// Whether the poles are solved in as many unknowns as the rank of Y: the other methods cost n^3.
bool tb_oscillator_is_low_rank(int n, int rank);

// Reals and ints of scratch for n rows.
size_t tb_oscillator_work(int n);
int tb_oscillator_ints(int n);

// first = integral of the force over [0, h], second = integral of that. `end`, unless NULL,
// receives p(h) and v(h) (2 n). False if the result is not finite or the order unknown.
bool tb_oscillator_integrals(const tbOscillator* system, double h,
                             const tbOscillatorSettings* settings, double* first, double* second,
                             double* end, double* work, int* iwork, tbOscillatorInfo* info);

#endif
