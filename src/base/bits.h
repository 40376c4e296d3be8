// Bits of words as sets of small integers, and a test for arrays of zeros.
#ifndef TRIBO_BASE_BITS_H_
#define TRIBO_BASE_BITS_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tribo/types.h"

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

// Whether all numbers are +0, by their bits and without branches: for arrays that every step tests
// and that are nearly always zero.
static inline bool tb_all_clear(int n, const tbReal* x) {
  uint64_t any = 0, bits;
  for (int i = 0; i < n; i++) {
    memcpy(&bits, &x[i], sizeof bits);
    any |= bits;
  }
  return any == 0;
}

#endif
