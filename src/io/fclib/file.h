// The HDF5 operations that FCLIB files need. Every size is checked before memory is allocated.
#ifndef TRIBO_IO_FCLIB_FILE_H_
#define TRIBO_IO_FCLIB_FILE_H_

#include <stdbool.h>

#include "io/hdf5.h"

// Opens a file for reading, or also for writing. HDF5's own error output is suppressed.
tbResult tb_h5_open(const char* path, bool write, tbH5* file, tbError* error);
tbResult tb_h5_create(const char* path, tbH5* file, tbError* error);
void tb_h5_close(tbH5 file);

// Whether a link of that name exists below `where` ("a/b/c"; every component is checked).
bool tb_h5_exists(tbH5 where, const char* name);

// A whole dataset of numbers, allocated. `count` is its number of elements.
tbResult tb_h5_read_ints(tbH5 where, const char* name, int** values, int* count, tbError* error);
tbResult tb_h5_read_reals(tbH5 where, const char* name, tbReal** values, int* count,
                          tbError* error);
// A dataset of one integer.
tbResult tb_h5_read_int(tbH5 where, const char* name, int* value, tbError* error);
// A string of fixed or variable length; NULL if it does not exist or is not a string.
char* tb_h5_read_text(tbH5 where, const char* name);

// Writes a dataset, replacing one of the same name. Missing groups in its path are created.
tbResult tb_h5_write_ints(tbH5 where, const char* name, const int* values, int count,
                          tbError* error);
tbResult tb_h5_write_reals(tbH5 where, const char* name, const tbReal* values, int count,
                           tbError* error);
tbResult tb_h5_write_text(tbH5 where, const char* name, const char* text, tbError* error);

#endif
