// The part of a core that can touch when something approaches along a direction: a point, a
// segment, a polygon or a disc (docs/gjk.md, "Manifolds").
#ifndef TRIBO_COLLIDE_CONVEX_FEATURE_FACING_H_
#define TRIBO_COLLIDE_CONVEX_FEATURE_FACING_H_

#include "collide/convex/convex.h"

// Which features meet: 0 the witness points, 1 a corner of a, 2 a corner of b, 3 an edge of each.
#define TB_FEATURE(kind, i, j) \
  ((uint32_t)(kind) << 30 | ((uint32_t)(i)&0x7fff) << 15 | ((uint32_t)(j)&0x7fff))

// Faces with more corners are thinned out evenly, but for those around the support vertex.
#define TB_PATCH_MAX 64

typedef enum {
  TB_PATCH_POINT,
  TB_PATCH_SEGMENT,
  TB_PATCH_POLYGON,
  TB_PATCH_DISC
} tbFacingFeatureKind;

typedef struct {
  int kind;   // tbFacingFeatureKind
  int count;  // corners: 1, 2, those of the polygon, or 0 for a disc
  tbReal point[TB_PATCH_MAX][3];
  int id[TB_PATCH_MAX];  // vertices of the core; of a disc which one it is, 1 the upper
  tbReal normal[3];      // of a polygon or disc, outward
  tbReal center[3];      // of a disc, with two radii at right angles that are fixed to the body
  tbReal arm[2][3];
  tbReal curvature_radius;  // of a segment: how round the core is across it
} tbFacingFeature;

// The patch of a core that looks along the unit vector d, in the core's frame.
void tb_feature_facing(tbCore* core, const tbReal d[3], tbFacingFeature* patch);

// x -> mat x + pos for all of it.
void tb_feature_facing_move(tbFacingFeature* patch, const tbReal mat[9], const tbReal pos[3]);

// Two polygons in one frame that are apart: corners of nearly parallel edges that are as near to
// each other as the closest points, at least a length of `apart` from the contacts there are, up to
// four in all. `n` is the closest direction from a to b. Returns the new count.
int tb_parallel_edges(const tbFacingFeature* a, const tbFacingFeature* b, const tbReal n[3],
                      tbReal apart, tbReal margin, tbContactPoint* contacts, int count);

#endif
