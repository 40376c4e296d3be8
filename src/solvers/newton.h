// The blocks of ncp/newton's equations.
#ifndef TRIBO_SOLVERS_NEWTON_H_
#define TRIBO_SOLVERS_NEWTON_H_

#include "solvers/solver.h"

// F of one block and, unless C is NULL, its C and D (newton_block.c), in scaled rows.
void tb_newton_block(const tbBlock* block, tbLaw law, const tbReal* scale, const tbReal* rho,
                     const tbReal* x, const tbReal* sigma, tbReal proximal, tbReal* F, tbReal* C,
                     tbReal* D);

// out = C^-1 in, `columns` columns at once (Gauss with row pivots). False where C is singular.
bool tb_newton_divide(int dim, const tbReal* C, const tbReal* in, int columns, tbReal* out);

#endif
