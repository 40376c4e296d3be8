// Random shapes in random poses, and an independent measure of distance: support functions.
#ifndef TRIBO_TEST_SHAPES_H_
#define TRIBO_TEST_SHAPES_H_

#include "common/test.h"
#include "spatial/vec3.h"
#include "tribo/collide.h"

// How a random pair is placed.
typedef enum {
  TB_TEST_FREE,      // anywhere near each other
  TB_TEST_SHALLOW,   // moved to overlap or miss by little
  TB_TEST_TOUCHING,  // moved to touch
  TB_TEST_ALIGNED,   // axes along the world's, sizes often equal: faces and edges parallel
  TB_TEST_NEARLY,    // as aligned, then turned by a tiny angle
  TB_TEST_NPLACEMENTS
} tbTestPlacement;

// A box, a prism and a rough ball as hulls; data lives as long as the program. For mesh shapes.
const tbHull* tb_test_hull(int which);
#define TB_TEST_NHULLS 3

void tb_test_random_rotation(tbRng* rng, tbReal mat[9]);
void tb_test_random_direction(tbRng* rng, tbReal d[3]);

// Turn a shape about an axis of the world (a unit vector) through its centre.
void tb_test_turn(tbShape* s, const tbReal axis[3], tbReal angle);

// A shape of the given type with sizes log-uniform in [0.05, 1], at the origin, turned at random.
tbShape tb_test_random_shape(tbRng* rng, int type);

// A pair of the given types, placed.
void tb_test_random_pair(tbRng* rng, int type_a, int type_b, tbTestPlacement placement, tbShape* a,
                         tbShape* b);

// Largest extent of the shape from its centre (1 for planes).
tbReal tb_test_size(const tbShape* s);

// max of d.x over the shape (INFINITY for a plane along anything but its normal).
tbReal tb_test_support(const tbShape* s, const tbReal d[3]);

// Separation of b from a along the unit vector d: the signed distance is the largest over all d.
tbReal tb_test_separation(const tbShape* a, const tbShape* b, const tbReal d[3]);

// How far x is outside the shape in the sense of its defining inequalities (<= 0 inside), in metres
// up to a factor of the order of one.
tbReal tb_test_outside(const tbShape* s, const tbReal x[3]);

// Everything the contract of tribo/collide.h says about the pair, with `tolerance` relative to the
// sizes. Fails the test with the pair printed.
void tb_test_contract(tbRng* rng, const tbShape* a, const tbShape* b, tbReal margin,
                      tbReal tolerance);

#endif
