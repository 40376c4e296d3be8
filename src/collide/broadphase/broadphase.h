// The broad phase: finds the pairs of items whose boxes overlap and which a filter admits.
//
// Each item has a fat box, larger than its own, in a tree. While an item stays inside its fat box
// no search is needed: the pairs of overlapping fat boxes are stored, filtered once when they
// appear, and every update tests only the tight boxes of these pairs. The result is exactly the
// sorted set of filtered pairs with overlapping tight boxes (rounded outward to single precision),
// independent of earlier updates. A small number of items has no tree: an item that leaves its fat
// box is compared with all others.
//
// A caller that bounds the displacement of an item can skip the computation of its box: the caller
// marks the item as still inside its fat box, and computes the box when `place` requests it.
#ifndef TRIBO_COLLIDE_BROADPHASE_BROADPHASE_H_
#define TRIBO_COLLIDE_BROADPHASE_BROADPHASE_H_

#include "collide/broadphase/bvh.h"

typedef struct {
  int first, second;  // first < second
} tbPair;

// Whether items i < j may touch. The answer must not change during the life of the broad phase.
typedef bool (*tbPairFilter)(const void* context, int i, int j);

// Writes the current box of an item to broad->box.
typedef void (*tbPlaceBox)(void* owner, int item);

// Flags of an item.
enum {
  TB_BROAD_STATIC = 1,  // never pairs with another static item
  TB_BROAD_PLANE = 2,   // a half space, tested exactly against boxes
};

typedef struct {
  int count;
  tbPairFilter filter;  // may be NULL
  const void* context;

  tbAabb* box;  // count: the items' new boxes, for tb_broadphase_update

  // count: 1 for items known to be inside their fat boxes. `place` computes the box of such an item
  // when a pair needs it. Zero at first. `slack`, count: a lower bound of the distance by which the
  // box of an item may move before it leaves its fat box.
  uint8_t* still;
  float* slack;
  tbPlaceBox place;
  void* owner;
  // count, or NULL: path length of each item, an upper bound of the accumulated motion of any side
  // of its box. It never decreases; the value infinity in one update discards what is cached for
  // the item's pairs. Pairs far from touching and far from separating are not tested until the path
  // lengths of their items could have changed the answer.
  const tbReal* path;

  // The result of the last update.
  int npair;
  tbPair* pairs;
  int nmoved;           // items that left their fat boxes
  int64_t nallocation;  // allocations so far; an update in steady state must not raise it
  size_t bytes;         // memory held

  struct tbBroadState* state;
} tbBroadphase;

// Room for `count` items of the given kinds (NULL: all moving boxes).
tbResult tb_broadphase_init(tbBroadphase* broad, int count, const uint8_t* kind,
                            tbPairFilter filter, const void* context);
void tb_broadphase_free(tbBroadphase* broad);

// Find the pairs of the boxes that the caller wrote to broad->box. These boxes include the item's
// margin, are rounded outward to single precision, and are empty (tb_aabb_make_empty) where a bound
// is NAN; an infinite bound is unbounded on its side. Boxes of planes and of items marked `still`
// are not read. `planes` is count x 4 with the unit normal and offset of items that are planes
// (solid where n.x <= offset), NULL without planes.
tbResult tb_broadphase_update(tbBroadphase* broad, const tbReal* planes);

#endif
