// In rows scaled to the cone |x| <= x_N, y_i = mu_i sigma_i, RaiSim's law of a sliding contact is
//   x = x_N u,   sigma_N = 0,   y = -t (a + u),   t >= 0,   a_i = mu_i A_iN / A_NN              (1)
// (docs/manual/problem.md, eq. 6, with t = alpha A_NN). For a matrix E whose normal column is
// parallel to A's, or that is diagonal, let Phi(z) be the lambda that obeys the law with sigma = E
// lambda - z. Then
//     F = E (lambda - Phi(E lambda - sigma)) = 0                                                (2)
// is equivalent to the law: its derivatives are C = E - E W E and D = E W with W = dPhi/dz.
//
// With a diagonal E sticking contacts stay sticking, even those that would open without their own
// friction and that CM Alg. 5 releases. But for |a| > 1 there is no solution for some z that slide.
// E = A has a solution for every z: the contact's own problem, CM eq. 23.
#include "solvers/local/raisim.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/minmax.h"
#include "linalg/small.h"
#include "solvers/local/local.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// With |a|^2 above STEEP the solution of a diagonal E changes too steeply to be used. Its slope is
// proportional to 1 / (1 + u . a), whose denominator is kept above LEAST_SLOPE.
static const tbReal STEEP = 0.8, LEAST_SLOPE = 1e-3;

// A sliding contact with a diagonal E.
typedef struct {
  int m;                          // tangential rows
  tbReal normal, radius;          // x_N, and e x_N with e = mu_i^2 E_i
  tbReal a[MAX], y[MAX], u[MAX];  // y of z
  tbReal aa, length;              // |a|^2, |y - t a|
  bool exact;                     // (1) has a solution
} Slide;

// y - t a = (radius + t) u: the smallest t with |y - t a| = radius + t, or the closest
// approximation.
static void solve_slide(Slide* s) {
  tbReal ya = 0, yy = 0, t = 0, length = 0;
  for (int i = 0; i < s->m; i++) {
    ya += s->y[i] * s->a[i];
    yy += s->y[i] * s->y[i];
  }
  tbReal p = ya + s->radius, q = yy - s->radius * s->radius, root = p * p + (1 - s->aa) * q;
  tbReal divisor = p + sqrt(tb_max(root, 0));
  s->exact = root >= 0 && divisor > 0;
  if (s->exact) t = q / divisor;
  for (int i = 0; i < s->m; i++) {
    s->u[i] = s->y[i] - t * s->a[i];
    length += s->u[i] * s->u[i];
  }
  s->length = sqrt(length);
  for (int i = 0; i < s->m; i++) s->u[i] /= s->length;
}

// Column k of W: from |y - t a| = radius + t, (1 + u . a) dt = u . dy - dradius.
static void slide_derivative(const Slide* s, const tbReal* mu, const tbReal* E, tbReal e,
                             tbReal* W) {
  int d = s->m + 1;
  tbReal gain = 1;
  for (int i = 0; i < s->m; i++) gain += s->u[i] * s->a[i];
  for (int k = 0; k < d; k++) {
    tbReal normal = k == 0 ? 1 / E[0] : 0, dy[MAX] = {0}, dt = -e * normal, along = 0;
    if (k > 0) {
      dy[k - 1] = mu[k - 1];
      dt = s->u[k - 1] * dy[k - 1];
    }
    dt = s->exact ? dt / tb_max(gain, LEAST_SLOPE) : 0;
    for (int i = 0; i < s->m; i++) {
      dy[i] -= dt * s->a[i];
      along += s->u[i] * dy[i];
    }
    W[k] = normal;
    for (int i = 0; i < s->m; i++) {
      tbReal turn = (dy[i] - along * s->u[i]) / s->length;
      W[(i + 1) * d + k] = mu[i] * (normal * s->u[i] + s->normal * turn);
    }
  }
}

typedef enum { OPEN, STICK, SLIDE } Mode;

// Phi(z) and W (zero on entry) for the diagonal E.
static Mode solve_diagonal(const tbBlock* b, const tbReal* A, const tbReal* E, const tbReal* z,
                           tbReal* answer, tbReal* W, Slide* s) {
  int d = b->dim;
  if (!(z[0] > 0)) return OPEN;
  tbReal e = 0, yy = 0;
  *s = (Slide){.m = d - 1, .normal = z[0] / E[0]};
  for (int i = 0; i < s->m; i++) {
    tbReal mu = b->mu[i];
    e = tb_max(e, mu * mu * E[i + 1]);
    s->a[i] = mu * A[i + 1] / A[0];
    s->y[i] = mu * z[i + 1];
    s->aa += s->a[i] * s->a[i];
    yy += s->y[i] * s->y[i];
  }
  s->radius = e * s->normal;
  answer[0] = s->normal;
  if (yy <= s->radius * s->radius) {
    W[0] = 1 / E[0];
    for (int i = 1; i < d; i++) {
      if (b->mu[i - 1] == 0) continue;
      answer[i] = z[i] / E[i];
      W[i * (d + 1)] = 1 / E[i];
    }
    return STICK;
  }
  solve_slide(s);
  for (int i = 0; i < s->m; i++) answer[i + 1] = b->mu[i] * s->normal * s->u[i];
  slide_derivative(s, b->mu, E, e, W);
  return SLIDE;
}

// W of the contact's own problem at its solution, with x on the cone or inside (equations in
// local.c):
//   S dx + dc + ds (a + u) + (s / |x|)(1 - u u^T) dx = 0,   (a + u) . dx = dn0,   dx_N = dn0 - a .
//   dx
static void own_derivative(const tbBlock* b, const tbReal* A, const tbReal* z, const tbReal* answer,
                           tbReal* W) {
  int d = b->dim, m = d - 1;
  tbReal x[MAX], a[MAX], c[MAX], S[MAX * MAX], v[MAX] = {0}, length = 0, largest = 0;
  for (int i = 0; i < m; i++) {
    tbReal mu = b->mu[i];
    x[i] = mu > 0 ? answer[i + 1] / mu : 0;
    length += x[i] * x[i];
    a[i] = mu * A[i + 1] / A[0];
    c[i] = -mu * (z[i + 1] - A[i + 1] * z[0] / A[0]);
    for (int j = 0; j < m; j++) {
      S[i * m + j] = mu * b->mu[j] * (A[(i + 1) * d + j + 1] - A[i + 1] * A[j + 1] / A[0]);
    }
    if (mu == 0) S[i * (m + 1)] = 1;
  }
  length = sqrt(length);
  // The multiplier s > 0 of a contact on the cone: S x + c = -s (a + u).
  bool slides = length >= (1 - 1e-12) * answer[0];
  tbReal vv = 0, vg = 0;
  for (int i = 0; slides && i < m; i++) {
    tbReal gradient = c[i];
    for (int j = 0; j < m; j++) gradient += S[i * m + j] * x[j];
    v[i] = a[i] + x[i] / length;
    vv += v[i] * v[i];
    vg -= v[i] * gradient;
  }
  slides = slides && vg > 0;
  for (int k = 0; slides && k < m * m; k++) {
    tbReal across = (k / m == k % m) - x[k / m] * x[k % m] / (length * length);
    S[k] += vg / vv / length * across;
  }
  tbReal L[MAX * MAX], Sv[MAX], vSv = 0;
  for (int i = 0; i < m; i++) largest = tb_max(largest, S[i * (m + 1)]);
  if (!tb_small_cholesky(m, S, 0, 1e-14 * largest, L)) return;
  tb_small_solve(m, L, v, Sv);
  for (int i = 0; i < m; i++) vSv += v[i] * Sv[i];
  for (int k = 0; k < d; k++) {
    tbReal dn = k == 0 ? 1 / A[0] : 0, dx[MAX], ds = -dn, normal = dn;
    for (int i = 0; i < m; i++) dx[i] = b->mu[i] * (k == 0 ? -A[i + 1] / A[0] : k == i + 1);
    tb_small_solve(m, L, dx, dx);
    for (int i = 0; i < m; i++) ds += v[i] * dx[i];
    for (int i = 0; slides && i < m; i++) dx[i] -= ds / vSv * Sv[i];
    for (int i = 0; i < m; i++) {
      normal -= a[i] * dx[i];
      W[(i + 1) * d + k] = b->mu[i] * dx[i];
    }
    W[k] = normal;
  }
}

// out = x y, d x d.
static void multiply(int d, const tbReal* x, const tbReal* y, tbReal* out) {
  for (int r = 0; r < d; r++) {
    for (int c = 0; c < d; c++) {
      tbReal sum = 0;
      for (int k = 0; k < d; k++) sum += x[r * d + k] * y[k * d + c];
      out[r * d + c] = sum;
    }
  }
}

// z = E lambda - sigma.
static void shifted(int d, const tbReal* E, const tbReal* lambda, const tbReal* sigma, tbReal* z) {
  for (int r = 0; r < d; r++) {
    z[r] = -sigma[r];
    for (int c = 0; c < d; c++) z[r] += E[r * d + c] * lambda[c];
  }
}

void tb_raisim_cone(const tbRaisimCone* cone, const tbReal* lambda, const tbReal* sigma,
                    tbReal* answer, tbReal* F, tbReal* C, tbReal* D) {
  const tbBlock* b = cone->block;
  int d = b->dim;
  const tbReal *A = cone->A, *E = A;
  tbReal diagonal[MAX * MAX] = {0}, e[MAX] = {A[0]}, W[MAX * MAX] = {0}, z[MAX] = {0}, largest = 0;
  for (int i = 1; i < d; i++) {
    largest = tb_max(largest, b->mu[i - 1] * b->mu[i - 1] * A[i * (d + 1)]);
  }
  for (int i = 1; i < d; i++) {
    tbReal mu = b->mu[i - 1];
    e[i] = mu > 0 ? largest / (mu * mu) : A[i * (d + 1)];
  }
  for (int i = 0; i < d; i++) diagonal[i * (d + 1)] = e[i];
  memset(answer, 0, (size_t)d * sizeof *answer);
  shifted(d, diagonal, lambda, sigma, z);
  Slide slide;
  Mode mode = solve_diagonal(b, A, e, z, answer, W, &slide);
  E = diagonal;
  if (mode == SLIDE && (!slide.exact || slide.aa > STEEP)) {
    tbReal own[MAX] = {0}, minus[MAX] = {0};
    shifted(d, A, lambda, sigma, own);
    for (int r = 0; r < d; r++) minus[r] = -own[r];
    if (own[0] > 0) {
      E = A;
      tb_local_raisim(b, A, minus, answer, cone->slip);
      if (C) own_derivative(b, A, own, answer, W);
    }
  }
  for (int r = 0; r < d; r++) {
    F[r] = 0;
    for (int c = 0; c < d; c++) F[r] += E[r * d + c] * (lambda[c] - answer[c]);
  }
  if (!C) return;
  multiply(d, E, W, D);
  multiply(d, D, E, C);
  for (int k = 0; k < d * d; k++) C[k] = E[k] - C[k];
}
