// Eigenvalues and axes of a symmetric 3x3 matrix: principal moments of inertia.
#ifndef TRIBO_SPATIAL_EIG3_H_
#define TRIBO_SPATIAL_EIG3_H_

#include "base/elementary.h"
#include "base/minmax.h"
#include "spatial/quat.h"

// A = R(quat) diag(value) R(quat)^T with value descending, by Jacobi rotations kept as a unit
// quaternion. Golub and Van Loan, Matrix Computations, 8.5: in the plane (p, q) the rotation with
// tan = t, t^2 + 2 tau t - 1 = 0, tau = (A_qq - A_pp) / (2 A_pq), clears A_pq.
//
// An off-diagonal entry below min(1e-12, 1e-9 trace) counts as zero. The 1e-12 is MuJoCo's rule, so
// that axes of symmetric bodies agree with it; the bound by the trace keeps tiny bodies accurate.
static inline void tb_eig3(tbReal value[3], tbReal quat[4], const tbReal A[9]) {
  tbReal trace = fabs(A[0]) + fabs(A[4]) + fabs(A[8]);
  tbReal small = tb_min(1e-12, 1e-9 * trace);
  tb_quat_identity(quat);
  for (int sweep = 0; sweep < 100; sweep++) {
    // D = R^T A R
    tbReal R[9], AR[9], D[9];
    tb_quat_to_mat(R, quat);
    tb_mul_mat3(AR, A, R);
    tb_mul_mat3t_mat3(D, R, AR);
    tb_set3(value, D[0], D[4], D[8]);

    // The plane of the largest off-diagonal entry; `axis` is normal to it.
    int p = 1, q = 2, axis = 0;
    if (fabs(D[1]) > fabs(D[2]) && fabs(D[1]) > fabs(D[5])) {
      p = 0, q = 1, axis = 2;
    } else if (fabs(D[2]) > fabs(D[5])) {
      p = 0, q = 2, axis = 1;
    }
    tbReal off = D[3 * p + q];
    if (!(fabs(off) >= small) || off == 0) break;

    // Rotate by the smaller angle; R_pq = sin(angle) is a rotation by -angle about x and z, +angle
    // about y.
    tbReal tau = (D[4 * q] - D[4 * p]) / (2 * off);
    tbReal t = tau >= 0 ? 1 / (tau + sqrt(1 + tau * tau)) : -1 / (-tau + sqrt(1 + tau * tau));
    tbReal half = 0.5 * tb_atan(t), turn[4] = {tb_cos(half), 0, 0, 0};
    turn[axis + 1] = axis == 1 ? tb_sin(half) : -tb_sin(half);
    tb_quat_mul(quat, quat, turn);
    tb_quat_normalize(quat);
  }

  // Bubble into descending order; a swap of two axes is a quarter turn about the third.
  for (int pass = 0; pass < 3; pass++) {
    int i = pass % 2;
    if (value[i] + small >= value[i + 1]) continue;
    tbReal keep = value[i];
    value[i] = value[i + 1];
    value[i + 1] = keep;
    tbReal turn[4] = {0.70710678118654752, 0, 0, 0};
    turn[(i + 2) % 3 + 1] = turn[0];
    tb_quat_mul(quat, quat, turn);
    tb_quat_normalize(quat);
  }
}

#endif
