// lcp/lemke: Lemke's pivoting method (Cottle, Pang & Stone, "The Linear Complementarity Problem",
// 1992, alg. 4.4.5) on the pyramid law in standard form (Stewart & Trinkle 1996, an axis at a
// time):
//
//   0 <= lambda_N ⟂ sigma_N >= 0
//   0 <= beta±_i  ⟂ gamma_i ± sigma_Ti >= 0,   0 <= gamma_i ⟂ mu_i lambda_N - beta+_i - beta-_i >=
//   0
//
// with lambda_Ti = beta+_i - beta-_i. The matrix is copositive, for which Lemke's path ends at a
// solution. In hyperstatic problems (G singular) rounding leads the path to a ray: a ridge eps
// diag(G) is added, its effect is removed by proximal iterations (g - eps diag(G) lambda_k for g),
// and if the path still ends on a ray the ridge grows. Equality rows are a pair of opposite
// one-sided rows; a box has its two bounds. Ties in the ratio test are broken lexicographically, so
// that degenerate problems do not cycle.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/solver.h"

// How an LCP variable enters lambda: lambda_row += sign times the variable; slack variables have
// row -1.
typedef struct {
  int row;
  tbReal sign;
} Variable;

typedef struct {
  int size;   // of the LCP
  int width;  // columns of the tableau: size (w), 1 (z0), 1 (q), size (z)
  Variable* variable;
  tbReal* offset;   // per row of lambda: constant part (a box's bound)
  tbReal* scale;    // per row of lambda: scales to a unit diagonal, one value per cone
  tbReal *G, *q;    // G + R dense, and the free velocity at the offset
  tbReal* tableau;  // size x width
  tbReal size_q;    // largest entry of the right side
  int* basis;       // basic variable of each row: w_i = i, z_i = size + i, z0 = 2 size
} Lemke;

static int variables_of(const tbBlock* b) {
  if (b->type == TB_BLOCK_EQUALITY) return 2 * b->dim;
  if (b->type == TB_BLOCK_ONE_SIDED) return b->dim;
  if (b->type == TB_BLOCK_CONE) return 1 + 3 * (b->dim - 1);
  bool low = isfinite(b->lower), high = isfinite(b->upper);
  return b->dim * (low != high ? 1 : 2);
}

static void add_variable(Lemke* l, int* at, int row, tbReal sign) {
  l->variable[(*at)++] = (Variable){row, sign};
}

// The unknowns of each block, in the order that fill_couplings expects.
static void list_variables(Lemke* l, const tbProblem* p) {
  int at = 0;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    bool low = isfinite(b->lower), high = isfinite(b->upper);
    if (b->type == TB_BLOCK_CONE) add_variable(l, &at, b->row, 1);
    for (int r = b->row + (b->type == TB_BLOCK_CONE); r < b->row + b->dim; r++) {
      if (b->type == TB_BLOCK_CONE) {
        add_variable(l, &at, r, 1);
        add_variable(l, &at, r, -1);
        add_variable(l, &at, -1, 0);
      } else if (b->type == TB_BLOCK_ONE_SIDED) {
        add_variable(l, &at, r, 1);
      } else if (b->type == TB_BLOCK_EQUALITY || (!low && !high)) {
        add_variable(l, &at, r, 1);
        add_variable(l, &at, r, -1);
      } else {
        l->offset[r] = low ? b->lower : b->upper;
        add_variable(l, &at, r, low ? 1 : -1);
        if (low && high) add_variable(l, &at, -1, 0);
      }
    }
  }
}

// Tableau columns: w (identity), z0, right side, then -M.
static tbReal* entry(const Lemke* l, int row, int column) {
  return l->tableau + (size_t)row * (size_t)l->width + (size_t)column;
}

static void couple(Lemke* l, int row, int column, tbReal value) {
  *entry(l, row, l->size + 2 + column) -= value;
}

// The friction bounds and a box's upper bound.
static void fill_couplings(Lemke* l, const tbProblem* p) {
  int at = 0;
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    if (b->type == TB_BLOCK_CONE) {
      for (int t = 0; t < b->dim - 1; t++) {
        int plus = at + 1 + 3 * t, minus = plus + 1, gamma = plus + 2;
        couple(l, plus, gamma, 1);
        couple(l, minus, gamma, 1);
        couple(l, gamma, at, b->mu[t]);
        couple(l, gamma, plus, -1);
        couple(l, gamma, minus, -1);
      }
    } else if (b->type == TB_BLOCK_BOX && isfinite(b->lower) && isfinite(b->upper)) {
      for (int r = 0; r < b->dim; r++) {
        int p_at = at + 2 * r, gamma = p_at + 1;
        couple(l, p_at, gamma, 1);
        couple(l, gamma, p_at, -1);
        *entry(l, gamma, l->size + 1) = (b->upper - b->lower) / l->scale[b->row + r];
      }
    }
    at += variables_of(b);
  }
}

static void choose_scale(Lemke* l, const tbProblem* p) {
  tbReal A[TB_MAX_BLOCK_DIM * TB_MAX_BLOCK_DIM];
  for (int i = 0; i < p->nblock; i++) {
    const tbBlock* b = &p->block[i];
    tb_delassus_diagonal_block(p, i, A);
    for (int r = 0; r < b->dim; r++) {
      tbReal d = b->type == TB_BLOCK_CONE ? A[0] : A[r * (b->dim + 1)];
      l->scale[b->row + r] = d > 0 ? 1 / sqrt(d) : 1;
    }
  }
}

static bool allocate(Lemke* l, tbSolve* s) {
  const tbProblem* p = s->p;
  size_t n = (size_t)p->n;
  for (int i = 0; i < p->nblock; i++) l->size += variables_of(&p->block[i]);
  l->width = 2 * l->size + 2;
  l->variable = TB_ARENA_NEW(s->arena, Variable, l->size);
  l->basis = TB_ARENA_NEW(s->arena, int, l->size);
  l->offset = tb_solve_reals(s, n);
  l->scale = tb_solve_reals(s, n);
  l->G = tb_solve_reals(s, n * n);
  l->q = tb_solve_reals(s, n);
  l->tableau = tb_solve_reals(s, (size_t)l->size * (size_t)l->width);
  if (s->arena->failed) return false;
  choose_scale(l, p);
  list_variables(l, p);
  tb_delassus_dense(p, l->G);
  for (size_t i = 0; i < n && p->R; i++) l->G[i * (n + 1)] += p->R[i];
  return true;
}

// Set up the initial tableau: w basic, ridge and proximal centre included.
static void fill(Lemke* l, tbSolve* s, tbReal ridge, const tbReal* centre) {
  const tbProblem* p = s->p;
  size_t n = (size_t)p->n;
  memset(l->tableau, 0, (size_t)l->size * (size_t)l->width * sizeof *l->tableau);
  tb_delassus_velocity(p, l->offset, s->velocity, l->q);
  for (size_t i = 0; i < n; i++) {
    l->q[i] += ridge * l->G[i * (n + 1)] * (l->offset[i] - centre[i]);
  }
  for (int i = 0; i < l->size; i++) {
    *entry(l, i, i) = 1;
    *entry(l, i, l->size) = -1;
    l->basis[i] = i;
    Variable v = l->variable[i];
    if (v.row < 0) continue;
    *entry(l, i, l->size + 1) = v.sign * l->scale[v.row] * l->q[v.row];
    for (int j = 0; j < l->size; j++) {
      Variable u = l->variable[j];
      if (u.row < 0) continue;
      tbReal value = l->G[(size_t)v.row * n + (size_t)u.row] * (v.row == u.row ? 1 + ridge : 1);
      couple(l, i, j, v.sign * u.sign * l->scale[v.row] * l->scale[u.row] * value);
    }
  }
  fill_couplings(l, p);
  l->size_q = 0;
  for (int i = 0; i < l->size; i++) l->size_q = tb_max(l->size_q, fabs(*entry(l, i, l->size + 1)));
}

static void pivot(Lemke* l, int row, int column) {
  tbReal *source = entry(l, row, 0), f = 1 / source[column];
  for (int c = 0; c < l->width; c++) source[c] *= f;
  source[column] = 1;
  for (int r = 0; r < l->size; r++) {
    tbReal *target = entry(l, r, 0), m = target[column];
    if (r == row || m == 0) continue;
    for (int c = 0; c < l->width; c++) target[c] -= m * source[c];
    target[column] = 0;
  }
}

static int column_of(const Lemke* l, int variable) {
  if (variable < l->size) return variable;
  return variable == 2 * l->size ? l->size : l->size + 2 + (variable - l->size);
}

// Row a before row b in the lexicographic order of (q, w) / pivot entry?
static bool lexicographic(const Lemke* l, int a, int b, int column) {
  tbReal fa = *entry(l, a, column), fb = *entry(l, b, column);
  for (int c = -1; c < l->size; c++) {
    int k = c < 0 ? l->size + 1 : c;
    tbReal x = *entry(l, a, k) / fa, y = *entry(l, b, k) / fb;
    tbReal noise = 1e-12 * (c < 0 ? l->size_q : 1) * tb_max(1 / fa, 1 / fb);
    if (fabs(x - y) > 1e-11 * (fabs(x) + fabs(y)) + noise) return x < y;
  }
  return a < b;
}

// The leaving row for an entering column; z0 leaves whenever possible. -1: the path ends on a ray.
static int ratio_test(const Lemke* l, int column) {
  int best = -1;
  tbReal largest = 0;
  for (int r = 0; r < l->size; r++) largest = tb_max(largest, fabs(*entry(l, r, column)));
  for (int r = 0; r < l->size; r++) {
    if (!(*entry(l, r, column) > 1e-11 * largest)) continue;
    if (best < 0 || lexicographic(l, r, best, column)) best = r;
  }
  if (best < 0) return -1;
  tbReal ratio = *entry(l, best, l->size + 1) / *entry(l, best, column);
  for (int r = 0; r < l->size; r++) {
    if (l->basis[r] != 2 * l->size || !(*entry(l, r, column) > 1e-11 * largest)) continue;
    tbReal own = *entry(l, r, l->size + 1) / *entry(l, r, column);
    if (own <= ratio + 1e-12 * (fabs(ratio) + l->size_q)) return r;
  }
  return best;
}

static void read_answer(const Lemke* l, tbSolve* s) {
  memcpy(s->lambda, l->offset, (size_t)s->p->n * sizeof *s->lambda);
  for (int r = 0; r < l->size; r++) {
    int v = l->basis[r] - l->size;
    if (v < 0 || v >= l->size || l->variable[v].row < 0) continue;
    int row = l->variable[v].row;
    s->lambda[row] += l->variable[v].sign * l->scale[row] * tb_max(0, *entry(l, r, l->size + 1));
  }
  for (int i = 0; i < s->p->nblock; i++) {
    tbReal* x = s->lambda + s->p->block[i].row;
    tb_block_project(&s->p->block[i], TB_LAW_LCP, x, x);
  }
}

// Follow the path until z0 leaves. False on a ray, or at the limit of pivots or time.
static bool follow(Lemke* l, tbSolve* s) {
  int row = 0;
  for (int r = 1; r < l->size; r++) {
    if (*entry(l, r, l->size + 1) < *entry(l, row, l->size + 1)) row = r;
  }
  if (l->size == 0 || *entry(l, row, l->size + 1) >= 0) return true;
  int entering = 2 * l->size, left = 50 * l->size;
  while (row >= 0 && left-- > 0 && s->info->iterations < s->settings->max_iter &&
         !tb_solve_late(s)) {
    int leaving = l->basis[row];
    pivot(l, row, column_of(l, entering));
    l->basis[row] = entering;
    s->info->iterations++;
    if (leaving == 2 * l->size) return true;
    entering = leaving < l->size ? leaving + l->size : leaving - l->size;
    row = ratio_test(l, column_of(l, entering));
  }
  return false;
}

tbResult tb_solve_lcp_lemke(tbSolve* s) {
  Lemke l = {0};
  tbReal* centre = tb_solve_reals(s, (size_t)s->p->n);
  if (!centre || !allocate(&l, s)) return tb_solve_no_memory(s);
  memcpy(centre, s->lambda, (size_t)s->p->n * sizeof *centre);
  for (tbReal ridge = 1e-9; ridge <= 1e-4; ridge *= 10) {
    tbReal last = INFINITY;
    for (int round = 0; round < 50; round++) {
      fill(&l, s, ridge, centre);
      if (!follow(&l, s)) break;
      read_answer(&l, s);
      if (tb_solve_check(s, s->lambda, s->info->iterations, ridge)) return TB_OK;
      memcpy(centre, s->lambda, (size_t)s->p->n * sizeof *centre);
      tbReal measure = tb_solve_measure(s, &s->last);
      if (!(measure < 0.9 * last)) break;
      last = measure;
    }
    if (tb_solve_late(s)) return TB_OK;
    if (s->info->iterations >= s->settings->max_iter) {
      s->info->status = TB_SOLVE_MAX_ITERATIONS;
      return TB_OK;
    }
  }
  s->info->status = TB_SOLVE_STALLED;
  return TB_OK;
}
