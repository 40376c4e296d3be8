#include "fuzz/fuzz.h"
#include "model/binary.h"
#include "model/model.h"

// The model written and read back is the same model.
static void round_trip(const tbModel* model) {
  size_t size = tb_model_binary_size(model);
  unsigned char *bytes = malloc(size), *again = malloc(size);
  tbError error = {0};
  FUZZ_CHECK(bytes && again, "out of memory");
  tb_model_write(model, bytes);
  tbModel* copy = tb_model_load_binary(bytes, size, &error);
  FUZZ_CHECK(copy, error.message);
  FUZZ_CHECK(tb_model_binary_size(copy) == size, "size");
  tb_model_write(copy, again);
  FUZZ_CHECK(memcmp(bytes, again, size) == 0, "bytes");
  tb_model_free(copy);
  free(bytes);
  free(again);
}

void fuzz_use_model(const tbModel* model) {
  tbError error = {0};
  FUZZ_CHECK(tb_model_check(model, &error) == TB_OK, error.message);
  // Large models are sound or not for the same reasons as small ones.
  if (model->block_size > (4 << 20) || model->nv > 200 || model->ngeom > 200) return;
  round_trip(model);
  tbData* data = tb_data_new(model);
  FUZZ_CHECK(data, "out of memory");
  for (int i = 0; i < 3; i++) (void)tb_step(model, data);
  for (int key = 0; key < model->nkey && key < 2; key++) {
    (void)tb_reset_keyframe(model, data, key);
    (void)tb_step(model, data);
  }
  tb_data_free(data);
}
