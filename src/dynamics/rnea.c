// Recursive Newton-Euler: the generalised force of a motion (docs/manual/dynamics.md, eq. 17-19).
#include "dynamics/gravity.h"
#include "dynamics/stage.h"
#include "model/workspace.h"
#include "spatial/wide.h"
#include "tribo/dynamics.h"

// Acceleration of a body from its parent's: a + sum of dS/dt qvel + S qacc over its dofs.
TB_INLINE tbSimd6 add_joints(const tbModel* m, const tbData* d, int body, const tbReal* qacc,
                             tbSimd6 a) {
  int first = m->body_dofadr[body], end = first + m->body_dofnum[body];
  for (int i = first; i < end; i++) {
    a = tb_simd6_add(a, tb_simd6_scale(d->qvel[i], tb_simd6_load(d->cdof_dot + 6 * i)));
  }
  for (int i = first; qacc && i < end; i++) {
    a = tb_simd6_add(a, tb_simd6_scale(qacc[i], tb_simd6_load(d->cdof + 6 * i)));
  }
  return a;
}

// Subtract a user's force and torque at the centre of mass.
static void subtract_external(const tbModel* m, const tbData* d, int body, const tbReal* xfrc,
                              tbReal force[6]) {
  tbReal at[3], wrench[6];
  tb_sub3(at, d->xipos + 3 * body, d->subtree_com + 3 * m->body_rootid[body]);
  tb_force_make(wrench, at, xfrc + 6 * body, xfrc + 6 * body + 3);
  tb_add_scaled6(force, force, -1, wrench);
}

// The spatial force that accelerates a body.
TB_INLINE tbSimd6 force_of(const tbData* d, int body, tbSimd6 a) {
  return tb_simd6_inertial_force(d->cinert + 10 * body, tb_simd6_load(d->cvel + 6 * body), a);
}

// Outward over the bodies that can move: accelerations, then, unless NULL, forces.
TB_INLINE void outward(const tbModel* m, const tbData* d, const tbReal* qacc, tbReal* acceleration,
                       tbReal* force) {
  tb_gravity_acceleration(m, acceleration);
  tbSimd6 a = tb_simd6_load(acceleration);
  for (int i = 1; i < m->nbody; i++) {
    int parent = m->body_parentid[i];
    if (parent != i - 1) a = tb_simd6_load(acceleration + 6 * parent);
    if (m->body_lastdof[i] >= 0) {
      a = add_joints(m, d, i, qacc, a);
      if (force) tb_simd6_store(force + 6 * i, force_of(d, i, a));
    }
    tb_simd6_store(acceleration + 6 * i, a);
  }
}

// Inward: each body passes its force to its parent.
TB_INLINE void inward(const tbModel* m, tbReal* force) {
  for (int i = m->nbody - 1; i > 0; i--) {
    int parent = m->body_parentid[i];
    if (m->body_lastdof[parent] >= 0) tb_wide_add6(force + 6 * parent, force + 6 * i);
  }
}

TB_INLINE void rne(const tbModel* m, tbData* d, const tbReal* qacc, const tbReal* xfrc,
                   tbReal* tau) {
  tbReal* acceleration = d->work->scratch_body;
  tbReal* force = d->work->scratch_body + 6 * m->nbody;
  outward(m, d, qacc, acceleration, force);
  if (xfrc) {
    for (int i = 1; i < m->nbody; i++) {
      if (m->body_lastdof[i] >= 0) subtract_external(m, d, i, xfrc, force + 6 * i);
    }
  }
  inward(m, force);
  for (int i = 0; i < m->nv; i++) {
    tau[i] = tb_wide_dot6(d->cdof + 6 * i, force + 6 * m->dof_bodyid[i]);
    if (qacc) tau[i] += m->dof_armature[i] * qacc[i];
  }
  tb_add_tendon_inertia(m, d, qacc, tau);
}

static void rne_generic(const tbModel* m, tbData* d, const tbReal* qacc, const tbReal* xfrc,
                        tbReal* tau) {
  rne(m, d, qacc, xfrc, tau);
}

TB_WIDE static void rne_avx2(const tbModel* m, tbData* d, const tbReal* qacc, const tbReal* xfrc,
                             tbReal* tau) {
  rne(m, d, qacc, xfrc, tau);
}

void tb_stage_rne(const tbModel* m, tbData* d, const tbReal* qacc, const tbReal* xfrc,
                  tbReal* tau) {
  if (tb_wide()) {
    rne_avx2(m, d, qacc, xfrc, tau);
  } else {
    rne_generic(m, d, qacc, xfrc, tau);
  }
}

void tb_rne(const tbModel* m, tbData* d, const tbReal* qacc, const tbReal* xfrc, tbReal* tau) {
  if (tb_is_world_of(m, d) && tau) tb_stage_rne(m, d, qacc, xfrc, tau);
}

TB_INLINE void body_forces(const tbModel* m, tbData* d) {
  outward(m, d, d->qacc, d->cacc, d->cfrc_int);
  tb_zero6(d->cfrc_int);
  for (int i = 1; i < m->nbody; i++) {
    // The forces on bodies that cannot move carry their weights and loads.
    if (m->body_lastdof[i] < 0) {
      tb_simd6_store(d->cfrc_int + 6 * i, force_of(d, i, tb_simd6_load(d->cacc + 6 * i)));
    }
    tb_add_scaled6(d->cfrc_int + 6 * i, d->cfrc_int + 6 * i, -1, d->cfrc_ext + 6 * i);
  }
  for (int i = m->nbody - 1; i > 0; i--) {
    int parent = m->body_parentid[i];
    tb_wide_add6(d->cfrc_int + 6 * parent, d->cfrc_int + 6 * i);
  }
}

static void accelerations_generic(const tbModel* m, tbData* d) {
  outward(m, d, d->qacc, d->cacc, NULL);
}

TB_WIDE static void accelerations_avx2(const tbModel* m, tbData* d) {
  outward(m, d, d->qacc, d->cacc, NULL);
}

void tb_body_accelerations(const tbModel* m, tbData* d) {
  if (!tb_is_world_of(m, d)) return;
  if (tb_wide()) {
    accelerations_avx2(m, d);
  } else {
    accelerations_generic(m, d);
  }
}

static void body_forces_generic(const tbModel* m, tbData* d) {
  body_forces(m, d);
}

TB_WIDE static void body_forces_avx2(const tbModel* m, tbData* d) {
  body_forces(m, d);
}

void tb_body_forces(const tbModel* m, tbData* d) {
  if (!tb_is_world_of(m, d)) return;
  if (tb_wide()) {
    body_forces_avx2(m, d);
  } else {
    body_forces_generic(m, d);
  }
}
