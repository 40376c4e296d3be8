// Newton's method for the root of an increasing function of a step length t > 0, safeguarded by a
// bracket.
#ifndef TRIBO_LINALG_BRACKET_H_
#define TRIBO_LINALG_BRACKET_H_

#include <math.h>

#include "tribo/types.h"

typedef struct {
  tbReal low, high;
} tbBracket;

// The next trial after t, at which the function has this value and derivative. Start with {0,
// INFINITY}.
static inline tbReal tb_bracket_next(tbBracket* b, tbReal t, tbReal value, tbReal derivative) {
  if (value < 0) {
    b->low = t;
  } else {
    b->high = t;
  }
  tbReal next = derivative > 0 ? t - value / derivative : 0;
  if (next > b->low && next < b->high) return next;
  return isinf(b->high) ? 2 * b->low + 1 : 0.5 * (b->low + b->high);
}

#endif
