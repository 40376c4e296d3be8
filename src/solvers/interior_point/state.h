// What interior points in velocity space keep (active_interior.c), and the operations on it that
// are by row. Cones of three rows are held by fours (cone_four.h), all other blocks one by one:
// what is by row is theirs, but for lambda, sigma and S, and for the first point.
#ifndef TRIBO_SOLVERS_INTERIOR_POINT_STATE_H_
#define TRIBO_SOLVERS_INTERIOR_POINT_STATE_H_

#include "solvers/active_set/active_set.h"
#include "solvers/interior_point/cones_simd.h"
#include "solvers/interior_point/lorentz.h"

typedef struct {
  const tbActive* a;
  const tbProblem* p;
  bool shifted;  // the law is the exact one, with De Saxcé's shift
  tbConeSimd* four;
  int *contact, nfour, ncontact;            // the blocks of all fours, one after the other
  tbReal* rows;                             // three numbers of each
  int *other, nother;                       // blocks one by one
  tbReal unit;                              // lambda = unit S x, velocity = unit S^-1 z
  tbReal *S, *x, *z, *r, *dx, *dz, *c, *b;  // by row
  tbReal *ax, *az;                          // the affine step
  tbReal* jv;                               // J dv of the last direction
  tbReal *low, *high, *zlow, *zhigh;        // boxes: bounds of x, multipliers
  tbReal *dlow, *dhigh;                     // their steps
  tbReal *lambda, *sigma;                   // of x, as they are outside
  tbReal* K;                                // C^-1: TB_MAX_BLOCK_DIM squared per block
  tbReal* dv;                               // by place
  tbLorentz* scaling;                       // per block
  tbReal* theta;                            // per block: weight of the shift in E
  int pairs;
  tbReal infeasible;  // the largest entry of r
  bool eased;         // theta is below 1 somewhere
  bool stands;        // the last step made no progress: a gentle one may
} tbInteriorState;

// ---- interior_start.c --------------------------------------------------------------------------

// The point of the central path near `lambda` and its velocity `sigma`, with products `mu` times
// the largest load, of all blocks by row. `state` has the problem only. False: out of memory.
bool tb_interior_start(tbInteriorState* state, tbArena* arena, tbReal mu, const tbReal* lambda,
                       const tbReal* sigma);

// ---- interior_blocks.c: the blocks one by one --------------------------------------------------

// lambda of x.
void tb_interior_impulses(tbInteriorState* state);

// r out of sigma, its largest entry into `infeasible`; their products added to `sum`.
tbReal tb_interior_residual(tbInteriorState* state, tbReal sum);

// C^-1, and their parts of the matrix.
void tb_interior_add(tbInteriorState* state);

// c for products `target`, less the second-order term of the affine step if `correct`.
void tb_interior_target(tbInteriorState* state, tbReal target, bool correct);

// b = E c - r, and its impulse onto dv.
void tb_interior_push(tbInteriorState* state);

// The step for dv: dx = C^-1 (b - S J dv) and dz; into ax and az if `affine`.
void tb_interior_solve(tbInteriorState* state, tbReal target, bool affine);

// The least of `a` and the largest step that keeps x and z inside; of the affine one if `affine`.
tbReal tb_interior_length(const tbInteriorState* state, bool affine, tbReal a);

// Their products after an affine step of length a, added to `sum`.
tbReal tb_interior_complementarity(const tbInteriorState* state, tbReal a, tbReal sum);

// Lengths along the central path of the affine step a and of t, the other step less the affine one:
// a . a, a . t, t . t of cones and one-sided rows (as tb_cone_simd_lengths), added to `product`.
void tb_interior_lengths(const tbInteriorState* state, tbReal product[3]);

// Go a step of length a; velocities come along.
void tb_interior_go(tbInteriorState* state, tbReal a);

// A compliance by row added to the inverse K of a matrix: K <- (K^-1 + R)^-1.
void tb_interior_comply(int dim, const tbReal* R, tbReal* K);

#endif
