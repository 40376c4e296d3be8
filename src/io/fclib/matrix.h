// Sparse matrices of FCLIB files: conversion between the stored encodings and compressed rows.
#ifndef TRIBO_IO_FCLIB_MATRIX_H_
#define TRIBO_IO_FCLIB_MATRIX_H_

#include "tribo/fclib.h"

// The arrays as stored in a file.
typedef struct {
  int m, n, nz, nzmax;
  int* p;
  int* i;
  tbReal* x;
  int p_count, i_count, x_count;  // lengths of the arrays as stored
} tbFclibStored;

// Checks `stored` and converts it. `name` is used in messages ("W").
tbResult tb_fclib_matrix_unpack(const tbFclibStored* stored, const char* name, tbFclibMatrix* out,
                                tbError* error);

// The inverse conversion, which allocates the arrays of `stored`.
tbResult tb_fclib_matrix_pack(const tbFclibMatrix* matrix, tbFclibEncoding encoding,
                              tbFclibStored* stored, tbError* error);

// The transpose of a matrix.
tbResult tb_fclib_matrix_transpose(const tbFclibMatrix* matrix, tbFclibMatrix* out, tbError* error);

// Checks sizes, indices and numbers of a problem that a caller has filled: TB_ERROR_ARGUMENT if
// they are inconsistent.
tbResult tb_fclib_check(const tbFclib* fclib, tbError* error);

void tb_fclib_matrix_free(tbFclibMatrix* matrix);
void tb_fclib_stored_free(tbFclibStored* stored);

#endif
