// Arrays of doubles from numpy files.
#ifndef TRIBO_IO_NPY_H_
#define TRIBO_IO_NPY_H_

#include "tribo/types.h"

enum { TB_NPY_DIMS = 4 };

typedef struct {
  int ndim;
  int shape[TB_NPY_DIMS];
  size_t count;  // product of the shape
  double* data;  // C order; free with tb_npy_free
} tbNpy;

// Reads a .npy file, or with `member` ("com" for com.npy) one array of an uncompressed .npz. Only
// little-endian doubles in C order are accepted. On error data is NULL and `error` tells what was
// expected.
tbResult tb_npy_read(const char* path, const char* member, tbNpy* out, tbError* error);
void tb_npy_free(tbNpy* array);

// The same from bytes in memory; `name` is used in messages.
tbResult tb_npy_parse(const unsigned char* bytes, size_t size, const char* name, const char* member,
                      tbNpy* out, tbError* error);

#endif
