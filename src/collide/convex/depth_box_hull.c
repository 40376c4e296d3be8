// Depth of a box and a small hull, or a proof of their separation: all normals at which s can be
// maximal, in the frame of the box (docs/notebook/gjk.md, "Boxes and small hulls").
//
// With q an outward normal of the hull in the box's frame, n = -q points from the box to the hull
// and
//   s(n) = gap(q) - sum of h_i |q_i|,   gap(q) = -q.pos - offset of the hull along q.
// Where s < 0 its maxima are normals of the hull, normals of the box, and normals perpendicular to
// an edge of each. The last lie where the arc between the normals of two adjacent faces of the hull
// crosses a plane q_k = 0, the Gauss image of the box's edges along k; gap is linear between the
// two.
//
// As for cylinders, s(n) <= n.(y - x) for any points x of the box and y of the hull, which prunes
// most edges.
#include <string.h>

#include "base/bits.h"
#include "base/kernel.h"
#include "collide/convex/convex.h"
#include "collide/hull/faces.h"
#include "linalg/simd2.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_AVX2 1
#endif

#define MAX_FACES 256
// Row length: slightly more, since rows a power of two apart compete for the same cache lines.
#define ROW (MAX_FACES + 12)
#define MAX_EDGES (3 * MAX_FACES / 2)
#define NPOINT 4
// A face is preferred over a direction whose s is larger by at most this, relative to the size of
// the pair.
#define TIE 1e-12
// The bits of a face's mark that hold signs.
#define SIGNS 7u

typedef enum { FACE_OF_HULL, FACE_OF_BOX, EDGES } Touching;

typedef struct {
  tbConvexPair* pair;
  const tbHull* hull;
  tbReal q[3][ROW], gap[ROW];
  uint8_t mark[ROW];            // the signs of q, then a bit for each point that prunes the face
  tbReal height[ROW];           // without AVX2: height of the box's centre above each face
  tbHullCandidates candidates;  // candidate edges, and marks of the evaluated faces
  tbReal point[NPOINT][3];      // of the hull minus a point of the box
  tbReal best, n[3];            // the best s so far and its normal, from the box to the hull
  Touching touching;
  int face[2], axis;  // contact: a face, or the faces adjacent to an edge and the box's axis
  int vertex;         // of the hull, at a face contact of the box
} Query;

static void keep_face(Query* q, int face, tbReal s) {
  q->best = s;
  q->touching = FACE_OF_HULL;
  q->face[0] = face;
  tb_mul_mat3_vec3(q->n, q->pair->mat, q->hull->plane + 4 * face);
  tb_scale3(q->n, q->n, -1);
}

// Evaluates face f of the hull: q and gap in the box's frame, and the signs in its mark. Returns s.
TB_INLINE tbReal evaluate_face(Query* q, int f) {
  const tbReal *R = q->pair->mat, *pos = q->pair->pos, *h = q->pair->a.size;
  const tbReal* m = q->hull->plane + 4 * f;
  tbReal qx = m[0] * R[0] + m[1] * R[1] + m[2] * R[2];
  tbReal qy = m[0] * R[3] + m[1] * R[4] + m[2] * R[5];
  tbReal qz = m[0] * R[6] + m[1] * R[7] + m[2] * R[8];
  tbReal gap = qx * -pos[0] + qy * -pos[1] + qz * -pos[2] - m[3];
  q->q[0][f] = qx;
  q->q[1][f] = qy;
  q->q[2][f] = qz;
  q->gap[f] = gap;
  q->mark[f] = (uint8_t)((qx < 0) | (qy < 0) << 1 | (qz < 0) << 2);
  return gap - (h[0] * fabs(qx) + h[1] * fabs(qy) + h[2] * fabs(qz));
}

static tbReal least_size(const Query* q) {
  const tbReal* h = q->pair->a.size;
  tbReal least = h[0] < h[1] ? h[0] : h[1];
  return least < h[2] ? least : h[2];
}

// The best face normal of the hull; the first of equals wins. The ball inside the box gives
//   s(n) <= gap(q) - least of h,
// and gap(q) of a face is the height of the box's centre above it, so only few faces are
// candidates.
static void try_faces(Query* q, tbReal tie) {
  uint64_t bits[TB_FACE_WORDS];
  tbReal away[3], center[3];
  tb_scale3(away, q->pair->pos, -1);
  tb_mul_mat3t_vec3(center, q->pair->mat, away);
  memset(q->candidates.marked, 0, sizeof q->candidates.marked);
  int best = tb_hull_heights(q->hull, center, q->height);
  tbReal most = evaluate_face(q, best);
  tb_hull_higher(q->hull, q->height, most + least_size(q) - tie, bits);
  // The maximum is kept in SIMD registers without branches, which would be unpredictable.
  tbSimd2Best top = {tb_simd2(-INFINITY), {best, best}};
  for (int word = 0; word < TB_FACE_WORDS; word++) {
    for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      int64_t f = 64 * word + tb_lowest_bit(rest);
      tb_simd2_keep(&top, tb_simd2(evaluate_face(q, (int)f)), (tbSimd2Mask){f, f});
      q->candidates.marked[f] = 1;
    }
  }
  best = tb_simd2_top(top, &most);
  keep_face(q, best, most);
}

// Points of b - a that prune directions: corners of the hull's best face minus the corner of the
// box opposite to it, and the difference of the centres.
static void set_points(Query* q) {
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

// The face normals of the box.
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

// Computes the mark of all faces: the signs of q, and a bit for each point that proves s <= best
// along the face's normal.
static void mark_faces(Query* q) {
  int count = q->hull->nface;
  for (int f = 0; f < count; f++) {
    tbReal x = q->q[0][f], y = q->q[1][f], z = q->q[2][f];
    unsigned mark = (unsigned)(x < 0) | (unsigned)(y < 0) << 1 | (unsigned)(z < 0) << 2;
    for (int i = 0; i < NPOINT; i++) {
      const tbReal* p = q->point[i];
      mark |= (unsigned)(x * -p[0] + y * -p[1] + z * -p[2] <= q->best) << (3 + i);
    }
    q->mark[f] = (uint8_t)mark;
  }
}

// The edges that no point prunes and whose arc crosses a plane q_k = 0.
static size_t list_unpruned(Query* q) {
  const uint8_t *edges = q->hull->cache->edges, *mark = q->mark;
  size_t count = 0, total = (size_t)q->hull->face_start[q->hull->nface];
  for (size_t e = 0; e < total; e += 2) {
    unsigned f = mark[edges[e]], g = mark[edges[e + 1]];
    q->candidates.edge[count] = (uint16_t)e;
    count += ((f & g) <= SIGNS) & (((f ^ g) & SIGNS) > 0);
  }
  return count;
}

// Candidate edges. If both adjacent faces have gap < T, gap between them is at most T, or T over
// the hull's `bend` where T > 0 (docs/notebook/gjk.md eq. 5g).
static size_t list_edges(Query* q) {
  uint64_t bits[TB_FACE_WORDS];
  tbReal low = q->best + least_size(q);
  if (q->best > 0) {
    // Separated shapes, for which neither bound holds: the same edges as the AVX2 version lists.
    for (int f = 0; f < q->hull->nface; f++) evaluate_face(q, f);
    mark_faces(q);
    return list_unpruned(q);
  }
  tb_hull_higher(q->hull, q->height, low > 0 ? low * q->hull->cache->dihedral_bound : low, bits);
  tb_hull_candidates(q->hull, bits, &q->candidates);
  for (size_t k = 0; k < q->candidates.nface; k++) evaluate_face(q, q->candidates.face[k]);
  return q->candidates.nedge;
}

#ifdef HAVE_AVX2
// x a + y b + z c, summed in that order.
TB_WIDE static inline __m256d dot_wide(__m256d x, __m256d y, __m256d z, const tbReal v[3]) {
  __m256d xy =
      _mm256_add_pd(_mm256_mul_pd(x, _mm256_set1_pd(v[0])), _mm256_mul_pd(y, _mm256_set1_pd(v[1])));
  return _mm256_add_pd(xy, _mm256_mul_pd(z, _mm256_set1_pd(v[2])));
}

// All face normals of the hull, four at a time, and the best of them; the first of equals wins.
// Indices are carried along as doubles.
TB_WIDE static void try_faces_wide(Query* q) {
  const tbReal *R = q->pair->mat, *pos = q->pair->pos, *h = q->pair->a.size;
  const tbReal away[3] = {-pos[0], -pos[1], -pos[2]};
  const tbHullCache* cache = q->hull->cache;
  int count = cache->nplane;
  const tbReal *mx = cache->planes, *my = mx + count, *mz = my + count, *offset = mz + count;
  __m256d most = _mm256_set1_pd(-INFINITY), index = _mm256_set_pd(3, 2, 1, 0), best = index;
  __m256d minus = _mm256_set1_pd(-0.0), step = _mm256_set1_pd(4);
  for (int f = 0; f < count; f += 4) {
    __m256d x = _mm256_loadu_pd(mx + f), y = _mm256_loadu_pd(my + f), z = _mm256_loadu_pd(mz + f);
    __m256d qx = dot_wide(x, y, z, R), qy = dot_wide(x, y, z, R + 3);
    __m256d qz = dot_wide(x, y, z, R + 6);
    __m256d gap = _mm256_sub_pd(dot_wide(qx, qy, qz, away), _mm256_loadu_pd(offset + f));
    _mm256_storeu_pd(q->q[0] + f, qx);
    _mm256_storeu_pd(q->q[1] + f, qy);
    _mm256_storeu_pd(q->q[2] + f, qz);
    _mm256_storeu_pd(q->gap + f, gap);
    __m256d reach = dot_wide(_mm256_andnot_pd(minus, qx), _mm256_andnot_pd(minus, qy),
                             _mm256_andnot_pd(minus, qz), h);
    __m256d s = _mm256_sub_pd(gap, reach);
    best = _mm256_blendv_pd(best, index, _mm256_cmp_pd(s, most, _CMP_GT_OQ));
    most = _mm256_max_pd(s, most);
    index = _mm256_add_pd(index, step);
  }
  tbReal value[4], at[4];
  _mm256_storeu_pd(value, most);
  _mm256_storeu_pd(at, best);
  int top = 0;
  for (int k = 1; k < 4; k++) {
    bool better = (value[k] > value[top]) | ((value[k] == value[top]) & (at[k] < at[top]));
    top = better ? k : top;
  }
  keep_face(q, (int)at[top], value[top]);
}

TB_WIDE static inline __m256i bit_where(__m256d mask, int bit) {
  return _mm256_and_si256(_mm256_castpd_si256(mask), _mm256_set1_epi64x(bit));
}

TB_WIDE static void mark_faces_wide(Query* q) {
  const __m256i low = _mm256_set_epi32(0, 0, 0, 0, 6, 4, 2, 0);
  const __m128i bytes = _mm_set_epi32(-1, -1, -1, 0x0c080400);
  __m256d best = _mm256_set1_pd(q->best), zero = _mm256_setzero_pd();
  tbReal away[NPOINT][3];
  for (int i = 0; i < NPOINT; i++) tb_scale3(away[i], q->point[i], -1);
  for (int f = 0; f < q->hull->cache->nplane; f += 4) {
    __m256d x = _mm256_loadu_pd(q->q[0] + f), y = _mm256_loadu_pd(q->q[1] + f);
    __m256d z = _mm256_loadu_pd(q->q[2] + f);
    __m256i mark = bit_where(_mm256_cmp_pd(x, zero, _CMP_LT_OQ), 1);
    mark = _mm256_or_si256(mark, bit_where(_mm256_cmp_pd(y, zero, _CMP_LT_OQ), 2));
    mark = _mm256_or_si256(mark, bit_where(_mm256_cmp_pd(z, zero, _CMP_LT_OQ), 4));
    for (int i = 0; i < NPOINT; i++) {
      __m256d most = dot_wide(x, y, z, away[i]);
      mark = _mm256_or_si256(mark, bit_where(_mm256_cmp_pd(most, best, _CMP_LE_OQ), 8 << i));
    }
    __m128i four = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(mark, low));
    int packed = _mm_cvtsi128_si32(_mm_shuffle_epi8(four, bytes));
    memcpy(q->mark + f, &packed, sizeof packed);
  }
}

// As list_unpruned, for sixteen edges at a time: marks are looked up in tables of sixteen bytes.
TB_WIDE static size_t list_edges_wide(Query* q) {
  size_t count = 0, total = (size_t)q->hull->face_start[q->hull->nface];
  int tables = (q->hull->cache->nplane + 15) / 16;
  mark_faces_wide(q);
  memset(q->mark + q->hull->cache->nplane, 0, 12);
  for (size_t e = 0; e < total; e += 32) {
    uint8_t rest[32] = {0};
    const uint8_t* from = q->hull->cache->edges + e;
    if (total - e < 32) {
      memcpy(rest, from, total - e);
      from = rest;
    }
    __m256i place = _mm256_loadu_si256((const __m256i*)(const void*)from);
    __m256i mark = _mm256_setzero_si256();
    for (int t = 0; t < tables; t++) {
      __m128i row = _mm_loadu_si128((const __m128i*)(const void*)(q->mark + 16 * t));
      // Indices outside this table get their highest bit set, for which the shuffle returns zero.
      __m256i at = _mm256_adds_epu8(place, _mm256_set1_epi8(0x70));
      mark = _mm256_or_si256(mark, _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(row), at));
      place = _mm256_sub_epi8(place, _mm256_set1_epi8(16));
    }
    // The marks of both adjacent faces are the two bytes of a word.
    __m256i other = _mm256_srli_epi16(mark, 8), none = _mm256_setzero_si256();
    __m256i both = _mm256_and_si256(_mm256_and_si256(mark, other), _mm256_set1_epi16(0x78));
    __m256i differ = _mm256_and_si256(_mm256_xor_si256(mark, other), _mm256_set1_epi16(SIGNS));
    __m256i open =
        _mm256_andnot_si256(_mm256_cmpeq_epi16(differ, none), _mm256_cmpeq_epi16(both, none));
    uint32_t bits = (uint32_t)_mm256_movemask_epi8(open) & 0x55555555u;
    for (; bits != 0; bits &= bits - 1) {
      size_t edge = e + (size_t)__builtin_ctz(bits);
      if (edge < total) q->candidates.edge[count++] = (uint16_t)edge;
    }
  }
  return count;
}
#else
static void try_faces_wide(Query* q) {
  try_faces(q, 0);
}

static size_t list_edges_wide(Query* q) {
  return list_edges(q);
}
#endif

// A crossing of the arc from face f to face g with q_k = 0: f, g and k as bytes, lowest first.
typedef uint32_t Crossing;

// The other two axes by table, since a branch on k would be unpredictable.
static const uint8_t after[3] = {1, 2, 0}, before[3] = {2, 0, 1};

// All crossings of the listed edges, without branches, which would be unpredictable.
static size_t list_crossings(const Query* q, size_t count, Crossing* crossing) {
  const uint8_t* edges = q->hull->cache->edges;
  size_t crossings = 0;
  for (size_t c = 0; c < count; c++) {
    uint32_t f = edges[q->candidates.edge[c]], g = edges[q->candidates.edge[c] + 1];
    unsigned differ = (unsigned)(q->mark[f] ^ q->mark[g]);
    for (unsigned k = 0; k < 3; k++) {
      crossing[crossings] = f | g << 8 | k << 16;
      crossings += differ >> k & 1;
    }
  }
  return crossings;
}

// s at a crossing, squared with its sign, and the two nonzero components of q there, unnormalized.
static inline tbReal cross(const Query* q, Crossing at, tbReal* u, tbReal* v) {
  const tbReal* h = q->pair->a.size;
  int f = at & UINT8_MAX, g = at >> 8 & UINT8_MAX, k = at >> 16, i = after[k], j = before[k];
  tbReal from_f = fabs(q->q[k][g]), from_g = fabs(q->q[k][f]);
  *u = from_f * q->q[i][f] + from_g * q->q[i][g];
  *v = from_f * q->q[j][f] + from_g * q->q[j][g];
  tbReal gap = from_f * q->gap[f] + from_g * q->gap[g] - h[i] * fabs(*u) - h[j] * fabs(*v);
  return gap * fabs(gap) / (*u * *u + *v * *v);
}

// The normals perpendicular to an edge of the box and an edge of the hull.
static void try_edges(Query* q, size_t count, tbReal tie) {
  Crossing crossing[3 * MAX_EDGES + 1];
  size_t crossings = list_crossings(q, count, crossing);
  tbReal u, v, best;
  tbSimd2Best most = {tb_simd2(-INFINITY), {0, 0}};
  tbSimd2Mask index = {0, 1};
  // Crossings are evaluated in pairs; an odd last one is paired with the first again.
  crossing[crossings] = crossing[0];
  for (size_t c = 0; c < crossings; c += 2, index += 2) {
    tbSimd2 s = {cross(q, crossing[c], &u, &v), cross(q, crossing[c + 1], &u, &v)};
    tb_simd2_keep(&most, s, index);
  }
  Crossing at = crossing[tb_simd2_top(most, &best)];
  best = copysign(sqrt(fabs(best)), best);
  if (!(best > q->best + tie)) return;
  cross(q, at, &u, &v);
  tbReal length = sqrt(u * u + v * v);
  int k = at >> 16, i = after[k], j = before[k];
  q->best = best;
  q->touching = EDGES;
  q->face[0] = at & UINT8_MAX;
  q->face[1] = at >> 8 & UINT8_MAX;
  q->axis = k;
  q->n[k] = 0;
  q->n[i] = -u / length;
  q->n[j] = -v / length;
}

// The end vertices of the edge between two faces.
static void edge_between(const tbHull* hull, int f, int g, int end[2]) {
  int first = hull->face_start[f], last = hull->face_start[f + 1] - 1, at = first;
  while (at < last && hull->face_adj[at] != g) at++;
  end[0] = hull->face_vert[at];
  end[1] = hull->face_vert[at < last ? at + 1 : first];
}

// The point of the hull's edge that lies over the box's edge along the normal; false if the edges
// are parallel or the point is beyond an end.
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

// The support points of both cores along the normal. For the hull a corner of the contact feature
// suffices, since its vertices satisfy all its planes to rounding.
static void set_support(const Query* q, const tbReal n[3], const int end[2], tbSupportPoint* at) {
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

// Sets normal, distance, and witness points if one feature is a single point. Otherwise the points
// are support points, which do not face each other; the manifold computes better ones.
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
      if (!tb_hull_is_alone(q->hull, q->vertex, d)) return;
      tb_add_scaled3(r->point_a, r->point_b, -r->dist, n);
      return;
    default:
      if (!find_crossing(q, end, r->simplex[0].a, y)) return;
      tb_copy3(r->point_b, y);
      tb_add_scaled3(r->point_a, y, -r->dist, n);
  }
}

static void search(Query* q, tbReal limit, tbReal tie) {
  bool wide = tb_wide();
  if (wide) {
    try_faces_wide(q);
  } else {
    try_faces(q, tie);
  }
  if (q->best > limit) return;
  set_points(q);
  try_box_faces(q);
  if (q->best > limit) return;
  try_edges(q, wide ? list_edges_wide(q) : list_edges(q), tie);
}

bool tb_depth_box_hull_fits(const tbHull* hull) {
  return tb_hull_cache(hull)->edges && hull->cache->exact_planes && hull->nface <= MAX_FACES &&
         hull->adj_start;
}

bool tb_depth_box_hull(tbConvexPair* pair, tbReal limit, tbConvexResult* r) {
  Query q;
  q.pair = pair;
  q.hull = pair->b.hull;
  search(&q, limit, TIE * pair->scale);
  set_result(&q, r);
  return tb_depth_answers(r, limit);
}
