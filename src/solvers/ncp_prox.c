// ncp/prox and ccp/prox: proximal point on the impulses, Newton in velocity space. ccp has no
// shift.
//
// With G = B B^T and w = B^T lambda, the proximal step from lambda_k for a fixed De Saxcé shift s
// is
//
//     0 in (G + R) lambda + g + s + N_K(lambda) + P (lambda - lambda_k) (1)
//
// P a positive diagonal (ADMM eq. 18 applied to the dual). With E = P + R it reads
//
//     lambda = Proj(z) / E,   z = P lambda_k - g - s - B w,   w = B^T lambda (2)
//
// which is the zero gradient of a convex function of w alone,
//
//     phi(w) = 1/2 |w|^2 + 1/2 sum |Proj(z)|^2 / E, (3)
//
// minimised by Newton's method with an exact line search: the Hessian I + B^T Proj'(z)/E B has the
// size of the velocity, not of the impulses, and is positive definite however redundant the
// contacts are. Between proximal steps s becomes Gamma(sigma). The tangential entries of E are
// scaled so that an elliptic cone becomes a circular one, whose projection and derivative are
// closed forms.
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "solvers/prox.h"
#include "solvers/solver.h"

// Smallest and first ratio of E to the block's diagonal of G.
static const tbReal FIRST_SOFTNESS = 1e-3, LEAST_SOFTNESS = 1e-9, MOST_SOFTNESS = 1;
enum { MOST_INNER = 12, MOST_OUTER = 60, LARGEST_DENSE = 400 };

typedef struct {
  tbSolve* s;
  const tbProblem* p;
  int n, m;                    // rows, columns of B
  tbReal* diagonal;            // per block: mean diagonal of G + R
  tbReal* E;                   // per block: E of the normal row
  tbReal* scale;               // per row: S_j, 0 for a tangent without friction
  tbReal* mu;                  // per block: coefficient of the circular cone
  tbReal* anchor;              // lambda_k
  tbReal* shift;               // per block: s
  tbReal *w, *grad, *step;     // m
  tbReal *z, *lambda, *slope;  // n: z of (2), its lambda, B step
  tbReal *H, *scratch, *row;   // m x m, Cholesky scratch, 6 x m
  tbReal softness;
} Prox;

// ---- projections in scaled coordinates ---------------------------------------------------------

// Projection of x (dim entries) on |x_T| <= mu x_N, and its derivative into W (dim x dim) if
// wanted.
static void project_circular(int dim, tbReal mu, const tbReal* x, tbReal* out, tbReal* W) {
  tbReal tt = 0;
  for (int i = 1; i < dim; i++) tt += x[i] * x[i];
  tbReal t = sqrt(tt), k = 1 / (1 + mu * mu);
  if (t <= mu * x[0]) {
    memmove(out, x, sizeof(tbReal) * (size_t)dim);
    for (int i = 0; W && i < dim; i++) W[i * dim + i] = 1;
    return;
  }
  if (mu * t <= -x[0]) {
    memset(out, 0, sizeof(tbReal) * (size_t)dim);
    return;
  }
  // On the boundary: along (1, mu x_T/t), of length a.
  tbReal a = k * (x[0] + mu * t);
  for (int i = 1; W && i < dim; i++) {
    tbReal ui = x[i] / t;
    W[i] = W[i * dim] = k * mu * ui;
    for (int j = 1; j < dim; j++) {
      tbReal uj = x[j] / t;
      W[i * dim + j] = k * mu * mu * ui * uj + a * mu / t * ((i == j) - ui * uj);
    }
  }
  if (W) W[0] = k;
  out[0] = a;
  for (int i = 1; i < dim; i++) out[i] = a * mu * x[i] / t;
}

// lambda = Proj(z) / E of block i; where W is given, its derivative with respect to z.
static void block_impulse(const Prox* x, int i, const tbReal* z, tbReal* lambda, tbReal* W) {
  const tbBlock* b = &x->p->block[i];
  const tbReal* S = x->scale + b->row;
  tbReal E = x->E[i], scaled[TB_MAX_BLOCK_DIM];
  int dim = b->dim;
  if (W) memset(W, 0, sizeof(tbReal) * (size_t)(dim * dim));
  switch (b->type) {
    case TB_BLOCK_EQUALITY:
      for (int r = 0; r < dim; r++) {
        lambda[r] = z[r] / E;
        if (W) W[r * dim + r] = 1 / E;
      }
      return;
    case TB_BLOCK_ONE_SIDED:
      for (int r = 0; r < dim; r++) {
        lambda[r] = fmax(0, z[r] / E);
        if (W && z[r] > 0) W[r * dim + r] = 1 / E;
      }
      return;
    case TB_BLOCK_BOX:
      for (int r = 0; r < dim; r++) {
        tbReal free = z[r] / E;
        lambda[r] = fmin(b->upper, fmax(b->lower, free));
        if (W && lambda[r] == free) W[r * dim + r] = 1 / E;
      }
      return;
    default: break;
  }
  // E_r = E S_r^2: in the coordinates S lambda the metric is E and the cone circular.
  scaled[0] = z[0] / E;
  for (int r = 1; r < dim; r++) scaled[r] = S[r] > 0 ? z[r] / (E * S[r]) : 0;
  project_circular(dim, x->mu[i], scaled, scaled, W);
  lambda[0] = scaled[0];
  for (int r = 1; r < dim; r++) lambda[r] = S[r] > 0 ? scaled[r] / S[r] : 0;
  if (!W) return;
  for (int r = 0; r < dim; r++) {
    for (int c = 0; c < dim; c++) {
      tbReal sr = r ? S[r] : 1, sc = c ? S[c] : 1;
      W[r * dim + c] = sr > 0 && sc > 0 ? W[r * dim + c] / (E * sr * sc) : 0;
    }
  }
}

// ---- set-up ------------------------------------------------------------------------------------

static int allocate(Prox* x) {
  tbSolve* s = x->s;
  size_t n = (size_t)x->n, m = (size_t)x->m, nb = (size_t)x->p->nblock;
  x->diagonal = tb_solve_reals(s, nb);
  x->E = tb_solve_reals(s, nb);
  x->mu = tb_solve_reals(s, nb);
  x->shift = tb_solve_reals(s, nb);
  x->scale = tb_solve_reals(s, n);
  x->anchor = tb_solve_reals(s, n);
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

static void set_scales(Prox* x) {
  const tbDelassus* G = &x->p->G;
  for (int i = 0; i < x->p->nblock; i++) {
    const tbBlock* b = &x->p->block[i];
    tbReal sum = 0, largest = 0;
    for (int r = b->row; r < b->row + b->dim; r++) {
      for (int k = G->row_start[r]; k < G->row_start[r + 1]; k++) {
        sum += G->row_value[k] * G->row_value[k];
      }
      if (x->p->R) sum += x->p->R[r];
      x->scale[r] = 1;
    }
    x->diagonal[i] = sum > 0 ? sum / b->dim : 1;
    if (b->type != TB_BLOCK_CONE) continue;
    for (int r = 1; r < b->dim; r++) largest = fmax(largest, b->mu[r - 1]);
    x->mu[i] = largest;
    for (int r = 1; r < b->dim; r++) {
      x->scale[b->row + r] = b->mu[r - 1] > 0 ? largest / b->mu[r - 1] : 0;
    }
  }
}

// E from the softness, large enough that P = E - R stays positive.
static void set_softness(Prox* x, tbReal softness) {
  x->softness = softness;
  for (int i = 0; i < x->p->nblock; i++) {
    const tbBlock* b = &x->p->block[i];
    x->E[i] = softness * x->diagonal[i];
    for (int r = 0; x->p->R && r < b->dim; r++) {
      tbReal s = x->scale[b->row + r];
      if (s > 0) x->E[i] = fmax(x->E[i], x->p->R[b->row + r] * (1 + softness) / (s * s));
    }
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
      tbReal s = b->type == TB_BLOCK_CONE && r > b->row ? x->scale[r] : 1;
      tbReal P = x->E[i] * s * s - (x->p->R ? x->p->R[r] : 0);
      x->z[r] = P * x->anchor[r] - x->p->g[r] - x->z[r];
    }
    if (b->type == TB_BLOCK_CONE) x->z[b->row] -= x->shift[i];
  }
}

// lambda(z) and the gradient w - B^T lambda; its largest entry over that of w.
static tbReal gradient(Prox* x) {
  for (int i = 0; i < x->p->nblock; i++) {
    int row = x->p->block[i].row;
    block_impulse(x, i, x->z + row, x->lambda + row, NULL);
  }
  memcpy(x->grad, x->w, sizeof(tbReal) * (size_t)x->m);
  subtract_BT(x, x->lambda, x->grad);
  tbReal largest = 0, scale = 0;
  for (int j = 0; j < x->m; j++) {
    largest = fmax(largest, fabs(x->grad[j]));
    scale = fmax(scale, fmax(fabs(x->w[j]), fabs(x->w[j] - x->grad[j])));
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
    block_impulse(x, i, x->z + b->row, unused, W);
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

// Slope and curvature of phi along the step.
static tbReal line_slope(const Prox* x, tbReal t, tbReal ww, tbReal ws, tbReal* curvature) {
  tbReal slope = ws + t * ww;
  *curvature = ww;
  for (int i = 0; i < x->p->nblock; i++) {
    const tbBlock* b = &x->p->block[i];
    tbReal z[TB_MAX_BLOCK_DIM], lambda[TB_MAX_BLOCK_DIM], W[TB_MAX_BLOCK_DIM * TB_MAX_BLOCK_DIM];
    const tbReal* v = x->slope + b->row;
    for (int r = 0; r < b->dim; r++) z[r] = x->z[b->row + r] - t * v[r];
    block_impulse(x, i, z, lambda, W);
    for (int r = 0; r < b->dim; r++) {
      slope -= lambda[r] * v[r];
      for (int c = 0; c < b->dim; c++) *curvature += v[r] * W[r * b->dim + c] * v[c];
    }
  }
  return slope;
}

// Exact line search: the root of the slope by Newton inside a bracket. One trial suffices when no
// block changes its zone.
static tbReal line_search(const Prox* x) {
  tbReal ww = 0, ws = 0, curvature, t = 1, low = 0, high = INFINITY;
  for (int j = 0; j < x->m; j++) {
    ww += x->step[j] * x->step[j];
    ws += x->step[j] * x->w[j];
  }
  tbReal first = fabs(line_slope(x, 0, ww, ws, &curvature));
  for (int k = 0; k < 30; k++) {
    tbReal slope = line_slope(x, t, ww, ws, &curvature);
    if (fabs(slope) <= 1e-3 * first) break;
    if (slope < 0) {
      low = t;
    } else {
      high = t;
    }
    tbReal next = curvature > 0 ? t - slope / curvature : 0;
    if (!(next > low && next < high)) next = isinf(high) ? 2 * low + 1 : 0.5 * (low + high);
    if (fabs(next - t) <= 1e-14 * fabs(t)) break;
    t = next;
  }
  return t;
}

// Minimise phi. False where the Hessian broke down.
static bool minimise(Prox* x, tbReal tolerance) {
  set_z(x);
  tbReal size = gradient(x);
  for (int k = 0; k < MOST_INNER && size > tolerance; k++) {
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
    if (!(size < before) && size < 1e-10) break;
  }
  return true;
}

// ---- proximal steps ----------------------------------------------------------------------------

bool tb_prox_fits(const tbProblem* p) {
  return p->G.form == TB_DELASSUS_PRODUCT && p->G.ncol <= LARGEST_DENSE;
}

// G as a product where it is not one: by pivoted Cholesky, whose rank is the number of columns.
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

tbResult tb_solve_ncp_prox(tbSolve* s) {
  tbProblem product = *s->p;
  if (s->p->G.form != TB_DELASSUS_PRODUCT && !make_product(s, &product)) {
    return tb_solve_no_memory(s);
  }
  const tbProblem* p = &product;
  Prox x = {.s = s, .p = p, .n = p->n, .m = p->G.ncol};
  if (!allocate(&x)) return tb_solve_no_memory(s);
  set_scales(&x);
  set_softness(&x, FIRST_SOFTNESS);
  memcpy(x.anchor, s->lambda, sizeof(tbReal) * (size_t)x.n);
  memset(x.w, 0, sizeof(tbReal) * (size_t)x.m);
  subtract_BT(&x, x.anchor, x.w);
  for (int j = 0; j < x.m; j++) x.w[j] = -x.w[j];
  set_shift(&x, s->sigma);

  for (int k = 0; k < MOST_OUTER && s->info->iterations < s->settings->max_iter; k++) {
    int before = s->info->iterations;
    if (!minimise(&x, 0.01 * s->tolerance)) break;
    memcpy(s->lambda, x.lambda, sizeof(tbReal) * (size_t)x.n);
    if (tb_solve_check(s, s->lambda, s->info->iterations, x.softness)) return TB_OK;

    // Easy steps may be stiffer; a hard one was too stiff.
    int inner = s->info->iterations - before;
    if (inner <= 3) set_softness(&x, fmax(LEAST_SOFTNESS, 0.1 * x.softness));
    if (inner >= MOST_INNER) set_softness(&x, fmin(MOST_SOFTNESS, 10 * x.softness));
    memcpy(x.anchor, x.lambda, sizeof(tbReal) * (size_t)x.n);
    set_shift(&x, s->sigma);
  }
  s->info->status = TB_SOLVE_STALLED;
  return TB_OK;
}
