// One function per pair of shape types, a's type first in tbGeomType's order.
//
// A pair function receives checked input: finite poses, non-negative finite sizes, rotation
// matrices, 0 <= margin (margin may be INFINITY: the closest contact must then always be reported).
// It writes pos, frame[0..2] (the normal), dist, feature and flags of each contact. It may write a
// preferred t1 to frame[3..5], which `tb_contact_set` sets to zero. tb_collide completes the frames
// and flips them if the caller passed the shapes in the other order.
#ifndef TRIBO_COLLIDE_PAIRS_H_
#define TRIBO_COLLIDE_PAIRS_H_

#include "collide/pairs_convex.h"
#include "spatial/vec3.h"
#include "tribo/collide.h"

typedef int (*tbCollideFn)(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                           tbCollideCache* warm);
typedef tbReal (*tbDistanceFn)(const tbShape* a, const tbShape* b, tbReal point_a[3],
                               tbReal point_b[3], tbReal normal[3], tbCollideCache* warm);

// X(type of a, type of b, name, distance): the collide function is tb_collide_<name>. Where
// `distance` is NULL, the signed distance is that of the deepest contact of the collide function
// with infinite margin. A pair of convex shapes names a distance function if its collide function
// does not return the exact distance of separated shapes.
#define TB_COLLIDE_PAIRS(X)                  \
  X(PLANE, SPHERE, plane_sphere, NULL)       \
  X(PLANE, CAPSULE, plane_capsule, NULL)     \
  X(PLANE, ELLIPSOID, plane_ellipsoid, NULL) \
  X(PLANE, CYLINDER, plane_cylinder, NULL)   \
  X(PLANE, BOX, plane_box, NULL)             \
  X(PLANE, MESH, plane_mesh, NULL)           \
  X(SPHERE, SPHERE, sphere_sphere, NULL)     \
  X(SPHERE, CAPSULE, sphere_capsule, NULL)   \
  X(SPHERE, CYLINDER, sphere_cylinder, NULL) \
  X(SPHERE, BOX, sphere_box, NULL)           \
  X(CAPSULE, CAPSULE, capsule_capsule, NULL) \
  X(CAPSULE, BOX, capsule_box, NULL)         \
  X(BOX, BOX, box_box, NULL)                 \
  TB_COLLIDE_PAIRS_CONVEX(X)

#define TB_DECLARE_PAIR(A, B, name, distance)                                                   \
  int tb_collide_##name(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out, \
                        tbCollideCache* warm);
TB_COLLIDE_PAIRS(TB_DECLARE_PAIR)
#undef TB_DECLARE_PAIR

// As tb_collide, but without input checks (see above) and with normals only. The simulation step
// calls this function, since the model is checked when it is loaded.
int tb_collide_normals(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                       tbCollideCache* warm);

// Write one contact: normal n from a to b, signed distance, and position midway between the
// surfaces.
static inline void tb_contact_set(tbContactPoint* contact, const tbReal pos[3], const tbReal n[3],
                                  tbReal dist, uint32_t feature) {
  tb_copy3(contact->pos, pos);
  tb_copy3(contact->frame, n);
  tb_zero3(contact->frame + 3);
  contact->dist = dist;
  contact->feature = feature;
  contact->flags = 0;
}

#endif
