// Newton's method on the active set in velocity space, for ncp, ccp and lcp: the fast path of a
// step. See docs/notebook/active-set.md.
#ifndef TRIBO_SOLVERS_ACTIVE_SET_ACTIVE_SET_H_
#define TRIBO_SOLVERS_ACTIVE_SET_ACTIVE_SET_H_

#include "operator/velocity.h"
#include "tribo/problem.h"

// The impulses whose velocity was last computed with dense factors, so that a caller can reuse the
// result: by row the impulses, by dof the generalized impulse J^T lambda and the velocity it adds.
typedef struct {
  bool valid;
  tbReal *lambda, *push, *velocity;
} tbLastApplied;

typedef struct {
  const tbProblem* p;   // blocks, R, g; its G is not used
  const tbRows* block;  // one block of rows per block of the problem
  tbForestInertia inertia;
  tbVelocity* system;  // the same rows, to work in velocity space; NULL: in impulse space
  const tbReal* rho;   // per row: an estimate of the diagonal of G, > 0
  tbLaw law;
  // raisim, by row: a = mu_i A_iN / A_NN of a cone's block A of G + R; else NULL.
  const tbReal* coupling;
  tbReal tolerance;   // relative residual to aim at
  tbReal acceptable;  // acceptable residual above `tolerance`; 0: none is acceptable
  int max_iter;
  const tbReal* start_residual;  // relative residual of the first guess, or NULL if unknown
  bool impulse_space_failed;     // impulse space has failed: start with interior points
  bool few_dofs;                 // few dofs: an iteration is cheap, even with sparse factors
  bool free_floating;            // free-floating bodies only, which come to rest
  bool part;  // a subdomain of a larger island: two attempts at most, and no further decomposition
  // Resting warm start, if `resting_start` is not NULL. `carried_error` is the part of sigma that
  // disappears after this step (the velocity error and the gap at its start), by row;
  // `last_residual` is the relative residual of the last step; `resting_start` receives the
  // impulses that are right without `carried_error`.
  const tbReal* carried_error;
  tbReal last_residual;
  tbReal* resting_start;
  bool* carried_error_removed;  // out, or NULL: `carried_error` was removed from `resting_start`
  tbLastApplied* last_applied;  // out, or NULL
} tbActive;

// Improve `lambda` (first guess in, solution out); `sigma` is the velocity at the guess. Fills
// iterations, factorizations, status and residuals of `info`; if the status is not
// TB_SOLVE_CONVERGED, lambda is the best found. False: out of memory.
bool tb_active_solve(const tbActive* problem, tbArena* arena, const tbReal* sigma, tbReal* lambda,
                     tbSolveInfo* info);

// How many rows of a block the dense matrix of impulse space holds: none if the block moves a
// single dof.
int tb_active_dense_rows(const tbRows* block);

// The slow and robust proximal Newton method in velocity space: proximal steps on convex problems,
// about `iterations` factorisations, until the relative residual falls below `target`. `lambda` and
// its velocity `sigma` in; out the best lambda, and the velocity of the last one. False: out of
// memory.
bool tb_active_proximal_newton(const tbActive* problem, tbArena* arena, int iterations,
                               tbReal target, tbReal* lambda, tbReal* sigma, tbSolveInfo* info);

// Settings of the interior-point method.
typedef struct {
  int max_iter, patience;  // iteration limit; iterations allowed without progress
  tbReal target;           // stop at this multiple of the tolerance
  tbReal mu;            // barrier parameter of the first point; 1: scaled by g and the largest load
  tbReal kappa;         // complementarity stays above kappa times the infeasibility
  bool mild;            // if no step succeeds otherwise, aim at slightly less complementarity
  bool turning_points;  // follow the path around its turning points; uses only `max_iter`, `target`
                        // and `mu`
} tbInterior;

// Interior points from `lambda` and its velocity `sigma`: about 20 factorisations, independent of
// the conditioning. Out: the best impulses and their velocity. False: out of memory.
bool tb_active_interior(const tbActive* problem, tbArena* arena, const tbInterior* settings,
                        tbReal* lambda, tbReal* sigma, tbSolveInfo* info);

// The velocity sigma = g + J M^-1 J^T lambda + R lambda of impulses `lambda`; `x` is scratch, one
// entry per dof of the system.
void tb_active_response(const tbActive* problem, const tbReal* lambda, tbReal* x, tbReal* sigma);

#endif
