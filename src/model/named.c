// Parts of a world by name.
#include "tribo/named.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "model/workspace.h"
#include "spatial/quat.h"

// ---- names -------------------------------------------------------------------------------------

typedef struct {
  tbObjType type;
  const char* word;
  int count;
} Kind;

static Kind kind_of(const tbModel* m, tbObjType type) {
  switch (type) {
    case TB_OBJ_BODY: return (Kind){type, "body", m->nbody};
    case TB_OBJ_JOINT: return (Kind){type, "joint", m->njnt};
    case TB_OBJ_GEOM: return (Kind){type, "geom", m->ngeom};
    case TB_OBJ_SITE: return (Kind){type, "site", m->nsite};
    case TB_OBJ_ACTUATOR: return (Kind){type, "actuator", m->nu};
    case TB_OBJ_SENSOR: return (Kind){type, "sensor", m->nsensor};
    default: return (Kind){type, "object", 0};
  }
}

// The nearest name of that kind; NULL if there is none.
static const char* nearest(const tbModel* m, Kind kind, const char* name) {
  const char* best = NULL;
  int distance = 0;
  for (int i = 0; i < kind.count; i++) {
    const char* other = tb_id2name(m, kind.type, i);
    int d = tb_edit_distance(name, other);
    if (!*other || (best && d >= distance)) continue;
    best = other;
    distance = d;
  }
  return best;
}

// The id of a named part of a world that fits the model.
static tbResult find(const tbModel* m, const tbData* d, tbObjType type, const char* name, int* id,
                     tbError* error) {
  tb_error_clear(error);
  if (!m || !d) return tb_fail(error, TB_ERROR_ARGUMENT, "%s is NULL", m ? "data" : "model");
  if (!tb_is_world_of(m, d)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "data is a world of another model");
  }
  Kind kind = kind_of(m, type);
  if (!name) return tb_fail(error, TB_ERROR_ARGUMENT, "the name of the %s is NULL", kind.word);
  *id = tb_name2id(m, type, name);
  if (*id >= 0) return TB_OK;
  const char* best = nearest(m, kind, name);
  if (!best) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "no %s is called '%.100s': the model has no named %s",
                   kind.word, name, kind.word);
  }
  return tb_fail(error, TB_ERROR_ARGUMENT, "no %s is called '%.100s', did you mean '%.100s'?",
                 kind.word, name, best);
}

// ---- values ------------------------------------------------------------------------------------

// The values of a named part within an array of the world.
typedef struct {
  const char *kind, *name;
  int first, count;
} Range;

static tbResult check_count(const Range* r, const void* values, int count, tbError* error) {
  if (!values) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "the values of %s '%.100s' are NULL", r->kind,
                   r->name);
  }
  if (count == r->count) return TB_OK;
  return tb_fail(error, TB_ERROR_ARGUMENT, "%s '%.100s' has %d values, but count is %d", r->kind,
                 r->name, r->count, count);
}

static tbResult get(const Range* r, const tbReal* array, tbReal* values, int count,
                    tbError* error) {
  tbResult result = check_count(r, values, count, error);
  if (result == TB_OK) memcpy(values, array + r->first, sizeof(tbReal) * (size_t)count);
  return result;
}

static tbResult check_values(const Range* r, const tbReal* values, int count, tbError* error) {
  tbResult result = check_count(r, values, count, error);
  for (int i = 0; result == TB_OK && i < count; i++) {
    if (isfinite(values[i])) continue;
    result = tb_fail(error, TB_ERROR_ARGUMENT, "value %d for %s '%.100s' is not finite", i, r->kind,
                     r->name);
  }
  return result;
}

static tbResult set(const Range* r, tbReal* array, const tbReal* values, int count,
                    tbError* error) {
  tbResult result = check_values(r, values, count, error);
  if (result == TB_OK) memcpy(array + r->first, values, sizeof(tbReal) * (size_t)count);
  return result;
}

// The coordinates of a joint, or its velocities.
static tbResult joint_range(const tbModel* m, const tbData* d, const char* name, bool velocities,
                            Range* out, tbError* error) {
  int j;
  tbResult result = find(m, d, TB_OBJ_JOINT, name, &j, error);
  if (result != TB_OK) return result;
  const int* first = velocities ? m->jnt_dofadr : m->jnt_qposadr;
  int end = j + 1 < m->njnt ? first[j + 1] : velocities ? m->nv : m->nq;
  *out = (Range){"joint", name, first[j], end - first[j]};
  return TB_OK;
}

tbResult tb_joint_qpos(const tbModel* m, const tbData* d, const char* joint, tbReal* qpos,
                       int count, tbError* error) {
  Range r;
  tbResult result = joint_range(m, d, joint, false, &r, error);
  return result == TB_OK ? get(&r, d->qpos, qpos, count, error) : result;
}

tbResult tb_joint_qvel(const tbModel* m, const tbData* d, const char* joint, tbReal* qvel,
                       int count, tbError* error) {
  Range r;
  tbResult result = joint_range(m, d, joint, true, &r, error);
  return result == TB_OK ? get(&r, d->qvel, qvel, count, error) : result;
}

// A quaternion that cannot be scaled to unit length is a mistake, although a step takes it for the
// identity.
static tbResult check_quat(const tbModel* m, const Range* r, const tbReal* qpos, tbError* error) {
  int at = tb_joint_quatadr(m, tb_name2id(m, TB_OBJ_JOINT, r->name));
  if (at < 0) return TB_OK;
  const tbReal* q = qpos + at - r->first;
  tbReal square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (square > 0 && isfinite(square)) return TB_OK;
  return tb_fail(error, TB_ERROR_ARGUMENT, "the quaternion for joint '%.100s' has no direction",
                 r->name);
}

tbResult tb_set_joint_qpos(const tbModel* m, tbData* d, const char* joint, const tbReal* qpos,
                           int count, tbError* error) {
  Range r;
  tbResult result = joint_range(m, d, joint, false, &r, error);
  if (result == TB_OK) result = check_values(&r, qpos, count, error);
  if (result == TB_OK) result = check_quat(m, &r, qpos, error);
  if (result == TB_OK) memcpy(d->qpos + r.first, qpos, sizeof(tbReal) * (size_t)count);
  return result;
}

tbResult tb_set_joint_qvel(const tbModel* m, tbData* d, const char* joint, const tbReal* qvel,
                           int count, tbError* error) {
  Range r;
  tbResult result = joint_range(m, d, joint, true, &r, error);
  return result == TB_OK ? set(&r, d->qvel, qvel, count, error) : result;
}

tbResult tb_actuator_ctrl(const tbModel* m, const tbData* d, const char* actuator, tbReal* ctrl,
                          tbError* error) {
  int i;
  tbResult result = find(m, d, TB_OBJ_ACTUATOR, actuator, &i, error);
  if (result != TB_OK) return result;
  return get(&(Range){"actuator", actuator, i, 1}, d->ctrl, ctrl, 1, error);
}

tbResult tb_set_actuator_ctrl(const tbModel* m, tbData* d, const char* actuator, tbReal ctrl,
                              tbError* error) {
  int i;
  tbResult result = find(m, d, TB_OBJ_ACTUATOR, actuator, &i, error);
  if (result != TB_OK) return result;
  return set(&(Range){"actuator", actuator, i, 1}, d->ctrl, &ctrl, 1, error);
}

tbResult tb_sensor_values(const tbModel* m, const tbData* d, const char* sensor, tbReal* values,
                          int count, tbError* error) {
  int i;
  tbResult result = find(m, d, TB_OBJ_SENSOR, sensor, &i, error);
  if (result != TB_OK) return result;
  Range r = {"sensor", sensor, m->sensor_adr[i], m->sensor_dim[i]};
  return get(&r, d->sensordata, values, count, error);
}

// ---- poses -------------------------------------------------------------------------------------

tbResult tb_pose(const tbModel* m, const tbData* d, tbObjType type, const char* name, tbReal pos[3],
                 tbReal quat[4], tbError* error) {
  if (type != TB_OBJ_BODY && type != TB_OBJ_GEOM && type != TB_OBJ_SITE) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "type %d has no pose here; TB_OBJ_BODY, TB_OBJ_GEOM and TB_OBJ_SITE have one",
                   (int)type);
  }
  int i;
  tbResult result = find(m, d, type, name, &i, error);
  if (result != TB_OK) return result;
  const tbReal* from = type == TB_OBJ_BODY   ? d->xpos
                       : type == TB_OBJ_GEOM ? d->geom_xpos
                                             : d->site_xpos;
  if (pos) memcpy(pos, from + 3 * i, sizeof(tbReal[3]));
  if (!quat) return TB_OK;
  if (type == TB_OBJ_BODY) {
    memcpy(quat, d->xquat + 4 * i, sizeof(tbReal[4]));
  } else {
    tb_quat_from_mat(quat, (type == TB_OBJ_GEOM ? d->geom_xmat : d->site_xmat) + 9 * i);
  }
  return TB_OK;
}
