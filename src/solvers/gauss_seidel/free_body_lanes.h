// The exact law of four contacts on disjoint free bodies, one contact in each SIMD lane, without
// branches: the open, sticking and sliding solutions are computed for all lanes and selected. The
// result of a lane does not depend on the other lanes.
#ifndef TRIBO_SOLVERS_GAUSS_SEIDEL_FREE_BODY_LANES_H_
#define TRIBO_SOLVERS_GAUSS_SEIDEL_FREE_BODY_LANES_H_

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "solvers/gauss_seidel/free_body_contact.h"

enum { TB_LANES_BYTES = 16 };
typedef float tbLanes __attribute__((vector_size(TB_LANES_BYTES), aligned(4), may_alias));
typedef int32_t tbMask __attribute__((vector_size(TB_LANES_BYTES), aligned(4), may_alias));

#if defined(__clang__) || __GNUC__ >= 12
#define TB_LANES_PICK(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
#define TB_LANES_PICK(x, y, a, b, c, d) __builtin_shuffle(x, y, (tbMask){a, b, c, d})
#endif

TB_INLINE tbLanes tb_lanes_select(tbMask mask, tbLanes a, tbLanes b) {
  return (tbLanes)((mask & (tbMask)a) | (~mask & (tbMask)b));
}

TB_INLINE bool tb_lanes_any(tbMask mask) {
  typedef int64_t Two __attribute__((vector_size(TB_LANES_BYTES), may_alias));
  Two two = (Two)mask;
  return (two[0] | two[1]) != 0;
}

TB_INLINE tbLanes tb_lanes_root(tbLanes x) {
  tbLanes y;
  for (int l = 0; l < TB_FREE_LANES; l++) y[l] = sqrtf(x[l]);
  return y;
}

// Transpose between one vector per contact and one vector per row.
TB_INLINE void tb_lanes_transpose(tbLanes* x) {
  tbLanes a = TB_LANES_PICK(x[0], x[1], 0, 4, 1, 5), b = TB_LANES_PICK(x[0], x[1], 2, 6, 3, 7);
  tbLanes c = TB_LANES_PICK(x[2], x[3], 0, 4, 1, 5), d = TB_LANES_PICK(x[2], x[3], 2, 6, 3, 7);
  x[0] = TB_LANES_PICK(a, c, 0, 1, 4, 5);
  x[1] = TB_LANES_PICK(a, c, 2, 3, 6, 7);
  x[2] = TB_LANES_PICK(b, d, 0, 1, 4, 5);
  x[3] = TB_LANES_PICK(b, d, 2, 3, 6, 7);
}

// State of four evaluated contacts, by row: velocity and impulse.
typedef struct {
  tbLanes sigma[TB_FREE_LANES], lambda[TB_FREE_LANES];
} tbFreeLook;

// Constants of the four contacts, by row; `last` and the sliding multiplier in `normal` are
// updated.
typedef struct {
  tbLanes normal[TB_FREE_LANES], S[TB_FREE_LANES], last[TB_FREE_LANES];
  tbLanes change[TB_FREE_LANES];
  tbMask again;  // over-relaxed or damped, so not at the local solution
} tbFreeMove;

// Which contacts, with lambda within their cones, have a residual above `most` at velocity sigma:
// sigma_N < -most or |lambda . sigma + lambda_N |sigma_T|| > most times the largest impulse `load`.
// Squares avoid a square root, because sweeps wait for this result.
TB_INLINE tbMask tb_free_unconverged(const tbFreeLook* k, float most, float load) {
  const tbLanes *s = k->sigma, *l = k->lambda;
  tbLanes square = l[0] * l[0] * (s[1] * s[1] + s[2] * s[2]);
  tbLanes along = l[0] * s[0] + (l[1] * s[1] + l[2] * s[2]);
  tbLanes above = most * load - along, below = -most * load - along;
  return ~((tbMask)(s[0] >= -most) & (tbMask)(above >= 0) & (tbMask)(square <= above * above) &
           ((tbMask)(below <= 0) | (tbMask)(square >= below * below)));
}

// The sliding multiplier s at which the tangents y / det have the length of the normal N / det,
// with the adjugate and the determinant of S + s I: by Newton's method on N / |y| - 1, which is
// nearly linear in s. `free` is lambda_N without tangents, c the right-hand side of the tangents.
TB_INLINE tbLanes tb_free_slip(const tbFreeMove* m, tbMask slides, tbLanes free, const tbLanes* c) {
  enum { MOST = 8 };
  const float enough = 4e-7f, far = 1e6f;
  const tbLanes *S = m->S, *h = m->normal, turned = h[0] * c[0] + h[1] * c[1];
  tbLanes s = m->normal[3], square = c[0] * c[0] + c[1] * c[1], known = s * free * (s * free);
  // The initial s makes |y / det| about |c| / s; the last s is kept unless it is far from that.
  tbMask near = (tbMask)(known * far > square) & (tbMask)(known < far * square), left = slides;
  if (tb_lanes_any(slides & ~near)) s = tb_lanes_select(near, s, tb_lanes_root(square) / free);
  for (int i = 0; i < MOST; i++) {
    tbLanes p = S[0] + s, t = S[2] + s, y0 = S[1] * c[1] - t * c[0], y1 = S[1] * c[0] - p * c[1];
    tbLanes N = free * (p * t - S[1] * S[1]) - (h[0] * y0 + h[1] * y1);
    square = y0 * y0 + y1 * y1;
    tbLanes length = tb_lanes_root(square), miss = N - length, most = enough * length;
    left &= ~((tbMask)(miss <= most) & (tbMask)(-miss <= most));
    if (!tb_lanes_any(left)) break;
    tbLanes slope = free * (p + t) + turned, turn = y0 * c[0] + y1 * c[1], least = 0.01f * s;
    tbLanes next = s - miss * square / (slope * square + N * turn);
    s = tb_lanes_select(left, tb_lanes_select((tbMask)(next > least), next, least), s);
  }
  return s;
}

// The change from the present impulses to the local solution.
TB_INLINE void tb_free_solve(const tbFreeLook* k, tbFreeMove* m) {
  const tbLanes *l = k->lambda, *h = m->normal, *S = m->S, unit = m->normal[2];
  tbLanes u = k->sigma[0] * unit;
  tbLanes c0 = k->sigma[1] * unit - h[0] * u, c1 = k->sigma[2] * unit - h[1] * u;
  tbLanes x0 = (S[1] * c1 - S[2] * c0) * S[3], x1 = (S[1] * c0 - S[0] * c1) * S[3];
  tbLanes n = -u - (h[0] * x0 + h[1] * x1), free = l[0] + (h[0] * l[1] + h[1] * l[2]) - u;
  tbLanes t0 = l[1] + x0, t1 = l[2] + x1, all = l[0] + n;
  tbMask closes = (tbMask)(free > 0);
  tbMask slides = closes & ~((tbMask)(all > 0) & (tbMask)(t0 * t0 + t1 * t1 <= all * all));
  if (tb_lanes_any(slides)) {
    tbLanes c[] = {c0 - (S[0] * l[1] + S[1] * l[2]), c1 - (S[1] * l[1] + S[2] * l[2])};
    tbLanes s = tb_free_slip(m, slides, free, c), p = S[0] + s, t = S[2] + s;
    tbLanes by = 1 / (p * t - S[1] * S[1]), e0 = c0 + s * l[1], e1 = c1 + s * l[2];
    x0 = tb_lanes_select(slides, (S[1] * e1 - t * e0) * by, x0);
    x1 = tb_lanes_select(slides, (S[1] * e0 - p * e1) * by, x1);
    n = tb_lanes_select(slides, -u - (h[0] * x0 + h[1] * x1), n);
    m->normal[3] = tb_lanes_select(slides, s, m->normal[3]);
  }
  // A lane with a NaN keeps its impulse.
  tbLanes sum = n + x0 + x1;
  tbMask finite = (tbMask)(sum - sum == 0);
  m->change[0] = (tbLanes)(finite & (tbMask)tb_lanes_select(closes, n, -l[0]));
  m->change[1] = (tbLanes)(finite & (tbMask)tb_lanes_select(closes, x0, -l[1]));
  m->change[2] = (tbLanes)(finite & (tbMask)tb_lanes_select(closes, x1, -l[2]));
}

// Over-relaxation of contacts `far` from convergence: a contact whose change is aligned with its
// last change (by the squared cosine between them) and not larger moves farther by a share of the
// change, within its cone. Over-relaxing all contacts would make some oscillate for ever. A contact
// whose change opposes its last change takes half of the step.
TB_INLINE void tb_free_relax(const tbFreeLook* k, tbMask far, tbFreeMove* m) {
  const float share = 0.8f, half = 0.5f, aligned = 0.6f, opposed = 0.25f;
  const tbLanes one = (tbLanes){0} + 1, *l = k->lambda, *e = m->last;
  tbLanes d0 = m->change[0], d1 = m->change[1], d2 = m->change[2];
  tbLanes along = d0 * e[0] + d1 * e[1] + d2 * e[2], now = d0 * d0 + d1 * d1 + d2 * d2;
  tbLanes before = e[0] * e[0] + e[1] * e[1] + e[2] * e[2], n = l[0] + d0 + share * d0;
  tbLanes cosine = along * along, most = now * before;
  tbMask farther = far & (tbMask)(along > 0) & (tbMask)(cosine >= aligned * most) &
                   (tbMask)(now <= before) & (tbMask)(l[0] + d0 > 0) & (tbMask)(n > 0);
  tbMask back = (tbMask)(along < 0) & (tbMask)(cosine >= opposed * most);
  tbLanes part = tb_lanes_select(back, one * half, one);
  m->last[0] = tb_lanes_select(far, d0, e[0]);
  m->last[1] = tb_lanes_select(far, d1, e[1]);
  m->last[2] = tb_lanes_select(far, d2, e[2]);
  m->change[0] = part * d0;
  m->change[1] = part * d1;
  m->change[2] = part * d2;
  m->again = farther | back;
  if (!tb_lanes_any(farther)) return;
  tbLanes x = l[1] + d1 + share * d1, y = l[2] + d2 + share * d2;
  tbLanes tail = tb_lanes_root(x * x + y * y);
  tbLanes within = tb_lanes_select((tbMask)(tail > n), n / tail, one);
  m->change[0] = tb_lanes_select(farther, n - l[0], m->change[0]);
  m->change[1] = tb_lanes_select(farther, within * x - l[1], m->change[1]);
  m->change[2] = tb_lanes_select(farther, within * y - l[2], m->change[2]);
}

#endif
