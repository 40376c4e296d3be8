// The viscoelastic law's own state in a world.
#ifndef TRIBO_LAWS_VISCOELASTIC_STATE_H_
#define TRIBO_LAWS_VISCOELASTIC_STATE_H_

#include "laws/law.h"
#include "laws/viscoelastic/anchors.h"
#include "laws/viscoelastic/springs.h"

// A spring of the start of the step and the key of its constraint.
typedef struct {
  uint64_t key;
  tbSpring spring;
  tbReal turn;  // rad: angle by which friction can turn its slip in the step
} tbFrozenSpring;

typedef struct {
  tbAnchorTable anchors;   // of the last step: what the law remembers
  tbAnchorTable spare;     // of the step before, or being written
  tbFrozenSpring* frozen;  // springs of the start of the step, for the evaluation at its middle
  int frozen_count, frozen_capacity;
  bool frozen_match;  // the last evaluation used the frozen springs
  bool unresolved;    // an energy limit of springs or rotations is active in this step
  tbReal event;       // s: time within the step when a force first changes its mode

  // Data of the current evaluation, in the arena:
  tbSprings springs;
  tbReal* supplied;     // J, by constraint: energy supplied to its springs, or NULL
  tbReal* anchor_slip;  // by row: anchor slip; NULL: none
  tbReal* turn;         // rad by constraint: angle by which friction can turn a slip
} tbViscoelasticState;

static inline tbViscoelasticState* tb_viscoelastic_state(const tbStepState* state) {
  return state->law[TB_LAW_VISCOELASTIC].state;
}

#endif
