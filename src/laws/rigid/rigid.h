// The rigid laws (ncp, ccp, lcp, raisim) in velocity-impulse form.
#ifndef TRIBO_LAWS_RIGID_RIGID_H_
#define TRIBO_LAWS_RIGID_RIGID_H_

#include "laws/law.h"

// A rigid law's own state in a world.
typedef struct {
  tbReal smallest_half_thickness;  // m: tb_smallest_half_thickness
  tbReal most_margin;              // m: tb_most_margin
  bool modified;                   // the step reduced restitution or softened a degenerate contact
} tbRigidState;

static inline tbRigidState* tb_rigid_state(const tbModel* model, const tbStepState* state) {
  return state->law[model->opt.law].state;
}

// From the smooth forces to the next velocity (nv, not aliasing data) with the rows at hand:
// v_free, islands, solves. Fills qacc, qfrc_constraint, contact forces and the certificate
// data->solve.
tbResult tb_rigid_solve(const tbStep* step, tbReal* v_next);

// The operations of tbLawType. The velocity is solved again with rows of all constraints that the
// motion violates: the first rows are those that are near at the velocity of the start.
tbLookAhead tb_rigid_look_ahead(const tbModel* model);
tbReal tb_rigid_reach(const tbStep* step);
tbResult tb_rigid_velocity(const tbStep* step, tbReal* v_next);
tbResult tb_rigid_linearize(tbDerivatives* x, const tbStep* step,
                            const tbDerivativeSettings* settings);
tbResult tb_rigid_inverse(const tbStep* step, const tbReal* qacc, const tbInverseSettings* settings,
                          tbReal* qfrc, tbInverseInfo* info);

#endif
