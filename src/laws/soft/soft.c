// A step under the soft law: islands of MuJoCo's convex problem, solved by solvers/soft/.
#include "laws/soft/soft.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "base/timer.h"
#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"
#include "solvers/soft/soft.h"
#include "laws/certificate.h"
#include "forces/implicit_inertia.h"
#include "laws/soft/rows.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

enum { LEAST_ITERATIONS = 20 };

// The dofs of the trees that an island's constraints move.
static int island_dofs(const tbModel* m, const tbConstraints* cs, const tbIsland* island,
                       int* in_island, int* dof) {
  for (int i = 0; i < m->ntree; i++) in_island[i] = 0;
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &cs->list[island->member[k]];
    for (int j = 0; j < c->nnz; j++) in_island[m->dof_treeid[c->col[j]]] = 1;
  }
  int n = 0;
  for (int t = 0; t < m->ntree; t++) {
    for (int j = 0; in_island[t] && j < m->tree_dofnum[t]; j++) dof[n++] = m->tree_dofadr[t] + j;
  }
  return n;
}

// The solver that the options select: mjsolver, unless `solver` is set.
static int solver_of(const tbOption* opt) {
  if (opt->solver == TB_SOLVER_NEWTON) return TB_MJSOLVER_NEWTON;
  if (opt->solver == TB_SOLVER_PGS) return TB_MJSOLVER_PGS;
  int known = opt->mjsolver >= 0 && opt->mjsolver <= TB_MJSOLVER_NEWTON;
  return known ? opt->mjsolver : TB_MJSOLVER_NEWTON;
}

// MuJoCo's order of an island's constraints: contacts by body, while Tribo's order is by geom.
static void sweep_order(const tbModel* m, const tbData* d, const tbConstraints* cs,
                        const tbIsland* island, uint64_t* bodies, int* order) {
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &cs->list[island->member[k]];
    uint64_t pair = 0;
    if (c->source == TB_SOURCE_CONTACT) {
      const int* geom = d->contact[c->id].geom;
      int a = m->geom_bodyid[geom[0]], b = m->geom_bodyid[geom[1]];
      pair = ((uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a)) + 1;
    }
    int at = k;
    for (; at > 0 && bodies[at - 1] > pair; at--) {
      bodies[at] = bodies[at - 1];
      order[at] = order[at - 1];
    }
    bodies[at] = pair;
    order[at] = k;
  }
}

static tbResult run_solver(const tbModel* m, tbSoftProblem* p, tbArena* arena, tbReal* a,
                           tbReal* force, tbSoftInfo* info) {
  const tbOption* opt = &m->opt;
  int solver = solver_of(opt);
  p->scale = 1 / (m->mean_inertia * tb_max(1, m->nv));
  p->conjugate = solver == TB_MJSOLVER_CG;
  // Files made for MJX set one iteration, which is not enough for a robot's constraints.
  int iterations = opt->iterations > LEAST_ITERATIONS ? opt->iterations : LEAST_ITERATIONS;
  tbResult result = solver == TB_MJSOLVER_PGS
                        ? tb_soft_pgs(p, opt->tolerance, opt->iterations, arena, a, force, info)
                        : tb_soft_newton(p, p->conjugate ? opt->tolerance : 1e-10, iterations,
                                         arena, a, force, info);
  if (result != TB_OK || opt->noslip_iterations <= 0) return result;
  return tb_soft_noslip(p, opt->noslip_tolerance, opt->noslip_iterations, arena, a, force);
}

// Build and solve one island; the forces of its soft rows are converted to the constraints' own
// rows, in lambda.
static tbResult solve_island(const tbModel* m, tbData* d, const tbConstraints* cs, tbIsland* island,
                             tbArena* arena, tbReal* a, tbSoftInfo* info) {
  tbSoftProblem p = {.nblock = island->nmember,
                     .forest = tb_forest(m),
                     .M = d->qM,
                     .LD = d->qLD,
                     .inverse = d->qLDiagInv,
                     .cold = (m->opt.disableflags & TB_DISABLE_WARMSTART) != 0,
                     .a_smooth = d->qacc_smooth};
  for (int k = 0; k < island->nmember; k++) {
    p.nrow += tb_soft_rows_of(m, &cs->list[island->member[k]]);
  }
  size_t nr = (size_t)p.nrow, nv = (size_t)m->nv;
  tbSoftBlock* block = tb_arena_alloc(arena, sizeof(tbSoftBlock) * (size_t)(p.nblock + 1));
  tbReal* aref = tb_arena_alloc(arena, sizeof(tbReal) * (3 * nr + 1));
  int* dof = tb_arena_alloc(arena, sizeof(int) * (2 * nv + (size_t)m->ntree + 1));
  int* order = tb_arena_alloc(arena, sizeof(int) * (size_t)(p.nblock + 1));
  uint64_t* bodies = tb_arena_alloc(arena, sizeof(uint64_t) * (size_t)(p.nblock + 1));
  if (!block || !aref || !dof || !order || !bodies) return TB_ERROR_MEMORY;
  sweep_order(m, d, cs, island, bodies, order);
  p.order = order;
  tbReal *D = aref + nr, *force = D + nr;
  int *local = dof + nv, *in_island = local + nv;
  for (int k = 0, row = 0; k < island->nmember; k++) {
    tbResult result =
        tb_soft_fill(m, d, &cs->list[island->member[k]], arena, &block[k], aref + row, D + row);
    if (result != TB_OK) return result;
    block[k].row = row;
    row += block[k].dim;
  }
  p.block = block;
  p.aref = aref;
  p.D = D;
  p.dof = dof;
  p.local = local;
  p.ndof = island_dofs(m, cs, island, in_island, dof);
  for (int i = 0; i < p.ndof; i++) {
    local[dof[i]] = i;
    if (!p.cold) a[dof[i]] = d->qacc_warmstart[dof[i]];
  }
  tbResult result = run_solver(m, &p, arena, a, force, info);
  if (result != TB_OK) return result;
  for (int k = 0, row = 0; k < island->nmember; k++) {
    const tbConstraint* c = &cs->list[island->member[k]];
    tb_soft_decode(m, d, c, force + block[k].row, island->lambda + row);
    for (int r = 0; r < c->dim; r++) island->lambda[row + r] *= m->opt.timestep;
    row += c->dim;
  }
  return TB_OK;
}

// MuJoCo integrates with damping implicit after the constraint forces are known:
// v+ = v + h H^-1 (qfrc_smooth + qfrc_constraint).
static tbResult integrate_velocity(const tbModel* m, tbData* d, tbReal* v_next) {
  int explicit = m->opt.disableflags & (TB_DISABLE_EULERDAMP | TB_DISABLE_DAMPER);
  for (int i = 0; i < m->nv; i++) v_next[i] = d->qfrc_smooth[i] + d->qfrc_constraint[i];
  tbResult result;
  if (m->opt.integrator == TB_INTEGRATOR_IMPLICIT) {
    result = tb_implicit_full(m, d, v_next);
  } else if (m->opt.integrator == TB_INTEGRATOR_IMPLICITFAST) {
    result = tb_implicit_fast(m, d, v_next);
  } else {
    tbImplicit what = explicit ? TB_IMPLICIT_NOTHING : TB_IMPLICIT_DAMPERS;
    tbInertiaFactor factor;
    tbForest forest = tb_forest(m);
    result = tb_implicit_factor(m, d, what, &factor);
    if (result == TB_OK) tb_ltdl_solve(forest, factor.LD, factor.inverse, v_next);
  }
  if (result != TB_OK) return result;
  for (int i = 0; i < m->nv; i++) v_next[i] = d->qvel[i] + m->opt.timestep * v_next[i];
  return TB_OK;
}

// J^T f of a still island (warm start accepted unchanged) from its acceleration, M (a - a_smooth),
// on the trees that it moves.
static tbResult still_forces(const tbModel* m, tbData* d, const tbConstraints* cs,
                             const tbIslands* islands) {
  bool any = false;
  for (int i = 0; i < islands->count; i++) any = any || islands->island[i].solved;
  if (!any) return TB_OK;
  tbReal* change = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (size_t)(2 * m->nv + 1));
  if (!change) return TB_ERROR_MEMORY;
  tbReal* force = change + m->nv;
  for (int i = 0; i < m->nv; i++) change[i] = d->qacc[i] - d->qacc_smooth[i];
  tb_mul_m(m, d, force, change);
  for (int c = 0; c < cs->count; c++) {
    const tbConstraint* one = &cs->list[c];
    if (one->island < 0 || !islands->island[one->island].solved) continue;
    for (int k = 0; k < one->nnz; k++) {
      int tree = m->dof_treeid[one->col[k]], first = m->tree_dofadr[tree];
      size_t bytes = sizeof(tbReal) * (size_t)m->tree_dofnum[tree];
      memcpy(d->qfrc_constraint + first, force + first, bytes);
    }
  }
  return TB_OK;
}

typedef struct {
  const tbModel* m;
  tbData* d;
  const tbConstraints* constraints;
  tbIslands* islands;
  tbSoftInfo* info;  // per island
} Solves;

static tbResult solve_one(void* context, int index, tbWorker* worker) {
  Solves* s = context;
  return solve_island(s->m, s->d, s->constraints, &s->islands->island[index], &worker->arena,
                      s->d->qacc, &s->info[index]);
}

// The largest impulse of an island that has not converged is reported as the cause.
static void blame_strongest(const tbModel* m, tbData* d, const tbConstraints* cs,
                            const tbIsland* island) {
  const tbConstraint* strongest = NULL;
  const tbReal* lambda = island->lambda;
  tbReal most = -1;
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &cs->list[island->member[k]];
    for (int r = 0; r < c->dim; r++, lambda++) {
      if (!(fabs(*lambda) > most)) continue;
      most = fabs(*lambda);
      strongest = c;
    }
  }
  tb_certificate_blame(m, d, strongest);
}

// Solve all islands; they share no dof, so each writes its own part of qacc.
static tbResult solve_islands(const tbModel* m, tbData* d, tbStepState* state, tbIslands* islands,
                              tbSolveInfo* total) {
  tbArena* arena = &d->work->arena;
  Solves s = {m, d, &state->constraints, islands, TB_ARENA_NEW(arena, tbSoftInfo, islands->count)};
  tbReal* cost = TB_ARENA_NEW(arena, tbReal, islands->count);
  if (!s.info || !cost) return TB_ERROR_MEMORY;
  for (int i = 0; i < islands->count; i++) {
    tbReal n = islands->island[i].problem.n;
    cost[i] = n * n;
  }
  tbResult result = tb_workers_run(&state->workers, arena, islands->count, cost, solve_one, &s);
  if (result != TB_OK) return result;
  for (int i = 0; i < islands->count; i++) {
    const tbSoftInfo* info = &s.info[i];
    islands->island[i].solved = info->still && m->opt.noslip_iterations <= 0;
    if (!info->converged) {
      total->status = TB_SOLVE_MAX_ITERATIONS;
      blame_strongest(m, d, &state->constraints, &islands->island[i]);
    }
    if (info->iterations > total->iterations) total->iterations = info->iterations;
    total->factorizations += info->iterations;
    total->residual.relative = tb_max(total->residual.relative, info->gradient);
  }
  return TB_OK;
}

tbResult tb_soft_velocity(const tbStep* step, tbReal* v_next) {
  const tbModel* m = step->m;
  tbData* d = step->d;
  tbStepState* state = step->state;
  size_t bytes = sizeof(tbReal) * (size_t)m->nv;
  tbReal start = tb_seconds(), h = m->opt.timestep;
  tbReal* v_free = TB_ARENA_NEW(&d->work->arena, tbReal, m->nv);
  if (!v_free) return TB_ERROR_MEMORY;
  for (int i = 0; i < m->nv; i++) v_free[i] = d->qvel[i] + h * d->qacc_smooth[i];
  tbIslands* islands = &state->islands;
  tbResult result = tb_assemble_groups(m, d, &state->constraints, islands);
  if (result == TB_OK) {
    result = tb_assemble_terms(m, d, &state->constraints, (tbInertiaFactor){0}, v_free, islands);
  }
  if (result != TB_OK) return result;
  tbReal assemble_end = tb_seconds();
  d->seconds.assemble += assemble_end - start;

  // Start from the last acceleration in constrained trees.
  memcpy(d->qacc, d->qacc_smooth, bytes);
  static const char* const NAMES[] = {"pgs", "cg", "newton"};
  // For MuJoCo's problem only the relative gradient is known.
  tbSolveInfo total = {.law = "soft", .solver = NAMES[solver_of(&m->opt)]};
  total.residual = (tbResidual){NAN, NAN, NAN, 0};
  result = solve_islands(m, d, state, islands, &total);
  if (result != TB_OK) return result;
  memset(d->qfrc_constraint, 0, bytes);
  tb_gather_impulse(&state->constraints, islands, d->qfrc_constraint);
  for (int i = 0; i < m->nv; i++) d->qfrc_constraint[i] /= h;
  result = still_forces(m, d, &state->constraints, islands);
  if (result != TB_OK) return result;
  tb_store_forces(m, d, state, islands);
  total.seconds = tb_seconds() - assemble_end;
  d->seconds.solve += total.seconds;
  result = integrate_velocity(m, d, v_next);
  if (result != TB_OK) return result;
  state->v_free = v_free;
  d->solve = total;
  tb_certificate_not_evaluated(&d->solve);
  return TB_OK;
}
