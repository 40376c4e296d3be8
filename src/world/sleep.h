// Sleeping: islands at rest are left out of collision and of the problem until something changes.
//
// A kinematic tree falls asleep together with every tree that it touches or is tied to, once all of
// them have been slower than 1 mm/s (1 mrad/s) for a quarter of a second. Its velocity is zero from
// then on. It wakes, with all that fell asleep with it, when an awake body comes near, when a
// constraint ties it to an awake tree, and when its position, velocity, controls, applied forces,
// an equality, a mocap body or an option change; from the next step on where any other force on it
// changes (a tendon that an awake tree pulls). Contacts within a sleeping island are not listed.
#ifndef TRIBO_WORLD_SLEEP_H_
#define TRIBO_WORLD_SLEEP_H_

#include <stdbool.h>

#include "assemble/assemble.h"

typedef struct {
  int* still;          // per tree: steps at rest so far
  int* group;          // per tree: the first tree of the island it sleeps with, or -1 when awake
  int *parent, *busy;  // per tree: scratch of tb_sleep_end
  uint8_t* fixed;      // per tree: 1 asleep; what the contact finder looks at
  tbReal* seen;        // qpos, qvel, inputs and options of the last step
  tbReal* force;       // qfrc_smooth of sleeping trees; NaN at their first dof until it is known
  int count;           // trees asleep
  int ready;           // 1: memory is there and `seen` holds a step
  void* memory;        // all of the above
} tbSleep;

// Before a step: drop everything where the option is off, else wake what was touched from outside.
// False when out of memory.
bool tb_sleep_begin(const tbModel* model, const tbData* data, tbSleep* sleep, size_t* allocations);
void tb_sleep_free(tbSleep* sleep);

// After the rows: wake what an awake tree is tied to or near. True if something woke, and then
// contacts and rows are to be found again. Else rows of sleeping trees are taken out.
bool tb_sleep_disturbed(const tbModel* model, tbData* data, tbSleep* sleep, tbConstraints* list);

// After a solve, which has no rows of them: sleeping dofs do not move.
void tb_sleep_still(const tbModel* model, const tbSleep* sleep, tbReal* v_next);

// After the law: sleeping dofs do not move, nor have they an acceleration. Trees on which a force
// has changed wake with the next step.
void tb_sleep_hold(const tbModel* model, tbData* data, tbSleep* sleep, tbReal* v_next);

// After the step: count who is at rest, and put islands to sleep.
void tb_sleep_end(const tbModel* model, tbData* data, tbSleep* sleep,
                  const tbConstraints* constraints);

// For snapshots: bytes of what is remembered (0: nothing), a copy of it, putting a copy back.
size_t tb_sleep_size(const tbModel* model, const tbSleep* sleep);
void tb_sleep_save(const tbModel* model, const tbSleep* sleep, unsigned char* bytes);
tbResult tb_sleep_load(const tbModel* model, tbSleep* sleep, const unsigned char* bytes,
                       size_t size);

#endif
