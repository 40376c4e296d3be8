// Articulated-body inertias: symmetric 6 x 6 matrices from motions to forces
// (docs/manual/dynamics.md, eq. 20-23).
#ifndef TRIBO_DYNAMICS_ARTICULATED_H_
#define TRIBO_DYNAMICS_ARTICULATED_H_

#include "spatial/motion.h"

static inline void tb_articulated_row(tbReal* r, tbReal a, tbReal b, tbReal c, tbReal d, tbReal e,
                                      tbReal f) {
  r[0] = a;
  r[1] = b;
  r[2] = c;
  r[3] = d;
  r[4] = e;
  r[5] = f;
}

// The inertia of a rigid body, all 36 numbers, so that loops run over whole rows.
static inline void tb_articulated_make(tbReal A[36], const tbReal I[10]) {
  tb_articulated_row(A, I[0], I[3], I[4], 0, -I[8], I[7]);
  tb_articulated_row(A + 6, I[3], I[1], I[5], I[8], 0, -I[6]);
  tb_articulated_row(A + 12, I[4], I[5], I[2], -I[7], I[6], 0);
  tb_articulated_row(A + 18, 0, I[8], -I[7], I[9], 0, 0);
  tb_articulated_row(A + 24, -I[8], 0, I[6], 0, I[9], 0);
  tb_articulated_row(A + 30, I[7], -I[6], 0, 0, 0, I[9]);
}

// r = A v, with A symmetric: a sum of its rows.
static inline void tb_articulated_mul(tbReal r[6], const tbReal A[36], const tbReal v[6]) {
  tbReal sum[6];
  for (int i = 0; i < 6; i++) sum[i] = A[i] * v[0] + A[6 + i] * v[1];
  for (int i = 0; i < 6; i++) sum[i] += A[12 + i] * v[2] + A[18 + i] * v[3];
  for (int i = 0; i < 6; i++) sum[i] += A[24 + i] * v[4] + A[30 + i] * v[5];
  for (int i = 0; i < 6; i++) r[i] = sum[i];
}

// A -= U U^T / D
static inline void tb_articulated_reduce(tbReal A[36], const tbReal U[6], tbReal inverse) {
  for (int i = 0; i < 6; i++) {
    tbReal a = U[i] * inverse;
    for (int j = 0; j < 6; j++) A[6 * i + j] -= a * U[j];
  }
}

#endif
