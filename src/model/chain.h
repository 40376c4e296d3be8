// Dofs that move a body: the path of its last dof to the world, which is a row of M's pattern.
#ifndef TRIBO_MODEL_CHAIN_H_
#define TRIBO_MODEL_CHAIN_H_

#include "base/kernel.h"
#include "tribo/model.h"

// The body, or the world (which no dof moves) for an id out of range.
TB_ANY_INLINE int tb_valid_body(const tbModel* m, int body) {
  return body < 0 || body >= m->nbody ? 0 : body;
}

// Points `dofs` to the ascending list and returns its length.
TB_ANY_INLINE int tb_body_chain(const tbModel* m, int body, const int** dofs) {
  int last = m->body_lastdof[body];
  *dofs = last < 0 ? m->M_colind : m->M_colind + m->M_rowadr[last];
  return last < 0 ? 0 : m->M_rownnz[last];
}

// Merge two ascending lists without repeats into `out` (room for na + nb). Returns the length.
TB_ANY_INLINE int tb_union(const int* a, int na, const int* b, int nb, int* out) {
  int i = 0, j = 0, n = 0;
  while (i < na && j < nb) {
    int x = a[i], y = b[j];
    i += x <= y;
    j += y <= x;
    out[n++] = x < y ? x : y;
  }
  while (i < na) out[n++] = a[i++];
  while (j < nb) out[n++] = b[j++];
  return n;
}

// Dofs that move either body, ascending. `out` needs room for both chains, at most nv.
TB_ANY_INLINE int tb_chain_union(const tbModel* m, int body1, int body2, int* out) {
  const int *a, *b;
  int na = tb_body_chain(m, body1, &a), nb = tb_body_chain(m, body2, &b);
  return tb_union(a, na, b, nb, out);
}

#endif
