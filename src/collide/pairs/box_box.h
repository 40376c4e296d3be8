// Types and functions shared by the files of the box-box pair.
#ifndef TRIBO_COLLIDE_PAIRS_BOX_BOX_H_
#define TRIBO_COLLIDE_PAIRS_BOX_BOX_H_

#include "collide/pairs.h"

// Two boxes in the frame of the first.
typedef struct {
  tbReal R[9];  // b's axes as columns
  tbReal d[3];  // b's centre
  const tbReal *sa, *sb;
  tbReal tolerance;  // lengths below this are rounding
  tbReal touching;   // boxes closer than this touch; points this close to a corner coincide with it
  bool thin;         // a box has (nearly) zero thickness
  tbReal separation;   // along the best axis so far; negative: overlap
  int axis_code;       // 0-2 face of a, 3-5 face of b, 6 + 3 i + j edges i of a and j of b
  tbReal n[3];         // the best axis, from a to b
  int face_a, face_b;  // axes of the faces that face each other
  int side_a, side_b;  // which of the two faces along that axis: -1 or 1
} tbBoxPair;

// A corner of the overlap polygon, in a's frame, midway between the faces.
typedef struct {
  tbReal local[3];
  tbReal gap;
  uint32_t feature;
} tbBoxPoint;

#define TB_BOX_MAX_POINTS 14

// kind 0: corner of b; 1: corner of a; 2: edge of a and edge of b; 4: closest points of separated
// boxes, not at a corner. The identity does not depend on which faces were chosen.
#define TB_BOX_FEATURE(kind, first, second) \
  (((uint32_t)(kind) << 16) | ((uint32_t)(first) << 8) | (uint32_t)(second))

// Corner of a box: bit k is set if it is at the upper end of axis k. An edge is identified by its
// axis and the corner at its lower end.
static inline int tb_box_edge(int axis, int corner) {
  return axis << 3 | (corner & ~(1 << axis));
}

// Corners of the overlap of the two faces with gap <= margin; at most TB_BOX_MAX_POINTS - 1.
int tb_box_box_clip(const tbBoxPair* p, tbReal margin, tbBoxPoint* points);

// Closest points of two boxes that do not overlap, by exhaustive comparison of features, and the
// ends of parallel edges: at most four contacts.
int tb_box_box_apart(const tbBoxPair* p, const tbShape* a, tbReal margin, tbContactPoint* out);

#endif
