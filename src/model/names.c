// Names of objects: offsets into one pool of characters.
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "model/joint_kinds.h"
#include "tribo/model.h"

// The offsets and the number of objects of a type, or NULL.
static const int* name_table(const tbModel* m, tbObjType type, int* count) {
  switch (type) {
    case TB_OBJ_BODY:
    case TB_OBJ_XBODY: *count = m->nbody; return m->name_bodyadr;
    case TB_OBJ_JOINT: *count = m->njnt; return m->name_jntadr;
    case TB_OBJ_GEOM: *count = m->ngeom; return m->name_geomadr;
    case TB_OBJ_SITE: *count = m->nsite; return m->name_siteadr;
    case TB_OBJ_CAMERA: *count = m->ncam; return m->name_camadr;
    case TB_OBJ_LIGHT: *count = m->nlight; return m->name_lightadr;
    case TB_OBJ_MESH: *count = m->nmesh; return m->name_meshadr;
    case TB_OBJ_HFIELD: *count = m->nhfield; return m->name_hfieldadr;
    case TB_OBJ_PAIR: *count = m->npair; return m->name_pairadr;
    case TB_OBJ_EXCLUDE: *count = m->nexclude; return m->name_excludeadr;
    case TB_OBJ_EQUALITY: *count = m->neq; return m->name_eqadr;
    case TB_OBJ_TENDON: *count = m->ntendon; return m->name_tendonadr;
    case TB_OBJ_ACTUATOR: *count = m->nu; return m->name_actuatoradr;
    case TB_OBJ_SENSOR: *count = m->nsensor; return m->name_sensoradr;
    case TB_OBJ_NUMERIC: *count = m->nnumeric; return m->name_numericadr;
    case TB_OBJ_TEXT: *count = m->ntext; return m->name_textadr;
    case TB_OBJ_TUPLE: *count = m->ntuple; return m->name_tupleadr;
    case TB_OBJ_KEY: *count = m->nkey; return m->name_keyadr;
    default: *count = 0; return NULL;
  }
}

int tb_name2id(const tbModel* model, tbObjType type, const char* name) {
  if (!model || !name || !*name) return -1;
  int count;
  const int* table = name_table(model, type, &count);
  for (int i = 0; i < count; i++) {
    if (table[i] >= 0 && strcmp(model->names + table[i], name) == 0) return i;
  }
  return -1;
}

const char* tb_id2name(const tbModel* model, tbObjType type, int id) {
  if (!model) return "";
  int count;
  const int* table = name_table(model, type, &count);
  return table && id >= 0 && id < count && table[id] >= 0 ? model->names + table[id] : "";
}

const char* tb_object_text(const tbModel* model, tbObjType type, const char* kind, int id,
                           char text[TB_OBJECT_TEXT]) {
  const char* name = tb_id2name(model, type, id);
  int used = snprintf(text, TB_OBJECT_TEXT, "%s %d", kind, id);
  if (*name) snprintf(text + used, TB_OBJECT_TEXT - (size_t)used, " '%.80s'", name);
  return text;
}

const char* tb_joint_type_name(int type) {
  switch (type) {
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return word;
    TB_JOINTS(X)
#undef X
    default: return "";
  }
}

int tb_joint_quatadr(const tbModel* m, int joint) {
  if (!m || joint < 0 || joint >= m->njnt) return -1;
  int type = m->jnt_type[joint];
  return tb_joint_has_quaternion(type) ? m->jnt_qposadr[joint] + tb_joint_numbers(type) : -1;
}
