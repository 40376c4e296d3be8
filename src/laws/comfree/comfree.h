// The complementarity-free law (CF section III): contact impulses in closed form.
#ifndef TRIBO_LAWS_COMFREE_COMFREE_H_
#define TRIBO_LAWS_COMFREE_COMFREE_H_

#include "laws/comfree/cone.h"
#include "forces/implicit_inertia.h"
#include "laws/law.h"

// From the smooth forces to the next velocity: prediction (CF eq. 2), one impulse per facet (eq.
// 8), correction (eq. 9). Fills qacc, qfrc_constraint, contact forces and the certificate
// data->solve.
tbResult tb_comfree_velocity(const tbStep* step, tbReal* v_next);

tbResult tb_comfree_linearize(tbDerivatives* x, const tbStep* step,
                              const tbDerivativeSettings* settings);

// The law's own state in a world.
typedef struct {
  bool softened;  // the last step softened an island's gains
} tbComfreeState;

// Gains of a constraint before any softening of its island: one for a contact, one per row for
// other constraints, followed by their diagonal of G (dim each). Scratch memory comes from the
// arena.
tbResult tb_comfree_gains(const tbModel* model, const tbData* data, const tbConstraint* constraint,
                          tbInertiaFactor factor, tbFacetGain* gain, tbReal* diagonal,
                          tbArena* arena);

#endif
