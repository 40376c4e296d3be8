// The blocks of ncp/newton's equations.
#ifndef TRIBO_SOLVERS_NEWTON_NEWTON_H_
#define TRIBO_SOLVERS_NEWTON_NEWTON_H_

#include "solvers/solver.h"

// The point at which the equations of a block are evaluated, in rows scaled by `scale`.
typedef struct {
  const tbReal *x, *sigma;
  const tbReal *scale, *rho;
  tbReal proximal;
} tbNewtonPoint;

// F of one block and, unless C is NULL, its C and D (block.c).
typedef struct {
  tbReal *F, *C, *D;
} tbNewtonEquations;

void tb_newton_block(const tbBlock* block, tbLaw law, const tbNewtonPoint* at,
                     tbNewtonEquations out);

// out = C^-1 in, `columns` columns at once (Gauss with row pivots). False if C is singular.
bool tb_newton_divide(int dim, const tbReal* C, const tbReal* in, int columns, tbReal* out);

#endif
