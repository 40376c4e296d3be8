// Identities of contacts over motions: a contact keeps its identity while the same features touch,
// from cell to cell and from face to face, and two contacts never share one.
#include "base/arena.h"
#include "collide/hull/hull.h"
#include "common/shapes.h"
#include "tribo/tribo.h"

#define STEPS 250
#define GRID 41
// The objects move by a millimetre per step, or turn their surface by less than that.
#define STRIDE 1e-3
#define DEPTH 1e-4

enum { PLANE, BOX, MESH, FLAT_FIELD, TILTED_FIELD, ROUGH_FIELD, NGROUNDS };
enum { CUBOID, CYLINDER, HEXAGON, BRICK, PEBBLE, CAPSULE, NOBJECTS };
enum { SLIDE, SPIN, ROLL, TUMBLE, NMOTIONS };
static const char* const ground_name[NGROUNDS] = {"plane",      "box",          "mesh",
                                                  "flat field", "tilted field", "rough field"};
static const char* const object_name[NOBJECTS] = {"box",        "cylinder",    "hexagon mesh",
                                                  "brick mesh", "pebble mesh", "capsule"};
static const char* const motion_name[NMOTIONS] = {"slides", "spins", "rolls", "tumbles"};

static tbArena arena;
static tbHull hexagon, brick, pebble, table;
static tbReal heights[GRID * GRID];
static tbHField field = {.nrow = GRID, .ncol = GRID, .size = {1, 1, 0.1, 0.1}, .data = heights};

static void box_points(tbReal x, tbReal y, tbReal z, tbReal* p) {
  for (int i = 0; i < 8; i++) tb_set3(p + 3 * i, i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z);
}

static int build_hulls(void** state) {
  (void)state;
  static tbReal p[900];
  tbRng rng = {3};
  tb_arena_init(&arena);
  box_points(0.12, 0.08, 0.05, p);
  assert_int_equal(tb_hull_build(&brick, &arena, p, 8, 0, NULL, NULL), TB_OK);
  box_points(0.9, 0.9, 0.1, p);
  assert_int_equal(tb_hull_build(&table, &arena, p, 8, 0, NULL, NULL), TB_OK);
  for (int i = 0; i < 12; i++) {
    tbReal angle = 1.0471975511965976 * (i / 2);
    tb_set3(p + 3 * i, 0.1 * cos(angle), 0.1 * sin(angle), i % 2 ? 0.05 : -0.05);
  }
  assert_int_equal(tb_hull_build(&hexagon, &arena, p, 12, 0, NULL, NULL), TB_OK);
  for (int i = 0; i < 300; i++) {
    tb_test_random_direction(&rng, p + 3 * i);
    tb_set3(p + 3 * i, 0.1 * p[3 * i], 0.08 * p[3 * i + 1], 0.06 * p[3 * i + 2]);
  }
  assert_int_equal(tb_hull_build(&pebble, &arena, p, 300, 0, NULL, NULL), TB_OK);
  return 0;
}

static int free_hulls(void** state) {
  (void)state;
  tb_arena_free(&arena);
  return 0;
}

static tbShape make_ground(int ground) {
  tbShape s = {.mat = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  if (ground == PLANE) s.type = TB_GEOM_PLANE;
  if (ground == BOX) s.type = TB_GEOM_BOX;
  if (ground == MESH) s.type = TB_GEOM_MESH;
  if (ground == BOX) tb_set3(s.size, 0.9, 0.9, 0.1);
  if (ground == MESH) s.hull = &table;
  if (ground == BOX || ground == MESH) s.pos[2] = -0.1;
  if (ground < FLAT_FIELD) return s;
  s.type = TB_GEOM_HFIELD;
  s.hfield = &field;
  for (int i = 0; i < GRID * GRID; i++) {
    tbReal x = (i % GRID) / (GRID - 1.0), y = (i / GRID) / (GRID - 1.0);
    heights[i] = ground == FLAT_FIELD ? 0 : 0.3 * x + 0.2 * y;
    if (ground == ROUGH_FIELD) heights[i] = 0.5 + 0.2 * sin(9 * x) * cos(7 * y);
  }
  return s;
}

static tbShape make_object(int object) {
  tbShape s = {.mat = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .size = {0.12, 0.08, 0.05}};
  s.type = object == CUBOID     ? TB_GEOM_BOX
           : object == CYLINDER ? TB_GEOM_CYLINDER
           : object == CAPSULE  ? TB_GEOM_CAPSULE
                                : TB_GEOM_MESH;
  s.hull = object == HEXAGON ? &hexagon : object == BRICK ? &brick : &pebble;
  if (s.type != TB_GEOM_MESH) s.hull = NULL;
  if (object == CYLINDER) tb_set3(s.size, 0.08, 0.1, 0);
  if (object == CAPSULE) tb_set3(s.size, 0.05, 0.1, 0);
  return s;
}

typedef struct {
  long contacts, recalled, replaced, shared;
} Tally;

typedef struct {
  tbContactPoint contact[TB_MAX_PAIR_CONTACTS];
  int count;
  tbShape object;
} Frame;

static bool has_feature(const Frame* f, uint32_t feature) {
  for (int i = 0; i < f->count; i++) {
    if (f->contact[i].feature == feature) return true;
  }
  return false;
}

static void to_object(const Frame* f, int i, tbReal x[3]) {
  tbReal arm[3];
  tb_sub3(arm, f->contact[i].pos, f->object.pos);
  tb_mul_mat3t_vec3(x, f->object.mat, arm);
}

// Was a contact at this place, of the ground or of the object, that has lost its identity?
static bool replaces_another(const Frame* now, int i, const Frame* last) {
  for (int j = 0; j < last->count; j++) {
    tbReal fixed[3], x[3], y[3];
    tb_sub3(fixed, now->contact[i].pos, last->contact[j].pos);
    to_object(now, i, x);
    to_object(last, j, y);
    tb_sub3(x, x, y);
    bool here = fmin(tb_norm3(fixed), tb_norm3(x)) < 1.5 * STRIDE;
    if (here && !has_feature(now, last->contact[j].feature)) return true;
  }
  return false;
}

static void tally(const Frame* now, const Frame* last, Tally* t) {
  for (int i = 0; i < now->count; i++) {
    for (int j = 0; j < i; j++) t->shared += now->contact[i].feature == now->contact[j].feature;
    bool known = has_feature(last, now->contact[i].feature);
    t->contacts++;
    t->recalled += known;
    t->replaced += !known && replaces_another(now, i, last);
  }
}

// Down (or up) to where the deepest contact is DEPTH deep.
static void settle(const tbShape* ground, tbShape* object, tbReal reach) {
  tbContactPoint c[TB_MAX_PAIR_CONTACTS];
  for (int round = 0; round < (reach > 0.1 ? 4 : 1); round++) {
    int n = tb_collide(ground, object, reach, c, NULL);
    tbReal deepest = INFINITY;
    for (int i = 0; i < n; i++) deepest = fmin(deepest, c[i].dist);
    if (n > 0) object->pos[2] -= DEPTH + deepest;
  }
}

static void run(tbRng* rng, const tbShape* ground, int object, int motion, Tally* t) {
  static const tbReal x[3] = {1, 0, 0}, z[3] = {0, 0, 1};
  Frame now, last = {.count = -1};
  tbCollideCache warm = {.state = 0};
  tbReal heading = tb_rng_uniform(rng, 0, 6.28), way[3] = {cos(heading), sin(heading), 0}, axis[3];
  now.object = make_object(object);
  // Rolling objects lie on their side, and roll across their axis.
  if (motion == ROLL || object == CAPSULE) tb_test_turn(&now.object, x, 1.5707963267948966);
  tb_test_turn(&now.object, z, tb_rng_uniform(rng, 0, 6.28));
  tb_test_random_direction(rng, axis);
  if (motion == ROLL) {
    tb_set3(axis, now.object.mat[2], now.object.mat[5], now.object.mat[8]);
    tb_set3(way, axis[1], -axis[0], 0);
  }
  for (int k = 0; k < 3; k++) now.object.pos[k] = k < 2 ? tb_rng_uniform(rng, -0.2, 0.2) : 0.3;
  for (int step = 0; step < STEPS; step++) {
    if (motion == SLIDE || motion == ROLL) {
      tb_add_scaled3(now.object.pos, now.object.pos, STRIDE, way);
    }
    if (motion == SLIDE) tb_test_turn(&now.object, z, 0.2 * STRIDE);
    if (motion == SPIN) tb_test_turn(&now.object, z, 2 * STRIDE);
    if (motion == ROLL) tb_test_turn(&now.object, axis, STRIDE / 0.08);
    if (motion == TUMBLE) tb_test_turn(&now.object, axis, 4 * STRIDE);
    settle(ground, &now.object, step ? 0.01 : 0.5);
    now.count = tb_collide(ground, &now.object, 0, now.contact, &warm);
    assert_true(now.count > 0);
    if (last.count >= 0) tally(&now, &last, t);
    last = now;
  }
}

static void test_identities_in_motion(void** state) {
  (void)state;
  tbRng rng = {5};
  int failed = 0;
  for (int g = 0; g < NGROUNDS; g++) {
    tbShape ground = make_ground(g);
    for (int object = 0; object < NOBJECTS; object++) {
      for (int motion = 0; motion < NMOTIONS; motion++) {
        Tally t = {0, 0, 0, 0};
        int trials = g < FLAT_FIELD ? 3 : 1;
        for (int trial = 0; trial < trials; trial++) run(&rng, &ground, object, motion, &t);
        tbReal recall = (tbReal)t.recalled / t.contacts, lost = (tbReal)t.replaced / t.contacts;
        // New corners come down where things roll; on rough ground edges cross other edges.
        bool rough = g == ROUGH_FIELD, steady = motion == SLIDE || motion == SPIN;
        bool good = t.shared == 0 &&
                    recall >= (rough    ? 0.8
                               : steady ? 0.995
                                        : 0.9) &&
                    lost <= (rough ? 0.05 : 0.002);
        failed += !good;
        if (!good || rough) {
          print_message("%s %s on a %s: %.2f contacts, %.2f%% recalled, %.2f%% lost, %ld shared\n",
                        object_name[object], motion_name[motion], ground_name[g],
                        (tbReal)t.contacts / (trials * (STEPS - 1)), 100 * recall, 100 * lost,
                        t.shared);
        }
      }
    }
  }
  assert_int_equal(failed, 0);
}

// ---- the same in simulations: how many contacts of a step find their impulse of the last one

#define WORLD                                                                                  \
  "<mujoco><option timestep='0.002'/><asset>"                                                  \
  "<mesh name='stone' vertex='.1 .02 0  -.09 .03 .01  .01 .08 .02  0 -.07 -.01  .02 .01 .07  " \
  "-.01 0 -.06  .06 .05 .04  -.05 -.04 .05  -.06 .05 -.03  .05 -.05 -.04'/>"                   \
  "<hfield name='ground' nrow='40' ncol='40' size='2 2 .1 .1'/></asset><worldbody>"            \
  "<geom %s/><body pos='0 0 %s' euler='%s'><freejoint/><geom %s/></body></worldbody></mujoco>"

static const struct {
  const char *name, *ground, *height, *euler, *geom;
  tbReal velocity[6], least;
} scenes[] = {
#define FLOOR "type='plane' size='5 5 1'"
#define SLAB "type='box' size='2 2 .1' pos='0 0 -.1'"
#define FIELD "type='hfield' hfield='ground'"
#define SLIDER "type='box' size='.1 .08 .05' friction='.05' priority='1'"
#define ROLLER "type='cylinder' size='.08 .1'"
#define BALL "type='sphere' size='.08'"
#define STONE "type='mesh' mesh='stone'"
    {"box slides on a plane", FLOOR, ".05", "0 0 10", SLIDER, {1, 0.3}, 0.99},
    {"box slides on a box", SLAB, ".05", "0 0 10", SLIDER, {1, 0.3}, 0.99},
    {"box slides on a field", FIELD, ".05", "0 0 10", SLIDER, {1, 0.3}, 0.99},
    {"cylinder rolls on a plane", FLOOR, ".08", "90 0 0", ROLLER, {0.8, 0, 0, 0, 0, -10}, 0.99},
    {"cylinder rolls on a box", SLAB, ".08", "90 0 0", ROLLER, {0.8, 0, 0, 0, 0, -10}, 0.99},
    {"cylinder rolls on a field", FIELD, ".08", "90 0 0", ROLLER, {0.8, 0, 0, 0, 0, -10}, 0.99},
    {"ball rolls on a plane", FLOOR, ".08", "0 0 0", BALL, {0.8, 0.3}, 0.99},
    {"ball rolls on a field", FIELD, ".08", "0 0 0", BALL, {0.8, 0.3}, 0.99},
    {"stone tumbles on a plane", FLOOR, ".2", "20 30 0", STONE, {1, 0, 0, 3, 9, 2}, 0.9},
    {"stone tumbles on a box", SLAB, ".2", "20 30 0", STONE, {1, 0, 0, 3, 9, 2}, 0.9},
    {"stone tumbles on a field", FIELD, ".2", "20 30 0", STONE, {1, 0, 0, 3, 9, 2}, 0.9},
};
#define NSCENES ((int)(sizeof scenes / sizeof scenes[0]))

static void check_scene(int s) {
  char xml[4096];
  uint64_t last[TB_MAX_PAIR_CONTACTS];
  tbError error;
  snprintf(xml, sizeof xml, WORLD, scenes[s].ground, scenes[s].height, scenes[s].euler,
           scenes[s].geom);
  tbModel* m = tb_load_string(xml, NULL, NULL, &error);
  if (!m) fail_msg("%s: %s", scenes[s].name, error.message);
  tbData* d = tb_data_new(m);
  memcpy(d->qvel, scenes[s].velocity, sizeof scenes[s].velocity);
  int nlast = 0, contacts = 0, recalled = 0;
  tbReal bump = 0;
  for (int step = 0; step < 500; step++) {
    assert_int_equal(tb_step(m, d), TB_OK);
    if (step > 100) bump = fmax(bump, fabs(d->qvel[2]));
    for (int i = 0; i < d->ncon; i++) {
      bool known = false;
      for (int j = 0; j < nlast; j++) known |= last[j] == d->contact[i].key;
      for (int j = 0; j < i; j++) assert_true(d->contact[j].key != d->contact[i].key);
      contacts++;
      recalled += known;
    }
    nlast = d->ncon < TB_MAX_PAIR_CONTACTS ? d->ncon : TB_MAX_PAIR_CONTACTS;
    for (int j = 0; j < nlast; j++) last[j] = d->contact[j].key;
  }
  tbReal share = contacts ? (tbReal)recalled / contacts : 0;
  print_message("%s: %d contacts in 500 steps, %.1f%% recalled, %.2f m, at most %.2g m/s up\n",
                scenes[s].name, contacts, 100 * share,
                sqrt(d->qpos[0] * d->qpos[0] + d->qpos[1] * d->qpos[1]), bump);
  assert_true(share >= scenes[s].least);
  // Sliding and rolling objects cross borders of cells without a bump.
  if (scenes[s].least > 0.95) assert_true(bump < 1e-6);
  tb_data_free(d);
  tb_model_free(m);
}

static void test_recall_in_simulations(void** state) {
  (void)state;
  for (int s = 0; s < NSCENES; s++) check_scene(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_identities_in_motion),
                                     cmocka_unit_test(test_recall_in_simulations)};
  return cmocka_run_group_tests(tests, build_hulls, free_hulls);
}
