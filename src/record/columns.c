#include "record/columns.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

// Fields of a recording that are no arrays of tbData (record.c).
static const char* const SPECIAL[] = {"time", "energy", "ncon", "residual_exact", "contacts"};
enum { SPECIALS = sizeof SPECIAL / sizeof *SPECIAL };

bool tb_record_field_find(const tbModel* m, const char* name, tbField* field) {
#define X(type, array, rows, columns, unit, what)                      \
  if (strcmp(name, #array) == 0 && strncmp(name, "scratch", 7) != 0) { \
    *field = (tbField){.width = m->rows * (columns),                   \
                       .offset = offsetof(tbData, array),              \
                       .integers = sizeof(type) != sizeof(tbReal),     \
                       .part = #rows,                                  \
                       .per_part = (columns)};                         \
    snprintf(field->name, sizeof field->name, "%.31s", name);          \
    return true;                                                       \
  }
  TB_DATA_ARRAYS(X)
#undef X
  return false;
}

// ---- names of parts ----------------------------------------------------------------------------

// Parts whose rows are counted by a size of the model.
static const struct {
  const char* size;
  tbObjType type;
} PARTS[] = {{"nbody", TB_OBJ_BODY},   {"njnt", TB_OBJ_JOINT},  {"ngeom", TB_OBJ_GEOM},
             {"nsite", TB_OBJ_SITE},   {"ncam", TB_OBJ_CAMERA}, {"ntendon", TB_OBJ_TENDON},
             {"neq", TB_OBJ_EQUALITY}, {"nu", TB_OBJ_ACTUATOR}};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

// The last part whose first value is not behind `i`, of parts with ascending addresses.
static int part_at(const int* first, int count, int i) {
  int low = 0, high = count;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (first[middle] <= i) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

const char* tb_field_part(const tbModel* m, const tbField* f, int i, int* component, bool* only) {
  const int* first = NULL;
  int count = 0, end = f->width;
  tbObjType type = TB_OBJ_JOINT;
  int per_part = f->per_part > 0 ? f->per_part : 1, row = i / per_part;
  *component = i % per_part;
  *only = per_part == 1;
  if (strcmp(f->part, "nq") == 0) first = m->jnt_qposadr, count = m->njnt;
  if (strcmp(f->part, "nv") == 0) first = m->jnt_dofadr, count = m->njnt;
  if (strcmp(f->part, "nsensordata") == 0) {
    first = m->sensor_adr, count = m->nsensor, type = TB_OBJ_SENSOR;
  }
  if (first && count > 0) {
    int part = part_at(first, count, row);
    end = part + 1 < count ? first[part + 1] : f->width / per_part;
    *component = i - first[part] * per_part;
    *only = (end - first[part]) * per_part == 1;
    return tb_id2name(m, type, part);
  }
  for (int k = 0; k < PART_COUNT; k++) {
    if (strcmp(f->part, PARTS[k].size) == 0) return tb_id2name(m, PARTS[k].type, row);
  }
  return "";
}

void tb_field_column(const tbModel* m, const tbField* f, int i, char text[TB_COLUMN_TEXT]) {
  int component;
  bool only;
  const char* part = tb_field_part(m, f, i, &component, &only);
  if (f->width == 1 && !*f->part) {
    snprintf(text, TB_COLUMN_TEXT, "%s", f->name);
  } else if (!*part) {
    snprintf(text, TB_COLUMN_TEXT, "%s%d", f->name, i);
  } else if (only) {
    snprintf(text, TB_COLUMN_TEXT, "%s:%.190s", f->name, part);
  } else {
    snprintf(text, TB_COLUMN_TEXT, "%s:%.190s:%d", f->name, part, component);
  }
}

const char* tb_field_nearest(const char* wrong) {
  const char* best = "";
  int least = (int)strlen(wrong) / 3 + 1;
#define OFFER(name)                             \
  if (tb_edit_distance(wrong, name) <= least) { \
    best = name;                                \
    least = tb_edit_distance(wrong, name) - 1;  \
  }
  for (int k = 0; k < SPECIALS; k++) {
    OFFER(SPECIAL[k])
  }
#define X(type, array, rows, columns, unit, what) \
  if (strncmp(#array, "scratch", 7) != 0) {       \
    OFFER(#array)                                 \
  }
  TB_DATA_ARRAYS(X)
#undef X
#undef OFFER
  return best;
}
