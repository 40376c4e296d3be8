// MuJoCo's soft model as an unconstrained convex problem over the acceleration a:
//
//     minimise  1/2 (a - a_smooth)^T M (a - a_smooth) + sum over blocks of s(J a - aref)
//
// where s is quadratic for equalities, one-sided for limits and frictionless contacts, a Huber
// function for dry friction, and the squared distance to a cone for elliptic contacts (MuJoCo,
// chapter "Computation", sections on the primal problem).
#ifndef TRIBO_SOLVERS_SOFT_SOFT_H_
#define TRIBO_SOLVERS_SOFT_SOFT_H_

#include <stdbool.h>

#include "base/arena.h"
#include "linalg/ltdl.h"
#include "tribo/types.h"

typedef enum {
  TB_SOFT_EQUALITY,   // quadratic
  TB_SOFT_ONE_SIDED,  // each row quadratic if negative (limits, frictionless, pyramid edges)
  TB_SOFT_FRICTION,   // Huber: force within +-bound
  TB_SOFT_CONE,       // elliptic cone over all rows
} tbSoftKind;

typedef struct {
  int kind;
  int row, dim;
  int nnz;
  int lead;            // a single row: columns before this one are zero
  const int* col;      // dofs, ascending
  const tbReal* J;     // dim x nnz
  tbReal bound;        // friction: largest force
  tbReal mu;           // cone: coefficient of the regularised cone
  tbReal friction[5];  // cone: coefficients of the rows after the first
  int pyramid;         // 1: rows are opposing edges of a friction pyramid, in pairs
} tbSoftBlock;

// One island: whole trees, so that M couples no dof of it to one outside.
typedef struct {
  int nrow, nblock, ndof;
  const int* dof;    // the island's dofs, ascending
  const int* local;  // by dof: its index in `dof`
  tbForest forest;
  const tbReal* M;             // by the forest's rows
  const tbReal *LD, *inverse;  // its factor, for the solvers that need M^-1
  tbReal scale;                // factor of MuJoCo's improvement: 1 / (mean inertia * dofs)
  int conjugate;               // 1: conjugate gradients instead of Newton steps
  bool cold;                   // Gauss-Seidel starts from zero forces, not from those at `a`
  const tbReal* a_smooth;      // by dof
  const tbSoftBlock* block;
  const int* order;    // nblock: the order of the blocks in Gauss-Seidel and noslip sweeps
  const tbReal* aref;  // nrow
  const tbReal* D;     // nrow: inverse of the regularisation R
} tbSoftProblem;

typedef struct {
  int iterations;
  // Largest entry of M (a - a_smooth) - J^T f, relative to the largest force. If `still`: the size
  // of the last step relative to a - a_smooth; or that entry, if smaller relative to the forces
  // that cancel in it or in m/s^2.
  tbReal gradient;
  int converged;
  int still;  // 1: a is accurate, but forces are at rounding level; use M (a - a_smooth) for J^T f
} tbSoftInfo;

// Newton with an exact line search. `a` holds the first guess on entry and the solution on return,
// `force` (nrow) receives the constraint forces. Stops when the relative gradient is below `tol`.
tbResult tb_soft_newton(const tbSoftProblem* problem, tbReal tol, int max_iter, tbArena* arena,
                        tbReal* a, tbReal* force, tbSoftInfo* info);

// The preconditioner of conjugate gradients: the factor of M + J^T W J at residuals r, restricted
// to the entries of M. `JW` is scratch for the rows of the largest block. False if it is not
// positive definite.
bool tb_soft_precondition(const tbSoftProblem* problem, const tbReal* r, tbReal* JW, tbReal* LD,
                          tbReal* inverse);

// MuJoCo's projected Gauss-Seidel over the forces; stops when a sweep lowers the scaled cost by
// less than `tol`. As tb_soft_newton, but info->gradient is that last improvement.
tbResult tb_soft_pgs(const tbSoftProblem* problem, tbReal tol, int max_iter, tbArena* arena,
                     tbReal* a, tbReal* force, tbSoftInfo* info);

// MuJoCo's noslip pass over solved forces: solves dry friction and contact friction again, without
// regularisation, with fixed normal forces. Updates `force` and `a`.
tbResult tb_soft_noslip(const tbSoftProblem* problem, tbReal tol, int max_iter, tbArena* arena,
                        tbReal* a, tbReal* force);

// Cost of a block at residual r = J a - aref (dim entries); `force` receives its force, and `W`,
// unless NULL, the second derivative (dim x dim, row-major).
tbReal tb_soft_block(const tbSoftBlock* block, const tbReal* D, const tbReal* r, tbReal* force,
                     tbReal* W);

#endif
