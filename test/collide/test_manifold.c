// Manifolds that let flat things rest flat: numbers, places and identities of contacts.
#include "collide/manifold.h"
#include "common/shapes.h"
#include "spatial/quat.h"

static tbShape shape(int type, tbReal x, tbReal y, tbReal z) {
  tbShape s = {.type = type, .size = {x, y, z}, .mat = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  return s;
}

static void turn(tbShape* s, tbReal x, tbReal y, tbReal z, tbReal angle) {
  tbReal axis[3] = {x, y, z}, q[4];
  tb_normalize3(axis);
  tb_quat_from_axis_angle(q, axis, angle);
  tb_quat_to_mat(s->mat, q);
}

#define AT(x, y, z) ((const tbReal[3]){x, y, z})

// All contacts at one distance, normal +z, at one height, and their middle and extent in x and y.
static void assert_flat(const tbContactPoint* c, int count, tbReal dist, const tbReal middle[3],
                        tbReal reach_x, tbReal reach_y) {
  tbReal low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (int i = 0; i < count; i++) {
    assert_near(c[i].dist, dist, 1e-12);
    assert_near(c[i].frame[2], 1, 1e-12);
    assert_near(c[i].pos[2], middle[2], 1e-12);
    for (int k = 0; k < 2; k++) {
      low[k] = fmin(low[k], c[i].pos[k]);
      high[k] = fmax(high[k], c[i].pos[k]);
    }
  }
  assert_near(high[0] - low[0], 2 * reach_x, 1e-9);
  assert_near(high[1] - low[1], 2 * reach_y, 1e-9);
  for (int k = 0; k < 2; k++) assert_near((low[k] + high[k]) / 2, middle[k], 1e-9);
}

#define PI 3.14159265358979323846

static void test_on_plane(void** state) {
  (void)state;
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  tbShape plane = shape(TB_GEOM_PLANE, 0, 0, 0);
  const tbReal* middle = AT(0, 0, -0.0005);

  // A box on its face: four corners.
  tbShape box = shape(TB_GEOM_BOX, 0.3, 0.2, 0.1);
  box.pos[2] = 0.099;
  assert_int_equal(tb_collide(&plane, &box, 0, c, NULL), 4);
  assert_flat(c, 4, -0.001, middle, 0.3, 0.2);

  // A plate without thickness, tilted by rounding: still four.
  tbShape plate = shape(TB_GEOM_BOX, 0.3, 0.2, 0);
  turn(&plate, 1, 1, 0, 1e-13);
  plate.pos[2] = -1e-6;
  assert_int_equal(tb_collide(&plane, &plate, 0, c, NULL), 4);
  assert_flat(c, 4, -1e-6, AT(0, 0, -5e-7), 0.3, 0.2);

  // A cylinder standing: three, spread over the rim. Lying: two, at the ends.
  tbShape cylinder = shape(TB_GEOM_CYLINDER, 0.2, 0.3, 0);
  cylinder.pos[2] = 0.299;
  assert_int_equal(tb_collide(&plane, &cylinder, 0, c, NULL), 3);
  tbReal sum[3] = {0, 0, 0};
  for (int i = 0; i < 3; i++) {
    assert_near(c[i].dist, -0.001, 1e-12);
    assert_near(hypot(c[i].pos[0], c[i].pos[1]), 0.2, 1e-12);
    assert_near(c[i].pos[2], -0.0005, 1e-12);
    tb_add3(sum, sum, c[i].pos);
  }
  assert_near(hypot(sum[0], sum[1]), 0, 1e-12);
  turn(&cylinder, 0, 1, 0, PI / 2);
  cylinder.pos[2] = 0.199;
  assert_int_equal(tb_collide(&plane, &cylinder, 0, c, NULL), 2);
  assert_flat(c, 2, -0.001, middle, 0.3, 0);

  // A capsule lying: two.
  tbShape capsule = shape(TB_GEOM_CAPSULE, 0.1, 0.3, 0);
  turn(&capsule, 0, 1, 0, PI / 2);
  capsule.pos[2] = 0.099;
  assert_int_equal(tb_collide(&plane, &capsule, 0, c, NULL), 2);
  assert_flat(c, 2, -0.001, middle, 0.3, 0);

  // A prism standing on its triangle: its three corners; a cuboid as a mesh: four.
  tbShape mesh = shape(TB_GEOM_MESH, 0, 0, 0);
  mesh.hull = tb_test_hull(1);
  mesh.pos[2] = 0.249;
  assert_int_equal(tb_collide(&plane, &mesh, 0, c, NULL), 3);
  assert_flat(c, 3, -0.001, AT(0.1, 0, -0.0005), 0.3, 0.3);
  mesh.hull = tb_test_hull(0);
  mesh.pos[2] = 0.099;
  assert_int_equal(tb_collide(&plane, &mesh, 0, c, NULL), 4);
  assert_flat(c, 4, -0.001, middle, 0.3, 0.2);
}

static void test_box_on_box(void** state) {
  (void)state;
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  tbShape table = shape(TB_GEOM_BOX, 1, 1, 0.5), box = shape(TB_GEOM_BOX, 0.2, 0.2, 0.2);
  box.pos[2] = 0.699;
  for (int order = 0; order < 2; order++) {
    int count = order ? tb_collide(&box, &table, 0, c, NULL) : tb_collide(&table, &box, 0, c, NULL);
    assert_int_equal(count, 4);
    for (int i = 0; i < 4 && order; i++) tb_scale3(c[i].frame, c[i].frame, -1);
    assert_flat(c, 4, -0.001, AT(0, 0, 0.4995), 0.2, 0.2);
  }

  // Equal squares, one turned by an eighth: the overlap is an octagon.
  tbShape twin = shape(TB_GEOM_BOX, 0.2, 0.2, 0.2);
  turn(&twin, 0, 0, 1, PI / 4);
  twin.pos[2] = 0.399;
  box.pos[2] = 0;
  assert_int_equal(tb_collide(&box, &twin, 0, c, NULL), 8);
  assert_flat(c, 8, -0.001, AT(0, 0, 0.1995), 0.2, 0.2);

  // Equal squares in line: four, not eight.
  turn(&twin, 0, 0, 1, 0);
  assert_int_equal(tb_collide(&box, &twin, 0, c, NULL), 4);
  assert_flat(c, 4, -0.001, AT(0, 0, 0.1995), 0.2, 0.2);

  // The upper box protrudes by half its width: the contact area ends at the edge of the lower box.
  twin.pos[0] = 0.2;
  assert_int_equal(tb_collide(&box, &twin, 0, c, NULL), 4);
  assert_flat(c, 4, -0.001, AT(0.1, 0, 0.1995), 0.1, 0.2);

  // Crossed edges: one contact with the normal across both.
  tbShape a = shape(TB_GEOM_BOX, 0.2, 0.2, 0.2), b = a;
  turn(&a, 1, 0, 0, PI / 4);
  turn(&b, 0, 1, 0, PI / 4);
  b.pos[2] = 2 * 0.2 * sqrt(2.0) - 0.001;
  int count = tb_collide(&a, &b, 0, c, NULL);
  assert_int_equal(count, 1);
  assert_near(c[0].dist, -0.001, 1e-12);
  assert_near(c[0].frame[2], 1, 1e-12);
  assert_near(c[0].pos[2], 0.2 * sqrt(2.0) - 0.0005, 1e-12);
}

static void test_capsules(void** state) {
  (void)state;
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];

  // Lying on a box: at both ends; hanging over: at the edge and the inner end.
  tbShape box = shape(TB_GEOM_BOX, 1, 1, 0.5), capsule = shape(TB_GEOM_CAPSULE, 0.1, 0.3, 0);
  turn(&capsule, 0, 1, 0, PI / 2);
  capsule.pos[2] = 0.599;
  assert_int_equal(tb_collide(&box, &capsule, 0, c, NULL), 2);
  assert_flat(c, 2, -0.001, AT(0, 0, 0.4995), 0.3, 0);
  capsule.pos[0] = 1;
  assert_int_equal(tb_collide(&box, &capsule, 0, c, NULL), 2);
  assert_flat(c, 2, -0.001, AT(0.85, 0, 0.4995), 0.15, 0);

  // Pressed in so far that the axis is inside: still two, straight up.
  capsule.pos[0] = 0;
  capsule.pos[2] = 0.45;
  assert_int_equal(tb_collide(&box, &capsule, 0, c, NULL), 2);
  assert_flat(c, 2, -0.15, AT(0, 0, 0.425), 0.3, 0);

  // Along an edge of the box.
  tbShape rod = shape(TB_GEOM_BOX, 1, 0.5, 0.5);
  turn(&rod, 1, 0, 0, PI / 4);
  capsule.pos[2] = 0.5 * sqrt(2.0) + 0.0999;
  assert_int_equal(tb_collide(&rod, &capsule, 0, c, NULL), 2);
  assert_flat(c, 2, -0.0001, AT(0, 0, 0.5 * sqrt(2.0) - 0.00005), 0.3, 0);

  // Two parallel capsules side by side: at both ends of the common stretch.
  tbShape other = shape(TB_GEOM_CAPSULE, 0.1, 0.5, 0);
  turn(&other, 0, 1, 0, PI / 2);
  other.pos[0] = 0.4;
  other.pos[2] = capsule.pos[2] - 0.199;
  assert_int_equal(tb_collide(&other, &capsule, 0, c, NULL), 2);
  assert_flat(c, 2, -0.001, AT(0.1, 0, capsule.pos[2] - 0.0995), 0.2, 0);

  // In line, tip to tip: one.
  other.pos[0] = 0.999;
  other.pos[2] = capsule.pos[2];
  assert_int_equal(tb_collide(&capsule, &other, 0, c, NULL), 1);
  assert_near(c[0].dist, -0.001, 1e-9);
  assert_near(c[0].frame[0], 1, 1e-9);
}

// A body that slides and rocks a little keeps the identities of its contacts.
static const tbContactPoint* named(const tbContactPoint* c, int count, uint32_t feature) {
  for (int i = 0; i < count; i++) {
    if (c[i].feature == feature) return &c[i];
  }
  return NULL;
}

static void test_features_persist(void** state) {
  (void)state;
  tbShape table = shape(TB_GEOM_BOX, 1, 1, 0.5), plane = shape(TB_GEOM_PLANE, 0, 0, 0);
  tbShape log = shape(TB_GEOM_CAPSULE, 0.5, 1, 0);
  const tbShape* const grounds[] = {&table, &plane, &log};
  plane.pos[2] = 0.5;
  turn(&log, 0, 1, 0, PI / 2);
  const int types[] = {TB_GEOM_BOX, TB_GEOM_CAPSULE, TB_GEOM_MESH, TB_GEOM_CYLINDER};
  for (int t = 0; t < 4; t++) {
    int lies = types[t] == TB_GEOM_CAPSULE || types[t] == TB_GEOM_CYLINDER;
    for (int ground = 0; ground < 3; ground++) {
      tbShape body = shape(types[t], 0.2, 0.2, 0.2);
      body.hull = tb_test_hull(0);
      const tbShape* below = grounds[ground];
      if (!tb_collide_supported(below->type, body.type)) continue;
      // Only flat bodies stay on the log.
      if (below == &log && types[t] != TB_GEOM_BOX) continue;
      tbReal height = types[t] == TB_GEOM_MESH ? 0.1 : 0.2;
      tbContactPoint first[TB_MAX_PAIR_CONTACTS], c[TB_MAX_PAIR_CONTACTS];
      tbRng rng = {(uint64_t)t};
      int count = 0;
      for (int step = 0; step < 200; step++) {
        tbReal tilt[3];
        tb_test_random_direction(&rng, tilt);
        turn(&body, tilt[0], tilt[1], tilt[2], 1e-7);
        if (lies) turn(&body, 1e-7 * tilt[0], 1, 1e-7 * tilt[2], PI / 2 + 1e-7 * tilt[1]);
        tb_set3(body.pos, 1e-4 * step, -2e-4 * step, 0.5 + height - 1e-4);
        int now = tb_collide(below, &body, 0, step ? c : first, NULL);
        if (step == 0) count = now;
        assert_int_equal(now, count);
        // The same points, which have moved along, in any order.
        for (int i = 0; i < count && step; i++) {
          const tbContactPoint* before = named(first, count, c[i].feature);
          assert_non_null(before);
          for (int k = 0; k < 3; k++) assert_near(c[i].pos[k], before->pos[k], 0.05);
        }
      }
      assert_true(count >= 2);
    }
  }
}

// Contacts of b around its place, off by what rounding and a solver leave of places: as many, with
// the same normals and identities. Returns how many.
static int check_noise(const tbShape* a, tbShape b, uint64_t seed) {
  const tbReal noise = 5e-10;
  tbContactPoint first[TB_MAX_PAIR_CONTACTS], c[TB_MAX_PAIR_CONTACTS];
  tbReal place[3];
  tbRng rng = {seed};
  int count = 0;
  tb_copy3(place, b.pos);
  for (int step = 0; step < 1000; step++) {
    tbReal axis[3];
    tb_test_random_direction(&rng, axis);
    turn(&b, axis[0], axis[1], axis[2], tb_rng_uniform(&rng, 0, noise / 0.1));
    for (int k = 0; k < 3; k++) b.pos[k] = place[k] + tb_rng_uniform(&rng, -noise, noise);
    int now = tb_collide(a, &b, 1e-3, step ? c : first, NULL);
    if (step == 0) count = now;
    assert_int_equal(now, count);
    for (int i = 0; i < count && step; i++) {
      const tbContactPoint* before = named(first, count, c[i].feature);
      assert_non_null(before);
      assert_near(tb_dot3(c[i].frame, before->frame), 1, 1e-12);
      for (int k = 0; k < 3; k++) assert_near(c[i].pos[k], before->pos[k], 1e-8);
    }
  }
  return count;
}

// Bricks of a wall, side by side, one above the other and along a diagonal.
static void test_neighbours_in_a_wall(void** state) {
  (void)state;
  static const int PLACES[][3] = {{1, 0, 0},  {0, 0, 1}, {1, 0, 1},
                                  {1, 0, -1}, {1, 1, 1}, {-1, 1, 0}};
  tbShape cube = shape(TB_GEOM_BOX, 0.1, 0.1, 0.1), brick = shape(TB_GEOM_BOX, 0.3, 0.2, 0.1);
  tbShape mesh = shape(TB_GEOM_MESH, 0.3, 0.2, 0.1);
  mesh.hull = tb_test_hull(0);
  const tbShape* pairs[][2] = {{&cube, &cube}, {&mesh, &mesh}, {&brick, &mesh}};
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    for (size_t place = 0; place < sizeof PLACES / sizeof *PLACES; place++) {
      tbShape b = *pairs[p][1];
      for (int k = 0; k < 3; k++) b.pos[k] = 2 * b.size[k] * PLACES[place][k];
      assert_in_range(check_noise(pairs[p][0], b, place + 1), 1, 4);
    }
  }
}

// The overlap of the rectangle |x|, |y| <= half and its copy turned by an angle and moved, as far
// as it goes along a direction: corners of a polygon cut by four sides, one after the other.
static tbReal overlap_reach(const tbReal half[2], tbReal angle, const tbReal move[2], tbReal x,
                            tbReal y) {
  tbReal polygon[16][2], cut[16][2], c = cos(angle), s = sin(angle);
  int count = 4;
  for (int i = 0; i < 4; i++) {
    tbReal u = i == 1 || i == 2 ? half[0] : -half[0], v = i >= 2 ? half[1] : -half[1];
    polygon[i][0] = move[0] + c * u - s * v;
    polygon[i][1] = move[1] + s * u + c * v;
  }
  for (int side = 0; side < 4; side++) {
    int axis = side / 2, kept = 0;
    tbReal sign = side % 2 ? -1 : 1;
    for (int i = 0; i < count; i++) {
      const tbReal *p = polygon[i], *q = polygon[(i + 1) % count];
      tbReal a = half[axis] - sign * p[axis], b = half[axis] - sign * q[axis];
      if (a >= 0) memcpy(cut[kept++], p, sizeof *cut);
      if ((a >= 0) == (b >= 0)) continue;
      for (int k = 0; k < 2; k++) cut[kept][k] = p[k] + a / (a - b) * (q[k] - p[k]);
      kept++;
    }
    memcpy(polygon, cut, sizeof cut);
    count = kept;
  }
  tbReal most = -INFINITY;
  for (int i = 0; i < count; i++) most = fmax(most, x * polygon[i][0] + y * polygon[i][1]);
  return most;
}

// A brick that lies on another, turned by a tiny angle: edges cross nearly anywhere along each
// other. Contacts stay where they are when it turns by rounding, and span the overlap (four of a
// hull, but for a slight share of its area).
static void check_nearly_in_line(const tbShape* below, tbShape above, tbReal slight,
                                 uint64_t seed) {
  const tbReal* half = below->size;
  tbRng rng = {seed};
  for (int trial = 0; trial < 2000; trial++) {
    tbContactPoint c[TB_MAX_PAIR_CONTACTS], again[TB_MAX_PAIR_CONTACTS];
    tbReal angle = pow(10, tb_rng_uniform(&rng, -9, -3));
    tbReal most = pow(10, tb_rng_uniform(&rng, -9, -1));
    for (int k = 0; k < 2; k++) above.pos[k] = tb_rng_uniform(&rng, -most, most);
    turn(&above, 0, 0, 1, angle);
    int count = tb_collide(below, &above, 1e-3, c, NULL);
    assert_true(count >= 4);
    if (angle < 5e-6) assert_int_equal(count, 4);
    for (int k = 0; k < 16; k++) {
      // Along the axes, between, and across the line from corner to corner past a crossing.
      tbReal way = k * PI / 8 + 0.5 * angle, x = cos(way), y = sin(way), reach = -INFINITY;
      for (int i = 0; i < count; i++) reach = fmax(reach, x * c[i].pos[0] + y * c[i].pos[1]);
      assert_near(reach, overlap_reach(half, angle, above.pos, x, y), slight * half[0]);
    }
    turn(&above, 0, 0, 1, angle + 1e-14);
    if (tb_collide(below, &above, 1e-3, again, NULL) != count) continue;  // at the border itself
    for (int i = 0; i < count; i++) {
      for (int k = 0; k < 3; k++) assert_near(again[i].pos[k], c[i].pos[k], 1e-9);
    }
  }
}

static void test_nearly_in_line(void** state) {
  (void)state;
  tbShape brick = shape(TB_GEOM_BOX, 0.3, 0.2, 0.1), mesh = shape(TB_GEOM_MESH, 0.3, 0.2, 0.1);
  mesh.hull = tb_test_hull(0);
  const tbShape* pairs[][2] = {{&brick, &brick}, {&mesh, &mesh}, {&brick, &mesh}};
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    tbShape above = *pairs[p][1];
    above.pos[2] = 0.2;
    check_nearly_in_line(pairs[p][0], above, p == 0 ? 1e-5 : 1e-3, p + 1);
  }
}

// The same of cylinders that stand, where rims touch too; of one on a plane and on a box as wide;
// of capsules side by side.
static void test_round_neighbours(void** state) {
  (void)state;
  static const tbReal PLACES[][3] = {{0.2, 0, 0}, {0, 0, 0.2}, {0.2, 0, 0.2}, {0, 0.2, -0.2}};
  static const int COUNTS[] = {2, 4, 1, 1};
  tbShape cylinder = shape(TB_GEOM_CYLINDER, 0.1, 0.1, 0), b = cylinder;
  for (size_t place = 0; place < sizeof PLACES / sizeof *PLACES; place++) {
    tb_copy3(b.pos, PLACES[place]);
    assert_int_equal(check_noise(&cylinder, b, place + 1), COUNTS[place]);
  }
  tbShape plane = shape(TB_GEOM_PLANE, 0, 0, 0), cube = shape(TB_GEOM_BOX, 0.1, 0.1, 0.1);
  tb_copy3(b.pos, AT(0, 0, 0.1));
  assert_int_equal(check_noise(&plane, b, 5), 3);
  tb_copy3(b.pos, AT(0, 0, 0.2));
  assert_int_equal(check_noise(&cube, b, 6), 4);
  tbShape capsule = shape(TB_GEOM_CAPSULE, 0.1, 0.1, 0), other = capsule;
  tb_copy3(other.pos, AT(0.2, 0, 0));
  assert_int_equal(check_noise(&capsule, other, 7), 2);
}

static tbReal spread_of(const tbContactPoint* c, int count) {
  tbReal most = 0;
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < i; j++) {
      tbReal diff[3];
      tb_sub3(diff, c[i].pos, c[j].pos);
      most = fmax(most, tb_norm3(diff));
    }
  }
  return most;
}

// A cuboid of half lengths 0.3, 0.2, 0.1 as a box or as a mesh.
static tbShape cuboid(int type) {
  tbShape s = shape(type, 0.3, 0.2, 0.1);
  if (type == TB_GEOM_MESH) s.hull = tb_test_hull(0);
  return s;
}

static const tbReal small_angles[] = {0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4};
#define NANGLES (sizeof(small_angles) / sizeof(small_angles[0]))

// Two cuboids, parallel but for a small angle, edge beside edge across a small gap: contacts at
// both ends of the stretch, whether or not they are exactly parallel.
static void test_edges_apart(void** state) {
  (void)state;
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  static const int types[2] = {TB_GEOM_BOX, TB_GEOM_MESH};
  for (int pair = 0; pair < 4; pair++) {
    tbShape a = cuboid(types[pair / 2]), b = cuboid(types[pair % 2]);
    for (size_t k = 0; k < NANGLES; k++) {
      // Edges along x; b is shifted by 0.1 along them, so that the stretch is 0.5 long.
      turn(&b, 0.3, 1, 0.2, small_angles[k]);
      tb_set3(b.pos, 0.1, 0.4 + 3e-4, 0.2 + 4e-4);
      int count = tb_collide(&a, &b, 1e-2, c, NULL);
      assert_in_range(count, 2, 4);
      assert_near(spread_of(c, count), 0.5, 1e-3);
      tbReal least = INFINITY;
      for (int i = 0; i < count; i++) {
        least = fmin(least, c[i].dist);
        assert_true(c[i].frame[1] > 0.4 && c[i].frame[2] > 0.6);
      }
      assert_near(least, tb_distance(&a, &b, NULL, NULL, NULL, NULL), 1e-9);
      assert_near(least, 5e-4, 1e-4);
      // Nothing beyond the margin.
      assert_int_equal(tb_collide(&a, &b, 3e-4, c, NULL), 0);
    }
  }
}

// A log on the edge of a cuboid: a contact at each end, also where it crosses the edge at a small
// angle, and no contact twice.
static void test_log_on_edge(void** state) {
  (void)state;
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  static const int logs[2] = {TB_GEOM_CAPSULE, TB_GEOM_CYLINDER};
  static const int types[2] = {TB_GEOM_BOX, TB_GEOM_MESH};
  for (int pair = 0; pair < 4; pair++) {
    tbShape a = cuboid(types[pair / 2]), b = shape(logs[pair % 2], 0.1, 0.2, 0);
    turn(&a, 1, 0, 0, PI / 4);
    tbReal top = (0.2 + 0.1) / sqrt(2), lying[9], lean[9];
    for (size_t k = 0; k < NANGLES; k++) {
      turn(&b, 0, 1, 0, PI / 2);
      for (int i = 0; i < 9; i++) lying[i] = b.mat[i];
      turn(&b, 0, 0, 1, small_angles[k]);
      for (int i = 0; i < 9; i++) lean[i] = b.mat[i];
      tb_mul_mat3(b.mat, lean, lying);
      tb_set3(b.pos, 0.05, 0.1 / sqrt(2), top + 0.1 - 1e-4);
      int count = tb_collide(&a, &b, 0, c, NULL);
      assert_in_range(count, 2, 3);
      assert_near(spread_of(c, count), 0.4, 1e-6);
      for (int i = 0; i < count; i++) {
        assert_near(c[i].dist, -1e-4, 1e-6);
        assert_true(c[i].frame[2] > 0.99);
      }
    }
    // Crossing at a real angle they touch at one place, once.
    turn(&b, 0.3, 1, 0, PI / 2);
    assert_int_equal(tb_collide(&a, &b, 0, c, NULL), 1);
  }
}

// The contacts kept by one reduction of all contacts, by their features.
static int choose_at_once(const tbContactPoint* c, int n, int max, int* features) {
  tbManifoldPoint point[TB_MANIFOLD_MAX];
  tbReal t1[3], t2[3];
  tb_frame_from_normal(c[0].frame, t1, t2);
  for (int i = 0; i < n; i++) {
    point[i] = (tbManifoldPoint){tb_dot3(t1, c[i].pos), tb_dot3(t2, c[i].pos), c[i].dist};
  }
  int count = tb_manifold_choose(point, n, max, features);
  for (int i = 0; i < count; i++) features[i] = (int)c[features[i]].feature;
  return count;
}

// Reduction keeps the deepest and the corners of the cloud, whatever else there is; up to
// TB_MANIFOLD_MAX contacts are chosen from at once.
static void test_reduce(void** state) {
  (void)state;
  tbRng rng = {1};
  for (int round = 0; round < 200; round++) {
    tbContactPoint c[300];
    int n = round % 4 ? 5 + tb_rng_int(&rng, 290) : TB_MANIFOLD_MAX;
    memset(c, 0, sizeof(c));
    for (int i = 0; i < n; i++) {
      for (int k = 1; k >= 0; k--) c[i].pos[k] = tb_rng_uniform(&rng, -1, 1);
      tb_set3(c[i].frame, 0, 0, 1);
      c[i].dist = tb_rng_uniform(&rng, -1, 0);
      c[i].feature = (uint32_t)i;
    }
    int deepest = tb_rng_int(&rng, n), corner[4];
    c[deepest].dist = -2;
    tbReal squares[4][2] = {{-3, -3}, {3, -3}, {3, 3}, {-3, 3}};
    for (int k = 0; k < 4; k++) {
      do corner[k] = tb_rng_int(&rng, n);
      while (corner[k] == deepest || (k > 0 && corner[k] == corner[0]) ||
             (k > 1 && corner[k] == corner[1]) || (k > 2 && corner[k] == corner[2]));
      tb_set3(c[corner[k]].pos, squares[k][0], squares[k][1], 0);
    }
    int at_once[8], expected = n > 8 && n <= TB_MANIFOLD_MAX ? choose_at_once(c, n, 8, at_once) : 0;
    int kept = tb_manifold_reduce(c, n, 8), found = 0;
    assert_true(kept <= 8);
    if (expected) assert_int_equal(kept, expected);
    for (int i = 0; i < kept; i++) {
      int feature = (int)c[i].feature;
      found += feature == deepest;
      for (int k = 0; k < 4; k++) found += feature == corner[k];
      if (expected) assert_int_equal(feature, at_once[i]);
    }
    assert_int_equal(found, 5);
  }

  // Points on a line keep its ends; one point stays.
  tbContactPoint line[10];
  memset(line, 0, sizeof(line));
  for (int i = 0; i < 10; i++) {
    line[i].frame[2] = 1;
    line[i].pos[0] = i;
    line[i].dist = i == 4 ? -1 : 0;
  }
  assert_int_equal(tb_manifold_reduce(line, 10, 4), 3);
  assert_near(line[0].pos[0], 0, 0);
  assert_near(line[1].pos[0], 4, 0);
  assert_near(line[2].pos[0], 9, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_on_plane),
      cmocka_unit_test(test_box_on_box),
      cmocka_unit_test(test_capsules),
      cmocka_unit_test(test_features_persist),
      cmocka_unit_test(test_neighbours_in_a_wall),
      cmocka_unit_test(test_nearly_in_line),
      cmocka_unit_test(test_round_neighbours),
      cmocka_unit_test(test_edges_apart),
      cmocka_unit_test(test_log_on_edge),
      cmocka_unit_test(test_reduce),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
