#include "tribo/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model/workspace.h"

enum { ALIGNMENT = 64 };

static size_t padded(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t block_bytes(const tbModel* model) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  size_t total = ALIGNMENT;
#define X(type, name, rows, columns, unit, what) \
  total += padded((size_t)((rows) * (columns)) * sizeof(type));
  TB_DATA_ARRAYS(X)
#undef X
#define X(type, name, rows, columns, what) \
  total += padded((size_t)((rows) * (columns)) * sizeof(type));
  TB_SCRATCH_ARRAYS(X)
#undef X
  return total;
}

// The sizes are the first members of a model, in the order of their list.
bool tb_data_fits(const tbModel* model, const tbData* data) {
  return memcmp(model, data->work->size, sizeof data->work->size) == 0;
}

static void set_pointers(const tbModel* model, tbData* data) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  uintptr_t at = ((uintptr_t)data->block + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
#define X(type, name, rows, columns, unit, what) \
  data->name = (type*)at;                        \
  at += padded((size_t)((rows) * (columns)) * sizeof(type));
  TB_DATA_ARRAYS(X)
#undef X
#define X(type, name, rows, columns, what) \
  data->work->name = (type*)at;            \
  at += padded((size_t)((rows) * (columns)) * sizeof(type));
  TB_SCRATCH_ARRAYS(X)
#undef X
}

tbData* tb_data_new(const tbModel* model) {
  if (!model) return NULL;
  tbData* data = calloc(1, sizeof *data);
  tbWorkspace* work = calloc(1, sizeof *work);
  size_t bytes = block_bytes(model);
  void* block = calloc(1, bytes);
  if (!data || !work || !block) {
    free(data);
    free(work);
    free(block);
    return NULL;
  }
  tb_arena_init(&work->arena);
  tb_arena_init(&work->query);
  work->block = model->block;
  memcpy(work->size, model, sizeof work->size);
  data->work = work;
  data->block = block;
  data->block_size = bytes;
  set_pointers(model, data);
  tb_reset(model, data);
  return data;
}

void tb_data_free(tbData* data) {
  if (!data) return;
  if (data->work->step) data->work->step_free(data->work->step);
  tb_arena_free(&data->work->arena);
  tb_arena_free(&data->work->query);
  free(data->work->entrained);
  free(data->work);
  free(data->block);
  free(data);
}

tbData* tb_data_copy(const tbModel* model, const tbData* source) {
  if (!tb_is_world_of(model, source)) return NULL;
  tbData* copy = tb_data_new(model);
  if (!copy) return NULL;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what) \
  memcpy(copy->name, source->name, (size_t)((rows) * (columns)) * sizeof(type));
  TB_DATA_ARRAYS(X)
#undef X
  copy->work->unfactored = source->work->unfactored;
  copy->time = source->time;
  memcpy(copy->energy, source->energy, sizeof copy->energy);
  return copy;
}

// State and inputs at the reference pose.
static void reset_pose(const tbModel* model, tbData* data) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what) \
  memset(data->name, 0, (size_t)((rows) * (columns)) * sizeof(type));
  TB_DATA_STATE(X)
  TB_DATA_INPUT(X)
#undef X
  data->time = 0;
  memcpy(data->qpos, model->qpos0, (size_t)model->nq * sizeof(tbReal));
  for (int i = 0; i < model->neq; i++) data->eq_active[i] = model->eq_active0[i];
  for (int i = 0; i < model->nbody; i++) {
    int mocap = model->body_mocapid[i];
    if (mocap < 0) continue;
    memcpy(data->mocap_pos + 3 * mocap, model->body_pos + 3 * i, 3 * sizeof(tbReal));
    memcpy(data->mocap_quat + 4 * mocap, model->body_quat + 4 * i, 4 * sizeof(tbReal));
  }
}

void tb_reset_state(const tbModel* model, tbData* data, int key) {
  reset_pose(model, data);
  if (key < 0) return;
  size_t k = (size_t)key, real = sizeof(tbReal);
  size_t nq = (size_t)model->nq, nv = (size_t)model->nv, na = (size_t)model->na;
  size_t nu = (size_t)model->nu, nmocap = (size_t)model->nmocap;
  data->time = model->key_time[key];
  memcpy(data->qpos, model->key_qpos + k * nq, nq * real);
  memcpy(data->qvel, model->key_qvel + k * nv, nv * real);
  memcpy(data->act, model->key_act + k * na, na * real);
  memcpy(data->ctrl, model->key_ctrl + k * nu, nu * real);
  memcpy(data->mocap_pos, model->key_mpos + 3 * k * nmocap, 3 * nmocap * real);
  memcpy(data->mocap_quat, model->key_mquat + 4 * k * nmocap, 4 * nmocap * real);
}

void tb_reset(const tbModel* model, tbData* data) {
  if (!tb_is_world_of(model, data)) return;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what) \
  memset(data->name, 0, (size_t)((rows) * (columns)) * sizeof(type));
  TB_DATA_DERIVED(X)
#undef X
  tb_reset_state(model, data, -1);
  data->energy[0] = data->energy[1] = 0;
  data->ncon = 0;
  data->contact = NULL;
  data->status = TB_OK;
  data->message[0] = 0;
  if (data->work->step) data->work->step_free(data->work->step);
  data->work->step = NULL;
  data->work->halfway = 0;
}

tbResult tb_reset_keyframe(const tbModel* model, tbData* data, int key) {
  if (!tb_is_world_of(model, data)) return TB_ERROR_ARGUMENT;
  if (key < 0 || key >= model->nkey) {
    char has[64] = "the model has none";
    if (model->nkey > 0) snprintf(has, sizeof has, "the model has 0 to %d", model->nkey - 1);
    snprintf(data->message, sizeof data->message, "no keyframe %d, %s", key, has);
    return TB_ERROR_ARGUMENT;
  }
  tb_reset(model, data);
  tb_reset_state(model, data, key);
  return TB_OK;
}

int tb_state_size(const tbModel* model) {
  if (!model) return 0;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  int64_t total = 1;
#define X(type, name, rows, columns, unit, what) total += (rows) * (columns);
  TB_DATA_STATE(X)
#undef X
  return (int)total;
}

void tb_state_get(const tbModel* model, const tbData* data, tbReal* state) {
  if (!tb_is_world_of(model, data) || !state) return;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  *state++ = data->time;
#define X(type, name, rows, columns, unit, what) \
  for (int64_t i = 0; i < (rows) * (columns); i++) *state++ = (tbReal)data->name[i];
  TB_DATA_STATE(X)
#undef X
}

void tb_state_set(const tbModel* model, tbData* data, const tbReal* state) {
  if (!tb_is_world_of(model, data) || !state) return;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
  data->work->halfway = 0;
  data->time = *state++;
#define X(type, name, rows, columns, unit, what) \
  for (int64_t i = 0; i < (rows) * (columns); i++) data->name[i] = (type)*state++;
  TB_DATA_STATE(X)
#undef X
}

const void* tb_data_field(const tbModel* model, const tbData* data, const char* field,
                          const char** type, int* rows_out, int* columns_out) {
  if (!tb_is_world_of(model, data) || !field) return NULL;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(c_type, name, rows, columns, unit, what)                       \
  if (strcmp(field, #name) == 0) {                                       \
    if (type) *type = strcmp(#c_type, "tbReal") == 0 ? "real" : #c_type; \
    if (rows_out) *rows_out = (int)(rows);                               \
    if (columns_out) *columns_out = (int)(columns);                      \
    return data->name;                                                   \
  }
  TB_DATA_ARRAYS(X)
#undef X
  return NULL;
}
