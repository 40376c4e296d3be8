// Interior points on the pyramid law, whatever solves their linear systems: on the Delassus matrix
// (lcp_ipm.c) or in velocity space (active_pyramid.c). See docs/solvers.md.
#ifndef TRIBO_SOLVERS_INTERIOR_POINT_LCP_INTERIOR_H_
#define TRIBO_SOLVERS_INTERIOR_POINT_LCP_INTERIOR_H_

#include "base/arena.h"
#include "tribo/problem.h"

// What an iteration asks of its owner. Block i's dim x dim matrix lies at start[i].
typedef struct {
  void* owner;
  // Factor G + H in scaled rows, E = H^-1. False: singular.
  bool (*factor)(void* owner, const tbReal* H, const tbReal* E, const int* start);
  // dx = (G + H)^-1 rhs.
  void (*solve)(void* owner, const tbReal* rhs, tbReal* dx);
  // The velocity that impulses lead to.
  void (*velocity)(void* owner, const tbReal* lambda, tbReal* sigma);
  // True: impulses within the pyramid are good enough. *measure: their residual.
  bool (*check)(void* owner, const tbReal* lambda, int iteration, tbReal products, tbReal* measure);
} tbLcpSystem;

typedef struct {
  const tbProblem* p;
  const tbReal* scale;  // by row: lambda = scale x
  int max_iter;
  const tbReal* lambda;  // start near these impulses and the velocity they lead to; NULL: from the
  const tbReal* sigma;   // centre
  tbReal products;       // of that start, over the problem's size squared
} tbLcpInterior;

// The inverse diagonal of G by block as scale, its tangents times the friction coefficients: `d`
// has the diagonal by row.
void tb_lcp_scale(const tbProblem* problem, const tbReal* d, tbReal* scale);

// Iterate until `check` says so: *solved. False: out of memory.
bool tb_lcp_interior(const tbLcpInterior* problem, const tbLcpSystem* system, tbArena* arena,
                     bool* solved);

#endif
