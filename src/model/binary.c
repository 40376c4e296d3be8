// A compiled model as one file: a header, the sizes, the options, and every array in its memory
// layout. The field lists generate the writer and the reader; the hash of the lists is in the
// header, so that a file of another version is rejected instead of misread.
#include "model/binary.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/hash.h"
#include "model/model.h"
#include "model/sparsity.h"
#include "tribo/extension.h"

static const char MAGIC[8] = {'T', 'R', 'I', 'B', 'O', 'T', 'B', 'M'};
static const uint32_t BYTE_ORDER_TAG = 0x01020304;

// Offsets in the header.
enum { AT_VERSION = 8, AT_ORDER = 12, AT_FIELDS = 16, AT_PAYLOAD = 24, AT_CHECKSUM = 32 };
enum { AT_RESERVED = 40 };

enum {
#define X(name, what) SIZE_##name,
  TB_MODEL_SIZES(X)
#undef X
      NSIZES
};

// Bytes of the options, one field after the other without padding.
static size_t option_bytes(void) {
  size_t total = 0;
#define X(type, name, count, initial, allowed, unit, what) total += sizeof(type) * (count);
  TB_OPTION_FIELDS(X)
#undef X
  return total;
}

// A hash of every field's type, name and shape, and of an extension's kinds, whose values another
// extension gives to others.
static uint64_t fields_hash(void) {
  static const char TEXT[] =
#define X(name, what) #name ","
      TB_MODEL_SIZES(X)
#undef X
#define X(type, name, rows, columns, unit, what) #type " " #name " " #rows " " #columns ","
          TB_MODEL_ARRAYS(X)
#undef X
#define X(type, name, count, initial, allowed, unit, what) #type " " #name " " #count ","
              TB_OPTION_FIELDS(X)
#undef X
#define X(TYPE, word, ...) #TYPE " " #word ","
                  TB_EXTENSION_SENSORS(X) TB_EXTENSION_GAINS(X) TB_EXTENSION_BIASES(X)
                      TB_EXTENSION_DYNAMICS(X) TB_EXTENSION_TRANSMISSIONS(X)
                          TB_EXTENSION_EQUALITIES(X) TB_EXTENSION_JOINTS(X)
#undef X
      ;
  unsigned char widths[2] = {sizeof(tbReal), sizeof(int)};
  return tb_hash(tb_hash(TB_HASH_SEED, TEXT, sizeof TEXT), widths, sizeof widths);
}

static size_t fixed_bytes(void) {
  return TB_BINARY_HEADER + NSIZES * sizeof(int32_t) + 4 * sizeof(tbReal) + option_bytes();
}

size_t tb_model_binary_size(const tbModel* model) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  size_t total = fixed_bytes();
#define X(type, name, rows, columns, unit, what) \
  total += (size_t)((rows) * (columns)) * sizeof(type);
  TB_MODEL_ARRAYS(X)
#undef X
  return total;
}

uint64_t tb_model_checksum(const unsigned char* bytes, size_t size) {
  uint64_t hash = tb_hash(TB_HASH_SEED, bytes, AT_CHECKSUM);
  return tb_hash(hash, bytes + AT_RESERVED, size - AT_RESERVED);
}

static unsigned char* put(unsigned char* at, const void* data, size_t bytes) {
  if (bytes) memcpy(at, data, bytes);
  return at + bytes;
}

static const unsigned char* get(const unsigned char* at, void* data, size_t bytes) {
  if (bytes) memcpy(data, at, bytes);
  return at + bytes;
}

void tb_model_write(const tbModel* model, unsigned char* bytes) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  size_t total = tb_model_binary_size(model);
  uint32_t version = TB_BINARY_VERSION;
  uint64_t fields = fields_hash(), payload = total - TB_BINARY_HEADER;
  memset(bytes, 0, TB_BINARY_HEADER);
  put(bytes, MAGIC, sizeof MAGIC);
  put(bytes + AT_VERSION, &version, sizeof version);
  put(bytes + AT_ORDER, &BYTE_ORDER_TAG, sizeof BYTE_ORDER_TAG);
  put(bytes + AT_FIELDS, &fields, sizeof fields);
  put(bytes + AT_PAYLOAD, &payload, sizeof payload);

  // Sizes, statistics, options, arrays.
  unsigned char* at = bytes + TB_BINARY_HEADER;
#define X(name, what)                    \
  {                                      \
    int32_t size = (int32_t)model->name; \
    at = put(at, &size, sizeof size);    \
  }
  TB_MODEL_SIZES(X)
#undef X
  at = put(at, &model->total_mass, sizeof(tbReal));
  at = put(at, &model->extent, sizeof(tbReal));
  at = put(at, &model->mean_inertia, sizeof(tbReal));
  at = put(at, &model->load_to_inertia, sizeof(tbReal));
#define X(type, name, count, initial, allowed, unit, what) \
  at = put(at, &model->opt.name, sizeof(type) * (count));
  TB_OPTION_FIELDS(X)
#undef X
#define X(type, name, rows, columns, unit, what) \
  at = put(at, model->name, (size_t)((rows) * (columns)) * sizeof(type));
  TB_MODEL_ARRAYS(X)
#undef X
  uint64_t checksum = tb_model_checksum(bytes, total);
  put(bytes + AT_CHECKSUM, &checksum, sizeof checksum);
}

tbResult tb_model_save(const tbModel* model, const char* path, tbError* error) {
  if (!model || !path) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_model_save: model and path must not be NULL");
  }
  tbResult result = tb_model_check(model, error);
  if (result != TB_OK) return result;
  size_t size = tb_model_binary_size(model);
  unsigned char* bytes = malloc(size);
  if (!bytes) return tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", path);
  tb_model_write(model, bytes);
  // An incomplete file is removed, but not a device.
  FILE* file = fopen(path, "wb");
  struct stat info;
  bool is_file = file && fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode);
  bool good = file && fwrite(bytes, 1, size, file) == size;
  if (file) good = fclose(file) == 0 && good;
  free(bytes);
  if (good) return TB_OK;
  if (is_file) remove(path);
  return tb_fail(error, TB_ERROR_FILE, "%s: cannot be written", path);
}

// Check the header before anything after it is read.
static tbResult check_header(const unsigned char* bytes, size_t size, tbError* error) {
  uint32_t version, order;
  uint64_t fields, payload, checksum;
  if (size < sizeof MAGIC || memcmp(bytes, MAGIC, sizeof MAGIC) != 0) {
    return tb_fail(error, TB_ERROR_PARSE, "not a compiled Tribo model");
  }
  if (size < fixed_bytes()) {
    return tb_fail(error, TB_ERROR_PARSE, "truncated model: %zu bytes", size);
  }
  get(bytes + AT_VERSION, &version, sizeof version);
  get(bytes + AT_ORDER, &order, sizeof order);
  get(bytes + AT_FIELDS, &fields, sizeof fields);
  get(bytes + AT_PAYLOAD, &payload, sizeof payload);
  get(bytes + AT_CHECKSUM, &checksum, sizeof checksum);
  if (order != BYTE_ORDER_TAG) {
    return tb_fail(error, TB_ERROR_UNSUPPORTED, "the model was saved with another byte order");
  }
  if (version != TB_BINARY_VERSION || fields != fields_hash()) {
    return tb_fail(error, TB_ERROR_UNSUPPORTED,
                   "the model was saved by another version of Tribo, or with other extensions: "
                   "compile it again");
  }
  if (payload != size - TB_BINARY_HEADER) {
    return tb_fail(error, TB_ERROR_PARSE, "truncated model: %zu bytes, expected %llu", size,
                   (unsigned long long)payload + TB_BINARY_HEADER);
  }
  if (checksum != tb_model_checksum(bytes, size)) {
    return tb_fail(error, TB_ERROR_PARSE, "the model's checksum is wrong: the file is damaged");
  }
  return TB_OK;
}

// Whether the sizes match the available bytes exactly. Checked before anything is allocated.
static bool sizes_match(const tbModel* model, size_t available) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(name, what) \
  if (name < 0) return false;
  TB_MODEL_SIZES(X)
#undef X
#define X(type, name, rows, columns, unit, what)             \
  {                                                          \
    uint64_t r = (uint64_t)(rows), c = (uint64_t)(columns);  \
    if (c && r > available / sizeof(type) / c) return false; \
    available -= (size_t)(r * c) * sizeof(type);             \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  return available == 0;
}

// The rows of M and of the tendons' and actuators' Jacobians follow from the rest of the model;
// they are computed again, so that no file can give them another shape.
static tbResult check_sparsity(tbModel* model, tbError* error) {
  int nM = model->nM, nJten = model->nJten, nJmom = model->nJmom;
  tbResult result = tb_model_set_sparsity(model, error);
  if (result == TB_OK && (nM != model->nM || nJten != model->nJten || nJmom != model->nJmom)) {
    result = tb_fail(error, TB_ERROR_MODEL, "model: the rows of a Jacobian have the wrong length");
  }
  return result;
}

tbModel* tb_model_load_binary(const void* data, size_t size, tbError* error) {
  const unsigned char* bytes = data;
  if (!bytes) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_model_load_binary: bytes are NULL");
    return NULL;
  }
  if (check_header(bytes, size, error) != TB_OK) return NULL;
  tbModel sizes;
  memset(&sizes, 0, sizeof sizes);
  const unsigned char* at = bytes + TB_BINARY_HEADER;
#define X(name, what)                   \
  {                                     \
    int32_t value;                      \
    at = get(at, &value, sizeof value); \
    sizes.name = value;                 \
  }
  TB_MODEL_SIZES(X)
#undef X
  at = get(at, &sizes.total_mass, sizeof(tbReal));
  at = get(at, &sizes.extent, sizeof(tbReal));
  at = get(at, &sizes.mean_inertia, sizeof(tbReal));
  at = get(at, &sizes.load_to_inertia, sizeof(tbReal));
#define X(type, name, count, initial, allowed, unit, what) \
  at = get(at, &sizes.opt.name, sizeof(type) * (count));
  TB_OPTION_FIELDS(X)
#undef X
  if (!sizes_match(&sizes, size - (size_t)(at - bytes))) {
    tb_fail(error, TB_ERROR_PARSE, "the model's sizes do not match its length");
    return NULL;
  }
  tbModel* model = tb_model_new(&sizes, error);
  if (!model) return NULL;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what) \
  at = get(at, model->name, (size_t)((rows) * (columns)) * sizeof(type));
  TB_MODEL_ARRAYS(X)
#undef X
  tbResult result = tb_model_check(model, error);
  if (result == TB_OK) result = check_sparsity(model, error);
  if (result == TB_OK) return model;
  tb_model_free(model);
  return NULL;
}
