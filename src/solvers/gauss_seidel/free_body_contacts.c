#include "solvers/gauss_seidel/free_body_contacts.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/minmax.h"
#include "base/bits.h"
#include "problem/cone.h"
#include "solvers/gauss_seidel/free_body_lanes.h"

enum { D = TB_CONTACT_ROWS, LANES = TB_FREE_LANES };
// The number of bits of a word. Contacts beyond the last colour are solved one by one.
enum { COLOURS = 64 };
enum { GROUP = 16 };  // contacts tested together with one word of bits
enum { BATCH = 64 };  // contacts evaluated together
enum { AHEAD = 4 };   // contacts prefetched
enum { LINE = 64 };   // bytes of a cache line

// A contact is over-relaxed only if its residual exceeds this multiple of its target.
static const float RELAX_ABOVE = 10;

// ---- constant data -----------------------------------------------------------------------------

// The number of free bodies of a block if it is a contact under the exact law that moves all dofs
// of one or two free bodies; 0 for any other block.
static int count_bodies(const tbActiveState* s, int i, int* body) {
  const tbForest* forest = &s->a->inertia.forest;
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

// Greedy colouring: each contact takes the first colour that its bodies do not have yet; `index`
// receives the contact's index. False: out of memory.
static bool find_colours(const tbActiveState* s, tbArena* arena, tbFreeContacts* f, int* index) {
  int n = s->p->nblock, begin[COLOURS + 1] = {0};
  tbArenaMark mark = tb_arena_mark(arena);
  uint64_t* taken = TB_ARENA_NEW(arena, uint64_t, s->a->inertia.forest.n + 1);
  if (!taken) return false;
  for (int i = 0; i < n; i++) {
    int body[2], bodies = count_bodies(s, i, body);
    index[i] = -1;
    if (bodies == 0) continue;
    uint64_t left = ~(taken[body[0]] | taken[body[bodies - 1]]);
    index[i] = left ? tb_lowest_bit(left) : COLOURS;
    taken[body[0]] |= left & (~left + 1);
    taken[body[bodies - 1]] |= left & (~left + 1);
    begin[index[i]]++;
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
    if (index[i] >= 0) index[i] = begin[index[i]]++;
  }
  return true;
}

// Whitened rows of a contact and B B^T + R.
static void whiten(const tbActiveState* s, int i, int bodies, const int* body, tbReal* B,
                   tbReal* A) {
  const tbActive* a = s->a;
  const tbRows* rows = &a->block[i];
  const tbReal none[D] = {0};
  memcpy(B, rows->J, sizeof(tbReal) * (size_t)(D * rows->nnz));
  for (int k = 0; k < bodies; k++) {
    const tbForestInertia* m = &a->inertia;
    tb_free_body_contact_whiten(&m->forest, m->LD, m->inverse, body[k], rows->nnz,
                                B + k * TB_BODY_DOFS);
  }
  tb_free_body_contact_square(bodies, B, s->p->R ? s->p->R + s->p->block[i].row : none, A);
}

// Store contact k in units of load and speed. False: the contact needs the general method.
static bool make_contact(const tbActiveState* s, int i, const tbReal* B, tbReal* A,
                         tbFreeContacts* f, int k) {
  const tbBlock* b = &s->p->block[i];
  const tbReal none[D] = {0};
  int body[2], bodies = count_bodies(s, i, body);
  tbReal unit = f->load / f->speed;
  for (int r = 0; r < D * D; r++) A[r] *= unit;
  f->first[k] = body[0];
  f->second[k] = bodies == 2 ? body[1] : f->nothing;
  tb_free_body_contact_rows(bodies, b->mu, B, s->p->R ? s->p->R + b->row : none, sqrt(unit),
                            &f->contact[k]);
  return tb_free_body_contact_reduce(b->mu, A, &f->contact[k]);
}

static bool allocate(tbArena* arena, tbFreeContacts* f) {
  size_t n = (size_t)f->count + GROUP;
  f->contact = tb_arena_alloc(arena, sizeof(tbFreeContact) * n);
  f->lambda = tb_arena_alloc(arena, sizeof(tbFreeBodyFour) * n);
  f->change = tb_arena_alloc(arena, sizeof(tbFreeBodyFour) * n);
  f->first = TB_ARENA_NEW(arena, int, n);
  f->second = TB_ARENA_NEW(arena, int, n);
  f->seen = TB_ARENA_NEW(arena, int, n);
  f->moved = TB_ARENA_NEW(arena, int, f->nothing + 1);
  f->w = TB_ARENA_NEW(arena, float, f->nothing + TB_BODY_DOFS);
  return !arena->failed;
}

bool tb_free_body_contacts_open(const tbActiveState* s, tbArena* arena, tbFreeContacts* f,
                                int* index, tbReal** rows) {
  int n = s->p->nblock, nv = s->a->inertia.forest.n;
  *f = (tbFreeContacts){.end = TB_ARENA_NEW(arena, int, COLOURS), .nothing = nv};
  if (!f->end || !find_colours(s, arena, f, index) || !allocate(arena, f)) return false;
  enum { A = D * TB_PAIR_DOFS, SIZE = A + D * D };
  tbReal* B = tb_arena_alloc(arena, sizeof(tbReal) * SIZE * ((size_t)f->count + 1));
  if (!B) return false;
  // The unit of impulse is the impulse that stops the heaviest contact at the largest velocity.
  tbReal least = INFINITY;
  for (int i = 0; i < n; i++) {
    if (index[i] < 0) continue;
    int body[2], bodies = count_bodies(s, i, body);
    rows[i] = B + SIZE * index[i];
    whiten(s, i, bodies, body, rows[i], rows[i] + A);
    if (rows[i][A] > 0) least = tb_min(least, rows[i][A]);
  }
  f->speed = s->max_speed > 0 ? s->max_speed : 1;
  f->load = least < INFINITY ? f->speed / least : 1;
  for (int i = 0; i < n; i++) {
    int k = index[i];
    if (k < 0 || make_contact(s, i, rows[i], rows[i] + A, f, k)) continue;
    // The contact needs the general method: disable its entry here.
    f->first[k] = f->second[k] = f->nothing;
    memset(&f->contact[k], 0, sizeof f->contact[k]);
    index[i] = -1;
  }
  return true;
}

// ---- changes -----------------------------------------------------------------------------------

void tb_free_body_contacts_forget(tbFreeContacts* f) {
  for (int k = 0; k < f->count; k++) f->seen[k] = TB_MOVED_NEVER;
}

void tb_free_body_contacts_begin(tbFreeContacts* f) {
  f->clock = 0;
  memset(f->w, 0, sizeof(float) * (size_t)(f->nothing + TB_BODY_DOFS));
  memset(f->moved, 0, sizeof(int) * (size_t)f->nothing);
  memset(f->change, 0, sizeof(tbFreeBodyFour) * (size_t)f->count);
  memset(f->lambda, 0, sizeof(tbFreeBodyFour) * (size_t)f->count);
  f->moved[f->nothing] = TB_MOVED_NEVER;
  tb_free_body_contacts_forget(f);
}

void tb_free_body_contact_begin(tbFreeContacts* f, int k, const tbBlock* b, const tbReal* lambda,
                                const tbReal* sigma) {
  tbFreeContact* c = &f->contact[k];
  memset(c->g, 0, sizeof c->g);
  for (int r = 0; r < D; r++) {
    tbReal mu = r == 0 ? 1 : b->mu[r - 1];
    c->g[r] = (float)(mu * sigma[r] / f->speed);
    f->lambda[k][r] = (float)(lambda[r] / mu / f->load);
    c->last[r] = 0;
  }
}

void tb_free_body_contact_end(const tbFreeContacts* f, int k, const tbBlock* b, tbReal* lambda) {
  bool open = f->lambda[k][0] + f->change[k][0] == 0;
  for (int r = 0; r < D; r++) {
    tbReal mu = r == 0 ? 1 : b->mu[r - 1];
    lambda[r] = open ? 0 : lambda[r] + mu * f->load * f->change[k][r];
  }
  // Projection removes the rounding error at the edge of the cone.
  tb_block_project(b, TB_LAW_NCP, lambda, lambda);
}

tbReal tb_free_body_contacts_load(const tbFreeContacts* f) {
  float most = 0;
  for (int k = 0; k < f->count; k++) {
    float now = f->lambda[k][0] + f->change[k][0];
    most = now > most ? now : most;
  }
  return f->load * most;
}

// ---- sweeps ------------------------------------------------------------------------------------

// Contacts of one colour that are evaluated together, and the indices of those to be solved; the
// first index pads the last lanes.
typedef struct {
  int n, count, at[BATCH + LANES], unconverged[BATCH + LANES];
  tbFreeBodyFour sigma[BATCH + LANES], lambda[BATCH + LANES];
} Batch;

// The twelve velocities of a contact's bodies.
typedef struct {
  tbLanes w[D];
} Bodies;

typedef double Half __attribute__((aligned(4), may_alias));
typedef double Halves __attribute__((vector_size(TB_LANES_BYTES)));

TB_INLINE Bodies get_bodies(const tbFreeContacts* f, int k) {
  const float *x = f->w + f->first[k], *y = f->w + f->second[k];
  Halves both = {*(const Half*)(x + LANES), *(const Half*)y};
  return (Bodies){{*(const tbLanes*)x, (tbLanes)both, *(const tbLanes*)(y + 2)}};
}

TB_INLINE void put_bodies(const tbFreeContacts* f, int k, const Bodies* b) {
  float *x = f->w + f->first[k], *y = f->w + f->second[k];
  Halves both = (Halves)b->w[1];
  *(tbLanes*)x = b->w[0];
  *(Half*)(x + LANES) = both[0];
  *(Half*)y = both[1];
  *(tbLanes*)(y + 2) = b->w[2];
}

// sigma = g + B w + R times the change.
TB_INLINE tbLanes find_velocity(const tbFreeContacts* f, int k) {
  const tbFreeContact* c = &f->contact[k];
  Bodies b = get_bodies(f, k);
  tbLanes p[D];
  for (int r = 0; r < D; r++) {
    const tbLanes* B = (const tbLanes*)(c->B + r * TB_PAIR_DOFS);
    p[r] = B[0] * b.w[0] + B[1] * b.w[1] + B[2] * b.w[2];
  }
  tbLanes s = TB_LANES_PICK(p[0], p[1], 0, 2, 4, 6) + TB_LANES_PICK(p[0], p[1], 1, 3, 5, 7);
  tbLanes t = TB_LANES_PICK(p[2], p[2], 0, 2, 0, 2) + TB_LANES_PICK(p[2], p[2], 1, 3, 1, 3);
  tbLanes sum = TB_LANES_PICK(s, t, 0, 2, 4, 6) + TB_LANES_PICK(s, t, 1, 3, 5, 7);
  return sum + *(const tbLanes*)c->g + *(const tbLanes*)c->R * *(const tbLanes*)f->change[k];
}

TB_INLINE void push(const tbFreeContacts* f, int k, tbLanes change) {
  const tbLanes* B = (const tbLanes*)f->contact[k].B;
  Bodies b = get_bodies(f, k);
  for (int i = 0; i < D; i++) {
    b.w[i] += B[i] * change[0] + B[i + D] * change[1] + B[i + 2 * D] * change[2];
  }
  put_bodies(f, k, &b);
}

TB_INLINE void evaluate(const tbFreeContacts* f, Batch* b) {
  for (int j = 0; j < b->n; j++) {
    int k = b->at[j];
    if (j + AHEAD < b->n) {
      const char* next = (const char*)&f->contact[b->at[j + AHEAD]];
      for (size_t i = 0; i < sizeof(tbFreeContact); i += LINE) tb_prefetch(next + i);
    }
    *(tbLanes*)b->sigma[j] = find_velocity(f, k);
    *(tbLanes*)b->lambda[j] = *(const tbLanes*)f->lambda[k] + *(const tbLanes*)f->change[k];
  }
  for (int j = b->n; j % LANES; j++) {
    *(tbLanes*)b->sigma[j] = *(tbLanes*)b->lambda[j] = (tbLanes){0};
  }
}

TB_INLINE void gather_state(const Batch* b, const int* j, tbFreeLook* look) {
  for (int l = 0; l < LANES; l++) {
    look->sigma[l] = *(const tbLanes*)b->sigma[j[l]];
    look->lambda[l] = *(const tbLanes*)b->lambda[j[l]];
  }
  tb_lanes_transpose(look->sigma);
  tb_lanes_transpose(look->lambda);
}

TB_INLINE void gather_contacts(const tbFreeContacts* f, const Batch* b, const int* j,
                               tbFreeMove* move) {
  for (int l = 0; l < LANES; l++) {
    const tbFreeContact* c = &f->contact[b->at[j[l]]];
    move->normal[l] = *(const tbLanes*)c->normal;
    move->S[l] = *(const tbLanes*)c->S;
    move->last[l] = *(const tbLanes*)c->last;
  }
  tb_lanes_transpose(move->normal);
  tb_lanes_transpose(move->S);
  tb_lanes_transpose(move->last);
}

// A scale in the units of the contacts; `all`: every contact is solved.
typedef struct {
  tbMask all;
  float most, load;
} Scale;

TB_INLINE void find_unconverged(Batch* b, const Scale* scale) {
  b->count = 0;
  for (int j = 0; j < b->n; j += LANES) {
    const int next[LANES] = {j, j + 1, j + 2, j + 3};
    tbFreeLook four;
    gather_state(b, next, &four);
    tbMask unconverged = tb_free_unconverged(&four, scale->most, scale->load) | scale->all;
    for (int l = 0; l < LANES && j + l < b->n; l++) {
      b->unconverged[b->count] = j + l;
      b->count -= unconverged[l];
    }
  }
  for (int k = b->count; k % LANES; k++) b->unconverged[k] = b->unconverged[0];
}

// Solve four contacts. A contact that was over-relaxed or damped is marked for another visit.
TB_INLINE void solve_four(tbFreeContacts* f, const Batch* b, const int* j, int used, int now,
                          const Scale* scale) {
  tbFreeLook four;
  tbFreeMove move;
  gather_state(b, j, &four);
  gather_contacts(f, b, j, &move);
  tbMask far = tb_free_unconverged(&four, RELAX_ABOVE * scale->most, scale->load) & ~scale->all;
  move.change[D] = (tbLanes){0};
  tb_free_solve(&four, &move);
  tb_free_relax(&four, far, &move);
  tb_lanes_transpose(move.change);
  tb_lanes_transpose(move.last);
  for (int l = 0; l < used; l++) {
    int k = b->at[j[l]];
    *(tbLanes*)f->change[k] += move.change[l];
    *(tbLanes*)f->contact[k].last = move.last[l];
    f->contact[k].normal[D] = move.normal[D][l];
    push(f, k, move.change[l]);
    f->moved[f->first[k]] = f->moved[f->second[k]] = now;
    f->seen[k] = now + move.again[l];
  }
}

// Evaluate contacts that share no body and solve the unconverged ones; returns their number.
TB_INLINE int solve_batch(tbFreeContacts* f, Batch* b, const Scale* scale) {
  int now = ++f->clock;
  evaluate(f, b);
  find_unconverged(b, scale);
  for (int j = 0; j < b->n; j++) f->seen[b->at[j]] = now;
  for (int k = 0; k < b->count; k += LANES) {
    int used = b->count - k < LANES ? b->count - k : LANES;
    solve_four(f, b, b->unconverged + k, used, now, scale);
  }
  f->moved[f->nothing] = TB_MOVED_NEVER;
  return b->count;
}

// The contacts of a group that must be evaluated, as bits: with one branch per contact the
// processor would mispredict every third.
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
TB_INLINE int sweep_colour(tbFreeContacts* f, const Scale* scale, bool all, int begin, int end) {
  Batch b;
  int count = b.n = 0;
  for (int k = begin; k < end; k += GROUP) {
    unsigned stale = all ? (1u << GROUP) - 1 : find_stale(f, k);
    if (end - k < GROUP) stale &= (1u << (end - k)) - 1;
    for (; stale; stale &= stale - 1) {
      int i = k + tb_lowest_bit(stale);
      if (!all || f->first[i] != f->nothing) b.at[b.n++] = i;
    }
    if (b.n <= BATCH - GROUP && k + GROUP < end) continue;
    if (b.n > 0) count += solve_batch(f, &b, scale);
    b.n = 0;
  }
  return count;
}

int tb_free_body_contacts_sweep(tbFreeContacts* f, const tbFreeScale* scale) {
  Scale s = {.all = {0}};
  if (!scale) s.all = ~s.all;
  if (scale) s.most = (float)(scale->most / f->speed);
  if (scale) s.load = (float)(scale->load / f->load);
  int begin = 0, count = 0;
  for (int k = 0; k < f->colours; begin = f->end[k++]) {
    count += sweep_colour(f, &s, !scale, begin, f->end[k]);
  }
  for (; begin < f->count; begin++) count += sweep_colour(f, &s, !scale, begin, begin + 1);
  return count;
}
