// Partial derivatives of the velocity-product term, the acceleration of bodies for qacc zero
// (docs/notebook/derivatives.md, eq. 4-7 with zero gravity and qacc).
#ifndef TRIBO_DYNAMICS_DRIFT_H_
#define TRIBO_DYNAMICS_DRIFT_H_

#include "tribo/data.h"

// For the dofs of one joint: derivative of the acceleration of the bodies that each dof moves by
// its coordinate, except for the rotation with it (eq. 6), into `drift` (6 nv), from acceleration
// `a` and velocity `v` before the joint, which are updated to those after it. qacc may be NULL for
// zero.
void tb_joint_velocity_product(const tbModel* m, const tbData* d, int joint, const tbReal* qacc,
                               tbReal a[6], tbReal v[6], tbReal* drift);

// Derivative of the acceleration by qvel_k besides S_k x V (eq. 7).
void tb_velocity_drift(const tbModel* m, const tbData* d, int k, tbReal drift[6]);

// For all bodies: the velocity-product acceleration of each (6 nbody, about its tree's centre of
// mass) and eq. 6 of each dof (6 nv). After tb_com_velocity.
void tb_velocity_product(const tbModel* m, const tbData* d, tbReal* acceleration, tbReal* by_dof);

// Partials of tb_jac_dot_v at a point fixed in the world.
typedef struct {
  tbReal linear_q[3], angular_q[3], linear_v[3], angular_v[3];
} tbVelocityProductPartials;

// For the body's chain of dofs (tb_body_chain), one entry per dof, from the results of
// tb_velocity_product.
void tb_velocity_product_partials(const tbModel* m, const tbData* d, int body,
                                  const tbReal point[3], const tbReal* acceleration,
                                  const tbReal* by_dof, tbVelocityProductPartials* out);

// The partial by the position of the point: out = d(linear acceleration)/d(point), 3 x 3.
void tb_velocity_product_of_point(const tbData* d, int body, const tbReal* acceleration,
                                  tbReal out[9]);

#endif
