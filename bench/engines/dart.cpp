// DART: generalised coordinates, boxed LCP (Dantzig, projected Gauss-Seidel where it fails), FCL.
#include <cmath>
#include <dart/collision/CollisionFilter.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/CylinderShape.hpp>
#include <dart/dynamics/EllipsoidShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
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
using dart::dynamics::BodyNodePtr;
using Eigen::Isometry3d;
using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

struct World {
  const tbModel* m;
  dart::simulation::WorldPtr world;
  std::vector<BodyNode*> body;  // by body of the model
};

Isometry3d pose(const tbReal* p, const tbReal* q) {
  Isometry3d T = Isometry3d::Identity();
  T.translation() = Vector3d(p[0], p[1], p[2]);
  T.linear() = Quaterniond(q[0], q[1], q[2], q[3]).toRotationMatrix();
  return T;
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

void add_shapes(const tbModel* m, const tbData* zero, int body, const Isometry3d& frame,
                BodyNode* node) {
  using namespace dart::dynamics;
  for (int g = 0; g < m->ngeom; g++) {
    if (engine_moving_body(m, m->geom_bodyid[g]) != body) continue;
    if (m->geom_contype[g] == 0 && m->geom_conaffinity[g] == 0) continue;
    Isometry3d T = Isometry3d::Identity();
    T.translation() = Eigen::Map<const Vector3d>(zero->geom_xpos + 3 * g);
    T.linear() =
        Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(zero->geom_xmat + 9 * g);
    auto add = [&](const ShapePtr& shape, double z) {
      auto* at = node->createShapeNodeWith<CollisionAspect, DynamicsAspect>(shape);
      at->setRelativeTransform(frame.inverse() * T * Eigen::Translation3d(0, 0, z));
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

void set_inertia(const tbModel* m, int b, BodyNode* node) {
  Matrix3d R = Quaterniond(m->body_iquat[4 * b], m->body_iquat[4 * b + 1], m->body_iquat[4 * b + 2],
                           m->body_iquat[4 * b + 3])
                   .toRotationMatrix();
  Matrix3d I =
      R *
      Vector3d(m->body_inertia[3 * b], m->body_inertia[3 * b + 1], m->body_inertia[3 * b + 2])
          .asDiagonal() *
      R.transpose();
  node->setInertia(dart::dynamics::Inertia(m->body_mass[b],
                                           Eigen::Map<const Vector3d>(m->body_ipos + 3 * b), I));
}

// A free body, or a link on `parent` (nullptr: on the world).
BodyNode* add_body(const tbModel* m, const tbData* zero, int b, BodyNode* parent,
                   const dart::dynamics::SkeletonPtr& skeleton) {
  using namespace dart::dynamics;
  int j = m->body_jntadr[b];
  Isometry3d frame = pose(zero->xpos + 3 * b, zero->xquat + 4 * b);
  BodyNode* node = nullptr;
  if (m->jnt_type[j] == TB_JOINT_FREE) {
    FreeJoint::Properties properties;
    properties.mName = "joint" + std::to_string(b);
    node = skeleton
               ->createJointAndBodyNodePair<FreeJoint>(
                   nullptr, properties, BodyNode::AspectProperties("body" + std::to_string(b)))
               .second;
  } else {
    int p = engine_moving_body(m, m->body_parentid[b]);
    Isometry3d parent_frame =
        p ? pose(zero->xpos + 3 * p, zero->xquat + 4 * p) : Isometry3d::Identity();
    Isometry3d joint = Isometry3d::Identity();
    joint.translation() = Eigen::Map<const Vector3d>(m->jnt_pos + 3 * j);
    RevoluteJoint::Properties properties;
    properties.mAxis = Eigen::Map<const Vector3d>(m->jnt_axis + 3 * j);
    properties.mT_ParentBodyToJoint = parent_frame.inverse() * frame * joint;
    properties.mT_ChildBodyToJoint = joint;
    properties.mName = "joint" + std::to_string(b);
    node = skeleton
               ->createJointAndBodyNodePair<RevoluteJoint>(
                   parent, properties, BodyNode::AspectProperties("body" + std::to_string(b)))
               .second;
  }
  set_inertia(m, b, node);
  add_shapes(m, zero, b, frame, node);
  return node;
}

void* create(const tbModel* m, const tbData* start, tbReal dt) {
  using namespace dart::dynamics;
  auto* w = new World();
  w->m = m;
  w->world = dart::simulation::World::create();
  w->world->setTimeStep(dt);
  w->world->setGravity(Eigen::Map<const Vector3d>(m->opt.gravity));
  w->body.resize(static_cast<size_t>(m->nbody));
  tbData* zero = tb_data_new(m);
  tb_forward(m, zero);

  // The ground, then a skeleton per tree.
  SkeletonPtr ground = Skeleton::create("ground");
  BodyNode* floor = ground->createJointAndBodyNodePair<WeldJoint>(nullptr).second;
  add_shapes(m, zero, 0, Isometry3d::Identity(), floor);
  ground->setMobile(false);
  w->world->addSkeleton(ground);
  std::vector<SkeletonPtr> skeletons(static_cast<size_t>(m->nbody));
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_jntnum[b] == 0) continue;
    size_t i = static_cast<size_t>(b);
    size_t p = static_cast<size_t>(engine_moving_body(m, m->body_parentid[b]));
    skeletons[i] = p ? skeletons[p] : Skeleton::create("tree" + std::to_string(b));
    w->body[i] = add_body(m, zero, b, p ? w->body[p] : nullptr, skeletons[i]);
  }
  tb_data_free(zero);
  auto filter = std::make_shared<dart::collision::BodyNodeCollisionFilter>();
  for (int a = 1; a < m->nbody; a++) {
    size_t i = static_cast<size_t>(a);
    if (!w->body[i]) continue;
    if (!w->world->hasSkeleton(skeletons[i])) {
      skeletons[i]->enableSelfCollisionCheck();
      w->world->addSkeleton(skeletons[i]);
    }
    for (int b = a + 1; b < m->nbody; b++) {
      size_t k = static_cast<size_t>(b);
      if (w->body[k] && !engine_pair_allowed(m, a, b)) {
        filter->addBodyNodePairToBlackList(w->body[i], w->body[k]);
      }
    }
  }
  w->world->getConstraintSolver()->getCollisionOption().collisionFilter = filter;

  for (int b = 1; b < m->nbody; b++) {
    BodyNode* node = w->body[static_cast<size_t>(b)];
    if (!node) continue;
    int j = m->body_jntadr[b], adr = m->jnt_qposadr[j];
    if (m->jnt_type[j] == TB_JOINT_FREE) {
      node->getParentJoint()->setPositions(
          FreeJoint::convertToPositions(pose(start->qpos + adr, start->qpos + adr + 3)));
    } else {
      node->getParentJoint()->setPosition(0, start->qpos[adr] - m->qpos0[adr]);
    }
  }
  return w;
}

void step(void* world) {
  static_cast<World*>(world)->world->step();
}

void read(void* world, tbReal* qpos) {
  auto* w = static_cast<World*>(world);
  const tbModel* m = w->m;
  for (int b = 1; b < m->nbody; b++) {
    BodyNode* node = w->body[static_cast<size_t>(b)];
    if (!node) continue;
    int j = m->body_jntadr[b], adr = m->jnt_qposadr[j];
    if (m->jnt_type[j] == TB_JOINT_FREE) {
      const Isometry3d& T = node->getWorldTransform();
      Quaterniond q(T.linear());
      for (int k = 0; k < 3; k++) qpos[adr + k] = T.translation()[k];
      qpos[adr + 3] = q.w();
      qpos[adr + 4] = q.x();
      qpos[adr + 5] = q.y();
      qpos[adr + 6] = q.z();
    } else {
      qpos[adr] = m->qpos0[adr] + node->getParentJoint()->getPosition(0);
    }
  }
}

void destroy(void* world) {
  delete static_cast<World*>(world);
}

}  // namespace

extern "C" const Engine ENGINE_DART = {
    "dart", "boxed LCP by Dantzig, FCL contacts", create, step, read, destroy};
