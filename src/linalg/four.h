// Vectors of four and of two numbers: what fits the registers of most machines, or two of them.
// Compilers do not find these by themselves in short loops.
#ifndef TRIBO_LINALG_FOUR_H_
#define TRIBO_LINALG_FOUR_H_

#include <stdbool.h>

#include "base/kernel.h"
#include "tribo/types.h"

#if defined(__GNUC__) && !defined(__CUDACC__)
#define TB_HAS_FOUR 1
typedef tbReal tbFour __attribute__((vector_size(4 * sizeof(tbReal)), aligned(8), may_alias));
typedef tbReal tbTwo __attribute__((vector_size(2 * sizeof(tbReal)), aligned(8), may_alias));
#else
#define TB_HAS_FOUR 0
#endif

// y = x
TB_INLINE void tb_copy_four(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, int n) {
  int i = 0;
#if TB_HAS_FOUR
  for (; i + 4 <= n; i += 4) *(tbFour*)(y + i) = *(const tbFour*)(x + i);
  if (n & 2) {
    *(tbTwo*)(y + i) = *(const tbTwo*)(x + i);
    i += 2;
  }
  // Spelled out: a loop would be made one for many.
  if (n & 1) y[i] = x[i];
#else
  for (; i < n; i++) y[i] = x[i];
#endif
}

// y -= a x
TB_INLINE void tb_subtract_scaled(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal a,
                                  int n) {
  int i = 0;
#if TB_HAS_FOUR
  for (; i + 4 <= n; i += 4) *(tbFour*)(y + i) -= a * *(const tbFour*)(x + i);
  if (n & 2) {
    *(tbTwo*)(y + i) -= a * *(const tbTwo*)(x + i);
    i += 2;
  }
  if (n & 1) y[i] -= a * x[i];
#else
  for (; i < n; i++) y[i] -= a * x[i];
#endif
}

// y -= a x + b z
TB_INLINE void tb_subtract_two(tbReal* TB_RESTRICT y, const tbReal* TB_RESTRICT x, tbReal a,
                               const tbReal* TB_RESTRICT z, tbReal b, int n) {
  int i = 0;
#if TB_HAS_FOUR
  for (; i + 4 <= n; i += 4) {
    *(tbFour*)(y + i) -= a * *(const tbFour*)(x + i) + b * *(const tbFour*)(z + i);
  }
  if (n & 2) {
    *(tbTwo*)(y + i) -= a * *(const tbTwo*)(x + i) + b * *(const tbTwo*)(z + i);
    i += 2;
  }
  if (n & 1) y[i] -= a * x[i] + b * z[i];
#else
  for (; i < n; i++) y[i] -= a * x[i] + b * z[i];
#endif
}

// The sum of a[r] times the four numbers at z + r stride, over `rows` of them: y = or y +=.
TB_INLINE void tb_sum_fours(int rows, const tbReal* a, const tbReal* z, int stride, tbReal* y,
                            bool add) {
#if TB_HAS_FOUR
  tbFour sum = a[0] * *(const tbFour*)z;
  for (int r = 1; r < rows; r++) sum += a[r] * *(const tbFour*)(z + r * stride);
  if (add) sum += *(const tbFour*)y;
  *(tbFour*)y = sum;
#else
  for (int k = 0; k < 4; k++) {
    tbReal sum = a[0] * z[k];
    for (int r = 1; r < rows; r++) sum += a[r] * z[r * stride + k];
    y[k] = add ? y[k] + sum : sum;
  }
#endif
}

// The sum of x . y over `count` fours: those of x follow each other, those of y begin at y + at[k].
TB_INLINE tbReal tb_dot_fours(int count, const tbReal* x, const tbReal* y, const int* at) {
#if TB_HAS_FOUR
  tbFour s = *(const tbFour*)x * *(const tbFour*)(y + at[0]);
  for (int q = 1; q < count; q++) s += *(const tbFour*)(x + 4 * q) * *(const tbFour*)(y + at[q]);
#else
  tbReal s[4];
  for (int k = 0; k < 4; k++) s[k] = x[k] * y[at[0] + k];
  for (int q = 1; q < count; q++) {
    for (int k = 0; k < 4; k++) s[k] += x[4 * q + k] * y[at[q] + k];
  }
#endif
  return (s[0] + s[2]) + (s[1] + s[3]);
}

// x . y in four sums that do not wait for each other, in the order of plain code.
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

// The same in registers of four, where short ones are the rule: the order of the sums, and so the
// last bits, are its own, with and without vectors.
TB_INLINE tbReal tb_dot_four(const tbReal* x, const tbReal* y, int n) {
  tbReal sum = 0;
  int i = 0;
  if (n >= 4) {
#if TB_HAS_FOUR
    tbFour s = *(const tbFour*)x * *(const tbFour*)y;
    for (i = 4; i + 4 <= n; i += 4) s += *(const tbFour*)(x + i) * *(const tbFour*)(y + i);
    sum = (s[0] + s[2]) + (s[1] + s[3]);
#else
    tbReal s[4] = {x[0] * y[0], x[1] * y[1], x[2] * y[2], x[3] * y[3]};
    for (i = 4; i + 4 <= n; i += 4) {
      for (int k = 0; k < 4; k++) s[k] += x[i + k] * y[i + k];
    }
    sum = (s[0] + s[2]) + (s[1] + s[3]);
#endif
  }
  if (n & 2) {
    sum += x[i] * y[i] + x[i + 1] * y[i + 1];
    i += 2;
  }
  if (n & 1) sum += x[i] * y[i];
  return sum;
}

#endif
