#include "base/elementary.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PI_HI 0x1.921fb54442d18p+1
#define PI_LO 0x1.1a62633145c07p-53
#define LN2_HI 0x1.62e42feep-1  // 32 bits: its product with an exponent is exact
#define LN2_LO 0x1.a39ef35793c76p-33
#define LOG2_E 0x1.71547652b82fep+0

static uint64_t bits_of(tbReal x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static tbReal from_bits(uint64_t bits) {
  tbReal x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// ---- pairs of numbers whose sum is a value of about 100 bits -----------------------------------

typedef struct {
  tbReal hi, lo;
} Pair;

static Pair fast_sum(tbReal a, tbReal b) {  // |a| >= |b|
  tbReal s = a + b;
  return (Pair){s, b - (s - a)};
}

static Pair sum(tbReal a, tbReal b) {
  tbReal s = a + b, t = s - a;
  return (Pair){s, (a - (s - t)) + (b - t)};
}

// The upper 26 bits of a number.
static tbReal upper_half(tbReal a) {
  tbReal t = 134217729 * a;
  return t - (t - a);
}

// Dekker's product.
static Pair product(tbReal a, tbReal b) {
  tbReal p = a * b, ah = upper_half(a), al = a - ah, bh = upper_half(b), bl = b - bh;
  return (Pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static Pair add(Pair a, Pair b) {
  Pair s = sum(a.hi, b.hi);
  return fast_sum(s.hi, s.lo + a.lo + b.lo);
}

static Pair multiply(Pair a, Pair b) {
  Pair p = product(a.hi, b.hi);
  return fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

// ---- sine, cosine, tangent ---------------------------------------------------------------------

// pi/2 in three parts, the first two of 33 bits: their products with n < 2^20 are exact.
#define HALF_PI_1 0x1.921fb544p+0
#define HALF_PI_2 0x1.0b4611a6p-34
#define HALF_PI_3 0x1.3198a2e037073p-69

// The bits of 2/pi after the binary point.
static const uint64_t TWO_OVER_PI[20] = {
    0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u,
    0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u,
    0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu,
    0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du, 0x7527bac7ebe5f17bu,
    0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu, 0xf0cfbc209af4361du};

// 64 bits of 2/pi from bit `at` on; bits before the binary point are zero.
static uint64_t window(int at) {
  if (at <= -64) return 0;
  if (at < 0) return TWO_OVER_PI[0] >> -at;
  int word = at / 64, shift = at % 64;
  uint64_t high = TWO_OVER_PI[word] << shift;
  return shift ? high | TWO_OVER_PI[word + 1] >> (64 - shift) : high;
}

// x = n pi/2 + r for x from 1e5 on: x is an integer m of 53 bits times 2^e, and of m times 2/pi
// only the bits around the binary point matter (Payne and Hanek, 1983). 192 bits of 2/pi leave at
// least 70 bits of the fraction, however close x is to a multiple.
static int reduce_large(tbReal x, Pair* r) {
  uint64_t bits = bits_of(x);
  uint64_t m = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  int e = (int)(bits >> 52 & 0x7ff) - 1075, at = e - 2;
  // m times the three words, modulo 2^192: quarter turns are its upper two bits.
  unsigned __int128 low = (unsigned __int128)m * window(at + 128);
  unsigned __int128 middle = (unsigned __int128)m * window(at + 64) + (uint64_t)(low >> 64);
  uint64_t high = m * window(at) + (uint64_t)(middle >> 64);
  int n = (int)(high >> 62);
  unsigned __int128 fraction = (unsigned __int128)(high << 2 | (uint64_t)middle >> 62) << 64 |
                               ((uint64_t)middle << 2 | (uint64_t)low >> 62);
  bool negative = fraction >> 127;
  if (negative) {
    fraction = -fraction;
    n++;
  }
  // The leading 53 bits of the fraction, and 53 more.
  int zeros = 0;
  while (zeros < 127 && !(fraction >> (127 - zeros) & 1)) zeros++;
  fraction <<= zeros;
  tbReal a = ldexp((tbReal)(uint64_t)(fraction >> 75), -53 - zeros);
  tbReal b = ldexp((tbReal)(uint64_t)(fraction >> 22 & 0x1fffffffffffffu), -106 - zeros);
  *r = multiply(fast_sum(a, b), (Pair){PI_HI / 2, PI_LO / 2});
  bool opposite = negative != (x < 0);
  if (opposite) *r = (Pair){-r->hi, -r->lo};
  return x < 0 ? -n : n;
}

// x = n pi/2 + r with |r| <= pi/4, for finite x; returns n modulo 4.
static int reduce(tbReal x, Pair* r) {
  if (fabs(x) <= PI_HI / 4) {
    *r = (Pair){x, 0};
    return 0;
  }
  if (fabs(x) >= 1e5) return reduce_large(x, r) & 3;
  const tbReal round = 6755399441055744.0;  // 1.5 2^52: adding it rounds to an integer
  tbReal n = (x * (2 / PI_HI) + round) - round;
  Pair first = sum(x - n * HALF_PI_1, -(n * HALF_PI_2));
  *r = fast_sum(first.hi, first.lo - n * HALF_PI_3);
  return (int)n & 3;
}

// On [-pi/4, pi/4], by fdlibm's minimax polynomials (errors below 2^-57).
static tbReal sine(Pair r) {
  tbReal x = r.hi, z = x * x;
  tbReal p = 1.58969099521155010221e-10;
  p = p * z - 2.50507602534068634195e-08;
  p = p * z + 2.75573137070700676789e-06;
  p = p * z - 1.98412698298579493134e-04;
  p = p * z + 8.33333333332248946124e-03;
  p = p * z - 1.66666666666666324348e-01;
  return x + (x * z * p + r.lo * (1 - 0.5 * z));
}

static tbReal cosine(Pair r) {
  tbReal x = r.hi, z = x * x, half = 0.5 * z, w = 1 - half;
  tbReal q = -1.13596475577881948265e-11;
  q = q * z + 2.08757232129817482790e-09;
  q = q * z - 2.75573143513906633035e-07;
  q = q * z + 2.48015872894767294178e-05;
  q = q * z - 1.38888888888741095749e-03;
  q = q * z + 4.16666666666666019037e-02;
  return w + (((1 - w) - half) + (z * z * q - x * r.lo));
}

tbReal tb_sin(tbReal x) {
  if (!isfinite(x)) return x - x;
  if (fabs(x) < 0x1p-27) return x;
  Pair r;
  int n = reduce(x, &r);
  tbReal s = n & 1 ? cosine(r) : sine(r);
  return n & 2 ? -s : s;
}

tbReal tb_cos(tbReal x) {
  if (!isfinite(x)) return x - x;
  Pair r;
  int n = reduce(x, &r);
  tbReal c = n & 1 ? sine(r) : cosine(r);
  return (n + 1) & 2 ? -c : c;
}

tbReal tb_tan(tbReal x) {
  if (!isfinite(x)) return x - x;
  if (fabs(x) < 0x1p-27) return x;
  Pair r;
  int n = reduce(x, &r);
  return n & 1 ? -cosine(r) / sine(r) : sine(r) / cosine(r);
}

// ---- inverse trigonometric functions -----------------------------------------------------------

// atan(i / 8)
static const Pair ATAN[9] = {{0, 0},
                             {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                             {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                             {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                             {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                             {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                             {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                             {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                             {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};

// atan(y / x) for 0 <= y <= x: atan(c) + atan((y - c x) / (x + c y)), with c the multiple of 1/8
// nearest to the quotient, or 0 below a tenth, where a larger c would cancel; the second term by
// its Taylor series.
static Pair atan_quotient(tbReal y, tbReal x) {
  tbReal quotient = y / x;
  int i = quotient < 0.1 ? 0 : (int)(8 * quotient + 0.5);
  tbReal c = 0.125 * i, t = i ? (y - c * x) / (x + c * y) : quotient, z = t * t;
  tbReal p = 1.0 / 19;
  for (int k = 17; k >= 3; k -= 2) p = 1.0 / k - z * p;
  return fast_sum(ATAN[i].hi, ATAN[i].lo + (t - t * z * p));
}

static tbReal subtract_from(Pair a, tbReal hi, tbReal lo) {
  Pair s = fast_sum(hi, -a.hi);
  return s.hi + (s.lo + (lo - a.lo));
}

tbReal tb_atan(tbReal x) {
  tbReal a = fabs(x), angle;
  if (isnan(x)) return x;
  if (a < 0x1p-28) return x;
  if (a <= 1) {
    Pair r = atan_quotient(a, 1);
    angle = r.hi + r.lo;
  } else {
    angle = isinf(a) ? PI_HI / 2 : subtract_from(atan_quotient(1, a), PI_HI / 2, PI_LO / 2);
  }
  return copysign(angle, x);
}

tbReal tb_atan2(tbReal y, tbReal x) {
  if (isnan(x) || isnan(y)) return x + y;
  tbReal a = fabs(y), b = fabs(x), angle;
  // Scale so that neither the products nor the quotient overflow or underflow.
  if (isinf(a) || isinf(b)) {
    a = isinf(a) ? 1 : 0;
    b = isinf(b) ? 1 : 0;
  }
  while (a > 0x1p1000 || b > 0x1p1000) {
    a *= 0x1p-60;
    b *= 0x1p-60;
  }
  while (a < 0x1p-900 && b < 0x1p-900 && (a > 0 || b > 0)) {
    a *= 0x1p60;
    b *= 0x1p60;
  }
  bool back = signbit(x);
  if (a <= b) {
    Pair r = b > 0 ? atan_quotient(a, b) : (Pair){0, 0};
    angle = back ? subtract_from(r, PI_HI, PI_LO) : r.hi + r.lo;
  } else {
    Pair r = atan_quotient(b, a);
    if (back) r = (Pair){-r.hi, -r.lo};
    angle = subtract_from(r, PI_HI / 2, PI_LO / 2);
  }
  return copysign(angle, y);
}

tbReal tb_asin(tbReal x) {
  if (!(fabs(x) <= 1)) return isnan(x) ? x : NAN;
  return fabs(x) < 0x1p-28 ? x : tb_atan2(x, sqrt((1 - x) * (1 + x)));
}

tbReal tb_acos(tbReal x) {
  if (!(fabs(x) <= 1)) return isnan(x) ? x : NAN;
  return 2 * tb_atan2(sqrt(1 - x), sqrt(1 + x));
}

// ---- exponential and logarithm -----------------------------------------------------------------

// x 2^k for -1100 < k < 1100 and x close to one.
static tbReal scaled(tbReal x, int k) {
  if (k >= -1021 && k <= 1022) return x * from_bits((uint64_t)(k + 1023) << 52);
  int half = k / 2;
  return x * from_bits((uint64_t)(half + 1023) << 52) *
         from_bits((uint64_t)(k - half + 1023) << 52);
}

// exp(x): x = k ln 2 + r, |r| <= ln 2 / 2, and the Taylor series of r to the 13th power.
static tbReal exp_pair(Pair x) {
  const tbReal round = 6755399441055744.0;
  tbReal k = (x.hi * LOG2_E + round) - round;
  Pair r = sum(x.hi - k * LN2_HI, -(k * LN2_LO));
  r = fast_sum(r.hi, r.lo + x.lo);
  static const tbReal INVERSE[] = {1.0 / 6,        1.0 / 24,        1.0 / 120,       1.0 / 720,
                                   1.0 / 5040,     1.0 / 40320,     1.0 / 362880,    1.0 / 3628800,
                                   1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  tbReal p = INVERSE[10], t = r.hi;
  for (int i = 9; i >= 0; i--) p = p * t + INVERSE[i];
  Pair y = fast_sum(1, t);
  return scaled(y.hi + (y.lo + (t * t * (0.5 + t * p) + r.lo * (1 + t))), (int)k);
}

tbReal tb_exp(tbReal x) {
  if (isnan(x)) return x;
  if (x > 710) return INFINITY;
  if (x < -746) return 0;
  return exp_pair((Pair){x, 0});
}

// x = m 2^k with m from sqrt(1/2) to sqrt(2), for finite x > 0.
static tbReal mantissa(tbReal x, int* k) {
  *k = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    *k = -54;
  }
  uint64_t bits = bits_of(x);
  *k += (int)(bits >> 52) - 1023;
  tbReal m = from_bits((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++*k;
  }
  return m;
}

// log(m) = 2 atanh(s), s = (m - 1) / (m + 1), with the first two terms of the series as pairs.
static Pair log_mantissa(tbReal m) {
  tbReal f = m - 1;
  Pair below = fast_sum(2, f);
  tbReal s = f / below.hi;
  Pair back = product(s, below.hi);
  Pair S = fast_sum(s, (((f - back.hi) - back.lo) - s * below.lo) / below.hi);
  Pair z = multiply(S, S), third = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
  tbReal p = 1.0 / 25;
  for (int k = 23; k >= 5; k -= 2) p = 1.0 / k + z.hi * p;
  Pair rest = fast_sum(third.hi, third.lo + z.hi * p);
  Pair cubic = multiply(multiply(S, z), rest);
  Pair total = add(S, cubic);
  return (Pair){2 * total.hi, 2 * total.lo};
}

static Pair log_pair(tbReal x) {
  int k;
  tbReal m = mantissa(x, &k);
  Pair y = log_mantissa(m);
  if (k == 0) return y;
  Pair whole = sum(k * LN2_HI, k * LN2_LO);
  return add(whole, y);
}

tbReal tb_log(tbReal x) {
  if (isnan(x) || x == INFINITY) return x;
  if (x < 0) return NAN;
  if (x == 0) return -INFINITY;
  Pair y = log_pair(x);
  return y.hi + y.lo;
}

tbReal tb_log2(tbReal x) {
  if (isnan(x) || x == INFINITY) return x;
  if (x < 0) return NAN;
  if (x == 0) return -INFINITY;
  int k;
  tbReal m = mantissa(x, &k);
  Pair y = multiply(log_mantissa(m), (Pair){LOG2_E, 0x1.777d0ffda0d24p-56});
  return k + (y.hi + y.lo);
}

// ---- powers ------------------------------------------------------------------------------------

// 0: y is not an integer, 1: y is odd, 2: y is even.
static int parity(tbReal y) {
  if (fabs(y) >= 0x1p53) return 2;
  if (y != floor(y)) return 0;
  return (int64_t)y & 1 ? 1 : 2;
}

// x^y for finite x > 0 and finite y.
static tbReal positive_power(tbReal x, tbReal y) {
  Pair l = log_pair(x);
  // Clamp y, so that the parts of a product far out of range stay finite.
  if (fabs(y) > 0x1p80) y = copysign(0x1p80, y);
  tbReal estimate = l.hi * y;
  if (estimate > 710) return INFINITY;
  if (estimate < -746) return 0;
  Pair p = product(l.hi, y);
  return exp_pair(fast_sum(p.hi, p.lo + l.lo * y));
}

tbReal tb_pow(tbReal x, tbReal y) {
  if (y == 0 || x == 1) return 1;
  if (isnan(x) || isnan(y)) return x + y;
  bool odd = parity(y) == 1, grows = (fabs(x) > 1) == (y > 0);
  if (isinf(y)) return x == -1 ? 1 : grows ? INFINITY : 0;
  if (x == 0 || isinf(x)) {
    tbReal size = (x == 0) == (y > 0) ? 0 : INFINITY;
    return odd ? copysign(size, x) : size;
  }
  if (x < 0 && parity(y) == 0) return NAN;
  tbReal size = positive_power(fabs(x), y);
  return x < 0 && odd ? -size : size;
}

tbReal tb_hypot(tbReal x, tbReal y) {
  tbReal a = fabs(x), b = fabs(y), scale = 1;
  if (isinf(a) || isinf(b)) return INFINITY;
  if (isnan(x) || isnan(y)) return x + y;
  if (a < b) {
    tbReal swap = a;
    a = b;
    b = swap;
  }
  if (b < a * 0x1p-60) return a + b;
  if (a > 0x1p500) {
    scale = 0x1p600;
  } else if (b < 0x1p-450) {
    scale = 0x1p-600;
  }
  a *= 1 / scale;
  b *= 1 / scale;
  return scale * sqrt(a * a + b * b);
}
