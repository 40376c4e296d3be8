// A ball joint: rotation about the anchor.
#ifndef TRIBO_DYNAMICS_JOINTS_BALL_H_
#define TRIBO_DYNAMICS_JOINTS_BALL_H_

#include "dynamics/joints/pose.h"

TB_ANY_INLINE void tb_joint_place_ball(const tbJointPose* j, tbReal pos[3], tbReal quat[4],
                                       tbReal anchor[3], tbReal axis[3]) {
  tbReal turn[4];
  tb_joint_anchor(j, pos, quat, anchor, axis);
  tb_quat_unit(turn, j->q);
  tb_joint_turn(j, turn, anchor, pos, quat);
}

TB_INLINE void tb_joint_axes_ball(const tbReal xmat[9], const tbReal xaxis[3],
                                  const tbReal offset[3], tbReal* cdof) {
  (void)xaxis;
  tb_axes_of_rotations(cdof, xmat, offset);
}

TB_ANY_INLINE void tb_joint_carry_ball(const tbJointPose* j, const tbReal* v, const tbReal last[4],
                                       tbMovingFrame* b) {
  tbReal spin[3];
  tb_quat_rotate(spin, last, v);
  tb_carry_turn(j, j->q, spin, b);
}

#endif
