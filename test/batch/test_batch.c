// Batches: every world gets the bits it gets alone, for every law; parameters, masks, rollouts,
// failures and memory.
#include <stdlib.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "common/test.h"
#include "tribo/tribo.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TB_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define TB_SANITIZED 1
#endif
#endif

// A pile with closed-form and iterative pairs, a limited and rubbing arm with an actuator, sensors.
static const char SCENE[] =
    "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='2 2 .1' condim='4'/>"
    "<body pos='0 0 .06'><freejoint/><geom type='box' size='.05 .05 .05' condim='6'/></body>"
    "<body pos='.02 .01 .17'><freejoint/><geom type='cylinder' size='.04 .05'/></body>"
    "<body pos='-.02 0 .3'><freejoint/><geom type='ellipsoid' size='.05 .04 .06'/></body>"
    "<body pos='.3 0 .3'><joint name='j' axis='0 1 0' range='-60 60' limited='true' "
    "frictionloss='.05' damping='.1'/><geom type='capsule' fromto='0 0 0 .25 0 0' size='.02'/>"
    "<body pos='.25 0 0'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 -.1 0 -.2' "
    "size='.02'/></body></body></worldbody><actuator><position joint='j' kp='5' kv='.1'/>"
    "</actuator><sensor><jointpos joint='j'/><jointvel joint='j'/></sensor><keyframe><key qpos='0 "
    "0 "
    ".08 1 0 0 0 0 0 .2 1 0 0 0 0 0 .35 1 0 0 0 .3 .1'/></keyframe></mujoco>";

static tbModel* load(int law) {
  tbError error;
  tbModel* m = tb_load_string(SCENE, NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  m->opt.law = law;
  return m;
}

static tbBatch* batch_of(const tbModel* m, int nworld, int nthread) {
  tbError error;
  tbBatch* b = tb_batch_new(m, nworld, nthread, 0, &error);
  if (!b) fail_msg("%s", error.message);
  return b;
}

static void perturb(const tbModel* m, tbRng* rng, tbReal* qvel) {
  for (int i = 0; i < m->nv; i++) qvel[i] = tb_rng_uniform(rng, -0.5, 0.5);
}

static void step_alone(const tbModel* m, tbData* d, int n) {
  for (int i = 0; i < n; i++) {
    if (tb_step(m, d) != TB_OK) fail_msg("%s", d->message);
  }
}

// Every law, one and three threads, controls that change, in calls of one and of several steps.
static void worlds_are_bit_identical_to_single_ones(void** state) {
  (void)state;
  enum { WORLDS = 4, ROUNDS = 6 };
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbModel* m = load(law);
    tbBatch* b[2] = {batch_of(m, WORLDS, 1), batch_of(m, WORLDS, 3)};
    tbData* alone[WORLDS];
    for (int w = 0; w < WORLDS; w++) {
      tbRng rng = {(uint64_t)w};
      alone[w] = tb_data_new(m);
      perturb(m, &rng, alone[w]->qvel);
      for (int i = 0; i < 2; i++) {
        memcpy(b[i]->qvel + w * m->nv, alone[w]->qvel, sizeof(tbReal) * (size_t)m->nv);
      }
    }
    for (int round = 0; round < ROUNDS; round++) {
      int nstep = 1 + round % 3 * 4;
      for (int w = 0; w < WORLDS; w++) {
        tbReal ctrl = 0.1 * w - 0.05 * round;
        alone[w]->ctrl[0] = b[0]->ctrl[w] = b[1]->ctrl[w] = ctrl;
        step_alone(m, alone[w], nstep);
      }
      for (int i = 0; i < 2; i++) {
        if (tb_batch_step(b[i], nstep) != TB_OK) fail_msg("%s", b[i]->message);
        for (int w = 0; w < WORLDS; w++) {
          const tbData* d = alone[w];
          size_t real = sizeof(tbReal);
          assert_memory_equal(b[i]->qpos + w * m->nq, d->qpos, real * (size_t)m->nq);
          assert_memory_equal(b[i]->qvel + w * m->nv, d->qvel, real * (size_t)m->nv);
          assert_memory_equal(b[i]->sensordata + w * m->nsensordata, d->sensordata,
                              real * (size_t)m->nsensordata);
          assert_true(b[i]->time[w] == d->time);
          assert_int_equal(b[i]->ncon[w], d->ncon);
          assert_true(b[i]->residual_exact[w] == d->solve.residual_exact.relative);
        }
      }
    }
    for (int w = 0; w < WORLDS; w++) tb_data_free(alone[w]);
    for (int i = 0; i < 2; i++) tb_batch_free(b[i]);
    tb_model_free(m);
  }
}

// Each world remembers which of its trees sleep.
static void worlds_sleep_and_wake_by_themselves(void** state) {
  (void)state;
  enum { WORLDS = 4 };
  tbError error;
  tbModel* m = tb_load_string(
      "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='2 2 .1'/><body pos='0 "
      "0 "
      ".05'><freejoint/><geom type='box' size='.05 .05 .05'/></body><body pos='.3 0 "
      ".05'><freejoint/>"
      "<geom type='box' size='.05 .05 .05'/></body></worldbody></mujoco>",
      NULL, NULL, &error);
  if (!m) fail_msg("%s", error.message);
  m->opt.sleep = 1;
  tbBatch* b = batch_of(m, WORLDS, 2);
  tbData* alone[WORLDS];
  for (int w = 0; w < WORLDS; w++) alone[w] = tb_data_new(m);
  int slept = 0;
  for (int round = 0; round < 30; round++) {
    for (int w = 0; w < WORLDS; w++) {
      // world w is pushed now and then
      tbReal push = round % 10 == 2 * w ? 20 : 0;
      b->qfrc_applied[w * m->nv] = alone[w]->qfrc_applied[0] = push;
      step_alone(m, alone[w], 10);
      slept += tb_tree_asleep(m, alone[w], 0) != tb_tree_asleep(m, alone[w], 1);
    }
    assert_int_equal(tb_batch_step(b, 10), TB_OK);
    for (int w = 0; w < WORLDS; w++) {
      assert_memory_equal(b->qpos + w * m->nq, alone[w]->qpos, sizeof(tbReal) * (size_t)m->nq);
    }
  }
  assert_true(slept > 0);
  for (int w = 0; w < WORLDS; w++) tb_data_free(alone[w]);
  tb_batch_free(b);
  tb_model_free(m);
}

// A world with parameters of its own is the world of a model with these parameters.
static void parameters_are_those_of_a_changed_model(void** state) {
  (void)state;
  const int laws[2] = {TB_LAW_COMFREE, TB_LAW_NCP};
  for (int l = 0; l < 2; l++) {
    tbModel* m = load(laws[l]);
    tbBatch* b = batch_of(m, 4, 2);
    tbReal* friction = tb_batch_expand(b, "opt.friction_scale");
    tbReal* stiffness = tb_batch_expand(b, "opt.comfree_stiffness");
    tbReal* damping = tb_batch_expand(b, "opt.comfree_damping");
    tbReal *mass = tb_batch_expand(b, "body_mass"), *inertia = tb_batch_expand(b, "body_inertia");
    friction[1] = 0.3;
    for (int i = 0; i < m->nbody; i++) mass[2 * m->nbody + i] *= 2.5;
    for (int i = 0; i < 3 * m->nbody; i++) inertia[6 * m->nbody + i] *= 2.5;
    stiffness[3] = 0.5;
    damping[3] = 0.004;
    for (int w = 0; w < 4; w++) {
      tbRng rng = {5};
      perturb(m, &rng, b->qvel + w * m->nv);
    }
    assert_int_equal(tb_batch_step(b, 120), TB_OK);
    for (int w = 0; w < 4; w++) {
      tbModel* own = tb_model_copy(m);
      tbError error;
      if (w == 1) own->opt.friction_scale = 0.3;
      if (w == 2) {
        for (int i = 0; i < m->nbody; i++) own->body_mass[i] *= 2.5;
        for (int i = 0; i < 3 * m->nbody; i++) own->body_inertia[i] *= 2.5;
        assert_int_equal(tb_set_constants(own, &error), TB_OK);
      }
      if (w == 3) {
        own->opt.comfree_stiffness = 0.5;
        own->opt.comfree_damping = 0.004;
      }
      tbData* d = tb_data_new(own);
      tbRng rng = {5};
      perturb(m, &rng, d->qvel);
      step_alone(own, d, 120);
      assert_memory_equal(b->qpos + w * m->nq, d->qpos, sizeof(tbReal) * (size_t)m->nq);
      // each parameter matters (the gains only to their law)
      bool differs = memcmp(b->qpos, b->qpos + w * m->nq, sizeof(tbReal) * (size_t)m->nq) != 0;
      assert_int_equal(differs, w > 0 && (w < 3 || laws[l] == TB_LAW_COMFREE));
      tb_data_free(d);
      tb_model_free(own);
    }
    // back to one, the world is an ordinary one again
    for (int w = 0; w < 4; w++) {
      friction[w] = 1;
      memcpy(mass + w * m->nbody, m->body_mass, sizeof(tbReal) * (size_t)m->nbody);
      memcpy(inertia + 3 * w * m->nbody, m->body_inertia, sizeof(tbReal) * 3 * (size_t)m->nbody);
      stiffness[w] = m->opt.comfree_stiffness;
      damping[w] = m->opt.comfree_damping;
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

static void reset_by_mask_touches_only_the_masked(void** state) {
  (void)state;
  tbModel* m = load(TB_LAW_COMFREE);
  tbBatch* b = batch_of(m, 5, 2);
  assert_int_equal(tb_batch_step(b, 20), TB_OK);
  tbReal* before = malloc(sizeof(tbReal) * (size_t)(5 * m->nq));
  memcpy(before, b->qpos, sizeof(tbReal) * (size_t)(5 * m->nq));
  const unsigned char mask[5] = {0, 1, 0, 0, 1};
  assert_int_equal(tb_batch_reset(b, mask, 0), TB_OK);
  for (int w = 0; w < 5; w++) {
    const tbReal* expected = mask[w] ? m->key_qpos : before + w * m->nq;
    assert_memory_equal(b->qpos + w * m->nq, expected, sizeof(tbReal) * (size_t)m->nq);
    assert_true((b->time[w] == 0) == mask[w]);
  }
  // a world that was reset is a new one
  tbData* d = tb_data_new(m);
  tb_reset_keyframe(m, d, 0);
  step_alone(m, d, 30);
  assert_int_equal(tb_batch_step(b, 30), TB_OK);
  assert_memory_equal(b->qpos + m->nq, d->qpos, sizeof(tbReal) * (size_t)m->nq);
  assert_int_equal(tb_batch_reset(b, NULL, 1), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_reset(b, NULL, -2), TB_ERROR_ARGUMENT);
  free(before);
  tb_data_free(d);
  tb_batch_free(b);
  tb_model_free(m);
}

// Rollouts: as stepping one by one, and a function of their arguments only.
static void rollouts_are_trajectories(void** state) {
  (void)state;
  enum { WORLDS = 6, STEPS = 25 };
  tbModel* m = load(TB_LAW_COMFREE);
  size_t nq = (size_t)m->nq, nv = (size_t)m->nv, real = sizeof(tbReal);
  tbBatch* b = batch_of(m, WORLDS, 2);
  tbReal* qpos = malloc(real * WORLDS * nq);
  tbReal* qvel = malloc(real * WORLDS * nv);
  tbReal ctrl[WORLDS * STEPS];
  tbReal* out = malloc(real * WORLDS * STEPS * (nq + nv + 2));
  tbRng rng = {11};
  for (int w = 0; w < WORLDS; w++) {
    memcpy(qpos + (size_t)w * nq, m->key_qpos, real * nq);
    perturb(m, &rng, qvel + (size_t)w * nv);
  }
  for (int i = 0; i < WORLDS * STEPS; i++) ctrl[i] = tb_rng_uniform(&rng, -1, 1);
  tbReal *qvel_out = out + WORLDS * STEPS * nq, *sensors_out = qvel_out + WORLDS * STEPS * nv;
  const tbRecord record[] = {{"qpos", out}, {"qvel", qvel_out}, {"sensordata", sensors_out}};
  tbRollout r = {
      .nstep = STEPS, .qpos = qpos, .qvel = qvel, .ctrl = ctrl, .record = record, .nrecord = 3};
  for (int repeat = 0; repeat < 2; repeat++) {
    assert_int_equal(tb_batch_rollout(b, &r), TB_OK);
    for (int w = 0; w < WORLDS; w++) {
      tbData* d = tb_data_new(m);
      memcpy(d->qpos, qpos + (size_t)w * nq, real * nq);
      memcpy(d->qvel, qvel + (size_t)w * nv, real * nv);
      for (int i = 0; i < STEPS; i++) {
        size_t at = (size_t)(w * STEPS + i);
        d->ctrl[0] = ctrl[at];
        step_alone(m, d, 1);
        assert_memory_equal(out + at * nq, d->qpos, real * nq);
        assert_memory_equal(qvel_out + at * nv, d->qvel, real * nv);
        assert_memory_equal(sensors_out + 2 * at, d->sensordata, 2 * real);
      }
      tb_data_free(d);
    }
  }
  r.nstep = -1;
  assert_int_equal(tb_batch_rollout(b, &r), TB_ERROR_ARGUMENT);
  free(qpos);
  free(qvel);
  free(out);
  tb_batch_free(b);
  tb_model_free(m);
}

// A world whose step fails stops alone, with a message.
static void a_failing_world_does_not_stop_the_others(void** state) {
  (void)state;
  tbModel* m = load(TB_LAW_COMFREE);
  tbBatch* b = batch_of(m, 20, 2);
  b->qvel[7 * m->nv + 3] = NAN;
  b->qpos[12 * m->nq] = INFINITY;
  tbReal* mass = tb_batch_expand(b, "body_mass");
  mass[15 * m->nbody + 1] = -1;
  assert_int_equal(tb_batch_step(b, 10), TB_ERROR_NUMERIC);
  assert_non_null(strstr(b->message, "world 7: qvel"));
  for (int w = 0; w < 20; w++) {
    int expected = w == 15 ? TB_ERROR_ARGUMENT : w == 7 || w == 12 ? TB_ERROR_NUMERIC : TB_OK;
    assert_int_equal(b->status[w], expected);
    assert_true((b->time[w] == 0) == (expected != TB_OK));
  }
  assert_memory_equal(b->qpos, b->qpos + 19 * m->nq, sizeof(tbReal) * (size_t)m->nq);
  // after a reset they are worlds as any other
  unsigned char mask[20] = {0};
  mask[7] = mask[12] = mask[15] = 1;
  mass[15 * m->nbody + 1] = m->body_mass[1];
  assert_int_equal(tb_batch_reset(b, mask, -1), TB_OK);
  assert_int_equal(tb_batch_step(b, 10), TB_OK);
  tb_batch_free(b);
  tb_model_free(m);
}

// Invalid parameters stop only their world, under every law, with a message that names them.
static void bad_parameters_stop_their_world_alone(void** state) {
  (void)state;
  static const tbReal BAD[] = {NAN, INFINITY, -1, -INFINITY};
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbModel* m = load(law);
    tbBatch* b = batch_of(m, 4, 2);
    static const char* const NAMES[6] = {"opt.friction_scale",    "body_mass",
                                         "opt.comfree_stiffness", "geom_friction",
                                         "opt.comfree_damping",   "geom_size"};
    for (int p = 0; p < 6; p++) {
      int columns;
      tbReal* rows = tb_batch_expand(b, NAMES[p]);
      assert_non_null(rows);
      assert_ptr_equal(tb_batch_field(b, NAMES[p], NULL, &columns), rows);
      const char* name = strncmp(NAMES[p], "opt.", 4) ? NAMES[p] : NAMES[p] + 4;
      for (int k = 0; k < 4; k++) {
        tbReal* value = rows + 3 * columns - 1;
        tbReal good = *value;
        *value = BAD[k];
        assert_int_equal(tb_batch_reset(b, NULL, 0), TB_OK);
        if (tb_batch_step(b, 2) != TB_ERROR_ARGUMENT) {
          fail_msg("%s %g under %s: \"%s\"", NAMES[p], BAD[k], tb_step_law_name(law), b->message);
        }
        assert_non_null(strstr(b->message, "world 2"));
        assert_non_null(strstr(b->message, name));
        for (int w = 0; w < 4; w++) {
          assert_int_equal(b->status[w], w == 2 ? TB_ERROR_ARGUMENT : TB_OK);
          assert_true((b->time[w] == 0) == (w == 2));
        }
        *value = good;
      }
    }
    assert_int_equal(tb_batch_step(b, 2), TB_OK);
    tb_batch_free(b);
    tb_model_free(m);
  }
}

// Rollouts without steps, from states with NaN, and with NaN controls.
static void bad_rollouts_fail_by_world(void** state) {
  (void)state;
  enum { WORLDS = 3, STEPS = 4 };
  tbModel* m = load(TB_LAW_COMFREE);
  size_t nq = (size_t)m->nq;
  tbBatch* b = batch_of(m, WORLDS, 2);
  tbReal *qpos = calloc(WORLDS * nq, sizeof(tbReal)), ctrl[WORLDS * STEPS] = {0};
  tbReal* out = calloc(WORLDS * STEPS * nq, sizeof(tbReal));
  for (int w = 0; w < WORLDS; w++) {
    memcpy(qpos + (size_t)w * nq, m->key_qpos, sizeof(tbReal) * nq);
  }
  tbReal* qvel = calloc(WORLDS * (size_t)m->nv, sizeof(tbReal));
  tbRollout r = {.nstep = 0, .qpos = qpos, .qvel = qvel, .ctrl = ctrl, .nrecord = 1};
  tbRecord record = {"qpos", out};
  r.record = &record;
  assert_int_equal(tb_batch_rollout(b, &r), TB_OK);
  assert_memory_equal(b->qpos, qpos, sizeof(tbReal) * WORLDS * nq);
  assert_true(out[0] == 0);
  assert_int_equal(tb_batch_rollout(b, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_rollout(NULL, &r), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_step(NULL, 1), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_reset(NULL, NULL, -1), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_batch_memory(NULL), 0);

  // world 0 starts at NaN; world 1 gets a NaN control on the way and repeats its last good state
  r.nstep = STEPS;
  qpos[3] = NAN;
  ctrl[STEPS + 2] = NAN;
  assert_int_equal(tb_batch_rollout(b, &r), TB_ERROR_NUMERIC);
  assert_non_null(strstr(b->message, "world 0: qpos 3"));
  assert_int_equal(b->status[1], TB_ERROR_NUMERIC);
  assert_int_equal(b->status[2], TB_OK);
  const tbReal* path = out + STEPS * nq;
  assert_memory_equal(path + 2 * nq, path + nq, sizeof(tbReal) * nq);
  assert_memory_equal(path + 3 * nq, path + nq, sizeof(tbReal) * nq);
  assert_true(memcmp(path, path + nq, sizeof(tbReal) * nq) != 0);
  // a good rollout afterwards is as if nothing had happened
  tbReal* again = calloc(WORLDS * STEPS * nq, sizeof(tbReal));
  qpos[3] = m->key_qpos[3];
  ctrl[STEPS + 2] = 0;
  tbBatch* fresh = batch_of(m, WORLDS, 1);
  assert_int_equal(tb_batch_rollout(b, &r), TB_OK);
  record.out = again;
  assert_int_equal(tb_batch_rollout(fresh, &r), TB_OK);
  assert_memory_equal(out, again, sizeof(tbReal) * WORLDS * STEPS * nq);
  free(qpos);
  free(qvel);
  free(out);
  free(again);
  tb_batch_free(b);
  tb_batch_free(fresh);
  tb_model_free(m);
}

// Ten thousand worlds: memory is the state's, a bound is kept or refused, and warm steps do not
// allocate.
static void ten_thousand_worlds_fit_in_little_memory(void** state) {
  (void)state;
  tbModel* m = load(TB_LAW_COMFREE);
  tbError error;
  size_t limit = (size_t)64 << 20;
  tbBatch* b = tb_batch_new(m, 10000, 2, limit, &error);
  assert_non_null(b);
  assert_int_equal(tb_batch_step(b, 2), TB_OK);
  assert_true(tb_batch_memory(b) < limit);
  size_t warm = tb_batch_memory(b);
  assert_int_equal(tb_batch_step(b, 2), TB_OK);
  assert_int_equal(tb_batch_memory(b), warm);
  tb_batch_free(b);

  // refused at once, and refused while it grows
  assert_null(tb_batch_new(m, 10000, 2, 1 << 20, &error));
  assert_int_equal(error.code, TB_ERROR_MEMORY);
  b = batch_of(m, 10, 1);
  assert_int_equal(tb_batch_step(b, 1), TB_OK);
  limit = tb_batch_memory(b);
  tb_batch_free(b);
  b = tb_batch_new(m, 10, 1, limit - 1, &error);
  assert_non_null(b);
  assert_int_equal(tb_batch_step(b, 1), TB_ERROR_MEMORY);
  assert_non_null(strstr(b->message, "limit"));
  tb_batch_free(b);
  // No number of threads: one for each core, up to 256.
  b = tb_batch_new(m, 256, 0, 0, &error);
  assert_non_null(b);
  assert_int_equal(b->nthread, fmin(256, (double)sysconf(_SC_NPROCESSORS_ONLN)));
  tb_batch_free(b);
  assert_null(tb_batch_new(m, 0, 1, 0, &error));
  assert_null(tb_batch_new(m, 1, -1, 0, &error));
  assert_null(tb_batch_new(m, 1 << 30, 1, 0, &error));
  assert_null(tb_batch_new(NULL, 1, 1, 0, &error));
  tb_batch_free(NULL);
  tb_model_free(m);
}

// Bytes that malloc has handed out, where the C library tells; 0 elsewhere.
static size_t heap_bytes(void) {
#if defined(__GLIBC__) && !defined(TB_SANITIZED)
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

// The reported memory is that of the heap, memory of solvers included.
static void reported_memory_is_what_the_heap_holds(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    for (int solver = 0; solver < (law == TB_LAW_NCP ? 3 : 1); solver++) {
      tbModel* m = load(law);
      m->opt.solver = solver == 1 ? TB_SOLVER_PGS : solver == 2 ? TB_SOLVER_ADMM : TB_SOLVER_AUTO;
      size_t before = heap_bytes();
      // one thread: its memory is in the part of the heap that is reported
      tbBatch* b = batch_of(m, 24, 1);
      tbReal* mass = tb_batch_expand(b, "body_mass");
      assert_non_null(tb_batch_request(b, "xpos"));
      tb_batch_reset(b, NULL, 0);
      for (int w = 0; w < 24; w++) {
        tbRng rng = {(uint64_t)w};
        perturb(m, &rng, b->qvel + w * m->nv);
        mass[w * m->nbody + 1] = w % 3 ? 1 : 2;
      }
      assert_int_equal(tb_batch_step(b, 20), TB_OK);
      size_t held = heap_bytes() - before, reported = tb_batch_memory(b);
      double error = fabs((double)reported - (double)held);
      if (held && error > 8192 + 0.03 * (double)held) {
        fail_msg("%s: %zu bytes reported, %zu held", tb_step_law_name(law), reported, held);
      }
      // the same again needs no more
      for (int k = 0; k < 2; k++) {
        assert_int_equal(tb_batch_reset(b, NULL, 0), TB_OK);
        for (int w = 0; w < 24; w++) {
          tbRng rng = {(uint64_t)w};
          perturb(m, &rng, b->qvel + w * m->nv);
        }
        assert_int_equal(tb_batch_step(b, 20), TB_OK);
        if (k == 0) reported = tb_batch_memory(b);
      }
      assert_int_equal(tb_batch_memory(b), reported);
      tb_batch_free(b);
      tb_model_free(m);
    }
  }
}

// A pile that needs more rows than the limit leaves room for fails by itself, keeps its state and
// never holds more than the limit.
static void a_limit_bounds_contacts_and_solvers(void** state) {
  (void)state;
  for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
    tbModel* m = load(law);
    tbError error;
    tbBatch* b = batch_of(m, 2, 1);
    size_t least = tb_batch_memory(b);
    tb_batch_free(b);
    int refused = 0, done = 0;
    for (size_t room = 1; room < (size_t)1 << 24; room *= 4) {
      b = tb_batch_new(m, 2, 1, least + room, &error);
      if (!b) fail_msg("%s", error.message);
      tbResult result = tb_batch_step(b, 3);
      if (result == TB_OK) {
        done++;
        assert_true(tb_batch_memory(b) <= least + room);
      } else {
        refused++;
        assert_int_equal(done, 0);
        assert_int_equal(result, TB_ERROR_MEMORY);
        assert_non_null(strstr(b->message, "limit"));
      }
      for (int i = 0; i < 2 * m->nq; i++) assert_true(isfinite(b->qpos[i]));
      tb_batch_free(b);
    }
    assert_true(refused > 0 && done > 0);
    assert_null(tb_batch_new(m, 2, 1, least, &error));
    tb_model_free(m);
  }
}

static void fields_by_name(void** state) {
  (void)state;
  tbModel* m = load(TB_LAW_COMFREE);
  tbBatch* b = batch_of(m, 3, 1);
  const char* type;
  int columns;
  assert_ptr_equal(tb_batch_field(b, "qvel", &type, &columns), b->qvel);
  assert_string_equal(type, "real");
  assert_int_equal(columns, m->nv);
  assert_ptr_equal(tb_batch_field(b, "status", &type, &columns), b->status);
  assert_string_equal(type, "int");
  assert_null(tb_batch_field(b, "xpos", NULL, NULL));
  tb_batch_free(b);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(worlds_are_bit_identical_to_single_ones),
      cmocka_unit_test(worlds_sleep_and_wake_by_themselves),
      cmocka_unit_test(parameters_are_those_of_a_changed_model),
      cmocka_unit_test(reset_by_mask_touches_only_the_masked),
      cmocka_unit_test(rollouts_are_trajectories),
      cmocka_unit_test(a_failing_world_does_not_stop_the_others),
      cmocka_unit_test(bad_parameters_stop_their_world_alone),
      cmocka_unit_test(bad_rollouts_fail_by_world),
      cmocka_unit_test(ten_thousand_worlds_fit_in_little_memory),
      cmocka_unit_test(reported_memory_is_what_the_heap_holds),
      cmocka_unit_test(a_limit_bounds_contacts_and_solvers),
      cmocka_unit_test(fields_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
