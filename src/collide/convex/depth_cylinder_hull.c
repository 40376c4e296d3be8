// Depth of a cylinder and a small hull, or a proof of their separation: all directions at which s
// can be maximal, in the frame of the hull (docs/notebook/gjk.md, "Cylinders").
//
// With A_k the cylinder's axes (A_2 along it), c its centre and m an outward direction of the hull,
// all in the hull's frame,
//   s(m) = m.c - h_H(m) - r |m across A_2| - l |m.A_2|.
// Where s < 0 its maxima are normals of the hull, the axis, directions between the normals of two
// adjacent faces (an edge of the hull), and directions perpendicular to the axis that point to a
// vertex.
//
// Most edges need no evaluation. For any points x of the cylinder and y of the hull s(m) <= m.(x -
// y), so the few known points prune most of the sphere; an arc is pruned if one point prunes both
// of its ends.
#include <string.h>

#include "base/minmax.h"
#include "base/bits.h"
#include "base/kernel.h"
#include "collide/convex/arc.h"
#include "collide/convex/convex.h"
#include "collide/hull/faces.h"
#include "linalg/simd2.h"

#define MAX_FACES 256
#define MAX_POINTS 7
#define MAX_STEPS 32
// A face is preferred over a direction whose s is larger by at most this, relative to the size of
// the pair.
#define TIE 1e-12

// Which contact feature is a single point, for the witness points.
typedef enum { ONE_OF_CYLINDER, ONE_OF_HULL } Touching;

typedef struct {
  tbConvexPair* pair;
  const tbHull* hull;
  tbReal axis[3][3], c[3], r, l;
  // Per face: its normal, the components of the normal along the cylinder's axes, the length of its
  // part perpendicular to A_2, m.c minus its offset, s, and a bit for each point that prunes the
  // face.
  tbReal m[3][MAX_FACES], q[3][MAX_FACES], across[MAX_FACES], gap[MAX_FACES], s[MAX_FACES];
  int64_t pruned[MAX_FACES];
  uint8_t known[MAX_FACES];  // without AVX2: 1 for evaluated faces
  tbHullCandidates candidates;
  tbReal point[MAX_POINTS][3];
  int npoint;
  tbReal best, n[3];  // s and m of the best so far
  Touching touching;
  int end[2];  // end vertices of the contact edge; -1 if none
} Query;

static void keep(Query* q, const tbReal m[3], tbReal s, tbReal tie, Touching touching) {
  if (!(s > q->best + tie)) return;
  q->best = s;
  q->touching = touching;
  q->end[0] = q->end[1] = -1;
  tb_copy3(q->n, m);
}

TB_INLINE void evaluate_faces(Query* q) {
  const tbReal* plane = q->hull->plane;
  const tbReal *a = q->axis[0], *b = q->axis[1], *z = q->axis[2], *c = q->c;
  tbReal ax = a[0], ay = a[1], az = a[2], bx = b[0], by = b[1], bz = b[2];
  tbReal zx = z[0], zy = z[1], zz = z[2], cx = c[0], cy = c[1], cz = c[2], r = q->r, l = q->l;
  int count = q->hull->nface;
  for (int f = 0; f < count; f++) {
    tbReal mx = plane[4 * f], my = plane[4 * f + 1], mz = plane[4 * f + 2];
    tbReal qa = mx * ax + my * ay + mz * az, qb = mx * bx + my * by + mz * bz;
    tbReal qz = mx * zx + my * zy + mz * zz, across = sqrt(qa * qa + qb * qb);
    tbReal gap = mx * cx + my * cy + mz * cz - plane[4 * f + 3];
    q->m[0][f] = mx;
    q->m[1][f] = my;
    q->m[2][f] = mz;
    q->q[0][f] = qa;
    q->q[1][f] = qb;
    q->q[2][f] = qz;
    q->across[f] = across;
    q->gap[f] = gap;
    q->s[f] = gap - r * across - l * fabs(qz);
  }
}

// The same for face f, whose gap is known; returns s.
TB_INLINE tbReal evaluate_face(Query* q, int f) {
  const tbReal *m = q->hull->plane + 4 * f, *a = q->axis[0], *b = q->axis[1], *z = q->axis[2];
  tbReal qa = m[0] * a[0] + m[1] * a[1] + m[2] * a[2];
  tbReal qb = m[0] * b[0] + m[1] * b[1] + m[2] * b[2];
  tbReal qz = m[0] * z[0] + m[1] * z[1] + m[2] * z[2], across = sqrt(qa * qa + qb * qb);
  q->q[0][f] = qa;
  q->q[1][f] = qb;
  q->q[2][f] = qz;
  q->across[f] = across;
  q->known[f] = 1;
  return q->s[f] = q->gap[f] - q->r * across - q->l * fabs(qz);
}

static tbReal least_size(const Query* q) {
  return q->r < q->l ? q->r : q->l;
}

// The best face, the first of equals. Only faces high enough, by the ball inside the cylinder, are
// evaluated.
static int find_best_face(Query* q, tbReal tie) {
  uint64_t bits[TB_FACE_WORDS];
  memset(q->known, 0, sizeof q->known);
  int best = tb_hull_heights(q->hull, q->c, q->gap);
  tb_hull_higher(q->hull, q->gap, evaluate_face(q, best) + least_size(q) - tie, bits);
  // The maximum is kept in SIMD registers without branches, which would be unpredictable.
  tbSimd2Best top = {tb_simd2(-INFINITY), {best, best}};
  for (int word = 0; word < TB_FACE_WORDS; word++) {
    for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      int64_t f = 64 * word + tb_lowest_bit(rest);
      tb_simd2_keep(&top, tb_simd2(evaluate_face(q, (int)f)), (tbSimd2Mask){f, f});
    }
  }
  return (int)top.index[0];
}

// Sets the bit of each point that proves s <= best along a face's normal.
TB_INLINE void mark_pruned(Query* q) {
  int count = q->hull->nface;
  for (int f = 0; f < count; f++) q->pruned[f] = 0;
  for (int i = 0; i < q->npoint; i++) {
    tbReal x = q->point[i][0], y = q->point[i][1], z = q->point[i][2], best = q->best;
    int64_t bit = (int64_t)1 << i;
    for (int f = 0; f < count; f++) {
      tbReal most = q->m[0][f] * x + q->m[1][f] * y + q->m[2][f] * z;
      q->pruned[f] |= most <= best ? bit : 0;
    }
  }
}

// Adds the point of the cylinder lowest along m, minus a vertex of the hull.
static void add_point(Query* q, const tbReal m[3], const tbReal vertex[3]) {
  if (q->npoint == MAX_POINTS) return;
  tbReal* x = q->point[q->npoint++];
  tbReal qa = tb_dot3(m, q->axis[0]), qb = tb_dot3(m, q->axis[1]), qz = tb_dot3(m, q->axis[2]);
  tbReal across = sqrt(qa * qa + qb * qb), scale = across > 1e-12 ? q->r / across : 0;
  tb_sub3(x, q->c, vertex);
  tb_add_scaled3(x, x, -scale * qa, q->axis[0]);
  tb_add_scaled3(x, x, -scale * qb, q->axis[1]);
  tb_add_scaled3(x, x, -copysign(q->l, qz), q->axis[2]);
}

// Whether a point prunes the direction m.
static bool is_pruned(const Query* q, const tbReal m[3]) {
  for (int i = 0; i < q->npoint; i++) {
    if (tb_dot3(m, q->point[i]) <= q->best) return true;
  }
  return false;
}

// The hull's best face f, then the caps.
static void try_faces(Query* q, int f) {
  const tbHull* hull = q->hull;
  keep(q, hull->plane + 4 * f, q->s[f], 0, ONE_OF_CYLINDER);
  // The corners of that face, spread around it, are good points for pruning.
  int first = hull->face_start[f], corners = hull->face_start[f + 1] - first;
  for (int k = 0; k < 3; k++) {
    add_point(q, q->n, hull->vert + 3 * hull->face_vert[first + k * corners / 3]);
  }
  for (int k = 0; k < 2; k++) {
    tbReal m[3];
    tb_scale3(m, q->axis[2], (tb_dot3(q->c, q->axis[2]) < 0) ^ k ? -1 : 1);
    if (is_pruned(q, m)) continue;
    const tbReal* v = hull->vert + 3 * tb_hull_support(hull, m, -1);
    add_point(q, m, v);
    keep(q, m, tb_dot3(m, q->c) - tb_dot3(m, v) - q->l, 0, ONE_OF_HULL);
  }
}

// The point of the segment a b nearest to the origin.
static void nearest_on(const tbReal a[2], const tbReal b[2], tbReal x[2]) {
  tbReal ex = b[0] - a[0], ey = b[1] - a[1], length2 = ex * ex + ey * ey;
  tbReal t = length2 > 0 ? -(a[0] * ex + a[1] * ey) / length2 : 0;
  t = tb_min(tb_max(t, 0), 1);
  x[0] = a[0] + t * ex;
  x[1] = a[1] + t * ey;
}

static tbReal cross2(const tbReal a[2], const tbReal b[2]) {
  return a[0] * b[1] - a[1] * b[0];
}

static tbReal dot2(const tbReal a[2], const tbReal b[2]) {
  return a[0] * b[0] + a[1] * b[1];
}

// Directions perpendicular to the axis: the vertex of the hull nearest to the axis in the
// projection along it, if the axis passes outside (GJK in two dimensions). If the axis passes
// through the projection, an edge is better.
static void try_side(Query* q, tbReal tie) {
  const tbHull* hull = q->hull;
  tbReal corner[2][2], x[2], m[3];
  int count = 0, id[2] = {-1, -1};
  tb_sub3(m, q->c, hull->center);
  for (int k = 0; k < 2; k++) x[k] = tb_dot3(m, q->axis[k]);
  for (int step = 0; step < MAX_STEPS; step++) {
    tbReal length = sqrt(dot2(x, x)), p[2];
    // The origin is inside, or too close for an improvement of s.
    if (!(length > 1e-12 * q->pair->scale) || (count > 0 && length - q->r <= q->best + tie)) return;
    for (int k = 0; k < 3; k++) m[k] = (x[0] * q->axis[0][k] + x[1] * q->axis[1][k]) / length;
    int vertex = tb_hull_support(hull, m, -1);
    const tbReal* v = hull->vert + 3 * vertex;
    tbReal way[3];
    tb_sub3(way, q->c, v);
    for (int k = 0; k < 2; k++) p[k] = tb_dot3(way, q->axis[k]);
    if (step == 0) add_point(q, m, v);
    bool again = false;
    for (int i = 0; i < count; i++) again |= p[0] == corner[i][0] && p[1] == corner[i][1];
    if (count > 0 && (again || dot2(x, p) >= length * length * (1 - 1e-14))) {
      tbReal s = dot2(x, p) / length - q->r;
      if (!(s > q->best + tie)) return;
      keep(q, m, s, tie, ONE_OF_HULL);
      q->end[0] = count == 2 ? id[0] : -1;
      q->end[1] = id[1];
      return;
    }
    if (count == 2) {
      // The triangle contains the origin.
      tbReal a = cross2(corner[0], corner[1]), b = cross2(corner[1], p), c = cross2(p, corner[0]);
      if ((a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0)) return;
      tbReal y0[2], y1[2];
      nearest_on(corner[0], p, y0);
      nearest_on(corner[1], p, y1);
      int drop = dot2(y0, y0) < dot2(y1, y1) ? 1 : 0;
      for (int k = 0; k < 2; k++) corner[drop][k] = p[k];
      id[drop] = vertex;
    } else {
      for (int k = 0; k < 2; k++) corner[count][k] = p[k];
      id[count++] = vertex;
    }
    if (count == 1) {
      x[0] = p[0];
      x[1] = p[1];
    } else {
      nearest_on(corner[0], corner[1], x);
    }
  }
}

// n_g.P with P the support point at face f: the slope of s from face f towards face g times the
// sine of the angle between them, plus s times the cosine.
static tbReal support_from(const Query* q, int f, int g) {
  tbReal across = q->across[f] > 1e-12 ? q->across[f] : 1e-12;
  tbReal round = q->r / across * (q->q[0][f] * q->q[0][g] + q->q[1][f] * q->q[1][g]);
  return q->gap[g] - round - copysign(q->l, q->q[2][f]) * q->q[2][g];
}

static void search_arc(Query* q, const tbArc* arc, int f, int g, const tbReal e2[3], tbReal tie) {
  const tbReal* e1 = q->hull->plane + 4 * f;
  tbReal best = q->best + tie, at[2], m[3];
  if (!tb_arc_search(arc, &best, at)) return;
  for (int k = 0; k < 3; k++) m[k] = at[0] * e1[k] + at[1] * e2[k];
  keep(q, m, best, 0, ONE_OF_CYLINDER);
  const tbHull* hull = q->hull;
  int first = hull->face_start[f], last = hull->face_start[f + 1] - 1, k = first;
  while (k < last && hull->face_adj[k] != g) k++;
  q->end[0] = hull->face_vert[k];
  q->end[1] = hull->face_vert[k < last ? k + 1 : first];
}

// Searches the arc of the edge between two faces.
static void try_edge(Query* q, int f, int g, tbReal tie) {
  const tbReal *mf = q->hull->plane + 4 * f, *mg = q->hull->plane + 4 * g;
  tbReal cosine = tb_dot3(mf, mg), from_f = support_from(q, f, g), from_g = support_from(q, g, f);
  tbReal most = 0.5 * tb_max(q->s[f] + from_f, q->s[g] + from_g), cross[3], e2[3];
  if (most < 0 && most * most >= 0.5 * (1 + cosine) * q->best * q->best) return;
  tb_cross(cross, mf, mg);
  tbReal sine = tb_norm3(cross);
  if (!(sine > 1e-9)) return;
  for (int k = 0; k < 3; k++) e2[k] = (mg[k] - cosine * mf[k]) / sine;
  tbReal zf = q->q[2][f], zg = q->q[2][g], out = tb_dot3(cross, q->axis[2]) / sine;
  tbReal topf = zf > 0 || (zf == 0 && zg > 0) ? 1 : -1, topg = zg != 0 ? (zg > 0 ? 1 : -1) : topf;
  tbArc arc = {.g = {q->gap[f], (q->gap[g] - cosine * q->gap[f]) / sine},
               .z = {zf, (zg - cosine * zf) / sine},
               .out = out * out,
               .r = q->r,
               .l = q->l,
               .top = topf,
               .turn = 1,
               .n1 = {1, 0},
               .n2 = {cosine, sine},
               .s1 = q->s[f],
               .s2 = q->s[g],
               .rise1 = (from_f - cosine * q->s[f]) / sine,
               .rise2 = (from_g - cosine * q->s[g]) / sine};
  if (!(zf * zg < 0)) {
    search_arc(q, &arc, f, g, e2, tie);
    return;
  }
  // Split where m.A_2 = 0, since the rim changes there.
  tbArc rest = arc;
  tbReal scale = 1 / sqrt(arc.z[0] * arc.z[0] + arc.z[1] * arc.z[1]), slope, curvature;
  if (arc.z[1] > 0) scale = -scale;
  arc.n2[0] = rest.n1[0] = -arc.z[1] * scale;
  arc.n2[1] = rest.n1[1] = arc.z[0] * scale;
  if (arc.n2[1] < 0) {
    arc.n2[0] = rest.n1[0] = -arc.n2[0];
    arc.n2[1] = rest.n1[1] = -arc.n2[1];
  }
  arc.s2 = tb_arc_at(&arc, arc.n2, &slope, &curvature);
  arc.rise2 = -slope;
  rest.top = topg;
  rest.s1 = tb_arc_at(&rest, rest.n1, &rest.rise1, &curvature);
  search_arc(q, &arc, f, g, e2, tie);
  search_arc(q, &rest, f, g, e2, tie);
}

static void try_edges(Query* q, tbReal tie) {
  const tbHull* hull = q->hull;
  const uint8_t *at = tb_hull_cache(hull)->edges, *end = at + hull->face_start[hull->nface];
  for (; at < end; at += 2) {
    if (!(q->pruned[at[0]] & q->pruned[at[1]])) try_edge(q, at[0], at[1], tie);
  }
}

// The same for the edges that the ball inside the cylinder does not prune (docs/notebook/gjk.md eq.
// 5g).
static void try_few_edges(Query* q, tbReal tie) {
  const uint8_t* edges = q->hull->cache->edges;
  tbHullCandidates* candidates = &q->candidates;
  uint64_t bits[TB_FACE_WORDS];
  tbReal low = q->best + least_size(q);
  memset(candidates->marked, 0, sizeof candidates->marked);
  tb_hull_higher(q->hull, q->gap, low > 0 ? low * q->hull->cache->dihedral_bound : low, bits);
  tb_hull_candidates(q->hull, bits, candidates);
  for (size_t k = 0; k < candidates->nface; k++) {
    int f = candidates->face[k];
    const tbReal* m = q->hull->plane + 4 * f;
    if (!q->known[f]) evaluate_face(q, f);
    q->pruned[f] = 0;
    for (int i = 0; i < q->npoint; i++) {
      q->pruned[f] |= (int64_t)(tb_dot3(m, q->point[i]) <= q->best) << i;
    }
  }
  for (size_t k = 0; k < candidates->nedge; k++) {
    int f = edges[candidates->edge[k]], g = edges[candidates->edge[k] + 1];
    if (!(q->pruned[f] & q->pruned[g])) try_edge(q, f, g, tie);
  }
}

// Intersection of the contact edge with a line on the cylinder's side; false if the edge is
// parallel to it or ends before.
static bool find_crossing(const Query* q, tbReal y[3]) {
  if (q->end[0] < 0) return false;
  const tbReal *v = q->hull->vert + 3 * q->end[0], *w = q->hull->vert + 3 * q->end[1];
  tbReal e[3], side[3], way[3];
  tb_sub3(e, w, v);
  tb_cross(side, q->n, q->axis[2]);
  tb_sub3(way, q->c, v);
  tbReal rate = tb_dot3(e, side), t = tb_dot3(way, side) / rate;
  if (!(fabs(rate) > 1e-6 * tb_norm3(e)) || !(t >= 0 && t <= 1)) return false;
  tb_add_scaled3(y, v, t, e);
  tb_sub3(way, y, q->c);
  return fabs(tb_dot3(way, q->axis[2])) <= q->l;
}

// Sets normal and distance by exact support points, and witness points from the core whose contact
// feature is a single point. If neither is, they are support points, which do not face each other;
// the caller must still compute witness points.
static void set_result(const Query* q, tbConvexResult* r) {
  tbConvexPair* pair = q->pair;
  tbReal along = tb_dot3(q->n, q->axis[2]), y[3];
  tb_mul_mat3_vec3(r->normal, pair->mat, q->n);
  tb_scale3(r->normal, r->normal, -1);
  tb_normalize3(r->normal);
  r->dist = tb_pair_separation(pair, r->normal, &r->simplex[0]);
  r->weight[0] = r->count = 1;
  r->capped = r->certified = 0;
  tb_copy3(r->point_a, r->simplex[0].a);
  tb_copy3(r->point_b, r->simplex[0].b);
  bool rim = fabs(along) > 1e-6 && fabs(along) < 1 - 1e-12;
  if (!rim && find_crossing(q, y)) {
    tb_pair_b_to_a(pair, y, r->point_b);
    tb_add_scaled3(r->point_a, r->point_b, -r->dist, r->normal);
    return;
  }
  if (q->touching == ONE_OF_CYLINDER) {
    if (rim) tb_add_scaled3(r->point_b, r->point_a, r->dist, r->normal);
    return;
  }
  if (!tb_hull_is_alone(q->hull, r->simplex[0].ib, q->n)) return;
  tb_add_scaled3(r->point_a, r->point_b, -r->dist, r->normal);
}

// With AVX2 all faces are evaluated; otherwise only candidates, unless the shapes are separated.
TB_INLINE void search(Query* q, tbReal limit, tbReal tie, bool wide) {
  int best = 0;
  if (wide) {
    evaluate_faces(q);
    for (int f = 1; f < q->hull->nface; f++) best = q->s[f] > q->s[best] ? f : best;
  } else {
    best = find_best_face(q, tie);
  }
  try_faces(q, best);
  if (q->best > limit) return;
  try_side(q, tie);
  if (q->best > limit) return;
  if (!wide && !(q->best > 0)) {
    try_few_edges(q, tie);
    return;
  }
  if (!wide) evaluate_faces(q);
  mark_pruned(q);
  try_edges(q, tie);
}

TB_WIDE static void search_wide(Query* q, tbReal limit, tbReal tie) {
  search(q, limit, tie, true);
}

bool tb_depth_cylinder_hull_fits(const tbHull* hull) {
  return tb_hull_cache(hull)->edges && hull->nface <= MAX_FACES && hull->adj_start;
}

bool tb_depth_cylinder_hull(tbConvexPair* pair, tbReal limit, tbConvexResult* r) {
  Query q;
  q.pair = pair;
  q.hull = pair->b.hull;
  q.npoint = 0;
  q.best = q.s[0] = -INFINITY;
  q.r = pair->a.size[0];
  q.l = pair->a.size[2];
  for (int k = 0; k < 3; k++) tb_copy3(q.axis[k], pair->mat + 3 * k);
  tb_mul_mat3t_vec3(q.c, pair->mat, pair->pos);
  tb_scale3(q.c, q.c, -1);
  if (tb_wide()) {
    search_wide(&q, limit, TIE * pair->scale);
  } else {
    search(&q, limit, TIE * pair->scale, false);
  }
  set_result(&q, r);
  return tb_depth_answers(r, limit);
}
