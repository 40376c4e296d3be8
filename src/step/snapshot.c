// Snapshots: header, time, state and input arrays, cached impulses, what each law remembers, memory
// of the collision pairs.
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "model/model.h"
#include "model/workspace.h"
#include "step/step.h"
#include "tribo/step.h"

enum { VERSION = 10 };
static const char MAGIC[8] = "tribosn";

typedef struct {
  char magic[8];
  uint64_t version;
  uint64_t checksum;                 // over all bytes after it
  uint64_t size;                     // bytes of the whole block
  uint64_t model;                    // of the model's sizes
  uint64_t nwarm;                    // entries of the impulse cache
  uint64_t nlaw[TB_STEP_LAW_COUNT];  // bytes of what each law remembers
  uint64_t nsleep;                   // bytes of the sleep state
  uint64_t nmemory;                  // bytes of the collision memory
  tbReal time;
} Header;

static uint64_t checksum_of(const unsigned char* bytes, size_t size) {
  size_t start = offsetof(Header, size);
  return tb_hash(TB_HASH_SEED, bytes + start, size - start);
}

static uint64_t model_hash(const tbModel* model) {
  uint64_t hash = TB_HASH_SEED;
#define X(name, what) hash = tb_hash(hash, &model->name, sizeof model->name);
  TB_MODEL_SIZES(X)
#undef X
  return hash;
}

static size_t arrays_size(const tbModel* model) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  size_t total = 0;
#define X(type, name, rows, columns, unit, what) \
  total += (size_t)((rows) * (columns)) * sizeof(type);
  TB_DATA_STATE(X)
  TB_DATA_INPUT(X)
#undef X
  return total;
}

static uint64_t laws_size(const Header* h) {
  uint64_t sum = 0;
  for (int i = 0; i < TB_STEP_LAW_COUNT; i++) sum += h->nlaw[i];
  return sum;
}

static Header header_of(const tbModel* model, const tbData* data) {
  const tbStepState* state = data->work->step;
  Header h = {.version = VERSION, .model = model_hash(model), .time = data->time};
  memcpy(h.magic, MAGIC, sizeof h.magic);
  for (int i = 0; state && i < state->warm.capacity; i++) h.nwarm += state->warm.slot[i].dim > 0;
  if (state) h.nmemory = tb_detector_memory_size(state->detector);
  if (state) h.nsleep = tb_sleep_size(model, &state->sleep);
  for (int i = 0; state && i < TB_STEP_LAW_COUNT; i++) {
    const tbLawMemory* memory = tb_law_type(i)->memory;
    if (memory && state->law[i].state) h.nlaw[i] = memory->saved_size(state->law[i].state);
  }
  h.size = sizeof h + arrays_size(model) + h.nwarm * sizeof(tbCachedImpulse) + laws_size(&h) +
           h.nsleep + h.nmemory;
  return h;
}

size_t tb_snapshot_size(const tbModel* model, const tbData* data) {
  return tb_is_world_of(model, data) ? (size_t)header_of(model, data).size : 0;
}

size_t tb_snapshot_length(const void* bytes, size_t room) {
  Header h;
  if (room < sizeof h) return room;
  memcpy(&h, bytes, sizeof h);
  return h.size < room ? (size_t)h.size : room;
}

tbResult tb_snapshot_save(const tbModel* model, const tbData* data, void* bytes, size_t size) {
  if (!bytes || !tb_is_world_of(model, data)) return TB_ERROR_ARGUMENT;
  Header h = header_of(model, data);
  if (size != h.size) return TB_ERROR_ARGUMENT;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  unsigned char* at = (unsigned char*)bytes + sizeof h;
#define X(type, name, rows, columns, unit, what)                       \
  memcpy(at, data->name, (size_t)((rows) * (columns)) * sizeof(type)); \
  at += (size_t)((rows) * (columns)) * sizeof(type);
  TB_DATA_STATE(X)
  TB_DATA_INPUT(X)
#undef X
  // Entries of the impulse cache, without the values that their dimension leaves unused.
  const tbStepState* state = data->work->step;
  for (int i = 0; h.nwarm && i < state->warm.capacity; i++) {
    const tbCachedImpulse* slot = &state->warm.slot[i];
    if (slot->dim == 0) continue;
    tbCachedImpulse entry;
    memset(&entry, 0, sizeof entry);
    entry.key = slot->key;
    entry.dim = slot->dim;
    entry.residual = slot->residual;
    memcpy(entry.pos, slot->pos, sizeof entry.pos);
    memcpy(entry.lambda, slot->lambda, sizeof(tbReal) * (size_t)slot->dim);
    memcpy(at, &entry, sizeof entry);
    at += sizeof entry;
  }
  for (int i = 0; i < TB_STEP_LAW_COUNT; i++) {
    if (h.nlaw[i]) tb_law_type(i)->memory->save(state->law[i].state, at);
    at += h.nlaw[i];
  }
  if (state) tb_sleep_save(model, &state->sleep, at);
  at += h.nsleep;
  if (state) tb_detector_memory_save(state->detector, at);
  memcpy(bytes, &h, sizeof h);
  h.checksum = checksum_of(bytes, size);
  memcpy(bytes, &h, sizeof h);
  return TB_OK;
}

// Whether the bytes are a whole snapshot of this model.
static tbResult check(const tbModel* model, const void* bytes, size_t size, Header* h,
                      tbError* error) {
  if (size < sizeof *h)
    return tb_fail(error, TB_ERROR_PARSE, "size: %zu bytes are not a snapshot", size);
  memcpy(h, bytes, sizeof *h);
  if (memcmp(h->magic, MAGIC, sizeof h->magic) != 0 || h->version != VERSION) {
    return tb_fail(error, TB_ERROR_PARSE, "not a snapshot of version %d", (int)VERSION);
  }
  size_t arrays = arrays_size(model);
  uint64_t most = size;  // upper bound of every count, so that their sum cannot overflow
  bool fits = h->nwarm <= most && h->nsleep <= most && h->nmemory <= most;
  for (int i = 0; i < TB_STEP_LAW_COUNT; i++) fits = fits && h->nlaw[i] <= most;
  if (h->size != size || !fits ||
      sizeof *h + arrays + h->nwarm * sizeof(tbCachedImpulse) + laws_size(h) + h->nsleep +
              h->nmemory !=
          size) {
    return tb_fail(error, TB_ERROR_PARSE, "a snapshot of another size or another model");
  }
  if (h->checksum != checksum_of(bytes, size)) {
    return tb_fail(error, TB_ERROR_PARSE, "damaged snapshot: the checksum does not match");
  }
  if (h->model != model_hash(model)) {
    return tb_fail(error, TB_ERROR_PARSE, "a snapshot of another model");
  }
  return TB_OK;
}

// Cached impulses are copied out, since a block of bytes need not be aligned.
static tbResult load_warm(tbImpulseCache* warm, const unsigned char* at, uint64_t count,
                          tbError* error) {
  tbCachedImpulse entry;
  for (uint64_t i = 0; i < count; i++) {
    memcpy(&entry, at + i * sizeof entry, sizeof entry);
    if (entry.dim < 1 || entry.dim > TB_MAX_BLOCK_DIM) {
      return tb_fail(error, TB_ERROR_PARSE, "a cached impulse of dimension %d", entry.dim);
    }
  }
  if (!tb_impulse_cache_clear(warm, (int)count))
    return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  for (uint64_t i = 0; i < count; i++) {
    memcpy(&entry, at + i * sizeof entry, sizeof entry);
    tb_impulse_cache_put(warm, entry.key, entry.pos, entry.dim, entry.lambda, entry.residual);
  }
  return TB_OK;
}

// A law that a snapshot does not mention remembers nothing.
static tbResult load_laws(const tbModel* model, tbStepState* state, const Header* h,
                          const unsigned char* at, tbError* error) {
  for (int i = 0; i < TB_STEP_LAW_COUNT; i++) {
    const tbLawMemory* memory = tb_law_type(i)->memory;
    if (!memory && h->nlaw[i]) {
      return tb_fail(error, TB_ERROR_PARSE, "law %s remembers nothing", tb_step_law_name(i));
    }
    if (!memory || (h->nlaw[i] == 0 && !state->law[i].state)) continue;
    if (!tb_law_open(model, state, i)) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    tbResult result = memory->load(state->law[i].state, at, (size_t)h->nlaw[i], error);
    if (result != TB_OK) return result;
    at += h->nlaw[i];
  }
  return TB_OK;
}

tbResult tb_snapshot_load(const tbModel* model, tbData* data, const void* bytes, size_t size,
                          tbError* error) {
  if (!model || !data || !bytes) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "model, data and bytes are needed");
  }
  if (!tb_data_fits(model, data)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "this world is of another model");
  }
  Header h;
  tbResult result = check(model, bytes, size, &h, error);
  if (result != TB_OK) return result;
  tbStepState* state = tb_step_state(model, data);
  if (!state) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  const unsigned char *arrays = (const unsigned char*)bytes + sizeof h,
                      *warm = arrays + arrays_size(model),
                      *laws = warm + h.nwarm * sizeof(tbCachedImpulse),
                      *sleep = laws + laws_size(&h), *memory = sleep + h.nsleep;
  if (h.nwarm > INT32_MAX / 8) return tb_fail(error, TB_ERROR_PARSE, "too many cached impulses");
  result = tb_sleep_load(model, &state->sleep, sleep, (size_t)h.nsleep);
  if (result != TB_OK) return tb_fail(error, result, "invalid state of sleeping islands");
  result = tb_detector_memory_load(state->detector, memory, (size_t)h.nmemory);
  if (result != TB_OK) return tb_fail(error, result, "invalid memory of the collision pairs");
  result = load_warm(&state->warm, warm, h.nwarm, error);
  if (result == TB_OK) result = load_laws(model, state, &h, laws, error);
  if (result != TB_OK) return result;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what)                           \
  memcpy(data->name, arrays, (size_t)((rows) * (columns)) * sizeof(type)); \
  arrays += (size_t)((rows) * (columns)) * sizeof(type);
  TB_DATA_STATE(X)
  TB_DATA_INPUT(X)
#undef X
  data->time = h.time;
  data->status = TB_OK;
  data->message[0] = 0;
  data->ncon = 0;
  data->contact = NULL;
  data->work->halfway = 0;
  return TB_OK;
}
