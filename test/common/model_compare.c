#include "common/model_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/test.h"
#include "model/model.h"
#include "spatial/quat.h"

// Has the peer's version something else under this name?
static bool is_unlike(const tbCompare* c, const char* field) {
  for (int i = 0; c->unlike && c->unlike[i]; i++) {
    if (strcmp(c->unlike[i], field) == 0) return true;
  }
  return false;
}

static void report(tbCompare* c, const char* field, int row, int entry, double a, double b,
                   int count) {
  c->failures++;
  print_error("%s: %s: %d entries differ, the first at [%d][%d]: %.17g here, %.17g in MuJoCo\n",
              c->model, field, count, row, entry, a, b);
}

void tb_compare_rows(tbCompare* c, const char* field, const double* a, const double* b, int rows,
                     int columns, double tolerance) {
  int count = 0, first = 0, entry = 0;
  c->fields++;
  for (int i = 0; i < rows; i++) {
    const double *x = a + (size_t)i * (size_t)columns, *y = b + (size_t)i * (size_t)columns;
    double scale = 0;
    for (int k = 0; k < columns; k++) {
      if (isfinite(x[k]) && isfinite(y[k])) scale = fmax(scale, fmax(fabs(x[k]), fabs(y[k])));
    }
    for (int k = 0; k < columns; k++) {
      // Ranges may be infinite.
      if (x[k] == y[k]) continue;
      if (fabs(x[k] - y[k]) <= tolerance * scale + 1e-15) continue;
      if (count++ == 0) {
        first = i;
        entry = k;
      }
    }
  }
  size_t at = (size_t)first * (size_t)columns + (size_t)entry;
  if (count) report(c, field, first, entry, a[at], b[at], count);
}

void tb_compare_ints(tbCompare* c, const char* field, const int* a, const double* b, int n) {
  int count = 0, first = 0;
  c->fields++;
  for (int i = 0; i < n; i++) {
    if (a[i] != b[i] && count++ == 0) first = i;
  }
  if (count) report(c, field, first, 0, a[first], b[first], count);
}

void tb_compare_quats(tbCompare* c, const char* field, const double* a, const double* b, int n,
                      double tolerance) {
  int count = 0, first = 0;
  c->fields++;
  for (int i = 0; i < n; i++) {
    const double *p = a + 4 * (size_t)i, *q = b + 4 * (size_t)i;
    double dot = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3], sign = dot < 0 ? -1 : 1;
    double worst = 0;
    for (int k = 0; k < 4; k++) worst = fmax(worst, fabs(p[k] - sign * q[k]));
    if (!(worst <= tolerance) && count++ == 0) first = i;
  }
  if (count) report(c, field, first, 0, a[4 * (size_t)first], b[4 * (size_t)first], count);
}

// R diag(moments) R^T
static void inertia_matrix(const double* quat, const double* moments, double I[9]) {
  double R[9];
  tb_quat_to_mat(R, quat);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      I[3 * i + j] = 0;
      for (int k = 0; k < 3; k++) I[3 * i + j] += R[3 * i + k] * moments[k] * R[3 * j + k];
    }
  }
}

void tb_compare_inertia(tbCompare* c, const tbModel* m, const double* iquat, const double* inertia,
                        double tolerance) {
  if (is_unlike(c, "inertia")) return;
  double* ours = calloc(9 * (size_t)m->nbody, sizeof *ours);
  double* theirs = calloc(9 * (size_t)m->nbody, sizeof *theirs);
  for (int i = 0; i < m->nbody; i++) {
    inertia_matrix(m->body_iquat + 4 * i, m->body_inertia + 3 * i, ours + 9 * i);
    inertia_matrix(iquat + 4 * i, inertia + 3 * i, theirs + 9 * i);
  }
  tb_compare_rows(c, "inertia", ours, theirs, m->nbody, 9, tolerance);
  free(ours);
  free(theirs);
}

// ---- MuJoCo's newest model ----------------------------------------------------------------------

// Fields that are not the same thing in both, and why. Everything else that has the same name is
// compared entry by entry.
static const struct {
  const char* field;
  const char* why;
} NOT_COMPARED[] = {
    {"body_inertia", "as a matrix, with body_iquat"},
    {"body_iquat", "as a matrix, with body_inertia"},
    {"geom_fluid", "a switch here, twelve coefficients there"},
    {"geom_size", "by compare_geoms"},
    {"geom_aabb", "by compare_geoms"},
    {"geom_rbound", "by compare_geoms"},
    {"geom_pos", "by compare_geoms"},
    {"geom_quat", "by compare_geoms"},
    {"mesh_pos", "by compare_geoms"},
    {"mesh_quat", "by compare_geoms"},
    {"mesh_vert", "rounded to float there"},
    {"mesh_face", "vertices are numbered otherwise"},
    {"mesh_vertnum", "vertices are merged otherwise"},
    {"mesh_vertadr", "vertices are merged otherwise"},
    {"eq_data", "unused, and not zero there, where sites are joined"},
    {"sensor_objtype", "by compare_enums"},
    {"sensor_reftype", "by compare_enums"},
    {"tuple_objtype", "by compare_enums"},
    {"eq_objtype", "by compare_enums"},
    {"geom_sameframe", "a hint for speed: MuJoCo's tolerance for sameness is its own"},
    {"body_sameframe", "a hint for speed: MuJoCo's tolerance for sameness is its own"},
    {"site_sameframe", "a hint for speed: MuJoCo's tolerance for sameness is its own"},
    {"M_rowadr", "MuJoCo leaves out zeros of bodies whose inertia is diagonal"},
    {"M_rownnz", "MuJoCo leaves out zeros of bodies whose inertia is diagonal"},
    {"M_colind", "MuJoCo leaves out zeros of bodies whose inertia is diagonal"},
    {"actuator_lengthrange", "simulated: to 1e-6"},
    {"cam_intrinsic", "of cameras without a sensor it follows how the scene is drawn"},
    {"actuator_dyntype", "by compare_enums"},
    {"actuator_gaintype", "by compare_enums"},
    {"actuator_biastype", "by compare_enums"},
};

static bool is_compared(const tbCompare* c, const char* field) {
  if (is_unlike(c, field)) return false;
  for (size_t i = 0; i < sizeof NOT_COMPARED / sizeof NOT_COMPARED[0]; i++) {
    if (strcmp(NOT_COMPARED[i].field, field) == 0) return false;
  }
  // Names are compared as strings.
  return strncmp(field, "name_", 5) != 0 && strcmp(field, "names") != 0;
}

static void compare_array(tbCompare* c, const tbOracle* oracle, const char* field, const char* type,
                          const void* values, int64_t rows, int64_t columns) {
  if (!is_compared(c, field)) return;
  const tbOracleField* theirs = tb_oracle_model(oracle, field);
  if (!theirs) return;
  if ((int64_t)theirs->rows * theirs->columns != rows * columns) {
    c->failures++;
    print_error("%s: %s: %d values here, %d in MuJoCo\n", c->model, field, (int)(rows * columns),
                theirs->rows * theirs->columns);
    return;
  }
  // MuJoCo has these in single precision.
  static const char* const FLOATS[] = {"cam_fovy", "cam_sensorsize", "hfield_data"};
  double tolerance = c->tolerance;
  for (size_t i = 0; i < sizeof FLOATS / sizeof FLOATS[0]; i++) {
    if (strcmp(FLOATS[i], field) == 0) tolerance = 1e-6;
  }
  bool quat = strlen(field) > 5 && strcmp(field + strlen(field) - 5, "_quat") == 0;
  if (strcmp(type, "int") == 0) {
    tb_compare_ints(c, field, values, theirs->values, (int)(rows * columns));
  } else if (quat) {
    tb_compare_quats(c, field, values, theirs->values, (int)rows, tolerance);
  } else if (strcmp(type, "tbReal") == 0) {
    tb_compare_rows(c, field, values, theirs->values, (int)rows, (int)columns, tolerance);
  }
}

static void compare_names(tbCompare* c, const tbModel* m, const tbOracle* oracle) {
  const tbOracleField* pool = tb_oracle_model(oracle, "names");
  const struct {
    const char* field;
    tbObjType type;
    int n;
  } kinds[] = {
      {"name_bodyadr", TB_OBJ_BODY, m->nbody},
      {"name_jntadr", TB_OBJ_JOINT, m->njnt},
      {"name_geomadr", TB_OBJ_GEOM, m->ngeom},
      {"name_siteadr", TB_OBJ_SITE, m->nsite},
      {"name_camadr", TB_OBJ_CAMERA, m->ncam},
      {"name_lightadr", TB_OBJ_LIGHT, m->nlight},
      {"name_meshadr", TB_OBJ_MESH, m->nmesh},
      {"name_hfieldadr", TB_OBJ_HFIELD, m->nhfield},
      {"name_pairadr", TB_OBJ_PAIR, m->npair},
      {"name_excludeadr", TB_OBJ_EXCLUDE, m->nexclude},
      {"name_eqadr", TB_OBJ_EQUALITY, m->neq},
      {"name_tendonadr", TB_OBJ_TENDON, m->ntendon},
      {"name_actuatoradr", TB_OBJ_ACTUATOR, m->nu},
      {"name_sensoradr", TB_OBJ_SENSOR, m->nsensor},
      {"name_numericadr", TB_OBJ_NUMERIC, m->nnumeric},
      {"name_textadr", TB_OBJ_TEXT, m->ntext},
      {"name_tupleadr", TB_OBJ_TUPLE, m->ntuple},
      {"name_keyadr", TB_OBJ_KEY, m->nkey},
  };
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    const tbOracleField* adr = tb_oracle_model(oracle, kinds[k].field);
    if (!adr) continue;
    c->fields++;
    for (int i = 0; i < kinds[k].n && i < adr->rows; i++) {
      const char* ours = tb_id2name(m, kinds[k].type, i);
      const char* theirs = pool->text + (int)adr->values[i];
      if (strcmp(ours, theirs) == 0) continue;
      c->failures++;
      print_error("%s: %s: '%s' here, '%s' in MuJoCo\n", c->model, kinds[k].field, ours, theirs);
      break;
    }
  }
}

// The frame in which the file placed geom i: its own frame with the mesh's taken out.
static void placed_frame(const double* pos, const double* quat, const double* mesh_pos,
                         const double* mesh_quat, double placed[7]) {
  double inverse[4], shift[3];
  tb_quat_conjugate(inverse, mesh_quat);
  tb_quat_mul(placed + 3, quat, inverse);
  tb_quat_rotate(shift, placed + 3, mesh_pos);
  tb_sub3(placed, pos, shift);
}

// Geoms. A mesh's own frame has the principal axes of its shape: where two moments are (nearly) the
// same the choice is free, so meshes are compared by where they are put, and by their bounds only
// where both chose the same axes.
static void compare_geoms(tbCompare* c, const tbModel* m, const tbOracle* oracle) {
  static const struct {
    const char* name;
    int columns;
  } bounds[] = {{"geom_size", 3}, {"geom_aabb", 6}, {"geom_rbound", 1}};
  const double* pos = tb_oracle_model(oracle, "geom_pos")->values;
  const double* quat = tb_oracle_model(oracle, "geom_quat")->values;
  // An older MuJoCo does not keep the frames of meshes: only the other geoms are compared then.
  const tbOracleField* mesh_frame = tb_oracle_model(oracle, "mesh_pos");
  const double* mesh_pos = mesh_frame ? mesh_frame->values : NULL;
  const double* mesh_quat = mesh_frame ? tb_oracle_model(oracle, "mesh_quat")->values : NULL;
  int failures = c->failures;
  for (int i = 0; i < m->ngeom && c->failures == failures; i++) {
    const double *p = m->geom_pos + 3 * i, *q = m->geom_quat + 4 * i;
    int mesh = m->geom_type[i] == TB_GEOM_MESH ? m->geom_dataid[i] : -1;
    double tolerance = m->geom_dataid[i] >= 0 ? c->mesh : c->tolerance;
    bool same_axes = true;
    if (mesh >= 0 && !mesh_frame) continue;
    if (mesh < 0) {
      tb_compare_rows(c, "geom_pos", p, pos + 3 * i, 1, 3, tolerance);
      tb_compare_quats(c, "geom_quat", q, quat + 4 * i, 1, tolerance);
    } else {
      double ours[7], theirs[7];
      const double *a = m->mesh_quat + 4 * mesh, *b = mesh_quat + 4 * mesh;
      placed_frame(p, q, m->mesh_pos + 3 * mesh, a, ours);
      placed_frame(pos + 3 * i, quat + 4 * i, mesh_pos + 3 * mesh, b, theirs);
      for (int k = 0; k < 3; k++) assert_near(ours[k], theirs[k], 1e-12);
      tb_compare_quats(c, "geom_quat", ours + 3, theirs + 3, 1, c->tolerance);
      double dot = fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
      same_axes = dot > 1 - 1e-14;
      c->turned += !same_axes;
      // Float vertices there: the centre agrees to about 1e-6 of the mesh's size.
      tb_compare_rows(c, "mesh_pos", m->mesh_pos + 3 * mesh, mesh_pos + 3 * mesh, 1, 3, 1e-5);
    }
    for (int k = 0; k < 3 && same_axes; k++) {
      int n = bounds[k].columns;
      const tbOracleField* theirs = tb_oracle_model(oracle, bounds[k].name);
      const double* all[3] = {m->geom_size, m->geom_aabb, m->geom_rbound};
      if (!theirs) continue;
      tb_compare_rows(c, bounds[k].name, all[k] + (size_t)(n * i), theirs->values + (size_t)(n * i),
                      1, n, tolerance);
    }
  }
}

// ---- enumerations that are numbered otherwise ---------------------------------------------------

static int mujoco_object(int type) {
  static const int number[TB_NOBJTYPES] = {
      [TB_OBJ_UNKNOWN] = 0,  [TB_OBJ_BODY] = 1,      [TB_OBJ_XBODY] = 2,   [TB_OBJ_JOINT] = 3,
      [TB_OBJ_DOF] = 4,      [TB_OBJ_GEOM] = 5,      [TB_OBJ_SITE] = 6,    [TB_OBJ_CAMERA] = 7,
      [TB_OBJ_LIGHT] = 8,    [TB_OBJ_MESH] = 10,     [TB_OBJ_HFIELD] = 12, [TB_OBJ_PAIR] = 15,
      [TB_OBJ_EXCLUDE] = 16, [TB_OBJ_EQUALITY] = 17, [TB_OBJ_TENDON] = 18, [TB_OBJ_ACTUATOR] = 19,
      [TB_OBJ_SENSOR] = 20,  [TB_OBJ_NUMERIC] = 21,  [TB_OBJ_TEXT] = 22,   [TB_OBJ_TUPLE] = 23,
      [TB_OBJ_KEY] = 24};
  return number[type];
}

// New kinds of actuators stand before the user's.
static int mujoco_dyn(int type) {
  return type == TB_DYN_USER ? 7 : type;
}

static int mujoco_gain(int type) {
  return type == TB_GAIN_USER ? 6 : type;
}

static int mujoco_bias(int type) {
  return type == TB_BIAS_USER ? 5 : type;
}

static void compare_enums(tbCompare* c, const tbModel* m, const tbOracle* oracle) {
  const struct {
    const char* field;
    const int* ours;
    int n;
    int (*number)(int type);
  } lists[] = {
      {"sensor_objtype", m->sensor_objtype, m->nsensor, mujoco_object},
      {"sensor_reftype", m->sensor_reftype, m->nsensor, mujoco_object},
      {"tuple_objtype", m->tuple_objtype, m->ntupledata, mujoco_object},
      {"actuator_dyntype", m->actuator_dyntype, m->nu, mujoco_dyn},
      {"actuator_gaintype", m->actuator_gaintype, m->nu, mujoco_gain},
      {"actuator_biastype", m->actuator_biastype, m->nu, mujoco_bias},
  };
  for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
    if (is_unlike(c, lists[k].field)) continue;
    int* renumbered = calloc((size_t)lists[k].n + 1, sizeof *renumbered);
    for (int i = 0; i < lists[k].n; i++) renumbered[i] = lists[k].number(lists[k].ours[i]);
    tb_compare_ints(c, lists[k].field, renumbered, tb_oracle_model(oracle, lists[k].field)->values,
                    lists[k].n);
    free(renumbered);
  }
  // MuJoCo names the type of object only where there is a choice.
  const tbOracleField* objtype = tb_oracle_model(oracle, "eq_objtype");
  const tbOracleField* data = tb_oracle_model(oracle, "eq_data");
  if (!objtype) return;
  for (int i = 0; i < m->neq; i++) {
    if (m->eq_objtype[i] != TB_OBJ_SITE) {
      tb_compare_rows(c, "eq_data", m->eq_data + TB_NEQDATA * i, data->values + TB_NEQDATA * i, 1,
                      TB_NEQDATA, c->tolerance);
    }
    if (m->eq_type[i] > TB_EQ_WELD) continue;
    int ours = mujoco_object(m->eq_objtype[i]);
    tb_compare_ints(c, "eq_objtype", &ours, objtype->values + i, 1);
  }
}

static void compare_options(tbCompare* c, const tbModel* m, const tbOracle* oracle) {
  char name[64];
  tbOption option = m->opt;
  const tbOption* o = &option;
  // MuJoCo has moved multiccd to the disable flags, and what came behind it one bit down.
  option.enableflags &= ~TB_ENABLE_MULTICCD;
  if (m->opt.enableflags & TB_ENABLE_SLEEP) option.enableflags ^= TB_ENABLE_SLEEP | (1 << 4);
#define X(type, field, count, value, allowed, unit, what)                          \
  {                                                                                \
    const char* theirs_name = strcmp(#field, "mjsolver") == 0 ? "solver" : #field; \
    snprintf(name, sizeof name, "opt.%s", theirs_name);                            \
    const tbOracleField* theirs = tb_oracle_model(oracle, name);                   \
    bool ours_only = strcmp(#field, "solver") == 0 || strcmp(#field, "law") == 0;  \
    if (theirs && !ours_only && theirs->rows == count) {                           \
      const type* values = (const type*)&o->field;                                 \
      double widened[5];                                                           \
      for (int k = 0; k < count; k++) widened[k] = (double)values[k];              \
      tb_compare_rows(c, name, widened, theirs->values, 1, count, c->tolerance);   \
    }                                                                              \
  }
  TB_OPTION_FIELDS(X)
#undef X
}

void tb_compare_model(tbCompare* c, const tbModel* model, const tbOracle* oracle) {
  // Sizes first: arrays of different sizes cannot be compared.
  static const char* const UNLIKE[] = {"nnames", "nmeshvert", "nmeshface", "nM", "nJten", "nJmom"};
#define X(name, what)                                                                         \
  {                                                                                           \
    bool skip = is_unlike(c, #name);                                                          \
    for (size_t k = 0; k < sizeof UNLIKE / sizeof UNLIKE[0]; k++) {                           \
      skip |= strcmp(UNLIKE[k], #name) == 0;                                                  \
    }                                                                                         \
    int theirs = tb_oracle_size(oracle, #name);                                               \
    if (!skip && theirs >= 0 && theirs != model->name) {                                      \
      c->failures++;                                                                          \
      print_error("%s: %s is %d here, %d in MuJoCo\n", c->model, #name, model->name, theirs); \
    }                                                                                         \
  }
  TB_MODEL_SIZES(X)
#undef X
  if (c->failures) return;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what) \
  compare_array(c, oracle, #name, #type, model->name, rows, columns);
  TB_MODEL_ARRAYS(X)
#undef X
  const tbOracleField* camera = tb_oracle_model(oracle, "cam_intrinsic");
  for (int i = 0; camera && i < model->ncam; i++) {
    if (!(model->cam_sensorsize[2 * i] > 0)) continue;
    tb_compare_rows(c, "cam_intrinsic", model->cam_intrinsic + 4 * i, camera->values + 4 * i, 1, 4,
                    1e-6);
  }
  const tbOracleField* range = tb_oracle_model(oracle, "actuator_lengthrange");
  if (!is_unlike(c, "actuator_lengthrange"))
    tb_compare_rows(c, "actuator_lengthrange", model->actuator_lengthrange, range->values,
                    model->nu, 2, 1e-6);
  tb_compare_inertia(c, model, tb_oracle_model(oracle, "body_iquat")->values,
                     tb_oracle_model(oracle, "body_inertia")->values, c->tolerance);
  compare_names(c, model, oracle);
  compare_geoms(c, model, oracle);
  compare_enums(c, model, oracle);
  compare_options(c, model, oracle);
}
