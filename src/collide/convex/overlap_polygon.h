// The contact region of two patches: their intersection, projected along the normal into one plane
// (docs/gjk.md eq. 13-14). The construction is symmetric in a and b.
#ifndef TRIBO_COLLIDE_CONVEX_OVERLAP_POLYGON_H_
#define TRIBO_COLLIDE_CONVEX_OVERLAP_POLYGON_H_

#include "collide/manifold.h"
#include "collide/convex/feature_facing.h"

// A patch in the plane: corners (u, v) and the height above the plane along the normal.
typedef struct {
  const tbFacingFeature* patch;
  tbReal u[TB_PATCH_MAX], v[TB_PATCH_MAX], h[TB_PATCH_MAX];
  tbReal slope[3];  // height of the patch's plane: slope[0] u + slope[1] v + slope[2]
  // A disc: centre, its two arms in the plane (an ellipse where it leans), and the inverse map that
  // takes it to the unit circle.
  tbReal cu, cv, radius, arm[2][2], inverse[4];
  int ccw;  // corners run counter-clockwise in (u, v)
} tbFlatPatch;

typedef struct {
  tbReal origin[3];
  tbReal e1[3], e2[3];  // x = origin + u e1 + v e2 + h n
  tbReal n[3], m[3];    // e1 and e2 are perpendicular to m, which may lean against n
  tbReal lean;          // m.n
  int slanted;          // m is not n
  tbReal tolerance;     // lengths below this are rounding
  tbReal touching;      // of shapes that touch: what is closer is at one place; otherwise 0
  tbReal least;         // s(n)
  int terrain;          // nothing beyond the region where the patches meet
  tbFlatPatch a, b;
  // Contacts: places, heights on a and on b, what meets there.
  tbManifoldPoint point[TB_MANIFOLD_MAX];
  tbReal ha[TB_MANIFOLD_MAX], hb[TB_MANIFOLD_MAX];
  uint32_t feature[TB_MANIFOLD_MAX];
  int count;
} tbOverlapPolygon;

// The region of two patches of a pair around its witness points, with a contact at every corner;
// empty where one of them is a point. `terrain`: nothing beyond where the patches meet.
void tb_overlap_polygon_find(tbOverlapPolygon* region, const tbConvexPair* pair,
                             const tbConvexResult* result, const tbFacingFeature* a,
                             const tbFacingFeature* b, int terrain);

// Where a point lies: x = origin + u e1 + v e2 + h n.
void tb_overlap_polygon_project(const tbOverlapPolygon* region, const tbReal x[3], tbReal* u,
                                tbReal* v, tbReal* h);

// Add a contact at (u, v) between the heights of a and b, as long as there is room.
void tb_overlap_polygon_add(tbOverlapPolygon* region, tbReal u, tbReal v, tbReal ha, tbReal hb,
                            uint32_t feature);

#endif
