// Gauss-Seidel with exact local solutions (CM Alg. 6): slow to converge, but what opens, sticks or
// slides shows after a few sweeps. Velocities are kept whitened, w = B^T lambda with
// B = J L^-1 D^-1/2, so that a block costs its support and no more.
#include <string.h>

#include "contact/cone.h"
#include "solvers/active_state.h"
#include "solvers/local.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// What a block needs: its rows of B on its support, and B B^T + R.
typedef struct {
  tbReal* B;
  tbReal A[MAX * MAX];
  tbReal slip;
} Local;

struct tbActiveSweeps {
  Local* local;
  tbReal* w;  // by dof; only the dofs of the island are used
};

static bool whiten(const tbActiveState* s, tbArena* arena, Local* local) {
  const tbActive* a = s->a;
  for (int i = 0; i < s->p->nblock; i++) {
    const tbRows* rows = &a->block[i];
    int d = rows->dim, n = rows->nnz, row = s->p->block[i].row;
    Local* l = &local[i];
    l->B = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(d * n + 1));
    if (!l->B) return false;
    l->slip = 0;
    memcpy(l->B, rows->J, sizeof(tbReal) * (size_t)(d * n));
    tb_ltdl_half_solve_support(a->forest, a->LD, a->inverse, rows->col, n, l->B, n, d);
    for (int r = 0; r < d; r++) {
      for (int c = 0; c <= r; c++) {
        tbReal sum = 0;
        for (int k = 0; k < n; k++) sum += l->B[r * n + k] * l->B[c * n + k];
        l->A[r * d + c] = l->A[c * d + r] = sum;
      }
      if (s->p->R) l->A[r * d + r] += s->p->R[row + r];
    }
  }
  return true;
}

static tbActiveSweeps* start(const tbActiveState* s, tbArena* arena) {
  tbActiveSweeps* sweeps = TB_ARENA_NEW(arena, tbActiveSweeps, 1);
  if (!sweeps) return NULL;
  sweeps->local = tb_arena_alloc(arena, sizeof(Local) * (size_t)(s->p->nblock + 1));
  sweeps->w = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->a->forest.n + 1));
  if (!sweeps->local || !sweeps->w || !whiten(s, arena, sweeps->local)) return NULL;
  return sweeps;
}

// sigma of a block at whitened velocity w.
static void block_velocity(const tbActiveState* s, const Local* l, int i, const tbReal* w,
                           tbReal* out) {
  const tbRows* rows = &s->a->block[i];
  int row = s->p->block[i].row;
  for (int r = 0; r < rows->dim; r++) {
    tbReal sum = s->p->g[row + r] + (s->p->R ? s->p->R[row + r] * s->lambda[row + r] : 0);
    for (int k = 0; k < rows->nnz; k++) sum += l->B[r * rows->nnz + k] * w[rows->col[k]];
    out[r] = sum;
  }
}

static void add_whitened(const tbActiveState* s, const Local* l, int i, const tbReal* f,
                         tbReal* w) {
  const tbRows* rows = &s->a->block[i];
  for (int r = 0; r < rows->dim; r++) {
    if (f[r] == 0) continue;
    for (int k = 0; k < rows->nnz; k++) w[rows->col[k]] += l->B[r * rows->nnz + k] * f[r];
  }
}

static void sweep_once(tbActiveState* s) {
  const tbProblem* p = s->p;
  tbReal* w = s->sweeps->w;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    Local* l = &s->sweeps->local[i];
    tbReal velocity[MAX], change[MAX], *lambda = s->lambda + b->row;
    block_velocity(s, l, i, w, velocity);
    for (int r = 0; r < b->dim; r++) {
      change[r] = lambda[r];
      for (int c = 0; c < b->dim; c++) velocity[r] -= l->A[r * b->dim + c] * lambda[c];
    }
    tb_local_solve(b, s->a->law, l->A, velocity, lambda, &l->slip);
    for (int r = 0; r < b->dim; r++) change[r] = lambda[r] - change[r];
    add_whitened(s, l, i, change, w);
  }
}

bool tb_active_whiten(tbActiveState* s, tbArena* arena) {
  const tbProblem* p = s->p;
  if (!s->sweeps && !(s->sweeps = start(s, arena))) return false;
  const Local* local = s->sweeps->local;
  tbReal* w = s->sweeps->w;
  for (int i = 0; i < p->nblock; i++) {
    for (int k = 0; k < s->a->block[i].nnz; k++) w[s->a->block[i].col[k]] = 0;
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
  for (int k = 0; k < count; k++) sweep_once(s);
  for (int i = 0; i < s->p->nblock; i++) {
    tb_active_whitened_velocity(s, i, s->sigma + s->p->block[i].row);
  }
  return true;
}
