// The exponential of a dense matrix by scaling and squaring with diagonal Padé approximants (after
// Higham 2005), to a given accuracy, and its action on a few columns without forming it (EXP eq.
// 31-33). Row-major, in the caller's memory.
#ifndef TRIBO_LINALG_EXPM_H_
#define TRIBO_LINALG_EXPM_H_

#include <stdbool.h>
#include <stddef.h>

typedef struct {
  int order;        // Padé order 1, 2, 3, 5, 7 or 13; 0: from the norm and the accuracy
  double accuracy;  // wanted relative (backward) error; 0: machine precision
  int squarings;    // exactly this many; -1: from the norm, the order and the accuracy
  bool balance;     // scale rows and columns by powers of two first
} tbExpmSettings;

typedef struct {
  int order, squarings;
  double norm;           // 1-norm of the matrix as given
  double norm_balanced;  // of the matrix that the approximant saw, before scaling
} tbExpmInfo;

// Settings that choose order and squarings by the norm, for machine precision, with balancing.
tbExpmSettings tb_expm_defaults(void);

// The largest norm at which the Padé approximant of `order` has the relative backward error
// `accuracy` (0: machine precision), or 0 for an unknown order.
double tb_pade_norm(int order, double accuracy);

// Reals of scratch for size n and `columns` columns; n ints of scratch are needed too.
size_t tb_expm_work(int n, int columns);

// Y = exp(A) V with V and Y n x columns. Without squarings only D^-1 (N V) is computed (EXP eq.
// 33); with few squarings the approximant is applied repeatedly; with many the exponential is
// formed. False if a result is not finite or `order` is unknown.
bool tb_expm_action(int n, const double* A, int columns, const double* V,
                    const tbExpmSettings* settings, double* Y, double* work, int* iwork,
                    tbExpmInfo* info);

#endif
