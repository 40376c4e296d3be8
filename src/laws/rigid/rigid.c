// The velocity after a step of a rigid law (docs/manual/step.md eq. 1 to 5): the free velocity, one
// problem per island, and for each of them three attempts until an answer satisfies the residual
// function:
//
//   1. the warm start, the impulses of the last step, unchanged (accept_warm_start),
//   2. Newton's method on the active set in a suitable space (velocity_space.c;
//      docs/notebook/active-set.md),
//   3. the law's solvers on the Delassus matrix (solve_islands; docs/manual/solvers.md); if they do
//   not
//      converge, the energy of the impulses is bounded.
#include "laws/rigid/rigid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ablation.h"
#include "base/timer.h"
#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/option.h"
#include "model/workspace.h"
#include "laws/rigid/restitution.h"
#include "laws/certificate.h"
#include "laws/rigid/speculative_contacts.h"
#include "laws/rigid/energy_bound.h"
#include "laws/rigid/degenerate_contacts.h"
#include "laws/rigid/velocity_space.h"
#include "tribo/step.h"

// Iteration limit of the law's solvers after the active-set method has failed: enough to reach each
// method of the first sequence of ncp/auto.
enum { MOST_AFTER = 250 };

// A warm start is accepted unchanged if its residual is below this fraction of the tolerance, since
// errors that repeat in every step accumulate.
static const tbReal ACCEPTED_SHARE = 0.5, LARGEST_IMPULSE = 1e100;

static const tbReal NOWHERE[3] = {0, 0, 0};

static tbSolveSettings settings_of(const tbOption* opt) {
  tbSolveSettings s = tbDefaultSolveSettings();
  s.law = opt->law;
  // tb_solve rejects an unknown solver by name.
  s.solver = tb_option_word("solver", opt->solver);
  s.tol = opt->solve_tolerance;
  s.tol_absolute = opt->solve_absolute;
  s.max_iter = opt->solve_iterations;
  s.warm_start = opt->warmstart;
  s.check = 0;
  s.islands = 0;
  return s;
}

// One pass over an island's constraints: pass 0 finds impulses by key, pass 1 by position for
// contacts without a match, pass 2 by position for all contacts.
static void warm_start_pass(const tbRigidStep* step, tbIsland* island, int pass) {
  tbStepState* state = step->state;
  for (int k = 0, row = 0; k < island->nmember; k++) {
    tbConstraint* c = &state->constraints.list[island->member[k]];
    tbReal* lambda = island->lambda + row;
    row += c->dim;
    if (pass == 0) {
      c->known =
          tb_impulse_cache_get(&state->warm, c->key, c->dim, lambda, &island->carried_residual);
    } else if (c->source == TB_SOURCE_CONTACT && (pass == 2 || !c->known)) {
      const tbReal *pos = step->d->contact[c->id].pos, reach = tb_margin(step->m, state);
      tb_impulse_cache_add_near(&state->warm, c->key, pos, reach, c->dim, lambda);
    }
    // A failed step may have left invalid numbers.
    for (int r = 0; r < c->dim; r++) {
      if (!(fabs(lambda[r]) < LARGEST_IMPULSE)) lambda[r] = 0;
    }
  }
}

// Initialise the impulses of all islands with those of the last step.
static void warm_start_impulses(tbRigidStep* step) {
  for (int pass = 0; pass < 3 && (pass == 0 || step->state->warm.left > 0); pass++) {
    for (int i = 0; i < step->islands.count; i++) {
      warm_start_pass(step, &step->islands.island[i], pass);
    }
  }
}

// A slow drift of the residual: warm-start impulses with a small error accelerate the bodies a
// little in every step, for hundreds of steps until the residual exceeds the tolerance. The sign is
// a residual that grows slowly.
static bool drifts_slowly(const tbIsland* island, tbReal tolerance) {
  const tbReal noticeable = 0.05, slowly = 1.25;
  return island->start_residual > noticeable * tolerance &&
         island->start_residual > island->carried_residual &&
         island->start_residual < slowly * island->carried_residual;
}

// The generalised impulse J^T lambda of all islands, and v+ = v_f + H^-1 J^T lambda.
static void apply_all(tbRigidStep* step) {
  const tbModel* m = step->m;
  size_t bytes = sizeof(tbReal) * (size_t)m->nv;
  memset(step->impulse, 0, bytes);
  tb_gather_impulse(&step->state->constraints, &step->islands, step->impulse);
  memcpy(step->v_next, step->impulse, bytes);
  tb_ltdl_solve(tb_forest(m), step->factor.LD, step->factor.inverse, step->v_next);
  for (int i = 0; i < m->nv; i++) step->v_next[i] += step->v_free[i];
}

// Evaluate the warm start of an island, whose velocity is known. At rest it mostly is a solution,
// and then neither G nor a solver is needed.
static void evaluate_warm_start(tbRigidStep* step, tbIsland* island) {
  tbLaw law = (tbLaw)step->m->opt.law;
  tbReal tolerance = step->m->opt.solve_tolerance;
  tbSolveInfo info = {.law = tb_law_name(law), .solver = "warm start"};
  info.residual = tb_residual(&island->problem, law, island->lambda, island->sigma);
  island->start_residual = info.residual.relative;
  if (!(island->start_residual <= ACCEPTED_SHARE * tolerance) || drifts_slowly(island, tolerance))
    return;
  info.residual_exact =
      law == TB_LAW_NCP ? info.residual
                        : tb_residual(&island->problem, TB_LAW_NCP, island->lambda, island->sigma);
  island->solved = island->applied = 1;
  island->residual = island->start_residual;
  tb_certificate_add(&step->d->solve, &info);
}

// Evaluate the warm starts of all islands, and mark those that are solutions.
static tbResult accept_warm_start(tbRigidStep* step) {
  const tbOption* opt = &step->m->opt;
  const tbConstraints* constraints = &step->state->constraints;
  tbReal* sigma =
      tb_arena_alloc(&step->d->work->arena, sizeof(tbReal) * (size_t)(constraints->nrow + 1));
  if (!sigma) return TB_ERROR_MEMORY;
  apply_all(step);
  for (int i = 0; i < step->islands.count; i++) {
    tbIsland* island = &step->islands.island[i];
    island->sigma = sigma;
    sigma += island->problem.n;
    tb_assembled_velocity(constraints, island, step->v_free, step->v_next, island->sigma);
    if (opt->solve_absolute > 0 || (opt->law == TB_LAW_RAISIM && !tb_rigid_is_fast(opt))) continue;
    evaluate_warm_start(step, island);
  }
  return TB_OK;
}

// ---- the general path --------------------------------------------------------------------------

static tbResult retry_from_zero(const tbProblem* problem, tbSolveSettings settings, tbReal* lambda,
                                tbWorker* worker, tbSolveInfo* info) {
  tbReal* cold = TB_ARENA_NEW(&worker->arena, tbReal, problem->n);
  if (!cold) return TB_ERROR_MEMORY;
  tbSolveInfo again;
  settings.warm_start = 0;
  tbResult result = tb_solve(problem, &settings, cold, worker->solve, &again, &worker->error);
  if (result != TB_OK || again.residual.relative >= info->residual.relative) return result;
  memcpy(lambda, cold, sizeof(tbReal) * (size_t)problem->n);
  *info = again;
  return TB_OK;
}

typedef struct {
  tbSolveSettings settings;
  const tbIslands* islands;
  tbSolveInfo* info;      // per island
  bool fast_path_failed;  // the fast path could not solve these islands; lambda holds its best
                          // result
  bool started;           // the initial guess is the solution of the exact law
} Solves;

static tbResult solve_one(void* context, int index, tbWorker* worker) {
  Solves* s = context;
  const tbIsland* island = &s->islands->island[index];
  tbSolveInfo* info = &s->info[index];
  // The result must not depend on the island that the worker solved before.
  tb_solve_work_forget(worker->solve);
  tbResult result =
      tb_solve(&island->problem, &s->settings, island->lambda, worker->solve, info, &worker->error);
  if (result == TB_OK && info->status != TB_SOLVE_CONVERGED && s->settings.warm_start &&
      !s->fast_path_failed && !s->started) {
    // The warm start may be the cause: solve once more from zero and keep the better answer.
    result = retry_from_zero(&island->problem, s->settings, island->lambda, worker, info);
  }
  return result;
}

static tbResult solve_islands(tbRigidStep* step) {
  const tbOption* opt = &step->m->opt;
  tbData* d = step->d;
  tbIslands* islands = &step->islands;
  tbArena* arena = &d->work->arena;
  bool fast = tb_rigid_is_fast(opt), round = opt->law == TB_LAW_NCP || opt->law == TB_LAW_CCP;
  Solves s = {settings_of(opt), islands, TB_ARENA_NEW(arena, tbSolveInfo, islands->count),
              fast && round && !tb_rigid_has_tight_tolerance(opt),
              fast && opt->law == TB_LAW_RAISIM};
  if (s.fast_path_failed || (fast && !round)) s.settings.warm_start = 1;
  // Problems that the active-set method could not solve are hard: bound the remaining effort.
  if (s.fast_path_failed && s.settings.max_iter > MOST_AFTER) s.settings.max_iter = MOST_AFTER;
  tbReal* cost = TB_ARENA_NEW(arena, tbReal, islands->count);
  if (!s.info || !cost) return TB_ERROR_MEMORY;
  for (int i = 0; i < islands->count; i++) {
    tbReal n = islands->island[i].problem.n;
    cost[i] = islands->island[i].solved ? 0 : n * n;
  }
  tbWorkers* workers = &step->state->workers;
  tbResult result = tb_workers_run(workers, arena, islands->count, cost, solve_one, &s);
  if (result != TB_OK) {
    snprintf(d->message, sizeof d->message, "%.250s", workers->error.message);
    return result;
  }
  for (int i = 0; i < islands->count; i++) {
    if (cost[i] == 0) continue;
    islands->island[i].residual = s.info[i].residual.relative;
    tb_certificate_add(&d->solve, &s.info[i]);
  }
  return TB_OK;
}

// ---- all of it ---------------------------------------------------------------------------------

// Store the impulses for the next step and report forces.
static tbResult store_impulses(tbRigidStep* step) {
  tbStepState* state = step->state;
  if (!tb_impulse_cache_clear(&state->warm, state->constraints.count)) return TB_ERROR_MEMORY;
  for (int i = 0; i < step->islands.count; i++) {
    const tbIsland* island = &step->islands.island[i];
    const tbReal* lambda = island->resting_start ? island->resting_start : island->lambda;
    for (int k = 0; k < island->nmember; k++) {
      const tbConstraint* c = &state->constraints.list[island->member[k]];
      const tbReal* pos = c->source == TB_SOURCE_CONTACT ? step->d->contact[c->id].pos : NOWHERE;
      tb_impulse_cache_put(&state->warm, c->key, pos, c->dim, lambda, island->residual);
      lambda += c->dim;
    }
  }
  tb_store_forces(step->m, step->d, state, &step->islands);
  return TB_OK;
}

// Whether all islands are solved and their impulses applied.
static bool all_applied(const tbIslands* islands) {
  bool all = true;
  for (int i = 0; i < islands->count; i++) {
    all = all && islands->island[i].solved && islands->island[i].applied;
  }
  return all;
}

// Solve islands with degenerate contacts again, these contacts softened; others may become
// degenerate then.
static tbResult solve_degenerate(tbRigidStep* step) {
  enum { MOST_SOLVES = 4 };
  bool any = !TB_WITHOUT(DEGENERATE);
  for (int k = 0; k < MOST_SOLVES && any; k++) {
    tbResult result = tb_soften_degenerate_contacts(step, &any);
    if (result == TB_OK && any) result = tb_rigid_fast(step);
    if (result != TB_OK) return result;
    if (any) tb_rigid_state(step->m, step->state)->modified = true;
  }
  return TB_OK;
}

// Impulses of all islands, starting from those of the last step, and the velocity that they cause.
static tbResult find_impulses(tbRigidStep* step) {
  const tbModel* m = step->m;
  tbConstraints* constraints = &step->state->constraints;
  bool fast = tb_rigid_is_fast(&m->opt), early = fast && m->opt.law == TB_LAW_RAISIM;
  tbResult result = TB_OK;
  if (m->opt.warmstart) warm_start_impulses(step);
  // RaiSim's law, and so its residual, needs G.
  if (early) {
    result = tb_assemble_delassus(m, step->d, constraints, step->factor, &step->islands);
  }
  if (result == TB_OK) result = accept_warm_start(step);
  if (result == TB_OK && fast && !all_applied(&step->islands)) result = tb_rigid_fast(step);
  if (result == TB_OK && fast) result = solve_degenerate(step);
  if (result != TB_OK) return result;
  if (all_applied(&step->islands)) return store_impulses(step);
  if (!early) result = tb_assemble_delassus(m, step->d, constraints, step->factor, &step->islands);
  if (result == TB_OK) result = solve_islands(step);
  if (result == TB_OK && !TB_WITHOUT(ENERGY_BOUND)) {
    result = tb_bound_impulse_energy(m, step->d, constraints, step->factor, step->v_free,
                                     &step->islands);
  }
  if (result == TB_OK) result = store_impulses(step);
  if (result == TB_OK) apply_all(step);
  return result;
}

// Solve one problem per island, starting from the last impulses; `start`: clock time.
static tbResult solve_rows(tbRigidStep* step, tbReal start) {
  tbConstraints* constraints = &step->state->constraints;
  tbResult result = tb_assemble_groups(step->m, step->d, constraints, &step->islands);
  if (result == TB_OK) {
    result = tb_assemble_terms(step->m, step->d, constraints, step->factor, step->v_free,
                               &step->islands);
  }
  if (result != TB_OK) return result;
  tbReal assemble_end = tb_seconds();
  step->d->seconds.assemble += assemble_end - start;
  result = find_impulses(step);
  step->d->seconds.solve += tb_seconds() - assemble_end;
  return result;
}

// The same with reduced restitution, where it adds energy or contacts are degenerate
// (restitution.c).
static tbResult solve_restitution(tbRigidStep* step) {
  tbData* d = step->d;
  tbReal* restitution = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(d->ncon + 1));
  tbRestitutionBound* bounce =
      TB_ARENA_NEW(&d->work->arena, tbRestitutionBound, step->islands.count);
  if (!restitution || !bounce) return TB_ERROR_MEMORY;
  tbReal energy = tb_kinetic_energy(step->m, d);
  for (int i = 0; i < d->ncon; i++) restitution[i] = d->contact[i].restitution;
  while (tb_bound_restitution(step, restitution, energy, bounce)) {
    tbSolveInfo before = d->solve;
    memset(&d->solve, 0, sizeof d->solve);
    tbResult result = solve_rows(step, tb_seconds());
    if (result != TB_OK) return result;
    d->solve.iterations += before.iterations;
    d->solve.factorizations += before.factorizations;
    d->solve.seconds += before.seconds;
    tb_rigid_state(step->m, step->state)->modified = true;
  }
  return TB_OK;
}

// Find the constraint of the worst island that has the largest residual.
static tbResult find_offender(tbRigidStep* step) {
  const tbIsland* worst = NULL;
  for (int i = 0; i < step->islands.count; i++) {
    const tbIsland* island = &step->islands.island[i];
    if (!worst || island->residual > worst->residual) worst = island;
  }
  if (!worst) return TB_OK;
  tbReal* sigma = TB_ARENA_NEW(&step->d->work->arena, tbReal, worst->problem.n);
  if (!sigma) return TB_ERROR_MEMORY;
  const tbConstraints* constraints = &step->state->constraints;
  tb_assembled_velocity(constraints, worst, step->v_free, step->v_next, sigma);
  tbLaw law = (tbLaw)step->m->opt.law;
  tb_certificate_blame(step->m, step->d, tb_certificate_worst(constraints, worst, law, sigma));
  return TB_OK;
}

tbResult tb_rigid_solve(const tbStep* s, tbReal* v_next) {
  const tbModel* m = s->m;
  tbData* d = s->d;
  tbStepState* state = s->state;
  size_t bytes = sizeof(tbReal) * (size_t)m->nv;
  tbReal h = m->opt.timestep;
  tbReal* impulse = TB_ARENA_NEW(&d->work->arena, tbReal, m->nv);
  tbReal* v_free = tb_arena_alloc(&d->work->arena, bytes + sizeof(tbReal));
  if (!impulse || !v_free) return TB_ERROR_MEMORY;
  tbRigidStep step = {.m = m, .d = d, .state = state, .v_free = v_free};
  step.impulse = impulse;
  step.v_next = v_next;
  step.factor = state->factor;

  // Free velocity v_f = v + h H^-1 (tau - b), H = M with damping made implicit.
  memcpy(v_free, d->qfrc_smooth, bytes);
  tb_ltdl_solve(tb_forest(m), step.factor.LD, step.factor.inverse, v_free);
  memcpy(d->qacc_smooth, v_free, bytes);
  for (int i = 0; i < m->nv; i++) v_free[i] = d->qvel[i] + h * v_free[i];
  tbReal dynamics_end = tb_seconds();
  d->seconds.dynamics += dynamics_end - state->clock;

  memcpy(v_next, v_free, bytes);
  tbResult result = TB_OK;
  if (state->constraints.count > 0) {
    result = solve_rows(&step, dynamics_end);
    bool bounces = step.islands.bounces > 0 && !TB_WITHOUT(RESTITUTION_BOUND);
    if (result == TB_OK && bounces) result = solve_restitution(&step);
    if (result == TB_OK && m->opt.law == TB_LAW_RAISIM) {
      result = tb_certificate_whole(m, d, &state->constraints, step.factor, &step.islands, v_free,
                                    v_next, &d->solve, s->purpose.state_only);
    }
    if (result == TB_OK && d->solve.status != TB_SOLVE_CONVERGED) result = find_offender(&step);
  } else if (!tb_impulse_cache_clear(&state->warm, 0)) {
    result = TB_ERROR_MEMORY;
  }
  if (result != TB_OK) return result;
  for (int i = 0; i < m->nv; i++) {
    d->qfrc_constraint[i] = impulse[i] / h;
    d->qacc[i] = (v_next[i] - d->qvel[i]) / h;
  }
  return TB_OK;
}
