// What a broad phase keeps between updates, and what its parts ask of pairs.
#ifndef TRIBO_COLLIDE_BROADPHASE_STATE_H_
#define TRIBO_COLLIDE_BROADPHASE_STATE_H_

#include <math.h>

#include "collide/broadphase/broadphase.h"

// Up to this many items there is no tree: one that leaves its fat box is compared with all others,
// and pairs are bits of a word for each item. No worse where every update is of another world.
enum { TB_BROAD_FEW = 32 };

// Pairs, the lower item in the high half of a key.
typedef struct {
  uint64_t* key;
  tbReal* until;  // see tb_broad_pair_overlaps
  int count, capacity;
} tbKeyList;

// Fat boxes of few items by component, so that one is compared with four at a time.
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
  uint8_t* stale;    // count: the tight box is not the present one
  uint8_t* special;  // count: a plane or a box without bounds, outside the tree
  int* specials;     // those items, ascending
  int nspecial;
  tbReal* plane;  // count x 4
  tbBvh tree;
  bool has_tree;
  tbKeyList candidates;  // sorted: fat boxes overlap and the filter agreed
  bool has_until;        // the candidates' times are those of the last update
  bool listed;           // few items: the filter was asked
  tbFewBoxes few;
  tbKeyList fresh, spare;
  int pair_capacity;
} tbBroadState;

// ---- pairs: broadphase_pair.c ------------------------------------------------------------------

// Whether two items with a plane among them overlap, given that their boxes do.
bool tb_broad_plane_overlaps(const tbBroadState* state, const tbAabb* boxes, int i, int j);

// Whether two items overlap, by the given boxes (tight or fat) and planes.
static inline bool tb_broad_items_overlap(const tbBroadState* s, const tbAabb* boxes, int i,
                                          int j) {
  if (!tb_aabb_overlap(&boxes[i], &boxes[j])) return false;
  return !((s->kind[i] | s->kind[j]) & TB_BROAD_PLANE) || tb_broad_plane_overlaps(s, boxes, i, j);
}

// Whether the true boxes of a candidate overlap as they are now, with how far its items have come.
bool tb_broad_look(tbBroadphase* broad, int i, int j, tbReal path, tbReal* until);

// The same by what is known of the pair. While both items together have come less far than |until|,
// they overlap where it is negative and do not where it is positive.
static inline bool tb_broad_pair_overlaps(tbBroadphase* broad, int i, int j, tbReal* until) {
  tbReal path = broad->path ? broad->path[i] + broad->path[j] : INFINITY;
  if (path < fabs(*until)) return *until < 0;
  return tb_broad_look(broad, i, j, path, until);
}

// ---- many items: broadphase_many.c; few: broadphase_few.c ---------------------------------------

// The pairs of overlapping fat boxes after some items left theirs. False: out of memory.
bool tb_broad_search_large(tbBroadphase* broad);
void tb_broad_search_small(tbBroadphase* broad);

// Those of them whose true boxes overlap go into broad->pairs, which has room for them.
void tb_broad_report_large(tbBroadphase* broad);
void tb_broad_report_small(tbBroadphase* broad);

#endif
