// J^T W J of many contacts along a chain, computed like the composite inertia of its bodies: the
// loads P^T W P of all bodies beyond a dof add up to K, and the entries of that dof with any dof i
// on the path to the root are
//
//     S_i . K S,    S . K S_i                                                               (1)
//
// so that a chain of n dofs costs n^2 for all of its contacts, not for each of them.
#include "operator/velocity_chains.h"

#include <string.h>

#include "base/kernel.h"

enum { TWIST = 6, LOAD = TWIST * TWIST, BOTH = 2 * TWIST };

bool tb_composite_chains_open(tbVelocity* s, tbArena* arena) {
  size_t n = (size_t)s->size;
  s->motion = tb_arena_alloc(arena, sizeof(tbReal) * (TWIST * n + 1));
  s->load = tb_arena_alloc(arena, sizeof(tbReal) * (LOAD * n + 1));
  s->weighted = tb_arena_alloc(arena, sizeof(tbReal) * (BOTH * n + 1));
  if (arena->failed) return false;
  for (int i = 0; i < s->size; i++) {
    int dof = s->dof[i];
    for (int k = 0; k < TWIST; k++) {
      s->motion[k * s->size + s->index[dof]] = s->chains->motion[TWIST * dof + k];
    }
  }
  return true;
}

void tb_composite_chains_clear(tbVelocity* s) {
  memset(s->load, 0, sizeof(tbReal) * LOAD * (size_t)s->size);
}

void tb_composite_chains_add(tbVelocity* s, int block, const tbReal* W) {
  int dim = s->block[block].dim;
  const tbReal* P = s->chains->P[block];
  tbReal* load = s->load + LOAD * s->index[s->chains->last[block]];
  for (int r = 0; r < dim; r++) {
    tbReal WP[TWIST] = {0};
    for (int c = 0; c < dim; c++) {
      for (int k = 0; k < TWIST; k++) WP[k] += W[r * dim + c] * P[c * TWIST + k];
    }
    for (int i = 0; i < TWIST; i++) {
      for (int k = 0; k < TWIST; k++) load[i * TWIST + k] += P[r * TWIST + i] * WP[k];
    }
  }
}

// out = S^T x over `count` indices from `first` on, S by rows.
TB_INLINE void along_chain(const tbVelocity* s, int first, int count, const tbReal* x,
                           tbReal* TB_RESTRICT out) {
  const tbReal *S0 = s->motion + first, *S1 = S0 + s->size, *S2 = S1 + s->size;
  const tbReal *S3 = S2 + s->size, *S4 = S3 + s->size, *S5 = S4 + s->size;
  for (int k = 0; k < count; k++) {
    out[k] =
        (x[0] * S0[k] + x[1] * S1[k] + x[2] * S2[k]) + (x[3] * S3[k] + x[4] * S4[k] + x[5] * S5[k]);
  }
}

// K S of the dof at an index, followed by K^T S.
static void multiply_motion(tbVelocity* s, int at) {
  const tbReal* K = s->load + LOAD * at;
  tbReal *ahead = s->weighted + BOTH * at, *back = ahead + TWIST;
  for (int k = 0; k < TWIST; k++) back[k] = 0;
  for (int i = 0; i < TWIST; i++) {
    tbReal own = s->motion[i * s->size + at], sum = 0;
    for (int k = 0; k < TWIST; k++) {
      sum += K[i * TWIST + k] * s->motion[k * s->size + at];
      back[k] += K[i * TWIST + k] * own;
    }
    ahead[i] = sum;
  }
}

// From the leaves to the root: the load of a dof is added to its parent's.
static void accumulate_loads(tbVelocity* s) {
  const tbForest* f = &s->forest;
  for (int i = s->size - 1; i >= 0; i--) {
    int dof = s->dof[i], at = s->index[dof], count = f->rownnz[dof];
    multiply_motion(s, at);
    if (count < 2) continue;
    tbReal* parent = s->load + LOAD * s->index[f->colind[f->rowadr[dof] + count - 2]];
    for (int k = 0; k < LOAD; k++) parent[k] += s->load[LOAD * at + k];
  }
}

void tb_composite_chains_scatter_dense(tbVelocity* s) {
  const tbDenseAssembly* square = &s->dense->H;
  const tbForest* f = &s->forest;
  int stride = square->stride;
  accumulate_loads(s);
  for (int at = 0; at < s->size; at++) {
    const int* path = f->colind + f->rowadr[s->dof[at]];
    const tbReal *ahead = s->weighted + BOTH * at, *back = ahead + TWIST;
    int count = f->rownnz[s->dof[at]], root = s->index[path[0]];
    tbReal lower[TB_SOFT_DENSE], upper[TB_SOFT_DENSE];
    along_chain(s, root, at - root + 1, back, lower);
    if (!s->symmetric) along_chain(s, root, at - root + 1, ahead, upper);
    for (int k = 0; k < count; k++) {
      int index = s->index[path[k]];
      square->H[at * stride + index] += lower[index - root];
      if (!s->symmetric && index < at) square->H[index * stride + at] += upper[index - root];
    }
  }
}

// Entries of the dof at an index with itself and with the preceding dofs of its node, its
// ancestors.
static void add_within_node(tbVelocity* s, int node, int at) {
  int dim = s->ldu.dim[node], first = s->ldu.first[node], row = at - first;
  const tbReal *ahead = s->weighted + BOTH * at, *back = ahead + TWIST;
  tbReal *D = s->ldu.value + s->ldu.at[node], lower[TB_LDU_DIM], upper[TB_LDU_DIM];
  along_chain(s, first, row + 1, back, lower);
  along_chain(s, first, row, ahead, upper);
  for (int j = 0; j <= row; j++) D[row * dim + j] += lower[j];
  for (int j = 0; j < row; j++) D[j * dim + row] += upper[j];
}

// out += x . S of all dofs of a node.
static void add_along_node(const tbVelocity* s, int node, const tbReal* x, tbReal* out) {
  tbReal entry[TB_LDU_DIM];
  along_chain(s, s->ldu.first[node], s->ldu.dim[node], x, entry);
  for (int j = 0; j < s->ldu.dim[node]; j++) out[j] += entry[j];
}

void tb_composite_chains_scatter_sparse(tbVelocity* s) {
  const tbLdu* l = &s->ldu;
  accumulate_loads(s);
  for (int node = 0; node < l->nodes; node++) {
    int dim = l->dim[node], width = l->width[node];
    const tbReal* weighted = s->weighted + BOTH * l->first[node];
    for (int i = 0; i < dim; i++) add_within_node(s, node, l->first[node] + i);
    for (int up = s->parent[node]; up >= 0; up = s->parent[up]) {
      int column = tb_ldu_column(l, node, up);
      tbReal* U = l->value + l->at[node] + dim * dim + column;
      tbReal* C = l->mirror + l->skew[node] + column;
      for (int i = 0; i < dim; i++) {
        add_along_node(s, up, weighted + BOTH * i + TWIST, U + i * width);
        if (!s->symmetric) add_along_node(s, up, weighted + BOTH * i, C + i * width);
      }
    }
  }
}
