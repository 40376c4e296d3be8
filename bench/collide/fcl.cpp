// FCL's collide with contacts, and its dynamic AABB tree.
#include "collide/peers.h"

#include <fcl/fcl.h>

#include <memory>
#include <vector>

namespace {

using Geometry = std::shared_ptr<fcl::CollisionGeometryd>;

Geometry make_geometry(const tbShape& s) {
  const double* x = s.size;
  switch (s.type) {
    case TB_GEOM_PLANE: return std::make_shared<fcl::Halfspaced>(fcl::Vector3d(0, 0, 1), 0);
    case TB_GEOM_SPHERE: return std::make_shared<fcl::Sphered>(x[0]);
    case TB_GEOM_CAPSULE: return std::make_shared<fcl::Capsuled>(x[0], 2 * x[1]);
    case TB_GEOM_ELLIPSOID: return std::make_shared<fcl::Ellipsoidd>(x[0], x[1], x[2]);
    case TB_GEOM_CYLINDER: return std::make_shared<fcl::Cylinderd>(x[0], 2 * x[1]);
    case TB_GEOM_BOX: return std::make_shared<fcl::Boxd>(2 * x[0], 2 * x[1], 2 * x[2]);
    case TB_GEOM_MESH: break;
    default: return nullptr;
  }
  auto points = std::make_shared<std::vector<fcl::Vector3d>>();
  auto faces = std::make_shared<std::vector<int>>();
  for (int v = 0; v < s.hull->nvert; v++) {
    points->emplace_back(s.hull->vert[3 * v], s.hull->vert[3 * v + 1], s.hull->vert[3 * v + 2]);
  }
  for (int f = 0; f < s.hull->nface; f++) {
    int begin = s.hull->face_start[f], end = s.hull->face_start[f + 1];
    faces->push_back(end - begin);
    for (int i = begin; i < end; i++) faces->push_back(s.hull->face_vert[i]);
  }
  return std::make_shared<fcl::Convexd>(points, s.hull->nface, faces);
}

struct Objects {
  std::vector<fcl::CollisionObjectd> a, b;
};

void add(std::vector<fcl::CollisionObjectd>& list, const tbShape& s, Geometry geometry) {
  fcl::Matrix3d rotation;
  for (int i = 0; i < 9; i++) rotation(i / 3, i % 3) = s.mat[i];
  list.emplace_back(geometry, rotation, fcl::Vector3d(s.pos[0], s.pos[1], s.pos[2]));
}

void* make(const Batch* batch) {
  if (batch->type_a == TB_GEOM_HFIELD) return nullptr;
  auto* o = new Objects;
  Geometry mesh;
  for (int k = 0; k < BATCH; k++) {
    for (int side = 0; side < 2; side++) {
      const tbShape& s = side ? batch->b[k] : batch->a[k];
      Geometry geometry = s.type == TB_GEOM_MESH && mesh ? mesh : make_geometry(s);
      if (s.type == TB_GEOM_MESH) mesh = geometry;
      add(side ? o->b : o->a, s, geometry);
    }
  }
  return o;
}

long run(void* objects) {
  auto* o = static_cast<Objects*>(objects);
  fcl::CollisionRequestd request(8, true);
  long count = 0;
  for (int k = 0; k < BATCH; k++) {
    fcl::CollisionResultd result;
    fcl::collide(&o->a[k], &o->b[k], request, result);
    count += static_cast<long>(result.numContacts());
  }
  return count;
}

void drop(void* objects) {
  delete static_cast<Objects*>(objects);
}

// ---- broad phase

struct Broad {
  fcl::DynamicAABBTreeCollisionManagerd manager;
  std::vector<std::unique_ptr<fcl::CollisionObjectd>> objects;
};

bool count_pair(fcl::CollisionObjectd* a, fcl::CollisionObjectd* b, void* data) {
  *static_cast<long*>(data) += a->getAABB().overlap(b->getAABB());
  return false;
}

fcl::Vector3d middle(const double* box) {
  return fcl::Vector3d(box[0] + box[3], box[1] + box[4], box[2] + box[5]) * 0.5;
}

void* broad_make(const tbReal* boxes, int count) {
  auto* broad = new Broad;
  std::vector<fcl::CollisionObjectd*> raw;
  for (int i = 0; i < count; i++) {
    const double* box = boxes + 6 * i;
    auto geometry = std::make_shared<fcl::Boxd>(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
    broad->objects.push_back(
        std::make_unique<fcl::CollisionObjectd>(geometry, fcl::Matrix3d::Identity(), middle(box)));
    broad->objects.back()->computeAABB();
    raw.push_back(broad->objects.back().get());
  }
  broad->manager.registerObjects(raw);
  broad->manager.setup();
  return broad;
}

long broad_update(void* data, const tbReal* boxes) {
  auto* broad = static_cast<Broad*>(data);
  for (size_t i = 0; i < broad->objects.size(); i++) {
    broad->objects[i]->setTranslation(middle(boxes + 6 * i));
    broad->objects[i]->computeAABB();
  }
  broad->manager.update();
  long count = 0;
  broad->manager.collide(&count, count_pair);
  return count;
}

void broad_drop(void* data) {
  delete static_cast<Broad*>(data);
}

}  // namespace

extern "C" const PairPeer* peer_fcl(void) {
  static const PairPeer peer = {"fcl", make, run, drop};
  return &peer;
}

extern "C" const BroadPeer* broad_fcl(void) {
  static const BroadPeer peer = {"fcl", broad_make, broad_update, broad_drop, nullptr};
  return &peer;
}
