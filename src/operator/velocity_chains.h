// Blocks on chains (tbCompositeChains) in the matrix of operator/velocity.h.
#ifndef TRIBO_OPERATOR_VELOCITY_CHAINS_H_
#define TRIBO_OPERATOR_VELOCITY_CHAINS_H_

#include "operator/velocity_dense.h"

// Allocate the loads (false: out of memory); set them to zero; add P^T W P of a block to the load
// of its body; add J^T W J of all blocks to the dense square, or to the blocks of the sparse
// matrix.
bool tb_composite_chains_open(tbVelocity* system, tbArena* arena);
void tb_composite_chains_clear(tbVelocity* system);
void tb_composite_chains_add(tbVelocity* system, int block, const tbReal* W);
void tb_composite_chains_scatter_dense(tbVelocity* system);
void tb_composite_chains_scatter_sparse(tbVelocity* system);

#endif
