// Gauss-Seidel with exact local solutions (CM Alg. 6): slow to converge, but what opens, sticks or
// slides shows after a few sweeps. Velocities are kept whitened, w = B^T lambda with
// B = J L^-1 D^-1/2, so that a block costs its support and no more.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "contact/cone.h"
#include "solvers/active_parts.h"
#include "solvers/free_contact.h"
#include "solvers/local.h"

enum { MAX = TB_MAX_BLOCK_DIM, D = TB_CONTACT_ROWS };

// A contact that is more than so many times above its target may go farther than its solution.
static const tbReal NEARLY = 10;

// What any block needs: its rows of B on its support and, but for contacts on free bodies,
// B B^T + R.
typedef struct {
  int nnz;
  const int* col;  // dofs of B: those of J and their ancestors
  tbReal *B, *A;
  tbReal slip;
} Local;

// Before the first change of anything, and after any.
enum { NEVER = -1, ALWAYS = INT_MAX };
// Blocks of which it is asked at once.
enum { GROUP = 8 };

struct tbActiveSweeps {
  Local* local;
  tbFreeContact* contact;
  tbReal* w;  // by dof; only the dofs of the island are used
  // What tells whether a block is to be looked at, apart from the rest since it is asked in every
  // sweep. By block: the first dofs of the free bodies that a contact moves, twice the same where
  // it moves one, else the number of dofs, where `moved` is ALWAYS; and when it was last done.
  int *first, *second, *seen;
  int* moved;  // by dof: when a block last changed w there; for free bodies the first dof stands
  int clock;   // counts changes
};

// ---- what does not change ----------------------------------------------------------------------

// How many free bodies a block of rows moves, one or two, with all of their dofs; 0: other things.
static int count_bodies(const tbForest* forest, const tbRows* rows, int* body) {
  if (rows->nnz != TB_BODY_DOFS && rows->nnz != TB_PAIR_DOFS) return 0;
  for (int k = 0; k < rows->nnz; k++) {
    int at = k % TB_BODY_DOFS, first = rows->col[k - at];
    if (at == 0) body[k / TB_BODY_DOFS] = first;
    if (rows->col[k] != first + at || forest->rownnz[first + at] != at + 1) return 0;
  }
  return rows->nnz / TB_BODY_DOFS;
}

// The dofs of B. A single row may come without the first of its ancestors, where J is zero and B is
// not.
static Local find_support(const tbForest* forest, const tbRows* rows) {
  Local l = {.nnz = rows->nnz, .col = rows->col};
  int last = rows->nnz > 0 ? rows->col[rows->nnz - 1] : -1;
  if (last >= 0 && rows->nnz < forest->rownnz[last]) {
    l.nnz = forest->rownnz[last];
    l.col = forest->colind + forest->rowadr[last];
  }
  return l;
}

// B, and B B^T + R, of a block.
static void whiten_rows(const tbActiveState* s, int i, const Local* l, tbReal* B, tbReal* A) {
  const tbActive* a = s->a;
  const tbRows* rows = &a->block[i];
  int d = rows->dim, n = l->nnz, missing = n - rows->nnz;
  for (int r = 0; r < d; r++) {
    for (int k = 0; k < missing; k++) B[r * n + k] = 0;
    for (int k = missing; k < n; k++) B[r * n + k] = rows->J[r * rows->nnz + k - missing];
  }
  tb_ltdl_half_solve_support(a->forest, a->LD, a->inverse, l->col, n, B, n, d);
  for (int r = 0; r < d; r++) {
    for (int c = 0; c <= r; c++) {
      tbReal sum = 0;
      for (int k = 0; k < n; k++) sum += B[r * n + k] * B[c * n + k];
      A[r * d + c] = A[c * d + r] = sum;
    }
    if (s->p->R) A[r * d + r] += s->p->R[s->p->block[i].row + r];
  }
}

// A block as a contact on free bodies. False: it is none.
static bool make_contact(const tbActiveState* s, int i, tbFreeContact* c) {
  const tbActive* a = s->a;
  const tbRows* rows = &a->block[i];
  const tbBlock* b = &s->p->block[i];
  bool exact = b->type == TB_BLOCK_CONE && b->dim == D && a->law == TB_LAW_NCP;
  tbReal A[D * D];
  c->bodies = exact ? count_bodies(&a->forest, rows, c->body) : 0;
  if (c->bodies == 0) return false;
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
  if (tb_free_contact_reduce(b, A, c)) return true;
  c->bodies = 0;
  return false;
}

static bool whiten(const tbActiveState* s, tbArena* arena, tbActiveSweeps* sweeps) {
  for (int i = 0; i < s->p->nblock; i++) {
    int d = s->a->block[i].dim;
    Local* l = &sweeps->local[i];
    tbFreeContact* c = &sweeps->contact[i];
    *l = find_support(&s->a->forest, &s->a->block[i]);
    if (make_contact(s, i, c)) {
      l->B = c->B;
      sweeps->first[i] = c->body[0];
      sweeps->second[i] = c->bodies > 1 ? c->body[1] : c->body[0];
      continue;
    }
    l->B = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(d * l->nnz + d * d + 1));
    if (!l->B) return false;
    l->A = l->B + d * l->nnz;
    whiten_rows(s, i, l, l->B, l->A);
    sweeps->first[i] = sweeps->second[i] = s->a->forest.n;
  }
  return true;
}

static tbActiveSweeps* start(const tbActiveState* s, tbArena* arena) {
  tbActiveSweeps* sweeps = TB_ARENA_NEW(arena, tbActiveSweeps, 1);
  if (!sweeps) return NULL;
  int n = s->a->forest.n;
  size_t nblock = (size_t)s->p->nblock + 1;
  sweeps->local = tb_arena_alloc(arena, sizeof(Local) * nblock);
  sweeps->contact = tb_arena_alloc(arena, sizeof(tbFreeContact) * nblock);
  sweeps->first = TB_ARENA_NEW(arena, int, s->p->nblock + GROUP);
  sweeps->second = TB_ARENA_NEW(arena, int, s->p->nblock + GROUP);
  sweeps->seen = TB_ARENA_NEW(arena, int, s->p->nblock + GROUP);
  sweeps->moved = TB_ARENA_NEW(arena, int, n + 1);
  sweeps->w = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(n + 1));
  if (arena->failed || !whiten(s, arena, sweeps)) return NULL;
  sweeps->moved[n] = ALWAYS;
  for (int k = 0; k < GROUP; k++) sweeps->seen[s->p->nblock + k] = ALWAYS;
  return sweeps;
}

// ---- any block ---------------------------------------------------------------------------------

// sigma of a block at whitened velocity w.
static void block_velocity(const tbActiveState* s, const Local* l, int i, const tbReal* w,
                           tbReal* out) {
  int row = s->p->block[i].row;
  for (int r = 0; r < s->p->block[i].dim; r++) {
    tbReal sum = s->p->g[row + r] + (s->p->R ? s->p->R[row + r] * s->lambda[row + r] : 0);
    for (int k = 0; k < l->nnz; k++) sum += l->B[r * l->nnz + k] * w[l->col[k]];
    out[r] = sum;
  }
}

static void add_whitened(const tbActiveState* s, const Local* l, int i, const tbReal* f,
                         tbReal* w) {
  for (int r = 0; r < s->p->block[i].dim; r++) {
    if (f[r] == 0) continue;
    for (int k = 0; k < l->nnz; k++) w[l->col[k]] += l->B[r * l->nnz + k] * f[r];
  }
}

static void sweep_block(tbActiveState* s, int i) {
  const tbBlock* b = &s->p->block[i];
  Local* l = &s->sweeps->local[i];
  tbReal velocity[MAX], change[MAX], *lambda = s->lambda + b->row, *w = s->sweeps->w;
  block_velocity(s, l, i, w, velocity);
  for (int r = 0; r < b->dim; r++) {
    change[r] = lambda[r];
    for (int c = 0; c < b->dim; c++) velocity[r] -= l->A[r * b->dim + c] * lambda[c];
  }
  tb_local_solve(b, s->a->law, l->A, velocity, lambda, &l->slip);
  for (int r = 0; r < b->dim; r++) change[r] = lambda[r] - change[r];
  add_whitened(s, l, i, change, w);
}

TB_INLINE void sweep_all(tbActiveState* s, int count) {
  const tbProblem* p = s->p;
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < p->nblock; i++) {
      tbFreeContact* c = &s->sweeps->contact[i];
      if (c->bodies > 0) {
        tbReal sigma[D], *lambda = s->lambda + c->row, *w = s->sweeps->w;
        tb_free_contact_velocity(c, w, lambda, sigma);
        tb_free_contact_move(c, sigma, false, w, lambda);
      } else {
        sweep_block(s, i);
      }
    }
  }
}

// ---- unsettled blocks only ----------------------------------------------------------------------

// A change of w under a block.
TB_INLINE void mark_moved(tbActiveState* s, int i) {
  tbActiveSweeps* sweeps = s->sweeps;
  int* moved = sweeps->moved;
  int now = ++sweeps->clock;
  if (sweeps->contact[i].bodies > 0) {
    moved[sweeps->first[i]] = moved[sweeps->second[i]] = now;
    return;
  }
  const Local* l = &sweeps->local[i];
  for (int k = 0; k < l->nnz; k++) moved[l->col[k]] = now;
}

// Whether w may have changed under any block since it was last looked at.
static bool is_stale(const tbActiveState* s, int i) {
  const Local* l = &s->sweeps->local[i];
  bool stale = false;
  for (int k = 0; k < l->nnz; k++)
    stale = stale || s->sweeps->moved[l->col[k]] > s->sweeps->seen[i];
  return stale;
}

// Whether any block holds.
static bool block_holds(const tbActiveState* s, int i, const tbPartScale* scale) {
  tbBlock b = s->p->block[i];
  const tbReal* lambda = s->lambda + b.row;
  tbReal sigma[MAX];
  block_velocity(s, &s->sweeps->local[i], i, s->sweeps->w, sigma);
  b.row = 0;
  tbProblem one = {.n = b.dim, .nblock = 1, .block = &b, .g = sigma};
  tbResidual r = tb_residual(&one, s->a->law, lambda, sigma);
  return tb_active_part_holds(&r, scale);
}

// Solve a block that is not good enough; one that went farther is to be looked at again, and so is
// one of the convex law, whose local solver descends towards its answer (local_ccp.c). False: it is
// good enough.
TB_INLINE bool settle_block(tbActiveState* s, int i, const tbPartScale* scale, bool* farther) {
  tbFreeContact* c = &s->sweeps->contact[i];
  if (c->bodies == 0) {
    if (!is_stale(s, i) || block_holds(s, i, scale)) return false;
    sweep_block(s, i);
    *farther = s->a->law == TB_LAW_CCP;
    return true;
  }
  tbReal sigma[D], *lambda = s->lambda + c->row, *w = s->sweeps->w;
  tbReal most = scale->target * scale->speed;
  tb_free_contact_velocity(c, w, lambda, sigma);
  if (tb_free_contact_holds(c, lambda, sigma, most, scale->load)) return false;
  bool far = !tb_free_contact_holds(c, lambda, sigma, NEARLY * most, scale->load);
  *farther = tb_free_contact_move(c, sigma, far, w, lambda);
  return true;
}

bool tb_active_settled(const tbActiveState* s, int i, const tbPartScale* scale) {
  const tbFreeContact* c = &s->sweeps->contact[i];
  if (c->bodies == 0) return block_holds(s, i, scale);
  tbReal sigma[D], *lambda = s->lambda + c->row;
  tb_free_contact_velocity(c, s->sweeps->w, lambda, sigma);
  return tb_free_contact_holds(c, lambda, sigma, scale->target * scale->speed, scale->load);
}

// Those of a group of blocks that are to be looked at, as bits: one by one, the processor would
// guess wrong every third time.
TB_INLINE unsigned find_stale(const tbActiveSweeps* sweeps, int begin) {
  const int *first = sweeps->first + begin, *second = sweeps->second + begin;
  const int *seen = sweeps->seen + begin, *moved = sweeps->moved;
  unsigned stale = 0;
  for (int k = 0; k < GROUP; k++) {
    stale |= (unsigned)((moved[first[k]] > seen[k]) | (moved[second[k]] > seen[k])) << k;
  }
  return stale;
}

// One sweep over what is unsettled: how many blocks were.
TB_INLINE int settle_all(tbActiveState* s, const tbPartScale* scale) {
  tbActiveSweeps* sweeps = s->sweeps;
  int count = 0;
  for (int begin = 0; begin < s->p->nblock; begin += GROUP) {
    for (unsigned stale = find_stale(sweeps, begin); stale; stale &= stale - 1) {
      int i = begin + tb_lowest_bit(stale);
      bool farther = false, moves = settle_block(s, i, scale, &farther);
      if (moves) mark_moved(s, i);
      sweeps->seen[i] = sweeps->clock - farther;
      count += moves;
    }
  }
  return count;
}

static int settle_narrow(tbActiveState* s, const tbPartScale* scale) {
  return settle_all(s, scale);
}

TB_WIDE static int settle_wide(tbActiveState* s, const tbPartScale* scale) {
  return settle_all(s, scale);
}

int tb_active_settle(tbActiveState* s, const tbPartScale* scale) {
  return tb_wide() ? settle_wide(s, scale) : settle_narrow(s, scale);
}

// Every block is looked at again.
void tb_active_forget(tbActiveState* s) {
  for (int i = 0; i < s->p->nblock; i++) s->sweeps->seen[i] = NEVER;
}

// ---- all of them --------------------------------------------------------------------------------

static void sweep_narrow(tbActiveState* s, int count) {
  sweep_all(s, count);
}

TB_WIDE static void sweep_wide(tbActiveState* s, int count) {
  sweep_all(s, count);
}

bool tb_active_whiten(tbActiveState* s, tbArena* arena) {
  const tbProblem* p = s->p;
  if (!s->sweeps && !(s->sweeps = start(s, arena))) return false;
  const Local* local = s->sweeps->local;
  tbReal* w = s->sweeps->w;
  for (int i = 0; i < p->nblock; i++) {
    for (int k = 0; k < local[i].nnz; k++) w[local[i].col[k]] = 0;
  }
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    tb_block_project(b, s->a->law, s->lambda + b->row, s->lambda + b->row);
    add_whitened(s, &local[i], i, s->lambda + b->row, w);
  }
  tb_active_forget(s);
  return true;
}

void tb_active_whitened_velocity(const tbActiveState* s, int i, tbReal* out) {
  block_velocity(s, &s->sweeps->local[i], i, s->sweeps->w, out);
}

void tb_active_whitened_push(tbActiveState* s, int i, const tbReal* change) {
  add_whitened(s, &s->sweeps->local[i], i, change, s->sweeps->w);
  mark_moved(s, i);
}

bool tb_active_sweep(tbActiveState* s, tbArena* arena, int count) {
  if (!tb_active_whiten(s, arena)) return false;
  if (tb_wide()) {
    sweep_wide(s, count);
  } else {
    sweep_narrow(s, count);
  }
  tb_active_forget(s);
  for (int i = 0; i < s->p->nblock; i++) {
    tb_active_whitened_velocity(s, i, s->sigma + s->p->block[i].row);
  }
  return true;
}
