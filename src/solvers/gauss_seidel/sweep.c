#include "solvers/gauss_seidel/sweep.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "linalg/simd4.h"

enum { MAX = TB_MAX_BLOCK_DIM };

bool tb_sweep_init(tbSweep* sweep, tbSolve* s) {
  const tbProblem* p = s->p;
  sweep->p = p;
  sweep->diagonal_start = TB_ARENA_NEW(s->arena, int, p->nblock + 1);
  sweep->slip = tb_solve_reals(s, (size_t)p->nblock);
  sweep->velocity = tb_solve_reals(s, p->G.form == TB_DELASSUS_PRODUCT ? (size_t)p->G.ncol : 0);
  if (s->arena->failed) return false;
  int size = 0;
  for (int i = 0; i < p->nblock; i++) {
    sweep->diagonal_start[i] = size;
    size += p->block[i].dim * p->block[i].dim;
  }
  sweep->diagonal = tb_solve_reals(s, (size_t)size);
  if (!sweep->diagonal) return false;
  for (int i = 0; i < p->nblock; i++) {
    tb_delassus_diagonal_block(p, i, sweep->diagonal + sweep->diagonal_start[i]);
  }
  return true;
}

void tb_sweep_set(tbSweep* sweep, const tbReal* lambda) {
  const tbDelassus* G = &sweep->p->G;
  if (G->form != TB_DELASSUS_PRODUCT) return;
  memset(sweep->velocity, 0, (size_t)G->ncol * sizeof *sweep->velocity);
  for (int r = 0; r < sweep->p->n; r++) {
    if (lambda[r] == 0) continue;
    for (int k = G->row_start[r]; k < G->row_start[r + 1]; k++) {
      sweep->velocity[G->row_column[k]] += G->row_value[k] * lambda[r];
    }
  }
}

static void velocity_dense(const tbProblem* p, const tbBlock* b, const tbReal* lambda,
                           tbReal* sigma) {
  for (int r = 0; r < b->dim; r++) {
    const tbReal* row = p->G.dense + (size_t)(b->row + r) * (size_t)p->G.stride;
    sigma[r] += tb_dot_sums(row, lambda, p->n);
  }
}

static void velocity_sparse(const tbProblem* p, int i, const tbReal* lambda, tbReal* sigma) {
  const tbDelassus* G = &p->G;
  int dim = p->block[i].dim;
  for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
    const tbBlock* bj = &p->block[G->block_column[k]];
    const tbReal *a = G->block_value + G->block_offset[k], *x = lambda + bj->row;
    if (dim == 3 && bj->dim == 3) {
      sigma[0] += a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
      sigma[1] += a[3] * x[0] + a[4] * x[1] + a[5] * x[2];
      sigma[2] += a[6] * x[0] + a[7] * x[1] + a[8] * x[2];
    } else {
      for (int r = 0; r < dim; r++) {
        for (int c = 0; c < bj->dim; c++) sigma[r] += a[r * bj->dim + c] * x[c];
      }
    }
  }
}

// sigma of block i.
static void velocity(const tbSweep* sweep, int i, const tbReal* lambda, tbReal* sigma) {
  const tbProblem* p = sweep->p;
  const tbBlock* b = &p->block[i];
  for (int r = 0; r < b->dim; r++) {
    sigma[r] = p->g[b->row + r] + (p->R ? p->R[b->row + r] * lambda[b->row + r] : 0);
  }
  switch (p->G.form) {
    case TB_DELASSUS_DENSE: velocity_dense(p, b, lambda, sigma); break;
    case TB_DELASSUS_SPARSE: velocity_sparse(p, i, lambda, sigma); break;
    default:
      for (int r = 0; r < b->dim; r++) {
        int row = b->row + r;
        for (int k = p->G.row_start[row]; k < p->G.row_start[row + 1]; k++) {
          sigma[r] += p->G.row_value[k] * sweep->velocity[p->G.row_column[k]];
        }
      }
  }
}

// Add the change delta of block i of lambda.
static void add_change(tbSweep* sweep, int i, const tbReal* delta) {
  const tbDelassus* G = &sweep->p->G;
  if (G->form != TB_DELASSUS_PRODUCT) return;
  const tbBlock* b = &sweep->p->block[i];
  for (int r = 0; r < b->dim; r++) {
    if (delta[r] == 0) continue;
    for (int k = G->row_start[b->row + r]; k < G->row_start[b->row + r + 1]; k++) {
      sweep->velocity[G->row_column[k]] += G->row_value[k] * delta[r];
    }
  }
}

tbReal tb_sweep(tbSweep* sweep, tbLaw law, tbReal relaxation, bool backward, tbReal* lambda,
                tbBlockUpdate update, void* context) {
  const tbProblem* p = sweep->p;
  tbReal change = 0;
  for (int order = 0; order < p->nblock; order++) {
    int i = backward ? p->nblock - 1 - order : order;
    const tbBlock* block = &p->block[i];
    const tbReal* A = sweep->diagonal + sweep->diagonal_start[i];
    int d = block->dim;
    tbReal b[MAX], old[MAX], delta[MAX], *x = lambda + block->row;

    // The block's velocity without its own impulse.
    velocity(sweep, i, lambda, b);
    for (int r = 0; r < d; r++) {
      for (int c = 0; c < d; c++) b[r] -= A[r * d + c] * x[c];
    }
    memcpy(old, x, (size_t)d * sizeof *x);
    update(context, block, A, b, x, &sweep->slip[i]);

    // Over-relaxation leaves the cone, so it is followed by a projection.
    if (relaxation != 1) {
      for (int r = 0; r < d; r++) x[r] = old[r] + relaxation * (x[r] - old[r]);
      tb_block_project(block, law, x, x);
    }
    for (int r = 0; r < d; r++) {
      delta[r] = x[r] - old[r];
      change = tb_max(change, fabs(delta[r]) * A[r * d + r]);
    }
    add_change(sweep, i, delta);
  }
  return change;
}

tbResult tb_sweep_solve(tbSolve* s, tbBlockUpdate update, void* context) {
  tbSweep sweep;
  if (!tb_sweep_init(&sweep, s)) return tb_solve_no_memory(s);
  tbReal scale = 0;
  for (int i = 0; i < s->p->n; i++) scale = tb_max(scale, fabs(s->p->g[i]));
  tb_sweep_set(&sweep, s->lambda);

  // The residual costs as much as a sweep: evaluate it if the change is small, and at intervals.
  int next_check = 1, last_gain = 0;
  tbReal mark = INFINITY;
  for (int k = 1; k <= s->settings->max_iter; k++) {
    tbReal change =
        tb_sweep(&sweep, s->law, s->settings->relaxation, false, s->lambda, update, context);
    s->info->iterations = k;
    if (k < next_check && k < s->settings->max_iter && !(change <= s->tolerance * scale) &&
        !s->settings->history) {
      continue;
    }
    if (tb_solve_check(s, s->lambda, k, s->settings->relaxation)) return TB_OK;
    if (!isfinite(change)) {
      s->info->status = TB_SOLVE_FAILED;
      return TB_OK;
    }
    // No impulse changes any more: only rounding error is left.
    if (change == 0) {
      s->info->status = TB_SOLVE_STALLED;
      return TB_OK;
    }
    // Many sweeps without gain: the method cycles or converges too slowly here and reports a stall.
    // RaiSim's law has no guarantee of convergence, so it must gain more; sweeps of the convex law
    // always descend, so they may converge slowly up to the iteration limit.
    bool unsure = s->law == TB_LAW_RAISIM, certain = s->law == TB_LAW_CCP;
    if (s->best_residual < (unsure ? 0.9 : 0.99) * mark) {
      mark = s->best_residual;
      last_gain = k;
    } else if (!certain && k - last_gain > (unsure ? 50 + k / 4 : 200 + k / 2)) {
      s->info->status = TB_SOLVE_STALLED;
      return TB_OK;
    }
    next_check = k + 1 + k / 8;
    tb_sweep_set(&sweep, s->lambda);
  }
  s->info->status = TB_SOLVE_MAX_ITERATIONS;
  return TB_OK;
}
