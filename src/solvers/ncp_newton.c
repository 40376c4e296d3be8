// ncp/newton: semismooth Newton on the Alart-Curnier equations (Alart & Curnier 1991, in the form
// of Acary & Brogliato, "Numerical Methods for Nonsmooth Dynamical Systems", 2008, ch. 13).
//
// In rows scaled by (1, mu_i), with y = x - rho sigma, the exact law of a contact is F = 0 where
//   F_N = x_N - max(y_N, 0),   F_T = x_T - P(y_T on the disc of radius max(y_N, 0))            (1)
// Its generalised Jacobian is C + D G, block by block (n = y_T / |y_T|, radius c):
//   apart    C = I, D = 0                stick   C = 0, D = rho
//   sliding  normal row as in stick; C_TT = I - c/|y_T| (I - n n^T), C_TN = -n,
//            D_TT = rho_T c/|y_T| (I - n n^T), D_TN = rho_N n                                   (2)
// C = 0 is replaced by a small multiple of the identity: a proximal term, which leaves the solution
// where it is and makes hyperstatic problems (G singular) solvable.
//
// Globalised by a line search on |F|; where that fails, by Gauss-Seidel sweeps, which need no good
// starting point; and where these do not help either, once by interior points. Near a solution it
// converges in a few steps, down to rounding.
#include <math.h>
#include <string.h>

#include "linalg/small.h"
#include "solvers/local.h"
#include "solvers/newton.h"

enum { MAX = TB_MAX_BLOCK_DIM };

static const tbReal PROXIMAL_CONSTRAINT = 1e-11, PROXIMAL_VELOCITY = 1e-9;

bool tb_newton_init(tbNewton* q, tbSolve* s) {
  const tbProblem* p = s->p;
  size_t n = (size_t)p->n;
  *q = (tbNewton){.s = s, .p = p};
  tbReal** vectors[] = {&q->scale, &q->rho, &q->F, &q->Cb, &q->dx, &q->trial, &q->sigma};
  for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
    *vectors[k] = tb_solve_reals(s, n);
  q->start = TB_ARENA_NEW(s->arena, int, p->nblock + 1);
  if (s->arena->failed) return false;
  int size = 0;
  for (int i = 0; i < p->nblock; i++) {
    q->start[i] = size;
    size += p->block[i].dim * p->block[i].dim;
  }
  q->C = tb_solve_reals(s, (size_t)size);
  q->D = tb_solve_reals(s, (size_t)size);
  q->E = tb_solve_reals(s, (size_t)size);
  if (s->arena->failed) return false;

  // Unit normal diagonal, unit cones; rho from what is left of the diagonal.
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    bool cone = b->type == TB_BLOCK_CONE;
    tbReal A[MAX * MAX], tangential = 0;
    tb_delassus_diagonal_block(p, i, A);
    for (int r = 0; r < b->dim; r++) {
      tbReal d = cone ? A[0] : A[r * (b->dim + 1)], unit = d > 0 ? 1 / sqrt(d) : 1;
      tbReal scale = cone && r > 0 ? unit * b->mu[r - 1] : unit;
      q->scale[b->row + r] = scale;
      q->rho[b->row + r] = 1;
      if (cone && r > 0) tangential = fmax(tangential, A[r * (b->dim + 1)] * scale * scale);
    }
    for (int r = 1; r < b->dim && cone; r++) {
      q->rho[b->row + r] = tangential > 0 ? 1 / tangential : 1;
    }
  }
  return tb_system_init(&q->system, s, q->scale);
}

// F of one block, and on request its C and D.
static void cone_equation(const tbNewton* q, int i, const tbReal* x, const tbReal* sigma,
                          tbReal proximal, tbReal* F, tbReal* C, tbReal* D) {
  const tbBlock* b = &q->p->block[i];
  int d = b->dim;
  const tbReal* rho = q->rho + b->row;
  tbReal y[MAX], length = 0;
  for (int r = 0; r < d; r++) y[r] = x[r] - rho[r] * sigma[r];
  for (int r = 1; r < d; r++) length += y[r] * y[r];
  length = sqrt(length);
  tbReal radius = fmax(y[0], 0);
  bool slide = length > radius;
  F[0] = x[0] - radius;
  for (int r = 1; r < d; r++) F[r] = slide ? x[r] - y[r] * (radius / length) : rho[r] * sigma[r];
  if (!C) return;

  // (2)
  memset(C, 0, (size_t)(d * d) * sizeof *C);
  memset(D, 0, (size_t)(d * d) * sizeof *D);
  for (int r = 0; r < d; r++) {
    if (y[0] <= 0) {
      C[r * (d + 1)] = 1;
    } else if (r == 0 || !slide) {
      C[r * (d + 1)] = proximal;
      D[r * (d + 1)] = rho[r];
    } else {
      tbReal n = y[r] / length, f = radius / length;
      C[r * d] = -n;
      D[r * d] = n * rho[0];
      for (int c = 1; c < d; c++) {
        tbReal across = (r == c) - n * (y[c] / length);
        C[r * d + c] = (r == c) - f * across;
        D[r * d + c] = f * across * rho[c];
      }
    }
  }
}

// The pyramid: every tangential row has bounds of its own, +-max(y_N, 0).
static void pyramid_equation(const tbNewton* q, int i, const tbReal* x, const tbReal* sigma,
                             tbReal proximal, tbReal* F, tbReal* C, tbReal* D) {
  const tbBlock* b = &q->p->block[i];
  int d = b->dim;
  const tbReal* rho = q->rho + b->row;
  tbReal normal = x[0] - rho[0] * sigma[0], radius = fmax(normal, 0);
  if (C) {
    memset(C, 0, (size_t)(d * d) * sizeof *C);
    memset(D, 0, (size_t)(d * d) * sizeof *D);
  }
  for (int r = 0; r < d; r++) {
    tbReal y = x[r] - rho[r] * sigma[r];
    bool apart = normal <= 0, slide = r > 0 && fabs(y) > radius;
    tbReal sign = y < 0 ? -1 : 1;
    F[r] = r == 0 ? x[0] - radius : slide ? x[r] - sign * radius : rho[r] * sigma[r];
    if (!C) continue;
    C[r * (d + 1)] = apart || slide ? 1 : proximal;
    if (apart) continue;
    if (slide) {
      C[r * d] = -sign;
      D[r * d] = sign * rho[0];
    } else {
      D[r * (d + 1)] = rho[r];
    }
  }
}

static void row_equations(const tbNewton* q, int i, const tbReal* x, const tbReal* sigma,
                          tbReal proximal, tbReal* F, tbReal* C, tbReal* D) {
  const tbBlock* b = &q->p->block[i];
  int d = b->dim;
  if (C) {
    memset(C, 0, (size_t)(d * d) * sizeof *C);
    memset(D, 0, (size_t)(d * d) * sizeof *D);
  }
  for (int r = 0; r < d; r++) {
    tbReal rho = q->rho[b->row + r], y = x[r] - rho * sigma[r], low = -INFINITY, high = INFINITY;
    if (b->type == TB_BLOCK_ONE_SIDED) low = 0;
    if (b->type == TB_BLOCK_BOX) {
      low = b->lower / q->scale[b->row + r];
      high = b->upper / q->scale[b->row + r];
    }
    bool inside = y > low && y < high;
    F[r] = inside ? rho * sigma[r] : x[r] - fmax(low, fmin(high, y));
    if (!C) continue;
    C[r * (d + 1)] = inside ? proximal : 1;
    D[r * (d + 1)] = inside ? rho : 0;
  }
}

// F at lambda = scale x; returns its norm. sigma is left in q->sigma, scaled.
static tbReal equations(tbNewton* q, const tbReal* lambda, bool jacobian) {
  tbReal proximal = q->system.velocity ? PROXIMAL_VELOCITY : PROXIMAL_CONSTRAINT, sum = 0;
  tb_delassus_velocity(q->p, lambda, q->s->velocity, q->s->sigma);
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    tbReal x[MAX], sigma[MAX], *F = q->F + b->row;
    tbReal *C = jacobian ? q->C + q->start[i] : NULL, *D = jacobian ? q->D + q->start[i] : NULL;
    for (int r = 0; r < b->dim; r++) {
      tbReal scale = q->scale[b->row + r];
      x[r] = scale > 0 ? lambda[b->row + r] / scale : 0;
      sigma[r] = q->s->sigma[b->row + r] * scale;
    }
    if (b->type == TB_BLOCK_CONE && q->s->law == TB_LAW_LCP) {
      pyramid_equation(q, i, x, sigma, proximal, F, C, D);
    } else if (b->type == TB_BLOCK_CONE) {
      cone_equation(q, i, x, sigma, proximal, F, C, D);
    } else {
      row_equations(q, i, x, sigma, proximal, F, C, D);
    }
    for (int r = 0; r < b->dim; r++) sum += F[r] * F[r];
  }
  return sqrt(sum);
}

// out = C^-1 in for a small general matrix, several columns at once (Gauss with row pivots).
static bool small_divide(int d, const tbReal* C, const tbReal* in, int columns, tbReal* out) {
  tbReal a[MAX * MAX];
  memcpy(a, C, (size_t)(d * d) * sizeof *a);
  memcpy(out, in, (size_t)(d * columns) * sizeof *out);
  for (int k = 0; k < d; k++) {
    int best = k;
    for (int r = k + 1; r < d; r++) {
      if (fabs(a[r * d + k]) > fabs(a[best * d + k])) best = r;
    }
    if (!(fabs(a[best * d + k]) > 0)) return false;
    for (int c = 0; c < d && best != k; c++) {
      tbReal t = a[k * d + c];
      a[k * d + c] = a[best * d + c];
      a[best * d + c] = t;
    }
    for (int c = 0; c < columns && best != k; c++) {
      tbReal t = out[k * columns + c];
      out[k * columns + c] = out[best * columns + c];
      out[best * columns + c] = t;
    }
    for (int r = 0; r < d; r++) {
      if (r == k) continue;
      tbReal f = a[r * d + k] / a[k * d + k];
      for (int c = k; c < d; c++) a[r * d + c] -= f * a[k * d + c];
      for (int c = 0; c < columns; c++) out[r * columns + c] -= f * out[k * columns + c];
    }
  }
  for (int r = 0; r < d; r++) {
    for (int c = 0; c < columns; c++) out[r * columns + c] /= a[r * d + r];
  }
  return true;
}

// dx = -(C + D G)^-1 F.
static bool direction(tbNewton* q) {
  for (int i = 0; i < q->p->n; i++) q->F[i] = -q->F[i];
  if (q->system.velocity) {
    for (int i = 0; i < q->p->nblock; i++) {
      int d = q->p->block[i].dim, row = q->p->block[i].row;
      const tbReal* C = q->C + q->start[i];
      if (!small_divide(d, C, q->D + q->start[i], d, q->E + q->start[i])) return false;
      if (!small_divide(d, C, q->F + row, 1, q->Cb + row)) return false;
    }
  }
  q->s->info->factorizations++;
  if (!tb_system_factor_mixed(&q->system, q->C, q->D, q->E, q->start)) return false;
  tb_system_solve_mixed(&q->system, q->F, q->Cb, q->dx);
  for (int i = 0; i < q->p->n; i++) {
    if (!isfinite(q->dx[i])) return false;
  }
  return true;
}

bool tb_newton_step(tbNewton* q, tbReal* lambda, bool* progress) {
  size_t bytes = (size_t)q->p->n * sizeof *lambda;
  *progress = false;
  tbReal before = equations(q, lambda, true);
  if (before == 0 || !direction(q)) return false;

  // Backtracking on |F|; any clear decrease will do.
  for (tbReal t = 1; t > 0.02; t *= 0.5) {
    for (int i = 0; i < q->p->n; i++) q->trial[i] = lambda[i] + t * q->scale[i] * q->dx[i];
    if (equations(q, q->trial, false) <= (1 - 0.1 * t) * before) {
      memcpy(lambda, q->trial, bytes);
      *progress = true;
      break;
    }
  }
  return true;
}

// Admissible impulses from an iterate: Newton's lie on the cone only up to rounding.
void tb_newton_clean(const tbNewton* q, const tbReal* lambda, tbReal* out) {
  for (int i = 0; i < q->p->nblock; i++) {
    const tbBlock* b = &q->p->block[i];
    tb_block_project(b, q->s->law, lambda + b->row, out + b->row);
  }
}

static void update(void* context, const tbBlock* block, const tbReal* A, const tbReal* b,
                   tbReal* lambda, tbReal* slip) {
  const tbSolve* s = context;
  tb_local_solve(block, s->law, A, b, lambda, slip);
}

// The same with the pyramid for a cone: the equations are piecewise linear then, and Newton ends
// after finitely many steps.
tbResult tb_solve_lcp_newton(tbSolve* s) {
  return tb_solve_ncp_newton(s);
}

tbResult tb_solve_ncp_newton(tbSolve* s) {
  tbNewton q;
  tbSweep sweep;
  if (!tb_sweep_init(&sweep, s) || !tb_newton_init(&q, s)) return tb_solve_no_memory(s);
  tbReal* clean = tb_solve_reals(s, (size_t)s->p->n);
  if (!clean) return tb_solve_no_memory(s);
  int sweeps = s->settings->warm_start ? 0 : 20, failures = 0;
  bool interior = s->law != TB_LAW_NCP;  // interior points know the round cone only
  for (int k = 1; k <= s->settings->max_iter; k++) {
    tb_sweep_set(&sweep, s->lambda);
    for (int j = 0; j < sweeps; j++) {
      tb_sweep(&sweep, s->law, 1, j & 1, s->lambda, update, s);
    }
    bool progress = false;
    tb_newton_step(&q, s->lambda, &progress);
    tb_newton_clean(&q, s->lambda, clean);
    if (tb_solve_check(s, clean, k, sweeps)) {
      memcpy(s->lambda, clean, (size_t)s->p->n * sizeof *clean);
      return TB_OK;
    }
    // No descent: sweep on from the best point so far, longer each time.
    failures = progress ? 0 : failures + 1;
    sweeps = progress ? 0 : 10 << (failures < 8 ? failures : 8);
    if (failures == 5 && !interior) {
      interior = true;
      failures = sweeps = 0;
      tbResult result = tb_solve_ncp_ipm(s);
      if (result != TB_OK || s->info->status == TB_SOLVE_CONVERGED ||
          s->info->status == TB_SOLVE_TIME_LIMIT) {
        return result;
      }
      memcpy(s->lambda, s->best, (size_t)s->p->n * sizeof *s->best);
    }
    if (failures > 8) break;
  }
  s->info->status = failures > 8 ? TB_SOLVE_STALLED : TB_SOLVE_MAX_ITERATIONS;
  return TB_OK;
}
