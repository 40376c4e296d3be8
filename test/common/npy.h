// Arrays of doubles as numpy files, for tests of what reads them. Header only.
#ifndef TRIBO_TEST_NPY_H_
#define TRIBO_TEST_NPY_H_

#include "common/test.h"

// `shape` as Python writes it: "(2, 3)", "(4,)".
static inline void tb_test_write_npy(const char* path, const char* shape, const double* x,
                                     size_t n) {
  FILE* f = fopen(path, "wb");
  assert_non_null(f);
  char header[118];
  memset(header, ' ', sizeof header);
  int used = snprintf(header, sizeof header,
                      "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shape);
  header[used] = ' ';
  header[117] = '\n';
  unsigned char start[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0};
  fwrite(start, 1, sizeof start, f);
  fwrite(header, 1, sizeof header, f);
  fwrite(x, sizeof *x, n, f);
  fclose(f);
}

#endif
