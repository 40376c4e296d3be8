// ODE: maximal coordinates, hinges and contacts in one linear complementarity problem.
#include <math.h>
#include <ode/ode.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engines.h"

enum { CONTACTS = 8 };

typedef struct {
  const tbModel* m;
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dBodyID* body;    // by body of the model
  dJointID* hinge;  // by body
  tbReal* q0;       // joint angle where the hinge reads zero
  tbReal dt;
  int exact;
} World;

static void to_rotation(const tbReal* mat, dMatrix3 R) {
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) R[4 * r + c] = mat[3 * r + c];
    R[4 * r + 3] = 0;
  }
}

static dGeomID make_geom(World* w, int g) {
  const tbReal* s = w->m->geom_size + 3 * g;
  switch (w->m->geom_type[g]) {
    case TB_GEOM_SPHERE: return dCreateSphere(w->space, s[0]);
    case TB_GEOM_ELLIPSOID: return dCreateSphere(w->space, cbrt(s[0] * s[1] * s[2]));
    case TB_GEOM_CAPSULE: return dCreateCapsule(w->space, s[0], 2 * s[1]);
    case TB_GEOM_CYLINDER: return dCreateCylinder(w->space, s[0], 2 * s[1]);
    case TB_GEOM_BOX: return dCreateBox(w->space, 2 * s[0], 2 * s[1], 2 * s[2]);
    default: return NULL;
  }
}

static void add_geoms(World* w, const tbData* start) {
  const tbModel* m = w->m;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_contype[g] == 0 && m->geom_conaffinity[g] == 0) continue;
    const tbReal *p = start->geom_xpos + 3 * g, *R = start->geom_xmat + 9 * g;
    dGeomID geom;
    if (m->geom_type[g] == TB_GEOM_PLANE) {
      geom = dCreatePlane(w->space, R[2], R[5], R[8], R[2] * p[0] + R[5] * p[1] + R[8] * p[2]);
    } else {
      geom = make_geom(w, g);
      if (!geom) continue;
      dMatrix3 rotation;
      to_rotation(R, rotation);
      int body = engine_moving_body(m, m->geom_bodyid[g]);
      if (body > 0) {
        dGeomSetBody(geom, w->body[body]);
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

static void add_bodies(World* w, const tbData* start) {
  const tbModel* m = w->m;
  for (int b = 1; b < m->nbody; b++) {
    if (m->body_jntnum[b] == 0) continue;
    w->body[b] = dBodyCreate(w->world);
    dMass mass;
    dMassSetZero(&mass);
    const tbReal* I = m->body_inertia + 3 * b;
    dMassSetParameters(&mass, m->body_mass[b], 0, 0, 0, I[0], I[1], I[2], 0, 0, 0);
    dBodySetMass(w->body[b], &mass);
    const tbReal* p = start->xipos + 3 * b;
    dMatrix3 R;
    to_rotation(start->ximat + 9 * b, R);
    dBodySetPosition(w->body[b], p[0], p[1], p[2]);
    dBodySetRotation(w->body[b], R);
    int j = m->body_jntadr[b];
    if (m->jnt_type[j] != TB_JOINT_HINGE) continue;
    int parent = engine_moving_body(m, m->body_parentid[b]);
    w->hinge[b] = dJointCreateHinge(w->world, 0);
    dJointAttach(w->hinge[b], w->body[b], parent ? w->body[parent] : 0);
    const tbReal *anchor = start->xanchor + 3 * j, *axis = start->xaxis + 3 * j;
    dJointSetHingeAnchor(w->hinge[b], anchor[0], anchor[1], anchor[2]);
    dJointSetHingeAxis(w->hinge[b], axis[0], axis[1], axis[2]);
    w->q0[b] = start->qpos[m->jnt_qposadr[j]];
  }
}

static void destroy(void* world) {
  World* w = world;
  dJointGroupDestroy(w->contacts);
  dSpaceDestroy(w->space);
  dWorldDestroy(w->world);
  free(w->body);
  free(w->hinge);
  free(w->q0);
  free(w);
}

static void* create_any(const tbModel* m, const tbData* start, tbReal dt, int exact) {
  World* w = calloc(1, sizeof *w);
  if (!w) return NULL;
  dInitODE2(0);
  size_t n = (size_t)m->nbody;
  w->m = m;
  w->dt = dt;
  w->exact = exact;
  w->world = dWorldCreate();
  w->space = dHashSpaceCreate(0);
  w->contacts = dJointGroupCreate(0);
  w->body = calloc(n, sizeof *w->body);
  w->hinge = calloc(n, sizeof *w->hinge);
  w->q0 = calloc(n, sizeof *w->q0);
  dWorldSetGravity(w->world, m->opt.gravity[0], m->opt.gravity[1], m->opt.gravity[2]);
  dWorldSetQuickStepNumIterations(w->world, 50);
  if (w->body && w->hinge && w->q0) {
    add_bodies(w, start);
    add_geoms(w, start);
    return w;
  }
  destroy(w);
  return NULL;
}

static void* create(const tbModel* m, const tbData* start, tbReal dt) {
  return create_any(m, start, dt, 0);
}

static void* create_exact(const tbModel* m, const tbData* start, tbReal dt) {
  return create_any(m, start, dt, 1);
}

static void near_callback(void* world, dGeomID a, dGeomID b) {
  World* w = world;
  int g1 = (int)(intptr_t)dGeomGetData(a) - 1, g2 = (int)(intptr_t)dGeomGetData(b) - 1;
  if (!engine_pair_allowed(w->m, w->m->geom_bodyid[g1], w->m->geom_bodyid[g2])) return;
  dContact contact[CONTACTS];
  memset(contact, 0, sizeof contact);
  int n = dCollide(a, b, CONTACTS, &contact[0].geom, sizeof(dContact));
  tbReal mu = fmax(w->m->geom_friction[3 * g1], w->m->geom_friction[3 * g2]);
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
    dWorldStep(w->world, w->dt);
  } else {
    dWorldQuickStep(w->world, w->dt);
  }
  dJointGroupEmpty(w->contacts);
}

static void conjugate_times(const tbReal a[4], const tbReal b[4], tbReal out[4]) {
  // a * conj(b)
  out[0] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  out[1] = -a[0] * b[1] + a[1] * b[0] - a[2] * b[3] + a[3] * b[2];
  out[2] = -a[0] * b[2] + a[1] * b[3] + a[2] * b[0] - a[3] * b[1];
  out[3] = -a[0] * b[3] - a[1] * b[2] + a[2] * b[1] + a[3] * b[0];
}

static void rotate(const tbReal q[4], const tbReal v[3], tbReal out[3]) {
  tbReal t[3];
  for (int k = 0; k < 3; k++) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    t[k] = 2 * (q[1 + a] * v[b] - q[1 + b] * v[a]);
  }
  for (int k = 0; k < 3; k++) {
    int a = (k + 1) % 3, b = (k + 2) % 3;
    out[k] = v[k] + q[0] * t[k] + q[1 + a] * t[b] - q[1 + b] * t[a];
  }
}

static void read(void* world, tbReal* qpos) {
  World* w = world;
  const tbModel* m = w->m;
  for (int b = 1; b < m->nbody; b++) {
    if (!w->body[b]) continue;
    int adr = m->jnt_qposadr[m->body_jntadr[b]];
    if (w->hinge[b]) {
      qpos[adr] = w->q0[b] + dJointGetHingeAngle(w->hinge[b]);
      continue;
    }
    // Body frame from the inertial frame: q = q_i * conj(iquat), p = p_i - q ipos.
    const dReal *p = dBodyGetPosition(w->body[b]), *q = dBodyGetQuaternion(w->body[b]);
    const tbReal qi[4] = {q[0], q[1], q[2], q[3]};
    tbReal shift[3];
    conjugate_times(qi, m->body_iquat + 4 * b, qpos + adr + 3);
    rotate(qpos + adr + 3, m->body_ipos + 3 * b, shift);
    for (int k = 0; k < 3; k++) qpos[adr + k] = p[k] - shift[k];
  }
}

const Engine ENGINE_ODE = {
    "ode quickstep", "dWorldQuickStep with 50 iterations, ERP 0.2", create, step, read, destroy};
const Engine ENGINE_ODE_EXACT = {
    "ode step", "dWorldStep (Dantzig), ERP 0.2", create_exact, step, read, destroy};
