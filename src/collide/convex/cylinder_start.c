// Initial normal of the ascent for two cylinders: the best of the directions that have a closed
// form, or nearly so (docs/notebook/gjk.md, "Two cylinders").
//
// With axes z1, z2, c the vector from centre to centre, and e = z1 x z2 / |z1 x z2| oriented so
// that c.e >= 0, a unit vector n separates the cylinders by
//   s(n) = n.c - l1 |n.z1| - l2 |n.z2| - r1 |n x z1| - r2 |n x z2|.
// The candidates are the axes (a cap), e (side on side), and the circles perpendicular to each axis
// (side on rim).
#include "collide/convex/convex.h"

// Axes closer to parallel than this (sine) use the general initial direction.
#define PARALLEL 1e-6
#define MAX_STEPS 2
#define MAX_RIM_STEPS 6
// Tangent of the tilt away from a kink of s, towards the side where s rises.
#define ASIDE 0.05

typedef struct {
  tbReal z[2][3], c[3], e[3];
  tbReal r[2], l[2];
  tbReal cosine, sine;  // of the angle between the axes
  tbReal along[2];      // c.z1, c.z2
  tbReal beside;        // c.e
  tbReal best, n[3];
  bool tilted;  // the best n was a kink, and has been tilted to where s rises
} Query;

// The best normals on quarters of the circles perpendicular to either axis 1 - k, from e (x = 1) to
// the plane of the axes (y = 1), where n.z_k = sine y:
//   f = X y + Y x - r w,   w = sqrt(1 - sine^2 y^2),   X = |c.u| - l sine,   Y = c.e.
// Each has at most one interior maximum, f' = 0 where tan = (X + r sine^2 y / w) / Y. A fixed-point
// iteration from the end where f rises approaches it, and Newton's method converges to it. Both
// quarters are computed together, without branches. `s` is -INFINITY if there is no maximum.
static void search_arcs(const Query* q, const tbReal across[2], tbReal x[2], tbReal y[2],
                        tbReal s[2]) {
  tbReal Y = q->beside, sine2 = q->sine * q->sine, X[2], bend[2], py[2], px[2], bad[2] = {0, 0};
  tbReal steep = 1 / sqrt(q->cosine * q->cosine + 1e-12);
  for (int k = 0; k < 2; k++) {
    X[k] = fabs(across[k]) - q->l[k] * q->sine;
    bend[k] = q->r[k] * sine2;
    py[k] = X[k] > 0 ? X[k] : X[k] + bend[k] * steep;
    bad[k] = py[k] > 0 ? 0.0 : 1.0;
  }
  for (int k = 0; k < 2; k++) {
    tbReal end = py[k] / sqrt(Y * Y + py[k] * py[k] + 1e-300);
    py[k] = X[k] + bend[k] * end / sqrt(1 - sine2 * end * end + 1e-12);
    bad[k] = py[k] > 0 ? bad[k] : 1.0;
    tbReal scale = 1 / sqrt(Y * Y + py[k] * py[k] + 1e-300);
    px[k] = Y * scale;
    py[k] *= scale;
  }
  for (int step = 0; step < MAX_STEPS; step++) {
    for (int k = 0; k < 2; k++) {
      tbReal w = 1 / sqrt(1 - sine2 * py[k] * py[k] + 1e-12), turn = bend[k] * w;
      tbReal xx = px[k] * px[k], yy = py[k] * py[k];
      tbReal slope = px[k] * (X[k] + turn * py[k]) - Y * py[k];
      tbReal curvature = X[k] * py[k] + Y * px[k] - turn * (xx - yy + sine2 * xx * yy * w * w);
      // Rotation by delta, to third order.
      tbReal delta = slope / (curvature > 1e-12 ? curvature : 1e-12);
      delta = delta > 0.3 ? 0.3 : (delta < -0.3 ? -0.3 : delta);
      tbReal less = 1 - 0.5 * delta * delta, next = less * px[k] - delta * py[k];
      py[k] = less * py[k] + delta * px[k];
      px[k] = next;
    }
  }
  for (int k = 0; k < 2; k++) {
    tbReal scale = 1 / sqrt(px[k] * px[k] + py[k] * py[k]);
    bool good = (px[k] >= 0) & (py[k] > 0) & (bad[k] == 0);
    x[k] = px[k] * scale;
    y[k] = py[k] * scale;
    tbReal f = X[k] * y[k] + Y * x[k] - q->r[k] * sqrt(1 - sine2 * y[k] * y[k]) - q->r[1 - k];
    s[k] = good ? f : -INFINITY;
  }
}

// Cap on rim: the axes. The normal is tilted towards the lowest point of the rim if that point is
// not over the cap.
static void try_caps(Query* q) {
  for (int k = 0; k < 2; k++) {
    int o = 1 - k;
    tbReal s = fabs(q->along[k]) - q->l[k] - q->l[o] * fabs(q->cosine) - q->r[o] * q->sine;
    if (!(s > q->best)) continue;
    // The rim's lowest point relative to the cap's axis, along the candidate normal.
    tbReal up = q->along[k] < 0 ? -1 : 1, turn = up * q->cosine, x[3];
    tbReal round = q->r[o] / q->sine;
    tb_add_scaled3(x, q->c, turn * round - copysign(q->l[o], turn), q->z[o]);
    tb_add_scaled3(x, x, -tb_dot3(x, q->z[k]), q->z[k]);
    tbReal off = tb_norm3(x);
    q->best = s;
    tb_scale3(q->n, q->z[k], up);
    q->tilted = off > q->r[k];
    if (q->tilted) tb_add_scaled3(q->n, q->n, ASIDE / off, x);
  }
}

// Side on rim: normals perpendicular to the axis o. The normal is tilted along the axis if the
// rim's support point is beyond the end of the side.
static void try_arcs(Query* q) {
  tbReal across[2], x[2], y[2], s[2];
  for (int k = 0; k < 2; k++) {
    across[k] = (q->along[k] - q->cosine * q->along[1 - k]) / q->sine;
  }
  search_arcs(q, across, x, y, s);
  for (int k = 0; k < 2; k++) {
    int o = 1 - k;
    tbReal u[3];
    if (!(s[k] > q->best)) continue;
    tb_add_scaled3(u, q->z[k], -q->cosine, q->z[o]);
    tb_scale3(u, u, copysign(1 / q->sine, across[k]));
    tbReal end = copysign(q->sine * y[k], across[k]), w = sqrt(1 - end * end + 1e-12);
    tbReal at = q->along[o] + q->cosine * (q->r[k] * end / w - copysign(q->l[k], end));
    q->best = s[k];
    for (int i = 0; i < 3; i++) q->n[i] = x[k] * q->e[i] + y[k] * u[i];
    q->tilted = fabs(at) > q->l[o];
    if (q->tilted) tb_add_scaled3(q->n, q->n, copysign(ASIDE, at), q->z[o]);
  }
}

// Newton's method with rim on rim (docs/notebook/gjk.md eq. 8), while the normal stays on these
// rims and s has a maximum; the ascent continues from its result.
static void follow_rims(Query* q) {
  tb_normalize3(q->n);
  for (int step = 0; step < MAX_RIM_STEPS; step++) {
    tbReal g[3], t[2][3], u[3], bend[2], n[3], length2 = 1;
    tb_copy3(g, q->c);
    for (int k = 0; k < 2; k++) {
      tbReal along = tb_dot3(q->n, q->z[k]);
      tb_cross(t[k], q->z[k], q->n);
      tbReal across2 = tb_dot3(t[k], t[k]);
      // Near the axis the cap is the feature, not the rim.
      if (!(across2 > 1e-4)) return;
      tbReal scale = 1 / sqrt(across2), r = q->r[k] * scale;
      tb_scale3(t[k], t[k], scale);
      bend[k] = r;
      for (int i = 0; i < 3; i++) {
        g[i] -= r * (q->n[i] - along * q->z[k][i]) + copysign(q->l[k], along) * q->z[k][i];
      }
    }
    // Tangent basis: the tangent of the first rim and u perpendicular to it.
    tb_cross(u, q->n, t[0]);
    tbReal s = tb_dot3(g, q->n), x = tb_dot3(t[1], t[0]), y = tb_dot3(t[1], u);
    tbReal g1 = tb_dot3(g, t[0]), g2 = tb_dot3(g, u), k12 = bend[1] * x * y;
    tbReal k11 = bend[0] + bend[1] * x * x + s, k22 = bend[1] * y * y + s;
    tbReal determinant = k11 * k22 - k12 * k12;
    if (!(k11 > 0 && determinant > 0)) return;
    x = (k22 * g1 - k12 * g2) / determinant;
    y = (k11 * g2 - k12 * g1) / determinant;
    length2 += x * x + y * y;
    if (!(length2 < 1.25)) return;
    tbReal scale = 1 / sqrt(length2);
    for (int i = 0; i < 3; i++) n[i] = scale * (q->n[i] + x * t[0][i] + y * u[i]);
    for (int k = 0; k < 2; k++) {
      if (!(tb_dot3(n, q->z[k]) * tb_dot3(q->n, q->z[k]) > 0)) return;
    }
    tb_copy3(q->n, n);
    if (length2 < 1 + 1e-8) return;
  }
}

bool tb_cylinder_start(const tbConvexPair* pair, tbReal limit, tbReal normal[3]) {
  Query q;
  q.best = -INFINITY;
  q.tilted = false;
  tb_set3(q.z[0], 0, 0, 1);
  tb_set3(q.z[1], pair->mat[2], pair->mat[5], pair->mat[8]);
  q.r[0] = pair->a.size[0];
  q.r[1] = pair->b.size[0];
  q.l[0] = pair->a.size[2];
  q.l[1] = pair->b.size[2];
  tb_copy3(q.c, pair->pos);
  q.cosine = q.z[1][2];
  tb_cross(q.e, q.z[0], q.z[1]);
  q.sine = tb_norm3(q.e);
  if (!(q.sine > PARALLEL)) return false;
  q.beside = tb_dot3(q.c, q.e) / q.sine;
  tb_scale3(q.e, q.e, (q.beside < 0 ? -1 : 1) / q.sine);
  q.beside = fabs(q.beside);
  for (int k = 0; k < 2; k++) q.along[k] = tb_dot3(q.c, q.z[k]);
  try_caps(&q);
  if (q.beside - q.r[0] - q.r[1] > q.best) {
    q.best = q.beside - q.r[0] - q.r[1];
    tb_copy3(q.n, q.e);
    q.tilted = false;
  }
  if (!(q.best > limit)) try_arcs(&q);
  if (q.tilted) follow_rims(&q);
  tb_copy3(normal, q.n);
  return true;
}
