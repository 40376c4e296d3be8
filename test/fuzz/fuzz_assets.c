// The other asset formats: the first byte picks DAE, MSH or height field.
#include "fuzz/fuzz_mesh.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  int kind = bytes[0] % 4;
  if (kind == 0) fuzz_read_mesh("fuzz.dae", bytes + 1, size - 1);
  if (kind == 1) fuzz_read_mesh("fuzz.msh", bytes + 1, size - 1);
  if (kind == 2) fuzz_read_mesh("fuzz.unknown", bytes + 1, size - 1);
  if (kind == 3) fuzz_read_hfield(bytes + 1, size - 1);
  return 0;
}
