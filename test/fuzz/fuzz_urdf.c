// URDF text through the parser and the compiler; the length picks the options.
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  char* text = malloc(size + 1);
  tbError error = {0};
  tbLoadOptions options = tbDefaultLoadOptions();
  if (!text) return 0;
  memcpy(text, bytes, size);
  text[size] = 0;
  options.floating_base = size % 2;
  options.keep_fixed = size / 2 % 2;
  options.keep_visual = size / 4 % 2;
  tbModel* model = tb_load_string(text, TB_TEST_DIR "/fuzz/files", &options, &error);
  if (model) fuzz_use_model(model);
  FUZZ_CHECK(model || (error.code != TB_OK && error.message[0]), "an error without a message");
  tb_model_free(model);
  free(text);
  return 0;
}
