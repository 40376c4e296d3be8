// Degenerate, extreme and broken input for every supported pair: finite and consistent, or nothing.
#include "common/shapes.h"
#include "spatial/quat.h"

static const tbReal terrain_data[16] = {0, .5, .2, 0, .3, 1, .4, .1, 0, .2, .6, .3, .1, 0, .2, 0};
static const tbHField terrain = {
    .nrow = 4, .ncol = 4, .size = {1, 1, 0.5, 0.2}, .data = terrain_data};

static void set_data(tbRng* rng, tbShape* s) {
  s->hull = s->type == TB_GEOM_MESH ? tb_test_hull(tb_rng_int(rng, TB_TEST_NHULLS)) : NULL;
  s->hfield = s->type == TB_GEOM_HFIELD ? &terrain : NULL;
}

// Whatever comes back must be usable; the pair is printed where it is not.
static int check_sane(const tbShape* a, const tbShape* b, tbReal margin) {
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  int count = tb_collide(a, b, margin, c, NULL);
  bool ok = count >= 0 && count <= TB_MAX_PAIR_CONTACTS;
  for (int i = 0; i < count && ok; i++) {
    tbReal gram[9];
    ok &= c[i].dist <= margin && isfinite(c[i].dist);
    for (int k = 0; k < 3; k++) ok &= isfinite(c[i].pos[k]) != 0;
    tb_mul_mat3_mat3t(gram, c[i].frame, c[i].frame);
    for (int k = 0; k < 9; k++) ok &= fabs(gram[k] - (k % 4 == 0)) < 1e-9;
    for (int j = 0; j < i; j++) ok &= c[i].feature != c[j].feature;
  }
  if (!ok) {
    print_error("%s-%s, %d contacts, margin %g\n", tb_geom_type_name(a->type),
                tb_geom_type_name(b->type), count, margin);
    for (int side = 0; side < 2; side++) {
      const tbShape* s = side ? b : a;
      print_error(" size %.17g %.17g %.17g pos %.17g %.17g %.17g mat", s->size[0], s->size[1],
                  s->size[2], s->pos[0], s->pos[1], s->pos[2]);
      for (int k = 0; k < 9; k++) print_error(" %.17g", s->mat[k]);
      print_error("\n");
    }
    for (int i = 0; i < count; i++)
      print_error(" dist %.17g n %g %g %g feature %x\n", c[i].dist, c[i].frame[0], c[i].frame[1],
                  c[i].frame[2], c[i].feature);
    fail();
  }
  return count;
}

static tbReal odd_length(tbRng* rng) {
  static const tbReal lengths[] = {0, 0, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 1, 1, 1e3, 1e6};
  return lengths[tb_rng_int(rng, (int)(sizeof(lengths) / sizeof(lengths[0])))];
}

static void random_odd_pose(tbRng* rng, tbShape* s) {
  tb_test_random_rotation(rng, s->mat);
  if (tb_rng_int(rng, 2)) {
    // Quarter turns, sometimes off by rounding.
    tbReal q[4], axis[3] = {0, 0, 0};
    axis[tb_rng_int(rng, 3)] = 1;
    tb_quat_from_axis_angle(q, axis, 1.5707963267948966 * tb_rng_int(rng, 4));
    tb_quat_to_mat(s->mat, q);
  }
  for (int k = 0; k < 3; k++) {
    s->pos[k] = (tb_rng_int(rng, 3) - 1) * odd_length(rng);
    if (tb_rng_int(rng, 2)) s->pos[k] = 0;
    s->size[k] = odd_length(rng);
  }
}

typedef void (*PairTest)(tbRng* rng, int type_a, int type_b);

static void for_all_pairs(PairTest test) {
  for (int i = 0; i < TB_NGEOMTYPES; i++) {
    for (int j = 0; j < TB_NGEOMTYPES; j++) {
      tbRng rng = {(uint64_t)(8 * i + j)};
      if (tb_collide_supported(i, j)) test(&rng, i, j);
    }
  }
}

// Zero sizes, needles, plates, ratios up to 1e18, coincident centres, parallel faces.
static void degenerate_pair(tbRng* rng, int type_a, int type_b) {
  for (int i = 0; i < 600; i++) {
    tbShape a = {.type = type_a}, b = {.type = type_b};
    random_odd_pose(rng, &a);
    random_odd_pose(rng, &b);
    set_data(rng, &a);
    set_data(rng, &b);
    check_sane(&a, &b, i % 3 == 0 ? 0 : (i % 3 == 1 ? 0.01 : 10));
    tbReal dist = tb_distance(&a, &b, NULL, NULL, NULL, NULL);
    assert_true(isfinite(dist));
  }
}

static void test_degenerate(void** state) {
  (void)state;
  for_all_pairs(degenerate_pair);
}

// Every number of the input in turn becomes NAN, infinite or huge.
static void broken_pair(tbRng* rng, int type_a, int type_b) {
  static const tbReal bad[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 1e160, -1, 1e-320};
  for (int field = 0; field < 15; field++) {
    for (int k = 0; k < 8; k++) {
      for (int side = 0; side < 2; side++) {
        tbShape a = tb_test_random_shape(rng, type_a), b = tb_test_random_shape(rng, type_b);
        set_data(rng, &a);
        set_data(rng, &b);
        tbShape* s = side ? &b : &a;
        tbReal* where =
            field < 3 ? &s->size[field] : (field < 6 ? &s->pos[field - 3] : &s->mat[field - 6]);
        *where = bad[k];
        // A matrix that is no rotation has no contract but must not crash.
        tbContactPoint c[TB_MAX_PAIR_CONTACTS];
        if (field >= 6) {
          tb_collide(&a, &b, 0.01, c, NULL);
          tb_distance(&a, &b, NULL, NULL, NULL, NULL);
          continue;
        }
        int count = check_sane(&a, &b, 0.01);
        tbReal dist = tb_distance(&a, &b, NULL, NULL, NULL, NULL);
        if (k < 3) assert_int_equal(count, 0);
        if (k < 3) assert_true(isnan(dist));
      }
    }
  }
  tbShape a = tb_test_random_shape(rng, type_a), b = tb_test_random_shape(rng, type_b);
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  set_data(rng, &a);
  set_data(rng, &b);
  assert_int_equal(tb_collide(&a, &b, NAN, c, NULL), 0);
  assert_int_equal(tb_collide(&a, &b, -1, c, NULL), 0);
  a.hull = b.hull = NULL;
  a.hfield = b.hfield = NULL;
  if (a.type == TB_GEOM_MESH || b.type == TB_GEOM_MESH || a.type == TB_GEOM_HFIELD) {
    assert_int_equal(tb_collide(&a, &b, 1, c, NULL), 0);
  }
}

static void test_broken(void** state) {
  (void)state;
  for_all_pairs(broken_pair);
  tbShape a = {.type = -1}, b = {.type = TB_GEOM_SPHERE};
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  assert_int_equal(tb_collide(&a, &b, 0, c, NULL), 0);
  a.type = 1000;
  assert_int_equal(tb_collide(&a, &b, 0, c, NULL), 0);
  assert_int_equal(tb_collide(&b, &a, 0, c, NULL), 0);
  assert_true(isnan(tb_distance(&b, &a, NULL, NULL, NULL, NULL)));
}

// A negative size counts as zero.
static void test_negative_size(void** state) {
  (void)state;
  tbShape a = {.type = TB_GEOM_SPHERE, .size = {-1, 0, 0}, .mat = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
          b = a;
  b.size[0] = 0.5;
  b.pos[0] = 0.4;
  assert_near(tb_distance(&a, &b, NULL, NULL, NULL, NULL), -0.1, 1e-15);
}

// A box at rest on another, perturbed by rounding and by small tilts: the depth changes by no more.
static void test_no_phantom_depth(void** state) {
  (void)state;
  tbRng rng = {11};
  for (int i = 0; i < 30000; i++) {
    tbShape a = {.type = TB_GEOM_BOX, .size = {0.5, 0.5, 0.5}}, b = a;
    tbReal axis[3], q[4], jitter = pow(10, tb_rng_uniform(&rng, -17, -3));
    for (int side = 0; side < 2; side++) {
      tb_test_random_direction(&rng, axis);
      tb_quat_from_axis_angle(q, axis, jitter);
      tb_quat_to_mat(side ? b.mat : a.mat, q);
    }
    tb_test_random_direction(&rng, axis);
    tb_set3(b.pos, 0, 0, 1 - 1e-3);
    tb_add_scaled3(b.pos, b.pos, jitter, axis);
    tbContactPoint c[TB_MAX_PAIR_CONTACTS];
    int count = tb_collide(&a, &b, 0, c, NULL);
    assert_true(count >= 3 || jitter > 1e-4);
    for (int k = 0; k < count; k++) {
      assert_true(c[k].dist > -1e-3 - 5 * jitter);
      assert_true(c[k].frame[2] > 1 - 1e-5);
    }
  }
}

// A thin box pushed through another, step by step: contact on every step while they overlap, and
// the depth never jumps.
static void test_no_tunnelling(void** state) {
  (void)state;
  tbRng rng = {12};
  for (int i = 0; i < 60; i++) {
    tbShape a = {.type = TB_GEOM_BOX, .size = {1, 1, 0.05}},
            b = {.type = TB_GEOM_BOX, .size = {0.2, 0.3, 0.01}};
    tb_test_random_rotation(&rng, a.mat);
    tb_test_random_rotation(&rng, b.mat);
    tbReal way[3] = {a.mat[2], a.mat[5], a.mat[8]}, last = NAN;
    for (int step = -400; step <= 400; step++) {
      tbReal t = 1e-3 * step;
      tb_scale3(b.pos, way, t);
      tbReal dist = tb_distance(&a, &b, NULL, NULL, NULL, NULL);
      tbContactPoint c[TB_MAX_PAIR_CONTACTS];
      int count = tb_collide(&a, &b, 0, c, NULL);
      assert_int_equal(count > 0, dist <= 0);
      if (step > -400) assert_true(fabs(dist - last) <= 1e-3 + 1e-12);
      if (fabs(t) < 0.04) assert_true(dist < 0);
      last = dist;
    }
  }
}

// Every pair but the three that need no support.
static void test_all_pairs_supported(void** state) {
  (void)state;
  int missing = 0;
  for (int i = 0; i < TB_NGEOMTYPES; i++) {
    for (int j = 0; j < TB_NGEOMTYPES; j++) {
      bool ground = i <= TB_GEOM_HFIELD && j <= TB_GEOM_HFIELD;
      assert_int_equal(tb_collide_supported(i, j), tb_collide_supported(j, i));
      if (ground) assert_false(tb_collide_supported(i, j));
      if (!ground && !tb_collide_supported(i, j)) missing++;
    }
  }
  print_message("pairs without a function: %d\n", missing);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_degenerate),    cmocka_unit_test(test_broken),
      cmocka_unit_test(test_negative_size), cmocka_unit_test(test_no_phantom_depth),
      cmocka_unit_test(test_no_tunnelling), cmocka_unit_test(test_all_pairs_supported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
