// The interior-point method on the pyramid law, independent of the solver of its linear systems: on
// the Delassus matrix (lcp.c) or in velocity space (pyramid.c). See docs/manual/solvers.md.
#ifndef TRIBO_SOLVERS_INTERIOR_POINT_LCP_INTERIOR_H_
#define TRIBO_SOLVERS_INTERIOR_POINT_LCP_INTERIOR_H_

#include "base/arena.h"
#include "tribo/problem.h"

// Callbacks of the owner. The dim x dim matrix of block i is at start[i].
typedef struct {
  void* owner;
  // Factor G + H in scaled rows, E = H^-1. False: singular.
  bool (*factor)(void* owner, const tbReal* H, const tbReal* E, const int* start);
  // dx = (G + H)^-1 rhs.
  void (*solve)(void* owner, const tbReal* rhs, tbReal* dx);
  // The velocity of impulses lambda.
  void (*velocity)(void* owner, const tbReal* lambda, tbReal* sigma);
  // The stop test, on the iterate projected on the pyramid; *measure receives its residual.
  bool (*check)(void* owner, const tbReal* lambda, int iteration, tbReal mu, tbReal* measure);
} tbLcpSystem;

typedef struct {
  const tbProblem* p;
  const tbReal* scale;  // by row: lambda = scale x
  int max_iter;
  const tbReal* lambda;  // start near these impulses and their velocity;
  const tbReal* sigma;   // NULL: start from the centre
  tbReal mu;             // complementarity of that start, over the problem's size squared
} tbLcpInterior;

// The row scale: the inverse root of the diagonal of G (of the normal row for a cone), tangents
// also times the friction coefficients. `d` holds the diagonal by row.
void tb_lcp_scale(const tbProblem* problem, const tbReal* d, tbReal* scale);

// Iterate until `check` returns true: *solved. False: out of memory.
bool tb_lcp_interior(const tbLcpInterior* problem, const tbLcpSystem* system, tbArena* arena,
                     bool* solved);

#endif
