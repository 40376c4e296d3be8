// How deep a box and a small hull overlap, or that they do not: every face normal of their
// difference, seen from the box (docs/gjk.md, "Boxes and small hulls").
//
// With q an outward normal of the hull in the box's frame, n = -q leads from the box to the hull
// and
//   s(n) = gap(q) - sum of h_i |q_i|,   gap(q) = -q.pos - offset of the hull along q.
// Where s < 0 its maxima are normals of the hull, normals of the box, and directions across an edge
// of each. The last lie where the arc between the normals of two neighbouring faces of the hull
// crosses a plane q_k = 0, on which the box's edges along k look; gap is linear between the two.
//
// As for cylinders, s(n) <= n.(y - x) for any points x of the box and y of the hull, which puts
// most edges out of question.
#include "base/kernel.h"
#include "collide/convex.h"

#define MAX_FACES 256
// Rows of that many, a little more: a power of two apart they would be in each other's way.
#define ROW (MAX_FACES + 12)
#define MAX_EDGES (3 * MAX_FACES / 2)
#define NPOINT 4
// Faces win over what is better by no more than this, relative to the size of the pair.
#define TIE 1e-12
// The signs in the mark of a face.
#define SIGNS 7u

typedef enum { FACE_OF_HULL, FACE_OF_BOX, EDGES } Touching;

typedef struct {
  tbConvexPair* pair;
  const tbHull* hull;
  tbReal q[3][ROW], gap[ROW], s[ROW];
  uint32_t mark[ROW];       // the signs of q, and above them a bit for each hopeless point
  tbReal point[NPOINT][3];  // of the hull less one of the box
  tbReal best, n[3];        // the best s so far and its normal, from the box to the hull
  Touching touching;
  int face[2], axis;  // what touches: a face, or the faces beside an edge and the box's axis
  int vertex;         // of the hull, where a face of the box touches
} Query;

// All normals of the hull, and the best of them: four chains, the first of equals wins. Indices are
// numbers of the same width as what they belong to.
TB_INLINE void try_faces(Query* q) {
  const tbReal *R = q->pair->mat, *pos = q->pair->pos, *h = q->pair->a.size;
  tbReal r0 = R[0], r1 = R[1], r2 = R[2], r3 = R[3], r4 = R[4], r5 = R[5], r6 = R[6], r7 = R[7];
  tbReal r8 = R[8], x = -pos[0], y = -pos[1], z = -pos[2], hx = h[0], hy = h[1], hz = h[2];
  int count = q->hull->nplane;
  const tbReal *mx = q->hull->planes, *my = mx + count, *mz = my + count, *offset = mz + count;
  for (int f = 0; f < count; f++) {
    tbReal qx = mx[f] * r0 + my[f] * r1 + mz[f] * r2, qy = mx[f] * r3 + my[f] * r4 + mz[f] * r5;
    tbReal qz = mx[f] * r6 + my[f] * r7 + mz[f] * r8;
    tbReal gap = qx * x + qy * y + qz * z - offset[f];
    q->q[0][f] = qx;
    q->q[1][f] = qy;
    q->q[2][f] = qz;
    q->gap[f] = gap;
    q->s[f] = gap - (hx * fabs(qx) + hy * fabs(qy) + hz * fabs(qz));
  }
  tbReal most[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, at[4] = {0, 0, 0, 0};
  tbReal index[4] = {0, 1, 2, 3};
  for (int f = 0; f < count; f += 4) {
    for (int k = 0; k < 4; k++) at[k] = q->s[f + k] > most[k] ? index[k] : at[k];
    for (int k = 0; k < 4; k++) most[k] = q->s[f + k] > most[k] ? q->s[f + k] : most[k];
    for (int k = 0; k < 4; k++) index[k] += 4;
  }
  int best = 0;
  for (int k = 1; k < 4; k++) {
    bool better = (most[k] > most[best]) | ((most[k] == most[best]) & (at[k] < at[best]));
    best = better ? k : best;
  }
  q->best = most[best];
  q->touching = FACE_OF_HULL;
  q->face[0] = (int)at[best];
  for (int k = 0; k < 3; k++) q->n[k] = -q->q[k][q->face[0]];
}

// Points that put directions out of question: the corner of the box that looks at the hull's best
// face with corners of that, and the centres.
TB_INLINE void set_points(Query* q) {
  const tbHull* hull = q->hull;
  const tbConvexPair* pair = q->pair;
  int f = q->face[0], first = hull->face_start[f], corners = hull->face_start[f + 1] - first;
  for (int i = 0; i < NPOINT; i++) {
    tbReal* y = q->point[i];
    const tbReal* local = hull->center;
    if (i > 0) local = hull->vert + 3 * hull->face_vert[first + (i - 1) * corners / 3];
    tb_pair_b_to_a(pair, local, y);
    for (int k = 0; k < 3 && i > 0; k++) y[k] += copysign(pair->a.size[k], q->q[k][f]);
  }
}

// The normals of the box.
static void try_box_faces(Query* q) {
  const tbConvexPair* pair = q->pair;
  for (int side = 0; side < 6; side++) {
    int k = side / 2;
    tbReal sign = side % 2 ? -1 : 1, d[3], s = INFINITY;
    for (int i = 0; i < NPOINT; i++) {
      s = sign * q->point[i][k] < s ? sign * q->point[i][k] : s;
    }
    if (!(s > q->best)) continue;
    tb_scale3(d, pair->mat + 3 * k, -sign);
    int vertex = tb_hull_search_all(q->hull, d);
    s = sign * pair->pos[k] - tb_dot3(d, q->hull->vert + 3 * vertex) - pair->a.size[k];
    if (!(s > q->best)) continue;
    q->vertex = vertex;
    q->best = s;
    q->touching = FACE_OF_BOX;
    tb_zero3(q->n);
    q->n[k] = sign;
  }
}

// Signs of the hull's normals, and bits of the points that allow nothing better than the best
// there.
TB_INLINE void mark_faces(Query* q) {
  const tbReal(*p)[3] = (const tbReal(*)[3])q->point;
  tbReal x0 = -p[0][0], y0 = -p[0][1], z0 = -p[0][2], x1 = -p[1][0], y1 = -p[1][1], z1 = -p[1][2];
  tbReal x2 = -p[2][0], y2 = -p[2][1], z2 = -p[2][2], x3 = -p[3][0], y3 = -p[3][1], z3 = -p[3][2];
  tbReal best = q->best;
  int count = q->hull->nplane;
  for (int f = 0; f < count; f++) {
    // As numbers, which wide registers choose between.
    tbReal x = q->q[0][f], y = q->q[1][f], z = q->q[2][f];
    tbReal sign = (x < 0 ? 1.0 : 0.0) + (y < 0 ? 2.0 : 0.0) + (z < 0 ? 4.0 : 0.0);
    tbReal hopeless = (x * x0 + y * y0 + z * z0 <= best ? 8.0 : 0.0) +
                      (x * x1 + y * y1 + z * z1 <= best ? 16.0 : 0.0) +
                      (x * x2 + y * y2 + z * z2 <= best ? 32.0 : 0.0) +
                      (x * x3 + y * y3 + z * z3 <= best ? 64.0 : 0.0);
    q->mark[f] = (uint32_t)(int32_t)(sign + hopeless);
  }
}

// The place on the arc from face f to face g where q_k = 0.
TB_INLINE void try_edge(Query* q, int f, int g, int k, tbReal tie) {
  const tbReal* h = q->pair->a.size;
  int i = k < 2 ? k + 1 : 0, j = k > 0 ? k - 1 : 2;
  tbReal from_f = fabs(q->q[k][g]), from_g = fabs(q->q[k][f]);
  tbReal u = from_f * q->q[i][f] + from_g * q->q[i][g];
  tbReal v = from_f * q->q[j][f] + from_g * q->q[j][g];
  tbReal gap = from_f * q->gap[f] + from_g * q->gap[g] - h[i] * fabs(u) - h[j] * fabs(v);
  tbReal length2 = u * u + v * v, best = q->best + tie;
  // gap > best |(u, v)|, without the root.
  bool better = gap < 0 ? best < 0 && gap * gap < best * best * length2
                        : length2 > 0 && (best < 0 || gap * gap > best * best * length2);
  if (!better) return;
  tbReal length = sqrt(length2);
  q->best = gap / length;
  q->touching = EDGES;
  q->face[0] = f;
  q->face[1] = g;
  q->axis = k;
  q->n[k] = 0;
  q->n[i] = -u / length;
  q->n[j] = -v / length;
}

// Edges that no point puts out of question and that cross a plane q_k = 0; those are listed first,
// without branches, because which are cannot be predicted. (Gathers of wide registers are slower.)
TB_INLINE void try_edges(Query* q, tbReal tie) {
  const uint8_t* edges = q->hull->edges;
  const uint32_t* mark = q->mark;
  uint16_t list[MAX_EDGES + 1];
  size_t count = 0, left = 0, total = (size_t)q->hull->face_start[q->hull->nface];
  for (size_t e = 0; e < total; e += 2) {
    list[count] = (uint16_t)e;
    count += (mark[edges[e]] & mark[edges[e + 1]]) <= SIGNS;
  }
  for (size_t c = 0; c < count; c++) {
    size_t e = list[c];
    list[left] = (uint16_t)e;
    left += ((mark[edges[e]] ^ mark[edges[e + 1]]) & SIGNS) > 0;
  }
  for (size_t c = 0; c < left; c++) {
    int f = edges[list[c]], g = edges[list[c] + 1];
    uint32_t differ = mark[f] ^ mark[g];
    if (differ & 1) try_edge(q, f, g, 0, tie);
    if (differ & 2) try_edge(q, f, g, 1, tie);
    if (differ & 4) try_edge(q, f, g, 2, tie);
  }
}

// The vertices of the edge between two faces.
static void edge_between(const tbHull* hull, int f, int g, int end[2]) {
  int first = hull->face_start[f], last = hull->face_start[f + 1] - 1, at = first;
  while (at < last && hull->face_adj[at] != g) at++;
  end[0] = hull->face_vert[at];
  end[1] = hull->face_vert[at < last ? at + 1 : first];
}

// The point of the hull's edge that lies over the box's edge along the normal; false where the
// edges are parallel.
static bool find_crossing(const Query* q, const int end[2], const tbReal corner[3], tbReal y[3]) {
  const tbConvexPair* pair = q->pair;
  tbReal v[3], w[3], e[3], way[3], axis[3] = {0, 0, 0}, side[3];
  tb_pair_b_to_a(pair, q->hull->vert + 3 * end[0], v);
  tb_pair_b_to_a(pair, q->hull->vert + 3 * end[1], w);
  tb_sub3(e, w, v);
  tb_sub3(way, corner, v);
  axis[q->axis] = 1;
  tb_cross(side, q->n, axis);
  tbReal rate = tb_dot3(e, side), t = tb_dot3(way, side) / rate;
  if (!(fabs(rate) > 1e-6 * tb_norm3(e)) || !(t >= 0 && t <= 1)) return false;
  tb_add_scaled3(y, v, t, e);
  return fabs(y[q->axis]) <= pair->a.size[q->axis];
}

// Does the vertex of the hull touch alone? A neighbour may be as deep.
static bool is_alone(const tbHull* hull, int v, const tbReal d[3]) {
  for (int k = hull->adj_start[v]; k < hull->adj_start[v + 1]; k++) {
    tbReal e[3];
    tb_sub3(e, hull->vert + 3 * v, hull->vert + 3 * hull->adj[k]);
    if (tb_dot3(e, d) < 1e-6 * hull->radius) return false;
  }
  return true;
}

// The support points of both along the normal. Those of the hull are corners of what touches, since
// its vertices obey its planes.
static void set_support(const Query* q, const tbReal n[3], const int end[2], tbSupport* at) {
  tbConvexPair* pair = q->pair;
  const tbHull* hull = q->hull;
  at->ia = tb_core_support(&pair->a, n, at->a);
  at->ib = end[0];
  if (q->touching == FACE_OF_HULL) at->ib = hull->face_vert[hull->face_start[q->face[0]]];
  if (q->touching == FACE_OF_BOX) at->ib = q->vertex;
  tb_pair_b_to_a(pair, hull->vert + 3 * at->ib, at->b);
  tb_sub3(at->w, at->b, at->a);
  pair->b.known = pair->b.hint = at->ib;
  pair->evaluations++;
}

// Normal, distance, and witness points where one point touches; elsewhere support points, which do
// not face each other: the manifold knows better.
static void set_result(const Query* q, tbConvexResult* r) {
  tbConvexPair* pair = q->pair;
  int end[2] = {-1, -1};
  if (q->touching == EDGES) edge_between(q->hull, q->face[0], q->face[1], end);
  tb_copy3(r->normal, q->n);
  tb_normalize3(r->normal);
  set_support(q, r->normal, end, &r->simplex[0]);
  r->dist = tb_dot3(r->normal, r->simplex[0].w);
  r->weight[0] = r->count = 1;
  r->capped = r->certified = 0;
  tb_copy3(r->point_a, r->simplex[0].a);
  tb_copy3(r->point_b, r->simplex[0].b);
  const tbReal* n = r->normal;
  tbReal d[3], y[3];
  switch (q->touching) {
    case FACE_OF_HULL:
      if ((fabs(n[0]) < 1e-6) | (fabs(n[1]) < 1e-6) | (fabs(n[2]) < 1e-6)) return;
      tb_add_scaled3(r->point_b, r->point_a, r->dist, n);
      return;
    case FACE_OF_BOX:
      tb_mul_mat3t_vec3(d, pair->mat, n);
      tb_scale3(d, d, -1);
      if (!is_alone(q->hull, q->vertex, d)) return;
      tb_add_scaled3(r->point_a, r->point_b, -r->dist, n);
      return;
    default:
      if (!find_crossing(q, end, r->simplex[0].a, y)) return;
      tb_copy3(r->point_b, y);
      tb_add_scaled3(r->point_a, y, -r->dist, n);
  }
}

TB_INLINE void search(Query* q, tbReal limit, tbReal tie) {
  try_faces(q);
  if (q->best > limit) return;
  set_points(q);
  try_box_faces(q);
  if (q->best > limit) return;
  mark_faces(q);
  try_edges(q, tie);
}

TB_WIDE static void search_wide(Query* q, tbReal limit, tbReal tie) {
  search(q, limit, tie);
}

bool tb_depth_box_hull_fits(const tbHull* hull) {
  return hull->edges && hull->flat && hull->nface <= MAX_FACES && hull->adj_start;
}

bool tb_depth_box_hull(tbConvexPair* pair, tbReal limit, tbConvexResult* r) {
  Query q;
  q.pair = pair;
  q.hull = pair->b.hull;
  if (tb_wide()) {
    search_wide(&q, limit, TIE * pair->scale);
  } else {
    search(&q, limit, TIE * pair->scale);
  }
  set_result(&q, r);
  r->state = r->dist > 0 ? TB_CONVEX_APART : TB_CONVEX_OVERLAP;
  return r->dist <= 0 || r->dist > limit;
}
