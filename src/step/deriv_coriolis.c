// Partials of the Coriolis forces of the middle of a step (coriolis.c, eq. 2): of what they have
// beside those of the start,
//
//     f = b(q, v) - b(q, v'),   v' = v - h/2 u,   H u = b(q, v).
//
// With the partials of b at both velocities, and those of b - H u, which stays zero, at fixed u,
//
//     df = db(q, v) - b_q(q, v') dq - b_v(q, v') (dv - h/2 du),   H du = d(b - M u)            (1)
//
// since what is in H beside M does not change with them. b and M are linear in the inertial
// parameters, by which it is the same.
#include <string.h>

#include "dynamics/axis.h"
#include "dynamics/mass.h"
#include "model/workspace.h"
#include "step/deriv.h"
#include "step/forces.h"
#include "step/implicit.h"
#include "tribo/dynamics.h"

typedef struct {
  const tbModel* m;
  tbModel weightless;
  tbData* d;
  tbInertiaFactor H;
  int* tree;  // those that have f, and how many
  int count;
  tbReal* v;      // nv: v', and qvel of other trees
  tbReal* minus;  // nv: -u, and 0 of other trees
  tbReal* keep;   // what is of the start: qvel, cdof_dot, cvel
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

// Velocities of joints, axes and bodies become those of the middle, and of the start again.
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

// Blocks of trees in nv x nv matrices: the partials from column `first` on, += s X.
static void add_blocks(const Middle* c, tbReal s, const tbReal* X, int first, tbPartials* out) {
  for (int t = 0; t < c->count; t++) {
    int from = c->m->tree_dofadr[c->tree[t]], end = from + c->m->tree_dofnum[c->tree[t]];
    for (int i = from; i < end; i++) {
      const tbReal* row = X + (size_t)i * (size_t)c->m->nv;
      for (int k = from; k < end; k++) *tb_partial(out, i, first + k) += s * row[k];
    }
  }
}

// partials += h/2 b_v du, with `slope` b_v and X = d(b - M u); `column` holds nv.
static void add_through_middle(const Middle* c, const tbReal* slope, const tbReal* X, int first,
                               tbReal* column, tbPartials* out) {
  const tbModel* m = c->m;
  const size_t nv = (size_t)m->nv;
  for (int t = 0; t < c->count; t++) {
    int from = m->tree_dofadr[c->tree[t]], end = from + m->tree_dofnum[c->tree[t]];
    for (int k = from; k < end; k++) {
      for (int i = from; i < end; i++) column[i] = X[(size_t)i * nv + (size_t)k];
      tb_ltdl_solve_range(tb_forest(m), c->H.LD, c->H.inverse, column, from, end);
      for (int i = from; i < end; i++) {
        const tbReal* row = slope + (size_t)i * nv;
        tbReal sum = 0;
        for (int j = from; j < end; j++) sum += row[j] * column[j];
        *tb_partial(out, i, first + k) += m->opt.timestep / 2 * sum;
      }
    }
  }
}

tbResult tb_deriv_middle(tbDerivatives* x, tbData* d, tbPartials* out) {
  const tbModel* m = x->m;
  const size_t nv = (size_t)m->nv;
  Middle c;
  tbArenaMark mark = tb_arena_mark(&x->arena), factor = tb_arena_mark(&d->work->arena);
  tbResult result = find_trees(x, d, &c);
  if (result != TB_OK) return result;
  if (c.count > 0) {
    tbReal* by_q = tb_arena_alloc(&x->arena, sizeof(tbReal) * (3 * nv * nv + nv));
    if (!by_q) return TB_ERROR_MEMORY;
    tbReal *by_v = by_q + nv * nv, *slope = by_v + nv * nv, *column = slope + nv * nv;
    tb_rne_partials(m, d, NULL, NULL, by_q, by_v);
    add_blocks(&c, 1, by_q, 0, out);
    add_blocks(&c, 1, by_v, m->nv, out);
    to_middle(&c);
    tb_rne_partials(m, d, NULL, NULL, by_q, slope);
    to_start(&c);
    add_blocks(&c, -1, by_q, 0, out);
    add_blocks(&c, -1, slope, m->nv, out);
    tb_rne_partials(&c.weightless, d, c.minus, NULL, by_q, by_v);
    add_through_middle(&c, slope, by_q, 0, column, out);
    add_through_middle(&c, slope, by_v, m->nv, column, out);
  }
  tb_arena_release(&d->work->arena, factor);
  tb_arena_release(&x->arena, mark);
  return TB_OK;
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
