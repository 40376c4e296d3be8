// Geoms of real robots in random poses: our contacts against MuJoCo's own pair functions. Closed
// forms must agree; for iterative pairs MuJoCo's depth is an upper bound, not the shortest way out.
#include <mujoco/mujoco.h>

#include "base/arena.h"
#include "collide/hull/hull.h"
#include "common/shapes.h"

typedef struct {
  mjModel* model;
  mjData* data;
  tbArena arena;
  tbHull* hulls;  // per mesh
  tbShape* shapes;
} Robot;

static bool load_robot(Robot* r, const char* path) {
  char full[512], error[300] = "";
  if (!tb_test_shared(path, full, sizeof(full))) return false;
  r->model = mj_loadXML(full, NULL, error, sizeof(error));
  if (!r->model) {
    print_message("skipped: %s: %s\n", path, error);
    return false;
  }
  r->data = mj_makeData(r->model);
  tb_arena_init(&r->arena);
  r->hulls = calloc((size_t)r->model->nmesh + 1, sizeof(tbHull));
  r->shapes = calloc((size_t)r->model->ngeom, sizeof(tbShape));
  for (int m = 0; m < r->model->nmesh; m++) {
    int count = r->model->mesh_vertnum[m];
    tbReal* points = calloc(3 * (size_t)count, sizeof(tbReal));
    for (int i = 0; i < 3 * count; i++) {
      points[i] = (tbReal)r->model->mesh_vert[3 * r->model->mesh_vertadr[m] + i];
    }
    tbError hull_error;
    tbResult result = tb_hull_build(&r->hulls[m], &r->arena, points, count, 0, NULL, &hull_error);
    assert_int_equal(result, TB_OK);
    free(points);
  }
  return true;
}

static void free_robot(Robot* r) {
  mj_deleteData(r->data);
  mj_deleteModel(r->model);
  tb_arena_free(&r->arena);
  free(r->hulls);
  free(r->shapes);
}

// Joint angles within their ranges (or anywhere), the base close to the floor.
static void random_pose(tbRng* rng, Robot* r) {
  const mjModel* m = r->model;
  mjData* d = r->data;
  mj_resetData(m, d);
  for (int j = 0; j < m->njnt; j++) {
    int q = m->jnt_qposadr[j];
    double low = m->jnt_limited[j] ? m->jnt_range[2 * j] : -1;
    double high = m->jnt_limited[j] ? m->jnt_range[2 * j + 1] : 1;
    if (m->jnt_type[j] == mjJNT_HINGE || m->jnt_type[j] == mjJNT_SLIDE) {
      d->qpos[q] = tb_rng_uniform(rng, low, high);
    } else if (m->jnt_type[j] == mjJNT_FREE) {
      d->qpos[q + 2] *= tb_rng_uniform(rng, 0.2, 1);
      for (int k = 3; k < 7; k++) d->qpos[q + k] += 0.3 * tb_rng_normal(rng);
    }
  }
  mj_normalizeQuat(m, d->qpos);
  mj_kinematics(m, d);
  for (int g = 0; g < m->ngeom; g++) {
    tbShape* s = &r->shapes[g];
    s->type = m->geom_type[g];
    memcpy(s->size, m->geom_size + 3 * g, sizeof(s->size));
    memcpy(s->pos, d->geom_xpos + 3 * g, sizeof(s->pos));
    memcpy(s->mat, d->geom_xmat + 9 * g, sizeof(s->mat));
    s->hull = s->type == TB_GEOM_MESH ? &r->hulls[m->geom_dataid[g]] : NULL;
  }
}

typedef struct {
  int pairs, touching, missed_by_them, deeper_by_them;
  tbReal closed_error;
} Tally;

static bool closed_form(int a, int b) {
  if (a == TB_GEOM_PLANE) return b != TB_GEOM_MESH;
  if (a == TB_GEOM_SPHERE) return b == TB_GEOM_SPHERE || b == TB_GEOM_CAPSULE || b == TB_GEOM_BOX;
  return a == TB_GEOM_CAPSULE && (b == TB_GEOM_CAPSULE || b == TB_GEOM_BOX);
}

// Axis of the capsule inside the box, or centre of the ball: MuJoCo's depth differs there on
// purpose.
static bool core_inside(const tbShape* a, const tbShape* b, tbReal dist) {
  return b->type == TB_GEOM_BOX && a->type != TB_GEOM_PLANE && dist < -0.999 * a->size[0];
}

static void compare(Robot* r, int g1, int g2, Tally* tally) {
  const tbShape *a = &r->shapes[g1], *b = &r->shapes[g2];
  mjContact theirs[mjMAXCONPAIR];
  tbContactPoint ours[TB_MAX_PAIR_CONTACTS];
  int their_count = mjCOLLISIONFUNC[a->type][b->type](r->model, r->data, theirs, g1, g2, 0);
  int count = tb_collide(a, b, 0, ours, NULL);
  tbReal dist = 1, their_dist = 1;
  for (int i = 0; i < count; i++) dist = fmin(dist, ours[i].dist);
  for (int i = 0; i < their_count; i++) their_dist = fmin(their_dist, theirs[i].dist);
  tally->pairs++;
  tally->touching += count > 0;
  if (closed_form(a->type, b->type)) {
    if (count == 0 && their_count == 0) return;
    if (core_inside(a, b, dist)) return;
    tbReal error = fabs(fmin(dist, 0) - fmin(their_dist, 0));
    if (!(error < 1e-7))
      print_error("%s-%s: ours %g, MuJoCo %g\n", tb_geom_type_name(a->type),
                  tb_geom_type_name(b->type), dist, their_dist);
    assert_true(error < 1e-7);
    tally->closed_error = fmax(tally->closed_error, error);
    return;
  }

  // Every contact of MuJoCo is one of ours; our additional ones are counted.
  if (their_count > 0 && their_dist < -2e-4) assert_true(count > 0);
  if (count > 0 && their_count == 0 && dist < -1e-4) tally->missed_by_them++;
  if (count > 0 && their_count > 0 && !(a->type == TB_GEOM_BOX && b->type == TB_GEOM_BOX)) {
    tally->deeper_by_them += their_dist < dist - 1e-4;
    if (!(their_dist <= dist + 1e-4 + 0.02 * fabs(dist)))
      print_error("%s-%s: ours %g, MuJoCo %g\n", tb_geom_type_name(a->type),
                  tb_geom_type_name(b->type), dist, their_dist);
    assert_true(their_dist <= dist + 1e-4 + 0.02 * fabs(dist));
  }
}

static void check_robot(const char* path, int poses) {
  Robot r;
  if (!load_robot(&r, path)) return;
  tbRng rng = {17};
  Tally tally = {0};
  for (int pose = 0; pose < poses; pose++) {
    random_pose(&rng, &r);
    for (int i = 0; i < r.model->ngeom; i++) {
      for (int j = 0; j < r.model->ngeom; j++) {
        bool ordered =
            r.shapes[i].type < r.shapes[j].type || (r.shapes[i].type == r.shapes[j].type && i < j);
        bool other_body = r.model->geom_bodyid[i] != r.model->geom_bodyid[j];
        if (!ordered || !other_body) continue;
        if (!tb_collide_supported(r.shapes[i].type, r.shapes[j].type)) continue;
        if (!mjCOLLISIONFUNC[r.shapes[i].type][r.shapes[j].type]) continue;

        // Only pairs whose bounding balls meet.
        tbReal diff[3];
        tb_sub3(diff, r.shapes[j].pos, r.shapes[i].pos);
        tbReal reach = r.model->geom_rbound[i] + r.model->geom_rbound[j];
        bool plane = r.shapes[i].type == TB_GEOM_PLANE;
        if (plane || tb_norm3(diff) < reach) compare(&r, i, j, &tally);
      }
    }
  }
  print_message(
      "%s: %d pairs, %d touching, %d of ours not in MuJoCo, %d deeper in MuJoCo, closed "
      "forms within %.1e\n",
      path, tally.pairs, tally.touching, tally.missed_by_them, tally.deeper_by_them,
      tally.closed_error);
  assert_true(tally.touching > 0);
  free_robot(&r);
}

static void test_robots(void** state) {
  (void)state;
  check_robot("models/mujoco/model/humanoid/humanoid.xml", 100);
  check_robot("models/mujoco_menagerie/unitree_go2/scene.xml", 6);
  check_robot("models/mujoco_menagerie/wonik_allegro/scene_right.xml", 6);
  check_robot("models/mujoco_menagerie/agility_cassie/scene.xml", 6);
  check_robot("models/mujoco_menagerie/anybotics_anymal_c/scene.xml", 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_robots)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
