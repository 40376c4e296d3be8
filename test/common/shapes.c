#include "base/elementary.h"
#include "common/shapes.h"

#include "spatial/quat.h"

#define PI 3.14159265358979323846

// ---- hulls: a cuboid, a triangular prism, and a ball of 26 points of no symmetry in its faces

static const tbReal cube_vert[] = {-.3, -.2, -.1, .3, -.2, -.1, -.3, .2, -.1, .3, .2, -.1,
                                   -.3, -.2, .1,  .3, -.2, .1,  -.3, .2, .1,  .3, .2, .1};
static const int cube_adj_start[] = {0, 3, 6, 9, 12, 15, 18, 21, 24};
static const int cube_adj[] = {1, 2, 4, 0, 3, 5, 0, 3, 6, 1, 2, 7,
                               0, 5, 6, 1, 4, 7, 2, 4, 7, 3, 5, 6};
static const tbReal cube_plane[] = {-1, 0, 0, .3, 1, 0, 0,  .3, 0, -1, 0, .2,
                                    0,  1, 0, .2, 0, 0, -1, .1, 0, 0,  1, .1};
static const int cube_face_start[] = {0, 4, 8, 12, 16, 20, 24};
static const int cube_face_vert[] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                     2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
static const int cube_face_adj[] = {2, 5, 3, 4, 4, 3, 5, 2, 4, 1, 5, 0,
                                    0, 5, 1, 4, 0, 3, 1, 2, 2, 1, 3, 0};

// Prism over the triangle (0.4, 0), (-0.2, 0.3), (-0.2, -0.3), from z = -0.25 to 0.25.
static const tbReal prism_vert[] = {.4, 0, -.25, -.2, .3, -.25, -.2, -.3, -.25,
                                    .4, 0, .25,  -.2, .3, .25,  -.2, -.3, .25};
static const int prism_adj_start[] = {0, 3, 6, 9, 12, 15, 18};
static const int prism_adj[] = {1, 2, 3, 0, 2, 4, 0, 1, 5, 0, 4, 5, 1, 3, 5, 2, 3, 4};
#define S5 0.44721359549995793928
static const tbReal prism_plane[] = {0, 0,       -1, .25, 0, 0,  1,  .25,     S5, 2 * S5,
                                     0, .4 * S5, -1, 0,   0, .2, S5, -2 * S5, 0,  .4 * S5};
static const int prism_face_start[] = {0, 3, 6, 10, 14, 18};
static const int prism_face_vert[] = {0, 2, 1, 3, 4, 5, 0, 1, 4, 3, 1, 2, 5, 4, 2, 0, 3, 5};
static const int prism_face_adj[] = {4, 3, 2, 2, 3, 4, 0, 3, 1, 4, 0, 4, 1, 2, 0, 2, 1, 3};

// Square bipyramid stretched along z: eight triangles.
static const tbReal diamond_vert[] = {.3, 0,   0, 0, .3, 0,  -.3, 0, 0,
                                      0,  -.3, 0, 0, 0,  .5, 0,   0, -.5};
static const int diamond_adj_start[] = {0, 4, 8, 12, 16, 20, 24};
static const int diamond_adj[] = {1, 3, 4, 5, 0, 2, 4, 5, 1, 3, 4, 5,
                                  0, 2, 4, 5, 0, 1, 2, 3, 0, 1, 2, 3};
static const int diamond_face_start[] = {0, 3, 6, 9, 12, 15, 18, 21, 24};
static const int diamond_face_vert[] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4,
                                        1, 0, 5, 2, 1, 5, 3, 2, 5, 0, 3, 5};
static const int diamond_face_adj[] = {4, 1, 3, 5, 2, 0, 6, 3, 1, 7, 0, 2,
                                       0, 7, 5, 1, 4, 6, 2, 5, 7, 3, 6, 4};
// Normal (sx/.3, sy/.3, sz/.5) over its length, offset 1 over that length.
#define DL 5.12076383191289470
#define DN (1 / .3 / DL)
#define DZ (1 / .5 / DL)
static const tbReal diamond_plane[] = {
    DN, DN, DZ,  1 / DL, -DN, DN, DZ,  1 / DL, -DN, -DN, DZ,  1 / DL, DN, -DN, DZ,  1 / DL,
    DN, DN, -DZ, 1 / DL, -DN, DN, -DZ, 1 / DL, -DN, -DN, -DZ, 1 / DL, DN, -DN, -DZ, 1 / DL};

static const tbHull hulls[TB_TEST_NHULLS] = {{.nvert = 8,
                                              .nface = 6,
                                              .vert = cube_vert,
                                              .adj_start = cube_adj_start,
                                              .adj = cube_adj,
                                              .plane = cube_plane,
                                              .face_start = cube_face_start,
                                              .face_vert = cube_face_vert,
                                              .face_adj = cube_face_adj,
                                              .radius = 0.3742},
                                             {.nvert = 6,
                                              .nface = 5,
                                              .vert = prism_vert,
                                              .adj_start = prism_adj_start,
                                              .adj = prism_adj,
                                              .plane = prism_plane,
                                              .face_start = prism_face_start,
                                              .face_vert = prism_face_vert,
                                              .face_adj = prism_face_adj,
                                              .radius = 0.4717},
                                             {.nvert = 6,
                                              .nface = 8,
                                              .vert = diamond_vert,
                                              .adj_start = diamond_adj_start,
                                              .adj = diamond_adj,
                                              .plane = diamond_plane,
                                              .face_start = diamond_face_start,
                                              .face_vert = diamond_face_vert,
                                              .face_adj = diamond_face_adj,
                                              .radius = 0.5}};

const tbHull* tb_test_hull(int which) {
  return &hulls[which % TB_TEST_NHULLS];
}

// ---- random shapes and poses

void tb_test_random_direction(tbRng* rng, tbReal d[3]) {
  for (int i = 0; i < 3; i++) d[i] = tb_rng_normal(rng);
  tb_normalize3(d);
}

void tb_test_turn(tbShape* s, const tbReal axis[3], tbReal angle) {
  tbReal q[4], turn[9], mat[9];
  tb_quat_from_axis_angle(q, axis, angle);
  tb_quat_to_mat(turn, q);
  tb_mul_mat3(mat, turn, s->mat);
  memcpy(s->mat, mat, sizeof mat);
}

void tb_test_random_rotation(tbRng* rng, tbReal mat[9]) {
  tbReal q[4];
  for (int i = 0; i < 4; i++) q[i] = tb_rng_normal(rng);
  tb_quat_normalize(q);
  tb_quat_to_mat(mat, q);
}

// One of the 24 rotations that map axes to axes.
static void random_axis_rotation(tbRng* rng, tbReal mat[9]) {
  int x = tb_rng_int(rng, 3), y = (x + 1 + tb_rng_int(rng, 2)) % 3;
  tbReal row[3] = {0, 0, 0}, other[3] = {0, 0, 0};
  row[x] = tb_rng_int(rng, 2) ? 1 : -1;
  other[y] = tb_rng_int(rng, 2) ? 1 : -1;
  tb_copy3(mat, row);
  tb_copy3(mat + 3, other);
  tb_cross(mat + 6, row, other);
}

tbShape tb_test_random_shape(tbRng* rng, int type) {
  tbShape s = {.type = type};
  for (int i = 0; i < 3; i++) s.size[i] = tb_exp(tb_rng_uniform(rng, tb_log(0.05), 0));
  tb_test_random_rotation(rng, s.mat);
  if (type == TB_GEOM_MESH) s.hull = tb_test_hull(tb_rng_int(rng, TB_TEST_NHULLS));
  return s;
}

tbReal tb_test_size(const tbShape* s) {
  const tbReal* x = s->size;
  switch (s->type) {
    case TB_GEOM_PLANE: return 1;
    case TB_GEOM_SPHERE: return x[0];
    case TB_GEOM_CAPSULE: return x[0] + x[1];
    case TB_GEOM_CYLINDER: return sqrt(x[0] * x[0] + x[1] * x[1]);
    case TB_GEOM_ELLIPSOID: return fmax(x[0], fmax(x[1], x[2]));
    case TB_GEOM_MESH: return s->hull->radius + tb_norm3(s->hull->center);
    default: return tb_norm3(x);
  }
}

static void align(tbRng* rng, tbShape* s) {
  random_axis_rotation(rng, s->mat);
  for (int i = 0; i < 3; i++) s->size[i] = 0.125 * (1 + tb_rng_int(rng, 4));
}

static void turn_slightly(tbRng* rng, tbShape* s) {
  tbReal axis[3], q[4], turn[9], mat[9];
  tb_test_random_direction(rng, axis);
  tb_quat_from_axis_angle(q, axis, tb_pow(10, tb_rng_uniform(rng, -12, -1)));
  tb_quat_to_mat(turn, q);
  tb_mul_mat3(mat, turn, s->mat);
  for (int i = 0; i < 9; i++) s->mat[i] = mat[i];
}

void tb_test_random_pair(tbRng* rng, int type_a, int type_b, tbTestPlacement placement, tbShape* a,
                         tbShape* b) {
  *a = tb_test_random_shape(rng, type_a);
  *b = tb_test_random_shape(rng, type_b);
  bool grid = placement == TB_TEST_ALIGNED || placement == TB_TEST_NEARLY;
  if (grid) {
    align(rng, a);
    align(rng, b);
  }
  if (placement == TB_TEST_NEARLY) turn_slightly(rng, b);
  tbReal reach = tb_test_size(a) + tb_test_size(b), way[3];
  tb_test_random_direction(rng, way);
  tb_add_scaled3(b->pos, a->pos, tb_rng_uniform(rng, 0, 1.1) * reach, way);
  if (grid) {
    for (int i = 0; i < 3; i++) b->pos[i] = a->pos[i] + 0.125 * floor(8 * way[i] * reach);
  }
  if (placement == TB_TEST_SHALLOW || placement == TB_TEST_TOUCHING) {
    tbReal normal[3], dist = tb_distance(a, b, NULL, NULL, normal, NULL);
    tbReal wanted = placement == TB_TEST_TOUCHING ? 0 : tb_rng_uniform(rng, -0.05, 0.02);
    if (isfinite(dist)) tb_add_scaled3(b->pos, b->pos, wanted - dist, normal);
  }
}

// ---- an independent measure of distance

tbReal tb_test_support(const tbShape* s, const tbReal d[3]) {
  tbReal x[3], base = tb_dot3(d, s->pos);
  const tbReal* size = s->size;
  tb_mul_mat3t_vec3(x, s->mat, d);
  tbReal side = sqrt(x[0] * x[0] + x[1] * x[1]);
  switch (s->type) {
    case TB_GEOM_PLANE: return side < 1e-12 && x[2] > 0 ? base : INFINITY;
    case TB_GEOM_SPHERE: return base + size[0] * tb_norm3(d);
    case TB_GEOM_CAPSULE: return base + size[0] * tb_norm3(d) + size[1] * fabs(x[2]);
    case TB_GEOM_CYLINDER: return base + size[0] * side + size[1] * fabs(x[2]);
    case TB_GEOM_ELLIPSOID:
      for (int i = 0; i < 3; i++) x[i] *= size[i];
      return base + tb_norm3(x);
    case TB_GEOM_BOX:
      return base + size[0] * fabs(x[0]) + size[1] * fabs(x[1]) + size[2] * fabs(x[2]);
    default: break;
  }
  tbReal most = -INFINITY;
  for (int v = 0; v < s->hull->nvert; v++) most = fmax(most, tb_dot3(x, s->hull->vert + 3 * v));
  return base + most;
}

tbReal tb_test_separation(const tbShape* a, const tbShape* b, const tbReal d[3]) {
  tbReal back[3];
  tb_scale3(back, d, -1);
  return -tb_test_support(b, back) - tb_test_support(a, d);
}

tbReal tb_test_outside(const tbShape* s, const tbReal point[3]) {
  tbReal diff[3], x[3], most = -INFINITY;
  const tbReal* size = s->size;
  tb_sub3(diff, point, s->pos);
  tb_mul_mat3t_vec3(x, s->mat, diff);
  tbReal rho = sqrt(x[0] * x[0] + x[1] * x[1]);
  switch (s->type) {
    case TB_GEOM_PLANE: return x[2];
    case TB_GEOM_SPHERE: return tb_norm3(x) - size[0];
    case TB_GEOM_CAPSULE: x[2] = fmax(fabs(x[2]) - size[1], 0); return tb_norm3(x) - size[0];
    case TB_GEOM_CYLINDER: return fmax(rho - size[0], fabs(x[2]) - size[1]);
    case TB_GEOM_ELLIPSOID: {
      tbReal smallest = fmin(size[0], fmin(size[1], size[2]));
      for (int i = 0; i < 3; i++) x[i] /= size[i];
      return (tb_norm3(x) - 1) * smallest;
    }
    case TB_GEOM_BOX:
      for (int i = 0; i < 3; i++) most = fmax(most, fabs(x[i]) - size[i]);
      return most;
    default: break;
  }
  for (int f = 0; f < s->hull->nface; f++) {
    most = fmax(most, tb_dot3(s->hull->plane + 4 * f, x) - s->hull->plane[4 * f + 3]);
  }
  return most;
}
