#include "step/applied_impulses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/mass.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "laws/certificate.h"
#include "step/integrator.h"
#include "tribo/dynamics.h"

// The impulses of a world, or NULL if no step has been opened yet.
static tbApplied* applied_of(const tbStepState* state) {
  tbIntegratorState* own = state->integrator.state;
  return own ? &own->applied : NULL;
}

// ---- start of a step ---------------------------------------------------------------------------

bool tb_applied_is_open(const tbStepState* state) {
  const tbApplied* a = applied_of(state);
  return a && a->open;
}

tbArenaMark tb_applied_mark(const tbStepState* state) {
  return applied_of(state)->mark;
}

bool tb_applied_open(const tbModel* m, tbData* d, tbStepState* state) {
  tbIntegratorState* own = tb_integrator_state(state);
  if (!own) return false;
  tbApplied* a = &own->applied;
  tbArena* arena = &d->work->arena;
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv, nrow = (size_t)state->constraints.nrow;
  tbReal* memory = tb_arena_alloc(arena, sizeof(tbReal) * (nq + nv + 2 * nrow + 1));
  if (!memory) return false;
  a->qpos = memory;
  a->qvel = a->qpos + nq;
  a->impulse = a->qvel + nv;
  a->kept = a->impulse + nrow;
  memcpy(a->qpos, d->qpos, sizeof(tbReal) * nq);
  memcpy(a->qvel, d->qvel, sizeof(tbReal) * nv);
  memset(a->impulse, 0, sizeof(tbReal) * nrow);
  a->v_free = state->v_free;
  a->constraints = state->constraints;
  a->islands = state->islands;
  a->contact = d->contact;
  a->ncon = d->ncon;
  a->row_force = state->row_force;
  a->nlate = 0;
  a->mark = tb_arena_mark(arena);
  a->open = true;
  return true;
}

void tb_applied_drop(tbStepState* state) {
  tbApplied* a = applied_of(state);
  if (a) a->open = false;
}

void tb_applied_free(tbApplied* applied) {
  free(applied->late);
}

// ---- evaluations -------------------------------------------------------------------------------

// Index of the constraint with this key, searched cyclically from `hint`: the constraint lists of
// one step have the same order. -1: there is none.
static int find_key(const tbConstraints* cs, uint64_t key, int hint) {
  for (int k = 0, i = hint < cs->count ? hint : 0; k < cs->count; k++) {
    if (cs->list[i].key == key) return i;
    if (++i == cs->count) i = 0;
  }
  return -1;
}

static tbLateImpulse* find_late(tbApplied* a, uint64_t key) {
  for (int i = 0; i < a->nlate; i++) {
    if (a->late[i].key == key) return &a->late[i];
  }
  return NULL;
}

// world += scale * rows of a contact: force, then torque.
static void add_world(int dim, const tbReal* rows, tbReal scale, const tbReal frame[9],
                      tbReal world[6]) {
  for (int r = 0; r < dim; r++) {
    tbReal* to = world + r / 3 * 3;
    tb_add_scaled3(to, to, scale * rows[r], frame + 3 * (r % 3));
  }
}

// rows += force and torque in the frame of a contact.
static void add_rows(int dim, const tbReal world[6], const tbReal frame[9], tbReal* rows) {
  for (int r = 0; r < dim; r++) rows[r] += tb_dot3(frame + 3 * (r % 3), world + r / 3 * 3);
}

static const int* bodies_of(const tbModel* m, const tbContact* contact, int body[2]) {
  for (int i = 0; i < 2; i++) body[i] = m->geom_bodyid[contact->geom[i]];
  return body;
}

// Store position and frame of a contact relative to its bodies, for their present poses.
static void fix_to_bodies(const tbModel* m, const tbData* d, tbLateImpulse* late) {
  int body[2];
  bodies_of(m, &late->contact, body);
  for (int i = 0; i < 2; i++) {
    tbReal arm[3];
    tb_sub3(arm, late->contact.pos, d->xpos + 3 * body[i]);
    tb_mul_mat3t_vec3(late->point[i], d->xmat + 9 * body[i], arm);
  }
  tb_mul_mat3(late->frame, late->contact.frame, d->xmat + 9 * body[0]);
}

static tbLateImpulse* new_late(const tbModel* m, const tbData* d, tbStepState* state,
                               const tbConstraint* c) {
  tbApplied* a = applied_of(state);
  if (a->nlate == a->capacity) {
    int capacity = 2 * a->capacity + 8;
    tbLateImpulse* grown = realloc(a->late, sizeof *grown * (size_t)capacity);
    if (!grown) return NULL;
    state->bytes += sizeof *grown * (size_t)(capacity - a->capacity);
    state->allocations++;
    a->late = grown;
    a->capacity = capacity;
  }
  tbLateImpulse* late = &a->late[a->nlate++];
  memset(late, 0, sizeof *late);
  late->key = c->key;
  late->source = c->source;
  late->dim = c->dim;
  if (c->source == TB_SOURCE_CONTACT) {
    late->contact = d->contact[c->id];
    fix_to_bodies(m, d, late);
  }
  return late;
}

// Add the force of a constraint that does not exist at the start of the step.
static bool add_late(const tbModel* m, const tbData* d, tbStepState* state, const tbConstraint* c,
                     tbReal seconds) {
  const tbReal* force = state->row_force + c->row;
  bool acts = false;
  for (int r = 0; r < c->dim; r++) acts = acts || force[r] != 0;
  if (!acts) return true;
  tbLateImpulse* late = find_late(applied_of(state), c->key);
  if (!late) late = new_late(m, d, state, c);
  if (!late) return false;
  if (c->source == TB_SOURCE_CONTACT) {
    add_world(c->dim, force, seconds, d->contact[c->id].frame, late->impulse);
  } else {
    for (int r = 0; r < c->dim; r++) late->impulse[r] += seconds * force[r];
  }
  return true;
}

bool tb_applied_add(const tbModel* m, const tbData* d, tbStepState* state, tbReal seconds) {
  tbApplied* a = applied_of(state);
  if (!a || !a->open) return true;
  for (int i = 0, at = 0; i < state->constraints.count; i++, at++) {
    const tbConstraint* c = &state->constraints.list[i];
    int found = find_key(&a->constraints, c->key, at);
    if (found < 0) {
      if (!add_late(m, d, state, c, seconds)) return false;
      continue;
    }
    const tbConstraint* start = &a->constraints.list[at = found];
    const tbReal* force = state->row_force + c->row;
    tbReal* impulse = a->impulse + start->row;
    const tbReal *from = NULL, *to = NULL;
    if (c->source == TB_SOURCE_CONTACT) {
      from = d->contact[c->id].frame;
      to = a->contact[start->id].frame;
    }
    // Frames of contacts with the ground do not turn.
    if (from == to || memcmp(from, to, sizeof(tbReal[9])) == 0) {
      for (int r = 0; r < c->dim; r++) impulse[r] += seconds * force[r];
    } else {
      tbReal world[6] = {0};
      add_world(c->dim, force, seconds, from, world);
      add_rows(c->dim, world, to, impulse);
    }
  }
  return true;
}

void tb_applied_keep(tbStepState* state) {
  tbApplied* a = applied_of(state);
  if (!a || !a->open) return;
  memcpy(a->kept, a->impulse, sizeof(tbReal) * (size_t)a->constraints.nrow);
  for (int i = 0; i < a->nlate; i++) {
    memcpy(a->late[i].kept, a->late[i].impulse, sizeof a->late[i].kept);
  }
  a->nkept = a->nlate;
}

void tb_applied_revert(tbStepState* state) {
  tbApplied* a = applied_of(state);
  if (!a || !a->open) return;
  memcpy(a->impulse, a->kept, sizeof(tbReal) * (size_t)a->constraints.nrow);
  for (int i = 0; i < a->nkept; i++) {
    memcpy(a->late[i].impulse, a->late[i].kept, sizeof a->late[i].kept);
  }
  a->nlate = a->nkept;
}

// ---- end of a step -----------------------------------------------------------------------------

// A late contact moved to the start of the step.
static void move_to_start(const tbModel* m, const tbData* d, const tbLateImpulse* late,
                          tbContact* out) {
  int body[2];
  tbReal at[2][3], apart[3];
  *out = late->contact;
  bodies_of(m, out, body);
  tb_mul_mat3_mat3t(out->frame, late->frame, d->xmat + 9 * body[0]);
  for (int i = 0; i < 2; i++) {
    tb_mul_mat3_vec3(at[i], d->xmat + 9 * body[i], late->point[i]);
    tb_add3(at[i], at[i], d->xpos + 3 * body[i]);
  }
  tb_sub3(apart, at[1], at[0]);
  out->dist += tb_dot3(out->frame, apart);
  for (int k = 0; k < 3; k++) out->pos[k] = 0.5 * (at[0][k] + at[1][k]);
}

// The contact with this key that was detected at the start, in its gap or without rows; NULL: none.
static tbContact* detected_at_start(tbContact* contact, int ncon, uint64_t key) {
  for (int i = 0; i < ncon; i++) {
    if (tb_contact_key(&contact[i]) == key) return &contact[i];
  }
  return NULL;
}

// Contacts of the start, and late contacts that were not detected there.
static bool join_contacts(const tbModel* m, tbData* d, const tbApplied* a) {
  size_t size = (size_t)a->ncon + (size_t)a->nlate + 1;
  tbContact* all = tb_arena_alloc(&d->work->arena, sizeof(tbContact) * size);
  if (!all) return false;
  if (a->ncon > 0) memcpy(all, a->contact, sizeof(tbContact) * (size_t)a->ncon);
  d->ncon = a->ncon;
  for (int i = 0; i < a->nlate; i++) {
    if (a->late[i].source != TB_SOURCE_CONTACT) continue;
    tbContact* seen = detected_at_start(all, a->ncon, a->late[i].key);
    if (seen) {
      seen->exclude = 0;
    } else {
      move_to_start(m, d, &a->late[i], &all[d->ncon++]);
    }
  }
  d->contact = all;
  return true;
}

// Copy the impulses to the rows of the constraints that now represent the start. False if a late
// constraint has no row there.
static bool copy_impulses(const tbApplied* a, const tbData* d, const tbConstraints* cs,
                          tbReal* impulse) {
  for (int i = 0; i < a->constraints.count; i++) {
    const tbConstraint* c = &a->constraints.list[i];
    int found = find_key(cs, c->key, i);
    if (found < 0) return false;
    memcpy(impulse + cs->list[found].row, a->impulse + c->row, sizeof(tbReal) * (size_t)c->dim);
  }
  for (int i = 0; i < a->nlate; i++) {
    const tbLateImpulse* late = &a->late[i];
    int found = find_key(cs, late->key, a->constraints.count + i);
    if (found < 0 || cs->list[found].dim != late->dim) return false;
    const tbConstraint* c = &cs->list[found];
    if (c->source == TB_SOURCE_CONTACT) {
      add_rows(c->dim, late->impulse, d->contact[c->id].frame, impulse + c->row);
    } else {
      memcpy(impulse + c->row, late->impulse, sizeof(tbReal) * (size_t)c->dim);
    }
  }
  return true;
}

// Assemble rows at the start of the step for late constraints too; quantities derived from the
// position are computed for the start again. Limits get rows at any distance.
static bool rows_of_start(const tbModel* m, tbData* d, tbStepState* state, tbApplied* a) {
  tbArena* arena = &d->work->arena;
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
  tbReal* end = tb_arena_alloc(arena, sizeof(tbReal) * (nq + 2 * nv + 1));
  if (!end) return false;
  tbReal *v_end = end + nq, *speed = v_end + nv;
  memcpy(end, d->qpos, sizeof(tbReal) * nq);
  memcpy(v_end, d->qvel, sizeof(tbReal) * nv);
  memcpy(d->qpos, a->qpos, sizeof(tbReal) * nq);
  memcpy(d->qvel, a->qvel, sizeof(tbReal) * nv);
  for (size_t i = 0; i < nv; i++) speed[i] = 1;
  tb_position_stage(m, d);
  tb_compute_velocity(m, d);
  tbLookAhead all = {.horizon = 1e10, .speed_bound = speed};
  bool ok =
      join_contacts(m, d, a) && tb_assemble_rows(m, d, all, NULL, &state->constraints) == TB_OK &&
      tb_assemble_groups(m, d, &state->constraints, &a->islands) == TB_OK &&
      tb_assemble_terms(m, d, &state->constraints, (tbInertiaFactor){0}, a->v_free, &a->islands) ==
          TB_OK;
  tbReal* impulse = ok ? TB_ARENA_NEW(arena, tbReal, state->constraints.nrow) : NULL;
  state->row_force = ok ? TB_ARENA_NEW(arena, tbReal, state->constraints.nrow) : NULL;
  ok = impulse && state->row_force && copy_impulses(a, d, &state->constraints, impulse);
  if (ok) a->impulse = impulse;
  memcpy(d->qpos, end, sizeof(tbReal) * nq);
  memcpy(d->qvel, v_end, sizeof(tbReal) * nv);
  return ok;
}

// Copy impulses by row to the islands.
static void fill_islands(const tbConstraints* cs, const tbReal* impulse, tbIslands* islands) {
  for (int i = 0; i < islands->count; i++) {
    const tbIsland* island = &islands->island[i];
    tbReal* lambda = island->lambda;
    for (int k = 0; k < island->nmember; k++) {
      const tbConstraint* c = &cs->list[island->member[k]];
      memcpy(lambda, impulse + c->row, sizeof(tbReal) * (size_t)c->dim);
      lambda += c->dim;
    }
  }
}

static void store_forces(const tbModel* m, tbData* d, tbStepState* state, const tbReal* impulse) {
  for (int i = 0; i < state->constraints.count; i++) {
    const tbConstraint* c = &state->constraints.list[i];
    for (int r = 0; r < c->dim; r++) {
      tbReal force = impulse[c->row + r] / m->opt.timestep;
      state->row_force[c->row + r] = force;
      if (c->source == TB_SOURCE_CONTACT) d->contact[c->id].force[r] = force;
    }
  }
}

// The arrays that are derived from the state: they end the block of the data (data_fields.h).
static size_t derived_bytes(const tbData* d) {
  return (size_t)((const char*)d->block + d->block_size - (const char*)d->xpos);
}

static void restore_start(tbData* d, tbStepState* state) {
  const tbApplied* a = applied_of(state);
  state->constraints = a->constraints;
  state->row_force = a->row_force;
  d->contact = a->contact;
  d->ncon = a->ncon;
}

// Rows and forces of the start, and their certificate.
static void certify_start(const tbModel* m, tbData* d, tbStepState* state, tbApplied* a) {
  bool copied = a->nlate == 0 || rows_of_start(m, d, state, a);
  if (!copied) restore_start(d, state);
  store_forces(m, d, state, a->impulse);
  if (!copied) return;
  fill_islands(&state->constraints, a->impulse, &a->islands);
  tb_certificate_answer(m, d, &state->constraints, &a->islands, a->v_free, d->qvel, &d->solve);
}

void tb_applied_close(const tbModel* m, tbData* d, tbStepState* state) {
  tbApplied* a = applied_of(state);
  a->open = false;
  restore_start(d, state);
  tb_certificate_not_evaluated(&d->solve);
  // The derived arrays stay those of the last evaluation also if late constraints had some computed
  // for the start again: what a step leaves must not depend on when contacts were detected.
  size_t bytes = a->nlate > 0 ? derived_bytes(d) : 0;
  void* last = tb_arena_alloc(&d->work->arena, bytes + 1);
  if (!last) {
    store_forces(m, d, state, a->impulse);
    return;
  }
  memcpy(last, d->xpos, bytes);
  certify_start(m, d, state, a);
  memcpy(d->xpos, last, bytes);
}
