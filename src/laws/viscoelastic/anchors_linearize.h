// Derivatives of anchors between the start of a step and a later state of the step.
#ifndef TRIBO_LAWS_VISCOELASTIC_ANCHORS_LINEARIZE_H_
#define TRIBO_LAWS_VISCOELASTIC_ANCHORS_LINEARIZE_H_

#include "laws/viscoelastic/state.h"

// A spring at the start whose anchor is still in use at the later state.
typedef struct {
  const tbConstraint* c;
  const tbSpring* spring;
  const tbActiveRows* a;
  tbReal* stretch;  // dim x 2 nv
} tbStartSpring;

typedef struct {
  tbDerivatives *x, *end;  // of the start; of the later state
  tbData* d;               // the start
  const tbData* probe;     // the later state
  int count;
  tbStartSpring* start;
} tbStartAnchors;

// The springs of the start, activated in x; a force within `near` (N) of a kink of its limit is
// reported.
tbResult tb_start_springs(tbDerivatives* x, tbData* d, tbStepState* state, tbReal near,
                          tbStartAnchors* anchors);

// acc (nv x width) += Y^T df of the anchors' changes at the later state (`state` belongs to it), by
// the columns of q and v at the start.
tbResult tb_add_anchors(const tbStartAnchors* anchors, const tbStepState* state, tbReal* acc,
                        size_t width);

#endif
