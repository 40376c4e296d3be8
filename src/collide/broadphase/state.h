// The state of a broad phase between updates, and the pair tests that its parts share.
#ifndef TRIBO_COLLIDE_BROADPHASE_STATE_H_
#define TRIBO_COLLIDE_BROADPHASE_STATE_H_

#include <math.h>

#include "collide/broadphase/broadphase.h"

// Up to this many items there is no tree: an item that leaves its fat box is compared with all
// others, and the pairs of an item are bits of one word. The cost stays the same if every update is
// of an unrelated state.
enum { TB_BROAD_FEW = 32 };

// Pairs as integer keys, with the lower item in the high half.
typedef struct {
  uint64_t* key;
  tbReal* until;  // see tb_broad_pair_overlaps
  int count, capacity;
} tbKeyList;

// Fat boxes of few items as structure of arrays, so that one is compared with four at a time.
typedef struct {
  float low[3][TB_BROAD_FEW], high[3][TB_BROAD_FEW];
  int32_t hit[TB_BROAD_FEW];       // scratch: which items overlap the current one
  uint32_t allowed[TB_BROAD_FEW];  // bit j of item i: the filter lets them pair
  uint32_t overlap[TB_BROAD_FEW];  // the same, and the fat boxes overlap
  tbReal until[TB_BROAD_FEW][TB_BROAD_FEW];
} tbFewBoxes;

typedef struct tbBroadState {
  tbAabb* tight;     // count
  tbAabb* fat;       // count
  uint8_t* kind;     // count
  uint8_t* moved;    // count: left its fat box in this update
  uint8_t* stale;    // count: the tight box is out of date
  uint8_t* special;  // count: a plane or an unbounded box, which is not in the tree
  int* specials;     // those items, ascending
  int nspecial;
  tbReal* plane;  // count x 4
  tbBvh tree;
  bool has_tree;
  tbKeyList candidates;  // sorted pairs with overlapping fat boxes that pass the filter
  bool has_until;        // the candidates' `until` were kept up to date by the last update
  bool listed;           // few items: the filter results are stored
  tbFewBoxes few;
  tbKeyList fresh, spare;
  int pair_capacity;
} tbBroadState;

// ---- pairs: pair.c -----------------------------------------------------------------------------

// Whether two items, at least one of them a plane, overlap, given that their boxes do.
bool tb_broad_plane_overlaps(const tbBroadState* state, const tbAabb* boxes, int i, int j);

// Whether two items overlap, by the given boxes (tight or fat) and by their planes.
static inline bool tb_broad_items_overlap(const tbBroadState* s, const tbAabb* boxes, int i,
                                          int j) {
  if (!tb_aabb_overlap(&boxes[i], &boxes[j])) return false;
  return !((s->kind[i] | s->kind[j]) & TB_BROAD_PLANE) || tb_broad_plane_overlaps(s, boxes, i, j);
}

// Whether the current tight boxes of a candidate overlap; sets *until for the summed path length.
bool tb_broad_test_pair(tbBroadphase* broad, int i, int j, tbReal path, tbReal* until);

// The same, from the cached result where it is valid: while the summed path length of both items is
// less than |until|, the items overlap if *until is negative and do not if it is positive.
static inline bool tb_broad_pair_overlaps(tbBroadphase* broad, int i, int j, tbReal* until) {
  tbReal path = broad->path ? broad->path[i] + broad->path[j] : INFINITY;
  if (path < fabs(*until)) return *until < 0;
  return tb_broad_test_pair(broad, i, j, path, until);
}

// ---- many items: many.c; few: few.c ------------------------------------------------------------

// Update the pairs of overlapping fat boxes after some items left theirs. False: out of memory.
bool tb_broad_search_large(tbBroadphase* broad);
void tb_broad_search_small(tbBroadphase* broad);

// Write the candidates whose tight boxes overlap to broad->pairs, which has room for all of them.
void tb_broad_report_large(tbBroadphase* broad);
void tb_broad_report_small(tbBroadphase* broad);

#endif
