// Steps: model, states, contacts and constraint forces of every step of some scenes under every
// law, with random controls.
#include <stdio.h>

#include "golden/golden.h"

typedef struct {
  const char* path;
  int steps;
} Scene;

// Piles, robots with controls, and files with further features: tendons that wrap, muscles,
// filters, every transmission, meshes, fluid.
static const Scene SCENES[] = {
    {TB_SCENES_DIR "/islands.xml", 30},
    {TB_SCENES_DIR "/sliding_cube.xml", 150},
    {TB_SCENES_DIR "/grip.xml", 50},
    {TB_SCENES_DIR "/stack.xml", 25},
    {TB_SCENES_DIR "/card_house.xml", 20},
    {TB_SCENES_DIR "/arch.xml", 20},
    {TB_SCENES_DIR "/dominoes.xml", 20},
    {TB_SCENES_DIR "/heavy_on_light.xml", 50},
    {TB_SCENES_DIR "/humanoid.xml", 30},
    {TB_SCENES_DIR "/hand.xml", 30},
    {TB_SCENES_DIR "/quadruped.xml", 50},
    {TB_SCENES_DIR "/biped.xml", 30},
    {TB_SCENES_DIR "/arm.xml", 30},
    {TB_TEST_DIR "/oracle/cases/combo_transmissions.xml", 50},
    {TB_TEST_DIR "/oracle/cases/combo_wrap_inside.xml", 50},
    {TB_TEST_DIR "/oracle/cases/combo_mesh_all.xml", 20},
    {TB_TEST_DIR "/oracle/cases/combo_hfield.xml", 20},
    {TB_TEST_DIR "/oracle/cases/combo_replicate_attach.xml", 30},
    {TB_TEST_DIR "/oracle/cases/muscles.xml", 50},
};
enum { NSCENES = sizeof SCENES / sizeof SCENES[0] };

static uint64_t hash_model(const tbModel* m) {
  uint64_t hash = TB_HASH_SEED;
  hash = golden_reals(hash, m->qpos0, m->nq);
  hash = golden_reals(hash, m->body_pos, 3 * m->nbody);
  hash = golden_reals(hash, m->body_quat, 4 * m->nbody);
  hash = golden_reals(hash, m->body_mass, m->nbody);
  hash = golden_reals(hash, m->body_inertia, 3 * m->nbody);
  hash = golden_reals(hash, m->body_iquat, 4 * m->nbody);
  hash = golden_reals(hash, m->geom_size, 3 * m->ngeom);
  hash = golden_reals(hash, m->geom_quat, 4 * m->ngeom);
  hash = golden_reals(hash, m->dof_invweight0, m->nv);
  hash = golden_reals(hash, m->actuator_lengthrange, 2 * m->nu);
  return golden_reals(hash, m->tendon_lengthspring, 2 * m->ntendon);
}

static uint64_t hash_step(uint64_t hash, const tbModel* m, const tbData* d) {
  hash = golden_reals(hash, d->qpos, m->nq);
  hash = golden_reals(hash, d->qvel, m->nv);
  hash = golden_reals(hash, d->act, m->na);
  hash = golden_reals(hash, d->sensordata, m->nsensordata);
  hash = golden_reals(hash, d->qfrc_constraint, m->nv);
  for (int i = 0; i < d->ncon; i++) {
    hash = golden_reals(hash, d->contact[i].pos, 3);
    hash = golden_reals(hash, &d->contact[i].dist, 1);
  }
  return hash;
}

static uint64_t run(tbModel* m, const Scene* scene, int law, int threads) {
  m->opt.law = law;
  m->opt.threads = threads;
  tbData* d = tb_data_new(m);
  if (!d) return 0;
  if (m->nkey) tb_reset_keyframe(m, d, 0);
  tbRng rng = {7};
  uint64_t hash = hash_model(m);
  for (int step = 0; step < scene->steps; step++) {
    golden_controls(m, &rng, d->ctrl);
    tbResult result = tb_step(m, d);
    hash = hash_step(tb_hash(hash, &result, sizeof result), m, d);
  }
  tb_data_free(d);
  return hash;
}

int golden_steps(const int* threads, int nthreads) {
  int failed = 0;
  for (int s = 0; s < NSCENES; s++) {
    tbModel* m = golden_load(SCENES[s].path);
    for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
      char name[128];
      snprintf(name, sizeof name, "%s %s", golden_name(SCENES[s].path), tb_step_law_name(law));
      uint64_t first = run(m, &SCENES[s], law, threads[0]);
      golden_line("step", name, first);
      for (int t = 1; t < nthreads; t++) {
        if (run(m, &SCENES[s], law, threads[t]) == first) continue;
        fprintf(stderr, "%s differs with %d threads\n", name, threads[t]);
        failed++;
      }
    }
    tb_model_free(m);
  }
  return failed;
}
