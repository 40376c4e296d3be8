// Sparse LU or Cholesky factors of a matrix of small dense blocks with a symmetric pattern,
// symmetric or not in its values, eliminated in the order of its node numbers. See
// docs/notebook/ldu.md.
//
// Node k keeps its diagonal block D_k, the block row U_k = A[k, later] and the transposed block
// column C_k = A[later, k]^T, where `later` are the connected nodes that remain. Pivots are
// exchanged inside diagonal blocks only.
#ifndef TRIBO_LINALG_LDU_H_
#define TRIBO_LINALG_LDU_H_

#include <stdbool.h>

#include "base/arena.h"
#include "tribo/types.h"

enum { TB_LDU_DIM = 8 };  // largest block

typedef struct {
  int nodes;
  const int* dim;  // rows of each node, 1 to TB_LDU_DIM
  int* first;      // first row of each node; first[nodes] is the size
  int* start;      // later nodes of node k: later[start[k]] .. later[start[k + 1] - 1], ascending
  int* later;
  int* column;   // start of each later node in U_k and C_k
  int* width;    // columns of U_k and C_k
  size_t* at;    // D_k, then U_k
  size_t* skew;  // C_k in `mirror`; unused if symmetric
  size_t size;   // reals of all D and U
  size_t mirror_size;
  tbReal* value;    // D and U of all nodes
  tbReal* mirror;   // C of all nodes
  int* pivot;       // exchanges inside each node
  tbReal* inverse;  // by row: one over the diagonal of the factors of D_k
  bool* six;        // by node: the node and all later nodes have six rows, as free bodies do
  int* group;       // by node: end of its group of nodes with the same later nodes
  tbReal* scratch;  // a vector as long as the longest row
  bool symmetric;   // whether the factors are those of a symmetric matrix
  double flops;     // of a symmetric factorisation
} tbLdu;

// Find the pattern of the factors. The later neighbours of k, in any order and possibly repeated,
// are edge[edge_start[k]] .. edge[edge_start[k + 1] - 1]. False: out of memory.
bool tb_ldu_analyze(tbLdu* ldu, tbArena* arena, int nodes, const int* dim, const int* edge_start,
                    const int* edge);

// Column of the later node `b` in U_a; b must be one of a's.
int tb_ldu_column(const tbLdu* ldu, int a, int b);

// Factor the matrix in `value` (and, if not symmetric, `mirror`). False: a block is singular or, in
// a symmetric matrix, not positive definite.
bool tb_ldu_factor(tbLdu* ldu, bool symmetric);

// The sign of the determinant of the factored matrix, which must not be symmetric.
int tb_ldu_sign(const tbLdu* ldu);

// x <- A^-1 x.
void tb_ldu_solve(const tbLdu* ldu, tbReal* x);

#endif
