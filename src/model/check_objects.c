// Equality constraints, tendons, actuators, custom fields and sensors.
#include <math.h>

#include "base/error.h"
#include "model/actuator_kinds.h"
#include "model/equality_kinds.h"
#include "model/joint_kinds.h"
#include "model/sensor_kinds.h"
#include "model/transmission_kinds.h"
#include "model/check.h"

#define TRY(expression)                 \
  do {                                  \
    tbResult try_result = (expression); \
    if (try_result) return try_result;  \
  } while (0)

// Number of objects of a type; 0 for types that cannot be referred to.
static int object_count(const tbModel* m, int type) {
  switch (type) {
    case TB_OBJ_BODY:
    case TB_OBJ_XBODY: return m->nbody;
    case TB_OBJ_JOINT: return m->njnt;
    case TB_OBJ_DOF: return m->nv;
    case TB_OBJ_GEOM: return m->ngeom;
    case TB_OBJ_SITE: return m->nsite;
    case TB_OBJ_CAMERA: return m->ncam;
    case TB_OBJ_LIGHT: return m->nlight;
    case TB_OBJ_MESH: return m->nmesh;
    case TB_OBJ_HFIELD: return m->nhfield;
    case TB_OBJ_PAIR: return m->npair;
    case TB_OBJ_EXCLUDE: return m->nexclude;
    case TB_OBJ_EQUALITY: return m->neq;
    case TB_OBJ_TENDON: return m->ntendon;
    case TB_OBJ_ACTUATOR: return m->nu;
    case TB_OBJ_SENSOR: return m->nsensor;
    case TB_OBJ_NUMERIC: return m->nnumeric;
    case TB_OBJ_TEXT: return m->ntext;
    case TB_OBJ_TUPLE: return m->ntuple;
    case TB_OBJ_KEY: return m->nkey;
    default: return 0;
  }
}

static bool refers(const tbModel* m, int type, int id) {
  return id >= 0 && id < object_count(m, type);
}

static tbResult dangling(tbError* error, const char* what, int i) {
  return tb_fail(error, TB_ERROR_MODEL, "model: %s %d refers to an object that does not exist",
                 what, i);
}

static bool is_scalar(const tbModel* m, int joint) {
  return tb_joint_is_scalar(m->jnt_type[joint]);
}

static tbResult check_equalities(const tbModel* m, tbError* error) {
  TRY(tb_check_range("eq_type", m->eq_type, m->neq, 0, TB_NEQTYPES, error));
  for (int i = 0; i < m->neq; i++) {
    int ends = tb_equality_ends(m, i), one = m->eq_obj1id[i], two = m->eq_obj2id[i],
        kind = m->eq_objtype[i];
    bool good;
    if (ends == TB_ENDS_JOINTS) {
      good = refers(m, TB_OBJ_JOINT, one) && is_scalar(m, one) &&
             (two == -1 || (refers(m, TB_OBJ_JOINT, two) && is_scalar(m, two)));
    } else if (ends == TB_ENDS_TENDONS) {
      good = refers(m, TB_OBJ_TENDON, one) && (two == -1 || refers(m, TB_OBJ_TENDON, two));
    } else {
      good = (kind == TB_OBJ_BODY || kind == TB_OBJ_XBODY || kind == TB_OBJ_SITE) &&
             refers(m, kind, one) && refers(m, kind, two);
    }
    if (!good) return dangling(error, "equality", i);
  }
  return TB_OK;
}

// One element of a spatial tendon's path: a geom must be between two sites.
static bool check_spatial(const tbModel* m, int first, int count, int i) {
  int id = m->wrap_objid[i], type = m->wrap_type[i];
  if (type == TB_WRAP_PULLEY) return true;
  if (type == TB_WRAP_SITE) return refers(m, TB_OBJ_SITE, id);
  if (type != TB_WRAP_SPHERE && type != TB_WRAP_CYLINDER) return false;
  tbReal side = m->wrap_prm[i];
  return refers(m, TB_OBJ_GEOM, id) && side >= -1 && side < m->nsite && side == floor(side) &&
         i > first && m->wrap_type[i - 1] == TB_WRAP_SITE && i + 1 < first + count &&
         m->wrap_type[i + 1] == TB_WRAP_SITE;
}

static tbResult check_tendons(const tbModel* m, tbError* error) {
  TRY(tb_check_spans("tendon_adr", m->tendon_adr, m->tendon_num, m->ntendon, m->nwrap, error));
  TRY(tb_check_spans("tendon_Jadr", m->tendon_Jadr, m->tendon_Jnnz, m->ntendon, m->nJten, error));
  TRY(tb_check_range("Jten_colind", m->Jten_colind, m->nJten, 0, m->nv, error));
  TRY(tb_check_range("wrap_type", m->wrap_type, m->nwrap, 0, TB_WRAP_CYLINDER + 1, error));
  int64_t entry = 0;
  for (int t = 0; t < m->ntendon; t++) {
    int first = m->tendon_adr[t], count = m->tendon_num[t];
    if (count < 1) return dangling(error, "tendon", t);
    bool fixed = m->wrap_type[first] == TB_WRAP_JOINT;
    for (int i = first; i < first + count; i++) {
      int id = m->wrap_objid[i];
      bool good = fixed ? m->wrap_type[i] == TB_WRAP_JOINT && refers(m, TB_OBJ_JOINT, id) &&
                              is_scalar(m, id)
                        : check_spatial(m, first, count, i);
      if (!good) return dangling(error, "tendon", t);
    }
    // Rows of the Jacobian are consecutive, columns ascending.
    if (m->tendon_Jnnz[t] && m->tendon_Jadr[t] != entry) return dangling(error, "tendon", t);
    for (int k = 1; k < m->tendon_Jnnz[t]; k++) {
      if (m->Jten_colind[entry + k] <= m->Jten_colind[entry + k - 1]) {
        return tb_fail(error, TB_ERROR_MODEL, "model: columns of tendon %d do not ascend", t);
      }
    }
    entry += m->tendon_Jnnz[t];
  }
  return entry == m->nJten ? TB_OK : tb_fail(error, TB_ERROR_MODEL, "model: nJten is wrong");
}

// Rows of actuator_moment: that of a joint has the joint's dofs, that of a tendon has the length of
// the tendon's row, that of contacts has all dofs, and all columns are ascending.
static tbResult check_moments(const tbModel* m, tbError* error) {
  TRY(tb_check_spans("actuator_Jadr", m->actuator_Jadr, m->actuator_Jnnz, m->nu, m->nJmom, error));
  TRY(tb_check_range("Jmom_colind", m->Jmom_colind, m->nJmom, 0, m->nv, error));
  for (int i = 0; i < m->nu; i++) {
    const tbTransmissionKind* kind = &tb_transmission_kinds[m->actuator_trntype[i]];
    int one = m->actuator_trnid[2 * i], n = m->actuator_Jnnz[i];
    const int* columns = m->Jmom_colind + m->actuator_Jadr[i];
    bool good = true;
    if (kind->first == TB_OBJ_TENDON) good = n == m->tendon_Jnnz[one];
    if (kind->arm == TB_ARM_CONTACTS) good = n == m->nv;
    if (kind->first == TB_OBJ_JOINT) {
      good = n == tb_joint_nv(m->jnt_type[one]) && columns[0] == m->jnt_dofadr[one];
    }
    for (int k = 1; k < n; k++) good = good && columns[k] > columns[k - 1];
    if (!good) return tb_fail(error, TB_ERROR_MODEL, "model: row %d of Jmom_colind is wrong", i);
  }
  return TB_OK;
}

static tbResult check_actuators(const tbModel* m, tbError* error) {
  TRY(tb_check_range("actuator_trntype", m->actuator_trntype, m->nu, 0, TB_NTRNTYPES, error));
  TRY(tb_check_range("actuator_dyntype", m->actuator_dyntype, m->nu, 0, TB_NDYNTYPES, error));
  TRY(tb_check_range("actuator_gaintype", m->actuator_gaintype, m->nu, 0, TB_NGAINTYPES, error));
  TRY(tb_check_range("actuator_biastype", m->actuator_biastype, m->nu, 0, TB_NBIASTYPES, error));
  TRY(tb_check_spans("actuator_actadr", m->actuator_actadr, m->actuator_actnum, m->nu, m->na,
                     error));
  int64_t states = 0;
  for (int i = 0; i < m->nu; i++) {
    const tbTransmissionKind* kind = &tb_transmission_kinds[m->actuator_trntype[i]];
    int one = m->actuator_trnid[2 * i], two = m->actuator_trnid[2 * i + 1];
    bool is_alone = two == -1 && kind->second != TB_SECOND_REQUIRED;
    bool needs_scalar = kind->first == TB_OBJ_JOINT && kind->arm == TB_ARM_CONFIGURATION;
    bool good = refers(m, kind->first, one) && (!needs_scalar || is_scalar(m, one)) &&
                (kind->second == TB_SECOND_NONE || is_alone || refers(m, kind->first, two));
    if (!good) return dangling(error, "actuator", i);
    // Dynamics need an activation state, and a state needs an address.
    if (m->actuator_dyntype[i] != TB_DYN_NONE && m->actuator_actnum[i] < 1) {
      return tb_fail(error, TB_ERROR_MODEL, "model: actuator %d has dynamics but no activation", i);
    }
    states += m->actuator_actnum[i];
  }
  if (states != m->na) return tb_fail(error, TB_ERROR_MODEL, "model: na is wrong");
  return check_moments(m, error);
}

static tbResult check_custom(const tbModel* m, tbError* error) {
  TRY(tb_check_spans("numeric_adr", m->numeric_adr, m->numeric_size, m->nnumeric, m->nnumericdata,
                     error));
  TRY(tb_check_spans("text_adr", m->text_adr, m->text_size, m->ntext, m->ntextdata, error));
  TRY(tb_check_spans("tuple_adr", m->tuple_adr, m->tuple_size, m->ntuple, m->ntupledata, error));
  for (int i = 0; i < m->ntext; i++) {
    if (m->text_size[i] < 1 || m->text_data[m->text_adr[i] + m->text_size[i] - 1] != 0) {
      return tb_fail(error, TB_ERROR_MODEL, "model: text %d does not end with a zero", i);
    }
  }
  for (int i = 0; i < m->ntupledata; i++) {
    if (!refers(m, m->tuple_objtype[i], m->tuple_objid[i])) return dangling(error, "tuple item", i);
  }
  return TB_OK;
}

tbResult tb_check_objects(const tbModel* m, tbError* error) {
  TRY(check_equalities(m, error));
  TRY(check_tendons(m, error));
  TRY(check_actuators(m, error));
  return check_custom(m, error);
}

static bool has_frame(int type) {
  return type == TB_OBJ_BODY || type == TB_OBJ_XBODY || type == TB_OBJ_GEOM ||
         type == TB_OBJ_SITE || type == TB_OBJ_CAMERA;
}

int tb_contact_data_size(int bits) {
  int size = 0;
  for (int b = 0; b < 7; b++) {
    int one = 1 << b == TB_CONTACT_FOUND || 1 << b == TB_CONTACT_DIST;
    if (bits >> b & 1) size += one ? 1 : 3;
  }
  return size;
}

// Sensors with two objects.
static bool check_two(const tbModel* m, int i) {
  int type = m->sensor_type[i], objtype = m->sensor_objtype[i], reftype = m->sensor_reftype[i];
  bool has_object = m->sensor_objid[i] >= 0, has_other = m->sensor_refid[i] >= 0;
  const int* prm = m->sensor_intprm + 3 * i;
  switch (type) {
    case TB_SENS_CAMPROJECTION: return has_other && reftype == TB_OBJ_CAMERA;
    case TB_SENS_INSIDESITE: return has_other && reftype == TB_OBJ_SITE;
    case TB_SENS_GEOMDIST:
    case TB_SENS_GEOMNORMAL:
    case TB_SENS_GEOMFROMTO:
      return has_other && (objtype == TB_OBJ_GEOM || objtype == TB_OBJ_BODY) &&
             (reftype == TB_OBJ_GEOM || reftype == TB_OBJ_BODY);
    case TB_SENS_CONTACT:
      if (prm[0] <= 0 || prm[0] >> 7 || prm[1] < 0 || prm[1] > TB_REDUCE_NETFORCE || prm[2] < 1 ||
          prm[2] > 10000 || m->sensor_dim[i] != prm[2] * tb_contact_data_size(prm[0])) {
        return false;
      }
      if (has_object && !refers(m, objtype, m->sensor_objid[i])) return false;
      return (!has_object || (has_frame(objtype) && objtype != TB_OBJ_CAMERA)) &&
             (!has_other || (has_frame(reftype) && reftype < TB_OBJ_SITE));
    default: return true;
  }
}

static bool check_sensor(const tbModel* m, int i) {
  const tbSensorKind* kind = &tb_sensor_kinds[m->sensor_type[i]];
  int objtype = m->sensor_objtype[i], id = m->sensor_objid[i];
  int object = tb_sensor_object(kind->target);
  if (!kind->word || !check_two(m, i)) return false;
  if (kind->dim > 0 && m->sensor_dim[i] != kind->dim) return false;
  if (m->sensor_refid[i] != -1 &&
      (!has_frame(m->sensor_reftype[i]) || !refers(m, m->sensor_reftype[i], m->sensor_refid[i]))) {
    return false;
  }
  if (object == TB_OBJ_UNKNOWN) return id == -1 || id == 0 || refers(m, objtype, id);
  if (object == TB_NOBJTYPES) return has_frame(objtype) && refers(m, objtype, id);
  if (object == TB_OBJ_BODY && objtype == TB_OBJ_XBODY) objtype = TB_OBJ_BODY;
  if (objtype != object || !refers(m, objtype, id)) return false;
  if (object != TB_OBJ_JOINT) return true;
  switch (kind->requires) {
    case TB_REQUIRES_BALL: return tb_joint_is_rotation(m->jnt_type[id]);
    case TB_REQUIRES_LIMITED: return tb_joint_limits(m->jnt_type[id]) > 0;
    default: return is_scalar(m, id);
  }
}

tbResult tb_check_sensors(const tbModel* m, tbError* error) {
  TRY(tb_check_range("sensor_type", m->sensor_type, m->nsensor, 0, TB_NSENSORTYPES, error));
  TRY(tb_check_spans("sensor_adr", m->sensor_adr, m->sensor_dim, m->nsensor, m->nsensordata,
                     error));
  int64_t values = 0;
  for (int i = 0; i < m->nsensor; i++) {
    if (!check_sensor(m, i)) return dangling(error, "sensor", i);
    values += m->sensor_dim[i];
  }
  return values == m->nsensordata ? TB_OK
                                  : tb_fail(error, TB_ERROR_MODEL, "model: nsensordata is wrong");
}
