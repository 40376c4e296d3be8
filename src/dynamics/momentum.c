// Linear and angular momentum of subtrees (docs/manual/dynamics.md, eq. 24-25).
#include "base/kernel.h"
#include "model/workspace.h"
#include "spatial/motion.h"
#include "tribo/dynamics.h"

void tb_subtree_velocity(const tbModel* m, tbData* d) {
  if (!tb_is_world_of(m, d)) return;
  // Momentum of each body about its tree's centre, moved to the world's origin so that the momenta
  // of all trees can be added.
  for (int i = 0; i < m->nbody; i++) {
    tbReal h[6], moment[3];
    tb_inertia_mul(h, d->cinert + 10 * i, d->cvel + 6 * i);
    tb_cross(moment, d->subtree_com + 3 * m->body_rootid[i], h + 3);
    tb_add3(d->subtree_angmom + 3 * i, h, moment);
    tb_copy3(d->subtree_linvel + 3 * i, h + 3);
  }
  for (int i = m->nbody - 1; i > 0; i--) {
    int parent = m->body_parentid[i];
    tb_add3(d->subtree_linvel + 3 * parent, d->subtree_linvel + 3 * parent,
            d->subtree_linvel + 3 * i);
    tb_add3(d->subtree_angmom + 3 * parent, d->subtree_angmom + 3 * parent,
            d->subtree_angmom + 3 * i);
  }
  // From the origin to each subtree's own centre of mass; momentum to velocity.
  for (int i = 0; i < m->nbody; i++) {
    tbReal moment[3];
    tbReal* p = d->subtree_linvel + 3 * i;
    tb_cross(moment, d->subtree_com + 3 * i, p);
    tb_sub3(d->subtree_angmom + 3 * i, d->subtree_angmom + 3 * i, moment);
    tbReal mass = m->body_subtreemass[i];
    tb_scale3(p, p, mass < TB_TINY ? 0 : 1 / mass);
  }
}
