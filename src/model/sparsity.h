// Sparsity patterns that follow from the tree: rows of M, of the tendon Jacobian and of the
// actuator moments.
#ifndef TRIBO_MODEL_SPARSITY_H_
#define TRIBO_MODEL_SPARSITY_H_

#include "tribo/model.h"

// Compute nM, nJten, nJmom and their patterns from dof_parentid, body_lastdof, jnt_dofadr, the path
// elements of tendons and the transmissions of actuators. If a size changes, the model's block is
// replaced by one that fits; the model's address does not change.
tbResult tb_model_set_sparsity(tbModel* m, tbError* error);

#endif
