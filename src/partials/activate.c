// The active rows of a step, in the form that the derivatives of every law use.
#include <string.h>

#include "partials/derivatives.h"

// Rows are cleared as they become active.
bool tb_deriv_reserve_sources(tbDerivatives* x, const tbConstraints* cs) {
  size_t size = sizeof(tbReal) * ((size_t)cs->nrow * (size_t)x->ncol + 1);
  x->E = tb_arena_alloc(&x->arena, size);
  return x->E != NULL;
}

tbActiveRows* tb_deriv_activate(tbDerivatives* x, const tbConstraint* c) {
  tbActiveRows* a = &x->active[x->nactive];
  size_t count = (size_t)(c->dim * c->nnz);
  int* col = tb_arena_alloc(&x->arena, sizeof(int) * (size_t)(c->nnz + 1));
  tbReal* J = tb_arena_alloc(&x->arena, sizeof(tbReal) * (count + 1));
  if (!col || !J) return NULL;
  memcpy(col, c->col, sizeof(int) * (size_t)c->nnz);
  memcpy(J, c->J, sizeof(tbReal) * count);
  memset(a, 0, sizeof *a);
  a->source = c->source;
  a->id = c->id;
  a->row = x->n;
  a->island = c->island;
  a->dim = c->dim;
  a->nnz = c->nnz;
  a->col = col;
  a->J = J;
  size_t first = (size_t)x->n * (size_t)x->ncol, width = (size_t)c->dim * (size_t)x->ncol;
  memset(x->S + first, 0, sizeof(tbReal) * width);
  if (x->E) memset(x->E + first, 0, sizeof(tbReal) * width);
  x->n += c->dim;
  x->nactive++;
  return a;
}
