// Preselection of a small hull's faces and edges by the height of a point above the faces. With
// two-lane SIMD registers this is faster than evaluating all faces (docs/notebook/gjk.md eq. 5g).
#ifndef TRIBO_COLLIDE_HULL_FACES_H_
#define TRIBO_COLLIDE_HULL_FACES_H_

#include <string.h>

#include "base/bits.h"
#include "collide/hull/hull.h"
#include "linalg/simd2.h"

#if defined(__aarch64__) && defined(__GNUC__)
#include <arm_neon.h>
#define TB_FACES_NEON 1
#endif

// Size of a bit set of faces; a hull with `edges` has at most TB_FACES_MAX faces.
#define TB_FACE_WORDS 4
#define TB_FACES_MAX (64 * TB_FACE_WORDS)

// Height of the point x above the plane of every face (nplane entries); returns the first of the
// highest.
static inline int tb_hull_heights(const tbHull* hull, const tbReal x[3], tbReal* height) {
  int count = hull->cache->nplane;
  const tbReal *nx = hull->cache->planes, *ny = nx + count, *nz = ny + count, *offset = nz + count;
  const tbSimd2 point[3] = {tb_simd2(x[0]), tb_simd2(x[1]), tb_simd2(x[2])};
  tbSimd2Mask index = {0, 0};  // of the first of four
  tbSimd2Best best[2] = {{tb_simd2(-INFINITY), index}, {tb_simd2(-INFINITY), index}};
  for (int f = 0; f < count; f += 4, index += 4) {
    for (int k = 0; k < 2; k++) {
      int at = f + 2 * k;
      tbSimd2 h = tb_simd2_dot(TB_LOAD2(nx + at), TB_LOAD2(ny + at), TB_LOAD2(nz + at), point);
      h -= TB_LOAD2(offset + at);
      TB_STORE2(height + at, h);
      tb_simd2_keep(&best[k], h, index);
    }
  }
  for (int k = 0; k < 2; k++) best[k].index += (tbSimd2Mask){2 * k, 2 * k + 1};
  tbReal most;
  int top = tb_simd2_top(tb_simd2_larger(best[0], best[1]), &most);
  return top < hull->nface ? top : 0;
}

// Bits of the faces whose height exceeds `than`.
static inline void tb_hull_higher(const tbHull* hull, const tbReal* height, tbReal than,
                                  uint64_t bits[TB_FACE_WORDS]) {
  int count = hull->cache->nplane, last = hull->nface;
  for (int word = 0; word < TB_FACE_WORDS; word++) {
    int end = count < 64 * (word + 1) ? count : 64 * (word + 1);
    tbSimd2Mask higher = {0, 0}, bit = {1, 2};
    for (int f = 64 * word; f < end; f += 2, bit <<= 2) {
      higher |= (tbSimd2Mask)(TB_LOAD2(height + f) > tb_simd2(than)) & bit;
    }
    bits[word] = (uint64_t)(higher[0] | higher[1]);
  }
  // Entries beyond the last face repeat the first.
  if (last < count) bits[last >> 6] &= ((uint64_t)1 << (last & 63)) - 1;
}

#ifdef TB_FACES_NEON
// Tests the bits of sixteen faces: selects the byte that holds a face's bit, then the bit in it.
static inline uint8x16_t tb_faces_have_bit(uint8x16x2_t bits, uint8x16_t face) {
  static const uint8_t weight[16] = {1, 2, 4, 8, 16, 32, 64, 128};
  uint8x16_t byte = vqtbl2q_u8(bits, vshrq_n_u8(face, 3));
  return vtstq_u8(byte, vqtbl1q_u8(vld1q_u8(weight), vandq_u8(face, vdupq_n_u8(7))));
}

// Bits of those of 64 edges that have an adjacent face in `bits`.
static inline uint64_t tb_edges_of(const uint64_t bits[TB_FACE_WORDS], const uint8_t* edges) {
  static const uint8_t weight[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8_t* bytes = (const uint8_t*)bits;
  uint8x16x2_t table = {{vld1q_u8(bytes), vld1q_u8(bytes + 16)}};
  uint8x16_t open[4];
  for (int k = 0; k < 4; k++) {
    uint8x16x2_t face = vld2q_u8(edges + 32 * k);
    uint8x16_t either =
        vorrq_u8(tb_faces_have_bit(table, face.val[0]), tb_faces_have_bit(table, face.val[1]));
    open[k] = vandq_u8(either, vld1q_u8(weight));
  }
  uint8x16_t all = vpaddq_u8(vpaddq_u8(open[0], open[1]), vpaddq_u8(open[2], open[3]));
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}
#else
static inline uint64_t tb_edges_of(const uint64_t bits[TB_FACE_WORDS], const uint8_t* edges) {
  uint64_t open = 0;
  for (int e = 0; e < 64; e++) {
    int f = edges[2 * e], g = edges[2 * e + 1];
    open |= ((bits[f >> 6] >> (f & 63) | bits[g >> 6] >> (g & 63)) & 1) << e;
  }
  return open;
}
#endif

// Candidate edges, by their indices in the hull's list, ascending, and the faces adjacent to them.
typedef struct {
  size_t nedge, nface;
  uint16_t edge[3 * TB_FACES_MAX / 2 + 1];
  uint8_t face[TB_FACES_MAX + 1];
  uint8_t marked[TB_FACES_MAX];  // 1 for faces that must not be listed again
} tbHullCandidates;

// Lists the edges that have an adjacent face in `bits`, and their adjacent faces not marked yet.
static inline void tb_hull_candidates(const tbHull* hull, const uint64_t bits[TB_FACE_WORDS],
                                      tbHullCandidates* candidates) {
  enum { BYTES = 128 };  // of 64 edges
  size_t edges = 0, faces = 0, total = (size_t)hull->face_start[hull->nface];
  for (size_t e = 0; e < total; e += BYTES) {
    uint8_t rest[BYTES];
    const uint8_t* from = hull->cache->edges + e;
    uint64_t within = ~(uint64_t)0;
    if (total - e < BYTES) {
      memset(rest, 0, sizeof rest);
      memcpy(rest, from, total - e);
      from = rest;
      within = ((uint64_t)1 << (total - e) / 2) - 1;
    }
    for (uint64_t open = tb_edges_of(bits, from) & within; open != 0; open &= open - 1) {
      size_t at = 2 * (size_t)tb_lowest_bit(open);
      candidates->edge[edges++] = (uint16_t)(e + at);
      for (int k = 0; k < 2; k++) {
        uint8_t f = from[at + k];
        candidates->face[faces] = f;
        faces += !candidates->marked[f];
        candidates->marked[f] = 1;
      }
    }
  }
  candidates->nedge = edges;
  candidates->nface = faces;
}

#endif
