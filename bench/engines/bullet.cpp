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

struct Filter : btOverlapFilterCallback {
  const tbModel* m;
  bool needBroadphaseCollision(btBroadphaseProxy* a, btBroadphaseProxy* b) const override {
    int body1 = static_cast<btCollisionObject*>(a->m_clientObject)->getUserIndex();
    int body2 = static_cast<btCollisionObject*>(b->m_clientObject)->getUserIndex();
    return engine_pair_allowed(m, body1, body2) != 0;
  }
};

struct World {
  const tbModel* m;
  tbReal dt;
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btMultiBodyConstraintSolver solver;
  btMultiBodyDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  Filter filter;
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btCollisionObject>> objects;
  std::vector<std::unique_ptr<btMultiBody>> trees;
  std::vector<btRigidBody*> rigid;    // by body, free bodies without children
  std::vector<btMultiBody*> tree_of;  // by body
  std::vector<int> link_of;           // by body, -1 for a base
  ~World() {
    for (auto& object : objects) world.removeCollisionObject(object.get());
    for (auto& tree : trees) world.removeMultiBody(tree.get());
  }
};

btCollisionShape* make_shape(World& w, int g) {
  const tbReal* s = w.m->geom_size + 3 * g;
  btCollisionShape* shape = nullptr;
  switch (w.m->geom_type[g]) {
    case TB_GEOM_PLANE: shape = new btStaticPlaneShape(btVector3(0, 0, 1), 0); break;
    case TB_GEOM_SPHERE: shape = new btSphereShape(s[0]); break;
    case TB_GEOM_ELLIPSOID: shape = new btSphereShape(std::cbrt(s[0] * s[1] * s[2])); break;
    case TB_GEOM_CAPSULE: shape = new btCapsuleShapeZ(s[0], 2 * s[1]); break;
    case TB_GEOM_CYLINDER: shape = new btCylinderShapeZ(btVector3(s[0], s[0], s[1])); break;
    case TB_GEOM_BOX: shape = new btBoxShape(btVector3(s[0], s[1], s[2])); break;
    default: return nullptr;
  }
  w.shapes.emplace_back(shape);
  return shape;
}

// All geoms of a moving body (or of the world, body 0) in its inertial frame.
btCompoundShape* body_shape(World& w, const tbData* d, int body, tbReal* friction) {
  auto* compound = new btCompoundShape();
  w.shapes.emplace_back(compound);
  btTransform frame =
      body ? transform(d->xipos + 3 * body, d->ximat + 9 * body) : btTransform::getIdentity();
  *friction = 0;
  for (int g = 0; g < w.m->ngeom; g++) {
    if (engine_moving_body(w.m, w.m->geom_bodyid[g]) != body) continue;
    if (w.m->geom_contype[g] == 0 && w.m->geom_conaffinity[g] == 0) continue;
    btCollisionShape* shape = make_shape(w, g);
    if (!shape) continue;
    *friction = std::fmax(*friction, w.m->geom_friction[3 * g]);
    compound->addChildShape(frame.inverse() * transform(d->geom_xpos + 3 * g, d->geom_xmat + 9 * g),
                            shape);
  }
  return compound;
}

bool has_children(const tbModel* m, int body) {
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_jntnum[b] && engine_moving_body(m, m->body_parentid[b]) == body) return true;
  }
  return false;
}

void add_static(World& w, const tbData* d) {
  tbReal friction;
  for (int g = 0; g < w.m->ngeom; g++) {
    if (w.m->geom_type[g] != TB_GEOM_PLANE) continue;
    auto* object = new btCollisionObject();
    object->setCollisionShape(make_shape(w, g));
    object->setWorldTransform(transform(d->geom_xpos + 3 * g, d->geom_xmat + 9 * g));
    object->setFriction(std::sqrt(w.m->geom_friction[3 * g]));
    object->setUserIndex(0);
    w.objects.emplace_back(object);
    w.world.addCollisionObject(object);
  }
  (void)friction;
}

void add_rigid(World& w, const tbData* d, int b) {
  tbReal friction;
  btCompoundShape* shape = body_shape(w, d, b, &friction);
  const tbReal* I = w.m->body_inertia + 3 * b;
  btRigidBody::btRigidBodyConstructionInfo info(w.m->body_mass[b], nullptr, shape,
                                                btVector3(I[0], I[1], I[2]));
  auto* body = new btRigidBody(info);
  body->setWorldTransform(transform(d->xipos + 3 * b, d->ximat + 9 * b));
  body->setDamping(0, 0);
  body->setFriction(std::sqrt(friction));
  body->setActivationState(DISABLE_DEACTIVATION);
  body->setUserIndex(b);
  w.objects.emplace_back(body);
  w.world.addRigidBody(body);
  w.rigid[static_cast<size_t>(b)] = body;
}

void add_collider(World& w, const tbData* d, btMultiBody* tree, int link, int b) {
  tbReal friction;
  btCompoundShape* shape = body_shape(w, d, b, &friction);
  auto* collider = new btMultiBodyLinkCollider(tree, link);
  collider->setCollisionShape(shape);
  collider->setFriction(std::sqrt(friction));
  collider->setUserIndex(b);
  collider->setWorldTransform(b ? transform(d->xipos + 3 * b, d->ximat + 9 * b)
                                : btTransform::getIdentity());
  w.objects.emplace_back(collider);
  w.world.addCollisionObject(collider, 1, -1);
  if (link < 0) {
    tree->setBaseCollider(collider);
  } else {
    tree->getLink(link).m_collider = collider;
  }
}

// The tree under `root` (a free body, or 0 for links that hang on the world). `zero` has the frames
// of the reference pose, where joint angles are those of qpos0.
void add_tree(World& w, const tbData* zero, const tbData* start, int root,
              const std::vector<int>& links) {
  const tbModel* m = w.m;
  const tbReal* I = m->body_inertia + 3 * root;
  auto* tree =
      new btMultiBody(static_cast<int>(links.size()), root ? m->body_mass[root] : 0,
                      root ? btVector3(I[0], I[1], I[2]) : btVector3(0, 0, 0), root == 0, false);
  w.trees.emplace_back(tree);
  auto frame = [&](const tbData* d, int b) {
    return b ? transform(d->xipos + 3 * b, d->ximat + 9 * b) : btTransform::getIdentity();
  };
  tree->setBaseWorldTransform(frame(start, root));
  for (size_t i = 0; i < links.size(); i++) {
    int b = links[i], parent = engine_moving_body(m, m->body_parentid[b]);
    int j = m->body_jntadr[b];
    btTransform P = frame(zero, parent), T = frame(zero, b);
    btVector3 anchor(zero->xanchor[3 * j], zero->xanchor[3 * j + 1], zero->xanchor[3 * j + 2]);
    btVector3 axis(zero->xaxis[3 * j], zero->xaxis[3 * j + 1], zero->xaxis[3 * j + 2]);
    btQuaternion parent_to_this;
    (T.getBasis().transpose() * P.getBasis()).getRotation(parent_to_this);
    const tbReal* J = m->body_inertia + 3 * b;
    tree->setupRevolute(static_cast<int>(i), m->body_mass[b], btVector3(J[0], J[1], J[2]),
                        parent == root ? -1 : w.link_of[static_cast<size_t>(parent)],
                        parent_to_this, T.getBasis().transpose() * axis,
                        P.getBasis().transpose() * (anchor - P.getOrigin()),
                        T.getBasis().transpose() * (T.getOrigin() - anchor), true);
    w.link_of[static_cast<size_t>(b)] = static_cast<int>(i);
    w.tree_of[static_cast<size_t>(b)] = tree;
  }
  tree->finalizeMultiDof();
  tree->setHasSelfCollision(true);
  tree->setLinearDamping(0);
  tree->setAngularDamping(0);
  tree->setUseGyroTerm(true);
  w.world.addMultiBody(tree);
  for (size_t i = 0; i < links.size(); i++) {
    int adr = m->jnt_qposadr[m->body_jntadr[links[i]]];
    tree->setJointPos(static_cast<int>(i), start->qpos[adr] - m->qpos0[adr]);
  }
  if (root) {
    w.tree_of[static_cast<size_t>(root)] = tree;
    add_collider(w, start, tree, -1, root);
  }
  for (size_t i = 0; i < links.size(); i++) {
    add_collider(w, start, tree, static_cast<int>(i), links[i]);
  }
}

void collect(const tbModel* m, int root, std::vector<int>& links) {
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_jntnum[b] == 0 || m->jnt_type[m->body_jntadr[b]] != TB_JOINT_HINGE) continue;
    int top = b;
    while (top > 0 && m->jnt_type[m->body_jntadr[top]] == TB_JOINT_HINGE) {
      top = engine_moving_body(m, m->body_parentid[top]);
    }
    if (top == root) links.push_back(b);
  }
}

void* create(const tbModel* m, const tbData* start, tbReal dt) {
  auto* w = new World();
  w->m = m;
  w->dt = dt;
  w->filter.m = m;
  size_t n = static_cast<size_t>(m->nbody);
  w->rigid.resize(n);
  w->tree_of.resize(n);
  w->link_of.assign(n, -1);
  w->world.setGravity(btVector3(m->opt.gravity[0], m->opt.gravity[1], m->opt.gravity[2]));
  w->world.getSolverInfo().m_numIterations = 50;
  w->world.getPairCache()->setOverlapFilterCallback(&w->filter);
  tbData* zero = tb_data_new(m);
  tb_forward(m, zero);
  add_static(*w, start);
  for (int b = 0; b < m->nbody; b++) {
    bool is_free = b > 0 && m->body_jntnum[b] && m->jnt_type[m->body_jntadr[b]] == TB_JOINT_FREE;
    if (b > 0 && !is_free) continue;
    std::vector<int> links;
    collect(m, b, links);
    if (is_free && !has_children(m, b)) {
      add_rigid(*w, start, b);
    } else if (!links.empty() || is_free) {
      add_tree(*w, zero, start, b, links);
    }
  }
  tb_data_free(zero);
  return w;
}

void step(void* world) {
  auto* w = static_cast<World*>(world);
  w->world.stepSimulation(w->dt, 0, w->dt);
}

void write_pose(const tbModel* m, int b, const btTransform& inertial, tbReal* qpos) {
  const tbReal *ip = m->body_ipos + 3 * b, *iq = m->body_iquat + 4 * b;
  btTransform local(btQuaternion(iq[1], iq[2], iq[3], iq[0]), btVector3(ip[0], ip[1], ip[2]));
  btTransform frame = inertial * local.inverse();
  btQuaternion q = frame.getRotation();
  for (int k = 0; k < 3; k++) qpos[k] = frame.getOrigin()[k];
  qpos[3] = q.w();
  qpos[4] = q.x();
  qpos[5] = q.y();
  qpos[6] = q.z();
}

void read(void* world, tbReal* qpos) {
  auto* w = static_cast<World*>(world);
  const tbModel* m = w->m;
  for (int b = 1; b < m->nbody; b++) {
    size_t i = static_cast<size_t>(b);
    if (m->body_jntnum[b] == 0) continue;
    int adr = m->jnt_qposadr[m->body_jntadr[b]];
    if (w->rigid[i]) {
      write_pose(m, b, w->rigid[i]->getWorldTransform(), qpos + adr);
    } else if (w->tree_of[i] && w->link_of[i] < 0) {
      write_pose(m, b, w->tree_of[i]->getBaseWorldTransform(), qpos + adr);
    } else if (w->tree_of[i]) {
      qpos[adr] = m->qpos0[adr] + w->tree_of[i]->getJointPos(w->link_of[i]);
    }
  }
}

void destroy(void* world) {
  delete static_cast<World*>(world);
}

}  // namespace

extern "C" const Engine ENGINE_BULLET = {
    "bullet", "multibody solver with 50 iterations, ERP 0.2", create, step, read, destroy};
