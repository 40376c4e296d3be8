// Registers of two numbers, which every machine has, for scans where there are no wider ones.
#ifndef TRIBO_LINALG_SIMD2_H_
#define TRIBO_LINALG_SIMD2_H_

#include <stdint.h>

#include "linalg/simd4.h"

// What a comparison gives: all bits of a number, or none.
typedef int64_t tbTwoMask __attribute__((vector_size(16), aligned(8), may_alias));

#define TB_LOAD2(p) (*(const tbTwo*)(p))
#define TB_STORE2(p, x) (*(tbTwo*)(p) = (x))

TB_INLINE tbTwo tb_two(tbReal x) {
  return (tbTwo){x, x};
}

TB_INLINE tbTwoMask tb_two_choose(tbTwoMask mask, tbTwoMask yes, tbTwoMask no) {
  return (mask & yes) | (~mask & no);
}

TB_INLINE tbTwo tb_two_select(tbTwoMask mask, tbTwo yes, tbTwo no) {
  return (tbTwo)tb_two_choose(mask, (tbTwoMask)yes, (tbTwoMask)no);
}

// x v0 + y v1 + z v2, in that order.
TB_INLINE tbTwo tb_two_dot(tbTwo x, tbTwo y, tbTwo z, const tbTwo v[3]) {
  return x * v[0] + y * v[1] + z * v[2];
}

// Numbers and where they are from.
typedef struct {
  tbTwo value;
  tbTwoMask index;
} tbTwoBest;

// Keep what is larger than before.
TB_INLINE void tb_two_keep(tbTwoBest* best, tbTwo value, tbTwoMask index) {
  tbTwoMask larger = (tbTwoMask)(value > best->value);
  best->index = tb_two_choose(larger, index, best->index);
  best->value = tb_two_select(larger, value, best->value);
}

// The larger of each two, the lower index of equals.
TB_INLINE tbTwoBest tb_two_larger(tbTwoBest a, tbTwoBest b) {
  tbTwoMask b_wins = (tbTwoMask)(b.value > a.value) |
                     ((tbTwoMask)(b.value == a.value) & (tbTwoMask)(b.index < a.index));
  return (tbTwoBest){tb_two_select(b_wins, b.value, a.value),
                     tb_two_choose(b_wins, b.index, a.index)};
}

// The index of the larger of the two, the lower of equals; its value.
TB_INLINE int tb_two_top(tbTwoBest best, tbReal* value) {
  tbReal v0 = best.value[0], v1 = best.value[1];
  int64_t i0 = best.index[0], i1 = best.index[1];
  bool second = (v1 > v0) | ((v1 == v0) & (i1 < i0));
  *value = second ? v1 : v0;
  return (int)(second ? i1 : i0);
}

#endif
