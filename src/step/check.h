// Checks of a step. Each returns TB_OK, or sets data->status and data->message.
#ifndef TRIBO_STEP_CHECK_H_
#define TRIBO_STEP_CHECK_H_

#include <stdbool.h>

#include "model/workspace.h"
#include "laws/law.h"

// Set the status and the message; the message is unchanged if `message` is NULL. Returns `status`.
tbResult tb_step_fail(tbData* data, tbResult status, const char* message);

// Check the options, which programs may write into the model directly, also between the halves of a
// step.
tbResult tb_check_options(const tbModel* model, tbData* data, tbStepState* state, bool substep);

// Whether the law supports the selected solver and integrator.
tbResult tb_check_method(const tbStep* step);

// Check qpos, poses of mocap bodies and qvel, before anything is computed.
tbResult tb_check_state(const tbModel* model, tbData* data);

// Check ctrl, act and applied forces, before they are used.
tbResult tb_check_inputs(const tbModel* model, tbData* data);

// Check a vector over dofs; `what` names it ("force of dof").
tbResult tb_check_dofs(const tbModel* model, tbData* data, const tbReal* x, const char* what);

// Check the smooth forces; names the actuator whose force is not finite, or the dof.
tbResult tb_check_forces(const tbModel* model, tbData* data);

// Check the rates of the activations.
tbResult tb_check_activations(const tbModel* model, tbData* data, const tbReal* act);

// Check that the next velocity is finite and below 1e10. `timestep` is the user's, for the message.
tbResult tb_check_motion(const tbModel* model, tbData* data, const tbReal* v, tbReal timestep);

#endif
