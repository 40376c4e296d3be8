// Support vertex of a large hull by a direction table: each face of a cube is divided into square
// cells, and a cell lists every vertex that is farthest along some direction of the cell. A search
// then compares a few vertices, without hill climbing from a seed (docs/notebook/hull.md).
#ifndef TRIBO_COLLIDE_HULL_CELLS_H_
#define TRIBO_COLLIDE_HULL_CELLS_H_

#include <stdint.h>

#include "base/kernel.h"
#include "collide/hull/hull.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#include <immintrin.h>
#define TB_CELLS_WIDE 1
#endif

// A cell lists up to four vertices, ascending, and up to four more in a second table, which the
// flag MORE in the first entry indicates. If more vertices compete, the search climbs from one of
// them.
#define TB_CELL_FOUR 4
#define TB_CELL_MORE UINT16_C(0x8000)
#define TB_CELL_CLIMB UINT16_MAX

// Size in bytes of the table of all cells (0: no table), and its computation.
size_t tb_hull_cells_bytes(const tbHull* hull);
void tb_hull_cells_fill(const tbHull* hull, tbHullCache* cache, uint16_t* cells);

// `yes` if chosen is 1, `no` if it is 0, without a branch, which would be unpredictable.
static inline int tb_choose(int chosen, int yes, int no) {
  return no ^ ((no ^ yes) & -chosen);
}

// Cell of a direction of any length that does not overflow.
static inline int tb_cell_of(const tbReal d[3], int side) {
  tbReal x = fabs(d[0]), y = fabs(d[1]), z = fabs(d[2]), xy = y > x ? y : x;
  tbReal major = z > xy ? z : xy, half = 0.5 * side, scale = half / major;
  int axis = tb_choose(z > xy, 2, y > x);
  // Also keeps a zero or non-finite direction inside the table.
  if (!(x + y + z > 1e-290) || !(x + y + z < INFINITY)) return 0;
  int i = (int)(scale * d[axis == 0] + half), j = (int)(scale * d[2 - (axis == 2)] + half);
  i -= i == side;
  j -= j == side;
  return side * (side * (2 * axis + (d[axis] < 0)) + i) + j;
}

// A vertex and its coordinate along the direction.
typedef struct {
  tbReal along;
  int vertex;
} tbFar;

// The farther of two vertices, the first of equals.
static inline tbFar tb_farther(tbFar a, tbFar b) {
  tbFar best = {b.along > a.along ? b.along : a.along,
                tb_choose(b.along > a.along, b.vertex, a.vertex)};
  return best;
}

static inline tbFar tb_far_of(const tbHull* hull, const tbReal d[3], int vertex) {
  tbFar far = {tb_dot3(hull->vert + 3 * vertex, d), vertex};
  return far;
}

static inline tbFar tb_farthest_of_four(const tbHull* hull, const tbReal d[3], int first,
                                        const uint16_t* four) {
  return tb_farther(tb_farther(tb_far_of(hull, d, first), tb_far_of(hull, d, four[1])),
                    tb_farther(tb_far_of(hull, d, four[2]), tb_far_of(hull, d, four[3])));
}

// The farthest vertex, the first of equals; or, with *climb set, the start vertex of the climb.
static inline int tb_hull_cells_find(const tbHull* hull, const tbReal d[3], bool* climb) {
  int side = hull->cache->side, cell = tb_cell_of(d, side);
  const uint16_t *list = hull->cache->cells + TB_CELL_FOUR * cell,
                 *rest = list + TB_CELL_FOUR * 6 * side * side;
  tbFar far = tb_farthest_of_four(hull, d, list[0] & ~TB_CELL_MORE, list);
  *climb = false;
  if (!(list[0] & TB_CELL_MORE)) return far.vertex;
  *climb = rest[0] == TB_CELL_CLIMB;
  return *climb ? far.vertex : tb_farther(far, tb_farthest_of_four(hull, d, rest[0], rest)).vertex;
}

#ifdef TB_CELLS_WIDE
// The farthest of a list of four, the first of equals; far[0] is its coordinate along d. The fourth
// component of d is 0. Sums have the order of tb_dot3.
TB_WIDE static inline int tb_farthest_of_four_wide(const tbHull* hull, const __m256d* d,
                                                   const uint16_t* four, tbReal far[4]) {
  const tbReal* vert = hull->vert;
  const __m256i xyz = _mm256_set_epi64x(0, -1, -1, -1);
  size_t first = four[0] & (size_t)~TB_CELL_MORE;
  __m256d p = _mm256_mul_pd(_mm256_maskload_pd(vert + 3 * first, xyz), *d);
  __m256d q = _mm256_mul_pd(_mm256_maskload_pd(vert + 3 * (size_t)four[1], xyz), *d);
  __m256d r = _mm256_mul_pd(_mm256_maskload_pd(vert + 3 * (size_t)four[2], xyz), *d);
  __m256d s = _mm256_mul_pd(_mm256_maskload_pd(vert + 3 * (size_t)four[3], xyz), *d);
  __m256d pq = _mm256_hadd_pd(p, q), rs = _mm256_hadd_pd(r, s);
  __m256d along =
      _mm256_add_pd(_mm256_permute2f128_pd(pq, rs, 0x20), _mm256_permute2f128_pd(pq, rs, 0x31));
  // The vertices that are no lower than the other three; none if the direction is NAN.
  __m256d ahead = _mm256_permute4x64_pd(along, 0x39), across = _mm256_permute4x64_pd(along, 0x4e);
  __m256d behind = _mm256_permute4x64_pd(along, 0x93);
  __m256d top = _mm256_and_pd(_mm256_cmp_pd(along, ahead, _CMP_GE_OQ),
                              _mm256_cmp_pd(along, behind, _CMP_GE_OQ));
  top = _mm256_and_pd(top, _mm256_cmp_pd(along, across, _CMP_GE_OQ));
  int best = __builtin_ctz((unsigned)_mm256_movemask_pd(top) | 8);
  _mm256_storeu_pd(far, along);
  far[0] = far[best];
  return four[best] & ~TB_CELL_MORE;
}

// tb_hull_cells_find for a known cell.
TB_WIDE static inline int tb_hull_cell_find_wide(const tbHull* hull, int cell, const __m256d* d,
                                                 bool* climb) {
  const uint16_t* list = hull->cache->cells + TB_CELL_FOUR * cell;
  tbReal far[4], more[4];
  int vertex = tb_farthest_of_four_wide(hull, d, list, far);
  *climb = false;
  if (!(list[0] & TB_CELL_MORE)) return vertex;
  list += TB_CELL_FOUR * 6 * hull->cache->side * hull->cache->side;
  *climb = list[0] == TB_CELL_CLIMB;
  if (*climb) return vertex;
  int other = tb_farthest_of_four_wide(hull, d, list, more);
  return more[0] > far[0] ? other : vertex;
}

// Cells of d in hull a and of e in hull b, computed together. False if a direction is invalid.
TB_WIDE static inline bool tb_simd2_cells_wide(const tbHull* a, const tbHull* b, const __m256d* d,
                                               const __m256d* e, int cell[2]) {
  __m128d d2 = _mm256_castpd256_pd128(*d), e2 = _mm256_castpd256_pd128(*e);
  __m128d x = _mm_unpacklo_pd(d2, e2), y = _mm_unpackhi_pd(d2, e2);
  __m128d z = _mm_unpacklo_pd(_mm256_extractf128_pd(*d, 1), _mm256_extractf128_pd(*e, 1));
  __m128d minus = _mm_set1_pd(-0.0);
  __m128d ax = _mm_andnot_pd(minus, x), ay = _mm_andnot_pd(minus, y), az = _mm_andnot_pd(minus, z);
  __m128d sum = _mm_add_pd(_mm_add_pd(ax, ay), az);
  __m128d known =
      _mm_and_pd(_mm_cmpgt_pd(sum, _mm_set1_pd(1e-290)), _mm_cmplt_pd(sum, _mm_set1_pd(INFINITY)));
  if (_mm_movemask_pd(known) != 3) return false;
  // The axis with the largest component; the other two in ascending order.
  __m128d xy = _mm_max_pd(ay, ax), is_y = _mm_cmpgt_pd(ay, ax), is_z = _mm_cmpgt_pd(az, xy);
  __m128d u = _mm_blendv_pd(y, x, _mm_or_pd(is_y, is_z)), v = _mm_blendv_pd(z, y, is_z);
  __m128d major = _mm_blendv_pd(_mm_blendv_pd(x, y, is_y), z, is_z);
  // Rounding to the nearest integer after a shift by half a cell: the integers are in the lowest
  // bits. The last cell of a row is not exceeded, since cells are extended by more than the
  // reduction of the scale.
  __m128d half = _mm_set_pd(0.5 * b->cache->side, 0.5 * a->cache->side);
  __m128d scale = _mm_div_pd(_mm_mul_pd(half, _mm_set1_pd(1 - 1e-12)), _mm_max_pd(az, xy));
  __m128d shift = _mm_sub_pd(half, _mm_set1_pd(0.5)), whole = _mm_set1_pd(0x1.8p52);
  u = _mm_add_pd(_mm_mul_pd(scale, u), shift);
  v = _mm_add_pd(_mm_mul_pd(scale, v), shift);
  __m128i i = _mm_castpd_si128(_mm_add_pd(u, whole)), j = _mm_castpd_si128(_mm_add_pd(v, whole));
  int is_z2 = _mm_movemask_pd(is_z), is_y2 = _mm_movemask_pd(is_y) & ~is_z2;
  int negative = _mm_movemask_pd(major);
  int face_a = 4 * (is_z2 & 1) + 2 * (is_y2 & 1) + (negative & 1);
  int face_b = 2 * (is_z2 & 2) + (is_y2 & 2) + (negative >> 1);
  cell[0] =
      a->cache->side * (a->cache->side * face_a + _mm_cvtsi128_si32(i)) + _mm_cvtsi128_si32(j);
  cell[1] = b->cache->side * (b->cache->side * face_b + _mm_extract_epi32(i, 2)) +
            _mm_extract_epi32(j, 2);
  return true;
}
#endif

#endif
