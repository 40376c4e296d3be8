// Bullet: Featherstone multibodies for trees, rigid bodies for free ones, the default sequential
// impulse solver.
#include <btBulletDynamicsCommon.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>

#include <cmath>
#include <memory>
#include <vector>

#include "engines.h"

namespace {

btTransform transform(const tbReal* p, const tbReal* R) {
  return btTransform(btMatrix3x3(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]),
                     btVector3(p[0], p[1], p[2]));
}

btVector3 vector(const tbReal* v) {
  return btVector3(v[0], v[1], v[2]);
}

// The inertial frame of a link at the start; of the world for -1.
btTransform frame(const Rig* rig, int link) {
  return link < 0 ? btTransform::getIdentity()
                  : transform(rig->link[link].pos, rig->link[link].mat);
}

struct Filter : btOverlapFilterCallback {
  const Rig* rig;
  bool needBroadphaseCollision(btBroadphaseProxy* a, btBroadphaseProxy* b) const override {
    int link1 = static_cast<btCollisionObject*>(a->m_clientObject)->getUserIndex();
    int link2 = static_cast<btCollisionObject*>(b->m_clientObject)->getUserIndex();
    return rig_pair_allowed(rig, link1, link2) != 0;
  }
};

struct World {
  const Rig* rig;
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btMultiBodyConstraintSolver solver;
  btMultiBodyDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  Filter filter;
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btCollisionObject>> objects;
  std::vector<std::unique_ptr<btMultiBody>> trees;
  std::vector<btRigidBody*> rigid;    // by link, free ones without children
  std::vector<btMultiBody*> tree_of;  // by link
  std::vector<int> index;             // by link: its place in the tree, -1 for a base
  ~World() {
    for (auto& object : objects) world.removeCollisionObject(object.get());
    for (auto& tree : trees) world.removeMultiBody(tree.get());
  }
};

// An ellipsoid as the hull of points on it: Bullet has none.
btCollisionShape* ellipsoid(const tbReal* s) {
  constexpr int RINGS = 12, AROUND = 16;
  constexpr double PI = 3.14159265358979323846;
  auto* hull = new btConvexHullShape();
  for (int i = 0; i <= RINGS; i++) {
    double polar = PI * i / RINGS;
    for (int k = 0; k < (i == 0 || i == RINGS ? 1 : AROUND); k++) {
      double turn = 2 * PI * k / AROUND;
      hull->addPoint(btVector3(s[0] * std::sin(polar) * std::cos(turn),
                               s[1] * std::sin(polar) * std::sin(turn), s[2] * std::cos(polar)),
                     false);
    }
  }
  hull->recalcLocalAabb();
  return hull;
}

btCollisionShape* make_shape(World& w, int g) {
  const tbReal* s = w.rig->model->geom_size + 3 * g;
  btCollisionShape* shape = nullptr;
  switch (w.rig->model->geom_type[g]) {
    case TB_GEOM_PLANE: shape = new btStaticPlaneShape(btVector3(0, 0, 1), 0); break;
    case TB_GEOM_SPHERE: shape = new btSphereShape(s[0]); break;
    case TB_GEOM_ELLIPSOID: shape = ellipsoid(s); break;
    case TB_GEOM_CAPSULE: shape = new btCapsuleShapeZ(s[0], 2 * s[1]); break;
    case TB_GEOM_CYLINDER: shape = new btCylinderShapeZ(btVector3(s[0], s[0], s[1])); break;
    case TB_GEOM_BOX: shape = new btBoxShape(btVector3(s[0], s[1], s[2])); break;
    default: return nullptr;
  }
  w.shapes.emplace_back(shape);
  return shape;
}

// All geoms of a link in its inertial frame; Bullet multiplies the friction of both sides, so each
// gets the root.
btCompoundShape* link_shape(World& w, int link, btScalar* friction) {
  const tbModel* m = w.rig->model;
  const tbData* d = w.rig->start;
  auto* compound = new btCompoundShape();
  w.shapes.emplace_back(compound);
  btTransform inverse = frame(w.rig, link).inverse();
  *friction = 0;
  for (int g = 0; g < m->ngeom; g++) {
    if (rig_geom_link(w.rig, g) != link || !rig_geom_collides(m, g)) continue;
    btCollisionShape* shape = make_shape(w, g);
    if (!shape) continue;
    *friction = std::fmax(*friction, std::sqrt(m->geom_friction[3 * g]));
    compound->addChildShape(inverse * transform(d->geom_xpos + 3 * g, d->geom_xmat + 9 * g), shape);
  }
  return compound;
}

void add_static(World& w) {
  const tbModel* m = w.rig->model;
  const tbData* d = w.rig->start;
  for (int g = 0; g < m->ngeom; g++) {
    if (rig_geom_link(w.rig, g) >= 0 || !rig_geom_collides(m, g)) continue;
    btCollisionShape* shape = make_shape(w, g);
    if (!shape) continue;
    auto* object = new btCollisionObject();
    object->setCollisionShape(shape);
    object->setWorldTransform(transform(d->geom_xpos + 3 * g, d->geom_xmat + 9 * g));
    object->setFriction(std::sqrt(m->geom_friction[3 * g]));
    object->setUserIndex(-1);
    w.objects.emplace_back(object);
    w.world.addCollisionObject(object, 2, 1);
  }
}

void add_rigid(World& w, int link) {
  btScalar friction;
  btCompoundShape* shape = link_shape(w, link, &friction);
  const Link& l = w.rig->link[link];
  btRigidBody::btRigidBodyConstructionInfo info(l.mass, nullptr, shape, vector(l.moment));
  auto* body = new btRigidBody(info);
  body->setWorldTransform(frame(w.rig, link));
  body->setDamping(0, 0);
  body->setFriction(friction);
  body->setActivationState(DISABLE_DEACTIVATION);
  body->setUserIndex(link);
  w.objects.emplace_back(body);
  w.world.addRigidBody(body, 1, -1);
  w.rigid[static_cast<size_t>(link)] = body;
}

void add_collider(World& w, btMultiBody* tree, int place, int link) {
  btScalar friction;
  btCompoundShape* shape = link_shape(w, link, &friction);
  if (shape->getNumChildShapes() == 0) return;
  auto* collider = new btMultiBodyLinkCollider(tree, place);
  collider->setCollisionShape(shape);
  collider->setFriction(friction);
  collider->setUserIndex(link);
  collider->setWorldTransform(frame(w.rig, link));
  w.objects.emplace_back(collider);
  w.world.addCollisionObject(collider, 1, -1);
  if (place < 0) {
    tree->setBaseCollider(collider);
  } else {
    tree->getLink(place).m_collider = collider;
  }
}

// Link `place` of a tree, whose joint reads zero at the start.
void add_link(World& w, btMultiBody* tree, int place, int link) {
  const Link& l = w.rig->link[link];
  int parent = l.parent < 0 ? -1 : w.index[static_cast<size_t>(l.parent)];
  btTransform P = frame(w.rig, l.parent), T = frame(w.rig, link);
  btMatrix3x3 to_parent = P.getBasis().transpose(), to_this = T.getBasis().transpose();
  btQuaternion parent_to_this;
  (to_this * P.getBasis()).getRotation(parent_to_this);
  btVector3 anchor = l.type == TB_JOINT_SLIDE ? T.getOrigin() : vector(l.anchor);
  btVector3 before = to_parent * (anchor - P.getOrigin());
  btVector3 after = to_this * (T.getOrigin() - anchor), axis = to_this * vector(l.axis);
  if (l.type == TB_JOINT_HINGE) {
    tree->setupRevolute(place, l.mass, vector(l.moment), parent, parent_to_this, axis, before,
                        after, true);
  } else if (l.type == TB_JOINT_SLIDE) {
    tree->setupPrismatic(place, l.mass, vector(l.moment), parent, parent_to_this, axis, before,
                         after, true);
  } else {
    tree->setupSpherical(place, l.mass, vector(l.moment), parent, parent_to_this, before, after,
                         true);
  }
  w.index[static_cast<size_t>(link)] = place;
  w.tree_of[static_cast<size_t>(link)] = tree;
}

// The tree under `root` (a free link, or -1 for what hangs on the world).
void add_tree(World& w, int root, const std::vector<int>& links) {
  static const tbReal none[3] = {0, 0, 0};
  const tbReal* moment = root < 0 ? none : w.rig->link[root].moment;
  auto* tree =
      new btMultiBody(static_cast<int>(links.size()), root < 0 ? 0 : w.rig->link[root].mass,
                      vector(moment), root < 0, false);
  w.trees.emplace_back(tree);
  tree->setBaseWorldTransform(frame(w.rig, root));
  if (root >= 0) w.tree_of[static_cast<size_t>(root)] = tree;
  for (size_t i = 0; i < links.size(); i++) add_link(w, tree, static_cast<int>(i), links[i]);
  tree->finalizeMultiDof();
  tree->setHasSelfCollision(true);
  tree->setLinearDamping(0);
  tree->setAngularDamping(0);
  tree->setUseGyroTerm(true);
  w.world.addMultiBody(tree);
  if (root >= 0) add_collider(w, tree, -1, root);
  for (size_t i = 0; i < links.size(); i++) add_collider(w, tree, static_cast<int>(i), links[i]);
}

int root_of(const Rig* rig, int link) {
  while (link >= 0 && rig->link[link].type != TB_JOINT_FREE) link = rig->link[link].parent;
  return link;
}

void* create(const Rig* rig) {
  auto* w = new World();
  w->rig = rig;
  w->filter.rig = rig;
  size_t n = static_cast<size_t>(rig->count);
  w->rigid.resize(n);
  w->tree_of.resize(n);
  w->index.assign(n, -1);
  w->world.setGravity(vector(rig->model->opt.gravity));
  w->world.getSolverInfo().m_numIterations = 50;
  w->world.getPairCache()->setOverlapFilterCallback(&w->filter);
  add_static(*w);
  for (int root = -1; root < rig->count; root++) {
    if (root >= 0 && rig->link[root].type != TB_JOINT_FREE) continue;
    std::vector<int> links;
    for (int i = 0; i < rig->count; i++) {
      if (i != root && root_of(rig, i) == root) links.push_back(i);
    }
    if (!links.empty()) {
      add_tree(*w, root, links);
    } else if (root >= 0) {
      add_rigid(*w, root);
    }
  }
  return w;
}

void step(void* world) {
  auto* w = static_cast<World*>(world);
  w->world.stepSimulation(w->rig->dt, 0, w->rig->dt);
}

// The inertial frame of a link now.
btTransform pose(World* w, int link) {
  if (link < 0) return btTransform::getIdentity();
  size_t i = static_cast<size_t>(link);
  if (w->rigid[i]) return w->rigid[i]->getWorldTransform();
  if (w->index[i] < 0) return w->tree_of[i]->getBaseWorldTransform();
  return w->tree_of[i]->getLink(w->index[i]).m_cachedWorldTransform;
}

void read(void* world, tbReal* qpos) {
  auto* w = static_cast<World*>(world);
  for (int i = 0; i < w->rig->count; i++) {
    size_t k = static_cast<size_t>(i);
    int type = w->rig->link[i].type;
    if (type == TB_JOINT_HINGE || type == TB_JOINT_SLIDE) {
      rig_set_scalar(w->rig, i, w->tree_of[k]->getJointPos(w->index[k]), qpos);
      continue;
    }
    btTransform T = pose(w, i), P = pose(w, w->rig->link[i].parent);
    btQuaternion q = T.getRotation(), p = P.getRotation();
    const tbReal at[3] = {T.getOrigin()[0], T.getOrigin()[1], T.getOrigin()[2]};
    const tbReal quat[4] = {q.w(), q.x(), q.y(), q.z()}, parent[4] = {p.w(), p.x(), p.y(), p.z()};
    rig_set_pose(w->rig, i, at, quat, parent, qpos);
  }
}

void destroy(void* world) {
  delete static_cast<World*>(world);
}

}  // namespace

extern "C" const Engine ENGINE_BULLET = {
    "bullet", "multibody solver with 50 iterations, ERP 0.2", create, step, read, destroy};
