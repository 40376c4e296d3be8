#include "collide/broadphase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel.h"

// How far a fat box reaches beyond the item, as a part of its largest side, and how many of the
// last displacements it looks ahead.
#define FAT_SIDE 0.1f
#define FAT_AHEAD 4
// Up to this many items there is no tree: one that leaves its fat box is compared with all others,
// and pairs are bits of a word for each item. No worse where every update is of another world.
enum { FEW = 32 };
// Rebuild the tree when its cost has grown by this factor.
#define LOOSE 1.3
// How many pairs ahead boxes are fetched.
#define AHEAD 16

typedef struct {
  uint64_t* key;
  tbReal* until;  // see pair_overlaps
  int count, capacity;
} KeyList;

// Fat boxes of few items by component, so that one is compared with four at a time.
typedef struct {
  float low[3][FEW], high[3][FEW];
  int32_t hit[FEW];       // scratch: which items overlap the current one
  uint32_t allowed[FEW];  // bit j of item i: the filter lets them pair
  uint32_t overlap[FEW];  // the same, and the fat boxes overlap
  tbReal until[FEW][FEW];
} FewBoxes;

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
  KeyList candidates;  // sorted: fat boxes overlap and the filter agreed
  bool has_until;      // the candidates' times are those of the last update
  bool listed;         // few items: the filter was asked
  FewBoxes few;
  KeyList fresh, spare;
  int pair_capacity;
} State;

static void* allocate(tbBroadphase* broad, size_t count, size_t size) {
  if (count == 0) count = 1;
  void* memory = calloc(count, size);
  if (memory) {
    broad->nallocation++;
    broad->bytes += count * size;
  }
  return memory;
}

// Forget all boxes and pairs, so that the filter is asked anew. Keeps the memory.
static void forget_all(tbBroadphase* broad) {
  State* s = broad->state;
  for (int i = 0; i < broad->count; i++) {
    tb_aabb_make_empty(&s->fat[i]);
    tb_aabb_make_empty(&s->tight[i]);
    s->special[i] = 0;
    s->stale[i] = 0;
    broad->still[i] = 0;
    broad->slack[i] = -1;
  }
  s->candidates.count = 0;
  s->has_tree = false;
  s->listed = false;
  broad->npair = 0;
}

tbResult tb_broadphase_init(tbBroadphase* broad, int count, const uint8_t* kind,
                            tbPairFilter filter, const void* context) {
  memset(broad, 0, sizeof(*broad));
  if (count < 0) return TB_ERROR_ARGUMENT;
  broad->filter = filter;
  broad->context = context;
  State* s = (State*)allocate(broad, 1, sizeof(State));
  if (!s) return TB_ERROR_MEMORY;
  broad->state = s;
  size_t n = (size_t)count;
  broad->box = (tbAabb*)allocate(broad, n, sizeof(tbAabb));
  s->tight = (tbAabb*)allocate(broad, n, sizeof(tbAabb));
  s->fat = (tbAabb*)allocate(broad, n, sizeof(tbAabb));
  s->kind = (uint8_t*)allocate(broad, n, 1);
  s->moved = (uint8_t*)allocate(broad, n, 1);
  s->stale = (uint8_t*)allocate(broad, n, 1);
  broad->still = (uint8_t*)allocate(broad, n, 1);
  broad->slack = (float*)allocate(broad, n, sizeof(float));
  s->special = (uint8_t*)allocate(broad, n, 1);
  s->specials = (int*)allocate(broad, n, sizeof(int));
  s->plane = (tbReal*)allocate(broad, 4 * n, sizeof(tbReal));
  s->tree.nodes = (tbBvhNode*)allocate(broad, n, sizeof(tbBvhNode));
  s->tree.order = (int*)allocate(broad, n, sizeof(int));
  s->tree.place = (int*)allocate(broad, n, sizeof(int));
  s->tree.boxes = (tbAabb*)allocate(broad, n, sizeof(tbAabb));
  s->tree.key = (float*)allocate(broad, n, sizeof(float));
  if (!broad->box || !broad->still || !broad->slack || !s->tight || !s->fat || !s->kind ||
      !s->moved || !s->stale || !s->special || !s->specials || !s->plane || !s->tree.nodes ||
      !s->tree.order || !s->tree.place || !s->tree.boxes || !s->tree.key) {
    tb_broadphase_free(broad);
    return TB_ERROR_MEMORY;
  }
  broad->count = count;
  if (kind) memcpy(s->kind, kind, n);
  broad->kind = s->kind;
  forget_all(broad);
  return TB_OK;
}

void tb_broadphase_free(tbBroadphase* broad) {
  State* s = broad->state;
  if (s) {
    free(s->tight);
    free(s->fat);
    free(s->kind);
    free(s->moved);
    free(s->stale);
    free(s->special);
    free(s->specials);
    free(s->plane);
    free(s->tree.nodes);
    free(s->tree.order);
    free(s->tree.place);
    free(s->tree.boxes);
    free(s->tree.key);
    KeyList* const lists[] = {&s->candidates, &s->fresh, &s->spare};
    for (int i = 0; i < 3; i++) {
      free(lists[i]->key);
      free(lists[i]->until);
    }
    free(s);
  }
  free(broad->box);
  free(broad->still);
  free(broad->slack);
  free(broad->pairs);
  memset(broad, 0, sizeof(*broad));
}

// Room for `count` keys; doubles, so that a steady number of pairs allocates nothing.
static bool reserve_keys(tbBroadphase* broad, KeyList* list, int64_t count) {
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

static bool reserve_pairs(tbBroadphase* broad, int count) {
  State* s = broad->state;
  if (count <= s->pair_capacity) return true;
  int64_t capacity = 2 * (int64_t)count + 64;
  if (capacity > INT32_MAX) capacity = INT32_MAX;
  tbPair* pairs = (tbPair*)realloc(broad->pairs, (size_t)capacity * sizeof(tbPair));
  if (!pairs) return false;
  broad->nallocation++;
  broad->bytes += (size_t)(capacity - s->pair_capacity) * sizeof(tbPair);
  broad->pairs = pairs;
  s->pair_capacity = (int)capacity;
  return true;
}

static uint64_t pair_key(int i, int j) {
  return i < j ? (uint64_t)i << 32 | (uint64_t)j : (uint64_t)j << 32 | (uint64_t)i;
}

static bool box_is_bounded(const tbAabb* box) {
  float low = 0 * box->low[0] * box->low[1] * box->low[2];
  float high = 0 * box->high[0] * box->high[1] * box->high[2];
  return low + high == 0;
}

// The box of a half space: bounded only where its normal is an axis, and then exact.
static void load_plane(tbAabb* box, const tbReal plane[4]) {
  tbReal low[3], high[3];
  for (int i = 0; i < 3; i++) {
    bool is_axis = plane[(i + 1) % 3] == 0 && plane[(i + 2) % 3] == 0;
    low[i] = is_axis && plane[i] == -1 ? -plane[3] : -INFINITY;
    high[i] = is_axis && plane[i] == 1 ? plane[3] : INFINITY;
  }
  tb_aabb_round(box, low, high);
}

// A box around `now` with room to move: on all sides, and ahead along the last displacement.
static void fatten(tbAabb* fat, const tbAabb* now, const tbAabb* before) {
  float side = 0;
  for (int i = 0; i < 3; i++) side = fmaxf(side, now->high[i] - now->low[i]);
  for (int i = 0; i < 3; i++) {
    float step = now->low[i] - before->low[i], ahead = 0;
    if (isfinite(step)) ahead = fminf(fmaxf(FAT_AHEAD * step, -side), side);
    fat->low[i] = now->low[i] - FAT_SIDE * side + fminf(ahead, 0);
    fat->high[i] = now->high[i] + FAT_SIDE * side + fmaxf(ahead, 0);
  }
}

static bool planes_equal(const tbReal* a, const tbReal* b) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

// A plane that changed has moved, and planes are outside of the tree.
static bool move_plane(State* s, int i, const tbReal* planes) {
  static const tbReal none[4] = {0, 0, 0, -INFINITY};
  const tbReal* plane = planes ? planes + 4 * i : none;
  bool moved = !planes_equal(plane, s->plane + 4 * i) || !s->special[i];
  if (!moved) return false;
  memcpy(s->plane + 4 * i, plane, 4 * sizeof(tbReal));
  load_plane(&s->tight[i], plane);
  s->fat[i] = s->tight[i];
  if (!s->special[i]) s->has_tree = false;
  s->special[i] = 1;
  return true;
}

// A new fat box around an item that left its own. An item that turns from bounded to unbounded or
// back changes the tree, so that is dropped.
static void move_box(State* s, int i, const tbAabb* now) {
  uint8_t special = !box_is_bounded(now);
  if (special != s->special[i]) s->has_tree = false;
  s->special[i] = special;
  if (special) {
    s->fat[i] = *now;
  } else {
    fatten(&s->fat[i], now, &s->tight[i]);
  }
}

// How far a box may move until it leaves its fat one, less than what rounding to single precision
// can hide.
static float slack_of(const tbAabb* fat, const tbAabb* now) {
  float least = INFINITY, most = 0;
  for (int i = 0; i < 3; i++) {
    least = fminf(least, fminf(now->low[i] - fat->low[i], fat->high[i] - now->high[i]));
    most = fmaxf(most, fmaxf(fabsf(now->low[i]), fabsf(now->high[i])));
  }
  return isfinite(most) ? 0.999f * least - 3e-7f * most : -1;
}

// Take the new box of an item. True if it left its fat box.
static bool take_box(tbBroadphase* broad, const tbReal* planes, int i) {
  State* s = broad->state;
  s->stale[i] = 0;
  if (s->kind[i] & TB_BROAD_PLANE) return move_plane(s, i, planes);
  s->stale[i] = broad->still[i];
  if (s->stale[i]) return false;
  tbAabb now = broad->box[i];
  bool moved = !tb_aabb_contains(&s->fat[i], &now);
  if (moved) move_box(s, i, &now);
  s->tight[i] = now;
  if (broad->place) broad->slack[i] = slack_of(&s->fat[i], &now);
  return moved;
}

// Take the new boxes and find the items that left their fat boxes.
static void find_movers(tbBroadphase* broad, const tbReal* planes) {
  State* s = broad->state;
  int nmoved = 0;
  for (int i = 0; i < broad->count; i++) {
    s->moved[i] = take_box(broad, planes, i);
    nmoved += s->moved[i];
  }
  broad->nmoved = nmoved;
}

// The tight box of an item as it is now.
static inline void freshen(tbBroadphase* broad, int i) {
  State* s = broad->state;
  if (!s->stale[i]) return;
  s->stale[i] = 0;
  broad->place(broad->owner, i);
  s->tight[i] = broad->box[i];
}

static void update_tree(tbBroadphase* broad) {
  State* s = broad->state;
  for (int i = 0; s->has_tree && i < broad->count; i++) {
    if (s->moved[i] && !s->special[i]) s->tree.boxes[s->tree.place[i]] = s->fat[i];
  }
  if (s->has_tree && tb_bvh_refit(&s->tree) <= LOOSE) return;
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
  broad->nbuild++;
}

// The half space n.x <= offset reaches the box if the box's lowest corner does.
static bool plane_reaches(const tbReal plane[4], const tbAabb* box) {
  if (!(box->low[0] <= box->high[0])) return false;
  tbReal lowest = 0;
  for (int i = 0; i < 3; i++) {
    if (plane[i] != 0) lowest += plane[i] * (tbReal)(plane[i] > 0 ? box->low[i] : box->high[i]);
  }
  return lowest <= plane[3];
}

// Whether two items overlap, by the given boxes (tight or fat) and planes.
static inline bool items_overlap(const State* s, const tbAabb* boxes, int i, int j) {
  if (!tb_aabb_overlap(&boxes[i], &boxes[j])) return false;
  if (!((s->kind[i] | s->kind[j]) & TB_BROAD_PLANE)) return true;
  bool plane_i = s->kind[i] & TB_BROAD_PLANE, plane_j = s->kind[j] & TB_BROAD_PLANE;
  if (plane_i && plane_j) return true;
  return plane_i ? plane_reaches(s->plane + 4 * i, &boxes[j])
                 : plane_reaches(s->plane + 4 * j, &boxes[i]);
}

// Note the pair of a mover i and an item j whose fat boxes overlap. Of two movers the lower asks.
static bool note_pair(tbBroadphase* broad, int i, int j) {
  State* s = broad->state;
  if (i == j || (s->moved[j] && j < i)) return true;
  if (s->kind[i] & s->kind[j] & TB_BROAD_STATIC) return true;
  int first = i < j ? i : j, second = i < j ? j : i;
  if (broad->filter && !broad->filter(broad->context, first, second)) return true;
  if (!reserve_keys(broad, &s->fresh, (int64_t)s->fresh.count + 1)) return false;
  s->fresh.key[s->fresh.count++] = pair_key(i, j);
  return true;
}

static bool note_pairs(tbBroadphase* broad, int i, const int* hit, int count) {
  for (int k = 0; k < count; k++) {
    if (!note_pair(broad, i, hit[k])) return false;
  }
  return true;
}

// Hits of leaves are written always and counted when true.
static bool search_tree(tbBroadphase* broad, int i) {
  enum { MANY = 256 };
  State* s = broad->state;
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
    if (!note_pairs(broad, i, hit, count)) return false;
    count = 0;
  }
  return note_pairs(broad, i, hit, count);
}

// All pairs that a mover takes part in.
static bool search_mover(tbBroadphase* broad, int i) {
  State* s = broad->state;
  if (s->special[i]) {
    for (int j = 0; j < broad->count; j++) {
      if (j != i && items_overlap(s, s->fat, i, j) && !note_pair(broad, i, j)) return false;
    }
    return true;
  }
  for (int k = 0; k < s->nspecial; k++) {
    int j = s->specials[k];
    if (items_overlap(s, s->fat, i, j) && !note_pair(broad, i, j)) return false;
  }
  return search_tree(broad, i);
}

// All movers, those in the tree in its order: neighbours search the same nodes.
static bool search_movers(tbBroadphase* broad) {
  State* s = broad->state;
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

// Sort keys by the low `bits` bits of both halves: least significant digit first, in digits of up
// to 11 bits. Each pass goes from one array to the other; the result is in list->key.
static void radix_sort(KeyList* list, uint64_t* spare, int bits) {
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

static void insertion_sort(KeyList* list) {
  for (int i = 1; i < list->count; i++) {
    uint64_t key = list->key[i];
    int j = i;
    for (; j > 0 && list->key[j - 1] > key; j--) list->key[j] = list->key[j - 1];
    list->key[j] = key;
  }
}

static bool sort_fresh(tbBroadphase* broad) {
  State* s = broad->state;
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

// Candidates = old ones without movers, merged with the fresh ones. What is known of pairs goes
// along where paths are given.
static bool merge_candidates(tbBroadphase* broad) {
  State* s = broad->state;
  KeyList *old = &s->candidates, *fresh = &s->fresh, *out = &s->spare;
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
    // Written always, counted where it stays.
    if (paths) out->until[count] = old->until[i];
    to[count] = key;
    count += !(moved[key >> 32] | moved[key & UINT32_MAX]);
  }
  for (; f < fresh->count; f++) {
    if (paths) out->until[count] = 0;
    to[count++] = fresh->key[f];
  }
  out->count = count;
  KeyList swap = *old;
  *old = *out;
  *out = swap;
  return true;
}

// As fmax with a number x, without the call.
static inline tbReal larger(tbReal x, tbReal y) {
  return y > x ? y : x;
}

// How far two items are from touching (positive) or from parting (negative), by the sides of their
// boxes; for a plane also by its normal, along which a box reaches no farther than the root of
// three times what its sides move.
static tbReal gap_between(const State* s, int i, int j) {
  const tbAabb *a = &s->tight[i], *b = &s->tight[j];
  tbReal gap = -INFINITY, most = 0;
  for (int k = 0; k < 3; k++) {
    gap = larger(gap, larger((tbReal)a->low[k] - b->high[k], (tbReal)b->low[k] - a->high[k]));
  }
  bool plane_i = s->kind[i] & TB_BROAD_PLANE, plane_j = s->kind[j] & TB_BROAD_PLANE;
  const tbAabb* box = plane_i ? b : a;
  if (plane_i != plane_j) {
    const tbReal* plane = s->plane + 4 * (plane_i ? i : j);
    tbReal lowest = -plane[3];
    for (int k = 0; k < 3; k++) {
      if (plane[k] != 0) lowest += plane[k] * (tbReal)(plane[k] > 0 ? box->low[k] : box->high[k]);
    }
    gap = larger(gap, lowest / 1.7320508075688774);
  }
  for (int k = 0; k < 3; k++) {
    most = larger(most, larger(fabs(box->low[k]), fabs(box->high[k])));
    if (!plane_i && !plane_j) most = larger(most, larger(fabs(b->low[k]), fabs(b->high[k])));
  }
  // Less what rounding to single precision can hide.
  tbReal sure = fabs(gap) - 1e-6 * most;
  if (!(sure > 0 && sure < 1e30)) return 0;
  return gap > 0 ? 0.999 * sure : -0.999 * sure;
}

// Whether the true boxes of a candidate overlap. While both items together have come less far than
// |until|, they do where it is negative and do not where it is positive.
static inline bool pair_overlaps(tbBroadphase* broad, int i, int j, tbReal* until) {
  const State* s = broad->state;
  tbReal path = broad->path ? broad->path[i] + broad->path[j] : INFINITY;
  if (path < fabs(*until)) return *until < 0;
  freshen(broad, i);
  freshen(broad, j);
  bool overlap = items_overlap(s, s->tight, i, j);
  *until = 0;
  if (path < 1e12) {
    tbReal gap = gap_between(s, i, j);
    // Where both ways to see it differ by rounding, nothing is known.
    if ((gap < 0) == overlap) *until = gap < 0 ? gap - path : gap + path;
  }
  return overlap;
}

// Of the candidates, those whose true boxes overlap, by what is known of each pair.
static void report_by_paths(tbBroadphase* broad) {
  State* s = broad->state;
  const uint64_t* keys = s->candidates.key;
  tbPair* pairs = broad->pairs;
  int count = 0, total = s->candidates.count;
  if (!s->has_until) memset(s->candidates.until, 0, (size_t)total * sizeof(tbReal));
  for (int c = 0; c < total; c++) {
    int i = (int)(keys[c] >> 32), j = (int)(keys[c] & UINT32_MAX);
    pairs[count].first = i;
    pairs[count].second = j;
    count += pair_overlaps(broad, i, j, &s->candidates.until[c]);
  }
  broad->npair = count;
}

// The same by the boxes alone. Written always, counted when true: no branch to mispredict but where
// a plane's box is not the whole truth.
static void report_by_boxes(tbBroadphase* broad) {
  const State* s = broad->state;
  const uint64_t* keys = s->candidates.key;
  const tbAabb* tight = s->tight;
  const uint8_t* kind = s->kind;
  tbPair* pairs = broad->pairs;
  int count = 0, total = s->candidates.count, last = total - 1;
  for (int c = 0; c < total; c++) {
    int i = (int)(keys[c] >> 32), j = (int)(keys[c] & UINT32_MAX);
    tb_prefetch(&tight[keys[c + AHEAD < last ? c + AHEAD : last] & UINT32_MAX]);
    pairs[count].first = i;
    pairs[count].second = j;
    int hit = tb_aabb_overlap(&tight[i], &tight[j]);
    if ((kind[i] | kind[j]) & TB_BROAD_PLANE) hit = items_overlap(s, tight, i, j);
    count += hit;
  }
  broad->npair = count;
}

static void report_pairs(tbBroadphase* broad) {
  if (broad->path) {
    report_by_paths(broad);
  } else {
    report_by_boxes(broad);
  }
  broad->state->has_until = broad->path != NULL;
}

// ---- few items ---------------------------------------------------------------------------------

// Which pairs pass the filter. A place without item overlaps nothing.
static void list_few(tbBroadphase* broad) {
  State* s = broad->state;
  for (int k = 0; k < 3 * FEW; k++) {
    s->few.low[k / FEW][k % FEW] = INFINITY;
    s->few.high[k / FEW][k % FEW] = -INFINITY;
  }
  memset(s->few.allowed, 0, sizeof s->few.allowed);
  memset(s->few.overlap, 0, sizeof s->few.overlap);
  for (int i = 0; i < broad->count; i++) {
    for (int j = i + 1; j < broad->count; j++) {
      if (s->kind[i] & s->kind[j] & TB_BROAD_STATIC) continue;
      if (broad->filter && !broad->filter(broad->context, i, j)) continue;
      s->few.allowed[i] |= UINT32_C(1) << j;
      s->few.allowed[j] |= UINT32_C(1) << i;
    }
  }
  s->listed = true;
}

// Which fat boxes that of a mover overlaps.
static void search_few(tbBroadphase* broad, int i) {
  State* s = broad->state;
  FewBoxes* few = &s->few;
  const int width = (broad->count + 3) / 4 * 4;
  float x = few->low[0][i], y = few->low[1][i], z = few->low[2][i];
  float X = few->high[0][i], Y = few->high[1][i], Z = few->high[2][i];
  for (int j = 0; j < width; j++) {
    few->hit[j] = (few->low[0][j] <= X) & (x <= few->high[0][j]) & (few->low[1][j] <= Y) &
                  (y <= few->high[1][j]) & (few->low[2][j] <= Z) & (z <= few->high[2][j]);
  }
  few->overlap[i] = 0;
  const uint32_t own = UINT32_C(1) << i;
  for (int j = 0; j < broad->count; j++) {
    bool near = few->hit[j] && (few->allowed[i] >> j & 1);
    if (near && ((s->kind[i] | s->kind[j]) & TB_BROAD_PLANE)) near = items_overlap(s, s->fat, i, j);
    few->overlap[i] |= (uint32_t)near << j;
    few->overlap[j] = near ? few->overlap[j] | own : few->overlap[j] & ~own;
    few->until[i][j] = few->until[j][i] = 0;
  }
}

static void find_few(tbBroadphase* broad) {
  State* s = broad->state;
  if (!s->listed) list_few(broad);
  // All fat boxes first: movers are compared with each other.
  for (int i = 0; i < broad->count; i++) {
    if (!s->moved[i]) continue;
    for (int k = 0; k < 3; k++) {
      s->few.low[k][i] = s->fat[i].low[k];
      s->few.high[k][i] = s->fat[i].high[k];
    }
  }
  for (int i = 0; i < broad->count; i++) {
    if (s->moved[i]) search_few(broad, i);
  }
}

static void report_few(tbBroadphase* broad) {
  State* s = broad->state;
  int count = 0;
  for (int i = 0; i < broad->count; i++) {
    // The items behind this one.
    uint32_t bits = s->few.overlap[i] >> i >> 1;
    for (int j = i + 1; bits; j++, bits >>= 1) {
      if (!(bits & 1)) continue;
      if (pair_overlaps(broad, i, j, &s->few.until[i][j])) broad->pairs[count++] = (tbPair){i, j};
    }
  }
  broad->npair = count;
}

// The pairs of overlapping fat boxes after some items left theirs.
static bool search_many(tbBroadphase* broad) {
  update_tree(broad);
  return search_movers(broad) && sort_fresh(broad) && merge_candidates(broad);
}

tbResult tb_broadphase_update(tbBroadphase* broad, const tbReal* planes) {
  State* s = broad->state;
  if (!s) return TB_ERROR_ARGUMENT;
  broad->npair = 0;
  find_movers(broad, planes);
  if (broad->count <= FEW) {
    if (!reserve_pairs(broad, broad->count * broad->count / 2)) return TB_ERROR_MEMORY;
    if (broad->nmoved > 0) find_few(broad);
    report_few(broad);
    return TB_OK;
  }
  if (broad->nmoved > 0 && !search_many(broad)) {
    forget_all(broad);
    return TB_ERROR_MEMORY;
  }
  if (!reserve_pairs(broad, s->candidates.count + 1)) return TB_ERROR_MEMORY;
  report_pairs(broad);
  return TB_OK;
}
