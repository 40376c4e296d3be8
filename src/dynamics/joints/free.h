// A free joint: position in the world and orientation of a body.
#ifndef TRIBO_DYNAMICS_JOINTS_FREE_H_
#define TRIBO_DYNAMICS_JOINTS_FREE_H_

#include "dynamics/joints/pose.h"

TB_ANY_INLINE void tb_joint_place_free(const tbJointPose* j, tbReal pos[3], tbReal quat[4],
                                       tbReal anchor[3], tbReal axis[3]) {
  tb_copy3(pos, j->q);
  tb_quat_unit(quat, j->q + 3);
  tb_copy3(anchor, pos);
  tb_copy3(axis, j->axis);
}

TB_INLINE void tb_joint_axes_free(const tbReal xmat[9], const tbReal xaxis[3],
                                  const tbReal offset[3], tbReal* cdof) {
  (void)xaxis;
  for (int k = 0; k < 18; k++) cdof[k] = 0;
  cdof[3] = cdof[10] = cdof[17] = 1;
  tb_axes_of_rotations(cdof + 18, xmat, offset);
}

TB_ANY_INLINE void tb_joint_carry_free(const tbJointPose* j, const tbReal* v, const tbReal last[4],
                                       tbMovingFrame* b) {
  tb_copy3(b->pos, j->q);
  tb_copy3(b->velocity, v);
  for (int i = 0; i < 4; i++) b->quat[i] = j->q[3 + i];
  tb_quat_rotate(b->omega, last, v + 3);
}

#endif
