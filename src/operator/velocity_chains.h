// Blocks on chains (tbCompositeChains) in the matrix of solvers/velocity.
#ifndef TRIBO_OPERATOR_VELOCITY_CHAINS_H_
#define TRIBO_OPERATOR_VELOCITY_CHAINS_H_

#include "operator/velocity_dense.h"

// Room for them; false: out of memory. No loads; W of a block is added to those of its body; J^T W
// J of all goes into the square, or into the blocks of sparse factors.
bool tb_composite_chains_open(tbVelocity* system, tbArena* arena);
void tb_composite_chains_clear(tbVelocity* system);
void tb_composite_chains_add(tbVelocity* system, int block, const tbReal* W);
void tb_composite_chains_scatter_dense(tbVelocity* system);
void tb_composite_chains_scatter_sparse(tbVelocity* system);

#endif
