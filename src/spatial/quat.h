// Unit quaternions (w, x, y, z) as rotations.
#ifndef TRIBO_SPATIAL_QUAT_H_
#define TRIBO_SPATIAL_QUAT_H_

#include "base/elementary.h"
#include "spatial/trig.h"
#include "spatial/vec3.h"

TB_ANY_INLINE void tb_quat_identity(tbReal q[4]) {
  q[0] = 1;
  q[1] = q[2] = q[3] = 0;
}

// Scale to unit length and return the old length; a zero quaternion becomes the identity.
TB_ANY_INLINE tbReal tb_quat_normalize(tbReal q[4]) {
  tbReal length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (length > 0) {
    for (int i = 0; i < 4; i++) q[i] /= length;
  } else {
    tb_quat_identity(q);
  }
  return length;
}

// Correct the rounding error of a product of unit quaternions. One Newton step of 1/sqrt at 1 is
// exact to rounding there and needs neither square root nor division.
TB_ANY_INLINE void tb_quat_renormalize(tbReal q[4]) {
  tbReal n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (n > 1 - 1e-7 && n < 1 + 1e-7) {
    tbReal s = 1.5 - 0.5 * n;
    for (int i = 0; i < 4; i++) q[i] *= s;
  } else {
    tb_quat_normalize(q);
  }
}

// A unit quaternion from four coordinates that a user may have scaled.
TB_ANY_INLINE void tb_quat_unit(tbReal q[4], const tbReal coordinates[4]) {
  for (int i = 0; i < 4; i++) q[i] = coordinates[i];
  tb_quat_renormalize(q);
}

TB_ANY_INLINE void tb_quat_conjugate(tbReal r[4], const tbReal q[4]) {
  r[0] = q[0];
  r[1] = -q[1];
  r[2] = -q[2];
  r[3] = -q[3];
}

// r = a b: first b, then a.
TB_ANY_INLINE void tb_quat_mul(tbReal r[4], const tbReal a[4], const tbReal b[4]) {
  tbReal w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  tbReal x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  tbReal y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  tbReal z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
  r[0] = w;
  r[1] = x;
  r[2] = y;
  r[3] = z;
}

// Rotate v by q: v + 2 w (u x v) + 2 u x (u x v), with q = (w, u).
TB_ANY_INLINE void tb_quat_rotate(tbReal r[3], const tbReal q[4], const tbReal v[3]) {
  tbReal t[3], s[3];
  tb_cross(t, q + 1, v);
  tb_scale3(t, t, 2);
  tb_cross(s, q + 1, t);
  tb_set3(r, v[0] + q[0] * t[0] + s[0], v[1] + q[0] * t[1] + s[1], v[2] + q[0] * t[2] + s[2]);
}

TB_ANY_INLINE void tb_quat_to_mat(tbReal R[9], const tbReal q[4]) {
  tbReal w = q[0], x = q[1], y = q[2], z = q[3];
  R[0] = w * w + x * x - y * y - z * z;
  R[4] = w * w - x * x + y * y - z * z;
  R[8] = w * w - x * x - y * y + z * z;
  R[1] = 2 * (x * y - w * z);
  R[2] = 2 * (x * z + w * y);
  R[3] = 2 * (x * y + w * z);
  R[5] = 2 * (y * z - w * x);
  R[6] = 2 * (x * z - w * y);
  R[7] = 2 * (y * z + w * x);
}

// From a rotation matrix, by the largest diagonal term (Shepperd).
TB_ANY_INLINE void tb_quat_from_mat(tbReal q[4], const tbReal R[9]) {
  tbReal trace = R[0] + R[4] + R[8];
  if (trace > 0) {
    q[0] = 0.5 * sqrt(1 + trace);
    q[1] = 0.25 * (R[7] - R[5]) / q[0];
    q[2] = 0.25 * (R[2] - R[6]) / q[0];
    q[3] = 0.25 * (R[3] - R[1]) / q[0];
  } else if (R[0] > R[4] && R[0] > R[8]) {
    q[1] = 0.5 * sqrt(1 + R[0] - R[4] - R[8]);
    q[0] = 0.25 * (R[7] - R[5]) / q[1];
    q[2] = 0.25 * (R[1] + R[3]) / q[1];
    q[3] = 0.25 * (R[2] + R[6]) / q[1];
  } else if (R[4] > R[8]) {
    q[2] = 0.5 * sqrt(1 - R[0] + R[4] - R[8]);
    q[0] = 0.25 * (R[2] - R[6]) / q[2];
    q[1] = 0.25 * (R[1] + R[3]) / q[2];
    q[3] = 0.25 * (R[5] + R[7]) / q[2];
  } else {
    q[3] = 0.5 * sqrt(1 - R[0] - R[4] + R[8]);
    q[0] = 0.25 * (R[3] - R[1]) / q[3];
    q[1] = 0.25 * (R[2] + R[6]) / q[3];
    q[2] = 0.25 * (R[5] + R[7]) / q[3];
  }
  tb_quat_normalize(q);
}

// Rotation by `angle` about the unit vector `axis`.
TB_ANY_INLINE void tb_quat_from_axis_angle(tbReal q[4], const tbReal axis[3], tbReal angle) {
  tbReal s;
  tb_sincos(0.5 * angle, &s, &q[0]);
  q[1] = s * axis[0];
  q[2] = s * axis[1];
  q[3] = s * axis[2];
}

// Logarithm: the rotation vector of q, of length at most pi.
TB_ANY_INLINE void tb_quat_log(tbReal r[3], const tbReal q[4]) {
  tbReal s = tb_norm3(q + 1);
  tbReal w = q[0] < 0 ? -q[0] : q[0];
  tbReal angle = 2 * tb_atan2(s, w);
  tbReal scale = s > 0 ? angle / s : 2;
  tb_scale3(r, q + 1, q[0] < 0 ? -scale : scale);
}

// q <- q exp(dt w), with the angular velocity w in the rotated frame.
TB_ANY_INLINE void tb_quat_integrate(tbReal q[4], const tbReal w[3], tbReal dt) {
  tbReal axis[3] = {w[0], w[1], w[2]}, step[4];
  tbReal angle = dt * tb_normalize3(axis);
  tb_quat_from_axis_angle(step, axis, angle);
  tb_quat_mul(q, q, step);
  tb_quat_normalize(q);
}

#endif
