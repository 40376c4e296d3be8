#include "step/twists.h"

enum { TWIST = 6 };

// Bodies in the order of their first contact, with the number of their rows; a robot's contacts lie
// body by body, so that the last one found is mostly the right one.
static int find_body(const int* body, int count, int wanted) {
  for (int k = count - 1; k >= 0; k--) {
    if (body[k] == wanted) return k;
  }
  return -1;
}

bool tb_island_twists(const tbModel* m, const tbData* d, const tbConstraints* constraints,
                      const tbIsland* island, tbArena* arena, tbTwists* out) {
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

  // Few rows stand for themselves: renumber the bodies that are left.
  tbRows* twist = tb_arena_alloc(arena, sizeof(tbRows) * (size_t)(bodies + 1));
  if (!twist) return false;
  *out = (tbTwists){.twist = twist, .of = of, .P = P, .half = half};
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
    tb_contact_twist_rows(m, d, contact, tb_contact_body(m, contact), c->dim, all);
    P[k] = all;
    all += TWIST * c->dim;
  }
  return true;
}
