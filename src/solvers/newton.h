// Semismooth Newton steps on the exact law, for ncp/newton and for polishing other answers.
#ifndef TRIBO_SOLVERS_NEWTON_H_
#define TRIBO_SOLVERS_NEWTON_H_

#include "solvers/sweep.h"
#include "solvers/system.h"

typedef struct {
  tbSolve* s;
  const tbProblem* p;
  tbSystem system;
  tbReal *scale, *rho;  // row scaling, and the equations' rho
  tbReal *F, *Cb, *dx, *trial, *sigma;
  tbReal *C, *D, *E;  // Jacobian blocks, block i at start[i]
  int* start;
} tbNewton;

// F of one block and, unless C is NULL, its C and D (newton_block.c), in scaled rows.
void tb_newton_block(const tbBlock* block, tbLaw law, const tbReal* scale, const tbReal* rho,
                     const tbReal* x, const tbReal* sigma, tbReal proximal, tbReal* F, tbReal* C,
                     tbReal* D);

// out = C^-1 in, `columns` columns at once (Gauss with row pivots). False where C is singular.
bool tb_newton_divide(int dim, const tbReal* C, const tbReal* in, int columns, tbReal* out);

// False when out of memory.
bool tb_newton_init(tbNewton* newton, tbSolve* s);

// One step with line search from lambda. `progress`: lambda moved and |F| fell. False where the
// matrix is singular or F is zero.
bool tb_newton_step(tbNewton* newton, tbReal* lambda, bool* progress);

// The projection of lambda on the admissible impulses.
void tb_newton_clean(const tbNewton* newton, const tbReal* lambda, tbReal* out);

#endif
