#include "batch/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "batch/state.h"
#include "forces/forces.h"
#include "model/model.h"
#include "model/sensor_kinds.h"
#include "tribo/dynamics.h"

// ---- the fields --------------------------------------------------------------------------------

static void contact_wrenches(const tbModel* m, tbData* d, void* rows) {
  tb_body_contact_wrenches(m, d, rows);
}

// The factor of M, where a step leaves another matrix.
static void factor(const tbModel* m, tbData* d, void* row) {
  tb_factor_m(m, d);
  memcpy(row, d->qLD, sizeof(tbReal) * (size_t)m->nM);
}

static void inverse_pivots(const tbModel* m, tbData* d, void* row) {
  tb_factor_m(m, d);
  memcpy(row, d->qLDiagInv, sizeof(tbReal) * (size_t)m->nv);
}

// Derived fields that the second half of a step fills.
static bool is_second(const char* name) {
  static const char* const NAMES[] = {
      "actuator_force",  "act_dot", "qfrc_actuator", "qfrc_smooth", "qacc_smooth",
      "qfrc_constraint", "qacc",    "cacc",          "cfrc_int",    "cfrc_ext"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (strcmp(name, NAMES[i]) == 0) return true;
  }
  return false;
}

static int needs_of(const char* name) {
  if (strcmp(name, "subtree_linvel") == 0 || strcmp(name, "subtree_angmom") == 0) {
    return TB_NEEDS_SUBTREE;
  }
  if (strcmp(name, "cacc") == 0) return TB_NEEDS_ACCELERATION;
  return strcmp(name, "cfrc_int") == 0 || strcmp(name, "cfrc_ext") == 0 ? TB_NEEDS_REACTION : 0;
}

// Take the field if its name is the one that is looked for.
static bool offer(const char* name, const tbField* candidate, tbNearest* nearest, tbField* field) {
  if (strcmp(name, candidate->name) == 0) {
    *field = *candidate;
    return true;
  }
  tb_nearest_offer(nearest, candidate->name);
  return false;
}

// Fields that are no arrays of tbData.
static bool find_other(const tbModel* m, const char* name, tbNearest* nearest, tbField* field) {
#define VALUE(field, member, kind, n, ...)                                                         \
  {                                                                                                \
    .name = field, .type = kind, .offset = offsetof(tbData, member), .count = n, .by_value = true, \
    __VA_ARGS__                                                                                    \
  }
  const tbField other[] = {
      VALUE("time", time, "real", 1, .derived = false),
      VALUE("energy", energy, "real", 2, .derived = true, .needs = TB_NEEDS_ENERGY),
      VALUE("status", status, "int", 1, .derived = false),
      VALUE("ncon", ncon, "int", 1, .derived = false),
      VALUE("residual", solve.residual.relative, "real", 1, .derived = true, .second_half = true),
      VALUE("residual_exact", solve.residual_exact.relative, "real", 1, .derived = true,
            .second_half = true),
      {.name = "body_contact_wrench",
       .type = "real",
       .count = 6 * m->nbody,
       .derived = true,
       .second_half = true,
       .compute = contact_wrenches},
      {.name = "qLD", .type = "real", .count = m->nM, .derived = true, .compute = factor},
      {.name = "qLDiagInv",
       .type = "real",
       .count = m->nv,
       .derived = true,
       .compute = inverse_pivots},
  };
#undef VALUE
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    if (offer(name, &other[i], nearest, field)) return true;
  }
  return false;
}

static bool find_array(const tbModel* model, const char* name, tbNearest* nearest, tbField* field) {
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define FIELD(c_type, member, n, is_derived)                                             \
  {                                                                                      \
    const tbField f = {.name = #member,                                                  \
                       .type = sizeof #c_type == sizeof "int" ? "int" : "real",          \
                       .offset = offsetof(tbData, member),                               \
                       .count = (int)(n),                                                \
                       .derived = is_derived,                                            \
                       .second_half = is_derived && is_second(#member),                  \
                       .needs = is_derived ? needs_of(#member) : 0};                     \
    if (strncmp(#member, "scratch_", 8) && offer(name, &f, nearest, field)) return true; \
  }
#define X(type, member, rows, columns, unit, what) FIELD(type, member, (rows) * (columns), false)
  TB_DATA_STATE(X)
  TB_DATA_INPUT(X)
#undef X
#define X(type, member, rows, columns, unit, what) \
  FIELD(type, member, (rows) * (columns), strcmp(#member, "sensordata") != 0)
  TB_DATA_DERIVED(X)
#undef X
#undef FIELD
  return false;
}

bool tb_field_find(const tbModel* m, const char* name, tbField* field, char hint[96]) {
  tbNearest nearest = {.name = name};
  hint[0] = 0;
  bool found = find_other(m, name, &nearest, field) || find_array(m, name, &nearest, field);
  if (!found) tb_nearest_hint(&nearest, hint);
  bool is_int = found && strcmp(field->type, "int") == 0;
  if (found) field->bytes = (is_int ? sizeof(int) : sizeof(tbReal)) * (size_t)field->count;
  return found;
}

void tb_field_copy(const tbField* f, const tbModel* m, tbData* d, void* row) {
  if (f->compute) {
    f->compute(m, d, row);
  } else if (f->bytes) {
    const char* at = (const char*)d + f->offset;
    memcpy(row, f->by_value ? (const void*)at : *(void* const*)(const void*)at, f->bytes);
  }
}

// ---- requests ----------------------------------------------------------------------------------

void tb_requests_free(tbRequests* r) {
  for (int i = 0; i < r->count; i++) free(r->list[i].rows);
  free(r->list);
}

size_t tb_requests_bytes(const tbRequests* r, int nworld) {
  size_t bytes = 0;
  for (int i = 0; i < r->count; i++) {
    bytes += sizeof(tbRequest) + r->list[i].field.bytes * (size_t)nworld;
  }
  return bytes;
}

void tb_requests_copy(const tbRequests* r, const tbModel* m, tbData* d, int w, bool second_half) {
  for (int i = 0; i < r->count; i++) {
    const tbField* f = &r->list[i].field;
    if (f->second_half && !second_half) continue;
    tb_field_copy(f, m, d, r->list[i].rows + f->bytes * (size_t)w);
  }
}

void* tb_batch_request(tbBatch* b, const char* name) {
  if (!b) return NULL;
  if (!name) {
    tb_batch_refuse(b, "tb_batch_request: name is NULL");
    return NULL;
  }
  tbField field;
  char hint[96];
  if (!tb_field_find(b->model, name, &field, hint)) {
    tb_batch_refuse(b, "tb_batch_request: no field is called '%.60s'%s", name, hint);
    return NULL;
  }
  void* there = tb_batch_field(b, name, NULL, NULL);
  if (there) return there;
  tbRequests* r = &b->state->requests;
  size_t bytes = field.bytes * (size_t)b->nworld, limit = b->state->memory_limit;
  if (limit && tb_batch_memory(b) + bytes > limit) {
    tb_batch_refuse(b, "tb_batch_request: '%s' for %d worlds needs %zu bytes, the limit is %zu",
                    name, b->nworld, tb_batch_memory(b) + bytes, limit);
    return NULL;
  }
  tbRequest* grown = realloc(r->list, sizeof *grown * (size_t)(r->count + 1));
  if (grown) r->list = grown;
  char* rows = grown ? tb_batch_alloc_rows(bytes) : NULL;
  if (!rows) {
    tb_batch_refuse(b, "tb_batch_request: out of memory for '%s'", name);
    return NULL;
  }
  memset(rows, 0, bytes);
  r->list[r->count++] = (tbRequest){field, rows};
  r->needs |= field.needs;
  return rows;
}
