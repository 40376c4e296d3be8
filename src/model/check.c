// Conditions that a model must satisfy before any algorithm uses it: after these checks none of its
// indices points outside an array, wherever the model came from.
#include "model/check.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "model/value_rules.h"

tbResult tb_check_range(const char* field, const int* a, int64_t n, int64_t low, int64_t high,
                        tbError* error) {
  for (int64_t i = 0; i < n; i++) {
    if (a[i] < low || a[i] >= high) {
      return tb_fail(error, TB_ERROR_MODEL, "model: %s[%lld] is %d, expected %lld to %lld", field,
                     (long long)i, a[i], (long long)low, (long long)high - 1);
    }
  }
  return TB_OK;
}

tbResult tb_check_spans(const char* field, const int* address, const int* count, int n, int total,
                        tbError* error) {
  for (int i = 0; i < n; i++) {
    bool inside = count[i] == 0 ? address[i] >= -1 && address[i] <= total
                                : address[i] >= 0 && (int64_t)address[i] + count[i] <= total;
    if (count[i] < 0 || !inside) {
      return tb_fail(error, TB_ERROR_MODEL, "model: %s[%d]: %d entries from %d do not fit in %d",
                     field, i, count[i], address[i], total);
    }
  }
  return TB_OK;
}

tbResult tb_check_rows(const char* field, const int* start, int n, int64_t* entries,
                       tbError* error) {
  bool good = start[0] == 0;
  for (int i = 0; i < n && good; i++) good = start[i] <= start[i + 1];
  *entries = start[n];
  return good ? TB_OK : tb_fail(error, TB_ERROR_MODEL, "model: %s does not ascend from 0", field);
}

// Parts of a model whose arrays begin with a word.
static const struct {
  const char *prefix, *kind;
  tbObjType type;
  size_t count;  // offset of their number in tbModel
} OWNERS[] = {{"body_", "body", TB_OBJ_BODY, offsetof(tbModel, nbody)},
              {"jnt_", "joint", TB_OBJ_JOINT, offsetof(tbModel, njnt)},
              {"geom_", "geom", TB_OBJ_GEOM, offsetof(tbModel, ngeom)},
              {"site_", "site", TB_OBJ_SITE, offsetof(tbModel, nsite)},
              {"cam_", "camera", TB_OBJ_CAMERA, offsetof(tbModel, ncam)},
              {"eq_", "equality", TB_OBJ_EQUALITY, offsetof(tbModel, neq)},
              {"tendon_", "tendon", TB_OBJ_TENDON, offsetof(tbModel, ntendon)},
              {"actuator_", "actuator", TB_OBJ_ACTUATOR, offsetof(tbModel, nu)},
              {"sensor_", "sensor", TB_OBJ_SENSOR, offsetof(tbModel, nsensor)}};

// "body_mass[1] ('cube')", "geom_friction[3] (geom 1 'cube', number 0)": value `i` of `n`.
static void describe(const tbModel* m, const char* field, int64_t n, int64_t i, char text[192]) {
  int used = snprintf(text, 192, "%.60s[%lld]", field, (long long)i);
  for (size_t k = 0; k < sizeof OWNERS / sizeof *OWNERS; k++) {
    if (strncmp(field, OWNERS[k].prefix, strlen(OWNERS[k].prefix)) != 0) continue;
    int count = *(const int*)(const void*)((const char*)m + OWNERS[k].count);
    if (count < 1 || n % count != 0) continue;
    int64_t each = n / count;
    const char* name = tb_id2name(m, OWNERS[k].type, (int)(i / each));
    const char *quote = *name ? "'" : "", *blank = *name ? " " : "";
    if (each == 1 && *name) snprintf(text + used, 192 - (size_t)used, " ('%.80s')", name);
    if (each > 1) {
      snprintf(text + used, 192 - (size_t)used, " (%s %d%s%s%.80s%s, number %d)", OWNERS[k].kind,
               (int)(i / each), blank, quote, name, quote, (int)(i % each));
    }
  }
}

// Rows of `columns` values that are unit vectors.
static tbResult check_units(const char* field, const tbReal* x, int64_t n, int columns,
                            tbError* error) {
  for (int64_t i = 0; i + columns <= n; i += columns) {
    tbReal norm = 0;
    for (int k = 0; k < columns; k++) norm += x[i + k] * x[i + k];
    if (!(fabs(norm - 1) < 1e-6)) {
      return tb_fail(error, TB_ERROR_MODEL, "%s[%lld] is not a unit %s", field,
                     (long long)(i / columns), columns == 4 ? "quaternion" : "vector");
    }
  }
  return TB_OK;
}

// The condition on the values of an array, as text; "" without a rule.
static const char* allowed_values(const char* field) {
#define X(name, allowed) \
  if (strcmp(field, #name) == 0) return #allowed;
  TB_VALUE_RULES(X)
#undef X
  return "";
}

static tbResult refuse_value(const tbModel* m, const char* field, const tbReal* values, int64_t n,
                             int64_t i, tbError* error) {
  char where[192];
  const bool is_range = tb_ends_with(field, "range"), finite = isfinite(values[i]);
  const char* rule = allowed_values(field);
  describe(m, field, n, i, where);
  return tb_fail(error, TB_ERROR_MODEL, "%s is %g, expected %s%s", where,
                 isnan(values[i]) ? NAN : values[i],
                 finite     ? ""
                 : is_range ? "a number"
                 : *rule    ? "a finite "
                            : "a finite number",
                 rule);
}

tbResult tb_check_values(const tbModel* m, const char* field, const tbReal* values, int64_t n,
                         tbError* error) {
  if (tb_ends_with(field, "user") || strcmp(field, "numeric_data") == 0) return TB_OK;
  const bool is_range = tb_ends_with(field, "range");
  for (int64_t i = 0; i < n; i++) {
    if (is_range ? isnan(values[i]) : !isfinite(values[i])) {
      return refuse_value(m, field, values, n, i, error);
    }
  }
#define X(name, allowed)                                                  \
  if (strcmp(field, #name) == 0) {                                        \
    for (int64_t i = 0; i < n; i++) {                                     \
      const tbReal x = values[i];                                         \
      if (!(allowed)) return refuse_value(m, field, values, n, i, error); \
    }                                                                     \
  }
  TB_VALUE_RULES(X)
#undef X
#define X(name, columns) \
  if (strcmp(field, #name) == 0) return check_units(field, values, n, columns, error);
  TB_UNIT_ROWS(X)
#undef X
  return TB_OK;
}

// An error of a value, as one of a model.
static tbResult of_model(tbResult result, tbError* error) {
  if (result == TB_OK || !error) return result;
  tbError value = *error;
  return tb_fail(error, result, "model: %.240s", value.message);
}

// Ranges may be infinite, and user data may have any value.
static tbResult check_numbers(const tbModel* model, tbError* error) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define TB_IS_REAL_tbReal 1
#define TB_IS_REAL_int 0
#define TB_IS_REAL_char 0
#define TB_IS_REAL_float 0
#define TB_IS_REAL_uint16_t 0
#define X(type, name, rows, columns, unit, what)                                             \
  if (TB_IS_REAL_##type) {                                                                   \
    tbResult result = tb_check_values(model, #name, (const tbReal*)(const void*)model->name, \
                                      (rows) * (columns), error);                            \
    if (result) return of_model(result, error);                                              \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  return TB_OK;
}

// Offsets into the pool of names, and pools that must end with a zero.
static tbResult check_names(const tbModel* model, tbError* error) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  if (nnames < 1 || model->names[nnames - 1] != 0 || (nnotes && model->notes[nnotes - 1] != 0)) {
    return tb_fail(error, TB_ERROR_MODEL, "model: names or notes do not end with a zero");
  }
#define X(type, name, rows, columns, unit, what)                                               \
  if (strncmp(#name, "name_", 5) == 0) {                                                       \
    tbResult result =                                                                          \
        tb_check_range(#name, (const int*)model->name, (rows) * (columns), -1, nnames, error); \
    if (result) return result;                                                                 \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  return TB_OK;
}

static tbResult check_sizes(const tbModel* model, tbError* error) {
#define X(name, what)                                                           \
  if (model->name < 0) {                                                        \
    return tb_fail(error, TB_ERROR_MODEL, "model: size %s is negative", #name); \
  }
  TB_MODEL_SIZES(X)
#undef X
  // This size does not bound an array of the model.
  if (model->nuserdata > (1 << 26)) {
    return tb_fail(error, TB_ERROR_MODEL, "model: nuserdata is %d", model->nuserdata);
  }
  if (model->nbody < 1) return tb_fail(error, TB_ERROR_MODEL, "model: no world body");
  if (!tb_model_is_laid_out(model)) {
    return tb_fail(error, TB_ERROR_MODEL,
                   "model: sizes differ from those for which its arrays were allocated");
  }
  if (!isfinite(model->total_mass) || !isfinite(model->extent) || !isfinite(model->mean_inertia) ||
      !isfinite(model->load_to_inertia)) {
    return tb_fail(
        error, TB_ERROR_MODEL,
        "model: mass %g kg, extent %g m, mean inertia %g, load_to_inertia %g: not all are finite",
        model->total_mass, model->extent, model->mean_inertia, model->load_to_inertia);
  }
  return TB_OK;
}

// One word at a time, since every step of a debug build computes this hash.
static uint64_t mix(uint64_t hash, const int* x, int64_t n) {
  for (int64_t i = 0; i < n; i++) hash = (hash ^ (uint32_t)x[i]) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 32);
}

// The arrays of meshes are large and left out; an invalid contact dimension is reported when the
// contact is made.
static bool is_structure(const char* type, const char* name) {
  return strcmp(type, "int") == 0 && strncmp(name, "hull_", 5) != 0 &&
         strcmp(name, "mesh_face") != 0 && strcmp(name, "geom_condim") != 0 &&
         strcmp(name, "pair_dim") != 0;
}

uint64_t tb_model_structure(const tbModel* model) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  uint64_t hash = TB_HASH_SEED;
#define X(name, what) hash = mix(hash, &model->name, 1);
  TB_MODEL_SIZES(X)
#undef X
#define X(type, name, rows, columns, unit, what)                                \
  if (is_structure(#type, #name)) {                                             \
    hash = mix(hash, (const int*)(const void*)model->name, (rows) * (columns)); \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  return hash;
}

tbResult tb_model_check_only(const tbModel* model, tbError* error) {
  static tbResult (*const PARTS[])(const tbModel*, tbError*) = {
      check_sizes,     check_numbers,    check_names,      tb_check_tree,
      tb_check_shapes, tb_check_objects, tb_check_sensors, tb_check_option};
  tb_error_clear(error);
  if (!model) return tb_fail(error, TB_ERROR_ARGUMENT, "tb_model_check: model is NULL");
  for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
    tbResult result = PARTS[i](model, error);
    if (result) return result;
  }
  return TB_OK;
}

tbResult tb_model_check(const tbModel* model, tbError* error) {
  tbResult result = tb_model_check_only(model, error);
  if (result == TB_OK) tb_model_set_passed(model, tb_model_structure(model));
  return result;
}
