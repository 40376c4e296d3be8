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

// The most that the drag of the medium may be over velocity: what stops a body of this mass or
// inertia within a step. More would turn it round, ever faster. With H >= h (drag) summed over all
// bodies none of them turns round, whatever joints there are. No bound under the law soft, whose
// steps are MuJoCo's.
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

// Where trees turn: force (nv) += sign times what the Coriolis and gyroscopic forces that a step
// should take (those of its middle, or such that add no energy) have beside those of its start,
// which qfrc_bias holds. `H` is the inertia of the step. After tb_compute_velocity.
void tb_add_coriolis(const tbModel* m, tbData* d, tbInertiaFactor H, tbReal sign, tbReal* force);

// For integrators that move the configuration by another velocity than the one the step ends with,
// v: a tree that turns faster than a step resolves ends it with the momentum that it had before it
// moved, and with no more energy. True where there was such a tree. `H` is the inertia of the step,
// `room` of nv numbers.
bool tb_limit_kinetic_energy(const tbModel* m, tbData* d, tbInertiaFactor H, const tbReal* move,
                             tbReal* v, tbReal* room);

// True where the Coriolis forces of a tree are those of the middle of the step (coriolis.c, eq. 2):
// then u, and the velocity v there, of its dofs.
bool tb_middle_velocity(const tbModel* m, tbData* d, tbInertiaFactor H, int tree, tbReal* u,
                        tbReal* v);

// How the fastest tree turns: so slowly that forces of the start will do, as fast as a step
// resolves, or faster. Bodies that fly free are left out: free_turn.h is for them.
typedef enum { TB_TURNS_SLOWLY, TB_TURNS, TB_TURNS_FAST } tbTurning;
tbTurning tb_turning(const tbModel* m, tbData* d);

// For how long its rate, held constant, would have to act to take an activation to where the step
// takes it (filters are stepped exactly), s.
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
