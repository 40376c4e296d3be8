// OBJ files through the reader and the mass properties.
#include "fuzz/fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  fuzz_read_mesh("fuzz.obj", bytes, size);
  return 0;
}
