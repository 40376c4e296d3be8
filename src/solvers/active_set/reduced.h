// Contact-space reduction: an island as a smaller problem in the twists of the bodies in contact.
// See docs/notebook/active-set.md, "Contact-space reduction".
#ifndef TRIBO_SOLVERS_ACTIVE_SET_REDUCED_H_
#define TRIBO_SOLVERS_ACTIVE_SET_REDUCED_H_

#include "solvers/active_set/active_set.h"

// Which rows are functions of a body's twist.
typedef struct {
  int count;
  const tbRows* twist;  // six rows of a body each
  const int* of;        // per block: its twist, or -1 if its rows are used directly
  const tbReal** P;     // per block with a twist: dim x 6, its J is P times the twist's J
  const tbReal** half;  // per block: J H^-1/2 if known, or NULL
} tbReducedSpace;

typedef struct {
  const tbActive* a;  // the island; the support of its blocks is closed under ancestors
  const tbReducedSpace* twists;
  const tbReal *lambda, *sigma;  // the point of the reduction
  bool possible;                 // false: the island cannot be reduced

  tbActive reduced;              // the reduced problem
  tbProblem problem;             // its rows
  int* kept;                     // per block of the reduced problem: the block of the island
  tbReal *g, *first, *velocity;  // its g; impulses at the point of reduction, and their velocity
  tbReal scale;                  // largest velocity of the island over that of the reduced problem
  bool carried_error_removed;    // the carried velocity error was removed from the resting impulses

  int* at;                    // per block of the island: its first base row
  int nequal, nbase, stride;  // base rows of equalities, of all blocks, and their padded number
  tbReal* U;                  // U of (9)
  tbReal *shift, *offset;     // t and U_eb^T t of (10), for sigma and for `carried_error`
  tbReal* f;                  // scratch by base row
} tbReduced;

// The number of rows of the reduced problem.
int tb_active_reduced_rows(const tbActive* a, const tbReducedSpace* twists);

// Reduce an island at impulses `lambda` and their velocity `sigma`. False: out of memory.
bool tb_active_reduce(const tbActive* a, const tbReducedSpace* twists, tbArena* arena,
                      const tbReal* lambda, const tbReal* sigma, tbReduced* out);

// The impulses of the island from those of the reduced problem.
void tb_active_expand(const tbReduced* reduced, const tbReal* small, tbReal* lambda);

// Reduce, solve, expand. As tb_active_solve, but the residual of `info` is that of the reduced
// problem.
bool tb_active_solve_reduced(const tbActive* a, const tbReducedSpace* twists, tbArena* arena,
                             const tbReal* sigma, tbReal* lambda, tbSolveInfo* info);

#endif
