// Sensors: their target objects and numbers of values.
#include <math.h>
#include <string.h>

#include "io/compile/internal.h"
#include "model/joint_kinds.h"
#include "model/model.h"
#include "model/sensor_kinds.h"

static int sensor_dim(const tbFlatSensor* s) {
  if (s->type == TB_SENS_USER) return s->dim;
  if (s->type == TB_SENS_CONTACT) return s->intprm[2] * tb_contact_data_size(s->intprm[0]);
  return tb_sensor_kinds[s->type].dim;
}

enum { MOST_VALUES = 1 << 24 };

tbResult tb_compile_count_sensors(const tbCompile* c, tbModel* sizes) {
  sizes->nsensor = c->spec->nsensor;
  int64_t total = 0;
  for (int i = 0; i < c->spec->nsensor; i++) {
    const tbFlatSensor* s = &c->spec->sensor[i];
    int dim = sensor_dim(s);
    if (dim < 0 || dim > 1000000) {
      return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s, "sensor: dim is %d", dim);
    }
    total += dim;
    if (total > MOST_VALUES) {
      return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s, "sensors have more than %d values",
                          MOST_VALUES);
    }
  }
  sizes->nsensordata = (int)total;
  return TB_OK;
}

tbResult tb_compile_object(const tbCompile* c, int type, const char* name, const char* file,
                           int line, const char* what, int* id) {
  static const struct {
    int type;
    tbFlatKind kind;
  } kinds[] = {
      {TB_OBJ_BODY, TB_FLAT_body},       {TB_OBJ_XBODY, TB_FLAT_body},
      {TB_OBJ_JOINT, TB_FLAT_joint},     {TB_OBJ_GEOM, TB_FLAT_geom},
      {TB_OBJ_SITE, TB_FLAT_site},       {TB_OBJ_CAMERA, TB_FLAT_camera},
      {TB_OBJ_LIGHT, TB_FLAT_light},     {TB_OBJ_MESH, TB_FLAT_mesh},
      {TB_OBJ_HFIELD, TB_FLAT_hfield},   {TB_OBJ_PAIR, TB_FLAT_pair},
      {TB_OBJ_EXCLUDE, TB_FLAT_exclude}, {TB_OBJ_EQUALITY, TB_FLAT_equality},
      {TB_OBJ_TENDON, TB_FLAT_tendon},   {TB_OBJ_ACTUATOR, TB_FLAT_actuator},
      {TB_OBJ_SENSOR, TB_FLAT_sensor},   {TB_OBJ_NUMERIC, TB_FLAT_numeric},
      {TB_OBJ_TEXT, TB_FLAT_text},       {TB_OBJ_TUPLE, TB_FLAT_tuple},
      {TB_OBJ_KEY, TB_FLAT_key},
  };
  size_t k = 0;
  while (k < sizeof kinds / sizeof kinds[0] && kinds[k].type != type) k++;
  if (k == sizeof kinds / sizeof kinds[0]) {
    return tb_flat_fail(c->error, TB_ERROR_MODEL, file, line, "%s: no such type of object", what);
  }
  int index;
  tbResult result = tb_compile_resolve(c, kinds[k].kind, name, file, line, what, &index);
  if (result) return result;
  switch (kinds[k].kind) {
    case TB_FLAT_body: *id = c->body_id[index]; break;
    case TB_FLAT_geom: *id = c->geom_id[index]; break;
    case TB_FLAT_site: *id = c->site_id[index]; break;
    case TB_FLAT_camera: *id = c->camera_id[index]; break;
    case TB_FLAT_light: *id = c->light_id[index]; break;
    case TB_FLAT_mesh: *id = c->mesh_id[index]; break;
    case TB_FLAT_pair: *id = c->pair_order[index]; break;
    case TB_FLAT_exclude: *id = c->exclude_order[index]; break;
    default: *id = index; break;
  }
  return TB_OK;
}

// Joint and tendon sensors need the right type of joint, and limit sensors need a limit.
static tbResult check_target(const tbCompile* c, const tbModel* m, const tbFlatSensor* s,
                             const char* label, int id) {
  const char* wrong = NULL;
  const tbSensorKind* kind = &tb_sensor_kinds[s->type];
  switch (kind->requires) {
    case TB_REQUIRES_SCALAR:
      if (!tb_joint_is_scalar(m->jnt_type[id])) wrong = "must be a slide or a hinge";
      break;
    case TB_REQUIRES_BALL:
      if (!tb_joint_is_rotation(m->jnt_type[id])) wrong = "must be a ball joint";
      break;
    case TB_REQUIRES_LIMITED: {
      bool joint = kind->target == TB_SENSOR_JOINT;
      if (!(joint ? m->jnt_limited[id] : m->tendon_limited[id])) wrong = "has no limits";
      break;
    }
    default: break;
  }
  if (!wrong) return TB_OK;
  return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s, "%s: '%s' %s", label, s->objname, wrong);
}

static bool is_frame(int type) {
  return type == TB_OBJ_BODY || type == TB_OBJ_XBODY || type == TB_OBJ_GEOM ||
         type == TB_OBJ_SITE || type == TB_OBJ_CAMERA;
}

static tbResult copy_sensor(const tbCompile* c, tbModel* m, int i) {
  const tbFlatSensor* s = &c->spec->sensor[i];
  tbCompileLabel label = tb_compile_label("sensor", s->name, i);
  int needs = tb_sensor_object(tb_sensor_kinds[s->type].target);
  m->sensor_objid[i] = m->sensor_refid[i] = -1;
  bool fits = needs == TB_OBJ_UNKNOWN || (needs == TB_NOBJTYPES && is_frame(s->objtype)) ||
              s->objtype == needs || (needs == TB_OBJ_BODY && s->objtype == TB_OBJ_XBODY);
  if (!fits) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                        "%s: this type of object is not a valid target", label.text);
  }
  tbResult result = TB_OK;
  if (needs != TB_OBJ_UNKNOWN || s->objname) {
    result = tb_compile_object(c, s->objtype, s->objname, s->source, s->line, label.text,
                               &m->sensor_objid[i]);
    if (!result) result = check_target(c, m, s, label.text, m->sensor_objid[i]);
  }
  if (!result && s->refname) {
    result = tb_compile_object(c, s->reftype, s->refname, s->source, s->line, label.text,
                               &m->sensor_refid[i]);
  }
  if (result) return result;
  if (s->cutoff < 0 || !isfinite(s->cutoff) || s->noise < 0 || !isfinite(s->noise)) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s,
                        "%s: cutoff %g and noise %g, expected numbers that are not negative",
                        label.text, s->cutoff, s->noise);
  }
  bool direction = tb_sensor_kinds[s->type].clamp == TB_CLAMP_DIRECTION ||
                   (s->type == TB_SENS_USER && s->datatype >= 2);
  if (direction && s->cutoff > 0) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s, "%s: a direction or rotation has no cutoff",
                        label.text);
  }
  m->sensor_type[i] = s->type;
  m->sensor_objtype[i] = s->objtype;
  m->sensor_reftype[i] = s->refname ? s->reftype : TB_OBJ_UNKNOWN;
  m->sensor_dim[i] = sensor_dim(s);
  m->sensor_adr[i] = i ? m->sensor_adr[i - 1] + m->sensor_dim[i - 1] : 0;
  memcpy(m->sensor_intprm + 3 * i, s->intprm, sizeof s->intprm);
  m->sensor_cutoff[i] = s->cutoff;
  m->sensor_noise[i] = s->noise;
  tb_compile_copy_user(m->sensor_user, i, m->nuser_sensor, &s->user);
  return TB_OK;
}

tbResult tb_compile_copy_sensors(const tbCompile* c, tbModel* m) {
  for (int i = 0; i < m->nsensor; i++) {
    tbResult result = copy_sensor(c, m, i);
    if (result) return result;
  }
  return TB_OK;
}
