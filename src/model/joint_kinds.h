// Every type of joint, once:
//
//   X(TYPE, "word", nq, nv, translations, limits, FLAGS, function)
//
// TYPE          TB_JOINT_TYPE                     "word"  the type in MJCF
// nq            coordinates: numbers, then a unit quaternion if there is one coordinate more than
//               dofs
// nv            dofs: the rates of the numbers, then an angular velocity in the body's axes if
//               there is a quaternion
// translations  3 if the joint gives the body's pose in the world: the first three numbers are its
//               position and their dofs are along the world's axes; such a joint is alone on a
//               child of the world, has six dofs, and neither anchor nor range. Else 0. The axes of
//               all other dofs are fixed in the body that the joint moves
// limits        2: the range bounds the first number from both sides; 1: it bounds the angle of the
//               quaternion from above; 0: no range
// FLAGS         TB_JOINT_FLAGS below
// function      tb_joint_place_<function>, tb_joint_axes_<function> and tb_joint_carry_<function>:
//               of dynamics/joints/<function>.h, an extension's of its C files
//
// The configuration space (model/joint_space.h: integrating, differences, springs, limits) follows
// from the line; how the body moves is in the three functions. The loaders, the checks of a model,
// the dynamics and the derivatives read this list. A joint type is a line here, its enumerator in
// tribo/enums.h and its functions. Values are those of the enumerators, in their order.
#ifndef TRIBO_MODEL_JOINT_KINDS_H_
#define TRIBO_MODEL_JOINT_KINDS_H_

#include "base/kernel.h"
#include "tribo/enums.h"

#define TB_JOINTS(X)                                                 \
  X(FREE, "free", 7, 6, 3, 0, TB_WITH_NOTHING, free)                 \
  X(BALL, "ball", 4, 3, 0, 1, TB_WITH_ANGLE, ball)                   \
  X(SLIDE, "slide", 1, 1, 0, 2, TB_WITH_AXIS, slide)                 \
  X(HINGE, "hinge", 1, 1, 0, 2, TB_WITH_AXIS | TB_WITH_ANGLE, hinge) \
  TB_EXTENSION_JOINTS(X)

// TB_JOINT_FLAGS
enum {
  TB_WITH_NOTHING = 0,
  TB_WITH_AXIS = 1 << 0,   // has an axis, the attribute of MJCF
  TB_WITH_ANGLE = 1 << 1,  // the range is of an angle; with an axis, so is the first number, and
                           // the joint turns the body about its axis by it
};

// Bounds of nq and nv.
enum { TB_JOINT_MOST_NQ = 7, TB_JOINT_MOST_NV = 6 };

// Properties of a type, a valid one. Switches over the list, one for each property, because device
// code cannot read tables of file scope, and because compilers make comparisons of most of them.
#define TB_JOINT_PROPERTY(name)      \
  TB_ANY_INLINE int name(int type) { \
    switch (type) {                  \
      TB_JOINTS(X)                   \
      default: return 0;             \
    }                                \
  }

#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return nq;
TB_JOINT_PROPERTY(tb_joint_nq)
#undef X

#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return nv;
TB_JOINT_PROPERTY(tb_joint_nv)
#undef X

// Number of first dofs along fixed axes of the world, 0 or 3.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return translations;
TB_JOINT_PROPERTY(tb_joint_translations)
#undef X

// Number of other dofs, whose axes are fixed in the body.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return (nv) - (translations);
TB_JOINT_PROPERTY(tb_joint_body_axes)
#undef X

// Whether it is the free joint of a body that floats in the world.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return (translations) > 0;
TB_JOINT_PROPERTY(tb_joint_floats)
#undef X

// Number of sides of its limit: 0, 1 or 2.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return limits;
TB_JOINT_PROPERTY(tb_joint_limits)
#undef X

#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return ((flags)&TB_WITH_AXIS) != 0;
TB_JOINT_PROPERTY(tb_joint_has_axis)
#undef X

#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return (nq) > (nv);
TB_JOINT_PROPERTY(tb_joint_has_quaternion)
#undef X

// Number of coordinates that are numbers with their rates as dofs; coordinates and dofs of a
// rotation follow them.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return (nq) > (nv) ? (nv)-3 : (nv);
TB_JOINT_PROPERTY(tb_joint_numbers)
#undef X

// One coordinate, with its rate as dof: what equalities, tendons over joints and jointpos need.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return (nq) == 1;
TB_JOINT_PROPERTY(tb_joint_is_scalar)
#undef X

// The coordinates are one quaternion: a rotation relative to the parent.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return (nq) == 4 && (nv) == 3;
TB_JOINT_PROPERTY(tb_joint_is_rotation)
#undef X

// Limits are of an angle.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return ((flags)&TB_WITH_ANGLE) != 0;
TB_JOINT_PROPERTY(tb_joint_limits_angle)
#undef X

// The first coordinate is an angle about the axis.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return (flags) == (TB_WITH_AXIS | TB_WITH_ANGLE);
TB_JOINT_PROPERTY(tb_joint_turns_about_axis)
#undef X

// Whether it changes the orientation of its body.
#define X(TYPE, word, nq, nv, translations, limits, flags, function) \
  case TB_JOINT_##TYPE: return (nq) > (nv) || (flags) == (TB_WITH_AXIS | TB_WITH_ANGLE);
TB_JOINT_PROPERTY(tb_joint_turns)
#undef X

#undef TB_JOINT_PROPERTY

#endif
