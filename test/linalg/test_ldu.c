// The sparse LDU against dense LU on random block patterns, symmetric and not.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "common/test.h"
#include "linalg/dense.h"
#include "linalg/ldu.h"
#include "linalg/order.h"

enum { MOST = 24, ROWS = MOST * TB_LDU_DIM, GRAPH = 40 };

typedef struct {
  int nodes, size, dim[MOST], first[MOST + 1];
  int edge_start[MOST + 1], edge[MOST * MOST];
  double A[ROWS * ROWS];
} Problem;

// A random pattern; diagonally heavy values, so that no exchange between nodes is needed.
static void make(Problem* p, tbRng* rng, bool symmetric) {
  memset(p, 0, sizeof *p);
  p->nodes = 1 + tb_rng_int(rng, MOST);
  double density = tb_rng_uniform(rng, 0, 0.4);
  // Free bodies only, or free bodies among others, or anything.
  int kind = tb_rng_int(rng, 3);
  for (int k = 0; k < p->nodes; k++) {
    p->dim[k] = 1 + tb_rng_int(rng, TB_LDU_DIM);
    if (kind == 0 || (kind == 1 && tb_rng_int(rng, 4) > 0)) p->dim[k] = 6;
    p->first[k + 1] = p->first[k] + p->dim[k];
  }
  p->size = p->first[p->nodes];
  int edges = 0;
  for (int k = 0; k < p->nodes; k++) {
    p->edge_start[k] = edges;
    for (int b = p->nodes - 1; b > k; b--) {
      if (tb_rng_uniform(rng, 0, 1) < density) p->edge[edges++] = b;
    }
  }
  p->edge_start[p->nodes] = edges;
  for (int k = 0; k < p->nodes; k++) {
    for (int e = p->edge_start[k] - 1; e < p->edge_start[k + 1]; e++) {
      int b = e < p->edge_start[k] ? k : p->edge[e];
      for (int i = p->first[k]; i < p->first[k + 1]; i++) {
        for (int j = p->first[b]; j < p->first[b + 1]; j++) {
          double x = tb_rng_normal(rng);
          if (i == j) x += 40;
          if (k == b && symmetric && j < i) x = p->A[j * p->size + i];
          p->A[i * p->size + j] = x;
          if (k != b) p->A[j * p->size + i] = symmetric ? x : tb_rng_normal(rng);
        }
      }
    }
  }
}

static void fill(const Problem* p, tbLdu* ldu, bool symmetric) {
  memset(ldu->value, 0, sizeof(double) * ldu->size);
  memset(ldu->mirror, 0, sizeof(double) * ldu->mirror_size);
  for (int k = 0; k < p->nodes; k++) {
    double *D = ldu->value + ldu->at[k], *U = D + p->dim[k] * p->dim[k];
    double* C = ldu->mirror + ldu->skew[k];
    for (int i = 0; i < p->dim[k]; i++) {
      const double* row = p->A + (size_t)(p->first[k] + i) * (size_t)p->size;
      for (int j = 0; j < p->dim[k]; j++) D[i * p->dim[k] + j] = row[p->first[k] + j];
      for (int e = ldu->start[k]; e < ldu->start[k + 1]; e++) {
        int b = ldu->later[e];
        assert_int_equal(tb_ldu_column(ldu, k, b), ldu->column[e]);
        for (int j = 0; j < p->dim[b]; j++) {
          int at = i * ldu->width[k] + ldu->column[e] + j;
          U[at] = row[p->first[b] + j];
          if (!symmetric) C[at] = p->A[(p->first[b] + j) * p->size + p->first[k] + i];
        }
      }
    }
  }
}

// Nodes of a group have six rows, as their later nodes do, and the same later nodes outside of it.
// The number of nodes that share a group with the next one.
static int check_groups(const tbLdu* ldu) {
  int grouped = 0;
  for (int k = 0; k < ldu->nodes; k++) {
    assert_in_range(ldu->group[k], k + 1, ldu->nodes);
    if (ldu->group[k] == k + 1) continue;
    assert_true(ldu->six[k]);
    assert_int_equal(ldu->group[k], ldu->group[k + 1]);
    int begin = ldu->start[k], count = ldu->start[k + 1] - begin;
    assert_int_equal(ldu->later[begin], k + 1);
    assert_int_equal(count - 1, ldu->start[k + 2] - ldu->start[k + 1]);
    assert_memory_equal(ldu->later + begin + 1, ldu->later + ldu->start[k + 1],
                        sizeof(int) * (size_t)(count - 1));
    grouped++;
  }
  return grouped;
}

static void check(bool symmetric) {
  Problem* p = malloc(sizeof *p);
  assert_non_null(p);
  tbRng rng = {symmetric ? 5 : 6};
  tbArena arena;
  tb_arena_init(&arena);
  int grouped = 0;
  for (int trial = 0; trial < 200; trial++) {
    make(p, &rng, symmetric);
    tb_arena_reset(&arena);
    tbLdu ldu;
    assert_true(tb_ldu_analyze(&ldu, &arena, p->nodes, p->dim, p->edge_start, p->edge));
    assert_int_equal(ldu.first[p->nodes], p->size);
    grouped += check_groups(&ldu);
    fill(p, &ldu, symmetric);
    assert_true(tb_ldu_factor(&ldu, symmetric));
    double x[ROWS], y[ROWS];
    int pivot[ROWS];
    for (int i = 0; i < p->size; i++) x[i] = y[i] = tb_rng_normal(&rng);
    tb_ldu_solve(&ldu, x);
    assert_true(tb_lu(p->size, p->A, p->size, pivot));
    tb_lu_solve(p->size, p->A, p->size, pivot, y);
    for (int i = 0; i < p->size; i++) assert_near(x[i], y[i], 1e-11);
  }
  // Both occur: nodes eliminated one by one, and in groups.
  assert_true(grouped > 200);
  tb_arena_free(&arena);
  free(p);
}

static void test_symmetric(void** state) {
  (void)state;
  check(true);
}

static void test_unsymmetric(void** state) {
  (void)state;
  check(false);
}

// The sign of the determinant, where rows of blocks have been exchanged and turned.
static void test_sign(void** state) {
  (void)state;
  Problem* p = malloc(sizeof *p);
  assert_non_null(p);
  tbRng rng = {7};
  tbArena arena;
  tb_arena_init(&arena);
  int negative = 0;
  for (int trial = 0; trial < 100; trial++) {
    make(p, &rng, false);
    // Heavy on the diagonal, A itself has a positive one.
    int sign = 1;
    for (int k = 0; k < p->nodes; k++) {
      int i = p->first[k] + tb_rng_int(&rng, p->dim[k]), j = p->first[k + 1] - 1;
      for (int c = 0; c < p->size; c++) {
        double t = p->A[i * p->size + c];
        p->A[i * p->size + c] = i == j ? -t : p->A[j * p->size + c];
        if (i != j) p->A[j * p->size + c] = t;
      }
      sign = -sign;
    }
    tb_arena_reset(&arena);
    tbLdu ldu;
    assert_true(tb_ldu_analyze(&ldu, &arena, p->nodes, p->dim, p->edge_start, p->edge));
    fill(p, &ldu, false);
    assert_true(tb_ldu_factor(&ldu, false));
    assert_int_equal(tb_ldu_sign(&ldu), sign);
    negative += sign < 0;
  }
  assert_in_range(negative, 20, 80);
  tb_arena_free(&arena);
  free(p);
}

// Edges of a random graph in some order of its vertices, each from the one that goes first; the
// work of its factors.
static double work_in_order(tbArena* arena, int n, const int* start, const int* column,
                            const int* order, tbLdu* ldu) {
  static int position[GRAPH], dim[GRAPH], edge_start[GRAPH + 1], edge[GRAPH * GRAPH];
  for (int k = 0; k < n; k++) position[order[k]] = -1;
  for (int k = 0; k < n; k++) {
    assert_int_equal(position[order[k]], -1);
    position[order[k]] = k;
    dim[k] = 6;
  }
  int count = 0;
  for (int k = 0; k < n; k++) {
    edge_start[k] = count;
    for (int e = start[order[k]]; e < start[order[k] + 1]; e++) {
      if (position[column[e]] > k) edge[count++] = position[column[e]];
    }
  }
  edge_start[n] = count;
  assert_true(tb_ldu_analyze(ldu, arena, n, dim, edge_start, edge));
  return ldu->flops;
}

// Postorder keeps the fill, and what leads up to a vertex comes right before it.
static void test_postorder(void** state) {
  (void)state;
  static bool linked[GRAPH][GRAPH];
  int start[GRAPH + 1], column[GRAPH * GRAPH], weight[GRAPH];
  tbRng rng = {8};
  tbArena arena;
  tb_arena_init(&arena);
  int moved = 0;
  for (int trial = 0; trial < 100; trial++) {
    tb_arena_reset(&arena);
    int n = 1 + tb_rng_int(&rng, GRAPH), count = 0, before[GRAPH];
    double density = tb_rng_uniform(&rng, 0, 3.0 / n);
    for (int a = 0; a < n; a++) {
      weight[a] = 6;
      for (int b = 0; b < a; b++) {
        linked[a][b] = linked[b][a] = tb_rng_uniform(&rng, 0, 1) < density;
      }
    }
    for (int a = 0; a < n; a++) {
      start[a] = count;
      for (int b = 0; b < n; b++) {
        if (b != a && linked[a][b]) column[count++] = b;
      }
    }
    start[n] = count;
    tbOrdering o;
    tbLdu ldu;
    assert_true(tb_order_minimum_degree(&arena, n, weight, start, column, &o));
    memcpy(before, o.order, sizeof(int) * (size_t)n);
    double work = work_in_order(&arena, n, start, column, o.order, &ldu);
    assert_true(tb_order_postorder(&arena, n, &o));
    moved += memcmp(before, o.order, sizeof(int) * (size_t)n) != 0;
    assert_near(work_in_order(&arena, n, start, column, o.order, &ldu), work, 0);
    // Whatever lies between a vertex and its parent leads up to that parent too.
    for (int k = 0; k < n; k++) {
      if (ldu.start[k] == ldu.start[k + 1]) continue;
      int parent = ldu.later[ldu.start[k]];
      for (int j = k + 1; j < parent; j++) {
        assert_true(ldu.start[j] < ldu.start[j + 1]);
        assert_true(ldu.later[ldu.start[j]] <= parent);
      }
    }
  }
  assert_true(moved > 30);
  tb_arena_free(&arena);
}

// A block that is singular is reported, not divided by.
static void test_singular(void** state) {
  (void)state;
  tbArena arena;
  tb_arena_init(&arena);
  int dim[1] = {2}, edge_start[2] = {0, 0}, edge[1] = {0};
  tbLdu ldu;
  assert_true(tb_ldu_analyze(&ldu, &arena, 1, dim, edge_start, edge));
  double A[4] = {1, 2, 2, 4};
  memcpy(ldu.value, A, sizeof A);
  assert_false(tb_ldu_factor(&ldu, true));
  ldu.value[0] = NAN;
  assert_false(tb_ldu_factor(&ldu, true));
  tb_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_symmetric),
                                     cmocka_unit_test(test_unsymmetric),
                                     cmocka_unit_test(test_sign), cmocka_unit_test(test_postorder),
                                     cmocka_unit_test(test_singular)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
