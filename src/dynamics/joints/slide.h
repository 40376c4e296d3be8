// A slide: translation along the axis.
#ifndef TRIBO_DYNAMICS_JOINTS_SLIDE_H_
#define TRIBO_DYNAMICS_JOINTS_SLIDE_H_

#include "dynamics/joints/pose.h"

TB_ANY_INLINE void tb_joint_place_slide(const tbJointPose* j, tbReal pos[3], tbReal quat[4],
                                        tbReal anchor[3], tbReal axis[3]) {
  tb_joint_anchor(j, pos, quat, anchor, axis);
  tb_add_scaled3(pos, pos, j->q[0] - j->q0[0], axis);
}

TB_INLINE void tb_joint_axes_slide(const tbReal xmat[9], const tbReal xaxis[3],
                                   const tbReal offset[3], tbReal* cdof) {
  (void)xmat;
  (void)offset;
  tb_zero3(cdof);
  tb_copy3(cdof + 3, xaxis);
}

TB_ANY_INLINE void tb_joint_carry_slide(const tbJointPose* j, const tbReal* v, const tbReal last[4],
                                        tbMovingFrame* b) {
  tbReal axis[3], pos[3];
  (void)last;
  tb_quat_rotate(axis, b->quat, j->axis);
  tb_add_scaled3(pos, b->pos, j->q[0] - j->q0[0], axis);
  tb_carry_to(b, pos);
  tb_add_scaled3(b->velocity, b->velocity, v[0], axis);
}

#endif
