// MJCF text through the parser and the compiler; as a spec, written and read again; and the model
// as a spec.
#include "fuzz/fuzz.h"

// Writes the spec and reads it back: an equal spec.
static void write_and_read(const tbSpec* spec) {
  tbError error = {0};
  char* text = tb_spec_save_xml(spec, &error);
  FUZZ_CHECK(text, error.message);
  tbSpec* again = tb_spec_load_xml(text, TB_TEST_DIR "/fuzz/files", NULL, &error);
  FUZZ_CHECK(again, error.message);
  FUZZ_CHECK(tb_spec_equal(spec, again), "the text reads as another spec");
  tb_spec_free(again);
  tb_text_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  char* text = malloc(size + 1);
  tbError error = {0};
  if (!text) return 0;
  memcpy(text, bytes, size);
  text[size] = 0;
  tbModel* model = tb_load_string(text, TB_TEST_DIR "/fuzz/files", NULL, &error);
  if (model) fuzz_use_model(model);
  FUZZ_CHECK(model || (error.code != TB_OK && error.message[0]), "an error without a message");
  tbSpec* spec = tb_spec_load_xml(text, TB_TEST_DIR "/fuzz/files", NULL, &error);
  FUZZ_CHECK(spec || !model, "a model, but no spec");
  if (spec) write_and_read(spec);
  tb_spec_free(spec);
  // A model that MJCF cannot express is refused with a message.
  spec = model ? tb_spec_from_model(model, &error) : NULL;
  FUZZ_CHECK(spec || !model || error.message[0], "an error without a message");
  if (spec) write_and_read(spec);
  tb_spec_free(spec);
  tb_model_free(model);
  free(text);
  return 0;
}
