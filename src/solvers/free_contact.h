// A contact of three rows on one free body or two, nearly all that there is in a heap, under the
// exact law (CM eq. 13): what of its local problem does not change from sweep to sweep is computed
// once, and the multiplier of sliding goes on from the last sweep's by a few steps of Newton's
// method. Velocities are whitened (active_sweep.c).
#ifndef TRIBO_SOLVERS_FREE_CONTACT_H_
#define TRIBO_SOLVERS_FREE_CONTACT_H_

#include <math.h>

#include "linalg/ltdl.h"
#include "solvers/contact_rows.h"
#include "tribo/problem.h"

// All that sweeps read of it: eight lines of cache, of which the first six tell whether it is good
// enough. After elimination of its normal row on the plane
// sigma_N = 0, in the unknowns x_i = lambda_Ti / mu_i (local.c): lambda_N = n0 - a . x with
// n0 = -b_N / A_NN, a_i = mu_i h_i, h_i = A_Ni / A_NN, and (S + s I) x = -c with
// c_i = mu_i (b_i - h_i b_N), s >= 0 the multiplier of sliding.
typedef struct {
  _Alignas(64) int bodies;  // that it moves, or 0: a block that goes the general way
  int body[2];              // their first dofs
  int row;
  tbReal g[TB_CONTACT_ROWS], R[TB_CONTACT_ROWS], mu[2];
  tbReal B[TB_CONTACT_ROWS * TB_PAIR_DOFS];
  tbReal A[6];     // B B^T + R by rows of its lower triangle
  tbReal inverse;  // 1 / A_NN
  tbReal S[3];
  tbReal rest[3];  // S^-1
  tbReal slip;
  tbReal last[TB_CONTACT_ROWS];  // change
} tbFreeContact;

// B = J L^-1 D^-1/2 of the rows that B holds as J, `width` of them side by side: on the six dofs
// from `first` on, each an ancestor of the next.
TB_INLINE void tb_free_contact_whiten(const tbForest* forest, const tbReal* LD,
                                      const tbReal* inverse, int first, int width, tbReal* B) {
  for (int k = TB_BODY_DOFS - 1; k >= 0; k--) {
    const tbReal* row = LD + forest->rowadr[first + k];
    tbReal root = sqrt(inverse[first + k]);
    for (int r = 0; r < TB_CONTACT_ROWS; r++) {
      tbReal* x = B + r * width;
      for (int t = 0; t < k; t++) x[t] -= row[t] * x[k];
      x[k] *= root;
    }
  }
}

// B B^T.
TB_INLINE void tb_free_contact_square(const tbFreeContact* c, tbReal* A) {
  for (int r = 0; r < TB_CONTACT_ROWS; r++) {
    if (c->bodies == 2) {
      const tbReal* row = c->B + r * TB_PAIR_DOFS;
      tb_contact_mul_pair(c->B, row, row + TB_BODY_DOFS, A + r * TB_CONTACT_ROWS);
    } else {
      tb_contact_mul_single(c->B, c->B + r * TB_BODY_DOFS, A + r * TB_CONTACT_ROWS);
    }
  }
}

// The local problem of A = B B^T + R. False where an axis has no friction or no inertia, or where
// two depend on each other.
static inline bool tb_free_contact_reduce(const tbBlock* b, const tbReal* A, tbFreeContact* c) {
  const tbReal singular = 1e-14;
  if (!(A[0] > 0)) return false;
  c->inverse = 1 / A[0];
  tbReal m0 = c->mu[0] = b->mu[0], m1 = c->mu[1] = b->mu[1];
  tbReal h0 = A[3] * c->inverse, h1 = A[6] * c->inverse;
  c->S[0] = m0 * m0 * (A[4] - A[3] * h0);
  c->S[1] = m0 * m1 * (A[5] - A[3] * h1);
  c->S[2] = m1 * m1 * (A[8] - A[6] * h1);
  tbReal product = c->S[0] * c->S[2], det = product - c->S[1] * c->S[1];
  if (!(c->S[0] > 0) || !(c->S[2] > 0) || !(det > singular * product)) return false;
  c->rest[0] = c->S[2] / det;
  c->rest[1] = -c->S[1] / det;
  c->rest[2] = c->S[0] / det;
  for (int r = 0, k = 0; r < TB_CONTACT_ROWS; r++) {
    for (int j = 0; j <= r; j++) c->A[k++] = A[r * TB_CONTACT_ROWS + j];
  }
  return true;
}

// Sliding by the multiplier s: with the adjugate and the determinant of S + s I, x = y / det, and
// lambda_N = N / det. Root of N = |y|.
typedef struct {
  tbReal det, y[2], N, length;
  tbReal step;  // of Newton's method on N / |y| - 1, nearly linear in s
} tbFreeSlide;

TB_INLINE tbFreeSlide tb_free_contact_slide(const tbFreeContact* k, const tbReal* a,
                                            const tbReal* c, tbReal n0, tbReal s) {
  tbReal p = k->S[0] + s, q = k->S[1], t = k->S[2] + s;
  tbFreeSlide l = {.det = p * t - q * q, .y = {q * c[1] - t * c[0], q * c[0] - p * c[1]}};
  tbReal square = l.y[0] * l.y[0] + l.y[1] * l.y[1];
  l.length = sqrt(square);
  l.N = n0 * l.det - (a[0] * l.y[0] + a[1] * l.y[1]);
  tbReal slope = n0 * (p + t) + (a[0] * c[0] + a[1] * c[1]);
  tbReal turn = l.y[0] * c[0] + l.y[1] * c[1];
  l.step = (l.N - l.length) * square / (slope * square + l.N * turn);
  return l;
}

// The multiplier s with |x(s)| = lambda_N(s), by Newton's method inside a bracket: N / |y| - 1 is
// below zero at s = 0 and above for s -> infinity. Sweeps go on from it: some digits are enough.
TB_INLINE tbReal tb_free_contact_slip(const tbFreeContact* k, const tbReal* a, const tbReal* c,
                                      tbReal n0, tbReal s, tbReal* x, tbReal* normal) {
  enum { MOST = 50 };
  const tbReal enough = 1e-9, far = 1e6;
  tbReal low = 0, high = 0, known = s * n0 * (s * n0), square = c[0] * c[0] + c[1] * c[1];
  tbFreeSlide l = {0};
  // Where |x| is about |c| / s; the last one unless that is far off.
  if (!(known * far > square && known < far * square)) s = sqrt(square) / n0;
  for (int i = 0; i < MOST; i++) {
    l = tb_free_contact_slide(k, a, c, n0, s);
    tbReal miss = l.N - l.length;
    if (!(fabs(miss) > enough * l.length)) break;
    if (miss < 0) {
      low = s;
    } else {
      high = s;
    }
    tbReal next = s - l.step;
    if (miss < 0 ? !(next > s) : !(next < s)) next = -1;
    if (high == 0) {
      s = fmax(2 * s, fmin(next, 100 * s));
    } else {
      s = next > low && next < high ? next : low > 0 ? sqrt(low * high) : 0.01 * high;
    }
    if (!isfinite(s) || s == low || s == high) break;
  }
  tbReal by = 1 / l.det;
  x[0] = l.y[0] * by;
  x[1] = l.y[1] * by;
  *normal = l.N * by;
  return s;
}

// The exact law of one contact (CM eq. 13), b its velocity without its own impulse.
TB_INLINE void tb_free_contact_solve(tbFreeContact* k, const tbReal* b, tbReal* lambda) {
  lambda[0] = lambda[1] = lambda[2] = 0;
  if (!(b[0] < 0)) return;
  tbReal n0 = -b[0] * k->inverse, h[2] = {k->A[1] * k->inverse, k->A[3] * k->inverse};
  tbReal a[2] = {k->mu[0] * k->A[1] * k->inverse, k->mu[1] * k->A[3] * k->inverse};
  tbReal c[2] = {k->mu[0] * (b[1] - h[0] * b[0]), k->mu[1] * (b[2] - h[1] * b[0])};
  tbReal x[2] = {-(k->rest[0] * c[0] + k->rest[1] * c[1]),
                 -(k->rest[1] * c[0] + k->rest[2] * c[1])};
  tbReal normal = n0 - (a[0] * x[0] + a[1] * x[1]);
  if (!(normal > 0) || x[0] * x[0] + x[1] * x[1] > normal * normal) {
    tbReal found = tb_free_contact_slip(k, a, c, n0, k->slip, x, &normal);
    tbReal length = sqrt(x[0] * x[0] + x[1] * x[1]);
    tbReal shrink = length > normal && length > 0 ? normal / length : 1;
    if (!(normal > 0) || !isfinite(shrink)) return;
    k->slip = found;
    x[0] *= shrink;
    x[1] *= shrink;
  }
  lambda[0] = normal;
  lambda[1] = k->mu[0] * x[0];
  lambda[2] = k->mu[1] * x[1];
}

// Over-relaxation: go farther by a share of the contact's change, within the cone, where it follows
// the last one (the squared cosine between them) and is not larger. Everywhere, some contacts would
// swing for ever.
TB_INLINE bool tb_free_contact_farther(tbFreeContact* l, tbReal* change, tbReal* lambda) {
  const tbReal share = 0.8, aligned = 0.6;
  tbReal along = 0, now = 0, before = 0;
  for (int r = 0; r < TB_CONTACT_ROWS; r++) {
    along += change[r] * l->last[r];
    now += change[r] * change[r];
    before += l->last[r] * l->last[r];
    l->last[r] = change[r];
  }
  if (!(along > 0) || along * along < aligned * now * before || now > before || !(lambda[0] > 0)) {
    return false;
  }
  tbReal next[TB_CONTACT_ROWS];
  for (int r = 0; r < TB_CONTACT_ROWS; r++) next[r] = lambda[r] + share * change[r];
  if (!(next[0] > 0)) return false;
  tbReal x = next[1] / l->mu[0], y = next[2] / l->mu[1], tail = sqrt(x * x + y * y);
  tbReal shrink = tail > next[0] ? next[0] / tail : 1;
  next[1] *= shrink;
  next[2] *= shrink;
  for (int r = 0; r < TB_CONTACT_ROWS; r++) {
    change[r] += next[r] - lambda[r];
    lambda[r] = next[r];
  }
  return true;
}

// Solve a contact at its velocity sigma, and push the change. Whether it went farther.
TB_INLINE bool tb_free_contact_move(tbFreeContact* c, const tbReal* sigma, bool farther, tbReal* w,
                                    tbReal* lambda) {
  const tbReal *A = c->A, before[TB_CONTACT_ROWS] = {lambda[0], lambda[1], lambda[2]};
  tbReal change[TB_CONTACT_ROWS];
  tbReal b[TB_CONTACT_ROWS] = {sigma[0] - (A[0] * before[0] + A[1] * before[1] + A[3] * before[2]),
                               sigma[1] - (A[1] * before[0] + A[2] * before[1] + A[4] * before[2]),
                               sigma[2] - (A[3] * before[0] + A[4] * before[1] + A[5] * before[2])};
  tb_free_contact_solve(c, b, lambda);
  for (int r = 0; r < TB_CONTACT_ROWS; r++) change[r] = lambda[r] - before[r];
  farther = farther && tb_free_contact_farther(c, change, lambda);
  if (c->bodies == 2) {
    tb_contact_push_pair(c->B, change, w + c->body[0], w + c->body[1]);
  } else {
    tb_contact_push_single(c->B, change, w + c->body[0]);
  }
  return farther;
}

// Its sigma at whitened velocity w.
TB_INLINE void tb_free_contact_velocity(const tbFreeContact* c, const tbReal* w,
                                        const tbReal* lambda, tbReal* sigma) {
  if (c->bodies == 2) {
    tb_contact_mul_pair(c->B, w + c->body[0], w + c->body[1], sigma);
  } else {
    tb_contact_mul_single(c->B, w + c->body[0], sigma);
  }
  for (int r = 0; r < TB_CONTACT_ROWS; r++) sigma[r] += c->g[r] + c->R[r] * lambda[r];
}

// Whether a contact, whose lambda is within its cone, is off by no more than `most` m/s at its
// velocity sigma: sigma_N >= -most and |lambda . sigma + lambda_N |mu sigma_T|| <= most times the
// largest impulse `load`. By squares and without branches, since sweeps wait for the answer.
TB_INLINE bool tb_free_contact_holds(const tbFreeContact* c, const tbReal* lambda,
                                     const tbReal* sigma, tbReal most, tbReal load) {
  tbReal t0 = c->mu[0] * sigma[1], t1 = c->mu[1] * sigma[2], power = most * load;
  tbReal square = lambda[0] * lambda[0] * (t0 * t0 + t1 * t1);
  tbReal along = lambda[0] * sigma[0] + (lambda[1] * sigma[1] + lambda[2] * sigma[2]);
  tbReal above = power - along, below = -power - along;
  return (sigma[0] >= -most) & (above >= 0) & (square <= above * above) &
         ((below <= 0) | (square >= below * below));
}

#endif
