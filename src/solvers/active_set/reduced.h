// An island in the space of what touches: the same problem with fewer unknowns. See
// docs/solver-active.md, "In the space of what touches".
#ifndef TRIBO_SOLVERS_ACTIVE_SET_REDUCED_H_
#define TRIBO_SOLVERS_ACTIVE_SET_REDUCED_H_

#include "solvers/active_set/active_set.h"

// Which rows are functions of the twist of one body.
typedef struct {
  int count;
  const tbRows* twist;  // six rows each
  const int* of;        // per block: its twist, or -1 where its rows stand for themselves
  const tbReal** P;     // per block with a twist: dim x 6, its J is P times that of the twist
  const tbReal** half;  // per block: its J H^-1/2 where that is known, or NULL
} tbReducedSpace;

typedef struct {
  const tbActive* a;  // the island as it is, its blocks' supports closed under ancestors
  const tbReducedSpace* twists;
  const tbReal *lambda, *sigma;  // the point that it was reduced at
  bool possible;                 // false: it cannot be reduced

  tbActive small;                // the problem that is left
  tbProblem problem;             // its rows
  int* kept;                     // by block of it: the block of the island
  tbReal *g, *first, *velocity;  // its g; impulses at that point, and what they lead to
  tbReal scale;                  // the largest velocity of the island over that of what is left
  bool relieved;                 // impulses at rest are without what was inherited

  int* at;                    // by block of the island: its first base row
  int nequal, nbase, stride;  // base rows of equalities, of all, and room for them
  tbReal *U, *shift,
      *offset;  // U of (9); t and U_eb^T t of (10), of sigma and of what is inherited
  tbReal* f;    // scratch by base row
} tbReduced;

// How many unknowns would be left.
int tb_active_reduced_rows(const tbActive* a, const tbReducedSpace* twists);

// Reduce an island at impulses `lambda` and the velocity `sigma` that they lead to. False: out of
// memory.
bool tb_active_reduce(const tbActive* a, const tbReducedSpace* twists, tbArena* arena,
                      const tbReal* lambda, const tbReal* sigma, tbReduced* out);

// The island's impulses, given those of the problem that is left.
void tb_active_expand(const tbReduced* reduced, const tbReal* small, tbReal* lambda);

// Reduce, solve, expand. As tb_active_solve, but the residual of `info` is that of what is left.
bool tb_active_solve_reduced(const tbActive* a, const tbReducedSpace* twists, tbArena* arena,
                             const tbReal* sigma, tbReal* lambda, tbSolveInfo* info);

#endif
