// One function per pair of shape types, a's type first in tbGeomType's order.
//
// A pair function gets checked input: finite poses, non-negative finite sizes, rotation matrices,
// 0 <= margin (margin may be INFINITY: the closest contact must then always be reported). It writes
// pos, frame[0..2] (the normal), dist and feature of each contact, may leave a wish for t1 in
// frame[3..5] (left at zero otherwise: `tb_contact_set` does that), and sets flags. tb_collide
// completes the frames and flips them when the caller's order was the other one.
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
// `distance` is NULL the signed distance is the deepest contact of the collide function with
// infinite margin. Pairs of convex shapes whose collide function is not the exact distance when
// apart name a function.
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

// As tb_collide, without checking the input (see above) and with the normals only: what the
// pipeline calls, whose model was checked when it was loaded.
int tb_collide_normals(const tbShape* a, const tbShape* b, tbReal margin, tbContactPoint* out,
                       tbCollideCache* warm);

// Write one contact: normal n from a to b, signed distance, position midway between the surfaces.
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
