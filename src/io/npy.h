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

// Read a .npy file, or with `member` ("com" for com.npy) one array of an uncompressed .npz. Little-
// endian doubles in C order only. On error data is NULL and `error` says what was expected.
tbResult tb_npy_read(const char* path, const char* member, tbNpy* out, tbError* error);
void tb_npy_free(tbNpy* array);

// The same from bytes in memory; `name` for messages.
tbResult tb_npy_parse(const unsigned char* bytes, size_t size, const char* name, const char* member,
                      tbNpy* out, tbError* error);

#endif
