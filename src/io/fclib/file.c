#include "io/fclib/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

tbResult tb_h5_open(const char* path, bool write, tbH5* file, tbError* error) {
  FILE* there = fopen(path, "rb");
  if (!there)
    return tb_fail(error, TB_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
  fclose(there);
  if (tb_h5_load(path, error) != TB_OK) return TB_ERROR_UNSUPPORTED;
  tbH5Quiet quiet = tb_h5_silence();
  *file = tb_h5.Fopen(path, write ? TB_H5_READ_WRITE : TB_H5_READ_ONLY, TB_H5_DEFAULT);
  tb_h5_restore(quiet);
  if (*file < 0)
    return tb_fail(error, TB_ERROR_FILE,
                   "%s: not an HDF5 file (expected a problem in FCLIB format)", path);
  return TB_OK;
}

tbResult tb_h5_create(const char* path, tbH5* file, tbError* error) {
  if (tb_h5_load(path, error) != TB_OK) return TB_ERROR_UNSUPPORTED;
  tbH5Quiet quiet = tb_h5_silence();
  *file = tb_h5.Fcreate(path, TB_H5_TRUNCATE, TB_H5_DEFAULT, TB_H5_DEFAULT);
  tb_h5_restore(quiet);
  if (*file < 0) return tb_fail(error, TB_ERROR_FILE, "%s: cannot be created", path);
  return TB_OK;
}

void tb_h5_close(tbH5 file) {
  tbH5Quiet quiet = tb_h5_silence();
  tb_h5.Fclose(file);
  tb_h5_restore(quiet);
}

bool tb_h5_exists(tbH5 where, const char* name) {
  // H5Lexists fails on a missing parent, so every prefix is tested in turn.
  char prefix[256];
  size_t length = strlen(name);
  if (length >= sizeof prefix) return false;
  for (size_t k = 1; k <= length; k++) {
    if (name[k] != '/' && name[k] != 0) continue;
    memcpy(prefix, name, k);
    prefix[k] = 0;
    tbH5Quiet quiet = tb_h5_silence();
    int found = tb_h5.Lexists(where, prefix, TB_H5_DEFAULT);
    tb_h5_restore(quiet);
    if (found <= 0) return false;
  }
  return true;
}

// ---- reading -----------------------------------------------------------------------------------

// The number of elements of a dataset, after a check that the file can contain that many: a damaged
// or malicious header may claim any size. Deflate compresses by at most a factor of 1032.
static tbResult element_count(tbH5 set, const char* name, size_t element, int* count,
                              tbError* error) {
  tbH5 space = tb_h5.Dget_space(set);
  int64_t points = space >= 0 ? tb_h5.Sget_simple_extent_npoints(space) : -1;
  if (space >= 0) tb_h5.Sclose(space);
  if (points < 0 || points > INT_MAX - 1) {
    return tb_fail(error, TB_ERROR_PARSE, "dataset %s has an unusable size", name);
  }
  tbH5 plist = tb_h5.Dget_create_plist(set);
  bool compact = plist >= 0 && tb_h5.Pget_layout(plist) == TB_H5_COMPACT;
  if (plist >= 0) tb_h5.Pclose(plist);
  double stored = (double)tb_h5.Dget_storage_size(set);
  if (!compact && (double)points * (double)element > 1100.0 * 8.0 * (stored + 16)) {
    return tb_fail(error, TB_ERROR_PARSE,
                   "dataset %s claims %lld elements, but holds only %.0f bytes", name,
                   (long long)points, stored);
  }
  *count = (int)points;
  return TB_OK;
}

// Reads dataset `name`, whose type must be of class `kind`, converted to `type`.
static tbResult read_array(tbH5 where, const char* name, int kind, tbH5 type, size_t element,
                           void** values, int* count, tbError* error) {
  *values = NULL;
  *count = 0;
  if (!tb_h5_exists(where, name)) {
    return tb_fail(error, TB_ERROR_PARSE, "dataset %s is missing", name);
  }
  tbH5 set = tb_h5.Dopen2(where, name, TB_H5_DEFAULT);
  if (set < 0) return tb_fail(error, TB_ERROR_PARSE, "%s is not a readable dataset", name);
  tbH5 stored = tb_h5.Dget_type(set);
  int found = stored >= 0 ? tb_h5.Tget_class(stored) : TB_H5_NO_CLASS;
  if (stored >= 0) tb_h5.Tclose(stored);
  tbResult result = TB_OK;
  if (found != kind && !(kind == TB_H5_FLOAT && found == TB_H5_INTEGER)) {
    result = tb_fail(error, TB_ERROR_PARSE, "dataset %s does not hold %s", name,
                     kind == TB_H5_FLOAT ? "numbers" : "integers");
  }
  if (result == TB_OK) result = element_count(set, name, element, count, error);
  if (result == TB_OK) {
    *values = malloc(((size_t)*count + 1) * element);
    if (!*values) {
      result = tb_fail(error, TB_ERROR_MEMORY, "no memory for %d elements of %s", *count, name);
    } else if (*count > 0 &&
               tb_h5.Dread(set, type, TB_H5_DEFAULT, TB_H5_DEFAULT, TB_H5_DEFAULT, *values) < 0) {
      result = tb_fail(error, TB_ERROR_FILE, "dataset %s cannot be read: damaged file?", name);
    }
  }
  tb_h5.Dclose(set);
  if (result != TB_OK) {
    free(*values);
    *values = NULL;
    *count = 0;
  }
  return result;
}

tbResult tb_h5_read_ints(tbH5 where, const char* name, int** values, int* count, tbError* error) {
  void* data = NULL;
  tbResult result;
  tbH5Quiet quiet = tb_h5_silence();
  result =
      read_array(where, name, TB_H5_INTEGER, tb_h5.native_int, sizeof(int), &data, count, error);
  tb_h5_restore(quiet);
  *values = (int*)data;
  return result;
}

tbResult tb_h5_read_reals(tbH5 where, const char* name, tbReal** values, int* count,
                          tbError* error) {
  void* data = NULL;
  tbResult result;
  tbH5Quiet quiet = tb_h5_silence();
  result = read_array(where, name, TB_H5_FLOAT, tb_h5.native_double, sizeof(tbReal), &data, count,
                      error);
  tb_h5_restore(quiet);
  *values = (tbReal*)data;
  return result;
}

tbResult tb_h5_read_int(tbH5 where, const char* name, int* value, tbError* error) {
  int* values = NULL;
  int count = 0;
  tbResult result = tb_h5_read_ints(where, name, &values, &count, error);
  if (result != TB_OK) return result;
  if (count != 1) {
    result = tb_fail(error, TB_ERROR_PARSE, "dataset %s has %d elements, expected 1", name, count);
  } else {
    *value = values[0];
  }
  free(values);
  return result;
}

// The text of an open string dataset, or NULL.
static char* read_string(tbH5 set, tbH5 type) {
  if (tb_h5.Tget_class(type) != TB_H5_STRING) return NULL;
  int count = 0;
  char* text = NULL;
  if (tb_h5.Tis_variable_str(type) > 0) {
    char* variable = NULL;
    tbH5 space = tb_h5.Dget_space(set);
    bool one = space >= 0 && tb_h5.Sget_simple_extent_npoints(space) == 1;
    if (one &&
        tb_h5.Dread(set, type, TB_H5_DEFAULT, TB_H5_DEFAULT, TB_H5_DEFAULT, &variable) >= 0 &&
        variable) {
      text = malloc(strlen(variable) + 1);
      if (text) strcpy(text, variable);
      tb_h5.Dvlen_reclaim(type, space, TB_H5_DEFAULT, &variable);
    }
    if (space >= 0) tb_h5.Sclose(space);
    return text;
  }
  size_t size = tb_h5.Tget_size(type);
  if (size == 0 || size > (1u << 24)) return NULL;
  if (element_count(set, "text", size, &count, NULL) != TB_OK || count != 1) return NULL;
  text = calloc(size + 1, 1);
  if (text && tb_h5.Dread(set, type, TB_H5_DEFAULT, TB_H5_DEFAULT, TB_H5_DEFAULT, text) < 0) {
    free(text);
    text = NULL;
  }
  return text;
}

char* tb_h5_read_text(tbH5 where, const char* name) {
  if (!tb_h5_exists(where, name)) return NULL;
  char* text = NULL;
  tbH5Quiet quiet = tb_h5_silence();
  tbH5 set = tb_h5.Dopen2(where, name, TB_H5_DEFAULT);
  tbH5 type = set >= 0 ? tb_h5.Dget_type(set) : -1;
  if (type >= 0) text = read_string(set, type);
  if (type >= 0) tb_h5.Tclose(type);
  if (set >= 0) tb_h5.Dclose(set);
  tb_h5_restore(quiet);
  return text;
}

// ---- writing -----------------------------------------------------------------------------------

// Writes `name` and creates the groups in its path. Arrays longer than 512 are compressed.
static int write_array(tbH5 where, const char* name, tbH5 file_type, tbH5 memory_type,
                       const void* values, tbH5Size count, bool scalar) {
  if (tb_h5_exists(where, name) && tb_h5.Ldelete(where, name, TB_H5_DEFAULT) < 0) return -1;
  tbH5 space = scalar ? tb_h5.Screate(TB_H5_SCALAR) : tb_h5.Screate_simple(1, &count, NULL);
  tbH5 links = tb_h5.Pcreate(tb_h5.link_create), create = tb_h5.Pcreate(tb_h5.dataset_create);
  tb_h5.Pset_create_intermediate_group(links, 1);
  if (count > 512) {
    tbH5Size chunk = count < 65536 ? count : 65536;
    tb_h5.Pset_chunk(create, 1, &chunk);
    if (tb_h5.Zfilter_avail(TB_H5_DEFLATE) > 0) {
      tb_h5.Pset_shuffle(create);
      tb_h5.Pset_deflate(create, 6);
    }
  }
  tbH5 set = tb_h5.Dcreate2(where, name, file_type, space, links, create, TB_H5_DEFAULT);
  int status = set < 0 ? -1 : 0;
  if (set >= 0 && (count > 0 || scalar)) {
    status = tb_h5.Dwrite(set, memory_type, TB_H5_DEFAULT, TB_H5_DEFAULT, TB_H5_DEFAULT, values);
  }
  if (set >= 0 && tb_h5.Dclose(set) < 0) status = -1;
  tb_h5.Pclose(create);
  tb_h5.Pclose(links);
  tb_h5.Sclose(space);
  return status;
}

static tbResult write_checked(tbH5 where, const char* name, tbH5 file_type, tbH5 memory_type,
                              const void* values, int count, bool scalar, tbError* error) {
  int status;
  tbH5Quiet quiet = tb_h5_silence();
  status = write_array(where, name, file_type, memory_type, values, (tbH5Size)count, scalar);
  tb_h5_restore(quiet);
  if (status < 0) return tb_fail(error, TB_ERROR_FILE, "dataset %s cannot be written", name);
  return TB_OK;
}

tbResult tb_h5_write_ints(tbH5 where, const char* name, const int* values, int count,
                          tbError* error) {
  return write_checked(where, name, tb_h5.i32le, tb_h5.native_int, values, count, false, error);
}

tbResult tb_h5_write_reals(tbH5 where, const char* name, const tbReal* values, int count,
                           tbError* error) {
  return write_checked(where, name, tb_h5.f64le, tb_h5.native_double, values, count, false, error);
}

tbResult tb_h5_write_text(tbH5 where, const char* name, const char* text, tbError* error) {
  tbH5 type = tb_h5.Tcopy(tb_h5.c_string);
  tb_h5.Tset_size(type, strlen(text) + 1);
  tbResult result = write_checked(where, name, type, type, text, 1, true, error);
  tb_h5.Tclose(type);
  return result;
}
