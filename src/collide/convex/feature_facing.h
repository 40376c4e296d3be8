// The facing feature of a core: the part that can be in contact with a shape that approaches
// against a direction. It is a point, a segment, a polygon or a disc (docs/notebook/gjk.md,
// "Manifolds").
#ifndef TRIBO_COLLIDE_CONVEX_FEATURE_FACING_H_
#define TRIBO_COLLIDE_CONVEX_FEATURE_FACING_H_

#include "collide/convex/convex.h"

// Identity of a contact: kind 0 the witness points, 1 a corner of a, 2 a corner of b, 3 an edge of
// each; with the indices of the corners or edges.
#define TB_FEATURE(kind, i, j) \
  ((uint32_t)(kind) << 30 | ((uint32_t)(i)&0x7fff) << 15 | ((uint32_t)(j)&0x7fff))

// Faces with more corners are thinned out evenly, except around the support vertex.
#define TB_FACING_MAX 64

typedef enum {
  TB_FACING_POINT,
  TB_FACING_SEGMENT,
  TB_FACING_POLYGON,
  TB_FACING_DISC
} tbFacingFeatureKind;

typedef struct {
  int kind;   // tbFacingFeatureKind
  int count;  // corners: 1, 2, those of the polygon, or 0 for a disc
  tbReal point[TB_FACING_MAX][3];
  int id[TB_FACING_MAX];  // vertices of the core; for a disc its side, 1 the upper
  tbReal normal[3];       // of a polygon or disc, outward
  tbReal center[3];       // of a disc; its two arms are radii at right angles, fixed to the body
  tbReal arm[2][3];
  tbReal curvature_radius;  // of a segment: radius of the core around it
} tbFacingFeature;

// The feature of a core that faces the unit vector d, in the core's frame.
void tb_feature_facing(tbCore* core, const tbReal d[3], tbFacingFeature* facing);

// Transforms the feature by x -> mat x + pos.
void tb_feature_facing_move(tbFacingFeature* facing, const tbReal mat[9], const tbReal pos[3]);

// For two separated polygons in one frame: adds contacts at corners of nearly parallel edges that
// are about as close as the closest points, each at least `apart` away from the existing contacts,
// up to four in all. `n` is the closest direction from a to b. Returns the new count.
int tb_parallel_edges(const tbFacingFeature* a, const tbFacingFeature* b, const tbReal n[3],
                      tbReal apart, tbReal margin, tbContactPoint* contacts, int count);

#endif
