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

// Every integrator of that law, with a time step (s) that suits its springs.
enum { TB_SPRING_CASES = 5 };
static const struct {
  int integrator;
  double timestep;
} TB_SPRING_CASE[TB_SPRING_CASES] = {{TB_INTEGRATOR_EXPO, 0.002},
                                     {TB_INTEGRATOR_EXPO_MIDPOINT, 0.002},
                                     {TB_INTEGRATOR_EULER_EXPLICIT, 1e-4},
                                     {TB_INTEGRATOR_RK4, 1e-4},
                                     {TB_INTEGRATOR_EULER_IMPLICIT, 0.001}};

// A second world of the same model at the reference pose.
tbWorld tb_world_again(tbWorld world);

// `steps` steps; a step that fails fails the test.
void tb_world_run(tbWorld world, int steps);

// The same, each of which must converge.
void tb_world_run_solved(tbWorld world, int steps);

// How far any entry of qpos came in a run of this law and time step (s), all solved. Frees the
// world.
double tb_world_moved(tbWorld world, int law, double timestep, double seconds);

// How many steps a time takes.
int tb_world_steps(tbWorld world, double seconds);

// Kinetic and potential energy now, J; leaves both in data->energy. Kinetic energy alone; and the
// largest sum after any of `steps` steps.
double tb_world_energy(tbWorld world);
double tb_world_kinetic(tbWorld world);
double tb_world_run_energy(tbWorld world, int steps);

// Where the body of that name is now.
const tbReal* tb_world_place(tbWorld world, const char* body);

// Whether links have more inertia in a step than their own, since they bear much
// (forces/geometric_stiffness.h).
bool tb_world_is_taut(tbWorld world);

// Inverse dynamics gives applied forces back, to 1e-4, from the acceleration that they lead to.
void tb_world_assert_inverse(tbWorld world);

// Hash of qpos, qvel and act.
uint64_t tb_world_hash(uint64_t hash, tbWorld world);

#endif
