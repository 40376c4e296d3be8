// The interior-point method on friction cones of three rows, four contacts at a time: each number
// of a contact is stored next to the same number of three others, so that loops over the four
// contacts become single SIMD operations. The equations are those of lorentz.h and
// velocity_space.c.
#ifndef TRIBO_SOLVERS_INTERIOR_POINT_CONES_SIMD_H_
#define TRIBO_SOLVERS_INTERIOR_POINT_CONES_SIMD_H_

#include <stdbool.h>

#include "tribo/problem.h"

enum { TB_CONE_ROWS = 3, TB_CONE_LANES = 4 };

// Rows of four contacts.
typedef tbReal tbFourRows[TB_CONE_ROWS][TB_CONE_LANES];

// Four contacts; in the last, incomplete group copies of the first contact fill the free lanes.
typedef struct {
  tbFourRows S, R;        // lambda = unit S x; compliance of x
  tbFourRows x, z, v, r;  // impulse and multiplier, the velocity S sigma / unit, v + |z_T| e - z
  tbFourRows c, b;        // right-hand sides
  tbFourRows dx, dz;      // the step,
  tbFourRows ax, az;      // the affine step
  tbFourRows jv;          // J dv of the last direction
  tbFourRows f;           // S K b, the impulse of a right-hand side
  tbFourRows w, point;    // Nesterov-Todd scaling, and the scaled point
  tbReal eta[TB_CONE_LANES], theta[TB_CONE_LANES];
  tbReal slip[2][TB_CONE_LANES];                         // theta z_T / |z_T|
  tbReal K[TB_CONE_ROWS * TB_CONE_ROWS][TB_CONE_LANES];  // C^-1, by row
  int block[TB_CONE_LANES], row[TB_CONE_LANES];
  int used;                 // contacts in use
  bool tangent_compliance;  // some contact has compliance along its tangents
} tbConeSimd;

// Compute the scaling and K = (E H + R)^-1, with the compliance of normals only.
void tb_cone_simd_scale(tbConeSimd* four, int count);

// c for complementarity `target`, minus the second-order term of the affine step if `correct`.
void tb_cone_simd_target(tbConeSimd* four, int count, tbReal target, bool correct);

// b = E c - r and f = S K b.
void tb_cone_simd_right(tbConeSimd* four, int count);

// The step for jv: dx = K (b - S jv), E dz = r + S jv + R dx; into ax and az if `affine`.
void tb_cone_simd_solve(tbConeSimd* four, int count, bool affine);

// The minimum of `a` and the largest step that keeps x and z inside; the affine step if `affine`.
tbReal tb_cone_simd_length(tbConeSimd* four, int count, bool affine, tbReal a);

// x . z summed over all contacts after an affine step of length a; tb_cone_simd_residual returns it
// for the present point, and computes r of the shifted velocity (`shifted`: under the exact law)
// and its largest entry.
tbReal tb_cone_simd_complementarity(const tbConeSimd* four, int count, tbReal a);
tbReal tb_cone_simd_residual(tbConeSimd* four, int count, bool shifted, tbReal* largest);

// Scalar products along the central path, dx . H dx + dz . H^-1 dz summed over all contacts, of the
// affine step a and of t, the other step minus the affine one: a . a, a . t, t . t.
void tb_cone_simd_lengths(const tbConeSimd* four, int count, tbReal product[3]);

// Take a step of length a.
void tb_cone_simd_go(tbConeSimd* four, int count, tbReal a);

#endif
