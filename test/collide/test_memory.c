// The cache of a pair changes only the time of its next query: contacts are a function of the pose,
// with an empty cache, with that of the motion to this pose, and with a corrupted one.
#include "base/arena.h"
#include "collide/convex/convex.h"
#include "collide/hull/hull.h"
#include "common/robots.h"
#include "common/shapes.h"
#include "tribo/step.h"

// Hulls of meshes, many of them symmetric: where faces, edges and depths tie.
enum { CUBOID, CUBE, HEXAGON, WEDGE, MIRRORED, ROUGH, COIN, BALL, NHULLS };

static tbHull hulls[NHULLS];
static tbArena arena;

static void add_hull(int which, const tbReal* points, int count) {
  tbError error;
  if (tb_hull_build(&hulls[which], &arena, points, count, 0, NULL, &error) != TB_OK) {
    fail_msg("hull %d: %s", which, error.message);
  }
}

static void add_box(int which, tbReal x, tbReal y, tbReal z) {
  tbReal p[24];
  for (int i = 0; i < 8; i++) tb_set3(p + 3 * i, i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z);
  add_hull(which, p, 8);
}

static void add_prism(int which, int sides, tbReal radius, tbReal half) {
  tbReal p[400];
  for (int i = 0; i < 2 * sides; i++) {
    tbReal angle = 6.283185307179586 * (i / 2) / sides;
    tb_set3(p + 3 * i, radius * cos(angle), radius * sin(angle), i % 2 ? half : -half);
  }
  add_hull(which, p, 2 * sides);
}

static void add_cloud(int which, int count, bool mirrored) {
  static tbReal p[3000];
  tbRng rng = {(uint64_t)which};
  for (int i = 0; i < count; i++) {
    tb_test_random_direction(&rng, p + 3 * i);
    p[3 * i] *= 0.4;
    p[3 * i + 1] *= 0.3;
    p[3 * i + 2] *= 0.2;
    if (mirrored && i % 2) tb_set3(p + 3 * i, -p[3 * i - 3], p[3 * i - 2], p[3 * i - 1]);
  }
  add_hull(which, p, count);
}

static int build_hulls(void** state) {
  (void)state;
  tb_arena_init(&arena);
  add_box(CUBOID, 0.3, 0.2, 0.1);
  add_box(CUBE, 0.2, 0.2, 0.2);
  add_prism(HEXAGON, 6, 0.25, 0.1);
  add_prism(WEDGE, 3, 0.3, 0.2);
  add_cloud(MIRRORED, 24, true);
  add_cloud(ROUGH, 60, false);
  add_prism(COIN, 24, 0.3, 0.05);
  add_cloud(BALL, 400, false);
  return 0;
}

static int free_hulls(void** state) {
  (void)state;
  tb_arena_free(&arena);
  return 0;
}

// Turned at random, along the world's axes, or so but for a hair or an eighth.
static void place(tbRng* rng, tbShape* s, int way) {
  static const tbReal straight[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  tbReal axis[3];
  tb_test_random_rotation(rng, s->mat);
  if (way == 0) return;
  memcpy(s->mat, straight, sizeof straight);
  for (int k = 0; k < 3; k++) {
    tb_set3(axis, k == 0, k == 1, k == 2);
    tb_test_turn(s, axis,
                 (way == 3 ? 0.7853981633974483 : 1.5707963267948966) * tb_rng_int(rng, 4));
  }
  tb_test_random_direction(rng, axis);
  if (way == 2) tb_test_turn(s, axis, exp(tb_rng_uniform(rng, log(1e-14), log(1e-2))));
}

static tbShape random_shape(tbRng* rng, int type) {
  tbShape s = tb_test_random_shape(rng, type);
  for (int i = 0; i < 3; i++) s.size[i] = 0.05 * (1 + tb_rng_int(rng, 6));
  if (type == TB_GEOM_MESH) s.hull = &hulls[tb_rng_int(rng, NHULLS)];
  return s;
}

// Two shapes at a distance that suits contacts, or anywhere near each other.
static void random_pair(tbRng* rng, int type_a, int type_b, tbShape* a, tbShape* b) {
  *a = random_shape(rng, type_a);
  *b = random_shape(rng, type_b);
  int way = tb_rng_int(rng, 4);
  place(rng, a, way);
  place(rng, b, way);
  for (int i = 0; i < 3; i++) b->pos[i] = 0.05 * (tb_rng_int(rng, 17) - 8);
  if (way == 0 || tb_rng_int(rng, 2)) tb_test_random_direction(rng, b->pos);
  tbReal n[3], dist = tb_distance(a, b, NULL, NULL, n, NULL);
  static const tbReal wanted[] = {1e-3, -1e-6, -1e-3, -0.02};
  int goal = tb_rng_int(rng, 5);
  if (goal < 4) tb_add_scaled3(b->pos, b->pos, wanted[goal] - dist, n);
}

static void random_memory(tbRng* rng, tbCollideCache* warm) {
  memset(warm, 0, sizeof *warm);
  tb_test_random_direction(rng, warm->direction);
  for (int k = 0; k < 2; k++) warm->hint[k] = tb_rng_int(rng, 500) - 10;
  warm->state = (uint32_t)(1 + tb_rng_int(rng, 2));
  warm->count = (uint32_t)tb_rng_int(rng, 7);
  for (int k = 0; k < 8; k++)
    warm->nearest[k / 2][k % 2] = (uint16_t)tb_rng_int(rng, k ? 50 : 65536);
  warm->gap = tb_rng_int(rng, 20);
}

// The memory of a motion that ends at the pose of b.
static void memory_of_motion(tbRng* rng, const tbShape* a, const tbShape* b, tbReal margin,
                             tbCollideCache* warm) {
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  tbReal way[3], axis[3], speed = exp(tb_rng_uniform(rng, log(1e-12), log(1e-2)));
  memset(warm, 0, sizeof *warm);
  tb_test_random_direction(rng, way);
  tb_test_random_direction(rng, axis);
  for (int step = 4; step >= 0; step--) {
    tbShape s = *b;
    tb_add_scaled3(s.pos, b->pos, step * speed, way);
    tb_test_turn(&s, axis, 3 * step * speed);
    tb_collide(a, &s, margin, c, warm);
  }
}

// The largest difference between two sets of contacts, in order; zero means equal bits.
static tbReal difference(const tbContactPoint* c, int n, const tbContactPoint* d, int m) {
  tbReal worst = n == m ? 0 : INFINITY;
  for (int i = 0; i < n && n == m; i++) {
    tbReal apart[3], turn[3];
    tb_sub3(apart, c[i].pos, d[i].pos);
    tb_sub3(turn, c[i].frame, d[i].frame);
    worst = fmax(worst, fmax(tb_norm3(apart), fmax(tb_norm3(turn), fabs(c[i].dist - d[i].dist))));
    if (c[i].feature != d[i].feature) worst = INFINITY;
  }
  return worst;
}

static int compare(tbRng* rng, int type_a, int type_b, int count) {
  int failed = 0, touching = 0;
  for (int k = 0; k < count; k++) {
    tbShape a, b;
    tbContactPoint cold[TB_MAX_PAIR_CONTACTS], warm[TB_MAX_PAIR_CONTACTS];
    random_pair(rng, type_a, type_b, &a, &b);
    tbReal margin = k % 3 ? 0 : 2e-3;
    int n = tb_collide(&a, &b, margin, cold, NULL);
    touching += n > 0;
    for (int way = 0; way < 4; way++) {
      tbCollideCache cache;
      if (way < 2) memory_of_motion(rng, &a, &b, margin, &cache);
      if (way > 1) random_memory(rng, &cache);
      int m = tb_collide(&a, &b, margin, warm, &cache);
      tbReal off = difference(cold, n, warm, m);
      if (off == 0) continue;
      if (failed++ < 3) {
        print_message("%s %ld %s %ld, pose %d, memory %d: %d and %d contacts, off by %g\n",
                      tb_geom_type_name(type_a), a.hull ? (long)(a.hull - hulls) : -1,
                      tb_geom_type_name(type_b), b.hull ? (long)(b.hull - hulls) : -1, k, way, n, m,
                      off);
      }
    }
  }
  if (failed) {
    print_message("%s-%s: %d of %d, %d touch\n", tb_geom_type_name(type_a),
                  tb_geom_type_name(type_b), failed, 4 * count, touching);
  }
  return failed;
}

static void test_contacts_are_of_the_pose(void** state) {
  (void)state;
  tbRng rng = {11};
  int failed = 0;
  for (int i = TB_GEOM_PLANE; i < TB_NGEOMTYPES; i++) {
    if (i == TB_GEOM_HFIELD) continue;
    for (int j = i < TB_GEOM_SPHERE ? TB_GEOM_SPHERE : i; j < TB_NGEOMTYPES; j++)
      failed += compare(&rng, i, j, j == TB_GEOM_MESH ? 2000 : 500);
  }
  assert_int_equal(failed, 0);
}

// How far apart shapes are along a direction: no more than they are at all.
static tbReal separation(const tbShape* a, const tbShape* b, const tbReal n[3]) {
  tbConvexPair pair;
  tbSupportPoint at;
  tbReal local[3];
  tb_convex_pair_init(&pair, a, b);
  tb_mul_mat3t_vec3(local, a->mat, n);
  return tb_pair_separation(&pair, local, &at);
}

// Distances agree with and without a memory, whatever is in it: of polytopes to rounding, of
// those that just touch to 1e-9 m, and along the normal that comes with them. (Other pairs have one
// direction to start from, and tolerances of their own.)
static void test_distances_are_of_the_pose(void** state) {
  (void)state;
  tbRng rng = {12};
  static const int types[3][2] = {
      {TB_GEOM_MESH, TB_GEOM_MESH}, {TB_GEOM_BOX, TB_GEOM_MESH}, {TB_GEOM_BOX, TB_GEOM_BOX}};
  int apart = 0;
  for (int k = 0; k < 6000; k++) {
    tbShape a, b;
    tbCollideCache cache;
    random_pair(&rng, types[k % 3][0], types[k % 3][1], &a, &b);
    if (k % 2) tb_scale3(b.pos, b.pos, 1.5);
    random_memory(&rng, &cache);
    if (k % 5 == 0) tb_scale3(cache.direction, cache.direction, k % 2 ? 0 : 1e3);
    if (k % 4 == 0) {
      static const tbReal touching[] = {0, 1e-15, -1e-15, 1e-12};
      tbReal normal[3], dist = tb_distance(&a, &b, NULL, NULL, normal, NULL);
      tb_add_scaled3(b.pos, b.pos, touching[k / 4 % 4] - dist, normal);
    }
    tbReal way[3], cold = tb_distance(&a, &b, NULL, NULL, NULL, NULL);
    tb_test_random_direction(&rng, way);
    apart += cold > 0;
    // From nonsense, then from what that query has left, then from a pose nearby.
    for (int query = 0; query < 4; query++) {
      tbReal pa[3], pb[3], n[3], gap[3];
      tbReal warm = tb_distance(&a, &b, pa, pb, n, &cache);
      assert_near(warm, cold, k % 4 ? 1e-11 : 1e-9);
      tb_sub3(gap, pb, pa);
      assert_near(tb_dot3(gap, n), warm, 1e-11);
      if (warm > 0) assert_near(tb_norm3(gap), warm, 1e-9);
      assert_near(separation(&a, &b, n), warm, 1e-9);
      if (query == 2) continue;
      tb_add_scaled3(b.pos, b.pos, query == 1 ? 1e-3 : 0, way);
      cold = tb_distance(&a, &b, NULL, NULL, NULL, NULL);
    }
  }
  assert_true(apart > 1000);
}

// The same state of a robot twice, the second time with the caches of the first.
static void test_robots_twice(void** state) {
  (void)state;
  int count = 0, contacts = 0;
  for (int i = 0; i < TB_TEST_ROBOT_COUNT; i++) {
    tbModel* m = tb_test_robot(i);
    if (!m) continue;
    tbData* d = tb_data_new(m);
    m->opt.law = TB_LAW_SOFT;
    if (m->nkey > 0) tb_reset_keyframe(m, d, 0);
    for (int s = 0; s < 50; s++) tb_step(m, d);
    assert_int_equal(tb_forward(m, d), TB_OK);
    int n = d->ncon;
    tbReal* pos = malloc(sizeof(tbReal) * 3 * (size_t)(n + 1));
    for (int k = 0; k < n; k++) tb_copy3(pos + 3 * k, d->contact[k].pos);
    assert_int_equal(tb_forward(m, d), TB_OK);
    assert_int_equal(d->ncon, n);
    for (int k = 0; k < n; k++) {
      if (memcmp(pos + 3 * k, d->contact[k].pos, 3 * sizeof(tbReal)) != 0) {
        fail_msg("%s: contact %d moves", tb_test_robot_name(i), k);
      }
    }
    contacts += n;
    count++;
    free(pos);
    tb_data_free(d);
    tb_model_free(m);
  }
  if (count == 0) skip();
  print_message("%d contacts of %d robots\n", contacts, count);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_contacts_are_of_the_pose),
                                     cmocka_unit_test(test_distances_are_of_the_pose),
                                     cmocka_unit_test(test_robots_twice)};
  return cmocka_run_group_tests(tests, build_hulls, free_hulls);
}
