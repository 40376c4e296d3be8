// The state that a world keeps between steps, and the context of one evaluation of its forces.
#ifndef TRIBO_WORLD_STATE_H_
#define TRIBO_WORLD_STATE_H_

#include "assemble/assemble.h"
#include "dynamics/mass.h"
#include "world/impulse_cache.h"
#include "world/sleep.h"
#include "world/workers.h"
#include "tribo/data.h"
#include "tribo/step.h"

// Memory of a higher layer in a world: made by that layer on first use, and freed with the world.
typedef struct {
  void* state;
  void (*free)(void* state);
} tbOwned;

typedef struct tbStepState tbStepState;

struct tbStepState {
  tbDetector* detector;
  tbWorkers workers;
  tbImpulseCache warm;
  tbSleep sleep;
  tbOwned law[TB_STEP_LAW_COUNT];  // of each law: what its laws/<family>/state.h or header says
  tbOwned integrator;              // of integrators with several evaluations (step/integrator.h)
  size_t allocations, bytes;       // of what is made on first use
  uint64_t structure;              // debug builds: hash of the model when it last passed its check
  tbOption checked;                // the last options that passed the check

  // Data of the current step, in the arena:
  tbReal clock;               // s: start of the second half of the step
  tbInertiaFactor factor;     // of the step's inertia
  tbConstraints constraints;  // of the current step
  char* pruned;               // per contact: 1 if pruned, or NULL
  tbReal* row_force;          // N or N m by row of the constraints
  tbReal* v_move;             // velocity that moves the configuration; NULL: the new one
  // Impulses of compliant laws by island, and the velocity without them, for the certificate.
  tbIslands islands;
  tbReal* v_free;
};

// A step that is a part of a longer one, which was divided at an event (expo-midpoint).
typedef struct {
  int depth;         // number of steps that it is a part of
  int* splits;       // divisions of the whole step so far
  bool until_event;  // it ends at the first event, whose time is known
  tbReal whole;      // s: length of the whole step
} tbDivision;

// Purpose of an evaluation of the forces. All zero: a step of its own.
typedef struct {
  // An evaluation within a step: it needs no certificate, and sensors and energy stay those of the
  // step's start.
  bool substep;
  // Only the state and the sensors after this step are observed: the certificate and unused
  // accelerations are skipped.
  bool state_only;
  // Quantities to compute although no sensor needs them: bits of tbSensorNeeds.
  int observed;
  // Springs of the start of the step, for the evaluation at its middle (expo-midpoint).
  bool frozen_springs;
  // The time within the step when a force first changes its mode is needed (expo-midpoint).
  bool locates_events;
  // The divided step that it is a part of; NULL: none.
  const tbDivision* division;
  // For differences by friction: increment of both sliding coefficients of the contact with this
  // key.
  tbReal friction_shift;
  uint64_t friction_key;
} tbPurpose;

typedef struct tbLawType tbLawType;

// One evaluation of the forces of a world: what all its stages need.
typedef struct {
  const tbModel* m;
  tbData* d;
  tbStepState* state;
  const tbLawType* law;
  tbPurpose purpose;
} tbStep;

// The state of a world, made on first use. NULL when out of memory.
tbStepState* tb_step_state(const tbModel* model, tbData* data);

// After the law: store contact forces and row forces from the islands' impulses.
void tb_store_forces(const tbModel* model, tbData* data, tbStepState* state,
                     const tbIslands* islands);

#endif
