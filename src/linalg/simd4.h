// Loops over numbers four at a time. Compilers do not vectorise short loops by themselves.
#ifndef TRIBO_LINALG_SIMD4_H_
#define TRIBO_LINALG_SIMD4_H_

#include <stdbool.h>

#include "base/kernel.h"
#include "tribo/types.h"

// A tbPart is the share of four numbers that one register holds: TB_PART numbers, one on machines
// without SIMD. With registers of two, gcc keeps vectors of four in memory, which triples the time
// of a sum.
#if !defined(__GNUC__) || defined(__CUDACC__)
#define TB_PART 1
typedef tbReal tbPart;
#else
typedef tbReal tbSimd2 __attribute__((vector_size(2 * sizeof(tbReal)), aligned(8), may_alias));
#if defined(__x86_64__)
#define TB_PART 4
typedef tbReal tbSimd4 __attribute__((vector_size(4 * sizeof(tbReal)), aligned(8), may_alias));
typedef tbSimd4 tbPart;
#else
#define TB_PART 2
typedef tbSimd2 tbPart;
#endif
#endif

enum { TB_PARTS = 4 / TB_PART };

// Number k of four numbers stored in parts.
#if TB_PART == 1
#define TB_OF_PARTS(parts, k) ((parts)[k])
#else
#define TB_OF_PARTS(parts, k) ((parts)[(k) / TB_PART][(k) % TB_PART])
#endif

// Do(Part, i) for all of n numbers: by fours, then two and one. The remainder is written out
// because compilers would turn a loop over it into one for many iterations.
#if TB_PART == 1
#define TB_BY_FOURS(Do, n) \
  for (int i = 0; i < (n); i++) Do(tbReal, i)
#else
#define TB_BY_FOURS(Do, n)                                    \
  do {                                                        \
    int i = 0;                                                \
    for (; i + 4 <= (n); i += 4) {                            \
      for (int k = i; k < i + 4; k += TB_PART) Do(tbPart, k); \
    }                                                         \
    if ((n)&2) {                                              \
      Do(tbSimd2, i);                                         \
      i += 2;                                                 \
    }                                                         \
    if ((n)&1) Do(tbReal, i);                                 \
  } while (0)
#endif

// y = x
TB_INLINE void tb_copy_four(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, int n) {
#define TB_COPY(Part, at) *(Part*)(y + (at)) = *(const Part*)(x + (at))
  TB_BY_FOURS(TB_COPY, n);
#undef TB_COPY
}

// y += x
TB_INLINE void tb_add_four(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, int n) {
#define TB_ADD(Part, at) *(Part*)(y + (at)) += *(const Part*)(x + (at))
  TB_BY_FOURS(TB_ADD, n);
#undef TB_ADD
}

// y += a x
TB_INLINE void tb_add_scaled(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal a, int n) {
#define TB_ADD(Part, at) *(Part*)(y + (at)) += a * *(const Part*)(x + (at))
  TB_BY_FOURS(TB_ADD, n);
#undef TB_ADD
}

// y -= a x
TB_INLINE void tb_subtract_scaled(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal a,
                                  int n) {
#define TB_SUBTRACT(Part, at) *(Part*)(y + (at)) -= a * *(const Part*)(x + (at))
  TB_BY_FOURS(TB_SUBTRACT, n);
#undef TB_SUBTRACT
}

// y -= a x + b z
TB_INLINE void tb_simd2_subtract(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal a,
                                 const tbReal* TB_RESTRICT z, tbReal b, int n) {
#define TB_SUBTRACT(Part, at) \
  *(Part*)(y + (at)) -= a * *(const Part*)(x + (at)) + b * *(const Part*)(z + (at))
  TB_BY_FOURS(TB_SUBTRACT, n);
#undef TB_SUBTRACT
}

// y = or y += the sum of a[r] times the four numbers at z + r stride, over `rows` of them.
TB_INLINE void tb_sum_fours(int rows, const tbReal* a, const tbReal* z, int stride, tbReal* y,
                            bool add) {
  for (int k = 0; k < 4; k += TB_PART) {
    tbPart sum = a[0] * *(const tbPart*)(z + k);
    for (int r = 1; r < rows; r++) sum += a[r] * *(const tbPart*)(z + r * stride + k);
    if (add) sum += *(const tbPart*)(y + k);
    *(tbPart*)(y + k) = sum;
  }
}

// sum = or += x y, elementwise, of four numbers each.
TB_INLINE void tb_simd_products(tbPart* sum, const tbReal* x, const tbReal* y, bool add) {
  for (int p = 0; p < TB_PARTS; p++) {
    tbPart product = *(const tbPart*)(x + p * TB_PART) * *(const tbPart*)(y + p * TB_PART);
    if (add) product += sum[p];
    sum[p] = product;
  }
}

TB_INLINE tbReal tb_sum_parts(const tbPart* s) {
  return (TB_OF_PARTS(s, 0) + TB_OF_PARTS(s, 2)) + (TB_OF_PARTS(s, 1) + TB_OF_PARTS(s, 3));
}

// The sum of x . y over `count` groups of four: those of x are contiguous, those of y begin at y +
// at[k].
TB_INLINE tbReal tb_dot_fours(int count, const tbReal* x, const tbReal* y, const int* at) {
  tbPart s[TB_PARTS];
  tb_simd_products(s, x, y + at[0], false);
  for (int q = 1; q < count; q++) tb_simd_products(s, x + 4 * q, y + at[q], true);
  return tb_sum_parts(s);
}

// x . y in four independent sums, in the order of plain code.
TB_INLINE tbReal tb_dot_sums(const tbReal* TB_RESTRICT x, const tbReal* TB_RESTRICT y, int n) {
  tbReal s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += x[i] * y[i];
    s1 += x[i + 1] * y[i + 1];
    s2 += x[i + 2] * y[i + 2];
    s3 += x[i + 3] * y[i + 3];
  }
  for (; i < n; i++) s0 += x[i] * y[i];
  return (s0 + s1) + (s2 + s3);
}

// The same in SIMD registers of four, for mostly short vectors. The order of the sums, and so the
// last bits, differ from tb_dot_sums, but are the same with and without SIMD.
TB_INLINE tbReal tb_dot_four(const tbReal* x, const tbReal* y, int n) {
  tbReal sum = 0;
  int i = 0;
  if (n >= 4) {
    tbPart s[TB_PARTS];
    tb_simd_products(s, x, y, false);
    for (i = 4; i + 4 <= n; i += 4) tb_simd_products(s, x + i, y + i, true);
    sum = tb_sum_parts(s);
  }
  if (n & 2) {
    sum += x[i] * y[i] + x[i + 1] * y[i + 1];
    i += 2;
  }
  if (n & 1) sum += x[i] * y[i];
  return sum;
}

#endif
