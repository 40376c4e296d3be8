// Composite inertias (docs/manual/dynamics.md, eq. 10).
#ifndef TRIBO_DYNAMICS_COMPOSITE_H_
#define TRIBO_DYNAMICS_COMPOSITE_H_

#include <string.h>

#include "spatial/wide.h"
#include "tribo/data.h"

// Inertia of each subtree, about its tree's centre: the sum of its bodies'.
TB_INLINE void tb_composite_inertias(const tbModel* m, tbData* d) {
  memcpy(d->crb, d->cinert, (size_t)m->nbody * 10 * sizeof(tbReal));
  for (int i = m->nbody - 1; i > 0; i--) {
    int parent = m->body_parentid[i];
    if (parent == 0) continue;
    tb_wide_add10(d->crb + 10 * parent, d->crb + 10 * i);
  }
}

#endif
