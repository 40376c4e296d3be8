// A contact of three rows on one free body or two, nearly all that there is in a heap, under the
// exact law (CM eq. 13), as sweeps go through it: in single precision and round coordinates,
// tangents as lambda_Ti / mu_i and mu_i sigma_i. Impulses and velocities are changes since sweeps
// began (free_contacts.c), so that rounding is that of changes.
#ifndef TRIBO_SOLVERS_GAUSS_SEIDEL_FREE_BODY_CONTACT_H_
#define TRIBO_SOLVERS_GAUSS_SEIDEL_FREE_BODY_CONTACT_H_

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "linalg/ltdl.h"
#include "operator/body_rows.h"
#include "tribo/problem.h"

// Numbers of a contact's rows, the fourth 0; or of four contacts.
enum { TB_FREE_LANES = 4 };
typedef float tbFreeBodyFour[TB_FREE_LANES];

// What does not change from sweep to sweep is computed once: four lines of cache, of which the
// first three tell whether the contact is good enough. With A = B B^T + R, h_i = A_Ni / A_NN and
// a change x of the tangents, the normal is eliminated on the plane sigma_N = 0: the change of
// lambda_N is -sigma_N / A_NN - h . x, and A_NN (S + s I) x = -(sigma_i - h_i sigma_N) - A_NN s
// times the tangents there are, s >= 0 the multiplier of sliding.
typedef struct {
  _Alignas(64) tbFreeBodyFour g, R;  // velocity at the beginning, compliance
  float B[TB_CONTACT_ROWS * TB_PAIR_DOFS];
  tbFreeBodyFour normal;  // h, 1 / A_NN, the last s
  tbFreeBodyFour S;       // and 1 / det S
  tbFreeBodyFour last;    // change
} tbFreeContact;

// B = J L^-1 D^-1/2 of the rows that B holds as J, `width` of them side by side: on the six dofs
// from `first` on, each an ancestor of the next.
TB_INLINE void tb_free_body_contact_whiten(const tbForest* forest, const tbReal* LD,
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

// B B^T + R.
TB_INLINE void tb_free_body_contact_square(int bodies, const tbReal* B, const tbReal* R,
                                           tbReal* A) {
  for (int r = 0; r < TB_CONTACT_ROWS; r++) {
    if (bodies == 2) {
      const tbReal* row = B + r * TB_PAIR_DOFS;
      tb_contact_mul_pair(B, row, row + TB_BODY_DOFS, A + r * TB_CONTACT_ROWS);
    } else {
      tb_contact_mul_single(B, B + r * TB_BODY_DOFS, A + r * TB_CONTACT_ROWS);
    }
    A[r * TB_CONTACT_ROWS + r] += R[r];
  }
}

// The local problem of A. False where an axis has no friction or no inertia, or where two depend on
// each other.
static inline bool tb_free_body_contact_reduce(const tbReal* mu, const tbReal* A,
                                               tbFreeContact* c) {
  const tbReal singular = 1e-4;
  if (!(A[0] > 0)) return false;
  tbReal m0 = mu[0], m1 = mu[1], unit = 1 / A[0], h0 = m0 * A[3] * unit, h1 = m1 * A[6] * unit;
  tbReal S0 = m0 * m0 * A[4] * unit - h0 * h0, S1 = m0 * m1 * A[5] * unit - h0 * h1;
  tbReal S2 = m1 * m1 * A[8] * unit - h1 * h1, product = S0 * S2, det = product - S1 * S1;
  if (!(S0 > 0) || !(S2 > 0) || !(det > singular * product)) return false;
  tbReal normal[] = {h0, h1, unit, 0}, S[] = {S0, S1, S2, 1 / det};
  for (int k = 0; k < TB_FREE_LANES; k++) {
    c->normal[k] = (float)normal[k];
    c->S[k] = (float)S[k];
    c->last[k] = 0;
  }
  return true;
}

// Its rows in single precision: those of one body have zeros for the other.
static inline void tb_free_body_contact_rows(int bodies, const tbReal* mu, const tbReal* B,
                                             const tbReal* R, tbReal unit, tbFreeContact* c) {
  memset(c->B, 0, sizeof c->B);
  memset(c->R, 0, sizeof c->R);
  for (int r = 0; r < TB_CONTACT_ROWS; r++) {
    tbReal share = r == 0 ? 1 : mu[r - 1], factor = share * unit;
    int width = bodies * TB_BODY_DOFS;
    for (int k = 0; k < width; k++) {
      c->B[r * TB_PAIR_DOFS + k] = (float)(factor * B[r * width + k]);
    }
    c->R[r] = (float)(factor * factor * R[r]);
  }
}

#endif
