#include "sensors/sensor.h"

#include <string.h>

#include "base/minmax.h"
#include "spatial/quat.h"
#include "collide/ray/ray.h"
#include "forces/forces.h"
#include "sensors/rangefinder.h"
#include "tribo/dynamics.h"

typedef struct {
  const tbModel* m;
  tbData* d;
  const tbConstraints* constraints;
  const tbReal* row_force;  // per row of the constraints, N or N m; NULL in the first half
} Context;

// ---- frames ------------------------------------------------------------------------------------

// World pose of an object. Bodies are their inertial frame, xbodies their own.
static void object_pose(const tbData* d, int type, int id, const tbReal** pos, const tbReal** mat) {
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
static void object_quat(const tbModel* m, const tbData* d, int type, int id, tbReal quat[4]) {
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

static void frame_position(const Context* x, int s, tbReal* out) {
  const tbModel* m = x->m;
  const tbReal *pos, *mat, *ref_pos, *ref_mat;
  object_pose(x->d, m->sensor_objtype[s], m->sensor_objid[s], &pos, &mat);
  int ref = m->sensor_refid[s], type = m->sensor_type[s];
  if (type == TB_SENS_FRAMEQUAT) {
    object_quat(m, x->d, m->sensor_objtype[s], m->sensor_objid[s], out);
    if (ref < 0) return;
    tbReal ref_quat[4];
    object_quat(m, x->d, m->sensor_reftype[s], ref, ref_quat);
    tb_quat_conjugate(ref_quat, ref_quat);
    tb_quat_mul(out, ref_quat, out);
    return;
  }
  if (type == TB_SENS_FRAMEPOS) {
    tb_copy3(out, pos);
  } else {
    int axis = type - TB_SENS_FRAMEXAXIS;
    tb_set3(out, mat[axis], mat[3 + axis], mat[6 + axis]);
  }
  if (ref < 0) return;
  object_pose(x->d, m->sensor_reftype[s], ref, &ref_pos, &ref_mat);
  if (type == TB_SENS_FRAMEPOS) tb_sub3(out, out, ref_pos);
  tb_mul_mat3t_vec3(out, ref_mat, out);
}

static void frame_velocity(const Context* x, int s, tbReal* out) {
  const tbModel* m = x->m;
  int angular = m->sensor_type[s] == TB_SENS_FRAMEANGVEL, ref = m->sensor_refid[s];
  tbReal velocity[6], ref_velocity[6], arm[3];
  tb_object_velocity(m, x->d, (tbObjType)m->sensor_objtype[s], m->sensor_objid[s], 0, velocity);
  tb_copy3(out, velocity + (angular ? 0 : 3));
  if (ref < 0) return;
  const tbReal *pos, *mat, *ref_pos, *ref_mat;
  object_pose(x->d, m->sensor_objtype[s], m->sensor_objid[s], &pos, &mat);
  object_pose(x->d, m->sensor_reftype[s], ref, &ref_pos, &ref_mat);
  tb_object_velocity(m, x->d, (tbObjType)m->sensor_reftype[s], ref, 0, ref_velocity);
  tb_sub3(out, out, ref_velocity + (angular ? 0 : 3));
  if (!angular) {
    // The reference frame's own rotation.
    tbReal swing[3];
    tb_sub3(arm, pos, ref_pos);
    tb_cross(swing, ref_velocity, arm);
    tb_sub3(out, out, swing);
  }
  tb_mul_mat3t_vec3(out, ref_mat, out);
}

// ---- limits ------------------------------------------------------------------------------------

// Position, velocity or force of an active limit, 0 where it is not active.
static tbReal limit_value(const Context* x, int s) {
  const tbModel* m = x->m;
  int type = m->sensor_type[s], joint = type <= TB_SENS_JOINTLIMITFRC;
  int source = joint ? TB_SOURCE_LIMIT_JOINT : TB_SOURCE_LIMIT_TENDON;
  int what = type - (joint ? TB_SENS_JOINTLIMITPOS : TB_SENS_TENDONLIMITPOS);
  for (int i = 0; i < x->constraints->count; i++) {
    const tbConstraint* c = &x->constraints->list[i];
    if (c->source != source || c->id != m->sensor_objid[s]) continue;
    if (what == 0) return c->pos[0] - c->margin;
    if (what == 2) return x->row_force ? x->row_force[c->row] : 0;
    tbReal velocity = 0;
    for (int k = 0; k < c->nnz; k++) velocity += c->J[k] * x->d->qvel[c->col[k]];
    return velocity;
  }
  return 0;
}

// ---- forces ------------------------------------------------------------------------------------

// Sum of normal forces of contacts whose line of action meets the site.
static tbReal touch(const Context* x, int site) {
  const tbModel* m = x->m;
  const tbData* d = x->d;
  int body = m->site_bodyid[site];
  tbReal total = 0;
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    int on1 = m->geom_bodyid[c->geom[0]] == body, on2 = m->geom_bodyid[c->geom[1]] == body;
    if (c->force[0] <= 0 || !(on1 || on2)) continue;
    tbReal direction[3];
    tb_scale3(direction, c->frame, on2 ? -1 : 1);
    if (tb_ray_shape(m->site_type[site], m->site_size + 3 * site, d->site_xpos + 3 * site,
                     d->site_xmat + 9 * site, c->pos, direction) >= 0) {
      total += c->force[0];
    }
  }
  return total;
}

// Force or torque between the site's body and its parent, at the site, in its frame.
static void reaction(const Context* x, int site, int torque, tbReal* out) {
  const tbModel* m = x->m;
  const tbData* d = x->d;
  int body = m->site_bodyid[site];
  const tbReal *f = d->cfrc_int + 6 * body, *com = d->subtree_com + 3 * m->body_rootid[body];
  if (torque) {
    tbReal arm[3], moment[3];
    tb_sub3(arm, d->site_xpos + 3 * site, com);
    tb_cross(moment, arm, f + 3);
    tb_sub3(out, f, moment);
  } else {
    tb_copy3(out, f + 3);
  }
  tb_mul_mat3t_vec3(out, d->site_xmat + 9 * site, out);
}

static tbReal tendon_actuator_force(const tbModel* m, const tbData* d, int tendon) {
  tbReal total = 0;
  for (int i = 0; i < m->nu; i++) {
    if (m->actuator_trntype[i] == TB_TRN_TENDON && m->actuator_trnid[2 * i] == tendon) {
      total += d->actuator_force[i];
    }
  }
  return total;
}

// Force of everything that acts along a tendon, but its armature.
static tbReal tendon_force(const Context* x, int tendon) {
  const tbModel* m = x->m;
  const tbData* d = x->d;
  tbReal total = tb_tendon_passive(m, d, tendon) +
                 tb_tendon_row_force(m, d, x->constraints, x->row_force, tendon);
  for (int i = 0; i < m->nu; i++) {
    if (m->actuator_trntype[i] == TB_TRN_TENDON && m->actuator_trnid[2 * i] == tendon) {
      total += m->actuator_gear[6 * i] * d->actuator_force[i];
    }
  }
  return total;
}

// External wrenches on bodies (contacts, equalities, tendons, applied), for reactions.
static void external_wrenches(const Context* x) {
  const tbModel* m = x->m;
  tbData* d = x->d;
  memset(d->cfrc_ext, 0, sizeof(tbReal) * 6 * (size_t)m->nbody);
  for (int i = 1; i < m->nbody; i++) {
    const tbReal* f = d->xfrc_applied + 6 * i;
    bool none = f[0] == 0 && f[1] == 0 && f[2] == 0 && f[3] == 0 && f[4] == 0 && f[5] == 0;
    if (!none) tb_add_wrench(m, d, i, d->xipos + 3 * i, f, f + 3);
  }
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    if (c->row < 0) continue;
    tbReal force[3], torque[3], minus_force[3], minus_torque[3];
    tb_mul_mat3t_vec3(force, c->frame, c->force);
    tb_mul_mat3t_vec3(torque, c->frame, c->force + 3);
    tb_scale3(minus_force, force, -1);
    tb_scale3(minus_torque, torque, -1);
    tb_add_wrench(m, d, m->geom_bodyid[c->geom[1]], c->pos, force, torque);
    tb_add_wrench(m, d, m->geom_bodyid[c->geom[0]], c->pos, minus_force, minus_torque);
  }
  tb_equality_wrenches(m, d, x->constraints, x->row_force);
  for (int t = 0; t < m->ntendon; t++) tb_add_tendon_wrench(m, d, t, tendon_force(x, t));
}

// ---- dispatch ----------------------------------------------------------------------------------

// Sensors that need accelerations or forces.
static int is_second(int type) {
  switch (type) {
    case TB_SENS_TOUCH:
    case TB_SENS_ACCELEROMETER:
    case TB_SENS_FORCE:
    case TB_SENS_TORQUE:
    case TB_SENS_ACTUATORFRC:
    case TB_SENS_JOINTACTFRC:
    case TB_SENS_TENDONACTFRC:
    case TB_SENS_JOINTLIMITFRC:
    case TB_SENS_TENDONLIMITFRC:
    case TB_SENS_FRAMELINACC:
    case TB_SENS_FRAMEANGACC:
    case TB_SENS_CONTACT: return 1;
    default: return 0;
  }
}

static void first_value(const Context* x, int s, tbReal* out) {
  const tbModel* m = x->m;
  tbData* d = x->d;
  int id = m->sensor_objid[s];
  tbReal velocity[6];
  switch (m->sensor_type[s]) {
    case TB_SENS_MAGNETOMETER:
      tb_mul_mat3t_vec3(out, d->site_xmat + 9 * id, m->opt.magnetic);
      break;
    case TB_SENS_RANGEFINDER: out[0] = tb_rangefinder(m, d, id); break;
    case TB_SENS_JOINTPOS: out[0] = d->qpos[m->jnt_qposadr[id]]; break;
    case TB_SENS_JOINTVEL: out[0] = d->qvel[m->jnt_dofadr[id]]; break;
    case TB_SENS_TENDONPOS: out[0] = d->ten_length[id]; break;
    case TB_SENS_TENDONVEL: out[0] = d->ten_velocity[id]; break;
    case TB_SENS_ACTUATORPOS: out[0] = d->actuator_length[id]; break;
    case TB_SENS_ACTUATORVEL: out[0] = d->actuator_velocity[id]; break;
    case TB_SENS_BALLQUAT:
      memcpy(out, d->qpos + m->jnt_qposadr[id], 4 * sizeof(tbReal));
      tb_quat_normalize(out);
      break;
    case TB_SENS_BALLANGVEL: tb_copy3(out, d->qvel + m->jnt_dofadr[id]); break;
    case TB_SENS_JOINTLIMITPOS:
    case TB_SENS_JOINTLIMITVEL:
    case TB_SENS_TENDONLIMITPOS:
    case TB_SENS_TENDONLIMITVEL: out[0] = limit_value(x, s); break;
    case TB_SENS_FRAMEPOS:
    case TB_SENS_FRAMEQUAT:
    case TB_SENS_FRAMEXAXIS:
    case TB_SENS_FRAMEYAXIS:
    case TB_SENS_FRAMEZAXIS: frame_position(x, s, out); break;
    case TB_SENS_FRAMELINVEL:
    case TB_SENS_FRAMEANGVEL: frame_velocity(x, s, out); break;
    case TB_SENS_VELOCIMETER:
    case TB_SENS_GYRO:
      tb_object_velocity(m, d, TB_OBJ_SITE, id, 1, velocity);
      tb_copy3(out, velocity + (m->sensor_type[s] == TB_SENS_GYRO ? 0 : 3));
      break;
    case TB_SENS_SUBTREECOM: tb_copy3(out, d->subtree_com + 3 * id); break;
    case TB_SENS_SUBTREELINVEL: tb_copy3(out, d->subtree_linvel + 3 * id); break;
    case TB_SENS_SUBTREEANGMOM: tb_copy3(out, d->subtree_angmom + 3 * id); break;
    case TB_SENS_CAMPROJECTION: tb_sensor_projection(m, d, s, out); break;
    case TB_SENS_INSIDESITE: {
      const tbReal *pos, *mat;
      object_pose(d, m->sensor_objtype[s], id, &pos, &mat);
      out[0] = tb_inside_site(m, d, m->sensor_refid[s], pos);
      break;
    }
    case TB_SENS_GEOMDIST:
    case TB_SENS_GEOMNORMAL:
    case TB_SENS_GEOMFROMTO: tb_sensor_distance(m, d, s, out); break;
    case TB_SENS_E_POTENTIAL: out[0] = d->energy[0]; break;
    case TB_SENS_E_KINETIC: out[0] = d->energy[1]; break;
    case TB_SENS_CLOCK: out[0] = d->time; break;
    default: break;
  }
}

static void second_value(const Context* x, int s, tbReal* out) {
  const tbModel* m = x->m;
  tbData* d = x->d;
  int id = m->sensor_objid[s], type = m->sensor_type[s];
  tbReal acceleration[6];
  switch (type) {
    case TB_SENS_TOUCH: out[0] = touch(x, id); break;
    case TB_SENS_CONTACT: tb_sensor_contact(m, d, s, out); break;
    case TB_SENS_ACCELEROMETER:
      tb_object_acceleration(m, d, TB_OBJ_SITE, id, 1, acceleration);
      tb_copy3(out, acceleration + 3);
      break;
    case TB_SENS_FORCE: reaction(x, id, 0, out); break;
    case TB_SENS_TORQUE: reaction(x, id, 1, out); break;
    case TB_SENS_ACTUATORFRC: out[0] = d->actuator_force[id]; break;
    case TB_SENS_JOINTACTFRC: out[0] = d->qfrc_actuator[m->jnt_dofadr[id]]; break;
    case TB_SENS_TENDONACTFRC: out[0] = tendon_actuator_force(m, d, id); break;
    case TB_SENS_JOINTLIMITFRC:
    case TB_SENS_TENDONLIMITFRC: out[0] = limit_value(x, s); break;
    default:
      tb_object_acceleration(m, d, (tbObjType)m->sensor_objtype[s], id, 0, acceleration);
      tb_copy3(out, acceleration + (type == TB_SENS_FRAMELINACC ? 3 : 0));
  }
}

// Values clamp to the cutoff, positive ones from above only; directions, quaternions and what a
// contact sensor mixes of them never.
static void apply_cutoff(const tbModel* m, int s, tbReal* out) {
  tbReal cutoff = m->sensor_cutoff[s];
  int type = m->sensor_type[s];
  if (cutoff <= 0 || type == TB_SENS_FRAMEQUAT || type == TB_SENS_BALLQUAT) return;
  if (type == TB_SENS_GEOMNORMAL || type == TB_SENS_GEOMFROMTO || type == TB_SENS_CONTACT) return;
  if (type >= TB_SENS_FRAMEXAXIS && type <= TB_SENS_FRAMEZAXIS) return;
  int positive = type == TB_SENS_TOUCH || type == TB_SENS_RANGEFINDER;
  for (int k = 0; k < m->sensor_dim[s]; k++) {
    out[k] = tb_min(cutoff, out[k]);
    if (!positive) out[k] = tb_max(-cutoff, out[k]);
  }
}

static void evaluate(const Context* x, int second) {
  const tbModel* m = x->m;
  for (int s = 0; s < m->nsensor; s++) {
    if (is_second(m->sensor_type[s]) != second) continue;
    tbReal* out = x->d->sensordata + m->sensor_adr[s];
    if (second) {
      second_value(x, s, out);
    } else {
      first_value(x, s, out);
    }
    apply_cutoff(m, s, out);
  }
}

static int has_type(const tbModel* m, int first, int last) {
  for (int s = 0; s < m->nsensor; s++) {
    if (m->sensor_type[s] >= first && m->sensor_type[s] <= last) return 1;
  }
  return 0;
}

void tb_sensor_first(const tbModel* m, tbData* d, const tbConstraints* constraints) {
  if (m->nsensor == 0 || (m->opt.disableflags & TB_DISABLE_SENSOR)) return;
  if (has_type(m, TB_SENS_SUBTREELINVEL, TB_SENS_SUBTREEANGMOM)) tb_subtree_velocity(m, d);
  if (has_type(m, TB_SENS_E_POTENTIAL, TB_SENS_E_KINETIC)) {
    tb_energy_position(m, d);
    tb_energy_velocity(m, d);
  }
  Context x = {m, d, constraints, NULL};
  evaluate(&x, 0);
}

void tb_sensor_second(const tbModel* m, tbData* d, const tbConstraints* constraints,
                      const tbReal* row_force) {
  if (m->nsensor == 0 || (m->opt.disableflags & TB_DISABLE_SENSOR)) return;
  Context x = {m, d, constraints, row_force};
  if (has_type(m, TB_SENS_FORCE, TB_SENS_TORQUE)) {
    external_wrenches(&x);
    tb_body_forces(m, d);
  } else if (has_type(m, TB_SENS_ACCELEROMETER, TB_SENS_ACCELEROMETER) ||
             has_type(m, TB_SENS_FRAMELINACC, TB_SENS_FRAMEANGACC)) {
    tb_body_accelerations(m, d);
  }
  evaluate(&x, 1);
}
