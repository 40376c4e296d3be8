// Pairs solved iteratively: GJK for separated cores, EPA for overlapping ones, then Newton's method
// with fixed features.
#include "collide/convex/convex.h"

#include "collide/convex/feature_facing.h"

// Tolerances at which GJK hands over to Newton's method, and those it runs to if Newton fails.
#define COARSE_TOLERANCE 1e-3
#define FINE_TOLERANCE 1e-12
#define FLAT_TOLERANCE 1e-14
// EPA: gap between the bounds of the depth, relative to the size of the pair.
#define DEPTH_TOLERANCE_FLAT 1e-14
#define DEPTH_TOLERANCE_ROUND 1e-7

// Hulls with at least this many faces: the depth of a ball's centre inside is found by testing all
// faces.
#define MANY_FACES 300

// Maximum number of depth certificates that are attempted before EPA.
#define MAX_CERTIFICATES 3

// The state in which the cache of a pair was written.
enum { CACHE_EMPTY, CACHE_APART, CACHE_OVERLAP };

// Newton's method from the simplex of GJK. If the cores are separated, a local optimum is global;
// if they overlap, only one that meets GJK's upper bound is accepted.
static int refine_separated(tbConvexPair* pair, tbConvexResult* r) {
  tbReal apart[3];
  tb_sub3(apart, r->point_b, r->point_a);
  tbReal upper = tb_norm3(apart);
  r->certified = tb_normal_newton(pair, r->simplex, r->count, 1, r);
  return r->certified && (r->dist > 0 || upper - r->dist <= 1e-12 * pair->scale);
}

// The gap between upper and lower bound of the distance of a separated pair.
static tbReal bound_gap(const tbConvexResult* r) {
  tbReal apart[3];
  tb_sub3(apart, r->point_b, r->point_a);
  return tb_norm3(apart) - r->dist;
}

static void try_normal(tbConvexPair* pair, const tbReal n[3], tbConvexResult* r) {
  tbSupportPoint at;
  tbReal s = tb_pair_separation(pair, n, &at);
  if (!(s > r->dist)) return;
  r->dist = s;
  tb_copy3(r->normal, n);
}

// Between faces or edges that are parallel up to an angle of 1e-8, GJK's distance changes by 1e-16
// only, so GJK stops before the normal is accurate. Newton's method with the features fixed, or the
// normal of a nearby face, closes the gap.
static void close_gap(tbConvexPair* pair, tbConvexResult* r) {
  tbReal small = 1e-14 * pair->scale, d[3], n[3];
  if (bound_gap(r) <= small) return;
  tb_normal_newton(pair, r->simplex, r->count, 1, r);
  if (bound_gap(r) <= small) return;
  tbFacingFeature facing;
  tb_feature_facing(&pair->a, r->normal, &facing);
  if (facing.kind == TB_FACING_POLYGON) try_normal(pair, facing.normal, r);
  tb_mul_mat3t_vec3(d, pair->mat, r->normal);
  tb_scale3(d, d, -1);
  tb_feature_facing(&pair->b, d, &facing);
  if (facing.kind != TB_FACING_POLYGON) return;
  tb_mul_mat3_vec3(n, pair->mat, facing.normal);
  tb_scale3(n, n, -1);
  try_normal(pair, n, r);
}

// EPA found the cores to be separated: the result is valid only if it is certified.
static int accept_separated(tbConvexResult* r) {
  r->state = TB_CONVEX_NEAR;
  return r->certified;
}

// Distance of the witness points from lying opposite each other along the normal.
static tbReal witness_error(const tbConvexResult* r) {
  tbReal rest[3];
  tb_sub3(rest, r->point_b, r->point_a);
  tb_add_scaled3(rest, rest, -r->dist, r->normal);
  return tb_norm3(rest);
}

// Witness points for a normal that no feature pair certifies, for instance where a cap is flush
// with a face up to 1e-5 and many feature pairs are equal to rounding. EPA's triangle need not
// contain the projection of the origin; its witness points are then offset laterally. With b
// translated by -dist along the normal the cores only touch, and GJK's two witness points coincide
// (docs/notebook/gjk.md eq. 5a).
static void refine_witness(tbConvexPair* pair, tbConvexResult* r) {
  tbReal error = witness_error(r);
  if (error <= 1e-10 * pair->scale) return;
  // An ascent over features often gives better points, for instance for lines parallel up to 1e-8.
  tbConvexResult top = *r;
  top.dist = -INFINITY;
  tb_normal_ascent(pair, INFINITY, &top);
  if (top.dist >= r->dist - 1e-9 * pair->scale && witness_error(&top) < 0.1 * error) {
    tb_copy3(r->normal, top.normal);
    tb_copy3(r->point_a, top.point_a);
    tb_copy3(r->point_b, top.point_b);
    r->dist = top.dist;
    error = witness_error(r);
  }
  if (error <= 1e-8 * pair->scale) return;
  tbConvexPair translated = *pair;
  tbConvexResult touching_result = {.dist = r->dist};
  tb_copy3(touching_result.normal, r->normal);
  tb_add_scaled3(translated.pos, pair->pos, -r->dist, r->normal);
  tb_gjk(&translated, INFINITY, FINE_TOLERANCE, 1, &touching_result);
  pair->evaluations = translated.evaluations;

  // Translate b back to its pose.
  tb_copy3(touching_result.normal, r->normal);
  touching_result.dist = r->dist;
  tb_add_scaled3(touching_result.point_b, touching_result.point_b, r->dist, r->normal);
  if (!(witness_error(&touching_result) < error)) return;
  tb_copy3(r->point_a, touching_result.point_a);
  tb_copy3(r->point_b, touching_result.point_b);
}

// Ascent from the direction n; the result is kept if it is a local optimum no worse than the best.
static void ascend_from(tbConvexPair* pair, const tbReal n[3], tbConvexResult* r) {
  tbConvexResult top = *r;
  tbReal slack = r->certified ? 0 : 1e-9 * pair->scale;
  tb_copy3(top.normal, n);
  top.certified = tb_normal_ascent(pair, INFINITY, &top) >= TB_ASCENT_LOCAL;
  if (top.certified && top.dist >= r->dist - slack) *r = top;
}

// EPA reaches its iteration limit on crossed cylinders that are equally deep along a whole arc of
// normals. The ends of that arc are normals of their caps or sides, from which the ascent starts.
static void ascend_from_cylinder_axes(tbConvexPair* pair, tbConvexResult* r) {
  tbReal n[3];
  tb_copy3(n, r->normal);
  for (int k = 0; k < 2; k++) {
    if ((k ? pair->b : pair->a).kind != TB_CORE_CYLINDER) continue;
    tbReal axis[3] = {0, 0, 1}, start[3];
    if (k) tb_set3(axis, pair->mat[2], pair->mat[5], pair->mat[8]);
    tbReal along = tb_dot3(n, axis);
    tb_scale3(start, axis, along < 0 ? -1 : 1);
    ascend_from(pair, start, r);
    tb_add_scaled3(start, n, -along, axis);
    if (tb_normalize3(start) > 0) ascend_from(pair, start, r);
  }
}

// Depth of a ball's centre inside a hull of many faces, for which EPA would run out of vertices:
// finds the closest face of all and evaluates s along its normal. Returns 0 if that does not apply.
static int search_faces(tbConvexPair* pair, tbConvexResult* r) {
  const tbHull* hull = pair->b.hull;
  if (pair->a.kind != TB_CORE_POINT || !hull || hull->nface < MANY_FACES) return 0;
  tbReal center[3], n[3], most = -INFINITY;
  int best = 0;
  tb_scale3(n, pair->pos, -1);
  tb_mul_mat3t_vec3(center, pair->mat, n);
  for (int f = 0; f < hull->nface; f++) {
    tbReal height = tb_dot3(hull->plane + 4 * f, center) - hull->plane[4 * f + 3];
    best = height > most ? f : best;
    most = height > most ? height : most;
  }
  if (!(most < 0)) return 0;
  tb_mul_mat3_vec3(n, pair->mat, hull->plane + 4 * best);
  tb_scale3(r->normal, n, -1);
  r->dist = tb_pair_separation(pair, r->normal, &r->simplex[0]);
  r->count = 1;
  r->weight[0] = 1;
  r->capped = 0;
  r->state = TB_CONVEX_OVERLAP;
  tb_zero3(r->point_a);
  tb_scale3(r->point_b, r->normal, r->dist);
  return 1;
}

// EPA from the best known normal. If the result is not a certified optimum, another ascent,
// Newton's method or finally GJK computes the witness points. Returns 0 if the cores are separated.
static int search_depth(tbConvexPair* pair, tbConvexResult* r) {
  if (search_faces(pair, r)) return r->dist <= 0;
  tb_epa(pair, pair->polyhedral ? DEPTH_TOLERANCE_FLAT : DEPTH_TOLERANCE_ROUND, r);
  if (pair->polyhedral || r->certified || r->dist > 0) return r->dist <= 0;
  tbReal n[3];
  tb_copy3(n, r->normal);
  ascend_from(pair, n, r);
  if (!r->certified) r->certified = tb_normal_newton(pair, r->simplex, r->count, 1, r);
  if (!r->certified && r->capped) ascend_from_cylinder_axes(pair, r);
  if (!r->certified) refine_witness(pair, r);
  return r->dist <= 0;
}

// Certifies that a local optimum is global by a cover of the sphere of directions, or replaces it
// by a better one that the cover finds. Returns 0 if neither succeeds.
static int prove_depth(tbConvexPair* pair, tbConvexResult* r) {
  for (int tries = 0; tries < MAX_CERTIFICATES; tries++) {
    tbConvexResult top = *r;
    tbDepthCertificate certificate = tb_depth_certificate(pair, &top);
    if (certificate == TB_COVER_PROVEN) return 1;
    if (certificate == TB_COVER_OPEN) return 0;
    tbAscent ascent = tb_normal_ascent(pair, INFINITY, &top);
    if (ascent < TB_ASCENT_LOCAL || !(top.dist > r->dist)) return 0;
    *r = top;
    if (ascent == TB_ASCENT_GLOBAL) return 1;
  }
  return 0;
}

// For round cores that touch, an ascent from the initial direction usually finds and certifies the
// answer. Otherwise its result is the start of the following methods. Returns 1 if solved.
static int solve_by_ascent(tbConvexPair* pair, tbReal limit, tbConvexResult* r) {
  r->count = r->capped = 0;
  r->dist = -INFINITY;
  r->state = TB_CONVEX_APART;
  tbAscent ascent = tb_normal_ascent(pair, limit, r);
  r->certified = ascent >= TB_ASCENT_LOCAL;
  if (ascent == TB_ASCENT_APART) return 1;
  if (ascent == TB_ASCENT_OPEN) return 0;
  if (ascent == TB_ASCENT_LOCAL && !prove_depth(pair, r)) return search_depth(pair, r);
  r->state = r->dist > 0 ? (r->dist > limit ? TB_CONVEX_APART : TB_CONVEX_NEAR) : TB_CONVEX_OVERLAP;
  return 1;
}

// Cores that overlap, or appear to: EPA from the best direction that GJK has found, which Newton's
// method first refines for round cores. Returns 0 if the cores turn out to be separated.
static int solve_overlap(tbConvexPair* pair, tbConvexResult* r) {
  r->certified = 0;
  r->certified_cone = 2;
  if (!pair->polyhedral) r->certified = tb_normal_newton(pair, r->simplex, r->count, 0, r);
  if (r->dist > 0) return accept_separated(r);
  return search_depth(pair, r) ? 1 : accept_separated(r);
}

static bool is_solid_polytope(const tbCore* core) {
  return core->kind == TB_CORE_BOX || core->kind == TB_CORE_HULL;
}

// The depth of a box and a small hull is found by an exhaustive search, without an initial
// direction.
static bool is_exhaustive(const tbConvexPair* pair) {
  return pair->a.kind == TB_CORE_BOX && pair->b.kind == TB_CORE_HULL &&
         tb_depth_box_hull_fits(pair->b.hull);
}

// Pairs with a specialized depth algorithm. Returns 0 if there is none, or if the cores are
// separated by less than the limit; the normal is then the initial direction for the distance.
static int solve_by_depth(tbConvexPair* pair, tbReal limit, tbConvexResult* r) {
  if (pair->a.kind == TB_CORE_CYLINDER) {
    int hull = pair->b.kind == TB_CORE_HULL && tb_depth_cylinder_hull_fits(pair->b.hull);
    if (!hull && pair->b.kind != TB_CORE_BOX) return 0;
    bool answered =
        hull ? tb_depth_cylinder_hull(pair, limit, r) : tb_depth_cylinder_box(pair, limit, r);
    if (answered && r->state == TB_CONVEX_OVERLAP) refine_witness(pair, r);
    return answered;
  }
  if (!is_solid_polytope(&pair->a) || !is_solid_polytope(&pair->b)) return 0;
  if (is_exhaustive(pair)) return tb_depth_box_hull(pair, limit, r);
  if (tb_depth(pair, r)) return 1;
  r->state = TB_CONVEX_APART;
  return r->dist > limit;
}

void tb_convex_solve(tbConvexPair* pair, tbReal limit, tbConvexResult* r) {
  if (solve_by_depth(pair, limit, r)) return;
  if (!pair->polyhedral && pair->a.kind != TB_CORE_PRISM && solve_by_ascent(pair, limit, r)) return;
  if (pair->polyhedral && r->count > 0) {
    // Separated polytopes: continue from the simplex of the depth search.
    tb_gjk_from(pair, limit, FLAT_TOLERANCE, r);
  } else {
    // A coarse tolerance suffices to find the features of round cores, or that cores overlap.
    tb_gjk(pair, limit, pair->polyhedral ? FLAT_TOLERANCE : COARSE_TOLERANCE, 0, r);
  }
  if (r->state == TB_CONVEX_APART) return;
  if (r->state == TB_CONVEX_NEAR) {
    if (pair->polyhedral) {
      close_gap(pair, r);
      if (r->dist > 0) return;
    } else if (refine_separated(pair, r)) {
      if (r->dist > limit) r->state = TB_CONVEX_APART;
      return;
    }
  }
  if (r->dist <= 0 && solve_overlap(pair, r)) return;

  // Separated by little, or no features found: GJK runs to its fine tolerance.
  tbConvexResult so_far = *r;
  tb_gjk(pair, limit, pair->polyhedral ? FLAT_TOLERANCE : FINE_TOLERANCE, 1, r);
  if (r->state == TB_CONVEX_NEAR) {
    if (pair->polyhedral) {
      close_gap(pair, r);
    } else {
      refine_separated(pair, r);
    }
    if (so_far.dist > 0 && so_far.dist > r->dist) {
      tb_copy3(r->normal, so_far.normal);
      r->dist = so_far.dist;
    }
  }
  if (r->state == TB_CONVEX_OVERLAP || r->dist <= 0) {
    tbConvexResult touching = *r;
    if (!solve_overlap(pair, r) && touching.dist >= r->dist) *r = touching;
  }
  if (r->state == TB_CONVEX_NEAR && r->dist > limit) r->state = TB_CONVEX_APART;
}

// Initial direction: from centre to centre, except for two cylinders.
static void start_direction(const tbConvexPair* pair, tbReal limit, tbConvexResult* r) {
  r->count = r->certified = 0;
  if (is_exhaustive(pair)) return;
  bool cylinders = pair->a.kind == TB_CORE_CYLINDER && pair->b.kind == TB_CORE_CYLINDER;
  if (cylinders && tb_cylinder_start(pair, limit, r->normal)) return;
  tbReal center[3] = {0, 0, 0};
  if (pair->b.hull) tb_copy3(center, pair->b.hull->center);
  tb_pair_b_to_a(pair, center, r->normal);
  if (pair->a.hull) tb_sub3(r->normal, r->normal, pair->a.hull->center);
  if (!(tb_normalize3(r->normal) > 0)) tb_set3(r->normal, 0, 0, 1);
}

static void store_cache(const tbConvexPair* pair, const tbShape* a, const tbConvexResult* r,
                        tbCollideCache* warm) {
  if (!warm) return;
  tb_mul_mat3_vec3(warm->direction, a->mat, r->normal);
  warm->hint[0] = pair->a.hint;
  warm->hint[1] = pair->b.hint;
  warm->state = r->state == TB_CONVEX_OVERLAP ? CACHE_OVERLAP : CACHE_APART;
}

// Support function of a shape along the unit vector d (world), relative to its position. `hint` is
// the last support vertex of a hull.
static tbReal support_along(const tbShape* s, const tbReal d[3], int32_t* hint) {
  const tbReal* size = s->size;
  tbReal e[3];
  tb_mul_mat3t_vec3(e, s->mat, d);
  switch (s->type) {
    case TB_GEOM_SPHERE: return size[0];
    case TB_GEOM_CAPSULE: return size[0] + size[1] * fabs(e[2]);
    case TB_GEOM_ELLIPSOID:
      tb_set3(e, size[0] * e[0], size[1] * e[1], size[2] * e[2]);
      return tb_norm3(e);
    case TB_GEOM_CYLINDER: return size[0] * sqrt(e[0] * e[0] + e[1] * e[1]) + size[1] * fabs(e[2]);
    case TB_GEOM_BOX: return size[0] * fabs(e[0]) + size[1] * fabs(e[1]) + size[2] * fabs(e[2]);
    default: break;
  }
  *hint = tb_hull_support(s->hull, e, *hint);
  return tb_dot3(s->hull->vert + 3 * *hint, e);
}

static void center_of(const tbShape* s, tbReal middle[3]) {
  tb_copy3(middle, s->pos);
  if (s->type != TB_GEOM_MESH) return;
  tb_mul_mat3_vec3(middle, s->mat, s->hull->center);
  tb_add3(middle, middle, s->pos);
}

// As support_along, for the box around a mesh: an upper bound that reads no vertices. NAN where
// there is no box.
static tbReal box_support_along(const tbShape* s, const tbReal d[3]) {
  const tbHull* hull = s->hull;
  tbReal e[3], reach = 0;
  if (s->type != TB_GEOM_MESH) return NAN;
  const tbHullCache* box = tb_hull_cache(hull);
  if (!(box->low[0] < box->high[0])) return NAN;
  tb_mul_mat3t_vec3(e, s->mat, d);
  for (int i = 0; i < 3; i++) reach += e[i] * (e[i] > 0 ? box->high[i] : box->low[i]);
  return reach;
}

// Separation along d in excess of the margin. Returns early, with a lower bound, if the bounding
// boxes of meshes prove the separation, which is the usual case; returns -1 where computing it does
// not pay.
static tbReal gap_along(const tbShape* a, const tbShape* b, tbReal margin, const tbReal d[3],
                        tbReal small, bool warm, int32_t hint[2]) {
  tbReal opposite[3], between[3], gap;
  tb_scale3(opposite, d, -1);
  tb_sub3(between, b->pos, a->pos);
  gap = tb_dot3(d, between) - margin;
  tbReal box_a = box_support_along(a, d), box_b = box_support_along(b, opposite);
  // For shapes other than meshes the exact support function is as cheap as that of a box.
  if (!(a->type == TB_GEOM_MESH)) box_a = support_along(a, d, &hint[0]);
  if (!(b->type == TB_GEOM_MESH)) box_b = support_along(b, opposite, &hint[1]);
  if (gap - box_a - box_b > small) return gap - box_a - box_b;
  // Without a cached direction, the exhaustive search for a box and a small hull costs no more.
  bool all_at_once = !warm && a->type == TB_GEOM_BOX && b->type == TB_GEOM_MESH;
  if (all_at_once && tb_depth_box_hull_fits(b->hull)) return -1;
  gap -= a->type == TB_GEOM_MESH ? support_along(a, d, &hint[0]) : box_a;
  if (!(gap > 0)) return gap;
  return gap - (b->type == TB_GEOM_MESH ? support_along(b, opposite, &hint[1]) : box_b);
}

// Most pairs of the broad phase are separated, and most of these along the first candidate
// direction: the cached one, or from centre to centre.
static bool is_separated_quickly(const tbShape* a, const tbShape* b, tbReal margin,
                                 tbCollideCache* warm) {
  tbReal d[3], between[3];
  int32_t hint[2] = {-1, -1};
  if (warm && warm->state) {
    tb_copy3(d, warm->direction);
    hint[0] = warm->hint[0];
    hint[1] = warm->hint[1];
    tbReal length2 = tb_dot3(d, d);
    if (!(length2 > 0.999999 && length2 < 1.000001)) return false;
  } else {
    tbReal other[3];
    center_of(b, d);
    center_of(a, other);
    tb_sub3(d, d, other);
    if (!(tb_normalize3(d) > 0)) return false;
  }
  // The separation must exceed possible rounding errors.
  tb_sub3(between, b->pos, a->pos);
  tbReal small = 1e-12 * (margin + tb_norm3(between));
  bool known = warm && warm->state;
  tbReal gap = gap_along(a, b, margin, d, small, known, hint);
  if (!(gap > small)) return false;
  if (warm) {
    warm->gap = margin + gap;
    tb_copy3(warm->direction, d);
    warm->hint[0] = hint[0];
    warm->hint[1] = hint[1];
    warm->state = CACHE_APART;
  }
  return true;
}

int tb_collide_convex(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                      tbCollideCache* warm) {
  if (is_separated_quickly(a, b, margin, warm)) return 0;
  tbConvexPair pair;
  tbConvexResult r;
  // The result below does not depend on the cache: contacts are a function of the pose, bit for
  // bit.
  tb_convex_pair_init(&pair, a, b);
  start_direction(&pair, margin, &r);
  tb_convex_solve(&pair, margin + pair.a.radius + pair.b.radius, &r);
  store_cache(&pair, a, &r, warm);
  if (r.state == TB_CONVEX_APART) return 0;
  // Snapping the normal can change the result by more than the tolerance of distance queries, which
  // pass an infinite margin.
  if (!isinf(margin)) tb_snap_normal(&pair, &r);
  int count = tb_convex_manifold(&pair, &r, margin, out);
  // Transform from a's frame to the world frame.
  for (int i = 0; i < count; i++) {
    tb_mul_mat3_vec3(out[i].pos, a->mat, out[i].pos);
    tb_add3(out[i].pos, out[i].pos, a->pos);
    tb_mul_mat3_vec3(out[i].frame, a->mat, out[i].frame);
    out[i].flags = r.capped ? TB_CONTACT_ITERATION_LIMIT : 0;
  }
  return count;
}

// Witness points of overlapping flat cores come from a triangle of the polytope, which need not
// contain the projection of the origin. The deepest contact of the manifold has exact ones.
static void repair_witness(tbConvexPair* pair, tbConvexResult* r) {
  if (witness_error(r) <= 1e-12 * pair->scale) return;
  tbContactPoint contact[TB_MAX_MANIFOLD];
  int count = tb_convex_manifold(pair, r, INFINITY, contact), deepest = 0;
  for (int i = 1; i < count; i++) {
    if (contact[i].dist < contact[deepest].dist) deepest = i;
  }
  // A contact lies between the surfaces; witness points lie on the cores.
  tbReal half = 0.5 * contact[deepest].dist;
  tb_add_scaled3(r->point_a, contact[deepest].pos, -half - pair->a.radius, r->normal);
  tb_add_scaled3(r->point_b, contact[deepest].pos, half + pair->b.radius, r->normal);
}

// Stores the simplex vertices of separated polytopes for the next query.
static void store_simplex(const tbConvexPair* pair, const tbConvexResult* r, tbCollideCache* warm) {
  if (!warm) return;
  warm->count = 0;
  if (!is_solid_polytope(&pair->a) || !is_solid_polytope(&pair->b)) return;
  if (r->state != TB_CONVEX_NEAR) return;
  for (int i = 0; i < r->count; i++) {
    const tbSupportPoint* at = &r->simplex[i];
    if (at->ia > UINT16_MAX || at->ib > UINT16_MAX) return;
    warm->nearest[i][0] = (uint16_t)at->ia;
    warm->nearest[i][1] = (uint16_t)at->ib;
  }
  warm->count = (uint32_t)r->count;
}

// GJK for polytopes that were separated, from the cached simplex. False if they overlap now, or if
// nothing valid is cached.
static bool distance_from_cache(tbConvexPair* pair, const tbCollideCache* warm, tbConvexResult* r) {
  if (!warm || warm->state != CACHE_APART || warm->count < 1 || warm->count > 4) return false;
  r->count = (int)warm->count;
  for (int i = 0; i < r->count; i++) {
    r->simplex[i].ia = warm->nearest[i][0];
    r->simplex[i].ib = warm->nearest[i][1];
  }
  if (!tb_gjk_again(pair, INFINITY, FLAT_TOLERANCE, r) || r->state != TB_CONVEX_NEAR) return false;
  close_gap(pair, r);
  return r->dist > 0;
}

tbReal tb_distance_convex(const tbShape* a, const tbShape* b, tbReal point_a[3], tbReal point_b[3],
                          tbReal normal[3], tbCollideCache* warm) {
  tbConvexPair pair;
  tbConvexResult r;
  tb_convex_pair_init(&pair, a, b);
  if (!distance_from_cache(&pair, warm, &r)) {
    start_direction(&pair, INFINITY, &r);
    // Separated cores have a unique closest direction, and the cached one is close to it.
    if (warm && warm->state == CACHE_APART) {
      tbReal last[3];
      tb_mul_mat3t_vec3(last, a->mat, warm->direction);
      tbReal length2 = tb_dot3(last, last);
      if (length2 > 0.9 && length2 < 1.1) tb_copy3(r.normal, last);
    }
    tb_convex_solve(&pair, INFINITY, &r);
  }
  store_cache(&pair, a, &r, warm);
  store_simplex(&pair, &r, warm);
  repair_witness(&pair, &r);
  // From the cores to the surfaces, then to the world frame.
  tb_add_scaled3(r.point_a, r.point_a, pair.a.radius, r.normal);
  tb_add_scaled3(r.point_b, r.point_b, -pair.b.radius, r.normal);
  tb_mul_mat3_vec3(normal, a->mat, r.normal);
  tb_mul_mat3_vec3(point_a, a->mat, r.point_a);
  tb_add3(point_a, point_a, a->pos);
  tb_mul_mat3_vec3(point_b, a->mat, r.point_b);
  tb_add3(point_b, point_b, a->pos);
  return r.dist - pair.a.radius - pair.b.radius;
}
