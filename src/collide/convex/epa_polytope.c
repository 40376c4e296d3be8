// Depth of two overlapping solid polytopes, or a proof of their separation: an expanding polytope
// as in epa.c (docs/notebook/gjk.md eq. 5), started from the initial direction and optimized for
// speed. It needs no preceding GJK, since distances of faces are signed: the origin may be outside.
//
// Faces store no adjacency. Of the faces visible from a new point, the directed edges whose reverse
// belongs to none of them are the border, and the fan from the point to the border takes the faces'
// slots. If rounding breaks the border into more than one loop, the attempt fails, and the slower
// epa.c takes over.
#include <string.h>

#include "base/minmax.h"
#include "base/kernel.h"
#include "collide/convex/convex.h"
#include "linalg/simd2.h"

#define MAX_VERTS 64
// A closed triangle surface has 2 V - 4 faces; lists are read four at a time.
#define MAX_FACES (2 * MAX_VERTS)
// Tangents of the angles between the first points' directions and the initial direction.
#define ASIDE \
  { 0.6, 1.5, 5, -5 }

typedef struct {
  tbConvexPair* pair;
  bool tables;  // two hulls with direction tables, whose searches are interleaved
  tbSupportPoint vert[MAX_VERTS];
  int nvert, nface;
  tbReal normal[3][MAX_FACES];  // outward unit normals, by coordinate
  tbReal offset[MAX_FACES];     // of the planes from the origin
  tbReal dist[MAX_FACES];       // the same; INFINITY for degenerate faces and beyond the last
  uint8_t corner[MAX_FACES][3];
  uint64_t edge[MAX_VERTS];  // bit v of edge[u]: a visible face has the directed edge u to v
  tbReal best;               // upper bound of the depth
  tbReal best_normal[3];
} Body;

// The farthest corner of a box, or vertex of a hull.
TB_INLINE int farthest(tbCore* core, const tbReal d[3], tbReal p[3]) {
  if (core->kind == TB_CORE_BOX) {
    const tbReal* h = core->size;
    for (int i = 0; i < 3; i++) p[i] = copysign(h[i], d[i]);
    return (d[0] >= 0) | (d[1] >= 0) << 1 | (d[2] >= 0) << 2;
  }
  const tbHull* hull = core->hull;
  const tbHullCache* cache = tb_hull_cache(hull);
  core->hint = cache->lanes ? tb_hull_search_all(hull, d)
                            : tb_hull_support(hull, d, cache->seed ? -1 : core->hint);
  tb_copy3(p, hull->vert + 3 * core->hint);
  return core->hint;
}

// Computes the support point along m (outward of b - a) in the next vertex slot; returns its
// distance.
TB_INLINE tbReal add_support(Body* body, const tbReal m[3]) {
  tbConvexPair* pair = body->pair;
  tbSupportPoint* at = &body->vert[body->nvert];
  tbReal n[3] = {-m[0], -m[1], -m[2]}, d[3], p[3];
  if (body->tables) {
    tb_pair_support(pair, n, at);
  } else {
    pair->evaluations++;
    at->ia = farthest(&pair->a, n, at->a);
    tb_mul_mat3t_vec3(d, pair->mat, m);
    at->ib = farthest(&pair->b, d, p);
    tb_pair_b_to_a(pair, p, at->b);
    tb_sub3(at->w, at->b, at->a);
  }
  tbReal reach = tb_dot3(m, at->w);
  if (reach < body->best) {
    body->best = reach;
    tb_copy3(body->best_normal, n);
  }
  return reach;
}

// Sets face f. A degenerate face takes a neighbour's normal and is never the nearest.
TB_INLINE void set_face(Body* body, int f, int a, int b, int c, const tbReal fallback[3]) {
  const tbReal *p = body->vert[a].w, *q = body->vert[b].w, *s = body->vert[c].w;
  tbReal e1[3], e2[3], n[3];
  tb_sub3(e1, q, p);
  tb_sub3(e2, s, p);
  tb_cross(n, e1, e2);
  tbReal area2 = tb_dot3(n, n), size = tb_dot3(e1, e1) + tb_dot3(e2, e2);
  bool flat = !(area2 > 1e-26 * size * size);
  tb_scale3(n, n, 1 / sqrt(area2));
  if (flat) tb_copy3(n, fallback);
  body->corner[f][0] = (uint8_t)a;
  body->corner[f][1] = (uint8_t)b;
  body->corner[f][2] = (uint8_t)c;
  for (int i = 0; i < 3; i++) body->normal[i][f] = n[i];
  body->offset[f] = tb_dot3(n, p);
  body->dist[f] = flat ? INFINITY : body->offset[f];
}

// Squared distance of the next vertex from the affine hull (point, line, plane) of those before it.
TB_INLINE tbReal height2_of_next(const Body* body) {
  tbReal e1[3], e2[3], arm[3], cross[3];
  tb_sub3(arm, body->vert[body->nvert].w, body->vert[0].w);
  if (body->nvert == 1) return tb_dot3(arm, arm);
  tb_sub3(e1, body->vert[1].w, body->vert[0].w);
  tb_cross(cross, e1, arm);
  if (body->nvert == 2) return tb_dot3(cross, cross) / tb_dot3(e1, e1);
  tb_sub3(e2, body->vert[2].w, body->vert[0].w);
  tb_cross(cross, e1, e2);
  tbReal height = tb_dot3(cross, arm);
  return height * height / tb_dot3(cross, cross);
}

// Adds a support point at an angle from the initial direction towards t, at a larger angle if the
// point adds no extent. Returns 0 if no angle does, or if a point proves that the cores are
// separated.
TB_INLINE int add_aside(Body* body, const tbReal n[3], const tbReal t[3]) {
  static const tbReal aside[] = ASIDE;
  tbReal small = 1e-2 * body->pair->scale, m[3];
  for (size_t k = 0; k < sizeof aside / sizeof aside[0]; k++) {
    tb_scale3(m, n, -1);
    tb_add_scaled3(m, m, aside[k], t);
    tb_scale3(m, m, 1 / sqrt(1 + aside[k] * aside[k]));
    if (add_support(body, m) < 0) return 0;
    if (height2_of_next(body) > small * small) {
      body->nvert++;
      return 1;
    }
  }
  return 0;
}

// The support point of the initial direction, and points around it. Returns 0 if they span no
// volume, or if one of them proves that the cores are separated.
TB_INLINE int start(Body* body, const tbReal n[3]) {
  static const tbReal around[3][2] = {
      {1, 0}, {-0.5, 0.8660254037844386}, {-0.5, -0.8660254037844386}};
  static const int corner[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  tbReal t1[3], t2[3], t[3], e1[3], e2[3], e3[3], cross[3];
  tb_scale3(t, n, -1);
  if (add_support(body, t) < 0) return 0;
  body->nvert = 1;
  tb_frame_from_normal(n, t1, t2);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) t[i] = around[k][0] * t1[i] + around[k][1] * t2[i];
    if (!add_aside(body, n, t)) return 0;
  }
  tb_sub3(e1, body->vert[1].w, body->vert[0].w);
  tb_sub3(e2, body->vert[2].w, body->vert[0].w);
  tb_sub3(e3, body->vert[3].w, body->vert[0].w);
  tb_cross(cross, e1, e2);
  // If the volume is positive, vertex 3 lies on the side to which the normal of (0 1 2) points.
  int swap = tb_dot3(cross, e3) < 0;
  for (int f = 0; f < 4; f++) {
    const int* c = corner[f];
    set_face(body, f, c[0], swap ? c[2] : c[1], swap ? c[1] : c[2], n);
  }
  body->nface = 4;
  return 1;
}

#if TB_PART == 2
// Two interleaved searches of two lanes each; the first of equals wins.
TB_INLINE int nearest_face(Body* body) {
  tbSimd2Best best[2] = {{tb_simd2(-INFINITY), {0, 0}}, {tb_simd2(-INFINITY), {0, 0}}};
  tbSimd2Mask index = {0, 1};
  tbReal most;
  for (int f = body->nface; f & 3; f++) body->dist[f] = INFINITY;
  for (int f = 0; f < body->nface; f += 4, index += 4) {
    tb_simd2_keep(&best[0], -TB_LOAD2(body->dist + f), index);
    tb_simd2_keep(&best[1], -TB_LOAD2(body->dist + f + 2), index + 2);
  }
  return tb_simd2_top(tb_simd2_larger(best[0], best[1]), &most);
}
#else
// Four interleaved searches; the first of equals wins.
TB_INLINE int nearest_face(Body* body) {
  const tbReal* dist = body->dist;
  tbReal least[4] = {dist[0], dist[1], dist[2], dist[3]};
  int at[4] = {0, 1, 2, 3};
  for (int f = body->nface; f & 3; f++) body->dist[f] = INFINITY;
  for (int f = 4; f < body->nface; f += 4) {
    for (int k = 0; k < 4; k++) {
      at[k] = dist[f + k] < least[k] ? f + k : at[k];
      least[k] = dist[f + k] < least[k] ? dist[f + k] : least[k];
    }
  }
  int best = at[0];
  tbReal lowest = least[0];
  for (int k = 1; k < 4; k++) {
    bool lower = (least[k] < lowest) | ((least[k] == lowest) & (at[k] < best));
    best = lower ? at[k] : best;
    lowest = lower ? least[k] : lowest;
  }
  return best;
}
#endif

// The faces visible from w.
TB_INLINE int list_visible(const Body* body, const tbReal w[3], tbReal tolerance, int* visible) {
  const tbReal *x = body->normal[0], *y = body->normal[1], *z = body->normal[2];
  tbReal wx = w[0], wy = w[1], wz = w[2], above[MAX_FACES];
  int count = 0, faces = body->nface;
  for (int f = 0; f < faces; f++) {
    above[f] = x[f] * wx + y[f] * wy + z[f] * wz - body->offset[f];
  }
  for (int f = 0; f < faces; f++) {
    visible[count] = f;
    count += above[f] > tolerance;
  }
  return count;
}

// The border of the visible faces, which must be one loop; 0 if it is not.
TB_INLINE int find_border(Body* body, const int* visible, int count, uint8_t border[][2]) {
  int edges = 0, next[MAX_VERTS];
  for (int k = 0; k < count; k++) {
    const uint8_t* c = body->corner[visible[k]];
    body->edge[c[0]] |= (uint64_t)1 << c[1];
    body->edge[c[1]] |= (uint64_t)1 << c[2];
    body->edge[c[2]] |= (uint64_t)1 << c[0];
  }
  // Written without branches, since whether the reverse edge exists is unpredictable.
  for (int k = 0; k < count; k++) {
    const uint8_t* c = body->corner[visible[k]];
    for (int i = 0; i < 3; i++) {
      int u = c[i], v = c[i < 2 ? i + 1 : 0];
      border[edges][0] = (uint8_t)u;
      border[edges][1] = (uint8_t)v;
      edges += !(body->edge[v] >> u & 1);
    }
  }
  for (int k = 0; k < count; k++) {
    const uint8_t* c = body->corner[visible[k]];
    body->edge[c[0]] = body->edge[c[1]] = body->edge[c[2]] = 0;
  }
  // A disc of triangles has two more border edges than faces, and the border closes after that
  // many.
  if (edges != count + 2) return 0;
  for (int k = 0; k < edges; k++) next[border[k][0]] = border[k][1];
  int at = border[0][0];
  for (int k = 1; k < edges; k++) {
    at = next[at];
    if (at == border[0][0]) return 0;
  }
  return next[at] == border[0][0] ? edges : 0;
}

// Replaces the faces visible from the next vertex by a fan from it. Returns 0 on failure.
TB_INLINE int grow(Body* body, tbReal tolerance) {
  int visible[MAX_FACES];
  uint8_t border[3 * MAX_FACES + 1][2];
  int count = list_visible(body, body->vert[body->nvert].w, tolerance, visible);
  int edges = count > 0 ? find_border(body, visible, count, border) : 0;
  if (edges == 0 || body->nvert + 1 >= MAX_VERTS) return 0;
  // A removed face's normal, for new degenerate faces, read before its slot is reused.
  tbReal fallback[3];
  for (int i = 0; i < 3; i++) fallback[i] = body->normal[i][visible[0]];
  for (int k = 0; k < edges; k++) {
    int f = k < count ? visible[k] : body->nface++;
    set_face(body, f, border[k][0], border[k][1], body->nvert, fallback);
  }
  body->nvert++;
  return 1;
}

TB_INLINE bool is_corner(const Body* body, int f, const tbReal w[3]) {
  for (int i = 0; i < 3; i++) {
    const tbReal* v = body->vert[body->corner[f][i]].w;
    if (v[0] == w[0] && v[1] == w[1] && v[2] == w[2]) return true;
  }
  return false;
}

// The witness points of face f: the barycentric weights of the origin's projection on it.
TB_INLINE void set_result(const Body* body, int f, tbConvexResult* r) {
  tbReal m[3], foot[3], sum = 0;
  for (int i = 0; i < 3; i++) m[i] = body->normal[i][f];
  tb_scale3(foot, m, body->offset[f]);
  for (int i = 0; i < 3; i++) {
    tbReal u[3], v[3], cross[3];
    r->simplex[i] = body->vert[body->corner[f][i]];
    tb_sub3(u, body->vert[body->corner[f][(i + 1) % 3]].w, foot);
    tb_sub3(v, body->vert[body->corner[f][(i + 2) % 3]].w, foot);
    tb_cross(cross, u, v);
    r->weight[i] = tb_max(tb_dot3(cross, m), 0);
    sum += r->weight[i];
  }
  r->count = 3;
  tb_zero3(r->point_a);
  tb_zero3(r->point_b);
  for (int i = 0; i < 3; i++) {
    r->weight[i] = sum > 0 ? r->weight[i] / sum : 1.0 / 3;
    tb_add_scaled3(r->point_a, r->point_a, r->weight[i], r->simplex[i].a);
    tb_add_scaled3(r->point_b, r->point_b, r->weight[i], r->simplex[i].b);
  }
}

// Separated cores: the simplex around the separating direction, from which GJK continues. It
// consists of the last point, in the next vertex slot, and the corners of the face whose normal
// found it, or the points before it.
TB_INLINE void set_simplex(Body* body, tbConvexResult* r) {
  int f = body->nface > 0 ? nearest_face(body) : -1;
  r->count = f < 0 ? body->nvert : 3;
  for (int i = 0; i < r->count; i++) r->simplex[i] = body->vert[f < 0 ? i : body->corner[f][i]];
  r->simplex[r->count++] = body->vert[body->nvert];
}

// Expands the nearest face until the bounds meet: returns the face that contains the answer, or -1.
TB_INLINE int expand(Body* body, tbReal stop, tbReal rounding) {
  for (;;) {
    tbReal m[3];
    int f = nearest_face(body);
    if (body->dist[f] == INFINITY) return -1;
    for (int i = 0; i < 3; i++) m[i] = body->normal[i][f];
    tbReal reach = add_support(body, m), gap = reach - body->dist[f];
    if (body->best < 0) return -1;
    bool done = body->best - body->dist[f] <= stop || gap <= rounding;
    if (done || is_corner(body, f, body->vert[body->nvert].w)) return f;
    if (!grow(body, rounding)) return -1;
  }
}

TB_INLINE bool find_depth(tbConvexPair* pair, tbConvexResult* r) {
  Body body;
  body.pair = pair;
  body.tables = pair->a.hull && pair->b.hull && tb_hull_cache(pair->a.hull)->cells &&
                tb_hull_cache(pair->b.hull)->cells;
  body.nvert = body.nface = 0;
  body.best = INFINITY;
  memset(body.edge, 0, sizeof body.edge);
  int face = -1;
  if (start(&body, r->normal)) face = expand(&body, 1e-14 * pair->scale, 1e-15 * pair->scale);
  tb_copy3(r->normal, body.best_normal);
  r->dist = -body.best;
  r->state = TB_CONVEX_OVERLAP;
  r->capped = r->certified = 0;
  r->count = 0;
  if (face < 0) {
    if (r->dist > 0) set_simplex(&body, r);
    return false;
  }
  set_result(&body, face, r);
  // Corners of the resulting face support its normal, unless the best normal is another one, which
  // happens if the bounds meet at zero.
  for (int i = 2; i >= 0; i--) {
    const tbSupportPoint* at = &r->simplex[i];
    if (!(tb_dot3(r->normal, at->w) <= r->dist + 1e-13 * pair->scale)) continue;
    if (pair->a.kind == TB_CORE_HULL) pair->a.known = pair->a.hint = at->ia;
    if (pair->b.kind == TB_CORE_HULL) pair->b.known = pair->b.hint = at->ib;
  }
  return true;
}

TB_WIDE static bool find_depth_wide(tbConvexPair* pair, tbConvexResult* r) {
  return find_depth(pair, r);
}

bool tb_depth(tbConvexPair* pair, tbConvexResult* r) {
  return tb_wide() ? find_depth_wide(pair, r) : find_depth(pair, r);
}
