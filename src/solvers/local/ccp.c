// One contact under the convex law: min lambda^T A lambda / 2 + b^T lambda over its cone.
//
// In y = (lambda_N, lambda_T / mu), |y_T| <= y_N, with B and c scaled alike, there are three cases:
// the minimum is zero (c inside the cone, which is its own dual), it is the unconstrained minimum y
// = -B^-1 c (inside the cone), or it lies on the cone, y = (|x|, x) with x a minimum of
//   f(x) = q(|x|, x),   df = q_T + q_N u,   d2f = B_TT + B_TN u^T + u B_NT + B_NN u u^T
//                                                 + q_N (I - u u^T) / |x|,          u = x / |x|
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/minmax.h"
#include "problem/cone.h"
#include "linalg/small.h"
#include "solvers/local/local.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// The largest eigenvalue of a block is at most its largest absolute row sum.
static tbReal row_sum_bound(int d, const tbReal* A) {
  tbReal bound = 0;
  for (int i = 0; i < d; i++) {
    tbReal sum = 0;
    for (int j = 0; j < d; j++) sum += fabs(A[i * d + j]);
    bound = tb_max(bound, sum);
  }
  return bound;
}

// Projected gradient steps with the paper's length 3 / trace if that is certain to descend, else
// with the inverse of a bound of the largest eigenvalue. Returns the size of the last step over
// that of the first, 0 after convergence.
static tbReal gradient_steps(const tbBlock* block, const tbReal* A, const tbReal* b,
                             tbReal* lambda) {
  int d = block->dim;
  tbReal trace = 0, bound = row_sum_bound(d, A), x[MAX], change = 0, first = 0;
  for (int i = 0; i < d; i++) trace += A[i * d + i];
  if (!(trace > 0)) return 0;
  tbReal step = d / trace;
  if (step * bound > 1.5) step = 1 / bound;
  for (int inner = 0; inner < 8; inner++) {
    tbReal size = 0;
    change = 0;
    for (int i = 0; i < d; i++) {
      tbReal sigma = b[i];
      for (int j = 0; j < d; j++) sigma += A[i * d + j] * lambda[j];
      x[i] = lambda[i] - step * sigma;
    }
    tb_cone_project(d, block->mu, x, x);
    for (int i = 0; i < d; i++) {
      change = tb_max(change, fabs(x[i] - lambda[i]));
      size = tb_max(size, fabs(x[i]));
      lambda[i] = x[i];
    }
    if (change <= 1e-15 * size) return 0;
    if (inner == 0) first = change;
  }
  return change / first;
}

// ---- the exact minimum -------------------------------------------------------------------------

// The block in y; axes without friction stay at zero.
typedef struct {
  int d;
  tbReal B[MAX * MAX], c[MAX], unit[MAX];  // lambda = unit y
} Scaled;

static Scaled scale_block(const tbBlock* block, const tbReal* A, const tbReal* b) {
  Scaled q = {.d = block->dim};
  for (int i = 0; i < q.d; i++) q.unit[i] = i ? block->mu[i - 1] : 1;
  for (int i = 0; i < q.d; i++) {
    q.c[i] = q.unit[i] * b[i];
    for (int j = 0; j < q.d; j++) {
      q.B[i * q.d + j] = q.unit[i] * q.unit[j] * A[i * q.d + j];
    }
    if (q.unit[i] == 0) q.B[i * (q.d + 1)] = 1;
  }
  return q;
}

static tbReal tangential(const Scaled* q, const tbReal* y) {
  tbReal sum = 0;
  for (int i = 1; i < q->d; i++) sum += y[i] * y[i];
  return sqrt(sum);
}

// q(y) and its gradient.
static tbReal objective(const Scaled* q, const tbReal* y, tbReal* gradient) {
  tbReal value = 0;
  for (int i = 0; i < q->d; i++) {
    gradient[i] = q->c[i];
    for (int j = 0; j < q->d; j++) gradient[i] += q->B[i * q->d + j] * y[j];
    value += 0.5 * y[i] * (gradient[i] + q->c[i]);
  }
  return value;
}

// Newton's direction of f at y = (|x|, x). Returns the square root of its decrement, or -1 if the
// Hessian is not positive definite.
static tbReal newton_direction(const Scaled* q, const tbReal* y, const tbReal* gradient,
                               tbReal* step) {
  int d = q->d, m = d - 1;
  tbReal H[MAX * MAX], L[MAX * MAX], slope[MAX], u[MAX], decrement = 0;
  for (int i = 0; i < m; i++) {
    u[i] = y[i + 1] / y[0];
    slope[i] = -(gradient[i + 1] + gradient[0] * u[i]);
  }
  tbReal curve = tb_max(gradient[0], 0) / y[0];
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < m; j++) {
      H[i * m + j] = q->B[(i + 1) * d + j + 1] + q->B[(i + 1) * d] * u[j] + u[i] * q->B[j + 1] +
                     (q->B[0] - curve) * u[i] * u[j] + (i == j ? curve : 0);
    }
  }
  if (!tb_small_cholesky(m, H, 0, 0, L)) return -1;
  tb_small_solve(m, L, slope, step);
  for (int i = 0; i < m; i++) decrement += slope[i] * step[i];
  return decrement > 0 ? sqrt(decrement) : 0;
}

// The sum of the absolute terms of q(y): the rounding error of q(y) is relative to this sum, and
// for c next to the boundary of the cone the minimal value is far smaller.
static tbReal terms(const Scaled* q, const tbReal* y) {
  tbReal sum = 0;
  for (int i = 0; i < q->d; i++) sum += fabs(q->c[i] * y[i]);
  return sum;
}

// Minimise f from a point on the cone. False if Newton's steps do not converge.
static bool descend(const Scaled* q, tbReal* y) {
  tbReal gradient[MAX], trial[MAX], slope[MAX], step[MAX];
  tbReal value = objective(q, y, gradient);
  for (int k = 0; k < 30; k++) {
    tbReal decrement = newton_direction(q, y, gradient, step), length = 1, size = terms(q, y);
    if (decrement < 0) return false;
    if (decrement * decrement <= 1e-28 * size) return gradient[0] >= 0;
    for (int half = 0;; half++, length *= 0.5) {
      if (half == 30) return decrement * decrement <= 1e-14 * size && gradient[0] >= 0;
      for (int i = 1; i < q->d; i++) trial[i] = y[i] + length * step[i - 1];
      trial[0] = tangential(q, trial);
      tbReal next = objective(q, trial, slope);
      if (!(trial[0] > 0) || !(next < value)) continue;
      value = next;
      break;
    }
    memcpy(y, trial, sizeof trial);
    memcpy(gradient, slope, sizeof slope);
  }
  return false;
}

// Minimise from `lambda`, which the gradient steps left near the minimum. False: `lambda` is
// unchanged.
static bool exact_minimum(const tbBlock* block, const tbReal* A, const tbReal* b, tbReal* lambda) {
  Scaled q = scale_block(block, A, b);
  tbReal L[MAX * MAX], y[MAX] = {0}, length = 0;
  bool zero = q.c[0] >= tangential(&q, q.c);
  bool regular = !zero && tb_small_cholesky(q.d, q.B, 0, 1e-14 * q.B[0], L);
  if (regular) {
    tb_small_solve(q.d, L, q.c, y);
    for (int i = 0; i < q.d; i++) y[i] = -y[i];
  }
  if (!zero && !(regular && tangential(&q, y) <= y[0])) {
    for (int i = 1; i < q.d; i++) y[i] = q.unit[i] > 0 ? lambda[i] / q.unit[i] : 0;
    length = y[0] = tangential(&q, y);
    if (!(length > 0) || !descend(&q, y)) return false;
  }
  for (int i = 0; i < q.d; i++) lambda[i] = q.unit[i] * y[i];
  return true;
}

void tb_local_ccp(const tbBlock* block, const tbReal* A, const tbReal* b, tbReal* lambda) {
  if (gradient_steps(block, A, b, lambda) < 0.01) return;
  if (A[0] > 0) exact_minimum(block, A, b, lambda);
}
