// The viscoelastic law (EXP): every constraint is a spring and a damper, contacts with anchor
// points that slip where the force would leave the friction cone. Which integrator moves the state
// is tbOption.integrator's choice: see docs/manual/viscoelastic.md and docs/manual/expo.md.
#ifndef TRIBO_LAWS_VISCOELASTIC_VISCOELASTIC_H_
#define TRIBO_LAWS_VISCOELASTIC_VISCOELASTIC_H_

#include "laws/viscoelastic/state.h"

// Called after tb_assemble_rows: stretch, rate and force of every acting constraint, from the
// anchors of the last step, in the arena. Anchors of slipping contacts have already moved (EXP eq.
// 28).
tbResult tb_springs_measure(const tbStep* step);

// A contact is unresolved if one of its bodies turns by more than this in a step, rad: the step's
// linear model does not predict the motion of its points. The limit is lower for free-floating
// bodies, whose rotation has no other constraint.
#define TB_UNRESOLVED_TURN 0.1
#define TB_UNRESOLVED_FREE_TURN 0.03
bool tb_contact_is_unresolved(const tbModel* model, const tbData* data, const tbConstraint* c);

static inline bool tb_is_dry_friction(const tbConstraint* c) {
  return c->source == TB_SOURCE_FRICTION_DOF || c->source == TB_SOURCE_FRICTION_TENDON;
}

// Limit a constraint's force: friction cone, no pull, box (EXP eq. 21-22). The normal part is kept.
// Returns 1 if friction was reduced.
int tb_spring_limit(const tbModel* model, const tbData* data, const tbConstraint* constraint,
                    tbReal* force);

// Derivatives of the limited force by the unlimited one (slope, dim x dim) and by both sliding
// coefficients (dim). Returns 0 if the force is constant; then both are zero.
int tb_limit_slope(const tbModel* model, const tbData* data, const tbConstraint* constraint,
                   const tbReal* raw, tbReal* slope, tbReal* by_friction);

// 1 where an unlimited force is within `near` (N) of a kink of its limit.
int tb_limit_near(const tbModel* model, const tbData* data, const tbConstraint* constraint,
                  const tbReal* raw, tbReal near);

// Friction per normal force, rows 1 on, of a contact whose point slips with this velocity: the
// direction that dissipates most, to which the law's damper turns friction almost at once. It is
// unchanged if the velocity has turned away from it by more than 60 degrees. Friction that is held
// constant over a step overshoots a slow slip: it would alternate between opposite directions from
// step to step and brake less than the cone allows, and a body that should stop on a slope would
// slide on at about h mu g. So if friction can turn the slip by `turn` rad, more than 1, it moves
// only 1 / turn of the way from its previous direction.
void tb_slip_direction(const tbData* data, const tbConstraint* constraint, const tbReal* velocity,
                       tbReal turn, tbReal* friction);

// The gap below which a contact touches, m. Expo detects contacts once per step, however long that
// is: boxes stacked with gaps of rounding size would fall for a step and land on one corner.
tbReal tb_touch_gap(const tbModel* model);

// Reference distance of the spring of a contact's normal or a limit that is first detected at this
// distance: the surface (0); that distance (contacts with contact_anchor_normal, EXP); or, for
// overlaps deeper than TB_DEEP or the displacement of a fast foot in a step, that much above it, so
// that an initial overlap, or one that light parts made within a step, stores no more energy than
// that.
#define TB_DEEP 0.005       // m
#define TB_FAST 2.0         // m/s
#define TB_DEEP_ANGLE 0.02  // rad
#define TB_FAST_TURN 20.0   // rad/s
tbReal tb_first_depth(const tbModel* model, const tbConstraint* constraint);

// The same one step later: the reference returns to the surface at correction_speed.
tbReal tb_next_depth(const tbModel* model, const tbConstraint* constraint, tbReal depth);

// Make the anchors of the measured springs those of the world; tb_anchors_restore undoes it.
tbResult tb_anchors_exchange(const tbStep* step);
void tb_anchors_restore(const tbStep* step);

// From the smooth forces to the next velocity, and to the mean velocity that moves the
// configuration (state->v_move). Forces are those of the start (explicit integrators) or the mean
// over the step (expo). Fills qacc, qfrc_constraint, contact forces, and the inputs of the
// certificate.
tbResult tb_viscoelastic_velocity(const tbStep* step, tbReal* v_next);

// Mean forces over the step by the exponential integrator (EXP eq. 9-26): impulses of each island
// into its lambda, and for the position the mean of the mean, by rows of the constraints.
tbResult tb_expo_forces(const tbStep* step, const tbSprings* springs, tbInertiaFactor factor,
                        const tbReal* qacc_free, tbIslands* islands, tbReal* second);

// Whether forces are those of a state, not means over a step: all integrators except expo.
int tb_integrator_is_explicit(const tbModel* model);

// Store the springs of the start of a step. False when out of memory.
bool tb_springs_freeze(tbStepState* state);

// Replace the measured springs by the frozen ones, with the present slip directions; 0 if the
// acting constraints are not the same.
int tb_springs_restore_frozen(const tbData* data, tbStepState* state);

// Partials of the forces at a state, or of the exponential integrator's step. TB_ERROR_UNSUPPORTED
// where only differences are available.
tbResult tb_viscoelastic_linearize(tbDerivatives* x, const tbStep* step,
                                   const tbDerivativeSettings* settings);

#endif
