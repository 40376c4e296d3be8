// A preconditioner for conjugate gradients on the soft model: M + J^T W J where M has an entry, W
// the second derivative of the blocks at the current point.
//
// The rows of a contact with the world move one chain of dofs, and all pairs of a chain have an
// entry in M: for these contacts the matrix is Newton's own. For a contact of two chains the pairs
// across the chains are omitted: the common dofs do not move the contact, so the remaining matrix
// is the sum of two squares and positive.
#include <string.h>

#include "solvers/soft/soft.h"

// Add J^T W J of one block to the entries of H, which are those of M. `JW` is scratch of dim x nnz.
static void add_block(const tbSoftProblem* p, const tbSoftBlock* block, const tbReal* W, tbReal* JW,
                      tbReal* H) {
  int dim = block->dim, nnz = block->nnz;
  for (int r = 0; r < dim; r++) {
    for (int k = 0; k < nnz; k++) {
      tbReal sum = 0;
      for (int s = 0; s < dim; s++) sum += W[r * dim + s] * block->J[s * nnz + k];
      JW[r * nnz + k] = sum;
    }
  }
  for (int a = 0; a < nnz; a++) {
    int row = block->col[a], at = p->forest.rowadr[row], end = at + p->forest.rownnz[row];
    for (int b = 0; b <= a; b++) {
      while (at < end && p->forest.colind[at] < block->col[b]) at++;
      if (at == end || p->forest.colind[at] != block->col[b]) continue;
      for (int r = 0; r < dim; r++) H[at] += block->J[r * nnz + a] * JW[r * nnz + b];
    }
  }
}

bool tb_soft_precondition(const tbSoftProblem* p, const tbReal* r, tbReal* JW, tbReal* LD,
                          tbReal* inverse) {
  int last = p->forest.n - 1;
  size_t entries = (size_t)(p->forest.rowadr[last] + p->forest.rownnz[last]);
  memcpy(LD, p->M, sizeof(tbReal) * entries);
  for (int b = 0; b < p->nblock; b++) {
    const tbSoftBlock* block = &p->block[b];
    tbReal W[16 * 16], force[16];
    tb_soft_block(block, p->D + block->row, r + block->row, force, W);
    bool any = false;
    for (int i = 0; i < block->dim; i++) any = any || W[i * (block->dim + 1)] != 0;
    if (any) add_block(p, block, W, JW, LD);
  }
  return tb_ltdl_factor(p->forest, LD, inverse, 0) < 0;
}
