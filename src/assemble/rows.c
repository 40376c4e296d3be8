// Constraint rows: the dofs that move each constraint, and their Jacobian. Code shared by all kinds
// of constraints; equalities, limits and contacts have files of their own.
#include "assemble/rows.h"

#include <string.h>

#include "linalg/simd4.h"
#include "model/chain.h"
#include "model/workspace.h"
#include "spatial/vec3.h"

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

// Three directions f as linear functions of a body's twist, side by side: the velocity of the point
// at `arm` along each, and the angular velocity about each.
#if TB_PART == 4

typedef struct {
  tbSimd4 turn[3], along[3];  // the last entry of each is unused
} Directions;

TB_INLINE Directions directions_at(const tbReal arm[3], const tbReal* frame, tbReal sign) {
  Directions x;
  for (int k = 0; k < 3; k++) x.along[k] = sign * (tbSimd4){frame[k], frame[3 + k], frame[6 + k]};
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    x.turn[k] = arm[i] * x.along[j] - arm[j] * x.along[i];
  }
  return x;
}

// Velocity of the point along the directions, and angular velocity about them, per unit velocity of
// a dof.
TB_INLINE void move_along(const Directions* x, const tbReal axis[6], tbReal v[3], tbReal w[3]) {
  tbSimd4 move = (x->turn[0] * axis[0] + x->turn[1] * axis[1] + x->turn[2] * axis[2]) +
                 (x->along[0] * axis[3] + x->along[1] * axis[4] + x->along[2] * axis[5]);
  tbSimd4 turn = x->along[0] * axis[0] + x->along[1] * axis[1] + x->along[2] * axis[2];
  for (int r = 0; r < 3; r++) {
    v[r] = move[r];
    w[r] = turn[r];
  }
}

#else

typedef struct {
  tbReal turn[3][3], along[3][3];
} Directions;

TB_INLINE Directions directions_at(const tbReal arm[3], const tbReal* frame, tbReal sign) {
  Directions x;
  for (int k = 0; k < 3; k++) {
    for (int r = 0; r < 3; r++) x.along[k][r] = sign * frame[3 * r + k];
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    for (int r = 0; r < 3; r++) x.turn[k][r] = arm[i] * x.along[j][r] - arm[j] * x.along[i][r];
  }
  return x;
}

TB_INLINE void move_along(const Directions* x, const tbReal axis[6], tbReal v[3], tbReal w[3]) {
  for (int r = 0; r < 3; r++) {
    v[r] = (x->turn[0][r] * axis[0] + x->turn[1][r] * axis[1] + x->turn[2][r] * axis[2]) +
           (x->along[0][r] * axis[3] + x->along[1][r] * axis[4] + x->along[2][r] * axis[5]);
    w[r] = x->along[0][r] * axis[0] + x->along[1][r] * axis[1] + x->along[2][r] * axis[2];
  }
}

#endif

// The dofs of a chain, their motions of the body, and their columns in a block of rows.
typedef struct {
  int n;
  const int* chain;
  const tbReal* cdof;
  int nnz;
  const int* col;
  tbReal* J;
} Columns;

// J += the first `linear` directions of the point's velocity and `angular` ones of the angular
// velocity.
TB_INLINE void add_columns(const Directions* x, int linear, int angular, const Columns* c) {
  int nnz = c->nnz;
  for (int k = 0, at = 0; k < c->n; k++, at++) {
    while (c->col[at] != c->chain[k]) at++;
    const tbReal* axis = c->cdof + 6 * c->chain[k];
    tbReal* to = c->J + at;
    tbReal v[3], w[3];
    move_along(x, axis, v, w);
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

// Rows of a point with a given arm from the centre of the tree, with a specialised copy for the
// usual contact of three rows.
TB_INLINE void add_rows(const tbPointRows* rows, const tbReal arm[3], tbReal sign,
                        const Columns* c) {
  Directions x = directions_at(arm, rows->frame, sign);
  if (rows->linear == 3 && rows->angular == 0) {
    add_columns(&x, 3, 0, c);
  } else {
    add_columns(&x, rows->linear, rows->angular, c);
  }
}

static void add_generic(const tbPointRows* rows, const tbReal arm[3], tbReal sign,
                        const Columns* c) {
  add_rows(rows, arm, sign, c);
}

TB_WIDE static void add_avx2(const tbPointRows* rows, const tbReal arm[3], tbReal sign,
                             const Columns* c) {
  add_rows(rows, arm, sign, c);
}

void tb_add_point_rows(const tbRowBuilder* b, tbConstraint* c, const tbPointRows* rows, int body,
                       int first, tbReal sign) {
  const tbData* d = b->d;
  Columns to = {.cdof = d->cdof, .nnz = c->nnz, .col = c->col, .J = c->J};
  to.n = tb_body_chain(b->m, body, &to.chain) - first;
  if (to.n <= 0) return;
  to.chain += first;
  tbReal arm[3];
  tb_sub3(arm, rows->point, d->subtree_com + 3 * b->m->body_rootid[body]);
  if (tb_wide()) {
    add_avx2(rows, arm, sign, &to);
  } else {
    add_generic(rows, arm, sign, &to);
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

tbResult tb_assemble_rows(const tbModel* model, tbData* data, tbLookAhead look_ahead,
                          const char* pruned, tbConstraints* out) {
  tbArena* arena = &data->work->arena;
  memset(out, 0, sizeof *out);
  if (model->opt.disableflags & TB_DISABLE_CONSTRAINT) return TB_OK;
  tbRowBuilder b = {.m = model, .d = data, .arena = arena, .out = out};
  b.capacity = model->neq + model->nv + 3 * model->ntendon + 2 * model->njnt + data->ncon;
  out->list = tb_arena_alloc(arena, sizeof(tbConstraint) * (size_t)(b.capacity + 1));
  if (!out->list) return TB_ERROR_MEMORY;
  bool ok = tb_add_equalities(&b) && tb_add_frictions(&b) && tb_add_limits(&b, look_ahead) &&
            tb_add_contacts(&b, pruned);
  return ok ? TB_OK : TB_ERROR_MEMORY;
}
