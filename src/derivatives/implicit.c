// Implicit Euler of the viscoelastic law, differentiated (docs/notebook/derivatives.md, eq. 72-74).
// With a(q+, v+) the acceleration at the end of the step, which also depends on the start through
// the springs' anchors,
//
//     dv+ = dv + h (a_q dq+ + a_v dv+ + a_anchor dx),      dq+ = turn_q dq + h turn_v dv+
#include <string.h>

#include "derivatives/integrators.h"
#include "linalg/dense.h"
#include "linalg/multi_rhs.h"
#include "laws/viscoelastic/anchors_linearize.h"
#include "laws/viscoelastic/springs_linearize.h"
#include "forces/implicit_inertia.h"
#include "laws/viscoelastic/viscoelastic.h"
#include "tribo/step.h"

// ---- the system ---------------------------------------------------------------------------------

// The acceleration at the start, which the step itself does not use.
static tbResult linearize_start(tbDerivatives* x, tbData* d, const tbDerivativeSettings* settings,
                                tbReal* acc, tbReal* by_force) {
  tbResult result = tb_deriv_linearize(x->m, d, settings, x->stage);
  if (result == TB_OK) result = tb_deriv_acceleration(x->stage, acc, by_force);
  return result == TB_OK ? tb_deriv_keep_acceleration(x, acc, by_force) : result;
}

// Linearises the acceleration at the end of the step, with the spring anchors from its start.
static tbResult linearize_end(tbDerivatives* x, tbData* d, const tbDerivativeSettings* settings) {
  const tbModel* m = x->m;
  size_t size = tb_snapshot_size(m, d);
  void* bytes = tb_arena_alloc(&x->arena, size + 1);
  tbResult result = bytes ? tb_snapshot_save(m, d, bytes, size) : TB_ERROR_MEMORY;
  if (result == TB_OK) result = tb_snapshot_load(m, x->probe, bytes, size, NULL);
  if (result == TB_OK) result = tb_step(m, x->probe);
  if (result != TB_OK) return result;
  int converged = x->probe->solve.status == TB_SOLVE_CONVERGED;
  result = tb_deriv_linearize(m, x->probe, settings, x->stage);
  if (!x->stage->info.differentiable) {
    x->info.differentiable = 0;
    memcpy(x->info.reason, x->stage->info.reason, sizeof x->info.reason);
  }
  if (!converged) tb_springs_kink(x, "Newton's method did not converge, iterations", 0);
  x->info.finite_differences = x->stage->info.finite_differences;
  x->info.separated = x->stage->info.separated;
  x->info.sticking = x->stage->info.sticking;
  x->info.sliding = x->stage->info.sliding;
  x->info.rows = x->stage->n;
  return result;
}

// From the acceleration's partials at the end (nv x ncol) and by the start (nv x width) to dv+ (nv
// x width; columns q, v, act, ctrl, force). The columns of act at the end are expressed by those at
// the start.
static tbResult end_velocity(tbDerivatives* x, const tbReal* acc, tbReal* dv, size_t width) {
  size_t nv = (size_t)x->nv, ncol = (size_t)x->ncol;
  tbReal* N = TB_ARENA_NEW(&x->arena, tbReal, nv * nv + 1);
  tbReal* moved = TB_ARENA_NEW(&x->arena, tbReal, nv * nv + 1);
  tbReal* zero = TB_ARENA_NEW(&x->arena, tbReal, nv * nv + 1);
  int* pivot = TB_ARENA_NEW(&x->arena, int, nv + 1);
  if (!N || !moved || !zero || !pivot) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < nv; i++) {
    for (size_t k = 0; k < width; k++) dv[i * width + k] *= x->h;
    dv[i * width + nv + i] += 1;
    for (int s = 0; s < x->na; s++) {
      tbReal by_act = x->h * acc[i * ncol + 2 * nv + (size_t)s];
      dv[i * width + 2 * nv + (size_t)s] += by_act * x->act_by_act[s];
      dv[i * width + (size_t)(x->nx + x->act_ctrl[s])] += by_act * x->act_by_ctrl[s];
    }
    for (int u = 0; u < x->nu; u++) {
      size_t column = (size_t)(x->nx + u);
      dv[i * width + column] += x->h * acc[i * ncol + column];
    }
  }
  // a_q turn_q dq on the right, 1 - h a_v - h a_q (h turn_v) on the left.
  tbReal* turned = moved;
  tb_next_position(x, zero, NULL, turned, x->nv);
  for (size_t i = 0; i < nv; i++) {
    for (size_t j = 0; j < nv; j++) {
      tbReal by_q = x->h * acc[i * ncol + j];
      for (size_t k = 0; by_q != 0 && k < nv; k++) dv[i * width + k] += by_q * turned[j * nv + k];
    }
  }
  for (size_t i = 0; i < nv; i++) N[i * nv + i] = 1;
  tb_next_position(x, N, zero, moved, x->nv);
  for (size_t i = 0; i < nv; i++) {
    for (size_t k = 0; k < nv; k++) {
      tbReal sum = acc[i * ncol + nv + k];
      for (size_t j = 0; j < nv; j++) sum += acc[i * ncol + j] * moved[j * nv + k];
      N[i * nv + k] = (i == k) - x->h * sum;
    }
  }
  if (!tb_lu(x->nv, N, x->nv, pivot)) return TB_ERROR_NUMERIC;
  tb_lu_solve_multi(x->nv, N, x->nv, pivot, dv, (int)width, (int)width);
  return TB_OK;
}

static void store(tbDerivatives* x, const tbReal* dq, const tbReal* dv, size_t width) {
  size_t nv = (size_t)x->nv, nx = (size_t)x->nx, nu = (size_t)x->nu;
  memset(x->dense_A, 0, sizeof(tbReal) * nx * nx);
  memset(x->dense_B, 0, sizeof(tbReal) * nx * nu);
  memset(x->dense_F, 0, sizeof(tbReal) * nx * nv);
  for (size_t i = 0; i < 2 * nv; i++) {
    const tbReal* from = i < nv ? dq + i * width : dv + (i - nv) * width;
    memcpy(x->dense_A + i * nx, from, sizeof(tbReal) * nx);
    memcpy(x->dense_B + i * nu, from + nx, sizeof(tbReal) * nu);
    memcpy(x->dense_F + i * nv, from + nx + nu, sizeof(tbReal) * nv);
  }
  for (size_t s = 0; s < (size_t)x->na; s++) {
    x->dense_A[(2 * nv + s) * nx + 2 * nv + s] = x->act_by_act[s];
    x->dense_B[(2 * nv + s) * nu + (size_t)x->act_ctrl[s]] = x->act_by_ctrl[s];
  }
}

tbResult tb_deriv_euler_implicit(tbDerivatives* x, tbData* d, tbStepState* state,
                                 const tbDerivativeSettings* settings) {
  size_t nv = (size_t)x->nv, width = (size_t)x->ncol + nv;
  tbStartAnchors anchors = {.x = x, .d = d};
  tbReal* acc = TB_ARENA_NEW(&x->arena, tbReal, nv * (size_t)x->ncol + 1);
  tbReal* by_force = TB_ARENA_NEW(&x->arena, tbReal, nv * nv + 1);
  if (!x->stage) x->stage = tb_derivatives_new(x->m);
  if (!x->probe) x->probe = tb_data_new(x->m);
  if (!acc || !by_force || !x->stage || !x->probe) return TB_ERROR_MEMORY;
  x->stage->is_stage = 1;
  tbResult result = linearize_start(x, d, settings, acc, by_force);
  // Derivatives of the activations, which only the smooth forces at the start provide.
  tbPartials partials = {x->law.force, x->ncol};
  if (result == TB_OK) {
    result = tb_deriv_smooth(x, d, d->qacc, TB_IMPLICIT_NOTHING, &partials);
  }
  tbReal near =
      settings->mode_tolerance * tb_springs_largest(&tb_viscoelastic_state(state)->springs);
  if (result == TB_OK) result = tb_start_springs(x, d, state, near, &anchors);
  if (result == TB_OK) result = linearize_end(x, d, settings);
  if (result != TB_OK) return result;
  if (x->stage->ready != 1) return TB_ERROR_UNSUPPORTED;
  anchors.end = x->stage;
  anchors.probe = x->probe;

  tbReal* dv = TB_ARENA_NEW(&x->arena, tbReal, nv * width + 1);
  tbReal* dq = TB_ARENA_NEW(&x->arena, tbReal, nv * width + 1);
  if (!dv || !dq) return TB_ERROR_MEMORY;
  result = tb_deriv_acceleration(x->stage, acc, by_force);
  if (result == TB_OK) result = tb_add_anchors(&anchors, tb_step_state(x->m, x->probe), dv, width);
  if (result == TB_OK) result = tb_deriv_keep_dense(x, d);
  if (result != TB_OK) return result;
  for (size_t i = 0; i < nv; i++) {
    memcpy(dv + i * width + x->ncol, by_force + i * nv, sizeof(tbReal) * nv);
  }
  tb_deriv_integration(x, x->probe->qvel);
  result = end_velocity(x, acc, dv, width);
  if (result != TB_OK) return result;
  tb_next_position(x, dv, NULL, dq, (int)width);
  store(x, dq, dv, width);
  return TB_OK;
}
