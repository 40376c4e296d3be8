// Forces at points of bodies, as spatial and as generalised forces (docs/manual/dynamics.md, eq.
// 30).
#include "base/bits.h"
#include "model/chain.h"
#include "model/workspace.h"
#include "spatial/motion.h"
#include "tribo/dynamics.h"

static void wrench_of(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                      const tbReal* force, const tbReal* torque, tbReal wrench[6]) {
  tbReal at[3];
  tb_sub3(at, point, d->subtree_com + 3 * m->body_rootid[body]);
  tb_force_make(wrench, at, force, torque);
}

void tb_add_wrench(const tbModel* m, tbData* d, int body, const tbReal point[3],
                   const tbReal force[3], const tbReal torque[3]) {
  if (!tb_is_data_of(m, d) || !point) return;
  body = tb_valid_body(m, body);
  tbReal wrench[6];
  wrench_of(m, d, body, point, force, torque, wrench);
  tb_add6(d->cfrc_ext + 6 * body, d->cfrc_ext + 6 * body, wrench);
}

void tb_apply_wrench(const tbModel* m, const tbData* d, int body, const tbReal point[3],
                     const tbReal force[3], const tbReal torque[3], tbReal* qfrc) {
  if (!tb_is_data_of(m, d) || !point || !qfrc) return;
  body = tb_valid_body(m, body);
  tbReal wrench[6];
  wrench_of(m, d, body, point, force, torque, wrench);
  const int* dofs;
  int n = tb_body_chain(m, body, &dofs);
  for (int k = 0; k < n; k++) qfrc[dofs[k]] += tb_dot6(d->cdof + 6 * dofs[k], wrench);
}

void tb_apply_xfrc(const tbModel* m, const tbData* d, const tbReal* xfrc, tbReal* qfrc) {
  if (!tb_is_data_of(m, d) || !xfrc || tb_all_clear(6 * m->nbody, xfrc)) return;
  for (int i = 1; i < m->nbody; i++) {
    const tbReal* f = xfrc + 6 * i;
    if (!tb_all_clear(6, f)) tb_apply_wrench(m, d, i, d->xipos + 3 * i, f, f + 3, qfrc);
  }
}
