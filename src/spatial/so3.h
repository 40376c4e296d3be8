// Derivatives of the exponential and the logarithm of rotations.
//
// With right increments exp(x + dx) = exp(x) exp(Jr(x) dx) and log(R exp(dx)) = log(R) + Jr(x)^-1
// dx at x = log(R). G. Chirikjian, Stochastic Models, Information Theory, and Lie Groups 2,
// 2011, 10.3.
#ifndef TRIBO_SPATIAL_SO3_H_
#define TRIBO_SPATIAL_SO3_H_

#include "base/elementary.h"
#include "spatial/quat.h"

// R = I + a [x] + b [x]^2
TB_ANY_INLINE void tb_skew_polynomial(tbReal R[9], const tbReal x[3], tbReal a, tbReal b) {
  tbReal xx = tb_dot3(x, x);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) R[3 * i + j] = (i == j) * (1 - b * xx) + b * x[i] * x[j];
  }
  R[1] -= a * x[2];
  R[2] += a * x[1];
  R[3] += a * x[2];
  R[5] -= a * x[0];
  R[6] -= a * x[1];
  R[7] += a * x[0];
}

// Jr(x) = I - (1 - cos t)/t^2 [x] + (t - sin t)/t^3 [x]^2, t = |x|.
TB_ANY_INLINE void tb_so3_right_jacobian(tbReal J[9], const tbReal x[3]) {
  tbReal t2 = tb_dot3(x, x), a, b;
  if (t2 < 1e-4) {
    a = 0.5 - t2 / 24 + t2 * t2 / 720;
    b = 1.0 / 6 - t2 / 120 + t2 * t2 / 5040;
  } else {
    tbReal t = sqrt(t2);
    a = (1 - tb_cos(t)) / t2;
    b = (t - tb_sin(t)) / (t2 * t);
  }
  tb_skew_polynomial(J, x, -a, b);
}

// Jr(x)^-1 = I + [x]/2 + (1/t^2 - (1 + cos t) / (2 t sin t)) [x]^2.
TB_ANY_INLINE void tb_so3_right_jacobian_inverse(tbReal J[9], const tbReal x[3]) {
  tbReal t2 = tb_dot3(x, x), b;
  if (t2 < 1e-4) {
    b = 1.0 / 12 + t2 / 720 + t2 * t2 / 30240;
  } else {
    // (1 + cos t) / sin t = cot(t/2), finite up to t = pi.
    tbReal t = sqrt(t2);
    b = 1 / t2 - tb_cos(0.5 * t) / (2 * t * tb_sin(0.5 * t));
  }
  tb_skew_polynomial(J, x, 0.5, b);
}

#endif
