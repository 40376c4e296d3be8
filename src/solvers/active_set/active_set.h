// Newton's method on the active set in velocity space, for ncp, ccp and lcp: the fast path of a
// step.
// See docs/solver-active.md.
#ifndef TRIBO_SOLVERS_ACTIVE_SET_ACTIVE_SET_H_
#define TRIBO_SOLVERS_ACTIVE_SET_ACTIVE_SET_H_

#include "operator/velocity.h"
#include "tribo/problem.h"

// Where the impulses that dense factors judged last lead to, so that nobody need find it twice: by
// row these, by dof what they push with and the velocity that it adds.
typedef struct {
  bool any;
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
  tbReal tolerance;  // relative residual to aim at
  tbReal enough;     // where that is not reached, at most this is an answer too; 0: it is none
  int max_iter;
  const tbReal* measure;  // relative residual of the first guess, or NULL where it is not known
  bool tried;             // impulse space has failed: interior points come first
  bool few;               // dofs: a round costs little, with sparse factors too
  bool loose;             // bodies by themselves, which come to rest
  bool part;              // of a larger island: tried twice at most, and not divided any further
  // Where `rest` is not NULL: what of sigma is over after this step, the velocity and the gap at
  // its start, by row, and the relative residual that the last step left; out: the impulses
  // without.
  const tbReal* inherited;
  tbReal left;
  tbReal* rest;
  bool* relieved;      // out, or NULL: `rest` is without `inherited`
  tbLastApplied* led;  // out, or NULL
} tbActive;

// Improve `lambda` (first guess in, the answer out), `sigma` the velocity that the guess leads to.
// Fills iterations, factorizations, status and residuals of `info`; where the status is not
// TB_SOLVE_CONVERGED lambda is the best found. False: out of memory.
bool tb_active_solve(const tbActive* problem, tbArena* arena, const tbReal* sigma, tbReal* lambda,
                     tbSolveInfo* info);

// How many rows of a block of rows impulse space keeps in its dense matrix: none where the row
// moves a single dof.
int tb_active_dense_rows(const tbRows* block);

// Its slow and sure part, in velocity space: proximal steps on convex problems, about `rounds`
// factorisations, until the relative residual falls below `target`. `lambda` and its velocity
// `sigma` in; the best lambda and the velocity of the last one out. False: out of memory.
bool tb_active_proximal_newton(const tbActive* problem, tbArena* arena, int rounds, tbReal target,
                               tbReal* lambda, tbReal* sigma, tbSolveInfo* info);

// How interior points go about it.
typedef struct {
  int rounds, patience;  // most iterations; how many without progress
  tbReal target;         // stop at this times the tolerance
  tbReal mu;             // products of the first point, 1: as those of g and the largest load
  tbReal kappa;          // products stay above kappa times the infeasibility
  bool gentle;           // where nothing else goes on, aim at a little less of the products
  bool folds;            // follow the path around its folds, with `rounds`, `target` and `mu` only
} tbInterior;

// Interior points from `lambda` and its velocity `sigma`: about 20 factorisations whatever the
// conditioning. The best of both out. False: out of memory.
bool tb_active_interior(const tbActive* problem, tbArena* arena, const tbInterior* settings,
                        tbReal* lambda, tbReal* sigma, tbSolveInfo* info);

// The velocity sigma = g + J M^-1 J^T lambda + R lambda that impulses lead to; `x` is scratch, one
// entry per dof of the system.
void tb_active_response(const tbActive* problem, const tbReal* lambda, tbReal* x, tbReal* sigma);

#endif
