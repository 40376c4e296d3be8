// Smooth forces of a step: everything that is not a constraint.
#ifndef TRIBO_FORCES_FORCES_H_
#define TRIBO_FORCES_FORCES_H_

#include <stdbool.h>

#include "dynamics/mass.h"

// qfrc_spring, qfrc_damper, qfrc_gravcomp, qfrc_fluid and their sum qfrc_passive. After
// tb_compute_velocity.
void tb_passive(const tbModel* m, tbData* d);

// Force of a tendon's spring and damper along its length, N. After tb_compute_velocity.
tbReal tb_tendon_passive(const tbModel* m, const tbData* d, int tendon);

// qfrc_fluid: drag and lift of the medium on every body.
void tb_fluid(const tbModel* m, tbData* d);

// Upper bound of the drag of the medium over velocity: the value that stops a body of this mass or
// inertia within a step. A larger one would reverse the velocity and increase it. With H >= h
// (drag) summed over all bodies no velocity is reversed, whatever the joints. No bound under the
// soft law, whose steps are MuJoCo's.
tbReal tb_most_drag(const tbModel* m, tbReal inertia);

// Whether there is a medium, and passive forces are not all disabled.
int tb_has_fluid(const tbModel* m);

// The same on the geoms of a body as ellipsoids, if one of them selects that model: returns 1, else
// 0.
int tb_fluid_ellipsoids(const tbModel* m, tbData* d, int body);

// tb_body_contact_wrench of every body, about its centre of mass: nbody rows of 6.
void tb_body_contact_wrenches(const tbModel* m, const tbData* d, tbReal* wrench);

// Moments and velocities of actuators that act on a body's contacts. After the contacts are found.
void tb_adhesion(const tbModel* m, tbData* d);

// Whether there is no actuation: then, as in MuJoCo, joints whose gravity compensation counts as
// actuation have none.
static inline int tb_is_unactuated(const tbModel* m) {
  return m->nu == 0 || (m->opt.disableflags & TB_DISABLE_ACTUATION) != 0;
}

// act_dot, actuator_force, qfrc_actuator. After tb_passive.
void tb_actuation(const tbModel* m, tbData* d);

// For trees that rotate: force (nv) += sign times the difference between the Coriolis and
// gyroscopic forces that a step should use (those of its middle, or such that add no energy) and
// those of its start, which qfrc_bias contains. `H` is the inertia of the step. After
// tb_compute_velocity.
void tb_add_coriolis(const tbModel* m, tbData* d, tbInertiaFactor H, tbReal sign, tbReal* force);

// Kinetic-energy limit for integrators that move the configuration by another velocity than v, the
// one at the end of the step: a tree that turns faster than a step resolves ends the step with the
// momentum that it had before it moved, and with no more energy. True if there was such a tree. `H`
// is the inertia of the step, `room` has nv numbers.
bool tb_limit_kinetic_energy(const tbModel* m, tbData* d, tbInertiaFactor H, const tbReal* move,
                             tbReal* v, tbReal* room);

// True if the Coriolis forces of a tree are those of the middle of the step (coriolis_midpoint.c,
// eq. 2): then sets u, and the velocity v there, for its dofs.
bool tb_middle_velocity(const tbModel* m, tbData* d, tbInertiaFactor H, int tree, tbReal* u,
                        tbReal* v);

// Rotation of the fastest tree: so slow that forces of the start suffice, resolved by a step, or
// faster. Free-floating bodies are left out: see gyroscopic_midpoint.h.
typedef enum { TB_TURNS_SLOWLY, TB_TURNS, TB_TURNS_FAST } tbTurning;
tbTurning tb_turning(const tbModel* m, tbData* d);

// Time for which the activation's rate, held constant, would have to act for the change that the
// step makes (filters are integrated exactly), s.
tbReal tb_activation_reach(const tbModel* m, int actuator);

// The activation one step ahead, clamped if the actuator limits it.
tbReal tb_next_activation(const tbModel* m, const tbData* d, int actuator, int state,
                          tbReal act_dot);

// The same for all activations, in place.
void tb_next_activations(const tbModel* m, tbData* d, const tbReal* act_dot);

// Derivative of an actuator's force with respect to its velocity.
tbReal tb_actuator_velocity_gain(const tbModel* m, const tbData* d, int actuator);

// Derivative of a servo's force with respect to its length, from its affine bias.
tbReal tb_actuator_position_gain(const tbModel* m, int actuator);

#endif
