// Newton's matrix of a small island: M + J^T W J written out and multiplied with the answer.
#include "common/test.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "operator/dense_assembly.h"

enum { MOST = 40, BLOCKS = 12, DIM = 6 };

typedef struct {
  tbRng rng;
  int n, parent[MOST], tree[MOST], rowadr[MOST], rownnz[MOST], colind[MOST * MOST];
  tbReal M[MOST * MOST];
  int ndof, dof[MOST], local[MOST];
  tbSoftBlock block[BLOCKS];
  int col[BLOCKS][MOST], place[BLOCKS][MOST];
  tbReal J[BLOCKS][DIM * MOST], W[BLOCKS][DIM * DIM];
  tbReal full[MOST][MOST];  // by local dofs
  tbSoftProblem problem;
} Island;

// Three trees of dofs; the island has the first and the last.
static void random_trees(Island* s) {
  s->n = 9 + tb_rng_int(&s->rng, MOST - 8);
  int at = 0;
  for (int i = 0; i < s->n; i++) {
    s->tree[i] = 3 * i / s->n;
    bool root = i == 0 || s->tree[i - 1] != s->tree[i];
    int back = 1 + tb_rng_int(&s->rng, 3);
    int up = i - back;
    if (!root && (up < 0 || s->tree[up] != s->tree[i])) up = i - 1;
    s->parent[i] = root ? -1 : up;
    int nnz = root ? 0 : s->rownnz[up];
    s->rowadr[i] = at;
    s->rownnz[i] = nnz + 1;
    if (!root) memcpy(s->colind + at, s->colind + s->rowadr[up], sizeof(int) * (size_t)nnz);
    s->colind[at + nnz] = i;
    for (int k = 0; k < nnz; k++) s->M[at + k] = tb_rng_uniform(&s->rng, -1, 1);
    s->M[at + nnz] = s->n;
    at += nnz + 1;
    s->local[i] = -1;
    if (s->tree[i] != 1) {
      s->local[i] = s->ndof;
      s->dof[s->ndof++] = i;
    }
  }
  for (int i = 0; i < s->ndof; i++) {
    int dof = s->dof[i];
    for (int k = 0; k < s->rownnz[dof]; k++) {
      int j = s->local[s->colind[s->rowadr[dof] + k]];
      s->full[i][j] = s->full[j][i] = s->M[s->rowadr[dof] + k];
    }
  }
}

// Rows on the ancestors of one or two dofs, with a weight that is symmetric and not negative.
static void random_block(Island* s, int b) {
  tbSoftBlock* block = &s->block[b];
  bool moved[MOST] = {false};
  block->dim = 1 + tb_rng_int(&s->rng, DIM);
  for (int end = 0; end < 1 + b % 2; end++) {
    int i = s->dof[tb_rng_int(&s->rng, s->ndof)];
    for (; i >= 0; i = s->parent[i]) moved[i] = true;
  }
  for (int i = 0; i < s->n; i++) {
    if (!moved[i]) continue;
    s->place[b][block->nnz] = s->local[i];
    s->col[b][block->nnz++] = i;
  }
  int dim = block->dim, nnz = block->nnz;
  for (int i = 0; i < dim * nnz; i++) s->J[b][i] = tb_rng_uniform(&s->rng, -1, 1);
  // A limit or dry friction: one row on the last dof.
  if (b % 3 == 0) {
    dim = block->dim = 1;
    block->lead = nnz - 1;
    for (int k = 0; k < nnz - 1; k++) s->J[b][k] = 0;
  }
  tbReal root[DIM * DIM];
  for (int i = 0; i < dim * dim; i++) root[i] = 10 * tb_rng_uniform(&s->rng, -1, 1);
  for (int i = 0; i < dim; i++) {
    for (int j = 0; j < dim; j++) {
      for (int k = 0; k < dim; k++) s->W[b][i * dim + j] += root[i * dim + k] * root[j * dim + k];
    }
  }
  for (int i = 0; i < nnz * nnz; i++) {
    int row = i / nnz, column = i % nnz;
    for (int k = 0; k < dim * dim; k++) {
      s->full[s->place[b][row]][s->place[b][column]] +=
          s->J[b][k / dim * nnz + row] * s->W[b][k] * s->J[b][k % dim * nnz + column];
    }
  }
  block->col = s->col[b];
  block->J = s->J[b];
}

static void random_island(Island* s, uint64_t seed) {
  memset(s, 0, sizeof *s);
  s->rng = (tbRng){seed};
  random_trees(s);
  for (int b = 0; b < BLOCKS; b++) random_block(s, b);
  s->problem = (tbSoftProblem){.nblock = BLOCKS,
                               .ndof = s->ndof,
                               .dof = s->dof,
                               .local = s->local,
                               .forest = {s->n, s->rowadr, s->rownnz, s->colind, NULL},
                               .M = s->M,
                               .block = s->block};
}

// The factors solve with a random right side; `tolerance` is of the terms of a row.
static void check_solution(Island* s, const tbDenseAssembly* dense, double tolerance) {
  tbReal x[MOST], b[MOST];
  for (int i = 0; i < s->ndof; i++) x[i] = b[i] = tb_rng_uniform(&s->rng, -1, 1);
  tb_dense_assembly_solve(dense, x);
  for (int i = 0; i < s->ndof; i++) {
    tbReal sum = 0, scale = 1;
    for (int j = 0; j < s->ndof; j++) {
      sum += s->full[i][j] * x[j];
      scale += fabs(s->full[i][j] * x[j]);
    }
    assert_near(sum, b[i], tolerance * scale);
  }
}

static void solves_random_islands(void** state) {
  (void)state;
  static Island s;
  tbArena arena;
  tb_arena_init(&arena);
  for (uint64_t seed = 1; seed <= 300; seed++) {
    random_island(&s, seed);
    tb_arena_reset(&arena);
    tbDenseAssembly dense;
    assert_true(tb_dense_assembly_build(&dense, &s.problem, &arena));
    // The second iteration starts from the result of the first.
    for (int round = 0; round < 2; round++) {
      tb_dense_assembly_open(&dense, &s.problem);
      for (int b = 0; b < BLOCKS; b++) {
        tb_dense_assembly_add(&dense, &s.block[b], s.place[b], s.W[b]);
      }
      assert_true(tb_dense_assembly_factor(&dense));
    }
    check_solution(&s, &dense, 1e-12);
  }
  tb_arena_free(&arena);
}

// Antisymmetric parts of the weights, as sliding has them.
static void add_skew(Island* s) {
  for (int b = 0; b < BLOCKS; b++) {
    int dim = s->block[b].dim, nnz = s->block[b].nnz;
    for (int i = 1; i < dim; i++) {
      for (int j = 0; j < i; j++) {
        tbReal w = 30 * tb_rng_uniform(&s->rng, -1, 1);
        s->W[b][i * dim + j] += w;
        s->W[b][j * dim + i] -= w;
        for (int k = 0; k < nnz * nnz; k++) {
          int row = k / nnz, column = k % nnz;
          const tbReal *Ji = s->J[b] + i * nnz, *Jj = s->J[b] + j * nnz;
          s->full[s->place[b][row]][s->place[b][column]] +=
              w * (Ji[row] * Jj[column] - Jj[row] * Ji[column]);
        }
      }
    }
  }
}

// The other half of H.
static void fill_square(tbDenseAssembly* s) {
  s->skew = true;
  for (int i = 1; i < s->n; i++) {
    for (int j = 0; j < i; j++) s->H[j * s->stride + i] = s->H[i * s->stride + j];
  }
}

static void solves_with_weights_that_are_not_symmetric(void** state) {
  (void)state;
  static Island s;
  tbArena arena;
  tb_arena_init(&arena);
  for (uint64_t seed = 1; seed <= 300; seed++) {
    random_island(&s, seed);
    add_skew(&s);
    tb_arena_reset(&arena);
    tbDenseAssembly dense;
    tbReal least[MOST];
    assert_true(tb_dense_assembly_build(&dense, &s.problem, &arena));
    for (int i = 0; i < s.ndof; i++) least[i] = 0.1;
    for (int round = 0; round < 2; round++) {
      tb_dense_assembly_open(&dense, &s.problem);
      fill_square(&dense);
      for (int k = 0; k < BLOCKS; k++) {
        tb_dense_assembly_add(&dense, &s.block[k], s.place[k], s.W[k]);
      }
      assert_true(tb_dense_assembly_factor_skew(&dense, least));
    }
    check_solution(&s, &dense, 1e-10);
    // A pivot that is too small is refused.
    tb_dense_assembly_open(&dense, &s.problem);
    fill_square(&dense);
    least[0] = 1e9;
    assert_false(tb_dense_assembly_factor_skew(&dense, least));
  }
  tb_arena_free(&arena);
}

static void refuses_what_is_not_positive(void** state) {
  (void)state;
  static Island s;
  tbArena arena;
  tb_arena_init(&arena);
  random_island(&s, 7);
  tbDenseAssembly dense;
  const tbReal wrong[] = {0, -1, NAN};
  assert_true(tb_dense_assembly_build(&dense, &s.problem, &arena));
  for (int i = 0; i < 3; i++) {
    int last = s.dof[s.ndof - 1];
    s.M[s.rowadr[last] + s.rownnz[last] - 1] = wrong[i];
    tb_dense_assembly_open(&dense, &s.problem);
    assert_false(tb_dense_assembly_factor(&dense));
  }
  tb_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solves_random_islands),
      cmocka_unit_test(solves_with_weights_that_are_not_symmetric),
      cmocka_unit_test(refuses_what_is_not_positive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
