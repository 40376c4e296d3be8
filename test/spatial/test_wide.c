// Products in registers of four are those of the plain forms, bit by bit, and write no more than
// they should.
#include "spatial/wide.h"

#include "common/test.h"

enum { ROOM = 12 };

// Room for a result between numbers that must stay.
typedef struct {
  tbReal before, x[ROOM];
} Guarded;

static void prepare(Guarded* g) {
  g->before = 17;
  for (int i = 0; i < ROOM; i++) g->x[i] = 100 + i;
}

static void assert_same(const Guarded* g, const tbReal* plain, int n) {
  assert_memory_equal(g->x, plain, sizeof(tbReal) * (size_t)n);
  assert_true(g->before == 17);
  for (int i = n; i < ROOM; i++) assert_true(g->x[i] == 100 + i);
}

// Normal numbers, and now and then zeros and huge ones.
static void random_vector(tbRng* rng, tbReal* v, int n) {
  for (int i = 0; i < n; i++) {
    int kind = tb_rng_int(rng, 20);
    v[i] = kind == 0 ? 0 : kind == 1 ? 1e150 * tb_rng_normal(rng) : tb_rng_normal(rng);
  }
}

static void wide_is_plain(void** state) {
  (void)state;
  tbRng rng = {41};
  for (int trial = 0; trial < 5000; trial++) {
    tbReal a[10], b[10], r[10], s;
    Guarded g;
    random_vector(&rng, a, 10);
    random_vector(&rng, b, 10);
    s = tb_rng_normal(&rng);

    tbReal from[3], offset[3], place[3], point[3];
    random_vector(&rng, from, 3);
    random_vector(&rng, offset, 3);
    prepare(&g);
    tb_mul_mat3(r, a, b);
    tb_mul_mat3_vec3(point, a, offset);
    tb_add3(point, from, point);
    tb_wide_attach(1, place, g.x, from, a, offset, b);
    assert_same(&g, r, 9);
    assert_memory_equal(place, point, sizeof point);

    tbSimd6 x = tb_simd6_load(a), y = tb_simd6_load(b);
    prepare(&g);
    tb_simd6_store(g.x, x);
    assert_same(&g, a, 6);

    prepare(&g);
    tb_add_scaled6(r, b, s, a);
    tb_simd6_store(g.x, tb_simd6_add(y, tb_simd6_scale(s, x)));
    assert_same(&g, r, 6);

    prepare(&g);
    tb_copy6(r, a);
    tb_add3(r + 3, r + 3, b);
    tb_simd6_store(g.x, tb_simd6_shift(x, b));
    assert_same(&g, r, 6);

    prepare(&g);
    tb_quat_mul(r, a, b);
    tb_wide_quat_mul(1, g.x, a, b);
    assert_same(&g, r, 4);

    prepare(&g);
    tb_inertia_mul(r, a, b);
    tb_simd6_store(g.x, tb_simd6_inertia_mul(a, y));
    assert_same(&g, r, 6);

    prepare(&g);
    tb_force_cross(r, a, b);
    tb_simd6_store(g.x, tb_simd6_force_cross(x, y));
    assert_same(&g, r, 6);

    prepare(&g);
    tb_motion_cross(r, a, b);
    tb_simd6_store(g.x, tb_simd6_motion_cross(x, y));
    assert_same(&g, r, 6);

    prepare(&g);
    tb_wide_copy9(g.x, a);
    assert_same(&g, a, 9);

    prepare(&g);
    tb_add6(r, g.x, a);
    tb_wide_add6(g.x, a);
    assert_same(&g, r, 6);

    prepare(&g);
    for (int i = 0; i < 10; i++) r[i] = g.x[i] + a[i];
    tb_wide_add10(g.x, a);
    assert_same(&g, r, 10);

    tbReal dot = tb_wide_dot6(a, b), plain = tb_dot6(a, b);
    assert_memory_equal(&dot, &plain, sizeof dot);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wide_is_plain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
