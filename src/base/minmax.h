// The larger and the smaller of two numbers.
#ifndef TRIBO_BASE_MINMAX_H_
#define TRIBO_BASE_MINMAX_H_

#include <math.h>

#include "base/kernel.h"
#include "tribo/types.h"

// fmax and fmin, including NaN: of a number and NaN, the number. They are one instruction on
// aarch64, but on x86-64 gcc calls the library, which requires saving registers: 3 % of a robot's
// step.
#if defined(__aarch64__)
TB_INLINE tbReal tb_max(tbReal a, tbReal b) {
  return fmax(a, b);
}
TB_INLINE tbReal tb_min(tbReal a, tbReal b) {
  return fmin(a, b);
}
#else
TB_INLINE tbReal tb_max(tbReal a, tbReal b) {
  return a > b || b != b ? a : b;
}
TB_INLINE tbReal tb_min(tbReal a, tbReal b) {
  return a < b || b != b ? a : b;
}
#endif

#endif
