// ncp/prox-newton and ccp/prox-newton: proximal point method on the impulses, with Newton in
// velocity space. ccp has no shift.
//
// With G = B B^T and w = B^T lambda, the proximal step from lambda_k for a fixed De Saxcé shift s
// is
//
//     0 in (G + R) lambda + g + s + N_K(lambda) + P (lambda - lambda_k)                        (1)
//
// with P a positive diagonal (ADMM eq. 18 applied to the dual). With E = P + R it reads
//
//     lambda = Proj(z) / E,   z = P lambda_k - g - s - B w,   w = B^T lambda                   (2)
//
// which is the zero gradient of a convex function of w alone,
//
//     phi(w) = 1/2 |w|^2 + 1/2 sum |Proj(z)|^2 / E                                             (3)
//
// minimised by Newton's method with an exact line search: the Hessian I + B^T Proj'(z)/E B has the
// size of the velocity, not of the impulses, and is positive definite however redundant the
// contacts are. Between proximal steps s is set to Gamma(sigma). The tangential entries of E are
// scaled so that an elliptic cone becomes a circular one, whose projection and derivative are
// closed forms.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "linalg/dense.h"
#include "solvers/prox_newton/prox.h"
#include "solvers/prox_newton/impulse_space.h"
#include "solvers/solver.h"

// The proximal weight: E over the block's diagonal of G.
static const tbReal FIRST_WEIGHT = 1e-3, LEAST_WEIGHT = 1e-9, MOST_WEIGHT = 1;
// A step of up to EASY iterations divides the next proximal weight by ten; one that takes all
// MOST_INNER iterations multiplies it by ten.
enum { EASY = 3 };
static const tbReal DECREASE = 0.1, INCREASE = 10;
// The accuracy of a step, as a share of the tolerance.
static const tbReal STEP_ACCURACY = 0.01;
// A line search ends if the slope is below this share of the first one; a gradient below
// ZERO_GRADIENT that no longer falls is at rounding level.
static const tbReal FLAT = 1e-3, ZERO_GRADIENT = 1e-10;
enum { MOST_INNER = 12, MOST_OUTER = 60, PATIENCE = 8, LARGEST_DENSE = 400 };

typedef struct {
  tbSolve* s;
  const tbProblem* p;
  int n, m;                    // rows, columns of B
  tbReal* diagonal;            // per block: mean diagonal of G + R
  tbReal* E;                   // per row; of a cone's rows E_j = E_N (largest mu / mu_j)^2
  tbReal* center;              // lambda_k
  tbReal* shift;               // per block: s
  tbReal *w, *grad, *step;     // m
  tbReal *z, *lambda, *slope;  // n: z of (2), its lambda, B step
  tbReal *H, *scratch, *row;   // m x m, Cholesky scratch, 6 x m
  tbReal proximal_weight;
} Prox;

// ---- set-up ------------------------------------------------------------------------------------

static int allocate(Prox* x) {
  tbSolve* s = x->s;
  size_t n = (size_t)x->n, m = (size_t)x->m, nb = (size_t)x->p->nblock;
  x->diagonal = tb_solve_reals(s, nb);
  x->shift = tb_solve_reals(s, nb);
  x->E = tb_solve_reals(s, n);
  x->center = tb_solve_reals(s, n);
  x->z = tb_solve_reals(s, n);
  x->lambda = tb_solve_reals(s, n);
  x->slope = tb_solve_reals(s, n);
  x->w = tb_solve_reals(s, m);
  x->grad = tb_solve_reals(s, m);
  x->step = tb_solve_reals(s, m);
  x->row = tb_solve_reals(s, TB_MAX_BLOCK_DIM * m);
  x->scratch = tb_solve_reals(s, (size_t)tb_cholesky_scratch(x->m) + 1);
  x->H = tb_arena_alloc(s->arena, sizeof(tbReal) * m * m);
  return !s->arena->failed;
}

static void set_diagonals(Prox* x) {
  const tbDelassus* G = &x->p->G;
  for (int i = 0; i < x->p->nblock; i++) {
    const tbBlock* b = &x->p->block[i];
    tbReal sum = 0;
    for (int r = b->row; r < b->row + b->dim; r++) {
      for (int k = G->row_start[r]; k < G->row_start[r + 1]; k++) {
        sum += G->row_value[k] * G->row_value[k];
      }
      if (x->p->R) sum += x->p->R[r];
    }
    x->diagonal[i] = sum > 0 ? sum / b->dim : 1;
  }
}

// E from the proximal weight, large enough that P = E - R stays positive.
static void set_weight(Prox* x, tbReal proximal_weight) {
  x->proximal_weight = proximal_weight;
  for (int i = 0; i < x->p->nblock; i++) {
    const tbBlock* b = &x->p->block[i];
    bool cone = b->type == TB_BLOCK_CONE;
    tbReal *E = x->E + b->row, unit[TB_MAX_BLOCK_DIM] = {1, 1, 1, 1, 1, 1};
    if (cone) tb_prox_cone_rows(b, unit);
    tbReal normal = proximal_weight * x->diagonal[i];
    for (int r = 0; x->p->R && r < b->dim; r++) {
      if (unit[r] > 0)
        normal = tb_max(normal, x->p->R[b->row + r] * (1 + proximal_weight) / unit[r]);
    }
    for (int r = 0; r < b->dim; r++) E[r] = normal * unit[r];
  }
}

static void set_shift(Prox* x, const tbReal* sigma) {
  for (int i = 0; i < x->p->nblock; i++) {
    const tbBlock* b = &x->p->block[i];
    x->shift[i] = 0;
    if (b->type == TB_BLOCK_CONE && x->s->law == TB_LAW_NCP) {
      x->shift[i] = tb_cone_shift(b->dim, b->mu, sigma + b->row);
    }
  }
}

// ---- Newton ------------------------------------------------------------------------------------

// out = B x
static void mul_B(const Prox* x, const tbReal* v, tbReal* out) {
  const tbDelassus* G = &x->p->G;
  for (int r = 0; r < x->n; r++) {
    tbReal sum = 0;
    for (int k = G->row_start[r]; k < G->row_start[r + 1]; k++) {
      sum += G->row_value[k] * v[G->row_column[k]];
    }
    out[r] = sum;
  }
}

// out -= B^T lambda
static void subtract_BT(const Prox* x, const tbReal* lambda, tbReal* out) {
  const tbDelassus* G = &x->p->G;
  for (int r = 0; r < x->n; r++) {
    if (lambda[r] == 0) continue;
    for (int k = G->row_start[r]; k < G->row_start[r + 1]; k++) {
      out[G->row_column[k]] -= G->row_value[k] * lambda[r];
    }
  }
}

// z of (2) at w.
static void set_z(Prox* x) {
  mul_B(x, x->w, x->z);
  for (int i = 0; i < x->p->nblock; i++) {
    const tbBlock* b = &x->p->block[i];
    for (int r = b->row; r < b->row + b->dim; r++) {
      tbReal P = x->E[r] - (x->p->R ? x->p->R[r] : 0);
      x->z[r] = P * x->center[r] - x->p->g[r] - x->z[r];
    }
    if (b->type == TB_BLOCK_CONE) x->z[b->row] -= x->shift[i];
  }
}

// lambda(z) and the gradient w - B^T lambda; returns its largest entry over that of w.
static tbReal gradient(Prox* x) {
  for (int i = 0; i < x->p->nblock; i++) {
    int row = x->p->block[i].row;
    tb_prox_impulse(&x->p->block[i], x->E + row, x->z + row, x->lambda + row, NULL);
  }
  memcpy(x->grad, x->w, sizeof(tbReal) * (size_t)x->m);
  subtract_BT(x, x->lambda, x->grad);
  tbReal largest = 0, scale = 0;
  for (int j = 0; j < x->m; j++) {
    largest = tb_max(largest, fabs(x->grad[j]));
    scale = tb_max(scale, tb_max(fabs(x->w[j]), fabs(x->w[j] - x->grad[j])));
  }
  return scale > 0 ? largest / scale : 0;
}

// Lower triangle of H = I + B^T W B.
static void fill_H(Prox* x) {
  const tbDelassus* G = &x->p->G;
  size_t m = (size_t)x->m;
  memset(x->H, 0, sizeof(tbReal) * m * m);
  for (size_t j = 0; j < m; j++) x->H[j * m + j] = 1;
  for (int i = 0; i < x->p->nblock; i++) {
    const tbBlock* b = &x->p->block[i];
    tbReal W[TB_MAX_BLOCK_DIM * TB_MAX_BLOCK_DIM], unused[TB_MAX_BLOCK_DIM];
    tb_prox_impulse(b, x->E + b->row, x->z + b->row, unused, W);
    // Spread row r of W B over the columns, then take the outer product with row r of B.
    for (int r = 0; r < b->dim; r++) {
      tbReal* spread = x->row;
      int any = 0;
      for (int c = 0; c < b->dim; c++) {
        tbReal weight = W[r * b->dim + c];
        if (weight == 0) continue;
        any = 1;
        for (int k = G->row_start[b->row + c]; k < G->row_start[b->row + c + 1]; k++) {
          spread[G->row_column[k]] += weight * G->row_value[k];
        }
      }
      if (!any) continue;
      int start = G->row_start[b->row + r], end = G->row_start[b->row + r + 1];
      for (int k = start; k < end; k++) {
        tbReal* H = x->H + (size_t)G->row_column[k] * m;
        tbReal value = G->row_value[k];
        for (int c = start; c <= k; c++) H[G->row_column[c]] += value * spread[G->row_column[c]];
      }
      for (int c = 0; c < b->dim; c++) {
        for (int k = G->row_start[b->row + c]; k < G->row_start[b->row + c + 1]; k++) {
          spread[G->row_column[k]] = 0;
        }
      }
    }
  }
}

// Exact line search along the step.
static tbReal line_search(const Prox* x) {
  tbReal ww = 0, ws = 0, first = 0;
  for (int j = 0; j < x->m; j++) {
    ww += x->step[j] * x->step[j];
    ws += x->step[j] * x->w[j];
    first += x->step[j] * x->grad[j];
  }
  return tb_prox_line_search(x->p, x->E, x->z, x->slope, ww, ws, first, FLAT);
}

// Minimise phi. False if the factorisation of the Hessian failed.
static bool minimise(Prox* x, tbReal tolerance) {
  set_z(x);
  tbReal size = gradient(x);
  const int left = x->s->settings->max_iter - x->s->info->iterations;
  const int most = left < MOST_INNER ? left : MOST_INNER;
  for (int k = 0; k < most && size > tolerance && !tb_solve_late(x->s); k++) {
    x->s->info->iterations++;
    x->s->info->factorizations++;
    fill_H(x);
    if (!tb_cholesky(x->m, x->H, x->m, x->scratch)) return false;
    for (int j = 0; j < x->m; j++) x->step[j] = -x->grad[j];
    tb_cholesky_solve(x->m, x->H, x->m, x->step);
    mul_B(x, x->step, x->slope);
    tbReal t = line_search(x), before = size;
    for (int j = 0; j < x->m; j++) x->w[j] += t * x->step[j];
    for (int r = 0; r < x->n; r++) x->z[r] -= t * x->slope[r];
    size = gradient(x);
    if (!(size < before) && size < ZERO_GRADIENT) break;
  }
  return true;
}

// ---- proximal steps ----------------------------------------------------------------------------

bool tb_prox_fits(const tbProblem* p) {
  return p->G.form == TB_DELASSUS_PRODUCT && p->G.ncol <= LARGEST_DENSE;
}

// Convert another form of G to a product: by pivoted Cholesky, whose rank is the number of columns.
static bool make_product(tbSolve* s, tbProblem* product) {
  int n = s->p->n;
  size_t nn = (size_t)n * (size_t)n;
  tbReal* G = tb_solve_reals(s, nn);
  tbReal* B = tb_solve_reals(s, nn);
  tbReal* work = tb_solve_reals(s, 2 * (size_t)n + 1);
  int* perm = TB_ARENA_NEW(s->arena, int, n + 1);
  int* start = TB_ARENA_NEW(s->arena, int, n + 1);
  int* column = tb_arena_alloc(s->arena, sizeof(int) * (nn + 1));
  if (!G || !B || !work || !perm || !start || !column) return false;
  tb_delassus_dense(s->p, G);
  int rank = tb_cholesky_pivoted(n, G, n, 1e-14, B, n, work, perm);
  for (int i = 0; i < n; i++) {
    start[i + 1] = (i + 1) * rank;
    for (int k = 0; k < rank; k++) {
      column[i * rank + k] = k;
      G[(size_t)i * (size_t)rank + (size_t)k] = B[(size_t)i * (size_t)n + (size_t)k];
    }
  }
  product->G = (tbDelassus){.form = TB_DELASSUS_PRODUCT,
                            .ncol = rank,
                            .row_start = start,
                            .row_column = column,
                            .row_value = G};
  return true;
}

tbResult tb_solve_prox_newton(tbSolve* s) {
  tbProblem product = *s->p;
  if (s->p->G.form != TB_DELASSUS_PRODUCT && !make_product(s, &product)) {
    return tb_solve_no_memory(s);
  }
  const tbProblem* p = &product;
  Prox x = {.s = s, .p = p, .n = p->n, .m = p->G.ncol};
  if (!allocate(&x)) return tb_solve_no_memory(s);
  set_diagonals(&x);
  set_weight(&x, FIRST_WEIGHT);
  memcpy(x.center, s->lambda, sizeof(tbReal) * (size_t)x.n);
  memset(x.w, 0, sizeof(tbReal) * (size_t)x.m);
  subtract_BT(&x, x.center, x.w);
  for (int j = 0; j < x.m; j++) x.w[j] = -x.w[j];
  set_shift(&x, s->sigma);

  tbReal mark = INFINITY;
  int since = 0;
  for (int k = 0; k < MOST_OUTER && s->info->iterations < s->settings->max_iter; k++) {
    int before = s->info->iterations;
    if (!minimise(&x, STEP_ACCURACY * s->tolerance)) break;
    memcpy(s->lambda, x.lambda, sizeof(tbReal) * (size_t)x.n);
    if (tb_solve_check(s, s->lambda, s->info->iterations, x.proximal_weight)) return TB_OK;

    // The fixed-point iteration on the shift need not contract.
    tbReal measure = tb_solve_measure(s, &s->last);
    since = measure < 0.5 * mark ? 0 : since + 1;
    if (since == 0) mark = measure;
    if (since > PATIENCE) break;

    // Fewer iterations allow a smaller proximal weight; too many require a larger one.
    int inner = s->info->iterations - before;
    if (inner <= EASY) set_weight(&x, tb_max(LEAST_WEIGHT, DECREASE * x.proximal_weight));
    if (inner >= MOST_INNER) set_weight(&x, tb_min(MOST_WEIGHT, INCREASE * x.proximal_weight));
    memcpy(x.center, x.lambda, sizeof(tbReal) * (size_t)x.n);
    set_shift(&x, s->sigma);
  }
  if (s->info->status != TB_SOLVE_TIME_LIMIT) s->info->status = tb_solve_gave_up(s);
  return TB_OK;
}
