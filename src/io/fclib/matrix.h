// Sparse matrices of FCLIB files: from any stored encoding to compressed rows, and back.
#ifndef TRIBO_IO_FCLIB_MATRIX_H_
#define TRIBO_IO_FCLIB_MATRIX_H_

#include "tribo/fclib.h"

// The arrays as they stand in a file.
typedef struct {
  int m, n, nz, nzmax;
  int* p;
  int* i;
  tbReal* x;
  int p_count, i_count, x_count;  // lengths of the arrays as stored
} tbFclibStored;

// Check `stored` and convert it. `name` is used in messages ("W").
tbResult tb_fclib_matrix_unpack(const tbFclibStored* stored, const char* name, tbFclibMatrix* out,
                                tbError* error);

// The reverse, allocating the arrays of `stored`.
tbResult tb_fclib_matrix_pack(const tbFclibMatrix* matrix, tbFclibEncoding encoding,
                              tbFclibStored* stored, tbError* error);

// Rows and columns exchanged.
tbResult tb_fclib_matrix_transpose(const tbFclibMatrix* matrix, tbFclibMatrix* out, tbError* error);

// Sizes, indices and numbers of a problem that a program has made: TB_ERROR_ARGUMENT where they do
// not fit together.
tbResult tb_fclib_check(const tbFclib* fclib, tbError* error);

void tb_fclib_matrix_free(tbFclibMatrix* matrix);
void tb_fclib_stored_free(tbFclibStored* stored);

#endif
