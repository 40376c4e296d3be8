// Fields of a model that are functions of its other fields at qpos0 (docs/manual/constants.md).
#include <string.h>

#include "base/minmax.h"
#include "base/error.h"
#include "base/kernel.h"
#include "dynamics/camera.h"
#include "dynamics/frames.h"
#include "dynamics/constants/lengths.h"
#include "dynamics/pivot.h"
#include "dynamics/constants/weights.h"
#include "model/equality_kinds.h"
#include "model/extent.h"
#include "model/sparsity.h"
#include "model/workspace.h"
#include "spatial/motion.h"
#include "spatial/quat.h"
#include "tribo/dynamics.h"

// --- constants without a state ---------------------------------------------------------------

static void set_masses(tbModel* m) {
  memcpy(m->body_subtreemass, m->body_mass, (size_t)m->nbody * sizeof(tbReal));
  for (int i = m->nbody - 1; i > 0; i--) {
    m->body_subtreemass[m->body_parentid[i]] += m->body_subtreemass[i];
  }
  m->total_mass = m->nbody > 0 ? m->body_subtreemass[0] : 0;
}

static int is_identity(const tbReal q[4]) {
  return q[0] == 1 && q[1] == 0 && q[2] == 0 && q[3] == 0;
}

static int frame_kind(const tbReal* pos, const tbReal* quat) {
  if (!is_identity(quat)) return TB_FRAME_GENERAL;
  return tb_is_zero3(pos) ? TB_FRAME_BODY : TB_FRAME_MOVED;
}

static int attached_kind(const tbModel* m, int body, const tbReal* pos, const tbReal* quat) {
  int kind = frame_kind(pos, quat);
  int inertial = memcmp(pos, m->body_ipos + 3 * body, 3 * sizeof(tbReal)) == 0 &&
                 memcmp(quat, m->body_iquat + 4 * body, 4 * sizeof(tbReal)) == 0;
  return kind != TB_FRAME_BODY && inertial && body > 0 ? TB_FRAME_INERTIA : kind;
}

// Set the relation of each frame to its body's frame, and its axes as a matrix.
static void set_frames(tbModel* m) {
  for (int i = 0; i < m->nbody; i++) {
    tb_quat_to_mat(m->body_imat + 9 * i, m->body_iquat + 4 * i);
    m->body_sameframe[i] = frame_kind(m->body_ipos + 3 * i, m->body_iquat + 4 * i);
  }
  for (int j = 0; j < m->njnt; j++) {
    int b = m->jnt_bodyid[j];
    const tbReal* axis = m->jnt_axis + 3 * j;
    tbReal pure[4] = {0, axis[0], axis[1], axis[2]};
    tb_quat_mul(m->jnt_turn + 4 * j, m->body_quat + 4 * b, pure);
    tb_quat_rotate(m->jnt_anchor + 3 * j, m->body_quat + 4 * b, m->jnt_pos + 3 * j);
    tb_add3(m->jnt_anchor + 3 * j, m->jnt_anchor + 3 * j, m->body_pos + 3 * b);
  }
  for (int i = 0; i < m->ngeom; i++) {
    tb_quat_to_mat(m->geom_mat + 9 * i, m->geom_quat + 4 * i);
    m->geom_sameframe[i] =
        attached_kind(m, m->geom_bodyid[i], m->geom_pos + 3 * i, m->geom_quat + 4 * i);
  }
  for (int i = 0; i < m->nsite; i++) {
    tb_quat_to_mat(m->site_mat + 9 * i, m->site_quat + 4 * i);
    m->site_sameframe[i] =
        attached_kind(m, m->site_bodyid[i], m->site_pos + 3 * i, m->site_quat + 4 * i);
  }
}

// Set the bounds of geoms from their sizes; those of a mesh are the mesh's.
static void set_extents(tbModel* m) {
  for (int i = 0; i < m->ngeom; i++) {
    tbReal *aabb = m->geom_aabb + 6 * i, *rbound = m->geom_rbound + i;
    if (m->geom_type[i] == TB_GEOM_HFIELD && m->geom_dataid[i] >= 0) {
      tb_hfield_extent(m->hfield_size + 4 * m->geom_dataid[i], aabb, rbound);
    } else if (m->geom_type[i] != TB_GEOM_MESH) {
      tb_geom_extent(m->geom_type[i], m->geom_size + 3 * i, aabb, rbound);
    }
  }
}

// --- inertia --------------------------------------------------------------------------------

// Diagonal of M without the armature of tendons.
static void set_diagonal(tbModel* m, const tbData* d) {
  for (int i = 0; i < m->nv; i++) {
    tbReal force[6];
    tb_inertia_mul(force, d->crb + 10 * m->dof_bodyid[i], d->cdof + 6 * i);
    m->dof_M0[i] = tb_dot6(d->cdof + 6 * i, force) + m->dof_armature[i];
  }
}

// --- equality constraints -------------------------------------------------------------------

// Coordinates of a world point in a body.
static void to_body(const tbData* d, int body, const tbReal point[3], tbReal local[3]) {
  tb_sub3(local, point, d->xpos + 3 * body);
  tb_mul_mat3t_vec3(local, d->xmat + 9 * body, local);
}

static void to_world(const tbData* d, int body, const tbReal local[3], tbReal point[3]) {
  tb_mul_mat3_vec3(point, d->xmat + 9 * body, local);
  tb_add3(point, point, d->xpos + 3 * body);
}

// The second anchor of a connect, and a weld's relative pose if the file gave none (a quaternion of
// zeros), are chosen to hold at qpos0.
static void set_equalities(tbModel* m, const tbData* d) {
  for (int e = 0; e < m->neq; e++) {
    if (m->eq_objtype[e] == TB_OBJ_SITE) continue;
    tbReal* data = m->eq_data + TB_NEQDATA * e;
    int body1 = m->eq_obj1id[e], body2 = m->eq_obj2id[e] < 0 ? 0 : m->eq_obj2id[e];
    tbReal anchor[3];
    if (tb_equality_ends(m, e) == TB_ENDS_POINTS) {
      to_world(d, body1, data, anchor);
      to_body(d, body2, anchor, data + 3);
    } else if (tb_equality_ends(m, e) == TB_ENDS_FRAMES) {
      tbReal* quat = data + 6;
      if (quat[0] == 0 && quat[1] == 0 && quat[2] == 0 && quat[3] == 0) {
        tbReal inverse[4];
        to_world(d, body2, data, anchor);
        to_body(d, body1, anchor, data + 3);
        tb_quat_conjugate(inverse, d->xquat + 4 * body1);
        tb_quat_mul(quat, inverse, d->xquat + 4 * body2);
      } else {
        tb_quat_normalize(quat);
      }
    }
  }
}

// --- statistics -----------------------------------------------------------------------------

typedef struct {
  tbReal low[3], high[3];
} Box;

static void extend(Box* box, const tbReal point[3], tbReal radius) {
  for (int k = 0; k < 3; k++) {
    if (point[k] - radius < box->low[k]) box->low[k] = point[k] - radius;
    if (point[k] + radius > box->high[k]) box->high[k] = point[k] + radius;
  }
}

// Radius that a geom adds to the scene: planes and height fields count with a tenth of their size.
static tbReal scene_radius(const tbModel* m, int geom) {
  const tbReal* size = m->geom_size + 3 * geom;
  if (m->geom_rbound[geom] > 0) return m->geom_rbound[geom];
  if (m->geom_type[geom] == TB_GEOM_PLANE) {
    return size[0] > 0 || size[1] > 0 ? 0.1 * tb_max(size[0], size[1]) : 0.01;
  }
  if (m->geom_type[geom] == TB_GEOM_HFIELD && m->geom_dataid[geom] >= 0) {
    const tbReal* field = m->hfield_size + 4 * m->geom_dataid[geom];
    return 0.1 * tb_max(tb_max(field[0], field[1]), tb_max(field[2], field[3]));
  }
  return 0;
}

static tbReal distance(const tbReal a[3], const tbReal b[3]) {
  tbReal r[3];
  tb_sub3(r, a, b);
  return tb_norm3(r);
}

// Mean size of bodies: from the centre of mass to the farthest joint (its own and those on it) or
// geom. `size` has room for nbody.
static tbReal mean_body_size(const tbModel* m, const tbData* d, tbReal* size) {
  for (int i = 0; i < m->nbody; i++) size[i] = 1e-5;
  for (int j = 0; j < m->njnt; j++) {
    int ends[2] = {m->jnt_bodyid[j], m->body_parentid[m->jnt_bodyid[j]]};
    for (int k = 0; k < 2; k++) {
      size[ends[k]] = tb_max(size[ends[k]], distance(d->xipos + 3 * ends[k], d->xanchor + 3 * j));
    }
  }
  for (int g = 0; g < m->ngeom; g++) {
    int b = m->geom_bodyid[g];
    tbReal reach = m->geom_rbound[g] + distance(d->xipos + 3 * b, d->geom_xpos + 3 * g);
    if (m->geom_rbound[g] > 0) size[b] = tb_max(size[b], reach);
  }
  tbReal sum = 0;
  for (int i = 1; i < m->nbody; i++) sum += size[i];
  return m->nbody > 1 ? sum / (m->nbody - 1) : 0;
}

static void set_statistics(tbModel* m, const tbData* d) {
  Box box = {{1e10, 1e10, 1e10}, {-1e10, -1e10, -1e10}};
  for (int i = 1; i < m->nbody; i++) {
    extend(&box, d->xpos + 3 * i, 0);
    extend(&box, d->xipos + 3 * i, 0);
  }
  for (int j = 0; j < m->njnt; j++) extend(&box, d->xanchor + 3 * j, 0);
  for (int s = 0; s < m->nsite; s++) extend(&box, d->site_xpos + 3 * s, 0);
  for (int g = 0; g < m->ngeom; g++) extend(&box, d->geom_xpos + 3 * g, scene_radius(m, g));
  tbReal extent = box.high[0] > box.low[0] ? 1e-5 : 1;
  for (int k = 0; k < 3; k++) extent = tb_max(extent, box.high[k] - box.low[k]);
  extent = tb_max(extent, 2 * mean_body_size(m, d, d->work->scratch_body));
  if (!(m->extent > 0)) m->extent = extent;

  tbReal sum = 0;
  for (int i = 0; i < m->nv; i++) sum += d->qM[m->M_rowadr[i] + m->M_rownnz[i] - 1];
  if (!(m->mean_inertia > 0)) m->mean_inertia = m->nv > 0 ? sum / m->nv : 1;
}

// --- the public function ---------------------------------------------------------------------

// Inertia along a tendon fits M's pattern only if its dofs are on one branch, and its derivative is
// implemented only for paths through sites.
static tbResult check_tendon_armature(const tbModel* m, tbError* error) {
  for (int t = 0; t < m->ntendon; t++) {
    if (m->tendon_armature[t] == 0) continue;
    for (int w = m->tendon_adr[t]; w < m->tendon_adr[t] + m->tendon_num[t]; w++) {
      if (m->wrap_type[w] == TB_WRAP_SPHERE || m->wrap_type[w] == TB_WRAP_CYLINDER) {
        return tb_fail(error, TB_ERROR_UNSUPPORTED,
                       "tendon %d '%s' has armature and wraps a geom: only paths through sites or "
                       "joints can have armature",
                       t, tb_id2name(m, TB_OBJ_TENDON, t));
      }
    }
  }
  return TB_OK;
}

static tbResult out_of_memory(tbError* error) {
  return tb_fail(error, TB_ERROR_MEMORY, "out of memory for the model's constants");
}

// Report the first joint that moves no inertia.
static tbResult singular(const tbModel* m, const tbData* d, tbError* error) {
  for (int i = 0; i < m->nv; i++) {
    if (d->qM[m->M_rowadr[i] + m->M_rownnz[i] - 1] > 0) continue;
    int joint = m->dof_jntid[i], body = m->dof_bodyid[i];
    return tb_fail(error, TB_ERROR_MODEL,
                   "joint %d '%s' of body %d '%s' moves no mass or inertia at the reference pose",
                   joint, tb_id2name(m, TB_OBJ_JOINT, joint), body,
                   tb_id2name(m, TB_OBJ_BODY, body));
  }
  return tb_fail(error, TB_ERROR_MODEL,
                 "the joint-space inertia is not finite at the reference pose");
}

// Distances and masses whose ratios overflow give weights that no solver can use.
static tbResult check_weights(const tbModel* m, tbError* error) {
  for (int i = 0; i < m->nbody; i++) {
    const tbReal* weight = m->body_invweight0 + 2 * i;
    if (isfinite(weight[0]) && isfinite(weight[1])) continue;
    return tb_fail(error, TB_ERROR_MODEL,
                   "the inverse inertia of body %d '%s' is not finite at the reference pose: its "
                   "distances are too large for the masses that move with it",
                   i, tb_id2name(m, TB_OBJ_BODY, i));
  }
  for (int i = 0; i < m->nv; i++) {
    if (isfinite(m->dof_invweight0[i])) continue;
    int joint = m->dof_jntid[i];
    return tb_fail(error, TB_ERROR_MODEL,
                   "the inverse inertia of joint %d '%s' is not finite at the reference pose",
                   joint, tb_id2name(m, TB_OBJ_JOINT, joint));
  }
  return TB_OK;
}

// Joints with identical effect make M singular. A step holds all but one of them (mass.c); MuJoCo's
// weights, for which a file's solref and solimp were tuned, give these joints nearly no inertia.
// Returns their number.
static int release_held(const tbModel* m, tbData* d) {
  int released = 0;
  for (int i = 0; i < m->nv; i++) {
    tbReal diagonal = d->qM[m->M_rowadr[i] + m->M_rownnz[i] - 1];
    if (d->qLDiagInv[i] * diagonal >= 1e-19) continue;
    d->qLDiagInv[i] = 1 / TB_TINY;
    released++;
  }
  return released;
}

static tbResult set_at_reference(tbModel* m, tbData* d, tbError* error) {
  tb_kinematics(m, d);
  tb_com_position(m, d);
  tb_camera_constants(m, d);
  tb_tendon(m, d);
  tb_crb(m, d);
  tb_transmission(m, d);
  tbResult result = tb_factor_m(m, d);
  if (result == TB_OK) {
    int released = release_held(m, d);
    set_diagonal(m, d);
    set_equalities(m, d);
    set_statistics(m, d);
    result = tb_set_weights(m, d, released);
    if (result == TB_OK) tb_set_carried_load(m, d);
    if (result == TB_OK) result = tb_set_lengths(m, d);
    result = result == TB_OK ? check_weights(m, error) : out_of_memory(error);
  } else {
    result = singular(m, d, error);
  }
  return result;
}

// A spring length of -1 means the length at qpos_spring.
static void set_spring_lengths(tbModel* m, tbData* d) {
  memcpy(d->qpos, m->qpos_spring, (size_t)m->nq * sizeof(tbReal));
  tb_kinematics(m, d);
  tb_com_position(m, d);
  tb_tendon(m, d);
  for (int t = 0; t < m->ntendon; t++) {
    tbReal* spring = m->tendon_lengthspring + 2 * t;
    if (spring[0] == -1 && spring[1] == -1) spring[0] = spring[1] = d->ten_length[t];
  }
}

tbResult tb_set_constants(tbModel* m, tbError* error) {
  if (!m) return tb_fail(error, TB_ERROR_ARGUMENT, "NULL model");
  set_masses(m);
  set_frames(m);
  set_extents(m);
  tbResult result = tb_model_set_sparsity(m, error);
  if (result == TB_OK) result = check_tendon_armature(m, error);
  if (result != TB_OK) return result;
  tbData* d = tb_data_new(m);
  if (!d) return out_of_memory(error);
  result = set_at_reference(m, d, error);
  if (result == TB_OK) set_spring_lengths(m, d);
  tb_data_free(d);
  return result;
}
