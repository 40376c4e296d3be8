// The feature of a core that supports the normal during the ascent (normal_ascent.c): a vertex, an
// edge, a face, or a smooth piece; and the place along a step of the direction where another
// feature takes over.
#ifndef TRIBO_COLLIDE_CONVEX_FEATURE_H_
#define TRIBO_COLLIDE_CONVEX_FEATURE_H_

#include "collide/convex/convex.h"

typedef enum {
  TB_FEATURE_VERTEX,
  TB_FEATURE_EDGE,       // from vert[0] to vert[1]
  TB_FEATURE_FACE,       // through vert[0..2]
  TB_FEATURE_ELLIPSOID,  // the whole surface
  TB_FEATURE_RIM,        // of a cylinder; vert[0] is 1 for the upper one
  TB_FEATURE_SIDE,       // line along the axis, in the direction d
  TB_FEATURE_CAP,
} tbFeatureKind;

// In the core's frame.
typedef struct {
  int kind;
  int vert[3];
  tbReal point[3];   // vert[0]; for smooth pieces the support point of the last direction
  tbReal edge[3];    // along the edge or side, from end to end
  tbReal normal[3];  // of a face or cap
} tbFeature;

// The point where a step from d to d + t dd (0 <= t <= 1) meets the border of a feature.
typedef struct {
  tbReal t;
  int which;   // 0: shape a, 1: shape b
  int vert;    // the next vertex; for a cylinder 0: the side, 1: the cap
  int origin;  // the vertex of the feature that `vert` is a neighbour of
} tbFeatureBorder;

// The feature of a core with support direction d.
void tb_feature_at(tbCore* core, const tbReal d[3], tbFeature* feature);

// Support point of the feature along the unit vector d, and second derivatives of its support
// function along the tangents t1, t2: q = (q11, q12, q22). False if it is not differentiable there.
bool tb_feature_support(const tbCore* core, tbFeature* feature, const tbReal d[3],
                        const tbReal t1[3], const tbReal t2[3], tbReal q[3]);

// Lowers border->t to the end of this feature on the way from d along dd.
void tb_feature_border(const tbCore* core, const tbFeature* feature, int which, const tbReal d[3],
                       const tbReal dd[3], tbFeatureBorder* border);

// `next` gives the vertex (or the other rim) beyond a border, `holds` the feature on the border.
void tb_feature_next(const tbCore* core, const tbFeature* feature, const tbFeatureBorder* border,
                     tbFeature* beyond);
bool tb_feature_on_border(const tbCore* core, const tbFeatureBorder* border, const tbReal d[3],
                          tbFeature* feature);

// Replaces an edge (side) by the vertex (rim) at one of its ends: end 0 or 1.
void tb_feature_release_edge(const tbCore* core, int end, tbFeature* feature);

// Whether x, a point in the plane of the face or cap, is inside it up to `slack`. If not, the
// feature becomes the edge (rim) beyond which x lies.
bool tb_feature_in_face(const tbCore* core, const tbReal x[3], tbReal slack, tbFeature* feature);

// Whether the segment p to p + e lies partly over the face or cap. `middle` is a point where it
// does, as a fraction of e.
bool tb_feature_over_face(const tbCore* core, const tbFeature* feature, const tbReal p[3],
                          const tbReal e[3], tbReal* middle);

// Extent of a feature around its point x (docs/notebook/gjk.md eq. 11): flat by `inset` in all
// directions, round with the radius `ball` in all directions, and along the given unit vectors in
// the core's frame flat or round by `extent`.
typedef struct {
  tbReal inset, ball;
  int count;
  bool round[2];
  tbReal extent[2];
  tbReal direction[2][3];
} tbFeatureExtent;
void tb_feature_extent(const tbCore* core, const tbFeature* feature, const tbReal x[3],
                       tbFeatureExtent* width);

// Depths that the extent `w` guarantees in all directions within an angle (its cosine) of the
// normal, as a matrix (docs/notebook/gjk.md eq. 12): flat extents count by 1/tan(angle/2), round
// ones by cos(angle/2)^2 / |m x z|, where the tilt of m from the axis z is at most that of the
// normal plus the angle.
static inline void tb_extent_within(const tbExtent* w, tbReal cosine, tbReal m[3]) {
  tbReal rest = 1 - cosine > 1e-300 ? 1 - cosine : 1e-300, sine2 = (1 + cosine) * rest;
  tbReal flat = sqrt((1 + cosine) / rest), sine = sqrt(sine2);
  for (int i = 0; i < 3; i++) m[i] = flat * w->flat[i];
  for (int k = 0; k < 2; k++) {
    tbReal tilt = w->tilt[k], other = sqrt(1 - tilt * tilt);
    // Beyond a right angle to the axis the sine would decrease again.
    tbReal most = tilt < cosine ? tilt * cosine + other * sine : 1;
    tbReal round = 0.5 * (1 + cosine) / most;
    for (int i = 0; i < 3; i++) m[i] += round * w->round[k][i];
  }
}

// A ball inside the core, close to its surface point x: centre and radius.
tbReal tb_feature_ball(const tbCore* core, const tbReal x[3], tbReal center[3]);

#endif
