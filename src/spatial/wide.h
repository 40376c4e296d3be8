// Products of motions, inertias and frames in SIMD registers, for loops that are compiled with
// (TB_WIDE) and without AVX2. Each adds and multiplies in the order of its plain form in motion.h
// and vec3.h, so that the bits are the same. `wide` must be a compile-time constant.
#ifndef TRIBO_SPATIAL_WIDE_H_
#define TRIBO_SPATIAL_WIDE_H_

#include "linalg/simd4.h"
#include "spatial/motion.h"
#include "spatial/quat.h"

#if TB_PART == 4

#if defined(__clang__)
#define TB_PICK(x, a, b, c, d) __builtin_shufflevector(x, x, a, b, c, d)
#define TB_PICK_TWO(x, y, a, b, c, d) __builtin_shufflevector(x, y, a, b, c, d)
#else
typedef long long tbFourPlace __attribute__((vector_size(32)));
#define TB_PICK(x, a, b, c, d) __builtin_shuffle(x, (tbFourPlace){a, b, c, d})
#define TB_PICK_TWO(x, y, a, b, c, d) __builtin_shuffle(x, y, (tbFourPlace){a, b, c, d})
#endif

#define TB_LOAD4(p) (*(const tbSimd4*)(p))

// Load the three numbers at p, without reading beyond them: the last three of the four at p - 1.
#define TB_LOAD_END3(p) TB_PICK(TB_LOAD4((p)-1), 1, 2, 3, 3)

// Store three numbers x at r, after the stored numbers of `before`, the last of which is at r[-1].
#define TB_STORE_END3(r, before, x) (*(tbSimd4*)((r)-1) = TB_PICK_TWO(before, x, 2, 4, 5, 6))

#define TB_YZX(x) TB_PICK(x, 1, 2, 0, 3)
#define TB_ZXY(x) TB_PICK(x, 2, 0, 1, 3)

#endif

// ---- motions and forces ------------------------------------------------------------------------

// Six numbers that stay in registers: a load of other parts than were stored has to wait for the
// store.
#if TB_PART == 4

typedef struct {
  tbSimd4 turn, move;  // the last entry of each is arbitrary
} tbSimd6;

TB_INLINE tbSimd6 tb_simd6_load(const tbReal x[6]) {
  return (tbSimd6){TB_LOAD4(x), TB_LOAD_END3(x + 3)};
}

TB_INLINE void tb_simd6_store(tbReal r[6], tbSimd6 x) {
  *(tbSimd4*)r = x.turn;
  TB_STORE_END3(r + 3, x.turn, x.move);
}

TB_INLINE tbSimd6 tb_simd6_add(tbSimd6 x, tbSimd6 y) {
  return (tbSimd6){x.turn + y.turn, x.move + y.move};
}

TB_INLINE tbSimd6 tb_simd6_scale(tbReal a, tbSimd6 x) {
  return (tbSimd6){a * x.turn, a * x.move};
}

// Add a translation along fixed axes.
TB_INLINE tbSimd6 tb_simd6_shift(tbSimd6 x, const tbReal by[3]) {
  return (tbSimd6){x.turn, x.move + (tbSimd4){by[0], by[1], by[2], 0}};
}

// I v
TB_INLINE tbSimd6 tb_simd6_inertia_mul(const tbReal I[10], tbSimd6 v) {
  // Columns of the moments; mass times centre, mass.
  tbSimd4 i0 = TB_LOAD4(I), i2 = TB_LOAD4(I + 2), i3 = TB_LOAD4(I + 3), i4 = TB_LOAD4(I + 4);
  tbSimd4 c0 = TB_PICK_TWO(i0, i2, 0, 5, 6, 3), c1 = TB_PICK_TWO(i3, i0, 0, 5, 2, 3);
  tbSimd4 c2 = TB_PICK_TWO(i4, i0, 0, 1, 6, 3), h = TB_LOAD4(I + 6);
  tbSimd4 w = v.turn, u = v.move, h1 = TB_YZX(h), h2 = TB_ZXY(h);
  tbSimd4 turn = c0 * w[0] + c1 * w[1] + c2 * w[2] + (h1 * TB_ZXY(u) - h2 * TB_YZX(u));
  return (tbSimd6){turn, I[9] * u + (h2 * TB_YZX(w) - h1 * TB_ZXY(w))};
}

// v x* f
TB_INLINE tbSimd6 tb_simd6_force_cross(tbSimd6 v, tbSimd6 f) {
  tbSimd4 w1 = TB_YZX(v.turn), w2 = TB_ZXY(v.turn), p1 = TB_YZX(f.move), p2 = TB_ZXY(f.move);
  tbSimd4 turn =
      (w1 * TB_ZXY(f.turn) - w2 * TB_YZX(f.turn)) + (TB_YZX(v.move) * p2 - TB_ZXY(v.move) * p1);
  return (tbSimd6){turn, w1 * p2 - w2 * p1};
}

// v x s
TB_INLINE tbSimd6 tb_simd6_motion_cross(tbSimd6 v, tbSimd6 s) {
  tbSimd4 w1 = TB_YZX(v.turn), w2 = TB_ZXY(v.turn), a1 = TB_YZX(s.turn), a2 = TB_ZXY(s.turn);
  tbSimd4 move =
      (w1 * TB_ZXY(s.move) - w2 * TB_YZX(s.move)) + (TB_YZX(v.move) * a2 - TB_ZXY(v.move) * a1);
  return (tbSimd6){w1 * a2 - w2 * a1, move};
}

#else

typedef struct {
  tbReal x[6];
} tbSimd6;

TB_INLINE tbSimd6 tb_simd6_load(const tbReal x[6]) {
  tbSimd6 r;
  tb_copy6(r.x, x);
  return r;
}

TB_INLINE void tb_simd6_store(tbReal r[6], tbSimd6 x) {
  tb_copy6(r, x.x);
}

TB_INLINE tbSimd6 tb_simd6_add(tbSimd6 x, tbSimd6 y) {
  tb_add6(x.x, x.x, y.x);
  return x;
}

TB_INLINE tbSimd6 tb_simd6_scale(tbReal a, tbSimd6 x) {
  for (int k = 0; k < 6; k++) x.x[k] *= a;
  return x;
}

TB_INLINE tbSimd6 tb_simd6_shift(tbSimd6 x, const tbReal by[3]) {
  tb_add3(x.x + 3, x.x + 3, by);
  return x;
}

TB_INLINE tbSimd6 tb_simd6_inertia_mul(const tbReal I[10], tbSimd6 v) {
  tbSimd6 r;
  tb_inertia_mul(r.x, I, v.x);
  return r;
}

TB_INLINE tbSimd6 tb_simd6_force_cross(tbSimd6 v, tbSimd6 f) {
  tbSimd6 r;
  tb_force_cross(r.x, v.x, f.x);
  return r;
}

TB_INLINE tbSimd6 tb_simd6_motion_cross(tbSimd6 v, tbSimd6 s) {
  tbSimd6 r;
  tb_motion_cross(r.x, v.x, s.x);
  return r;
}

#endif

// The force that gives a body its acceleration: I a + v x* I v.
TB_INLINE tbSimd6 tb_simd6_inertial_force(const tbReal I[10], tbSimd6 v, tbSimd6 a) {
  return tb_simd6_add(tb_simd6_inertia_mul(I, a),
                      tb_simd6_force_cross(v, tb_simd6_inertia_mul(I, v)));
}

// ---- frames ------------------------------------------------------------------------------------

// The frame (p, R) that lies at (b, B) in the frame (a, A): R = A B, p = a + A b.
TB_INLINE void tb_wide_attach(int wide, tbReal p[3], tbReal R[9], const tbReal a[3],
                              const tbReal A[9], const tbReal b[3], const tbReal B[9]) {
  (void)wide;
#if TB_PART == 2
  // Two columns of B in registers, the third beside b.
  tbSimd2 left[3], right[3];
  for (int k = 0; k < 3; k++) {
    left[k] = *(const tbSimd2*)(B + 3 * k);
    right[k] = (tbSimd2){B[3 * k + 2], b[k]};
  }
  for (int i = 0; i < 3; i++) {
    const tbReal x = A[3 * i], y = A[3 * i + 1], z = A[3 * i + 2];
    tbSimd2 last = x * right[0] + y * right[1] + z * right[2];
    *(tbSimd2*)(R + 3 * i) = x * left[0] + y * left[1] + z * left[2];
    R[3 * i + 2] = last[0];
    p[i] = a[i] + last[1];
  }
#else
  tbReal arm[3];
  tb_mul_mat3_vec3(arm, A, b);
  tb_add3(p, a, arm);
#if TB_PART == 4
  if (wide) {
    tbSimd4 b0 = TB_LOAD4(B), b1 = TB_LOAD4(B + 3), b2 = TB_LOAD_END3(B + 6);
    tbSimd4 r0 = A[0] * b0 + A[1] * b1 + A[2] * b2;
    tbSimd4 r1 = A[3] * b0 + A[4] * b1 + A[5] * b2;
    tbSimd4 r2 = A[6] * b0 + A[7] * b1 + A[8] * b2;
    *(tbSimd4*)R = r0;
    *(tbSimd4*)(R + 3) = r1;
    TB_STORE_END3(R + 6, r1, r2);
    return;
  }
#endif
  tb_mul_mat3(R, A, B);
#endif
}

// r = x of nine.
TB_INLINE void tb_wide_copy9(tbReal r[9], const tbReal x[9]) {
  tb_copy_four(r, x, 8);
  r[8] = x[8];
}

// r = a b for quaternions, as tb_quat_mul.
TB_INLINE void tb_wide_quat_mul(int wide, tbReal r[4], const tbReal a[4], const tbReal b[4]) {
#if TB_PART == 4
  if (wide) {
    const tbSimd4 i = {-1, 1, -1, 1}, j = {-1, 1, 1, -1}, k = {-1, -1, 1, 1};
    tbSimd4 x = TB_LOAD4(b);
    *(tbSimd4*)r = a[0] * x + a[1] * (i * TB_PICK(x, 1, 0, 3, 2)) +
                   a[2] * (j * TB_PICK(x, 2, 3, 0, 1)) + a[3] * (k * TB_PICK(x, 3, 2, 1, 0));
    return;
  }
#endif
  (void)wide;
  tb_quat_mul(r, a, b);
}

// ---- sums --------------------------------------------------------------------------------------

// a . b of six, in the two sums of tb_dot6.
TB_INLINE tbReal tb_wide_dot6(const tbReal a[6], const tbReal b[6]) {
#if TB_PART > 1
  tbSimd2 s = *(const tbSimd2*)a * *(const tbSimd2*)b +
              *(const tbSimd2*)(a + 2) * *(const tbSimd2*)(b + 2) +
              *(const tbSimd2*)(a + 4) * *(const tbSimd2*)(b + 4);
  return s[0] + s[1];
#else
  return tb_dot6(a, b);
#endif
}

// r += x of six.
TB_INLINE void tb_wide_add6(tbReal r[6], const tbReal x[6]) {
  tb_add_four(r, x, 6);
}

// r += x of ten.
TB_INLINE void tb_wide_add10(tbReal r[10], const tbReal x[10]) {
  tb_add_four(r, x, 10);
}

#endif
