// Spatial motions, forces and inertias over plain arrays.
//
// A motion is (angular velocity, velocity of the body-fixed point at the origin), a force is
// (moment about the origin, force), both in the same axes. An inertia is ten numbers: Ixx Iyy Izz
// Ixy Ixz Iyz about the origin, mass times the centre of mass, mass. Outputs may alias inputs
// unless a comment says otherwise. R. Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 2.
#ifndef TRIBO_SPATIAL_MOTION_H_
#define TRIBO_SPATIAL_MOTION_H_

#include "spatial/vec3.h"

TB_ANY_INLINE void tb_zero6(tbReal r[6]) {
  for (int i = 0; i < 6; i++) r[i] = 0;
}

TB_ANY_INLINE void tb_copy6(tbReal r[6], const tbReal a[6]) {
  for (int i = 0; i < 6; i++) r[i] = a[i];
}

TB_ANY_INLINE void tb_add6(tbReal r[6], const tbReal a[6], const tbReal b[6]) {
  for (int i = 0; i < 6; i++) r[i] = a[i] + b[i];
}

// r = a + s b
TB_ANY_INLINE void tb_add_scaled6(tbReal r[6], const tbReal a[6], tbReal s, const tbReal b[6]) {
  for (int i = 0; i < 6; i++) r[i] = a[i] + s * b[i];
}

TB_ANY_INLINE tbReal tb_dot6(const tbReal a[6], const tbReal b[6]) {
  return (a[0] * b[0] + a[2] * b[2] + a[4] * b[4]) + (a[1] * b[1] + a[3] * b[3] + a[5] * b[5]);
}

// r = v x s: the rate of change of a motion s that moves with velocity v. r must not alias.
TB_ANY_INLINE void tb_motion_cross(tbReal r[6], const tbReal v[6], const tbReal s[6]) {
  r[0] = v[1] * s[2] - v[2] * s[1];
  r[1] = v[2] * s[0] - v[0] * s[2];
  r[2] = v[0] * s[1] - v[1] * s[0];
  r[3] = (v[1] * s[5] - v[2] * s[4]) + (v[4] * s[2] - v[5] * s[1]);
  r[4] = (v[2] * s[3] - v[0] * s[5]) + (v[5] * s[0] - v[3] * s[2]);
  r[5] = (v[0] * s[4] - v[1] * s[3]) + (v[3] * s[1] - v[4] * s[0]);
}

// r = v x* f: the rate of change of a force f that moves with velocity v. r must not alias.
TB_ANY_INLINE void tb_force_cross(tbReal r[6], const tbReal v[6], const tbReal f[6]) {
  r[0] = (v[1] * f[2] - v[2] * f[1]) + (v[4] * f[5] - v[5] * f[4]);
  r[1] = (v[2] * f[0] - v[0] * f[2]) + (v[5] * f[3] - v[3] * f[5]);
  r[2] = (v[0] * f[1] - v[1] * f[0]) + (v[3] * f[4] - v[4] * f[3]);
  r[3] = v[1] * f[5] - v[2] * f[4];
  r[4] = v[2] * f[3] - v[0] * f[5];
  r[5] = v[0] * f[4] - v[1] * f[3];
}

// r = I v: momentum. With h = mass * centre: (I w + h x v, mass v - h x w). r must not alias.
TB_ANY_INLINE void tb_inertia_mul(tbReal r[6], const tbReal I[10], const tbReal v[6]) {
  r[0] = I[0] * v[0] + I[3] * v[1] + I[4] * v[2] + (I[7] * v[5] - I[8] * v[4]);
  r[1] = I[3] * v[0] + I[1] * v[1] + I[5] * v[2] + (I[8] * v[3] - I[6] * v[5]);
  r[2] = I[4] * v[0] + I[5] * v[1] + I[2] * v[2] + (I[6] * v[4] - I[7] * v[3]);
  r[3] = I[9] * v[3] + (I[8] * v[1] - I[7] * v[2]);
  r[4] = I[9] * v[4] + (I[6] * v[2] - I[8] * v[0]);
  r[5] = I[9] * v[5] + (I[7] * v[0] - I[6] * v[1]);
}

// Inertia about the origin of a body with principal moments `moments` along the columns of X and
// its centre of mass at c.
TB_ANY_INLINE void tb_inertia_make(tbReal I[10], tbReal mass, const tbReal moments[3],
                                   const tbReal X[9], const tbReal c[3]) {
  tbReal Y[9];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) Y[3 * i + j] = X[3 * i + j] * moments[j];
  }
  tbReal h[3] = {mass * c[0], mass * c[1], mass * c[2]};
  tbReal xx = h[0] * c[0], yy = h[1] * c[1], zz = h[2] * c[2];
  I[0] = tb_dot3(Y, X) + (yy + zz);
  I[1] = tb_dot3(Y + 3, X + 3) + (xx + zz);
  I[2] = tb_dot3(Y + 6, X + 6) + (xx + yy);
  I[3] = tb_dot3(Y, X + 3) - h[0] * c[1];
  I[4] = tb_dot3(Y, X + 6) - h[0] * c[2];
  I[5] = tb_dot3(Y + 3, X + 6) - h[1] * c[2];
  I[6] = h[0];
  I[7] = h[1];
  I[8] = h[2];
  I[9] = mass;
}

// Velocity of the body-fixed point p: v + w x p, where v is the motion at the origin.
TB_ANY_INLINE void tb_motion_at(tbReal r[3], const tbReal motion[6], const tbReal p[3]) {
  tb_cross(r, motion, p);
  tb_add3(r, r, motion + 3);
}

// The spatial force of a force f at point p and a torque t (either may be NULL).
TB_ANY_INLINE void tb_force_make(tbReal r[6], const tbReal p[3], const tbReal* f, const tbReal* t) {
  tb_zero6(r);
  if (f) {
    tb_cross(r, p, f);
    tb_copy3(r + 3, f);
  }
  if (t) tb_add3(r, r, t);
}

#endif
