// Vectors of three and 3x3 matrices (row-major), as inline functions over plain arrays.
// Outputs may alias inputs unless a comment says otherwise.
#ifndef TRIBO_SPATIAL_VEC3_H_
#define TRIBO_SPATIAL_VEC3_H_

#include <math.h>

#include "base/kernel.h"
#include "tribo/types.h"

TB_ANY_INLINE void tb_zero3(tbReal r[3]) {
  r[0] = r[1] = r[2] = 0;
}

TB_ANY_INLINE int tb_is_zero3(const tbReal a[3]) {
  return a[0] == 0 && a[1] == 0 && a[2] == 0;
}

TB_ANY_INLINE void tb_set3(tbReal r[3], tbReal x, tbReal y, tbReal z) {
  r[0] = x;
  r[1] = y;
  r[2] = z;
}

TB_ANY_INLINE void tb_copy3(tbReal r[3], const tbReal a[3]) {
  r[0] = a[0];
  r[1] = a[1];
  r[2] = a[2];
}

TB_ANY_INLINE void tb_add3(tbReal r[3], const tbReal a[3], const tbReal b[3]) {
  r[0] = a[0] + b[0];
  r[1] = a[1] + b[1];
  r[2] = a[2] + b[2];
}

TB_ANY_INLINE void tb_sub3(tbReal r[3], const tbReal a[3], const tbReal b[3]) {
  r[0] = a[0] - b[0];
  r[1] = a[1] - b[1];
  r[2] = a[2] - b[2];
}

TB_ANY_INLINE void tb_scale3(tbReal r[3], const tbReal a[3], tbReal s) {
  r[0] = a[0] * s;
  r[1] = a[1] * s;
  r[2] = a[2] * s;
}

// r = a + s b
TB_ANY_INLINE void tb_add_scaled3(tbReal r[3], const tbReal a[3], tbReal s, const tbReal b[3]) {
  r[0] = a[0] + s * b[0];
  r[1] = a[1] + s * b[1];
  r[2] = a[2] + s * b[2];
}

TB_ANY_INLINE tbReal tb_dot3(const tbReal a[3], const tbReal b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

TB_ANY_INLINE void tb_cross(tbReal r[3], const tbReal a[3], const tbReal b[3]) {
  tbReal x = a[1] * b[2] - a[2] * b[1];
  tbReal y = a[2] * b[0] - a[0] * b[2];
  tbReal z = a[0] * b[1] - a[1] * b[0];
  tb_set3(r, x, y, z);
}

TB_ANY_INLINE tbReal tb_norm3(const tbReal a[3]) {
  return sqrt(tb_dot3(a, a));
}

// Scale to unit length and return the length; a vector of zero length becomes the x axis.
TB_ANY_INLINE tbReal tb_normalize3(tbReal a[3]) {
  tbReal length = tb_norm3(a);
  if (length > 0) {
    tb_scale3(a, a, 1 / length);
  } else {
    tb_set3(a, 1, 0, 0);
  }
  return length;
}

// r = A v
TB_ANY_INLINE void tb_mul_mat3_vec3(tbReal r[3], const tbReal A[9], const tbReal v[3]) {
  tbReal x = A[0] * v[0] + A[1] * v[1] + A[2] * v[2];
  tbReal y = A[3] * v[0] + A[4] * v[1] + A[5] * v[2];
  tbReal z = A[6] * v[0] + A[7] * v[1] + A[8] * v[2];
  tb_set3(r, x, y, z);
}

// r = A^T v
TB_ANY_INLINE void tb_mul_mat3t_vec3(tbReal r[3], const tbReal A[9], const tbReal v[3]) {
  tbReal x = A[0] * v[0] + A[3] * v[1] + A[6] * v[2];
  tbReal y = A[1] * v[0] + A[4] * v[1] + A[7] * v[2];
  tbReal z = A[2] * v[0] + A[5] * v[1] + A[8] * v[2];
  tb_set3(r, x, y, z);
}

// R = A B; R must not alias A or B.
TB_ANY_INLINE void tb_mul_mat3(tbReal R[9], const tbReal A[9], const tbReal B[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      R[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
    }
  }
}

// R = A^T B; R must not alias A or B.
TB_ANY_INLINE void tb_mul_mat3t_mat3(tbReal R[9], const tbReal A[9], const tbReal B[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      R[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
    }
  }
}

// R = A B^T; R must not alias A or B.
TB_ANY_INLINE void tb_mul_mat3_mat3t(tbReal R[9], const tbReal A[9], const tbReal B[9]) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      R[3 * i + j] =
          A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
    }
  }
}

// Two unit vectors that complete the unit vector n to a right-handed frame (n, t1, t2). Continuous
// except at n_y = 0.5 and n_y = -0.5, where the reference axis changes.
TB_ANY_INLINE void tb_frame_from_normal(const tbReal n[3], tbReal t1[3], tbReal t2[3]) {
  // Gram-Schmidt on y, or on z if n is close to y (as MuJoCo).
  tbReal axis[3] = {0, 1, 0};
  if (n[1] >= 0.5 || n[1] <= -0.5) tb_set3(axis, 0, 0, 1);
  tb_add_scaled3(t1, axis, -tb_dot3(axis, n), n);
  tb_normalize3(t1);
  tb_cross(t2, n, t1);
}

#endif
