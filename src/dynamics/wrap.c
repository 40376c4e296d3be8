// Strings around spheres and cylinders (docs/manual/tendons.md, eq. 3-7). Semantics, tie-breaks and
// tolerances are MuJoCo's, so that lengths agree.
#include "base/elementary.h"
#include "base/minmax.h"
#include "dynamics/wrap.h"

#include "base/kernel.h"
#include "spatial/vec3.h"

#define TWO_PI 6.28318530717958647693

static tbReal dot2(const tbReal a[2], const tbReal b[2]) {
  return a[0] * b[0] + a[1] * b[1];
}

static tbReal normalize2(tbReal a[2]) {
  tbReal length = sqrt(dot2(a, a));
  if (length < TB_TINY) {
    a[0] = 1;
    a[1] = 0;
  } else {
    a[0] /= length;
    a[1] /= length;
  }
  return length;
}

// Do the segments a1-a2 and b1-b2 cross?
static int segments_cross(const tbReal a1[2], const tbReal a2[2], const tbReal b1[2],
                          const tbReal b2[2]) {
  tbReal det = (b2[1] - b1[1]) * (a2[0] - a1[0]) - (b2[0] - b1[0]) * (a2[1] - a1[1]);
  if (fabs(det) < TB_TINY) return 0;
  tbReal a = ((b2[0] - b1[0]) * (a1[1] - b1[1]) - (b2[1] - b1[1]) * (a1[0] - b1[0])) / det;
  tbReal b = ((a2[0] - a1[0]) * (a1[1] - b1[1]) - (a2[1] - a1[1]) * (a1[0] - b1[0])) / det;
  return a >= 0 && a <= 1 && b >= 0 && b <= 1;
}

// Length of the arc from p to q on a circle, running clockwise (turn 0) or counter-clockwise.
static tbReal arc_length(const tbReal p[2], const tbReal q[2], int turn, tbReal radius) {
  tbReal a[2] = {p[0], p[1]}, b[2] = {q[0], q[1]};
  normalize2(a);
  normalize2(b);
  tbReal c = dot2(a, b);
  tbReal angle = tb_acos(c > 1 ? 1 : c < -1 ? -1 : c);
  tbReal cross = p[1] * q[0] - p[0] * q[1];
  if ((cross > 0 && turn) || (cross < 0 && !turn)) angle = TWO_PI - angle;
  return radius * angle;
}

// The parameter in [0, 1] of the point of a segment closest to the origin, unclamped.
static tbReal closest_to_origin(const tbReal p[2], const tbReal q[2], tbReal squared) {
  tbReal d[2] = {q[0] - p[0], q[1] - p[1]};
  return -dot2(d, p) / squared;
}

// Tangent points of the string p - circle - q that winds in one direction. From the right triangles
// of a tangent: t = (r^2 p + r sqrt(|p|^2 - r^2) p_perp) / |p|^2.
static void tangent_points(const tbReal p[2], const tbReal q[2], tbReal radius, tbReal sign,
                           tbReal tp[2], tbReal tq[2]) {
  tbReal r2 = radius * radius, pp = dot2(p, p), qq = dot2(q, q);
  tbReal sp = sign * radius * sqrt(pp - r2), sq = sign * radius * sqrt(qq - r2);
  tp[0] = (p[0] * r2 + p[1] * sp) / pp;
  tp[1] = (p[1] * r2 - p[0] * sp) / pp;
  tq[0] = (q[0] * r2 - q[1] * sq) / qq;
  tq[1] = (q[1] * r2 + q[0] * sq) / qq;
}

// Wrap around the outside of a circle at the origin. `side` (may be NULL) is a point on the circle.
static tbReal wrap_outside(const tbReal p[2], const tbReal q[2], const tbReal* side, tbReal radius,
                           tbReal tp[2], tbReal tq[2]) {
  tbReal d[2] = {q[0] - p[0], q[1] - p[1]}, dd = dot2(d, d), r2 = radius * radius;
  if (dot2(p, p) < r2 || dot2(q, q) < r2 || radius < TB_TINY || dd < TB_TINY) return -1;

  // No wrapping if the straight string misses the circle on the required side.
  tbReal a = closest_to_origin(p, q, dd);
  a = a < 0 ? 0 : a > 1 ? 1 : a;
  tbReal near[2] = {p[0] + a * d[0], p[1] + a * d[1]};
  if (dot2(near, near) > r2 && (!side || dot2(side, near) >= 0)) return -1;

  // The path turns in the direction of the given side, or in the shorter of the two; never in one
  // in which it crosses itself.
  tbReal arrive[2][2], leave[2][2], quality[2];
  for (int way = 0; way < 2; way++) {
    tangent_points(p, q, radius, way ? -1 : 1, arrive[way], leave[way]);
    if (side) {
      tbReal middle[2] = {arrive[way][0] + leave[way][0], arrive[way][1] + leave[way][1]};
      normalize2(middle);
      quality[way] = dot2(middle, side);
    } else {
      tbReal gap[2] = {arrive[way][0] - leave[way][0], arrive[way][1] - leave[way][1]};
      quality[way] = -dot2(gap, gap);
    }
    if (segments_cross(p, arrive[way], q, leave[way])) quality[way] = -10000;
  }
  int way = quality[0] > quality[1] ? 0 : 1;
  for (int k = 0; k < 2; k++) {
    tp[k] = arrive[way][k];
    tq[k] = leave[way][k];
  }
  if (segments_cross(p, tp, q, tq)) return -1;
  return arc_length(tp, tq, way, radius);
}

// f(z) = asin(A z) + asin(B z) - 2 asin(z) + G, zero where the string reflects in the circle.
static tbReal reflection(tbReal A, tbReal B, tbReal G, tbReal z) {
  return tb_asin(A * z) + tb_asin(B * z) - 2 * tb_asin(z) + G;
}

// Newton's method for the reflection, started just left of 1; negative if it fails.
static tbReal solve_reflection(tbReal A, tbReal B, tbReal G) {
  const tbReal tolerance = 1e-6;
  tbReal z = 1 - 1e-7, f = reflection(A, B, G, z);
  if (f > 0) return -1;
  for (int iteration = 0; iteration < 20; iteration++) {
    if (fabs(f) <= tolerance) return z;
    tbReal sa = sqrt(1 - z * z * A * A), sb = sqrt(1 - z * z * B * B), sz = sqrt(1 - z * z);
    tbReal slope = A / tb_max(TB_TINY, sa) + B / tb_max(TB_TINY, sb) - 2 / tb_max(TB_TINY, sz);
    if (slope > -TB_TINY) return -1;
    tbReal next = z - f / slope;
    if (!(next <= z)) return -1;
    z = next;
    f = reflection(A, B, G, z);
    if (f > tolerance) return -1;
  }
  return -1;
}

// Touch a circle from within, at one point: -1 if the string is straight, 0 if it touches.
static tbReal wrap_inside(const tbReal p[2], const tbReal q[2], tbReal radius, tbReal tp[2]) {
  tbReal lp = sqrt(dot2(p, p)), lq = sqrt(dot2(q, q));
  tbReal d[2] = {q[0] - p[0], q[1] - p[1]}, dd = dot2(d, d);
  if (lp <= radius || lq <= radius || radius < TB_TINY || lp < TB_TINY || lq < TB_TINY) return -1;
  if (dd > TB_TINY) {
    tbReal a = closest_to_origin(p, q, dd);
    tbReal near[2] = {p[0] + a * d[0], p[1] + a * d[1]};
    if (a > 0 && a < 1 && sqrt(dot2(near, near)) <= radius) return -1;
  }

  // If Newton's method fails, the touching point is at the middle.
  for (int k = 0; k < 2; k++) tp[k] = 0.5 * (p[k] + q[k]);
  normalize2(tp);
  for (int k = 0; k < 2; k++) tp[k] *= radius;
  tbReal cosine = (lp * lp + lq * lq - dd) / (2 * lp * lq);
  if (cosine < -1 + TB_TINY) return -1;
  if (cosine > 1 - TB_TINY) return 0;
  tbReal A = radius / lp, B = radius / lq;
  tbReal z = solve_reflection(A, B, tb_acos(cosine));
  if (z < 0) return 0;

  // Rotate from the point that comes first counter-clockwise.
  int first = p[0] * q[1] - p[1] * q[0] > 0;
  tbReal unit[2] = {first ? p[0] : q[0], first ? p[1] : q[1]};
  normalize2(unit);
  tbReal angle = tb_asin(z) - tb_asin((first ? A : B) * z);
  tbReal c = tb_cos(angle), s = tb_sin(angle);
  tp[0] = radius * (c * unit[0] - s * unit[1]);
  tp[1] = radius * (s * unit[0] + c * unit[1]);
  return 0;
}

// Axes of the plane of a string around a sphere: through the centre and both ends.
static void sphere_plane(const tbReal p[3], const tbReal q[3], tbReal x[3], tbReal y[3]) {
  tbReal normal[3];
  tb_cross(normal, p, q);
  if (tb_norm3(normal) < TB_TINY) {
    // The ends are in line with the centre: any plane, chosen by the largest component.
    tbReal other[3] = {1, 1, 1};
    tbReal ax = fabs(p[0]), ay = fabs(p[1]), az = fabs(p[2]);
    other[ax > ay && ax > az ? 0 : ay > az ? 1 : 2] = 0;
    tb_cross(normal, p, other);
  }
  tb_normalize3(normal);
  tb_copy3(x, p);
  tb_normalize3(x);
  tb_cross(y, normal, x);
  tb_normalize3(y);
}

// Heights along a cylinder grow with the length of the unrolled string.
static tbReal unroll(const tbReal p[3], const tbReal q[3], tbReal arc, tbReal arrive[3],
                     tbReal leave[3]) {
  tbReal first =
      sqrt((p[0] - arrive[0]) * (p[0] - arrive[0]) + (p[1] - arrive[1]) * (p[1] - arrive[1]));
  tbReal last = sqrt((q[0] - leave[0]) * (q[0] - leave[0]) + (q[1] - leave[1]) * (q[1] - leave[1]));
  tbReal total = first + arc + last;
  arrive[2] = p[2] + (q[2] - p[2]) * first / total;
  leave[2] = p[2] + (q[2] - p[2]) * (first + arc) / total;
  tbReal rise = leave[2] - arrive[2];
  return sqrt(arc * arc + rise * rise);
}

tbReal tb_wrap(const tbReal from[3], const tbReal to[3], const tbReal pos[3], const tbReal mat[9],
               tbReal radius, int cylinder, const tbReal* side, tbReal arrive[3], tbReal leave[3]) {
  // Into the shape's frame.
  tbReal p[3], q[3], s[3] = {0, 0, 0};
  tb_sub3(p, from, pos);
  tb_mul_mat3t_vec3(p, mat, p);
  tb_sub3(q, to, pos);
  tb_mul_mat3t_vec3(q, mat, q);
  if (side) {
    tb_sub3(s, side, pos);
    tb_mul_mat3t_vec3(s, mat, s);
  }
  if (tb_norm3(p) < TB_TINY || tb_norm3(q) < TB_TINY) return -1;

  // Project to the plane.
  tbReal x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
  if (!cylinder) sphere_plane(p, q, x, y);
  tbReal p2[2] = {tb_dot3(p, x), tb_dot3(p, y)}, q2[2] = {tb_dot3(q, x), tb_dot3(q, y)};
  tbReal s2[2] = {tb_dot3(s, x), tb_dot3(s, y)}, tp[2] = {0, 0}, tq[2] = {0, 0}, length;
  int inside = side && tb_norm3(s) < radius;
  normalize2(s2);
  for (int k = 0; k < 2; k++) s2[k] *= radius;
  if (inside) {
    length = wrap_inside(p2, q2, radius, tp);
    tq[0] = tp[0];
    tq[1] = tp[1];
  } else {
    length = wrap_outside(p2, q2, side ? s2 : NULL, radius, tp, tq);
  }
  if (!(length >= 0)) return -1;

  // Back to three dimensions and to the world.
  tbReal a[3], b[3];
  for (int k = 0; k < 3; k++) {
    a[k] = x[k] * tp[0] + y[k] * tp[1];
    b[k] = x[k] * tq[0] + y[k] * tq[1];
  }
  if (cylinder) length = unroll(p, q, length, a, b);
  tb_mul_mat3_vec3(a, mat, a);
  tb_mul_mat3_vec3(b, mat, b);
  tb_add3(arrive, a, pos);
  tb_add3(leave, b, pos);
  return length;
}
