// The viscoelastic law (EXP): every constraint is a spring and a damper, contacts with anchor
// points that slip where the force would leave the friction cone. Which integrator moves the state
// is tbOption.integrator's choice: see docs/viscoelastic.md and docs/expo.md.
#ifndef TRIBO_LAWS_VISCOELASTIC_VISCOELASTIC_H_
#define TRIBO_LAWS_VISCOELASTIC_VISCOELASTIC_H_

#include "world/state.h"

// After tb_assemble_rows: stretch, rate and force of every constraint that acts, from the anchors
// of the last step, in the arena. Anchors of slipping contacts have already followed (EXP eq. 28).
tbResult tb_springs_measure(const tbModel* model, tbData* data, tbStepState* state,
                            tbSprings* springs);

// A contact of a body that turns by more than this in a step, rad: where its points go the step's
// linear model does not say. Less of bodies that fly free, whose turning nothing else holds.
#define TB_UNRESOLVED_TURN 0.1
#define TB_UNRESOLVED_FREE_TURN 0.03
bool tb_contact_is_unresolved(const tbModel* model, const tbData* data, const tbConstraint* c);

static inline bool tb_is_dry_friction(const tbConstraint* c) {
  return c->source == TB_SOURCE_FRICTION_DOF || c->source == TB_SOURCE_FRICTION_TENDON;
}

// Hold a constraint's force within its limits: friction cone, no pull, box (EXP eq. 21-22). The
// normal part is kept. Returns 1 where friction was cut.
int tb_spring_limit(const tbModel* model, const tbData* data, const tbConstraint* constraint,
                    tbReal* force);

// How the limited force follows the raw one: slope (dim x dim) and by both sliding coefficients
// (dim). 0 where the force is constant; then both are zero.
int tb_limit_slope(const tbModel* model, const tbData* data, const tbConstraint* constraint,
                   const tbReal* raw, tbReal* slope, tbReal* by_friction);

// 1 where a raw force is within `near` (N) of where its limit bends.
int tb_limit_near(const tbModel* model, const tbData* data, const tbConstraint* constraint,
                  const tbReal* raw, tbReal near);

// Friction per normal force, rows 1 on, of a contact whose point slips with this velocity: what
// brakes it most, which is where the law's damper turns it within no time. Left as it is where the
// velocity has turned away from it by more than 60 degrees. Friction that is held over a step
// overshoots across a slow slip: from step to step it would point to one side and to the other and
// brake less than the cone allows, and what is to stop on a slope would creep on at about h mu g.
// So where it may turn the slip by `turn` rad, more than 1, it goes 1 / turn of the way from what
// it was.
void tb_slip_direction(const tbData* data, const tbConstraint* constraint, const tbReal* velocity,
                       tbReal turn, tbReal* friction);

// The gap that counts as touch, m. Expo sees its contacts once in a step, however long that is:
// boxes put on each other, with gaps of rounding, would fall for a step and land on one corner.
tbReal tb_touch_gap(const tbModel* model);

// Depth from which the spring of a contact's normal or a limit counts, where it is first seen at
// this distance: the surface (0), that distance (contacts with contact_anchor_normal, EXP), or
// where it is deeper than TB_DEEP or the way of a fast foot in a step, that much above it: an
// overlap that was there at the start, or that light parts ran into within a step, holds no more
// energy than that.
#define TB_DEEP 0.005       // m
#define TB_FAST 2.0         // m/s
#define TB_DEEP_ANGLE 0.02  // rad
#define TB_FAST_TURN 20.0   // rad/s
tbReal tb_first_depth(const tbModel* model, const tbConstraint* constraint);

// The same after one step: it comes up to the surface at correction_speed.
tbReal tb_next_depth(const tbModel* model, const tbConstraint* constraint, tbReal depth);

// Make the anchors of the measured springs those of the world; restore takes that back.
tbResult tb_anchors_exchange(const tbModel* model, const tbData* data, tbStepState* state);
void tb_anchors_restore(tbStepState* state);

// From the smooth forces to the next velocity, and to the mean one that moves the configuration
// (state->v_move). Forces are those of the start (explicit integrators) or the mean over the step
// (expo). Fills qacc, qfrc_constraint, contact forces, and what the certificate is made from.
tbResult tb_viscoelastic_velocity(const tbModel* model, tbData* data, tbStepState* state,
                                  tbReal* v_next);

// Mean forces over the step by the exponential integrator (EXP eq. 9-26): impulses of each island
// into its lambda, and for the position the mean of the mean, by rows of the constraints.
tbResult tb_expo_forces(const tbModel* model, tbData* data, tbStepState* state,
                        const tbSprings* springs, tbInertiaFactor factor, const tbReal* qacc_free,
                        tbIslands* islands, tbReal* second);

// Forces are those of a state, not means over a step: everything but expo.
int tb_integrator_is_explicit(const tbModel* model);

// After the law's velocity at the start of a step: the same step with what varies slowly taken from
// its middle. Moves qpos, qvel and time.
tbResult tb_expo_midpoint(const tbModel* model, tbData* data, tbStepState* state,
                          const tbReal* v_next);

// Whether a step of expo-midpoint may be divided (again), and how often it is at most.
enum { TB_MOST_SUBSTEPS = 12 };
int tb_step_splits(const tbModel* model, const tbStepState* state);

// After the law's velocity at the start of a step: makes the step in two parts where a contact
// changes its kind within it. False where none does; then nothing has been done.
bool tb_expo_substeps(const tbModel* model, tbData* data, const tbReal* v_next, tbResult* result);

// Keep the springs of the start of a step. False when out of memory.
bool tb_springs_freeze(tbStepState* state);

// Put the held springs in the place of the measured ones, those that slip with the direction they
// have now; 0 where they are not the same ones.
int tb_springs_restore_frozen(const tbData* data, tbStepState* state);

// Implicit Euler from the state at the start of a step, whose forces have just been computed. Moves
// qpos, qvel and time. Newton's iterations and residual (m/s) go to data->solve.
tbResult tb_euler_implicit(const tbModel* model, tbData* data, tbStepState* state);

#endif
