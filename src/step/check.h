// What a step refuses. Each returns TB_OK, or sets data->status and data->message.
#ifndef TRIBO_STEP_CHECK_H_
#define TRIBO_STEP_CHECK_H_

#include <stdbool.h>

#include "model/workspace.h"
#include "world/state.h"

// Say what went wrong; the message stays as it is where `message` is NULL. Returns `status`.
tbResult tb_step_fail(tbData* data, tbResult status, const char* message);

// Options may be written into the model as they are, also between the halves of a step.
tbResult tb_check_options(const tbModel* model, tbData* data, tbStepState* state);

// Whether the law has the solver and the integrator that the options ask for.
tbResult tb_check_method(const tbModel* model, tbData* data);

// qpos, poses of mocap bodies and qvel, before anything is computed.
tbResult tb_check_state(const tbModel* model, tbData* data);

// ctrl, act, applied forces, before they act.
tbResult tb_check_inputs(const tbModel* model, tbData* data);

// A vector over dofs; `what` names it ("force of dof").
tbResult tb_check_dofs(const tbModel* model, tbData* data, const tbReal* x, const char* what);

// Rates of the activations.
tbResult tb_check_activations(const tbModel* model, tbData* data, const tbReal* act);

// The next velocity: finite, and below 1e10. `timestep` is the user's, for the message.
tbResult tb_check_motion(const tbModel* model, tbData* data, const tbReal* v, tbReal timestep);

#endif
