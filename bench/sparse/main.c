// Milliseconds of a sparse factorisation of a heap of free bodies (linalg/ldu), in three forms: in
// the order of minimum degree, in postorder, and with groups of nodes taken out together; CHOLMOD
// on the same matrix for comparison. A cell is the least of many runs. docs/notebook/ldu.md has the
// table.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/bench.h"
#include "heap.h"
#include "linalg/order.h"

// Find the pattern of the factors in the given order; position[body] is a body's node.
static bool analyze(const Heap* heap, tbArena* arena, const int* order, int* position, tbLdu* ldu) {
  int n = heap->bodies, count = 0;
  int* start = tb_arena_alloc(arena, ((size_t)n + 1) * sizeof(int));
  int* edge = tb_arena_alloc(arena, ((size_t)heap->start[n] + 1) * sizeof(int));
  if (!start || !edge) return false;
  for (int k = 0; k < n; k++) position[order[k]] = k;
  for (int k = 0; k < n; k++) {
    start[k] = count;
    for (int e = heap->start[order[k]]; e < heap->start[order[k] + 1]; e++) {
      if (position[heap->column[e]] > k) edge[count++] = position[heap->column[e]];
    }
  }
  start[n] = count;
  return tb_ldu_analyze(ldu, arena, n, heap->weight, start, edge);
}

// The matrix in the places of its factors.
static void fill(const Heap* heap, const int* order, const int* position, tbLdu* ldu) {
  memset(ldu->value, 0, sizeof(tbReal) * ldu->size);
  memset(ldu->mirror, 0, sizeof(tbReal) * ldu->mirror_size);
  for (int k = 0; k < heap->bodies; k++) {
    int a = order[k];
    tbReal *D = ldu->value + ldu->at[k], *U = D + ROWS * ROWS, *C = ldu->mirror + ldu->skew[k];
    heap_block(heap, a, a, D);
    for (int e = heap->start[a]; e < heap->start[a + 1]; e++) {
      int later = position[heap->column[e]];
      if (later < k) continue;
      tbReal block[ROWS * ROWS];
      heap_block(heap, a, heap->column[e], block);
      for (int i = 0; i < ROWS; i++) {
        size_t at = (size_t)(i * ldu->width[k] + tb_ldu_column(ldu, k, later));
        memcpy(U + at, block + i * ROWS, ROWS * sizeof(tbReal));
        memcpy(C + at, block + i * ROWS, ROWS * sizeof(tbReal));
      }
    }
  }
}

// |A x - 1| in the sup norm, x by node.
static double residual(const Heap* heap, const int* position, const tbReal* x) {
  double worst = 0;
  for (int a = 0; a < heap->bodies; a++) {
    tbReal sum[ROWS] = {-1, -1, -1, -1, -1, -1};
    for (int e = heap->start[a] - 1; e < heap->start[a + 1]; e++) {
      int b = e < heap->start[a] ? a : heap->column[e];
      tbReal block[ROWS * ROWS];
      heap_block(heap, a, b, block);
      for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++) sum[i] += block[i * ROWS + j] * x[position[b] * ROWS + j];
      }
    }
    for (int i = 0; i < ROWS; i++) worst = fmax(worst, fabs(sum[i]));
  }
  return worst;
}

typedef struct {
  double unsymmetric, symmetric, solve, residual;
} Times;

static Times measure(const Heap* heap, tbArena* arena, const int* order, const int* position,
                     tbLdu* ldu, tbReal* x, int repeats) {
  Times t = {INFINITY, INFINITY, INFINITY, INFINITY};
  size_t bytes = ldu->size * sizeof(tbReal), mirror_bytes = ldu->mirror_size * sizeof(tbReal);
  tbReal *value = tb_arena_alloc(arena, bytes), *mirror = tb_arena_alloc(arena, mirror_bytes + 1);
  if (!value || !mirror) return t;
  fill(heap, order, position, ldu);
  memcpy(value, ldu->value, bytes);
  memcpy(mirror, ldu->mirror, mirror_bytes);
  bool good = true;
  for (int i = 0; i < repeats; i++) {
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      memcpy(ldu->value, value, bytes);
      memcpy(ldu->mirror, mirror, mirror_bytes);
      double* factor = symmetric ? &t.symmetric : &t.unsymmetric;
      tbClock start = tb_bench_clock();
      good = tb_ldu_factor(ldu, symmetric) && good;
      *factor = fmin(*factor, tb_bench_since(start));
      for (int k = 0; k < ROWS * heap->bodies; k++) x[k] = 1;
      start = tb_bench_clock();
      tb_ldu_solve(ldu, x);
      t.solve = fmin(t.solve, tb_bench_since(start));
    }
  }
  if (good) t.residual = residual(heap, position, x);
  return t;
}

static void add_row(tbTable* table, int bodies, const char* form, const Times* t,
                    const tbLdu* ldu) {
  tb_table_row(table);
  tb_table_int(table, "bodies", bodies);
  tb_table_text(table, "form", form);
  if (t->unsymmetric > 0) tb_table_real(table, "unsymmetric_ms", 1e3 * t->unsymmetric);
  tb_table_real(table, "symmetric_ms", 1e3 * t->symmetric);
  tb_table_real(table, "solve_ms", 1e3 * t->solve);
  tb_table_real(table, "residual", t->residual);
  if (!ldu) return;
  tb_table_int(table, "blocks", ldu->start[bodies] + bodies);
  tb_table_real(table, "operations", ldu->flops);
  tb_table_real(table, "gflops", ldu->flops / t->symmetric * 1e-9);
}

// All forms on one heap; false where a factorisation is wrong or memory runs out.
static bool run(tbTable* table, int side, int repeats) {
  static const char* const FORMS[] = {"minimum degree", "in postorder", "in groups"};
  tbArena arena;
  tb_arena_init(&arena);
  Heap heap;
  tbOrdering ordering;
  bool good = heap_make(&heap, &arena, side);
  tbClock start = tb_bench_clock();
  good = good && tb_order_minimum_degree(&arena, heap.bodies, heap.weight, heap.start, heap.column,
                                         &ordering);
  int* position = good ? tb_arena_alloc(&arena, (size_t)heap.bodies * sizeof(int)) : NULL;
  tbReal* x = good ? tb_arena_alloc(&arena, (size_t)heap.bodies * ROWS * sizeof(tbReal)) : NULL;
  good = position && x;
  for (int form = 0; form < 3 && good; form++) {
    tbLdu ldu;
    if (form == 1) good = tb_order_postorder(&arena, heap.bodies, &ordering);
    good = good && analyze(&heap, &arena, ordering.order, position, &ldu);
    if (!good) break;
    double ordered = tb_bench_since(start);
    for (int k = 0; k < heap.bodies && form < 2; k++) ldu.group[k] = k + 1;
    Times t = measure(&heap, &arena, ordering.order, position, &ldu, x, repeats);
    add_row(table, heap.bodies, FORMS[form], &t, &ldu);
    if (form == 0) tb_table_real(table, "order_and_pattern_ms", 1e3 * ordered);
    good = t.residual < 1e-9;
  }
  Times peer = {0};
  if (good && cholmod_times(&heap, repeats, &peer.symmetric, &peer.solve, &peer.residual)) {
    add_row(table, heap.bodies, "CHOLMOD", &peer, NULL);
  }
  tb_arena_free(&arena);
  return good;
}

int main(int argc, char** argv) {
  static const int SIDES[] = {5, 12, 16, 23};
  tbBench* bench = tb_bench_open("sparse", argc, argv);
  if (!bench) return 2;
  if (!tb_bench_check_arguments(bench)) return tb_bench_close(bench), 2;
  tbTable* table = tb_bench_table(bench, "sparse");
  bool good = true;
  for (int i = 0; i < (tb_bench_short(bench) ? 2 : 4) && good; i++) {
    tb_bench_progress(bench, i, 4, "heaps");
    good = run(table, SIDES[i], tb_bench_short(bench) ? 5 : 25);
  }
  if (!good) tb_bench_note(bench, "a factorisation failed or is wrong");
  int status = tb_bench_close(bench);
  return good ? status : 1;
}
