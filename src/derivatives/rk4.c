// Runge-Kutta's step differentiated by the chain rule over its stages
// (docs/notebook/derivatives.md, eq. 75). With rates k_s = (v, a, act_dot) at the state x_s,
//
//     x_s = x_0 + c_s h k_{s-1},   x+ = x_0 + h sum w_s k_s,   da_s = a_x dx_s + a_u du + a_f df
//
// in the columns q, v, act, ctrl and generalised force at the start.
#include <stdbool.h>
#include <string.h>

#include "forces/forces.h"
#include "laws/viscoelastic/anchors_linearize.h"
#include "laws/viscoelastic/springs_linearize.h"
#include "derivatives/integrators.h"
#include "model/law_kinds.h"
#include "step/rk4.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

enum { STAGES = 4 };

typedef struct {
  tbReal *q, *v, *act;  // rows of length W: derivative of a state or of a rate
} Rows;

typedef struct {
  tbDerivatives* x;
  size_t nv, na, W;
  tbReal *acc, *by_force;  // partials of a stage's acceleration
  Rows state, rate, sum;
} Chain;

static Rows rows_new(tbArena* arena, const Chain* c) {
  Rows r = {TB_ARENA_NEW(arena, tbReal, c->nv * c->W + 1),
            TB_ARENA_NEW(arena, tbReal, c->nv * c->W + 1),
            TB_ARENA_NEW(arena, tbReal, c->na * c->W + 1)};
  return r;
}

static void add_scaled(tbReal* y, const tbReal* x, tbReal s, size_t n) {
  for (size_t i = 0; s != 0 && i < n; i++) y[i] += s * x[i];
}

// Derivatives of a stage's rates from those of its state. On entry rate.v contains the anchors'
// contribution and rate.q the derivative of the rates that led to the stage, over `reach` seconds.
// `u`: coordinates of the stage (rk4.h).
static void stage_rates(Chain* c, const tbDerivatives* stage, const tbReal* u, const tbReal* v,
                        tbReal reach) {
  size_t nv = c->nv, na = c->na, W = c->W, ncol = (size_t)c->x->ncol;
  size_t nx = (size_t)c->x->nx, nu = (size_t)c->x->nu;
  for (size_t i = 0; i < nv * W; i++) c->rate.q[i] *= reach;
  tb_rk4_rates_change(c->x->m, u, v, c->state.v, c->rate.q, (int)W);
  for (size_t i = 0; i < nv; i++) {
    const tbReal* a = c->acc + i * ncol;
    tbReal* to = c->rate.v + i * W;
    for (size_t k = 0; k < nv; k++) {
      add_scaled(to, c->state.q + k * W, a[k], W);
      add_scaled(to, c->state.v + k * W, a[nv + k], W);
    }
    for (size_t k = 0; k < na; k++) add_scaled(to, c->state.act + k * W, a[2 * nv + k], W);
    for (size_t k = 0; k < nu; k++) to[nx + k] += a[nx + k];
    add_scaled(to + ncol, c->by_force + i * nv, 1, nv);
  }
  for (size_t s = 0; s < na; s++) {
    tbReal* to = c->rate.act + s * W;
    memset(to, 0, sizeof(tbReal) * W);
    add_scaled(to, c->state.act + s * W, stage->rate_by_act[s], W);
    to[nx + (size_t)stage->act_ctrl[s]] += stage->rate_by_ctrl[s];
  }
}

// The start displaced by h times `rate`; `mean`: the rate that moves the configuration.
static void move(Chain* c, const Rows* rate, const tbReal* mean, tbReal h, Rows* out) {
  tbDerivatives* x = c->x;
  size_t nv = c->nv, na = c->na, W = c->W;
  tbReal step = x->h;
  x->h = h;
  tb_deriv_integration(x, mean);
  tb_next_position(x, rate->q, NULL, out->q, (int)W);
  x->h = step;
  for (size_t i = 0; i < nv * W; i++) out->v[i] = h * rate->v[i];
  for (size_t i = 0; i < nv; i++) out->v[i * W + nv + i] += 1;
  for (size_t i = 0; i < na * W; i++) out->act[i] = h * rate->act[i];
  for (size_t i = 0; i < na; i++) out->act[i * W + 2 * nv + i] += 1;
}

// Activations at the end, computed as in every step: filters exactly, all clamped to their range;
// `rate` is their mean rate.
static void end_activations(Chain* c, const tbData* d, const tbReal* rate) {
  const tbModel* m = c->x->m;
  for (int i = 0; i < m->nu; i++) {
    int adr = m->actuator_actadr[i];
    tbReal reach = tb_activation_reach(m, i);
    for (int s = adr; adr >= 0 && s < adr + m->actuator_actnum[i]; s++) {
      tbReal *row = c->state.act + (size_t)s * c->W, free = d->act[s] + reach * rate[s];
      bool clamped = tb_next_activation(m, d, i, s, rate[s]) != free;
      for (size_t k = 0; k < c->W; k++) {
        row[k] = clamped ? 0 : reach * c->sum.act[(size_t)s * c->W + k];
      }
      if (!clamped) row[2 * c->nv + (size_t)s] += 1;
    }
  }
}

static void store(Chain* c, const Rows* end) {
  tbDerivatives* x = c->x;
  size_t nv = c->nv, nx = (size_t)x->nx, nu = (size_t)x->nu, W = c->W;
  for (size_t i = 0; i < nx; i++) {
    const tbReal* from = i < nv       ? end->q + i * W
                         : i < 2 * nv ? end->v + (i - nv) * W
                                      : end->act + (i - 2 * nv) * W;
    memcpy(x->dense_A + i * nx, from, sizeof(tbReal) * nx);
    memcpy(x->dense_B + i * nu, from + nx, sizeof(tbReal) * nu);
    memcpy(x->dense_F + i * nv, from + nx + nu, sizeof(tbReal) * nv);
  }
}

// The info of a stage is merged into that of the whole step.
static void report(tbDerivatives* x, const tbDerivativeInfo* info, int first) {
  if (first) {
    int differentiable = x->info.differentiable;
    char reason[sizeof info->reason];
    memcpy(reason, x->info.reason, sizeof reason);
    x->info = *info;
    if (differentiable) return;
    x->info.differentiable = 0;
    memcpy(x->info.reason, reason, sizeof reason);
    return;
  }
  x->info.finite_differences |= info->finite_differences;
  if (info->differentiable || !x->info.differentiable) return;
  x->info.differentiable = 0;
  memcpy(x->info.reason, info->reason, sizeof info->reason);
}

// A second world at the end of the first stage, with the anchors of that stage.
static tbResult probe_start(tbDerivatives* x, tbData* d) {
  const tbModel* m = x->m;
  if (!x->probe) x->probe = tb_data_new(m);
  size_t size = tb_snapshot_size(m, d);
  void* bytes = tb_arena_alloc(&x->arena, size + 1);
  if (!x->probe || !bytes) return TB_ERROR_MEMORY;
  tbResult result = tb_snapshot_save(m, d, bytes, size);
  if (result == TB_OK) result = tb_snapshot_load(m, x->probe, bytes, size, NULL);
  if (result == TB_OK) result = tb_forward(m, x->probe);
  if (result != TB_OK || !tb_law_has(&m->opt, TB_TRAIT_ANCHORS)) return result;
  const tbStep step = tb_step_of(m, x->probe, (tbPurpose){0});
  return tb_anchors_exchange(&step);
}

// Set the probe to the start d plus h times the given rates.
static void probe_move(tbDerivatives* x, const tbData* d, tbReal h, const tbReal* rate,
                       const tbReal* qacc, const tbReal* act_rate) {
  const tbModel* m = x->m;
  tbData* p = x->probe;
  memcpy(p->qpos, d->qpos, sizeof(tbReal) * (size_t)m->nq);
  tb_integrate_pos(m, p->qpos, rate, h);
  for (int i = 0; i < m->nv; i++) p->qvel[i] = d->qvel[i] + h * qacc[i];
  for (int i = 0; i < m->na; i++) p->act[i] = d->act[i] + h * act_rate[i];
}

static tbResult chain_new(tbDerivatives* x, Chain* c) {
  *c = (Chain){.x = x, .nv = (size_t)x->nv, .na = (size_t)x->na};
  c->W = (size_t)x->ncol + c->nv;
  c->acc = TB_ARENA_NEW(&x->arena, tbReal, c->nv * (size_t)x->ncol + 1);
  c->by_force = TB_ARENA_NEW(&x->arena, tbReal, c->nv * c->nv + 1);
  c->state = rows_new(&x->arena, c);
  c->rate = rows_new(&x->arena, c);
  c->sum = rows_new(&x->arena, c);
  for (size_t i = 0; !x->arena.failed && i < c->nv; i++) {
    c->state.q[i * c->W + i] = c->state.v[i * c->W + c->nv + i] = 1;
  }
  for (size_t i = 0; !x->arena.failed && i < c->na; i++) c->state.act[i * c->W + 2 * c->nv + i] = 1;
  if (!x->stage) x->stage = tb_derivatives_new(x->m);
  if (x->arena.failed || !x->stage) return TB_ERROR_MEMORY;
  x->stage->is_stage = 1;
  return TB_OK;
}

// Linearise one stage at the data's state, and its rates. The first stage needs no anchors.
static tbResult stage_add(Chain* c, tbData* at, const tbDerivativeSettings* settings,
                          tbStartAnchors* anchors, const tbReal* u, tbReal reach, tbReal weight) {
  tbDerivatives *x = c->x, *stage = x->stage;
  tbResult result = tb_deriv_linearize(x->m, at, settings, stage);
  if (result != TB_OK) return result;
  if (stage->ready != 1 || !tb_rk4_applies(x->m, tb_step_state(x->m, at))) {
    return TB_ERROR_UNSUPPORTED;
  }
  result = tb_deriv_acceleration(stage, c->acc, c->by_force);
  if (result != TB_OK) return result;
  report(x, &stage->info, anchors == NULL);
  memset(c->rate.v, 0, sizeof(tbReal) * c->nv * c->W);
  if (anchors && tb_law_has(&x->m->opt, TB_TRAIT_ANCHORS)) {
    anchors->end = stage;
    anchors->probe = at;
    result = tb_add_anchors(anchors, tb_step_state(x->m, at), c->rate.v, c->W);
    if (result != TB_OK) return result;
  }
  stage_rates(c, stage, u, at->qvel, reach);
  add_scaled(c->sum.q, c->rate.q, weight, c->nv * c->W);
  add_scaled(c->sum.v, c->rate.v, weight, c->nv * c->W);
  add_scaled(c->sum.act, c->rate.act, weight, c->na * c->W);
  return TB_OK;
}

tbResult tb_deriv_rk4(tbDerivatives* x, tbData* d, tbStepState* state,
                      const tbDerivativeSettings* settings) {
  static const tbReal REACH[STAGES] = {0, 0.5, 0.5, 1};
  static const tbReal WEIGHT[STAGES] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const tbModel* m = x->m;
  Chain c;
  tbStartAnchors anchors = {.x = x, .d = d};
  size_t nv = (size_t)m->nv;
  tbResult result = chain_new(x, &c);
  tbReal* mean = TB_ARENA_NEW(&x->arena, tbReal, nv + (size_t)m->na + 1);
  tbReal* rates = TB_ARENA_NEW(&x->arena, tbReal, 3 * nv + (size_t)m->na + 1);
  if (result == TB_OK && (!mean || !rates)) result = TB_ERROR_MEMORY;
  if (result == TB_OK) result = probe_start(x, d);
  tbReal *rate = rates, *qacc = rates + nv, *u = qacc + nv, *act_rate = u + nv;
  for (int s = 0; s < STAGES && result == TB_OK; s++) {
    tbData* at = s ? x->probe : d;
    if (s > 0) {
      move(&c, &c.rate, rate, REACH[s] * x->h, &c.state);
      probe_move(x, d, REACH[s] * x->h, rate, qacc, act_rate);
    }
    for (size_t i = 0; i < nv; i++) u[i] = REACH[s] * x->h * rate[i];
    result = stage_add(&c, at, settings, s ? &anchors : NULL, u, REACH[s] * x->h, WEIGHT[s]);
    if (s == 0 && result == TB_OK) result = tb_deriv_keep_acceleration(x, c.acc, c.by_force);
    // The springs at the start, as its evaluation left them.
    if (s == 0 && result == TB_OK && tb_law_has(&m->opt, TB_TRAIT_ANCHORS)) {
      tbReal near =
          settings->mode_tolerance * tb_springs_largest(&tb_viscoelastic_state(state)->springs);
      result = tb_start_springs(x, d, state, near, &anchors);
    }
    tb_rk4_rates(m, u, at->qvel, rate);
    for (size_t i = 0; i < nv; i++) mean[i] += WEIGHT[s] * rate[i];
    for (size_t i = 0; i < c.na; i++) mean[nv + i] += WEIGHT[s] * at->act_dot[i];
    memcpy(qacc, at->qacc, sizeof(tbReal) * nv);
    memcpy(act_rate, at->act_dot, sizeof(tbReal) * c.na);
  }
  if (result == TB_OK) result = tb_deriv_keep_dense(x, d);
  if (result != TB_OK) return result;
  move(&c, &c.sum, mean, x->h, &c.state);
  end_activations(&c, d, mean + nv);
  store(&c, &c.state);
  return TB_OK;
}
