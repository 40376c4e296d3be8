// Bullet (double precision) behind a C function.
#include <BulletCollision/NarrowPhaseCollision/btGjkEpa2.h>
#include <btBulletCollisionCommon.h>

#include <cmath>
#include <memory>

#include "peer_distance.h"

namespace {

using Shape = std::unique_ptr<btConvexShape>;

Shape make_shape(const tbShape& s) {
  const double* x = s.size;
  Shape shape;
  if (s.type == TB_GEOM_BOX) {
    shape = std::make_unique<btBoxShape>(btVector3(x[0], x[1], x[2]));
  } else if (s.type == TB_GEOM_CYLINDER) {
    shape = std::make_unique<btCylinderShapeZ>(btVector3(x[0], x[0], x[1]));
  } else if (s.type == TB_GEOM_MESH) {
    auto hull = std::make_unique<btConvexHullShape>();
    for (int v = 0; v < s.hull->nvert; v++) {
      const double* p = s.hull->vert + 3 * v;
      hull->addPoint(btVector3(p[0], p[1], p[2]), false);
    }
    hull->recalcLocalAabb();
    shape = std::move(hull);
  }
  if (shape) shape->setMargin(0);
  return shape;
}

btTransform transform_of(const tbShape& s) {
  const double* m = s.mat;
  return btTransform(btMatrix3x3(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]),
                     btVector3(s.pos[0], s.pos[1], s.pos[2]));
}

}  // namespace

extern "C" double peer_bullet_distance(const tbShape* a, const tbShape* b) {
  Shape sa = make_shape(*a), sb = make_shape(*b);
  if (!sa || !sb) return NAN;
  btTransform ta = transform_of(*a), tb = transform_of(*b);
  btVector3 guess = ta.getOrigin() - tb.getOrigin();
  btGjkEpaSolver2::sResults results;
  if (btGjkEpaSolver2::Distance(sa.get(), ta, sb.get(), tb, guess, results)) {
    return results.distance;
  }
  if (btGjkEpaSolver2::Penetration(sa.get(), ta, sb.get(), tb, guess, results)) {
    return results.distance;
  }
  return NAN;
}
