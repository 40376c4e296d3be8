// Products of motions, inertias and frames in registers, for loops that are compiled for wide ones
// (TB_WIDE) and without. Each adds and multiplies in the order of its plain form in motion.h and
// vec3.h: the bits are the same. `wide` must be a constant where these are inlined.
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

#define TB_LOAD4(p) (*(const tbFour*)(p))

// The last three of four numbers that lie before p + 3: p itself without reading behind it.
#define TB_LOAD_END3(p) TB_PICK(TB_LOAD4((p)-1), 1, 2, 3, 3)

// Write three numbers x behind those of `before` that are there already, its last at r[-1].
#define TB_STORE_END3(r, before, x) (*(tbFour*)((r)-1) = TB_PICK_TWO(before, x, 2, 4, 5, 6))

#define TB_YZX(x) TB_PICK(x, 1, 2, 0, 3)
#define TB_ZXY(x) TB_PICK(x, 2, 0, 1, 3)

#endif

// ---- motions and forces ------------------------------------------------------------------------

// Six numbers that stay in registers: what is stored and loaded again in other parts waits for the
// store.
#if TB_PART == 4

typedef struct {
  tbFour turn, move;  // the last of each is anything
} tbSix;

TB_INLINE tbSix tb_six_load(const tbReal x[6]) {
  return (tbSix){TB_LOAD4(x), TB_LOAD_END3(x + 3)};
}

TB_INLINE void tb_six_store(tbReal r[6], tbSix x) {
  *(tbFour*)r = x.turn;
  TB_STORE_END3(r + 3, x.turn, x.move);
}

TB_INLINE tbSix tb_six_add(tbSix x, tbSix y) {
  return (tbSix){x.turn + y.turn, x.move + y.move};
}

TB_INLINE tbSix tb_six_scale(tbReal a, tbSix x) {
  return (tbSix){a * x.turn, a * x.move};
}

// A translation along fixed axes added.
TB_INLINE tbSix tb_six_shift(tbSix x, const tbReal by[3]) {
  return (tbSix){x.turn, x.move + (tbFour){by[0], by[1], by[2], 0}};
}

// I v
TB_INLINE tbSix tb_six_inertia_mul(const tbReal I[10], tbSix v) {
  // Columns of the moments; mass times centre, mass.
  tbFour i0 = TB_LOAD4(I), i2 = TB_LOAD4(I + 2), i3 = TB_LOAD4(I + 3), i4 = TB_LOAD4(I + 4);
  tbFour c0 = TB_PICK_TWO(i0, i2, 0, 5, 6, 3), c1 = TB_PICK_TWO(i3, i0, 0, 5, 2, 3);
  tbFour c2 = TB_PICK_TWO(i4, i0, 0, 1, 6, 3), h = TB_LOAD4(I + 6);
  tbFour w = v.turn, u = v.move, h1 = TB_YZX(h), h2 = TB_ZXY(h);
  tbFour turn = c0 * w[0] + c1 * w[1] + c2 * w[2] + (h1 * TB_ZXY(u) - h2 * TB_YZX(u));
  return (tbSix){turn, I[9] * u + (h2 * TB_YZX(w) - h1 * TB_ZXY(w))};
}

// v x* f
TB_INLINE tbSix tb_six_force_cross(tbSix v, tbSix f) {
  tbFour w1 = TB_YZX(v.turn), w2 = TB_ZXY(v.turn), p1 = TB_YZX(f.move), p2 = TB_ZXY(f.move);
  tbFour turn =
      (w1 * TB_ZXY(f.turn) - w2 * TB_YZX(f.turn)) + (TB_YZX(v.move) * p2 - TB_ZXY(v.move) * p1);
  return (tbSix){turn, w1 * p2 - w2 * p1};
}

// v x s
TB_INLINE tbSix tb_six_motion_cross(tbSix v, tbSix s) {
  tbFour w1 = TB_YZX(v.turn), w2 = TB_ZXY(v.turn), a1 = TB_YZX(s.turn), a2 = TB_ZXY(s.turn);
  tbFour move =
      (w1 * TB_ZXY(s.move) - w2 * TB_YZX(s.move)) + (TB_YZX(v.move) * a2 - TB_ZXY(v.move) * a1);
  return (tbSix){w1 * a2 - w2 * a1, move};
}

#else

typedef struct {
  tbReal x[6];
} tbSix;

TB_INLINE tbSix tb_six_load(const tbReal x[6]) {
  tbSix r;
  tb_copy6(r.x, x);
  return r;
}

TB_INLINE void tb_six_store(tbReal r[6], tbSix x) {
  tb_copy6(r, x.x);
}

TB_INLINE tbSix tb_six_add(tbSix x, tbSix y) {
  tb_add6(x.x, x.x, y.x);
  return x;
}

TB_INLINE tbSix tb_six_scale(tbReal a, tbSix x) {
  for (int k = 0; k < 6; k++) x.x[k] *= a;
  return x;
}

TB_INLINE tbSix tb_six_shift(tbSix x, const tbReal by[3]) {
  tb_add3(x.x + 3, x.x + 3, by);
  return x;
}

TB_INLINE tbSix tb_six_inertia_mul(const tbReal I[10], tbSix v) {
  tbSix r;
  tb_inertia_mul(r.x, I, v.x);
  return r;
}

TB_INLINE tbSix tb_six_force_cross(tbSix v, tbSix f) {
  tbSix r;
  tb_force_cross(r.x, v.x, f.x);
  return r;
}

TB_INLINE tbSix tb_six_motion_cross(tbSix v, tbSix s) {
  tbSix r;
  tb_motion_cross(r.x, v.x, s.x);
  return r;
}

#endif

// The force that gives a body its acceleration: I a + v x* I v.
TB_INLINE tbSix tb_six_inertial_force(const tbReal I[10], tbSix v, tbSix a) {
  return tb_six_add(tb_six_inertia_mul(I, a), tb_six_force_cross(v, tb_six_inertia_mul(I, v)));
}

// ---- frames ------------------------------------------------------------------------------------

// The frame (p, R) that lies at (b, B) in the frame (a, A): R = A B, p = a + A b.
TB_INLINE void tb_wide_attach(int wide, tbReal p[3], tbReal R[9], const tbReal a[3],
                              const tbReal A[9], const tbReal b[3], const tbReal B[9]) {
  (void)wide;
#if TB_PART == 2
  // Two columns of B in registers, the third beside b.
  tbTwo left[3], right[3];
  for (int k = 0; k < 3; k++) {
    left[k] = *(const tbTwo*)(B + 3 * k);
    right[k] = (tbTwo){B[3 * k + 2], b[k]};
  }
  for (int i = 0; i < 3; i++) {
    const tbReal x = A[3 * i], y = A[3 * i + 1], z = A[3 * i + 2];
    tbTwo last = x * right[0] + y * right[1] + z * right[2];
    *(tbTwo*)(R + 3 * i) = x * left[0] + y * left[1] + z * left[2];
    R[3 * i + 2] = last[0];
    p[i] = a[i] + last[1];
  }
#else
  tbReal arm[3];
  tb_mul_mat3_vec3(arm, A, b);
  tb_add3(p, a, arm);
#if TB_PART == 4
  if (wide) {
    tbFour b0 = TB_LOAD4(B), b1 = TB_LOAD4(B + 3), b2 = TB_LOAD_END3(B + 6);
    tbFour r0 = A[0] * b0 + A[1] * b1 + A[2] * b2;
    tbFour r1 = A[3] * b0 + A[4] * b1 + A[5] * b2;
    tbFour r2 = A[6] * b0 + A[7] * b1 + A[8] * b2;
    *(tbFour*)R = r0;
    *(tbFour*)(R + 3) = r1;
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
    const tbFour i = {-1, 1, -1, 1}, j = {-1, 1, 1, -1}, k = {-1, -1, 1, 1};
    tbFour x = TB_LOAD4(b);
    *(tbFour*)r = a[0] * x + a[1] * (i * TB_PICK(x, 1, 0, 3, 2)) +
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
  tbTwo s = *(const tbTwo*)a * *(const tbTwo*)b + *(const tbTwo*)(a + 2) * *(const tbTwo*)(b + 2) +
            *(const tbTwo*)(a + 4) * *(const tbTwo*)(b + 4);
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
