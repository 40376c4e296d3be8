// Context of every solver, and the stop test that all of them share.
#ifndef TRIBO_SOLVERS_SOLVER_H_
#define TRIBO_SOLVERS_SOLVER_H_

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "problem/cone.h"
#include "problem/delassus.h"
#include "tribo/problem.h"

// Data that one solve keeps for the next of the same size.
typedef struct {
  int n;           // rows of the last problem; 0: nothing is kept
  tbReal rho;      // ADMM: last penalty
  tbReal largest;  // estimates of the extreme eigenvalues of G + R
  tbReal smallest;
  tbReal* eigenvector;  // n entries for the largest, n for the smallest (heap)
  int capacity;
  size_t allocations;
} tbSolveCache;

// One solve in progress.
typedef struct {
  const tbProblem* p;
  const tbSolveSettings* settings;
  tbLaw law;
  tbArena* arena;
  tbSolveCache* cache;
  tbSolveInfo* info;
  tbError* error;
  double start;      // tb_seconds() at the start
  tbReal* lambda;    // in: first guess inside the arena; out: the solution
  tbReal* sigma;     // (G + R) lambda + g of the last check
  tbReal* velocity;  // B^T lambda of the product form
  tbReal* best;      // the iterate with the smallest residual so far
  tbReal best_residual;
  tbResidual last;  // residual of the last check
  tbReal tolerance;
} tbSolve;

// Solvers return TB_OK with info->status set (any status but CONVERGED is verified by the caller
// too), or an error. They leave their solution in s->lambda.
typedef tbResult (*tbSolverFunction)(tbSolve* s);

typedef struct {
  tbLaw law;
  const char* name;
  tbSolverFunction solve;
} tbSolverEntry;

// Check that every setting has an allowed value.
tbResult tb_solve_settings_check(const tbSolveSettings* settings, tbError* error);

// Solve the exact law from `lambda` by ncp/auto with the caller's arena, inside another solve.
// False: out of memory.
bool tb_solve_exact(const tbProblem* problem, tbReal tolerance, int max_iter, tbArena* arena,
                    tbReal* lambda, tbSolveInfo* info);

// Compute sigma and the residual of `lambda`, store it if it is the best so far, write the history.
// Returns whether to stop: converged or out of time (status set).
bool tb_solve_check(tbSolve* s, const tbReal* lambda, int iteration, tbReal penalty);

// The same with a given sigma.
bool tb_solve_check_sigma(tbSolve* s, const tbReal* lambda, const tbReal* sigma, int iteration,
                          tbReal penalty);

// Whether the time limit has passed; sets the status if so. For loops that are long between two
// checks.
bool tb_solve_late(tbSolve* s);

// The status of a solve that ended above its tolerance: no iterations left, or no progress.
int tb_solve_gave_up(const tbSolve* s);

// The quantity that the stop test compares with s->tolerance.
tbReal tb_solve_measure(const tbSolve* s, const tbResidual* residual);

// `count` reals of scratch; NULL when out of memory.
tbReal* tb_solve_reals(tbSolve* s, size_t count);

tbResult tb_solve_no_memory(tbSolve* s);

#define TB_SOLVER(law, name, function) tbResult function(tbSolve* s);
#include "solvers/solver_list.h"
#undef TB_SOLVER

#endif
