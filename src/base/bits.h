// Bits of words as sets of small numbers.
#ifndef TRIBO_BASE_BITS_H_
#define TRIBO_BASE_BITS_H_

#include <stdint.h>

// The lowest bit of a word that is not 0.
static inline int tb_lowest_bit(uint64_t word) {
#ifdef __GNUC__
  return __builtin_ctzll(word);
#else
  int bit = 0;
  for (; !(word & 1); word >>= 1) bit++;
  return bit;
#endif
}

#endif
