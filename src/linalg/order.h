// Minimum degree ordering of a symmetric graph by its quotient graph, and the resulting structure
// of the factor.
//
// Amestoy, Davis, Duff: An approximate minimum degree ordering algorithm, SIAM J. Matrix Anal. 17
// (1996). Own implementation; no dense-row or aggressive-absorption heuristics.
#ifndef TRIBO_LINALG_ORDER_H_
#define TRIBO_LINALG_ORDER_H_

#include <stdbool.h>

#include "base/arena.h"

typedef struct {
  int* order;  // order[k]: the vertex eliminated k-th
  int** fill;  // fill[v]: connected vertices that remain when v is eliminated
  int* fill_count;
} tbOrdering;

// Order `n` vertices with the given weights (rows per vertex). Neighbours of v are
// column[start[v]] .. column[start[v+1]-1], without v itself, symmetric. False: out of memory.
bool tb_order_minimum_degree(tbArena* arena, int n, const int* weight, const int* start,
                             const int* column, tbOrdering* out);

// Reorder `order` to a postorder, in which the subtree of a vertex comes right before it: the fill
// is the same, but memory accesses are more local. False: out of memory.
bool tb_order_postorder(tbArena* arena, int n, tbOrdering* ordering);

#endif
