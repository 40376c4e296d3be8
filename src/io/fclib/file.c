#include "io/fclib/file.h"

// A translation unit must not be empty in a build without HDF5.
typedef int tb_fclib_file_unit;

#ifdef TB_WITH_HDF5

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

tbResult tb_h5_open(const char* path, bool write, hid_t* file, tbError* error) {
  FILE* there = fopen(path, "rb");
  if (!there)
    return tb_fail(error, TB_ERROR_FILE, "%s: cannot be opened: %s", path, strerror(errno));
  fclose(there);
  H5E_BEGIN_TRY {
    *file = H5Fopen(path, write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, H5P_DEFAULT);
  }
  H5E_END_TRY
  if (*file < 0)
    return tb_fail(error, TB_ERROR_FILE,
                   "%s: not an HDF5 file (expected a problem in FCLIB format)", path);
  return TB_OK;
}

tbResult tb_h5_create(const char* path, hid_t* file, tbError* error) {
  H5E_BEGIN_TRY {
    *file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  }
  H5E_END_TRY
  if (*file < 0) return tb_fail(error, TB_ERROR_FILE, "%s: cannot be created", path);
  return TB_OK;
}

void tb_h5_close(hid_t file) {
  H5E_BEGIN_TRY {
    H5Fclose(file);
  }
  H5E_END_TRY
}

bool tb_h5_exists(hid_t where, const char* name) {
  // H5Lexists fails on a missing parent, so every prefix is tested in turn.
  char prefix[256];
  size_t length = strlen(name);
  if (length >= sizeof prefix) return false;
  for (size_t k = 1; k <= length; k++) {
    if (name[k] != '/' && name[k] != 0) continue;
    memcpy(prefix, name, k);
    prefix[k] = 0;
    htri_t found;
    H5E_BEGIN_TRY {
      found = H5Lexists(where, prefix, H5P_DEFAULT);
    }
    H5E_END_TRY
    if (found <= 0) return false;
  }
  return true;
}

// ---- reading -----------------------------------------------------------------------------------

// The number of elements of a dataset, after a check that the file can contain that many: a damaged
// or malicious header may claim any size. Deflate compresses by at most a factor of 1032.
static tbResult element_count(hid_t set, const char* name, size_t element, int* count,
                              tbError* error) {
  hid_t space = H5Dget_space(set);
  hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  if (space >= 0) H5Sclose(space);
  if (points < 0 || points > INT_MAX - 1) {
    return tb_fail(error, TB_ERROR_PARSE, "dataset %s has an unusable size", name);
  }
  hid_t plist = H5Dget_create_plist(set);
  bool compact = plist >= 0 && H5Pget_layout(plist) == H5D_COMPACT;
  if (plist >= 0) H5Pclose(plist);
  double stored = (double)H5Dget_storage_size(set);
  if (!compact && (double)points * (double)element > 1100.0 * 8.0 * (stored + 16)) {
    return tb_fail(error, TB_ERROR_PARSE,
                   "dataset %s claims %lld elements, but holds only %.0f bytes", name,
                   (long long)points, stored);
  }
  *count = (int)points;
  return TB_OK;
}

// Reads dataset `name`, whose type must be of class `kind`, converted to `type`.
static tbResult read_array(hid_t where, const char* name, H5T_class_t kind, hid_t type,
                           size_t element, void** values, int* count, tbError* error) {
  *values = NULL;
  *count = 0;
  if (!tb_h5_exists(where, name)) {
    return tb_fail(error, TB_ERROR_PARSE, "dataset %s is missing", name);
  }
  hid_t set = H5Dopen2(where, name, H5P_DEFAULT);
  if (set < 0) return tb_fail(error, TB_ERROR_PARSE, "%s is not a readable dataset", name);
  hid_t stored = H5Dget_type(set);
  H5T_class_t found = stored >= 0 ? H5Tget_class(stored) : H5T_NO_CLASS;
  if (stored >= 0) H5Tclose(stored);
  tbResult result = TB_OK;
  if (found != kind && !(kind == H5T_FLOAT && found == H5T_INTEGER)) {
    result = tb_fail(error, TB_ERROR_PARSE, "dataset %s does not hold %s", name,
                     kind == H5T_FLOAT ? "numbers" : "integers");
  }
  if (result == TB_OK) result = element_count(set, name, element, count, error);
  if (result == TB_OK) {
    *values = malloc(((size_t)*count + 1) * element);
    if (!*values) {
      result = tb_fail(error, TB_ERROR_MEMORY, "no memory for %d elements of %s", *count, name);
    } else if (*count > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) < 0) {
      result = tb_fail(error, TB_ERROR_FILE, "dataset %s cannot be read: damaged file?", name);
    }
  }
  H5Dclose(set);
  if (result != TB_OK) {
    free(*values);
    *values = NULL;
    *count = 0;
  }
  return result;
}

tbResult tb_h5_read_ints(hid_t where, const char* name, int** values, int* count, tbError* error) {
  void* data = NULL;
  tbResult result;
  H5E_BEGIN_TRY {
    result = read_array(where, name, H5T_INTEGER, H5T_NATIVE_INT, sizeof(int), &data, count, error);
  }
  H5E_END_TRY
  *values = (int*)data;
  return result;
}

tbResult tb_h5_read_reals(hid_t where, const char* name, tbReal** values, int* count,
                          tbError* error) {
  void* data = NULL;
  tbResult result;
  H5E_BEGIN_TRY {
    result =
        read_array(where, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, sizeof(tbReal), &data, count, error);
  }
  H5E_END_TRY
  *values = (tbReal*)data;
  return result;
}

tbResult tb_h5_read_int(hid_t where, const char* name, int* value, tbError* error) {
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
static char* read_string(hid_t set, hid_t type) {
  if (H5Tget_class(type) != H5T_STRING) return NULL;
  int count = 0;
  char* text = NULL;
  if (H5Tis_variable_str(type) > 0) {
    char* variable = NULL;
    hid_t space = H5Dget_space(set);
    bool one = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    if (one && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &variable) >= 0 && variable) {
      text = malloc(strlen(variable) + 1);
      if (text) strcpy(text, variable);
      H5Dvlen_reclaim(type, space, H5P_DEFAULT, &variable);
    }
    if (space >= 0) H5Sclose(space);
    return text;
  }
  size_t size = H5Tget_size(type);
  if (size == 0 || size > (1u << 24)) return NULL;
  if (element_count(set, "text", size, &count, NULL) != TB_OK || count != 1) return NULL;
  text = calloc(size + 1, 1);
  if (text && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) {
    free(text);
    text = NULL;
  }
  return text;
}

char* tb_h5_read_text(hid_t where, const char* name) {
  if (!tb_h5_exists(where, name)) return NULL;
  char* text = NULL;
  H5E_BEGIN_TRY {
    hid_t set = H5Dopen2(where, name, H5P_DEFAULT);
    hid_t type = set >= 0 ? H5Dget_type(set) : -1;
    if (type >= 0) text = read_string(set, type);
    if (type >= 0) H5Tclose(type);
    if (set >= 0) H5Dclose(set);
  }
  H5E_END_TRY
  return text;
}

// ---- writing -----------------------------------------------------------------------------------

// Writes `name` and creates the groups in its path. Arrays longer than 512 are compressed.
static herr_t write_array(hid_t where, const char* name, hid_t file_type, hid_t memory_type,
                          const void* values, hsize_t count, bool scalar) {
  if (tb_h5_exists(where, name) && H5Ldelete(where, name, H5P_DEFAULT) < 0) return -1;
  hid_t space = scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
  hid_t links = H5Pcreate(H5P_LINK_CREATE), create = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  if (count > 512) {
    hsize_t chunk = count < 65536 ? count : 65536;
    H5Pset_chunk(create, 1, &chunk);
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
      H5Pset_shuffle(create);
      H5Pset_deflate(create, 6);
    }
  }
  hid_t set = H5Dcreate2(where, name, file_type, space, links, create, H5P_DEFAULT);
  herr_t status = set < 0 ? -1 : 0;
  if (set >= 0 && (count > 0 || scalar)) {
    status = H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  }
  if (set >= 0 && H5Dclose(set) < 0) status = -1;
  H5Pclose(create);
  H5Pclose(links);
  H5Sclose(space);
  return status;
}

static tbResult write_checked(hid_t where, const char* name, hid_t file_type, hid_t memory_type,
                              const void* values, int count, bool scalar, tbError* error) {
  herr_t status;
  H5E_BEGIN_TRY {
    status = write_array(where, name, file_type, memory_type, values, (hsize_t)count, scalar);
  }
  H5E_END_TRY
  if (status < 0) return tb_fail(error, TB_ERROR_FILE, "dataset %s cannot be written", name);
  return TB_OK;
}

tbResult tb_h5_write_ints(hid_t where, const char* name, const int* values, int count,
                          tbError* error) {
  return write_checked(where, name, H5T_STD_I32LE, H5T_NATIVE_INT, values, count, false, error);
}

tbResult tb_h5_write_reals(hid_t where, const char* name, const tbReal* values, int count,
                           tbError* error) {
  return write_checked(where, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values, count, false, error);
}

tbResult tb_h5_write_text(hid_t where, const char* name, const char* text, tbError* error) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(text) + 1);
  tbResult result = write_checked(where, name, type, type, text, 1, true, error);
  H5Tclose(type);
  return result;
}

#endif
