// Linear systems (G + H) x = b with a block-diagonal H, not necessarily symmetric, of the Newton
// and interior-point solvers, in scaled rows x = lambda / scale.
//
// Solved on the smaller side: in constraint space by LU of G + H, or, with G = B B^T of low rank,
// in velocity space by LU of I + B^T H^-1 B (the whitened M + J^T H^-1 J). If G is not given as a
// product, B comes from a pivoted Cholesky factorisation.
#ifndef TRIBO_SOLVERS_NEWTON_SYSTEM_H_
#define TRIBO_SOLVERS_NEWTON_SYSTEM_H_

#include "solvers/solver.h"

typedef struct {
  const tbProblem* p;
  int n, rank;          // rows; columns of B in velocity space
  bool velocity;        // solved in velocity space
  int size;             // of the factored matrix
  tbReal* scale;        // n entries
  tbReal* G;            // scaled G + R, n x n (constraint space, and for products)
  tbReal *B, *Bt, *EB;  // n x rank, rank x n, n x rank (velocity space)
  tbReal* M;            // size x size
  int* pivot;
  tbReal *w, *r, *dx;   // scratch
  const tbReal *H, *E;  // of the last factorisation
  const int* start;     // block i's dim x dim matrix lies at start[i]
} tbSystem;

// Prepares the system of solve `s`. `scale`: factor of each row, kept by pointer, so it must
// outlive the system. Returns false when out of memory.
bool tb_system_init(tbSystem* system, tbSolve* s, tbReal* scale);

// y = (G + R) x in scaled rows.
void tb_system_apply(const tbSystem* system, const tbReal* x, tbReal* y);

// Factor for H and its inverse E, given block by block (E alone is used in velocity space, H alone
// in constraint space, both in refinement). False on a zero pivot.
bool tb_system_factor(tbSystem* system, const tbReal* H, const tbReal* E, const int* start);

// x = (G + H)^-1 b with `refinements` steps of iterative refinement.
void tb_system_solve(tbSystem* system, const tbReal* b, int refinements, tbReal* x);

// The same for C dx + D (G + R) dx = b with block-diagonal C and D, of which D may be singular:
// constraint space factors C + D G, velocity space I + B^T E B with E = C^-1 D. False on a zero
// pivot.
bool tb_system_factor_mixed(tbSystem* system, const tbReal* C, const tbReal* D, const tbReal* E,
                            const int* start);

// `b` is the right side; `Cb` is C^-1 b, used in velocity space.
void tb_system_solve_mixed(tbSystem* system, const tbReal* b, const tbReal* Cb, tbReal* x);

#endif
