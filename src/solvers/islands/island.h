// A part of a problem whose blocks touch each other, in block-sparse form, with the stop test of
// the solve it belongs to. The hybrid solvers work on islands: a whole problem is one large island.
#ifndef TRIBO_SOLVERS_ISLANDS_ISLAND_H_
#define TRIBO_SOLVERS_ISLANDS_ISLAND_H_

#include <stdbool.h>

#include "linalg/grouplu.h"
#include "solvers/solver.h"

typedef struct tbSolveIsland tbSolveIsland;

// Called with every iterate worth judging; true: stop.
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
  tbSolve* solve;  // the solve that it belongs to
  tbReal* best;    // the best iterate so far
  tbReal best_measure;
  tbReal last_measure;
  tbReal impulse, velocity;  // scales of the whole problem: lower bound of |lambda|, and |g|
  tbReal tolerance;
  int iterations;
  int factorizations;
  bool converged;
  bool infeasible;  // it was proven that no velocity is allowed
  tbReal* scale;    // lambda = scale x makes cones round and diagonal blocks alike
  tbReal* scaled;   // scale G scale, in the pattern of G
  tbGroupLu lu;     // of the scaled matrix; all three are made by tb_island_analyze
  bool analyzed;
};

// The connected parts of a problem: part[i] of each block, numbered from 0 by their first block.
// Returns their number, or -1 when out of memory.
int tb_island_find(tbArena* arena, const tbProblem* p, int* part);

// Copy the blocks i with part[i] == id (all of them for part == NULL) into an island.
bool tb_island_extract(tbSolveIsland* island, tbSolve* s, const int* part, int id);

// The quantity that is compared with the tolerance, from the parts of the residual.
tbReal tb_island_measure(const tbSolveIsland* island, const tbResidual* residual,
                         const tbReal* lambda);

// sigma = G lambda + g.
void tb_island_velocity(const tbSolveIsland* island, const tbReal* lambda, tbReal* sigma);

// ---- what runs on islands ----------------------------------------------------------------------

typedef struct {
  int max_iter;
  int patience;              // iterations without improvement
  bool ladder;               // weaken the shift where steps are short
  bool adopt;                // take the true velocity for z where it is central
  tbReal kappa;              // products stay above kappa times the infeasibility
  tbReal impulse, velocity;  // first point: x and z on the normal axis, in scaled units
  tbReal threshold;          // impulses expected above this scale the first point; 0: never
  tbReal margin;             // distance from the cones of a warm start, in scaled units
} tbIpmSettings;

// Scaling of the island's matrix, order and structure of its LU, on first use. False: out of
// memory.
bool tb_island_analyze(tbSolveIsland* island);

// The LU of the whole matrix in place of one that uses the redundancy of contacts, unless that is
// far too expensive: slower, but exact also where C is smaller than what the contacts of a pair of
// bodies differ by. False: out of memory.
bool tb_island_analyze_plain(tbSolveIsland* island);

// Interior point method on the exact law. Starts near `lambda` unless that is NULL. The answer is
// the island's best iterate. False: out of memory.
bool tb_island_ipm(tbSolveIsland* island, const tbIpmSettings* settings, const tbReal* lambda);

// Up to `max_sweeps` sweeps of Gauss-Seidel with exact local solutions on `lambda`; stops early
// when the measured rate says that it would not finish within `patience` sweeps. False: out of
// memory.
bool tb_island_pgs(tbSolveIsland* island, tbReal* lambda, int max_sweeps, int patience);

// Up to `max_iter` iterations of ADMM, or turns of staggered projections, from the island's best
// iterate. False: out of memory.
bool tb_island_admm(tbSolveIsland* island, int max_iter);
bool tb_island_staggered(tbSolveIsland* island, int max_iter);

// Look for a proof that no velocity at all satisfies the island's law. False: out of memory.
bool tb_island_infeasible(tbSolveIsland* island, bool* proven);

// Up to `max_iter` steps of semismooth Newton from the island's best iterate. False: out of memory.
bool tb_island_newton(tbSolveIsland* island, int max_iter);

#endif
