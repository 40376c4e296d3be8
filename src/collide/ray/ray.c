#include "collide/ray/ray.h"

#include <math.h>

#include "base/minmax.h"
#include "spatial/vec3.h"

// The smallest root >= 0 of a t^2 + 2 b t + c, or -1; both roots in `roots`, ascending.
static tbReal first_root(tbReal a, tbReal b, tbReal c, tbReal roots[2]) {
  tbReal discriminant = b * b - a * c;
  roots[0] = roots[1] = -1;
  if (!(a > 0) || discriminant < 0) return -1;
  tbReal s = sqrt(discriminant);
  roots[0] = (-b - s) / a;
  roots[1] = (-b + s) / a;
  return roots[0] >= 0 ? roots[0] : roots[1] >= 0 ? roots[1] : -1;
}

static tbReal ray_ellipsoid(const tbReal radii[3], const tbReal o[3], const tbReal d[3]) {
  tbReal a = 0, b = 0, c = -1, roots[2];
  for (int i = 0; i < 3; i++) {
    tbReal w = 1 / (radii[i] * radii[i]);
    a += w * d[i] * d[i];
    b += w * d[i] * o[i];
    c += w * o[i] * o[i];
  }
  return first_root(a, b, c, roots);
}

// The side of a cylinder along z, between -half and half.
static tbReal ray_side(tbReal radius, tbReal half, const tbReal o[3], const tbReal d[3]) {
  tbReal roots[2], best = -1;
  first_root(d[0] * d[0] + d[1] * d[1], d[0] * o[0] + d[1] * o[1],
             o[0] * o[0] + o[1] * o[1] - radius * radius, roots);
  for (int i = 0; i < 2; i++) {
    if (roots[i] >= 0 && fabs(o[2] + roots[i] * d[2]) <= half) best = tb_ray_nearer(best, roots[i]);
  }
  return best;
}

static tbReal ray_cylinder(const tbReal size[3], const tbReal o[3], const tbReal d[3]) {
  tbReal best = ray_side(size[0], size[1], o, d);
  for (int side = -1; side <= 1 && d[2] != 0; side += 2) {
    tbReal t = (side * size[1] - o[2]) / d[2], x = o[0] + t * d[0], y = o[1] + t * d[1];
    if (x * x + y * y <= size[0] * size[0]) best = tb_ray_nearer(best, t);
  }
  return best;
}

static tbReal ray_capsule(const tbReal size[3], const tbReal o[3], const tbReal d[3]) {
  tbReal best = ray_side(size[0], size[1], o, d), a = tb_dot3(d, d);
  for (int side = -1; side <= 1; side += 2) {
    tbReal from[3] = {o[0], o[1], o[2] - side * size[1]}, roots[2];
    first_root(a, tb_dot3(d, from), tb_dot3(from, from) - size[0] * size[0], roots);
    for (int i = 0; i < 2; i++) {
      // Only the half sphere beyond the end of the side counts.
      if (roots[i] >= 0 && side * (from[2] + roots[i] * d[2]) >= 0)
        best = tb_ray_nearer(best, roots[i]);
    }
  }
  return best;
}

static tbReal ray_box(const tbReal size[3], const tbReal o[3], const tbReal d[3]) {
  tbReal best = -1;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    for (int side = -1; side <= 1 && d[i] != 0; side += 2) {
      tbReal t = (side * size[i] - o[i]) / d[i];
      if (fabs(o[j] + t * d[j]) <= size[j] && fabs(o[k] + t * d[k]) <= size[k]) {
        best = tb_ray_nearer(best, t);
      }
    }
  }
  return best;
}

// A plane is hit from above only.
static tbReal ray_plane(const tbReal size[3], const tbReal o[3], const tbReal d[3]) {
  if (d[2] >= 0) return -1;
  tbReal t = -o[2] / d[2];
  if (t < 0) return -1;
  if (size[0] > 0 && fabs(o[0] + t * d[0]) > size[0]) return -1;
  if (size[1] > 0 && fabs(o[1] + t * d[1]) > size[1]) return -1;
  return t;
}

tbReal tb_ray_shape(int type, const tbReal size[3], const tbReal pos[3], const tbReal mat[9],
                    const tbReal origin[3], const tbReal direction[3]) {
  tbReal o[3], d[3];
  tb_sub3(o, origin, pos);
  tb_mul_mat3t_vec3(o, mat, o);
  tb_mul_mat3t_vec3(d, mat, direction);
  const tbReal radii[3] = {size[0], size[0], size[0]};
  switch (type) {
    case TB_GEOM_PLANE: return ray_plane(size, o, d);
    case TB_GEOM_SPHERE: return ray_ellipsoid(radii, o, d);
    case TB_GEOM_CAPSULE: return ray_capsule(size, o, d);
    case TB_GEOM_ELLIPSOID: return ray_ellipsoid(size, o, d);
    case TB_GEOM_CYLINDER: return ray_cylinder(size, o, d);
    case TB_GEOM_BOX: return ray_box(size, o, d);
    default: return -1;
  }
}

// Normal of a cylinder at a point next to its surface: that of its side or of a cap, whichever the
// point is farther out of.
static void cylinder_normal(const tbReal size[3], const tbReal p[3], tbReal n[3]) {
  bool cap = fabs(p[2]) - size[1] > sqrt(p[0] * p[0] + p[1] * p[1]) - size[0];
  tb_set3(n, cap ? 0 : p[0], cap ? 0 : p[1], cap ? p[2] : 0);
}

static void box_normal(const tbReal size[3], const tbReal p[3], tbReal n[3]) {
  int axis = 0;
  for (int i = 1; i < 3; i++) {
    if (fabs(p[i]) - size[i] > fabs(p[axis]) - size[axis]) axis = i;
  }
  tb_zero3(n);
  n[axis] = p[axis];
}

void tb_ray_shape_normal(int type, const tbReal size[3], const tbReal pos[3], const tbReal mat[9],
                         const tbReal point[3], tbReal normal[3]) {
  tbReal p[3], n[3];
  tb_sub3(p, point, pos);
  tb_mul_mat3t_vec3(p, mat, p);
  tb_copy3(n, p);
  switch (type) {
    case TB_GEOM_PLANE: tb_set3(n, 0, 0, 1); break;
    case TB_GEOM_CAPSULE: n[2] -= tb_min(tb_max(p[2], -size[1]), size[1]); break;
    case TB_GEOM_ELLIPSOID:
      for (int i = 0; i < 3; i++) n[i] = p[i] / (size[i] * size[i]);
      break;
    case TB_GEOM_CYLINDER: cylinder_normal(size, p, n); break;
    case TB_GEOM_BOX: box_normal(size, p, n); break;
    default: break;  // a sphere
  }
  tb_mul_mat3_vec3(normal, mat, n);
  tb_normalize3(normal);
}

// Moeller and Trumbore: t and the barycentric coordinates of the hit from one 3x3 solve. A ray
// parallel to the plane and a degenerate triangle have no hit, since the rounding error of their
// determinant would make its position arbitrary.
tbReal tb_ray_triangle(const tbReal a[3], const tbReal b[3], const tbReal c[3], const tbReal o[3],
                       const tbReal d[3]) {
  tbReal e1[3], e2[3], p[3], s[3], q[3];
  tb_sub3(e1, b, a);
  tb_sub3(e2, c, a);
  tb_cross(p, d, e2);
  tbReal det = tb_dot3(e1, p);
  const tbReal rounding = 1e-14;
  tbReal scale = tb_dot3(d, d) * tb_dot3(e1, e1) * tb_dot3(e2, e2);
  if (det * det <= rounding * rounding * scale) return -1;
  tb_sub3(s, o, a);
  tbReal u = tb_dot3(s, p) / det;
  tb_cross(q, s, e1);
  tbReal v = tb_dot3(d, q) / det;
  return u < 0 || v < 0 || u + v > 1 ? -1 : tb_dot3(e2, q) / det;
}
