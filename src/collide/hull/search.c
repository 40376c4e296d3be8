// Tables for fast support searches: a structure-of-arrays copy for SIMD scans of all vertices of
// small hulls, and a direction table (cells.c) for larger ones.
#include <stdint.h>

#include "base/kernel.h"
#include "collide/hull/hull.h"
#include "collide/hull/cells.h"
#include "linalg/simd2.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_AVX2 1
#endif

// Number of vertices per group: two AVX2 registers of four.
#define LANE_GROUP 8
// Tolerance of vertices on their planes, relative to the size of the hull.
#define FLAT 1e-12

static int lane_count(const tbHull* hull) {
  return (hull->nvert + LANE_GROUP - 1) / LANE_GROUP * LANE_GROUP;
}

static int plane_count(const tbHull* hull) {
  return (hull->nface + 3) / 4 * 4;
}

// Bytes of the edge list, which stores the pair of adjacent faces of each edge.
static size_t edge_bytes(const tbHull* hull) {
  bool numbered = hull->nface > 3 && hull->nface <= UINT8_MAX + 1 && hull->face_adj;
  return numbered ? (size_t)hull->face_start[hull->nface] : 0;
}

// Bytes of a small hull's arrays, which precede its cells: lanes, planes, edges.
static size_t lane_bytes(const tbHull* hull) {
  size_t reals = 3 * (size_t)lane_count(hull), edges = edge_bytes(hull);
  if (edges > 0) reals += 4 * (size_t)plane_count(hull);
  return sizeof(tbReal) * reals + (edges + 1) / 2 * 2;
}

size_t tb_hull_search_bytes(const tbHull* hull) {
  if (hull->nvert < 1) return 0;
  return tb_hull_cells_bytes(hull) + (hull->nvert <= TB_HULL_LANES ? lane_bytes(hull) : 0);
}

static void fill_lanes(const tbHull* hull, tbHullCache* cache, tbReal* lanes) {
  int count = lane_count(hull);
  for (int i = 0; i < count; i++) {
    const tbReal* x = hull->vert + 3 * (i < hull->nvert ? i : 0);
    for (int k = 0; k < 3; k++) lanes[k * count + i] = x[k];
  }
  cache->nlane = count;
  cache->lanes = lanes;
}

static void fill_planes(const tbHull* hull, tbHullCache* cache, tbReal* planes) {
  int count = plane_count(hull);
  for (int i = 0; i < count; i++) {
    const tbReal* plane = hull->plane + 4 * (i < hull->nface ? i : 0);
    for (int k = 0; k < 4; k++) planes[k * count + i] = plane[k];
  }
  cache->nplane = count;
  cache->planes = planes;
}

// Whether no vertex is above a plane and no corner of a face below it. Planes of merged faces are
// accurate only to the tolerance of merging.
static bool has_exact_planes(const tbHull* hull) {
  tbReal small = FLAT * hull->radius;
  for (int f = 0; f < hull->nface; f++) {
    const tbReal* plane = hull->plane + 4 * f;
    const tbReal* top = hull->vert + 3 * tb_hull_support(hull, plane, -1);
    if (!(fabs(tb_dot3(plane, top) - plane[3]) <= small)) return false;
    for (int k = hull->face_start[f]; k < hull->face_start[f + 1]; k++) {
      tbReal height = tb_dot3(plane, hull->vert + 3 * hull->face_vert[k]) - plane[3];
      if (!(fabs(height) <= small)) return false;
    }
  }
  return true;
}

// Fills the edge list. Sheets and needles have none, since the planes of their merged faces are
// inaccurate; nor have hulls with edges so sharp that the arc between the normals is ill-defined.
static void fill_edges(const tbHull* hull, tbHullCache* cache, tbReal* planes) {
  uint8_t* edges = (uint8_t*)(planes + 4 * (size_t)plane_count(hull));
  size_t count = 0, most = edge_bytes(hull);
  tbReal sharpest = 1;
  if (!(tb_hull_inscribed_radius(hull) > 1e-3 * hull->radius)) return;
  for (int f = 0; f < hull->nface && most > 0; f++) {
    for (int k = hull->face_start[f]; k < hull->face_start[f + 1]; k++) {
      if (hull->face_adj[k] <= f || count == most) continue;
      tbReal cosine = tb_dot3(hull->plane + 4 * f, hull->plane + 4 * hull->face_adj[k]);
      if (cosine < -0.9) return;
      sharpest = cosine < sharpest ? cosine : sharpest;
      edges[count++] = (uint8_t)f;
      edges[count++] = (uint8_t)hull->face_adj[k];
    }
  }
  // A hull with a face edge that has no neighbour gets no list.
  if (most == 0 || count != most) return;
  cache->edges = edges;
  cache->dihedral_bound = sqrt(0.5 * (1 + sharpest));
  fill_planes(hull, cache, planes);
  cache->exact_planes = has_exact_planes(hull);
}

void tb_hull_search_fill(const tbHull* hull, tbHullCache* cache, void* memory) {
  cache->nlane = cache->nplane = 0;
  cache->lanes = cache->planes = NULL;
  cache->edges = NULL;
  cache->dihedral_bound = 0;
  cache->exact_planes = false;
  cache->cells = NULL;
  cache->side = 0;
  if (!memory || tb_hull_search_bytes(hull) == 0) return;
  char* cells = (char*)memory;
  if (hull->nvert <= TB_HULL_LANES) {
    fill_lanes(hull, cache, (tbReal*)memory);
    if (edge_bytes(hull) > 0) {
      fill_edges(hull, cache, (tbReal*)memory + 3 * (size_t)lane_count(hull));
    }
    cells += lane_bytes(hull);
  }
  if (tb_hull_cells_bytes(hull) > 0) tb_hull_cells_fill(hull, cache, (uint16_t*)(void*)cells);
}

// Four interleaved searches of two lanes each, bitwise equal to the AVX2 search: the first of
// equals wins.
static int scan_lanes(const tbHull* hull, const tbReal d[3]) {
  enum { CHAINS = LANE_GROUP / 2 };
  const tbReal *x = hull->cache->lanes, *y = x + hull->cache->nlane, *z = y + hull->cache->nlane;
  const tbSimd2 way[3] = {tb_simd2(d[0]), tb_simd2(d[1]), tb_simd2(d[2])};
  tbSimd2Best best[CHAINS];
  tbSimd2Mask round = {0, 0};  // index of the group's first vertex
  for (int k = 0; k < CHAINS; k++) best[k] = (tbSimd2Best){tb_simd2(-INFINITY), round};
  for (int i = 0; i < hull->cache->nlane; i += LANE_GROUP, round += LANE_GROUP) {
    for (int k = 0; k < CHAINS; k++) {
      int at = i + 2 * k;
      tbSimd2 along = tb_simd2_dot(TB_LOAD2(x + at), TB_LOAD2(y + at), TB_LOAD2(z + at), way);
      tb_simd2_keep(&best[k], along, round);
    }
  }
  for (int k = 0; k < CHAINS; k++) {
    best[k].index += (tbSimd2Mask){2 * k, 2 * k + 1};
  }
  tbReal most;
  int top = tb_simd2_top(
      tb_simd2_larger(tb_simd2_larger(best[0], best[1]), tb_simd2_larger(best[2], best[3])), &most);
  return top < hull->nvert ? top : 0;
}

// Entries beyond the last vertex repeat the first.
static void drop_repeated(const tbHull* hull, uint64_t below[2]) {
  int last = hull->nvert;
  if (last < hull->cache->nlane) below[last >> 6] &= ((uint64_t)1 << (last & 63)) - 1;
}

// Bits of the entries from..to of the lanes that are at most `limit`; stores their heights.
TB_INLINE uint64_t bits_below(const tbHull* hull, const tbReal n[3], tbReal offset, tbReal limit,
                              int from, int to, tbReal* height) {
  const tbReal *x = hull->cache->lanes, *y = x + hull->cache->nlane, *z = y + hull->cache->nlane;
  const tbSimd2 way[3] = {tb_simd2(n[0]), tb_simd2(n[1]), tb_simd2(n[2])};
  tbSimd2Mask bits = {0, 0}, bit = {1, 2};
  for (int i = from; i < to; i += 2, bit <<= 2) {
    tbSimd2 at =
        tb_simd2_dot(TB_LOAD2(x + i), TB_LOAD2(y + i), TB_LOAD2(z + i), way) + tb_simd2(offset);
    TB_STORE2(height + i, at);
    bits |= (tbSimd2Mask)(at <= tb_simd2(limit)) & bit;
  }
  return (uint64_t)(bits[0] | bits[1]);
}

static void scan_below(const tbHull* hull, const tbReal n[3], tbReal offset, tbReal limit,
                       uint64_t below[2], tbReal* height) {
  int count = hull->cache->nlane, half = count < 64 ? count : 64;
  below[0] = bits_below(hull, n, offset, limit, 0, half, height);
  below[1] = bits_below(hull, n, offset, limit, half, count, height);
  drop_repeated(hull, below);
}

#ifdef HAVE_AVX2
TB_WIDE static inline __m256d four_along(const tbReal* x, const tbReal* y, const tbReal* z, int i,
                                         __m256d dx, __m256d dy, __m256d dz) {
  __m256d xy = _mm256_add_pd(_mm256_mul_pd(_mm256_loadu_pd(x + i), dx),
                             _mm256_mul_pd(_mm256_loadu_pd(y + i), dy));
  return _mm256_add_pd(xy, _mm256_mul_pd(_mm256_loadu_pd(z + i), dz));
}

// Two interleaved searches of four lanes each; indices are carried along as doubles.
TB_WIDE static int scan_lanes_wide(const tbHull* hull, const tbReal d[3]) {
  const tbReal *x = hull->cache->lanes, *y = x + hull->cache->nlane, *z = y + hull->cache->nlane;
  __m256d dx = _mm256_set1_pd(d[0]), dy = _mm256_set1_pd(d[1]), dz = _mm256_set1_pd(d[2]);
  __m256d most0 = _mm256_set1_pd(-INFINITY), most1 = most0;
  __m256d index0 = _mm256_set_pd(3, 2, 1, 0), step = _mm256_set1_pd(4);
  __m256d best0 = index0, best1 = index0;
  for (int i = 0; i < hull->cache->nlane; i += LANE_GROUP) {
    __m256d index1 = _mm256_add_pd(index0, step);
    __m256d along0 = four_along(x, y, z, i, dx, dy, dz);
    __m256d along1 = four_along(x, y, z, i + 4, dx, dy, dz);
    best0 = _mm256_blendv_pd(best0, index0, _mm256_cmp_pd(along0, most0, _CMP_GT_OQ));
    best1 = _mm256_blendv_pd(best1, index1, _mm256_cmp_pd(along1, most1, _CMP_GT_OQ));
    most0 = _mm256_max_pd(along0, most0);
    most1 = _mm256_max_pd(along1, most1);
    index0 = _mm256_add_pd(index1, step);
  }
  // The largest of the eight in all lanes, then the lowest index among those equal to it.
  __m256d top = _mm256_max_pd(most0, most1), far = _mm256_set1_pd(INFINITY);
  top = _mm256_max_pd(top, _mm256_permute2f128_pd(top, top, 1));
  top = _mm256_max_pd(top, _mm256_permute_pd(top, 5));
  best0 = _mm256_blendv_pd(far, best0, _mm256_cmp_pd(most0, top, _CMP_EQ_OQ));
  best1 = _mm256_blendv_pd(far, best1, _mm256_cmp_pd(most1, top, _CMP_EQ_OQ));
  best0 = _mm256_min_pd(best0, best1);
  __m128d low = _mm_min_pd(_mm256_castpd256_pd128(best0), _mm256_extractf128_pd(best0, 1));
  low = _mm_min_sd(low, _mm_unpackhi_pd(low, low));
  tbReal at = _mm_cvtsd_f64(low);
  return at < hull->nvert ? (int)at : 0;
}

// Bits of the entries from..to of the lanes that are at most `limit`; stores their heights.
TB_WIDE static inline uint64_t below_wide(const tbHull* hull, const tbReal n[3], tbReal offset,
                                          tbReal limit, int from, int to, tbReal* height) {
  const tbReal *x = hull->cache->lanes, *y = x + hull->cache->nlane, *z = y + hull->cache->nlane;
  __m256d nx = _mm256_set1_pd(n[0]), ny = _mm256_set1_pd(n[1]), nz = _mm256_set1_pd(n[2]);
  __m256d shift = _mm256_set1_pd(offset), most = _mm256_set1_pd(limit);
  uint64_t bits = 0;
  for (int i = from; i < to; i += LANE_GROUP) {
    __m256d low = _mm256_add_pd(four_along(x, y, z, i, nx, ny, nz), shift);
    __m256d high = _mm256_add_pd(four_along(x, y, z, i + 4, nx, ny, nz), shift);
    _mm256_storeu_pd(height + i, low);
    _mm256_storeu_pd(height + i + 4, high);
    unsigned first = (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(low, most, _CMP_LE_OQ));
    unsigned second = (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(high, most, _CMP_LE_OQ));
    bits |= (uint64_t)(first | second << 4) << (i & 63);
  }
  return bits;
}

TB_WIDE static void scan_below_wide(const tbHull* hull, const tbReal n[3], tbReal offset,
                                    tbReal limit, uint64_t below[2], tbReal* height) {
  int count = hull->cache->nlane, half = count < 64 ? count : 64;
  below[0] = below_wide(hull, n, offset, limit, 0, half, height);
  below[1] = below_wide(hull, n, offset, limit, half, count, height);
  drop_repeated(hull, below);
}
#else
static int scan_lanes_wide(const tbHull* hull, const tbReal d[3]) {
  return scan_lanes(hull, d);
}

static void scan_below_wide(const tbHull* hull, const tbReal n[3], tbReal offset, tbReal limit,
                            uint64_t below[2], tbReal* height) {
  scan_below(hull, n, offset, limit, below, height);
}
#endif

int tb_hull_search_all(const tbHull* hull, const tbReal d[3]) {
  if (tb_wide()) return scan_lanes_wide(hull, d);
  // Without AVX2 the direction table is faster, if there is one.
  bool climb = true;
  int vertex = hull->cache->cells ? tb_hull_cells_find(hull, d, &climb) : 0;
  return climb ? scan_lanes(hull, d) : vertex;
}

void tb_hull_search_below(const tbHull* hull, const tbReal n[3], tbReal offset, tbReal limit,
                          uint64_t below[2], tbReal height[TB_HULL_LANES]) {
  if (tb_wide()) {
    scan_below_wide(hull, n, offset, limit, below, height);
  } else {
    scan_below(hull, n, offset, limit, below, height);
  }
}
