#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { ALIGNMENT = 64 };
static const size_t LARGEST_BLOCK = (size_t)1 << 40;

// Upper bound of a size, so that products of a size with its columns fit an int64_t.
enum { LARGEST_SIZE = 1 << 30 };

static size_t padded(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

// Data at the end of a block: the sizes for which it was allocated, and the structure hash of the
// model when it last passed tb_model_check; 0 before.
typedef struct {
  uint64_t passed;
  int size[TB_MODEL_NSIZES];
} Notes;

static Notes get_notes(const tbModel* model) {
  Notes notes;
  memcpy(&notes, (const char*)model->block + model->block_size - sizeof notes, sizeof notes);
  return notes;
}

static void set_notes(const tbModel* model, const Notes* notes) {
  memcpy((char*)model->block + model->block_size - sizeof *notes, notes, sizeof *notes);
}

uint64_t tb_model_passed(const tbModel* model) {
  return get_notes(model).passed;
}

void tb_model_set_passed(const tbModel* model, uint64_t structure) {
  Notes notes = get_notes(model);
  if (notes.passed == structure) return;
  notes.passed = structure;
  set_notes(model, &notes);
}

// Bytes of the block, or 0 if a size is out of range.
static size_t block_bytes(const tbModel* model) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  size_t total = ALIGNMENT + sizeof(Notes);
  // Some sizes are used only for a world's arrays.
#define X(name, what) \
  if (model->name < 0 || model->name > LARGEST_SIZE) return 0;
  TB_MODEL_SIZES(X)
#undef X
#define X(type, name, rows, columns, unit, what)                                       \
  {                                                                                    \
    int64_t r = (rows), c = (columns);                                                 \
    if (r < 0 || c < 0 || r > LARGEST_SIZE || c > (int64_t)4 * LARGEST_SIZE) return 0; \
    if (c && (uint64_t)r > LARGEST_BLOCK / sizeof(type) / (uint64_t)c) return 0;       \
    total += padded((size_t)r * (size_t)c * sizeof(type));                             \
    if (total > LARGEST_BLOCK) return 0;                                               \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  return total;
}

// Point every array into the block.
static void set_pointers(tbModel* model) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  uintptr_t at = ((uintptr_t)model->block + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
#define X(type, name, rows, columns, unit, what) \
  model->name = (type*)at;                       \
  at += padded((size_t)((rows) * (columns)) * sizeof(type));
  TB_MODEL_ARRAYS(X)
#undef X
}

bool tb_model_is_laid_out(const tbModel* model) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  if (!model->block || block_bytes(model) != model->block_size) return false;
  uintptr_t first = (uintptr_t)model->block, end = first + model->block_size;
  uintptr_t at = (first + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
#define X(type, name, rows, columns, unit, what)                            \
  {                                                                         \
    uintptr_t here = (uintptr_t)model->name;                                \
    if (!here || (here != at && here >= first && here < end)) return false; \
    at += padded((size_t)((rows) * (columns)) * sizeof(type));              \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  const Notes notes = get_notes(model);
  return memcmp(notes.size, model, sizeof notes.size) == 0;
}

tbModel* tb_model_new(const tbModel* sizes, tbError* error) {
  size_t bytes = block_bytes(sizes);
  if (!bytes) {
    tb_fail(error, TB_ERROR_MODEL, "model sizes are negative or too large");
    return NULL;
  }
  tbModel* model = malloc(sizeof *model);
  void* block = calloc(1, bytes);
  if (!model || !block) {
    free(model);
    free(block);
    tb_fail(error, TB_ERROR_MEMORY, "out of memory: the model needs %zu bytes", bytes);
    return NULL;
  }
  *model = *sizes;
  model->block = block;
  model->block_size = bytes;
  set_pointers(model);
  Notes notes = {.passed = 0};
  memcpy(notes.size, model, sizeof notes.size);
  set_notes(model, &notes);
  return model;
}

tbModel* tb_model_copy(const tbModel* source) {
  if (!source || !tb_model_is_laid_out(source)) return NULL;
  tbModel* copy = tb_model_new(source, NULL);
  if (!copy) return NULL;
  const tbModel* model = source;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what) \
  memcpy(copy->name, source->name, (size_t)((rows) * (columns)) * sizeof(type));
  TB_MODEL_ARRAYS(X)
#undef X
  tb_model_set_passed(copy, tb_model_passed(source));
  copy->callbacks = source->callbacks;
  return copy;
}

void tb_model_free(tbModel* model) {
  if (!model) return;
  free(model->block);
  free(model);
}

// "tbReal" -> "real"; the other types keep their names.
static const char* type_name(const char* c_type) {
  return strcmp(c_type, "tbReal") == 0 ? "real" : c_type;
}

const void* tb_model_field(const tbModel* model, const char* field, const char** type,
                           int* rows_out, int* columns_out) {
  if (!model || !field) return NULL;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(c_type, name, rows, columns, unit, what)  \
  if (strcmp(field, #name) == 0) {                  \
    if (type) *type = type_name(#c_type);           \
    if (rows_out) *rows_out = (int)(rows);          \
    if (columns_out) *columns_out = (int)(columns); \
    return model->name;                             \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  return NULL;
}
