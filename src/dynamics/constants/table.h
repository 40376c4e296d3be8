// Inputs and outputs of tb_set_constants, in groups: a constant follows from the arrays of
// every group that its line names. Batches recompute by world the constants that follow from arrays
// of a world's own (src/batch/expand.c); test/dynamics/test_constants_table.c compares the table
// with what tb_set_constants does.
#ifndef TRIBO_DYNAMICS_CONSTANTS_TABLE_H_
#define TRIBO_DYNAMICS_CONSTANTS_TABLE_H_

enum {
  TB_FROM_MASS = 1 << 0,
  TB_FROM_ARMATURE = 1 << 1,
  TB_FROM_INERTIAL = 1 << 2,  // inertial frames
  TB_FROM_BODY = 1 << 3,      // frames of bodies, joints, the reference pose
  TB_FROM_GEOM = 1 << 4,      // frames and sizes of geoms
  TB_FROM_SITE = 1 << 5,
  TB_FROM_PATH = 1 << 6,  // what a tendon's path consists of
  TB_FROM_DRIVE = 1 << 7,
  TB_FROM_CAMERA = 1 << 8,
  TB_FROM_HFIELD = 1 << 9,
  // Arrays of which tb_set_constants completes what a file leaves open.
  TB_FROM_EQUALITY = 1 << 10,
  TB_FROM_SPRING = 1 << 11,
  TB_FROM_BIAS = 1 << 12,

  TB_FROM_LENGTHS = TB_FROM_BODY | TB_FROM_GEOM | TB_FROM_SITE | TB_FROM_PATH,
  TB_FROM_INERTIA = TB_FROM_MASS | TB_FROM_ARMATURE | TB_FROM_INERTIAL | TB_FROM_LENGTHS,
};

// X(array, group)
#define TB_CONSTANT_SOURCES(X)           \
  X(body_mass, TB_FROM_MASS)             \
  X(body_inertia, TB_FROM_MASS)          \
  X(dof_armature, TB_FROM_ARMATURE)      \
  X(tendon_armature, TB_FROM_ARMATURE)   \
  X(body_ipos, TB_FROM_INERTIAL)         \
  X(body_iquat, TB_FROM_INERTIAL)        \
  X(qpos0, TB_FROM_BODY)                 \
  X(body_pos, TB_FROM_BODY)              \
  X(body_quat, TB_FROM_BODY)             \
  X(jnt_pos, TB_FROM_BODY)               \
  X(jnt_axis, TB_FROM_BODY)              \
  X(geom_pos, TB_FROM_GEOM)              \
  X(geom_quat, TB_FROM_GEOM)             \
  X(geom_size, TB_FROM_GEOM)             \
  X(site_pos, TB_FROM_SITE)              \
  X(site_quat, TB_FROM_SITE)             \
  X(wrap_prm, TB_FROM_PATH)              \
  X(actuator_gear, TB_FROM_DRIVE)        \
  X(actuator_cranklength, TB_FROM_DRIVE) \
  X(cam_pos, TB_FROM_CAMERA)             \
  X(cam_quat, TB_FROM_CAMERA)            \
  X(hfield_size, TB_FROM_HFIELD)         \
  X(eq_data, TB_FROM_EQUALITY)           \
  X(tendon_lengthspring, TB_FROM_SPRING) \
  X(actuator_biasprm, TB_FROM_BIAS)

// X(array, groups that it follows from)
#define TB_CONSTANT_RESULTS(X)                                                    \
  X(body_subtreemass, TB_FROM_MASS)                                               \
  X(body_imat, TB_FROM_INERTIAL)                                                  \
  X(body_sameframe, TB_FROM_INERTIAL)                                             \
  X(body_invweight0, TB_FROM_INERTIA)                                             \
  X(dof_invweight0, TB_FROM_INERTIA)                                              \
  X(dof_M0, TB_FROM_MASS | TB_FROM_ARMATURE | TB_FROM_INERTIAL | TB_FROM_BODY)    \
  X(jnt_turn, TB_FROM_BODY)                                                       \
  X(jnt_anchor, TB_FROM_BODY)                                                     \
  X(geom_mat, TB_FROM_GEOM)                                                       \
  X(geom_sameframe, TB_FROM_GEOM | TB_FROM_INERTIAL)                              \
  X(geom_aabb, TB_FROM_GEOM | TB_FROM_HFIELD)                                     \
  X(geom_rbound, TB_FROM_GEOM | TB_FROM_HFIELD)                                   \
  X(site_mat, TB_FROM_SITE)                                                       \
  X(site_sameframe, TB_FROM_SITE | TB_FROM_INERTIAL)                              \
  X(cam_pos0, TB_FROM_CAMERA | TB_FROM_BODY)                                      \
  X(cam_poscom0, TB_FROM_CAMERA | TB_FROM_BODY | TB_FROM_MASS | TB_FROM_INERTIAL) \
  X(cam_mat0, TB_FROM_CAMERA | TB_FROM_BODY)                                      \
  X(eq_data, TB_FROM_EQUALITY | TB_FROM_BODY)                                     \
  X(tendon_length0, TB_FROM_LENGTHS)                                              \
  X(tendon_invweight0, TB_FROM_INERTIA)                                           \
  X(tendon_lengthspring, TB_FROM_SPRING)                                          \
  X(actuator_acc0, TB_FROM_INERTIA | TB_FROM_DRIVE)                               \
  X(actuator_length0, TB_FROM_LENGTHS | TB_FROM_DRIVE)                            \
  X(actuator_biasprm, TB_FROM_BIAS)

// Numbers of tbModel itself.
#define TB_CONSTANT_TOTALS(X) \
  X(total_mass, TB_FROM_MASS) \
  X(load_to_inertia, TB_FROM_INERTIA)

#endif
