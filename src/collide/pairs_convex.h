// The part of the pair table (pairs.h) that GJK, EPA and the clipped manifold compute, and the
// pairs of the height field.
#ifndef TRIBO_COLLIDE_PAIRS_CONVEX_H_
#define TRIBO_COLLIDE_PAIRS_CONVEX_H_

#include "tribo/collide.h"

#define TB_COLLIDE_PAIRS_CONVEX(X)                    \
  X(SPHERE, ELLIPSOID, convex, tb_distance_convex)    \
  X(SPHERE, MESH, convex, tb_distance_convex)         \
  X(CAPSULE, ELLIPSOID, convex, tb_distance_convex)   \
  X(CAPSULE, CYLINDER, convex, tb_distance_convex)    \
  X(CAPSULE, MESH, convex, tb_distance_convex)        \
  X(ELLIPSOID, ELLIPSOID, convex, tb_distance_convex) \
  X(ELLIPSOID, CYLINDER, convex, tb_distance_convex)  \
  X(ELLIPSOID, BOX, convex, tb_distance_convex)       \
  X(ELLIPSOID, MESH, convex, tb_distance_convex)      \
  X(CYLINDER, CYLINDER, convex, tb_distance_convex)   \
  X(CYLINDER, BOX, convex, tb_distance_convex)        \
  X(CYLINDER, MESH, convex, tb_distance_convex)       \
  X(BOX, MESH, convex, tb_distance_convex)            \
  X(MESH, MESH, convex, tb_distance_convex)           \
  X(HFIELD, SPHERE, hfield, NULL)                     \
  X(HFIELD, CAPSULE, hfield, NULL)                    \
  X(HFIELD, ELLIPSOID, hfield, NULL)                  \
  X(HFIELD, CYLINDER, hfield, NULL)                   \
  X(HFIELD, BOX, hfield, NULL)                        \
  X(HFIELD, MESH, hfield, NULL)

// Signed distance of any two convex shapes except planes.
tbReal tb_distance_convex(const tbShape* a, const tbShape* b, tbReal point_a[3], tbReal point_b[3],
                          tbReal normal[3], tbCollideCache* warm);

#endif
