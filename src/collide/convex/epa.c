// EPA: penetration depth of two overlapping cores. Expands a polytope inside b - a around the
// origin, always at its face nearest to the origin (docs/notebook/gjk.md eq. 5). The distance of
// the nearest face is a lower bound of the depth, the support point along its normal gives an upper
// bound; the best upper bound of all evaluated directions is stored, so that it is the result
// whatever ends the loop.
#include <string.h>

#include "base/minmax.h"
#include "collide/convex/convex.h"

#define MAX_VERTS 160
#define MAX_FACES (2 * MAX_VERTS)
// Size of the groups of faces whose nearest face is cached; divides MAX_FACES.
#define GROUP 8
#define GROUPS (MAX_FACES / GROUP)
#define MAX_OPTIMA 8
// Tangent of the angle between the first points' directions and the initial direction.
#define FRONT 0.15

// A triangle, counter-clockwise from outside. The neighbour across the edge i, i+1 is edge adj & 3
// of face adj >> 2.
typedef struct {
  int vert[3];
  int adj[3];
  tbReal normal[3];
  int alive;
} Face;

// A local optimum found by the ascent.
typedef struct {
  tbReal normal[3], dist, point_a[3], point_b[3];
  tbReal certified_cone;  // no direction within this angle (cosine) of the normal is better
} Optimum;

static const int next_edge[3] = {1, 2, 0};

typedef struct {
  tbConvexPair* pair;
  tbSupportPoint vert[MAX_VERTS];
  Face face[MAX_FACES];
  tbReal dist[MAX_FACES];  // from origin to plane; INFINITY for removed and degenerate faces
  int nearest[GROUPS];     // the nearest face of each group, unless stale
  tbReal near[GROUPS];     // its distance
  bool stale[GROUPS];
  int nvert;
  int nface;
  int spare[MAX_FACES];  // removed faces, for reuse
  int nspare;
  // The border of the visible part: edges of the remaining faces, packed as in adj.
  int border[MAX_FACES];
  int nborder;
  int removed[MAX_FACES];
  int nremoved;
  // Best upper bound so far.
  tbReal best;
  tbReal best_normal[3];
  // Certified local optima for round cores, and the gap at which the next ascent starts.
  Optimum optimum[MAX_OPTIMA];
  int noptimum;
  int ascending;
  tbReal ascent_gap;
} Polytope;

// Evaluates a direction m (outward of b - a): the depth is at most the support of b - a along m.
static tbReal try_direction(Polytope* p, const tbReal m[3], tbSupportPoint* at) {
  tbReal n[3] = {-m[0], -m[1], -m[2]};
  tb_pair_support(p->pair, n, at);
  tbReal reach = tb_dot3(m, at->w);
  if (reach < p->best) {
    p->best = reach;
    tb_copy3(p->best_normal, n);
  }
  return reach;
}

static void set_dist(Polytope* p, int f, tbReal dist) {
  p->dist[f] = dist;
  p->stale[f / GROUP] = true;
}

// Computes the plane of a face. A degenerate face keeps the given normal and is never the nearest.
static void set_face_plane(Polytope* p, int f, const tbReal fallback[3]) {
  Face* face = &p->face[f];
  const tbReal *a = p->vert[face->vert[0]].w, *b = p->vert[face->vert[1]].w,
               *c = p->vert[face->vert[2]].w;
  tbReal e1[3], e2[3], cross[3];
  tb_sub3(e1, b, a);
  tb_sub3(e2, c, a);
  tb_cross(cross, e1, e2);
  tbReal area = tb_norm3(cross), size = tb_dot3(e1, e1) + tb_dot3(e2, e2);
  if (area <= 1e-13 * size) {
    tb_copy3(face->normal, fallback);
    set_dist(p, f, INFINITY);
    return;
  }
  tb_scale3(face->normal, cross, 1 / area);
  set_dist(p, f, tb_dot3(face->normal, a));
}

static int new_face(Polytope* p, int a, int b, int c) {
  int f;
  if (p->nspare > 0) {
    f = p->spare[--p->nspare];
  } else if (p->nface < MAX_FACES) {
    // The other entries of a new group are not faces yet.
    if (p->nface % GROUP == 0) {
      for (int k = 0; k < GROUP; k++) set_dist(p, p->nface + k, INFINITY);
    }
    f = p->nface++;
  } else {
    return -1;
  }
  p->face[f].vert[0] = a;
  p->face[f].vert[1] = b;
  p->face[f].vert[2] = c;
  p->face[f].alive = 1;
  return f;
}

static void make_tetrahedron(Polytope* p, const tbReal fallback[3]) {
  // If the determinant is positive, vertex 3 lies on the side to which the normal of (0 1 2)
  // points.
  static const int corner[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  static const int across[4][3] = {{12, 8, 4}, {2, 10, 13}, {1, 14, 5}, {0, 6, 9}};
  tbReal e1[3], e2[3], e3[3], cross[3];
  tb_sub3(e1, p->vert[1].w, p->vert[0].w);
  tb_sub3(e2, p->vert[2].w, p->vert[0].w);
  tb_sub3(e3, p->vert[3].w, p->vert[0].w);
  tb_cross(cross, e1, e2);
  if (tb_dot3(cross, e3) < 0) {
    tbSupportPoint swap = p->vert[1];
    p->vert[1] = p->vert[2];
    p->vert[2] = swap;
  }
  for (int f = 0; f < 4; f++) {
    new_face(p, corner[f][0], corner[f][1], corner[f][2]);
    for (int i = 0; i < 3; i++) p->face[f].adj[i] = across[f][i];
    set_face_plane(p, f, fallback);
  }
}

// Perpendicular from the affine hull (point, line, plane) of the first `count` vertices to w;
// returns its length.
static tbReal from_flat(const Polytope* p, int count, const tbReal w[3], tbReal out[3]) {
  tbReal e1[3], e2[3], cross[3];
  tb_sub3(out, w, p->vert[0].w);
  if (count >= 2) {
    tb_sub3(e1, p->vert[1].w, p->vert[0].w);
    tb_normalize3(e1);
    tb_add_scaled3(out, out, -tb_dot3(out, e1), e1);
  }
  if (count == 3) {
    tb_sub3(e2, p->vert[2].w, p->vert[0].w);
    tb_cross(cross, e1, e2);
    tb_normalize3(cross);
    tb_scale3(out, cross, tb_dot3(out, cross));
  }
  return tb_norm3(out);
}

// Directions perpendicular to the affine hull of `count` points in general position, and their
// opposites.
static int open_directions(const Polytope* p, int count, tbReal d[6][3]) {
  tbReal e1[3], e2[3];
  int k = 0;
  if (count == 1) {
    for (int i = 0; i < 3; i++, k++) {
      tb_zero3(d[k]);
      d[k][i] = 1;
    }
  } else {
    tb_sub3(e1, p->vert[1].w, p->vert[0].w);
    tb_normalize3(e1);
    if (count == 2) {
      tb_frame_from_normal(e1, d[0], d[1]);
      k = 2;
    } else {
      tb_sub3(e2, p->vert[2].w, p->vert[0].w);
      tb_cross(d[0], e1, e2);
      tb_normalize3(d[0]);
      k = 1;
    }
  }
  for (int i = 0; i < k; i++) tb_scale3(d[k + i], d[i], -1);
  return 2 * k;
}

// Support points around the best known direction and opposite to it: those around it span, at least
// approximately, the face of b - a that contains the answer.
static int seed(Polytope* p, const tbReal n[3], tbSupportPoint* out) {
  tbReal t1[3], t2[3], look[3];
  static const tbReal around[3][2] = {
      {1, 0}, {-0.5, 0.8660254037844386}, {-0.5, -0.8660254037844386}};
  tb_frame_from_normal(n, t1, t2);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) {
      look[i] = FRONT * (around[k][0] * t1[i] + around[k][1] * t2[i]) - n[i];
    }
    tb_normalize3(look);
    try_direction(p, look, &out[k]);
  }
  try_direction(p, n, &out[3]);
  return 4;
}

// A tetrahedron with volume from the seeds and the points of GJK's simplex. Returns 0 if b - a has
// no volume: the best direction found so far is then the answer.
static int start_polytope(Polytope* p, const tbConvexResult* r) {
  tbReal flat = 1e-3 * p->pair->scale, apart[3];
  tbSupportPoint candidate[8];
  int seeds = 0, candidates, count = 0;
  if (!p->pair->polyhedral || r->count < 3) seeds = seed(p, r->normal, candidate);
  candidates = seeds;
  for (int i = 0; i < r->count; i++) candidate[candidates++] = r->simplex[i];
  // GJK's simplex lies in front of the origin or around it; a point behind the origin gives it
  // volume.
  if (seeds == 0) p->best = -r->dist;
  if (seeds == 0 && r->count == 3) try_direction(p, r->normal, &candidate[candidates++]);
  // Keep points in general position.
  for (int i = 0; i < candidates && count < 4; i++) {
    if (count > 0 && !(from_flat(p, count, candidate[i].w, apart) > flat)) continue;
    p->vert[count++] = candidate[i];
  }
  // Complete the tetrahedron by the farthest support points perpendicular to it.
  while (count < 4) {
    tbReal d[6][3], most = 0;
    tbSupportPoint at, farthest = p->vert[0];
    int directions = open_directions(p, count, d);
    for (int k = 0; k < directions; k++) {
      try_direction(p, d[k], &at);
      tbReal reach = from_flat(p, count, at.w, apart);
      if (reach > most) {
        most = reach;
        farthest = at;
      }
    }
    if (!(most > 1e-14 * p->pair->scale)) return 0;
    p->vert[count++] = farthest;
  }
  p->nvert = 4;
  return 1;
}

// The first of the nearest faces; -1 if none has a distance. A new point changes few faces, so the
// cached nearest face of most groups stays valid.
static int nearest_face(Polytope* p) {
  tbReal least = INFINITY;
  int best = -1;
  for (int g = 0; g * GROUP < p->nface; g++) {
    if (p->stale[g]) {
      int first = g * GROUP, nearest = first;
      for (int f = first + 1; f < first + GROUP; f++) {
        nearest = p->dist[f] < p->dist[nearest] ? f : nearest;
      }
      p->nearest[g] = nearest;
      p->near[g] = p->dist[nearest];
      p->stale[g] = false;
    }
    best = p->near[g] < least ? p->nearest[g] : best;
    least = p->near[g] < least ? p->near[g] : least;
  }
  return best;
}

static int is_visible_from(const Polytope* p, int f, const tbReal w[3], tbReal tolerance) {
  const Face* face = &p->face[f];
  tbReal arm[3];
  tb_sub3(arm, w, p->vert[face->vert[0]].w);
  return tb_dot3(face->normal, arm) > tolerance;
}

// Removes all faces visible from w, beginning with `start`, and collects the border around them in
// order: a depth-first walk over the edges that enters each face once.
static void remove_visible(Polytope* p, int start, const tbReal w[3], tbReal tolerance) {
  int stack[MAX_FACES + 4], top = 0;
  p->nborder = 0;
  p->nremoved = 1;
  p->removed[0] = start;
  p->face[start].alive = 0;
  for (int i = 2; i >= 0; i--) stack[top++] = p->face[start].adj[i];
  while (top > 0) {
    int across = stack[--top], f = across >> 2, edge = across & 3;
    Face* face = &p->face[f];
    if (!face->alive) continue;
    if (!is_visible_from(p, f, w, tolerance)) {
      p->border[p->nborder++] = across;
      continue;
    }
    face->alive = 0;
    p->removed[p->nremoved++] = f;
    edge = next_edge[edge];
    stack[top + 1] = face->adj[edge];
    stack[top] = face->adj[next_edge[edge]];
    top += 2;
  }
}

// The border must be one closed loop; rounding can break it on nearly flat polytopes.
static int border_is_loop(const Polytope* p) {
  if (p->nborder < 3) return 0;
  int last = p->border[p->nborder - 1], from = p->face[last >> 2].vert[last & 3];
  for (int i = 0; i < p->nborder; i++) {
    const Face* face = &p->face[p->border[i] >> 2];
    int edge = p->border[i] & 3;
    if (face->vert[next_edge[edge]] != from) return 0;
    from = face->vert[edge];
  }
  return 1;
}

// Replaces the faces visible from the new vertex by a fan from it to the border. Returns 0 on
// failure.
static int grow(Polytope* p, int start, const tbSupportPoint* at, tbReal tolerance) {
  if (p->nvert == MAX_VERTS) return 0;
  int v = p->nvert, first = -1, previous = -1;
  remove_visible(p, start, at->w, tolerance);
  if (!border_is_loop(p)) return 0;
  p->vert[v] = *at;
  p->nvert++;
  for (int i = 0; i < p->nremoved; i++) {
    set_dist(p, p->removed[i], INFINITY);
    p->spare[p->nspare++] = p->removed[i];
  }
  for (int i = 0; i < p->nborder; i++) {
    int g = p->border[i] >> 2, e = p->border[i] & 3;
    // The border edge runs from `from` to `to` in the remaining face, so backwards in the new one.
    int from = p->face[g].vert[e], to = p->face[g].vert[next_edge[e]];
    int f = new_face(p, to, from, v);
    if (f < 0) return 0;
    p->face[f].adj[0] = p->border[i];
    p->face[g].adj[e] = f << 2;
    if (previous >= 0) {
      p->face[previous].adj[1] = f << 2 | 2;
      p->face[f].adj[2] = previous << 2 | 1;
    } else {
      first = f;
    }
    set_face_plane(p, f, p->face[g].normal);
    previous = f;
  }
  p->face[previous].adj[1] = first << 2 | 2;
  p->face[first].adj[2] = previous << 2 | 1;
  return 1;
}

static int is_vertex_of(const Polytope* p, int f, const tbReal w[3]) {
  for (int i = 0; i < 3; i++) {
    const tbReal* v = p->vert[p->face[f].vert[i]].w;
    if (v[0] == w[0] && v[1] == w[1] && v[2] == w[2]) return 1;
  }
  return 0;
}

// Barycentric weights of the origin's projection on a face.
static void face_weights(const Polytope* p, int f, tbReal weight[3]) {
  const Face* face = &p->face[f];
  tbReal foot[3], sum = 0;
  tb_scale3(foot, face->normal, p->dist[f]);
  for (int i = 0; i < 3; i++) {
    tbReal u[3], v[3], cross[3];
    tb_sub3(u, p->vert[face->vert[(i + 1) % 3]].w, foot);
    tb_sub3(v, p->vert[face->vert[(i + 2) % 3]].w, foot);
    tb_cross(cross, u, v);
    weight[i] = tb_max(tb_dot3(cross, face->normal), 0);
    sum += weight[i];
  }
  for (int i = 0; i < 3; i++) weight[i] = sum > 0 ? weight[i] / sum : 1.0 / 3;
}

static void set_result(const Polytope* p, int f, tbConvexResult* r) {
  tb_copy3(r->normal, p->best_normal);
  r->dist = -p->best;
  if (f >= 0) {
    r->count = 3;
    for (int i = 0; i < 3; i++) r->simplex[i] = p->vert[p->face[f].vert[i]];
    face_weights(p, f, r->weight);
  } else {
    for (int i = 0; i < r->count; i++) r->weight[i] = 1.0 / r->count;
  }
  tb_zero3(r->point_a);
  tb_zero3(r->point_b);
  for (int i = 0; i < r->count; i++) {
    tb_add_scaled3(r->point_a, r->point_a, r->weight[i], r->simplex[i].a);
    tb_add_scaled3(r->point_b, r->point_b, r->weight[i], r->simplex[i].b);
  }
}

// Whether the directions beyond edge i of the face f have, where they leave the certified_cone of
// an optimum, at least the best depth. Along directions that turn from the normal m over the edge,
// with u perpendicular to m and to the edge and out of the face, the distance of the edge is
//   low cos(t) + side sin(t) = R cos(t - t0)
// and equals the best depth at t0 - acos(best / R). That direction must still lie in the
// certified_cone. The polytope across the edge, now or later, is no nearer.
static int is_near_across(const Polytope* p, int f, int i, const Optimum* o) {
  const Face* face = &p->face[f];
  const tbReal *x = p->vert[face->vert[i]].w, *y = p->vert[face->vert[next_edge[i]]].w;
  tbReal e[3], u[3], low = p->dist[f], best = p->best;
  tb_sub3(e, y, x);
  tb_cross(u, e, face->normal);
  if (!(tb_normalize3(u) > 0)) return 0;
  tbReal side = tb_dot3(u, x), R2 = low * low + side * side;
  if (!(side > 0) || !(R2 > best * best)) return 0;
  tbReal rest = sqrt(R2 - best * best);
  tbReal cosine = (low * best + side * rest) / R2, sine = (side * best - low * rest) / R2;
  return -(cosine * tb_dot3(o->normal, face->normal) + sine * tb_dot3(o->normal, u)) >=
         o->certified_cone;
}

// Whether an optimum makes further expansion of this face unnecessary. The directions around the
// face's normal in which the polytope is nearer than the best depth end at its edges or continue
// around the normal of a neighbour; all must lie in the certified_cone of the optimum. A
// certified_cone is convex.
static int in_certified_cone(const Polytope* p, int f) {
  const Face* face = &p->face[f];
  for (int k = 0; k < p->noptimum; k++) {
    const Optimum* o = &p->optimum[k];
    int near = -tb_dot3(o->normal, face->normal) >= o->certified_cone;
    for (int i = 0; i < 3 && near; i++) near = is_near_across(p, f, i, o);
    if (near) return 1;
  }
  return 0;
}

static void add_optimum(Polytope* p, const tbConvexResult* r) {
  Optimum* o = &p->optimum[p->noptimum++];
  tb_copy3(o->normal, r->normal);
  tb_copy3(o->point_a, r->point_a);
  tb_copy3(o->point_b, r->point_b);
  o->dist = r->dist;
  o->certified_cone = r->certified_cone;
  if (-o->dist <= p->best) {
    p->best = -o->dist;
    tb_copy3(p->best_normal, o->normal);
  }
}

// An ascent from a face. A global result ends the search, a new local optimum may shorten it.
static tbAscent ascend_from(Polytope* p, int f) {
  if (p->noptimum == MAX_OPTIMA) return TB_ASCENT_OPEN;
  tbConvexResult r;
  tb_scale3(r.normal, p->face[f].normal, -1);
  r.dist = -INFINITY;
  tbAscent ascent = tb_normal_ascent(p->pair, INFINITY, &r);
  if (ascent < TB_ASCENT_LOCAL) return TB_ASCENT_OPEN;
  for (int k = 0; k < p->noptimum; k++) {
    if (tb_dot3(r.normal, p->optimum[k].normal) > 1 - 1e-9) return TB_ASCENT_OPEN;
  }
  if (ascent == TB_ASCENT_GLOBAL) r.certified_cone = -1;
  add_optimum(p, &r);
  return ascent;
}

// Expands the nearest face until the bounds meet. Returns the face that contains the answer.
static int expand(Polytope* p, tbReal stop, int* capped) {
  tbReal rounding = 1e-15 * p->pair->scale;
  int result = nearest_face(p);
  for (int f = result; f >= 0; f = nearest_face(p)) {
    tbSupportPoint at;
    if (p->noptimum > 0 && p->dist[f] >= p->best - stop) return result;
    result = f;
    tbReal best = p->best;
    tbReal reach = try_direction(p, p->face[f].normal, &at), gap = reach - p->dist[f];
    // A face with no better direction than the optimum whose certified_cone contains it is done.
    if (reach >= best && in_certified_cone(p, f)) {
      set_dist(p, f, INFINITY);
      continue;
    }
    if (p->best - p->dist[f] <= stop || gap <= rounding || is_vertex_of(p, f, at.w)) return result;
    if (p->ascending && gap < p->ascent_gap) {
      p->ascent_gap = 0.1 * gap;
      tbAscent ascent = ascend_from(p, f);
      if (ascent == TB_ASCENT_GLOBAL) return result;
      if (ascent == TB_ASCENT_LOCAL) continue;
    }
    Face kept = p->face[f];
    tbReal dist = p->dist[f];
    if (!grow(p, f, &at, rounding)) {
      // Stop, with the best answer so far; restore the face that grow removed.
      p->face[f] = kept;
      set_dist(p, f, dist);
      *capped = 1;
      return result;
    }
  }
  return result;
}

void tb_epa(tbConvexPair* pair, tbReal tolerance, tbConvexResult* r) {
  Polytope p;
  p.pair = pair;
  p.nvert = p.nface = p.nspare = p.nborder = p.noptimum = 0;
  p.ascending = !pair->polyhedral;
  p.ascent_gap = 0.02 * pair->scale;
  p.best = INFINITY;
  tb_copy3(p.best_normal, r->normal);
  if (p.ascending && r->certified) add_optimum(&p, r);
  r->state = TB_CONVEX_OVERLAP;
  r->capped = r->certified = 0;
  if (!start_polytope(&p, r)) {
    if (p.best == INFINITY) {
      tbSupportPoint at;
      p.best = -tb_pair_separation(pair, r->normal, &at);
    }
    set_result(&p, -1, r);
    return;
  }
  make_tetrahedron(&p, r->normal);
  int face = expand(&p, tolerance * pair->scale, &r->capped);
  set_result(&p, face, r);
  // The best certified optimum provides its own witness points.
  for (int k = 0; k < p.noptimum; k++) {
    const Optimum* o = &p.optimum[k];
    if (-o->dist > p.best) continue;
    tb_copy3(r->point_a, o->point_a);
    tb_copy3(r->point_b, o->point_b);
    tb_copy3(r->normal, o->normal);
    r->dist = o->dist;
    r->certified = 1;
  }
}
