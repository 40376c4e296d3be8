// An artificial heap of free bodies: the graph of contacts for sparse factorisations.
#ifndef TRIBO_BENCH_SPARSE_HEAP_H_
#define TRIBO_BENCH_SPARSE_HEAP_H_

#include <stdbool.h>

#include "base/arena.h"
#include "linalg/ldu.h"

enum { LAYERS = 4, ROWS = 6 };

typedef struct {
  int bodies;
  int* start;   // neighbours of body i: column[start[i]] .. column[start[i + 1] - 1]
  int* column;  // both ways, ascending
  int* weight;  // rows of each body
} Heap;

// side x side bodies in each of four layers; a body touches some of the four below it and now and
// then its neighbours.
bool heap_make(Heap* heap, tbArena* arena, int side);

// The matrix that goes with it: block (a, b), a != b, and the diagonal block a = b, symmetric and
// positive definite, the same numbers whatever the order of elimination. Row-major, six by six.
void heap_block(const Heap* heap, int a, int b, tbReal block[ROWS * ROWS]);

// CHOLMOD on the same matrix with its own ordering: seconds of the least of `repeats` numerical
// factorisations and solves, and the residual of the last. False where it is not built in.
bool cholmod_times(const Heap* heap, int repeats, double* factor, double* solve, double* residual);

#endif
