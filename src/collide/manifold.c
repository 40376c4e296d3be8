// Contact reduction: the deepest contact and those that span the largest polygon.
#include "collide/manifold.h"

#include "spatial/vec3.h"

static int deepest_of(const tbManifoldPoint* p, int count) {
  int best = 0;
  tbReal least = p[0].dist;
  for (int i = 1; i < count; i++) {
    best = p[i].dist < least ? i : best;
    least = p[i].dist < least ? p[i].dist : least;
  }
  return best;
}

// A value must exceed another by this factor to count as larger. Among equal values the first
// stays, since rounding would otherwise change the choice from step to step.
#define TIE_FACTOR (1 + 1e-9)

static int farthest_from(const tbManifoldPoint* p, int count, int from, tbReal* span) {
  int best = from;
  tbReal most = 0;
  for (int i = 0; i < count; i++) {
    tbReal u = p[i].u - p[from].u, v = p[i].v - p[from].v, squared = u * u + v * v;
    bool farther = squared > TIE_FACTOR * most;
    best = farther ? i : best;
    most = farther ? squared : most;
  }
  *span = most;
  return best;
}

// The chosen contacts as a polygon, counter-clockwise; not convex where the deepest contact lies
// inside. Each edge stores the candidate that would add most area at this edge, so that inserting a
// corner requires a search for its two new edges only.
typedef struct {
  uint64_t used[TB_MANIFOLD_MAX / 64];  // bits of the candidates that are corners
  int corner[TB_MAX_PAIR_CONTACTS];
  int candidate[TB_MAX_PAIR_CONTACTS];
  tbReal gain[TB_MAX_PAIR_CONTACTS];
  int count;
} Polygon;

static bool is_used(const Polygon* polygon, int i) {
  return polygon->used[i >> 6] >> (i & 63) & 1;
}

static void use(Polygon* polygon, int place, int i) {
  polygon->corner[place] = i;
  polygon->used[i >> 6] |= (uint64_t)1 << (i & 63);
  polygon->count++;
}

static void search_edge(const tbManifoldPoint* p, int count, Polygon* polygon, int edge) {
  const tbManifoldPoint* a = &p[polygon->corner[edge]];
  const tbManifoldPoint* b = &p[polygon->corner[edge + 1 < polygon->count ? edge + 1 : 0]];
  tbReal du = b->u - a->u, dv = b->v - a->v, most = 0;
  int best = -1;
  for (int i = 0; i < count; i++) {
    tbReal area = dv * (p[i].u - a->u) - du * (p[i].v - a->v);
    bool wider = (area > TIE_FACTOR * most) & !is_used(polygon, i);
    best = wider ? i : best;
    most = wider ? area : most;
  }
  polygon->gain[edge] = most;
  polygon->candidate[edge] = best;
}

// Insert an edge's candidate as a corner, which splits the edge in two.
static void insert(Polygon* polygon, int edge) {
  int corner = polygon->candidate[edge];
  for (int i = polygon->count; i > edge + 1; i--) {
    polygon->corner[i] = polygon->corner[i - 1];
    polygon->candidate[i] = polygon->candidate[i - 1];
    polygon->gain[i] = polygon->gain[i - 1];
  }
  use(polygon, edge + 1, corner);
}

static void grow(const tbManifoldPoint* p, int count, int max, tbReal span, Polygon* polygon) {
  search_edge(p, count, polygon, 0);
  search_edge(p, count, polygon, 1);
  while (polygon->count < max) {
    int edge = 0;
    for (int i = 1; i < polygon->count; i++) {
      if (polygon->gain[i] > TIE_FACTOR * polygon->gain[edge]) edge = i;
    }

    // A gain below a thousandth of the span squared is that of a point on an existing edge.
    if (!(polygon->gain[edge] > 1e-3 * span)) return;
    int corner = polygon->candidate[edge];
    insert(polygon, edge);
    if (polygon->count == max) return;
    for (int i = 0; i < polygon->count; i++) {
      bool stale = i == edge || i == edge + 1 || polygon->candidate[i] == corner;
      if (stale) search_edge(p, count, polygon, i);
    }
  }
}

int tb_manifold_choose(const tbManifoldPoint* points, int count, int max, int* chosen) {
  Polygon polygon;
  polygon.count = 0;
  polygon.used[0] = polygon.used[1] = 0;
  use(&polygon, 0, deepest_of(points, count));
  tbReal span;
  int far = farthest_from(points, count, polygon.corner[0], &span);
  if (max >= 2 && far != polygon.corner[0]) {
    use(&polygon, 1, far);
    grow(points, count, max, span, &polygon);
  }

  // All candidates lie on one line: the deepest may lie between the two ends, so both are kept.
  if (polygon.count == 2 && max > 2) {
    int end = farthest_from(points, count, far, &span);
    if (!is_used(&polygon, end)) use(&polygon, 2, end);
  }
  for (int i = 0; i < polygon.count; i++) {
    int index = polygon.corner[i], j = i;
    for (; j > 0 && chosen[j - 1] > index; j--) chosen[j] = chosen[j - 1];
    chosen[j] = index;
  }
  return polygon.count;
}

// Reduce at most TB_MANIFOLD_MAX contacts; longer lists are reduced in several passes.
static int reduce_pass(tbContactPoint* c, int count, int max) {
  tbManifoldPoint points[TB_MANIFOLD_MAX];
  int chosen[TB_MAX_PAIR_CONTACTS];
  tbReal t1[3], t2[3];
  tb_frame_from_normal(c[0].frame, t1, t2);
  for (int i = 0; i < count; i++) {
    points[i].u = tb_dot3(t1, c[i].pos);
    points[i].v = tb_dot3(t2, c[i].pos);
    points[i].dist = c[i].dist;
  }
  int kept = tb_manifold_choose(points, count, max, chosen);
  for (int i = 0; i < kept; i++) c[i] = c[chosen[i]];
  return kept;
}

int tb_manifold_reduce(tbContactPoint* c, int count, int max) {
  if (max > TB_MAX_PAIR_CONTACTS) max = TB_MAX_PAIR_CONTACTS;
  int kept = count < TB_MANIFOLD_MAX ? count : TB_MANIFOLD_MAX, next = kept;
  while (kept > max) {
    kept = reduce_pass(c, kept, max);
    for (; next < count && kept < TB_MANIFOLD_MAX; next++) c[kept++] = c[next];
  }
  return kept;
}
