// A library with all functions of HDF5 and an old version: what test_hdf5.c has refused.
#include "io/hdf5.h"

#define TB_VISIBLE __attribute__((visibility("default")))

// Everything but the version does nothing; the list's own version is put aside.
#define H5get_libversion unused_version
#define TB_H5_FUNCTION(result, name, parameters) \
  TB_VISIBLE int H5##name(void);                 \
  int H5##name(void) {                           \
    return 0;                                    \
  }
TB_H5_FUNCTIONS(TB_H5_FUNCTION)
#undef H5get_libversion

TB_VISIBLE int H5get_libversion(unsigned* major, unsigned* minor, unsigned* release);
int H5get_libversion(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 1, *minor = 8, *release = 23;
  return 0;
}
