// Staggered projections (CM Alg. 7, after Kaufman et al. 2008): two convex problems in turn,
//
//   lambda_N = argmin_{>= 0}           lambda^T G_NN lambda / 2 + (g_N + G_NT lambda_T)^T lambda
//   lambda_T = argmin_{|x| <= lambda_N} lambda^T G_TT lambda / 2 + (g_T + G_TN lambda_N)^T lambda
//
// (the paper prints g_T for g_N in the first line's free velocity). Equality, one-sided and box
// rows belong to the first problem. Both are solved by ADMM with their own dense factors,
// warm-started from the last iteration. Friction is written in x_i = lambda_Ti / mu_i, where its
// bound is a disc of radius lambda_N (or a square, for the pyramid).
#include "solvers/staggered/staggered.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "linalg/dense.h"
#include "solvers/admm/anderson.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// Each convex problem takes at most INNER iterations of ADMM. Its accuracy is FIRST_ACCURACY at
// first, then ACCURACY times the residual, but no less than LAST_ACCURACY times the tolerance.
enum { INNER = 2000 };
static const tbReal FIRST_ACCURACY = 1e-3, ACCURACY = 0.02, LAST_ACCURACY = 0.01;
// ADMM's penalty: first value and range. If the ratio of primal and dual error exceeds RHO_APART,
// the penalty follows that ratio, by a factor of at most RHO_MOST_CHANGE, and not sooner than
// RHO_WAIT iterations after its last change.
static const tbReal FIRST_RHO = 0.1, LEAST_RHO = 1e-10, MOST_RHO = 1e8;
enum { RHO_WAIT = 20 };
static const tbReal RHO_APART = 10, RHO_MOST_CHANGE = 100;
// The solver stalls after MOST_STUCK iterations without a residual below PROGRESS times the
// smallest so far.
enum { MOST_STUCK = 200 };
static const tbReal PROGRESS = 0.99;
// A positive number that avoids division by zero.
static const tbReal TINY = 1e-300;

// One of the two problems: min x^T A x / 2 + b^T x over a product of simple sets.
typedef struct {
  int n;
  int* row;                 // rows of lambda
  tbReal *A, *M, *scratch;  // matrix; factor of A + rho
  tbReal *b, *x, *y, *z, *rhs;
  tbReal rho;
} Qp;

typedef struct {
  tbSolve* s;
  const tbProblem* p;
  bool pyramid;
  Qp normal, tangent;
  tbReal* scale;    // lambda = scale x; friction rows include mu
  int* contact_of;  // block of each row
  tbReal* G;        // scaled G + R, n x n
  tbReal* point;    // friction at the start of an iteration, as in tangent.y
  tbAnderson anderson;
} Staggered;

static bool qp_init(Qp* q, tbSolve* s, int n) {
  size_t m = (size_t)n;
  q->n = n;
  q->row = TB_ARENA_NEW(s->arena, int, m);
  q->A = tb_solve_reals(s, m * m);
  q->M = tb_solve_reals(s, m * m);
  q->scratch = tb_solve_reals(s, (size_t)tb_cholesky_scratch(n));
  tbReal** vectors[] = {&q->b, &q->x, &q->y, &q->z, &q->rhs};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
    *vectors[k] = tb_solve_reals(s, m);
  return !s->arena->failed;
}

static bool qp_factor(Qp* q, tbSolve* s, tbReal rho) {
  size_t m = (size_t)q->n;
  q->rho = rho;
  memcpy(q->M, q->A, m * m * sizeof *q->M);
  for (size_t i = 0; i < m; i++) q->M[i * (m + 1)] += rho;
  s->info->factorizations++;
  return tb_cholesky(q->n, q->M, q->n, q->scratch);
}

// Project the rows of one problem on their sets; the radius of friction is y of the normal problem.
static void project(const Staggered* q, const Qp* qp, const tbReal* normal, const tbReal* in,
                    tbReal* out) {
  for (int k = 0; k < qp->n;) {
    const tbBlock* b = &q->p->block[q->contact_of[qp->row[k]]];
    if (qp == &q->tangent) {
      int m = b->dim - 1;
      tbReal radius = tb_max(normal[b->row], 0), length = 0;
      for (int j = 0; j < m; j++) length = tb_hypot(length, in[k + j]);
      for (int j = 0; j < m; j++) {
        if (q->pyramid) {
          out[k + j] = tb_max(-radius, tb_min(radius, in[k + j]));
        } else {
          out[k + j] = length > radius ? in[k + j] * (radius / length) : in[k + j];
        }
      }
      k += m;
      continue;
    }
    tbReal low = -INFINITY, high = INFINITY;
    if (b->type == TB_BLOCK_CONE || b->type == TB_BLOCK_ONE_SIDED) low = 0;
    if (b->type == TB_BLOCK_BOX) {
      low = b->lower / q->scale[qp->row[k]];
      high = b->upper / q->scale[qp->row[k]];
    }
    out[k] = tb_max(low, tb_min(high, in[k]));
    k++;
  }
}

// ADMM until primal and dual residuals fall below accuracy times their scales.
static bool qp_solve(Staggered* q, Qp* qp, const tbReal* normal, tbReal accuracy, int budget) {
  tbReal size = 0;
  for (int i = 0; i < qp->n; i++) size = tb_max(size, fabs(qp->b[i]));
  int last = 0;
  for (int k = 1; k <= budget; k++) {
    for (int i = 0; i < qp->n; i++) qp->x[i] = qp->rho * qp->y[i] + qp->z[i] - qp->b[i];
    tb_cholesky_solve(qp->n, qp->M, qp->n, qp->x);
    memcpy(qp->rhs, qp->y, (size_t)qp->n * sizeof *qp->y);
    for (int i = 0; i < qp->n; i++) qp->y[i] = qp->x[i] - qp->z[i] / qp->rho;
    project(q, qp, normal, qp->y, qp->y);
    tbReal primal = 0, dual = 0, impulse = 0;
    for (int i = 0; i < qp->n; i++) {
      qp->z[i] -= qp->rho * (qp->x[i] - qp->y[i]);
      primal = tb_max(primal, fabs(qp->x[i] - qp->y[i]));
      dual = tb_max(dual, qp->rho * fabs(qp->y[i] - qp->rhs[i]));
      impulse = tb_max(impulse, fabs(qp->y[i]));
    }
    if (primal <= accuracy * impulse && dual <= accuracy * size) return true;
    if (!isfinite(primal) || !isfinite(dual)) return false;
    tbReal ratio = (primal / tb_max(impulse, TINY)) / tb_max(dual / tb_max(size, TINY), TINY);
    if (k - last >= RHO_WAIT && (ratio > RHO_APART || ratio < 1 / RHO_APART)) {
      last = k;
      tbReal factor = tb_min(RHO_MOST_CHANGE, tb_max(1 / RHO_MOST_CHANGE, sqrt(ratio)));
      tbReal rho = tb_min(MOST_RHO, tb_max(LEAST_RHO, qp->rho * factor));
      if (!qp_factor(qp, q->s, rho)) return false;
    }
  }
  return true;
}

static bool init(Staggered* q) {
  const tbProblem* p = q->p;
  size_t n = (size_t)p->n;
  q->scale = tb_solve_reals(q->s, n);
  q->contact_of = TB_ARENA_NEW(q->s->arena, int, n);
  q->G = tb_solve_reals(q->s, n * n);
  if (q->s->arena->failed) return false;
  int tangents = 0;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    bool cone = b->type == TB_BLOCK_CONE;
    tbReal A[MAX * MAX];
    tb_delassus_diagonal_block(p, i, A);
    for (int r = 0; r < b->dim; r++) {
      tbReal d = cone ? A[0] : A[r * (b->dim + 1)], unit = d > 0 ? 1 / sqrt(d) : 1;
      q->scale[b->row + r] = cone && r > 0 ? unit * b->mu[r - 1] : unit;
      q->contact_of[b->row + r] = i;
    }
    tangents += cone ? b->dim - 1 : 0;
  }
  if (!qp_init(&q->tangent, q->s, tangents) || !qp_init(&q->normal, q->s, p->n - tangents)) {
    return false;
  }
  int at[2] = {0, 0};
  for (int r = 0; r < p->n; r++) {
    const tbBlock* b = &p->block[q->contact_of[r]];
    bool tangent = b->type == TB_BLOCK_CONE && r > b->row;
    (tangent ? &q->tangent : &q->normal)->row[at[tangent]++] = r;
  }
  tb_delassus_dense(p, q->G);
  for (size_t i = 0; i < n; i++) {
    if (p->R) q->G[i * (n + 1)] += p->R[i];
    for (size_t j = 0; j < n; j++) q->G[i * n + j] *= q->scale[i] * q->scale[j];
  }
  Qp* parts[2] = {&q->normal, &q->tangent};
  for (int k = 0; k < 2; k++) {
    size_t m = (size_t)parts[k]->n;
    for (size_t i = 0; i < m; i++) {
      for (size_t j = 0; j < m; j++) {
        parts[k]->A[i * m + j] = q->G[(size_t)parts[k]->row[i] * n + (size_t)parts[k]->row[j]];
      }
    }
    for (int i = 0; i < parts[k]->n; i++) {
      int r = parts[k]->row[i];
      tbReal s = q->scale[r];
      parts[k]->y[i] = s > 0 ? q->s->lambda[r] / s : 0;
    }
    if (!qp_factor(parts[k], q->s, FIRST_RHO)) return false;
  }
  return true;
}

// The free velocity of one problem, with the other's impulses.
static void free_velocity(const Staggered* q, Qp* to, const Qp* from) {
  size_t n = (size_t)q->p->n;
  for (int i = 0; i < to->n; i++) {
    const tbReal* row = q->G + (size_t)to->row[i] * n;
    tbReal sum = q->scale[to->row[i]] * q->p->g[to->row[i]];
    for (int j = 0; j < from->n; j++) sum += row[from->row[j]] * from->y[j];
    to->b[i] = sum;
  }
}

// An iteration maps friction to friction; if the two problems are strongly coupled (a light body
// between heavy ones) that map hardly contracts, along few directions. Anderson acceleration
// extrapolates along those directions.
static bool accelerate(Staggered* q) {
  q->point = tb_solve_reals(q->s, (size_t)q->tangent.n);
  bool ok = tb_anderson_init(&q->anderson, q->s, q->tangent.n, TB_ANDERSON_MAX);
  q->anderson.ridge = 1e-14;
  q->anderson.reach = 1e8;
  tb_anderson_reset(&q->anderson);
  return ok;
}

tbResult tb_staggered(tbSolve* s, bool pyramid) {
  Staggered q = {.s = s, .p = s->p, .pyramid = pyramid};
  tbReal* radius = tb_solve_reals(s, (size_t)s->p->n);
  if (!radius || !init(&q) || !accelerate(&q)) {
    if (s->arena->failed) return tb_solve_no_memory(s);
    s->info->status = TB_SOLVE_FAILED;  // numbers too extreme for a factorisation
    return TB_OK;
  }
  tbReal accuracy = FIRST_ACCURACY, smallest = INFINITY;
  int stuck = 0;
  size_t friction = (size_t)q.tangent.n * sizeof *q.point;
  for (int k = 1; k <= s->settings->max_iter; k++) {
    memcpy(q.point, q.tangent.y, friction);
    free_velocity(&q, &q.normal, &q.tangent);
    bool fine = qp_solve(&q, &q.normal, NULL, accuracy, INNER);
    for (int i = 0; i < q.normal.n; i++) {
      radius[q.normal.row[i]] = q.normal.y[i];
      s->lambda[q.normal.row[i]] = q.scale[q.normal.row[i]] * q.normal.y[i];
    }
    free_velocity(&q, &q.tangent, &q.normal);
    fine = fine && qp_solve(&q, &q.tangent, radius, accuracy, INNER);
    for (int i = 0; i < q.tangent.n; i++) {
      s->lambda[q.tangent.row[i]] = q.scale[q.tangent.row[i]] * q.tangent.y[i];
    }
    if (!fine) {
      s->info->status = TB_SOLVE_FAILED;
      return TB_OK;
    }
    if (tb_solve_check(s, s->lambda, k, accuracy)) return TB_OK;

    // Inner accuracy follows the outer progress; without progress at the finest accuracy the solver
    // stalls.
    tbReal measure = tb_solve_measure(s, &s->last);
    accuracy = tb_max(LAST_ACCURACY * s->tolerance, tb_min(accuracy, ACCURACY * measure));
    stuck = measure < PROGRESS * smallest ? 0 : stuck + 1;
    smallest = tb_min(smallest, measure);
    if (stuck >= MOST_STUCK) {
      s->info->status = TB_SOLVE_STALLED;
      return TB_OK;
    }
    tb_anderson_step(&q.anderson, q.point, q.tangent.y);
    memcpy(q.tangent.y, q.point, friction);
  }
  s->info->status = TB_SOLVE_MAX_ITERATIONS;
  return TB_OK;
}
