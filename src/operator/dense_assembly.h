// Newton's matrix M + J^T W J of a small island as a dense lower triangle. It is eliminated from
// the last dof up, as M itself is, so that the zeros between the branches of a tree stay zero and
// are skipped, without a symbolic analysis. See docs/manual/soft.md.
#ifndef TRIBO_OPERATOR_DENSE_ASSEMBLY_H_
#define TRIBO_OPERATOR_DENSE_ASSEMBLY_H_

#include "solvers/soft/soft.h"

enum {
  TB_SOFT_DENSE = 128,       // most dofs for which this is faster than operator/velocity.h
  TB_SOFT_DENSE_LOOSE = 64,  // the same if most bodies are free
  TB_SOFT_ROWS = 16,         // most rows of a block
};

typedef struct {
  int n, stride;
  tbReal* H;        // n x stride; the factor L, unit diagonal not stored, where H = L^T D L
  tbReal* inverse;  // of D; zero if a pivot is at rounding level
  tbReal* WJ;       // W J of a block over all dofs, then J
  // Pivots of M alone, zero if M has none, or NULL. Since H >= M, the pivots of H are no smaller.
  const tbReal* least;
  bool skew;  // W need not be symmetric: H is a full square, and its factors are U D L
} tbDenseAssembly;

// False: out of memory.
bool tb_dense_assembly_build(tbDenseAssembly* dense, const tbSoftProblem* problem, tbArena* arena);

// H = M; H += J^T W J of a block, with `index` the local index of each of its columns and W
// symmetric; factor (false: a diagonal entry is not positive, or not finite); x <- H^-1 x.
void tb_dense_assembly_open(tbDenseAssembly* dense, const tbSoftProblem* problem);
void tb_dense_assembly_add(tbDenseAssembly* dense, const tbSoftBlock* block, const int* index,
                           const tbReal* W);
bool tb_dense_assembly_factor(tbDenseAssembly* dense);
void tb_dense_assembly_solve(const tbDenseAssembly* dense, tbReal* x);

// The factor of a full square (`skew`, both halves of H filled). If the magnitude of a pivot is not
// larger than a tenth of `least`, the pivots of M alone, the factorisation fails: false, and H is
// overwritten.
bool tb_dense_assembly_factor_skew(tbDenseAssembly* dense, const tbReal* least);

#endif
