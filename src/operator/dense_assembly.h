// Newton's matrix M + J^T W J of a small island as a dense lower triangle. It is eliminated from
// the last dof up, as M itself is, so that what is zero between the branches of a tree stays zero
// and is skipped: no pattern has to be found first. See docs/soft.md.
#ifndef TRIBO_OPERATOR_DENSE_ASSEMBLY_H_
#define TRIBO_OPERATOR_DENSE_ASSEMBLY_H_

#include "solvers/soft/soft.h"

enum {
  TB_SOFT_DENSE = 128,       // most dofs that this is faster for than solvers/velocity
  TB_SOFT_DENSE_LOOSE = 64,  // the same where most fly free
  TB_SOFT_ROWS = 16,         // most rows of a block
};

typedef struct {
  int n, stride;
  tbReal* H;        // n x stride; the factor L, unit diagonal not stored, where H = L^T D L
  tbReal* inverse;  // of D; zero where a pivot is no more than rounding
  tbReal* WJ;       // W J of a block over all dofs, then J
  const tbReal*
      least;  // pivots of M alone, zero where M has none, or NULL: those of H >= M are no smaller
  bool skew;  // W need not be symmetric: H is a full square, and its factors U D L
} tbDenseAssembly;

// False: out of memory.
bool tb_dense_assembly_build(tbDenseAssembly* dense, const tbSoftProblem* problem, tbArena* arena);

// H = M; H += J^T W J of a block, `place` the local index of each of its columns, W symmetric;
// factor (false: a diagonal entry is not positive, or not finite); x <- H^-1 x.
void tb_dense_assembly_open(tbDenseAssembly* dense, const tbSoftProblem* problem);
void tb_dense_assembly_add(tbDenseAssembly* dense, const tbSoftBlock* block, const int* place,
                           const tbReal* W);
bool tb_dense_assembly_factor(tbDenseAssembly* dense);
void tb_dense_assembly_solve(const tbDenseAssembly* dense, tbReal* x);

// The factor of a full square (`skew`, both halves of H filled). It needs every pivot to be larger
// than a tenth of `least`, the pivots of M alone, whatever its sign, or it does not hold: false,
// and H is lost.
bool tb_dense_assembly_factor_skew(tbDenseAssembly* dense, const tbReal* least);

#endif
