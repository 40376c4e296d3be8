// Models by world: random subsets of arrays and options of many models under every law, against
// worlds alone with models of their own; what is refused, and how.
#include "batch/state.h"
#include "common/model_files.h"
#include "common/robots.h"
#include "common/test.h"
#include "laws/rigid/rigid.h"
#include "laws/rigid/speculative_contacts.h"
#include "model/model.h"
#include "model/workspace.h"
#include "tribo/tribo.h"

enum { WORLDS = 3, MOST_FIELDS = 512, STEPS = 12 };

static tbBatch* batch_of(const tbModel* m, int nworld, int nthread) {
  tbError error;
  tbBatch* b = tb_batch_new(m, nworld, nthread, 0, &error);
  if (!b) fail_msg("%s", error.message);
  return b;
}

// ---- expandable arrays -------------------------------------------------------------------------

// Names of all arrays of reals of a model, and of the options of reals.
static int list_fields(const char** names) {
  int n = 0;
#define X(type, name, rows, columns, unit, what) \
  if (strcmp(#type, "tbReal") == 0) names[n++] = #name;
  TB_MODEL_ARRAYS(X)
#undef X
#define X(type, name, count, value, allowed, unit, what) \
  if (strcmp(#type, "tbReal") == 0) names[n++] = "opt." #name;
  TB_OPTION_FIELDS(X)
#undef X
  assert_true(n < MOST_FIELDS);
  return n;
}

static void normalize(tbReal* x, int n) {
  tbReal norm = 0;
  for (int k = 0; k < n; k++) norm += x[k] * x[k];
  for (int k = 0; k < n && norm > 0; k++) x[k] /= sqrt(norm);
}

// A row that the checks of a model accept.
static void disturb(tbRng* rng, const tbModel* m, const char* field, tbReal* x, int n) {
  for (int i = 0; i < n; i++) {
    bool fixed = strcmp(field, "geom_size") == 0 &&
                 (m->geom_type[i / 3] == TB_GEOM_MESH || m->geom_type[i / 3] == TB_GEOM_HFIELD);
    if (!fixed && x[i] != -1) x[i] *= tb_rng_uniform(rng, 0.98, 1);
  }
  int columns = strstr(field, "quat") ? 4 : strcmp(field, "jnt_axis") == 0 ? 3 : 0;
  for (int i = 0; columns && i + columns <= n; i += columns) {
    for (int k = 0; k < columns; k++) x[i + k] += tb_rng_uniform(rng, -1e-3, 1e-3);
    normalize(x + i, columns);
  }
  bool pose = strcmp(field, "qpos0") == 0 || strcmp(field, "qpos_spring") == 0;
  for (int j = 0; pose && j < m->njnt; j++) {
    int at = m->jnt_qposadr[j];
    if (m->jnt_type[j] == TB_JOINT_FREE) normalize(x + at + 3, 4);
    if (m->jnt_type[j] == TB_JOINT_BALL) normalize(x + at, 4);
  }
}

static void* place_in(tbModel* m, const char* field) {
#define X(type, name, count, value, allowed, unit, what) \
  if (strcmp(field, "opt." #name) == 0) return (void*)&m->opt.name;
  TB_OPTION_FIELDS(X)
#undef X
  return (void*)(uintptr_t)tb_model_field(m, field, NULL, NULL, NULL);
}

// ---- worlds with models of their own -----------------------------------------------------------

static void assert_same_model(tbBatch* b, int w, const tbModel* own, const char* file) {
  tbModel* got = tb_model_copy(b->model);
  if (tb_batch_get_model(b, w, got) != TB_OK) fail_msg("%s: %s", file, b->message);
  const tbModel* model = own;
  TB_MODEL_SIZES(TB_SIZE_LOCAL)
#define X(type, name, rows, columns, unit, what)                                        \
  if (memcmp(got->name, own->name, (size_t)((rows) * (columns)) * sizeof(type)) != 0) { \
    fail_msg("%s: %s of world %d is not that of its own model", file, #name, w);        \
  }
  TB_MODEL_ARRAYS(X)
#undef X
  assert_true(got->total_mass == own->total_mass && got->load_to_inertia == own->load_to_inertia);
  assert_memory_equal(&got->opt, &own->opt, sizeof own->opt);
  tb_model_free(got);
}

// Give each world its own values of some fields, and the same to models of their own.
static void expand_some(tbBatch* b, tbModel** own, tbRng* rng, int count) {
  const char* name[MOST_FIELDS];
  int n = list_fields(name);
  for (int k = 0; k < count; k++) {
    const char* field = name[tb_rng_next(rng) % (uint64_t)n];
    int columns;
    tbReal* rows = tb_batch_expand(b, field);
    if (!rows) continue;
    assert_ptr_equal(tb_batch_field(b, field, NULL, &columns), rows);
    for (int w = 0; w < WORLDS; w++) {
      if (tb_rng_next(rng) % 4 == 0) continue;
      disturb(rng, b->model, field, rows + w * columns, columns);
      if (columns)
        memcpy(place_in(own[w], field), rows + w * columns, sizeof(tbReal) * (size_t)columns);
    }
  }
}

static void step_and_compare(tbBatch* b, tbModel** own, tbRng* rng, const char* file) {
  const tbModel* m = b->model;
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv, real = sizeof(tbReal);
  int key = m->nkey > 0 && tb_rng_next(rng) % 2 ? 0 : -1;
  tbReal* xpos = tb_batch_request(b, "xpos");
  tbReal* qacc = tb_batch_request(b, "qacc");
  assert_int_equal(tb_batch_reset(b, NULL, key), TB_OK);
  tbData* alone[WORLDS];
  tbResult result[WORLDS];
  for (int w = 0; w < WORLDS; w++) {
    alone[w] = tb_data_new(own[w]);
    if (key >= 0) tb_reset_keyframe(own[w], alone[w], key);
    for (size_t i = 0; i < nv; i++) {
      alone[w]->qvel[i] = b->qvel[(size_t)w * nv + i] = tb_rng_uniform(rng, -0.2, 0.2);
    }
    for (int i = 0; i < STEPS; i++) {
      result[w] = tb_step(own[w], alone[w]);
      if (result[w] != TB_OK) break;
    }
  }
  tb_batch_step(b, STEPS / 2);
  tb_batch_step(b, STEPS - STEPS / 2);
  for (int w = 0; w < WORLDS; w++) {
    const tbData* d = alone[w];
    if (b->status[w] != (int)result[w]) fail_msg("%s: %s; alone %s", file, b->message, d->message);
    bool same = memcmp(b->qpos + (size_t)w * nq, d->qpos, real * nq) == 0 &&
                memcmp(b->qvel + (size_t)w * nv, d->qvel, real * nv) == 0;
    if (result[w] == TB_OK) {
      same = same && memcmp(qacc + (size_t)w * nv, d->qacc, real * nv) == 0 &&
             memcmp(xpos + (size_t)w * 3 * (size_t)m->nbody, d->xpos,
                    3 * real * (size_t)m->nbody) == 0;
    }
    if (!same) {
      fail_msg("%s under %s: world %d differs from the same world alone", file,
               tb_step_law_name(m->opt.law), w);
    }
    tb_data_free(alone[w]);
  }
}

static void check_model(tbModel* m, const char* file, uint64_t seed) {
  tbRng rng = {seed};
  tbError error;
  m->opt.law = (int)(seed % TB_STEP_LAW_COUNT);
  if (m->opt.law == TB_LAW_VISCOELASTIC) {
    static const int INTEGRATOR[] = {TB_INTEGRATOR_EXPO, TB_INTEGRATOR_EXPO_MIDPOINT,
                                     TB_INTEGRATOR_EULER_EXPLICIT, TB_INTEGRATOR_RK4,
                                     TB_INTEGRATOR_EULER_IMPLICIT};
    m->opt.integrator = INTEGRATOR[tb_rng_int(&rng, 5)];
  }
  tbBatch* b = batch_of(m, WORLDS, 1 + (int)(seed % 3));
  tbModel* own[WORLDS];
  for (int w = 0; w < WORLDS; w++) own[w] = tb_model_copy(m);
  for (int round = 0; round < 2; round++) {
    expand_some(b, own, &rng, 12);
    for (int w = 0; w < WORLDS; w++) {
      // Only where an array differs: a loaded model need not be the bits of its own constants.
      tbModel* before = tb_model_copy(m);
      bool changed = false;
      const char* name[MOST_FIELDS];
      for (int i = list_fields(name) - 1; i >= 0; i--) {
        int columns;
        const tbReal* rows = tb_batch_field(b, name[i], NULL, &columns);
        changed = changed || (rows && columns &&
                              memcmp(rows + w * columns, place_in(before, name[i]),
                                     sizeof(tbReal) * (size_t)columns) != 0);
      }
      tb_model_free(before);
      if (changed && tb_set_constants(own[w], &error) != TB_OK) fail_msg("%s", error.message);
    }
    step_and_compare(b, own, &rng, file);
    for (int w = 0; w < WORLDS; w++) {
      if (b->status[w] == TB_OK) assert_same_model(b, w, own[w], file);
    }
  }
  for (int w = 0; w < WORLDS; w++) tb_model_free(own[w]);
  tb_batch_free(b);
  tb_model_free(m);
}

static void every_world_is_that_of_its_own_model(void** state) {
  (void)state;
  char** path;
  int n = tb_test_files(TB_SCENES_DIR, ".xml", &path);
  assert_true(n > 20);
  int repeats = tb_test_setting("TRIBO_REPEATS", 1);
  for (int i = 0; i < n * repeats; i++) {
    tbError error;
    tbModel* m = tb_load(path[i % n], NULL, &error);
    if (!m) fail_msg("%s", error.message);
    if (m->nv > 150) {
      tb_model_free(m);
      continue;
    }
    check_model(m, path[i % n], (uint64_t)i + 1);
  }
  tb_test_files_free(path, n);
  for (int i = 0; i < TB_TEST_ROBOT_COUNT * repeats; i++) {
    tbModel* m = tb_test_robot(i % TB_TEST_ROBOT_COUNT);
    if (m) check_model(m, tb_test_robot_name(i % TB_TEST_ROBOT_COUNT), (uint64_t)i + 7);
  }
}

// ---- shapes, places and terrain ----------------------------------------------------------------

static const char SHAPES[] =
    "<mujoco><option timestep='0.002'/><asset><hfield name='h' nrow='3' ncol='3' size='1 1 .1 "
    ".1' elevation='0 1 0 1 0 1 0 1 0'/></asset><worldbody><geom name='floor' type='hfield' "
    "hfield='h'/><geom name='step' type='box' size='.1 .1 .1' pos='.4 0 .1'/>"
    "<body pos='0 0 .16'><freejoint/><geom type='sphere' size='.05'/></body>"
    "<body pos='.4 0 .26'><freejoint/><geom type='box' size='.05 .05 .05'/></body></worldbody>"
    "</mujoco>";

// The collision search of a worker forgets the shapes of the last world.
static void shapes_and_terrain_differ_by_world(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbError error;
    tbModel* m = tb_load_string(SHAPES, NULL, NULL, &error);
    if (!m) fail_msg("%s", error.message);
    m->opt.law = law;
    tbBatch* b = batch_of(m, 4, 1);
    tbReal* size = tb_batch_expand(b, "geom_size");
    tbReal* place = tb_batch_expand(b, "geom_pos");
    tbReal* data = tb_batch_expand(b, "hfield_data");
    tbReal* margin = tb_batch_expand(b, "geom_margin");
    assert_non_null(size);
    assert_non_null(place);
    assert_non_null(data);
    assert_non_null(margin);
    size[(1 * m->ngeom + 2) * 3] = 0.1;               // world 1: a larger ball
    place[(2 * m->ngeom + 1) * 3 + 2] = 0.05;         // world 2: the box stands on a lower step
    for (int i = 0; i < 9; i++) data[3 * 9 + i] = 1;  // world 3: no pit under the ball
    margin[3 * m->ngeom + 2] = 0.01;
    // In calls of one step the one worker changes worlds at each.
    for (int i = 0; i < 200; i++) {
      if (tb_batch_step(b, 1) != TB_OK) fail_msg("%s", b->message);
    }
    for (int w = 0; w < 4; w++) {
      tbModel* own = tb_model_copy(m);
      assert_int_equal(tb_batch_get_model(b, w, own), TB_OK);
      if (w == 1) assert_near(own->geom_rbound[2], 0.1, 1e-15);
      tbData* d = tb_data_new(own);
      for (int i = 0; i < 200; i++) assert_int_equal(tb_step(own, d), TB_OK);
      assert_memory_equal(b->qpos + w * m->nq, d->qpos, sizeof(tbReal) * (size_t)m->nq);
      tb_data_free(d);
      tb_model_free(own);
    }
    assert_true(b->qpos[1 * m->nq + 2] > b->qpos[2] + 0.04);
    assert_true(b->qpos[2 * m->nq + 9] < b->qpos[9] - 0.04);
    assert_true(b->qpos[3 * m->nq + 2] > b->qpos[2] + 0.02);
    // Back to the values of the model, every world is the same.
    for (int w = 0; w < 4; w++) {
      size_t n = 3 * (size_t)m->ngeom, real = sizeof(tbReal);
      memcpy(size + (size_t)w * n, m->geom_size, n * real);
      memcpy(place + (size_t)w * n, m->geom_pos, n * real);
      memcpy(data + w * 9, m->hfield_data, 9 * real);
      memcpy(margin + w * m->ngeom, m->geom_margin, (size_t)m->ngeom * real);
    }
    assert_int_equal(tb_batch_reset(b, NULL, -1), TB_OK);
    assert_int_equal(tb_batch_step(b, 50), TB_OK);
    for (int w = 1; w < 4; w++) {
      assert_memory_equal(b->qpos + w * m->nq, b->qpos, sizeof(tbReal) * (size_t)m->nq);
    }
    tb_batch_free(b);
    tb_model_free(m);
  }
}

// Small balls thrown at a wall: which contacts have rows depends on the sizes of all geoms.
static void grains_differ_by_world(void** state) {
  (void)state;
  tbError error;
  tbModel* m = tb_load_string(
      "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='1 1 .1'/>"
      "<geom type='box' size='.01 .3 .3' pos='.2 0 .3'/><body pos='0 0 .1'><freejoint/>"
      "<geom size='.015'/></body><body pos='.05 0 .1'><freejoint/><geom size='.015'/></body>"
      "<body pos='-.1 0 .1'><freejoint/><geom type='box' size='.01 .01 .01'/></body>"
      "</worldbody></mujoco>",
      NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  tbBatch* b = batch_of(m, 4, 1);
  tbReal* size = tb_batch_expand(b, "geom_size");
  static const tbReal RADIUS[4] = {0.015, 0.1, 0.001, 0.004};
  for (int w = 0; w < 4; w++) {
    size[(w * m->ngeom + 2) * 3] = size[(w * m->ngeom + 3) * 3] = RADIUS[w];
    for (int k = 0; k < 3; k++) size[(w * m->ngeom + 4) * 3 + k] = 0.2 * RADIUS[w];
    for (int i = 0; i < 3; i++) b->qvel[w * m->nv + 6 * i] = 3 + i;
  }
  for (int i = 0; i < 120; i++) {
    if (tb_batch_step(b, 1) != TB_OK) fail_msg("%s", b->message);
  }
  for (int w = 0; w < 4; w++) {
    tbModel* own = tb_model_copy(m);
    assert_int_equal(tb_batch_get_model(b, w, own), TB_OK);
    tbData* d = tb_data_new(own);
    for (int i = 0; i < 3; i++) d->qvel[6 * i] = 3 + i;
    for (int i = 0; i < 120; i++) assert_int_equal(tb_step(own, d), TB_OK);
    assert_memory_equal(b->qpos + w * m->nq, d->qpos, sizeof(tbReal) * (size_t)m->nq);
    if (w == 3) {
      // Lengths that a law has measured on a model are valid only for the world stepped last by
      // that worker.
      const tbStepState* last = b->state->worker[0].data->work->step;
      assert_true(tb_rigid_state(m, last)->most_margin == tb_most_margin(own));
      assert_true(tb_most_margin(own) != tb_most_margin(m));
    }
    tb_data_free(d);
    tb_model_free(own);
  }
  tb_batch_free(b);
  tb_model_free(m);
}

static const char ARM[] =
    "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 .1'/><body name='arm' pos='0 0 "
    "1'><joint name='j' axis='0 1 0' limited='true' range='-60 60'/><geom type='capsule' "
    "fromto='0 0 0 .3 0 0' size='.02'/></body><body pos='0 0 .05'><freejoint/><geom type='box' "
    "size='.05 .05 .05'/></body></worldbody><actuator><position joint='j' kp='5'/></actuator>"
    "</mujoco>";

static tbModel* load_arm(void) {
  tbError error;
  tbModel* m = tb_load_string(ARM, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

// Each option that may differ does; the law, too.
static void options_differ_by_world(void** state) {
  (void)state;
  tbModel* m = load_arm();
  tbBatch* b = batch_of(m, TB_STEP_LAW_COUNT, 2);
  int* law = tb_batch_expand(b, "opt.law");
  tbReal* gravity = tb_batch_expand(b, "opt.gravity");
  tbReal* timestep = tb_batch_expand(b, "opt.timestep");
  const char* type;
  int columns;
  assert_ptr_equal(tb_batch_field(b, "opt.law", &type, &columns), law);
  assert_string_equal(type, "int");
  assert_int_equal(columns, 1);
  for (int w = 0; w < TB_STEP_LAW_COUNT; w++) {
    law[w] = w;
    gravity[3 * w + 2] = -9 - w;
    timestep[w] = 0.001 * (1 + w % 3);
  }
  assert_int_equal(tb_batch_step(b, 40), TB_OK);
  for (int w = 0; w < TB_STEP_LAW_COUNT; w++) {
    m->opt.law = w;
    m->opt.gravity[2] = -9 - w;
    m->opt.timestep = 0.001 * (1 + w % 3);
    tbData* d = tb_data_new(m);
    for (int i = 0; i < 40; i++) assert_int_equal(tb_step(m, d), TB_OK);
    assert_memory_equal(b->qpos + w * m->nq, d->qpos, sizeof(tbReal) * (size_t)m->nq);
    assert_true(b->time[w] == d->time);
    tb_data_free(d);
  }
  tb_batch_free(b);
  tb_model_free(m);
}

// ---- whole models ------------------------------------------------------------------------------

static void a_model_goes_in_and_comes_out(void** state) {
  (void)state;
  tbModel* m = load_arm();
  tbBatch* b = batch_of(m, 3, 2);
  tbModel* own = tb_model_copy(m);
  tbError error;
  own->body_mass[1] *= 2;
  own->geom_friction[0] = 0.3;
  own->actuator_gainprm[0] = 7;
  own->opt.gravity[0] = 1;
  own->opt.threads = 4;
  assert_int_equal(tb_set_constants(own, &error), TB_OK);
  if (tb_batch_set_model(b, 1, own) != TB_OK) fail_msg("%s", b->message);
  tbModel* got = tb_model_copy(m);
  assert_int_equal(tb_batch_get_model(b, 1, got), TB_OK);
  own->opt.threads = m->opt.threads;
  assert_memory_equal(got->body_invweight0, own->body_invweight0, sizeof(tbReal) * 2 * 3);
  assert_memory_equal(&got->opt, &own->opt, sizeof own->opt);
  assert_true(got->total_mass == own->total_mass && got->geom_friction[0] == 0.3);
  assert_int_equal(tb_batch_step(b, 30), TB_OK);
  tbData* d = tb_data_new(own);
  for (int i = 0; i < 30; i++) assert_int_equal(tb_step(own, d), TB_OK);
  assert_memory_equal(b->qpos + m->nq, d->qpos, sizeof(tbReal) * (size_t)m->nq);
  assert_memory_equal(b->qpos, b->qpos + 2 * m->nq, sizeof(tbReal) * (size_t)m->nq);
  // Arrays that cannot differ between worlds are named in the error, as are models and worlds that
  // do not fit.
  own->geom_condim[0] = 1;
  assert_int_equal(tb_batch_set_model(b, 1, own), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "geom_condim"));
  assert_int_equal(tb_batch_set_model(b, 3, own), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "world is 3"));
  assert_int_equal(tb_batch_get_model(b, -1, own), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_get_model(b, 0, NULL), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "model is NULL"));
  assert_int_equal(tb_batch_get_model(b, 0, (tbModel*)(uintptr_t)b->model), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_get_model(NULL, 0, own), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_set_model(NULL, 0, own), TB_ERROR_ARGUMENT);
  tbModel* other = tb_load_string("<mujoco/>", NULL, NULL, &error);
  assert_int_equal(tb_batch_get_model(b, 0, other), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "other sizes"));
  tb_model_free(other);
  tb_data_free(d);
  tb_model_free(own);
  tb_model_free(got);
  tb_batch_free(b);
  tb_model_free(m);
}

// ---- refused calls -----------------------------------------------------------------------------

static void names_that_cannot_be_expanded_say_why(void** state) {
  (void)state;
  static const struct {
    const char *name, *says;
  } CASES[] = {{"geom_fricton", "did you mean 'geom_friction'"},
               {"opt.gravty", "did you mean 'opt.gravity'"},
               {"gravity", "did you mean 'opt.gravity'"},
               {"zzzzzzzzzzzzzzzzz", "no array or option"},
               {"", "no array or option"},
               {"geom_type", "integers"},
               {"body_parentid", "integers"},
               {"mesh_vert", "meshes are shared"},
               {"hull_plane", "meshes are shared"},
               {"names", "structure"},
               {"body_invweight0", "tb_set_constants computes it"},
               {"opt.threads", "one thread"},
               {"opt.disableflags", "collision"},
               {NULL, "name is NULL"}};
  tbModel* m = load_arm();
  tbBatch* b = batch_of(m, 3, 1);
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    assert_null(tb_batch_expand(b, CASES[i].name));
    if (!strstr(b->message, CASES[i].says)) fail_msg("%s: %s", CASES[i].name, b->message);
  }
  assert_null(tb_batch_expand(NULL, "geom_friction"));
  // The same pointer again.
  assert_ptr_equal(tb_batch_expand(b, "geom_friction"), tb_batch_expand(b, "geom_friction"));
  tb_batch_free(b);
  // A limit that the arrays would exceed.
  tbError error;
  b = batch_of(m, 1000, 1);
  size_t held = tb_batch_memory(b);
  tb_batch_free(b);
  b = tb_batch_new(m, 1000, 1, held + 20000, &error);
  assert_null(tb_batch_expand(b, "body_pos"));
  assert_non_null(strstr(b->message, "the limit is"));
  tb_batch_free(b);
  tb_model_free(m);
}

// Values are refused by world, name and place; the others are stepped.
static void wrong_values_are_refused_by_world_and_name(void** state) {
  (void)state;
  static const struct {
    const char* name;
    int at;
    tbReal value;
    const char* says;
  } CASES[] = {{"body_mass", 1, -1, "body_mass[1] is -1, expected x >= 0"},
               {"body_mass", 1, NAN, "body_mass[1] is nan"},
               {"body_inertia", 5, INFINITY, "body_inertia[5] is inf"},
               {"geom_friction", 3, -0.5, "geom_friction[3] is -0.5"},
               {"geom_restitution", 0, 1.5, "geom_restitution[0] is 1.5"},
               {"geom_compliance", 1, -1, "geom_compliance[1]"},
               {"geom_size", 6, -0.05, "geom_size[6]"},
               {"body_quat", 4, 3, "body_quat[1] is not a unit quaternion"},
               {"jnt_axis", 1, 3, "jnt_axis[0] is not a unit vector"},
               {"qpos0", 4, 2, "qpos0[4]"},
               {"jnt_range", 0, NAN, "jnt_range[0] is nan"},
               {"actuator_gainprm", 0, NAN, "actuator_gainprm[0]"},
               {"dof_damping", 0, INFINITY, "dof_damping[0]"},
               {"opt.gravity", 2, NAN, "gravity"},
               {"opt.timestep", 0, -1, "timestep"},
               {"opt.law", 0, 99, "law"}};
  tbModel* m = load_arm();
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    tbBatch* b = batch_of(m, 4, 2);
    const char* type;
    int columns;
    void* rows = tb_batch_expand(b, CASES[i].name);
    if (!rows) fail_msg("%s", b->message);
    tb_batch_field(b, CASES[i].name, &type, &columns);
    tbReal* real = (tbReal*)rows + 2 * columns + CASES[i].at;
    int* integer = (int*)rows + 2 * columns + CASES[i].at;
    tbReal good = *type == 'i' ? *integer : *real;
    for (int again = 0; again < 2; again++) {
      *type == 'i' ? (void)(*integer = (int)CASES[i].value) : (void)(*real = CASES[i].value);
      assert_int_equal(tb_batch_step(b, 3), TB_ERROR_ARGUMENT);
      if (!strstr(b->message, "world 2: ") || !strstr(b->message, CASES[i].says)) {
        fail_msg("%s: %s", CASES[i].name, b->message);
      }
      assert_non_null(strstr(tb_batch_error(b, 2), CASES[i].says));
      assert_string_equal(tb_batch_error(b, 1), "");
      assert_int_equal(tb_batch_set_constants(b, NULL), TB_ERROR_ARGUMENT);
      assert_non_null(strstr(b->message, CASES[i].says));
      for (int w = 0; w < 4; w++) assert_int_equal(b->status[w] != TB_OK, w == 2);
      assert_true(b->time[2] == 0 && b->time[3] > 0);
    }
    *type == 'i' ? (void)(*integer = (int)good) : (void)(*real = good);
    assert_int_equal(tb_batch_step(b, 3), TB_OK);
    assert_int_equal(b->status[2], TB_OK);
    assert_string_equal(tb_batch_error(b, 2), "");
    tb_batch_free(b);
  }
  tb_model_free(m);
}

// An arm without inertia is refused by the derivation of constants, not by a value.
static void constants_that_cannot_be_derived_are_refused(void** state) {
  (void)state;
  tbModel* m = load_arm();
  tbBatch* b = batch_of(m, 2, 1);
  tbReal *mass = tb_batch_expand(b, "body_mass"), *inertia = tb_batch_expand(b, "body_inertia");
  mass[m->nbody + 1] = 0;
  for (int k = 0; k < 3; k++) inertia[3 * (m->nbody + 1) + k] = 0;
  assert_int_equal(tb_batch_step(b, 1), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "world 1: joint 0 'j'"));
  // The other world is as before, and this one again with its mass.
  mass[m->nbody + 1] = m->body_mass[1];
  memcpy(inertia + 3 * (m->nbody + 1), m->body_inertia + 3, 3 * sizeof(tbReal));
  assert_int_equal(tb_batch_reset(b, NULL, -1), TB_OK);
  assert_int_equal(tb_batch_step(b, 20), TB_OK);
  assert_memory_equal(b->qpos, b->qpos + m->nq, sizeof(tbReal) * (size_t)m->nq);
  // Derived constants can be read.
  mass[1] *= 2;
  assert_int_equal(tb_batch_set_constants(b, NULL), TB_OK);
  const tbReal* subtree = tb_batch_field(b, "body_subtreemass", NULL, NULL);
  assert_near(subtree[1], 2 * m->body_mass[1], 1e-14);
  assert_int_equal(tb_batch_set_constants(NULL, NULL), TB_ERROR_ARGUMENT);
  tb_batch_free(b);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_world_is_that_of_its_own_model),
      cmocka_unit_test(shapes_and_terrain_differ_by_world),
      cmocka_unit_test(grains_differ_by_world),
      cmocka_unit_test(options_differ_by_world),
      cmocka_unit_test(a_model_goes_in_and_comes_out),
      cmocka_unit_test(names_that_cannot_be_expanded_say_why),
      cmocka_unit_test(wrong_values_are_refused_by_world_and_name),
      cmocka_unit_test(constants_that_cannot_be_derived_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
