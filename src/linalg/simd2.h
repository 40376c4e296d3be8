// SIMD registers of two numbers, which every machine has, for scans on machines without wider ones.
#ifndef TRIBO_LINALG_SIMD2_H_
#define TRIBO_LINALG_SIMD2_H_

#include <stdint.h>

#include "linalg/simd4.h"

// The result of a comparison: all bits of a number set, or none.
typedef int64_t tbSimd2Mask __attribute__((vector_size(16), aligned(8), may_alias));

#define TB_LOAD2(p) (*(const tbSimd2*)(p))
#define TB_STORE2(p, x) (*(tbSimd2*)(p) = (x))

TB_INLINE tbSimd2 tb_simd2(tbReal x) {
  return (tbSimd2){x, x};
}

TB_INLINE tbSimd2Mask tb_simd2_choose(tbSimd2Mask mask, tbSimd2Mask yes, tbSimd2Mask no) {
  return (mask & yes) | (~mask & no);
}

TB_INLINE tbSimd2 tb_simd2_select(tbSimd2Mask mask, tbSimd2 yes, tbSimd2 no) {
  return (tbSimd2)tb_simd2_choose(mask, (tbSimd2Mask)yes, (tbSimd2Mask)no);
}

// x v0 + y v1 + z v2, in that order.
TB_INLINE tbSimd2 tb_simd2_dot(tbSimd2 x, tbSimd2 y, tbSimd2 z, const tbSimd2 v[3]) {
  return x * v[0] + y * v[1] + z * v[2];
}

// Two numbers with their indices.
typedef struct {
  tbSimd2 value;
  tbSimd2Mask index;
} tbSimd2Best;

// Keep the larger of the old and the new number, in each lane.
TB_INLINE void tb_simd2_keep(tbSimd2Best* best, tbSimd2 value, tbSimd2Mask index) {
  tbSimd2Mask larger = (tbSimd2Mask)(value > best->value);
  best->index = tb_simd2_choose(larger, index, best->index);
  best->value = tb_simd2_select(larger, value, best->value);
}

// The larger number in each lane; of equal ones, that with the lower index.
TB_INLINE tbSimd2Best tb_simd2_larger(tbSimd2Best a, tbSimd2Best b) {
  tbSimd2Mask b_wins = (tbSimd2Mask)(b.value > a.value) |
                       ((tbSimd2Mask)(b.value == a.value) & (tbSimd2Mask)(b.index < a.index));
  return (tbSimd2Best){tb_simd2_select(b_wins, b.value, a.value),
                       tb_simd2_choose(b_wins, b.index, a.index)};
}

// The index of the larger number, the lower index if they are equal; `value` receives the number.
TB_INLINE int tb_simd2_top(tbSimd2Best best, tbReal* value) {
  tbReal v0 = best.value[0], v1 = best.value[1];
  int64_t i0 = best.index[0], i1 = best.index[1];
  bool second = (v1 > v0) | ((v1 == v0) & (i1 < i0));
  *value = second ? v1 : v0;
  return (int)(second ? i1 : i0);
}

#endif
