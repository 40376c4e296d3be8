// Products with the three rows of a contact on one or two free bodies, six columns each: nearly all
// contacts of a heap have this form.
#ifndef TRIBO_OPERATOR_BODY_ROWS_H_
#define TRIBO_OPERATOR_BODY_ROWS_H_

#include "base/kernel.h"
#include "linalg/simd6.h"

enum { TB_CONTACT_ROWS = 3, TB_BODY_DOFS = 6, TB_PAIR_DOFS = 2 * TB_BODY_DOFS };

#if TB_PART > 1

// The sums of three rows, each of four and two products, in the order of the portable form; two
// rows at a time in SIMD registers of two.
TB_INLINE void tb_simd6_sum(tbPart p[][TB_PARTS], const tbSimd2* q, tbReal* out) {
  tbSimd2 half[TB_CONTACT_ROWS];
  for (int r = 0; r < TB_CONTACT_ROWS; r++) {
    half[r] = (tbSimd2){TB_OF_PARTS(p[r], 0), TB_OF_PARTS(p[r], 1)} +
              (tbSimd2){TB_OF_PARTS(p[r], 2), TB_OF_PARTS(p[r], 3)};
  }
  tbSimd2 four = (tbSimd2){half[0][0], half[1][0]} + (tbSimd2){half[0][1], half[1][1]};
  tbSimd2 two = (tbSimd2){q[0][0], q[1][0]} + (tbSimd2){q[0][1], q[1][1]};
  *(tbSimd2*)out = four + two;
  out[2] = (half[2][0] + half[2][1]) + (q[2][0] + q[2][1]);
}

// out = J x; with two bodies J (x, y).
TB_INLINE void tb_contact_mul_single(const tbReal* J, const tbReal* x, tbReal* out) {
  tbPart p[TB_CONTACT_ROWS][TB_PARTS];
  tbSimd2 x2 = *(const tbSimd2*)(x + 4), q[TB_CONTACT_ROWS];
  for (int r = 0; r < TB_CONTACT_ROWS; r++, J += TB_BODY_DOFS) {
    tb_simd_products(p[r], J, x, false);
    q[r] = *(const tbSimd2*)(J + 4) * x2;
  }
  tb_simd6_sum(p, q, out);
}

TB_INLINE void tb_contact_mul_pair(const tbReal* J, const tbReal* x, const tbReal* y, tbReal* out) {
  tbPart p[TB_CONTACT_ROWS][TB_PARTS];
  tbSimd2 x2 = *(const tbSimd2*)(x + 4), y2 = *(const tbSimd2*)(y + 4), q[TB_CONTACT_ROWS];
  for (int r = 0; r < TB_CONTACT_ROWS; r++, J += TB_PAIR_DOFS) {
    const tbReal* K = J + TB_BODY_DOFS;
    tb_simd_products(p[r], J, x, false);
    tb_simd_products(p[r], K, y, true);
    q[r] = *(const tbSimd2*)(J + 4) * x2 + *(const tbSimd2*)(K + 4) * y2;
  }
  tb_simd6_sum(p, q, out);
}

#else

TB_INLINE void tb_contact_mul_single(const tbReal* J, const tbReal* x, tbReal* out) {
  for (int r = 0; r < TB_CONTACT_ROWS; r++, J += TB_BODY_DOFS) {
    tbReal p[TB_BODY_DOFS];
    for (int k = 0; k < TB_BODY_DOFS; k++) p[k] = J[k] * x[k];
    out[r] = ((p[0] + p[2]) + (p[1] + p[3])) + (p[4] + p[5]);
  }
}

TB_INLINE void tb_contact_mul_pair(const tbReal* J, const tbReal* x, const tbReal* y, tbReal* out) {
  for (int r = 0; r < TB_CONTACT_ROWS; r++, J += TB_PAIR_DOFS) {
    tbReal p[TB_BODY_DOFS];
    for (int k = 0; k < TB_BODY_DOFS; k++) p[k] = J[k] * x[k] + J[TB_BODY_DOFS + k] * y[k];
    out[r] = ((p[0] + p[2]) + (p[1] + p[3])) + (p[4] + p[5]);
  }
}

#endif

// x += J^T f; with two bodies x and y.
TB_INLINE void tb_contact_push_single(const tbReal* J, const tbReal* f, tbReal* x) {
  tb_simd6_add(1, f, 1, J, TB_BODY_DOFS, x, 0);
}

TB_INLINE void tb_contact_push_pair(const tbReal* J, const tbReal* f, tbReal* x, tbReal* y) {
  tb_simd6_add(1, f, 1, J, TB_PAIR_DOFS, x, 0);
  tb_simd6_add(1, f, 1, J + TB_BODY_DOFS, TB_PAIR_DOFS, y, 0);
}

#endif
