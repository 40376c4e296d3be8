// Newton's method on the active set (docs/notebook/active-set.md), for each island in the space
// that fits: contact space (twists of the contacting bodies), velocity space with dense factors,
// impulse space, or velocity space with sparse factors.
#include "laws/rigid/velocity_space.h"

#include <math.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "model/floating.h"
#include "problem/delassus.h"
#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"
#include "solvers/active_set/active_set.h"
#include "operator/velocity_dense.h"
#include "laws/certificate.h"
#include "assemble/twists.h"
#include "tribo/step.h"

// Iteration limit of Newton's method on the active set.
enum { MOST_FAST = 200 };

enum { MOST_DENSE = 64 };  // maximum rows for impulse space
enum {
  MOST_GENERAL = 300
};  // maximum rows for the law's solvers after the active-set method
    // fails
enum {
  MOST_SURE = 100
};  // maximum rows for using them whatever the residual that the
    // active-set method reached

// All stages of the active-set method are tried on islands of up to SMALL_FREE dofs, or of up to
// SMALL dofs if at least half of them do not belong to free-floating bodies.
enum { SMALL_FREE = 64, SMALL = 256 };

// An island is reduced to contact space if that has at most this fraction of its dofs.
static const tbReal REDUCED_SHARE = 0.7;

// The next warm start compensates the carried velocity error if the residual of the last step is
// above this fraction of the tolerance. The limit is smaller for free-floating bodies in contact
// with each other, which amplify small errors: a micrometre between edges turns their contact
// normals by as much as the rest of the tolerance would.
static const tbReal CARRIED = 1e-2, CARRIED_FREE = 1e-4;

// If the active-set method fails, an island of more than MOST_SURE rows keeps its result if the
// relative residual is below NEAR, unless the tolerance is below DIGITS, which asks for exact
// answers.
static const tbReal NEAR = 1e-3, DIGITS = 1e-8;

// The tolerance is relative to the largest load and velocity. Within it, lightly loaded bodies may
// vibrate indefinitely, at a millimetre per second, and the whole island with them. So a
// quasi-static island, whose warm start has a residual below QUASI_STATIC, is solved to the
// fraction FINE of the tolerance. So is an island whose contacts have inverse weights that differ
// by a factor above MASS_RATIO, unless it has been impacted, which a warm-start residual above
// IMPACTED indicates.
static const tbReal FINE = 0.01, QUASI_STATIC = 3e-4, IMPACTED = 0.1, MASS_RATIO = 100;

typedef struct {
  const tbRigidStep* step;
  const tbConstraints* constraints;
  tbSolveInfo* info;  // per island
  int* place;         // by dof: scratch; islands share no dof
} Fast;

static bool is_auto(const tbOption* opt) {
  return opt->solver == TB_SOLVER_AUTO && !(opt->solve_absolute > 0);
}

bool tb_rigid_is_fast(const tbOption* opt) {
  return opt->law < TB_LAW_COUNT && is_auto(opt);
}

bool tb_rigid_has_tight_tolerance(const tbOption* opt) {
  return opt->solve_tolerance < DIGITS;
}

// ---- velocities of impulses --------------------------------------------------------------------

// The velocity after an island's impulses: every island has its own dofs.
static void apply_impulses(const Fast* f, const tbForestInertia* inertia, tbIsland* island) {
  const tbRigidStep* step = f->step;
  for (int t = 0; t < inertia->ntree; t++) {
    int first = inertia->tree[t].first, end = inertia->tree[t].end;
    memset(step->impulse + first, 0, sizeof(tbReal) * (size_t)(end - first));
  }
  tb_gather_island(f->constraints, island, step->impulse);
  for (int t = 0; t < inertia->ntree; t++) {
    int first = inertia->tree[t].first, end = inertia->tree[t].end;
    memcpy(step->v_next + first, step->impulse + first, sizeof(tbReal) * (size_t)(end - first));
    tb_ltdl_solve_range(inertia->forest, inertia->LD, inertia->inverse, step->v_next, first, end);
    for (int k = first; k < end; k++) step->v_next[k] += step->v_free[k];
  }
  island->applied = 1;
}

// The same, and its residuals. False: out of memory.
static bool apply_and_evaluate(const Fast* f, const tbActive* active, tbIsland* island,
                               tbArena* arena, tbSolveInfo* info) {
  const tbProblem* p = &island->problem;
  tbReal* sigma = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)p->n);
  if (!sigma) return false;
  apply_impulses(f, &active->inertia, island);
  tb_assembled_velocity(f->constraints, island, f->step->v_free, f->step->v_next, sigma);
  info->residual = tb_residual(p, active->law, island->lambda, sigma);
  info->residual_exact = active->law == TB_LAW_NCP
                             ? info->residual
                             : tb_residual(p, TB_LAW_NCP, island->lambda, sigma);
  return true;
}

// Dense factors store the velocity of their last evaluated impulses; if these are the answer, apply
// it directly.
static bool apply_last(const Fast* f, const tbActive* active, tbIsland* island) {
  const tbLastApplied* applied = active->last_applied;
  const tbRigidStep* step = f->step;
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  if (!applied->valid || memcmp(applied->lambda, island->lambda, bytes) != 0) return false;
  for (int t = 0; t < active->inertia.ntree; t++) {
    for (int k = active->inertia.tree[t].first; k < active->inertia.tree[t].end; k++) {
      step->impulse[k] = applied->push[k];
      step->v_next[k] = step->v_free[k] + applied->velocity[k];
    }
  }
  island->applied = 1;
  return true;
}

// Apply the answer and evaluate its residual with the resulting velocity: the solver's own
// velocities may differ from that by more than rounding errors.
static bool check_answer(const Fast* f, const tbActive* active, tbIsland* island, tbArena* arena,
                         tbSolveInfo* info) {
  const tbReal rounding = 1e-12;
  if (apply_last(f, active, island)) return true;
  if (!apply_and_evaluate(f, active, island, arena, info)) return false;
  tbReal asked = f->step->m->opt.solve_tolerance;
  if (info->residual.relative <= asked + rounding) return true;
  info->status = TB_SOLVE_STALLED;
  island->applied = 0;
  return true;
}

// ---- small islands -----------------------------------------------------------------------------

// Lower bound of the number of unknowns in contact space: rows that belong neither to contacts nor
// equalities, and the smaller of the contact rows and six.
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

// Newton's method in contact space, where that is smaller; the answer is evaluated with the
// velocity that it causes. If it does not solve the island, the guess is restored and nothing is
// applied.
static bool solve_reduced(const Fast* f, const tbActive* active, int dofs, tbIsland* island,
                          tbArena* arena, tbSolveInfo* info) {
  tbReducedSpace twists;
  const tbRigidStep* step = f->step;
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  // In contact space G is not available, which raisim needs.
  if (TB_WITHOUT(REDUCED)) return true;
  if (active->coupling || least_base_rows(&island->problem) > REDUCED_SHARE * dofs) return true;
  if (!tb_island_reduced_space(step->m, step->d, f->constraints, island, arena, &twists))
    return false;
  if (tb_active_reduced_rows(active, &twists) > REDUCED_SHARE * dofs) return true;
  tbReal* guess = tb_arena_alloc(arena, bytes);
  if (!guess) return false;
  memcpy(guess, island->lambda, bytes);
  if (!tb_active_solve_reduced(active, &twists, arena, island->sigma, island->lambda, info)) {
    return false;
  }
  if (info->status == TB_SOLVE_CONVERGED) {
    if (!apply_and_evaluate(f, active, island, arena, info)) return false;
    if (info->residual.relative <= active->tolerance) return true;
  }
  memcpy(island->lambda, guess, bytes);
  island->applied = 0;
  return true;
}

// An island's rows. With `closed` false, the leading structural zeros of single rows are left out;
// the remaining columns need not be closed under ancestors, which only dense factors allow.
static void list_rows(const Fast* f, const tbIsland* island, bool closed, tbRows* rows) {
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &f->constraints->list[island->member[k]];
    int skip = closed || c->dim > 1 ? 0 : c->lead;
    rows[k] = (tbRows){c->dim, c->nnz - skip, c->col + skip, c->J + skip};
  }
}

// In contact space, or else in velocity space over whole trees, with dense factors.
static bool solve_small(const Fast* f, tbActive active, int dofs, tbRows* rows, tbIsland* island,
                        tbArena* arena, tbSolveInfo* info) {
  tbSolveInfo spent = {0};
  if (!solve_reduced(f, &active, dofs, island, arena, &spent)) return false;
  if (island->applied) {
    *info = spent;
    return true;
  }
  tbVelocity system;
  tbCompositeChains chains;
  bool pays;
  active.system = &system;
  list_rows(f, island, false, rows);
  if (!tb_composite_chains(f->step->m, f->step->d, f->constraints, island, &active.inertia, arena,
                           &chains, &pays) ||
      !tb_velocity_build_dense(&system, arena, &active.inertia, active.p->nblock, active.block,
                               pays && !TB_WITHOUT(CHAINS) ? &chains : NULL) ||
      !tb_active_solve(&active, arena, island->sigma, island->lambda, info)) {
    return false;
  }
  info->iterations += spent.iterations;
  info->factorizations += spent.factorizations;
  return true;
}

// ---- large islands -----------------------------------------------------------------------------

// Number of rows of Newton's matrix in impulse space.
static int dense_rows(const tbActive* active) {
  int count = 0;
  for (int k = 0; k < active->p->nblock; k++) count += tb_active_dense_rows(&active->block[k]);
  return count;
}

// Newton's method in impulse space. If it fails the guess is unchanged.
static bool solve_dense(const tbActive* active, const tbIsland* island, tbArena* arena,
                        tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  tbReal* lambda = tb_arena_alloc(arena, bytes);
  if (!lambda) return false;
  memcpy(lambda, island->lambda, bytes);
  if (!tb_active_solve(active, arena, island->sigma, lambda, info)) return false;
  if (info->status == TB_SOLVE_CONVERGED) memcpy(island->lambda, lambda, bytes);
  return true;
}

// In impulse space where that is small, or else in velocity space with sparse factors.
static bool solve_large(const Fast* f, tbActive active, int dofs, const tbIsland* island,
                        tbArena* arena, tbSolveInfo* info) {
  bool round = active.law == TB_LAW_NCP || active.law == TB_LAW_CCP;
  if (!TB_WITHOUT(IMPULSE_SPACE) && dofs > SMALL_FREE && round &&
      dense_rows(&active) <= MOST_DENSE) {
    if (!solve_dense(&active, island, arena, info)) return false;
    if (info->status == TB_SOLVE_CONVERGED) return true;
    active.impulse_space_failed = true;
  }
  tbVelocity system;
  tbCompositeChains chains;
  bool pays;
  if (!tb_composite_chains(f->step->m, f->step->d, f->constraints, island, &active.inertia, arena,
                           &chains, &pays) ||
      !tb_velocity_open_rows(&system, arena, &active.inertia, active.p->nblock, active.block,
                             pays && !TB_WITHOUT(CHAINS) ? &chains : NULL, f->place)) {
    return false;
  }
  active.system = &system;
  bool ok = tb_active_solve(&active, arena, island->sigma, island->lambda, info);
  tb_velocity_release(&system);
  return ok;
}

// ---- one island --------------------------------------------------------------------------------

// The trees that an island's rows move.
static bool list_trees(const Fast* f, tbArena* arena, tbActive* active) {
  const tbModel* m = f->step->m;
  tbRange* tree = tb_arena_alloc(arena, sizeof(tbRange) * (size_t)(m->ntree + 1));
  int count = 0;
  if (!tree) return false;
  for (int i = 0; i < active->p->nblock; i++) {
    const tbRows* rows = &active->block[i];
    for (int k = 0; k < rows->nnz; k++) {
      int id = m->dof_treeid[rows->col[k]], first = m->tree_dofadr[id];
      int end = first + m->tree_dofnum[id];
      if (f->place[first] < 0) {
        f->place[first] = count;
        tree[count++] = (tbRange){first, end};
      }
      // Continue with the next tree; most rows move one.
      if (rows->col[rows->nnz - 1] < end) break;
      while (rows->col[k + 1] < end) k++;
    }
  }
  for (int t = 0; t < count; t++) f->place[tree[t].first] = -1;
  active->inertia.ntree = count;
  active->inertia.tree = tree;
  return true;
}

// Whether an island moves free-floating bodies only.
static bool moves_free_bodies(const Fast* f, const tbIsland* island) {
  const tbModel* m = f->step->m;
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &f->constraints->list[island->member[k]];
    if (c->nnz < 1) continue;
    int first = m->dof_treeid[c->col[0]], last = m->dof_treeid[c->col[c->nnz - 1]];
    if (!tb_tree_is_free_body(m, first) || !tb_tree_is_free_body(m, last)) return false;
  }
  return true;
}

// The carried velocity error: row velocities, gap terms included, for the velocity at the start of
// the step.
static bool set_carried_error(const Fast* f, const tbIsland* island, tbArena* arena,
                              tbActive* active) {
  if (!island->resting_start) return true;
  tbReal* carried_error = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)island->problem.n);
  if (!carried_error) return false;
  tb_assembled_velocity(f->constraints, island, f->step->v_free, f->step->d->qvel, carried_error);
  active->carried_error = carried_error;
  active->last_residual = island->carried_residual;
  active->resting_start = island->resting_start;
  active->free_floating = moves_free_bodies(f, island);
  return true;
}

// Number of dofs of trees with at most six dofs.
static int free_body_dofs(const tbForestInertia* inertia) {
  enum { BODY = 6 };
  int count = 0;
  for (int t = 0; t < inertia->ntree; t++) {
    int size = inertia->tree[t].end - inertia->tree[t].first;
    count += size <= BODY ? size : 0;
  }
  return count;
}

// Whether all stages of the active-set method are tried on an island.
static bool is_small(const tbForestInertia* inertia, int dofs) {
  return dofs <= SMALL_FREE || (dofs <= SMALL && 2 * free_body_dofs(inertia) <= dofs);
}

// Whether dense factors are used. They are not if there are so many free bodies that the zeros
// between them outweigh the bookkeeping of sparse factors.
static bool is_dense(const tbForestInertia* inertia, int dofs) {
  enum { LEAST = 24 };
  int loose = free_body_dofs(inertia);
  if (TB_WITHOUT(DENSE)) return false;
  if (dofs <= SMALL_FREE) return loose < dofs || dofs <= LEAST;
  return dofs <= TB_SOFT_DENSE && 2 * loose <= dofs;
}

static int count_dofs(const tbForestInertia* inertia) {
  int dofs = 0;
  for (int t = 0; t < inertia->ntree; t++) dofs += inertia->tree[t].end - inertia->tree[t].first;
  return dofs;
}

// Whether an island has contacts of very different inverse weights.
static bool has_mass_ratio(const tbIsland* island) {
  tbReal least = INFINITY, most = 0;
  for (int i = 0; i < island->problem.nblock; i++) {
    const tbBlock* b = &island->problem.block[i];
    if (b->type != TB_BLOCK_CONE) continue;
    least = tb_min(least, island->rho[b->row]);
    most = tb_max(most, island->rho[b->row]);
  }
  return MASS_RATIO * least < most;
}

// Tighten the tolerance of islands of many free-floating bodies, where that helps them to come to
// rest.
static void tighten_tolerance(const tbIsland* island, int dofs, tbActive* active) {
  bool many = dofs > SMALL_FREE && 2 * free_body_dofs(&active->inertia) > dofs;
  bool round = active->law == TB_LAW_NCP || active->law == TB_LAW_CCP;
  if (!many || !round || island->start_residual > IMPACTED || active->tolerance <= DIGITS) return;
  if (island->start_residual > QUASI_STATIC && !has_mass_ratio(island)) return;
  active->acceptable = active->tolerance;
  active->tolerance = tb_max(FINE * active->tolerance, DIGITS);
}

// Solve under the law of `active` in the space that fits. False: out of memory.
static bool solve_by_form(const Fast* f, const tbActive* active, int dofs, tbRows* rows,
                          tbIsland* island, tbArena* arena, tbSolveInfo* info) {
  active->last_applied->valid = false;
  bool ok = is_dense(&active->inertia, dofs)
                ? solve_small(f, *active, dofs, rows, island, arena, info)
                : solve_large(f, *active, dofs, island, arena, info);
  if (!ok || info->status != TB_SOLVE_CONVERGED || island->applied) return ok;
  return check_answer(f, active, island, arena, info);
}

// RaiSim's sliding depends on the coupling of normal and tangents in a contact's own block of G +
// R.
static bool set_coupling(const tbIsland* island, tbArena* arena, tbActive* active) {
  const tbProblem* p = &island->problem;
  tbReal* coupling = TB_ARENA_NEW(arena, tbReal, p->n);
  if (!coupling) return false;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    tbReal A[TB_MAX_BLOCK_DIM * TB_MAX_BLOCK_DIM];
    if (b->type != TB_BLOCK_CONE) continue;
    tb_delassus_diagonal_block(p, i, A);
    for (int r = 1; r < b->dim && A[0] > 0; r++) {
      coupling[b->row + r] = b->mu[r - 1] * A[r * b->dim] / A[0];
    }
  }
  active->coupling = coupling;
  return true;
}

// Where all contacts stick, a solution of the exact law also solves raisim's. So start from the
// exact solution; if that fails too, the exact solution is the initial guess of the law's other
// solvers.
static bool solve_from_exact(const Fast* f, const tbActive* active, int dofs, tbRows* rows,
                             const tbReal* guess, tbIsland* island, tbArena* arena,
                             tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  tbSolveInfo first = *info, second;
  tbActive exact = *active, last = *active;
  exact.law = TB_LAW_NCP;
  exact.coupling = exact.start_residual = exact.resting_start = NULL;
  last.start_residual = NULL;
  tbReal* answer = tb_arena_alloc(arena, bytes);
  if (!answer) return false;
  memcpy(island->lambda, guess, bytes);
  list_rows(f, island, true, rows);
  if (!solve_by_form(f, &exact, dofs, rows, island, arena, &second)) return false;
  memcpy(answer, island->lambda, bytes);
  apply_impulses(f, &active->inertia, island);
  tb_assembled_velocity(f->constraints, island, f->step->v_free, f->step->v_next, island->sigma);
  island->applied = 0;
  list_rows(f, island, true, rows);
  if (!solve_by_form(f, &last, dofs, rows, island, arena, info)) return false;
  if (info->status != TB_SOLVE_CONVERGED) memcpy(island->lambda, answer, bytes);
  info->iterations += first.iterations + second.iterations;
  info->factorizations += first.factorizations + second.factorizations;
  return true;
}

// The same under raisim, which differs from the exact law in sliding contacts.
static bool solve_raisim(const Fast* f, tbActive* active, int dofs, tbRows* rows, tbIsland* island,
                         tbArena* arena, tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  tbReal* guess = tb_arena_alloc(arena, bytes);
  if (!guess) return false;
  memcpy(guess, island->lambda, bytes);
  if (!set_coupling(island, arena, active) ||
      !solve_by_form(f, active, dofs, rows, island, arena, info)) {
    return false;
  }
  return info->status == TB_SOLVE_CONVERGED ||
         solve_from_exact(f, active, dofs, rows, guess, island, arena, info);
}

static bool open_last_applied(const Fast* f, const tbIsland* island, tbArena* arena,
                              tbLastApplied* applied) {
  size_t nv = (size_t)f->step->m->nv, n = (size_t)island->problem.n;
  tbReal* room = tb_arena_alloc(arena, sizeof(tbReal) * (2 * nv + n));
  *applied = (tbLastApplied){.lambda = room, .push = room + n, .velocity = room + n + nv};
  return room != NULL;
}

static bool solve_island(const Fast* f, tbIsland* island, tbArena* arena, tbSolveInfo* info) {
  const tbOption* opt = &f->step->m->opt;
  tbRows* rows = tb_arena_alloc(arena, sizeof(tbRows) * (size_t)(island->nmember + 1));
  if (!rows) return false;
  list_rows(f, island, true, rows);
  tbActive active = {
      .p = &island->problem,
      .block = rows,
      .inertia = {.forest = tb_forest(f->step->m),
                  .M = f->step->factor.H,
                  .LD = f->step->factor.LD,
                  .inverse = f->step->factor.inverse},
      .rho = island->rho,
      .law = (tbLaw)opt->law,
      .tolerance = opt->solve_tolerance,
      .max_iter = opt->solve_iterations < MOST_FAST ? opt->solve_iterations : MOST_FAST};
  if (!isnan(island->start_residual)) active.start_residual = &island->start_residual;
  tbLastApplied applied;
  active.last_applied = &applied;
  if (!set_carried_error(f, island, arena, &active) || !list_trees(f, arena, &active) ||
      !open_last_applied(f, island, arena, &applied)) {
    return false;
  }
  int dofs = count_dofs(&active.inertia);
  active.few_dofs = is_small(&active.inertia, dofs);
  tighten_tolerance(island, dofs, &active);
  if (opt->law == TB_LAW_RAISIM) return solve_raisim(f, &active, dofs, rows, island, arena, info);
  return solve_by_form(f, &active, dofs, rows, island, arena, info);
}

static tbResult run_island(void* context, int index, tbWorker* worker) {
  const Fast* f = context;
  tbArenaMark mark = tb_arena_mark(&worker->arena);
  bool ok = solve_island(f, &f->step->islands.island[index], &worker->arena, &f->info[index]);
  tb_arena_release(&worker->arena, mark);
  return ok ? TB_OK : TB_ERROR_MEMORY;
}

// ---- all islands -------------------------------------------------------------------------------

// Whether an island's result is final. The other solvers take seconds on large islands and mostly
// do not converge; on medium ones they seldom converge, but reduce large residuals. Those of lcp do
// converge on contacts of mechanisms.
static bool is_final(const Fast* f, const tbIsland* island, const tbSolveInfo* info) {
  const tbOption* opt = &f->step->m->opt;
  if (info->status == TB_SOLVE_CONVERGED) return true;
  int n = island->problem.n;
  if (opt->law == TB_LAW_RAISIM || n <= MOST_SURE) return false;
  if (n > MOST_GENERAL) return true;
  if (opt->law == TB_LAW_LCP && !moves_free_bodies(f, island)) return false;
  return !tb_rigid_has_tight_tolerance(opt) && info->residual.relative <= NEAR;
}

// Whether the residual of the last step requires a compensated warm start.
static bool has_carried_error(const Fast* f, const tbIsland* island) {
  tbReal left = island->carried_residual / f->step->m->opt.solve_tolerance;
  return left > CARRIED || (left > CARRIED_FREE && moves_free_bodies(f, island));
}

tbResult tb_rigid_fast(tbRigidStep* step) {
  tbIslands* islands = &step->islands;
  tbArena* arena = &step->d->work->arena;
  Fast f = {.step = step, .constraints = &step->state->constraints};
  f.info = tb_arena_alloc(arena, sizeof(tbSolveInfo) * (size_t)(islands->count + 1));
  f.place = tb_arena_alloc(arena, sizeof(int) * (size_t)(step->m->nv + 1));
  tbReal* cost = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(islands->count + 1));
  if (!f.info || !f.place || !cost) return TB_ERROR_MEMORY;
  for (int i = 0; i < step->m->nv; i++) f.place[i] = -1;
  for (int i = 0; i < islands->count; i++) {
    tbIsland* island = &islands->island[i];
    cost[i] = island->solved ? 0 : island->problem.n;
    if (island->solved || !has_carried_error(&f, island)) continue;
    island->resting_start = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)island->problem.n);
    if (!island->resting_start) return TB_ERROR_MEMORY;
  }
  tbResult result =
      tb_workers_run(&step->state->workers, arena, islands->count, cost, run_island, &f);
  if (result != TB_OK) return result;
  for (int i = 0; i < islands->count; i++) {
    tbIsland* island = &islands->island[i];
    if (cost[i] == 0) continue;
    if (f.info[i].status != TB_SOLVE_CONVERGED) island->resting_start = NULL;
    if (!is_final(&f, island, &f.info[i])) continue;
    island->solved = 1;
    island->residual = f.info[i].residual.relative;
    tb_certificate_add(&step->d->solve, &f.info[i]);
  }
  return TB_OK;
}
