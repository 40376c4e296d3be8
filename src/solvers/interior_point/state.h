// State of the interior-point method in velocity space (velocity_space.c), and its operations on
// single blocks. Cones of three rows are held in SIMD groups of four (cones_simd.h), all other
// blocks one by one. The vectors by row belong to these other blocks, except for lambda, sigma and
// S, and for the first point.
#ifndef TRIBO_SOLVERS_INTERIOR_POINT_STATE_H_
#define TRIBO_SOLVERS_INTERIOR_POINT_STATE_H_

#include "solvers/active_set/active_set.h"
#include "solvers/interior_point/cones_simd.h"
#include "solvers/interior_point/lorentz.h"

typedef struct {
  const tbActive* a;
  const tbProblem* p;
  bool shifted;  // the exact law, with De Saxcé's shift
  tbConeSimd* four;
  int *contact, nfour, ncontact;  // blocks of the contacts in all groups, one after the other
  tbReal* rows;                   // scratch: three rows of each contact
  int *other, nother;             // blocks handled one by one
  tbReal unit;                    // lambda = unit S x, velocity = unit S^-1 z
  tbReal *S, *x, *z, *r, *dx, *dz, *c, *b;  // by row
  tbReal *ax, *az;                          // the affine step
  tbReal* jv;                               // J dv of the last direction
  tbReal *low, *high, *zlow, *zhigh;        // boxes: bounds of x, multipliers
  tbReal *dlow, *dhigh;                     // their steps
  tbReal *lambda, *sigma;                   // lambda of x, and its velocity
  tbReal* K;                                // C^-1: TB_MAX_BLOCK_DIM squared per block
  tbReal* dv;                               // by index in the system
  tbLorentz* scaling;                       // per block
  tbReal* theta;                            // per block: weight of the shift in E
  int pairs;
  tbReal infeasible;  // the largest entry of r
  bool weakened;      // some theta is below 1
  bool try_mild;      // the last step made no progress: a mild step may help
} tbInteriorState;

// ---- start.c -----------------------------------------------------------------------------------

// Set the first point for all blocks, by row: the point of the central path near `lambda` and its
// velocity `sigma`, with complementarity `mu` times the largest load. On entry only the problem of
// `state` is set. False: out of memory.
bool tb_interior_start(tbInteriorState* state, tbArena* arena, tbReal mu, const tbReal* lambda,
                       const tbReal* sigma);

// ---- blocks.c: the blocks handled one by one ---------------------------------------------------

// lambda of x.
void tb_interior_impulses(tbInteriorState* state);

// Compute r from sigma; updates `infeasible`. Returns `sum` plus the complementarity of these
// blocks.
tbReal tb_interior_residual(tbInteriorState* state, tbReal sum);

// Compute C^-1 and add these blocks to the matrix.
void tb_interior_add(tbInteriorState* state);

// c for complementarity `target`, minus the second-order term of the affine step if `correct`.
void tb_interior_target(tbInteriorState* state, tbReal target, bool correct);

// b = E c - r; adds its impulse to dv.
void tb_interior_push(tbInteriorState* state);

// The step for dv: dx = C^-1 (b - S J dv) and dz; into ax and az if `affine`.
void tb_interior_solve(tbInteriorState* state, tbReal target, bool affine);

// The minimum of `a` and the largest step that keeps x and z inside; the affine step if `affine`.
tbReal tb_interior_length(const tbInteriorState* state, bool affine, tbReal a);

// Returns `sum` plus the complementarity of these blocks after an affine step of length a.
tbReal tb_interior_complementarity(const tbInteriorState* state, tbReal a, tbReal sum);

// Scalar products along the central path of the affine step a and of t, the other step minus the
// affine one: adds a . a, a . t, t . t of cones and one-sided rows to `product` (as
// tb_cone_simd_lengths).
void tb_interior_lengths(const tbInteriorState* state, tbReal product[3]);

// Take a step of length a; also updates velocities.
void tb_interior_go(tbInteriorState* state, tbReal a);

// Add a compliance by row to a matrix with inverse K: K <- (K^-1 + R)^-1.
void tb_interior_comply(int dim, const tbReal* R, tbReal* K);

#endif
