// Sine and cosine together, from additions and multiplications alone: the same bits on every
// machine and C library, and cheaper than two calls.
#ifndef TRIBO_SPATIAL_TRIG_H_
#define TRIBO_SPATIAL_TRIG_H_

#include <math.h>

#include "tribo/types.h"

// Minimax polynomials on [-pi/4, pi/4], errors below 2^-57 (the classic coefficients of fdlibm).
static inline tbReal tb_sin_kernel(tbReal x) {
  tbReal z = x * x;
  tbReal p = 1.58969099521155010221e-10;
  p = p * z - 2.50507602534068634195e-08;
  p = p * z + 2.75573137070700676789e-06;
  p = p * z - 1.98412698298579493134e-04;
  p = p * z + 8.33333333332248946124e-03;
  p = p * z - 1.66666666666666324348e-01;
  return x + x * z * p;
}

static inline tbReal tb_cos_kernel(tbReal x) {
  tbReal z = x * x;
  tbReal p = -1.13596475577881948265e-11;
  p = p * z + 2.08757232129817482790e-09;
  p = p * z - 2.75573143513906633035e-07;
  p = p * z + 2.48015872894767294178e-05;
  p = p * z - 1.38888888888741095749e-03;
  p = p * z + 4.16666666666666019037e-02;
  tbReal half = 0.5 * z, w = 1 - half;
  return w + ((1 - w) - half + z * z * p);
}

// s = sin(x), c = cos(x), within 2e-16 of the true values for |x| < 1e5; beyond, and for NaN and
// infinity, those of the C library.
static inline void tb_sincos(tbReal x, tbReal* s, tbReal* c) {
  if (!(x > -1e5 && x < 1e5)) {
    *s = sin(x);
    *c = cos(x);
    return;
  }
  // x = n pi/2 + r with |r| <= pi/4 (Cody and Waite): pi/2 in two parts, the first of 33 bits so
  // that its product with n is exact. Adding and subtracting 1.5 2^52 rounds to an integer.
  tbReal n = (x * 6.36619772367581382433e-01 + 6755399441055744.0) - 6755399441055744.0;
  tbReal r = (x - n * 1.57079632673412561417) - n * 6.07710050650619224932e-11;
  tbReal sine = tb_sin_kernel(r), cosine = tb_cos_kernel(r);
  int quadrant = (int)n & 3;
  tbReal a = quadrant & 1 ? cosine : sine, b = quadrant & 1 ? sine : cosine;
  *s = quadrant & 2 ? -a : a;
  *c = (quadrant + 1) & 2 ? -b : b;
}

#endif
