// What the derivatives of the viscoelastic law's integrators share: limits and stretches.
#ifndef TRIBO_LAWS_VISCOELASTIC_SPRINGS_LINEARIZE_H_
#define TRIBO_LAWS_VISCOELASTIC_SPRINGS_LINEARIZE_H_

#include "partials/derivatives.h"
#include "laws/viscoelastic/springs.h"

// Partials of a constraint's stretch before any slip, by the dofs of its support (dim x nnz), with
// the anchors as they are.
void tb_stretch_partials(const tbDerivatives* x, const tbData* d, const tbStepState* state,
                         const tbConstraint* c, const tbActiveRows* a, tbReal* out);

// Changes of a limited force (dim rows of w) from those of the raw one; a force within `near` (N)
// of a bend is reported. Column mu_column gets the change by friction, where it is not negative.
void tb_limit_changes(tbDerivatives* x, const tbData* d, const tbConstraint* c, const tbReal* raw,
                      tbReal near, int mu_column, const tbReal* draw, int w, tbReal* out);

// How a measured spring changes with q and v, first columns of `w`, and by friction (mu_column, or
// negative): rows of w numbers, zero on entry.
typedef struct {
  tbReal *stretch, *rate;  // after slip, as tb_springs_measure leaves them
  tbReal* velocity;
  tbReal* force;
  int w, mu_column;
} tbSpringChange;

tbResult tb_spring_changes(tbDerivatives* x, const tbData* d, const tbStepState* state,
                           const tbConstraint* c, const tbSpring* spring, const tbActiveRows* a,
                           tbReal near, tbSpringChange* out);

// The step is not differentiable at this constraint.
void tb_springs_kink(tbDerivatives* x, const char* what, int id);

#endif
