// Worlds for tests of the step: loading, stepping and hashing.
#ifndef TRIBO_TEST_WORLDS_H_
#define TRIBO_TEST_WORLDS_H_

#include "common/test.h"
#include "tribo/tribo.h"

typedef struct {
  tbModel* m;
  tbData* d;
} tbWorld;

// From XML text, or a file of scenes/ at its keyframe `key` (NULL: the reference pose). A model
// that does not load fails the test.
tbWorld tb_world_text(const char* xml);
tbWorld tb_world_scene(const char* file, const char* key);
void tb_world_free(tbWorld world);

// The same world under the viscoelastic law, with this integrator and time step (s).
tbWorld tb_world_springs(tbWorld world, int integrator, double timestep);

// A second world of the same model at the reference pose.
tbWorld tb_world_again(tbWorld world);

// `steps` steps; a step that fails fails the test.
void tb_world_run(tbWorld world, int steps);

// The same, each of which must converge.
void tb_world_run_solved(tbWorld world, int steps);

// Kinetic and potential energy now, J; leaves both in data->energy.
double tb_world_energy(tbWorld world);

// Hash of qpos, qvel and act.
uint64_t tb_world_hash(uint64_t hash, tbWorld world);

#endif
