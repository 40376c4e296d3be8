// The state that a world keeps between steps.
#ifndef TRIBO_WORLD_STATE_H_
#define TRIBO_WORLD_STATE_H_

#include "collide/ray/ray.h"
#include "assemble/assemble.h"
#include "laws/viscoelastic/anchors.h"
#include "step/applied_impulses.h"
#include "world/sleep.h"
#include "laws/viscoelastic/springs.h"
#include "world/impulse_cache.h"
#include "world/workers.h"
#include "tribo/data.h"

typedef struct tbFrozenSpring tbFrozenSpring;

struct tbStepState {
  tbDetector* finder;
  tbReal smallest_half_thickness;  // m: tb_smallest_half_thickness
  tbReal most_margin;              // m: tb_most_margin
  tbWorkers workers;
  tbImpulseCache warm;
  tbSleep sleep;
  tbReal* rk4;          // stages of tb_rk4, made on first use
  tbRayTree* ray_tree;  // by mesh, built for the first ray of a rangefinder
  int nray_tree;
  size_t allocations, bytes;  // of what is made on first use
  int softened;               // comfree: 1 if the last step softened an island's gains
  int modified;               // rigid laws: 1 if the step reduced restitution or softened a
                              // degenerate contact
  uint64_t structure;         // debug builds: hash of the model when it last passed its check
  tbOption checked;           // the last options that passed the check
  tbReal clock;               // s: start of the second half of the step
  tbInertiaFactor factor;     // of the step's inertia, in the step's arena
  tbConstraints constraints;  // of the current step, in the arena
  char* pruned;               // per contact: 1 if pruned, or NULL; in the arena
  tbReal* row_force;          // N or N m by row of the constraints, in the arena
  // Laws of forces: their impulses by island and the velocity without them, in the arena; inputs of
  // the certificate.
  tbIslands islands;
  tbReal* v_free;
  tbApplied applied;  // impulses of all evaluations within a step
  // Of the viscoelastic law:
  tbAnchorTable anchors, spare;  // of the last step; of the one before or being written
  tbSprings springs;             // of the current state, in the arena
  tbReal* v_move;       // velocity that moves the configuration, in the arena; NULL: the new one
  tbReal* supplied;     // J, by constraint: energy supplied to its springs, in the arena, or NULL
  int unresolved;       // 1: an energy limit of springs or rotations is active in this step
  tbReal* anchor_slip;  // by row: anchor slip, in the arena; NULL: none
  tbReal* turn;         // rad by constraint: angle by which friction can turn a slip, in the arena
  tbReal* newton;       // memory of tb_euler_implicit, made on first use
  tbReal* middle;       // memory of tb_expo_midpoint, made on first use
  tbFrozenSpring* frozen;  // springs of the start of the step, for the evaluation at its middle
  int frozen_count, frozen_capacity;
  int use_frozen;   // 1: use the frozen springs; set to 0 if they do not match
  tbReal* start;    // states at the start of substeps, allocated on first use
  int parts;        // number of enclosing divided steps
  tbReal whole;     // s: length of the whole step that is divided
  int splits;       // divisions of it so far
  int until_event;  // 1: this substep ends at the first event, whose time is known
  tbReal event;  // s: time within the step when friction or a normal force first changes its mode
  // 1: an evaluation within a step: it needs no certificate, and sensors and energy stay those of
  // the step's start.
  int substep;
  // 1: only the state and the sensors after this step are observed: the certificate and unused
  // accelerations are skipped.
  int state_only;
  // For differences by friction: increment of both sliding coefficients of the contact with this
  // key.
  tbReal friction_shift;
  uint64_t friction_key;
};

// The state of a world, made on first use. NULL when out of memory.
tbStepState* tb_step_state(const tbModel* model, tbData* data);

// tb_step1 with rows of all contacts, including those that cannot push in this step.
tbResult tb_step1_all_rows(const tbModel* model, tbData* data);

// tb_step2 of a world that is known to belong to the model. The first half ended at clock time
// `start`; reading the clock takes a tenth of a microsecond on virtual machines.
tbResult tb_step2_from(const tbModel* model, tbData* data, tbReal start);

// After the law: store contact forces and row forces from the islands' impulses.
void tb_store_forces(const tbModel* model, tbData* data, tbStepState* state,
                     const tbIslands* islands);

#endif
