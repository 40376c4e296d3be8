// Gauss-Seidel with exact local solutions (CM Alg. 6): slow to converge, but contacts that open,
// stick or slide are identified after a few sweeps. Velocities are kept whitened, w = B^T lambda
// with B = J L^-1 D^-1/2, so that the cost of a block depends on its support only. During sweeps w
// stays at its value at their start, and only its change is updated, in single precision. Contacts
// on free bodies have a method of their own (free_body_contacts.c), other blocks are solved one by
// one.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "problem/cone.h"
#include "solvers/active_set/subdomains.h"
#include "solvers/gauss_seidel/free_body_contacts.h"
#include "solvers/local/local.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// Data of a block: its rows of B on its support and, except for contacts on free bodies, B B^T + R.
typedef struct {
  int nnz;
  const int* col;  // dofs of B: those of J and their ancestors
  tbReal *B, *A;
  tbReal slip;
} Local;

struct tbActiveSweeps {
  Local* local;
  tbFreeContacts free;
  int* index;             // by block: its index among the contacts on free bodies, or -1
  int nother, *other;     // all other blocks
  int* seen;              // by block: when it was last evaluated, for the other blocks
  tbReal* w;              // by dof; only the dofs of the island are used
  tbReal** rows;          // by block: B of contacts on free bodies
  tbReal *from, *before;  // impulses and row velocities at the start of the sweeps
};

// ---- constant data -----------------------------------------------------------------------------

// The dofs of B. The support of a single row may lack its first ancestors, where J is zero but B is
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
  const tbForestInertia* m = &a->inertia;
  tb_ltdl_half_solve_support(m->forest, m->LD, m->inverse, l->col, n, B, n, d);
  for (int r = 0; r < d; r++) {
    for (int c = 0; c <= r; c++) {
      tbReal sum = 0;
      for (int k = 0; k < n; k++) sum += B[r * n + k] * B[c * n + k];
      A[r * d + c] = A[c * d + r] = sum;
    }
    if (s->p->R) A[r * d + r] += s->p->R[s->p->block[i].row + r];
  }
}

static bool whiten(const tbActiveState* s, tbArena* arena, tbActiveSweeps* sweeps) {
  for (int i = 0; i < s->p->nblock; i++) {
    int d = s->a->block[i].dim, index = sweeps->index[i];
    Local* l = &sweeps->local[i];
    *l = find_support(&s->a->inertia.forest, &s->a->block[i]);
    l->B = sweeps->rows[i];
    if (index >= 0) continue;
    l->B = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(d * l->nnz + d * d + 1));
    if (!l->B) return false;
    l->A = l->B + d * l->nnz;
    whiten_rows(s, i, l, l->B, l->A);
    sweeps->other[sweeps->nother++] = i;
  }
  return true;
}

static tbActiveSweeps* start(const tbActiveState* s, tbArena* arena) {
  tbActiveSweeps* sweeps = TB_ARENA_NEW(arena, tbActiveSweeps, 1);
  if (!sweeps) return NULL;
  int nblock = s->p->nblock;
  sweeps->local = tb_arena_alloc(arena, sizeof(Local) * ((size_t)nblock + 1));
  sweeps->index = TB_ARENA_NEW(arena, int, nblock + 1);
  sweeps->other = TB_ARENA_NEW(arena, int, nblock + 1);
  sweeps->seen = TB_ARENA_NEW(arena, int, nblock + 1);
  sweeps->rows = tb_arena_calloc(arena, (size_t)nblock + 1, sizeof(tbReal*));
  sweeps->w = tb_arena_alloc(arena, sizeof(tbReal) * ((size_t)s->a->inertia.forest.n + 1));
  sweeps->from = tb_arena_alloc(arena, sizeof(tbReal) * 2 * ((size_t)s->p->n + 1));
  sweeps->before = sweeps->from + s->p->n;
  if (arena->failed) return NULL;
  if (!tb_free_body_contacts_open(s, arena, &sweeps->free, sweeps->index, sweeps->rows))
    return NULL;
  return whiten(s, arena, sweeps) ? sweeps : NULL;
}

// ---- operations on one block -------------------------------------------------------------------

// sigma of a block at whitened velocity w.
static void block_velocity(const tbActiveState* s, const Local* l, int i, const tbReal* w,
                           tbReal* out) {
  int row = s->p->block[i].row, dim = s->p->block[i].dim;
  if (s->sweeps->index[i] >= 0 && l->nnz == TB_PAIR_DOFS) {
    tb_contact_mul_pair(l->B, w + l->col[0], w + l->col[TB_BODY_DOFS], out);
  } else if (s->sweeps->index[i] >= 0) {
    tb_contact_mul_single(l->B, w + l->col[0], out);
  } else {
    for (int r = 0; r < dim; r++) {
      out[r] = 0;
      for (int k = 0; k < l->nnz; k++) out[r] += l->B[r * l->nnz + k] * w[l->col[k]];
    }
  }
  for (int r = 0; r < dim; r++) {
    out[r] += s->p->g[row + r] + (s->p->R ? s->p->R[row + r] * s->lambda[row + r] : 0);
  }
}

static void add_whitened(const tbActiveState* s, const Local* l, int i, const tbReal* f,
                         tbReal* w) {
  if (s->sweeps->index[i] >= 0 && l->nnz == TB_PAIR_DOFS) {
    tb_contact_push_pair(l->B, f, w + l->col[0], w + l->col[TB_BODY_DOFS]);
  } else if (s->sweeps->index[i] >= 0) {
    tb_contact_push_single(l->B, f, w + l->col[0]);
  } else {
    for (int r = 0; r < s->p->block[i].dim; r++) {
      for (int k = 0; k < l->nnz; k++) w[l->col[k]] += l->B[r * l->nnz + k] * f[r];
    }
  }
}

static tbFreeScale free_scale(const tbSubdomainScale* scale) {
  return (tbFreeScale){scale->target * scale->speed, scale->load};
}

// The relative residual of a block at velocity sigma.
static tbReal residual_at(const tbActiveState* s, int i, const tbReal* sigma,
                          const tbSubdomainScale* scale) {
  tbBlock b = s->p->block[i];
  const tbReal* lambda = s->lambda + b.row;
  b.row = 0;
  tbProblem one = {.n = b.dim, .nblock = 1, .block = &b, .g = (tbReal*)sigma};
  tbResidual r = tb_residual(&one, s->a->law, lambda, sigma);
  return tb_subdomain_residual(&r, scale);
}

tbReal tb_active_fixed_point_residual(const tbActiveState* s, int i,
                                      const tbSubdomainScale* scale) {
  tbReal sigma[MAX];
  tb_active_whitened_velocity(s, i, sigma);
  return residual_at(s, i, sigma, scale);
}

// ---- changes -----------------------------------------------------------------------------------

void tb_active_sweeps_begin(tbActiveState* s) {
  tbActiveSweeps* sweeps = s->sweeps;
  tb_free_body_contacts_begin(&sweeps->free);
  memcpy(sweeps->from, s->lambda, sizeof(tbReal) * (size_t)s->p->n);
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    tbReal* sigma = sweeps->before + b->row;
    tb_active_whitened_velocity(s, i, sigma);
    if (sweeps->index[i] < 0) continue;
    tb_free_body_contact_begin(&sweeps->free, sweeps->index[i], b, s->lambda + b->row, sigma);
  }
  tb_active_forget(s);
}

void tb_active_sweeps_end(tbActiveState* s) {
  tbActiveSweeps* sweeps = s->sweeps;
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    tbReal change[MAX], *lambda = s->lambda + b->row;
    if (sweeps->index[i] >= 0) tb_free_body_contact_end(&sweeps->free, sweeps->index[i], b, lambda);
    bool moved = false;
    for (int r = 0; r < b->dim; r++) {
      change[r] = lambda[r] - sweeps->from[b->row + r];
      moved = moved || change[r] != 0;
    }
    if (moved) add_whitened(s, &sweeps->local[i], i, change, sweeps->w);
  }
}

tbReal tb_active_sweeps_load(const tbActiveState* s) {
  const tbActiveSweeps* sweeps = s->sweeps;
  tbReal load = tb_free_body_contacts_load(&sweeps->free);
  for (int k = 0; k < sweeps->nother; k++) {
    const tbBlock* b = &s->p->block[sweeps->other[k]];
    for (int r = b->row; r < b->row + b->dim; r++) load = tb_max(load, fabs(s->lambda[r]));
  }
  return load > 0 ? load : INFINITY;
}

// ---- sweeps ------------------------------------------------------------------------------------

// sigma of a block that is not a contact on free bodies.
static void changed_velocity(const tbActiveState* s, int i, tbReal* out) {
  const tbActiveSweeps* sweeps = s->sweeps;
  const Local* l = &sweeps->local[i];
  int row = s->p->block[i].row;
  tbReal unit = sqrt(sweeps->free.load * sweeps->free.speed);
  for (int r = 0; r < s->p->block[i].dim; r++) {
    tbReal change = s->lambda[row + r] - sweeps->from[row + r], sum = 0;
    for (int k = 0; k < l->nnz; k++) sum += l->B[r * l->nnz + k] * sweeps->free.w[l->col[k]];
    out[r] = sweeps->before[row + r] + unit * sum + (s->p->R ? s->p->R[row + r] * change : 0);
  }
}

// Solve such a block at its velocity.
static void sweep_block(tbActiveState* s, int i, tbReal* velocity) {
  const tbBlock* b = &s->p->block[i];
  tbFreeContacts* f = &s->sweeps->free;
  Local* l = &s->sweeps->local[i];
  tbReal change[MAX], *lambda = s->lambda + b->row, unit = 1 / sqrt(f->load * f->speed);
  for (int r = 0; r < b->dim; r++) {
    change[r] = lambda[r];
    for (int c = 0; c < b->dim; c++) velocity[r] -= l->A[r * b->dim + c] * lambda[c];
  }
  tb_local_solve(b, s->a->law, l->A, velocity, lambda, &l->slip);
  for (int r = 0; r < b->dim; r++) {
    change[r] = unit * (lambda[r] - change[r]);
    for (int k = 0; k < l->nnz; k++) f->w[l->col[k]] += (float)(l->B[r * l->nnz + k] * change[r]);
  }
}

// Mark a change of w on the support of a block.
static void mark_moved(tbActiveState* s, int i) {
  const Local* l = &s->sweeps->local[i];
  int now = ++s->sweeps->free.clock;
  for (int k = 0; k < l->nnz; k++) s->sweeps->free.moved[l->col[k]] = now;
}

// Whether w may have changed on the support of a block since its last evaluation.
static bool is_stale(const tbActiveState* s, int i) {
  const Local* l = &s->sweeps->local[i];
  bool stale = false;
  for (int k = 0; k < l->nnz; k++) {
    stale = stale || s->sweeps->free.moved[l->col[k]] > s->sweeps->seen[i];
  }
  return stale;
}

int tb_active_refine(tbActiveState* s, const tbSubdomainScale* scale) {
  tbActiveSweeps* sweeps = s->sweeps;
  tbFreeScale free = free_scale(scale);
  int count = tb_free_body_contacts_sweep(&sweeps->free, &free);
  for (int k = 0; k < sweeps->nother; k++) {
    int i = sweeps->other[k];
    tbReal sigma[MAX];
    if (!is_stale(s, i)) continue;
    changed_velocity(s, i, sigma);
    bool moves = !(residual_at(s, i, sigma, scale) <= scale->target);
    if (moves) {
      sweep_block(s, i, sigma);
      mark_moved(s, i);
      count++;
    }
    // The local solver of the convex law only approaches its solution (local/ccp.c): evaluate
    // again.
    sweeps->seen[i] = sweeps->free.clock - (moves && s->a->law == TB_LAW_CCP);
  }
  return count;
}

void tb_active_forget(tbActiveState* s) {
  tb_free_body_contacts_forget(&s->sweeps->free);
  for (int i = 0; i < s->p->nblock; i++) s->sweeps->seen[i] = TB_MOVED_NEVER;
}

// ---- whole island ------------------------------------------------------------------------------

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
  return true;
}

void tb_active_whitened_velocity(const tbActiveState* s, int i, tbReal* out) {
  block_velocity(s, &s->sweeps->local[i], i, s->sweeps->w, out);
}

void tb_active_whitened_push(tbActiveState* s, int i, const tbReal* change) {
  add_whitened(s, &s->sweeps->local[i], i, change, s->sweeps->w);
}

bool tb_active_sweep(tbActiveState* s, tbArena* arena, int count) {
  if (!tb_active_whiten(s, arena)) return false;
  tbActiveSweeps* sweeps = s->sweeps;
  tb_active_sweeps_begin(s);
  for (int k = 0; k < count; k++) {
    tb_free_body_contacts_sweep(&sweeps->free, NULL);
    for (int j = 0; j < sweeps->nother; j++) {
      tbReal sigma[MAX];
      changed_velocity(s, sweeps->other[j], sigma);
      sweep_block(s, sweeps->other[j], sigma);
    }
  }
  tb_active_sweeps_end(s);
  for (int i = 0; i < s->p->nblock; i++) {
    tb_active_whitened_velocity(s, i, s->sigma + s->p->block[i].row);
  }
  return true;
}
