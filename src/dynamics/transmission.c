// Lengths and moment arms of actuators (docs/manual/tendons.md, eq. 9-14).
#include <string.h>

#include "model/chain.h"
#include "model/joint_kinds.h"
#include "dynamics/stage.h"
#include "model/workspace.h"
#include "spatial/motion.h"
#include "spatial/quat.h"
#include "tribo/dynamics.h"

// Columns and values of an actuator's row, to which its moment is added.
typedef struct {
  const int* columns;
  int n;
  tbReal* moment;
} Row;

// moment += (spatial force, about the tree's centre) . cdof over the dofs that move `body`, except
// the first `skip` of its chain.
static void add_force(const tbModel* m, const tbData* d, Row row, int body, const tbReal force[6],
                      int skip) {
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
static void add_wrench(const tbModel* m, const tbData* d, Row row, int body, const tbReal point[3],
                       const tbReal* force, const tbReal* torque, int skip) {
  tbReal offset[3], wrench[6];
  tb_sub3(offset, point, d->subtree_com + 3 * m->body_rootid[body]);
  tb_force_make(wrench, offset, force, torque);
  add_force(m, d, row, body, wrench, skip);
}

static tbReal joint_actuator(const tbModel* m, const tbData* d, int u, Row row) {
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
  if (m->actuator_trntype[u] == TB_TRN_JOINTINPARENT) {
    tbReal inverse[4];
    tb_quat_conjugate(inverse, quat);
    tb_quat_rotate(axis, inverse, axis);
  }
  tb_copy3(row.moment + dof, axis);
  if (tb_joint_floats(type)) return 0;
  tb_quat_log(rotation, quat);
  return tb_dot3(rotation, axis);
}

// A rod of given length connects the crank's site to a slider on the z axis of the slider's site:
// the actuator length is that of the slider's travel, l = a.v - sqrt((a.v)^2 + rod^2 - v.v).
static tbReal slider_crank(const tbModel* m, const tbData* d, int u, Row row) {
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
  add_wrench(m, d, row, m->site_bodyid[crank], d->site_xpos + 3 * crank, by_v, NULL, 0);
  tb_cross(torque, axis, by_axis);
  tb_scale3(by_v, by_v, -1);
  add_wrench(m, d, row, m->site_bodyid[slider], d->site_xpos + 3 * slider, by_v, torque, 0);
  return gear * length;
}

// The order is MuJoCo's (up to 3.14): the site's quaternion before the body's. MuJoCo files are
// tuned to the resulting angles; if the site has its body's axes both orders agree.
static void site_quat(const tbModel* m, const tbData* d, int site, tbReal q[4]) {
  tb_quat_mul(q, m->site_quat + 4 * site, d->xquat + 4 * m->site_bodyid[site]);
}

// Number of dofs that move both bodies: the first ones of both chains.
static int shared_dofs(const tbModel* m, int body1, int body2) {
  const int *a, *b;
  int na = tb_body_chain(m, body1, &a), nb = tb_body_chain(m, body2, &b), n = 0;
  while (n < na && n < nb && a[n] == b[n]) n++;
  return n;
}

// A wrench in a site's axes; with a reference site, in the axes of that site and relative to it.
static tbReal site_actuator(const tbModel* m, const tbData* d, int u, Row row) {
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
    skip = shared_dofs(m, body, other);
    tb_sub3(v, d->site_xpos + 3 * site, d->site_xpos + 3 * reference);
    length = tb_dot3(v, force);
    site_quat(m, d, site, q);
    site_quat(m, d, reference, q0);
    tb_quat_conjugate(q0, q0);
    tb_quat_mul(turn, q0, q);
    tb_quat_log(v, turn);
    length += tb_dot3(v, gear + 3);
    tbReal back_force[3], back_torque[3];
    tb_scale3(back_force, force, -1);
    tb_scale3(back_torque, torque, -1);
    add_wrench(m, d, row, other, d->site_xpos + 3 * reference, back_force, back_torque, skip);
  }
  add_wrench(m, d, row, body, d->site_xpos + 3 * site, force, torque, skip);
  return length;
}

static tbReal tendon_actuator(const tbModel* m, const tbData* d, int u, Row row) {
  int tendon = m->actuator_trnid[2 * u];
  tbReal gear = m->actuator_gear[6 * u];
  const tbReal* J = d->ten_J + m->tendon_Jadr[tendon];
  for (int s = 0; s < row.n; s++) row.moment[s] = gear * J[s];
  return gear * d->ten_length[tendon];
}

void tb_stage_transmission(const tbModel* m, tbData* d) {
  memset(d->actuator_moment, 0, (size_t)m->nJmom * sizeof(tbReal));
  for (int u = 0; u < m->nu; u++) {
    int at = m->actuator_Jadr[u];
    Row row = {m->Jmom_colind + at, m->actuator_Jnnz[u], d->actuator_moment + at};
    tbReal length = 0;
    switch (m->actuator_trntype[u]) {
      case TB_TRN_JOINT:
      case TB_TRN_JOINTINPARENT: length = joint_actuator(m, d, u, row); break;
      case TB_TRN_SLIDERCRANK: length = slider_crank(m, d, u, row); break;
      case TB_TRN_TENDON: length = tendon_actuator(m, d, u, row); break;
      case TB_TRN_SITE: length = site_actuator(m, d, u, row); break;
      default: break;
    }
    d->actuator_length[u] = length;
  }
}

void tb_transmission(const tbModel* m, tbData* d) {
  if (tb_is_world_of(m, d)) tb_stage_transmission(m, d);
}

void tb_full_moment(const tbModel* m, const tbData* d, tbReal* moment) {
  if (!tb_is_world_of(m, d) || !moment) return;
  size_t nv = (size_t)m->nv;
  memset(moment, 0, (size_t)m->nu * nv * sizeof(tbReal));
  for (int u = 0; u < m->nu; u++) {
    for (int s = m->actuator_Jadr[u]; s < m->actuator_Jadr[u] + m->actuator_Jnnz[u]; s++) {
      moment[(size_t)u * nv + (size_t)m->Jmom_colind[s]] = d->actuator_moment[s];
    }
  }
}
