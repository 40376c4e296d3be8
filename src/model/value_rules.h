// Conditions on the numbers of a model's arrays, beyond being finite. The checks of a loaded model
// and of the worlds of a batch read these lists.
#ifndef TRIBO_MODEL_VALUE_RULES_H_
#define TRIBO_MODEL_VALUE_RULES_H_

// X(array, condition on every value x)
#define TB_VALUE_RULES(X)                            \
  X(body_mass, x >= 0)                               \
  X(body_inertia, x >= 0)                            \
  X(dof_frictionloss, x >= 0)                        \
  X(geom_size, x >= 0)                               \
  X(geom_rbound, x >= 0)                             \
  X(geom_friction, x >= 0)                           \
  X(geom_restitution, x >= 0 && x <= 1)              \
  X(geom_compliance, x >= 0)                         \
  X(geom_tangentcompliance, x >= 0)                  \
  X(geom_contactdamping, x >= 0)                     \
  X(mesh_hullradius, x >= 0)                         \
  X(hfield_size, x >= 0)                             \
  X(hfield_data, x >= 0 && x <= 1)                   \
  X(pair_friction, x >= 0)                           \
  X(pair_restitution, x == -1 || (x >= 0 && x <= 1)) \
  X(pair_compliance, x == -1 || x >= 0)              \
  X(pair_tangentcompliance, x == -1 || x >= 0)       \
  X(pair_contactdamping, x == -1 || x >= 0)          \
  X(pair_comfree, x == -1 || x >= 0)                 \
  X(tendon_armature, x >= 0)                         \
  X(tendon_frictionloss, x >= 0)

// X(array, columns): every row is a unit vector.
#define TB_UNIT_ROWS(X) \
  X(body_quat, 4)       \
  X(body_iquat, 4)      \
  X(jnt_axis, 3)        \
  X(geom_quat, 4)       \
  X(site_quat, 4)       \
  X(cam_quat, 4)        \
  X(mesh_quat, 4)

#endif
