// Derivatives of a contact's distance, position and normal by the motion of its two geoms
// (docs/notebook/derivatives.md, eq. 29, 30). Closed forms for contacts between balls rolling on
// segments, or between a point of one geom and a plane; all other pairs use differences of the
// pair's own collision function.
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/minmax.h"
#include "spatial/vec3.h"
#include "partials/derivatives.h"
#include "tribo/collide.h"

// The unit motion e_k about the contact, and the velocity of a point at `arm` from it.
static void point_velocity(int k, const tbReal arm[3], tbReal v[3]) {
  tbReal w[3] = {k == 0, k == 1, k == 2};
  tb_zero3(v);
  if (k < 3) {
    tb_cross(v, w, arm);
  } else {
    v[k - 3] = 1;
  }
}

static void store(tbContactMotion* out, int k, tbReal dist, const tbReal pos[3],
                  const tbReal normal[3]) {
  out->dist[k] = dist;
  for (int r = 0; r < 3; r++) {
    out->pos[6 * r + k] = pos[r];
    out->normal[6 * r + k] = normal[r];
  }
}

// ---- a plane and a ball or vertex ---------------------------------------------------------------

// The ball's centre x = pos + (radius + dist/2) n belongs to geom 2, n to the plane:
// ddist = n . dx, dpos = dx - n ddist / 2.
static void plane_and_ball(const tbContact* c, tbReal radius, tbContactMotion* out) {
  const tbReal *n = c->frame, still[3] = {0};
  tbReal arm[3], v[3], pos[3];
  tb_scale3(arm, n, radius + 0.5 * c->dist);
  for (int k = 0; k < 6; k++) {
    point_velocity(k, arm, v);
    tbReal dist = tb_dot3(n, v);
    tb_add_scaled3(pos, v, -0.5 * dist, n);
    store(out, k, dist, pos, still);
  }
}

// ---- balls at the closest points of two segments ------------------------------------------------

static const tbReal AT_END = 1e-9;    // relative to half a segment: a point closer to its end
                                      // counts as the end
static const tbReal PARALLEL = 1e-8;  // squared sine of the angle between two axes
static const tbReal UPRIGHT = 1e-6;   // squared sine of the angle between an axis and the normal
static const tbReal COINCIDE = 1e-9;  // m: centres closer than this define no direction

typedef struct {
  tbReal axis[3], center[3], radius;
  int slides;  // the closest point lies inside the segment and may move along it
} Core;

// A sphere is a capsule of zero length.
static Core core_of(const tbShape* s, const tbContact* c, tbReal side) {
  Core core = {.axis = {s->mat[2], s->mat[5], s->mat[8]}, .radius = s->size[0]};
  tb_add_scaled3(core.center, c->pos, side * (core.radius + 0.5 * c->dist), c->frame);
  if (s->type == TB_GEOM_CAPSULE) {
    tbReal along[3];
    tb_sub3(along, core.center, s->pos);
    core.slides = fabs(tb_dot3(along, core.axis)) < s->size[1] * (1 - AT_END);
  }
  return core;
}

// Speeds of the closest points along their segments when geom 2 moves: the difference D stays
// orthogonal to the axes on which they slide. False if this does not determine the speeds.
static int slide_speeds(const Core* a, const Core* b, const tbReal D[3], const tbReal v[3],
                        const tbReal turned[3], tbReal* sa, tbReal* sb) {
  tbReal cosine = tb_dot3(a->axis, b->axis);
  tbReal along_a = tb_dot3(v, a->axis), along_b = tb_dot3(v, b->axis) + tb_dot3(D, turned);
  *sa = *sb = 0;
  if (a->slides && b->slides) {
    // sa - cosine sb = along_a,  cosine sa - sb = along_b
    tbReal det = cosine * cosine - 1;
    if (det > -PARALLEL) return 0;
    *sa = (cosine * along_b - along_a) / det;
    *sb = (along_b - cosine * along_a) / det;
  } else if (a->slides) {
    *sa = along_a;
  } else if (b->slides) {
    *sb = -along_b;
  }
  return 1;
}

static int two_cores(const tbShape* s1, const tbShape* s2, const tbContact* c,
                     tbContactMotion* out) {
  Core a = core_of(s1, c, -1), b = core_of(s2, c, 1);
  const tbReal* n = c->frame;
  tbReal D[3], arm[3], distance = c->dist + a.radius + b.radius;
  if (distance < COINCIDE) return 0;
  tb_sub3(D, b.center, a.center);
  tb_sub3(arm, b.center, c->pos);
  for (int k = 0; k < 6; k++) {
    tbReal v[3], turned[3], w[3] = {k == 0, k == 1, k == 2}, sa, sb, dD[3], normal[3], pos[3];
    point_velocity(k, arm, v);
    tb_cross(turned, w, b.axis);
    if (!slide_speeds(&a, &b, D, v, turned, &sa, &sb)) return 0;
    tb_add_scaled3(dD, v, sb, b.axis);
    tb_add_scaled3(dD, dD, -sa, a.axis);
    tbReal dist = tb_dot3(n, dD);
    tb_add_scaled3(normal, dD, -dist, n);
    tb_scale3(normal, normal, 1 / distance);
    tb_scale3(pos, a.axis, sa);
    tb_add_scaled3(pos, pos, 0.5 * dist, n);
    tb_add_scaled3(pos, pos, a.radius + 0.5 * c->dist, normal);
    store(out, k, dist, pos, normal);
  }
  return 1;
}

// ---- any other pair: differences ----------------------------------------------------------------

// Geom 2 displaced by `e` along motion k about the contact.
static tbShape moved(const tbShape* s, const tbReal about[3], int k, tbReal e) {
  tbShape out = *s;
  if (k >= 3) {
    out.pos[k - 3] += e;
    return out;
  }
  tbReal turn[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, arm[3], cosine = tb_cos(e), sine = tb_sin(e);
  int i = (k + 1) % 3, j = (k + 2) % 3;
  turn[4 * i] = turn[4 * j] = cosine;
  turn[3 * i + j] = -sine;
  turn[3 * j + i] = sine;
  tb_sub3(arm, s->pos, about);
  tb_mul_mat3_vec3(arm, turn, arm);
  tb_add3(out.pos, about, arm);
  tb_mul_mat3(out.mat, turn, s->mat);
  return out;
}

// The contact of the moved pair that corresponds to `c`; false if there is none close by.
static int follow(const tbShape* a, const tbShape* b, const tbContact* c, tbReal reach,
                  tbContactPoint* best) {
  tbContactPoint point[TB_MAX_PAIR_CONTACTS];
  int n = tb_collide(a, b, tb_max(c->dist, 0) + reach, point, NULL), found = -1;
  tbReal nearest = reach * reach;
  uint32_t feature = (uint32_t)(c->key & UINT32_MAX);
  for (int i = 0; i < n; i++) {
    tbReal apart[3];
    tb_sub3(apart, point[i].pos, c->pos);
    tbReal d2 = tb_dot3(apart, apart);
    if (point[i].feature == feature && d2 < reach * reach) d2 = -1;
    if (d2 >= nearest || tb_dot3(point[i].frame, c->frame) < 0.9) continue;
    nearest = d2;
    found = i;
  }
  if (found >= 0) *best = point[found];
  return found >= 0;
}

// 1 if the middle of three values is not their mean: the contact jumps or has a kink in between, as
// that of parallel faces when the touching corner changes.
static int has_kink(const tbReal* low, const tbReal* at, const tbReal* high, int n, tbReal e) {
  tbReal middle = 0, apart = 0;
  for (int i = 0; i < n; i++) {
    middle = tb_max(middle, fabs(high[i] + low[i] - 2 * at[i]));
    apart = tb_max(apart, fabs(high[i] - low[i]));
  }
  return middle > 0.1 * (apart + e);
}

static void differences(const tbShape* s1, const tbShape* s2, const tbContact* c,
                        tbContactMotion* out) {
  const tbReal e = TB_KINK_REACH, reach = 1e-2;
  for (int k = 0; k < 6; k++) {
    tbContactPoint low, high;
    tbShape back = moved(s2, c->pos, k, -e), on = moved(s2, c->pos, k, e);
    tbReal pos[3] = {0}, normal[3] = {0}, dist = 0;
    if (follow(s1, &back, c, reach, &low) && follow(s1, &on, c, reach, &high)) {
      dist = (high.dist - low.dist) / (2 * e);
      out->lost |= has_kink(&low.dist, &c->dist, &high.dist, 1, e) ||
                   has_kink(low.pos, c->pos, high.pos, 3, e) ||
                   has_kink(low.frame, c->frame, high.frame, 3, e);
      tb_sub3(pos, high.pos, low.pos);
      tb_sub3(normal, high.frame, low.frame);
      tb_scale3(pos, pos, 1 / (2 * e));
      tb_scale3(normal, normal, 1 / (2 * e));
    } else {
      // The contact ends here: its distance still follows the motion of its bodies.
      tbReal arm[3] = {0}, v[3];
      point_velocity(k, arm, v);
      dist = tb_dot3(c->frame, v);
      out->lost = 1;
    }
    store(out, k, dist, pos, normal);
  }
}

static int is_round(int type) {
  return type == TB_GEOM_SPHERE || type == TB_GEOM_CAPSULE;
}

void tb_contact_motion(const tbModel* m, const tbData* d, const tbDetector* detector,
                       const tbContact* c, tbContactMotion* out) {
  memset(out, 0, sizeof *out);
  tbShape shape[2];
  const tbShape *s1 = &shape[0], *s2 = &shape[1];
  for (int k = 0; k < 2; k++) {
    if (!tb_detector_shape(detector, m, d, c->geom[k], &shape[k])) return;
  }
  if (s1->type == TB_GEOM_PLANE) {
    if (is_round(s2->type)) {
      plane_and_ball(c, s2->size[0], out);
      // Plane and capsule: the first tangent follows the capsule (collide/pairs/plane_capsule.c).
      tb_set3(out->axis, s2->mat[2], s2->mat[5], s2->mat[8]);
      tbReal along = tb_dot3(out->axis, c->frame);
      out->follows_axis = s2->type == TB_GEOM_CAPSULE && 1 - along * along > UPRIGHT;
      return;
    }
    if (s2->type == TB_GEOM_BOX || s2->type == TB_GEOM_MESH) {
      plane_and_ball(c, 0, out);
      return;
    }
  }
  if (is_round(s1->type) && is_round(s2->type) && two_cores(s1, s2, c, out)) return;
  differences(s1, s2, c, out);
}
