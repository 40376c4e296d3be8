// Queries of a world: rays, distances, pairs and contacts against closed forms, against sensors and
// steps, and against every geom or pair one by one. No query changes later steps.
#include <pthread.h>

#include "base/hash.h"
#include "collide/ray/ray.h"
#include "common/test.h"
#include "common/worlds.h"

// Every shape, each movable but the floor and the hills; a cube is the mesh.
static const char ALL_SHAPES[] =
    "<mujoco><asset><mesh name='cube' vertex='-.1 -.1 -.1 .1 -.1 -.1 .1 .1 -.1 -.1 .1 -.1 -.1 -.1 "
    ".1 .1 -.1 .1 .1 .1 .1 -.1 .1 .1'/>"
    "<hfield name='hills' nrow='3' ncol='3' size='.5 .5 .3 .1' elevation='1 0 2 0 1 2 0 1 2'/>"
    "</asset><worldbody><geom name='floor' type='plane' size='0 0 .1' group='3'/>"
    "<geom name='hills' type='hfield' hfield='hills' pos='0 3 .1'/>"
    "<body name='sphere' pos='0 0 1'><freejoint/><geom size='.2'/><site name='eye' pos='0 0 "
    "-.05'/></body>"
    "<body name='capsule' pos='1 0 1'><freejoint/><geom type='capsule' size='.1 .2'/></body>"
    "<body name='ellipsoid' pos='2 0 1'><freejoint/><geom type='ellipsoid' size='.1 .2 "
    ".3'/></body>"
    "<body name='cylinder' pos='3 0 1'><freejoint/><geom type='cylinder' size='.1 .2'/></body>"
    "<body name='box' pos='4 0 1'><freejoint/><geom type='box' size='.1 .2 .3'/></body>"
    "<body name='mesh' pos='5 0 1'><freejoint/><geom type='mesh' mesh='cube'/></body>"
    "<body name='ghost' pos='0 0 2'><freejoint/><geom size='.2' rgba='1 1 1 0'/></body>"
    "</worldbody><sensor><rangefinder site='eye'/>"
    "<distance geom1='floor' body2='sphere' cutoff='9'/>"
    "<fromto geom1='floor' body2='capsule' cutoff='9'/></sensor></mujoco>";

static int geom_of(tbWorld w, const char* body) {
  return w.m->body_geomadr[tb_name2id(w.m, TB_OBJ_BODY, body)];
}

static tbWorld all_shapes(void) {
  tbWorld w = tb_world_text(ALL_SHAPES);
  tb_kinematics(w.m, w.d);
  return w;
}

// A ray from above, through the body's centre moved by x: where it meets the surface.
static void ray_from_above(tbWorld w, const char* body, double x, double expect, const double* n) {
  int hit, g = geom_of(w, body);
  double normal[3], from[3] = {w.d->geom_xpos[3 * g] + x, w.d->geom_xpos[3 * g + 1], 1.6};
  const double down[3] = {0, 0, -2};
  double at = tb_ray(w.m, w.d, from, down, NULL, 1, -1, &hit, normal);
  assert_int_equal(hit, g);
  assert_near(1.6 - 2 * at, expect, 1e-12);
  assert_near_array(normal, n, 3, 1e-12);
}

static void rays_meet_every_shape(void** state) {
  (void)state;
  tbWorld w = all_shapes();
  const double up[3] = {0, 0, 1}, half = sqrt(0.5);
  ray_from_above(w, "sphere", 0.2 * half, 1 + 0.2 * half, (double[]){half, 0, half});
  ray_from_above(w, "capsule", 0.1 * half, 1.2 + 0.1 * half, (double[]){half, 0, half});
  ray_from_above(w, "ellipsoid", 0.1 * half, 1 + 0.3 * half,
                 (double[]){3 / sqrt(10), 0, 1 / sqrt(10)});
  ray_from_above(w, "cylinder", 0.05, 1.2, up);
  ray_from_above(w, "box", 0.05, 1.3, up);
  ray_from_above(w, "mesh", 0.03, 1.1, up);
  // The near half of the hills rises by 0.3 over a metre along x, from z = 0.1.
  int hit;
  double normal[3], slope = 1 / hypot(1, 0.3);
  const double above[3] = {0.1, 2.8, 4}, down[3] = {0, 0, -1}, side[3] = {-1, 0, 0};
  assert_near(4 - tb_ray(w.m, w.d, above, down, NULL, 1, -1, &hit, normal), 0.1 + 0.3 * 0.6, 1e-12);
  assert_int_equal(hit, tb_name2id(w.m, TB_OBJ_GEOM, "hills"));
  assert_near_array(normal, ((double[]){-0.3 * slope, 0, slope}), 3, 1e-12);
  // A cell of the far half, whose corner at x = 0, y = 3.5 lies at z = 0.1: z falls along y.
  const double far[3] = {-0.1, 3.1, 4}, steep = 1 / sqrt(1 + 2 * 0.3 * 0.3);
  assert_near(4 - tb_ray(w.m, w.d, far, down, NULL, 1, -1, &hit, normal), 0.1 + 0.09, 1e-12);
  assert_near_array(normal, ((double[]){-0.3 * steep, 0.3 * steep, steep}), 3, 1e-12);
  // Their wall at x = 0.5, and their base at z = 0.
  const double beside[3] = {2, 3.1, 0.3}, below[3] = {2, 3.1, 0.05};
  assert_near(tb_ray(w.m, w.d, beside, side, NULL, 1, -1, &hit, normal), 1.5, 1e-12);
  assert_near_array(normal, ((double[]){1, 0, 0}), 3, 1e-12);
  assert_near(tb_ray(w.m, w.d, below, side, NULL, 1, -1, &hit, normal), 1.5, 1e-12);
  assert_near_array(normal, ((double[]){1, 0, 0}), 3, 1e-12);
  const double under[3] = {0.1, 2.9, -0.5};
  assert_near(tb_ray(w.m, w.d, under, up, NULL, 1, -1, &hit, normal), 0.5, 1e-12);
  assert_near_array(normal, ((double[]){0, 0, -1}), 3, 1e-12);
  // The side of a cylinder, from inside too.
  const double inside[3] = {3, 0, 1}, along[3] = {0, 1, 0};
  assert_near(tb_ray(w.m, w.d, inside, along, NULL, 1, -1, &hit, normal), 0.1, 1e-12);
  assert_near_array(normal, along, 3, 1e-12);
  tb_world_free(w);
}

// Body, group, fixed bodies and visibility each take geoms out of a ray's way.
static void rays_pass_what_is_left_out(void** state) {
  (void)state;
  tbWorld w = all_shapes();
  const double from[3] = {0, 0, 3}, down[3] = {0, 0, -1};
  uint8_t group[TB_NGROUP] = {1, 1, 1, 0, 1, 1};
  int hit, sphere = geom_of(w, "sphere"), body = w.m->geom_bodyid[sphere];
  double normal[3] = {1, 2, 3};
  // The ghost at 2 m is invisible.
  assert_near(tb_ray(w.m, w.d, from, down, NULL, 1, -1, &hit, NULL), 1.8, 1e-12);
  assert_int_equal(hit, sphere);
  assert_near(tb_ray(w.m, w.d, from, down, NULL, 1, body, &hit, NULL), 3, 1e-12);
  assert_int_equal(hit, 0);
  assert_true(tb_ray(w.m, w.d, from, down, NULL, 0, body, &hit, normal) == -1);
  assert_int_equal(hit, -1);
  assert_true(normal[0] == 0 && normal[1] == 0 && normal[2] == 0);
  assert_true(tb_ray(w.m, w.d, from, down, group, 1, body, NULL, NULL) == -1);
  group[3] = 1;
  group[0] = 0;
  assert_near(tb_ray(w.m, w.d, from, down, group, 1, -1, &hit, NULL), 3, 1e-12);
  tb_world_free(w);
}

// Poses all over a box of a few metres, so that some shapes overlap.
static void scatter(tbWorld w, tbRng* rng, double size) {
  for (int j = 0; j < w.m->njnt; j++) {
    double* q = w.d->qpos + w.m->jnt_qposadr[j];
    if (w.m->jnt_type[j] != TB_JOINT_FREE) continue;
    for (int k = 0; k < 3; k++) q[k] = size * tb_rng_uniform(rng, -0.5, 0.5) + (k == 2 ? 0.4 : 0);
    for (int k = 3; k < 7; k++) q[k] = tb_rng_normal(rng);
  }
  tb_kinematics(w.m, w.d);
}

// The ray against one geom, by the functions of the collision layer, without a tree.
static double ray_alone(tbWorld w, int g, const double* from, const double* way) {
  const double *pos = w.d->geom_xpos + 3 * g, *mat = w.d->geom_xmat + 9 * g;
  int type = w.m->geom_type[g], id = w.m->geom_dataid[g];
  const tbRayTree none = {0};
  if (w.m->geom_rgba[4 * g + 3] == 0) return -1;
  if (type == TB_GEOM_MESH) {
    return tb_ray_mesh(&none, w.m->mesh_vert + 3 * w.m->mesh_vertadr[id],
                       w.m->mesh_face + 3 * w.m->mesh_faceadr[id], w.m->mesh_facenum[id], pos, mat,
                       from, way, NULL);
  }
  if (type == TB_GEOM_HFIELD) {
    tbHField field = {w.m->hfield_nrow[id], w.m->hfield_ncol[id], {0}, w.m->hfield_data};
    memcpy(field.size, w.m->hfield_size + 4 * id, sizeof field.size);
    return tb_ray_hfield(&field, pos, mat, from, way);
  }
  return tb_ray_shape(type, w.m->geom_size + 3 * g, pos, mat, from, way);
}

// Whether rays beside the first meet the tangent plane of its normal; rays that meet the surface at
// an edge may not.
static bool is_tangent(tbWorld w, int g, const double* from, const double* way, double at,
                       const double* n) {
  const double e = 1e-6;
  for (int k = 0; k < 3; k++) {
    double beside[3] = {from[0], from[1], from[2]}, height = 0;
    beside[k] += e;
    double x = ray_alone(w, g, beside, way);
    for (int r = 0; r < 3; r++) height += n[r] * (beside[r] - from[r] + (x - at) * way[r]);
    if (!(fabs(height) < 1e-2 * e)) return false;
  }
  return true;
}

static void rays_are_the_nearest_of_all_geoms(void** state) {
  (void)state;
  tbWorld w = all_shapes();
  tbRng rng = {5};
  int hits = 0, tangent = 0, outside = 0;
  for (int pose = 0; pose < 60; pose++) {
    scatter(w, &rng, 1.5);
    for (int i = 0; i < 100; i++) {
      double from[3], way[3], normal[3], best = -1;
      int hit, nearest = -1;
      for (int k = 0; k < 3; k++) {
        from[k] = tb_rng_uniform(&rng, -1.5, 1.5);
        way[k] = 3 * tb_rng_normal(&rng);
      }
      for (int g = 0; g < w.m->ngeom; g++) {
        double x = ray_alone(w, g, from, way);
        if (x < 0 || (best >= 0 && x >= best)) continue;
        best = x;
        nearest = g;
      }
      double x = tb_ray(w.m, w.d, from, way, NULL, 1, -1, &hit, normal);
      assert_true(x == best && hit == nearest);
      if (hit < 0) continue;
      hits++;
      assert_near(hypot(hypot(normal[0], normal[1]), normal[2]), 1, 1e-12);
      tangent += is_tangent(w, hit, from, way, x, normal);
      // Moved out along the normal, the point is outside: a ray back in meets the surface at once.
      double out[3], in[3];
      for (int k = 0; k < 3; k++) {
        out[k] = from[k] + x * way[k] + 1e-5 * normal[k];
        in[k] = -normal[k];
      }
      double back = ray_alone(w, hit, out, in);
      outside += back > 0 && fabs(back - 1e-5) < 1e-8;
    }
  }
  assert_true(hits > 1000);
  assert_true(tangent > 0.99 * hits);
  assert_true(outside > 0.99 * hits);
  tb_world_free(w);
}

static void sensors_give_the_same(void** state) {
  (void)state;
  tbWorld w = all_shapes();
  tbRng rng = {6};
  for (int pose = 0; pose < 100; pose++) {
    scatter(w, &rng, 2);
    assert_int_equal(tb_forward(w.m, w.d), TB_OK);
    int body = tb_name2id(w.m, TB_OBJ_BODY, "sphere");
    const double* R = w.d->site_xmat;
    double axis[3] = {R[2], R[5], R[8]}, points[6];
    assert_true(w.d->sensordata[0] ==
                tb_ray(w.m, w.d, w.d->site_xpos, axis, NULL, 1, body, NULL, NULL));
    assert_true(w.d->sensordata[1] == tb_geom_distance(w.m, w.d, 0, geom_of(w, "sphere"), 9, NULL));
    tb_geom_distance(w.m, w.d, 0, geom_of(w, "capsule"), 9, points);
    assert_memory_equal(points, w.d->sensordata + 2, sizeof points);
  }
  tb_world_free(w);
}

static void distances_are_those_of_the_shapes(void** state) {
  (void)state;
  tbWorld w = all_shapes();
  double points[6];
  int sphere = geom_of(w, "sphere"), box = geom_of(w, "box");
  assert_near(tb_geom_distance(w.m, w.d, sphere, box, 10, points), 3.7, 1e-12);
  assert_near_array(points, ((double[]){0.2, 0, 1, 3.9, 0, 1}), 6, 1e-12);
  assert_near(tb_geom_distance(w.m, w.d, box, sphere, 10, points), 3.7, 1e-12);
  assert_near_array(points, ((double[]){3.9, 0, 1, 0.2, 0, 1}), 6, 1e-12);
  assert_true(tb_geom_distance(w.m, w.d, sphere, box, 3, points) == 3);
  for (int k = 0; k < 6; k++) assert_true(points[k] == 0);
  // Overlap, and a pair that has no distance.
  w.d->qpos[2] = 0.1;
  tb_kinematics(w.m, w.d);
  assert_near(tb_geom_distance(w.m, w.d, 0, sphere, 10, NULL), -0.1, 1e-12);
  assert_true(tb_geom_distance(w.m, w.d, 0, 1, 10, points) == 10);
  tb_world_free(w);
}

static void assert_same_contacts(const tbContact* a, const tbContact* b, int n) {
  for (int i = 0; i < n; i++) {
    assert_memory_equal(a[i].geom, b[i].geom, sizeof a[i].geom);
    assert_memory_equal(a[i].pos, b[i].pos, sizeof a[i].pos);
    assert_memory_equal(a[i].frame, b[i].frame, sizeof a[i].frame);
    assert_memory_equal(a[i].friction, b[i].friction, sizeof a[i].friction);
    assert_true(a[i].dist == b[i].dist && a[i].key == b[i].key && a[i].exclude == b[i].exclude);
    assert_true(a[i].includemargin == b[i].includemargin && a[i].dim == b[i].dim);
  }
}

// The contacts of a soft step to the bit, with margins and gaps, pairs and exclusions; no force
// yet.
static void contacts_are_those_of_a_soft_step(void** state) {
  (void)state;
  tbWorld w = all_shapes();
  tbRng rng = {7};
  static tbContact of_step[1000];
  int contacts = 0, excluded = 0;
  w.m->opt.law = TB_LAW_SOFT;
  for (int g = 0; g < w.m->ngeom; g++) {
    w.m->geom_margin[g] = g % 3 * 0.01;
    w.m->geom_gap[g] = g % 2 * 0.02;
  }
  for (int pose = 0; pose < 200; pose++) {
    tbWorld fresh = tb_world_again(w);
    scatter(fresh, &rng, 0.9);
    assert_int_equal(tb_step1(fresh.m, fresh.d), TB_OK);
    int n = fresh.d->ncon;
    assert_true(n < 1000);
    if (n) memcpy(of_step, fresh.d->contact, sizeof(tbContact) * (size_t)n);
    assert_int_equal(tb_step2(fresh.m, fresh.d), TB_OK);
    // The poses are still those of the step's start.
    assert_int_equal(tb_find_contacts(fresh.m, fresh.d), TB_OK);
    assert_int_equal(fresh.d->ncon, n);
    assert_same_contacts(of_step, fresh.d->contact, n);
    contacts += n;
    for (int i = 0; i < n; i++) {
      excluded += fresh.d->contact[i].exclude;
      assert_true(fresh.d->contact[i].force[0] == 0);
      assert_int_equal(fresh.d->contact[i].row, -1);
    }
    tb_data_free(fresh.d);
  }
  assert_true(contacts > 1000 && excluded > 20);
  tb_world_free(w);
}

// A box that stands on the floor, under the exact law: four corners at rounding distance.
static void a_standing_box_has_four_contacts(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body pos='0 0 .3'><freejoint/>"
      "<geom type='box' size='.1 .2 .3'/></body></worldbody></mujoco>");
  tb_kinematics(w.m, w.d);
  assert_int_equal(tb_find_contacts(w.m, w.d), TB_OK);
  assert_int_equal(w.d->ncon, 4);
  for (int i = 0; i < 4; i++) {
    const tbContact* c = &w.d->contact[i];
    assert_near(fabs(c->pos[0]), 0.1, 1e-12);
    assert_near(fabs(c->pos[1]), 0.2, 1e-12);
    assert_near(c->dist, 0, 1e-12);
    assert_near(c->frame[2], 1, 1e-12);
  }
  w.d->qpos[2] += 1e-6;
  tb_kinematics(w.m, w.d);
  assert_int_equal(tb_find_contacts(w.m, w.d), TB_OK);
  assert_int_equal(w.d->ncon, 0);
  tb_world_free(w);
}

typedef struct {
  int pair[4000][2], count, stop;
} Visits;

static int note(void* user, int geom1, int geom2) {
  Visits* v = user;
  assert_true(v->count < 4000);
  v->pair[v->count][0] = geom1;
  v->pair[v->count++][1] = geom2;
  return v->count == v->stop;
}

static bool visited(const Visits* v, int g1, int g2) {
  for (int i = 0; i < v->count; i++) {
    if (v->pair[i][0] == g1 && v->pair[i][1] == g2) return true;
  }
  return false;
}

static bool is_fixed(tbWorld w, int g) {
  return w.m->body_lastdof[w.m->geom_bodyid[g]] < 0;
}

// Without a margin limit: all but pairs of one body and of fixed bodies. With one: all pairs that
// are nearer, and none whose spheres are farther apart.
static void pairs_are_all_that_are_near(void** state) {
  (void)state;
  static Visits v;
  tbWorld w = all_shapes();
  tbRng rng = {8};
  int near_ones = 0, left_out = 0;
  for (int pose = 0; pose < 100; pose++) {
    const double margin = pose % 4 * 0.1;
    scatter(w, &rng, 2);
    v = (Visits){.count = 0};
    assert_int_equal(tb_visit_pairs(w.m, w.d, INFINITY, note, &v), TB_OK);
    int n = w.m->ngeom;
    assert_int_equal(v.count, n * (n - 1) / 2 - 1);  // the floor and the hills are fixed
    v = (Visits){.count = 0};
    assert_int_equal(tb_visit_pairs(w.m, w.d, margin, note, &v), TB_OK);
    for (int i = 1; i < v.count; i++) {
      const int *a = v.pair[i - 1], *b = v.pair[i];
      assert_true(a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]));
    }
    for (int a = 0; a < n; a++) {
      for (int b = a + 1; b < n; b++) {
        if (is_fixed(w, a) && is_fixed(w, b)) continue;
        bool near = tb_geom_distance(w.m, w.d, a, b, 9, NULL) <= margin, seen = visited(&v, a, b);
        assert_true(seen || !near);
        near_ones += near;
        left_out += !seen;
        double apart = 0;
        for (int k = 0; k < 3; k++) {
          double x = w.d->geom_xpos[3 * a + k] - w.d->geom_xpos[3 * b + k];
          apart += x * x;
        }
        // A box is within the square root of three of its ball.
        double reach = sqrt(3) * (w.m->geom_rbound[a] + w.m->geom_rbound[b] + margin);
        if (a > 1 && sqrt(apart) > 1.01 * reach) assert_false(seen);
      }
    }
    v = (Visits){.stop = 2};
    assert_int_equal(tb_visit_pairs(w.m, w.d, INFINITY, note, &v), TB_OK);
    assert_int_equal(v.count, 2);
  }
  assert_true(near_ones > 100 && left_out > 500);
  tb_world_free(w);
}

static int take_out_floor(const tbModel* m, const tbData* d, int geom1, int geom2,
                          const void* user) {
  (void)m, (void)d, (void)user;
  return geom1 == 0 || geom2 == 0;
}

static void smooth(const tbModel* m, const tbData* d, tbContact* c, const void* user) {
  (void)m, (void)d;
  c->friction[0] = *(const double*)user;
}

// Queries ask the user's callbacks, as a step does.
static void callbacks_count(void** state) {
  (void)state;
  static Visits v;
  tbWorld w = all_shapes();
  double friction = 0.125;
  tbCallbacks user = {.contact = smooth, .user = &friction};
  w.d->qpos[2] = 0.1;
  w.m->callbacks = &user;
  tb_kinematics(w.m, w.d);
  assert_int_equal(tb_find_contacts(w.m, w.d), TB_OK);
  assert_int_equal(w.d->ncon, 1);
  assert_true(w.d->contact[0].friction[0] == 0.125);
  friction = NAN;
  assert_int_equal(tb_find_contacts(w.m, w.d), TB_ERROR_NUMERIC);
  assert_non_null(strstr(w.d->message, "friction"));
  user.contact_filter = take_out_floor;
  assert_int_equal(tb_find_contacts(w.m, w.d), TB_OK);
  assert_int_equal(w.d->ncon, 0);
  v = (Visits){.count = 0};
  assert_int_equal(tb_visit_pairs(w.m, w.d, INFINITY, note, &v), TB_OK);
  assert_int_equal(v.count, (w.m->ngeom - 1) * (w.m->ngeom - 2) / 2);
  w.m->callbacks = NULL;
  tb_world_free(w);
}

static uint64_t hash_answers(tbWorld w, tbRng* rng, uint64_t hash, bool between_steps) {
  double from[3], way[3], normal[3];
  for (int k = 0; k < 3; k++) {
    from[k] = tb_rng_uniform(rng, -1, 1);
    way[k] = tb_rng_normal(rng);
  }
  double x = tb_ray(w.m, w.d, from, way, NULL, 1, -1, NULL, normal);
  double y = tb_geom_distance(w.m, w.d, 0, w.m->ngeom - 1, 5, NULL);
  hash = tb_hash(hash, &x, sizeof x);
  hash = tb_hash(hash, &y, sizeof y);
  static _Thread_local Visits v;
  v.count = v.stop = 0;
  assert_int_equal(tb_visit_pairs(w.m, w.d, 0.1, note, &v), TB_OK);
  hash = tb_hash(hash, v.pair, sizeof(int[2]) * (size_t)v.count);
  if (!between_steps) return hash;
  assert_int_equal(tb_find_contacts(w.m, w.d), TB_OK);
  for (int i = 0; i < w.d->ncon; i++) {
    hash = tb_hash(hash, w.d->contact[i].pos, sizeof w.d->contact[i].pos);
  }
  return hash;
}

// Snapshots hold all that a world remembers; they and the states stay the same to the bit.
static void steps_have_the_same_bits(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    for (int scene = 0; scene < 2; scene++) {
      tbWorld a = scene ? tb_world_scene("humanoid.xml", NULL) : tb_world_scene("drop.xml", NULL);
      if (law == TB_LAW_VISCOELASTIC) a = tb_world_springs(a, TB_INTEGRATOR_EXPO, 0.002);
      a.m->opt.law = law;
      tbWorld b = tb_world_again(a);
      tbRng rng = {9};
      for (int step = 0; step < 80; step++) {
        assert_int_equal(tb_step1(a.m, a.d), TB_OK);
        assert_int_equal(tb_step1(b.m, b.d), TB_OK);
        hash_answers(b, &rng, 0, false);
        assert_int_equal(tb_step2(a.m, a.d), TB_OK);
        assert_int_equal(tb_step2(b.m, b.d), TB_OK);
        if (step % 3 == 0) tb_kinematics(b.m, b.d);
        if (step % 2 == 0) hash_answers(b, &rng, 0, true);
        assert_memory_equal(a.d->qpos, b.d->qpos, sizeof(double) * (size_t)a.m->nq);
        assert_memory_equal(a.d->qvel, b.d->qvel, sizeof(double) * (size_t)a.m->nv);
      }
      size_t size = tb_snapshot_size(a.m, a.d);
      assert_int_equal(size, tb_snapshot_size(b.m, b.d));
      char *one = malloc(size), *two = malloc(size);
      assert_non_null(one);
      assert_non_null(two);
      assert_int_equal(tb_snapshot_save(a.m, a.d, one, size), TB_OK);
      assert_int_equal(tb_snapshot_save(b.m, b.d, two, size), TB_OK);
      assert_memory_equal(one, two, size);
      free(one);
      free(two);
      tb_data_free(b.d);
      tb_world_free(a);
    }
  }
}

// After the first queries memory does not grow.
static void queries_allocate_once(void** state) {
  (void)state;
  tbWorld w = all_shapes();
  tbRng rng = {10};
  size_t held = 0, calls = 0;
  for (int i = 0; i < 200; i++) {
    hash_answers(w, &rng, 0, true);
    if (i == 10) held = tb_step_memory(w.m, w.d), calls = tb_step_allocations(w.d);
  }
  assert_int_equal(tb_step_memory(w.m, w.d), held);
  assert_int_equal(tb_step_allocations(w.d), calls);
  tb_world_free(w);
}

typedef struct {
  tbWorld w;
  uint64_t hash;
} Job;

static void* run_job(void* user) {
  Job* job = user;
  tbRng rng = {11}, poses = {12};
  for (int i = 0; i < 50; i++) {
    scatter(job->w, &poses, 1.5);
    job->hash = hash_answers(job->w, &rng, job->hash, true);
  }
  return NULL;
}

// Worlds of one model in threads of their own.
static void threads_get_the_same_answers(void** state) {
  (void)state;
  enum { THREADS = 4 };
  tbWorld w = all_shapes();
  pthread_t thread[THREADS];
  Job job[THREADS + 1];
  for (int i = 0; i <= THREADS; i++) job[i] = (Job){tb_world_again(w), 0};
  run_job(&job[THREADS]);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&thread[i], NULL, run_job, &job[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i <= THREADS; i++) {
    assert_true(job[i].hash == job[THREADS].hash);
    tb_data_free(job[i].w.d);
  }
  tb_world_free(w);
}

static int find_inside(void* user, int geom1, int geom2) {
  tbWorld* w = user;
  (void)geom1, (void)geom2;
  assert_int_equal(tb_find_contacts(w->m, w->d), TB_ERROR_ARGUMENT);
  return 1;
}

static void assert_names(tbWorld w, const char* word) {
  assert_non_null(strstr(w.d->message, word));
  assert_int_equal(w.d->status, TB_OK);
  w.d->message[0] = 0;
}

static void bad_arguments_are_named(void** state) {
  (void)state;
  tbWorld w = tb_world_text(ALL_SHAPES), other = tb_world_scene("drop.xml", NULL);
  const double o[3] = {0, 0, 3}, down[3] = {0, 0, -1}, none[3] = {0}, bad[3] = {0, NAN, 0};
  assert_true(isnan(tb_ray(w.m, w.d, o, down, NULL, 1, -1, NULL, NULL)));
  assert_names(w, "tb_kinematics first");
  assert_int_equal(tb_find_contacts(w.m, w.d), TB_ERROR_ARGUMENT);
  assert_names(w, "tb_kinematics first");
  tb_kinematics(w.m, w.d);
  assert_true(isnan(tb_ray(w.m, w.d, bad, down, NULL, 1, -1, NULL, NULL)));
  assert_names(w, "pnt");
  assert_true(isnan(tb_ray(w.m, w.d, o, none, NULL, 1, -1, NULL, NULL)));
  assert_names(w, "vec");
  assert_true(isnan(tb_ray(w.m, w.d, o, NULL, NULL, 1, -1, NULL, NULL)));
  assert_names(w, "vec");
  assert_true(isnan(tb_ray(w.m, w.d, o, down, NULL, 1, w.m->nbody, NULL, NULL)));
  assert_names(w, "bodyexclude");
  assert_true(isnan(tb_geom_distance(w.m, w.d, -1, 0, 1, NULL)));
  assert_names(w, "geom1");
  assert_true(isnan(tb_geom_distance(w.m, w.d, 0, w.m->ngeom, 1, NULL)));
  assert_names(w, "geom2");
  assert_true(isnan(tb_geom_distance(w.m, w.d, 0, 1, NAN, NULL)));
  assert_names(w, "distmax");
  static Visits v;
  assert_int_equal(tb_visit_pairs(w.m, w.d, NAN, note, &v), TB_ERROR_ARGUMENT);
  assert_names(w, "margin");
  assert_int_equal(tb_visit_pairs(w.m, w.d, 0, NULL, &v), TB_ERROR_ARGUMENT);
  assert_names(w, "visit");
  assert_int_equal(tb_visit_pairs(w.m, w.d, INFINITY, find_inside, &w), TB_OK);
  assert_names(w, "tb_visit_pairs");
  assert_int_equal(tb_step1(w.m, w.d), TB_OK);
  assert_int_equal(tb_find_contacts(w.m, w.d), TB_ERROR_ARGUMENT);
  assert_names(w, "tb_step2");
  assert_int_equal(tb_step2(w.m, w.d), TB_OK);
  // The world of another model, and no world at all.
  assert_true(isnan(tb_ray(other.m, w.d, o, down, NULL, 1, -1, NULL, NULL)));
  assert_names(w, "another model");
  assert_int_equal(tb_find_contacts(NULL, w.d), TB_ERROR_ARGUMENT);
  assert_true(isnan(tb_ray(w.m, NULL, o, down, NULL, 1, -1, NULL, NULL)));
  assert_true(isnan(tb_geom_distance(NULL, w.d, 0, 1, 1, NULL)));
  // A pose that is not finite.
  w.d->qpos[0] = NAN;
  tb_kinematics(w.m, w.d);
  assert_true(isnan(tb_ray(w.m, w.d, o, down, NULL, 1, -1, NULL, NULL)));
  assert_names(w, "not finite");
  assert_int_equal(tb_find_contacts(w.m, w.d), TB_ERROR_NUMERIC);
  tb_world_free(other);
  tb_world_free(w);
}

// The contact problem belongs to the contacts of tb_forward.
static void a_problem_needs_the_contacts_of_its_step(void** state) {
  (void)state;
  tbWorld w = tb_world_scene("drop.xml", NULL);
  tbError error;
  w.m->opt.law = TB_LAW_NCP;
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  assert_int_equal(tb_find_contacts(w.m, w.d), TB_OK);
  assert_null(tb_step_problem(w.m, w.d, &error));
  assert_non_null(strstr(error.message, "tb_forward"));
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  tbProblem* problem = tb_step_problem(w.m, w.d, &error);
  assert_non_null(problem);
  tb_problem_free(problem);
  tb_world_free(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rays_meet_every_shape),
      cmocka_unit_test(rays_pass_what_is_left_out),
      cmocka_unit_test(rays_are_the_nearest_of_all_geoms),
      cmocka_unit_test(sensors_give_the_same),
      cmocka_unit_test(distances_are_those_of_the_shapes),
      cmocka_unit_test(contacts_are_those_of_a_soft_step),
      cmocka_unit_test(a_standing_box_has_four_contacts),
      cmocka_unit_test(pairs_are_all_that_are_near),
      cmocka_unit_test(callbacks_count),
      cmocka_unit_test(steps_have_the_same_bits),
      cmocka_unit_test(queries_allocate_once),
      cmocka_unit_test(threads_get_the_same_answers),
      cmocka_unit_test(bad_arguments_are_named),
      cmocka_unit_test(a_problem_needs_the_contacts_of_its_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
