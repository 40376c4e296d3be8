// Smooth forces of a step: everything that is not a constraint.
#ifndef TRIBO_STEP_FORCES_H_
#define TRIBO_STEP_FORCES_H_

#include <stdbool.h>

#include "contact/assemble.h"

// qfrc_spring, qfrc_damper, qfrc_gravcomp, qfrc_fluid and their sum qfrc_passive. After
// tb_compute_velocity.
void tb_passive(const tbModel* m, tbData* d);

// Force of a tendon's spring and damper along its length, N. After tb_compute_velocity.
tbReal tb_tendon_passive(const tbModel* m, const tbData* d, int tendon);

// qfrc_fluid: drag and lift of the medium on every body.
void tb_fluid(const tbModel* m, tbData* d);

// Drag of the medium over velocity, at most: what stops a body of this mass or inertia within a
// step. More would turn it round, ever faster. Of all bodies H >= h (drag), so that none of them
// does, by whatever joints. No bound under the law soft, whose steps are MuJoCo's.
tbReal tb_most_drag(const tbModel* m, tbReal inertia);

// Whether there is a medium, and passive forces are not off altogether.
int tb_has_fluid(const tbModel* m);

// The same on the geoms of a body as ellipsoids, where one of them asks for it: 1, else 0.
int tb_fluid_ellipsoids(const tbModel* m, tbData* d, int body);

// Moments and velocities of actuators that pull on a body's contacts. After the contacts are found.
void tb_adhesion(const tbModel* m, tbData* d);

// Whether there is no actuation at all: then, as in MuJoCo, joints whose gravity compensation
// counts as actuation go without it.
static inline int tb_is_unactuated(const tbModel* m) {
  return m->nu == 0 || (m->opt.disableflags & TB_DISABLE_ACTUATION) != 0;
}

// act_dot, actuator_force, qfrc_actuator. After tb_passive.
void tb_actuation(const tbModel* m, tbData* d);

// force (nv) += sign times what Coriolis and gyroscopic forces of the middle of the step, or such
// that add no energy, have beside those of its start, where trees turn; `H` is the inertia of the
// step. After tb_compute_velocity.
void tb_add_coriolis(const tbModel* m, tbData* d, tbInertiaFactor H, tbReal sign, tbReal* force);

// Of an integrator that moves by another velocity than that of the end: trees that turn faster than
// a step resolves end it, at v, with the momentum that they have before they move, and with no more
// energy. True where there was one.
// `H` is the inertia of the step, `room` of nv numbers.
bool tb_keep_turning(const tbModel* m, tbData* d, tbInertiaFactor H, const tbReal* move, tbReal* v,
                     tbReal* room);

// Where Coriolis forces of a tree are those of the middle of the step (coriolis.c, eq. 2): u, and
// the velocity v there, of its dofs. Else false.
bool tb_middle_velocity(const tbModel* m, tbData* d, tbInertiaFactor H, int tree, tbReal* u,
                        tbReal* v);

// How the fastest tree turns: slowly, so that forces of the start will do, as a step resolves it,
// or faster. Bodies that fly free have ways of their own.
typedef enum { TB_TURNS_SLOWLY, TB_TURNS, TB_TURNS_FAST } tbTurning;
tbTurning tb_turning(const tbModel* m, tbData* d);

// The time that takes an activation with a constant rate where a step takes it.
tbReal tb_activation_reach(const tbModel* m, int actuator);

// The activation one step ahead, clamped where the actuator asks for it.
tbReal tb_next_activation(const tbModel* m, const tbData* d, int actuator, int state,
                          tbReal act_dot);

// All of them, in place.
void tb_next_activations(const tbModel* m, tbData* d, const tbReal* act_dot);

// Derivative of an actuator's force with respect to its velocity.
tbReal tb_actuator_velocity_gain(const tbModel* m, const tbData* d, int actuator);

// Derivative of a servo's force with respect to its length: that of its affine bias.
tbReal tb_actuator_position_gain(const tbModel* m, int actuator);

#endif
