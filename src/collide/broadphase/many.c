// Broad phase of many items: a tree of fat boxes, and a sorted list of their overlapping pairs.
#include <stdlib.h>
#include <string.h>

#include "base/kernel.h"
#include "collide/broadphase/state.h"

// Rebuild the tree when its cost has grown by this factor.
#define REBUILD_COST 1.3
// Prefetch distance for boxes, in pairs.
#define PREFETCH 16

// Room for `count` keys. Capacity doubles, so that a constant number of pairs allocates nothing.
static bool reserve_keys(tbBroadphase* broad, tbKeyList* list, int64_t count) {
  if (count <= list->capacity) return true;
  int64_t capacity = 2 * count + 64;
  if (capacity > INT32_MAX) capacity = INT32_MAX;
  if (count > capacity) return false;
  uint64_t* key = (uint64_t*)realloc(list->key, (size_t)capacity * sizeof(uint64_t));
  if (!key) return false;
  list->key = key;
  tbReal* until = (tbReal*)realloc(list->until, (size_t)capacity * sizeof(tbReal));
  if (!until) return false;
  list->until = until;
  broad->nallocation += 2;
  broad->bytes += (size_t)(capacity - list->capacity) * (sizeof(uint64_t) + sizeof(tbReal));
  list->capacity = (int)capacity;
  return true;
}

// ---- the tree ----------------------------------------------------------------------------------

static void update_tree(tbBroadphase* broad) {
  tbBroadState* s = broad->state;
  for (int i = 0; s->has_tree && i < broad->count; i++) {
    if (s->moved[i] && !s->special[i]) s->tree.boxes[s->tree.place[i]] = s->fat[i];
  }
  if (s->has_tree && tb_bvh_refit(&s->tree) <= REBUILD_COST) return;
  int count = 0;
  s->nspecial = 0;
  for (int i = 0; i < broad->count; i++) {
    if (s->special[i]) {
      s->specials[s->nspecial++] = i;
    } else {
      s->tree.order[count++] = i;
    }
  }
  tb_bvh_build(&s->tree, s->fat, count);
  s->has_tree = true;
}

static uint64_t pair_key(int i, int j) {
  return i < j ? (uint64_t)i << 32 | (uint64_t)j : (uint64_t)j << 32 | (uint64_t)i;
}

// Append the pair of a moved item i and an item j whose fat boxes overlap. A pair of two moved
// items is found twice, and appended once: from the lower item.
static bool append_pair(tbBroadphase* broad, int i, int j) {
  tbBroadState* s = broad->state;
  if (i == j || (s->moved[j] && j < i)) return true;
  if (s->kind[i] & s->kind[j] & TB_BROAD_STATIC) return true;
  int first = i < j ? i : j, second = i < j ? j : i;
  if (broad->filter && !broad->filter(broad->context, first, second)) return true;
  if (!reserve_keys(broad, &s->fresh, (int64_t)s->fresh.count + 1)) return false;
  s->fresh.key[s->fresh.count++] = pair_key(i, j);
  return true;
}

static bool append_pairs(tbBroadphase* broad, int i, const int* hit, int count) {
  for (int k = 0; k < count; k++) {
    if (!append_pair(broad, i, hit[k])) return false;
  }
  return true;
}

// Leaf items are written unconditionally and counted only on overlap, which avoids a branch.
static bool search_tree(tbBroadphase* broad, int i) {
  enum { MANY = 256 };
  tbBroadState* s = broad->state;
  const tbBvh* tree = &s->tree;
  const tbAabb box = s->fat[i];
  int hit[MANY + TB_BVH_LEAF], count = 0;
  for (int k = 0; k < tree->nnode;) {
    const tbBvhNode* node = &tree->nodes[k];
    if (!tb_aabb_overlap(&node->box, &box)) {
      k = node->skip;
      continue;
    }
    k++;
    if (node->leaf < 0) continue;
    for (int p = tb_bvh_first(node); p < tb_bvh_last(node); p++) {
      hit[count] = tree->order[p];
      count += tb_aabb_overlap(&tree->boxes[p], &box);
    }
    if (count < MANY) continue;
    if (!append_pairs(broad, i, hit, count)) return false;
    count = 0;
  }
  return append_pairs(broad, i, hit, count);
}

// All pairs that contain the moved item i.
static bool search_mover(tbBroadphase* broad, int i) {
  tbBroadState* s = broad->state;
  if (s->special[i]) {
    for (int j = 0; j < broad->count; j++) {
      if (j != i && tb_broad_items_overlap(s, s->fat, i, j) && !append_pair(broad, i, j))
        return false;
    }
    return true;
  }
  for (int k = 0; k < s->nspecial; k++) {
    int j = s->specials[k];
    if (tb_broad_items_overlap(s, s->fat, i, j) && !append_pair(broad, i, j)) return false;
  }
  return search_tree(broad, i);
}

// Search for all moved items, those in the tree in leaf order, since neighbours visit the same
// nodes.
static bool search_movers(tbBroadphase* broad) {
  tbBroadState* s = broad->state;
  s->fresh.count = 0;
  for (int k = 0; k < s->nspecial; k++) {
    int i = s->specials[k];
    if (s->moved[i] && !search_mover(broad, i)) return false;
  }
  int count = broad->count - s->nspecial;
  for (int k = 0; k < count; k++) {
    int i = s->tree.order[k];
    if (s->moved[i] && !search_mover(broad, i)) return false;
  }
  return true;
}

// ---- the list of pairs -------------------------------------------------------------------------

// Sort keys by the low `bits` bits of both halves: least significant digit first, in digits of up
// to 11 bits. Each pass copies from one array to the other; the result is in list->key, since the
// number of passes is even.
static void radix_sort(tbKeyList* list, uint64_t* spare, int bits) {
  enum { DIGIT = 11 };
  int passes = (bits + DIGIT - 1) / DIGIT, width = (bits + passes - 1) / passes;
  uint64_t mask = ((uint64_t)1 << width) - 1, *from = list->key, *to = spare;
  for (int pass = 0; pass < 2 * passes; pass++) {
    int shift = pass < passes ? pass * width : 32 + (pass - passes) * width;
    int start[1 << DIGIT] = {0}, sum = 0;
    for (int i = 0; i < list->count; i++) start[from[i] >> shift & mask]++;
    for (uint64_t d = 0; d <= mask; d++) {
      int size = start[d];
      start[d] = sum;
      sum += size;
    }
    for (int i = 0; i < list->count; i++) to[start[from[i] >> shift & mask]++] = from[i];
    uint64_t* swap = from;
    from = to;
    to = swap;
  }
}

static void insertion_sort(tbKeyList* list) {
  for (int i = 1; i < list->count; i++) {
    uint64_t key = list->key[i];
    int j = i;
    for (; j > 0 && list->key[j - 1] > key; j--) list->key[j] = list->key[j - 1];
    list->key[j] = key;
  }
}

static bool sort_fresh(tbBroadphase* broad) {
  tbBroadState* s = broad->state;
  if (s->fresh.count < 64) {
    insertion_sort(&s->fresh);
    return true;
  }
  if (!reserve_keys(broad, &s->spare, s->fresh.count)) return false;
  int bits = 1;
  while (bits < 31 && broad->count >> bits) bits++;
  radix_sort(&s->fresh, s->spare.key, bits);
  return true;
}

// New candidates: the old ones without moved items, merged with the newly found pairs. The cached
// path-length limits (`until`) move along if path lengths are given.
static bool merge_candidates(tbBroadphase* broad) {
  tbBroadState* s = broad->state;
  tbKeyList *old = &s->candidates, *fresh = &s->fresh, *out = &s->spare;
  if (!reserve_keys(broad, out, (int64_t)old->count + fresh->count + 1)) return false;
  if (!reserve_keys(broad, fresh, (int64_t)fresh->count + 1)) return false;
  const uint8_t* moved = s->moved;
  const bool paths = broad->path != NULL;
  uint64_t* to = out->key;
  int count = 0, f = 0;
  fresh->key[fresh->count] = UINT64_MAX;
  for (int i = 0; i < old->count; i++) {
    uint64_t key = old->key[i];
    for (; fresh->key[f] < key; f++) {
      if (paths) out->until[count] = 0;
      to[count++] = fresh->key[f];
    }
    // Written unconditionally, counted only if the pair stays.
    if (paths) out->until[count] = old->until[i];
    to[count] = key;
    count += !(moved[key >> 32] | moved[key & UINT32_MAX]);
  }
  for (; f < fresh->count; f++) {
    if (paths) out->until[count] = 0;
    to[count++] = fresh->key[f];
  }
  out->count = count;
  tbKeyList swap = *old;
  *old = *out;
  *out = swap;
  return true;
}

bool tb_broad_search_large(tbBroadphase* broad) {
  update_tree(broad);
  return search_movers(broad) && sort_fresh(broad) && merge_candidates(broad);
}

// Report the overlapping pairs, testing only those whose cached result may have changed.
static void report_by_paths(tbBroadphase* broad) {
  tbBroadState* s = broad->state;
  const uint64_t* keys = s->candidates.key;
  tbPair* pairs = broad->pairs;
  int count = 0, total = s->candidates.count;
  if (!s->has_until) memset(s->candidates.until, 0, (size_t)total * sizeof(tbReal));
  for (int c = 0; c < total; c++) {
    int i = (int)(keys[c] >> 32), j = (int)(keys[c] & UINT32_MAX);
    pairs[count].first = i;
    pairs[count].second = j;
    count += tb_broad_pair_overlaps(broad, i, j, &s->candidates.until[c]);
  }
  broad->npair = count;
}

// Report the overlapping pairs by box tests. Pairs are written unconditionally and counted on
// overlap: the only branch is that for planes, whose boxes are not exact.
static void report_by_boxes(tbBroadphase* broad) {
  const tbBroadState* s = broad->state;
  const uint64_t* keys = s->candidates.key;
  const tbAabb* tight = s->tight;
  const uint8_t* kind = s->kind;
  tbPair* pairs = broad->pairs;
  int count = 0, total = s->candidates.count, last = total - 1;
  for (int c = 0; c < total; c++) {
    int i = (int)(keys[c] >> 32), j = (int)(keys[c] & UINT32_MAX);
    tb_prefetch(&tight[keys[c + PREFETCH < last ? c + PREFETCH : last] & UINT32_MAX]);
    pairs[count].first = i;
    pairs[count].second = j;
    int hit = tb_aabb_overlap(&tight[i], &tight[j]);
    if ((kind[i] | kind[j]) & TB_BROAD_PLANE) hit = tb_broad_items_overlap(s, tight, i, j);
    count += hit;
  }
  broad->npair = count;
}

void tb_broad_report_large(tbBroadphase* broad) {
  if (broad->path) {
    report_by_paths(broad);
  } else {
    report_by_boxes(broad);
  }
  broad->state->has_until = broad->path != NULL;
}
