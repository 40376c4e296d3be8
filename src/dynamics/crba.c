// M by the composite-rigid-body algorithm (docs/manual/dynamics.md, eq. 10-12).
#include "dynamics/composite.h"
#include "dynamics/stage.h"
#include "model/workspace.h"
#include "tribo/dynamics.h"

// M += a J^T J for a tendon with armature a, over the pairs of dofs where M has an entry.
static void add_tendon_armature(const tbModel* m, tbData* d, int tendon) {
  const int* dofs = m->Jten_colind + m->tendon_Jadr[tendon];
  const tbReal* J = d->ten_J + m->tendon_Jadr[tendon];
  for (int a = 0; a < m->tendon_Jnnz[tendon]; a++) {
    int i = dofs[a];
    const int* columns = m->M_colind + m->M_rowadr[i];
    tbReal* row = d->qM + m->M_rowadr[i];
    tbReal scale = m->tendon_armature[tendon] * J[a];
    // Both lists are ascending.
    for (int b = 0, k = 0; b <= a; b++) {
      while (k < m->M_rownnz[i] && columns[k] < dofs[b]) k++;
      if (k < m->M_rownnz[i] && columns[k] == dofs[b]) row[k] += scale * J[b];
    }
  }
}

TB_INLINE void crb(const tbModel* m, tbData* d) {
  tb_composite_inertias(m, d);
  for (int i = 0; i < m->nv; i++) {
    // The force that accelerates i's subtree along i, projected on every ancestor's axis.
    tbReal force[6];
    const tbReal* I = d->crb + 10 * m->dof_bodyid[i];
    tb_simd6_store(force, tb_simd6_inertia_mul(I, tb_simd6_load(d->cdof + 6 * i)));
    const int* columns = m->M_colind + m->M_rowadr[i];
    tbReal* row = d->qM + m->M_rowadr[i];
    int count = m->M_rownnz[i];
    for (int k = 0; k < count; k++) row[k] = tb_wide_dot6(d->cdof + 6 * columns[k], force);
    row[count - 1] += m->dof_armature[i];
  }
  for (int t = 0; t < m->ntendon; t++) {
    if (m->tendon_armature[t] != 0) add_tendon_armature(m, d, t);
  }
}

static void crb_generic(const tbModel* m, tbData* d) {
  crb(m, d);
}

TB_WIDE static void crb_avx2(const tbModel* m, tbData* d) {
  crb(m, d);
}

void tb_stage_crb(const tbModel* m, tbData* d) {
  if (tb_wide()) {
    crb_avx2(m, d);
  } else {
    crb_generic(m, d);
  }
}

void tb_crb(const tbModel* m, tbData* d) {
  if (tb_is_world_of(m, d)) tb_stage_crb(m, d);
}
