// Contact reduction for height fields.
#include "collide/pairs/hfield_choice.h"

#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "collide/manifold.h"
#include "spatial/vec3.h"

// Maximum number of contacts per direction of the normal.
#define PER_DIRECTION 4

// Indices of the contacts, sorted by feature.
static void sort_by_feature(const tbContactPoint* group, int count, int* order) {
  for (int i = 0; i < count; i++) {
    int k = i;
    for (; k > 0 && group[order[k - 1]].feature > group[i].feature; k--) order[k] = order[k - 1];
    order[k] = i;
  }
}

// Reduces contacts of one direction. On flat ground all are equally deep up to rounding, so depths
// are compared in steps of `step`. Ties are broken by feature, so that the choice does not change
// from step to step with the cells under the shape. Higher contacts have a smaller weight;
// otherwise the rim of a bevel would displace the face inside it.
static int reduce_group(tbContactPoint* group, int count, int most, tbReal step, tbReal margin) {
  if (count <= most) return count;
  tbManifoldPoint point[TB_MANIFOLD_MAX];
  tbContactPoint kept[TB_MANIFOLD_MAX];
  tbReal t1[3], t2[3];
  int chosen[TB_MAX_PAIR_CONTACTS], order[TB_TERRAIN_FOUND], nkept = 0, next = 0;
  tb_frame_from_normal(group[0].frame, t1, t2);
  sort_by_feature(group, count, order);
  int lowest = 0;
  for (int i = 1; i < count; i++) lowest = group[i].dist < group[lowest].dist ? i : lowest;
  const tbContactPoint low = group[lowest];
  // Contacts beyond the capacity are reduced in several passes.
  while (next < count) {
    for (; next < count && nkept < TB_MANIFOLD_MAX; next++, nkept++) {
      const tbContactPoint* c = &group[order[next]];
      tbReal above = c->dist - low.dist, way[3];
      if (step > 0) above = step * floor(above / step + 0.5);
      tbReal share = tb_contact_share(low.dist + above, low.dist, margin);
      tb_sub3(way, c->pos, low.pos);
      kept[nkept] = *c;
      point[nkept] = (tbManifoldPoint){share * tb_dot3(t1, way), share * tb_dot3(t2, way), above};
    }
    nkept = tb_manifold_choose(point, nkept, most, chosen);
    for (int i = 0; i < nkept; i++) {
      point[i] = point[chosen[i]];
      kept[i] = kept[chosen[i]];
    }
  }
  memcpy(group, kept, (size_t)nkept * sizeof *kept);
  return nkept;
}

// Moves the contacts with the normal of the deepest to `group`, and reduces them to `most`.
static int take_group(tbTerrainFound* t, tbContactPoint* group, int most) {
  int deepest = 0, same = 0, rest = 0;
  tbContactPoint* found = t->contact;
  for (int i = 1; i < t->count; i++) {
    if (found[i].dist < found[deepest].dist) deepest = i;
  }
  tbReal n[3];
  tb_copy3(n, found[deepest].frame);
  for (int i = 0; i < t->count; i++) {
    if (i == deepest || tb_dot3(found[i].frame, n) > TB_TERRAIN_SAME) {
      group[same++] = found[i];
    } else {
      found[rest++] = found[i];
    }
  }
  t->count = rest;
  return reduce_group(group, same, most, 1e-8 * t->scale, t->margin);
}

void tb_terrain_thin_out(tbTerrainFound* t) {
  tbContactPoint group[TB_TERRAIN_FOUND], kept[TB_TERRAIN_FOUND];
  int total = 0;
  while (t->count > 0 && total + TB_MAX_MANIFOLD <= TB_TERRAIN_FOUND / 2) {
    int same = take_group(t, group, TB_MAX_MANIFOLD);
    memcpy(kept + total, group, (size_t)same * sizeof *group);
    total += same;
  }
  memcpy(t->contact, kept, (size_t)total * sizeof *kept);
  t->count = total;
}

// Makes identities unique: one point of the shape may touch two slopes of one sector, and hashes
// may collide. The position breaks the tie, since the order of depths changes more often.
static void make_unique(tbContactPoint* out, int count) {
  for (int i = 1; i < count; i++) {
    for (int j = 0; j < i; j++) {
      if (out[j].feature != out[i].feature) continue;
      tbReal way[3];
      tb_sub3(way, out[i].pos, out[j].pos);
      int moved = way[0] + 0.3 * way[1] < 0 ? j : i;
      out[moved].feature++;
      i = moved == j ? j : i;
      j = -1;
    }
  }
}

int tb_terrain_choose(tbTerrainFound* t, tbContactPoint out[TB_MAX_PAIR_CONTACTS]) {
  tbContactPoint group[TB_TERRAIN_FOUND];
  int kept = 0;
  while (t->count > 0 && kept < TB_MAX_PAIR_CONTACTS) {
    int room = TB_MAX_PAIR_CONTACTS - kept;
    int same = take_group(t, group, room < PER_DIRECTION ? room : PER_DIRECTION);
    for (int i = 0; i < same; i++) out[kept++] = group[i];
  }
  make_unique(out, kept);
  return kept;
}
