// The matrix of solvers/velocity as a dense square over the dofs of whole trees, for islands of up
// to TB_SOFT_DENSE dofs. Contacts with the world couple no dofs that M does not couple, so that the
// branches of a robot stay apart and are skipped (solvers/soft_dense). A block's columns are
// covered by fours of neighbouring places, with zeros where it has none: products with it and its
// J^T W J run over these and go straight to where they belong.
#ifndef TRIBO_OPERATOR_VELOCITY_DENSE_H_
#define TRIBO_OPERATOR_VELOCITY_DENSE_H_

#include "operator/dense_assembly.h"
#include "operator/velocity.h"

enum { TB_FOUR = 4 };

// Rows of a block over the island's own dofs.
typedef struct {
  int dim, nnz;
  int only;               // the only column of a single row that is not zero, or -1
  int nfour;              // fours that cover its columns; none: fewer dofs than that
  const int* four;        // the first place of each, ascending
  const int* place;       // of each column
  const tbReal* J;        // dim x nnz
  const tbReal* by_four;  // J over the fours, dim x 4 nfour
} tbDenseRows;

struct tbVelocityDense {
  int n, ntree;
  const tbRange* tree;
  tbDenseRows* rows;
  tbDenseAssembly H;
  tbReal* base;                   // M, in full, as H is stored
  tbReal *least, *copy, *by_dof;  // pivots of M; H before it was factored; scratch
  int* pivot;
  bool exchanged;  // the factor has row exchanges: it is in `copy`
};

// As tb_velocity_build, over whole trees: those that the blocks move. `chains` may be NULL.
bool tb_velocity_build_dense(tbVelocity* system, tbArena* arena, const tbForestInertia* inertia,
                             int nblock, const tbRows* block, const tbCompositeChains* chains);

// What tb_velocity_mul and the others do for such a system; products with `count` blocks.
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

// x by dofs of the forest.
void tb_velocity_dense_by_dof(const tbVelocity* system, const tbReal* x, tbReal* out);

#endif
