// Two capsules: balls at the closest points of the axes; for nearly parallel axes, balls at both
// ends of their common stretch.
//
// Axis points are x1(s) = c1 + s u1, |s| <= h1 and x2(t) = c2 + t u2, |t| <= h2. With r = c1 - c2,
//   b = u1.u2,  c = u1.r,  f = u2.r:
//   best s for a given t:  s = b t - c        best t for a given s:  t = b s + f
//   both free:             s = (b f - c) / (1 - b^2)
#include "base/minmax.h"
#include "collide/pairs/ball.h"

// Axes with sin^2 of their angle below this get a contact at each end of the common stretch.
#define PARALLEL_SIN2 1e-4
// Depths that differ by less than this, relative to the sizes, count as equal.
#define TOUCHING 1e-8

typedef struct {
  const tbShape *a, *b;
  tbReal axis_a[3], axis_b[3];
  tbReal cross[3];  // u1 x u2
  tbReal b_, c, f, sin2;
} Axes;

// Contact of balls at axis parameters (s, t). If the axes intersect, the normal is perpendicular to
// both.
static int contact_at(const Axes* x, tbReal s, tbReal t, tbReal margin, uint32_t feature,
                      tbContactPoint* out) {
  tbReal p[3], q[3], out_way[3];
  tb_add_scaled3(p, x->a->pos, s, x->axis_a);
  tb_add_scaled3(q, x->b->pos, t, x->axis_b);
  if (x->sin2 > 1e-20) {
    tb_scale3(out_way, x->cross, 1 / sqrt(x->sin2));
  } else {
    tb_set3(out_way, x->a->mat[0], x->a->mat[3], x->a->mat[6]);
  }
  tbReal reach = x->a->size[0] + x->b->size[0], diff[3];
  tb_sub3(diff, q, p);

  // Axes that intersect within rounding have no reliable difference vector; its component along
  // out_way is used.
  tbReal scale = fabs(s) + fabs(t) + reach;
  if (tb_dot3(diff, diff) < 1e-24 * scale * scale) {
    tbReal gap = tb_dot3(diff, out_way), pos[3], dist = fabs(gap) - reach;
    if (gap < 0) tb_scale3(out_way, out_way, -1);
    tb_add_scaled3(pos, p, x->a->size[0] + 0.5 * dist, out_way);
    tb_contact_set(out, pos, out_way, dist, feature);
    return dist <= margin;
  }
  return tb_contact_balls(p, x->a->size[0], q, x->b->size[0], out_way, margin, feature, out);
}

// Closest points of the two axes.
static void closest(const Axes* x, tbReal* s_out, tbReal* t_out) {
  tbReal h1 = x->a->size[1], h2 = x->b->size[1];
  tbReal s = x->sin2 > 1e-20 ? tb_clamp((x->b_ * x->f - x->c) / x->sin2, -h1, h1) : 0;
  tbReal t = x->b_ * s + x->f;
  if (!(fabs(t) <= h2)) {
    t = tb_clamp(t, -h2, h2);
    s = tb_clamp(x->b_ * t - x->c, -h1, h1);
  }
  *s_out = s;
  *t_out = t;
}

// The common stretch of nearly parallel axes: each of its ends is an end of one axis and the
// projection of that end on the other axis, or the other axis' own end if the projection is
// slightly beyond it. Returns whether the stretch has a significant length.
static bool common_stretch(const Axes* x, tbReal low[2], tbReal high[2]) {
  tbReal h1 = x->a->size[1], h2 = x->b->size[1], end2 = x->b_ < 0 ? -h2 : h2;
  tbReal from = -x->c - fabs(x->b_) * h2, to = -x->c + fabs(x->b_) * h2;
  low[0] = from > -h1 ? from : -h1;
  low[1] = from > -h1 ? -end2 : tb_clamp(x->f - x->b_ * h1, -h2, h2);
  high[0] = to < h1 ? to : h1;
  high[1] = to < h1 ? end2 : tb_clamp(x->f + x->b_ * h1, -h2, h2);
  return high[0] - low[0] > 1e-3 * (x->a->size[0] + x->b->size[0]);
}

// Whether contacts c and d have the same depth and normal.
static bool same_contact(tbReal scale, const tbContactPoint* c, const tbContactPoint* d) {
  tbReal diff[3];
  tb_sub3(diff, c->frame, d->frame);
  return fabs(c->dist - d->dist) <= 1e-11 * scale && tb_dot3(diff, diff) < 1e-20;
}

// Contacts at both ends of the stretch, and at (s, t) if that one adds information. For axes
// parallel up to rounding the closest point is anywhere along them, and for a resting capsule it
// differs in every step: a closest contact deeper than an end by at most TOUCHING is merged with
// that end. (Distance queries, which pass an infinite margin, need the exact place.)
static int collide_parallel(const Axes* x, tbReal s, tbReal t, const tbReal low[2],
                            const tbReal high[2], tbReal margin, tbContactPoint* out) {
  tbReal scale = x->a->size[0] + x->b->size[0] + x->a->size[1] + x->b->size[1];
  tbReal touching = isinf(margin) ? 0 : TOUCHING * scale;
  int count = contact_at(x, low[0], low[1], margin, 1, out);
  count += contact_at(x, high[0], high[1], margin, 2, out + count);
  tbContactPoint* closest_one = out + count;
  if (!contact_at(x, s, t, margin, 0, closest_one)) return count;
  int deepest = 0;
  for (int i = 0; i < count; i++) {
    if (same_contact(scale, closest_one, &out[i])) return count;
    if (out[i].dist < out[deepest].dist) deepest = i;
  }
  if (count < 2 || !(out[deepest].dist - closest_one->dist <= touching)) return count + 1;
  out[deepest].dist = tb_min(out[deepest].dist, closest_one->dist);
  return count;
}

// The gap between the surfaces at the closest points of the axes.
static tbReal gap_at(const Axes* x, tbReal s, tbReal t) {
  tbReal p[3], q[3];
  tb_add_scaled3(p, x->a->pos, s, x->axis_a);
  tb_add_scaled3(q, x->b->pos, t, x->axis_b);
  tb_sub3(q, q, p);
  return tb_norm3(q) - x->a->size[0] - x->b->size[0];
}

int tb_collide_capsule_capsule(const tbShape* a, const tbShape* b, tbReal margin,
                               tbContactPoint* out, tbCollideCache* warm) {
  tbReal r[3];
  tb_sub3(r, a->pos, b->pos);
  tbReal reach = a->size[0] + a->size[1] + b->size[0] + b->size[1], far = reach + margin;
  if (!(tb_dot3(r, r) <= far * far)) {
    if (warm) warm->gap = tb_norm3(r) - reach;
    return 0;
  }
  Axes x = {.a = a, .b = b};
  tb_set3(x.axis_a, a->mat[2], a->mat[5], a->mat[8]);
  tb_set3(x.axis_b, b->mat[2], b->mat[5], b->mat[8]);
  tb_cross(x.cross, x.axis_a, x.axis_b);
  x.sin2 = tb_dot3(x.cross, x.cross);
  x.b_ = tb_dot3(x.axis_a, x.axis_b);
  x.c = tb_dot3(x.axis_a, r);
  x.f = tb_dot3(x.axis_b, r);

  tbReal s, t, low[2], high[2];
  closest(&x, &s, &t);
  if (x.sin2 < PARALLEL_SIN2 && common_stretch(&x, low, high)) {
    return collide_parallel(&x, s, t, low, high, margin, out);
  }
  int count = contact_at(&x, s, t, margin, 0, out);
  if (count == 0 && warm) warm->gap = gap_at(&x, s, t);
  return count;
}
