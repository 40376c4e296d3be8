// Snapshots. The input selects the law of the world and lists changes (place, four bytes) of a
// valid snapshot; the checksum is corrected. A snapshot that loads is stepped on; one that does not
// leaves the world unchanged.
#include "base/hash.h"
#include "fuzz/fuzz.h"

// Bodies at rest, in contact and asleep, with impulses kept for warm starts.
static const char SCENE[] =
    "<mujoco><option sleep='1'/><asset><mesh name='t' vertex='0 0 0 .1 0 0 0 .1 0 0 0 .1'/></asset>"
    "<worldbody><geom type='plane' size='5 5 1'/>"
    "<body pos='0 0 0.1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
    "<body pos='0 0 0.3'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
    "<body pos='1 0 0.05'><freejoint/><geom type='mesh' mesh='t'/></body>"
    "<body pos='2 0 0.2'><joint axis='0 1 0' range='-1 1'/><geom type='capsule' size='.05 .2'/>"
    "</body></worldbody></mujoco>";

enum { LAWS = 3, CHECKSUM = 16, HASHED = 24 };

typedef struct {
  tbModel* model;
  unsigned char* bytes;
  size_t size;
} World;

static unsigned char* save(const tbModel* model, const tbData* data, size_t* size) {
  *size = tb_snapshot_size(model, data);
  unsigned char* bytes = malloc(*size);
  FUZZ_CHECK(bytes && tb_snapshot_save(model, data, bytes, *size) == TB_OK, "cannot save");
  return bytes;
}

// A world of each law after some steps, made at the first call.
static const World* world(int law) {
  static World worlds[LAWS];
  static const char* const NAMES[LAWS] = {"ncp", "soft", "viscoelastic"};
  World* w = &worlds[law];
  if (w->model) return w;
  tbError error = {0};
  w->model = tb_load_string(SCENE, NULL, NULL, &error);
  FUZZ_CHECK(w->model, error.message);
  FUZZ_CHECK(tb_option_set(&w->model->opt, "law", NAMES[law], &error) == TB_OK, error.message);
  tbData* data = tb_data_new(w->model);
  FUZZ_CHECK(data, "out of memory");
  for (int i = 0; i < 300; i++) FUZZ_CHECK(tb_step(w->model, data) == TB_OK, data->message);
  w->bytes = save(w->model, data, &w->size);
  tb_data_free(data);
  return w;
}

int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  if (size < 2) return 0;
  const World* w = world(input[0] % LAWS);
  // Cut short or as long as it was.
  size_t total = input[1] & 1 ? w->size - (size_t)input[1] * w->size / 512 : w->size;
  unsigned char* bytes = malloc(total + 1);
  FUZZ_CHECK(bytes, "out of memory");
  memcpy(bytes, w->bytes, total);
  for (size_t i = 2; i + 8 <= size && total > HASHED + 4; i += 8) {
    uint32_t place;
    memcpy(&place, input + i, sizeof place);
    memcpy(bytes + HASHED + 4 * (place % ((total - HASHED) / 4)), input + i + 4, 4);
  }
  if (total > HASHED) {
    uint64_t checksum = tb_hash(TB_HASH_SEED, bytes + HASHED, total - HASHED);
    memcpy(bytes + CHECKSUM, &checksum, sizeof checksum);
  }

  tbError error = {0};
  tbData* data = tb_data_new(w->model);
  FUZZ_CHECK(data, "out of memory");
  FUZZ_CHECK(tb_snapshot_load(w->model, data, w->bytes, w->size, &error) == TB_OK, error.message);
  if (tb_snapshot_load(w->model, data, bytes, total, &error) == TB_OK) {
    for (int i = 0; i < 3; i++) (void)tb_step(w->model, data);
  } else {
    FUZZ_CHECK(error.code != TB_OK && error.message[0], "an error without a message");
    size_t now;
    unsigned char* after = save(w->model, data, &now);
    FUZZ_CHECK(now == w->size && memcmp(after, w->bytes, now) == 0, "the world has changed");
    free(after);
  }
  tb_data_free(data);
  free(bytes);
  return 0;
}
