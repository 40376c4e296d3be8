// One joint's and one body's part of the recursions over velocities and forces (docs/dynamics.md,
// eq. 8-9 and 18).
#ifndef TRIBO_DYNAMICS_NEWTON_EULER_H_
#define TRIBO_DYNAMICS_NEWTON_EULER_H_

#include "spatial/wide.h"
#include "tribo/data.h"

// Add one joint's motion to the velocity v of its body, and set how its axes change: an axis fixed
// to a body changes with the velocity of that body.
TB_INLINE void tb_joint_velocity(int type, tbReal v[6], const tbReal* cdof, const tbReal* qvel,
                                 tbReal* cdof_dot, int wide) {
  if (type == TB_JOINT_FREE) {
    // The three translations are along fixed axes.
    for (int k = 0; k < 18; k++) cdof_dot[k] = 0;
    for (int k = 0; k < 3; k++) v[3 + k] += qvel[k];
    cdof += 18;
    qvel += 3;
    cdof_dot += 18;
  }
  if (type == TB_JOINT_FREE || type == TB_JOINT_BALL) {
    // The axes turn with the joint itself too, but that part cancels in their sum w x w.
    for (int k = 0; k < 3; k++) tb_wide_motion_cross(wide, cdof_dot + 6 * k, v, cdof + 6 * k);
    for (int k = 0; k < 3; k++) tb_wide_add_scaled6(v, qvel[k], cdof + 6 * k);
  } else {
    tb_wide_motion_cross(wide, cdof_dot, v, cdof);
    tb_wide_add_scaled6(v, *qvel, cdof);
  }
}

// The force that gives a body its acceleration: I a + v x* I v.
TB_INLINE void tb_inertial_force(const tbReal inertia[10], const tbReal velocity[6],
                                 const tbReal acceleration[6], tbReal force[6], int wide) {
  tbReal momentum[6], inertial[6], gyroscopic[6];
  tb_wide_inertia_mul(wide, inertial, inertia, acceleration);
  tb_wide_inertia_mul(wide, momentum, inertia, velocity);
  tb_wide_force_cross(wide, gyroscopic, velocity, momentum);
  for (int i = 0; i < 6; i++) force[i] = inertial[i] + gyroscopic[i];
}

#endif
