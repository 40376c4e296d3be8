// Random shapes, poses and hulls for the tests of iterative pairs, and exact references.
#ifndef TRIBO_TEST_CONVEX_SHAPES_H_
#define TRIBO_TEST_CONVEX_SHAPES_H_

#include "collide/hull.h"
#include "common/test.h"
#include "spatial/quat.h"

static inline void random_pose(tbRng* rng, double spread, tbShape* s) {
  double q[4];
  for (int i = 0; i < 4; i++) q[i] = tb_rng_normal(rng);
  tb_quat_normalize(q);
  tb_quat_to_mat(s->mat, q);
  for (int i = 0; i < 3; i++) s->pos[i] = spread * tb_rng_normal(rng);
}

// Sizes between 0.2 and 1.
static inline void random_shape(tbRng* rng, int type, const tbHull* hull, double spread,
                                tbShape* s) {
  memset(s, 0, sizeof *s);
  s->type = type;
  for (int i = 0; i < 3; i++) s->size[i] = tb_rng_uniform(rng, 0.2, 1);
  s->hull = hull;
  random_pose(rng, spread, s);
}

// A hull of points on an ellipsoid; `points` receives 3 n numbers.
static inline void cloud(tbRng* rng, int n, const double radii[3], double* points) {
  for (int i = 0; i < n; i++) {
    double p[3] = {tb_rng_normal(rng), tb_rng_normal(rng), tb_rng_normal(rng)};
    tb_normalize3(p);
    for (int k = 0; k < 3; k++) points[3 * i + k] = radii[k] * p[k];
  }
}

// Farthest reach of a shape along a world direction, by scanning all of it: shares no code with the
// library.
static inline double shape_reach(const tbShape* s, const double n[3]) {
  double d[3], reach = tb_dot3(n, s->pos);
  tb_mul_mat3t_vec3(d, s->mat, n);
  const double* r = s->size;
  switch (s->type) {
    case TB_GEOM_SPHERE: return reach + r[0];
    case TB_GEOM_CAPSULE: return reach + r[0] + r[1] * fabs(d[2]);
    case TB_GEOM_ELLIPSOID:
      return reach + sqrt(r[0] * r[0] * d[0] * d[0] + r[1] * r[1] * d[1] * d[1] +
                          r[2] * r[2] * d[2] * d[2]);
    case TB_GEOM_CYLINDER: return reach + r[0] * hypot(d[0], d[1]) + r[1] * fabs(d[2]);
    case TB_GEOM_BOX: return reach + r[0] * fabs(d[0]) + r[1] * fabs(d[1]) + r[2] * fabs(d[2]);
    default: {
      double most = -INFINITY;
      for (int v = 0; v < s->hull->nvert; v++) most = fmax(most, tb_dot3(d, s->hull->vert + 3 * v));
      return reach + most;
    }
  }
}

// s(n) = min_b n.y - max_a n.x for unit n.
static inline double shape_separation(const tbShape* a, const tbShape* b, const double n[3]) {
  double back[3] = {-n[0], -n[1], -n[2]};
  return -shape_reach(b, back) - shape_reach(a, n);
}

#endif
