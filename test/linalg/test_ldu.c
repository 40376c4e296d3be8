// The sparse LDU against dense LU on random block patterns, symmetric and not.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "common/test.h"
#include "linalg/dense.h"
#include "linalg/ldu.h"

enum { MOST = 24, ROWS = MOST * TB_LDU_DIM };

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

static void check(bool symmetric) {
  Problem* p = malloc(sizeof *p);
  assert_non_null(p);
  tbRng rng = {symmetric ? 5 : 6};
  tbArena arena;
  tb_arena_init(&arena);
  for (int trial = 0; trial < 200; trial++) {
    make(p, &rng, symmetric);
    tb_arena_reset(&arena);
    tbLdu ldu;
    assert_true(tb_ldu_analyze(&ldu, &arena, p->nodes, p->dim, p->edge_start, p->edge));
    assert_int_equal(ldu.first[p->nodes], p->size);
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
                                     cmocka_unit_test(test_singular)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
