// MuJoCo's dual solvers of the soft model: projected Gauss-Seidel over the constraint forces, and
// the noslip pass that removes the regularisation of friction (MuJoCo, "Computation": PGS, noslip
// solver). The dual is
//
//     minimise  1/2 f^T (A + R) f + f^T b   over f in the product of the blocks' sets
//
// with A = J M^-1 J^T, R = 1/D and b = J a_smooth - aref.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/soft/soft.h"

static const tbReal SMALLEST = 1e-15;
enum { MOST_ROWS = 16 };

typedef struct {
  const tbSoftProblem* p;
  tbReal* A;  // nrow x nrow, without R
  tbReal *b, *force;
  tbReal* v;  // by dof: scratch
} Dual;

// ---- set-up ------------------------------------------------------------------------------------

// x += f J^T of one row, by dof.
static void add_row(const tbSoftBlock* block, int r, tbReal f, tbReal* x) {
  const tbReal* J = block->J + (size_t)r * (size_t)block->nnz;
  for (int k = 0; k < block->nnz; k++) x[block->col[k]] += f * J[k];
}

static tbReal row_times(const tbSoftBlock* block, int r, const tbReal* x) {
  const tbReal* J = block->J + (size_t)r * (size_t)block->nnz;
  tbReal sum = 0;
  for (int k = 0; k < block->nnz; k++) sum += J[k] * x[block->col[k]];
  return sum;
}

static void zero_dofs(const tbSoftProblem* p, tbReal* x) {
  for (int i = 0; i < p->ndof; i++) x[p->dof[i]] = 0;
}

static int build(Dual* d, const tbSoftProblem* p, tbArena* arena) {
  size_t n = (size_t)p->nrow;
  d->p = p;
  d->A = tb_arena_alloc(arena, sizeof(tbReal) * (n * n + 1));
  d->b = TB_ARENA_NEW(arena, tbReal, n);
  d->v = TB_ARENA_NEW(arena, tbReal, p->forest.n);
  if (!d->A || !d->b || !d->v) return 0;
  for (int i = 0; i < p->nblock; i++) {
    const tbSoftBlock* bi = &p->block[i];
    for (int r = 0; r < bi->dim; r++) {
      int row = bi->row + r;
      d->b[row] = row_times(bi, r, p->a_smooth) - p->aref[row];
      // A column: the response to a unit force.
      zero_dofs(p, d->v);
      add_row(bi, r, 1, d->v);
      tb_ltdl_solve(p->forest, p->LD, p->inverse, d->v);
      for (int j = 0; j < p->nblock; j++) {
        const tbSoftBlock* bj = &p->block[j];
        for (int s = 0; s < bj->dim; s++) {
          d->A[(size_t)(bj->row + s) * n + (size_t)row] = row_times(bj, s, d->v);
        }
      }
    }
  }
  return 1;
}

// Forces of the primal at acceleration a, or zero if their dual cost is not below that of zero
// forces.
static void warm_start(Dual* d, const tbReal* a) {
  const tbSoftProblem* p = d->p;
  for (int i = 0; i < p->nblock; i++) {
    const tbSoftBlock* block = &p->block[i];
    tbReal r[MOST_ROWS];
    for (int k = 0; k < block->dim; k++) {
      r[k] = row_times(block, k, a) - p->aref[block->row + k];
    }
    tb_soft_block(block, p->D + block->row, r, d->force + block->row, NULL);
  }
  tbReal cost = 0;
  size_t n = (size_t)p->nrow;
  for (size_t i = 0; i < n; i++) {
    tbReal sum = d->b[i] + 0.5 * d->force[i] / p->D[i];
    for (size_t j = 0; j < n; j++) sum += 0.5 * d->A[i * n + j] * d->force[j];
    cost += d->force[i] * sum;
  }
  if (!(cost < 0)) memset(d->force, 0, sizeof(tbReal) * n);
}

// ---- one block ---------------------------------------------------------------------------------

// out = b + (A [+ R]) f for `dim` rows.
static void residual(const Dual* d, int row, int dim, int with_R, tbReal* out) {
  size_t n = (size_t)d->p->nrow;
  for (int r = 0; r < dim; r++) {
    const tbReal* A = d->A + (size_t)(row + r) * n;
    out[r] = d->b[row + r];
    for (size_t j = 0; j < n; j++) out[r] += A[j] * d->force[j];
    if (with_R) out[r] += d->force[row + r] / d->p->D[row + r];
  }
}

static void block_of(const Dual* d, int row, int dim, int with_R, tbReal* A) {
  for (int r = 0; r < dim; r++) {
    for (int s = 0; s < dim; s++) {
      A[r * dim + s] = d->A[(size_t)(row + r) * (size_t)d->p->nrow + (size_t)(row + s)];
    }
    if (with_R) A[r * dim + r] += 1 / d->p->D[row + r];
  }
}

// Returns the change of the cost by the new forces; an increase beyond rounding is undone.
static tbReal cost_change(const tbReal* A, tbReal* force, const tbReal* old, const tbReal* res,
                          int dim) {
  tbReal change = 0, delta[MOST_ROWS];
  for (int r = 0; r < dim; r++) delta[r] = force[r] - old[r];
  for (int r = 0; r < dim; r++) {
    change += delta[r] * res[r];
    for (int s = 0; s < dim; s++) change += 0.5 * delta[r] * A[r * dim + s] * delta[s];
  }
  if (change > 1e-10) {
    memcpy(force, old, sizeof(tbReal) * (size_t)dim);
    return 0;
  }
  return change;
}

// x = -(A + la I)^-1 b by Cholesky in place; 0 if it is not positive definite. P receives the
// factor.
static int shifted_solve(int n, const tbReal* A, tbReal la, const tbReal* b, tbReal* P, tbReal* x) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) {
      tbReal sum = A[i * n + j] + (i == j ? la : 0);
      for (int k = 0; k < j; k++) sum -= P[i * n + k] * P[j * n + k];
      if (i == j && sum < 1e-10) return 0;
      P[i * n + j] = i == j ? sqrt(sum) : sum / P[j * n + j];
    }
  }
  for (int i = 0; i < n; i++) {
    x[i] = -b[i];
    for (int k = 0; k < i; k++) x[i] -= P[i * n + k] * x[k];
    x[i] /= P[i * n + i];
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) x[i] -= P[k * n + i] * x[k];
    x[i] /= P[i * n + i];
  }
  return 1;
}

// minimise 1/2 x^T A x + x^T b subject to sum (x_i / mu_i)^2 <= r^2: Newton on the multiplier.
static void friction_qcqp(int n, const tbReal* A, const tbReal* b, const tbReal* mu, tbReal r,
                          tbReal* x) {
  tbReal S[25], c[5], P[25], y[5] = {0}, la = 0;
  for (int i = 0; i < n; i++) {
    c[i] = b[i] * mu[i];
    for (int j = 0; j < n; j++) S[i * n + j] = A[i * n + j] * mu[i] * mu[j];
  }
  for (int iter = 0; iter < 20; iter++) {
    if (!shifted_solve(n, S, la, c, P, y)) {
      memset(x, 0, sizeof(tbReal) * (size_t)n);
      return;
    }
    tbReal value = -r * r, slope = 0, z[5];
    for (int i = 0; i < n; i++) value += y[i] * y[i];
    if (value < 1e-10) break;
    // d(y.y)/dla = -2 y.(S + la)^-1 y = -2 |L^-1 y|^2
    for (int i = 0; i < n; i++) {
      z[i] = y[i];
      for (int k = 0; k < i; k++) z[i] -= P[i * n + k] * z[k];
      z[i] /= P[i * n + i];
      slope -= 2 * z[i] * z[i];
    }
    tbReal delta = -value / slope;
    if (delta < 1e-10) break;
    la += delta;
  }
  tbReal length = 0;
  for (int i = 0; i < n; i++) length += y[i] * y[i];
  // If the constraint is active, scale to lie exactly on the boundary.
  tbReal scale = la > 0 ? r / sqrt(tb_max(SMALLEST, length)) : 1;
  for (int i = 0; i < n; i++) x[i] = y[i] * mu[i] * scale;
}

// Update the normal force, or scale all forces along the ray; then update friction with the normal
// force fixed.
static tbReal update_cone(Dual* d, const tbSoftBlock* block) {
  int dim = block->dim, row = block->row;
  tbReal res[6] = {0}, A[36] = {0}, old[6], Ac[25], bc[5], *f = d->force + row;
  residual(d, row, dim, 1, res);
  block_of(d, row, dim, 1, A);
  memcpy(old, f, sizeof(tbReal) * (size_t)dim);
  if (f[0] < SMALLEST) {
    f[0] = tb_max(0, f[0] - res[0] / A[0]);
    for (int i = 1; i < dim; i++) f[i] = 0;
  } else {
    tbReal curvature = 0, slope = 0;
    for (int i = 0; i < dim; i++) {
      slope += old[i] * res[i];
      for (int j = 0; j < dim; j++) curvature += old[i] * A[i * dim + j] * old[j];
    }
    if (curvature >= SMALLEST) {
      tbReal x = tb_max(-1, -slope / curvature);
      for (int i = 0; i < dim; i++) f[i] += x * old[i];
    }
  }
  if (f[0] < SMALLEST) {
    for (int i = 1; i < dim; i++) f[i] = 0;
  } else {
    int n = dim - 1;
    for (int i = 0; i < n; i++) {
      bc[i] = res[i + 1] + A[(i + 1) * dim] * (f[0] - old[0]);
      for (int j = 0; j < n; j++) {
        Ac[i * n + j] = A[(i + 1) * dim + j + 1];
        bc[i] -= Ac[i * n + j] * old[j + 1];
      }
    }
    friction_qcqp(n, Ac, bc, block->friction, f[0], f + 1);
  }
  return cost_change(A, f, old, res, dim);
}

static tbReal update_row(Dual* d, const tbSoftBlock* block, int r) {
  int row = block->row + r;
  tbReal res = 0, A = 0, old = d->force[row], *f = &d->force[row];
  residual(d, row, 1, 1, &res);
  block_of(d, row, 1, 1, &A);
  *f -= res / A;
  if (block->kind == TB_SOFT_FRICTION) *f = tb_max(-block->bound, tb_min(block->bound, *f));
  if (block->kind == TB_SOFT_ONE_SIDED) *f = tb_max(0, *f);
  return cost_change(&A, f, &old, &res, 1);
}

// ---- the two solvers ---------------------------------------------------------------------------

// a = a_smooth + M^-1 J^T f
static void finish(const Dual* d, tbReal* a) {
  const tbSoftProblem* p = d->p;
  zero_dofs(p, d->v);
  for (int i = 0; i < p->nblock; i++) {
    for (int r = 0; r < p->block[i].dim; r++) {
      add_row(&p->block[i], r, d->force[p->block[i].row + r], d->v);
    }
  }
  tb_ltdl_solve(p->forest, p->LD, p->inverse, d->v);
  for (int i = 0; i < p->ndof; i++) a[p->dof[i]] = p->a_smooth[p->dof[i]] + d->v[p->dof[i]];
}

tbResult tb_soft_pgs(const tbSoftProblem* problem, tbReal tol, int max_iter, tbArena* arena,
                     tbReal* a, tbReal* force, tbSoftInfo* info) {
  Dual d = {.force = force};
  memset(info, 0, sizeof *info);
  if (!build(&d, problem, arena)) return TB_ERROR_MEMORY;
  memset(force, 0, sizeof(tbReal) * (size_t)problem->nrow);
  if (!problem->cold) warm_start(&d, a);
  while (info->iterations < max_iter && !info->converged) {
    tbReal change = 0;
    for (int i = 0; i < problem->nblock; i++) {
      const tbSoftBlock* block = &problem->block[problem->order[i]];
      if (block->kind == TB_SOFT_CONE) {
        change += update_cone(&d, block);
        continue;
      }
      for (int r = 0; r < block->dim; r++) change += update_row(&d, block, r);
    }
    info->iterations++;
    info->gradient = fabs(change) * problem->scale;
    info->converged = info->gradient < tol;
  }
  finish(&d, a);
  return TB_OK;
}

// Update two opposing edges of a pyramid with a fixed sum: f = mid +- y.
static tbReal slip_pair(Dual* d, int row) {
  tbReal res[2] = {0}, A[4] = {0}, old[2], b[2], *f = d->force + row;
  residual(d, row, 2, 0, res);
  block_of(d, row, 2, 0, A);
  memcpy(old, f, sizeof old);
  for (int i = 0; i < 2; i++) b[i] = res[i] - A[2 * i] * old[0] - A[2 * i + 1] * old[1];
  tbReal mid = 0.5 * (f[0] + f[1]), K1 = A[0] + A[3] - A[1] - A[2];
  tbReal K0 = mid * (A[0] - A[3]) + b[0] - b[1];
  tbReal y = K1 < SMALLEST ? 0 : tb_max(-mid, tb_min(mid, -K0 / K1));
  f[0] = mid + y;
  f[1] = mid - y;
  return cost_change(A, f, old, res, 2);
}

static tbReal slip_cone(Dual* d, const tbSoftBlock* block) {
  int n = block->dim - 1, row = block->row + 1;
  tbReal res[5] = {0}, A[25] = {0}, old[5], b[5], *f = d->force + row;
  residual(d, row, n, 0, res);
  block_of(d, row, n, 0, A);
  memcpy(old, f, sizeof(tbReal) * (size_t)n);
  if (f[-1] < SMALLEST) {
    memset(f, 0, sizeof(tbReal) * (size_t)n);
  } else {
    for (int i = 0; i < n; i++) {
      b[i] = res[i];
      for (int j = 0; j < n; j++) b[i] -= A[i * n + j] * old[j];
    }
    friction_qcqp(n, A, b, block->friction, f[-1], f);
  }
  return cost_change(A, f, old, res, n);
}

static tbReal slip_row(Dual* d, const tbSoftBlock* block) {
  tbReal res = 0, A = 0, old = d->force[block->row], *f = &d->force[block->row];
  residual(d, block->row, 1, 0, &res);
  block_of(d, block->row, 1, 0, &A);
  *f = tb_max(-block->bound, tb_min(block->bound, *f - res / A));
  return cost_change(&A, f, &old, &res, 1);
}

tbResult tb_soft_noslip(const tbSoftProblem* problem, tbReal tol, int max_iter, tbArena* arena,
                        tbReal* a, tbReal* force) {
  Dual d = {.force = force};
  if (!build(&d, problem, arena)) return TB_ERROR_MEMORY;
  for (int iter = 0; iter < max_iter; iter++) {
    tbReal improvement = 0;
    for (int i = 0; iter == 0 && i < problem->nrow; i++) {
      improvement += 0.5 * force[i] * force[i] / problem->D[i];
    }
    for (int i = 0; i < problem->nblock; i++) {
      const tbSoftBlock* block = &problem->block[problem->order[i]];
      if (block->kind == TB_SOFT_FRICTION) improvement -= slip_row(&d, block);
      if (block->kind == TB_SOFT_CONE) improvement -= slip_cone(&d, block);
      for (int r = 0; block->pyramid && r < block->dim; r += 2) {
        improvement -= slip_pair(&d, block->row + r);
      }
    }
    if (improvement * problem->scale < tol) break;
  }
  finish(&d, a);
  return TB_OK;
}
