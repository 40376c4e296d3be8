// The velocity after a step of a rigid law (docs/step.md eq. 1 to 5): the free velocity, one
// problem per island, and for each of them, until an answer satisfies the residual function,
//
//   1. the last step's impulses as they are (accept_recalled),
//   2. Newton on the active set in the form that fits (solve_fast; docs/solver-active.md),
//   3. the law's solvers on the Delassus matrix (solve_islands; docs/solvers.md), with a guard on
//      what does not converge.
#include "step/rigid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timer.h"
#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/option.h"
#include "model/workspace.h"
#include "solvers/active.h"
#include "solvers/velocity_dense.h"
#include "step/certificate.h"
#include "step/guard.h"
#include "step/implicit.h"
#include "step/tension.h"
#include "step/twists.h"
#include "tribo/step.h"

// Iterations of Newton on the active set, and of the law's solvers after it.
enum { MOST_FAST = 200, MOST_AFTER = 100 };

// Rows of an island: the most for Newton in impulse space; the most that the law's solvers are
// tried on where Newton fails; the most on which they are tried however close it came.
enum { MOST_DENSE = 64, MOST_GENERAL = 300, MOST_SURE = 100 };

// Of its dofs: what an island may have of unknowns in the space of what touches.
static const tbReal REDUCED_SHARE = 0.7;

// Impulses of the last step are taken as they are where their residual is this far below the
// tolerance: errors that repeat from step to step add up.
static const tbReal RECALL = 0.5, LARGEST_RECALLED = 1e100;

// What the last step left is made up for in the next guess from this share of the tolerance on.
static const tbReal INHERITED = 1e-2;

// Islands of some size are left as they are where their relative residual is below; a tolerance
// below asks for digits, whatever they cost.
static const tbReal NEAR = 1e-3, DIGITS = 1e-8;

static const tbReal NOWHERE[3] = {0, 0, 0};

const char* tb_step_solver_name(int solver) {
  return tb_option_word("solver", solver);
}

static tbSolveSettings settings_of(const tbOption* opt) {
  tbSolveSettings s = tbDefaultSolveSettings();
  s.law = opt->law;
  // A number out of range is refused by name.
  s.solver = tb_step_solver_name(opt->solver);
  s.tol = opt->solve_tolerance;
  s.tol_absolute = opt->solve_absolute;
  s.max_iter = opt->solve_iterations;
  s.warm_start = opt->warmstart;
  s.check = 0;
  s.islands = 0;
  return s;
}

// One pass over all constraints: 0 recalls impulses by identity, 1 what is left by place for those
// without, 2 for all.
static void recall_pass(const tbModel* m, const tbData* d, tbStepState* state, tbIsland* island,
                        int pass) {
  for (int k = 0, row = 0; k < island->nmember; k++) {
    tbConstraint* c = &state->constraints.list[island->member[k]];
    tbReal* lambda = island->lambda + row;
    row += c->dim;
    if (pass == 0) {
      c->known = tb_warm_get(&state->warm, c->key, c->dim, lambda, &island->inherited);
    } else if (c->source == TB_SOURCE_CONTACT && (pass == 2 || !c->known)) {
      const tbReal *pos = d->contact[c->id].pos, reach = m->opt.contact_margin;
      tb_warm_add_near(&state->warm, c->key, pos, reach, c->dim, lambda);
    }
    // A step that failed may have left anything.
    for (int r = 0; r < c->dim; r++) {
      if (!(fabs(lambda[r]) < LARGEST_RECALLED)) lambda[r] = 0;
    }
  }
}

// Start from the impulses of the last step.
static void recall_impulses(const tbModel* m, const tbData* d, tbStepState* state,
                            tbIslands* islands) {
  for (int pass = 0; pass < 3 && (pass == 0 || state->warm.left > 0); pass++) {
    for (int i = 0; i < islands->count; i++) {
      recall_pass(m, d, state, &islands->island[i], pass);
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

// The impulse on the dofs and the velocity that the first impulses of every island lead to, and
// which islands these already solve (at rest, most): they need neither G nor a solver.
static tbResult accept_recalled(const tbModel* m, tbData* d, tbStepState* state,
                                tbInertiaFactor factor, const tbReal* v_free, tbIslands* islands,
                                tbReal* impulse, tbReal* v) {
  tbForest forest = tb_forest(m);
  tbReal* sigma =
      tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(state->constraints.nrow + 1));
  if (!sigma) return TB_ERROR_MEMORY;
  tb_gather_impulse(&state->constraints, islands, impulse);
  memcpy(v, impulse, sizeof(tbReal) * (size_t)m->nv);
  tb_ltdl_solve(forest, factor.LD, factor.inverse, v);
  for (int i = 0; i < m->nv; i++) v[i] += v_free[i];
  for (int i = 0; i < islands->count; i++) {
    tbIsland* island = &islands->island[i];
    island->sigma = sigma;
    sigma += island->problem.n;
    tb_assembled_velocity(&state->constraints, island, v_free, v, island->sigma);
    // RaiSim's residual needs G itself.
    if (m->opt.solve_absolute > 0 || m->opt.law == TB_LAW_RAISIM) continue;
    tbSolveInfo info = {.law = tb_law_name((tbLaw)m->opt.law), .solver = "warm start"};
    info.residual = tb_residual(&island->problem, (tbLaw)m->opt.law, island->lambda, island->sigma);
    island->measure = info.residual.relative;
    if (!(info.residual.relative <= RECALL * m->opt.solve_tolerance)) continue;
    if (creeps(island, m->opt.solve_tolerance)) continue;
    info.residual_exact = m->opt.law == TB_LAW_NCP ? info.residual
                                                   : tb_residual(&island->problem, TB_LAW_NCP,
                                                                 island->lambda, island->sigma);
    island->solved = island->applied = 1;
    island->residual = info.residual.relative;
    tb_certificate_add(&d->solve, &info);
  }
  return TB_OK;
}

// ---- the fast path -----------------------------------------------------------------------------

typedef struct {
  const tbModel* m;
  const tbConstraints* constraints;
  tbInertiaFactor factor;
  const tbIslands* islands;
  tbSolveInfo* info;  // per island
  int* place;         // by dof: scratch; islands share no dof
  const tbData* d;
  const tbReal* v_free;
  tbReal *impulse, *v_next;  // by dof: what acts, and where it leads to; every island has its own
} Fast;

// Where an island's impulses lead to.
static void apply_impulses(const Fast* f, const tbActive* active, tbIsland* island) {
  for (int t = 0; t < active->ntree; t++) {
    int first = active->tree[t].first, end = active->tree[t].end;
    memset(f->impulse + first, 0, sizeof(tbReal) * (size_t)(end - first));
  }
  tb_gather_island(f->constraints, island, f->impulse);
  for (int t = 0; t < active->ntree; t++) {
    int first = active->tree[t].first, end = active->tree[t].end;
    memcpy(f->v_next + first, f->impulse + first, sizeof(tbReal) * (size_t)(end - first));
    tb_ltdl_solve_range(active->forest, active->LD, active->inverse, f->v_next, first, end);
    for (int k = first; k < end; k++) f->v_next[k] += f->v_free[k];
  }
  island->applied = 1;
}

// The same, and how far from the law that is. False: out of memory.
static bool judge_applied(const Fast* f, const tbActive* active, tbIsland* island, tbArena* arena,
                          tbSolveInfo* info) {
  const tbProblem* p = &island->problem;
  tbReal* sigma = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)p->n);
  if (!sigma) return false;
  apply_impulses(f, active, island);
  tb_assembled_velocity(f->constraints, island, f->v_free, f->v_next, sigma);
  info->residual = tb_residual(p, active->law, island->lambda, sigma);
  info->residual_exact = active->law == TB_LAW_NCP
                             ? info->residual
                             : tb_residual(p, TB_LAW_NCP, island->lambda, sigma);
  return true;
}

// Newton in velocity space over whole trees, with dense factors.
static bool solve_small(tbActive active, int nblock, const tbIsland* island, tbArena* arena,
                        tbSolveInfo* info) {
  tbVelocity system;
  active.system = &system;
  return tb_velocity_build_dense(&system, arena, active.forest, active.M, active.LD, active.inverse,
                                 active.ntree, active.tree, nblock, active.block) &&
         tb_active_solve(&active, arena, island->sigma, island->lambda, info);
}

// No fewer unknowns than these are left in the space of what touches: rows that are neither of
// contacts nor equalities, and a body's or a few of its contacts' rows.
static int least_base_rows(const tbProblem* p) {
  enum { TWIST = 6 };
  int contacts = 0, others = 0;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    if (b->type == TB_BLOCK_CONE) contacts += b->dim;
    if (b->type == TB_BLOCK_BOX || b->type == TB_BLOCK_ONE_SIDED) others += b->dim;
  }
  return others + (contacts < TWIST ? contacts : TWIST);
}

// The same in the space of what touches, where that is smaller; what it finds is judged by where it
// leads to. Sets *solved; where it is not, the guess is as it was.
static bool solve_reduced(const Fast* f, tbActive active, int dofs, tbIsland* island,
                          tbArena* arena, tbSolveInfo* info, bool* solved) {
  tbTwists twists;
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  if (least_base_rows(&island->problem) > REDUCED_SHARE * dofs) return true;
  if (!tb_island_twists(f->m, f->d, f->constraints, island, arena, &twists)) return false;
  if (tb_active_base_rows(&active, &twists) > REDUCED_SHARE * dofs) return true;
  tbReal* guess = tb_arena_alloc(arena, bytes);
  if (!guess) return false;
  memcpy(guess, island->lambda, bytes);
  if (!tb_active_solve_reduced(&active, &twists, arena, island->sigma, island->lambda, info)) {
    return false;
  }
  if (info->status == TB_SOLVE_CONVERGED) {
    if (!judge_applied(f, &active, island, arena, info)) return false;
    *solved = info->residual.relative <= active.tolerance;
  }
  if (!*solved) {
    memcpy(island->lambda, guess, bytes);
    island->applied = 0;
  }
  return true;
}

// Newton in velocity space, with sparse factors.
static bool solve_sparse(const Fast* f, tbActive active, int nblock, const tbIsland* island,
                         tbArena* arena, tbSolveInfo* info) {
  tbVelocity system;
  if (!tb_velocity_build(&system, arena, active.forest, active.LD, active.inverse, nblock,
                         active.block, f->place)) {
    return false;
  }
  active.system = &system;
  bool ok = tb_active_solve(&active, arena, island->sigma, island->lambda, info);
  tb_velocity_release(&system);
  return ok;
}

// The trees that an island's rows move.
static bool list_trees(const Fast* f, tbArena* arena, tbActive* active, int nblock) {
  const tbModel* m = f->m;
  tbRange* tree = tb_arena_alloc(arena, sizeof(tbRange) * (size_t)(m->ntree + 1));
  if (!tree) return false;
  for (int i = 0; i < nblock; i++) {
    const tbRows* rows = &active->block[i];
    for (int k = 0; k < rows->nnz; k++) {
      int id = m->dof_treeid[rows->col[k]], first = m->tree_dofadr[id];
      if (f->place[first] < 0) {
        f->place[first] = active->ntree;
        tree[active->ntree++] = (tbRange){first, first + m->tree_dofnum[id]};
      }
      // On to the next tree; most rows move one.
      int end = first + m->tree_dofnum[id];
      if (rows->col[rows->nnz - 1] < end) break;
      while (rows->col[k + 1] < end) k++;
    }
  }
  for (int t = 0; t < active->ntree; t++) f->place[tree[t].first] = -1;
  active->tree = tree;
  return true;
}

// Newton in impulse space. Where it fails the guess is as it was.
static bool solve_dense(tbActive active, const tbIsland* island, tbArena* arena,
                        tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  tbReal* lambda = tb_arena_alloc(arena, bytes);
  if (!lambda) return false;
  memcpy(lambda, island->lambda, bytes);
  if (!tb_active_solve(&active, arena, island->sigma, lambda, info)) return false;
  if (info->status == TB_SOLVE_CONVERGED) memcpy(island->lambda, lambda, bytes);
  return true;
}

// An island's rows. Without the columns at which a single row has a zero by its nature, the others
// need not be closed under ancestors: for dense factors only.
static void list_rows(const Fast* f, const tbIsland* island, bool closed, tbRows* rows) {
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &f->constraints->list[island->member[k]];
    int skip = closed || c->dim > 1 ? 0 : c->lead;
    rows[k] = (tbRows){c->dim, c->nnz - skip, c->col + skip, c->J + skip};
  }
}

// Rows of Newton's matrix in impulse space.
static int dense_rows(int nblock, const tbRows* rows) {
  int count = 0;
  for (int k = 0; k < nblock; k++) count += tb_active_dense_rows(&rows[k]);
  return count;
}

// What was found acts, and counts by where it leads to: a solver's own velocities may have gone
// astray by more than rounding.
static bool certify(const Fast* f, const tbActive* active, tbIsland* island, tbArena* arena,
                    tbSolveInfo* info) {
  const tbReal rounding = 1e-12;
  if (!judge_applied(f, active, island, arena, info)) return false;
  if (info->residual.relative <= active->tolerance + rounding) return true;
  info->status = TB_SOLVE_STALLED;
  island->applied = 0;
  return true;
}

// Whether an island is of free bodies, and enough of them that what they do not share outweighs the
// bookkeeping of sparse factors.
static bool loose_bodies(const tbActive* active, int dofs) {
  enum { BODY = 6, LEAST = 24 };
  for (int t = 0; t < active->ntree; t++) {
    if (active->tree[t].end - active->tree[t].first > BODY) return false;
  }
  return dofs > LEAST;
}

static tbResult solve_fast(void* context, int index, tbWorker* worker) {
  const Fast* f = context;
  const tbOption* opt = &f->m->opt;
  tbIsland* island = &f->islands->island[index];
  tbArena* arena = &worker->arena;
  tbArenaMark mark = tb_arena_mark(arena);
  int nblock = island->nmember, dofs = 0;
  tbRows* rows = tb_arena_alloc(arena, sizeof(tbRows) * (size_t)(nblock + 1));
  if (!rows) return TB_ERROR_MEMORY;
  list_rows(f, island, true, rows);
  tbActive active = {
      .p = &island->problem,
      .block = rows,
      .forest = tb_forest(f->m),
      .LD = f->factor.LD,
      .inverse = f->factor.inverse,
      .M = f->factor.H,
      .rho = island->rho,
      .law = opt->law == TB_LAW_CCP ? TB_LAW_CCP : TB_LAW_NCP,
      .tolerance = opt->solve_tolerance,
      .max_iter = opt->solve_iterations < MOST_FAST ? opt->solve_iterations : MOST_FAST};
  if ((int)active.law == opt->law && !isnan(island->measure)) active.measure = &island->measure;
  if (island->rest) {
    // The velocity at the start of the step, and the gap.
    tbReal* inherited = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)island->problem.n);
    if (!inherited) return TB_ERROR_MEMORY;
    tb_assembled_velocity(f->constraints, island, f->v_free, f->d->qvel, inherited);
    active.inherited = inherited;
    active.left = island->inherited;
    active.rest = island->rest;
  }
  tbSolveInfo* info = &f->info[index];
  bool ok = list_trees(f, arena, &active, nblock), solved = false;
  for (int t = 0; ok && t < active.ntree; t++) dofs += active.tree[t].end - active.tree[t].first;
  active.few = dofs <= TB_SOFT_DENSE;
  if (ok && active.few && !loose_bodies(&active, dofs)) {
    tbSolveInfo spent = {0};
    ok = solve_reduced(f, active, dofs, island, arena, &spent, &solved);
    if (ok && solved) {
      *info = spent;
      tb_arena_release(arena, mark);
      return TB_OK;
    }
    list_rows(f, island, false, rows);
    ok = ok && solve_small(active, nblock, island, arena, info);
    solved = true;
    info->iterations += spent.iterations;
    info->factorizations += spent.factorizations;
  } else if (ok && !active.few && dense_rows(nblock, rows) <= MOST_DENSE) {
    ok = solve_dense(active, island, arena, info);
    solved = info->status == TB_SOLVE_CONVERGED;
    active.tried = true;
  }
  if (ok && !solved) ok = solve_sparse(f, active, nblock, island, arena, info);
  if (ok && info->status == TB_SOLVE_CONVERGED) ok = certify(f, &active, island, arena, info);
  tb_arena_release(arena, mark);
  return ok ? TB_OK : TB_ERROR_MEMORY;
}

static bool has_fast_path(const tbOption* opt) {
  return (opt->law == TB_LAW_NCP || opt->law == TB_LAW_CCP) && opt->solver == TB_SOLVER_AUTO &&
         !(opt->solve_absolute > 0);
}

// Laws without it start from the exact law's impulses.
static bool starts_exactly(const tbOption* opt) {
  return (opt->law == TB_LAW_LCP || opt->law == TB_LAW_RAISIM) && opt->solver == TB_SOLVER_AUTO &&
         !(opt->solve_absolute > 0);
}

// Newton on the active set, where the law has one and nobody asked for another solver. Islands
// where it does not converge are left to tb_solve, unless they are large.
static tbResult solve_active(const tbModel* m, tbData* d, tbStepState* state,
                             tbInertiaFactor factor, const tbReal* v_free, tbIslands* islands,
                             tbReal* impulse, tbReal* v) {
  tbArena* arena = &d->work->arena;
  Fast f = {.m = m,
            .constraints = &state->constraints,
            .factor = factor,
            .islands = islands,
            .d = d,
            .v_free = v_free,
            .impulse = impulse,
            .v_next = v};
  f.info = tb_arena_alloc(arena, sizeof(tbSolveInfo) * (size_t)(islands->count + 1));
  f.place = tb_arena_alloc(arena, sizeof(int) * (size_t)(m->nv + 1));
  tbReal* cost = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(islands->count + 1));
  if (!f.info || !f.place || !cost) return TB_ERROR_MEMORY;
  for (int i = 0; i < m->nv; i++) f.place[i] = -1;
  for (int i = 0; i < islands->count; i++) {
    tbIsland* island = &islands->island[i];
    cost[i] = island->solved ? 0 : island->problem.n;
    if (island->solved || !(island->inherited > INHERITED * m->opt.solve_tolerance)) continue;
    island->rest = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)island->problem.n);
    if (!island->rest) return TB_ERROR_MEMORY;
  }
  tbResult result = tb_workers_run(&state->workers, arena, islands->count, cost, solve_fast, &f);
  if (result != TB_OK) return result;
  if (starts_exactly(&m->opt)) {
    for (int i = 0; i < islands->count; i++) islands->island[i].rest = NULL;
    return TB_OK;
  }
  for (int i = 0; i < islands->count; i++) {
    // Islands that recalled impulses solve were none of its business.
    if (cost[i] == 0) continue;
    // The other solvers take seconds on large islands, and mostly in vain; on those of some size
    // they seldom converge either, but bring what is far off closer.
    int n = islands->island[i].problem.n;
    bool near = m->opt.solve_tolerance >= DIGITS && f.info[i].residual.relative <= NEAR;
    bool large = n > MOST_GENERAL || (n > MOST_SURE && near);
    if (f.info[i].status != TB_SOLVE_CONVERGED) islands->island[i].rest = NULL;
    if (f.info[i].status != TB_SOLVE_CONVERGED && !large) continue;
    islands->island[i].solved = 1;
    islands->island[i].residual = f.info[i].residual.relative;
    tb_certificate_add(&d->solve, &f.info[i]);
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

static tbResult solve_islands(const tbModel* m, tbData* d, tbStepState* state,
                              const tbIslands* islands) {
  tbArena* arena = &d->work->arena;
  Solves s = {settings_of(&m->opt), islands, TB_ARENA_NEW(arena, tbSolveInfo, islands->count),
              has_fast_path(&m->opt), starts_exactly(&m->opt)};
  // What it could not do in some dozens of rounds is hard: the rest is bounded, unless somebody
  // wants digits.
  s.tried = s.tried && m->opt.solve_tolerance >= DIGITS;
  if (s.tried || s.started) s.settings.warm_start = 1;
  if (s.tried) {
    if (s.settings.max_iter > MOST_AFTER) s.settings.max_iter = MOST_AFTER;
  }
  tbReal* cost = TB_ARENA_NEW(arena, tbReal, islands->count);
  if (!s.info || !cost) return TB_ERROR_MEMORY;
  for (int i = 0; i < islands->count; i++) {
    tbReal n = islands->island[i].problem.n;
    cost[i] = islands->island[i].solved ? 0 : n * n;
  }
  tbResult result = tb_workers_run(&state->workers, arena, islands->count, cost, solve_one, &s);
  if (result != TB_OK) {
    snprintf(d->message, sizeof d->message, "%.250s", state->workers.error.message);
    return result;
  }
  for (int i = 0; i < islands->count; i++) {
    if (cost[i] == 0) continue;
    islands->island[i].residual = s.info[i].residual.relative;
    tb_certificate_add(&d->solve, &s.info[i]);
  }
  return TB_OK;
}

// Keep impulses for the next step and report forces.
static tbResult store_impulses(const tbModel* m, tbData* d, tbStepState* state,
                               const tbIslands* islands) {
  if (!tb_warm_clear(&state->warm, state->constraints.count)) return TB_ERROR_MEMORY;
  for (int i = 0; i < islands->count; i++) {
    const tbIsland* island = &islands->island[i];
    const tbReal* lambda = island->rest ? island->rest : island->lambda;
    for (int k = 0; k < island->nmember; k++) {
      const tbConstraint* c = &state->constraints.list[island->member[k]];
      const tbReal* pos = c->source == TB_SOURCE_CONTACT ? d->contact[c->id].pos : NOWHERE;
      tb_warm_put(&state->warm, c->key, pos, c->dim, lambda, island->residual);
      lambda += c->dim;
    }
  }
  tb_store_forces(m, d, state, islands);
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

// Impulses of all islands, from the last step's on, the impulse on the dofs that they add up to and
// the velocity that this leads to.
static tbResult find_impulses(const tbModel* m, tbData* d, tbStepState* state,
                              tbInertiaFactor factor, const tbReal* v_free, tbIslands* islands,
                              tbReal* impulse, tbReal* v) {
  if (m->opt.warmstart) recall_impulses(m, d, state, islands);
  tbResult result = accept_recalled(m, d, state, factor, v_free, islands, impulse, v);
  if (result != TB_OK) return result;
  if (all_applied(islands)) return store_impulses(m, d, state, islands);
  if (has_fast_path(&m->opt) || starts_exactly(&m->opt)) {
    result = solve_active(m, d, state, factor, v_free, islands, impulse, v);
    if (result == TB_OK && all_applied(islands)) return store_impulses(m, d, state, islands);
  }
  if (result == TB_OK) {
    result = tb_assemble_delassus(m, d, &state->constraints, factor, islands);
  }
  if (result == TB_OK) result = solve_islands(m, d, state, islands);
  if (result == TB_OK) {
    result = tb_guard_impulses(m, d, &state->constraints, factor, v_free, islands);
  }
  if (result == TB_OK) result = store_impulses(m, d, state, islands);
  if (result != TB_OK) return result;

  // v+ = v_f + H^-1 J^T lambda
  tbForest forest = tb_forest(m);
  memset(impulse, 0, sizeof(tbReal) * (size_t)m->nv);
  tb_gather_impulse(&state->constraints, islands, impulse);
  memcpy(v, impulse, sizeof(tbReal) * (size_t)m->nv);
  tb_ltdl_solve(forest, factor.LD, factor.inverse, v);
  for (int i = 0; i < m->nv; i++) v[i] += v_free[i];
  return TB_OK;
}

tbResult tb_rigid_velocity(const tbModel* m, tbData* d, tbStepState* state, tbReal* v_next) {
  size_t bytes = sizeof(tbReal) * (size_t)m->nv;
  tbForest forest = tb_forest(m);
  tbReal h = m->opt.timestep;
  tbReal* impulse = TB_ARENA_NEW(&d->work->arena, tbReal, m->nv);
  tbReal* v_free = tb_arena_alloc(&d->work->arena, bytes + sizeof(tbReal));
  if (!impulse || !v_free) return TB_ERROR_MEMORY;

  // Free velocity v_f = v + h H^-1 (tau - b), H = M with damping made implicit.
  tbInertiaFactor factor;
  tbResult result = tb_implicit_factor(m, d, TB_IMPLICIT_ALL, &factor);
  if (result == TB_OK) result = tb_tension_stiffen(m, d, state, &factor);
  if (result != TB_OK) return result;
  memcpy(v_free, d->qfrc_smooth, bytes);
  tb_ltdl_solve(forest, factor.LD, factor.inverse, v_free);
  memcpy(d->qacc_smooth, v_free, bytes);
  for (int i = 0; i < m->nv; i++) v_free[i] = d->qvel[i] + h * v_free[i];
  tbReal dynamics_end = tb_seconds();
  d->seconds.dynamics += dynamics_end - state->clock;

  // One problem per island, each solved from the last step's impulses.
  memcpy(v_next, v_free, bytes);
  if (state->constraints.count > 0) {
    tbIslands islands;
    result = tb_assemble_groups(m, d, &state->constraints, &islands);
    if (result == TB_OK)
      result = tb_assemble_terms(m, d, &state->constraints, factor, v_free, &islands);
    if (result != TB_OK) return result;
    tbReal assemble_end = tb_seconds();
    d->seconds.assemble += assemble_end - dynamics_end;
    result = find_impulses(m, d, state, factor, v_free, &islands, impulse, v_next);
    d->seconds.solve += tb_seconds() - assemble_end;
  } else if (!tb_warm_clear(&state->warm, 0)) {
    result = TB_ERROR_MEMORY;
  }
  if (result != TB_OK) return result;
  for (int i = 0; i < m->nv; i++) {
    d->qfrc_constraint[i] = impulse[i] / h;
    d->qacc[i] = (v_next[i] - d->qvel[i]) / h;
  }
  return TB_OK;
}
