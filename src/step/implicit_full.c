// MuJoCo's `implicit` integrator: every derivative of the smooth forces with respect to velocity,
// Coriolis and centrifugal forces and the medium included, so that H = M - h dtau/dv is not
// symmetric. Pairs of dofs that are not on one path to the world are left out, as MuJoCo does.
#include <string.h>

#include "linalg/dense.h"
#include "model/workspace.h"
#include "step/forces.h"
#include "step/implicit.h"
#include "tribo/derivatives.h"
#include "tribo/dynamics.h"

static tbReal* entry(const tbModel* m, tbReal* H, int i, int j) {
  return &H[(size_t)i * (size_t)m->nv + (size_t)j];
}

// Dof i is j or moves because of it, or the other way round.
static int on_one_path(const tbModel* m, int i, int j) {
  int low = i < j ? i : j, high = i < j ? j : i;
  return high < low + m->dof_subtreenum[low];
}

static void add_outer(const tbModel* m, tbReal* H, tbReal s, const int* col, const tbReal* x,
                      int n) {
  for (int a = 0; a < n; a++) {
    for (int b = 0; b < n; b++) {
      if (on_one_path(m, col[a], col[b])) *entry(m, H, col[a], col[b]) += s * x[a] * x[b];
    }
  }
}

static void add_dampers(const tbModel* m, const tbData* d, tbReal* H) {
  if (m->opt.disableflags & TB_DISABLE_DAMPER) return;
  tbReal h = m->opt.timestep;
  for (int i = 0; i < m->nv; i++) *entry(m, H, i, i) += h * m->dof_damping[i];
  for (int t = 0; t < m->ntendon; t++) {
    if (m->tendon_damping[t] == 0) continue;
    add_outer(m, H, h * m->tendon_damping[t], m->Jten_colind + m->tendon_Jadr[t],
              d->ten_J + m->tendon_Jadr[t], m->tendon_Jnnz[t]);
  }
}

static void add_actuators(const tbModel* m, const tbData* d, tbReal* H) {
  for (int i = 0; i < m->nu; i++) {
    const tbReal* range = m->actuator_forcerange + 2 * i;
    tbReal slope = tb_actuator_velocity_gain(m, d, i), force = d->actuator_force[i];
    int clamped = m->actuator_forcelimited[i] && (force <= range[0] || force >= range[1]);
    if (slope == 0 || clamped) continue;
    add_outer(m, H, -m->opt.timestep * slope, m->Jmom_colind + m->actuator_Jadr[i],
              d->actuator_moment + m->actuator_Jadr[i], m->actuator_Jnnz[i]);
  }
}

// The medium, by central differences of its force.
static tbResult add_fluid(const tbModel* m, tbData* d, tbReal* H) {
  if (m->opt.density <= 0 && m->opt.viscosity <= 0) return TB_OK;
  static const tbReal STEP = 1e-5;
  size_t bytes = sizeof(tbReal) * (size_t)m->nv;
  tbReal* saved = tb_arena_alloc(&d->work->arena, 2 * bytes + 1);
  if (!saved) return TB_ERROR_MEMORY;
  tbReal* ahead = saved + m->nv;
  memcpy(saved, d->qfrc_fluid, bytes);
  for (int j = 0; j < m->nv; j++) {
    tbReal v = d->qvel[j];
    for (int side = 1; side >= -1; side -= 2) {
      d->qvel[j] = v + side * STEP;
      tb_com_velocity(m, d);
      memset(d->qfrc_fluid, 0, bytes);
      tb_fluid(m, d);
      if (side > 0) memcpy(ahead, d->qfrc_fluid, bytes);
    }
    d->qvel[j] = v;
    for (int i = 0; i < m->nv; i++) {
      if (!on_one_path(m, i, j)) continue;
      *entry(m, H, i, j) -= m->opt.timestep * (ahead[i] - d->qfrc_fluid[i]) / (2 * STEP);
    }
  }
  tb_com_velocity(m, d);
  memcpy(d->qfrc_fluid, saved, bytes);
  return TB_OK;
}

tbResult tb_implicit_full_matrix(const tbModel* m, tbData* d, tbReal* H) {
  size_t n = (size_t)m->nv;
  // H = M + h db/dv, then the forces that damp.
  tbResult result = tb_rne_derivatives(m, d, NULL, NULL, NULL, H);
  if (result != TB_OK) return result;
  for (size_t i = 0; i < n * n; i++) H[i] *= m->opt.timestep;
  for (int i = 0; i < m->nv; i++) {
    for (int k = 0; k < m->M_rownnz[i]; k++) {
      int j = m->M_colind[m->M_rowadr[i] + k];
      tbReal value = d->qM[m->M_rowadr[i] + k];
      *entry(m, H, i, j) += value;
      if (j != i) *entry(m, H, j, i) += value;
    }
  }
  add_dampers(m, d, H);
  add_actuators(m, d, H);
  return add_fluid(m, d, H);
}

tbResult tb_implicit_full(const tbModel* m, tbData* d, tbReal* x) {
  size_t n = (size_t)m->nv;
  tbReal* H = tb_arena_alloc(&d->work->arena, sizeof(tbReal) * (n * n + 1));
  int* pivot = tb_arena_alloc(&d->work->arena, sizeof(int) * (n + 1));
  if (!H || !pivot) return TB_ERROR_MEMORY;
  tbResult result = tb_implicit_full_matrix(m, d, H);
  for (int t = 0; result == TB_OK && t < m->ntree; t++) {
    int first = m->tree_dofadr[t], count = m->tree_dofnum[t];
    tbReal* block = entry(m, H, first, first);
    if (!tb_lu(count, block, m->nv, pivot)) return TB_ERROR_NUMERIC;
    tb_lu_solve(count, block, m->nv, pivot, x + first);
  }
  return result;
}
