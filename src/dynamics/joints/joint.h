// How a joint moves its body, by type (model/joint_kinds.h): the frame after it, the axes of its
// dofs, and frames with their velocities. A switch, so that the compiler inlines; compiles as C and
// as CUDA.
#ifndef TRIBO_DYNAMICS_JOINTS_JOINT_H_
#define TRIBO_DYNAMICS_JOINTS_JOINT_H_

#include "dynamics/joints/ball.h"
#include "dynamics/joints/free.h"
#include "dynamics/joints/hinge.h"
#include "dynamics/joints/slide.h"
#include "model/joint_kinds.h"

// Functions of an extension's joints, in its C files.
#define X(TYPE, word, nq, nv, translations, limits, flags, function)                          \
  void tb_joint_place_##function(const tbJointPose* j, tbReal pos[3], tbReal quat[4],         \
                                 tbReal anchor[3], tbReal axis[3]);                           \
  void tb_joint_axes_##function(const tbReal xmat[9], const tbReal xaxis[3],                  \
                                const tbReal offset[3], tbReal* cdof);                        \
  void tb_joint_carry_##function(const tbJointPose* j, const tbReal* v, const tbReal last[4], \
                                 tbMovingFrame* b);
TB_EXTENSION_JOINTS(X)
#undef X

// Move the frame (pos, quat) by a joint, and compute its anchor and its axis in the world. For a
// floating joint the frame before it is not read.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: tb_joint_place_##function(j, pos, quat, anchor, axis); break;
TB_ANY_INLINE void tb_joint_place(int type, const tbJointPose* j, tbReal pos[3], tbReal quat[4],
                                  tbReal anchor[3], tbReal axis[3]) {
  switch (type) {
    TB_JOINTS(X)
    default: break;
  }
}
#undef X

// The axes of a joint's dofs (6 nv) about the tree's centre, at `offset` from the anchor, from the
// frame of its body, after all joints of the body, and the joint's axis.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: tb_joint_axes_##function(xmat, xaxis, offset, cdof); break;
TB_INLINE void tb_joint_axes(int type, const tbReal xmat[9], const tbReal xaxis[3],
                             const tbReal offset[3], tbReal* cdof) {
  switch (type) {
    TB_JOINTS(X)
    default: break;
  }
}
#undef X

// Move a frame by a joint with the velocities v. Angular velocities of a quaternion's dofs are in
// the axes of the body after all its joints, `last`. The quaternion must have unit length.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: tb_joint_carry_##function(j, v, last, b); break;
TB_ANY_INLINE void tb_joint_carry(int type, const tbJointPose* j, const tbReal* v,
                                  const tbReal last[4], tbMovingFrame* b) {
  switch (type) {
    TB_JOINTS(X)
    default: break;
  }
}
#undef X

#endif
