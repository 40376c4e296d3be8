#include "solvers/free_contacts.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bits.h"
#include "solvers/local.h"

enum { D = TB_CONTACT_ROWS };
// As many as a word has bits. Contacts of a body that has more of them go one by one.
enum { COLOURS = 64 };
// Contacts of which it is asked at once whether to look at them; that are solved at once; that are
// fetched ahead; bytes of a line of cache.
enum { GROUP = 16, BATCH = 64, AHEAD = 4, LINE = 64 };

// A contact that is more than so many times above its target may go farther than its solution.
static const tbReal NEARLY = 10;

// Registers of two numbers, which every machine has, and of four.
#define LANES 2
#include "solvers/free_lanes.h"
#undef LANES
#define LANES 4
#include "solvers/free_lanes.h"
#undef LANES

// ---- what does not change ----------------------------------------------------------------------

// How many free bodies a block moves as a contact under the exact law, one or two, with all of
// their dofs; 0: other things.
static int count_bodies(const tbActiveState* s, int i, int* body) {
  const tbForest* forest = &s->a->forest;
  const tbRows* rows = &s->a->block[i];
  const tbBlock* b = &s->p->block[i];
  if (b->type != TB_BLOCK_CONE || b->dim != D || s->a->law != TB_LAW_NCP) return 0;
  if (rows->nnz != TB_BODY_DOFS && rows->nnz != TB_PAIR_DOFS) return 0;
  for (int k = 0; k < rows->nnz; k++) {
    int at = k % TB_BODY_DOFS, first = rows->col[k - at];
    if (at == 0) body[k / TB_BODY_DOFS] = first;
    if (rows->col[k] != first + at || forest->rownnz[first + at] != at + 1) return 0;
  }
  return rows->nnz / TB_BODY_DOFS;
}

// Each contact takes the first colour that its bodies do not have; `place` is its index. False: out
// of memory.
static bool find_colours(const tbActiveState* s, tbArena* arena, tbFreeContacts* f, int* place) {
  int n = s->p->nblock, begin[COLOURS + 1] = {0};
  tbArenaMark mark = tb_arena_mark(arena);
  uint64_t* taken = TB_ARENA_NEW(arena, uint64_t, s->a->forest.n + 1);
  if (!taken) return false;
  for (int i = 0; i < n; i++) {
    int body[2], bodies = count_bodies(s, i, body);
    place[i] = -1;
    if (bodies == 0) continue;
    uint64_t left = ~(taken[body[0]] | taken[body[bodies - 1]]);
    place[i] = left ? tb_lowest_bit(left) : COLOURS;
    taken[body[0]] |= left & (~left + 1);
    taken[body[bodies - 1]] |= left & (~left + 1);
    begin[place[i]]++;
  }
  tb_arena_release(arena, mark);
  f->colours = f->count = 0;
  for (int k = 0; k <= COLOURS; k++) {
    int size = begin[k];
    begin[k] = f->count;
    f->count += size;
    if (k < COLOURS && size > 0) f->end[f->colours++] = f->count;
  }
  for (int i = 0; i < n; i++) {
    if (place[i] >= 0) place[i] = begin[place[i]]++;
  }
  return true;
}

// False: a contact that goes the general way.
static bool make_contact(const tbActiveState* s, int i, tbFreeContact* c) {
  const tbActive* a = s->a;
  const tbRows* rows = &a->block[i];
  const tbBlock* b = &s->p->block[i];
  tbReal A[D * D];
  c->bodies = count_bodies(s, i, c->body);
  memcpy(c->B, rows->J, sizeof(tbReal) * (size_t)(D * rows->nnz));
  for (int k = 0; k < c->bodies; k++) {
    tb_free_contact_whiten(&a->forest, a->LD, a->inverse, c->body[k], rows->nnz,
                           c->B + k * TB_BODY_DOFS);
  }
  tb_free_contact_square(c, A);
  c->row = b->row;
  c->slip = 0;
  for (int r = 0; r < D; r++) {
    c->g[r] = s->p->g[b->row + r];
    c->R[r] = s->p->R ? s->p->R[b->row + r] : 0;
    c->last[r] = 0;
    A[r * D + r] += c->R[r];
  }
  return tb_free_contact_reduce(b, A, c);
}

bool tb_free_contacts_start(const tbActiveState* s, tbArena* arena, tbFreeContacts* f, int* place) {
  int n = s->a->forest.n;
  *f = (tbFreeContacts){.end = TB_ARENA_NEW(arena, int, COLOURS)};
  if (!f->end || !find_colours(s, arena, f, place)) return false;
  f->contact = tb_arena_alloc(arena, sizeof(tbFreeContact) * ((size_t)f->count + 1));
  f->first = TB_ARENA_NEW(arena, int, f->count + GROUP);
  f->second = TB_ARENA_NEW(arena, int, f->count + GROUP);
  f->seen = TB_ARENA_NEW(arena, int, f->count + GROUP);
  f->moved = TB_ARENA_NEW(arena, int, n + 1);
  if (arena->failed) return false;
  // What goes the general way after all is left out: nothing moves there.
  f->moved[n] = TB_MOVED_NEVER;
  for (int i = 0; i < s->p->nblock; i++) {
    int k = place[i];
    if (k < 0) continue;
    tbFreeContact* c = &f->contact[k];
    bool made = make_contact(s, i, c);
    if (!made) c->bodies = 0;
    if (!made) place[i] = -1;
    f->first[k] = made ? c->body[0] : n;
    f->second[k] = made ? c->body[c->bodies - 1] : n;
  }
  return true;
}

void tb_free_contacts_forget(tbFreeContacts* f) {
  for (int k = 0; k < f->count; k++) f->seen[k] = TB_MOVED_NEVER;
}

// ---- sweeps ------------------------------------------------------------------------------------

// By the general solver, where the search for the multiplier of sliding does not end.
TB_COLD void solve_alone(tbFreeContact* c, const tbReal* sigma, tbReal* lambda, tbReal* change) {
  const tbReal* a = c->A;
  tbReal A[D * D] = {a[0], a[1], a[3], a[1], a[2], a[4], a[3], a[4], a[5]}, b[D];
  tbBlock block = {.type = TB_BLOCK_CONE, .dim = D, .mu = {c->mu[0], c->mu[1]}};
  for (int r = 0; r < D; r++) {
    change[r] = lambda[r];
    b[r] = sigma[r] - (A[r * D] * lambda[0] + A[r * D + 1] * lambda[1] + A[r * D + 2] * lambda[2]);
  }
  c->slip = 0;
  tb_local_solve(&block, TB_LAW_NCP, A, b, lambda, &c->slip);
  for (int r = 0; r < D; r++) change[r] = lambda[r] - change[r];
}

// What a sweep goes through.
typedef struct {
  tbFreeContacts* f;
  const tbFreeScale* scale;  // NULL: everything is solved
  int lanes;
  tbReal *w, *lambda;
} Sweep;

// Contacts of one colour that are looked at together, and those of them that are to be solved; the
// first fills up the last lanes.
typedef struct {
  int n, count, at[BATCH];
  tbFreeLook all[BATCH];
  const tbFreeLook *look[BATCH + TB_FREE_LANES], *open[BATCH + TB_FREE_LANES];
} Batch;

TB_INLINE void look(const Sweep* s, Batch* b) {
  for (int j = 0; j < b->n; j++) {
    const tbFreeContact* c = &s->f->contact[b->at[j]];
    if (j + AHEAD < b->n) {
      const char* next = (const char*)&s->f->contact[b->at[j + AHEAD]];
      for (size_t k = 0; k < offsetof(tbFreeContact, A); k += LINE) tb_prefetch(next + k);
    }
    tbFreeLook* found = &b->all[j];
    found->contact = c;
    found->lambda = s->lambda + c->row;
    tb_free_contact_velocity(c, s->w, found->lambda, found->sigma);
    b->look[j] = found;
  }
  for (int j = b->n; j % s->lanes; j++) b->look[j] = b->all;
}

// The lanes of what does not hold, as bits.
TB_INLINE unsigned find_misses(const tbFreeLook* const* look, int lanes, const tbFreeScale* scale) {
  unsigned bits = 0;
  Mask_2 two;
  Mask_4 four;
  if (lanes == 4) {
    misses_4(look, scale->most, scale->load, &four);
  } else {
    misses_2(look, scale->most, scale->load, &two);
  }
  for (int l = 0; l < lanes; l++) bits |= (unsigned)((lanes == 4 ? four[l] : two[l]) & 1) << l;
  return bits;
}

TB_INLINE void find_open(const Sweep* s, Batch* b) {
  b->count = 0;
  for (int j = 0; j < b->n; j += s->lanes) {
    unsigned misses = s->scale ? find_misses(b->look + j, s->lanes, s->scale) : ~0u;
    for (int l = 0; l < s->lanes && j + l < b->n; l++) {
      b->open[b->count] = b->look[j + l];
      b->count += (misses >> l) & 1;
    }
  }
  for (int k = b->count; k % s->lanes; k++) b->open[k] = b->open[0];
}

TB_INLINE void solve_lanes(const tbFreeLook* const* look, int lanes, const tbFreeScale* scale,
                           tbFreeMove* move) {
  if (lanes == 4) {
    Mask_4 far = {0};
    if (scale) misses_4(look, NEARLY * scale->most, scale->load, &far);
    solve_4(look, move);
    relax_4(look, &far, move);
  } else {
    Mask_2 far = {0};
    if (scale) misses_2(look, NEARLY * scale->most, scale->load, &far);
    solve_2(look, move);
    relax_2(look, &far, move);
  }
}

// What a contact takes from its lane. Whether it went farther.
TB_INLINE bool take_lane(const tbFreeMove* move, int l, tbFreeContact* c, const tbReal* sigma,
                         tbReal* w, tbReal* lambda) {
  tbReal change[D];
  bool found = move->found[l] != 0;
  if (found) {
    for (int r = 0; r < D; r++) {
      lambda[r] = move->lambda[r][l];
      change[r] = move->change[r][l];
      c->last[r] = move->last[r][l];
    }
    c->slip = move->slip[l];
  } else {
    solve_alone(c, sigma, lambda, change);
  }
  tb_free_contact_push(c, change, w);
  return found && move->farther[l] != 0;
}

// Look at contacts that share no body and solve what is to be solved: how many. One that went
// farther is to be looked at again.
TB_INLINE int solve_batch(const Sweep* s, Batch* b) {
  tbFreeContacts* f = s->f;
  int now = ++f->clock;
  look(s, b);
  find_open(s, b);
  for (int j = 0; j < b->n; j++) f->seen[b->at[j]] = now;
  for (int k = 0; k < b->count; k += s->lanes) {
    tbFreeMove move;
    solve_lanes(b->open + k, s->lanes, s->scale, &move);
    for (int l = 0; l < s->lanes && k + l < b->count; l++) {
      ptrdiff_t j = b->open[k + l] - b->all;
      tbFreeContact* c = &f->contact[b->at[j]];
      f->moved[c->body[0]] = f->moved[c->body[c->bodies - 1]] = now;
      f->seen[b->at[j]] -= take_lane(&move, l, c, b->all[j].sigma, s->w, s->lambda + c->row);
    }
  }
  return b->count;
}

// Those of a group of contacts that are to be looked at, as bits: one by one, the processor would
// guess wrong every third time.
TB_INLINE unsigned find_stale(const tbFreeContacts* f, int begin) {
  const int *first = f->first + begin, *second = f->second + begin, *seen = f->seen + begin;
  const int* moved = f->moved;
  unsigned stale = 0;
  for (int k = 0; k < GROUP; k++) {
    stale |= (unsigned)((moved[first[k]] > seen[k]) | (moved[second[k]] > seen[k])) << k;
  }
  return stale;
}

// The contacts from `begin` to `end`, of one colour.
TB_INLINE int sweep_colour(const Sweep* s, int begin, int end) {
  Batch b;
  int count = b.n = 0;
  for (int k = begin; k < end; k += GROUP) {
    unsigned stale = s->scale ? find_stale(s->f, k) : (1u << GROUP) - 1;
    if (end - k < GROUP) stale &= (1u << (end - k)) - 1;
    for (; stale; stale &= stale - 1) {
      int i = k + tb_lowest_bit(stale);
      if (s->scale || s->f->contact[i].bodies > 0) b.at[b.n++] = i;
    }
    if (b.n <= BATCH - GROUP && k + GROUP < end) continue;
    if (b.n > 0) count += solve_batch(s, &b);
    b.n = 0;
  }
  return count;
}

TB_INLINE int sweep(const Sweep* s) {
  int begin = 0, count = 0;
  for (int k = 0; k < s->f->colours; begin = s->f->end[k++]) {
    count += sweep_colour(s, begin, s->f->end[k]);
  }
  for (; begin < s->f->count; begin++) count += sweep_colour(s, begin, begin + 1);
  return count;
}

static int sweep_narrow(tbFreeContacts* f, const tbFreeScale* scale, tbReal* w, tbReal* lambda) {
  Sweep s = {f, scale, 2, w, lambda};
  return sweep(&s);
}

TB_WIDE static int sweep_wide(tbFreeContacts* f, const tbFreeScale* scale, tbReal* w,
                              tbReal* lambda) {
  Sweep s = {f, scale, 4, w, lambda};
  return sweep(&s);
}

int tb_free_contacts_sweep(tbFreeContacts* f, const tbFreeScale* scale, tbReal* w, tbReal* lambda) {
  return tb_wide() ? sweep_wide(f, scale, w, lambda) : sweep_narrow(f, scale, w, lambda);
}

bool tb_free_contacts_settled(const tbFreeContacts* f, int place, const tbFreeScale* scale,
                              const tbReal* w, const tbReal* lambda) {
  tbFreeLook one = {.contact = &f->contact[place]};
  one.lambda = lambda + one.contact->row;
  tb_free_contact_velocity(one.contact, w, one.lambda, one.sigma);
  const tbFreeLook* look[2] = {&one, &one};
  return find_misses(look, 2, scale) == 0;
}
