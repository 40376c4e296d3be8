// A binary tree of boxes over items, refitted as they move and rebuilt when its cost has grown.
//
// Leaves hold a few items, whose boxes are contiguous in the order of the leaves. Nodes are in
// depth-first order: the first child of node k is k+1, the second is skip[k+1], and skip[k] is the
// first node after the subtree of k. So a query walks forward without a stack, and a refit is one
// backward loop.
#ifndef TRIBO_COLLIDE_BROADPHASE_BVH_H_
#define TRIBO_COLLIDE_BROADPHASE_BVH_H_

#include <math.h>
#include <stdbool.h>

#include "tribo/types.h"

// Single precision halves the memory traffic of a query. Bounds are rounded outward on input.
typedef struct {
  float low[3], high[3];
} tbAabb;

// Whether two boxes share a point. A box with low > high is empty and overlaps no box.
static inline bool tb_aabb_overlap(const tbAabb* a, const tbAabb* b) {
  return (a->low[0] <= b->high[0]) & (b->low[0] <= a->high[0]) & (a->low[1] <= b->high[1]) &
         (b->low[1] <= a->high[1]) & (a->low[2] <= b->high[2]) & (b->low[2] <= a->high[2]);
}

static inline bool tb_aabb_contains(const tbAabb* outer, const tbAabb* inner) {
  return (outer->low[0] <= inner->low[0]) & (outer->low[1] <= inner->low[1]) &
         (outer->low[2] <= inner->low[2]) & (outer->high[0] >= inner->high[0]) &
         (outer->high[1] >= inner->high[1]) & (outer->high[2] >= inner->high[2]);
}

static inline void tb_aabb_make_empty(tbAabb* box) {
  for (int i = 0; i < 3; i++) {
    box->low[i] = INFINITY;
    box->high[i] = -INFINITY;
  }
}

// Bounds rounded outward by more than the rounding error of a float; NAN in any bound makes the box
// empty.
static inline void tb_aabb_round(tbAabb* box, const tbReal low[3], const tbReal high[3]) {
  const tbReal relative = 1.2e-7, absolute = 1e-37;
  bool valid = true;
  for (int i = 0; i < 3; i++) {
    box->low[i] = (float)(low[i] - (fabs(low[i]) * relative + absolute));
    box->high[i] = (float)(high[i] + (fabs(high[i]) * relative + absolute));
    valid &= low[i] <= high[i];
  }
  if (!valid) tb_aabb_make_empty(box);
}

// Maximum number of items per leaf; large enough that there are no more nodes than items.
#define TB_BVH_LEAF 8

typedef struct {
  tbAabb box;
  int skip;
  int leaf;  // -1 in inner nodes; else 16 times the leaf's first slot, plus its number of items
} tbBvhNode;

static inline int tb_bvh_first(const tbBvhNode* leaf) {
  return leaf->leaf >> 4;
}

static inline int tb_bvh_last(const tbBvhNode* leaf) {
  return (leaf->leaf >> 4) + (leaf->leaf & 15);
}

// The caller owns the memory: `count` entries per array.
typedef struct {
  tbBvhNode* nodes;
  int* order;     // the item in each slot of the leaves
  int* place;     // the slot of each item
  tbAabb* boxes;  // box of the item in each slot
  float* key;
  int nnode, count;
  double built_cost;  // sum of the boxes' half surface areas when built
} tbBvh;

// Build over the items listed in order[0..count), whose boxes are boxes[item]. All boxes must be
// finite. `place` is not written for other items.
void tb_bvh_build(tbBvh* tree, const tbAabb* boxes, int count);

// Refit the nodes to the current boxes. Returns the cost relative to that of the newly built tree.
double tb_bvh_refit(tbBvh* tree);

#endif
