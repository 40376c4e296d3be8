// The best place on an arc of normals, against all places of a grid, and in how many places it
// looked.
#include "base/rng.h"
#include "collide/convex/arc.h"
#include "common/test.h"

// The file itself, with a counter.
static int places;
#define tb_arc_at(...) (places++, tb_arc_at(__VA_ARGS__))
#define tb_arc_search counted_search
bool counted_search(const tbArc* arc, tbReal* best, tbReal n[2]);
#include "collide/convex/arc.c"
#undef tb_arc_at
#undef tb_arc_search

static void set_ends(tbArc* arc, tbReal from, tbReal width) {
  tbReal slope, curvature, to = from + arc->turn * width;
  arc->n1[0] = cos(from);
  arc->n1[1] = sin(from);
  arc->n2[0] = cos(to);
  arc->n2[1] = sin(to);
  arc->s1 = tb_arc_at(arc, arc->n1, &arc->rise1, &curvature);
  arc->s2 = tb_arc_at(arc, arc->n2, &slope, &curvature);
  arc->rise2 = -slope;
}

// A cylinder of 1 and 0.2 to 2, a corner up to 4 away. The arc is within one rim's half turn.
static tbArc random_arc(tbRng* rng) {
  tbReal tilt = tb_rng_uniform(rng, 0, 1.5), angle = tb_rng_uniform(rng, 0, 6.28);
  tbArc arc = {.r = 1, .l = tb_rng_uniform(rng, 0.2, 2), .top = 1};
  arc.turn = tb_rng_uniform(rng, -1, 1) < 0 ? -1 : 1;
  arc.z[0] = cos(tilt) * cos(angle);
  arc.z[1] = cos(tilt) * sin(angle);
  arc.out = sin(tilt) * sin(tilt);
  for (int i = 0; i < 2; i++) arc.g[i] = tb_rng_uniform(rng, -4, 4);
  tbReal width = pow(10, tb_rng_uniform(rng, -12, 0.19)), room = 1.5707 - 0.5 * width;
  tbReal middle = angle + tb_rng_uniform(rng, -room, room);
  set_ends(&arc, middle - 0.5 * arc.turn * width, width);
  return arc;
}

static tbReal best_of_grid(const tbArc* arc) {
  tbReal best = -INFINITY;
  for (int i = 0; i <= 2000; i++) {
    tbReal t = i / 2000.0, n[2], slope, curvature;
    for (int k = 0; k < 2; k++) n[k] = (1 - t) * arc->n1[k] + t * arc->n2[k];
    normalize2(n);
    tbReal s = tb_arc_at(arc, n, &slope, &curvature);
    if (s > best) best = s;
  }
  return best;
}

// Nothing of the grid is better, whether the shapes overlap or not.
static void the_best_is_found(void** state) {
  (void)state;
  tbRng rng = {5};
  int found = 0, apart = 0;
  for (int i = 0; i < 3000; i++) {
    tbArc arc = random_arc(&rng);
    tbReal start = tb_rng_uniform(&rng, -1, 1), best = start, n[2], slope, curvature;
    bool better = counted_search(&arc, &best, n);
    assert_true(best_of_grid(&arc) <= fmax(best, start) + 1e-12);
    if (!better) continue;
    assert_true(best > start);
    assert_near(tb_arc_at(&arc, n, &slope, &curvature), best, 1e-14);
    found++;
    apart += best > 0;
  }
  print_message("%d found, %d of them apart\n", found, apart);
  assert_true(found > 500 && apart > 200 && apart < found);
}

// For separated shapes the depth bounds give no information. An arc as short as rounding, between
// the normal of a face along which the cylinder stands and the direction across its axis, is
// skipped.
static void few_places_where_apart(void** state) {
  (void)state;
  tbArc sliver = {.g = {0.0062, -0.0015},
                  .z = {-1.61e-11, 1},
                  .out = 1.23e-17,
                  .r = 0.0047,
                  .l = 0.0023,
                  .top = -1,
                  .turn = 1};
  set_ends(&sliver, 0, 1.61e-11);
  tbReal best = sliver.s2 + 1e-10, n[2];
  places = 0;
  assert_false(counted_search(&sliver, &best, n));
  assert_true(places < 3);

  tbRng rng = {6};
  int count = 0, total = 0;
  for (int i = 0; i < 3000; i++) {
    tbArc arc = random_arc(&rng);
    best = tb_rng_uniform(&rng, 0, 1);
    places = 0;
    counted_search(&arc, &best, n);
    total += places;
    count++;
  }
  // 0.4 where ends that overlap count as if they touched.
  print_message("%.3f places an arc\n", (double)total / count);
  assert_true(5 * total < count);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_best_is_found),
                                     cmocka_unit_test(few_places_where_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
