// Constraint rows: which dofs move each constraint, and how fast. What all kinds of them share;
// equalities, limits and contacts have files of their own.
#include "contact/assemble_rows.h"

#include <string.h>

#include "linalg/four.h"
#include "model/chain.h"
#include "model/workspace.h"
#include "spatial/quat.h"
#include "tribo/step.h"

// ---- supports ----------------------------------------------------------------------------------

int tb_bodies_support(const tbRowBuilder* b, int body1, int body2, const int** col) {
  const int *chain1 = NULL, *chain2 = NULL;
  int n1 = tb_body_chain(b->m, body1, &chain1), n2 = tb_body_chain(b->m, body2, &chain2);
  *col = n1 ? chain1 : chain2;
  if (n1 == 0) return n2;
  if (n2 == 0) return n1;
  int* merged = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(n1 + n2));
  if (!merged) return -1;
  *col = merged;
  return tb_union(chain1, n1, chain2, n2, merged);
}

int tb_closed_support(const tbRowBuilder* b, const int* col, int n, const int** out) {
  const tbModel* m = b->m;
  int total = 0;
  for (int k = 0; k < n; k++) total += m->M_rownnz[col[k]];
  int* closed = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(total + 1));
  int* previous = tb_arena_alloc(b->arena, sizeof(int) * (size_t)(total + 1));
  if (!closed || !previous) return -1;
  int count = 0;
  for (int k = 0; k < n; k++) {
    memcpy(previous, closed, sizeof(int) * (size_t)count);
    count =
        tb_union(previous, count, m->M_colind + m->M_rowadr[col[k]], m->M_rownnz[col[k]], closed);
  }
  *out = closed;
  return count;
}

// ---- Jacobians ---------------------------------------------------------------------------------

void tb_scatter_row(const int* col, const tbReal* value, int n, tbReal factor, tbConstraint* c) {
  for (int k = 0, at = 0; k < n; k++, at++) {
    while (c->col[at] != col[k]) at++;
    c->J[at] += factor * value[k];
  }
}

// Three directions f as linear functions of a body's twist, side by side: how fast the point at
// `arm` moves along each, and how fast the body turns about each.
typedef struct {
  tbReal turn[3][4], along[3][4];
} Directions;

static void set_directions(Directions* x, const tbReal arm[3], const tbReal* frame, tbReal sign) {
  for (int k = 0; k < 3; k++) {
    for (int r = 0; r < 3; r++) x->along[k][r] = sign * frame[3 * r + k];
    x->along[k][3] = 0;
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    for (int r = 0; r < 4; r++) x->turn[k][r] = arm[i] * x->along[j][r] - arm[j] * x->along[i][r];
  }
}

// The dofs of a chain, how each moves its body, and where they are in a block of rows.
typedef struct {
  int n;
  const int* chain;
  const tbReal* cdof;
  int nnz;
  const int* col;
  tbReal* J;
} Columns;

// J += the first `linear` directions of the point and `angular` ones of the turn.
TB_INLINE void add_columns(const Directions* x, int linear, int angular, Columns c) {
  int nnz = c.nnz;
  for (int k = 0, at = 0; k < c.n; k++, at++) {
    while (c.col[at] != c.chain[k]) at++;
    const tbReal* axis = c.cdof + 6 * c.chain[k];
    tbReal* to = c.J + at;
#if TB_PART == 4
    const tbFour *turn = (const tbFour*)x->turn, *along = (const tbFour*)x->along;
    tbFour v = (turn[0] * axis[0] + turn[1] * axis[1] + turn[2] * axis[2]) +
               (along[0] * axis[3] + along[1] * axis[4] + along[2] * axis[5]);
    tbFour w = along[0] * axis[0] + along[1] * axis[1] + along[2] * axis[2];
#else
    tbReal v[3], w[3];
    for (int r = 0; r < 3; r++) {
      v[r] = (x->turn[0][r] * axis[0] + x->turn[1][r] * axis[1] + x->turn[2][r] * axis[2]) +
             (x->along[0][r] * axis[3] + x->along[1][r] * axis[4] + x->along[2][r] * axis[5]);
      w[r] = x->along[0][r] * axis[0] + x->along[1][r] * axis[1] + x->along[2][r] * axis[2];
    }
#endif
    if (linear > 0) to[0] += v[0];
    if (linear > 1) {
      to[nnz] += v[1];
      to[2 * nnz] += v[2];
    }
    to += linear * nnz;
    if (angular > 0) to[0] += w[0];
    if (angular > 1) {
      to[nnz] += w[1];
      to[2 * nnz] += w[2];
    }
  }
}

// The usual contact, of three rows, has a copy of its own.
TB_INLINE void add_directions(const Directions* x, int linear, int angular, Columns c) {
  if (linear == 3 && angular == 0) {
    add_columns(x, 3, 0, c);
  } else {
    add_columns(x, linear, angular, c);
  }
}

static void add_narrow(const Directions* x, int linear, int angular, Columns c) {
  add_directions(x, linear, angular, c);
}

TB_WIDE static void add_wide(const Directions* x, int linear, int angular, Columns c) {
  add_directions(x, linear, angular, c);
}

void tb_add_point_rows(const tbRowBuilder* b, tbConstraint* c, tbPointRows rows, int body,
                       int first, tbReal sign) {
  const tbData* d = b->d;
  Columns to = {.cdof = d->cdof, .nnz = c->nnz, .col = c->col, .J = c->J};
  to.n = tb_body_chain(b->m, body, &to.chain) - first;
  if (to.n <= 0) return;
  to.chain += first;
  tbReal arm[3];
  Directions x;
  tb_sub3(arm, rows.point, d->subtree_com + 3 * b->m->body_rootid[body]);
  set_directions(&x, arm, rows.frame, sign);
  if (tb_wide()) {
    add_wide(&x, rows.linear, rows.angular, to);
  } else {
    add_narrow(&x, rows.linear, rows.angular, to);
  }
}

// ---- the list ----------------------------------------------------------------------------------

tbConstraint* tb_add_constraint(tbRowBuilder* b, int source, int id, int dim, int nnz,
                                const int* col, uint64_t key) {
  if (b->out->count == b->capacity || nnz < 0) return NULL;
  tbConstraint* c = &b->out->list[b->out->count];
  memset(c, 0, sizeof *c);
  c->source = source;
  c->id = id;
  c->row = b->out->nrow;
  c->dim = dim;
  c->nnz = nnz;
  c->col = col;
  c->J = TB_ARENA_NEW(b->arena, tbReal, dim * nnz);
  c->key = key;
  if (!c->J) return NULL;
  b->out->count++;
  b->out->nrow += dim;
  return c;
}

uint64_t tb_plain_key(int source, int id, int side) {
  return ((uint64_t)source << 48) | ((uint64_t)(uint32_t)id << 2) | (uint64_t)side;
}

tbResult tb_assemble_rows(const tbModel* model, tbData* data, tbSight sight, const char* left_out,
                          tbConstraints* out) {
  tbArena* arena = &data->work->arena;
  memset(out, 0, sizeof *out);
  if (model->opt.disableflags & TB_DISABLE_CONSTRAINT) return TB_OK;
  tbRowBuilder b = {.m = model, .d = data, .arena = arena, .out = out};
  b.capacity = model->neq + model->nv + 3 * model->ntendon + 2 * model->njnt + data->ncon;
  out->list = tb_arena_alloc(arena, sizeof(tbConstraint) * (size_t)(b.capacity + 1));
  if (!out->list) return TB_ERROR_MEMORY;
  bool ok = tb_add_equalities(&b) && tb_add_frictions(&b) && tb_add_limits(&b, sight) &&
            tb_add_contacts(&b, left_out);
  return ok ? TB_OK : TB_ERROR_MEMORY;
}
