// The rigid laws (ncp, ccp, lcp, raisim) in velocity-impulse form.
#ifndef TRIBO_LAWS_RIGID_RIGID_H_
#define TRIBO_LAWS_RIGID_RIGID_H_

#include "world/state.h"

// From the smooth forces to the next velocity: v_free, islands, solves, v_next (nv, not aliasing
// data). Fills qacc, qfrc_constraint, contact forces and the certificate data->solve.
tbResult tb_rigid_velocity(const tbModel* model, tbData* data, tbStepState* state, tbReal* v_next);

#endif
