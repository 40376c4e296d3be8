#include "common/model_difference.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"

// Arrays whose values depend on where a name or a note is.
static bool is_text(const char* field) {
  return strncmp(field, "name_", 5) == 0 || strcmp(field, "names") == 0 ||
         strcmp(field, "notes") == 0;
}

static bool near_values(double a, double b, double tolerance) {
  double scale = fabs(a) > 1 ? fabs(a) : 1;
  return a == b || fabs(a - b) <= tolerance * scale;
}

static double value_at(const void* values, const char* type, size_t i) {
  if (strcmp(type, "tbReal") == 0) return ((const tbReal*)values)[i];
  if (strcmp(type, "int") == 0) return ((const int*)values)[i];
  if (strcmp(type, "float") == 0) return (double)((const float*)values)[i];
  if (strcmp(type, "uint16_t") == 0) return ((const uint16_t*)values)[i];
  return ((const char*)values)[i];
}

const char* tb_test_difference(const tbModel* model, const tbModel* other, double tolerance) {
  static char text[300];
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(name, what)                                                                        \
  if (strcmp(#name, "nnotes") != 0 && strcmp(#name, "nnames") != 0 && name != other->name) { \
    snprintf(text, sizeof text, "%s: %d, %d", #name, (int)name, other->name);                \
    return text;                                                                             \
  }
  TB_MODEL_SIZES(X)
#undef X
  if (memcmp(&model->opt, &other->opt, sizeof model->opt) != 0) return "opt";
#define X(type, name, rows, columns, unit, what)                                            \
  for (size_t i = 0, n = is_text(#name) ? 0 : (size_t)((rows) * (columns)); i < n; i++) {   \
    if (memcmp(&model->name[i], &other->name[i], sizeof(type)) == 0) continue;              \
    double a = value_at(model->name, #type, i), b = value_at(other->name, #type, i);        \
    if (tolerance > 0 && near_values(a, b, tolerance)) continue;                            \
    /* A primitive that was fitted to a mesh is written as a primitive. */                  \
    bool fitted = strcmp(#name, "geom_dataid") == 0 && model->geom_type[i] != TB_GEOM_MESH; \
    if (tolerance > 0 && fitted) continue;                                                  \
    snprintf(text, sizeof text, "%s[%d]: %.17g, %.17g", #name, (int)i, a, b);               \
    return text;                                                                            \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  for (int type = TB_OBJ_BODY; type < TB_NOBJTYPES; type++) {
    for (int i = 0; i < 100000 && i < model->nnames; i++) {
      const char* name = tb_id2name(model, (tbObjType)type, i);
      if (!*name || strcmp(name, tb_id2name(other, (tbObjType)type, i)) == 0) continue;
      snprintf(text, sizeof text, "the name %.100s", name);
      return text;
    }
  }
  return NULL;
}
