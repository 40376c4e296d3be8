#include "io/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

enum { MAX_VALUES = 1 << 30 };

static uint32_t little(const unsigned char* p, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; i++) value |= (uint32_t)p[i] << (8 * i);
  return value;
}

// Finds a stored member of a zip archive in the central directory, which the end record refers to.
static const unsigned char* find_member(const unsigned char* zip, size_t size, const char* member,
                                        size_t* length) {
  char wanted[256];
  snprintf(wanted, sizeof wanted, "%s.npy", member);
  size_t end = size >= 22 ? size - 22 : 0, lowest = size > 65557 ? size - 65557 : 0;
  while (end > lowest && little(zip + end, 4) != 0x06054b50) end--;
  if (size < 22 || little(zip + end, 4) != 0x06054b50) return NULL;
  size_t at = little(zip + end + 16, 4);
  for (uint32_t i = little(zip + end + 10, 2); i > 0 && at + 46 <= size; i--) {
    if (little(zip + at, 4) != 0x02014b50) return NULL;
    uint32_t method = little(zip + at + 10, 2), stored = little(zip + at + 24, 4);
    uint32_t name = little(zip + at + 28, 2), extra = little(zip + at + 30, 2);
    uint32_t comment = little(zip + at + 32, 2), local = little(zip + at + 42, 4);
    if (at + 46 + name > size) return NULL;
    if (name == strlen(wanted) && memcmp(zip + at + 46, wanted, name) == 0) {
      if (method != 0 || (size_t)local + 30 > size) return NULL;
      size_t data = (size_t)local + 30 + little(zip + local + 26, 2) + little(zip + local + 28, 2);
      if (data > size || stored > size - data) return NULL;
      *length = stored;
      return zip + data;
    }
    at += 46 + (size_t)name + extra + comment;
  }
  return NULL;
}

// Reads the numbers after "'shape': (" of a header.
static int parse_shape(const char* header, tbNpy* out) {
  const char* at = strstr(header, "'shape':");
  if (at) at = strchr(at, '(');
  if (!at) return 0;
  out->count = 1;
  for (at++; *at && *at != ')';) {
    char* end;
    long value = strtol(at, &end, 10);
    if (end == at) {
      at++;
      continue;
    }
    if (value < 0 || value > MAX_VALUES || out->ndim == TB_NPY_DIMS) return 0;
    out->shape[out->ndim++] = (int)value;
    out->count *= (size_t)value;
    if (out->count > MAX_VALUES) return 0;
    at = end;
  }
  return *at == ')';
}

static tbResult parse(const unsigned char* bytes, size_t size, const char* path, tbNpy* out,
                      tbError* error) {
  char header[1024];
  if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0) {
    return tb_fail(error, TB_ERROR_PARSE, "%s: not a numpy array", path);
  }
  int wide = bytes[6] >= 2;
  size_t start = wide ? 12 : 10, length = little(bytes + 8, wide ? 4 : 2);
  if (length >= sizeof header || start + length > size) {
    return tb_fail(error, TB_ERROR_PARSE,
                   "%s: the numpy header has %zu bytes, more than the file or %zu", path, length,
                   sizeof header - 1);
  }
  memcpy(header, bytes + start, length);
  header[length] = 0;
  if (!strstr(header, "'<f8'") || !strstr(header, "'fortran_order': False") ||
      !parse_shape(header, out)) {
    return tb_fail(error, TB_ERROR_PARSE, "%s: expected little-endian doubles in C order", path);
  }
  if (out->count * 8 != size - start - length) {
    return tb_fail(error, TB_ERROR_PARSE, "%s: %zu values expected, %zu bytes found", path,
                   out->count, size - start - length);
  }
  out->data = malloc(8 * out->count + 8);
  if (!out->data) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < out->count; i++) {
    const unsigned char* p = bytes + start + length + 8 * i;
    uint64_t bits = (uint64_t)little(p, 4) | (uint64_t)little(p + 4, 4) << 32;
    memcpy(&out->data[i], &bits, sizeof bits);
  }
  return TB_OK;
}

tbResult tb_npy_parse(const unsigned char* bytes, size_t size, const char* name, const char* member,
                      tbNpy* out, tbError* error) {
  memset(out, 0, sizeof *out);
  size_t length = size;
  if (member) bytes = find_member(bytes, size, member, &length);
  if (!bytes) return tb_fail(error, TB_ERROR_PARSE, "%s: no stored member '%s.npy'", name, member);
  tbResult result = parse(bytes, length, name, out, error);
  if (result != TB_OK) memset(out, 0, sizeof *out);
  return result;
}

tbResult tb_npy_read(const char* path, const char* member, tbNpy* out, tbError* error) {
  memset(out, 0, sizeof *out);
  tbArena arena;
  tb_arena_init(&arena);
  const unsigned char* bytes;
  size_t size;
  tbResult result = tb_read_file(path, &arena, &bytes, &size, error);
  if (result == TB_OK) result = tb_npy_parse(bytes, size, path, member, out, error);
  tb_arena_free(&arena);
  return result;
}

void tb_npy_free(tbNpy* array) {
  free(array->data);
  memset(array, 0, sizeof *array);
}
