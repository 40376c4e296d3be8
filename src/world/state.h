// What a world keeps between steps.
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
  tbReal thinnest;     // m: tb_smallest_half_thickness
  tbReal most_margin;  // m: tb_most_margin
  tbWorkers workers;
  tbImpulseCache warm;
  tbSleep sleep;
  tbReal* rk4;          // stages of tb_rk4, made on first use
  tbRayTree* ray_tree;  // by mesh, made with the first ray of a rangefinder
  int nray_tree;
  size_t allocations, bytes;  // of what is made on first use
  int softened;               // comfree: 1 where the last step softened an island's gains
  int amended;                // rigid laws: 1 where it cut restitution back or softened a jam
  uint64_t structure;         // debug builds: of the model when it last passed its check
  tbOption checked;           // options of the last step that were found to be in order
  tbReal clock;               // s: when the second half of the step began
  tbInertiaFactor factor;     // of the inertia that the law's forces move, in the step's arena
  tbConstraints constraints;  // of the current step, in the arena
  char* left_out;             // per contact: 1 where it goes without rows, or NULL; in the arena
  tbReal* row_force;          // N or N m by row of the constraints, in the arena
  // Laws of forces: their impulses by island and the velocity without them, in the arena, from
  // which the certificate is made.
  tbIslands islands;
  tbReal* v_free;
  tbApplied applied;  // impulses of all evaluations of a step that makes several
  // The viscoelastic law's.
  tbAnchorTable anchors, spare;  // of the last step; of the one before or being written
  tbSprings springs;             // of the current state, in the arena
  tbReal* v_move;  // velocity that moves the configuration, in the arena; NULL: the new one
  tbReal* backed;  // J, by constraint: what bodies gave its springs, in the arena, or NULL
  int unresolved;  // 1: a bound on what springs or turns give acts in this step
  tbReal* slid;    // by row: what anchors keep besides the stretch, in the arena; NULL: nothing
  tbReal* turn;    // rad by constraint: how far friction may turn what slips, likewise
  tbReal* newton;  // memory of tb_euler_implicit, made on first use
  tbReal* middle;  // memory of tb_expo_midpoint, made on first use
  tbFrozenSpring* held;  // springs of the start of the step, while its middle is evaluated
  int held_count, held_capacity;
  int recall;       // 1: the springs to use are the held ones; 0 again where they do not match
  tbReal* start;    // states at the start of steps made in parts, made on first use
  int parts;        // steps that this one is a part of
  tbReal whole;     // s: the step that all of these are parts of
  int splits;       // made so far of it
  int until_event;  // 1: this part ends at the first event, which is known
  tbReal event;  // s: time within the step when friction or a normal force first changes its kind
  // 1: an evaluation within a step: its certificate is not wanted, sensors and energy stay those of
  // the step's start.
  int inner;
  // 1: nobody sees more of this step than the state and the sensors it leads to: the certificate
  // and accelerations that nothing needs are left out.
  int unseen;
  // Differences by friction: what is added to both sliding coefficients of the contact of this key.
  tbReal friction_shift;
  uint64_t friction_key;
};

// The state of a world, made on first use. NULL when out of memory.
tbStepState* tb_step_state(const tbModel* model, tbData* data);

// tb_step1 with rows of all contacts, also of those that cannot push in this step.
tbResult tb_step1_all_rows(const tbModel* model, tbData* data);

// tb_step2 of a world that is known to be the model's. The first half ended at `start` of the
// clock, whose reading takes a tenth of a microsecond on virtual machines.
tbResult tb_step2_from(const tbModel* model, tbData* data, tbReal start);

// After the law: contact forces and row forces from the islands' impulses.
void tb_store_forces(const tbModel* model, tbData* data, tbStepState* state,
                     const tbIslands* islands);

#endif
