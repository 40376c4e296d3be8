// EPA: how deep two overlapping cores are. Grows a polytope inside b - a around the origin, always
// at its face nearest to the origin (docs/gjk.md eq. 5). The nearest face is a lower bound of the
// depth, the support point along its normal an upper bound; every direction tried is remembered, so
// that the answer is the best upper bound whatever stops the loop.
#include <string.h>

#include "base/minmax.h"
#include "collide/convex/convex.h"

#define MAX_VERTS 160
#define MAX_FACES (2 * MAX_VERTS)
// Faces whose nearest is remembered together; divides MAX_FACES.
#define GROUP 8
#define GROUPS (MAX_FACES / GROUP)
#define MAX_OPTIMA 8
// Tangent of the angle at which the first points are looked for around the first direction.
#define FRONT 0.15

// A triangle, counter-clockwise seen from outside. Across the edge i, i+1 lies edge adj & 3 of face
// adj >> 2.
typedef struct {
  int vert[3];
  int adj[3];
  tbReal normal[3];
  int alive;
} Face;

// What is kept of a local optimum.
typedef struct {
  tbReal normal[3], dist, point_a[3], point_b[3];
  tbReal basin;  // cosine: the features prove its depth in all directions this near to the normal
} Optimum;

static const int next_edge[3] = {1, 2, 0};

typedef struct {
  tbConvexPair* pair;
  tbSupportPoint vert[MAX_VERTS];
  Face face[MAX_FACES];
  tbReal dist[MAX_FACES];  // of a face's plane from the origin; INFINITY for dead and flat ones
  int nearest[GROUPS];     // the nearest face of each group, unless the group is stale
  tbReal near[GROUPS];     // and its distance
  bool stale[GROUPS];
  int nvert;
  int nface;
  int spare[MAX_FACES];  // dead faces to use again
  int nspare;
  // The border of the part that a new point sees: edges of the faces that stay, packed as in adj.
  int border[MAX_FACES];
  int nborder;
  int carved[MAX_FACES];
  int ncarved;
  // Best upper bound so far.
  tbReal best;
  tbReal best_normal[3];
  // Certified local optima that Newton found for round cores, and the gap at which to try next.
  Optimum optimum[MAX_OPTIMA];
  int noptimum;
  int polishing;
  tbReal polish_gap;
} Polytope;

// Try direction m (outward of b - a): depth is at most the reach of b - a along m.
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

// Plane of a face. A face without area keeps the normal given and never is the nearest.
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
    // The rest of a new group are no faces yet.
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
  // With the determinant positive, vertex 3 lies on the side that (0 1 2) looks at.
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

// Distance of w from the flat (point, line, plane) through the first `count` vertices, as a vector.
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

// Directions in which a polytope of `count` points in general position has no extent yet.
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

// Support points in front of the best direction known, all around, and behind: the front ones span
// the face of b - a that the answer is on, or nearly.
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

// A tetrahedron with volume around the seeds and the points of GJK's simplex. Returns 0 where b - a
// has none: then the best direction found so far is the answer.
static int start_polytope(Polytope* p, const tbConvexResult* r) {
  tbReal flat = 1e-3 * p->pair->scale, apart[3];
  tbSupportPoint candidate[8];
  int seeds = 0, candidates, count = 0;
  if (!p->pair->polyhedral || r->count < 3) seeds = seed(p, r->normal, candidate);
  candidates = seeds;
  for (int i = 0; i < r->count; i++) candidate[candidates++] = r->simplex[i];
  // GJK's simplex stands in front of the origin, or around it: a point behind it makes it a body.
  if (seeds == 0) p->best = -r->dist;
  if (seeds == 0 && r->count == 3) try_direction(p, r->normal, &candidate[candidates++]);
  // Keep those that are in general position.
  for (int i = 0; i < candidates && count < 4; i++) {
    if (count > 0 && !(from_flat(p, count, candidate[i].w, apart) > flat)) continue;
    p->vert[count++] = candidate[i];
  }
  // Complete them by the farthest point in the open directions.
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

// The first of the nearest faces; -1 where none has a distance. A new point changes few faces, so
// that most groups keep their nearest.
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

static int sees(const Polytope* p, int f, const tbReal w[3], tbReal tolerance) {
  const Face* face = &p->face[f];
  tbReal arm[3];
  tb_sub3(arm, w, p->vert[face->vert[0]].w);
  return tb_dot3(face->normal, arm) > tolerance;
}

// Remove all faces that w sees, beginning with `start`, and collect the border around them in
// order: a depth-first walk over the edges, each face entered once.
static void carve(Polytope* p, int start, const tbReal w[3], tbReal tolerance) {
  int stack[MAX_FACES + 4], top = 0;
  p->nborder = 0;
  p->ncarved = 1;
  p->carved[0] = start;
  p->face[start].alive = 0;
  for (int i = 2; i >= 0; i--) stack[top++] = p->face[start].adj[i];
  while (top > 0) {
    int across = stack[--top], f = across >> 2, edge = across & 3;
    Face* face = &p->face[f];
    if (!face->alive) continue;
    if (!sees(p, f, w, tolerance)) {
      p->border[p->nborder++] = across;
      continue;
    }
    face->alive = 0;
    p->carved[p->ncarved++] = f;
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

// Replace what the new vertex sees by a fan from it to the border. Returns 0 when that fails.
static int grow(Polytope* p, int start, const tbSupportPoint* at, tbReal tolerance) {
  if (p->nvert == MAX_VERTS) return 0;
  int v = p->nvert, first = -1, previous = -1;
  carve(p, start, at->w, tolerance);
  if (!border_is_loop(p)) return 0;
  p->vert[v] = *at;
  p->nvert++;
  for (int i = 0; i < p->ncarved; i++) {
    set_dist(p, p->carved[i], INFINITY);
    p->spare[p->nspare++] = p->carved[i];
  }
  for (int i = 0; i < p->nborder; i++) {
    int g = p->border[i] >> 2, e = p->border[i] & 3;
    // The border edge runs from `from` to `to` in the face that stays, so backwards in the new one.
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

// Weights of the origin's projection on a face.
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

// Seen along directions that turn from the face's normal over its edge i, the edge moves away from
// the origin: is it as far as the best depth while still in the basin? With m the normal and u at
// right angles to it and to the edge, out of the face, the edge is at
//   low cos(t) + side sin(t) = R cos(t - t0)
// and reaches the best at t0 - acos(best / R). Whatever lies across, now or later, is no nearer.
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
  return -(cosine * tb_dot3(o->normal, face->normal) + sine * tb_dot3(o->normal, u)) >= o->basin;
}

// Does an optimum already speak for this face? The directions along which the polytope is nearer
// than the best depth, around the face's normal, end over its edges or go on around the normal of a
// neighbour: all must be where the optimum's features are proof enough. A basin is convex.
static int in_basin(const Polytope* p, int f) {
  const Face* face = &p->face[f];
  for (int k = 0; k < p->noptimum; k++) {
    const Optimum* o = &p->optimum[k];
    int near = -tb_dot3(o->normal, face->normal) >= o->basin;
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
  o->basin = r->basin;
  if (-o->dist <= p->best) {
    p->best = -o->dist;
    tb_copy3(p->best_normal, o->normal);
  }
}

// The climb from a face. What it proves ends the search, what it finds anew may make it shorter.
static tbAscent climb_from(Polytope* p, int f) {
  if (p->noptimum == MAX_OPTIMA) return TB_ASCENT_OPEN;
  tbConvexResult r;
  tb_scale3(r.normal, p->face[f].normal, -1);
  r.dist = -INFINITY;
  tbAscent ascent = tb_normal_ascent(p->pair, INFINITY, &r);
  if (ascent < TB_ASCENT_LOCAL) return TB_ASCENT_OPEN;
  for (int k = 0; k < p->noptimum; k++) {
    if (tb_dot3(r.normal, p->optimum[k].normal) > 1 - 1e-9) return TB_ASCENT_OPEN;
  }
  if (ascent == TB_ASCENT_GLOBAL) r.basin = -1;
  add_optimum(p, &r);
  return ascent;
}

// Expand the nearest face until the bounds meet. Returns the face that the answer stands on.
static int expand(Polytope* p, tbReal stop, int* capped) {
  tbReal rounding = 1e-15 * p->pair->scale;
  int result = nearest_face(p);
  for (int f = result; f >= 0; f = nearest_face(p)) {
    tbSupportPoint at;
    if (p->noptimum > 0 && p->dist[f] >= p->best - stop) return result;
    result = f;
    tbReal best = p->best;
    tbReal reach = try_direction(p, p->face[f].normal, &at), gap = reach - p->dist[f];
    // A face that has nothing better to offer than the optimum it belongs to is done.
    if (reach >= best && in_basin(p, f)) {
      set_dist(p, f, INFINITY);
      continue;
    }
    if (p->best - p->dist[f] <= stop || gap <= rounding || is_vertex_of(p, f, at.w)) return result;
    if (p->polishing && gap < p->polish_gap) {
      p->polish_gap = 0.1 * gap;
      tbAscent ascent = climb_from(p, f);
      if (ascent == TB_ASCENT_GLOBAL) return result;
      if (ascent == TB_ASCENT_LOCAL) continue;
    }
    Face kept = p->face[f];
    tbReal dist = p->dist[f];
    if (!grow(p, f, &at, rounding)) {
      // Leave the polytope as the best answer so far.
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
  p.polishing = !pair->polyhedral;
  p.polish_gap = 0.02 * pair->scale;
  p.best = INFINITY;
  tb_copy3(p.best_normal, r->normal);
  if (p.polishing && r->certified) add_optimum(&p, r);
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
  // The best of Newton's optima brings its own witness points.
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
