// Bodies at rest keep the identity of their contacts from step to step, which warm starts of the
// solvers need.
#include <stdlib.h>

#include "common/test.h"
#include "tribo/tribo.h"

#define MAX_KEYS 64

static const char WORLD[] =
    "<mujoco><option timestep='0.002'/><asset>"
    "<mesh name='hexagon' vertex='.1 0 0 .05 .0866 0 -.05 .0866 0 -.1 0 0 -.05 -.0866 0 .05 -.0866 "
    "0 "
    ".1 0 .1 .05 .0866 .1 -.05 .0866 .1 -.1 0 .1 -.05 -.0866 .1 .05 -.0866 .1'/>"
    "<mesh name='block' vertex='.2 .2 0 -.2 .2 0 .2 -.2 0 -.2 -.2 0 .2 .2 .1 -.2 .2 .1 .2 -.2 .1 "
    "-.2 -.2 .1'/></asset><worldbody><geom type='plane' size='5 5 0.1'/>%s</worldbody></mujoco>";

#define BODY(x, euler, geom) \
  "<body pos='" x "' euler='" euler "'><freejoint/><geom " geom "/></body>"

static const struct {
  const char *name, *bodies;
  int least;  // contacts at rest
} scenes[] = {
    {"box on box",
     BODY("0 0 .1", "0 0 0", "type='box' size='.2 .2 .1'")
         BODY("0.03 0.02 .29", "0 0 20", "type='box' size='.1 .1 .1'"),
     8},
    {"mesh on mesh",
     BODY("0 0 .05", "0 0 0", "type='mesh' mesh='block'")
         BODY("0.02 0.03 .15", "0 0 10", "type='mesh' mesh='hexagon'"),
     7},
    {"mesh on box",
     BODY("0 0 .1", "0 0 0", "type='box' size='.2 .2 .1'")
         BODY("0.02 0.03 .25", "0 0 10", "type='mesh' mesh='hexagon'"),
     7},
    {"cylinder on plane", BODY("0 0 .1", "0 0 30", "type='cylinder' size='.1 .1'"), 3},
    {"cylinder lying on plane", BODY("0 0 .1", "90 0 0", "type='cylinder' size='.1 .2'"), 2},
    {"cylinder on box",
     BODY("0 0 .1", "0 0 0", "type='box' size='.2 .2 .1'")
         BODY("0.03 0.02 .3", "0 0 20", "type='cylinder' size='.1 .1'"),
     7},
    {"capsule lying on box",
     BODY("0 0 .1", "0 0 0", "type='box' size='.2 .2 .1'")
         BODY("0 0 .25", "90 0 20", "type='capsule' size='.05 .1'"),
     6},
};
#define NSCENES ((int)(sizeof scenes / sizeof scenes[0]))

static int compare_keys(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static int sorted_keys(const tbData* d, uint64_t key[MAX_KEYS]) {
  int count = 0;
  for (int i = 0; i < d->ncon && count < MAX_KEYS; i++) {
    if (d->contact[i].dist < 1e-5) key[count++] = d->contact[i].key;
  }
  qsort(key, (size_t)count, sizeof *key, compare_keys);
  return count;
}

static void check_scene(int s) {
  char xml[4096];
  snprintf(xml, sizeof xml, WORLD, scenes[s].bodies);
  tbError error;
  tbModel* m = tb_load_string(xml, NULL, NULL, &error);
  if (!m) fail_msg("%s: %s", scenes[s].name, error.message);
  tbData* d = tb_data_new(m);
  uint64_t last[MAX_KEYS], now[MAX_KEYS];
  int nlast = -1, changes = 0, least = MAX_KEYS;
  for (int i = 0; i < 600; i++) {
    assert_int_equal(tb_step(m, d), TB_OK);
    if (i < 300) continue;
    int n = sorted_keys(d, now);
    if (n < least) least = n;
    changes += nlast >= 0 && (n != nlast || memcmp(now, last, sizeof *now * (size_t)n) != 0);
    memcpy(last, now, sizeof now);
    nlast = n;
  }
  print_message("%s: %d contacts or more, identities changed in %d of 300 steps\n", scenes[s].name,
                least, changes);
  assert_true(least >= scenes[s].least);
  assert_int_equal(changes, 0);
  tb_data_free(d);
  tb_model_free(m);
}

static void test_identities_at_rest(void** state) {
  (void)state;
  for (int s = 0; s < NSCENES; s++) check_scene(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_identities_at_rest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
