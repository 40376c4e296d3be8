// Newton's method on the active set in velocity space for small islands: every block is affine in
// its velocity, lambda = c0 - W (g + J x), and x solves (3) of active.c as a dense matrix of the
// dofs of the island's trees. Contacts with the world couple no dofs that M does not couple, so
// that the branches of a robot stay apart, and what many contacts hold costs no more than what few
// do.
#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "solvers/active_state.h"
#include "solvers/soft_dense.h"

enum { MAX = TB_MAX_BLOCK_DIM };

// Rows of a block over the island's own dofs.
typedef struct {
  tbSoftBlock rows;  // its col by dof
  const int* place;  // of each column
  int only;          // the only column of a single row that is not zero, or -1
} Part;

typedef struct {
  tbSoftProblem problem;
  tbSoftDense dense;
  Part* part;
  int* dof;
  tbReal *c0, *W;        // W: MAX x MAX per block
  tbReal *x, *by_dof;    // x by place
  tbReal *least, *copy;  // pivots of M; H, for the factor with row exchanges
  int* pivot;
  bool exchanged;  // the factor has row exchanges: it is in `copy`
} Square;

static bool start(tbActiveState* s, tbArena* arena) {
  const tbActive* a = s->a;
  Square* w = TB_ARENA_NEW(arena, Square, 1);
  if (!w) return false;
  s->work = w;
  int n = 0, entries = 0, nblock = s->p->nblock;
  for (int t = 0; t < a->ntree; t++) n += a->tree[t].end - a->tree[t].first;
  for (int i = 0; i < nblock; i++) entries += a->block[i].nnz;
  size_t blocks = (size_t)nblock + 1, room = (size_t)n + 4;
  w->problem = (tbSoftProblem){.ndof = n, .forest = a->forest, .M = a->M};
  if (!tb_soft_dense_build(&w->dense, &w->problem, arena)) return false;
  w->part = tb_arena_alloc(arena, sizeof(Part) * blocks);
  w->dof = tb_arena_alloc(arena, sizeof(int) * room);
  int* local = tb_arena_alloc(arena, sizeof(int) * (size_t)(a->forest.n + 1));
  int* place = tb_arena_alloc(arena, sizeof(int) * (size_t)(entries + 1));
  w->c0 = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(s->p->n + 1));
  w->W = tb_arena_alloc(arena, sizeof(tbReal) * MAX * MAX * blocks);
  w->x = tb_arena_alloc(arena, sizeof(tbReal) * room);
  w->by_dof = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)(a->forest.n + 1));
  w->least = tb_arena_alloc(arena, sizeof(tbReal) * room);
  w->copy = tb_arena_alloc(arena, sizeof(tbReal) * room * room);
  w->pivot = tb_arena_alloc(arena, sizeof(int) * room);
  if (arena->failed) return false;
  for (int t = 0, at = 0; t < a->ntree; t++) {
    for (int k = a->tree[t].first; k < a->tree[t].end; k++, at++) {
      w->dof[at] = k;
      local[k] = at;
      w->least[at] = 1 / a->inverse[k];
    }
  }
  w->problem.dof = w->dof;
  w->problem.local = local;
  for (int i = 0; i < nblock; i++) {
    const tbRows* rows = &a->block[i];
    Part* part = &w->part[i];
    part->rows = (tbSoftBlock){.dim = rows->dim, .nnz = rows->nnz, .col = rows->col, .J = rows->J};
    part->place = place;
    part->only = tb_active_only_entry(rows);
    for (int k = 0; k < rows->nnz; k++) *place++ = local[rows->col[k]];
  }
  return true;
}

// ---- products ----------------------------------------------------------------------------------

// x += J^T f, x by place.
static void add_impulse(const Part* part, const tbReal* f, tbReal* x) {
  const tbSoftBlock* b = &part->rows;
  if (part->only >= 0) {
    x[part->place[part->only]] += b->J[part->only] * f[0];
    return;
  }
  const int* place = part->place;
  if (b->dim == 3) {
    const tbReal *J = b->J, *J1 = J + b->nnz, *J2 = J1 + b->nnz;
    for (int k = 0; k < b->nnz; k++) x[place[k]] += J[k] * f[0] + J1[k] * f[1] + J2[k] * f[2];
    return;
  }
  for (int r = 0; r < b->dim; r++) {
    const tbReal* J = b->J + r * b->nnz;
    if (f[r] == 0) continue;
    for (int k = 0; k < b->nnz; k++) x[place[k]] += J[k] * f[r];
  }
}

// out = J x.
static void mul(const Part* part, const tbReal* x, tbReal* out) {
  const tbSoftBlock* b = &part->rows;
  if (part->only >= 0) {
    out[0] = b->J[part->only] * x[part->place[part->only]];
    return;
  }
  const int* place = part->place;
  if (b->dim == 3) {
    const tbReal *J = b->J, *J1 = J + b->nnz, *J2 = J1 + b->nnz;
    tbReal s0 = 0, s1 = 0, s2 = 0;
    for (int k = 0; k < b->nnz; k++) {
      tbReal v = x[place[k]];
      s0 += J[k] * v;
      s1 += J1[k] * v;
      s2 += J2[k] * v;
    }
    out[0] = s0;
    out[1] = s1;
    out[2] = s2;
    return;
  }
  for (int r = 0; r < b->dim; r++) {
    const tbReal* J = b->J + r * b->nnz;
    tbReal sum = 0;
    for (int k = 0; k < b->nnz; k++) sum += J[k] * x[place[k]];
    out[r] = sum;
  }
}

static void true_velocity(tbActiveState* s, const tbReal* lambda, tbReal* sigma) {
  const tbActive* a = s->a;
  const tbProblem* p = s->p;
  Square* w = s->work;
  int n = w->problem.ndof;
  memset(w->x, 0, sizeof(tbReal) * (size_t)n);
  for (int i = 0; i < p->nblock; i++) {
    add_impulse(&w->part[i], lambda + p->block[i].row, w->x);
  }
  for (int k = 0; k < n; k++) w->by_dof[w->dof[k]] = w->x[k];
  for (int t = 0; t < a->ntree; t++) {
    tb_ltdl_solve_range(a->forest, a->LD, a->inverse, w->by_dof, a->tree[t].first, a->tree[t].end);
  }
  for (int k = 0; k < n; k++) w->x[k] = w->by_dof[w->dof[k]];
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    mul(&w->part[i], w->x, sigma + row);
    for (int r = row; r < row + p->block[i].dim; r++) {
      sigma[r] += p->g[r] + (p->R ? p->R[r] * lambda[r] : 0);
    }
  }
}

// ---- rounds ------------------------------------------------------------------------------------

static void assemble(tbActiveState* s) {
  Square* w = s->work;
  tb_soft_dense_start(&w->dense, &w->problem);
  if (s->sliding) tb_soft_dense_skew(&w->dense);
  for (int i = 0; i < s->p->nblock; i++) {
    const tbBlock* b = &s->p->block[i];
    const Part* part = &w->part[i];
    const tbReal* W = w->W + (size_t)i * MAX * MAX;
    bool any = false;
    for (int r = 0; r < b->dim * b->dim; r++) any = any || W[r] != 0;
    if (!any || part->rows.nnz == 0) continue;
    if (part->only >= 0) {
      int at = part->place[part->only];
      tbReal value = part->rows.J[part->only];
      w->dense.H[at * (w->dense.stride + 1)] += W[0] * value * value;
    } else {
      tb_soft_dense_add(&w->dense, &part->rows, part->place, W);
    }
  }
}

static bool factor(tbActiveState* s) {
  Square* w = s->work;
  int n = w->problem.ndof, stride = w->dense.stride;
  for (int i = 0; i < s->p->nblock; i++) {
    tb_active_weights(s, i, w->c0, w->W + (size_t)i * MAX * MAX);
  }
  w->exchanged = false;
  assemble(s);
  if (!s->sliding) return tb_soft_dense_factor(&w->dense);
  if (tb_soft_dense_factor_skew(&w->dense, w->least)) return true;
  // A pivot vanishes or nearly so: once more with row exchanges.
  assemble(s);
  w->exchanged = true;
  for (int k = 0; k < n; k++) {
    memcpy(w->copy + k * n, w->dense.H + k * stride, sizeof(tbReal) * (size_t)n);
  }
  return tb_lu(n, w->copy, n, w->pivot);
}

static void solve(const Square* w, tbReal* x) {
  if (w->exchanged) {
    tb_lu_solve(w->problem.ndof, w->copy, w->problem.ndof, w->pivot, x);
  } else {
    tb_soft_dense_solve(&w->dense, x);
  }
}

// (3) for the change of lambda and x, with the factors that there are.
static bool correct(tbActiveState* s) {
  const tbProblem* p = s->p;
  Square* w = s->work;
  memset(w->x, 0, sizeof(tbReal) * (size_t)w->problem.ndof);
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal* R = p->R ? p->R + b->row : NULL;
    tbReal* W = w->W + (size_t)i * MAX * MAX;
    tb_active_weights(s, i, w->c0, W);
    const tbReal *lambda = s->lambda + b->row, *sigma = s->sigma + b->row;
    tbReal* change = s->next + b->row;
    bool any = false;
    for (int r = 0; r < b->dim; r++) {
      change[r] = w->c0[b->row + r] - lambda[r];
      for (int c = 0; c < b->dim; c++) {
        change[r] -= W[r * b->dim + c] * (sigma[c] - (R ? R[c] * lambda[c] : 0));
      }
      any = any || change[r] != 0;
    }
    if (any) add_impulse(&w->part[i], change, w->x);
  }
  solve(w, w->x);
  bool finite = true;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    const tbReal* W = w->W + (size_t)i * MAX * MAX;
    tbReal velocity[MAX];
    mul(&w->part[i], w->x, velocity);
    for (int r = 0; r < b->dim; r++) {
      int row = b->row + r;
      tbReal change = s->next[row];
      for (int c = 0; c < b->dim; c++) change -= W[r * b->dim + c] * velocity[c];
      s->next[row] = s->lambda[row] + change;
      s->speed[row] = s->sigma[row] + velocity[r] + (p->R ? p->R[row] * change : 0);
      finite = finite && isfinite(s->next[row]);
    }
  }
  return finite;
}

const tbActiveForm TB_ACTIVE_SQUARE = {start, factor, correct, correct, true_velocity};
