// Newton's method on the primal of the soft model, with an exact line search.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "base/kernel.h"
#include "linalg/bracket.h"
#include "solvers/soft/soft.h"
#include "operator/dense_assembly.h"
#include "operator/velocity.h"

typedef struct {
  const tbSoftProblem* p;
  tbReal *a, *r, *force;     // current point (by dof), residual rows, constraint forces
  tbReal *Ma, *grad, *step;  // local: M (a - a_smooth), gradient, Newton step
  tbReal *Mstep, *Jstep;     // local: M step; rows: J step
  int* column;               // per block: the local index of each of its columns
  bool small;                // the matrix is dense
  tbDenseAssembly dense;
  tbVelocity system;  // otherwise: M + J^T W J on the dofs that constraints move
  tbReal* x;          // a vector of the system
  int* index;         // by dof: its index in the system, or -1
} Newton;

// out[local] = (M x)[dof] for local x.
static void mul_M(const tbSoftProblem* p, tbReal* TB_RESTRICT out, const tbReal* x) {
  for (int i = 0; i < p->ndof; i++) {
    // The dofs of a tree are contiguous, so within its rows the local index is shifted.
    int dof = p->dof[i], shift = dof - i, nnz = p->forest.rownnz[dof];
    const int* column = p->forest.colind + p->forest.rowadr[dof];
    const tbReal* M = p->M + p->forest.rowadr[dof];
    tbReal sum = M[nnz - 1] * x[i];
    for (int k = 0; k < nnz - 1; k++) {
      int j = column[k] - shift;
      sum += M[k] * x[j];
      out[j] += M[k] * x[i];
    }
    out[i] = sum;
  }
}

// out[row] = J x for local x.
static void mul_J(const Newton* n, tbReal* TB_RESTRICT out, const tbReal* x) {
  const int* column = n->column;
  for (int b = 0; b < n->p->nblock; b++) {
    const tbSoftBlock* block = &n->p->block[b];
    const tbReal* J = block->J;
    for (int r = 0; r < block->dim; r++, J += block->nnz) {
      tbReal sum = 0;
      for (int k = block->lead; k < block->nnz; k++) sum += J[k] * x[column[k]];
      out[block->row + r] = sum;
    }
    column += block->nnz;
  }
}

// Cost of the constraints at residuals r, and their forces.
static tbReal block_costs(Newton* n, const tbReal* r) {
  const tbSoftProblem* p = n->p;
  tbReal cost = 0;
  for (int b = 0; b < p->nblock; b++) {
    int row = p->block[b].row;
    cost += tb_soft_block(&p->block[b], p->D + row, r + row, n->force + row, NULL);
  }
  return cost;
}

// The gradient M (a - a_smooth) - J^T f at the current forces.
static void find_gradient(Newton* n) {
  const int* column = n->column;
  tbReal* TB_RESTRICT grad = n->grad;
  memcpy(grad, n->Ma, sizeof(tbReal) * (size_t)n->p->ndof);
  for (int b = 0; b < n->p->nblock; b++) {
    const tbSoftBlock* block = &n->p->block[b];
    const tbReal *J = block->J, *force = n->force + block->row;
    for (int r = 0; r < block->dim; r++, J += block->nnz) {
      tbReal f = force[r];
      if (f == 0) continue;
      for (int k = block->lead; k < block->nnz; k++) grad[column[k]] -= J[k] * f;
    }
    column += block->nnz;
  }
}

// H = M + sum J^T W J, factored. False if it is not positive definite.
static bool factor_H(Newton* n) {
  const tbSoftProblem* p = n->p;
  const int* column = n->column;
  if (n->small) {
    tb_dense_assembly_open(&n->dense, p);
  } else {
    tb_velocity_start(&n->system, true);
  }
  for (int b = 0; b < p->nblock; b++) {
    const tbSoftBlock* block = &p->block[b];
    tbReal W[16 * 16], force[16];
    tb_soft_block(block, p->D + block->row, n->r + block->row, force, W);
    bool any = false;
    for (int i = 0; i < block->dim; i++) any = any || W[i * (block->dim + 1)] != 0;
    if (any && n->small) tb_dense_assembly_add(&n->dense, block, column, W);
    if (any && !n->small) tb_velocity_add(&n->system, b, W);
    column += block->nnz;
  }
  return n->small ? tb_dense_assembly_factor(&n->dense) : tb_velocity_factor(&n->system);
}

// x <- H^-1 x for local x. Dofs that no constraint moves are eliminated as in M's own factor.
static void solve_H(Newton* n, tbReal* x) {
  const tbSoftProblem* p = n->p;
  for (int i = p->ndof - 1; i >= 0; i--) {
    int k = p->dof[i], last = p->forest.rownnz[k] - 1;
    if (n->index[k] >= 0 || x[i] == 0) continue;
    const tbReal* row = p->LD + p->forest.rowadr[k];
    const int* column = p->forest.colind + p->forest.rowadr[k];
    for (int t = 0; t < last; t++) x[p->local[column[t]]] -= row[t] * x[i];
  }
  for (int i = 0; i < n->system.size; i++) {
    int k = n->system.dof[i];
    n->x[n->index[k]] = x[p->local[k]];
  }
  tb_velocity_solve(&n->system, n->x);
  for (int i = 0; i < p->ndof; i++) {
    int k = p->dof[i], last = p->forest.rownnz[k] - 1;
    if (n->index[k] >= 0) {
      x[i] = n->x[n->index[k]];
      continue;
    }
    const tbReal* row = p->LD + p->forest.rowadr[k];
    const int* column = p->forest.colind + p->forest.rowadr[k];
    tbReal sum = x[i] * p->inverse[k];
    for (int t = 0; t < last; t++) sum -= row[t] * x[p->local[column[t]]];
    x[i] = sum;
  }
}

// Contribution of one row that is not part of a cone to the derivatives along the step: residual r,
// its rate v.
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

// Contribution of a cone: with N = mu r0 and T^2 = sum of (friction_j r_j)^2 the cost in its middle
// zone is 1/2 Dm (N - mu T)^2 (see block.c), and along the step N is linear, T^2 quadratic.
static void cone_slope(const tbSoftBlock* block, const tbReal* D, const tbReal* r, const tbReal* v,
                       tbReal* slope, tbReal* curvature) {
  tbReal mu = block->mu, N = mu * r[0], TT = 0, TV = 0, VV = 0;
  for (int j = 1; j < block->dim; j++) {
    tbReal scale = block->friction[j - 1], U = scale * r[j], V = scale * v[j];
    TT += U * U;
    TV += U * V;
    VV += V * V;
  }
  tbReal T = sqrt(TT);
  if (N >= mu * T || (T <= 0 && N >= 0)) return;
  if (mu * N + T <= 0 || (T <= 0 && N < 0)) {
    for (int i = 0; i < block->dim; i++) {
      *slope += D[i] * r[i] * v[i];
      *curvature += D[i] * v[i] * v[i];
    }
    return;
  }
  tbReal Dm = D[0] / (mu * mu * (1 + mu * mu)), gap = N - mu * T;
  tbReal T_rate = TV / T, T_curvature = (VV - T_rate * T_rate) / T;
  tbReal rate = mu * (v[0] - T_rate);
  *slope += Dm * gap * rate;
  *curvature += Dm * (rate * rate - gap * mu * T_curvature);
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
    // A block has at least one row; the assignment of r[0] avoids a compiler warning.
    tbReal r[16];
    r[0] = n->r[block->row] + t * v[0];
    for (int i = 1; i < block->dim; i++) r[i] = n->r[block->row + i] + t * v[i];
    if (block->kind == TB_SOFT_CONE) {
      cone_slope(block, D, r, v, &slope, curvature);
      continue;
    }
    for (int i = 0; i < block->dim; i++) row_slope(block, D[i], r[i], v[i], &slope, curvature);
  }
  return slope;
}

// The root of the cost's derivative along the step: Newton's method safeguarded by a bracket.
// `energy` receives step . M step.
static tbReal line_search(const Newton* n, tbReal* energy) {
  tbReal quadratic = 0, linear = 0, first = 0;
  for (int i = 0; i < n->p->ndof; i++) {
    quadratic += n->step[i] * n->Mstep[i];
    linear += n->step[i] * n->Ma[i];
    first += n->step[i] * n->grad[i];
  }
  *energy = quadratic;
  tbBracket bracket = {0, INFINITY};
  tbReal curvature, t = 1;
  for (int i = 0; i < 50; i++) {
    tbReal slope = line_slope(n, t, quadratic, linear, &curvature);
    if (fabs(slope) <= 1e-6 * fabs(first)) break;
    tbReal next = tb_bracket_next(&bracket, t, slope, curvature);
    if (fabs(next - t) <= 1e-15 * fabs(t)) break;
    t = next;
  }
  return t;
}

static int allocate(Newton* n, tbArena* arena) {
  const tbSoftProblem* p = n->p;
  size_t nd = (size_t)p->ndof, nr = (size_t)p->nrow, columns = 0;
  for (int b = 0; b < p->nblock; b++) columns += (size_t)p->block[b].nnz;
  tbReal* reals = tb_arena_alloc(arena, sizeof(tbReal) * (4 * nd + 2 * nr + 1));
  n->column = tb_arena_alloc(arena, sizeof(int) * (columns + 1));
  if (!reals || !n->column) return 0;
  n->Ma = reals;
  n->grad = reals + nd;
  n->step = reals + 2 * nd;
  n->Mstep = reals + 3 * nd;
  n->r = reals + 4 * nd;
  n->Jstep = n->r + nr;
  int* column = n->column;
  for (int b = 0; b < p->nblock; b++) {
    const tbSoftBlock* block = &p->block[b];
    for (int k = 0; k < block->nnz; k++) *column++ = p->local[block->col[k]];
  }
  return 1;
}

// Whether dense factors are faster: their limit of dofs is higher if most chains are longer than a
// free body's.
static bool is_small(const tbSoftProblem* p) {
  enum { BODY = 6 };
  int far = 0;
  for (int i = 0; i < p->ndof; i++) far += p->forest.rownnz[p->dof[i]] > BODY;
  return p->ndof <= (2 * far >= p->ndof ? TB_SOFT_DENSE : TB_SOFT_DENSE_LOOSE);
}

static bool build_system(Newton* n, tbArena* arena) {
  const tbSoftProblem* p = n->p;
  n->small = is_small(p);
  if (n->small) {
    tbReal* least = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(p->ndof + 1));
    if (!least || !tb_dense_assembly_build(&n->dense, p, arena)) return false;
    for (int i = 0; i < p->ndof; i++) {
      tbReal inverse = p->inverse[p->dof[i]];
      least[i] = inverse > 0 ? 1 / inverse : 0;
    }
    n->dense.least = least;
    return true;
  }
  tbRows* rows = tb_arena_alloc(arena, sizeof(tbRows) * (size_t)(p->nblock + 1));
  n->index = tb_arena_alloc(arena, sizeof(int) * (size_t)(p->forest.n + 1));
  n->x = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(p->ndof + 1));
  if (!rows || !n->index || !n->x) return false;
  for (int i = 0; i < p->ndof; i++) n->index[p->dof[i]] = -1;
  for (int b = 0; b < p->nblock; b++) {
    const tbSoftBlock* block = &p->block[b];
    rows[b] = (tbRows){block->dim, block->nnz, block->col, block->J};
  }
  tbForestInertia inertia = {.forest = p->forest, .LD = p->LD, .inverse = p->inverse};
  return tb_velocity_build(&n->system, arena, &inertia, p->nblock, rows, n->index);
}

// Residuals and M (a - a_smooth) from the current point.
static void refresh(Newton* n) {
  const tbSoftProblem* p = n->p;
  for (int i = 0; i < p->ndof; i++) n->step[i] = n->a[p->dof[i]] - p->a_smooth[p->dof[i]];
  mul_M(p, n->Ma, n->step);
  for (int i = 0; i < p->ndof; i++) n->step[i] = n->a[p->dof[i]];
  mul_J(n, n->r, n->step);
  for (int i = 0; i < p->nrow; i++) n->r[i] -= p->aref[i];
}

// Start from the caller's guess or from the acceleration without constraints, whichever costs less.
static void start(Newton* n) {
  const tbSoftProblem* p = n->p;
  bool differs = false;
  for (int i = 0; i < p->ndof; i++) {
    n->step[i] = p->a_smooth[p->dof[i]];
    differs = differs || n->a[p->dof[i]] != n->step[i];
  }
  tbReal* r_smooth = n->Jstep;
  mul_J(n, r_smooth, n->step);
  for (int i = 0; i < p->nrow; i++) r_smooth[i] -= p->aref[i];
  tbReal cost_smooth = block_costs(n, r_smooth), cost = 0;
  if (differs) {
    refresh(n);
    for (int i = 0; i < p->ndof; i++) {
      cost += 0.5 * n->Ma[i] * (n->a[p->dof[i]] - p->a_smooth[p->dof[i]]);
    }
    cost += block_costs(n, n->r);
  }
  if (!differs || !(cost < cost_smooth)) {
    for (int i = 0; i < p->ndof; i++) n->a[p->dof[i]] = p->a_smooth[p->dof[i]];
    memset(n->Ma, 0, sizeof(tbReal) * (size_t)p->ndof);
    memcpy(n->r, r_smooth, sizeof(tbReal) * (size_t)p->nrow);
    block_costs(n, n->r);
  }
  find_gradient(n);
}

// Largest gradient entry over the largest of the two forces it balances.
static tbReal relative_gradient(const Newton* n) {
  tbReal largest = 0, scale = 1e-300;
  for (int i = 0; i < n->p->ndof; i++) {
    tbReal grad = fabs(n->grad[i]), Ma = fabs(n->Ma[i]), Jf = fabs(n->Ma[i] - n->grad[i]);
    largest = grad > largest ? grad : largest;
    scale = Ma > scale ? Ma : scale;
    scale = Jf > scale ? Jf : scale;
  }
  return largest / scale;
}

static bool newton_step(Newton* n) {
  if (!factor_H(n)) return false;
  for (int i = 0; i < n->p->ndof; i++) n->step[i] = -n->grad[i];
  if (n->small) {
    tb_dense_assembly_solve(&n->dense, n->step);
  } else {
    solve_H(n, n->step);
  }
  return true;
}

// Conjugate gradients (Polak-Ribiere, beta never negative). MuJoCo preconditions with M. Here the
// preconditioner is M + J^T W J where M has an entry; it is recomputed every PRECONDITION steps,
// because W changes with the sliding contacts.
enum { PRECONDITION = 10 };

typedef struct {
  tbReal *step, *grad, *Pgrad;  // local: the last step, gradient, preconditioned gradient
  tbReal* full;                 // by dof
  tbReal *LD, *inverse, *JW;    // factor of the preconditioner, scratch
  bool factored;                // the factorisation succeeded; otherwise M is used
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
  bool first = iteration % PRECONDITION == 1;
  if (first) cg->factored = tb_soft_precondition(p, n->r, cg->JW, cg->LD, cg->inverse);
  for (int i = 0; i < p->ndof; i++) cg->full[p->dof[i]] = n->grad[i];
  tb_ltdl_solve(p->forest, cg->factored ? cg->LD : p->LD, cg->factored ? cg->inverse : p->inverse,
                cg->full);
  for (int i = 0; i < p->ndof; i++) {
    tbReal now = cg->full[p->dof[i]];
    rise += n->grad[i] * (now - cg->Pgrad[i]);
    before += cg->grad[i] * cg->Pgrad[i];
    cg->Pgrad[i] = now;
    cg->grad[i] = n->grad[i];
  }
  tbReal beta = first ? 0 : tb_max(0, rise / tb_max(before, 1e-300));
  for (int i = 0; i < p->ndof; i++) {
    cg->step[i] = beta * cg->step[i] - cg->Pgrad[i];
    n->step[i] = cg->step[i];
  }
}

// Advance by t steps. Updated quantities accumulate rounding error, so they are recomputed every
// RECOMPUTE iterations.
static void advance(Newton* n, tbReal t, int iteration) {
  enum { RECOMPUTE = 4 };
  const tbSoftProblem* p = n->p;
  for (int i = 0; i < p->ndof; i++) n->a[p->dof[i]] += t * n->step[i];
  if (iteration % RECOMPUTE == 0) {
    refresh(n);
  } else {
    for (int i = 0; i < p->ndof; i++) n->Ma[i] += t * n->Mstep[i];
    for (int i = 0; i < p->nrow; i++) n->r[i] += t * n->Jstep[i];
  }
  block_costs(n, n->r);
  find_gradient(n);
}

// Whether Newton's step is at rounding level compared with the effect of the constraints, in the
// norm of M; `energy` is step . M step. Forces of rows with very small compliance reach rounding
// level long before the acceleration does.
static bool is_converged_step(const Newton* n, tbReal energy, tbReal* share) {
  const tbReal still = 1e-13;
  tbReal all = 0;
  for (int i = 0; i < n->p->ndof; i++) {
    int dof = n->p->dof[i];
    all += n->Ma[i] * (n->a[dof] - n->p->a_smooth[dof]);
  }
  if (!(energy <= still * still * all)) return false;
  *share = all > 0 ? sqrt(energy / all) : 0;
  return true;
}

// Whether the remaining gradient is the rounding error of forces that cancel (for example both
// limits of a tendon, within a margin wider than their range), or is too small to matter (a linkage
// at rest whose forces are all rounding error). MuJoCo stops at 1e-8 m/s^2. Called after a step
// that hardly reduced the gradient, so `step` is free.
static bool is_rounding(Newton* n, tbReal* share) {
  const int* column = n->column;
  tbReal largest = 0, most = 0;
  memset(n->step, 0, sizeof(tbReal) * (size_t)n->p->ndof);
  for (int b = 0; b < n->p->nblock; b++) {
    const tbSoftBlock* block = &n->p->block[b];
    const tbReal *J = block->J, *force = n->force + block->row;
    for (int r = 0; r < block->dim; r++, J += block->nnz) {
      for (int k = block->lead; k < block->nnz; k++) n->step[column[k]] += fabs(J[k] * force[r]);
    }
    column += block->nnz;
  }
  for (int i = 0; i < n->p->ndof; i++) {
    largest = tb_max(largest, fabs(n->grad[i]));
    most = tb_max(most, n->step[i]);
  }
  if (!(largest <= 1e-14 * most || largest * n->p->scale <= 1e-12)) return false;
  *share = tb_min(*share, most > 0 ? largest / most : 0);
  *share = tb_min(*share, largest * n->p->scale);
  return true;
}

tbResult tb_soft_newton(const tbSoftProblem* problem, tbReal tol, int max_iter, tbArena* arena,
                        tbReal* a, tbReal* force, tbSoftInfo* info) {
  Newton n = {.p = problem, .a = a, .force = force};
  memset(info, 0, sizeof *info);
  Conjugate cg = {0};
  if (!allocate(&n, arena)) return TB_ERROR_MEMORY;
  if (problem->conjugate && !allocate_conjugate(&cg, problem, arena)) return TB_ERROR_MEMORY;
  start(&n);
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
    mul_J(&n, n.Jstep, n.step);
    tbReal energy, t = line_search(&n, &energy);
    advance(&n, t, info->iterations);
    tbReal before = info->gradient;
    info->gradient = relative_gradient(&n);
    if (!(info->gradient < before) && info->gradient < 1e-11) break;
    bool stalls = !(info->gradient < 0.5 * before);
    info->still = !problem->conjugate && info->gradient > tol &&
                  (is_converged_step(&n, energy, &info->gradient) ||
                   (stalls && is_rounding(&n, &info->gradient)));
    if (info->still) break;
  }
  info->converged = info->still || info->gradient <= tb_max(tol, 1e-11);
  return TB_OK;
}
