// Sparse block LU: solutions of random systems, orderings, fill, singular pivots.
#include "common/test.h"
#include "linalg/blocklu.h"
#include "linalg/frontal.h"
#include "linalg/order.h"

typedef struct {
  int nodes, size;
  int *dim, *row, *start, *column, *offset;
  tbReal *value, *diagonal;  // G and C
  tbReal* dense;             // G + C
} System;

// A graph of `nodes` nodes in which `linked(i, j)` says whether i and j are neighbours.
static System make_system(tbRng* rng, int nodes, bool (*linked)(tbRng*, int, int)) {
  System s = {.nodes = nodes};
  bool* touch = calloc((size_t)(nodes * nodes) + 1, sizeof *touch);
  s.dim = calloc((size_t)nodes + 1, sizeof(int));
  s.row = calloc((size_t)nodes + 1, sizeof(int));
  s.start = calloc((size_t)nodes + 1, sizeof(int));
  int count = 0, values = 0, corner = 0;
  for (int i = 0; i < nodes; i++) {
    s.dim[i] = 1 + tb_rng_int(rng, 6);
    s.row[i + 1] = s.row[i] + s.dim[i];
    for (int j = 0; j <= i; j++) {
      touch[i * nodes + j] = touch[j * nodes + i] = i == j || linked(rng, i, j);
    }
  }
  s.size = s.row[nodes];
  for (int k = 0; k < nodes * nodes; k++) count += touch[k];
  s.column = calloc((size_t)count + 1, sizeof(int));
  s.offset = calloc((size_t)count + 1, sizeof(int));
  s.value = calloc((size_t)count * 36 + 1, sizeof(tbReal));
  s.diagonal = calloc((size_t)nodes * 36 + 1, sizeof(tbReal));
  s.dense = calloc((size_t)(s.size * s.size) + 1, sizeof(tbReal));
  // G symmetric through the dense copy, then C.
  count = 0;
  for (int i = 0; i < nodes; i++) {
    for (int j = 0; j < nodes; j++) {
      if (!touch[i * nodes + j]) continue;
      s.column[count] = j;
      s.offset[count++] = values;
      for (int r = 0; r < s.dim[i]; r++) {
        for (int c = 0; c < s.dim[j]; c++) {
          int a = s.row[i] + r, b = s.row[j] + c;
          if (b >= a) s.dense[a * s.size + b] = s.dense[b * s.size + a] = tb_rng_normal(rng);
          s.value[values++] = s.dense[a * s.size + b];
        }
      }
    }
    s.start[i + 1] = count;
  }
  for (int i = 0; i < nodes; i++) {
    for (int r = 0; r < s.dim[i]; r++) {
      for (int c = 0; c < s.dim[i]; c++) {
        s.diagonal[corner] = tb_rng_normal(rng) + (r == c ? 8 : 0);
        s.dense[(s.row[i] + r) * s.size + s.row[i] + c] += s.diagonal[corner++];
      }
    }
  }
  free(touch);
  return s;
}

static void free_system(System* s) {
  free(s->dim);
  free(s->row);
  free(s->start);
  free(s->column);
  free(s->offset);
  free(s->value);
  free(s->diagonal);
  free(s->dense);
}

static bool linked_all(tbRng* rng, int i, int j) {
  (void)rng, (void)i, (void)j;
  return true;
}

static bool linked_chain(tbRng* rng, int i, int j) {
  (void)rng;
  return i - j == 1;
}

static bool linked_random(tbRng* rng, int i, int j) {
  (void)i, (void)j;
  return tb_rng_uniform(rng, 0, 1) < 0.08;
}

// Cliques of four that share a neighbour with the next: contacts of stacked boxes.
static bool linked_stack(tbRng* rng, int i, int j) {
  (void)rng;
  return i / 4 - j / 4 <= 1;
}

static bool linked_none(tbRng* rng, int i, int j) {
  (void)rng, (void)i, (void)j;
  return false;
}

typedef bool (*Linked)(tbRng*, int, int);
static const Linked GRAPHS[] = {linked_all, linked_chain, linked_random, linked_stack, linked_none};

static void test_solutions(void** state) {
  (void)state;
  tbRng rng = {1};
  tbArena arena;
  tb_arena_init(&arena);
  for (int trial = 0; trial < 100; trial++) {
    System s = make_system(&rng, 1 + tb_rng_int(&rng, 40), GRAPHS[trial % 5]);
    tbBlockPattern pattern = {s.nodes, s.dim, s.row, s.start, s.column, s.offset};
    tbBlockLu lu;
    tb_arena_reset(&arena);
    assert_true(tb_block_lu_analyze(&lu, &arena, &pattern));
    tbReal *want = calloc((size_t)s.size, sizeof(tbReal)),
           *x = calloc((size_t)s.size, sizeof(tbReal));
    // Twice: the second factorization must not depend on the first.
    for (int again = 0; again < 2; again++) {
      assert_int_equal(tb_block_lu_factor(&lu, s.value, s.diagonal, 1e-12), 0);
      for (int i = 0; i < s.size; i++) want[i] = tb_rng_normal(&rng);
      for (int i = 0; i < s.size; i++) {
        x[i] = 0;
        for (int j = 0; j < s.size; j++) x[i] += s.dense[i * s.size + j] * want[j];
      }
      tb_block_lu_solve(&lu, x);
      assert_near_array(x, want, s.size, 1e-6);
    }
    free(want);
    free(x);
    free_system(&s);
  }
  tb_arena_free(&arena);
}

// A chain must factor without fill, and a stack with little.
static void test_fill(void** state) {
  (void)state;
  tbRng rng = {2};
  tbArena arena;
  tb_arena_init(&arena);
  System s = make_system(&rng, 200, linked_chain);
  int *weight = calloc(200, sizeof(int)), *start = calloc(201, sizeof(int)),
      *column = calloc(400, sizeof(int));
  int count = 0;
  for (int i = 0; i < 200; i++) {
    weight[i] = 1;
    if (i > 0) column[count++] = i - 1;
    if (i < 199) column[count++] = i + 1;
    start[i + 1] = count;
  }
  tbOrdering o;
  assert_true(tb_order_minimum_degree(&arena, 200, weight, start, column, &o));
  int fill = 0;
  bool seen[200] = {false};
  for (int k = 0; k < 200; k++) {
    assert_false(seen[o.order[k]]);
    seen[o.order[k]] = true;
    fill += o.fill_count[k];
  }
  assert_int_equal(fill, 199);
  free(weight);
  free(start);
  free(column);
  free_system(&s);
  tb_arena_free(&arena);
}

// Partial pivoting inside a front, and the Schur complement that it leaves.
static void test_front(void** state) {
  (void)state;
  tbRng rng = {3};
  enum { N = 37 };
  for (int width = 0; width <= N; width += 4) {
    tbReal a[N * N], lu[N * N];
    int pivot[N];
    for (int i = 0; i < N * N; i++) lu[i] = a[i] = tb_rng_normal(&rng);
    if (width > 1) lu[0] = a[0] = 0;
    assert_int_equal(tb_frontal_factor(N, width, lu, pivot, 1e-13), 0);
    // Undo: P A = L [U; S].
    for (int k = 0; k < width; k++) {
      for (int j = 0; j < N && pivot[k] != k; j++) {
        tbReal t = a[k * N + j];
        a[k * N + j] = a[pivot[k] * N + j];
        a[pivot[k] * N + j] = t;
      }
    }
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) {
        int depth = i < j ? i : j;
        tbReal sum = i >= width && j >= width ? lu[i * N + j] : 0;
        for (int k = 0; k <= depth && k < width; k++) {
          sum += (k == i ? 1 : lu[i * N + k]) * lu[k * N + j];
        }
        if (j < i && j < width) {
          sum = 0;
          for (int k = 0; k <= j; k++) sum += lu[i * N + k] * lu[k * N + j];
        }
        assert_near(sum, a[i * N + j], 1e-9);
      }
    }
  }
}

static void test_singular(void** state) {
  (void)state;
  tbReal a[] = {1, 1, 1, 1};
  int pivot[2];
  assert_int_equal(tb_frontal_factor(2, 2, a, pivot, 1e-8), 1);
  assert_true(a[3] == 1e-8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_solutions),
      cmocka_unit_test(test_fill),
      cmocka_unit_test(test_front),
      cmocka_unit_test(test_singular),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
