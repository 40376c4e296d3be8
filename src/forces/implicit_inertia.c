#include "forces/implicit_inertia.h"

#include <string.h>

#include "dynamics/mass.h"
#include "linalg/ltdl.h"
#include "model/workspace.h"
#include "model/law_kinds.h"
#include "forces/forces.h"
#include "forces/stiff_springs.h"
#include "tribo/step.h"

// Entry of the diagonal: the last of its row.
static tbReal* diagonal(const tbModel* m, tbReal* H, int i) {
  return &H[m->M_rowadr[i] + m->M_rownnz[i] - 1];
}

// H += s x x^T for a sparse vector x, kept where M has an entry.
static void add_outer(const tbModel* m, tbReal* H, tbReal s, const int* col, const tbReal* x,
                      int n) {
  if (n == 1) {
    *diagonal(m, H, col[0]) += s * x[0] * x[0];
    return;
  }
  for (int a = 0; a < n; a++) {
    int row = col[a], adr = m->M_rowadr[row], nnz = m->M_rownnz[row];
    for (int b = 0, k = 0; b <= a; b++) {
      while (k < nnz && m->M_colind[adr + k] < col[b]) k++;
      if (k < nnz && m->M_colind[adr + k] == col[b]) H[adr + k] += s * x[a] * x[b];
    }
  }
}

static int has_damping(const tbModel* m, const tbData* d, tbImplicit what) {
  if (what == TB_IMPLICIT_NOTHING) return 0;
  for (int i = 0; i < m->nv; i++) {
    if (m->dof_damping[i] > 0) return 1;
  }
  if (what == TB_IMPLICIT_DAMPERS) return 0;
  for (int i = 0; i < m->ntendon; i++) {
    if (m->tendon_damping[i] > 0) return 1;
  }
  for (int i = 0; i < m->nu; i++) {
    if (tb_actuator_velocity_gain(m, d, i) < 0) return 1;
  }
  tbStiffness spring;
  tbReal lacks;
  if (what == TB_IMPLICIT_STIFF) return tb_stiffness_unresolved(m, d, 0, &spring, &lacks) >= 0;
  for (int i = 0; what == TB_IMPLICIT_SPRINGS && i < tb_stiffness_count(m); i++) {
    if (tb_stiffness_get(m, d, i, &spring)) return 1;
  }
  return 0;
}

static void add_actuator(const tbModel* m, const tbData* d, tbReal* H, int i) {
  tbReal slope = tb_actuator_velocity_gain(m, d, i);
  // A clamped force does not depend on velocity; a force that grows with velocity is left explicit.
  int clamped =
      m->actuator_forcelimited[i] && (d->actuator_force[i] <= m->actuator_forcerange[2 * i] ||
                                      d->actuator_force[i] >= m->actuator_forcerange[2 * i + 1]);
  if (slope >= 0 || clamped) return;
  add_outer(m, H, -m->opt.timestep * slope, m->Jmom_colind + m->actuator_Jadr[i],
            d->actuator_moment + m->actuator_Jadr[i], m->actuator_Jnnz[i]);
}

static void add_unresolved(const tbModel* m, const tbData* d, tbReal* H) {
  tbStiffness spring;
  tbReal lacks;
  for (int i = 0; (i = tb_stiffness_unresolved(m, d, i, &spring, &lacks)) >= 0; i++) {
    add_outer(m, H, lacks, spring.col, spring.x, spring.n);
  }
}

static void add_springs(const tbModel* m, const tbData* d, tbReal* H) {
  tbStiffness spring;
  for (int i = 0; i < tb_stiffness_count(m); i++) {
    if (!tb_stiffness_get(m, d, i, &spring)) continue;
    tbReal share = 0.25 * m->opt.timestep * m->opt.timestep * spring.k;
    add_outer(m, H, share, spring.col, spring.x, spring.n);
  }
}

tbImplicit tb_implicit_of(const tbOption* opt) {
  if (tb_law_has(opt, TB_TRAIT_COMPLIANT)) return TB_IMPLICIT_NOTHING;
  // Without a contact problem a step may also take dampers at its start, as MuJoCo's Euler can.
  bool euler = opt->integrator != TB_INTEGRATOR_IMPLICITFAST;
  bool explicit_damping = euler && (opt->disableflags & TB_DISABLE_EULERDAMP);
  return explicit_damping && !tb_law_has(opt, TB_TRAIT_RIGID) ? TB_IMPLICIT_NOTHING
                                                              : TB_IMPLICIT_STIFF;
}

tbResult tb_implicit_factor(const tbModel* m, tbData* d, tbImplicit what, tbInertiaFactor* factor) {
  *factor = (tbInertiaFactor){d->qLD, d->qLDiagInv, d->qM};
  if (!has_damping(m, d, what)) {
    tb_factor_ready(m, d);
    return TB_OK;
  }
  tbArena* arena = &d->work->arena;
  tbReal* H = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)m->nM);
  tbReal* LD = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)m->nM);
  tbReal* inverse = tb_arena_alloc(arena, sizeof(tbReal) * (size_t)m->nv);
  if (!H || !LD || !inverse) return TB_ERROR_MEMORY;

  memcpy(H, d->qM, sizeof(tbReal) * (size_t)m->nM);
  if (!(m->opt.disableflags & TB_DISABLE_DAMPER)) {
    for (int i = 0; i < m->nv; i++) *diagonal(m, H, i) += m->opt.timestep * m->dof_damping[i];
    for (int t = 0; what >= TB_IMPLICIT_ALL && t < m->ntendon; t++) {
      if (m->tendon_damping[t] <= 0) continue;
      add_outer(m, H, m->opt.timestep * m->tendon_damping[t], m->Jten_colind + m->tendon_Jadr[t],
                d->ten_J + m->tendon_Jadr[t], m->tendon_Jnnz[t]);
    }
  }
  if (what >= TB_IMPLICIT_ALL) {
    for (int i = 0; i < m->nu; i++) add_actuator(m, d, H, i);
  }
  if (what == TB_IMPLICIT_STIFF) add_unresolved(m, d, H);
  if (what == TB_IMPLICIT_SPRINGS) add_springs(m, d, H);

  tbForest forest = tb_forest(m);
  memcpy(LD, H, sizeof(tbReal) * (size_t)m->nM);
  if (tb_ltdl_factor(forest, LD, inverse, TB_LEAST_PIVOT) >= 0) return TB_ERROR_NUMERIC;
  *factor = (tbInertiaFactor){LD, inverse, H};
  return TB_OK;
}
