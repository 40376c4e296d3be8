// What the functions of the joint types work on: a joint's constants and coordinates, and frames
// that move.
#ifndef TRIBO_DYNAMICS_JOINTS_POSE_H_
#define TRIBO_DYNAMICS_JOINTS_POSE_H_

#include "base/kernel.h"
#include "spatial/quat.h"

typedef struct {
  const tbReal *offset, *axis;  // anchor and axis in the body
  const tbReal *q, *q0;  // coordinates, and those in which the body is at its pose of the file
  tbReal sine, cosine;  // of half of q - q0, for tb_joint_turns_about_axis; tb_joint_carry: not set
} tbJointPose;

// A frame, its angular velocity, and the velocity of its origin.
typedef struct {
  tbReal pos[3], quat[4], omega[3], velocity[3];
} tbMovingFrame;

// The joint's anchor and axis from the frame before it.
TB_ANY_INLINE void tb_joint_anchor(const tbJointPose* j, const tbReal pos[3], const tbReal quat[4],
                                   tbReal anchor[3], tbReal axis[3]) {
  tb_copy3(anchor, pos);
  if (!tb_is_zero3(j->offset)) {
    tb_quat_rotate(anchor, quat, j->offset);
    tb_add3(anchor, anchor, pos);
  }
  tb_quat_rotate(axis, quat, j->axis);
}

// Turn the frame about the anchor, which stays where it is.
TB_ANY_INLINE void tb_joint_turn(const tbJointPose* j, const tbReal turn[4], const tbReal anchor[3],
                                 tbReal pos[3], tbReal quat[4]) {
  tb_quat_mul(quat, quat, turn);
  if (!tb_is_zero3(j->offset)) {
    tb_quat_rotate(pos, quat, j->offset);
    tb_sub3(pos, anchor, pos);
  }
}

// Move the reference point of the velocity, and the origin, to `pos`.
TB_ANY_INLINE void tb_carry_to(tbMovingFrame* b, const tbReal pos[3]) {
  tbReal arm[3], turning[3];
  tb_sub3(arm, pos, b->pos);
  tb_cross(turning, b->omega, arm);
  tb_add3(b->velocity, b->velocity, turning);
  tb_copy3(b->pos, pos);
}

// Turn a moving frame about the joint's anchor, with the angular velocity `spin`.
TB_ANY_INLINE void tb_carry_turn(const tbJointPose* j, const tbReal turn[4], const tbReal spin[3],
                                 tbMovingFrame* b) {
  tbReal anchor[3], arm[3];
  tb_quat_rotate(anchor, b->quat, j->offset);
  tb_add3(anchor, anchor, b->pos);
  tb_carry_to(b, anchor);
  tb_add3(b->omega, b->omega, spin);
  tb_quat_mul(b->quat, b->quat, turn);
  tb_quat_rotate(arm, b->quat, j->offset);
  tb_sub3(anchor, anchor, arm);
  tb_carry_to(b, anchor);
}

// ---- axes of dofs: angular part, then the linear velocity of the tree's centre
// --------------------

// Rotation about `axis` through a point that lies `offset` before the centre.
TB_INLINE void tb_axis_of_rotation(tbReal* cdof, const tbReal axis[3], const tbReal offset[3]) {
  tb_copy3(cdof, axis);
  tb_cross(cdof + 3, axis, offset);
}

// Rotations about the three axes of the body.
TB_INLINE void tb_axes_of_rotations(tbReal* cdof, const tbReal xmat[9], const tbReal offset[3]) {
  for (int k = 0; k < 3; k++) {
    tbReal axis[3] = {xmat[k], xmat[3 + k], xmat[6 + k]};
    tb_axis_of_rotation(cdof + 6 * k, axis, offset);
  }
}

#endif
