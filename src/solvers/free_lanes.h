// The exact law of LANES contacts on free bodies that share none, each in one lane of a register,
// without branches: what opens, sticks and slides is computed for all of them and selected.
// Included once for every number of lanes (2 or 4); what a lane computes does not depend on the
// others.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "solvers/free_contact.h"

#define JOIN_NAME(name, lanes) name##_##lanes
#define LANED_NAME(name, lanes) JOIN_NAME(name, lanes)
#define LANED(name) LANED_NAME(name, LANES)
#define Lanes LANED(Lanes)
#define Mask LANED(Mask)
#define Slide LANED(Slide)

typedef tbReal Lanes __attribute__((vector_size(LANES * sizeof(tbReal)), aligned(8), may_alias));
typedef int64_t Mask __attribute__((vector_size(LANES * sizeof(tbReal)), aligned(8), may_alias));

// By address: without AVX registers of four have no way to be passed that all compilers agree on.
#define SELECT(mask, a, b) ((Lanes)(((mask) & (Mask)(a)) | (~(mask) & (Mask)(b))))
// A number of each contact that is looked at.
#if LANES == 4
#define PICK(x) ((Lanes){look[0]->x, look[1]->x, look[2]->x, look[3]->x})
#else
#define PICK(x) ((Lanes){look[0]->x, look[1]->x})
#endif

TB_INLINE bool LANED(any)(const Mask* mask) {
  bool any = false;
  for (int l = 0; l < LANES; l++) any |= (*mask)[l] != 0;
  return any;
}

TB_INLINE void LANED(root)(const Lanes* x, Lanes* y) {
  for (int l = 0; l < LANES; l++) (*y)[l] = sqrt((*x)[l]);
}

// Which of them, their lambda within their cones, are off by more than `most` m/s at their velocity
// sigma: sigma_N < -most or |lambda . sigma + lambda_N |mu sigma_T|| > most times the largest
// impulse `load`. By squares, since sweeps wait for the answer.
TB_INLINE void LANED(misses)(const tbFreeLook* const* look, tbReal most, tbReal load,
                             Mask* misses) {
  Lanes s0 = PICK(sigma[0]), s1 = PICK(sigma[1]), s2 = PICK(sigma[2]), l0 = PICK(lambda[0]);
  Lanes t0 = PICK(contact->mu[0]) * s1, t1 = PICK(contact->mu[1]) * s2;
  Lanes square = l0 * l0 * (t0 * t0 + t1 * t1);
  Lanes along = l0 * s0 + (PICK(lambda[1]) * s1 + PICK(lambda[2]) * s2);
  Lanes above = most * load - along, below = -most * load - along;
  *misses = ~((Mask)(s0 >= -most) & (Mask)(above >= 0) & (Mask)(square <= above * above) &
              ((Mask)(below <= 0) | (Mask)(square >= below * below)));
}

// x_i = lambda_Ti / mu_i and lambda_N of contacts that slide, by Newton's method on N / |y| - 1,
// nearly linear in the multiplier s: with the adjugate and the determinant of S + s I, x = y / det
// and lambda_N = N / det.
typedef struct {
  Lanes a[2], c[2], n0;  // of tbFreeContact
  Lanes S[3], s, x[2], normal;
  Mask slides, found;
} Slide;

TB_INLINE void LANED(slide)(Slide* k) {
  enum { MOST = 12 };
  const tbReal enough = 1e-9, far = 1e6;
  const Lanes one = (Lanes){0} + 1, n0 = k->n0, a0 = k->a[0], a1 = k->a[1], c0 = k->c[0];
  const Lanes c1 = k->c[1], q = k->S[1], turned = a0 * c0 + a1 * c1;
  // Where |x| is about |c| / s; the last one unless that is far off.
  Lanes square = c0 * c0 + c1 * c1, known = k->s * n0 * (k->s * n0), length, s, det, y0, y1, N;
  Mask near = (Mask)(known * far > square) & (Mask)(known < far * square), found = ~k->slides;
  Mask lost = k->slides & ~near;
  s = k->s;
  if (LANED(any)(&lost)) {
    LANED(root)(&square, &length);
    s = SELECT(near, s, length / n0);
  }
  for (int i = 0;; i++) {
    Lanes p = k->S[0] + s, t = k->S[2] + s;
    det = p * t - q * q;
    y0 = q * c1 - t * c0;
    y1 = q * c0 - p * c1;
    N = n0 * det - (a0 * y0 + a1 * y1);
    square = y0 * y0 + y1 * y1;
    LANED(root)(&square, &length);
    Lanes miss = N - length, most = enough * length;
    found |= (Mask)(miss <= most) & (Mask)(-miss <= most);
    Mask left = ~found;
    if (i == MOST || !LANED(any)(&left)) break;
    Lanes slope = n0 * (p + t) + turned, turn = y0 * c0 + y1 * c1;
    Lanes next = s - miss * square / (slope * square + N * turn), least = 0.01 * s;
    s = SELECT(found, s, SELECT((Mask)(next > least), next, least));
  }
  // Rounding leaves the tangents on the edge or within.
  Lanes within = SELECT((Mask)(length > N), N / length, one) / det;
  k->x[0] = SELECT(k->slides, y0 * within, k->x[0]);
  k->x[1] = SELECT(k->slides, y1 * within, k->x[1]);
  k->normal = SELECT(k->slides, N / det, k->normal);
  k->s = SELECT(k->slides, s, k->s);
  k->found = found;
}

// The solution, from where the contacts are.
TB_INLINE void LANED(solve)(const tbFreeLook* const* look, tbFreeMove* move) {
  const Lanes one = (Lanes){0} + 1;
  Lanes A0 = PICK(contact->A[0]), A1 = PICK(contact->A[1]), A3 = PICK(contact->A[3]);
  Lanes A4 = PICK(contact->A[4]), inverse = PICK(contact->inverse);
  Lanes l0 = PICK(lambda[0]), l1 = PICK(lambda[1]), l2 = PICK(lambda[2]);
  Lanes m0 = PICK(contact->mu[0]), m1 = PICK(contact->mu[1]);
  // The velocity without the contact's own impulse.
  Lanes b0 = PICK(sigma[0]) - (A0 * l0 + A1 * l1 + A3 * l2);
  Lanes b1 = PICK(sigma[1]) - (A1 * l0 + PICK(contact->A[2]) * l1 + A4 * l2);
  Lanes b2 = PICK(sigma[2]) - (A3 * l0 + A4 * l1 + PICK(contact->A[5]) * l2);
  Lanes h0 = A1 * inverse, h1 = A3 * inverse, r1 = PICK(contact->rest[1]);
  Slide k = {.a = {m0 * h0, m1 * h1},
             .c = {m0 * (b1 - h0 * b0), m1 * (b2 - h1 * b0)},
             .n0 = -b0 * inverse,
             .S = {PICK(contact->S[0]), PICK(contact->S[1]), PICK(contact->S[2])},
             .s = PICK(contact->slip)};
  k.x[0] = -(PICK(contact->rest[0]) * k.c[0] + r1 * k.c[1]);
  k.x[1] = -(r1 * k.c[0] + PICK(contact->rest[2]) * k.c[1]);
  k.normal = k.n0 - (k.a[0] * k.x[0] + k.a[1] * k.x[1]);
  Mask closes = (Mask)(b0 < 0), positive = (Mask)(k.normal > 0);
  Mask sticks = positive & (Mask)(k.x[0] * k.x[0] + k.x[1] * k.x[1] <= k.normal * k.normal);
  k.slides = closes & ~sticks;
  k.found = ~k.slides;
  if (LANED(any)(&k.slides)) LANED(slide)(&k);
  Lanes n0 = (Lanes)(closes & (Mask)k.normal), n1 = (Lanes)(closes & (Mask)(m0 * k.x[0]));
  Lanes n2 = (Lanes)(closes & (Mask)(m1 * k.x[1]));
  *(Lanes*)move->slip = k.s;
  *(Lanes*)move->found = (Lanes)(k.found & (Mask)one);
  *(Lanes*)move->lambda[0] = n0;
  *(Lanes*)move->lambda[1] = n1;
  *(Lanes*)move->lambda[2] = n2;
  *(Lanes*)move->change[0] = n0 - l0;
  *(Lanes*)move->change[1] = n1 - l1;
  *(Lanes*)move->change[2] = n2 - l2;
}

// Over-relaxation of what is `far` from settled: farther by a share of the contact's change, within
// the cone, where it follows the last one (the squared cosine between them) and is not larger.
// Everywhere, some contacts would swing for ever.
TB_INLINE void LANED(relax)(const tbFreeLook* const* look, const Mask* far, tbFreeMove* move) {
  const tbReal share = 0.8, aligned = 0.6;
  const Lanes one = (Lanes){0} + 1;
  Lanes *lambda[TB_CONTACT_ROWS], *change[TB_CONTACT_ROWS], *last[TB_CONTACT_ROWS];
  for (int r = 0; r < TB_CONTACT_ROWS; r++) {
    lambda[r] = (Lanes*)move->lambda[r];
    change[r] = (Lanes*)move->change[r];
    last[r] = (Lanes*)move->last[r];
  }
  Lanes d0 = *change[0], d1 = *change[1], d2 = *change[2];
  Lanes e0 = PICK(contact->last[0]), e1 = PICK(contact->last[1]), e2 = PICK(contact->last[2]);
  Lanes along = d0 * e0 + d1 * e1 + d2 * e2, now = d0 * d0 + d1 * d1 + d2 * d2;
  Lanes before = e0 * e0 + e1 * e1 + e2 * e2, n0 = *lambda[0] + share * d0;
  Mask go = *far & (Mask)(along > 0) & (Mask)(along * along >= aligned * now * before) &
            (Mask)(now <= before) & (Mask)(*lambda[0] > 0) & (Mask)(n0 > 0);
  *last[0] = SELECT(*far, d0, e0);
  *last[1] = SELECT(*far, d1, e1);
  *last[2] = SELECT(*far, d2, e2);
  *(Lanes*)move->farther = (Lanes)(go & (Mask)one);
  if (!LANED(any)(&go)) return;
  Lanes n1 = *lambda[1] + share * d1, n2 = *lambda[2] + share * d2, tail;
  Lanes x = n1 / PICK(contact->mu[0]), y = n2 / PICK(contact->mu[1]), square = x * x + y * y;
  LANED(root)(&square, &tail);
  Lanes within = SELECT((Mask)(tail > n0), n0 / tail, one);
  *lambda[0] = SELECT(go, n0, *lambda[0]);
  *lambda[1] = SELECT(go, within * n1, *lambda[1]);
  *lambda[2] = SELECT(go, within * n2, *lambda[2]);
  *change[0] = *lambda[0] - PICK(lambda[0]);
  *change[1] = *lambda[1] - PICK(lambda[1]);
  *change[2] = *lambda[2] - PICK(lambda[2]);
}

#undef PICK
#undef SELECT
#undef Slide
#undef Mask
#undef Lanes
#undef LANED
#undef LANED_NAME
#undef JOIN_NAME
