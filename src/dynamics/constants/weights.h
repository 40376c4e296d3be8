// Inverse weights of bodies and dofs, part of tb_set_constants.
#ifndef TRIBO_DYNAMICS_CONSTANTS_WEIGHTS_H_
#define TRIBO_DYNAMICS_CONSTANTS_WEIGHTS_H_

#include "tribo/dynamics.h"

// Fills body_invweight0 and dof_invweight0 from the factors of M at the reference pose. `released`:
// number of dofs whose pivots were not computed by the elimination. TB_ERROR_MEMORY if out of
// memory.
tbResult tb_set_weights(tbModel* m, const tbData* d, int released);

#endif
