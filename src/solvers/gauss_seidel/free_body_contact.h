// A contact of three rows on one or two free bodies (nearly all contacts of a heap) under the exact
// law (CM eq. 13), stored for sweeps: in single precision and in coordinates in which the cone is
// round, with tangents lambda_Ti / mu_i and mu_i sigma_i. Impulses and velocities are changes since
// the start of the sweeps (free_body_contacts.c), so that rounding is relative to the changes.
#ifndef TRIBO_SOLVERS_GAUSS_SEIDEL_FREE_BODY_CONTACT_H_
#define TRIBO_SOLVERS_GAUSS_SEIDEL_FREE_BODY_CONTACT_H_

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "linalg/ltdl.h"
#include "operator/body_rows.h"
#include "tribo/problem.h"

// The entries of a contact's three rows, the fourth 0; or one entry of four contacts.
enum { TB_FREE_LANES = 4 };
typedef float tbFreeBodyFour[TB_FREE_LANES];

// Data that is constant over the sweeps is computed once: four cache lines, of which the first
// three suffice for the convergence test. With A = B B^T + R, h_i = A_Ni / A_NN and a change x of
// the tangents, the normal is eliminated on the plane sigma_N = 0: the change of lambda_N is
// -sigma_N / A_NN - h . x, and A_NN (S + s I) x = -(sigma_i - h_i sigma_N) - A_NN s times the
// present tangents, with s >= 0 the sliding multiplier.
typedef struct {
  _Alignas(64) tbFreeBodyFour g, R;  // velocity at the start, compliance
  float B[TB_CONTACT_ROWS * TB_PAIR_DOFS];
  tbFreeBodyFour normal;  // h, 1 / A_NN, the last s
  tbFreeBodyFour S;       // S, 1 / det S
  tbFreeBodyFour last;    // last change
} tbFreeContact;

// B = J L^-1 D^-1/2, in index: on entry B holds J with `width` columns. The six dofs from `first`
// on are a chain, each an ancestor of the next.
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

// The local problem of A. False if an axis has no friction or no inertia, or if the two axes depend
// on each other.
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

// The contact's rows in single precision; a contact of one body has zeros for the second.
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
