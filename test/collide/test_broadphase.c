// The broad phase against testing all pairs, over histories of motion.
#include "collide/broadphase/broadphase.h"
#include "common/test.h"

typedef struct {
  int count;
  tbReal *low, *high, *plane, *center, *velocity, *half;
  uint8_t* kind;
} World;

// Boxes of mixed sizes at random places with random velocities; the first `nplane` items are planes
// and every seventh box is static.
static World make_world(tbRng* rng, int count, int nplane, tbReal side) {
  size_t n = (size_t)count;
  World w = {.count = count,
             .low = calloc(3 * n, sizeof(tbReal)),
             .high = calloc(3 * n, sizeof(tbReal)),
             .plane = calloc(4 * n, sizeof(tbReal)),
             .center = calloc(3 * n, sizeof(tbReal)),
             .velocity = calloc(3 * n, sizeof(tbReal)),
             .half = calloc(3 * n, sizeof(tbReal)),
             .kind = calloc(n, 1)};
  for (int i = 0; i < count; i++) {
    if (i < nplane) w.kind[i] = TB_BROAD_PLANE | TB_BROAD_STATIC;
    if (i % 7 == 0) w.kind[i] |= TB_BROAD_STATIC;
    tbReal n4[3], length = 0;
    for (int k = 0; k < 3; k++) {
      w.center[3 * i + k] = tb_rng_uniform(rng, -side, side);
      w.velocity[3 * i + k] = w.kind[i] & TB_BROAD_STATIC ? 0 : tb_rng_normal(rng);
      w.half[3 * i + k] = exp(tb_rng_uniform(rng, log(0.05), log(i % 50 == 1 ? 5 : 0.5)));
      n4[k] = tb_rng_normal(rng);
      length += n4[k] * n4[k];
    }
    for (int k = 0; k < 3; k++) w.plane[4 * i + k] = n4[k] / sqrt(length);
    w.plane[4 * i + 3] = -side / 2;
  }
  return w;
}

static void free_world(World* w) {
  free(w->low);
  free(w->high);
  free(w->plane);
  free(w->center);
  free(w->velocity);
  free(w->half);
  free(w->kind);
}

static void move_world(World* w, tbReal dt) {
  for (int i = 0; i < 3 * w->count; i++) {
    w->center[i] += dt * w->velocity[i];
    w->low[i] = w->center[i] - w->half[i];
    w->high[i] = w->center[i] + w->half[i];
  }
}

static bool filter_odd(const void* context, int i, int j) {
  (void)context;
  return (i + j) % 5 != 0;
}

// The broad phase keeps boxes in single precision, rounded outward: pairs within this are free.
#define ROUNDING 1e-5

static bool reference_overlap(const World* w, int i, int j, tbReal slack) {
  if (w->kind[i] & w->kind[j] & TB_BROAD_STATIC) return false;
  if (!filter_odd(NULL, i, j)) return false;
  if (w->kind[j] & TB_BROAD_PLANE) {
    int swap = i;
    i = j;
    j = swap;
  }
  tbReal lowest = 0;
  for (int k = 0; k < 3; k++) {
    if (w->kind[i] & TB_BROAD_PLANE) {
      tbReal n = w->plane[4 * i + k];
      lowest += n * (n > 0 ? w->low[3 * j + k] : w->high[3 * j + k]);
      continue;
    }
    if (!(w->low[3 * i + k] <= w->high[3 * j + k] + slack)) return false;
    if (!(w->low[3 * j + k] <= w->high[3 * i + k] + slack)) return false;
  }
  return w->kind[i] & TB_BROAD_PLANE ? lowest <= w->plane[4 * i + 3] + slack : true;
}

static void assert_pairs(const World* w, const tbBroadphase* broad) {
  int next = 0;
  for (int i = 0; i < w->count; i++) {
    for (int j = i + 1; j < w->count; j++) {
      bool found =
          next < broad->npair && broad->pairs[next].first == i && broad->pairs[next].second == j;
      if (reference_overlap(w, i, j, 0)) assert_true(found);
      if (found) assert_true(reference_overlap(w, i, j, ROUNDING));
      next += found;
    }
  }
  assert_int_equal(next, broad->npair);
}

// The pairs of new boxes: low and high are count x 3.
static tbResult update(tbBroadphase* broad, const tbReal* low, const tbReal* high,
                       const tbReal* planes) {
  for (int i = 0; i < broad->count; i++) tb_aabb_round(&broad->box[i], low + 3 * i, high + 3 * i);
  memset(broad->still, 0, (size_t)broad->count);
  return tb_broadphase_update(broad, planes);
}

// Every update equals testing all pairs, for slow and fast motion, and from any history.
static void test_against_all_pairs(void** state) {
  (void)state;
  const int counts[] = {0, 1, 2, 3, 17, 200, 700};
  for (int c = 0; c < 7; c++) {
    tbRng rng = {(uint64_t)c};
    World w = make_world(&rng, counts[c], counts[c] > 10 ? 3 : 0, 4);
    tbBroadphase broad, fresh;
    assert_int_equal(tb_broadphase_init(&broad, w.count, w.kind, filter_odd, NULL), TB_OK);
    for (int step = 0; step < 60; step++) {
      move_world(&w, step % 20 == 19 ? 1 : 0.01);
      assert_int_equal(update(&broad, w.low, w.high, w.plane), TB_OK);
      assert_pairs(&w, &broad);
    }
    assert_int_equal(tb_broadphase_init(&fresh, w.count, w.kind, filter_odd, NULL), TB_OK);
    assert_int_equal(update(&fresh, w.low, w.high, w.plane), TB_OK);
    assert_int_equal(fresh.npair, broad.npair);
    for (int i = 0; i < fresh.npair; i++) {
      assert_memory_equal(&fresh.pairs[i], &broad.pairs[i], sizeof(tbPair));
    }
    tb_broadphase_free(&fresh);
    tb_broadphase_free(&broad);
    free_world(&w);
  }
}

// Bounds of the motion of items, as a caller gives them to the broad phase.
typedef struct {
  const World* w;
  tbBroadphase* broad;
  tbReal *path, *placed;
  int asked;  // how often it had to place a box
} Owner;

static void place(void* owner, int i) {
  Owner* o = owner;
  tb_aabb_round(&o->broad->box[i], o->w->low + 3 * i, o->w->high + 3 * i);
  o->asked++;
}

// With `all` every box is placed and no path given.
static void update_by_path(Owner* o, tbReal dt, bool all) {
  const World* w = o->w;
  for (int i = 0; i < w->count; i++) {
    tbReal most = 0;
    for (int k = 0; k < 3; k++) most = fmax(most, fabs(dt * w->velocity[3 * i + k]));
    o->path[i] += most;
    o->broad->still[i] = !all && o->path[i] - o->placed[i] <= o->broad->slack[i];
    if (o->broad->still[i]) continue;
    o->placed[i] = o->path[i];
    place(o, i);
  }
  o->broad->path = all ? NULL : o->path;
  assert_int_equal(tb_broadphase_update(o->broad, w->plane), TB_OK);
}

// Boxes placed only where they are needed: exactly the pairs of all boxes, few or many, back and
// forth.
static void test_paths(void** state) {
  (void)state;
  const int counts[] = {17, 32, 300};
  for (int c = 0; c < 3; c++) {
    tbRng rng = {(uint64_t)c + 40};
    World w = make_world(&rng, counts[c], 3, counts[c] > 32 ? 4 : 1.5);
    tbBroadphase broad, fresh;
    assert_int_equal(tb_broadphase_init(&broad, w.count, w.kind, filter_odd, NULL), TB_OK);
    Owner o = {&w, &broad, calloc((size_t)w.count, sizeof(tbReal)),
               calloc((size_t)w.count, sizeof(tbReal)), 0};
    broad.place = place;
    broad.owner = &o;
    for (int step = 0; step < 400; step++) {
      tbReal dt = step % 50 == 49 ? 0.3 : step / 40 % 2 ? -0.004 : 0.003;
      move_world(&w, dt);
      update_by_path(&o, dt, step % 30 == 7);
      assert_int_equal(tb_broadphase_init(&fresh, w.count, w.kind, filter_odd, NULL), TB_OK);
      assert_int_equal(update(&fresh, w.low, w.high, w.plane), TB_OK);
      assert_int_equal(fresh.npair, broad.npair);
      if (fresh.npair) {
        assert_memory_equal(fresh.pairs, broad.pairs, sizeof(tbPair) * (size_t)fresh.npair);
      }
      tb_broadphase_free(&fresh);
    }
    assert_true(o.asked < 400 * w.count / 2);
    tb_broadphase_free(&broad);
    free(o.path);
    free(o.placed);
    free_world(&w);
  }
}

// Bodies that vibrate in place: after the first updates nothing is allocated and nothing searched.
static void test_warm_allocates_nothing(void** state) {
  (void)state;
  tbRng rng = {5};
  World w = make_world(&rng, 2000, 1, 6);
  tbBroadphase broad;
  assert_int_equal(tb_broadphase_init(&broad, w.count, w.kind, filter_odd, NULL), TB_OK);
  int64_t warm = 0;
  for (int step = 0; step < 200; step++) {
    move_world(&w, step % 2 ? 1e-3 : -1e-3);
    assert_int_equal(update(&broad, w.low, w.high, w.plane), TB_OK);
    if (step == 20) warm = broad.nallocation;
    if (step > 20) assert_int_equal(broad.nmoved, 0);
  }
  assert_int_equal(broad.nallocation, warm);
  tb_broadphase_free(&broad);
  free_world(&w);
}

// Memory is linear in items (and pairs), and for moving items it stops growing.
static void test_memory_linear(void** state) {
  (void)state;
  double per_item[2];
  for (int k = 0; k < 2; k++) {
    tbRng rng = {6};
    int count = k ? 8000 : 1000;
    World w = make_world(&rng, count, 1, k ? 12 : 6);
    tbBroadphase broad;
    assert_int_equal(tb_broadphase_init(&broad, w.count, w.kind, filter_odd, NULL), TB_OK);
    for (int step = 0; step < 10; step++) {
      move_world(&w, 1e-3);
      assert_int_equal(update(&broad, w.low, w.high, w.plane), TB_OK);
    }
    per_item[k] = (double)(broad.bytes - 16 * (size_t)broad.npair) / count;
    tb_broadphase_free(&broad);
    free_world(&w);
  }
  assert_true(per_item[1] < 3 * per_item[0]);
}

// NAN and infinite boxes neither crash nor hide others.
static void test_bad_boxes(void** state) {
  (void)state;
  tbReal low[12] = {0, 0, 0, NAN, 0, 0, -INFINITY, -INFINITY, -INFINITY, 0.5, 0.5, 0.5};
  tbReal high[12] = {1, 1, 1, 1, 1, 1, INFINITY, INFINITY, 0.6, 2, 2, 2};
  tbBroadphase broad;
  assert_int_equal(tb_broadphase_init(&broad, 4, NULL, NULL, NULL), TB_OK);
  for (int round = 0; round < 3; round++) {
    assert_int_equal(update(&broad, low, high, NULL), TB_OK);
    assert_int_equal(broad.npair, 3);
    assert_int_equal(broad.pairs[0].first, 0);
    assert_int_equal(broad.pairs[0].second, 2);
    assert_int_equal(broad.pairs[1].second, 3);
    assert_int_equal(broad.pairs[2].first, 2);
    assert_int_equal(broad.pairs[2].second, 3);
  }
  low[3] = 0;
  assert_int_equal(update(&broad, low, high, NULL), TB_OK);
  assert_int_equal(broad.npair, 6);
  low[0] = high[0] = NAN;
  assert_int_equal(update(&broad, low, high, NULL), TB_OK);
  assert_int_equal(broad.npair, 3);
  tb_broadphase_free(&broad);
  assert_int_equal(tb_broadphase_init(&broad, -1, NULL, NULL, NULL), TB_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_all_pairs),
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_warm_allocates_nothing),
      cmocka_unit_test(test_memory_linear),
      cmocka_unit_test(test_bad_boxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
