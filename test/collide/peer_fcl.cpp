// FCL behind a C function.
#include <fcl/fcl.h>

#include <cmath>
#include <exception>
#include <memory>
#include <vector>

#include "peer_distance.h"

namespace {

using Geometry = std::shared_ptr<fcl::CollisionGeometryd>;

Geometry make_geometry(const tbShape& s) {
  const double* x = s.size;
  switch (s.type) {
    case TB_GEOM_SPHERE: return std::make_shared<fcl::Sphered>(x[0]);
    case TB_GEOM_CAPSULE: return std::make_shared<fcl::Capsuled>(x[0], 2 * x[1]);
    case TB_GEOM_ELLIPSOID: return std::make_shared<fcl::Ellipsoidd>(x[0], x[1], x[2]);
    case TB_GEOM_CYLINDER: return std::make_shared<fcl::Cylinderd>(x[0], 2 * x[1]);
    case TB_GEOM_BOX: return std::make_shared<fcl::Boxd>(2 * x[0], 2 * x[1], 2 * x[2]);
    default: break;
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

fcl::CollisionObjectd place(const tbShape& s) {
  fcl::Matrix3d rotation;
  for (int i = 0; i < 9; i++) rotation(i / 3, i % 3) = s.mat[i];
  return fcl::CollisionObjectd(make_geometry(s), rotation,
                               fcl::Vector3d(s.pos[0], s.pos[1], s.pos[2]));
}

}  // namespace

extern "C" double peer_fcl_distance(const tbShape* a, const tbShape* b) try {
  fcl::CollisionObjectd oa = place(*a), ob = place(*b);
  fcl::CollisionRequestd touch(16, true);
  fcl::CollisionResultd touching;
  fcl::collide(&oa, &ob, touch, touching);
  if (touching.isCollision()) {
    double depth = 0;
    for (size_t i = 0; i < touching.numContacts(); i++) {
      depth = std::fmax(depth, touching.getContact(i).penetration_depth);
    }
    return -depth;
  }
  fcl::DistanceRequestd request(true);
  request.distance_tolerance = 1e-9;
  fcl::DistanceResultd result;
  return fcl::distance(&oa, &ob, request, result);
} catch (const std::exception&) {
  return NAN;
}
