// Representation of two convex shapes for GJK, EPA and the manifold, in the frame of shape a.
//
// A shape is a core plus a ball of `radius` around every point of it: a sphere is a point, a
// capsule a segment. Distances of the cores are exact distances of the shapes after subtracting the
// radii, so round shapes cost GJK one or two iterations and are never approximated by facets.
//
// All algorithms use the separation along a unit vector n from a to b (docs/notebook/gjk.md eq. 1):
// s(n) = min_b n.y - max_a n.x. The signed distance is the maximum of s over all n. So every n
// gives a lower bound, and a translation by -s(n) along the returned n always separates the shapes.
#ifndef TRIBO_COLLIDE_CONVEX_CONVEX_H_
#define TRIBO_COLLIDE_CONVEX_CONVEX_H_

#include "collide/hull/hull.h"
#include "collide/pairs.h"

typedef enum {
  TB_CORE_POINT,
  TB_CORE_SEGMENT,  // along z, half length size[2]
  TB_CORE_BOX,
  TB_CORE_HULL,
  TB_CORE_PRISM,  // six vertices: triangle 0 1 2 on top (counter-clockwise), 3 4 5 below them
  TB_CORE_ELLIPSOID,
  TB_CORE_CYLINDER,
} tbCoreKind;

typedef struct {
  int kind;
  int hint;   // last support vertex of a hull
  int known;  // a vertex of a hull that supports the final normal, or -1
  tbReal size[3];
  tbReal radius;
  const tbHull* hull;
  const tbReal* prism;  // 6 x 3
} tbCore;

// Point x of b's frame is at mat x + pos in a's frame.
typedef struct {
  tbCore a, b;
  tbReal pos[3];
  tbReal mat[9];
  tbReal scale;       // reference length for rounding errors
  int polyhedral;     // all faces of both cores are flat: GJK and EPA terminate exactly
  int evaluations;    // number of support points computed
  tbReal touching;    // touching cores: contacts closer than this are merged; else 0
  tbReal early_stop;  // GJK may stop if the cores are apart by more than this and within the limit
} tbConvexPair;

// A point of the Minkowski difference b - a: w = b - a, with the vertices it came from (for a
// cylinder 1 top, 0 bottom).
typedef struct {
  tbReal w[3];
  tbReal a[3];
  tbReal b[3];
  int ia, ib;
} tbSupportPoint;

typedef enum {
  TB_CONVEX_APART,    // separated by more than the limit
  TB_CONVEX_NEAR,     // separated, and the distance is known
  TB_CONVEX_OVERLAP,  // cores overlap (or touch to rounding)
} tbConvexState;

// Second-order extent of the surface of b - a around witness points: 2 x 2 matrices (11, 12, 22) in
// the tangents of tb_frame_from_normal for the flat and the round parts (around the axis of a and
// of b; `tilt` is the sine of the normal's tilt from it), and the radius of a ball
// (docs/notebook/gjk.md eq. 11).
typedef struct {
  tbReal flat[3], round[2][3], tilt[2], ball;
} tbExtent;

// The result for a pair of cores: normal from a to b and witness points in a's frame.
typedef struct {
  int state;          // tbConvexState
  tbReal normal[3];   // unit
  tbReal dist;        // s(normal) of the cores
  tbReal point_a[3];  // on the core of a
  tbReal point_b[3];  // on the core of b: point_a + dist normal up to the tolerance
  tbSupportPoint simplex[4];
  tbReal weight[4];       // of the simplex points in the witness, when separated
  int count;              // points of the simplex
  tbReal certified_cone;  // of a local optimum: no direction within this angle (cosine) is better
  tbExtent width;         // of an optimum not known to be global
  int certified;          // a proven local optimum: exact to rounding
  int capped;             // the iteration limit was reached: dist is the best bound found
} tbConvexResult;

// Fill a pair from two placed shapes.
void tb_convex_pair_init(tbConvexPair* pair, const tbShape* a, const tbShape* b);

// As above with a as a prism in the frame of shape a: six vertices that may change between solves.
void tb_convex_pair_init_prism(tbConvexPair* pair, const tbShape* a, const tbShape* b,
                               const tbReal prism[18]);

// The point of a core farthest along d (in its frame, any length); returns the index of its vertex.
int tb_core_support(tbCore* core, const tbReal d[3], tbReal point[3]);

// Depth of a point (in the core's frame) inside the shape, that is the core plus its radius;
// negative outside. For an ellipsoid the value is a lower bound, and outside only its sign is
// meaningful.
tbReal tb_core_depth(const tbCore* core, const tbReal x[3]);

// Support point of b - a along -n, so that s(n) = n.w for unit n.
void tb_pair_support(tbConvexPair* pair, const tbReal n[3], tbSupportPoint* out);

// GJK: distance of the cores. Ends with state APART as soon as s(n) > limit for some n, and with
// state NEAR and mere bounds where pair->early_stop allows. `normal` of the result holds the
// initial direction. `tolerance` is the gap between the bounds at which GJK stops, relative to the
// distance, or to ten times the size of the pair. Unless `patient`, cores that are separated by
// very little are reported as overlapping, since EPA is faster there and detects the separation.
void tb_gjk(tbConvexPair* pair, tbReal limit, tbReal tolerance, int patient,
            tbConvexResult* result);

// The same with `patient` set, from the simplex in `result`: any 1 to 4 points of b - a. `dist` is
// s along `normal`, or -INFINITY.
void tb_gjk_from(tbConvexPair* pair, tbReal limit, tbReal tolerance, tbConvexResult* result);

// The same for two polytopes in a new pose, from the vertices (ia, ib) of the simplex in `result`:
// any 1 to 4 points. False if a core has no such vertices.
bool tb_gjk_again(tbConvexPair* pair, tbReal limit, tbReal tolerance, tbConvexResult* result);

// EPA: penetration of overlapping cores, from GJK's simplex. Stops when the upper and lower bound
// of the depth differ by less than tolerance * scale.
void tb_epa(tbConvexPair* pair, tbReal tolerance, tbConvexResult* result);

// The same for two solid polytopes, from the normal of `result` alone, optimized for speed. False
// if it fails: then normal and dist are the best direction found. If these prove that the cores are
// separated, the simplex holds the last points of the search.
bool tb_depth(tbConvexPair* pair, tbConvexResult* result);

// Last step of the next three functions: sets the state from dist; true if the result is final.
static inline bool tb_depth_answers(tbConvexResult* result, tbReal limit) {
  result->state = result->dist > 0 ? TB_CONVEX_APART : TB_CONVEX_OVERLAP;
  return result->dist <= 0 || result->dist > limit;
}

// A cylinder (a) and a box (b): their depth, or a proof that they are separated by more than the
// limit. False if they are separated by less: `normal` then separates them.
bool tb_depth_cylinder_box(const tbConvexPair* pair, tbReal limit, tbConvexResult* result);

// The same for a cylinder (a) and a hull (b) within the size limits that `fits` tests.
bool tb_depth_cylinder_hull_fits(const tbHull* hull);
bool tb_depth_cylinder_hull(tbConvexPair* pair, tbReal limit, tbConvexResult* result);

// The same for a box (a) and a hull (b) within the size limits that `fits` tests.
bool tb_depth_box_hull_fits(const tbHull* hull);
bool tb_depth_box_hull(tbConvexPair* pair, tbReal limit, tbConvexResult* result);

// Ascent from the normal of `result` to a local maximum of s(n), with changing features.
typedef enum {
  TB_ASCENT_OPEN,    // nothing proven; normal and dist are the better of before and after
  TB_ASCENT_APART,   // s(normal) > limit
  TB_ASCENT_LOCAL,   // normal, dist and witness points of a local maximum, exact to rounding
  TB_ASCENT_GLOBAL,  // the same, and it is the signed distance of the cores
} tbAscent;
tbAscent tb_normal_ascent(tbConvexPair* pair, tbReal limit, tbConvexResult* result);

// A good initial normal for the ascent of two cylinders, in closed form; the search stops at the
// first that separates them by more than the limit. False if the axes are parallel.
bool tb_cylinder_start(const tbConvexPair* pair, tbReal limit, tbReal normal[3]);

// Decides whether the local optimum in `result`, with its certified_cone and width, is the depth of
// the cores: covers the sphere with triangles of directions in which the extent of b - a is proven
// to be as large.
typedef enum {
  TB_COVER_OPEN,    // nothing proven
  TB_COVER_BETTER,  // `normal` of the result is a direction with a larger s; the rest is unchanged
  TB_COVER_PROVEN,
} tbDepthCertificate;
tbDepthCertificate tb_depth_certificate(tbConvexPair* pair, tbConvexResult* result);

// The same for two cylinders, faster; OPEN if their axes are nearly parallel.
tbDepthCertificate tb_cylinder_certificate(const tbConvexPair* pair, tbConvexResult* result);

// Newton's method on s(n) with the features of the given support points fixed (docs/notebook/gjk.md
// eq. 6-9), from the normal and dist of `result`. If that raises dist, normal, dist and witness
// points are replaced. Returns 1 if the result is a certified local optimum: then dist is exact to
// rounding. `thorough` also tries the sub-features of these features.
int tb_normal_newton(tbConvexPair* pair, const tbSupportPoint* support, int count, int thorough,
                     tbConvexResult* result);

// Runs all of the above: normal, dist and witness points of the cores, to rounding where features
// are found, to the iterative tolerance elsewhere.
void tb_convex_solve(tbConvexPair* pair, tbReal limit, tbConvexResult* result);

// For shapes without a radius that only touch (degenerate separation), replaces the normal by that
// of the first face which separates them equally well; dist is unchanged. Sets pair->touching.
void tb_snap_normal(tbConvexPair* pair, tbConvexResult* result);

// Contacts of the pair around the solved normal, in a's frame, with radii subtracted from
// distances; only those with dist <= margin. Returns the count, at most TB_MAX_MANIFOLD.
int tb_convex_manifold(tbConvexPair* pair, const tbConvexResult* result, tbReal margin,
                       tbContactPoint* out);

// As above for one cell of a terrain: all corners of the overlap polygon of the features, up to
// TB_TERRAIN_MANIFOLD, and for overlapping shapes no contact outside that polygon.
#define TB_TERRAIN_MANIFOLD 32
int tb_convex_manifold_terrain(tbConvexPair* pair, const tbConvexResult* result, tbReal margin,
                               tbContactPoint* out);

// Separation s(n) of the cores, by exact support points.
static inline tbReal tb_pair_separation(tbConvexPair* pair, const tbReal n[3], tbSupportPoint* at) {
  tb_pair_support(pair, n, at);
  return tb_dot3(n, at->w);
}

static inline void tb_pair_b_to_a(const tbConvexPair* pair, const tbReal x[3], tbReal out[3]) {
  tb_mul_mat3_vec3(out, pair->mat, x);
  tb_add3(out, out, pair->pos);
}

#endif
