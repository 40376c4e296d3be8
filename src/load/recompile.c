// A new model and world for a changed spec, with the state of the old world.
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/joint_kinds.h"
#include "model/workspace.h"
#include "tribo/data.h"
#include "tribo/spec.h"

// Which element of the old model an element of the new one is, -1: none. Elements are the same if
// their names are; those without a name by their order among the unnamed ones of their owner (the
// parent of a body, the body of a joint, the model for actuators).
typedef struct {
  const tbModel *before, *after;
  int *body, *joint, *actuator;
} Match;

static bool is_named(const tbModel* m, tbObjType type, int id) {
  return *tb_id2name(m, type, id) != 0;
}

// The `order`-th unnamed element with this owner; `owner` is NULL where all have the same.
static int find_unnamed(const tbModel* m, tbObjType type, const int* owner, int whose, int first,
                        int n, int order) {
  for (int i = first; i < n; i++) {
    if (owner && owner[i] != whose) continue;
    if (!is_named(m, type, i) && order-- == 0) return i;
  }
  return -1;
}

static int match_one(const Match* match, tbObjType type, int id, const int* owner_before,
                     const int* owner_after, int first, int nbefore) {
  const char* name = tb_id2name(match->after, type, id);
  if (*name) return tb_name2id(match->before, type, name);
  int whose = owner_after ? match->body[owner_after[id]] : 0, order = 0;
  if (whose < 0) return -1;
  for (int i = first; i < id; i++) {
    bool same = !owner_after || owner_after[i] == owner_after[id];
    order += same && !is_named(match->after, type, i);
  }
  return find_unnamed(match->before, type, owner_before, whose, first, nbefore, order);
}

static bool match_all(Match* match, tbArena* arena) {
  const tbModel *a = match->before, *b = match->after;
  match->body = TB_ARENA_NEW(arena, int, b->nbody);
  match->joint = TB_ARENA_NEW(arena, int, b->njnt + 1);
  match->actuator = TB_ARENA_NEW(arena, int, b->nu + 1);
  if (arena->failed) return false;
  for (int i = 1; i < b->nbody; i++) {
    match->body[i] =
        match_one(match, TB_OBJ_BODY, i, a->body_parentid, b->body_parentid, 1, a->nbody);
  }
  for (int i = 0; i < b->njnt; i++) {
    int j = match_one(match, TB_OBJ_JOINT, i, a->jnt_bodyid, b->jnt_bodyid, 0, a->njnt);
    match->joint[i] = j >= 0 && a->jnt_type[j] == b->jnt_type[i] ? j : -1;
  }
  for (int i = 0; i < b->nu; i++) {
    match->actuator[i] = match_one(match, TB_OBJ_ACTUATOR, i, NULL, NULL, 0, a->nu);
  }
  return true;
}

static void copy(tbReal* target, const tbReal* source, int n) {
  memcpy(target, source, (size_t)n * sizeof *target);
}

static void carry_state(const Match* match, const tbData* from, tbData* to) {
  const tbModel *a = match->before, *b = match->after;
  to->time = from->time;
  for (int i = 0; i < b->njnt; i++) {
    int j = match->joint[i], type = b->jnt_type[i];
    if (j < 0) continue;
    copy(to->qpos + b->jnt_qposadr[i], from->qpos + a->jnt_qposadr[j], tb_joint_nq(type));
    copy(to->qvel + b->jnt_dofadr[i], from->qvel + a->jnt_dofadr[j], tb_joint_nv(type));
  }
  for (int i = 0; i < b->nu; i++) {
    int j = match->actuator[i];
    if (j < 0) continue;
    to->ctrl[i] = from->ctrl[j];
    if (b->actuator_actnum[i] != a->actuator_actnum[j] || b->actuator_actnum[i] == 0) continue;
    copy(to->act + b->actuator_actadr[i], from->act + a->actuator_actadr[j], b->actuator_actnum[i]);
  }
  for (int i = 0; i < b->nbody; i++) {
    int j = match->body[i];
    if (j < 0 || b->body_mocapid[i] < 0 || a->body_mocapid[j] < 0) continue;
    copy(to->mocap_pos + 3 * b->body_mocapid[i], from->mocap_pos + 3 * a->body_mocapid[j], 3);
    copy(to->mocap_quat + 4 * b->body_mocapid[i], from->mocap_quat + 4 * a->body_mocapid[j], 4);
  }
}

tbResult tb_spec_recompile(const tbSpec* spec, tbModel** model, tbData** data, tbError* error) {
  tb_error_clear(error);
  if (!spec || !model || !*model || !data || !*data) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "tb_spec_recompile: the spec, the model or the data is NULL");
  }
  if (!tb_is_world_of(*model, *data)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "tb_spec_recompile: the data is of another model");
  }
  tbError local;
  if (!error) error = &local;
  tbModel* next = tb_spec_compile(spec, error);
  if (!next) return error->code;
  tbData* world = tb_data_new(next);
  tbArena arena;
  tb_arena_init(&arena);
  Match match = {.before = *model, .after = next};
  tbResult result =
      world && match_all(&match, &arena) ? TB_OK : tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  if (result == TB_OK) {
    carry_state(&match, *data, world);
    tb_data_free(*data);
    tb_model_free(*model);
    *model = next;
    *data = world;
  } else {
    tb_data_free(world);
    tb_model_free(next);
  }
  tb_arena_free(&arena);
  return result;
}
