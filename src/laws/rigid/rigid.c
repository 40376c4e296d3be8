// The velocity after a step of a rigid law (docs/step.md eq. 1 to 5): the free velocity, one
// problem per island, and for each of them, until an answer satisfies the residual function,
//
//   1. the last step's impulses as they are (accept_recalled),
//   2. Newton on the active set in the form that fits (rigid_fast.c; docs/solver-active.md),
//   3. the law's solvers on the Delassus matrix (solve_islands; docs/solvers.md), with a guard on
//      what does not converge.
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

// Iterations of the law's solvers where Newton on the active set has failed: enough that every
// method of a first round of ncp/auto has its turn.
enum { MOST_AFTER = 250 };

// Impulses of the last step are taken as they are where their residual is this far below the
// tolerance: errors that repeat from step to step add up.
static const tbReal RECALL = 0.5, LARGEST_RECALLED = 1e100;

static const tbReal NOWHERE[3] = {0, 0, 0};

static tbSolveSettings settings_of(const tbOption* opt) {
  tbSolveSettings s = tbDefaultSolveSettings();
  s.law = opt->law;
  // A number out of range is refused by name.
  s.solver = tb_option_word("solver", opt->solver);
  s.tol = opt->solve_tolerance;
  s.tol_absolute = opt->solve_absolute;
  s.max_iter = opt->solve_iterations;
  s.warm_start = opt->warmstart;
  s.check = 0;
  s.islands = 0;
  return s;
}

// One pass over an island's constraints: 0 recalls impulses by identity, 1 what is left by place
// for those without, 2 for all.
static void recall_pass(const tbRigidStep* step, tbIsland* island, int pass) {
  tbStepState* state = step->state;
  for (int k = 0, row = 0; k < island->nmember; k++) {
    tbConstraint* c = &state->constraints.list[island->member[k]];
    tbReal* lambda = island->lambda + row;
    row += c->dim;
    if (pass == 0) {
      c->known = tb_impulse_cache_get(&state->warm, c->key, c->dim, lambda, &island->inherited);
    } else if (c->source == TB_SOURCE_CONTACT && (pass == 2 || !c->known)) {
      const tbReal *pos = step->d->contact[c->id].pos, reach = tb_margin(step->m, state);
      tb_impulse_cache_add_near(&state->warm, c->key, pos, reach, c->dim, lambda);
    }
    // A step that failed may have left anything.
    for (int r = 0; r < c->dim; r++) {
      if (!(fabs(lambda[r]) < LARGEST_RECALLED)) lambda[r] = 0;
    }
  }
}

// Start from the impulses of the last step.
static void recall_impulses(tbRigidStep* step) {
  for (int pass = 0; pass < 3 && (pass == 0 || step->state->warm.left > 0); pass++) {
    for (int i = 0; i < step->islands.count; i++) {
      recall_pass(step, &step->islands.island[i], pass);
    }
  }
}

// Recalled impulses that miss what they hold by a little make it move a little faster in every
// step, for hundreds of steps until the tolerance is spent: a residual that grows slowly says so.
static bool creeps(const tbIsland* island, tbReal tolerance) {
  const tbReal felt = 0.05, slowly = 1.25;
  return island->measure > felt * tolerance && island->measure > island->inherited &&
         island->measure < slowly * island->inherited;
}

// The impulse on the dofs that all impulses add up to, and v+ = v_f + H^-1 J^T lambda.
static void apply_all(tbRigidStep* step) {
  const tbModel* m = step->m;
  size_t bytes = sizeof(tbReal) * (size_t)m->nv;
  memset(step->impulse, 0, bytes);
  tb_gather_impulse(&step->state->constraints, &step->islands, step->impulse);
  memcpy(step->v_next, step->impulse, bytes);
  tb_ltdl_solve(tb_forest(m), step->factor.LD, step->factor.inverse, step->v_next);
  for (int i = 0; i < m->nv; i++) step->v_next[i] += step->v_free[i];
}

// Whether an island's first impulses, whose velocity is known, solve it (at rest, most do): it
// needs neither G nor a solver.
static void judge_recalled(tbRigidStep* step, tbIsland* island) {
  tbLaw law = (tbLaw)step->m->opt.law;
  tbReal tolerance = step->m->opt.solve_tolerance;
  tbSolveInfo info = {.law = tb_law_name(law), .solver = "warm start"};
  info.residual = tb_residual(&island->problem, law, island->lambda, island->sigma);
  island->measure = info.residual.relative;
  if (!(island->measure <= RECALL * tolerance) || creeps(island, tolerance)) return;
  info.residual_exact =
      law == TB_LAW_NCP ? info.residual
                        : tb_residual(&island->problem, TB_LAW_NCP, island->lambda, island->sigma);
  island->solved = island->applied = 1;
  island->residual = island->measure;
  tb_certificate_add(&step->d->solve, &info);
}

// Where the first impulses of every island lead to, and which islands they already solve.
static tbResult accept_recalled(tbRigidStep* step) {
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
    judge_recalled(step, island);
  }
  return TB_OK;
}

// ---- the general path --------------------------------------------------------------------------

static tbResult retry_cold(const tbProblem* problem, tbSolveSettings settings, tbReal* lambda,
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
  tbSolveInfo* info;  // per island
  bool tried;         // the fast path left these islands, with the best it had found
  bool started;       // the first guess is the exact law's
} Solves;

static tbResult solve_one(void* context, int index, tbWorker* worker) {
  Solves* s = context;
  const tbIsland* island = &s->islands->island[index];
  tbSolveInfo* info = &s->info[index];
  // Nothing of the worker's last island may show in this one.
  tb_solve_work_forget(worker->solve);
  tbResult result =
      tb_solve(&island->problem, &s->settings, island->lambda, worker->solve, info, &worker->error);
  if (result == TB_OK && info->status != TB_SOLVE_CONVERGED && s->settings.warm_start &&
      !s->tried && !s->started) {
    // A bad first guess may be to blame: once more from rest, and the better answer counts.
    result = retry_cold(&island->problem, s->settings, island->lambda, worker, info);
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
              fast && round && !tb_rigid_wants_digits(opt), fast && opt->law == TB_LAW_RAISIM};
  if (s.tried || (fast && !round)) s.settings.warm_start = 1;
  // What Newton could not do in some dozens of rounds is hard: the rest is bounded.
  if (s.tried && s.settings.max_iter > MOST_AFTER) s.settings.max_iter = MOST_AFTER;
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

// Keep impulses for the next step and report forces.
static tbResult store_impulses(tbRigidStep* step) {
  tbStepState* state = step->state;
  if (!tb_impulse_cache_clear(&state->warm, state->constraints.count)) return TB_ERROR_MEMORY;
  for (int i = 0; i < step->islands.count; i++) {
    const tbIsland* island = &step->islands.island[i];
    const tbReal* lambda = island->rest ? island->rest : island->lambda;
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

// Whether all islands are solved, and their impulses act.
static bool all_applied(const tbIslands* islands) {
  bool all = true;
  for (int i = 0; i < islands->count; i++) {
    all = all && islands->island[i].solved && islands->island[i].applied;
  }
  return all;
}

// Islands with contacts that jam once more, these softened; others may jam then.
static tbResult solve_jams(tbRigidStep* step) {
  enum { MOST_SOLVES = 4 };
  bool any = !TB_WITHOUT(DEGENERATE);
  for (int k = 0; k < MOST_SOLVES && any; k++) {
    tbResult result = tb_soften_degenerate_contacts(step, &any);
    if (result == TB_OK && any) result = tb_rigid_fast(step);
    if (result != TB_OK) return result;
    if (any) step->state->amended = 1;
  }
  return TB_OK;
}

// Impulses of all islands, from the last step's on, and where they lead to.
static tbResult find_impulses(tbRigidStep* step) {
  const tbModel* m = step->m;
  tbConstraints* constraints = &step->state->constraints;
  bool fast = tb_rigid_is_fast(&m->opt), early = fast && m->opt.law == TB_LAW_RAISIM;
  tbResult result = TB_OK;
  if (m->opt.warmstart) recall_impulses(step);
  // RaiSim's law itself, and so its residual, needs G.
  if (early) {
    result = tb_assemble_delassus(m, step->d, constraints, step->factor, &step->islands);
  }
  if (result == TB_OK) result = accept_recalled(step);
  if (result == TB_OK && fast && !all_applied(&step->islands)) result = tb_rigid_fast(step);
  if (result == TB_OK && fast) result = solve_jams(step);
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

// One problem per island, each solved from the last impulses on; `start` of the clock.
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

// The same with restitution cut back, where that makes energy or jams (bounce.c).
static tbResult solve_bounces(tbRigidStep* step) {
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
    step->state->amended = 1;
  }
  return TB_OK;
}

// Which constraint of the worst island keeps the step from converging.
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

tbResult tb_rigid_velocity(const tbModel* m, tbData* d, tbStepState* state, tbReal* v_next) {
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
    if (result == TB_OK && bounces) result = solve_bounces(&step);
    if (result == TB_OK && m->opt.law == TB_LAW_RAISIM) {
      result = tb_certificate_whole(m, d, &state->constraints, step.factor, &step.islands, v_free,
                                    v_next, &d->solve, state->unseen);
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
