#include "solvers/local/local.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/minmax.h"
#include "linalg/small.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// A cone after elimination of its normal row with sigma_N = 0, in the unknown x_i = lambda_Ti /
// mu_i, in which the cone is |x| <= lambda_N:
//   lambda_N = normal - a . x,   (S + s I) x = -c,   s >= 0 the sliding multiplier.
typedef struct {
  int m;  // tangential rows
  tbReal normal;
  tbReal a[MAX], c[MAX], S[MAX * MAX];
  tbReal scale;  // largest diagonal entry of S
} Reduced;

static Reduced reduce(const tbBlock* block, const tbReal* A, const tbReal* b) {
  int d = block->dim;
  Reduced r = {.m = d - 1, .normal = -b[0] / A[0]};
  for (int i = 0; i < r.m; i++) {
    tbReal mu = block->mu[i];
    r.a[i] = mu * A[i + 1] / A[0];
    r.c[i] = mu * (b[i + 1] - A[(i + 1) * d] * b[0] / A[0]);
    for (int j = 0; j < r.m; j++) {
      r.S[i * r.m + j] =
          mu * block->mu[j] * (A[(i + 1) * d + j + 1] - A[(i + 1) * d] * A[j + 1] / A[0]);
    }
    // An axis without friction or without inertia stays at zero.
    if (!(r.S[i * r.m + i] > 0)) {
      for (int j = 0; j < r.m; j++) r.S[i * r.m + j] = r.S[j * r.m + i] = 0;
      r.S[i * r.m + i] = 0;
      if (mu == 0) r.c[i] = 0;
    }
    r.scale = tb_max(r.scale, r.S[i * r.m + i]);
  }
  return r;
}

// x(s), lambda_N(s), and the derivative of phi = lambda_N / |x| - 1. False if S + s I is singular.
static bool slide(const Reduced* r, tbReal s, tbReal* x, tbReal* normal, tbReal* length,
                  tbReal* slope) {
  tbReal l[MAX * MAX], dx[MAX], norm = 0, n = r->normal, dn = 0, cross = 0;
  int m = r->m;
  if (m == 2) {
    // The usual contact: closed form.
    tbReal p = r->S[0] + s, q = r->S[1], t = r->S[3] + s, det = p * t - q * q;
    if (!(det > 1e-14 * p * t)) return false;
    x[0] = -(t * r->c[0] - q * r->c[1]) / det;
    x[1] = -(p * r->c[1] - q * r->c[0]) / det;
    dx[0] = -(t * x[0] - q * x[1]) / det;
    dx[1] = -(p * x[1] - q * x[0]) / det;
  } else {
    if (!tb_small_cholesky(m, r->S, s, 1e-14 * (r->scale + s), l)) return false;
    tb_small_solve(m, l, r->c, x);
    for (int i = 0; i < m; i++) x[i] = -x[i];
    tb_small_solve(m, l, x, dx);
    for (int i = 0; i < m; i++) dx[i] = -dx[i];
  }
  for (int i = 0; i < m; i++) {
    n -= r->a[i] * x[i];
    dn -= r->a[i] * dx[i];
    norm += x[i] * x[i];
    cross += x[i] * dx[i];
  }
  norm = sqrt(norm);
  *normal = n;
  *length = norm;
  *slope = norm > 0 ? dn / norm - n * cross / (norm * norm * norm) : 0;
  return true;
}

// Find s > 0 with |x(s)| = lambda_N(s): at s = 0 the point lies outside the cone, for s -> infinity
// x vanishes and lambda_N > 0, so phi changes sign. Newton's method inside a bracket.
static void find_slip(const Reduced* r, tbReal* x, tbReal* normal, tbReal* slip) {
  tbReal low = 0, high = 0, length = 0, slope = 0, c = 0;
  for (int i = 0; i < r->m; i++) c += r->c[i] * r->c[i];
  tbReal s = *slip > 0 ? *slip : sqrt(c) / r->normal;
  if (!(s > 0)) s = r->scale > 0 ? r->scale : 1;
  for (int k = 0; k < 200; k++) {
    tbReal phi = -1;
    if (slide(r, s, x, normal, &length, &slope)) phi = length > 0 ? *normal / length - 1 : 1;
    if (fabs(phi) <= 4e-16) break;
    if (phi < 0) {
      low = s;
    } else {
      high = s;
    }
    if (high > 0 && high - low <= 2e-16 * high) break;
    tbReal next = slope > 0 ? s - phi / slope : -1;
    if (high == 0) {
      // No upper bound yet: follow Newton's step, but at least double.
      s = tb_max(2 * s, tb_min(next, 100 * s));
    } else {
      s = next > low && next < high ? next : low > 0 ? sqrt(low * high) : 0.01 * high;
      if (s == low || s == high) s = 0.5 * (low + high);
    }
    if (!isfinite(s) || s == 0) break;
  }
  *slip = s;
}

// The exact law of one contact (CM eq. 13): take-off, stiction or sliding.
static void local_ncp(const tbBlock* block, const tbReal* A, const tbReal* b, tbReal* lambda,
                      tbReal* slip) {
  memset(lambda, 0, (size_t)block->dim * sizeof *lambda);
  if (b[0] >= 0 || !(A[0] > 0)) return;
  Reduced r = reduce(block, A, b);
  tbReal x[MAX] = {0}, normal = 0, length = 0, slope = 0;
  bool stick = slide(&r, 0, x, &normal, &length, &slope) && length <= normal;
  if (!stick) {
    bool still = true;
    for (int i = 0; i < r.m; i++) still = still && r.c[i] == 0;
    if (still) {
      memset(x, 0, sizeof x);
      normal = r.normal;
    } else {
      find_slip(&r, x, &normal, slip);
      // Scale x to lie exactly on the cone of the normal impulse.
      length = 0;
      for (int i = 0; i < r.m; i++) length += x[i] * x[i];
      length = sqrt(length);
      tbReal shrink = length > normal && length > 0 ? normal / length : 1;
      for (int i = 0; i < r.m; i++) x[i] *= shrink;
    }
  }
  if (!(normal > 0)) return;
  lambda[0] = normal;
  for (int i = 0; i < r.m; i++) lambda[i + 1] = block->mu[i] * x[i];
}

// The x that minimises x^T S x / 2 + w . x + s |x|, w = c + s a: zero for |w| <= s, else (S + tau
// I) x = -w with tau |x| = s, where tau |x| grows with tau from 0 to |w|. Newton's method inside a
// bracket; `tau` keeps the last root. Returns the derivative of the dual, |x| + a . x - n0.
static tbReal dual_slope(const Reduced* r, tbReal s, tbReal* x, tbReal* tau) {
  Reduced q = *r;
  tbReal w = 0, value = -r->normal, normal = 0, length = 0, unused = 0;
  for (int i = 0; i < q.m; i++) {
    q.c[i] += s * q.a[i];
    w += q.c[i] * q.c[i];
  }
  memset(x, 0, (size_t)q.m * sizeof *x);
  if (!(w > s * s)) return value;
  tbReal low = 0, high = INFINITY, t = *tau > 0 ? *tau : q.scale > 0 ? q.scale : 1;
  for (int k = 0; k < 200; k++) {
    if (!slide(&q, t, x, &normal, &length, &unused)) break;
    tbReal l[MAX * MAX], dx[MAX], cross = 0, error = t * length - s;
    if (fabs(error) <= 4e-16 * s) break;
    if (error < 0) {
      low = t;
    } else {
      high = t;
    }
    if (isfinite(high) && high - low <= 2e-16 * high) break;
    tb_small_cholesky(q.m, q.S, t, 0, l);
    tb_small_solve(q.m, l, x, dx);
    for (int i = 0; i < q.m; i++) cross += x[i] * dx[i];
    tbReal slope = length - t * cross / length, next = slope > 0 ? t - error / slope : -1;
    if (!(next > low && next < high)) next = isinf(high) ? 4 * t : 0.5 * (low + high);
    if (next == low || next == high) break;
    t = next;
  }
  *tau = t;
  value += length;
  for (int i = 0; i < q.m; i++) value += q.a[i] * x[i];
  return value;
}

// RaiSim's law for cones of any size (CM eq. 23): x minimises x^T S x / 2 + c . x on the convex set
// |x| <= n0 - a . x. The derivative of the dual function falls with the multiplier s: its root is
// found by bisection, accelerated by secants (Illinois).
void tb_local_raisim(const tbBlock* block, const tbReal* A, const tbReal* b, tbReal* lambda,
                     tbReal* slip) {
  memset(lambda, 0, (size_t)block->dim * sizeof *lambda);
  if (b[0] >= 0 || !(A[0] > 0)) return;
  Reduced r = reduce(block, A, b);
  tbReal x[MAX] = {0}, normal = 0, length = 0, slope = 0;
  bool stick = slide(&r, 0, x, &normal, &length, &slope) && length <= normal;
  if (!stick) {
    tbReal low = 0, below = length - normal, high = 0, above = 0;
    for (int i = 0; i < r.m; i++) high += fabs(r.c[i]);
    if (!(below > 0)) below = r.normal;
    for (int k = 0; k < 100 && (above = dual_slope(&r, high, x, slip)) > 0; k++) {
      low = high;
      below = above;
      high *= 2;
    }
    for (int k = 0; k < 200 && above < 0 && high - low > 1e-15 * high; k++) {
      tbReal middle =
          k % 3 == 2 ? 0.5 * (low + high) : low + (high - low) * below / (below - above);
      if (!(middle > low && middle < high)) middle = 0.5 * (low + high);
      if (middle <= low || middle >= high) break;
      tbReal value = dual_slope(&r, middle, x, slip);
      if (value == 0) break;
      if (value > 0) {
        low = middle;
        below = value;
        above *= 0.5;
      } else {
        high = middle;
        above = value;
        below *= 0.5;
      }
    }
    // Scale x to lie exactly on the cone.
    length = 0;
    for (int i = 0; i < r.m; i++) length += x[i] * x[i];
    length = sqrt(length);
    normal = r.normal;
    for (int i = 0; i < r.m; i++) normal -= r.a[i] * x[i];
    for (int i = 0; i < r.m && length > normal; i++) x[i] *= tb_max(normal, 0) / length;
  }
  if (!(normal > 0)) return;
  lambda[0] = normal;
  for (int i = 0; i < r.m; i++) lambda[i + 1] = block->mu[i] * x[i];
}

// Row by row: the exact minimum of each row inside its bounds.
static void local_rows(const tbBlock* block, bool pyramid, const tbReal* A, const tbReal* b,
                       tbReal* lambda) {
  int d = block->dim;
  for (int i = 0; i < d; i++) {
    tbReal low = block->lower, high = block->upper, sigma = b[i];
    if (block->type == TB_BLOCK_ONE_SIDED || (pyramid && i == 0)) {
      low = 0;
      high = INFINITY;
    } else if (pyramid) {
      high = block->mu[i - 1] * lambda[0];
      low = -high;
    }
    for (int j = 0; j < d; j++) sigma += A[i * d + j] * lambda[j];
    if (A[i * d + i] > 0) lambda[i] -= sigma / A[i * d + i];
    lambda[i] = tb_max(low, tb_min(high, lambda[i]));
  }
}

static void local_equality(const tbBlock* block, const tbReal* A, const tbReal* b, tbReal* lambda) {
  int d = block->dim;
  tbReal l[MAX * MAX], residual[MAX], scale = 0;
  for (int i = 0; i < d; i++) {
    residual[i] = -b[i];
    for (int j = 0; j < d; j++) residual[i] -= A[i * d + j] * lambda[j];
    scale = tb_max(scale, A[i * d + i]);
  }
  if (!(scale > 0)) return;
  // Redundant rows: a small ridge distributes the impulse, and repeated sweeps remove its error.
  if (!tb_small_cholesky(d, A, 0, 1e-13 * scale, l) &&
      !tb_small_cholesky(d, A, 1e-8 * scale, 0, l)) {
    return;
  }
  tb_small_solve(d, l, residual, residual);
  for (int i = 0; i < d; i++) lambda[i] += residual[i];
}

void tb_local_solve(const tbBlock* block, tbLaw law, const tbReal* A, const tbReal* b,
                    tbReal* lambda, tbReal* slip) {
  switch (block->type) {
    case TB_BLOCK_EQUALITY: local_equality(block, A, b, lambda); break;
    case TB_BLOCK_CONE:
      if (law == TB_LAW_CCP) {
        tb_local_ccp(block, A, b, lambda);
      } else if (law == TB_LAW_LCP) {
        local_rows(block, true, A, b, lambda);
      } else {
        local_ncp(block, A, b, lambda, slip);
      }
      break;
    default: local_rows(block, false, A, b, lambda);
  }
}
