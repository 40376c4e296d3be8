// Guarantees of a step: no allocation when warm, exact snapshots, unchanged states on failure.
#include "common/worlds.h"
#include "tribo/tribo.h"

static tbModel* load_scene(const char* name) {
  char path[1024];
  tbError error;
  snprintf(path, sizeof path, "%s/%s", TB_SCENES_DIR, name);
  tbModel* m = tb_load(path, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  return m;
}

static void warm_steps_allocate_nothing(void** state) {
  (void)state;
  tbModel* m = load_scene("sliding_cube.xml");
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    m->opt.law = law;
    tbData* d = tb_data_new(m);
    tb_reset_keyframe(m, d, 0);
    for (int i = 0; i < 20; i++) assert_int_equal(tb_step(m, d), TB_OK);
    size_t warm = tb_step_allocations(d);
    for (int i = 0; i < 20; i++) assert_int_equal(tb_step(m, d), TB_OK);
    assert_int_equal(tb_step_allocations(d), warm);
    tb_data_free(d);
  }
  tb_model_free(m);
}

static void non_finite_input_leaves_the_state(void** state) {
  (void)state;
  tbModel* m = load_scene("stack.xml");
  tbData* d = tb_data_new(m);
  assert_int_equal(tb_step(m, d), TB_OK);
  int n = tb_state_size(m);
  tbReal* before = calloc((size_t)n, sizeof(tbReal));
  tbReal* after = calloc((size_t)n, sizeof(tbReal));
  tb_state_get(m, d, before);
  d->qfrc_applied[7] = NAN;
  assert_int_equal(tb_step(m, d), TB_ERROR_NUMERIC);
  assert_int_equal(d->status, TB_ERROR_NUMERIC);
  assert_non_null(strstr(d->message, "dof 7"));
  tb_state_get(m, d, after);
  assert_memory_equal(before, after, sizeof(tbReal) * (size_t)n);
  d->qfrc_applied[7] = 0;
  assert_int_equal(tb_step(m, d), TB_OK);
  d->qvel[3] = INFINITY;
  assert_int_equal(tb_step(m, d), TB_ERROR_NUMERIC);
  free(before);
  free(after);
  tb_data_free(d);
  tb_model_free(m);
}

static void refused(const tbModel* m, tbData* d, const char* option) {
  assert_int_equal(tb_step(m, d), TB_ERROR_ARGUMENT);
  if (!strstr(d->message, option)) fail_msg("%s: %s", option, d->message);
}

// Options written into the model without a check: NaN, out of range, no valid enumerator; in a
// whole step, and where they change between its halves.
static void options_without_a_meaning_are_refused(void** state) {
  (void)state;
  tbModel* m = load_scene("stack.xml");
  tbData* d = tb_data_new(m);
  const tbOption good = m->opt;
#define X(type, name, count, value, allowed, unit, what)              \
  for (int i = 0; i < 2 && sizeof #type != sizeof "int"; i++) {       \
    const tbReal bad = i ? INFINITY : NAN;                            \
    memcpy((char*)(&m->opt.name + 1) - sizeof bad, &bad, sizeof bad); \
    refused(m, d, #name);                                             \
    m->opt = good;                                                    \
  }
  TB_OPTION_FIELDS(X)
#undef X
#define REFUSED(name, value) m->opt.name = value, refused(m, d, #name), m->opt = good
  REFUSED(timestep, 0);
  REFUSED(timestep, -0.002);
  REFUSED(baumgarte, 2);
  REFUSED(law, -1);
  REFUSED(law, TB_STEP_LAW_COUNT);
  REFUSED(integrator, -1);
  REFUSED(integrator, TB_INTEGRATOR_EULER_IMPLICIT + 1);
  REFUSED(solver, TB_SOLVER_COUNT);
  REFUSED(cone, 2);
  REFUSED(mjsolver, 3);
  REFUSED(threads, -1);
  REFUSED(expm_order, 99);
  REFUSED(comfree_facets, 1);
#undef REFUSED
  assert_int_equal(tb_step1(m, d), TB_OK);
  m->opt.baumgarte = NAN;
  assert_int_equal(tb_step2(m, d), TB_ERROR_ARGUMENT);
  m->opt = good;
  assert_true(d->time == 0);
  assert_int_equal(tb_step(m, d), TB_OK);
  tb_data_free(d);
  tb_model_free(m);
}

// Parameters of contacts that a program wrote, where the law uses them.
static void contacts_without_a_meaning_are_refused(void** state) {
  (void)state;
  tbWorld w = tb_world_text(
      "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/><body pos='0 0 .1'>"
      "<freejoint/><geom name='ball' size='.1'/></body><body pos='1 0 .1'><freejoint/>"
      "<geom name='paired' size='.1'/></body></worldbody><contact><pair geom1='floor' "
      "geom2='paired'/></contact></mujoco>");
  enum { OF_ALL = 9 };
  const struct {
    tbReal* value;
    const char* what;
  } CASES[] = {{&w.m->geom_friction[0], "friction"},       {&w.m->geom_friction[3 + 2], "friction"},
               {&w.m->geom_restitution[1], "restitution"}, {&w.m->geom_compliance[0], "compliance"},
               {&w.m->geom_contactdamping[1], "damping"},  {&w.m->pair_friction[3], "friction"},
               {&w.m->geom_margin[1], "margin"},           {&w.m->pair_compliance[0], "compliance"},
               {&w.m->pair_margin[0], "margin"},           {&w.m->pair_comfree[1], "comfree"},
               {&w.m->geom_solref[1], "solref"},           {&w.m->geom_solimp[TB_NIMP], "solref"}};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    w.m->opt.law = law;
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
      if (k >= OF_ALL && law < TB_LAW_COUNT) continue;
      tbReal kept = *CASES[k].value, before = w.d->qpos[2];
      *CASES[k].value = NAN;
      assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
      if (!strstr(w.d->message, CASES[k].what)) fail_msg("%s", w.d->message);
      assert_non_null(strstr(w.d->message, "'floor'"));
      assert_near(w.d->qpos[2], before, 0);
      *CASES[k].value = kept;
    }
    w.m->geom_condim[1] = 7;
    assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
    assert_non_null(strstr(w.d->message, "condim"));
    w.m->geom_condim[1] = 3;

    // Springs that pull and dampers that push: a ball would fall through the floor, or gain energy.
    w.m->geom_compliance[0] = -1e-4;
    assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
    assert_non_null(strstr(w.d->message, "compliance is negative"));
    w.m->geom_compliance[0] = 1e-4;
    w.m->geom_contactdamping[1] = -20;
    assert_int_equal(tb_step(w.m, w.d), TB_ERROR_NUMERIC);
    assert_non_null(strstr(w.d->message, "damping is negative"));
    w.m->geom_compliance[0] = w.m->geom_contactdamping[1] = 0;
    assert_int_equal(tb_step(w.m, w.d), TB_OK);
  }
  tb_world_free(w);
}

// A world stays with its robot, at its first step and later; a copy of the model is as good as the
// model.
static void worlds_of_other_models_are_refused(void** state) {
  (void)state;
  tbModel *m = load_scene("stack.xml"), *other = load_scene("humanoid.xml"), *same;
  tbData* d = tb_data_new(m);
  assert_non_null(same = tb_model_copy(m));
  for (int k = 0; k < 2; k++) {
    assert_int_equal(tb_step(other, d), TB_ERROR_ARGUMENT);
    assert_non_null(strstr(d->message, "another model"));
    tbReal height = d->qpos[2];
    tb_reset(other, d);
    assert_true(d->qpos[2] == height);
    assert_null(tb_data_copy(other, d));
    assert_int_equal(tb_snapshot_size(other, d), 0);
    assert_int_equal(tb_step(m, d), TB_OK);
    assert_int_equal(tb_step1(same, d), TB_OK);
    assert_int_equal(tb_step2(other, d), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_step(same, d), TB_OK);
  }
  tb_data_free(d);
  tb_model_free(m);
  tb_model_free(other);
  tb_model_free(same);
}

// Functions that no step waits for take NULL for an answer.
static void null_is_refused(void** state) {
  (void)state;
  tbModel* m = load_scene("stack.xml");
  tbData* d = tb_data_new(m);
  tbReal x[1] = {0};
  tb_reset(NULL, d);
  tb_reset(m, NULL);
  tb_state_get(m, d, NULL);
  tb_state_set(m, d, NULL);
  assert_int_equal(tb_state_size(NULL), 0);
  assert_int_equal(tb_step_allocations(NULL), 0);
  assert_int_equal(tb_solve_work_allocations(NULL), 0);
  assert_int_equal(tb_solve_work_bytes(NULL), 0);
  assert_int_equal(tb_control_work_allocations(NULL), 0);
  assert_int_equal(tb_feedback_count(NULL), 0);
  tb_solve_work_limit(NULL, 1);
  assert_int_equal(tb_law_find(NULL), TB_LAW_COUNT);
  assert_int_equal(tb_problem_velocity(NULL, x, x, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_solve_settings_set(NULL, "tol", "1", NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_qp_solve(NULL, 1, x, x, NULL, NULL, NULL), TB_ERROR_ARGUMENT);
  tb_data_free(d);
  tb_model_free(m);
}

static void two_halves_are_a_step(void** state) {
  (void)state;
  tbModel* m = load_scene("sliding_cube.xml");
  tbData *a = tb_data_new(m), *b = tb_data_new(m);
  tb_reset_keyframe(m, a, 0);
  tb_reset_keyframe(m, b, 0);
  for (int i = 0; i < 50; i++) {
    assert_int_equal(tb_step(m, a), TB_OK);
    assert_int_equal(tb_step1(m, b), TB_OK);
    assert_int_equal(tb_step2(m, b), TB_OK);
    assert_memory_equal(a->qpos, b->qpos, sizeof(tbReal) * (size_t)m->nq);
    assert_memory_equal(a->qvel, b->qvel, sizeof(tbReal) * (size_t)m->nv);
  }
  // Another state between them asks for the first one again.
  tbReal* other = calloc((size_t)tb_state_size(m), sizeof *other);
  tb_state_get(m, a, other);
  assert_int_equal(tb_step1(m, b), TB_OK);
  tb_state_set(m, b, other);
  assert_int_equal(tb_step2(m, b), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_step1(m, b), TB_OK);
  assert_int_equal(tb_step2(m, b), TB_OK);
  free(other);
  tb_data_free(a);
  tb_data_free(b);
  tb_model_free(m);
}

// A whole step may leave the factor of M undone; solves know. The acceleration without constraints
// is the step's own where nothing constrains it. Of every law; in copies too.
static void solves_after_a_step_are_of_its_m(void** state) {
  (void)state;
  enum { MOST = 64 };
  tbModel* m = load_scene("quadruped.xml");
  assert_true(m->nv <= MOST);
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    m->opt.law = law;
    tbData* d = tb_data_new(m);
    d->qpos[2] += 5;
    for (int i = 0; i < m->nv; i++) d->qvel[i] = 0.5 + 0.1 * i;
    for (int step = 0; step < 3; step++) assert_int_equal(tb_step(m, d), TB_OK);
    assert_int_equal(d->ncon, 0);
    tbData* copy = tb_data_copy(m, d);
    for (int k = 0; k < 2; k++) {
      tbReal x[MOST], y[MOST], back[MOST];
      for (int i = 0; i < m->nv; i++) y[i] = 1 + i % 3;
      tb_solve_m(m, k ? d : copy, x, y, 1);
      tb_mul_m(m, d, back, x);
      assert_near_array(back, y, m->nv, 1e-9);
      tb_half_solve_m(m, d, back, y, 1);
      tbReal energy = 0, norm = 0;
      for (int i = 0; i < m->nv; i++) {
        energy += x[i] * y[i];
        norm += back[i] * back[i];
      }
      assert_near(energy, norm, 1e-9);
    }
    if (law < TB_LAW_COUNT) assert_near_array(d->qacc, d->qacc_smooth, m->nv, 1e-9);
    tb_data_free(copy);
    tb_data_free(d);
  }
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(warm_steps_allocate_nothing),
      cmocka_unit_test(non_finite_input_leaves_the_state),
      cmocka_unit_test(options_without_a_meaning_are_refused),
      cmocka_unit_test(contacts_without_a_meaning_are_refused),
      cmocka_unit_test(worlds_of_other_models_are_refused),
      cmocka_unit_test(null_is_refused),
      cmocka_unit_test(two_halves_are_a_step),
      cmocka_unit_test(solves_after_a_step_are_of_its_m),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
