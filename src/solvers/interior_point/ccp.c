// ccp/ipm: the interior-point method on the convex law.
//
// In rows scaled by (1, mu_i) every friction cone becomes the self-dual Lorentz cone, and the law
// is
//   x ∘ z = 0,  x, z ∈ K,   G x + g - z = 0                                                  (1)
// Newton on x ∘ z = tau e with Nesterov-Todd scaling W (W x = W^-1 z = v) gives
//   [G + W^2] dx = -r + W (v \ rc),   dz = G dx + r                                          (2)
// r the residual of (1), rc = sigma tau e - v∘v - (W dx_a)∘(W^-1 dz_a) with Mehrotra's predictor.
// One-sided rows are Lorentz cones of one row; a box has a barrier at each finite bound; equality
// rows have none. The method handles hyperstatic problems (G singular) and large mass ratios; it
// cannot be warm-started. Scaling after Vandenberghe, "The CVXOPT linear and quadratic cone program
// solvers" (2010).
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/newton/system.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// The entries of W^2 for unbounded rows, and for rows that cannot move.
static const tbReal UNBOUNDED = 1e-9, HELD = 1e30;

// The least centring: a step without any centring ends next to the boundary of a cone.
static const tbReal LEAST_CENTRING = 1e-8;

typedef struct {
  tbSolve* s;
  const tbProblem* p;
  tbSystem system;
  tbReal *scale, *g;      // scaled rows
  tbReal *x, *z, *upper;  // impulses; multipliers; multipliers of a box's upper bound
  tbReal *dx, *dz, *dupper, *Gdx;
  tbReal *old_dx, *old_dz;  // the predictor
  tbReal *r, *rhs, *Wrc;
  tbReal *H, *E, *w;  // W^2, its inverse, and NT points w (dim entries a block)
  tbReal* eta2;       // per block: squared NT factor
  int* start;
  tbReal degree;  // number of complementarity pairs
} Ipm;

static bool is_lorentz(const tbBlock* b) {
  return b->type == TB_BLOCK_CONE;
}

// x^T J x, in a form without cancellation near the boundary.
static tbReal jnorm2(int d, const tbReal* x) {
  tbReal t = 0;
  for (int i = 1; i < d; i++) t += x[i] * x[i];
  t = sqrt(t);
  return (x[0] - t) * (x[0] + t);
}

static tbReal jdot(int d, const tbReal* x, const tbReal* y) {
  tbReal sum = x[0] * y[0];
  for (int i = 1; i < d; i++) sum -= x[i] * y[i];
  return sum;
}

// y = W u with W = eta times Vandenberghe's W-bar, or its inverse.
static void nt_apply(int d, const tbReal* w, tbReal eta, bool inverse, const tbReal* u, tbReal* y) {
  tbReal dot = 0, sign = inverse ? -1 : 1, f = inverse ? 1 / eta : eta;
  for (int i = 1; i < d; i++) dot += w[i] * u[i];
  tbReal u0 = u[0], first = w[0] * u0 + sign * dot, along = sign * u0 + dot / (1 + w[0]);
  for (int i = 1; i < d; i++) y[i] = f * (u[i] + along * w[i]);
  y[0] = f * first;
}

// y with v ∘ y = u.
static void arrow_divide(int d, const tbReal* v, const tbReal* u, tbReal* y) {
  tbReal dot = 0, det = jnorm2(d, v);
  for (int i = 1; i < d; i++) dot += v[i] * u[i];
  tbReal y0 = (v[0] * u[0] - dot) / det;
  for (int i = 1; i < d; i++) y[i] = (u[i] - y0 * v[i]) / v[0];
  y[0] = y0;
}

// The largest step t <= limit with x + t d in the cone.
static tbReal cone_step(int d, const tbReal* x, const tbReal* dx, tbReal limit) {
  tbReal a = jdot(d, dx, dx), b = jdot(d, x, dx), c = jnorm2(d, x), t = limit;
  // x_0 + t dx_0 > 0 and a t^2 + 2 b t + c >= 0.
  if (dx[0] < 0) t = tb_min(t, -x[0] / dx[0]);
  tbReal disc = b * b - a * c;
  if (disc > 0) {
    tbReal q = b > 0 ? -b - sqrt(disc) : -b + sqrt(disc);
    tbReal roots[2] = {a != 0 ? q / a : -1, q != 0 ? c / q : -1};
    for (int k = 0; k < 2; k++) {
      if (roots[k] > 0) t = tb_min(t, roots[k]);
    }
  }
  return t;
}

static tbReal row_step(tbReal x, tbReal dx, tbReal limit) {
  return dx < 0 ? tb_min(limit, -x / dx) : limit;
}

static tbReal low_gap(const Ipm* q, const tbBlock* b, int row) {
  return q->x[row] - b->lower / q->scale[row];
}

static tbReal high_gap(const Ipm* q, const tbBlock* b, int row) {
  return b->upper / q->scale[row] - q->x[row];
}

// ---- set-up ------------------------------------------------------------------------------------

static void choose_scale(Ipm* q) {
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    tbReal A[MAX * MAX];
    tb_delassus_diagonal_block(q->p, i, A);
    for (int r = 0; r < b->dim; r++) {
      tbReal d = is_lorentz(b) ? A[0] : A[r * (b->dim + 1)];
      tbReal unit = d > 0 ? 1 / sqrt(d) : 1;
      q->scale[b->row + r] = is_lorentz(b) && r > 0 ? unit * b->mu[r - 1] : unit;
    }
  }
}

static void choose_start(Ipm* q) {
  tbReal size = 0;
  for (int i = 0; i < q->p->n; i++) {
    q->g[i] = q->scale[i] * q->p->g[i];
    size = tb_max(size, fabs(q->g[i]));
  }
  if (size == 0) size = 1;
  q->degree = 0;
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    for (int r = b->row; r < b->row + b->dim; r++) {
      q->x[r] = q->z[r] = q->upper[r] = 0;
      if (b->type == TB_BLOCK_ONE_SIDED || (is_lorentz(b) && r == b->row)) {
        q->x[r] = q->z[r] = size;
        q->degree += 1;
      } else if (b->type == TB_BLOCK_BOX) {
        tbReal low = b->lower / q->scale[r], high = b->upper / q->scale[r];
        if (isfinite(low) && isfinite(high)) q->x[r] = 0.5 * (low + high);
        if (isfinite(low) && !isfinite(high)) q->x[r] = tb_max(0, low + size);
        if (!isfinite(low) && isfinite(high)) q->x[r] = tb_min(0, high - size);
        q->z[r] = isfinite(low) && low < high ? size : 0;
        q->upper[r] = isfinite(high) && low < high ? size : 0;
        q->degree += (q->z[r] > 0) + (q->upper[r] > 0);
      }
    }
  }
}

static bool init(Ipm* q, tbSolve* s) {
  size_t n = (size_t)s->p->n;
  q->s = s;
  q->p = s->p;
  q->start = TB_ARENA_NEW(s->arena, int, s->p->nblock + 1);
  tbReal** vectors[] = {&q->scale, &q->g,  &q->x,      &q->z,      &q->upper,
                        &q->dx,    &q->dz, &q->dupper, &q->r,      &q->rhs,
                        &q->Wrc,   &q->w,  &q->Gdx,    &q->old_dx, &q->old_dz};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
    *vectors[k] = tb_solve_reals(s, n);
  q->eta2 = tb_solve_reals(s, (size_t)s->p->nblock);
  if (s->arena->failed) return false;
  int size = 0;
  for (int i = 0; i < s->p->nblock; i++) {
    q->start[i] = size;
    size += s->p->block[i].dim * s->p->block[i].dim;
  }
  q->H = tb_solve_reals(s, (size_t)size);
  q->E = tb_solve_reals(s, (size_t)size);
  if (s->arena->failed) return false;
  choose_scale(q);
  choose_start(q);
  return tb_system_init(&q->system, s, q->scale);
}

// ---- one iteration -----------------------------------------------------------------------------

// r = G x + g - z, and the mean complementarity.
static tbReal residual(Ipm* q) {
  tb_system_apply(&q->system, q->x, q->r);
  tbReal sum = 0;
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    for (int r = b->row; r < b->row + b->dim; r++) {
      q->r[r] += q->g[r] - q->z[r] + q->upper[r];
      if (b->type == TB_BLOCK_BOX) {
        if (q->z[r] > 0) sum += q->z[r] * low_gap(q, b, r);
        if (q->upper[r] > 0) sum += q->upper[r] * high_gap(q, b, r);
      } else {
        sum += q->x[r] * q->z[r];
      }
    }
  }
  return q->degree > 0 ? sum / q->degree : 0;
}

// (2): H = W^2 = eta^2 (2 w w^T - J), and its inverse E.
static void lorentz_matrices(Ipm* q, int i) {
  const tbBlock* b = &q->p->block[i];
  int d = b->dim;
  tbReal *x = q->x + b->row, *z = q->z + b->row, *w = q->w + b->row;
  tbReal xn = sqrt(jnorm2(d, x)), zn = sqrt(jnorm2(d, z)), dot = 0;
  for (int k = 0; k < d; k++) dot += x[k] * z[k];
  tbReal gamma = sqrt(0.5 * (1 + dot / (xn * zn)));
  w[0] = (z[0] / zn + x[0] / xn) / (2 * gamma);
  tbReal t = 0;
  for (int k = 1; k < d; k++) {
    w[k] = (z[k] / zn - x[k] / xn) / (2 * gamma);
    t += w[k] * w[k];
  }
  w[0] = sqrt(1 + t);
  tbReal eta2 = zn / xn;
  q->eta2[i] = eta2;
  tbReal *H = q->H + q->start[i], *E = q->E + q->start[i];
  for (int r = 0; r < d; r++) {
    for (int c = 0; c < d; c++) {
      tbReal J = r == c ? (r ? -1 : 1) : 0, sign = (r ? -1 : 1) * (c ? -1 : 1);
      H[r * d + c] = eta2 * (2 * w[r] * w[c] - J);
      E[r * d + c] = (2 * sign * w[r] * w[c] - J) / eta2;
    }
  }
}

static void matrices(Ipm* q) {
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    if (is_lorentz(b)) {
      lorentz_matrices(q, i);
      continue;
    }
    int d = b->dim;
    tbReal *H = q->H + q->start[i], *E = q->E + q->start[i];
    memset(H, 0, (size_t)(d * d) * sizeof *H);
    memset(E, 0, (size_t)(d * d) * sizeof *E);
    for (int r = 0; r < d; r++) {
      int row = b->row + r;
      tbReal h = UNBOUNDED;
      if (b->type == TB_BLOCK_ONE_SIDED) h = q->z[row] / q->x[row];
      if (b->type == TB_BLOCK_BOX) {
        h = 0;
        if (q->z[row] > 0) h += q->z[row] / low_gap(q, b, row);
        if (q->upper[row] > 0) h += q->upper[row] / high_gap(q, b, row);
        // A box of a single point does not move.
        if (!(b->lower < b->upper)) h = HELD;
        if (h == 0) h = UNBOUNDED;
      }
      H[r * d + r] = h;
      E[r * d + r] = 1 / h;
    }
  }
}

// Right side of (2) for a centring target; with `corrector`, dx and dz hold the predictor.
static void right_side(Ipm* q, tbReal target, tbReal share, tbReal corrector) {
  tbReal v[MAX], u[MAX], a[MAX], c[MAX];
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    int d = b->dim, row = b->row;
    if (is_lorentz(b)) {
      tbReal eta = sqrt(q->eta2[i]), *w = q->w + row, vv = 0, ac = 0;
      nt_apply(d, w, eta, false, q->x + row, v);
      if (corrector > 0) {
        nt_apply(d, w, eta, false, q->dx + row, a);
        nt_apply(d, w, eta, true, q->dz + row, c);
        for (int k = 0; k < d; k++) a[k] *= corrector;
      } else {
        memset(a, 0, sizeof a);
        memset(c, 0, sizeof c);
      }
      for (int k = 0; k < d; k++) {
        vv += v[k] * v[k];
        ac += a[k] * c[k];
      }
      u[0] = target - vv - ac;
      for (int k = 1; k < d; k++) u[k] = -2 * v[0] * v[k] - (a[0] * c[k] + c[0] * a[k]);
      arrow_divide(d, v, u, u);
      nt_apply(d, w, eta, false, u, q->Wrc + row);
      for (int k = 0; k < d; k++) q->rhs[row + k] = q->Wrc[row + k] - share * q->r[row + k];
      continue;
    }
    for (int r = row; r < row + d; r++) {
      q->Wrc[r] = 0;
      if (b->type == TB_BLOCK_ONE_SIDED) {
        tbReal cross = corrector * q->dx[r] * q->dz[r];
        q->Wrc[r] = (target - q->x[r] * q->z[r] - cross) / q->x[r];
      } else if (b->type == TB_BLOCK_BOX) {
        if (q->z[r] > 0) {
          tbReal gap = low_gap(q, b, r), cross = corrector * q->dx[r] * q->dz[r];
          q->Wrc[r] += (target - gap * q->z[r] - cross) / gap;
        }
        if (q->upper[r] > 0) {
          tbReal gap = high_gap(q, b, r), cross = -corrector * q->dx[r] * q->dupper[r];
          q->Wrc[r] -= (target - gap * q->upper[r] - cross) / gap;
        }
      }
      q->rhs[r] = q->Wrc[r] - share * q->r[r];
    }
  }
}

// dz (and dupper) from dx, block by block. `target` and `corrector` as in right_side.
static void multiplier_step(Ipm* q, tbReal target, tbReal share, tbReal corrector,
                            const tbReal* old_dx, const tbReal* old_dz) {
  tb_system_apply(&q->system, q->dx, q->Gdx);
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    int d = b->dim, row = b->row;
    if (is_lorentz(b)) {
      // From (1) rather than from dz = W (v \ rc) - W^2 dx, so that rounding never spoils
      // feasibility.
      for (int k = 0; k < d; k++) q->dz[row + k] = q->Gdx[row + k] + share * q->r[row + k];
      continue;
    }
    for (int r = row; r < row + d; r++) {
      if (b->type == TB_BLOCK_ONE_SIDED) {
        q->dz[r] = q->Wrc[r] - q->z[r] / q->x[r] * q->dx[r];
      } else if (b->type == TB_BLOCK_BOX) {
        tbReal upper_cross = corrector > 0 ? -corrector * old_dx[r] * q->dupper[r] : 0;
        tbReal cross = corrector > 0 ? corrector * old_dx[r] * old_dz[r] : 0;
        if (q->z[r] > 0) {
          tbReal gap = low_gap(q, b, r);
          q->dz[r] = (target - gap * q->z[r] - cross - q->z[r] * q->dx[r]) / gap;
        }
        if (q->upper[r] > 0) {
          tbReal gap = high_gap(q, b, r);
          q->dupper[r] = (target - gap * q->upper[r] - upper_cross + q->upper[r] * q->dx[r]) / gap;
        }
      } else {
        q->dz[r] = 0;
      }
    }
  }
}

// The longest step that keeps x and z admissible.
static tbReal longest_step(const Ipm* q, tbReal limit) {
  tbReal t = limit;
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    int row = b->row;
    if (is_lorentz(b)) {
      t = cone_step(b->dim, q->x + row, q->dx + row, t);
      t = cone_step(b->dim, q->z + row, q->dz + row, t);
      continue;
    }
    for (int r = row; r < row + b->dim; r++) {
      if (b->type == TB_BLOCK_ONE_SIDED) {
        t = row_step(q->x[r], q->dx[r], t);
        t = row_step(q->z[r], q->dz[r], t);
      } else if (b->type == TB_BLOCK_BOX) {
        if (q->z[r] > 0) {
          t = row_step(low_gap(q, b, r), q->dx[r], t);
          t = row_step(q->z[r], q->dz[r], t);
        }
        if (q->upper[r] > 0) {
          t = row_step(high_gap(q, b, r), -q->dx[r], t);
          t = row_step(q->upper[r], q->dupper[r], t);
        }
      }
    }
  }
  return t;
}

// <x + t dx, z + t dz> / degree after a step t.
static tbReal complementarity_after(const Ipm* q, tbReal t) {
  tbReal sum = 0;
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    for (int r = b->row; r < b->row + b->dim; r++) {
      if (b->type == TB_BLOCK_BOX) {
        if (q->z[r] > 0) sum += (low_gap(q, b, r) + t * q->dx[r]) * (q->z[r] + t * q->dz[r]);
        if (q->upper[r] > 0) {
          sum += (high_gap(q, b, r) - t * q->dx[r]) * (q->upper[r] + t * q->dupper[r]);
        }
      } else {
        sum += (q->x[r] + t * q->dx[r]) * (q->z[r] + t * q->dz[r]);
      }
    }
  }
  return q->degree > 0 ? sum / q->degree : 0;
}

static bool iterate(Ipm* q, tbReal tau) {
  int n = q->p->n;
  matrices(q);
  if (!tb_system_factor(&q->system, q->H, q->E, q->start)) return false;
  q->s->info->factorizations++;

  // Predictor, then the centring that its progress allows.
  right_side(q, 0, 1, 0);
  tb_system_solve(&q->system, q->rhs, 1, q->dx);
  multiplier_step(q, 0, 1, 0, NULL, NULL);
  tbReal t = longest_step(q, 1), after = complementarity_after(q, t);
  tbReal sigma = tau > 0 ? tb_min(1, tb_max(after, 0) / tau) : 0;
  sigma = tb_max(sigma * sigma * sigma, LEAST_CENTRING);
  tbReal target = sigma * tau, corrector = 1;
  right_side(q, target, 1 - sigma, corrector);
  // The box needs the predictor's products again after dx is overwritten.
  memcpy(q->old_dx, q->dx, (size_t)n * sizeof *q->dx);
  memcpy(q->old_dz, q->dz, (size_t)n * sizeof *q->dz);
  tb_system_solve(&q->system, q->rhs, 1, q->dx);
  multiplier_step(q, target, 1 - sigma, corrector, q->old_dx, q->old_dz);
  for (int i = 0; i < n; i++) {
    if (!isfinite(q->dx[i]) || !isfinite(q->dz[i])) return false;
  }
  tbReal back = tb_max(0.95, 1 - tau);
  t = tb_min(1, longest_step(q, 2) * (back < 0.999 ? back : 0.999));
  for (int i = 0; i < n; i++) {
    q->x[i] += t * q->dx[i];
    q->z[i] += t * q->dz[i];
    q->upper[i] += t * q->dupper[i];
  }
  return true;
}

tbResult tb_solve_ccp_ipm(tbSolve* s) {
  Ipm q = {0};
  if (!init(&q, s)) return tb_solve_no_memory(s);
  tbReal smallest = INFINITY;
  int stuck = 0;
  for (int k = 1; k <= s->settings->max_iter; k++) {
    tbReal tau = residual(&q);
    if (!iterate(&q, tau)) {
      s->info->status = TB_SOLVE_STALLED;
      return TB_OK;
    }
    for (int i = 0; i < s->p->n; i++) s->lambda[i] = q.scale[i] * q.x[i];
    if (tb_solve_check(s, s->lambda, k, tau)) return TB_OK;
    // Rounding error eventually ends the descent.
    tbReal measure = tb_solve_measure(s, &s->last);
    stuck = measure < 0.9 * smallest ? 0 : stuck + 1;
    smallest = tb_min(smallest, measure);
    if (stuck >= 15) {
      s->info->status = TB_SOLVE_STALLED;
      return TB_OK;
    }
  }
  s->info->status = TB_SOLVE_MAX_ITERATIONS;
  return TB_OK;
}
