// The derivatives of a step: linearise, then A, B and their products (docs/notebook/derivatives.md,
// sec. 3).
#include "forces/implicit_inertia.h"
#include "partials/derivatives.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/joint_space.h"
#include "model/transmission_kinds.h"
#include "model/workspace.h"
#include "spatial/so3.h"
#include "step/check.h"
#include "step/rk4.h"
#include "derivatives/integrators.h"
#include "model/law_kinds.h"
#include "tribo/callbacks.h"
#include "tribo/step.h"

tbDerivativeSettings tbDefaultDerivativeSettings(void) {
  return (tbDerivativeSettings){.mode_tolerance = 1e-6, .proximal = 1e-9, .spread = 1e-3};
}

tbDerivatives* tb_derivatives_new(const tbModel* m) {
  if (!m) return NULL;
  tbDerivatives* x = calloc(1, sizeof *x);
  if (!x) return NULL;
  tb_arena_init(&x->arena);
  x->m = m;
  x->nv = m->nv;
  x->na = m->na;
  x->nu = m->nu;
  x->nx = 2 * m->nv + m->na;
  x->ncol = x->nx + m->nu;
  return x;
}

void tb_derivatives_free(tbDerivatives* x) {
  if (!x) return;
  tb_arena_free(&x->arena);
  tb_data_free(x->probe);
  tb_derivatives_free(x->stage);
  free(x);
}

// ---- linearise ----------------------------------------------------------------------------------

static tbResult reserve(tbDerivatives* x, const tbConstraints* cs) {
  tbArena* arena = &x->arena;
  const tbModel* m = x->m;
  x->active = TB_ARENA_NEW(arena, tbActiveRows, cs->count + 1);
  // Rows of S are cleared when they are first used.
  size_t rows = sizeof(tbReal) * ((size_t)cs->nrow * (size_t)x->ncol + 1);
  x->S = tb_arena_alloc(arena, rows);
  x->R = TB_ARENA_NEW(arena, tbReal, cs->nrow + 1);
  x->law.LD = TB_ARENA_NEW(arena, tbReal, m->nM + 1);
  x->law.inverse = TB_ARENA_NEW(arena, tbReal, m->nv + 1);
  x->law.force = TB_ARENA_NEW(arena, tbReal, m->nv * x->ncol + 1);
  x->act_by_act = TB_ARENA_NEW(arena, tbReal, m->na + 1);
  x->act_by_ctrl = TB_ARENA_NEW(arena, tbReal, m->na + 1);
  x->rate_by_act = TB_ARENA_NEW(arena, tbReal, m->na + 1);
  x->rate_by_ctrl = TB_ARENA_NEW(arena, tbReal, m->na + 1);
  x->act_ctrl = TB_ARENA_NEW(arena, int, m->na + 1);
  x->turn_q = TB_ARENA_NEW(arena, tbReal, 9 * m->njnt + 1);
  x->turn_v = TB_ARENA_NEW(arena, tbReal, 9 * m->njnt + 1);
  return arena->failed ? TB_ERROR_MEMORY : TB_OK;
}

void tb_deriv_integration(tbDerivatives* x, const tbReal* v_next) {
  const tbModel* m = x->m;
  for (int j = 0; j < m->njnt; j++) {
    tb_joint_integrate_partials(m->jnt_type[j], v_next + m->jnt_dofadr[j], x->h, x->turn_q + 9 * j,
                                x->turn_v + 9 * j);
  }
}

// Callbacks whose forces have no partials; the others do not act on the motion.
static bool has_forces_of_user(const tbModel* m) {
  const tbCallbacks* user = m->callbacks;
  return user && (user->control || user->passive || user->contact || user->act_dyn ||
                  user->act_gain || user->act_bias);
}

static bool is_supported(const tbStep* s, bool is_stage) {
  const tbModel* m = s->m;
  if (has_forces_of_user(m)) return false;
  for (int i = 0; i < m->nu; i++) {
    // The moments of adhesion depend on the contacts.
    if (tb_transmission_has_arm(m->actuator_trntype[i], TB_ARM_CONTACTS)) return false;
  }
  // Sleeping islands are not covered.
  if (m->opt.sleep || !s->law->linearize) return false;
  return !s->law->has_partials || s->law->has_partials(s, is_stage);
}

static int has_stages(const tbModel* m, const tbStepState* state) {
  return m->opt.integrator == TB_INTEGRATOR_RK4 && tb_rk4_applies(m, state);
}

static void copy_columns(const tbReal* from, size_t width, size_t first, size_t count, size_t rows,
                         tbReal* to) {
  for (size_t i = 0; to && i < rows; i++) {
    memcpy(to + i * count, from + i * width + first, sizeof(tbReal) * count);
  }
}

tbResult tb_deriv_keep_dense(tbDerivatives* x, const tbData* d) {
  x->start_size = tb_snapshot_size(x->m, d);
  x->start = tb_arena_alloc(&x->arena, x->start_size + 1);
  x->contact_key = TB_ARENA_NEW(&x->arena, uint64_t, d->ncon + 1);
  if (!x->start || !x->contact_key) return TB_ERROR_MEMORY;
  tbResult result = tb_snapshot_save(x->m, d, x->start, x->start_size);
  if (result != TB_OK) return result;
  for (int i = 0; i < d->ncon; i++) x->contact_key[i] = d->contact[i].key;
  x->dense_A = TB_ARENA_NEW(&x->arena, tbReal, x->nx * x->nx + 1);
  x->dense_B = TB_ARENA_NEW(&x->arena, tbReal, x->nx * x->nu + 1);
  x->dense_F = TB_ARENA_NEW(&x->arena, tbReal, x->nx * x->nv + 1);
  x->ready = 2;
  return x->dense_A && x->dense_B && x->dense_F ? TB_OK : TB_ERROR_MEMORY;
}

tbResult tb_deriv_keep_acceleration(tbDerivatives* x, const tbReal* columns,
                                    const tbReal* by_force) {
  size_t nv = (size_t)x->nv, w = (size_t)x->ncol;
  x->dense_acc = TB_ARENA_NEW(&x->arena, tbReal, 3 * nv * nv + 1);
  if (!x->dense_acc) return TB_ERROR_MEMORY;
  copy_columns(columns, w, 0, nv, nv, x->dense_acc);
  copy_columns(columns, w, nv, nv, nv, x->dense_acc + nv * nv);
  memcpy(x->dense_acc + 2 * nv * nv, by_force, sizeof(tbReal) * nv * nv);
  return TB_OK;
}

static tbResult whole_step(tbDerivatives* x, tbData* d, const tbDerivativeSettings* settings) {
  tbResult result = tb_deriv_keep_dense(x, d);
  if (result != TB_OK) return result;
  x->info.finite_differences = 1;
  if (settings->hold_contacts && tb_law_has(&x->m->opt, TB_TRAIT_RIGID)) {
    x->info.differentiable = 0;
    snprintf(x->info.reason, sizeof x->info.reason,
             "hold_contacts has no effect: the whole step is differentiated by differences");
  }
  return tb_deriv_differences(x->m, d, 1e-6, 1, x->dense_A, x->dense_B, x->dense_F);
}

// Discard the last step; memory is kept.
static void begin(tbDerivatives* x, const tbModel* m, const tbData* d) {
  tb_arena_reset(&x->arena);
  memset(&x->info, 0, sizeof x->info);
  x->info.differentiable = 1;
  if (d->solve.status != TB_SOLVE_CONVERGED) {
    x->info.differentiable = 0;
    snprintf(x->info.reason, sizeof x->info.reason, "the solver did not converge");
  }
  x->m = m;
  x->E = NULL;
  x->is_compliant = x->by_responses = 0;
  x->ready = x->n = x->nactive = x->nisland = 0;
  x->h = m->opt.timestep;
  x->ncon = d->ncon;
  x->law = x->final = (tbResponse){0};
  x->primal = NULL;
  x->presolved = NULL;
  x->law_acc = NULL;
  x->explicit_law = x->input_damps = 0;
  x->move_share = 1;
  x->final_acc = NULL;
  x->drift = NULL;
  x->move = (tbMoveResponse){0};
  x->expo = NULL;
  x->dense_mu = x->dense_acc = NULL;
  x->sampled.samples = 0;
  x->nexpo = 0;
}

tbResult tb_deriv_linearize(const tbModel* m, tbData* d, const tbDerivativeSettings* settings,
                            tbDerivatives* x) {
  tbResult result = tb_forward(m, d);
  if (result != TB_OK) return result;
  const tbStep step = tb_step_of(m, d, (tbPurpose){0});
  tbStepState* state = step.state;
  begin(x, m, d);
  x->detector = state->detector;
  if (!is_supported(&step, x->is_stage)) {
    return x->is_stage ? TB_ERROR_UNSUPPORTED : whole_step(x, d, settings);
  }
  result = reserve(x, &state->constraints);
  if (result != TB_OK) return result;
  if (has_stages(m, state) && !x->is_stage) {
    result = tb_deriv_rk4(x, d, state, settings);
    return result == TB_ERROR_UNSUPPORTED ? whole_step(x, d, settings) : result;
  }

  // The law: active rows and their modes.
  bool implicit = m->opt.integrator == TB_INTEGRATOR_EULER_IMPLICIT && !x->is_stage;
  result = implicit ? tb_deriv_euler_implicit(x, d, state, settings)
                    : step.law->linearize(x, &step, settings);
  if (result == TB_ERROR_UNSUPPORTED) return whole_step(x, d, settings);
  if (result == TB_OK && implicit) return TB_OK;
  if (result == TB_OK) result = tb_deriv_factor(x, d, x->is_compliant ? 0 : settings->proximal);
  if (result != TB_OK) return result;

  // The next configuration.
  tbReal* v_next = TB_ARENA_NEW(&x->arena, tbReal, m->nv + 1);
  if (!v_next) return TB_ERROR_MEMORY;
  const tbReal* acc = x->move.acc ? x->move.acc : x->final_acc ? x->final_acc : d->qacc;
  for (int i = 0; i < m->nv; i++) v_next[i] = d->qvel[i] + x->move_share * x->h * acc[i];
  tb_deriv_integration(x, v_next);
  x->scratch = TB_ARENA_NEW(&x->arena, tbReal, 6 * m->nv + 6 * x->n + TB_MAX_DIM + 2 * x->ncol + 1);
  if (!x->scratch) return TB_ERROR_MEMORY;
  x->info.rows = x->n;
  x->ready = 1;
  return TB_OK;
}

// ---- dense --------------------------------------------------------------------------------------

static tbResult dense(tbDerivatives* x, tbReal* A, tbReal* B) {
  size_t w = (size_t)x->ncol, nv = (size_t)x->nv, nx = (size_t)x->nx, nu = (size_t)x->nu;
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* force = tb_arena_alloc(&x->arena, sizeof(tbReal) * (nv * w + 1));
  tbReal* rhs = tb_arena_alloc(&x->arena, sizeof(tbReal) * ((size_t)x->n * w + 1));
  tbReal* gathered =
      tb_arena_alloc(&x->arena, sizeof(tbReal) * ((size_t)(x->n + TB_MAX_DIM) * w + 1));
  tbReal* final = force;
  if (x->final.force) final = tb_arena_alloc(&x->arena, sizeof(tbReal) * (nv * w + 1));
  tbReal* next = tb_arena_alloc(&x->arena, sizeof(tbReal) * (nv * w + 1));
  if (!force || !rhs || !gathered || !final || !next) return TB_ERROR_MEMORY;
  memcpy(force, x->law.force, sizeof(tbReal) * nv * w);
  if (final != force) memcpy(final, x->final.force, sizeof(tbReal) * nv * w);
  memcpy(rhs, x->S, sizeof(tbReal) * (size_t)x->n * w);
  tb_deriv_solve(x, force, final, rhs, gathered, x->E, x->ncol);
  for (size_t i = 0; i < nv; i++) {
    for (size_t k = 0; k < w; k++) final[i * w + k] *= x->h;
    final[i * w + nv + i] += 1;
  }
  // Rows of the velocity that moves the configuration.
  const tbReal* move = final;
  if (x->move_share != 1) {
    tbReal* mean = tb_arena_alloc(&x->arena, sizeof(tbReal) * (nv * w + 1));
    if (!mean) return TB_ERROR_MEMORY;
    if (x->move.acc) {
      memcpy(mean, x->move.force, sizeof(tbReal) * nv * w);
      memset(rhs, 0, sizeof(tbReal) * (size_t)x->n * w);
      tb_deriv_solve(x, mean, mean, rhs, gathered, x->move.E, x->ncol);
      for (size_t i = 0; i < nv * w; i++) mean[i] *= x->move_share * x->h;
      for (size_t i = 0; i < nv; i++) mean[i * w + nv + i] += 1;
    } else {
      for (size_t i = 0; i < nv * w; i++) mean[i] = x->move_share * final[i];
      for (size_t i = 0; i < nv; i++) mean[i * w + nv + i] += 1 - x->move_share;
    }
    move = mean;
  }
  tb_next_position(x, move, NULL, next, x->ncol);
  if (A) {
    copy_columns(next, w, 0, nx, nv, A);
    copy_columns(final, w, 0, nx, nv, A + nv * nx);
    memset(A + 2 * nv * nx, 0, sizeof(tbReal) * (size_t)x->na * nx);
    for (size_t s = 0; s < (size_t)x->na; s++) A[(2 * nv + s) * nx + 2 * nv + s] = x->act_by_act[s];
  }
  if (B) {
    copy_columns(next, w, nx, nu, nv, B);
    copy_columns(final, w, nx, nu, nv, B + nv * nu);
    memset(B + 2 * nv * nu, 0, sizeof(tbReal) * (size_t)x->na * nu);
    for (size_t s = 0; s < (size_t)x->na; s++) {
      B[(2 * nv + s) * nu + (size_t)x->act_ctrl[s]] = x->act_by_ctrl[s];
    }
  }
  tb_arena_release(&x->arena, mark);
  return TB_OK;
}

void tb_derivatives_dense(tbDerivatives* x, tbReal* A, tbReal* B) {
  if (!x) return;
  size_t nx = (size_t)x->nx, nu = (size_t)x->nu;
  if (x->ready == 1 && dense(x, A, B) == TB_OK) return;
  for (size_t i = 0; A && i < nx * nx; i++) A[i] = x->ready == 2 ? x->dense_A[i] : NAN;
  for (size_t i = 0; B && i < nx * nu; i++) B[i] = x->ready == 2 ? x->dense_B[i] : NAN;
}

// dacc for `width` columns of partial forces, with S of the first columns and E; it replaces the
// partial forces in `final`. It is the law's own acceleration, except if forces are a function of
// the prediction (comfree).
static tbResult accelerations(tbDerivatives* x, tbReal* force, tbReal* final, int width,
                              int with_rows, const tbReal* E) {
  size_t w = (size_t)width, rows = (size_t)x->n * w;
  tbReal* rhs = tb_arena_calloc(&x->arena, rows + 1, sizeof(tbReal));
  tbReal* gathered =
      tb_arena_alloc(&x->arena, sizeof(tbReal) * ((size_t)(x->n + TB_MAX_DIM) * w + 1));
  if (!rhs || !gathered) return TB_ERROR_MEMORY;
  if (with_rows) memcpy(rhs, x->S, sizeof(tbReal) * rows);
  tb_deriv_solve(x, force, final, rhs, gathered, E, width);
  return TB_OK;
}

tbResult tb_deriv_acceleration(tbDerivatives* x, tbReal* columns, tbReal* by_force) {
  size_t nv = (size_t)x->nv, w = (size_t)x->ncol;
  int predicted = x->explicit_law && x->final.force;
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* force = columns;
  if (predicted) force = tb_arena_alloc(&x->arena, sizeof(tbReal) * (nv * w + nv * nv + 1));
  if (!force) return TB_ERROR_MEMORY;
  memcpy(columns, predicted ? x->final.force : x->law.force, sizeof(tbReal) * nv * w);
  if (predicted) memcpy(force, x->law.force, sizeof(tbReal) * nv * w);
  tbResult result = accelerations(x, force, columns, x->ncol, 1, x->E);
  if (result == TB_OK && by_force) {
    force = predicted ? force : by_force;
    memset(by_force, 0, sizeof(tbReal) * nv * nv);
    for (size_t i = 0; i < nv; i++) by_force[i * nv + i] = 1;
    if (predicted) memcpy(force, by_force, sizeof(tbReal) * nv * nv);
    // The exponential integrator's forces depend on the loads J H^-1 tau of their rows.
    tbReal* E = x->nexpo ? TB_ARENA_NEW(&x->arena, tbReal, (size_t)x->n * nv + 1) : NULL;
    if (x->nexpo && !E) return TB_ERROR_MEMORY;
    for (size_t k = 0; E && k < nv; k++) tb_expo_loads(x, x->law.Y + k, x->nv, 0, E + k);
    result = accelerations(x, force, by_force, x->nv, 0, E);
  }
  tb_arena_release(&x->arena, mark);
  return result;
}

tbResult tb_derivatives_acceleration(tbDerivatives* x, tbReal* dqacc_dq, tbReal* dqacc_dv,
                                     tbReal* dqacc_dtau) {
  if (!x || x->ready == 0) return TB_ERROR_ARGUMENT;
  if (x->ready == 2) return tb_deriv_acceleration_differences(x, dqacc_dq, dqacc_dv, dqacc_dtau);
  size_t nv = (size_t)x->nv, w = (size_t)x->ncol;
  tbArenaMark mark = tb_arena_mark(&x->arena);
  tbReal* columns = tb_arena_alloc(&x->arena, sizeof(tbReal) * (nv * w + 1));
  if (!columns) return TB_ERROR_MEMORY;
  tbResult result = tb_deriv_acceleration(x, columns, dqacc_dtau);
  if (result == TB_OK) {
    copy_columns(columns, w, 0, nv, nv, dqacc_dq);
    copy_columns(columns, w, nv, nv, nv, dqacc_dv);
  }
  tb_arena_release(&x->arena, mark);
  return result;
}

// ---- smoothing by samples -----------------------------------------------------------------------

static bool is_allowed(const tbDerivativeSettings* s) {
  const tbReal number[] = {s->mode_tolerance, s->proximal, s->relaxation, s->spread};
  for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
    if (!(number[i] >= 0 && isfinite(number[i]))) return false;
  }
  return s->samples >= 0;
}

static tbResult check(const tbModel* m, tbData* d, const tbDerivativeSettings* settings,
                      const tbDerivatives* x) {
  if (!tb_is_world_of(m, d)) {
    return tb_step_fail(d, TB_ERROR_ARGUMENT, "this world is of another model");
  }
  if (m->nv != x->nv || m->nu != x->nu || m->na != x->na) {
    return tb_step_fail(d, TB_ERROR_ARGUMENT, "these derivatives are of another model");
  }
  if (!is_allowed(settings)) {
    return tb_step_fail(d, TB_ERROR_ARGUMENT,
                        "settings of derivatives must be finite and not negative");
  }
  return TB_OK;
}

// The reason of a failure without a message of its own.
static const char* default_message(tbResult result) {
  return result == TB_ERROR_MEMORY ? "out of memory for derivatives" : "no derivatives";
}

tbResult tb_step_linearize(const tbModel* m, tbData* d, const tbDerivativeSettings* settings,
                           tbDerivatives* x, tbDerivativeInfo* info) {
  if (!m || !d || !x) return TB_ERROR_ARGUMENT;
  tbDerivativeSettings chosen = settings ? *settings : tbDefaultDerivativeSettings();
  tbResult result = check(m, d, &chosen, x);
  if (result == TB_OK) {
    result = chosen.samples > 1 ? tb_deriv_samples(m, d, &chosen, x)
                                : tb_deriv_linearize(m, d, &chosen, x);
    if (result != TB_OK) tb_step_fail(d, result, d->message[0] ? NULL : default_message(result));
  }
  if (result != TB_OK) x->ready = x->ncon = 0;
  if (info) *info = x->info;
  return result;
}
