// Length and moment of each kind of transmission, as transmission_kinds.h names them
// (docs/manual/tendons.md, eq. 9-14): tb_transmission_<function>(model, data, actuator, row)
// returns the length and adds the moment, the length's derivative by the configuration, to the row,
// which is zero. They compile for devices too.
#ifndef TRIBO_DYNAMICS_TRANSMISSION_LENGTH_H_
#define TRIBO_DYNAMICS_TRANSMISSION_LENGTH_H_

#include <stdbool.h>

#include "model/chain.h"
#include "model/joint_kinds.h"
#include "model/transmission_kinds.h"
#include "spatial/motion.h"
#include "spatial/quat.h"
#include "tribo/data.h"

// Columns and values of an actuator's row, to which its moment is added.
typedef struct {
  const int* columns;
  int n;
  tbReal* moment;
} tbMomentRow;

// moment += (spatial force, about the tree's centre) . cdof over the dofs that move `body`, except
// the first `skip` of its chain.
TB_ANY_INLINE void tb_moment_add_force(const tbModel* m, const tbData* d, tbMomentRow row, int body,
                                       const tbReal force[6], int skip) {
  const int* dofs;
  int count = tb_body_chain(m, body, &dofs);
  for (int k = skip, s = 0; k < count; k++) {
    while (s < row.n && row.columns[s] < dofs[k]) s++;
    if (s < row.n && row.columns[s] == dofs[k]) {
      row.moment[s] += tb_dot6(d->cdof + 6 * dofs[k], force);
    }
  }
}

// The same for a force and a torque at a point of the body.
TB_ANY_INLINE void tb_moment_add_wrench(const tbModel* m, const tbData* d, tbMomentRow row,
                                        int body, const tbReal point[3], const tbReal* force,
                                        const tbReal* torque, int skip) {
  tbReal offset[3], wrench[6];
  tb_sub3(offset, point, d->subtree_com + 3 * m->body_rootid[body]);
  tb_force_make(wrench, offset, force, torque);
  tb_moment_add_force(m, d, row, body, wrench, skip);
}

TB_ANY_INLINE tbReal tb_moment_of_joint(const tbModel* m, const tbData* d, int u, bool in_parent,
                                        tbMomentRow row) {
  int joint = m->actuator_trnid[2 * u], type = m->jnt_type[joint];
  const tbReal* q = d->qpos + m->jnt_qposadr[joint];
  const tbReal* gear = m->actuator_gear + 6 * u;
  if (tb_joint_is_scalar(type)) {
    row.moment[0] = gear[0];
    return gear[0] * q[0];
  }
  int dof = tb_joint_numbers(type);
  tbReal length = 0;
  for (int k = 0; k < dof; k++) {
    row.moment[k] = gear[k];
    length += gear[k] * q[k];
  }
  if (!tb_joint_has_quaternion(type)) return length;
  // The rotational gear is in the child's axes, or in the parent's.
  tbReal quat[4], axis[3], rotation[3];
  for (int k = 0; k < 4; k++) quat[k] = q[dof + k];
  tb_quat_normalize(quat);
  tb_copy3(axis, gear + dof);
  if (in_parent) {
    tbReal inverse[4];
    tb_quat_conjugate(inverse, quat);
    tb_quat_rotate(axis, inverse, axis);
  }
  tb_copy3(row.moment + dof, axis);
  if (tb_joint_floats(type)) return 0;
  tb_quat_log(rotation, quat);
  return tb_dot3(rotation, axis);
}

TB_ANY_INLINE tbReal tb_transmission_joint(const tbModel* m, const tbData* d, int u,
                                           tbMomentRow row) {
  return tb_moment_of_joint(m, d, u, false, row);
}

TB_ANY_INLINE tbReal tb_transmission_joint_in_parent(const tbModel* m, const tbData* d, int u,
                                                     tbMomentRow row) {
  return tb_moment_of_joint(m, d, u, true, row);
}

// A rod of given length connects the crank's site to a slider on the z axis of the slider's site:
// the actuator length is that of the slider's travel, l = a.v - sqrt((a.v)^2 + rod^2 - v.v).
TB_ANY_INLINE tbReal tb_transmission_slidercrank(const tbModel* m, const tbData* d, int u,
                                                 tbMomentRow row) {
  int crank = m->actuator_trnid[2 * u], slider = m->actuator_trnid[2 * u + 1];
  tbReal rod = m->actuator_cranklength[u], gear = m->actuator_gear[6 * u];
  const tbReal* R = d->site_xmat + 9 * slider;
  tbReal axis[3] = {R[2], R[5], R[8]}, v[3], by_v[3], by_axis[3], torque[3];
  tb_sub3(v, d->site_xpos + 3 * crank, d->site_xpos + 3 * slider);
  tbReal along = tb_dot3(v, axis), det = along * along + rod * rod - tb_dot3(v, v);
  tbReal root = det > 0 ? sqrt(det) : 0, length = along - root;

  // Derivatives by v and by the axis; if the rod is too short to reach, those of a.v.
  tbReal share = det > 0 ? 1 - along / root : 1;
  tb_scale3(by_v, axis, share);
  if (det > 0) tb_add_scaled3(by_v, by_v, 1 / root, v);
  tb_scale3(by_axis, v, share);
  tb_scale3(by_v, by_v, gear);
  tb_scale3(by_axis, by_axis, gear);

  // v follows both sites; the axis turns with the slider: by_axis . (w x axis) = (axis x by_axis) .
  // w
  tb_moment_add_wrench(m, d, row, m->site_bodyid[crank], d->site_xpos + 3 * crank, by_v, NULL, 0);
  tb_cross(torque, axis, by_axis);
  tb_scale3(by_v, by_v, -1);
  tb_moment_add_wrench(m, d, row, m->site_bodyid[slider], d->site_xpos + 3 * slider, by_v, torque,
                       0);
  return gear * length;
}

// The order is MuJoCo's (up to 3.14): the site's quaternion before the body's. MuJoCo files are
// tuned to the resulting angles; if the site has its body's axes both orders agree.
TB_ANY_INLINE void tb_moment_site_quat(const tbModel* m, const tbData* d, int site, tbReal q[4]) {
  tb_quat_mul(q, m->site_quat + 4 * site, d->xquat + 4 * m->site_bodyid[site]);
}

// Number of dofs that move both bodies: the first ones of both chains.
TB_ANY_INLINE int tb_moment_shared_dofs(const tbModel* m, int body1, int body2) {
  const int *a, *b;
  int na = tb_body_chain(m, body1, &a), nb = tb_body_chain(m, body2, &b), n = 0;
  while (n < na && n < nb && a[n] == b[n]) n++;
  return n;
}

// A wrench in a site's axes; with a reference site, in the axes of that site and relative to it.
TB_ANY_INLINE tbReal tb_transmission_site(const tbModel* m, const tbData* d, int u,
                                          tbMomentRow row) {
  int site = m->actuator_trnid[2 * u], reference = m->actuator_trnid[2 * u + 1];
  const tbReal* gear = m->actuator_gear + 6 * u;
  const tbReal* R = d->site_xmat + 9 * (reference >= 0 ? reference : site);
  tbReal force[3], torque[3], length = 0;
  tb_mul_mat3_vec3(force, R, gear);
  tb_mul_mat3_vec3(torque, R, gear + 3);
  int body = m->site_bodyid[site], skip = 0;
  if (reference >= 0) {
    // Length: the pose of the site in the reference, along the gear. Dofs that move both drop out.
    int other = m->site_bodyid[reference];
    tbReal v[3], q[4], q0[4], turn[4];
    skip = tb_moment_shared_dofs(m, body, other);
    tb_sub3(v, d->site_xpos + 3 * site, d->site_xpos + 3 * reference);
    length = tb_dot3(v, force);
    tb_moment_site_quat(m, d, site, q);
    tb_moment_site_quat(m, d, reference, q0);
    tb_quat_conjugate(q0, q0);
    tb_quat_mul(turn, q0, q);
    tb_quat_log(v, turn);
    length += tb_dot3(v, gear + 3);
    tbReal back_force[3], back_torque[3];
    tb_scale3(back_force, force, -1);
    tb_scale3(back_torque, torque, -1);
    tb_moment_add_wrench(m, d, row, other, d->site_xpos + 3 * reference, back_force, back_torque,
                         skip);
  }
  tb_moment_add_wrench(m, d, row, body, d->site_xpos + 3 * site, force, torque, skip);
  return length;
}

TB_ANY_INLINE tbReal tb_transmission_tendon(const tbModel* m, const tbData* d, int u,
                                            tbMomentRow row) {
  int tendon = m->actuator_trnid[2 * u];
  tbReal gear = m->actuator_gear[6 * u];
  const tbReal* J = d->ten_J + m->tendon_Jadr[tendon];
  for (int s = 0; s < row.n; s++) row.moment[s] = gear * J[s];
  return gear * d->ten_length[tendon];
}

// The moment of adhesion comes from the contacts (forces/adhesion.c).
TB_ANY_INLINE tbReal tb_transmission_body(const tbModel* m, const tbData* d, int u,
                                          tbMomentRow row) {
  (void)m;
  (void)d;
  (void)u;
  (void)row;
  return 0;
}

// Transmissions of an extension.
#define X(TYPE, word, FIRST, SECOND, second, ARM, function) \
  tbReal tb_transmission_##function(const tbModel* m, const tbData* d, int u, tbMomentRow row);
TB_EXTENSION_TRANSMISSIONS(X)
#undef X

TB_ANY_INLINE tbReal tb_transmission_length(const tbModel* m, const tbData* d, int u,
                                            tbMomentRow row) {
  switch (m->actuator_trntype[u]) {
#define X(TYPE, word, FIRST, SECOND, second, ARM, function) \
  case TB_TRN_##TYPE: return tb_transmission_##function(m, d, u, row);
    TB_TRANSMISSIONS(X)
#undef X
    default: return 0;
  }
}

#endif
