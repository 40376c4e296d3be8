// Shared code of the fuzz targets. A target reads arbitrary bytes: it must neither crash nor leak
// nor hang, and a model that loads must be valid.
#ifndef TRIBO_TEST_FUZZ_H_
#define TRIBO_TEST_FUZZ_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tribo/tribo.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

// Stop at once: the fuzzer keeps the input.
#define FUZZ_CHECK(condition, message)                                               \
  do {                                                                               \
    if (!(condition)) {                                                              \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, (message)); \
      abort();                                                                       \
    }                                                                                \
  } while (0)

// Use a model that was loaded: copy, save, read back, and a few steps.
void fuzz_use_model(const tbModel* model);

#endif
