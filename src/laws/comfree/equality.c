#include "laws/comfree/equality.h"

#include <math.h>
#include <string.h>

#include "dynamics/mass.h"
#include "linalg/dense.h"
#include "linalg/ltdl.h"

static int is_equality(const tbConstraint* c) {
  return c->source == TB_SOURCE_EQUALITY && c->nnz > 0;
}

static tbReal row_dot(const tbConstraint* c, int r, const tbReal* v) {
  const tbReal* J = c->J + (size_t)r * (size_t)c->nnz;
  tbReal sum = 0;
  for (int k = 0; k < c->nnz; k++) sum += J[k] * v[c->col[k]];
  return sum;
}

// Rows of Y = J H^-1, then A = Y J^T with a compliance far below anything measurable, which bounds
// the impulses of contradictory equalities.
static void fill(const tbModel* m, const tbConstraints* cs, tbInertiaFactor factor,
                 tbPresolvedEqualities* h) {
  tbForest forest = tb_forest(m);
  for (int i = 0, row = 0; i < cs->count; i++) {
    const tbConstraint* c = &cs->list[i];
    for (int r = 0; is_equality(c) && r < c->dim; r++, row++) {
      tbReal* y = h->Y + (size_t)row * (size_t)m->nv;
      memset(y, 0, sizeof(tbReal) * (size_t)m->nv);
      for (int k = 0; k < c->nnz; k++) y[c->col[k]] = c->J[(size_t)r * (size_t)c->nnz + (size_t)k];
      tb_ltdl_solve(forest, factor.LD, factor.inverse, y);
    }
  }
  for (int i = 0, row = 0; i < cs->count; i++) {
    const tbConstraint* c = &cs->list[i];
    for (int r = 0; is_equality(c) && r < c->dim; r++, row++) {
      for (int s = 0; s < h->n; s++) {
        h->L[(size_t)row * (size_t)h->n + (size_t)s] =
            row_dot(c, r, h->Y + (size_t)s * (size_t)m->nv);
      }
    }
  }
  for (int i = 0, row = 0; i < cs->count; i++) {
    const tbConstraint* c = &cs->list[i];
    for (int r = 0; is_equality(c) && r < c->dim; r++, row++) {
      tbReal *diagonal = &h->L[(size_t)row * (size_t)(h->n + 1)], y = *diagonal, slope;
      *diagonal = y > 0 ? y + m->opt.equality_softness * tb_equality_scale(m, c, r, y, &slope) : 1;
    }
  }
}

tbResult tb_presolved_build(const tbModel* m, tbArena* arena, const tbConstraints* cs,
                            tbInertiaFactor factor, tbPresolvedEqualities* h) {
  memset(h, 0, sizeof *h);
  h->nv = m->nv;
  h->rows = cs;
  for (int i = 0; i < cs->count; i++) h->n += is_equality(&cs->list[i]) ? cs->list[i].dim : 0;
  if (h->n == 0) return TB_OK;
  size_t n = (size_t)h->n;
  h->Y = tb_arena_alloc(arena, sizeof(tbReal) * n * (size_t)m->nv);
  h->L = tb_arena_alloc(arena, sizeof(tbReal) * n * n);
  h->pull = tb_arena_alloc(arena, sizeof(tbReal) * n);
  tbReal* scratch = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(tb_cholesky_scratch(h->n) + 1));
  if (!h->Y || !h->L || !h->pull || !scratch) return TB_ERROR_MEMORY;
  fill(m, cs, factor, h);
  return tb_cholesky(h->n, h->L, h->n, scratch) ? TB_OK : TB_ERROR_NUMERIC;
}

void tb_presolved_bias(const tbModel* m, const tbData* d, const tbPresolvedEqualities* h,
                       tbReal* bias) {
  for (int i = 0, row = 0; i < h->rows->count; i++) {
    const tbConstraint* c = &h->rows->list[i];
    for (int r = 0; is_equality(c) && r < c->dim; r++, row++) {
      tbReal slope;
      bias[row] = copysign(tb_correction(m, d, c, fabs(c->pos[r]), &slope), c->pos[r]);
    }
  }
}

void tb_presolved_correct(const tbPresolvedEqualities* h, const tbReal* bias, tbReal* v,
                          tbReal* impulse) {
  if (h->n == 0) return;
  for (int i = 0, row = 0; i < h->rows->count; i++) {
    const tbConstraint* c = &h->rows->list[i];
    for (int r = 0; is_equality(c) && r < c->dim; r++, row++) {
      h->pull[row] = -row_dot(c, r, v) - (bias ? bias[row] : 0);
    }
  }
  tb_cholesky_solve(h->n, h->L, h->n, h->pull);
  for (int r = 0; r < h->n; r++) {
    const tbReal* y = h->Y + (size_t)r * (size_t)h->nv;
    for (int k = 0; k < h->nv; k++) v[k] += h->pull[r] * y[k];
    impulse[r] += h->pull[r];
  }
}

void tb_presolved_store(const tbPresolvedEqualities* h, const tbReal* impulse, tbReal* lambda,
                        tbReal* force) {
  for (int i = 0, row = 0; i < h->rows->count; i++) {
    const tbConstraint* c = &h->rows->list[i];
    for (int r = 0; is_equality(c) && r < c->dim; r++, row++) {
      const tbReal* J = c->J + (size_t)r * (size_t)c->nnz;
      lambda[c->row + r] = impulse[row];
      for (int k = 0; k < c->nnz; k++) force[c->col[k]] += impulse[row] * J[k];
    }
  }
}
