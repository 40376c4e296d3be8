// Newton's method on the primal of the soft model, with an exact line search.
#include <math.h>
#include <string.h>

#include "solvers/soft.h"
#include "solvers/velocity.h"

typedef struct {
  const tbSoftProblem* p;
  tbReal *a, *r, *force;     // current point (by dof), residual rows, constraint forces
  tbReal *Ma, *grad, *step;  // local: M (a - a_smooth), gradient, Newton step
  tbReal *Mstep, *Jstep;     // local: M step; rows: J step
  tbVelocity system;         // M + J^T W J on the dofs that constraints move
  tbReal* x;                 // a vector of the system
  int* place;                // by dof: its place there, or -1
} Newton;

// out[local] = (M x)[dof] for local x.
static void mul_M(const tbSoftProblem* p, tbReal* out, const tbReal* x) {
  memset(out, 0, sizeof(tbReal) * (size_t)p->ndof);
  for (int i = 0; i < p->ndof; i++) {
    int dof = p->dof[i], adr = p->forest.rowadr[dof], nnz = p->forest.rownnz[dof];
    for (int k = 0; k < nnz - 1; k++) {
      int j = p->local[p->forest.colind[adr + k]];
      out[i] += p->M[adr + k] * x[j];
      out[j] += p->M[adr + k] * x[i];
    }
    out[i] += p->M[adr + nnz - 1] * x[i];
  }
}

// out[row] = J x for local x.
static void mul_J(const tbSoftProblem* p, tbReal* out, const tbReal* x) {
  for (int b = 0; b < p->nblock; b++) {
    const tbSoftBlock* block = &p->block[b];
    for (int r = 0; r < block->dim; r++) {
      const tbReal* J = block->J + (size_t)r * (size_t)block->nnz;
      tbReal sum = 0;
      for (int k = 0; k < block->nnz; k++) sum += J[k] * x[p->local[block->col[k]]];
      out[block->row + r] = sum;
    }
  }
}

// Cost, constraint forces and gradient at the current residuals.
static tbReal evaluate(Newton* n) {
  const tbSoftProblem* p = n->p;
  tbReal cost = 0;
  memcpy(n->grad, n->Ma, sizeof(tbReal) * (size_t)p->ndof);
  for (int i = 0; i < p->ndof; i++) {
    cost += 0.5 * n->Ma[i] * (n->a[p->dof[i]] - p->a_smooth[p->dof[i]]);
  }
  for (int b = 0; b < p->nblock; b++) {
    const tbSoftBlock* block = &p->block[b];
    tbReal* force = n->force + block->row;
    cost += tb_soft_block(block, p->D + block->row, n->r + block->row, force, NULL);
    for (int r = 0; r < block->dim; r++) {
      if (force[r] == 0) continue;
      const tbReal* J = block->J + (size_t)r * (size_t)block->nnz;
      for (int k = 0; k < block->nnz; k++) n->grad[p->local[block->col[k]]] -= J[k] * force[r];
    }
  }
  return cost;
}

// H = M + sum J^T W J, factored. False where it is not positive definite.
static bool factor_H(Newton* n) {
  const tbSoftProblem* p = n->p;
  tb_velocity_start(&n->system, true);
  for (int b = 0; b < p->nblock; b++) {
    const tbSoftBlock* block = &p->block[b];
    tbReal W[16 * 16], force[16];
    tb_soft_block(block, p->D + block->row, n->r + block->row, force, W);
    bool any = false;
    for (int i = 0; i < block->dim; i++) any = any || W[i * (block->dim + 1)] != 0;
    if (any) tb_velocity_add(&n->system, b, W);
  }
  return tb_velocity_factor(&n->system);
}

// x <- H^-1 x for local x. Dofs that no constraint moves are eliminated as in M's own factor.
static void solve_H(Newton* n, tbReal* x) {
  const tbSoftProblem* p = n->p;
  for (int i = p->ndof - 1; i >= 0; i--) {
    int k = p->dof[i], last = p->forest.rownnz[k] - 1;
    if (n->place[k] >= 0 || x[i] == 0) continue;
    const tbReal* row = p->LD + p->forest.rowadr[k];
    const int* column = p->forest.colind + p->forest.rowadr[k];
    for (int t = 0; t < last; t++) x[p->local[column[t]]] -= row[t] * x[i];
  }
  for (int i = 0; i < n->system.size; i++) {
    int k = n->system.dof[i];
    n->x[n->place[k]] = x[p->local[k]];
  }
  tb_velocity_solve(&n->system, n->x);
  for (int i = 0; i < p->ndof; i++) {
    int k = p->dof[i], last = p->forest.rownnz[k] - 1;
    if (n->place[k] >= 0) {
      x[i] = n->x[n->place[k]];
      continue;
    }
    const tbReal* row = p->LD + p->forest.rowadr[k];
    const int* column = p->forest.colind + p->forest.rowadr[k];
    tbReal sum = x[i] * p->inverse[k];
    for (int t = 0; t < last; t++) sum -= row[t] * x[p->local[column[t]]];
    x[i] = sum;
  }
}

// Share of one row, other than a cone's, in the derivatives along the step: residual r, its rate v.
static void row_slope(const tbSoftBlock* block, tbReal D, tbReal r, tbReal v, tbReal* slope,
                      tbReal* curvature) {
  if (block->kind == TB_SOFT_ONE_SIDED && r >= 0) return;
  if (block->kind == TB_SOFT_FRICTION && fabs(r) * D >= block->bound) {
    *slope += (r > 0 ? block->bound : -block->bound) * v;
    return;
  }
  *slope += D * r * v;
  *curvature += D * v * v;
}

// First and second derivative of the cost along the step at length t.
static tbReal line_slope(const Newton* n, tbReal t, tbReal quadratic, tbReal linear,
                         tbReal* curvature) {
  const tbSoftProblem* p = n->p;
  tbReal slope = linear + t * quadratic;
  *curvature = quadratic;
  for (int b = 0; b < p->nblock; b++) {
    const tbSoftBlock* block = &p->block[b];
    const tbReal *v = n->Jstep + block->row, *D = p->D + block->row;
    tbReal r[16], force[16], W[16 * 16];
    for (int i = 0; i < block->dim; i++) r[i] = n->r[block->row + i] + t * v[i];
    if (block->kind != TB_SOFT_CONE) {
      for (int i = 0; i < block->dim; i++) row_slope(block, D[i], r[i], v[i], &slope, curvature);
      continue;
    }
    tb_soft_block(block, D, r, force, W);
    for (int i = 0; i < block->dim; i++) {
      slope -= force[i] * v[i];
      for (int j = 0; j < block->dim; j++) *curvature += v[i] * W[i * block->dim + j] * v[j];
    }
  }
  return slope;
}

// The root of the cost's derivative along the step: Newton kept inside a bracket.
static tbReal line_search(const Newton* n) {
  tbReal quadratic = 0, linear = 0;
  for (int i = 0; i < n->p->ndof; i++) {
    quadratic += n->step[i] * n->Mstep[i];
    linear += n->step[i] * n->Ma[i];
  }
  tbReal curvature, t = 1, low = 0, high = INFINITY;
  tbReal first = fabs(line_slope(n, 0, quadratic, linear, &curvature));
  for (int i = 0; i < 50; i++) {
    tbReal slope = line_slope(n, t, quadratic, linear, &curvature);
    if (fabs(slope) <= 1e-12 * first) break;
    if (slope < 0) {
      low = t;
    } else {
      high = t;
    }
    tbReal next = curvature > 0 ? t - slope / curvature : 0;
    if (!(next > low && next < high)) next = isinf(high) ? 2 * low + 1 : 0.5 * (low + high);
    if (fabs(next - t) <= 1e-15 * fabs(t)) break;
    t = next;
  }
  return t;
}

static int allocate(Newton* n, tbArena* arena) {
  const tbSoftProblem* p = n->p;
  size_t nd = (size_t)p->ndof;
  n->r = TB_ARENA_NEW(arena, tbReal, p->nrow);
  n->Jstep = TB_ARENA_NEW(arena, tbReal, p->nrow);
  n->Ma = TB_ARENA_NEW(arena, tbReal, nd);
  n->grad = TB_ARENA_NEW(arena, tbReal, nd);
  n->step = TB_ARENA_NEW(arena, tbReal, nd);
  n->Mstep = TB_ARENA_NEW(arena, tbReal, nd);
  return n->r && n->Jstep && n->Ma && n->grad && n->step && n->Mstep;
}

static bool build_system(Newton* n, tbArena* arena) {
  const tbSoftProblem* p = n->p;
  tbRows* rows = tb_arena_alloc(arena, sizeof(tbRows) * (size_t)(p->nblock + 1));
  n->place = tb_arena_alloc(arena, sizeof(int) * (size_t)(p->forest.n + 1));
  n->x = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(p->ndof + 1));
  if (!rows || !n->place || !n->x) return false;
  for (int i = 0; i < p->ndof; i++) n->place[p->dof[i]] = -1;
  for (int b = 0; b < p->nblock; b++) {
    const tbSoftBlock* block = &p->block[b];
    rows[b] = (tbRows){block->dim, block->nnz, block->col, block->J};
  }
  return tb_velocity_build(&n->system, arena, p->forest, p->LD, p->inverse, p->nblock, rows,
                           n->place);
}

// Residuals and M (a - a_smooth) from the current point.
static void refresh(Newton* n) {
  const tbSoftProblem* p = n->p;
  for (int i = 0; i < p->ndof; i++) n->step[i] = n->a[p->dof[i]] - p->a_smooth[p->dof[i]];
  mul_M(p, n->Ma, n->step);
  for (int i = 0; i < p->ndof; i++) n->step[i] = n->a[p->dof[i]];
  mul_J(p, n->r, n->step);
  for (int i = 0; i < p->nrow; i++) n->r[i] -= p->aref[i];
}

// Start from the caller's guess or from the acceleration without constraints, whichever costs less.
static int start(Newton* n, tbArena* arena) {
  const tbSoftProblem* p = n->p;
  tbReal* guess = TB_ARENA_NEW(arena, tbReal, p->ndof);
  if (!guess) return 0;
  int differs = 0;
  for (int i = 0; i < p->ndof; i++) {
    guess[i] = n->a[p->dof[i]];
    differs |= guess[i] != p->a_smooth[p->dof[i]];
  }
  tbReal cost = INFINITY;
  if (differs) {
    refresh(n);
    cost = evaluate(n);
  }
  for (int i = 0; i < p->ndof; i++) n->a[p->dof[i]] = p->a_smooth[p->dof[i]];
  refresh(n);
  if (!(cost < evaluate(n))) return 1;
  for (int i = 0; i < p->ndof; i++) n->a[p->dof[i]] = guess[i];
  refresh(n);
  evaluate(n);
  return 1;
}

// Largest gradient entry over the largest of the two forces it balances.
static tbReal relative_gradient(const Newton* n) {
  tbReal largest = 0, scale = 1e-300;
  for (int i = 0; i < n->p->ndof; i++) {
    largest = fmax(largest, fabs(n->grad[i]));
    scale = fmax(scale, fmax(fabs(n->Ma[i]), fabs(n->Ma[i] - n->grad[i])));
  }
  return largest / scale;
}

static bool newton_step(Newton* n) {
  if (!factor_H(n)) return false;
  for (int i = 0; i < n->p->ndof; i++) n->step[i] = -n->grad[i];
  solve_H(n, n->step);
  return true;
}

// Conjugate gradients (Polak-Ribiere, never negative). MuJoCo's are preconditioned with M, these
// with M + J^T W J where M has an entry, made anew every few steps since W changes with what
// slides.
enum { FRESH = 10 };

typedef struct {
  tbReal *step, *grad, *Pgrad;  // local: the last step, gradient, preconditioned gradient
  tbReal* full;                 // by dof
  tbReal *LD, *inverse, *JW;    // factor of the preconditioner, scratch
  bool fresh;                   // it could be factored; M serves where it could not
} Conjugate;

static int allocate_conjugate(Conjugate* cg, const tbSoftProblem* p, tbArena* arena) {
  cg->step = TB_ARENA_NEW(arena, tbReal, p->ndof);
  cg->grad = TB_ARENA_NEW(arena, tbReal, p->ndof);
  cg->Pgrad = TB_ARENA_NEW(arena, tbReal, p->ndof);
  cg->full = TB_ARENA_NEW(arena, tbReal, p->forest.n);
  int last = p->forest.n - 1, room = 1;
  for (int b = 0; b < p->nblock; b++) {
    int size = p->block[b].dim * p->block[b].nnz;
    room = size > room ? size : room;
  }
  size_t entries = (size_t)(p->forest.rowadr[last] + p->forest.rownnz[last]);
  cg->LD = tb_arena_alloc(arena, sizeof(tbReal) * entries);
  cg->inverse = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)p->forest.n);
  cg->JW = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)room);
  return cg->step && cg->grad && cg->Pgrad && cg->full && cg->LD && cg->inverse && cg->JW;
}

static void conjugate_step(Newton* n, Conjugate* cg, int iteration) {
  const tbSoftProblem* p = n->p;
  tbReal rise = 0, before = 0;
  bool first = iteration % FRESH == 1;
  if (first) cg->fresh = tb_soft_precondition(p, n->r, cg->JW, cg->LD, cg->inverse);
  for (int i = 0; i < p->ndof; i++) cg->full[p->dof[i]] = n->grad[i];
  tb_ltdl_solve(p->forest, cg->fresh ? cg->LD : p->LD, cg->fresh ? cg->inverse : p->inverse,
                cg->full);
  for (int i = 0; i < p->ndof; i++) {
    tbReal now = cg->full[p->dof[i]];
    rise += n->grad[i] * (now - cg->Pgrad[i]);
    before += cg->grad[i] * cg->Pgrad[i];
    cg->Pgrad[i] = now;
    cg->grad[i] = n->grad[i];
  }
  tbReal beta = first ? 0 : fmax(0, rise / fmax(before, 1e-300));
  for (int i = 0; i < p->ndof; i++) {
    cg->step[i] = beta * cg->step[i] - cg->Pgrad[i];
    n->step[i] = cg->step[i];
  }
}

tbResult tb_soft_newton(const tbSoftProblem* problem, tbReal tol, int max_iter, tbArena* arena,
                        tbReal* a, tbReal* force, tbSoftInfo* info) {
  Newton n = {.p = problem, .a = a, .force = force};
  memset(info, 0, sizeof *info);
  Conjugate cg = {0};
  if (!allocate(&n, arena) || !start(&n, arena)) return TB_ERROR_MEMORY;
  if (problem->conjugate && !allocate_conjugate(&cg, problem, arena)) return TB_ERROR_MEMORY;
  info->gradient = relative_gradient(&n);
  if (!problem->conjugate && info->gradient > tol && !build_system(&n, arena)) {
    return TB_ERROR_MEMORY;
  }
  while (info->gradient > tol && info->iterations < max_iter) {
    info->iterations++;
    if (problem->conjugate) {
      conjugate_step(&n, &cg, info->iterations);
    } else if (!newton_step(&n)) {
      return TB_ERROR_NUMERIC;
    }
    mul_M(problem, n.Mstep, n.step);
    mul_J(problem, n.Jstep, n.step);
    tbReal t = line_search(&n);
    for (int i = 0; i < problem->ndof; i++) a[problem->dof[i]] += t * n.step[i];
    refresh(&n);
    evaluate(&n);
    tbReal before = info->gradient;
    info->gradient = relative_gradient(&n);
    if (!(info->gradient < before) && info->gradient < 1e-11) break;
  }
  info->converged = info->gradient <= fmax(tol, 1e-11);
  return TB_OK;
}
