// Fields of the data by world: on request after calls, recorded by rollouts, evaluated at the
// present state; functions of the user.
#include "common/test.h"
#include "tribo/tribo.h"

enum { WORLDS = 3 };

#define BODIES                                                                                    \
  "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='2 2 .1' condim='4'/>"    \
  "<body pos='0 0 .05'><freejoint/><geom type='box' size='.05 .05 .05' mass='2'/>"                \
  "<site name='c'/></body><body pos='.02 .01 .15'><freejoint/><geom type='box' size='.04 .04 "    \
  ".05'/></body><body name='arm' pos='.3 0 .3'><joint name='j' axis='0 1 0' damping='.1'/><geom " \
  "type='capsule' fromto='0 0 0 .25 0 0' size='.02'/><site name='s' pos='.2 0 0'/></body>"        \
  "</worldbody><actuator><motor joint='j'/></actuator>"

static const char PLAIN[] = BODIES "</mujoco>";
// Sensors that have all fields computed.
static const char SENSED[] = BODIES
    "<sensor><force site='s'/><accelerometer site='s'/><subtreelinvel body='arm'/>"
    "<subtreeangmom body='arm'/></sensor></mujoco>";

static tbModel* load(const char* text, int law) {
  tbError error;
  tbModel* m = tb_load_string(text, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  m->opt.law = law;
  m->opt.enableflags |= TB_ENABLE_ENERGY;
  return m;
}

static tbBatch* batch_of(const tbModel* m, int nthread) {
  tbError error;
  tbBatch* b = tb_batch_new(m, WORLDS, nthread, 0, &error);
  if (!b) fail_msg("%s", error.message);
  for (int w = 0; w < WORLDS; w++) {
    b->ctrl[w] = 0.2 * w;
    b->qvel[w * m->nv] = 0.1 * w;
  }
  return b;
}

static tbData* alone(const tbModel* m, int w, int steps) {
  tbData* d = tb_data_new(m);
  d->ctrl[0] = 0.2 * w;
  d->qvel[0] = 0.1 * w;
  for (int i = 0; i < steps; i++) assert_int_equal(tb_step(m, d), TB_OK);
  return d;
}

static const char* const NAMES[] = {
#define X(type, name, rows, columns, unit, what) #name,
    TB_DATA_STATE(X) TB_DATA_INPUT(X) TB_DATA_DERIVED(X)
#undef X
};
enum { NFIELD = sizeof NAMES / sizeof *NAMES };

static bool is_scratch(const char* name) {
  return strncmp(name, "scratch_", 8) == 0;
}

// Every field is that of a world alone, with one worker that serves all worlds. The sensors of the
// world alone have its momenta, accelerations and reactions computed; the batch has no sensor.
static void requested_fields_are_those_of_a_world_alone(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbModel *m = load(PLAIN, law), *sensed = load(SENSED, law);
    tbBatch* b = batch_of(m, 1);
    void* rows[NFIELD];
    for (int f = 0; f < NFIELD; f++) {
      rows[f] = tb_batch_request(b, NAMES[f]);
      if (is_scratch(NAMES[f]) != !rows[f]) fail_msg("%s", NAMES[f]);
    }
    tbReal *energy = tb_batch_request(b, "energy"), *residual = tb_batch_request(b, "residual");
    assert_ptr_equal(tb_batch_request(b, "ncon"), b->ncon);
    assert_ptr_equal(tb_batch_request(b, "qpos"), b->qpos);
    assert_ptr_equal(tb_batch_request(b, "xpos"), tb_batch_field(b, "xpos", NULL, NULL));
    for (int evaluated = 0; evaluated < 2; evaluated++) {
      if (!evaluated && tb_batch_step(b, 30) != TB_OK) fail_msg("%s", b->message);
      if (evaluated) assert_int_equal(tb_batch_forward(b, NULL, TB_FORWARD_FORCE), TB_OK);
      for (int w = 0; w < WORLDS; w++) {
        tbData* d = alone(sensed, w, 30);
        if (evaluated) assert_int_equal(tb_forward(sensed, d), TB_OK);
        for (int f = 0; f < NFIELD; f++) {
          const char* type;
          int nrow, ncolumn, columns;
          if (is_scratch(NAMES[f]) || strcmp(NAMES[f], "sensordata") == 0) continue;
          if (strncmp(NAMES[f], "qLD", 3) == 0) tb_factor_m(sensed, d);
          const void* value = tb_data_field(sensed, d, NAMES[f], &type, &nrow, &ncolumn);
          assert_ptr_equal(tb_batch_field(b, NAMES[f], NULL, &columns), rows[f]);
          assert_int_equal(columns, nrow * ncolumn);
          size_t bytes = (size_t)columns * (*type == 'i' ? sizeof(int) : sizeof(tbReal));
          if (memcmp((char*)rows[f] + (size_t)w * bytes, value, bytes) != 0) {
            fail_msg("%s of world %d under %s", NAMES[f], w, tb_step_law_name(law));
          }
        }
        assert_memory_equal(energy + 2 * w, d->energy, sizeof d->energy);
        assert_memory_equal(residual + w, &d->solve.residual.relative, sizeof(tbReal));
        tb_data_free(d);
      }
    }
    tb_batch_free(b);
    tb_model_free(m);
    tb_model_free(sensed);
  }
}

// The floor carries both boxes, the lower box carries the upper one, and every contact acts on two
// bodies.
static void contact_wrenches_carry_the_weight(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbModel* m = load(PLAIN, law);
    tbError error;
    tbBatch* b = tb_batch_new(m, WORLDS, 2, 0, &error);
    tbReal* wrench = tb_batch_request(b, "body_contact_wrench");
    assert_non_null(wrench);
    assert_int_equal(tb_batch_step(b, 1000), TB_OK);
    tbReal g = 9.81, upper = g * m->body_mass[2], lower = g * m->body_mass[1];
    for (int w = 0; w < WORLDS; w++) {
      const tbReal* row = wrench + (size_t)w * 6 * (size_t)m->nbody;
      assert_near(row[2], -(upper + lower), 1e-3);
      assert_near(row[6 + 2], lower, 1e-3);
      assert_near(row[12 + 2], upper, 1e-3);
      assert_near(row[18 + 2], 0, 1e-9);
      for (int k = 0; k < 3; k++)
        assert_near(row[k] + row[6 + k] + row[12 + k] + row[18 + k], 0, 1e-9);
      // At rest no torque is left about the centre of mass.
      for (int k = 3; k < 6; k++) {
        assert_near(row[6 + k], 0, 1e-3);
        assert_near(row[12 + k], 0, 1e-3);
      }
    }
    tb_batch_free(b);
    tb_model_free(m);
  }
}

// Evaluations between steps change no bit of them; the first stage leaves forces alone.
static void evaluations_do_not_disturb(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbModel* m = load(PLAIN, law);
    m->opt.sleep = 1;
    tbBatch *b = batch_of(m, 2), *untouched = batch_of(m, 1);
    tbReal *xpos = tb_batch_request(b, "xpos"), *qacc = tb_batch_request(b, "qacc");
    for (int i = 0; i < 40; i++) {
      assert_int_equal(tb_batch_step(b, 5), TB_OK);
      assert_int_equal(tb_batch_step(untouched, 5), TB_OK);
      tbReal kept = qacc[2];
      tbReal residual = b->residual_exact[0];
      assert_int_equal(tb_batch_forward(b, NULL, TB_FORWARD_VELOCITY), TB_OK);
      assert_true(qacc[2] == kept);
      assert_memory_equal(&b->residual_exact[0], &residual, sizeof residual);
      // Body 1 has a free joint: its frame is its configuration.
      for (int k = 0; k < 3; k++) assert_true(xpos[3 + k] == b->qpos[k]);
      const unsigned char mask[WORLDS] = {1, 0, 1};
      assert_int_equal(tb_batch_forward(b, mask, TB_FORWARD_FORCE), TB_OK);
    }
    assert_memory_equal(b->qpos, untouched->qpos, sizeof(tbReal) * (size_t)(WORLDS * m->nq));
    assert_memory_equal(b->qvel, untouched->qvel, sizeof(tbReal) * (size_t)(WORLDS * m->nv));
    assert_int_equal(tb_batch_forward(b, NULL, (tbForwardStage)7), TB_ERROR_ARGUMENT);
    assert_non_null(strstr(b->message, "stage is 7"));
    assert_int_equal(tb_batch_forward(NULL, NULL, TB_FORWARD_FORCE), TB_ERROR_ARGUMENT);
    tb_batch_free(b);
    tb_batch_free(untouched);
    tb_model_free(m);
  }
}

// Rollouts record the requested fields at every k-th step, for the worlds of their mask, with all
// inputs as sequences.
static void rollouts_record_chosen_fields(void** state) {
  (void)state;
  enum { STEPS = 23, EVERY = 5, ROWS = STEPS / EVERY };
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbModel *m = load(PLAIN, law), *sensed = load(SENSED, law);
    tbBatch* b = batch_of(m, 2);
    size_t nv = (size_t)m->nv, body6 = 6 * (size_t)m->nbody, real = sizeof(tbReal);
    tbReal* ctrl = calloc(WORLDS * STEPS, real);
    tbReal* push = calloc(WORLDS * STEPS * nv, real);
    tbReal* wrench = calloc(WORLDS * STEPS * body6, real);
    tbRng rng = {7};
    for (int i = 0; i < WORLDS * STEPS; i++) {
      ctrl[i] = tb_rng_uniform(&rng, -1, 1);
      push[(size_t)i * nv] = tb_rng_uniform(&rng, -1, 1);
      wrench[(size_t)i * body6 + 8] = tb_rng_uniform(&rng, -1, 1);
    }
    tbReal* qacc = calloc(WORLDS * ROWS * nv, real);
    tbReal* cfrc = calloc(WORLDS * ROWS * body6, real);
    tbReal* time = calloc(WORLDS * ROWS, real);
    int* ncon = calloc(WORLDS * ROWS, sizeof(int));
    tbRecord record[] = {{"qacc", qacc}, {"cfrc_int", cfrc}, {"time", time}, {"ncon", ncon}};
    const unsigned char mask[WORLDS] = {1, 0, 1};
    tbRollout r = {.nstep = STEPS,
                   .mask = mask,
                   .ctrl = ctrl,
                   .qfrc_applied = push,
                   .xfrc_applied = wrench,
                   .record = record,
                   .nrecord = 4,
                   .every = EVERY};
    if (tb_batch_rollout(b, &r) != TB_OK) fail_msg("%s", b->message);
    for (int w = 0; w < WORLDS; w++) {
      if (!mask[w]) {
        assert_true(time[w * ROWS] == 0 && b->time[w] == 0);
        continue;
      }
      tbData* d = alone(sensed, w, 0);
      for (int i = 0; i < STEPS; i++) {
        size_t at = (size_t)(w * STEPS + i), row = (size_t)(w * ROWS + i / EVERY);
        d->ctrl[0] = ctrl[at];
        memcpy(d->qfrc_applied, push + at * nv, real * nv);
        memcpy(d->xfrc_applied, wrench + at * body6, real * body6);
        assert_int_equal(tb_step(sensed, d), TB_OK);
        if ((i + 1) % EVERY) continue;
        assert_memory_equal(qacc + row * nv, d->qacc, real * nv);
        assert_memory_equal(cfrc + row * body6, d->cfrc_int, real * body6);
        assert_true(time[row] == d->time && ncon[row] == d->ncon);
      }
      tb_data_free(d);
    }
    // A world that fails repeats its last good row.
    ctrl[2 * STEPS + 2 * EVERY] = NAN;
    assert_int_equal(tb_batch_rollout(b, &r), TB_ERROR_NUMERIC);
    const tbReal* last = qacc + (2 * ROWS + 1) * nv;
    assert_memory_equal(last, last + nv, real * nv);
    assert_memory_equal(last, last + 2 * nv, real * nv);
    assert_memory_equal(b->message, "world 2", 7);
    // Wrong arguments are named.
    record[1].field = "cfrc_itn";
    assert_int_equal(tb_batch_rollout(b, &r), TB_ERROR_ARGUMENT);
    assert_non_null(
        strstr(b->message, "record[1]: no field is called 'cfrc_itn', did you mean 'cfrc_int'"));
    record[1] = (tbRecord){"cfrc_int", NULL};
    assert_int_equal(tb_batch_rollout(b, &r), TB_ERROR_ARGUMENT);
    assert_non_null(strstr(b->message, "record[1].out is NULL"));
    r.every = -1;
    assert_int_equal(tb_batch_rollout(b, &r), TB_ERROR_ARGUMENT);
    r.every = 0;
    r.nrecord = -2;
    assert_int_equal(tb_batch_rollout(b, &r), TB_ERROR_ARGUMENT);
    assert_non_null(strstr(b->message, "nrecord is -2"));
    r.nrecord = 1;
    r.record = NULL;
    assert_int_equal(tb_batch_rollout(b, &r), TB_ERROR_ARGUMENT);
    free(ctrl);
    free(push);
    free(wrench);
    free(qacc);
    free(cfrc);
    free(time);
    free(ncon);
    tb_batch_free(b);
    tb_model_free(m);
    tb_model_free(sensed);
  }
}

static void unknown_fields_are_refused_with_the_nearest(void** state) {
  (void)state;
  tbModel* m = load(PLAIN, TB_LAW_NCP);
  tbBatch* b = batch_of(m, 1);
  assert_null(tb_batch_request(b, "xposs"));
  assert_non_null(strstr(b->message, "'xposs', did you mean 'xpos'?"));
  assert_null(tb_batch_request(b, "body_contact_wrenches"));
  assert_non_null(strstr(b->message, "'body_contact_wrench'"));
  assert_null(tb_batch_request(b, "scratch_nv"));
  assert_null(tb_batch_request(b, "qqqqqqqqqqqqqqqqq"));
  assert_null(strstr(b->message, "mean"));
  assert_null(tb_batch_request(b, NULL));
  assert_non_null(strstr(b->message, "name is NULL"));
  assert_null(tb_batch_request(NULL, "xpos"));
  tb_batch_free(b);
  tbError error;
  b = tb_batch_new(m, WORLDS, 1, 0, &error);
  size_t held = tb_batch_memory(b);
  tb_batch_free(b);
  b = tb_batch_new(m, WORLDS, 1, held + 100, &error);
  assert_null(tb_batch_request(b, "xpos"));
  assert_non_null(strstr(b->message, "the limit is"));
  tb_batch_free(b);
  tb_model_free(m);
}

// ---- functions of the user ---------------------------------------------------------------------

// The Jacobian of the arm's centre of mass at the present state; moves the world, too.
static tbResult jacobian(const tbModel* m, tbData* d, int world, void* argument) {
  tbReal* jac = (tbReal*)argument + (size_t)world * 3 * (size_t)m->nv;
  tbResult result = tb_forward(m, d);
  if (result != TB_OK) return result;
  tb_jac_body_com(m, d, 3, jac, NULL);
  d->qpos[0] += 1;
  d->ctrl[0] = 5;
  for (int i = 0; i < 3; i++) {
    result = tb_step(m, d);
    if (result != TB_OK) return result;
  }
  return TB_OK;
}

static tbResult fails(const tbModel* m, tbData* d, int world, void* argument) {
  (void)m, (void)argument;
  d->qpos[0] = 99;
  return world == 1 ? TB_ERROR_NUMERIC : TB_OK;
}

static void functions_are_applied_to_worlds(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbModel* m = load(SENSED, law);
    tbBatch *b = batch_of(m, 2), *untouched = batch_of(m, 1);
    size_t nq = (size_t)m->nq, nv = (size_t)m->nv, real = sizeof(tbReal);
    assert_int_equal(tb_batch_step(b, 20), TB_OK);
    assert_int_equal(tb_batch_step(untouched, 20), TB_OK);
    tbReal* jac = calloc(WORLDS * 3 * nv, real);
    assert_int_equal(tb_batch_apply(b, NULL, jacobian, jac, 0), TB_OK);
    assert_memory_equal(b->qpos, untouched->qpos, WORLDS * nq * real);
    assert_memory_equal(b->sensordata, untouched->sensordata,
                        WORLDS * (size_t)m->nsensordata * real);
    assert_true(b->ctrl[0] == untouched->ctrl[0] && b->time[1] == untouched->time[1]);
    assert_int_equal(tb_batch_step(b, 20), TB_OK);
    assert_int_equal(tb_batch_step(untouched, 20), TB_OK);
    assert_memory_equal(b->qpos, untouched->qpos, WORLDS * nq * real);
    for (int w = 0; w < WORLDS; w++) {
      tbReal expected[64];
      tbData* d = alone(m, w, 20);
      assert_int_equal(tb_forward(m, d), TB_OK);
      tb_jac_body_com(m, d, 3, expected, NULL);
      assert_memory_equal(jac + (size_t)w * 3 * nv, expected, 3 * nv * real);
      tb_data_free(d);
    }
    // Kept: as the function on a world alone. Where it fails the world stays as it was.
    const unsigned char mask[WORLDS] = {1, 0, 0};
    assert_int_equal(tb_batch_apply(b, mask, jacobian, jac, 1), TB_OK);
    tbData* d = alone(m, 0, 40);
    assert_int_equal(jacobian(m, d, 0, jac), TB_OK);
    for (int i = 0; i < 10; i++) assert_int_equal(tb_step(m, d), TB_OK);
    assert_int_equal(tb_batch_step(b, 10), TB_OK);
    assert_memory_equal(b->qpos, d->qpos, nq * real);
    assert_int_equal(tb_batch_step(untouched, 10), TB_OK);
    assert_memory_equal(b->qpos + nq, untouched->qpos + nq, 2 * nq * real);
    assert_int_equal(tb_batch_apply(b, NULL, fails, NULL, 1), TB_ERROR_NUMERIC);
    assert_string_equal(b->message, "world 1: the function failed: numeric");
    for (size_t w = 0; w < WORLDS; w++) assert_true((b->qpos[w * nq] == 99) == (w != 1));
    assert_int_equal(b->status[1], TB_ERROR_NUMERIC);
    assert_int_equal(tb_batch_apply(b, NULL, NULL, NULL, 1), TB_ERROR_ARGUMENT);
    assert_int_equal(tb_batch_apply(NULL, NULL, fails, NULL, 1), TB_ERROR_ARGUMENT);
    free(jac);
    tb_data_free(d);
    tb_batch_free(b);
    tb_batch_free(untouched);
    tb_model_free(m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(requested_fields_are_those_of_a_world_alone),
      cmocka_unit_test(contact_wrenches_carry_the_weight),
      cmocka_unit_test(evaluations_do_not_disturb),
      cmocka_unit_test(rollouts_record_chosen_fields),
      cmocka_unit_test(unknown_fields_are_refused_with_the_nearest),
      cmocka_unit_test(functions_are_applied_to_worlds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
