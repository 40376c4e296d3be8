// Algebra of Lorentz cones |x_T| <= x_0 for interior-point methods: products, and the Nesterov-Todd
// scaling V with V x = V^-1 z of a pair inside the cone.
#ifndef TRIBO_SOLVERS_INTERIOR_POINT_LORENTZ_H_
#define TRIBO_SOLVERS_INTERIOR_POINT_LORENTZ_H_

#include <math.h>
#include <stdbool.h>

#include "base/minmax.h"
#include "tribo/problem.h"

typedef struct {
  tbReal eta;  // H = V V = eta^2 (2 w w^T - J)
  tbReal w[TB_MAX_BLOCK_DIM];
  tbReal point[TB_MAX_BLOCK_DIM];  // the scaled point V x = V^-1 z
} tbLorentz;

static inline tbReal tb_lorentz_tail(int d, const tbReal* x) {
  tbReal sum = 0;
  for (int i = 1; i < d; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

// x^T J x, without cancellation for x close to the boundary.
static inline tbReal tb_lorentz_det(int d, const tbReal* x) {
  tbReal t = tb_lorentz_tail(d, x);
  return (x[0] - t) * (x[0] + t);
}

static inline void tb_lorentz_product(int d, const tbReal* a, const tbReal* b, tbReal* out) {
  tbReal sum = 0;
  for (int i = 0; i < d; i++) sum += a[i] * b[i];
  for (int i = 1; i < d; i++) out[i] = a[0] * b[i] + b[0] * a[i];
  out[0] = sum;
}

// The `out` with a ∘ out = b.
static inline void tb_lorentz_divide(int d, const tbReal* a, const tbReal* b, tbReal* out) {
  tbReal cross = 0;
  for (int i = 1; i < d; i++) cross += a[i] * b[i];
  tbReal first = (a[0] * b[0] - cross) / tb_lorentz_det(d, a);
  for (int i = 1; i < d; i++) out[i] = (b[i] - a[i] * first) / a[0];
  out[0] = first;
}

// V x (sign = 1) or V^-1 x (sign = -1).
static inline void tb_lorentz_scale(int d, const tbLorentz* s, int sign, const tbReal* x,
                                    tbReal* out) {
  tbReal cross = 0, eta = sign > 0 ? s->eta : 1 / s->eta;
  for (int i = 1; i < d; i++) cross += s->w[i] * x[i];
  cross *= sign;
  tbReal factor = x[0] + cross / (1 + s->w[0]);
  tbReal first = eta * (s->w[0] * x[0] + cross);
  for (int i = 1; i < d; i++) out[i] = eta * (x[i] + sign * factor * s->w[i]);
  out[0] = first;
}

// H x = V V x.
static inline void tb_lorentz_hessian(int d, const tbLorentz* s, const tbReal* x, tbReal* out) {
  tbReal cross = 0, square = s->eta * s->eta;
  for (int i = 0; i < d; i++) cross += s->w[i] * x[i];
  for (int i = 0; i < d; i++) {
    out[i] = square * (2 * cross * s->w[i] - (i == 0 ? x[i] : -x[i]));
  }
}

static inline void tb_lorentz_scaling(int d, const tbReal* x, const tbReal* z, tbLorentz* s) {
  tbReal dx = sqrt(tb_lorentz_det(d, x)), dz = sqrt(tb_lorentz_det(d, z)), dot = 0;
  for (int i = 0; i < d; i++) dot += x[i] * z[i];
  tbReal gamma = sqrt(0.5 * (1 + dot / (dx * dz)));
  for (int i = 0; i < d; i++) {
    s->w[i] = (z[i] / dz + (i == 0 ? x[i] : -x[i]) / dx) / (2 * gamma);
  }
  s->eta = sqrt(dz / dx);
  tb_lorentz_scale(d, s, 1, x, s->point);
}

// The right-hand side c of a step, with V^-1 c ∘ point = target e - point ∘ point, minus the
// second-order term (V dx) ∘ (V^-1 dz) of an affine step if dx is not NULL (Mehrotra).
static inline void tb_lorentz_target(int d, const tbLorentz* s, tbReal target, const tbReal* dx,
                                     const tbReal* dz, tbReal* c) {
  tbReal want[TB_MAX_BLOCK_DIM], u[TB_MAX_BLOCK_DIM];
  tb_lorentz_product(d, s->point, s->point, want);
  for (int r = 0; r < d; r++) want[r] = -want[r];
  want[0] += target;
  if (dx) {
    tbReal v[TB_MAX_BLOCK_DIM], second[TB_MAX_BLOCK_DIM];
    tb_lorentz_scale(d, s, 1, dx, u);
    tb_lorentz_scale(d, s, -1, dz, v);
    tb_lorentz_product(d, u, v, second);
    for (int r = 0; r < d; r++) want[r] -= second[r];
  }
  tb_lorentz_divide(d, s->point, want, u);
  tb_lorentz_scale(d, s, 1, u, c);
}

// Whether x + a dx lies in the cone.
static inline bool tb_lorentz_holds(int d, const tbReal* x, const tbReal* dx, tbReal a) {
  tbReal first = x[0] + a * dx[0], sum = 0;
  for (int i = 1; i < d; i++) {
    tbReal y = x[i] + a * dx[i];
    sum += y * y;
  }
  return first >= 0 && sum <= first * first;
}

// The largest a with x + a dx in the cone.
static inline tbReal tb_lorentz_step(int d, const tbReal* x, const tbReal* dx) {
  tbReal a = dx[0] * dx[0], b = x[0] * dx[0], c = tb_lorentz_det(d, x), limit = INFINITY;
  for (int i = 1; i < d; i++) {
    a -= dx[i] * dx[i];
    b -= x[i] * dx[i];
  }
  if (c < 0) c = 0;
  // Roots of a t^2 + 2 b t + c.
  tbReal disc = b * b - a * c;
  if (disc >= 0) {
    tbReal q = -(b + (b >= 0 ? sqrt(disc) : -sqrt(disc)));
    if (a != 0 && q / a > 0) limit = q / a;
    if (q != 0 && c / q > 0 && c / q < limit) limit = c / q;
  }
  if (dx[0] < 0 && -x[0] / dx[0] < limit) limit = -x[0] / dx[0];
  return limit;
}

// --- cones of one dimension ------------------------------------------------------------------

// The pair on the central path, x z = mu, with x - z = y: x = (y + sqrt(y^2 + 4 mu)) / 2 (Chen and
// Harker; Kanzow; Smale). The point is centred for any mu > 0.
static inline void tb_central_pair(tbReal y, tbReal mu, tbReal* x, tbReal* z) {
  tbReal root = sqrt(y * y + 4 * mu);
  *x = y > 0 ? 0.5 * (y + root) : 2 * mu / (root - y);
  *z = y > 0 ? 2 * mu / (root + y) : 0.5 * (root - y);
}

// The largest step that keeps a row x and its multiplier z nonnegative.
static inline tbReal tb_pair_step(tbReal x, tbReal dx, tbReal z, tbReal dz) {
  return tb_min(dx < 0 ? -x / dx : INFINITY, dz < 0 ? -z / dz : INFINITY);
}

// Newton's step of the multiplier z of a bound at distance `gap`, for gap z = target; a missing
// bound has z = 0.
static inline tbReal tb_bound_slope(tbReal target, tbReal gap, tbReal dgap, tbReal z) {
  return z > 0 ? target / gap - z - z / gap * dgap : 0;
}

// Mehrotra's centring: the target complementarity over the present one, `mu`, from the
// complementarity `left` after the affine step alone.
static inline tbReal tb_centering(tbReal left, tbReal mu) {
  const tbReal least = 1e-6;
  tbReal ratio = mu > 0 ? tb_max(left, 0) / mu : 0;
  return tb_min(1, tb_max(ratio * ratio * ratio, least));
}

#endif
