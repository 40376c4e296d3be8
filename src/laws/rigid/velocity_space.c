// Newton on the active set in the form that fits an island (docs/solver-active.md): in the space of
// what touches, in velocity space with dense factors, in impulse space, or in velocity space with
// sparse factors.
#include "laws/rigid/velocity_space.h"

#include <math.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "problem/delassus.h"
#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"
#include "solvers/active_set/active_set.h"
#include "operator/velocity_dense.h"
#include "laws/certificate.h"
#include "assemble/twists.h"
#include "tribo/step.h"

// Iterations of Newton on the active set.
enum { MOST_FAST = 200 };

enum { MOST_DENSE = 64 };     // rows, up to which Newton works in impulse space
enum { MOST_GENERAL = 300 };  // rows, up to which the law's solvers are tried where Newton fails
enum { MOST_SURE = 100 };     // rows, up to which they are tried however close Newton came

// Rounds are tried at length on islands of up to FEW_LOOSE dofs, or FEW where at least half of them
// are not of bodies that fly free.
enum { FEW_LOOSE = 64, FEW = 256 };

// An island is reduced to the space of what touches where that has at most this share of its dofs.
static const tbReal REDUCED_SHARE = 0.7;

// What the last step left is made up for in the next guess from this share of the tolerance on.
// Loose bodies side by side make much of little: a micrometre between edges turns their normals by
// what the rest of the tolerance would be.
static const tbReal INHERITED = 1e-2, INHERITED_LOOSE = 1e-4;

// Where Newton fails, an island of more than MOST_SURE rows is left as it is if its relative
// residual is below NEAR, unless the tolerance is below DIGITS and so asks for exact answers.
static const tbReal NEAR = 1e-3, DIGITS = 1e-8;

// The tolerance is relative to the largest load and velocity, and within it what little loads hold
// may rattle for ever, at a millimetre a second, and the whole island with it. So a calm island,
// whose guess has a residual below CALM, is solved to the share FINE of the tolerance; so is one
// whose contacts have inverse weights that differ by more than UNEVEN times, unless it has been
// hit, which its guess shows by a residual above HIT.
static const tbReal FINE = 0.01, CALM = 3e-4, HIT = 0.1, UNEVEN = 100;

typedef struct {
  const tbRigidStep* step;
  const tbConstraints* constraints;
  tbSolveInfo* info;  // per island
  int* place;         // by dof: scratch; islands share no dof
} Fast;

static bool leaves_choice(const tbOption* opt) {
  return opt->solver == TB_SOLVER_AUTO && !(opt->solve_absolute > 0);
}

bool tb_rigid_is_fast(const tbOption* opt) {
  return opt->law < TB_LAW_COUNT && leaves_choice(opt);
}

bool tb_rigid_wants_digits(const tbOption* opt) {
  return opt->solve_tolerance < DIGITS;
}

// ---- where impulses lead to --------------------------------------------------------------------

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

// The same, and how far from the law that is. False: out of memory.
static bool judge_applied(const Fast* f, const tbActive* active, tbIsland* island, tbArena* arena,
                          tbSolveInfo* info) {
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

// Where dense factors judged their answer by where it leads to, that acts.
static bool apply_led(const Fast* f, const tbActive* active, tbIsland* island) {
  const tbLastApplied* led = active->led;
  const tbRigidStep* step = f->step;
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  if (!led->any || memcmp(led->lambda, island->lambda, bytes) != 0) return false;
  for (int t = 0; t < active->inertia.ntree; t++) {
    for (int k = active->inertia.tree[t].first; k < active->inertia.tree[t].end; k++) {
      step->impulse[k] = led->push[k];
      step->v_next[k] = step->v_free[k] + led->velocity[k];
    }
  }
  island->applied = 1;
  return true;
}

// What was found acts, and counts by where it leads to: a solver's own velocities may have gone
// astray by more than rounding.
static bool certify(const Fast* f, const tbActive* active, tbIsland* island, tbArena* arena,
                    tbSolveInfo* info) {
  const tbReal rounding = 1e-12;
  if (apply_led(f, active, island)) return true;
  if (!judge_applied(f, active, island, arena, info)) return false;
  tbReal asked = f->step->m->opt.solve_tolerance;
  if (info->residual.relative <= asked + rounding) return true;
  info->status = TB_SOLVE_STALLED;
  island->applied = 0;
  return true;
}

// ---- few dofs ----------------------------------------------------------------------------------

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

// Newton in the space of what touches, where that is smaller; what it finds is judged by where it
// leads to. Where that does not solve the island, the guess is as it was and nothing is applied.
static bool solve_reduced(const Fast* f, const tbActive* active, int dofs, tbIsland* island,
                          tbArena* arena, tbSolveInfo* info) {
  tbReducedSpace twists;
  const tbRigidStep* step = f->step;
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  // Of what is left G is not at hand, which raisim asks for.
  if (TB_WITHOUT(REDUCED) || active->coupling ||
      least_base_rows(&island->problem) > REDUCED_SHARE * dofs)
    return true;
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
    if (!judge_applied(f, active, island, arena, info)) return false;
    if (info->residual.relative <= active->tolerance) return true;
  }
  memcpy(island->lambda, guess, bytes);
  island->applied = 0;
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

// In the space of what touches, or else in velocity space over whole trees, with dense factors.
static bool solve_few(const Fast* f, tbActive active, int dofs, tbRows* rows, tbIsland* island,
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

// ---- many dofs ---------------------------------------------------------------------------------

// Rows of Newton's matrix in impulse space.
static int dense_rows(const tbActive* active) {
  int count = 0;
  for (int k = 0; k < active->p->nblock; k++) count += tb_active_dense_rows(&active->block[k]);
  return count;
}

// Newton in impulse space. Where it fails the guess is as it was.
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
static bool solve_many(const Fast* f, tbActive active, int dofs, const tbIsland* island,
                       tbArena* arena, tbSolveInfo* info) {
  bool round = active.law == TB_LAW_NCP || active.law == TB_LAW_CCP;
  if (!TB_WITHOUT(IMPULSE_SPACE) && dofs > FEW_LOOSE && round &&
      dense_rows(&active) <= MOST_DENSE) {
    if (!solve_dense(&active, island, arena, info)) return false;
    if (info->status == TB_SOLVE_CONVERGED) return true;
    active.tried = true;
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
      // On to the next tree; most rows move one.
      if (rows->col[rows->nnz - 1] < end) break;
      while (rows->col[k + 1] < end) k++;
    }
  }
  for (int t = 0; t < count; t++) f->place[tree[t].first] = -1;
  active->inertia.ntree = count;
  active->inertia.tree = tree;
  return true;
}

// Whether a tree is a body that flies free by itself.
static bool flies_free(const tbModel* m, int tree) {
  enum { BODY = 6 };
  int joint = m->dof_jntid[m->tree_dofadr[tree]];
  return m->tree_dofnum[tree] == BODY && m->jnt_type[joint] == TB_JOINT_FREE;
}

// Whether all that an island moves does.
static bool is_loose(const Fast* f, const tbIsland* island) {
  const tbModel* m = f->step->m;
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &f->constraints->list[island->member[k]];
    if (c->nnz < 1) continue;
    int first = m->dof_treeid[c->col[0]], last = m->dof_treeid[c->col[c->nnz - 1]];
    if (!flies_free(m, first) || !flies_free(m, last)) return false;
  }
  return true;
}

// What the last step left: the velocity at the start of the step, and the gap.
static bool inherit(const Fast* f, const tbIsland* island, tbArena* arena, tbActive* active) {
  if (!island->rest) return true;
  tbReal* inherited = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)island->problem.n);
  if (!inherited) return false;
  tb_assembled_velocity(f->constraints, island, f->step->v_free, f->step->d->qvel, inherited);
  active->inherited = inherited;
  active->left = island->inherited;
  active->rest = island->rest;
  active->loose = is_loose(f, island);
  return true;
}

// Dofs of trees that are no more than a free body.
static int loose_dofs(const tbForestInertia* inertia) {
  enum { BODY = 6 };
  int count = 0;
  for (int t = 0; t < inertia->ntree; t++) {
    int size = inertia->tree[t].end - inertia->tree[t].first;
    count += size <= BODY ? size : 0;
  }
  return count;
}

// Whether rounds on an island are tried at length.
static bool is_few(const tbForestInertia* inertia, int dofs) {
  return dofs <= FEW_LOOSE || (dofs <= FEW && 2 * loose_dofs(inertia) <= dofs);
}

// Whether it takes dense factors: not where there are enough free bodies that what they do not
// share outweighs the bookkeeping of sparse ones.
static bool is_dense(const tbForestInertia* inertia, int dofs) {
  enum { LEAST = 24 };
  int loose = loose_dofs(inertia);
  if (TB_WITHOUT(DENSE)) return false;
  if (dofs <= FEW_LOOSE) return loose < dofs || dofs <= LEAST;
  return dofs <= TB_SOFT_DENSE && 2 * loose <= dofs;
}

static int count_dofs(const tbForestInertia* inertia) {
  int dofs = 0;
  for (int t = 0; t < inertia->ntree; t++) dofs += inertia->tree[t].end - inertia->tree[t].first;
  return dofs;
}

// Whether light contacts are in one island with heavy ones.
static bool is_uneven(const tbIsland* island) {
  tbReal least = INFINITY, most = 0;
  for (int i = 0; i < island->problem.nblock; i++) {
    const tbBlock* b = &island->problem.block[i];
    if (b->type != TB_BLOCK_CONE) continue;
    least = tb_min(least, island->rho[b->row]);
    most = tb_max(most, island->rho[b->row]);
  }
  return UNEVEN * least < most;
}

// Islands of many loose bodies are solved more finely than was asked for, where that helps them to
// come to rest.
static void choose_fineness(const tbIsland* island, int dofs, tbActive* active) {
  bool many = dofs > FEW_LOOSE && 2 * loose_dofs(&active->inertia) > dofs;
  bool round = active->law == TB_LAW_NCP || active->law == TB_LAW_CCP;
  if (!many || !round || island->measure > HIT || active->tolerance <= DIGITS) return;
  if (island->measure > CALM && !is_uneven(island)) return;
  active->enough = active->tolerance;
  active->tolerance = tb_max(FINE * active->tolerance, DIGITS);
}

// Under the law of `active`, by the form that fits. False: out of memory.
static bool solve_by_form(const Fast* f, const tbActive* active, int dofs, tbRows* rows,
                          tbIsland* island, tbArena* arena, tbSolveInfo* info) {
  active->led->any = false;
  bool ok = is_dense(&active->inertia, dofs)
                ? solve_few(f, *active, dofs, rows, island, arena, info)
                : solve_many(f, *active, dofs, island, arena, info);
  if (!ok || info->status != TB_SOLVE_CONVERGED || island->applied) return ok;
  return certify(f, active, island, arena, info);
}

// RaiSim's sliding depends on how a contact's own block of G + R couples normal and tangents.
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

// Where contacts stick the exact law's answer is raisim's as well: rounds from there, or, where
// these fail too, that answer for the law's other solvers to start from.
static bool solve_from_exact(const Fast* f, const tbActive* active, int dofs, tbRows* rows,
                             const tbReal* guess, tbIsland* island, tbArena* arena,
                             tbSolveInfo* info) {
  size_t bytes = sizeof(tbReal) * (size_t)island->problem.n;
  tbSolveInfo first = *info, second;
  tbActive exact = *active, last = *active;
  exact.law = TB_LAW_NCP;
  exact.coupling = exact.measure = exact.rest = NULL;
  last.measure = NULL;
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

// The same under raisim, which differs from the exact law in what slides.
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

static bool start_led(const Fast* f, const tbIsland* island, tbArena* arena, tbLastApplied* led) {
  size_t nv = (size_t)f->step->m->nv, n = (size_t)island->problem.n;
  tbReal* room = tb_arena_alloc(arena, sizeof(tbReal) * (2 * nv + n));
  *led = (tbLastApplied){.lambda = room, .push = room + n, .velocity = room + n + nv};
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
  if (!isnan(island->measure)) active.measure = &island->measure;
  tbLastApplied led;
  active.led = &led;
  if (!inherit(f, island, arena, &active) || !list_trees(f, arena, &active) ||
      !start_led(f, island, arena, &led)) {
    return false;
  }
  int dofs = count_dofs(&active.inertia);
  active.few = is_few(&active.inertia, dofs);
  choose_fineness(island, dofs, &active);
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

// ---- all of them -------------------------------------------------------------------------------

// Whether an island counts as solved. The other solvers take seconds on large islands, and mostly
// in vain; on those of some size they seldom converge either, but bring what is far off closer.
// Those of lcp do converge where machines touch.
static bool counts(const Fast* f, const tbIsland* island, const tbSolveInfo* info) {
  const tbOption* opt = &f->step->m->opt;
  if (info->status == TB_SOLVE_CONVERGED) return true;
  int n = island->problem.n;
  if (opt->law == TB_LAW_RAISIM || n <= MOST_SURE) return false;
  if (n > MOST_GENERAL) return true;
  if (opt->law == TB_LAW_LCP && !is_loose(f, island)) return false;
  return !tb_rigid_wants_digits(opt) && info->residual.relative <= NEAR;
}

// Whether the last step left an island more than its next guess should have.
static bool has_inherited(const Fast* f, const tbIsland* island) {
  tbReal left = island->inherited / f->step->m->opt.solve_tolerance;
  return left > INHERITED || (left > INHERITED_LOOSE && is_loose(f, island));
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
    if (island->solved || !has_inherited(&f, island)) continue;
    island->rest = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)island->problem.n);
    if (!island->rest) return TB_ERROR_MEMORY;
  }
  tbResult result =
      tb_workers_run(&step->state->workers, arena, islands->count, cost, run_island, &f);
  if (result != TB_OK) return result;
  for (int i = 0; i < islands->count; i++) {
    tbIsland* island = &islands->island[i];
    if (cost[i] == 0) continue;
    if (f.info[i].status != TB_SOLVE_CONVERGED) island->rest = NULL;
    if (!counts(&f, island, &f.info[i])) continue;
    island->solved = 1;
    island->residual = f.info[i].residual.relative;
    tb_certificate_add(&step->d->solve, &f.info[i]);
  }
  return TB_OK;
}
