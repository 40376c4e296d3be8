#include "solvers/islands/island.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"

// ---- connected components ----------------------------------------------------------------------

static int find_root(int* parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

// The smaller index becomes the root, so that components are numbered by their first block.
static void join(int* parent, int i, int j) {
  i = find_root(parent, i);
  j = find_root(parent, j);
  if (i < j) parent[j] = i;
  if (j < i) parent[i] = j;
}

static bool dense_linked(const tbProblem* p, int i, int j) {
  const tbBlock *a = &p->block[i], *b = &p->block[j];
  for (int r = 0; r < a->dim; r++) {
    const tbReal* row = p->G.dense + (size_t)(a->row + r) * (size_t)p->G.stride + b->row;
    for (int c = 0; c < b->dim; c++) {
      if (row[c] != 0) return true;
    }
  }
  return false;
}

// Join all blocks that use a column of B to the first of them.
static bool join_columns(tbArena* arena, const tbProblem* p, int* parent) {
  int* user = TB_ARENA_NEW(arena, int, p->G.ncol + 1);
  if (!user) return false;
  for (int c = 0; c < p->G.ncol; c++) user[c] = -1;
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    for (int k = p->G.row_start[row]; k < p->G.row_start[row + p->block[i].dim]; k++) {
      int c = p->G.row_column[k];
      if (p->G.row_value[k] == 0) continue;
      if (user[c] < 0) user[c] = i;
      join(parent, i, user[c]);
    }
  }
  return true;
}

int tb_island_find(tbArena* arena, const tbProblem* p, int* part) {
  int* parent = TB_ARENA_NEW(arena, int, p->nblock + 1);
  if (!parent) return -1;
  for (int i = 0; i < p->nblock; i++) parent[i] = i;
  if (p->G.form == TB_DELASSUS_SPARSE) {
    for (int i = 0; i < p->nblock; i++) {
      for (int k = p->G.block_start[i]; k < p->G.block_start[i + 1]; k++) {
        join(parent, i, p->G.block_column[k]);
      }
    }
  } else if (p->G.form == TB_DELASSUS_DENSE) {
    for (int i = 0; i < p->nblock; i++) {
      for (int j = 0; j < i; j++) {
        if (find_root(parent, i) != find_root(parent, j) && dense_linked(p, i, j))
          join(parent, i, j);
      }
    }
  } else if (!join_columns(arena, p, parent)) {
    return -1;
  }
  int count = 0;
  for (int i = 0; i < p->nblock; i++) {
    int root = find_root(parent, i);
    part[i] = root == i ? count++ : part[root];
  }
  return count;
}

// ---- copying -----------------------------------------------------------------------------------

typedef struct {
  int* local;    // index in the island of each block of the problem, -1 elsewhere
  int* touched;  // list of columns found for one row
  int* mark;
  int* user_start;  // PRODUCT: blocks that use each column of B
  int* user;
} Scratch;

static bool list_users(tbArena* arena, const tbProblem* p, Scratch* s) {
  int count = p->G.row_start[p->n];
  s->user_start = TB_ARENA_NEW(arena, int, p->G.ncol + 2);
  s->user = TB_ARENA_NEW(arena, int, count + 1);
  if (arena->failed) return false;
  for (int k = 0; k < count; k++) s->user_start[p->G.row_column[k] + 2]++;
  for (int c = 0; c <= p->G.ncol; c++) s->user_start[c + 1] += s->user_start[c];
  for (int i = 0; i < p->nblock; i++) {
    int row = p->block[i].row;
    for (int k = p->G.row_start[row]; k < p->G.row_start[row + p->block[i].dim]; k++) {
      s->user[s->user_start[p->G.row_column[k] + 1]++] = i;
    }
  }
  return true;
}

// Collect in s->touched the blocks of the island that are coupled to block `i` of the problem,
// ascending.
static int find_row(const tbProblem* p, Scratch* s, int i, int stamp) {
  int count = 0;
  if (p->G.form == TB_DELASSUS_SPARSE) {
    for (int k = p->G.block_start[i]; k < p->G.block_start[i + 1]; k++) {
      s->touched[count++] = p->G.block_column[k];
    }
    return count;
  }
  if (p->G.form == TB_DELASSUS_DENSE) {
    for (int j = 0; j < p->nblock; j++) {
      if (s->local[j] >= 0 && (i == j || dense_linked(p, i, j))) s->touched[count++] = j;
    }
    return count;
  }
  s->mark[i] = stamp;
  s->touched[count++] = i;
  int row = p->block[i].row;
  for (int k = p->G.row_start[row]; k < p->G.row_start[row + p->block[i].dim]; k++) {
    int c = p->G.row_column[k];
    for (int u = s->user_start[c]; u < s->user_start[c + 1]; u++) {
      int j = s->user[u];
      if (s->mark[j] == stamp || s->local[j] < 0) continue;
      s->mark[j] = stamp;
      s->touched[count++] = j;
    }
  }
  // Ascending order keeps results independent of how columns are numbered.
  for (int a = 1; a < count; a++) {
    int v = s->touched[a], b = a;
    for (; b > 0 && s->touched[b - 1] > v; b--) s->touched[b] = s->touched[b - 1];
    s->touched[b] = v;
  }
  return count;
}

static void copy_block(const tbProblem* p, int i, int j, int entry, tbReal* to) {
  const tbBlock *a = &p->block[i], *b = &p->block[j];
  if (p->G.form == TB_DELASSUS_SPARSE) {
    memcpy(to, p->G.block_value + p->G.block_offset[entry], (size_t)(a->dim * b->dim) * sizeof *to);
  } else {
    for (int r = 0; r < a->dim; r++) {
      for (int c = 0; c < b->dim; c++) {
        to[r * b->dim + c] =
            p->G.form == TB_DELASSUS_DENSE
                ? p->G.dense[(size_t)(a->row + r) * (size_t)p->G.stride + b->row + c]
                : tb_delassus_row_product(&p->G, a->row + r, b->row + c);
      }
    }
  }
  if (i == j && p->R) {
    for (int r = 0; r < a->dim; r++) to[r * b->dim + r] += p->R[a->row + r];
  }
}

static bool island_alloc(tbSolveIsland* island, tbBlock** block, tbReal** g, int** start) {
  tbArena* arena = island->arena;
  size_t blocks = (size_t)island->p.nblock, n = (size_t)island->p.n;
  *block = TB_ARENA_NEW(arena, tbBlock, blocks + 1);
  *g = TB_ARENA_NEW(arena, tbReal, n + 1);
  *start = TB_ARENA_NEW(arena, int, blocks + 1);
  island->dim = TB_ARENA_NEW(arena, int, blocks + 1);
  island->row = TB_ARENA_NEW(arena, int, blocks + 1);
  island->diagonal = TB_ARENA_NEW(arena, int, blocks + 1);
  island->best = TB_ARENA_NEW(arena, tbReal, n + 1);
  return !arena->failed;
}

// Pattern first (to know the sizes), then the values.
static bool copy_matrix(tbSolveIsland* island, const tbProblem* p, Scratch* s, int* start) {
  tbArena* arena = island->arena;
  int blocks = island->p.nblock, entries = 0;
  size_t values = 0;
  for (int a = 0; a < blocks; a++) {
    int count = find_row(p, s, island->source[a], 2 * a + 1);
    for (int k = 0; k < count; k++) {
      values += (size_t)(island->dim[a] * p->block[s->touched[k]].dim);
    }
    entries += count;
    start[a + 1] = entries;
  }
  int* column = TB_ARENA_NEW(arena, int, entries + 1);
  int* offset = TB_ARENA_NEW(arena, int, entries + 1);
  tbReal* value = TB_ARENA_NEW(arena, tbReal, values + 1);
  if (arena->failed || values > INT32_MAX) return false;
  for (int a = 0, at = 0, filled = 0; a < blocks; a++) {
    int i = island->source[a], count = find_row(p, s, i, 2 * a + 2);
    for (int k = 0; k < count; k++, at++) {
      int j = s->touched[k];
      column[at] = s->local[j];
      offset[at] = filled;
      if (j == i) island->diagonal[a] = at;
      int entry = p->G.form == TB_DELASSUS_SPARSE ? p->G.block_start[i] + k : 0;
      copy_block(p, i, j, entry, value + filled);
      filled += island->dim[a] * p->block[j].dim;
    }
  }
  island->p.G = (tbDelassus){.form = TB_DELASSUS_SPARSE,
                             .block_start = start,
                             .block_column = column,
                             .block_offset = offset,
                             .block_value = value};
  return true;
}

bool tb_island_extract(tbSolveIsland* island, tbSolve* s, const int* part, int id) {
  const tbProblem* p = s->p;
  memset(island, 0, sizeof *island);
  island->arena = s->arena;
  island->solve = s;
  island->best_residual = INFINITY;
  island->source = TB_ARENA_NEW(s->arena, int, p->nblock + 1);
  Scratch scratch = {.local = TB_ARENA_NEW(s->arena, int, p->nblock + 1),
                     .touched = TB_ARENA_NEW(s->arena, int, p->nblock + 1),
                     .mark = TB_ARENA_NEW(s->arena, int, p->nblock + 1)};
  if (s->arena->failed) return false;
  if (p->G.form == TB_DELASSUS_PRODUCT && !list_users(s->arena, p, &scratch)) return false;
  for (int i = 0; i < p->nblock; i++) {
    bool here = !part || part[i] == id;
    scratch.local[i] = here ? island->p.nblock : -1;
    if (!here) continue;
    island->source[island->p.nblock++] = i;
    island->p.n += p->block[i].dim;
  }
  tbBlock* block;
  tbReal* g;
  int* start;
  if (!island_alloc(island, &block, &g, &start)) return false;
  int row = 0;
  for (int a = 0; a < island->p.nblock; a++) {
    const tbBlock* from = &p->block[island->source[a]];
    block[a] = *from;
    block[a].row = island->row[a] = row;
    island->dim[a] = from->dim;
    memcpy(g + row, p->g + from->row, (size_t)from->dim * sizeof *g);
    row += from->dim;
  }
  island->row[island->p.nblock] = row;
  island->p.block = block;
  island->p.g = g;
  return copy_matrix(island, p, &scratch, start);
}

// ---- residual ----------------------------------------------------------------------------------

void tb_island_velocity(const tbSolveIsland* island, const tbReal* lambda, tbReal* sigma) {
  tb_delassus_velocity(&island->p, lambda, NULL, sigma);
}

static tbReal ratio(tbReal x, tbReal scale) {
  return x == 0 ? 0 : scale > 0 ? x / scale : INFINITY;
}

tbReal tb_island_measure(const tbSolveIsland* island, const tbResidual* residual,
                         const tbReal* lambda) {
  if (island->solve->settings->tol_absolute > 0) return tb_residual_absolute(residual);
  tbReal impulse = island->impulse;
  for (int i = 0; i < island->p.n; i++) impulse = tb_max(impulse, fabs(lambda[i]));
  return tb_max(tb_max(ratio(residual->primal, impulse), ratio(residual->dual, island->velocity)),
                ratio(ratio(residual->complementarity, impulse), island->velocity));
}

// Above this number of operations per factorisation the low-rank form is kept even at the cost of
// digits.
static const double MOST_PLAIN_FLOPS = 1e9;

// ---- scaling and structure ---------------------------------------------------------------------

// D: friction coefficients make the cone round, and each block is scaled to a unit diagonal, which
// keeps heavy and light bodies comparable.
static void find_scales(tbSolveIsland* island) {
  for (int i = 0; i < island->p.nblock; i++) {
    const tbBlock* b = &island->p.block[i];
    const tbReal* A = island->p.G.block_value + island->p.G.block_offset[island->diagonal[i]];
    tbReal trace = 0, *D = island->scale + b->row;
    for (int r = 0; r < b->dim; r++) {
      D[r] = b->type == TB_BLOCK_CONE && r > 0 ? tb_max(b->mu[r - 1], 1e-12) : 1;
      trace += D[r] * D[r] * A[r * b->dim + r];
    }
    tbReal unit = trace > 0 ? 1 / sqrt(trace) : 1;
    for (int r = 0; r < b->dim; r++) D[r] *= unit;
  }
}

static void scale_matrix(tbSolveIsland* island) {
  const tbDelassus* G = &island->p.G;
  for (int i = 0; i < island->p.nblock; i++) {
    for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
      int j = G->block_column[k], rows = island->dim[i], cols = island->dim[j];
      const tbReal *from = G->block_value + G->block_offset[k], *right = island->scale;
      tbReal* to = island->scaled + G->block_offset[k];
      for (int r = 0; r < rows; r++) {
        tbReal left = island->scale[island->row[i] + r];
        for (int c = 0; c < cols; c++) {
          to[r * cols + c] = left * from[r * cols + c] * right[island->row[j] + c];
        }
      }
    }
  }
}

// Analyse the LU: order and structure; `plain`: without the low-rank reduction of redundant
// contacts.
static bool analyze_matrix(tbSolveIsland* island, tbGroupLu* lu, bool plain) {
  const tbDelassus* G = &island->p.G;
  tbBlockPattern pattern = {island->p.nblock, island->dim,     island->row,
                            G->block_start,   G->block_column, G->block_offset};
  bool* keep = TB_ARENA_NEW(island->arena, bool, island->p.nblock);
  if (!keep) return false;
  for (int i = 0; i < island->p.nblock; i++) {
    int type = island->p.block[i].type;
    keep[i] = plain || type == TB_BLOCK_EQUALITY || type == TB_BLOCK_BOX;
  }
  return tb_group_lu_analyze(lu, island->arena, &pattern, island->scaled, keep);
}

bool tb_island_analyze(tbSolveIsland* island) {
  if (island->analyzed) return true;
  const tbDelassus* G = &island->p.G;
  size_t values = 0;
  for (int i = 0; i < island->p.nblock; i++) {
    for (int k = G->block_start[i]; k < G->block_start[i + 1]; k++) {
      values += (size_t)(island->dim[i] * island->dim[G->block_column[k]]);
    }
  }
  island->scale = TB_ARENA_NEW(island->arena, tbReal, island->p.n);
  island->scaled = TB_ARENA_NEW(island->arena, tbReal, values);
  if (island->arena->failed) return false;
  find_scales(island);
  scale_matrix(island);
  island->analyzed = analyze_matrix(island, &island->lu, false);
  return island->analyzed;
}

bool tb_island_analyze_plain(tbSolveIsland* island) {
  if (!island->lu.any) return true;
  tbGroupLu plain;
  if (!analyze_matrix(island, &plain, true)) return false;
  if (plain.lu.flops < MOST_PLAIN_FLOPS) island->lu = plain;
  return true;
}
