// Worlds as a whole: cloned, gathered, reset by index, taken out and put back, as rows of states.
// Every copy continues with the bits of the world that was not touched.
#include "common/test.h"
#include "tribo/tribo.h"

enum { WORLDS = 4 };

// Contacts with anchors and warm starts, a limit, dry friction, an actuator with activation, a
// spatial tendon that may be slack, sensors, something that falls asleep.
static const char SCENE[] =
    "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='2 2 .1' condim='4'/>"
    "<body pos='0 0 .05'><freejoint/><geom type='box' size='.05 .05 .05' condim='6'/></body>"
    "<body pos='.02 .01 .17'><freejoint/><geom type='cylinder' size='.04 .05'/></body>"
    "<body pos='.8 0 .05'><freejoint/><geom type='box' size='.05 .05 .05'/></body>"
    "<body pos='.3 0 .3'><joint name='j' axis='0 1 0' range='-60 60' limited='true' "
    "frictionloss='.05' damping='.1'/><geom type='capsule' fromto='0 0 0 .25 0 0' size='.02'/>"
    "<site name='s' pos='.2 0 0'/></body><site name='t' pos='.3 0 .6'/></worldbody>"
    "<tendon><spatial name='string' limited='true' range='0 .35'><site site='s'/><site site='t'/>"
    "</spatial></tendon><actuator><general joint='j' dyntype='filter' dynprm='.1' gainprm='5'/>"
    "</actuator><sensor><jointpos joint='j'/><framepos objtype='site' objname='s'/></sensor>"
    "<keyframe><key qpos='0 0 .08 1 0 0 0 0 0 .2 1 0 0 0 .8 0 .06 1 0 0 0 .3'/></keyframe>"
    "</mujoco>";

static tbModel* load(int law) {
  tbError error;
  tbModel* m = tb_load_string(SCENE, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  m->opt.law = law;
  m->opt.sleep = 1;
  return m;
}

// A batch whose worlds differ in state and in the friction of their geoms, after some steps.
static tbBatch* running(const tbModel* m, int nthread, bool expanded) {
  tbError error;
  tbBatch* b = tb_batch_new(m, WORLDS, nthread, 0, &error);
  if (!b) fail_msg("%s", error.message);
  tbReal* friction = expanded ? tb_batch_expand(b, "geom_friction") : NULL;
  tbReal* mass = expanded ? tb_batch_expand(b, "body_mass") : NULL;
  for (int w = 0; w < WORLDS; w++) {
    tbRng rng = {(uint64_t)w + 3};
    for (int i = 0; i < 12; i++) b->qvel[w * m->nv + i] = tb_rng_uniform(&rng, -0.3, 0.3);
    b->ctrl[w] = 0.3 * w;
    if (!expanded) continue;
    friction[3 * w * m->ngeom] *= 1 - 0.2 * w;
    mass[w * m->nbody + 2] *= 1 + 0.1 * w;
  }
  for (int i = 0; i < 8; i++) {
    if (tb_batch_step(b, 20) != TB_OK) fail_msg("%s", b->message);
  }
  return b;
}

// World `w` of one batch and world `v` of the other have the same state.
static void assert_same(const tbBatch* a, int w, const tbBatch* b, int v) {
  const tbModel* m = a->model;
  size_t real = sizeof(tbReal), nq = (size_t)m->nq, nv = (size_t)m->nv;
  assert_memory_equal(a->qpos + (size_t)w * nq, b->qpos + (size_t)v * nq, real * nq);
  assert_memory_equal(a->qvel + (size_t)w * nv, b->qvel + (size_t)v * nv, real * nv);
  assert_memory_equal(a->act + w * m->na, b->act + v * m->na, real * (size_t)m->na);
  assert_true(a->time[w] == b->time[v]);
}

static void run(tbBatch* b, int steps) {
  for (int i = 0; i < steps; i++) {
    if (tb_batch_step(b, 1) != TB_OK) fail_msg("%s", b->message);
  }
}

static void a_clone_continues_as_its_source(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbModel* m = load(law);
    tbBatch *b = running(m, 2, true), *untouched = running(m, 1, true);
    tbReal* xpos = tb_batch_request(b, "xpos");
    assert_int_equal(tb_batch_forward(b, NULL, TB_FORWARD_FORCE), TB_OK);
    assert_int_equal(tb_batch_clone(b, 2, 0), TB_OK);
    // Results travel, too.
    assert_memory_equal(b->sensordata, b->sensordata + 2 * m->nsensordata,
                        sizeof(tbReal) * (size_t)m->nsensordata);
    assert_memory_equal(xpos, xpos + 6 * m->nbody, sizeof(tbReal) * 3 * (size_t)m->nbody);
    assert_int_equal(b->ncon[0], b->ncon[2]);
    run(b, 60);
    run(untouched, 60);
    assert_same(b, 0, untouched, 2);
    for (int w = 1; w < WORLDS; w++) assert_same(b, w, untouched, w);
    tb_batch_free(b);
    tb_batch_free(untouched);
    tb_model_free(m);
  }
}

static void gathered_worlds_continue_as_their_sources(void** state) {
  (void)state;
  static const int INDEX[3][WORLDS] = {{1, 2, 3, 0}, {3, 3, 0, 3}, {0, 1, 2, 3}};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbModel* m = load(law);
    for (int k = 0; k < 3; k++) {
      tbBatch *b = running(m, 3, true), *untouched = running(m, 1, true);
      assert_int_equal(tb_batch_gather(b, INDEX[k]), TB_OK);
      for (int w = 0; w < WORLDS; w++) assert_same(b, w, untouched, INDEX[k][w]);
      run(b, 40);
      run(untouched, 40);
      for (int w = 0; w < WORLDS; w++) assert_same(b, w, untouched, INDEX[k][w]);
      tb_batch_free(b);
      tb_batch_free(untouched);
    }
    tb_model_free(m);
  }
}

// Errors move with their worlds.
static void a_failed_world_is_gathered_with_its_error(void** state) {
  (void)state;
  tbModel* m = load(TB_LAW_NCP);
  tbBatch* b = running(m, 2, false);
  b->qvel[2 * m->nv + 1] = NAN;
  assert_int_equal(tb_batch_step(b, 1), TB_ERROR_NUMERIC);
  const int index[WORLDS] = {2, 1, 0, 2};
  assert_int_equal(tb_batch_gather(b, index), TB_OK);
  for (int w = 0; w < WORLDS; w++) {
    bool bad = index[w] == 2;
    assert_int_equal(b->status[w], bad ? TB_ERROR_NUMERIC : TB_OK);
    assert_true((strstr(tb_batch_error(b, w), "qvel") != NULL) == bad);
  }
  assert_int_equal(tb_batch_clone(b, 1, 0), TB_OK);
  assert_int_equal(b->status[0], TB_OK);
  assert_string_equal(tb_batch_error(b, 0), "");
  assert_int_equal(tb_batch_clone(b, 3, 0), TB_OK);
  assert_non_null(strstr(tb_batch_error(b, 0), "qvel"));
  assert_string_equal(tb_batch_error(b, -1), "");
  assert_string_equal(tb_batch_error(NULL, 0), "");
  tb_batch_free(b);
  tb_model_free(m);
}

static void states_are_rows_of_one_array(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbModel* m = load(law);
    tbBatch *b = running(m, 2, true), *untouched = running(m, 1, true);
    size_t size = tb_batch_state_size(b);
    assert_true(size > 0 && size % 8 == 0);
    unsigned char* rows = malloc(WORLDS * size);
    assert_int_equal(tb_batch_state_get(b, NULL, rows, size), TB_OK);
    // Reading changes nothing.
    run(b, 10);
    run(untouched, 10);
    for (int w = 0; w < WORLDS; w++) assert_same(b, w, untouched, w);
    // Back, run again, and again only some of them.
    assert_int_equal(tb_batch_state_set(b, NULL, rows, size), TB_OK);
    run(b, 10);
    for (int w = 0; w < WORLDS; w++) assert_same(b, w, untouched, w);
    const unsigned char mask[WORLDS] = {0, 1, 0, 1};
    assert_int_equal(tb_batch_state_set(b, mask, rows, size), TB_OK);
    for (int w = 0; w < WORLDS; w++) assert_true((b->time[w] < untouched->time[w]) == mask[w]);
    // A row is a snapshot, which a world alone loads.
    tbModel* own = tb_model_copy(m);
    assert_int_equal(tb_batch_get_model(b, 3, own), TB_OK);
    tbData* d = tb_data_new(own);
    assert_int_equal(tb_batch_get_world(b, 3, own, d), TB_OK);
    for (int i = 0; i < 10; i++) assert_int_equal(tb_step(own, d), TB_OK);
    assert_memory_equal(d->qpos, untouched->qpos + 3 * m->nq, sizeof(tbReal) * (size_t)m->nq);
    assert_memory_equal(d->qvel, untouched->qvel + 3 * m->nv, sizeof(tbReal) * (size_t)m->nv);
    // And back into another world that has the same model.
    assert_int_equal(tb_batch_set_model(b, 0, own), TB_OK);
    assert_int_equal(tb_batch_set_world(b, 0, own, d), TB_OK);
    run(b, 20);
    for (int i = 0; i < 20; i++) assert_int_equal(tb_step(own, d), TB_OK);
    assert_memory_equal(d->qpos, b->qpos, sizeof(tbReal) * (size_t)m->nq);
    tb_data_free(d);
    tb_model_free(own);
    free(rows);
    tb_batch_free(b);
    tb_batch_free(untouched);
    tb_model_free(m);
  }
}

// The memory of a law is copied with a world also while the model has another law.
static void copies_have_the_memory_of_every_law(void** state) {
  (void)state;
  static const int INDEX[WORLDS] = {1, 2, 3, 0};
  tbModel *m = load(TB_LAW_VISCOELASTIC), *still = load(TB_LAW_VISCOELASTIC);
  tbBatch *b = running(m, 2, false), *untouched = running(still, 1, false);
  m->opt.law = TB_LAW_NCP;
  assert_int_equal(tb_batch_gather(b, INDEX), TB_OK);
  assert_int_equal(tb_batch_clone(b, 3, 1), TB_OK);
  m->opt.law = TB_LAW_VISCOELASTIC;
  run(b, 20);
  run(untouched, 20);
  for (int w = 0; w < WORLDS; w++) assert_same(b, w, untouched, w == 1 ? 0 : INDEX[w]);
  tb_batch_free(b);
  tb_batch_free(untouched);
  tb_model_free(m);
  tb_model_free(still);
}

static void bad_rows_and_arguments_are_refused(void** state) {
  (void)state;
  tbModel* m = load(TB_LAW_VISCOELASTIC);
  tbBatch *b = running(m, 2, false), *untouched = running(m, 1, false);
  size_t size = tb_batch_state_size(b);
  unsigned char* rows = calloc(WORLDS, size + 8);
  assert_int_equal(tb_batch_state_get(b, NULL, rows, 64), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "world 0: size is 64"));
  assert_int_equal(tb_batch_state_get(b, NULL, NULL, size), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "rows is NULL"));
  assert_int_equal(tb_batch_state_set(b, NULL, NULL, size), TB_ERROR_ARGUMENT);
  // Rows may be longer than necessary.
  assert_int_equal(tb_batch_state_get(b, NULL, rows, size + 8), TB_OK);
  rows[1 * (size + 8) + 200] ^= 1;
  memset(rows + 2 * (size + 8), 0, size + 8);
  assert_int_equal(tb_batch_state_set(b, NULL, rows, size + 8), TB_ERROR_PARSE);
  assert_non_null(strstr(b->message, "world 1: its row: damaged snapshot"));
  assert_non_null(strstr(tb_batch_error(b, 2), "not a snapshot"));
  assert_int_equal(tb_batch_state_set(b, NULL, rows, 3), TB_ERROR_PARSE);
  // The worlds of bad rows are as they were.
  run(b, 10);
  run(untouched, 10);
  for (int w = 0; w < WORLDS; w++) assert_same(b, w, untouched, w);

  const int far[WORLDS] = {0, 1, 4, 0}, negative[WORLDS] = {-1, 0, 0, 0};
  assert_int_equal(tb_batch_gather(b, far), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "index[2] is 4, expected 0 to 3"));
  assert_int_equal(tb_batch_gather(b, negative), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_gather(b, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_gather(NULL, far), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_clone(b, 4, 0), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "from is 4"));
  assert_int_equal(tb_batch_clone(b, 0, -1), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "to is -1"));
  assert_int_equal(tb_batch_clone(NULL, 0, 0), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_state_size(NULL), 0);
  assert_int_equal(tb_batch_state_get(NULL, NULL, rows, size), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_state_set(NULL, NULL, rows, size), TB_ERROR_ARGUMENT);

  tbData* d = tb_data_new(m);
  tbError error;
  tbModel* other = tb_load_string("<mujoco/>", NULL, NULL, &error);
  tbData* strange = tb_data_new(other);
  assert_int_equal(tb_batch_get_world(b, 4, m, d), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_get_world(b, 0, NULL, d), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_get_world(b, 0, m, NULL), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "data is NULL"));
  assert_int_equal(tb_batch_get_world(b, 0, m, strange), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "another model"));
  assert_int_equal(tb_batch_set_world(b, 0, other, strange), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "other sizes"));
  assert_int_equal(tb_batch_set_world(NULL, 0, m, d), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_get_world(NULL, 0, m, d), TB_ERROR_ARGUMENT);
  tb_data_free(strange);
  tb_model_free(other);
  tb_data_free(d);
  free(rows);
  tb_batch_free(b);
  tb_batch_free(untouched);
  tb_model_free(m);
}

static void worlds_are_reset_by_index(void** state) {
  (void)state;
  tbModel* m = load(TB_LAW_COMFREE);
  tbBatch* b = running(m, 2, false);
  tbReal* qpos0 = tb_batch_expand(b, "qpos0");
  assert_non_null(qpos0);
  qpos0[3 * m->nq + 2] = 0.5;
  const int world[] = {3, 1}, key[] = {-1, 0};
  assert_int_equal(tb_batch_reset_worlds(b, world, 2, key), TB_OK);
  size_t row = sizeof(tbReal) * (size_t)m->nq;
  assert_memory_equal(b->qpos + m->nq, m->key_qpos, row);
  assert_memory_equal(b->qpos + 3 * m->nq, qpos0 + 3 * m->nq, row);
  for (int w = 0; w < WORLDS; w++) assert_true((b->time[w] == 0) == (w % 2 == 1));
  assert_int_equal(tb_batch_reset_worlds(b, world, 2, NULL), TB_OK);
  assert_memory_equal(b->qpos + m->nq, m->qpos0, row);
  assert_int_equal(tb_batch_reset_worlds(b, NULL, 0, NULL), TB_OK);
  // Nothing is reset where one argument is wrong.
  tbReal time = b->time[0];
  const int wrong[] = {0, 4}, nokey[] = {0, 1};
  assert_int_equal(tb_batch_reset_worlds(b, wrong, 2, NULL), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "world is 4"));
  assert_int_equal(tb_batch_reset_worlds(b, world, 2, nokey), TB_ERROR_ARGUMENT);
  assert_non_null(strstr(b->message, "no keyframe 1"));
  assert_int_equal(tb_batch_reset_worlds(b, NULL, 2, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_reset_worlds(b, world, -1, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_reset_worlds(NULL, world, 2, NULL), TB_ERROR_ARGUMENT);
  assert_true(b->time[0] == time);
  tb_batch_free(b);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_clone_continues_as_its_source),
      cmocka_unit_test(gathered_worlds_continue_as_their_sources),
      cmocka_unit_test(a_failed_world_is_gathered_with_its_error),
      cmocka_unit_test(states_are_rows_of_one_array),
      cmocka_unit_test(copies_have_the_memory_of_every_law),
      cmocka_unit_test(bad_rows_and_arguments_are_refused),
      cmocka_unit_test(worlds_are_reset_by_index),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
