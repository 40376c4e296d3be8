// MuJoCo's `implicit` integrator: every derivative of the smooth forces with respect to velocity,
// Coriolis and centrifugal forces and the medium included, so that H = M - h dtau/dv is not
// symmetric. As in MuJoCo, only pairs of dofs on one path to the world are included.
//
// The file also has `implicitfast`, which leaves Coriolis forces out and takes the symmetric part
// of the rest, except for free-floating bodies (since 3.11): these get all derivatives, six rows at
// a time.
#include <stdbool.h>
#include <string.h>

#include "dynamics/axis.h"
#include "dynamics/mass.h"
#include "linalg/dense.h"
#include "linalg/ltdl.h"
#include "model/floating.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "forces/forces.h"
#include "forces/implicit_inertia.h"
#include "tribo/dynamics.h"

static tbReal* entry(const tbModel* m, tbReal* H, int i, int j) {
  return &H[(size_t)i * (size_t)m->nv + (size_t)j];
}

// Whether one of the dofs i and j is an ancestor of the other, or both are equal.
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

// The medium's force at the velocities v, displaced along dof k of every tree.
static void fluid_ahead(const tbModel* m, tbData* d, const tbReal* v, int k, tbReal by) {
  for (int t = 0; t < m->ntree; t++) {
    int j = m->tree_dofadr[t] + k;
    if (k < m->tree_dofnum[t]) d->qvel[j] = v[j] + by;
  }
  tb_com_velocity(m, d);
  memset(d->qfrc_fluid, 0, sizeof(tbReal) * (size_t)m->nv);
  tb_fluid(m, d);
}

// The medium, by central differences of its force. Trees do not affect each other's fluid forces,
// so one dof of each tree is displaced at a time: many free bodies need as many evaluations as one.
static tbResult add_fluid(const tbModel* m, tbData* d, tbReal* H) {
  if (!tb_has_fluid(m)) return TB_OK;
  static const tbReal STEP = 1e-5;
  size_t n = (size_t)m->nv, bytes = sizeof(tbReal) * n;
  tbReal* saved = tb_arena_alloc(&d->work->arena, 3 * bytes + 1);
  if (!saved) return TB_ERROR_MEMORY;
  tbReal *v = saved + n, *ahead = v + n;
  memcpy(saved, d->qfrc_fluid, bytes);
  memcpy(v, d->qvel, bytes);
  int most = 0;
  for (int t = 0; t < m->ntree; t++) most = most > m->tree_dofnum[t] ? most : m->tree_dofnum[t];
  for (int k = 0; k < most; k++) {
    fluid_ahead(m, d, v, k, STEP);
    memcpy(ahead, d->qfrc_fluid, bytes);
    fluid_ahead(m, d, v, k, -STEP);
    memcpy(d->qvel, v, bytes);
    for (int t = 0; t < m->ntree; t++) {
      int first = m->tree_dofadr[t], end = first + m->tree_dofnum[t], j = first + k;
      for (int i = first; j < end && i < end; i++) {
        if (!on_one_path(m, i, j)) continue;
        *entry(m, H, i, j) -= m->opt.timestep * (ahead[i] - d->qfrc_fluid[i]) / (2 * STEP);
      }
    }
  }
  tb_com_velocity(m, d);
  memcpy(d->qfrc_fluid, saved, bytes);
  return TB_OK;
}

// H = scale H + M.
static void add_inertia(const tbModel* m, const tbData* d, tbReal scale, tbReal* H) {
  size_t n = (size_t)m->nv;
  for (size_t i = 0; i < n * n; i++) H[i] *= scale;
  for (int i = 0; i < m->nv; i++) {
    for (int k = 0; k < m->M_rownnz[i]; k++) {
      int j = m->M_colind[m->M_rowadr[i] + k];
      tbReal value = d->qM[m->M_rowadr[i] + k];
      *entry(m, H, i, j) += value;
      if (j != i) *entry(m, H, j, i) += value;
    }
  }
}

// Each tree is a separate block.
static bool solve_tree(const tbModel* m, int tree, tbReal* H, int* pivot, tbReal* x) {
  int first = m->tree_dofadr[tree], count = m->tree_dofnum[tree];
  tbReal* block = entry(m, H, first, first);
  if (!tb_lu(count, block, m->nv, pivot)) return false;
  tb_lu_solve(count, block, m->nv, pivot, x + first);
  return true;
}

tbResult tb_implicit_full_matrix(const tbModel* m, tbData* d, tbReal* H) {
  // H = M + h db/dv, as in MuJoCo without the term of tendons' armature, then the damping forces.
  tb_rne_partials(m, d, NULL, NULL, NULL, H);
  add_inertia(m, d, m->opt.timestep, H);
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
    if (!solve_tree(m, t, H, pivot, x)) result = TB_ERROR_NUMERIC;
  }
  return result;
}

// ---- implicitfast ------------------------------------------------------------------------------

// A += h db/dv of a free-floating body, and of those fixed to it: with spin w, and s from the joint
// to a centre of mass, b = (f, s x f + w x I w), f = m w x (w x s).
static void add_gyroscopic(const tbModel* m, const tbData* d, int tree, tbReal* A, int stride) {
  int root = m->tree_bodyadr[tree], end = root + m->tree_bodynum[tree];
  const tbReal *R = d->xmat + 9 * root, *w = d->cvel + 6 * root;
  tbReal h = m->opt.timestep;
  for (int body = root; body < end; body++) {
    const tbReal *X = d->ximat + 9 * body, *I = m->body_inertia + 3 * body;
    tbReal s[3], inner[3], spin[3], local[3];
    tb_sub3(s, d->xipos + 3 * body, d->xpos + 3 * root);
    tb_cross(inner, w, s);
    tb_mul_mat3t_vec3(local, X, w);
    for (int i = 0; i < 3; i++) local[i] *= I[i];
    tb_mul_mat3_vec3(spin, X, local);
    for (int k = 0; k < 3; k++) {
      tbReal dw[3] = {R[k], R[3 + k], R[6 + k]}, f[3], torque[3], term[3], dspin[3];
      // f
      tb_cross(term, dw, s);
      tb_cross(f, w, term);
      tb_cross(term, dw, inner);
      tb_add3(f, f, term);
      tb_scale3(f, f, m->body_mass[body]);
      // s x f + w x I w
      tb_cross(torque, s, f);
      tb_cross(term, dw, spin);
      tb_add3(torque, torque, term);
      tb_mul_mat3t_vec3(local, X, dw);
      for (int i = 0; i < 3; i++) local[i] *= I[i];
      tb_mul_mat3_vec3(dspin, X, local);
      tb_cross(term, w, dspin);
      tb_add3(torque, torque, term);
      tb_mul_mat3t_vec3(torque, R, torque);
      for (int i = 0; i < 3; i++) {
        A[i * stride + 3 + k] += h * f[i];
        A[(3 + i) * stride + 3 + k] += h * torque[i];
      }
    }
  }
}

// Whether H has M's sparsity: there is no medium and no actuator whose force grows with velocity,
// so that the symmetric positive definite H of implicit_inertia.c suffices.
static bool is_sparse(const tbModel* m, const tbData* d) {
  if (tb_has_fluid(m)) return false;
  for (int i = 0; i < m->nu; i++) {
    if (tb_actuator_velocity_gain(m, d, i) > 0) return false;
  }
  return true;
}

static tbResult fast_dense(const tbModel* m, tbData* d, tbReal* x) {
  size_t n = (size_t)m->nv;
  tbReal* H = TB_ARENA_NEW(&d->work->arena, tbReal, n * n + 1);
  int* pivot = tb_arena_alloc(&d->work->arena, sizeof(int) * (n + 1));
  if (!H || !pivot) return TB_ERROR_MEMORY;
  add_inertia(m, d, 0, H);
  add_dampers(m, d, H);
  add_actuators(m, d, H);
  tbResult result = add_fluid(m, d, H);
  for (int t = 0; result == TB_OK && t < m->ntree; t++) {
    int first = m->tree_dofadr[t], end = first + m->tree_dofnum[t];
    if (tb_tree_is_free_body(m, t)) {
      add_gyroscopic(m, d, t, entry(m, H, first, first), m->nv);
    } else {
      for (int i = first; i < end; i++) {
        for (int j = first; j < i; j++) {
          tbReal mean = 0.5 * (*entry(m, H, i, j) + *entry(m, H, j, i));
          *entry(m, H, i, j) = *entry(m, H, j, i) = mean;
        }
      }
    }
    if (!solve_tree(m, t, H, pivot, x)) result = TB_ERROR_NUMERIC;
  }
  return result;
}

// x of one free-floating body, from the rows of H that were factored.
static bool solve_free(const tbModel* m, const tbData* d, int tree, const tbReal* H, tbReal* x) {
  tbReal A[36];
  int pivot[6], first = m->tree_dofadr[tree];
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j <= i; j++) A[6 * i + j] = A[6 * j + i] = H[m->M_rowadr[first + i] + j];
  }
  add_gyroscopic(m, d, tree, A, 6);
  if (!tb_lu(6, A, 6, pivot)) return false;
  tb_lu_solve(6, A, 6, pivot, x + first);
  return true;
}

tbResult tb_implicit_fast(const tbModel* m, tbData* d, tbReal* x) {
  if (!is_sparse(m, d)) return fast_dense(m, d, x);
  tbInertiaFactor factor;
  tbForest forest = tb_forest(m);
  tbResult result = tb_implicit_factor(m, d, TB_IMPLICIT_ALL, &factor);
  for (int t = 0; result == TB_OK && t < m->ntree; t++) {
    int first = m->tree_dofadr[t], end = first + m->tree_dofnum[t];
    if (!tb_tree_is_free_body(m, t)) {
      tb_ltdl_solve_range(forest, factor.LD, factor.inverse, x, first, end);
    } else if (!solve_free(m, d, t, factor.H, x)) {
      result = TB_ERROR_NUMERIC;
    }
  }
  return result;
}

bool tb_implicit_fast_is_all(const tbModel* m, const tbData* d) {
  bool free = false;
  for (int t = 0; t < m->ntree; t++) free = free || tb_tree_is_free_body(m, t);
  return !free && is_sparse(m, d);
}
