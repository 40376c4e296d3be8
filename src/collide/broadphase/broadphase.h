// Which pairs of items may touch: those whose boxes overlap and that a filter lets through.
//
// Each item keeps a fat box, larger than its own, in a tree. While an item stays inside its fat box
// nothing is searched: the pairs of overlapping fat boxes are remembered, filtered once when they
// appear, and every update only tests the true boxes of those. The result is exactly the set of
// filtered pairs with overlapping true boxes (rounded outward to single precision), sorted,
// whatever came before. Few items have no tree: one that leaves its fat box is compared with all.
//
// A caller that knows how far an item has moved need not place its box: it says that the item is
// still within its fat box, and places the box when it is asked for.
#ifndef TRIBO_COLLIDE_BROADPHASE_BROADPHASE_H_
#define TRIBO_COLLIDE_BROADPHASE_BROADPHASE_H_

#include "collide/broadphase/bvh.h"

typedef struct {
  int first, second;  // first < second
} tbPair;

// Whether items i < j may touch. Must not change while the broad phase lives.
typedef bool (*tbPairFilter)(const void* context, int i, int j);

// Write the present box of an item to broad->box.
typedef void (*tbPlaceBox)(void* owner, int item);

// What an item is.
enum {
  TB_BROAD_STATIC = 1,  // never pairs with another static item
  TB_BROAD_PLANE = 2,   // a half space, tested exactly against boxes
};

typedef struct {
  int count;
  tbPairFilter filter;  // may be NULL
  const void* context;

  tbAabb* box;  // count: the items' new boxes, for tb_broadphase_update

  // count: items that are known to be within their fat boxes; theirs are placed by `place` where a
  // pair needs them. Zero at first. And how far an item placed by the caller may move, at least,
  // until it leaves its fat box.
  uint8_t* still;
  float* slack;
  tbPlaceBox place;
  void* owner;
  // count, or NULL: how far each item has come. No side of its box moves by more than this grows,
  // which it does until it is infinite once: what is known of the item's pairs is then forgotten.
  // Pairs far from touching and far from parting are not looked at meanwhile.
  const tbReal* path;

  // The result of the last update.
  int npair;
  tbPair* pairs;
  int nmoved;           // items that left their fat boxes
  int64_t nallocation;  // calls to malloc so far: an update that raises this when warm is a defect
  size_t bytes;         // memory held

  struct tbBroadState* state;
} tbBroadphase;

// Room for `count` items of the given kinds (NULL: all moving boxes).
tbResult tb_broadphase_init(tbBroadphase* broad, int count, const uint8_t* kind,
                            tbPairFilter filter, const void* context);
void tb_broadphase_free(tbBroadphase* broad);

// Find the pairs of the boxes that the caller wrote to broad->box, which hold the item's margin:
// rounded outward to single precision, empty (tb_aabb_make_empty) where a bound is NAN; an infinite
// bound admits everything on its side. Boxes of planes are not looked at, nor are those of items
// that are still. `planes` is count x 4 with the unit normal and offset of items that are planes
// (solid where n.x <= offset), NULL without planes.
tbResult tb_broadphase_update(tbBroadphase* broad, const tbReal* planes);

#endif
