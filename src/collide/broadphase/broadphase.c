#include "collide/broadphase/broadphase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collide/broadphase/state.h"

// Extent of a fat box beyond the item's box, as a fraction of its largest side, and the number of
// last displacements that the fat box extends ahead.
#define FAT_SIDE 0.1f
#define FAT_AHEAD 4

// ---- memory ------------------------------------------------------------------------------------

// Clears *ok when out of memory.
static void* allocate(tbBroadphase* broad, size_t count, size_t size, bool* ok) {
  if (count == 0) count = 1;
  void* memory = calloc(count, size);
  if (memory) {
    broad->nallocation++;
    broad->bytes += count * size;
  }
  *ok = *ok && memory;
  return memory;
}

// Discard all boxes and pairs, so that the next update calls the filter again. Memory is kept.
static void clear_state(tbBroadphase* broad) {
  tbBroadState* s = broad->state;
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
  bool ok = true;
  tbBroadState* s = allocate(broad, 1, sizeof(tbBroadState), &ok);
  if (!s) return TB_ERROR_MEMORY;
  broad->state = s;
  size_t n = (size_t)count;
  broad->box = allocate(broad, n, sizeof(tbAabb), &ok);
  s->tight = allocate(broad, n, sizeof(tbAabb), &ok);
  s->fat = allocate(broad, n, sizeof(tbAabb), &ok);
  s->kind = allocate(broad, n, 1, &ok);
  s->moved = allocate(broad, n, 1, &ok);
  s->stale = allocate(broad, n, 1, &ok);
  broad->still = allocate(broad, n, 1, &ok);
  broad->slack = allocate(broad, n, sizeof(float), &ok);
  s->special = allocate(broad, n, 1, &ok);
  s->specials = allocate(broad, n, sizeof(int), &ok);
  s->plane = allocate(broad, 4 * n, sizeof(tbReal), &ok);
  s->tree.nodes = allocate(broad, n, sizeof(tbBvhNode), &ok);
  s->tree.order = allocate(broad, n, sizeof(int), &ok);
  s->tree.place = allocate(broad, n, sizeof(int), &ok);
  s->tree.boxes = allocate(broad, n, sizeof(tbAabb), &ok);
  s->tree.key = allocate(broad, n, sizeof(float), &ok);
  if (!ok) {
    tb_broadphase_free(broad);
    return TB_ERROR_MEMORY;
  }
  broad->count = count;
  if (kind) memcpy(s->kind, kind, n);
  clear_state(broad);
  return TB_OK;
}

void tb_broadphase_free(tbBroadphase* broad) {
  tbBroadState* s = broad->state;
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
    tbKeyList* const lists[] = {&s->candidates, &s->fresh, &s->spare};
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

// Room for `count` pairs. Capacity doubles, so that a constant number of pairs allocates nothing.
static bool reserve_pairs(tbBroadphase* broad, int count) {
  tbBroadState* s = broad->state;
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

// ---- boxes -------------------------------------------------------------------------------------

static bool box_is_bounded(const tbAabb* box) {
  float low = 0 * box->low[0] * box->low[1] * box->low[2];
  float high = 0 * box->high[0] * box->high[1] * box->high[2];
  return low + high == 0;
}

// The box of a half space: bounded, and then exact, only where its normal is an axis.
static void load_plane(tbAabb* box, const tbReal plane[4]) {
  tbReal low[3], high[3];
  for (int i = 0; i < 3; i++) {
    bool is_axis = plane[(i + 1) % 3] == 0 && plane[(i + 2) % 3] == 0;
    low[i] = is_axis && plane[i] == -1 ? -plane[3] : -INFINITY;
    high[i] = is_axis && plane[i] == 1 ? plane[3] : INFINITY;
  }
  tb_aabb_round(box, low, high);
}

// NAN as an argument is ignored, as by fminf, for which compilers emit a call.
static inline float smaller(float a, float b) {
  return b < a ? b : a;
}

static inline float larger(float a, float b) {
  return b > a ? b : a;
}

// A fat box: `now` extended on all sides, and ahead along the last displacement.
static void fatten(tbAabb* fat, const tbAabb* now, const tbAabb* before) {
  float side = 0;
  for (int i = 0; i < 3; i++) side = larger(side, now->high[i] - now->low[i]);
  for (int i = 0; i < 3; i++) {
    float step = now->low[i] - before->low[i], ahead = 0;
    if (isfinite(step)) ahead = smaller(larger(FAT_AHEAD * step, -side), side);
    fat->low[i] = now->low[i] - FAT_SIDE * side + smaller(ahead, 0);
    fat->high[i] = now->high[i] + FAT_SIDE * side + larger(ahead, 0);
  }
}

static bool planes_equal(const tbReal* a, const tbReal* b) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

// A plane has moved when its coefficients changed. Planes are not in the tree.
static bool move_plane(tbBroadState* s, int i, const tbReal* planes) {
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

// A new fat box for an item that left its old one. An item that becomes unbounded or bounded enters
// or leaves the tree, which is then rebuilt.
static void move_box(tbBroadState* s, int i, const tbAabb* now) {
  uint8_t special = !box_is_bounded(now);
  if (special != s->special[i]) s->has_tree = false;
  s->special[i] = special;
  if (special) {
    s->fat[i] = *now;
  } else {
    fatten(&s->fat[i], now, &s->tight[i]);
  }
}

// Distance by which a box may move before it leaves its fat box, less the possible rounding to
// single precision.
static float slack_of(const tbAabb* fat, const tbAabb* now) {
  float least = INFINITY, most = 0;
  for (int i = 0; i < 3; i++) {
    least = smaller(smaller(least, now->low[i] - fat->low[i]), fat->high[i] - now->high[i]);
    most = larger(larger(most, fabsf(now->low[i])), fabsf(now->high[i]));
  }
  return isfinite(most) ? 0.999f * least - 3e-7f * most : -1;
}

// Read the new box of an item. True if the item left its fat box.
static bool read_box(tbBroadphase* broad, const tbReal* planes, int i) {
  tbBroadState* s = broad->state;
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

// Read the new boxes and mark the items that left their fat boxes.
static void find_movers(tbBroadphase* broad, const tbReal* planes) {
  tbBroadState* s = broad->state;
  int nmoved = 0;
  for (int i = 0; i < broad->count; i++) {
    s->moved[i] = read_box(broad, planes, i);
    nmoved += s->moved[i];
  }
  broad->nmoved = nmoved;
}

// ---- update ------------------------------------------------------------------------------------

tbResult tb_broadphase_update(tbBroadphase* broad, const tbReal* planes) {
  tbBroadState* s = broad->state;
  if (!s) return TB_ERROR_ARGUMENT;
  broad->npair = 0;
  find_movers(broad, planes);
  if (broad->count <= TB_BROAD_FEW) {
    if (!reserve_pairs(broad, broad->count * broad->count / 2)) return TB_ERROR_MEMORY;
    if (broad->nmoved > 0) tb_broad_search_small(broad);
    tb_broad_report_small(broad);
    return TB_OK;
  }
  if (broad->nmoved > 0 && !tb_broad_search_large(broad)) {
    clear_state(broad);
    return TB_ERROR_MEMORY;
  }
  if (!reserve_pairs(broad, s->candidates.count + 1)) return TB_ERROR_MEMORY;
  tb_broad_report_large(broad);
  return TB_OK;
}
