// Numpy arrays, alone and as members of an archive.
#include "fuzz/fuzz.h"
#include "io/npy.h"

static void use(const uint8_t* bytes, size_t size, const char* member) {
  tbNpy array;
  tbError error = {0};
  if (tb_npy_parse(bytes, size, "fuzz.npy", member, &array, &error) != TB_OK) {
    FUZZ_CHECK(error.code != TB_OK && error.message[0], "an error without a message");
    FUZZ_CHECK(!array.data && array.count == 0 && array.ndim == 0, "an array with an error");
    return;
  }
  size_t count = 1;
  FUZZ_CHECK(array.ndim >= 0 && array.ndim <= TB_NPY_DIMS, "dimensions");
  for (int i = 0; i < array.ndim; i++) count *= (size_t)array.shape[i];
  FUZZ_CHECK(count == array.count && 8 * count <= size, "more values than bytes");
  // Read every value, so that a sanitizer reports memory that was not written.
  volatile double last = 0;
  for (size_t i = 0; i < array.count; i++) last = array.data[i];
  (void)last;
  tb_npy_free(&array);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  use(bytes, size, NULL);
  use(bytes, size, "a");
  return 0;
}
