// Two convex shapes as GJK, EPA and the manifold see them, in the frame of shape a.
//
// A shape is a core plus a ball of `radius` around every point of it: a sphere is a point, a
// capsule a segment. Distances of the cores are exact distances of the shapes after subtracting the
// radii, so round shapes cost GJK one or two iterations and are never approximated by facets.
//
// Everything is said in terms of the separation along a unit vector n from a to b (docs/gjk.md
// eq. 1): s(n) = min_b n.y - max_a n.x. The signed distance is the largest s over all n. So every n
// gives a lower bound, and the n that is returned always separates the shapes by exactly -s(n).
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
  tbReal scale;     // a length that rounding errors are relative to
  int polyhedral;   // both cores have flat faces only: GJK and EPA end exactly
  int evaluations;  // support points asked for
  tbReal touching;  // of cores that touch and no more: what is closer is at one place; otherwise 0
  tbReal enough;    // GJK may stop where cores are apart by more than this and within the limit
} tbConvexPair;

// A point of b minus a: w = b - a, with the vertices it came from (for a cylinder 1 top, 0 bottom).
typedef struct {
  tbReal w[3];
  tbReal a[3];
  tbReal b[3];
  int ia, ib;
} tbSupportPoint;

typedef enum {
  TB_CONVEX_APART,    // separated by more than the limit asked for
  TB_CONVEX_NEAR,     // separated, distance found
  TB_CONVEX_OVERLAP,  // cores overlap (or touch to rounding)
} tbConvexState;

// How the surface of b - a extends around witness points: 2 x 2 matrices (11, 12, 22) in the
// tangents of tb_frame_from_normal for what is flat and what is round (around the axis of a and of
// b, from which the normal leans by the sine `lean`), and the radius of a ball (docs/gjk.md eq.
// 11).
typedef struct {
  tbReal flat[3], round[2][3], lean[2], ball;
} tbWidth;

// The answer for a pair of cores: normal from a to b and witness points in a's frame.
typedef struct {
  int state;          // tbConvexState
  tbReal normal[3];   // unit
  tbReal dist;        // s(normal) of the cores
  tbReal point_a[3];  // on the core of a
  tbReal point_b[3];  // on the core of b: point_a + dist normal up to the tolerance
  tbSupportPoint simplex[4];
  tbReal weight[4];  // of the simplex points in the witness, when separated
  int count;         // points of the simplex
  tbReal basin;      // of a local optimum, cosine: no direction nearer to the normal is better
  tbWidth width;     // of an optimum that is not known to be global
  int certified;     // a proven local optimum: exact to rounding
  int capped;        // an iteration limit was hit: dist is the best bound found
} tbConvexResult;

// Fill a pair from two placed shapes.
void tb_convex_pair_init(tbConvexPair* pair, const tbShape* a, const tbShape* b);

// As above with a as a prism in the frame of shape a: six vertices that may change between solves.
void tb_convex_pair_init_prism(tbConvexPair* pair, const tbShape* a, const tbShape* b,
                               const tbReal prism[18]);

// The point of a core farthest along d (in its frame, any length); returns its vertex.
int tb_core_support(tbCore* core, const tbReal d[3], tbReal point[3]);

// How deep a point (in the core's frame) is in the shape, that is the core and its radius around;
// negative outside. For an ellipsoid no more than that, outside only the sign counts.
tbReal tb_core_depth(const tbCore* core, const tbReal x[3]);

// The point of b - a that is lowest along n, so that s(n) = n.w for unit n.
void tb_pair_support(tbConvexPair* pair, const tbReal n[3], tbSupportPoint* out);

// GJK: distance of the cores. Ends with state APART as soon as s(n) > limit for some n, and with
// state NEAR and no more than bounds where pair->enough allows.
// `normal` of the result holds the direction to start from. `tolerance` is the gap between the
// bounds at which to stop, relative to the distance, or to ten times the size of the pair.
// Unless `patient`, cores that are hardly apart, if at all, are called overlapping: EPA is faster
// then, and says so if they are apart.
void tb_gjk(tbConvexPair* pair, tbReal limit, tbReal tolerance, int patient,
            tbConvexResult* result);

// The same, patiently, from the simplex in `result`: 1 to 4 points of b - a, any. `dist` is s along
// `normal`, or -INFINITY.
void tb_gjk_from(tbConvexPair* pair, tbReal limit, tbReal tolerance, tbConvexResult* result);

// The same for two polytopes in a new pose, from the vertices (ia, ib) of the simplex in
// `result`, 1 to 4 points that may be any. False where a core has no such vertices.
bool tb_gjk_again(tbConvexPair* pair, tbReal limit, tbReal tolerance, tbConvexResult* result);

// EPA: penetration of overlapping cores, from GJK's simplex. Stops when upper and lower bound of
// the depth differ by less than tolerance * scale.
void tb_epa(tbConvexPair* pair, tbReal tolerance, tbConvexResult* result);

// The same for two solid polytopes, from the normal of `result` alone and made for speed. False
// where it has no answer: then normal and dist are the best direction that it saw. Where that
// proves that the cores are apart, the simplex holds the points that it saw last.
bool tb_depth(tbConvexPair* pair, tbConvexResult* result);

// What the next three end with: the state by dist, and whether that is an answer.
static inline bool tb_depth_answers(tbConvexResult* result, tbReal limit) {
  result->state = result->dist > 0 ? TB_CONVEX_APART : TB_CONVEX_OVERLAP;
  return result->dist <= 0 || result->dist > limit;
}

// A cylinder (a) and a box (b): their depth, or that they are apart by more than the limit. False
// where they are apart by less: then `normal` separates them.
bool tb_depth_cylinder_box(const tbConvexPair* pair, tbReal limit, tbConvexResult* result);

// The same for a cylinder (a) and a hull (b) that `fits`.
bool tb_depth_cylinder_hull_fits(const tbHull* hull);
bool tb_depth_cylinder_hull(tbConvexPair* pair, tbReal limit, tbConvexResult* result);

// The same for a box (a) and a hull (b) that `fits`.
bool tb_depth_box_hull_fits(const tbHull* hull);
bool tb_depth_box_hull(tbConvexPair* pair, tbReal limit, tbConvexResult* result);

// The climb from the normal of `result` to a local maximum of s(n), features changing on the way.
typedef enum {
  TB_ASCENT_OPEN,    // nothing proven; normal and dist are the better ones of before and after
  TB_ASCENT_APART,   // s(normal) > limit
  TB_ASCENT_LOCAL,   // normal, dist and witness points of a local maximum, exact to rounding
  TB_ASCENT_GLOBAL,  // and it is the signed distance of the cores
} tbAscent;
tbAscent tb_normal_ascent(tbConvexPair* pair, tbReal limit, tbConvexResult* result);

// Two cylinders: a good direction to climb from, in closed form; the first that is apart by more
// than the limit ends the search. False where axes are parallel.
bool tb_cylinder_start(const tbConvexPair* pair, tbReal limit, tbReal normal[3]);

// Is the local optimum in `result`, with its basin and width, the depth of the cores? By covering
// the sphere with triangles of directions in which b - a is proven to reach as far.
typedef enum {
  TB_COVER_OPEN,    // nothing proven
  TB_COVER_BETTER,  // `normal` of the result is a direction with a larger s; the rest is unchanged
  TB_COVER_PROVEN,
} tbDepthCertificate;
tbDepthCertificate tb_depth_certificate(tbConvexPair* pair, tbConvexResult* result);

// The same for two cylinders, faster; open where their axes are nearly parallel.
tbDepthCertificate tb_cylinder_certificate(const tbConvexPair* pair, tbConvexResult* result);

// Newton on s(n) with the features of the given support points held (docs/gjk.md eq. 6-9), from
// the normal and dist of `result`. Where that raises dist, normal, dist and witness points are
// replaced. Returns 1 when the result is a certified local optimum: then dist is exact to rounding.
// `thorough` also tries the parts of these features.
int tb_normal_newton(tbConvexPair* pair, const tbSupportPoint* support, int count, int thorough,
                     tbConvexResult* result);

// All of the above: normal, dist and witness points of the cores to rounding where features are
// found, to the iterative tolerance elsewhere.
void tb_convex_solve(tbConvexPair* pair, tbReal limit, tbConvexResult* result);

// Where shapes without a radius touch and no more, the normal of the first face that separates as
// well as any in place of the solved one; dist stays. Sets pair->touching.
void tb_snap_normal(tbConvexPair* pair, tbConvexResult* result);

// Contacts of the pair around the solved normal, in a's frame, distances with radii subtracted;
// those with dist <= margin. Returns the count, at most TB_MAX_MANIFOLD.
int tb_convex_manifold(tbConvexPair* pair, const tbConvexResult* result, tbReal margin,
                       tbContactPoint* out);

// As above for one cell of a terrain: every corner of the region where the patches meet, up to
// TB_TERRAIN_MANIFOLD, and for overlapping shapes nothing beyond that region.
#define TB_TERRAIN_MANIFOLD 32
int tb_convex_manifold_terrain(tbConvexPair* pair, const tbConvexResult* result, tbReal margin,
                               tbContactPoint* out);

// b - a along n: separation s(n) of the cores by their true support points.
static inline tbReal tb_pair_separation(tbConvexPair* pair, const tbReal n[3], tbSupportPoint* at) {
  tb_pair_support(pair, n, at);
  return tb_dot3(n, at->w);
}

static inline void tb_pair_b_to_a(const tbConvexPair* pair, const tbReal x[3], tbReal out[3]) {
  tb_mul_mat3_vec3(out, pair->mat, x);
  tb_add3(out, out, pair->pos);
}

#endif
