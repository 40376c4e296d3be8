// Products with rows of six columns, those of a free body: a row fits one register of four and one
// of two, or three of two. Compilers do not find this layout once such loops are inlined.
#ifndef TRIBO_LINALG_SIMD6_H_
#define TRIBO_LINALG_SIMD6_H_

#include <stddef.h>

#include "linalg/simd4.h"

#define TB_SIX_SUBTRACT(Part, at)                                                        \
  do {                                                                                   \
    Part z0 = *(const Part*)(Z + (at)), z1 = *(const Part*)(Z + zs + (at));              \
    Part z2 = *(const Part*)(Z + 2 * zs + (at)), z3 = *(const Part*)(Z + 3 * zs + (at)); \
    Part z4 = *(const Part*)(Z + 4 * zs + (at)), z5 = *(const Part*)(Z + 5 * zs + (at)); \
    for (int i = 0; i < rows; i++) {                                                     \
      const tbReal* f = X + i;                                                           \
      *(Part*)(Y + i * ys + (at)) -= (f[0] * z0 + f[xs] * z1) +                          \
                                     (f[2 * xs] * z2 + f[3 * xs] * z3) +                 \
                                     (f[4 * xs] * z4 + f[5 * xs] * z5);                  \
    }                                                                                    \
  } while (0)

// The rows of Y stay in registers over all panels.
#define TB_SIX_PANELS(Part, at)                                                              \
  do {                                                                                       \
    Part y[6];                                                                               \
    for (int i = 0; i < 6; i++) y[i] = *(const Part*)(Y + i * ys + (at));                    \
    for (int k = 0; k < count; k++) {                                                        \
      ptrdiff_t s = panel[k].stride;                                                         \
      const tbReal *f = panel[k].X + x, *z = panel[k].Z + from + (at);                       \
      Part z0 = *(const Part*)z, z1 = *(const Part*)(z + s), z2 = *(const Part*)(z + 2 * s); \
      Part z3 = *(const Part*)(z + 3 * s), z4 = *(const Part*)(z + 4 * s);                   \
      Part z5 = *(const Part*)(z + 5 * s);                                                   \
      for (int i = 0; i < 6; i++, f++) {                                                     \
        y[i] -= (f[0] * z0 + f[s] * z1) + (f[2 * s] * z2 + f[3 * s] * z3) +                  \
                (f[4 * s] * z4 + f[5 * s] * z5);                                             \
      }                                                                                      \
    }                                                                                        \
    for (int i = 0; i < 6; i++) *(Part*)(Y + i * ys + (at)) = y[i];                          \
  } while (0)

#define TB_SIX_ADD(Part, at)                                                  \
  do {                                                                        \
    Part z0 = *(const Part*)(Z + (at)), z1 = *(const Part*)(Z + zs + (at));   \
    Part z2 = *(const Part*)(Z + 2 * zs + (at));                              \
    for (int i = 0; i < rows; i++) {                                          \
      const tbReal* f = X + i;                                                \
      *(Part*)(Y + i * ys + (at)) += f[0] * z0 + f[xs] * z1 + f[2 * xs] * z2; \
    }                                                                         \
  } while (0)

#define TB_SIX_SUBSTITUTE(Part, at)                                    \
  do {                                                                 \
    Part x[6];                                                         \
    for (int r = 0; r < 6; r++) {                                      \
      x[r] = *(const Part*)(X + r * xs + (at));                        \
      for (int s = 0; s < r; s++) x[r] -= D[r * row + s * col] * x[s]; \
      if (inverse) x[r] *= inverse[r];                                 \
      *(Part*)(X + r * xs + (at)) = x[r];                              \
    }                                                                  \
  } while (0)

// All six columns.
#if TB_PART == 4
#define TB_SIX_PARTS(Do) \
  do {                   \
    Do(tbSimd4, 0);      \
    Do(tbSimd2, 4);      \
  } while (0)
#else
#define TB_SIX_PARTS(Do) \
  for (int part = 0; part < 6; part += TB_PART) Do(tbPart, part)
#endif

// Y -= X^T Z for X (6 x rows), Z (6 x 6) and Y (rows x 6), with strides xs, zs, ys.
TB_INLINE void tb_simd6_subtract(int rows, const tbReal* X, ptrdiff_t xs, const tbReal* Z,
                                 ptrdiff_t zs, tbReal* Y, ptrdiff_t ys) {
  TB_SIX_PARTS(TB_SIX_SUBTRACT);
}

// Six rows of a factor: they subtract X^T Z, with X and Z of the same stride.
typedef struct {
  const tbReal *X, *Z;
  ptrdiff_t stride;
} tbSimd6Panel;

// Y (6 x n) -= the sum of X[:, x ...]^T Z[:, from ...] over some panels, in their order; n a
// multiple of two.
TB_INLINE void tb_simd6_subtract_panels(int count, const tbSimd6Panel* panel, int x, int from,
                                        int n, tbReal* Y, ptrdiff_t ys) {
  int column = 0;
  for (; column + TB_PART <= n; column += TB_PART) TB_SIX_PANELS(tbPart, column);
#if TB_PART == 4
  if (column < n) TB_SIX_PANELS(tbSimd2, column);
#endif
}

// own -= V x for V (6 x width): each row in four independent sums, all rows at once.
TB_INLINE void tb_simd6_pull(int width, const tbReal* V, const tbReal* x, tbReal* own) {
  tbReal sum[6][4];
  tbPart s[6][TB_PARTS] = {{{0}}};
  int j = 0;
  for (; j + 4 <= width; j += 4) {
    for (int r = 0; r < 6; r++) tb_simd_products(s[r], V + r * (ptrdiff_t)width + j, x + j, true);
  }
  for (int r = 0; r < 6; r++) {
    for (int p = 0; p < TB_PARTS; p++) *(tbPart*)(sum[r] + p * TB_PART) = s[r][p];
  }
  for (int r = 0; r < 6; r++) {
    for (int i = j; i < width; i++) sum[r][0] += V[r * (ptrdiff_t)width + i] * x[i];
    own[r] -= (sum[r][0] + sum[r][1]) + (sum[r][2] + sum[r][3]);
  }
}

// Y += X^T Z for X (3 x rows), Z (3 x 6) and Y (rows x 6).
TB_INLINE void tb_simd6_add(int rows, const tbReal* X, ptrdiff_t xs, const tbReal* Z, ptrdiff_t zs,
                            tbReal* Y, ptrdiff_t ys) {
  TB_SIX_PARTS(TB_SIX_ADD);
}

// X <- T^-1 X for X (6 x 6) and a lower triangular T given by T(r, s) = D[r * row + s * col], with
// the diagonal of `inverse` or, if that is NULL, ones.
TB_INLINE void tb_simd6_substitute(const tbReal* D, int row, int col, const tbReal* inverse,
                                   tbReal* X, ptrdiff_t xs) {
  TB_SIX_PARTS(TB_SIX_SUBSTITUTE);
}

#endif
