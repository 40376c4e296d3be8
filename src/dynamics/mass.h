// The sparsity of M in the form of the linear-algebra module.
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
  const tbReal* H;        // the matrix; NULL if not needed
} tbInertiaFactor;

// tb_compute_position without the factor of M, which the first solve computes.
void tb_position_stage(const tbModel* m, tbData* d);

// Compute the factor of M if it is out of date.
void tb_factor_ready(const tbModel* m, const tbData* d);

// Kinetic energy, J; after the inertia matrix.
tbReal tb_kinetic_energy(const tbModel* m, const tbData* d);

#endif
