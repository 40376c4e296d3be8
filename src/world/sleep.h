// Sleeping: islands at rest are skipped in collision detection and in the problem until something
// changes.
//
// A kinematic tree falls asleep together with every tree that it touches or is constrained to, once
// all of them have been slower than 1 mm/s (1 mrad/s) for a quarter of a second. Its velocity is
// zero from then on. It wakes, with all trees that fell asleep with it, when an awake body comes
// near, when a constraint couples it to an awake tree, and when its position, velocity, controls,
// applied forces, an equality, a mocap body or an option change. It wakes one step later when any
// other force on it changes (a tendon that an awake tree pulls). Contacts within a sleeping island
// are not listed.
#ifndef TRIBO_WORLD_SLEEP_H_
#define TRIBO_WORLD_SLEEP_H_

#include <stdbool.h>

#include "assemble/assemble.h"

typedef struct {
  int* still;          // per tree: steps at rest so far
  int* group;          // per tree: the first tree of the island it sleeps with, or -1 when awake
  int *parent, *busy;  // per tree: scratch of tb_sleep_end
  uint8_t* fixed;      // per tree: 1 asleep; read by the contact search
  tbReal* seen;        // qpos, qvel, inputs and options of the last step
  tbReal* force;       // qfrc_smooth of sleeping trees; NaN at their first dof until it is known
  int count;           // trees asleep
  int ready;           // 1: memory is allocated and `seen` holds a step
  void* memory;        // all of the above
} tbSleep;

// Before a step: clear the state if the option is off, else wake trees whose inputs changed. False
// when out of memory.
bool tb_sleep_begin(const tbModel* model, const tbData* data, tbSleep* sleep, size_t* allocations);
void tb_sleep_free(tbSleep* sleep);

// After the rows: wake trees that an awake tree is constrained to or near. True if one woke; then
// contacts and rows must be computed again. Otherwise rows of sleeping trees are removed.
bool tb_sleep_disturbed(const tbModel* model, tbData* data, tbSleep* sleep, tbConstraints* list);

// After a solve, which has no rows of sleeping trees: set the velocities of sleeping dofs to zero.
void tb_sleep_still(const tbModel* model, const tbSleep* sleep, tbReal* v_next);

// After the law: set velocities and accelerations of sleeping dofs to zero. Trees on which a force
// has changed wake in the next step.
void tb_sleep_hold(const tbModel* model, tbData* data, tbSleep* sleep, tbReal* v_next);

// After the step: update the time that trees have been at rest, and put islands to sleep.
void tb_sleep_end(const tbModel* model, tbData* data, tbSleep* sleep,
                  const tbConstraints* constraints);

// For snapshots: size of the sleep state (0: none), a copy of it, and restoring a copy.
size_t tb_sleep_size(const tbModel* model, const tbSleep* sleep);
void tb_sleep_save(const tbModel* model, const tbSleep* sleep, unsigned char* bytes);
tbResult tb_sleep_load(const tbModel* model, tbSleep* sleep, const unsigned char* bytes,
                       size_t size);

#endif
