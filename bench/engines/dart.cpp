// DART: generalised coordinates, boxed LCP (Dantzig, projected Gauss-Seidel where it fails), FCL.
#include <cmath>
#include <dart/collision/CollisionFilter.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BallJoint.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/CylinderShape.hpp>
#include <dart/dynamics/EllipsoidShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>
#include <memory>
#include <vector>

#include "engines.h"

namespace {

using dart::dynamics::BodyNode;
using Eigen::Isometry3d;
using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

struct World {
  const Rig* rig;
  dart::simulation::WorldPtr world;
  std::vector<BodyNode*> body;  // by link
};

Isometry3d pose(const tbReal* p, const tbReal* R) {
  Isometry3d T = Isometry3d::Identity();
  T.translation() = Eigen::Map<const Vector3d>(p);
  T.linear() = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(R);
  return T;
}

// The inertial frame of a link at the start; of the world for -1.
Isometry3d frame(const Rig* rig, int link) {
  return link < 0 ? Isometry3d::Identity() : pose(rig->link[link].pos, rig->link[link].mat);
}

dart::dynamics::ShapePtr make_shape(const tbModel* m, int g) {
  const tbReal* s = m->geom_size + 3 * g;
  using namespace dart::dynamics;
  switch (m->geom_type[g]) {
    case TB_GEOM_PLANE: return std::make_shared<BoxShape>(Vector3d(40, 40, 1));
    case TB_GEOM_SPHERE: return std::make_shared<SphereShape>(s[0]);
    case TB_GEOM_ELLIPSOID:
      return std::make_shared<EllipsoidShape>(Vector3d(2 * s[0], 2 * s[1], 2 * s[2]));
    case TB_GEOM_CYLINDER: return std::make_shared<CylinderShape>(s[0], 2 * s[1]);
    case TB_GEOM_BOX: return std::make_shared<BoxShape>(Vector3d(2 * s[0], 2 * s[1], 2 * s[2]));
    default: return nullptr;
  }
}

void add_shapes(const Rig* rig, int link, BodyNode* node) {
  using namespace dart::dynamics;
  const tbModel* m = rig->model;
  Isometry3d inverse = frame(rig, link).inverse();
  for (int g = 0; g < m->ngeom; g++) {
    if (rig_geom_link(rig, g) != link || !rig_geom_collides(m, g)) continue;
    if (link >= 0 && rig->link[link].body < 0) continue;
    Isometry3d T = pose(rig->start->geom_xpos + 3 * g, rig->start->geom_xmat + 9 * g);
    auto add = [&](const ShapePtr& shape, double z) {
      auto* at = node->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
      at->setRelativeTransform(inverse * T * Eigen::Translation3d(0, 0, z));
      at->getDynamicsAspect()->setFrictionCoeff(m->geom_friction[3 * g]);
    };
    const tbReal* size = m->geom_size + 3 * g;
    if (m->geom_type[g] == TB_GEOM_CAPSULE) {
      // DART passes no capsules on to FCL.
      add(std::make_shared<CylinderShape>(size[0], 2 * size[1]), 0);
      add(std::make_shared<SphereShape>(size[0]), size[1]);
      add(std::make_shared<SphereShape>(size[0]), -size[1]);
    } else if (ShapePtr shape = make_shape(m, g)) {
      // Nor a half-space: a thick slab stands for the plane.
      add(shape, m->geom_type[g] == TB_GEOM_PLANE ? -0.5 : 0);
    }
  }
}

template <class Joint>
BodyNode* add_node(const dart::dynamics::SkeletonPtr& skeleton, BodyNode* parent,
                   typename Joint::Properties properties, int link) {
  properties.mName = "joint" + std::to_string(link);
  return skeleton
      ->createJointAndBodyNodePair<Joint>(parent, properties,
                                          BodyNode::AspectProperties("link" + std::to_string(link)))
      .second;
}

// A link on `parent` (nullptr: on the world); joints read zero at the start, but a free one reads
// its pose.
BodyNode* add_link(const Rig* rig, int link, BodyNode* parent,
                   const dart::dynamics::SkeletonPtr& skeleton) {
  using namespace dart::dynamics;
  const Link& l = rig->link[link];
  Isometry3d T = frame(rig, link), at = T;
  at.translation() = Eigen::Map<const Vector3d>(l.anchor);
  Vector3d axis = T.linear().transpose() * Eigen::Map<const Vector3d>(l.axis);
  auto place = [&](auto properties) {
    properties.mT_ParentBodyToJoint = frame(rig, l.parent).inverse() * at;
    properties.mT_ChildBodyToJoint = T.inverse() * at;
    return properties;
  };
  BodyNode* node = nullptr;
  if (l.type == TB_JOINT_FREE) {
    node = add_node<FreeJoint>(skeleton, nullptr, FreeJoint::Properties(), link);
    node->getParentJoint()->setPositions(FreeJoint::convertToPositions(T));
  } else if (l.type == TB_JOINT_BALL) {
    node = add_node<BallJoint>(skeleton, parent, place(BallJoint::Properties()), link);
  } else if (l.type == TB_JOINT_SLIDE) {
    auto properties = place(PrismaticJoint::Properties());
    properties.mAxis = axis;
    node = add_node<PrismaticJoint>(skeleton, parent, properties, link);
  } else {
    auto properties = place(RevoluteJoint::Properties());
    properties.mAxis = axis;
    node = add_node<RevoluteJoint>(skeleton, parent, properties, link);
  }
  Matrix3d I = Eigen::Map<const Vector3d>(l.moment).asDiagonal();
  node->setInertia(Inertia(l.mass, Vector3d::Zero(), I));
  add_shapes(rig, link, node);
  return node;
}

void* create(const Rig* rig) {
  using namespace dart::dynamics;
  auto* w = new World();
  w->rig = rig;
  w->world = dart::simulation::World::create();
  w->world->setTimeStep(rig->dt);
  w->world->setGravity(Eigen::Map<const Vector3d>(rig->model->opt.gravity));
  w->body.resize(static_cast<size_t>(rig->count));

  // The ground, then a skeleton per tree.
  SkeletonPtr ground = Skeleton::create("ground");
  BodyNode* floor = ground->createJointAndBodyNodePair<WeldJoint>(nullptr).second;
  add_shapes(rig, -1, floor);
  ground->setMobile(false);
  w->world->addSkeleton(ground);
  std::vector<SkeletonPtr> skeletons(static_cast<size_t>(rig->count));
  for (int i = 0; i < rig->count; i++) {
    size_t k = static_cast<size_t>(i), p = static_cast<size_t>(rig->link[i].parent);
    bool root = rig->link[i].parent < 0;
    skeletons[k] = root ? Skeleton::create("tree" + std::to_string(i)) : skeletons[p];
    w->body[k] = add_link(rig, i, root ? nullptr : w->body[p], skeletons[k]);
  }
  auto filter = std::make_shared<dart::collision::BodyNodeCollisionFilter>();
  for (int a = 0; a < rig->count; a++) {
    size_t i = static_cast<size_t>(a);
    if (!w->world->hasSkeleton(skeletons[i])) {
      skeletons[i]->enableSelfCollisionCheck();
      w->world->addSkeleton(skeletons[i]);
    }
    if (!rig_pair_allowed(rig, a, -1)) filter->addBodyNodePairToBlackList(w->body[i], floor);
    for (int b = a + 1; b < rig->count; b++) {
      if (!rig_pair_allowed(rig, a, b)) {
        filter->addBodyNodePairToBlackList(w->body[i], w->body[static_cast<size_t>(b)]);
      }
    }
  }
  w->world->getConstraintSolver()->getCollisionOption().collisionFilter = filter;
  return w;
}

void step(void* world) {
  static_cast<World*>(world)->world->step();
}

void read(void* world, tbReal* qpos) {
  auto* w = static_cast<World*>(world);
  for (int i = 0; i < w->rig->count; i++) {
    BodyNode* node = w->body[static_cast<size_t>(i)];
    int type = w->rig->link[i].type, parent = w->rig->link[i].parent;
    if (type == TB_JOINT_HINGE || type == TB_JOINT_SLIDE) {
      rig_set_scalar(w->rig, i, node->getParentJoint()->getPosition(0), qpos);
      continue;
    }
    auto rotation = [&](int link) {
      return link < 0
                 ? Quaterniond::Identity()
                 : Quaterniond(w->body[static_cast<size_t>(link)]->getWorldTransform().linear());
    };
    Quaterniond q = rotation(i), p = rotation(parent);
    Vector3d at = node->getWorldTransform().translation();
    const tbReal quat[4] = {q.w(), q.x(), q.y(), q.z()}, above[4] = {p.w(), p.x(), p.y(), p.z()};
    rig_set_pose(w->rig, i, at.data(), quat, above, qpos);
  }
}

void destroy(void* world) {
  delete static_cast<World*>(world);
}

}  // namespace

extern "C" const Engine ENGINE_DART = {
    "dart", "boxed LCP by Dantzig, FCL contacts", create, step, read, destroy};
