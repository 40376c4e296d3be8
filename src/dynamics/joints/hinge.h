// A hinge: rotation about the axis. A body with one hinge has a faster path in kinematics.c.
#ifndef TRIBO_DYNAMICS_JOINTS_HINGE_H_
#define TRIBO_DYNAMICS_JOINTS_HINGE_H_

#include "dynamics/joints/pose.h"

TB_ANY_INLINE void tb_joint_place_hinge(const tbJointPose* j, tbReal pos[3], tbReal quat[4],
                                        tbReal anchor[3], tbReal axis[3]) {
  tbReal s = j->sine, turn[4] = {j->cosine, s * j->axis[0], s * j->axis[1], s * j->axis[2]};
  tb_joint_anchor(j, pos, quat, anchor, axis);
  tb_joint_turn(j, turn, anchor, pos, quat);
}

TB_INLINE void tb_joint_axes_hinge(const tbReal xmat[9], const tbReal xaxis[3],
                                   const tbReal offset[3], tbReal* cdof) {
  (void)xmat;
  tb_axis_of_rotation(cdof, xaxis, offset);
}

TB_ANY_INLINE void tb_joint_carry_hinge(const tbJointPose* j, const tbReal* v, const tbReal last[4],
                                        tbMovingFrame* b) {
  tbReal axis[3], spin[3], turn[4] = {1, 0, 0, 0};
  (void)last;
  tb_quat_rotate(axis, b->quat, j->axis);
  tb_quat_integrate(turn, j->axis, j->q[0] - j->q0[0]);
  tb_scale3(spin, axis, v[0]);
  tb_carry_turn(j, turn, spin, b);
}

#endif
