#include "heap.h"

#ifdef TB_BENCH_CHOLMOD
#include <cholmod.h>
#include <math.h>

#include "common/bench.h"

// The lower half by compressed columns.
static cholmod_sparse* lower_half(const Heap* heap, cholmod_common* c) {
  size_t n = (size_t)heap->bodies * ROWS;
  size_t most = ((size_t)heap->start[heap->bodies] + (size_t)heap->bodies) * ROWS * ROWS;
  cholmod_sparse* A = cholmod_allocate_sparse(n, n, most, 1, 1, -1, CHOLMOD_REAL, c);
  int *p = A->p, *row = A->i, count = 0;
  double* x = A->x;
  tbReal block[ROWS * ROWS];
  for (int b = 0; b < heap->bodies; b++) {
    for (int j = 0; j < ROWS; j++) {
      p[b * ROWS + j] = count;
      heap_block(heap, b, b, block);
      for (int i = j; i < ROWS; i++) row[count] = b * ROWS + i, x[count++] = block[i * ROWS + j];
      for (int e = heap->start[b]; e < heap->start[b + 1]; e++) {
        int a = heap->column[e];
        if (a < b) continue;
        heap_block(heap, a, b, block);
        for (int i = 0; i < ROWS; i++) row[count] = a * ROWS + i, x[count++] = block[i * ROWS + j];
      }
    }
  }
  p[n] = count;
  return A;
}

bool cholmod_times(const Heap* heap, int repeats, double* factor, double* solve, double* residual) {
  cholmod_common c;
  cholmod_start(&c);
  cholmod_sparse* A = lower_half(heap, &c);
  cholmod_dense* b = cholmod_ones(A->nrow, 1, CHOLMOD_REAL, &c);
  cholmod_factor* L = cholmod_analyze(A, &c);
  *factor = *solve = INFINITY;
  for (int i = 0; i < repeats; i++) {
    tbClock start = tb_bench_clock();
    cholmod_factorize(A, L, &c);
    *factor = fmin(*factor, tb_bench_since(start));
    start = tb_bench_clock();
    cholmod_dense* x = cholmod_solve(CHOLMOD_A, L, b, &c);
    *solve = fmin(*solve, tb_bench_since(start));
    double one[2] = {1, 0}, minus[2] = {-1, 0};
    cholmod_dense* r = cholmod_copy_dense(b, &c);
    cholmod_sdmult(A, 0, one, minus, x, r, &c);
    *residual = cholmod_norm_dense(r, 0, &c);
    cholmod_free_dense(&r, &c);
    cholmod_free_dense(&x, &c);
  }
  cholmod_free_factor(&L, &c);
  cholmod_free_dense(&b, &c);
  cholmod_free_sparse(&A, &c);
  cholmod_finish(&c);
  return true;
}
#else
bool cholmod_times(const Heap* heap, int repeats, double* factor, double* solve, double* residual) {
  (void)heap, (void)repeats, (void)factor, (void)solve, (void)residual;
  return false;
}
#endif
