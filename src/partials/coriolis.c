// Partials of M a + b with the Coriolis forces of the middle of a step (coriolis_midpoint.c, eq.
// 2),
//
//     b(q, v'),   v' = v - h/2 u,   H u = b(q, v).
//
// b(q, v) - H u stays zero, and the part of H besides M is constant, so that
//
//     db = b_q(q, v') dq + b_v(q, v') (dv - h/2 du),   H du = d(b(q, v) - M u) at fixed u.     (1)
//
// b and M are linear in the inertial parameters, for which the same holds.
#include <string.h>

#include "dynamics/axis.h"
#include "dynamics/mass.h"
#include "linalg/gemm.h"
#include "model/workspace.h"
#include "partials/derivatives.h"
#include "forces/forces.h"
#include "forces/implicit_inertia.h"
#include "tribo/dynamics.h"

typedef struct {
  const tbModel* m;
  tbModel weightless;
  tbData* d;
  tbInertiaFactor H;
  int* tree;  // the trees with Coriolis forces of the middle, and their number
  int count;
  tbReal* v;      // nv: v', and qvel of other trees
  tbReal* minus;  // nv: -u, and 0 of other trees
  tbReal* keep;   // values of the start: qvel, cdof_dot, cvel
} Middle;

static tbResult find_trees(tbDerivatives* x, tbData* d, Middle* c) {
  const tbModel* m = x->m;
  size_t nv = (size_t)m->nv, kept = 7 * nv + 6 * (size_t)m->nbody;
  *c = (Middle){.m = m, .weightless = *m, .d = d};
  c->weightless.opt.disableflags |= TB_DISABLE_GRAVITY;
  c->tree = TB_ARENA_NEW(&x->arena, int, m->ntree + 1);
  c->v = tb_arena_alloc(&x->arena, sizeof(tbReal) * (2 * nv + kept + 1));
  if (!c->tree || !c->v) return TB_ERROR_MEMORY;
  tbResult result = tb_implicit_factor(m, d, tb_implicit_of(&m->opt), &c->H);
  if (result != TB_OK) return result;
  c->minus = c->v + nv;
  c->keep = c->minus + nv;
  memcpy(c->v, d->qvel, sizeof(tbReal) * nv);
  memset(c->minus, 0, sizeof(tbReal) * nv);
  for (int t = 0; t < m->ntree; t++) {
    if (tb_middle_velocity(m, d, c->H, t, c->minus, c->v)) c->tree[c->count++] = t;
  }
  for (size_t i = 0; i < nv; i++) c->minus[i] = -c->minus[i];
  return TB_OK;
}

static void copy(tbReal* to, const tbReal* from, int n) {
  memcpy(to, from, sizeof(tbReal) * (size_t)n);
}

// Set the velocities of joints, axes and bodies to those of the middle, and back to the start.
static void to_middle(const Middle* c) {
  tbReal *cdof_dot = c->keep + c->m->nv, *cvel = cdof_dot + 6 * c->m->nv;
  copy(c->keep, c->d->qvel, c->m->nv);
  copy(cdof_dot, c->d->cdof_dot, 6 * c->m->nv);
  copy(cvel, c->d->cvel, 6 * c->m->nbody);
  copy(c->d->qvel, c->v, c->m->nv);
  tb_com_velocity(c->m, c->d);
}

static void to_start(const Middle* c) {
  const tbReal *cdof_dot = c->keep + c->m->nv, *cvel = cdof_dot + 6 * c->m->nv;
  copy(c->d->qvel, c->keep, c->m->nv);
  copy(c->d->cdof_dot, cdof_dot, 6 * c->m->nv);
  copy(c->d->cvel, cvel, 6 * c->m->nbody);
}

// ---- by configuration and velocity --------------------------------------------------------------

// X (rows of the dofs first ... end - 1, one tree) <- H^-1 X, all columns at once.
static void solve_rows(const Middle* c, int first, int end, int columns, tbReal* X) {
  const tbModel* m = c->m;
  const size_t width = (size_t)columns;
  for (int i = end - 1; i >= first; i--) {
    const tbReal *L = c->H.LD + m->M_rowadr[i], *xi = X + (size_t)(i - first) * width;
    const int* col = m->M_colind + m->M_rowadr[i];
    for (int t = 0; t < m->M_rownnz[i] - 1; t++) {
      tbReal* xj = X + (size_t)(col[t] - first) * width;
      for (size_t k = 0; k < width; k++) xj[k] -= L[t] * xi[k];
    }
  }
  for (int i = first; i < end; i++) {
    const tbReal* L = c->H.LD + m->M_rowadr[i];
    const int* col = m->M_colind + m->M_rowadr[i];
    tbReal* xi = X + (size_t)(i - first) * width;
    for (size_t k = 0; k < width; k++) xi[k] *= c->H.inverse[i];
    for (int t = 0; t < m->M_rownnz[i] - 1; t++) {
      const tbReal* xj = X + (size_t)(col[t] - first) * width;
      for (size_t k = 0; k < width; k++) xi[k] -= L[t] * xj[k];
    }
  }
}

static void transpose(int n, const tbReal* A, int lda, tbReal* out, int ldo) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) {
      out[(size_t)k * (size_t)ldo + (size_t)i] = A[(size_t)i * (size_t)lda + (size_t)k];
    }
  }
}

// out += h/2 b_v du = h/2 (b_v H^-1) d(b - M u), with `slope` b_v at v'.
static tbResult add_through_middle(tbDerivatives* x, const Middle* c, const tbReal* slope,
                                   tbPartials* out) {
  const tbModel* m = c->m;
  const size_t nv = (size_t)m->nv, square = nv * nv;
  tbReal* by_q = tb_arena_alloc(&x->arena, sizeof(tbReal) * 6 * square);
  if (!by_q) return TB_ERROR_MEMORY;
  tbReal *by_v = by_q + square, *turned = by_v + square, *T = turned + square, *change = T + square;
  tb_rne_partials(&c->weightless, c->d, c->minus, NULL, by_q, by_v);
  for (int t = 0; t < c->count; t++) {
    int first = m->tree_dofadr[c->tree[t]], n = m->tree_dofnum[c->tree[t]];
    const size_t corner = (size_t)first * nv + (size_t)first;
    transpose(n, slope + corner, m->nv, turned, n);
    solve_rows(c, first, first + n, n, turned);
    transpose(n, turned, n, T, n);
    memset(change, 0, sizeof(tbReal) * 2 * (size_t)n * (size_t)n);
    tb_gemm_add(n, n, n, T, n, by_q + corner, m->nv, change, 2 * n);
    tb_gemm_add(n, n, n, T, n, by_v + corner, m->nv, change + n, 2 * n);
    for (int i = 0; i < n; i++) {
      const tbReal* row = change + (size_t)(2 * n) * (size_t)i;
      for (int k = 0; k < n; k++) {
        *tb_partial(out, first + i, first + k) += m->opt.timestep / 2 * row[k];
        *tb_partial(out, first + i, m->nv + first + k) += m->opt.timestep / 2 * row[n + k];
      }
    }
  }
  return TB_OK;
}

tbResult tb_deriv_inertia(tbDerivatives* x, tbData* d, const tbReal* acc, tbPartials* out) {
  const tbModel* m = x->m;
  const size_t nv = (size_t)m->nv;
  tbArenaMark mark = tb_arena_mark(&x->arena), factor = tb_arena_mark(&d->work->arena);
  tbReal* by_q = tb_arena_alloc(&x->arena, sizeof(tbReal) * (2 * nv * nv + 1));
  if (!by_q) return TB_ERROR_MEMORY;
  tbReal* by_v = by_q + nv * nv;
  Middle c = {.count = 0};
  tbResult result = tb_deriv_smooth_differs(m, d) ? TB_OK : find_trees(x, d, &c);
  if (result != TB_OK) return result;
  if (c.count > 0) to_middle(&c);
  tb_rne_partials(m, d, acc, d->xfrc_applied, by_q, by_v);
  if (c.count > 0) to_start(&c);
  for (size_t i = 0; i < nv; i++) {
    tbReal* row = out->value + i * (size_t)out->stride;
    for (size_t k = 0; k < nv; k++) row[k] -= by_q[i * nv + k];
    for (size_t k = 0; k < nv; k++) row[nv + k] -= by_v[i * nv + k];
  }
  if (c.count > 0) result = add_through_middle(x, &c, by_v, out);
  tb_arena_release(&d->work->arena, factor);
  tb_arena_release(&x->arena, mark);
  return result;
}

// ---- by inertial parameters ---------------------------------------------------------------------

tbResult tb_deriv_middle_by_inertia(tbDerivatives* x, tbData* d, int body, tbReal* slope) {
  const tbModel* m = x->m;
  const size_t nv = (size_t)m->nv, width = (size_t)TB_NINERTIAL * (size_t)m->nbody;
  const tbReal h = m->opt.timestep;
  Middle c;
  tbArenaMark mark = tb_arena_mark(&x->arena), factor = tb_arena_mark(&d->work->arena);
  memset(slope, 0, sizeof(tbReal) * nv * TB_NINERTIAL);
  tbResult result = find_trees(x, d, &c);
  if (result != TB_OK) return result;
  bool any = false;
  for (int t = 0; t < c.count; t++) any = any || c.tree[t] == m->body_treeid[body];
  if (any) {
    tbReal* start = tb_arena_alloc(&x->arena, sizeof(tbReal) * (3 * nv * width + nv * nv + nv));
    if (!start) return TB_ERROR_MEMORY;
    tbReal *middle = start + nv * width, *rest = middle + nv * width, *by_v = rest + nv * width;
    tbReal* column = by_v + nv * nv;
    tb_rne_regressor(m, d, NULL, start);
    tb_rne_regressor(&c.weightless, d, c.minus, rest);
    to_middle(&c);
    tb_rne_regressor(m, d, NULL, middle);
    tb_rne_partials(m, d, NULL, NULL, NULL, by_v);
    to_start(&c);
    for (size_t p = 0; p < TB_NINERTIAL; p++) {
      size_t at = (size_t)TB_NINERTIAL * (size_t)body + p;
      for (size_t i = 0; i < nv; i++) column[i] = rest[i * width + at];
      tb_ltdl_solve(tb_forest(m), c.H.LD, c.H.inverse, column);
      for (size_t i = 0; i < nv; i++) {
        tbReal sum = start[i * width + at] - middle[i * width + at];
        for (size_t j = 0; j < nv; j++) sum += h / 2 * by_v[i * nv + j] * column[j];
        slope[i * TB_NINERTIAL + p] = sum;
      }
    }
  }
  tb_arena_release(&d->work->arena, factor);
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}
