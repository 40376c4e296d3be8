// The inner loop of dense J^T W J: weighted sums of rows.
#ifndef TRIBO_OPERATOR_ADD_ROWS_H_
#define TRIBO_OPERATOR_ADD_ROWS_H_

#include "base/kernel.h"
#include "tribo/types.h"

// y[0..n) += sum of a[r] z[r] over `depth` rows of z, n a multiple of four.
TB_INLINE void tb_add_rows(int depth, int n, int stride, const tbReal* a,
                           const tbReal* TB_RESTRICT z, tbReal* TB_RESTRICT y) {
  int r = 0;
  for (; r + 3 <= depth; r += 3, z += 3 * stride) {
    const tbReal *TB_RESTRICT z1 = z + stride, *TB_RESTRICT z2 = z1 + stride;
    tbReal a0 = a[r], a1 = a[r + 1], a2 = a[r + 2];
    for (int j = 0; j < n; j += 4) {
      for (int k = j; k < j + 4; k++) y[k] += a0 * z[k] + a1 * z1[k] + a2 * z2[k];
    }
  }
  for (; r < depth; r++, z += stride) {
    tbReal a0 = a[r];
    for (int j = 0; j < n; j += 4) {
      for (int k = j; k < j + 4; k++) y[k] += a0 * z[k];
    }
  }
}

#endif
