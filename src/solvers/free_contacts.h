// Sweeps over contacts on free bodies, by colours: contacts of one colour share no body, so that
// many of them are looked at and solved before any of them moves its bodies.
#ifndef TRIBO_SOLVERS_FREE_CONTACTS_H_
#define TRIBO_SOLVERS_FREE_CONTACTS_H_

#include "solvers/active_state.h"
#include "solvers/free_contact.h"

// Before the first change of anything.
enum { TB_MOVED_NEVER = -1 };

typedef struct {
  int count;
  tbFreeContact* contact;  // those of a colour follow each other
  int colours, *end;       // one past the last contact of each
  // What tells whether a contact is to be looked at, apart from the rest since it is asked in every
  // sweep: the first dofs of its bodies, twice the same where it moves one, and when it was last
  // done.
  int *first, *second, *seen;
  int* moved;  // by dof: when w last changed there; for free bodies the first dof stands
  int clock;   // counts changes
} tbFreeContacts;

// What holds: velocities off by no more than `most` m/s, powers by no more than that times the
// largest impulse `load`.
typedef struct {
  tbReal most, load;
} tbFreeScale;

// The contacts among the blocks of an island; `place` of a block is its index or -1. False: out of
// memory.
bool tb_free_contacts_start(const tbActiveState* s, tbArena* arena, tbFreeContacts* f, int* place);

// Solve each of them once on lambda and the whitened velocities w; with a scale only those that do
// not hold in it and whose velocity may have changed since they were last looked at: their number.
int tb_free_contacts_sweep(tbFreeContacts* f, const tbFreeScale* scale, tbReal* w, tbReal* lambda);

// Whether one of them holds.
bool tb_free_contacts_settled(const tbFreeContacts* f, int place, const tbFreeScale* scale,
                              const tbReal* w, const tbReal* lambda);

// All of them are looked at again.
void tb_free_contacts_forget(tbFreeContacts* f);

#endif
