// With G_gg = L_g L_g^T (rank columns) the range of every block row g of G is that of L_g, so
// G = L K L^T with a block-diagonal L, and K_gg = I. With w = L^T x and S = L^T C^-1 L,
//
//     (S^-1 + K) w = S^-1 L^T C^-1 b,     x = C^-1 (b - L K w)                              (1)
//
// S is block diagonal: (1) has the form of the problem itself, in fewer rows. Groups of full rank
// keep L = I, S^-1 = C, x = w.
#include "linalg/grouplu.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "linalg/dense.h"

// A group is reduced if its rank, the number of pivots above RANK_TOLERANCE, is at most this share
// of its rows.
static const double MOST_RANK = 0.75, RANK_TOLERANCE = 1e-13;
// The reduction is used if the plain LU takes more than EXPENSIVE operations, and the reduced one
// less than MUCH_CHEAPER times as many.
static const double EXPENSIVE = 3e6, MUCH_CHEAPER = 0.4;

// ---- analysis ----------------------------------------------------------------------------------

// G on the rows of one group, dense. `entry_of` is scratch.
static void gather_group(const tbGroupLu* lu, const tbGroup* g, const tbReal* value, int* entry_of,
                         tbReal* out) {
  const tbBlockPattern* p = &lu->pattern;
  int row = 0;
  memset(out, 0, (size_t)g->rows * (size_t)g->rows * sizeof *out);
  for (int a = g->node_begin; a < g->node_end; a++) {
    int i = lu->groups.member[a], col = 0;
    for (int k = p->start[i]; k < p->start[i + 1]; k++) entry_of[p->column[k]] = k;
    for (int b = g->node_begin; b < g->node_end; b++) {
      int j = lu->groups.member[b];
      const tbReal* block = value + p->offset[entry_of[j]];
      for (int r = 0; r < p->dim[i]; r++) {
        memcpy(out + (size_t)(row + r) * (size_t)g->rows + col, block + r * p->dim[j],
               (size_t)p->dim[j] * sizeof *out);
      }
      col += p->dim[j];
    }
    row += p->dim[i];
  }
}

// For one group: its rank, L, and independent rows that determine the others, with the inverse of L
// on them.
static bool find_rank(tbGroupLu* lu, tbArena* arena, tbGroup* g, const tbReal* value, int* entry_of,
                      tbReal* L, int* rows, tbReal* inverse) {
  size_t n = (size_t)g->rows;
  tbArenaMark mark = tb_arena_mark(arena);
  tbReal *A = TB_ARENA_NEW(arena, tbReal, n * n), *B = TB_ARENA_NEW(arena, tbReal, n * n),
         *work = TB_ARENA_NEW(arena, tbReal, 2 * n);
  int* perm = TB_ARENA_NEW(arena, int, n);
  if (arena->failed) return false;
  gather_group(lu, g, value, entry_of, A);
  g->rank = tb_cholesky_pivoted(g->rows, A, g->rows, RANK_TOLERANCE, B, g->rows, work, perm);
  g->reduced = g->rank > 0 && g->rank <= MOST_RANK * g->rows;
  if (g->reduced) {
    int rank = g->rank;
    for (int r = 0; r < g->rows; r++) {
      memcpy(L + (size_t)r * (size_t)rank, B + (size_t)r * n, (size_t)rank * sizeof *L);
    }
    // On the first `rank` rows in pivot order L is lower triangular: invert it.
    for (int c = 0; c < rank; c++) {
      rows[c] = perm[c];
      for (int r = 0; r < rank; r++) {
        tbReal sum = r == c;
        for (int k = 0; k < r; k++) {
          sum -= B[(size_t)perm[r] * n + (size_t)k] * inverse[k * rank + c];
        }
        inverse[r * rank + c] = sum / B[(size_t)perm[r] * n + (size_t)r];
      }
    }
  } else {
    g->rank = g->rows;
  }
  tb_arena_release(arena, mark);
  return true;
}

// The independent rows of each group (all rows if it has full rank), by group->first: their node
// and row in it; and the inverse of L on them, by group->T.
typedef struct {
  int *node, *within;
  tbReal* inverse;
} IndependentRows;

// Convert row numbers within the group to nodes.
static void locate(const tbGroupLu* lu, const tbGroup* g, IndependentRows* c, const int* rows) {
  for (int r = 0; r < g->rank; r++) {
    int row = g->reduced ? rows[r] : r, a = g->node_begin;
    while (row >= lu->pattern.dim[lu->groups.member[a]]) {
      row -= lu->pattern.dim[lu->groups.member[a++]];
    }
    c->node[g->first + r] = lu->groups.member[a];
    c->within[g->first + r] = row;
  }
}

// Row r of the blocks (a, b) of G on independent rows, for all neighbours b; `entry_of` is scratch.
static void copy_row(tbGroupLu* lu, const tbReal* value, const IndependentRows* c, int a, int r,
                     int* entry_of) {
  const tbBlockPattern* p = &lu->pattern;
  int i = c->node[lu->K_row[a] + r], within = c->within[lu->K_row[a] + r];
  for (int k = p->start[i]; k < p->start[i + 1]; k++) entry_of[p->column[k]] = k;
  for (int e = lu->K_start[a]; e < lu->K_start[a + 1]; e++) {
    int b = lu->K_column[e], n = lu->K_dim[b], first = lu->K_row[b];
    tbReal* out = lu->K + lu->K_offset[e] + r * n;
    for (int s = 0; s < n; s++) {
      int j = c->node[first + s], k = entry_of[j];
      out[s] = value[p->offset[k] + within * p->dim[j] + c->within[first + s]];
    }
  }
}

// K_ab = L_a^-1 G_ab L_b^-T on the independent rows: multiply by both inverses.
static void multiply(const tbGroup* a, const tbGroup* b, const IndependentRows* c, tbReal* scratch,
                     tbReal* out) {
  int m = a->rank, n = b->rank;
  if (a->reduced) {
    memcpy(scratch, out, (size_t)(m * n) * sizeof *out);
    memset(out, 0, (size_t)(m * n) * sizeof *out);
    for (int r = 0; r < m; r++) {
      for (int k = 0; k <= r; k++) {
        tbReal f = c->inverse[a->T + (size_t)(r * m + k)];
        for (int s = 0; s < n; s++) out[r * n + s] += f * scratch[k * n + s];
      }
    }
  }
  if (b->reduced) {
    memcpy(scratch, out, (size_t)(m * n) * sizeof *out);
    for (int r = 0; r < m; r++) {
      for (int s = 0; s < n; s++) {
        tbReal sum = 0;
        for (int k = 0; k <= s; k++) {
          sum += c->inverse[b->T + (size_t)(s * n + k)] * scratch[r * n + k];
        }
        out[r * n + s] = sum;
      }
    }
  }
}

// Ranks, L and the resulting sizes. `c` receives the rows from which K is built.
static bool find_ranks(tbGroupLu* lu, tbArena* arena, const tbReal* value, const bool* keep,
                       int* entry_of, IndependentRows* c, int* widest) {
  const tbBlockGroups* g = &lu->groups;
  size_t L = 0, square = 0;
  int first = 0;
  for (int k = 0; k < g->count; k++) {
    L += (size_t)g->weight[k] * (size_t)g->weight[k];
    if (g->weight[k] > *widest) *widest = g->weight[k];
  }
  lu->L = TB_ARENA_NEW(arena, tbReal, L);
  c->inverse = TB_ARENA_NEW(arena, tbReal, L);
  c->node = TB_ARENA_NEW(arena, int, lu->size);
  c->within = TB_ARENA_NEW(arena, int, lu->size);
  int* rows = TB_ARENA_NEW(arena, int, *widest);
  if (arena->failed) return false;
  L = 0;
  for (int k = 0; k < g->count; k++) {
    tbGroup* a = &lu->group[k];
    *a = (tbGroup){.rows = g->weight[k],
                   .node_begin = g->begin[k],
                   .node_end = g->begin[k + 1],
                   .first = first,
                   .L = L,
                   .T = square};
    a->rank = a->rows;
    bool alone = g->begin[k + 1] - g->begin[k] < 2;
    for (int n = g->begin[k]; n < g->begin[k + 1] && keep; n++) {
      alone = alone || keep[g->member[n]];
    }
    if (!alone && !find_rank(lu, arena, a, value, entry_of, lu->L + L, rows, c->inverse + square)) {
      return false;
    }
    locate(lu, a, c, rows);
    lu->any = lu->any || a->reduced;
    if (a->reduced) L += (size_t)a->rows * (size_t)a->rank;
    first += a->rank;
    square += (size_t)a->rank * (size_t)a->rank;
    lu->K_dim[k] = a->rank;
    lu->K_row[k] = a->first;
  }
  lu->K_row[g->count] = first;
  lu->T = TB_ARENA_NEW(arena, tbReal, square);
  return !arena->failed;
}

// K over the graph of groups, each row with its diagonal first.
static bool build_K(tbGroupLu* lu, tbArena* arena, const tbReal* value, int* entry_of,
                    const IndependentRows* c, int widest) {
  const tbBlockGroups* g = &lu->groups;
  size_t values = 0;
  int entries = 0;
  for (int a = 0; a < g->count; a++) {
    values += (size_t)lu->K_dim[a] * (size_t)lu->K_dim[a];
    for (int k = g->start[a]; k < g->start[a + 1]; k++) {
      values += (size_t)lu->K_dim[a] * (size_t)lu->K_dim[g->column[k]];
    }
  }
  if (values > INT32_MAX) return false;
  lu->K = TB_ARENA_NEW(arena, tbReal, values);
  lu->K_column = TB_ARENA_NEW(arena, int, g->start[g->count] + g->count + 1);
  lu->K_offset = TB_ARENA_NEW(arena, int, g->start[g->count] + g->count + 1);
  tbReal* scratch = TB_ARENA_NEW(arena, tbReal, (size_t)widest * (size_t)widest);
  if (arena->failed) return false;
  int at = 0;
  for (int a = 0; a < g->count; a++) {
    for (int k = g->start[a] - 1; k < g->start[a + 1]; k++, entries++) {
      int b = k < g->start[a] ? a : g->column[k];
      lu->K_column[entries] = b;
      lu->K_offset[entries] = at;
      at += lu->K_dim[a] * lu->K_dim[b];
    }
    lu->K_start[a + 1] = entries;
    for (int r = 0; r < lu->K_dim[a]; r++) copy_row(lu, value, c, a, r, entry_of);
    for (int e = lu->K_start[a]; e < entries; e++) {
      multiply(&lu->group[a], &lu->group[lu->K_column[e]], c, scratch, lu->K + lu->K_offset[e]);
    }
  }
  return true;
}

bool tb_group_lu_analyze(tbGroupLu* lu, tbArena* arena, const tbBlockPattern* pattern,
                         const tbReal* value, const bool* keep) {
  memset(lu, 0, sizeof *lu);
  lu->pattern = *pattern;
  lu->size = pattern->row[pattern->nodes];
  if (!tb_block_groups(arena, pattern, &lu->groups)) return false;
  int count = lu->groups.count, widest = 0;
  lu->group = TB_ARENA_NEW(arena, tbGroup, count + 1);
  lu->corner = TB_ARENA_NEW(arena, int, pattern->nodes + 1);
  lu->K_dim = TB_ARENA_NEW(arena, int, count + 1);
  lu->K_row = TB_ARENA_NEW(arena, int, count + 1);
  lu->K_start = TB_ARENA_NEW(arena, int, count + 1);
  if (arena->failed) return false;
  for (int i = 0; i < pattern->nodes; i++) {
    lu->corner[i + 1] = lu->corner[i] + pattern->dim[i] * pattern->dim[i];
  }
  int* entry_of = TB_ARENA_NEW(arena, int, pattern->nodes + 1);
  // (1) has larger rounding errors than the plain LU: use it only if the latter is expensive, and
  // (1) much cheaper.
  if (!tb_block_lu_analyze(&lu->lu, arena, pattern)) return false;
  double plain = lu->lu.flops;
  if (plain < EXPENSIVE) return true;
  IndependentRows rows;
  if (!entry_of || !find_ranks(lu, arena, value, keep, entry_of, &rows, &widest)) return false;
  if (!lu->any) return true;
  if (!build_K(lu, arena, value, entry_of, &rows, widest)) return false;
  size_t n = (size_t)lu->size;
  lu->w = TB_ARENA_NEW(arena, tbReal, n);
  lu->u = TB_ARENA_NEW(arena, tbReal, n);
  lu->t = TB_ARENA_NEW(arena, tbReal, n);
  lu->b = TB_ARENA_NEW(arena, tbReal, n);
  lu->r = TB_ARENA_NEW(arena, tbReal, n);
  lu->square = TB_ARENA_NEW(arena, tbReal, (size_t)widest * (size_t)(widest + 2));
  lu->pivot = TB_ARENA_NEW(arena, int, widest + 1);
  tbBlockPattern K = {count, lu->K_dim, lu->K_row, lu->K_start, lu->K_column, lu->K_offset};
  tbBlockLu small;
  if (arena->failed || !tb_block_lu_analyze(&small, arena, &K)) return false;
  lu->any = small.flops < MUCH_CHEAPER * plain;
  if (lu->any) lu->lu = small;
  return true;
}

// ---- factorization -----------------------------------------------------------------------------

// T = S^-1 of a reduced group.
static void invert_group(tbGroupLu* lu, const tbGroup* g) {
  int rank = g->rank;
  tbReal *S = lu->square, *T = lu->T + g->T, *column = S + (size_t)rank * (size_t)rank;
  const tbReal* L = lu->L + g->L;
  memset(S, 0, (size_t)(rank * rank) * sizeof *S);
  for (int a = g->node_begin; a < g->node_end; a++) {
    int i = lu->groups.member[a], d = lu->pattern.dim[i];
    const tbReal* C = lu->inverse + lu->corner[i];
    for (int r = 0; r < d; r++) {
      // Row r of C^-1 L, then its outer product with row r of L.
      for (int k = 0; k < rank; k++) {
        tbReal sum = 0;
        for (int c = 0; c < d; c++) sum += C[r * d + c] * L[c * rank + k];
        column[k] = sum;
      }
      for (int k = 0; k < rank; k++) {
        tbReal f = L[r * rank + k];
        for (int j = 0; j < rank; j++) S[k * rank + j] += f * column[j];
      }
    }
    L += d * rank;
  }
  tbReal largest = 0;
  for (int k = 0; k < rank * rank; k++) largest = tb_max(largest, fabs(S[k]));
  for (int k = 0; k < rank; k++) S[k * (rank + 1)] += 1e-18 * largest;
  bool fine = tb_lu(rank, S, rank, lu->pivot);
  for (int c = 0; c < rank; c++) {
    for (int r = 0; r < rank; r++) column[r] = r == c;
    if (fine) tb_lu_solve(rank, S, rank, lu->pivot, column);
    for (int r = 0; r < rank; r++) T[r * rank + c] = fine ? column[r] : column[r] / largest;
  }
}

// T = C of a group of full rank: its members' blocks on the diagonal.
static void copy_group(tbGroupLu* lu, const tbGroup* g) {
  int n = g->rank, row = 0;
  tbReal* T = lu->T + g->T;
  memset(T, 0, (size_t)n * (size_t)n * sizeof *T);
  for (int a = g->node_begin; a < g->node_end; a++) {
    int i = lu->groups.member[a], d = lu->pattern.dim[i];
    const tbReal* C = lu->diagonal + lu->corner[i];
    for (int r = 0; r < d; r++) {
      memcpy(T + (size_t)(row + r) * (size_t)n + row, C + r * d, (size_t)d * sizeof *T);
    }
    row += d;
  }
}

void tb_group_lu_factor(tbGroupLu* lu, const tbReal* value, const tbReal* diagonal,
                        const tbReal* inverse, tbReal floor) {
  lu->value = value;
  lu->diagonal = diagonal;
  lu->inverse = inverse;
  if (!lu->any) {
    tb_block_lu_factor(&lu->lu, value, diagonal, floor);
    return;
  }
  for (int k = 0; k < lu->groups.count; k++) {
    if (lu->group[k].reduced) {
      invert_group(lu, &lu->group[k]);
    } else {
      copy_group(lu, &lu->group[k]);
    }
  }
  tb_block_lu_factor(&lu->lu, lu->K, lu->T, floor);
}

// ---- solution ----------------------------------------------------------------------------------

// y = block x of one node.
static void apply_block(int d, const tbReal* block, const tbReal* x, tbReal* y) {
  for (int r = 0; r < d; r++) {
    tbReal sum = 0;
    for (int c = 0; c < d; c++) sum += block[r * d + c] * x[c];
    y[r] = sum;
  }
}

// The right side of (1) for one group.
static void compress(const tbGroupLu* lu, const tbGroup* g, const tbReal* b, tbReal* out) {
  const tbReal *L = lu->L + g->L, *T = lu->T + g->T;
  tbReal* sum = lu->square;
  if (g->reduced) memset(sum, 0, (size_t)g->rank * sizeof *sum);
  int row = 0;
  for (int a = g->node_begin; a < g->node_end; a++) {
    int i = lu->groups.member[a], d = lu->pattern.dim[i], at = lu->pattern.row[i];
    if (g->reduced) {
      apply_block(d, lu->inverse + lu->corner[i], b + at, lu->t + at);
      for (int r = 0; r < d; r++, L += g->rank) {
        for (int k = 0; k < g->rank; k++) sum[k] += L[k] * lu->t[at + r];
      }
    } else {
      memcpy(out + row, b + at, (size_t)d * sizeof *out);
    }
    row += d;
  }
  if (g->reduced) apply_block(g->rank, T, sum, out);
}

// For a reduced group: x = C^-1 (b - L u), with b in x; or x + C^-1 L u if `add`.
static void spread(const tbGroupLu* lu, const tbGroup* g, const tbReal* u, bool add, tbReal* x) {
  const tbReal* L = lu->L + g->L;
  for (int a = g->node_begin; a < g->node_end; a++) {
    int i = lu->groups.member[a], d = lu->pattern.dim[i], at = lu->pattern.row[i];
    for (int r = 0; r < d; r++, L += g->rank) {
      tbReal sum = 0;
      for (int k = 0; k < g->rank; k++) sum += L[k] * u[k];
      lu->t[at + r] = add ? sum : x[at + r] - sum;
    }
    const tbReal* C = lu->inverse + lu->corner[i];
    for (int r = 0; r < d; r++) {
      tbReal sum = add ? x[at + r] : 0;
      for (int c = 0; c < d; c++) sum += C[r * d + c] * lu->t[at + c];
      x[at + r] = sum;
    }
  }
}

// x from w (and u = K w) for one group. b - L u cancels if C is small; the correction by L^T x = w
// restores the components that cause motion.
static void expand(const tbGroupLu* lu, const tbGroup* g, tbReal* x) {
  const tbReal *L = lu->L + g->L, *w = lu->w + g->first;
  tbReal *gap = lu->square, *u = lu->square + g->rank;
  if (g->reduced) {
    spread(lu, g, lu->u + g->first, false, x);
    memcpy(gap, w, (size_t)g->rank * sizeof *gap);
  }
  for (int a = g->node_begin; a < g->node_end; a++) {
    int i = lu->groups.member[a], d = lu->pattern.dim[i], at = lu->pattern.row[i];
    if (!g->reduced) {
      memcpy(x + at, w, (size_t)d * sizeof *x);
      w += d;
      continue;
    }
    for (int r = 0; r < d; r++, L += g->rank) {
      for (int k = 0; k < g->rank; k++) gap[k] -= L[k] * x[at + r];
    }
  }
  if (!g->reduced) return;
  apply_block(g->rank, lu->T + g->T, gap, u);
  spread(lu, g, u, true, x);
}

// Solve (1) without refinement.
static void solve_once(tbGroupLu* lu, tbReal* x) {
  const tbBlockGroups* g = &lu->groups;
  for (int k = 0; k < g->count; k++) {
    compress(lu, &lu->group[k], x, lu->w + lu->group[k].first);
  }
  tb_block_lu_solve(&lu->lu, lu->w);
  for (int a = 0; a < g->count; a++) {
    int m = lu->K_dim[a];
    tbReal* u = lu->u + lu->K_row[a];
    if (!lu->group[a].reduced) continue;
    memset(u, 0, (size_t)m * sizeof *u);
    for (int k = lu->K_start[a]; k < lu->K_start[a + 1]; k++) {
      int b = lu->K_column[k], n = lu->K_dim[b];
      const tbReal *block = lu->K + lu->K_offset[k], *w = lu->w + lu->K_row[b];
      for (int r = 0; r < m; r++) {
        for (int c = 0; c < n; c++) u[r] += block[r * n + c] * w[c];
      }
    }
  }
  for (int k = 0; k < g->count; k++) expand(lu, &lu->group[k], x);
}

// r = b - (G + C) x; returns the largest entry.
static tbReal residual(const tbGroupLu* lu, const tbReal* b, const tbReal* x, tbReal* r) {
  const tbBlockPattern* p = &lu->pattern;
  tbReal largest = 0;
  for (int i = 0; i < p->nodes; i++) {
    int d = p->dim[i], row = p->row[i];
    const tbReal* C = lu->diagonal + lu->corner[i];
    for (int a = 0; a < d; a++) {
      tbReal sum = b[row + a];
      for (int c = 0; c < d; c++) sum -= C[a * d + c] * x[row + c];
      for (int k = p->start[i]; k < p->start[i + 1]; k++) {
        int j = p->column[k], n = p->dim[j];
        const tbReal *block = lu->value + p->offset[k] + a * n, *y = x + p->row[j];
        for (int c = 0; c < n; c++) sum -= block[c] * y[c];
      }
      r[row + a] = sum;
      largest = tb_max(largest, fabs(sum));
    }
  }
  return largest;
}

// b - L K w cancels if C is small, so that (1) alone loses digits: refine until that does not help.
void tb_group_lu_solve(tbGroupLu* lu, int refinements, tbReal* x) {
  if (!lu->any) {
    tb_block_lu_solve(&lu->lu, x);
    return;
  }
  if (refinements > 0) memcpy(lu->b, x, (size_t)lu->size * sizeof *x);
  tbReal size = 0, last = INFINITY;
  for (int i = 0; i < lu->size; i++) size = tb_max(size, fabs(x[i]));
  solve_once(lu, x);
  for (int k = 0; k < refinements; k++) {
    tbReal error = residual(lu, lu->b, x, lu->r);
    if (!(error > 1e-13 * size) || !(error < 0.5 * last)) break;
    last = error;
    solve_once(lu, lu->r);
    for (int i = 0; i < lu->size; i++) x[i] += lu->r[i];
  }
}
