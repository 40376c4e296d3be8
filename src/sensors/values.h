// One function for each sensor, as sensor_kinds.h names them: `out` gets the values of sensor `s`.
// Those that follow from arrays of the world stand here, for device kernels too; the others are in
// files of their own.
#ifndef TRIBO_SENSORS_VALUES_H_
#define TRIBO_SENSORS_VALUES_H_

#include <string.h>

#include "base/kernel.h"
#include "model/transmission_kinds.h"
#include "sensors/context.h"
#include "spatial/quat.h"
#include "tribo/callbacks.h"
#include "tribo/dynamics.h"
#include "tribo/extension.h"

// ---- frames ------------------------------------------------------------------------------------

// World pose of an object. Bodies are their inertial frame, xbodies their own.
TB_INLINE void tb_object_pose(const tbData* d, int type, int id, const tbReal** pos,
                              const tbReal** mat) {
  switch (type) {
    case TB_OBJ_BODY:
      *pos = d->xipos + 3 * id;
      *mat = d->ximat + 9 * id;
      return;
    case TB_OBJ_GEOM:
      *pos = d->geom_xpos + 3 * id;
      *mat = d->geom_xmat + 9 * id;
      return;
    case TB_OBJ_SITE:
      *pos = d->site_xpos + 3 * id;
      *mat = d->site_xmat + 9 * id;
      return;
    case TB_OBJ_CAMERA:
      *pos = d->cam_xpos + 3 * id;
      *mat = d->cam_xmat + 9 * id;
      return;
    default: *pos = d->xpos + 3 * id; *mat = d->xmat + 9 * id;
  }
}

// Orientation as the product of body and local quaternions, so that its sign is MuJoCo's.
TB_ANY_INLINE void tb_object_quat(const tbModel* m, const tbData* d, int type, int id,
                                  tbReal quat[4]) {
  switch (type) {
    case TB_OBJ_BODY: tb_quat_mul(quat, d->xquat + 4 * id, m->body_iquat + 4 * id); return;
    case TB_OBJ_GEOM:
      tb_quat_mul(quat, d->xquat + 4 * m->geom_bodyid[id], m->geom_quat + 4 * id);
      return;
    case TB_OBJ_SITE:
      tb_quat_mul(quat, d->xquat + 4 * m->site_bodyid[id], m->site_quat + 4 * id);
      return;
    case TB_OBJ_CAMERA:
      tb_quat_mul(quat, d->xquat + 4 * m->cam_bodyid[id], m->cam_quat + 4 * id);
      return;
    default: memcpy(quat, d->xquat + 4 * id, 4 * sizeof(tbReal));
  }
}

TB_ANY_INLINE void tb_sensor_framepos(const tbSensorContext* x, int s, tbReal* out) {
  const tbReal *pos, *mat;
  tb_object_pose(x->d, x->m->sensor_objtype[s], x->m->sensor_objid[s], &pos, &mat);
  tb_copy3(out, pos);
  int ref = x->m->sensor_refid[s];
  if (ref < 0) return;
  tb_object_pose(x->d, x->m->sensor_reftype[s], ref, &pos, &mat);
  tb_sub3(out, out, pos);
  tb_mul_mat3t_vec3(out, mat, out);
}

TB_ANY_INLINE void tb_sensor_framequat(const tbSensorContext* x, int s, tbReal* out) {
  tb_object_quat(x->m, x->d, x->m->sensor_objtype[s], x->m->sensor_objid[s], out);
  int ref = x->m->sensor_refid[s];
  if (ref < 0) return;
  tbReal ref_quat[4];
  tb_object_quat(x->m, x->d, x->m->sensor_reftype[s], ref, ref_quat);
  tb_quat_conjugate(ref_quat, ref_quat);
  tb_quat_mul(out, ref_quat, out);
}

TB_ANY_INLINE void tb_sensor_frame_axis(const tbSensorContext* x, int s, int axis, tbReal* out) {
  const tbReal *pos, *mat;
  tb_object_pose(x->d, x->m->sensor_objtype[s], x->m->sensor_objid[s], &pos, &mat);
  tb_set3(out, mat[axis], mat[3 + axis], mat[6 + axis]);
  int ref = x->m->sensor_refid[s];
  if (ref < 0) return;
  tb_object_pose(x->d, x->m->sensor_reftype[s], ref, &pos, &mat);
  tb_mul_mat3t_vec3(out, mat, out);
}
TB_ANY_INLINE void tb_sensor_framexaxis(const tbSensorContext* x, int s, tbReal* out) {
  tb_sensor_frame_axis(x, s, 0, out);
}
TB_ANY_INLINE void tb_sensor_frameyaxis(const tbSensorContext* x, int s, tbReal* out) {
  tb_sensor_frame_axis(x, s, 1, out);
}
TB_ANY_INLINE void tb_sensor_framezaxis(const tbSensorContext* x, int s, tbReal* out) {
  tb_sensor_frame_axis(x, s, 2, out);
}

// Velocities of an object and of its reference frame, angular first, in world axes.
TB_ANY_INLINE void tb_sensor_frame_velocities(const tbSensorContext* x, int s, tbReal velocity[6],
                                              tbReal ref_velocity[6]) {
  const tbModel* m = x->m;
  int ref = m->sensor_refid[s];
  tb_object_velocity(m, x->d, (tbObjType)m->sensor_objtype[s], m->sensor_objid[s], 0, velocity);
  if (ref >= 0) {
    tb_object_velocity(m, x->d, (tbObjType)m->sensor_reftype[s], ref, 0, ref_velocity);
  }
}

TB_ANY_INLINE void tb_sensor_framelinvel(const tbSensorContext* x, int s, tbReal* out) {
  tbReal velocity[6], ref_velocity[6], arm[3], swing[3];
  tb_sensor_frame_velocities(x, s, velocity, ref_velocity);
  tb_copy3(out, velocity + 3);
  int ref = x->m->sensor_refid[s];
  if (ref < 0) return;
  const tbReal *pos, *mat, *ref_pos, *ref_mat;
  tb_object_pose(x->d, x->m->sensor_objtype[s], x->m->sensor_objid[s], &pos, &mat);
  tb_object_pose(x->d, x->m->sensor_reftype[s], ref, &ref_pos, &ref_mat);
  tb_sub3(out, out, ref_velocity + 3);
  // The reference frame's own rotation.
  tb_sub3(arm, pos, ref_pos);
  tb_cross(swing, ref_velocity, arm);
  tb_sub3(out, out, swing);
  tb_mul_mat3t_vec3(out, ref_mat, out);
}

TB_ANY_INLINE void tb_sensor_frameangvel(const tbSensorContext* x, int s, tbReal* out) {
  tbReal velocity[6], ref_velocity[6];
  tb_sensor_frame_velocities(x, s, velocity, ref_velocity);
  tb_copy3(out, velocity);
  int ref = x->m->sensor_refid[s];
  if (ref < 0) return;
  const tbReal *pos, *mat;
  tb_object_pose(x->d, x->m->sensor_reftype[s], ref, &pos, &mat);
  tb_sub3(out, out, ref_velocity);
  tb_mul_mat3t_vec3(out, mat, out);
}

TB_ANY_INLINE void tb_sensor_framelinacc(const tbSensorContext* x, int s, tbReal* out) {
  tbReal acceleration[6];
  tb_object_acceleration(x->m, x->d, (tbObjType)x->m->sensor_objtype[s], x->m->sensor_objid[s], 0,
                         acceleration);
  tb_copy3(out, acceleration + 3);
}
TB_ANY_INLINE void tb_sensor_frameangacc(const tbSensorContext* x, int s, tbReal* out) {
  tbReal acceleration[6];
  tb_object_acceleration(x->m, x->d, (tbObjType)x->m->sensor_objtype[s], x->m->sensor_objid[s], 0,
                         acceleration);
  tb_copy3(out, acceleration);
}

// ---- sites -------------------------------------------------------------------------------------

TB_ANY_INLINE void tb_sensor_velocimeter(const tbSensorContext* x, int s, tbReal* out) {
  tbReal velocity[6];
  tb_object_velocity(x->m, x->d, TB_OBJ_SITE, x->m->sensor_objid[s], 1, velocity);
  tb_copy3(out, velocity + 3);
}
TB_ANY_INLINE void tb_sensor_gyro(const tbSensorContext* x, int s, tbReal* out) {
  tbReal velocity[6];
  tb_object_velocity(x->m, x->d, TB_OBJ_SITE, x->m->sensor_objid[s], 1, velocity);
  tb_copy3(out, velocity);
}
TB_ANY_INLINE void tb_sensor_accelerometer(const tbSensorContext* x, int s, tbReal* out) {
  tbReal acceleration[6];
  tb_object_acceleration(x->m, x->d, TB_OBJ_SITE, x->m->sensor_objid[s], 1, acceleration);
  tb_copy3(out, acceleration + 3);
}
TB_ANY_INLINE void tb_sensor_magnetometer(const tbSensorContext* x, int s, tbReal* out) {
  tb_mul_mat3t_vec3(out, x->d->site_xmat + 9 * x->m->sensor_objid[s], x->m->opt.magnetic);
}

// Force between the site's body and its parent, in the site's frame; the torque is about the site.
TB_ANY_INLINE void tb_sensor_force(const tbSensorContext* x, int s, tbReal* out) {
  int site = x->m->sensor_objid[s];
  tb_copy3(out, x->d->cfrc_int + 6 * x->m->site_bodyid[site] + 3);
  tb_mul_mat3t_vec3(out, x->d->site_xmat + 9 * site, out);
}
TB_ANY_INLINE void tb_sensor_torque(const tbSensorContext* x, int s, tbReal* out) {
  const tbData* d = x->d;
  int site = x->m->sensor_objid[s], body = x->m->site_bodyid[site];
  const tbReal *f = d->cfrc_int + 6 * body, *com = d->subtree_com + 3 * x->m->body_rootid[body];
  tbReal arm[3], moment[3];
  tb_sub3(arm, d->site_xpos + 3 * site, com);
  tb_cross(moment, arm, f + 3);
  tb_sub3(out, f, moment);
  tb_mul_mat3t_vec3(out, d->site_xmat + 9 * site, out);
}

// ---- joints, tendons, actuators ----------------------------------------------------------------

TB_ANY_INLINE void tb_sensor_jointpos(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = x->d->qpos[x->m->jnt_qposadr[x->m->sensor_objid[s]]];
}
TB_ANY_INLINE void tb_sensor_jointvel(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = x->d->qvel[x->m->jnt_dofadr[x->m->sensor_objid[s]]];
}
TB_ANY_INLINE void tb_sensor_jointactuatorfrc(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = x->d->qfrc_actuator[x->m->jnt_dofadr[x->m->sensor_objid[s]]];
}
TB_ANY_INLINE void tb_sensor_ballquat(const tbSensorContext* x, int s, tbReal* out) {
  memcpy(out, x->d->qpos + x->m->jnt_qposadr[x->m->sensor_objid[s]], 4 * sizeof(tbReal));
  tb_quat_normalize(out);
}
TB_ANY_INLINE void tb_sensor_ballangvel(const tbSensorContext* x, int s, tbReal* out) {
  tb_copy3(out, x->d->qvel + x->m->jnt_dofadr[x->m->sensor_objid[s]]);
}
TB_ANY_INLINE void tb_sensor_tendonpos(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = x->d->ten_length[x->m->sensor_objid[s]];
}
TB_ANY_INLINE void tb_sensor_tendonvel(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = x->d->ten_velocity[x->m->sensor_objid[s]];
}
TB_ANY_INLINE void tb_sensor_tendonactuatorfrc(const tbSensorContext* x, int s, tbReal* out) {
  const tbModel* m = x->m;
  out[0] = 0;
  for (int i = 0; i < m->nu; i++) {
    if (tb_geared_tendon(m, i) == m->sensor_objid[s]) out[0] += x->d->actuator_force[i];
  }
}
TB_ANY_INLINE void tb_sensor_actuatorpos(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = x->d->actuator_length[x->m->sensor_objid[s]];
}
TB_ANY_INLINE void tb_sensor_actuatorvel(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = x->d->actuator_velocity[x->m->sensor_objid[s]];
}
TB_ANY_INLINE void tb_sensor_actuatorfrc(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = x->d->actuator_force[x->m->sensor_objid[s]];
}

// ---- limits ------------------------------------------------------------------------------------

// The active limit of a joint or tendon, or NULL: then all its sensors read zero.
TB_ANY_INLINE const tbConstraint* tb_active_limit(const tbSensorContext* x, int s, int source) {
  for (int i = 0; i < x->constraints->count; i++) {
    const tbConstraint* c = &x->constraints->list[i];
    if (c->source == source && c->id == x->m->sensor_objid[s]) return c;
  }
  return NULL;
}
TB_ANY_INLINE tbReal tb_limit_pos(const tbSensorContext* x, int s, int source) {
  const tbConstraint* c = tb_active_limit(x, s, source);
  return c ? c->pos[0] - c->margin : 0;
}
TB_ANY_INLINE tbReal tb_limit_vel(const tbSensorContext* x, int s, int source) {
  const tbConstraint* c = tb_active_limit(x, s, source);
  tbReal velocity = 0;
  for (int k = 0; c && k < c->nnz; k++) velocity += c->J[k] * x->d->qvel[c->col[k]];
  return velocity;
}
TB_ANY_INLINE tbReal tb_limit_frc(const tbSensorContext* x, int s, int source) {
  const tbConstraint* c = tb_active_limit(x, s, source);
  return c && x->row_force ? x->row_force[c->row] : 0;
}
TB_ANY_INLINE void tb_sensor_jointlimitpos(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = tb_limit_pos(x, s, TB_SOURCE_LIMIT_JOINT);
}
TB_ANY_INLINE void tb_sensor_jointlimitvel(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = tb_limit_vel(x, s, TB_SOURCE_LIMIT_JOINT);
}
TB_ANY_INLINE void tb_sensor_jointlimitfrc(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = tb_limit_frc(x, s, TB_SOURCE_LIMIT_JOINT);
}
TB_ANY_INLINE void tb_sensor_tendonlimitpos(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = tb_limit_pos(x, s, TB_SOURCE_LIMIT_TENDON);
}
TB_ANY_INLINE void tb_sensor_tendonlimitvel(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = tb_limit_vel(x, s, TB_SOURCE_LIMIT_TENDON);
}
TB_ANY_INLINE void tb_sensor_tendonlimitfrc(const tbSensorContext* x, int s, tbReal* out) {
  out[0] = tb_limit_frc(x, s, TB_SOURCE_LIMIT_TENDON);
}

// ---- subtrees and the world --------------------------------------------------------------------

TB_ANY_INLINE void tb_sensor_subtreecom(const tbSensorContext* x, int s, tbReal* out) {
  tb_copy3(out, x->d->subtree_com + 3 * x->m->sensor_objid[s]);
}
TB_ANY_INLINE void tb_sensor_subtreelinvel(const tbSensorContext* x, int s, tbReal* out) {
  tb_copy3(out, x->d->subtree_linvel + 3 * x->m->sensor_objid[s]);
}
TB_ANY_INLINE void tb_sensor_subtreeangmom(const tbSensorContext* x, int s, tbReal* out) {
  tb_copy3(out, x->d->subtree_angmom + 3 * x->m->sensor_objid[s]);
}
TB_ANY_INLINE void tb_sensor_e_potential(const tbSensorContext* x, int s, tbReal* out) {
  (void)s;
  out[0] = x->d->energy[0];
}
TB_ANY_INLINE void tb_sensor_e_kinetic(const tbSensorContext* x, int s, tbReal* out) {
  (void)s;
  out[0] = x->d->energy[1];
}
TB_ANY_INLINE void tb_sensor_clock(const tbSensorContext* x, int s, tbReal* out) {
  (void)s;
  out[0] = x->d->time;
}

// Values of a user's sensor come from the callback, or are left as the user wrote them.
TB_ANY_INLINE void tb_sensor_user(const tbSensorContext* x, int s, tbReal* out) {
  const tbCallbacks* user = x->m->callbacks;
  if (user && user->sensor) user->sensor(x->m, x->d, s, out, user->user);
}

// ---- in files of their own ---------------------------------------------------------------------

// Sum of the normal forces of contacts whose line of action meets the site.
void tb_sensor_touch(const tbSensorContext* context, int sensor, tbReal* out);

// Metres to the nearest geom along the site's z axis, -1 where there is none.
void tb_sensor_rangefinder(const tbSensorContext* context, int sensor, tbReal* out);

// Contacts between the objects of a contact sensor.
void tb_sensor_contact(const tbSensorContext* context, int sensor, tbReal* out);

// Distance, normal or segment between geoms or bodies.
void tb_sensor_distance(const tbSensorContext* context, int sensor, tbReal* out);

// Pixel at which a camera sees a site.
void tb_sensor_camprojection(const tbSensorContext* context, int sensor, tbReal* out);

// 1 where an object lies inside a site. And whether a point does.
void tb_sensor_insidesite(const tbSensorContext* context, int sensor, tbReal* out);
bool tb_inside_site(const tbModel* model, const tbData* data, int site, const tbReal point[3]);

// Sensors of an extension.
#define X(TYPE, word, dim, TARGET, STAGE, CLAMP, NEEDS, REQUIRES, function) \
  void tb_sensor_##function(const tbSensorContext* context, int sensor, tbReal* out);
TB_EXTENSION_SENSORS(X)
#undef X

#endif
