// Blocks on chains (tbChains) in the matrix of solvers/velocity.
#ifndef TRIBO_OPERATOR_VELOCITY_CHAINS_H_
#define TRIBO_OPERATOR_VELOCITY_CHAINS_H_

#include "operator/velocity_dense.h"

// Room for them; false: out of memory. No loads; W of a block is added to those of its body; J^T W
// J of all goes into the square, or into the blocks of sparse factors.
bool tb_chains_start(tbVelocity* system, tbArena* arena);
void tb_chains_clear(tbVelocity* system);
void tb_chains_add(tbVelocity* system, int block, const tbReal* W);
void tb_chains_spread_dense(tbVelocity* system);
void tb_chains_spread_sparse(tbVelocity* system);

#endif
