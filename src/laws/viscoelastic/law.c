// The viscoelastic law in the table of laws.
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "laws/rows.h"
#include "laws/viscoelastic/viscoelastic.h"

// The exponential integrator acts on springs that close within a step.
static bool predicts(const tbModel* m) {
  return m->opt.integrator == TB_INTEGRATOR_EXPO_MIDPOINT;
}

static tbLookAhead look_ahead(const tbModel* m) {
  return (tbLookAhead){.horizon = predicts(m) ? 2 * m->opt.timestep : 0};
}

static tbReal reach(const tbStep* s) {
  const tbModel* m = s->m;
  bool far = predicts(m) || m->opt.contact_bilateral;
  return far ? tb_rows_detection(m, m->opt.contact_margin) : tb_touch_gap(m);
}

// The middle of a step of expo-midpoint has no partials of its own.
static bool has_partials(const tbStep* s, bool forces_only) {
  return forces_only || !predicts(s->m);
}

// ---- state -------------------------------------------------------------------------------------

static void close(void* pointer) {
  tbViscoelasticState* own = pointer;
  tb_anchors_free(&own->anchors);
  tb_anchors_free(&own->spare);
  free(own->frozen);
  free(own);
}

static void count(const void* pointer, size_t* bytes, size_t* allocations) {
  const tbViscoelasticState* own = pointer;
  *bytes += tb_anchors_bytes(&own->anchors) + tb_anchors_bytes(&own->spare);
  *allocations += own->anchors.allocations + own->spare.allocations;
}

// ---- memory: the table of anchors --------------------------------------------------------------

static void memory_free(void* anchors) {
  tb_anchors_free(anchors);
}

static void memory_clear(void* pointer) {
  tbAnchorTable* anchors = pointer;
  if (anchors->capacity) tb_anchors_clear(anchors, 0);
}

static size_t memory_bytes(const void* anchors) {
  return tb_anchors_bytes(anchors);
}

static size_t saved_size(const void* pointer) {
  const tbAnchorTable* anchors = pointer;
  return sizeof(tbAnchor) * (size_t)anchors->count;
}

static void save(const void* pointer, unsigned char* to) {
  const tbAnchorTable* anchors = pointer;
  for (int i = 0; anchors->count && i < anchors->capacity; i++) {
    if (!anchors->slot[i].used) continue;
    memcpy(to, &anchors->slot[i], sizeof(tbAnchor));
    to += sizeof(tbAnchor);
  }
}

static tbResult load(void* anchors, const unsigned char* from, size_t size, tbError* error) {
  size_t n = size / sizeof(tbAnchor);
  if (n * sizeof(tbAnchor) != size || n > INT32_MAX / 8) {
    return tb_fail(error, TB_ERROR_PARSE, "%zu bytes are no anchors of springs", size);
  }
  if (!tb_anchors_clear(anchors, (int)n)) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < n; i++) {
    tbAnchor anchor;
    memcpy(&anchor, from + i * sizeof anchor, sizeof anchor);
    tb_anchors_put(anchors, &anchor);
  }
  return TB_OK;
}

static const tbLawMemory MEMORY = {
    .size = sizeof(tbAnchorTable),
    .free = memory_free,
    .clear = memory_clear,
    .bytes = memory_bytes,
    .saved_size = saved_size,
    .save = save,
    .load = load,
};

const tbLawType tb_law_viscoelastic = {
    .solvers = 1u << TB_SOLVER_AUTO,
    .look_ahead = look_ahead,
    .reach = reach,
    .prepare = tb_springs_measure,
    .velocity = tb_viscoelastic_velocity,
    .keep = tb_anchors_exchange,
    .undo = tb_anchors_restore,
    .has_partials = has_partials,
    .linearize = tb_viscoelastic_linearize,
    .state_size = sizeof(tbViscoelasticState),
    .close = close,
    .count = count,
    .memory = &MEMORY,
};
