// The sparse form of tbFactor: block LU over pairs of bodies (docs/notebook/blocklu.md), for G in
// the SPARSE form. All memory is in the arena.
#ifndef TRIBO_OPERATOR_IMPULSE_FACTOR_SPARSE_H_
#define TRIBO_OPERATOR_IMPULSE_FACTOR_SPARSE_H_

#include "operator/impulse_factor.h"

// NULL: out of memory.
tbSparseFactor* tb_factor_sparse_create(const tbProblem* problem, const tbReal* scale,
                                        tbArena* arena);
void tb_factor_sparse_shift(tbSparseFactor* sparse, const tbReal* shift);
void tb_factor_sparse_solve(tbSparseFactor* sparse, const tbReal* b, tbReal* x);

#endif
