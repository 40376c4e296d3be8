#include "assemble/twists.h"

enum { TWIST = 6 };

// Index of a body in a list in the order of first contacts, with the number of their rows; a
// robot's contacts are ordered by body, so that the last entry is mostly the right one.
static int find_body(const int* body, int count, int wanted) {
  for (int k = count - 1; k >= 0; k--) {
    if (body[k] == wanted) return k;
  }
  return -1;
}

bool tb_island_reduced_space(const tbModel* m, const tbData* d, const tbConstraints* constraints,
                             const tbIsland* island, tbArena* arena, tbReducedSpace* out) {
  size_t n = (size_t)island->nmember + 1;
  int* of = tb_arena_alloc(arena, sizeof(int) * n);
  int* body = tb_arena_alloc(arena, sizeof(int) * n);
  int* rows = tb_arena_alloc(arena, sizeof(int) * n);
  const tbReal** P = tb_arena_alloc(arena, sizeof(tbReal*) * n);
  const tbReal** half = tb_arena_alloc(arena, sizeof(tbReal*) * n);
  if (arena->failed) return false;
  int bodies = 0, entries = 0;
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &constraints->list[island->member[k]];
    int moves = c->source == TB_SOURCE_CONTACT ? tb_contact_body(m, &d->contact[c->id]) : -1;
    P[k] = NULL;
    half[k] = c->half;
    of[k] = moves >= 0 ? find_body(body, bodies, moves) : -1;
    if (moves < 0) continue;
    if (of[k] < 0) {
      of[k] = bodies;
      body[bodies] = moves;
      rows[bodies++] = 0;
    }
    rows[of[k]] += c->dim;
  }

  // Bodies with few rows keep their rows: renumber the remaining bodies.
  tbRows* twist = tb_arena_alloc(arena, sizeof(tbRows) * (size_t)(bodies + 1));
  if (!twist) return false;
  *out = (tbReducedSpace){.twist = twist, .of = of, .P = P, .half = half};
  for (int b = 0; b < bodies; b++) {
    bool many = rows[b] > TWIST;
    rows[b] = -1;
    if (!many) continue;
    const int* col;
    int chain = m->M_rownnz[m->body_lastdof[body[b]]];
    tbReal* J = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(TWIST * chain));
    if (!J) return false;
    int nnz = tb_body_twist(m, d, body[b], &col, J);
    rows[b] = out->count;
    twist[out->count++] = (tbRows){TWIST, nnz, col, J};
  }
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &constraints->list[island->member[k]];
    int b = of[k];
    of[k] = b >= 0 ? rows[b] : -1;
    entries += of[k] >= 0 ? TWIST * c->dim : 0;
  }
  tbReal* all = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(entries + 1));
  if (!all) return false;
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &constraints->list[island->member[k]];
    if (of[k] < 0) continue;
    const tbContact* contact = &d->contact[c->id];
    tb_contact_rows_of_twist(m, d, contact, tb_contact_body(m, contact), c->dim, all);
    P[k] = all;
    all += TWIST * c->dim;
  }
  return true;
}

// Compares the operations of J^T W J block by block and along chains; operations along chains cost
// twice as much each. Also counts the memory for the blocks' rows.
static bool chains_are_cheaper(const tbModel* m, const tbData* d, const tbConstraints* constraints,
                               const tbIsland* island, const tbForestInertia* inertia, int* room) {
  enum { DOF = 72, PAIR = 12, BLOCK = 160, CHAIN_FACTOR = 2 };
  double apart = 0, along = 0;
  bool long_ones = false;
  for (int t = 0; t < inertia->ntree; t++) {
    long_ones |= inertia->tree[t].end - inertia->tree[t].first > TWIST;
  }
  *room = 0;
  if (!long_ones) return false;
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &constraints->list[island->member[k]];
    if (c->source != TB_SOURCE_CONTACT || tb_contact_body(m, &d->contact[c->id]) < 0) continue;
    apart += c->dim * c->nnz * (c->nnz + c->dim);
    along += BLOCK;
    *room += TWIST * c->dim;
  }
  for (int t = 0; t < inertia->ntree; t++) {
    for (int i = inertia->tree[t].first; i < inertia->tree[t].end; i++) {
      along += DOF + PAIR * inertia->forest.rownnz[i];
    }
  }
  return apart > CHAIN_FACTOR * along;
}

bool tb_composite_chains(const tbModel* m, const tbData* d, const tbConstraints* constraints,
                         const tbIsland* island, const tbForestInertia* inertia, tbArena* arena,
                         tbCompositeChains* out, bool* pays) {
  int entries;
  *pays = chains_are_cheaper(m, d, constraints, island, inertia, &entries);
  if (!*pays) return true;
  int* last = tb_arena_alloc(arena, sizeof(int) * (size_t)(island->nmember + 1));
  const tbReal** P = tb_arena_alloc(arena, sizeof(tbReal*) * (size_t)(island->nmember + 1));
  tbReal* all = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(entries + 1));
  if (arena->failed) return false;
  for (int k = 0; k < island->nmember; k++) {
    const tbConstraint* c = &constraints->list[island->member[k]];
    const tbContact* contact = c->source == TB_SOURCE_CONTACT ? &d->contact[c->id] : NULL;
    int body = contact ? tb_contact_body(m, contact) : -1;
    last[k] = body >= 0 ? m->body_lastdof[body] : -1;
    P[k] = all;
    if (body < 0) continue;
    tb_contact_rows_of_twist(m, d, contact, body, c->dim, all);
    all += TWIST * c->dim;
  }
  *out = (tbCompositeChains){d->cdof, last, P};
  return true;
}
