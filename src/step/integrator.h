// Integrators that evaluate forces more than once within a step, and what they keep in a world.
#ifndef TRIBO_STEP_INTEGRATOR_H_
#define TRIBO_STEP_INTEGRATOR_H_

#include "step/applied_impulses.h"
#include "step/step.h"

struct tbIntegratorState {
  tbApplied applied;  // impulses of all evaluations within a step
  // Memory of tb_rk4, tb_euler_implicit, tb_expo_midpoint and tb_expo_substeps, made on first use.
  tbReal *rk4, *newton, *middle, *substeps;
};

// The integrators' state in a world, made on first use. NULL when out of memory.
tbIntegratorState* tb_integrator_state(tbStepState* state);

// *memory, made on first use: `count` numbers. NULL when out of memory.
tbReal* tb_integrator_memory(tbStepState* state, tbReal** memory, size_t count);

// Called after the law's velocity at the start of a step of expo-midpoint: repeats the step with
// the slowly varying quantities taken at its middle. Moves qpos, qvel and time.
tbResult tb_expo_midpoint(const tbStep* step, const tbReal* v_next);

// Called after the law's velocity at the start of a step of expo-midpoint: makes the step in two
// parts if a contact changes its mode within it. False if none does; then nothing has been done.
bool tb_expo_substeps(const tbStep* step, const tbReal* v_next, tbResult* result);

// Whether a step of expo-midpoint needs the times of its events: it may be divided (again), and
// does not end at an event already.
bool tb_expo_locates(const tbModel* model, const tbDivision* division);

// Implicit Euler from the state at the start of a step, whose forces have just been computed. Moves
// qpos, qvel and time. Newton's iterations and residual (m/s) go to data->solve.
tbResult tb_euler_implicit(const tbStep* step);

#endif
