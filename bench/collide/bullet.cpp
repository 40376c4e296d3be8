// Bullet (double precision): the dispatcher's algorithm for a pair, kept per pair as in a world,
// and its dynamic tree.
#include "collide/peers.h"

#include <btBulletCollisionCommon.h>
#include <BulletCollision/CollisionDispatch/btCollisionObjectWrapper.h>

#include <memory>
#include <vector>

namespace {

using Shape = std::unique_ptr<btCollisionShape>;

Shape make_shape(const tbShape& s) {
  const double* x = s.size;
  switch (s.type) {
    case TB_GEOM_PLANE: return std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), 0);
    case TB_GEOM_SPHERE: return std::make_unique<btSphereShape>(x[0]);
    case TB_GEOM_CAPSULE: return std::make_unique<btCapsuleShapeZ>(x[0], 2 * x[1]);
    case TB_GEOM_CYLINDER: return std::make_unique<btCylinderShapeZ>(btVector3(x[0], x[0], x[1]));
    case TB_GEOM_BOX: return std::make_unique<btBoxShape>(btVector3(x[0], x[1], x[2]));
    case TB_GEOM_MESH: break;
    default: return nullptr;
  }
  auto hull = std::make_unique<btConvexHullShape>();
  for (int v = 0; v < s.hull->nvert; v++) {
    const double* p = s.hull->vert + 3 * v;
    hull->addPoint(btVector3(p[0], p[1], p[2]), false);
  }
  hull->recalcLocalAabb();
  hull->initializePolyhedralFeatures();
  return hull;
}

struct Objects {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  std::vector<Shape> shapes;
  std::vector<std::unique_ptr<btCollisionObject>> objects;
  std::vector<btCollisionAlgorithm*> algorithms;
  ~Objects() {
    for (btCollisionAlgorithm* algorithm : algorithms) {
      algorithm->~btCollisionAlgorithm();
      dispatcher.freeCollisionAlgorithm(algorithm);
    }
  }
};

btTransform transform_of(const tbShape& s) {
  const double* m = s.mat;
  return btTransform(btMatrix3x3(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]),
                     btVector3(s.pos[0], s.pos[1], s.pos[2]));
}

void* make(const Batch* batch) {
  auto o = std::make_unique<Objects>();
  for (int k = 0; k < BATCH; k++) {
    for (int side = 0; side < 2; side++) {
      const tbShape& s = side ? batch->b[k] : batch->a[k];
      Shape shape = make_shape(s);
      if (!shape) return nullptr;
      o->objects.push_back(std::make_unique<btCollisionObject>());
      o->objects.back()->setCollisionShape(shape.get());
      o->objects.back()->setWorldTransform(transform_of(s));
      o->shapes.push_back(std::move(shape));
    }
    btCollisionObject *a = o->objects[2 * k].get(), *b = o->objects[2 * k + 1].get();
    btCollisionObjectWrapper wa(nullptr, a->getCollisionShape(), a, a->getWorldTransform(), -1, -1);
    btCollisionObjectWrapper wb(nullptr, b->getCollisionShape(), b, b->getWorldTransform(), -1, -1);
    o->algorithms.push_back(
        o->dispatcher.findAlgorithm(&wa, &wb, nullptr, BT_CONTACT_POINT_ALGORITHMS));
  }
  return o.release();
}

long run(void* objects) {
  auto* o = static_cast<Objects*>(objects);
  btDispatcherInfo info;
  long count = 0;
  for (int k = 0; k < BATCH; k++) {
    btCollisionObject *a = o->objects[2 * k].get(), *b = o->objects[2 * k + 1].get();
    btCollisionObjectWrapper wa(nullptr, a->getCollisionShape(), a, a->getWorldTransform(), -1, -1);
    btCollisionObjectWrapper wb(nullptr, b->getCollisionShape(), b, b->getWorldTransform(), -1, -1);
    btManifoldResult result(&wa, &wb);
    o->algorithms[k]->processCollision(&wa, &wb, info, &result);
    if (result.getPersistentManifold()) count += result.getPersistentManifold()->getNumContacts();
  }
  return count;
}

void drop(void* objects) {
  delete static_cast<Objects*>(objects);
}

// ---- broad phase

struct Broad {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase tree;
  std::vector<btBroadphaseProxy*> proxies;
  ~Broad() {
    for (btBroadphaseProxy* proxy : proxies) tree.destroyProxy(proxy, &dispatcher);
  }
};

void* broad_make(const tbReal* boxes, int count) {
  auto* broad = new Broad;
  for (int i = 0; i < count; i++) {
    const double* x = boxes + 6 * i;
    broad->proxies.push_back(broad->tree.createProxy(
        btVector3(x[0], x[1], x[2]), btVector3(x[3], x[4], x[5]), BOX_SHAPE_PROXYTYPE, nullptr,
        btBroadphaseProxy::DefaultFilter, btBroadphaseProxy::AllFilter, &broad->dispatcher));
  }
  return broad;
}

long broad_update(void* data, const tbReal* boxes) {
  auto* broad = static_cast<Broad*>(data);
  for (size_t i = 0; i < broad->proxies.size(); i++) {
    const double* x = boxes + 6 * i;
    broad->tree.setAabb(broad->proxies[i], btVector3(x[0], x[1], x[2]), btVector3(x[3], x[4], x[5]),
                        &broad->dispatcher);
  }
  broad->tree.calculateOverlappingPairs(&broad->dispatcher);
  return broad->tree.getOverlappingPairCache()->getNumOverlappingPairs();
}

void broad_drop(void* data) {
  delete static_cast<Broad*>(data);
}

}  // namespace

extern "C" const PairPeer* peer_bullet(void) {
  static const PairPeer peer = {"bullet", make, run, drop};
  return &peer;
}

extern "C" const BroadPeer* broad_bullet(void) {
  static const BroadPeer peer = {"bullet", broad_make, broad_update, broad_drop, nullptr};
  return &peer;
}
