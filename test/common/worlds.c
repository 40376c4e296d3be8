#include "common/worlds.h"

#include "base/hash.h"

static tbWorld world_of(tbModel* model, const tbError* error) {
  tbWorld w = {model, NULL};
  if (!model) fail_msg("%s", error->message);
  w.d = tb_data_new(model);
  assert_non_null(w.d);
  return w;
}

tbWorld tb_world_text(const char* xml) {
  tbError error;
  return world_of(tb_load_string(xml, NULL, NULL, &error), &error);
}

tbWorld tb_world_scene(const char* file, const char* key) {
  char path[1024];
  tbError error;
  snprintf(path, sizeof path, "%s/%s", TB_SCENES_DIR, file);
  tbWorld w = world_of(tb_load(path, NULL, &error), &error);
  if (key) assert_int_equal(tb_reset_keyframe(w.m, w.d, tb_name2id(w.m, TB_OBJ_KEY, key)), TB_OK);
  return w;
}

tbWorld tb_world_again(tbWorld world) {
  tbWorld w = {world.m, tb_data_new(world.m)};
  assert_non_null(w.d);
  return w;
}

void tb_world_free(tbWorld w) {
  tb_data_free(w.d);
  tb_model_free(w.m);
}

tbWorld tb_world_springs(tbWorld w, int integrator, double timestep) {
  w.m->opt.law = TB_LAW_VISCOELASTIC;
  w.m->opt.integrator = integrator;
  w.m->opt.timestep = timestep;
  return w;
}

void tb_world_run(tbWorld w, int steps) {
  for (int i = 0; i < steps; i++) {
    if (tb_step(w.m, w.d) != TB_OK) fail_msg("step %d: %s", i, w.d->message);
  }
}

void tb_world_run_solved(tbWorld w, int steps) {
  for (int i = 0; i < steps; i++) {
    tb_world_run(w, 1);
    assert_int_equal(w.d->solve.status, TB_SOLVE_CONVERGED);
  }
}

double tb_world_moved(tbWorld w, int law, double timestep, double seconds) {
  enum { MOST = 128 };
  tbReal start[MOST];
  double most = 0;
  assert_true(w.m->nq <= MOST);
  w.m->opt.law = law;
  w.m->opt.timestep = timestep;
  memcpy(start, w.d->qpos, sizeof(tbReal) * (size_t)w.m->nq);
  tb_world_run_solved(w, tb_world_steps(w, seconds));
  for (int i = 0; i < w.m->nq; i++) most = fmax(most, fabs(w.d->qpos[i] - start[i]));
  tb_world_free(w);
  return most;
}

int tb_world_steps(tbWorld w, double seconds) {
  return (int)(seconds / w.m->opt.timestep + 0.5);
}

double tb_world_energy(tbWorld w) {
  tb_compute_position(w.m, w.d);
  tb_compute_velocity(w.m, w.d);
  tb_energy_position(w.m, w.d);
  tb_energy_velocity(w.m, w.d);
  return w.d->energy[0] + w.d->energy[1];
}

double tb_world_kinetic(tbWorld w) {
  tb_world_energy(w);
  return w.d->energy[1];
}

double tb_world_run_energy(tbWorld w, int steps) {
  double most = -INFINITY;
  for (int i = 0; i < steps; i++) {
    tb_world_run(w, 1);
    most = fmax(most, tb_world_energy(w));
  }
  return most;
}

const tbReal* tb_world_place(tbWorld w, const char* body) {
  int id = tb_name2id(w.m, TB_OBJ_BODY, body);
  assert_true(id > 0);
  tb_compute_position(w.m, w.d);
  return w.d->xpos + 3 * id;
}

uint64_t tb_world_hash(uint64_t hash, tbWorld w) {
  hash = tb_hash(hash, w.d->qpos, sizeof(tbReal) * (size_t)w.m->nq);
  hash = tb_hash(hash, w.d->qvel, sizeof(tbReal) * (size_t)w.m->nv);
  return tb_hash(hash, w.d->act, sizeof(tbReal) * (size_t)w.m->na);
}

bool tb_world_is_taut(tbWorld w) {
  size_t bytes = sizeof(tbReal) * (size_t)w.m->nM;
  tbReal* M = malloc(bytes);
  assert_non_null(M);
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  memcpy(M, w.d->qM, bytes);
  tb_compute_position(w.m, w.d);
  bool taut = memcmp(M, w.d->qM, bytes) != 0;
  free(M);
  return taut;
}

void tb_world_assert_inverse(tbWorld w) {
  tbReal* qacc = calloc(2 * (size_t)w.m->nv, sizeof *qacc);
  assert_non_null(qacc);
  tbReal* qfrc = qacc + w.m->nv;
  for (int i = 0; i < w.m->nv; i++) w.d->qfrc_applied[i] = 0.01 * ((i * 7) % 11 - 5);
  assert_int_equal(tb_forward(w.m, w.d), TB_OK);
  memcpy(qacc, w.d->qacc, sizeof(tbReal) * (size_t)w.m->nv);
  assert_int_equal(tb_inverse(w.m, w.d, qacc, NULL, qfrc, NULL), TB_OK);
  assert_near_array(qfrc, w.d->qfrc_applied, w.m->nv, 1e-4);
  free(qacc);
}
