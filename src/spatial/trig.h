// Sine and cosine together, from additions and multiplications alone: the same bits on every
// machine and C library, and cheaper than two calls.
#ifndef TRIBO_SPATIAL_TRIG_H_
#define TRIBO_SPATIAL_TRIG_H_

#include <math.h>
#include <stdint.h>

#include "base/elementary.h"
#include "linalg/simd4.h"

// Outside this range, and for NaN and infinity, tb_sincos calls tb_sin and tb_cos.
#define TB_SINCOS_RANGE 1e5
// Adding this rounds to an integer, in the lowest bits.
#define TB_SINCOS_ROUND 6755399441055744.0  // 1.5 2^52

// For numbers, or SIMD vectors of them. x = n pi/2 + r with |r| <= pi/4 (Cody and Waite): pi/2 in
// two parts, the first of 33 bits so that its product with n is exact; `whole` is n +
// TB_SINCOS_ROUND. Then minimax polynomials on [-pi/4, pi/4], errors below 2^-57 (the classic
// coefficients of fdlibm).
#define TB_SINCOS_KERNEL(Part, x, whole, sine, cosine)                          \
  do {                                                                          \
    whole = x * 6.36619772367581382433e-01 + TB_SINCOS_ROUND;                   \
    Part n = whole - TB_SINCOS_ROUND;                                           \
    Part r = (x - n * 1.57079632673412561417) - n * 6.07710050650619224932e-11; \
    Part z = r * r, half = 0.5 * z, w = 1 - half, p, q;                         \
    p = 1.58969099521155010221e-10 * z - 2.50507602534068634195e-08;            \
    q = -1.13596475577881948265e-11 * z + 2.08757232129817482790e-09;           \
    p = p * z + 2.75573137070700676789e-06;                                     \
    q = q * z - 2.75573143513906633035e-07;                                     \
    p = p * z - 1.98412698298579493134e-04;                                     \
    q = q * z + 2.48015872894767294178e-05;                                     \
    p = p * z + 8.33333333332248946124e-03;                                     \
    q = q * z - 1.38888888888741095749e-03;                                     \
    p = p * z - 1.66666666666666324348e-01;                                     \
    q = q * z + 4.16666666666666019037e-02;                                     \
    sine = r + r * z * p;                                                       \
    cosine = w + ((1 - w) - half + z * z * q);                                  \
  } while (0)

// s = sin(x), c = cos(x), within 2e-16 of the true values in the range.
TB_ANY_INLINE void tb_sincos(tbReal x, tbReal* s, tbReal* c) {
  if (!(x > -TB_SINCOS_RANGE && x < TB_SINCOS_RANGE)) {
    *s = tb_sin(x);
    *c = tb_cos(x);
    return;
  }
  tbReal whole, sine, cosine;
  TB_SINCOS_KERNEL(tbReal, x, whole, sine, cosine);
  int quadrant = (int)(whole - TB_SINCOS_ROUND) & 3;
  tbReal a = quadrant & 1 ? cosine : sine, b = quadrant & 1 ? sine : cosine;
  *s = quadrant & 2 ? -a : a;
  *c = (quadrant + 1) & 2 ? -b : b;
}

// The same for several numbers, with the same bits. In SIMD lanes the polynomials do not wait for
// each other, as they would along a chain of joints. The arrays have room up to a multiple of four,
// which is filled in x with arbitrary numbers.
TB_INLINE void tb_sincos_many(int count, const tbReal* x, tbReal* s, tbReal* c) {
  bool within = true;
#if TB_PART > 1
  typedef int64_t Bits __attribute__((vector_size(sizeof(tbPart))));
  for (int i = 0; i < count; i += TB_PART) {
    tbPart whole, sine, cosine, angle = *(const tbPart*)(x + i);
    TB_SINCOS_KERNEL(tbPart, angle, whole, sine, cosine);
    Bits quadrant = (Bits)whole, odd = -(quadrant & 1);
    Bits a = (odd & (Bits)cosine) | (~odd & (Bits)sine);
    Bits b = (odd & (Bits)sine) | (~odd & (Bits)cosine);
    *(tbPart*)(s + i) = (tbPart)(a ^ ((quadrant & 2) << 62));
    *(tbPart*)(c + i) = (tbPart)(b ^ (((quadrant + 1) & 2) << 62));
  }
  for (int i = 0; i < count; i++) within &= x[i] > -TB_SINCOS_RANGE && x[i] < TB_SINCOS_RANGE;
#else
  within = false;
#endif
  for (int i = 0; i < count && !within; i++) tb_sincos(x[i], &s[i], &c[i]);
}

#endif
