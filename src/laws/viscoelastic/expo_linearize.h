// The exponential integrator differentiated, island by island.
#ifndef TRIBO_LAWS_VISCOELASTIC_EXPO_LINEARIZE_H_
#define TRIBO_LAWS_VISCOELASTIC_EXPO_LINEARIZE_H_

#include "laws/viscoelastic/springs_linearize.h"
#include "laws/viscoelastic/expo_system.h"

// The step that is replayed.
typedef struct {
  tbDerivatives* x;
  tbData* d;
  tbStepState* state;
  tbExpoContext context;
  const tbReal* free;   // nv x ncol: partials of qacc_free
  const tbReal* rigid;  // nv x nv: partials of M 0 + b by q
  tbReal near;          // N
  int turns;            // number of first columns that change the oscillators' inertia
} tbExpoReplay;

// Derivatives of a step of the whole law; TB_ERROR_UNSUPPORTED where only differences are
// available.
tbResult tb_expo_linearize(tbDerivatives* x, const tbStep* step,
                           const tbDerivativeSettings* settings);

// Derivatives of the forces of an island's `count` members by the state, given the `active` rows of
// each (NULL: its spring does not act).
tbResult tb_expo_island_changes(const tbExpoReplay* replay, const int* member, int count,
                                tbActiveRows** active, tbExpoResponse* out);

#endif
