// The configuration space of one joint: numbers and a rotation (model/joint_kinds.h), and what
// follows from them: integration, differences, springs and limits. `q` is a joint's coordinates,
// `v` its velocities. Compiles as C and as CUDA.
#ifndef TRIBO_MODEL_JOINT_SPACE_H_
#define TRIBO_MODEL_JOINT_SPACE_H_

#include "model/joint_kinds.h"
#include "spatial/so3.h"

// q <- q + dt v (docs/manual/dynamics.md, eq. 35).
TB_ANY_INLINE void tb_joint_integrate(int type, tbReal* q, const tbReal* v, tbReal dt) {
  int n = tb_joint_numbers(type);
  for (int k = 0; k < n; k++) q[k] += dt * v[k];
  if (tb_joint_has_quaternion(type)) tb_quat_integrate(q + n, v + n, dt);
}

// Partials of the rotation that tb_joint_integrate reaches, both in its body's axes at their time:
// by a rotation before it, exp(-dt w), and by dt v, the right Jacobian. Returns false, and writes
// nothing, for a type without a rotation; the partials of numbers are one.
TB_ANY_INLINE int tb_joint_integrate_partials(int type, const tbReal* v, tbReal dt, tbReal by_q[9],
                                              tbReal by_v[9]) {
  if (!tb_joint_has_quaternion(type)) return 0;
  const tbReal* omega = v + tb_joint_numbers(type);
  tbReal vector[3], quat[4] = {1, 0, 0, 0}, inverse[4];
  tb_scale3(vector, omega, dt);
  tb_quat_integrate(quat, omega, dt);
  tb_quat_conjugate(inverse, quat);
  tb_quat_to_mat(by_q, inverse);
  tb_so3_right_jacobian(by_v, vector);
  return 1;
}

// v = rate (q2 - q1), the velocity from q1 to q2 in 1 / rate (docs/manual/dynamics.md, eq. 36).
TB_ANY_INLINE void tb_joint_difference(int type, tbReal* v, const tbReal* q1, const tbReal* q2,
                                       tbReal rate) {
  int n = tb_joint_numbers(type);
  for (int k = 0; k < n; k++) v[k] = (q2[k] - q1[k]) * rate;
  if (!tb_joint_has_quaternion(type)) return;
  tbReal inverse[4], turn[4];
  tb_quat_conjugate(inverse, q1 + n);
  tb_quat_mul(turn, inverse, q2 + n);
  tb_quat_log(v + n, turn);
  tb_scale3(v + n, v + n, rate);
}

// Scale the quaternion, if there is one, to unit length.
TB_ANY_INLINE void tb_joint_normalize(int type, tbReal* q) {
  if (tb_joint_has_quaternion(type)) tb_quat_normalize(q + tb_joint_numbers(type));
}

// ---- springs ------------------------------------------------------------------------------------

// Displacement of a spring from `rest`, whose force is -stiffness times it and whose energy is half
// the stiffness times its square. The quaternion of q may have any length.
TB_ANY_INLINE void tb_joint_stretch(int type, const tbReal* q, const tbReal* rest,
                                    tbReal* stretch) {
  tbReal unit[TB_JOINT_MOST_NQ];
  for (int k = 0; k < tb_joint_nq(type); k++) unit[k] = q[k];
  tb_joint_normalize(type, unit);
  tb_joint_difference(type, stretch, rest, unit, 1);
}

// Derivative of the stretch by the position, nv x nv: one for numbers, and Jr^-1 for a rotation.
TB_ANY_INLINE void tb_joint_stretch_partials(int type, const tbReal* stretch, tbReal* by_q) {
  int n = tb_joint_numbers(type), nv = tb_joint_nv(type);
  for (int k = 0; k < nv * nv; k++) by_q[k] = 0;
  for (int k = 0; k < n; k++) by_q[(nv + 1) * k] = 1;
  if (!tb_joint_has_quaternion(type)) return;
  tbReal J[9];
  tb_so3_right_jacobian_inverse(J, stretch + n);
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) by_q[(n + r) * nv + n + c] = J[3 * r + c];
  }
}

// ---- limits -------------------------------------------------------------------------------------

// Rotation vector of the quaternion of q, of any length.
TB_ANY_INLINE void tb_joint_rotation_vector(int type, const tbReal* q, tbReal vector[3]) {
  const tbReal* own = q + tb_joint_numbers(type);
  tbReal quat[4] = {own[0], own[1], own[2], own[3]};
  tb_quat_normalize(quat);
  tb_quat_log(vector, quat);
}

// Distance of the first number to the lower end (side 0) or the upper one (side 1) of a two-sided
// range; its derivative is 1, or -1, at the first dof.
TB_ANY_INLINE tbReal tb_joint_number_gap(const tbReal* q, const tbReal range[2], int side) {
  tbReal sign = side ? -1 : 1;
  return sign * (q[0] - range[side]);
}

// Distance of a rotation's angle to its bound, the larger end of the range. Its derivative by the
// rotation is minus `axis`, about which the angle grows.
TB_ANY_INLINE tbReal tb_joint_angle_gap(int type, const tbReal* q, const tbReal range[2],
                                        tbReal axis[3]) {
  tb_joint_rotation_vector(type, q, axis);
  tbReal angle = tb_normalize3(axis);
  return (range[0] > range[1] ? range[0] : range[1]) - angle;
}

// Derivative of -axis by the rotation: with u the axis, du = (I - u u^T) Jr^-1 dq / angle.
TB_ANY_INLINE void tb_joint_angle_partials(int type, const tbReal* q, tbReal by_q[9]) {
  tbReal vector[3], u[3], J[9];
  for (int k = 0; k < 9; k++) by_q[k] = 0;
  tb_joint_rotation_vector(type, q, vector);
  tb_copy3(u, vector);
  tbReal angle = tb_normalize3(u);
  if (angle < 1e-9) return;
  tb_so3_right_jacobian_inverse(J, vector);
  for (int c = 0; c < 3; c++) {
    tbReal column[3] = {J[c], J[3 + c], J[6 + c]};
    tb_add_scaled3(column, column, -tb_dot3(column, u), u);
    for (int r = 0; r < 3; r++) by_q[3 * r + c] = -column[r] / angle;
  }
}

#endif
