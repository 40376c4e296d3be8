// The local problem of one block: the exact solution of its law with the impulses of all other
// blocks fixed.
#ifndef TRIBO_SOLVERS_LOCAL_LOCAL_H_
#define TRIBO_SOLVERS_LOCAL_LOCAL_H_

#include "tribo/problem.h"

// Solve the block's law for sigma = A lambda + b, with A the block's diagonal block of G + R
// (row-major, symmetric). `lambda` holds the last impulse on entry. `slip` keeps the sliding
// multiplier of a cone between calls (0 at first).
void tb_local_solve(const tbBlock* block, tbLaw law, const tbReal* A, const tbReal* b,
                    tbReal* lambda, tbReal* slip);

// The same for a cone under the convex law: a few projected gradient steps (CM Alg. 2), and the
// exact minimum if these converge slowly.
void tb_local_ccp(const tbBlock* block, const tbReal* A, const tbReal* b, tbReal* lambda);

// The same for a cone under RaiSim's law, of any number of rows.
void tb_local_raisim(const tbBlock* block, const tbReal* A, const tbReal* b, tbReal* lambda,
                     tbReal* slip);

#endif
