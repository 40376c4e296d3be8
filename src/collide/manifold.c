// The deepest and the widest of many contacts.
#include "collide/manifold.h"

#include "spatial/vec3.h"

static int deepest_of(const tbContactPoint* c, int count) {
  int best = 0;
  for (int i = 1; i < count; i++) {
    if (c[i].dist < c[best].dist) best = i;
  }
  return best;
}

static int farthest_from(const tbContactPoint* c, int count, int from) {
  int best = from;
  tbReal best_squared = 0;
  for (int i = 0; i < count; i++) {
    tbReal diff[3];
    tb_sub3(diff, c[i].pos, c[from].pos);
    tbReal squared = tb_dot3(diff, diff);
    if (squared > best_squared) {
      best_squared = squared;
      best = i;
    }
  }
  return best;
}

// Twice the area of the triangle (p, q, r) seen along n, counter-clockwise positive.
static tbReal area(const tbContactPoint* p, const tbContactPoint* q, const tbContactPoint* r,
                   const tbReal n[3]) {
  tbReal a[3], b[3], c[3];
  tb_sub3(a, q->pos, p->pos);
  tb_sub3(b, r->pos, p->pos);
  tb_cross(c, a, b);
  return tb_dot3(c, n);
}

// The chosen polygon, counter-clockwise.
typedef struct {
  int corner[TB_MAX_PAIR_CONTACTS];
  int count;
} Polygon;

// The candidate that adds most area when put between two neighbours of the polygon, and where.
static int widest(const tbContactPoint* c, int count, const Polygon* polygon, const tbReal n[3],
                  tbReal least, int* place) {
  int best = -1;
  for (int edge = 0; edge < polygon->count; edge++) {
    const tbContactPoint* p = &c[polygon->corner[edge]];
    const tbContactPoint* q = &c[polygon->corner[(edge + 1) % polygon->count]];
    for (int i = 0; i < count; i++) {
      tbReal gain = -area(p, q, &c[i], n);
      if (!(gain > least)) continue;
      least = gain;
      best = i;
      *place = edge + 1;
    }
  }
  return best;
}

static void keep(tbContactPoint* c, Polygon* polygon) {
  // Insertion sort of the chosen indices, then compact in that order.
  for (int i = 1; i < polygon->count; i++) {
    int index = polygon->corner[i], j = i;
    for (; j > 0 && polygon->corner[j - 1] > index; j--)
      polygon->corner[j] = polygon->corner[j - 1];
    polygon->corner[j] = index;
  }
  for (int i = 0; i < polygon->count; i++) c[i] = c[polygon->corner[i]];
}

int tb_manifold_reduce(tbContactPoint* c, int count, int max) {
  if (count <= max) return count;
  if (max > TB_MAX_PAIR_CONTACTS) max = TB_MAX_PAIR_CONTACTS;
  Polygon polygon = {.corner = {deepest_of(c, count)}, .count = 1};
  tbReal n[3], diff[3], span = 0;
  tb_copy3(n, c[polygon.corner[0]].frame);
  int far = farthest_from(c, count, polygon.corner[0]);
  if (max >= 2 && far != polygon.corner[0]) {
    polygon.corner[polygon.count++] = far;
    tb_sub3(diff, c[far].pos, c[polygon.corner[0]].pos);
    span = tb_dot3(diff, diff);
  }

  // A gain below a thousandth of the span squared is a point on an edge already there.
  while (polygon.count >= 2 && polygon.count < max) {
    int place = 0, next = widest(c, count, &polygon, n, 1e-3 * span, &place);
    if (next < 0) break;
    for (int i = polygon.count; i > place; i--) polygon.corner[i] = polygon.corner[i - 1];
    polygon.corner[place] = next;
    polygon.count++;
  }
  keep(c, &polygon);
  return polygon.count;
}
