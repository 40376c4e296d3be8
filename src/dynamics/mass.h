// The sparsity of M as linalg sees it.
#ifndef TRIBO_DYNAMICS_MASS_H_
#define TRIBO_DYNAMICS_MASS_H_

#include "linalg/ltdl.h"
#include "tribo/model.h"

static inline tbForest tb_forest(const tbModel* m) {
  tbForest forest = {m->nv, m->M_rowadr, m->M_rownnz, m->M_colind, m->M_rowrun};
  return forest;
}

#endif
