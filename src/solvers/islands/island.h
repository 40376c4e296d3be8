// A connected component of a problem, in block-sparse form, with the stop test of its solve. The
// hybrid solvers work on islands: a whole problem is one large island.
#ifndef TRIBO_SOLVERS_ISLANDS_ISLAND_H_
#define TRIBO_SOLVERS_ISLANDS_ISLAND_H_

#include <stdbool.h>

#include "linalg/grouplu.h"
#include "solvers/solver.h"

typedef struct tbSolveIsland tbSolveIsland;

// Evaluates an iterate; true: stop.
typedef bool (*tbIslandCheck)(tbSolveIsland* island, const tbReal* lambda, const tbReal* sigma,
                              int iteration, tbReal penalty);

struct tbSolveIsland {
  tbProblem p;    // SPARSE form, R included in the diagonal blocks of G
  int* source;    // block of the whole problem that each block came from
  int* dim;       // rows of each block
  int* row;       // first row of each block, and their number
  int* diagonal;  // entry of the diagonal block of each block row
  tbArena* arena;
  tbIslandCheck check;
  tbSolve* solve;  // the solve that the island belongs to
  tbReal* best;    // the best iterate so far
  tbReal best_residual;
  tbReal last_residual;
  tbReal impulse, velocity;  // scales of the whole problem: lower bound of |lambda|, and |g|
  tbReal tolerance;
  int iterations;
  int factorizations;
  bool converged;
  bool infeasible;  // it is proven that no velocity is allowed
  tbReal* scale;    // lambda = scale x makes cones round and equalises diagonal blocks
  tbReal* scaled;   // scale G scale, in the pattern of G
  tbGroupLu lu;     // of the scaled matrix; tb_island_analyze computes all three
  bool analyzed;
};

// Find the connected components of a problem: part[i] of each block, numbered from 0 by their first
// block. Returns their number, or -1 when out of memory.
int tb_island_find(tbArena* arena, const tbProblem* p, int* part);

// Copy the blocks i with part[i] == id (all of them for part == NULL) into an island.
bool tb_island_extract(tbSolveIsland* island, tbSolve* s, const int* part, int id);

// The quantity that is compared with the tolerance, from the components of the residual.
tbReal tb_island_measure(const tbSolveIsland* island, const tbResidual* residual,
                         const tbReal* lambda);

// sigma = G lambda + g.
void tb_island_velocity(const tbSolveIsland* island, const tbReal* lambda, tbReal* sigma);

// ---- methods on islands ------------------------------------------------------------------------

typedef struct {
  int max_iter;
  int patience;              // iterations without improvement
  bool ladder;               // weaken the shift if steps are short
  bool adopt;                // use the true velocity as z if it is central
  tbReal kappa;              // complementarity stays above kappa times the infeasibility
  tbReal impulse, velocity;  // first point: x and z on the normal axis, in scaled units
  tbReal threshold;          // expected impulses above this value scale the first point; 0: never
  tbReal margin;  // distance of a warm start from the boundary of the cones, in scaled units
} tbIpmSettings;

// Scale the island's matrix and analyse its LU, on first use. False: out of memory.
bool tb_island_analyze(tbSolveIsland* island);

// Replace an LU that uses the redundancy of contacts by the LU of the whole matrix, unless that is
// far too expensive: slower, but also exact if C is smaller than the differences between contacts
// of a pair of bodies. False: out of memory.
bool tb_island_analyze_plain(tbSolveIsland* island);

// Interior-point method on the exact law. Starts near `lambda` unless that is NULL. The result is
// the island's best iterate. False: out of memory.
bool tb_island_ipm(tbSolveIsland* island, const tbIpmSettings* settings, const tbReal* lambda);

// Up to `max_sweeps` Gauss-Seidel sweeps with exact local solutions on `lambda`; stops early if the
// measured rate predicts more than `patience` further sweeps. False: out of memory.
bool tb_island_pgs(tbSolveIsland* island, tbReal* lambda, int max_sweeps, int patience);

// Up to `max_iter` iterations of ADMM or of staggered projections, from the island's best iterate.
// False: out of memory.
bool tb_island_admm(tbSolveIsland* island, int max_iter);
bool tb_island_staggered(tbSolveIsland* island, int max_iter);

// Try to prove that no velocity satisfies the island's law. False: out of memory.
bool tb_island_infeasible(tbSolveIsland* island, bool* proven);

// Up to `max_iter` steps of semismooth Newton from the island's best iterate. False: out of memory.
bool tb_island_newton(tbSolveIsland* island, int max_iter);

#endif
