#include "dynamics/pivot.h"

#include <string.h>

#include "base/minmax.h"
#include "model/joint_kinds.h"
#include "model/workspace.h"
#include "spatial/vec3.h"

int tb_turns(const tbModel* m, int body) {
  for (int k = 0; k < m->body_jntnum[body]; k++) {
    if (tb_joint_turns(m->jnt_type[m->body_jntadr[body] + k])) return 1;
  }
  return 0;
}

const tbReal* tb_pivot(const tbModel* m, const tbData* d, int body) {
  for (int k = 0; k < m->body_jntnum[body]; k++) {
    int j = m->body_jntadr[body] + k;
    if (tb_joint_floats(m->jnt_type[j])) return d->xipos + 3 * body;
    if (tb_joint_turns(m->jnt_type[j])) return d->xanchor + 3 * j;
  }
  return d->xpos + 3 * body;
}

void tb_bear(const tbModel* m, const tbData* d, int body, tbReal load, const tbReal point[3],
             tbReal* A) {
  while (body > 0 && !tb_turns(m, body)) body = m->body_parentid[body];
  if (body == 0) return;
  tbReal r[3], length;
  tb_sub3(r, point, tb_pivot(m, d, body));
  length = tb_normalize3(r);
  for (int i = 0; i < 9; i++) {
    A[9 * body + i] += load * length * ((i % 4 == 0) - r[i / 3] * r[i % 3]);
  }
}

void tb_bear_weights(const tbModel* m, const tbData* d, tbReal gravity, tbReal* loads, tbReal* A) {
  for (int b = m->nbody - 1; b > 0; b--) {
    int parent = m->body_parentid[b];
    tbReal weight = gravity * m->body_mass[b];
    tb_bear(m, d, b, weight, d->xipos + 3 * b, A);
    loads[b] += weight;
    loads[parent] += loads[b];
    if (tb_turns(m, b)) tb_bear(m, d, parent, loads[b], tb_pivot(m, d, b), A);
  }
}

tbReal tb_yields(const tbModel* m, int body, int axis) {
  tbReal inertia = m->body_inertia[3 * body + axis], tree = 3 * m->body_invweight0[2 * body + 1];
  return inertia * tree > 1 ? 1 / inertia : tree;
}

void tb_set_carried_load(tbModel* m, tbData* d) {
  tbReal *loads = d->work->scratch_body, *A = loads + m->nbody;
  memset(loads, 0, sizeof(tbReal) * 10 * (size_t)m->nbody);
  tb_bear_weights(m, d, 1, loads, A);
  m->load_to_inertia = 0;
  for (int b = 1; b < m->nbody; b++) {
    tbReal AX[9], own[9], trace = 0;
    tb_mul_mat3(AX, A + 9 * b, d->ximat + 9 * b);
    tb_mul_mat3t_mat3(own, d->ximat + 9 * b, AX);
    for (int k = 0; k < 3; k++) trace += own[4 * k] * tb_yields(m, b, k);
    m->load_to_inertia = tb_max(m->load_to_inertia, trace);
  }
}
