// Broad phase of at most TB_BROAD_FEW items: all boxes against each other, pairs as bits.
#include <string.h>

#include "collide/broadphase/state.h"

// Calls the filter for all pairs. Unused slots get an empty box.
static void filter_pairs(tbBroadphase* broad) {
  tbBroadState* s = broad->state;
  for (int k = 0; k < 3 * TB_BROAD_FEW; k++) {
    s->few.low[k / TB_BROAD_FEW][k % TB_BROAD_FEW] = INFINITY;
    s->few.high[k / TB_BROAD_FEW][k % TB_BROAD_FEW] = -INFINITY;
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

// Find the fat boxes that overlap the fat box of an item that left its old one.
static void search_mover(tbBroadphase* broad, int i) {
  tbBroadState* s = broad->state;
  tbFewBoxes* few = &s->few;
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
    if (near && ((s->kind[i] | s->kind[j]) & TB_BROAD_PLANE))
      near = tb_broad_items_overlap(s, s->fat, i, j);
    few->overlap[i] |= (uint32_t)near << j;
    few->overlap[j] = near ? few->overlap[j] | own : few->overlap[j] & ~own;
    few->until[i][j] = few->until[j][i] = 0;
  }
}

void tb_broad_search_small(tbBroadphase* broad) {
  tbBroadState* s = broad->state;
  if (!s->listed) filter_pairs(broad);
  // All fat boxes must be current before the search, since moved items are compared with each
  // other.
  for (int i = 0; i < broad->count; i++) {
    if (!s->moved[i]) continue;
    for (int k = 0; k < 3; k++) {
      s->few.low[k][i] = s->fat[i].low[k];
      s->few.high[k][i] = s->fat[i].high[k];
    }
  }
  for (int i = 0; i < broad->count; i++) {
    if (s->moved[i]) search_mover(broad, i);
  }
}

void tb_broad_report_small(tbBroadphase* broad) {
  tbBroadState* s = broad->state;
  int count = 0;
  for (int i = 0; i < broad->count; i++) {
    // Bits of the items after i.
    uint32_t bits = s->few.overlap[i] >> i >> 1;
    for (int j = i + 1; bits; j++, bits >>= 1) {
      if (!(bits & 1)) continue;
      if (tb_broad_pair_overlaps(broad, i, j, &s->few.until[i][j]))
        broad->pairs[count++] = (tbPair){i, j};
    }
  }
  broad->npair = count;
}
