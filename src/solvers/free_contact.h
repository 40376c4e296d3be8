// A contact of three rows on one free body or two, nearly all that there is in a heap, under the
// exact law (CM eq. 13): what of its local problem does not change from sweep to sweep is computed
// once. Velocities are whitened (active_sweep.c).
#ifndef TRIBO_SOLVERS_FREE_CONTACT_H_
#define TRIBO_SOLVERS_FREE_CONTACT_H_

#include <math.h>
#include <stdbool.h>

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
  tbReal rest[3];                // S^-1
  tbReal slip;                   // the last s
  tbReal last[TB_CONTACT_ROWS];  // change of lambda
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

// w of a change of its impulse.
TB_INLINE void tb_free_contact_push(const tbFreeContact* c, const tbReal* change, tbReal* w) {
  if (c->bodies == 2) {
    tb_contact_push_pair(c->B, change, w + c->body[0], w + c->body[1]);
  } else {
    tb_contact_push_single(c->B, change, w + c->body[0]);
  }
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

// What is known of a contact when it is looked at.
typedef struct {
  const tbFreeContact* contact;
  const tbReal* lambda;
  tbReal sigma[TB_CONTACT_ROWS];
} tbFreeLook;

// What becomes of some contacts side by side; not 0 where one goes farther than its solution, and
// where the multiplier of sliding was found.
enum { TB_FREE_LANES = 4 };
typedef tbReal tbFreeLanes[TB_FREE_LANES];
typedef struct {
  tbFreeLanes lambda[TB_CONTACT_ROWS], change[TB_CONTACT_ROWS], last[TB_CONTACT_ROWS];
  tbFreeLanes slip, farther, found;
} tbFreeMove;

#endif
