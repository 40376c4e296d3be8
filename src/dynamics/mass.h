// The sparsity of M as linalg sees it.
#ifndef TRIBO_DYNAMICS_MASS_H_
#define TRIBO_DYNAMICS_MASS_H_

#include "linalg/ltdl.h"
#include "tribo/data.h"
#include "tribo/model.h"

static inline tbForest tb_forest(const tbModel* m) {
  tbForest forest = {m->nv, m->M_rowadr, m->M_rownnz, m->M_colind, m->M_rowrun};
  return forest;
}

// A matrix with M's sparsity and its L^T D L factor: M itself, or M with implicit damping added.
typedef struct {
  const tbReal* LD;
  const tbReal* inverse;  // 1/D
  const tbReal* H;        // the matrix; NULL where nobody asks for it
} tbInertiaFactor;

// tb_compute_position without the factor of M, which is made where something solves with it.
void tb_position_stage(const tbModel* m, tbData* d);

// The factor of M, unless it is there.
void tb_factor_ready(const tbModel* m, const tbData* d);

// J, after the inertia matrix.
tbReal tb_kinetic_energy(const tbModel* m, const tbData* d);

#endif
