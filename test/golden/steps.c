// The bits of a run: one hash for each scene and law, over model, states, contacts and impulses of
// every step, with random controls. Every compiler, optimisation level, number of threads and
// machine must print the same lines.
//
//   tribo_hashes [THREADS...]      each line is computed once per number, which must not matter
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "tribo/tribo.h"

typedef struct {
  const char* path;
  int steps;
} Scene;

// Piles, robots with controls, and files for what else has formulas: tendons that wrap, muscles,
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
enum { NSCENES = sizeof SCENES / sizeof SCENES[0], MAX_THREADS = 8 };

static uint64_t reals(uint64_t hash, const tbReal* x, int n) {
  return n > 0 ? tb_hash(hash, x, sizeof(tbReal) * (size_t)n) : hash;
}

static uint64_t hash_model(const tbModel* m) {
  uint64_t hash = TB_HASH_SEED;
  hash = reals(hash, m->qpos0, m->nq);
  hash = reals(hash, m->body_pos, 3 * m->nbody);
  hash = reals(hash, m->body_quat, 4 * m->nbody);
  hash = reals(hash, m->body_mass, m->nbody);
  hash = reals(hash, m->body_inertia, 3 * m->nbody);
  hash = reals(hash, m->body_iquat, 4 * m->nbody);
  hash = reals(hash, m->geom_size, 3 * m->ngeom);
  hash = reals(hash, m->geom_quat, 4 * m->ngeom);
  hash = reals(hash, m->dof_invweight0, m->nv);
  hash = reals(hash, m->actuator_lengthrange, 2 * m->nu);
  return reals(hash, m->tendon_lengthspring, 2 * m->ntendon);
}

static uint64_t hash_step(uint64_t hash, const tbModel* m, const tbData* d) {
  hash = reals(hash, d->qpos, m->nq);
  hash = reals(hash, d->qvel, m->nv);
  hash = reals(hash, d->act, m->na);
  hash = reals(hash, d->sensordata, m->nsensordata);
  hash = reals(hash, d->qfrc_constraint, m->nv);
  for (int i = 0; i < d->ncon; i++) {
    hash = reals(hash, d->contact[i].pos, 3);
    hash = reals(hash, &d->contact[i].dist, 1);
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
    for (int i = 0; i < m->nu; i++) {
      int limited = m->actuator_ctrllimited[i];
      tbReal low = limited ? m->actuator_ctrlrange[2 * i] : -1;
      tbReal high = limited ? m->actuator_ctrlrange[2 * i + 1] : 1;
      d->ctrl[i] = tb_rng_uniform(&rng, low, high);
    }
    tbResult result = tb_step(m, d);
    hash = hash_step(tb_hash(hash, &result, sizeof result), m, d);
  }
  tb_data_free(d);
  return hash;
}

int main(int argc, char** argv) {
  int threads[MAX_THREADS] = {1}, n = argc > 1 ? argc - 1 : 1, failed = 0;
  if (n > MAX_THREADS) return fprintf(stderr, "at most %d numbers of threads\n", MAX_THREADS), 2;
  for (int i = 1; i < argc; i++) threads[i - 1] = atoi(argv[i]);
  for (int s = 0; s < NSCENES; s++) {
    tbError error;
    tbModel* m = tb_load(SCENES[s].path, NULL, &error);
    if (!m) return fprintf(stderr, "%s\n", error.message), 1;
    for (int law = 0; law < TB_STEP_LAW_COUNT; law++) {
      uint64_t first = run(m, &SCENES[s], law, threads[0]);
      printf("%-28s %-12s %016" PRIx64, strrchr(SCENES[s].path, '/') + 1, tb_step_law_name(law),
             first);
      for (int t = 1; t < n; t++) {
        if (run(m, &SCENES[s], law, threads[t]) == first) continue;
        printf(" DIFFERS with %d threads", threads[t]);
        failed++;
      }
      printf("\n");
    }
    tb_model_free(m);
  }
  if (failed) fprintf(stderr, "%d lines depend on the number of threads\n", failed);
  return failed > 0;
}
