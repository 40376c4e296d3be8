// ccp/newton: Newton on the primal convex problem (CM Alg. 4, as in MuJoCo and Drake), in whitened
// velocities w with G = B B^T:
//
//   min_w l(w) = |w|^2 / 2 + sum_blocks phi(B w + g),   grad = w - B^T P_K^R(y),  y = -R^-1 (B w +
//   g) Hessian  = I + B^T R^-1/2 P' R^-1/2 B                                                (1)
//
// phi is the conjugate whose gradient is -P, the projection on the block's set in the metric R; P'
// is its exact derivative. The line search is exact: the derivative along the step is monotone, and
// its root is found by a safeguarded secant; an Armijo test comes first and usually accepts the
// step.
//
// The paper's method needs R > 0. Rigid rows get R' = eps diag(G) inside a proximal loop,
// lambda_k+1 = solution with g - R' lambda_k instead of g, whose fixed point is the rigid solution.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "problem/cone_derivative.h"
#include "linalg/dense.h"
#include "linalg/gemm.h"
#include "solvers/solver.h"

enum { MAX = TB_MAX_BLOCK_DIM, CHUNK = 64 };

// A pivot of G below this share of the largest counts as rounding error.
static const tbReal NO_PIVOT = 1e-15;

// Line search: Armijo's and Wolfe's constants for a full step; a slope below FLAT times the descent
// counts as zero.
static const tbReal ARMIJO = 1e-4, WOLFE = 0.1, FLAT = 1e-3;

// Gradients over the largest velocity: one below ZERO_GRADIENT counts as zero; one below
// SMALL_GRADIENT counts as final if it has not halved for NOT_HALVED iterations.
static const tbReal ZERO_GRADIENT = 1e-12, SMALL_GRADIENT = 1e-6;
enum { NOT_HALVED = 3, STUCK = 20 };

// The proximal term of rigid rows over the diagonal of G, from FIRST_PROXIMAL down to
// LAST_PROXIMAL: it falls tenfold after a proximal step that leaves more than SLOW times the
// residual.
static const tbReal FIRST_PROXIMAL = 1e-5, LAST_PROXIMAL = 1e-9, SLOW = 0.3;

typedef struct {
  tbSolve* s;
  const tbProblem* p;
  int rank;
  tbReal *B, *Bt;         // n x rank and its transpose
  tbReal* size;           // mean diagonal of the block of each row
  tbReal *R, *extra, *g;  // metric; its proximal part; free velocity of the proximal step
  tbReal *w, *dw, *grad;  // rank
  tbReal *c, *dc, *lambda, *trial;
  tbReal *KB, *H, *scratch;
  bool proximal;
} Newton;

// B from the product form, or by pivoted Cholesky.
static bool factor_G(Newton* q) {
  const tbProblem* p = q->p;
  size_t n = (size_t)p->n;
  if (p->G.form == TB_DELASSUS_PRODUCT) {
    q->rank = p->G.ncol;
    q->B = tb_solve_reals(q->s, n * (size_t)q->rank);
    if (!q->B) return false;
    for (int r = 0; r < p->n; r++) {
      for (int k = p->G.row_start[r]; k < p->G.row_start[r + 1]; k++) {
        q->B[(size_t)r * (size_t)q->rank + (size_t)p->G.row_column[k]] = p->G.row_value[k];
      }
    }
  } else {
    tbReal *G = tb_solve_reals(q->s, n * n), *B = tb_solve_reals(q->s, n * n);
    tbReal* work = tb_solve_reals(q->s, 2 * n);
    int* perm = TB_ARENA_NEW(q->s->arena, int, n);
    if (q->s->arena->failed) return false;
    tb_delassus_dense(p, G);
    q->rank = tb_cholesky_pivoted(p->n, G, p->n, NO_PIVOT, B, p->n, work, perm);
    for (size_t i = 1; i < n; i++) {
      memmove(B + i * (size_t)q->rank, B + i * n, (size_t)q->rank * sizeof *B);
    }
    q->B = B;
  }
  size_t size = (size_t)q->rank;
  q->Bt = tb_solve_reals(q->s, n * size);
  q->KB = tb_solve_reals(q->s, n * size);
  q->H = tb_solve_reals(q->s, size * size);
  q->scratch = tb_solve_reals(q->s, (size_t)tb_cholesky_scratch(q->rank));
  if (q->s->arena->failed) return false;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < size; k++) q->Bt[k * n + i] = q->B[i * size + k];
  }
  return true;
}

static void product(const Newton* q, const tbReal* w, tbReal* y) {
  for (int i = 0; i < q->p->n; i++) {
    const tbReal* row = q->B + (size_t)i * (size_t)q->rank;
    tbReal sum = 0;
    for (int k = 0; k < q->rank; k++) sum += row[k] * w[k];
    y[i] = sum;
  }
}

static void transposed_product(const Newton* q, const tbReal* x, tbReal* w) {
  memset(w, 0, (size_t)q->rank * sizeof *w);
  for (int i = 0; i < q->p->n; i++) {
    const tbReal* row = q->B + (size_t)i * (size_t)q->rank;
    for (int k = 0; k < q->rank; k++) w[k] += row[k] * x[i];
  }
}

// lambda = P_K^R(-R^-1 c) block by block; optionally the matrix R^-1/2 P' R^-1/2.
static void block_impulse(const Newton* q, const tbBlock* b, const tbReal* c, tbReal* lambda,
                          tbReal* K) {
  const tbReal* R = q->R + b->row;
  int d = b->dim;
  tbReal y[MAX] = {0}, scaled[MAX] = {0}, mu[MAX] = {0};
  for (int r = 0; r < d; r++) y[r] = -c[r] / R[r];
  if (b->type == TB_BLOCK_CONE) {
    tb_cone_project_metric(d, b->mu, R, y, lambda);
  } else {
    tb_block_project(b, TB_LAW_CCP, y, lambda);
  }
  if (!K) return;
  memset(K, 0, (size_t)(d * d) * sizeof *K);
  if (b->type == TB_BLOCK_CONE) {
    for (int r = 0; r < d; r++) scaled[r] = sqrt(R[r]) * y[r];
    for (int r = 1; r < d; r++) mu[r - 1] = b->mu[r - 1] * sqrt(R[r] / R[0]);
    tb_cone_project_derivative(d, mu, scaled, K);
    for (int r = 0; r < d; r++) {
      for (int k = 0; k < d; k++) K[r * d + k] /= sqrt(R[r] * R[k]);
    }
  } else {
    for (int r = 0; r < d; r++) K[r * (d + 1)] = lambda[r] == y[r] ? 1 / R[r] : 0;
  }
}

static void impulses(const Newton* q, const tbReal* c, tbReal* lambda) {
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    block_impulse(q, b, c + b->row, lambda + b->row, NULL);
  }
}

// l(w) at c = B w + g: |w|^2 / 2 plus the conjugate of each set, -<c, P> - <P, R P> / 2.
static tbReal cost(const Newton* q, tbReal w2, const tbReal* c, const tbReal* lambda) {
  tbReal sum = 0.5 * w2;
  for (int i = 0; i < q->p->n; i++) sum -= lambda[i] * (c[i] + 0.5 * q->R[i] * lambda[i]);
  return sum;
}

// The Hessian (1), factored.
static bool hessian(Newton* q) {
  size_t size = (size_t)q->rank;
  tbReal K[MAX * MAX], ignored[MAX];
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    block_impulse(q, b, q->c + b->row, ignored, K);
    for (int r = 0; r < b->dim; r++) {
      tbReal* out = q->KB + (size_t)(b->row + r) * size;
      memset(out, 0, size * sizeof *out);
      for (int k = 0; k < b->dim; k++) {
        tbReal f = K[r * b->dim + k];
        const tbReal* in = q->B + (size_t)(b->row + k) * size;
        if (f == 0) continue;
        for (size_t j = 0; j < size; j++) out[j] += f * in[j];
      }
    }
  }
  memset(q->H, 0, size * size * sizeof *q->H);
  for (size_t k = 0; k < size; k++) q->H[k * (size + 1)] = 1;
  for (int k = 0; k < q->p->n; k += CHUNK) {
    int width = q->p->n - k < CHUNK ? q->p->n - k : CHUNK;
    tb_gemm_add(q->rank, q->rank, width, q->Bt + k, q->p->n, q->KB + (size_t)k * size, q->rank,
                q->H, q->rank);
  }
  q->s->info->factorizations++;
  return tb_cholesky(q->rank, q->H, q->rank, q->scratch);
}

// Derivative of l along dw at step t; lambda of that point is left in q->trial.
static tbReal slope(const Newton* q, tbReal t, tbReal* c) {
  tbReal sum = 0;
  for (int i = 0; i < q->p->n; i++) c[i] = q->c[i] + t * q->dc[i];
  impulses(q, c, q->trial);
  for (int k = 0; k < q->rank; k++) sum += (q->w[k] + t * q->dw[k]) * q->dw[k];
  for (int i = 0; i < q->p->n; i++) sum -= q->trial[i] * q->dc[i];
  return sum;
}

// Step length: 1 if it passes Armijo's test, else the root of the monotone slope.
static tbReal line_search(const Newton* q, tbReal descent, tbReal* c) {
  tbReal w2 = 0, next2 = 0;
  for (int k = 0; k < q->rank; k++) {
    w2 += q->w[k] * q->w[k];
    next2 += (q->w[k] + q->dw[k]) * (q->w[k] + q->dw[k]);
  }
  tbReal before = cost(q, w2, q->c, q->lambda), at_one = slope(q, 1, c);
  tbReal after = cost(q, next2, c, q->trial);
  if (after <= before + ARMIJO * descent && at_one <= -WOLFE * descent) return 1;
  tbReal low = 0, high = 1, f_low = descent, f_high = at_one;
  for (int k = 0; k < 30 && f_high < 0; k++) {
    low = high;
    f_low = f_high;
    high *= 2;
    f_high = slope(q, high, c);
  }
  tbReal t = high;
  for (int k = 0; k < 60 && f_high > 0; k++) {
    t = k % 3 == 2 ? 0.5 * (low + high) : low - f_low * (high - low) / (f_high - f_low);
    if (!(t > low && t < high)) t = 0.5 * (low + high);
    tbReal f = slope(q, t, c);
    if (fabs(f) <= FLAT * fabs(descent)) break;
    if (f < 0) {
      low = t;
      f_low = f;
    } else {
      high = t;
      f_high = f;
    }
  }
  return t;
}

// Minimise l for the current g. Returns the iterations used.
static int minimise(Newton* q, int budget, tbReal accuracy, tbReal* c) {
  int late = 0;
  tbReal smallest = INFINITY;
  for (int k = 1; k <= budget; k++) {
    product(q, q->w, q->c);
    for (int i = 0; i < q->p->n; i++) q->c[i] += q->g[i];
    impulses(q, q->c, q->lambda);
    transposed_product(q, q->lambda, q->grad);
    tbReal norm = 0, size = 0, descent = 0;
    for (int i = 0; i < q->rank; i++) {
      size = tb_max(size, fabs(q->w[i]));
      q->grad[i] = q->w[i] - q->grad[i];
      norm = tb_max(norm, fabs(q->grad[i]));
      q->dw[i] = -q->grad[i];
    }
    // At rounding level, or no longer falling.
    late = norm < 0.5 * smallest ? 0 : late + 1;
    smallest = tb_min(smallest, norm);
    if (norm <= accuracy * size || norm == 0 ||
        (late > NOT_HALVED && norm <= SMALL_GRADIENT * size))
      return k;
    if (!hessian(q)) return k;
    tb_cholesky_solve(q->rank, q->H, q->rank, q->dw);
    for (int i = 0; i < q->rank; i++) descent += q->grad[i] * q->dw[i];
    if (!(descent < 0)) return k;
    product(q, q->dw, q->dc);
    tbReal t = line_search(q, descent, c);
    for (int i = 0; i < q->rank; i++) q->w[i] += t * q->dw[i];
  }
  return budget;
}

static bool init(Newton* q, tbSolve* s) {
  size_t n = (size_t)s->p->n;
  tbReal** vectors[] = {&q->size, &q->R, &q->extra, &q->g, &q->c, &q->dc, &q->lambda, &q->trial};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
    *vectors[k] = tb_solve_reals(s, n);
  if (s->arena->failed || !factor_G(q)) return false;
  q->w = tb_solve_reals(s, (size_t)q->rank);
  q->dw = tb_solve_reals(s, (size_t)q->rank);
  q->grad = tb_solve_reals(s, (size_t)q->rank);
  if (s->arena->failed) return false;
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    tbReal A[MAX * MAX], mean = 0;
    tb_delassus_diagonal_block(s->p, i, A);
    for (int r = 0; r < b->dim; r++) mean += A[r * (b->dim + 1)] / b->dim;
    for (int r = 0; r < b->dim; r++) q->size[b->row + r] = mean > 0 ? mean : 1;
  }
  return true;
}

// Rigid rows get a compliance of eps times the block's size; one value per block keeps the metric
// round.
static void set_metric(Newton* q, tbReal eps) {
  q->proximal = false;
  for (int i = 0; i < q->p->n; i++) {
    tbReal own = q->p->R ? q->p->R[i] : 0, floor = eps * q->size[i];
    q->extra[i] = own >= floor ? 0 : floor - own;
    q->R[i] = own + q->extra[i];
    q->proximal = q->proximal || q->extra[i] > 0;
  }
}

tbResult tb_solve_ccp_newton(tbSolve* s) {
  Newton q = {.s = s, .p = s->p};
  tbReal* c = tb_solve_reals(s, (size_t)s->p->n);
  if (!c || !init(&q, s)) return tb_solve_no_memory(s);
  int used = 0, stuck = 0;
  tbReal smallest = INFINITY, last = INFINITY, eps = FIRST_PROXIMAL;
  transposed_product(&q, s->lambda, q.w);
  memcpy(q.lambda, s->lambda, (size_t)s->p->n * sizeof *q.lambda);
  while (used < s->settings->max_iter) {
    set_metric(&q, eps);
    for (int i = 0; i < s->p->n; i++) q.g[i] = s->p->g[i] - q.extra[i] * q.lambda[i];
    used += minimise(&q, s->settings->max_iter - used, ZERO_GRADIENT, c);
    memcpy(s->lambda, q.lambda, (size_t)s->p->n * sizeof *q.lambda);
    if (tb_solve_check(s, s->lambda, used, q.proximal)) return TB_OK;
    // Without a proximal term a single minimisation solves the problem.
    tbReal measure = tb_solve_measure(s, &s->last);
    stuck = measure < 0.9 * smallest ? 0 : stuck + 1;
    smallest = tb_min(smallest, measure);
    // Slow convergence: the proximal term is too large for this spectrum.
    if (measure > SLOW * last && eps > LAST_PROXIMAL) eps *= 0.1;
    last = measure;
    if (!q.proximal || stuck >= STUCK) {
      s->info->status = tb_solve_gave_up(s);
      return TB_OK;
    }
  }
  s->info->status = TB_SOLVE_MAX_ITERATIONS;
  return TB_OK;
}
