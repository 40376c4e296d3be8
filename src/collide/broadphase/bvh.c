#include "collide/broadphase/bvh.h"

#include <math.h>

static float minimum(float a, float b) {
  return a < b ? a : b;
}

static float maximum(float a, float b) {
  return a > b ? a : b;
}

static float half_surface(const tbAabb* box) {
  float x = box->high[0] - box->low[0], y = box->high[1] - box->low[1];
  float z = box->high[2] - box->low[2];
  return x * y + y * z + z * x;
}

static void unite(tbAabb* out, const tbAabb* a, const tbAabb* b) {
  for (int i = 0; i < 3; i++) {
    out->low[i] = minimum(a->low[i], b->low[i]);
    out->high[i] = maximum(a->high[i], b->high[i]);
  }
}

// The axis along which the box centres of order[first..last) spread most.
static int widest_axis(const tbBvh* tree, const tbAabb* boxes, int first, int last) {
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int k = first; k < last; k++) {
    const tbAabb* box = &boxes[tree->order[k]];
    for (int i = 0; i < 3; i++) {
      float center = box->low[i] + box->high[i];
      low[i] = minimum(low[i], center);
      high[i] = maximum(high[i], center);
    }
  }
  int axis = 0;
  for (int i = 1; i < 3; i++) {
    if (high[i] - low[i] > high[axis] - low[axis]) axis = i;
  }
  return axis;
}

static void swap_items(tbBvh* tree, int i, int j) {
  int item = tree->order[i];
  float key = tree->key[i];
  tree->order[i] = tree->order[j];
  tree->key[i] = tree->key[j];
  tree->order[j] = item;
  tree->key[j] = key;
}

// Partial sort (quickselect): afterwards order[first..middle) have keys no larger than the rest.
static void select_median(tbBvh* tree, int first, int last, int middle) {
  int low = first, high = last - 1;
  while (low < high) {
    float pivot = tree->key[low + (high - low) / 2];
    int i = low, j = high;
    while (i <= j) {
      while (tree->key[i] < pivot) i++;
      while (tree->key[j] > pivot) j--;
      if (i > j) break;
      swap_items(tree, i++, j--);
    }
    if (middle <= j) {
      high = j;
    } else if (middle >= i) {
      low = i;
    } else {
      return;
    }
  }
}

// Split order[first..last) in two halves by position along the widest axis.
static int split(tbBvh* tree, const tbAabb* boxes, int first, int last) {
  int middle = first + (last - first) / 2;
  if (last - first == 2) return middle;
  int axis = widest_axis(tree, boxes, first, last);
  for (int k = first; k < last; k++) {
    const tbAabb* box = &boxes[tree->order[k]];
    tree->key[k] = box->low[axis] + box->high[axis];
  }
  select_median(tree, first, last, middle);
  return middle;
}

// Writes the nodes in depth-first order. Halving the items bounds the tree depth, and with it the
// stack, by 32. The skip indices are computed in a backward loop, since that of an inner node is
// that of its second child.
void tb_bvh_build(tbBvh* tree, const tbAabb* boxes, int count) {
  struct {
    int first, last;
  } stack[64] = {{0, count}};
  int depth = count > 0;
  tree->nnode = 0;
  tree->count = count;
  while (depth > 0) {
    depth--;
    int first = stack[depth].first, last = stack[depth].last;
    tbBvhNode* node = &tree->nodes[tree->nnode++];
    bool leaf = last - first <= TB_BVH_LEAF;
    node->leaf = leaf ? 16 * first + (last - first) : -1;
    if (leaf) continue;
    int middle = split(tree, boxes, first, last);
    stack[depth].first = middle;
    stack[depth++].last = last;
    stack[depth].first = first;
    stack[depth++].last = middle;
  }
  for (int k = tree->nnode - 1; k >= 0; k--) {
    tbBvhNode* node = &tree->nodes[k];
    node->skip = node->leaf >= 0 ? k + 1 : tree->nodes[node[1].skip].skip;
  }
  for (int k = 0; k < count; k++) {
    tree->place[tree->order[k]] = k;
    tree->boxes[k] = boxes[tree->order[k]];
  }
  tree->built_cost = 1;
  tree->built_cost = tb_bvh_refit(tree);
}

double tb_bvh_refit(tbBvh* tree) {
  double cost = 0;
  for (int k = tree->nnode - 1; k >= 0; k--) {
    tbBvhNode* node = &tree->nodes[k];
    if (node->leaf >= 0) {
      int first = tb_bvh_first(node), last = tb_bvh_last(node);
      tbAabb box = tree->boxes[first];
      for (int p = first + 1; p < last; p++) unite(&box, &box, &tree->boxes[p]);
      node->box = box;
    } else {
      unite(&node->box, &node[1].box, &tree->nodes[node[1].skip].box);
    }
    cost += half_surface(&node->box);
  }
  return tree->built_cost > 0 ? cost / tree->built_cost : cost;
}
