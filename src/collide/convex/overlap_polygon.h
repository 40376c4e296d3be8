// Overlap polygon of two facing features: their intersection, projected along the normal into one
// plane (docs/notebook/gjk.md eq. 13-14). The construction is symmetric in a and b.
#ifndef TRIBO_COLLIDE_CONVEX_OVERLAP_POLYGON_H_
#define TRIBO_COLLIDE_CONVEX_OVERLAP_POLYGON_H_

#include "collide/manifold.h"
#include "collide/convex/feature_facing.h"

// A facing feature in the plane: corners (u, v), and their heights above the plane along the
// normal.
typedef struct {
  const tbFacingFeature* facing;
  tbReal u[TB_FACING_MAX], v[TB_FACING_MAX], h[TB_FACING_MAX];
  tbReal slope[3];  // height of the feature's plane: slope[0] u + slope[1] v + slope[2]
  // A disc: centre, its two arms in the plane (an ellipse if it is tilted), and the inverse, a map
  // to the unit circle.
  tbReal cu, cv, radius, arm[2][2], inverse[4];
  int ccw;  // corners run counter-clockwise in (u, v)
} tbFlatFeature;

typedef struct {
  tbReal origin[3];
  tbReal e1[3], e2[3];  // x = origin + u e1 + v e2 + h n
  tbReal n[3], m[3];    // e1 and e2 are perpendicular to m, which may differ from n
  tbReal cosine;        // m.n
  int slanted;          // m differs from n
  tbReal tolerance;     // lengths below this are rounding
  tbReal touching;      // of touching shapes: contacts closer than this are merged; else 0
  tbReal least;         // s(n)
  int terrain;          // no contact outside the overlap polygon
  tbFlatFeature a, b;
  // Contacts: position in the plane, heights on a and on b, identity.
  tbManifoldPoint point[TB_MANIFOLD_MAX];
  tbReal ha[TB_MANIFOLD_MAX], hb[TB_MANIFOLD_MAX];
  uint32_t feature[TB_MANIFOLD_MAX];
  int count;
} tbOverlapPolygon;

// The overlap polygon of two facing features around the pair's witness points, with a contact at
// every corner; empty if one of them is a point. `terrain`: no contact outside the overlap.
void tb_overlap_polygon_find(tbOverlapPolygon* region, const tbConvexPair* pair,
                             const tbConvexResult* result, const tbFacingFeature* a,
                             const tbFacingFeature* b, int terrain);

// Coordinates of a point: x = origin + u e1 + v e2 + h n.
void tb_overlap_polygon_project(const tbOverlapPolygon* region, const tbReal x[3], tbReal* u,
                                tbReal* v, tbReal* h);

// Adds a contact at (u, v) between the heights of a and b, if there is room.
void tb_overlap_polygon_add(tbOverlapPolygon* region, tbReal u, tbReal v, tbReal ha, tbReal hb,
                            uint32_t feature);

#endif
