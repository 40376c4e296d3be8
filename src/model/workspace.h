// The internal part of a world: scratch memory and the step's state between calls.
#ifndef TRIBO_MODEL_WORKSPACE_H_
#define TRIBO_MODEL_WORKSPACE_H_

#include <stdbool.h>

#include "base/arena.h"
#include "model/model.h"
#include "tribo/data.h"

// Scratch of the dynamics algorithms, as the fields of tbData: X(type, name, rows, columns, what).
#define TB_SCRATCH_ARRAYS(X)                                \
  X(tbReal, scratch_nv, nv, 4, "four vectors of length nv") \
  X(tbReal, scratch_dof, nv, 6, "a spatial vector per dof") \
  X(tbReal, scratch_body, nbody, 42, "a 6x6 and a spatial vector per body")

typedef struct tbWorkspace tbWorkspace;

struct tbWorkspace {
#define X(type, name, rows, columns, what) type* name;
  TB_SCRATCH_ARRAYS(X)
#undef X
  tbArena arena;  // contacts, constraint rows, solver work: reset at the start of each step
  tbArena query;  // contacts of tb_find_contacts, scratch of queries
  int queried;    // 1: data->contact are those of tb_find_contacts, not of a step
  int visiting;   // number of visits of pairs in progress, whose lists are in `query`
  void* step;     // broad phase, warm starts: owned by the step layer, NULL until the first step
  void (*step_free)(void* step);
  void* entrained;    // per geom: fluid that it entrains, NULL until first used
  int halfway;        // 1 between the halves of a step: frames and contacts belong to the state
  const void* block;  // block of the model for which this world was made
  int size[TB_MODEL_NSIZES];  // the sizes of that model
  int unfactored;  // 1: qLD is out of date, the first solve recomputes it (dynamics/mass.h)
};

// Time, state and inputs of the reference pose (key -1) or of a keyframe; the rest stays.
void tb_reset_state(const tbModel* model, tbData* data, int key);

// Whether a world has the sizes of a model: a world of another robot must not be stepped.
bool tb_data_fits(const tbModel* model, const tbData* data);

// The same for pointers that may be NULL, faster for the model that the world was made for: for
// functions that a step calls often.
static inline bool tb_is_data_of(const tbModel* model, const tbData* data) {
  return model && data && (data->work->block == model->block || tb_data_fits(model, data));
}

// The same, which also detects that the largest sizes of that model have changed since.
static inline bool tb_is_world_of(const tbModel* model, const tbData* data) {
  if (!model || !data) return false;
  const int *now = &model->nq, *then = data->work->size;
  int differ = 0;
  for (int i = 0; i < 8; i++) differ |= now[i] ^ then[i];
  return differ == 0 && tb_is_data_of(model, data);
}

#endif
