// The functions of the HDF5 library that Tribo uses, found when a file is first read or written:
// programs that touch no HDF5 file never load it. The interface is declared here, so that Tribo
// builds without HDF5; test/io/test_hdf5.c compares it with the library's header.
#ifndef TRIBO_IO_HDF5_H_
#define TRIBO_IO_HDF5_H_

#include <stddef.h>
#include <stdint.h>

#include "tribo/types.h"

typedef int64_t tbH5;       // an object: file, dataset, space, type, property list; < 0: none
typedef uint64_t tbH5Size;  // a number of elements
typedef int (*tbH5Printer)(tbH5 stack, void* data);  // prints errors

// Values of the library's macros and enumerations.
enum {
  TB_H5_DEFAULT = 0,  // H5P_DEFAULT, H5E_DEFAULT, and H5S_ALL: the whole dataset
  TB_H5_READ_ONLY = 0,
  TB_H5_READ_WRITE = 1,
  TB_H5_TRUNCATE = 2,
  TB_H5_SCALAR = 0,
  TB_H5_SELECT_SET = 0,
  TB_H5_COMPACT = 0,
  TB_H5_DEFLATE = 1,
  TB_H5_NO_CLASS = -1,
  TB_H5_INTEGER = 0,
  TB_H5_FLOAT = 1,
  TB_H5_STRING = 3,
};
#define TB_H5_UNLIMITED UINT64_MAX

// X(result, name without H5, parameters). Results below zero are errors.
#define TB_H5_FUNCTIONS(X)                                                                       \
  X(int, open, (void))                                                                           \
  X(int, get_libversion, (unsigned* major, unsigned* minor, unsigned* release))                  \
  X(int, dont_atexit, (void))                                                                    \
  X(int, Eget_auto2, (tbH5 stack, tbH5Printer * printer, void** data))                           \
  X(int, Eset_auto2, (tbH5 stack, tbH5Printer printer, void* data))                              \
  X(tbH5, Fopen, (const char* path, unsigned flags, tbH5 access))                                \
  X(tbH5, Fcreate, (const char* path, unsigned flags, tbH5 create, tbH5 access))                 \
  X(int, Fclose, (tbH5 file))                                                                    \
  X(int, Lexists, (tbH5 where, const char* name, tbH5 access))                                   \
  X(int, Ldelete, (tbH5 where, const char* name, tbH5 access))                                   \
  X(tbH5, Dopen2, (tbH5 where, const char* name, tbH5 access))                                   \
  X(tbH5, Dcreate2,                                                                              \
    (tbH5 where, const char* name, tbH5 type, tbH5 space, tbH5 link, tbH5 create, tbH5 access))  \
  X(int, Dclose, (tbH5 set))                                                                     \
  X(tbH5, Dget_space, (tbH5 set))                                                                \
  X(tbH5, Dget_type, (tbH5 set))                                                                 \
  X(tbH5, Dget_create_plist, (tbH5 set))                                                         \
  X(tbH5Size, Dget_storage_size, (tbH5 set))                                                     \
  X(int, Dset_extent, (tbH5 set, const tbH5Size* size))                                          \
  X(int, Dread, (tbH5 set, tbH5 type, tbH5 memory, tbH5 file, tbH5 transfer, void* to))          \
  X(int, Dwrite, (tbH5 set, tbH5 type, tbH5 memory, tbH5 file, tbH5 transfer, const void* from)) \
  X(int, Dvlen_reclaim, (tbH5 type, tbH5 space, tbH5 transfer, void* values))                    \
  X(tbH5, Screate, (int kind))                                                                   \
  X(tbH5, Screate_simple, (int rank, const tbH5Size* size, const tbH5Size* most))                \
  X(int, Sclose, (tbH5 space))                                                                   \
  X(int64_t, Sget_simple_extent_npoints, (tbH5 space))                                           \
  X(int, Sselect_hyperslab,                                                                      \
    (tbH5 space, int how, const tbH5Size* start, const tbH5Size* stride, const tbH5Size* count,  \
     const tbH5Size* block))                                                                     \
  X(tbH5, Pcreate, (tbH5 kind))                                                                  \
  X(int, Pclose, (tbH5 list))                                                                    \
  X(int, Pget_layout, (tbH5 list))                                                               \
  X(int, Pset_chunk, (tbH5 list, int rank, const tbH5Size* size))                                \
  X(int, Pset_create_intermediate_group, (tbH5 list, unsigned on))                               \
  X(int, Pset_shuffle, (tbH5 list))                                                              \
  X(int, Pset_deflate, (tbH5 list, unsigned level))                                              \
  X(int, Zfilter_avail, (int filter))                                                            \
  X(tbH5, Tcopy, (tbH5 type))                                                                    \
  X(int, Tclose, (tbH5 type))                                                                    \
  X(int, Tget_class, (tbH5 type))                                                                \
  X(size_t, Tget_size, (tbH5 type))                                                              \
  X(int, Tset_size, (tbH5 type, size_t size))                                                    \
  X(int, Tis_variable_str, (tbH5 type))

// X(name here, variable of the library): types and kinds of property lists.
#define TB_H5_OBJECTS(X)                   \
  X(native_int, H5T_NATIVE_INT_g)          \
  X(native_double, H5T_NATIVE_DOUBLE_g)    \
  X(i32le, H5T_STD_I32LE_g)                \
  X(f64le, H5T_IEEE_F64LE_g)               \
  X(c_string, H5T_C_S1_g)                  \
  X(link_create, H5P_CLS_LINK_CREATE_ID_g) \
  X(dataset_create, H5P_CLS_DATASET_CREATE_ID_g)

typedef struct {
#define TB_H5_FUNCTION(result, name, parameters) result(*name) parameters;
  TB_H5_FUNCTIONS(TB_H5_FUNCTION)
#undef TB_H5_FUNCTION
#define TB_H5_OBJECT(name, variable) tbH5 name;
  TB_H5_OBJECTS(TB_H5_OBJECT)
#undef TB_H5_OBJECT
} tbHdf5;

// Set by tb_h5_load, constant from then on.
extern tbHdf5 tb_h5;

// Find the library, once for the process. TB_ERROR_UNSUPPORTED with the package to install if there
// is none; the message starts with the file that needs it. The environment variable TRIBO_HDF5
// names a library in another place.
tbResult tb_h5_load(const char* path, tbError* error);

// The library prints errors unless told otherwise. The caller's setting is kept between the two.
typedef struct {
  tbH5Printer printer;
  void* data;
} tbH5Quiet;

tbH5Quiet tb_h5_silence(void);
void tb_h5_restore(tbH5Quiet quiet);

#endif
