// The matrix of operator/velocity.h as a dense square over the dofs of whole trees, for islands of
// up to TB_SOFT_DENSE dofs. Contacts with the world couple no dofs that M does not couple, so that
// the branches of a robot stay uncoupled and are skipped (dense_assembly.h). A block's columns are
// covered by groups of four neighbouring indices, with zeros where the block has no column:
// products with its rows and J^T W J run over these groups without indirection.
#ifndef TRIBO_OPERATOR_VELOCITY_DENSE_H_
#define TRIBO_OPERATOR_VELOCITY_DENSE_H_

#include "operator/dense_assembly.h"
#include "operator/velocity.h"

enum { TB_FOUR = 4 };

// Rows of a block over the island's own dofs.
typedef struct {
  int dim, nnz;
  int only;               // the only nonzero column of a single row, or -1
  int nfour;              // groups of four that cover its columns; 0: fewer than four dofs
  const int* four;        // the first index of each group, ascending
  const int* index;       // index of each column
  const tbReal* J;        // dim x nnz
  const tbReal* by_four;  // J over the groups, dim x 4 nfour
} tbDenseRows;

struct tbVelocityDense {
  int n, ntree;
  const tbRange* tree;
  tbDenseRows* rows;
  tbDenseAssembly H;
  tbReal* base;                   // M, in full, as H is stored
  tbReal *least, *copy, *by_dof;  // pivots of M; H before it was factored; scratch
  int* pivot;
  bool exchanged;  // the factor has row exchanges and is in `copy`
};

// As tb_velocity_build, over the whole trees that the blocks move. `chains` may be NULL.
bool tb_velocity_build_dense(tbVelocity* system, tbArena* arena, const tbForestInertia* inertia,
                             int nblock, const tbRows* block, const tbCompositeChains* chains);

// The dense forms of tb_velocity_mul and the others; products with `count` blocks.
void tb_velocity_dense_mul(const tbVelocity* system, int first, int count, const tbReal* x,
                           tbReal* out);
void tb_velocity_dense_apply_transposed(const tbVelocity* system, int first, int count,
                                        const tbReal* f, tbReal* x);
void tb_velocity_dense_inverse(const tbVelocity* system, tbReal* x);
void tb_velocity_dense_mass(const tbVelocity* system, const tbReal* x, tbReal* out);
void tb_velocity_dense_start(tbVelocity* system, bool symmetric);
void tb_velocity_dense_add(tbVelocity* system, int block, const tbReal* W);
bool tb_velocity_dense_factor(tbVelocity* system);
void tb_velocity_dense_solve(const tbVelocity* system, tbReal* x);

// Copy x to the dofs of the forest.
void tb_velocity_dense_by_dof(const tbVelocity* system, const tbReal* x, tbReal* out);

#endif
