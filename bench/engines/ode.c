// ODE: maximal coordinates, joints and contacts in one linear complementarity problem.
#include <math.h>
#include <ode/ode.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engines.h"

enum { CONTACTS = 8 };

typedef struct {
  const Rig* rig;
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dBodyID* body;    // by link
  dJointID* joint;  // by link
  int exact;
} World;

static void to_rotation(const tbReal* mat, dMatrix3 R) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) R[4 * r + c] = mat[3 * r + c];
    R[4 * r + 3] = 0;
  }
}

static dGeomID make_geom(World* w, int g) {
  const tbModel* m = w->rig->model;
  const tbReal* s = m->geom_size + 3 * g;
  switch (m->geom_type[g]) {
    case TB_GEOM_SPHERE: return dCreateSphere(w->space, s[0]);
    // ODE has no ellipsoids: a sphere of the same volume.
    case TB_GEOM_ELLIPSOID: return dCreateSphere(w->space, cbrt(s[0] * s[1] * s[2]));
    case TB_GEOM_CAPSULE: return dCreateCapsule(w->space, s[0], 2 * s[1]);
    case TB_GEOM_CYLINDER: return dCreateCylinder(w->space, s[0], 2 * s[1]);
    case TB_GEOM_BOX: return dCreateBox(w->space, 2 * s[0], 2 * s[1], 2 * s[2]);
    default: return NULL;
  }
}

static void add_geoms(World* w) {
  const tbModel* m = w->rig->model;
  const tbData* start = w->rig->start;
  for (int g = 0; g < m->ngeom; g++) {
    if (!rig_geom_collides(m, g)) continue;
    const tbReal *p = start->geom_xpos + 3 * g, *R = start->geom_xmat + 9 * g;
    dGeomID geom;
    if (m->geom_type[g] == TB_GEOM_PLANE) {
      geom = dCreatePlane(w->space, R[2], R[5], R[8], R[2] * p[0] + R[5] * p[1] + R[8] * p[2]);
    } else {
      geom = make_geom(w, g);
      if (!geom) continue;
      dMatrix3 rotation;
      to_rotation(R, rotation);
      int link = rig_geom_link(w->rig, g);
      if (link >= 0) {
        dGeomSetBody(geom, w->body[link]);
        dGeomSetOffsetWorldPosition(geom, p[0], p[1], p[2]);
        dGeomSetOffsetWorldRotation(geom, rotation);
      } else {
        dGeomSetPosition(geom, p[0], p[1], p[2]);
        dGeomSetRotation(geom, rotation);
      }
    }
    dGeomSetData(geom, (void*)(intptr_t)(g + 1));
  }
}

static void add_joint(World* w, int i) {
  const Link* l = &w->rig->link[i];
  const tbReal *p = l->anchor, *a = l->axis;
  dBodyID parent = l->parent >= 0 ? w->body[l->parent] : 0;
  switch (l->type) {
    case TB_JOINT_HINGE:
      w->joint[i] = dJointCreateHinge(w->world, 0);
      dJointAttach(w->joint[i], w->body[i], parent);
      dJointSetHingeAnchor(w->joint[i], p[0], p[1], p[2]);
      dJointSetHingeAxis(w->joint[i], a[0], a[1], a[2]);
      break;
    case TB_JOINT_SLIDE:
      w->joint[i] = dJointCreateSlider(w->world, 0);
      dJointAttach(w->joint[i], w->body[i], parent);
      dJointSetSliderAxis(w->joint[i], a[0], a[1], a[2]);
      break;
    case TB_JOINT_BALL:
      w->joint[i] = dJointCreateBall(w->world, 0);
      dJointAttach(w->joint[i], w->body[i], parent);
      dJointSetBallAnchor(w->joint[i], p[0], p[1], p[2]);
      break;
    default: break;
  }
}

static void add_links(World* w) {
  for (int i = 0; i < w->rig->count; i++) {
    const Link* l = &w->rig->link[i];
    dMass mass;
    dMatrix3 R;
    w->body[i] = dBodyCreate(w->world);
    dMassSetZero(&mass);
    dMassSetParameters(&mass, l->mass, 0, 0, 0, l->moment[0], l->moment[1], l->moment[2], 0, 0, 0);
    dBodySetMass(w->body[i], &mass);
    to_rotation(l->mat, R);
    dBodySetPosition(w->body[i], l->pos[0], l->pos[1], l->pos[2]);
    dBodySetRotation(w->body[i], R);
    add_joint(w, i);
  }
}

static void destroy(void* world) {
  World* w = world;
  dJointGroupDestroy(w->contacts);
  dSpaceDestroy(w->space);
  dWorldDestroy(w->world);
  free(w->body);
  free(w->joint);
  free(w);
}

static void* create_any(const Rig* rig, int exact) {
  World* w = calloc(1, sizeof *w);
  if (!w) return NULL;
  dInitODE2(0);
  const tbReal* gravity = rig->model->opt.gravity;
  size_t n = (size_t)rig->count + 1;
  w->rig = rig;
  w->exact = exact;
  w->world = dWorldCreate();
  w->space = dHashSpaceCreate(0);
  w->contacts = dJointGroupCreate(0);
  w->body = calloc(n, sizeof *w->body);
  w->joint = calloc(n, sizeof *w->joint);
  dWorldSetGravity(w->world, gravity[0], gravity[1], gravity[2]);
  dWorldSetQuickStepNumIterations(w->world, 50);
  if (w->body && w->joint) {
    add_links(w);
    add_geoms(w);
    return w;
  }
  destroy(w);
  return NULL;
}

static void* create(const Rig* rig) {
  return create_any(rig, 0);
}

static void* create_exact(const Rig* rig) {
  return create_any(rig, 1);
}

static void near_callback(void* world, dGeomID a, dGeomID b) {
  World* w = world;
  const tbModel* m = w->rig->model;
  int g1 = (int)(intptr_t)dGeomGetData(a) - 1, g2 = (int)(intptr_t)dGeomGetData(b) - 1;
  if (!rig_pair_allowed(w->rig, rig_geom_link(w->rig, g1), rig_geom_link(w->rig, g2))) return;
  dContact contact[CONTACTS];
  memset(contact, 0, sizeof contact);
  int n = dCollide(a, b, CONTACTS, &contact[0].geom, sizeof(dContact));
  tbReal mu = fmax(m->geom_friction[3 * g1], m->geom_friction[3 * g2]);
  for (int i = 0; i < n; i++) {
    contact[i].surface.mode = dContactApprox1;
    contact[i].surface.mu = mu;
    dJointID joint = dJointCreateContact(w->world, w->contacts, &contact[i]);
    dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
  }
}

static void step(void* world) {
  World* w = world;
  dSpaceCollide(w->space, w, near_callback);
  if (w->exact) {
    dWorldStep(w->world, w->rig->dt);
  } else {
    dWorldQuickStep(w->world, w->rig->dt);
  }
  dJointGroupEmpty(w->contacts);
}

static void read(void* world, tbReal* qpos) {
  static const tbReal still[4] = {1, 0, 0, 0};
  World* w = world;
  for (int i = 0; i < w->rig->count; i++) {
    const Link* l = &w->rig->link[i];
    if (l->type == TB_JOINT_HINGE) {
      rig_set_scalar(w->rig, i, dJointGetHingeAngle(w->joint[i]), qpos);
    } else if (l->type == TB_JOINT_SLIDE) {
      rig_set_scalar(w->rig, i, dJointGetSliderPosition(w->joint[i]), qpos);
    } else {
      rig_set_pose(w->rig, i, dBodyGetPosition(w->body[i]), dBodyGetQuaternion(w->body[i]),
                   l->parent >= 0 ? dBodyGetQuaternion(w->body[l->parent]) : still, qpos);
    }
  }
}

const Engine ENGINE_ODE = {
    "ode quickstep", "dWorldQuickStep with 50 iterations, ERP 0.2", create, step, read, destroy};
const Engine ENGINE_ODE_EXACT = {
    "ode step", "dWorldStep (Dantzig), ERP 0.2", create_exact, step, read, destroy};
