// Gauss-Seidel over blocks for any form of G, shared by all pgs solvers.
#ifndef TRIBO_SOLVERS_GAUSS_SEIDEL_SWEEP_H_
#define TRIBO_SOLVERS_GAUSS_SEIDEL_SWEEP_H_

#include "solvers/solver.h"

typedef struct {
  const tbProblem* p;
  tbReal* diagonal;  // the diagonal blocks of G + R, block i at diagonal_start[i]
  int* diagonal_start;
  tbReal* slip;      // sliding multiplier of each cone
  tbReal* velocity;  // product form: B^T lambda, updated with every change
} tbSweep;

// False when out of memory.
bool tb_sweep_init(tbSweep* sweep, tbSolve* s);

// Compute sweep->velocity from lambda (product form; no effect otherwise).
void tb_sweep_set(tbSweep* sweep, const tbReal* lambda);

// Called for each block with sigma = A lambda + b; writes the block's new impulse to lambda.
typedef void (*tbBlockUpdate)(void* context, const tbBlock* block, const tbReal* A, const tbReal* b,
                              tbReal* lambda, tbReal* slip);

// One sweep over all blocks in order, with over-relaxation (CM eq. 25). Returns the largest change
// of a block's velocity by its own impulse's change, a cheap measure of progress.
tbReal tb_sweep(tbSweep* sweep, tbLaw law, tbReal relaxation, bool backward, tbReal* lambda,
                tbBlockUpdate update, void* context);

// The main loop of every pgs solver: sweep and check until convergence.
tbResult tb_sweep_solve(tbSolve* s, tbBlockUpdate update, void* context);

#endif
