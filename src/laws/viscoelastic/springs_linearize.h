// Limits and stretches, shared by the derivatives of the viscoelastic law's integrators.
#ifndef TRIBO_LAWS_VISCOELASTIC_SPRINGS_LINEARIZE_H_
#define TRIBO_LAWS_VISCOELASTIC_SPRINGS_LINEARIZE_H_

#include "partials/derivatives.h"
#include "laws/viscoelastic/state.h"

// Partials of a constraint's stretch before any slip, by the dofs of its support (dim x nnz), for
// constant anchors.
void tb_stretch_partials(const tbDerivatives* x, const tbData* d, const tbStepState* state,
                         const tbConstraint* c, const tbActiveRows* a, tbReal* out);

// Derivatives of a limited force (dim rows of w) from those of the unlimited one; a force within
// `near` (N) of a kink is reported. Column mu_column gets the derivative by friction, unless it is
// negative.
void tb_limit_changes(tbDerivatives* x, const tbData* d, const tbConstraint* c, const tbReal* raw,
                      tbReal near, int mu_column, const tbReal* draw, int w, tbReal* out);

// Derivatives of a measured spring by q and v, first columns of `w`, and by friction (mu_column, or
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

// The largest unlimited force of all springs, or of their dampers alone.
tbReal tb_springs_largest(const tbSprings* springs);

// Mark the step as not differentiable because of this constraint.
void tb_springs_kink(tbDerivatives* x, const char* what, int id);

#endif
