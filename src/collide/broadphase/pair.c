// Overlap test of a pair of items, and the path length for which its result stays valid.
#include "collide/broadphase/state.h"

// The minimum of n.x over a box, which is attained at a corner.
static tbReal lowest_corner(const tbReal plane[4], const tbAabb* box) {
  tbReal lowest = 0;
  for (int i = 0; i < 3; i++) {
    if (plane[i] != 0) lowest += plane[i] * (tbReal)(plane[i] > 0 ? box->low[i] : box->high[i]);
  }
  return lowest;
}

// The half space n.x <= offset overlaps the box if it contains the box's lowest corner.
static bool plane_reaches(const tbReal plane[4], const tbAabb* box) {
  return box->low[0] <= box->high[0] && lowest_corner(plane, box) <= plane[3];
}

bool tb_broad_plane_overlaps(const tbBroadState* s, const tbAabb* boxes, int i, int j) {
  bool plane_i = s->kind[i] & TB_BROAD_PLANE, plane_j = s->kind[j] & TB_BROAD_PLANE;
  if (plane_i && plane_j) return true;
  return plane_i ? plane_reaches(s->plane + 4 * i, &boxes[j])
                 : plane_reaches(s->plane + 4 * j, &boxes[i]);
}

// tb_max for a first argument that is not NAN, in one instruction.
static inline tbReal larger(tbReal x, tbReal y) {
  return y > x ? y : x;
}

// Signed distance of two items from a change of their overlap: positive when apart, negative when
// overlapping, measured by the sides of their boxes. For a plane the distance along its normal
// counts too, divided by sqrt(3): if the sides of a box move by d, its support along the normal
// moves by at most sqrt(3) d.
static tbReal gap_between(const tbBroadState* s, int i, int j) {
  const tbAabb *a = &s->tight[i], *b = &s->tight[j];
  tbReal gap = -INFINITY, most = 0;
  for (int k = 0; k < 3; k++) {
    gap = larger(gap, larger((tbReal)a->low[k] - b->high[k], (tbReal)b->low[k] - a->high[k]));
  }
  bool plane_i = s->kind[i] & TB_BROAD_PLANE, plane_j = s->kind[j] & TB_BROAD_PLANE;
  const tbAabb* box = plane_i ? b : a;
  if (plane_i != plane_j) {
    const tbReal* plane = s->plane + 4 * (plane_i ? i : j);
    gap = larger(gap, (lowest_corner(plane, box) - plane[3]) / 1.7320508075688774);
  }
  for (int k = 0; k < 3; k++) {
    most = larger(most, larger(fabs(box->low[k]), fabs(box->high[k])));
    if (!plane_i && !plane_j) most = larger(most, larger(fabs(b->low[k]), fabs(b->high[k])));
  }
  // Less the possible error of rounding to single precision.
  tbReal sure = fabs(gap) - 1e-6 * most;
  if (!(sure > 0 && sure < 1e30)) return 0;
  return gap > 0 ? 0.999 * sure : -0.999 * sure;
}

// Compute the current tight box of an item if it is out of date.
static void update_tight_box(tbBroadphase* broad, int i) {
  tbBroadState* s = broad->state;
  if (!s->stale[i]) return;
  s->stale[i] = 0;
  broad->place(broad->owner, i);
  s->tight[i] = broad->box[i];
}

bool tb_broad_test_pair(tbBroadphase* broad, int i, int j, tbReal path, tbReal* until) {
  const tbBroadState* s = broad->state;
  update_tight_box(broad, i);
  update_tight_box(broad, j);
  bool overlap = tb_broad_items_overlap(s, s->tight, i, j);
  *until = 0;
  if (path < 1e12) {
    tbReal gap = gap_between(s, i, j);
    // Nothing is cached if gap and overlap test disagree, which only rounding can cause.
    if ((gap < 0) == overlap) *until = gap < 0 ? gap - path : gap + path;
  }
  return overlap;
}
